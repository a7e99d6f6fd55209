/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* The host's clock as a source: the counter calibrated against it, and how well. */

#include <errno.h>
#include <math.h>

#include <rte_bitops.h>
#include <rte_common.h>

#include "mdv_clock_int.h"

/* While readings are not believed the line holds on and its uncertainty grows, up to this. */
#define HOLDOVER_NS 100000.0
/*
 * What an oscillator may do meanwhile that nobody notices, in ns per second: a part in a million.
 */
#define HOLDOVER_NS_PER_S (HOLDOVER_NS / MDV_CLOCK_HOLDOVER_S)
/* A first look at a counter: so many readings must agree, of no more tries, so far apart. */
#define OPEN_SAMPLES 4
#define OPEN_TRIES 8
#define OPEN_GAP_US 3000

/*
 * ns: how far the line of counter and host's clock may be off for as long as it holds. To what the
 * filter thinks comes what it cannot see, half of a bracket, and what it has not made up its mind
 * about.
 */
static uint64_t
host_uncertainty(const struct mdv_clock *clock, double ahead_s)
{
	const struct mdv_clock_followed *c = &clock->counter, *w = &clock->wall;
	double behind = mdv_clock_followed_variance(c, -ahead_s) +
			mdv_clock_followed_variance(w, -ahead_s);
	double ahead = mdv_clock_followed_variance(c, ahead_s) +
		       mdv_clock_followed_variance(w, ahead_s);
	double ns = c->half_ns + w->half_ns + c->track.off + w->track.off + 1;

	ns += MDV_CLOCK_SIGMAS * sqrt(RTE_MAX(ahead, behind));
	return (uint64_t)RTE_MIN(ns, 1e12);
}

/** The value of a stamp if the line went on beyond both of its ends. */
static uint64_t
value_beyond(const struct mdv_clock_line *line, uint64_t ts)
{
	uint64_t off = (ts - line->base) & line->mask;
	__int128 ticks = off;

	if (off > line->mask - line->mask / 4)
		ticks -= (__int128)line->mask + 1;
	return line->start + (uint64_t)(int64_t)((ticks * line->mult + line->frac) >> line->shift);
}

/*
 * One stamp, by the old line and by the new one. A line that is past its time was followed by
 * nobody for a while, in which rates may have changed by a part in a million without anything being
 * set.
 */
static void
host_moved(struct mdv_clock *clock, const struct mdv_clock_line *line, uint64_t ts, uint64_t tsc)
{
	const struct mdv_clock_state *s = &clock->state;
	uint64_t allowed = clock->line_unsure_ns + host_uncertainty(clock, 0);

	if (s->line.mult == 0)
		return;
	if ((int64_t)(tsc - s->valid_tsc) > 0)
		allowed += mdv_clock_ns(tsc - clock->line_tsc, clock->facts.tsc_hz) / 1000000;
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
		.mask = RTE_BIT64(MDV_CLOCK_BITS) - 1,
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
	s->age_ns = 0;
	mdv_clock_report_time(clock, c->tsc, value, value_part, w->rate);
	mdv_clock_report_rates(clock, mdv_clock_hz(clock, c->rate), clock->facts.frequency_khz * 1e3);
	return 0;
}

/** The line that there is goes on to hold, for a while, but less and less is known of it. */
static void
host_holdover(struct mdv_clock *clock)
{
	struct mdv_clock_state *s = &clock->state;
	uint64_t now = clock->ops->tsc(clock->ctx);
	double age = mdv_clock_since_s(clock, now, clock->line_tsc), unsure;

	age += MDV_CLOCK_HOLD_S;
	unsure = host_uncertainty(clock, age) + HOLDOVER_NS_PER_S * age;
	if (s->line.mult == 0 || unsure > HOLDOVER_NS)
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

/** A device that does not tell its counter's frequency: a first idea of it. */
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
	hz = (double)((b - a) & (RTE_BIT64(MDV_CLOCK_BITS) - 1)) /
	     mdv_clock_since_s(clock, clock->ops->tsc(clock->ctx), tsc);
	if (ret != 0 || !(hz > 1e6 && hz < 1e10))
		return ret != 0 ? ret : -ERANGE;
	mdv_clock_counter_init(clock, hz);
	return 0;
}

/* A counter at another frequency is off the line again and again, and believed one time in some. */
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
	double hold = mdv_clock_hold_s(clock, clock->counter.track.tsc);

	return hold >= MDV_CLOCK_HOLD_S / 2 && clock->ops->host_synced(clock->ctx);
}
