/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* rte_flow actions: checked, and compiled into what becomes of a packet. */

#include <rte_flow.h>

#include "mlxpmd_flow.h"
#include "mlxpmd_rx.h"

#define REFUSE_CONF(error, err, action, ...) \
	mlxpmd_flow_refuse(error, err, RTE_FLOW_ERROR_TYPE_ACTION_CONF, action, __VA_ARGS__)
#define REFUSE_ACTION(error, err, action, ...) \
	mlxpmd_flow_refuse(error, err, RTE_FLOW_ERROR_TYPE_ACTION, action, __VA_ARGS__)

static const char *
action_name(const struct rte_flow_action *action)
{
	return mlxpmd_flow_name(RTE_FLOW_CONV_OP_ACTION_NAME_PTR, action->type);
}

/** Sets what becomes of a packet; a list of actions has one such action. */
static int
target_set(struct mlxpmd_flow_actions *out, enum mlxpmd_flow_target target, const struct rte_flow_action *action,
	 struct rte_flow_error *error)
{
	if (out->target != MLXPMD_TARGET_NONE)
		return REFUSE_ACTION(error, EINVAL, action, "action %s: the packet already has another destination",
				     action_name(action));
	out->target = target;
	return 0;
}

static int
queue_check(const struct mlxpmd_port *port, uint16_t queue, const struct rte_flow_action *action,
	    struct rte_flow_error *error)
{
	const struct rte_eth_dev_data *data = port->eth_dev->data;

	if (queue >= data->nb_rx_queues)
		return REFUSE_CONF(error, EINVAL, action, "Rx queue %u does not exist: the port has %u", queue,
				   data->nb_rx_queues);
	if (data->rx_queues[queue] == NULL)
		return REFUSE_CONF(error, EINVAL, action, "Rx queue %u is not set up", queue);
	return 0;
}

static int
drop_compile(struct mlxpmd_port *port __rte_unused, const struct rte_flow_action *action,
	     struct mlxpmd_flow_actions *out, struct rte_flow_error *error)
{
	return target_set(out, MLXPMD_TARGET_DROP, action, error);
}

static int
kernel_compile(struct mlxpmd_port *port, const struct rte_flow_action *action, struct mlxpmd_flow_actions *out,
	       struct rte_flow_error *error)
{
	if (port->mdv->mode == MDV_OPEN_VFIO)
		return REFUSE_ACTION(error, ENOTSUP, action, "open=vfio: there is no kernel driver to send packets to");
	return target_set(out, MLXPMD_TARGET_KERNEL, action, error);
}

static int
queue_compile(struct mlxpmd_port *port, const struct rte_flow_action *action, struct mlxpmd_flow_actions *out,
	      struct rte_flow_error *error)
{
	const struct rte_flow_action_queue *conf = action->conf;
	int rc = queue_check(port, conf->index, action, error);

	if (rc != 0)
		return rc;
	out->queue = conf->index;
	out->conf = (struct mlxpmd_tirs_conf){ .queues = &out->queue, .nb_queues = 1 };
	return target_set(out, MLXPMD_TARGET_QUEUES, action, error);
}

static int
rss_check(struct mlxpmd_port *port, const struct rte_flow_action *action, struct rte_flow_error *error)
{
	const uint64_t supported = mlxpmd_rss_supported(&port->mdv->caps);
	const struct rte_flow_action_rss *conf = action->conf;
	int rc = 0;

	if (conf->func > RTE_ETH_HASH_FUNCTION_TOEPLITZ && conf->func != RTE_ETH_HASH_FUNCTION_SYMMETRIC_TOEPLITZ)
		return REFUSE_CONF(error, ENOTSUP, action,
				   "RSS function %d: toeplitz and symmetric_toeplitz are supported", conf->func);
	if (conf->level > 2)
		return REFUSE_CONF(error, ENOTSUP, action,
				   "RSS level %u: 0 and 1, the outermost headers, and 2, those in a tunnel, are supported",
				   conf->level);
	if (conf->types & ~supported)
		return REFUSE_CONF(error, ENOTSUP, action,
				   "RSS types 0x%" PRIx64 " are not supported, 0x%" PRIx64 " are",
				   conf->types & ~supported, supported);
	if (conf->key_len != 0 && conf->key_len != MLXPMD_RSS_KEY_BYTES)
		return REFUSE_CONF(error, EINVAL, action, "RSS key of %u bytes: it has %d", conf->key_len,
				   MLXPMD_RSS_KEY_BYTES);
	if (conf->queue_num == 0 || conf->queue == NULL)
		return REFUSE_CONF(error, EINVAL, action, "RSS without queues");
	if (conf->queue_num > RTE_BIT32(port->mdv->caps.log_max_rqt_size))
		return REFUSE_CONF(error, EINVAL, action, "RSS over %u queues: the device's tables have %u entries",
				   conf->queue_num, RTE_BIT32(port->mdv->caps.log_max_rqt_size));
	for (uint32_t i = 0; rc == 0 && i < conf->queue_num; i++)
		rc = queue_check(port, conf->queue[i], action, error);
	return rc;
}

