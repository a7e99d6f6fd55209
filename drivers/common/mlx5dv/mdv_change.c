/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * What rules change of packets: contexts of the device, shared by all rules that change packets in the same way. Rules
 * of the kernel's root need them as flow actions of mlx5dv, all others as objects of a command.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/mlx5dv.h>

#include "mdv_private.h"
#include "mdv_rule_int.h"

static void
caps_fill(const struct mdv_dev *dev, bool egress, const struct prm_flow_table_nic_cap *nic,
	  struct mdv_change_caps *caps)
{
	const struct prm_flow_table_prop_layout *t =
		egress ? prm_flow_table_nic_cap_flow_table_properties_nic_transmit_c(nic) :
			 prm_flow_table_nic_cap_flow_table_properties_nic_receive_c(nic);
	const struct prm_flow_table_fields_supported *fields = prm_flow_table_prop_layout_ft_field_support_c(t);
	/* In switchdev mode the FDB may change tunnels; tables of ports do not then (mdv_rule_fw.c). */
	const bool switchdev = mdv_own(dev)->switchdev, tunnels = !switchdev;

	*caps = (struct mdv_change_caps){
		.max_modify = (uint8_t)prm_flow_table_prop_layout_get_max_modify_header_actions(t),
		.decap = prm_flow_table_prop_layout_get_decap(t) && tunnels,
		.decap_l3 = prm_flow_table_prop_layout_get_reformat_l3_tunnel_to_l2(t) && tunnels,
		/* As mlx5_ib (Linux, hw/mlx5/fs.c, mlx5_ib_flow_action_packet_reformat_valid(), _get_flow_table()). */
		.encap = prm_flow_table_nic_cap_get_encap_general_header(nic) &&
			 prm_flow_table_prop_layout_get_reformat(t) && tunnels,
		.encap_l3 = prm_flow_table_prop_layout_get_reformat_l2_to_l3_tunnel(t) &&
			    prm_flow_table_prop_layout_get_reformat(t) && tunnels,
		.encap_bytes = (uint16_t)prm_flow_table_nic_cap_get_max_encap_header_size(nic),
		.pop_vlan = prm_flow_table_prop_layout_get_pop_vlan(t),
		.push_vlan = prm_flow_table_prop_layout_get_push_vlan(t),
		.tunnel_with_jump = prm_flow_table_prop_layout_get_reformat_and_fwd_to_table(t),
		.tunnel_with_tag = prm_flow_table_prop_layout_get_reformat_and_vlan_action(t),
		.modify_with_tag = prm_flow_table_prop_layout_get_modify_and_vlan_action(t),
		.reg_c_0 = prm_flow_table_fields_supported_get_metadata_reg_c_0(fields) && !switchdev,
		.reg_a = prm_flow_table_fields_supported_get_metadata_reg_a(fields),
		.modify_with_tunnel = prm_flow_table_prop_layout_get_reformat_and_modify_action(t),
	};
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_change_caps)
int
mdv_change_caps(struct mdv_dev *dev, bool egress, struct mdv_change_caps *caps)
{
	struct prm_query_hca_cap_out *out = mdv_zalloc(dev->name, sizeof(*out), "capabilities of flow tables");
	const struct prm_flow_table_nic_cap *nic;
	int ret;

	memset(caps, 0, sizeof(*caps));
	if (out == NULL)
		return -rte_errno;
	nic = (const struct prm_flow_table_nic_cap *)prm_query_hca_cap_out_capability_c(out);
	ret = mdv_caps_page(dev, PRM_HCA_CAP_TYPE_FLOW_TABLE, out);
	if (ret == 0)
		caps_fill(dev, egress, nic, caps);
	free(out);
	return ret;
}

/* ------------------------------------------------------------------ creating */

