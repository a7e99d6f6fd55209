/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Rules in flow tables of this driver: tables, groups and entries by command (PRM, flow table commands). The root in
 * VFIO mode, and all other tables in both modes.
 *
 * A table has a group of entries for each mask and priority, and further, larger groups if the first is full. The
 * device compares a packet with the groups in the order of their entries, and the first match applies (mlx5_core
 * relies on it: en_fs.c, mlx5e_create_ttc_table_groups()). Therefore groups are placed in the order of their
 * priorities.
 */

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include <rte_byteorder.h>

#include "mdv_private.h"
#include "mdv_rule_int.h"

/** log2 of the entries of a table; the device uses memory for groups only (mlx5_core has tables of 2^22 entries). */
#define FW_LOG_ENTRIES 20u
/** Entries of the first group and of the largest group of a mask. */
#define FW_GROUP_MIN 64u
#define FW_GROUP_MAX 65536u
#define FW_ROOT_LEVEL 1u
/** The part of a table, as a divisor, that each of the first priorities has at first. */
#define FW_PRIORITY_PARTS 32u
/** op_mod of SET_FLOW_TABLE_ROOT: reset to default. */
#define FW_ROOT_DEFAULT 1

struct fw_group {
	TAILQ_ENTRY(fw_group) next;
	struct mdv_obj *obj; /**< NULL: the device refused to destroy the group. */
	struct prm_fte_match_param mask;
	uint16_t priority;
	uint32_t first, entries, users;
	uint32_t full_words; /**< All entries of that many words are used. */
	uint64_t used[];     /**< One bit per entry. */
};

struct fw_table {
	struct mdv_rule_table table;
	mdv_rules_root set_root; /**< NULL: not a root. */
	struct mdv_obj *obj;	 /**< NULL: not created yet. */
	uint8_t log_entries;
	uint8_t level;
	bool resets_root;
	bool any_level; /**< Rules can lead to tables of any level. */
	bool decap, reformat; /**< Its entries change tunnels: without and with a context. */
	TAILQ_HEAD(, fw_group) groups; /**< By their first entry, which is the order of their priorities. */
};

struct fw_rule {
	struct mdv_rule rule;
	struct mdv_obj *entry;
	struct fw_group *group;
	uint32_t bit;
};

/* ------------------------------------------------------------------ capabilities */

static int
limits_check(struct fw_table *t, const struct prm_flow_table_prop_layout *cap)
{
	struct mdv_dev *dev = t->table.dev;
	const bool tunnels = !mdv_own(dev)->switchdev;
	unsigned int log_size = prm_flow_table_prop_layout_get_log_max_ft_size(cap);

	if (!prm_flow_table_prop_layout_get_ft_support(cap) || log_size < 6 ||
	    prm_flow_table_prop_layout_get_max_ft_level(cap) <= t->level)
		return MDV_FAIL(dev->name, ENOTSUP,
				"no rules: the device's %s tables cannot be made by command "
				"(ft_support %u, log_max_ft_size %u, max_ft_level %u, needed is more than %u)",
				t->table.egress ? "send" : "receive",
				prm_flow_table_prop_layout_get_ft_support(cap), log_size,
				prm_flow_table_prop_layout_get_max_ft_level(cap), t->level);
	t->log_entries = RTE_MIN(log_size, FW_LOG_ENTRIES);
	t->any_level = prm_flow_table_prop_layout_get_ignore_flow_level(cap);
	t->resets_root = prm_flow_table_prop_layout_get_reset_root_to_default(cap);
	/* As mlx5_ib (Linux, hw/mlx5/fs.c, _get_flow_table()): not if the FDB can have encapsulation. */
	t->decap = prm_flow_table_prop_layout_get_decap(cap) && tunnels;
	t->reformat = (t->table.egress ? prm_flow_table_prop_layout_get_reformat(cap) :
					 prm_flow_table_prop_layout_get_reformat_l3_tunnel_to_l2(cap)) && tunnels;
	return 0;
}

