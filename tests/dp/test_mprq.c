/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Striding receive queues: where frames land, fillers, indices, drops, padding, as the test plans them. */
#include "rig.h"

#define WQES 4u
#define LOG_WQES 2u

struct bench {
	struct rig *r;
	struct rig_port *p;
	struct rig_cq *cq;
	struct rig_rq *rq;
	uint8_t *buf[WQES];
	unsigned strides, bytes, shift;
	/* The test's own account. */
	unsigned wqe, used;
	struct rig_frame f;
};

static void
post(struct bench *b)
{
	struct prm_rq_wqe seg[2] = {0};

	seg[1].byte_count = htobe32(b->strides * b->bytes);
	seg[1].lkey = htobe32(b->p->lkey);
	seg[1].addr = htobe64(rig_addr(b->buf[b->rq->pi % WQES]));
	rig_post_segs(b->rq, seg, 2);
}

static void
bench_new(struct bench *b, unsigned log_strides, unsigned log_bytes, unsigned flags)
{
	memset(b, 0, sizeof(*b));
	b->r = rig_new(1, "none");
	b->p = &b->r->port[0];
	b->strides = 1u << log_strides;
	b->bytes = 1u << log_bytes;
	b->shift = flags & RIG_RQ_SHIFT ? 2 : 0;
	emu_port_set_carrier(b->p->dev, true);
	emu_port_set_mtu(b->p->dev, 9000);
	b->cq = rig_cq_new(b->p, 10, 6);
	b->rq = rig_rq_new(b->p, b->cq, LOG_WQES, 5,
			   flags | RIG_RQ_STRIDES(log_strides, log_bytes));
	rig_flow_all(b->p, rig_tir_new(b->p, b->rq, NULL, NULL), 0);
	for (unsigned i = 0; i < WQES; i++) {
		b->buf[i] = rig_mem(b->p, (size_t)b->strides * b->bytes, 64);
		post(b);
	}
}

static enum emu_rx_result
arrive(struct bench *b, unsigned len, unsigned number)
{
	rig_ip_frame(&b->f, b->p->dev, 4, 17, len - 42, 0, -1);
	memcpy(b->f.data + len - 4, &number, 4);
	return emu_dp_offer(b->p->dev, b->f.data, b->f.len);
}

/* The completion of what was put at (wqe, used), and the plan moved on. */
static void
expect(struct bench *b, unsigned take, uint32_t byte_cnt)
{
	const struct prm_cqe64 *cqe = rig_cqe(b->cq);

	CHECK(cqe != NULL);
	if (cqe == NULL)
		return;
	CHECK_EQ(be16toh(cqe->wqe_id), b->wqe & 0xffff);
	CHECK_EQ(be16toh(cqe->wqe_counter), b->used);
	CHECK_EQ(be32toh(cqe->byte_cnt), byte_cnt);
	b->used += take;
	if (b->used != b->strides)
		return;
	b->used = 0;
	b->wqe++;
	post(b);
}

static void
landed(struct bench *b)
{
	unsigned take = (b->f.len + b->shift + b->bytes - 1) / b->bytes;
	uint8_t *at;

	if (take > b->strides - b->used) {
		unsigned rest = b->strides - b->used;

		expect(b, rest, 0x80000000u | rest << 16);
	}
	at = b->buf[b->wqe % WQES] + b->used * b->bytes + b->shift;
	CHECK(memcmp(at, b->f.data, b->f.len) == 0);
	memset(at, 0xee, b->f.len);
	expect(b, take, take << 16 | b->f.len);
}

static void
shapes(void)
{
	static const struct {
		unsigned log_strides, log_bytes, flags;
	} c[] = {{3, 11, 0}, {3, 11, RIG_RQ_SHIFT}, {8, 6, 0}, {8, 6, RIG_RQ_SHIFT},
		 {9, 8, 0}, {5, 13, 0}};

	for (unsigned i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		unsigned seed = 3;
		struct bench b;

		bench_new(&b, c[i].log_strides, c[i].log_bytes, c[i].flags);
		for (unsigned n = 0; n < 3000; n++) {
			seed = seed * 1103515245 + 12345;
			CHECK_EQ(arrive(&b, 60 + (seed >> 16) % (n % 4 == 0 ? 8900 : 200), n),
				 EMU_RX_TAKEN);
			landed(&b);
		}
		CHECK(b.wqe > 10);
		CHECK(rig_cqe(b.cq) == NULL);
		CHECK_EQ(b.p->dev->stats.rx_delivered_frames, 3000);
		CHECK_EQ(rig_audit(b.r), 0);
		rig_free(b.r);
	}
}

