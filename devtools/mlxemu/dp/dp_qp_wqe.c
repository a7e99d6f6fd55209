/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Send WQEs of queue pairs: reads the segments that an opcode requires. */
#include "dp_qp.h"

#define ST(s) (1u << PRM_QPC_ST_##s)

enum kind { KIND_NOP, KIND_SEND, KIND_WRITE, KIND_READ, KIND_ATOMIC };

static const struct op {
	uint8_t opcode, kind;
	uint16_t services;
} ops[] = {
	{PRM_WQE_OPCODE_NOP, KIND_NOP, ST(RC) | ST(UC) | ST(UD)},
	{PRM_WQE_OPCODE_SEND, KIND_SEND, ST(RC) | ST(UC) | ST(UD)},
	{PRM_WQE_OPCODE_SEND_IMM, KIND_SEND, ST(RC) | ST(UC) | ST(UD)},
	{PRM_WQE_OPCODE_RDMA_WRITE, KIND_WRITE, ST(RC) | ST(UC)},
	{PRM_WQE_OPCODE_RDMA_WRITE_IMM, KIND_WRITE, ST(RC) | ST(UC)},
	{PRM_WQE_OPCODE_RDMA_READ, KIND_READ, ST(RC)},
	{PRM_WQE_OPCODE_ATOMIC_CS, KIND_ATOMIC, ST(RC)},
	{PRM_WQE_OPCODE_ATOMIC_FA, KIND_ATOMIC, ST(RC)},
};

static const struct op *
op_find(uint8_t opcode, uint8_t st)
{
	for (unsigned i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
		if (ops[i].opcode == opcode && (ops[i].services & 1u << st) != 0)
			return &ops[i];
	return NULL;
}

static enum dp_exec
too_short(struct dp_wqe *w, const char *what)
{
	return dp_wqe_refuse(w, PRM_CQE_SYNDROME_LOCAL_QP_OP_ERR, what);
}

static enum dp_exec
read_remote(struct dp_wqe *w, struct dp_msg *m)
{
	struct prm_wqe_raddr_seg seg;

	if (!dp_wqe_segment(w, &seg, sizeof(seg)))
		return too_short(w, "remote address segment missing");
	m->raddr = be64toh(seg.raddr);
	m->rkey = be32toh(seg.rkey);
	return DP_DONE;
}

static enum dp_exec
read_atomic(struct dp_wqe *w, struct dp_msg *m)
{
	struct prm_wqe_atomic_seg seg;

	if (!dp_wqe_segment(w, &seg, sizeof(seg)))
		return too_short(w, "atomic segment missing");
	m->swap_add = be64toh(seg.swap_add);
	m->compare = be64toh(seg.compare);
	return DP_DONE;
}

/* Reads the data segments of a message to send: pointers or inline data; an empty message has none. */
static enum dp_exec
read_gather(struct dp_wqe *w, struct dp_request *r)
{
	uint32_t limit = 1u << w->sq->qp->log_msg_max;
	enum dp_exec done = DP_DONE;

	while (done == DP_DONE && w->pos != w->end)
		done = dp_wqe_data(w, &r->data, limit);
	/* Inline data is limited by the WQE's size only. */
	if (done == DP_DONE && r->data.bytes > limit)
		return dp_wqe_refuse(w, PRM_CQE_SYNDROME_LOCAL_LENGTH_ERR, "message too long");
	return done;
}

/* Reads the data segments to which the answer is written. */
static enum dp_exec
read_scatter(struct dp_wqe *w, struct dp_request *r)
{
	uint64_t limit = 1ull << w->sq->qp->log_msg_max;
	struct prm_wqe_data_seg seg;

	while (w->pos != w->end) {
		struct dp_piece *p = &r->data.piece[r->data.n];

		if (!dp_wqe_segment(w, &seg, sizeof(seg)))
			return too_short(w, "data segment missing");
		p->len = be32toh(seg.byte_count);
		if (p->len == 0 || p->len > limit || r->data.bytes > limit - p->len)
			return dp_wqe_refuse(w, PRM_CQE_SYNDROME_LOCAL_LENGTH_ERR,
					     "answer inline, of length 0 or too long");
		p->data = emu_dma(w->sq->obj.dev, w->sq->pd, be32toh(seg.lkey), be64toh(seg.addr),
				  p->len, EMU_DMA_WRITE);
		if (p->data == NULL) {
			w->syndrome = PRM_CQE_SYNDROME_LOCAL_PROT_ERR; /* emu_dma() reported the reason */
			return DP_ERROR;
		}
		r->data.n++;
		r->data.bytes += p->len;
	}
	return DP_DONE;
}

static enum dp_exec
read_by_kind(struct dp_wqe *w, struct dp_request *r, enum kind kind)
{
	enum dp_exec done = DP_DONE;

	if (kind >= KIND_WRITE)
		done = read_remote(w, &r->msg);
	if (done == DP_DONE && kind == KIND_ATOMIC)
		done = read_atomic(w, &r->msg);
	if (done != DP_DONE)
		return done;
	if (kind <= KIND_WRITE)
		return read_gather(w, r);
	done = read_scatter(w, r);
	if (done == DP_DONE && kind == KIND_ATOMIC && r->data.bytes != DP_ATOMIC_BYTES)
		return dp_wqe_refuse(w, PRM_CQE_SYNDROME_LOCAL_LENGTH_ERR,
				     "room for the answer of an atomic is not 8 bytes");
	return done;
}

enum dp_exec
dp_qp_wqe_read(struct dp_wqe *w, struct dp_request *r)
{
	struct emu_qp *qp = w->sq->qp;
	const struct op *op = w->opc_mod == 0 ? op_find(w->opcode, qp->st) : NULL;
	enum dp_exec done;

	memset(&r->msg, 0, sizeof(r->msg));
	dp_pieces_init(&r->data);
	if (op == NULL)
		return dp_wqe_refuse(w, PRM_CQE_SYNDROME_LOCAL_QP_OP_ERR,
				     w->opc_mod == 0 ? "opcode not supported for the service type"
						     : "opcode with this opc_mod not supported");
	r->msg.opcode = w->opcode;
	if (op->kind == KIND_NOP)
		return DP_DONE;
	if (qp->st == PRM_QPC_ST_UD && !dp_wqe_segment(w, &r->av, sizeof(r->av)))
		return too_short(w, "address vector missing");
	done = read_by_kind(w, r, op->kind);
	r->msg.from = qp;
	r->msg.solicited = w->solicited;
	r->msg.imm = w->imm;
	r->msg.data = &r->data;
	r->msg.bytes = r->data.bytes;
	return done;
}
