/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Commands for flow tables, groups and entries. */
#include "rig_tables.h"

static struct emu_obj *
made(struct rig_port *p, const void *in, size_t len)
{
	struct emu_obj *obj = NULL;

	CHECK_EQ(rig_fw(p, in, len, &obj), 0);
	return obj;
}

static unsigned
type_of(const struct emu_obj *t)
{
	return ((const struct emu_flow_table *)t)->type;
}

static struct emu_obj *
table(struct rig_port *p, unsigned type, unsigned level)
{
	struct prm_create_flow_table_in in = {0};
	struct prm_flow_table_context *ctx = prm_create_flow_table_in_flow_table_context(&in);

	prm_create_flow_table_in_set_opcode(&in, PRM_CMD_OP_CREATE_FLOW_TABLE);
	prm_create_flow_table_in_set_table_type(&in, type);
	prm_flow_table_context_set_level(ctx, level);
	prm_flow_table_context_set_log_size(ctx, RIG_LOG_TABLE);
	prm_flow_table_context_set_reformat_en(ctx, type == PRM_FLOW_TABLE_TYPE_NIC_TX &&
							    p->dev->profile->tx_reformat);
	return made(p, &in, sizeof(in));
}

struct emu_obj *
rig_table(struct rig_port *p, unsigned level)
{
	return table(p, PRM_FLOW_TABLE_TYPE_NIC_RX, level);
}

struct emu_obj *
rig_tx_table(struct rig_port *p, unsigned level)
{
	return table(p, PRM_FLOW_TABLE_TYPE_NIC_TX, level);
}

static void
match_fill(struct prm_fte_match_param *param, const struct rig_match *m, bool mask)
{
	struct prm_fte_match_set_lyr_2_4 *o = prm_fte_match_param_outer_headers(param);

	if (m->ethertype != 0)
		prm_fte_match_set_lyr_2_4_set_ethertype(o, mask ? 0xffff : m->ethertype);
	if (m->ip_version != 0)
		prm_fte_match_set_lyr_2_4_set_ip_version(o, mask ? 0xf : m->ip_version);
	if (m->proto != 0)
		prm_fte_match_set_lyr_2_4_set_ip_protocol(o, mask ? 0xff : m->proto);
	if (m->by_frag)
		prm_fte_match_set_lyr_2_4_set_frag(o, mask || m->frag);
	if (m->vid != 0)
		prm_fte_match_set_lyr_2_4_set_cvlan_tag(o, mask || m->vid > 0);
	if (m->vid > 0)
		prm_fte_match_set_lyr_2_4_set_first_vid(o, mask ? 0xfff : m->vid);
	if (m->sqn != 0)
		prm_fte_match_set_misc_set_source_sqn(prm_fte_match_param_misc_parameters(param),
						      mask ? 0xffffff : m->sqn);
	if (m->reg_a != 0)
		prm_fte_match_set_misc2_set_metadata_reg_a(prm_fte_match_param_misc_parameters_2(param),
							   mask ? UINT32_MAX : m->reg_a);
}

struct emu_obj *
rig_group(struct rig_port *p, const struct emu_obj *t, uint32_t first, uint32_t last,
	  const struct rig_match *m)
{
	struct prm_create_flow_group_in in = {0};

	prm_create_flow_group_in_set_opcode(&in, PRM_CMD_OP_CREATE_FLOW_GROUP);
	prm_create_flow_group_in_set_table_id(&in, t->id);
	prm_create_flow_group_in_set_start_flow_index(&in, first);
	prm_create_flow_group_in_set_end_flow_index(&in, last);
	prm_create_flow_group_in_set_table_type(&in, type_of(t));
	prm_create_flow_group_in_set_match_criteria_enable(
		&in, PRM_MATCH_CRITERIA_ENABLE_OUTER | (m->sqn != 0 ? PRM_MATCH_CRITERIA_ENABLE_MISC : 0) |
			     (m->reg_a != 0 ? PRM_MATCH_CRITERIA_ENABLE_MISC2 : 0));
	match_fill(prm_create_flow_group_in_match_criteria(&in), m, true);
	return made(p, &in, sizeof(in));
}

