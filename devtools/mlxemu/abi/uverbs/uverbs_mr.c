/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Memory regions: registration, change, query. */
#include <errno.h>

#include "core/emu_fault.h"
#include "uverbs_obj.h"

/* IB_MR_REREG_* */
#define REREG_TRANS 1u
#define REREG_PD 2u
#define REREG_ACCESS 4u
#define REREG_ALL (REREG_TRANS | REREG_PD | REREG_ACCESS)

/* Of ib_user_ioctl_cmds.h; the header of rdma-core 44 and 56 does not have them. */
#define METHOD_REG_MR 5
#define OBJECT_DMAH 17
enum reg_mr_attr {
	REG_MR_HANDLE,
	REG_MR_PD,
	REG_MR_DMAH,
	REG_MR_IOVA,
	REG_MR_ADDR,
	REG_MR_LENGTH,
	REG_MR_ACCESS,
	REG_MR_FD,
	REG_MR_FD_OFFSET,
	REG_MR_LKEY,
	REG_MR_RKEY,
};

#define ACCESS_KNOWN                                                                               \
	(IB_UVERBS_ACCESS_LOCAL_WRITE | IB_UVERBS_ACCESS_REMOTE_WRITE |                            \
	 IB_UVERBS_ACCESS_REMOTE_READ | IB_UVERBS_ACCESS_REMOTE_ATOMIC |                           \
	 IB_UVERBS_ACCESS_MW_BIND | IB_UVERBS_ACCESS_ZERO_BASED | IB_UVERBS_ACCESS_ON_DEMAND |     \
	 IB_UVERBS_ACCESS_HUGETLB | IB_UVERBS_ACCESS_OPTIONAL_RANGE)

/** Address of a region in the process and for the device. */
struct mr_place {
	uint64_t host, len, iova;
};

int
abi_mr_access(struct abi_call *call, uint32_t access)
{
	if ((access & ~(uint32_t)ACCESS_KNOWN) != 0)
		return abi_refuse(call, -EINVAL, "access 0x%x", access);
	/* Remote write requires local write. */
	if ((access & (IB_UVERBS_ACCESS_REMOTE_WRITE | IB_UVERBS_ACCESS_REMOTE_ATOMIC)) != 0 &&
	    (access & IB_UVERBS_ACCESS_LOCAL_WRITE) == 0)
		return abi_refuse(call, -EINVAL, "access 0x%x without local writing", access);
	/* On-demand paging is not supported. */
	return (access & IB_UVERBS_ACCESS_ON_DEMAND) != 0 ? -EOPNOTSUPP : 0;
}

static int
mr_offsets(struct abi_call *call, uint64_t start, uint64_t iova)
{
	/* Process address and device address must have the same offset in the page. */
	if ((start & (EMU_PAGE_BYTES - 1)) == (iova & (EMU_PAGE_BYTES - 1)))
		return 0;
	return abi_refuse(call, -EINVAL, "start and iova differ in their page offset");
}

/* The kernel creates the key of an MR by a command, to which fault rules apply. */
static int
mr_fault(struct abi_call *call)
{
	uint32_t syndrome;
	uint8_t status;

	if (!emu_fault_command(call->dev, PRM_CMD_OP_CREATE_MKEY, &status, &syndrome))
		return 0;
	return -prm_status_errno(status);
}

static int
mr_make(struct abi_call *call, const struct abi_handle *pd, const struct mr_place *at,
	uint32_t access, struct emu_mkey **mkey)
{
	int ret = abi_mr_access(call, access);

	if (ret == 0)
		ret = mr_offsets(call, at->host, at->iova);
	if (ret == 0)
		ret = mr_fault(call);
	if (ret == 0)
		ret = abi_kernel_refuses(call);
	if (ret != 0)
		return ret;
	return emu_mr_create(call->ctx, pd->obj->id, at->host, at->len, at->iova, access, mkey);
}

