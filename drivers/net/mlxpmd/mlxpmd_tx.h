/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * Shared by the transmit files: invariants, WQE building blocks, completions, burst templates.
 *
 * Invariants: elts has one entry per packet that the device reads from its buffer; elts_ci .. elts_pi - 1 are in
 * flight. Each entry is freed once: by the completion that covers it, by repair after an error completion, or disarm.
 * A packet that a WQE contains (inline data) is freed in the burst and has no entry. wqe_info, at the index of the
 * first WQEBB of a WQE that requests a completion, has the values of pi and elts_pi after that WQE; of a SEND WQE with
 * an inline header, whether it contains the packet.
 */
#ifndef MLXPMD_TX_H
#define MLXPMD_TX_H

#include <rte_branch_prediction.h>

#include <mdv_barrier.h>

#include "mlxpmd_burst_cqe.h"
#include "mlxpmd_rxtx.h"
#include "mlxpmd_timesync.h"
#include "mlxpmd_variant.h"

/** Unit of a WQE's length. */
#define MLXPMD_DS_BYTES sizeof(struct mlx5_wqe_data_seg)
/** Units of control and Ethernet segment, and of a WQEBB. */
#define MLXPMD_TITLE_DS 2
#define MLXPMD_WQEBB_DS 4
/** Most units that a control segment can count. */
#define MLXPMD_TX_DS_MAX PRM_WQE_CTRL_SEG_QPN_DS_DS_MASK
static_assert(sizeof(struct prm_wqe_ctrl_seg) + sizeof(struct prm_wqe_eth_seg) == MLXPMD_TITLE_DS * MLXPMD_DS_BYTES,
	      "WQE layout");
static_assert(MLX5_SEND_WQE_BB == MLXPMD_WQEBB_DS * MLXPMD_DS_BYTES, "WQE layout");
/** Most header bytes that a device can require inline: Ethernet with VLAN tag, IPv6, TCP. */
#define MLXPMD_INLINE_MAX (18 + 40 + 20)

/** Most header bytes of a packet to be segmented: Ethernet with tag, IPv6, UDP, GENEVE; the same again, TCP. */
#define MLXPMD_TSO_HEADER_MAX (18 + 40 + 8 + 8 + 18 + 40 + 60)
/** 16-byte units of such a header with one more tag; the first 2 bytes are in the Ethernet segment. */
#define MLXPMD_TSO_HEADER_DS ((MLXPMD_TSO_HEADER_MAX + 4 - 2 + 15) / 16)

/** ol_flags that one title can differ by. */
#define MLXPMD_TX_TITLE_FLAGS (RTE_MBUF_F_TX_L4_MASK | RTE_MBUF_F_TX_IP_CKSUM | RTE_MBUF_F_TX_VLAN)
/** Offloads that need the feature MLXPMD_TX_F_TSO: segmentation, and checksums inside tunnels. */
#define MLXPMD_TX_TSO_OFFLOADS (RTE_ETH_TX_OFFLOAD_TCP_TSO | RTE_ETH_TX_OFFLOAD_VXLAN_TNL_TSO | \
				RTE_ETH_TX_OFFLOAD_GRE_TNL_TSO | RTE_ETH_TX_OFFLOAD_GENEVE_TNL_TSO | \
				RTE_ETH_TX_OFFLOAD_IPIP_TNL_TSO | RTE_ETH_TX_OFFLOAD_IP_TNL_TSO | \
				RTE_ETH_TX_OFFLOAD_UDP_TNL_TSO)
#define MLXPMD_TX_TUNNEL_OFFLOADS (MLXPMD_TX_TSO_OFFLOADS | RTE_ETH_TX_OFFLOAD_OUTER_IPV4_CKSUM)
/** ol_flags of packets in tunnels. */
#define MLXPMD_TX_TUNNEL_FLAGS (RTE_MBUF_F_TX_TUNNEL_MASK | RTE_MBUF_F_TX_OUTER_IP_CKSUM)

