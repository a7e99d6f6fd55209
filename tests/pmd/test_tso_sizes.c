/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Packets of up to the largest payload that the device segments, with and without a tag to insert: frames, counters. */

#include <rte_errno.h>
#include <rte_ip.h>
#include <rte_tcp.h>

#include "pmd_test.h"

#define HEADER (RTE_ETHER_HDR_LEN + sizeof(struct rte_ipv4_hdr) + sizeof(struct rte_tcp_hdr))
#define ROOM 9000
#define POOL 1023 /* Packets are freed up to a ring later. */
#define LSO_MAX (1u << 18)
#define FRAMES_MAX 400
#define SEQ 0xffff8000u
#define TCI 0x6123

static struct rte_mempool *large;

static uint8_t
pattern(uint32_t at)
{
	return at * 7 + (at >> 8) * 31 + (at >> 16);
}

static void
header_write(struct rte_mbuf *m, uint16_t from, uint16_t to)
{
	struct rte_ether_hdr *eth = rte_pktmbuf_mtod(m, struct rte_ether_hdr *);
	struct rte_ipv4_hdr *ip = (struct rte_ipv4_hdr *)(eth + 1);
	struct rte_tcp_hdr *tcp = (struct rte_tcp_hdr *)(ip + 1);

	memset(eth, 0, HEADER);
	CHECK_OK(rte_eth_macaddr_get(to, &eth->dst_addr));
	CHECK_OK(rte_eth_macaddr_get(from, &eth->src_addr));
	eth->ether_type = rte_cpu_to_be_16(RTE_ETHER_TYPE_IPV4);
	ip->version_ihl = 0x45;
	ip->packet_id = rte_cpu_to_be_16(0xfff0);
	ip->time_to_live = 64;
	ip->next_proto_id = IPPROTO_TCP;
	ip->src_addr = rte_cpu_to_be_32(RTE_IPV4(10, 0, 0, 1));
	ip->dst_addr = rte_cpu_to_be_32(RTE_IPV4(10, 0, 0, 2));
	tcp->src_port = rte_cpu_to_be_16(1000);
	tcp->dst_port = rte_cpu_to_be_16(2000);
	tcp->sent_seq = rte_cpu_to_be_32(SEQ);
	tcp->data_off = sizeof(*tcp) / 4 << 4;
	tcp->tcp_flags = RTE_TCP_ACK_FLAG | RTE_TCP_PSH_FLAG | RTE_TCP_FIN_FLAG;
}

/* The header is in the first segment, alone or with payload. */
static struct rte_mbuf *
packet_make(uint16_t from, uint16_t to, uint32_t payload, uint16_t segsz, bool vlan)
{
	struct rte_mbuf *head = rte_pktmbuf_alloc(large), *last = head;
	uint32_t at = 0, i, part;

	header_write(head, from, to);
	head->data_len = HEADER;
	while (at < payload) {
		part = RTE_MIN(payload - at, (uint32_t)(ROOM - last->data_len));
		for (i = 0; i < part; i++)
			*rte_pktmbuf_mtod_offset(last, uint8_t *, last->data_len + i) = pattern(at + i);
		last->data_len += part;
		at += part;
		if (at == payload)
			break;
		last->next = rte_pktmbuf_alloc(large);
		last = last->next;
		head->nb_segs++;
	}
	head->pkt_len = HEADER + payload;
	head->ol_flags = RTE_MBUF_F_TX_TCP_SEG | RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IP_CKSUM |
			 (vlan ? RTE_MBUF_F_TX_VLAN : 0);
	head->vlan_tci = TCI;
	head->l2_len = RTE_ETHER_HDR_LEN;
	head->l3_len = sizeof(struct rte_ipv4_hdr);
	head->l4_len = sizeof(struct rte_tcp_hdr);
	head->tso_segsz = segsz;
	return head;
}

/* A frame has the payload from `at` on. */
static void
frame_check(const struct rte_mbuf *m, unsigned int n, uint32_t at, uint32_t len, bool last, bool vlan)
{
	const uint8_t *d = rte_pktmbuf_mtod(m, const uint8_t *);
	const struct rte_ipv4_hdr *ip = (const void *)(d + RTE_ETHER_HDR_LEN + (vlan ? 4 : 0));
	const struct rte_tcp_hdr *tcp = (const void *)(ip + 1);
	const uint8_t *data = (const uint8_t *)(tcp + 1);
	const uint64_t good = RTE_MBUF_F_RX_IP_CKSUM_GOOD | RTE_MBUF_F_RX_L4_CKSUM_GOOD;
	uint32_t i, wrong = 0;

	CHECK(m->nb_segs == 1 && m->pkt_len == HEADER + len + (vlan ? 4 : 0), "frame %u: %u bytes", n, m->pkt_len);
	CHECK(!vlan || memcmp(d + 12, "\x81\x00\x61\x23\x08\x00", 6) == 0, "frame %u: tag", n);
	CHECK(rte_be_to_cpu_16(ip->total_length) == 40 + len, "frame %u: IP length", n);
	CHECK(rte_be_to_cpu_16(ip->packet_id) == (uint16_t)(0xfff0 + n), "frame %u: identification", n);
	CHECK(rte_be_to_cpu_32(tcp->sent_seq) == SEQ + at, "frame %u: sequence number", n);
	CHECK(tcp->tcp_flags == (RTE_TCP_ACK_FLAG | (last ? RTE_TCP_PSH_FLAG | RTE_TCP_FIN_FLAG : 0)), "frame %u: flags %#x",
	      n, tcp->tcp_flags);
	CHECK(rte_ipv4_udptcp_cksum_verify(ip, tcp) == 0 && rte_raw_cksum(ip, sizeof(*ip)) == 0xffff, "frame %u: checksum",
	      n);
	CHECK((m->ol_flags & good) == good, "frame %u: flags %#" PRIx64, n, m->ol_flags);
	for (i = 0; i < len; i++)
		wrong += data[i] != pattern(at + i);
	CHECK(wrong == 0, "frame %u: %u bytes of payload are wrong", n, wrong);
}

