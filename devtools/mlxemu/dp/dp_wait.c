/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * WAIT on time: a send queue stops until the comparison of the device's clock with a value holds that
 * the WQE selects. WQEs that were posted before leave at that moment of the model's time, even if the
 * engine's thread runs later.
 */
#include "dp_int.h"

/* Maximum interval between checks of a waiting queue: drift, steps and slews change its due time. */
#define LOOK_NS 1000000u

/* Compares value and time under the mask; cyclic: as sequence numbers. */
static bool
compare(unsigned condition, uint64_t value, uint64_t time, uint64_t mask)
{
	uint64_t v = value & mask, t = time & mask;

	switch (condition) {
	case PRM_WAIT_COND_EQUAL:
		return v == t;
	case PRM_WAIT_COND_BIGGER:
		return v > t;
	case PRM_WAIT_COND_SMALLER:
		return v < t;
	case PRM_WAIT_COND_CYCLIC_BIGGER:
		return v != t && ((v - t) & mask) <= mask >> 1;
	case PRM_WAIT_COND_CYCLIC_SMALLER:
		return v != t && ((t - v) & mask) <= mask >> 1;
	default:
		return true;
	}
}

/* Nanoseconds of a time in seconds and nanoseconds. */
static uint64_t
unpack(uint64_t packed)
{
	return (packed >> 32) * EMU_NS_PER_S + (packed & UINT32_MAX);
}

/* Cycles until the clock reaches a value; time: the present value of the clock. */
static uint64_t
cycles_left(const struct emu_clock *c, bool real, uint64_t value, uint64_t time, uint64_t mask)
{
	uint64_t then = time + ((value - time) & mask), ns;

	if (!real)
		return then - time + 1;
	ns = unpack(then) - unpack(time) + 1;
	return (uint64_t)((unsigned __int128)ns * c->hz / (uint64_t)(1000000000 + c->real_ppb)) + 1;
}

/* The time when the counter has advanced by this much. */
static uint64_t
moment(const struct emu_clock_point *p, uint64_t cycles)
{
	unsigned __int128 way = (unsigned __int128)cycles << 40;

	way -= (uint64_t)p->frac_q32 << 8;
	return p->mono_ns + (uint64_t)((way + p->rate_q40 - 1) / p->rate_q40);
}

void
dp_wait_hold(struct dp_sq *q, uint64_t due_ns)
{
	struct dp_shared *shared = dp_port_of(q->sq->obj.dev)->shared;
	uint64_t look = shared->mono_ns + LOOK_NS;

	q->waiting = true;
	q->due_ns = due_ns;
	q->due_pi = q->sq->hw_pi;
	q->look_ns = due_ns < look ? due_ns : look;
	if (due_ns != 0 && due_ns < shared->due_ns)
		shared->due_ns = due_ns;
}

/* True if the time is known at which the condition will hold. */
static bool
foreseen(unsigned condition, bool invert)
{
	return !invert &&
	       (condition == PRM_WAIT_COND_SMALLER || condition == PRM_WAIT_COND_CYCLIC_SMALLER);
}

static enum dp_exec
wait_for(struct dp_wqe *w, const struct prm_wqe_wait_seg *seg)
{
	uint32_t operation = be32toh(seg->operation);
	unsigned condition = operation & PRM_WQE_WAIT_SEG_OPERATION_CONDITION_MASK;
	bool invert = (operation & PRM_WQE_WAIT_SEG_OPERATION_INVERT_MASK) != 0;
	uint64_t value = be64toh(seg->value), mask = be64toh(seg->mask), time, due = 0;
	const struct emu_clock *clock = &w->port->dev->clock;
	uint64_t now = w->port->shared->mono_ns;
	struct emu_clock_point p;
	struct dp_sq *q = w->q;

	/* After another WAIT the queue's time is the end of that WAIT; the engine may be later. */
	emu_clock_point(clock, w->depart_ns != 0 ? w->depart_ns : now, &p);
	time = w->sq->real_time ? emu_clock_pack(emu_clock_real_ns(clock, p.cycles)) : p.cycles;
	if (compare(condition, value, time, mask) != invert) {
		if (q->waiting)
			q->depart_ns = q->due_ns;
		q->waiting = false;
		return DP_DONE;
	}
	if (foreseen(condition, invert))
		due = moment(&p, cycles_left(clock, w->sq->real_time, value, time, mask));
	if (due == 0 || due > now) {
		dp_wait_hold(q, due);
		return DP_HOLD;
	}
	q->depart_ns = due;
	q->waiting = false;
	return DP_DONE;
}

enum dp_exec
dp_wait_time(struct dp_wqe *w)
{
	struct prm_wqe_wait_seg seg;

	if (!w->port->dev->profile->wait_on_time)
		return dp_wqe_refuse(w, PRM_CQE_SYNDROME_LOCAL_QP_OP_ERR,
				     "WAIT on time without the capability");
	if (!dp_wqe_segment(w, &seg, sizeof(seg)) || w->pos != w->end)
		return dp_wqe_refuse(w, PRM_CQE_SYNDROME_LOCAL_QP_OP_ERR,
				     "a WAIT on time has one segment of 32 bytes");
	if ((be32toh(seg.operation) & PRM_WQE_WAIT_SEG_OPERATION_CONDITION_MASK) >
	    PRM_WAIT_COND_CYCLIC_SMALLER)
		return dp_wqe_refuse(w, PRM_CQE_SYNDROME_LOCAL_QP_OP_ERR,
				     "WAIT with an unknown condition");
	return wait_for(w, &seg);
}

bool
dp_wait_goes_on(struct dp_sq *q)
{
	struct dp_shared *shared = dp_port_of(q->sq->obj.dev)->shared;

	if (q->sq->state != EMU_QS_RDY || shared->mono_ns >= q->look_ns)
		return false;
	/* WQEs posted until now were posted before the due time. */
	q->due_pi = q->sq->hw_pi;
	if (q->due_ns < shared->due_ns)
		shared->due_ns = q->due_ns;
	return true;
}

uint64_t
dp_wait_departure(struct dp_sq *q, uint16_t index)
{
	if ((int16_t)(q->due_pi - index) <= 0)
		q->depart_ns = 0;
	return q->depart_ns;
}
