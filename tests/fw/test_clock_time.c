/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * The oscillator and what is built over it, in virtual time: drift, wander, starts, the PTP clock's
 * steps and slews in the page, real time, and faults of the page.
 */
#include <endian.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "core/emu_fault.h"
#include "fw_fixture.h"

typedef unsigned __int128 u128;

#define S EMU_NS_PER_S
#define YEAR_S (365ull * 86400)

static const uint64_t frequencies[] = {78125000, 156250000, 312500000, 1000000000};

/** What a program sees; offsets as rdma-core reads them. */
struct page {
	volatile uint32_t sign, reserved;
	volatile uint64_t nsec, cycles, frac;
	volatile uint32_t mult, shift;
	volatile uint64_t mask, overflow_period;
};

static struct page *
page_of(const struct fix *f)
{
	return (struct page *)((uint8_t *)f->file + EMU_CLOCK_INFO_OFFSET);
}

static uint64_t
be64_at(const struct fix *f, unsigned offset)
{
	uint64_t v;

	memcpy(&v, (uint8_t *)f->file + EMU_CORE_CLOCK_OFFSET + offset, sizeof(v));
	return be64toh(v);
}

/* After whole seconds a counter has advanced by its frequency and drift, to the cycle. */
static void
test_drift(void)
{
	static const int64_t drifts[] = {0, 1, -1, 20500, -100000, 100000, 10000000, -10000000};
	static const uint64_t seconds[] = {1, 60, 86400, YEAR_S, 20 * YEAR_S};

	for (unsigned i = 0; i < 4 * 8 * 5; i++) {
		const struct emu_clock_plan plan = {.hz = frequencies[i % 4],
						    .drift_ppb = drifts[i / 4 % 8]};
		uint64_t s = seconds[i / 32], want;
		struct emu_clock c;

		emu_clock_init(&c, 1, &plan);
		want = (uint64_t)((u128)s * plan.hz * (uint64_t)(1000000000 + plan.drift_ppb) /
				  1000000000);
		CHECK_EQ(emu_clock_cycles_at(&c, c.anchor_ns + s * S) - c.anchor_cycles, want);
		CHECK_EQ(emu_clock_cycles_at(&c, c.anchor_ns - 1), c.anchor_cycles);
		CHECK_EQ(emu_clock_error_ppb(&c, c.anchor_ns + s * S), plan.drift_ppb);
	}
}

/* A changed drift bends the line and does not break it; a point is the counter and its slope. */
static void
test_changes(void)
{
	const struct emu_clock_plan plan = {.hz = 156250000, .drift_ppb = 3};
	uint64_t last, lost = 0;
	struct emu_clock c;

	emu_clock_init(&c, 1, &plan);
	last = emu_clock_cycles(&c);
	srand(1);
	for (unsigned i = 0; i < 20000; i++) {
		uint64_t ns = (uint64_t)rand() % 5000, cycles;
		struct emu_clock_point p;

		emu_clock_drift(&c, rand() % 200001 - 100000);
		CHECK_EQ(emu_clock_cycles(&c), last);
		emu_time_pass(ns);
		cycles = emu_clock_cycles(&c);
		CHECK(fabs((double)(cycles - last) - (double)ns * 0.15625) < 1.1);
		emu_clock_point(&c, emu_mono_ns(), &p);
		CHECK_EQ(p.cycles, cycles);
		/* Its tangent leads to the counter a microsecond later. */
		cycles = emu_clock_cycles_at(&c, emu_mono_ns() + 1000);
		p.cycles += (((uint64_t)p.frac_q32 << 8) + 1000 * p.rate_q40) >> 40;
		lost += p.cycles != cycles;
		last = emu_clock_cycles(&c);
	}
	CHECK(lost <= 1);
}

/* The wander by other means: its frequency error, summed up in small steps. */
static void
test_wander(void)
{
	const struct emu_clock_plan plan = {.hz = 1000000000, .wander_ppb = 50000,
					    .wander_period_ns = 8 * S};
	int64_t most = 0, least = 0;
	double sum = 0, worst = 0;
	struct emu_clock c;

	emu_clock_init(&c, 1, &plan);
	for (uint64_t t = 0; t < 20 * S; t += 1000000) {
		uint64_t at = c.anchor_ns + t;
		double ahead = (double)(int64_t)(emu_clock_cycles_at(&c, at) - c.anchor_cycles - t);
		int64_t ppb = emu_clock_error_ppb(&c, at);

		worst = fabs(ahead - sum) > worst ? fabs(ahead - sum) : worst;
		most = ppb > most ? ppb : most;
		least = ppb < least ? ppb : least;
		/* ns per ms by the error in the middle of the step */
		sum += (double)emu_clock_error_ppb(&c, at + 500000) * 1e-3;
	}
	CHECK(worst < 3);
	CHECK(most == 50000 && least == -50000);
	/* 50 ppm in a quarter of 8 s on average 25 ppm, twice: 100 us ahead in the middle. */
	CHECK_EQ(emu_clock_cycles_at(&c, c.anchor_ns + 4 * S) - c.anchor_cycles, 4 * S + 100000);
	CHECK_EQ(emu_clock_cycles_at(&c, c.anchor_ns + 8 * S) - c.anchor_cycles, 8 * S);
}