static int
limits_read(struct fw_table *t)
{
	const struct prm_flow_table_nic_cap *cap;
	struct prm_query_hca_cap_out *out;
	int ret;

	out = mdv_zalloc(t->table.dev->name, sizeof(*out), "steering rules");
	if (out == NULL)
		return -rte_errno;
	ret = mdv_caps_page(t->table.dev, PRM_HCA_CAP_TYPE_FLOW_TABLE, out);
	cap = (const struct prm_flow_table_nic_cap *)prm_query_hca_cap_out_capability_c(out);
	if (ret == 0)
		ret = limits_check(t, t->table.egress ?
				      prm_flow_table_nic_cap_flow_table_properties_nic_transmit_c(cap) :
				      prm_flow_table_nic_cap_flow_table_properties_nic_receive_c(cap));
	free(out);
	return ret;
}

/* ------------------------------------------------------------------ tables */

static unsigned int
type_of(bool egress)
{
	return egress ? PRM_FLOW_TABLE_TYPE_NIC_TX : PRM_FLOW_TABLE_TYPE_NIC_RX;
}

int
mdv_rules_fw_root(struct mdv_dev *dev, bool egress, struct mdv_obj *table)
{
	struct prm_set_flow_table_root_in in = { 0 };
	struct prm_set_flow_table_root_out out;

	prm_set_flow_table_root_in_set_opcode(&in, PRM_CMD_OP_SET_FLOW_TABLE_ROOT);
	prm_set_flow_table_root_in_set_table_type(&in, type_of(egress));
	if (table != NULL)
		prm_set_flow_table_root_in_set_table_id(&in, table->id);
	else
		prm_set_flow_table_root_in_set_op_mod(&in, FW_ROOT_DEFAULT);
	return mdv_cmd(dev, &in, sizeof(in), &out, sizeof(out));
}

static struct mdv_obj *
table_create(struct fw_table *t)
{
	struct prm_create_flow_table_in in = { 0 };
	struct prm_flow_table_context *ctx = prm_create_flow_table_in_flow_table_context(&in);

	prm_create_flow_table_in_set_opcode(&in, PRM_CMD_OP_CREATE_FLOW_TABLE);
	prm_create_flow_table_in_set_table_type(&in, type_of(t->table.egress));
	prm_flow_table_context_set_level(ctx, t->level);
	prm_flow_table_context_set_log_size(ctx, t->log_entries);
	prm_flow_table_context_set_decap_en(ctx, t->decap);
	prm_flow_table_context_set_reformat_en(ctx, t->reformat);
	return mdv_obj_create(t->table.dev, &in, sizeof(in));
}

/** Creates the table, at the first rule; a root becomes the root then. root_put() is its counterpart. */
static int
table_need(struct fw_table *t)
{
	if (t->obj != NULL)
		return 0;
	if (limits_read(t) != 0)
		return -rte_errno;
	t->obj = table_create(t);
	if (t->obj == NULL)
		return -rte_errno;
	if (t->set_root == NULL || t->set_root(t->table.dev, t->table.egress, t->obj) == 0)
		return 0;
	MDV_UNDO(mdv_obj_destroy(t->obj));
	t->obj = NULL;
	return -rte_errno;
}

/* The root may be destroyed as it is, if the device cannot reset it. */
static void
table_destroy(struct fw_table *t)
{
	struct mdv_dev *dev = t->table.dev;

	if (t->obj == NULL)
		return;
	if (t->set_root != NULL && t->resets_root && !mdv_removed(dev))
		(void)t->set_root(dev, t->table.egress, NULL);
	(void)mdv_obj_destroy(t->obj);
	t->obj = NULL;
}

/** Destroys a root with its last rule. While the device keeps an entry or a group of it, it stays for later rules. */
static void
root_put(struct fw_table *t)
{
	if (t->set_root != NULL && TAILQ_EMPTY(&t->groups))
		table_destroy(t);
}

/* ------------------------------------------------------------------ groups, by priority and mask */

/**
 * Where the entries of a priority should be: far enough from the one before to grow. Its groups may be anywhere between
 * those of its neighbours.
 */
static uint32_t
priority_start(const struct fw_table *t, uint16_t priority)
{
	const uint32_t size = 1u << t->log_entries, part = size / FW_PRIORITY_PARTS, most = FW_PRIORITY_PARTS / 2;

	if (priority < most)
		return priority * part;
	return size / 2 + (uint32_t)((uint64_t)(size / 2) * (priority - most) / (UINT16_MAX + 1u));
}

