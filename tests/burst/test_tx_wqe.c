/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* WQEs that the bursts write: some compared byte by byte, all executed by the emulated device. */

#include <rte_flow.h>

#include "rig.h"

#define POOL 4095
#define MPW_COPY (MLXPMD_TX_F_MPW | MLXPMD_TX_F_COPY)
#define ALL_FLAGS (MLXPMD_TX_F_MPW | MLXPMD_TX_F_MULTI | MLXPMD_TX_F_OFFLOAD)
static struct rte_mempool *pool;
static uint16_t inline_mpw, inline_send; /* Of new queues. */

static struct rig_tx *
queue_new(uint8_t log_wqebbs, uint16_t nb_desc, uint8_t log_cqes, uint8_t max_ds, uint8_t inline_mode)
{
	struct rig_tx *t = rig_tx_new(log_wqebbs, nb_desc, log_cqes, max_ds, inline_mode);

	mlxpmd_txq_disarm(&t->txq.q);
	t->txq.inline_mpw = inline_mpw;
	t->txq.inline_send = inline_send;
	CHECK(mlxpmd_txq_arm(&t->txq.q) == 0, "not armed");
	t->txq.meta_flag = RTE_MBUF_DYNFLAG_TX_METADATA;
	t->txq.meta_offset = rte_flow_dynf_metadata_offs;
	mlxpmd_queue_ready(&t->txq.q);
	return t;
}

static void
home(const char *what)
{
	unsigned int n = rte_mempool_avail_count(pool);

	CHECK(n == POOL, "%s: %u of %u mbufs came home", what, n, POOL);
}

/* Packets the device must send, in order. */
struct wanted {
	uint32_t seq, len;
	uint64_t ol_flags;
	uint16_t tci;
	bool inlined; /* The VLAN tag is in the data. */
	uint32_t metadata;
};
static struct wanted fifo[8192];
static uint32_t fifo_in, fifo_out;
static uint64_t fifo_bytes; /* Of the packets that were sent. */

static void
expect(const struct rte_mbuf *m, uint32_t seq, bool inlined)
{
	const bool meta = (m->ol_flags & RTE_MBUF_DYNFLAG_TX_METADATA) != 0;
	const uint32_t metadata = *RTE_MBUF_DYNFIELD(m, rte_flow_dynf_metadata_offs, const uint32_t *);

	/* Into a packet that the WQE contains the driver inserts the tag; one with metadata is never contained. */
	fifo[fifo_in++ % RTE_DIM(fifo)] = (struct wanted) { seq, m->pkt_len, m->ol_flags, m->vlan_tci,
							    inlined || (!meta && m->pkt_len <= inline_send),
							    meta ? metadata : 0 };
}

static void
sent(void *arg __rte_unused, const struct rig_tx_packet *p)
{
	const struct wanted *w = &fifo[fifo_out++ % RTE_DIM(fifo)];
	bool vlan = w->ol_flags & RTE_MBUF_F_TX_VLAN;
	uint32_t l4 = w->ol_flags >> 52 & 3;
	uint8_t cs = 0;

	if (w->ol_flags & RTE_MBUF_F_TX_IP_CKSUM)
		cs |= 0x40;
	if (l4 == 1 || l4 == 3)
		cs |= 0x80;
	CHECK(fifo_in - fifo_out < RTE_DIM(fifo), "a packet that was not posted");
	CHECK(p->metadata == w->metadata, "metadata %#x not %#x", p->metadata, w->metadata);
	CHECK(p->cs_flags == cs, "cs_flags %#x not %#x", p->cs_flags, cs);
	CHECK(p->vlan_insert == (vlan && !w->inlined) && (!p->vlan_insert || p->vlan_tci == w->tci), "vlan");
	CHECK(p->len == w->len + (vlan && w->inlined ? 4 : 0), "length %u not %u", p->len, w->len);
	fifo_bytes += w->len;
	CHECK(rig_tx_match(p, w->seq, vlan && w->inlined ? &w->tci : NULL), "data of packet %u", w->seq);
}

