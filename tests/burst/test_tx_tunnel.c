/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* WQEs of packets in tunnels: offsets for the software parser where the device needs them, and what is refused. */

#include <rte_errno.h>

#include "rig.h"

#define POOL 1023
#define MPW_TSO (MLXPMD_TX_F_MPW | MLXPMD_TX_F_TSO)
#define ALL_TSO (RTE_ETH_TX_OFFLOAD_TCP_TSO | RTE_ETH_TX_OFFLOAD_VXLAN_TNL_TSO | RTE_ETH_TX_OFFLOAD_GRE_TNL_TSO | \
		 RTE_ETH_TX_OFFLOAD_GENEVE_TNL_TSO | RTE_ETH_TX_OFFLOAD_IPIP_TNL_TSO | RTE_ETH_TX_OFFLOAD_IP_TNL_TSO | \
		 RTE_ETH_TX_OFFLOAD_UDP_TNL_TSO)
static struct rte_mempool *pool;

/* What each kind needs of a device that finds the inner headers in VXLAN and GRE only. */
static const struct {
	uint64_t flag;
	bool swp, udp;
	unsigned int tunnel_bytes;	/* From the outer IP header to the inner one: UDP, tunnel, Ethernet. */
} kinds[] = {
	{ RTE_MBUF_F_TX_TUNNEL_VXLAN, false, true, 8 + 8 + 14 },
	{ RTE_MBUF_F_TX_TUNNEL_GRE, false, false, 4 },
	{ RTE_MBUF_F_TX_TUNNEL_GENEVE, true, true, 8 + 8 + 14 },
	{ RTE_MBUF_F_TX_TUNNEL_IPIP, true, false, 0 },
	{ RTE_MBUF_F_TX_TUNNEL_IP, true, false, 24 },
	{ RTE_MBUF_F_TX_TUNNEL_UDP, true, true, 8 + 14 },
};

static struct rig_tx *
device(unsigned int f, bool swp, bool geneve)
{
	struct rig_tx *t;

	rig_mdv.caps.tunnel_gre = true;
	rig_mdv.caps.tunnel_geneve = geneve;
	rig_mdv.caps.swp_csum = swp;
	rig_mdv.caps.swp_lso = swp;
	t = rig_tx_new(7, 128, 8, 63, f & MLXPMD_TX_F_INLINE ? 1 : 0);
	t->txq.q.offloads = ALL_TSO;
	t->txq.inline_mpw = f & MLXPMD_TX_F_COPY ? 200 : 0;
	return t;
}

/* What the i-th packet of a case must be to the device. */
struct wanted {
	uint8_t swp[5], cs_flags;
	uint16_t mss, tci;
	uint32_t seq, len, header;
	bool vlan, tag_inline, not_mpw, header_known;
};
static struct wanted fifo[64];
static unsigned int fifo_in, fifo_out, in_mpw;

/* A packet of kind k; the lower bits of seq select versions of IP, checksums, segmentation, a tag and segments. */
static struct rte_mbuf *
tunnel_packet(uint32_t seq, unsigned int k)
{
	bool out6 = seq & 1, in6 = seq & 2, udp = (seq & 12) == 8, tso = (seq & 12) == 12, csum = (seq & 12) != 0;
	struct rte_mbuf *m = rig_tx_mbuf(pool, seq, 400 + seq % 7 * 300, seq & 32 ? 3 : 1);

	m->ol_flags = kinds[k].flag | (out6 ? RTE_MBUF_F_TX_OUTER_IPV6 : RTE_MBUF_F_TX_OUTER_IPV4);
	/* Left by the reception of a forwarded packet; sending ignores them. */
	if (seq % 3 == 0)
		m->ol_flags |= RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_RSS_HASH | RTE_MBUF_F_RX_IP_CKSUM_GOOD;
	if (!out6 && seq & 64)
		m->ol_flags |= RTE_MBUF_F_TX_OUTER_IP_CKSUM;
	m->outer_l2_len = 14;
	m->outer_l3_len = out6 ? 40 : 20;
	m->l2_len = kinds[k].tunnel_bytes;
	m->l3_len = in6 ? 40 : 20;
	m->l4_len = udp ? 8 : 20;
	if (csum)
		m->ol_flags |= in6 ? RTE_MBUF_F_TX_IPV6 : RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IP_CKSUM;
	if (tso) {
		m->ol_flags |= RTE_MBUF_F_TX_TCP_SEG;
		m->tso_segsz = 100 + seq;
	} else if (csum) {
		m->ol_flags |= udp ? RTE_MBUF_F_TX_UDP_CKSUM : RTE_MBUF_F_TX_TCP_CKSUM;
	}
	if (seq & 16) {
		m->ol_flags |= RTE_MBUF_F_TX_VLAN;
		m->vlan_tci = seq * 3;
	}
	return m;
}

