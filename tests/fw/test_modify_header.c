/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Modify header and packet reformat contexts, and entries that refer to them: create, query, refusals. */
#include "dp/emu_dp_modify.h"
#include "fw_fixture.h"

static struct fix f;
static uint32_t tirn;

#define MAX 16u

/* ---- contexts ---- */

struct modify {
	struct prm_alloc_modify_header_context_in in;
	struct prm_set_add_copy_action_in_auto action[MAX + 1];
};

static struct prm_set_action_in *
action(struct modify *m, unsigned i, unsigned type, unsigned field)
{
	struct prm_set_action_in *a = prm_set_add_copy_action_in_auto_set_action_in(&m->action[i]);

	prm_set_action_in_set_action_type(a, type);
	prm_set_action_in_set_field(a, field);
	return a;
}

static void
modify_in(struct modify *m, unsigned n)
{
	memset(m, 0, sizeof(*m));
	prm_alloc_modify_header_context_in_set_opcode(&m->in, PRM_CMD_OP_ALLOC_MODIFY_HEADER_CONTEXT);
	prm_alloc_modify_header_context_in_set_num_of_actions(&m->in, n);
	for (unsigned i = 0; i < n && i <= MAX; i++)
		action(m, i, PRM_ACTION_TYPE_SET, PRM_ACTION_IN_FIELD_OUT_SIPV4);
}

static uint32_t
modify_exec(const struct modify *m)
{
	unsigned n = prm_alloc_modify_header_context_in_get_num_of_actions(&m->in);

	return fix_exec(&f, m, sizeof(m->in) + n * sizeof(m->action[0]));
}

static uint32_t
modify(void)
{
	struct modify m;

	modify_in(&m, 1);
	CHECK_EQ(modify_exec(&m), 0);
	return fix_id(&f);
}

#define REFUSED(call, name) CHECK_EQ(call, fix_code(FW_##name))

static void
test_contexts(void)
{
	struct modify m;
	uint32_t id;

	modify_in(&m, MAX);
	CHECK_EQ(modify_exec(&m), 0);
	id = fix_id(&f);
	CHECK_EQ(fix_simple(&f, PRM_CMD_OP_DEALLOC_MODIFY_HEADER_CONTEXT, id), 0);
	REFUSED(fix_simple(&f, PRM_CMD_OP_DEALLOC_MODIFY_HEADER_CONTEXT, id), NO_OBJECT);
	modify_in(&m, 0);
	REFUSED(modify_exec(&m), MODIFY_COUNT);
	modify_in(&m, MAX + 1);
	REFUSED(modify_exec(&m), MODIFY_COUNT);
	modify_in(&m, 2);
	REFUSED(fix_exec(&f, &m, sizeof(m.in) + sizeof(m.action[0])), MODIFY_LEN);
	prm_alloc_modify_header_context_in_set_table_type(&m.in, PRM_FLOW_TABLE_TYPE_FDB);
	REFUSED(modify_exec(&m), FT_TYPE);
	modify_in(&m, 1);
	prm_alloc_modify_header_context_in_set_op_mod(&m.in, 1);
	REFUSED(modify_exec(&m), OP_MOD);
}

