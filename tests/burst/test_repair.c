/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* States of a queue: the table of steps, quiescing, the limits of repair, and the rewind of a receive queue. */

#include "rig.h"

#define POOL 1024
#define MS UINT64_C(1000000)
static struct rte_mempool *pool;
static const uint8_t syndromes[] = { 0x01, 0x02, 0x04, 0x05, 0x06, 0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x22 };

static void
home(const char *what)
{
	unsigned int n = rte_mempool_avail_count(pool);

	CHECK(n == POOL, "%s: %u of %u mbufs came home", what, n, POOL);
}

/* ---- the table ---- */

/* Results of the steps that are not in the table. */
static uint8_t
quiesced_from(uint8_t state)
{
	return state == MLXPMD_QS_ERROR || state == MLXPMD_QS_QUIESCING ? MLXPMD_QS_QUIESCED : state;
}

static uint8_t
requested_from(uint8_t state)
{
	return state == MLXPMD_QS_READY ? MLXPMD_QS_QUIESCING : state;
}

static void
steps_of_bursts(uint8_t from)
{
	uint8_t state = from;

	mlxpmd_qstate_quiesce(&state);
	CHECK(state == quiesced_from(from), "quiesce in %s", mlxpmd_qstate_name(from));
	state = from;
	CHECK(mlxpmd_qstate_request(&state) == (from == MLXPMD_QS_READY), "request in %s", mlxpmd_qstate_name(from));
	CHECK(state == requested_from(from), "request in %s", mlxpmd_qstate_name(from));
}

/* Each cell has either a state or a reason. */
static void
table(void)
{
	unsigned int from, step, permitted = 0;

	for (from = 0; from < MLXPMD_NB_QS; from++) {
		const struct mlxpmd_qmove *row = mlxpmd_qmoves[from];

		for (step = 0; step < MLXPMD_NB_STEPS; step++) {
			permitted += row[step].why == NULL;
			CHECK(row[step].why != NULL || row[step].to < MLXPMD_NB_QS, "%u %u", from, step);
			CHECK(row[step].why == NULL || row[step].to == 0, "%u %u: both", from, step);
			CHECK((mlxpmd_qstate_may("Rx", 0, 0, from, step) == 0) == (row[step].why == NULL),
			      "step %u in %s", step, mlxpmd_qstate_name(from));
		}
		if (from == MLXPMD_QS_SETUP)
			continue;
		steps_of_bursts(from);
		/* A queue that no burst or repair uses can be stopped in every state. */
		CHECK(from == MLXPMD_QS_ERROR || from == MLXPMD_QS_REPAIR || row[MLXPMD_STEP_STOP].why == NULL,
		      "no way out of %s", mlxpmd_qstate_name(from));
	}
	CHECK(permitted == 13, "%u permitted steps", permitted);
	CHECK(mlxpmd_qstate_may("Rx", 0, 0, MLXPMD_QS_FAILED, MLXPMD_STEP_START) == -EINVAL, "a failed queue starts");
}

/* ---- the limits ---- */

struct life {
	unsigned int resets, max_per_s;
	uint64_t died_ns;
};

/* Simulates a queue that fails every_ns after each repair, or whose resets all fail; for at most a minute. */
static struct life
live(uint64_t every_ns, bool resets_fail)
{
	struct mlxpmd_repair r = { 0 };
	uint64_t now = 77 * 1000 * MS, begin = now, fails_at = now, at[1000] = { 0 };
	struct life life = { 0 };
	unsigned int i, k;

	for (; now < begin + 60000 * MS && life.died_ns == 0; now += 2 * MS) {
		if (r.since_ns == 0 && now >= fails_at)
			mlxpmd_repair_failed(&r, now);
		if (r.since_ns == 0)
			continue;
		switch (mlxpmd_repair_decide(&r, now)) {
		case MLXPMD_REPAIR_FAIL:
			life.died_ns = now - begin;
			break;
		case MLXPMD_REPAIR_RESET:
			at[life.resets++] = now;
			r.reset_ns[r.nb_reset++ % RTE_DIM(r.reset_ns)] = now;
			if (resets_fail) {
				mlxpmd_repair_failed(&r, now);
			} else {
				r.since_ns = 0;
				fails_at = now + every_ns;
			}
			break;
		default:
			break;
		}
	}
	for (i = 0; i < life.resets; i++) {
		for (k = i; k < life.resets && at[k] < at[i] + 1000 * MS; k++)
			;
		life.max_per_s = RTE_MAX(life.max_per_s, k - i);
	}
	return life;
}

