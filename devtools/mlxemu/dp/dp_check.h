/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Checks of posted receive buffers; call these functions only if dp_check_on is set. */
#ifndef EMU_DP_CHECK_H
#define EMU_DP_CHECK_H

#include "dp_int.h"

/** Buffers are watched: emu_dp_check_buffers(). */
extern bool dp_check_on;

/** Looks at the receive queues of all ports: what was used up, what was posted. */
void dp_check_pass(struct emu_machine *m);
/** A frame is about to take the WQE at ci: nothing is used before it was looked at. */
void dp_check_arrival(struct emu_rq *rq);
/** The queue was reset or is about to go: nothing is posted in it. */
void dp_check_forget(struct emu_rq *rq);

#endif /* EMU_DP_CHECK_H */
