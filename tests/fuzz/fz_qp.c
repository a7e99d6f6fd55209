/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Queue pairs from bytes: two that are connected (RC, UC) or a datagram pair (UD), any WQE, any
 * posted buffer, any change of state. The engine must stay inside registered memory, come to rest
 * and leave nothing behind.
 */
#include "../dp/rig_qp.h"
#include "fz_rig.h"

#define MAX_RECORDS 64u
#define QPS 2u

enum record {
	REC_WQE,    /* the rest of a WQE behind its control segment */
	REC_REMOTE, /* the same behind a valid remote address */
	REC_BELL,
	REC_RECV,
	REC_STATE,
	REC_RAW, /* bytes anywhere in the send ring */
	REC_RUN,
	REC_KINDS,
};

static struct rig *r;
static struct rig_port *p;
static struct rig_qp *qp[QPS];
static uint32_t key;

static void
rec_remote(struct fz_in *in, struct rig_sq *sq)
{
	uint32_t at = fz_u32(in) % RIG_ARENA_BYTES;

	rig_wqe(sq, fz_u8(in), fz_u8(in));
	rig_wqe_remote(sq, p->arena + at, fz_u8(in) & 1 ? key : fz_u32(in));
	for (unsigned segs = fz_u8(in) & 7; segs != 0; segs--) {
		fz_bytes(in, sq->wqe + sq->len, 16);
		if (fz_u8(in) & 1)
			fz_pointer(p, sq->wqe + sq->len, key);
		sq->len += 16;
	}
	rig_wqe_end(sq);
}

static void
rec_recv(struct fz_in *in, struct rig_rq *rq)
{
	struct prm_rq_wqe seg[2];

	fz_bytes(in, seg, sizeof(seg));
	if (fz_u8(in) & 1)
		fz_pointer(p, (uint8_t *)&seg[0], key);
	rig_post_segs(rq, seg, 2);
}

static void
rec_state(struct fz_in *in, struct rig_qp *q)
{
	static const uint16_t steps[] = {
		PRM_CMD_OP_RST2INIT_QP, PRM_CMD_OP_INIT2INIT_QP, PRM_CMD_OP_INIT2RTR_QP,
		PRM_CMD_OP_RTR2RTS_QP,	PRM_CMD_OP_RTS2RTS_QP,	 PRM_CMD_OP_SQERR2RTS_QP,
		PRM_CMD_OP_2ERR_QP,	PRM_CMD_OP_2RST_QP,
	};
	const struct rig_qp_attr attr = {.q_key = fz_u8(in), .rnr_retry = fz_u8(in) & 7};

	(void)rig_qp_go(q, steps[fz_u8(in) % (sizeof(steps) / sizeof(steps[0]))],
			qp[fz_u8(in) % QPS]->qp->obj.id, &attr);
}

static void
rec_raw(struct fz_in *in, struct rig_sq *sq)
{
	size_t bytes = (size_t)64 << sq->log_size, at = fz_u16(in) % bytes, len = fz_u8(in);

	fz_bytes(in, sq->ring + at, len < bytes - at ? len : bytes - at);
}

static void
one_record(struct fz_in *in)
{
	uint8_t kind = fz_u8(in);
	struct rig_qp *q = qp[fz_u8(in) % QPS];

	switch (kind % REC_KINDS) {
	case REC_WQE:
		fz_wqe(in, q->sq, key);
		break;
	case REC_REMOTE:
		rec_remote(in, q->sq);
		break;
	case REC_BELL:
		rig_sq_record(q->sq);
		rig_sq_bell(q->sq);
		break;
	case REC_RECV:
		rec_recv(in, q->rq);
		break;
	case REC_STATE:
		rec_state(in, q);
		break;
	case REC_RAW:
		rec_raw(in, q->sq);
		break;
	default:
		fz_run(r);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const unsigned st[] = {PRM_QPC_ST_RC, PRM_QPC_ST_UC, PRM_QPC_ST_UD};
	struct fz_in in = {data, size};
	struct rig_qp_attr attr = {.st = st[fz_u8(&in) % 3], .q_key = 7};

	r = rig_new(1, "none");
	p = &r->port[0];
	key = rig_remote_key(p);
	for (unsigned i = 0; i < QPS; i++)
		qp[i] = rig_qp_new(p, &attr);
	rig_qp_connect(qp[0], qp[1], &attr);
	for (unsigned i = 0; i < MAX_RECORDS && in.left != 0; i++)
		one_record(&in);
	fz_run(r);
	rig_free(r);
	emu_audit_reset();
	FZ_MUST(check_failures == 0);
	return 0;
}
