/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* When frames leave and arrive, and what completions say about it. */
#ifndef DP_TIME_H
#define DP_TIME_H

#include <stdbool.h>
#include <stdint.h>

struct dp_port;
struct dp_shared;

/** A moment of true time: emu_mono_ns(), and 2^-32 of a nanosecond. */
struct dp_instant {
	uint64_t ns;
	uint32_t frac;
};

void dp_time_init(struct dp_port *port);
/** Takes the time for what follows; once per batch of a queue or wire. */
void dp_batch_begin(struct dp_shared *shared);
/**
 * A frame of len bytes leaves; port->tx is when it has.
 * @param due_ns it was due to leave from then on; 0: it leaves when the engine comes to it.
 */
void dp_time_departure(struct dp_port *port, uint32_t len, uint64_t due_ns);
/** A frame of len bytes arrives; port->rx is when it has. */
void dp_time_arrival(struct dp_port *port, uint32_t len);
/** What the device's counter, or its own clock, shows at an instant: as a CQE carries it. */
uint64_t dp_time_stamp(struct dp_port *port, const struct dp_instant *t, bool real);
/** The same of the moment at which a work request without frames is done; due_ns as above. */
uint64_t dp_time_stamp_now(struct dp_port *port, uint64_t due_ns, bool real);

#endif /* DP_TIME_H */
