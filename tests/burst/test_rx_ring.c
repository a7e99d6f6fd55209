/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Order, wrap-around, segments, lack of mbufs: each packet is delivered once and complete, and no mbuf is lost. */

#include "rig.h"

#define POOL 2048
static struct rte_mempool *pool;

static void
home(const char *what)
{
	unsigned int n = rte_mempool_avail_count(pool);

	CHECK(n == POOL, "%s: %u of %u mbufs came home", what, n, POOL);
}

/* Expected packets, in order. */
struct fifo {
	struct { uint32_t seq, len; } e[4096];
	uint32_t in, out;
};

static void
take(struct rig_rx *r, struct fifo *f, struct rte_mbuf **pkts, uint16_t n)
{
	uint16_t i;

	for (i = 0; i < n; i++, f->out++) {
		CHECK(f->out != f->in, "a packet that was not sent");
		CHECK(rig_rx_match(r, pkts[i], f->e[f->out % 4096].seq, f->e[f->out % 4096].len),
		      "packet %u", f->out);
		rte_pktmbuf_free(pkts[i]);
	}
}

/* Random arrivals and burst sizes over many passes of rings of different sizes. */
static void
laps(uint8_t log_wqes, uint8_t log_segs, uint8_t log_cqes, unsigned int f)
{
	struct rig_rx *r = rig_rx_new(log_wqes, log_segs, log_cqes, pool, 0, NULL);
	uint32_t max = 2048 + ((1u << log_segs) - 1) * (2048 + RTE_PKTMBUF_HEADROOM), seq = 0, round;
	struct rig_rx_cqe c = { 0 };
	static struct fifo fifo;
	struct rte_mbuf *pkts[256];
	uint16_t n, k;

	CHECK(r != NULL, "no queue");
	CHECK(r->rxq.len_max == max, "len_max %u", r->rxq.len_max);
	memset(&fifo, 0, sizeof(fifo));
	for (round = 0; round < 3000; round++) {
		for (n = rig_random() % 100; n != 0; n--) {
			uint32_t len = 1 + rig_random() % (rig_random() % 4 ? 200 : max);

			if (!rig_rx_packet(r, seq, len, &c))
				break;
			fifo.e[fifo.in % 4096].seq = seq++;
			fifo.e[fifo.in++ % 4096].len = len;
		}
		k = rig_random() % 64 * (rig_random() % 3);
		take(r, &fifo, pkts, rig_rx_burst(r, f, pkts, k));
	}
	while ((n = rig_rx_burst(r, f, pkts, 32)) != 0)
		take(r, &fifo, pkts, n);
	CHECK(fifo.in == fifo.out && fifo.in > 3u << log_wqes, "%u in, %u out", fifo.in, fifo.out);
	CHECK(r->rxq.q.stats.packets == fifo.out && r->rxq.q.stats.cqe_bad == 0 && r->rxq.q.stats.nombuf == 0,
	      "packets %" PRIu64, r->rxq.q.stats.packets);
	rig_rx_free(r);
	home("laps");
}

/* Packets of every number of segments, with lengths at each boundary. */
static void
segments(void)
{
	struct rig_rx *r = rig_rx_new(5, 3, 5, pool, 0, NULL);
	uint32_t room = 2048 + RTE_PKTMBUF_HEADROOM, s, seq = 0;
	struct rig_rx_cqe c = { 0 };
	struct rte_mbuf *m;
	int d;

	for (s = 0; s < 8; s++) {
		for (d = -1; d <= 1; d++) {
			uint32_t len = 2048 + s * room + d;

			if (len > r->rxq.len_max)
				continue;
			CHECK(rig_rx_packet(r, ++seq, len, &c), "no WQE");
			CHECK(rig_rx_burst(r, MLXPMD_RX_F_SCATTER, &m, 1) == 1, "nothing");
			CHECK(rig_rx_match(r, m, seq, len), "%u bytes", len);
			CHECK(m->nb_segs == s + 1 + (d > 0), "%u bytes in %u", len, m->nb_segs);
			rte_pktmbuf_free(m);
		}
	}
	rig_rx_free(r);
	home("segments");
}

