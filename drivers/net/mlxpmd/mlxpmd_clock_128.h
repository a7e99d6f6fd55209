/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * Device timestamps to values, two at a time, by the method of mlxpmd_clock_avx2.h.
 */
#ifndef MLXPMD_CLOCK_128_H
#define MLXPMD_CLOCK_128_H

#include "mlxpmd_clock.h"
#include "mlxpmd_vec_128.h"

/** A line, spread out. */
struct mlxpmd_clock_128 {
	vec64 base, mask, span, mult, frac, start;
	unsigned int shift;
};

/** Can this line be used? Else the scalar conversion serves. */
static __rte_always_inline bool
mlxpmd_clock_128_fits(const struct mlxpmd_clock_snap *s)
{
	return s->shift <= 32;
}

static __rte_always_inline struct mlxpmd_clock_128
mlxpmd_clock_128(const struct mlxpmd_clock_snap *s)
{
	return (struct mlxpmd_clock_128){
		.base = all64(s->base),
		.mask = all64(s->mask),
		.span = all64(s->span),
		.mult = all64(s->mult),
		.frac = all64(s->frac),
		.start = all64(s->start),
		.shift = s->shift,
	};
}

/** @return All ones where the stamp is outside the line. */
static __rte_always_inline vec64
mlxpmd_clock_128_convert(const struct mlxpmd_clock_128 *c, vec64 ts, vec64 *value)
{
	const vec64 off = (ts - c->base) & c->mask;
	const vec64 lower = shift_right(mul_low32(off, c->mult) + c->frac, c->shift);
	const vec64 upper = shift_left(mul_low32(off >> 32, c->mult), 32 - c->shift);

	*value = upper + lower + c->start;
	return (vec64)(off > c->span);
}

/** Seconds and nanoseconds to nanoseconds. @return All ones where it is no time. */
static __rte_always_inline vec64
mlxpmd_clock_128_unpack(vec64 ts, vec64 *value)
{
	const vec64 ns = ts & all64(UINT32_MAX);

	*value = mul_low32(ts >> 32, all64(NS_PER_S)) + ns;
	return (vec64)(ns > all64(NS_PER_S - 1));
}

#endif /* MLXPMD_CLOCK_128_H */
