/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Buffer split: each segment is from its mempool, begins at its offset, and is full before the next one begins; the
 * lack of mbufs of one mempool stops only the packets that need it; a repair puts every mbuf where it belongs.
 */

/* Pinned external buffers. */
#define ALLOW_EXPERIMENTAL_API

#include "rig.h"

#define POOLS 3
#define POOL 2500
/* Data data_bytes without and with a headroom, and one that no buffer of the others would hold. */
static const uint16_t data_bytes[POOLS] = { 256, 700, 2048 + RTE_PKTMBUF_HEADROOM };
static struct rte_mempool *pools[POOLS];

/* Segments as an application describes them. */
struct plan {
	const char *what;
	uint8_t log_segs;
	uint16_t n;
	struct { uint8_t pool; uint16_t length, offset; } seg[8];
};

static const struct plan plans[] = {
	{ "header and the rest", 1, 2, { { 0, 64, 0 }, { 2, 0, 0 } } },
	{ "the rest is not described", 1, 1, { { 2, 128, 0 } } },
	{ "one byte", 1, 2, { { 0, 1, 0 }, { 2, 0, 0 } } },
	{ "offsets", 1, 2, { { 0, 64, 64 }, { 1, 0, 128 } } },
	{ "full to the last byte", 1, 2, { { 0, 100, 28 }, { 1, 699, 1 } } },
	{ "three mempools, the last fills up", 2, 3, { { 0, 14, 2 }, { 1, 200, 0 }, { 2, 0, 7 } } },
	{ "the same mempool by turns", 3, 8, { { 0, 20, 0 }, { 2, 20, 9 }, { 0, 20, 0 }, { 2, 20, 9 }, { 0, 20, 0 },
	  { 2, 20, 9 }, { 1, 20, 1 }, { 2, 0, 0 } } },
	{ "most segments", 5, 1, { { 0, 3, 0 } } },
	{ "more is described than a packet needs", 0, 2, { { 2, 1514, 3 }, { 1, 0, 0 } } },
	{ "one segment with an offset", 0, 1, { { 2, 0, 100 } } },
	{ "bytes", 2, 4, { { 0, 60, 0 }, { 2, 1, 0 }, { 1, 2, 0 }, { 0, 1, 0 } } },
};

static struct rig_rx *
queue_new(const struct plan *p, uint8_t log_wqes, uint64_t offloads)
{
	struct rte_eth_rxseg_split split[8];
	struct rig_rx *r;
	uint16_t i;

	for (i = 0; i < p->n; i++)
		split[i] = (struct rte_eth_rxseg_split){ .mp = pools[p->seg[i].pool], .length = p->seg[i].length,
							 .offset = p->seg[i].offset };
	r = rig_rx_split_new(log_wqes, p->log_segs, split, p->n, offloads);
	CHECK(r != NULL, "%s: no queue", p->what);
	return r;
}

static unsigned int
features(const struct plan *p)
{
	return p->log_segs != 0 ? MLXPMD_RX_F_SCATTER : 0;
}

static void
home(const char *what)
{
	unsigned int i, n;

	for (i = 0; i < POOLS; i++) {
		n = rte_mempool_avail_count(pools[i]);
		CHECK(n == POOL, "%s: %u of %u mbufs of mempool %u came home", what, n, POOL, i);
	}
}

/* Bytes of a WQE's first segments, computed from the plan alone. */
static uint32_t
bytes_of(const struct plan *p, unsigned int segs)
{
	uint32_t bytes = 0;
	unsigned int i;

	for (i = 0; i < segs; i++) {
		uint16_t room = data_bytes[p->seg[RTE_MIN(i, p->n - 1u)].pool];

		if (i < p->n && p->seg[i].length != 0)
			bytes += p->seg[i].length;
		else
			bytes += room - (i < p->n ? p->seg[i].offset : 0) - (i == 0 ? RTE_PKTMBUF_HEADROOM : 0);
	}
	return bytes;
}

