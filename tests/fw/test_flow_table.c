/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Flow tables, groups and entries by command: create, query, modify, refusals, references. */
#include <stdlib.h>

#include "dp/emu_dp_fields.h"
#include "fw_fixture.h"

static struct fix f;
static uint32_t tirn, counter;

#define ACTION_TIR PRM_FLOW_ACTION_FWD_DEST
#define MISS_TABLE 1u /* modify_field_select */

/* ---- lawful inboxes ---- */

static void
table_in(struct prm_create_flow_table_in *in, unsigned level, unsigned log_size)
{
	struct prm_flow_table_context *ctx = prm_create_flow_table_in_flow_table_context(in);

	memset(in, 0, sizeof(*in));
	prm_create_flow_table_in_set_opcode(in, PRM_CMD_OP_CREATE_FLOW_TABLE);
	prm_flow_table_context_set_level(ctx, level);
	prm_flow_table_context_set_log_size(ctx, log_size);
}

static uint32_t
table(unsigned level, unsigned log_size)
{
	struct prm_create_flow_table_in in;

	table_in(&in, level, log_size);
	CHECK_EQ(fix_exec(&f, &in, sizeof(in)), 0);
	return fix_id(&f);
}

static struct prm_fte_match_set_lyr_2_4 *
group_in(struct prm_create_flow_group_in *in, uint32_t table_id, uint32_t first, uint32_t last)
{
	memset(in, 0, sizeof(*in));
	prm_create_flow_group_in_set_opcode(in, PRM_CMD_OP_CREATE_FLOW_GROUP);
	prm_create_flow_group_in_set_table_id(in, table_id);
	prm_create_flow_group_in_set_start_flow_index(in, first);
	prm_create_flow_group_in_set_end_flow_index(in, last);
	prm_create_flow_group_in_set_match_criteria_enable(in, PRM_MATCH_CRITERIA_ENABLE_OUTER);
	return prm_fte_match_param_outer_headers(prm_create_flow_group_in_match_criteria(in));
}

/* By ethertype. */
static uint32_t
group(uint32_t table_id, uint32_t first, uint32_t last)
{
	struct prm_create_flow_group_in in;

	prm_fte_match_set_lyr_2_4_set_ethertype(group_in(&in, table_id, first, last), 0xffff);
	CHECK_EQ(fix_exec(&f, &in, sizeof(in)), 0);
	return fix_id(&f);
}

struct fte {
	struct prm_set_fte_in in;
	uint32_t list[4];
	size_t len;
};

static struct prm_flow_context *
fte_in(struct fte *e, uint32_t table_id, uint32_t group_id, uint32_t index)
{
	struct prm_flow_context *ctx = prm_set_fte_in_flow_context(&e->in);

	memset(e, 0, sizeof(*e));
	prm_set_fte_in_set_opcode(&e->in, PRM_CMD_OP_SET_FLOW_TABLE_ENTRY);
	prm_set_fte_in_set_table_id(&e->in, table_id);
	prm_set_fte_in_set_flow_index(&e->in, index);
	prm_flow_context_set_group_id(ctx, group_id);
	prm_fte_match_set_lyr_2_4_set_ethertype(
		prm_fte_match_param_outer_headers(prm_flow_context_match_value(ctx)),
		0x800 + index);
	e->len = sizeof(e->in);
	return ctx;
}

static void
fte_dest(struct fte *e, unsigned type, uint32_t id)
{
	struct prm_flow_context *ctx = prm_set_fte_in_flow_context(&e->in);
	struct prm_dest_format_struct *d = prm_dest_format_flow_counter_list_auto_dest_format_struct(
		prm_flow_context_destination(ctx, 0));

	prm_flow_context_set_action(ctx, ACTION_TIR);
	prm_flow_context_set_destination_list_size(ctx, 1);
	prm_dest_format_struct_set_destination_type(d, type);
	prm_dest_format_struct_set_destination_id(d, id);
	e->len = sizeof(e->in) + 8;
}

static void
fte_count(struct fte *e)
{
	struct prm_flow_context *ctx = prm_set_fte_in_flow_context(&e->in);
	unsigned at = prm_flow_context_get_destination_list_size(ctx);

	prm_flow_context_set_action(ctx, prm_flow_context_get_action(ctx) | PRM_FLOW_ACTION_COUNT);
	prm_flow_context_set_flow_counter_list_size(ctx, 1);
	prm_flow_counter_list_set_flow_counter_id(
		prm_dest_format_flow_counter_list_auto_flow_counter_list(
			prm_flow_context_destination(ctx, at)),
		counter);
	e->len += 8;
}

