/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Sending at limits: mbufs that contradict themselves, short packets, borders of memory, small WQEs, long runs. */

#include <rte_errno.h>

#include "rig.h"

#define POOL 1023
#define ALL_FLAGS (MLXPMD_TX_F_MPW | MLXPMD_TX_F_MULTI | MLXPMD_TX_F_OFFLOAD)
#define MPW_TSO (MLXPMD_TX_F_MPW | MLXPMD_TX_F_TSO)
#define HEADER 54
static struct rte_mempool *pool;

/* Packets that the device must get, in order. */
struct wanted {
	uint32_t seq, len;
	uint16_t mss, tci;
	bool tag; /* In the data. */
};
static struct wanted fifo[1024];
static unsigned int fifo_in, fifo_out;

static void
expect(uint32_t seq, uint32_t len, uint16_t mss)
{
	fifo[fifo_in++ % RTE_DIM(fifo)] = (struct wanted) { .seq = seq, .len = len, .mss = mss };
}

static void
got(void *arg __rte_unused, const struct rig_tx_packet *p)
{
	const struct wanted *w = &fifo[fifo_out++ % RTE_DIM(fifo)];

	CHECK(fifo_in - fifo_out < RTE_DIM(fifo), "a packet that was not posted");
	CHECK(p->len == w->len && p->mss == w->mss, "packet %u: %u bytes not %u, mss %u not %u", w->seq, p->len, w->len,
	      p->mss, w->mss);
	CHECK(rig_tx_match(p, w->seq, w->tag ? &w->tci : NULL), "data of packet %u", w->seq);
}

static struct rig_tx *
queue(unsigned int f, uint8_t log_wqebbs, uint8_t max_ds)
{
	struct rig_tx *t = rig_tx_new(log_wqebbs, 256, 8, max_ds, f & MLXPMD_TX_F_INLINE ? 1 : 0);

	t->txq.inline_send = (f & MLXPMD_TX_F_COPY) ? 700 : 0;
	fifo_in = fifo_out = 0;
	return t;
}

static void
settled(struct rig_tx *t, unsigned int dropped, const char *what)
{
	(void)rig_tx_run(t, true, got, NULL);
	CHECK(fifo_in == fifo_out, "%s: %u of %u sent", what, fifo_out, fifo_in);
	CHECK(t->txq.q.stats.dropped == dropped, "%s: %" PRIu64 " dropped, not %u", what, t->txq.q.stats.dropped, dropped);
	rig_tx_free(t);
	CHECK(rte_mempool_avail_count(pool) == POOL, "%s: mbufs are missing", what);
}

/* The data of packet seq in n segments of these lengths. */
static struct rte_mbuf *
chain(uint32_t seq, const uint16_t *lens, unsigned int n)
{
	struct rte_mbuf *head = NULL, **next = &head;
	unsigned int i, at = 0;

	for (i = 0; i < n; i++, next = &(*next)->next) {
		*next = rte_pktmbuf_alloc(pool);
		memcpy(rte_pktmbuf_mtod(*next, uint8_t *), rig_data(seq) + at, lens[i]);
		(*next)->data_len = lens[i];
		at += lens[i];
	}
	head->nb_segs = n;
	head->pkt_len = at;
	return head;
}

static struct rte_mbuf *
one(uint32_t seq, uint16_t len)
{
	return chain(seq, &len, 1);
}

static struct rte_mbuf *
segmented(struct rte_mbuf *m, unsigned int header, uint16_t segsz)
{
	m->ol_flags |= RTE_MBUF_F_TX_TCP_SEG | RTE_MBUF_F_TX_IP_CKSUM | RTE_MBUF_F_TX_IPV4;
	m->l2_len = 14;
	m->l4_len = 20 + RTE_MIN(40u, header - HEADER);
	m->l3_len = header - 14 - m->l4_len;
	m->tso_segsz = segsz;
	return m;
}

/*
 * A packet whose nb_segs or pkt_len contradict its segments is dropped, and no segment is written that it does not
 * have; its neighbours are sent. tso: all are to be segmented, and alike.
 */
