/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Flow table entries: match values and actions. */
#include <stddef.h>
#include <string.h>

#include "fw.h"

/* op_mod of SET_FLOW_TABLE_ENTRY. */
#define FTE_NEW 0u

/* Those that change packets. */
#define CHANGES ((uint32_t)(PRM_FLOW_ACTION_DECAP | PRM_FLOW_ACTION_PACKET_REFORMAT | PRM_FLOW_ACTION_VLAN_POP | \
			    PRM_FLOW_ACTION_VLAN_PUSH | PRM_FLOW_ACTION_MOD_HDR))
#define ACTIONS (PRM_FLOW_ACTION_ALLOW | PRM_FLOW_ACTION_DROP | PRM_FLOW_ACTION_FWD_DEST | PRM_FLOW_ACTION_COUNT | \
		 CHANGES)
#define MODIFIES (PRM_MODIFY_FTE_MASK_ACTION | PRM_MODIFY_FTE_MASK_FLOW_TAG | \
		  PRM_MODIFY_FTE_MASK_DESTINATION_LIST | PRM_MODIFY_FTE_MASK_FLOW_COUNTERS)

/** Actions of an entry. */
struct fte_actions {
	uint32_t action, tag;
	struct emu_obj *dest; /* TIR or table */
	bool uplink;	      /* the uplink, in a table of the FDB */
	struct emu_flow_counter *counter;
	struct emu_modify_header *modify;
	struct emu_reformat *reformat;
	uint32_t counter_id; /* that of a bulk, too */
	uint32_t vlan;	     /* TPID and TCI to push */
};

struct fw_fte {
	struct emu_obj obj;
	struct fw_flow_group *group;
	uint32_t index;
	struct fte_actions actions;
	struct dp_rule rule;
	struct dp_change change;
	uint32_t value[];
};

/* The group with entries that begins last, at or before an index. */
static struct fw_flow_group *
group_at_or_before(const struct fw_flow_table *t, uint32_t index)
{
	struct fw_flow_group *g, *last = NULL;

	TAILQ_FOREACH(g, &t->groups, next)
		if (g->entries != 0 && g->first <= index && (last == NULL || g->first > last->first))
			last = g;
	return last;
}

/* The last entry at or before an index. */
static struct fw_fte *
fte_at_or_before(const struct fw_flow_table *t, uint32_t index)
{
	const struct fw_flow_group *g;

	while ((g = group_at_or_before(t, index)) != NULL) {
		for (uint32_t i = (index < g->last ? index : g->last) - g->first + 1; i-- != 0;)
			if (g->entry[i] != NULL)
				return g->entry[i];
		if (g->first == 0)
			break;
		index = g->first - 1;
	}
	return NULL;
}

static void
actions_ref(const struct fte_actions *f)
{
	if (f->dest != NULL)
		emu_obj_ref(f->dest);
	if (f->counter != NULL)
		emu_obj_ref(&f->counter->obj);
	if (f->modify != NULL)
		emu_obj_ref(&f->modify->obj);
	if (f->reformat != NULL)
		emu_obj_ref(&f->reformat->obj);
}

static void
actions_unref(const struct fte_actions *f)
{
	if (f->dest != NULL)
		emu_obj_unref(f->dest);
	if (f->counter != NULL)
		emu_obj_unref(&f->counter->obj);
	if (f->modify != NULL)
		emu_obj_unref(&f->modify->obj);
	if (f->reformat != NULL)
		emu_obj_unref(&f->reformat->obj);
}

static void
fte_release(struct emu_obj *obj)
{
	struct fw_fte *fte = (struct fw_fte *)obj;

	dp_table_remove(obj->dev, &fte->group->ft->ft.table, &fte->rule);
	fte->group->entry[fte->index - fte->group->first] = NULL;
	fte->group->entries--;
	actions_unref(&fte->actions);
	emu_obj_unref(&fte->group->obj);
}

static int
dest_read(struct fw_cmd *c, const struct prm_dest_format_struct *d, const struct fw_flow_table *from,
	  struct fte_actions *f)
{
	unsigned type = prm_dest_format_struct_get_destination_type(d);
	uint32_t id = prm_dest_format_struct_get_destination_id(d);
	struct fw_flow_table *t = NULL;
	int ret;

