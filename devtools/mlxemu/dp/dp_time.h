/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Departure and arrival of frames, and timestamps of completions. What most frames need is inline. */
#ifndef EMU_DP_TIME_H
#define EMU_DP_TIME_H

#include "dp_int.h"

/* How far the frames of a batch may run ahead of the time taken at its start. */
#define DP_SLACK_NS 500u
/* Preamble, inter-frame gap and FCS. */
#define DP_WIRE_OVERHEAD_BYTES 24u
/* 1 m of cable. */
#define DP_CABLE_NS 5u
/* Instants this close to the batch's time are converted with the clock's rate at that time. */
#define DP_NEAR_NS (1u << 20)

void dp_time_init(struct dp_port *port);
/** The end of a frame of len bytes behind another, in all cases. */
struct dp_instant dp_time_after(struct dp_port *port, const struct dp_instant *last, uint32_t len, uint64_t due_ns);
/** dp_time_arrival() in all cases. */
void dp_time_arrive(struct dp_port *port, uint32_t len);
/** dp_time_stamp() in all cases. */
uint64_t dp_time_convert(struct dp_port *port, const struct dp_instant *t, bool real);
/** The timestamp of a WQE without frames, which ends now; due_ns as in dp_time_departure(). */
uint64_t dp_time_stamp_now(struct dp_port *port, uint64_t due_ns, bool real);

/**
 * Sends a frame of len bytes: sets port->tx to the end of its departure.
 * @param due_ns earliest departure; 0: when the engine processes it.
 */
static inline void
dp_time_departure(struct dp_port *port, uint32_t len, uint64_t due_ns)
{
	uint64_t wire = (uint64_t)(len + DP_WIRE_OVERHEAD_BYTES) * port->ns_per_byte_q32;
	uint64_t frac = (uint64_t)port->tx.frac + (uint32_t)wire;
	uint64_t ns = port->tx.ns + (wire >> 32) + (frac >> 32);

	if (DP_LIKELY(ns - port->shared->mono_ns <= DP_SLACK_NS && due_ns == 0))
		port->tx = (struct dp_instant){ns, (uint32_t)frac};
	else
		port->tx = dp_time_after(port, &port->tx, len, due_ns);
}

/** Receives a frame of len bytes: sets port->rx to the end of its arrival. */
static inline void
dp_time_arrival(struct dp_port *port, uint32_t len)
{
	const struct dp_instant *left = port->shared->flight;

	if (DP_LIKELY(left != NULL && port->rx.ns < left->ns + DP_CABLE_NS))
		port->rx = (struct dp_instant){left->ns + DP_CABLE_NS, left->frac};
	else
		dp_time_arrive(port, len);
}

/** The device's counter at an instant less than DP_NEAR_NS behind that of p. */
static inline uint64_t
dp_time_cycles(const struct emu_clock_point *p, const struct dp_instant *t)
{
	uint64_t part = (p->rate_q40 >> 10) * t->frac >> 22;

	return p->cycles + ((((uint64_t)p->frac_q32 << 8) + (t->ns - p->mono_ns) * p->rate_q40 + part) >> 40);
}

/** Timestamp of a CQE: counter or real-time clock of the device at an instant. */
static inline uint64_t
dp_time_stamp(struct dp_port *port, const struct dp_instant *t, bool real)
{
	const struct emu_clock_point *p = &port->now;

	if (DP_LIKELY(p->mono_ns == port->shared->mono_ns && t->ns - p->mono_ns < DP_NEAR_NS && !real))
		return dp_time_cycles(p, t);
	return dp_time_convert(port, t, real);
}

#endif /* EMU_DP_TIME_H */
