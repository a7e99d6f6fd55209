/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* The estimator of a clock against least squares, and what is made of a series of readings, scripted ones. */

#include <errno.h>
#include <math.h>
#include <string.h>

#include "sim.h"

#define TSC_HZ 1000000000.0
#define Y_HZ 500000000.0
#define STEP_TICKS 100000000u /* 0.1 s */
#define RATE_UNKNOWN2 (MDV_CLOCK_RATE_UNKNOWN_PPB * MDV_CLOCK_RATE_UNKNOWN_PPB)

static bool
near(double is, double expected)
{
	return fabs(is - expected) <= 1e-6 * fabs(expected) + 1e-9;
}

static bool
is_fraction(double part)
{
	return part >= 0 && part < 1;
}

/* ------------------------------------------------------------------ the estimator */

/** n readings without error, of a clock whose rate is nominal. */
static uint64_t
run_exact(struct mdv_clock_track *t, unsigned int n, double wander, double variance)
{
	uint64_t tsc = 1000;

	mdv_clock_track_init(t, TSC_HZ, Y_HZ, wander, 5);
	for (unsigned int i = 0; i < n; i++) {
		tsc = 1000 + i * (uint64_t)STEP_TICKS;
		CHECK(mdv_clock_track_fix(t, tsc, 77 + i * (uint64_t)STEP_TICKS / 2, 0.25, variance) ==
		      (i == 0 ? MDV_FIX_MOVED : MDV_FIX_TAKEN));
		CHECK(is_fraction(t->part) && t->residual == 0 && t->excess == 0 && t->off == 0);
	}
	return tsc;
}

/** Without wander, the variances are those of a line fitted by least squares, with the prior of the rate. */
static void
test_fit(void)
{
	const double variance = 2500;
	double n = 0, s = 0, ss = 1 / RATE_UNKNOWN2, det, part;
	struct mdv_clock_track t;
	uint64_t tsc = run_exact(&t, 20, 0, variance);

	for (int i = 0; i < 20; i++) {
		double at = (i - 19) * 0.1;

		n += 1 / variance;
		s += at / variance;
		ss += at * at / variance;
	}
	det = n * ss - s * s;
	CHECK(near(t.pp, ss / det) && near(t.pr, -s / det) && near(t.rr, n / det), "%g %g %g", t.pp, t.pr, t.rr);
	CHECK(near(mdv_clock_track_variance(&t, 3), t.pp + 6 * t.pr + 9 * t.rr));
	CHECK(mdv_clock_track_at(&t, tsc + 5, &part) == t.y + 2 && near(part, 0.75));
	CHECK(near(mdv_clock_track_residual(&t, tsc + 5, t.y + 4), 2.5));
}

/** Process noise of a second is the same in one step and in many; a reading of infinite variance adds nothing. */
static void
test_wander(void)
{
	struct mdv_clock_track one, many;
	uint64_t tsc = run_exact(&one, 20, 3, 2500);
	double ahead = mdv_clock_track_variance(&one, 1);

	many = one;
	mdv_clock_track_fix(&one, tsc + 10 * STEP_TICKS, one.y + 5 * STEP_TICKS, 0.25, 1e30);
	for (unsigned int i = 1; i <= 10; i++)
		mdv_clock_track_fix(&many, tsc + i * STEP_TICKS, many.y + STEP_TICKS / 2, 0.25, 1e30);
	CHECK(near(one.pp, many.pp) && near(one.pr, many.pr) && near(one.rr, many.rr));
	CHECK(near(one.pp, ahead));
	mdv_clock_track_init(&one, TSC_HZ, Y_HZ, 3, 5);
	mdv_clock_track_fix(&one, 1000, 77, 1.75, 4);
	CHECK(one.y == 78 && near(one.part, 0.75));
	CHECK(near(mdv_clock_track_variance(&one, 2), 4 + 4 * RATE_UNKNOWN2 + 9 * 8 / 3.0));
}

/** A reading that is off by some ns from the estimate. */
static enum mdv_clock_fix
fix_off(struct mdv_clock_track *t, uint64_t tsc, double ns, double variance)
{
	double part, units;
	uint64_t y = mdv_clock_track_at(t, tsc, &part);

	part += ns * Y_HZ * 1e-9;
	units = floor(part);
	return mdv_clock_track_fix(t, tsc, y + (uint64_t)(int64_t)units, part - units, variance);
}

