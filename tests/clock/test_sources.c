/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Selection of the source, the values that a clock reports, and its behaviour after failures. */

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"

/* ------------------------------------------------------------------ auto */

enum page { NO_PAGE, UNTOUCHED, STEERED, BUSY };

static const struct choice {
	const char *name;
	bool free_running, realtime, counter_off;
	enum page page;
	int counter_ret, utc_ret, chosen; /**< chosen: a source, or a negative errno. */
	const char *because;
} choices[] = {
	{ "steered page", true, false, false, STEERED, 0, 0, MDV_CLOCK_PAGE,
	  "clock page: a servo disciplines" },
	{ "steered, real time", true, true, false, STEERED, 0, 0, MDV_CLOCK_REALTIME,
	  "clock realtime: a servo disciplines" },
	{ "untouched page", true, false, false, UNTOUCHED, 0, 0, MDV_CLOCK_HOST, "no servo" },
	{ "no page", true, false, false, NO_PAGE, 0, 0, MDV_CLOCK_HOST, "no clock page" },
	{ "busy page", true, false, false, BUSY, 0, 0, MDV_CLOCK_HOST, "no clock page" },
	{ "no counter", true, false, false, UNTOUCHED, -ENOTSUP, 0, MDV_CLOCK_PAGE,
	  "source host failed" },
	{ "counter of another rate", true, false, true, UNTOUCHED, 0, 0, MDV_CLOCK_PAGE,
	  "source host failed" },
	{ "no counter, real time", true, true, false, UNTOUCHED, -ENOTSUP, 0, MDV_CLOCK_REALTIME,
	  "source host failed" },
	{ "real time only", false, true, false, STEERED, 0, 0, MDV_CLOCK_REALTIME, "only timestamp format" },
	{ "nothing", true, false, false, NO_PAGE, -ENOTSUP, -ENOTSUP, -ENOTSUP, "no clock" },
	{ "no timestamps", false, false, false, STEERED, 0, 0, -ENOTSUP, "no clock" },
};

static void
test_auto(void)
{
	struct rig r;

	for (unsigned int i = 0; i < sizeof(choices) / sizeof(choices[0]); i++) {
		const struct choice *c = &choices[i];
		int ret;

		rig_init(&r, 100 + i);
		if (c->page != NO_PAGE)
			sim_page_init(&r.s, RIG_HZ, false, SIM_EPOCH_NS);
		if (c->page == STEERED)
			r.s.point.mult += 12345;
		if (c->page == BUSY)
			r.s.page_ret = -EAGAIN;
		if (c->counter_off)
			sim_set_rate(&r.s, &r.s.counter, RIG_HZ / 1000.0);
		r.s.counter_ret = c->counter_ret;
		r.s.utc_ret = c->utc_ret;
		ret = rig_open(&r, MDV_CLOCK_AUTO, c->free_running, c->realtime, RIG_HZ / 1000);
		printf("%-26s %s\n", c->name, r.why);
		CHECK((ret != 0 ? ret : (int)r.state.source) == c->chosen);
		CHECK(strstr(r.why, c->because) != NULL);
		mdv_clock_close(r.clock);
	}
}

/* Calibration fails while the clock is opened on a busy machine, and no other source is available. */
static void
test_host_only_late(void)
{
	struct rig r;

	rig_init(&r, 7);
	r.s.still_until_ps = r.s.now_ps + 40 * 1000000000ll;
	CHECK(rig_open(&r, MDV_CLOCK_AUTO, true, false, RIG_HZ / 1000) == 0);
	CHECK(r.state.source == MDV_CLOCK_HOST && strstr(r.why, "clock host: there is no clock page") != NULL);
	mdv_clock_close(r.clock);
}