struct emu_obj *
rig_entry(struct rig_port *p, const struct emu_obj *t, const struct emu_obj *g, uint32_t index,
	  const struct rig_match *m, const struct rig_actions *act)
{
	struct {
		struct prm_set_fte_in in;
		uint32_t list[4];
	} e = {0};
	struct prm_flow_context *ctx = prm_set_fte_in_flow_context(&e.in);
	unsigned n = 0;
	uint32_t action = act->allow ? PRM_FLOW_ACTION_ALLOW : PRM_FLOW_ACTION_DROP;

	prm_set_fte_in_set_opcode(&e.in, PRM_CMD_OP_SET_FLOW_TABLE_ENTRY);
	prm_set_fte_in_set_table_type(&e.in, type_of(t));
	prm_set_fte_in_set_table_id(&e.in, t->id);
	prm_set_fte_in_set_flow_index(&e.in, index);
	prm_set_fte_in_set_ignore_flow_level(&e.in, act->any_level);
	prm_set_fte_in_set_op_mod(&e.in, act->modify != 0);
	prm_set_fte_in_set_modify_enable_mask(&e.in, act->modify);
	prm_flow_context_set_group_id(ctx, g->id);
	prm_flow_context_set_flow_tag(ctx, act->tag);
	match_fill(prm_flow_context_match_value(ctx), m, false);
	if (act->dest != NULL) {
		bool tir = act->dest->type == EMU_OBJ_TIR;

		action = PRM_FLOW_ACTION_FWD_DEST;
		e.list[2 * n++] = htobe32((uint32_t)(tir ? PRM_FLOW_DEST_TYPE_TIR :
							   PRM_FLOW_DEST_TYPE_FLOW_TABLE) << 24 |
					  act->dest->id);
		prm_flow_context_set_destination_list_size(ctx, 1);
	}
	if (act->counter != NULL) {
		action |= PRM_FLOW_ACTION_COUNT;
		e.list[2 * n++] = htobe32(act->counter->id);
		prm_flow_context_set_flow_counter_list_size(ctx, 1);
	}
	prm_flow_context_set_action(ctx, action | act->change);
	prm_flow_context_set_modify_header_id(ctx, act->modify_header != NULL ? act->modify_header->id : 0);
	prm_flow_context_set_packet_reformat_id(ctx, act->reformat != NULL ? act->reformat->id : 0);
	ctx->dw[0] = htobe32(act->vlan);
	if (act->modify == 0)
		return made(p, &e, sizeof(e.in) + 8 * n);
	CHECK_EQ(rig_fw(p, &e, sizeof(e.in) + 8 * n, NULL), 0);
	return NULL;
}

struct emu_obj *
rig_flow_counter(struct rig_port *p)
{
	uint32_t in[4] = {htobe32((uint32_t)PRM_CMD_OP_ALLOC_FLOW_COUNTER << 16)};

	return made(p, in, sizeof(in));
}

static void
root(struct rig_port *p, unsigned type, const struct emu_obj *t)
{
	struct prm_set_flow_table_root_in in = {0};

	prm_set_flow_table_root_in_set_opcode(&in, PRM_CMD_OP_SET_FLOW_TABLE_ROOT);
	prm_set_flow_table_root_in_set_op_mod(&in, t == NULL);
	prm_set_flow_table_root_in_set_table_type(&in, type);
	prm_set_flow_table_root_in_set_table_id(&in, t != NULL ? t->id : 0);
	CHECK_EQ(rig_fw(p, &in, sizeof(in), NULL), 0);
}

void
rig_root(struct rig_port *p, const struct emu_obj *t)
{
	root(p, PRM_FLOW_TABLE_TYPE_NIC_RX, t);
}

void
rig_tx_root(struct rig_port *p, const struct emu_obj *t)
{
	root(p, PRM_FLOW_TABLE_TYPE_NIC_TX, t);
}

void
rig_miss(struct rig_port *p, const struct emu_obj *t, const struct emu_obj *to)
{
	struct prm_modify_flow_table_in in = {0};
	struct prm_flow_table_context *ctx = prm_modify_flow_table_in_flow_table_context(&in);

	prm_modify_flow_table_in_set_opcode(&in, PRM_CMD_OP_MODIFY_FLOW_TABLE);
	prm_modify_flow_table_in_set_table_type(&in, type_of(t));
	prm_modify_flow_table_in_set_table_id(&in, t->id);
	prm_modify_flow_table_in_set_modify_field_select(&in, 1);
	prm_flow_table_context_set_table_miss_action(ctx, to != NULL);
	prm_flow_table_context_set_table_miss_id(ctx, to != NULL ? to->id : 0);
	CHECK_EQ(rig_fw(p, &in, sizeof(in), NULL), 0);
}
