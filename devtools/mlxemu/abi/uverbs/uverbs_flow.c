/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Steering by matchers and flows of mlx5_ib (hw/mlx5/fs.c). */
#include <errno.h>
#include <stdlib.h>

#include "prm.h"
#include "uverbs_flow.h"

/* Opcode of the command that has created a destination or counter of a flow. */
#define CREATED_BY(h) ((uint16_t)((h)->devx_id >> 32))

static int
abi_matcher_attr(struct abi_call *call, struct emu_matcher_attr *attr)
{
	const struct ib_uverbs_attr *type =
		abi_attr(call, MLX5_IB_ATTR_FLOW_MATCHER_FLOW_TYPE);
	uint64_t ft_type = abi_in_u64(call, MLX5_IB_ATTR_FLOW_MATCHER_FT_TYPE);

	/* Sniffer and default rules belong to verbs flows. */
	if (type->attr_data.enum_data.elem_id != MLX5_IB_FLOW_TYPE_NORMAL)
		return abi_refuse(call, -EINVAL, "flow type %u",
				  type->attr_data.enum_data.elem_id);
	attr->priority = (uint16_t)abi_in_u64(call, MLX5_IB_ATTR_FLOW_MATCHER_FLOW_TYPE);
	attr->criteria = (uint8_t)abi_in_u64(call, MLX5_IB_ATTR_FLOW_MATCHER_MATCH_CRITERIA);
	attr->flags = (uint32_t)abi_in_u64(call, MLX5_IB_ATTR_FLOW_MATCHER_FLOW_FLAGS);
	/* Either the flow table type or the flag selects the transmit side, not both. */
	if (abi_attr(call, MLX5_IB_ATTR_FLOW_MATCHER_FLOW_FLAGS) != NULL &&
	    abi_attr(call, MLX5_IB_ATTR_FLOW_MATCHER_FT_TYPE) != NULL)
		return abi_refuse(call, -EINVAL, "both flags and table type");
	if (ft_type > MLX5_IB_UAPI_FLOW_TABLE_TYPE_RDMA_TX)
		return abi_refuse(call, -EINVAL, "table type %u", (unsigned)ft_type);
	attr->ft_type = (uint8_t)ft_type;
	return 0;
}

static int
abi_matcher_create(struct abi_call *call)
{
	struct emu_matcher_attr attr = {0};
	struct emu_obj *obj;
	void *mask;
	int ret = abi_matcher_attr(call, &attr);

	if (ret != 0)
		return ret;
	ret = abi_in_alloc(call, MLX5_IB_ATTR_FLOW_MATCHER_MATCH_MASK, &mask, &attr.mask_len);
	if (ret != 0)
		return ret;
	attr.mask = mask;
	ret = emu_matcher_create(call->ctx, &attr, &obj);
	free(mask);
	if (ret != 0)
		return ret;
	return abi_handle_out(call, MLX5_IB_ATTR_FLOW_MATCHER_CREATE_HANDLE,
			      MLX5_IB_OBJECT_FLOW_MATCHER, obj);
}

/* At most one counter. The offset in a bulk: is_flow_counter() of hw/mlx5/fs.c. */
static int
abi_flow_counter(struct abi_call *call, struct emu_flow_attr *attr)
{
	uint32_t ids[1], offset = 0;
	const struct abi_handle *h;
	size_t len = abi_len(call, MLX5_IB_ATTR_CREATE_FLOW_ARR_COUNTERS_DEVX);

	if (len == 0)
		return 0;
	if (len != sizeof(ids))
		return abi_refuse(call, -EINVAL, "more than one counter");
	if (abi_in(call, MLX5_IB_ATTR_CREATE_FLOW_ARR_COUNTERS_DEVX, ids, sizeof(ids)) != 0 ||
	    abi_in(call, MLX5_IB_ATTR_CREATE_FLOW_ARR_COUNTERS_DEVX_OFFSET, &offset,
		   sizeof(offset)) != 0)
		return -EFAULT;
	h = abi_handle_find(call->file, ids[0]);
	if (h == NULL || h->object != MLX5_IB_OBJECT_DEVX_OBJ ||
	    CREATED_BY(h) != PRM_CMD_OP_ALLOC_FLOW_COUNTER)
		return abi_refuse(call, h == NULL ? -ENOENT : -EINVAL, "handle %u is no counter",
				  ids[0]);
	if (offset >= h->obj->ids)
		return abi_refuse(call, -EINVAL, "offset %u into %u counters", offset, h->obj->ids);
	attr->counter = (struct emu_flow_counter *)h->obj;
	attr->counter_offset = offset;
	return 0;
}