static void
limits(void)
{
	struct life life = live(0, false);

	CHECK(life.resets == 4 && life.max_per_s == 2, "storm: %u resets, %u in a second", life.resets, life.max_per_s);
	CHECK(life.died_ns >= 1000 * MS && life.died_ns < 1100 * MS, "storm: dead after %" PRIu64 " ms",
	      life.died_ns / MS);
	life = live(2000 * MS, false);
	CHECK(life.resets == 4 && life.died_ns >= 8000 * MS, "each 2 s: %u resets, %" PRIu64 " ms", life.resets,
	      life.died_ns / MS);
	life = live(2600 * MS, false);
	CHECK(life.resets >= 22 && life.died_ns == 0, "each 2.6 s: %u resets, died %" PRIu64, life.resets, life.died_ns);
	life = live(0, true);
	CHECK(life.resets == 4 && life.max_per_s == 2 && life.died_ns < 1200 * MS, "refused: %u resets, %" PRIu64 " ms",
	      life.resets, life.died_ns / MS);
}

/* ---- rewind of a receive queue ---- */

struct rx_case {
	uint8_t syndrome, log_segs;
	unsigned int f, lap, position;
	bool fresh, empty;
};

static uint32_t seq;

static unsigned int
arrive(struct rig_rx *r, unsigned int n, uint32_t len)
{
	struct rig_rx_cqe c = { 0 };
	unsigned int i;

	for (i = 0; i < n && rig_rx_packet(r, seq + i, len, &c); i++)
		;
	return i;
}

static void
take(struct rig_rx *r, unsigned int f, unsigned int n, uint32_t len)
{
	struct rte_mbuf *pkts[64];
	unsigned int i, got = rig_rx_burst(r, f, pkts, 64);

	CHECK(got == n, "%u received, not %u", got, n);
	for (i = 0; i < got; i++)
		CHECK(rig_rx_match(r, pkts[i], seq + i, len), "packet %u", i);
	rte_pktmbuf_free_bulk(pkts, got);
	seq += n;
}

/* A mempool of two ranges, and in the elements that are not posted an mbuf that is in neither. */
static struct mdv_mr_set *
outdate(struct rig_rx *r)
{
	static struct rte_mbuf elsewhere = { .buf_addr = &elsewhere };
	struct mdv_mr_set *two = calloc(1, sizeof(*two) + 2 * sizeof(two->range[0]));
	uint16_t i;

	two->n = 2;
	two->range[0] = r->rxq.mr->range[0];
	two->range[1] = (struct mdv_mr_range) { .start = UINTPTR_MAX, .end = UINTPTR_MAX };
	for (i = r->rxq.q.pi; (uint16_t)(i - r->rxq.q.ci) <= r->rxq.q.wqe_mask; i++)
		r->rxq.q.elts[i & r->rxq.q.wqe_mask] = &elsewhere;
	return two;
}

