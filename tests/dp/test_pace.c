/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Send queues with a limited rate: when frames leave. Time is virtual, so that every number can be foretold. */
#include "rig.h"

#define US 1000ull
#define MS 1000000ull
/* 1000 bytes take 8 us. */
#define GBPS 1000000u
#define LEN 1000u

struct bench {
	struct rig *r;
	struct rig_sq *sq;
	struct rig_rx *rx;
	uint8_t *frame;
};

static void
pp_set(struct rig_port *p, uint32_t index, uint32_t kbps, uint32_t burst)
{
	struct prm_set_pp_rate_limit_in in = {0};
	struct prm_set_pp_rate_limit_context *ctx = prm_set_pp_rate_limit_in_ctx(&in);
	uint32_t out[PRM_SET_PP_RATE_LIMIT_OUT_BYTES / 4];

	prm_set_pp_rate_limit_in_set_opcode(&in, PRM_CMD_OP_SET_PP_RATE_LIMIT);
	prm_set_pp_rate_limit_in_set_uid(&in, EMU_UID_SHARED);
	prm_set_pp_rate_limit_in_set_rate_limit_index(&in, index);
	prm_set_pp_rate_limit_context_set_rate_limit(ctx, kbps);
	prm_set_pp_rate_limit_context_set_burst_upper_bound(ctx, burst);
	CHECK_EQ(emu_fw_exec_kernel(p->ctx, &in, sizeof(in), out, sizeof(out)), 0);
}

/* MODIFY_SQ in state RDY. */
static void
limit(struct rig_sq *sq, uint32_t index)
{
	struct prm_modify_sq_in in = {0};
	struct prm_sqc *sqc = prm_modify_sq_in_ctx(&in);

	prm_modify_sq_in_set_opcode(&in, PRM_CMD_OP_MODIFY_SQ);
	prm_modify_sq_in_set_sqn(&in, sq->sq->obj.id);
	prm_modify_sq_in_set_sq_state(&in, EMU_QS_RDY);
	prm_modify_sq_in_set_modify_bitmask(&in, PRM_MODIFY_SQ_BITMASK_RATE_LIMIT);
	prm_sqc_set_state(sqc, EMU_QS_RDY);
	prm_sqc_set_packet_pacing_rate_limit_index(sqc, index);
	CHECK_EQ(rig_fw(sq->port, &in, sizeof(in), NULL), 0);
}

/* Two ports with counters of 1 GHz, and a queue with entry 1. */
static struct bench
setup(uint32_t kbps, uint32_t burst)
{
	static const struct emu_clock_plan ghz = {.hz = 1000000000};
	struct bench b = {.r = rig_new(2, NULL)};

	for (unsigned i = 0; i < 2; i++)
		emu_clock_init(&b.r->port[i].dev->clock, b.r->port[i].dev->profile->clock_hz, &ghz);
	b.sq = rig_sq_new(&b.r->port[0], rig_cq_new(&b.r->port[0], 8, 6), 8);
	b.rx = rig_rx_new(&b.r->port[1], 7);
	b.frame = rig_mem(&b.r->port[0], LEN, 64);
	memcpy(b.frame, b.r->port[1].dev->vport.mac, 6);
	pp_set(&b.r->port[0], 1, kbps, burst);
	limit(b.sq, 1);
	return b;
}

static void
teardown(struct bench *b)
{
	limit(b->sq, 0);
	pp_set(&b->r->port[0], 1, 0, 0);
	rig_free(b->r);
}

/* Send stamp of the next completion. */
static uint64_t
stamp(struct rig_sq *sq)
{
	const struct prm_cqe64 *cqe = rig_cqe(sq->cq);

	CHECK(cqe != NULL);
	return cqe != NULL ? be64toh(cqe->timestamp) : 0;
}

static unsigned
completed(struct rig_sq *sq)
{
	unsigned n = 0;

	while (rig_cqe(sq->cq) != NULL)
		n++;
	return n;
}

/* Frames leave a rate's time apart, however seldom the engine looks, and no time is lost. */
static void
keeps_its_rate(void)
{
	for (uint64_t late = 1 * US; late <= 100 * US; late *= 10) {
		struct bench b = setup(GBPS, 0);
		uint64_t first = 0;

		for (unsigned i = 0; i < 50; i++)
			rig_send(b.sq, b.frame, LEN);
		rig_run(b.r);
		CHECK_EQ(b.r->port[0].dev->stats.tx_frames, 1);
		for (uint64_t t = 0; t < 50 * 8 * US; t += late)
			rig_pass(b.r, late);
		CHECK_EQ(b.r->port[0].dev->stats.tx_frames, 50);
		for (unsigned i = 0; i < 50; i++) {
			uint64_t at = stamp(b.sq);

			first = i == 0 ? at : first;
			/* The first frame left at once, each later one with its wire time of 82 ns added. */
			CHECK(at - first >= i * 8 * US && at - first <= i * 8 * US + 90);
		}
		CHECK_EQ(b.sq->sq->state, EMU_QS_RDY);
		teardown(&b);
	}
}

