/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Frames in both directions through whatever the devargs select: each one is numbered, and carries its number, its
 * length and a pattern. Nine tenths of them must all arrive, once; of the last tenth, which is more than the receive
 * rings hold, the others must be counted as missed.
 *
 * Arguments: words of "tso", "lro" and "fcs" (Rx offload KEEP_CRC), and the number of frames per port.
 */

#include <limits.h>

#include <rte_byteorder.h>
#include <rte_ip.h>
#include <rte_tcp.h>
#include <rte_udp.h>

#include "pmd_test.h"

#define QUEUES 4
#define NB_DESC 512
#define BURST 32
/* Frames in flight that a receive ring holds whatever its state: all but those of a WQE of 64 strides, and more. */
#define WINDOW (NB_DESC - 64 - 2 * BURST)
/* More than all receive rings hold. */
#define OVERFLOW (QUEUES * NB_DESC + 1000)
#define MAGIC 0x6d697865
#define FLOWS 16
#define FRAME_MIN 60
#define FRAME_MAX 1514
#define TSO_PACKETS 4
#define TSO_SEGS_MAX (BURST / TSO_PACKETS)
#define UDP_HEADERS (RTE_ETHER_HDR_LEN + sizeof(struct rte_ipv4_hdr) + sizeof(struct rte_udp_hdr))
#define TCP_HEADERS (RTE_ETHER_HDR_LEN + sizeof(struct rte_ipv4_hdr) + sizeof(struct rte_tcp_hdr))
#define CKSUM_GOOD (RTE_MBUF_F_RX_IP_CKSUM_GOOD | RTE_MBUF_F_RX_L4_CKSUM_GOOD)

/* Begins the payload of each frame, and so of each segment. */
struct record {
	uint32_t magic;
	uint32_t len;	/* Bytes of payload, this included. */
	uint64_t number;
};

/* A port: what it sent, and what arrived at it from the other one. */
struct side {
	uint16_t port, peer;
	uint64_t random;
	struct rte_ether_addr own, other;
	uint64_t sent, sent_bytes, tso_packets;
	struct rte_mbuf *pending[BURST];
	uint16_t nb_pending, at;
	uint64_t frames, packets, bytes, external;
	uint8_t *seen; /* One bit per number. */
};

static struct side sides[2];
static uint8_t pattern[256 + FRAME_MAX];
static bool tso, lro, fcs;

static uint32_t
draw(struct side *s, uint32_t below)
{
	s->random ^= s->random << 13;
	s->random ^= s->random >> 7;
	s->random ^= s->random << 17;
	return (s->random >> 32) % below;
}

/* ------------------------------------------------------------------ sending */

static struct rte_mbuf *
headers_make(struct side *s, uint32_t flow, uint8_t proto, uint32_t payload)
{
	const uint32_t headers = proto == IPPROTO_TCP ? TCP_HEADERS : UDP_HEADERS;
	struct rte_mbuf *m = rte_pktmbuf_alloc(pmd_pool);
	struct rte_ether_hdr *eth = rte_pktmbuf_mtod(m, struct rte_ether_hdr *);
	struct rte_ipv4_hdr *ip = (struct rte_ipv4_hdr *)(eth + 1);
	struct rte_udp_hdr *udp = (struct rte_udp_hdr *)(ip + 1);

	memset(eth, 0, headers);
	eth->dst_addr = s->other;
	eth->src_addr = s->own;
	eth->ether_type = RTE_BE16(RTE_ETHER_TYPE_IPV4);
	ip->version_ihl = 0x45;
	ip->total_length = rte_cpu_to_be_16(headers - RTE_ETHER_HDR_LEN + payload);
	ip->time_to_live = 64;
	ip->next_proto_id = proto;
	ip->src_addr = rte_cpu_to_be_32(RTE_IPV4(10, 0, 0, 1));
	ip->dst_addr = rte_cpu_to_be_32(RTE_IPV4(10, 0, 1, flow));
	udp->src_port = rte_cpu_to_be_16(1000 + flow); /* TCP's ports are at the same place. */
	udp->dst_port = RTE_BE16(9);
	m->ol_flags = RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IP_CKSUM;
	m->l2_len = RTE_ETHER_HDR_LEN;
	m->l3_len = sizeof(*ip);
	m->data_len = headers;
	if (proto == IPPROTO_UDP) {
		udp->dgram_len = rte_cpu_to_be_16(sizeof(*udp) + payload);
		udp->dgram_cksum = rte_ipv4_phdr_cksum(ip, m->ol_flags | RTE_MBUF_F_TX_UDP_CKSUM);
		m->ol_flags |= RTE_MBUF_F_TX_UDP_CKSUM;
	}
	return m;
}