/*
 * The pool has `left` mbufs after `packets` were received: delivered packets are not affected, each missing mbuf is
 * counted once, and the first burst after the mbufs are freed fills the ring.
 */
static void
shortage_at(uint8_t log_segs, unsigned int left, unsigned int packets)
{
	const unsigned int f = log_segs ? MLXPMD_RX_F_SCATTER : 0;
	struct rig_rx *r = rig_rx_new(6, log_segs, 6, pool, 0, NULL);
	struct rig_rx_cqe c = { 0 };
	struct rte_mbuf *pkts[256], *kept[64];
	unsigned int sent = 0, got = 0, i, n, missing;

	rig_pool_leave(pool, left);
	for (i = 0; i < packets; i++)
		sent += rig_rx_packet(r, i, 100, &c);
	for (i = 0; i < 8; i++) {
		n = rig_rx_burst(r, f, pkts, 13);
		memcpy(&kept[got], pkts, n * sizeof(pkts[0]));
		got += n;
	}
	CHECK(got == sent && sent == packets, "%u sent, %u of them received", sent, got);
	for (i = 0; i < got; i++)
		CHECK(rig_rx_match(r, kept[i], i, 100), "packet %u", i);
	missing = packets > left ? packets - left : 0;
	/* Below the threshold the ring is not refilled. */
	if (packets < r->rxq.free_thresh) {
		CHECK(r->rxq.q.stats.nombuf == 0, "%" PRIu64, r->rxq.q.stats.nombuf);
	} else {
		unsigned int holes = mlxpmd_rx_holes(&r->rxq);

		/* The last empty WQEs may be fewer than the threshold. */
		CHECK(holes == missing || holes < r->rxq.free_thresh, "%u holes, %u missing", holes, missing);
		CHECK(r->rxq.q.stats.nombuf <= missing, "%" PRIu64 ", %u missing", r->rxq.q.stats.nombuf, missing);
		CHECK(holes < r->rxq.free_thresh || r->rxq.q.stats.nombuf == missing, "%" PRIu64 " not %u",
		      r->rxq.q.stats.nombuf, missing);
	}
	rig_pool_release(pool);
	rte_pktmbuf_free_bulk(kept, got);
	(void)rig_rx_burst(r, f, pkts, 32);
	CHECK(mlxpmd_rx_holes(&r->rxq) < r->rxq.free_thresh, "not refilled: %u", mlxpmd_rx_holes(&r->rxq));
	for (i = 0; rig_rx_packet(r, i, 50, &c); i++)
		;
	for (n = 0; (got = rig_rx_burst(r, f, pkts, 64)) != 0; n += got) {
		for (i = 0; i < got; i++)
			CHECK(rig_rx_match(r, pkts[i], n + i, 50), "packet %u", n + i);
		rte_pktmbuf_free_bulk(pkts, got);
	}
	CHECK(n >= 64u - r->rxq.free_thresh, "%u packets after the shortage", n);
	rig_rx_free(r);
	home("shortage");
}

static void
shortage(void)
{
	static const unsigned int lefts[] = { 0, 1, 2, 3, 4, 31, 32, 33, 63, 64 };
	unsigned int i, k;

	for (i = 0; i < RTE_DIM(lefts); i++) {
		for (k = 1; k <= 64; k++) {
			shortage_at(0, lefts[i], k);
			shortage_at(2, lefts[i], k);
		}
	}
}