/* A SEND WQE with all fields, compared with literal bytes. */
static void
send_bytes(void)
{
	struct rig_tx *t = rig_tx_new(6, 64, 6, 63, 0);
	struct rte_mbuf *m = rig_tx_mbuf(pool, 1, 0x123, 1);
	uintptr_t addr = rte_pktmbuf_mtod(m, uintptr_t);
	uint32_t lkey;
	uint8_t want[48] = {
		0, 0, 0, 0x0a, 0xab, 0xcd, 0xef, 3, 0, 0, 0, 0, 0, 0, 0, 0,
		0, 0, 0, 0, 0xc0, 0, 0, 0, 0, 0, 0, 0, 0x80, 0, 0x6f, 0x21,
		0, 0, 1, 0x23,
	};
	unsigned int i;

	m->ol_flags = RTE_MBUF_F_TX_IP_CKSUM | RTE_MBUF_F_TX_UDP_CKSUM | RTE_MBUF_F_TX_VLAN;
	m->vlan_tci = 0x6f21;
	CHECK(rig_tx_burst(t, MLXPMD_TX_F_OFFLOAD, &m, 1) == 1, "not taken");
	lkey = rig_ranges[0].lkey;
	for (i = 0; i < 4; i++)
		want[36 + i] = lkey >> (24 - 8 * i);
	for (i = 0; i < 8; i++)
		want[40 + i] = (uint64_t)addr >> (56 - 8 * i);
	for (i = 0; i < 48; i++)
		CHECK(t->sq[i] == want[i], "byte %u: %#x not %#x", i, t->sq[i], want[i]);
	CHECK(memcmp((void *)&t->db_reg, want, 8) == 0, "doorbell register");
	CHECK(t->sq_dbrec == rte_cpu_to_be_32(1), "doorbell record %#x", t->sq_dbrec);
	rig_tx_free(t);
	home("send_bytes");
}

/* A multi-packet WQE of five packets, compared with literal bytes. */
static void
mpw_bytes(void)
{
	struct rig_tx *t = rig_tx_new(6, 64, 6, 63, 0);
	uint8_t title[32] = { 0, 0, 0, 0x29, 0xab, 0xcd, 0xef, 7 };
	struct rte_mbuf *pkts[5];
	unsigned int i, k;

	for (i = 0; i < 5; i++)
		pkts[i] = rig_tx_mbuf(pool, i, 60 + i, 1);
	CHECK(rig_tx_burst(t, MLXPMD_TX_F_MPW, pkts, 5) == 5, "not taken");
	CHECK(memcmp(t->sq, title, 32) == 0, "title");
	for (i = 0; i < 5; i++) {
		const uint8_t *d = t->sq + 32 + i * 16;
		uintptr_t addr = rte_pktmbuf_mtod(pkts[i], uintptr_t);

		CHECK(d[0] == 0 && d[1] == 0 && d[2] == 0 && d[3] == 60 + i, "length %u", i);
		for (k = 0; k < 4; k++)
			CHECK(d[4 + k] == (uint8_t)(rig_ranges[0].lkey >> (24 - 8 * k)), "lkey %u", i);
		for (k = 0; k < 8; k++)
			CHECK(d[8 + k] == (uint8_t)((uint64_t)addr >> (56 - 8 * k)), "address %u", i);
	}
	CHECK(memcmp((void *)&t->db_reg, title, 8) == 0, "doorbell register");
	CHECK(t->sq_dbrec == rte_cpu_to_be_32(2), "doorbell record %#x", t->sq_dbrec);
	rig_tx_free(t);
	home("mpw_bytes");
}

/* Kinds of packets that a template supports. */
struct mix {
	unsigned int features;
	unsigned int max_segs;
	bool offloads;
	uint8_t inline_mode;
	uint16_t inline_mpw, inline_send;
};

