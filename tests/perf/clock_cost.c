/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * B14: cost of converting device timestamps to nanoseconds, 32 per call, from an array and from CQEs. The conversions
 * of the receive bursts are compared with one call of mlx5dv_ts_to_ns() per timestamp. Each round runs all of them in
 * turn, so that other load of the machine affects all alike.
 */

#include <infiniband/mlx5dv.h>

#include <rte_cycles.h>

#include "clock_kernels.h"

#define BATCH 32
#define CALLS 64
#define ROUNDS 4000
#define TS_AT 0x30
#define SHIFT 31
#define MULT (1u << SHIFT)

struct arm {
	const char *name;
	const struct clock_kernel *kernel; /* NULL: mlx5dv_ts_to_ns(). */
	bool supported, cqes;
	uint64_t ticks[ROUNDS];
};
static struct arm arms[16];
static unsigned int nb_arms;

static uint64_t ts[BATCH], value[BATCH], expected[BATCH];
static uint8_t cqes[BATCH * 64] __rte_aligned(64);
static struct mlx5dv_clock_info info = {
	.nsec = 1700000000000000000, .last_cycles = 1u << 20, .mult = MULT, .shift = SHIFT, .mask = RTE_BIT64(41) - 1,
};
static struct mlxpmd_clock_snap line;

static void
arm_add(const char *name, const struct clock_kernel *kernel, bool supported)
{
	for (unsigned int c = 0; c < 2; c++)
		arms[nb_arms++] = (struct arm){ .name = name, .kernel = kernel, .supported = supported, .cqes = c };
}

/* What an application does with the raw timestamps of the stock driver. */
static __rte_noinline void
library(bool from_cqes)
{
	unsigned int i;

	if (from_cqes)
		for (i = 0; i < BATCH; i++)
			value[i] = mlx5dv_ts_to_ns(&info, be64toh(*(const uint64_t *)(cqes + i * 64 + TS_AT)));
	else
		for (i = 0; i < BATCH; i++)
			value[i] = mlx5dv_ts_to_ns(&info, ts[i]);
}

static uint64_t
timed(const struct arm *a)
{
	uint64_t from = rte_rdtsc_precise();
	unsigned int i;

	for (i = 0; i < CALLS; i++) {
		if (a->kernel == NULL)
			library(a->cqes);
		else if (a->cqes)
			(void)a->kernel->cqes(&line, cqes, value, BATCH);
		else
			(void)a->kernel->array(&line, ts, value, BATCH);
		/* The compiler must not drop the stores. */
		rte_compiler_barrier();
	}
	return rte_rdtsc_precise() - from;
}

static int
compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Whether all conversions give the same values; otherwise their costs cannot be compared. */
static bool
alike(void)
{
	unsigned int i;

	library(false);
	memcpy(expected, value, sizeof(expected));
	for (i = 0; i < nb_arms; i++) {
		memset(value, 0, sizeof(value));
		if (arms[i].supported)
			(void)timed(&arms[i]);
		if (arms[i].supported && memcmp(value, expected, sizeof(expected)) != 0) {
			fprintf(stderr, "clock_cost: values of %s and mlx5dv_ts_to_ns() differ\n", arms[i].name);
			return false;
		}
	}
	return true;
}

static void
report(unsigned int rounds)
{
	double hz = rte_get_tsc_hz(), per = (double)BATCH * CALLS, reference[2] = { 0, 0 };
	unsigned int i;

	printf("%-18s %-12s %8s %8s %8s\n", "B14, 32 a call", "from", "ns min", "median", "ratio");
	for (i = 0; i < nb_arms; i++) {
		struct arm *a = &arms[i];
		double median;

		if (!a->supported) {
			printf("%-18s %-12s not supported by this processor\n", a->name, a->cqes ? "completions" : "array");
			continue;
		}
		qsort(a->ticks, rounds, sizeof(a->ticks[0]), compare);
		median = a->ticks[rounds / 2] * 1e9 / hz / per;
		if (a->kernel == NULL)
			reference[a->cqes] = median;
		printf("%-18s %-12s %8.3f %8.3f %8.2f\n", a->name, a->cqes ? "completions" : "array",
		       a->ticks[0] * 1e9 / hz / per, median, reference[a->cqes] / median);
	}
}

int
main(int argc, char **argv)
{
	unsigned int rounds = argc > 1 ? strtoul(argv[1], NULL, 0) : ROUNDS, i, r;
	char *eal[] = { "clock_cost", "--no-huge", "--no-pci", "--no-shconf", "--no-telemetry", "-m", "64",
			"--log-level", "error" };

	if (rounds == 0 || rounds > ROUNDS || rte_eal_init(RTE_DIM(eal), eal) < 0)
		return 1;
	line = (struct mlxpmd_clock_snap){ .mult = MULT, .shift = SHIFT, .base = 0, .mask = info.mask,
					   .span = info.mask / 2, .start = info.nsec - info.last_cycles };
	for (i = 0; i < BATCH; i++) {
		ts[i] = info.last_cycles + 1000 * i;
		*(uint64_t *)(cqes + i * 64 + TS_AT) = htobe64(ts[i]);
	}
	arm_add("mlx5dv_ts_to_ns", NULL, true);
	arm_add("scalar", &clock_kernel_scalar, true);
#ifdef MLXPMD_AVX2
	arm_add("avx2", &clock_kernel_avx2, __builtin_cpu_supports("avx2"));
#endif
#ifdef MLXPMD_AVX512
	arm_add("avx512", &clock_kernel_avx512, __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"));
#endif
#ifdef MLXPMD_IFMA
	arm_add("avx512-ifma", &clock_kernel_ifma, __builtin_cpu_supports("avx512ifma"));
#endif
	if (!alike())
		return 1;
	for (r = 0; r < rounds; r++)
		for (i = 0; i < nb_arms; i++)
			arms[i].ticks[r] = arms[i].supported ? timed(&arms[i]) : 0;
	report(rounds);
	rte_eal_cleanup();
	return 0;
}