static void
contradictions(unsigned int f, bool tso)
{
	static const struct {
		const char *what;
		uint16_t lens[3];
		unsigned int n;
		int nb_segs, pkt_len; /* Added to the right values. */
		bool sent;
	} rows[] = {
		{ "three segments", { 154, 200, 300 }, 3, 0, 0, true },
		{ "nb_segs too large", { 154, 200, 300 }, 3, 1, 0, false },
		{ "nb_segs too small", { 154, 200, 300 }, 3, -1, 0, false },
		{ "pkt_len too large", { 154, 200, 300 }, 3, 0, 1, false },
		{ "pkt_len too small", { 154, 200, 300 }, 3, 0, -1, false },
		{ "pkt_len without the last", { 154, 200, 300 }, 3, 0, -300, false },
		{ "nb_segs and pkt_len without the last", { 154, 200, 300 }, 3, -1, -300, false },
		{ "empty in the middle", { 154, 0, 300 }, 3, 0, 0, true },
		{ "empty at the end", { 154, 200, 0 }, 3, 0, 0, true },
		{ "header alone", { HEADER, 300 }, 2, 0, 0, true },
		{ "header in two", { HEADER - 1, 301 }, 2, 0, 0, true },
		{ "empty at the begin", { 0, 300 }, 2, 0, 0, true },
		{ "all empty", { 0, 0, 0 }, 3, 0, 0, false },
		/* In one segment. */
		{ "pkt_len larger", { 600 }, 1, 0, 1, false },
		{ "pkt_len smaller", { 600 }, 1, 0, -1, false },
		{ "another one behind", { 154, 300 }, 2, -1, -300, false },
	};
	/* Elsewhere a packet of one segment is as long as data_len. */
	const bool has_one = tso || (f & MLXPMD_TX_F_INLINE) ||
			     (f & (MLXPMD_TX_F_COPY | MLXPMD_TX_F_MPW)) == MLXPMD_TX_F_COPY;
	unsigned int i, at, k, dropped = 0;
	struct rig_tx *t = queue(f, 8, 63);
	struct rte_mbuf *pkts[4];

	for (i = 0; i < RTE_DIM(rows) * 4; i++) {
		at = i / RTE_DIM(rows);
		k = i % RTE_DIM(rows);
		if (!has_one && rows[k].n + rows[k].nb_segs == 1)
			continue;
		for (unsigned int p = 0; p < 4; p++) {
			pkts[p] = p == at ? chain(p, rows[k].lens, rows[k].n) : one(p, 555);
			if (tso)
				(void)segmented(pkts[p], HEADER, 250);
			if (p != at || rows[k].sent)
				expect(p, pkts[p]->pkt_len, tso ? 250 : 0);
		}
		pkts[at]->nb_segs += rows[k].nb_segs;
		pkts[at]->pkt_len += rows[k].pkt_len;
		dropped += !rows[k].sent;
		CHECK(rig_tx_burst(t, f, pkts, 4) == 4, "%s: blocks", rows[k].what);
		(void)rig_tx_run(t, true, got, NULL);
		CHECK(fifo_in == fifo_out && t->txq.q.stats.dropped == dropped, "%s at %u: %u of %u sent, %" PRIu64 " dropped",
		      rows[k].what, at, fifo_out, fifo_in, t->txq.q.stats.dropped);
	}
	settled(t, dropped, "contradictions");
}

/* Packets of two segments in a row, behind 0 to 15 packets of one: no group takes them for packets of one segment. */
static void
pairs_in_groups(unsigned int f)
{
	static const uint16_t lens[] = { 100, 200 };
	struct rte_mbuf *pkts[40];
	unsigned int i, at;
	struct rig_tx *t;

	for (at = 0; at < 16; at++) {
		t = queue(f, 8, 63);
		for (i = 0; i < RTE_DIM(pkts); i++) {
			pkts[i] = i < at ? one(i, 300) : chain(i, lens, 2);
			expect(i, 300, 0);
		}
		CHECK(rig_tx_burst(t, f, pkts, RTE_DIM(pkts)) == RTE_DIM(pkts), "blocks");
		settled(t, 0, "pairs_in_groups");
	}
}

/* In a run of packets alike: the longest payload and one byte more, none, and less than the headers. */
static void
payloads(unsigned int f)
{
	static const uint16_t lens[] = { 500, HEADER + 1000, HEADER + 1001, HEADER, HEADER - 1, HEADER + 1, 500 };
	struct rte_mbuf *pkts[RTE_DIM(lens)];
	struct rig_tx *t = queue(f, 6, 63);
	unsigned int i;

	t->txq.max_lso = 1000;
	for (i = 0; i < RTE_DIM(lens); i++) {
		pkts[i] = segmented(one(i, lens[i]), HEADER, 100);
		CHECK(mlxpmd_tx_prepare(&t->txq, &pkts[i], 1) == (i != 2 && i != 4), "%u bytes prepared", lens[i]);
		if (i != 2 && i != 4)
			expect(i, lens[i], lens[i] == HEADER ? 0 : 100);
	}
	CHECK(rig_tx_burst(t, f, pkts, RTE_DIM(lens)) == RTE_DIM(lens), "blocks");
	settled(t, 2, "payloads");
}

