/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Queue pairs of RDMA transports: requester, responder, and their messages. */
#ifndef EMU_DP_QP_H
#define EMU_DP_QP_H

#include "dp_int.h"

#define DP_GRH_BYTES 40u
#define DP_ATOMIC_BYTES 8u

/** obj.dp of an emu_qp. */
struct dp_qp {
	struct emu_qp *qp;
	/** The WQE at ci is repeated at wait_until_ns: the receiver was not ready, or did not answer. */
	bool waiting;
	uint64_t wait_until_ns;
	uint8_t rnr_tries, ack_tries; /**< Repetitions of the WQE at ci. */
	uint8_t answer[64]; /**< To the WQE at ci, if it goes to the CQE. */
};

/** Result of a request, as the requester sees it. */
enum dp_ack {
	DP_ACK,
	DP_ACK_LOST,	  /**< No answer: no such QP, not ready, wrong sequence number. */
	DP_NAK_RNR,	  /**< No receive WQE. */
	DP_NAK_INVALID,	  /**< Remote invalid request. */
	DP_NAK_ACCESS,
	DP_NAK_OPERATION, /**< Remote operational error: the responder failed. */
};

/** A request to the responder, and its answer. */
struct dp_msg {
	struct emu_qp *from;
	uint8_t opcode; /**< PRM_WQE_OPCODE_* */
	bool solicited;
	uint32_t imm;	/**< Big-endian, as in the WQE. */
	uint64_t raddr;
	uint32_t rkey;
	uint64_t swap_add, compare;    /**< Of an atomic, host order. */
	uint64_t bytes;		       /**< Of the message, or to be read by an RDMA read. */
	const struct dp_pieces *data;  /**< What is sent or written. */
	uint32_t q_key;		       /**< UD */
	const uint8_t *grh;	       /**< UD: DP_GRH_BYTES in front of the payload; NULL: none. */
	const uint8_t *read_from;      /**< Answer to a read. */
	uint64_t original;	       /**< Answer to an atomic: the value before it. */
};

/* dp_qp.c */
/** State of dp/ for the QP; NULL without memory. */
struct dp_qp *dp_qp_get(struct emu_qp *qp);
void dp_qp_forget(struct emu_qp *qp);
/** Fatal error: changes the QP to state ERR and flushes its WQEs. */
void dp_qp_fail(struct emu_qp *qp);
/** Reports an event of the QP, PRM_EVENT_TYPE_*. */
void dp_qp_event(struct emu_qp *qp, uint16_t type);

/* dp_qp_send.c */
/** Executes WQEs of the QP's send queue, as dp_sq_run(). */
unsigned dp_qp_run(struct dp_sq *q, unsigned budget);
/** The send queue is in error: an RC QP changes to ERR, others to SQER, in which they still receive. */
void dp_qp_stop_sending(struct emu_qp *qp);

/* dp_qp_wqe.c */
/** A send WQE read and checked. */
struct dp_request {
	struct dp_msg msg;
	struct dp_pieces data; /**< Source of a send or write; destination of the answer to a read or atomic. */
	struct prm_wqe_av av;  /**< UD */
};
/** Reads the segments after the control segment, by opcode and service type. */
enum dp_exec dp_qp_wqe_read(struct dp_wqe *w, struct dp_request *r);

/* dp_qp_recv.c */
/** The responder executes a request. */
enum dp_ack dp_qp_receive(struct emu_qp *qp, struct dp_msg *m);

/* dp_srq.c */
/** The next receive WQE of a QP, from its own queue or the shared one. */
#define DP_MAX_RECV_SEGS 32u /* max_wqe_sz_rq: 512 bytes */
struct dp_recv_wqe {
	unsigned segs;
	struct prm_rq_wqe seg[DP_MAX_RECV_SEGS]; /**< A copy: the program may write the ring. */
	uint16_t counter;
	uint32_t pd;
};
/** False: none is posted, or the producer index is invalid. */
bool dp_qp_recv_wqe(struct emu_qp *qp, struct dp_recv_wqe *r);
/** Consumes it. */
void dp_qp_recv_taken(struct emu_qp *qp);

#endif /* EMU_DP_QP_H */