static void
test_requested(void)
{
	struct rig r;

	rig_init(&r, 1);
	CHECK(rig_open(&r, MDV_CLOCK_PAGE, true, true, RIG_HZ / 1000) == -ENOTSUP);
	CHECK(rig_open(&r, MDV_CLOCK_REALTIME, true, false, RIG_HZ / 1000) == -ENOTSUP);
	CHECK(rig_open(&r, MDV_CLOCK_HOST, false, true, RIG_HZ / 1000) == -ENOTSUP);
	CHECK(rig_open(&r, MDV_CLOCK_RAW, false, true, RIG_HZ / 1000) == -ENOTSUP);
	CHECK(rig_open(&r, (enum mdv_clock_source)17, true, true, RIG_HZ / 1000) == -EINVAL);
	sim_page_init(&r.s, RIG_HZ, false, SIM_EPOCH_NS);
	r.s.page_ret = -EAGAIN;
	CHECK(rig_open(&r, MDV_CLOCK_PAGE, true, true, RIG_HZ / 1000) == -EAGAIN);
	r.s.counter_still = true;
	CHECK(rig_open(&r, MDV_CLOCK_HOST, true, true, RIG_HZ / 1000) == -ENODATA);
	CHECK(strcmp(mdv_clock_source_name(MDV_CLOCK_HOST), "host") == 0);
	CHECK(rig_open(&r, (enum mdv_clock_source)(MDV_CLOCK_RAW + 1), true, true, RIG_HZ / 1000) == -EINVAL);
	CHECK(mdv_clock_source_name((enum mdv_clock_source)-1) == NULL);
	CHECK(mdv_clock_source_name((enum mdv_clock_source)(MDV_CLOCK_RAW + 1)) == NULL);
	CHECK(strcmp(mdv_clock_quality_name(MDV_CLOCK_BROKEN), "broken") == 0);
	CHECK(mdv_clock_quality_name((enum mdv_clock_quality)4) == NULL);
	mdv_clock_close(NULL);
}

/* ------------------------------------------------------------------ the line from the TSC */

/** Largest error of the line from the TSC one second after settling, at several times between refreshes. */
static double
worst_host_error(struct rig *r, struct sim_run *truth)
{
	double worst = 0;

	rig_run(r, 3.5);
	for (int i = 0; i < 200; i++) {
		uint64_t whole;
		double part;

		sim_pass_ns(&r->s, r->state.next_us * 500.0 * sim_uniform(&r->s));
		part = sim_fraction(&r->s, truth, r->s.now_ps, &whole);
		worst = fmax(worst, fabs(rig_tsc_error(r, whole, part)));
		CHECK(!isnan(rig_tsc_error(r, whole, part)));
		if (i % 4 == 0)
			mdv_clock_refresh(r->clock, &r->state);
	}
	return worst;
}

static void
test_by_tsc(void)
{
	struct rig r;
	double worst;

	rig_init(&r, 2);
	CHECK(rig_open(&r, MDV_CLOCK_HOST, true, false, RIG_HZ / 1000) == 0);
	worst = worst_host_error(&r, &r.s.wall);
	printf("by the TSC: host within %.1f ns", worst);
	CHECK(worst < 50);
	mdv_clock_close(r.clock);

	rig_init(&r, 3);
	CHECK(rig_open(&r, MDV_CLOCK_RAW, true, false, RIG_HZ / 1000) == 0);
	worst = worst_host_error(&r, &r.s.counter);
	printf(", raw %.1f ticks", worst);
	CHECK(worst < 20);
	CHECK(strcmp(r.state.unit, "ticks") == 0 && r.state.line.mult == 0);
	CHECK(fabs((double)r.state.frequency_hz - RIG_HZ * (1 + 20e-6)) < 100);
	mdv_clock_close(r.clock);

	rig_init(&r, 4);
	r.s.utc_ret = 0;
	sim_set_rate(&r.s, &r.s.utc, MDV_NS_PER_S * (1 - 3e-6));
	CHECK(rig_open(&r, MDV_CLOCK_REALTIME, true, true, RIG_HZ / 1000) == 0);
	worst = worst_host_error(&r, &r.s.utc);
	printf(", realtime %.1f ns", worst);
	CHECK(worst < 100);
	CHECK(r.state.quality == MDV_CLOCK_GOOD && strcmp(r.state.epoch, "utc") == 0);
	CHECK(fabs(r.state.drift_ppm + 3) < 0.3);
	CHECK(llabs(r.state.offset_ns) < 100000);
	mdv_clock_close(r.clock);

	/* The page counts 20 ppm too fast with the counter, and so must the line. */
	rig_init(&r, 5);
	sim_page_init(&r.s, RIG_HZ, false, SIM_EPOCH_NS + 37ull * MDV_NS_PER_S);
	CHECK(rig_open(&r, MDV_CLOCK_PAGE, true, false, RIG_HZ / 1000) == 0);
	rig_run(&r, 3.5);
	sim_pass_ns(&r.s, 50e6);
	worst = fabs(rig_tsc_error(&r, sim_page_time(&r.s.point,
				(int64_t)(sim_read(&r.s, &r.s.counter, r.s.now_ps) -
					  r.s.point_ticks)), 0));
	printf(", page %.1f ns\n", worst);
	CHECK(worst < 50);
	CHECK(fabs(r.state.drift_ppm - 20) < 0.5 && strcmp(r.state.epoch, "tai") == 0);
	CHECK(r.state.quality == MDV_CLOCK_UNSYNCED);
	r.s.point.mult += 17;
	sim_page_advance(&r.s);
	rig_run(&r, 0.5);
	CHECK(r.state.quality == MDV_CLOCK_GOOD);
	mdv_clock_close(r.clock);
}

