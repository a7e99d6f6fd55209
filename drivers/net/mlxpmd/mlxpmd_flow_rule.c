/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* rte_flow: the rules of flows in the device, and when they are created and destroyed. */

#include "mlxpmd_flow.h"

void
mlxpmd_flow_words(const struct rte_flow *flow, struct mdv_match *m)
{
	memset(m, 0, sizeof(*m));
	for (uint32_t i = 0; i < flow->nb_words; i++) {
		m->mask.dw[flow->words[i].at] = flow->words[i].mask;
		m->value.dw[flow->words[i].at] = flow->words[i].value;
	}
}

void
mlxpmd_flow_match(const struct rte_flow *flow, struct mdv_match *m)
{
	mlxpmd_flow_words(flow, m);
	if (flow->tx_queue == MLXPMD_FLOW_ANY_TXQ)
		return;
	prm_fte_match_set_misc_set_source_sqn(prm_fte_match_param_misc_parameters(&m->mask), UINT32_MAX >> 8);
	prm_fte_match_set_misc_set_source_sqn(prm_fte_match_param_misc_parameters(&m->value), flow->sqn);
}

/**
 * Narrows a flow's match to a traffic class, which is that of the headers in a tunnel if the flow removes it, or hashes
 * these. False if no packet of the class matches.
 */
static bool
match_class(struct mdv_match *m, enum mlxpmd_rss_class class, const struct rte_flow *flow)
{
	const struct mlxpmd_rss_class_match *c = &mlxpmd_rss_classes[class];
	const bool inner = flow->tunnel != NULL || (flow->dest != NULL && flow->dest->conf.inner);
	struct prm_fte_match_set_lyr_2_4 *to_mask = inner ? prm_fte_match_param_inner_headers(&m->mask) :
							    prm_fte_match_param_outer_headers(&m->mask);
	struct prm_fte_match_set_lyr_2_4 *to_value = inner ? prm_fte_match_param_inner_headers(&m->value) :
							     prm_fte_match_param_outer_headers(&m->value);
	struct prm_fte_match_set_lyr_2_4 mask = { { 0 } }, value = { { 0 } };
	bool fits = true;

	if (c->ip_version != 0) {
		prm_fte_match_set_lyr_2_4_set_ip_version(&mask, 0xf);
		prm_fte_match_set_lyr_2_4_set_ip_version(&value, c->ip_version);
	}
	if (c->ip_proto != 0) {
		prm_fte_match_set_lyr_2_4_set_ip_protocol(&mask, 0xff);
		prm_fte_match_set_lyr_2_4_set_ip_protocol(&value, c->ip_proto);
		/* As the port's own rules: fragments, which lack the ports, are hashed by addresses. */
		prm_fte_match_set_lyr_2_4_set_frag(&mask, 1);
	}
	for (unsigned int i = 0; i < RTE_DIM(mask.dw); i++) {
		fits &= ((to_value->dw[i] ^ value.dw[i]) & to_mask->dw[i] & mask.dw[i]) == 0;
		to_mask->dw[i] |= mask.dw[i];
		to_value->dw[i] |= value.dw[i];
	}
	return fits;
}

/** 0; -errno, logged: the device has kept one, which is not the flow's any more. */
static int
rules_destroy(struct rte_flow *flow)
{
	int rc = 0;

	for (unsigned int class = 0; class < MLXPMD_NB_RSS_CLASSES; class++) {
		int ret = mdv_rule_destroy(flow->rule[class]);

		rc = rc == 0 ? ret : rc;
		flow->rule[class] = NULL;
	}
	return rc;
}