static void
test_actions(void)
{
	struct prm_set_action_in *a;
	struct modify m;

	modify_in(&m, 1);
	a = action(&m, 0, PRM_ACTION_TYPE_INSERT, PRM_ACTION_IN_FIELD_OUT_SIPV4);
	REFUSED(modify_exec(&m), MODIFY_ACTION);
	action(&m, 0, PRM_ACTION_TYPE_SET, PRM_ACTION_IN_FIELD_OUT_ETHERTYPE);
	REFUSED(modify_exec(&m), MODIFY_FIELD);
	action(&m, 0, PRM_ACTION_TYPE_SET, PRM_ACTION_IN_FIELD_METADATA_REG_A);
	REFUSED(modify_exec(&m), MODIFY_FIELD);
	prm_alloc_modify_header_context_in_set_table_type(&m.in, PRM_FLOW_TABLE_TYPE_NIC_TX);
	CHECK_EQ(modify_exec(&m), 0);
	prm_alloc_modify_header_context_in_set_table_type(&m.in, PRM_FLOW_TABLE_TYPE_NIC_RX);
	action(&m, 0, PRM_ACTION_TYPE_SET, PRM_ACTION_IN_FIELD_OUT_IPV4_TTL);
	REFUSED(modify_exec(&m), MODIFY_PART); /* 32 bits */
	prm_set_action_in_set_length(a, 8);
	CHECK_EQ(modify_exec(&m), 0);
	prm_set_action_in_set_offset(a, 1);
	REFUSED(modify_exec(&m), MODIFY_PART);
	prm_set_action_in_set_length(a, 7);
	prm_set_action_in_set_data(a, 0x7f);
	CHECK_EQ(modify_exec(&m), 0);
	prm_set_action_in_set_data(a, 0x80);
	REFUSED(modify_exec(&m), MODIFY_PART);
	m.action[0].dw[0] |= PRM_BE32(1u << 13);
	REFUSED(modify_exec(&m), MODIFY_ACTION);
	/* An ADD is to the whole field. */
	modify_in(&m, 1);
	a = action(&m, 0, PRM_ACTION_TYPE_ADD, PRM_ACTION_IN_FIELD_OUT_IPV4_TTL);
	prm_set_action_in_set_data(a, UINT32_MAX);
	CHECK_EQ(modify_exec(&m), 0);
	prm_set_action_in_set_length(a, 8);
	CHECK_EQ(modify_exec(&m), 0);
	prm_set_action_in_set_length(a, 4);
	REFUSED(modify_exec(&m), MODIFY_PART);
}

static void
test_copy(void)
{
	struct prm_copy_action_in *c;
	struct modify m;

	modify_in(&m, 1);
	c = prm_set_add_copy_action_in_auto_copy_action_in(&m.action[0]);
	action(&m, 0, PRM_ACTION_TYPE_COPY, PRM_ACTION_IN_FIELD_METADATA_REG_C_1);
	prm_copy_action_in_set_length(c, 16);
	prm_copy_action_in_set_src_offset(c, 16);
	REFUSED(modify_exec(&m), MODIFY_FIELD); /* no destination */
	prm_copy_action_in_set_dst_field(c, PRM_ACTION_IN_FIELD_OUT_UDP_DPORT);
	CHECK_EQ(modify_exec(&m), 0);
	prm_copy_action_in_set_dst_offset(c, 1);
	REFUSED(modify_exec(&m), MODIFY_PART);
	prm_copy_action_in_set_dst_offset(c, 0);
	prm_copy_action_in_set_src_offset(c, 17);
	REFUSED(modify_exec(&m), MODIFY_PART);
	prm_copy_action_in_set_src_offset(c, 16);
	m.action[0].dw[1] |= PRM_BE32(1);
	REFUSED(modify_exec(&m), MODIFY_ACTION);
	modify_in(&m, 1);
	action(&m, 0, PRM_ACTION_TYPE_COPY, 0x7f);
	prm_copy_action_in_set_dst_field(c, PRM_ACTION_IN_FIELD_OUT_SIPV4);
	REFUSED(modify_exec(&m), MODIFY_FIELD);
}

/* ---- packet reformat ---- */

#define DATA_AT 34u
#define DATA_BYTES 176u

static struct prm_packet_reformat_context_in *
reformat_in(uint8_t in[DATA_BYTES], unsigned type, unsigned bytes)
{
	struct prm_packet_reformat_context_in *r =
		prm_alloc_packet_reformat_context_in_packet_reformat_context((void *)in);

	memset(in, 0, DATA_BYTES);
	prm_alloc_packet_reformat_context_in_set_opcode((void *)in, PRM_CMD_OP_ALLOC_PACKET_REFORMAT_CONTEXT);
	prm_packet_reformat_context_in_set_reformat_type(r, type);
	prm_packet_reformat_context_in_set_reformat_data_size(r, bytes);
	memset(in + DATA_AT, 0x5a, bytes);
	return r;
}

static uint32_t
reformat(void)
{
	_Alignas(8) uint8_t in[DATA_BYTES];

	(void)reformat_in(in, PRM_REFORMAT_TYPE_L3_TUNNEL_TO_L2, 14);
	CHECK_EQ(fix_exec(&f, in, DATA_AT + 14), 0);
	return fix_id(&f);
}