/* The pool is full and empty by turns for many bursts. */
static void
toggling(void)
{
	struct rig_rx *r = rig_rx_new(6, 1, 7, pool, 0, NULL);
	uint32_t seq = 0, next = 0, round;
	struct rig_rx_cqe c = { 0 };
	struct rte_mbuf *pkts[64];
	uint16_t n, i;

	for (round = 0; round < 20000; round++) {
		if (round & 1)
			rig_pool_leave(pool, rig_random() % 5);
		for (n = rig_random() % 40; n != 0 && rig_rx_packet(r, seq, 60 + seq % 3000, &c); n--)
			seq++;
		n = rig_rx_burst(r, MLXPMD_RX_F_SCATTER, pkts, 1 + rig_random() % 64);
		for (i = 0; i < n; i++, next++)
			CHECK(rig_rx_match(r, pkts[i], next, 60 + next % 3000), "packet %u", next);
		rte_pktmbuf_free_bulk(pkts, n);
		if (round & 1)
			rig_pool_release(pool);
	}
	CHECK(r->rxq.q.stats.nombuf != 0 && next > 100000, "%u packets", next);
	rig_rx_free(r);
	home("toggling");
}

/* Mempools of several memory regions: each buffer is posted with the lkey of its region. */
static void
pieces(void)
{
	struct rte_mempool *mp = rig_pool("pieces", 300, 16, 2048 + RTE_PKTMBUF_HEADROOM);
	struct rig_rx_cqe c = { 0 };
	struct rte_mbuf *pkts[32];
	uint32_t seq = 0, next = 0;
	struct rig_rx *r;
	uint16_t i, n;

	rig_mempool_parts = 3;
	r = rig_rx_new(7, 0, 7, mp, 0, NULL);
	rig_mempool_parts = 1;
	CHECK(r != NULL && r->rxq.mr->n == 3, "not three ranges");
	while (seq < 3000) {
		for (n = 0; n < 64 && rig_rx_packet(r, seq, 80, &c); n++)
			seq++;
		while ((n = rig_rx_burst(r, 0, pkts, 32)) != 0)
			for (i = 0; i < n; i++, next++) {
				CHECK(rig_rx_match(r, pkts[i], next, 80), "packet %u", next);
				rte_pktmbuf_free(pkts[i]);
			}
	}
	rig_rx_free(r);
	CHECK(rte_mempool_avail_count(mp) == 300, "pieces: %u", rte_mempool_avail_count(mp));
	rig_pool_free(mp);
}

/* Buffers in unregistered memory are not posted, not leaked, and counted as missing. */
static void
unregistered(uint8_t log_segs)
{
	struct rte_mempool *mp = rig_pool(log_segs ? "unreg2" : "unreg", 300, 0, 2048 + RTE_PKTMBUF_HEADROOM);
	const unsigned int f = log_segs ? MLXPMD_RX_F_SCATTER : 0;
	struct rig_rx_cqe c = { 0 };
	struct rte_mbuf *pkts[32];
	uint32_t seq = 0, next = 0, i;
	struct mdv_mr_set *set;
	struct rig_rx *r;
	uint16_t n, k;

	rig_mempool_parts = 3;
	r = rig_rx_new(6, log_segs, 6, mp, 0, NULL);
	rig_mempool_parts = 1;
	set = (struct mdv_mr_set *)(uintptr_t)r->rxq.mr;
	set->n = 2;
	for (i = 0; i < 200; i++) {
		for (n = 0; n < 64 && rig_rx_packet(r, seq, 80, &c); n++)
			seq++;
		while ((n = rig_rx_burst(r, f, pkts, 32)) != 0)
			for (k = 0; k < n; k++, next++) {
				CHECK(rig_rx_match(r, pkts[k], next, 80), "packet %u", next);
				rte_pktmbuf_free(pkts[k]);
			}
	}
	CHECK(seq == next && seq > 64, "%u in, %u out", seq, next);
	CHECK(r->rxq.q.stats.nombuf != 0, "nothing was missing");
	set->n = 3;
	(void)rig_rx_burst(r, f, pkts, 32);
	CHECK(mlxpmd_rx_holes(&r->rxq) < r->rxq.free_thresh, "not refilled");
	rig_rx_free(r);
	CHECK(rte_mempool_avail_count(mp) == 300, "unregistered: %u", rte_mempool_avail_count(mp));
	rig_pool_free(mp);
	rig_ranges_clear();
}

