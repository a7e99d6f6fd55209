/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Flow tables and their groups, and which table is the root (PRM: flow table commands). */
#include <stdlib.h>
#include <string.h>

#include "../dp/emu_dp_fields.h"
#include "fw.h"

/* modify_field_select of MODIFY_FLOW_TABLE: bit 0, the miss action and its table (Linux, fs_cmd.c). */
#define MODIFY_MISS_TABLE 1u
/* op_mod of SET_FLOW_TABLE_ROOT. */
#define ROOT_SET 0u
#define ROOT_TO_DEFAULT 1u

/* op_mod, vport and table_type have the same position in all commands on tables. */
static unsigned
op_mod_max(uint16_t opcode)
{
	return opcode == PRM_CMD_OP_SET_FLOW_TABLE_ROOT || opcode == PRM_CMD_OP_SET_FLOW_TABLE_ENTRY;
}

int
fw_flow_place_check(struct fw_cmd *c)
{
	unsigned op_mod = prm_create_flow_table_in_get_op_mod(c->in);
	unsigned type = prm_create_flow_table_in_get_table_type(c->in);

	if (op_mod > op_mod_max(c->desc->opcode))
		return fw_refuse(c, FW_OP_MOD, "0x%x", op_mod);
	if (prm_create_flow_table_in_get_other_vport(c->in) ||
	    prm_create_flow_table_in_get_vport_number(c->in))
		return fw_refuse(c, FW_OTHER_FUNCTION, "vport %u",
				 prm_create_flow_table_in_get_vport_number(c->in));
	if (type != PRM_FLOW_TABLE_TYPE_NIC_RX && type != PRM_FLOW_TABLE_TYPE_NIC_TX &&
	    (type != PRM_FLOW_TABLE_TYPE_FDB || !c->dev->eswitch.on))
		return fw_refuse(c, FW_FT_TYPE, "%s (0x%x)", prm_flow_table_type_name(type), type);
	return 0;
}

static unsigned
type_of(const struct fw_cmd *c)
{
	return prm_create_flow_table_in_get_table_type(c->in);
}

int
fw_flow_table_check(struct fw_cmd *c, const struct fw_flow_table *t)
{
	int ret = fw_flow_place_check(c);

	if (ret == 0 && t->ft.type != type_of(c))
		ret = fw_refuse(c, FW_NO_FLOW_TABLE, "table 0x%x has another type", t->ft.obj.id);
	return ret;
}

int
fw_flow_table_need(struct fw_cmd *c, uint32_t id, struct fw_flow_table **t)
{
	int ret = fw_need(c, EMU_OBJ_FLOW_TABLE, id, FW_NO_FLOW_TABLE, t);

	return ret != 0 ? ret : fw_flow_table_check(c, *t);
}

int
fw_flow_lead(struct fw_cmd *c, uint32_t id, unsigned level, struct fw_flow_table **out)
{
	int ret = fw_flow_table_need(c, id, out);

	if (ret == 0 && (*out)->ft.level <= level)
		ret = fw_refuse(c, FW_FT_LEVEL, "table 0x%x has level %u, not above %u", id,
				(*out)->ft.level, level);
	return ret;
}

static void
table_release(struct emu_obj *obj)
{
	struct fw_flow_table *t = (struct fw_flow_table *)obj;

	/* The root table can be destroyed, as Linux does with its last table; there is no root then. */
	if (dp_steer_root(obj->dev, t->ft.type) == &t->ft.table)
		dp_steer_set_root(obj->dev, t->ft.type, NULL);
	if (t->miss != NULL)
		emu_obj_unref(&t->miss->ft.obj);
	emu_dp_forget(obj);
}

/* Destination of a miss; NULL: the default, see fw_create_flow_table(). */
static int
table_miss(struct fw_cmd *c, const struct prm_flow_table_context *ctx, unsigned level,
	   struct fw_flow_table **miss)
{
	unsigned action = prm_flow_table_context_get_table_miss_action(ctx);
	uint32_t id = prm_flow_table_context_get_table_miss_id(ctx);

