/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Stamps of completions and captures against true time, and queues that wait for a time. Time is
 * virtual here: it passes by what is done and by rig_pass(), so that every number can be foretold.
 */
#include <unistd.h>

#include "rig.h"

#define US 1000ull
#define MS 1000000ull
/* A frame of 60 bytes, with preamble, gap and FCS, and of 1500, at 100 Gb/s. */
#define WIRE_60 6.72
#define WIRE_1500 121.92
#define CABLE_NS 5

struct bench {
	struct rig *r;
	struct rig_sq *sq;
	struct rig_rx *rx;
	struct emu_clock *from, *to;
	uint8_t *frame;
};

/* Two ports of a profile; their clocks as planned, both from now on. */
static struct bench
setup(const char *profile, const struct emu_clock_plan *from, const struct emu_clock_plan *to)
{
	struct bench b = {.r = rig_new(2, NULL)};

	for (unsigned i = 0; i < 2; i++)
		b.r->port[i].dev->profile = emu_profile_find(profile);
	b.from = &b.r->port[0].dev->clock;
	b.to = &b.r->port[1].dev->clock;
	emu_clock_init(b.from, b.r->port[0].dev->profile->clock_hz, from);
	emu_clock_init(b.to, b.r->port[1].dev->profile->clock_hz, to);
	b.sq = rig_sq_new(&b.r->port[0], rig_cq_new(&b.r->port[0], 8, 6), 8);
	b.rx = rig_rx_new(&b.r->port[1], 7);
	b.frame = rig_mem(&b.r->port[0], 1500, 64);
	memcpy(b.frame, b.r->port[1].dev->vport.mac, 6);
	return b;
}

static uint64_t
stamp(struct rig_cq *c)
{
	const struct prm_cqe64 *cqe = rig_cqe(c);

	CHECK(cqe != NULL);
	return cqe != NULL ? be64toh(cqe->timestamp) : 0;
}

static uint64_t
received(struct rig_rx *rx)
{
	const struct prm_cqe64 *cqe = rig_cqe(rx->cq);
	unsigned index;

	CHECK(cqe != NULL);
	if (cqe == NULL)
		return 0;
	index = be16toh(cqe->wqe_counter) & ((1u << rx->rq->log_size) - 1);
	rig_post(rx->rq, rx->buf[index], RIG_BUF_BYTES, rx->rq->port->lkey);
	return be64toh(cqe->timestamp);
}

static const struct emu_clock_plan ghz = {.hz = 1000000000};

/* Send stamps are spaced by the wire time, receive stamps follow by the cable delay; a cycle is 1 ns. */
static void
departures_and_arrivals(void)
{
	struct bench b = setup("cx6dx", &ghz, &ghz);
	uint64_t first_tx = 0, first_rx = 0, now = emu_mono_ns();

	for (unsigned i = 0; i < 4; i++)
		rig_send(b.sq, b.frame, 1500);
	rig_run(b.r);
	for (unsigned i = 0; i < 4; i++) {
		uint64_t tx = stamp(b.sq->cq), rx = received(b.rx);
		double apart = i * WIRE_1500;

		first_tx = i == 0 ? tx : first_tx;
		first_rx = i == 0 ? rx : first_rx;
		CHECK((double)(tx - first_tx) > apart - 1 && (double)(tx - first_tx) < apart + 1);
		CHECK((double)(rx - first_rx) > apart - 1 && (double)(rx - first_rx) < apart + 1);
	}
	/* The clocks were started one after the other, at the same virtual time. */
	CHECK_EQ(first_tx, emu_clock_cycles_at(b.from, now));
	CHECK_EQ(first_rx - first_tx, CABLE_NS);
	/* The line is free again: the next one leaves at once. */
	rig_pass(b.r, MS);
	now = emu_mono_ns();
	rig_send(b.sq, b.frame, 60);
	rig_run(b.r);
	CHECK_EQ(stamp(b.sq->cq), emu_clock_cycles_at(b.from, now));
	CHECK_EQ(received(b.rx), emu_clock_cycles_at(b.to, now + CABLE_NS));
	rig_free(b.r);
}