/* Used up: the frame is left to the wire, or dropped and counted, and no filler is written. */
static void
no_wqe(void)
{
	struct bench b;

	bench_new(&b, 3, 11, 0);
	for (unsigned i = 0; i < WQES * 8 - 2; i++)
		CHECK_EQ(arrive(&b, 1000, i), EMU_RX_TAKEN);
	CHECK_EQ(arrive(&b, 9000, 0), EMU_RX_FULL);
	emu_dp_ingress(b.p->dev, b.f.data, b.f.len);
	CHECK_EQ(b.p->dev->stats.rx_out_of_buffer, 1);
	CHECK_EQ(b.rq->rq->out_of_buffer, 1);
	/* A smaller one still fits. */
	CHECK_EQ(arrive(&b, 3000, 0), EMU_RX_TAKEN);
	CHECK_EQ(arrive(&b, 60, 0), EMU_RX_FULL);
	for (unsigned i = 0; i < WQES * 8 - 1; i++)
		CHECK((be32toh(rig_cqe(b.cq)->byte_cnt) & 0x80000000u) == 0);
	CHECK(rig_cqe(b.cq) == NULL);
	CHECK_EQ(rig_audit(b.r), 0);
	rig_free(b.r);
}

static void
reset(void)
{
	struct bench b;

	bench_new(&b, 3, 11, 0);
	for (unsigned i = 0; i < 3; i++) {
		arrive(&b, 100, i);
		landed(&b);
	}
	rig_rq_modify(b.rq, PRM_RQC_STATE_RDY, PRM_RQC_STATE_RST);
	b.rq->pi = 0;
	b.rq->dbrec[0] = 0;
	rig_rq_modify(b.rq, PRM_RQC_STATE_RST, PRM_RQC_STATE_RDY);
	b.wqe = b.used = 0;
	post(&b);
	arrive(&b, 100, 9);
	landed(&b);
	rig_free(b.r);
}

/*
 * Compressed completions of the format checksum and stride index, of nine frames in WQE 0, which take 3 x (1 + 1 + 2)
 * of its 16 strides. Returns the CQ's ring.
 */
static const uint8_t *
bench_comp(struct bench *b, bool enhanced)
{
	bench_new(b, 4, 11, 0);
	b->cq = rig_cq_new_comp(b->p, 6, 3, enhanced);
	rig_rq_modify(b->rq, PRM_RQC_STATE_RDY, PRM_RQC_STATE_RST);
	b->rq->rq->cq = b->cq->cq; /* the queue's own completes elsewhere */
	b->rq->pi = 0;
	b->rq->dbrec[0] = 0;
	rig_rq_modify(b->rq, PRM_RQC_STATE_RST, PRM_RQC_STATE_RDY);
	post(b);
	post(b);
	for (unsigned i = 0; i < 9; i++)
		arrive(b, i % 3 == 2 ? 3000 : 100, i);
	emu_dp_poll(&b->r->m);
	return b->cq->ring;
}

/* The place, strides and length of frame i of those that alternate 100, 100 and 3000 bytes. */
static void
check_mini(const uint8_t *m, unsigned i)
{
	unsigned len = i % 3 == 2 ? 3000 : 100;

	CHECK_EQ(m[3], i / 3 * 4 + i % 3);
	CHECK_EQ(m[5], i % 3 == 2 ? 2 : 1);
	CHECK_EQ((unsigned)m[6] << 8 | m[7], len);
}

/* Sessions of frames in one WQE, with the place of each where the format has it. */
static void
compressed(void)
{
	struct bench b;
	const uint8_t *c = bench_comp(&b, false);

	CHECK_EQ(c[63], PRM_CQE_OPCODE_RESP_SEND << 4 | 3 << 2);
	CHECK_EQ(c[47], 9);
	for (unsigned i = 0; i < 9; i++)
		check_mini(c + (i < 8 ? 1 : 8) * 64 + (i & 7) * 8, i);
	/* A filler goes alone, and a frame of the next WQE opens a session of its own. */
	arrive(&b, 9000, 0);
	arrive(&b, 100, 0);
	emu_dp_poll(&b.r->m);
	CHECK_EQ(c[9 * 64 + 63], PRM_CQE_OPCODE_RESP_SEND << 4);
	CHECK_EQ(c[9 * 64 + 44], 0x80);
	CHECK_EQ(c[10 * 64 + 63], PRM_CQE_OPCODE_RESP_SEND << 4 | 3 << 2);
	CHECK_EQ(c[10 * 64 + 3], 1);
	CHECK_EQ(c[10 * 64 + 47], 2);
	rig_free(b.r);
}

