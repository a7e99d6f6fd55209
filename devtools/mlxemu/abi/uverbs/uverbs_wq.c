/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Verbs work queues (RQs without a QP) and indirection tables. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dp/emu_dp.h"
#include "uverbs_qp.h"

/* enum ib_wq_flags, ib_wq_state, ib_wq_attr_mask */
#define WQ_FLAG_CVLAN_STRIPPING (1u << 0)
#define WQ_FLAG_SCATTER_FCS (1u << 1)
#define WQ_RESET 0u
#define WQ_RDY 1u
#define WQ_ERR 2u
#define WQ_MASK_STATE (1u << 0)
#define WQ_MASK_CUR_STATE (1u << 1)
#define WQ_MASK_FLAGS (1u << 2)
/* As striding receive queues count: 64 bytes, 512 strides are 0. */
#define LOG_STRIDE_BYTES_BASE 6u
#define LOG_STRIDES_BASE 9u

/* The ranges are constants of mlx5_ib; values outside do not fit the fields of the command. */
static int
wq_strides_check(struct abi_call *call, const struct mlx5_ib_create_wq *uhw)
{
	if ((uhw->comp_mask & MLX5_IB_CREATE_WQ_STRIDING_RQ) == 0)
		return 0;
	if (uhw->single_stride_log_num_of_bytes < EMU_DP_LOG_STRIDE_BYTES_MIN ||
	    uhw->single_stride_log_num_of_bytes > EMU_DP_LOG_STRIDE_BYTES_MAX)
		return abi_refuse(call, -EINVAL, "strides of 2^%u bytes",
				  uhw->single_stride_log_num_of_bytes);
	if (uhw->single_wqe_log_num_of_strides < EMU_DP_LOG_STRIDES_MIN ||
	    uhw->single_wqe_log_num_of_strides > EMU_DP_LOG_STRIDES_MAX)
		return abi_refuse(call, -EINVAL, "2^%u strides",
				  uhw->single_wqe_log_num_of_strides);
	return 0;
}

static int
wq_check(struct abi_call *call, const struct mlx5_ib_create_wq *uhw, uint64_t flags)
{
	const uint32_t most = 1u << call->dev->profile->log_max_wq_sz;

	if ((uint32_t)abi_in_u64(call, UVERBS_ATTR_CREATE_WQ_TYPE) != 0)
		return abi_refuse(call, -EINVAL, "work queue is not a receive queue");
	if ((flags & ~(uint64_t)(WQ_FLAG_CVLAN_STRIPPING | WQ_FLAG_SCATTER_FCS)) != 0)
		return abi_refuse(call, -EOPNOTSUPP, "create flags 0x%x", (unsigned)flags);
	if (uhw->flags != 0 || (uhw->comp_mask & ~(uint32_t)MLX5_IB_CREATE_WQ_STRIDING_RQ) != 0)
		return abi_refuse(call, -EOPNOTSUPP, "driver flags 0x%x, mask 0x%x", uhw->flags,
				  uhw->comp_mask);
	if (uhw->rq_wqe_count == 0 || (uhw->rq_wqe_count & (uhw->rq_wqe_count - 1)) != 0 ||
	    uhw->rq_wqe_count > most || uhw->rq_wqe_shift < 4 || uhw->rq_wqe_shift > 9)
		return abi_refuse(call, -EINVAL, "%u entries of 1 << %u bytes", uhw->rq_wqe_count,
				  uhw->rq_wqe_shift);
	return wq_strides_check(call, uhw);
}

static void
wq_striding(const struct mlx5_ib_create_wq *uhw, struct prm_wq *wq)
{
	prm_wq_set_wq_type(wq, PRM_WQ_TYPE_CYCLIC);
	if ((uhw->comp_mask & MLX5_IB_CREATE_WQ_STRIDING_RQ) == 0)
		return;
	prm_wq_set_wq_type(wq, PRM_WQ_TYPE_CYCLIC_STRIDING);
	prm_wq_set_two_byte_shift_en(wq, uhw->two_byte_shift_en != 0);
	prm_wq_set_log_wqe_stride_size(
		wq, uhw->single_stride_log_num_of_bytes - LOG_STRIDE_BYTES_BASE);
	prm_wq_set_log_wqe_num_of_strides(
		wq, (uhw->single_wqe_log_num_of_strides - LOG_STRIDES_BASE) & 0xf);
}

