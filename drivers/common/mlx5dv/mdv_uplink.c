/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * The uplink of a PF in switchdev mode. The RDMA device then has a port for each vport of the eswitch (Linux,
 * hw/mlx5/ib_rep.c); this layer uses the one of the uplink.
 *
 * Receiving: the eswitch sends frames of all vports to the PF if it has no rule for them, so that rules on received
 * packets have to match the uplink, as those of DPDK's mlx5 (flow_dv_translate_item_port_id()).
 *
 * Sending: for each SQ of a raw packet QP the kernel makes a rule in the FDB, which sends its frames to the vport of
 * its port (ib_rep.c, create_flow_rule_vport_sq()), but none for SQs of DEVX (DPDK, commit 686d05b60d). Therefore a
 * table of the FDB that sends all to the uplink, made by command as in libmlx5 (dr_devx.c,
 * dr_devx_create_always_hit_ft()), and a rule in the FDB's root table for each SQ that leads there: rules of the root
 * table cannot lead to a vport (Linux, hw/mlx5/fs.c, get_dests()).
 */

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "mdv_private.h"

/** Number of the uplink (Linux, linux/mlx5/vport.h, MLX5_VPORT_UPLINK). */
#define VPORT_UPLINK 0xffff
/** As struct mlx5dv_flow_match_parameters: size and bytes in device format. */
struct match_param {
	size_t match_sz;
	struct prm_fte_match_set_lyr_2_4 outer;
	struct prm_fte_match_set_misc misc;
};

/** Rule of an SQ. */
struct rule {
	TAILQ_ENTRY(rule) next;
	uint32_t sqn;
	struct ibv_flow *flow;
};

/** Table of the FDB with one entry for all frames, and the rules that lead to it. */
struct mdv_uplink {
	pthread_mutex_t lock; /**< Of the list of rules. */
	TAILQ_HEAD(, rule) rules;
	struct mdv_obj *table, *group, *entry;
	struct mlx5dv_flow_matcher *matcher; /**< Of the root table: vport and SQ. */
	uint16_t manager; /**< Vport of this function, which manages the eswitch. */
};

/* ------------------------------------------------------------------ which port */

int
mdv_uplink_find(struct mdv_dev *dev, unsigned int ports)
{
	struct mdv_dev_own *own = mdv_own(dev);
	struct mlx5dv_port port;

	for (unsigned int i = 1; i <= ports; i++) {
		memset(&port, 0, sizeof(port));
		/* A vport without representor: EOPNOTSUPP. */
		if (mlx5dv_query_port(dev->ibv, i, &port) != 0 || (port.flags & MLX5DV_QUERY_PORT_VPORT) == 0 ||
		    (port.vport != VPORT_UPLINK && ports > 1))
			continue;
		own->ib_port = i;
		dev->caps.vport_num = port.vport;
		own->switchdev = port.vport == VPORT_UPLINK;
		if ((port.flags & MLX5DV_QUERY_PORT_VPORT_REG_C0) != 0) {
			own->source_value = port.reg_c0.value;
			own->source_mask = port.reg_c0.mask;
		}
		return 0;
	}
	if (ports == 1)
		return 0;
	return MDV_FAIL(dev->name, ENOTSUP, "%s has %u ports, and the kernel reports none as the uplink of a PF in "
			"switchdev mode: of devices with several ports only that one is supported", dev->ibdev_name,
			ports);
}

void
mdv_uplink_match(const struct mdv_dev *dev, struct prm_fte_match_param *mask, struct prm_fte_match_param *value)
{
	const struct mdv_dev_own *own = mdv_own(dev);

	if (!own->switchdev)
		return;
	if (own->source_mask != 0) {
		prm_fte_match_set_misc2_set_metadata_reg_c_0(prm_fte_match_param_misc_parameters_2(mask),
							     own->source_mask);
		prm_fte_match_set_misc2_set_metadata_reg_c_0(prm_fte_match_param_misc_parameters_2(value),
							     own->source_value);
		return;
	}
	prm_fte_match_set_misc_set_source_port(prm_fte_match_param_misc_parameters(mask), UINT16_MAX);
	prm_fte_match_set_misc_set_source_port(prm_fte_match_param_misc_parameters(value), VPORT_UPLINK);
}

/* ------------------------------------------------------------------ table of the FDB */

/*
 * The level is that of libmlx5's tables (dr_action.c, dr_action_create_dest_array()). The manager is vport 0 unless the
 * device reports another one (BlueField).
 */