/* The same in the enhanced layout: a title, a full block, a block of one. */
static void
blocks(void)
{
	struct bench b;
	const uint8_t *c;
	char err[256];

	rig_profile = emu_profile_change(emu_profile_default(), "enhanced_cqe_compression=1", err, sizeof(err));
	c = bench_comp(&b, true);
	CHECK_EQ(c[63], PRM_CQE_OPCODE_RESP_SEND << 4);
	CHECK_EQ(c[47], 100);
	CHECK_EQ(c[64 + 63], 6 << 4 | 3 << 2);
	CHECK_EQ(c[64 + 61], 1);
	CHECK_EQ(c[8 * 64 + 63], 3 << 2);
	CHECK_EQ(c[8 * 64 + 61], 8 / 3 * 4 + 2);
	for (unsigned i = 1; i < 9; i++)
		check_mini(c + (i < 8 ? 64 + (i - 1) * 8 : 8 * 64), i);
	/* A filler is whole and no title, nor does a title hold for the next WQE. */
	arrive(&b, 9000, 0);
	arrive(&b, 100, 0);
	emu_dp_poll(&b.r->m);
	CHECK_EQ(c[9 * 64 + 63], PRM_CQE_OPCODE_RESP_SEND << 4);
	CHECK_EQ(c[9 * 64 + 44], 0x80);
	CHECK_EQ(c[10 * 64 + 63], PRM_CQE_OPCODE_RESP_SEND << 4);
	CHECK_EQ(c[11 * 64 + 63], 3 << 2);
	/* All have the number of the pass; places inside blocks are as the program made them. */
	for (unsigned i = 0; i < 12; i++)
		CHECK_EQ(c[i * 64 + 62], i < 2 || i >= 8 ? 0 : 0xff);
	rig_free(b.r);
	rig_profile = NULL;
}

/* In a cyclic RQ too: the last cache line of a frame is written as a whole, but not beyond the buffer. */
static void
end_padding(void)
{
	static const struct {
		unsigned at, room, padded;
	} c[] = {{0, 1024, 128}, {10, 1024, 118}, {0, 90, 90}, {0, 75, 75}};
	struct rig *r = rig_new(1, "loop");
	struct rig_port *p = &r->port[0];
	struct rig_cq *cq = rig_cq_new(p, 4, 6);
	struct rig_rq *rq = rig_rq_new(p, cq, 4, 4, RIG_RQ_PADDING | RIG_RQ_VSD);
	uint8_t *buf = rig_mem(p, 2048, 64);
	uint64_t violations = rig_audit(r);
	struct rig_frame f;

	rig_flow_all(p, rig_tir_new(p, rq, NULL, NULL), 0);
	rig_ip_frame(&f, p->dev, 4, 17, 33, 0, -1);
	CHECK_EQ(f.len, 75);
	for (unsigned i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		uint8_t *to = buf + c[i].at;
		const struct prm_cqe64 *cqe;

		memset(buf, 0xee, 2048);
		rig_post(rq, to, c[i].room, p->lkey);
		rig_arrive(p, &f);
		cqe = rig_cqe(cq);
		CHECK(cqe != NULL);
		if (cqe == NULL)
			break;
		CHECK_EQ(be32toh(cqe->byte_cnt), f.len);
		CHECK(memcmp(to, f.data, f.len) == 0);
		for (unsigned k = f.len; k < 200; k++)
			CHECK_EQ(to[k], k < c[i].padded ? 0 : 0xee);
	}
	CHECK_EQ(rig_audit(r), violations);
	rig_free(r);
}

int
main(int argc, char **argv)
{
	static const struct rig_test tests[] = {
		{"shapes", shapes}, {"no_wqe", no_wqe}, {"reset", reset},
		{"compressed", compressed}, {"blocks", blocks}, {"end_padding", end_padding}, {NULL, NULL},
	};

	return rig_main(argc, argv, tests);
}