/** Place of a group to be created. */
struct fw_place {
	uint32_t first;
	uint32_t distance; /**< From priority_start(); UINT32_MAX: there is no place. */
	struct fw_group *after;
};

/** Uses the gap from..to if it is nearer. */
static void
place_try(struct fw_place *p, uint32_t from, uint32_t to, uint32_t entries, uint32_t start, struct fw_group *after)
{
	uint32_t first, distance;

	if (to - from < entries)
		return;
	first = RTE_MIN(RTE_MAX(from, start), to - entries);
	distance = first > start ? first - start : start - first;
	if (distance < p->distance)
		*p = (struct fw_place){ first, distance, after };
}

/** The place for a group that is nearest to where the entries of its priority should be. */
static struct fw_place
place_find(const struct fw_table *t, uint16_t priority, uint32_t entries)
{
	const uint32_t start = priority_start(t, priority);
	struct fw_place place = { .distance = UINT32_MAX };
	struct fw_group *g, *after = NULL;
	uint32_t at = 0;

	TAILQ_FOREACH(g, &t->groups, next) {
		if (g->priority >= priority)
			place_try(&place, at, g->first, entries, start, after);
		if (g->priority > priority)
			return place;
		at = g->first + g->entries;
		after = g;
	}
	place_try(&place, at, 1u << t->log_entries, entries, start, after);
	return place;
}

static struct mdv_obj *
group_create(struct fw_table *t, const struct fw_group *g)
{
	struct prm_create_flow_group_in in = { 0 };

	prm_create_flow_group_in_set_opcode(&in, PRM_CMD_OP_CREATE_FLOW_GROUP);
	prm_create_flow_group_in_set_table_type(&in, type_of(t->table.egress));
	prm_create_flow_group_in_set_table_id(&in, t->obj->id);
	prm_create_flow_group_in_set_start_flow_index(&in, g->first);
	prm_create_flow_group_in_set_end_flow_index(&in, g->first + g->entries - 1);
	prm_create_flow_group_in_set_match_criteria_enable(&in, mdv_match_criteria(&g->mask));
	*prm_create_flow_group_in_match_criteria(&in) = g->mask;
	return mdv_obj_create(t->table.dev, &in, sizeof(in));
}

static struct fw_group *
group_new(struct fw_table *t, uint16_t priority, const struct prm_fte_match_param *mask, uint32_t entries)
{
	struct fw_place place = place_find(t, priority, entries);
	struct fw_group *g;

	while (place.distance == UINT32_MAX && entries > FW_GROUP_MIN) {
		entries /= 2;
		place = place_find(t, priority, entries);
	}
	if (place.distance == UINT32_MAX)
		return MDV_FAIL_NULL(t->table.dev->name, ENOSPC, "no room for more rules of priority %u", priority);
	g = mdv_zalloc(t->table.dev->name, sizeof(*g) + entries / 64 * sizeof(g->used[0]), "steering rules");
	if (g == NULL)
		return NULL;
	g->mask = *mask;
	g->priority = priority;
	g->first = place.first;
	g->entries = entries;
	g->obj = group_create(t, g);
	if (g->obj == NULL) {
		free(g);
		return NULL;
	}
	if (place.after != NULL)
		TAILQ_INSERT_AFTER(&t->groups, place.after, g, next);
	else
		TAILQ_INSERT_HEAD(&t->groups, g, next);
	return g;
}

/** A group of the priority and mask that has a free entry. */
static struct fw_group *
group_get(struct fw_table *t, uint16_t priority, const struct prm_fte_match_param *mask)
{
	uint32_t entries = FW_GROUP_MIN;
	struct fw_group *g;

	TAILQ_FOREACH(g, &t->groups, next) {
		if (g->obj == NULL || g->priority != priority || memcmp(&g->mask, mask, sizeof(*mask)) != 0)
			continue;
		if (g->users < g->entries)
			return g;
		entries = RTE_MAX(entries, RTE_MIN(2 * g->entries, FW_GROUP_MAX));
	}
	return group_new(t, priority, mask, entries);
}

static void
group_put(struct fw_table *t, struct fw_group *g)
{
	if (g->users != 0)
		return;
	if (mdv_obj_destroy(g->obj) != 0) {
		/* The index stays in use. */
		g->obj = NULL;
		return;
	}
	TAILQ_REMOVE(&t->groups, g, next);
	free(g);
}

