/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Receive WQEs of queue pairs, from their own ring or from a shared queue. */
#include "dp_qp.h"

static uint16_t
srq_posted(const struct emu_srq *srq)
{
	return (uint16_t)(be32toh(srq->dbrec[0]) - srq->taken);
}

static void
srq_event(struct emu_srq *srq, uint16_t type)
{
	struct prm_eqe eqe = {0};

	eqe.qp_srq_n = htobe32(srq->obj.id);
	emu_dp_event(srq->obj.ctx, &srq->obj, type, &eqe);
}

/* Reports once that fewer WQEs than the limit are left. */
static void
srq_limit_check(struct emu_srq *srq)
{
	if (srq->limit == 0 || srq_posted(srq) >= srq->limit)
		return;
	srq->limit = 0;
	srq_event(srq, PRM_EVENT_TYPE_SRQ_RQ_LIMIT);
}

void
emu_dp_srq_armed(struct emu_srq *srq)
{
	srq_limit_check(srq);
}

static const uint8_t *
srq_head(const struct emu_srq *srq)
{
	uint32_t mask = (1u << srq->log_wqes) - 1;

	return srq->ring + ((size_t)(srq->head & mask) << srq->log_stride_bytes);
}

static void
take_segments(struct dp_recv_wqe *r, const void *from, unsigned segs)
{
	r->segs = segs < DP_MAX_RECV_SEGS ? segs : DP_MAX_RECV_SEGS;
	memcpy(r->seg, from, r->segs * sizeof(r->seg[0]));
}

static bool
srq_wqe(struct emu_srq *srq, struct dp_recv_wqe *r)
{
	uint16_t posted = srq->error ? 0 : srq_posted(srq);

	if (DP_UNLIKELY(srq->obj.unmapped))
		dp_unmapped_met(&srq->obj, &srq->error);
	if (posted > 1u << srq->log_wqes) {
		emu_audit(srq->obj.dev, EMU_AUDIT_BAD_DOORBELL,
			  "RMP 0x%x: %u WQEs posted, the ring has %u", srq->obj.id, posted,
			  1u << srq->log_wqes);
		srq->error = true;
		srq_event(srq, PRM_EVENT_TYPE_SRQ_CATAS_ERROR);
		return false;
	}
	/* A WQE of a list begins with the segment that names its successor. */
	take_segments(r, srq_head(srq) + (srq->linked ? DP_SEG_BYTES : 0),
		      (1u << srq->log_stride_bytes) / DP_SEG_BYTES - srq->linked);
	r->counter = srq->head;
	r->pd = srq->pd;
	return posted != 0;
}

static void
srq_taken(struct emu_srq *srq)
{
	const struct prm_wqe_srq_next_seg *next = (const void *)srq_head(srq);

	srq->head = srq->linked ? be16toh(next->next_wqe_index) : (uint16_t)(srq->head + 1);
	srq->head &= (uint16_t)((1u << srq->log_wqes) - 1);
	srq->taken++;
	srq_limit_check(srq);
}

static bool
rq_wqe(struct emu_qp *qp, struct dp_recv_wqe *r)
{
	const struct emu_rq *rq = &qp->rq;
	uint32_t mask = (1u << rq->log_wqes) - 1;
	uint16_t posted;

	if (rq->ring == NULL)
		return false;
	posted = dp_rq_posted(rq);
	if (posted > 1u << rq->log_wqes) {
		emu_audit(rq->obj.dev, EMU_AUDIT_BAD_DOORBELL,
			  "QP 0x%x: %u receive WQEs posted, the ring has %u", qp->obj.id, posted,
			  1u << rq->log_wqes);
		dp_qp_event(qp, PRM_EVENT_TYPE_WQ_CATAS_ERROR);
		dp_qp_fail(qp);
		return false;
	}
	take_segments(r, rq->ring + ((size_t)(rq->ci & mask) << rq->log_stride_bytes),
		      (1u << rq->log_stride_bytes) / DP_SEG_BYTES);
	r->counter = rq->ci;
	r->pd = rq->pd;
	return posted != 0;
}

bool
dp_qp_recv_wqe(struct emu_qp *qp, struct dp_recv_wqe *r)
{
	return qp->srq != NULL ? srq_wqe(qp->srq, r) : rq_wqe(qp, r);
}

void
dp_qp_recv_taken(struct emu_qp *qp)
{
	struct emu_port_stats *stats = &qp->obj.dev->stats;

	if (qp->srq != NULL) {
		stats->wqe_fetch_bytes += 1u << qp->srq->log_stride_bytes;
		srq_taken(qp->srq);
	} else {
		stats->wqe_fetch_bytes += 1u << qp->rq.log_stride_bytes;
		qp->rq.ci++;
	}
}
