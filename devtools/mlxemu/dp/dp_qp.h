/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Queue pairs of RDMA transports: requester, responder, and what they tell each other. */
#ifndef EMU_DP_QP_H
#define EMU_DP_QP_H

#include "dp_int.h"

/** obj.dp of an emu_qp. */
struct dp_qp {
	struct emu_qp *qp;
	/** The WQE at the head waits, for a receiver that was not ready or an answer. */
	bool waiting;
	uint64_t wait_until_ns;
	uint8_t rnr_tries, ack_tries; /**< Repetitions of the WQE at the head. */
};

/** What became of a message at the responder, as the requester learns of it. */
enum dp_ack {
	DP_ACK,
	DP_ACK_LOST,	  /**< No answer: no such QP, not ready, wrong sequence number. */
	DP_NAK_RNR,	  /**< No receive WQE. */
	DP_NAK_INVALID,	  /**< Remote invalid request. */
	DP_NAK_ACCESS,
	DP_NAK_OPERATION, /**< The responder could not complete it. */
};

/** A request on its way. */
struct dp_msg {
	struct emu_qp *from;
	uint8_t opcode; /**< PRM_WQE_OPCODE_* */
	bool solicited;
	uint32_t imm;	/**< Big-endian, as in the WQE. */
	uint64_t raddr;
	uint32_t rkey;
	uint64_t swap_add, compare; /**< Atomics, host order. */
	uint64_t read_bytes;	    /**< Of an RDMA read. */
	const struct dp_pieces *data;
	uint8_t grh[40];	    /**< UD: what stands in front of the payload. */
	/* Answer: */
	const uint8_t *read_from;
	uint64_t original; /**< Of an atomic. */
};

/* dp_qp.c */
/** State of dp/ for the QP; NULL without memory. */
struct dp_qp *dp_qp_get(struct emu_qp *qp);
void dp_qp_forget(struct emu_qp *qp);
/** To ERR with everything flushed: what a card does after a fatal error. */
void dp_qp_fail(struct emu_qp *qp);
/** An event about the QP itself. */
void dp_qp_event(struct emu_qp *qp, uint16_t type);
/** Works on the send queue of a QP; as dp_sq_run(). */
unsigned dp_qp_run(struct dp_sq *q, unsigned budget);

/* dp_qp_recv.c */
/** The responder executes a request. */
enum dp_ack dp_qp_receive(struct emu_qp *qp, struct dp_msg *m);

#endif /* EMU_DP_QP_H */