static void
test_reformat(void)
{
	struct prm_packet_reformat_context_in *r;
	_Alignas(8) uint8_t in[DATA_BYTES];

	CHECK_EQ(fix_simple(&f, PRM_CMD_OP_DEALLOC_PACKET_REFORMAT_CONTEXT, reformat()), 0);
	(void)reformat_in(in, PRM_REFORMAT_TYPE_L2_TO_VXLAN, 50);
	REFUSED(fix_exec(&f, in, DATA_AT + 50), REFORMAT_TYPE);
	for (unsigned type = PRM_REFORMAT_TYPE_L2_TO_L2_TUNNEL; type <= PRM_REFORMAT_TYPE_L2_TO_L3_TUNNEL; type += 2) {
		(void)reformat_in(in, type, 13);
		REFUSED(fix_exec(&f, in, DATA_AT + 13), REFORMAT_DATA);
		(void)reformat_in(in, type, 129);
		REFUSED(fix_exec(&f, in, DATA_AT + 129), REFORMAT_DATA);
		(void)reformat_in(in, type, 128);
		CHECK_EQ(fix_exec(&f, in, DATA_AT + 128), 0);
	}
	(void)reformat_in(in, PRM_REFORMAT_TYPE_L3_TUNNEL_TO_L2, 15);
	REFUSED(fix_exec(&f, in, DATA_AT + 15), REFORMAT_DATA);
	r = reformat_in(in, PRM_REFORMAT_TYPE_L3_TUNNEL_TO_L2, 18);
	CHECK_EQ(fix_exec(&f, in, DATA_AT + 18), 0);
	REFUSED(fix_exec(&f, in, DATA_AT + 17), REFORMAT_LEN);
	prm_packet_reformat_context_in_set_reformat_param_0(r, 1);
	REFUSED(fix_exec(&f, in, DATA_AT + 18), REFORMAT_DATA);
}

/* ---- entries ---- */

static unsigned table_type; /* of table() and group() */

static uint32_t
table(unsigned level, bool decap, bool reformat_en)
{
	struct prm_create_flow_table_in in = {0};
	struct prm_flow_table_context *ctx = prm_create_flow_table_in_flow_table_context(&in);

	prm_create_flow_table_in_set_opcode(&in, PRM_CMD_OP_CREATE_FLOW_TABLE);
	prm_create_flow_table_in_set_table_type(&in, table_type);
	prm_flow_table_context_set_level(ctx, level);
	prm_flow_table_context_set_log_size(ctx, 2);
	prm_flow_table_context_set_decap_en(ctx, decap);
	prm_flow_table_context_set_reformat_en(ctx, reformat_en);
	CHECK_EQ(fix_exec(&f, &in, sizeof(in)), 0);
	return fix_id(&f);
}

static uint32_t
group(uint32_t table_id)
{
	struct prm_create_flow_group_in in = {0};

	prm_create_flow_group_in_set_opcode(&in, PRM_CMD_OP_CREATE_FLOW_GROUP);
	prm_create_flow_group_in_set_table_type(&in, table_type);
	prm_create_flow_group_in_set_table_id(&in, table_id);
	prm_create_flow_group_in_set_end_flow_index(&in, 3);
	CHECK_EQ(fix_exec(&f, &in, sizeof(in)), 0);
	return fix_id(&f);
}

struct fte {
	uint32_t table, group, index;
	unsigned type;
	unsigned action; /* besides FWD_DEST, or ALLOW of sent packets */
	uint32_t vlan;	 /* to push */
	uint32_t modify, reformat;
	unsigned change; /* modify_enable_mask, 0: a new entry */
	uint32_t to;	 /* table, 0: the TIR */
};