static void
expect(const struct rte_mbuf *m, uint32_t seq, unsigned int k, unsigned int f)
{
	bool out6 = seq & 1, in6 = seq & 2, udp = (seq & 12) == 8, tso = (seq & 12) == 12, csum = (seq & 12) != 0;
	unsigned int l3 = 14 + (seq & 16 ? 4 : 0), in = l3 + (out6 ? 40 : 20) + kinds[k].tunnel_bytes;
	struct wanted *w = &fifo[fifo_in++ % RTE_DIM(fifo)];

	*w = (struct wanted) { .seq = seq, .len = m->pkt_len, .vlan = seq & 16, .tci = seq * 3 };
	w->cs_flags = (csum && !in6 ? 0x10 : 0) | (csum ? 0x20 : 0) | (!out6 && seq & 64 ? 0x40 : 0);
	w->mss = tso ? 100 + seq : 0;
	if (kinds[k].swp && w->cs_flags != 0) {
		w->not_mpw = true;
		w->swp[0] = kinds[k].udp ? (l3 + (out6 ? 40 : 20)) / 2 : 0;
		w->swp[1] = l3 / 2;
		w->swp[2] = csum ? (in + (in6 ? 40 : 20)) / 2 : 0;
		w->swp[3] = csum ? in / 2 : 0;
		w->swp[4] = (out6 ? 0x10 : 0) | (kinds[k].udp ? 0x20 : 0) | (csum && in6 ? 1 : 0) | (udp ? 2 : 0);
	}
	if (tso)
		w->header = in + (in6 ? 40 : 20) + 20;
	w->tag_inline = w->vlan && (tso || w->not_mpw || (f & MLXPMD_TX_F_INLINE));
	w->len += w->tag_inline ? 4 : 0;
	w->header_known = tso || (w->not_mpw && !w->vlan && !(f & MLXPMD_TX_F_INLINE));
}

static void
got(void *arg __rte_unused, const struct rig_tx_packet *p)
{
	const struct wanted *w = &fifo[fifo_out++ % RTE_DIM(fifo)];

	CHECK(memcmp(p->swp, w->swp, 5) == 0, "packet %u: software parser %u %u %u %u %#x, not %u %u %u %u %#x", w->seq,
	      p->swp[0], p->swp[1], p->swp[2], p->swp[3], p->swp[4], w->swp[0], w->swp[1], w->swp[2], w->swp[3],
	      w->swp[4]);
	CHECK(p->cs_flags == w->cs_flags && p->mss == w->mss && p->len == w->len, "packet %u: cs %#x not %#x, mss %u, len %u",
	      w->seq, p->cs_flags, w->cs_flags, p->mss, p->len);
	CHECK(!w->header_known || p->inline_bytes == w->header, "packet %u: %u bytes inline, not %u", w->seq,
	      p->inline_bytes, w->header);
	CHECK(!(p->mpw && w->not_mpw), "packet %u in a multi-packet WQE", w->seq);
	CHECK(p->vlan_insert == (w->vlan && !w->tag_inline), "packet %u: who inserts the tag", w->seq);
	CHECK(rig_tx_match(p, w->seq, w->tag_inline ? &w->tci : NULL), "data of packet %u", w->seq);
	in_mpw += p->mpw;
}

