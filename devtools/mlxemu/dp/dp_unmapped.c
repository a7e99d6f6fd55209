/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Memory that is unmapped or released while device objects use it: of a VFIO context, whose memory may be mapped
 * again, and of a verbs context after an internal error.
 *
 * The work is done when the program maps or unmaps, so that the data path needs no check: a key over
 * unmapped memory is resolved at each access from then on, and a queue whose ring or doorbell record is
 * unmapped leaves the engine's lists. The error is reported when the device would have accessed the
 * memory: at the next doorbell, frame, completion or event.
 */
#include "../core/emu_iommu.h"
#include "dp_int.h"
#include "dp_qp.h"

/* Replaces rings and doorbell records of such queues; zeros: nothing is posted. */
#define UNMAPPED_BYTES 4096
static uint8_t unmapped_page[UNMAPPED_BYTES] __attribute__((aligned(64)));

/** A range that is mapped, or that is about to be unmapped. */
struct range {
	uint64_t iova, len;
	const uint8_t *va;
};

static bool
pages_in(const struct emu_pages *pages, const struct range *r)
{
	uint64_t page = 1ull << pages->log_page;

	for (uint64_t i = 0; i < pages->n; i++)
		if (pages->pa[i] < r->iova + r->len && r->iova < pages->pa[i] + page)
			return true;
	return false;
}

/* The same memory can have several mappings: check umem and range. */
static bool
bytes_in(const struct emu_umem *umem, const volatile void *at, uint64_t len, const struct range *r)
{
	const uint8_t *p = (const uint8_t *)(uintptr_t)at;

	return at != NULL && umem != NULL && umem->pages != NULL && p < r->va + r->len &&
	       r->va < p + len && pages_in(umem->pages, r);
}

static void
key_lost(struct emu_mkey *mkey, const struct range *r)
{
	if (mkey->pages == NULL || !mkey->whole || !pages_in(mkey->pages, r))
		return;
	mkey->whole = false;
	mkey->obj.dev->mkey_changes++;
}

static bool
cq_hit(const struct emu_cq *cq, const struct range *r)
{
	return bytes_in(cq->umem, cq->ring, 1ull << (cq->log_size + cq->log_cqe_bytes), r) ||
	       bytes_in(cq->dbr_umem, cq->dbrec, 8, r);
}

static bool
sq_hit(const struct emu_sq *sq, const struct range *r)
{
	return bytes_in(sq->umem, sq->ring, (uint64_t)DP_WQEBB_BYTES << sq->log_wqebbs, r) ||
	       bytes_in(sq->dbr_umem, sq->dbrec, 8, r);
}

static bool
rq_hit(const struct emu_rq *rq, const struct range *r)
{
	return bytes_in(rq->umem, rq->ring, 1ull << (rq->log_wqes + rq->log_stride_bytes), r) ||
	       bytes_in(rq->dbr_umem, rq->dbrec, 8, r);
}

static bool
is_hit(const struct emu_obj *obj, const struct range *r)
{
	const struct emu_srq *srq = (const struct emu_srq *)obj;
	const struct emu_qp *qp = (const struct emu_qp *)obj;
	const struct emu_eq *eq = (const struct emu_eq *)obj;

	switch (obj->type) {
	case EMU_OBJ_CQ:
		return cq_hit((const struct emu_cq *)obj, r);
	case EMU_OBJ_SQ:
		return sq_hit((const struct emu_sq *)obj, r);
	case EMU_OBJ_RQ:
		return rq_hit((const struct emu_rq *)obj, r);
	case EMU_OBJ_QP:
		return sq_hit(&qp->sq, r) || rq_hit(&qp->rq, r);
	case EMU_OBJ_RMP:
		return bytes_in(srq->umem, srq->ring,
				1ull << (srq->log_wqes + srq->log_stride_bytes), r) ||
		       bytes_in(srq->dbr_umem, srq->dbrec, 8, r);
	case EMU_OBJ_EQ:
		return pages_in(eq->pages, r);
	default:
		return false;
	}
}

static void
sq_cut_off(struct emu_sq *sq)
{
	sq->state = EMU_QS_ERR;
	sq->ring = unmapped_page;
	sq->dbrec = (void *)unmapped_page;
	sq->ci = sq->hw_pi = 0;
}

static void
rq_cut_off(struct emu_rq *rq)
{
	rq->state = EMU_QS_ERR;
	rq->ring = unmapped_page;
	rq->dbrec = (void *)unmapped_page;
	rq->ci = 0;
}

static void
srq_cut_off(struct emu_srq *srq)
{
	srq->ring = unmapped_page;
	srq->dbrec = (void *)unmapped_page;
	srq->head = srq->taken = 0;
}

/* Disconnects an object from unmapped memory and from the engine; queries report it in error. */
static void
cut_off(struct emu_obj *obj)
{
	struct emu_qp *qp = (struct emu_qp *)obj;

	obj->unmapped = true;
	emu_dp_forget(obj);
	switch (obj->type) {
	case EMU_OBJ_CQ:
		((struct emu_cq *)obj)->ring = unmapped_page;
		((struct emu_cq *)obj)->dbrec = (void *)unmapped_page;
		break;
	case EMU_OBJ_SQ:
		sq_cut_off((struct emu_sq *)obj);
		break;
	case EMU_OBJ_RQ:
		rq_cut_off((struct emu_rq *)obj);
		break;
	case EMU_OBJ_QP:
		qp->state = PRM_QPC_STATE_ERR;
		sq_cut_off(&qp->sq);
		rq_cut_off(&qp->rq);
		break;
	case EMU_OBJ_RMP:
		srq_cut_off((struct emu_srq *)obj);
		break;
	default:
		((struct emu_eq *)obj)->ring = unmapped_page;
		break;
	}
}