/** The kind of a packet's tunnel, as a bit; bit 0: none. */
static __rte_always_inline uint16_t
mlxpmd_tx_tunnel(uint64_t ol_flags)
{
	static_assert(RTE_MBUF_F_TX_TUNNEL_VXLAN == RTE_BIT64(45), "mbuf flags");
	static_assert(RTE_MBUF_F_TX_TUNNEL_MASK == RTE_BIT64(45) * 15, "mbuf flags");
	return RTE_BIT32(ol_flags >> 45 & 15);
}

/** Combines two adjacent big-endian dwords; the first has the lower address. */
static __rte_always_inline uint64_t
mlxpmd_be32_pair(uint32_t first_be, uint32_t second_be)
{
#if RTE_BYTE_ORDER == RTE_LITTLE_ENDIAN
	return first_be | (uint64_t)second_be << 32;
#else
	return (uint64_t)first_be << 32 | second_be;
#endif
}

/** First half of the control segment; also the value of the doorbell register. */
static __rte_always_inline uint64_t
mlxpmd_tx_ctrl(const struct mlxpmd_txq *txq, uint16_t pi, uint8_t opcode, uint32_t ds)
{
	return mlxpmd_be32_pair(rte_cpu_to_be_32((uint32_t)pi << PRM_WQE_CTRL_SEG_OPMOD_IDX_OPCODE_WQE_INDEX_SHIFT |
						 opcode),
				rte_cpu_to_be_32(txq->sqn << PRM_WQE_CTRL_SEG_QPN_DS_QPN_SHIFT | ds));
}

/** cs_flags, one byte per value of {IP_CKSUM, L4_MASK}, which are three adjacent bits of ol_flags. */
static __rte_always_inline uint64_t
mlxpmd_tx_cs_by_request(void)
{
	const uint64_t l3 = MLX5_ETH_WQE_L3_CSUM, l4 = MLX5_ETH_WQE_L4_CSUM;

	return l4 << 8 | l4 << 24 | l3 << 32 | (l3 | l4) << 40 | l3 << 48 | (l3 | l4) << 56;
}

/**
 * cs_flags of the Ethernet segment. The device computes complete checksums, pseudo-header included, regardless of
 * the packet's checksum fields. SCTP is not an offload of the port: its flag is ignored.
 */
static __rte_always_inline uint32_t
mlxpmd_tx_cs_flags(uint64_t ol_flags)
{
	static_assert(RTE_MBUF_F_TX_TCP_CKSUM == RTE_BIT64(52), "mbuf flags");
	static_assert(RTE_MBUF_F_TX_SCTP_CKSUM == RTE_BIT64(53), "mbuf flags");
	static_assert(RTE_MBUF_F_TX_IP_CKSUM == RTE_BIT64(54), "mbuf flags");
	return (mlxpmd_tx_cs_by_request() >> ((ol_flags >> 52 & 7) * 8)) & 0xff;
}

/**
 * As mlxpmd_tx_cs_flags() for packets to be segmented, too, which implies the TCP checksum, and packets in tunnels: the
 * usual flags are for the inner headers.
 */
static __rte_always_inline uint32_t
mlxpmd_tx_cs_flags_tso(uint64_t ol_flags)
{
	uint32_t cs = mlxpmd_tx_cs_flags(ol_flags | (ol_flags & RTE_MBUF_F_TX_TCP_SEG) << 2);

	static_assert(RTE_MBUF_F_TX_TCP_SEG << 2 == RTE_MBUF_F_TX_TCP_CKSUM, "mbuf flags");
	static_assert(PRM_ETH_CS_FLAGS_L3_INNER << 2 == MLX5_ETH_WQE_L3_CSUM &&
		      PRM_ETH_CS_FLAGS_L4_INNER << 2 == MLX5_ETH_WQE_L4_CSUM, "cs_flags");
	if (!(ol_flags & RTE_MBUF_F_TX_TUNNEL_MASK))
		return cs;
	return cs >> 2 | ((ol_flags & RTE_MBUF_F_TX_OUTER_IP_CKSUM) ? MLX5_ETH_WQE_L3_CSUM : 0);
}

/** First half of the Ethernet segment. */
static __rte_always_inline uint64_t
mlxpmd_tx_eth_first(uint32_t cs_flags)
{
	return mlxpmd_be32_pair(0, rte_cpu_to_be_32(cs_flags << 24));
}