/* Appends to the last mbuf and, when that is full, to another one. */
static struct rte_mbuf *
append(struct rte_mbuf *head, struct rte_mbuf *last, const void *data, uint32_t len)
{
	const uint8_t *from = data;
	uint32_t part;

	while (len != 0) {
		if (rte_pktmbuf_tailroom(last) == 0) {
			last->next = rte_pktmbuf_alloc(pmd_pool);
			last = last->next;
			head->nb_segs++;
		}
		part = RTE_MIN(len, (uint32_t)rte_pktmbuf_tailroom(last));
		memcpy(rte_pktmbuf_mtod_offset(last, void *, last->data_len), from, part);
		last->data_len += part;
		from += part;
		len -= part;
	}
	return last;
}

static struct rte_mbuf *
payload_append(struct side *s, struct rte_mbuf *head, struct rte_mbuf *last, uint32_t len)
{
	const struct record r = { .magic = MAGIC, .len = len, .number = s->sent++ };

	last = append(head, last, &r, sizeof(r));
	return append(head, last, pattern + (r.number & 255), len - sizeof(r));
}

static struct rte_mbuf *
udp_make(struct side *s, uint32_t flow, uint32_t bytes)
{
	struct rte_mbuf *m = headers_make(s, flow, IPPROTO_UDP, bytes - UDP_HEADERS);

	(void)payload_append(s, m, m, bytes - UDP_HEADERS);
	m->pkt_len = bytes;
	s->sent_bytes += bytes;
	return m;
}

/* A packet of full segments and a last one, each with a record. */
static struct rte_mbuf *
tso_make(struct side *s, uint32_t flow, uint32_t segsz, uint32_t segs, uint32_t rest)
{
	static uint32_t seq[2][FLOWS];
	const uint32_t payload = segsz * (segs - 1) + rest;
	struct rte_mbuf *m = headers_make(s, flow, IPPROTO_TCP, payload), *last = m;
	struct rte_tcp_hdr *tcp = rte_pktmbuf_mtod_offset(m, struct rte_tcp_hdr *, TCP_HEADERS - sizeof(*tcp));
	uint32_t i;

	tcp->sent_seq = rte_cpu_to_be_32(seq[s->port][flow]);
	seq[s->port][flow] += payload;
	tcp->data_off = sizeof(*tcp) / 4 << 4;
	tcp->tcp_flags = RTE_TCP_ACK_FLAG;
	m->ol_flags |= RTE_MBUF_F_TX_TCP_SEG;
	m->l4_len = sizeof(*tcp);
	m->tso_segsz = segsz;
	for (i = 0; i < segs; i++)
		last = payload_append(s, m, last, i == segs - 1 ? rest : segsz);
	m->pkt_len = TCP_HEADERS + payload;
	s->sent_bytes += m->pkt_len + (segs - 1) * TCP_HEADERS;
	s->tso_packets++;
	return m;
}

