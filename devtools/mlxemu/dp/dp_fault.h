/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Fault rules in the data path; call these functions only if emu_fault_at() is true. */
#ifndef EMU_DP_FAULT_H
#define EMU_DP_FAULT_H

#include "../core/emu_fault.h"
#include "../wire/emu_wire.h"
#include "dp_int.h"

/** An action for the next CQE is pending: dp_cq_end() calls dp_fault_cqe_apply(). */
extern bool dp_fault_cqe_pending EMU_OWN;
/** The same, or a set rule changes CQEs. */
static inline bool
dp_fault_cqe(void)
{
	return DP_UNLIKELY(dp_fault_cqe_pending | (emu_fault_sets >> EMU_ON_CQE_WRITE & 1));
}
/** Delayed doorbells or frames are pending. */
extern bool dp_fault_delayed;

/** Clears pending actions. */
void dp_fault_init(void);
typedef void (*dp_fault_deliver_cb)(struct emu_rq *rq, const struct dp_rx *rx);
/** rx.deliver: delivers the frame as set rules change it. */
void dp_fault_deliver(struct emu_rq *rq, const struct dp_rx *rx, dp_fault_deliver_cb deliver);

/** wqe.fetch of an SQ. DP_DONE: continue; DP_ERROR: w->syndrome is set; DP_HOLD: the device is removed. */
enum dp_exec dp_fault_fetch(struct dp_wqe *w);
/** wqe.fetch of an RQ: true if an error drops the frame. */
bool dp_fault_rq_fetch(struct emu_rq *rq);
/** doorbell: true if it is dropped or delayed. cq: arm doorbell of a CQ; q: doorbell of an SQ. */
bool dp_fault_doorbell(struct dp_sq *q, struct emu_cq *cq);

/** cqe.write of an SQ: true if the completion is finished. */
bool dp_fault_sq_cqe(struct dp_sq *q, const struct dp_wqe *w);
enum dp_fault_rx {
	DP_FAULT_RX_NONE, /**< Write the CQE; dp_fault_cqe_apply() can change it. */
	DP_FAULT_RX_DONE, /**< The completion is finished. */
	DP_FAULT_RX_STOP, /**< The completion is finished, and the queue stops. */
};
enum dp_fault_rx dp_fault_rq_cqe(struct emu_rq *rq, const struct dp_done *d);
/** cqe.write of an error completion of the queue opcode_qpn. */
void dp_fault_error_cqe(struct emu_cq *cq, uint8_t opcode, uint32_t opcode_qpn);
/** Carries out the pending action; last: last 8 bytes of the CQE, host order. True: the CQE is finished. */
bool dp_fault_cqe_apply(struct emu_cq *cq, struct prm_cqe64 *cqe, uint64_t *last, bool solicited);

/** Called instead of emu_wire_tx(). */
enum emu_wire_result dp_fault_wire_tx(struct emu_dev *dev, const uint8_t *frame, uint32_t len);
/** wire.rx: true if the frame is finished, with *result. False: receive it. */
bool dp_fault_wire_rx(struct emu_dev *dev, const uint8_t *frame, uint32_t len, bool may_wait,
		      enum emu_rx_result *result);
/** dp_rx.c: counts a frame that a fault rule keeps from the port: EMU_ACT_DROP, EMU_ACT_FCS, EMU_ACT_DISCARD. */
void dp_rx_lose(struct emu_dev *dev, const uint8_t *frame, uint32_t len, enum emu_fault_act how);
/** Releases delayed doorbells and frames whose time has come. */
void dp_fault_release(struct emu_machine *m);
/** Frees delayed doorbells and frames. */
void dp_fault_fini(void);

#endif /* EMU_DP_FAULT_H */
