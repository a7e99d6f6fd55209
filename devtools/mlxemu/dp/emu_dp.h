/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* The data path: runs the queues of all ports in one engine thread. */
#ifndef EMU_DP_H
#define EMU_DP_H

#include "../core/emu_obj.h"

/** Prepares per-port state (dev->dp, dev->steer). 0 or -errno. */
int emu_dp_init(struct emu_machine *m);
/** Starts the engine thread (all signals blocked, affinity to all CPUs). 0 or -errno. */
int emu_dp_start(struct emu_machine *m);
/** Stops and joins it; frees the state. */
void emu_dp_stop(struct emu_machine *m);
/** One pass over all ports, lock held; returns work done. For tests without a thread. */
unsigned emu_dp_poll(struct emu_machine *m);
/** A frame arrives from the wire at this port, lock held. */
void emu_dp_ingress(struct emu_dev *dev, const uint8_t *frame, uint32_t len);
/** True when a frame arriving now would find a posted receive WQE (lossless wires, replay). */
bool emu_dp_can_receive(struct emu_dev *dev);
/* fw/ tells about state changes, lock held. */
void emu_dp_sq_changed(struct emu_sq *sq); /**< created, RST->RDY, ->ERR: flush, destroyed next */
void emu_dp_rq_changed(struct emu_rq *rq);
/** fw/ announces that the object is about to be freed: forget every pointer to it. */
void emu_dp_forget(struct emu_obj *obj);

#endif /* EMU_DP_H */
