/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Expressions with loads of a page, for compilers to make instructions of: see loads.c. */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "loads.h"

#define NOINLINE __attribute__((noinline))

/* The same load in the operations that have instructions with a memory operand. */
#define INTEGER(type, name)                                                                        \
	static NOINLINE uint64_t *name(uint64_t *out, const uint8_t *page, long i, uint64_t operand) \
	{                                                                                          \
		const volatile type *p = (const volatile type *)page, *q = p + 16;                 \
		type o = (type)operand;                                                            \
                                                                                                   \
		*out++ = (uint64_t)*p;                                                             \
		*out++ = (uint64_t)(int64_t)p[i];                                                  \
		*out++ = (uint64_t)(uint32_t)q[-15];                                               \
		*out++ = (uint64_t)(uint16_t)*p + (uint64_t)(uint8_t)p[i + 1];                     \
		*out++ = (uint64_t)(type)(*p + o);                                                 \
		*out++ = (uint64_t)(type)(o - p[i]);                                               \
		*out++ = (uint64_t)(type)(*p & o);                                                 \
		*out++ = (uint64_t)(type)(p[i] | o);                                               \
		*out++ = (uint64_t)(type)(*p ^ o);                                                 \
		*out++ = (uint64_t)(type)((uint64_t)*p * (uint64_t)o);                             \
		*out++ = (uint64_t)(type)((uint64_t)p[i] * 77);                                    \
		*out++ = (uint64_t)(o / (type)((type)(p[i] & 0x3f) + 1));                          \
		*out++ = *p == o;                                                                  \
		*out++ = p[i] < o;                                                                 \
		*out++ = o > *p;                                                                   \
		*out++ = *p == 17 ? 3 : 5;                                                         \
		*out++ = p[i] != 0;                                                                \
		*out++ = *p < 0x7f;                                                                \
		*out++ = (*p & o) != 0;                                                            \
		*out++ = (p[i] & 0x40) == 0 ? operand : operand * 3;                               \
		*out++ = o > 100 ? (uint64_t)*p : operand;                                         \
		*out++ = (uint64_t)__builtin_bswap64((uint64_t)*p);                                \
		*out++ = __builtin_bswap32((uint32_t)p[i]);                                        \
		*out++ = __builtin_bswap16((uint16_t)*p);                                          \
		*out++ = (uint64_t)__builtin_popcountll((uint64_t)*p);                             \
		*out++ = (uint64_t)*p >> 3 | (uint64_t)p[i] << 7;                                  \
		*out++ = (uint64_t)*p << (o & 31);                                                 \
		*out++ = ((uint64_t)*p >> (operand & 63)) & 1;                                     \
		*out++ = (bool)*p;                                                                 \
		double d = (double)*p + 1.5;                                                       \
		float f = (float)p[i] * 3.0f;                                                      \
		memcpy(out++, &d, sizeof(d));                                                      \
		*out = 0;                                                                          \
		memcpy(out++, &f, sizeof(f));                                                      \
		*out++ = (uint64_t)(int64_t)((long double)*p / 3);                                 \
		return out;                                                                        \
	}

INTEGER(uint8_t, load_u8)
INTEGER(int8_t, load_s8)
INTEGER(uint16_t, load_u16)
INTEGER(int16_t, load_s16)
INTEGER(uint32_t, load_u32)
INTEGER(int32_t, load_s32)
INTEGER(uint64_t, load_u64)
INTEGER(int64_t, load_s64)

/* 128 bits: add with carry, subtract with borrow. */
static NOINLINE uint64_t *
load_wide(uint64_t *out, const uint8_t *page, long i, uint64_t operand)
{
	const volatile uint64_t *p = (const volatile uint64_t *)page;
	unsigned __int128 sum = ((unsigned __int128)operand << 64 | operand);
	uint64_t value;

	sum += (unsigned __int128)p[i] << 64 | p[0];
	*out++ = (uint64_t)sum;
	*out++ = (uint64_t)(sum >> 64);
	sum -= (unsigned __int128)p[i + 1] << 64 | p[i];
	*out++ = (uint64_t)sum;
	*out++ = (uint64_t)(sum >> 64);
	*out++ = (uint64_t)(((unsigned __int128)p[0] * operand) >> 64);
	*out++ = __builtin_add_overflow(p[0], operand, &value);
	*out++ = value;
	*out++ = __builtin_sub_overflow((int64_t)operand, (int64_t)p[i], (int64_t *)&value);
	*out++ = value;
	return out;
}

