/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Receive, off the fast path: refill, completions that are no packet, ring status. */

#include <rte_branch_prediction.h>
#include <ethdev_driver.h>

#include "mlxpmd_rx.h"

/* mbufs per bulk request: a mempool cache serves it, and the WQEs of four cache lines are written at once. */
#define REFILL_BULK 64

static __rte_always_inline uintptr_t
mbuf_buffer(const struct mlxpmd_rxq *rxq, const struct rte_mbuf *m)
{
	/* Of an ordinary pool the buffer follows the mbuf, whose cache line need not be touched. */
	return rxq->buf_offset != 0 ? (uintptr_t)m + rxq->buf_offset : (uintptr_t)m->buf_addr;
}

/* Key of an address; false when no registered range holds it. */
static bool
refill_lkey(const struct mlxpmd_rxq *rxq, uintptr_t addr, uint32_t *lkey_be)
{
	const struct mdv_mr_set *mr = rxq->mr;
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

/* Points one data segment at an mbuf; false when it lies in memory that the device does not know. */
static __rte_always_inline bool
post_seg(const struct mlxpmd_rxq *rxq, uint32_t elt, uint16_t headroom)
{
	struct mlx5_wqe_data_seg *dseg = &rxq->wqes[elt];
	uintptr_t addr = mbuf_buffer(rxq, rxq->elts[elt]) + headroom;

	if (unlikely(rxq->mr->n != 1) && !refill_lkey(rxq, addr, &dseg->lkey))
		return false;
	dseg->addr = rte_cpu_to_be_64(addr);
	return true;
}

/* As many as there are, up to k: the ring must not stay dry while the pool has a few. */
static uint16_t
get_some(struct mlxpmd_rxq *rxq, struct rte_mbuf **elt, uint16_t k)
{
	while (k != 0 && rte_mempool_get_bulk(rxq->mp, (void **)elt, k) != 0)
		k /= 2;
	return k;
}

static void
give_back(struct mlxpmd_rxq *rxq, struct rte_mbuf **elt, uint16_t k)
{
	if (k != 0)
		rte_mempool_put_bulk(rxq->mp, (void **)elt, k);
}

/* Single-segment WQEs, up to the ring's end. @return WQEs posted. */
static uint16_t
refill_plain(struct mlxpmd_rxq *rxq, uint16_t holes)
{
	uint32_t at = rxq->rq_pi & rxq->wqe_mask;
	uint16_t k = RTE_MIN(RTE_MIN((uint32_t)holes, rxq->wqe_mask + 1 - at), (uint32_t)REFILL_BULK);
	struct rte_mbuf **elt = &rxq->elts[at];
	uint16_t i;

	k = get_some(rxq, elt, k);
	if (likely(rxq->buf_offset != 0 && rxq->mr->n == 1)) {
		uintptr_t offset = rxq->buf_offset + rxq->headroom;

		for (i = 0; i < k; i++)
			rxq->wqes[at + i].addr = rte_cpu_to_be_64((uintptr_t)elt[i] + offset);
		return k;
	}
	for (i = 0; i < k; i++)
		if (!post_seg(rxq, at + i, rxq->headroom))
			break;
	give_back(rxq, elt + i, k - i);
	return i;
}

/* Fills the missing places of one WQE. @return false when the pool or the registration falls short. */
static bool
refill_wqe(struct mlxpmd_rxq *rxq, uint32_t first)
{
	struct rte_mbuf *fresh;
	uint16_t s;

	for (s = 0; s < rxq->segs_per_wqe; s++) {
		if (rxq->elts[first + s] != NULL)
			continue;
		if (rte_mempool_get(rxq->mp, (void **)&fresh) != 0)
			return false;
		rxq->elts[first + s] = fresh;
		if (!post_seg(rxq, first + s, s == 0 ? rxq->headroom : 0)) {
			rxq->elts[first + s] = NULL;
			rte_mempool_put(rxq->mp, fresh);
			return false;
		}
	}
	return true;
}

static uint16_t
refill_scatter(struct mlxpmd_rxq *rxq, uint16_t holes)
{
	uint16_t i;

	holes = RTE_MIN(holes, REFILL_BULK);
	for (i = 0; i < holes; i++)
		if (!refill_wqe(rxq, (uint32_t)((rxq->rq_pi + i) & rxq->wqe_mask) << rxq->log_segs))
			break;
	return i;
}

/* mbufs that unposted WQEs lack. */
static uint32_t
missing(const struct mlxpmd_rxq *rxq)
{
	uint16_t holes = mlxpmd_rx_holes(rxq), i, s;
	uint32_t first, n = 0;

	if (rxq->log_segs == 0)
		return holes;
	for (i = 0; i < holes; i++) {
		first = (uint32_t)((rxq->rq_pi + i) & rxq->wqe_mask) << rxq->log_segs;
		for (s = 0; s < rxq->segs_per_wqe; s++)
			n += rxq->elts[first + s] == NULL;
	}
	return n;
}

void
mlxpmd_rx_refill(struct mlxpmd_rxq *rxq)
{
	uint16_t rq_pi = rxq->rq_pi, holes, k;
	uint32_t lack;

	while ((holes = mlxpmd_rx_holes(rxq)) != 0) {
		k = rxq->log_segs == 0 ? refill_plain(rxq, holes) : refill_scatter(rxq, holes);
		if (k == 0)
			break;
		rxq->rq_pi += k;
	}
	/* WQEs before the index that lets the device use them. */
	if (likely(rxq->rq_pi != rq_pi))
		mlxpmd_dbrec_write(rxq->rq_dbrec, rxq->rq_pi);
	lack = holes == 0 ? 0 : missing(rxq);
	if (unlikely(lack > rxq->starved))
		rxq->stats.nombuf += lack - rxq->starved;
	rxq->starved = lack;
}

bool
mlxpmd_rx_repost(struct mlxpmd_rxq *rxq)
{
	const uint32_t posted = (uint32_t)(uint16_t)(rxq->rq_pi - rxq->rq_ci) << rxq->log_segs;
	const uint32_t segs = ((uint32_t)rxq->wqe_mask + 1) << rxq->log_segs;
	uint32_t i;

	for (i = 0; i < segs; i++) {
		bool first = (i & (rxq->segs_per_wqe - 1u)) == 0;

		/* What scatter left in holes is posted with them; else those places hold stale pointers. */
		if ((i >= posted && rxq->log_segs == 0) || rxq->elts[i] == NULL)
			continue;
		if (!post_seg(rxq, i, first ? rxq->headroom : 0))
			return false;
	}
	return true;
}

void
mlxpmd_rx_wqe_free(struct mlxpmd_rxq *rxq, uint16_t wqe)
{
	struct rte_mbuf **elt = &rxq->elts[(uint32_t)(wqe & rxq->wqe_mask) << rxq->log_segs];
	uint16_t s;

	for (s = 0; s < rxq->segs_per_wqe; s++) {
		rte_mbuf_raw_free(elt[s]);
		elt[s] = NULL;
	}
}

static void
drop_one(struct mlxpmd_rxq *rxq)
{
	mlxpmd_rx_wqe_free(rxq, rxq->rq_ci);
	rxq->rq_ci++;
	rxq->cq_ci++;
}

uint16_t
mlxpmd_rx_not_ready(struct mlxpmd_rxq *rxq)
{
	mlxpmd_qstate_let_go(&rxq->state);
	return 0;
}

/* The rest of the call may finish what it began; mlxpmd_rx_not_ready() ends it. */
static void
fail(struct mlxpmd_rxq *rxq, enum mlxpmd_qcause cause)
{
	rxq->cause = cause;
	__atomic_store_n(&rxq->state, MLXPMD_QS_ERROR, __ATOMIC_RELAXED);
}

bool
mlxpmd_rx_exception(struct mlxpmd_rxq *rxq)
{
	const struct mlx5_cqe64 *cqe = &rxq->cqes[rxq->cq_ci & rxq->cqe_mask];
	const struct mlx5_err_cqe *err = (const struct mlx5_err_cqe *)cqe;
	const uint64_t tail = mlxpmd_cqe_tail(cqe);
	const uint16_t counter = (uint32_t)tail >> MLXPMD_TAIL_COUNTER_SHIFT;
	const bool in_step = rxq->rq_ci != rxq->rq_pi && ((counter ^ rxq->rq_ci) & rxq->wqe_mask) == 0;
	const bool error = mlxpmd_cqe_opcode(tail) == MLX5_CQE_RESP_ERR;
	bool drop;

	/* Ownership, seen by the caller, before contents. */
	rte_io_rmb();
	/* It may have come between the fast path's look and the caller's: then it is an ordinary packet. */
	if (in_step && mlxpmd_cqe_opcode(tail) == MLX5_CQE_RESP_SEND &&
	    ((uint32_t)tail & MLXPMD_TAIL_FORMAT) == 0 &&
	    rte_be_to_cpu_32(cqe->byte_cnt) - 1 < rxq->len_max)
		return true;
	if (error) {
		rxq->stats.errors++;
		rxq->stats.syndromes[mlxpmd_syndrome_class[err->syndrome]]++;
		rxq->syndrome = err->syndrome;
		rxq->vendor_syndrome = err->vendor_err_synd;
		/* A packet too long for its WQE is that packet's loss; all else stops the RQ. */
		drop = in_step && err->syndrome == MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR;
	} else {
		rxq->stats.cqe_bad++;
		/* A length that cannot be, at the right place: the step is kept, the packet is not. */
		drop = in_step && mlxpmd_cqe_opcode(tail) == MLX5_CQE_RESP_SEND &&
		       ((uint32_t)tail & MLXPMD_TAIL_FORMAT) == 0;
	}
	if (drop)
		drop_one(rxq);
	else
		fail(rxq, error && in_step ? MLXPMD_CAUSE_ERROR : MLXPMD_CAUSE_BAD);
	return drop;
}

/* Is the completion `offset` places ahead there? */
static bool
completed(const struct mlxpmd_rxq *rxq, uint32_t offset)
{
	uint32_t ci = rxq->cq_ci + offset;
	const struct mlx5_cqe64 *cqe = &rxq->cqes[ci & rxq->cqe_mask];

	return !mlxpmd_cqe_absent(mlxpmd_cqe_tail(cqe), (ci >> rxq->log_cqes) & 1);
}

int
mlxpmd_rx_descriptor_status(void *queue, uint16_t offset)
{
	const struct mlxpmd_rxq *rxq = queue;

	if (offset > rxq->wqe_mask)
		return -EINVAL;
	if (mlxpmd_qstate_load(&rxq->state) != MLXPMD_QS_READY ||
	    offset >= (uint16_t)(rxq->rq_pi - rxq->rq_ci))
		return RTE_ETH_RX_DESC_UNAVAIL;
	return completed(rxq, offset) ? RTE_ETH_RX_DESC_DONE : RTE_ETH_RX_DESC_AVAIL;
}

uint32_t
mlxpmd_rx_queue_count(void *queue)
{
	const struct mlxpmd_rxq *rxq = queue;
	uint32_t low = 0, high, mid;

	if (mlxpmd_qstate_load(&rxq->state) != MLXPMD_QS_READY)
		return 0;
	high = (uint16_t)(rxq->rq_pi - rxq->rq_ci);
	/* CQEs come in order: the first that is not there is found by halving. */
	while (low < high) {
		mid = (low + high) / 2;
		if (completed(rxq, mid))
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}
