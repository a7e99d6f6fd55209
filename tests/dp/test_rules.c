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

int
main(int argc, char **argv)
{
	static const struct rig_test tests[] = {
		{"doorbell_twice", doorbell_twice},
		{"doorbell_twice_at_once", doorbell_twice_at_once},
		{"doorbell_of_the_dead", doorbell_of_the_dead},
		{"arming_twice", arming_twice},
		{NULL, NULL},
	};

	/* Virtual time: 20 ms end at a defined point on a slow machine too. */
	emu_time_virtual();
	return rig_main(argc, argv, tests);
}
