/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Fault rules in the data path; call these functions only if emu_fault_at() is true. */
#ifndef EMU_DP_FAULT_H
#define EMU_DP_FAULT_H

#include "../core/emu_fault.h"
#include "../wire/emu_wire.h"
#include "dp_int.h"

/** An action for the next CQE is pending: dp_cq_end() calls dp_fault_cqe_apply(). */
extern bool dp_fault_cqe_pending;
/** The same, or a set rule changes CQEs. */
static inline bool
dp_fault_cqe(void)
{
	return DP_UNLIKELY(dp_fault_cqe_pending | (emu_fault_sets >> EMU_ON_CQE_WRITE & 1));
}
/** Doorbells or frames wait for their time. */
extern bool dp_fault_delayed;

/** Drops what a former data path left pending. */
void dp_fault_init(void);
typedef void (*dp_fault_deliver_cb)(struct emu_rq *rq, const struct dp_rx *rx);
/** rx.deliver: delivers the frame as set rules change it. */
void dp_fault_deliver(struct emu_rq *rq, const struct dp_rx *rx, dp_fault_deliver_cb deliver);

/** wqe.fetch of an SQ. DP_DONE: continue; DP_ERROR: w->syndrome is set; DP_HOLD: the device is removed. */
enum dp_exec dp_fault_fetch(struct dp_wqe *w);
/** wqe.fetch of an RQ: true when the frame is lost to an error. */
bool dp_fault_rq_fetch(struct emu_rq *rq);
/** doorbell: true when it does not arrive, or not now. cq: an arm doorbell, q: an SQ's. */
bool dp_fault_doorbell(struct dp_sq *q, struct emu_cq *cq);

/** cqe.write of an SQ: true when that was all about this completion. */
bool dp_fault_sq_cqe(struct dp_sq *q, const struct dp_wqe *w);
enum dp_fault_rx {
	DP_FAULT_RX_NONE, /**< Go on: to be written, perhaps by dp_fault_cqe_apply(). */
	DP_FAULT_RX_DONE, /**< That was it. */
	DP_FAULT_RX_STOP, /**< That was it, and the queue stops. */
};
enum dp_fault_rx dp_fault_rq_cqe(struct emu_rq *rq, const struct dp_done *d);
/** cqe.write of an error completion; opcode_qpn names its queue. */
void dp_fault_error_cqe(struct emu_cq *cq, uint8_t opcode, uint32_t opcode_qpn);
/** Carries out what is pending; last: the final 8 bytes, host order. True: all is done. */
bool dp_fault_cqe_apply(struct emu_cq *cq, struct prm_cqe64 *cqe, uint64_t *last, bool solicited);

/** In place of emu_wire_tx(). */
enum emu_wire_result dp_fault_wire_tx(struct emu_dev *dev, const uint8_t *frame, uint32_t len);
/** In place of receiving; true when done, with *result. False: receive as usual. */
bool dp_fault_wire_rx(struct emu_dev *dev, const uint8_t *frame, uint32_t len, bool may_wait,
		      enum emu_rx_result *result);
/** Releases delayed doorbells and frames whose time has come. */
void dp_fault_release(struct emu_machine *m);
/** Forgets what waits, at the end. */
void dp_fault_fini(void);

#endif /* EMU_DP_FAULT_H */
