/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * The steering of a frame follows every change at once: a modified RQT, a queue in reset, added and
 * removed rules, exhausted or unusable buffers. Each case delivers frames of one flow before and after.
 */
#include "rig.h"

#define QUEUES 4u
#define LOG_RING 4u
#define RING (1u << LOG_RING)
#define STATS (sizeof(struct emu_port_stats) / sizeof(uint64_t))

struct bench {
	struct rig *r;
	struct rig_port *p;
	struct rig_rx *rx[QUEUES];
	struct emu_obj *rqt;
	struct emu_tir *tir;
	struct emu_flow_counter *counter;
	uint64_t stamp;
};

static const uint8_t rss_key[40] = {0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2};

static struct bench
setup(void)
{
	/* IPv4 and UDP; the flow tag distinguishes it from the rule for everything. */
	static const uint32_t mask[16] = {[4] = 0xff001e00}, value[16] = {[4] = 0x11000800};
	struct rig_hash h = {.l4 = 1, .fields = 0xf, .key = rss_key};
	struct bench b = {.r = rig_new(1, "0=none")};
	struct rig_rq *rqs[QUEUES];
	struct emu_flow_attr attr = {.has_tag = true, .tag = 0xabcde};
	uint32_t in[4] = {htobe32(PRM_CMD_OP_ALLOC_FLOW_COUNTER << 16)};
	struct emu_obj *counter;

	b.p = &b.r->port[0];
	emu_port_set_carrier(b.p->dev, true);
	for (unsigned i = 0; i < QUEUES; i++) {
		b.rx[i] = rig_rx_new(b.p, LOG_RING);
		rqs[i] = b.rx[i]->rq;
	}
	b.rqt = rig_rqt_new(b.p, rqs, QUEUES);
	b.tir = rig_tir_new(b.p, NULL, b.rqt, &h);
	attr.dest = &b.tir->obj;
	CHECK_EQ(rig_fw(b.p, in, sizeof(in), &counter), 0);
	b.counter = attr.counter = (struct emu_flow_counter *)counter;
	rig_flow(b.p, 1, mask, value, &attr);
	return b;
}

/** All that came of a frame. */
struct outcome {
	int queue; /* -1: none */
	struct prm_cqe64 cqe;
	uint8_t data[RIG_BUF_BYTES];
	uint64_t stats[STATS];
	uint64_t counted[2], queue_frames, queue_bytes;
};

static void
snapshot(const struct bench *b, struct outcome *o)
{
	memcpy(o->stats, &b->p->dev->stats, sizeof(o->stats));
	o->counted[0] = b->counter->counts[0].packets;
	o->counted[1] = b->counter->counts[0].bytes;
	o->queue_frames = o->queue_bytes = 0;
	for (unsigned i = 0; i < QUEUES; i++) {
		o->queue_frames += b->rx[i]->rq->rq->frames;
		o->queue_bytes += b->rx[i]->rq->rq->bytes;
	}
}

static void
take(struct bench *b, struct outcome *o)
{
	o->queue = -1;
	for (unsigned i = 0; i < QUEUES; i++) {
		const struct prm_cqe64 *cqe = rig_cqe(b->rx[i]->cq);
		uint8_t *buf;

		if (cqe == NULL)
			continue;
		CHECK_EQ(o->queue, -1);
		o->queue = (int)i;
		o->cqe = *cqe;
		/* What differs from one to the next. */
		CHECK(be64toh(cqe->timestamp) >= b->stamp);
		b->stamp = be64toh(cqe->timestamp);
		o->cqe.timestamp = 0;
		o->cqe.wqe_counter = 0;
		o->cqe.op_own &= 0xfe;
		buf = b->rx[i]->buf[be16toh(cqe->wqe_counter) & (RING - 1)];
		memcpy(o->data, buf, RIG_BUF_BYTES);
		memset(buf, 0, RIG_BUF_BYTES);
		rig_post(b->rx[i]->rq, buf, RIG_BUF_BYTES, b->p->lkey);
	}
}

static void
receive(struct bench *b, const uint8_t *frame, uint32_t len, struct outcome *o)
{
	struct outcome before;

	memset(o, 0, sizeof(*o));
	snapshot(b, &before);
	emu_dp_ingress(b->p->dev, frame, len);
	snapshot(b, o);
	for (unsigned i = 0; i < STATS; i++)
		o->stats[i] -= before.stats[i];
	o->counted[0] -= before.counted[0];
	o->counted[1] -= before.counted[1];
	o->queue_frames -= before.queue_frames;
	o->queue_bytes -= before.queue_bytes;
	take(b, o);
}

/* Delivers two frames of one flow; returns the index of their queue. */
static int
deliver(struct bench *b, struct rig_frame *f, struct outcome *o)
{
	rig_ip_frame(f, b->p->dev, 4, 17, 22, 0, -1);
	receive(b, f->data, f->len, o);
	receive(b, f->data, f->len, o);
	CHECK(o->queue >= 0);
	return o->queue;
}