/** Second half of the Ethernet segment: the VLAN tag that the device inserts. */
static __rte_always_inline uint64_t
mlxpmd_tx_eth_vlan(const struct rte_mbuf *m)
{
	return mlxpmd_be32_pair(0, rte_cpu_to_be_32((uint32_t)PRM_WQE_VLAN_INSERT << 16 | m->vlan_tci));
}

/** The same half: the packet's metadata, register A of flows of sent packets; 0: it has none. */
static __rte_always_inline uint64_t
mlxpmd_tx_eth_metadata(const struct mlxpmd_txq *txq, const struct rte_mbuf *m)
{
	if (!(m->ol_flags & txq->meta_flag))
		return 0;
	return mlxpmd_be32_pair(rte_cpu_to_be_32(*RTE_MBUF_DYNFIELD(m, txq->meta_offset, const uint32_t *)), 0);
}

static __rte_always_inline void *
mlxpmd_tx_wqebb(const struct mlxpmd_txq *txq, uint16_t pi)
{
	return (uint8_t *)txq->q.wqes + (size_t)(pi & txq->q.wqe_mask) * MLX5_SEND_WQE_BB;
}

/** Number of WQEBBs that can be written before the ring is full. */
static __rte_always_inline uint16_t
mlxpmd_tx_free_wqebbs(const struct mlxpmd_txq *txq)
{
	return txq->q.wqe_mask + 1 - (uint16_t)(txq->q.pi - txq->q.ci);
}

/** Is the address in the last used memory region? */
static __rte_always_inline bool
mlxpmd_tx_mr_hit(const struct mlxpmd_txq *txq, uintptr_t addr)
{
	return addr - txq->mr_last.start < txq->mr_last.end - txq->mr_last.start;
}

/** Requests a completion of the WQE at `wqe`, the last one written; it covers all WQEs before it. */
static __rte_always_inline void
mlxpmd_tx_request_cqe(struct mlxpmd_txq *txq, uint16_t wqe)
{
	struct mlx5_wqe_ctrl_seg *ctrl = mlxpmd_tx_wqebb(txq, wqe);
	struct mlxpmd_txq_wqe *info = &txq->wqe_info[wqe & txq->q.wqe_mask];

	ctrl->fm_ce_se = MLX5_WQE_CTRL_CQ_UPDATE;
	info->wqebb_end = txq->q.pi;
	info->elts_end = txq->elts_pi;
	txq->elts_comp = txq->elts_pi;
	MLXPMD_SHARED_SET(txq->wqebb_comp, txq->q.pi);
}

/**
 * Advances the indices over a written WQE, whose packets are in elts. Requests a completion if the last request is
 * rs_thresh packets ago (or, with long WQEs, more than wqebb_thresh WQEBBs).
 */
static __rte_always_inline void
mlxpmd_tx_post(struct mlxpmd_txq *txq, uint32_t ds, uint16_t packets, bool long_wqes)
{
	const uint16_t wqe = txq->q.pi;

	txq->last = wqe;
	txq->q.pi += (ds + MLXPMD_WQEBB_DS - 1) / MLXPMD_WQEBB_DS;
	txq->elts_pi += packets;
	if ((uint16_t)(txq->elts_pi - txq->elts_comp) >= txq->rs_thresh ||
	    (long_wqes && (uint16_t)(txq->q.pi - txq->wqebb_comp) > MLXPMD_SHARED_GET(txq->wqebb_thresh)))
		mlxpmd_tx_request_cqe(txq, wqe);
}

/** Rings the doorbell for all posted WQEs. */
static __rte_always_inline void
mlxpmd_tx_doorbell(struct mlxpmd_txq *txq)
{
	const uint64_t db = *(const mlxpmd_u64 *)mlxpmd_tx_wqebb(txq, txq->last);

	/* Order the WQEs before the doorbell record. Both are in host memory: an I/O write barrier is enough. */
	rte_io_wmb();
	*txq->q.wq_dbrec = rte_cpu_to_be_32(txq->q.pi);
	/*
	 * Order the record before the register, in response to which the device reads record and WQEs. Stores to a
	 * write-combining register are not ordered by an I/O barrier, and are delayed until the buffer is flushed.
	 */
	if (unlikely(txq->db_wc)) {
		rte_wmb();
		*txq->db_reg = db;
		mdv_wc_flush();
	} else {
		rte_io_wmb();
		*txq->db_reg = db;
	}
	MLXPMD_SHARED_ADD(txq->q.stats.doorbells, 1);
}

