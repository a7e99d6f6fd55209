/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Rules in verbs mode: flows of mlx5dv; rules with equal masks share a matcher. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include <prm_decode.h>
#include <rte_common.h>

#include "mdv_private.h"
#include "mdv_rule_int.h"

/** As struct mlx5dv_flow_match_parameters: size and bytes in device format. */
struct match_param {
	size_t match_sz;
	struct prm_fte_match_param param;
};
_Static_assert(offsetof(struct match_param, param) == offsetof(struct mlx5dv_flow_match_parameters, match_buf),
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
matcher_handle(struct verbs_table *t, struct match_param *mask, uint16_t priority)
{
	struct mdv_dev *dev = t->table.dev;
	struct mlx5dv_flow_matcher_attr attr = {
		.type = IBV_FLOW_ATTR_NORMAL,
		.priority = priority,
		.match_criteria_enable = mdv_match_criteria(&mask->param),
		.match_mask = (struct mlx5dv_flow_match_parameters *)mask,
		.comp_mask = t->table.egress ? MLX5DV_FLOW_MATCHER_MASK_FT_TYPE : 0,
		.ft_type = MLX5DV_FLOW_TABLE_TYPE_NIC_TX,
	};
	struct mlx5dv_flow_matcher *handle = MDV_RETRY_PTR(dev, mlx5dv_create_flow_matcher(dev->ibv, &attr));

	if (handle == NULL)
		(void)MDV_FAIL(dev->name, errno, "mlx5dv_create_flow_matcher of priority %u failed: %s",
			       priority, mdv_errno_name(errno));
	return handle;
}

/** Finds or creates the matcher of a mask and priority. Lock held. */
static struct matcher *
matcher_get(struct verbs_table *t, const struct match_param *mask, uint16_t priority)
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
	m->handle = matcher_handle(t, &m->mask, priority);
	if (m->handle == NULL) {
		free(m);
		return NULL;
	}
	TAILQ_INSERT_TAIL(&t->matchers, m, next);
	return m;
}

/** Text for log lines, as far as it fits. */
struct rule_text {
	char text[256];
	size_t n;
};

static void
text_add(struct rule_text *t, const char *name, uint64_t value)
{
	int n = snprintf(t->text + t->n, sizeof(t->text) - t->n, "%s%s 0x%" PRIx64, t->n != 0 ? ", " : "", name, value);

	t->n = RTE_MIN(t->n + (size_t)RTE_MAX(n, 0), sizeof(t->text) - 1);
}

static void
text_field(void *arg, const char *path, uint64_t value, const char *enum_name)
{
	RTE_SET_USED(enum_name);
	text_add(arg, path, value);
}

/** "priority 0x1, outer_headers.dmac_47_16 0x1005e00, ..., tirn 0x12". */
static void
rule_describe(const struct mdv_rule_attr *attr, const struct match_param *value, struct rule_text *t)
{
	*t = (struct rule_text){ .n = 0 };
	text_add(t, "priority", attr->priority);
	prm_decode(&prm_layout_fte_match_param, &value->param, sizeof(value->param), true, text_field, t);
	if (attr->tir != NULL)
		text_add(t, "tirn", attr->tir->id);
	else if (attr->jump != NULL)
		text_add(t, "table", mdv_rules_fw_obj(attr->jump)->id);
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

static size_t
actions_fill(const struct mdv_rule_attr *attr, struct mlx5dv_flow_action_attr *action)
{
	const struct mdv_obj *dest = attr->jump != NULL ? mdv_rules_fw_obj(attr->jump) : attr->tir;
	const struct mdv_change *changes[] = { attr->tunnel, attr->modify };
	size_t n = 0;

	if (dest != NULL)
		action[n++] = (struct mlx5dv_flow_action_attr){ .type = MLX5DV_FLOW_ACTION_DEST_DEVX,
								.obj = dest->devx };
	else if (!attr->send)
		action[n++] = (struct mlx5dv_flow_action_attr){ .type = attr->kernel ?
									MLX5DV_FLOW_ACTION_DEFAULT_MISS :
									MLX5DV_FLOW_ACTION_DROP };
	if (attr->tag != 0 && dest != NULL)
		action[n++] = (struct mlx5dv_flow_action_attr){ .type = MLX5DV_FLOW_ACTION_TAG,
								.tag_value = attr->tag };
	if (attr->counter != NULL)
		action[n++] = (struct mlx5dv_flow_action_attr){ .type = MLX5DV_FLOW_ACTION_COUNTERS_DEVX,
								.obj = attr->counter->devx };
	for (unsigned int i = 0; i < RTE_DIM(changes); i++)
		if (changes[i] != NULL && (dest != NULL || attr->send))
			action[n++] = (struct mlx5dv_flow_action_attr){ .type = MLX5DV_FLOW_ACTION_IBV_FLOW_ACTION,
									.action = changes[i]->verbs };
	return n;
}

static struct ibv_flow *
flow_create(struct mdv_dev *dev, const struct mdv_rule_attr *attr, struct matcher *m,
	    struct match_param *value)
{
	struct mlx5dv_flow_action_attr actions[5];
	size_t n = actions_fill(attr, actions);
	struct rule_text text;
	struct ibv_flow *flow;
	int err;

	flow = MDV_RETRY_PTR(dev, mlx5dv_create_flow(m->handle, (struct mlx5dv_flow_match_parameters *)value, n,
						actions));
	if (flow != NULL)
		return flow;
	err = errno;
	rule_describe(attr, value, &text);
	return MDV_FAIL_NULL(dev->name, err, "mlx5dv_create_flow(%s) failed: %s%s", text.text, mdv_errno_name(err),
			     refusal_hint(err));
}

/** The shortest match parameters that have all headers of the mask, because older kernels know fewer of them. */
static size_t
match_bytes(const struct prm_fte_match_param *mask)
{
	uint8_t criteria = mdv_match_criteria(mask);

	return criteria == 0 ? PRM_FTE_MATCH_SET_LYR_2_4_BYTES :
			       (size_t)rte_fls_u32(criteria) * PRM_FTE_MATCH_SET_LYR_2_4_BYTES;
}

static struct mdv_rule *
verbs_create(struct mdv_rule_table *table, const struct mdv_rule_attr *attr,
	     const struct mdv_match *match)
{
	struct match_param mask = { .param = match->mask };
	struct match_param value = { .param = match->value };
	struct verbs_table *t = (struct verbs_table *)table;
	struct verbs_rule *rule;

	if (attr->pop_vlan || attr->push_vlan != 0)
		return MDV_FAIL_NULL(table->dev->name, ENOTSUP, "the kernel's rules pop and push no VLAN tags");
	rule = mdv_zalloc(table->dev->name, sizeof(*rule), "a rule");
	if (rule == NULL)
		return NULL;
	if (!table->egress)
		mdv_uplink_match(table->dev, &mask.param, &value.param);
	mask.match_sz = value.match_sz = match_bytes(&mask.param);
	rule->matcher = matcher_get(t, &mask, attr->priority);
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
mdv_rules_verbs_new(struct mdv_dev *dev, bool egress)
{
	struct verbs_table *t = mdv_zalloc(dev->name, sizeof(*t), "steering rules");

	if (t == NULL)
		return NULL;
	t->table.dev = dev;
	t->table.ops = &verbs_ops;
	t->table.egress = egress;
	TAILQ_INIT(&t->matchers);
	return &t->table;
}