static uint32_t
fte_exec(const struct fte *e)
{
	struct {
		struct prm_set_fte_in in;
		uint32_t list[2];
	} cmd = {0};
	struct prm_flow_context *ctx = prm_set_fte_in_flow_context(&cmd.in);
	bool drop = (e->action & PRM_FLOW_ACTION_DROP) != 0 || e->type != 0;

	prm_set_fte_in_set_opcode(&cmd.in, PRM_CMD_OP_SET_FLOW_TABLE_ENTRY);
	prm_set_fte_in_set_op_mod(&cmd.in, e->change != 0);
	prm_set_fte_in_set_modify_enable_mask(&cmd.in, e->change);
	prm_set_fte_in_set_table_type(&cmd.in, e->type);
	prm_set_fte_in_set_table_id(&cmd.in, e->table);
	prm_set_fte_in_set_flow_index(&cmd.in, e->index);
	prm_flow_context_set_group_id(ctx, e->group);
	ctx->dw[0] = PRM_BE32(e->vlan);
	prm_flow_context_set_action(ctx, e->action | (e->type != 0 ? PRM_FLOW_ACTION_ALLOW :
						      drop	   ? 0 :
								     PRM_FLOW_ACTION_FWD_DEST));
	prm_flow_context_set_modify_header_id(ctx, e->modify);
	prm_flow_context_set_packet_reformat_id(ctx, e->reformat);
	prm_flow_context_set_destination_list_size(ctx, !drop);
	cmd.list[0] = e->to != 0 ? PRM_BE32((uint32_t)PRM_FLOW_DEST_TYPE_FLOW_TABLE << 24 | e->to) :
				   PRM_BE32((uint32_t)PRM_FLOW_DEST_TYPE_TIR << 24 | tirn);
	return fix_exec(&f, &cmd, sizeof(cmd.in) + (drop ? 0 : 8));
}

static uint32_t
fte_delete(const struct fte *e)
{
	struct prm_delete_fte_in in = {0};

	prm_delete_fte_in_set_opcode(&in, PRM_CMD_OP_DELETE_FLOW_TABLE_ENTRY);
	prm_delete_fte_in_set_table_id(&in, e->table);
	prm_delete_fte_in_set_flow_index(&in, e->index);
	return fix_exec(&f, &in, sizeof(in));
}

static void
fte_query(const struct fte *e)
{
	struct prm_query_fte_in in = {0};
	struct prm_flow_context *ctx = prm_query_fte_out_flow_context((void *)f.out);

	prm_query_fte_in_set_opcode(&in, PRM_CMD_OP_QUERY_FLOW_TABLE_ENTRY);
	prm_query_fte_in_set_table_type(&in, e->type);
	prm_query_fte_in_set_table_id(&in, e->table);
	prm_query_fte_in_set_flow_index(&in, e->index);
	CHECK_EQ(fix_exec(&f, &in, sizeof(in)), 0);
	CHECK_EQ(prm_flow_context_get_action(ctx),
		 e->action | (e->type != 0 ? PRM_FLOW_ACTION_ALLOW : PRM_FLOW_ACTION_FWD_DEST));
	CHECK_EQ(PRM_BE32(ctx->dw[0]), e->vlan);
	CHECK_EQ(prm_flow_context_get_modify_header_id(ctx), e->modify);
	CHECK_EQ(prm_flow_context_get_packet_reformat_id(ctx), e->reformat);
}

static void
test_entries(void)
{
	struct fte e = {.table = table(1, true, true), .index = 1, .modify = modify(), .reformat = reformat(),
			.action = PRM_FLOW_ACTION_MOD_HDR | PRM_FLOW_ACTION_PACKET_REFORMAT |
				  PRM_FLOW_ACTION_VLAN_POP};
	uint32_t other = modify(), first = e.modify;

	e.group = group(e.table);
	CHECK_EQ(fte_exec(&e), 0);
	fte_query(&e);
	REFUSED(fix_simple(&f, PRM_CMD_OP_DEALLOC_MODIFY_HEADER_CONTEXT, e.modify), BUSY);
	REFUSED(fix_simple(&f, PRM_CMD_OP_DEALLOC_PACKET_REFORMAT_CONTEXT, e.reformat), BUSY);
	/* A change of the action brings its contexts along. */
	e.change = PRM_MODIFY_FTE_MASK_ACTION;
	e.modify = other;
	e.reformat = 0;
	e.action = PRM_FLOW_ACTION_MOD_HDR | PRM_FLOW_ACTION_DECAP;
	CHECK_EQ(fte_exec(&e), 0);
	fte_query(&e);
	CHECK_EQ(fix_simple(&f, PRM_CMD_OP_DEALLOC_MODIFY_HEADER_CONTEXT, first), 0);
	REFUSED(fix_simple(&f, PRM_CMD_OP_DEALLOC_MODIFY_HEADER_CONTEXT, other), BUSY);
	CHECK_EQ(fte_delete(&e), 0);
	CHECK_EQ(fix_simple(&f, PRM_CMD_OP_DEALLOC_MODIFY_HEADER_CONTEXT, other), 0);
}