/** Bytes of an inline data segment, padding included. */
static __rte_always_inline uint32_t
mlxpmd_tx_copy_bytes(uint32_t len)
{
	return RTE_ALIGN_CEIL(sizeof(struct mlx5_wqe_inl_data_seg) + len, (uint32_t)MLXPMD_DS_BYTES);
}

/** Results of building a WQE, other than the number of its packets. */
#define MLXPMD_TX_RING_FULL 0
#define MLXPMD_TX_REFUSED (-1)

/**
 * Sets mr_last to the memory region of addr, which is in m's buffer. Searches the registered regions, then registers
 * m's mempool.
 * @return false if the memory cannot be registered.
 */
bool mlxpmd_tx_mr_lookup(struct mlxpmd_txq *txq, const struct rte_mbuf *m, uintptr_t addr);

/** Copies a WQE of ds 16-byte units to the ring, where it may wrap. Its first WQEBB is the next one. */
void mlxpmd_tx_wqe_copy(const struct mlxpmd_txq *txq, const void *wqe, uint32_t ds);

/**
 * Writes one SEND WQE of any shape: several segments, inline header, VLAN tag, wrapping at the end of the ring.
 * @return 1, MLXPMD_TX_RING_FULL, MLXPMD_TX_REFUSED.
 */
int mlxpmd_tx_send_any(struct mlxpmd_txq *txq, struct rte_mbuf *m);

/** As mlxpmd_tx_send_any(), for packets with RTE_MBUF_F_TX_TCP_SEG or in tunnels, too. */
int mlxpmd_tx_send_tso_any(struct mlxpmd_txq *txq, struct rte_mbuf *m);

/** As mlxpmd_tx_send_tso_any(), with the metadata of a packet that has some: register A of flows of sent packets. */
int mlxpmd_tx_send_meta_any(struct mlxpmd_txq *txq, struct rte_mbuf *m);

/**
 * As mlxpmd_tx_send_tso_any(), for the first packet and those of the same kind that follow. n: not more than elts has
 * free entries.
 * @return Number of packets if the first is sent.
 */
int mlxpmd_tx_send_tso(struct mlxpmd_txq *txq, struct rte_mbuf **pkts, uint16_t n);

/** Header bytes before the TCP payload, without a tag that is inserted. */
static inline uint32_t
mlxpmd_tso_header(const struct rte_mbuf *m)
{
	uint32_t outer = (m->ol_flags & RTE_MBUF_F_TX_TUNNEL_MASK) ? m->outer_l2_len + m->outer_l3_len : 0;

	return outer + m->l2_len + m->l3_len + m->l4_len;
}

/** Does the device segment the packet? Without payload it is sent as it is. The queue must have max_lso. */
static inline bool
mlxpmd_tso_wanted(const struct rte_mbuf *m)
{
	return (m->ol_flags & RTE_MBUF_F_TX_TCP_SEG) && m->pkt_len != mlxpmd_tso_header(m);
}

/** Frames that one more packet adds to those on the wire than it is itself; *bytes: what their headers add. */
static inline uint32_t
mlxpmd_tso_more(const struct mlxpmd_txq *txq, const struct rte_mbuf *m, uint64_t *bytes)
{
	uint32_t more;

	*bytes = 0;
	if (txq->max_lso == 0 || !mlxpmd_tso_wanted(m))
		return 0;
	more = (m->pkt_len - mlxpmd_tso_header(m) - 1) / m->tso_segsz;
	*bytes = (uint64_t)more * mlxpmd_tso_header(m);
	return more;
}

/**
 * Checks what the device needs to segment a packet with RTE_MBUF_F_TX_TCP_SEG: lengths of headers, segment and payload.
 * @return 0; -EINVAL: they contradict each other or the packet; -ENOTSUP: they exceed the device's, or the queue has
 *   no such offload.
 */
int mlxpmd_tso_check(const struct mlxpmd_txq *txq, const struct rte_mbuf *m);

