/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * Shared by the vector receive bursts: refill, layout of the mbuf fields that they write, burst templates.
 */
#ifndef MLXPMD_RX_VEC_H
#define MLXPMD_RX_VEC_H

#include "mlxpmd_rx_frame.h"

/* Most mbufs that are copied from a mempool cache at once. */
#define MLXPMD_REFILL_BLOCK 64

/** The lcore's cache, from which mbufs may be taken directly; NULL: there is none. */
static __rte_always_inline struct rte_mempool_cache *
mlxpmd_rx_cache(struct rte_mempool *mp)
{
/* With checks or statistics, the mempool library must see each object. */
#if defined(RTE_LIBRTE_MEMPOOL_DEBUG) || defined(RTE_LIBRTE_MEMPOOL_STATS)
	RTE_SET_USED(mp);
	return NULL;
#else
	return rte_mempool_default_cache(mp, rte_lcore_id());
#endif
}

/** Takes k mbufs from the cache, whose length then does not include them. @return The mbufs; NULL: it has fewer. */
static __rte_always_inline struct rte_mbuf *const *
mlxpmd_rx_cached(struct rte_mempool_cache *cache, uint16_t k)
{
	if (unlikely(cache == NULL || cache->len < k))
		return NULL;
	cache->len -= k;
	return (struct rte_mbuf *const *)&cache->objs[cache->len];
}

/**
 * Gets k mbufs from the pool or none, as rte_mempool_get_bulk(), but does not copy them from the lcore's cache.
 * Their order does not matter.
 * @return Pointer to the mbufs: in the cache, or elt; NULL: none.
 */
static __rte_always_inline struct rte_mbuf *const *
mlxpmd_rx_take(struct rte_mempool *mp, struct rte_mbuf **elt, uint16_t k)
{
	struct rte_mbuf *const *from = mlxpmd_rx_cached(mlxpmd_rx_cache(mp), k);

	if (likely(from != NULL))
		return from;
	return rte_mempool_get_bulk(mp, (void **)elt, k) == 0 ? elt : NULL;
}

/** Writes k mbufs from `from` to elts and WQEs, from index `at` on. */
typedef void mlxpmd_rx_post_t(struct mlxpmd_rxq *rxq, uint32_t at, uint16_t k, struct rte_mbuf *const *from);

/**
 * Refills a ring of single-segment WQEs whose buffers follow their mbufs and have one lkey. Calls
 * mlxpmd_rx_refill() for all other rings, and if the pool has too few mbufs.
 */
static __rte_always_inline void
mlxpmd_rx_refill_vec(struct mlxpmd_rxq *rxq, mlxpmd_rx_post_t post)
{
	const uint16_t rq_pi = rxq->q.pi;
	struct rte_mbuf *const *from;
	uint32_t at, k;
	uint16_t holes;

	if (unlikely(rxq->buf_offset == 0 || rxq->mr->n != 1 || rxq->log_segs != 0)) {
		mlxpmd_rx_refill(rxq);
		return;
	}
	while ((holes = mlxpmd_rx_holes(rxq)) != 0) {
		at = rxq->q.pi & rxq->q.wqe_mask;
		k = RTE_MIN((uint32_t)holes, rxq->q.wqe_mask + 1u - at);
		k = RTE_MIN(k, (uint32_t)MLXPMD_REFILL_BLOCK);
		from = mlxpmd_rx_take(rxq->mp, &rxq->q.elts[at], k);
		if (unlikely(from == NULL))
			break;
		post(rxq, at, k, from);
		rxq->q.pi += k;
	}
	/* mlxpmd_dbrec_write() orders the WQEs before the index. */
	if (likely(rxq->q.pi != rq_pi))
		mlxpmd_dbrec_write(rxq->q.wq_dbrec, rxq->q.pi);
	if (likely(holes == 0))
		rxq->q.starved = 0;
	else
		mlxpmd_rx_refill(rxq); /* Posts the remaining mbufs of the pool and counts the missing ones. */
}

