/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Memory for the device: umems and doorbell pages. */
#include <errno.h>

#include "uverbs.h"

#define UMEM_ACCESS                                                                                \
	(IB_UVERBS_ACCESS_LOCAL_WRITE | IB_UVERBS_ACCESS_REMOTE_WRITE |                            \
	 IB_UVERBS_ACCESS_REMOTE_READ)

/* Page sizes from 4 KiB up to the umem's length, rounded up: one of them must be allowed. */
static bool
abi_umem_page_size(uint64_t len, uint64_t bitmap)
{
	unsigned top = 12;

	while (top < 63 && (1ull << top) < len)
		top++;
	return (bitmap & ((2ull << top) - 1) & ~(uint64_t)(EMU_PAGE_BYTES - 1)) != 0;
}

static int
abi_umem_check(struct abi_call *call, uint64_t len, uint64_t access)
{
	if (!call->ctx->devx)
		return abi_refuse(call, -EINVAL, "the context was opened without DEVX");
	if ((access & ~(uint64_t)UMEM_ACCESS) != 0)
		return abi_refuse(call, -EINVAL, "access 0x%x", (unsigned)access);
	/* Remote writing needs local writing. */
	if ((access & IB_UVERBS_ACCESS_REMOTE_WRITE) != 0 &&
	    (access & IB_UVERBS_ACCESS_LOCAL_WRITE) == 0)
		return abi_refuse(call, -EINVAL, "remote write without local write");
	if (abi_attr(call, MLX5_IB_ATTR_DEVX_UMEM_REG_DMABUF_FD) != NULL)
		return -EOPNOTSUPP;
	if (abi_attr(call, MLX5_IB_ATTR_DEVX_UMEM_REG_PGSZ_BITMAP) != NULL &&
	    !abi_umem_page_size(len, abi_in_u64(call, MLX5_IB_ATTR_DEVX_UMEM_REG_PGSZ_BITMAP)))
		return abi_refuse(call, -EINVAL, "no page size of the bitmap fits");
	return 0;
}

static int
abi_umem_reg(struct abi_call *call)
{
	uint64_t addr = abi_in_u64(call, MLX5_IB_ATTR_DEVX_UMEM_REG_ADDR);
	uint64_t len = abi_in_u64(call, MLX5_IB_ATTR_DEVX_UMEM_REG_LEN);
	uint64_t access = abi_in_u64(call, MLX5_IB_ATTR_DEVX_UMEM_REG_ACCESS);
	struct emu_umem *umem;
	int ret = abi_umem_check(call, len, access);

	if (ret == 0)
		ret = abi_kernel_refuses(call);
	if (ret == 0)
		ret = emu_umem_create(call->ctx, addr, len, (uint32_t)access, &umem);
	if (ret == 0)
		ret = abi_handle_out(call, MLX5_IB_ATTR_DEVX_UMEM_REG_HANDLE,
				     MLX5_IB_OBJECT_DEVX_UMEM, &umem->obj);
	if (ret != 0)
		return ret;
	return abi_out_u32(call, MLX5_IB_ATTR_DEVX_UMEM_REG_OUT_ID, umem->obj.id);
}

static int
abi_uar_alloc(struct abi_call *call)
{
	uint64_t type = abi_in_u64(call, MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE);
	struct emu_uar *uar;
	int ret;

	if (type != MLX5_IB_UAPI_UAR_ALLOC_TYPE_BF && type != MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC)
		return abi_refuse(call, -EOPNOTSUPP, "type %u", (unsigned)type);
	ret = abi_kernel_refuses(call);
	if (ret == 0)
		ret = emu_uar_create(call->ctx, &uar);
	if (ret == 0)
		uar->wc = type == MLX5_IB_UAPI_UAR_ALLOC_TYPE_BF;
	if (ret == 0)
		ret = abi_handle_out(call, MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE, MLX5_IB_OBJECT_UAR,
				     &uar->obj);
	if (ret == 0)
		ret = abi_out_u64(call, MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET, uar->offset);
	if (ret == 0)
		ret = abi_out_u32(call, MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH, EMU_PAGE_BYTES);
	if (ret == 0)
		ret = abi_out_u32(call, MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, uar->obj.id);
	return ret;
}

static const struct abi_method abi_methods[] = {
	{MLX5_IB_OBJECT_DEVX_UMEM, MLX5_IB_METHOD_DEVX_UMEM_REG, "UMEM_REG", abi_umem_reg, true,
	 {ABI_NEW(MLX5_IB_ATTR_DEVX_UMEM_REG_HANDLE, MLX5_IB_OBJECT_DEVX_UMEM),
	  ABI_IN(MLX5_IB_ATTR_DEVX_UMEM_REG_ADDR, 8, 8),
	  ABI_IN(MLX5_IB_ATTR_DEVX_UMEM_REG_LEN, 8, 8),
	  ABI_IN_OPT(MLX5_IB_ATTR_DEVX_UMEM_REG_ACCESS, 4, 8),
	  ABI_OUT(MLX5_IB_ATTR_DEVX_UMEM_REG_OUT_ID, 4),
	  ABI_IN_OPT(MLX5_IB_ATTR_DEVX_UMEM_REG_PGSZ_BITMAP, 8, 8),
	  {MLX5_IB_ATTR_DEVX_UMEM_REG_DMABUF_FD, ABI_ATTR_FD, false, 0, 0, 0}}},
	{MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_ALLOC, "UAR_ALLOC", abi_uar_alloc, true,
	 {ABI_NEW(MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE, MLX5_IB_OBJECT_UAR),
	  ABI_IN(MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE, 4, 8),
	  ABI_OUT(MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET, 8),
	  ABI_OUT(MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH, 4),
	  ABI_OUT(MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, 4)}},
	{MLX5_IB_OBJECT_VAR, MLX5_IB_METHOD_VAR_OBJ_ALLOC, "VAR_ALLOC", NULL, true, {{0}}},
};

const struct abi_method_table abi_mem_methods = ABI_METHODS(abi_methods);