/* Packets that end at each boundary, one byte before and one after it. An FCS behind them needs no segment. */
static void
boundaries(const struct plan *p, uint32_t fcs)
{
	const unsigned int f = features(p), segs = 1u << p->log_segs;
	struct rig_rx *r = queue_new(p, 5, fcs != 0 ? RTE_ETH_RX_OFFLOAD_KEEP_CRC : 0);
	struct rig_rx_cqe c = { 0 };
	struct rte_mbuf *m;
	uint32_t len, s, seq = 0, want;
	int d;

	CHECK(r->rxq.len_max == bytes_of(p, segs), "%s: %u bytes", p->what, r->rxq.len_max);
	for (s = 1; s <= segs; s++) {
		for (d = -1; d <= 1; d++) {
			len = bytes_of(p, s) + d;
			if (len == 0 || len + fcs > r->rxq.len_max)
				continue;
			CHECK(rig_rx_packet(r, ++seq, len + fcs, &c), "%s: no WQE", p->what);
			CHECK(rig_rx_burst(r, f, &m, 1) == 1, "%s: nothing", p->what);
			CHECK(rig_rx_match(r, m, seq, len), "%s: %u bytes", p->what, len);
			for (want = 1; bytes_of(p, want) < len; want++)
				;
			CHECK(m->nb_segs == want, "%s: %u bytes in %u", p->what, len, m->nb_segs);
			rte_pktmbuf_free(m);
		}
	}
	rig_rx_free(r);
	home(p->what);
}

static void
take(struct rig_rx *r, const uint32_t *lens, uint32_t *next, struct rte_mbuf **pkts, uint16_t n)
{
	uint16_t i;

	for (i = 0; i < n; i++, ++*next)
		CHECK(rig_rx_match(r, pkts[i], *next, lens[*next % 4096]), "packet %u", *next);
	rte_pktmbuf_free_bulk(pkts, n);
}

/*
 * Packets of random length in random bursts; compressed: in sessions. In between the mempools are short of mbufs by
 * turns. Nothing is lost, and the counters agree.
 */
static void
laps(const struct plan *p, bool compressed)
{
	const unsigned int f = features(p) | (compressed ? MLXPMD_RX_F_COMP : 0);
	struct rig_rx *r = queue_new(p, 6, 0);
	struct rig_rx_cqe c = { .hash_type = 0x44 };
	uint32_t seq = 0, next = 0, round, max = RTE_MIN(r->rxq.len_max, 6000u);
	static uint32_t lens[4096];
	struct rig_rx_session s;
	struct rte_mbuf *pkts[64];
	uint16_t n;

	r->rxq.mini_cqe = compressed ? 1 : 0;
	for (round = 0; round < 1500; round++) {
		struct rte_mempool *mp = pools[round / 2 % POOLS];

		if (round & 1)
			rig_pool_leave(mp, rig_random() % 5);
		rig_rx_session_begin(r, 1, &s);
		for (n = rig_random() % 40; n != 0; n--) {
			uint32_t len = 1 + rig_random() % (rig_random() % 2 ? RTE_MIN(max, 100u) : max);

			lens[seq % 4096] = len;
			if (!(compressed ? rig_rx_session_packet(r, &s, seq, len, &c) : rig_rx_packet(r, seq, len, &c)))
				break;
			seq++;
		}
		rig_rx_session_end(r, &s);
		take(r, lens, &next, pkts, rig_rx_burst(r, f, pkts, 1 + rig_random() % 64));
		if (round & 1)
			rig_pool_release(mp);
	}
	while ((n = rig_rx_burst(r, f, pkts, 32)) != 0)
		take(r, lens, &next, pkts, n);
	CHECK(seq == next && seq > 5000, "%s: %u in, %u out", p->what, seq, next);
	CHECK(r->rxq.q.stats.packets == next && r->rxq.q.stats.cqe_bad == 0, "%s: counters", p->what);
	CHECK(r->rxq.q.stats.nombuf != 0, "%s: mbufs were never short", p->what);
	rig_rx_free(r);
	home(p->what);
}