static uint32_t
fte_exec(const struct fte *e)
{
	return fix_exec(&f, &e->in, e->len);
}

static uint32_t
fte_to_tir(uint32_t table_id, uint32_t group_id, uint32_t index)
{
	struct fte e;

	fte_in(&e, table_id, group_id, index);
	fte_dest(&e, PRM_FLOW_DEST_TYPE_TIR, tirn);
	return fte_exec(&e);
}

/* DESTROY_FLOW_TABLE, DESTROY_FLOW_GROUP, DELETE_FLOW_TABLE_ENTRY and the queries name alike. */
static uint32_t
name(uint16_t opcode, uint32_t table_id, uint32_t group_id, uint32_t index, size_t out_len)
{
	struct prm_delete_fte_in in = {0};

	prm_delete_fte_in_set_opcode(&in, opcode);
	prm_delete_fte_in_set_table_id(&in, table_id);
	in.dw[6] = PRM_BE32(group_id);
	in.dw[8] = PRM_BE32(index);
	return fix_exec_as(&f, f.ctx, &in, sizeof(in), out_len);
}

static uint32_t
table_destroy(uint32_t id)
{
	return name(PRM_CMD_OP_DESTROY_FLOW_TABLE, id, 0, 0, 16);
}

static uint32_t
group_destroy(uint32_t table_id, uint32_t id)
{
	return name(PRM_CMD_OP_DESTROY_FLOW_GROUP, table_id, id, 0, 16);
}

static uint32_t
fte_delete(uint32_t table_id, uint32_t index)
{
	return name(PRM_CMD_OP_DELETE_FLOW_TABLE_ENTRY, table_id, 0, index, 16);
}

#define REFUSED(got, syndrome) CHECK_EQ(got, fix_code(FW_##syndrome))

/* ---- tables ---- */

static uint32_t
table_with(void (*set)(struct prm_flow_table_context *ctx, uint32_t v), uint32_t value)
{
	struct prm_create_flow_table_in in;

	table_in(&in, 3, 4);
	set(prm_create_flow_table_in_flow_table_context(&in), value);
	return fix_exec(&f, &in, sizeof(in));
}

static void
test_table(void)
{
	struct prm_create_flow_table_in in;
	const struct prm_flow_table_context *reply;
	uint32_t id = table(63, 22);

	CHECK_EQ(name(PRM_CMD_OP_QUERY_FLOW_TABLE, id, 0, 0, 64), 0);
	reply = prm_query_flow_table_out_flow_table_context((void *)f.out);
	CHECK_EQ(prm_flow_table_context_get_level(reply), 63);
	CHECK_EQ(prm_flow_table_context_get_log_size(reply), 22);
	CHECK_EQ(prm_flow_table_context_get_table_miss_action(reply), 0);
	CHECK_EQ(table_destroy(id), 0);
	REFUSED(table_destroy(id), NO_OBJECT);
	REFUSED(table_with(prm_flow_table_context_set_level, 64), FT_LEVEL);
	REFUSED(table_with(prm_flow_table_context_set_log_size, 23), FT_SIZE);
	REFUSED(table_with(prm_flow_table_context_set_sw_owner, 1), FT_FEATURE);
	REFUSED(table_with(prm_flow_table_context_set_table_miss_action,
			   PRM_FLOW_TABLE_MISS_ACTION_SWITCH_DOMAIN), FT_FEATURE);
	REFUSED(table_with(prm_flow_table_context_set_table_miss_id, id), FT_MISS);
	REFUSED(table_with(prm_flow_table_context_set_table_miss_action,
			   PRM_FLOW_TABLE_MISS_ACTION_FORWARD), NO_FLOW_TABLE);
	table_in(&in, 0, 0);
	prm_create_flow_table_in_set_table_type(&in, PRM_FLOW_TABLE_TYPE_RDMA_TX);
	REFUSED(fix_exec(&f, &in, sizeof(in)), FT_TYPE);
	table_in(&in, 0, 0);
	prm_create_flow_table_in_set_other_vport(&in, 1);
	REFUSED(fix_exec(&f, &in, sizeof(in)), OTHER_FUNCTION);
	table_in(&in, 0, 0);
	prm_create_flow_table_in_set_op_mod(&in, 1);
	REFUSED(fix_exec(&f, &in, sizeof(in)), OP_MOD);
}

