/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * When frames leave and arrive. The instants are true time; completions carry what the device's
 * clock reads at them. The time is read once per batch of work; its frames are spaced by their wire
 * time, and a frame arrives one cable delay after its departure.
 */

#include "dp_time.h"

void
dp_batch_begin(struct dp_shared *shared)
{
	shared->mono_ns = emu_mono_ns();
}

void
dp_time_init(struct dp_port *port)
{
	port->ns_per_byte_q32 = (8000ull << 32) / port->dev->profile->speed_mbps;
	port->tick_ns = (uint32_t)(EMU_NS_PER_S / port->dev->clock.hz) + 1;
}

/*
 * End of the next frame: a wire time after the previous frame, or now if that is later. With a due time:
 * a wire time after the due time, which can be in the past, at the earliest.
 */
struct dp_instant
dp_time_after(struct dp_port *port, const struct dp_instant *last, uint32_t len, uint64_t due_ns)
{
	uint64_t wire = (uint64_t)(len + DP_WIRE_OVERHEAD_BYTES) * port->ns_per_byte_q32;
	const struct dp_instant due = {due_ns, 0};
	uint64_t frac, now = port->shared->mono_ns;
	struct dp_instant t;

	if (DP_UNLIKELY(last->ns < due_ns))
		last = &due;
	frac = (uint64_t)last->frac + (uint32_t)wire;
	t = (struct dp_instant){last->ns + (wire >> 32) + (frac >> 32), (uint32_t)frac};
	if (t.ns < now)
		return DP_LIKELY(due_ns == 0) ? (struct dp_instant){now, 0} : t;
	if (DP_UNLIKELY(t.ns - now > DP_SLACK_NS)) {
		/*
		 * The engine is faster than the wire: limit the lead over host time, but keep one tick
		 * between frames.
		 */
		dp_batch_begin(port->shared);
		now = port->shared->mono_ns;
		if (t.ns > now && t.ns > last->ns + port->tick_ns) {
			t = (struct dp_instant){last->ns + port->tick_ns, last->frac};
			if (t.ns < now)
				t = (struct dp_instant){now, 0};
		}
	}
	return t;
}

static inline bool
earlier(const struct dp_instant *a, const struct dp_instant *b)
{
	return a->ns != b->ns ? a->ns < b->ns : a->frac < b->frac;
}

void
dp_time_arrive(struct dp_port *port, uint32_t len)
{
	const struct dp_instant *left = port->shared->flight;
	struct dp_instant there;

	if (left == NULL) {
		port->rx = dp_time_after(port, &port->rx, len, 0);
		return;
	}
	there = (struct dp_instant){left->ns + DP_CABLE_NS, left->frac};
	if (earlier(&port->rx, &there))
		port->rx = there;
	else
		port->rx = dp_time_after(port, &port->rx, len, 0);
}

/* The device's counter at an instant. */
static uint64_t
cycles_at(struct dp_port *port, const struct dp_instant *t)
{
	const struct emu_clock_point *p = &port->now;

	if (p->mono_ns != port->shared->mono_ns)
		emu_clock_point(&port->dev->clock, port->shared->mono_ns, &port->now);
	if (DP_UNLIKELY(t->ns - p->mono_ns >= DP_NEAR_NS))
		return emu_clock_cycles_at(&port->dev->clock, t->ns);
	return dp_time_cycles(p, t);
}

uint64_t
dp_time_convert(struct dp_port *port, const struct dp_instant *t, bool real)
{
	uint64_t cycles = cycles_at(port, t);

	return !real ? cycles
		     : emu_clock_pack(emu_clock_real_ns(&port->dev->clock, cycles));
}

uint64_t
dp_time_stamp_now(struct dp_port *port, uint64_t due_ns, bool real)
{
	struct dp_instant now = {due_ns != 0 ? due_ns : port->shared->mono_ns, 0};

	/* Not before the last frame of the port: timestamps of a queue's completions increase. */
	return dp_time_stamp(port, earlier(&now, &port->tx) ? &port->tx : &now, real);
}
