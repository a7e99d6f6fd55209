/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * Run-time switches of planted faults. score.py includes this file at the head of the sources that it changes in its
 * copy; it is part of no product.
 *
 * The file that the environment variable MUTANT_SWITCH names has the number of the fault that is on, 0 for none, and
 * a byte for each fault that is set when its place is reached. It is mapped by every process with its own system
 * calls: a program under test may replace those of the C library. Each linked object has a pointer of its own.
 */
#ifndef MUTANT_SWITCH_H
#define MUTANT_SWITCH_H

#include <stdint.h>

#include <sys/syscall.h>

#define MUTANT_MAX 65536

struct mutant_switch {
	uint32_t on;
	uint8_t reached[MUTANT_MAX];
};

#define MUTANT_OWN __attribute__((weak, visibility("hidden")))

MUTANT_OWN struct mutant_switch mutant_none;
MUTANT_OWN struct mutant_switch *mutant_switch = &mutant_none;

/* Before the constructors of DPDK and the drivers, whose priorities are not lower. */
MUTANT_OWN __attribute__((constructor(101))) void
mutant_open(void);

MUTANT_OWN __attribute__((constructor(101))) void
mutant_open(void)
{
	/* No header that declares them: tests replace functions by macros. */
	extern char *getenv(const char *name);
	extern long syscall(long number, ...);
	const char *name = getenv("MUTANT_SWITCH");
	long fd, map;

	if (name == 0 || mutant_switch != &mutant_none)
		return;
	fd = syscall(SYS_openat, -100 /* AT_FDCWD */, name, 2 /* O_RDWR */);
	if (fd < 0)
		return;
	map = syscall(SYS_mmap, 0L, sizeof(struct mutant_switch), 3L /* read, write */, 1L /* MAP_SHARED */, fd, 0L);
	syscall(SYS_close, fd);
	if (map != -1)
		mutant_switch = (struct mutant_switch *)map;
}

/** Is fault n on? Marks it as reached. */
static inline __attribute__((always_inline)) int
mutant_on(unsigned int n)
{
	struct mutant_switch *s = mutant_switch;

	if (!__atomic_load_n(&s->reached[n], __ATOMIC_RELAXED))
		__atomic_store_n(&s->reached[n], 1, __ATOMIC_RELAXED);
	return __atomic_load_n(&s->on, __ATOMIC_RELAXED) == n;
}

#endif /* MUTANT_SWITCH_H */