static int
rss_compile(struct mlxpmd_port *port, const struct rte_flow_action *action, struct mlxpmd_flow_actions *out,
	    struct rte_flow_error *error)
{
	const uint64_t supported = mlxpmd_rss_supported(&port->mdv->caps);
	const struct rte_flow_action_rss *conf = action->conf;
	int rc = rss_check(port, action, error);

	if (rc != 0)
		return rc;
	out->conf = (struct mlxpmd_tirs_conf){
		.queues = conf->queue,
		.nb_queues = conf->queue_num,
		/* rte_flow.h leaves to the driver what no types means: addresses, as net_mlx5. */
		.rss_hf = conf->types != 0 ? conf->types : RTE_ETH_RSS_IP & supported,
		.symmetric = conf->func == RTE_ETH_HASH_FUNCTION_SYMMETRIC_TOEPLITZ,
		.inner = conf->level == 2,
	};
	memcpy(out->conf.key, conf->key != NULL && conf->key_len != 0 ? conf->key : port->rss_key,
	       sizeof(out->conf.key));
	return target_set(out, MLXPMD_TARGET_QUEUES, action, error);
}

static int
jump_compile(struct mlxpmd_port *port __rte_unused, const struct rte_flow_action *action,
	     struct mlxpmd_flow_actions *out, struct rte_flow_error *error)
{
	out->jump = ((const struct rte_flow_action_jump *)action->conf)->group;
	return target_set(out, MLXPMD_TARGET_JUMP, action, error);
}

static int
tag_set(struct mlxpmd_flow_actions *out, uint32_t tag, const struct rte_flow_action *action,
	struct rte_flow_error *error)
{
	if (out->tag != 0)
		return REFUSE_ACTION(error, EINVAL, action, "action %s: one of mark and flag is allowed, once",
				     action_name(action));
	out->tag = tag;
	return 0;
}

/* The CQE has 24 bits: 0 is no mark, and the last value that of a packet that is flagged only. */
static int
mark_compile(struct mlxpmd_port *port __rte_unused, const struct rte_flow_action *action,
	     struct mlxpmd_flow_actions *out, struct rte_flow_error *error)
{
	uint32_t id = ((const struct rte_flow_action_mark *)action->conf)->id;

	if (id > MLXPMD_MARK_MAX)
		return REFUSE_CONF(error, EINVAL, action, "mark %u: marks are 0 to %u", id, MLXPMD_MARK_MAX);
	return tag_set(out, id + 1, action, error);
}

static int
flag_compile(struct mlxpmd_port *port __rte_unused, const struct rte_flow_action *action,
	     struct mlxpmd_flow_actions *out, struct rte_flow_error *error)
{
	return tag_set(out, MLXPMD_TAG_FLAG, action, error);
}

static int
count_compile(struct mlxpmd_port *port __rte_unused, const struct rte_flow_action *action,
	      struct mlxpmd_flow_actions *out, struct rte_flow_error *error)
{
	if (out->count)
		return REFUSE_ACTION(error, EINVAL, action, "action count: once is allowed");
	out->count = true;
	return 0;
}

static int
age_compile(struct mlxpmd_port *port __rte_unused, const struct rte_flow_action *action,
	    struct mlxpmd_flow_actions *out, struct rte_flow_error *error)
{
	const struct rte_flow_action_age *conf = action->conf;