/** A step: the fifth reading in a row is accepted, and the rate becomes uncertain by what the step may be due to. */
static void
test_confirm(void)
{
	struct mdv_clock_track t;
	uint64_t tsc = run_exact(&t, 20, 0, 2500);
	double rr;

	for (int round = 0; round < 3; round++) {
		/* Four outliers, and one reading that is none: they do not add up. */
		for (int i = 1; i <= 5; i++) {
			tsc += STEP_TICKS;
			CHECK(fix_off(&t, tsc, i < 5 ? 1e5 : 0, 2500) == (i < 5 ? MDV_FIX_REJECTED : MDV_FIX_TAKEN));
			t.excess = 0;
		}
	}
	rr = t.rr;
	t.trend = 1;
	for (int i = 1; i <= 5; i++) {
		tsc += STEP_TICKS;
		CHECK(fix_off(&t, tsc, 1e5, 2500) == (i < 5 ? MDV_FIX_REJECTED : MDV_FIX_MOVED));
	}
	/* 100 us in the 0.5 s since the last good reading. */
	CHECK(near(t.rr, rr + 2e5 * 2e5), "%g", t.rr);
	CHECK(t.pp == 2500 && t.pr == 0 && t.trend == 0 && t.residual == 0 && t.nis == 1 && t.off == 0);
	CHECK(is_fraction(t.part) && t.tsc == tsc && t.outliers == 0);
	/* Again, with five outliers after a step. */
	t.excess = 0;
	t.rr = 1;
	for (int i = 1; i <= 5; i++) {
		tsc += STEP_TICKS;
		CHECK(fix_off(&t, tsc, -1e5, 2500) == (i < 5 ? MDV_FIX_REJECTED : MDV_FIX_MOVED));
	}
	CHECK(near(t.rr, 1 + 2e5 * 2e5), "%g", t.rr);
	/* At most the deviation of a rate that is unknown. */
	t.excess = 0;
	t.rr = 1;
	for (int i = 1; i <= 5; i++) {
		tsc += STEP_TICKS;
		fix_off(&t, tsc, 1e9, 2500);
	}
	CHECK(near(t.rr, 1 + RATE_UNKNOWN2), "%g", t.rr);
}

/** Residuals of one sign, each within the gate: the rate has changed. */
static void
test_turn(void)
{
	double pp, pr, rr, expected, residual, off;
	struct mdv_clock_track t;
	uint64_t tsc = run_exact(&t, 100, 0, 2500);

	for (int i = 1; i <= 3; i++) {
		struct mdv_clock_track before = t;

		tsc += STEP_TICKS;
		t.excess = 0;
		expected = sqrt(mdv_clock_track_variance(&t, 0.1) + 2500);
		residual = 4 * expected;
		CHECK(fix_off(&t, tsc, residual, 2500) == (i < 3 ? MDV_FIX_TAKEN : MDV_FIX_TURNED));
		CHECK(near(t.nis, before.nis + 0.05 * (16 - before.nis)), "%g", t.nis);
		CHECK(near(t.trend, i < 3 ? before.trend + 0.3 * (4 - before.trend) : 0), "%g", t.trend);
		CHECK(is_fraction(t.part));
		if (i < 3)
			continue;
		/* The change was one reading ago and explains the residual, gathered over three. */
		off = residual / 0.3;
		pp = mdv_clock_track_variance(&before, 0.1) + off * off * 0.01;
		pr = before.pr + 0.1 * before.rr + off * off * 0.1;
		rr = before.rr + off * off;
		CHECK(near(t.pp, pp - pp * pp / (pp + 2500)), "%g", t.pp);
		CHECK(near(t.pr, pr - pp * pr / (pp + 2500)), "%g", t.pr);
		CHECK(near(t.rr, rr - pr * pr / (pp + 2500)), "%g", t.rr);
	}
}

