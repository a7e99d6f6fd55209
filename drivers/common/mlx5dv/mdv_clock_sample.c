/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Series of readings of a clock, each bracketed by two readings of the TSC. */

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include <rte_common.h>

#include "mdv_clock_int.h"

#define READS_MAX MDV_CLOCK_READS_MAX
/* Smallest series from which outliers can be recognised. */
#define READS_MIN 4
/* Readings with wider brackets than this (relative and in ns) are not used: assumed. */
#define WIDTH_LIMIT 1.5
#define WIDTH_LIMIT_NS 20
/*
 * After so many equal values the counter is one that software updates (emulator), or stopped. Then
 * READS_MIN changes are enough, and waiting is limited: for the first one to STILL_NS, for all of them
 * to four times that: assumed.
 */
#define STILL_READS 64
#define STILL_NS 300000
#define READS_LIMIT 20000
/* Readings more than this many standard deviations from the median are not used. */
#define OUTLIER 3.0
/* Smallest variance in ns^2: a reading of the TSC takes some nanoseconds. */
#define FLOOR_NS2 9.0

struct reading {
	uint64_t tsc, y, width;
	double residual; /**< ns */
};

struct series {
	struct reading of[READS_MAX];
	unsigned int n;
};

static int
by_width(const void *a, const void *b)
{
	const struct reading *l = a, *r = b;

	return (l->width > r->width) - (l->width < r->width);
}

static int
by_size(const void *a, const void *b)
{
	const double *l = a, *r = b;

	return (*l > *r) - (*l < *r);
}

/** Extends y beyond its mask to the value that is nearest to the expected one. */
static uint64_t
unwrap(const struct mdv_clock_track *t, uint64_t tsc, uint64_t y, uint64_t mask)
{
	uint64_t near, off;
	double part;

	if (!t->set)
		return y;
	near = mdv_clock_track_at(t, tsc, &part);
	off = (y - near) & mask;
	return off > mask / 2 ? near - ((near - y) & mask) : near + off;
}

/*
 * Equal values are not readings: the counter of a card changes between any two reads, and one that
 * software updates is exact only when it changes.
 */
static int
read_series(const struct mdv_clock_ops *ops, void *ctx, mdv_clock_reader reader,
	    const struct mdv_clock_track *t, unsigned int reads, struct series *s)
{
	uint64_t began = ops->tsc(ctx), before, after = began, since = began, y, last = 0;
	uint64_t patience = mdv_clock_ticks(STILL_NS, (uint64_t)t->tsc_hz);
	unsigned int still = 0;
	int ret;

	s->n = 0;
	for (unsigned int i = 0; i < READS_LIMIT && s->n < reads; i++) {
		before = ops->tsc(ctx);
		since = since != 0 ? since : before;
		ret = reader(ctx, &y);
		after = ops->tsc(ctx);
		if (ret != 0)
			return ret;
		if (i > 0 && y != last)
			s->of[s->n++] = (struct reading){ .tsc = since + (after - since) / 2,
							  .y = y, .width = after - since };
		/* After an equal value the next change may have happened any time since that read. */
		since = i > 0 && y == last ? before : 0;
		still += since != 0;
		last = y;
		if (still < STILL_READS)
			continue;
		reads = READS_MIN;
		if (after - began > patience && (s->n == 0 || after - began > 4 * patience))
			break;
	}
	return s->n >= READS_MIN ? 0 : -EAGAIN;
}

static double
median(const double *values, unsigned int n)
{
	double sorted[READS_MAX];

	for (unsigned int i = 0; i < n; i++)
		sorted[i] = values[i];
	qsort(sorted, n, sizeof(sorted[0]), by_size);
	return (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
}

/** Mean of the residuals without outliers, and the variance of that mean. */
static double
robust_mean(const struct reading *r, unsigned int n, double *variance)
{
	double value[READS_MAX], off[READS_MAX], middle, limit, sum = 0, squares = 0;
	unsigned int used = 0;

	for (unsigned int i = 0; i < n; i++)
		value[i] = r[i].residual;
	middle = median(value, n);
	for (unsigned int i = 0; i < n; i++)
		off[i] = fabs(value[i] - middle);
	/* Standard deviation of a normal distribution = 1.4826 * median absolute deviation. */
	limit = OUTLIER * 1.4826 * median(off, n) + 1;
	for (unsigned int i = 0; i < n; i++) {
		if (off[i] > limit)
			continue;
		sum += value[i] - middle;
		squares += (value[i] - middle) * (value[i] - middle);
		used++;
	}
	*variance = squares / used / RTE_MAX(used - 1, 1u);
	return middle + sum / used;
}

/** Number of readings to use, sorted by width: at most half, and only tight ones. */
static unsigned int
tight_ones(const struct series *s, const struct mdv_clock_track *t)
{
	uint64_t limit = (uint64_t)(s->of[0].width * WIDTH_LIMIT) +
			 mdv_clock_ticks(WIDTH_LIMIT_NS, (uint64_t)t->tsc_hz);
	unsigned int n = RTE_MAX(s->n / 2, (unsigned int)READS_MIN), i;

	for (i = 1; i < n && s->of[i].width <= limit; i++)
		;
	return i;
}

int
mdv_clock_sample_take(const struct mdv_clock_ops *ops, void *ctx, mdv_clock_reader reader,
		      const struct mdv_clock_track *t, uint64_t mask, unsigned int reads,
		      struct mdv_clock_sample *sample)
{
	struct series s;
	double mean, unit_ns = MDV_NS_PER_S / t->y_hz;
	unsigned int n;
	int ret = read_series(ops, ctx, reader, t, RTE_MIN(reads, (unsigned int)READS_MAX), &s);

	if (ret != 0)
		return ret;
	sample->tsc = s.of[s.n - 1].tsc;
	qsort(s.of, s.n, sizeof(s.of[0]), by_width);
	n = tight_ones(&s, t);
	/* Relative to the first, so that fractions of a unit fit in a double. */
	for (unsigned int i = 0; i < n; i++) {
		double passed = (double)(int64_t)(s.of[i].tsc - s.of[0].tsc) * t->rate;
		uint64_t units = (s.of[i].y - s.of[0].y) & mask;
		double elapsed = units > mask / 2 ? -(double)((s.of[0].y - s.of[i].y) & mask) : units;

		s.of[i].residual = (elapsed - passed) * unit_ns;
	}
	mean = robust_mean(s.of, n, &sample->variance);
	sample->half_ns = mdv_clock_ns(s.of[0].width, (uint64_t)t->tsc_hz) / 2.0;
	sample->variance += FLOOR_NS2 + unit_ns * unit_ns / 12 / n;
	/* Too few readings to estimate the scatter: uniform within the bracket. */
	if (n < READS_MIN)
		sample->variance += sample->half_ns * sample->half_ns / 3;
	sample->y = unwrap(t, s.of[0].tsc, s.of[0].y, mask);
	sample->part = mean / unit_ns + (double)(int64_t)(sample->tsc - s.of[0].tsc) * t->rate;
	return 0;
}
