/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Send queues that fail: error completions, and which packets were lost. */

#include <ethdev_driver.h>

#include "mlxpmd_tx.h"

/* Packets of WQEs: those that are in elts, and those that the WQEs contain. */
struct wqe_packets {
	uint16_t elts;
	uint32_t copied;
	uint64_t copied_bytes;
};

/* byte_count of the i-th 16-byte unit of the WQE at `wqe`; wraps at the end of the ring. */
static uint32_t
byte_count(const struct mlxpmd_txq *txq, uint16_t wqe, uint32_t i)
{
	const struct mlx5_wqe_data_seg *units = mlxpmd_tx_wqebb(txq, wqe + i / MLXPMD_WQEBB_DS);

	return rte_be_to_cpu_32(units[i % MLXPMD_WQEBB_DS].byte_count);
}

/* Adds the packets of data segments, one each. */
static void
segments_add(const struct mlxpmd_txq *txq, uint16_t wqe, uint32_t ds, struct wqe_packets *sum)
{
	uint32_t i, bytes, units;

	for (i = MLXPMD_TITLE_DS; i < ds; i += units) {
		bytes = byte_count(txq, wqe, i);
		units = 1;
		if (bytes & PRM_WQE_INLINE_SEG) {
			bytes &= ~PRM_WQE_INLINE_SEG;
			units = mlxpmd_tx_copy_bytes(bytes) / MLXPMD_DS_BYTES;
			sum->copied++;
			sum->copied_bytes += bytes;
		} else {
			sum->elts++;
		}
	}
}

/* Is there no data segment behind the inline header of the SEND WQE? */
static bool
is_header_only(const struct mlxpmd_txq *txq, uint16_t wqe, uint32_t ds)
{
	const struct mlx5_wqe_eth_seg *eth = (const void *)((uint8_t *)mlxpmd_tx_wqebb(txq, wqe) + MLXPMD_DS_BYTES);
	const uint32_t bytes = rte_be_to_cpu_16(eth->inline_hdr_sz), first = sizeof(eth->inline_hdr_start);

	/* Without a header, or with PRM_WQE_VLAN_INSERT in its place, the lengths differ. */
	return ds == MLXPMD_TITLE_DS + (RTE_MAX(bytes, first) - first + MLXPMD_DS_BYTES - 1) / MLXPMD_DS_BYTES;
}

/* Adds the packets of the WQE at `wqe`. Returns the number of its WQEBBs (0: no WQE starts there). */
static uint16_t
wqe_add(const struct mlxpmd_txq *txq, uint16_t wqe, struct wqe_packets *sum)
{
	const struct mlxpmd_txq_wqe *info = &txq->wqe_info[wqe & txq->q.wqe_mask];
	const struct mlx5_wqe_ctrl_seg *ctrl = mlxpmd_tx_wqebb(txq, wqe);
	uint32_t ds = rte_be_to_cpu_32(ctrl->qpn_ds) & PRM_WQE_CTRL_SEG_QPN_DS_DS_MASK;

	switch (PRM_BITS(rte_be_to_cpu_32(ctrl->opmod_idx_opcode), WQE_CTRL_SEG_OPMOD_IDX_OPCODE_OPCODE)) {
	case PRM_WQE_OPCODE_ENHANCED_MPSW:
		segments_add(txq, wqe, ds, sum);
		break;
	case MLX5_OPCODE_SEND:
		/* The length of the header may include a tag. */
		if (is_header_only(txq, wqe, ds) && info->copied != 0) {
			sum->copied++;
			sum->copied_bytes += info->copied;
		} else {
			sum->elts++;
		}
		break;
	case MLX5_OPCODE_TSO:
		sum->elts++;
		break;
	default:
		break;
	}
	return (ds + MLXPMD_WQEBB_DS - 1) / MLXPMD_WQEBB_DS;
}

/* Adds the packets of the WQEs from `at` to before `end`. Returns false if no WQE starts at `end`. */
static bool
wqes_add(const struct mlxpmd_txq *txq, uint16_t at, uint16_t end, struct wqe_packets *sum)
{
	uint16_t wqebbs;

	while (at != end) {
		wqebbs = wqe_add(txq, at, sum);
		if (wqebbs == 0 || wqebbs > (uint16_t)(end - at))
			return false;
		at += wqebbs;
	}
	return true;
}

/* What was not sent: moves it from packets and bytes to errors. Returns the number of packets. */
static uint32_t
count_lost(struct mlxpmd_txq *txq)
{
	uint32_t lost = (uint16_t)(txq->elts_pi - txq->first_lost) + txq->lost_copied;
	uint64_t packets = lost, bytes = txq->lost_copied_bytes, headers;
	const struct rte_mbuf *m;
	uint16_t i;

	for (i = txq->first_lost; i != txq->elts_pi; i++) {
		m = txq->q.elts[i & txq->elts_mask];
		packets += mlxpmd_tso_more(txq, m, &headers);
		bytes += m->pkt_len + headers;
	}
	MLXPMD_SHARED_ADD(txq->q.stats.bytes, -bytes);
	MLXPMD_SHARED_ADD(txq->q.stats.packets, -packets);
	MLXPMD_SHARED_ADD(txq->q.stats.errors, lost);
	MLXPMD_SHARED_ADD(txq->q.stats.lost[txq->q.cause == MLXPMD_CAUSE_ERROR ?
					    mlxpmd_syndrome_class[txq->q.syndrome] : MLXPMD_NB_SYN], packets);
	return lost;
}

void
mlxpmd_txq_lost_find(struct mlxpmd_queue *q)
{
	struct mlxpmd_txq *txq = mlxpmd_txq_of(q);
	struct wqe_packets sent = { 0 }, lost = { 0 };
	uint16_t from = txq->failed_wqe, in_flight = q->pi - q->ci;

	if (txq->q.elts == NULL || txq->lost_known)
		return;
	/* The SQ executes WQEs in order: all before the failed one were sent, none from it on. */
	if (q->cause != MLXPMD_CAUSE_ERROR || (uint16_t)(from - q->ci) >= in_flight ||
	    !wqes_add(txq, q->ci, from, &sent)) {
		sent.elts = 0;
		from = q->ci;
	}
	(void)wqes_add(txq, from, q->pi, &lost);
	txq->first_lost = txq->elts_ci + sent.elts;
	txq->lost_copied = lost.copied;
	txq->lost_copied_bytes = lost.copied_bytes;
	txq->lost_known = true;
}

void
mlxpmd_txq_abandon(struct mlxpmd_txq *txq)
{
	mlxpmd_txq_lost_find(&txq->q);
	(void)count_lost(txq);
	/* Nothing is left for mlxpmd_tx_settle() to count or free. */
	txq->first_lost = txq->elts_pi;
	txq->lost_copied = 0;
	txq->lost_copied_bytes = 0;
	txq->elts_ci = txq->elts_pi;
}

uint32_t
mlxpmd_tx_settle(struct mlxpmd_txq *txq)
{
	uint32_t lost;

	mlxpmd_txq_lost_find(&txq->q);
	txq->lost_known = false;
	lost = count_lost(txq);
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
mlxpmd_tx_refuse(struct mlxpmd_txq *txq, uint16_t n)
{
	MLXPMD_SHARED_ADD(txq->q.stats.refused, n);
	return mlxpmd_tx_not_ready(txq);
}

uint16_t
mlxpmd_tx_not_ready(struct mlxpmd_txq *txq)
{
	mlxpmd_qstate_quiesce(&txq->q.state);
	return 0;
}