int
abi_reg_mr(struct abi_call *call)
{
	struct ib_uverbs_reg_mr_resp resp = {0};
	struct ib_uverbs_reg_mr in;
	struct mr_place at;
	struct emu_mkey *mkey;
	struct abi_handle *pd, *h;
	int ret = abi_in(call, UVERBS_ATTR_CORE_IN, &in, sizeof(in));

	if (ret != 0)
		return ret;
	pd = abi_handle_of(call, in.pd_handle, UVERBS_OBJECT_PD);
	if (pd == NULL)
		return -EINVAL;
	at = (struct mr_place){in.start, in.length, in.hca_va};
	ret = mr_make(call, pd, &at, in.access_flags, &mkey);
	if (ret != 0)
		return ret;
	h = abi_handle_new(call->file, UVERBS_OBJECT_MR, &mkey->obj);
	if (h == NULL) {
		(void)emu_obj_destroy(&mkey->obj);
		return -ENOMEM;
	}
	resp.mr_handle = h->id;
	resp.lkey = resp.rkey = emu_mkey_key(mkey);
	return abi_out(call, UVERBS_ATTR_CORE_OUT, &resp, sizeof(resp));
}

/* Registration by ioctl, as ibv_reg_mr_ex() does it: the memory is at an address or a dma-buf. */
static int
abi_reg_mr_ioctl(struct abi_call *call)
{
	const struct abi_handle *pd = abi_in_handle(call, REG_MR_PD);
	const struct mr_place at = {abi_in_u64(call, REG_MR_ADDR), abi_in_u64(call, REG_MR_LENGTH),
				    abi_in_u64(call, REG_MR_IOVA)};
	struct emu_mkey *mkey;
	int ret;

	if (abi_attr(call, REG_MR_FD) != NULL)
		return abi_refuse(call, -EOPNOTSUPP, "dma-buf");
	if (abi_attr(call, REG_MR_ADDR) == NULL || abi_attr(call, REG_MR_FD_OFFSET) != NULL)
		return abi_refuse(call, -EINVAL, "neither an address nor a dma-buf");
	ret = mr_make(call, pd, &at, (uint32_t)abi_in_u64(call, REG_MR_ACCESS), &mkey);
	if (ret == 0)
		ret = abi_handle_out(call, REG_MR_HANDLE, UVERBS_OBJECT_MR, &mkey->obj);
	if (ret == 0)
		ret = abi_out_u32(call, REG_MR_LKEY, emu_mkey_key(mkey));
	return ret != 0 ? ret : abi_out_u32(call, REG_MR_RKEY, emu_mkey_key(mkey));
}

static uint32_t
mr_access_of(const struct emu_mkey *mkey)
{
	return (mkey->local_write ? IB_UVERBS_ACCESS_LOCAL_WRITE : 0) |
	       (mkey->remote_read ? IB_UVERBS_ACCESS_REMOTE_READ : 0) |
	       (mkey->remote_write ? IB_UVERBS_ACCESS_REMOTE_WRITE : 0) |
	       (mkey->remote_atomic ? IB_UVERBS_ACCESS_REMOTE_ATOMIC : 0);
}

/* Properties of a region; number and owner of the key do not change. */
static void
mr_swap(struct emu_mkey *a, struct emu_mkey *b)
{
	const struct emu_mkey t = *a;

	a->pd = b->pd;
	a->local_read = b->local_read;
	a->local_write = b->local_write;
	a->remote_read = b->remote_read;
	a->remote_write = b->remote_write;
	a->remote_atomic = b->remote_atomic;
	a->start = b->start;
	a->len = b->len;
	a->host = b->host;
	b->pd = t.pd;
}

/* mlx5_ib changes the key in place: its number stays valid. */
static int
mr_change(struct abi_call *call, struct abi_handle *h, const struct ib_uverbs_rereg_mr *in,
	   const struct abi_handle *pd)
{
	struct emu_mkey *old = (struct emu_mkey *)h->obj;
	struct mr_place at = {old->host, old->len, old->start};
	uint32_t access = mr_access_of(old);
	struct emu_mkey *mkey;
	int ret;

	if ((in->flags & REREG_TRANS) != 0)
		at = (struct mr_place){in->start, in->length, in->hca_va};
	if ((in->flags & REREG_ACCESS) != 0)
		access = in->access_flags;
	ret = mr_make(call, pd, &at, access, &mkey);
	if (ret != 0)
		return ret;
	/* The temporary key is destroyed with the reference to the old protection domain. */
	mr_swap(old, mkey);
	return emu_obj_destroy(&mkey->obj);
}

