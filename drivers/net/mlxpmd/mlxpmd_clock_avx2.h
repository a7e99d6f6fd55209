/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * Device timestamps to values, four at a time, bit by bit what mlxpmd_clock_convert() gives.
 *
 * The product off * mult has up to 79 bits. With mult below 2^32 and shift at most 32 two products of 32 bits are
 * enough and exact: the upper one is a multiple of 2^32, so shifting it right by `shift` loses nothing, and it is
 * shifted left by the rest; the lower one and frac stay below 2^64.
 */
#ifndef MLXPMD_CLOCK_AVX2_H
#define MLXPMD_CLOCK_AVX2_H

#include <immintrin.h>

#include "mlxpmd_clock.h"

/** A line, spread out. */
struct mlxpmd_clock_avx2 {
	__m256i base, mask, span, mult, frac, start;
	__m128i shift, shift_upper;
};

/** Can this line be used? Else the scalar conversion serves. */
static __rte_always_inline bool
mlxpmd_clock_avx2_fits(const struct mlxpmd_clock_snap *s)
{
	/* The comparison is of signed numbers. */
	return s->shift <= 32 && s->span <= INT64_MAX && s->mask <= INT64_MAX;
}

static __rte_always_inline struct mlxpmd_clock_avx2
mlxpmd_clock_avx2(const struct mlxpmd_clock_snap *s)
{
	return (struct mlxpmd_clock_avx2){
		.base = _mm256_set1_epi64x(s->base),
		.mask = _mm256_set1_epi64x(s->mask),
		.span = _mm256_set1_epi64x(s->span),
		.mult = _mm256_set1_epi64x(s->mult),
		.frac = _mm256_set1_epi64x(s->frac),
		.start = _mm256_set1_epi64x(s->start),
		.shift = _mm_cvtsi32_si128(s->shift),
		.shift_upper = _mm_cvtsi32_si128(32 - s->shift),
	};
}

/** @return All ones where the stamp is outside the line. */
static __rte_always_inline __m256i
mlxpmd_clock_avx2_convert(const struct mlxpmd_clock_avx2 *c, __m256i ts, __m256i *value)
{
	__m256i off = _mm256_and_si256(_mm256_sub_epi64(ts, c->base), c->mask);
	__m256i lower = _mm256_mul_epu32(off, c->mult);
	__m256i upper = _mm256_mul_epu32(_mm256_srli_epi64(off, 32), c->mult);

	lower = _mm256_srl_epi64(_mm256_add_epi64(lower, c->frac), c->shift);
	upper = _mm256_sll_epi64(upper, c->shift_upper);
	*value = _mm256_add_epi64(_mm256_add_epi64(upper, lower), c->start);
	return _mm256_cmpgt_epi64(off, c->span);
}

/** Seconds and nanoseconds to nanoseconds. @return All ones where it is no time. */
static __rte_always_inline __m256i
mlxpmd_clock_avx2_unpack(__m256i ts, __m256i *value)
{
	const __m256i ns_per_s = _mm256_set1_epi64x(NS_PER_S);
	__m256i ns = _mm256_and_si256(ts, _mm256_set1_epi64x(UINT32_MAX));

	*value = _mm256_add_epi64(_mm256_mul_epu32(_mm256_srli_epi64(ts, 32), ns_per_s), ns);
	return _mm256_cmpgt_epi64(ns, _mm256_set1_epi64x(NS_PER_S - 1));
}

#endif /* MLXPMD_CLOCK_AVX2_H */