static uint32_t
set_miss(uint32_t id, unsigned fields, unsigned action, uint32_t to)
{
	struct prm_modify_flow_table_in in = {0};
	struct prm_flow_table_context *ctx = prm_modify_flow_table_in_flow_table_context(&in);

	prm_modify_flow_table_in_set_opcode(&in, PRM_CMD_OP_MODIFY_FLOW_TABLE);
	prm_modify_flow_table_in_set_table_id(&in, id);
	prm_modify_flow_table_in_set_modify_field_select(&in, fields);
	prm_flow_table_context_set_table_miss_action(ctx, action);
	prm_flow_table_context_set_table_miss_id(ctx, to);
	return fix_exec(&f, &in, sizeof(in));
}

static void
test_miss(void)
{
	uint32_t low = table(1, 2), high = table(2, 2);
	const struct prm_flow_table_context *reply;
	struct prm_modify_flow_table_in in = {0};

	/* The table has another type than the command. */
	prm_modify_flow_table_in_set_opcode(&in, PRM_CMD_OP_MODIFY_FLOW_TABLE);
	prm_modify_flow_table_in_set_table_id(&in, low);
	prm_modify_flow_table_in_set_table_type(&in, PRM_FLOW_TABLE_TYPE_FDB);
	prm_modify_flow_table_in_set_modify_field_select(&in, MISS_TABLE);
	REFUSED(fix_exec(&f, &in, sizeof(in)), FT_TYPE);
	REFUSED(set_miss(low, 0, PRM_FLOW_TABLE_MISS_ACTION_FORWARD, high), FT_FIELD);
	REFUSED(set_miss(low, 0x8001, PRM_FLOW_TABLE_MISS_ACTION_FORWARD, high), FT_FIELD);
	REFUSED(set_miss(high, MISS_TABLE, PRM_FLOW_TABLE_MISS_ACTION_FORWARD, low), FT_LEVEL);
	REFUSED(set_miss(low, MISS_TABLE, PRM_FLOW_TABLE_MISS_ACTION_FORWARD, low), FT_LEVEL);
	for (unsigned i = 0; i < 2; i++)
		CHECK_EQ(set_miss(low, MISS_TABLE, PRM_FLOW_TABLE_MISS_ACTION_FORWARD, high), 0);
	CHECK_EQ(name(PRM_CMD_OP_QUERY_FLOW_TABLE, low, 0, 0, 64), 0);
	reply = prm_query_flow_table_out_flow_table_context((void *)f.out);
	CHECK_EQ(prm_flow_table_context_get_table_miss_id(reply), high);
	CHECK_EQ(prm_flow_table_context_get_table_miss_action(reply), 1);
	REFUSED(table_destroy(high), BUSY);
	CHECK_EQ(*(uint8_t *)f.out, PRM_STATUS_BAD_RES_STATE);
	CHECK_EQ(set_miss(low, MISS_TABLE, PRM_FLOW_TABLE_MISS_ACTION_DEFAULT, 0), 0);
	CHECK_EQ(table_destroy(high), 0);
	CHECK_EQ(table_destroy(low), 0);
}

static uint32_t
root(unsigned op_mod, uint32_t id)
{
	struct prm_set_flow_table_root_in in = {0};

	prm_set_flow_table_root_in_set_opcode(&in, PRM_CMD_OP_SET_FLOW_TABLE_ROOT);
	prm_set_flow_table_root_in_set_op_mod(&in, op_mod);
	prm_set_flow_table_root_in_set_table_id(&in, id);
	return fix_exec(&f, &in, sizeof(in));
}

/* The root may be taken down while it is one, as Linux does with its last table. */
static void
test_root(void)
{
	uint32_t id = table(0, 2), other = table(5, 2);

	CHECK(dp_steer_root(f.dev, PRM_FLOW_TABLE_TYPE_NIC_RX) == NULL);
	REFUSED(root(0, 0), NO_FLOW_TABLE);
	REFUSED(root(2, id), OP_MOD);
	CHECK_EQ(root(0, id), 0);
	CHECK(dp_steer_root(f.dev, PRM_FLOW_TABLE_TYPE_NIC_RX) != NULL);
	CHECK_EQ(root(0, other), 0);
	CHECK_EQ(table_destroy(id), 0);
	CHECK(dp_steer_root(f.dev, PRM_FLOW_TABLE_TYPE_NIC_RX) != NULL);
	CHECK_EQ(root(1, 0), 0);
	CHECK(dp_steer_root(f.dev, PRM_FLOW_TABLE_TYPE_NIC_RX) == NULL);
	CHECK_EQ(root(0, other), 0);
	CHECK_EQ(table_destroy(other), 0);
	CHECK(dp_steer_root(f.dev, PRM_FLOW_TABLE_TYPE_NIC_RX) == NULL);
}

