/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Single-stepping on x86-64: the SIGTRAP handler, which counts and records instructions. On arm64 a plugin counts. */

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <ucontext.h>

#include "perf_step.h"

volatile uint64_t perf_steps;

#ifdef __aarch64__
int
perf_step_init(void)
{
	perf_steps = UINT64_MAX;
	perf_step_on();
	perf_step_off();
	return perf_steps != UINT64_MAX ? 0 : -ENOTSUP;
}

void
perf_step_record(uintptr_t *where, uint64_t max)
{
	(void)where;
	(void)max;
}
#else
static uintptr_t *record;
static uint64_t record_max;

static void
on_trap(int sig, siginfo_t *info, void *ctx)
{
	const ucontext_t *uc = ctx;

	(void)sig;
	(void)info;
	if (perf_steps < record_max)
		record[perf_steps] = (uintptr_t)uc->uc_mcontext.gregs[REG_RIP];
	perf_steps++;
}

int
perf_step_init(void)
{
	struct sigaction sa = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };

	return sigaction(SIGTRAP, &sa, NULL) == 0 ? 0 : -errno;
}

void
perf_step_record(uintptr_t *where, uint64_t max)
{
	record = where;
	record_max = where != NULL ? max : 0;
}
#endif
