/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * Memory (host_sim.c, eal_sim.c) and time (time_sim.c) of tests: calloc(), free() and clock_gettime() are replaced.
 */
#ifndef HOST_SIM_H
#define HOST_SIM_H

#include <stdbool.h>
#include <stdint.h>

/** Allocations that were not freed; there is no memory. */
extern int allocated;
extern bool no_memory;
/** What clock_gettime() returns. */
extern uint64_t now_ns;

#endif /* HOST_SIM_H */
