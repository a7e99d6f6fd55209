/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Send queues: doorbells, execution in order, completions, errors and flushing. */
#include <inttypes.h>
#include <stdlib.h>

#include "dp_fault.h"
#include "dp_qp.h"
#include "dp_time.h"

static void
activate(struct dp_sq *q)
{
	struct dp_port *port = dp_port_of(q->sq->obj.dev);

	if (q->active)
		return;
	q->active = true;
	TAILQ_INSERT_TAIL(&port->active, q, in_active);
}

static void
deactivate(struct dp_sq *q)
{
	struct dp_port *port = dp_port_of(q->sq->obj.dev);

	if (q->active && port != NULL)
		TAILQ_REMOVE(&port->active, q, in_active);
	q->active = false;
}

static struct dp_sq *
sq_get(struct emu_sq *sq)
{
	struct dp_sq *q = sq->obj.dp;

	if (q != NULL || dp_port_of(sq->obj.dev) == NULL)
		return q;
	q = calloc(1, sizeof(*q));
	if (q == NULL)
		return NULL;
	q->sq = sq;
	q->uar = sq->uar != NULL ? dp_uar_get(sq->uar) : NULL;
	if (q->uar != NULL)
		TAILQ_INSERT_TAIL(&q->uar->sqs, q, in_uar);
	sq->obj.dp = q;
	return q;
}

static uint16_t
record_pi(const struct emu_sq *sq)
{
	return (uint16_t)be32toh(sq->dbrec[1]);
}

void
emu_dp_sq_changed(struct emu_sq *sq)
{
	struct dp_sq *q;

	if (sq->obj.unmapped || (sq->qp != NULL && sq->qp->obj.unmapped)) {
		sq->state = EMU_QS_ERR;
		return;
	}
	q = sq_get(sq);
	if (q == NULL)
		return;
	if (sq->cq != NULL)
		dp_cq_get(sq->cq);
	switch (sq->state) {
	case EMU_QS_RDY:
		q->failed = false;
		q->frames_done = 0;
		q->waiting = false;
		q->depart_ns = 0;
		emu_dp_sq_paced(sq);
		/* The present value of the doorbell record is no request. */
		q->seen_pi = record_pi(sq);
		break;
	case EMU_QS_ERR:
		activate(q);
		break;
	default:
		q->frames_done = 0;
		q->waiting = false;
		q->ringing = 0;
		deactivate(q);
		break;
	}
}

void
dp_sq_forget(struct emu_sq *sq)
{
	struct dp_sq *q = sq->obj.dp;

	if (q == NULL)
		return;
	deactivate(q);
	if (q->uar != NULL)
		TAILQ_REMOVE(&q->uar->sqs, q, in_uar);
	free(q);
	sq->obj.dp = NULL;
}

static void
complete_error(struct dp_sq *q, uint16_t index, uint8_t opcode, uint8_t syndrome, uint8_t vendor)
{
	struct emu_sq *sq = q->sq;

	dp_cq_write_error(sq->cq, DP_CQE_ERR_SQ, (uint32_t)opcode << 24 | sq->obj.id,
			  sq->user_index, index, syndrome, vendor);
	sq->obj.dev->stats.tx_errors++;
}

/* Invalid producer index: it is unknown which WQEs to execute or to flush. */
static void
refuse_producer(struct dp_sq *q, uint16_t pi)
{
	struct emu_sq *sq = q->sq;

	emu_audit(sq->obj.dev, EMU_AUDIT_BAD_DOORBELL,
		  "SQ 0x%x: producer index 0x%x is %u WQEBBs ahead of 0x%x, the ring has %u",
		  sq->obj.id, pi, (uint16_t)(pi - sq->ci), sq->ci, 1u << sq->log_wqebbs);
	if (!q->failed)
		complete_error(q, sq->ci, PRM_WQE_OPCODE_NOP, PRM_CQE_SYNDROME_LOCAL_QP_OP_ERR, 0);
	q->failed = true;
	sq->state = EMU_QS_ERR;
	sq->hw_pi = sq->ci;
	if (sq->qp != NULL)
		dp_qp_stop_sending(sq->qp);
}

void
dp_sq_take(struct dp_sq *q)
{
	struct emu_sq *sq = q->sq;
	uint16_t pi = record_pi(sq);

	q->seen_pi = pi;
	if (sq->state == EMU_QS_RST)
		return;
	if ((uint16_t)(pi - sq->ci) > 1u << sq->log_wqebbs ||
	    (uint16_t)(pi - sq->ci) < (uint16_t)(sq->hw_pi - sq->ci)) {
		refuse_producer(q, pi);
		return;
	}
	sq->hw_pi = pi;
	if (pi != sq->ci)
		activate(q);
}