/* ------------------------------------------------------------------ the page and its servo */

static bool
page_open(struct rig *r, uint64_t seed, bool old_kernel, unsigned int off_nominal)
{
	rig_init(r, seed);
	sim_page_init(&r->s, RIG_HZ, old_kernel, SIM_EPOCH_NS);
	r->s.point.mult += off_nominal;
	return rig_open(r, MDV_CLOCK_PAGE, true, false, RIG_HZ / 1000) == 0;
}

/** Runs for some seconds, with a change of the page in each. */
static void
page_run(struct rig *r, unsigned int seconds, void (*each)(struct sim *s))
{
	for (unsigned int i = 0; i < seconds; i++) {
		rig_run(r, 1);
		each(&r->s);
	}
	mdv_clock_refresh(r->clock, &r->state);
}

/** The kernel without a servo: moves its point only when it is due. */
static void
kernel_only(struct sim *s)
{
	int64_t due = (int64_t)(sim_page_period_ns(s) / MDV_NS_PER_S);

	if (s->now_ps / 1000000000000 % due == 0)
		sim_page_advance(s);
}

/** Wander of the host's clock and of the counter's oscillator is no change of the page. */
static void
test_page_without_servo(void)
{
	struct rig r;

	CHECK(page_open(&r, 50, false, 0));
	for (int i = 1; i <= 10; i++) {
		sim_set_rate(&r.s, &r.s.wall, MDV_NS_PER_S * (1 + (i % 2) * 1.28e-7));
		sim_set_rate(&r.s, &r.s.counter, RIG_HZ * (1 + (i / 2 % 2) * 2e-7));
		page_run(&r, 10, kernel_only);
		CHECK(r.state.slews == 0 && r.state.quality == MDV_CLOCK_UNSYNCED);
	}
	CHECK(r.state.steps == 0 && r.state.failed == 0);
	mdv_clock_close(r.clock);
}

static void
steer(struct sim *s)
{
	sim_page_advance(s);
	s->point.mult += sim_random(s) % 2 ? 3 : -3;
}

/** A servo is seen while it corrects, even by less than mult can show, and not after it has ended. */
static void
test_servo_ends(void)
{
	struct rig r;

	for (int old_kernel = 0; old_kernel < 2; old_kernel++) {
		CHECK(page_open(&r, 51 + old_kernel, old_kernel, 0));
		page_run(&r, 30, steer);
		CHECK(r.state.quality == MDV_CLOCK_GOOD && r.state.slews > 25);
		page_run(&r, 90, kernel_only);
		CHECK(r.state.quality == MDV_CLOCK_GOOD);
		page_run(&r, 600, kernel_only);
		CHECK(r.state.quality == MDV_CLOCK_UNSYNCED);
		page_run(&r, 300, sim_page_advance);
		CHECK(r.state.quality == MDV_CLOCK_GOOD && r.state.steps == 0);
		page_run(&r, 300, kernel_only);
		CHECK(r.state.quality == MDV_CLOCK_UNSYNCED);
		mdv_clock_close(r.clock);
	}
	/* A rate left by an earlier servo: detected two minutes after the clock was opened. */
	CHECK(page_open(&r, 53, false, 12345) && r.state.quality == MDV_CLOCK_GOOD);
	page_run(&r, 300, kernel_only);
	CHECK(r.state.quality == MDV_CLOCK_UNSYNCED && r.state.slews == 0);
	/* The first correction after a long time. */
	steer(&r.s);
	rig_run(&r, 0.2);
	CHECK(r.state.quality == MDV_CLOCK_GOOD && r.state.slews == 1);
	mdv_clock_close(r.clock);
}

