/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * What the transmit files share: WQE building blocks, completion, the slow path, the templates' names.
 *
 * Invariants. elts has one entry per packet, elts_ci .. elts_pi - 1 are in flight, and each entry is freed
 * once: by the completion that covers it, by the error completion, or by disarm. wqe_info at the index of the
 * first WQEBB of a WQE that asks for a completion says where pi and elts_pi stood after it.
 */
#ifndef MLXPMD_TX_H
#define MLXPMD_TX_H

#include <rte_branch_prediction.h>

#include "mlxpmd_burst_cqe.h"
#include "mlxpmd_rxtx.h"
#include "mlxpmd_timesync.h"

/** Unit of a WQE's length. */
#define MLXPMD_DS_BYTES sizeof(struct mlx5_wqe_data_seg)
/** Units of control and Ethernet segment, and of a WQEBB. */
#define MLXPMD_TITLE_DS 2
#define MLXPMD_WQEBB_DS 4
static_assert(sizeof(struct prm_wqe_ctrl_seg) + sizeof(struct prm_wqe_eth_seg) == MLXPMD_TITLE_DS * MLXPMD_DS_BYTES,
	      "WQE layout");
static_assert(MLX5_SEND_WQE_BB == MLXPMD_WQEBB_DS * MLXPMD_DS_BYTES, "WQE layout");
/** Most header bytes that a device can ask to be inlined: Ethernet with a tag, IPv6, TCP. */
#define MLXPMD_INLINE_MAX (18 + 40 + 20)

/** ol_flags that one title can differ by. */
#define MLXPMD_TX_TITLE_FLAGS (RTE_MBUF_F_TX_L4_MASK | RTE_MBUF_F_TX_IP_CKSUM | RTE_MBUF_F_TX_VLAN)

/** Two big-endian dwords that stand side by side, first the one at the lower address. */
static __rte_always_inline uint64_t
mlxpmd_be32_pair(uint32_t first_be, uint32_t second_be)
{
#if RTE_BYTE_ORDER == RTE_LITTLE_ENDIAN
	return first_be | (uint64_t)second_be << 32;
#else
	return (uint64_t)first_be << 32 | second_be;
#endif
}

/** First half of the control segment, also what the doorbell register takes. */
static __rte_always_inline uint64_t
mlxpmd_tx_ctrl(const struct mlxpmd_txq *txq, uint16_t pi, uint8_t opcode, uint32_t ds)
{
	return mlxpmd_be32_pair(rte_cpu_to_be_32((uint32_t)pi << PRM_WQE_CTRL_SEG_OPMOD_IDX_OPCODE_WQE_INDEX_SHIFT |
						 opcode),
				rte_cpu_to_be_32(txq->sqn << PRM_WQE_CTRL_SEG_QPN_DS_QPN_SHIFT | ds));
}

/**
 * cs_flags of the Ethernet segment. The device computes whole checksums, pseudo-header included, over
 * whatever the packet's checksum fields hold. SCTP is not offered and asks for nothing.
 */
static __rte_always_inline uint32_t
mlxpmd_tx_cs_flags(uint64_t ol_flags)
{
	/* A byte per value of {IP_CKSUM, L4_MASK}; the three bits stand together. */
	const uint64_t l3 = MLX5_ETH_WQE_L3_CSUM, l4 = MLX5_ETH_WQE_L4_CSUM;
	const uint64_t by_request = l4 << 8 | l4 << 24 | l3 << 32 | (l3 | l4) << 40 | l3 << 48 |
				    (l3 | l4) << 56;

	static_assert(RTE_MBUF_F_TX_TCP_CKSUM == RTE_BIT64(52), "mbuf flags");
	static_assert(RTE_MBUF_F_TX_SCTP_CKSUM == RTE_BIT64(53), "mbuf flags");
	static_assert(RTE_MBUF_F_TX_IP_CKSUM == RTE_BIT64(54), "mbuf flags");
	return (by_request >> ((ol_flags >> 52 & 7) * 8)) & 0xff;
}

/** First half of the Ethernet segment. */
static __rte_always_inline uint64_t
mlxpmd_tx_eth_first(uint32_t cs_flags)
{
	return mlxpmd_be32_pair(0, rte_cpu_to_be_32(cs_flags << 24));
}

/** Second half: VLAN tag for the device to insert. */
static __rte_always_inline uint64_t
mlxpmd_tx_eth_vlan(const struct rte_mbuf *m)
{
	return mlxpmd_be32_pair(0, rte_cpu_to_be_32((uint32_t)PRM_WQE_VLAN_INSERT << 16 | m->vlan_tci));
}

static __rte_always_inline void *
mlxpmd_tx_wqebb(const struct mlxpmd_txq *txq, uint16_t pi)
{
	return txq->wqes + (size_t)(pi & txq->wqe_mask) * MLX5_SEND_WQE_BB;
}