static void
settled(struct rig_tx *t, const char *what)
{
	(void)rig_tx_run(t, true, got, NULL);
	CHECK(fifo_in == fifo_out, "%s: %u of %u sent", what, fifo_out, fifo_in);
	rig_tx_free(t);
	CHECK(rte_mempool_avail_count(pool) == POOL, "%s: mbufs are missing", what);
}

/* All kinds with all selections, in bursts of several lengths. */
static void
kinds_all(unsigned int f)
{
	struct rig_tx *t = device(f, true, false);
	struct rte_mbuf *m[8];
	uint32_t seq, n, i;

	fifo_in = fifo_out = in_mpw = 0;
	for (seq = 0; seq < 128 * RTE_DIM(kinds); seq += n) {
		n = 1 + seq % 8;
		for (i = 0; i < n; i++) {
			m[i] = tunnel_packet((seq + i) % 128, (seq + i) / 128 % RTE_DIM(kinds));
			expect(m[i], (seq + i) % 128, (seq + i) / 128 % RTE_DIM(kinds), f);
		}
		CHECK(mlxpmd_tx_prepare(&t->txq, m, n) == n, "prepare: %s", rte_strerror(rte_errno));
		CHECK(rig_tx_burst(t, f, m, n) == n, "not taken");
		(void)rig_tx_run(t, true, got, NULL);
	}
	CHECK(t->txq.q.stats.dropped == 0, "%" PRIu64 " dropped", t->txq.q.stats.dropped);
	CHECK(!(f & MLXPMD_TX_F_MPW) || in_mpw != 0, "no multi-packet WQE");
	settled(t, "kinds_all");
}

/* The WQE of an IPv4 packet in IPv6, with a tag, compared with literal bytes. */
static void
swp_bytes(void)
{
	struct rig_tx *t = device(MLXPMD_TX_F_TSO, true, false);
	struct rte_mbuf *m = rig_tx_mbuf(pool, 1, 200, 1);
	static const uint8_t want[48] = {
		0, 0, 0, 0x0a, 0xab, 0xcd, 0xef, 4, 0, 0, 0, 0, 0, 0, 0, 0,
		/* Outer IP at 18, inner at 58, UDP at 78; inner checksums; outer IPv6, inner UDP; 18 bytes inline. */
		0, 9, 39, 29, 0x30, 0x12, 0, 0, 0, 0, 0, 0, 0, 18,
	};
	unsigned int i;

	m->ol_flags = RTE_MBUF_F_TX_TUNNEL_IPIP | RTE_MBUF_F_TX_OUTER_IPV6 | RTE_MBUF_F_TX_IPV4 |
		      RTE_MBUF_F_TX_IP_CKSUM | RTE_MBUF_F_TX_UDP_CKSUM | RTE_MBUF_F_TX_VLAN;
	m->outer_l2_len = 14;
	m->outer_l3_len = 40;
	m->l3_len = 20;
	CHECK(rig_tx_burst(t, MLXPMD_TX_F_TSO, &m, 1) == 1, "not taken");
	for (i = 0; i < 30; i++)
		CHECK(t->sq[i] == want[i], "byte %u: %#x not %#x", i, t->sq[i], want[i]);
	CHECK(t->sq[30 + 12] == 0x81 && t->sq[30 + 13] == 0, "tag");
	rig_tx_free(t);
}

