/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Flow tables of a device through VFIO: there is no kernel, so the root is the program's to set. */
#include "vfio.h"

struct made {
	struct mlx5dv_devx_obj *obj;
	uint32_t id;
};

static struct made
make(struct ibv_context *ctx, const void *in, size_t len)
{
	uint32_t out[4] = {0};
	struct made m;

	m.obj = mlx5dv_devx_obj_create(ctx, in, len, out, sizeof(out));
	m.id = PRM_BE32(out[2]) & 0xffffff;
	CHECK(m.obj != NULL);
	return m;
}

static struct made
table(struct ibv_context *ctx, unsigned level)
{
	struct prm_create_flow_table_in in = {0};
	struct prm_flow_table_context *t = prm_create_flow_table_in_flow_table_context(&in);

	prm_create_flow_table_in_set_opcode(&in, PRM_CMD_OP_CREATE_FLOW_TABLE);
	prm_flow_table_context_set_level(t, level);
	prm_flow_table_context_set_log_size(t, 6);
	return make(ctx, &in, sizeof(in));
}

static struct made
group(struct ibv_context *ctx, uint32_t table_id)
{
	struct prm_create_flow_group_in in = {0};

	prm_create_flow_group_in_set_opcode(&in, PRM_CMD_OP_CREATE_FLOW_GROUP);
	prm_create_flow_group_in_set_table_id(&in, table_id);
	prm_create_flow_group_in_set_end_flow_index(&in, 63);
	prm_create_flow_group_in_set_match_criteria_enable(&in, PRM_MATCH_CRITERIA_ENABLE_OUTER);
	prm_fte_match_set_lyr_2_4_set_ethertype(
		prm_fte_match_param_outer_headers(prm_create_flow_group_in_match_criteria(&in)),
		0xffff);
	return make(ctx, &in, sizeof(in));
}

struct entry {
	struct prm_set_fte_in in;
	struct prm_dest_format_struct dest;
};

/* To another table; changed into a drop afterwards. */
static struct made
entry(struct ibv_context *ctx, uint32_t table_id, uint32_t group_id, uint32_t to)
{
	struct entry e = {0};
	struct prm_flow_context *f = prm_set_fte_in_flow_context(&e.in);
	uint32_t out[4];
	struct made m;

	prm_set_fte_in_set_opcode(&e.in, PRM_CMD_OP_SET_FLOW_TABLE_ENTRY);
	prm_set_fte_in_set_table_id(&e.in, table_id);
	prm_set_fte_in_set_flow_index(&e.in, 9);
	prm_flow_context_set_group_id(f, group_id);
	prm_flow_context_set_action(f, PRM_FLOW_ACTION_FWD_DEST);
	prm_flow_context_set_destination_list_size(f, 1);
	prm_dest_format_struct_set_destination_type(&e.dest, PRM_FLOW_DEST_TYPE_FLOW_TABLE);
	prm_dest_format_struct_set_destination_id(&e.dest, to);
	m = make(ctx, &e, sizeof(e));
	prm_set_fte_in_set_op_mod(&e.in, 1);
	prm_set_fte_in_set_modify_enable_mask(&e.in, PRM_MODIFY_FTE_MASK_ACTION |
						     PRM_MODIFY_FTE_MASK_DESTINATION_LIST);
	prm_flow_context_set_action(f, PRM_FLOW_ACTION_DROP);
	prm_flow_context_set_destination_list_size(f, 0);
	CHECK_EQ(mlx5dv_devx_obj_modify(m.obj, &e, sizeof(e.in), out, sizeof(out)), 0);
	return m;
}

static int
root(struct ibv_context *ctx, unsigned op_mod, uint32_t table_id)
{
	struct prm_set_flow_table_root_in in = {0};
	uint32_t out[4];

	prm_set_flow_table_root_in_set_opcode(&in, PRM_CMD_OP_SET_FLOW_TABLE_ROOT);
	prm_set_flow_table_root_in_set_op_mod(&in, op_mod);
	prm_set_flow_table_root_in_set_table_id(&in, table_id);
	return mlx5dv_devx_general_cmd(ctx, &in, sizeof(in), out, sizeof(out));
}

static void
entry_is_drop(const struct made *m, uint32_t table_id)
{
	struct prm_query_fte_in in = {0};
	struct prm_query_fte_out out = {0};

	prm_query_fte_in_set_opcode(&in, PRM_CMD_OP_QUERY_FLOW_TABLE_ENTRY);
	prm_query_fte_in_set_table_id(&in, table_id);
	prm_query_fte_in_set_flow_index(&in, 9);
	CHECK_EQ(mlx5dv_devx_obj_query(m->obj, &in, sizeof(in), &out, sizeof(out)), 0);
	CHECK_EQ(prm_flow_context_get_action(prm_query_fte_out_flow_context(&out)),
		 PRM_FLOW_ACTION_DROP);
}

void
case_vfio_tables(unsigned port)
{
	struct ibv_context *ctx = vfio_open(port);
	struct made low, high, g, e;

	CHECK(ctx != NULL);
	if (ctx == NULL)
		return;
	low = table(ctx, 0);
	high = table(ctx, 1);
	CHECK_EQ(root(ctx, 0, low.id), 0);
	g = group(ctx, low.id);
	e = entry(ctx, low.id, g.id, high.id);
	entry_is_drop(&e, low.id);
	/* The library remembers the table and the index for the command that deletes. */
	CHECK_EQ(mlx5dv_devx_obj_destroy(e.obj), 0);
	CHECK_EQ(mlx5dv_devx_obj_destroy(g.obj), 0);
	CHECK_EQ(root(ctx, 1, 0), 0);
	CHECK_EQ(root(ctx, 0, high.id), 0);
	CHECK_EQ(mlx5dv_devx_obj_destroy(high.obj), 0);
	CHECK_EQ(mlx5dv_devx_obj_destroy(low.obj), 0);
	CHECK_EQ(ibv_close_device(ctx), 0);
}
