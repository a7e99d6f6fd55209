/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * Compressed receive completions (PRM, CQE compression; readers: Linux, en_rx.c, mlx5e_decompress_cqes_start() and
 * mlx5e_decompress_enhanced_cqe() and the functions that they call).
 *
 * Basic layout. A session of n completions takes n entries of the CQ, of which the device writes few: the first is the
 * title, a CQE whose byte count is n; entries 1, 8, 16, 24 ... of the session are arrays of eight mini CQEs. Array k is
 * for the packets 8k .. 8k + 7 of the session, packet 0 included. The title becomes valid last. Entries between keep
 * what they had.
 *
 * Enhanced layout. A block of n completions, at most seven, takes n entries, of which the device writes the first:
 * their mini CQEs, then a tail with n - 1 in the upper bits of op_own. The title is the whole CQE before the block, or
 * before the blocks before it. In place of the owner bit each CQE has the number of its pass of the ring, modulo 256.
 *
 * The burst expands a session or block in its own entries when it finds the title, or the block: each then is the CQE
 * that the device would have written without compression, and is processed as such; in a striding queue it has the
 * stride after those of the packet before, or the stride index of its mini CQE. So a session needs no state, may end
 * in a later burst, and the owner bits are right for the next pass of the ring:
 *
 * Claim: while the queue is READY, each entry outside of cq_ci .. (entries written by the device) has the owner bit of
 * the pass before, or opcode INVALID, so that it is absent. Proof: at the start all are INVALID. An entry leaves that
 * range on the left when cq_ci passes it. Before that it got the owner bit of its pass, because the device wrote it as
 * a whole CQE, or it belongs to a session that was expanded; or it belongs to a session whose entries
 * mlxpmd_mini_used() made INVALID. The device can write entries only once the doorbell record has passed them, and
 * mlxpmd_dbrec_write() orders all stores to entries before the store of the doorbell record: none of the burst's stores
 * can overwrite a CQE of the next pass.
 *
 * Of a long session mlxpmd_mini_used() writes to few entries: the title and the arrays, whose lines were just read, and
 * those whose bit in `owned` is set. Claim: the others are INVALID. Proof: only whole CQEs and what the device wrote of
 * a session leave another opcode. Bits of whole CQEs are set before the entries of the next long session are looked up:
 * they are among the CQEs that were consumed since the one before, those between owned_ci and cq_ci. A bit is cleared
 * when its entry is made INVALID.
 *
 * In the enhanced layout such an entry may have the number of an older pass, because entries of blocks that are not
 * expanded are left as they are. Claim: it is at most MLXPMD_BLOCK_MARK_PASSES old, or of no pass, with opcode INVALID.
 * Proof: each entry is consumed once in a pass. In every MLXPMD_BLOCK_MARK_PASSES-th one, the first included, it gets
 * that pass's number: from the device, by expansion, or by mlxpmd_block_mark(). 256 is the first age that would pass
 * for this pass.
 */
#ifndef MLXPMD_RX_COMP_H
#define MLXPMD_RX_COMP_H

#include <string.h>

#include "mlxpmd_mprq.h"

#define MLXPMD_MINI_CQES 8 /* In an array. */
static_assert(MLXPMD_MINI_CQES * sizeof(struct prm_mini_cqe8) == sizeof(struct mlx5_cqe64), "one entry");

/** Mini CQEs in a block: it has a tail, too. */
#define MLXPMD_BLOCK_MINI_CQES (MLXPMD_MINI_CQES - 1)
#define MLXPMD_BLOCK_MARK_PASSES 128
static_assert(MLXPMD_BLOCK_MARK_PASSES < 256, "an entry cannot pass for one of this pass");

/** Format bits of the title of a session, or of a block, in a tail. */
#define MLXPMD_TAIL_COMPRESSED (PRM_CQE_FORMAT_COMPRESSED << PRM_CQE64_OP_OWN_CQE_FORMAT_SHIFT)

/** mbuf fields that the packets of a session have in common. */
struct mlxpmd_mini_base {
	uint64_t rearm_data, ol_flags;
	uint32_t packet_type;
	uint16_t vlan_tci;
};

/** 64 bits of the mbuf from packet_type on: lengths, which are 0 here, follow it, and are before vlan_tci. */
static __rte_always_inline uint64_t
mlxpmd_mini_base_type(const struct mlxpmd_mini_base *base)
{
	return base->packet_type;
}

static __rte_always_inline uint64_t
mlxpmd_mini_base_vlan(const struct mlxpmd_mini_base *base)
{
	return (uint64_t)base->vlan_tci << 16;
}