/* Kinds that the device cannot do; lengths that its offsets cannot have. */
static void
refused(unsigned int f)
{
	static const struct {
		const char *what;
		uint64_t flags;
		bool swp, geneve;
		uint16_t outer_l2, outer_l3, l2;
		int err;
		unsigned int dropped;
	} rows[] = {
		{ "GENEVE by the software parser", RTE_MBUF_F_TX_TUNNEL_GENEVE, true, false, 14, 20, 30, 0, 0 },
		{ "GENEVE by the device", RTE_MBUF_F_TX_TUNNEL_GENEVE, false, true, 14, 20, 30, 0, 0 },
		{ "GENEVE by nothing", RTE_MBUF_F_TX_TUNNEL_GENEVE, false, false, 14, 20, 30, ENOTSUP, 0 },
		{ "IP in IP by nothing", RTE_MBUF_F_TX_TUNNEL_IPIP, false, true, 14, 20, 0, ENOTSUP, 0 },
		{ "another tunnel", RTE_MBUF_F_TX_TUNNEL_GTP, true, true, 14, 20, 16, ENOTSUP, 0 },
		{ "odd offset", RTE_MBUF_F_TX_TUNNEL_IP, true, true, 15, 20, 0, EINVAL, 1 },
		{ "odd inner offset", RTE_MBUF_F_TX_TUNNEL_UDP, true, true, 14, 20, 21, EINVAL, 1 },
		{ "offset 510", RTE_MBUF_F_TX_TUNNEL_IP, true, true, 14, 476, 0, 0, 0 },
		{ "offset 512", RTE_MBUF_F_TX_TUNNEL_IP, true, true, 14, 478, 0, EINVAL, 1 },
		{ "no lengths", RTE_MBUF_F_TX_TUNNEL_IP, true, true, 0, 0, 0, EINVAL, 1 },
		{ "beyond the packet", RTE_MBUF_F_TX_TUNNEL_IP, true, true, 14, 20, 127 - 1, 0, 0 },
	};
	struct rte_mbuf *m;
	struct rig_tx *t;
	unsigned int i;

	for (i = 0; i < RTE_DIM(rows); i++) {
		t = device(f, rows[i].swp, rows[i].geneve);
		m = rig_tx_mbuf(pool, 1, 600, 1);
		m->ol_flags = rows[i].flags | RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IP_CKSUM | RTE_MBUF_F_TX_TCP_CKSUM |
			      RTE_MBUF_F_TX_OUTER_IPV4;
		m->outer_l2_len = rows[i].outer_l2;
		m->outer_l3_len = rows[i].outer_l3;
		m->l2_len = rows[i].l2;
		m->l3_len = 20;
		rte_errno = 0;
		CHECK(mlxpmd_tx_prepare(&t->txq, &m, 1) == (rows[i].err == 0) && rte_errno == rows[i].err, "%s: %s",
		      rows[i].what, rte_strerror(rte_errno));
		CHECK(rig_tx_burst(t, f, &m, 1) == 1, "%s: blocks", rows[i].what);
		CHECK(t->txq.q.stats.dropped == rows[i].dropped, "%s: %" PRIu64 " dropped", rows[i].what,
		      t->txq.q.stats.dropped);
		rig_tx_free(t);
	}
	t = device(f, true, false);
	/* Longer headers than the packet; the same without a request, which needs no headers. */
	for (i = 0; i < 2; i++) {
		m = tunnel_packet(4, 5);
		m->outer_l3_len = 508 - 30;
		m->l2_len = 0;
		m->l3_len = 0;
		m->data_len = m->pkt_len = 400;
		m->ol_flags &= i == 1 ? RTE_MBUF_F_TX_TUNNEL_MASK : UINT64_MAX;
		CHECK(mlxpmd_tx_prepare(&t->txq, &m, 1) == i, "too short: %s", rte_strerror(rte_errno));
		CHECK(rig_tx_burst(t, f, &m, 1) == 1 && t->txq.q.stats.dropped == 1, "too short %u", i);
	}
	rig_tx_free(t);
}

int
main(void)
{
	static const unsigned int features[] = {
		MPW_TSO, MLXPMD_TX_F_TSO, MLXPMD_TX_F_INLINE | MLXPMD_TX_F_TSO, MLXPMD_TX_F_MPW | MLXPMD_TX_F_TIMED,
		MLXPMD_TX_F_TIMED, MLXPMD_TX_F_INLINE | MLXPMD_TX_F_TIMED,
	};
	unsigned int i;

	rig_init();
	pool = rig_pool("tunnel", POOL, 64, 3000);
	RIG_EACH {
		swp_bytes();
		for (i = 0; i < RTE_DIM(features); i++) {
			kinds_all(features[i]);
			refused(features[i]);
		}
	}
	return rig_end("tx_tunnel");
}
