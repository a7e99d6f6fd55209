/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* The kernel's clock page as a source: its lines, how old it is, and who set it. */

#include <errno.h>
#include <math.h>

#include <rte_bitops.h>
#include <rte_common.h>

#include "mdv_clock_int.h"

/* The page is being written: that is soon over. */
#define PAGE_OPEN_TRIES 20
#define PAGE_OPEN_GAP_US 1000
/* Of the counter's range: what the host's clock and the device's may differ by in all that time. */
#define PAGE_MARGIN 16
/* Lines that differ by more than this are different. */
#define PAGE_STEP_NS 2
/* How far a page's rate may be from nominal; the kernel's driver lets a servo go half as far. */
#define PAGE_RATE_LIMIT 0.1
/* A servo that has done nothing for so long has gone; they correct once in some seconds. */
#define SERVO_NS (UINT64_C(120) * MDV_NS_PER_S)

/** ns that ticks of a line's counter last. */
static uint64_t
line_ns(const struct mdv_clock_line *line, uint64_t ticks)
{
	return (uint64_t)(((unsigned __int128)ticks * line->mult) >> line->shift);
}

/**
 * How much later a stamp is by the new line than by the old one; INT64_MAX where one does not hold.
 */
static int64_t
shift_at(const struct mdv_clock_line *old, const struct mdv_clock_line *line, uint64_t ts)
{
	uint64_t was, is;

	if (!mdv_clock_line_convert(old, ts, &was) || !mdv_clock_line_convert(line, ts, &is))
		return INT64_MAX;
	return (int64_t)(is - was);
}

/*
 * A servo changes the rate where it is: then the lines cross between the last reading and the new
 * point. Where they do not, the time was set.
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
	if (first == INT64_MAX || last == INT64_MAX ||
	    (first > PAGE_STEP_NS && last > PAGE_STEP_NS) ||
	    (first < -PAGE_STEP_NS && last < -PAGE_STEP_NS))
		clock->state.steps++;
}

/*
 * Left alone the kernel moves its point every third of the mask, or as soon as 63 bits are full. A
 * servo has it moved at each correction, also where mult is too coarse to show one.
 */
static bool
point_moved_early(const struct mdv_clock_point *was, const struct mdv_clock_point *is,
		  const struct mdv_clock_line *line)
{
	uint64_t ticks = (is->cycles - was->cycles) & is->mask;
	uint64_t alone = RTE_MIN((UINT64_MAX >> 1) / is->mult, is->mask / 3);

	return ticks != 0 && ticks < alone / 2 && line_ns(line, ticks) < SERVO_NS;
}

/* The kernel moves its point every third of the mask at the latest. */
static uint64_t
page_overdue_ns(const struct mdv_clock_line *line)
{
	return line_ns(line, line->mask / 3 + line->mask / 32);
}

/*
 * How old the point is tells the counter; a first point without one is taken to be as old as points
 * become, later ones are as old as their first sight.
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

/** The page's time by the TSC, so that nobody has to read the device to know what time it is. */
static void
page_by_tsc(struct mdv_clock *clock)
{
	const struct mdv_clock_track *t = &clock->counter.track;
	const struct mdv_clock_line *line = &clock->state.line;
	double part, rate = ldexp(line->mult, -(int)line->shift);
	int wall = mdv_clock_follow_wall(clock), ret = mdv_clock_follow_counter(clock);
	uint64_t value, c = mdv_clock_track_at(t, t->tsc, &part);

	if (!t->set || !mdv_clock_line_convert(line, c, &value)) {
		clock->state.host.mult = 0;
		return;
	}
	if (ret != 0 && ret != -EAGAIN) {
		clock->state.host.mult = 0;
		return;
	}
	/* A reading that is not believed leaves a track that goes on; the page may have stepped. */
	mdv_clock_report_time(clock, t->tsc, value, part * rate, rate * t->rate);
	if (wall != 0)
		return;
	mdv_clock_report_offset(clock, t->tsc, value);
	mdv_clock_report_rates(clock, mdv_clock_hz(clock, rate * t->rate), MDV_NS_PER_S);
}

/** No servo takes a clock a tenth off its nominal rate: such a page tells of something else. */
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
	/* Early enough that the counter has not come round to where it is taken for the past. */
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
 * The kernel begins with 10^6 * 2^shift / kHz, rounded (clocks_khz2mult); a servo never ends there.
 * But the rate stays where the servo left it: whether there still is one is seen by what it does,
 * and for a while after the opening it is taken to be there.
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
	if (khz == 0 || p->mult == 0 || p->shift > MDV_CLOCK_SHIFT_MAX)
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
