/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Responder: executes requests of a remote QP, on receive WQEs or on memory by rkey. */
#include "dp_qp.h"
#include "dp_time.h"

#define BYTE_COUNT_2GB 0x80000000u
/* flags_rqpn of a datagram: it has a GRH; the protocol of RoCE v2 (mlx5_ib, handle_responder() in cq.c). */
#define CQE_GRH (1u << 28)
#define CQE_ROCE_IPV6 (1u << 24)
#define GRH_NEXT_HEADER 6
#define IP_UDP 17
/* A Q_Key with the highest bit set means the Q_Key of the sending QP (IBTA, UD). */
#define OWN_Q_KEY 0x80000000u

/** Reads the bytes of a request in order. */
struct reader {
	const struct dp_piece *piece;
	uint32_t off;
};

static void
reader_get(struct reader *r, uint8_t *to, uint64_t len)
{
	while (len != 0) {
		uint64_t take = r->piece->len - r->off;

		if (take > len)
			take = len;
		/* Source and destination may overlap: a program may send to its own buffer. */
		memmove(to, r->piece->data + r->off, take);
		to += take;
		len -= take;
		r->off += (uint32_t)take;
		if (r->off == r->piece->len) {
			r->piece++;
			r->off = 0;
		}
	}
}

static uint64_t
capacity(const struct dp_recv_wqe *w)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < w->segs; i++) {
		uint32_t len = be32toh(w->seg[i].byte_count);

		/* A list shorter than the stride ends with an empty segment of the invalid key. */
		if (len == 0 && be32toh(w->seg[i].lkey) == PRM_WQE_LKEY_INVALID)
			break;
		sum += len == 0 ? BYTE_COUNT_2GB : len;
	}
	return sum;
}

/* Writes the message to the WQE's segments; the caller checked that they are large enough. */
static bool
scatter(struct emu_qp *qp, const struct dp_recv_wqe *w, const struct dp_msg *m)
{
	struct emu_port_stats *stats = &qp->obj.dev->stats;
	struct dp_piece grh = {m->grh, DP_GRH_BYTES};
	struct reader head = {&grh, 0}, body = {m->data->piece, 0};
	uint64_t head_left = m->grh != NULL ? DP_GRH_BYTES : 0, left = head_left + m->bytes;

	for (const struct prm_rq_wqe *seg = w->seg; left != 0; seg++) {
		uint64_t len = be32toh(seg->byte_count), first;
		uint8_t *to;

		if (len == 0 || len > left)
			len = left;
		to = emu_dma(qp->obj.dev, w->pd, be32toh(seg->lkey), be64toh(seg->addr), len,
			     EMU_DMA_WRITE);
		if (to == NULL)
			return false;
		first = len < head_left ? len : head_left;
		reader_get(&head, to, first);
		head_left -= first;
		reader_get(&body, to + first, len - first);
		left -= len;
		stats->dma_writes++;
		stats->dma_write_bytes += len;
	}
	return true;
}

static void
catastrophe(struct emu_qp *qp)
{
	dp_qp_event(qp, PRM_EVENT_TYPE_WQ_CATAS_ERROR);
	dp_qp_fail(qp);
}

/* Whether the message goes to the CQE, not to the segments: libmlx5 copies it (cq.c, handle_responder()). */
static bool
goes_to_cqe(const struct emu_qp *qp, const struct dp_msg *m)
{
	return m->bytes != 0 && m->bytes <= qp->recv_in_cqe &&
	       (m->opcode == PRM_WQE_OPCODE_SEND || m->opcode == PRM_WQE_OPCODE_SEND_IMM);
}

