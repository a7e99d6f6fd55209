/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* All mbuf fields that are set from a CQE. */

#include "rig.h"

#define RX_ALL (RTE_ETH_RX_OFFLOAD_CHECKSUM | RTE_ETH_RX_OFFLOAD_RSS_HASH)

static struct rte_mempool *pool;

/* Receives one packet and returns its mbuf. */
static struct rte_mbuf *
one(struct rig_rx *r, unsigned int f, const struct rig_rx_cqe *c)
{
	static uint32_t seq;
	struct rte_mbuf *m = NULL;

	seq++;
	CHECK(rig_rx_packet(r, seq, 60 + seq % 100, c), "no WQE");
	CHECK(rig_rx_burst(r, f, &m, 1) == 1, "nothing received");
	CHECK(m != NULL && rig_rx_match(r, m, seq, 60 + seq % 100), "another packet");
	return m;
}

/* Expected type and flags, written independently of the driver: l3 2 bits, l4 3 bits, frag, tunnel 2 bits. */
static uint32_t
want_ptype(unsigned int l3, unsigned int l4, bool frag, unsigned int tunnel)
{
	static const uint32_t outer_l3[] = { 0, RTE_PTYPE_L3_IPV6_EXT_UNKNOWN,
					     RTE_PTYPE_L3_IPV4_EXT_UNKNOWN, 0 };
	static const uint32_t inner_l3[] = { 0, RTE_PTYPE_INNER_L3_IPV6_EXT_UNKNOWN,
					     RTE_PTYPE_INNER_L3_IPV4_EXT_UNKNOWN, 0 };
	static const uint32_t outer_l4[8] = { RTE_PTYPE_L4_NONFRAG, RTE_PTYPE_L4_TCP, RTE_PTYPE_L4_UDP,
					      RTE_PTYPE_L4_TCP, RTE_PTYPE_L4_TCP };
	static const uint32_t inner_l4[8] = { RTE_PTYPE_INNER_L4_NONFRAG, RTE_PTYPE_INNER_L4_TCP,
					      RTE_PTYPE_INNER_L4_UDP, RTE_PTYPE_INNER_L4_TCP,
					      RTE_PTYPE_INNER_L4_TCP };
	bool ip = l3 == 1 || l3 == 2;
	uint32_t t = RTE_PTYPE_L2_ETHER;

	if (!(tunnel & 1))
		return t | outer_l3[l3] | (!ip ? 0 : frag ? RTE_PTYPE_L4_FRAG : outer_l4[l4]);
	t |= outer_l3[(tunnel & 2) ? 1 : 2];
	return t | inner_l3[l3] | (!ip ? 0 : frag ? RTE_PTYPE_INNER_L4_FRAG : inner_l4[l4]);
}

static uint64_t
want_csum(unsigned int l3, unsigned int l4, bool frag, unsigned int tunnel, bool l3_ok, bool l4_ok)
{
	uint64_t flags = 0;

	if (l3_ok)
		flags |= RTE_MBUF_F_RX_IP_CKSUM_GOOD;
	if (!l3_ok && l3 == 2 && !(tunnel & 1))
		flags |= RTE_MBUF_F_RX_IP_CKSUM_BAD;
	if (l4_ok)
		flags |= RTE_MBUF_F_RX_L4_CKSUM_GOOD;
	if (!l4_ok && l3_ok && (l4 == 1 || l4 == 3 || l4 == 4) && !frag && !(tunnel & 1))
		flags |= RTE_MBUF_F_RX_L4_CKSUM_BAD;
	return flags;
}

/* A completion by the bits of a number: every value of the header bits, also those that no device writes. */
struct bits {
	unsigned int l3, l4, frag, tunnel;
	bool l2_ok, l3_ok, l4_ok, vlan, others;
};

static struct bits
bits_of(unsigned int i)
{
	return (struct bits){
		.l3 = i & 3, .l4 = i >> 2 & 7, .frag = i >> 5 & 1, .tunnel = i >> 6 & 3, .l2_ok = i >> 8 & 1,
		.l3_ok = i >> 9 & 1, .l4_ok = i >> 10 & 1, .vlan = i >> 11 & 1, .others = i >> 12 & 1,
	};
}

