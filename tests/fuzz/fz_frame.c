/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Frames from the wire: parsed, steered, hashed, spread and completed whatever they hold. What is
 * delivered is the frame (less a stripped tag), its completion reports it, and no byte beyond it is
 * touched.
 */
#include "../dp/rig.h"
#include "fz.h"

#define MAX_FRAMES 8u
#define QUEUES 2u
#define LOG_RECV 3u
#define BUF_BYTES 2048u
#define CANARY 0xa5

struct lane {
	struct rig_cq *cq;
	struct rig_rq *rq;
	uint8_t *buf[1u << LOG_RECV];
};

static struct rig *r;
static struct rig_port *p;
static struct lane lane[QUEUES];

/* Everything the steering may choose from: a hash over both addresses and ports, or none. */
static void
steer(bool symmetric, bool tunneled)
{
	struct rig_rq *rqs[QUEUES] = {lane[0].rq, lane[1].rq};
	const struct rig_hash hash = {.l3 = 0, .l4 = 0, .fields = 0xf, .symmetric = symmetric,
				      .tunneled = tunneled, .inner_fields = 0xf};

	(void)rig_flow_all(p, rig_tir_new(p, NULL, rig_rqt_new(p, rqs, QUEUES), &hash), 7);
}

static void
open_lanes(uint8_t flags)
{
	for (unsigned i = 0; i < QUEUES; i++) {
		lane[i].cq = rig_cq_new(p, LOG_RECV, 6);
		lane[i].rq = rig_rq_new(p, lane[i].cq, LOG_RECV, 4, flags & RIG_RQ_VSD);
		for (unsigned b = 0; b < 1u << LOG_RECV; b++) {
			lane[i].buf[b] = rig_mem(p, BUF_BYTES, 64);
			memset(lane[i].buf[b], CANARY, BUF_BYTES);
			rig_post(lane[i].rq, lane[i].buf[b], BUF_BYTES, p->lkey);
		}
	}
	steer(flags & 4, flags & 8);
}

static bool
same(const uint8_t *got, uint32_t len, const uint8_t *frame, uint32_t frame_len)
{
	if (len == frame_len)
		return memcmp(got, frame, len) == 0;
	/* The outer tag went into the completion. */
	return len + 4 == frame_len && memcmp(got, frame, 12) == 0 &&
	       memcmp(got + 12, frame + 16, len - 12) == 0;
}

static unsigned
check_lane(struct lane *l, const uint8_t *frame, uint32_t len)
{
	const struct prm_cqe64 *cqe;
	unsigned n = 0;

	while ((cqe = rig_cqe(l->cq)) != NULL) {
		uint8_t *buf = l->buf[be16toh(cqe->wqe_counter) & ((1u << LOG_RECV) - 1)];
		uint32_t got = be32toh(cqe->byte_cnt);

		n++;
		if (cqe->op_own >> 4 != PRM_CQE_OPCODE_RESP_SEND)
			continue;
		FZ_MUST(got <= BUF_BYTES && same(buf, got, frame, len));
		for (uint32_t i = got; i < BUF_BYTES; i++)
			FZ_MUST(buf[i] == CANARY);
		memset(buf, CANARY, BUF_BYTES);
		rig_post(l->rq, buf, BUF_BYTES, p->lkey);
	}
	return n;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fz_in in = {data, size};
	static uint8_t frame[1u << 16];

	r = rig_new(1, "loop");
	p = &r->port[0];
	open_lanes(fz_u8(&in));
	emu_port_set_promisc(p->dev, true, true);
	for (unsigned i = 0; i < MAX_FRAMES && in.left != 0; i++) {
		uint32_t want = fz_u16(&in);
		/* An exact copy on the heap: reading beyond the frame is seen. */
		uint32_t len = (uint32_t)fz_bytes(&in, frame, want & 0x3fff);
		uint8_t *copy = malloc(len != 0 ? len : 1);
		unsigned done = 0;

		FZ_MUST(copy != NULL);
		memcpy(copy, frame, len);
		emu_dp_ingress(p->dev, copy, len);
		rig_run(r);
		for (unsigned q = 0; q < QUEUES; q++)
			done += check_lane(&lane[q], frame, len);
		FZ_MUST(done <= 1);
		free(copy);
	}
	rig_free(r);
	emu_audit_reset();
	FZ_MUST(check_failures == 0);
	return 0;
}