	if (prm_dest_format_struct_get_destination_eswitch_owner_vhca_id_valid(d) ||
	    prm_dest_format_struct_get_destination_eswitch_owner_vhca_id(d) ||
	    prm_dest_format_struct_get_packet_reformat(d) ||
	    prm_dest_format_struct_get_destination_table_type(d))
		return fw_refuse(c, FW_FTE_DEST, "%s", "eswitch, reformat or table type");
	if (type == PRM_FLOW_DEST_TYPE_VPORT && from->ft.type == PRM_FLOW_TABLE_TYPE_FDB && id == EMU_VPORT_UPLINK) {
		f->uplink = true;
		return 0;
	}
	if (type == PRM_FLOW_DEST_TYPE_TIR && from->ft.type == PRM_FLOW_TABLE_TYPE_NIC_RX)
		return fw_need(c, EMU_OBJ_TIR, id, FW_NO_TIR, &f->dest);
	if (type != PRM_FLOW_DEST_TYPE_FLOW_TABLE)
		return fw_refuse(c, FW_FTE_DEST, "%s (0x%x)", prm_flow_dest_type_name(type), type);
	if (prm_set_fte_in_get_ignore_flow_level(c->in))
		ret = fw_flow_table_need(c, id, &t);
	else
		ret = fw_flow_lead(c, id, from->ft.level, &t);
	if (ret == 0)
		f->dest = &t->ft.obj;
	return ret;
}

/* The list has destinations first, then counters. */
static int
lists_read(struct fw_cmd *c, const struct prm_flow_context *ctx, const struct fw_flow_table *from,
	   struct fte_actions *f)
{
	uint32_t dests = prm_flow_context_get_destination_list_size(ctx);
	uint32_t counters = prm_flow_context_get_flow_counter_list_size(ctx), id;
	int ret = 0;

	if (dests > 1 || counters > 1)
		return fw_refuse(c, FW_FTE_LISTS, "%u destinations and %u counters", dests,
				 counters);
	if (!fw_in_ends_at(c, c->desc->in_bytes_min +
				      (dests + counters) *
					      PRM_DEST_FORMAT_FLOW_COUNTER_LIST_AUTO_BYTES))
		return fw_refuse(c, FW_FTE_LIST_LEN, "%zu bytes for %u of them", c->in_len,
				 dests + counters);
	if (dests != 0)
		ret = dest_read(c, prm_dest_format_flow_counter_list_auto_dest_format_struct_c(
					   prm_flow_context_destination_c(ctx, 0)),
				from, f);
	if (ret != 0 || counters == 0)
		return ret;
	id = prm_flow_counter_list_get_flow_counter_id(
		prm_dest_format_flow_counter_list_auto_flow_counter_list_c(
			prm_flow_context_destination_c(ctx, dests)));
	f->counter_id = id;
	return fw_need(c, EMU_OBJ_FLOW_COUNTER, id, FW_NO_FLOW_COUNTER, &f->counter);
}

static bool
is_zero(const void *p, size_t bytes)
{
	const uint8_t *b = p;

	for (size_t i = 0; i < bytes; i++)
		if (b[i] != 0)
			return false;
	return true;
}

static int
features_check(struct fw_cmd *c, const struct fw_flow_table *t, const struct prm_flow_context *ctx)
{
	if ((prm_set_fte_in_get_ignore_flow_level(c->in) &&
	     (t->ft.type == PRM_FLOW_TABLE_TYPE_FDB || !c->dev->profile->ignore_flow_level)) ||
	    prm_flow_context_get_extended_destination(ctx) ||
	    prm_flow_context_get_uplink_hairpin_en(ctx) ||
	    prm_flow_context_get_flow_source(ctx) ||
	    prm_flow_context_get_encrypt_decrypt_type(ctx) ||
	    prm_flow_context_get_encrypt_decrypt_obj_id(ctx) ||
	    !is_zero(prm_flow_context_push_vlan_2_c(ctx), PRM_VLAN_BYTES) ||
	    !is_zero(prm_flow_context_execute_aso_c(ctx, 0), 4 * PRM_EXECUTE_ASO_BYTES))
		return fw_refuse(c, FW_FTE_FEATURE, "%s",
				 "level, list format, source, crypto, second VLAN to push or ASO");
	return 0;
}