/* ------------------------------------------------------------------ entries */

static uint32_t
bit_take(struct fw_group *g)
{
	uint32_t i = g->full_words, bit;

	while (g->used[i] == UINT64_MAX)
		i++;
	g->full_words = i;
	bit = (uint32_t)__builtin_ctzll(~g->used[i]);
	g->used[i] |= RTE_BIT64(bit);
	g->users++;
	return i * 64 + bit;
}

static void
bit_put(struct fw_group *g, uint32_t bit)
{
	g->used[bit / 64] &= ~RTE_BIT64(bit % 64);
	g->full_words = RTE_MIN(g->full_words, bit / 64);
	g->users--;
}

static uint8_t
level_of(const struct mdv_rule_table *table)
{
	return ((const struct fw_table *)table)->level;
}

/** As SET_FLOW_TABLE_ENTRY: the destination, if there is one, then the counter. */
struct fw_entry_in {
	struct prm_set_fte_in in;
	struct prm_dest_format_flow_counter_list_auto list[2];
};

/** Sets what is changed of packets; returns the bits of the action. */
static uint32_t
entry_changes(struct prm_flow_context *ctx, const struct mdv_rule_attr *attr)
{
	uint32_t action = attr->pop_vlan ? PRM_FLOW_ACTION_VLAN_POP : 0;

	if (attr->tunnel != NULL && attr->tunnel->obj == NULL) {
		action |= PRM_FLOW_ACTION_DECAP;
	} else if (attr->tunnel != NULL) {
		action |= PRM_FLOW_ACTION_PACKET_REFORMAT;
		prm_flow_context_set_packet_reformat_id(ctx, attr->tunnel->obj->id);
	}
	if (attr->push_vlan != 0) {
		action |= PRM_FLOW_ACTION_VLAN_PUSH;
		prm_flow_context_push_vlan(ctx)->dw[0] = rte_cpu_to_be_32(attr->push_vlan);
	}
	if (attr->modify != NULL) {
		action |= PRM_FLOW_ACTION_MOD_HDR;
		prm_flow_context_set_modify_header_id(ctx, attr->modify->obj->id);
	}
	return action;
}

/** Sets destination and counter; returns the bytes of the command. */
static size_t
entry_lists(struct fw_entry_in *cmd, const struct mdv_rule_attr *attr)
{
	struct prm_flow_context *ctx = prm_set_fte_in_flow_context(&cmd->in);
	uint32_t action = attr->send ? PRM_FLOW_ACTION_ALLOW | entry_changes(ctx, attr) : PRM_FLOW_ACTION_DROP;
	struct prm_dest_format_struct *dest;
	size_t n = 0;

	if (attr->tir != NULL || attr->jump != NULL) {
		action = PRM_FLOW_ACTION_FWD_DEST | entry_changes(ctx, attr);
		dest = prm_dest_format_flow_counter_list_auto_dest_format_struct(&cmd->list[n++]);
		prm_dest_format_struct_set_destination_type(dest, attr->tir != NULL ? PRM_FLOW_DEST_TYPE_TIR :
										      PRM_FLOW_DEST_TYPE_FLOW_TABLE);
		prm_dest_format_struct_set_destination_id(dest, attr->tir != NULL ? attr->tir->id :
										   mdv_rules_fw_obj(attr->jump)->id);
		prm_flow_context_set_flow_tag(ctx, attr->tag);
		prm_flow_context_set_destination_list_size(ctx, 1);
	}
	if (attr->counter != NULL) {
		action |= PRM_FLOW_ACTION_COUNT;
		prm_flow_counter_list_set_flow_counter_id(
			prm_dest_format_flow_counter_list_auto_flow_counter_list(&cmd->list[n++]),
			attr->counter->id + attr->counter_offset);
		prm_flow_context_set_flow_counter_list_size(ctx, 1);
	}
	prm_flow_context_set_action(ctx, action);
	return offsetof(struct fw_entry_in, list) + n * sizeof(cmd->list[0]);
}