/* ---- groups ---- */

static void
test_group_range(void)
{
	static const struct {
		uint32_t first, last;
		enum fw_syndrome answer;
	} row[] = {
		{4, 7, FW_OK}, {0, 3, FW_OK}, {8, 8, FW_OK}, {9, 15, FW_OK},
		{3, 4, FW_FG_OVERLAP}, {7, 7, FW_FG_OVERLAP}, {0, 15, FW_FG_OVERLAP},
		{5, 6, FW_FG_OVERLAP}, {8, 16, FW_FG_RANGE}, {2, 1, FW_FG_RANGE},
		{0, 0xffffffff, FW_FG_RANGE},
	};
	uint32_t id = table(0, 4), made[4];

	for (unsigned i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		struct prm_create_flow_group_in in;

		group_in(&in, id, row[i].first, row[i].last);
		CHECK_EQ(fix_exec(&f, &in, sizeof(in)), fix_code(row[i].answer));
		if (row[i].answer == FW_OK)
			made[i] = fix_id(&f);
	}
	REFUSED(table_destroy(id), BUSY);
	for (unsigned i = 0; i < 4; i++) {
		REFUSED(group_destroy(id + 1, made[i]), NO_FLOW_GROUP);
		CHECK_EQ(group_destroy(id, made[i]), 0);
		REFUSED(group_destroy(id, made[i]), NO_OBJECT);
	}
	CHECK_EQ(table_destroy(id), 0);
}

static void
test_group_criteria(void)
{
	uint32_t id = table(0, 4), g, known[DP_KEY_DWORDS];
	struct prm_create_flow_group_in in;
	struct prm_fte_match_set_lyr_2_4 *outer = group_in(&in, id, 2, 5);
	struct prm_fte_match_param *param = prm_create_flow_group_in_match_criteria(&in);
	const struct prm_query_flow_group_out *reply = (void *)f.out;
	/*
	 * l4_type, source_port, bth_dst_qp, metadata_reg_b, geneve_tlv_option_0_data, misc4, misc5. Reserved bits have
	 * another syndrome.
	 */
	static const unsigned others[][2] = {{6, 30}, {17, 0}, {26, 0}, {61, 0}, {73, 0}, {80, 0}, {96, 0}};

	/* All that the capabilities name, at once; the query returns them unchanged. */
	dp_fields(f.dev->profile, false, known);
	for (unsigned i = 0; i < DP_KEY_DWORDS; i++)
		param->dw[i] = PRM_BE32(known[i]);
	prm_create_flow_group_in_set_match_criteria_enable(&in, 0x1f);
	CHECK_EQ(fix_exec(&f, &in, sizeof(in)), 0);
	g = fix_id(&f);
	CHECK_EQ(name(PRM_CMD_OP_QUERY_FLOW_GROUP, id, g, 0, PRM_QUERY_FLOW_GROUP_OUT_BYTES), 0);
	CHECK_EQ(prm_query_flow_group_out_get_start_flow_index(reply), 2);
	CHECK_EQ(prm_query_flow_group_out_get_end_flow_index(reply), 5);
	CHECK_EQ(prm_query_flow_group_out_get_match_criteria_enable(reply), 0x1f);
	CHECK(memcmp(prm_query_flow_group_out_match_criteria_c(reply),
		     prm_create_flow_group_in_match_criteria_c(&in),
		     PRM_FTE_MATCH_PARAM_BYTES) == 0);
	REFUSED(name(PRM_CMD_OP_QUERY_FLOW_GROUP, id + 1, g, 0, PRM_QUERY_FLOW_GROUP_OUT_BYTES),
		NO_FLOW_GROUP);
	CHECK_EQ(group_destroy(id, g), 0);
	/* Each part is enabled by its bit. */
	for (unsigned i = 0; i < 5; i++) {
		prm_create_flow_group_in_set_match_criteria_enable(&in, 0x1fu & ~(1u << i));
		REFUSED(fix_exec(&f, &in, sizeof(in)), FG_CRITERIA);
	}
	outer = group_in(&in, id, 2, 5);
	prm_fte_match_set_lyr_2_4_set_ethertype(outer, 0xffff);
	prm_create_flow_group_in_set_match_criteria_enable(&in, 0x20 | PRM_MATCH_CRITERIA_ENABLE_OUTER);
	REFUSED(fix_exec(&f, &in, sizeof(in)), FG_CRITERIA);
	for (unsigned i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		group_in(&in, id, 2, 5);
		param->dw[others[i][0]] = PRM_BE32(1u << others[i][1]);
		prm_create_flow_group_in_set_match_criteria_enable(&in, 0x1f);
		REFUSED(fix_exec(&f, &in, sizeof(in)), FG_CRITERIA);
	}
	group_in(&in, id, 2, 5);
	prm_create_flow_group_in_set_group_type(&in, 1);
	REFUSED(fix_exec(&f, &in, sizeof(in)), FG_FEATURE);
	group_in(&in, id + 1, 2, 5);
	REFUSED(fix_exec(&f, &in, sizeof(in)), NO_FLOW_TABLE);
	CHECK_EQ(table_destroy(id), 0);
}