static double
page_error(const struct rig *r)
{
	uint64_t ticks = sim_read(&r->s, &r->s.counter, r->s.now_ps);

	return rig_tsc_error(r, sim_page_time(&r->s.point, (int64_t)(ticks - r->s.point_ticks)), 0);
}

/** The line from the TSC steps together with timestamps, even while readings of the counter are rejected. */
static void
test_page_steps(void)
{
	struct rig r;

	CHECK(page_open(&r, 54, false, 0));
	rig_run(&r, 3.5);
	r.s.counter_still = true;
	r.s.still = sim_read(&r.s, &r.s.counter, r.s.now_ps);
	sim_page_advance(&r.s);
	r.s.point.ns += MDV_NS_PER_S;
	rig_run(&r, 0.1);
	CHECK(r.state.steps == 1 && r.state.rejected > 0 && fabs(page_error(&r)) < 50);
	r.s.counter_still = false;
	rig_run(&r, 1);
	r.s.counter_ret = -EIO;
	rig_run(&r, 0.1);
	CHECK(rig_usable(&r) && r.state.line.mult != 0 && r.state.host.mult == 0);
	r.s.counter_ret = 0;
	rig_run(&r, 0.1);
	CHECK(fabs(page_error(&r)) < 50 && r.state.steps == 1);
	mdv_clock_close(r.clock);
}

/**
 * Sets the page so that its line is some ns above the old one, and a thousandth, at a number of ticks ago, and so that
 * the distance grows by some ns in as many ticks.
 */
static void
page_bend(struct sim *s, uint64_t ago, int64_t ns, double growth_ns)
{
	struct mdv_clock_point *p = &s->point;
	const uint32_t mult = p->mult;
	__int128 value;

	sim_page_advance(s);
	p->mult = mult + (uint32_t)(int32_t)lround(growth_ns * ldexp(1, (int)p->shift) / (double)ago);
	value = ((__int128)p->ns << p->shift) + p->frac - (__int128)ago * mult + (__int128)ago * p->mult +
		ns * ((__int128)1 << p->shift) + (1 << p->shift) / 1000;
	p->ns = (uint64_t)(value >> p->shift);
	p->frac = (uint64_t)value & ((1ull << p->shift) - 1);
}

/** Rate and time of the page change together: a step unless the lines meet, within 2 ns, since the last reading. */
static void
test_page_bends(void)
{
	uint64_t ticks, now, steps;
	struct rig r;

	CHECK(page_open(&r, 55, false, 0));
	for (int64_t ns = -4; ns <= 4; ns++) {
		for (int growth = -1; growth <= 1; growth += 2) {
			ticks = sim_read(&r.s, &r.s.counter, r.s.now_ps);
			CHECK(mdv_clock_refresh(r.clock, &r.state) == 0);
			sim_pass_ns(&r.s, 1e8);
			now = sim_read(&r.s, &r.s.counter, r.s.now_ps);
			steps = r.state.steps;
			/* That far apart at the last reading, and farther or not at all now. */
			page_bend(&r.s, now - ticks, ns, growth * 8);
			CHECK(mdv_clock_refresh(r.clock, &r.state) == 0);
			CHECK(r.state.steps - steps == ((ns > 2 && growth > 0) || (ns < -2 && growth < 0)), "%d ns",
			      (int)ns);

			sim_pass_ns(&r.s, 1e8);
			steps = r.state.steps;
			/* That far apart now, and farther or not at all at the last reading. */
			page_bend(&r.s, 1, ns, growth * -8 / 15625000.0);
			CHECK(mdv_clock_refresh(r.clock, &r.state) == 0);
			CHECK(r.state.steps - steps == ((ns > 2 && growth > 0) || (ns < -2 && growth < 0)), "%d ns",
			      (int)ns);
		}
	}
	mdv_clock_close(r.clock);
}

