/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Queue pairs on the bench: made and connected by commands, their WQEs written by hand. */
#ifndef DP_RIG_QP_H
#define DP_RIG_QP_H

#include "rig.h"

/** A key over the arena with all remote rights. */
uint32_t rig_remote_key(struct rig_port *p);

struct rig_qp {
	struct rig_port *port;
	struct emu_qp *qp;
	struct rig_cq *scq, *rcq;
	struct rig_sq *sq; /**< Written to with rig_wqe() and its kin. */
	struct rig_rq *rq; /**< Posted to with rig_post(). */
};
/** What differs from a plain RC QP; zeros are defaults. */
struct rig_qp_attr {
	unsigned st, log_rq, log_sq; /**< 0: 16 WQEs, 16 basic blocks. */
	uint32_t rmpn;		     /**< Receives from this RMP. */
	uint32_t q_key;
	unsigned rnr_retry, min_rnr_nak, ack_timeout, retry_count;
	unsigned cs_req, cs_res, log_cqe; /**< Short data in CQEs; log2 of the bytes of a CQE, 0: 6. */
	bool no_access; /**< The peer may not read, write or do atomics. */
};
struct rig_qp *rig_qp_new(struct rig_port *p, const struct rig_qp_attr *attr);
/** A modify command with the fields of attr; 0 or -EREMOTEIO. */
int rig_qp_go(struct rig_qp *q, uint16_t opcode, uint32_t remote_qpn,
	      const struct rig_qp_attr *attr);
/** Both to RTS, towards each other; b may be a. */
void rig_qp_connect(struct rig_qp *a, struct rig_qp *b, const struct rig_qp_attr *attr);
void rig_wqe_remote(struct rig_sq *s, const void *addr, uint32_t rkey);
void rig_wqe_atomic(struct rig_sq *s, uint64_t swap_add, uint64_t compare);
/** Address vector of the port itself. */
void rig_wqe_av(struct rig_sq *s, uint32_t qpn, uint32_t q_key);
/** Ends the WQE, rings and runs the engine; the WQE's index. */
uint16_t rig_qp_do(struct rig_qp *q);
/** The next completion, checked to be a good one of the opcode and QP. */
const struct prm_cqe64 *rig_qp_cqe(struct rig_cq *c, const struct rig_qp *q, unsigned opcode);
/** The next completion, checked to be an error one with this syndrome. */
void rig_qp_error(struct rig_cq *c, const struct rig_qp *q, unsigned opcode, unsigned syndrome);

/** An RMP: a linked list of 1 << log_size WQEs of one data segment each. */
struct rig_srq {
	struct rig_port *port;
	struct emu_srq *srq;
	uint8_t *ring;
	uint32_t *dbrec;
	unsigned log_size;
	uint16_t next, posted;
};
struct rig_srq *rig_srq_new(struct rig_port *p, unsigned log_size, unsigned limit);
/** Posts the WQE that the list has next; its index. */
uint16_t rig_srq_post(struct rig_srq *s, const void *buf, uint32_t len, uint32_t lkey);

#endif /* DP_RIG_QP_H */