/* The table is changed so that all its entries are one queue. */
static void
table_changed(void)
{
	struct bench b = setup();
	struct prm_modify_rqt_in in = {0};
	struct prm_rqtc *ctx = prm_modify_rqt_in_ctx(&in);
	struct rig_frame f;
	struct outcome o;
	int was = deliver(&b, &f, &o), now = (was + 1) % (int)QUEUES;
	uint8_t cmd[sizeof(in) + QUEUES * 4] = {0};

	prm_modify_rqt_in_set_opcode(&in, PRM_CMD_OP_MODIFY_RQT);
	prm_modify_rqt_in_set_rqtn(&in, b.rqt->id);
	prm_rqt_bitmask_set_rqn_list(prm_modify_rqt_in_bitmask(&in), 1);
	prm_rqtc_set_rqt_actual_size(ctx, QUEUES);
	memcpy(cmd, &in, sizeof(in));
	for (unsigned i = 0; i < QUEUES; i++) {
		uint32_t rqn = htobe32(b.rx[now]->rq->rq->obj.id);

		memcpy(cmd + sizeof(in) + 4 * i, &rqn, 4);
	}
	CHECK_EQ(rig_fw(b.p, cmd, sizeof(cmd), NULL), 0);
	receive(&b, f.data, f.len, &o);
	CHECK_EQ(o.queue, now);
	rig_free(b.r);
}

/* A queue in reset receives nothing. */
static void
queue_changed(void)
{
	struct bench b = setup();
	struct rig_frame f;
	struct outcome o;
	int was = deliver(&b, &f, &o);

	CHECK_EQ(rig_rq_modify(b.rx[was]->rq, PRM_RQC_STATE_RDY, PRM_RQC_STATE_RST), 0);
	receive(&b, f.data, f.len, &o);
	CHECK_EQ(o.queue, -1);
	CHECK_EQ(b.p->dev->stats.rx_out_of_buffer, 1);
	rig_free(b.r);
}

/* Rules come and go: the tag, the counter and the queue are those of the rule that matches now. */
static void
rules_changed(void)
{
	static const uint32_t mask[16] = {[0] = 0}, value[16] = {[0] = 0};
	struct bench b = setup();
	struct emu_flow_attr drop = {.drop = true};
	struct emu_obj *flow;
	struct rig_frame f;
	struct outcome o;
	int was = deliver(&b, &f, &o);

	CHECK_EQ(be32toh(o.cqe.sop_drop_qpn) & 0xffffff, 0xabcde);
	CHECK_EQ(o.counted[0], 1);
	flow = rig_flow(b.p, 0, mask, value, &drop);
	receive(&b, f.data, f.len, &o);
	CHECK_EQ(o.queue, -1);
	CHECK_EQ(b.p->dev->stats.rx_dropped_by_rule, 1);
	CHECK_EQ(emu_obj_destroy(flow), 0);
	receive(&b, f.data, f.len, &o);
	CHECK_EQ(o.queue, was);
	rig_free(b.r);
}

/* No buffers, and a key that does not cover the buffer: refused as ever. */
static void
buffers(void)
{
	struct bench b = setup();
	struct rig_frame f;
	struct outcome o;
	int was = deliver(&b, &f, &o);
	struct rig_rx *rx = b.rx[was];
	const struct prm_err_cqe *e;

	for (unsigned i = 0; i < RING + 3; i++)
		emu_dp_ingress(b.p->dev, f.data, f.len);
	CHECK_EQ(b.p->dev->stats.rx_out_of_buffer, 3);
	for (unsigned i = 0; i < RING; i++)
		CHECK(rig_cqe(rx->cq) != NULL);
	CHECK(rig_cqe(rx->cq) == NULL);
	/* Too short: that WQE is lost, and the next frame finds the next one. */
	rig_post(rx->rq, rx->buf[0], 40, b.p->lkey);
	rig_post(rx->rq, rx->buf[1], RIG_BUF_BYTES, b.p->lkey);
	rig_post(rx->rq, rx->buf[2], RIG_BUF_BYTES, b.p->lkey ^ 1);
	for (unsigned i = 0; i < 3; i++)
		emu_dp_ingress(b.p->dev, f.data, f.len);
	e = rig_cqe_error(rx->cq, PRM_CQE_OPCODE_RESP_ERR);
	CHECK(e != NULL && e->syndrome == PRM_CQE_SYNDROME_LOCAL_LENGTH_ERR);
	CHECK(rig_cqe(rx->cq) != NULL);
	e = rig_cqe_error(rx->cq, PRM_CQE_OPCODE_RESP_ERR);
	CHECK(e != NULL && e->syndrome == PRM_CQE_SYNDROME_LOCAL_PROT_ERR);
	CHECK_EQ(rx->rq->rq->state, EMU_QS_ERR);
	rig_free(b.r);
}

int
main(int argc, char **argv)
{
	static const struct rig_test tests[] = {
		{"table_changed", table_changed},
		{"queue_changed", queue_changed},
		{"rules_changed", rules_changed},
		{"buffers", buffers},
		{NULL, NULL},
	};

	return rig_main(argc, argv, tests);
}