static struct rte_mbuf *
random_packet(const struct mix *mix, uint32_t seq)
{
	static const uint64_t flags[] = {
		0, 0, 0, RTE_MBUF_F_TX_IP_CKSUM, RTE_MBUF_F_TX_IP_CKSUM | RTE_MBUF_F_TX_TCP_CKSUM,
		RTE_MBUF_F_TX_UDP_CKSUM, RTE_MBUF_F_TX_VLAN, RTE_MBUF_F_TX_VLAN | RTE_MBUF_F_TX_TCP_CKSUM,
		RTE_MBUF_F_TX_SCTP_CKSUM, RTE_MBUF_F_TX_IP_CKSUM | RTE_MBUF_F_TX_SCTP_CKSUM,
		RTE_MBUF_F_TX_IP_CKSUM | RTE_MBUF_F_TX_UDP_CKSUM | RTE_MBUF_F_TX_IPV4,
	};
	unsigned int segs = 1;
	struct rte_mbuf *m;

	if (mix->max_segs > 1 && rig_random() % 2)
		segs = 1 + rig_random() % mix->max_segs;
	m = rig_tx_mbuf(pool, seq, 14 + rig_random() % (rig_random() % 4 ? 100 : 1500), segs);
	if (mix->offloads) {
		m->ol_flags = flags[seq / (1 + seq / 512 % 8) % RTE_DIM(flags)];
		m->vlan_tci = rig_random();
	}
	if ((mix->features & MLXPMD_TX_F_META) && rig_random() % 3 != 0) {
		m->ol_flags |= RTE_MBUF_DYNFLAG_TX_METADATA;
		rte_flow_dynf_metadata_set(m, rig_random() % 4 != 0 ? rig_random() : 0);
	}
	expect(m, seq, mix->inline_mode != 0);
	return m;
}

/* Random packets, burst sizes and completions, rings of several sizes: each packet is sent once, unchanged. */
static void
traffic(const struct mix *mix, uint8_t log_wqebbs, uint16_t nb_desc, uint8_t max_ds)
{
	struct rte_mbuf *pkts[64];
	struct rig_tx *t;
	uint32_t seq = 0, round, stuck = 0;
	uint16_t n = 0, took;

	inline_mpw = mix->inline_mpw;
	inline_send = mix->inline_send;
	t = queue_new(log_wqebbs, nb_desc, 8, max_ds, mix->inline_mode);
	fifo_in = 0;
	fifo_out = 0;
	fifo_bytes = 0;
	for (round = 0; round < 1500 && stuck < 100; round++) {
		while (n < 64 && rig_random() % 50)
			pkts[n++] = random_packet(mix, seq++);
		took = rig_tx_burst(t, mix->features, pkts, n);
		CHECK(took <= n, "took %u of %u", took, n);
		stuck = took == 0 && n != 0 ? stuck + 1 : 0;
		n -= took;
		memmove(pkts, pkts + took, n * sizeof(pkts[0]));
		if (rig_random() % 3)
			(void)rig_tx_run(t, true, sent, NULL);
	}
	CHECK(stuck < 100, "the queue does not move any more");
	rte_pktmbuf_free_bulk(pkts, n);
	(void)rig_tx_run(t, true, sent, NULL);
	CHECK(fifo_out == fifo_in - n && fifo_out > 3u << log_wqebbs, "%u sent of %u", fifo_out, fifo_in - n);
	CHECK(t->txq.q.stats.packets == fifo_out && t->txq.q.stats.dropped == 0, "packets %" PRIu64,
	      t->txq.q.stats.packets);
	CHECK_EQ(t->txq.q.stats.bytes, fifo_bytes);
	rig_tx_free(t);
	home("traffic");
}