/* A verbs QP receives through its TIR, if it has one. */
static int
abi_flow_dest_qp(struct abi_call *call, struct emu_flow_attr *attr, uint64_t flags)
{
	const struct abi_verbs *v = abi_verbs_in(call, MLX5_IB_ATTR_CREATE_FLOW_DEST_QP);

	if (v == NULL)
		return 0;
	if (flags != 0)
		return abi_refuse(call, -EINVAL, "a destination as well as flags 0x%x",
				  (unsigned)flags);
	if (v->qp.tir == NULL)
		return abi_refuse(call, -EINVAL, "the QP receives no raw packets");
	attr->dest = v->qp.tir;
	return 0;
}

static int
abi_flow_dest(struct abi_call *call, struct emu_flow_attr *attr)
{
	const struct abi_handle *h = abi_in_handle(call, MLX5_IB_ATTR_CREATE_FLOW_DEST_DEVX);
	uint64_t flags = abi_in_u64(call, MLX5_IB_ATTR_CREATE_FLOW_FLAGS);

	attr->default_miss = (flags & MLX5_IB_ATTR_CREATE_FLOW_FLAGS_DEFAULT_MISS) != 0;
	attr->drop = (flags & MLX5_IB_ATTR_CREATE_FLOW_FLAGS_DROP) != 0;
	if ((flags & ~(uint64_t)(MLX5_IB_ATTR_CREATE_FLOW_FLAGS_DEFAULT_MISS |
				 MLX5_IB_ATTR_CREATE_FLOW_FLAGS_DROP)) != 0 ||
	    (attr->drop && attr->default_miss))
		return abi_refuse(call, -EINVAL, "flags 0x%x", (unsigned)flags);
	if (h == NULL)
		return abi_flow_dest_qp(call, attr, flags);
	if (flags != 0)
		return abi_refuse(call, -EINVAL, "a destination as well as flags 0x%x",
				  (unsigned)flags);
	if (CREATED_BY(h) != PRM_CMD_OP_CREATE_TIR &&
	    CREATED_BY(h) != PRM_CMD_OP_CREATE_FLOW_TABLE)
		return abi_refuse(call, -EINVAL, "destination is neither TIR nor flow table");
	attr->dest = h->obj;
	return 0;
}

static int
abi_flow_attr(struct abi_call *call, struct emu_flow_attr *attr, struct abi_flow_actions *actions)
{
	int ret = abi_flow_dest(call, attr);

	if (ret == 0)
		ret = abi_flow_counter(call, attr);
	if (ret == 0)
		ret = abi_flow_actions_read(call, attr, actions);
	if (ret != 0)
		return ret;
	attr->has_tag = abi_attr(call, MLX5_IB_ATTR_CREATE_FLOW_TAG) != NULL;
	attr->tag = (uint32_t)abi_in_u64(call, MLX5_IB_ATTR_CREATE_FLOW_TAG);
	if (attr->tag > 0xffffff)
		return abi_refuse(call, -EINVAL, "tag 0x%x has more than 24 bits", attr->tag);
	return 0;
}