/* The contexts that the entry refers to: those of its actions, and no others. */
static int
contexts_read(struct fw_cmd *c, const struct prm_flow_context *ctx, struct fte_actions *f)
{
	uint32_t modify = prm_flow_context_get_modify_header_id(ctx);
	uint32_t reformat = prm_flow_context_get_packet_reformat_id(ctx);
	int ret = 0;

	if ((modify != 0 && (f->action & PRM_FLOW_ACTION_MOD_HDR) == 0) ||
	    (reformat != 0 && (f->action & PRM_FLOW_ACTION_PACKET_REFORMAT) == 0))
		return fw_refuse(c, FW_FTE_CHANGE, "a context without its action, which is 0x%x", f->action);
	if ((f->action & PRM_FLOW_ACTION_MOD_HDR) != 0)
		ret = fw_need(c, EMU_OBJ_MODIFY_HEADER, modify, FW_NO_MODIFY_HEADER, &f->modify);
	if (ret == 0 && (f->action & PRM_FLOW_ACTION_PACKET_REFORMAT) != 0)
		ret = fw_need(c, EMU_OBJ_REFORMAT, reformat, FW_NO_REFORMAT, &f->reformat);
	return ret;
}

static bool
is_tpid(unsigned tpid)
{
	return tpid == 0x8100 || tpid == 0x88a8;
}

/*
 * Changes that table and card allow. A context exists only on a card with its capability.
 * reformat_and_fwd_to_table is for decapsulation, too: Linux, en_tc.c, validate_goto_chain(), and its commit.
 * assumed: a pushed tag has TPID 0x8100 or 0x88a8. Other reading: any. Test: fw/test_modify_header.c.
 * assumed: an entry that drops has none, and one that decapsulates does so in one way. Other reading: both are
 * accepted, without effect. Test: fw/test_modify_header.c.
 */
static int
changes_check(struct fw_cmd *c, const struct fw_flow_table *t, const struct fte_actions *f)
{
	uint32_t changes = f->action & CHANGES;
	bool tunnel = (changes & (PRM_FLOW_ACTION_DECAP | PRM_FLOW_ACTION_PACKET_REFORMAT)) != 0;
	bool tag = (changes & (PRM_FLOW_ACTION_VLAN_POP | PRM_FLOW_ACTION_VLAN_PUSH)) != 0;
	const struct emu_profile *p = c->dev->profile;
	const bool sent = t->ft.type == PRM_FLOW_TABLE_TYPE_NIC_TX;
	const char *why = NULL;

	if (changes != 0 && t->ft.type == PRM_FLOW_TABLE_TYPE_FDB)
		why = "tables of the eswitch change no packets";
	else if (changes != 0 && (f->action & PRM_FLOW_ACTION_DROP) != 0)
		why = "the entry drops";
	else if ((changes & PRM_FLOW_ACTION_DECAP) != 0 && (changes & PRM_FLOW_ACTION_PACKET_REFORMAT) != 0)
		why = "two decapsulations";
	else if ((changes & PRM_FLOW_ACTION_DECAP) != 0 && !t->decap_en)
		why = "the table has no decap_en";
	else if ((changes & PRM_FLOW_ACTION_PACKET_REFORMAT) != 0 && !t->reformat_en)
		why = "the table has no reformat_en";
	else if ((f->modify != NULL && f->modify->sent != sent) ||
		 (f->reformat != NULL && (f->reformat->type == PRM_REFORMAT_TYPE_L3_TUNNEL_TO_L2) == sent))
		why = "the context is for tables of another type";
	else if ((changes & PRM_FLOW_ACTION_VLAN_PUSH) != 0 && (!sent || !p->tx_push_vlan))
		why = "VLAN_PUSH without capability";
	else if ((changes & PRM_FLOW_ACTION_VLAN_PUSH) != 0 ? !is_tpid(f->vlan >> 16) : f->vlan != 0)
		why = "a tag to push without VLAN_PUSH, or with another TPID";
	else if ((changes & PRM_FLOW_ACTION_VLAN_POP) != 0 && (sent || !p->pop_vlan))
		why = "VLAN_POP without capability";
	else if (tunnel && tag && !p->reformat_and_vlan_action)
		why = "a tunnel and a VLAN tag without reformat_and_vlan_action";
	else if (tunnel && f->dest != NULL && f->dest->type == EMU_OBJ_FLOW_TABLE && !p->reformat_and_fwd_to_table)
		why = "a tunnel and a table as destination without reformat_and_fwd_to_table";
	return why != NULL ? fw_refuse(c, FW_FTE_CHANGE, "action 0x%x: %s", f->action, why) : 0;
}

/*
 * One of forward, drop and, for sent packets, allow (Linux, mlx5_ib fs.c, raw_fs_rule_add()).
 * assumed: an entry for sent packets has no flow tag, for which its tables have no capability. Other reading: it is
 * ignored. Test: fw/test_flow_table.c.
 */