static void
test_start(void)
{
	const struct emu_clock_plan wrap = {.hz = 312500000, .start = EMU_CLOCK_START_WRAP};
	const struct emu_clock_plan at = {.start = EMU_CLOCK_START_AT, .start_cycles = 12345};
	struct emu_clock c;

	emu_clock_init(&c, 1, &wrap);
	CHECK_EQ(c.anchor_cycles & c.mask, c.mask + 1 - 2 * c.hz);
	CHECK_EQ(emu_clock_cycles_at(&c, c.anchor_ns + 2 * S) & c.mask, 0);
	emu_clock_init(&c, 78125000, &at);
	CHECK_EQ(emu_clock_cycles_at(&c, c.anchor_ns), 12345);
	CHECK_EQ(c.hz, 78125000);
}

/* The words of the options. */
static void
test_plan(void)
{
	static const struct {
		const char *option, *value;
		bool good;
	} rows[] = {
		{"hz", "156250000", true}, {"hz", "1=1000000000", true}, {"hz", "0", false},
		{"hz", "x", false}, {"hz", "16=156250000", false}, {"hz", "-1", false},
		{"start", "wrap", true}, {"start", "0x10", true}, {"start", "", false},
		{"start", "4611686018427387904", false}, {"drift", "-20.5", true},
		{"drift", "+0.001", true}, {"drift", "0.0001", false}, {"drift", "10001", false},
		{"drift", "1e3", false}, {"drift", "0=", false}, {"wander", "5", true},
		{"wander", "5.5:10", true}, {"wander", "-5", false}, {"wander", "5:0", false},
		{"wander", "5:", false}, {"kernel", "old", true}, {"kernel", "older", false},
		{"format", "both", true}, {"format", "none", false}, {"colour", "red", false},
	};
	const struct emu_profile *cx5 = emu_profile_find("cx5"), *cx7 = emu_profile_find("cx7");
	char err[200];

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		CHECK((emu_clock_plan_set(rows[i].option, rows[i].value, err, sizeof(err)) == 0) == rows[i].good,
		      "%s %s: %s", rows[i].option, rows[i].value, rows[i].good ? err : "accepted");
	CHECK_EQ(emu_clock_plan_of(0)->drift_ppb, 1);
	CHECK_EQ(emu_clock_plan_of(1)->hz, 1000000000);
	CHECK_EQ(emu_clock_plan_of(2)->hz, 156250000);
	CHECK_EQ(emu_clock_plan_of(0)->wander_ppb, 5500);
	CHECK_EQ(emu_clock_plan_of(0)->wander_period_ns, 10 * S);
	CHECK(emu_clock_plan_of(3)->old_kernel);
	CHECK(emu_clock_plan_check(2, cx5, err, sizeof(err)) != 0);
	CHECK(emu_clock_plan_check(1, cx7, err, sizeof(err)) != 0); /* there was a port 1 */
	CHECK_EQ(emu_clock_plan_check(2, cx7, err, sizeof(err)), 0);
	/* Back to what the other tests want. */
	CHECK_EQ(emu_clock_plan_line("format free", err, sizeof(err)), 0);
	CHECK_EQ(emu_clock_plan_line("wander 0", err, sizeof(err)), 0);
	CHECK_EQ(emu_clock_plan_line("drift 0", err, sizeof(err)), 0);
	CHECK_EQ(emu_clock_plan_line("hz 156250000", err, sizeof(err)), 0);
	CHECK_EQ(emu_clock_plan_line("kernel new", err, sizeof(err)), 0);
	CHECK(emu_clock_plan_line("kernelnew", err, sizeof(err)) != 0);
}

/* The PTP clock by the page alone, as a program has it, in 128 bits. */
static uint64_t
by_page(const struct fix *f, uint64_t cycles)
{
	const struct page *p = page_of(f);

	return p->nsec +
	       (uint64_t)(((u128)((cycles - p->cycles) & p->mask) * p->mult + p->frac) >> p->shift);
}

static void
ptp_restart(struct fix *f, const struct emu_clock_plan *plan)
{
	emu_clock_init(&f->dev->clock, 156250000, plan);
	emu_clock_publish(f->dev);
}

