/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * The conversions of timestamps that the receive bursts use, as functions of their own: for tests and measurements.
 */
#ifndef BURST_CLOCK_KERNELS_H
#define BURST_CLOCK_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mlxpmd_clock.h"

struct clock_kernel {
	const char *name;
	bool (*fits)(const struct mlxpmd_clock_snap *line);
	/** n: a multiple of 8. bad: a byte per timestamp, not 0 where it is outside the line. */
	void (*each)(const struct mlxpmd_clock_snap *line, const uint64_t *ts, uint64_t *value, uint8_t *bad, size_t n);
	/** @return Not 0 when any is outside the line. */
	unsigned int (*array)(const struct mlxpmd_clock_snap *line, const uint64_t *ts, uint64_t *value, size_t n);
	/** From completions, as the device writes them. @return As for an array. */
	unsigned int (*cqes)(const struct mlxpmd_clock_snap *line, const uint8_t *cqes, uint64_t *value, size_t n);
	void (*unpack)(const uint64_t *ts, uint64_t *value, uint8_t *bad, size_t n);
};
extern const struct clock_kernel clock_kernel_scalar;
#ifdef MLXPMD_NEON
extern const struct clock_kernel clock_kernel_neon;
#endif
#ifdef MLXPMD_SSE
extern const struct clock_kernel clock_kernel_sse;
#endif
#ifdef MLXPMD_AVX2
extern const struct clock_kernel clock_kernel_avx2;
#endif
#ifdef MLXPMD_AVX512
extern const struct clock_kernel clock_kernel_avx512;
#endif
#ifdef MLXPMD_IFMA
extern const struct clock_kernel clock_kernel_ifma;
#endif

#endif /* BURST_CLOCK_KERNELS_H */
