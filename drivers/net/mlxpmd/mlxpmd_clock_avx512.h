/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * Device timestamps to values, eight at a time, bit by bit what mlxpmd_clock_convert() gives: by two products of
 * 32 bits (see mlxpmd_clock_avx2.h), or by one of 52 bits where the CPU has AVX512-IFMA.
 */
#ifndef MLXPMD_CLOCK_AVX512_H
#define MLXPMD_CLOCK_AVX512_H

#include <immintrin.h>

#include "mlxpmd_clock.h"

/** A line, spread out. */
struct mlxpmd_clock_avx512 {
	__m512i base, mask, span, mult, frac, start;
	__m128i shift, shift_upper;
};

/** Can this line be used? Else the scalar conversion serves. */
static __rte_always_inline bool
mlxpmd_clock_avx512_fits(const struct mlxpmd_clock_snap *s)
{
	return s->shift <= 32;
}

static __rte_always_inline struct mlxpmd_clock_avx512
mlxpmd_clock_avx512(const struct mlxpmd_clock_snap *s)
{
	return (struct mlxpmd_clock_avx512){
		.base = _mm512_set1_epi64(s->base),
		.mask = _mm512_set1_epi64(s->mask),
		.span = _mm512_set1_epi64(s->span),
		.mult = _mm512_set1_epi64(s->mult),
		.frac = _mm512_set1_epi64(s->frac),
		.start = _mm512_set1_epi64(s->start),
		.shift = _mm_cvtsi32_si128(s->shift),
		.shift_upper = _mm_cvtsi32_si128(32 - s->shift),
	};
}

/** @return A bit where the stamp is outside the line. */
static __rte_always_inline __mmask8
mlxpmd_clock_avx512_convert(const struct mlxpmd_clock_avx512 *c, __m512i ts, __m512i *value)
{
	__m512i off = _mm512_and_si512(_mm512_sub_epi64(ts, c->base), c->mask);
	__m512i lower = _mm512_mul_epu32(off, c->mult);
	__m512i upper = _mm512_mul_epu32(_mm512_srli_epi64(off, 32), c->mult);

	lower = _mm512_srl_epi64(_mm512_add_epi64(lower, c->frac), c->shift);
	upper = _mm512_sll_epi64(upper, c->shift_upper);
	*value = _mm512_add_epi64(_mm512_add_epi64(upper, lower), c->start);
	return _mm512_cmpgt_epu64_mask(off, c->span);
}

/** Seconds and nanoseconds to nanoseconds. @return A bit where it is no time. */
static __rte_always_inline __mmask8
mlxpmd_clock_avx512_unpack(__m512i ts, __m512i *value)
{
	const __m512i ns_per_s = _mm512_set1_epi64(NS_PER_S);
	__m512i ns = _mm512_and_si512(ts, _mm512_set1_epi64(UINT32_MAX));

	*value = _mm512_add_epi64(_mm512_mul_epu32(_mm512_srli_epi64(ts, 32), ns_per_s), ns);
	return _mm512_cmpge_epu64_mask(ns, ns_per_s);
}

#ifdef __AVX512IFMA__
/*
 * With off below 2^41, shift 21..32 and mult below 2^32, (off << 11) * (mult << (41 - shift)) is the product moved
 * up so that its unit is bit 52, and both factors have 52 bits at most: the upper 52 bits of the product are the
 * whole part, the lower 52 and frac, moved as far, at most carry one.
 */
#define MLXPMD_CLOCK_IFMA_OFF 11
struct mlxpmd_clock_ifma {
	__m512i base, mask, span, mult, frac, start;
};

static __rte_always_inline bool
mlxpmd_clock_ifma_fits(const struct mlxpmd_clock_snap *s)
{
	return s->shift >= 21 && s->shift <= 32 && s->span < RTE_BIT64(41);
}

static __rte_always_inline struct mlxpmd_clock_ifma
mlxpmd_clock_ifma(const struct mlxpmd_clock_snap *s)
{
	return (struct mlxpmd_clock_ifma){
		.base = _mm512_set1_epi64(s->base),
		/* Of a wider counter the upper bits are lost, but not for the comparison that rejects the stamp. */
		.mask = _mm512_set1_epi64(s->mask << MLXPMD_CLOCK_IFMA_OFF),
		.span = _mm512_set1_epi64(s->span << MLXPMD_CLOCK_IFMA_OFF),
		.mult = _mm512_set1_epi64((uint64_t)s->mult << (41 - s->shift)),
		.frac = _mm512_set1_epi64(s->frac << (52 - s->shift)),
		.start = _mm512_set1_epi64(s->start),
	};
}

/** @return A bit where the stamp is outside the line. */
static __rte_always_inline __mmask8
mlxpmd_clock_ifma_convert(const struct mlxpmd_clock_ifma *c, __m512i ts, __m512i *value)
{
	__m512i off = _mm512_slli_epi64(_mm512_sub_epi64(ts, c->base), MLXPMD_CLOCK_IFMA_OFF);
	__m512i lower;

	off = _mm512_and_si512(off, c->mask);
	lower = _mm512_madd52lo_epu64(c->frac, off, c->mult);
	*value = _mm512_add_epi64(_mm512_madd52hi_epu64(c->start, off, c->mult), _mm512_srli_epi64(lower, 52));
	return _mm512_cmpgt_epu64_mask(off, c->span);
}
#endif

#endif /* MLXPMD_CLOCK_AVX512_H */