static int
rule_create(struct mlxpmd_port *port, struct rte_flow *flow, enum mlxpmd_rss_class class, unsigned int depth,
	    const struct mdv_match *match)
{
	struct mdv_rule_attr attr = {
		.table = flow->group != NULL ? flow->group->table : NULL,
		.egress = flow->egress,
		.priority = flow->priority * MLXPMD_FLOW_DEPTHS + depth,
		.match = match,
		.tir = flow->dest != NULL ? flow->dest->tirs.tir[class] : NULL,
		.jump = flow->jump != NULL ? flow->jump->table : NULL,
		.kernel = flow->target == MLXPMD_TARGET_KERNEL,
		.send = flow->target == MLXPMD_TARGET_SEND,
		.tag = flow->tag,
		.tunnel = flow->tunnel,
		.pop_vlan = flow->pop_vlan,
		.push_vlan = flow->push_vlan,
		.modify = flow->modify,
	};

	if (flow->counter != NULL)
		mlxpmd_flow_counter_rule(flow->counter, &attr);
	flow->rule[class] = mdv_rule_create(port->mdv, &attr);
	return flow->rule[class] != NULL ? 0 : -rte_errno;
}

/** Finds the SQ of the queue whose packets a flow matches; the queue may have been released since. */
static int
sqn_set(struct mlxpmd_port *port, struct rte_flow *flow)
{
	const struct rte_eth_dev_data *data = port->eth_dev->data;

	if (flow->tx_queue == MLXPMD_FLOW_ANY_TXQ)
		return 0;
	if (flow->tx_queue >= data->nb_tx_queues)
		return MLXPMD_FAIL(EINVAL, "port %u: flows match Tx queue %u of %u: destroy them first", port->port_id,
				   flow->tx_queue, data->nb_tx_queues);
	flow->sqn = mlxpmd_queue_at(data, MLXPMD_TX, flow->tx_queue)->hw.wq.number;
	return 0;
}

/** Creates a flow's rules: one, or with RSS one for each class that is hashed in its own way. */
static int
rules_create(struct mlxpmd_port *port, struct rte_flow *flow)
{
	int depth = -1, class_depth = -1, rc;
	struct mdv_match match, narrowed;

	rc = sqn_set(port, flow);
	if (rc != 0)
		return rc;
	mlxpmd_flow_match(flow, &match);
	for (unsigned int class = 0; class < MLXPMD_NB_RSS_CLASSES; class++) {
		if (class != MLXPMD_RSS_CLASS_OTHER && (flow->dest == NULL || flow->dest->tirs.tir[class] == NULL))
			continue;
		narrowed = match;
		if (!match_class(&narrowed, class, flow))
			continue;
		/* A class comes behind the narrower ones, whatever the depth of the pattern. */
		if (mlxpmd_rss_classes[class].depth > class_depth)
			depth = RTE_MAX(depth + 1, RTE_MIN(flow->depth, mlxpmd_rss_classes[class].depth));
		class_depth = mlxpmd_rss_classes[class].depth;
		rc = rule_create(port, flow, class, (unsigned int)depth, &narrowed);
		if (rc != 0) {
			(void)rules_destroy(flow);
			return rc;
		}
		/* The match is the class's own: no packet remains for wider classes. */
		if (memcmp(&match, &narrowed, sizeof(match)) == 0)
			break;
	}
	return 0;
}

/* ------------------------------------------------------------------ the kernel's table for multicast */

bool
mlxpmd_flows_multicast(const struct mlxpmd_port *port)
{
	return port->flows != NULL && port->flows->nb_multicast != 0;
}

bool
mlxpmd_flows_have(const struct mlxpmd_port *port, const struct mdv_match *match)
{
	const struct rte_flow *flow;
	struct mdv_match m;

	if (!mlxpmd_flows_multicast(port))
		return false;
	TAILQ_FOREACH(flow, &port->flows->list, next) {
		if (!flow->multicast)
			continue;
		for (unsigned int class = 0; class < MLXPMD_NB_RSS_CLASSES; class++) {
			mlxpmd_flow_match(flow, &m);
			if (flow->rule[class] != NULL && match_class(&m, class, flow) &&
			    memcmp(&m, match, sizeof(m)) == 0)
				return true;
		}
	}
	return false;
}

