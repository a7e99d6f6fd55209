/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* rte_flow: flows of a port, and ethdev's operations on them. */

#include <stdlib.h>

#include <mdv_compat.h>

#include "mlxpmd_flow_async.h"

/* Flows of group 0 are rules of the root, where the port's own rules have the last priorities. */
#define FLOW_ROOT_PRIORITIES ((MDV_ROOT_PRIORITIES - MLXPMD_FLOW_DEPTHS) / MLXPMD_FLOW_DEPTHS)
#define FLOW_PRIORITIES (UINT16_MAX / MLXPMD_FLOW_DEPTHS)

/* ------------------------------------------------------------------ compiling */

int
mlxpmd_flow_direction_check(bool ingress, bool egress, bool transfer, const void *attr, struct rte_flow_error *error)
{
	if (transfer)
		return mlxpmd_flow_refuse(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ATTR_TRANSFER, attr,
					  "transfer is not supported; ingress and egress, of this port, are");
	if (ingress && egress)
		return mlxpmd_flow_refuse(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ATTR_EGRESS, attr,
					  "a flow is of received packets (ingress) or of sent ones (egress), not of both");
	if (!ingress && !egress)
		return mlxpmd_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_ATTR_INGRESS, attr,
					  "ingress or egress must be set");
	return 0;
}

int
mlxpmd_flow_attr_check(const struct rte_flow_attr *attr, struct rte_flow_error *error)
{
	const uint32_t priorities = attr->group == 0 ? FLOW_ROOT_PRIORITIES : FLOW_PRIORITIES;

	if (mlxpmd_flow_direction_check(attr->ingress, attr->egress, attr->transfer, attr, error) != 0)
		return -rte_errno;
	if (attr->priority >= priorities)
		return mlxpmd_flow_refuse(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ATTR_PRIORITY, attr,
					  "priority %u: group %u has priorities 0 to %u", attr->priority, attr->group,
					  priorities - 1);
	return 0;
}

/** The actions, when the pattern has been compiled. */
static int
actions_compile(struct mlxpmd_port *port, const struct rte_flow_attr *attr, const struct rte_flow_action *actions,
		struct mlxpmd_flow_compiled *c, struct rte_flow_error *error)
{
	int rc = mlxpmd_flow_actions_compile(port, attr, actions, &c->actions, error);

	return rc == 0 ? mlxpmd_flow_change_compile(port, attr, &c->pattern, actions, &c->actions, &c->change, error) :
			 rc;
}

static int
compile(struct mlxpmd_port *port, const struct rte_flow_attr *attr, const struct rte_flow_item *items,
	const struct rte_flow_action *actions, struct mlxpmd_flow_compiled *c, struct rte_flow_error *error)
{
	int rc = mlxpmd_flow_attr_check(attr, error);

	if (rc == 0)
		rc = mlxpmd_flow_pattern_compile(port, items, attr->egress, false, NULL, &c->pattern, error);
	return rc == 0 ? actions_compile(port, attr, actions, c, error) : rc;
}

/* ------------------------------------------------------------------ flows */

void
mlxpmd_flow_free(struct mlxpmd_port *port, struct rte_flow *flow)
{
	for (unsigned int i = 0; i < RTE_DIM(flow->handle); i++)
		if (flow->handle[i] != NULL)
			flow->handle[i]->users--;
	if (flow->made_from != NULL)
		flow->made_from->users--;
	free(flow->age);
	mlxpmd_flow_change_put(flow);
	mlxpmd_flow_counter_put(port, flow->counter);
	mlxpmd_flow_dest_put(port, flow->dest);
	mlxpmd_flow_jump_put(port, flow->group, flow->jump);
	mlxpmd_flow_group_put(port, flow->group);
	free(flow);
}

/**
 * The kernel puts rules that match only multicast into one table, whatever their priority (mlx5_ib, fs.c,
 * raw_fs_is_multicast()). Groups of masks are in the order of their creation there: the port's own rules are created
 * again behind those of a flow.
 */
static bool
match_multicast(const struct mdv_match *m)
{
	const struct prm_fte_match_set_lyr_2_4 *outer = prm_fte_match_param_outer_headers_c(&m->value);
	const struct prm_ipv4_layout *dst = (const void *)prm_fte_match_set_lyr_2_4_dst_ipv4_dst_ipv6_c(outer);

	return (prm_fte_match_set_lyr_2_4_get_dmac_47_16(outer) & 0x01000000) != 0 ||
	       prm_ipv4_layout_get_ipv4(dst) >> 28 == 0xe;
}

