/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Fault rules whose effect only the queues show. */
#include "core/emu_fault.h"
#include "rig.h"

struct bench {
	struct rig *r;
	struct rig_sq *sq;
	struct rig_rx *rx;
	uint8_t *f;
};

static struct bench
setup(void)
{
	struct bench b = {.r = rig_new(2, NULL)};

	b.sq = rig_sq_new(&b.r->port[0], rig_cq_new(&b.r->port[0], 6, 6), 5);
	b.rx = rig_rx_new(&b.r->port[1], 6);
	b.f = rig_mem(&b.r->port[0], 2048, 64);
	memcpy(b.f, b.r->port[1].dev->vport.mac, 6);
	return b;
}

static void
finish(struct bench *b)
{
	emu_fault_clear();
	CHECK_EQ(rig_audit(b->r), 0);
	rig_free(b->r);
}

static void
rule(const char *text)
{
	char err[256] = "";

	CHECK_EQ(emu_fault_add(text, err, sizeof(err)), 0);
	if (err[0] != '\0')
		fprintf(stderr, "%s\n", err);
}

/* Posts a WQE in the doorbell record without ringing the doorbell. */
static void
record_only(struct bench *b)
{
	rig_wqe(b->sq, PRM_WQE_OPCODE_SEND, RIG_CE_CQE);
	rig_wqe_eth(b->sq, &(struct rig_eth){.vlan = -1});
	rig_wqe_ptr(b->sq, b->f, 64, b->sq->port->lkey);
	rig_wqe_end(b->sq);
	rig_sq_record(b->sq);
}

static void
run_for_us(struct bench *b, uint64_t us)
{
	rig_run(b->r);
	emu_time_pass(us * 1000);
	/* What comes late begins at the end of a pass. */
	rig_run(b->r);
	rig_run(b->r);
}

/* The second doorbell finds what was recorded after the first one. */
static void
doorbell_twice(void)
{
	struct bench b = setup();
	struct emu_port_stats *s = &b.r->port[0].dev->stats;

	rule("on doorbell match q=tx0 count 1 do dup us=20000");
	rig_send(b.sq, b.f, 64);
	rig_run(b.r);
	CHECK(rig_cqe(b.sq->cq) != NULL);
	CHECK_EQ(s->doorbells, 1);
	record_only(&b);
	rig_run(b.r);
	CHECK_EQ(s->tx_frames, 1);
	run_for_us(&b, 25000);
	CHECK_EQ(s->doorbells, 2);
	CHECK_EQ(s->tx_frames, 2);
	CHECK(rig_cqe(b.sq->cq) != NULL);
	/* The rule has no hits left: a WQE without a doorbell stays posted. */
	record_only(&b);
	run_for_us(&b, 25000);
	CHECK_EQ(s->tx_frames, 2);
	finish(&b);
}

/* With nothing new it is no work, and no offence. */
static void
doorbell_twice_at_once(void)
{
	struct bench b = setup();
	struct emu_port_stats *s = &b.r->port[0].dev->stats;

	rule("on doorbell do dup");
	for (unsigned i = 1; i <= 100; i++) {
		rig_send(b.sq, b.f, 64);
		rig_run(b.r);
		CHECK(rig_cqe(b.sq->cq) != NULL);
		CHECK(rig_cqe(b.sq->cq) == NULL);
		CHECK_EQ(s->tx_frames, i);
		CHECK_EQ(s->doorbells, 2 * i);
		/* Taken from the far end, so that its ring stays full of buffers. */
		CHECK(rig_cqe(b.rx->cq) != NULL);
		rig_post(b.rx->rq, b.rx->buf[(i - 1) % 64], RIG_BUF_BYTES, b.rx->rq->port->lkey);
	}
	finish(&b);
}

/* It comes when the queue was reset, and when it is no more. */
static void
doorbell_of_the_dead(void)
{
	struct bench b = setup();
	uint8_t out[16];

	rule("on doorbell count 2 do dup us=20000");
	rig_send(b.sq, b.f, 64);
	rig_run(b.r);
	CHECK_EQ(rig_sq_modify(b.sq, PRM_SQC_STATE_RDY, PRM_SQC_STATE_RST), 0);
	run_for_us(&b, 25000);
	CHECK_EQ(b.r->port[0].dev->stats.doorbells, 2);
	CHECK_EQ(rig_sq_modify(b.sq, PRM_SQC_STATE_RST, PRM_SQC_STATE_RDY), 0);
	b.sq->pi = 0;
	rig_send(b.sq, b.f, 64);
	rig_run(b.r);
	CHECK_EQ(emu_fw_destroy(b.sq->port->ctx, &b.sq->sq->obj, out, sizeof(out)), 0);
	run_for_us(&b, 25000);
	CHECK_EQ(b.r->port[0].dev->stats.tx_frames, 2);
	finish(&b);
}