static struct mdv_obj *
entry_create(struct fw_table *t, const struct fw_rule *r, const struct mdv_rule_attr *attr,
	     const struct prm_fte_match_param *value)
{
	struct prm_flow_context *ctx;
	struct fw_entry_in cmd;
	size_t bytes;

	memset(&cmd, 0, sizeof(cmd));
	ctx = prm_set_fte_in_flow_context(&cmd.in);
	prm_set_fte_in_set_opcode(&cmd.in, PRM_CMD_OP_SET_FLOW_TABLE_ENTRY);
	prm_set_fte_in_set_table_type(&cmd.in, type_of(t->table.egress));
	prm_set_fte_in_set_table_id(&cmd.in, t->obj->id);
	prm_set_fte_in_set_flow_index(&cmd.in, r->group->first + r->bit);
	prm_set_fte_in_set_ignore_flow_level(&cmd.in, attr->jump != NULL && level_of(attr->jump) <= t->level);
	prm_flow_context_set_group_id(ctx, r->group->obj->id);
	*prm_flow_context_match_value(ctx) = *value;
	bytes = entry_lists(&cmd, attr);
	return mdv_obj_create(t->table.dev, &cmd, bytes);
}

static struct mdv_rule *
fw_create(struct mdv_rule_table *table, const struct mdv_rule_attr *attr, const struct mdv_match *match)
{
	struct fw_table *t = (struct fw_table *)table;
	struct fw_rule *r = mdv_zalloc(table->dev->name, sizeof(*r), "steering rules");

	if (r == NULL)
		return NULL;
	if (table_need(t) == 0)
		r->group = group_get(t, attr->priority, &match->mask);
	if (r->group != NULL) {
		r->bit = bit_take(r->group);
		r->entry = entry_create(t, r, attr, &match->value);
		if (r->entry != NULL)
			return &r->rule;
		bit_put(r->group, r->bit);
		MDV_UNDO(group_put(t, r->group));
	}
	MDV_UNDO(root_put(t));
	free(r);
	return NULL;
}

static int
fw_destroy(struct mdv_rule *base)
{
	struct fw_table *t = (struct fw_table *)base->table;
	struct fw_rule *r = (struct fw_rule *)base;
	int ret = mdv_obj_destroy(r->entry);

	/* The device kept the entry: neither its index nor its group is free. */
	if (ret == 0) {
		bit_put(r->group, r->bit);
		group_put(t, r->group);
		root_put(t);
	}
	free(r);
	return ret;
}

static void
fw_close(struct mdv_rule_table *table)
{
	struct fw_table *t = (struct fw_table *)table;
	struct fw_group *g;

	while ((g = TAILQ_FIRST(&t->groups)) != NULL) {
		TAILQ_REMOVE(&t->groups, g, next);
		(void)mdv_obj_destroy(g->obj);
		free(g);
	}
	table_destroy(t);
}

static const struct mdv_rule_ops fw_ops = {
	.create = fw_create,
	.destroy = fw_destroy,
	.close = fw_close,
};

static struct fw_table *
table_new(struct mdv_dev *dev, bool egress, uint8_t level, mdv_rules_root set_root)
{
	struct fw_table *t = mdv_zalloc(dev->name, sizeof(*t), "steering rules");

	if (t == NULL)
		return NULL;
	t->table.dev = dev;
	t->table.ops = &fw_ops;
	t->table.egress = egress;
	t->set_root = set_root;
	t->level = level;
	TAILQ_INIT(&t->groups);
	return t;
}

struct mdv_rule_table *
mdv_rules_fw_new(struct mdv_dev *dev, bool egress, mdv_rules_root set_root)
{
	struct fw_table *t = table_new(dev, egress, FW_ROOT_LEVEL, set_root);

	return t != NULL ? &t->table : NULL;
}

struct mdv_rule_table *
mdv_rules_fw_table(struct mdv_dev *dev, bool egress, uint8_t level)
{
	struct fw_table *t = table_new(dev, egress, level, NULL);

	if (t == NULL)
		return NULL;
	if (table_need(t) == 0)
		return &t->table;
	free(t);
	return NULL;
}

struct mdv_obj *
mdv_rules_fw_obj(const struct mdv_rule_table *table)
{
	return ((const struct fw_table *)table)->obj;
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_rule_table_leads)
bool
mdv_rule_table_leads(const struct mdv_rule_table *from, const struct mdv_rule_table *to)
{
	return ((const struct fw_table *)from)->any_level || level_of(from) < level_of(to);
}