/** Readings that scatter more than their series show. */
static void
test_excess(void)
{
	struct mdv_clock_track t;
	uint64_t tsc = run_exact(&t, 20, 3, 100);

	CHECK(fix_off(&t, tsc + STEP_TICKS, 20, 100) == MDV_FIX_TAKEN);
	/* Half of the square of the change, less what the series shows. */
	CHECK(near(t.excess, 0.05 * (200 - 100)), "%g", t.excess);
	CHECK(near(t.residual, 20) && near(t.off, 20));
	tsc += STEP_TICKS;
	for (int i = 0; i < 400; i++) {
		double sign = i % 2 == 0 ? 1 : -1, part;
		uint64_t y = 77 + (uint64_t)((tsc += STEP_TICKS) - 1000) / 2;

		part = 0.25 + sign * 40 * Y_HZ * 1e-9;
		CHECK(mdv_clock_track_fix(&t, tsc, y + (uint64_t)(int64_t)floor(part), part - floor(part), 100) !=
		      MDV_FIX_MOVED);
	}
	/* Alternating residuals of 40 ns change by 80. */
	CHECK(t.excess > 2000 && t.excess < 3500, "%g", t.excess);
	CHECK(t.nis < 1.1);
}

/* ------------------------------------------------------------------ a series */

/** A clock that is read in 2 * half ns, with the value in the middle; TSC and clock have 1 ns per unit. */
struct script {
	const int *half, *off; /**< Of each reading after the first; off: error of the value. */
	unsigned int n, calls;
	uint64_t tsc, gap, period, phase; /**< period: the value changes so often only. */
	uint64_t mask;
};

static uint64_t
script_tsc(void *ctx)
{
	struct script *s = ctx;

	return s->tsc += s->gap;
}

static int
script_read(void *ctx, uint64_t *y)
{
	struct script *s = ctx;
	unsigned int i = s->calls++;

	if (s->period != 0) {
		*y = (s->tsc + s->phase) / s->period;
		return 0;
	}
	if (i == 0 || i > s->n) {
		*y = s->tsc & s->mask;
		return 0;
	}
	s->tsc += (uint64_t)s->half[i - 1];
	*y = (s->tsc + (uint64_t)(int64_t)s->off[i - 1]) & s->mask;
	s->tsc += (uint64_t)s->half[i - 1];
	return 0;
}

static int
script_take(struct script *s, const struct mdv_clock_track *set, unsigned int reads, struct mdv_clock_sample *sample)
{
	static const struct mdv_clock_ops ops = { .tsc = script_tsc };
	struct mdv_clock_track t;

	mdv_clock_track_init(&t, TSC_HZ, TSC_HZ, 0, 5);
	s->calls = 0;
	s->mask = (1ull << 41) - 1;
	return mdv_clock_sample_take(&ops, s, script_read, set != NULL ? set : &t, s->mask, reads, sample);
}

/** Error of a sample against the scripted clock, which is the TSC. */
static double
sample_error(const struct mdv_clock_sample *sample)
{
	return (double)(int64_t)(sample->y - sample->tsc) + sample->part;
}