static bool
complete(struct emu_qp *qp, const struct dp_recv_wqe *w, const struct dp_msg *m, uint8_t opcode)
{
	struct dp_port *port = dp_port_of(qp->obj.dev);
	struct prm_cqe64 *cqe = dp_cq_begin(qp->rq.cq);
	struct reader body = {m->data->piece, 0};
	unsigned room = goes_to_cqe(qp, m) ? qp->recv_in_cqe : 0;

	if (cqe == NULL) {
		catastrophe(qp);
		return false;
	}
	if (room != 0)
		reader_get(&body, dp_cqe_data(cqe, room), m->bytes);
	if (m->grh != NULL)
		cqe->flags_rqpn = htobe32(CQE_GRH | m->from->obj.id |
					  (m->grh[GRH_NEXT_HEADER] == IP_UDP ? CQE_ROCE_IPV6 : 0));
	cqe->srqn_uidx = htobe32(qp->user_index & 0xffffff);
	cqe->imm_inval_pkey = m->imm;
	cqe->byte_cnt = htobe32((uint32_t)m->bytes + (m->grh != NULL ? DP_GRH_BYTES : 0));
	dp_time_arrival(port, 0);
	cqe->timestamp = htobe64(dp_time_stamp(port, &port->rx, qp->rq.real_time));
	dp_cq_end_format(qp->rq.cq, cqe, qp->obj.id, w->counter, opcode, dp_cqe_data_format(room),
			 m->solicited);
	return true;
}

/* Completes the receive WQE in error and changes the QP to ERR. */
static void
refuse(struct emu_qp *qp, const struct dp_recv_wqe *w, uint8_t syndrome)
{
	dp_cq_write_error(qp->rq.cq, DP_CQE_ERR_QP_RECV, qp->obj.id, qp->user_index,
			  w->counter, syndrome, 0);
	dp_qp_fail(qp);
}

static enum dp_ack
receive_send(struct emu_qp *qp, struct dp_msg *m)
{
	uint64_t need = m->bytes + (m->grh != NULL ? DP_GRH_BYTES : 0);
	bool imm = m->opcode == PRM_WQE_OPCODE_SEND_IMM;
	struct dp_recv_wqe w;

	if (!dp_qp_recv_wqe(qp, &w))
		return DP_NAK_RNR;
	if (capacity(&w) < need) {
		dp_qp_recv_taken(qp);
		refuse(qp, &w, PRM_CQE_SYNDROME_LOCAL_LENGTH_ERR);
		return DP_NAK_INVALID;
	}
	if (!goes_to_cqe(qp, m) && !scatter(qp, &w, m)) {
		dp_qp_recv_taken(qp);
		refuse(qp, &w, PRM_CQE_SYNDROME_LOCAL_PROT_ERR);
		return DP_NAK_OPERATION;
	}
	dp_qp_recv_taken(qp);
	if (!imm)
		m->imm = 0;
	return complete(qp, &w, m,
			imm ? PRM_CQE_OPCODE_RESP_SEND_IMM : PRM_CQE_OPCODE_RESP_SEND)
		       ? DP_ACK
		       : DP_NAK_OPERATION;
}

static enum dp_ack
no_access(struct emu_qp *qp)
{
	dp_qp_event(qp, PRM_EVENT_TYPE_WQ_ACCESS_ERROR);
	dp_qp_fail(qp);
	return DP_NAK_ACCESS;
}

static enum dp_ack
invalid(struct emu_qp *qp)
{
	dp_qp_event(qp, PRM_EVENT_TYPE_WQ_INVAL_REQ_ERROR);
	dp_qp_fail(qp);
	return DP_NAK_INVALID;
}

