/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Large receive offload: headers of packets that the device made of several TCP segments. */

#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_tcp.h>

#include "mlxpmd.h"
#include "mlxpmd_rx.h"

/* The first mbuf has room for the headers of packets with two tags. */
#define TAGS_MAX 2

/* Adds up the TCP header; the device has the sum of the payload, in the byte order of memory. */
static uint16_t
tcp_cksum(const struct rte_tcp_hdr *tcp, uint32_t bytes, uint16_t pseudo, uint16_t payload)
{
	uint32_t sum = pseudo + payload + rte_raw_cksum(tcp, bytes);

	sum = (sum >> 16) + (sum & 0xffff);
	sum += sum >> 16;
	return (uint16_t)~sum;
}

/*
 * Updates the IP header. Returns the TCP header; NULL: neither IPv4 nor IPv6, or no TCP. pseudo: sum of the pseudo
 * header.
 */
static struct rte_tcp_hdr *
ip_update(uint8_t *packet, uint32_t len, uint8_t ttl, uint16_t *pseudo)
{
	const struct rte_ether_hdr *eth = (const struct rte_ether_hdr *)packet;
	uint8_t *at = packet + sizeof(*eth);
	rte_be16_t type = eth->ether_type;
	struct rte_ipv4_hdr *ipv4;
	struct rte_ipv6_hdr *ipv6;
	unsigned int i;

	for (i = 0; i < TAGS_MAX; i++) {
		if (type != RTE_BE16(RTE_ETHER_TYPE_VLAN) && type != RTE_BE16(RTE_ETHER_TYPE_QINQ))
			break;
		type = ((const struct rte_vlan_hdr *)at)->eth_proto;
		at += sizeof(struct rte_vlan_hdr);
	}
	len -= at - packet;
	if (type == RTE_BE16(RTE_ETHER_TYPE_IPV4)) {
		ipv4 = (struct rte_ipv4_hdr *)at;
		if (ipv4->next_proto_id != IPPROTO_TCP)
			return NULL;
		ipv4->time_to_live = ttl;
		ipv4->total_length = rte_cpu_to_be_16(len);
		ipv4->hdr_checksum = 0;
		ipv4->hdr_checksum = rte_ipv4_cksum(ipv4);
		*pseudo = rte_ipv4_phdr_cksum(ipv4, 0);
		return (struct rte_tcp_hdr *)(ipv4 + 1);
	}
	ipv6 = (struct rte_ipv6_hdr *)at;
	if (type != RTE_BE16(RTE_ETHER_TYPE_IPV6) || ipv6->proto != IPPROTO_TCP)
		return NULL;
	ipv6->hop_limits = ttl;
	ipv6->payload_len = rte_cpu_to_be_16(len - sizeof(*ipv6));
	*pseudo = rte_ipv6_phdr_cksum(ipv6, 0);
	return (struct rte_tcp_hdr *)(ipv6 + 1);
}

void
mlxpmd_rx_lro(struct mlxpmd_rxq *rxq, struct rte_mbuf *m, const struct mlx5_cqe64 *mlx5_cqe)
{
	const struct prm_cqe64 *cqe = (const struct prm_cqe64 *)mlx5_cqe;
	const uint32_t segs = rte_be_to_cpu_32(cqe->srqn_uidx) >> PRM_CQE64_SRQN_UIDX_LRO_NUM_SEG_SHIFT;
	const uint8_t l4 = (cqe->l4_hdr_type_etc & PRM_CQE64_L4_HDR_TYPE_ETC_L4_HDR_TYPE_MASK) >>
			   PRM_CQE64_L4_HDR_TYPE_ETC_L4_HDR_TYPE_SHIFT;
	uint8_t *packet = rte_pktmbuf_mtod(m, uint8_t *);
	struct rte_tcp_hdr *tcp;
	uint32_t bytes, payload;
	uint16_t pseudo;

	if (segs < 2)
		return;
	tcp = ip_update(packet, m->pkt_len, cqe->lro_min_ttl, &pseudo);
	if (tcp == NULL)
		return;
	if (l4 == PRM_CQE_L4_HDR_TYPE_TCP_ACK || l4 == PRM_CQE_L4_HDR_TYPE_TCP_EMPTY_ACK) {
		tcp->tcp_flags |= RTE_TCP_ACK_FLAG;
		tcp->recv_ack = cqe->lro_ack_seq_num;
		tcp->rx_win = cqe->lro_tcp_win;
	}
	if (cqe->lro_tcppsh_abort_dupack & PRM_CQE64_LRO_TCPPSH_ABORT_DUPACK_TCPPSH_MASK)
		tcp->tcp_flags |= RTE_TCP_PSH_FLAG;
	bytes = (tcp->data_off >> 4) * 4u;
	tcp->cksum = 0;
	tcp->cksum = tcp_cksum(tcp, bytes, pseudo, cqe->checksum);
	payload = m->pkt_len - ((uint8_t *)tcp - packet) - bytes;
	m->tso_segsz = (payload + segs - 1) / segs;
	m->ol_flags |= RTE_MBUF_F_RX_LRO;
	MLXPMD_SHARED_ADD(rxq->striding.lro_packets, 1);
	MLXPMD_SHARED_ADD(rxq->striding.lro_segments, segs);
	MLXPMD_SHARED_ADD(rxq->q.stats.merged, segs - 1);
}
