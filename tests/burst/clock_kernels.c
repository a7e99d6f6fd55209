/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Built once for each instruction set: KERNEL names it. */

#include "clock_kernels.h"

#define NAME_(kernel) clock_kernel_##kernel
#define NAME(kernel) NAME_(kernel)
#define STRING_(x) #x
#define STRING(x) STRING_(x)
#define TS_AT 0x30

#if defined(__AVX512IFMA__)
#include "mlxpmd_clock_avx512.h"
#define LANES 8
typedef __m512i vector;
typedef struct mlxpmd_clock_ifma spread;
#define fits_line mlxpmd_clock_ifma_fits
#define spread_line mlxpmd_clock_ifma
#define convert mlxpmd_clock_ifma_convert
#elif defined(__AVX512F__)
#include "mlxpmd_clock_avx512.h"
#define LANES 8
typedef __m512i vector;
typedef struct mlxpmd_clock_avx512 spread;
#define fits_line mlxpmd_clock_avx512_fits
#define spread_line mlxpmd_clock_avx512
#define convert mlxpmd_clock_avx512_convert
#elif defined(__AVX2__)
#include "mlxpmd_clock_avx2.h"
#define LANES 4
typedef __m256i vector;
typedef struct mlxpmd_clock_avx2 spread;
#define fits_line mlxpmd_clock_avx2_fits
#define spread_line mlxpmd_clock_avx2
#define convert mlxpmd_clock_avx2_convert
#elif MLXPMD_BITS == 128
#include "mlxpmd_clock_128.h"
#define LANES 2
typedef vec64 vector;
typedef struct mlxpmd_clock_128 spread;
#define fits_line mlxpmd_clock_128_fits
#define spread_line mlxpmd_clock_128
#define convert mlxpmd_clock_128_convert
#endif

#if !defined(LANES)
static bool
fits(const struct mlxpmd_clock_snap *line __rte_unused)
{
	return true;
}

static void
each(const struct mlxpmd_clock_snap *line, const uint64_t *ts, uint64_t *value, uint8_t *bad, size_t n)
{
	for (size_t i = 0; i < n; i++)
		bad[i] = !mlxpmd_clock_convert(line, ts[i], &value[i]);
}

static unsigned int
array(const struct mlxpmd_clock_snap *line, const uint64_t *ts, uint64_t *value, size_t n)
{
	unsigned int bad = 0;

	for (size_t i = 0; i < n; i++)
		bad |= !mlxpmd_clock_convert(line, ts[i], &value[i]);
	return bad;
}

static unsigned int
cqes(const struct mlxpmd_clock_snap *line, const uint8_t *cqe, uint64_t *value, size_t n)
{
	unsigned int bad = 0;

	for (size_t i = 0; i < n; i++)
		bad |= !mlxpmd_clock_convert(line, rte_be_to_cpu_64(*(const uint64_t *)(cqe + i * 64 + TS_AT)),
					     &value[i]);
	return bad;
}

static void
unpack(const uint64_t *ts, uint64_t *value, uint8_t *bad, size_t n)
{
	for (size_t i = 0; i < n; i++)
		bad[i] = !mlxpmd_clock_unpack(ts[i], &value[i]);
}
#else
static bool
fits(const struct mlxpmd_clock_snap *line)
{
	return fits_line(line);
}

#if LANES == 8
static __rte_always_inline vector
load(const uint64_t *at)
{
	return _mm512_loadu_si512(at);
}

static __rte_always_inline vector
load_cqes(const uint8_t *cqe)
{
	const __m512i order = _mm512_broadcast_i32x4(
		_mm_set_epi8(8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7));
	const __m128i *at = (const __m128i *)(cqe + TS_AT);
	__m512i even = _mm512_castsi128_si512(at[0]), odd = _mm512_castsi128_si512(at[4]);

	even = _mm512_inserti32x4(_mm512_inserti32x4(_mm512_inserti32x4(even, at[8], 1), at[16], 2), at[24], 3);
	odd = _mm512_inserti32x4(_mm512_inserti32x4(_mm512_inserti32x4(odd, at[12], 1), at[20], 2), at[28], 3);
	return _mm512_shuffle_epi8(_mm512_unpacklo_epi64(even, odd), order);
}