/* A device with small WQEs: a packet is sent if title, rest of the header, and data segments fit. */
static void
small_wqes(unsigned int f)
{
	uint16_t lens[4] = { 0, 30, 40, 50 };
	unsigned int max_ds, header, segs, units, len, i, dropped;
	struct rte_mbuf *pkts[2];
	struct rig_tx *t;

	for (max_ds = 14; max_ds <= 17; max_ds++) {
		t = queue(f, 6, max_ds);
		dropped = 0;
		for (header = HEADER; header <= 192; header++) {
			for (segs = 1; segs <= 4; segs++) {
				units = 2 + (header - 2 + 15) / 16 + segs;
				lens[0] = header + 20;
				for (i = 0, len = 0; i < segs; i++)
					len += lens[i];
				for (i = 0; i < 2; i++) {
					pkts[i] = segmented(chain(i, lens, segs), header, 100);
					if (units <= max_ds)
						expect(i, len, 100);
					dropped += units > max_ds;
				}
				CHECK(rig_tx_burst(t, f, pkts, 2) == 2, "blocks");
				(void)rig_tx_run(t, true, got, NULL);
				CHECK(t->txq.q.stats.dropped == dropped, "%u units of %u: %" PRIu64 " dropped, not %u",
				      units, max_ds, t->txq.q.stats.dropped, dropped);
			}
		}
		settled(t, dropped, "small_wqes");
	}
}

/* Packets as long as an inline header or shorter; one that has no complete addresses takes no tag. */
static void
short_packets(uint8_t mode)
{
	struct rig_tx *t = rig_tx_new(6, 64, 6, 63, mode);
	unsigned int len, vlan, dropped = 0;
	struct rte_mbuf *m;

	fifo_in = fifo_out = 0;
	for (len = 3; len <= 90; len++) {
		for (vlan = 0; vlan < 2; vlan++) {
			m = one(len, len);
			m->ol_flags = vlan ? RTE_MBUF_F_TX_VLAN : 0;
			m->vlan_tci = 0x1230 + len;
			dropped += vlan && len < 12;
			if (!vlan || len >= 12)
				fifo[fifo_in++ % RTE_DIM(fifo)] = (struct wanted) {
					.seq = len, .len = len + 4 * vlan, .tci = 0x1230 + len, .tag = vlan,
				};
			CHECK(rig_tx_burst(t, MLXPMD_TX_F_INLINE, &m, 1) == 1, "blocks");
			(void)rig_tx_run(t, true, got, NULL);
			CHECK(t->txq.q.stats.dropped == dropped, "%u bytes, tag %u: %" PRIu64 " dropped", len, vlan,
			      t->txq.q.stats.dropped);
		}
	}
	settled(t, dropped, "short_packets");
}

/* Packets side by side in memory of two keys, to the last byte of each, upwards and downwards, in all bursts. */
static void
memory_borders(unsigned int f)
{
	static uint8_t space[32][64] __rte_aligned(64);
	struct rte_mbuf_ext_shared_info shinfo = { .free_cb = NULL };
	unsigned int burst, i, k, at, down;
	struct rte_mbuf *pkts[32];
	struct rig_tx *t;

	shinfo.free_cb = (void *)&memory_borders;
	for (i = 0; i < 32; i++)
		memcpy(space[i], rig_data(i), 64);
	for (burst = 1; burst <= 32; burst++) {
		for (down = 0; down < 2; down++) {
			t = queue(f, 8, 63);
			rig_ranges_clear();
			rig_range_add(space[0], 16 * 64, 0x7001);
			rig_range_add(space[16], 16 * 64, 0x7002);
			for (i = 0; i < 32; i += burst) {
				for (k = 0; k < burst && i + k < 32; k++) {
					at = down ? 31 - i - k : i + k;
					pkts[k] = rte_pktmbuf_alloc(pool);
					rte_mbuf_ext_refcnt_set(&shinfo, 64); /* The callback is not called. */
					rte_pktmbuf_attach_extbuf(pkts[k], space[at], 0, 64, &shinfo);
					pkts[k]->data_len = pkts[k]->pkt_len = 64;
					expect(at, 64, 0);
				}
				CHECK(rig_tx_burst(t, f, pkts, k) == k, "not taken");
				(void)rig_tx_run(t, true, got, NULL);
			}
			settled(t, 0, "memory_borders");
		}
	}
	rig_ranges_clear();
}

