/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Flow actions of mlx5_ib: modify header, packet reformat (hw/mlx5/fs.c), and their use by CREATE_FLOW. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fw/emu_fw.h"
#include "uverbs_flow.h"

/* Bytes of an action, and most actions that num_of_actions has. */
#define MODIFY_BYTES PRM_SET_ADD_COPY_ACTION_IN_AUTO_BYTES
#define MODIFY_MAX UINT8_MAX

static int
create(struct abi_call *call, uint16_t attr, const void *in, size_t len, bool decap)
{
	struct abi_handle *h = abi_verbs_new(call, UVERBS_OBJECT_FLOW_ACTION, 0);
	int ret = 0;

	if (h == NULL)
		return -ENOMEM;
	h->verbs->decap = decap;
	if (in != NULL)
		ret = abi_verbs_create(call, h, in, len, NULL);
	if (ret != 0)
		return abi_verbs_undo(call, h, ret);
	abi_attr(call, attr)->data = h->id;
	return 0;
}

/* mlx5_cmd_modify_header_alloc(). */
static int
modify_create(struct abi_call *call, bool sent, const void *actions, size_t bytes)
{
	const struct emu_profile *p = call->dev->profile;
	const uint32_t max = sent ? p->tx_max_modify_header_actions : p->max_modify_header_actions;
	const size_t n = bytes / MODIFY_BYTES;
	struct {
		struct prm_alloc_modify_header_context_in in;
		uint8_t actions[MODIFY_MAX * MODIFY_BYTES];
	} cmd = {0};

	if (n > max || n > MODIFY_MAX)
		return abi_refuse(call, -EOPNOTSUPP, "%zu actions, max_modify_header_actions is %u", n, max);
	prm_alloc_modify_header_context_in_set_opcode(&cmd.in, PRM_CMD_OP_ALLOC_MODIFY_HEADER_CONTEXT);
	prm_alloc_modify_header_context_in_set_table_type(&cmd.in, sent ? PRM_FLOW_TABLE_TYPE_NIC_TX :
									  PRM_FLOW_TABLE_TYPE_NIC_RX);
	prm_alloc_modify_header_context_in_set_num_of_actions(&cmd.in, (unsigned)n);
	memcpy(cmd.actions, actions, bytes);
	return create(call, MLX5_IB_ATTR_CREATE_MODIFY_HEADER_HANDLE, &cmd, sizeof(cmd.in) + bytes, false);
}

static int
abi_modify_header_create(struct abi_call *call)
{
	uint64_t ft_type = abi_in_u64(call, MLX5_IB_ATTR_CREATE_MODIFY_HEADER_FT_TYPE);
	const struct emu_profile *p = call->dev->profile;
	size_t bytes;
	void *actions;
	int ret;

	/* Programs find out by this call: no violation. */
	if (p->max_modify_header_actions == 0 && p->tx_max_modify_header_actions == 0)
		return -EOPNOTSUPP;
	if (abi_len(call, MLX5_IB_ATTR_CREATE_MODIFY_HEADER_ACTIONS_PRM) % MODIFY_BYTES != 0)
		return abi_refuse(call, -EINVAL, "%s", "actions of another length");
	if (ft_type > MLX5_IB_UAPI_FLOW_TABLE_TYPE_RDMA_TX)
		return abi_refuse(call, -EINVAL, "table type %u", (unsigned)ft_type);
	if (ft_type > MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_TX)
		return -EOPNOTSUPP;
	ret = abi_in_alloc(call, MLX5_IB_ATTR_CREATE_MODIFY_HEADER_ACTIONS_PRM, &actions, &bytes);
	if (ret != 0)
		return ret;
	ret = modify_create(call, ft_type == MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_TX, actions, bytes);
	free(actions);
	return ret;
}

static int
reformat_create(struct abi_call *call, unsigned type, const void *data, size_t bytes)
{
	/* The data begins in the last 2 bytes of the fixed part. */
	const size_t head = sizeof(struct prm_alloc_packet_reformat_context_in) - 2;
	_Alignas(8) uint8_t cmd[sizeof(struct prm_alloc_packet_reformat_context_in) + EMU_REFORMAT_BYTES] = {0};
	struct prm_packet_reformat_context_in *r =
		prm_alloc_packet_reformat_context_in_packet_reformat_context((void *)cmd);

	if (bytes > EMU_REFORMAT_BYTES)
		return abi_refuse(call, -EINVAL, "%zu bytes, max_encap_header_size is %u", bytes, EMU_REFORMAT_BYTES);
	prm_alloc_packet_reformat_context_in_set_opcode((void *)cmd, PRM_CMD_OP_ALLOC_PACKET_REFORMAT_CONTEXT);
	prm_packet_reformat_context_in_set_reformat_type(r, type);
	prm_packet_reformat_context_in_set_reformat_data_size(r, (unsigned)bytes);
	memcpy(cmd + head, data, bytes);
	return create(call, MLX5_IB_ATTR_CREATE_PACKET_REFORMAT_HANDLE, cmd, head + bytes, false);
}

/* mlx5_ib_flow_action_packet_reformat_valid(): what tables of received and sent packets have, if the card has it. */
static bool
reformat_valid(const struct emu_profile *p, uint64_t type, uint64_t ft_type)
{
	if (ft_type == MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_TX)
		return (type == MLX5_IB_UAPI_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L2_TUNNEL && p->tx_reformat) ||
		       (type == MLX5_IB_UAPI_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L3_TUNNEL &&
			p->tx_reformat_l2_to_l3_tunnel);
	return ft_type == MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_RX &&
	       ((type == MLX5_IB_UAPI_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TUNNEL_TO_L2 && p->decap) ||
		(type == MLX5_IB_UAPI_FLOW_ACTION_PACKET_REFORMAT_TYPE_L3_TUNNEL_TO_L2 &&
		 p->reformat_l3_tunnel_to_l2));
}