/* Sends packets of one length until no WQE is left or n were sent, and receives them. */
static unsigned int
pass(struct rig_rx *r, unsigned int n, uint32_t len)
{
	struct rig_rx_cqe c = { 0 };
	struct rte_mbuf *pkts[32];
	unsigned int sent = 0, got;
	uint32_t lens[1] = { len }, next = 0;

	while (sent < n && rig_rx_packet(r, sent, len, &c)) {
		sent++;
		got = rig_rx_burst(r, MLXPMD_RX_F_SCATTER, pkts, 32);
		CHECK(got == 1 && rig_rx_match(r, pkts[0], next++, lens[0]), "packet %u of %u bytes", sent, len);
		rte_pktmbuf_free_bulk(pkts, got);
	}
	return sent;
}

/* The mempool of the second segment is empty: packets that need only the first one pass, as many as there are. */
static void
second_empty(void)
{
	struct rig_rx *r = queue_new(&plans[0], 6, 0);
	struct rte_mbuf *kept[64];
	struct rig_rx_cqe c = { 0 };
	unsigned int i, n;

	rig_pool_leave(pools[2], 0);
	CHECK_EQ(pass(r, 1000, 64), 1000);
	CHECK_EQ(r->rxq.q.stats.nombuf, 0);
	/* Each of the longer ones keeps an mbuf. */
	for (i = 0; i < 64 && rig_rx_packet(r, i, 65, &c); i++) {
		n = rig_rx_burst(r, MLXPMD_RX_F_SCATTER, &kept[i], 1);
		CHECK(n == 1 && rig_rx_match(r, kept[i], i, 65), "packet %u", i);
	}
	CHECK_EQ(i, 64);
	CHECK(!rig_rx_packet(r, i, 60, &c), "a WQE without its second mbuf");
	/* The first segment's mbuf of the next WQE is in place and waits; all second ones are missing. */
	(void)rig_rx_burst(r, MLXPMD_RX_F_SCATTER, kept, 0);
	CHECK(r->rxq.q.elts[(r->rxq.q.pi & r->rxq.q.wqe_mask) << 1] != NULL, "the first mbuf was given back");
	CHECK_EQ(r->rxq.q.stats.nombuf, 64 + 63);
	rig_pool_release(pools[2]);
	rte_pktmbuf_free_bulk(kept, 64);
	(void)rig_rx_burst(r, MLXPMD_RX_F_SCATTER, kept, 1);
	CHECK_EQ(mlxpmd_rx_holes(&r->rxq), 0);
	CHECK_EQ(pass(r, 200, 2000), 200);
	rig_rx_free(r);
	home("second empty");
}

/* A WQE with a segment of each mempool fails at the n-th of them: nothing leaks, and the queue goes on. */
static void
arming(void)
{
	const struct plan *p = &plans[5];
	struct rte_eth_rxseg_split split[2] = { { .mp = pools[0] }, { .mp = pools[1] } };
	unsigned int i;

	for (i = 0; i < POOLS; i++) {
		struct rte_eth_rxseg_split all[3] = { { pools[0], 14, 2, 0 }, { pools[1], 200, 0, 0 },
						      { pools[2], 0, 7, 0 } };

		rig_pool_leave(pools[i], 31);
		CHECK(rig_rx_split_new(5, p->log_segs, all, 3, 0) == NULL && rte_errno == ENOMEM, "31 mbufs for 32");
		rig_pool_release(pools[i]);
		home("arming");
	}
	/* 256 bytes, of which the first segment has 128. */
	split[0].length = 129;
	CHECK(rig_rx_split_new(5, 1, split, 2, 0) == NULL && rte_errno == EINVAL, "longer than the mbuf");
	split[0].length = 0;
	split[0].offset = 128;
	CHECK(rig_rx_split_new(5, 1, split, 2, 0) == NULL && rte_errno == EINVAL, "no byte");
	split[0].offset = UINT16_MAX;
	split[0].length = 1;
	CHECK(rig_rx_split_new(5, 1, split, 2, 0) == NULL && rte_errno == EINVAL, "an offset beyond 16 bits");
	split[0] = (struct rte_eth_rxseg_split){ .mp = pools[0], .length = 128 };
	split[1].length = 701;
	CHECK(rig_rx_split_new(5, 1, split, 2, 0) == NULL && rte_errno == EINVAL, "longer than the second mbuf");
	home("arming");
}

