/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Invalid and error completions: counted, never delivered, never read or written out of bounds. */

#include "rig.h"

#define POOL 1024
static struct rte_mempool *pool;

static void
home(const char *what)
{
	unsigned int n = rte_mempool_avail_count(pool);

	CHECK(n == POOL, "%s: %u of %u mbufs came home", what, n, POOL);
}

/* One invalid completion between valid ones. */
struct odd {
	const char *what;
	uint8_t opcode, syndrome;
	int32_t len;		/* Of the CQE. */
	int16_t counter_off;	/* Added to the valid counter. */
	uint8_t xor_own;
	bool stops;		/* The queue stops; otherwise only this packet is dropped. */
	bool nothing;		/* Reads as a CQE that is not written yet. */
};
static const struct odd odds[] = {
	{ "opcode REQ", 0xf0, 0, 60, 0, 0, true, false },
	{ "opcode 1", 1, 0, 60, 0, 0, true, false },
	{ "opcode 6", 6, 0, 60, 0, 0, true, false },
	{ "opcode REQ_ERR", 13, 1, 60, 0, 0, true, false },
	{ "RESP_ERR length", 14, 0x01, 0, 0, 0, false, false },
	{ "RESP_ERR length, out of step", 14, 0x01, 0, 5, 0, true, false },
	{ "RESP_ERR qp op", 14, 0x02, 0, 0, 0, true, false },
	{ "RESP_ERR protection", 14, 0x04, 0, 0, 0, true, false },
	{ "RESP_ERR flush", 14, 0x05, 0, 0, 0, true, false },
	{ "RESP_ERR access", 14, 0x11, 0, 0, 0, true, false },
	{ "length 0", 2, 0, 0, 0, 0, false, false },
	{ "length beyond the WQE", 2, 0, 2049, 0, 0, false, false },
	{ "length negative", 2, 0, -1, 0, 0, false, false },
	{ "length 2 GiB", 2, 0, INT32_MIN, 0, 0, false, false },
	{ "counter one ahead", 2, 0, 60, 1, 0, true, false },
	{ "counter one behind", 2, 0, 60, -1, 0, true, false },
	{ "counter half a ring off", 2, 0, 60, 32, 0, true, false },
	{ "mini-CQE format", 2, 0, 60, 0, 0x0c, true, false },
	{ "invalid", 15, 0, 60, 0, 0, false, true },
	{ "other owner", 2, 0, 60, 0, 0x01, false, true },
};

static void
one_odd(const struct odd *o, unsigned int good, unsigned int f)
{
	struct rig_rx *r = rig_rx_new(6, 0, 6, pool, 0, NULL);
	struct rig_rx_cqe c = { 0 }, bad = { .opcode = o->opcode };
	uint8_t *cqe = r->cq + (size_t)(good % 64) * 64;
	bool error = o->opcode == 14;
	struct rte_mbuf *pkts[64];
	unsigned int i, n, after = 0;

	for (i = 0; i < good; i++)
		CHECK(rig_rx_packet(r, i, 60, &c), "no WQE");
	if (error)
		rig_rx_error(r, o->syndrome, r->wqe_count + o->counter_off);
	else
		rig_rx_cqe(r, o->len, r->wqe_count + o->counter_off, &bad);
	if (o->opcode == 0xf0)
		cqe[0x3f] &= 0x01;
	cqe[0x3f] ^= o->xor_own;
	r->wqe_count++;
	for (i = good + 1; i < good + 5; i++)
		CHECK(rig_rx_packet(r, i, 60, &c), "no WQE");
	n = rig_rx_burst(r, f, pkts, 64);
	for (i = 0; i < n; i++) {
		uint32_t seq = i < good ? i : i + 1;

		after += seq > good;
		CHECK(rig_rx_match(r, pkts[i], seq, 60), "%s: packet %u", o->what, i);
		rte_pktmbuf_free(pkts[i]);
	}
	CHECK(n - after == good, "%s: %u of %u before it", o->what, n - after, good);
	CHECK(after == (o->stops || o->nothing ? 0 : 4), "%s: %u after it", o->what, after);
	CHECK(r->rxq.q.state == (o->stops ? MLXPMD_QS_QUIESCED : MLXPMD_QS_READY), "%s: state %u", o->what, r->rxq.q.state);
	CHECK(r->rxq.q.stats.errors == (unsigned int)(error && !o->nothing), "%s: errors", o->what);
	CHECK(r->rxq.q.stats.cqe_bad == (unsigned int)(!error && !o->nothing), "%s: cqe_bad", o->what);
	CHECK(!error || (r->rxq.q.syndrome == o->syndrome && r->rxq.q.vendor_syndrome == 0x77), "%s", o->what);
	CHECK(r->rxq.q.stats.packets == n, "%s: packets", o->what);
	if (o->stops)
		CHECK(rig_rx_burst(r, f, pkts, 64) == 0, "%s: received in error", o->what);
	rig_rx_free(r);
	home(o->what);
}

/*
 * The device writes the completion after the fast path read the CQE and before mlxpmd_rx_exception() does: it is an
 * ordinary packet, neither counted nor dropped.
 */
static void
between_two_looks(void)
{
	struct rig_rx *r = rig_rx_new(6, 0, 6, pool, 0, NULL);
	struct rig_rx_cqe c = { 0 };
	struct rte_mbuf *m = NULL;

	CHECK(rig_rx_packet(r, 9, 60, &c), "no WQE");
	CHECK(mlxpmd_rx_exception(&r->rxq), "not to be looked at again");
	CHECK(r->rxq.q.stats.cqe_bad == 0 && r->rxq.q.stats.errors == 0 && r->rxq.q.ci == 0, "taken for a bad one");
	CHECK(rig_rx_burst(r, 0, &m, 1) == 1 && rig_rx_match(r, m, 9, 60), "lost");
	rte_pktmbuf_free(m);
	rig_rx_free(r);
	home("between_two_looks");
}