/** How the kinds are made. */
static const struct kind {
	bool egress, modify;
	unsigned int type;	/**< Of a reformat context. */
	enum mlx5dv_flow_action_packet_reformat_type verbs_type;
} kinds[] = {
	[MDV_CHANGE_MODIFY] = { .modify = true },
	[MDV_CHANGE_DECAP] = { .verbs_type = MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TUNNEL_TO_L2 },
	[MDV_CHANGE_DECAP_L3] = { .type = PRM_REFORMAT_TYPE_L3_TUNNEL_TO_L2,
				  .verbs_type = MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L3_TUNNEL_TO_L2 },
	[MDV_CHANGE_MODIFY_TX] = { .egress = true, .modify = true },
	[MDV_CHANGE_ENCAP] = { .egress = true, .type = PRM_REFORMAT_TYPE_L2_TO_L2_TUNNEL,
			       .verbs_type = MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L2_TUNNEL },
	[MDV_CHANGE_ENCAP_L3] = { .egress = true, .type = PRM_REFORMAT_TYPE_L2_TO_L3_TUNNEL,
				  .verbs_type = MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L3_TUNNEL },
};

static struct ibv_flow_action *
verbs_create(struct mdv_dev *dev, const struct kind *kind, const void *data, size_t bytes)
{
	const enum mlx5dv_flow_table_type type = kind->egress ? MLX5DV_FLOW_TABLE_TYPE_NIC_TX :
								MLX5DV_FLOW_TABLE_TYPE_NIC_RX;
	struct ibv_flow_action *action;

	/* The libraries do not write to the data. */
	if (kind->modify)
		action = MDV_RUN_PTR(dev, mlx5dv_create_flow_action_modify_header(dev->ibv, bytes,
										  (uint64_t *)(uintptr_t)data, type));
	else
		action = MDV_RUN_PTR(dev, mlx5dv_create_flow_action_packet_reformat(
						  dev->ibv, bytes, (void *)(uintptr_t)data, kind->verbs_type, type));
	if (action == NULL)
		return MDV_FAIL_NULL(dev->name, errno, "%s failed: %s", kind->modify ?
				     "mlx5dv_create_flow_action_modify_header" :
				     "mlx5dv_create_flow_action_packet_reformat", mdv_errno_name(errno));
	return action;
}

static struct mdv_obj *
modify_create(struct mdv_dev *dev, const struct kind *kind, const void *actions, size_t bytes)
{
	struct {
		struct prm_alloc_modify_header_context_in in;
		struct prm_set_add_copy_action_in_auto actions[UINT8_MAX];
	} cmd;

	memset(&cmd.in, 0, sizeof(cmd.in));
	prm_alloc_modify_header_context_in_set_opcode(&cmd.in, PRM_CMD_OP_ALLOC_MODIFY_HEADER_CONTEXT);
	prm_alloc_modify_header_context_in_set_table_type(&cmd.in, kind->egress ? PRM_FLOW_TABLE_TYPE_NIC_TX :
										  PRM_FLOW_TABLE_TYPE_NIC_RX);
	prm_alloc_modify_header_context_in_set_num_of_actions(&cmd.in, bytes / sizeof(cmd.actions[0]));
	memcpy(cmd.actions, actions, bytes);
	return mdv_obj_create(dev, &cmd, sizeof(cmd.in) + bytes);
}

static struct mdv_obj *
reformat_create(struct mdv_dev *dev, const struct kind *kind, const void *header, size_t bytes)
{
	/* The data begins in the last 2 bytes of the context. */
	const size_t head = sizeof(struct prm_alloc_packet_reformat_context_in) - 2;
	union {
		struct prm_alloc_packet_reformat_context_in in;
		uint8_t bytes[sizeof(struct prm_alloc_packet_reformat_context_in) + MDV_CHANGE_HEADER_MAX];
	} cmd;
	struct prm_packet_reformat_context_in *r =
		prm_alloc_packet_reformat_context_in_packet_reformat_context(&cmd.in);

	memset(&cmd, 0, sizeof(cmd));
	prm_alloc_packet_reformat_context_in_set_opcode(&cmd.in, PRM_CMD_OP_ALLOC_PACKET_REFORMAT_CONTEXT);
	prm_packet_reformat_context_in_set_reformat_type(r, kind->type);
	prm_packet_reformat_context_in_set_reformat_data_size(r, bytes);
	memcpy(cmd.bytes + head, header, bytes);
	return mdv_obj_create(dev, &cmd, head + bytes);
}

