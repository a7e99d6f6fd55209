/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Rules in VFIO mode: flow tables, groups and entries by command (PRM, flow table commands).
 *
 * Each priority that was used has a table, as in the kernel. The first table is the root. A packet that
 * matches no entry of a table continues in the next one, and is dropped after the last. A table has
 * a group of entries for each mask, and further, larger groups if the first is full.
 */

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "mdv_private.h"
#include "mdv_rule_int.h"

/** log2 of the entries of a table: twice the addresses and VLANs of a port. */
#define FW_LOG_ENTRIES 14u
/** Entries of the first group and of the largest group of a mask. */
#define FW_GROUP_MIN 64u
#define FW_GROUP_MAX 1024u
/** Level of priority 0; further priorities have the next levels. */
#define FW_LEVEL 1u
/** modify_field_select: table_miss_action and table_miss_id. */
#define FW_MODIFY_MISS 1
/** op_mod of SET_FLOW_TABLE_ROOT: reset to default. */
#define FW_ROOT_DEFAULT 1

struct fw_group {
	TAILQ_ENTRY(fw_group) next;
	struct mdv_obj *obj; /**< NULL: the device refused to destroy the group. */
	struct prm_fte_match_set_lyr_2_4 mask;
	uint32_t first, entries, users;
	uint64_t used[FW_GROUP_MAX / 64]; /**< One bit per entry. */
};

struct fw_priority {
	TAILQ_ENTRY(fw_priority) next;
	uint16_t priority;
	struct mdv_obj *table;
	TAILQ_HEAD(, fw_group) groups; /**< By their first entry. */
};

struct fw_table {
	struct mdv_rule_table table;
	mdv_rules_root set_root;
	uint8_t log_entries; /**< 0: the capabilities were not read yet. */
	uint8_t levels;
	bool resets_root;
	TAILQ_HEAD(, fw_priority) priorities; /**< The first is the root. */
};

struct fw_rule {
	struct mdv_rule rule;
	struct mdv_obj *entry;
	struct fw_priority *prio;
	struct fw_group *group;
	uint32_t bit;
};

/* ------------------------------------------------------------------ capabilities */

static int
limits_check(struct fw_table *t, const struct prm_flow_table_prop_layout *rx)
{
	struct mdv_dev *dev = t->table.dev;
	unsigned int log_size = prm_flow_table_prop_layout_get_log_max_ft_size(rx);

	if (!prm_flow_table_prop_layout_get_ft_support(rx) ||
	    !prm_flow_table_prop_layout_get_flow_table_modify(rx) || log_size < 6 ||
	    prm_flow_table_prop_layout_get_max_ft_level(rx) <= FW_LEVEL)
		return MDV_FAIL(dev->name, ENOTSUP,
				"no rules: the device's receive tables cannot be made by command "
				"(ft_support %u, flow_table_modify %u, log_max_ft_size %u, max_ft_level %u)",
				prm_flow_table_prop_layout_get_ft_support(rx),
				prm_flow_table_prop_layout_get_flow_table_modify(rx), log_size,
				prm_flow_table_prop_layout_get_max_ft_level(rx));
	t->log_entries = RTE_MIN(log_size, FW_LOG_ENTRIES);
	t->levels = prm_flow_table_prop_layout_get_max_ft_level(rx);
	t->resets_root = prm_flow_table_prop_layout_get_reset_root_to_default(rx);
	return 0;
}

static int
limits_read(struct fw_table *t)
{
	struct prm_query_hca_cap_out *out;
	int ret;

	if (t->log_entries != 0)
		return 0;
	out = mdv_zalloc(t->table.dev->name, sizeof(*out), "steering rules");
	if (out == NULL)
		return -rte_errno;
	ret = mdv_caps_page(t->table.dev, PRM_HCA_CAP_TYPE_FLOW_TABLE, out);
	if (ret == 0)
		ret = limits_check(t, prm_flow_table_nic_cap_flow_table_properties_nic_receive_c(
					      (const struct prm_flow_table_nic_cap *)
						      prm_query_hca_cap_out_capability_c(out)));
	free(out);
	return ret;
}

/* ------------------------------------------------------------------ tables, one per priority */