static void
test_entry_refusals(void)
{
	struct fte e = {.table = table(1, false, false), .modify = modify()};
	uint32_t r = reformat();

	e.group = group(e.table);
	REFUSED(fte_exec(&e), FTE_CHANGE); /* without MOD_HDR */
	e.action = PRM_FLOW_ACTION_MOD_HDR | PRM_FLOW_ACTION_DROP;
	REFUSED(fte_exec(&e), FTE_CHANGE);
	e.action = PRM_FLOW_ACTION_MOD_HDR;
	e.modify += 100;
	REFUSED(fte_exec(&e), NO_MODIFY_HEADER);
	e.modify = 0;
	REFUSED(fte_exec(&e), NO_MODIFY_HEADER);
	e.action = PRM_FLOW_ACTION_DECAP;
	REFUSED(fte_exec(&e), FTE_CHANGE); /* no decap_en */
	e.action = PRM_FLOW_ACTION_PACKET_REFORMAT;
	REFUSED(fte_exec(&e), NO_REFORMAT);
	e.reformat = r;
	REFUSED(fte_exec(&e), FTE_CHANGE); /* no reformat_en */
	e.action = 0;
	REFUSED(fte_exec(&e), FTE_CHANGE);
	e.table = table(1, true, true);
	e.group = group(e.table);
	e.action = PRM_FLOW_ACTION_PACKET_REFORMAT | PRM_FLOW_ACTION_DECAP;
	REFUSED(fte_exec(&e), FTE_CHANGE);
	e = (struct fte){.table = e.table, .group = e.group, .action = PRM_FLOW_ACTION_VLAN_PUSH};
	REFUSED(fte_exec(&e), FTE_CHANGE);
}

/* Contexts and tags of sent packets are not for received ones, and the other way round. */
static void
test_sent(void)
{
	struct fte e = {.type = PRM_FLOW_TABLE_TYPE_NIC_TX, .reformat = reformat(),
			.action = PRM_FLOW_ACTION_PACKET_REFORMAT};
	_Alignas(8) uint8_t in[DATA_BYTES];
	uint32_t encap;

	(void)reformat_in(in, PRM_REFORMAT_TYPE_L2_TO_L2_TUNNEL, 50);
	CHECK_EQ(fix_exec(&f, in, DATA_AT + 50), 0);
	encap = fix_id(&f);
	table_type = PRM_FLOW_TABLE_TYPE_NIC_TX;
	e.table = table(1, false, false);
	e.group = group(e.table);
	REFUSED(fte_exec(&e), FTE_CHANGE);
	e.reformat = encap;
	REFUSED(fte_exec(&e), FTE_CHANGE); /* no reformat_en */
	e.table = table(1, false, true);
	e.group = group(e.table);
	CHECK_EQ(fte_exec(&e), 0);
	fte_query(&e);
	e = (struct fte){.type = e.type, .table = e.table, .group = e.group, .index = 1, .vlan = 0x81000005};
	REFUSED(fte_exec(&e), FTE_CHANGE);
	e.action = PRM_FLOW_ACTION_VLAN_PUSH;
	e.vlan = 0x08000005;
	REFUSED(fte_exec(&e), FTE_CHANGE);
	e.vlan = 0x81000005;
	CHECK_EQ(fte_exec(&e), 0);
	fte_query(&e);
	e.index = 2;
	e.action = PRM_FLOW_ACTION_MOD_HDR;
	e.vlan = 0;
	e.modify = modify();
	REFUSED(fte_exec(&e), FTE_CHANGE);
	table_type = PRM_FLOW_TABLE_TYPE_NIC_RX;
	e = (struct fte){.table = table(1, false, true), .action = PRM_FLOW_ACTION_PACKET_REFORMAT, .reformat = encap};
	e.group = group(e.table);
	REFUSED(fte_exec(&e), FTE_CHANGE);
}