static struct rte_flow *
flow_alloc(const struct mlxpmd_port *port, const struct rte_flow_attr *attr, const struct mlxpmd_flow_compiled *c)
{
	const struct mdv_match *m = &c->pattern.match;
	uint32_t n = 0;
	struct rte_flow *flow;

	for (uint32_t i = 0; i < RTE_DIM(m->mask.dw); i++)
		n += m->mask.dw[i] != 0;
	flow = mlxpmd_flow_zalloc(port, sizeof(*flow) + n * sizeof(flow->words[0]));
	if (flow == NULL)
		return NULL;
	for (uint32_t i = 0; i < RTE_DIM(m->mask.dw); i++)
		if (m->mask.dw[i] != 0)
			flow->words[flow->nb_words++] = (struct mlxpmd_flow_word){ i, m->mask.dw[i], m->value.dw[i] };
	flow->priority = attr->priority;
	flow->depth = c->pattern.depth;
	flow->tx_queue = c->pattern.tx_queue;
	flow->inner_type = (uint16_t)c->pattern.tunnel;
	flow->inner_eth = c->pattern.inner_eth;
	flow->egress = attr->egress;
	/* There are no rules of the port's own for sent packets. */
	flow->multicast = attr->group == 0 && !attr->egress && port->mdv->mode != MDV_OPEN_VFIO && match_multicast(m);
	flow->target = c->actions.target;
	flow->tag = c->actions.tag;
	flow->idle = true;
	return flow;
}

/** Takes what the flow shares with others. 0 or -errno; *error is set by groups only. */
static int
flow_share(struct mlxpmd_port *port, struct rte_flow *flow, const struct rte_flow_attr *attr,
	   const struct mlxpmd_flow_actions *a, struct rte_flow_error *error)
{
	if (attr->group != 0 && (flow->group = mlxpmd_flow_group_get(port, attr->egress, attr->group, error)) == NULL)
		return -rte_errno;
	if (a->target == MLXPMD_TARGET_JUMP &&
	    (flow->jump = mlxpmd_flow_jump_get(port, attr->egress, flow->group, a->jump, error)) == NULL)
		return -rte_errno;
	flow->handle[0] = a->count_handle;
	flow->handle[1] = a->dest_handle;
	for (unsigned int i = 0; i < RTE_DIM(flow->handle); i++)
		if (flow->handle[i] != NULL)
			flow->handle[i]->users++;
	if (a->count_handle != NULL) {
		flow->counter = a->count_handle->counter;
		flow->counter->users++;
	} else if (a->count || a->age != NULL) {
		flow->counter = mlxpmd_flow_counter_get(port, attr->group != 0 || port->mdv->mode == MDV_OPEN_VFIO);
		if (flow->counter == NULL)
			return -rte_errno;
	}
	if (flow->counter != NULL)
		mlxpmd_flow_counter_use(flow->counter, flow->egress, flow->target == MLXPMD_TARGET_DROP);
	if (a->age != NULL && (flow->age = mlxpmd_flow_age_new(port, a->age, flow)) == NULL)
		return -rte_errno;
	if (a->dest_handle != NULL) {
		flow->dest = a->dest_handle->dest;
		flow->dest->users++;
	} else if (a->target == MLXPMD_TARGET_QUEUES && (flow->dest = mlxpmd_flow_dest_get(port, &a->conf)) == NULL) {
		return -rte_errno;
	}
	return 0;
}

void
mlxpmd_flow_remove(struct mlxpmd_port *port, struct rte_flow *flow)
{
	(void)mlxpmd_flow_apply(port, flow, false);
	TAILQ_REMOVE(&port->flows->list, flow, next);
	port->flows->n--;
	port->flows->nb_multicast -= flow->multicast;
	mlxpmd_flow_free(port, flow);
}

/** Sets *error unless a part has done so: what the device refused. */
static int
flow_refuse(struct rte_flow_error *error, const struct rte_flow_error *refused, int rc)
{
	if (refused->type != RTE_FLOW_ERROR_TYPE_NONE && error != NULL)
		*error = *refused;
	else
		(void)mlxpmd_flow_refuse(error, -rc, RTE_FLOW_ERROR_TYPE_HANDLE, NULL,
					 "the device refused the flow: %s", rte_strerror(-rc));
	rte_errno = -rc;
	return rc;
}