#define MLXPMD_MINI_LENGTH_BITS 24
#define MLXPMD_MINI_LENGTH_MASK 0xffffffu /**< Of the byte count with a flow tag. */

/**
 * Flow tag of a mini CQE of that format. Bits 23:16 are the upper byte of the byte count (DPDK,
 * rxq_cq_decompress_v()).
 */
static __rte_always_inline uint32_t
mlxpmd_mini_tag(const struct prm_mini_cqe8 *mini)
{
	return rte_be_to_cpu_32(mini->byte_cnt) >> MLXPMD_MINI_LENGTH_BITS << 16 | rte_be_to_cpu_16(mini->checksum);
}

/**
 * Replaces what the mini CQE has in a copy of the title. All formats but that of the hash lose the hash, which the
 * title has of the first packet only.
 */
static __rte_always_inline void
mlxpmd_mini_apply(struct prm_cqe64 *cqe, const struct prm_mini_cqe8 *mini, enum mdv_mini_cqe format)
{
	cqe->byte_cnt = mini->byte_cnt;
	switch (format) {
	case MDV_MINI_CQE_HASH:
		cqe->rx_hash_result = mini->rx_hash_result;
		break;
	case MDV_MINI_CQE_FLOW_TAG:
		cqe->byte_cnt = mini->byte_cnt & RTE_BE32(MLXPMD_MINI_LENGTH_MASK);
		cqe->sop_drop_qpn = (cqe->sop_drop_qpn & ~RTE_BE32(MLXPMD_TAG_MASK)) |
				    rte_cpu_to_be_32(mlxpmd_mini_tag(mini));
		break;
	case MDV_MINI_CQE_L3_L4:
		/* Byte 0x1d of the CQE is the first one of the mini CQE (DPDK, rxq_cq_to_pkt_type()). */
		memcpy(&cqe->l4_hdr_type_etc, mini, sizeof(cqe->l4_hdr_type_etc));
		break;
	case MDV_MINI_CQE_CSUM:
	case MDV_MINI_CQE_CSUM_STRIDE:
	case MDV_MINI_CQE_NONE:
		break;
	}
}

/**
 * Looks for a session at a CQE. want: tail of its title. n: most packets to be received. total: packets that it has.
 * @return Those to be received: all, at least 2, or a multiple of eight, because a part of a session ends with a
 *   complete array;
 *   0: none, or there is no session.
 */
static __rte_always_inline uint32_t
mlxpmd_mini_session(const struct mlxpmd_rxq *rxq, const struct mlx5_cqe64 *cqe, uint32_t want, uint16_t n,
		    uint32_t *total)
{
	if (((uint32_t)mlxpmd_cqe_tail(cqe) ^ want) & rxq->tail_check)
		return 0;
	/* Order the owner bit before the rest of the session; load-load order is enough: nothing is written yet. */
	rte_io_rmb();
	*total = rte_be_to_cpu_32(cqe->byte_cnt);
	/* A session of one would have no array: the device does not compress a single CQE. */
	if (unlikely(*total < 2))
		return 0;
	return *total <= n ? *total : n & -MLXPMD_MINI_CQES;
}

/**
 * Prefetches what may be the next session: with packet n of this one the array of its packet n, and first the title.
 * At the end of the ring these are addresses behind it, which does no harm.
 */
static __rte_always_inline void
mlxpmd_mini_prefetch(const struct mlx5_cqe64 *next, uint32_t n)
{
	if (n == 0)
		rte_prefetch0(next + 1);
	rte_prefetch0(next + n);
}

static __rte_always_inline void
mlxpmd_mini_invalidate(struct mlx5_cqe64 *cqe)
{
	MLXPMD_SHARED_SET(cqe->op_own, (uint8_t)(MLX5_CQE_INVALID << MLXPMD_TAIL_OPCODE_SHIFT));
}

/** Entries whose bits one load has, from any bit of a byte on. */
#define MLXPMD_OWNED_BITS (64 - 7)

/** Makes those of the next n entries INVALID that may have an owner bit; sets the bits of CQEs consumed before. */
void mlxpmd_mini_owned(struct mlxpmd_rxq *rxq, uint32_t n);

/**
 * The next n entries, which end before the ring does, are a session's whose packets were received, and the first entry
 * of each eight is INVALID. Makes the others INVALID.
 */
