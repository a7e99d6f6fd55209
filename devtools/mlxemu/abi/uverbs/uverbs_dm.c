/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Device memory (MEMIC): pages of the device that a program maps, and regions over them. */
#include <errno.h>
#include <string.h>

#include "uverbs_obj.h"

/* Page index i is mapped at command 8 (device memory), index i below 256. */
#define DM_OFFSET(page) (((uint64_t)8 << 8 | (page)) * EMU_PAGE_BYTES)
#define DM_ACCESS                                                                                  \
	(IB_UVERBS_ACCESS_LOCAL_WRITE | IB_UVERBS_ACCESS_REMOTE_WRITE |                            \
	 IB_UVERBS_ACCESS_REMOTE_READ | IB_UVERBS_ACCESS_REMOTE_ATOMIC |                           \
	 IB_UVERBS_ACCESS_ZERO_BASED | IB_UVERBS_ACCESS_OPTIONAL_RANGE)

_Static_assert(ABI_DM_PAGES <= 64, "the pages of a file are bits of one word");

/* The lowest range of free pages; -ENOMEM if there is none. */
static int
dm_take(struct abi_file *file, unsigned pages)
{
	const uint64_t run = pages == 64 ? UINT64_MAX : (1ull << pages) - 1;
	unsigned at;

	for (at = 0; at + pages <= ABI_DM_PAGES; at++) {
		if ((file->dm_pages & run << at) != 0)
			continue;
		file->dm_pages |= run << at;
		return (int)at;
	}
	return -ENOMEM;
}

void
abi_dm_give(struct abi_file *file, const struct abi_dm *dm)
{
	unsigned i;

	for (i = 0; i < dm->pages; i++)
		file->dm_pages &= ~(1ull << (dm->first + i));
	((uint8_t *)file->map)[EMU_MAP_TABLE_OFFSET + EMU_MAP_TABLE_DM + dm->first] = 0;
}

static int
dm_answer(struct abi_call *call, const struct abi_handle *h, uint16_t offset_id, uint16_t page_id)
{
	uint16_t page = h->verbs->dm.first;
	int ret = abi_out_u64(call, offset_id, 0);

	return ret != 0 ? ret : abi_out(call, page_id, &page, sizeof(page));
}

static int
abi_dm_alloc(struct abi_call *call)
{
	uint64_t len = abi_in_u64(call, UVERBS_ATTR_ALLOC_DM_LENGTH);
	struct abi_handle *h;
	unsigned pages;
	int ret;

	/* Other types are tables of the device. */
	if (abi_in_u64(call, MLX5_IB_ATTR_ALLOC_DM_REQ_TYPE) != MLX5_IB_UAPI_DM_TYPE_MEMIC)
		return -EOPNOTSUPP;
	if (len == 0 || len > abi_dm_bytes_max(call) ||
	    abi_in_u64(call, UVERBS_ATTR_ALLOC_DM_ALIGNMENT) > 12)
		return abi_refuse(call, -EINVAL, "%llu bytes of device memory",
				  (unsigned long long)len);
	pages = (unsigned)((len + EMU_PAGE_BYTES - 1) / EMU_PAGE_BYTES);
	ret = dm_take(call->file, pages);
	if (ret < 0)
		return ret;
	h = abi_verbs_new(call, UVERBS_OBJECT_DM, 0);
	if (h == NULL) {
		const struct abi_dm dm = {.first = (uint16_t)ret, .pages = (uint16_t)pages};

		abi_dm_give(call->file, &dm);
		return -ENOMEM;
	}
	h->verbs->dm.first = (uint16_t)ret;
	h->verbs->dm.pages = (uint16_t)pages;
	h->verbs->dm.length = len;
	((uint8_t *)call->file->map)[EMU_MAP_TABLE_OFFSET + EMU_MAP_TABLE_DM + (unsigned)ret] = (uint8_t)pages;
	ret = dm_answer(call, h, MLX5_IB_ATTR_ALLOC_DM_RESP_START_OFFSET,
			MLX5_IB_ATTR_ALLOC_DM_RESP_PAGE_INDEX);
	if (ret != 0)
		return abi_verbs_undo(call, h, ret);
	abi_attr(call, UVERBS_ATTR_ALLOC_DM_HANDLE)->data = h->id;
	return 0;
}

static int
abi_dm_free(struct abi_call *call)
{
	return abi_verbs_destroy(call, abi_in_handle(call, UVERBS_ATTR_FREE_DM_HANDLE));
}

static int
abi_dm_query(struct abi_call *call)
{
	const struct abi_handle *h = abi_in_handle(call, MLX5_IB_ATTR_QUERY_DM_REQ_HANDLE);
	int ret = dm_answer(call, h, MLX5_IB_ATTR_QUERY_DM_RESP_START_OFFSET,
			    MLX5_IB_ATTR_QUERY_DM_RESP_PAGE_INDEX);

	return ret != 0 ? ret
			: abi_out_u64(call, MLX5_IB_ATTR_QUERY_DM_RESP_LENGTH,
				      h->verbs->dm.length);
}

