/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* See host_sim.h. */

#include <time.h>

#include "../check.h"
#include "host_sim.h"

uint64_t now_ns;

int __wrap_clock_gettime(clockid_t id, struct timespec *ts);
int
__wrap_clock_gettime(clockid_t id, struct timespec *ts)
{
	CHECK_EQ(id, CLOCK_MONOTONIC);
	ts->tv_sec = now_ns / 1000000000;
	ts->tv_nsec = now_ns % 1000000000;
	return 0;
}
