/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Arithmetic of clock lines, exact in 128 bits. */

#include <errno.h>
#include <math.h>
#include <string.h>

#include <rte_bitops.h>
#include <rte_common.h>

#include "mdv_clock_int.h"

static uint64_t
muldiv(uint64_t a, uint64_t b, uint64_t c)
{
	unsigned __int128 q = (unsigned __int128)a * b / c;

	return q > UINT64_MAX ? UINT64_MAX : (uint64_t)q;
}

uint64_t
mdv_clock_ticks(uint64_t ns, uint64_t hz)
{
	return muldiv(ns, hz, MDV_NS_PER_S);
}

uint64_t
mdv_clock_ns(uint64_t ticks, uint64_t hz)
{
	return muldiv(ticks, MDV_NS_PER_S, hz);
}

void
mdv_clock_line_around(struct mdv_clock_line *line, uint64_t ticks, unsigned __int128 value,
		      uint64_t before, uint64_t span)
{
	unsigned __int128 top = ((unsigned __int128)1 << 64) << line->shift;
	unsigned __int128 limit = (top - 1 - value) / line->mult;

	/* Keep all values of the line within 64 bits. */
	if (value / line->mult < before) {
		span -= before - (uint64_t)(value / line->mult);
		before = (uint64_t)(value / line->mult);
	}
	if (limit < span - before)
		span = before + (uint64_t)limit;
	value -= (unsigned __int128)before * line->mult;
	line->base = ticks - before;
	line->span = span;
	line->start = (uint64_t)(value >> line->shift);
	line->frac = (uint64_t)value & (RTE_BIT64(line->shift) - 1);
}

/*
 * A shift below the minimum is increased together with mult and value, which is exact. A shift above
 * the maximum could not be decreased exactly and is refused; no kernel uses one.
 */
int
mdv_clock_line_of_point(const struct mdv_clock_point *point, struct mdv_clock_line *line)
{
	unsigned __int128 value = point->ns;
	uint64_t mult = point->mult;
	uint32_t shift = RTE_MAX(point->shift, (uint32_t)MDV_CLOCK_SHIFT_MIN), more = shift - point->shift;

	memset(line, 0, sizeof(*line));
	if (point->mask == 0 || (point->mask & (point->mask + 1)) != 0 ||
	    point->mask >> MDV_CLOCK_MASK_BITS_MAX != 0 || point->shift > MDV_CLOCK_SHIFT_MAX)
		return -EPROTO;
	value = (value << point->shift) + point->frac;
	if (mult == 0 || mult << more > UINT32_MAX || value >> point->shift > UINT64_MAX)
		return -EPROTO;
	line->mult = (uint32_t)(mult << more);
	line->shift = shift;
	line->mask = point->mask;
	/* A stamp at half of the mask is after the point, as in mlx5dv_ts_to_ns() (mlx5dv.h). */
	mdv_clock_line_around(line, point->cycles, value << more, line->mask - line->mask / 2,
			      line->mask);
	return 0;
}

/* Use the largest shift for which mult fits in 32 bits. */
int
mdv_clock_line_of_slope(const struct mdv_clock_slope *slope, struct mdv_clock_line *line)
{
	uint32_t shift = MDV_CLOCK_SHIFT_MAX;
	__int128 value;
	double mult;

	memset(line, 0, sizeof(*line));
	while (shift > MDV_CLOCK_SHIFT_MIN && ldexp(slope->rate, (int)shift) > UINT32_MAX)
		shift--;
	mult = nearbyint(ldexp(slope->rate, (int)shift));
	value = ((__int128)slope->value << shift) + (__int128)ldexp(slope->part, (int)shift);
	if (!(mult >= 1 && mult <= UINT32_MAX) || value < 0 || value >> shift > UINT64_MAX)
		return -EPROTO;
	line->mult = (uint32_t)mult;
	line->shift = shift;
	line->mask = slope->mask;
	mdv_clock_line_around(line, slope->ticks, (unsigned __int128)value,
			      RTE_MIN(slope->before, slope->mask / 4), slope->mask / 2);
	line->span = RTE_MIN(line->span, slope->ticks - line->base + slope->after);
	return 0;
}
