/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Requester: executes the send WQEs of queue pairs, one message at a time. QPs are connected by the card's
 * loopback only: the destination is a QP of the same port, found by GID, MAC and QP number.
 */
#include "dp_qp.h"

#define RNR_FOR_EVER 7u
#define PSN_MASK 0xffffffu
/* Unit of the ack timeout: 4.096 us << n. */
#define ACK_UNIT_NS 4096u
#define QPN_MASK 0xffffffu

/* Delay that an RNR NAK requests, by its code, in 10 us (IBTA, table of RNR NAK timers). */
static const uint32_t rnr_delay_10us[32] = {
	65536, 1,   2,	 3,   4,   6,	8,    12,   16,	  24,	32,   48,    64,    96,	   128, 192,
	256,   384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768,
	49152,
};

static struct emu_qp *
peer_of(const struct emu_qp *qp, const struct dp_request *r)
{
	struct emu_dev *dev = qp->obj.dev;

	if (qp->st == PRM_QPC_ST_UD)
		return emu_port_is_gid(dev, r->av.rgid, r->av.rmac)
			       ? emu_obj_find(dev, EMU_OBJ_QP, be32toh(r->av.dqp_dct) & QPN_MASK)
			       : NULL;
	if (!qp->path.force_loopback && !emu_port_is_gid(dev, qp->path.rgid, qp->path.rmac))
		return NULL;
	return emu_obj_find(dev, EMU_OBJ_QP, qp->remote_qpn);
}

/* Builds the GRH, which the receiver of a datagram gets before the payload. */
static void
make_grh(const struct emu_qp *qp, struct dp_request *r, uint8_t grh[DP_GRH_BYTES])
{
	uint32_t gid_fl = be32toh(r->av.grh_gid_fl);
	uint32_t first = htobe32(6u << 28 | (uint32_t)r->av.tclass << 20 | (gid_fl & 0xfffff));
	uint16_t len = htobe16((uint16_t)r->data.bytes);
	struct emu_roce_address own;

	(void)emu_port_roce(qp->obj.dev, gid_fl >> 20 & 0xff, &own);
	memcpy(grh, &first, sizeof(first));
	memcpy(grh + 4, &len, sizeof(len));
	grh[6] = own.version == PRM_ROCE_VERSION_V1 ? 0x1b : 17; /* BTH of RoCE v1, UDP of v2 */
	grh[7] = r->av.hop_limit;
	memcpy(grh + 8, own.gid, sizeof(own.gid));
	memcpy(grh + 24, r->av.rgid, 16);
	r->msg.grh = grh;
	r->msg.q_key = be32toh(r->av.qkey);
}

/* Both QPs count the packets of a message, or of the answer to a read. */
static void
advance_psn(struct emu_qp *qp, struct emu_qp *peer, uint64_t bytes)
{
	uint32_t mtu = 128u << qp->mtu;
	uint32_t packets = bytes == 0 ? 1 : (uint32_t)((bytes + mtu - 1) / mtu);

	qp->next_send_psn = (qp->next_send_psn + packets) & PSN_MASK;
	peer->next_rcv_psn = (peer->next_rcv_psn + packets) & PSN_MASK;
}

/*
 * Writes the answer to a read or an atomic to the segments of the WQE, or leaves a short one to the CQE (libmlx5,
 * cq.c: mlx5_copy_to_send_wqe()).
 * assumed: a WQE without a CQE gets its answer in its segments. Other reading: it is lost. Test: dp/test_rc.c.
 */
static void
take_answer(struct dp_qp *d, struct dp_wqe *w, struct dp_request *r)
{
	struct emu_port_stats *stats = &w->sq->obj.dev->stats;
	const uint8_t *from = r->msg.read_from;

	if (w->opcode == PRM_WQE_OPCODE_ATOMIC_CS || w->opcode == PRM_WQE_OPCODE_ATOMIC_FA)
		from = (const uint8_t *)&r->msg.original;
	else if (w->opcode != PRM_WQE_OPCODE_RDMA_READ)
		return;
	w->bytes = r->data.bytes;
	if (w->bytes != 0 && w->bytes <= d->qp->answer_in_cqe && w->ce >= PRM_WQE_CE_CQ_UPDATE) {
		memcpy(d->answer, from, w->bytes);
		w->answer = d->answer;
		w->cqe_room = d->qp->answer_in_cqe;
		return;
	}
	for (unsigned i = 0; i < r->data.n; i++) {
		/* The cast is valid: read_scatter() mapped the pieces for writing. */
		memmove((uint8_t *)(uintptr_t)r->data.piece[i].data, from, r->data.piece[i].len);
		from += r->data.piece[i].len;
		stats->dma_writes++;
		stats->dma_write_bytes += r->data.piece[i].len;
	}
}

static enum dp_exec
fail_with(struct dp_wqe *w, uint8_t syndrome)
{
	w->syndrome = syndrome;
	return DP_ERROR;
}

static enum dp_exec
wait_ns(struct dp_qp *d, struct dp_wqe *w, uint64_t ns)
{
	d->waiting = true;
	d->wait_until_ns = w->port->shared->mono_ns + ns;
	return DP_HOLD;
}

