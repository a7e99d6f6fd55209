/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* What packets to be segmented must satisfy, and the check of it for applications. */

#include <ethdev_driver.h>
#include <rte_errno.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_tcp.h>

#include "mlxpmd_tx.h"

/* ol_flags that request what no queue does. */
#define NEVER (RTE_MBUF_F_TX_UDP_SEG | RTE_MBUF_F_TX_OUTER_UDP_CKSUM | RTE_MBUF_F_TX_QINQ | RTE_MBUF_F_TX_MACSEC | \
	       RTE_MBUF_F_TX_SEC_OFFLOAD)

/* swp_flags (Linux, include/linux/mlx5/qp.h, MLX5_ETH_WQE_SWP_*). */
enum { SWP_INNER_L3_IPV6 = 0x1, SWP_INNER_L4_UDP = 0x2, SWP_OUTER_L3_IPV6 = 0x10, SWP_OUTER_L4_UDP = 0x20 };

uint16_t
mlxpmd_tx_tunnels_found(const struct mdv_caps *caps)
{
	return (caps->tunnel_vxlan ? mlxpmd_tx_tunnel(RTE_MBUF_F_TX_TUNNEL_VXLAN) : 0) |
	       (caps->tunnel_gre ? mlxpmd_tx_tunnel(RTE_MBUF_F_TX_TUNNEL_GRE) : 0) |
	       (caps->tunnel_geneve ? mlxpmd_tx_tunnel(RTE_MBUF_F_TX_TUNNEL_GENEVE) : 0) |
	       (caps->tunnel_ipip ? mlxpmd_tx_tunnel(RTE_MBUF_F_TX_TUNNEL_IPIP) : 0);
}

uint16_t
mlxpmd_tx_tunnels_swp(const struct mdv_caps *caps)
{
	const uint16_t tunnels = mlxpmd_tx_tunnel(RTE_MBUF_F_TX_TUNNEL_GENEVE) |
				 mlxpmd_tx_tunnel(RTE_MBUF_F_TX_TUNNEL_IPIP) |
				 mlxpmd_tx_tunnel(RTE_MBUF_F_TX_TUNNEL_IP) |
				 mlxpmd_tx_tunnel(RTE_MBUF_F_TX_TUNNEL_UDP);

	return caps->swp_csum ? tunnels & ~mlxpmd_tx_tunnels_found(caps) : 0;
}

/* Offsets have 8 bits and are in units of 2 bytes. */
static bool
swp_fits(uint32_t at)
{
	return at % 2 == 0 && at / 2 <= UINT8_MAX;
}

uint32_t
mlxpmd_tx_swp(const struct rte_mbuf *m, uint8_t *flags)
{
	const uint64_t ol_flags = m->ol_flags, tunnel = ol_flags & RTE_MBUF_F_TX_TUNNEL_MASK;
	const bool udp = tunnel == RTE_MBUF_F_TX_TUNNEL_UDP || tunnel == RTE_MBUF_F_TX_TUNNEL_GENEVE;
	const bool inner_ip = (ol_flags & (RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IPV6)) != 0;
	const bool inner_l4 = (ol_flags & (RTE_MBUF_F_TX_L4_MASK | RTE_MBUF_F_TX_TCP_SEG)) != 0;
	const uint32_t tag = (ol_flags & RTE_MBUF_F_TX_VLAN) ? sizeof(struct rte_vlan_hdr) : 0;
	const uint32_t l3 = tag + m->outer_l2_len;
	const uint32_t l4 = l3 + m->outer_l3_len, in_l3 = l4 + m->l2_len, in_l4 = in_l3 + m->l3_len;

	*flags = ((ol_flags & RTE_MBUF_F_TX_OUTER_IPV6) ? SWP_OUTER_L3_IPV6 : 0) |
		 (udp ? SWP_OUTER_L4_UDP : 0) |
		 ((ol_flags & RTE_MBUF_F_TX_IPV6) ? SWP_INNER_L3_IPV6 : 0) |
		 ((ol_flags & RTE_MBUF_F_TX_L4_MASK) == RTE_MBUF_F_TX_UDP_CKSUM ?
		  SWP_INNER_L4_UDP : 0);
	if (m->outer_l2_len < RTE_ETHER_HDR_LEN || in_l4 > tag + m->pkt_len || !swp_fits(l3) || !swp_fits(l4) ||
	    !swp_fits(in_l3) || !swp_fits(in_l4))
		return 0;
	return (udp ? l4 / 2 << 24 : 0) | l3 / 2 << 16 | (inner_ip && inner_l4 ? in_l4 / 2 << 8 : 0) |
	       (inner_ip ? in_l3 / 2 : 0);
}