/* A packet of each number of segments at each position in the ring, wrapping included. */
static void
every_offset(uint8_t inline_mode)
{
	unsigned int f = inline_mode ? MLXPMD_TX_F_INLINE : inline_send ? MLXPMD_TX_F_COPY :
			 MLXPMD_TX_F_MULTI | MLXPMD_TX_F_OFFLOAD;
	struct rte_mbuf *m;
	struct rig_tx *t;
	unsigned int at, segs;

	for (at = 0; at < 16; at++) {
		for (segs = 1; segs <= 24; segs++) {
			t = queue_new(4, 64, 6, 63, inline_mode);
			fifo_in = 0;
			fifo_out = 0;
			/* Fill up to the position and complete; then send the packet. */
			while (t->txq.q.pi != 16 + at) {
				m = rig_tx_mbuf(pool, fifo_in, 14, 1);
				expect(m, fifo_in, inline_mode != 0);
				CHECK(rig_tx_burst(t, f, &m, 1) == 1, "no room at %u", t->txq.q.pi);
				(void)rig_tx_run(t, true, sent, NULL);
				if ((uint16_t)(t->txq.q.pi - 16 - at) < 0x8000 && t->txq.q.pi != 16 + at)
					break;
			}
			(void)mlxpmd_tx_done_cleanup(&t->txq, 0);
			m = rig_tx_mbuf(pool, fifo_in, 100 * segs, segs);
			m->ol_flags = RTE_MBUF_F_TX_VLAN;
			m->vlan_tci = 0x1234;
			expect(m, fifo_in, inline_mode != 0);
			CHECK(rig_tx_burst(t, f, &m, 1) == 1, "%u segments at %u", segs, at);
			(void)rig_tx_run(t, true, sent, NULL);
			CHECK(fifo_in == fifo_out, "%u segments at %u: %u of %u sent", segs, at, fifo_out,
			      fifo_in);
			rig_tx_free(t);
		}
	}
	home("every_offset");
}

/* A packet of segments of equal length. */
static struct rte_mbuf *
even_packet(uint32_t seq, unsigned int segs, uint32_t bytes)
{
	struct rte_mbuf *m = rig_tx_mbuf(pool, seq, segs * bytes, segs), *s;
	uint32_t at = 0, i;

	for (s = m; s != NULL; s = s->next, at += bytes) {
		s->data_len = bytes;
		for (i = 0; i < bytes; i++)
			rte_pktmbuf_mtod(s, uint8_t *)[i] = rig_data(seq)[at + i];
	}
	return m;
}

/* The header that each inline mode requires, and no more, is inline. */
static void
header_lengths(void)
{
	static const uint8_t bytes[] = { 0, 18, 18 + 40, 18 + 40 + 20 };
	struct rte_mbuf *m;
	struct rig_tx *t;
	uint8_t mode;

	for (mode = 0; mode < RTE_DIM(bytes); mode++) {
		t = rig_tx_new(6, 64, 6, 63, mode);
		m = rig_tx_mbuf(pool, 1, 200, 1);
		CHECK(rig_tx_burst(t, mode != 0 ? MLXPMD_TX_F_INLINE : 0, &m, 1) == 1, "not taken");
		CHECK(t->sq[28] == 0 && t->sq[29] == bytes[mode], "mode %u: %u", mode, t->sq[29]);
		rig_tx_free(t);
	}
	home("header_lengths");
}

/*
 * The longest packets: limited by what the device accepts, by the 6 bits of a WQE's length, and by the ring, which
 * takes a WQE of its own length when it is empty.
 */
static void
longest(void)
{
	static const struct {
		uint8_t log_wqebbs, max_ds, mode, segs;
	} rows[] = {
		{ 6, 20, 0, 18 }, { 6, 63, 0, 61 }, { 6, 64, 0, 61 }, { 6, 255, 0, 61 }, { 6, 63, 3, 56 },
		{ 6, 63, 1, 60 }, { 2, 63, 0, 14 },
	};
	struct rte_mbuf *m;
	struct rig_tx *t;
	unsigned int i, f;

	for (i = 0; i < RTE_DIM(rows); i++) {
		f = rows[i].mode != 0 ? MLXPMD_TX_F_INLINE : MLXPMD_TX_F_MULTI;
		t = rig_tx_new(rows[i].log_wqebbs, 16, 6, rows[i].max_ds, rows[i].mode);
		fifo_in = 0;
		fifo_out = 0;
		m = even_packet(1, rows[i].segs + 1, 100);
		CHECK(rig_tx_burst(t, f, &m, 1) == 1 && t->txq.q.stats.dropped == 1, "row %u: one more", i);
		m = even_packet(2, rows[i].segs, 100);
		expect(m, 2, rows[i].mode != 0);
		CHECK(rig_tx_burst(t, f, &m, 1) == 1 && t->txq.q.stats.dropped == 1, "row %u", i);
		CHECK(rig_tx_run(t, true, sent, NULL) == 1 && fifo_out == 1, "row %u: not sent", i);
		m = even_packet(3, rows[i].segs, 100);
		expect(m, 3, rows[i].mode != 0);
		CHECK((rig_tx_burst(t, f, &m, 1) == 1 || rig_tx_burst(t, f, &m, 1) == 1) && t->txq.q.stats.dropped == 1,
		      "row %u: no room", i);
		rig_tx_free(t);
	}
	home("longest");
}