/* As drivers read the counter: upper, lower, upper half, big-endian. */
static NOINLINE uint64_t *
load_halves(uint64_t *out, const uint8_t *page, long i, uint64_t operand)
{
	const volatile uint32_t *p = (const volatile uint32_t *)page;
	uint32_t high, low;
	unsigned tries = 3;

	do {
		high = __builtin_bswap32(p[0]);
		low = __builtin_bswap32(p[1]);
	} while (high != __builtin_bswap32(p[0]) && --tries > 0);
	*out++ = (uint64_t)high << 32 | low;
	*out++ = tries + (uint64_t)i;
	*out++ = operand;
	return out;
}

#define REAL(type, name)                                                                           \
	static NOINLINE uint64_t *name(uint64_t *out, const uint8_t *page, long i, uint64_t operand) \
	{                                                                                          \
		const volatile type *p = (const volatile type *)page;                              \
		type o = (type)operand, r[10];                                                     \
                                                                                                   \
		r[0] = p[0];                                                                       \
		r[1] = p[0] + o;                                                                   \
		r[2] = o - p[i];                                                                   \
		r[3] = p[0] * o;                                                                   \
		r[4] = p[i] / (o + 1);                                                             \
		r[5] = p[0] < o ? p[i] : o;                                                        \
		r[6] = (type)(float)p[0];                                                          \
		r[7] = (type)(double)p[i];                                                         \
		r[8] = -p[0];                                                                      \
		r[9] = p[i] == o;                                                                  \
		memcpy(out, r, sizeof(r));                                                         \
		return out + sizeof(r) / (sizeof(uint64_t));                                         \
	}

REAL(float, load_float)
REAL(double, load_double)

/* Vectors of each width; without the extension the compiler splits them. */
#define VECTOR(type, bytes, name)                                                                  \
	typedef type name##_type __attribute__((vector_size(bytes), aligned(1), may_alias));       \
	static NOINLINE uint64_t *name(uint64_t *out, const uint8_t *page, long i, uint64_t operand) \
	{                                                                                          \
		const volatile name##_type *p = (const volatile name##_type *)page;                \
		name##_type o = (name##_type){0} + (type)operand, r[8];                            \
                                                                                                   \
		r[0] = *p;                                                                         \
		r[1] = p[i & 1] + o;                                                               \
		r[2] = o - *p;                                                                     \
		r[3] = *p & o;                                                                     \
		r[4] = *p ^ p[i & 1];                                                              \
		r[5] = *p * o;                                                                     \
		r[6] = (name##_type)(*p > o);                                                      \
		r[7] = (name##_type)(*p == o);                                                     \
		memcpy(out, r, sizeof(r));                                                         \
		return out + sizeof(r) / (sizeof(uint64_t));                                         \
	}

VECTOR(int8_t, 16, load_v16b)
VECTOR(int32_t, 16, load_v16d)
VECTOR(int64_t, 16, load_v16q)
VECTOR(uint16_t, 32, load_v32w)
VECTOR(int32_t, 32, load_v32d)
VECTOR(int64_t, 64, load_v64q)
VECTOR(uint8_t, 64, load_v64b)

/* Loops and copies that compilers make vectors of. */
static NOINLINE uint64_t *
load_loops(uint64_t *out, const uint8_t *page, long i, uint64_t operand)
{
	const uint32_t *words = (const uint32_t *)page;
	struct block { uint64_t word[6]; } block;
	uint64_t sum = 0, xor = operand;

	for (unsigned k = 0; k < 64; k++)
		sum += page[k];
	for (unsigned k = 0; k < 32; k++)
		xor ^= (uint64_t)words[k] * (k + (unsigned)i);
	memcpy(&block, page, sizeof(block));
	*out++ = sum;
	*out++ = xor;
	memcpy(out, &block, sizeof(block));
	out += sizeof(block) / (sizeof(uint64_t));
	for (unsigned k = 0; k < 16; k++)
		out[k] = words[k] < (uint32_t)operand ? words[k] : k;
	return out + 16;
}

const load_case load_cases[] = {
	load_u8, load_s8, load_u16, load_s16, load_u32, load_s32, load_u64, load_s64, load_wide,
	load_halves, load_float, load_double, load_v16b, load_v16d, load_v16q, load_v32w, load_v32d,
	load_v64q, load_v64b, load_loops,
	NULL,
};
