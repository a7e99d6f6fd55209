/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* WQEs of packets that the device segments: all its headers inline, mss, and what is refused. */

#include <rte_errno.h>

#include "rig.h"

#define POOL 1023
#define MPW_TSO (MLXPMD_TX_F_MPW | MLXPMD_TX_F_TSO)
#define INLINE_TSO (MLXPMD_TX_F_INLINE | MLXPMD_TX_F_TSO)
#define HEADER (14 + 20 + 20)
#define PAYLOAD_MAX 20000
static struct rte_mempool *pool;

static void
home(const char *what)
{
	unsigned int n = rte_mempool_avail_count(pool);

	CHECK(n == POOL, "%s: %u of %u mbufs came home", what, n, POOL);
}

/* A packet to be segmented. Lengths of headers besides 14, 20 and 20 are added to that of TCP, then of IP. */
static struct rte_mbuf *
tso_mbuf(uint32_t seq, uint32_t header, uint32_t payload, uint16_t segsz, unsigned int segs)
{
	struct rte_mbuf *m = rig_tx_mbuf(pool, seq, header + payload, segs);

	m->ol_flags = RTE_MBUF_F_TX_TCP_SEG | RTE_MBUF_F_TX_IP_CKSUM | RTE_MBUF_F_TX_IPV4;
	m->l2_len = 14;
	m->l4_len = 20 + RTE_MIN(40u, header - HEADER);
	m->l3_len = header - 14 - m->l4_len;
	m->tso_segsz = segsz;
	return m;
}

/* Packets the device must get, in order. */
struct wanted {
	uint32_t seq, len, header;
	uint16_t mss, tci;
	uint8_t cs_flags;
	bool vlan, inlined;	/* inlined: the tag is in the data. */
};
static struct wanted fifo[4096];
static uint32_t fifo_in, fifo_out, in_mpw;
static uint64_t wire_packets, wire_bytes;

static void
expect(const struct rte_mbuf *m, uint32_t seq, bool inlines)
{
	bool tunnel = (m->ol_flags & RTE_MBUF_F_TX_TUNNEL_MASK) != 0;
	uint32_t header = (tunnel ? m->outer_l2_len + m->outer_l3_len : 0) + m->l2_len + m->l3_len + m->l4_len;
	uint8_t l3 = m->ol_flags & RTE_MBUF_F_TX_IP_CKSUM ? 0x40 : 0;
	uint8_t l4 = m->ol_flags & RTE_MBUF_F_TX_TCP_CKSUM ? 0x80 : 0;
	uint32_t frames = 1;
	bool tso = (m->ol_flags & RTE_MBUF_F_TX_TCP_SEG) != 0, split = tso && m->pkt_len > header;
	bool vlan = (m->ol_flags & RTE_MBUF_F_TX_VLAN) != 0;

	if (split)
		frames = (m->pkt_len - header + m->tso_segsz - 1) / m->tso_segsz;
	l4 |= tso ? 0x80 : 0;
	/* The inner ones are two bits lower. */
	if (tunnel)
		l3 = l3 >> 2 | l4 >> 2 | (m->ol_flags & RTE_MBUF_F_TX_OUTER_IP_CKSUM ? 0x40 : 0), l4 = 0;
	wire_packets += frames;
	wire_bytes += m->pkt_len + (frames - 1) * header;
	fifo[fifo_in++ % RTE_DIM(fifo)] = (struct wanted) {
		.seq = seq, .len = m->pkt_len + (vlan && (split || inlines) ? 4 : 0),
		.header = split ? header + (vlan ? 4 : 0) : 0, .mss = split ? m->tso_segsz : 0,
		.cs_flags = l3 | l4, .vlan = vlan, .inlined = vlan && (split || inlines), .tci = m->vlan_tci,
	};
}

static void
got(void *arg __rte_unused, const struct rig_tx_packet *p)
{
	const struct wanted *w = &fifo[fifo_out++ % RTE_DIM(fifo)];

	CHECK(fifo_in - fifo_out < RTE_DIM(fifo), "a packet that was not posted");
	CHECK(p->mss == w->mss && p->len == w->len && p->cs_flags == w->cs_flags, "mss %u not %u, %u bytes not %u, cs %#x",
	      p->mss, w->mss, p->len, w->len, p->cs_flags);
	CHECK(w->mss == 0 || (p->inline_bytes == w->header && !p->mpw), "%u bytes inline, not %u", p->inline_bytes,
	      w->header);
	CHECK(p->vlan_insert == (w->vlan && !w->inlined) && (!p->vlan_insert || p->vlan_tci == w->tci), "vlan");
	CHECK(rig_tx_match(p, w->seq, w->inlined ? &w->tci : NULL), "data of packet %u", w->seq);
	in_mpw += p->mpw;
}