/* A time that is no whole number of nanoseconds does not drift: 500 frames of 60 bytes at 700 Mb/s take 342,857 ns. */
static void
fractions_add_up(void)
{
	struct bench b = setup(GBPS, 0);
	struct rig_sq *sq = rig_sq_new(&b.r->port[0], rig_cq_new(&b.r->port[0], 9, 6), 9);
	uint64_t first = 0, last = 0;

	pp_set(&b.r->port[0], 2, 700000, 0);
	limit(sq, 2);
	for (unsigned i = 0; i < 501; i++)
		rig_send(sq, b.frame, 60);
	rig_run(b.r);
	for (unsigned i = 0; i < 400; i++)
		rig_pass(b.r, US);
	for (unsigned i = 0; i < 501; i++) {
		last = stamp(sq);
		first = i == 0 ? last : first;
	}
	CHECK(last - first >= 342857 && last - first < 342857 + 10);
	limit(sq, 0);
	pp_set(&b.r->port[0], 2, 0, 0);
	teardown(&b);
}

/* A queue that was idle has gained nothing: without a burst one frame, with one as many bytes as it allows. */
static void
bursts(void)
{
	for (unsigned burst = 0; burst <= 4 * LEN; burst += 2 * LEN) {
		struct bench b = setup(GBPS, burst);
		unsigned at_once = burst == 0 ? 1 : burst / LEN;

		for (unsigned round = 0; round < 2; round++) {
			rig_pass(b.r, MS);
			for (unsigned i = 0; i < 10; i++)
				rig_send(b.sq, b.frame, LEN);
			rig_run(b.r);
			CHECK_EQ(completed(b.sq), at_once);
			rig_pass(b.r, 8 * US);
			CHECK_EQ(completed(b.sq), 1);
			rig_pass(b.r, 20 * 8 * US);
			CHECK_EQ(completed(b.sq), 10 - at_once - 1);
		}
		teardown(&b);
	}
}

/* A limit that is changed or removed applies at once, also to a frame that is held up. */
static void
changes(void)
{
	struct bench b = setup(8, 0); /* a second per frame */

	for (unsigned i = 0; i < 4; i++)
		rig_send(b.sq, b.frame, LEN);
	rig_run(b.r);
	CHECK_EQ(completed(b.sq), 1);
	rig_pass(b.r, MS);
	CHECK_EQ(completed(b.sq), 0);
	pp_set(&b.r->port[0], 2, GBPS, 0);
	limit(b.sq, 2);
	rig_run(b.r);
	CHECK_EQ(completed(b.sq), 1);
	limit(b.sq, 0);
	rig_run(b.r);
	CHECK_EQ(completed(b.sq), 2);
	pp_set(&b.r->port[0], 2, 0, 0);
	teardown(&b);
}

/* Each queue has the rate by itself, also of one entry; another one is not held up. */
static void
queues_by_themselves(void)
{
	struct bench b = setup(GBPS, 0);
	struct rig_sq *same = rig_sq_new(&b.r->port[0], rig_cq_new(&b.r->port[0], 8, 6), 8);
	struct rig_sq *free_one = rig_sq_new(&b.r->port[0], rig_cq_new(&b.r->port[0], 8, 6), 8);

	limit(same, 1);
	for (unsigned i = 0; i < 11; i++) {
		rig_send(b.sq, b.frame, LEN);
		rig_send(same, b.frame, LEN);
		rig_send(free_one, b.frame, LEN);
	}
	rig_run(b.r);
	CHECK_EQ(completed(free_one), 11);
	for (unsigned i = 0; i < 81; i++)
		rig_pass(b.r, US);
	CHECK_EQ(completed(b.sq), 11);
	CHECK_EQ(completed(same), 11);
	limit(same, 0);
	teardown(&b);
}

/* The frames of several queues leave in the order of their times, also if the engine is late. */
static void
order_of_queues(void)
{
	struct bench b = setup(GBPS, 0);
	struct rig_sq *same = rig_sq_new(&b.r->port[0], rig_cq_new(&b.r->port[0], 8, 6), 8);
	uint64_t first = 0;

	limit(same, 1);
	for (unsigned i = 0; i < 11; i++) {
		rig_send(b.sq, b.frame, LEN);
		rig_send(same, b.frame, LEN);
	}
	rig_run(b.r);
	rig_pass(b.r, 200 * US);
	for (unsigned i = 0; i < 11; i++) {
		uint64_t left = stamp(b.sq), other = stamp(same);

		first = i == 0 ? left : first;
		CHECK(left >= first + i * 8 * US && left <= first + i * 8 * US + 500);
		CHECK(other >= first + i * 8 * US && other <= first + i * 8 * US + 500);
	}
	limit(same, 0);
	teardown(&b);
}

