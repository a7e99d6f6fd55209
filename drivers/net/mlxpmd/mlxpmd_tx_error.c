/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Send queues that fail: error completions, and which packets were lost. */

#include <ethdev_driver.h>

#include "mlxpmd_tx.h"

/* Number of packets in the WQE at `wqe`, and of its WQEBBs (0: no WQE starts there). */
static uint16_t
wqe_packets(const struct mlxpmd_txq *txq, uint16_t wqe, uint16_t *wqebbs)
{
	const struct mlx5_wqe_ctrl_seg *ctrl = mlxpmd_tx_wqebb(txq, wqe);
	uint32_t ds = rte_be_to_cpu_32(ctrl->qpn_ds) & PRM_WQE_CTRL_SEG_QPN_DS_DS_MASK;

	*wqebbs = (ds + MLXPMD_WQEBB_DS - 1) / MLXPMD_WQEBB_DS;
	switch (PRM_BITS(rte_be_to_cpu_32(ctrl->opmod_idx_opcode), WQE_CTRL_SEG_OPMOD_IDX_OPCODE_OPCODE)) {
	case PRM_WQE_OPCODE_ENHANCED_MPSW:
		return ds - MLXPMD_TITLE_DS;
	case MLX5_OPCODE_SEND:
	case MLX5_OPCODE_TSO:
		return 1;
	default:
		return 0;
	}
}

/* Walks the ring to the elts index of a WQE's first packet. Returns the oldest packet if no WQE starts there. */
static uint16_t
first_of_wqe(const struct mlxpmd_txq *txq, uint16_t wqe)
{
	uint16_t at = txq->q.ci, elts = txq->elts_ci, wqebbs, packets;

	while (at != wqe) {
		packets = wqe_packets(txq, at, &wqebbs);
		at += wqebbs;
		elts += packets;
		if (wqebbs == 0 || (uint16_t)(at - txq->q.ci) >= (uint16_t)(txq->q.pi - txq->q.ci))
			return txq->elts_ci;
	}
	return elts;
}

/* The packets from elts index `first` on were not sent: moves them from packets and bytes to errors. */
static void
count_lost(struct mlxpmd_txq *txq, uint16_t first)
{
	uint64_t packets = (uint16_t)(txq->elts_pi - first), bytes = 0, headers;
	const struct rte_mbuf *m;
	uint16_t i;

	for (i = first; i != txq->elts_pi; i++) {
		m = txq->q.elts[i & txq->elts_mask];
		packets += mlxpmd_tso_more(txq, m, &headers);
		bytes += m->pkt_len + headers;
	}
	MLXPMD_SHARED_ADD(txq->q.stats.bytes, -bytes);
	MLXPMD_SHARED_ADD(txq->q.stats.packets, -packets);
	MLXPMD_SHARED_ADD(txq->q.stats.errors, (uint16_t)(txq->elts_pi - first));
}

void
mlxpmd_txq_lost_find(struct mlxpmd_queue *q)
{
	struct mlxpmd_txq *txq = mlxpmd_txq_of(q);

	if (txq->q.elts == NULL || txq->lost_known)
		return;
	/* The SQ executes WQEs in order: all before the failed one were sent, none from it on. */
	txq->first_lost = txq->q.cause == MLXPMD_CAUSE_ERROR ? first_of_wqe(txq, txq->failed_wqe) : txq->elts_ci;
	txq->lost_known = true;
}

void
mlxpmd_txq_abandon(struct mlxpmd_txq *txq)
{
	mlxpmd_txq_lost_find(&txq->q);
	count_lost(txq, txq->first_lost);
	/* Nothing is left for mlxpmd_tx_settle() to count or free. */
	txq->first_lost = txq->elts_pi;
	txq->elts_ci = txq->elts_pi;
}

uint32_t
mlxpmd_tx_settle(struct mlxpmd_txq *txq)
{
	uint16_t first, lost;

	mlxpmd_txq_lost_find(&txq->q);
	txq->lost_known = false;
	first = txq->first_lost;
	lost = txq->elts_pi - first;
	count_lost(txq, first);
	if (txq->stamp_due)
		mlxpmd_timesync_tx_forget(txq);
	mlxpmd_tx_free_any(txq, txq->elts_pi);
	txq->q.ci = txq->q.pi;
	return lost;
}

void
mlxpmd_tx_exception(struct mlxpmd_txq *txq)
{
	const struct mlx5_cqe64 *cqe = &txq->q.cqes[txq->q.cq_ci & txq->q.cqe_mask];
	const struct mlx5_err_cqe *err = (const struct mlx5_err_cqe *)cqe;
	const uint64_t tail = mlxpmd_cqe_tail(cqe);

	/*
	 * Order the load of op_own (by the caller) before the loads of the CQE's other members. Load-load order is
	 * enough: nothing is written to the CQE.
	 */
	rte_io_rmb();
	txq->failed_wqe = (uint32_t)tail >> MLXPMD_TAIL_COUNTER_SHIFT;
	if (mlxpmd_cqe_opcode(tail) == MLX5_CQE_REQ_ERR &&
	    (uint16_t)(txq->failed_wqe - txq->q.ci) < (uint16_t)(txq->q.pi - txq->q.ci)) {
		txq->q.cause = MLXPMD_CAUSE_ERROR;
		txq->q.syndrome = err->syndrome;
		txq->q.vendor_syndrome = err->vendor_err_synd;
		MLXPMD_SHARED_ADD(txq->q.stats.syndromes[mlxpmd_syndrome_class[err->syndrome]], 1);
	} else {
		/* Unknown which packets were sent; the device may still read their buffers. */
		txq->q.cause = MLXPMD_CAUSE_BAD;
		MLXPMD_SHARED_ADD(txq->q.stats.cqe_bad, 1);
	}
	__atomic_store_n(&txq->q.state, MLXPMD_QS_ERROR, __ATOMIC_RELAXED);
	(void)mlxpmd_tx_not_ready(txq);
}

uint16_t
mlxpmd_tx_not_ready(struct mlxpmd_txq *txq)
{
	mlxpmd_qstate_quiesce(&txq->q.state);
	return 0;
}
