/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Verbs shared receive queues: mlx5_ib creates an RMP for a basic SRQ (hw/mlx5/srq_cmd.c). */
#include <errno.h>

#include "uverbs_qp.h"

/* enum ib_srq_attr_mask, ib_uverbs_srq_type */
#define SRQ_MASK_MAX_WR (1u << 0)
#define SRQ_MASK_LIMIT (1u << 1)
#define SEG_BYTES 16u

/* mlx5_ib: a receive request is a next segment and as many data segments as fit, in 32 at least. */
static int
srq_sizes(struct abi_call *call, uint32_t *log_wqes, uint32_t *log_stride)
{
	uint32_t max_wr = (uint32_t)abi_in_u64(call, UVERBS_ATTR_CREATE_SRQ_MAX_WR);
	uint32_t max_sge = (uint32_t)abi_in_u64(call, UVERBS_ATTR_CREATE_SRQ_MAX_SGE);
	uint32_t bytes = (max_sge + 1) * SEG_BYTES;

	if (max_wr >= 1u << call->dev->profile->log_max_wq_sz || max_sge > 31)
		return abi_refuse(call, -EINVAL, "%u requests of %u segments", max_wr, max_sge);
	for (*log_wqes = 0; 1u << *log_wqes < max_wr + 1; (*log_wqes)++)
		;
	for (*log_stride = 5; 1u << *log_stride < bytes; (*log_stride)++)
		;
	return 0;
}

static int
srq_make(struct abi_call *call, struct abi_handle *h, uint32_t log_wqes, uint32_t log_stride)
{
	const struct abi_handle *pd = abi_in_handle(call, UVERBS_ATTR_CREATE_SRQ_PD_HANDLE);
	struct prm_create_rmp_in in = {0};
	struct prm_rmpc *rmpc = prm_create_rmp_in_ctx(&in);
	struct prm_wq *wq = prm_rmpc_wq(rmpc);
	struct mlx5_ib_create_srq uhw;
	uint32_t ring, dbrec;
	uint64_t offset;
	int ret = abi_in(call, UVERBS_ATTR_UHW_IN, &uhw, sizeof(uhw));

	if (ret == 0 && (uhw.flags != 0 || uhw.reserved0 != 0 || uhw.reserved1 != 0))
		ret = abi_refuse(call, -EOPNOTSUPP, "driver flags 0x%x", uhw.flags);
	if (ret == 0)
		ret = abi_verbs_pin(call, h, uhw.buf_addr, 1ull << (log_wqes + log_stride), &ring);
	if (ret == 0)
		ret = abi_verbs_pin_dbrec(call, h, uhw.db_addr, &dbrec, &offset);
	if (ret != 0)
		return ret;
	prm_create_rmp_in_set_opcode(&in, PRM_CMD_OP_CREATE_RMP);
	prm_rmpc_set_state(rmpc, PRM_RMPC_STATE_RDY);
	prm_wq_set_wq_type(wq, PRM_WQ_TYPE_LINKED_LIST);
	prm_wq_set_pd(wq, pd->obj->id);
	prm_wq_set_log_wq_stride(wq, log_stride);
	prm_wq_set_log_wq_sz(wq, log_wqes);
	prm_wq_set_wq_umem_id(wq, ring);
	prm_wq_set_dbr_umem_id(wq, dbrec);
	prm_wq_set_dbr_addr(wq, offset);
	return abi_verbs_create(call, h, &in, sizeof(in), NULL);
}

static int
srq_answer(struct abi_call *call, struct abi_handle *h)
{
	struct mlx5_ib_create_srq_resp uhw = {.srqn = h->obj->id};
	const struct abi_srq *srq = &h->verbs->srq;
	int ret = abi_out_u32(call, UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR, srq->max_wr);

	if (ret == 0)
		ret = abi_out_u32(call, UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE, srq->max_sge);
	return ret != 0 ? ret : abi_out(call, UVERBS_ATTR_UHW_OUT, &uhw, sizeof(uhw));
}

