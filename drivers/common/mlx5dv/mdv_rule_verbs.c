/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Rules in verbs mode: flows of mlx5dv; rules with equal masks share a matcher. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include <rte_ether.h>

#include "mdv_private.h"
#include "mdv_rule_int.h"

/** Outer headers only: the shortest mask that all kernels accept. */
#define MDV_MATCH_BYTES PRM_FTE_MATCH_SET_LYR_2_4_BYTES
/** With the source of frames on the uplink of a switchdev PF. */
#define MDV_MATCH_SOURCE_BYTES (sizeof(struct match_param) - sizeof(size_t))

/** As struct mlx5dv_flow_match_parameters: size and bytes in device format. */
struct match_param {
	size_t match_sz;
	struct prm_fte_match_set_lyr_2_4 outer;
	struct prm_fte_match_set_misc misc;
	struct prm_fte_match_set_lyr_2_4 inner;
	struct prm_fte_match_set_misc2 misc2;
};
_Static_assert(offsetof(struct match_param, outer) ==
		       offsetof(struct mlx5dv_flow_match_parameters, match_buf),
	       "match_param must read as mlx5dv_flow_match_parameters");

struct matcher {
	TAILQ_ENTRY(matcher) next;
	struct mlx5dv_flow_matcher *handle;
	struct match_param mask;
	uint16_t priority;
	unsigned int users;
};

struct verbs_table {
	struct mdv_rule_table table;
	TAILQ_HEAD(, matcher) matchers;
};

struct verbs_rule {
	struct mdv_rule rule;
	struct matcher *matcher;
	struct ibv_flow *flow;
};

/** Destroys the matcher with its last rule; a failure is only logged. Lock held. */
static void
matcher_put(struct verbs_table *t, struct matcher *m)
{
	struct mdv_dev *dev = t->table.dev;
	int err;

	if (--m->users > 0)
		return;
	TAILQ_REMOVE(&t->matchers, m, next);
	err = MDV_RUN_DESTROY(dev, mlx5dv_destroy_flow_matcher, m->handle);
	if (err != 0)
		MDV_LOG_ERR(dev, "mlx5dv_destroy_flow_matcher of priority %u failed: %s",
			    m->priority, mdv_errno_name(err));
	free(m);
}

static struct mlx5dv_flow_matcher *
matcher_handle(struct mdv_dev *dev, struct match_param *mask, uint8_t source, uint16_t priority)
{
	static const struct prm_fte_match_set_lyr_2_4 nothing;
	bool any = memcmp(&mask->outer, &nothing, sizeof(nothing)) == 0;
	struct mlx5dv_flow_matcher_attr attr = {
		.type = IBV_FLOW_ATTR_NORMAL,
		.priority = priority,
		/* match_criteria_enable must not include headers with an empty mask. */
		.match_criteria_enable = source | (any ? 0 : PRM_MATCH_CRITERIA_ENABLE_OUTER),
		.match_mask = (struct mlx5dv_flow_match_parameters *)mask,
	};
	struct mlx5dv_flow_matcher *handle = MDV_RETRY_PTR(mlx5dv_create_flow_matcher(dev->ibv, &attr));

	if (handle == NULL)
		(void)MDV_FAIL(dev->name, errno, "mlx5dv_create_flow_matcher of priority %u failed: %s",
			       priority, mdv_errno_name(errno));
	return handle;
}

/** Finds or creates the matcher of a mask and priority. Lock held. */
static struct matcher *
matcher_get(struct verbs_table *t, const struct match_param *mask, uint8_t source, uint16_t priority)
{
	struct mdv_dev *dev = t->table.dev;
	struct matcher *m;

	TAILQ_FOREACH(m, &t->matchers, next) {
		if (m->priority != priority || memcmp(&m->mask, mask, sizeof(*mask)) != 0)
			continue;
		m->users++;
		return m;
	}
	m = mdv_zalloc(dev->name, sizeof(*m), "a matcher");
	if (m == NULL)
		return NULL;
	m->mask = *mask;
	m->priority = priority;
	m->users = 1;
	m->handle = matcher_handle(dev, &m->mask, source, priority);
	if (m->handle == NULL) {
		free(m);
		return NULL;
	}
	TAILQ_INSERT_TAIL(&t->matchers, m, next);
	return m;
}