static int
abi_flow_create(struct abi_call *call)
{
	const struct abi_handle *matcher = abi_in_handle(call, MLX5_IB_ATTR_CREATE_FLOW_MATCHER);
	struct abi_flow_actions actions;
	struct emu_flow_attr attr = {0};
	struct abi_handle *h;
	struct emu_obj *obj;
	void *value;
	int ret = abi_net_raw_check(call);

	if (ret == 0)
		ret = abi_flow_attr(call, &attr, &actions);
	if (ret != 0)
		return ret;
	ret = abi_in_alloc(call, MLX5_IB_ATTR_CREATE_FLOW_MATCH_VALUE, &value, &attr.value_len);
	if (ret != 0)
		return ret;
	attr.value = value;
	/*
	 * assumed: in the internal-error state the kernel refuses a rule. Other reading: one that needs no new group is
	 * answered with success, since SET_FLOW_TABLE_ENTRY is (mlx5_internal_err_ret_value()). Test: pmd/fatal.py.
	 */
	ret = abi_kernel_refuses(call);
	if (ret == 0)
		ret = emu_flow_create(call->ctx, matcher->obj, &attr, &obj);
	free(value);
	if (ret != 0)
		return ret;
	if (actions.n == 0)
		return abi_handle_out(call, MLX5_IB_ATTR_CREATE_FLOW_HANDLE, UVERBS_OBJECT_FLOW, obj);
	/* Flow actions cannot be destroyed while a rule has them. */
	h = abi_verbs_new(call, UVERBS_OBJECT_FLOW, 0);
	if (h == NULL) {
		(void)emu_obj_destroy(obj);
		return -ENOMEM;
	}
	abi_verbs_part(h, obj);
	for (unsigned i = 0; i < actions.n; i++)
		abi_verbs_use(h, actions.h[i]);
	abi_attr(call, MLX5_IB_ATTR_CREATE_FLOW_HANDLE)->data = h->id;
	return 0;
}

#define MATCH_BYTES sizeof(struct mlx5_ib_match_params)

static const struct abi_method abi_methods[] = {
	{MLX5_IB_OBJECT_FLOW_MATCHER, MLX5_IB_METHOD_FLOW_MATCHER_CREATE, "FLOW_MATCHER_CREATE",
	 abi_matcher_create, true,
	 {ABI_NEW(MLX5_IB_ATTR_FLOW_MATCHER_CREATE_HANDLE, MLX5_IB_OBJECT_FLOW_MATCHER),
	  ABI_IN(MLX5_IB_ATTR_FLOW_MATCHER_MATCH_MASK, 1, MATCH_BYTES),
	  {MLX5_IB_ATTR_FLOW_MATCHER_FLOW_TYPE, ABI_ATTR_ENUM, true, 0, 0, 8},
	  ABI_IN(MLX5_IB_ATTR_FLOW_MATCHER_MATCH_CRITERIA, 1, 1),
	  ABI_IN_OPT(MLX5_IB_ATTR_FLOW_MATCHER_FLOW_FLAGS, 4, 8),
	  ABI_IN_OPT(MLX5_IB_ATTR_FLOW_MATCHER_FT_TYPE, 1, 8)}},
	{UVERBS_OBJECT_FLOW, MLX5_IB_METHOD_CREATE_FLOW, "CREATE_FLOW", abi_flow_create, true,
	 {ABI_NEW(MLX5_IB_ATTR_CREATE_FLOW_HANDLE, UVERBS_OBJECT_FLOW),
	  ABI_IN(MLX5_IB_ATTR_CREATE_FLOW_MATCH_VALUE, 1, MATCH_BYTES),
	  ABI_HANDLE_OPT(MLX5_IB_ATTR_CREATE_FLOW_DEST_QP, UVERBS_OBJECT_QP),
	  ABI_HANDLE_OPT(MLX5_IB_ATTR_CREATE_FLOW_DEST_DEVX, MLX5_IB_OBJECT_DEVX_OBJ),
	  ABI_HANDLE(MLX5_IB_ATTR_CREATE_FLOW_MATCHER, MLX5_IB_OBJECT_FLOW_MATCHER),
	  {MLX5_IB_ATTR_CREATE_FLOW_ARR_FLOW_ACTIONS, ABI_ATTR_HANDLES, false, 0, 0, 0},
	  ABI_IN_OPT(MLX5_IB_ATTR_CREATE_FLOW_TAG, 4, 4),
	  {MLX5_IB_ATTR_CREATE_FLOW_ARR_COUNTERS_DEVX, ABI_ATTR_HANDLES, false, 0, 0, 0},
	  ABI_IN_OPT(MLX5_IB_ATTR_CREATE_FLOW_ARR_COUNTERS_DEVX_OFFSET, 4, 0),
	  ABI_IN_OPT(MLX5_IB_ATTR_CREATE_FLOW_FLAGS, 4, 8)}},
	{MLX5_IB_OBJECT_STEERING_ANCHOR, MLX5_IB_METHOD_STEERING_ANCHOR_CREATE,
	 "STEERING_ANCHOR_CREATE", NULL, true, {{0}}},
};

const struct abi_method_table abi_flow_methods = ABI_METHODS(abi_methods);