/* At most BURST frames: equal short ones, ones of several flows, of any length, or TCP. */
static void
burst_make(struct side *s)
{
	const uint32_t kind = draw(s, tso ? 5 : 4), flow = draw(s, FLOWS), fixed = FRAME_MIN + draw(s, 200);
	const uint32_t segsz = sizeof(struct record) + draw(s, FRAME_MAX - TCP_HEADERS - sizeof(struct record) + 1);
	uint32_t i, n = kind == 4 ? TSO_PACKETS : 1 + draw(s, BURST);

	for (i = 0; i < n; i++) {
		struct rte_mbuf **m = &s->pending[i];

		if (kind == 0)
			*m = udp_make(s, flow, FRAME_MIN);
		else if (kind == 1)
			*m = udp_make(s, draw(s, FLOWS), fixed);
		else if (kind == 2)
			*m = udp_make(s, draw(s, FLOWS), FRAME_MIN + draw(s, FRAME_MAX - FRAME_MIN + 1));
		else if (kind == 3)
			*m = udp_make(s, draw(s, 2), i & 1 ? FRAME_MIN + 12 : 1000 + flow);
		else
			*m = tso_make(s, flow, segsz, 1 + draw(s, TSO_SEGS_MAX),
				      RTE_MAX(segsz - draw(s, segsz), (uint32_t)sizeof(struct record)));
	}
	s->nb_pending = n;
	s->at = 0;
}

static void
send_some(struct side *s, uint64_t window)
{
	if (s->at == s->nb_pending) {
		if (s->sent - sides[s->peer].frames > window)
			return;
		burst_make(s);
	}
	s->at += rte_eth_tx_burst(s->port, 0, s->pending + s->at, s->nb_pending - s->at);
}

/* ------------------------------------------------------------------ receiving */

/* A frame's payload, of which len bytes are left. Bytes of the frame; 0: it is not a frame that the peer sent. */
static uint32_t
frame_check(struct side *s, const uint8_t *payload, uint32_t len, bool alone)
{
	struct record r = { 0 };

	memcpy(&r, payload, RTE_MIN(len, sizeof(r)));
	if (r.magic != MAGIC || r.len > len || r.len < sizeof(r) || (alone && r.len != len) ||
	    r.number >= sides[s->peer].sent) {
		CHECK(false, "port %u: %u bytes, record %#x, %u bytes, number %" PRIu64, s->port, len, r.magic, r.len,
		      r.number);
		return 0;
	}
	if (memcmp(payload + sizeof(r), pattern + (r.number & 255), r.len - sizeof(r)) != 0)
		CHECK(false, "port %u: frame %" PRIu64 " has wrong bytes", s->port, r.number);
	if (s->seen[r.number / 8] & 1 << r.number % 8)
		CHECK(false, "port %u: frame %" PRIu64 " is a duplicate", s->port, r.number);
	s->seen[r.number / 8] |= 1 << r.number % 8;
	s->frames++;
	return r.len;
}

static void
packet_check(struct side *s, const struct rte_mbuf *m)
{
	static uint8_t linear[UINT16_MAX];
	const uint8_t *d = rte_pktmbuf_read(m, 0, m->pkt_len, linear);
	const struct rte_ipv4_hdr *ip = (const void *)(d + RTE_ETHER_HDR_LEN);
	const bool is_tcp = ip->next_proto_id == IPPROTO_TCP, merged = (m->ol_flags & RTE_MBUF_F_RX_LRO) != 0;
	uint32_t at = is_tcp ? TCP_HEADERS : UDP_HEADERS, part;

	if ((m->packet_type & RTE_PTYPE_L4_MASK) != (is_tcp ? RTE_PTYPE_L4_TCP : RTE_PTYPE_L4_UDP) ||
	    (m->ol_flags & CKSUM_GOOD) != CKSUM_GOOD ||
	    m->pkt_len != RTE_ETHER_HDR_LEN + (uint32_t)rte_be_to_cpu_16(ip->total_length))
		CHECK(false, "port %u: packet of %u bytes, IP %u bytes, type %#x, flags %#" PRIx64, s->port, m->pkt_len,
		      rte_be_to_cpu_16(ip->total_length), m->packet_type, m->ol_flags);
	if (merged && (m->tso_segsz == 0 || !is_tcp || !lro || rte_ipv4_udptcp_cksum_verify(ip, ip + 1) != 0))
		CHECK(false, "port %u: merged of segments of %u bytes, checksum %d", s->port, m->tso_segsz,
		      rte_ipv4_udptcp_cksum_verify(ip, ip + 1));
	s->packets++;
	s->bytes += m->pkt_len;
	s->external += RTE_MBUF_HAS_EXTBUF(m) != 0;
	for (part = 1; at < m->pkt_len && part != 0; at += part)
		part = frame_check(s, d + at, m->pkt_len - at, !merged);
}