static int
limits_read(struct mdv_dev *dev, struct mdv_uplink *u, unsigned int *level)
{
	struct prm_query_hca_cap_out *out = mdv_zalloc(dev->name, sizeof(*out), "the uplink");
	const void *page;
	int ret;

	if (out == NULL)
		return -rte_errno;
	page = prm_query_hca_cap_out_capability_c(out);
	ret = mdv_caps_page(dev, PRM_HCA_CAP_TYPE_FLOW_TABLE, out);
	if (ret == 0)
		*level = prm_flow_table_prop_layout_get_max_ft_level(
			prm_flow_table_nic_cap_flow_table_properties_nic_receive_c(page));
	if (ret == 0)
		ret = mdv_caps_page(dev, PRM_HCA_CAP_TYPE_ESWITCH, out);
	if (ret == 0 && prm_e_switch_cap_get_esw_manager_vport_number_valid(page))
		u->manager = prm_e_switch_cap_get_esw_manager_vport_number(page);
	free(out);
	if (ret == 0 && *level < 2)
		return MDV_FAIL(dev->name, ENOTSUP, "no table of the eswitch for the uplink: max_ft_level %u", *level);
	*level -= 1;
	return ret;
}

static struct mdv_obj *
table_create(struct mdv_dev *dev, unsigned int level)
{
	struct prm_create_flow_table_in in = { 0 };

	prm_create_flow_table_in_set_opcode(&in, PRM_CMD_OP_CREATE_FLOW_TABLE);
	prm_create_flow_table_in_set_table_type(&in, PRM_FLOW_TABLE_TYPE_FDB);
	prm_flow_table_context_set_level(prm_create_flow_table_in_flow_table_context(&in), level);
	return mdv_obj_create(dev, &in, sizeof(in));
}

/* Without criteria it matches all frames. */
static struct mdv_obj *
group_create(struct mdv_dev *dev, const struct mdv_obj *table)
{
	struct prm_create_flow_group_in in = { 0 };

	prm_create_flow_group_in_set_opcode(&in, PRM_CMD_OP_CREATE_FLOW_GROUP);
	prm_create_flow_group_in_set_table_type(&in, PRM_FLOW_TABLE_TYPE_FDB);
	prm_create_flow_group_in_set_table_id(&in, table->id);
	return mdv_obj_create(dev, &in, sizeof(in));
}

static struct mdv_obj *
entry_create(struct mdv_dev *dev, const struct mdv_obj *table, const struct mdv_obj *group)
{
	struct {
		struct prm_set_fte_in in;
		struct prm_dest_format_struct dest;
	} cmd;
	struct prm_flow_context *ctx = prm_set_fte_in_flow_context(&cmd.in);

	memset(&cmd, 0, sizeof(cmd));
	prm_set_fte_in_set_opcode(&cmd.in, PRM_CMD_OP_SET_FLOW_TABLE_ENTRY);
	prm_set_fte_in_set_table_type(&cmd.in, PRM_FLOW_TABLE_TYPE_FDB);
	prm_set_fte_in_set_table_id(&cmd.in, table->id);
	prm_flow_context_set_group_id(ctx, group->id);
	prm_flow_context_set_action(ctx, PRM_FLOW_ACTION_FWD_DEST);
	prm_flow_context_set_destination_list_size(ctx, 1);
	prm_dest_format_struct_set_destination_type(&cmd.dest, PRM_FLOW_DEST_TYPE_VPORT);
	prm_dest_format_struct_set_destination_id(&cmd.dest, VPORT_UPLINK);
	return mdv_obj_create(dev, &cmd, sizeof(cmd));
}

static struct mlx5dv_flow_matcher *
matcher_create(struct mdv_dev *dev)
{
	struct match_param mask = { .match_sz = sizeof(mask.outer) + sizeof(mask.misc) };
	struct mlx5dv_flow_matcher_attr attr = {
		.type = IBV_FLOW_ATTR_NORMAL,
		.match_criteria_enable = PRM_MATCH_CRITERIA_ENABLE_MISC,
		.match_mask = (struct mlx5dv_flow_match_parameters *)&mask,
		.comp_mask = MLX5DV_FLOW_MATCHER_MASK_FT_TYPE,
		.ft_type = MLX5DV_FLOW_TABLE_TYPE_FDB,
	};
	struct mlx5dv_flow_matcher *matcher;

	prm_fte_match_set_misc_set_source_sqn(&mask.misc, 0xffffff);
	prm_fte_match_set_misc_set_source_port(&mask.misc, UINT16_MAX);
	matcher = MDV_RETRY_PTR(dev, mlx5dv_create_flow_matcher(dev->ibv, &attr));
	if (matcher == NULL)
		(void)MDV_FAIL(dev->name, errno, "no rule of the eswitch sends to the uplink of this switchdev PF: "
			       "mlx5dv_create_flow_matcher failed: %s", mdv_errno_name(errno));
	return matcher;
}