/* A ring full of completions that are dropped: a call processes at most as many as packets were requested. */
static void
bad_in_a_row(void)
{
	struct rig_rx *r = rig_rx_new(6, 0, 6, pool, 0, NULL);
	struct rig_rx_cqe c = { 0 };
	struct rte_mbuf *pkts[8];
	unsigned int i, n;

	for (i = 0; i < 64; i++) {
		if (i % 2 == 0)
			rig_rx_error(r, MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR, r->wqe_count++);
		else
			rig_rx_cqe(r, 0, r->wqe_count++, &c);
	}
	for (i = 1; i <= 8; i++) {
		n = rig_rx_burst(r, 0, pkts, 8);
		CHECK(n == 0 && r->rxq.q.cq_ci == i * 8, "call %u: %u packets, CQ index %u", i, n, r->rxq.q.cq_ci);
	}
	CHECK(r->rxq.q.stats.errors == 32 && r->rxq.q.stats.cqe_bad == 32, "%" PRIu64 " errors, %" PRIu64 " refused",
	      r->rxq.q.stats.errors, r->rxq.q.stats.cqe_bad);
	CHECK(rig_rx_packet(r, 9, 60, &c) && rig_rx_burst(r, 0, pkts, 8) == 1 && rig_rx_match(r, pkts[0], 9, 60),
	      "the packet after them");
	rte_pktmbuf_free(pkts[0]);
	rig_rx_free(r);
	home("bad_in_a_row");
}

/* A completion without a posted WQE has no mbuf. */
static void
unposted(void)
{
	struct rig_rx *r = rig_rx_new(6, 0, 8, pool, 0, NULL);
	struct rig_rx_cqe c = { 0 };
	struct rte_mbuf *pkts[128];
	unsigned int i, n;

	rig_pool_leave(pool, 0);
	for (i = 0; i < 64; i++)
		CHECK(rig_rx_packet(r, i, 60, &c), "no WQE");
	rig_rx_cqe(r, 60, r->wqe_count, &c);
	n = rig_rx_burst(r, 0, pkts, 128);
	CHECK(n == 64 && r->rxq.q.stats.cqe_bad == 1 && r->rxq.q.state == MLXPMD_QS_QUIESCED, "%u delivered", n);
	rte_pktmbuf_free_bulk(pkts, n);
	rig_rx_free(r);
	rig_pool_release(pool);
	home("unposted");
}

/*
 * Random completions: random bytes, or valid ones with one byte changed. Delivered mbufs must be well formed and all
 * mbufs must be freed in the end; the contents of the packets are not checked.
 */
static void
random_cqes(uint8_t log_segs, unsigned int f, unsigned int rounds)
{
	struct rig_rx *r = rig_rx_new(6, log_segs, 6, pool, 0, NULL);
	struct rig_rx_cqe c = { 0 };
	uint64_t bad = 0, delivered = 0, i;
	struct rte_mbuf *pkts[64];
	unsigned int n, k, b;

	for (i = 0; i < rounds; i++) {
		uint8_t *cqe = r->cq + (size_t)(r->cqe_count % 64) * 64, owner = r->cqe_count / 64 & 1;

		rig_rx_cqe(r, 1 + rig_random() % 3000, r->wqe_count++, &c);
		if (i % 4 == 0)
			for (b = 0; b < 64; b++)
				cqe[b] = rig_random();
		else if (i % 4 == 1)
			cqe[rig_random() % 64] = rig_random();
		if (rig_random() % 8)
			cqe[0x3f] = (cqe[0x3f] & 0xfe) | owner;
		n = rig_rx_burst(r, f, pkts, 1 + rig_random() % 64);
		for (k = 0; k < n; k++) {
			CHECK(pkts[k]->pkt_len != 0 && pkts[k]->pkt_len <= r->rxq.len_max, "length %u",
			      pkts[k]->pkt_len);
			CHECK(rte_mbuf_check(pkts[k], 1, &(const char *){ NULL }) == 0, "broken mbuf");
			rte_pktmbuf_free(pkts[k]);
		}
		delivered += n;
		if (r->rxq.q.state == MLXPMD_QS_READY && r->rxq.q.cq_ci == r->cqe_count)
			continue;
		/* Stopped or out of step: stop and start the queue. */
		bad += r->rxq.q.stats.cqe_bad + r->rxq.q.stats.errors;
		rig_rx_free(r);
		if (i % 64 == 0)
			home("random");
		r = rig_rx_new(6, log_segs, 6, pool, 0, NULL);
	}
	bad += r->rxq.q.stats.cqe_bad + r->rxq.q.stats.errors;
	CHECK(bad > rounds / 8 && delivered > rounds / 4, "%" PRIu64 " bad, %" PRIu64 " delivered", bad,
	      delivered);
	rig_rx_free(r);
	home("random");
}

int
main(int argc, char **argv)
{
	unsigned int rounds = argc > 1 ? strtoul(argv[1], NULL, 0) : 500000, i, k;

	rig_init();
	pool = rig_pool("bad", POOL, 64, 2048 + RTE_PKTMBUF_HEADROOM);
	RIG_EACH {
		for (i = 0; i < RTE_DIM(odds); i++)
			for (k = 0; k < 40; k++)
				one_odd(&odds[i], k, k & 1 ? MLXPMD_RX_F_HASH : 0);
		unposted();
		between_two_looks();
		bad_in_a_row();
		random_cqes(0, 0, rounds);
	}
	/* Only scalar bursts support segments. */
	random_cqes(1, MLXPMD_RX_F_SCATTER, rounds);
	return rig_end("rx_bad");
}