static void
test_series(void)
{
	static const int zero[16], same[16] = { 50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50 };
	static const int last_tight[16] = { 50, 50, 50, 50, 50, 50, 50, 45, 50, 50, 50, 50, 50, 50, 50, 50 };
	static const int one_tight[8] = { 500, 500, 5, 500, 500, 500, 500, 500 };
	static const int first_tight[8] = { 5, 500, 500, 500, 500, 500, 500, 500 };
	/* Limit: 1.5 times the width of 102, and 20 ns. */
	static const int some[8] = { 87, 51, 86, 87, 87, 87, 87, 87 };
	/* The median is 7, the median deviation 4: the limit is 18.8 off it. */
	static const int off[16] = { 0, 2, 4, 6, 8, 10, 12, 26 };
	/* Wider than the first eight. */
	static const int halves[16] = { 50, 50, 50, 50, 50, 50, 50, 50, 90, 90, 90, 90, 90, 90, 90, 90 };
	struct script s = { .half = same, .off = zero, .n = 16, .tsc = 1000 };
	struct mdv_clock_sample sample;
	struct mdv_clock_track t;

	CHECK(script_take(&s, NULL, 8, &sample) == 0 && s.calls == 9);
	CHECK(sample.tsc == 1000 + 750 && near(sample_error(&sample), 0));
	CHECK(sample.half_ns == 50 && near(sample.variance, 9 + 1 / 12.0 / 4));
	s.half = one_tight;
	s.n = 8;
	CHECK(script_take(&s, NULL, 8, &sample) == 0 && sample.half_ns == 5);
	CHECK(near(sample.variance, 9 + 1 / 12.0 + 25 / 3.0));
	/* The first value is 0, as if it had been 0 before: the next one has no wider bracket. */
	s.half = first_tight;
	s.gap = 10;
	s.tsc = (3ull << 41) - 20;
	CHECK(script_take(&s, NULL, 8, &sample) == 0 && sample.half_ns == 10);
	s.gap = 0;
	s.tsc = 5000;
	s.half = some;
	CHECK(script_take(&s, NULL, 8, &sample) == 0 && sample.half_ns == 51);
	CHECK(near(sample.variance, 9 + 1 / 12.0 / 2 + 2601 / 3.0));
	s.half = halves;
	s.off = off;
	s.n = 16;
	CHECK(script_take(&s, NULL, 16, &sample) == 0);
	CHECK(near(sample.variance, 119 / 7.0 / 6 + 9 + 1 / 12.0 / 8), "%g", sample.variance);
	CHECK(near(sample_error(&sample), 6), "%g", sample_error(&sample));
	/* The counter wraps during the series, and the estimate has counted more. */
	s.half = same;
	s.off = zero;
	s.tsc = (3ull << 41) - 150;
	CHECK(script_take(&s, NULL, 8, &sample) == 0 && near(sample.variance, 9 + 1 / 12.0 / 4));
	s.half = last_tight;
	/* Before the tightest reading, which is the last one, and after it. */
	for (uint64_t before = 720; before <= 750; before += 30) {
		s.tsc = (3ull << 41) - before;
		CHECK(script_take(&s, NULL, 8, &sample) == 0 && near(sample.variance, 9 + 1 / 12.0 / 4));
		CHECK(near((double)sample.y + sample.part, (double)(sample.tsc & s.mask)) ||
		      near((double)sample.y + sample.part, (double)sample.tsc - (double)(s.mask + 1) * 3));
	}
	s.half = same;
	for (int ahead = -20; ahead <= 20; ahead += 10) {
		s.tsc = (3ull << 41) - 150;
		mdv_clock_track_init(&t, TSC_HZ, TSC_HZ, 0, 5);
		mdv_clock_track_fix(&t, s.tsc, s.tsc + (uint64_t)(int64_t)ahead, 0, 4);
		CHECK(script_take(&s, &t, 8, &sample) == 0);
		CHECK(near(sample_error(&sample), 0), "%d", ahead);
	}
}

/** A clock whose value changes every period ns, the first time after first ns; a reading takes 20 ns. */
static int
slow_take(uint64_t gap, double period, uint64_t first, unsigned int *calls, uint64_t *took)
{
	struct script s = { .tsc = 1000000000, .gap = gap, .period = (uint64_t)period };
	struct mdv_clock_sample sample;
	int ret;

	s.phase = s.period - (s.tsc + first) % s.period;
	ret = script_take(&s, NULL, 32, &sample);
	*calls = s.calls;
	*took = s.tsc - 1000000000;
	return ret;
}

static void
test_slow_clocks(void)
{
	unsigned int calls;
	uint64_t took;

	/* Ten equal values for each change: 64 of them are enough to know, and four changes to use. */
	CHECK(slow_take(10, 200, 100, &calls, &took) == 0 && calls == 72);
	/* The first change is waited for so long, and the fourth four times as long. */
	CHECK(slow_take(100, 290000, 290000, &calls, &took) == 0 && took == 1160100);
	CHECK(slow_take(100, 310000, 310000, &calls, &took) == -EAGAIN && took == 300300);
	CHECK(slow_take(100, 320000, 100000, &calls, &took) == 0 && took == 1060100);
	CHECK(slow_take(100, 380000, 100000, &calls, &took) == -EAGAIN && took == 1200300);
	/* Reads take no time: their number is limited. */
	CHECK(slow_take(5, 1e12, 500000, &calls, &took) == -EAGAIN && calls == 20000);
}

void
test_track(void)
{
	test_fit();
	test_wander();
	test_confirm();
	test_turn();
	test_excess();
	test_series();
	test_slow_clocks();
}
