/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Fault rules whose effect only the queues show. */
#include "core/emu_fault.h"
#include "rig_qp.h"

struct bench {
	struct rig *r;
	struct rig_sq *sq;
	struct rig_rx *rx;
	uint8_t *f;
	uint64_t violations_before; /* the ledger is the process' */
};

static struct bench
setup(void)
{
	struct bench b = {.r = rig_new(2, NULL), .violations_before = emu_audit_total()};

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
	CHECK_EQ(rig_audit(b->r) - b->violations_before, 0);
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

enum published_queue { OF_SQ, OF_RQ, OF_QP_RECV };

/*
 * Error completions of cards as people printed them: the user index and the last three dwords; all other bytes are 0.
 * Numbers of the program (user index, queue, WQE), the signature, hw_err_synd and its type are set by rules; syndrome,
 * op_own and the vendor syndrome, unless the source has a rarer one, are what the model writes.
 *
 * None was found of transport retries (0x15, which rdma-core does not print) and of remote operation errors (0x14).
 * Left out, because op_own has no SE: open-mpi/ompi issue 1241, of a card in 2015; JBlaschke/diffBragg-Reproducer, a
 * receive error under MPI.
 */
static const struct published {
	const char *source;
	uint32_t user_index, dwords[3];
	bool rare; /* The vendor syndrome is not that of the model: a rule sets it. */
	enum published_queue queue;
} published[] = {
	{"Juniper/warp17 issue 81", 0x13, {0x9d005304, 0x0a001542, 0x0019b0d2}},
	{"Juniper/warp17 issue 81", 0x0c, {0x9d005304, 0x0a001534, 0x005a98d2}},
	{"spdk/spdk issue 500", 0x01, {0x9d005304, 0x0800011b, 0x0008d0d2}},
	{"spdk/spdk issue 507", 0x03, {0x9d005304, 0x080003f7, 0x40cfb9d2}},
	{"spdk/spdk issue 961", 0xb3, {0x93005204, 0x0a0019a1, 0xc0921cd2}, .rare = true},
	{"openucx/ucx issue 6414", 0x01, {0x92005204, 0x0a00082f, 0x0000c5d2}, .rare = true},
	{"linux-rdma/perftest issue 140", 0, {0x01005104, 0x08001a78, 0x000013d2}, .rare = true},
	{"ofiwg/libfabric issue 6733", 0, {0x04005104, 0x0a0002fe, 0x00028ad2}, .rare = true},
	{"netdev list, Xuan Zhuo, 2021-01-21", 0, {0x60106801, 0x0a001dbb, 0x000f9fd2}},
	{"linux-rdma list, Toukan, 2026-05-13", 0, {0x01006802, 0x010008f4, 0xde1459d2}},
	{"linux-rdma list, Toukan, 2026-05-13", 0, {0x0100f905, 0x010008f4, 0xde15cfd2}},
	{"netdev list, Mahameed, 2022-11-21", 0, {0x86006802, 0x2500104f, 0x0000bbd2}},
	{"linux-block list, Nalatwad, 2022-10-04", 0, {0x86006802, 0x2500010d, 0x0000e8d2}},
	{"linux-block list, Nalatwad, 2022-10-04", 0, {0x86006802, 0x2500012b, 0x0000ced2}},
	{"linux-block list, Nalatwad, 2022-10-04", 0, {0x8600f905, 0x2500012b, 0x00035ad2}},
	{"linux-block list, Nalatwad, 2022-10-04", 0, {0x8600f905, 0x2500011f, 0x00036ed2}},
	{"openucx/ucx issue 857", 0x05, {0x01006102, 0x0800012e, 0x1f3a2cd2}, .rare = true},
	{"linux-rdma list, Romanovsky, 2023-07-19", 0, {0x0f007806, 0x25000058, 0x00daacd2}},
	{"charmplusplus/charm issue 2532", 0x0b, {0x00008a12, 0x0a00e2dd, 0x000025d2}},
	{"charmplusplus/charm issue 2532", 0x02, {0x00008a12, 0x0a03eb2b, 0x0026c1d2}},
	{"openucx/ucx issue 1770", 0x02, {0x00008a12, 0x1002a8af, 0x0001a2d2}},
	{"openucx/ucx issue 1770", 0x02, {0x00008a12, 0x100023e8, 0x00016cd2}},
	{"ofiwg/libfabric issue 4283", 0x02, {0x00008813, 0x10012abe, 0x0dd0c1d3}},
	{"openucx/ucx issue 935", 0, {0x00008813, 0x10000864, 0x0000cad2}},
	{"openucx/ucx issue 1569", 0, {0x00008813, 0x08006214, 0x0000f6d2}},
	{"spdk/spdk issue 264", 0, {0x00008813, 0x10000146, 0x0045b9d3}},
	{"spdk/spdk issue 264", 0x04, {0x00008813, 0x10002c02, 0x00112cd2}},
	{"spdk/spdk issue 1387", 0x1f, {0x00008813, 0x08028f15, 0x25322bd3}},
	{"linux-nfs list, Romanovsky, 2021-05-19", 0, {0x00008813, 0x08000113, 0x074767d2}},
	{"linux-nfs list, Romanovsky, 2021-05-19", 0, {0x00008813, 0x08000146, 0xf2930bd3}},
	{"linux-nfs list, Romanovsky, 2021-05-19", 0, {0x00008813, 0x08000108, 0x6bd2b9d3}},
	{"linux-rdma list, Dust Li, 2021-12-27", 0, {0x00008813, 0x080361b3, 0x1ea142d3}},
	/* A text on RoCE counters in a public repository; the program ran on host n136-096-142. */
	{"rnr_nak_retry_err on n136-096-142", 0, {0x00008716, 0x0a001f8e, 0x000027d2}},
	{"linux-rdma list, Oliveira, 2022-02-09", 0, {0xa9005604, 0x000001e9, 0x0054e8e2}, true, OF_QP_RECV},
	{"linux-rdma list, Gurtovoy, 2022-05-17", 0, {0xa9005604, 0x000000ed, 0x0ddaffe2}, true, OF_QP_RECV},
	{"linux-rdma list, Toukan, 2025-11-04", 0, {0x93013204, 0x00000000, 0x0000bfe0}, .queue = OF_RQ},
	{"linux-rdma list, Toukan, 2025-03-23", 0, {0x93003204, 0x00000000, 0x0000dae1}, .queue = OF_RQ},
};

static void
set(const char *field, uint32_t value)
{
	char text[128];

	snprintf(text, sizeof(text), "on cqe.write do set field=error.%s value=0x%x", field, value);
	rule(text);
}

static void
set_numbers(const struct published *p)
{
	set("srqn", p->user_index);
	set("hw_err_synd", p->dwords[0] >> 24);
	set("hw_synd_type", p->dwords[0] >> 16 & 0xff);
	if (p->rare)
		set("vendor_err_synd", p->dwords[0] >> 8 & 0xff);
	set("s_wqe_opcode_qpn", p->dwords[1]);
	set("wqe_counter", p->dwords[2] >> 16);
	set("signature", p->dwords[2] >> 8 & 0xff);
}

static void
compare(const struct published *p, const struct prm_cqe64 *cqe)
{
	uint32_t want[16] = {[8] = htobe32(p->user_index)};
	/* Of an RQ cards leave fields of a received frame before the syndromes; the emulator clears them. */
	unsigned from = p->queue == OF_RQ ? 52 : 0;

	for (unsigned i = 0; i < 3; i++)
		want[13 + i] = htobe32(p->dwords[i]);
	CHECK(cqe != NULL);
	if (cqe == NULL)
		return;
	for (unsigned k = from; k < 64; k++)
		if (((const uint8_t *)cqe)[k] != ((const uint8_t *)want)[k])
			fprintf(stderr, "%s: byte %u\n", p->source, k);
	CHECK(memcmp((const uint8_t *)cqe + from, (const uint8_t *)want + from, 64 - from) == 0);
}

/* The completion of a frame becomes the error, at the sender or at the receiver. */
static void
fail_frame(const struct published *p)
{
	struct bench b = setup();
	struct rig_cq *cq = p->queue == OF_RQ ? b.rx->cq : b.sq->cq;
	char text[128];

	/* The owner bit of the source: in the first pass of the ring, or in the second. */
	for (unsigned n = 0; n < (p->dwords[2] & 1) * 64u; n++) {
		rig_send(b.sq, b.f, 64);
		rig_run(b.r);
		CHECK(rig_cqe(b.sq->cq) != NULL);
		CHECK(rig_cqe(b.rx->cq) != NULL);
		rig_post(b.rx->rq, b.rx->buf[n], RIG_BUF_BYTES, b.rx->rq->port->lkey);
	}
	snprintf(text, sizeof(text), "on cqe.write match opcode=%u do error syndrome=0x%x",
		 p->queue == OF_RQ ? PRM_CQE_OPCODE_RESP_SEND : PRM_CQE_OPCODE_REQ, p->dwords[0] & 0xff);
	rule(text);
	set_numbers(p);
	rig_send(b.sq, b.f, 64);
	rig_run(b.r);
	compare(p, rig_cqe(cq));
	finish(&b);
}

/* A receive WQE with a wrong key, for the one syndrome that was published; the WQE behind it is flushed. */
static void
fail_receive(const struct published *p)
{
	const struct rig_qp_attr attr = {0};
	struct rig *r = rig_new(1, "none");
	struct rig_port *port = &r->port[0];
	uint64_t before = emu_audit_total();
	uint8_t *buf = rig_mem(port, 128, 64);
	uint32_t key = rig_remote_key(port);
	struct rig_qp *a = rig_qp_new(port, &attr), *b = rig_qp_new(port, &attr);
	const struct prm_cqe64 *flushed;

	rig_qp_connect(a, b, &attr);
	set_numbers(p);
	rig_post(b->rq, buf + 64, 64, key ^ 1);
	rig_post(b->rq, buf + 64, 64, key);
	rig_wqe(a->sq, PRM_WQE_OPCODE_SEND, RIG_CE_CQE);
	rig_wqe_ptr(a->sq, buf, 64, key);
	rig_qp_do(a);
	compare(p, rig_cqe(b->rcq));
	flushed = rig_cqe(b->rcq);
	CHECK(flushed != NULL && flushed->op_own == (p->dwords[2] & 0xff));
	emu_fault_clear();
	CHECK_EQ(rig_audit(r) - before, 1); /* the key */
	rig_free(r);
}

static void
published_errors(void)
{
	for (unsigned i = 0; i < sizeof(published) / sizeof(published[0]); i++)
		if (published[i].queue == OF_QP_RECV)
			fail_receive(&published[i]);
		else
			fail_frame(&published[i]);
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
