/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/** @file Memory and time of tests: calloc(), free() and clock_gettime() are replaced. */
#ifndef HOST_SIM_H
#define HOST_SIM_H

#include <stdbool.h>
#include <stdint.h>

/** Allocations that were not freed; there is no memory; the time. */
extern int allocated;
extern bool no_memory;
extern uint64_t now_ns;

#endif /* HOST_SIM_H */
