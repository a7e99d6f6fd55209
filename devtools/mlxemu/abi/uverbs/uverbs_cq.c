/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Verbs completion queues, created like mlx5_ib does (hw/mlx5/cq.c). */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "uverbs_obj.h"

#define CQ_CREATE_FLAGS                                                                            \
	(IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION | IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN)

/* The smallest power of two that leaves one entry free. */
static unsigned
log_entries(uint32_t cqe)
{
	unsigned log = 0;

	while ((1ull << log) < (uint64_t)cqe + 1)
		log++;
	return log;
}

static int
cq_check(struct abi_call *call, uint32_t cqe, uint32_t vector, uint64_t flags)
{
	if (cqe == 0 || log_entries(cqe) > call->dev->profile->log_max_cq_sz)
		return abi_refuse(call, -EINVAL, "%u entries", cqe);
	if (vector >= EMU_COMP_VECTORS)
		return abi_refuse(call, -EINVAL, "completion vector %u does not exist", vector);
	if ((flags & ~(uint64_t)CQ_CREATE_FLAGS) != 0)
		return abi_refuse(call, -EOPNOTSUPP, "flags 0x%x", (unsigned)flags);
	return 0;
}

static int
cq_check_driver(struct abi_call *call, const struct mlx5_ib_create_cq *uhw)
{
	if (uhw->reserved0 != 0 || uhw->reserved1 != 0 ||
	    (uhw->cqe_size != 64 && uhw->cqe_size != 128))
		return abi_refuse(call, -EINVAL, "entries of %u bytes", uhw->cqe_size);
	/* Support of real-time timestamps is checked when a queue is created. */
	if ((uhw->flags & ~(MLX5_IB_CREATE_CQ_FLAGS_UAR_PAGE_INDEX |
			    MLX5_IB_CREATE_CQ_FLAGS_CQE_128B_PAD |
			    MLX5_IB_CREATE_CQ_FLAGS_REAL_TIME_TS)) != 0)
		return abi_refuse(call, -EOPNOTSUPP, "driver flags 0x%x", uhw->flags);
	if ((uhw->flags & MLX5_IB_CREATE_CQ_FLAGS_CQE_128B_PAD) != 0 && uhw->cqe_size != 128)
		return abi_refuse(call, -EOPNOTSUPP, "entries of %u bytes, padded", uhw->cqe_size);
	if ((uhw->flags & MLX5_IB_CREATE_CQ_FLAGS_UAR_PAGE_INDEX) == 0)
		return abi_refuse(call, -EINVAL, "no doorbell page: contexts have none of their own");
	return 0;
}

/* The mini entry formats as the uapi and as the device number them. */
static int
cq_compression(struct abi_call *call, const struct mlx5_ib_create_cq *uhw, struct prm_cqc *cqc)
{
	static const struct {
		uint8_t uapi, device;
	} formats[] = {
		{MLX5_IB_CQE_RES_FORMAT_HASH, 0},
		{MLX5_IB_CQE_RES_FORMAT_CSUM, 1},
		{MLX5_IB_CQE_RES_FORMAT_CSUM_STRIDX, 3},
	};
	unsigned i;

	if (!uhw->cqe_comp_en)
		return 0;
	for (i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		if ((abi_cqe_compression_formats(call) & formats[i].uapi) == 0 ||
		    formats[i].uapi != uhw->cqe_comp_res_format)
			continue;
		prm_cqc_set_cqe_comp_en(cqc, 1);
		prm_cqc_set_mini_cqe_res_format(cqc, formats[i].device);
		return 0;
	}
	return abi_refuse(call, -EOPNOTSUPP, "compression with format 0x%x",
			  uhw->cqe_comp_res_format);
}

static uint8_t
cq_entry_code(const struct mlx5_ib_create_cq *uhw)
{
	if (uhw->cqe_size != 128)
		return PRM_CQC_CQE_SZ_64B;
	return (uhw->flags & MLX5_IB_CREATE_CQ_FLAGS_CQE_128B_PAD) != 0 ? PRM_CQC_CQE_SZ_128B_PAD
									: PRM_CQC_CQE_SZ_128B;
}

