/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Receive completions that the fast path does not handle: compressed ones, error completions, and CQEs that make no
 * sense.
 */

#include <ethdev_driver.h>
#include <rte_branch_prediction.h>

#include "mlxpmd_rx_comp.h"

static void
drop_one(struct mlxpmd_rxq *rxq)
{
	mlxpmd_rx_wqe_free(rxq, rxq->q.ci);
	rxq->q.ci++;
	MLXPMD_SHARED_ADD(rxq->q.cq_ci, 1);
}

uint16_t
mlxpmd_rx_not_ready(struct mlxpmd_rxq *rxq)
{
	mlxpmd_qstate_quiesce(&rxq->q.state);
	return 0;
}

void
mlxpmd_rx_refused(struct mlxpmd_rxq *rxq, const struct mlx5_cqe64 *cqe)
{
	const struct mlx5_err_cqe *err = (const struct mlx5_err_cqe *)cqe;

	if (mlxpmd_cqe_opcode(mlxpmd_cqe_tail(cqe)) != MLX5_CQE_RESP_ERR) {
		MLXPMD_SHARED_ADD(rxq->q.stats.cqe_bad, 1);
		return;
	}
	MLXPMD_SHARED_ADD(rxq->q.stats.errors, 1);
	MLXPMD_SHARED_ADD(rxq->q.stats.syndromes[mlxpmd_syndrome_class[err->syndrome]], 1);
	rxq->q.syndrome = err->syndrome;
	rxq->q.vendor_syndrome = err->vendor_err_synd;
}

void
mlxpmd_rx_fail(struct mlxpmd_rxq *rxq, enum mlxpmd_qcause cause)
{
	rxq->q.cause = cause;
	__atomic_store_n(&rxq->q.state, MLXPMD_QS_ERROR, __ATOMIC_RELAXED);
}

bool
mlxpmd_rx_exception(struct mlxpmd_rxq *rxq)
{
	const struct mlx5_cqe64 *cqe = &rxq->q.cqes[rxq->q.cq_ci & rxq->q.cqe_mask];
	const struct mlx5_err_cqe *err = (const struct mlx5_err_cqe *)cqe;
	const uint64_t tail = mlxpmd_cqe_tail(cqe);
	const uint16_t counter = (uint32_t)tail >> MLXPMD_TAIL_COUNTER_SHIFT;
	const bool in_step = rxq->q.ci != rxq->q.pi && ((counter ^ rxq->q.ci) & rxq->q.wqe_mask) == 0;
	const bool error = mlxpmd_cqe_opcode(tail) == MLX5_CQE_RESP_ERR;
	bool drop;

	/*
	 * Order the load of op_own (by the caller) before the loads of the CQE's other members. Load-load order is
	 * enough: nothing is written to the CQE.
	 */
	rte_io_rmb();
	/* The device may have written the CQE after the fast path read it: then it is an ordinary packet. */
	if (in_step && mlxpmd_cqe_opcode(tail) == MLX5_CQE_RESP_SEND &&
	    ((uint32_t)tail & MLXPMD_TAIL_FORMAT) == 0 &&
	    rte_be_to_cpu_32(cqe->byte_cnt) - 1 < rxq->len_max)
		return true;
	/* There are at most as many completions as posted WQEs. */
	if (mlxpmd_rx_expand_next(rxq, tail, in_step, (uint16_t)(rxq->q.pi - rxq->q.ci)))
		return true;
	mlxpmd_rx_refused(rxq, cqe);
	if (error) {
		/* A packet longer than its WQE is dropped; any other syndrome puts the RQ into the error state. */
		drop = in_step && err->syndrome == MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR;
	} else {
		/* Impossible length in the expected CQE: drop the packet, the indices remain in step. */
		drop = in_step && mlxpmd_cqe_opcode(tail) == MLX5_CQE_RESP_SEND &&
		       ((uint32_t)tail & MLXPMD_TAIL_FORMAT) == 0;
	}
	if (drop)
		drop_one(rxq);
	else
		mlxpmd_rx_fail(rxq, error && in_step ? MLXPMD_CAUSE_ERROR : MLXPMD_CAUSE_BAD);
	return drop;
}