static __rte_always_inline uint16_t
mlxpmd_tx_room(const struct mlxpmd_txq *txq)
{
	return txq->wqe_mask + 1 - (uint16_t)(txq->pi - txq->ci);
}

/** Is the address in the range used last? */
static __rte_always_inline bool
mlxpmd_tx_mr_hit(const struct mlxpmd_txq *txq, uintptr_t addr)
{
	return addr - txq->mr_last.start < txq->mr_last.end - txq->mr_last.start;
}

/** Makes the WQE at `wqe`, the last that is written, ask for a completion that covers all so far. */
static __rte_always_inline void
mlxpmd_tx_ask(struct mlxpmd_txq *txq, uint16_t wqe)
{
	struct mlx5_wqe_ctrl_seg *ctrl = mlxpmd_tx_wqebb(txq, wqe);
	struct mlxpmd_txq_wqe *info = &txq->wqe_info[wqe & txq->wqe_mask];

	ctrl->fm_ce_se = MLX5_WQE_CTRL_CQ_UPDATE;
	info->wqebb_end = txq->pi;
	info->elts_end = txq->elts_pi;
	txq->elts_comp = txq->elts_pi;
	txq->wqebb_comp = txq->pi;
}

/**
 * Accounts for a WQE that is written: its packets are in elts already. Asks for a completion when enough
 * packets (or, of long WQEs, WQEBBs) went without.
 */
static __rte_always_inline void
mlxpmd_tx_post(struct mlxpmd_txq *txq, uint32_t ds, uint16_t packets, bool long_wqes)
{
	const uint16_t wqe = txq->pi;

	txq->last = wqe;
	txq->pi += (ds + MLXPMD_WQEBB_DS - 1) / MLXPMD_WQEBB_DS;
	txq->elts_pi += packets;
	if ((uint16_t)(txq->elts_pi - txq->elts_comp) >= txq->rs_thresh ||
	    (long_wqes && (uint16_t)(txq->pi - txq->wqebb_comp) > txq->wqe_mask / 4))
		mlxpmd_tx_ask(txq, wqe);
}

/** One doorbell for all that was posted. */
static __rte_always_inline void
mlxpmd_tx_doorbell(struct mlxpmd_txq *txq)
{
	const uint64_t db = *(const mlxpmd_u64 *)mlxpmd_tx_wqebb(txq, txq->last);

	/* WQEs before the record, */
	rte_io_wmb();
	*txq->sq_dbrec = rte_cpu_to_be_32(txq->pi);
	/* and the record before the register: the device reads both in answer to the register. */
	rte_wmb();
	*txq->db_reg = db;
	if (unlikely(txq->db_wc))
		rte_wmb();
	txq->stats.doorbells++;
}

/** Results of building one WQE, when it is not the number of packets taken. */
#define MLXPMD_TX_NO_ROOM 0
#define MLXPMD_TX_REFUSED (-1)

/**
 * Makes mr_last hold addr, which is in m's buffer: known ranges, then m's mempool.
 * @return false when the device cannot be told of that memory.
 */
bool mlxpmd_tx_mr_lookup(struct mlxpmd_txq *txq, const struct rte_mbuf *m, uintptr_t addr);

/**
 * One SEND WQE of any shape: many segments, inline header, VLAN tag, across the ring's end.
 * @return 1, MLXPMD_TX_NO_ROOM, MLXPMD_TX_REFUSED.
 */
int mlxpmd_tx_send_any(struct mlxpmd_txq *txq, struct rte_mbuf *m);

/**
 * A packet with the flag of a send time (after a WAIT WQE), or of a stamp (its WQE asks for a completion).
 * As mlxpmd_tx_send_any(), and the ring is as before when the packet was not taken.
 */
int mlxpmd_tx_send_timed(struct mlxpmd_txq *txq, struct rte_mbuf *m);

/**
 * The device timestamp to wait for: the first whose value is not before `value`, exactly; s is used by LINE clocks.
 * @return false when there is none.
 */
bool mlxpmd_tx_time_stamp(const struct mlxpmd_clock *clock, const struct mlxpmd_clock_snap *s, uint64_t value,
			  uint64_t *stamp);

/** Frees a packet that cannot be sent, and counts it. */
void mlxpmd_tx_drop(struct mlxpmd_txq *txq, struct rte_mbuf *m);

/** Bursts without any room between two repetitions of the doorbell. */
#define MLXPMD_TX_FULLS_PER_DOORBELL 1024

/** Completions looked at per burst: frees come in portions. */
#define MLXPMD_TX_REAP_MAX 4
/** Frees packets up to elts_end: any mbufs; or all unshared and from one mempool. */
void mlxpmd_tx_free_any(struct mlxpmd_txq *txq, uint16_t elts_end);
void mlxpmd_tx_free_fast(struct mlxpmd_txq *txq, uint16_t elts_end);

