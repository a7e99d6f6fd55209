/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Fault rules in the data path: doorbells, frames, and the list of delayed ones. */
#include <stdlib.h>

#include "dp_fault.h"

#define FRAME_BYTES_MAX (1u << 16)

bool dp_fault_delayed;

enum late_kind { LATE_DOORBELL, LATE_AGAIN, LATE_ARM, LATE_RX, LATE_TX };

/** A delayed doorbell or frame. */
struct late {
	TAILQ_ENTRY(late) next;
	enum late_kind kind;
	uint64_t due_ns;
	struct emu_dev *dev;
	uint32_t id;   /* doorbell: sqn, or cqn of ... */
	uint32_t word; /* ... an arm doorbell, with this word */
	uint32_t len;  /* frame */
	uint8_t frame[];
};
/* Sorted by due time, then by arrival. Protected by the machine's lock. */
static TAILQ_HEAD(late_head, late) late_list = TAILQ_HEAD_INITIALIZER(late_list);

static void
late_insert(struct late *late)
{
	struct late *before = TAILQ_LAST(&late_list, late_head);

	while (before != NULL && before->due_ns > late->due_ns)
		before = TAILQ_PREV(before, late_head, next);
	if (before != NULL)
		TAILQ_INSERT_AFTER(&late_list, before, late, next);
	else
		TAILQ_INSERT_HEAD(&late_list, late, next);
	dp_fault_delayed = true;
}

/* NULL: out of memory; the doorbell or frame is lost then. */
static struct late *
late_new(enum late_kind kind, struct emu_dev *dev, uint64_t us, uint32_t frame_bytes)
{
	struct late *late = malloc(sizeof(*late) + frame_bytes);

	if (late == NULL)
		return NULL;
	late->kind = kind;
	late->due_ns = emu_mono_ns() + us * 1000;
	late->dev = dev;
	late->id = late->word = 0;
	late->len = frame_bytes;
	return late;
}

static void
late_frame(enum late_kind kind, struct emu_dev *dev, uint64_t us, const uint8_t *frame, uint32_t len)
{
	struct late *late = late_new(kind, dev, us, len);

	if (late == NULL)
		return;
	memcpy(late->frame, frame, len);
	late_insert(late);
}

static void
late_doorbell(enum late_kind kind, const struct emu_obj *obj, uint64_t us, uint32_t word)
{
	struct late *late = late_new(kind, obj->dev, us, 0);

	if (late == NULL)
		return;
	late->id = obj->id;
	late->word = word;
	late_insert(late);
}

/* Set while a delayed frame is delivered: rules were applied before. */
static bool passing;

/* An SQ, or the SQ of a QP; SQs and QPs have separate number spaces. */
static struct emu_sq *
sq_find(struct emu_dev *dev, uint32_t sqn)
{
	struct emu_sq *sq = emu_obj_find(dev, EMU_OBJ_SQ, sqn);
	struct emu_qp *qp = sq == NULL ? emu_obj_find(dev, EMU_OBJ_QP, sqn) : NULL;

	return qp != NULL ? &qp->sq : sq;
}

static void
late_happens(struct late *late)
{
	struct emu_cq *cq;
	struct emu_sq *sq;

	if (late->dev->removed || late->dev->dp == NULL)
		return;
	/* Duplicates only: a delayed doorbell was counted when it rang. */
	late->dev->stats.doorbells += late->kind == LATE_AGAIN || late->kind == LATE_ARM;
	switch (late->kind) {
	case LATE_DOORBELL:
	case LATE_AGAIN:
		/* A doorbell names the queue; the device then reads the present doorbell record. */
		sq = sq_find(late->dev, late->id);
		if (sq != NULL && sq->obj.dp != NULL)
			dp_sq_take(sq->obj.dp);
		break;
	case LATE_ARM:
		cq = emu_obj_find(late->dev, EMU_OBJ_CQ, late->id);
		if (cq != NULL)
			dp_cq_arm_again(cq, late->word);
		break;
	case LATE_RX:
		passing = true;
		emu_dp_ingress(late->dev, late->frame, late->len);
		passing = false;
		break;
	case LATE_TX:
		(void)emu_wire_tx(late->dev, late->frame, late->len);
		break;
	}
}

void
dp_fault_release(struct emu_machine *m)
{
	uint64_t now = emu_mono_ns();
	struct late *late;

	(void)m;
	while ((late = TAILQ_FIRST(&late_list)) != NULL && late->due_ns <= now) {
		TAILQ_REMOVE(&late_list, late, next);
		late_happens(late);
		free(late);
	}
	dp_fault_delayed = !TAILQ_EMPTY(&late_list);
}

void
dp_fault_fini(void)
{
	struct late *late;

	while ((late = TAILQ_FIRST(&late_list)) != NULL) {
		TAILQ_REMOVE(&late_list, late, next);
		free(late);
	}
	dp_fault_delayed = false;
}

