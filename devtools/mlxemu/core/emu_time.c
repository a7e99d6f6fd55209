/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* True time: the host's, or virtual. */
#include <stdatomic.h>
#include <time.h>

#include "emu_clock.h"

/* Present virtual time; it begins at a full second. */
#define VIRTUAL_START_NS EMU_NS_PER_S
#define VIRTUAL_UTC_NS (1700000000ull * EMU_NS_PER_S)
/* The two clocks cannot be read at the same time: take the closest pair of this many tries. */
#define OFFSET_TRIES 16u

static bool time_is_virtual;
static _Atomic uint64_t virtual_ns = VIRTUAL_START_NS;
static _Atomic bool offset_known;
static _Atomic int64_t offset_ns;

static uint64_t
host_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * EMU_NS_PER_S + (uint64_t)ts.tv_nsec;
}

void
emu_time_virtual(void)
{
	time_is_virtual = true;
}

bool
emu_time_is_virtual(void)
{
	return time_is_virtual;
}

void
emu_time_pass(uint64_t ns)
{
	if (time_is_virtual)
		atomic_fetch_add_explicit(&virtual_ns, ns, memory_order_relaxed);
}

uint64_t
emu_mono_ns(void)
{
	if (__builtin_expect(time_is_virtual, 0))
		return atomic_load_explicit(&virtual_ns, memory_order_relaxed);
	return host_ns(CLOCK_MONOTONIC);
}

static int64_t
offset_take(void)
{
	uint64_t best = UINT64_MAX;
	int64_t offset = 0;

	if (time_is_virtual)
		return (int64_t)(VIRTUAL_UTC_NS - VIRTUAL_START_NS);
	for (unsigned i = 0; i < OFFSET_TRIES; i++) {
		uint64_t before = host_ns(CLOCK_MONOTONIC), utc = host_ns(CLOCK_REALTIME);
		uint64_t after = host_ns(CLOCK_MONOTONIC);

		if (after - before >= best)
			continue;
		best = after - before;
		offset = (int64_t)(utc - before - best / 2);
	}
	return offset;
}

int64_t
emu_time_offset(void)
{
	/* Concurrent callers measure offsets that differ by a few ns: the last one is kept. */
	if (!atomic_load_explicit(&offset_known, memory_order_acquire))
		emu_time_offset_set(offset_take());
	return atomic_load_explicit(&offset_ns, memory_order_relaxed);
}

void
emu_time_offset_set(int64_t ns)
{
	atomic_store_explicit(&offset_ns, ns, memory_order_relaxed);
	atomic_store_explicit(&offset_known, true, memory_order_release);
}