int
mlxpmd_flow_apply(struct mlxpmd_port *port, struct rte_flow *flow, bool apply)
{
	int rc, resumed;

	if (!port->flows->applied)
		return 0;
	if (flow->multicast)
		mlxpmd_steer_suspend(port);
	rc = apply ? rules_create(port, flow) : rules_destroy(flow);
	if (!flow->multicast)
		return rc;
	resumed = mlxpmd_steer_resume(port);
	if (rc == 0 && apply && resumed != 0)
		(void)rules_destroy(flow);
	return rc == 0 ? resumed : rc;
}

/* ------------------------------------------------------------------ with the port */

/** Queues that a flow names may have been released since. */
static int
dest_apply(struct mlxpmd_port *port, struct mlxpmd_flow_dest *dest)
{
	const struct rte_eth_dev_data *data = port->eth_dev->data;

	for (uint16_t i = 0; i < dest->conf.nb_queues; i++)
		if (dest->conf.queues[i] >= data->nb_rx_queues)
			return MLXPMD_FAIL(EINVAL, "port %u: flows lead to Rx queue %u of %u: destroy them first",
					   port->port_id, dest->conf.queues[i], data->nb_rx_queues);
	return mlxpmd_tirs_create(port, &dest->conf, &dest->tirs);
}

int
mlxpmd_flows_apply(struct mlxpmd_port *port)
{
	struct mlxpmd_flow_dest *dest;
	struct rte_flow *flow;
	int rc = 0;

	TAILQ_FOREACH(dest, &port->flows->dests, next)
		if (rc == 0)
			rc = dest_apply(port, dest);
	TAILQ_FOREACH(flow, &port->flows->list, next)
		if (rc == 0 && !flow->idle)
			rc = rules_create(port, flow);
	port->flows->applied = rc == 0;
	if (rc != 0)
		mlxpmd_flows_withdraw(port);
	return rc;
}

void
mlxpmd_flows_withdraw(struct mlxpmd_port *port)
{
	struct mlxpmd_flow_dest *dest;
	struct rte_flow *flow;

	TAILQ_FOREACH_REVERSE(flow, &port->flows->list, mlxpmd_flow_list, next)
		(void)rules_destroy(flow);
	TAILQ_FOREACH(dest, &port->flows->dests, next)
		mlxpmd_tirs_destroy(&dest->tirs);
	port->flows->applied = false;
}

int
mlxpmd_flows_replaced(struct mlxpmd_port *port)
{
	struct mlxpmd_flow_dest *dest;
	int rc = 0;

	if (!port->flows->applied)
		return 0;
	TAILQ_FOREACH(dest, &port->flows->dests, next)
		if (rc == 0)
			rc = mlxpmd_tirs_replaced(port, &dest->conf, &dest->tirs);
	return rc;
}

int
mlxpmd_flows_sq_replaced(struct mlxpmd_port *port, uint16_t tx_queue)
{
	const uint32_t sqn = mlxpmd_queue_at(port->eth_dev->data, MLXPMD_TX, tx_queue)->hw.wq.number;
	const unsigned int class = MLXPMD_RSS_CLASS_OTHER; /* Sent packets have no others. */
	struct rte_flow *flow;

	TAILQ_FOREACH(flow, &port->flows->list, next) {
		struct mdv_rule *old = flow->rule[class];
		const uint32_t old_sqn = flow->sqn;
		int rc;

		/* After a failure the queue has its old SQ again, as some flows have. */
		if (flow->tx_queue != tx_queue || old == NULL || old_sqn == sqn)
			continue;
		rc = rules_create(port, flow);
		if (rc != 0) {
			flow->rule[class] = old;
			flow->sqn = old_sqn;
			return rc;
		}
		(void)mdv_rule_destroy(old);
	}
	return 0;
}