/* Of all mbufs, the one whose buffer has 64 bytes on either side of the address; frees the others. */
static struct rte_mbuf *
mbuf_around(struct rte_mbuf **all, uintptr_t addr)
{
	struct rte_mbuf *m = NULL;
	unsigned int i;

	for (i = 0; i < POOL; i++)
		if ((uintptr_t)all[i]->buf_addr + 64 <= addr &&
		    addr + 64 <= (uintptr_t)all[i]->buf_addr + all[i]->buf_len)
			m = all[i];
		else
			rte_pktmbuf_free(all[i]);
	return m;
}

/* The first packet of a mempool in several parts begins, or ends, where one part does. */
static void
first_of_mempool(void)
{
	const unsigned int was = rig_mempool_parts;
	struct rte_mbuf *all[POOL], *m;
	unsigned int i, tried = 0;
	uintptr_t border;
	struct rig_tx *t;

	for (rig_mempool_parts = 2; rig_mempool_parts <= 4; rig_mempool_parts++) {
		for (i = 0; i < 2; i++) {
			rig_ranges_clear();
			(void)mdv_mr_mempool(&rig_mdv, pool);
			border = rig_ranges[0].end;
			rig_ranges_clear();
			CHECK(rte_pktmbuf_alloc_bulk(pool, all, POOL) == 0, "no mbufs");
			m = mbuf_around(all, border);
			if (m == NULL)
				continue;
			tried++;
			t = queue(ALL_FLAGS, 6, 63);
			m->data_off = border - (uintptr_t)m->buf_addr - 64 * i;
			memcpy(rte_pktmbuf_mtod(m, uint8_t *), rig_data(9), 64);
			m->data_len = m->pkt_len = 64;
			expect(9, 64, 0);
			CHECK(rig_tx_burst(t, ALL_FLAGS, &m, 1) == 1, "not taken");
			settled(t, 0, "first_of_mempool");
		}
	}
	CHECK(tried != 0, "no border is in a buffer");
	rig_mempool_parts = was;
	rig_ranges_clear();
}

/* The memory of a clone is that of the mempool of the original. */
static void
clone_of_other(void)
{
	struct rte_mempool *other = rig_pool("other", 15, 0, 0);
	struct rig_tx *t = queue(0, 6, 63);
	struct rte_mbuf *m = one(3, 100), *clone = rte_pktmbuf_clone(m, other);

	rig_ranges_clear();
	rte_pktmbuf_free(m);
	expect(3, 100, 0);
	CHECK(rig_tx_burst(t, ALL_FLAGS, &clone, 1) == 1, "not taken");
	settled(t, 0, "clone_of_other");
	rig_ranges_clear();
	rte_mempool_free(other);
}

/*
 * A burst that is longer than the thresholds is cut: after rs_thresh packets, or a quarter of the ring, a completion is
 * requested, and not only at its end. rows: WQEBBs of the ring, packets, their kind, then completions and the first WQE
 * that has one.
 */
static void
completions(void)
{
	static const struct {
		unsigned int f, n;
		uint16_t rs_thresh;
		bool tso;
		unsigned int cqes;
		uint16_t last;
	} rows[] = {
		/* SEND WQEs of one WQEBB. */
		{ MLXPMD_TX_F_OFFLOAD, 64, 16, false, 4, 63 },
		{ MLXPMD_TX_F_OFFLOAD, 50, 16, false, 3, 47 },
		/* Two WQEBBs each: after 16 packets. */
		{ MLXPMD_TX_F_TSO, 64, 16, true, 4, 2 * 63 },
		{ MLXPMD_TX_F_TSO, 50, 16, true, 3, 2 * 47 },
		/* A run has up to 63 WQEBBs: two of them are more than a quarter of the ring. */
		{ MLXPMD_TX_F_TSO, 64, 64, true, 1, 2 * 61 },
		{ MLXPMD_TX_F_TSO, 61, 64, true, 1, 2 * 60 },
		{ MLXPMD_TX_F_TSO, 31, 64, true, 0, 0 },
	};
	struct rte_mbuf *pkts[64];
	unsigned int i, k;
	struct rig_tx *t;

	for (i = 0; i < RTE_DIM(rows); i++) {
		rig_rs_thresh = rows[i].rs_thresh;
		t = queue(rows[i].f, 8, 63);
		rig_rs_thresh = 0;
		for (k = 0; k < rows[i].n; k++) {
			pkts[k] = one(k, 200);
			if (rows[i].tso)
				(void)segmented(pkts[k], HEADER, 100);
			expect(k, 200, rows[i].tso ? 100 : 0);
		}
		CHECK(rig_tx_burst(t, rows[i].f, pkts, rows[i].n) == rows[i].n, "not taken");
		(void)rig_tx_run(t, true, got, NULL);
		CHECK(t->cqe_count == rows[i].cqes && t->cqe_requested == rows[i].last,
		      "row %u: %u completions, the last of %u", i, t->cqe_count, t->cqe_requested);
		settled(t, 0, "completions");
	}
}