static void
one(uint16_t from, uint16_t to, uint32_t payload, uint16_t segsz, bool vlan)
{
	unsigned int frames = (payload + segsz - 1) / segsz, got, i;
	struct rte_mbuf *m = packet_make(from, to, payload, segsz, vlan), *pkts[FRAMES_MAX];
	struct rte_eth_stats before, after;

	CHECK_OK(rte_eth_stats_get(from, &before));
	CHECK(rte_eth_tx_prepare(from, 0, &m, 1) == 1, "%u bytes: %s", payload, rte_strerror(rte_errno));
	CHECK(rte_eth_tx_burst(from, 0, &m, 1) == 1, "%u bytes: not taken", payload);
	got = pmd_recv(to, 0, pkts, frames, 5000);
	CHECK(got == frames, "%u bytes: %u frames of %u", payload, got, frames);
	for (i = 0; i < got; i++)
		frame_check(pkts[i], i, i * segsz, RTE_MIN(payload - i * segsz, (uint32_t)segsz), i == frames - 1,
			    vlan);
	rte_pktmbuf_free_bulk(pkts, got);
	CHECK_OK(rte_eth_stats_get(from, &after));
	CHECK(after.opackets - before.opackets == frames && after.oerrors == before.oerrors,
	      "%u bytes: %" PRIu64 " packets", payload, after.opackets - before.opackets);
	CHECK(after.obytes - before.obytes == payload + frames * HEADER, "%u bytes: %" PRIu64 " counted", payload,
	      after.obytes - before.obytes);
}

static void
too_long(void)
{
	struct rte_mbuf *m = packet_make(PORT_A, PORT_B, LSO_MAX + 1, 1460, false);
	uint64_t dropped = pmd_xstat(PORT_A, "tx_dropped");

	CHECK(rte_eth_tx_prepare(PORT_A, 0, &m, 1) == 0 && rte_errno == ENOTSUP, "prepared, %d", rte_errno);
	CHECK(rte_eth_tx_burst(PORT_A, 0, &m, 1) == 1 && pmd_xstat(PORT_A, "tx_dropped") == dropped + 1, "not dropped");
}

int
main(int argc, char **argv)
{
	const struct pmd_conf conf = {
		.nb_rxq = 1, .nb_txq = 1, .nb_desc = 1024,
		.tx_offloads = RTE_ETH_TX_OFFLOAD_TCP_TSO | RTE_ETH_TX_OFFLOAD_IPV4_CKSUM |
			       RTE_ETH_TX_OFFLOAD_TCP_CKSUM | RTE_ETH_TX_OFFLOAD_VLAN_INSERT |
			       RTE_ETH_TX_OFFLOAD_MULTI_SEGS,
		.rx_offloads = RTE_ETH_RX_OFFLOAD_IPV4_CKSUM | RTE_ETH_RX_OFFLOAD_TCP_CKSUM,
	};
	static const uint32_t payloads[] = { 1, 535, 1460, 1461, 2920, 65481, 65482, 65536, 200001, LSO_MAX };
	unsigned int i;

	pmd_init(argc, argv);
	large = rte_pktmbuf_pool_create("large", POOL, 0, 0, ROOM + RTE_PKTMBUF_HEADROOM, SOCKET_ID_ANY);
	CHECK(large != NULL, "no mempool");
	pmd_ports_up(&conf);
	for (i = 0; i < 2 * RTE_DIM(payloads); i++) {
		one(PORT_A, PORT_B, payloads[i / 2], 1460, i & 1);
		one(PORT_B, PORT_A, payloads[i / 2], payloads[i / 2] < 60000 ? 100 : 1400, i & 1);
	}
	too_long();
	pmd_ports_down();
	CHECK(rte_mempool_avail_count(large) == POOL, "%u mbufs came home", rte_mempool_avail_count(large));
	return pmd_fini();
}