/** As mlxpmd_flow_add(), but not among the port's. */
static struct rte_flow *
flow_new(struct mlxpmd_port *port, const struct rte_flow_attr *attr, const struct mlxpmd_flow_compiled *c,
	 struct rte_flow_error *error)
{
	struct rte_flow *flow = flow_alloc(port, attr, c);
	struct rte_flow_error refused = { .type = RTE_FLOW_ERROR_TYPE_NONE };
	int rc;

	if (flow == NULL) {
		(void)mlxpmd_flow_refuse(error, ENOMEM, RTE_FLOW_ERROR_TYPE_HANDLE, NULL, "no memory for a flow");
		return NULL;
	}
	rc = flow_share(port, flow, attr, &c->actions, &refused);
	if (rc == 0)
		rc = mlxpmd_flow_change_get(port, flow, &c->change);
	if (rc == 0)
		return flow;
	mlxpmd_flow_free(port, flow);
	(void)flow_refuse(error, &refused, rc);
	return NULL;
}

struct rte_flow *
mlxpmd_flow_add(struct mlxpmd_port *port, const struct rte_flow_attr *attr, const struct mlxpmd_flow_compiled *c,
		struct rte_flow_error *error)
{
	struct rte_flow *flow = flow_new(port, attr, c, error);

	if (flow == NULL)
		return NULL;
	TAILQ_INSERT_TAIL(&port->flows->list, flow, next);
	port->flows->n++;
	port->flows->nb_multicast += flow->multicast;
	return flow;
}

int
mlxpmd_flow_run(struct mlxpmd_port *port, struct rte_flow *flow, struct rte_flow_error *error)
{
	const struct rte_flow_error none = { .type = RTE_FLOW_ERROR_TYPE_NONE };
	int rc;

	flow->idle = false;
	rc = mlxpmd_flow_apply(port, flow, true);
	if (rc == 0 && flow->age != NULL) {
		mlxpmd_flow_age_begin(flow);
		mlxpmd_tasks_age(port);
	}
	if (rc == 0)
		return 0;
	flow->idle = true;
	return flow_refuse(error, &none, rc);
}

/* ------------------------------------------------------------------ other actions */

/** Attributes with which a flow was created. */
static struct rte_flow_attr
attr_of(const struct rte_flow *flow)
{
	return (struct rte_flow_attr){
		.group = flow->group != NULL ? flow->group->number : 0, .priority = flow->priority,
		.ingress = !flow->egress, .egress = flow->egress,
	};
}

void
mlxpmd_flow_pattern_of(const struct rte_flow *flow, struct mlxpmd_flow_pattern *pattern)
{
	*pattern = (struct mlxpmd_flow_pattern){
		.depth = flow->depth, .tunnel = (enum rte_flow_item_type)flow->inner_type,
		.inner_eth = flow->inner_eth, .tx_queue = flow->tx_queue,
	};
	mlxpmd_flow_words(flow, &pattern->match);
}

/*
 * New rules are created beside the old ones, of equal match, which firmware takes (mlx5_core, en_tc.c,
 * FLOW_ACT_NO_APPEND). The kernel's table would give one rule both destinations, or refuse (fs_core.c, add_rule_fg()).
 */
struct rte_flow *
mlxpmd_flow_other(struct mlxpmd_port *port, const struct rte_flow *flow, const struct mlxpmd_flow_compiled *c,
		  struct rte_flow_error *error)
{
	const struct rte_flow_attr attr = attr_of(flow);

	if (flow->group != NULL || port->mdv->mode == MDV_OPEN_VFIO)
		return flow_new(port, &attr, c, error);
	(void)mlxpmd_flow_refuse(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_HANDLE, flow,
				 "a flow of group 0 keeps its actions, because the kernel's rules do: jump to a group "
				 "above 0, whose flows get others");
	return NULL;
}

int
mlxpmd_flow_update(struct mlxpmd_port *port, struct rte_flow *flow, struct rte_flow *other,
		   struct rte_flow_error *error)
{
	const struct rte_flow was = *flow;
	int rc = mlxpmd_flow_run(port, other, error);

	if (rc == 0) {
		/* Handle and operations stay, and the match is equal. */
		*flow = *other;
		flow->next = was.next;
		flow->ops = was.ops;
		flow->leaves = was.leaves;
		flow->queue = was.queue;
		flow->made_from = was.made_from;
		if (flow->age != NULL && flow->age->context == other)
			flow->age->context = flow;
		*other = was;
		other->made_from = NULL;
		rc = mlxpmd_flow_apply(port, other, false);
		if (rc != 0)
			(void)mlxpmd_flow_refuse(error, -rc, RTE_FLOW_ERROR_TYPE_HANDLE, flow,
						 "the device has kept a rule with the old actions: %s", rte_strerror(-rc));
	}
	mlxpmd_flow_free(port, other);
	return rc;
}

