/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* What depends on the processor: x86-64 or arm64. */
#ifndef EMU_CPU_H
#define EMU_CPU_H

#include <stdint.h>

#if !defined(__x86_64__) && !defined(__aarch64__)
#error "the emulator runs on x86-64 and arm64"
#endif

/** A counter that costs no system call; 1 to 5 ticks per ns. */
static inline uint64_t
emu_cpu_ticks(void)
{
#ifdef __x86_64__
	return __builtin_ia32_rdtsc();
#else
	uint64_t ticks, hz;

	/* The counter has 1 MHz to 1 GHz, by machine (Arm ARM, CNTFRQ_EL0). */
	__asm__ volatile("mrs %0, cntvct_el0\n\tmrs %1, cntfrq_el0" : "=r"(ticks), "=r"(hz));
	return hz != 0 && hz < 1000000000 ? ticks * (1000000000 / hz) : ticks;
#endif
}

/** For loops that wait for another thread. */
static inline void
emu_cpu_pause(void)
{
#ifdef __x86_64__
	__builtin_ia32_pause();
#else
	__asm__ volatile("yield" ::: "memory");
#endif
}

/**
 * Moves a modified line from the private caches of this core to the shared cache: cldemote, a hint that processors
 * without it execute as NOP (Intel SDM, volume 2A). Written as bytes, since not all assemblers know it. Nothing on
 * arm64.
 */
static inline void
emu_cpu_demote(const void *line)
{
#ifdef __x86_64__
	__asm__ volatile(".byte 0x0f, 0x1c, 0x00" : : "a"(line) : "memory");
#else
	(void)line;
#endif
}

#endif /* EMU_CPU_H */