bool
dp_fault_doorbell(struct dp_sq *q, struct emu_cq *cq)
{
	struct emu_obj *obj = q != NULL ? &q->sq->obj : &cq->obj;
	struct emu_fault_event query = {
		.kind = EMU_ON_DOORBELL, .dev = obj->dev, .sq = q != NULL ? q->sq : NULL, .cq = cq,
	};
	const struct emu_fault_action *a = emu_fault_hit(&query);

	if (obj->dev->removed)
		return true;
	if (a != NULL && a->act == EMU_ACT_DUP)
		late_doorbell(q != NULL ? LATE_AGAIN : LATE_ARM, obj, a->us,
			      q != NULL ? 0 : be32toh(cq->dbrec[1]));
	if (a == NULL || (a->act != EMU_ACT_DROP && a->act != EMU_ACT_DELAY))
		return false;
	if (q == NULL)
		return a->act == EMU_ACT_DROP;
	/* Ignore the doorbell record until the next doorbell of this queue. */
	q->seen_pi = (uint16_t)be32toh(q->sq->dbrec[1]);
	if (a->act == EMU_ACT_DELAY)
		late_doorbell(LATE_DOORBELL, obj, a->us, 0);
	return true;
}

/**
 * Result of rules for a frame: number of copies and content. The wire offers a held frame repeatedly; the
 * result is kept until the frame is delivered.
 */
struct changed {
	bool waiting;
	unsigned times; /* 0: dropped or delayed */
	const uint8_t *frame;
	uint32_t len;
	uint8_t copy[FRAME_BYTES_MAX];
};
/* By port. Memory is touched only if a rule changes frames. */
static struct changed changed_tx[EMU_MAX_PORTS], changed_rx[EMU_MAX_PORTS];

static void
change(struct changed *c, const struct emu_fault_action *a, const uint8_t *frame, uint32_t len,
       enum late_kind kind, struct emu_dev *dev)
{
	c->times = 1;
	c->frame = frame;
	c->len = len;
	switch (a != NULL ? a->act : EMU_ACT_NONE) {
	case EMU_ACT_DROP:
	case EMU_ACT_FCS:
	case EMU_ACT_DISCARD:
		c->times = 0;
		if (kind == LATE_RX)
			dp_rx_lose(dev, frame, len, a->act);
		else
			dev->stats.tx_wire_lost++;
		break;
	case EMU_ACT_DUP:
		c->times = 2;
		break;
	case EMU_ACT_DELAY:
		c->times = 0;
		late_frame(kind, dev, a->us, frame, len);
		break;
	case EMU_ACT_CORRUPT:
		if (a->off >= len)
			break;
		memcpy(c->copy, frame, len);
		c->copy[a->off] ^= (uint8_t)a->xor_bits;
		c->frame = c->copy;
		break;
	case EMU_ACT_TRUNCATE:
		c->len = a->len < len ? a->len : len;
		break;
	case EMU_ACT_REPLACE:
		c->len = a->len < FRAME_BYTES_MAX ? a->len : FRAME_BYTES_MAX;
		memcpy(c->copy, a->bytes, c->len);
		c->frame = c->copy;
		break;
	default:
		break;
	}
}

static struct changed *
consult_rules(struct emu_dev *dev, bool tx, const uint8_t *frame, uint32_t len)
{
	struct changed *c = tx ? &changed_tx[dev->index] : &changed_rx[dev->index];
	struct emu_fault_event q = {
		.kind = tx ? EMU_ON_WIRE_TX : EMU_ON_WIRE_RX, .dev = dev, .len = len,
	};

	if (!c->waiting)
		change(c, emu_fault_hit(&q), frame, len, tx ? LATE_TX : LATE_RX, dev);
	else if (c->frame != c->copy)
		c->frame = frame; /* same frame offered again; its address can differ */
	return c;
}

enum emu_wire_result
dp_fault_wire_tx(struct emu_dev *dev, const uint8_t *frame, uint32_t len)
{
	enum emu_wire_result result = EMU_WIRE_SENT;
	struct changed *c;

	if (len > FRAME_BYTES_MAX)
		return emu_wire_tx(dev, frame, len);
	c = consult_rules(dev, true, frame, len);
	if (dev->removed)
		return EMU_WIRE_LOST;
	while (c->times != 0 && result == EMU_WIRE_SENT) {
		result = emu_wire_tx(dev, c->frame, c->len);
		c->times -= result != EMU_WIRE_HOLD;
	}
	c->waiting = result == EMU_WIRE_HOLD;
	return result;
}

bool
dp_fault_wire_rx(struct emu_dev *dev, const uint8_t *frame, uint32_t len, bool may_wait,
		 enum emu_rx_result *result)
{
	struct changed *c;

	if (passing || len > FRAME_BYTES_MAX)
		return false;
	c = consult_rules(dev, false, frame, len);
	*result = EMU_RX_TAKEN;
	if (dev->removed)
		return true;
	passing = true;
	while (c->times != 0 && *result == EMU_RX_TAKEN) {
		if (may_wait)
			*result = emu_dp_offer(dev, c->frame, c->len);
		else
			emu_dp_ingress(dev, c->frame, c->len);
		c->times -= *result == EMU_RX_TAKEN;
	}
	passing = false;
	c->waiting = *result == EMU_RX_FULL;
	return true;
}
