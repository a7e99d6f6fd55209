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

/* The offload that a packet to be segmented needs; 0: a kind of tunnel that no queue knows. */
static uint64_t
tso_offload(uint64_t ol_flags)
{
	switch (ol_flags & RTE_MBUF_F_TX_TUNNEL_MASK) {
	case 0:
		return RTE_ETH_TX_OFFLOAD_TCP_TSO;
	case RTE_MBUF_F_TX_TUNNEL_VXLAN:
		return RTE_ETH_TX_OFFLOAD_VXLAN_TNL_TSO;
	default:
		return 0;
	}
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
	if ((m->ol_flags & NEVER) || tso_offload(m->ol_flags) == 0 ||
	    (m->ol_flags & RTE_MBUF_F_TX_L4_MASK) == RTE_MBUF_F_TX_SCTP_CKSUM)
		return ENOTSUP;
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