/* Packets that are copied into WQEs of two WQEBBs fill a ring of 64 to its end. */
static void
full_ring(unsigned int f, uint16_t len)
{
	struct rig_tx *t = queue(f, 6, 63);
	struct rte_mbuf *m;
	unsigned int n;

	t->txq.inline_mpw = len;
	for (n = 0; n < 33; n++) {
		m = one(n, len);
		if (rig_tx_burst(t, f, &m, 1) == 0)
			break;
		expect(n, len, 0);
	}
	CHECK(n == 32, "%u packets of %u bytes", n, len);
	if (n != 33)
		rte_pktmbuf_free(m);
	settled(t, 0, "full_ring");
}

/* Requests that no queue fulfils are refused, also with flags that are left from receiving. */
static void
never(void)
{
	static const uint64_t flags[] = {
		RTE_MBUF_F_TX_UDP_SEG, RTE_MBUF_F_TX_OUTER_UDP_CKSUM, RTE_MBUF_F_TX_QINQ, RTE_MBUF_F_TX_MACSEC,
		RTE_MBUF_F_TX_SEC_OFFLOAD, RTE_MBUF_F_TX_SCTP_CKSUM,
	};
	struct rig_tx *t = queue(0, 6, 63);
	struct rte_mbuf *m = one(1, 100);
	unsigned int i, rx;

	for (rx = 0; rx < 2; rx++) {
		for (i = 0; i < RTE_DIM(flags); i++) {
			m->ol_flags = flags[i] | RTE_MBUF_F_TX_IPV4 |
				      (rx ? RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_RSS_HASH : 0);
			rte_errno = 0;
			CHECK(mlxpmd_tx_prepare(&t->txq, &m, 1) == 0 && rte_errno == ENOTSUP, "request %u: %s", i,
			      rte_strerror(rte_errno));
		}
		m->ol_flags = RTE_MBUF_F_TX_UDP_CKSUM | RTE_MBUF_F_TX_IPV4 | (rx ? RTE_MBUF_F_RX_VLAN : 0);
		CHECK(mlxpmd_tx_prepare(&t->txq, &m, 1) == 1, "UDP: %s", rte_strerror(rte_errno));
	}
	rte_pktmbuf_free(m);
	settled(t, 0, "never");
}

int
main(void)
{
	static const unsigned int chains[] = {
		MLXPMD_TX_F_MULTI | MLXPMD_TX_F_OFFLOAD, ALL_FLAGS, MLXPMD_TX_F_INLINE, MLXPMD_TX_F_COPY,
		MLXPMD_TX_F_MPW | MLXPMD_TX_F_COPY,
	};
	static const unsigned int tso[] = { MLXPMD_TX_F_TSO, MPW_TSO, MLXPMD_TX_F_INLINE | MLXPMD_TX_F_TSO };
	static const unsigned int borders[] = {
		0, MLXPMD_TX_F_MPW, ALL_FLAGS, MLXPMD_TX_F_OFFLOAD, MLXPMD_TX_F_INLINE,
	};
	unsigned int i;

	rig_init();
	pool = rig_pool("limits", POOL, 64, 2048 + RTE_PKTMBUF_HEADROOM);
	RIG_EACH {
		for (i = 0; i < RTE_DIM(chains); i++)
			contradictions(chains[i], false);
		for (i = 0; i < RTE_DIM(tso); i++) {
			contradictions(tso[i], true);
			payloads(tso[i]);
		}
		pairs_in_groups(ALL_FLAGS);
		pairs_in_groups(MLXPMD_TX_F_MPW | MLXPMD_TX_F_MULTI);
		pairs_in_groups(MLXPMD_TX_F_MULTI | MLXPMD_TX_F_OFFLOAD);
		small_wqes(MLXPMD_TX_F_TSO);
		for (i = 0; i < RTE_DIM(borders); i++)
			memory_borders(borders[i]);
		completions();
		full_ring(MLXPMD_TX_F_COPY, 90);
		full_ring(MLXPMD_TX_F_MPW | MLXPMD_TX_F_COPY, 64);
		full_ring(MLXPMD_TX_F_MPW | MLXPMD_TX_F_COPY | MLXPMD_TX_F_FAST_FREE, 64);
	}
	never();
	short_packets(1);
	short_packets(2);
	short_packets(3);
	first_of_mempool();
	clone_of_other();
	return rig_end("tx_limits");
}