static struct rig_rx_cqe
bits_cqe(unsigned int i)
{
	struct bits b = bits_of(i);

	return (struct rig_rx_cqe){
		.pkt_info = b.tunnel | (b.others ? 0xfc : 0),
		.hds = b.l2_ok | b.l3_ok << 1 | b.l4_ok << 2 | (b.others ? 0xf8 : 0),
		.etc = b.frag << 7 | b.l4 << 4 | b.l3 << 2 | b.vlan,
		.vlan = 0xa123,
	};
}

/* Type, flags and tag; more: flags that are not due to the header. */
static void
bits_check(unsigned int i, const struct rte_mbuf *m, uint64_t more)
{
	struct bits b = bits_of(i);
	uint64_t flags = want_csum(b.l3, b.l4, b.frag, b.tunnel, b.l3_ok, b.l4_ok) | more;

	if (b.vlan)
		flags |= RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED;
	CHECK(m->packet_type == want_ptype(b.l3, b.l4, b.frag, b.tunnel), "%#x: ptype %#x", i, m->packet_type);
	CHECK(m->ol_flags == flags, "%#x: ol_flags %#" PRIx64 " not %#" PRIx64, i, m->ol_flags, flags);
	CHECK(!b.vlan || m->vlan_tci == 0xa123, "tci %#x", m->vlan_tci);
}

/* One at a time. */
static void
headers(void)
{
	struct rig_rx *r = rig_rx_new(6, 0, 6, pool, RX_ALL, NULL);
	unsigned int i, l3_bad = 0, l4_bad = 0;
	struct rig_rx_cqe c;
	struct rte_mbuf *m;
	uint64_t flags;
	struct bits b;

	/* No opcode and the owner bit: not written by the device (Linux, mlx5e_alloc_cq_common()). */
	for (i = 0; i <= r->rxq.q.cqe_mask; i++)
		CHECK_EQ(r->rxq.q.cqes[i].op_own, 0xf1);
	for (i = 0; i < 1u << 13; i++) {
		b = bits_of(i);
		flags = want_csum(b.l3, b.l4, b.frag, b.tunnel, b.l3_ok, b.l4_ok);
		l3_bad += (flags & RTE_MBUF_F_RX_IP_CKSUM_BAD) != 0;
		l4_bad += (flags & RTE_MBUF_F_RX_L4_CKSUM_BAD) != 0;
		c = bits_cqe(i);
		m = one(r, i & 1 ? 0 : MLXPMD_RX_F_SCATTER, &c);
		bits_check(i, m, 0);
		rte_pktmbuf_free(m);
	}
	CHECK(r->rxq.q.stats.l3_csum_bad == l3_bad && l3_bad != 0, "l3 %u", l3_bad);
	CHECK(r->rxq.q.stats.l4_csum_bad == l4_bad && l4_bad != 0, "l4 %u", l4_bad);
	CHECK(r->rxq.q.stats.packets == 1u << 13, "packets %" PRIu64, r->rxq.q.stats.packets);
	rig_rx_free(r);
}

/* By eight, as vectors of all sizes receive them; half of the packets have a hash. */
static void
groups(unsigned int f)
{
	struct rig_rx *r = rig_rx_new(6, 0, 6, pool, RX_ALL, NULL);
	struct rte_mbuf *m[8];
	struct rig_rx_cqe c;
	unsigned int i, k;

	for (i = 0; i < 1u << 13; i += 8) {
		for (k = 0; k < 8; k++) {
			c = bits_cqe(i + k);
			c.hash_type = (i / 8 + k) % 2 ? 0x44 : 0;
			c.hash = 0xdead0000 + i + k;
			CHECK(rig_rx_packet(r, i + k, 60 + k, &c), "no WQE");
		}
		CHECK(rig_rx_burst(r, f, m, 8) == 8, "not received");
		for (k = 0; k < 8; k++) {
			bool hashed = (f & MLXPMD_RX_F_HASH) && (i / 8 + k) % 2;

			bits_check(i + k, m[k], hashed ? RTE_MBUF_F_RX_RSS_HASH : 0);
			CHECK(!hashed || m[k]->hash.rss == 0xdead0000 + i + k, "%#x: hash %#x", i + k, m[k]->hash.rss);
			CHECK(rig_rx_match(r, m[k], i + k, 60 + k), "another packet");
		}
		rte_pktmbuf_free_bulk(m, 8);
	}
	rig_rx_free(r);
}