/* ------------------------------------------------------------------ operations */

static int
flow_validate(struct rte_eth_dev *eth_dev, const struct rte_flow_attr *attr, const struct rte_flow_item items[],
	      const struct rte_flow_action actions[], struct rte_flow_error *error)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	struct mlxpmd_flow_compiled c;
	int rc;

	pthread_mutex_lock(&port->lock);
	rc = compile(port, attr, items, actions, &c, error);
	pthread_mutex_unlock(&port->lock);
	return rc;
}

static struct rte_flow *
flow_create(struct rte_eth_dev *eth_dev, const struct rte_flow_attr *attr, const struct rte_flow_item items[],
	    const struct rte_flow_action actions[], struct rte_flow_error *error)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	struct rte_flow *flow = NULL;
	struct mlxpmd_flow_compiled c;

	pthread_mutex_lock(&port->lock);
	if (compile(port, attr, items, actions, &c, error) == 0)
		flow = mlxpmd_flow_add(port, attr, &c, error);
	if (flow != NULL && mlxpmd_flow_run(port, flow, error) != 0) {
		int err = rte_errno;

		mlxpmd_flow_remove(port, flow);
		rte_errno = err;
		flow = NULL;
	}
	pthread_mutex_unlock(&port->lock);
	return flow;
}

static int
ops_check(const struct rte_flow *flow, struct rte_flow_error *error)
{
	return flow->ops == 0 ? 0 : mlxpmd_flow_refuse(error, EBUSY, RTE_FLOW_ERROR_TYPE_HANDLE, flow,
						       "an operation on the flow is not pushed yet");
}

static int
flow_destroy(struct rte_eth_dev *eth_dev, struct rte_flow *flow, struct rte_flow_error *error)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	int rc;

	pthread_mutex_lock(&port->lock);
	rc = ops_check(flow, error);
	if (rc == 0)
		mlxpmd_flow_remove(port, flow);
	pthread_mutex_unlock(&port->lock);
	return rc;
}

int
mlxpmd_flow_actions_update(struct rte_eth_dev *eth_dev, struct rte_flow *flow, const struct rte_flow_action actions[],
			   struct rte_flow_error *error)
{
	const struct rte_flow_attr attr = attr_of(flow);
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	struct mlxpmd_flow_compiled c;
	struct rte_flow *other;
	int rc;

	pthread_mutex_lock(&port->lock);
	mlxpmd_flow_pattern_of(flow, &c.pattern);
	rc = ops_check(flow, error);
	if (rc == 0)
		rc = actions_compile(port, &attr, actions, &c, error);
	if (rc == 0) {
		other = mlxpmd_flow_other(port, flow, &c, error);
		rc = other != NULL ? mlxpmd_flow_update(port, flow, other, error) : -rte_errno;
	}
	pthread_mutex_unlock(&port->lock);
	return rc;
}

static void
flows_remove(struct mlxpmd_port *port)
{
	struct rte_flow *flow;

	/* The last first: in tables of the device that is cheaper. */
	while ((flow = TAILQ_LAST(&port->flows->list, mlxpmd_flow_list)) != NULL)
		mlxpmd_flow_remove(port, flow);
}

static int
flow_flush(struct rte_eth_dev *eth_dev, struct rte_flow_error *error __rte_unused)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);

	pthread_mutex_lock(&port->lock);
	mlxpmd_flow_queues_push(port);
	flows_remove(port);
	pthread_mutex_unlock(&port->lock);
	return 0;
}

int
mlxpmd_flow_read(struct rte_flow *flow, const struct rte_flow_action *action, void *data, struct rte_flow_error *error)
{
	const bool count = action->type == RTE_FLOW_ACTION_TYPE_COUNT, age = action->type == RTE_FLOW_ACTION_TYPE_AGE;
	const bool rss = action->type == RTE_FLOW_ACTION_TYPE_RSS;

	if (!count && !age && !rss)
		return mlxpmd_flow_refuse(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ACTION, action,
					  "of a flow's actions count, age and rss can be queried");
	if ((count && flow->counter == NULL) || (age && flow->age == NULL) ||
	    (rss && (flow->dest == NULL || flow->dest->conf.rss_hf == 0)))
		return mlxpmd_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION, action,
					  "the flow was created without this action");
	if (count)
		return mlxpmd_flow_counter_query(flow->counter, data, error);
	if (age)
		mlxpmd_flow_age_query(flow, data);
	else
		mlxpmd_flow_dest_query(flow->dest, data);
	return 0;
}