static int
abi_srq_create(struct abi_call *call)
{
	uint32_t type = (uint32_t)abi_in_u64(call, UVERBS_ATTR_CREATE_SRQ_TYPE);
	uint32_t log_wqes = 0, log_stride = 0;
	struct abi_handle *h;
	int ret;

	if (type != IB_UVERBS_SRQT_BASIC)
		return abi_refuse(call, -EOPNOTSUPP, "type %u", type);
	ret = srq_sizes(call, &log_wqes, &log_stride);
	if (ret != 0)
		return ret;
	h = abi_verbs_new(call, UVERBS_OBJECT_SRQ,
			  abi_in_u64(call, UVERBS_ATTR_CREATE_SRQ_USER_HANDLE));
	if (h == NULL)
		return -ENOMEM;
	abi_verbs_use(h, abi_in_handle(call, UVERBS_ATTR_CREATE_SRQ_PD_HANDLE));
	/* One entry stays free, as the library keeps its list. */
	h->verbs->srq.max_wr = (1u << log_wqes) - 1;
	h->verbs->srq.max_sge = (1u << log_stride) / SEG_BYTES - 1;
	ret = abi_verbs_async(call, h, UVERBS_ATTR_CREATE_SRQ_EVENT_FD);
	if (ret == 0)
		ret = srq_make(call, h, log_wqes, log_stride);
	if (ret == 0)
		ret = srq_answer(call, h);
	if (ret != 0)
		return abi_verbs_undo(call, h, ret);
	abi_attr(call, UVERBS_ATTR_CREATE_SRQ_HANDLE)->data = h->id;
	return 0;
}

static int
abi_srq_destroy(struct abi_call *call)
{
	struct abi_handle *h = abi_in_handle(call, UVERBS_ATTR_DESTROY_SRQ_HANDLE);
	uint32_t events = 0;
	int ret;

	if (h->users == 0)
		abi_events_reported(call->file, h->verbs, NULL, &events);
	ret = abi_verbs_destroy(call, h);
	return ret != 0 ? ret : abi_out_u32(call, UVERBS_ATTR_DESTROY_SRQ_RESP, events);
}

int
abi_modify_srq(struct abi_call *call)
{
	struct prm_modify_rmp_in cmd = {0};
	struct prm_modify_rmp_out out = {0};
	struct prm_rmpc *rmpc = prm_modify_rmp_in_ctx(&cmd);
	struct ib_uverbs_modify_srq in;
	struct abi_handle *h;
	int ret = abi_in(call, UVERBS_ATTR_CORE_IN, &in, sizeof(in));

	if (ret != 0)
		return ret;
	h = abi_handle_of(call, in.srq_handle, UVERBS_OBJECT_SRQ);
	/* mlx5_ib does not resize them. */
	if (h == NULL || (in.attr_mask & SRQ_MASK_MAX_WR) != 0)
		return -EINVAL;
	if ((in.attr_mask & SRQ_MASK_LIMIT) == 0)
		return 0;
	if (in.srq_limit >= h->verbs->srq.max_wr)
		return abi_refuse(call, -EINVAL, "limit %u of %u", in.srq_limit,
				  h->verbs->srq.max_wr);
	prm_modify_rmp_in_set_opcode(&cmd, PRM_CMD_OP_MODIFY_RMP);
	prm_modify_rmp_in_set_rmpn(&cmd, h->obj->id);
	prm_modify_rmp_in_set_rmp_state(&cmd, PRM_RMPC_STATE_RDY);
	prm_rmp_bitmask_set_lwm(prm_modify_rmp_in_bitmask(&cmd), 1);
	prm_rmpc_set_state(rmpc, PRM_RMPC_STATE_RDY);
	prm_wq_set_lwm(prm_rmpc_wq(rmpc), in.srq_limit);
	return abi_kernel_cmd(call, &cmd, sizeof(cmd), &out, sizeof(out), NULL);
}