static int
actions_check(struct fw_cmd *c, const struct fw_flow_table *t, const struct fte_actions *f)
{
	bool drop = (f->action & PRM_FLOW_ACTION_DROP) != 0;
	bool fwd = (f->action & PRM_FLOW_ACTION_FWD_DEST) != 0;
	bool allow = (f->action & PRM_FLOW_ACTION_ALLOW) != 0;
	bool sent = t->ft.type == PRM_FLOW_TABLE_TYPE_NIC_TX;

	if ((f->action & ~(uint32_t)ACTIONS) != 0 || drop + fwd + allow != 1 || (allow && !sent))
		return fw_refuse(c, FW_FTE_ACTION, "0x%x", f->action);
	if (sent && f->tag != 0)
		return fw_refuse(c, FW_FTE_FEATURE, "flow tag 0x%x in a table of sent packets", f->tag);
	if (fwd != (f->dest != NULL || f->uplink) ||
	    ((f->action & PRM_FLOW_ACTION_COUNT) != 0) != (f->counter != NULL))
		return fw_refuse(c, FW_FTE_LISTS, "action 0x%x, %s destination, %s counter",
				 f->action, f->dest != NULL || f->uplink ? "a" : "no",
				 f->counter != NULL ? "a" : "no");
	return changes_check(c, t, f);
}

static int
actions_read(struct fw_cmd *c, const struct fw_flow_table *t, struct fte_actions *f)
{
	const struct prm_flow_context *ctx = prm_set_fte_in_flow_context_c(c->in);
	int ret = features_check(c, t, ctx);

	*f = (struct fte_actions){
		.action = prm_flow_context_get_action(ctx),
		.tag = prm_flow_context_get_flow_tag(ctx),
		.vlan = PRM_BE32(prm_flow_context_push_vlan_c(ctx)->dw[0]),
	};
	if (ret == 0)
		ret = lists_read(c, ctx, t, f);
	return ret != 0 ? ret : contexts_read(c, ctx, f);
}

/* The table that a command names. */
static int
fte_table(struct fw_cmd *c, struct fw_flow_table **t)
{
	int ret = fw_flow_place_check(c);

	return ret != 0 ? ret : fw_flow_table_need(c, prm_set_fte_in_get_table_id(c->in), t);
}

static int
fte_find(struct fw_cmd *c, struct fw_fte **fte)
{
	uint32_t index = prm_set_fte_in_get_flow_index(c->in);
	struct fw_flow_table *t;
	int ret = fte_table(c, &t);

	if (ret != 0)
		return ret;
	*fte = fte_at_or_before(t, index);
	if (*fte == NULL || (*fte)->index != index)
		return fw_refuse(c, FW_NO_FTE, "entry %u of table 0x%x", index, t->ft.obj.id);
	return 0;
}

static void
fte_apply(struct fw_fte *fte, const struct fte_actions *f)
{
	struct dp_rule *r = &fte->rule;

	actions_ref(f);
	actions_unref(&fte->actions);
	fte->actions = *f;
	r->tir = NULL;
	r->table = NULL;
	if (f->dest != NULL && f->dest->type == EMU_OBJ_TIR)
		r->tir = (struct emu_tir *)f->dest;
	else if (f->dest != NULL)
		r->table = &((struct emu_flow_table *)f->dest)->table;
	r->uplink = f->uplink;
	r->drop = (f->action & PRM_FLOW_ACTION_DROP) != 0;
	r->counter = f->counter != NULL ? &f->counter->counts[f->counter_id - f->counter->obj.id] : NULL;
	r->counter_id = f->counter_id;
	r->tag = f->tag;
	fte->change = (struct dp_change){
		.decap = (f->action & PRM_FLOW_ACTION_DECAP) != 0,
		.reformat = f->reformat,
		.pop_vlan = (f->action & PRM_FLOW_ACTION_VLAN_POP) != 0,
		.push_vlan = f->vlan,
		.modify = f->modify,
	};
	r->change = (f->action & CHANGES) != 0 ? &fte->change : NULL;
}