static int
cq_make(struct abi_call *call, struct abi_handle *h, const struct mlx5_ib_create_cq *uhw)
{
	uint32_t log_size = log_entries((uint32_t)abi_in_u64(call, UVERBS_ATTR_CREATE_CQ_CQE));
	uint64_t flags = abi_in_u64(call, UVERBS_ATTR_CREATE_CQ_FLAGS), offset;
	unsigned vector = (unsigned)abi_in_u64(call, UVERBS_ATTR_CREATE_CQ_COMP_VECTOR);
	struct prm_create_cq_in in = {0};
	struct prm_cqc *cqc = prm_create_cq_in_cq_context(&in);
	uint32_t ring, dbrec;
	int ret = abi_verbs_pin(call, h, uhw->buf_addr, (uint64_t)uhw->cqe_size << log_size, &ring);

	if (ret == 0)
		ret = abi_verbs_pin_dbrec(call, h, uhw->db_addr, &dbrec, &offset);
	if (ret == 0)
		ret = cq_compression(call, uhw, cqc);
	if (ret != 0)
		return ret;
	prm_create_cq_in_set_opcode(&in, PRM_CMD_OP_CREATE_CQ);
	prm_create_cq_in_set_cq_umem_id(&in, ring);
	h->verbs->cq.cqe_sz = cq_entry_code(uhw);
	h->verbs->cq.stamps = (flags & IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION) != 0;
	h->verbs->cq.real_time = (uhw->flags & MLX5_IB_CREATE_CQ_FLAGS_REAL_TIME_TS) != 0;
	prm_cqc_set_cqe_sz(cqc, h->verbs->cq.cqe_sz);
	prm_cqc_set_log_cq_size(cqc, log_size);
	prm_cqc_set_uar_page(cqc, uhw->uar_page_index);
	prm_cqc_set_c_eqn(cqc, emu_eqn_of_vector(call->dev, vector));
	prm_cqc_set_dbr_umem_id(cqc, dbrec);
	prm_cqc_set_dbr_addr(cqc, offset);
	prm_cqc_set_oi(cqc, (flags & IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN) != 0);
	ret = abi_verbs_create(call, h, &in, sizeof(in), NULL);
	if (ret == 0)
		ret = abi_out_u32(call, UVERBS_ATTR_CREATE_CQ_RESP_CQE, (1u << log_size) - 1);
	return ret;
}

int
abi_cq_ts_format(struct abi_call *call, const struct abi_handle *cq)
{
	enum emu_clock_format can = call->dev->clock.format;
	bool real = cq != NULL && cq->verbs->cq.real_time;
	bool stamps = cq != NULL && cq->verbs->cq.stamps;

	if (real && can == EMU_CLOCK_FREE)
		return abi_refuse(call, -EOPNOTSUPP, "time stamps in real time");
	if (real)
		return PRM_TS_FORMAT_REAL_TIME;
	if (can != EMU_CLOCK_REALTIME)
		return PRM_TS_FORMAT_FREE_RUNNING;
	return stamps ? abi_refuse(call, -EOPNOTSUPP, "free-running time stamps")
		      : PRM_TS_FORMAT_DEFAULT;
}

static int
cq_channel(struct abi_call *call, struct abi_handle *h)
{
	const struct ib_uverbs_attr *a = abi_attr(call, UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL);

	if (a == NULL)
		return 0;
	h->verbs->cq.channel = abi_comp_channel(call, (int)a->data_s64);
	return h->verbs->cq.channel != NULL ? 0 : -EBADF;
}