/* Addresses of the key are offsets from 0 (zero based MR). */
static int
abi_dm_mr_reg(struct abi_call *call)
{
	struct abi_handle *pd = abi_in_handle(call, UVERBS_ATTR_REG_DM_MR_PD_HANDLE);
	struct abi_handle *dm = abi_in_handle(call, UVERBS_ATTR_REG_DM_MR_DM_HANDLE), *h;
	uint64_t offset = abi_in_u64(call, UVERBS_ATTR_REG_DM_MR_OFFSET);
	uint64_t len = abi_in_u64(call, UVERBS_ATTR_REG_DM_MR_LENGTH);
	uint32_t access = (uint32_t)abi_in_u64(call, UVERBS_ATTR_REG_DM_MR_ACCESS_FLAGS);
	struct emu_mkey *mkey;
	uint64_t host;
	int ret = abi_mr_access(call, access);

	if (ret != 0)
		return ret;
	if ((access & IB_UVERBS_ACCESS_ZERO_BASED) == 0 || (access & ~(uint32_t)DM_ACCESS) != 0)
		return abi_refuse(call, -EINVAL, "access 0x%x to device memory", access);
	if (offset > dm->verbs->dm.length || len > dm->verbs->dm.length - offset)
		return abi_refuse(call, -EINVAL, "region beyond the device memory");
	host = (uintptr_t)call->file->map + DM_OFFSET(dm->verbs->dm.first) + offset;
	/* A length of 0 is allowed; the memory exists in any case. */
	ret = emu_mr_create(call->ctx, pd->obj->id, host, len != 0 ? len : 1, 0, access, &mkey);
	if (ret != 0)
		return ret;
	mkey->len = len;
	h = abi_verbs_new(call, UVERBS_OBJECT_MR, 0);
	if (h == NULL) {
		(void)emu_obj_destroy(&mkey->obj);
		return -ENOMEM;
	}
	h->obj = &mkey->obj;
	abi_verbs_part(h, &mkey->obj);
	abi_verbs_use(h, dm);
	abi_attr(call, UVERBS_ATTR_REG_DM_MR_HANDLE)->data = h->id;
	ret = abi_out_u32(call, UVERBS_ATTR_REG_DM_MR_RESP_LKEY, emu_mkey_key(mkey));
	if (ret == 0)
		ret = abi_out_u32(call, UVERBS_ATTR_REG_DM_MR_RESP_RKEY, emu_mkey_key(mkey));
	return ret != 0 ? abi_verbs_undo(call, h, ret) : 0;
}

static const struct abi_method abi_methods[] = {
	{UVERBS_OBJECT_DM, UVERBS_METHOD_DM_ALLOC, "DM_ALLOC", abi_dm_alloc, true,
	 {ABI_NEW(UVERBS_ATTR_ALLOC_DM_HANDLE, UVERBS_OBJECT_DM),
	  ABI_IN(UVERBS_ATTR_ALLOC_DM_LENGTH, 8, 8), ABI_IN(UVERBS_ATTR_ALLOC_DM_ALIGNMENT, 4, 4),
	  ABI_OUT_OPT(MLX5_IB_ATTR_ALLOC_DM_RESP_START_OFFSET, 8),
	  ABI_OUT_OPT(MLX5_IB_ATTR_ALLOC_DM_RESP_PAGE_INDEX, 2),
	  ABI_IN_OPT(MLX5_IB_ATTR_ALLOC_DM_REQ_TYPE, 4, 8)}},
	{UVERBS_OBJECT_DM, UVERBS_METHOD_DM_FREE, "DM_FREE", abi_dm_free, true,
	 {ABI_HANDLE(UVERBS_ATTR_FREE_DM_HANDLE, UVERBS_OBJECT_DM)}},
	{UVERBS_OBJECT_DM, MLX5_IB_METHOD_DM_QUERY, "DM_QUERY", abi_dm_query, true,
	 {ABI_HANDLE(MLX5_IB_ATTR_QUERY_DM_REQ_HANDLE, UVERBS_OBJECT_DM),
	  ABI_OUT(MLX5_IB_ATTR_QUERY_DM_RESP_START_OFFSET, 8),
	  ABI_OUT(MLX5_IB_ATTR_QUERY_DM_RESP_PAGE_INDEX, 2),
	  ABI_OUT(MLX5_IB_ATTR_QUERY_DM_RESP_LENGTH, 8)}},
	{UVERBS_OBJECT_MR, UVERBS_METHOD_DM_MR_REG, "DM_MR_REG", abi_dm_mr_reg, true,
	 {ABI_NEW(UVERBS_ATTR_REG_DM_MR_HANDLE, UVERBS_OBJECT_MR),
	  ABI_IN(UVERBS_ATTR_REG_DM_MR_OFFSET, 8, 8), ABI_IN(UVERBS_ATTR_REG_DM_MR_LENGTH, 8, 8),
	  ABI_HANDLE(UVERBS_ATTR_REG_DM_MR_PD_HANDLE, UVERBS_OBJECT_PD),
	  ABI_IN(UVERBS_ATTR_REG_DM_MR_ACCESS_FLAGS, 4, 8),
	  ABI_HANDLE(UVERBS_ATTR_REG_DM_MR_DM_HANDLE, UVERBS_OBJECT_DM),
	  ABI_OUT(UVERBS_ATTR_REG_DM_MR_RESP_LKEY, 4),
	  ABI_OUT(UVERBS_ATTR_REG_DM_MR_RESP_RKEY, 4)}},
};

const struct abi_method_table abi_dm_methods = ABI_METHODS(abi_methods);
