/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Source page: the clock page of the kernel (mlx5dv_get_clock_info(3)), its age and its servo. */

#include <errno.h>
#include <math.h>

#include <rte_bitops.h>
#include <rte_common.h>

#include "mdv_clock_int.h"

/* Attempts at opening while the kernel writes the page, which takes microseconds: assumed. */
#define PAGE_OPEN_TRIES 20
#define PAGE_OPEN_GAP_US 1000
/* Part of the counter's range that is kept as a margin for rate differences of TSC and device. */
#define PAGE_MARGIN 16
/* Two lines agree within the rounding of both values to 1 ns. */
#define PAGE_STEP_NS 2
/* Largest deviation from the nominal rate; mlx5_core limits a servo to half of it (max_adj). */
#define PAGE_RATE_LIMIT 0.1
/* Time without correction after which no servo is running: assumed; linuxptp corrects every second. */
#define SERVO_NS (UINT64_C(120) * MDV_NS_PER_S)

/** ns that ticks of a line's counter last. */
static uint64_t
line_ns(const struct mdv_clock_line *line, uint64_t ticks)
{
	return (uint64_t)(((unsigned __int128)ticks * line->mult) >> line->shift);
}

/**
 * Value of a stamp on the new line less that on the old one; INT64_MIN if it has none: before year 2554 only a stamp
 * that would be before 1970 on the new line.
 */
static int64_t
shift_at(const struct mdv_clock_line *old, const struct mdv_clock_line *line, uint64_t ts)
{
	uint64_t was, is;

	if (!mdv_clock_line_convert(old, ts, &was) || !mdv_clock_line_convert(line, ts, &is))
		return INT64_MIN;
	return (int64_t)(is - was);
}

/*
 * Counts changes of rate and steps. If a servo changed the rate, old and new line cross between the
 * last reading and the new point; if they do not cross there, the time was set.
 */
static void
page_moved(struct mdv_clock *clock, const struct mdv_clock_line *line, uint64_t now)
{
	const struct mdv_clock_line *old = &clock->state.line;
	uint64_t to = clock->point.cycles, from;
	int64_t first, last;

	if (old->mult == 0)
		return;
	if (old->mult != line->mult || old->shift != line->shift) {
		clock->state.slews++;
		clock->servo_tsc = now;
	}
	from = to - (uint64_t)((double)(now - clock->line_tsc) / clock->facts.tsc_hz *
			       MDV_NS_PER_S / ldexp(old->mult, -(int)old->shift));
	first = shift_at(old, line, from);
	last = shift_at(old, line, to);
	if ((first > PAGE_STEP_NS && last > PAGE_STEP_NS) || (first < -PAGE_STEP_NS && last < -PAGE_STEP_NS))
		clock->state.steps++;
}

/*
 * Without servo mlx5_core updates the page after a third of the counter's range, or when 63 bits would
 * overflow (lib/clock.c, mlx5_init_overflow_period). A servo updates it with each correction, even
 * if the correction is too small to change mult.
 */
static bool
point_moved_early(const struct mdv_clock_point *was, const struct mdv_clock_point *is,
		  const struct mdv_clock_line *line)
{
	uint64_t ticks = (is->cycles - was->cycles) & is->mask;
	uint64_t period = RTE_MIN((UINT64_MAX >> 1) / is->mult, is->mask / 3);

	return ticks != 0 && ticks < period / 2 && line_ns(line, ticks) < SERVO_NS;
}

/* The kernel updates the page after a third of the counter's range at the latest. */
static uint64_t
page_overdue_ns(const struct mdv_clock_line *line)
{
	return line_ns(line, line->mask / 3 + line->mask / 32);
}

/*
 * TSC at which the point was valid, from the counter. If the counter cannot be read, the first point is
 * assumed to have the maximum age, and later points to be new when they are first seen.
 */
static uint64_t
point_born(const struct mdv_clock *clock, const struct mdv_clock_line *line, uint64_t now)
{
	uint64_t age = 0, c;

	if (clock->state.line.mult == 0)
		age = line_ns(line, line->mask / 3);
	if (clock->ops->counter(clock->ctx, &c) == 0) {
		age = (c - clock->point.cycles) & line->mask;
		age = age > line->mask / 2 ? 0 : line_ns(line, age);
	}
	return now - mdv_clock_ticks(age, clock->facts.tsc_hz);
}