/* Packets that cannot be sent are freed and counted; the others are sent. */
static void
refused(unsigned int f)
{
	struct rte_mempool *alien = rig_pool("alien", 64, 0, 256 + RTE_PKTMBUF_HEADROOM);
	struct rig_tx *t = queue_new(6, 256, 8, 20, f & MLXPMD_TX_F_INLINE ? 1 : 0);
	struct rte_mbuf *pkts[12];
	unsigned int i;

	CHECK(t != NULL, "no queue");
	rig_ranges_clear();
	(void)mdv_mr_mempool(&rig_mdv, pool);
	fifo_in = 0;
	fifo_out = 0;
	for (i = 0; i < 12; i++) {
		bool bad = i == 0 || i == 5 || i == 6 || i == 11;

		pkts[i] = i == 5 ? rig_tx_mbuf(alien, i, 60, 1) : rig_tx_mbuf(pool, i, 60, 1);
		if (i == 0)
			pkts[i]->data_len = pkts[i]->pkt_len = 0;
		if (i == 6 || i == 11) {
			rte_pktmbuf_free(pkts[i]);
			pkts[i] = i == 6 && (f & (MLXPMD_TX_F_MULTI | MLXPMD_TX_F_INLINE)) ?
				  rig_tx_mbuf(pool, i, 3000, 40) : rig_tx_mbuf(alien, i, 60, 1);
		}
		if (!bad)
			expect(pkts[i], i, false);
	}
	/* Empty segments need no data segment: forty exceed the WQE only if none is empty. */
	if (pkts[6]->nb_segs == 40) {
		struct rte_mbuf *s = pkts[6];

		for (i = 0; s != NULL; s = s->next, i++)
			s->data_len = 75;
	}
	CHECK(rig_tx_burst(t, f, pkts, 1) == 1, "the empty one blocks");
	rig_mempool_fails = true;
	CHECK(rig_tx_burst(t, f, pkts + 1, 4) == 4, "known memory needs no registration");
	CHECK(rig_tx_burst(t, f, pkts + 5, 7) == 7, "not taken");
	rig_mempool_fails = false;
	(void)rig_tx_run(t, true, sent, NULL);
	CHECK(fifo_out == 8 && fifo_in == 8, "%u of %u sent", fifo_out, fifo_in);
	CHECK(t->txq.q.stats.dropped == 4 && t->txq.q.stats.packets == 8, "%" PRIu64 " dropped, %" PRIu64 " packets",
	      t->txq.q.stats.dropped, t->txq.q.stats.packets);
	rig_tx_free(t);
	CHECK(rte_mempool_avail_count(alien) == 64, "alien mbufs are lost");
	rte_mempool_free(alien);
	home("refused");
}

/*
 * Packets that cannot be in the WQE of their neighbours, or not sent in a group with them, at each place of a burst.
 * alternate: the offloads of all other packets do.
 */