/* Flags of offloads that were not requested are not set. */
static void
masked(void)
{
	struct rig_rx_cqe good = { .hds = 7, .etc = 1 << 4 | 2 << 2 }, bad = { .hds = 1, .etc = 2 << 2 };
	static const uint64_t offloads[] = { 0, RTE_ETH_RX_OFFLOAD_IPV4_CKSUM,
					     RTE_ETH_RX_OFFLOAD_TCP_CKSUM, RTE_ETH_RX_OFFLOAD_UDP_CKSUM };
	static const uint64_t flags_good[] = { 0, RTE_MBUF_F_RX_IP_CKSUM_GOOD,
					       RTE_MBUF_F_RX_L4_CKSUM_GOOD, RTE_MBUF_F_RX_L4_CKSUM_GOOD };
	static const uint64_t flags_bad[] = { 0, RTE_MBUF_F_RX_IP_CKSUM_BAD, 0, 0 };
	struct rte_mbuf *m;
	struct rig_rx *r;
	unsigned int i;

	for (i = 0; i < RTE_DIM(offloads); i++) {
		r = rig_rx_new(6, 0, 6, pool, offloads[i], NULL);
		m = one(r, 0, &good);
		CHECK(m->ol_flags == flags_good[i], "%u: %#" PRIx64, i, m->ol_flags);
		rte_pktmbuf_free(m);
		m = one(r, 0, &bad);
		CHECK(m->ol_flags == flags_bad[i], "%u: %#" PRIx64, i, m->ol_flags);
		rte_pktmbuf_free(m);
		rig_rx_free(r);
	}
}

static void
hash(void)
{
	struct rig_rx *r = rig_rx_new(6, 0, 6, pool, RX_ALL, NULL);
	static const struct rig_rx_cqe cases[] = {
		{ .hash = 0xdeadbeef, .hash_type = 0x44 }, { .hash = 0, .hash_type = 0x08 },
		{ .hash = 0x12345678, .hash_type = 0 }, { .hash = 1, .hash_type = 0x80 },
	};
	struct rte_mbuf *m;
	unsigned int i;

	for (i = 0; i < RTE_DIM(cases); i++) {
		bool hashed = cases[i].hash_type != 0;

		m = one(r, MLXPMD_RX_F_HASH, &cases[i]);
		CHECK(((m->ol_flags & RTE_MBUF_F_RX_RSS_HASH) != 0) == hashed, "case %u", i);
		CHECK(!hashed || m->hash.rss == cases[i].hash, "case %u: %#x", i, m->hash.rss);
		rte_pktmbuf_free(m);
		m = one(r, 0, &cases[i]);
		CHECK((m->ol_flags & RTE_MBUF_F_RX_RSS_HASH) == 0, "case %u, not requested", i);
		rte_pktmbuf_free(m);
	}
	rig_rx_free(r);
}