static int
wq_make(struct abi_call *call, struct abi_handle *h, const struct mlx5_ib_create_wq *uhw,
	uint64_t flags)
{
	const struct abi_handle *pd = abi_in_handle(call, UVERBS_ATTR_CREATE_WQ_PD_HANDLE);
	const struct abi_handle *cq = abi_in_handle(call, UVERBS_ATTR_CREATE_WQ_CQ_HANDLE);
	struct prm_create_rq_in in = {0};
	struct prm_rqc *rqc = prm_create_rq_in_ctx(&in);
	struct prm_wq *wq = prm_rqc_wq(rqc);
	uint32_t ring, dbrec;
	uint64_t offset;
	int format = abi_cq_ts_format(call, cq);
	int ret = format < 0 ? format
			     : abi_verbs_pin(call, h, uhw->buf_addr,
					     (uint64_t)uhw->rq_wqe_count << uhw->rq_wqe_shift, &ring);

	if (ret == 0)
		ret = abi_verbs_pin_dbrec(call, h, uhw->db_addr, &dbrec, &offset);
	if (ret != 0)
		return ret;
	prm_create_rq_in_set_opcode(&in, PRM_CMD_OP_CREATE_RQ);
	prm_rqc_set_cqn(rqc, cq->obj->id);
	prm_rqc_set_ts_format(rqc, (uint32_t)format);
	prm_rqc_set_user_index(rqc, uhw->user_index);
	prm_rqc_set_flush_in_error_en(rqc, 1);
	prm_rqc_set_vsd(rqc, (flags & WQ_FLAG_CVLAN_STRIPPING) == 0);
	prm_rqc_set_scatter_fcs(rqc, (flags & WQ_FLAG_SCATTER_FCS) != 0);
	wq_striding(uhw, wq);
	prm_wq_set_pd(wq, pd->obj->id);
	prm_wq_set_log_wq_stride(wq, uhw->rq_wqe_shift);
	prm_wq_set_log_wq_sz(wq, abi_log2(uhw->rq_wqe_count));
	prm_wq_set_wq_umem_id(wq, ring);
	prm_wq_set_dbr_umem_id(wq, dbrec);
	prm_wq_set_dbr_addr(wq, offset);
	return abi_verbs_create(call, h, &in, sizeof(in), NULL);
}

static int
wq_answer(struct abi_call *call, const struct abi_handle *h)
{
	const struct mlx5_ib_create_wq_resp uhw = {.response_length = sizeof(uhw)};
	uint32_t sge = (uint32_t)abi_in_u64(call, UVERBS_ATTR_CREATE_WQ_MAX_SGE);
	uint32_t wr = (uint32_t)abi_in_u64(call, UVERBS_ATTR_CREATE_WQ_MAX_WR);
	int ret = abi_out_u32(call, UVERBS_ATTR_CREATE_WQ_RESP_MAX_WR, wr);

	if (ret == 0)
		ret = abi_out_u32(call, UVERBS_ATTR_CREATE_WQ_RESP_MAX_SGE, sge);
	if (ret == 0)
		ret = abi_out_u32(call, UVERBS_ATTR_CREATE_WQ_RESP_WQ_NUM, h->obj->id);
	return ret != 0 ? ret : abi_out(call, UVERBS_ATTR_UHW_OUT, &uhw, sizeof(uhw));
}

static int
abi_wq_create(struct abi_call *call)
{
	uint64_t flags = abi_in_u64(call, UVERBS_ATTR_CREATE_WQ_FLAGS);
	struct mlx5_ib_create_wq uhw;
	struct abi_handle *h;
	int ret = abi_in(call, UVERBS_ATTR_UHW_IN, &uhw, sizeof(uhw));

	if (ret == 0)
		ret = wq_check(call, &uhw, flags);
	if (ret != 0)
		return ret;
	h = abi_verbs_new(call, UVERBS_OBJECT_WQ,
			  abi_in_u64(call, UVERBS_ATTR_CREATE_WQ_USER_HANDLE));
	if (h == NULL)
		return -ENOMEM;
	abi_verbs_use(h, abi_in_handle(call, UVERBS_ATTR_CREATE_WQ_PD_HANDLE));
	abi_verbs_use(h, abi_in_handle(call, UVERBS_ATTR_CREATE_WQ_CQ_HANDLE));
	ret = abi_verbs_async(call, h, UVERBS_ATTR_CREATE_WQ_EVENT_FD);
	if (ret == 0)
		ret = wq_make(call, h, &uhw, flags);
	if (ret == 0)
		ret = wq_answer(call, h);
	if (ret != 0)
		return abi_verbs_undo(call, h, ret);
	abi_attr(call, UVERBS_ATTR_CREATE_WQ_HANDLE)->data = h->id;
	return 0;
}

static int
abi_wq_destroy(struct abi_call *call)
{
	struct abi_handle *h = abi_in_handle(call, UVERBS_ATTR_DESTROY_WQ_HANDLE);
	uint32_t events = 0;
	int ret;

	if (h->users == 0)
		abi_events_reported(call->file, h->verbs, NULL, &events);
	ret = abi_verbs_destroy(call, h);
	return ret != 0 ? ret : abi_out_u32(call, UVERBS_ATTR_DESTROY_WQ_RESP, events);
}