	*miss = NULL;
	if (action == PRM_FLOW_TABLE_MISS_ACTION_FORWARD)
		return fw_flow_lead(c, id, level, miss);
	if (action != PRM_FLOW_TABLE_MISS_ACTION_DEFAULT)
		return fw_refuse(c, FW_FT_FEATURE, "table_miss_action %s",
				 prm_flow_table_miss_action_name(action));
	if (id != 0)
		return fw_refuse(c, FW_FT_MISS, "table 0x%x", id);
	return 0;
}

/*
 * A table of received packets decapsulates, and one of sent packets encapsulates, unless the FDB does: mlx5_ib sets
 * neither bit for a port of an eswitch, nor when devlink's encap-mode, which is basic by default, is on (hw/mlx5/fs.c,
 * _get_flow_table()).
 * assumed: firmware refuses the bits then. Other reading: it accepts them, and the kernel is careful. Test:
 * fw/test_modify_header.c.
 */
static bool
tunnels_allowed(const struct fw_cmd *c, const struct prm_flow_table_context *ctx)
{
	bool reformat = prm_flow_table_context_get_reformat_en(ctx), decap = prm_flow_table_context_get_decap_en(ctx);
	const struct emu_profile *p = c->dev->profile;

	if (!reformat && !decap)
		return true;
	if (type_of(c) == PRM_FLOW_TABLE_TYPE_FDB || c->dev->eswitch.on)
		return false;
	if (type_of(c) == PRM_FLOW_TABLE_TYPE_NIC_TX)
		return !decap && p->tx_reformat;
	return (!reformat || p->reformat_l3_tunnel_to_l2) && (!decap || p->decap);
}

static int
table_check(struct fw_cmd *c, const struct prm_flow_table_context *ctx)
{
	unsigned level = prm_flow_table_context_get_level(ctx);
	unsigned log_size = prm_flow_table_context_get_log_size(ctx);

	if (!tunnels_allowed(c, ctx) ||
	    prm_flow_table_context_get_sw_owner(ctx) ||
	    prm_flow_table_context_get_termination_table(ctx) ||
	    prm_flow_table_context_get_rtc_valid(ctx) ||
	    prm_flow_table_context_get_sw_owner_icm_root_0(ctx) ||
	    prm_flow_table_context_get_sw_owner_icm_root_1(ctx) ||
	    prm_flow_table_context_get_lag_master_next_table_id(ctx))
		return fw_refuse(c, FW_FT_FEATURE, "%s",
				 "reformat, decap, software owner, termination, RTC or LAG");
	if (level >= EMU_DP_FT_LEVELS)
		return fw_refuse(c, FW_FT_LEVEL, "%u of %u", level, EMU_DP_FT_LEVELS);
	if (log_size > EMU_DP_LOG_FT_ENTRIES)
		return fw_refuse(c, FW_FT_SIZE, "2^%u", log_size);
	return 0;
}

/*
 * A packet that no entry matches is dropped when it is received, and sent when it is to be sent: the default actions of
 * rdma-core's software steering (dr_domain.c, dr_domain_caps_init(): nic_rx_drop_address, nic_tx_allow_address).
 */
int
fw_create_flow_table(struct fw_cmd *c)
{
	const struct prm_flow_table_context *ctx =
		prm_create_flow_table_in_flow_table_context_c(c->in);
	struct fw_flow_table *t, *miss;
	int ret = fw_flow_place_check(c);

	if (ret == 0)
		ret = table_check(c, ctx);
	if (ret == 0)
		ret = table_miss(c, ctx, prm_flow_table_context_get_level(ctx), &miss);
	if (ret == 0)
		ret = fw_create(c, EMU_OBJ_FLOW_TABLE, sizeof(*t), table_release, &t);
	if (ret != 0)
		return ret;
	TAILQ_INIT(&t->groups);
	dp_table_init(&t->ft.table, type_of(c) == PRM_FLOW_TABLE_TYPE_NIC_TX);
	t->ft.type = (uint8_t)type_of(c);
	t->ft.level = (uint8_t)prm_flow_table_context_get_level(ctx);
	t->log_size = (uint8_t)prm_flow_table_context_get_log_size(ctx);
	t->decap_en = prm_flow_table_context_get_decap_en(ctx);
	t->reformat_en = prm_flow_table_context_get_reformat_en(ctx);
	t->miss = miss;
	if (miss != NULL) {
		t->ft.table.miss = &miss->ft.table;
		emu_obj_ref(&miss->ft.obj);
	}
	return 0;
}