static int
value_read(struct fw_cmd *c, const struct fw_flow_group *g, uint32_t value[DP_KEY_DWORDS])
{
	const struct prm_fte_match_param *param =
		prm_flow_context_match_value_c(prm_set_fte_in_flow_context_c(c->in));
	size_t stray = dp_key_stray(param, sizeof(*param));

	dp_key_load(value, param, sizeof(*param));
	for (unsigned i = 0; i < DP_KEY_DWORDS; i++)
		if ((value[i] & ~g->mask.dw[i]) != 0)
			return fw_refuse(c, FW_FTE_VALUE, "dword %u, bits 0x%x", i, value[i] & ~g->mask.dw[i]);
	if (stray != sizeof(*param))
		return fw_refuse(c, FW_FTE_VALUE, "dword %zu", stray / 4);
	return 0;
}

static int
group_read(struct fw_cmd *c, const struct fw_flow_table *t, struct fw_flow_group **g)
{
	uint32_t id = prm_flow_context_get_group_id(prm_set_fte_in_flow_context_c(c->in));
	uint32_t index = prm_set_fte_in_get_flow_index(c->in);
	int ret = fw_need(c, EMU_OBJ_FLOW_GROUP, id, FW_NO_FLOW_GROUP, g);

	if (ret != 0)
		return ret;
	if ((*g)->ft != t)
		return fw_refuse(c, FW_NO_FLOW_GROUP, "group 0x%x is of table 0x%x, not 0x%x", id,
				 (*g)->ft->ft.obj.id, t->ft.obj.id);
	if (index < (*g)->first || index > (*g)->last)
		return fw_refuse(c, FW_FTE_INDEX, "%u, the group has %u to %u", index, (*g)->first,
				 (*g)->last);
	return 0;
}

static int
fte_create(struct fw_cmd *c)
{
	uint32_t index = prm_set_fte_in_get_flow_index(c->in), value[DP_KEY_DWORDS];
	struct fw_fte *fte, *before = NULL;
	struct fw_flow_group *g;
	struct fw_flow_table *t;
	struct fte_actions actions;
	int ret = fte_table(c, &t);

	if (ret == 0)
		ret = group_read(c, t, &g);
	if (ret == 0)
		before = fte_at_or_before(t, index);
	if (before != NULL && before->index == index)
		ret = fw_refuse(c, FW_FTE_EXISTS, "entry %u of table 0x%x", index, t->ft.obj.id);
	if (ret == 0)
		ret = value_read(c, g, value);
	if (ret == 0)
		ret = actions_read(c, t, &actions);
	if (ret == 0)
		ret = actions_check(c, t, &actions);
	if (ret != 0)
		return ret;
	/* Commands name an entry by its index; the object id is internal. */
	fte = emu_obj_new(c->dev, c->ctx, EMU_OBJ_FTE, sizeof(*fte) + g->mask.uses * sizeof(fte->value[0]),
			  fte_release);
	if (fte == NULL)
		return fw_refuse(c, FW_NO_RESOURCES, "%s", "flow table entries");
	c->created = &fte->obj;
	fte->group = g;
	fte->index = index;
	g->entry[index - g->first] = fte;
	g->entries++;
	fte->rule.mask = &g->mask;
	fte->rule.value = fte->value;
	dp_value_pack(fte->value, &g->mask, value);
	emu_obj_ref(&g->obj);
	fte_apply(fte, &actions);
	dp_table_insert(c->dev, &t->ft.table, before != NULL ? &before->rule : NULL, &fte->rule);
	return 0;
}

/* Match values and group of an existing entry do not change. */
static int
fte_modify(struct fw_cmd *c)
{
	unsigned fields = prm_set_fte_in_get_modify_enable_mask(c->in);
	struct fte_actions given, next;
	struct fw_fte *fte;
	int ret = fte_find(c, &fte);

	if (ret == 0 && (fields == 0 || (fields & ~(unsigned)MODIFIES) != 0))
		ret = fw_refuse(c, FW_FTE_FIELD, "0x%x", fields);
	if (ret == 0)
		ret = actions_read(c, fte->group->ft, &given);
	if (ret != 0)
		return ret;
	next = fte->actions;
	if ((fields & PRM_MODIFY_FTE_MASK_ACTION) != 0)
		next.action = given.action, next.modify = given.modify, next.reformat = given.reformat,
		next.vlan = given.vlan;
	if ((fields & PRM_MODIFY_FTE_MASK_FLOW_TAG) != 0)
		next.tag = given.tag;
	if ((fields & PRM_MODIFY_FTE_MASK_DESTINATION_LIST) != 0)
		next.dest = given.dest, next.uplink = given.uplink;
	if ((fields & PRM_MODIFY_FTE_MASK_FLOW_COUNTERS) != 0)
		next.counter = given.counter, next.counter_id = given.counter_id;
	ret = actions_check(c, fte->group->ft, &next);
	if (ret != 0)
		return ret;
	fte_apply(fte, &next);
	dp_steer_changed(c->dev);
	return 0;
}

