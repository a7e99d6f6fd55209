/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * The clocks that are followed by the TSC, common to all sources, and the values reported for them.
 *
 * Constants marked "assumed" have no external source. The range in brackets is the one in which the
 * tests page, faults, sources and host of tests/clock pass with all other constants unchanged.
 */

#include <errno.h>
#include <math.h>

#include <rte_bitops.h>
#include <rte_common.h>

#include "mdv_clock_int.h"

/*
 * Random walk of the rate of two crystal oscillators at constant temperature, in ppb per root of a
 * second: assumed (1 to 10; with 30 the conversion is noisier than the test allows).
 */
#define WANDER_PPB 3.0
/* CLOCK_REALTIME, whose rate NTP and PTP programs adjust: assumed (more than 10, less than 100). */
#define WALL_WANDER_PPB 30.0
/*
 * Outliers in a row that are accepted as a step. A disturbed bus read shows in its bracket, a wrong
 * value in the clock page does not: assumed (3 to 10). clock_gettime() returns no wrong values.
 */
#define COUNTER_CONFIRM 5
#define WALL_CONFIRM 1
/* Readings per refresh while unsettled: all that a series takes; 24 exceed the test's error limit. */
#define COUNTER_READS MDV_CLOCK_READS_MAX
/* Once settled, because each reading is an uncached load over PCIe: assumed (8 to 32). */
#define SETTLED_READS 24
/* CLOCK_REALTIME is read through the vDSO: assumed (4 to 24). */
#define WALL_READS 8
/* Seconds without step or change of rate after which a clock is settled: assumed (1 to 10). */
#define SETTLE_S 3
/* A rate with a larger deviation is not reported: 1 % of the initial one (from there / 5 to * 4). */
#define RATE_KNOWN_PPB (MDV_CLOCK_RATE_UNKNOWN_PPB / 100)
/* TAI - UTC since 2017-01-01 (IERS Bulletin C 52), if the kernel does not know it (adjtimex(2)). */
#define TAI_OFFSET_S 37

double
mdv_clock_since_s(const struct mdv_clock *clock, uint64_t tsc, uint64_t then)
{
	return (double)(int64_t)(tsc - then) / clock->facts.tsc_hz;
}

bool
mdv_clock_unsettled(const struct mdv_clock *clock, const struct mdv_clock_followed *f)
{
	uint64_t since = clock->ops->tsc(clock->ctx) - f->unsettled_tsc;

	return !f->track.set || since < SETTLE_S * clock->facts.tsc_hz;
}

/** Takes a reading of a clock. 0; -EAGAIN there was none, or it is an outlier; other -errno. */
static int
follow(struct mdv_clock *clock, struct mdv_clock_followed *f, mdv_clock_reader reader,
       uint64_t mask, unsigned int reads)
{
	struct mdv_clock_sample s;
	bool first = !f->track.set;
	enum mdv_clock_fix fix;
	double excess;
	int ret = mdv_clock_sample_take(clock->ops, clock->ctx, reader, &f->track, mask, reads, &s);

	if (ret != 0) {
		clock->state.rejected += ret == -EAGAIN;
		return ret;
	}
	/* The tightest bracket, growing by 1 % per reading. The excess of a wider one is uncertainty. */
	f->half_ns = first ? s.half_ns : RTE_MIN(f->half_ns * 1.01, s.half_ns);
	excess = s.half_ns - f->half_ns;
	s.variance += excess * excess / 3;
	fix = mdv_clock_track_fix(&f->track, s.tsc, s.y, s.part, s.variance);
	if (fix != MDV_FIX_TAKEN)
		f->unsettled_tsc = s.tsc;
	clock->state.rejected += fix == MDV_FIX_REJECTED;
	/* With source page only changes of the page's rate count, not those of CLOCK_REALTIME. */
	clock->state.slews += fix == MDV_FIX_TURNED && clock->state.source != MDV_CLOCK_PAGE;
	return fix == MDV_FIX_REJECTED ? -EAGAIN : 0;
}

static unsigned int
device_reads(const struct mdv_clock *clock, const struct mdv_clock_followed *f)
{
	return mdv_clock_unsettled(clock, f) ? COUNTER_READS : SETTLED_READS;
}

int
mdv_clock_follow_counter(struct mdv_clock *clock)
{
	return follow(clock, &clock->counter, clock->ops->counter, MDV_CLOCK_MASK,
		      device_reads(clock, &clock->counter));
}

int
mdv_clock_follow_wall(struct mdv_clock *clock)
{
	return follow(clock, &clock->wall, clock->ops->realtime, UINT64_MAX, WALL_READS);
}

