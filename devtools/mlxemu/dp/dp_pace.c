/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Packet pacing: a send queue with an entry of the table of rates keeps at most its rate. A frame that is too early
 * holds the queue up, as a WAIT does, and leaves at its moment of the model's time even if the engine's thread is late.
 *
 * assumed: a limit counts frames without FCS, preamble and gap. Other reading: 24 bytes more per frame. Test:
 * dp/test_pace.c.
 * assumed: without burst_upper_bound each frame is paced. Other reading: a few leave at once (NVIDIA 5T Technology User
 * Manual, "Packet Pacing": "a few packets"). Test: dp/test_pace.c.
 */
#include "dp_int.h"

/* Time that so many bytes take, in 2^-32 ns. */
static unsigned __int128
bytes_time(uint32_t rate_kbps, uint32_t bytes)
{
	return ((unsigned __int128)bytes * 8000000u << 32) / rate_kbps;
}

/* The first moment at which the frame may leave. A burst is sent ahead, and the rest of it waits longer. */
static uint64_t
earliest(const struct dp_sq *q, uint32_t len)
{
	const struct emu_pp *pp = q->sq->pp;
	uint64_t ahead_ns;

	if (pp->burst_bytes <= len)
		return q->pace.ns;
	ahead_ns = (uint64_t)(bytes_time(pp->rate_kbps, pp->burst_bytes - len) >> 32);
	return q->pace.ns > ahead_ns ? q->pace.ns - ahead_ns : 0;
}

/* Does it have a frame that should have left before now, and can? */
static bool
is_late(const struct dp_sq *q, uint64_t now)
{
	const struct emu_sq *sq = q->sq;

	return sq->pp != NULL && q->paced && sq->state == EMU_QS_RDY && sq->ci != sq->hw_pi &&
	       (int16_t)(q->due_pi - sq->ci) > 0 && q->pace.ns <= now &&
	       !(q->waiting && (q->due_ns == 0 || q->due_ns > now));
}

/* When the engine is late, the frames of all limited queues leave in the order of their times: those before `at`. */
static bool
behind_another(const struct dp_sq *q, uint64_t at, uint64_t now)
{
	const struct dp_sq *other;

	TAILQ_FOREACH(other, &dp_port_of(q->sq->obj.dev)->active, in_active)
		if (other != q && other->pace.ns < at && is_late(other, now))
			return true;
	return false;
}

bool
dp_pace_holds(struct dp_wqe *w, uint32_t len)
{
	const uint64_t now = w->port->shared->mono_ns;
	struct dp_sq *q = w->q;
	uint64_t due = earliest(q, len), at = now;
	uint16_t due_pi = q->due_pi;

	if (due > now) {
		q->paced = true;
		dp_wait_hold(q, due);
		return true;
	}
	/* A WQE that was posted after the queue was held up, by the limit or a WAIT, leaves now. */
	q->paced = (q->paced && (int16_t)(due_pi - w->index) > 0) || q->depart_ns != 0;
	if (q->paced)
		at = due > q->depart_ns ? due : q->depart_ns;
	if (behind_another(q, q->paced ? q->pace.ns : now, now)) {
		dp_wait_hold(q, at);
		q->due_pi = due_pi;
		return true;
	}
	q->waiting = false;
	w->depart_ns = q->paced ? at : 0;
	return false;
}

void
dp_pace_count(struct dp_wqe *w, uint32_t len)
{
	uint64_t left_ns = w->depart_ns != 0 ? w->depart_ns : w->port->shared->mono_ns;
	struct dp_instant *pace = &w->q->pace;
	unsigned __int128 end;

	if (pace->ns < left_ns)
		*pace = (struct dp_instant){left_ns, 0};
	end = ((unsigned __int128)pace->ns << 32 | pace->frac) + bytes_time(w->sq->pp->rate_kbps, len);
	*pace = (struct dp_instant){(uint64_t)(end >> 32), (uint32_t)end};
}

void
emu_dp_sq_paced(struct emu_sq *sq)
{
	struct dp_sq *q = sq->obj.dp;

	if (q == NULL)
		return;
	q->pace = (struct dp_instant){0, 0};
	q->paced = false;
	/* Look at the WQE again: it may leave earlier now. */
	q->look_ns = 0;
}