int
mdv_rules_fw_root(struct mdv_dev *dev, struct mdv_obj *table)
{
	struct prm_set_flow_table_root_in in = { 0 };
	struct prm_set_flow_table_root_out out;

	prm_set_flow_table_root_in_set_opcode(&in, PRM_CMD_OP_SET_FLOW_TABLE_ROOT);
	prm_set_flow_table_root_in_set_table_type(&in, PRM_FLOW_TABLE_TYPE_NIC_RX);
	if (table != NULL)
		prm_set_flow_table_root_in_set_table_id(&in, table->id);
	else
		prm_set_flow_table_root_in_set_op_mod(&in, FW_ROOT_DEFAULT);
	return mdv_cmd(dev, &in, sizeof(in), &out, sizeof(out));
}

static void
set_miss(struct prm_flow_table_context *ctx, const struct fw_priority *next)
{
	if (next == NULL)
		return;
	prm_flow_table_context_set_table_miss_action(ctx, PRM_FLOW_TABLE_MISS_ACTION_FORWARD);
	prm_flow_table_context_set_table_miss_id(ctx, next->table->id);
}

static struct mdv_obj *
table_create(struct fw_table *t, uint16_t priority, const struct fw_priority *next)
{
	struct prm_create_flow_table_in in = { 0 };
	struct prm_flow_table_context *ctx = prm_create_flow_table_in_flow_table_context(&in);

	prm_create_flow_table_in_set_opcode(&in, PRM_CMD_OP_CREATE_FLOW_TABLE);
	prm_create_flow_table_in_set_table_type(&in, PRM_FLOW_TABLE_TYPE_NIC_RX);
	prm_flow_table_context_set_level(ctx, FW_LEVEL + priority);
	prm_flow_table_context_set_log_size(ctx, t->log_entries);
	set_miss(ctx, next);
	return mdv_obj_create(t->table.dev, &in, sizeof(in));
}

/** Connects a table: as the destination of misses of the previous one, or as the root. */
static int
table_enter(struct fw_table *t, struct fw_priority *prev, struct fw_priority *prio)
{
	struct prm_modify_flow_table_in in = { 0 };

	if (prev == NULL)
		return t->set_root(t->table.dev, prio->table);
	prm_modify_flow_table_in_set_opcode(&in, PRM_CMD_OP_MODIFY_FLOW_TABLE);
	prm_modify_flow_table_in_set_table_type(&in, PRM_FLOW_TABLE_TYPE_NIC_RX);
	prm_modify_flow_table_in_set_table_id(&in, prev->table->id);
	prm_modify_flow_table_in_set_modify_field_select(&in, FW_MODIFY_MISS);
	set_miss(prm_modify_flow_table_in_flow_table_context(&in), prio);
	return mdv_obj_modify(prev->table, &in, sizeof(in));
}

static struct fw_priority *
priority_new(struct fw_table *t, uint16_t priority, struct fw_priority *prev,
	     struct fw_priority *next)
{
	struct fw_priority *p = mdv_zalloc(t->table.dev->name, sizeof(*p), "steering rules");

	if (p == NULL)
		return NULL;
	p->priority = priority;
	TAILQ_INIT(&p->groups);
	p->table = table_create(t, priority, next);
	if (p->table == NULL || table_enter(t, prev, p) != 0) {
		MDV_UNDO(mdv_obj_destroy(p->table));
		free(p);
		return NULL;
	}
	if (prev != NULL)
		TAILQ_INSERT_AFTER(&t->priorities, prev, p, next);
	else
		TAILQ_INSERT_HEAD(&t->priorities, p, next);
	return p;
}

static struct fw_priority *
priority_get(struct fw_table *t, uint16_t priority)
{
	struct fw_priority *p, *prev = NULL;

	if (limits_read(t) != 0)
		return NULL;
	if (FW_LEVEL + priority >= t->levels)
		return MDV_FAIL_NULL(t->table.dev->name, EINVAL, "a rule's priority is 0 to %u here, not %u",
				     t->levels - FW_LEVEL - 1, priority);
	TAILQ_FOREACH(p, &t->priorities, next) {
		if (p->priority == priority)
			return p;
		if (p->priority > priority)
			break;
		prev = p;
	}
	return priority_new(t, priority, prev, p);
}

/* ------------------------------------------------------------------ groups, by mask */

/** First gap of that many entries; *after is the group before it. UINT32_MAX: none. */
static uint32_t
gap_find(const struct fw_table *t, const struct fw_priority *p, uint32_t entries,
	 struct fw_group **after)
{
	uint32_t at = 0;
	struct fw_group *g;

