/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Packet pacing: mlx5_core's table of rates, of which equal ones share an entry, and the objects of programs (Linux,
 * mlx5/core/rl.c and infiniband/hw/mlx5/qos.c).
 */
#include <errno.h>
#include <string.h>

#include "fw/emu_fw.h"
#include "uverbs_obj.h"

/** A reference to an entry. */
struct abi_pp {
	struct emu_obj obj; /* EMU_OBJ_PP */
	uint16_t index;
};

_Static_assert(sizeof(((struct emu_pp_kernel *)NULL)->context) == sizeof(struct prm_set_pp_rate_limit_context),
	       "the kernel remembers the whole context");

/* context NULL: frees the entry. */
static int
entry_write(struct emu_ctx *ctx, uint16_t index, const struct prm_set_pp_rate_limit_context *context)
{
	struct prm_set_pp_rate_limit_in in = {0};
	struct prm_set_pp_rate_limit_out out = {0};
	int ret;

	prm_set_pp_rate_limit_in_set_opcode(&in, PRM_CMD_OP_SET_PP_RATE_LIMIT);
	prm_set_pp_rate_limit_in_set_uid(&in, ctx->dev->pp_kernel[index].uid);
	prm_set_pp_rate_limit_in_set_rate_limit_index(&in, index);
	if (context != NULL)
		*prm_set_pp_rate_limit_in_ctx(&in) = *context;
	ret = emu_fw_exec_kernel(ctx, &in, sizeof(in), &out, sizeof(out));
	return ret == -EREMOTEIO ? -prm_status_errno(*(const uint8_t *)&out) : ret;
}

/* Linux, rl.c, find_rl_entry(): 0 if there is none. */
static uint16_t
entry_find(const struct emu_dev *dev, const struct prm_set_pp_rate_limit_context *context, uint16_t uid, bool dedicated)
{
	uint16_t unused = 0;

	for (uint16_t i = 1; i < dev->profile->packet_pacing_rate_table_size; i++) {
		const struct emu_pp_kernel *k = &dev->pp_kernel[i];

		if (k->users == 0)
			unused = unused == 0 ? i : unused;
		else if (!dedicated && !k->dedicated && k->uid == uid &&
			 memcmp(k->context, context, sizeof(k->context)) == 0)
			return i;
	}
	return unused;
}

/* The kernel ignores whether the firmware frees the entry (rl.c, mlx5_rl_entry_put()). */
static void
pp_release(struct emu_obj *obj)
{
	uint16_t index = ((struct abi_pp *)obj)->index;

	if (index != 0 && --obj->dev->pp_kernel[index].users == 0)
		(void)entry_write(obj->ctx, index, NULL);
}

static int
rate_check(struct abi_call *call, uint32_t rate)
{
	const struct emu_profile *p = call->dev->profile;

	if (!p->packet_pacing || p->packet_pacing_rate_table_size < 2)
		return -EOPNOTSUPP;
	if (rate == 0 || rate < p->packet_pacing_min_rate || rate > p->packet_pacing_max_rate)
		return abi_refuse(call, -EINVAL, "rate %u, allowed are %u to %u Kbit/s", rate,
				  p->packet_pacing_min_rate, p->packet_pacing_max_rate);
	return 0;
}

int
abi_pp_new(struct abi_call *call, const struct prm_set_pp_rate_limit_context *context, uint16_t uid, bool dedicated,
	   struct emu_obj **obj, uint16_t *index)
{
	int ret = rate_check(call, prm_set_pp_rate_limit_context_get_rate_limit(context));
	struct emu_pp_kernel *k;
	struct abi_pp *pp;

	if (ret != 0)
		return ret;
	*index = entry_find(call->dev, context, uid, dedicated);
	if (*index == 0)
		return -ENOSPC;
	pp = emu_obj_new(call->dev, call->ctx, EMU_OBJ_PP, sizeof(*pp), pp_release);
	if (pp == NULL)
		return -ENOMEM;
	k = &call->dev->pp_kernel[*index];
	if (k->users == 0) {
		memcpy(k->context, context, sizeof(k->context));
		k->uid = uid;
		k->dedicated = dedicated;
		ret = entry_write(call->ctx, *index, context);
	}
	if (ret != 0) {
		(void)emu_obj_destroy(&pp->obj);
		return ret;
	}
	k->users++;
	pp->index = *index;
	*obj = &pp->obj;
	return 0;
}

static int
pp_alloc(struct abi_call *call)
{
	uint64_t flags = abi_in_u64(call, MLX5_IB_ATTR_PP_OBJ_ALLOC_FLAGS);
	struct prm_set_pp_rate_limit_context context = {0};
	bool dedicated = (flags & MLX5_IB_UAPI_PP_ALLOC_FLAGS_DEDICATED_INDEX) != 0;
	struct emu_obj *obj;
	uint16_t index;
	int ret;

	/* Without both the kernel's driver has no such object (qos.c, pp_is_supported()). */
	if (!call->dev->profile->packet_pacing || !call->dev->profile->packet_pacing_uid)
		return -EOPNOTSUPP;
	if (!call->ctx->devx)
		return abi_refuse(call, -EINVAL, "the context was opened without DEVX");
	if (abi_len(call, MLX5_IB_ATTR_PP_OBJ_ALLOC_CTX) > sizeof(context))
		return abi_refuse(call, -EINVAL, "a context of %zu bytes",
				  abi_len(call, MLX5_IB_ATTR_PP_OBJ_ALLOC_CTX));
	ret = abi_in(call, MLX5_IB_ATTR_PP_OBJ_ALLOC_CTX, &context, sizeof(context));
	if (ret == 0 && (flags & ~(uint64_t)MLX5_IB_UAPI_PP_ALLOC_FLAGS_DEDICATED_INDEX) != 0)
		ret = abi_refuse(call, -EINVAL, "flags 0x%llx", (unsigned long long)flags);
	if (ret == 0)
		ret = abi_kernel_refuses(call);
	if (ret == 0)
		ret = abi_pp_new(call, &context, dedicated ? call->ctx->uid : EMU_UID_SHARED, dedicated, &obj, &index);
	if (ret == 0)
		ret = abi_handle_out(call, MLX5_IB_ATTR_PP_OBJ_ALLOC_HANDLE, MLX5_IB_OBJECT_PP, obj);
	return ret != 0 ? ret : abi_out(call, MLX5_IB_ATTR_PP_OBJ_ALLOC_INDEX, &index, sizeof(index));
}

static const struct abi_method abi_methods[] = {
	{MLX5_IB_OBJECT_PP, MLX5_IB_METHOD_PP_OBJ_ALLOC, "PP_ALLOC", pp_alloc, true,
	 {ABI_NEW(MLX5_IB_ATTR_PP_OBJ_ALLOC_HANDLE, MLX5_IB_OBJECT_PP),
	  ABI_IN(MLX5_IB_ATTR_PP_OBJ_ALLOC_CTX, 1, 0),
	  ABI_IN(MLX5_IB_ATTR_PP_OBJ_ALLOC_FLAGS, 4, 8),
	  ABI_OUT(MLX5_IB_ATTR_PP_OBJ_ALLOC_INDEX, 2)}},
};

const struct abi_method_table abi_pp_methods = ABI_METHODS(abi_methods);