/* Steps and slews reach the page at once; a slew does not break the line. */
static void
test_ptp(struct fix *f)
{
	for (unsigned i = 0; i < 8; i++) {
		const struct emu_clock_plan plan = {.hz = frequencies[i % 4], .old_kernel = i >= 4};
		struct emu_clock *c = &f->dev->clock;
		const struct page *p = page_of(f);
		uint64_t now, ns, sign, later;
		double rate;

		ptp_restart(f, &plan);
		emu_time_pass(3 * S + 123);
		now = emu_clock_cycles(c);
		ns = by_page(f, now);
		CHECK_EQ(ns, emu_clock_ptp_ns(c, now));
		sign = p->sign;
		emu_clock_step(f->dev, -1234567890);
		CHECK_EQ(p->sign, sign + 2);
		CHECK_EQ(by_page(f, now), ns - 1234567890);
		emu_clock_step(f->dev, 1234567890);
		CHECK_EQ(by_page(f, now), ns);
		emu_clock_slew(f->dev, -77777);
		CHECK_EQ(p->sign, sign + 6);
		CHECK_EQ(by_page(f, now), ns);
		later = now + c->hz;
		rate = (double)(by_page(f, later) - ns) - 1e9;
		/* To a step of the multiplier, 37 ppb with the old scale at 1 GHz x 8. */
		CHECK(fabs(rate + 77777) < (plan.old_kernel ? 250 : 3));
		emu_clock_slew(f->dev, 0);
		CHECK_EQ(p->mult, c->nominal_mult);
	}
}

/* Hours pass: the page is refreshed when due, and the line stays the line, also across the wrap. */
static void
test_refresh(struct fix *f)
{
	const struct emu_clock_plan plan = {.hz = 1000000000, .start = EMU_CLOCK_START_WRAP};
	const struct page *p = page_of(f);
	struct emu_clock *c = &f->dev->clock, first;
	uint32_t sign;

	ptp_restart(f, &plan);
	first = *c;
	for (unsigned i = 0; i < 2000; i++) {
		uint64_t now;

		sign = p->sign;
		emu_time_pass(4295 * 1000000ull);
		emu_clock_tick(f->dev);
		CHECK_EQ(p->sign, sign + 2);
		now = emu_clock_cycles(c);
		CHECK_EQ(by_page(f, now), emu_clock_ptp_ns(&first, now));
		emu_clock_tick(f->dev);
		CHECK_EQ(p->sign, sign + 2);
	}
	/* 2000 x 4.295 s: more than three wraps of the mask. */
	CHECK(emu_clock_cycles(c) - first.anchor_cycles > 3 * c->mask);
}

static void
rule(const char *text)
{
	char err[200] = "";

	emu_fault_clear();
	if (text != NULL)
		CHECK(emu_fault_add(text, err, sizeof(err)) == 0, "%s", err);
}

/* Rules hit refreshes and what PTP does; the kernel's own clock goes on. */
static void
test_faults(struct fix *f)
{
	static const struct emu_clock_plan usual;
	const struct page *p = page_of(f);
	struct emu_clock *c = &f->dev->clock;
	struct page before;

	ptp_restart(f, &usual);
	rule("on clock.page do freeze");
	memcpy(&before, page_of(f), sizeof(before));
	for (unsigned i = 0; i < 100; i++) {
		emu_time_pass(10 * S);
		emu_clock_tick(f->dev);
	}
	emu_clock_step(f->dev, 5 * (int64_t)S);
	CHECK(memcmp(&before, page_of(f), sizeof(before)) == 0);
	rule(NULL);
	emu_clock_publish(f->dev);
	CHECK_EQ(p->nsec, emu_clock_ptp_ns(c, emu_clock_cycles(c)));
	rule("on clock.page count 2 do tear");
	for (unsigned i = 0; i < 3; i++) {
		/* Without a rule the page waits for the kernel's own refresh. */
		emu_time_pass(i < 2 ? 1000001 : 20 * S);
		emu_clock_tick(f->dev);
		CHECK_EQ(p->sign & 1, i < 2);
	}
	rule("on clock.page do flip");
	before = *p;
	emu_time_pass(1000001);
	emu_clock_tick(f->dev);
	CHECK(p->sign != before.sign && (p->sign & 1) == 0);
	CHECK_EQ(p->nsec, before.nsec);
	rule("on clock.page count 1 do jump ns=-1000000000");
	before = *p;
	emu_time_pass(1000001);
	emu_clock_tick(f->dev);
	CHECK(p->nsec < before.nsec);
	rule(NULL);
}

