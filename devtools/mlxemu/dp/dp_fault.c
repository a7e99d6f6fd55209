/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Fault rules in the data path: queues and completions. */
#include <stdlib.h>

#include "dp_fault.h"

bool dp_fault_cqe_pending;

/** The CQE that is being written: its queue, and the action that dp_cq_end() carries out. */
static struct {
	struct emu_cq *cq;
	const struct emu_sq *sq;
	const struct emu_rq *rq;
	enum emu_fault_act act;
	uint32_t off, xor_bits;
} pending;

enum dp_exec
dp_fault_fetch(struct dp_wqe *w)
{
	struct emu_fault_event e = {
		.kind = EMU_ON_WQE_FETCH, .dev = w->sq->obj.dev, .sq = w->sq, .cq = w->sq->cq,
		.opcode = w->opcode,
	};
	const struct emu_fault_action *a = emu_fault_hit(&e);

	if (w->sq->obj.dev->removed)
		return DP_HOLD;
	if (a == NULL || a->act != EMU_ACT_ERROR)
		return DP_DONE;
	w->syndrome = (uint8_t)a->syndrome;
	w->vendor = a->vendor;
	return DP_ERROR;
}

/* A frame that is too long consumes its WQE; other errors stop the queue. */
static bool
stops_rq(uint32_t syndrome)
{
	return syndrome != PRM_CQE_SYNDROME_LOCAL_LENGTH_ERR;
}

bool
dp_fault_rq_fetch(struct emu_rq *rq)
{
	struct emu_fault_event e = {
		.kind = EMU_ON_WQE_FETCH, .dev = rq->obj.dev, .rq = rq, .cq = rq->cq,
	};
	const struct emu_fault_action *a = emu_fault_hit(&e);

	if (rq->obj.dev->removed)
		return true;
	if (a == NULL || a->act != EMU_ACT_ERROR)
		return false;
	rq->obj.dev->stats.rx_error_frames++;
	dp_rq_refuse(rq, (uint8_t)a->syndrome, a->vendor);
	if (stops_rq(a->syndrome))
		dp_rq_stop(rq);
	return true;
}

void
dp_fault_init(void)
{
	pending.cq = NULL;
	dp_fault_cqe_pending = false;
}

void
dp_fault_deliver(struct emu_rq *rq, const struct dp_rx *rx, dp_fault_deliver_cb deliver)
{
	struct emu_fault_event e = {
		.kind = EMU_ON_RX_DELIVER, .dev = rq->obj.dev, .rq = rq, .len = rx->pkt->len,
	};
	struct dp_pkt pkt = *rx->pkt;
	struct dp_rx changed = *rx;
	static uint8_t copy[DP_MAX_MERGED];

	if (pkt.len == 0 || pkt.len > sizeof(copy)) {
		deliver(rq, rx);
		return;
	}
	memcpy(copy, pkt.data, pkt.len);
	emu_fault_set_bytes(&e, copy);
	pkt.data = copy;
	changed.pkt = &pkt;
	deliver(rq, &changed);
}

static bool
writes_otherwise(enum emu_fault_act act)
{
	return act == EMU_ACT_DROP || act == EMU_ACT_DUP || act == EMU_ACT_CORRUPT;
}

/* Stores the event and an action that changes the write for dp_fault_cqe_apply(). */
static void
pend(struct emu_cq *cq, const struct emu_fault_event *e, const struct emu_fault_action *a)
{
	pending.cq = cq;
	pending.sq = e->sq;
	pending.rq = e->rq;
	if (a == NULL || !writes_otherwise(a->act))
		return;
	pending.act = a->act;
	pending.off = a->off;
	pending.xor_bits = a->xor_bits;
	dp_fault_cqe_pending = true;
}

bool
dp_fault_sq_cqe(struct dp_sq *q, const struct dp_wqe *w)
{
	struct emu_sq *sq = q->sq;
	struct emu_fault_event e = {
		.kind = EMU_ON_CQE_WRITE, .dev = sq->obj.dev, .sq = sq, .cq = sq->cq,
		.opcode = PRM_CQE_OPCODE_REQ,
	};
	const struct emu_fault_action *a = emu_fault_hit(&e);

	if (sq->obj.dev->removed)
		return true;
	if (a != NULL && a->act == EMU_ACT_ERROR) {
		struct dp_wqe bad = *w;

		bad.syndrome = (uint8_t)a->syndrome;
		bad.vendor = a->vendor;
		dp_sq_fail(q, &bad);
		return true;
	}
	pend(sq->cq, &e, a);
	return false;
}