static void
begin(void)
{
	fifo_in = 0;
	fifo_out = 0;
	in_mpw = 0;
	wire_packets = 0;
	wire_bytes = 0;
}

static void
settled(struct rig_tx *t, const char *what)
{
	(void)rig_tx_run(t, true, got, NULL);
	CHECK(fifo_in == fifo_out, "%s: %u of %u sent", what, fifo_out, fifo_in);
	CHECK(t->txq.q.stats.packets == wire_packets && t->txq.q.stats.bytes == wire_bytes,
	      "%s: %" PRIu64 " packets not %" PRIu64 ", %" PRIu64 " bytes not %" PRIu64, what, t->txq.q.stats.packets,
	      wire_packets, t->txq.q.stats.bytes, wire_bytes);
	rig_tx_free(t);
	home(what);
}

/* The WQE of a packet with a tag, compared with literal bytes. */
static void
tso_bytes(void)
{
	struct rig_tx *t = rig_tx_new(6, 64, 6, 63, 0);
	struct rte_mbuf *m = tso_mbuf(1, HEADER, 2500, 1000, 1);
	uintptr_t addr = rte_pktmbuf_mtod(m, uintptr_t) + HEADER;
	/* Control segment; Ethernet segment with the first of 58 bytes inline; three units and a half follow. */
	uint8_t want[112] = {
		0, 0, 0, 0x0e, 0xab, 0xcd, 0xef, 7, 0, 0, 0, 0, 0, 0, 0, 0,
		0, 0, 0, 0, 0xc0, 0, 0x03, 0xe8, 0, 0, 0, 0, 0, 58,
	};
	uint32_t lkey;
	unsigned int i;

	m->ol_flags |= RTE_MBUF_F_TX_VLAN;
	m->vlan_tci = 0x6f21;
	CHECK(rig_tx_burst(t, MLXPMD_TX_F_TSO, &m, 1) == 1, "not taken");
	lkey = rig_ranges[0].lkey;
	for (i = 0; i < 58; i++)
		want[30 + i] = i < 12 ? rig_data(1)[i] : rig_data(1)[i - 4];
	memcpy(want + 42, "\x81\x00\x6f\x21", 4);
	memcpy(want + 96, "\x00\x00\x09\xc4", 4);
	for (i = 0; i < 4; i++)
		want[100 + i] = lkey >> (24 - 8 * i);
	for (i = 0; i < 8; i++)
		want[104 + i] = (uint64_t)addr >> (56 - 8 * i);
	for (i = 0; i < 112; i++)
		CHECK(t->sq[i] == want[i] || (i >= 88 && i < 96), "byte %u: %#x not %#x", i, t->sq[i], want[i]);
	CHECK(memcmp((void *)&t->db_reg, want, 8) == 0, "doorbell register");
	CHECK(t->sq_dbrec == rte_cpu_to_be_32(2), "doorbell record %#x", t->sq_dbrec);
	CHECK(t->txq.q.stats.packets == 3 && t->txq.q.stats.bytes == 2500 + 3 * HEADER, "counters");
	rig_tx_free(t);
	home("tso_bytes");
}