int
mdv_uplink_open(struct mdv_dev *dev)
{
	struct mdv_uplink *u;
	unsigned int level = 0;

	if (!mdv_own(dev)->switchdev)
		return 0;
	u = mdv_zalloc(dev->name, sizeof(*u), "the uplink");
	if (u == NULL)
		return -rte_errno;
	TAILQ_INIT(&u->rules);
	pthread_mutex_init(&u->lock, NULL);
	mdv_own(dev)->uplink = u;
	if (limits_read(dev, u, &level) == 0)
		u->table = table_create(dev, level);
	if (u->table != NULL)
		u->group = group_create(dev, u->table);
	if (u->group != NULL)
		u->entry = entry_create(dev, u->table, u->group);
	if (u->entry != NULL)
		u->matcher = matcher_create(dev);
	if (u->matcher != NULL)
		return 0;
	MDV_UNDO((mdv_uplink_close(dev), 0));
	return -rte_errno;
}

void
mdv_uplink_close(struct mdv_dev *dev)
{
	struct mdv_uplink *u = mdv_own(dev)->uplink;
	int err;

	if (u == NULL)
		return;
	mdv_own(dev)->uplink = NULL;
	err = u->matcher != NULL ? MDV_RUN_DESTROY(dev, mlx5dv_destroy_flow_matcher, u->matcher) : 0;
	if (err != 0)
		MDV_LOG_ERR(dev, "mlx5dv_destroy_flow_matcher of the uplink failed: %s", mdv_errno_name(err));
	(void)mdv_obj_destroy(u->entry);
	(void)mdv_obj_destroy(u->group);
	(void)mdv_obj_destroy(u->table);
	pthread_mutex_destroy(&u->lock);
	free(u);
}

/* ------------------------------------------------------------------ rules, one per SQ */

static struct ibv_flow *
flow_create(struct mdv_dev *dev, const struct mdv_uplink *u, uint32_t sqn)
{
	struct match_param value = { .match_sz = sizeof(value.outer) + sizeof(value.misc) };
	struct mlx5dv_flow_action_attr action = { .type = MLX5DV_FLOW_ACTION_DEST_DEVX, .obj = u->table->devx };
	struct ibv_flow *flow;
	int err;

	prm_fte_match_set_misc_set_source_sqn(&value.misc, sqn);
	prm_fte_match_set_misc_set_source_port(&value.misc, u->manager);
	flow = MDV_RETRY_PTR(dev, mlx5dv_create_flow(u->matcher, (struct mlx5dv_flow_match_parameters *)&value, 1,
						     &action));
	if (flow != NULL)
		return flow;
	err = errno;
	return MDV_FAIL_NULL(dev->name, err, "no rule of the eswitch sends from SQ 0x%x to the uplink of this switchdev "
			     "PF: mlx5dv_create_flow failed: %s%s", sqn, mdv_errno_name(err), err == EPERM ?
			     " (CAP_NET_RAW is missing: run as root, or setcap cap_net_raw+ep PROGRAM)" : "");
}

int
mdv_uplink_connect(struct mdv_dev *dev, uint32_t sqn)
{
	struct mdv_uplink *u = mdv_own(dev)->uplink;
	struct rule *r;

	if (u == NULL)
		return 0;
	r = mdv_zalloc(dev->name, sizeof(*r), "the uplink");
	if (r == NULL)
		return -rte_errno;
	r->sqn = sqn;
	r->flow = flow_create(dev, u, sqn);
	if (r->flow == NULL) {
		free(r);
		return -rte_errno;
	}
	pthread_mutex_lock(&u->lock);
	TAILQ_INSERT_TAIL(&u->rules, r, next);
	pthread_mutex_unlock(&u->lock);
	return 0;
}

void
mdv_uplink_disconnect(struct mdv_dev *dev, uint32_t sqn)
{
	struct mdv_uplink *u = mdv_own(dev)->uplink;
	struct rule *r;
	int err;

	if (u == NULL)
		return;
	pthread_mutex_lock(&u->lock);
	TAILQ_FOREACH(r, &u->rules, next)
		if (r->sqn == sqn)
			break;
	if (r != NULL)
		TAILQ_REMOVE(&u->rules, r, next);
	pthread_mutex_unlock(&u->lock);
	if (r == NULL)
		return;
	err = MDV_RUN_DESTROY(dev, ibv_destroy_flow, r->flow);
	if (err != 0)
		MDV_LOG_ERR(dev, "ibv_destroy_flow failed, the rule of the eswitch stays behind -> %s",
			    mdv_errno_name(err));
	free(r);
}