static __rte_always_inline void
mlxpmd_mini_used(struct mlxpmd_rxq *rxq, uint32_t n)
{
	const uint32_t first = rxq->q.cq_ci & rxq->q.cqe_mask;
	struct mlx5_cqe64 *const cqe = &rxq->q.cqes[first];
	uint64_t bits;
	uint32_t i;

	/* Of a short one it costs less to write to all. */
	if (n <= MLXPMD_MINI_CQES) {
		for (i = 1; i < n; i++)
			mlxpmd_mini_invalidate(cqe + i);
		return;
	}
	mlxpmd_mini_invalidate(cqe + 1);
	memcpy(&bits, &rxq->owned[first / 8], sizeof(bits));
	bits = rte_le_to_cpu_64(bits) >> first % 8;
	if (unlikely(n > MLXPMD_OWNED_BITS || rxq->owned_ci != rxq->q.cq_ci || (bits & ((UINT64_C(1) << n) - 1)) != 0))
		mlxpmd_mini_owned(rxq, n);
	rxq->owned_ci = rxq->q.cq_ci + n;
}

/** Read from place 8 * (8 - n) on: a mask of the first n mini CQEs. */
static const uint8_t mlxpmd_mini_present[] __rte_aligned(64) __rte_unused = {
#define M8 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff
	M8, M8, M8, M8, M8, M8, M8, M8,
#undef M8
	[2 * MLXPMD_MINI_CQES * sizeof(struct prm_mini_cqe8) - 1] = 0,
};

/** Length of the packet of a mini CQE; with STRIDING of one that takes one stride, else more than any length. */
static __rte_always_inline uint32_t
mlxpmd_mini_len(const struct prm_mini_cqe8 *mini, const unsigned int f)
{
	return rte_be_to_cpu_32(mini->byte_cnt) - ((f & MLXPMD_RX_F_STRIDING) ? MLXPMD_MPRQ_ONE_STRIDE : 0);
}

/** @return Bytes of n packets; 0: a length is not in 1 .. limit. */
static __rte_always_inline uint32_t
mlxpmd_mini_check(const struct prm_mini_cqe8 *mini, unsigned int n, uint32_t limit, const unsigned int f)
{
	uint32_t bytes = 0, len;
	unsigned int i;

	for (i = 0; i < n; i++) {
		len = mlxpmd_mini_len(&mini[i], f);
		if (unlikely(len - 1 >= limit))
			return 0;
		bytes += len;
	}
	return bytes;
}

/**
 * Writes the fields of n mbufs; of mini CQEs length and, with HASH, hash. pkts: where the mbufs are returned, or NULL.
 * f: feature set of the burst.
 */
static __rte_always_inline void
mlxpmd_mini_some(const struct mlxpmd_mini_base *base, const struct prm_mini_cqe8 *mini, struct rte_mbuf *const *elt,
		 struct rte_mbuf **pkts, unsigned int n, const unsigned int f)
{
	struct rte_mbuf *m;
	unsigned int i;
	uint32_t len;

	for (i = 0; i < n; i++) {
		m = elt[i];
		if (pkts != NULL)
			pkts[i] = m;
		len = mlxpmd_mini_len(&mini[i], f);
		memcpy(&m->rearm_data, &base->rearm_data, sizeof(base->rearm_data));
		m->ol_flags = base->ol_flags;
		m->packet_type = base->packet_type;
		m->pkt_len = len;
		m->data_len = len;
		m->vlan_tci = base->vlan_tci;
		if (f & MLXPMD_RX_F_HASH)
			m->hash.rss = rte_be_to_cpu_32(mini[i].rx_hash_result);
	}
}

/** Makes the rest of a session, from packet n = 8, 16 ... of total on, a session of its own, or one CQE. */
static __rte_always_inline void
mlxpmd_mini_rest(struct mlxpmd_rxq *rxq, uint32_t n, uint32_t total)
{
	const uint32_t ci = rxq->q.cq_ci, left = total - n;
	const struct mlx5_cqe64 *title = &rxq->q.cqes[ci & rxq->q.cqe_mask];
	struct mlx5_cqe64 *to = &rxq->q.cqes[(ci + n) & rxq->q.cqe_mask];
	struct prm_cqe64 *cqe = (struct prm_cqe64 *)to;
	const struct prm_mini_cqe8 mini = *(const struct prm_mini_cqe8 *)to;

	if (left != 1)
		memcpy(&rxq->q.cqes[(ci + n + 1) & rxq->q.cqe_mask], to, sizeof(*to));
	/* In place: what is stored in parts cannot be loaded as a whole at once. */
	memcpy(to, title, sizeof(*to));
	/* WQEs, or strides, of which each packet took one. */
	cqe->wqe_counter = rte_cpu_to_be_16(rte_be_to_cpu_16(title->wqe_counter) + n);
	cqe->op_own = MLX5_CQE_RESP_SEND << MLXPMD_TAIL_OPCODE_SHIFT | ((ci + n) >> rxq->q.log_cqes & 1) |
		      (left != 1 ? MLXPMD_TAIL_COMPRESSED : 0);
	if (left == 1) {
		mlxpmd_mini_apply(cqe, &mini, rxq->mini_cqe);
		if (rxq->mini_cqe != MDV_MINI_CQE_HASH)
			cqe->rx_hash_type = 0;
		if (rxq->mini_cqe == MDV_MINI_CQE_CSUM_STRIDE)
			cqe->wqe_counter = mini.stride_index;
	} else {
		cqe->byte_cnt = rte_cpu_to_be_32(left);
	}
}