/* Arming that fails returns an error, holds nothing, and can be repeated. */
static void
arming(void)
{
	struct rig_rx *r;

	rig_pool_leave(pool, 63);
	CHECK(rig_rx_new(6, 0, 6, pool, 0, NULL) == NULL && rte_errno == ENOMEM, "63 mbufs for 64");
	CHECK(rte_mempool_avail_count(pool) == 63, "%u left", rte_mempool_avail_count(pool));
	rig_pool_release(pool);
	CHECK(rig_rx_new(6, 0, 5, pool, 0, NULL) == NULL && rte_errno == EINVAL, "CQ smaller than RQ");
	rig_mempool_fails = true;
	CHECK(rig_rx_new(6, 0, 6, pool, 0, NULL) == NULL && rte_errno == ENOMEM, "unregistered");
	rig_mempool_fails = false;
	r = rig_rx_new(6, 0, 6, pool, 0, NULL);
	CHECK(r != NULL, "no queue");
	mlxpmd_rxq_disarm(&r->rxq.q);
	mlxpmd_rxq_disarm(&r->rxq.q);
	home("arming");
	CHECK(mlxpmd_rxq_arm(&r->rxq.q) == 0, "not armed again");
	rig_rx_free(r);
	home("arming again");
}

static void
status(void)
{
	struct rig_rx *r = rig_rx_new(6, 0, 6, pool, 0, NULL);
	struct rig_rx_cqe c = { 0 };
	struct rte_mbuf *pkts[64];
	unsigned int lap, i, n;

	for (lap = 0; lap < 5; lap++) {
		for (i = 0; i < 20; i++)
			CHECK(rig_rx_packet(r, i, 60, &c), "no WQE");
		CHECK(mlxpmd_rx_queue_count(&r->rxq) == 20, "%u", mlxpmd_rx_queue_count(&r->rxq));
		CHECK(rig_rx_awake(r), "20 packets, and it sleeps");
		CHECK(mlxpmd_rx_descriptor_status(&r->rxq, 19) == RTE_ETH_RX_DESC_DONE, "19");
		CHECK(mlxpmd_rx_descriptor_status(&r->rxq, 20) == RTE_ETH_RX_DESC_AVAIL, "20");
		n = rig_rx_burst(r, 0, pkts, 64);
		CHECK(n == 20, "%u", n);
		rte_pktmbuf_free_bulk(pkts, n);
		CHECK(mlxpmd_rx_queue_count(&r->rxq) == 0, "not 0");
		CHECK(!rig_rx_awake(r), "no packet, and it does not sleep");
		CHECK(mlxpmd_rx_descriptor_status(&r->rxq, 63) ==
		      (mlxpmd_rx_holes(&r->rxq) ? RTE_ETH_RX_DESC_UNAVAIL : RTE_ETH_RX_DESC_AVAIL), "63");
	}
	CHECK(mlxpmd_rx_descriptor_status(&r->rxq, 64) == -EINVAL, "64");
	rig_rx_free(r);
	home("status");
}

static void
all(void)
{
	laps(6, 0, 6, 0);
	laps(6, 0, 8, MLXPMD_RX_F_HASH);
	laps(8, 0, 8, MLXPMD_RX_F_SCATTER);
	laps(1, 0, 1, 0);
	laps(5, 2, 5, MLXPMD_RX_F_SCATTER);
	laps(4, 3, 7, MLXPMD_RX_F_SCATTER | MLXPMD_RX_F_HASH);
	segments();
	shortage();
	toggling();
	pieces();
	rig_ranges_clear();
	unregistered(0);
	unregistered(1);
	arming();
	status();
}

int
main(void)
{
	rig_init();
	RIG_EACH {
		pool = rig_pool(rig_variant->name, POOL, 64, 2048 + RTE_PKTMBUF_HEADROOM);
		all();
		rig_pool_free(pool);
		rig_ranges_clear();
	}
	return rig_end("rx_ring");
}
