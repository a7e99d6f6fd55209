/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * Shared by the receive files: invariants, refill, errors, burst templates.
 *
 * Invariants: WQEs are posted and complete in order, so the CQE at cq_ci belongs to the WQE at rq_ci. elts
 * contains the mbufs of WQEs rq_ci .. rq_pi - 1; other entries are invalid. Delivering or dropping a packet
 * leaves a WQE without buffer, and refill posts these in bulk. A received packet is never dropped because
 * there is no replacement buffer: with an empty mempool the RQ runs out of WQEs, and the device counts the
 * packets that it drops (out_of_buffer).
 */
#ifndef MLXPMD_RX_H
#define MLXPMD_RX_H

#include <string.h>

#include "mlxpmd_burst_cqe.h"
#include "mlxpmd_rxtx.h"
#include "mlxpmd_variant.h"

/** Flow tag, in sop_drop_qpn. */
#define MLXPMD_TAG_MASK PRM_CQE64_SOP_DROP_QPN_FLOW_TAG_MASK
/** Flow tag of packets that no rule marked, when firmware writes one (else 0): all ones. */
#define MLXPMD_TAG_DEFAULT MLXPMD_TAG_MASK
/** Flow tag of action FLAG; that of action MARK is its id + 1. */
#define MLXPMD_TAG_FLAG (MLXPMD_TAG_DEFAULT - 1)
#define MLXPMD_MARK_MAX (MLXPMD_TAG_FLAG - 2)

/** The bursts prefetch this many packets ahead: elts has as many NULLs after its last entry. */
#define MLXPMD_RX_ELTS_AHEAD 8

/** In ol_init of a queue whose packets keep their FCS. No flag of mbufs. */
#define MLXPMD_RX_OL_FCS RTE_BIT64(63)

/** What ol_init has of features that ordinary and striding queues may have. */
static inline uint64_t
mlxpmd_rx_ol_features(const struct mlxpmd_rxq *rxq)
{
	return rxq->meta_flag | (rxq->q.offloads & RTE_ETH_RX_OFFLOAD_KEEP_CRC ? MLXPMD_RX_OL_FCS : 0);
}

#define MLXPMD_BAD_CSUM (RTE_MBUF_F_RX_IP_CKSUM_BAD | RTE_MBUF_F_RX_L4_CKSUM_BAD)

/** Number of WQEs that are not posted. */
static __rte_always_inline uint16_t
mlxpmd_rx_holes(const struct mlxpmd_rxq *rxq)
{
	return rxq->q.wqe_mask + 1 - (uint16_t)(rxq->q.pi - rxq->q.ci);
}

/**
 * Posts as many WQEs as the mempool has mbufs for and writes the doorbell record. Counts each missing mbuf
 * once (rx_nombuf), not at every attempt.
 */
void mlxpmd_rx_refill(struct mlxpmd_rxq *rxq);

/** Gets at most k mbufs: halves the request until the mempool can serve it, so that its last mbufs are used. */
static inline uint16_t
mlxpmd_rx_mbufs_some(const struct mlxpmd_rxq *rxq, struct rte_mbuf **elt, uint16_t k)
{
	while (k != 0 && rte_mempool_get_bulk(rxq->mp, (void **)elt, k) != 0)
		k /= 2;
	return k;
}

/** Finds the lkey of an address. false: no registered range contains it. */
bool mlxpmd_mr_lkey(const struct mdv_mr_set *mr, uintptr_t addr, uint32_t *lkey_be);

/** The i-th data segment of the ring. */
static __rte_always_inline struct mlx5_wqe_data_seg *
mlxpmd_rx_dseg(const struct mlxpmd_rxq *rxq, uint32_t i)
{
	return (struct mlx5_wqe_data_seg *)rxq->q.wqes + i;
}

/**
 * Handles the CQE at cq_ci, which the fast path did not process. Frees the mbufs of dropped packets.
 * @return true if the burst can continue: the CQE was consumed, or is an ordinary packet after all, or one now.
 */
bool mlxpmd_rx_exception(struct mlxpmd_rxq *rxq);
/** Counts a completion that is not a packet; of an error completion by its syndrome, which the queue remembers. */
void mlxpmd_rx_refused(struct mlxpmd_rxq *rxq, const struct mlx5_cqe64 *cqe);
/** The queue needs a repair. The burst may still deliver packets; mlxpmd_rx_not_ready() at its end quiesces it. */
void mlxpmd_rx_fail(struct mlxpmd_rxq *rxq, enum mlxpmd_qcause cause);