/** The counter does not change while the page is opened, just after it was zero: no line from the TSC. */
static void
test_page_still(void)
{
	struct rig r;

	rig_init(&r, 58);
	sim_page_init(&r.s, RIG_HZ, false, SIM_EPOCH_NS);
	r.s.counter_still = true;
	r.s.still = sim_read(&r.s, &r.s.counter, r.s.now_ps);
	CHECK(rig_open(&r, MDV_CLOCK_PAGE, true, false, RIG_HZ / 1000) == 0);
	CHECK(r.state.line.mult != 0 && r.state.host.mult == 0);
	mdv_clock_close(r.clock);
}

/* ------------------------------------------------------------------ failures of a calibrated clock */

static bool
host_open(struct rig *r, uint64_t seed)
{
	rig_init(r, seed);
	if (rig_open(r, MDV_CLOCK_HOST, true, false, RIG_HZ / 1000) != 0)
		return false;
	rig_run(r, 5);
	CHECK(r->state.quality == MDV_CLOCK_GOOD && r->state.steps == 0);
	CHECK(fabs(rig_stamp_error(r)) < 60);
	return true;
}

/** The counter's register stops: holdover, then broken, then good again. */
static void
test_counter_stopped(void)
{
	uint64_t unsure;
	struct rig r;

	CHECK(host_open(&r, 11));
	r.s.counter_still = true;
	r.s.still = sim_read(&r.s, &r.s.counter, r.s.now_ps);
	CHECK(rig_run(&r, 1.5) == 0);
	unsure = r.state.uncertainty_ns;
	/* 1 ppm of drift that is not observed, for 1.5 s and the two of the line. */
	CHECK(unsure > 3500);
	CHECK(r.state.quality == MDV_CLOCK_HOLDOVER && fabs(rig_stamp_error(&r)) < 200);
	CHECK(rig_run(&r, 45) == 0);
	CHECK(r.state.quality == MDV_CLOCK_HOLDOVER && r.state.uncertainty_ns > 4 * unsure);
	CHECK(fabs(rig_stamp_error(&r)) < (double)r.state.uncertainty_ns);
	CHECK(rig_run(&r, 30) == 0);
	CHECK(r.state.quality == MDV_CLOCK_BROKEN && isnan(rig_stamp_error(&r)));
	CHECK(r.state.rejected > 10 && r.state.busy > 10);
	r.s.counter_still = false;
	rig_run(&r, 0.1);
	CHECK(fabs(rig_stamp_error(&r)) < 200);
	mdv_clock_close(r.clock);
}

static void
test_removed(void)
{
	struct rig r;

	CHECK(host_open(&r, 12));
	r.s.counter_ret = -ENODEV;
	CHECK(mdv_clock_refresh(r.clock, &r.state) == -ENODEV);
	CHECK(r.state.failed == 1);
	rig_run(&r, 2.5);
	CHECK(r.state.quality == MDV_CLOCK_BROKEN);
	mdv_clock_close(r.clock);
}

/** A program sets the host's clock, by much or little, or the device restarts its counter. */
static void
test_steps(void)
{
	static const struct {
		bool counter;
		int64_t units;
	} steps[] = { { false, 1000000000 }, { false, -1000000000 }, { false, 20000 },
		      { false, -86400000000000 }, { true, 1000000000 }, { true, 5000 },
		      { true, 123456789 - (int64_t)RIG_START } };
	struct rig r;

	for (unsigned int i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		CHECK(host_open(&r, 20 + i));
		sim_step(&r.s, steps[i].counter ? &r.s.counter : &r.s.wall, steps[i].units);
		rig_run(&r, 0.3);
		CHECK(r.state.steps == 1);
		CHECK(fabs(rig_stamp_error(&r)) < 150);
		rig_run(&r, 4);
		CHECK(r.state.steps == 1 && fabs(rig_stamp_error(&r)) < 60);
		CHECK(r.state.quality == MDV_CLOCK_GOOD);
		mdv_clock_close(r.clock);
	}
}