/* Each position in a ring of 16 WQEBBs, several lengths of headers, the header in one or several segments. */
static void
every_offset(unsigned int f)
{
	static const uint32_t headers[] = { 54, 57, 58, 66, 74, 81, 94, 114, 191, 192 };
	uint8_t inlines = f & MLXPMD_TX_F_INLINE ? 1 : 0;
	unsigned int at, segs, i, seq = 0;
	struct rte_mbuf *m;
	struct rig_tx *t;

	for (at = 0; at < 16; at++) {
		t = rig_tx_new(4, 64, 6, 63, inlines);
		begin();
		for (segs = 1; segs <= 20; segs++) {
			for (i = 0; i < RTE_DIM(headers); i++) {
				while ((t->txq.q.pi & 15) != at) {
					m = rig_tx_mbuf(pool, seq, 14, 1);
					expect(m, seq++, inlines != 0);
					CHECK(rig_tx_burst(t, f, &m, 1) == 1, "no room at %u", t->txq.q.pi);
					(void)rig_tx_run(t, true, got, NULL);
					if (inlines && ((at - t->txq.q.pi) & 15) == 0)
						break;
				}
				(void)mlxpmd_tx_done_cleanup(&t->txq, 0);
				mlxpmd_txq_flush(&t->txq);
				(void)rig_tx_run(t, true, got, NULL);
				(void)mlxpmd_tx_done_cleanup(&t->txq, 0);
				m = tso_mbuf(seq, headers[i], 1 + rig_random() % 3000, 1 + rig_random() % 1460, segs);
				m->ol_flags |= segs & 1 ? RTE_MBUF_F_TX_VLAN : 0;
				m->vlan_tci = seq;
				expect(m, seq++, inlines != 0);
				CHECK(rig_tx_burst(t, f, &m, 1) == 1, "%u segments at %u", segs, at);
				(void)rig_tx_run(t, true, got, NULL);
			}
		}
		settled(t, "every_offset");
	}
}

/* Makes the first headers those of a tunnel: Ethernet and IP, then UDP, VXLAN and Ethernet in l2_len. */
static void
tunnel(struct rte_mbuf *m, uint64_t outer_cksum)
{
	m->ol_flags |= RTE_MBUF_F_TX_TUNNEL_VXLAN | outer_cksum;
	m->outer_l2_len = 14;
	m->outer_l3_len = 20;
	m->l2_len = 8 + 8 + 14;
}

static struct rte_mbuf *
random_packet(uint32_t seq)
{
	unsigned int kind = rig_random() % 8, segs = kind % 2 ? 1 : 1 + rig_random() % 9;
	struct rte_mbuf *m;

	if (kind < 3)
		m = tso_mbuf(seq, HEADER + rig_random() % 41, 1 + rig_random() % (kind ? 2000 : PAYLOAD_MAX),
			     1 + rig_random() % 4000, segs);
	else if (kind == 3)
		m = tso_mbuf(seq, HEADER, 0, 1460, 1); /* Nothing to segment: sent as it is. */
	else
		m = rig_tx_mbuf(pool, seq, 14 + rig_random() % 1500, kind == 4 ? segs : 1);
	if (m->pkt_len > 54 + 50 && seq / 64 % 2) {
		m->ol_flags |= seq % 3 ? RTE_MBUF_F_TX_IP_CKSUM | RTE_MBUF_F_TX_TCP_CKSUM : 0;
		/* With segmentation the lengths of the headers must be in the packet. */
		if (!(m->ol_flags & RTE_MBUF_F_TX_TCP_SEG) || m->l2_len + m->l3_len + m->l4_len + 50u < m->pkt_len)
			tunnel(m, seq / 16 % 2 ? RTE_MBUF_F_TX_OUTER_IP_CKSUM : 0);
	}
	if (rig_random() % 8 == 0) {
		m->ol_flags |= RTE_MBUF_F_TX_VLAN;
		m->vlan_tci = rig_random();
	}
	return m;
}

/* Runs of packets with the same lengths of headers and segments; a few have a tag, no payload, or several segments. */
static struct rte_mbuf *
packet_of_run(uint32_t seq)
{
	static uint32_t header, segsz;
	struct rte_mbuf *m;

	if (seq % 40 == 0) {
		header = HEADER + rig_random() % 41;
		segsz = seq % 80 ? 1 + rig_random() % 20 : 1 + rig_random() % 0x3fff;
	}
	m = tso_mbuf(seq, header, seq % 23 ? 1 + rig_random() % (seq % 7 ? 2000 : PAYLOAD_MAX) : 0, segsz,
		     seq % 5 ? 1 : 1 + rig_random() % 4);
	if (seq % 17 == 0) {
		m->ol_flags |= RTE_MBUF_F_TX_VLAN;
		m->vlan_tci = seq;
	}
	return m;
}