int
fw_modify_flow_table(struct fw_cmd *c)
{
	struct fw_flow_table *t = (struct fw_flow_table *)c->obj, *miss;
	unsigned fields = prm_modify_flow_table_in_get_modify_field_select(c->in);
	int ret = fw_flow_table_check(c, t);

	if (ret != 0)
		return ret;
	if (fields != MODIFY_MISS_TABLE)
		return fw_refuse(c, FW_FT_FIELD, "0x%x", fields);
	ret = table_miss(c, prm_modify_flow_table_in_flow_table_context_c(c->in), t->ft.level,
			 &miss);
	if (ret != 0)
		return ret;
	if (miss != NULL)
		emu_obj_ref(&miss->ft.obj);
	if (t->miss != NULL)
		emu_obj_unref(&t->miss->ft.obj);
	t->miss = miss;
	t->ft.table.miss = miss != NULL ? &miss->ft.table : NULL;
	dp_steer_changed(c->dev);
	return 0;
}

int
fw_query_flow_table(struct fw_cmd *c)
{
	const struct fw_flow_table *t = (const struct fw_flow_table *)c->obj;
	struct prm_flow_table_context *ctx = prm_query_flow_table_out_flow_table_context(c->out);
	int ret = fw_flow_table_check(c, t);

	if (ret != 0)
		return ret;
	prm_flow_table_context_set_level(ctx, t->ft.level);
	prm_flow_table_context_set_log_size(ctx, t->log_size);
	prm_flow_table_context_set_decap_en(ctx, t->decap_en);
	prm_flow_table_context_set_reformat_en(ctx, t->reformat_en);
	if (t->miss == NULL)
		return 0;
	prm_flow_table_context_set_table_miss_action(ctx, PRM_FLOW_TABLE_MISS_ACTION_FORWARD);
	prm_flow_table_context_set_table_miss_id(ctx, t->miss->ft.obj.id);
	return 0;
}

int
fw_destroy_flow_table(struct fw_cmd *c)
{
	int ret = fw_flow_table_check(c, (const struct fw_flow_table *)c->obj);

	return ret != 0 ? ret : fw_destroy_object(c);
}

/* The kernel's rules have no effect while a program's table is the root. */
int
fw_set_flow_table_root(struct fw_cmd *c)
{
	unsigned op_mod = prm_set_flow_table_root_in_get_op_mod(c->in);
	uint32_t id = prm_set_flow_table_root_in_get_table_id(c->in);
	struct fw_flow_table *t;
	int ret = fw_flow_place_check(c);

	if (ret != 0)
		return ret;
	/* The root of the FDB is the kernel's. */
	if (type_of(c) == PRM_FLOW_TABLE_TYPE_FDB)
		return fw_refuse(c, FW_FT_TYPE, "%s", "root of the FDB");
	if (prm_set_flow_table_root_in_get_table_of_other_vport(c->in) ||
	    prm_set_flow_table_root_in_get_table_vport_number(c->in) ||
	    prm_set_flow_table_root_in_get_table_eswitch_owner_vhca_id_valid(c->in))
		return fw_refuse(c, FW_OTHER_FUNCTION, "%s", "table of another vport");
	if (prm_set_flow_table_root_in_get_underlay_qpn(c->in))
		return fw_refuse(c, FW_FT_FEATURE, "%s", "underlay QP");
	if (op_mod == ROOT_TO_DEFAULT) {
		dp_steer_set_root(c->dev, type_of(c), NULL);
		return 0;
	}
	ret = fw_flow_table_need(c, id, &t);
	if (ret == 0)
		dp_steer_set_root(c->dev, type_of(c), &t->ft.table);
	return ret;
}

static void
group_release(struct emu_obj *obj)
{
	struct fw_flow_group *g = (struct fw_flow_group *)obj;

	TAILQ_REMOVE(&g->ft->groups, g, next);
	free(g->entry);
	emu_obj_unref(&g->ft->ft.obj);
}