/* Stops at a random place with WQEs that lack mbufs, and begins again with what the queue holds. */
static void
repair(const struct plan *p, bool fresh, unsigned int before)
{
	struct rig_rx *r = queue_new(p, 5, 0);
	struct rig_rx_cqe c = { 0 };
	struct rte_mbuf *kept[32];
	uint16_t posted;
	unsigned int i;

	pass(r, before, r->rxq.len_max);
	rig_pool_leave(pools[p->seg[p->n - 1].pool], 0);
	for (i = 0; i < 7; i++) {
		CHECK(rig_rx_packet(r, i, r->rxq.len_max, &c), "no WQE");
		CHECK_EQ(rig_rx_burst(r, MLXPMD_RX_F_SCATTER, &kept[i], 1), 1);
	}
	rig_rx_error(r, 0x05, r->wqe_count);
	CHECK_EQ(rig_rx_burst(r, MLXPMD_RX_F_SCATTER, &kept[7], 1), 0);
	CHECK_EQ(r->rxq.q.state, MLXPMD_QS_QUIESCED);
	posted = r->rxq.q.pi - r->rxq.q.ci;
	CHECK(posted < 32, "all posted");
	CHECK(mlxpmd_rxq_rewind(&r->rxq, fresh) == 0 && mlxpmd_rxq_rewind(&r->rxq, fresh) == 0, "not rewound");
	r->wqe_count = 0;
	r->cqe_count = fresh ? 0 : r->cqe_count;
	mlxpmd_queue_ready(&r->rxq.q);
	for (i = 7; i < 7u + posted; i++) {
		CHECK(rig_rx_packet(r, i, r->rxq.len_max, &c), "no WQE");
		CHECK(rig_rx_burst(r, MLXPMD_RX_F_SCATTER, &kept[i], 1) == 1 &&
		      rig_rx_match(r, kept[i], i, r->rxq.len_max), "%s: packet %u", p->what, i);
	}
	CHECK(!rig_rx_packet(r, i, 1, &c), "more than was posted");
	rig_pool_release(pools[p->seg[p->n - 1].pool]);
	rte_pktmbuf_free_bulk(kept, 7 + posted);
	CHECK_EQ(rig_rx_burst(r, MLXPMD_RX_F_SCATTER, kept, 1), 0);
	CHECK_EQ(pass(r, 100, r->rxq.len_max), 100);
	rig_rx_free(r);
	home("repair");
}

/* The whole ring at a time. */
static void
pass_rings(struct rig_rx *r, unsigned int n, uint32_t len)
{
	struct rig_rx_cqe c = { 0 };
	static uint32_t lens[4096];
	struct rte_mbuf *pkts[64];
	uint32_t seq = 0, next = 0;

	while (n-- != 0) {
		for (; rig_rx_packet(r, seq, len, &c); seq++)
			lens[seq % 4096] = len;
		while (next != seq)
			take(r, lens, &next, pkts, rig_rx_burst(r, MLXPMD_RX_F_SCATTER, pkts, 64));
	}
}

