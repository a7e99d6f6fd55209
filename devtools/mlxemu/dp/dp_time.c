/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * When frames leave and arrive. The instants are true time; completions carry what the device's
 * clock reads at them. The time is read once per batch of work; its frames are spaced by their wire
 * time, and a frame arrives one cable delay after its departure.
 */

#include "dp_int.h"

/* How far the frames of a batch may run ahead of the time taken at its start. */
#define SLACK_NS 500u
/* Preamble, inter-frame gap and FCS. */
#define WIRE_OVERHEAD_BYTES 24u
/* 1 m of cable. */
#define CABLE_NS 5u
/* Instants this close to the batch's time are converted with the clock's rate at that time. */
#define NEAR_NS (1u << 20)

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
static inline struct dp_instant
after(struct dp_port *port, const struct dp_instant *last, uint32_t len, uint64_t due_ns)
{
	uint64_t wire = (uint64_t)(len + WIRE_OVERHEAD_BYTES) * port->ns_per_byte_q32;
	const struct dp_instant due = {due_ns, 0};
	uint64_t frac, now = port->shared->mono_ns;
	struct dp_instant t;

	if (DP_UNLIKELY(last->ns < due_ns))
		last = &due;
	frac = (uint64_t)last->frac + (uint32_t)wire;
	t = (struct dp_instant){last->ns + (wire >> 32) + (frac >> 32), (uint32_t)frac};
	if (t.ns < now)
		return DP_LIKELY(due_ns == 0) ? (struct dp_instant){now, 0} : t;
	if (DP_UNLIKELY(t.ns - now > SLACK_NS)) {
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
dp_time_departure(struct dp_port *port, uint32_t len, uint64_t due_ns)
{
	port->tx = after(port, &port->tx, len, due_ns);
}

void
dp_time_arrival(struct dp_port *port, uint32_t len)
{
	const struct dp_instant *left = port->shared->flight;
	struct dp_instant there;

	if (left == NULL) {
		port->rx = after(port, &port->rx, len, 0);
		return;
	}
	there = (struct dp_instant){left->ns + CABLE_NS, left->frac};
	if (DP_LIKELY(earlier(&port->rx, &there)))
		port->rx = there;
	else
		port->rx = after(port, &port->rx, len, 0);
}

/* The device's counter at an instant. */
static inline uint64_t
cycles_at(struct dp_port *port, const struct dp_instant *t)
{
	const struct emu_clock_point *p = &port->now;
	uint64_t ahead, part;

	if (DP_UNLIKELY(p->mono_ns != port->shared->mono_ns))
		emu_clock_point(&port->dev->clock, port->shared->mono_ns, &port->now);
	ahead = t->ns - p->mono_ns;
	if (DP_UNLIKELY(ahead >= NEAR_NS))
		return emu_clock_cycles_at(&port->dev->clock, t->ns);
	part = (p->rate_q40 >> 10) * t->frac >> 22;
	return p->cycles + ((((uint64_t)p->frac_q32 << 8) + ahead * p->rate_q40 + part) >> 40);
}

uint64_t
dp_time_stamp(struct dp_port *port, const struct dp_instant *t, bool real)
{
	uint64_t cycles = cycles_at(port, t);

	return DP_LIKELY(!real) ? cycles
				: emu_clock_pack(emu_clock_real_ns(&port->dev->clock, cycles));
}

uint64_t
dp_time_stamp_now(struct dp_port *port, uint64_t due_ns, bool real)
{
	struct dp_instant now = {due_ns != 0 ? due_ns : port->shared->mono_ns, 0};

	/* Not before the last frame of the port: timestamps of a queue's completions increase. */
	return dp_time_stamp(port, earlier(&now, &port->tx) ? &port->tx : &now, real);
}
