/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* What arming and rewinding have in common for receive and send queues: rings, consumer index, start. */

#include "mlxpmd_queue.h"

void
mlxpmd_queue_rings_set(struct mlxpmd_queue *q)
{
	uint32_t i;

	q->cqes = q->hw.cq.cqes;
	q->cq_dbrec = q->hw.cq.dbrec;
	q->wqes = q->hw.wq.wqes;
	q->wq_dbrec = q->hw.wq.dbrec;
	for (i = 0; i <= q->cqe_mask; i++)
		q->cqes[i].op_own = (uint8_t)(MLX5_CQE_INVALID << MLXPMD_TAIL_OPCODE_SHIFT | MLX5_CQE_OWNER_MASK);
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