/* ---- entries ---- */

static void
test_entry(void)
{
	uint32_t id = table(0, 4), to = table(1, 0), g = group(id, 4, 11);
	const struct prm_flow_context *reply;
	struct fte e;

	fte_in(&e, id, g, 6);
	fte_dest(&e, PRM_FLOW_DEST_TYPE_FLOW_TABLE, to);
	prm_flow_context_set_flow_tag(prm_set_fte_in_flow_context(&e.in), 0xabcdef);
	fte_count(&e);
	CHECK_EQ(fte_exec(&e), 0);
	CHECK(f.created != NULL && f.created->type == EMU_OBJ_FTE);
	REFUSED(fte_exec(&e), FTE_EXISTS);
	CHECK_EQ(name(PRM_CMD_OP_QUERY_FLOW_TABLE_ENTRY, id, 0, 6, PRM_QUERY_FTE_OUT_BYTES + 16),
		 0);
	reply = prm_query_fte_out_flow_context((void *)f.out);
	CHECK(memcmp(reply, prm_set_fte_in_flow_context(&e.in), PRM_FLOW_CONTEXT_BYTES + 16) == 0);
	REFUSED(name(PRM_CMD_OP_QUERY_FLOW_TABLE_ENTRY, id, 0, 7, PRM_QUERY_FTE_OUT_BYTES), NO_FTE);
	/* Everything that it uses stays. */
	REFUSED(group_destroy(id, g), BUSY);
	REFUSED(table_destroy(to), BUSY);
	REFUSED(fix_simple(&f, PRM_CMD_OP_DEALLOC_FLOW_COUNTER, counter), BUSY);
	CHECK_EQ(fte_to_tir(id, g, 4), 0);
	CHECK_EQ(fte_to_tir(id, g, 11), 0);
	REFUSED(fte_to_tir(id, g, 3), FTE_INDEX);
	REFUSED(fte_to_tir(id, g, 12), FTE_INDEX);
	REFUSED(fte_to_tir(to, g, 4), NO_FLOW_GROUP);
	REFUSED(fte_to_tir(id, g + 1, 5), NO_FLOW_GROUP);
	REFUSED(fix_simple(&f, PRM_CMD_OP_DESTROY_TIR, tirn), BUSY);
	REFUSED(fte_delete(id, 5), NO_FTE);
	REFUSED(fte_delete(to, 6), NO_FTE);
	/* The front end's way of undoing, and the command. */
	CHECK_EQ(fte_delete(id, 4), 0);
	CHECK_EQ(fte_delete(id, 11), 0);
	CHECK_EQ(fte_delete(id, 6), 0);
	CHECK_EQ(group_destroy(id, g), 0);
	CHECK_EQ(table_destroy(id), 0);
	CHECK_EQ(table_destroy(to), 0);
}