/* The buffers of the second segment are in three ranges, each with its own key, and then one is not registered. */
static void
ranges(void)
{
	struct rte_mempool *mp = rig_pool("ranges", 300, 16, 1000);
	struct rte_eth_rxseg_split split[2] = { { pools[0], 30, 0, 0 }, { mp, 0, 10, 0 } };
	struct mdv_mr_set *set;
	struct rig_rx *r;

	rig_mempool_parts = 3;
	r = rig_rx_split_new(6, 1, split, 2, 0);
	rig_mempool_parts = 1;
	CHECK(r != NULL && r->rxq.mr->n == 1 && r->rxq.segs[1].mr->n == 3, "not one range and three");
	pass_rings(r, 50, 110);
	CHECK_EQ(r->rxq.q.stats.nombuf, 0);
	set = (struct mdv_mr_set *)(uintptr_t)r->rxq.segs[1].mr;
	set->n = 2;
	pass_rings(r, 50, 110);
	CHECK(r->rxq.q.stats.nombuf != 0, "nothing was missing");
	set->n = 3;
	(void)rig_rx_burst(r, MLXPMD_RX_F_SCATTER, NULL, 0);
	CHECK_EQ(pass(r, 100, 110), 100);
	rig_rx_free(r);
	CHECK_EQ(rte_mempool_avail_count(mp), 300);
	rig_pool_free(mp);
	home("ranges");
}

/* The mempool of one segment has pinned external buffers, which do not follow their mbufs. */
static void
pinned(unsigned int which)
{
	struct rte_pktmbuf_extmem mem = { .buf_len = 300 * 1024, .elt_size = 1024, .buf_iova = RTE_BAD_IOVA };
	struct rte_eth_rxseg_split split[2] = { { pools[0], 30, 0, 0 }, { pools[1], 0, 10, 0 } };
	struct rte_mbuf *m = NULL;
	struct rte_mempool *mp;
	struct rig_rx_cqe c = { 0 };
	struct rig_rx *r;

	mem.buf_ptr = aligned_alloc(4096, RTE_ALIGN_CEIL(mem.buf_len, 4096));
	mp = rte_pktmbuf_pool_create_extbuf("pinned", 300, 0, 0, 1024, SOCKET_ID_ANY, &mem, 1);
	split[which].mp = mp;
	r = rig_rx_split_new(6, 1, split, 2, 0);
	CHECK(mp != NULL && r != NULL, "no queue");
	rig_range_add(mem.buf_ptr, mem.buf_len, rte_be_to_cpu_32(r->rxq.segs[which].lkey_be));
	CHECK_EQ(pass(r, 200, 600), 200);
	CHECK(rig_rx_packet(r, 7, 600, &c) && rig_rx_burst(r, MLXPMD_RX_F_SCATTER, &m, 1) == 1, "nothing");
	CHECK((m->ol_flags & RTE_MBUF_F_EXTERNAL) == (which == 0 ? RTE_MBUF_F_EXTERNAL : 0), "segment 0");
	CHECK((m->next->ol_flags & RTE_MBUF_F_EXTERNAL) == (which == 1 ? RTE_MBUF_F_EXTERNAL : 0), "segment 1");
	rte_pktmbuf_free(m);
	rig_rx_free(r);
	CHECK_EQ(rte_mempool_avail_count(mp), 300);
	rig_pool_free(mp);
	free(mem.buf_ptr);
	home("pinned");
}

static void
all(void)
{
	unsigned int i;

	for (i = 0; i < RTE_DIM(plans); i++) {
		boundaries(&plans[i], 0);
		boundaries(&plans[i], RTE_ETHER_CRC_LEN);
		laps(&plans[i], false);
		laps(&plans[i], true);
	}
	second_empty();
	arming();
	for (i = 0; i < 64; i++)
		repair(&plans[i / 32 * 5], i & 1, i);
	ranges();
	rig_ranges_clear();
	pinned(0);
	rig_ranges_clear();
	pinned(1);
}

int
main(void)
{
	char name[32];
	unsigned int i;

	rig_init();
	RIG_EACH {
		for (i = 0; i < POOLS; i++) {
			snprintf(name, sizeof(name), "%s%u", rig_variant->name, i);
			pools[i] = rig_pool(name, POOL, i == 1 ? 32 : 0, data_bytes[i]);
		}
		all();
		for (i = 0; i < POOLS; i++)
			rig_pool_free(pools[i]);
		rig_ranges_clear();
	}
	return rig_end("rx_split");
}