/**
 * Ends a burst on a queue that is not READY: quiesces it if it failed or the control plane requested it.
 * @return 0, the number of packets of such a burst.
 */
uint16_t mlxpmd_rx_not_ready(struct mlxpmd_rxq *rxq);

/**
 * For mlxpmd_rxq_rewind(): writes WQEs for the mbufs in elts, from WQE 0 on.
 * @return false if a buffer is in memory that is not registered.
 */
bool mlxpmd_rx_repost(struct mlxpmd_rxq *rxq);

/** Returns the mbufs of the WQE at rq_ci to their pool. */
void mlxpmd_rx_wqe_free(struct mlxpmd_rxq *rxq, uint16_t wqe);

/** Updates the headers of a packet if it consists of several TCP segments (LRO), and marks it. */
void mlxpmd_rx_lro(struct mlxpmd_rxq *rxq, struct rte_mbuf *m, const struct mlx5_cqe64 *cqe);

/** Rare properties of a run of packets, tested once per run instead of per packet. */
struct mlxpmd_rx_rare {
	uint32_t flags; /**< ol_flags of all packets, ORed. */
	uint32_t tags_be; /**< sop_drop_qpn of all CQEs, ORed. */
};

/**
 * Second pass over a run with rare properties: FCS, pinned external buffers, LRO, metadata; if marked, bad checksums
 * or flow tags. cqe: the first of the run; NULL: packets of a compressed session, which have only an FCS of these.
 */
void mlxpmd_rx_rare_handle(struct mlxpmd_rxq *rxq, struct rte_mbuf **pkts, uint16_t n, const struct mlx5_cqe64 *cqe,
			   bool marked);

/** Gives a packet the mark of its flow tag. */
static inline void
mlxpmd_rx_mark(struct rte_mbuf *m, uint32_t tag)
{
	if (tag == 0 || tag == MLXPMD_TAG_DEFAULT)
		return;
	m->ol_flags |= RTE_MBUF_F_RX_FDIR;
	if (tag == MLXPMD_TAG_FLAG)
		return;
	m->hash.fdir.hi = tag - 1;
	m->ol_flags |= RTE_MBUF_F_RX_FDIR_ID;
}

/** Counts the bad checksums of a packet. */
static inline void
mlxpmd_rx_count_csum(struct mlxpmd_rxq *rxq, const struct rte_mbuf *m)
{
	MLXPMD_SHARED_ADD(rxq->q.stats.l3_csum_bad, (m->ol_flags & RTE_MBUF_F_RX_IP_CKSUM_BAD) != 0);
	MLXPMD_SHARED_ADD(rxq->q.stats.l4_csum_bad, (m->ol_flags & RTE_MBUF_F_RX_L4_CKSUM_BAD) != 0);
}

/** Features of the burst templates. At most one kind of timestamp: TS (line), TICKS (raw), PACKED (real time). */
#define MLXPMD_RX_F_SCATTER 1u
#define MLXPMD_RX_F_TS 2u
#define MLXPMD_RX_F_HASH 4u
#define MLXPMD_RX_F_TICKS 8u
#define MLXPMD_RX_F_PACKED 10u
#define MLXPMD_RX_F_STAMP 10u /**< Mask of the kind of timestamp. */
#define MLXPMD_RX_F_COMP 16u	/**< Completions are compressed, and have no timestamps. */
#define MLXPMD_RX_F_STRIDING 32u /**< Striding queues. Without SCATTER: the bursts chain mbufs if the offload is on. */
#define MLXPMD_RX_TEMPLATES 64

/**
 * Bits of a tail that have the pass of the ring. Without compression it is the owner bit in all queues; a burst with
 * scatter serves compressed completions, too.
 */
static __rte_always_inline uint32_t
mlxpmd_rx_validity(const struct mlxpmd_rxq *rxq, const unsigned int f)
{
	return (f & (MLXPMD_RX_F_COMP | MLXPMD_RX_F_SCATTER)) ? rxq->q.validity : MLXPMD_TAIL_OWNER;
}

/** Has the device not written the CQE of consumer index ci yet? */
static __rte_always_inline bool
mlxpmd_rx_absent(const struct mlxpmd_rxq *rxq, uint32_t ci, const unsigned int f)
{
	return mlxpmd_cqe_absent(mlxpmd_cqe_tail(&rxq->q.cqes[ci & rxq->q.cqe_mask]), ci >> rxq->q.log_cqes,
				 mlxpmd_rx_validity(rxq, f));
}