static void
mark(void)
{
	struct rig_rx *r = rig_rx_new(6, 0, 6, pool, RX_ALL, NULL);
	/* A tag is the mark + 1; the last one is that of action FLAG, which has no mark. */
	static const struct { uint32_t tag; bool flagged, marked; uint32_t mark; } cases[] = {
		{ 0, false, false, 0 }, { 0xffffff, false, false, 0 }, { 1, true, true, 0 },
		{ 0xfffffd, true, true, 0xfffffc }, { 0xfffffe, true, false, 0 }, { 0x7f000000, false, false, 0 },
		{ 0x7f000005, true, true, 4 },
	};
	struct rte_mbuf *m;
	unsigned int i;

	for (i = 0; i < RTE_DIM(cases); i++) {
		struct rig_rx_cqe c = { .tag = cases[i].tag };
		uint64_t want = (cases[i].flagged ? RTE_MBUF_F_RX_FDIR : 0) |
				(cases[i].marked ? RTE_MBUF_F_RX_FDIR_ID : 0);

		m = one(r, MLXPMD_RX_F_HASH, &c);
		CHECK((m->ol_flags & (RTE_MBUF_F_RX_FDIR | RTE_MBUF_F_RX_FDIR_ID)) == want, "tag %#x",
		      cases[i].tag);
		CHECK(!cases[i].marked || m->hash.fdir.hi == cases[i].mark, "mark %#x",
		      m->hash.fdir.hi);
		rte_pktmbuf_free(m);
	}
	rig_rx_free(r);
}

/* Metadata of flows in their dynamic field, with a flag, unless it is 0; a mark beside it. */
static void
metadata(void)
{
	struct rig_rx *r = rig_rx_new(6, 0, 6, pool, RX_ALL, NULL);
	const uint64_t flag = RTE_BIT64(40);
	struct rte_mbuf *m[8];

	r->rxq.meta_flag = flag;
	r->rxq.ol_init = flag;
	r->rxq.meta_offset = offsetof(struct rte_mbuf, dynfield1[3]);
	for (uint32_t i = 0; i < 8; i++) {
		const struct rig_rx_cqe c = { .meta = i % 3 * 0x10203040, .tag = i == 4 ? 6 : 0 };

		CHECK(rig_rx_packet(r, i, 60, &c), "no WQE");
	}
	CHECK(rig_rx_burst(r, MLXPMD_RX_F_HASH, m, 8) == 8, "not received");
	for (uint32_t i = 0; i < 8; i++) {
		CHECK(((m[i]->ol_flags & flag) != 0) == (i % 3 != 0), "%u: %#" PRIx64, i, m[i]->ol_flags);
		CHECK(i % 3 == 0 || *RTE_MBUF_DYNFIELD(m[i], r->rxq.meta_offset, uint32_t *) == i % 3 * 0x10203040,
		      "%u", i);
		CHECK(((m[i]->ol_flags & RTE_MBUF_F_RX_FDIR_ID) != 0) == (i == 4), "%u: mark", i);
		CHECK(rig_rx_match(r, m[i], i, 60), "another packet");
	}
	rte_pktmbuf_free_bulk(m, 8);
	rig_rx_free(r);
}

/* The FCS, the last 4 bytes of a completion's, is in no length, with one segment and with several; marks beside it. */
static void
fcs(void)
{
	const uint64_t offloads = RX_ALL | RTE_ETH_RX_OFFLOAD_KEEP_CRC;
	struct rig_rx *r = rig_rx_new(6, 0, 6, pool, offloads, NULL);
	struct rte_mbuf *m[16];

	for (uint32_t i = 0; i < 16; i++) {
		const struct rig_rx_cqe c = { .tag = i == 12 ? 6 : 0, .hash = i, .hash_type = 1 };

		/* No frame is that short: the lengths of the first ones are a device's error. */
		CHECK(rig_rx_packet(r, i, i < 6 ? i + 1 : 60 + i, &c), "no WQE");
	}
	CHECK(rig_rx_burst(r, MLXPMD_RX_F_HASH, m, 16) == 16, "not received");
	CHECK(r->rxq.q.stats.bytes == 1 + 2 + 10 * 56 + 105, "%" PRIu64 " bytes", r->rxq.q.stats.bytes);
	for (uint32_t i = 0; i < 16; i++) {
		CHECK(m[i]->pkt_len == (i < 6 ? RTE_MAX(i, 3u) - 3 : 56 + i) && m[i]->data_len == m[i]->pkt_len &&
		      m[i]->nb_segs == 1, "%u: %u bytes", i, m[i]->pkt_len);
		CHECK((m[i]->ol_flags & ~RTE_MBUF_F_RX_RSS_HASH) ==
		      (i == 12 ? RTE_MBUF_F_RX_FDIR | RTE_MBUF_F_RX_FDIR_ID : 0), "%u: %#" PRIx64, i, m[i]->ol_flags);
		CHECK(i < 6 || rig_rx_match(r, m[i], i, 56 + i), "another packet");
	}
	rte_pktmbuf_free_bulk(m, 16);
	rig_rx_free(r);
}