static int
abi_cq_create(struct abi_call *call)
{
	struct mlx5_ib_create_cq_resp resp = {0};
	struct mlx5_ib_create_cq uhw;
	struct abi_handle *h;
	int ret = cq_check(call, (uint32_t)abi_in_u64(call, UVERBS_ATTR_CREATE_CQ_CQE),
			   (uint32_t)abi_in_u64(call, UVERBS_ATTR_CREATE_CQ_COMP_VECTOR),
			   abi_in_u64(call, UVERBS_ATTR_CREATE_CQ_FLAGS));

	if (ret == 0)
		ret = abi_in(call, UVERBS_ATTR_UHW_IN, &uhw, sizeof(uhw));
	if (ret == 0)
		ret = cq_check_driver(call, &uhw);
	if (ret != 0)
		return ret;
	h = abi_verbs_new(call, UVERBS_OBJECT_CQ,
			  abi_in_u64(call, UVERBS_ATTR_CREATE_CQ_USER_HANDLE));
	if (h == NULL)
		return -ENOMEM;
	ret = cq_channel(call, h);
	if (ret == 0)
		ret = abi_verbs_async(call, h, UVERBS_ATTR_CREATE_CQ_EVENT_FD);
	if (ret == 0)
		ret = cq_make(call, h, &uhw);
	if (ret == 0) {
		h->obj->subscribed = h->verbs->cq.channel != NULL;
		resp.cqn = h->obj->id;
		ret = abi_out(call, UVERBS_ATTR_UHW_OUT, &resp, sizeof(resp));
	}
	if (ret != 0)
		return abi_verbs_undo(call, h, ret);
	abi_attr(call, UVERBS_ATTR_CREATE_CQ_HANDLE)->data = h->id;
	return 0;
}

static int
abi_cq_destroy(struct abi_call *call)
{
	struct abi_handle *h = abi_in_handle(call, UVERBS_ATTR_DESTROY_CQ_HANDLE);
	struct ib_uverbs_destroy_cq_resp resp = {0};
	int ret;

	/* The reply has the numbers of events: read them before the object is freed. */
	if (h->users == 0)
		abi_events_reported(call->file, h->verbs, &resp.comp_events_reported,
				    &resp.async_events_reported);
	ret = abi_verbs_destroy(call, h);
	return ret != 0 ? ret
			: abi_out(call, UVERBS_ATTR_DESTROY_CQ_RESP, &resp, sizeof(resp));
}

/* enum ib_cq_attr_mask: the only attribute. */
#define CQ_ATTR_MODERATE 1u

int
abi_modify_cq(struct abi_call *call)
{
	struct prm_modify_cq_in cmd = {0};
	struct prm_modify_cq_out out = {0};
	struct prm_cqc *cqc = prm_modify_cq_in_cq_context(&cmd);
	struct ib_uverbs_ex_modify_cq in;
	struct abi_handle *h;
	int ret = abi_in(call, UVERBS_ATTR_CORE_IN, &in, sizeof(in));

	if (ret != 0)
		return ret;
	h = abi_handle_of(call, in.cq_handle, UVERBS_OBJECT_CQ);
	if (h == NULL)
		return -EINVAL;
	if (in.attr_mask != CQ_ATTR_MODERATE)
		return abi_refuse(call, -EOPNOTSUPP, "attributes 0x%x", in.attr_mask);
	if (in.attr.cq_period > ABI_CQ_PERIOD_MAX)
		return abi_refuse(call, -EINVAL, "period of %u us", in.attr.cq_period);
	prm_modify_cq_in_set_opcode(&cmd, PRM_CMD_OP_MODIFY_CQ);
	prm_modify_cq_in_set_cqn(&cmd, h->obj->id);
	cmd.dw[3] = htobe32(PRM_MODIFY_CQ_FIELD_PERIOD | PRM_MODIFY_CQ_FIELD_MAX_COUNT);
	prm_cqc_set_cq_period(cqc, in.attr.cq_period);
	prm_cqc_set_cq_max_count(cqc, in.attr.cq_count);
	return abi_kernel_cmd(call, &cmd, sizeof(cmd), &out, sizeof(out), NULL);
}