/* With --order relaxed a doorbell can be served late: the record is then a later one. */
static void
rung(struct dp_sq *q)
{
	if (DP_UNLIKELY(dp_relaxed) && q->ringing == 0)
		q->ringing = dp_order_doorbell();
	if (DP_LIKELY(q->ringing == 0)) {
		dp_sq_take(q);
		return;
	}
	q->seen_pi = record_pi(q->sq);
	activate(q);
}

void
dp_sq_serve(struct dp_port *port)
{
	struct dp_sq *q;

	TAILQ_FOREACH(q, &port->active, in_active) {
		if (q->ringing == 0)
			continue;
		q->ringing = 0;
		dp_sq_take(q);
	}
}

/* True if the doorbell belongs to a queue with unmapped memory. */
static bool
dp_sq_met(struct emu_dev *dev, uint32_t sqn)
{
	struct emu_obj *obj = emu_obj_find(dev, EMU_OBJ_SQ, sqn);

	if (obj == NULL)
		obj = emu_obj_find(dev, EMU_OBJ_QP, sqn);
	if (obj == NULL || !obj->unmapped)
		return false;
	dp_unmapped_met(obj, &obj->unmapped_met);
	return true;
}

void
dp_sq_ring(struct dp_uar *uar, uint32_t sqn, bool exact)
{
	struct emu_dev *dev = uar->uar->obj.dev;
	bool found = false;
	struct dp_sq *q;

	TAILQ_FOREACH(q, &uar->sqs, in_uar) {
		bool named = q->sq->obj.id == sqn;

		/*
		 * A polled register has only the last of several stores: read the doorbell records of all
		 * SQs.
		 */
		if ((named || (!exact && record_pi(q->sq) != q->seen_pi)) &&
		    !(emu_fault_at(EMU_ON_DOORBELL) && dp_fault_doorbell(q, NULL)))
			rung(q);
		found |= named;
	}
	if (!found && !dp_sq_met(dev, sqn))
		emu_audit(dev, EMU_AUDIT_BAD_DOORBELL,
			  "UAR 0x%x: doorbell for SQ 0x%x, which does not ring here",
			  uar->uar->obj.id, sqn);
}

static const struct prm_wqe_ctrl_seg *
ctrl_of(const struct emu_sq *sq, uint16_t index)
{
	uint32_t mask = (1u << sq->log_wqebbs) - 1;

	return (const struct prm_wqe_ctrl_seg *)(sq->ring + (size_t)(index & mask) * DP_WQEBB_BYTES);
}

/*
 * WQEs that will not be executed complete as flushed. Completion mode ONLY_FIRST_ERR is for
 * programs whose CQ has no room for one completion per WQE.
 */
static void
flush(struct dp_sq *q)
{
	struct emu_sq *sq = q->sq;

	while (sq->ci != sq->hw_pi) {
		const struct prm_wqe_ctrl_seg *ctrl = ctrl_of(sq, sq->ci);
		uint8_t ds = be32toh(ctrl->qpn_ds) & PRM_WQE_CTRL_SEG_QPN_DS_DS_MASK;
		uint8_t ce = PRM_BITS(ctrl->fm_ce_se, WQE_CTRL_SEG_FM_CE_SE_CE);
		uint8_t opcode = be32toh(ctrl->opmod_idx_opcode) & 0xff;

		if (sq->flush_in_error && (ce != PRM_WQE_CE_ONLY_FIRST_ERR || !q->failed))
			complete_error(q, sq->ci, opcode, PRM_CQE_SYNDROME_WR_FLUSH_ERR, 0);
		q->failed = true;
		if (ds == 0 || dp_wqebbs_of(ds) > (uint16_t)(sq->hw_pi - sq->ci))
			sq->ci = sq->hw_pi;
		else
			sq->ci = (uint16_t)(sq->ci + dp_wqebbs_of(ds));
	}
}

/* Departure of the last frame, or end of a WQE without frames. */
static uint64_t
sent_stamp(const struct dp_wqe *w)
{
	if (DP_LIKELY(w->frames != 0 && w->sq->qp == NULL))
		return dp_time_stamp(w->port, &w->port->tx, w->sq->real_time);
	return dp_time_stamp_now(w->port, w->depart_ns, w->sq->real_time);
}