/* A completion of several frames carries the time of the last; one of none that of its turn. */
static void
last_frame_counts(void)
{
	struct bench b = setup("cx6dx", &ghz, &ghz);
	const struct rig_eth eth = {.vlan = -1};
	uint64_t now = emu_mono_ns(), tx, rx = 0;

	rig_wqe(b.sq, PRM_WQE_OPCODE_ENHANCED_MPSW, RIG_CE_CQE);
	rig_wqe_eth(b.sq, &eth);
	for (unsigned i = 0; i < 3; i++)
		rig_wqe_ptr(b.sq, b.frame, 60, b.r->port[0].lkey);
	rig_wqe_end(b.sq);
	rig_sq_record(b.sq);
	rig_sq_bell(b.sq);
	rig_run(b.r);
	tx = stamp(b.sq->cq);
	for (unsigned i = 0; i < 3; i++)
		rx = received(b.rx);
	CHECK(tx - emu_clock_cycles_at(b.from, now) >= (unsigned)(2 * WIRE_60) &&
	      tx - emu_clock_cycles_at(b.from, now) <= (unsigned)(2 * WIRE_60) + 1);
	CHECK_EQ(rx - tx, CABLE_NS);
	rig_pass(b.r, MS);
	now = emu_mono_ns();
	rig_wqe(b.sq, PRM_WQE_OPCODE_NOP, RIG_CE_CQE);
	rig_wqe_end(b.sq);
	rig_sq_record(b.sq);
	rig_sq_bell(b.sq);
	rig_run(b.r);
	CHECK_EQ(stamp(b.sq->cq), emu_clock_cycles_at(b.from, now));
	rig_free(b.r);
}

/* Blocks of a capture: packet times, and what their comments say. */
struct truth {
	unsigned n;
	uint64_t utc_ns[64], cycles[64], ptp[64], real[64];
	uint32_t direction[64];
};

static void
read_packet(struct truth *t, const uint8_t *block, uint32_t len)
{
	uint32_t high, low, caplen, at;
	char text[200] = "";

	memcpy(&high, block + 12, 4);
	memcpy(&low, block + 16, 4);
	memcpy(&caplen, block + 20, 4);
	t->utc_ns[t->n] = (uint64_t)high << 32 | low;
	for (at = 28 + (caplen + 3) / 4 * 4; at + 4 < len;) {
		uint16_t code, bytes;

		memcpy(&code, block + at, 2);
		memcpy(&bytes, block + at + 2, 2);
		if (code == 2)
			memcpy(&t->direction[t->n], block + at + 4, 4);
		if (code == 1)
			memcpy(text, block + at + 4, bytes < 199 ? bytes : 199);
		if (code == 0)
			break;
		at += 4 + (bytes + 3u) / 4 * 4;
	}
	CHECK(sscanf(text, "cycles %lu ptp %lu real %lu", &t->cycles[t->n], &t->ptp[t->n],
		     &t->real[t->n]) >= 2);
	t->n++;
}

static struct truth
read_capture(const char *path)
{
	static uint8_t file[1u << 18];
	struct truth t = {0};
	FILE *f = fopen(path, "rb");
	size_t n = f != NULL ? fread(file, 1, sizeof(file), f) : 0, at = 0;

	while (at + 12 <= n && t.n < 64) {
		uint32_t type, len, again;

		memcpy(&type, file + at, 4);
		memcpy(&len, file + at + 4, 4);
		CHECK(len >= 12 && len % 4 == 0 && at + len <= n);
		if (len < 12 || at + len > n)
			break;
		memcpy(&again, file + at + len - 4, 4);
		CHECK_EQ(again, len);
		CHECK(at != 0 || type == 0x0a0d0d0a);
		if (type == 6)
			read_packet(&t, file + at, len);
		at += len;
	}
	CHECK_EQ(at, n);
	if (f != NULL)
		fclose(f);
	return t;
}

