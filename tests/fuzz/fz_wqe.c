/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Work queues from bytes: WQEs, receive descriptors, doorbells and state changes in any order on
 * a looped port. The engine must stay inside registered memory, come to rest, answer each WQE at
 * most once and leave nothing behind.
 */
#include "../dp/rig.h"
#include "fz.h"

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

/*
 * A fuzzer does not guess 64-bit addresses and keys: segments that say so get ones that lie in
 * the arena, or begin so near its end that they leave it.
 */
static void
fix_pointer(uint8_t *seg)
{
	uint32_t off;
	uint64_t addr;

	memcpy(&off, seg + 12, 4);
	addr = htobe64(rig_addr(p->arena) + off % RIG_ARENA_BYTES);
	memcpy(seg + 4, &(uint32_t){htobe32(p->lkey)}, 4);
	memcpy(seg + 8, &addr, 8);
}

static void
rec_wqe(struct fz_in *in)
{
	unsigned segs = fz_u8(in) % 64, fixed = fz_u16(in);

	rig_wqe(sq, fz_u8(in), fz_u8(in));
	for (unsigned i = 0; i < segs && sq->len + 16 <= sizeof(sq->wqe); i++) {
		fz_bytes(in, sq->wqe + sq->len, 16);
		if (fixed >> (i & 15) & 1)
			fix_pointer(sq->wqe + sq->len);
		sq->len += 16;
	}
	if (sq->len > 64u << LOG_WQEBBS)
		sq->len = 64u << LOG_WQEBBS;
	rig_wqe_end(sq);
}

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
		fix_pointer((uint8_t *)&seg);
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

/* A lossless wire may hold a frame for as long as no buffer is posted: that is rest, too. */
static void
run(void)
{
	for (unsigned i = 0; i < 100000; i++)
		if (emu_dp_poll(&r->m) == 0)
			return;
	FZ_MUST(!"the engine comes to rest");
}

static void
one_record(struct fz_in *in)
{
	switch (fz_u8(in) % REC_KINDS) {
	case REC_WQE:
		rec_wqe(in);
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
		run();
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fz_in in = {data, size};

	r = rig_new(1, "loop");
	p = &r->port[0];
	sq = rig_sq_new(p, rig_cq_new(p, 6, 6), LOG_WQEBBS);
	rx = rig_rx_new(p, LOG_RECV);
	for (unsigned i = 0; i < MAX_RECORDS && in.left != 0; i++)
		one_record(&in);
	run();
	rig_free(r);
	emu_audit_reset();
	FZ_MUST(rig_failures == 0);
	return 0;
}