/* The frames of a multi-packet WQE are paced one by one; its completion comes with the last. */
static void
frames_of_one_wqe(void)
{
	struct bench b = setup(GBPS, 0);
	const struct rig_eth eth = {.vlan = -1};

	rig_wqe(b.sq, PRM_WQE_OPCODE_ENHANCED_MPSW, RIG_CE_CQE);
	rig_wqe_eth(b.sq, &eth);
	for (unsigned i = 0; i < 3; i++)
		rig_wqe_ptr(b.sq, b.frame, LEN, b.r->port[0].lkey);
	rig_wqe_end(b.sq);
	rig_sq_record(b.sq);
	rig_sq_bell(b.sq);
	rig_run(b.r);
	for (unsigned i = 1; i <= 3; i++) {
		CHECK_EQ(b.r->port[0].dev->stats.tx_frames, i);
		CHECK_EQ(completed(b.sq), i == 3);
		rig_pass(b.r, 8 * US);
	}
	teardown(&b);
}

/* A WAIT before frames of a limited queue: they leave neither before its time nor faster than the rate. */
static void
with_a_wait(void)
{
	static const uint64_t mask = (1ull << 40) - 1;
	struct bench b = setup(GBPS, 0);
	uint64_t at = emu_clock_cycles(&b.r->port[0].dev->clock) + 100 * US;
	const struct prm_wqe_wait_seg seg = {.operation = htobe32(PRM_WAIT_COND_CYCLIC_SMALLER),
					     .value = htobe64(at), .mask = htobe64(mask)};

	rig_wqe(b.sq, PRM_WQE_OPCODE_WAIT, 0);
	b.sq->wqe[0] = PRM_WAIT_OPC_MOD_TIME;
	memcpy(b.sq->wqe + b.sq->len, &seg, sizeof(seg));
	b.sq->len += sizeof(seg);
	rig_wqe_end(b.sq);
	for (unsigned i = 0; i < 5; i++)
		rig_send(b.sq, b.frame, LEN);
	rig_run(b.r);
	rig_pass(b.r, 99 * US);
	CHECK_EQ(b.r->port[0].dev->stats.tx_frames, 0);
	/* The engine is late. */
	rig_pass(b.r, 60 * US);
	for (unsigned i = 0; i < 5; i++) {
		uint64_t left = stamp(b.sq);

		CHECK(left >= at + i * 8 * US && left <= at + i * 8 * US + 200);
	}
	teardown(&b);
}

/* A queue in ERR flushes without pacing; after a reset it has no limit. */
static void
errors_and_reset(void)
{
	struct bench b = setup(8, 0);

	for (unsigned i = 0; i < 4; i++)
		rig_send(b.sq, b.frame, LEN);
	rig_run(b.r);
	CHECK_EQ(completed(b.sq), 1);
	CHECK_EQ(rig_sq_modify(b.sq, EMU_QS_RDY, EMU_QS_ERR), 0);
	rig_run(b.r);
	CHECK_EQ(completed(b.sq), 3);
	CHECK_EQ(rig_sq_modify(b.sq, EMU_QS_ERR, EMU_QS_RST), 0);
	memset(b.sq->dbrec, 0, 8);
	b.sq->pi = 0;
	CHECK_EQ(rig_sq_modify(b.sq, EMU_QS_RST, EMU_QS_RDY), 0);
	for (unsigned i = 0; i < 4; i++)
		rig_send(b.sq, b.frame, LEN);
	rig_run(b.r);
	CHECK_EQ(completed(b.sq), 4);
	teardown(&b);
}

int
main(int argc, char **argv)
{
	static const struct rig_test tests[] = {
		{"keeps_its_rate", keeps_its_rate},
		{"fractions_add_up", fractions_add_up},
		{"bursts", bursts},
		{"changes", changes},
		{"queues_by_themselves", queues_by_themselves},
		{"order_of_queues", order_of_queues},
		{"frames_of_one_wqe", frames_of_one_wqe},
		{"with_a_wait", with_a_wait},
		{"errors_and_reset", errors_and_reset},
		{NULL, NULL},
	};

	emu_time_virtual();
	rig_profile = emu_profile_find("cx7"); /* for the WAIT */
	return rig_main(argc, argv, tests);
}
