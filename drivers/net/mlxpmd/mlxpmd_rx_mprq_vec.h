/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * Groups of packets of striding queues, for the vector bursts. Each packet of a group takes one stride, and is copied
 * by whole lines, or attached; the scalar run delivers all others.
 */
#ifndef MLXPMD_RX_MPRQ_VEC_H
#define MLXPMD_RX_MPRQ_VEC_H

#include "mlxpmd_rx_mprq.h"
#include "mlxpmd_rx_vec.h"

/** Constants of a run. */
struct mlxpmd_rx_run {
	struct rte_mbuf *const *elt;	/**< Ordinary queues: of the first packet. */
	struct mlxpmd_mprq_from from;	/**< Striding queues, as the next three. */
	struct rte_mempool_cache *cache;
	uint32_t to;		/**< From an mbuf to the packet in it. */
	uint32_t line;		/**< Longest packet that is copied as one line. */
	uint32_t counter;	/**< Expected of the first CQE. */
	uint32_t len_base;	/**< byte_cnt of a packet without bytes: its strides. */
	uint32_t len_max;	/**< Longest packet of a group. */
};

/** Longest packet of one stride that does not need mlxpmd_mprq_copy_exact(). */
static __rte_always_inline uint32_t
mlxpmd_mprq_len_max(const struct mlxpmd_striding *s)
{
	const uint32_t size = 1u << s->log_stride_size;
	uint32_t most = s->lines_max;

	if (likely(s->spare != NULL && most == s->copy_max && most + RTE_PKTMBUF_HEADROOM < size))
		most = size - RTE_PKTMBUF_HEADROOM;
	return RTE_MIN(most, size);
}

static __rte_always_inline struct mlxpmd_rx_run
mlxpmd_rx_run_of(const struct mlxpmd_rxq *rxq, const unsigned int f)
{
	if (f & MLXPMD_RX_F_STRIDING)
		return (struct mlxpmd_rx_run){
			.from = mlxpmd_mprq_from(rxq),
			.cache = mlxpmd_rx_cache(rxq->mp),
			.to = rxq->buf_offset + RTE_PKTMBUF_HEADROOM,
			.line = RTE_MIN(rxq->striding.lines_max, MLXPMD_MPRQ_LINE),
			.counter = rxq->striding.used,
			.len_base = MLXPMD_MPRQ_ONE_STRIDE,
			.len_max = mlxpmd_mprq_len_max(&rxq->striding),
		};
	return (struct mlxpmd_rx_run){
		.elt = &rxq->q.elts[rxq->q.ci & rxq->q.wqe_mask],
		.counter = rxq->q.ci,
		.len_max = rxq->len_max,
	};
}

/** Mask of packet_type and pkt_len, which has byte_cnt. */
static __rte_always_inline uint64_t
mlxpmd_rx_length_mask(const unsigned int f)
{
	return (f & MLXPMD_RX_F_STRIDING) ? (uint64_t)MLXPMD_MPRQ_LEN_MASK << 32 | UINT32_MAX : UINT64_MAX;
}

/** Do all CQEs belong to the WQE at ci? For registers that do not have the wqe_ids anyway. */
static __rte_always_inline bool
mlxpmd_mprq_wqe_ids_fit(const struct mlxpmd_rxq *rxq, const struct mlx5_cqe64 *cqe, const unsigned int n)
{
	const uint16_t want = rte_cpu_to_be_16(rxq->q.ci);
	uint16_t differ = 0;
	unsigned int i;

	for (i = 0; i < n; i++)
		differ |= ((const struct prm_cqe64 *)&cqe[i])->wqe_id ^ want;
	return (differ & rte_cpu_to_be_16(rxq->q.wqe_mask)) == 0;
}

/** Mbufs of a group: in the cache, or pkts, which then has them; NULL: there are too few. */
static __rte_always_inline struct rte_mbuf *const *
mlxpmd_mprq_group_mbufs(struct mlxpmd_rxq *rxq, const struct mlxpmd_rx_run *run, struct rte_mbuf **pkts,
			const unsigned int n)
{
	struct rte_mbuf *const *from = mlxpmd_rx_cached(run->cache, n);

	if (likely(from != NULL))
		return from;
	return mlxpmd_mprq_mbufs_all(rxq, pkts, n) ? pkts : NULL;
}

/** Copies a packet that is not longer than a line. */
static __rte_always_inline void
mlxpmd_mprq_line(struct rte_mbuf *m, uint32_t to, const uint8_t *data, size_t ahead)
{
	rte_prefetch0(data + ahead);
	memcpy((uint8_t *)m + to, data, MLXPMD_MPRQ_LINE);
}

