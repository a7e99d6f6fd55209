/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Delivers frames to a port, and holds them for a limited time while no receive WQE is posted. */
#include <time.h>

#include "wire_int.h"

/* Lossless: a sender waits this long for a receive WQE; after a timeout it does not wait for LOSSY_NS. */
#define HOLD_LIMIT_NS 100000000ull
#define LOSSY_NS 1000000000ull
/* A wire with a queue of its own blocks no other sender: it may wait longer, and every time. */
#define QUEUE_HOLD_LIMIT_NS 1000000000ull

uint64_t
wire_mono_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

bool
wire_hold_expired(struct emu_wire_port *w, struct wire_hold *h)
{
	uint64_t now = wire_mono_ns();

	if (now < h->lossy_until_ns)
		return true;
	if (h->since_ns == 0) {
		h->since_ns = now;
		w->stats.holds++;
	}
	if (now - h->since_ns < (w->has_queue ? QUEUE_HOLD_LIMIT_NS : HOLD_LIMIT_NS))
		return false;
	if (!w->has_queue)
		h->lossy_until_ns = now + LOSSY_NS;
	return true;
}

bool
wire_deliver(struct emu_wire_port *w, struct emu_dev *dev, const uint8_t *frame, uint32_t len)
{
	return dev->loop_on || wire_return(w, dev, frame, len);
}

bool
wire_return(struct emu_wire_port *w, struct emu_dev *dev, const uint8_t *frame, uint32_t len)
{
	if (wire_dp(dev)->offer(dev, frame, len) == EMU_RX_FULL) {
		if (!wire_hold_expired(w, &w->hold))
			return false;
		w->stats.hold_timeouts++;
		wire_dp(dev)->ingress(dev, frame, len);
	}
	w->hold.since_ns = 0;
	return true;
}