/* Every stamp is the counter at the captured instant, whatever the oscillator does. */
static void
stamps_are_true(void)
{
	static const struct emu_clock_plan plans[] = {
		{.hz = 78125000, .drift_ppb = 100000},
		{.hz = 156250000, .drift_ppb = -100000, .start = EMU_CLOCK_START_WRAP},
		{.hz = 312500000, .drift_ppb = 12345, .wander_ppb = 50000,
		 .wander_period_ns = 7 * EMU_NS_PER_S},
		{.hz = 1000000000, .drift_ppb = -50, .format = EMU_CLOCK_BOTH},
	};

	for (unsigned k = 0; k < sizeof(plans) / sizeof(plans[0]); k++) {
		struct bench b = setup("cx6dx", &ghz, &plans[k]);
		char path[] = "/tmp/test_dp_time.XXXXXX", spec[64], err[256] = "";
		uint64_t got[40], rising = 0;
		struct truth t;

		close(mkstemp(path));
		snprintf(spec, sizeof(spec), "1=%s:rx", path);
		CHECK_EQ(emu_dp_capture(&b.r->m, spec, err, sizeof(err)), 0);
		b.rx->rq->rq->real_time = plans[k].format == EMU_CLOCK_BOTH;
		for (unsigned i = 0; i < 40; i++) {
			rig_send(b.sq, b.frame, 60 + i * 20);
			rig_run(b.r);
			got[i] = received(b.rx);
			rig_cqe(b.sq->cq);
			rig_pass(b.r, i % 4 == 0 ? 700 * MS : 3);
			if (i == 20)
				emu_clock_slew(b.r->port[1].dev, 77777);
		}
		rig_free(b.r);
		t = read_capture(path);
		unlink(path);
		CHECK_EQ(t.n, 40);
		for (unsigned i = 0; i < t.n && i < 40; i++) {
			CHECK_EQ(t.direction[i], 1);
			CHECK(t.utc_ns[i] > rising);
			rising = t.utc_ns[i];
			if (plans[k].format == EMU_CLOCK_BOTH)
				CHECK_EQ(got[i], emu_clock_pack(t.real[i]));
			else
				CHECK_EQ(got[i], t.cycles[i]);
		}
	}
}

/* The comment's cycles are the counter at the packet's time, to the nanosecond it is cut to. */
static void
captures_are_true(void)
{
	static const struct emu_clock_plan plan = {.hz = 312500000, .drift_ppb = 99999};
	struct bench b = setup("cx7", &plan, &ghz);
	char path[] = "/tmp/test_dp_time.XXXXXX", spec[64], err[256] = "";
	struct emu_clock clock;
	struct truth t;

	close(mkstemp(path));
	snprintf(spec, sizeof(spec), "0=%s", path);
	CHECK_EQ(emu_dp_capture(&b.r->m, spec, err, sizeof(err)), 0);
	CHECK(emu_dp_capture(&b.r->m, spec, err, sizeof(err)) != 0);
	for (unsigned i = 0; i < 30; i++) {
		rig_send(b.sq, b.frame, 60);
		rig_pass(b.r, 911 * MS);
		rig_cqe(b.sq->cq);
		received(b.rx);
	}
	clock = *b.from;
	rig_free(b.r);
	t = read_capture(path);
	unlink(path);
	CHECK_EQ(t.n, 30);
	for (unsigned i = 0; i < t.n; i++) {
		uint64_t mono = t.utc_ns[i] - (uint64_t)emu_time_offset();
		double passed, ahead;

		CHECK_EQ(t.direction[i], 2);
		CHECK(t.cycles[i] >= emu_clock_cycles_at(&clock, mono) &&
		      t.cycles[i] <= emu_clock_cycles_at(&clock, mono + 1));
		CHECK_EQ(t.ptp[i], emu_clock_ptp_ns(&clock, t.cycles[i]));
		/* 99.999 ppm fast: the kernel's clock gets ahead of true time by that. */
		passed = (double)(t.utc_ns[i] - t.utc_ns[0]);
		ahead = (double)(t.ptp[i] - t.ptp[0]) - passed - passed * 99.999e-6;
		CHECK(ahead > -6 && ahead < 6);
	}
}

