/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * What the receive files share: CQE access, refill, the slow path, the templates' names.
 *
 * Invariants. WQEs are posted in order and complete in order, so the CQE at cq_ci belongs to the WQE
 * at rq_ci. elts holds mbufs for WQEs rq_ci .. rq_pi - 1 and nothing of value elsewhere: a delivered or
 * dropped packet leaves a hole, and refill fills holes in bulk. So no packet that the device delivered
 * is ever given up for want of a replacement buffer: with an empty mempool the ring runs dry and the
 * device counts the loss.
 */
#ifndef MLXPMD_RX_H
#define MLXPMD_RX_H

#include "mlxpmd_burst_cqe.h"
#include "mlxpmd_rxtx.h"

/*
 * Ethernet fields of a responder CQE (PRM, Completion Queue Entry) where mlx5dv.h's struct has names for
 * other transports; byte offsets.
 */
#define MLXPMD_CQE_PKT_INFO 0x00
#define MLXPMD_CQE_RX_HASH_RES 0x0c
#define MLXPMD_CQE_RX_HASH_TYPE 0x10
#define MLXPMD_CQE_HDS_IP_EXT 0x1c
#define MLXPMD_CQE_L4_HDR_TYPE_ETC 0x1d
#define MLXPMD_CQE_VLAN_INFO 0x1e
#define MLXPMD_CQE_BYTE_CNT 0x2c
#define MLXPMD_CQE_TIMESTAMP 0x30

static_assert(offsetof(struct mlx5_cqe64, hds_ip_ext) == MLXPMD_CQE_HDS_IP_EXT, "CQE layout");
static_assert(offsetof(struct mlx5_cqe64, vlan_info) == MLXPMD_CQE_VLAN_INFO, "CQE layout");
static_assert(offsetof(struct mlx5_cqe64, byte_cnt) == MLXPMD_CQE_BYTE_CNT, "CQE layout");
static_assert(offsetof(struct mlx5_cqe64, timestamp) == MLXPMD_CQE_TIMESTAMP, "CQE layout");

/** Flow tag, in sop_drop_qpn. */
#define MLXPMD_TAG_MASK 0xffffffu
/** Flow tag of packets that no rule marked, when firmware writes one (else 0). */
#define MLXPMD_TAG_DEFAULT 0xffffffu

/** The burst prefetches this many packets ahead, so elts goes on for as many NULLs after the ring. */
#define MLXPMD_RX_ELTS_AHEAD 4

/** WQEs without buffers: what refill can post. */
static __rte_always_inline uint16_t
mlxpmd_rx_holes(const struct mlxpmd_rxq *rxq)
{
	return rxq->wqe_mask + 1 - (uint16_t)(rxq->rq_pi - rxq->rq_ci);
}

/**
 * Posts as many WQEs as the mempool has mbufs for and writes the doorbell record. What is missing is
 * counted once, however often it is asked for.
 */
void mlxpmd_rx_refill(struct mlxpmd_rxq *rxq);

/**
 * Looks at the CQE at cq_ci that the fast path did not take. Refused packets give their mbufs back.
 * @return true when the CQE was consumed, or turned out to be an ordinary packet, and one may look again.
 */
bool mlxpmd_rx_exception(struct mlxpmd_rxq *rxq);

/**
 * End of a call on a queue that is not READY: a failed one, or one that the service asked for, is let go.
 * @return 0, what a burst gives of such a queue.
 */
uint16_t mlxpmd_rx_not_ready(struct mlxpmd_rxq *rxq);

/**
 * For mlxpmd_rxq_rewind(): writes the WQEs for the mbufs that elts holds, of WQE 0 on.
 * @return false when one lies in memory that the device does not know.
 */
bool mlxpmd_rx_repost(struct mlxpmd_rxq *rxq);

/** Returns the mbufs of the WQE at rq_ci to their pool. */
void mlxpmd_rx_wqe_free(struct mlxpmd_rxq *rxq, uint16_t wqe);

/** Feature sets of the burst templates. */
#define MLXPMD_RX_F_SCATTER 1u
#define MLXPMD_RX_F_TS 2u
#define MLXPMD_RX_F_HASH 4u
#define MLXPMD_RX_TEMPLATES 8
struct mlxpmd_rx_template {
	uint16_t (*burst)(void *rxq, struct rte_mbuf **pkts, uint16_t n);
	const char *name;
};
/** By feature set. */
extern const struct mlxpmd_rx_template mlxpmd_rx_templates[MLXPMD_RX_TEMPLATES];

#endif /* MLXPMD_RX_H */
