/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * 128-bit vectors for NEON and for SSE4.2: arithmetic by the compiler's operators, and what these do not express.
 */
#ifndef MLXPMD_VEC_128_H
#define MLXPMD_VEC_128_H

#include <stdbool.h>
#include <stdint.h>

#ifdef RTE_ARCH_ARM64
#include <arm_neon.h>
#else
#include <nmmintrin.h>
#endif

#include <rte_common.h>

/* Vectors of rings and mbufs, which are accessed by other types elsewhere. No alignment beyond that of a member. */
typedef uint8_t vec8 __attribute__((vector_size(16), aligned(1), __may_alias__));
typedef uint32_t vec32 __attribute__((vector_size(16), aligned(4), __may_alias__));
typedef uint64_t vec64 __attribute__((vector_size(16), aligned(8), __may_alias__));

/* The lower and the upper halves of two vectors. */
#define LOW64(a, b) ((vec64)__builtin_shufflevector((vec64)(a), (vec64)(b), 0, 2))
#define HIGH64(a, b) ((vec64)__builtin_shufflevector((vec64)(a), (vec64)(b), 1, 3))
/* The odd elements of two vectors. */
#define ODD32(a, b) ((vec32)__builtin_shufflevector((vec32)(a), (vec32)(b), 1, 3, 5, 7))

static __rte_always_inline vec32
all32(uint32_t x)
{
	return (vec32){ x, x, x, x };
}

static __rte_always_inline vec64
all64(uint64_t x)
{
	return (vec64){ x, x };
}

#ifdef RTE_ARCH_ARM64

/* Bytes of v by their numbers; 0 for the number 255. */
static __rte_always_inline vec8
bytes(vec8 v, vec8 numbers)
{
	return (vec8)vqtbl1q_u8((uint8x16_t)v, (uint8x16_t)numbers);
}

static __rte_always_inline vec8
min8(vec8 a, vec8 b)
{
	return (vec8)vminq_u8((uint8x16_t)a, (uint8x16_t)b);
}

/* Does any bit of v have the value 1? */
static __rte_always_inline bool
any(vec32 v)
{
	return vmaxvq_u32((uint32x4_t)v) != 0;
}

static __rte_always_inline uint32_t
sum32(vec32 v)
{
	return vaddvq_u32((uint32x4_t)v);
}

/* Products of the lower halves of all elements. */
static __rte_always_inline vec64
mul_low32(vec64 a, vec64 b)
{
	return (vec64)vmull_u32(vmovn_u64((uint64x2_t)a), vmovn_u64((uint64x2_t)b));
}

/* n: 0 to 63. */
static __rte_always_inline vec64
shift_left(vec64 v, unsigned int n)
{
	return (vec64)vshlq_u64((uint64x2_t)v, vdupq_n_s64(n));
}

static __rte_always_inline vec64
shift_right(vec64 v, unsigned int n)
{
	return (vec64)vshlq_u64((uint64x2_t)v, vdupq_n_s64(-(int64_t)n));
}

#else

static __rte_always_inline vec8
bytes(vec8 v, vec8 numbers)
{
	return (vec8)_mm_shuffle_epi8((__m128i)v, (__m128i)numbers);
}

static __rte_always_inline vec8
min8(vec8 a, vec8 b)
{
	return (vec8)_mm_min_epu8((__m128i)a, (__m128i)b);
}

static __rte_always_inline bool
any(vec32 v)
{
	return !_mm_testz_si128((__m128i)v, (__m128i)v);
}

static __rte_always_inline uint32_t
sum32(vec32 v)
{
	v += (vec32)HIGH64(v, v);
	return v[0] + v[1];
}

static __rte_always_inline vec64
mul_low32(vec64 a, vec64 b)
{
	return (vec64)_mm_mul_epu32((__m128i)a, (__m128i)b);
}

static __rte_always_inline vec64
shift_left(vec64 v, unsigned int n)
{
	return (vec64)_mm_sll_epi64((__m128i)v, _mm_cvtsi32_si128(n));
}

static __rte_always_inline vec64
shift_right(vec64 v, unsigned int n)
{
	return (vec64)_mm_srl_epi64((__m128i)v, _mm_cvtsi32_si128(n));
}

#endif

static __rte_always_inline vec32
swap32(vec32 v)
{
	return (vec32)bytes((vec8)v, (vec8){ 3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12 });
}

static __rte_always_inline vec64
swap64(vec64 v)
{
	return (vec64)bytes((vec8)v, (vec8){ 7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8 });
}

#endif /* MLXPMD_VEC_128_H */