void
dp_sq_complete(struct dp_sq *q, const struct dp_wqe *w)
{
	struct emu_sq *sq = q->sq;
	struct prm_cqe64 *cqe;

	if (emu_fault_at(EMU_ON_CQE_WRITE) && dp_fault_sq_cqe(q, w))
		return;
	cqe = dp_cq_begin(sq->cq);
	/* A CQ in error stops the queues that complete to it. */
	if (DP_UNLIKELY(cqe == NULL)) {
		sq->state = EMU_QS_ERR;
		q->failed = true;
		return;
	}
	cqe->srqn_uidx = htobe32(sq->user_index & 0xffffff);
	cqe->byte_cnt = htobe32((uint32_t)w->bytes);
	cqe->timestamp = htobe64(sent_stamp(w));
	if (DP_UNLIKELY(w->cqe_room != 0))
		memcpy(dp_cqe_data(cqe, w->cqe_room), w->answer, w->bytes);
	dp_cq_end_format(sq->cq, cqe, (uint32_t)w->opcode << 24 | sq->obj.id, w->index,
			 PRM_CQE_OPCODE_REQ, dp_cqe_data_format(w->cqe_room), w->solicited);
}

void
dp_sq_fail(struct dp_sq *q, const struct dp_wqe *w)
{
	complete_error(q, w->index, w->opcode, w->syndrome, w->vendor);
	q->failed = true;
	q->sq->state = EMU_QS_ERR;
}

void
dp_sq_count(struct dp_sq *q, const struct dp_wqe *w)
{
	struct emu_port_stats *s = &q->sq->obj.dev->stats;

	q->sq->wqes++;
	q->sq->frames += w->frames;
	q->sq->bytes += w->bytes;
	s->wqe_fetch_bytes += (uint64_t)dp_wqebbs_of(w->ds) * DP_WQEBB_BYTES;
	s->dma_reads += w->reads;
	s->dma_read_bytes += w->read_bytes;
}

void
dp_wqe_begin(struct dp_wqe *w, struct dp_sq *q)
{
	struct emu_sq *sq = q->sq;

	w->q = q;
	w->sq = sq;
	w->port = dp_port_of(sq->obj.dev);
	w->index = sq->ci;
	w->depart_ns = DP_UNLIKELY(q->depart_ns != 0) ? dp_wait_departure(q, sq->ci) : 0;
	w->frames = w->reads = 0;
	w->bytes = w->read_bytes = 0;
	w->vendor = w->cqe_room = 0;
}

/* Executes the WQE at ci. DP_HOLD: the wire takes no frame now. */
static enum dp_exec
step(struct dp_sq *q, struct dp_wqe *w)
{
	struct emu_sq *sq = q->sq;
	enum dp_exec done;

	dp_wqe_begin(w, q);
	done = dp_wqe_execute(w);
	if (done == DP_HOLD)
		return done;
	q->frames_done = 0;
	dp_sq_count(q, w);
	if (done == DP_ERROR) {
		dp_sq_fail(q, w);
		/* The size of the WQE is unknown if its control segment is invalid. */
		sq->ci = w->ds == 0 ? sq->hw_pi : (uint16_t)(sq->ci + dp_wqebbs_of(w->ds));
		return done;
	}
	sq->ci = (uint16_t)(sq->ci + dp_wqebbs_of(w->ds));
	if (w->ce >= PRM_WQE_CE_CQ_UPDATE)
		dp_sq_complete(q, w);
	return DP_DONE;
}

void
dp_sq_settle(struct dp_sq *q)
{
	if (q->sq->state == EMU_QS_ERR)
		flush(q);
	if ((q->sq->ci == q->sq->hw_pi && q->ringing == 0) || q->sq->state == EMU_QS_RST)
		deactivate(q);
}

unsigned
dp_sq_run(struct dp_sq *q, unsigned budget)
{
	struct emu_sq *sq = q->sq;
	unsigned done = 0;
	struct dp_wqe w;

	if (DP_UNLIKELY(q->ringing != 0) && --q->ringing == 0)
		dp_sq_take(q);
	if (DP_UNLIKELY(dp_port_of(sq->obj.dev)->pause_ns != 0) && dp_pause_goes_on(dp_port_of(sq->obj.dev)))
		return 0;
	if (DP_UNLIKELY(sq->qp != NULL))
		return dp_qp_run(q, budget);
	dp_batch_begin(dp_port_of(sq->obj.dev)->shared);
	if (DP_UNLIKELY(q->waiting) && dp_wait_goes_on(q))
		return 0;
	while (done < budget && sq->ci != sq->hw_pi && sq->state == EMU_QS_RDY) {
		if (step(q, &w) == DP_HOLD)
			return done;
		done += w.frames + 1;
	}
	dp_sq_settle(q);
	return done;
}