/** Text for log lines: "priority 1, dmac 01:00:5e:00:00:00, ethertype 0x800, ...". */
static void
rule_describe(const struct mdv_rule_attr *attr, char *text, size_t bytes)
{
	int n = snprintf(text, bytes, "priority %u", attr->priority);

	if (attr->match_dmac)
		n += snprintf(text + n, bytes - n, ", dmac " RTE_ETHER_ADDR_PRT_FMT,
			      attr->dmac[0], attr->dmac[1], attr->dmac[2], attr->dmac[3],
			      attr->dmac[4], attr->dmac[5]);
	n += snprintf(text + n, bytes - n, ", ethertype 0x%x, IPv%u, protocol %u", attr->ethertype,
		      attr->ip_version, attr->ip_proto);
	if (attr->match_vlan)
		n += snprintf(text + n, bytes - n, ", VLAN %u", attr->vlan_id);
	if (attr->tir != NULL)
		snprintf(text + n, bytes - n, ", tirn 0x%x", attr->tir->id);
	else
		snprintf(text + n, bytes - n, ", drop");
}

/*
 * Reasons that an administrator can change: mlx5_ib (fs.c) requires CAP_NET_RAW; mlx5_core (fs_core.c) has one entry
 * for rules of equal match, which must agree in tag and drop (add_rule_fg()), and a limit on groups of masks.
 */
static const char *
refusal_hint(int err)
{
	switch (err) {
	case EPERM:
		return " (CAP_NET_RAW is missing: run as root, or setcap cap_net_raw+ep PROGRAM)";
	case EEXIST:
		return " (another program has this traffic)";
	case ENOSPC:
		return " (no room beside the rules of other programs)";
	default:
		return "";
	}
}

static struct ibv_flow *
flow_create(struct mdv_dev *dev, const struct mdv_rule_attr *attr, struct matcher *m,
	    struct match_param *value)
{
	struct mlx5dv_flow_action_attr actions[2];
	char text[160];
	struct ibv_flow *flow;
	size_t n = 0;
	int err;

	if (attr->tir != NULL)
		actions[n++] = (struct mlx5dv_flow_action_attr){
			.type = MLX5DV_FLOW_ACTION_DEST_DEVX, .obj = attr->tir->devx };
	else
		actions[n++] = (struct mlx5dv_flow_action_attr){ .type = MLX5DV_FLOW_ACTION_DROP };
	if (attr->tag != 0 && attr->tir != NULL)
		actions[n++] = (struct mlx5dv_flow_action_attr){
			.type = MLX5DV_FLOW_ACTION_TAG, .tag_value = attr->tag };
	flow = MDV_RETRY_PTR(mlx5dv_create_flow(m->handle, (struct mlx5dv_flow_match_parameters *)value, n,
						actions));
	if (flow != NULL)
		return flow;
	err = errno;
	rule_describe(attr, text, sizeof(text));
	return MDV_FAIL_NULL(dev->name, err, "mlx5dv_create_flow(%s) failed: %s%s", text, mdv_errno_name(err),
			     refusal_hint(err));
}

static struct mdv_rule *
verbs_create(struct mdv_rule_table *table, const struct mdv_rule_attr *attr,
	     const struct mdv_match *match)
{
	struct match_param mask = { .match_sz = MDV_MATCH_BYTES, .outer = match->mask };
	struct match_param value = { .match_sz = MDV_MATCH_BYTES, .outer = match->value };
	struct verbs_table *t = (struct verbs_table *)table;
	struct verbs_rule *rule = mdv_zalloc(table->dev->name, sizeof(*rule), "a rule");
	uint8_t source = mdv_uplink_match(table->dev, &mask.misc, &value.misc, &mask.misc2, &value.misc2);

	if (rule == NULL)
		return NULL;
	if (source != 0)
		mask.match_sz = value.match_sz = MDV_MATCH_SOURCE_BYTES;
	rule->matcher = matcher_get(t, &mask, source, attr->priority);
	if (rule->matcher != NULL) {
		rule->flow = flow_create(table->dev, attr, rule->matcher, &value);
		if (rule->flow != NULL)
			return &rule->rule;
		MDV_UNDO(matcher_put(t, rule->matcher));
	}
	free(rule);
	return NULL;
}

static int
verbs_destroy(struct mdv_rule *base)
{
	struct verbs_rule *rule = (struct verbs_rule *)base;
	struct verbs_table *t = (struct verbs_table *)base->table;
	int err = MDV_RUN_DESTROY(t->table.dev, ibv_destroy_flow, rule->flow);

	if (err != 0)
		MDV_LOG_ERR(t->table.dev, "ibv_destroy_flow failed, the rule stays behind -> %s",
			    mdv_errno_name(err));
	matcher_put(t, rule->matcher);
	free(rule);
	return err != 0 ? mdv_fail(err) : 0;
}

static const struct mdv_rule_ops verbs_ops = {
	.create = verbs_create,
	.destroy = verbs_destroy,
};

struct mdv_rule_table *
mdv_rules_verbs_new(struct mdv_dev *dev)
{
	struct verbs_table *t = mdv_zalloc(dev->name, sizeof(*t), "steering rules");

	if (t == NULL)
		return NULL;
	t->table.dev = dev;
	t->table.ops = &verbs_ops;
	TAILQ_INIT(&t->matchers);
	return &t->table;
}