static void
odd_ones(unsigned int f, bool alternate)
{
	enum odd { EMPTY, ALIEN, SEGMENTS, FLAGS, VLAN, NB_ODD };
	const bool copies_all = (f & MLXPMD_TX_F_COPY) && !(f & MLXPMD_TX_F_FAST_FREE);
	const unsigned int has = f | (copies_all ? ALL_FLAGS : 0);
	struct rte_mempool *alien = rig_pool("alien", 64, 0, 256 + RTE_PKTMBUF_HEADROOM);
	struct rte_mbuf *pkts[40];
	unsigned int kind, at, i, n, lost;
	struct rig_tx *t;

	for (kind = EMPTY; kind < NB_ODD; kind++) {
		/* With fast free all mbufs are of one mempool. */
		if ((kind == ALIEN && (f & MLXPMD_TX_F_FAST_FREE)) ||
		    (kind == SEGMENTS && !(has & MLXPMD_TX_F_MULTI)) ||
		    ((kind == FLAGS || kind == VLAN) && !(has & MLXPMD_TX_F_OFFLOAD)))
			continue;
		for (at = 0; at < 40; at++) {
			n = 20 + at % 21;
			t = queue_new(inline_mpw != 0 ? 8 : 6, 256, 8, 63, 0);
			fifo_in = 0;
			fifo_out = 0;
			fifo_bytes = 0;
			for (i = 0; i < n; i++) {
				bool odd = i == at || i == at + 3;

				pkts[i] = rig_tx_mbuf(odd && kind == ALIEN ? alien : pool, i, 60 + i,
						      odd && kind == SEGMENTS ? 3 : 1);
				if (alternate)
					pkts[i]->ol_flags = (uint64_t)(i * 3 % 8) << 52; /* All requests. */
				if (odd && kind == EMPTY)
					pkts[i]->data_len = pkts[i]->pkt_len = 0;
				if (odd && kind == FLAGS)
					pkts[i]->ol_flags = RTE_MBUF_F_TX_IP_CKSUM;
				if (odd && kind == VLAN)
					pkts[i]->ol_flags = RTE_MBUF_F_TX_VLAN;
				pkts[i]->vlan_tci = i;
				if (!odd || kind != EMPTY)
					expect(pkts[i], i, false);
			}
			lost = kind == EMPTY ? (at < n) + (at + 3 < n) : 0;
			CHECK(rig_tx_burst(t, f, pkts, n) == n, "kind %u at %u", kind, at);
			(void)rig_tx_run(t, true, sent, NULL);
			CHECK(fifo_out == n - lost && t->txq.q.stats.packets == n - lost &&
			      t->txq.q.stats.dropped == lost, "kind %u at %u: %u of %u sent", kind,
			      at, fifo_out, n - lost);
			CHECK_EQ(t->txq.q.stats.bytes, fifo_bytes);
			rig_tx_free(t);
			home("odd_ones");
		}
	}
	CHECK(rte_mempool_avail_count(alien) == 64, "alien mbufs are lost");
	rte_mempool_free(alien);
	rig_ranges_clear();
}