static int
wq_set_stripping(struct abi_call *call, struct emu_obj *rq, bool strip)
{
	const unsigned state = ((struct emu_rq *)rq)->state;
	struct prm_modify_rq_in in = {0};
	struct prm_modify_rq_out out = {0};
	struct prm_rqc *rqc = prm_modify_rq_in_ctx(&in);

	prm_modify_rq_in_set_opcode(&in, PRM_CMD_OP_MODIFY_RQ);
	prm_modify_rq_in_set_rqn(&in, rq->id);
	prm_modify_rq_in_set_rq_state(&in, state);
	prm_modify_rq_in_set_modify_bitmask(&in, PRM_MODIFY_RQ_BITMASK_VSD);
	prm_rqc_set_state(rqc, state);
	prm_rqc_set_vsd(rqc, !strip);
	return abi_kernel_cmd(call, &in, sizeof(in), &out, sizeof(out), NULL);
}

int
abi_modify_wq(struct abi_call *call)
{
	static const uint8_t states[] = {
		[WQ_RESET] = EMU_QS_RST, [WQ_RDY] = EMU_QS_RDY, [WQ_ERR] = EMU_QS_ERR};
	struct ib_uverbs_ex_modify_wq in;
	struct abi_handle *h;
	struct abi_wq *wq;
	int ret = abi_in(call, UVERBS_ATTR_CORE_IN, &in, sizeof(in));

	if (ret != 0)
		return ret;
	h = abi_handle_of(call, in.wq_handle, UVERBS_OBJECT_WQ);
	if (h == NULL)
		return -EINVAL;
	wq = &h->verbs->wq;
	if (in.attr_mask == 0 ||
	    (in.attr_mask & ~(WQ_MASK_STATE | WQ_MASK_CUR_STATE | WQ_MASK_FLAGS)) != 0 ||
	    ((in.attr_mask & WQ_MASK_CUR_STATE) != 0 && in.curr_wq_state != wq->state) ||
	    ((in.attr_mask & WQ_MASK_STATE) != 0 && in.wq_state > WQ_ERR))
		return abi_refuse(call, -EINVAL, "mask 0x%x, from %u to %u", in.attr_mask,
				  in.curr_wq_state, in.wq_state);
	if ((in.attr_mask & WQ_MASK_FLAGS) != 0) {
		if ((in.flags_mask & ~WQ_FLAG_CVLAN_STRIPPING) != 0)
			return abi_refuse(call, -EOPNOTSUPP, "flags 0x%x", in.flags_mask);
		ret = wq_set_stripping(call, h->obj,
				       (in.flags & WQ_FLAG_CVLAN_STRIPPING) != 0);
	}
	if (ret != 0 || (in.attr_mask & WQ_MASK_STATE) == 0)
		return ret;
	ret = abi_rq_set_state(call, h->obj, states[in.wq_state]);
	if (ret == 0)
		wq->state = in.wq_state;
	return ret;
}

/* One command with as many entries as the table has. */
static int
ind_tbl_make(struct abi_call *call, struct abi_handle *h, const uint32_t *wqs, unsigned n)
{
	size_t len = sizeof(struct prm_create_rqt_in) + n * sizeof(struct prm_rq_num);
	struct prm_create_rqt_in *in = calloc(1, len);
	struct prm_rqtc *rqtc;
	uint32_t *entry;
	unsigned i;
	int ret;

	if (in == NULL)
		return -ENOMEM;
	rqtc = prm_create_rqt_in_rqt_context(in);
	entry = (uint32_t *)(in + 1);
	prm_create_rqt_in_set_opcode(in, PRM_CMD_OP_CREATE_RQT);
	prm_rqtc_set_rqt_max_size(rqtc, n);
	prm_rqtc_set_rqt_actual_size(rqtc, n);
	for (i = 0; i < n; i++)
		prm_rq_num_set_rq_num((struct prm_rq_num *)&entry[i],
				      abi_handle_find(call->file, wqs[i])->obj->id);
	ret = abi_verbs_create(call, h, in, len, NULL);
	free(in);
	return ret;
}