static unsigned int
receive_some(struct side *s)
{
	struct rte_mbuf *pkts[BURST];
	unsigned int got = 0, n, i;
	uint16_t q;

	for (q = 0; q < QUEUES; q++) {
		n = rte_eth_rx_burst(s->port, q, pkts, BURST);
		for (i = 0; i < n; i++)
			packet_check(s, pkts[i]);
		rte_pktmbuf_free_bulk(pkts, n);
		got += n;
	}
	return got;
}

/* ------------------------------------------------------------------ phases */

/* Sends until each port has sent so many frames; polls the receive queues every so many rounds. */
static void
exchange(uint64_t until, uint64_t window, unsigned int polled)
{
	uint64_t moved = 0, then = await_now_ns();
	unsigned int round, i;

	for (round = 0; sides[0].sent < until || sides[1].sent < until; round++) {
		uint64_t now = sides[0].sent + sides[1].sent + sides[0].frames + sides[1].frames;

		for (i = 0; i < 2; i++) {
			if (sides[i].sent < until || sides[i].at < sides[i].nb_pending)
				send_some(&sides[i], window);
			if (round % polled == polled - 1)
				(void)receive_some(&sides[i]);
		}
		if (now != moved) {
			moved = now;
			then = await_now_ns();
		} else if (await_now_ns() - then > 20000000000) {
			CHECK(false, "no progress: %" PRIu64 " and %" PRIu64 " sent, %" PRIu64 " and %" PRIu64
			      " arrived", sides[0].sent, sides[1].sent, sides[1].frames, sides[0].frames);
			return;
		}
	}
}

static uint64_t
missed(uint16_t port)
{
	struct rte_eth_stats stats;

	CHECK_OK(rte_eth_stats_get(port, &stats));
	return stats.imissed;
}

/* Sends what is pending and receives the rest; whether all frames are accounted for. */
static bool
settled(void)
{
	unsigned int i, got = 0;
	bool all = true;

	for (i = 0; i < 2; i++) {
		if (sides[i].at < sides[i].nb_pending)
			send_some(&sides[i], 0);
		got += receive_some(&sides[i]);
	}
	for (i = 0; i < 2 && got == 0; i++)
		all = all && sides[i].frames + missed(i) == sides[1 - i].sent;
	return got == 0 && all;
}

static void
counters_check(const struct side *s)
{
	struct rte_eth_stats stats;

	pmd_counts_settle(s->port);
	CHECK_OK(rte_eth_stats_get(s->port, &stats));
	CHECK(stats.opackets == s->sent && stats.obytes == s->sent_bytes, "port %u sent %" PRIu64 ", %" PRIu64 " bytes, "
	      "counted %" PRIu64 ", %" PRIu64 " bytes", s->port, s->sent, s->sent_bytes, stats.opackets, stats.obytes);
	CHECK(stats.ipackets == s->packets && stats.ibytes == s->bytes, "port %u received %" PRIu64 ", %" PRIu64
	      " bytes, counted %" PRIu64 ", %" PRIu64 " bytes", s->port, s->packets, s->bytes, stats.ipackets,
	      stats.ibytes);
	CHECK(s->frames + stats.imissed == sides[s->peer].sent, "port %u: %" PRIu64 " arrived, %" PRIu64 " missed of %"
	      PRIu64, s->port, s->frames, stats.imissed, sides[s->peer].sent);
	CHECK(stats.ierrors == 0 && stats.oerrors == 0 && stats.rx_nombuf == 0, "port %u: %" PRIu64 ", %" PRIu64 ", %"
	      PRIu64 " errors", s->port, stats.ierrors, stats.oerrors, stats.rx_nombuf);
	printf("mix: port %u sent %" PRIu64 " %" PRIu64 " segmented %" PRIu64 " received %" PRIu64 " %" PRIu64 " packets %"
	       PRIu64 " missed %" PRIu64 " external %" PRIu64 "\n", s->port, s->sent, s->sent_bytes, s->tso_packets,
	       s->frames, s->bytes, s->packets, stats.imissed, s->external);
}

