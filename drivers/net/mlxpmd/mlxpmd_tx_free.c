/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Frees sent mbufs, and gets packets completed that are stuck: doorbell again, NOP with a completion. */

#include <ethdev_driver.h>

#include "mlxpmd_tx.h"

/* mbufs of one mempool that are freed with one bulk request. */
struct free_bulk {
	struct rte_mempool *mp;
	unsigned int n;
	struct rte_mbuf *m[64];
};

static __rte_always_inline void
free_bulk_add(struct free_bulk *b, struct rte_mbuf *m)
{
	if (unlikely(b->n == RTE_DIM(b->m) || (m->pool != b->mp && b->n != 0))) {
		rte_mempool_put_bulk(b->mp, (void **)b->m, b->n);
		b->n = 0;
	}
	b->mp = m->pool;
	b->m[b->n++] = m;
}

/*
 * Can the mbuf go back to its mempool as it is: one segment, one reference, its own buffer? A packet of one segment has
 * no next mbuf, whose pointer is in another cache line.
 */
static __rte_always_inline bool
is_plain(const struct rte_mbuf *m)
{
	return m->nb_segs == 1 && rte_mbuf_refcnt_read(m) == 1 && RTE_MBUF_DIRECT(m);
}

/*
 * Number of packets at the begin of elt that are freed alike, at least one: plain mbufs of one mempool, or packets of
 * which none is plain. mp: their mempool, or NULL.
 */
static __rte_always_inline uint16_t
run_length(struct rte_mbuf **elt, uint16_t n, struct rte_mempool **mp)
{
	uint16_t i = 1;

	*mp = is_plain(elt[0]) ? elt[0]->pool : NULL;
	if (*mp != NULL)
		while (i < n && is_plain(elt[i]) && elt[i]->pool == *mp)
			i++;
	else
		while (i < n && !is_plain(elt[i]))
			i++;
	return i;
}

static void
free_others(struct rte_mbuf **elt, uint16_t n)
{
	struct free_bulk bulk = { .n = 0 };
	struct rte_mbuf *m, *next;

	for (uint16_t i = 0; i < n; i++) {
		m = elt[i];
		do {
			next = m->next;
			m = rte_pktmbuf_prefree_seg(m);
			if (likely(m != NULL))
				free_bulk_add(&bulk, m);
			m = next;
		} while (unlikely(m != NULL));
	}
	if (bulk.n != 0)
		rte_mempool_put_bulk(bulk.mp, (void **)bulk.m, bulk.n);
}

static __rte_always_inline void
free_sent(struct mlxpmd_txq *txq, uint16_t elts_end, const bool fast)
{
	struct rte_mempool *mp;
	struct rte_mbuf **elt;
	uint16_t n, to_end, at;

	while ((n = elts_end - txq->elts_ci) != 0) {
		at = txq->elts_ci & txq->elts_mask;
		to_end = txq->elts_mask + 1 - at;
		n = RTE_MIN(n, to_end);
		elt = &txq->q.elts[at];
		mp = elt[0]->pool;
		if (!fast)
			n = run_length(elt, n, &mp);
		txq->elts_ci += n;
		/*
		 * A process that is killed here loses these mbufs. The other order would free them again in the process
		 * that polls the queue next.
		 */
		rte_compiler_barrier();
		if (fast || mp != NULL)
			rte_mempool_put_bulk(mp, (void **)elt, n);
		else
			free_others(elt, n);
	}
}

void
mlxpmd_tx_free_any(struct mlxpmd_txq *txq, uint16_t elts_end)
{
	free_sent(txq, elts_end, false);
}

void
mlxpmd_tx_free_fast(struct mlxpmd_txq *txq, uint16_t elts_end)
{
	free_sent(txq, elts_end, true);
}

void
mlxpmd_tx_free_copied(struct rte_mbuf **pkts, uint16_t n, bool fast)
{
	struct rte_mempool *mp;
	uint16_t i, run;

	if (fast) {
		rte_mempool_put_bulk(pkts[0]->pool, (void **)pkts, n);
		return;
	}
	for (i = 0; i < n; i += run) {
		run = run_length(pkts + i, n - i, &mp);
		if (mp != NULL)
			rte_mempool_put_bulk(mp, (void **)(pkts + i), run);
		else
			free_others(pkts + i, run);
	}
}

void
mlxpmd_tx_full(struct mlxpmd_txq *txq)
{
	if (++txq->fulls % MLXPMD_TX_FULLS_PER_DOORBELL == 0 && txq->q.pi != txq->q.ci)
		mlxpmd_tx_doorbell(txq);
}

void
mlxpmd_txq_flush(struct mlxpmd_txq *txq)
{
	mlxpmd_u64 *wqe;

	if (txq->q.state != MLXPMD_QS_READY || txq->wqebb_comp == txq->q.pi || mlxpmd_tx_free_wqebbs(txq) == 0)
		return;
	wqe = mlxpmd_tx_wqebb(txq, txq->q.pi);
	wqe[0] = mlxpmd_tx_ctrl(txq, txq->q.pi, MLX5_OPCODE_NOP, 1);
	wqe[1] = 0;
	txq->last = txq->q.pi++;
	mlxpmd_tx_request_cqe(txq, txq->last);
	mlxpmd_tx_doorbell(txq);
}

int
mlxpmd_tx_done_cleanup(void *queue, uint32_t free_cnt)
{
	struct mlxpmd_txq *txq = queue;
	uint16_t before, freed = 0;
	uint32_t cq_ci;

	while (mlxpmd_qstate_load(&txq->q.state) == MLXPMD_QS_READY) {
		before = txq->elts_ci;
		cq_ci = txq->q.cq_ci;
		mlxpmd_tx_reap(txq, 1, false, true);
		/* The queue failed or was quiesced: elts_ci belongs to the control plane. */
		if (mlxpmd_qstate_load(&txq->q.state) != MLXPMD_QS_READY)
			continue;
		freed += txq->elts_ci - before;
		/* A completion may be one of WQEs that contain their packets. */
		if (txq->q.cq_ci == cq_ci || (free_cnt != 0 && freed >= free_cnt))
			return freed;
	}
	(void)mlxpmd_tx_not_ready(txq);
	return freed;
}
