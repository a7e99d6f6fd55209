/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Matchers and flows through mlx5dv_create_flow(), and flow tables as DEVX objects. */
#include <stdlib.h>

#include "client.h"

/* fte_match_set_lyr_2_4 comes first: dmac in the first 6 bytes of dwords 2 and 3. */
#define MATCH_BYTES 64
#define DMAC_OFFSET 8
#define CRITERIA_OUTER 1

union match {
	struct mlx5dv_flow_match_parameters head;
	uint8_t bytes[sizeof(struct mlx5dv_flow_match_parameters) + MATCH_BYTES];
};

static void
match_dmac(union match *m, const uint8_t mac[6])
{
	memset(m, 0, sizeof(*m));
	m->head.match_sz = MATCH_BYTES;
	memcpy((uint8_t *)m->head.match_buf + DMAC_OFFSET, mac, 6);
}

/* A receiving queue to point rules at. */
struct receiver {
	struct client_obj td, cq, rq, tir;
};

static void
receiver_open(struct client *c, struct receiver *r)
{
	r->td = client_td(c);
	r->cq = client_cq(c);
	r->rq = client_rq(c, r->cq.id);
	CHECK_EQ(client_rq_to(c, r->rq, PRM_RQC_STATE_RST, PRM_RQC_STATE_RDY), 0);
	r->tir = client_tir(c, r->rq.id, r->td.id);
	CHECK(r->tir.obj != NULL);
}

static void
receiver_close(struct receiver *r)
{
	CHECK_EQ(mlx5dv_devx_obj_destroy(r->tir.obj), 0);
	CHECK_EQ(mlx5dv_devx_obj_destroy(r->rq.obj), 0);
	CHECK_EQ(mlx5dv_devx_obj_destroy(r->cq.obj), 0);
	CHECK_EQ(mlx5dv_devx_obj_destroy(r->td.obj), 0);
}

static struct mlx5dv_flow_matcher *
matcher_new(struct client *c, union match *mask, uint16_t priority)
{
	struct mlx5dv_flow_matcher_attr attr = {
		.type = IBV_FLOW_ATTR_NORMAL,
		.priority = priority,
		.match_criteria_enable = CRITERIA_OUTER,
		.match_mask = &mask->head,
	};

	return mlx5dv_create_flow_matcher(c->ctx, &attr);
}

