/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Readings of a clock between two looks at the TSC, of which the ones that took the shortest count.
 */

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include <rte_common.h>

#include "mdv_clock_int.h"

#define READS_MAX 32
/* Fewer than these, and there is no telling the good ones from the others. */
#define READS_MIN 4
/* Readings that took this much longer than the shortest are no better than none. */
#define WIDTH_LIMIT 1.5
#define WIDTH_LIMIT_NS 20
/*
 * A value that is found again so often is written by software, if at all: a few changes of it have
 * to do, and it is not waited for longer than that.
 */
#define STILL_READS 64
#define STILL_NS 300000
#define READS_LIMIT 20000
/* Readings this many deviations off the middle one are left out. */
#define OUTLIER 3.0
/* Nothing is read more precisely than this, ns^2: two looks at the TSC take as long. */
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

/**
 * y carried on from where the clock was expected to be: the nearest that agrees with it in the
 * mask.
 */
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
 * A value that was there before is no reading: on a card the counter moves on between any two, and
 * a page that software keeps in its place tells the time only at the moment when it changes.
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
		/* Where a value was found twice, the next one may have come any time since. */
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

/** Mean of the residuals without those far from the middle, and the variance of that mean. */
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
	/* 1.4826 makes a deviation of a median deviation. */
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

/** How many of the readings, sorted by their width, are to be believed: half, if they are alike. */
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
	/* Relative to the first of them, so that fractions of a unit survive. */
	for (unsigned int i = 0; i < n; i++) {
		double passed = (double)(int64_t)(s.of[i].tsc - s.of[0].tsc) * t->rate;
		uint64_t units = (s.of[i].y - s.of[0].y) & mask;
		double gone = units > mask / 2 ? -(double)((s.of[0].y - s.of[i].y) & mask) : units;

		s.of[i].residual = (gone - passed) * unit_ns;
	}
	mean = robust_mean(s.of, n, &sample->variance);
	sample->half_ns = mdv_clock_ns(s.of[0].width, (uint64_t)t->tsc_hz) / 2.0;
	sample->variance += FLOOR_NS2 + unit_ns * unit_ns / 12 / n;
	/* Few readings do not tell how far they scatter: anywhere in their brackets. */
	if (n < READS_MIN)
		sample->variance += sample->half_ns * sample->half_ns / 3;
	sample->y = unwrap(t, s.of[0].tsc, s.of[0].y, mask);
	sample->part = mean / unit_ns + (double)(int64_t)(sample->tsc - s.of[0].tsc) * t->rate;
	return 0;
}