static enum dp_exec
not_ready(struct dp_qp *d, struct dp_wqe *w, const struct emu_qp *peer)
{
	const struct emu_qp *qp = d->qp;

	if (qp->rnr_retry != RNR_FOR_EVER && d->rnr_tries++ >= qp->rnr_retry)
		return fail_with(w, PRM_CQE_SYNDROME_RNR_RETRY_EXC_ERR);
	return wait_ns(d, w, rnr_delay_10us[peer->min_rnr_nak & 31] * 10000ull);
}

static enum dp_exec
no_answer(struct dp_qp *d, struct dp_wqe *w)
{
	const struct emu_qp *qp = d->qp;

	if (qp->ack_timeout == 0)
		return wait_ns(d, w, UINT32_MAX);
	/* Each transmission has a timeout of its own; the first one is not a retry. */
	if (d->ack_tries++ > qp->retry_count)
		return fail_with(w, PRM_CQE_SYNDROME_TRANSPORT_RETRY_EXC_ERR);
	return wait_ns(d, w, (uint64_t)ACK_UNIT_NS << qp->ack_timeout);
}

static enum dp_exec
answered(struct dp_qp *d, struct dp_wqe *w, enum dp_ack ack, const struct emu_qp *peer)
{
	switch (ack) {
	case DP_ACK:
		return DP_DONE;
	case DP_ACK_LOST:
		return no_answer(d, w);
	case DP_NAK_RNR:
		return not_ready(d, w, peer);
	case DP_NAK_INVALID:
		return fail_with(w, PRM_CQE_SYNDROME_REMOTE_INVAL_REQ_ERR);
	case DP_NAK_ACCESS:
		return fail_with(w, PRM_CQE_SYNDROME_REMOTE_ACCESS_ERR);
	default:
		return fail_with(w, PRM_CQE_SYNDROME_REMOTE_OP_ERR);
	}
}

static enum dp_exec
execute(struct dp_qp *d, struct dp_wqe *w)
{
	struct emu_qp *qp = d->qp, *peer;
	uint8_t grh[DP_GRH_BYTES];
	enum dp_ack ack = DP_ACK_LOST;
	struct dp_request r;
	enum dp_exec done = dp_wqe_read_ctrl(w);

	if (done != DP_DONE)
		return done;
	done = dp_qp_wqe_read(w, &r);
	if (done != DP_DONE || w->opcode == PRM_WQE_OPCODE_NOP)
		return done;
	peer = peer_of(qp, &r);
	if (qp->st == PRM_QPC_ST_UD)
		make_grh(qp, &r, grh);
	if (peer != NULL)
		ack = dp_qp_receive(peer, &r.msg);
	/* UC and UD have no acknowledgment. */
	done = qp->st == PRM_QPC_ST_RC ? answered(d, w, ack, peer) : DP_DONE;
	if (done != DP_DONE)
		return done;
	if (peer != NULL && qp->st != PRM_QPC_ST_UD && ack != DP_ACK_LOST)
		advance_psn(qp, peer, r.data.bytes);
	take_answer(d, w, &r);
	return DP_DONE;
}

void
dp_qp_stop_sending(struct emu_qp *qp)
{
	if (qp->st == PRM_QPC_ST_RC) {
		dp_qp_fail(qp);
	} else if (qp->state == PRM_QPC_STATE_RTS) {
		qp->state = PRM_QPC_STATE_SQER;
		emu_dp_qp_changed(qp);
	}
}

static enum dp_exec
step(struct dp_qp *d, struct dp_sq *q, struct dp_wqe *w)
{
	struct emu_sq *sq = q->sq;
	enum dp_exec done;

	if (d->waiting && w->port->shared->mono_ns < d->wait_until_ns)
		return DP_HOLD;
	d->waiting = false;
	dp_wqe_begin(w, q);
	done = execute(d, w);
	if (done == DP_HOLD)
		return done;
	d->rnr_tries = d->ack_tries = 0;
	dp_sq_count(q, w);
	if (done == DP_ERROR)
		dp_sq_fail(q, w);
	sq->ci = w->ds == 0 ? sq->hw_pi : (uint16_t)(sq->ci + dp_wqebbs_of(w->ds));
	/* The solicited bit of a request applies to the receiver's CQE, not to this one. */
	w->solicited = false;
	if (done == DP_DONE && w->ce >= PRM_WQE_CE_CQ_UPDATE)
		dp_sq_complete(q, w);
	if (sq->state == EMU_QS_ERR)
		dp_qp_stop_sending(sq->qp);
	return done;
}

unsigned
dp_qp_run(struct dp_sq *q, unsigned budget)
{
	struct dp_port *port = dp_port_of(q->sq->obj.dev);
	struct dp_qp *d = dp_qp_get(q->sq->qp);
	struct emu_sq *sq = q->sq;
	struct dp_wqe w = {.port = port};
	unsigned done = 0;

	if (d == NULL)
		return 0;
	dp_batch_begin(port->shared);
	while (done < budget && sq->ci != sq->hw_pi && sq->state == EMU_QS_RDY) {
		if (step(d, q, &w) == DP_HOLD)
			return done;
		done++;
	}
	dp_sq_settle(q);
	return done;
}
