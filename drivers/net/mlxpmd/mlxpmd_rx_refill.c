/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Receive WQEs: refill with mbufs, repost after a reset, free. */

#include <ethdev_driver.h>
#include <rte_branch_prediction.h>

#include "mlxpmd_rx.h"

/* mbufs per bulk request: fits a mempool cache. */
#define REFILL_BULK 64

static __rte_always_inline uintptr_t
mbuf_buffer(const struct mlxpmd_rx_seg *seg, const struct rte_mbuf *m)
{
	/* The buffer usually follows its mbuf: computing the address avoids a load from the mbuf. */
	return seg->buf_offset != 0 ? (uintptr_t)m + seg->buf_offset : (uintptr_t)m->buf_addr;
}

bool
mlxpmd_mr_lkey(const struct mdv_mr_set *mr, uintptr_t addr, uint32_t *lkey_be)
{
	unsigned int low = 0, high = mr->n, mid;

	while (low < high) {
		mid = (low + high) / 2;
		if (addr < mr->range[mid].start) {
			high = mid;
		} else if (addr >= mr->range[mid].end) {
			low = mid + 1;
		} else {
			*lkey_be = mr->range[mid].lkey_be;
			return true;
		}
	}
	return false;
}

/* Writes an mbuf's buffer address to its data segment. Returns false if the buffer is not registered. */
static __rte_always_inline bool
post_seg(const struct mlxpmd_rxq *rxq, uint32_t elt, const struct mlxpmd_rx_seg *seg)
{
	struct mlx5_wqe_data_seg *dseg = mlxpmd_rx_dseg(rxq, elt);
	uintptr_t addr = mbuf_buffer(seg, rxq->q.elts[elt]) + seg->data_off;

	if (unlikely(seg->mr->n != 1) && !mlxpmd_mr_lkey(seg->mr, addr, &dseg->lkey))
		return false;
	dseg->addr = rte_cpu_to_be_64(addr);
	return true;
}

static void
give_back(struct mlxpmd_rxq *rxq, struct rte_mbuf **elt, uint16_t k)
{
	if (k != 0)
		rte_mempool_put_bulk(rxq->mp, (void **)elt, k);
}

/* Fills single-segment WQEs, at most up to the end of the ring. Returns their number. */
static uint16_t
refill_plain(struct mlxpmd_rxq *rxq, uint16_t holes)
{
	uint32_t at = rxq->q.pi & rxq->q.wqe_mask;
	uint32_t to_end = RTE_MIN((uint32_t)holes, rxq->q.wqe_mask + 1 - at);
	uint16_t k = RTE_MIN(to_end, (uint32_t)REFILL_BULK);
	struct rte_mbuf **elt = &rxq->q.elts[at];
	uint16_t i;

	k = mlxpmd_rx_mbufs_some(rxq, elt, k);
	if (likely(rxq->buf_offset != 0 && rxq->mr->n == 1)) {
		uintptr_t offset = rxq->buf_offset + rxq->headroom;

		for (i = 0; i < k; i++)
			mlxpmd_rx_dseg(rxq, at + i)->addr = rte_cpu_to_be_64((uintptr_t)elt[i] + offset);
		return k;
	}
	for (i = 0; i < k; i++)
		if (!post_seg(rxq, at + i, &rxq->segs[0]))
			break;
	give_back(rxq, elt + i, k - i);
	return i;
}

/* Fills the empty segments of one WQE. Returns false if a pool is empty or a buffer is not registered. */
static bool
refill_wqe(struct mlxpmd_rxq *rxq, uint32_t first)
{
	const struct mlxpmd_rx_seg *seg = rxq->segs;
	struct rte_mbuf *fresh;
	uint16_t s;

	for (s = 0; s < rxq->segs_per_wqe; s++, seg++) {
		if (rxq->q.elts[first + s] != NULL)
			continue;
		if (rte_mempool_get(seg->mp, (void **)&fresh) != 0)
			return false;
		rxq->q.elts[first + s] = fresh;
		if (!post_seg(rxq, first + s, seg)) {
			rxq->q.elts[first + s] = NULL;
			rte_mempool_put(seg->mp, fresh);
			return false;
		}
	}
	return true;
}

static __rte_noinline uint16_t
refill_scatter(struct mlxpmd_rxq *rxq, uint16_t holes)
{
	uint16_t i;

	holes = RTE_MIN(holes, REFILL_BULK);
	for (i = 0; i < holes; i++)
		if (!refill_wqe(rxq, (uint32_t)((rxq->q.pi + i) & rxq->q.wqe_mask) << rxq->log_segs))
			break;
	return i;
}

/* Number of mbufs that the WQEs not posted yet are short of. */
static uint32_t
missing(const struct mlxpmd_rxq *rxq)
{
	uint16_t holes = mlxpmd_rx_holes(rxq), i, s;
	uint32_t first, n = 0;

	if (rxq->log_segs == 0)
		return holes;
	for (i = 0; i < holes; i++) {
		first = (uint32_t)((rxq->q.pi + i) & rxq->q.wqe_mask) << rxq->log_segs;
		for (s = 0; s < rxq->segs_per_wqe; s++)
			n += rxq->q.elts[first + s] == NULL;
	}
	return n;
}

void
mlxpmd_rx_refill(struct mlxpmd_rxq *rxq)
{
	uint16_t rq_pi = rxq->q.pi, holes, k;
	uint32_t lack;

	while ((holes = mlxpmd_rx_holes(rxq)) != 0) {
		k = rxq->log_segs == 0 ? refill_plain(rxq, holes) : refill_scatter(rxq, holes);
		if (k == 0)
			break;
		rxq->q.pi += k;
	}
	/* mlxpmd_dbrec_write() orders the WQEs before the index. */
	if (likely(rxq->q.pi != rq_pi))
		mlxpmd_dbrec_write(rxq->q.wq_dbrec, rxq->q.pi);
	lack = holes == 0 ? 0 : missing(rxq);
	if (unlikely(lack > rxq->q.starved))
		MLXPMD_SHARED_ADD(rxq->q.stats.nombuf, lack - rxq->q.starved);
	rxq->q.starved = lack;
}

bool
mlxpmd_rx_repost(struct mlxpmd_rxq *rxq)
{
	const uint32_t posted = (uint32_t)(uint16_t)(rxq->q.pi - rxq->q.ci) << rxq->log_segs;
	const uint32_t segs = ((uint32_t)rxq->q.wqe_mask + 1) << rxq->log_segs;
	uint32_t i;

	for (i = 0; i < segs; i++) {
		/* With scatter, unposted WQEs keep their unused mbufs; without, their elts are stale pointers. */
		if ((i >= posted && rxq->log_segs == 0) || rxq->q.elts[i] == NULL)
			continue;
		if (!post_seg(rxq, i, &rxq->segs[i & (rxq->segs_per_wqe - 1u)]))
			return false;
	}
	return true;
}

void
mlxpmd_rx_wqe_free(struct mlxpmd_rxq *rxq, uint16_t wqe)
{
	struct rte_mbuf **elt = &rxq->q.elts[(uint32_t)(wqe & rxq->q.wqe_mask) << rxq->log_segs];
	uint16_t s;

	for (s = 0; s < rxq->segs_per_wqe; s++) {
		rte_mbuf_raw_free(elt[s]);
		elt[s] = NULL;
	}
}