/** No refresh: timestamps become absent by themselves, and are correct after the next refresh. */
static void
test_stalled(void)
{
	struct rig r;

	CHECK(host_open(&r, 13));
	sim_pass_ns(&r.s, 1.9e9);
	CHECK(fabs(rig_stamp_error(&r)) < (double)r.state.uncertainty_ns);
	for (int i = 0; i < 1000; i++) {
		sim_pass_ns(&r.s, 1e9);
		CHECK(isnan(rig_stamp_error(&r)));
	}
	mdv_clock_refresh(r.clock, &r.state);
	rig_run(&r, 0.1);
	CHECK(fabs(rig_stamp_error(&r)) < (double)r.state.uncertainty_ns);
	CHECK(rig_usable(&r));
	mdv_clock_close(r.clock);
}

/** Unusual devices and times: unknown frequency, a counter about to wrap, the end of 31-bit seconds. */
static void
test_uncommon(void)
{
	struct rig r;

	rig_init(&r, 14);
	CHECK(rig_open(&r, MDV_CLOCK_HOST, true, false, 0) == 0);
	rig_run(&r, 3);
	CHECK(fabs(rig_stamp_error(&r)) < 60);
	CHECK(fabs((double)r.state.frequency_hz - RIG_HZ * (1 + 20e-6)) < 100);
	mdv_clock_close(r.clock);

	for (unsigned int bits = 41; bits <= 63; bits += 11) {
		memset(&r, 0, sizeof(r));
		sim_init(&r.s, RIG_HZ, 20, (1ull << bits) - RIG_HZ, bits);
		r.s.jitter = SIM_TAIL;
		r.s.counter_mask = bits < 63 ? (1ull << bits) - 1 : UINT64_MAX >> 1;
		sim_step(&r.s, &r.s.wall, (int64_t)(((1ull << 31) - 1700000002ull) * MDV_NS_PER_S));
		CHECK(rig_open(&r, MDV_CLOCK_HOST, true, false, RIG_HZ / 1000) == 0);
		rig_run(&r, 4);
		CHECK(r.state.steps == 0 && r.state.rejected == 0);
		CHECK(fabs(rig_stamp_error(&r)) < 60);
		mdv_clock_close(r.clock);
	}
}

/** A counter that software updates: it is read at the moment of change, and stale readings are discarded. */
static void
test_software_counter(void)
{
	static const uint64_t every_ns[] = { 500, 2000, 10000, 100000 };
	struct rig r;

	for (unsigned int i = 0; i < sizeof(every_ns) / sizeof(every_ns[0]); i++) {
		rig_init(&r, 40 + i);
		r.s.jitter = SIM_EXACT;
		r.s.page_step_ps = every_ns[i] * 1000;
		if (rig_open(&r, MDV_CLOCK_HOST, true, false, RIG_HZ / 1000) != 0) {
			printf("updated by software every %6llu ns: %s\n",
			       (unsigned long long)every_ns[i], r.why);
			CHECK(every_ns[i] > 50000);
			continue;
		}
		r.spent_ps = 0;
		rig_run(&r, 5);
		printf("updated by software every %6llu ns: error %.0f ns, published %llu, %.3f %% of the time\n",
		       (unsigned long long)every_ns[i], rig_stamp_error(&r),
		       (unsigned long long)r.state.uncertainty_ns, r.spent_ps / 5e10);
		/* Also with the short refresh period. */
		CHECK(r.spent_ps < 5e12 / 90);
		CHECK(fabs(rig_stamp_error(&r)) < (double)r.state.uncertainty_ns);
		mdv_clock_close(r.clock);
	}
}

void
test_sources(void)
{
	test_auto();
	test_host_only_late();
	test_requested();
	test_by_tsc();
	test_page_without_servo();
	test_servo_ends();
	test_page_steps();
	test_page_bends();
	test_page_still();
	test_counter_stopped();
	test_removed();
	test_steps();
	test_stalled();
	test_uncommon();
	test_software_counter();
}