int
abi_query_srq(struct abi_call *call)
{
	struct ib_uverbs_query_srq_resp resp = {0};
	struct prm_query_rmp_in cmd = {0};
	struct prm_query_rmp_out out = {0};
	struct ib_uverbs_query_srq in;
	struct abi_handle *h;
	int ret = abi_in(call, UVERBS_ATTR_CORE_IN, &in, sizeof(in));

	if (ret != 0)
		return ret;
	h = abi_handle_of(call, in.srq_handle, UVERBS_OBJECT_SRQ);
	if (h == NULL)
		return -EINVAL;
	prm_query_rmp_in_set_opcode(&cmd, PRM_CMD_OP_QUERY_RMP);
	prm_query_rmp_in_set_rmpn(&cmd, h->obj->id);
	ret = abi_kernel_cmd(call, &cmd, sizeof(cmd), &out, sizeof(out), NULL);
	if (ret != 0)
		return ret;
	resp.max_wr = h->verbs->srq.max_wr;
	resp.max_sge = h->verbs->srq.max_sge;
	resp.srq_limit = prm_wq_get_lwm(prm_rmpc_wq(prm_query_rmp_out_rmp_context(&out)));
	return abi_out(call, UVERBS_ATTR_CORE_OUT, &resp, sizeof(resp));
}

static const struct abi_method abi_methods[] = {
	{UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_CREATE, "SRQ_CREATE", abi_srq_create, true,
	 {ABI_NEW(UVERBS_ATTR_CREATE_SRQ_HANDLE, UVERBS_OBJECT_SRQ),
	  ABI_HANDLE(UVERBS_ATTR_CREATE_SRQ_PD_HANDLE, UVERBS_OBJECT_PD),
	  ABI_HANDLE_OPT(UVERBS_ATTR_CREATE_SRQ_XRCD_HANDLE, UVERBS_OBJECT_XRCD),
	  ABI_HANDLE_OPT(UVERBS_ATTR_CREATE_SRQ_CQ_HANDLE, UVERBS_OBJECT_CQ),
	  ABI_IN(UVERBS_ATTR_CREATE_SRQ_USER_HANDLE, 8, 8),
	  ABI_IN(UVERBS_ATTR_CREATE_SRQ_MAX_WR, 4, 4), ABI_IN(UVERBS_ATTR_CREATE_SRQ_MAX_SGE, 4, 4),
	  ABI_IN(UVERBS_ATTR_CREATE_SRQ_LIMIT, 4, 4),
	  ABI_IN_OPT(UVERBS_ATTR_CREATE_SRQ_MAX_NUM_TAGS, 4, 4),
	  ABI_IN(UVERBS_ATTR_CREATE_SRQ_TYPE, 4, 8),
	  {UVERBS_ATTR_CREATE_SRQ_EVENT_FD, ABI_ATTR_FD, false, UVERBS_OBJECT_ASYNC_EVENT, 0, 0},
	  ABI_OUT(UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR, 4),
	  ABI_OUT(UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE, 4),
	  ABI_OUT_OPT(UVERBS_ATTR_CREATE_SRQ_RESP_SRQ_NUM, 4),
	  ABI_IN(UVERBS_ATTR_UHW_IN, 20, sizeof(struct mlx5_ib_create_srq)),
	  ABI_OUT(UVERBS_ATTR_UHW_OUT, 4)}},
	{UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_DESTROY, "SRQ_DESTROY", abi_srq_destroy, true,
	 {ABI_HANDLE(UVERBS_ATTR_DESTROY_SRQ_HANDLE, UVERBS_OBJECT_SRQ),
	  ABI_OUT(UVERBS_ATTR_DESTROY_SRQ_RESP, 4)}},
};

const struct abi_method_table abi_srq_methods = ABI_METHODS(abi_methods);