/* Packets and completions, rings that are full again and again: each packet is sent once, unchanged. */
static void
traffic_of(struct rte_mbuf *(*packet)(uint32_t seq), unsigned int f, uint8_t log_wqebbs, uint16_t nb_desc,
	   uint8_t max_ds)
{
	uint8_t inlines = f & MLXPMD_TX_F_INLINE ? 1 : 0;
	struct rig_tx *t = rig_tx_new(log_wqebbs, nb_desc, 8, max_ds, inlines);
	struct rte_mbuf *pkts[32];
	uint32_t seq = 0, round, stuck = 0;
	uint16_t n = 0, took, i;

	t->txq.inline_mpw = f & MLXPMD_TX_F_COPY ? 200 : 0;
	begin();
	for (round = 0; round < 600 && stuck < 100; round++) {
		while (n < 32 && rig_random() % 50)
			pkts[n++] = packet(seq++);
		took = rig_tx_burst(t, f, pkts, n);
		stuck = took == 0 && n != 0 ? stuck + 1 : 0;
		/* What was not taken has not been changed, and is expected later. */
		for (i = 0; i < took; i++)
			expect(pkts[i], seq - n + i, inlines != 0);
		n -= took;
		memmove(pkts, pkts + took, n * sizeof(pkts[0]));
		if (rig_random() % 3)
			(void)rig_tx_run(t, true, got, NULL);
	}
	CHECK(stuck < 100 && t->txq.q.stats.dropped == 0, "%u rounds stuck, %" PRIu64 " dropped", stuck,
	      t->txq.q.stats.dropped);
	CHECK(!(f & MLXPMD_TX_F_MPW) || in_mpw > seq / 16, "%u of %u packets in multi-packet WQEs", in_mpw, seq);
	rte_pktmbuf_free_bulk(pkts, n);
	settled(t, "traffic");
}

static void
traffic(unsigned int f, uint8_t log_wqebbs, uint16_t nb_desc, uint8_t max_ds)
{
	traffic_of(random_packet, f, log_wqebbs, nb_desc, max_ds);
}

/*
 * Payload beyond the device's limit, a kind of tunnel that the queue does not have, a queue without the offload;
 * headers of a tunnel that are too short, or beyond the packet. Returns the number of packets dropped.
 */
static unsigned int
refused_limits(struct rig_tx *t, unsigned int f, unsigned int dropped)
{
	struct rte_mbuf *m;
	unsigned int i;

	t->txq.max_lso = 1000;
	for (i = 0; i < 3; i++) {
		m = tso_mbuf(1, HEADER, 1001, 100, 1);
		if (i == 1) {
			tunnel(m, 0);
			m->ol_flags ^= RTE_MBUF_F_TX_TUNNEL_VXLAN ^ RTE_MBUF_F_TX_TUNNEL_GRE;
		}
		CHECK(mlxpmd_tx_prepare(&t->txq, &m, 1) == 0 && rte_errno == ENOTSUP, "limit %u", i);
		CHECK(rig_tx_burst(t, f, &m, 1) == 1 && t->txq.q.stats.dropped == ++dropped, "not dropped");
		t->txq.max_lso = 1 << 18;
		t->txq.q.offloads = i == 0 ? t->txq.q.offloads : 0;
	}
	t->txq.q.offloads = RTE_ETH_TX_OFFLOAD_VXLAN_TNL_TSO;
	for (i = 0; i < 3; i++) {
		m = tso_mbuf(1, HEADER, i == 2 ? 49 : 1001, 100, 1);
		tunnel(m, 0);
		m->outer_l2_len -= i == 0;
		m->outer_l3_len -= i == 1;
		CHECK(mlxpmd_tx_prepare(&t->txq, &m, 1) == 0 && rte_errno == EINVAL, "tunnel %u", i);
		CHECK(rig_tx_burst(t, f, &m, 1) == 1 && t->txq.q.stats.dropped == ++dropped, "not dropped");
	}
	return dropped;
}

