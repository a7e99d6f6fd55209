/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Work queues from bytes: WQEs, receive descriptors, doorbells and state changes in any order on
 * a looped port, with plain, compressing and striding receive queues. The engine must stay inside
 * registered memory, come to rest and leave nothing behind.
 */
#include "fz_rig.h"

#define MAX_RECORDS 96u
#define LOG_WQEBBS 5u
#define LOG_RECV 5u

enum record {
	REC_WQE,      /* a WQE whose control segment is right, the rest from the input */
	REC_RAW,      /* bytes anywhere in the ring */
	REC_BELL,     /* doorbell record and register as they should be */
	REC_WRONG_PI, /* any producer index */
	REC_RECV,     /* any receive descriptor */
	REC_STATE,
	REC_RUN,
	REC_KINDS,
};

static struct rig *r;
static struct rig_port *p;
static struct rig_sq *sq;
static struct rig_rx *rx;

static void
rec_raw(struct fz_in *in)
{
	size_t bytes = (size_t)64 << LOG_WQEBBS, at = fz_u16(in) % bytes, len = fz_u8(in);

	fz_bytes(in, sq->ring + at, len < bytes - at ? len : bytes - at);
}

static void
rec_recv(struct fz_in *in)
{
	struct prm_rq_wqe seg;

	if (fz_u8(in) & 1) {
		rig_post(rx->rq, rx->buf[fz_u8(in) % (1u << LOG_RECV)], RIG_BUF_BYTES, p->lkey);
		return;
	}
	fz_bytes(in, &seg, sizeof(seg));
	if (fz_u8(in) & 1)
		fz_pointer(p, (uint8_t *)&seg, p->lkey);
	rig_post_segs(rx->rq, &seg, 1);
}

static void
rec_state(struct fz_in *in)
{
	uint8_t how = fz_u8(in);

	if (how & 0x80)
		(void)rig_sq_modify(sq, how & 3, how >> 2 & 3);
	else
		(void)rig_rq_modify(rx->rq, how & 3, how >> 2 & 3);
}

static void
one_record(struct fz_in *in)
{
	switch (fz_u8(in) % REC_KINDS) {
	case REC_WQE:
		fz_wqe(in, sq, p->lkey);
		break;
	case REC_RAW:
		rec_raw(in);
		break;
	case REC_BELL:
		rig_sq_record(sq);
		rig_sq_bell(sq);
		break;
	case REC_WRONG_PI:
		sq->dbrec[1] = fz_u32(in);
		rig_sq_bell(sq);
		break;
	case REC_RECV:
		rec_recv(in);
		break;
	case REC_STATE:
		rec_state(in);
		break;
	default:
		fz_run(r);
	}
}

/* The bench's receive side, or one that compresses completions or receives into strides. */
static struct rig_rx *
receiver(uint8_t kind)
{
	const unsigned log_stride = kind & 2 ? 5 : 4, flags = kind & 2 ? RIG_RQ_STRIDES(9, 6) : 0;
	struct rig_rx *x;

	if ((kind & 3) == 0)
		return rig_rx_new(p, LOG_RECV);
	x = rig_mem(p, sizeof(*x), 64);
	x->cq = kind & 1 ? rig_cq_new_comp(p, LOG_RECV, kind >> 2 & 3, false) : rig_cq_new(p, LOG_RECV, 6);
	x->rq = rig_rq_new(p, x->cq, LOG_RECV, log_stride, flags);
	x->tir = rig_tir_new(p, x->rq, NULL, NULL);
	x->flow = rig_flow_all(p, x->tir, 0);
	for (unsigned i = 0; i < 1u << LOG_RECV; i++)
		x->buf[i] = rig_mem(p, RIG_BUF_BYTES, 64);
	return x;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fz_in in = {data, size};

	r = rig_new(1, "loop");
	p = &r->port[0];
	sq = rig_sq_new(p, rig_cq_new(p, 6, 6), LOG_WQEBBS);
	rx = receiver(fz_u8(&in));
	for (unsigned i = 0; i < MAX_RECORDS && in.left != 0; i++)
		one_record(&in);
	fz_run(r);
	rig_free(r);
	emu_audit_reset();
	FZ_MUST(check_failures == 0);
	return 0;
}