	if (out->age != NULL)
		return REFUSE_ACTION(error, EINVAL, action, "action age: once is allowed");
	if (conf->timeout == 0)
		return REFUSE_CONF(error, EINVAL, action, "action age: the timeout is 1 second or more");
	out->age = conf;
	return 0;
}

static int
indirect_compile(struct mlxpmd_port *port __rte_unused, const struct rte_flow_action *action,
		 struct mlxpmd_flow_actions *out, struct rte_flow_error *error)
{
	struct rte_flow_action_handle *handle = (struct rte_flow_action_handle *)(uintptr_t)action->conf;

	if (handle->type == RTE_FLOW_ACTION_TYPE_COUNT) {
		out->count_handle = handle;
		return count_compile(port, action, out, error);
	}
	out->dest_handle = handle;
	return target_set(out, MLXPMD_TARGET_QUEUES, action, error);
}

/** Compiled with the pattern: mlxpmd_flow_change_compile(). */
static int
change_compile(struct mlxpmd_port *port __rte_unused, const struct rte_flow_action *action __rte_unused,
	       struct mlxpmd_flow_actions *out __rte_unused, struct rte_flow_error *error __rte_unused)
{
	return 0;
}

/** Actions by their type. */
static const struct known {
	enum rte_flow_action_type type;
	bool conf;		/**< Must have a configuration. */
	bool indirect;		/**< Can be an indirect action. */
	bool egress;		/**< Of sent packets, too. */
	int (*compile)(struct mlxpmd_port *port, const struct rte_flow_action *action, struct mlxpmd_flow_actions *out,
		       struct rte_flow_error *error);
} actions_known[] = {
	{ RTE_FLOW_ACTION_TYPE_DROP, false, false, true, drop_compile },
	{ RTE_FLOW_ACTION_TYPE_QUEUE, true, true, false, queue_compile },
	{ RTE_FLOW_ACTION_TYPE_RSS, true, true, false, rss_compile },
	{ RTE_FLOW_ACTION_TYPE_JUMP, true, false, true, jump_compile },
	{ RTE_FLOW_ACTION_TYPE_MARK, true, false, false, mark_compile },
	{ RTE_FLOW_ACTION_TYPE_FLAG, false, false, false, flag_compile },
	{ RTE_FLOW_ACTION_TYPE_COUNT, false, true, true, count_compile },
	{ RTE_FLOW_ACTION_TYPE_AGE, true, false, true, age_compile },
	{ RTE_FLOW_ACTION_TYPE_SEND_TO_KERNEL, false, false, false, kernel_compile },
	{ RTE_FLOW_ACTION_TYPE_INDIRECT, true, false, true, indirect_compile },
};

/** Actions that change packets, without and with a configuration. */
static const struct known changes[] = {
	{ .conf = false, .compile = change_compile },
	{ .conf = true, .compile = change_compile },
};

/** Why an action that rte_flow.h has cannot be; NULL: it is like many others. */
static const char *
reason(enum rte_flow_action_type type)
{
	switch (type) {
	case RTE_FLOW_ACTION_TYPE_PASSTHRU:
		return "a flow decides what becomes of its packets; jump lets other flows decide";
	case RTE_FLOW_ACTION_TYPE_PORT_ID:
	case RTE_FLOW_ACTION_TYPE_PORT_REPRESENTOR:
	case RTE_FLOW_ACTION_TYPE_REPRESENTED_PORT:
		return "packets do not go to other ports; queue and rss deliver to this one";
	case RTE_FLOW_ACTION_TYPE_METER:
		return "meters are not supported; drop is";
	case RTE_FLOW_ACTION_TYPE_SAMPLE:
		return "packets are not copied; count counts them, and mark selects them for the application";
	case RTE_FLOW_ACTION_TYPE_CONNTRACK:
		return "connections are not tracked; tcp flags are matched, and age finds flows without packets";
	default:
		return NULL;
	}
}

