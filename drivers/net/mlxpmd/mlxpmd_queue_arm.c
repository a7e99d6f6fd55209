/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* What arming and rewinding have in common for receive and send queues: rings, consumer index, start. */

#include <string.h>

#include "mlxpmd_log.h"
#include "mlxpmd_queue.h"

void
mlxpmd_queue_arm(struct mlxpmd_queue *q)
{
	mlxpmd_qstate_store(&q->state, MLXPMD_QS_RESET);
	q->log_cqes = q->hw.cq.log_cqes;
	q->validity = q->hw.cq.enhanced ? MLXPMD_TAIL_PASS : MLXPMD_TAIL_OWNER;
	q->cqe_mask = (1u << q->hw.cq.log_cqes) - 1;
	q->wqe_mask = (1u << q->hw.wq.log_wq_sz) - 1;
	q->ci = 0;
	q->pi = 0;
	q->starved = 0;
	q->syndrome = 0;
	q->vendor_syndrome = 0;
	memset(&q->repair, 0, sizeof(q->repair));
}

int
mlxpmd_queue_arm_fail(const struct mlxpmd_queue *q, int err, const char *why)
{
	return MLXPMD_FAIL(err, "port %u: %s %u cannot be armed: %s", q->port_id,
			   q->kind == MLXPMD_RX ? "rxq" : "txq", q->queue_id, why);
}

void
mlxpmd_queue_rings_set(struct mlxpmd_queue *q)
{
	uint32_t i;

	q->cqes = q->hw.cq.cqes;
	q->cq_dbrec = q->hw.cq.dbrec;
	q->wqes = q->hw.wq.wqes;
	q->wq_dbrec = q->hw.wq.dbrec;
	for (i = 0; i <= q->cqe_mask; i++) {
		q->cqes[i].op_own = (uint8_t)(MLX5_CQE_INVALID << MLXPMD_TAIL_OPCODE_SHIFT | MLX5_CQE_OWNER_MASK);
		q->cqes[i].signature = (uint8_t)-1;
	}
	q->cq_ci = 0;
	q->cq_dbrec[0] = 0;
	q->wq_dbrec[0] = 0;
}

void
mlxpmd_queue_cq_resume(struct mlxpmd_queue *q)
{
	const uint32_t end = q->cq_ci + q->cqe_mask + 1;

	while (q->cq_ci != end && !mlxpmd_queue_cqe_absent(q, q->cq_ci))
		q->cq_ci++;
	mlxpmd_dbrec_write(q->cq_dbrec, q->cq_ci);
	q->wq_dbrec[0] = 0;
}

void
mlxpmd_queue_ready(struct mlxpmd_queue *q)
{
	mlxpmd_dbrec_write(q->wq_dbrec, q->pi);
	q->cause = MLXPMD_CAUSE_NONE;
	mlxpmd_qstate_store(&q->state, MLXPMD_QS_READY);
}