/**
 * Prefetches two lines of the mbufs that the next group gets from the cache: those that are written to if its packets
 * are attached (at 0), whose data has evicted them, or copied (at their data), where stores would wait for them.
 */
static __rte_always_inline void
mlxpmd_mprq_prefetch_next(const struct rte_mempool_cache *cache, const unsigned int n, const uint32_t at)
{
	const uint8_t *line;
	unsigned int i;

	if (unlikely(cache == NULL || cache->len < n))
		return;
	for (i = cache->len - n; i < cache->len; i++) {
		line = (const uint8_t *)cache->objs[i] + at;
		rte_prefetch0(line);
		rte_prefetch0(line + RTE_CACHE_LINE_MIN_SIZE);
	}
}

/** The lengths of a group, if they have something in common. */
enum mlxpmd_mprq_lengths {
	MLXPMD_MPRQ_MIXED,
	MLXPMD_MPRQ_LINES,	/**< None is longer than a line. */
	MLXPMD_MPRQ_LONG,	/**< All are longer than lines_max. */
};

/** Delivers the packets at strides used .. used + n - 1; n: multiple of 4. */
static __rte_always_inline void
mlxpmd_mprq_group(struct mlxpmd_rxq *rxq, const struct mlxpmd_rx_run *run, struct rte_mbuf *const *m, uint32_t used,
		  const unsigned int n, enum mlxpmd_mprq_lengths lengths)
{
	const struct mlxpmd_mprq_from *from = &run->from;
	const size_t stride = (size_t)1 << from->log_stride_size, ahead = stride * MLXPMD_MPRQ_AHEAD;
	struct rte_mbuf_ext_shared_info *info = &from->buf->info[used];
	uint8_t *data = from->strides + ((size_t)used << from->log_stride_size);
	rte_iova_t iova;
	unsigned int i;

	if (likely(lengths == MLXPMD_MPRQ_LINES)) {
		for (i = 0; i < n; i += 4, data += 4 * stride) {
			mlxpmd_mprq_line(m[i], run->to, data, ahead);
			mlxpmd_mprq_line(m[i + 1], run->to, data + stride, ahead);
			mlxpmd_mprq_line(m[i + 2], run->to, data + 2 * stride, ahead);
			mlxpmd_mprq_line(m[i + 3], run->to, data + 3 * stride, ahead);
		}
		return;
	}
	iova = mlxpmd_mprq_iova_offset(from->buf);
	if (likely(lengths == MLXPMD_MPRQ_LONG)) {
		for (i = 0; i < n; i += 4, data += 4 * stride) {
			mlxpmd_mprq_attach(m[i], info + i, data, iova, stride);
			mlxpmd_mprq_attach(m[i + 1], info + i + 1, data + stride, iova, stride);
			mlxpmd_mprq_attach(m[i + 2], info + i + 2, data + 2 * stride, iova, stride);
			mlxpmd_mprq_attach(m[i + 3], info + i + 3, data + 3 * stride, iova, stride);
		}
		rxq->striding.given += n;
		mlxpmd_mprq_prefetch_next(run->cache, n, 0);
		return;
	}
	if (m[0]->data_len > MLXPMD_MPRQ_LINE)
		mlxpmd_mprq_prefetch_next(run->cache, n, m[0]->data_len <= from->lines_max ? run->to : 0);
	for (i = 0; i < n; i++, data += stride) {
		const uint32_t len = m[i]->data_len;

		if (len <= from->lines_max) {
			rte_prefetch0(data + ahead);
			mlxpmd_mprq_copy_lines((uint8_t *)m[i] + run->to, data, len);
		} else {
			mlxpmd_mprq_attach(m[i], info + i, data, iova, stride);
			rxq->striding.given++;
		}
	}
}

/** As mlxpmd_rx_account(); bytes: sum of byte_cnt. */
static __rte_always_inline void
mlxpmd_rx_run_account(struct mlxpmd_rxq *rxq, struct rte_mbuf **pkts, uint16_t n, uint32_t bytes,
		      const struct mlxpmd_rx_rare *rare, const struct mlx5_cqe64 *first, const unsigned int f)
{
	if (!(f & MLXPMD_RX_F_STRIDING)) {
		mlxpmd_rx_account(rxq, pkts, n, bytes, rare, first);
		return;
	}
	if (likely(n != 0)) {
		rxq->q.starved = 0;
		rxq->striding.used = mlxpmd_mprq_advance(rxq, rxq->striding.used, n);
	}
	mlxpmd_rx_account_cqes(rxq, pkts, n, bytes - ((uint32_t)n << MLXPMD_MPRQ_STRIDES_SHIFT), rare, first);
}

#endif /* MLXPMD_RX_MPRQ_VEC_H */