void
emu_dp_unmapping(struct emu_ctx *ctx, uint64_t iova, const void *va, uint64_t len)
{
	const struct range r = {.iova = iova, .len = len, .va = va};
	struct emu_obj *obj;

	TAILQ_FOREACH(obj, &ctx->owned, owned) {
		if (obj->type == EMU_OBJ_MKEY)
			key_lost((struct emu_mkey *)obj, &r);
		else if (!obj->unmapped && is_hit(obj, &r))
			cut_off(obj);
	}
}

void
emu_dp_mapped(struct emu_ctx *ctx, uint64_t iova, uint64_t len)
{
	const struct range r = {.iova = iova, .len = len};
	struct emu_obj *obj;

	/* Queues stay in error; a key works again when its memory is mapped. */
	TAILQ_FOREACH(obj, &ctx->owned, owned) {
		struct emu_mkey *mkey = (struct emu_mkey *)obj;

		if (obj->type == EMU_OBJ_MKEY && mkey->pages != NULL && !mkey->whole &&
		    pages_in(mkey->pages, &r))
			emu_mkey_resolve(mkey);
	}
}

static bool
is_in_umem(const struct emu_obj *obj, const struct emu_umem *umem)
{
	const struct emu_cq *cq = (const struct emu_cq *)obj;
	const struct emu_sq *sq = (const struct emu_sq *)obj;
	const struct emu_rq *rq = (const struct emu_rq *)obj;
	const struct emu_qp *qp = (const struct emu_qp *)obj;
	const struct emu_srq *srq = (const struct emu_srq *)obj;

	switch (obj->type) {
	case EMU_OBJ_CQ:
		return cq->umem == umem || cq->dbr_umem == umem;
	case EMU_OBJ_SQ:
		return sq->umem == umem || sq->dbr_umem == umem;
	case EMU_OBJ_RQ:
		return rq->umem == umem || rq->dbr_umem == umem;
	case EMU_OBJ_QP:
		return qp->sq.umem == umem || qp->sq.dbr_umem == umem || qp->rq.umem == umem ||
		       qp->rq.dbr_umem == umem;
	case EMU_OBJ_RMP:
		return srq->umem == umem || srq->dbr_umem == umem;
	default:
		return false;
	}
}

/* Whether the device reads from the send queue without another doorbell. */
static bool
is_sending(const struct emu_obj *obj)
{
	const struct emu_sq *sq = (const struct emu_sq *)obj;

	return obj->type == EMU_OBJ_SQ && sq->state == EMU_QS_RDY && sq->hw_pi != sq->ci;
}

static void
umem_given_back(const struct emu_umem *umem)
{
	struct emu_obj *obj;
	bool sending;

	TAILQ_FOREACH(obj, &umem->obj.ctx->owned, owned) {
		if (obj->type == EMU_OBJ_MKEY && ((struct emu_mkey *)obj)->umem == umem)
			obj->given_back = true;
		if (obj->unmapped || !is_in_umem(obj, umem))
			continue;
		sending = is_sending(obj);
		obj->given_back = true;
		cut_off(obj);
		if (sending)
			dp_unmapped_met(obj, &obj->unmapped_met);
	}
}

void
emu_dp_given_back(struct emu_obj *obj)
{
	emu_dp_order_flush();
	obj->given_back = true;
	if (obj->type == EMU_OBJ_UMEM)
		umem_given_back((const struct emu_umem *)obj);
	obj->dev->mkey_changes++;
}

void
dp_unmapped_met(struct emu_obj *obj, bool *reported)
{
	struct prm_eqe eqe = {0};
	uint16_t type = PRM_EVENT_TYPE_WQ_CATAS_ERROR;

	if (*reported)
		return;
	*reported = true;
	if (obj->given_back) {
		emu_audit(obj->dev, EMU_AUDIT_GIVEN_BACK,
			  "%s 0x%x: the umem of its ring or record was deregistered before the device was quiesced",
			  emu_obj_type_name(obj->type), obj->id);
		return;
	}
	emu_audit(obj->dev, EMU_AUDIT_IOMMU, "%s 0x%x: its ring or record is not mapped any more",
		  emu_obj_type_name(obj->type), obj->id);
	eqe.qp_srq_n = htobe32(obj->id);
	if (obj->type == EMU_OBJ_CQ) {
		type = PRM_EVENT_TYPE_CQ_ERROR;
		memset(&eqe, 0, sizeof(eqe));
		eqe.cq_err_cqn = htobe32(obj->id);
		eqe.cq_err_syndrome = PRM_CQ_ERROR_SYNDROME_CQ_ACCESS_VIOLATION;
	} else if (obj->type == EMU_OBJ_RMP) {
		type = PRM_EVENT_TYPE_SRQ_CATAS_ERROR;
	}
	emu_dp_event(obj->ctx, obj, type, &eqe);
}
