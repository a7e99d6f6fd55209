/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Forms of stores and loads of arm64, see vfio_store.c. */
#include <arpa/inet.h>
#include <endian.h>

#include "vfio_store.h"

/* One store of w9 by x10; the base is checked afterwards. */
#define STORE(insn, base, moved) \
	do { \
		uint64_t at_ = (uint64_t)(uintptr_t)(base), begin_ = at_; \
		*at = 0; \
		__asm__ volatile("mov w9, %w1\n\tmov x10, %0\n\tfmov s9, w9\n\t" insn "\n\tmov %0, x10" \
				 : "+r"(at_) : "r"(be), "r"(index) : "x9", "x10", "v9", "memory"); \
		CHECK_EQ(at_ - begin_, (uint64_t)(moved)); \
		CHECK_EQ(vfio_store_held(), v); \
	} while (0)

void
vfio_store_words(uint32_t v)
{
	const uint32_t be = htonl(v);
	volatile uint32_t *at = &vfio_store_bar[CMDQ_HI];
	uint8_t *page = (uint8_t *)(uintptr_t)at;
	long index = CMDQ_HI;

	STORE("str w9, [x10]", at, 0);
	STORE("str w9, [x10, #16]", vfio_store_bar, 0);
	STORE("stur w9, [x10, #-4]", page + 4, 0);
	STORE("str w9, [x10], #8", at, 8);
	STORE("str w9, [x10, #-12]!", page + 12, -12);
	STORE("str w9, [x10, %2, lsl #2]", vfio_store_bar, 0);
	STORE("stlr w9, [x10]", at, 0);
	STORE("str s9, [x10]", at, 0);
	/* The zero register is no stack pointer. */
	__asm__ volatile("str wzr, [%0]" : : "r"(at) : "memory");
	CHECK_EQ(vfio_store_held(), 0);
}

void
vfio_store_wide(uint32_t v)
{
	const uint64_t be = htonl(v) | (uint64_t)htonl(0x5000) << 32;
	volatile uint32_t *at = &vfio_store_bar[CMDQ_HI];
	uint64_t pair[2] = {htonl(v), htonl(0x5000)};
	uint64_t moved = (uint64_t)(uintptr_t)at;

	__asm__ volatile("str %1, [%0]" : : "r"(at), "r"(be) : "memory");
	CHECK_EQ(vfio_store_held(), v);
	CHECK_EQ(ntohl(vfio_store_bar[CMDQ_HI + 1]), 0x5056);
	__asm__ volatile("str xzr, [%0]" : : "r"(at) : "memory");
	CHECK_EQ(vfio_store_held(), 0);
	__asm__ volatile("stp %w1, %w2, [%0]" : : "r"(at), "r"(pair[0]), "r"(pair[1]) : "memory");
	CHECK_EQ(vfio_store_held(), v);
	*at = 0;
	__asm__ volatile("stp %w1, %w2, [%0], #8" : "+r"(moved) : "r"(pair[0]), "r"(pair[1]) : "memory");
	CHECK_EQ(vfio_store_held(), v);
	CHECK_EQ(moved - (uint64_t)(uintptr_t)at, 8);
	*at = 0;
	__asm__ volatile("fmov d3, %1\n\tstr d3, [%0]" : : "r"(at), "r"(be) : "v3", "memory");
	CHECK_EQ(vfio_store_held(), v);
	*at = 0;
	__asm__ volatile("fmov d3, %1\n\tst1 {v3.8b}, [%0]" : : "r"(at), "r"(be) : "v3", "memory");
	CHECK_EQ(vfio_store_held(), v);
}

/* The upper half does not change for seconds: each form of load finds its bytes. */
void
vfio_store_loads(void)
{
	const volatile uint32_t *at = &vfio_store_bar[TIMER_HI];
	const volatile uint8_t *page = (const volatile uint8_t *)at;
	uint64_t word, half, byte, sign, from_word, sign_half, ordered, first, second, vector, moved, wide;
	long index = TIMER_HI;
	uint32_t be, again;

	do {
		__asm__ volatile("ldr %w0, [%1]" : "=r"(be) : "r"(at) : "memory");
		__asm__ volatile("ldr %w0, [%1, %2, lsl #2]" : "=r"(word) : "r"(vfio_store_bar), "r"(index) : "memory");
		__asm__ volatile("ldrh %w0, [%1, #2]" : "=r"(half) : "r"(at) : "memory");
		__asm__ volatile("ldurb %w0, [%1, #-1]" : "=r"(byte) : "r"(page + 4) : "memory");
		__asm__ volatile("ldrsb %0, [%1, #3]" : "=r"(sign) : "r"(at) : "memory");
		__asm__ volatile("ldrsw %0, [%1]" : "=r"(from_word) : "r"(at) : "memory");
		__asm__ volatile("ldrsh %w0, [%1, #2]" : "=r"(sign_half) : "r"(at) : "memory");
		__asm__ volatile("ldar %w0, [%1]" : "=r"(ordered) : "r"(at) : "memory");
		__asm__ volatile("ldp %w0, %w1, [%2]" : "=&r"(first), "=r"(second) : "r"(at) : "memory");
		__asm__ volatile("ldr s5, [%1]\n\tfmov %0, d5" : "=r"(vector) : "r"(at) : "v5", "memory");
		moved = (uint64_t)(uintptr_t)at;
		__asm__ volatile("ldr %0, [%1], #8" : "=r"(wide), "+r"(moved) : : "memory");
		again = *at;
	} while (be != again);
	CHECK_EQ(word, be);
	CHECK_EQ(half, be >> 16);
	CHECK_EQ(byte, be >> 24);
	CHECK_EQ(sign, (uint64_t)(int8_t)(be >> 24));
	CHECK_EQ(from_word, (uint64_t)(int32_t)be);
	CHECK_EQ(sign_half, (uint32_t)(int16_t)(be >> 16));
	CHECK_EQ(ordered, be);
	CHECK_EQ(first, be);
	CHECK(second != 0);
	CHECK_EQ(vector, be);
	CHECK_EQ((uint32_t)wide, be);
	CHECK_EQ(moved - (uint64_t)(uintptr_t)at, 8);
}