static int
group_range_check(struct fw_cmd *c, const struct fw_flow_table *t, uint32_t first, uint32_t last)
{
	const struct fw_flow_group *g;

	if (first > last || last >> t->log_size != 0)
		return fw_refuse(c, FW_FG_RANGE, "entries %u to %u of 2^%u", first, last,
				 t->log_size);
	TAILQ_FOREACH(g, &t->groups, next)
		if (first <= g->last && g->first <= last)
			return fw_refuse(c, FW_FG_OVERLAP, "entries %u to %u, group 0x%x has %u to %u",
					 first, last, g->obj.id, g->first, g->last);
	return 0;
}

#define CRITERIA_FDB ((unsigned)PRM_MATCH_CRITERIA_ENABLE_OUTER)
#define CRITERIA_NIC \
	((unsigned)(PRM_MATCH_CRITERIA_ENABLE_OUTER | PRM_MATCH_CRITERIA_ENABLE_MISC | \
		    PRM_MATCH_CRITERIA_ENABLE_INNER | PRM_MATCH_CRITERIA_ENABLE_MISC2 | \
		    PRM_MATCH_CRITERIA_ENABLE_MISC3))

/* Only enabled criteria, and only fields that the card compares. */
static int
group_criteria_check(struct fw_cmd *c, const struct fw_flow_table *t, uint32_t mask[DP_KEY_DWORDS])
{
	const struct prm_fte_match_param *param = prm_create_flow_group_in_match_criteria_c(c->in);
	unsigned enable = prm_create_flow_group_in_get_match_criteria_enable(c->in);
	size_t stray = dp_key_stray(param, sizeof(*param));
	uint32_t known[DP_KEY_DWORDS];

	if ((enable & ~(t->ft.type == PRM_FLOW_TABLE_TYPE_FDB ? CRITERIA_FDB : CRITERIA_NIC)) != 0)
		return fw_refuse(c, FW_FG_CRITERIA, "match_criteria_enable 0x%x", enable);
	if (stray != sizeof(*param))
		return fw_refuse(c, FW_FG_CRITERIA, "dword %zu", stray / 4);
	dp_fields(c->dev->profile, t->ft.type == PRM_FLOW_TABLE_TYPE_NIC_TX, known);
	dp_key_load(mask, param, sizeof(*param));
	for (unsigned i = 0; i < DP_KEY_DWORDS; i++) {
		if ((mask[i] & ~known[i]) != 0)
			return fw_refuse(c, FW_FG_CRITERIA, "dword %u, bits 0x%x", i, mask[i] & ~known[i]);
		if (mask[i] != 0 && (enable & 1u << i / DP_SET_DWORDS) == 0)
			return fw_refuse(c, FW_FG_CRITERIA, "dword %u is not enabled", i);
	}
	return 0;
}

int
fw_create_flow_group(struct fw_cmd *c)
{
	uint32_t first = prm_create_flow_group_in_get_start_flow_index(c->in);
	uint32_t last = prm_create_flow_group_in_get_end_flow_index(c->in);
	uint32_t mask[DP_KEY_DWORDS];
	struct fw_fte **entry = NULL;
	struct fw_flow_group *g;
	struct fw_flow_table *t;
	int ret = fw_flow_place_check(c);

	if (ret == 0 && (prm_create_flow_group_in_get_group_type(c->in) ||
			 prm_create_flow_group_in_get_match_definer_id(c->in) ||
			 prm_create_flow_group_in_get_source_eswitch_owner_vhca_id_valid(c->in)))
		ret = fw_refuse(c, FW_FG_FEATURE, "%s", "group type, match definer or eswitch");
	if (ret == 0)
		ret = fw_flow_table_need(c, prm_create_flow_group_in_get_table_id(c->in), &t);
	if (ret == 0)
		ret = group_range_check(c, t, first, last);
	if (ret == 0)
		ret = group_criteria_check(c, t, mask);
	if (ret == 0 && (entry = calloc((size_t)last - first + 1, sizeof(*entry))) == NULL)
		ret = fw_refuse(c, FW_NO_RESOURCES, "%s", "flow groups");
	if (ret == 0)
		ret = fw_create(c, EMU_OBJ_FLOW_GROUP, sizeof(*g), group_release, &g);
	if (ret != 0) {
		free(entry);
		return ret;
	}
	g->ft = t;
	g->entry = entry;
	g->first = first;
	g->last = last;
	g->criteria = (uint8_t)prm_create_flow_group_in_get_match_criteria_enable(c->in);
	dp_mask_set(&g->mask, mask);
	TAILQ_INSERT_TAIL(&t->groups, g, next);
	emu_obj_ref(&t->ft.obj);
	return 0;
}