static bool
sq_taken(struct fix *f, unsigned format, uint32_t cqn, uint32_t tisn)
{
	struct prm_create_sq_in in;
	uint32_t syndrome;

	fix_sq_in(f, &in, cqn, tisn);
	prm_sqc_set_ts_format(prm_create_sq_in_ctx(&in), format);
	syndrome = fix_exec(f, &in, sizeof(in));
	CHECK(syndrome == 0 || format > PRM_TS_FORMAT_REAL_TIME ||
	      syndrome == fix_code(FW_TS_FORMAT));
	return syndrome == 0;
}

/* The time stamp formats of a card, its capabilities, and the stamps of a queue. */
static void
test_formats(struct fix *f)
{
	static const struct {
		enum emu_clock_format format;
		bool free, real, usual_is_real;
	} rows[] = {{EMU_CLOCK_FREE, true, false, false},
		    {EMU_CLOCK_BOTH, true, true, true},
		    {EMU_CLOCK_REALTIME, false, true, true}};
	uint32_t cqn = fix_cq(f), tisn = fix_tis(f);

	for (unsigned i = 0; i < 3; i++) {
		const struct emu_clock_plan plan = {.format = rows[i].format};
		struct prm_query_hca_cap_in in = {0};
		const struct prm_cmd_hca_cap *cap = (const void *)&f->out[4];

		ptp_restart(f, &plan);
		CHECK_EQ(f->dev->clock.hz, i == 0 ? 156250000 : 1000000000);
		prm_query_hca_cap_in_set_opcode(&in, PRM_CMD_OP_QUERY_HCA_CAP);
		prm_query_hca_cap_in_set_op_mod(&in, 1);
		CHECK_EQ(fix_exec(f, &in, sizeof(in)), 0);
		CHECK_EQ(prm_cmd_hca_cap_get_rq_ts_format(cap), rows[i].format);
		CHECK_EQ(prm_cmd_hca_cap_get_sq_ts_format(cap), rows[i].format);
		CHECK_EQ(prm_cmd_hca_cap_get_device_frequency_khz(cap), f->dev->clock.hz / 1000);
		CHECK_EQ(sq_taken(f, PRM_TS_FORMAT_FREE_RUNNING, cqn, tisn), rows[i].free);
		CHECK_EQ(sq_taken(f, PRM_TS_FORMAT_REAL_TIME, cqn, tisn), rows[i].real);
		CHECK_EQ(sq_taken(f, PRM_TS_FORMAT_DEFAULT, cqn, tisn), true);
		CHECK_EQ(((struct emu_sq *)f->created)->real_time, rows[i].usual_is_real);
		CHECK_EQ(sq_taken(f, 3, cqn, tisn), false);
	}
}

/* The card's own clock beside the counter: set by the kernel, moved by PTP, good beyond 2038. */
static void
test_real(struct fix *f)
{
	const struct emu_clock_plan plan = {.hz = 312500000, .format = EMU_CLOCK_BOTH};
	struct emu_clock *c = &f->dev->clock;
	uint64_t utc, at;

	ptp_restart(f, &plan);
	utc = emu_time_utc(emu_mono_ns());
	emu_clock_tick(f->dev);
	CHECK_EQ(be64_at(f, 0), emu_clock_cycles(c));
	CHECK_EQ(be64_at(f, 0x40), (utc / S) << 32 | utc % S);
	emu_time_pass(S);
	emu_clock_step(f->dev, 3 * (int64_t)S + 5);
	emu_clock_tick(f->dev);
	CHECK_EQ(be64_at(f, 0x40) >> 32, utc / S + 4);
	at = emu_clock_cycles(c);
	utc = emu_clock_real_ns(c, at);
	emu_clock_slew(f->dev, 100000);
	CHECK_EQ(emu_clock_real_ns(c, at), utc);
	/* An instant just before the change is before it. */
	CHECK(emu_clock_real_ns(c, at - 1) < utc && emu_clock_real_ns(c, at - 1) >= utc - 4);
	CHECK_EQ(emu_clock_real_ns(c, at + c->hz), utc + S + 100000);
	emu_time_pass(20 * YEAR_S * S);
	emu_clock_tick(f->dev);
	CHECK(be64_at(f, 0x40) >> 32 > INT32_MAX);
	CHECK_EQ(be64_at(f, 0x40), emu_clock_pack(emu_clock_real_ns(c, emu_clock_cycles(c))));
	/* In free-running mode again the register reads 0. */
	CHECK_EQ(emu_clock_pack(1999999999), 1ull << 32 | 999999999);
}

int
main(void)
{
	static struct fix f;

	emu_time_virtual();
	test_drift();
	test_changes();
	test_wander();
	test_start();
	test_plan();
	fix_open(&f);
	test_ptp(&f);
	test_refresh(&f);
	test_faults(&f);
	test_formats(&f);
	test_real(&f);
	fix_close(&f);
	return fix_result("clock_time");
}