/* A card without the capabilities has neither contexts nor such tables. */
static void
test_without(void)
{
	struct emu_profile p = *f.dev->profile;
	const struct emu_profile *all = f.dev->profile;
	struct prm_create_flow_table_in in = {0};
	struct fte e = {.table = table(1, false, false), .action = PRM_FLOW_ACTION_VLAN_POP};
	_Alignas(8) uint8_t r[DATA_BYTES];
	struct modify m;

	e.group = group(e.table);
	p.max_modify_header_actions = p.decap = p.reformat_l3_tunnel_to_l2 = p.pop_vlan = 0;
	p.tx_reformat = p.tx_reformat_l2_to_l3_tunnel = p.tx_max_modify_header_actions = 0;
	f.dev->profile = &p;
	modify_in(&m, 1);
	REFUSED(modify_exec(&m), MODIFY_COUNT);
	prm_alloc_modify_header_context_in_set_table_type(&m.in, PRM_FLOW_TABLE_TYPE_NIC_TX);
	REFUSED(modify_exec(&m), MODIFY_COUNT);
	for (unsigned type = PRM_REFORMAT_TYPE_L2_TO_L2_TUNNEL; type <= PRM_REFORMAT_TYPE_L2_TO_L3_TUNNEL; type++) {
		(void)reformat_in(r, type, 14);
		REFUSED(fix_exec(&f, r, DATA_AT + 14), REFORMAT_TYPE);
	}
	REFUSED(fte_exec(&e), FTE_CHANGE);
	prm_create_flow_table_in_set_opcode(&in, PRM_CMD_OP_CREATE_FLOW_TABLE);
	prm_flow_table_context_set_decap_en(prm_create_flow_table_in_flow_table_context(&in), 1);
	REFUSED(fix_exec(&f, &in, sizeof(in)), FT_FEATURE);
	prm_flow_table_context_set_decap_en(prm_create_flow_table_in_flow_table_context(&in), 0);
	prm_flow_table_context_set_reformat_en(prm_create_flow_table_in_flow_table_context(&in), 1);
	REFUSED(fix_exec(&f, &in, sizeof(in)), FT_FEATURE);
	f.dev->profile = all;
}

/* What an entry that decapsulates does besides takes capabilities of its own. */
static void
test_decap_with(void)
{
	struct fte to_table = {.table = table(1, true, true), .to = table(2, false, false),
			       .action = PRM_FLOW_ACTION_DECAP}, pops;
	struct emu_profile p = *f.dev->profile;
	const struct emu_profile *all = f.dev->profile;

	to_table.group = group(to_table.table);
	pops = (struct fte){.table = to_table.table, .group = to_table.group, .index = 1,
			    .action = PRM_FLOW_ACTION_DECAP | PRM_FLOW_ACTION_VLAN_POP};
	p.reformat_and_fwd_to_table = p.reformat_and_vlan_action = 0;
	f.dev->profile = &p;
	REFUSED(fte_exec(&to_table), FTE_CHANGE);
	REFUSED(fte_exec(&pops), FTE_CHANGE);
	to_table.action = PRM_FLOW_ACTION_PACKET_REFORMAT;
	to_table.reformat = reformat();
	REFUSED(fte_exec(&to_table), FTE_CHANGE);
	p.reformat_and_fwd_to_table = 1;
	CHECK_EQ(fte_exec(&to_table), 0);
	REFUSED(fte_exec(&pops), FTE_CHANGE);
	p.reformat_and_vlan_action = 1;
	CHECK_EQ(fte_exec(&pops), 0);
	f.dev->profile = all;
}

