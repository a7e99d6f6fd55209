/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* What loads.c and the objects that test_loads.py builds share. */
#ifndef LOADS_H
#define LOADS_H

#include <stdint.h>

/** Loads from page and writes results; i is 1. Returns the end of the results. */
typedef uint64_t *(*load_case)(uint64_t *out, const uint8_t *page, long i, uint64_t operand);
/** Ends with NULL. */
extern const load_case load_cases[];

#endif /* LOADS_H */