static void
test_entry_refusals(void)
{
	uint32_t id = table(3, 4), same = table(3, 0), g = group(id, 0, 15);
	struct prm_flow_context *ctx;
	struct fte e;

	ctx = fte_in(&e, id, g, 0);
	REFUSED(fte_exec(&e), FTE_ACTION); /* neither drop nor forward */
	prm_flow_context_set_action(ctx, PRM_FLOW_ACTION_ALLOW);
	REFUSED(fte_exec(&e), FTE_ACTION);
	/* Of sent packets. */
	prm_flow_context_set_action(ctx, PRM_FLOW_ACTION_DROP | PRM_FLOW_ACTION_VLAN_PUSH);
	REFUSED(fte_exec(&e), FTE_CHANGE);
	prm_flow_context_set_action(ctx, PRM_FLOW_ACTION_FWD_DEST);
	REFUSED(fte_exec(&e), FTE_LISTS);
	prm_flow_context_set_action(ctx, PRM_FLOW_ACTION_DROP | PRM_FLOW_ACTION_COUNT);
	REFUSED(fte_exec(&e), FTE_LISTS);
	ctx = fte_in(&e, id, g, 0);
	fte_dest(&e, PRM_FLOW_DEST_TYPE_TIR, tirn);
	prm_flow_context_set_action(ctx, ACTION_TIR | PRM_FLOW_ACTION_DROP);
	REFUSED(fte_exec(&e), FTE_ACTION);
	prm_flow_context_set_action(ctx, PRM_FLOW_ACTION_DROP);
	REFUSED(fte_exec(&e), FTE_LISTS);
	prm_flow_context_set_action(ctx, ACTION_TIR);
	e.len -= 4;
	REFUSED(fte_exec(&e), FTE_LIST_LEN);
	prm_flow_context_set_destination_list_size(ctx, 2);
	REFUSED(fte_exec(&e), FTE_LISTS);
	fte_dest(&e, PRM_FLOW_DEST_TYPE_TIR, tirn + 1);
	REFUSED(fte_exec(&e), NO_TIR);
	fte_dest(&e, PRM_FLOW_DEST_TYPE_VPORT, 0);
	REFUSED(fte_exec(&e), FTE_DEST);
	fte_dest(&e, PRM_FLOW_DEST_TYPE_FLOW_TABLE, id);
	REFUSED(fte_exec(&e), FT_LEVEL);
	fte_dest(&e, PRM_FLOW_DEST_TYPE_FLOW_TABLE, same);
	REFUSED(fte_exec(&e), FT_LEVEL);
	fte_dest(&e, PRM_FLOW_DEST_TYPE_TIR, tirn);
	prm_flow_context_set_flow_source(ctx, 1);
	REFUSED(fte_exec(&e), FTE_FEATURE);
	ctx = fte_in(&e, id, g, 0);
	fte_dest(&e, PRM_FLOW_DEST_TYPE_TIR, tirn);
	prm_fte_match_set_lyr_2_4_set_ip_protocol(
		prm_fte_match_param_outer_headers(prm_flow_context_match_value(ctx)), 6);
	REFUSED(fte_exec(&e), FTE_VALUE);
	ctx = fte_in(&e, id, g, 0);
	fte_dest(&e, PRM_FLOW_DEST_TYPE_TIR, tirn);
	prm_flow_context_match_value(ctx)->dw[100] = 1;
	REFUSED(fte_exec(&e), FTE_VALUE);
	CHECK_EQ(group_destroy(id, g), 0);
	CHECK_EQ(table_destroy(same), 0);
	CHECK_EQ(table_destroy(id), 0);
}