int
abi_rereg_mr(struct abi_call *call)
{
	struct ib_uverbs_rereg_mr_resp resp = {0};
	struct ib_uverbs_rereg_mr in;
	struct abi_handle *h, *pd;
	int ret = abi_in(call, UVERBS_ATTR_CORE_IN, &in, sizeof(in));

	if (ret != 0)
		return ret;
	h = abi_handle_of(call, in.mr_handle, UVERBS_OBJECT_MR);
	if (h == NULL)
		return -EINVAL;
	if (in.flags == 0 || (in.flags & ~REREG_ALL) != 0 || h->verbs != NULL || h->users != 0 ||
	    h->obj->refs != 0)
		return abi_refuse(call, -EINVAL, "change 0x%x of a memory region", in.flags);
	if ((in.flags & REREG_PD) != 0)
		pd = abi_handle_of(call, in.pd_handle, UVERBS_OBJECT_PD);
	else
		pd = ((struct emu_obj *)emu_obj_find(call->dev, EMU_OBJ_PD,
						     ((struct emu_mkey *)h->obj)->pd))->abi;
	if (pd == NULL)
		return -EINVAL;
	ret = mr_change(call, h, &in, pd);
	if (ret != 0)
		return ret;
	resp.lkey = resp.rkey = emu_mkey_key((const struct emu_mkey *)h->obj);
	return abi_out(call, UVERBS_ATTR_CORE_OUT, &resp, sizeof(resp));
}

/* Attributes for a process that imports the region. */
static int
abi_query_mr(struct abi_call *call)
{
	const struct abi_handle *h = abi_in_handle(call, UVERBS_ATTR_QUERY_MR_HANDLE);
	const struct emu_mkey *mkey = (const struct emu_mkey *)h->obj;
	int ret = abi_out_u32(call, UVERBS_ATTR_QUERY_MR_RESP_LKEY, emu_mkey_key(mkey));

	if (ret == 0)
		ret = abi_out_u32(call, UVERBS_ATTR_QUERY_MR_RESP_RKEY, emu_mkey_key(mkey));
	if (ret == 0)
		ret = abi_out_u64(call, UVERBS_ATTR_QUERY_MR_RESP_LENGTH, mkey->len);
	return ret != 0 ? ret : abi_out_u64(call, UVERBS_ATTR_QUERY_MR_RESP_IOVA, mkey->start);
}

static const struct abi_method abi_methods[] = {
	{UVERBS_OBJECT_MR, UVERBS_METHOD_QUERY_MR, "QUERY_MR", abi_query_mr, true,
	 {ABI_HANDLE(UVERBS_ATTR_QUERY_MR_HANDLE, UVERBS_OBJECT_MR),
	  ABI_OUT(UVERBS_ATTR_QUERY_MR_RESP_LKEY, 4), ABI_OUT(UVERBS_ATTR_QUERY_MR_RESP_RKEY, 4),
	  ABI_OUT(UVERBS_ATTR_QUERY_MR_RESP_LENGTH, 8),
	  ABI_OUT_OPT(UVERBS_ATTR_QUERY_MR_RESP_IOVA, 8)}},
	{UVERBS_OBJECT_MR, METHOD_REG_MR, "REG_MR", abi_reg_mr_ioctl, true,
	 {ABI_NEW(REG_MR_HANDLE, UVERBS_OBJECT_MR), ABI_HANDLE(REG_MR_PD, UVERBS_OBJECT_PD),
	  ABI_HANDLE_OPT(REG_MR_DMAH, OBJECT_DMAH), ABI_IN(REG_MR_IOVA, 8, 8),
	  ABI_IN_OPT(REG_MR_ADDR, 8, 8), ABI_IN(REG_MR_LENGTH, 8, 8),
	  ABI_IN(REG_MR_ACCESS, 4, 8), {REG_MR_FD, ABI_ATTR_FD, false, 0, 0, 0},
	  ABI_IN_OPT(REG_MR_FD_OFFSET, 8, 8), ABI_OUT(REG_MR_LKEY, 4), ABI_OUT(REG_MR_RKEY, 4)}},
};

const struct abi_method_table abi_mr_methods = ABI_METHODS(abi_methods);
