/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * Counts the instructions of a section of code: on x86-64 by single-stepping it in its own process; on arm64, where a
 * process cannot do that, under qemu-user by a plugin (count_plugin.c).
 *
 * With the trap flag set the processor raises a debug exception after each instruction, which the kernel delivers as
 * SIGTRAP (Intel SDM volume 3, single-step exception). The count is exact for any instruction set; a step takes about a
 * microsecond. A system call counts as one instruction.
 */
#ifndef PERF_STEP_H
#define PERF_STEP_H

#include <stdint.h>

#include "perf_mark.h"

/** Instructions stepped since the last perf_step_reset(). */
extern volatile uint64_t perf_steps;

/** Prepares for counting. 0 or -errno; -ENOTSUP: arm64 without the plugin. */
int perf_step_init(void);

/**
 * Also stores the address of each instruction, up to max since the last reset; NULL: stop storing. The caller keeps
 * ownership of the memory.
 */
void perf_step_record(uintptr_t *where, uint64_t max);

static inline void
perf_step_reset(void)
{
	perf_steps = 0;
}

#ifdef __aarch64__
static inline void
perf_step_on(void)
{
	__asm__ volatile("hint %0" :: "i"(PERF_MARK_BEGIN) : "memory");
}

static inline void
perf_step_off(void)
{
	__asm__ volatile("hint %0\n\tb 1f\n\t.word perf_steps - .\n1:" :: "i"(PERF_MARK_END) : "memory");
}
#else
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
#endif

#endif /* PERF_STEP_H */