/* Tables of sent packets: no TIRs, no tags, and they lead to each other only. */
static void
test_sent(void)
{
	struct prm_create_flow_table_in in;
	struct prm_create_flow_group_in group_cmd = {0};
	struct prm_flow_context *ctx;
	uint32_t id, g, rx = table(4, 0);
	struct fte e;

	table_in(&in, 3, 4);
	prm_create_flow_table_in_set_table_type(&in, PRM_FLOW_TABLE_TYPE_NIC_TX);
	prm_flow_table_context_set_decap_en(prm_create_flow_table_in_flow_table_context(&in), 1);
	REFUSED(fix_exec(&f, &in, sizeof(in)), FT_FEATURE);
	prm_flow_table_context_set_decap_en(prm_create_flow_table_in_flow_table_context(&in), 0);
	CHECK_EQ(fix_exec(&f, &in, sizeof(in)), 0);
	id = fix_id(&f);
	prm_create_flow_group_in_set_opcode(&group_cmd, PRM_CMD_OP_CREATE_FLOW_GROUP);
	prm_create_flow_group_in_set_table_id(&group_cmd, id);
	REFUSED(fix_exec(&f, &group_cmd, sizeof(group_cmd)), NO_FLOW_TABLE);
	prm_create_flow_group_in_set_table_type(&group_cmd, PRM_FLOW_TABLE_TYPE_NIC_TX);
	CHECK_EQ(fix_exec(&f, &group_cmd, sizeof(group_cmd)), 0);
	g = fix_id(&f);
	ctx = fte_in(&e, id, g, 0);
	memset(prm_flow_context_match_value(ctx), 0, sizeof(struct prm_fte_match_param));
	prm_set_fte_in_set_table_type(&e.in, PRM_FLOW_TABLE_TYPE_NIC_TX);
	fte_dest(&e, PRM_FLOW_DEST_TYPE_TIR, tirn);
	REFUSED(fte_exec(&e), FTE_DEST);
	fte_dest(&e, PRM_FLOW_DEST_TYPE_FLOW_TABLE, rx);
	REFUSED(fte_exec(&e), NO_FLOW_TABLE);
	prm_flow_context_set_destination_list_size(ctx, 0);
	e.len = sizeof(e.in);
	prm_flow_context_set_action(ctx, PRM_FLOW_ACTION_ALLOW | PRM_FLOW_ACTION_DROP);
	REFUSED(fte_exec(&e), FTE_ACTION);
	prm_flow_context_set_action(ctx, PRM_FLOW_ACTION_ALLOW);
	prm_flow_context_set_flow_tag(ctx, 1);
	REFUSED(fte_exec(&e), FTE_FEATURE);
	prm_flow_context_set_flow_tag(ctx, 0);
	prm_flow_context_set_action(ctx, PRM_FLOW_ACTION_ALLOW | PRM_FLOW_ACTION_VLAN_POP);
	REFUSED(fte_exec(&e), FTE_CHANGE);
	prm_flow_context_set_action(ctx, PRM_FLOW_ACTION_ALLOW);
	CHECK_EQ(fte_exec(&e), 0);
}

/* A card with the capability has entries that lead to tables of any level, if they say so. */
static void
test_ignore_level(void)
{
	uint32_t id = table(3, 4), low = table(2, 0), g = group(id, 0, 15);
	struct fte e;

	fte_in(&e, id, g, 0);
	fte_dest(&e, PRM_FLOW_DEST_TYPE_FLOW_TABLE, low);
	REFUSED(fte_exec(&e), FT_LEVEL);
	prm_set_fte_in_set_ignore_flow_level(&e.in, 1);
	CHECK_EQ(fte_exec(&e), 0);
	fte_in(&e, id, g, 1);
	fte_dest(&e, PRM_FLOW_DEST_TYPE_FLOW_TABLE, id);
	prm_set_fte_in_set_ignore_flow_level(&e.in, 1);
	CHECK_EQ(fte_exec(&e), 0);
	f.dev->profile = emu_profile_find("cx4lx");
	fte_in(&e, id, g, 2);
	fte_dest(&e, PRM_FLOW_DEST_TYPE_TIR, tirn);
	prm_set_fte_in_set_ignore_flow_level(&e.in, 1);
	REFUSED(fte_exec(&e), FTE_FEATURE);
	f.dev->profile = fix_profile();
	CHECK_EQ(fte_delete(id, 0), 0);
	CHECK_EQ(fte_delete(id, 1), 0);
	CHECK_EQ(group_destroy(id, g), 0);
	CHECK_EQ(table_destroy(low), 0);
	CHECK_EQ(table_destroy(id), 0);
}