/* The offload that a packet to be segmented needs; 0: a kind of tunnel that no queue knows. */
static uint64_t
tso_offload(uint64_t ol_flags)
{
	static const struct {
		uint64_t tunnel, offload;
	} kinds[] = {
		{ 0, RTE_ETH_TX_OFFLOAD_TCP_TSO },
		{ RTE_MBUF_F_TX_TUNNEL_VXLAN, RTE_ETH_TX_OFFLOAD_VXLAN_TNL_TSO },
		{ RTE_MBUF_F_TX_TUNNEL_GRE, RTE_ETH_TX_OFFLOAD_GRE_TNL_TSO },
		{ RTE_MBUF_F_TX_TUNNEL_GENEVE, RTE_ETH_TX_OFFLOAD_GENEVE_TNL_TSO },
		{ RTE_MBUF_F_TX_TUNNEL_IPIP, RTE_ETH_TX_OFFLOAD_IPIP_TNL_TSO },
		{ RTE_MBUF_F_TX_TUNNEL_IP, RTE_ETH_TX_OFFLOAD_IP_TNL_TSO },
		{ RTE_MBUF_F_TX_TUNNEL_UDP, RTE_ETH_TX_OFFLOAD_UDP_TNL_TSO },
	};
	unsigned int i;

	for (i = 0; i < RTE_DIM(kinds); i++)
		if ((ol_flags & RTE_MBUF_F_TX_TUNNEL_MASK) == kinds[i].tunnel)
			return kinds[i].offload;
	return 0;
}

/* 0 or the errno of a packet in a tunnel. */
static int
tunnel_check(const struct mlxpmd_txq *txq, const struct rte_mbuf *m)
{
	const uint16_t tunnel = mlxpmd_tx_tunnel(m->ol_flags);
	uint8_t flags;

	if (!(tunnel & (txq->swp_tunnels | mlxpmd_tx_tunnels_found(&txq->mdv->caps))))
		return ENOTSUP;
	return (tunnel & txq->swp_tunnels) && mlxpmd_tx_cs_flags_tso(m->ol_flags) != 0 &&
	       mlxpmd_tx_swp(m, &flags) == 0 ? EINVAL : 0;
}

static bool
lengths_sane(const struct rte_mbuf *m)
{
	const bool tunnel = (m->ol_flags & RTE_MBUF_F_TX_TUNNEL_MASK) != 0;
	const uint32_t l2 = tunnel ? m->outer_l2_len : m->l2_len;

	return m->tso_segsz != 0 && l2 >= RTE_ETHER_HDR_LEN && m->l3_len >= sizeof(struct rte_ipv4_hdr) &&
	       m->l4_len >= sizeof(struct rte_tcp_hdr) &&
	       (!tunnel || m->outer_l3_len >= sizeof(struct rte_ipv4_hdr)) && mlxpmd_tso_header(m) <= m->pkt_len;
}

int
mlxpmd_tso_check(const struct mlxpmd_txq *txq, const struct rte_mbuf *m)
{
	const uint32_t header = mlxpmd_tso_header(m);

	if (!(txq->q.offloads & tso_offload(m->ol_flags)))
		return -ENOTSUP;
	if (!lengths_sane(m))
		return -EINVAL;
	return header > MLXPMD_TSO_HEADER_MAX || m->tso_segsz > PRM_WQE_ETH_SEG_MSS_MSS_MASK ||
	       m->pkt_len - header > txq->max_lso ? -ENOTSUP : 0;
}

/* 0 or the errno of a packet that a burst would drop, or send otherwise than requested. */
static int
prepare_check(const struct mlxpmd_txq *txq, const struct rte_mbuf *m)
{
	int rc = rte_validate_tx_offload(m);

	if (rc != 0)
		return -rc;
	if (m->nb_segs > mlxpmd_tx_segs_max(&txq->mdv->caps))
		return EINVAL;
	if ((m->ol_flags & NEVER) || (m->ol_flags & RTE_MBUF_F_TX_L4_MASK) == RTE_MBUF_F_TX_SCTP_CKSUM)
		return ENOTSUP;
	if (m->ol_flags & RTE_MBUF_F_TX_TUNNEL_MASK)
		rc = tunnel_check(txq, m);
	if (rc != 0)
		return rc;
	return (m->ol_flags & RTE_MBUF_F_TX_TCP_SEG) ? -mlxpmd_tso_check(txq, m) : 0;
}

uint16_t
mlxpmd_tx_prepare(void *queue, struct rte_mbuf **pkts, uint16_t n)
{
	uint16_t i;
	int rc;

	for (i = 0; i < n; i++) {
		rc = prepare_check(queue, pkts[i]);
		if (rc != 0) {
			rte_errno = rc;
			break;
		}
	}
	return i;
}