/* The handles follow the fixed part; all must be work queues. */
static int
ind_tbl_read(struct abi_call *call, const struct ib_uverbs_ex_create_rwq_ind_table *in,
	     uint32_t **wqs)
{
	unsigned i, n = 1u << in->log_ind_tbl_size;
	size_t head = sizeof(*in);
	uint8_t *all;
	size_t len;
	int ret = abi_in_alloc(call, UVERBS_ATTR_CORE_IN, (void **)&all, &len);

	if (ret != 0)
		return ret;
	*wqs = len >= head + n * sizeof(uint32_t) ? malloc(n * sizeof(uint32_t)) : NULL;
	if (*wqs != NULL)
		memcpy(*wqs, all + head, n * sizeof(uint32_t));
	free(all);
	if (*wqs == NULL)
		return -EINVAL;
	for (i = 0; i < n; i++)
		if (abi_handle_of(call, (*wqs)[i], UVERBS_OBJECT_WQ) == NULL) {
			free(*wqs);
			return -EINVAL;
		}
	return 0;
}

int
abi_create_ind_tbl(struct abi_call *call)
{
	struct ib_uverbs_ex_create_rwq_ind_table_resp resp = {.response_length = sizeof(resp)};
	const struct mlx5_ib_create_rwq_ind_tbl_resp uhw = {.response_length = sizeof(uhw)};
	struct ib_uverbs_ex_create_rwq_ind_table in;
	struct abi_handle *h;
	uint32_t *wqs;
	int ret = abi_in(call, UVERBS_ATTR_CORE_IN, &in, sizeof(in));

	if (ret != 0)
		return ret;
	if (in.comp_mask != 0)
		return -EOPNOTSUPP;
	if (in.log_ind_tbl_size > call->dev->profile->log_max_rqt_size)
		return abi_refuse(call, -EINVAL, "1 << %u entries", in.log_ind_tbl_size);
	ret = ind_tbl_read(call, &in, &wqs);
	if (ret != 0)
		return ret;
	h = abi_verbs_new(call, UVERBS_OBJECT_RWQ_IND_TBL, 0);
	ret = h != NULL ? ind_tbl_make(call, h, wqs, 1u << in.log_ind_tbl_size) : -ENOMEM;
	free(wqs);
	if (ret == 0) {
		resp.ind_tbl_handle = h->id;
		resp.ind_tbl_num = h->obj->id;
		ret = abi_out(call, UVERBS_ATTR_CORE_OUT, &resp, sizeof(resp));
	}
	if (ret == 0)
		ret = abi_out(call, UVERBS_ATTR_UHW_OUT, &uhw, sizeof(uhw));
	return ret == 0 || h == NULL ? ret : abi_verbs_undo(call, h, ret);
}

static const struct abi_method abi_methods[] = {
	{UVERBS_OBJECT_WQ, UVERBS_METHOD_WQ_CREATE, "WQ_CREATE", abi_wq_create, true,
	 {ABI_NEW(UVERBS_ATTR_CREATE_WQ_HANDLE, UVERBS_OBJECT_WQ),
	  ABI_HANDLE(UVERBS_ATTR_CREATE_WQ_PD_HANDLE, UVERBS_OBJECT_PD),
	  ABI_HANDLE(UVERBS_ATTR_CREATE_WQ_CQ_HANDLE, UVERBS_OBJECT_CQ),
	  ABI_IN(UVERBS_ATTR_CREATE_WQ_USER_HANDLE, 8, 8),
	  ABI_IN(UVERBS_ATTR_CREATE_WQ_TYPE, 4, 8),
	  {UVERBS_ATTR_CREATE_WQ_EVENT_FD, ABI_ATTR_FD, false, UVERBS_OBJECT_ASYNC_EVENT, 0, 0},
	  ABI_IN(UVERBS_ATTR_CREATE_WQ_MAX_WR, 4, 4), ABI_IN(UVERBS_ATTR_CREATE_WQ_MAX_SGE, 4, 4),
	  ABI_IN_OPT(UVERBS_ATTR_CREATE_WQ_FLAGS, 4, 8),
	  ABI_OUT(UVERBS_ATTR_CREATE_WQ_RESP_MAX_WR, 4),
	  ABI_OUT(UVERBS_ATTR_CREATE_WQ_RESP_MAX_SGE, 4),
	  ABI_OUT_OPT(UVERBS_ATTR_CREATE_WQ_RESP_WQ_NUM, 4),
	  ABI_IN(UVERBS_ATTR_UHW_IN, 32, sizeof(struct mlx5_ib_create_wq)),
	  ABI_OUT(UVERBS_ATTR_UHW_OUT, 0)}},
	{UVERBS_OBJECT_WQ, UVERBS_METHOD_WQ_DESTROY, "WQ_DESTROY", abi_wq_destroy, true,
	 {ABI_HANDLE(UVERBS_ATTR_DESTROY_WQ_HANDLE, UVERBS_OBJECT_WQ),
	  ABI_OUT(UVERBS_ATTR_DESTROY_WQ_RESP, 4)}},
};

const struct abi_method_table abi_wq_methods = ABI_METHODS(abi_methods);
