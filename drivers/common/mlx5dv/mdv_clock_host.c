/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Source host: the free-running counter, calibrated against CLOCK_REALTIME. */

#include <errno.h>
#include <math.h>

#include <rte_common.h>

#include "mdv_clock_int.h"

/* Largest uncertainty in holdover, in ns: 100 us, assumed. */
#define HOLDOVER_NS 100000.0
/* Growth of the uncertainty in holdover, in ns per second: 1 ppm of unobserved drift. */
#define HOLDOVER_NS_PER_S (HOLDOVER_NS / MDV_CLOCK_HOLDOVER_S)
/* Opening takes OPEN_SAMPLES good readings out of OPEN_TRIES, OPEN_GAP_US apart: assumed. */
#define OPEN_SAMPLES 4
#define OPEN_TRIES 8
#define OPEN_GAP_US 3000

/*
 * Uncertainty of the line in ns, ahead_s seconds from now: the deviation that the filters estimate, plus half of the
 * brackets, which they cannot see, plus the largest recent residuals. Before now it is smaller, as phase and rate are
 * never estimated with opposite errors.
 */
static uint64_t
host_uncertainty(const struct mdv_clock *clock, double ahead_s)
{
	const struct mdv_clock_followed *c = &clock->counter, *w = &clock->wall;
	double variance = mdv_clock_followed_variance(c, ahead_s) + mdv_clock_followed_variance(w, ahead_s);
	double ns = c->half_ns + w->half_ns + c->track.off + w->track.off;

	ns += MDV_CLOCK_SIGMAS * sqrt(variance);
	return (uint64_t)RTE_MIN(ns, 1e12);
}

/** Value of a stamp on the line, extended beyond its span. Before its base (after a step) it is far ahead. */
static uint64_t
value_beyond(const struct mdv_clock_line *line, uint64_t ts)
{
	uint64_t value;

	(void)mdv_clock_line_convert(line, ts, &value);
	return value;
}

/*
 * Counts a step if a stamp differs between the old line and the new one by more than both allow. Rates
 * may have changed since the old line, in particular after it expired: allow another 1 ppm.
 */
static void
host_moved(struct mdv_clock *clock, const struct mdv_clock_line *line, uint64_t ts, uint64_t tsc)
{
	const struct mdv_clock_state *s = &clock->state;
	uint64_t allowed = clock->line_unsure_ns + host_uncertainty(clock, 0) +
			   mdv_clock_ns(tsc - clock->line_tsc, clock->facts.tsc_hz) / 1000000;

	if (s->line.mult == 0)
		return;
	if (mdv_clock_distance(value_beyond(&s->line, ts), value_beyond(line, ts)) > allowed)
		clock->state.steps++;
}

static int
host_lines(struct mdv_clock *clock)
{
	const struct mdv_clock_track *c = &clock->counter.track, *w = &clock->wall.track;
	struct mdv_clock_state *s = &clock->state;
	double part, value_part, rate = w->rate / c->rate, hold = mdv_clock_hold_s(clock, c->tsc);
	uint64_t ticks = mdv_clock_track_at(c, c->tsc, &part);
	uint64_t value = mdv_clock_track_at(w, c->tsc, &value_part);
	uint64_t unsure = host_uncertainty(clock, hold);
	struct mdv_clock_slope slope = {
		.ticks = ticks, .value = value, .part = value_part - part * rate, .rate = rate,
		.mask = MDV_CLOCK_MASK,
		.before = (uint64_t)(MDV_CLOCK_HOLD_S * c->y_hz),
		.after = (uint64_t)((MDV_CLOCK_HOLD_S + MDV_CLOCK_HOLDOVER_S) * c->y_hz),
	};
	struct mdv_clock_line line;

	if (mdv_clock_line_of_slope(&slope, &line) != 0)
		return -EPROTO;
	host_moved(clock, &line, ticks, c->tsc);
	s->line = line;
	s->uncertainty_ns = unsure;
	clock->line_unsure_ns = unsure;
	s->valid_tsc = c->tsc + (uint64_t)(hold * clock->facts.tsc_hz);
	mdv_clock_report_time(clock, c->tsc, value, value_part, w->rate);
	mdv_clock_report_rates(clock, mdv_clock_hz(clock, c->rate), clock->facts.frequency_khz * 1e3);
	return 0;
}

/** Extends the last line with growing uncertainty, up to HOLDOVER_NS. */
static void
host_holdover(struct mdv_clock *clock)
{
	struct mdv_clock_state *s = &clock->state;
	uint64_t now = clock->ops->tsc(clock->ctx);
	double age = mdv_clock_since_s(clock, now, clock->line_tsc), unsure;

	age += MDV_CLOCK_HOLD_S;
	unsure = host_uncertainty(clock, age) + HOLDOVER_NS_PER_S * age;
	if (unsure > HOLDOVER_NS)
		return;
	s->uncertainty_ns = RTE_MAX(s->uncertainty_ns, (uint64_t)unsure);
	s->valid_tsc = now + (uint64_t)(MDV_CLOCK_HOLD_S * clock->facts.tsc_hz);
}

int
mdv_clock_host_refresh(struct mdv_clock *clock)
{
	int wall = mdv_clock_follow_wall(clock), ret = mdv_clock_follow_counter(clock);

	if (ret == 0)
		ret = wall;
	if (ret == 0)
		return host_lines(clock);
	if (ret == -EAGAIN)
		host_holdover(clock);
	return ret;
}

/** First estimate of the frequency, for a device without device_frequency_khz. */
static int
guess_frequency(struct mdv_clock *clock)
{
	uint64_t tsc = clock->ops->tsc(clock->ctx), a, b;
	int ret = clock->ops->counter(clock->ctx, &a);
	double hz;

	if (ret != 0)
		return ret;
	clock->ops->sleep_us(clock->ctx, OPEN_GAP_US);
	ret = clock->ops->counter(clock->ctx, &b);
	if (ret != 0)
		return ret;
	hz = (double)((b - a) & MDV_CLOCK_MASK) /
	     mdv_clock_since_s(clock, clock->ops->tsc(clock->ctx), tsc);
	if (!(hz > 1e6 && hz < 1e10))
		return -ERANGE;
	mdv_clock_counter_init(clock, hz);
	return 0;
}

/* -ERANGE: some readings were accepted, but too few, as with a counter of another frequency. */
int
mdv_clock_host_open(struct mdv_clock *clock)
{
	int ret = clock->facts.frequency_khz == 0 ? guess_frequency(clock) : 0, good = 0;

	for (int i = 0; ret == 0 && i < OPEN_TRIES && good < OPEN_SAMPLES; i++) {
		if (i > 0)
			clock->ops->sleep_us(clock->ctx, OPEN_GAP_US);
		ret = mdv_clock_host_refresh(clock);
		good += ret == 0;
		ret = ret == -EAGAIN ? 0 : ret;
	}
	if (ret != 0 || good == OPEN_SAMPLES)
		return ret;
	return good > 0 ? -ERANGE : -ENODATA;
}

bool
mdv_clock_host_in_step(struct mdv_clock *clock)
{
	return clock->ops->host_synced(clock->ctx);
}