/**
 * Computes the offsets of headers that a WQE of a packet in a tunnel has, for the software parser: the first dword of
 * the Ethernet segment, and swp_flags in *flags. Counts a VLAN tag that the packet requests, which must be inline.
 * @return 0: outer_l2_len is too short, or an offset is odd, exceeds 510 bytes, or is beyond the packet.
 */
uint32_t mlxpmd_tx_swp(const struct rte_mbuf *m, uint8_t *flags);

/** Bits of the kinds of tunnels whose inner headers the device finds, and of those that need the software parser. */
uint16_t mlxpmd_tx_tunnels_found(const struct mdv_caps *caps);
uint16_t mlxpmd_tx_tunnels_swp(const struct mdv_caps *caps);

/**
 * Writes one SEND WQE that contains a packet of any number of segments as its inline header, as net_mlx5 does
 * (mlx5_tx_eseg_data()), and frees the packet. Inserts the VLAN tag. May wrap at the end of the ring.
 * @return as mlxpmd_tx_send_any(); not freed unless 1.
 */
int mlxpmd_tx_send_copy(struct mlxpmd_txq *txq, struct rte_mbuf *m);

/**
 * Sends a packet with a send time (after a WAIT WQE) or with a timestamp request (its WQE requests a completion).
 * As mlxpmd_tx_send_any(); leaves the ring unchanged if the packet is not sent.
 */
int mlxpmd_tx_send_timed(struct mlxpmd_txq *txq, struct rte_mbuf *m);

/** As mlxpmd_tx_send_timed(), and packets may have metadata. */
int mlxpmd_tx_send_meta(struct mlxpmd_txq *txq, struct rte_mbuf *m);

/**
 * Computes the first device timestamp whose value is not before `value`. Only LINE clocks use s.
 * @return false if there is none.
 */
bool mlxpmd_tx_time_stamp(const struct mlxpmd_clock *clock, const struct mlxpmd_clock_snap *s, uint64_t value,
			  uint64_t *stamp);

/** Frees a packet that cannot be sent and counts it as dropped. */
void mlxpmd_tx_drop(struct mlxpmd_txq *txq, struct rte_mbuf *m);

/** Number of bursts that find the ring full before the doorbell is repeated. */
#define MLXPMD_TX_FULLS_PER_DOORBELL 1024

/** Most completions processed per burst; limits the time that a burst spends on freeing. */
#define MLXPMD_TX_REAP_MAX 4
/** Free packets up to elts_end. fast: all mbufs have refcnt 1, one segment and the same mempool. */
void mlxpmd_tx_free_any(struct mlxpmd_txq *txq, uint16_t elts_end);
void mlxpmd_tx_free_fast(struct mlxpmd_txq *txq, uint16_t elts_end);
/** Frees packets of one segment that are not in elts. fast: as mlxpmd_tx_free_fast(). */
void mlxpmd_tx_free_copied(struct rte_mbuf **pkts, uint16_t n, bool fast);

/** Handles an error completion: records it and quiesces the queue. Frees nothing. */
void mlxpmd_tx_exception(struct mlxpmd_txq *txq);
/** For mlxpmd_txq_rewind() and disarm: frees all packets. @return Number of packets that were not sent. */
uint32_t mlxpmd_tx_settle(struct mlxpmd_txq *txq);
/** As mlxpmd_rx_not_ready(). */
uint16_t mlxpmd_tx_not_ready(struct mlxpmd_txq *txq);
/** The same for a burst, which counts its n packets as refused. */
uint16_t mlxpmd_tx_refuse(struct mlxpmd_txq *txq, uint16_t n);
/**
 * For a burst that finds the ring full. Repeats the doorbell now and then: if the doorbell that filled the ring was
 * lost, no other one would follow.
 */
void mlxpmd_tx_full(struct mlxpmd_txq *txq);

/** Is this a valid entry of a WQE in flight that requested a completion? */
static __rte_always_inline bool
mlxpmd_tx_info_sane(const struct mlxpmd_txq *txq, uint16_t wqe, const struct mlxpmd_txq_wqe *info)
{
	uint16_t in_flight = txq->q.pi - txq->q.ci, wqe_end = info->wqebb_end - txq->q.ci;
	uint16_t elts = txq->elts_pi - txq->elts_ci, elts_end = info->elts_end - txq->elts_ci;

	return (uint16_t)(wqe - txq->q.ci) < in_flight && wqe_end <= in_flight && elts_end <= elts &&
	       (uint16_t)(info->wqebb_end - wqe - 1) < MLX5_SEND_WQE_BB / MLXPMD_WQEBB_DS;
}