static __rte_always_inline void
store(uint64_t *at, vector v)
{
	_mm512_storeu_si512(at, v);
}

static __rte_always_inline void
bad_store(uint8_t *bad, __mmask8 m)
{
	for (unsigned int i = 0; i < LANES; i++)
		bad[i] = m >> i & 1;
}

static __rte_always_inline unsigned int
bad_any(__mmask8 m)
{
	return m;
}
#define vector_unpack mlxpmd_clock_avx512_unpack
#elif LANES == 4
static __rte_always_inline vector
load(const uint64_t *at)
{
	return _mm256_loadu_si256((const __m256i *)at);
}

static __rte_always_inline vector
load_cqes(const uint8_t *cqe)
{
	const __m256i order = _mm256_broadcastsi128_si256(
		_mm_set_epi8(8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7));
	const __m128i *at = (const __m128i *)(cqe + TS_AT);
	__m256i even = _mm256_inserti128_si256(_mm256_castsi128_si256(at[0]), at[8], 1);
	__m256i odd = _mm256_inserti128_si256(_mm256_castsi128_si256(at[4]), at[12], 1);

	return _mm256_shuffle_epi8(_mm256_unpacklo_epi64(even, odd), order);
}

static __rte_always_inline void
store(uint64_t *at, vector v)
{
	_mm256_storeu_si256((__m256i *)at, v);
}

static __rte_always_inline void
bad_store(uint8_t *bad, vector v)
{
	uint32_t m = _mm256_movemask_epi8(v);

	for (unsigned int i = 0; i < LANES; i++)
		bad[i] = m >> 8 * i & 1;
}

static __rte_always_inline unsigned int
bad_any(vector v)
{
	return _mm256_movemask_epi8(v);
}
#define vector_unpack mlxpmd_clock_avx2_unpack
#else
static __rte_always_inline vector
load(const uint64_t *at)
{
	return *(const vector *)at;
}

static __rte_always_inline vector
load_cqes(const uint8_t *cqe)
{
	const mlxpmd_u64 *at = (const mlxpmd_u64 *)(cqe + TS_AT);

	return swap64((vector){ at[0], at[8] });
}

static __rte_always_inline void
store(uint64_t *at, vector v)
{
	*(vector *)at = v;
}

static __rte_always_inline void
bad_store(uint8_t *bad, vector v)
{
	bad[0] = v[0];
	bad[1] = v[1];
}

static __rte_always_inline unsigned int
bad_any(vector v)
{
	return any((vec32)v);
}
#define vector_unpack mlxpmd_clock_128_unpack
#endif

static void
each(const struct mlxpmd_clock_snap *line, const uint64_t *ts, uint64_t *value, uint8_t *bad, size_t n)
{
	const spread s = spread_line(line);
	vector v;

	for (size_t i = 0; i < n; i += LANES) {
		bad_store(bad + i, convert(&s, load(ts + i), &v));
		store(value + i, v);
	}
}

static unsigned int
array(const struct mlxpmd_clock_snap *line, const uint64_t *ts, uint64_t *value, size_t n)
{
	const spread s = spread_line(line);
	unsigned int bad = 0;
	vector v;

	for (size_t i = 0; i < n; i += LANES) {
		bad |= bad_any(convert(&s, load(ts + i), &v));
		store(value + i, v);
	}
	return bad;
}

static unsigned int
cqes(const struct mlxpmd_clock_snap *line, const uint8_t *cqe, uint64_t *value, size_t n)
{
	const spread s = spread_line(line);
	unsigned int bad = 0;
	vector v;

	for (size_t i = 0; i < n; i += LANES) {
		bad |= bad_any(convert(&s, load_cqes(cqe + i * 64), &v));
		store(value + i, v);
	}
	return bad;
}

static void
unpack(const uint64_t *ts, uint64_t *value, uint8_t *bad, size_t n)
{
	vector v;

	for (size_t i = 0; i < n; i += LANES) {
		bad_store(bad + i, vector_unpack(load(ts + i), &v));
		store(value + i, v);
	}
}
#endif

const struct clock_kernel NAME(KERNEL) = { STRING(KERNEL), fits, each, array, cqes, unpack };