static void
begin_again(const struct rx_case *c)
{
	struct rig_rx *r = rig_rx_new(6, c->log_segs, 6, pool, 0, NULL);
	const uint32_t len = c->log_segs != 0 ? 2500 : 60;
	const struct mdv_mr_set *one = r->rxq.segs[0].mr;
	struct rte_mbuf *m, *spare[2];
	struct mdv_mr_set *two = NULL;
	uint16_t posted;
	unsigned int i;

	for (i = 0; i < c->lap; i++) {
		CHECK(arrive(r, 1, len) == 1, "no WQE");
		take(r, c->f, 1, len);
	}
	if (c->empty) {
		CHECK(rte_mempool_get_bulk(pool, (void **)spare, RTE_DIM(spare)) == 0, "no mbufs");
		rig_pool_leave(pool, 0);
	}
	CHECK(arrive(r, c->position, len) == c->position, "no WQE");
	rig_rx_error(r, c->syndrome, r->wqe_count);
	for (i = 1; i < 4; i++)
		rig_rx_error(r, 0x05, r->wqe_count + i);
	if (c->syndrome == 0x01) {
		/* Too long a packet is dropped; the flush error after it stops the queue. */
		r->wqe_count++;
	}
	take(r, c->f, c->position, len);
	CHECK(r->rxq.q.state == MLXPMD_QS_QUIESCED && r->rxq.q.cause == MLXPMD_CAUSE_ERROR, "state %u, cause %u", r->rxq.q.state,
	      r->rxq.q.cause);
	CHECK(r->rxq.q.stats.errors == (c->syndrome == 0x01 ? 2 : 1), "%" PRIu64 " errors", r->rxq.q.stats.errors);
	CHECK(r->rxq.q.stats.syndromes[mlxpmd_syndrome_class[c->syndrome]] >= 1, "class of %#x", c->syndrome);
	CHECK(rig_rx_burst(r, c->f, &m, 1) == 0 && mlxpmd_rx_queue_count(&r->rxq) == 0, "used after it was quiesced");
	posted = r->rxq.q.pi - r->rxq.q.ci;
	/* The pool has mbufs, but fewer than the ring lacks: the rewind must not allocate them. */
	if (c->empty)
		rte_mempool_put_bulk(pool, (void **)spare, RTE_DIM(spare));
	if (c->log_segs == 0)
		r->rxq.segs[0].mr = two = outdate(r);
	CHECK(mlxpmd_rxq_rewind(&r->rxq, c->fresh) == 0, "not rewound");
	CHECK(mlxpmd_rxq_rewind(&r->rxq, c->fresh) == 0, "not repeated");
	r->rxq.segs[0].mr = one;
	free(two);
	if (c->empty)
		CHECK(rte_mempool_get_bulk(pool, (void **)spare, RTE_DIM(spare)) == 0, "the rewind allocated mbufs");
	CHECK(r->rxq.q.ci == 0 && r->rxq.q.pi == posted && r->rq_dbrec == 0, "indices");
	r->wqe_count = 0;
	if (c->fresh)
		r->cqe_count = 0;
	CHECK(rte_be_to_cpu_32(r->dbrec[0]) == r->cqe_count, "consumer index %u of %u", rte_be_to_cpu_32(r->dbrec[0]),
	      r->cqe_count);
	mlxpmd_queue_ready(&r->rxq.q);
	if (c->empty) {
		/* One packet per posted WQE arrives, and no more. */
		i = arrive(r, 64, len);
		CHECK(i == posted, "%u WQEs posted, %u held mbufs", i, posted);
		take(r, c->f, i, len);
		rig_pool_release(pool);
		rte_mempool_put_bulk(pool, (void **)spare, RTE_DIM(spare));
	}
	for (i = 0; i < 12; i++) {
		take(r, c->f, 0, len);
		CHECK(arrive(r, 31, len) == 31, "no WQE after the repair");
		take(r, c->f, 31, len);
	}
	CHECK(r->rxq.q.state == MLXPMD_QS_READY && r->rxq.q.stats.cqe_bad == 0, "state %u", r->rxq.q.state);
	rig_rx_free(r);
	home("begin_again");
}

static void
rx_errors(void)
{
	struct rx_case c;
	unsigned int s, i;

	for (s = 0; s < RTE_DIM(syndromes); s++) {
		for (i = 0; i < 64; i++) {
			c = (struct rx_case) { .syndrome = syndromes[s], .lap = i * 3 % 67, .position = i % 8,
					       .fresh = (i & 8) != 0, .empty = (i & 16) != 0,
					       .log_segs = (i & 32) != 0 };
			c.f = c.log_segs != 0 ? MLXPMD_RX_F_SCATTER : i & 1 ? MLXPMD_RX_F_HASH : 0;
			begin_again(&c);
		}
	}
}

/* The control plane requests the queues: the next call of each burst quiesces its queue and delivers nothing. */
static void
requested(void)
{
	struct rig_rx *r = rig_rx_new(6, 0, 6, pool, 0, NULL);
	struct rig_tx *t = rig_tx_new(6, 64, 6, 63, 0);
	struct rte_mbuf *m;

	CHECK(mlxpmd_qstate_request(&r->rxq.q.state) && mlxpmd_qstate_request(&t->txq.q.state), "not ready");
	CHECK(arrive(r, 1, 60) == 1, "no WQE");
	CHECK(rig_rx_burst(r, 0, &m, 1) == 0 && r->rxq.q.state == MLXPMD_QS_QUIESCED, "state %u", r->rxq.q.state);
	CHECK(rig_tx_burst(t, 0, NULL, 0) == 0 && t->txq.q.state == MLXPMD_QS_QUIESCED, "state %u", t->txq.q.state);
	CHECK(r->rxq.q.cause == MLXPMD_CAUSE_NONE && t->txq.q.cause == MLXPMD_CAUSE_NONE, "cause");
	rig_rx_free(r);
	rig_tx_free(t);
	home("requested");
}

int
main(void)
{
	rig_init();
	pool = rig_pool("repair", POOL, 0, 2048 + RTE_PKTMBUF_HEADROOM);
	table();
	limits();
	rx_errors();
	requested();
	return rig_end("repair");
}