/** Reports the line from TSC to page time, so that the time can be read without the device. */
static void
page_by_tsc(struct mdv_clock *clock)
{
	const struct mdv_clock_track *t = &clock->counter.track;
	const struct mdv_clock_line *line = &clock->state.line;
	double part, rate = ldexp(line->mult, -(int)line->shift);
	int wall = mdv_clock_follow_wall(clock), ret = mdv_clock_follow_counter(clock);
	uint64_t value, c = mdv_clock_track_at(t, t->tsc, &part);

	if ((ret != 0 && ret != -EAGAIN) || !t->set || !mdv_clock_line_convert(line, c, &value)) {
		clock->state.host.mult = 0;
		return;
	}
	/* After an outlier the track is still valid, but the page may have stepped: report it. */
	mdv_clock_report_time(clock, t->tsc, value, part * rate, rate * t->rate);
	if (wall != 0)
		return;
	mdv_clock_report_offset(clock, t->tsc, value);
	mdv_clock_report_rates(clock, mdv_clock_hz(clock, rate * t->rate), MDV_NS_PER_S);
}

/** A page whose rate is too far from nominal is not a clock of this device. */
static bool
is_possible(const struct mdv_clock *clock, const struct mdv_clock_line *line)
{
	double hz = MDV_NS_PER_S / ldexp(line->mult, -(int)line->shift);
	double nominal = clock->facts.frequency_khz * 1e3;

	return nominal == 0 || fabs(hz - nominal) < nominal * PAGE_RATE_LIMIT;
}

int
mdv_clock_page_refresh(struct mdv_clock *clock)
{
	struct mdv_clock_state *s = &clock->state;
	struct mdv_clock_point point;
	struct mdv_clock_line line;
	uint64_t now, ahead;
	int ret = clock->ops->page(clock->ctx, &point);
	bool moved;

	if (ret != 0)
		return ret;
	if (mdv_clock_line_of_point(&point, &line) != 0 || !is_possible(clock, &line)) {
		s->rejected++;
		return -EPROTO;
	}
	now = clock->ops->tsc(clock->ctx);
	moved = s->line.mult == 0 || point.cycles != clock->point.cycles;
	if (s->line.mult == 0 || point_moved_early(&clock->point, &point, &line))
		clock->servo_tsc = now;
	clock->point = point;
	if (moved)
		clock->point_tsc = point_born(clock, &line, now);
	page_moved(clock, &line, now);
	s->line = line;
	/* Expire before a stamp could be taken for one of the past. */
	ahead = RTE_MIN(line.span - ((point.cycles - line.base) & line.mask),
			line.mask / 2 - line.mask / PAGE_MARGIN);
	s->valid_tsc = clock->point_tsc +
		       mdv_clock_ticks(line_ns(&line, ahead), clock->facts.tsc_hz);
	s->uncertainty_ns = 1;
	s->age_ns = mdv_clock_ns(now - clock->point_tsc, clock->facts.tsc_hz);
	page_by_tsc(clock);
	return 0;
}

int
mdv_clock_page_open(struct mdv_clock *clock)
{
	int ret = -EAGAIN;

	for (int i = 0; i < PAGE_OPEN_TRIES && ret == -EAGAIN; i++) {
		if (i > 0)
			clock->ops->sleep_us(clock->ctx, PAGE_OPEN_GAP_US);
		ret = mdv_clock_page_refresh(clock);
	}
	return ret;
}

/*
 * The kernel starts with mult = 10^6 * 2^shift / kHz, rounded (clocksource_khz2mult()), and a servo
 * changes it. It keeps the last value when the servo ends, so corrections must be seen as well; in
 * the first SERVO_NS after opening a changed mult is enough.
 */
bool
mdv_clock_servo_seen(const struct mdv_clock *clock)
{
	const struct mdv_clock_point *p = &clock->point;
	uint64_t khz = clock->facts.frequency_khz, nominal;

	if (mdv_clock_ns(clock->ops->tsc(clock->ctx) - clock->servo_tsc, clock->facts.tsc_hz) >
	    SERVO_NS)
		return false;
	if (clock->state.slews != 0)
		return true;
	if (khz == 0)
		return false;
	nominal = ((UINT64_C(1000000) << p->shift) + khz / 2) / khz;
	return mdv_clock_distance(p->mult, nominal) > 1;
}

bool
mdv_clock_page_in_step(struct mdv_clock *clock)
{
	return mdv_clock_servo_seen(clock) &&
	       clock->state.age_ns <= page_overdue_ns(&clock->state.line);
}