/* Clones, attached external buffers, and memory that is registered and unregistered. */
static void
memory(void)
{
	static uint8_t outside[4096];
	struct rte_mbuf_ext_shared_info shinfo = { .free_cb = NULL };
	struct rig_tx *t = queue_new(6, 64, 6, 63, 0);
	struct rte_mbuf *m, *clone;
	unsigned int i, calls;

	fifo_in = 0;
	fifo_out = 0;
	m = rig_tx_mbuf(pool, 0, 100, 1);
	clone = rte_pktmbuf_clone(m, pool);
	expect(m, 0, false);
	expect(clone, 0, false);
	CHECK(rig_tx_burst(t, ALL_FLAGS, &clone, 1) == 1 && rig_tx_burst(t, ALL_FLAGS, &m, 1) == 1, "clone");
	(void)rig_tx_run(t, true, sent, NULL);
	rig_tx_free(t);
	home("clone");
	/* An unregistered external buffer: the packet is dropped, and the mbuf's own mempool is not registered. */
	t = queue_new(6, 64, 6, 63, 0);
	for (i = 0; i < 100; i++)
		outside[i] = rig_data(7)[i];
	rte_mbuf_ext_refcnt_set(&shinfo, 1);
	shinfo.free_cb = (void *)&home;
	for (i = 0; i < 2; i++) {
		m = rte_pktmbuf_alloc(pool);
		rte_mbuf_ext_refcnt_set(&shinfo, 2); /* The test keeps a reference: the callback is not called. */
		rte_pktmbuf_attach_extbuf(m, outside, 0, sizeof(outside), &shinfo);
		m->data_len = m->pkt_len = 100;
		if (i == 1) {
			rig_range_add(outside, sizeof(outside), 0x4242);
			expect(m, 7, false);
		}
		calls = rig_mempool_calls;
		CHECK(rig_tx_burst(t, ALL_FLAGS, &m, 1) == 1, "attached");
		CHECK(t->txq.q.stats.dropped == 1, "dropped %" PRIu64, t->txq.q.stats.dropped);
		CHECK(rig_mempool_calls == calls, "the wrong memory was registered");
		(void)rig_tx_run(t, true, sent, NULL);
	}
	/* The range is unregistered: the cached lkey must not be used any more. */
	m = rte_pktmbuf_alloc(pool);
	rte_mbuf_ext_refcnt_set(&shinfo, 3); /* Another packet is in flight. */
	rte_pktmbuf_attach_extbuf(m, outside, 0, sizeof(outside), &shinfo);
	m->data_len = m->pkt_len = 100;
	rig_nb_ranges--;
	rig_generation++;
	CHECK(rig_tx_burst(t, ALL_FLAGS, &m, 1) == 1 && t->txq.q.stats.dropped == 2, "a key that is void");
	CHECK(fifo_out == 3, "%u sent", fifo_out);
	rig_tx_free(t);
	home("attached");
}

static const struct mix mixes[] = {
	{ 0, 1, false, 0 }, { MLXPMD_TX_F_MPW, 1, false, 0 }, { MLXPMD_TX_F_OFFLOAD, 1, true, 0 },
	{ MLXPMD_TX_F_MPW | MLXPMD_TX_F_OFFLOAD, 1, true, 0 }, { MLXPMD_TX_F_MULTI, 6, false, 0 },
	{ MLXPMD_TX_F_MPW | MLXPMD_TX_F_MULTI, 3, false, 0 },
	{ MLXPMD_TX_F_MULTI | MLXPMD_TX_F_OFFLOAD, 9, true, 0 }, { ALL_FLAGS, 9, true, 0 },
	{ MLXPMD_TX_F_FAST_FREE, 1, false, 0 }, { MLXPMD_TX_F_MPW | MLXPMD_TX_F_FAST_FREE, 1, false, 0 },
	{ MLXPMD_TX_F_OFFLOAD | MLXPMD_TX_F_FAST_FREE, 1, true, 0 },
	{ MLXPMD_TX_F_MPW | MLXPMD_TX_F_OFFLOAD | MLXPMD_TX_F_FAST_FREE, 1, true, 0 },
	{ MLXPMD_TX_F_INLINE, 9, true, 1 }, { MLXPMD_TX_F_INLINE, 9, true, 2 },
	{ MLXPMD_TX_F_INLINE, 9, true, 3 },
	{ MLXPMD_TX_F_META, 9, true, 0 }, { MLXPMD_TX_F_MPW | MLXPMD_TX_F_META, 9, true, 0 },
	{ MLXPMD_TX_F_MPW | MLXPMD_TX_F_META, 1, false, 0 }, { MLXPMD_TX_F_INLINE | MLXPMD_TX_F_META, 9, true, 1 },
}, inline_mixes[] = {
	{ MPW_COPY, 9, true, 0, 100, 60 }, { MPW_COPY, 9, true, 0, 200, 0 }, { MPW_COPY, 3, true, 0, 0, 200 },
	{ MPW_COPY | MLXPMD_TX_F_FAST_FREE, 1, false, 0, 64, 64 },
	{ MPW_COPY | MLXPMD_TX_F_FAST_FREE, 1, false, 0, 200, 0 },
	{ MPW_COPY | MLXPMD_TX_F_FAST_FREE | MLXPMD_TX_F_OFFLOAD, 1, true, 0, 90, 150 },
	{ MLXPMD_TX_F_COPY, 9, true, 0, 0, 200 }, { MPW_COPY | MLXPMD_TX_F_META, 9, true, 0, 100, 60 },
	{ MLXPMD_TX_F_COPY | MLXPMD_TX_F_META, 9, true, 0, 0, 200 },
	{ MLXPMD_TX_F_INLINE, 9, true, 1, 0, 200 }, { MLXPMD_TX_F_INLINE, 9, true, 3, 0, 60 },
};

