/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Classes of frames: the short way must do what the long way does, bit for bit, and must not be
 * taken any more once something was changed. A rule that never hits forces the long way.
 */
#include "core/emu_fault.h"
#include "dp/dp_class.h"
#include "rig.h"

#define QUEUES 4u
#define LOG_RING 4u
#define RING (1u << LOG_RING)
#define FRAMES 60000u
#define STATS (sizeof(struct emu_port_stats) / sizeof(uint64_t))

static uint64_t seed = 0x1234567;

static uint32_t
any(uint32_t below)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(seed >> 33) % below;
}

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
	/* IPv4 and UDP, by the flow tag to be told from the rule for everything. */
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
	o->counted[0] = b->counter->packets;
	o->counted[1] = b->counter->bytes;
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

static void
long_way(bool force)
{
	char err[256];

	if (!force)
		emu_fault_clear();
	else
		CHECK_EQ(emu_fault_add("on wqe.fetch match rqn=0xfffffe do error "
				       "syndrome=LOCAL_PROT_ERR", err, sizeof(err)), 0);
}

static bool
has_class(const struct bench *b, const uint8_t *frame, uint32_t len)
{
	const struct dp_port *port = b->p->dev->dp;

	return dp_class_find(port, frame, len) != NULL;
}

/* Addresses of a few hosts, ports of a few services, and now and then something odd. */
static uint32_t
frame_any(const struct bench *b, struct rig_frame *f)
{
	unsigned proto = any(3) == 0 ? 6 : 17, payload = any(16) == 0 ? any(1400) : any(60);

	rig_ip_frame(f, b->p->dev, any(12) == 0 ? 6 : 4, proto, payload, any(12) == 0 ? 8 : 0,
		     any(12) == 0 ? 5 : -1);
	f->data[29] = (uint8_t)any(3);
	f->data[37] = (uint8_t)any(7);
	f->data[18] = (uint8_t)any(256); /* identification */
	if (any(4) == 0)
		f->data[f->len - 1] ^= (uint8_t)any(256);
	if (any(2) == 0 && f->data[12] == 8 && f->data[14] == 0x45)
		rig_fix_checksums(f, 14);
	switch (any(10)) {
	case 0: /* a bit of a header */
		f->data[any(48)] ^= (uint8_t)(1u << any(8));
		break;
	case 1: /* UDP without a checksum */
		f->data[40] = f->data[41] = 0;
		break;
	case 2: /* VXLAN, or so it says */
		f->data[36] = 4789 >> 8;
		f->data[37] = 4789 & 0xff;
		break;
	case 3: /* padding behind the packet */
		f->len += any(20);
		break;
	default:
		break;
	}
	return f->len;
}

static void
same_as_long_way(void)
{
	struct bench b = setup();
	struct rig_frame f;
	unsigned hits = 0;

	for (unsigned i = 0; i < FRAMES; i++) {
		struct outcome first, again, want;
		uint32_t len = frame_any(&b, &f);

		receive(&b, f.data, len, &first);
		hits += has_class(&b, f.data, len);
		receive(&b, f.data, len, &again);
		long_way(true);
		receive(&b, f.data, len, &want);
		long_way(false);
		if (memcmp(&first, &want, sizeof(want)) != 0 ||
		    memcmp(&again, &want, sizeof(want)) != 0) {
			fprintf(stderr, "frame %u of %u bytes: another way, another outcome\n", i,
				len);
			CHECK(!"the same");
			break;
		}
	}
	/* Most of the frames were of a class, or nothing was tested. */
	CHECK(hits > FRAMES / 3);
	CHECK_EQ(rig_audit(b.r), 0);
	rig_free(b.r);
}

/* A frame that has a class, and where it went. */
static int
learn(struct bench *b, struct rig_frame *f, struct outcome *o)
{
	rig_ip_frame(f, b->p->dev, 4, 17, 22, 0, -1);
	receive(b, f->data, f->len, o);
	CHECK(has_class(b, f->data, f->len));
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
	int was = learn(&b, &f, &o), now = (was + 1) % (int)QUEUES;
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
	CHECK(!has_class(&b, f.data, f.len));
	receive(&b, f.data, f.len, &o);
	CHECK_EQ(o.queue, now);
	rig_free(b.r);
}

/* A queue that is reset takes nothing; the one that fails says so once. */
static void
queue_changed(void)
{
	struct bench b = setup();
	struct rig_frame f;
	struct outcome o;
	int was = learn(&b, &f, &o);

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
	int was = learn(&b, &f, &o);

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
	int was = learn(&b, &f, &o);
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
	CHECK(has_class(&b, f.data, f.len));
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
		{"same_as_long_way", same_as_long_way},
		{"table_changed", table_changed},
		{"queue_changed", queue_changed},
		{"rules_changed", rules_changed},
		{"buffers", buffers},
		{NULL, NULL},
	};

	return rig_main(argc, argv, tests);
}
