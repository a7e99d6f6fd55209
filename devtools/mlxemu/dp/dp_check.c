/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Checks posted receive buffers (`--check buffers`): a buffer belongs to one receive WQE until the
 * device has consumed that WQE. A program that posts it again before has lost track of it.
 *
 * A card does not detect this. The check reads every WQE when it is posted, not only when it is used.
 */
#include <stdlib.h>

#include "dp_int.h"

#define BUCKETS 65536u
#define NEXT_SEG_BYTES DP_SEG_BYTES /* before the data segments of a striding WQE */

bool dp_check_on;

/** A posted segment. */
struct check_buffer {
	uint64_t host; /**< Address in the process; 0: none. */
	const struct emu_rq *rq;
	uint16_t wqe;
	LIST_ENTRY(check_buffer) next;
};

/** State of a receive queue. */
struct dp_check_rq {
	uint16_t tail, head; /**< Recorded WQEs [first, next): running counters like ci. */
	unsigned segs;	     /**< Of a WQE. */
	struct check_buffer buffer[];
};

LIST_HEAD(check_bucket, check_buffer);
/* One machine per process; protected by its lock. */
static struct check_bucket *buckets;

bool
emu_dp_check_buffers(bool on)
{
	if (on && buckets == NULL)
		buckets = calloc(BUCKETS, sizeof(*buckets));
	dp_check_on = on && buckets != NULL;
	return dp_check_on == on;
}

static struct check_bucket *
bucket_of(uint64_t host)
{
	return &buckets[(host >> 6) * 0x9e3779b97f4a7c15ull >> 48];
}

static unsigned
data_segs(const struct emu_rq *rq)
{
	return ((1u << rq->log_stride_bytes) - (rq->striding ? NEXT_SEG_BYTES : 0)) / DP_SEG_BYTES;
}

static struct dp_check_rq *
state_of(struct emu_rq *rq)
{
	struct dp_rq *q = rq->obj.dp;
	unsigned segs = data_segs(rq);

	if (q == NULL || rq->ring == NULL)
		return NULL;
	if (q->check == NULL) {
		q->check = calloc(1, sizeof(*q->check) +
					     ((size_t)segs << rq->log_wqes) *
						     sizeof(struct check_buffer));
		if (q->check == NULL)
			return NULL;
		q->check->segs = segs;
		q->check->tail = q->check->head = rq->ci;
	}
	return q->check;
}

static struct check_buffer *
buffers_of(struct dp_check_rq *c, const struct emu_rq *rq, uint16_t wqe)
{
	return &c->buffer[(size_t)(wqe & ((1u << rq->log_wqes) - 1)) * c->segs];
}

static void
drop(struct dp_check_rq *c, const struct emu_rq *rq, uint16_t wqe)
{
	struct check_buffer *b = buffers_of(c, rq, wqe);

	for (unsigned i = 0; i < c->segs; i++)
		if (b[i].host != 0) {
			LIST_REMOVE(&b[i], next);
			b[i].host = 0;
		}
}

/*
 * Address of a segment in the process; 0 if the key does not cover it, which is reported when it is used.
 */
static uint64_t
host_of(struct emu_rq *rq, const struct prm_rq_wqe *seg)
{
	const struct emu_mkey *k = emu_obj_find(rq->obj.dev, EMU_OBJ_MKEY, be32toh(seg->lkey) >> 8);
	uint64_t addr = be64toh(seg->addr);

	if (k == NULL || addr < k->start || (k->length64 ? false : addr - k->start >= k->len))
		return 0;
	return k->host + (addr - k->start);
}

static void
note(struct dp_check_rq *c, struct emu_rq *rq, uint16_t wqe)
{
	const struct prm_rq_wqe *seg = (const struct prm_rq_wqe *)(
		rq->ring +
		((size_t)(wqe & ((1u << rq->log_wqes) - 1)) << rq->log_stride_bytes) +
		(rq->striding ? NEXT_SEG_BYTES : 0));
	struct check_buffer *b = buffers_of(c, rq, wqe);
	const struct check_buffer *other;

	for (unsigned i = 0; i < c->segs; i++) {
		if (seg[i].byte_count == 0 && be32toh(seg[i].lkey) == PRM_WQE_LKEY_INVALID)
			break;
		b[i].host = host_of(rq, &seg[i]);
		if (b[i].host == 0)
			continue;
		LIST_FOREACH(other, bucket_of(b[i].host), next)
			if (other->host == b[i].host)
				break;
		if (other != NULL)
			emu_audit(rq->obj.dev, EMU_AUDIT_BAD_BUFFER,
				  "RQ 0x%x WQE 0x%x: buffer 0x%llx is still posted in RQ 0x%x of "
				  "port %u, WQE 0x%x", rq->obj.id, wqe,
				  (unsigned long long)be64toh(seg[i].addr), other->rq->obj.id,
				  other->rq->obj.dev->index, other->wqe);
		b[i].rq = rq;
		b[i].wqe = wqe;
		LIST_INSERT_HEAD(bucket_of(b[i].host), &b[i], next);
	}
}

/* Removes the segments of consumed WQEs. */
static void
used_up(struct emu_obj *obj, void *arg)
{
	struct emu_rq *rq = (struct emu_rq *)obj;
	struct dp_check_rq *c = state_of(rq);

	(void)arg;
	if (c == NULL)
		return;
	for (; c->tail != c->head && c->tail != rq->ci; c->tail++)
		drop(c, rq, c->tail);
	if (c->tail == c->head)
		c->tail = c->head = rq->ci;
}

static void
newly_posted(struct emu_obj *obj, void *arg)
{
	struct emu_rq *rq = (struct emu_rq *)obj;
	struct dp_check_rq *c = state_of(rq);
	uint16_t pi;

	(void)arg;
	if (c == NULL || rq->state != EMU_QS_RDY || rq->dbrec == NULL ||
	    dp_rq_posted(rq) > 1u << rq->log_wqes)
		return;
	pi = (uint16_t)(rq->ci + dp_rq_posted(rq));
	atomic_thread_fence(memory_order_acquire); /* acquire: read the WQEs after the doorbell record */
	for (; c->head != pi; c->head++)
		note(c, rq, c->head);
}

void
dp_check_pass(struct emu_machine *m)
{
	/* Consumed WQEs of all queues first: a program can post a buffer to another queue. */
	for (unsigned i = 0; i < m->ports; i++)
		emu_obj_foreach(&m->dev[i], EMU_OBJ_RQ, used_up, NULL);
	for (unsigned i = 0; i < m->ports; i++)
		emu_obj_foreach(&m->dev[i], EMU_OBJ_RQ, newly_posted, NULL);
}

void
dp_check_arrival(struct emu_rq *rq)
{
	const struct dp_check_rq *c = state_of(rq);

	if (c != NULL && c->head == rq->ci)
		dp_check_pass(emu_machine_of(rq->obj.dev));
}

void
dp_check_forget(struct emu_rq *rq)
{
	struct dp_rq *q = rq->obj.dp;
	struct dp_check_rq *c = q != NULL ? q->check : NULL;

	if (c == NULL)
		return;
	for (; c->tail != c->head; c->tail++)
		drop(c, rq, c->tail);
	free(c);
	q->check = NULL;
}