/* ---- WAIT ---- */

static void
wait_wqe(struct bench *b, unsigned operation, uint64_t value, uint64_t mask)
{
	const struct prm_wqe_wait_seg seg = {
		.operation = htobe32(operation), .value = htobe64(value), .mask = htobe64(mask)};

	rig_wqe(b->sq, PRM_WQE_OPCODE_WAIT, 0);
	b->sq->wqe[0] = PRM_WAIT_OPC_MOD_TIME;
	memcpy(b->sq->wqe + b->sq->len, &seg, sizeof(seg));
	b->sq->len += sizeof(seg);
	rig_wqe_end(b->sq);
}

static void
frame_wqe(struct bench *b)
{
	const struct rig_eth eth = {.vlan = -1};

	rig_wqe(b->sq, PRM_WQE_OPCODE_SEND, RIG_CE_CQE);
	rig_wqe_eth(b->sq, &eth);
	rig_wqe_ptr(b->sq, b->frame, 60, b->r->port[0].lkey);
	rig_wqe_end(b->sq);
}

static void
ring(struct bench *b)
{
	rig_sq_record(b->sq);
	rig_sq_bell(b->sq);
	rig_run(b->r);
}

#define MASK ((1ull << 40) - 1)

/* Held until its time, sent then, and stamped so even when the engine comes late. */
static void
waits_for_its_time(void)
{
	for (unsigned late_us = 0; late_us <= 40; late_us += 20) {
		struct bench b = setup("cx7", &ghz, &ghz);
		uint64_t at = emu_clock_cycles(b.from) + 500 * US, got;

		wait_wqe(&b, PRM_WAIT_COND_CYCLIC_SMALLER, at, MASK);
		frame_wqe(&b);
		frame_wqe(&b);
		ring(&b);
		CHECK(rig_cqe(b.sq->cq) == NULL);
		rig_pass(b.r, 400 * US);
		CHECK(rig_cqe(b.sq->cq) == NULL && b.r->port[0].dev->stats.tx_frames == 0);
		/* Posted in time as well, by a doorbell that the engine saw before. */
		frame_wqe(&b);
		ring(&b);
		CHECK(rig_cqe(b.sq->cq) == NULL);
		rig_pass(b.r, at - emu_clock_cycles(b.from));
		CHECK(rig_cqe(b.sq->cq) == NULL); /* the clock is at the value, not beyond it */
		rig_pass(b.r, 1 + late_us * US);
		for (unsigned i = 0; i < 3; i++) {
			got = stamp(b.sq->cq);
			/* From the nanosecond behind the value on, one after the other. */
			CHECK(got > at && got <= at + 1 + (i + 1) * 7);
			CHECK_EQ(received(b.rx) - got, CABLE_NS);
		}
		/* What is posted afterwards leaves when it is posted. */
		rig_pass(b.r, 30 * US);
		at = emu_clock_cycles(b.from);
		frame_wqe(&b);
		ring(&b);
		got = stamp(b.sq->cq);
		CHECK(got >= at && got <= at + 10);
		rig_free(b.r);
	}
}