static const uint8_t all_ones[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
static const uint8_t some_mac[6] = {0x02, 0x00, 0x00, 0x00, 0x00, 0x01};

void
case_flow(unsigned port)
{
	struct mlx5dv_flow_action_attr to_tir[2] = {{.type = MLX5DV_FLOW_ACTION_DEST_DEVX},
						    {.type = MLX5DV_FLOW_ACTION_TAG,
						     .tag_value = 0xabcdef}};
	struct mlx5dv_flow_action_attr drop = {.type = MLX5DV_FLOW_ACTION_DROP};
	struct mlx5dv_flow_matcher *matcher;
	struct ibv_flow *flow, *dropped;
	union match mask, value;
	struct receiver r;
	struct client c;

	client_open(&c, port);
	receiver_open(&c, &r);
	match_dmac(&mask, all_ones);
	match_dmac(&value, some_mac);
	matcher = matcher_new(&c, &mask, 3);
	CHECK(matcher != NULL);
	to_tir[0].obj = r.tir.obj;
	flow = mlx5dv_create_flow(matcher, &value.head, 2, to_tir);
	CHECK(flow != NULL);
	((uint8_t *)value.head.match_buf)[DMAC_OFFSET + 5] = 2;
	dropped = mlx5dv_create_flow(matcher, &value.head, 1, &drop);
	CHECK(dropped != NULL);
	if (dropped != NULL)
		CHECK_EQ(ibv_destroy_flow(dropped), 0);
	if (flow != NULL)
		CHECK_EQ(ibv_destroy_flow(flow), 0);
	CHECK_EQ(mlx5dv_destroy_flow_matcher(matcher), 0);
	receiver_close(&r);
	client_close(&c);
}

void
case_flow_refusals(unsigned port)
{
	struct mlx5dv_flow_action_attr to_rq = {.type = MLX5DV_FLOW_ACTION_DEST_DEVX};
	struct mlx5dv_flow_action_attr to_tir = {.type = MLX5DV_FLOW_ACTION_DEST_DEVX};
	struct mlx5dv_flow_matcher *matcher;
	union match mask, value;
	struct ibv_flow *flow;
	struct receiver r;
	struct client c;

	client_open(&c, port);
	receiver_open(&c, &r);
	match_dmac(&mask, all_ones);
	match_dmac(&value, some_mac);
	matcher = matcher_new(&c, &mask, 0);
	CHECK(matcher != NULL);
	/* An RQ is no destination; a rule without any destination is none. */
	to_rq.obj = r.rq.obj;
	CHECK(mlx5dv_create_flow(matcher, &value.head, 1, &to_rq) == NULL);
	CHECK_EQ(errno, EINVAL);
	to_tir.obj = r.tir.obj;
	flow = mlx5dv_create_flow(matcher, &value.head, 1, &to_tir);
	CHECK(flow != NULL);
	/* In use: the matcher by the flow, the TIR by the flow. */
	CHECK_EQ(mlx5dv_destroy_flow_matcher(matcher), EBUSY);
	CHECK_EQ(mlx5dv_devx_obj_destroy(r.tir.obj), EINVAL);
	if (flow != NULL)
		CHECK_EQ(ibv_destroy_flow(flow), 0);
	CHECK_EQ(mlx5dv_destroy_flow_matcher(matcher), 0);
	receiver_close(&r);
	client_close(&c);
}

/* An action of a modify header context, in device format. */
static uint64_t
set_action(unsigned field, unsigned bits, uint32_t data)
{
	struct prm_set_action_in a = {{0}};
	uint64_t v;

	prm_set_action_in_set_action_type(&a, PRM_ACTION_TYPE_SET);
	prm_set_action_in_set_field(&a, field);
	prm_set_action_in_set_length(&a, bits);
	prm_set_action_in_set_data(&a, data);
	memcpy(&v, &a, sizeof(v));
	return v;
}

static struct ibv_flow_action *
modify_new(struct client *c, uint64_t action, unsigned n, enum mlx5dv_flow_table_type type)
{
	uint64_t actions[32];

	for (unsigned i = 0; i < n; i++)
		actions[i] = action;
	errno = 0;
	return mlx5dv_create_flow_action_modify_header(c->ctx, n * sizeof(actions[0]), actions, type);
}

static struct ibv_flow_action *
reformat_new(struct client *c, enum mlx5dv_flow_action_packet_reformat_type type, size_t bytes,
	     enum mlx5dv_flow_table_type table)
{
	uint8_t l2[200] = {2};

	errno = 0;
	return mlx5dv_create_flow_action_packet_reformat(c->ctx, bytes, bytes != 0 ? l2 : NULL, type, table);
}

/* What the kernel refuses, and with which errno. */
static void
action_refusals(struct client *c, uint64_t ttl)
{
	enum mlx5dv_flow_table_type rx = MLX5DV_FLOW_TABLE_TYPE_NIC_RX, tx = MLX5DV_FLOW_TABLE_TYPE_NIC_TX;

	CHECK(modify_new(c, ttl, 1, MLX5DV_FLOW_TABLE_TYPE_FDB) == NULL);
	CHECK_EQ(errno, EOPNOTSUPP);
	CHECK(modify_new(c, ttl, 17, tx) == NULL);
	CHECK_EQ(errno, EOPNOTSUPP);
	CHECK(modify_new(c, ttl, 17, rx) == NULL);
	CHECK_EQ(errno, EOPNOTSUPP);
	CHECK(modify_new(c, set_action(0x7f, 8, 1), 1, rx) == NULL);
	CHECK_EQ(errno, EINVAL);
	CHECK(reformat_new(c, MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L2_TUNNEL, 50, rx) == NULL);
	CHECK_EQ(errno, EOPNOTSUPP);
	CHECK(reformat_new(c, MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L3_TUNNEL, 129, tx) == NULL);
	CHECK_EQ(errno, EINVAL);
	CHECK(reformat_new(c, MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L3_TUNNEL_TO_L2, 14, tx) == NULL);
	CHECK_EQ(errno, EOPNOTSUPP);
	CHECK(reformat_new(c, MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L3_TUNNEL_TO_L2, 129, rx) == NULL);
	CHECK_EQ(errno, EINVAL);
	CHECK(reformat_new(c, MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L3_TUNNEL_TO_L2, 15, rx) == NULL);
	CHECK_EQ(errno, EINVAL);
}

/* Rules of sent packets: no TIRs, no default miss, and flow actions of their own. */
static void
egress_rules(struct client *c, struct mlx5dv_devx_obj *tir, struct ibv_flow_action *const rx_actions[3], uint64_t ttl)
{
	union match mask, value;
	struct mlx5dv_flow_matcher_attr attr = {
		.type = IBV_FLOW_ATTR_NORMAL, .match_criteria_enable = 1, .match_mask = &mask.head, .priority = 2,
		.comp_mask = MLX5DV_FLOW_MATCHER_MASK_FT_TYPE, .ft_type = MLX5DV_FLOW_TABLE_TYPE_NIC_TX,
	};
	struct mlx5dv_flow_action_attr action[2] = {{.type = MLX5DV_FLOW_ACTION_IBV_FLOW_ACTION},
						    {.type = MLX5DV_FLOW_ACTION_IBV_FLOW_ACTION}};
	struct mlx5dv_flow_action_attr dest = {.type = MLX5DV_FLOW_ACTION_DEST_DEVX, .obj = tir};
	struct mlx5dv_flow_action_attr miss = {.type = MLX5DV_FLOW_ACTION_DEFAULT_MISS};
	struct mlx5dv_flow_matcher *matcher;
	struct ibv_flow *flow;

	match_dmac(&mask, all_ones);
	match_dmac(&value, some_mac);
	matcher = mlx5dv_create_flow_matcher(c->ctx, &attr);
	CHECK(matcher != NULL);
	CHECK(mlx5dv_create_flow(matcher, &value.head, 1, &dest) == NULL);
	CHECK_EQ(errno, EINVAL);
	CHECK(mlx5dv_create_flow(matcher, &value.head, 1, &miss) == NULL);
	CHECK_EQ(errno, EOPNOTSUPP);
	for (unsigned i = 0; i < 3; i++) {
		action[0].action = rx_actions[i];
		CHECK(mlx5dv_create_flow(matcher, &value.head, 1, action) == NULL);
		CHECK_EQ(errno, EINVAL);
	}
	action[0].action = modify_new(c, ttl, 16, MLX5DV_FLOW_TABLE_TYPE_NIC_TX);
	for (unsigned i = 0; i < 2; i++) {
		action[1].action = reformat_new(c, i == 0 ? MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L2_TUNNEL :
							    MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L3_TUNNEL,
						50, MLX5DV_FLOW_TABLE_TYPE_NIC_TX);
		CHECK(action[0].action != NULL && action[1].action != NULL);
		flow = mlx5dv_create_flow(matcher, &value.head, 2, action);
		CHECK(flow != NULL);
		if (flow != NULL)
			CHECK_EQ(ibv_destroy_flow(flow), 0);
		CHECK_EQ(ibv_destroy_flow_action(action[1].action), 0);
	}
	CHECK_EQ(ibv_destroy_flow_action(action[0].action), 0);
	CHECK_EQ(mlx5dv_destroy_flow_matcher(matcher), 0);
}

/* Flow actions and the rules that have them. */
void
case_flow_change(unsigned port)
{
	const uint64_t ttl = set_action(PRM_ACTION_IN_FIELD_OUT_IPV4_TTL, 8, 9);
	struct mlx5dv_flow_action_attr actions[4] = {{.type = MLX5DV_FLOW_ACTION_DEST_DEVX},
						     {.type = MLX5DV_FLOW_ACTION_IBV_FLOW_ACTION},
						     {.type = MLX5DV_FLOW_ACTION_IBV_FLOW_ACTION},
						     {.type = MLX5DV_FLOW_ACTION_IBV_FLOW_ACTION}};
	struct ibv_flow_action *modify, *decap, *l3;
	struct mlx5dv_flow_matcher *matcher;
	union match mask, value;
	struct ibv_flow *flow;
	struct receiver r;
	struct client c;

	client_open(&c, port);
	receiver_open(&c, &r);
	match_dmac(&mask, all_ones);
	match_dmac(&value, some_mac);
	matcher = matcher_new(&c, &mask, 3);
	modify = modify_new(&c, ttl, 16, MLX5DV_FLOW_TABLE_TYPE_NIC_RX);
	decap = reformat_new(&c, MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TUNNEL_TO_L2, 0,
			     MLX5DV_FLOW_TABLE_TYPE_NIC_RX);
	l3 = reformat_new(&c, MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L3_TUNNEL_TO_L2, 14,
			  MLX5DV_FLOW_TABLE_TYPE_NIC_RX);
	CHECK(matcher != NULL && modify != NULL && decap != NULL && l3 != NULL);
	actions[0].obj = r.tir.obj;
	actions[1].action = modify;
	actions[2].action = decap;
	flow = mlx5dv_create_flow(matcher, &value.head, 3, actions);
	CHECK(flow != NULL);
	CHECK_EQ(ibv_destroy_flow_action(modify), EBUSY);
	CHECK_EQ(ibv_destroy_flow_action(decap), EBUSY);
	if (flow != NULL)
		CHECK_EQ(ibv_destroy_flow(flow), 0);
	/* Each kind once, and two of them. */
	actions[2].action = modify;
	CHECK(mlx5dv_create_flow(matcher, &value.head, 3, actions) == NULL);
	CHECK_EQ(errno, EINVAL);
	actions[1].action = decap;
	actions[3].action = l3;
	CHECK(mlx5dv_create_flow(matcher, &value.head, 4, actions) == NULL);
	CHECK_EQ(errno, EINVAL);
	action_refusals(&c, ttl);
	egress_rules(&c, r.tir.obj, (struct ibv_flow_action *const[]){modify, decap, l3}, ttl);
	CHECK_EQ(ibv_destroy_flow_action(modify), 0);
	CHECK_EQ(ibv_destroy_flow_action(decap), 0);
	CHECK_EQ(ibv_destroy_flow_action(l3), 0);
	CHECK_EQ(mlx5dv_destroy_flow_matcher(matcher), 0);
	receiver_close(&r);
	client_close(&c);
}

/* All of fte_match_param. */
union match_all {
	struct mlx5dv_flow_match_parameters head;
	uint8_t bytes[sizeof(struct mlx5dv_flow_match_parameters) + PRM_FTE_MATCH_PARAM_BYTES];
};

static struct prm_fte_match_param *
match_all(union match_all *m)
{
	memset(m, 0, sizeof(*m));
	m->head.match_sz = PRM_FTE_MATCH_PARAM_BYTES;
	return (struct prm_fte_match_param *)m->head.match_buf;
}

/* Errno of the matcher, or of its rule that drops; 0: both were created. */
static int
flow_answer(struct client *c, uint8_t criteria, union match_all *mask, union match_all *value)
{
	struct mlx5dv_flow_matcher_attr attr = {
		.type = IBV_FLOW_ATTR_NORMAL,
		.match_criteria_enable = criteria,
		.match_mask = &mask->head,
	};
	struct mlx5dv_flow_action_attr drop = {.type = MLX5DV_FLOW_ACTION_DROP};
	struct mlx5dv_flow_matcher *matcher = mlx5dv_create_flow_matcher(c->ctx, &attr);
	struct ibv_flow *flow;
	int err = 0;

	if (matcher == NULL)
		return errno;
	flow = mlx5dv_create_flow(matcher, &value->head, 1, &drop);
	if (flow != NULL)
		CHECK_EQ(ibv_destroy_flow(flow), 0);
	else
		err = errno;
	CHECK_EQ(mlx5dv_destroy_flow_matcher(matcher), 0);
	return err;
}

/* Rules for headers inside a tunnel, and the refusals of kernel and card. */
void
case_flow_inner(unsigned port)
{
	static union match_all mask, value;
	struct prm_fte_match_param *m = match_all(&mask), *v = match_all(&value);
	struct prm_fte_match_set_misc3 *misc3 = prm_fte_match_param_misc_parameters_3(m);
	uint8_t criteria = PRM_MATCH_CRITERIA_ENABLE_MISC | PRM_MATCH_CRITERIA_ENABLE_INNER;
	struct client c;

	client_open(&c, port);
	prm_fte_match_set_misc_set_vxlan_vni(prm_fte_match_param_misc_parameters(m), 0xffffff);
	prm_fte_match_set_misc_set_vxlan_vni(prm_fte_match_param_misc_parameters(v), 0x123456);
	prm_fte_match_set_lyr_2_4_set_udp_dport(prm_fte_match_param_inner_headers(m), 0xffff);
	prm_fte_match_set_lyr_2_4_set_udp_dport(prm_fte_match_param_inner_headers(v), 53);
	CHECK_EQ(flow_answer(&c, criteria, &mask, &value), 0);
	CHECK_EQ(flow_answer(&c, PRM_MATCH_CRITERIA_ENABLE_INNER, &mask, &value), EINVAL);
	prm_fte_match_set_lyr_2_4_set_ttl_hoplimit(prm_fte_match_param_inner_headers(v), 1);
	CHECK_EQ(flow_answer(&c, criteria, &mask, &value), EINVAL);
	v = match_all(&value);
	/* The card has no parser for GTP-U. */
	prm_fte_match_set_misc3_set_gtpu_teid(misc3, UINT32_MAX);
	criteria |= PRM_MATCH_CRITERIA_ENABLE_MISC3;
	CHECK_EQ(flow_answer(&c, criteria, &mask, &value), EINVAL);
	prm_fte_match_set_misc3_set_gtpu_teid(misc3, 0);
	CHECK_EQ(flow_answer(&c, criteria, &mask, &value), 0);
	/* Not modelled. */
	m->dw[80] = UINT32_MAX;
	CHECK_EQ(flow_answer(&c, criteria | PRM_MATCH_CRITERIA_ENABLE_MISC4, &mask, &value), EOPNOTSUPP);
	client_close(&c);
}

/* ---- flow tables, groups and entries: DEVX objects of a program ---- */

static struct client_obj
table_new(struct client *c, unsigned level)
{
	struct prm_create_flow_table_in in = {0};
	struct prm_flow_table_context *ctx = prm_create_flow_table_in_flow_table_context(&in);

	prm_create_flow_table_in_set_opcode(&in, PRM_CMD_OP_CREATE_FLOW_TABLE);
	prm_flow_table_context_set_level(ctx, level);
	prm_flow_table_context_set_log_size(ctx, 4);
	return client_create(c, &in, sizeof(in));
}

/* Of IPv4. */
static struct client_obj
group_new(struct client *c, uint32_t table)
{
	struct prm_create_flow_group_in in = {0};

	prm_create_flow_group_in_set_opcode(&in, PRM_CMD_OP_CREATE_FLOW_GROUP);
	prm_create_flow_group_in_set_table_id(&in, table);
	prm_create_flow_group_in_set_end_flow_index(&in, 7);
	prm_create_flow_group_in_set_match_criteria_enable(&in, CRITERIA_OUTER);
	prm_fte_match_set_lyr_2_4_set_ip_version(
		prm_fte_match_param_outer_headers(prm_create_flow_group_in_match_criteria(&in)),
		0xf);
	return client_create(c, &in, sizeof(in));
}

struct entry {
	struct prm_set_fte_in in;
	uint32_t dest[2];
};

static void
entry_in(struct entry *e, uint32_t table, uint32_t group, uint32_t tirn)
{
	struct prm_flow_context *ctx = prm_set_fte_in_flow_context(&e->in);
	struct prm_dest_format_struct *d = (void *)e->dest;

	memset(e, 0, sizeof(*e));
	prm_set_fte_in_set_opcode(&e->in, PRM_CMD_OP_SET_FLOW_TABLE_ENTRY);
	prm_set_fte_in_set_table_id(&e->in, table);
	prm_set_fte_in_set_flow_index(&e->in, 3);
	prm_flow_context_set_group_id(ctx, group);
	prm_flow_context_set_action(ctx, PRM_FLOW_ACTION_FWD_DEST);
	prm_flow_context_set_destination_list_size(ctx, 1);
	prm_fte_match_set_lyr_2_4_set_ip_version(
		prm_fte_match_param_outer_headers(prm_flow_context_match_value(ctx)), 4);
	prm_dest_format_struct_set_destination_type(d, PRM_FLOW_DEST_TYPE_TIR);
	prm_dest_format_struct_set_destination_id(d, tirn);
}

/* Changes of an entry, and what it is then. */
static void
entry_change(struct client *c, struct client_obj *entry, struct entry *e)
{
	struct prm_query_fte_in query = {0};
	const struct prm_query_fte_out *reply = (void *)c->out;
	int op_mod = prm_set_fte_in_get_op_mod(&e->in);

	/* As a new one it is no change of an old one. */
	CHECK_EQ(op_mod, 0);
	CHECK_EQ(mlx5dv_devx_obj_modify(entry->obj, e, sizeof(*e), c->out, 16), EINVAL);
	prm_set_fte_in_set_op_mod(&e->in, 1);
	prm_set_fte_in_set_modify_enable_mask(&e->in, PRM_MODIFY_FTE_MASK_FLOW_TAG);
	prm_flow_context_set_flow_tag(prm_set_fte_in_flow_context(&e->in), 0x1234);
	CHECK_EQ(mlx5dv_devx_obj_modify(entry->obj, e, sizeof(*e), c->out, 16), 0);
	/* The handle is of this index. */
	prm_set_fte_in_set_flow_index(&e->in, 4);
	CHECK_EQ(mlx5dv_devx_obj_modify(entry->obj, e, sizeof(*e), c->out, 16), EINVAL);
	prm_query_fte_in_set_opcode(&query, PRM_CMD_OP_QUERY_FLOW_TABLE_ENTRY);
	prm_query_fte_in_set_table_id(&query, prm_set_fte_in_get_table_id(&e->in));
	prm_query_fte_in_set_flow_index(&query, 3);
	CHECK_EQ(mlx5dv_devx_obj_query(entry->obj, &query, sizeof(query), c->out,
				       PRM_QUERY_FTE_OUT_BYTES + 8), 0);
	CHECK_EQ(prm_flow_context_get_flow_tag(prm_query_fte_out_flow_context_c(reply)), 0x1234);
}

/* The way of a program into tables of its own: a rule of the kernel's with the table as its object. */
static void
table_enter(struct client *c, struct client_obj *table)
{
	struct mlx5dv_flow_action_attr to = {.type = MLX5DV_FLOW_ACTION_DEST_DEVX,
					     .obj = table->obj};
	struct mlx5dv_flow_matcher *matcher;
	union match mask, value;
	struct ibv_flow *flow;

	match_dmac(&mask, all_ones);
	match_dmac(&value, some_mac);
	matcher = matcher_new(c, &mask, 3);
	flow = mlx5dv_create_flow(matcher, &value.head, 1, &to);
	CHECK(flow != NULL);
	CHECK_EQ(mlx5dv_devx_obj_destroy(table->obj), EINVAL);
	if (flow != NULL)
		CHECK_EQ(ibv_destroy_flow(flow), 0);
	CHECK_EQ(mlx5dv_destroy_flow_matcher(matcher), 0);
}

/* The root is the kernel's to set: such a command does not pass. */
static void
root_refused(struct client *c, uint32_t table)
{
	struct prm_set_flow_table_root_in in = {0};

	prm_set_flow_table_root_in_set_opcode(&in, PRM_CMD_OP_SET_FLOW_TABLE_ROOT);
	prm_set_flow_table_root_in_set_table_id(&in, table);
	CHECK_EQ(mlx5dv_devx_general_cmd(c->ctx, &in, sizeof(in), c->out, 16), EINVAL);
}

void
case_flow_tables(unsigned port)
{
	struct client_obj table, group, entry;
	struct receiver r;
	struct client c;
	struct entry e;

	client_open(&c, port);
	receiver_open(&c, &r);
	table = table_new(&c, 20);
	CHECK(table.obj != NULL);
	group = group_new(&c, table.id);
	CHECK(group.obj != NULL);
	entry_in(&e, table.id, group.id, r.tir.id);
	entry = client_create(&c, &e, sizeof(e));
	CHECK(entry.obj != NULL);
	/* The place is taken. */
	CHECK(client_create(&c, &e, sizeof(e)).obj == NULL);
	CHECK_EQ(client_status(&c), PRM_STATUS_BAD_RES_STATE);
	entry_change(&c, &entry, &e);
	table_enter(&c, &table);
	root_refused(&c, table.id);
	CHECK_EQ(mlx5dv_devx_obj_destroy(table.obj), EINVAL);
	CHECK_EQ(mlx5dv_devx_obj_destroy(group.obj), EINVAL);
	CHECK_EQ(mlx5dv_devx_obj_destroy(entry.obj), 0);
	CHECK_EQ(mlx5dv_devx_obj_destroy(group.obj), 0);
	CHECK_EQ(mlx5dv_devx_obj_destroy(table.obj), 0);
	receiver_close(&r);
	client_close(&c);
}