/** Offset from an mbuf to the address in its WQE. */
static __rte_always_inline uint64_t
mlxpmd_rx_buffer_offset(const struct mlxpmd_rxq *rxq)
{
	return (uint64_t)rxq->buf_offset + rxq->headroom;
}

/** First 8 bytes of a WQE, which all WQEs have in common: byte_count and lkey. */
static __rte_always_inline uint64_t
mlxpmd_rx_wqe_head(const struct mlxpmd_rxq *rxq)
{
	return (uint64_t)rxq->lkey_be << 32 | rte_cpu_to_be_32(rxq->seg_first_bytes);
}

/** Posts the remaining mbufs of a block, one at a time. */
static __rte_always_inline void
mlxpmd_rx_post_scalar(struct mlxpmd_rxq *rxq, uint32_t at, uint16_t k, struct rte_mbuf *const *from)
{
	const uint64_t offset = mlxpmd_rx_buffer_offset(rxq);
	uint16_t i;

	for (i = 0; i < k; i++) {
		rxq->q.elts[at + i] = from[i];
		mlxpmd_rx_dseg(rxq, at + i)->addr = rte_cpu_to_be_64((uintptr_t)from[i] + offset);
	}
}

/**
 * Tests the last CQE of a group, to avoid the set-up of the vector loop if few packets arrive at a time. The
 * CQEs before it are tested by the loop.
 */
static __rte_always_inline bool
mlxpmd_rx_group_likely(const struct mlxpmd_rxq *rxq, uint16_t n, uint16_t group, const unsigned int f)
{
	return n >= group && !mlxpmd_rx_absent(rxq, rxq->q.cq_ci + group - 1, f);
}

/*
 * Written to an mbuf with one store: rearm_data, ol_flags, and rx_descriptor_fields1 up to the hash.
 */
#define MLXPMD_RX_IMAGE_BYTES 32
static_assert(offsetof(struct rte_mbuf, ol_flags) == offsetof(struct rte_mbuf, rearm_data) + 8, "mbuf layout");
static_assert(offsetof(struct rte_mbuf, packet_type) == offsetof(struct rte_mbuf, rearm_data) + 16, "mbuf layout");
static_assert(offsetof(struct rte_mbuf, pkt_len) == offsetof(struct rte_mbuf, packet_type) + 4, "mbuf layout");
static_assert(offsetof(struct rte_mbuf, data_len) == offsetof(struct rte_mbuf, packet_type) + 8, "mbuf layout");
static_assert(offsetof(struct rte_mbuf, vlan_tci) == offsetof(struct rte_mbuf, packet_type) + 10, "mbuf layout");
static_assert(offsetof(struct rte_mbuf, hash) == offsetof(struct rte_mbuf, packet_type) + 12, "mbuf layout");
static_assert(sizeof(struct mlxpmd_class) == MLXPMD_RX_IMAGE_BYTES, "one image");

/** Prefetches the mbufs of a later group; the timestamp is in their second cache line. */
static __rte_always_inline void
mlxpmd_rx_prefetch(struct rte_mbuf *const *elt, const unsigned int group, const unsigned int f)
{
	unsigned int i;

	for (i = 0; i < group; i++) {
		const uint8_t *m = (const uint8_t *)elt[MLXPMD_RX_ELTS_AHEAD + i];

		rte_prefetch0(m);
		if (f & MLXPMD_RX_F_STAMP)
			rte_prefetch0(m + RTE_CACHE_LINE_MIN_SIZE);
	}
}

/** Completions are prefetched this many ahead: beyond the CPU's own prefetch when they come from the shared cache. */
#define MLXPMD_RX_CQES_AHEAD 24

/** Prefetches the CQEs of a later group. At the end of the ring these are addresses behind it, which does no harm. */
static __rte_always_inline void
mlxpmd_rx_prefetch_cqes(const struct mlx5_cqe64 *cqe, const unsigned int group)
{
	unsigned int i;

	for (i = 0; i < group; i++)
		rte_prefetch0(cqe + MLXPMD_RX_CQES_AHEAD + i);
}

#endif /* MLXPMD_RX_VEC_H */