	*after = NULL;
	TAILQ_FOREACH(g, &p->groups, next) {
		if (g->first - at >= entries)
			return at;
		at = g->first + g->entries;
		*after = g;
	}
	return (1u << t->log_entries) - at >= entries ? at : UINT32_MAX;
}

static struct mdv_obj *
group_create(struct fw_table *t, const struct fw_priority *p, const struct fw_group *g)
{
	static const struct prm_fte_match_set_lyr_2_4 nothing;
	struct prm_create_flow_group_in in = { 0 };

	prm_create_flow_group_in_set_opcode(&in, PRM_CMD_OP_CREATE_FLOW_GROUP);
	prm_create_flow_group_in_set_table_type(&in, PRM_FLOW_TABLE_TYPE_NIC_RX);
	prm_create_flow_group_in_set_table_id(&in, p->table->id);
	prm_create_flow_group_in_set_start_flow_index(&in, g->first);
	prm_create_flow_group_in_set_end_flow_index(&in, g->first + g->entries - 1);
	/* match_criteria_enable must not include headers with an empty mask. */
	if (memcmp(&g->mask, &nothing, sizeof(nothing)) != 0)
		prm_create_flow_group_in_set_match_criteria_enable(
			&in, PRM_MATCH_CRITERIA_ENABLE_OUTER);
	*prm_fte_match_param_outer_headers(prm_create_flow_group_in_match_criteria(&in)) = g->mask;
	return mdv_obj_create(t->table.dev, &in, sizeof(in));
}

static struct fw_group *
group_new(struct fw_table *t, struct fw_priority *p, const struct prm_fte_match_set_lyr_2_4 *mask,
	  uint32_t entries)
{
	struct fw_group *g, *after;
	uint32_t first = gap_find(t, p, entries, &after);

	if (first == UINT32_MAX && entries > FW_GROUP_MIN) {
		entries = FW_GROUP_MIN;
		first = gap_find(t, p, entries, &after);
	}
	if (first == UINT32_MAX)
		return MDV_FAIL_NULL(t->table.dev->name, ENOSPC, "no room for more rules of priority %u", p->priority);
	g = mdv_zalloc(t->table.dev->name, sizeof(*g), "steering rules");
	if (g == NULL)
		return NULL;
	g->mask = *mask;
	g->first = first;
	g->entries = entries;
	g->obj = group_create(t, p, g);
	if (g->obj == NULL) {
		free(g);
		return NULL;
	}
	if (after != NULL)
		TAILQ_INSERT_AFTER(&p->groups, after, g, next);
	else
		TAILQ_INSERT_HEAD(&p->groups, g, next);
	return g;
}

/** A group of the mask that has a free entry. */
static struct fw_group *
group_get(struct fw_table *t, struct fw_priority *p, const struct prm_fte_match_set_lyr_2_4 *mask)
{
	uint32_t entries = FW_GROUP_MIN;
	struct fw_group *g;

	TAILQ_FOREACH(g, &p->groups, next) {
		if (g->obj == NULL || memcmp(&g->mask, mask, sizeof(*mask)) != 0)
			continue;
		if (g->users < g->entries)
			return g;
		entries = RTE_MAX(entries, RTE_MIN(2 * g->entries, FW_GROUP_MAX));
	}
	return group_new(t, p, mask, entries);
}

static void
group_put(struct fw_priority *p, struct fw_group *g)
{
	if (g->users != 0)
		return;
	if (mdv_obj_destroy(g->obj) != 0) {
		/* The index stays in use. */
		g->obj = NULL;
		return;
	}
	TAILQ_REMOVE(&p->groups, g, next);
	free(g);
}

/* ------------------------------------------------------------------ entries */

static uint32_t
bit_free(const struct fw_group *g)
{
	uint32_t i = 0;

	while (g->used[i] == UINT64_MAX)
		i++;
	return i * 64 + (uint32_t)__builtin_ctzll(~g->used[i]);
}

