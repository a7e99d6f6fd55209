/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* The truth about frames: what arrived and left, and when. */
#ifndef DP_CAPTURE_H
#define DP_CAPTURE_H

#include "dp_time.h"

struct dp_capture;
enum dp_direction { DP_ARRIVED = 1, DP_LEFT = 2 }; /**< As pcapng numbers them. */

/** Writes the frame, if this direction is captured. t: when its last bit had passed. */
void dp_capture_frame(struct dp_port *port, enum dp_direction direction,
		      const struct dp_instant *t, const uint8_t *frame, uint32_t len);
/** Some file is open: dp_capture_tick() wants to be called. */
extern bool dp_capture_on;
/** Now and then what was written goes to the file. */
void dp_capture_tick(struct dp_shared *shared);
void dp_capture_close(struct dp_port *port);

#endif /* DP_CAPTURE_H */