/* A time in the past is sent at once; so is one ahead by more than half of the mask. */
static void
past_and_far_future(void)
{
	struct bench b = setup("cx7", &ghz, &ghz);
	uint64_t now = emu_clock_cycles(b.from), got;
	const uint64_t at_once[] = {now - 1, now - MS, now - MASK / 2 + MS, now + MASK / 2 + MS,
				    now + MASK - MS};

	for (unsigned i = 0; i < sizeof(at_once) / sizeof(at_once[0]); i++) {
		uint64_t before = emu_clock_cycles(b.from);

		wait_wqe(&b, PRM_WAIT_COND_CYCLIC_SMALLER, at_once[i], MASK);
		frame_wqe(&b);
		ring(&b);
		got = stamp(b.sq->cq);
		CHECK(got >= before && got < before + 100);
	}
	/* Nearly half of the mask, 9 minutes, is waited for. */
	now = emu_clock_cycles(b.from);
	wait_wqe(&b, PRM_WAIT_COND_CYCLIC_SMALLER, now + MASK / 2 - MS, MASK);
	frame_wqe(&b);
	ring(&b);
	rig_pass(b.r, MASK / 2 - 2 * MS);
	CHECK(rig_cqe(b.sq->cq) == NULL);
	rig_pass(b.r, 2 * MS);
	got = stamp(b.sq->cq);
	CHECK(got > now + MASK / 2 - MS && got < now + MASK / 2 - MS + 10);
	rig_free(b.r);
}

/* Several moments in one queue, all passed before the engine looks: each frame at its own. */
static void
one_after_the_other(void)
{
	struct bench b = setup("cx7", &ghz, &ghz);
	uint64_t start = emu_clock_cycles(b.from) + 100 * US;

	for (unsigned i = 0; i < 10; i++) {
		wait_wqe(&b, PRM_WAIT_COND_CYCLIC_SMALLER, start + i * 50 * US, MASK);
		frame_wqe(&b);
	}
	ring(&b);
	CHECK(rig_cqe(b.sq->cq) == NULL);
	rig_pass(b.r, 20 * MS);
	for (unsigned i = 0; i < 10; i++) {
		uint64_t got = stamp(b.sq->cq);

		CHECK(got > start + i * 50 * US && got < start + i * 50 * US + 10);
	}
	rig_free(b.r);
}

/* Drift, and steps and slews of a card's own clock, move the moment of a queue that waits. */
static void
clocks_that_change(void)
{
	static const struct emu_clock_plan real = {.hz = 1000000000, .format = EMU_CLOCK_BOTH};
	struct bench b = setup("cx7", &ghz, &ghz);
	uint64_t start = emu_mono_ns(), at = emu_clock_cycles(b.from) + 100 * MS;
	const uint64_t mask = (8ull << 32) - 1;

	wait_wqe(&b, PRM_WAIT_COND_CYCLIC_SMALLER, at, MASK);
	frame_wqe(&b);
	ring(&b);
	emu_clock_drift(b.from, 10000000); /* 1 % */
	rig_pass(b.r, start + 99 * MS - emu_mono_ns());
	CHECK(rig_cqe(b.sq->cq) == NULL);
	rig_pass(b.r, 11 * US); /* 99.0099 ms are enough */
	CHECK(stamp(b.sq->cq) - at < 10);
	rig_free(b.r);

	b = setup("cx7", &real, &ghz);
	b.sq->sq->real_time = true;
	at = emu_clock_real_ns(b.from, emu_clock_cycles(b.from)) + 2500 * MS;
	wait_wqe(&b, PRM_WAIT_COND_CYCLIC_SMALLER, emu_clock_pack(at), mask);
	frame_wqe(&b);
	ring(&b);
	rig_pass(b.r, 2300 * MS);
	CHECK(rig_cqe(b.sq->cq) == NULL);
	emu_clock_step(b.r->port[0].dev, 150 * (int64_t)MS);
	rig_pass(b.r, 40 * MS);
	CHECK(rig_cqe(b.sq->cq) == NULL);
	rig_pass(b.r, 11 * MS);
	at = emu_clock_pack(at);
	CHECK(stamp(b.sq->cq) - at < 10);
	rig_free(b.r);
}