/* The frame was counted as delivered and is lost now. */
static void
uncount(struct emu_rq *rq, const struct dp_done *d)
{
	struct emu_port_stats *stats = &rq->obj.dev->stats;
	uint32_t bytes = d->byte_cnt & (rq->striding ? 0xffffu : UINT32_MAX);

	if (rq->striding && d->byte_cnt >> 31 != 0)
		return; /* a filler CQE: there is no frame */
	rq->frames--;
	rq->bytes -= bytes;
	stats->rx_delivered_frames--;
	stats->rx_delivered_bytes -= bytes;
	if (rq->q_counter != NULL)
		rq->q_counter->rx_write_requests--;
}

enum dp_fault_rx
dp_fault_rq_cqe(struct emu_rq *rq, const struct dp_done *d)
{
	struct emu_fault_event e = {
		.kind = EMU_ON_CQE_WRITE, .dev = rq->obj.dev, .rq = rq, .cq = rq->cq,
		.opcode = PRM_CQE_OPCODE_RESP_SEND,
	};
	const struct emu_fault_action *a = emu_fault_hit(&e);

	if (rq->obj.dev->removed)
		return DP_FAULT_RX_DONE;
	if (a != NULL && a->act == EMU_ACT_ERROR) {
		uint32_t syndrome = a->syndrome;

		uncount(rq, d);
		rq->obj.dev->stats.rx_errors++;
		rq->obj.dev->stats.rx_error_frames++;
		dp_cq_write_error(rq->cq, DP_CQE_ERR_RQ, rq->obj.id, rq->user_index,
				  rq->striding ? d->wqe_id : d->counter, (uint8_t)syndrome,
				  a->vendor);
		return stops_rq(syndrome) ? DP_FAULT_RX_STOP : DP_FAULT_RX_DONE;
	}
	if (a != NULL && a->act == EMU_ACT_DROP)
		rq->obj.dev->stats.rx_cqes_lost++;
	pend(rq->cq, &e, a);
	return DP_FAULT_RX_NONE;
}

void
dp_fault_error_cqe(struct emu_cq *cq, uint8_t opcode, uint32_t opcode_qpn)
{
	bool send = opcode == PRM_CQE_OPCODE_REQ_ERR;
	uint32_t id = opcode_qpn & 0xffffff;
	struct emu_fault_event e = {
		.kind = EMU_ON_CQE_WRITE, .dev = cq->obj.dev, .cq = cq, .opcode = opcode,
		.sq = send ? emu_obj_find(cq->obj.dev, EMU_OBJ_SQ, id) : NULL,
		.rq = send ? NULL : emu_obj_find(cq->obj.dev, EMU_OBJ_RQ, id),
	};
	const struct emu_fault_action *a = emu_fault_hit(&e);

	pend(cq, &e, a);
}

bool
dp_fault_cqe_apply(struct emu_cq *cq, struct prm_cqe64 *cqe, uint64_t *last, bool solicited)
{
	struct prm_cqe64 *again;

	struct emu_fault_event e = {.kind = EMU_ON_CQE_WRITE, .dev = cq->obj.dev, .cq = cq};

	/* False: the pending action is for another CQ, which is in error and did not end its CQE. */
	bool mine = pending.cq == cq;

	if (mine) {
		e.sq = pending.sq;
		e.rq = pending.rq;
	}
	if (emu_fault_set_at(EMU_ON_CQE_WRITE))
		emu_fault_set_cqe(&e, cqe, last);
	mine &= dp_fault_cqe_pending;
	dp_fault_cqe_pending = false;
	pending.cq = NULL;
	if (!mine)
		return false;
	switch (pending.act) {
	case EMU_ACT_CORRUPT:
		if (pending.off < offsetof(struct prm_cqe64, sop_drop_qpn))
			((uint8_t *)cqe)[pending.off] ^= (uint8_t)pending.xor_bits;
		else if (pending.off < sizeof(*cqe))
			*last ^= (uint64_t)pending.xor_bits
				 << 8 * (sizeof(*cqe) - 1 - pending.off);
		return false;
	case EMU_ACT_DUP:
		dp_cq_hand_over(cq, cqe, *last, solicited);
		again = dp_cq_begin(cq);
		if (again == NULL)
			return true;
		memcpy(again, cqe, offsetof(struct prm_cqe64, sop_drop_qpn));
		dp_cq_hand_over(cq, again, (*last & ~0xff01ull) | dp_cq_pass(cq), solicited);
		return true;
	default:
		return true; /* dropped */
	}
}
