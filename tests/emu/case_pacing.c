/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Packet pacing: entries of the table of rates by mlx5dv_pp_alloc(), and rates of raw packet QPs. */
#include "client.h"

static struct mlx5dv_pp *
alloc(struct client *c, uint32_t kbps, uint32_t flags)
{
	struct prm_set_pp_rate_limit_context pp = {0};

	prm_set_pp_rate_limit_context_set_rate_limit(&pp, kbps);
	return mlx5dv_pp_alloc(c->ctx, sizeof(pp), &pp, flags);
}

/* Equal rates share an entry, dedicated ones do not; a freed entry is used again. */
static void
entries(struct client *c)
{
	struct mlx5dv_pp *a = alloc(c, 1000, 0), *same = alloc(c, 1000, 0), *b = alloc(c, 2000, 0);
	struct mlx5dv_pp *own = alloc(c, 1000, MLX5DV_PP_ALLOC_FLAGS_DEDICATED_INDEX), *again;

	CHECK(a != NULL && same != NULL && b != NULL && own != NULL);
	if (a == NULL || same == NULL || b == NULL || own == NULL)
		return;
	CHECK(a->index != 0);
	CHECK_EQ(same->index, a->index);
	CHECK(b->index != a->index && own->index != a->index && own->index != b->index);
	mlx5dv_pp_free(a);
	again = alloc(c, 3000, 0);
	CHECK(again != NULL && again->index != same->index);
	mlx5dv_pp_free(again);
	mlx5dv_pp_free(same);
	again = alloc(c, 3000, 0);
	CHECK(again != NULL && again->index == 1);
	mlx5dv_pp_free(again);
	mlx5dv_pp_free(b);
	mlx5dv_pp_free(own);
}

static void
refusals(struct client *c)
{
	const struct prm_set_pp_rate_limit_context empty = {0};
	uint8_t too_long[sizeof(empty) + 4] = {0};
	struct ibv_device_attr_ex attr;
	struct mlx5dv_pp *pp[128];
	unsigned n = 0;

	CHECK_EQ(ibv_query_device_ex(c->ctx, NULL, &attr), 0);
	CHECK_EQ(attr.packet_pacing_caps.supported_qpts, 1u << IBV_QPT_RAW_PACKET);
	errno = 0;
	CHECK(alloc(c, 0, 0) == NULL && errno == EINVAL);
	CHECK(alloc(c, attr.packet_pacing_caps.qp_rate_limit_max + 1, 0) == NULL && errno == EINVAL);
	CHECK(alloc(c, 1000, 2) == NULL && errno == EOPNOTSUPP); /* by libmlx5 */
	CHECK(mlx5dv_pp_alloc(c->ctx, sizeof(too_long), too_long, 0) == NULL && errno == EINVAL);
	/* The table is full. */
	while (n < 128 && (pp[n] = alloc(c, 1000 + n, 0)) != NULL)
		n++;
	CHECK_EQ(n, 127);
	CHECK_EQ(errno, ENOSPC);
	while (n != 0)
		mlx5dv_pp_free(pp[--n]);
}

static void
to_state(struct ibv_qp *qp, enum ibv_qp_state state, int more, uint32_t kbps, int err)
{
	struct ibv_qp_attr a = {.qp_state = state, .port_num = 1, .rate_limit = kbps};

	CHECK_EQ(ibv_modify_qp(qp, &a, IBV_QP_STATE | more), err);
}

/* A raw packet QP keeps its rate while it can send; the entry is free after it. */
static void
raw_qp(struct client *c)
{
	struct ibv_qp_rate_limit_attr rate = {.rate_limit = 5000, .max_burst_sz = 9000, .typical_pkt_sz = 1500};
	struct ibv_cq *cq = ibv_create_cq(c->ctx, 16, NULL, NULL, 0);
	struct ibv_qp_init_attr init = {
		.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RAW_PACKET,
		.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1},
	};
	struct ibv_qp *qp = ibv_create_qp(c->pd, &init);
	struct mlx5dv_pp *pp;

	CHECK(qp != NULL);
	if (qp == NULL)
		return;
	to_state(qp, IBV_QPS_INIT, IBV_QP_PORT, 0, 0);
	to_state(qp, IBV_QPS_RTR, IBV_QP_RATE_LIMIT, 4000, EINVAL);
	to_state(qp, IBV_QPS_RTR, 0, 0, 0);
	to_state(qp, IBV_QPS_RTS, IBV_QP_RATE_LIMIT, 4000, 0);
	CHECK_EQ(ibv_modify_qp_rate_limit(qp, &rate), 0);
	/* Entry 1 has the new rate: that of the first one was freed after it. */
	pp = alloc(c, 6000, 0);
	CHECK(pp != NULL && pp->index == 1);
	mlx5dv_pp_free(pp);
	rate.rate_limit = 0;
	CHECK_EQ(ibv_modify_qp_rate_limit(qp, &rate), EINVAL);
	rate = (struct ibv_qp_rate_limit_attr){.rate_limit = 4000};
	CHECK_EQ(ibv_modify_qp_rate_limit(qp, &rate), 0);
	to_state(qp, IBV_QPS_RESET, 0, 0, 0);
	pp = alloc(c, 6000, 0);
	CHECK(pp != NULL && pp->index == 1);
	mlx5dv_pp_free(pp);
	to_state(qp, IBV_QPS_INIT, IBV_QP_PORT, 0, 0);
	to_state(qp, IBV_QPS_RTR, 0, 0, 0);
	to_state(qp, IBV_QPS_RTS, IBV_QP_RATE_LIMIT, 4000, 0);
	CHECK_EQ(ibv_destroy_qp(qp), 0);
	pp = alloc(c, 6000, 0);
	CHECK(pp != NULL && pp->index == 1);
	mlx5dv_pp_free(pp);
	CHECK_EQ(ibv_destroy_cq(cq), 0);
}

void
case_pacing(unsigned port)
{
	struct client c;

	client_open(&c, port);
	entries(&c);
	refusals(&c);
	raw_qp(&c);
	client_close(&c);
}

/* A card without it. */
void
case_no_pacing(unsigned port)
{
	struct ibv_device_attr_ex attr;
	struct client c;

	client_open(&c, port);
	CHECK_EQ(ibv_query_device_ex(c.ctx, NULL, &attr), 0);
	CHECK_EQ(attr.packet_pacing_caps.supported_qpts, 0);
	CHECK(alloc(&c, 1000, 0) == NULL && errno == EOPNOTSUPP);
	client_close(&c);
}

/*
 * The firmware refuses to free an entry, by rules of the test: the kernel ignores it, and has forgotten the rate
 * (Linux, rl.c, mlx5_rl_entry_put(), find_rl_entry()).
 */
void
case_pacing_kept(unsigned port)
{
	struct mlx5dv_pp *a, *b;
	struct client c;

	client_open(&c, port);
	a = alloc(&c, 1000, 0);
	CHECK(a != NULL && a->index == 1);
	mlx5dv_pp_free(a);
	a = alloc(&c, 2000, 0);
	b = alloc(&c, 1000, 0);
	CHECK(a != NULL && a->index == 1 && b != NULL && b->index == 2);
	mlx5dv_pp_free(a);
	a = alloc(&c, 1000, 0);
	CHECK(a != NULL && a->index == 2);
	mlx5dv_pp_free(a);
	mlx5dv_pp_free(b);
	client_close(&c);
}
