/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Matchers and flows through mlx5dv_create_flow(). */
#include <stdlib.h>

#include "client.h"

/* fte_match_set_lyr_2_4 stands first: dmac in the first 6 bytes of dwords 2 and 3. */
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