int
fw_set_fte(struct fw_cmd *c)
{
	return prm_set_fte_in_get_op_mod(c->in) == FTE_NEW ? fte_create(c) : fte_modify(c);
}

static void
lists_write(struct fw_cmd *c, const struct fte_actions *f)
{
	struct prm_flow_context *ctx = prm_query_fte_out_flow_context(c->out);
	size_t room = (c->out_len - c->desc->out_bytes_min) /
		      PRM_DEST_FORMAT_FLOW_COUNTER_LIST_AUTO_BYTES;
	struct prm_dest_format_struct *d;
	unsigned n = 0;

	prm_flow_context_set_destination_list_size(ctx, f->dest != NULL || f->uplink);
	prm_flow_context_set_flow_counter_list_size(ctx, f->counter != NULL);
	if ((f->dest != NULL || f->uplink) && room > n) {
		d = prm_dest_format_flow_counter_list_auto_dest_format_struct(
			prm_flow_context_destination(ctx, n++));
		prm_dest_format_struct_set_destination_id(d, f->uplink ? EMU_VPORT_UPLINK : f->dest->id);
		prm_dest_format_struct_set_destination_type(d, f->uplink ? PRM_FLOW_DEST_TYPE_VPORT :
							       f->dest->type == EMU_OBJ_TIR ?
							       PRM_FLOW_DEST_TYPE_TIR :
							       PRM_FLOW_DEST_TYPE_FLOW_TABLE);
	}
	if (f->counter != NULL && room > n)
		prm_flow_counter_list_set_flow_counter_id(
			prm_dest_format_flow_counter_list_auto_flow_counter_list(
				prm_flow_context_destination(ctx, n)),
			f->counter_id);
}

int
fw_query_fte(struct fw_cmd *c)
{
	struct prm_flow_context *ctx = prm_query_fte_out_flow_context(c->out);
	struct prm_fte_match_param *param = prm_flow_context_match_value(ctx);
	uint32_t value[DP_KEY_DWORDS];
	struct fw_fte *fte;
	int ret = fte_find(c, &fte);

	if (ret != 0)
		return ret;
	prm_flow_context_set_group_id(ctx, fte->group->obj.id);
	prm_flow_context_set_flow_tag(ctx, fte->actions.tag);
	prm_flow_context_set_action(ctx, fte->actions.action);
	prm_flow_context_push_vlan(ctx)->dw[0] = PRM_BE32(fte->actions.vlan);
	if (fte->actions.modify != NULL)
		prm_flow_context_set_modify_header_id(ctx, fte->actions.modify->obj.id);
	if (fte->actions.reformat != NULL)
		prm_flow_context_set_packet_reformat_id(ctx, fte->actions.reformat->obj.id);
	dp_value_unpack(value, &fte->rule);
	for (unsigned i = 0; i < DP_KEY_DWORDS; i++)
		param->dw[i] = PRM_BE32(value[i]);
	lists_write(c, &fte->actions);
	return 0;
}

int
fw_delete_fte(struct fw_cmd *c)
{
	struct fw_fte *fte;
	int ret = fte_find(c, &fte);

	if (ret != 0)
		return ret;
	c->obj = &fte->obj;
	return fw_destroy_object(c);
}

uint32_t
emu_fw_rule_index(const struct dp_rule *rule)
{
	const char *fte = (const char *)rule - offsetof(struct fw_fte, rule);

	return ((const struct fw_fte *)(const void *)fte)->index;
}

size_t
fw_fte_destroy_in(const struct emu_obj *obj, uint32_t in[16])
{
	const struct fw_fte *fte = (const struct fw_fte *)obj;
	struct prm_delete_fte_in *d = (void *)in;

	if (obj->type != EMU_OBJ_FTE)
		return 0;
	prm_delete_fte_in_set_opcode(d, PRM_CMD_OP_DELETE_FLOW_TABLE_ENTRY);
	prm_delete_fte_in_set_table_type(d, fte->group->ft->ft.type);
	prm_delete_fte_in_set_table_id(d, fte->group->ft->ft.obj.id);
	prm_delete_fte_in_set_flow_index(d, fte->index);
	return sizeof(*d);
}