/* Commands name a group and its table. */
static int
group_check(struct fw_cmd *c)
{
	const struct fw_flow_group *g = (const struct fw_flow_group *)c->obj;
	uint32_t table_id = prm_query_flow_group_in_get_table_id(c->in);
	int ret = fw_flow_table_check(c, g->ft);

	if (ret == 0 && g->ft->ft.obj.id != table_id)
		ret = fw_refuse(c, FW_NO_FLOW_GROUP, "group 0x%x is of table 0x%x, not 0x%x",
				g->obj.id, g->ft->ft.obj.id, table_id);
	return ret;
}

int
fw_query_flow_group(struct fw_cmd *c)
{
	const struct fw_flow_group *g = (const struct fw_flow_group *)c->obj;
	struct prm_fte_match_param *param = prm_query_flow_group_out_match_criteria(c->out);
	int ret = group_check(c);

	if (ret != 0)
		return ret;
	prm_query_flow_group_out_set_start_flow_index(c->out, g->first);
	prm_query_flow_group_out_set_end_flow_index(c->out, g->last);
	prm_query_flow_group_out_set_match_criteria_enable(c->out, g->criteria);
	for (unsigned i = 0; i < DP_KEY_DWORDS; i++)
		param->dw[i] = PRM_BE32(g->mask.dw[i]);
	return 0;
}

int
fw_destroy_flow_group(struct fw_cmd *c)
{
	int ret = group_check(c);

	return ret != 0 ? ret : fw_destroy_object(c);
}

size_t
fw_flow_destroy_in(const struct emu_obj *obj, uint32_t in[16])
{
	if (obj->type == EMU_OBJ_FLOW_TABLE) {
		struct prm_destroy_flow_table_in *d = (void *)in;

		prm_destroy_flow_table_in_set_opcode(d, PRM_CMD_OP_DESTROY_FLOW_TABLE);
		prm_destroy_flow_table_in_set_table_type(d, ((const struct fw_flow_table *)obj)->ft.type);
		prm_destroy_flow_table_in_set_table_id(d, obj->id);
		return sizeof(*d);
	}
	if (obj->type == EMU_OBJ_FLOW_GROUP) {
		const struct fw_flow_group *g = (const struct fw_flow_group *)obj;
		struct prm_destroy_flow_group_in *d = (void *)in;

		prm_destroy_flow_group_in_set_opcode(d, PRM_CMD_OP_DESTROY_FLOW_GROUP);
		prm_destroy_flow_group_in_set_table_type(d, g->ft->ft.type);
		prm_destroy_flow_group_in_set_table_id(d, g->ft->ft.obj.id);
		prm_destroy_flow_group_in_set_group_id(d, obj->id);
		return sizeof(*d);
	}
	return 0;
}

/* The one that begins next, at or after an entry. */
static const struct fw_flow_group *
group_from(const struct fw_flow_table *t, uint32_t at)
{
	const struct fw_flow_group *g, *found = NULL;

	TAILQ_FOREACH(g, &t->groups, next)
		if (g->first >= at && (found == NULL || g->first < found->first))
			found = g;
	return found;
}

bool
emu_fw_group_at(const struct emu_flow_table *t, unsigned i, const struct dp_rule *rule, struct dp_group_info *info)
{
	const struct fw_flow_table *table = (const struct fw_flow_table *)t;
	const struct fw_flow_group *g = group_from(table, 0);

	for (; g != NULL && i > 0; i--)
		g = group_from(table, g->last + 1);
	if (g == NULL)
		return false;
	*info = (struct dp_group_info){
		.id = g->obj.id, .first = g->first, .last = g->last, .rules = g->entries, .mask = &g->mask,
		.has_rule = rule != NULL && rule->mask == &g->mask,
	};
	return true;
}
