/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * Counts the instructions of a stretch of code by single-stepping it in its own process.
 *
 * The trap flag makes the processor raise a debug exception after each instruction, which arrives
 * as SIGTRAP (Intel SDM volume 3, single-step exception). Exact to the instruction, whatever
 * instruction set the code uses; about a microsecond each. A system call counts as one.
 */
#ifndef PERF_STEP_H
#define PERF_STEP_H

#include <stdint.h>

/** Instructions stepped since the last perf_step_reset(). */
extern volatile uint64_t perf_steps;

/** Takes SIGTRAP. 0 or -errno. */
int perf_step_init(void);

/**
 * Also stores the address of each instruction, up to max of them from the next reset on; NULL: no more.
 * The memory stays the caller's.
 */
void perf_step_record(uintptr_t *where, uint64_t max);

static inline void
perf_step_reset(void)
{
	perf_steps = 0;
}

static inline void
perf_step_on(void)
{
	__asm__ volatile("pushfq; orl $0x100, (%%rsp); popfq" ::: "memory", "cc");
}

static inline void
perf_step_off(void)
{
	__asm__ volatile("pushfq; andl $0xfffffeff, (%%rsp); popfq" ::: "memory", "cc");
}

#endif /* PERF_STEP_H */