static void
bursts_print(void)
{
	struct rte_eth_burst_mode rx, tx;

	CHECK_OK(rte_eth_rx_burst_mode_get(PORT_A, 0, &rx));
	CHECK_OK(rte_eth_tx_burst_mode_get(PORT_A, 0, &tx));
	printf("mix: receive %s; send %s\n", rx.info, tx.info);
}

static void
ports_up(void)
{
	struct pmd_conf conf = {
		.nb_rxq = QUEUES, .nb_txq = 1, .nb_desc = NB_DESC,
		.rss_hf = RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP | RTE_ETH_RSS_TCP,
		.rx_offloads = RTE_ETH_RX_OFFLOAD_CHECKSUM | RTE_ETH_RX_OFFLOAD_RSS_HASH |
			       (lro ? RTE_ETH_RX_OFFLOAD_TCP_LRO | RTE_ETH_RX_OFFLOAD_SCATTER : 0) |
			       (fcs ? RTE_ETH_RX_OFFLOAD_KEEP_CRC : 0),
		.tx_offloads = RTE_ETH_TX_OFFLOAD_IPV4_CKSUM | RTE_ETH_TX_OFFLOAD_UDP_CKSUM |
			       RTE_ETH_TX_OFFLOAD_TCP_CKSUM,
		.lro_bytes = lro ? 16000 : 0,
	};
	struct rte_eth_dev_info info;

	CHECK_OK(rte_eth_dev_info_get(PORT_A, &info));
	if (tso)
		conf.tx_offloads |= RTE_ETH_TX_OFFLOAD_TCP_TSO | RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
	else if (info.tx_offload_capa & RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE)
		conf.tx_offloads |= RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE;
	pmd_ports_up(&conf);
}

int
main(int argc, char **argv)
{
	const uint64_t frames = strtoull(argv[argc - 1], NULL, 10);
	int i;

	pmd_init(argc, argv);
	for (i = 1; i < argc; i++) {
		tso |= strcmp(argv[i], "tso") == 0;
		lro |= strcmp(argv[i], "lro") == 0;
		fcs |= strcmp(argv[i], "fcs") == 0;
	}
	for (i = 0; i < (int)sizeof(pattern); i++)
		pattern[i] = i * 31 + (i >> 8);
	ports_up();
	for (i = 0; i < 2; i++) {
		struct side *s = &sides[i];

		*s = (struct side){ .port = i, .peer = 1 - i, .random = 0x9e3779b97f4a7c15 + i };
		s->seen = calloc(frames / 8 + BURST, 1);
		CHECK_OK(rte_eth_macaddr_get(i, &s->own));
		CHECK_OK(rte_eth_macaddr_get(1 - i, &s->other));
	}
	bursts_print();
	exchange(frames / 10 * 9, WINDOW, 1);
	CHECK(AWAIT(settled(), 20000) && missed(PORT_A) + missed(PORT_B) == 0, "%" PRIu64 ", %" PRIu64 " missed",
	      missed(PORT_A), missed(PORT_B));
	exchange(frames / 10 * 9 + OVERFLOW, UINT64_MAX, UINT_MAX);
	exchange(frames - BURST, UINT64_MAX, 64);
	CHECK(AWAIT(settled(), 20000), "not all frames are accounted for");
	for (i = 0; i < 2; i++)
		counters_check(&sides[i]);
	pmd_ports_down();
	return pmd_fini();
}