/** Stores the timestamp if the completion is that of the packet that requested one. The owner bit was checked. */
static __rte_always_inline void
mlxpmd_tx_stamp(struct mlxpmd_txq *txq, uint16_t wqe)
{
	if (likely(!txq->stamp_due || wqe != txq->stamp_wqe))
		return;
	/* Order the owner bit before the timestamp; load-load order is enough: the CQE is not written. */
	rte_io_rmb();
	mlxpmd_timesync_tx_done(txq, rte_be_to_cpu_64(txq->q.cqes[txq->q.cq_ci & txq->q.cqe_mask].timestamp));
}

/**
 * Processes up to max completions. fast: as mlxpmd_tx_free_fast(); timed: packets may request a timestamp.
 */
static __rte_always_inline void
mlxpmd_tx_reap(struct mlxpmd_txq *txq, unsigned int max, const bool fast, const bool timed)
{
	const uint32_t cq_ci = txq->q.cq_ci;

	while (max-- != 0) {
		const uint64_t tail = mlxpmd_cqe_tail(&txq->q.cqes[txq->q.cq_ci & txq->q.cqe_mask]);
		const uint16_t wqe = (uint32_t)tail >> MLXPMD_TAIL_COUNTER_SHIFT;
		const struct mlxpmd_txq_wqe *info = &txq->wqe_info[wqe & txq->q.wqe_mask];

		if (mlxpmd_cqe_absent(tail, txq->q.cq_ci >> txq->q.log_cqes, MLXPMD_TAIL_OWNER))
			break;
		if (unlikely(mlxpmd_cqe_opcode(tail) != MLX5_CQE_REQ ||
			     !mlxpmd_tx_info_sane(txq, wqe, info))) {
			mlxpmd_tx_exception(txq);
			return;
		}
		if (timed)
			mlxpmd_tx_stamp(txq, wqe);
		MLXPMD_SHARED_SET(txq->q.ci, info->wqebb_end);
		if (fast)
			mlxpmd_tx_free_fast(txq, info->elts_end);
		else
			mlxpmd_tx_free_any(txq, info->elts_end);
		MLXPMD_SHARED_ADD(txq->q.cq_ci, 1);
	}
	if (txq->q.cq_ci != cq_ci) {
		MLXPMD_SHARED_ADD(txq->q.stats.completions, txq->q.cq_ci - cq_ci);
		mlxpmd_dbrec_write(txq->q.cq_dbrec, txq->q.cq_ci);
	}
}

/** Feature sets of the burst templates. */
#define MLXPMD_TX_F_MPW 1u	/**< Multi-packet WQEs where packets allow. */
#define MLXPMD_TX_F_OFFLOAD 2u	/**< Checksums and VLAN insertion. */
#define MLXPMD_TX_F_MULTI 4u	/**< Packets of several segments. */
#define MLXPMD_TX_F_FAST_FREE 8u
#define MLXPMD_TX_F_INLINE 16u	/**< Every WQE carries headers; implies OFFLOAD and MULTI. */
#define MLXPMD_TX_F_TIMED 32u	/**< Send times and stamps; implies OFFLOAD, MULTI and TSO. */
#define MLXPMD_TX_F_TSO 64u	/**< Packets to be segmented or in tunnels; implies OFFLOAD and MULTI. */
/** Short packets are copied into the WQE; without FAST_FREE implies OFFLOAD, MULTI and TSO. */
#define MLXPMD_TX_F_COPY 128u
#define MLXPMD_TX_F_META 256u	/**< Metadata for flows; implies OFFLOAD, MULTI, TSO and TIMED. */
#define MLXPMD_TX_TEMPLATES 386
/** Scalar ones, by feature set; NULL if another set includes it. */
extern const struct mlxpmd_template mlxpmd_tx_templates[MLXPMD_TX_TEMPLATES];

#endif /* MLXPMD_TX_H */