/** A completion that is no success: remembers it and lets the queue go. Nothing is freed here. */
void mlxpmd_tx_exception(struct mlxpmd_txq *txq);
/** For mlxpmd_txq_rewind() and disarm: counts the packets that were not sent, and frees all. @return How many. */
uint32_t mlxpmd_tx_settle(struct mlxpmd_txq *txq);
/** As mlxpmd_rx_not_ready(). */
uint16_t mlxpmd_tx_not_ready(struct mlxpmd_txq *txq);
/**
 * A burst found no room for a single packet. Once in a while the doorbell is rung again: had the one that
 * filled the ring been lost, nothing would ever ring another.
 */
void mlxpmd_tx_full(struct mlxpmd_txq *txq);

/** Is this what a WQE in flight that asked for a completion would have left? */
static __rte_always_inline bool
mlxpmd_tx_info_sane(const struct mlxpmd_txq *txq, uint16_t wqe, const struct mlxpmd_txq_wqe *info)
{
	uint16_t in_flight = txq->pi - txq->ci, wqe_end = info->wqebb_end - txq->ci;
	uint16_t elts = txq->elts_pi - txq->elts_ci, elts_end = info->elts_end - txq->elts_ci;

	return (uint16_t)(wqe - txq->ci) < in_flight && wqe_end <= in_flight && elts_end <= elts &&
	       (uint16_t)(info->wqebb_end - wqe - 1) < MLX5_SEND_WQE_BB / MLXPMD_WQEBB_DS;
}

/** The completion of a WQE whose packet wants a stamp? Ownership was seen. */
static __rte_always_inline void
mlxpmd_tx_stamp(struct mlxpmd_txq *txq, uint16_t wqe)
{
	if (likely(!txq->stamp_due || wqe != txq->stamp_wqe))
		return;
	/* Ownership before contents. */
	rte_io_rmb();
	mlxpmd_timesync_tx_done(txq, rte_be_to_cpu_64(txq->cqes[txq->cq_ci & txq->cqe_mask].timestamp));
}

/**
 * Takes up to max completions. fast: every mbuf of the queue is unshared and from one mempool; timed: some packets
 * may want a stamp.
 */
static __rte_always_inline void
mlxpmd_tx_reap(struct mlxpmd_txq *txq, unsigned int max, const bool fast, const bool timed)
{
	const uint32_t cq_ci = txq->cq_ci;

	while (max-- != 0) {
		const uint32_t owner = (txq->cq_ci >> txq->log_cqes) & 1;
		const uint64_t tail = mlxpmd_cqe_tail(&txq->cqes[txq->cq_ci & txq->cqe_mask]);
		const uint16_t wqe = (uint32_t)tail >> MLXPMD_TAIL_COUNTER_SHIFT;
		const struct mlxpmd_txq_wqe *info = &txq->wqe_info[wqe & txq->wqe_mask];

		if (mlxpmd_cqe_absent(tail, owner))
			break;
		if (unlikely(mlxpmd_cqe_opcode(tail) != MLX5_CQE_REQ ||
			     !mlxpmd_tx_info_sane(txq, wqe, info))) {
			mlxpmd_tx_exception(txq);
			return;
		}
		if (timed)
			mlxpmd_tx_stamp(txq, wqe);
		txq->ci = info->wqebb_end;
		if (fast)
			mlxpmd_tx_free_fast(txq, info->elts_end);
		else
			mlxpmd_tx_free_any(txq, info->elts_end);
		txq->cq_ci++;
	}
	if (txq->cq_ci != cq_ci) {
		txq->stats.completions += txq->cq_ci - cq_ci;
		mlxpmd_dbrec_write(txq->cq_dbrec, txq->cq_ci);
	}
}

/** Feature sets of the burst templates. */
#define MLXPMD_TX_F_MPW 1u	/**< Multi-packet WQEs where packets allow. */
#define MLXPMD_TX_F_OFFLOAD 2u	/**< Checksums and VLAN insertion. */
#define MLXPMD_TX_F_MULTI 4u	/**< Packets of several segments. */
#define MLXPMD_TX_F_FAST_FREE 8u
#define MLXPMD_TX_F_INLINE 16u	/**< Every WQE carries headers; implies OFFLOAD and MULTI. */
#define MLXPMD_TX_F_TIMED 32u	/**< Send times and stamps; implies OFFLOAD and MULTI. */
#define MLXPMD_TX_TEMPLATES 49
struct mlxpmd_tx_template {
	uint16_t (*burst)(void *txq, struct rte_mbuf **pkts, uint16_t n);
	const char *name;
};
/** By feature set; NULL where a set is covered by another. */
extern const struct mlxpmd_tx_template mlxpmd_tx_templates[MLXPMD_TX_TEMPLATES];

#endif /* MLXPMD_TX_H */