/** NULL: *error is set. */
static const struct known *
known_find(const struct rte_flow_action *action, bool egress, struct rte_flow_error *error)
{
	const struct known *known = NULL;
	bool fits = true;

	for (unsigned int i = 0; known == NULL && i < RTE_DIM(actions_known); i++)
		if (actions_known[i].type == action->type)
			known = &actions_known[i];
	if (known != NULL) {
		fits = known->egress || !egress;
	} else if (mlxpmd_flow_change_conf(action->type) >= 0) {
		known = &changes[mlxpmd_flow_change_conf(action->type) > 0];
		fits = mlxpmd_flow_change_direction(action->type, egress);
	}
	if (known != NULL && fits)
		return known;
	if (known != NULL)
		(void)REFUSE_ACTION(error, ENOTSUP, action, "action %s is of %s packets (%s)", action_name(action),
				    egress ? "received" : "sent", egress ? "ingress" : "egress");
	else if (reason(action->type) != NULL)
		(void)REFUSE_ACTION(error, ENOTSUP, action, "action %s: %s", action_name(action), reason(action->type));
	else
		(void)REFUSE_ACTION(error, ENOTSUP, action,
				    "action %s is not supported; drop, queue, rss, jump, mark, flag, count, age, "
				    "send_to_kernel, indirect, and those that change fields, tags and tunnels are", action_name(action));
	return NULL;
}

int
mlxpmd_flow_action_known(const struct rte_flow_action *action, bool egress, struct rte_flow_error *error)
{
	return action->type == RTE_FLOW_ACTION_TYPE_VOID || known_find(action, egress, error) != NULL ? 0 : -rte_errno;
}

static int
action_compile(struct mlxpmd_port *port, const struct rte_flow_action *action, bool egress,
	       struct mlxpmd_flow_actions *out, bool indirect, struct rte_flow_error *error)
{
	const struct known *known = known_find(action, egress, error);

	if (known == NULL)
		return -rte_errno;
	if (indirect && !known->indirect)
		return REFUSE_ACTION(error, ENOTSUP, action,
				     "action %s cannot be indirect; queue, rss and count can", action_name(action));
	if (known->conf && action->conf == NULL)
		return REFUSE_CONF(error, EINVAL, action, "action %s has no configuration", action_name(action));
	return known->compile(port, action, out, error);
}

int
mlxpmd_flow_action_compile(struct mlxpmd_port *port, const struct rte_flow_action *action, bool egress,
			   struct mlxpmd_flow_actions *out, struct rte_flow_error *error)
{
	memset(out, 0, sizeof(*out));
	return action_compile(port, action, egress, out, true, error);
}

/** Checks the list as a whole. */
static int
list_check(struct mlxpmd_port *port, const struct rte_flow_attr *attr, const struct rte_flow_action *actions,
	   struct mlxpmd_flow_actions *out, struct rte_flow_error *error)
{
	if (attr->egress && out->dest_handle != NULL)
		return REFUSE_ACTION(error, ENOTSUP, actions, "queue and rss are of received packets (ingress)");
	if (attr->egress && out->target == MLXPMD_TARGET_NONE)
		out->target = MLXPMD_TARGET_SEND;
	if (out->target == MLXPMD_TARGET_NONE)
		return REFUSE_ACTION(error, EINVAL, actions,
				     "the packet has no destination: drop, queue, rss, jump or send_to_kernel");
	if (out->tag != 0 && out->target != MLXPMD_TARGET_QUEUES && out->target != MLXPMD_TARGET_JUMP)
		return REFUSE_ACTION(error, EINVAL, actions, "mark and flag need an action queue, rss or jump");
	if (out->target == MLXPMD_TARGET_JUMP)
		return mlxpmd_flow_jump_check(port, attr, out->jump, actions, error);
	if (out->target == MLXPMD_TARGET_KERNEL && attr->group != 0)
		return REFUSE_ACTION(error, ENOTSUP, actions, "send_to_kernel: in group 0 only, not in group %u",
				     attr->group);
	return 0;
}

int
mlxpmd_flow_actions_compile(struct mlxpmd_port *port, const struct rte_flow_attr *attr,
			    const struct rte_flow_action *actions, struct mlxpmd_flow_actions *out,
			    struct rte_flow_error *error)
{
	const struct rte_flow_action *action;
	int rc = 0;

	memset(out, 0, sizeof(*out));
	for (action = actions; rc == 0 && action->type != RTE_FLOW_ACTION_TYPE_END; action++)
		if (action->type != RTE_FLOW_ACTION_TYPE_VOID)
			rc = action_compile(port, action, attr->egress, out, false, error);
	return rc == 0 ? list_check(port, attr, actions, out, error) : rc;
}