/* The other conditions, and their opposites. */
static void
conditions(void)
{
	struct bench b = setup("cx7", &ghz, &ghz);
	uint64_t now = emu_clock_cycles(b.from), low = MASK >> 8;
	const struct {
		unsigned operation;
		uint64_t value, mask;
		bool at_once;
	} rows[] = {
		{PRM_WAIT_COND_ALWAYS_TRUE, 0, MASK, true},
		{PRM_WAIT_COND_ALWAYS_TRUE | 0x10, 0, MASK, false},
		{PRM_WAIT_COND_BIGGER, UINT64_MAX, MASK, true},
		{PRM_WAIT_COND_BIGGER, 0, MASK, false},
		{PRM_WAIT_COND_BIGGER | 0x10, 0, MASK, true},
		{PRM_WAIT_COND_SMALLER, 0, low, true},
		{PRM_WAIT_COND_SMALLER, low, low, false},
		{PRM_WAIT_COND_CYCLIC_BIGGER, now + MS * 100, MASK, true},
		{PRM_WAIT_COND_CYCLIC_BIGGER, now - MS, MASK, false},
		{PRM_WAIT_COND_EQUAL, 0, 0, true},
		{PRM_WAIT_COND_EQUAL, 0, MASK, false},
		{PRM_WAIT_COND_EQUAL | 0x10, 0, MASK, true},
		{PRM_WAIT_COND_CYCLIC_SMALLER, 0, 0, false}, /* nothing is smaller */
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		wait_wqe(&b, rows[i].operation, rows[i].value, rows[i].mask);
		frame_wqe(&b);
		ring(&b);
		CHECK_EQ(rig_cqe(b.sq->cq) != NULL, rows[i].at_once);
		if (rows[i].at_once)
			continue;
		/* A waiting queue can be reset and works again. */
		CHECK_EQ(rig_sq_modify(b.sq, PRM_SQC_STATE_RDY, PRM_SQC_STATE_ERR), 0);
		rig_run(b.r);
		while (rig_cqe(b.sq->cq) != NULL)
			;
		CHECK_EQ(rig_sq_modify(b.sq, PRM_SQC_STATE_ERR, PRM_SQC_STATE_RST), 0);
		memset(b.sq->dbrec, 0, 8);
		b.sq->pi = 0;
		CHECK_EQ(rig_sq_modify(b.sq, PRM_SQC_STATE_RST, PRM_SQC_STATE_RDY), 0);
	}
	rig_free(b.r);
}

/* Cards without the capability, conditions that there are not, WQEs of another size. */
static void
refusals(void)
{
	for (unsigned i = 0; i < 3; i++) {
		struct bench b = setup(i == 0 ? "cx6dx" : "cx7", &ghz, &ghz);
		const struct prm_err_cqe *cqe;

		wait_wqe(&b, i == 1 ? 6 : PRM_WAIT_COND_ALWAYS_TRUE, 0, MASK);
		if (i == 2) { /* written again, a segment too long */
			b.sq->pi--;
			b.sq->len += 16;
			rig_wqe_end(b.sq);
		}
		ring(&b);
		cqe = rig_cqe_error(b.sq->cq, PRM_CQE_OPCODE_REQ_ERR);
		CHECK(cqe != NULL && cqe->syndrome == PRM_CQE_SYNDROME_LOCAL_QP_OP_ERR);
		CHECK_EQ(b.sq->sq->state, EMU_QS_ERR);
		rig_free(b.r);
	}
}

int
main(int argc, char **argv)
{
	static const struct rig_test tests[] = {
		{"departures_and_arrivals", departures_and_arrivals},
		{"last_frame_counts", last_frame_counts},
		{"stamps_are_true", stamps_are_true},
		{"captures_are_true", captures_are_true},
		{"waits_for_its_time", waits_for_its_time},
		{"past_and_far_future", past_and_far_future},
		{"one_after_the_other", one_after_the_other},
		{"clocks_that_change", clocks_that_change},
		{"conditions", conditions},
		{"refusals", refusals},
		{NULL, NULL},
	};

	emu_time_virtual();
	rig_profile = emu_profile_find("cx6dx"); /* the wire of 100 Gb/s */
	return rig_main(argc, argv, tests);
}