/**
 * Expected tail of the next CQE: pass of the ring, responder opcode, and the counter, which is that of the next WQE, or
 * stride.
 */
static __rte_always_inline uint32_t
mlxpmd_rx_tail_expected(const struct mlxpmd_rxq *rxq, uint32_t counter, const unsigned int f)
{
	return counter << MLXPMD_TAIL_COUNTER_SHIFT |
	       (uint32_t)MLX5_CQE_RESP_SEND << MLXPMD_TAIL_OPCODE_SHIFT |
	       mlxpmd_cqe_pass(rxq->q.cq_ci >> rxq->q.log_cqes, mlxpmd_rx_validity(rxq, f));
}

/** New rings: there is no title, and entries have no owner bits. */
static inline void
mlxpmd_rx_comp_reset(struct mlxpmd_rxq *rxq)
{
	rxq->owned_ci = 0;
	rxq->title_ci = 0;
	rxq->title.op_own = MLX5_CQE_INVALID << MLXPMD_TAIL_OPCODE_SHIFT;
}

/** Part of arming: memory for what the bursts note of compressed CQEs. 0 or -ENOMEM; logged. */
int mlxpmd_rx_comp_arm(struct mlxpmd_rxq *rxq);
void mlxpmd_rx_comp_disarm(struct mlxpmd_rxq *rxq);

/**
 * Enhanced layout: keeps the CQE before the consumer index as title of blocks that follow, unless that was a block:
 * then its title remains. For a block at the consumer index; and before the device may overwrite the CQE.
 */
static __rte_always_inline const struct mlx5_cqe64 *
mlxpmd_rx_title_keep(struct mlxpmd_rxq *rxq)
{
	if (rxq->title_ci != rxq->q.cq_ci) {
		memcpy(&rxq->title, &rxq->q.cqes[(rxq->q.cq_ci - 1) & rxq->q.cqe_mask], sizeof(rxq->title));
		rxq->title_ci = rxq->q.cq_ci;
	}
	return &rxq->title;
}

/** Compressed completions: keeps what later bursts need of consumed CQEs, before the device may overwrite them. */
static __rte_always_inline void
mlxpmd_rx_comp_keep(struct mlxpmd_rxq *rxq, const unsigned int f)
{
	if (mlxpmd_rx_validity(rxq, f) != MLXPMD_TAIL_OWNER)
		(void)mlxpmd_rx_title_keep(rxq);
	/* The distance, which is counted without sessions, must not wrap around. */
	else if ((f & MLXPMD_RX_F_COMP) && unlikely(rxq->q.cq_ci - rxq->owned_ci > rxq->q.cqe_mask))
		rxq->owned_ci = rxq->q.cq_ci - rxq->q.cqe_mask - 1;
}

/** Consumes the CQEs of n packets, which begin at `first`, and counts the packets. */
static __rte_always_inline void
mlxpmd_rx_account_cqes(struct mlxpmd_rxq *rxq, struct rte_mbuf **pkts, uint16_t n, uint64_t bytes,
		       const struct mlxpmd_rx_rare *rare, const struct mlx5_cqe64 *first)
{
	const bool marked = (rare->flags & MLXPMD_BAD_CSUM) || (rare->tags_be & RTE_BE32(MLXPMD_TAG_MASK));

	MLXPMD_SHARED_ADD(rxq->q.stats.bytes, bytes);
	MLXPMD_SHARED_ADD(rxq->q.cq_ci, n);
	if (unlikely(marked || rxq->ol_init != 0))
		mlxpmd_rx_rare_handle(rxq, pkts, n, first, marked);
}

/** The same for packets with a WQE each. */
static __rte_always_inline void
mlxpmd_rx_account(struct mlxpmd_rxq *rxq, struct rte_mbuf **pkts, uint16_t n, uint64_t bytes,
		  const struct mlxpmd_rx_rare *rare, const struct mlx5_cqe64 *first)
{
	rxq->q.ci += n;
	mlxpmd_rx_account_cqes(rxq, pkts, n, bytes, rare, first);
}

/** Scalar templates, by feature set. */
extern const struct mlxpmd_template mlxpmd_rx_templates[MLXPMD_RX_TEMPLATES];

#endif /* MLXPMD_RX_H */
