/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * An mlx4 device (ConnectX-3) as mlx4_ib would show it to libmlx4: context, device and port queries, GIDs,
 * PDs, events. Queues and memory regions are not supported: the attributes report
 * limits of 0, and calls are refused.
 */
#include <errno.h>
#include <string.h>

#include <rdma/mlx4-abi.h>

#include "uverbs.h"

/** Sizes expected by libmlx4; qp_tab_size must be a power of two. */
#define MLX4_QP_TAB_SIZE (1u << 17)
#define MLX4_CQE_BYTES 32
/** Receive WQEs of 32 segments of 16 bytes, which can hold data instead. */
#define MLX4_MAX_INL_RECV_BYTES 512

static int
abi_mlx4_get_context(struct abi_call *call)
{
	/* No BlueFlame: there are no send queues. */
	const struct mlx4_ib_alloc_ucontext_resp resp = {
		.qp_tab_size = MLX4_QP_TAB_SIZE,
		.cqe_size = MLX4_CQE_BYTES,
	};
	int ret;

	if (call->ctx != NULL)
		return abi_refuse(call, -EINVAL, "the file has a context already");
	ret = abi_out(call, UVERBS_ATTR_UHW_OUT, &resp, sizeof(resp));
	if (ret == 0)
		ret = abi_out_u32(call, UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, EMU_COMP_VECTORS);
	if (ret == 0)
		ret = abi_out_u64(call, UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, 0);
	if (ret == 0)
		ret = emu_ctx_open(call->dev, call->file->map, false, &abi_ctx_ops,
				   &call->file->ctx);
	if (ret == 0)
		call->file->ctx->priv = call->file;
	return ret;
}

void
abi_mlx4_attributes(const struct emu_dev *dev, struct ib_uverbs_query_device_resp *r)
{
	abi_device_identity(dev, r);
}

int
abi_mlx4_attributes_ex(struct abi_call *call)
{
	struct ib_uverbs_ex_query_device_resp core = {0};
	/* No core clock page, no RSS, no TSO. */
	struct mlx4_uverbs_ex_query_device_resp uhw = {
		.max_inl_recv_sz = MLX4_MAX_INL_RECV_BYTES,
	};
	struct ib_uverbs_ex_query_device in;
	size_t room = abi_len(call, UVERBS_ATTR_CORE_OUT);
	int ret = abi_in(call, UVERBS_ATTR_CORE_IN, &in, sizeof(in));

	if (ret != 0)
		return ret;
	if (in.comp_mask != 0 || in.reserved != 0)
		return -EINVAL;
	abi_mlx4_attributes(call->dev, &core.base);
	core.response_length = room < sizeof(core) ? room : sizeof(core);
	room = abi_len(call, UVERBS_ATTR_UHW_OUT);
	uhw.response_length = room < sizeof(uhw) ? room : sizeof(uhw);
	ret = abi_out(call, UVERBS_ATTR_CORE_OUT, &core, sizeof(core));
	return ret != 0 ? ret : abi_out(call, UVERBS_ATTR_UHW_OUT, &uhw, sizeof(uhw));
}

static const struct abi_method abi_methods[] = {
	{UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT, "GET_CONTEXT", abi_mlx4_get_context, false,
	 {ABI_OUT_OPT(UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, 4),
	  ABI_OUT_OPT(UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, 8),
	  ABI_IN_OPT(UVERBS_ATTR_UHW_IN, 0, 0),
	  ABI_OUT(UVERBS_ATTR_UHW_OUT, sizeof(struct mlx4_ib_alloc_ucontext_resp))}},
};

/** Methods of ib_uverbs, which all devices have. */
static const struct {
	uint16_t object, method;
} generic[] = {
	{UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE},
	{UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT},
	{UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_TABLE},
	{UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_ENTRY},
	{UVERBS_OBJECT_ASYNC_EVENT, UVERBS_METHOD_ASYNC_EVENT_ALLOC},
	{UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY},
};

const struct abi_method *
abi_mlx4_method(uint16_t object, uint16_t method)
{
	unsigned i;

	for (i = 0; i < sizeof(abi_methods) / sizeof(abi_methods[0]); i++)
		if (abi_methods[i].object == object && abi_methods[i].method == method)
			return &abi_methods[i];
	for (i = 0; i < sizeof(generic) / sizeof(generic[0]); i++)
		if (generic[i].object == object && generic[i].method == method)
			return abi_method_find(object, method);
	return NULL;
}