static const struct ring {
	uint8_t log_wqebbs;
	uint16_t nb_desc;
	uint8_t max_ds;
} rings[] = { { 6, 64, 63 }, { 4, 128, 32 }, { 8, 64, 18 }, { 5, 512, 63 } },
  inline_rings[] = { { 6, 64, 63 }, { 5, 8, 32 }, { 8, 64, 18 } };

static const struct odd_case {
	unsigned int f;
	bool alternate;
} odd_cases[] = {
	{ MLXPMD_TX_F_MPW, false }, { ALL_FLAGS, false }, { ALL_FLAGS, true },
	{ MLXPMD_TX_F_MPW | MLXPMD_TX_F_OFFLOAD, false }, { MLXPMD_TX_F_MPW | MLXPMD_TX_F_OFFLOAD, true },
}, inline_odd_cases[] = {
	{ MPW_COPY | MLXPMD_TX_F_FAST_FREE | MLXPMD_TX_F_OFFLOAD, false }, { MPW_COPY, false }, { MPW_COPY, true },
	{ MLXPMD_TX_F_COPY, false },
};

static void
traffic_all(const struct mix *mix, unsigned int nb_mixes, const struct ring *ring, unsigned int nb_rings)
{
	unsigned int i, k;

	for (i = 0; i < nb_mixes; i++)
		for (k = 0; k < nb_rings; k++)
			traffic(&mix[i], ring[k].log_wqebbs, ring[k].nb_desc, ring[k].max_ds);
	inline_mpw = 0;
	inline_send = 0;
}

static void
refused_all(const unsigned int *f, unsigned int n)
{
	while (n-- != 0)
		refused(*f++);
}

/* A packet of each kind at each place; inline_mpw, inline_send: limits of inline data. */
static void
places_all(uint16_t mpw, uint16_t send, const struct odd_case *c, unsigned int n)
{
	inline_mpw = mpw;
	inline_send = send;
	every_offset(0);
	every_offset(1);
	every_offset(3);
	for (; n-- != 0; c++)
		odd_ones(c->f, c->alternate);
	inline_mpw = 0;
	inline_send = 0;
}

int
main(void)
{
	static const unsigned int refusals[] = { 0, MLXPMD_TX_F_MPW, ALL_FLAGS, MLXPMD_TX_F_INLINE };
	/* No packet is short enough to be copied. */
	static const unsigned int inline_refusals[] = { MPW_COPY, MLXPMD_TX_F_COPY };

	rig_init();
	CHECK(rte_flow_dynf_metadata_register() == 0, "no field for metadata");
	pool = rig_pool("tx", POOL, 64, 3200 + RTE_PKTMBUF_HEADROOM);
	RIG_EACH {
		send_bytes();
		mpw_bytes();
		header_lengths();
		longest();
		traffic_all(mixes, RTE_DIM(mixes), rings, RTE_DIM(rings));
		refused_all(refusals, RTE_DIM(refusals));
		places_all(0, 0, odd_cases, RTE_DIM(odd_cases));
		memory();
		traffic_all(inline_mixes, RTE_DIM(inline_mixes), inline_rings, RTE_DIM(inline_rings));
		refused_all(inline_refusals, RTE_DIM(inline_refusals));
		places_all(70, 600, inline_odd_cases, RTE_DIM(inline_odd_cases));
	}
	return rig_end("tx_wqe");
}
