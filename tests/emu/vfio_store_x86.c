/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Forms of stores and loads of x86-64, see vfio_store.c. */
#include <arpa/inet.h>
#include <endian.h>

#include "vfio_store.h"

void
vfio_store_words(uint32_t v)
{
	const uint32_t be = htonl(v);
	volatile uint32_t *at = &vfio_store_bar[CMDQ_HI];
	uint32_t old = be + 1;
	long index = CMDQ_HI;
	uint64_t r9 = be;

	__asm__ volatile("movl %1, (%0)" : : "r"(at), "r"(be) : "memory");
	CHECK_EQ(vfio_store_held(), v);
	__asm__ volatile("movl $0x01020304, (%0)" : : "r"(at) : "memory");
	CHECK_EQ(vfio_store_held(), 0x04030201);
	/* Every form of address: index, displacement of one and four bytes, registers 8 to 15. */
	__asm__ volatile("movl %2, (%0,%1,4)" : : "r"(vfio_store_bar), "r"(index), "r"(be) : "memory");
	CHECK_EQ(vfio_store_held(), v);
	__asm__ volatile("movl $0, 16(%0)" : : "r"(vfio_store_bar) : "memory");
	CHECK_EQ(vfio_store_held(), 0);
	__asm__ volatile("movl %1, 0x1000(%0)" : : "r"((uint8_t *)(uintptr_t)at - 0x1000), "r"(be)
			 : "memory");
	CHECK_EQ(vfio_store_held(), v);
	__asm__ volatile("movq %1, %%r9; movq %0, %%r13; movl $7, (%%r13); movl %%r9d, (%%r13)"
			 : : "r"(at), "r"(r9) : "r9", "r13", "memory");
	CHECK_EQ(vfio_store_held(), v);
	__asm__ volatile("movl $0, (%0); movnti %1, (%0)" : : "r"(at), "r"(be) : "memory");
	CHECK_EQ(vfio_store_held(), v);
	__asm__ volatile("xchgl %0, (%1)" : "+r"(old) : "r"(at) : "memory");
	CHECK_EQ(old, be);
	CHECK_EQ(vfio_store_bar[CMDQ_HI], be + 1);
	if (__builtin_cpu_supports("sse4.2")) {
		__asm__ volatile("movd %1, %%xmm11; movd %%xmm11, (%0)" : : "r"(at), "r"(be)
				 : "xmm11", "memory");
		CHECK_EQ(vfio_store_held(), v);
	}
}

/* Two registers at once: the lower half keeps its own fixed bits. */
void
vfio_store_wide(uint32_t v)
{
	const uint64_t be = htonl(v) | (uint64_t)htonl(0x5000) << 32;
	volatile uint32_t *at = &vfio_store_bar[CMDQ_HI];

	__asm__ volatile("movq %1, (%0)" : : "r"(at), "r"(be) : "memory");
	CHECK_EQ(vfio_store_held(), v);
	CHECK_EQ(ntohl(vfio_store_bar[CMDQ_HI + 1]), 0x5056);
	__asm__ volatile("movq $0, (%0)" : : "r"(at) : "memory");
	CHECK_EQ(vfio_store_held(), 0);
	__asm__ volatile("movq %1, %%xmm3; movq %%xmm3, (%0)" : : "r"(at), "r"(be)
			 : "xmm3", "memory");
	CHECK_EQ(vfio_store_held(), v);
	__asm__ volatile("movl $0, (%0); movnti %1, (%0)" : : "r"(at), "r"(be) : "memory");
	CHECK_EQ(vfio_store_held(), v);
	if (__builtin_cpu_supports("avx")) {
		__asm__ volatile("movl $0, (%0); vmovq %1, %%xmm9; vmovq %%xmm9, (%0)"
				 : : "r"(at), "r"(be) : "xmm9", "memory");
		CHECK_EQ(vfio_store_held(), v);
	}
}

/* The upper half does not change for seconds: each form of load finds its bytes. */
void
vfio_store_loads(void)
{
	const volatile uint32_t *at = &vfio_store_bar[TIMER_HI];
	uint64_t word, half, byte, sign, from_word, swapped, high, short_one;
	uint32_t be, again;
	long index = TIMER_HI;

	do {
		__asm__ volatile("movl (%1), %k0" : "=r"(be) : "r"(at) : "memory");
		__asm__ volatile("movl (%1,%2,4), %k0" : "=r"(word) : "r"(vfio_store_bar), "r"(index) : "memory");
		__asm__ volatile("movzwl 2(%1), %k0" : "=r"(half) : "r"(at) : "memory");
		__asm__ volatile("movq %1, %%r13; movzbl 3(%%r13), %%r9d; movq %%r9, %0"
				 : "=r"(byte) : "r"(at) : "r9", "r13", "memory");
		__asm__ volatile("movsbq 3(%1), %0" : "=r"(sign) : "r"(at) : "memory");
		__asm__ volatile("movslq (%1), %0" : "=r"(from_word) : "r"(at) : "memory");
		__asm__ volatile("movq %1, %%r9; movb 3(%2), %%r9b; movq %%r9, %0"
				 : "=r"(high) : "r"(UINT64_MAX), "r"(at) : "r9", "memory");
		__asm__ volatile("movq %1, %%rax; movw 0x1002(%2), %%ax; movq %%rax, %0"
				 : "=r"(short_one) : "r"(UINT64_MAX), "r"((const volatile uint8_t *)at - 0x1000)
				 : "rax", "memory");
		swapped = be32toh(be);
		if (__builtin_cpu_supports("avx2"))
			__asm__ volatile("movbel (%1), %k0" : "=r"(swapped) : "r"(at) : "memory");
		again = *at;
	} while (be != again);
	CHECK_EQ(word, be);
	CHECK_EQ(half, be >> 16);
	CHECK_EQ(byte, be >> 24);
	CHECK_EQ(sign, (uint64_t)(int8_t)(be >> 24));
	CHECK_EQ(from_word, (uint64_t)(int32_t)be);
	CHECK_EQ(high, (UINT64_MAX << 8) | be >> 24);
	CHECK_EQ(short_one, (UINT64_MAX << 16) | be >> 16);
	CHECK_EQ(swapped, be32toh(be));
}