static int
flow_query(struct rte_eth_dev *eth_dev, struct rte_flow *flow, const struct rte_flow_action *action, void *data,
	   struct rte_flow_error *error)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	int rc = 0;

	for (; rc == 0 && action->type != RTE_FLOW_ACTION_TYPE_END; action++) {
		if (action->type == RTE_FLOW_ACTION_TYPE_VOID)
			continue;
		pthread_mutex_lock(&port->lock);
		rc = mlxpmd_flow_read(flow, action, data, error);
		pthread_mutex_unlock(&port->lock);
	}
	return rc;
}

static int
flow_isolate(struct rte_eth_dev *eth_dev, int enable, struct rte_flow_error *error)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);

	if (eth_dev->data->dev_started && port->isolated != (enable != 0))
		return mlxpmd_flow_refuse(error, EBUSY, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
					  "isolated mode is changed before the port is started");
	port->isolated = enable != 0;
	return 0;
}

static const struct rte_flow_ops flow_ops = {
	.validate = flow_validate,
	.create = flow_create,
	.destroy = flow_destroy,
	.flush = flow_flush,
	.query = flow_query,
	.isolate = flow_isolate,
	.dev_dump = mlxpmd_flow_dump,
	.get_aged_flows = mlxpmd_flow_aged_get,
	.action_handle_create = mlxpmd_flow_handle_create,
	.action_handle_destroy = mlxpmd_flow_handle_destroy,
	.action_handle_update = mlxpmd_flow_handle_update,
	.action_handle_query = mlxpmd_flow_handle_query,
	.info_get = mlxpmd_flow_info_get,
	.configure = mlxpmd_flow_configure,
	.pattern_template_create = mlxpmd_flow_pattern_template_create,
	.pattern_template_destroy = mlxpmd_flow_pattern_template_destroy,
	.actions_template_create = mlxpmd_flow_actions_template_create,
	.actions_template_destroy = mlxpmd_flow_actions_template_destroy,
	.template_table_create = mlxpmd_flow_table_create,
	.template_table_destroy = mlxpmd_flow_table_destroy,
	MDV_FLOW_OPS_UPDATE(MDV_OP_INIT, mlxpmd_flow_)
	MDV_FLOW_OPS_ASYNC(mlxpmd_flow_async_)
};

int
mlxpmd_flow_ops_get(struct rte_eth_dev *eth_dev __rte_unused, const struct rte_flow_ops **ops)
{
	*ops = &flow_ops;
	return 0;
}

/* Marks and flags are delivered to all applications, as they cost nothing where no packet has them. */
int
mlxpmd_rx_metadata_negotiate(struct rte_eth_dev *eth_dev __rte_unused, uint64_t *features)
{
	*features &= RTE_ETH_RX_METADATA_USER_FLAG | RTE_ETH_RX_METADATA_USER_MARK;
	return 0;
}

/* ------------------------------------------------------------------ with the port */

int
mlxpmd_flows_up(struct mlxpmd_port *port)
{
	struct mlxpmd_flows *flows = calloc(1, sizeof(*flows));

	if (flows == NULL)
		return MLXPMD_FAIL(ENOMEM, "port %u: no memory for flows", port->port_id);
	TAILQ_INIT(&flows->list);
	for (unsigned int i = 0; i < RTE_DIM(flows->groups); i++)
		TAILQ_INIT(&flows->groups[i]);
	TAILQ_INIT(&flows->dests);
	TAILQ_INIT(&flows->handles);
	TAILQ_INIT(&flows->bulks);
	TAILQ_INIT(&flows->pattern_templates);
	TAILQ_INIT(&flows->actions_templates);
	TAILQ_INIT(&flows->tables);
	port->flows = flows;
	MDV_FLOW_FP_OPS_SET(port->eth_dev, mlxpmd_flow_async_);
	return 0;
}

void
mlxpmd_flows_down(struct mlxpmd_port *port)
{
	struct rte_flow_action_handle *handle;

	flows_remove(port);
	mlxpmd_flow_queues_remove(port);
	mlxpmd_flow_templates_remove(port);
	while ((handle = TAILQ_FIRST(&port->flows->handles)) != NULL)
		(void)mlxpmd_flow_handle_destroy(port->eth_dev, handle, NULL);
	free(port->flows);
	port->flows = NULL;
}