/* mlx5_ib_dv_to_prm_packet_reforamt_type() */
static unsigned
prm_type(uint64_t type)
{
	switch (type) {
	case MLX5_IB_UAPI_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L2_TUNNEL:
		return PRM_REFORMAT_TYPE_L2_TO_L2_TUNNEL;
	case MLX5_IB_UAPI_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L3_TUNNEL:
		return PRM_REFORMAT_TYPE_L2_TO_L3_TUNNEL;
	default:
		return PRM_REFORMAT_TYPE_L3_TUNNEL_TO_L2;
	}
}

static int
abi_reformat_create(struct abi_call *call)
{
	uint64_t type = abi_in_u64(call, MLX5_IB_ATTR_CREATE_PACKET_REFORMAT_TYPE);
	uint64_t ft_type = abi_in_u64(call, MLX5_IB_ATTR_CREATE_PACKET_REFORMAT_FT_TYPE);
	size_t bytes;
	void *data;
	int ret;

	if (!reformat_valid(call->dev->profile, type, ft_type))
		return -EOPNOTSUPP;
	if (type == MLX5_IB_UAPI_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TUNNEL_TO_L2)
		return create(call, MLX5_IB_ATTR_CREATE_PACKET_REFORMAT_HANDLE, NULL, 0, true);
	if (abi_attr(call, MLX5_IB_ATTR_CREATE_PACKET_REFORMAT_DATA_BUF) == NULL)
		return abi_refuse(call, -ENOENT, "%s", "no data");
	ret = abi_in_alloc(call, MLX5_IB_ATTR_CREATE_PACKET_REFORMAT_DATA_BUF, &data, &bytes);
	if (ret != 0)
		return ret;
	ret = reformat_create(call, prm_type(type), data, bytes);
	free(data);
	return ret;
}

/* parse_flow_flow_action(): each kind once. */
static int
action_add(struct abi_call *call, struct emu_flow_attr *attr, const struct abi_handle *h)
{
	const bool modify = h->obj != NULL && h->obj->type == EMU_OBJ_MODIFY_HEADER;

	if (modify ? attr->modify != NULL : h->obj != NULL ? attr->reformat != NULL : attr->decap)
		return abi_refuse(call, -EINVAL, "%s", "two flow actions of one kind");
	if (modify)
		attr->modify = (struct emu_modify_header *)h->obj;
	else if (h->obj != NULL)
		attr->reformat = (struct emu_reformat *)h->obj;
	else
		attr->decap = true;
	return 0;
}

int
abi_flow_actions_read(struct abi_call *call, struct emu_flow_attr *attr, struct abi_flow_actions *actions)
{
	size_t len = abi_len(call, MLX5_IB_ATTR_CREATE_FLOW_ARR_FLOW_ACTIONS);
	uint32_t ids[ABI_FLOW_ACTIONS_MAX];
	int ret;

	actions->n = (unsigned)(len / sizeof(ids[0]));
	if (actions->n > ABI_FLOW_ACTIONS_MAX)
		return abi_refuse(call, -EINVAL, "%u flow actions", actions->n);
	ret = abi_in(call, MLX5_IB_ATTR_CREATE_FLOW_ARR_FLOW_ACTIONS, ids, sizeof(ids));
	for (unsigned i = 0; ret == 0 && i < actions->n; i++) {
		struct abi_handle *h = abi_handle_find(call->file, ids[i]);

		if (h == NULL || h->object != UVERBS_OBJECT_FLOW_ACTION)
			return abi_refuse(call, h == NULL ? -ENOENT : -EINVAL, "handle %u is no flow action", ids[i]);
		actions->h[i] = h;
		ret = action_add(call, attr, h);
	}
	return ret;
}

static const struct abi_method abi_methods[] = {
	{UVERBS_OBJECT_FLOW_ACTION, MLX5_IB_METHOD_FLOW_ACTION_CREATE_MODIFY_HEADER, "CREATE_MODIFY_HEADER",
	 abi_modify_header_create, true,
	 {ABI_NEW(MLX5_IB_ATTR_CREATE_MODIFY_HEADER_HANDLE, UVERBS_OBJECT_FLOW_ACTION),
	  ABI_IN(MLX5_IB_ATTR_CREATE_MODIFY_HEADER_ACTIONS_PRM, MODIFY_BYTES, 0),
	  ABI_IN(MLX5_IB_ATTR_CREATE_MODIFY_HEADER_FT_TYPE, 8, 8)}},
	{UVERBS_OBJECT_FLOW_ACTION, MLX5_IB_METHOD_FLOW_ACTION_CREATE_PACKET_REFORMAT, "CREATE_PACKET_REFORMAT",
	 abi_reformat_create, true,
	 {ABI_NEW(MLX5_IB_ATTR_CREATE_PACKET_REFORMAT_HANDLE, UVERBS_OBJECT_FLOW_ACTION),
	  ABI_IN_OPT(MLX5_IB_ATTR_CREATE_PACKET_REFORMAT_DATA_BUF, 1, 0),
	  ABI_IN(MLX5_IB_ATTR_CREATE_PACKET_REFORMAT_TYPE, 8, 8),
	  ABI_IN(MLX5_IB_ATTR_CREATE_PACKET_REFORMAT_FT_TYPE, 8, 8)}},
};

const struct abi_method_table abi_flow_action_methods = ABI_METHODS(abi_methods);