/* In switchdev mode the FDB decapsulates, and tables of received packets do not. */
static void
test_switchdev(void)
{
	struct prm_create_flow_table_in in = {0};
	struct prm_flow_table_context *ctx = prm_create_flow_table_in_flow_table_context(&in);

	prm_create_flow_table_in_set_opcode(&in, PRM_CMD_OP_CREATE_FLOW_TABLE);
	f.dev->eswitch.on = true;
	CHECK_EQ(fix_exec(&f, &in, sizeof(in)), 0);
	prm_flow_table_context_set_decap_en(ctx, 1);
	REFUSED(fix_exec(&f, &in, sizeof(in)), FT_FEATURE);
	prm_flow_table_context_set_decap_en(ctx, 0);
	prm_flow_table_context_set_reformat_en(ctx, 1);
	REFUSED(fix_exec(&f, &in, sizeof(in)), FT_FEATURE);
	f.dev->eswitch.on = false;
	CHECK_EQ(fix_exec(&f, &in, sizeof(in)), 0);
}

/* What the capabilities name can be set, and the widths are those of the fields. */
static void
test_capabilities(void)
{
	struct prm_query_hca_cap_in in = {0};
	const struct prm_flow_table_nic_cap *cap;
	const struct prm_flow_table_prop_layout *rx, *tx;
	const struct prm_header_modify_cap_properties *modify_cap;

	prm_query_hca_cap_in_set_opcode(&in, PRM_CMD_OP_QUERY_HCA_CAP);
	prm_query_hca_cap_in_set_op_mod(&in, PRM_HCA_CAP_TYPE_FLOW_TABLE << 1 | 1);
	CHECK_EQ(fix_exec(&f, &in, sizeof(in)), 0);
	cap = (const void *)prm_query_hca_cap_out_capability_c((const void *)f.out);
	rx = prm_flow_table_nic_cap_flow_table_properties_nic_receive_c(cap);
	modify_cap = prm_flow_table_nic_cap_header_modify_nic_receive_c(cap);
	CHECK_EQ(prm_flow_table_prop_layout_get_max_modify_header_actions(rx), MAX);
	CHECK_EQ(prm_flow_table_prop_layout_get_decap(rx), 1);
	CHECK_EQ(prm_flow_table_prop_layout_get_reformat_and_fwd_to_table(rx), 1);
	CHECK_EQ(prm_flow_table_prop_layout_get_reformat_and_vlan_action(rx), 1);
	CHECK_EQ(prm_flow_table_fields_supported_get_outer_ether_type(
			 prm_header_modify_cap_properties_set_action_field_support_c(modify_cap)), 0);
	CHECK_EQ(prm_flow_table_fields_supported_get_metadata_reg_c_7(
			 prm_header_modify_cap_properties_copy_action_field_support_c(modify_cap)), 1);
	tx = prm_flow_table_nic_cap_flow_table_properties_nic_transmit_c(cap);
	CHECK_EQ(prm_flow_table_prop_layout_get_push_vlan(tx), 1);
	CHECK_EQ(prm_flow_table_prop_layout_get_reformat(tx), 1);
	CHECK_EQ(prm_flow_table_prop_layout_get_flow_tag(tx), 0);
	CHECK_EQ(prm_flow_table_nic_cap_get_encap_general_header(cap), 1);
	CHECK_EQ(dp_modify_bits(PRM_ACTION_IN_FIELD_OUT_FIRST_VID, false), 12);
	CHECK_EQ(dp_modify_bits(PRM_ACTION_IN_FIELD_IN_TCP_FLAGS, false), 9);
	CHECK_EQ(dp_modify_bits(PRM_ACTION_IN_FIELD_OUT_ETHERTYPE, false), 0);
	CHECK_EQ(dp_modify_bits(PRM_ACTION_IN_FIELD_METADATA_REG_A, false), 0);
	CHECK_EQ(dp_modify_bits(PRM_ACTION_IN_FIELD_METADATA_REG_A, true), 32);
	CHECK_EQ(dp_modify_bits(PRM_ACTION_IN_FIELD_METADATA_REG_B, false), 32);
	CHECK_EQ(dp_modify_bits(PRM_ACTION_IN_FIELD_METADATA_REG_B, true), 0);
}

int
main(void)
{
	fix_open(&f);
	tirn = fix_tir(&f, fix_rq(&f, fix_cq(&f)));
	test_contexts();
	test_actions();
	test_copy();
	test_reformat();
	test_entries();
	test_entry_refusals();
	test_sent();
	test_without();
	test_decap_with();
	test_switchdev();
	test_capabilities();
	fix_close(&f);
	return fix_result("modify header contexts");
}
