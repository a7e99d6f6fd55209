/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* How exact a settled clock is on a bus without jitter, by means over a minute; what widens its uncertainty. */

#include <errno.h>
#include <math.h>
#include <string.h>

#include "sim.h"

#define GHZ 1000000000u
#define SETTLED_US 100000
/* 600 refreshes: a minute. */
#define REFRESHES 600

/** Opens a clock of a counter of 1 GHz, 20 ppm too fast, on a bus whose brackets are 600 ns wide. */
static void
exact_open(struct rig *r, enum mdv_clock_source source, uint64_t hz, uint64_t seed)
{
	rig_init(r, seed);
	sim_set_rate(&r->s, &r->s.counter, hz * (1 + 20e-6));
	r->s.jitter = SIM_EXACT;
	r->s.utc_ret = source == MDV_CLOCK_REALTIME ? 0 : -ENOTSUP;
	sim_set_rate(&r->s, &r->s.utc, MDV_NS_PER_S * (1 - 3e-6));
	sim_page_init(&r->s, hz, false, SIM_EPOCH_NS);
	CHECK(rig_open(r, source, true, true, (uint32_t)(hz / 1000)) == 0);
	rig_run(r, 20);
}

/** The rates, as means over a minute, are those of the clocks, within 0.4 ppb. */
static void
test_rates(void)
{
	static const struct {
		enum mdv_clock_source source;
		double drift_ppm;
	} rows[] = {
		{ MDV_CLOCK_HOST, 20 }, { MDV_CLOCK_RAW, 20 }, { MDV_CLOCK_REALTIME, -3 }, { MDV_CLOCK_PAGE, 20 },
	};
	struct rig r;

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		double drift_ppm = 0, hz = 0;

		exact_open(&r, rows[i].source, GHZ, 200 + i);
		for (unsigned int n = 0; n < REFRESHES; n++) {
			rig_run(&r, 0.1);
			drift_ppm += r.state.drift_ppm / REFRESHES;
			hz += (double)r.state.frequency_hz / REFRESHES;
		}
		printf("%-9s drift %.6f ppm, counter %.3f Hz\n", mdv_clock_source_name(rows[i].source), drift_ppm, hz);
		CHECK(fabs(drift_ppm - rows[i].drift_ppm) < 0.0004);
		CHECK(fabs(hz - GHZ * (1 + 20e-6)) < 0.4);
		mdv_clock_close(r.clock);
	}
}

/** A stamp of a counter of 1 MHz is converted to a time within its tick. */
static void
test_ticks(void)
{
	double first = INFINITY, last = -INFINITY, error;
	struct rig r;

	exact_open(&r, MDV_CLOCK_HOST, 1000000, 210);
	for (unsigned int n = 0; n < REFRESHES; n++) {
		rig_run(&r, 0.1);
		for (unsigned int i = 0; i < 20; i++) {
			sim_pass_ns(&r.s, 1e3 * sim_uniform(&r.s));
			error = rig_stamp_error(&r);
			first = fmin(first, error);
			last = fmax(last, error);
		}
	}
	printf("1 MHz: from %.0f to %.0f ns after the packet\n", first, last);
	CHECK(first > -1150 && last < 150);
	mdv_clock_close(r.clock);
}

/** A residual that is no outlier is part of the uncertainty, of the counter's clock and of the host's, and fades. */
static void
test_residual(void)
{
	uint64_t unsure, after;
	struct rig r;

	for (int counter = 0; counter < 2; counter++) {
		exact_open(&r, MDV_CLOCK_HOST, GHZ, 220 + counter);
		unsure = r.state.uncertainty_ns;
		sim_step(&r.s, counter ? &r.s.counter : &r.s.wall, 13);
		sim_pass_ns(&r.s, 1e8);
		CHECK(mdv_clock_refresh(r.clock, &r.state) == 0 && r.state.rejected == 0 && r.state.slews == 0);
		after = r.state.uncertainty_ns;
		printf("residual of 13 ns: uncertainty %llu, then %llu ns\n", (unsigned long long)unsure,
		       (unsigned long long)after);
		CHECK(after >= unsure + 5 && after <= unsure + 20);
		rig_run(&r, 5);
		CHECK(r.state.uncertainty_ns < after);
		mdv_clock_close(r.clock);
	}
}

/**
 * All replies of the device take 4 us longer for a time: a reading is no outlier if it is off by less than its
 * bracket allows, and moves the clock little.
 */