/* What is not named in the mask stays as it is, and so does an entry that is refused. */
static void
test_modify(void)
{
	uint32_t id = table(0, 2), g = group(id, 0, 3);
	const struct prm_flow_context *reply;
	struct prm_flow_context *ctx;
	struct fte e;

	CHECK_EQ(fte_to_tir(id, g, 1), 0);
	ctx = fte_in(&e, id, g, 1);
	prm_set_fte_in_set_op_mod(&e.in, 1);
	prm_flow_context_set_action(ctx, PRM_FLOW_ACTION_DROP);
	prm_flow_context_set_flow_tag(ctx, 0x77);
	REFUSED(fte_exec(&e), FTE_FIELD);
	prm_set_fte_in_set_modify_enable_mask(&e.in, PRM_MODIFY_FTE_MASK_IPSEC_OBJ_ID);
	REFUSED(fte_exec(&e), FTE_FIELD);
	prm_set_fte_in_set_modify_enable_mask(&e.in, PRM_MODIFY_FTE_MASK_ACTION);
	REFUSED(fte_exec(&e), FTE_LISTS); /* drop, but its TIR is still there */
	prm_set_fte_in_set_modify_enable_mask(&e.in, PRM_MODIFY_FTE_MASK_ACTION |
						     PRM_MODIFY_FTE_MASK_DESTINATION_LIST);
	CHECK_EQ(fte_exec(&e), 0);
	CHECK_EQ(name(PRM_CMD_OP_QUERY_FLOW_TABLE_ENTRY, id, 0, 1, PRM_QUERY_FTE_OUT_BYTES), 0);
	reply = prm_query_fte_out_flow_context((void *)f.out);
	CHECK_EQ(prm_flow_context_get_action(reply), PRM_FLOW_ACTION_DROP);
	CHECK_EQ(prm_flow_context_get_flow_tag(reply), 0);
	CHECK_EQ(prm_flow_context_get_destination_list_size(reply), 0);
	/* Its TIR is free, until it comes back. */
	fte_dest(&e, PRM_FLOW_DEST_TYPE_TIR, tirn);
	prm_set_fte_in_set_modify_enable_mask(&e.in, PRM_MODIFY_FTE_MASK_ACTION |
						     PRM_MODIFY_FTE_MASK_FLOW_TAG |
						     PRM_MODIFY_FTE_MASK_DESTINATION_LIST);
	CHECK_EQ(fte_exec(&e), 0);
	REFUSED(fix_simple(&f, PRM_CMD_OP_DESTROY_TIR, tirn), BUSY);
	CHECK_EQ(name(PRM_CMD_OP_QUERY_FLOW_TABLE_ENTRY, id, 0, 1, PRM_QUERY_FTE_OUT_BYTES), 0);
	CHECK_EQ(prm_flow_context_get_flow_tag(reply), 0x77);
	prm_set_fte_in_set_flow_index(&e.in, 2);
	REFUSED(fte_exec(&e), NO_FTE);
	CHECK_EQ(fte_delete(id, 1), 0);
	CHECK_EQ(group_destroy(id, g), 0);
	CHECK_EQ(table_destroy(id), 0);
}

/* ---- users ---- */

/* Others neither name tables nor lead to them; what a user leaves behind is taken down whole. */
static void
test_users(void)
{
	uint32_t id = table(0, 2), g = group(id, 0, 3), to = table(9, 0);
	struct prm_create_flow_group_in in;
	void *file;
	struct emu_ctx *other = fix_other_user(&f, &file);
	struct fte e;

	group_in(&in, id, 0, 3);
	REFUSED(fix_exec_as(&f, other, &in, sizeof(in), 64), NO_FLOW_TABLE);
	fte_in(&e, id, g, 0);
	fte_dest(&e, PRM_FLOW_DEST_TYPE_FLOW_TABLE, to);
	REFUSED(fix_exec_as(&f, other, &e.in, e.len, 64), NO_FLOW_TABLE);
	CHECK_EQ(fte_exec(&e), 0);
	CHECK_EQ(emu_ctx_close(other), 0);
	emu_file_unmap(file);
	/* An object each, whatever way they go: FTE, group and two tables, undone by their command. */
	for (struct emu_obj *obj; (obj = TAILQ_FIRST(&f.ctx->owned))->type >= EMU_OBJ_FLOW_TABLE;) {
		struct emu_obj *next = obj;

		while (next != NULL && next->refs != 0)
			next = TAILQ_NEXT(next, owned);
		CHECK(next != NULL);
		if (next == NULL)
			return;
		CHECK_EQ(emu_fw_destroy(f.ctx, next, NULL, 0), 0);
	}
	id = table(0, 2);
	g = group(id, 0, 3);
	CHECK_EQ(fte_to_tir(id, g, 0), 0);
	CHECK_EQ(root(0, id), 0);
}

int
main(void)
{
	uint32_t cqn, rqn;

	fix_open(&f);
	cqn = fix_cq(&f);
	rqn = fix_rq(&f, cqn);
	tirn = fix_tir(&f, rqn);
	CHECK_EQ(fix_simple(&f, PRM_CMD_OP_ALLOC_FLOW_COUNTER, 0), 0);
	counter = fix_id(&f);
	test_table();
	test_miss();
	test_root();
	test_group_range();
	test_group_criteria();
	test_entry();
	test_entry_refusals();
	test_ignore_level();
	test_sent();
	test_modify();
	test_users();
	fix_close(&f);
	return fix_result("flow tables");
}