/* What rte_eth_tx_prepare() refuses, and the burst drops, unless the packet is right but for its flags. */
static void
refused(unsigned int f)
{
	static const struct {
		const char *what;
		uint32_t header, payload;
		uint16_t segsz, l2_len, l3_len, l4_len;
		int err;
		uint64_t add, remove; /* ol_flags. */
		bool sent;
	} rows[] = {
		{ "right", 54, 1000, 100, 14, 20, 20, 0, 0, 0, true },
		{ "segment size 0", 54, 1000, 0, 14, 20, 20, EINVAL, 0, 0, false },
		{ "segment size of 14 bits", 54, 20000, 0x3fff, 14, 20, 20, 0, 0, 0, true },
		{ "segment size of 15 bits", 54, 20000, 0x4000, 14, 20, 20, ENOTSUP, 0, 0, false },
		{ "no lengths", 54, 1000, 100, 0, 0, 0, EINVAL, 0, 0, false },
		{ "TCP too short", 54, 1000, 100, 14, 20, 19, EINVAL, 0, 0, false },
		{ "IP too short", 54, 1000, 100, 14, 19, 20, EINVAL, 0, 0, false },
		{ "Ethernet too short", 54, 1000, 100, 13, 20, 20, EINVAL, 0, 0, false },
		{ "headers longer than the packet", 54, 0, 100, 14, 20, 21, EINVAL, 0, 0, false },
		{ "no payload", 54, 0, 100, 14, 20, 20, 0, 0, 0, true },
		{ "longest headers", 192, 1000, 100, 14, 118, 60, 0, 0, 0, true },
		{ "headers too long", 193, 1000, 100, 14, 119, 60, ENOTSUP, 0, 0, false },
		{ "no IP checksum", 54, 1000, 100, 14, 20, 20, EINVAL, 0, RTE_MBUF_F_TX_IP_CKSUM, true },
		{ "no IP version", 54, 1000, 100, 14, 20, 20, EINVAL, 0, RTE_MBUF_F_TX_IPV4, true },
		{ "another tunnel", 54, 1000, 100, 14, 20, 20, ENOTSUP, RTE_MBUF_F_TX_TUNNEL_GENEVE,
		  RTE_MBUF_F_TX_TCP_SEG, true },
		{ "UDP segmentation", 54, 1000, 100, 14, 20, 20, ENOTSUP, RTE_MBUF_F_TX_UDP_SEG,
		  RTE_MBUF_F_TX_TCP_SEG, true },
	};
	struct rig_tx *t = rig_tx_new(6, 256, 8, 63, f & MLXPMD_TX_F_INLINE ? 1 : 0);
	unsigned int i, dropped = 0;
	struct rte_mbuf *m[3];
	int prepared;

	begin();
	for (i = 0; i < RTE_DIM(rows); i++) {
		m[0] = rig_tx_mbuf(pool, 1, 60, 1);
		m[1] = tso_mbuf(2, rows[i].header, rows[i].payload, rows[i].segsz, 1 + i % 4);
		m[1]->l2_len = rows[i].l2_len;
		m[1]->l3_len = rows[i].l3_len;
		m[1]->l4_len = rows[i].l4_len;
		m[1]->ol_flags = (m[1]->ol_flags | rows[i].add) & ~rows[i].remove;
		m[2] = rig_tx_mbuf(pool, 3, 60, 1);
		rte_errno = 0;
		prepared = mlxpmd_tx_prepare(&t->txq, m, 3);
		CHECK(rows[i].err == 0 ? prepared == 3 : prepared == 1 && rte_errno == rows[i].err, "%s: %d prepared, %s",
		      rows[i].what, prepared, rte_strerror(rte_errno));
		if (rows[i].remove == 0) {
			expect(m[0], 1, (f & MLXPMD_TX_F_INLINE) != 0);
			if (rows[i].sent)
				expect(m[1], 2, (f & MLXPMD_TX_F_INLINE) != 0);
			expect(m[2], 3, (f & MLXPMD_TX_F_INLINE) != 0);
			CHECK(rig_tx_burst(t, f, m, 3) == 3, "%s: blocks", rows[i].what);
			(void)rig_tx_run(t, true, got, NULL);
			dropped += !rows[i].sent;
		} else {
			rte_pktmbuf_free_bulk(m, 3);
		}
		CHECK(t->txq.q.stats.dropped == dropped, "%s: %" PRIu64 " dropped", rows[i].what, t->txq.q.stats.dropped);
	}
	(void)refused_limits(t, f, dropped);
	t->txq.q.offloads = RTE_ETH_TX_OFFLOAD_TCP_TSO;
	/* More segments than the longest header leaves space for. */
	m[0] = rig_tx_mbuf(pool, 1, 6000, mlxpmd_tx_segs_max(&rig_mdv.caps) + 1);
	CHECK(mlxpmd_tx_prepare(&t->txq, m, 1) == 0 && rte_errno == EINVAL, "too many segments");
	rte_pktmbuf_free(m[0]);
	settled(t, "refused");
}