/**
 * Receives packets of the session at the consumer index in the formats flow tag and L3/L4 header, one at a time.
 * some: at most so many of its packets, total; a multiple of eight if these are fewer. @return Their number.
 */
uint16_t mlxpmd_rx_minis_each(struct mlxpmd_rxq *rxq, struct rte_mbuf **pkts, uint32_t some, uint32_t total,
			      const struct mlxpmd_mini_base *base);

/** Has the queue the enhanced layout? */
static __rte_always_inline bool
mlxpmd_rx_enhanced(const struct mlxpmd_rxq *rxq)
{
	return rxq->q.validity == MLXPMD_TAIL_PASS;
}

/** Is the CQE with this tail the title of a session, or a block? Only a title has an opcode. */
static __rte_always_inline bool
mlxpmd_cqe_is_compressed(const struct mlxpmd_rxq *rxq, uint64_t tail)
{
	return ((uint32_t)tail & MLXPMD_TAIL_FORMAT) == MLXPMD_TAIL_COMPRESSED &&
	       (mlxpmd_rx_enhanced(rxq) || mlxpmd_cqe_opcode(tail) == MLX5_CQE_RESP_SEND);
}

/** Completions of a block, by its tail. */
static __rte_always_inline uint32_t
mlxpmd_block_completions(uint64_t tail)
{
	return mlxpmd_cqe_opcode(tail) + 1u;
}

/** Is it a packet's, as titles are? */
static __rte_always_inline bool
mlxpmd_block_title_valid(const struct mlx5_cqe64 *title)
{
	return (title->op_own & (MLXPMD_TAIL_OPCODE | MLXPMD_TAIL_FORMAT)) ==
	       MLX5_CQE_RESP_SEND << MLXPMD_TAIL_OPCODE_SHIFT;
}

/** Writes the number of the pass to n entries of a block, the first of which has it. */
static __rte_always_inline void
mlxpmd_block_mark(struct mlx5_cqe64 *cqe, unsigned int n, uint32_t pass)
{
	unsigned int i;

	for (i = 1; i < n; i++)
		MLXPMD_SHARED_SET(cqe[i].signature, (uint8_t)pass);
}

/** Makes the mini CQEs from n on of the block of consumer index ci, which has total, a block of their own. */
void mlxpmd_block_rest(struct mlxpmd_rxq *rxq, uint32_t ci, uint32_t n, uint32_t total);

/**
 * Expands the session whose title is the CQE of consumer index ci, or the block there; its tail was read before all
 * else.
 * @param max Most completions that it can have.
 * @return Number of completions; 0: it makes no sense, or the queue's CQEs are not compressed.
 */
uint32_t mlxpmd_rx_expand(struct mlxpmd_rxq *rxq, uint32_t ci, uint32_t max);

/**
 * Expands the session at the consumer index, if the CQE there is its title or a block.
 * @param in_step The CQE has the counter of the next packet. That of a block is not tested.
 */
static __rte_always_inline bool
mlxpmd_rx_expand_next(struct mlxpmd_rxq *rxq, uint64_t tail, bool in_step, uint32_t max)
{
	return (in_step || mlxpmd_rx_enhanced(rxq)) && mlxpmd_cqe_is_compressed(rxq, tail) &&
	       mlxpmd_rx_expand(rxq, rxq->q.cq_ci, max) != 0;
}

/** Expands all sessions from the consumer index on. The RQ is in reset: the device writes no CQE meanwhile. */
void mlxpmd_rx_expand_all(struct mlxpmd_rxq *rxq);

/** Number of completions from the consumer index on, at most max. Any queue; nothing is written. */
uint32_t mlxpmd_rx_completions(const struct mlxpmd_rxq *rxq, uint32_t max);

#endif /* MLXPMD_RX_COMP_H */