static int
change_create(struct mdv_change *c)
{
	const struct kind *kind = &kinds[c->kind];

	if (c->verbs_form) {
		c->verbs = verbs_create(c->dev, kind, c->bytes != 0 ? c->data : NULL, c->bytes);
		return c->verbs != NULL ? 0 : -rte_errno;
	}
	/* By command a decapsulation before Ethernet is a bit of the rule. */
	if (c->kind == MDV_CHANGE_DECAP)
		return 0;
	c->obj = kind->modify ? modify_create(c->dev, kind, c->data, c->bytes) :
				reformat_create(c->dev, kind, c->data, c->bytes);
	return c->obj != NULL ? 0 : -rte_errno;
}

/* ------------------------------------------------------------------ sharing */

static struct mdv_change *
change_find(struct mdv_dev *dev, enum mdv_change_kind kind, bool verbs_form, const void *data, size_t bytes)
{
	struct mdv_change *c;

	TAILQ_FOREACH(c, &dev->rules->changes, next)
		if (c->kind == kind && c->verbs_form == verbs_form && c->bytes == bytes &&
		    (bytes == 0 || memcmp(c->data, data, bytes) == 0))
			return c;
	return NULL;
}

static struct mdv_change *
change_new(struct mdv_dev *dev, enum mdv_change_kind kind, bool verbs_form, const void *data, size_t bytes)
{
	struct mdv_change *c = mdv_zalloc(dev->name, sizeof(*c) + bytes, "changes of packets");

	if (c == NULL)
		return NULL;
	c->dev = dev;
	c->kind = kind;
	c->verbs_form = verbs_form;
	c->bytes = bytes;
	if (bytes != 0)
		memcpy(c->data, data, bytes);
	if (change_create(c) != 0) {
		free(c);
		return NULL;
	}
	TAILQ_INSERT_TAIL(&dev->rules->changes, c, next);
	return c;
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_change_get)
struct mdv_change *
mdv_change_get(struct mdv_dev *dev, enum mdv_change_kind kind, bool root, const void *data, size_t bytes)
{
	const bool verbs_form = root && dev->mode != MDV_OPEN_VFIO;
	struct mdv_change *c;

	if (kinds[kind].modify ? bytes == 0 || bytes > UINT8_MAX * sizeof(struct prm_set_action_in) :
				 bytes > MDV_CHANGE_HEADER_MAX)
		return MDV_FAIL_NULL(dev->name, EINVAL, "a change of packets with %zu bytes of data", bytes);
	pthread_mutex_lock(&dev->rules->lock);
	c = change_find(dev, kind, verbs_form, data, bytes);
	if (c == NULL)
		c = change_new(dev, kind, verbs_form, data, bytes);
	if (c != NULL)
		c->users++;
	pthread_mutex_unlock(&dev->rules->lock);
	return c;
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_change_put)
void
mdv_change_put(struct mdv_change *c)
{
	struct mdv_dev *dev;
	int err = 0;

	if (c == NULL)
		return;
	dev = c->dev;
	pthread_mutex_lock(&dev->rules->lock);
	if (--c->users == 0) {
		TAILQ_REMOVE(&dev->rules->changes, c, next);
		if (c->verbs != NULL)
			err = MDV_RUN_DESTROY(dev, ibv_destroy_flow_action, c->verbs);
		if (err != 0)
			MDV_LOG_ERR(dev, "ibv_destroy_flow_action failed, the flow action stays behind -> %s",
				    mdv_errno_name(err));
		(void)mdv_obj_destroy(c->obj);
		free(c);
	}
	pthread_mutex_unlock(&dev->rules->lock);
}
