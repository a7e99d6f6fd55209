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

/** Flow tag, in sop_drop_qpn. */
#define MLXPMD_TAG_MASK PRM_CQE64_SOP_DROP_QPN_FLOW_TAG_MASK
/** Flow tag of packets that no rule marked, when firmware writes one (else 0): all ones. */
#define MLXPMD_TAG_DEFAULT MLXPMD_TAG_MASK

/** The burst prefetches this many packets ahead, so elts goes on for as many NULLs after the ring. */
#define MLXPMD_RX_ELTS_AHEAD 8

#define MLXPMD_BAD_CSUM (RTE_MBUF_F_RX_IP_CKSUM_BAD | RTE_MBUF_F_RX_L4_CKSUM_BAD)

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

/** What a run of packets has in it that is rare: looked for once per run, not per packet. */
struct mlxpmd_rx_rare {
	uint32_t flags; /**< All ol_flags of the table together. */
	uint32_t tags_be; /**< All sop_drop_qpn words together. */
};

/** A second look at a run in which something rare was seen: bad checksums, flow tags, pinned buffers. */
void mlxpmd_rx_second_look(struct mlxpmd_rxq *rxq, struct rte_mbuf **pkts, uint16_t n,
			   const struct mlx5_cqe64 *cqe);

/** What the next CQE's tail has to be: this lap's owner, a plain responder CQE, the WQE that is next. */
static __rte_always_inline uint32_t
mlxpmd_rx_tail_wanted(const struct mlxpmd_rxq *rxq)
{
	return (uint32_t)rxq->rq_ci << MLXPMD_TAIL_COUNTER_SHIFT |
	       (uint32_t)MLX5_CQE_RESP_SEND << MLXPMD_TAIL_OPCODE_SHIFT |
	       ((rxq->cq_ci >> rxq->log_cqes) & 1);
}

/** Steps over a run of packets that were taken from the CQEs at `first`. */
static __rte_always_inline void
mlxpmd_rx_account(struct mlxpmd_rxq *rxq, struct rte_mbuf **pkts, uint16_t n, uint64_t bytes,
		  const struct mlxpmd_rx_rare *rare, const struct mlx5_cqe64 *first)
{
	rxq->stats.bytes += bytes;
	rxq->cq_ci += n;
	rxq->rq_ci += n;
	if (unlikely((rare->flags & MLXPMD_BAD_CSUM) || rxq->ol_init != 0 ||
		     (rare->tags_be & RTE_BE32(MLXPMD_TAG_MASK))))
		mlxpmd_rx_second_look(rxq, pkts, n, first);
}

/** Feature sets of the burst templates. One kind of timestamp at most: a line, raw ticks, the device's time. */
#define MLXPMD_RX_F_SCATTER 1u
#define MLXPMD_RX_F_TS 2u
#define MLXPMD_RX_F_HASH 4u
#define MLXPMD_RX_F_TICKS 8u
#define MLXPMD_RX_F_PACKED 10u
#define MLXPMD_RX_F_STAMP 10u /**< Mask of the kind. */
#define MLXPMD_RX_TEMPLATES 16
struct mlxpmd_rx_template {
	uint16_t (*burst)(void *rxq, struct rte_mbuf **pkts, uint16_t n);
	const char *name;
};
/** The scalar ones, by feature set. */
extern const struct mlxpmd_rx_template mlxpmd_rx_templates[MLXPMD_RX_TEMPLATES];

/** The same bursts for an instruction set. */
struct mlxpmd_rx_variant {
	const char *name;
	uint16_t simd_bits;	/**< Register width it uses; 0: none. */
	/** By feature set; burst NULL: this one has no use for it, the next in the list serves. */
	const struct mlxpmd_rx_template *templates;
	bool (*cpu_has)(void);
};
/** Widest first, the scalar one last: ends with name NULL. */
extern const struct mlxpmd_rx_variant mlxpmd_rx_variants[];

/**
 * The template for a feature set: the widest that the CPU has and that EAL's limit allows, or the scalar one.
 * @param scalar Asked for the scalar one.
 * @param why [out] The reason, a constant string.
 */
const struct mlxpmd_rx_template *mlxpmd_rx_choose(unsigned int f, bool scalar, const char **why);

#endif /* MLXPMD_RX_H */
