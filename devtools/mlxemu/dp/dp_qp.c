/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Queue pairs: changes of state by firmware commands and by errors; events. */
#include <stdlib.h>

#include "dp_qp.h"

struct dp_qp *
dp_qp_get(struct emu_qp *qp)
{
	if (qp->obj.dp == NULL && dp_port_of(qp->obj.dev) != NULL) {
		struct dp_qp *d = calloc(1, sizeof(*d));

		if (d != NULL)
			d->qp = qp;
		qp->obj.dp = d;
	}
	return qp->obj.dp;
}

void
dp_qp_event(struct emu_qp *qp, uint16_t type)
{
	struct prm_eqe eqe = {0};

	eqe.qp_srq_n = htobe32(qp->obj.id);
	emu_dp_event(qp->obj.ctx, &qp->obj, type, &eqe);
}

static enum emu_queue_state
sq_state(uint8_t state)
{
	if (state == PRM_QPC_STATE_RTS)
		return EMU_QS_RDY;
	return state == PRM_QPC_STATE_ERR || state == PRM_QPC_STATE_SQER ? EMU_QS_ERR : EMU_QS_RST;
}

static enum emu_queue_state
rq_state(uint8_t state)
{
	if (state == PRM_QPC_STATE_RST)
		return EMU_QS_RST;
	return state == PRM_QPC_STATE_ERR ? EMU_QS_ERR : EMU_QS_RDY;
}

void
emu_dp_qp_changed(struct emu_qp *qp)
{
	enum emu_queue_state sq = sq_state(qp->state), rq = rq_state(qp->state);
	struct dp_qp *d;

	if (qp->obj.unmapped) {
		qp->state = PRM_QPC_STATE_ERR;
		return;
	}
	d = dp_qp_get(qp);
	if (d == NULL)
		return;
	if (qp->sq.cq != NULL)
		dp_cq_get(qp->sq.cq);
	if (qp->rq.cq != NULL)
		dp_cq_get(qp->rq.cq);
	if (qp->sq.ring != NULL && (qp->sq.state != sq || qp->sq.obj.dp == NULL)) {
		d->waiting = false;
		d->rnr_tries = d->ack_tries = 0;
		qp->sq.state = sq;
		emu_dp_sq_changed(&qp->sq);
	}
	if (qp->rq.state == rq)
		return;
	qp->rq.state = rq;
	if (qp->rq.ring != NULL)
		emu_dp_rq_changed(&qp->rq);
	/* The QP consumes no further WQEs of the SRQ. */
	if (qp->srq != NULL && rq == EMU_QS_ERR)
		dp_qp_event(qp, PRM_EVENT_TYPE_SRQ_LAST_WQE);
}

void
dp_qp_fail(struct emu_qp *qp)
{
	if (qp->state == PRM_QPC_STATE_ERR)
		return;
	qp->state = PRM_QPC_STATE_ERR;
	emu_dp_qp_changed(qp);
}

void
dp_qp_forget(struct emu_qp *qp)
{
	dp_sq_forget(&qp->sq);
	dp_rq_forget(&qp->rq);
	free(qp->obj.dp);
	qp->obj.dp = NULL;
}