static struct mdv_obj *
entry_create(struct fw_table *t, const struct fw_rule *r, const struct mdv_rule_attr *attr,
	     const struct prm_fte_match_set_lyr_2_4 *value)
{
	struct {
		struct prm_set_fte_in in;
		struct prm_dest_format_struct dest;
	} cmd;
	struct prm_flow_context *ctx = prm_set_fte_in_flow_context(&cmd.in);
	size_t bytes = sizeof(cmd.in);

	memset(&cmd, 0, sizeof(cmd));
	prm_set_fte_in_set_opcode(&cmd.in, PRM_CMD_OP_SET_FLOW_TABLE_ENTRY);
	prm_set_fte_in_set_table_type(&cmd.in, PRM_FLOW_TABLE_TYPE_NIC_RX);
	prm_set_fte_in_set_table_id(&cmd.in, r->prio->table->id);
	prm_set_fte_in_set_flow_index(&cmd.in, r->group->first + r->bit);
	prm_flow_context_set_group_id(ctx, r->group->obj->id);
	prm_flow_context_set_action(ctx, PRM_FLOW_ACTION_DROP);
	*prm_fte_match_param_outer_headers(prm_flow_context_match_value(ctx)) = *value;
	if (attr->tir != NULL) {
		prm_flow_context_set_action(ctx, PRM_FLOW_ACTION_FWD_DEST);
		prm_flow_context_set_flow_tag(ctx, attr->tag);
		prm_flow_context_set_destination_list_size(ctx, 1);
		prm_dest_format_struct_set_destination_type(&cmd.dest, PRM_FLOW_DEST_TYPE_TIR);
		prm_dest_format_struct_set_destination_id(&cmd.dest, attr->tir->id);
		bytes = sizeof(cmd);
	}
	return mdv_obj_create(t->table.dev, &cmd, bytes);
}

static struct mdv_rule *
fw_create(struct mdv_rule_table *table, const struct mdv_rule_attr *attr,
	  const struct mdv_match *match)
{
	struct fw_table *t = (struct fw_table *)table;
	struct fw_rule *r = mdv_zalloc(table->dev->name, sizeof(*r), "steering rules");

	if (r == NULL)
		return NULL;
	r->prio = priority_get(t, attr->priority);
	if (r->prio != NULL)
		r->group = group_get(t, r->prio, &match->mask);
	if (r->group != NULL) {
		r->bit = bit_free(r->group);
		r->entry = entry_create(t, r, attr, &match->value);
	}
	if (r->entry != NULL) {
		r->group->used[r->bit / 64] |= RTE_BIT64(r->bit % 64);
		r->group->users++;
		return &r->rule;
	}
	if (r->group != NULL)
		MDV_UNDO(group_put(r->prio, r->group));
	free(r);
	return NULL;
}

static int
fw_destroy(struct mdv_rule *base)
{
	struct fw_rule *r = (struct fw_rule *)base;
	int ret = mdv_obj_destroy(r->entry);

	/* The device kept the entry: neither its index nor its group is free. */
	if (ret == 0) {
		r->group->used[r->bit / 64] &= ~RTE_BIT64(r->bit % 64);
		r->group->users--;
		group_put(r->prio, r->group);
	}
	free(r);
	return ret;
}

/** Destroy from the root on: each table refers to the next one. The root may be destroyed as it is. */
static void
fw_close(struct mdv_rule_table *table)
{
	struct fw_table *t = (struct fw_table *)table;
	struct fw_priority *p;
	struct fw_group *g;

	if (!TAILQ_EMPTY(&t->priorities) && t->resets_root && !mdv_removed(table->dev))
		(void)t->set_root(table->dev, NULL);
	while ((p = TAILQ_FIRST(&t->priorities)) != NULL) {
		TAILQ_REMOVE(&t->priorities, p, next);
		while ((g = TAILQ_FIRST(&p->groups)) != NULL) {
			TAILQ_REMOVE(&p->groups, g, next);
			(void)mdv_obj_destroy(g->obj);
			free(g);
		}
		(void)mdv_obj_destroy(p->table);
		free(p);
	}
}

static const struct mdv_rule_ops fw_ops = {
	.create = fw_create,
	.destroy = fw_destroy,
	.close = fw_close,
};

struct mdv_rule_table *
mdv_rules_fw_new(struct mdv_dev *dev, mdv_rules_root set_root)
{
	struct fw_table *t = mdv_zalloc(dev->name, sizeof(*t), "steering rules");

	if (t == NULL)
		return NULL;
	t->table.dev = dev;
	t->table.ops = &fw_ops;
	t->set_root = set_root;
	TAILQ_INIT(&t->priorities);
	return &t->table;
}