static void
test_wide_brackets(void)
{
	uint64_t unsure;
	double sum = 0;
	struct rig r;

	exact_open(&r, MDV_CLOCK_HOST, GHZ, 230);
	unsure = r.state.uncertainty_ns;
	r.s.reply_ns = 4000;
	for (unsigned int n = 0; n < 10; n++) {
		sim_pass_ns(&r.s, 1e8);
		CHECK(mdv_clock_refresh(r.clock, &r.state) == 0 && r.state.rejected == 0);
		CHECK(fabs(rig_stamp_error(&r)) < 60 && r.state.uncertainty_ns > unsure + 1500);
	}
	r.s.reply_ns = 0;
	rig_run(&r, 10);
	printf("wide brackets: uncertainty %llu, then %llu ns\n", (unsigned long long)unsure,
	       (unsigned long long)r.state.uncertainty_ns);
	CHECK(r.state.rejected == 0 && r.state.uncertainty_ns < unsure + 10);
	/* While brackets stay wide, the excess of 2 us counts as the limit of a uniform distribution. */
	r.s.reply_ns = 4000;
	for (unsigned int n = 0; n < REFRESHES; n++) {
		rig_run(&r, 0.1);
		sum += (double)r.state.uncertainty_ns / REFRESHES;
	}
	printf("wide for a minute: uncertainty %.0f ns\n", sum);
	CHECK(fabs(sum - 2630) < 9);
	mdv_clock_close(r.clock);
}

/** CLOCK_REALTIME is not known at first: no frequency by its first readings, which have no rate yet. */
static void
test_late_wall(void)
{
	uint64_t frequency_hz;
	struct rig r;

	rig_init(&r, 240);
	r.s.wall_ret = -EIO;
	CHECK(rig_open(&r, MDV_CLOCK_RAW, true, false, RIG_HZ / 1000) == 0);
	rig_run(&r, 4);
	r.s.wall_ret = 0;
	frequency_hz = r.state.frequency_hz;
	CHECK(mdv_clock_refresh(r.clock, &r.state) == 0 && r.state.frequency_hz == frequency_hz);
	/* The second reading is 80 ns off some 20 us after the first one. */
	sim_step(&r.s, &r.s.wall, 80);
	CHECK(mdv_clock_refresh(r.clock, &r.state) == 0 && r.state.frequency_hz == frequency_hz);
	rig_run(&r, 4);
	CHECK(fabs((double)r.state.frequency_hz / (RIG_HZ * (1 + 20e-6)) - 1) < 1e-6);
	mdv_clock_close(r.clock);
}

/** Whether a step of the device's real-time clock is reported, after a residual of some ns that is no outlier. */
static bool
step_reported(int64_t residual, int64_t step)
{
	struct rig r;

	exact_open(&r, MDV_CLOCK_REALTIME, GHZ, 260);
	sim_pass_ns(&r.s, 1e8);
	sim_step(&r.s, &r.s.utc, residual);
	CHECK(mdv_clock_refresh(r.clock, &r.state) == 0 && r.state.rejected == 0);
	sim_step(&r.s, &r.s.utc, step);
	rig_run(&r, 1);
	CHECK(r.state.rejected == 4);
	mdv_clock_close(r.clock);
	return r.state.steps != 0;
}

/** Smallest step that is reported, ns. */
static int64_t
smallest_step(int64_t residual)
{
	int64_t low = 200, high = 1000;

	CHECK(!step_reported(residual, low) && step_reported(residual, high));
	while (high - low > 1) {
		int64_t middle = (low + high) / 2;

		*(step_reported(residual, middle) ? &high : &low) = middle;
	}
	return high;
}

/** With source realtime a step is reported if it exceeds what the last readings leave uncertain. */
static void
test_smallest_step(void)
{
	int64_t none = smallest_step(0), after = smallest_step(12);

	printf("smallest step %lld ns, after a residual of 12 ns %lld ns\n", (long long)none, (long long)after);
	CHECK(after >= none + 6 && after <= none + 30);
}

/** What a refresh costs: few readings of CLOCK_REALTIME, and the period of a settled clock at most. */
static void
test_cost(void)
{
	uint64_t reads;
	struct rig r;

	exact_open(&r, MDV_CLOCK_HOST, GHZ, 250);
	reads = r.s.wall_reads;
	CHECK(mdv_clock_refresh(r.clock, &r.state) == 0 && r.s.wall_reads - reads == 9);
	mdv_clock_close(r.clock);
	/* The counter is updated every 60 us: a refresh waits for four updates, 1/500 of the time would be more. */
	rig_init(&r, 251);
	r.s.jitter = SIM_EXACT;
	r.s.page_step_ps = 60000000;
	CHECK(rig_open(&r, MDV_CLOCK_HOST, true, false, RIG_HZ / 1000) == 0);
	CHECK(r.state.next_us == SETTLED_US);
	mdv_clock_close(r.clock);
}

void
test_accuracy(void)
{
	test_rates();
	test_ticks();
	test_residual();
	test_wide_brackets();
	test_late_wall();
	test_smallest_step();
	test_cost();
}