static enum dp_ack
receive_write(struct emu_qp *qp, struct dp_msg *m)
{
	bool imm = m->opcode == PRM_WQE_OPCODE_RDMA_WRITE_IMM;
	struct reader r = {m->data->piece, 0};
	struct dp_recv_wqe w;
	uint8_t *to;

	if (!qp->rwe)
		return invalid(qp);
	if (imm && !dp_qp_recv_wqe(qp, &w))
		return DP_NAK_RNR;
	/* The rkey of an empty write is not checked (IBTA, RDMA write). */
	if (m->bytes != 0) {
		to = emu_dma(qp->obj.dev, qp->pd, m->rkey, m->raddr, m->bytes,
			     EMU_DMA_REMOTE_WRITE);
		if (to == NULL)
			return no_access(qp);
		reader_get(&r, to, m->bytes);
		qp->obj.dev->stats.dma_writes++;
		qp->obj.dev->stats.dma_write_bytes += m->bytes;
	}
	if (!imm)
		return DP_ACK;
	dp_qp_recv_taken(qp);
	return complete(qp, &w, m, PRM_CQE_OPCODE_RESP_WR_IMM) ? DP_ACK : DP_NAK_OPERATION;
}

static enum dp_ack
receive_read(struct emu_qp *qp, struct dp_msg *m)
{
	if (!qp->rre)
		return invalid(qp);
	if (m->bytes == 0)
		return DP_ACK;
	m->read_from = emu_dma(qp->obj.dev, qp->pd, m->rkey, m->raddr, m->bytes,
			       EMU_DMA_REMOTE_READ);
	if (m->read_from == NULL)
		return no_access(qp);
	qp->obj.dev->stats.dma_reads++;
	qp->obj.dev->stats.dma_read_bytes += m->bytes;
	return DP_ACK;
}

static enum dp_ack
receive_atomic(struct emu_qp *qp, struct dp_msg *m)
{
	_Atomic uint64_t *at;

	if (!qp->rae || m->raddr % DP_ATOMIC_BYTES != 0)
		return invalid(qp);
	at = emu_dma(qp->obj.dev, qp->pd, m->rkey, m->raddr, DP_ATOMIC_BYTES,
		     EMU_DMA_REMOTE_ATOMIC);
	if (at == NULL || (uintptr_t)at % DP_ATOMIC_BYTES != 0)
		return no_access(qp);
	if (m->opcode == PRM_WQE_OPCODE_ATOMIC_FA) {
		m->original = atomic_fetch_add(at, m->swap_add);
	} else {
		m->original = m->compare;
		atomic_compare_exchange_strong(at, &m->original, m->swap_add);
	}
	return DP_ACK;
}

static enum dp_ack
execute(struct emu_qp *qp, struct dp_msg *m)
{
	switch (m->opcode) {
	case PRM_WQE_OPCODE_SEND:
	case PRM_WQE_OPCODE_SEND_IMM:
		return receive_send(qp, m);
	case PRM_WQE_OPCODE_RDMA_WRITE:
	case PRM_WQE_OPCODE_RDMA_WRITE_IMM:
		return receive_write(qp, m);
	case PRM_WQE_OPCODE_RDMA_READ:
		return receive_read(qp, m);
	default:
		return receive_atomic(qp, m);
	}
}

static bool
listens(const struct emu_qp *qp, const struct dp_msg *m)
{
	bool ready = qp->state == PRM_QPC_STATE_RTR || qp->state == PRM_QPC_STATE_RTS ||
		     qp->state == PRM_QPC_STATE_SQER;

	if (!ready || qp->st != m->from->st)
		return false;
	if (qp->st == PRM_QPC_ST_UD)
		return qp->q_key == (m->q_key & OWN_Q_KEY ? m->from->q_key : m->q_key);
	return qp->remote_qpn == m->from->obj.id && qp->next_rcv_psn == m->from->next_send_psn;
}

enum dp_ack
dp_qp_receive(struct emu_qp *qp, struct dp_msg *m)
{
	if (!listens(qp, m))
		return DP_ACK_LOST;
	if (qp->st != PRM_QPC_ST_UD && qp->state == PRM_QPC_STATE_RTR && !qp->comm_est) {
		qp->comm_est = true;
		dp_qp_event(qp, PRM_EVENT_TYPE_COMM_EST);
	}
	return execute(qp, m);
}