/* One arming is one event, however often the doorbell comes. */
static void
arming_twice(void)
{
	struct bench b = setup();
	struct rig_port *p = &b.r->port[0];

	rule("on doorbell do dup us=5000");
	rig_cq_arm(b.sq->cq, 0, false, true);
	rig_run(b.r);
	rig_send(b.sq, b.f, 64);
	rig_run(b.r);
	CHECK_EQ(p->comp_events, 1);
	rig_send(b.sq, b.f, 64);
	run_for_us(&b, 8000);
	CHECK_EQ(p->comp_events, 1);
	CHECK_EQ(p->dev->stats.doorbells, 6);
	finish(&b);
}

/*
 * Error completions of cards as people printed them, all 64 bytes. Bytes 0 to 51 are 0 except the user index.
 * Numbers of the program (user index, queue, WQE), the signature and hw_err_synd are set by rules; vendor syndrome,
 * unless the source has a rarer one, and op_own are what the model writes.
 */
static const struct published {
	const char *source;
	uint32_t user_index, hw, vendor, syndrome, opcode_qpn;
	uint16_t wqe;
	uint8_t signature, op_own;
	bool model; /* The vendor syndrome is that of the model. */
} published[] = {
	{"Juniper/warp17 issue 81", 0x13, 0x9d, 0x53, 0x04, 0x0a001542, 0x0019, 0xb0, 0xd2, true},
	{"Juniper/warp17 issue 81", 0x0c, 0x9d, 0x53, 0x04, 0x0a001534, 0x005a, 0x98, 0xd2, true},
	{"ofiwg/libfabric issue 4283", 0x02, 0, 0x88, 0x13, 0x10012abe, 0x0dd0, 0xc1, 0xd3, true},
	{"openucx/ucx issue 1569", 0, 0, 0x88, 0x13, 0x08006214, 0x0000, 0xf6, 0xd2, true},
	{"spdk/spdk issue 961", 0xb3, 0x93, 0x52, 0x04, 0x0a0019a1, 0xc092, 0x1c, 0xd2, false},
};

static void
set(const char *field, uint32_t value)
{
	char text[128];

	snprintf(text, sizeof(text), "on cqe.write do set field=error.%s value=0x%x", field, value);
	rule(text);
}

static void
published_errors(void)
{
	for (unsigned i = 0; i < sizeof(published) / sizeof(published[0]); i++) {
		const struct published *p = &published[i];
		uint8_t want[64] = {0};
		const struct prm_cqe64 *cqe;
		struct bench b = setup();
		char text[128];
		uint32_t be;

		/* The owner bit of the source: in the first pass of the ring, or in the second. */
		for (unsigned n = 0; n < (p->op_own & 1) * 64u; n++) {
			rig_send(b.sq, b.f, 64);
			rig_run(b.r);
			CHECK(rig_cqe(b.sq->cq) != NULL);
		}
		if (p->model)
			snprintf(text, sizeof(text), "on cqe.write match opcode=0 do error syndrome=0x%x", p->syndrome);
		else
			snprintf(text, sizeof(text), "on cqe.write match opcode=0 do error syndrome=0x%x vendor=0x%x",
				 p->syndrome, p->vendor);
		rule(text);
		set("srqn", p->user_index);
		set("s_wqe_opcode_qpn", p->opcode_qpn);
		set("wqe_counter", p->wqe);
		set("signature", p->signature);
		set("hw_err_synd", p->hw);
		rig_send(b.sq, b.f, 64);
		rig_run(b.r);
		cqe = rig_cqe(b.sq->cq);
		be = htobe32(p->user_index);
		memcpy(want + 32, &be, 4);
		want[52] = (uint8_t)p->hw;
		want[54] = (uint8_t)p->vendor;
		want[55] = (uint8_t)p->syndrome;
		be = htobe32(p->opcode_qpn);
		memcpy(want + 56, &be, 4);
		want[60] = (uint8_t)(p->wqe >> 8);
		want[61] = (uint8_t)p->wqe;
		want[62] = p->signature;
		want[63] = p->op_own;
		CHECK(cqe != NULL);
		for (unsigned k = 0; cqe != NULL && k < 64; k++)
			if (((const uint8_t *)cqe)[k] != want[k])
				fprintf(stderr, "%s: byte %u\n", p->source, k);
		CHECK(cqe != NULL && memcmp(cqe, want, sizeof(want)) == 0);
		finish(&b);
	}
}

int
main(int argc, char **argv)
{
	static const struct rig_test tests[] = {
		{"doorbell_twice", doorbell_twice},
		{"doorbell_twice_at_once", doorbell_twice_at_once},
		{"doorbell_of_the_dead", doorbell_of_the_dead},
		{"arming_twice", arming_twice},
		{"published_errors", published_errors},
		{NULL, NULL},
	};

	/* Virtual time: 20 ms end at a defined point on a slow machine too. */
	emu_time_virtual();
	return rig_main(argc, argv, tests);
}