static int
cq_resize(struct abi_call *call, struct abi_handle *h, const struct mlx5_ib_resize_cq *uhw,
	  uint32_t log_size)
{
	struct prm_modify_cq_in cmd = {0};
	struct prm_modify_cq_out out = {0};
	struct prm_cqc *cqc = prm_modify_cq_in_cq_context(&cmd);
	uint32_t umem;
	int ret = abi_verbs_pin(call, h, uhw->buf_addr, (uint64_t)uhw->cqe_size << log_size, &umem);

	if (ret != 0)
		return ret;
	prm_modify_cq_in_set_opcode(&cmd, PRM_CMD_OP_MODIFY_CQ);
	prm_modify_cq_in_set_op_mod(&cmd, 1);
	prm_modify_cq_in_set_cqn(&cmd, h->obj->id);
	cmd.dw[3] = htobe32(PRM_RESIZE_CQ_FIELD_LOG_CQ_SIZE | PRM_RESIZE_CQ_FIELD_UMEM);
	prm_modify_cq_in_set_cq_umem_id(&cmd, umem);
	prm_modify_cq_in_set_cq_umem_valid(&cmd, 1);
	prm_cqc_set_log_cq_size(cqc, log_size);
	prm_cqc_set_cqe_sz(cqc, h->verbs->cq.cqe_sz);
	ret = abi_kernel_cmd(call, &cmd, sizeof(cmd), &out, sizeof(out), NULL);
	/* The new ring was pinned first: it replaces the old one, or is released on failure. */
	abi_verbs_drop_newest(h, ret == 0 ? 0 : -1);
	return ret;
}

int
abi_resize_cq(struct abi_call *call)
{
	struct ib_uverbs_resize_cq_resp resp = {0};
	struct ib_uverbs_resize_cq in;
	struct mlx5_ib_resize_cq uhw;
	struct abi_handle *h;
	int ret = abi_in(call, UVERBS_ATTR_CORE_IN, &in, sizeof(in));

	if (ret == 0)
		ret = abi_in(call, UVERBS_ATTR_UHW_IN, &uhw, sizeof(uhw));
	if (ret != 0)
		return ret;
	h = abi_handle_of(call, in.cq_handle, UVERBS_OBJECT_CQ);
	if (h == NULL)
		return -EINVAL;
	ret = cq_check(call, in.cqe, 0, 0);
	if (ret != 0)
		return ret;
	if (uhw.reserved0 != 0 || uhw.reserved1 != 0 ||
	    (uhw.cqe_size != 64 && uhw.cqe_size != 128))
		return abi_refuse(call, -EINVAL, "entries of %u bytes", uhw.cqe_size);
	ret = cq_resize(call, h, &uhw, log_entries(in.cqe));
	if (ret != 0)
		return ret;
	resp.cqe = (1u << log_entries(in.cqe)) - 1;
	return abi_out(call, UVERBS_ATTR_CORE_OUT, &resp, sizeof(resp));
}

static const struct abi_method abi_methods[] = {
	{UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE, "CQ_CREATE", abi_cq_create, true,
	 {ABI_NEW(UVERBS_ATTR_CREATE_CQ_HANDLE, UVERBS_OBJECT_CQ),
	  ABI_IN(UVERBS_ATTR_CREATE_CQ_CQE, 4, 4), ABI_IN(UVERBS_ATTR_CREATE_CQ_USER_HANDLE, 8, 8),
	  {UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL, ABI_ATTR_FD, false, UVERBS_OBJECT_COMP_CHANNEL, 0,
	   0},
	  ABI_IN(UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, 4, 4),
	  ABI_IN_OPT(UVERBS_ATTR_CREATE_CQ_FLAGS, 4, 8),
	  ABI_OUT(UVERBS_ATTR_CREATE_CQ_RESP_CQE, 4),
	  {UVERBS_ATTR_CREATE_CQ_EVENT_FD, ABI_ATTR_FD, false, UVERBS_OBJECT_ASYNC_EVENT, 0, 0},
	  ABI_IN(UVERBS_ATTR_UHW_IN, 20, sizeof(struct mlx5_ib_create_cq)),
	  ABI_OUT(UVERBS_ATTR_UHW_OUT, 4)}},
	{UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_DESTROY, "CQ_DESTROY", abi_cq_destroy, true,
	 {ABI_HANDLE(UVERBS_ATTR_DESTROY_CQ_HANDLE, UVERBS_OBJECT_CQ),
	  ABI_OUT(UVERBS_ATTR_DESTROY_CQ_RESP, sizeof(struct ib_uverbs_destroy_cq_resp))}},
};

const struct abi_method_table abi_cq_methods = ABI_METHODS(abi_methods);