/* As many segments as the port reports, none of them empty, with the longest headers and a tag. */
static void
most_segments(unsigned int f)
{
	unsigned int most = mlxpmd_tx_segs_max(&rig_mdv.caps), i;
	struct rig_tx *t = rig_tx_new(6, 64, 6, 63, f & MLXPMD_TX_F_INLINE ? 1 : 0);
	struct rte_mbuf *head = NULL, *last = NULL, *m;
	uint32_t at = 0, k;

	begin();
	for (i = 0; i < most; i++, at += 250) {
		m = rte_pktmbuf_alloc(pool);
		for (k = 0; k < 250; k++)
			rte_pktmbuf_mtod(m, uint8_t *)[k] = rig_data(5)[at + k];
		m->data_len = 250;
		if (head == NULL)
			head = m;
		else
			last->next = m;
		last = m;
	}
	head->nb_segs = most;
	head->pkt_len = at;
	head->ol_flags = RTE_MBUF_F_TX_TCP_SEG | RTE_MBUF_F_TX_IP_CKSUM | RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_VLAN;
	head->l2_len = 14;
	head->l3_len = 118;
	head->l4_len = 60;
	head->tso_segsz = 999;
	expect(head, 5, true);
	CHECK(mlxpmd_tx_prepare(&t->txq, &head, 1) == 1, "%u segments: %s", most, rte_strerror(rte_errno));
	CHECK(rig_tx_burst(t, f, &head, 1) == 1 && t->txq.q.stats.dropped == 0, "%u segments", most);
	settled(t, "most_segments");
}

/* The WQE of a packet to be segmented fails: it and those after it are moved from the counters to errors. */
static void
fails(unsigned int f)
{
	struct rig_tx *t = rig_tx_new(6, 64, 6, 63, f & MLXPMD_TX_F_INLINE ? 1 : 0);
	struct rte_mbuf *m[4];
	uint16_t wqe;

	m[0] = tso_mbuf(1, HEADER, 5000, 1000, 3);
	m[1] = rig_tx_mbuf(pool, 2, 100, 2);
	m[2] = tso_mbuf(3, HEADER, 4001, 1000, 1);
	m[3] = rig_tx_mbuf(pool, 4, 60, 1);
	CHECK(rig_tx_burst(t, f, m, 2) == 2, "not taken");
	wqe = t->txq.q.pi;
	CHECK(rig_tx_burst(t, f, m + 2, 2) == 2, "not taken");
	CHECK(t->txq.q.stats.packets == 5 + 1 + 5 + 1, "%" PRIu64 " packets", t->txq.q.stats.packets);
	rig_tx_cqe(t, 13, 0x02, wqe);
	CHECK(rig_tx_burst(t, f, m, 0) == 0 && t->txq.q.state == MLXPMD_QS_QUIESCED, "state");
	CHECK(mlxpmd_txq_rewind(&t->txq, false) == 2 && t->txq.q.stats.errors == 2, "%" PRIu64 " lost",
	      t->txq.q.stats.errors);
	CHECK(t->txq.q.stats.packets == 6 && t->txq.q.stats.bytes == 5000 + 5 * HEADER + 100,
	      "%" PRIu64 " packets, %" PRIu64 " bytes left", t->txq.q.stats.packets, t->txq.q.stats.bytes);
	rig_tx_free(t);
	home("fails");
}

int
main(void)
{
	static const unsigned int features[] = {
		MPW_TSO, MLXPMD_TX_F_TSO, INLINE_TSO, MLXPMD_TX_F_MPW | MLXPMD_TX_F_TIMED, MLXPMD_TX_F_TIMED,
		MLXPMD_TX_F_INLINE | MLXPMD_TX_F_TIMED,
	};
	unsigned int i;

	rig_init();
	pool = rig_pool("tso", POOL, 64, PAYLOAD_MAX + 200 + RTE_PKTMBUF_HEADROOM);
	RIG_EACH {
		tso_bytes();
		for (i = 0; i < RTE_DIM(features); i++) {
			every_offset(features[i]);
			traffic(features[i], 6, 64, 63);
			traffic(features[i], 4, 128, 63);
			traffic(features[i], 8, 64, 30);
			refused(features[i]);
			most_segments(features[i]);
			fails(features[i]);
		}
		traffic_of(packet_of_run, MLXPMD_TX_F_TSO, 5, 64, 63);
		traffic_of(packet_of_run, MLXPMD_TX_F_TSO, 9, 64, 30);
		traffic_of(packet_of_run, INLINE_TSO, 7, 32, 63);
		/* Short packets are copied, in tunnels too. */
		traffic(MLXPMD_TX_F_MPW | MLXPMD_TX_F_COPY, 6, 64, 63);
		traffic(MLXPMD_TX_F_MPW | MLXPMD_TX_F_COPY, 8, 64, 30);
	}
	return rig_end("tx_tso");
}