/* Dynamic field in ns and dynamic flag; neither, but a count, if out of range or expired. */
static void
timestamp(void)
{
	/* A tick a nanosecond; a million of them to both sides of 5000000. */
	struct mdv_clock_line line = { .start = 1700000000122456789, .base = 4000000, .frac = 77,
				       .mask = RTE_BIT64(41) - 1, .mult = 0x80000000u, .shift = 31,
				       .span = 2000000 };
	static struct mlxpmd_clock clock;
	struct mlxpmd_clock_snap snap;
	struct rig_rx_cqe c = { 0 };
	struct rte_mbuf *m;
	struct rig_rx *r;
	int offset;
	uint64_t flag;

	mlxpmd_clock_snap_from(&snap, &line);
	snap.expires_tsc = rte_rdtsc() + rte_get_tsc_hz() * 1000;
	mlxpmd_clock_publish(&clock, &snap, NULL);
	r = rig_rx_new(6, 0, 6, pool, RX_ALL | RTE_ETH_RX_OFFLOAD_TIMESTAMP, &clock);
	CHECK(r != NULL, "no queue");
	CHECK(rte_mbuf_dyn_rx_timestamp_register(&offset, &flag) == 0, "no field");
	c.ts = 5000000 + 12345;
	m = one(r, MLXPMD_RX_F_TS, &c);
	CHECK(m->ol_flags == flag, "%#" PRIx64, m->ol_flags);
	CHECK(*RTE_MBUF_DYNFIELD(m, offset, uint64_t *) == line.start + 1012345, "%" PRIu64,
	      *RTE_MBUF_DYNFIELD(m, offset, uint64_t *));
	rte_pktmbuf_free(m);
	c.ts = 5000000 + 1000001;
	m = one(r, MLXPMD_RX_F_TS, &c);
	CHECK(m->ol_flags == 0 && r->rxq.q.stats.ts_absent == 1, "out of the window");
	rte_pktmbuf_free(m);
	c.ts = 5000000;
	snap.expires_tsc = rte_rdtsc() - 1;
	mlxpmd_clock_publish(&clock, &snap, NULL);
	m = one(r, MLXPMD_RX_F_TS | MLXPMD_RX_F_SCATTER, &c);
	CHECK(m->ol_flags == 0 && r->rxq.q.stats.ts_absent == 2, "expired");
	rte_pktmbuf_free(m);
	mlxpmd_clock_snap_raw(&snap);
	mlxpmd_clock_publish(&clock, &snap, NULL);
	c.ts = UINT64_C(0xfedcba9876543210);
	m = one(r, MLXPMD_RX_F_TS, &c);
	CHECK(m->ol_flags == flag && *RTE_MBUF_DYNFIELD(m, offset, uint64_t *) == c.ts, "raw");
	rte_pktmbuf_free(m);
	rig_rx_free(r);
	CHECK(rig_rx_new(6, 0, 6, pool, RTE_ETH_RX_OFFLOAD_TIMESTAMP, NULL) == NULL, "armed without clock");
}

int
main(void)
{
	rig_init();
	pool = rig_pool("fields", 512, 32, 2048 + RTE_PKTMBUF_HEADROOM);
	RIG_EACH {
		headers();
		groups(0);
		groups(MLXPMD_RX_F_HASH);
		masked();
		hash();
		mark();
		metadata();
		fcs();
		timestamp();
		CHECK(rte_mempool_avail_count(pool) == 512, "%u mbufs came home", rte_mempool_avail_count(pool));
	}
	return rig_end("rx_fields");
}