int
mdv_clock_follow_utc(struct mdv_clock *clock)
{
	return follow(clock, &clock->utc, clock->ops->utc, UINT64_MAX,
		      device_reads(clock, &clock->utc));
}

double
mdv_clock_hz(const struct mdv_clock *clock, double rate)
{
	return clock->wall.track.set ? rate / clock->wall.track.rate * MDV_NS_PER_S :
				       rate * clock->facts.tsc_hz;
}

double
mdv_clock_hold_s(const struct mdv_clock *clock, uint64_t tsc)
{
	double since = RTE_MIN(mdv_clock_since_s(clock, tsc, clock->counter.unsettled_tsc),
			       mdv_clock_since_s(clock, tsc, clock->wall.unsettled_tsc));

	return RTE_MIN(RTE_MAX(since, MDV_CLOCK_HOLD_S / 2), MDV_CLOCK_HOLD_S);
}

double
mdv_clock_followed_variance(const struct mdv_clock_followed *f, double ahead_s)
{
	return mdv_clock_track_variance(&f->track, ahead_s) * RTE_MAX(f->track.nis, 1.0);
}

uint64_t
mdv_clock_followed_ns(const struct mdv_clock_followed *f)
{
	double sigma = sqrt(mdv_clock_followed_variance(f, MDV_CLOCK_HOLD_S));
	double ns = MDV_CLOCK_SIGMAS * sigma + f->half_ns + f->track.off;

	return (uint64_t)RTE_MIN(ns, 1e12);
}

static bool
rate_known(const struct mdv_clock_followed *f)
{
	return !f->track.set || f->track.rr < RATE_KNOWN_PPB * RATE_KNOWN_PPB;
}

void
mdv_clock_report_rates(struct mdv_clock *clock, double value_per_s, double nominal_per_s)
{
	struct mdv_clock_state *s = &clock->state;

	if (!rate_known(&clock->counter) || !rate_known(&clock->wall) || !rate_known(&clock->utc))
		return;
	if (clock->counter.track.set)
		s->frequency_hz = (uint64_t)llround(mdv_clock_hz(clock, clock->counter.track.rate));
	s->drift_ppm = nominal_per_s > 0 ? (value_per_s / nominal_per_s - 1) * 1e6 : 0;
}

void
mdv_clock_report_time(struct mdv_clock *clock, uint64_t tsc, uint64_t value, double part, double rate)
{
	const double tsc_hz = clock->facts.tsc_hz;
	const struct mdv_clock_slope slope = {
		.ticks = tsc, .value = value, .part = part, .rate = rate,
		.mask = RTE_BIT64(MDV_CLOCK_MASK_BITS_MAX) - 1,
		.before = (uint64_t)(MDV_CLOCK_HOLD_S * tsc_hz),
		.after = (uint64_t)((MDV_CLOCK_HOLD_S + MDV_CLOCK_HOLDOVER_S) * tsc_hz),
	};

	/* What cannot be represented is no line. */
	(void)mdv_clock_line_of_slope(&slope, &clock->state.host);
}

int64_t
mdv_clock_tai_ns(const struct mdv_clock *clock)
{
	int s = clock->ops->tai_offset_s(clock->ctx);

	return (int64_t)(s != 0 ? s : TAI_OFFSET_S) * MDV_NS_PER_S;
}

void
mdv_clock_report_offset(struct mdv_clock *clock, uint64_t tsc, uint64_t value)
{
	double part;
	int64_t off = (int64_t)(value - mdv_clock_track_at(&clock->wall.track, tsc, &part));

	clock->state.offset_ns = off;
	clock->state.epoch = mdv_clock_is_near(off, 0, MDV_NS_PER_S / 2) ? "utc" :
			     mdv_clock_is_near(off, mdv_clock_tai_ns(clock), MDV_NS_PER_S / 2) ?
				"tai" : "device";
}

void
mdv_clock_counter_init(struct mdv_clock *clock, double hz)
{
	mdv_clock_track_init(&clock->counter.track, clock->facts.tsc_hz, hz, WANDER_PPB,
			     COUNTER_CONFIRM);
}

void
mdv_clock_source_init(struct mdv_clock *clock)
{
	double tsc_hz = clock->facts.tsc_hz;
	double hz = clock->facts.frequency_khz != 0 ? clock->facts.frequency_khz * 1e3 : tsc_hz;

	mdv_clock_counter_init(clock, hz);
	mdv_clock_track_init(&clock->wall.track, tsc_hz, MDV_NS_PER_S, WALL_WANDER_PPB,
			     WALL_CONFIRM);
	mdv_clock_track_init(&clock->utc.track, tsc_hz, MDV_NS_PER_S, WALL_WANDER_PPB,
			     COUNTER_CONFIRM);
}
