/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Measurement of a row: interleaved rounds, the check that they were not disturbed, and the instruction count. */

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <rte_cycles.h>

#include "../await.h"
#include "compare.h"
#include "perf_step.h"

/* Limits of an undisturbed run; see doc/guide/performance.md. */
#define ROUNDS_PER_SWITCH 100u
#define SPREAD_MAX 0.08
#define CALIBRATIONS 2001u
#define STEP_PACKETS 2048u
/* Without times: enough for refills in proportion, and quick enough for a test of all rows. */
#define STEP_PACKETS_ONLY 256u
#define STEP_SAMPLES 64u
/* A stepped sample must end within milliseconds: drivers check a device that does not work for longer. */
#define STEP_FILL 128u
/* Samples before those that count, and a pause after each: together longer than mlxpmd takes to adapt to a rate. */
#define WARM_SAMPLES 8u
#define WARM_PAUSE_US 1000u
#define COUNT_SAMPLES 64u
/* Parts of a run whose ratios show how repeatable its ratio is. */
#define RUN_PARTS 10u
#define RECORD_MAX (4u << 20)
#define IMUL_CHAIN 200000u
#define IMUL_CYCLES 3u
#define IMUL_5 "imul %0,%0; imul %0,%0; imul %0,%0; imul %0,%0; imul %0,%0; "

volatile bool cmp_stop;

static inline uint64_t
ticks_begin(void)
{
	uint64_t t;

	__asm__ volatile("lfence" ::: "memory");
	t = rte_rdtsc();
	__asm__ volatile("lfence" ::: "memory");
	return t;
}

static inline uint64_t
ticks_end(void)
{
	unsigned int cpu;
	uint64_t t = __builtin_ia32_rdtscp(&cpu);

	__asm__ volatile("lfence" ::: "memory");
	return t;
}

double
cmp_core_per_tsc(void)
{
	uint64_t best = UINT64_MAX, t, x = 3;

	for (unsigned int turn = 0; turn < 16; turn++) {
		t = ticks_begin();
		for (unsigned int i = 0; i < IMUL_CHAIN / 10; i++)
			__asm__ volatile(IMUL_5 IMUL_5
					 : "+r"(x));
		t = ticks_end() - t;
		best = RTE_MIN(best, t);
	}
	return (double)IMUL_CHAIN * IMUL_CYCLES / best;
}

/* ---- bursts that do nothing, to measure the cost of the measuring loop ---- */

static uint16_t
null_burst(void *q, struct rte_mbuf **pkts, uint16_t n)
{
	RTE_SET_USED(q);
	RTE_SET_USED(pkts);
	return n;
}

static struct cmp_arm null_arm = {
	.id = CMP_MLXPMD, .name = "nothing", .rx = null_burst, .tx = null_burst, .n_rxqs = 1,
};

/* ---- samples ---- */

static int
by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static uint64_t
involuntary(void)
{
	struct rusage u;

	getrusage(RUSAGE_THREAD, &u);
	return u.ru_nivcsw;
}

/** The result of one sample: TSC ticks, involuntary context switches, instructions. */
struct sample {
	uint64_t ticks, switches, steps;
};

static bool
units_right(const struct cmp_row *row, const struct cmp_arm *arm, const struct cmp_config *c,
	    uint32_t units)
{
	uint32_t want = row->units != 0 ? row->units : c->fill;

	if (units == want)
		return true;
	CMP_LOG("row %s: %s did %u of %u %ss, with %u packets", row->name, arm->name, units, want,
		row->unit, arm->n);
	return false;
}

/* More than one refill, and less than what makes the mempool cache overflow. */
#define LEVEL_SPARE 64u

uint32_t
cmp_fill_limit(const struct cmp_arm *arm, const struct cmp_config *c)
{
	const struct rte_mempool_cache *cache = rte_mempool_default_cache(arm->pool, rte_lcore_id());

	if (cache == NULL || c->fill > c->pool_cache || c->fill <= c->pool_cache / 2)
		return c->fill;
	return RTE_MIN(c->fill, cache->flushthresh - 3 * LEVEL_SPARE);
}

/*
 * Both mempool caches begin a sample with the same number of mbufs and neither underflow nor overflow during it, so no
 * sample includes an access to the mempool's ring by chance. In a steady state nothing is changed, and the mbufs are
 * the most recently used ones.
 */
static bool
cache_level(const struct cmp_row *row, const struct cmp_arm *arm, const struct cmp_config *c)
{
	struct rte_mempool_cache *cache = rte_mempool_default_cache(arm->pool, rte_lcore_id());
	static void *objs[CMP_MAX_FILL + LEVEL_SPARE];
	uint32_t want = (row->recycles ? c->fill / 2 : c->fill) + LEVEL_SPARE, n;

	if (cache == NULL || want + 2 * LEVEL_SPARE > cache->flushthresh ||
	    RTE_MAX(cache->len, want) - RTE_MIN(cache->len, want) <= LEVEL_SPARE)
		return true;
	if (cache->len > want) {
		n = cache->len - want;
		if (rte_mempool_get_bulk(arm->pool, objs, n) != 0)
			return false;
		rte_mempool_generic_put(arm->pool, objs, n, NULL);
	} else {
		n = want - cache->len;
		if (rte_mempool_generic_get(arm->pool, objs, n, NULL) != 0)
			return false;
		rte_mempool_put_bulk(arm->pool, objs, n);
	}
	return true;
}

static bool
sample_take(const struct cmp_row *row, struct cmp_arm *arm, const struct cmp_config *c,
	    uint32_t round, bool stepped, struct sample *s)
{
	uint32_t units;

	if (!cache_level(row, arm, c) || !row->prepare(arm, c, round))
		return false;
	s->switches = involuntary();
	if (row->warm != NULL)
		row->warm(arm, c);
	if (stepped) {
		perf_step_reset();
		perf_step_on();
		units = row->timed(arm, c);
		perf_step_off();
		s->steps = perf_steps;
	} else {
		s->ticks = ticks_begin();
		units = row->timed(arm, c);
		s->ticks = ticks_end() - s->ticks;
	}
	s->switches = involuntary() - s->switches;
	return units_right(row, arm, c, units) && row->settle(arm, c);
}

/* Ticks of the timer and the measuring loop, per sample. */
static uint64_t
ticks_of_nothing(const struct cmp_row *row, const struct cmp_config *c)
{
	static uint64_t t[CALIBRATIONS];

	for (unsigned int i = 0; i < CALIBRATIONS; i++) {
		null_arm.n = c->fill;
		t[i] = ticks_begin();
		(void)row->calibrate(&null_arm, c);
		t[i] = ticks_end() - t[i];
	}
	qsort(t, CALIBRATIONS, sizeof(t[0]), by_value);
	return t[CALIBRATIONS / 2];
}

static uint64_t
steps_of_nothing(const struct cmp_row *row, const struct cmp_config *c)
{
	null_arm.n = c->fill;
	perf_step_reset();
	perf_step_on();
	(void)row->calibrate(&null_arm, c);
	perf_step_off();
	return perf_steps;
}

/** All samples of a row. */
struct run {
	uint64_t *ticks[CMP_ARMS];
	uint32_t n;
	uint64_t switches, nothing;
	double median[CMP_ARMS], p10[CMP_ARMS], min[CMP_ARMS], p90[CMP_ARMS];
	double ratio_low, ratio_high;
};

static bool
rounds_do(const struct cmp_row *row, struct cmp_arm arms[CMP_ARMS], const struct cmp_config *c,
	  struct run *run)
{
	static const enum cmp_arm_id order[] = { CMP_STOCK, CMP_MLXPMD, CMP_MLXPMD, CMP_STOCK };
	uint64_t printed = rte_rdtsc();
	uint32_t at[CMP_ARMS] = { 0, 0 };
	struct sample s = { 0 };

	run->switches = 0;
	for (uint32_t round = 0; round < c->rounds; round++) {
		for (unsigned int i = 0; i < RTE_DIM(order); i++) {
			if (cmp_stop || !sample_take(row, &arms[order[i]], c, round, false, &s))
				return false;
			run->ticks[order[i]][at[order[i]]++] = s.ticks;
			run->switches += s.switches;
		}
		if (rte_rdtsc() - printed > 2 * rte_get_tsc_hz()) {
			printed = rte_rdtsc();
			fprintf(stderr, "compare_bench: row %s: round %u of %u\n", row->name, round,
				c->rounds);
		}
	}
	run->n = at[0];
	return true;
}

static int
by_ratio(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/*
 * The ratio of medians in each tenth of the run, which are ten short runs one after the other; the spread leaves the
 * lowest and the highest of them out. Reorders the samples within each tenth.
 */
static void
run_spread(struct run *run)
{
	uint32_t parts = RTE_MIN(RUN_PARTS, run->n), each = run->n / parts;
	double ratio[RUN_PARTS];

	for (uint32_t i = 0; i < parts; i++) {
		uint64_t *stock = run->ticks[CMP_STOCK] + i * each, *ours = run->ticks[CMP_MLXPMD] + i * each;

		qsort(stock, each, sizeof(stock[0]), by_value);
		qsort(ours, each, sizeof(ours[0]), by_value);
		ratio[i] = ((double)stock[each / 2] - run->nothing) / ((double)ours[each / 2] - run->nothing);
	}
	qsort(ratio, parts, sizeof(ratio[0]), by_ratio);
	run->ratio_low = ratio[parts > 2 ? 1 : 0];
	run->ratio_high = ratio[parts > 2 ? parts - 2 : parts - 1];
}

static void
run_sum_up(const struct cmp_row *row, const struct cmp_config *c, struct run *run)
{
	double units = row->units != 0 ? row->units : c->fill;

	run_spread(run);
	for (unsigned int a = 0; a < CMP_ARMS; a++) {
		uint64_t *t = run->ticks[a];

		qsort(t, run->n, sizeof(t[0]), by_value);
		run->min[a] = ((double)t[0] - run->nothing) / units;
		run->p10[a] = ((double)t[run->n / 10] - run->nothing) / units;
		run->median[a] = ((double)t[run->n / 2] - run->nothing) / units;
		run->p90[a] = ((double)t[run->n * 9 / 10] - run->nothing) / units;
	}
}

/* Writes the reason why the run was disturbed; an empty string if it was not. */
static void
run_check(const struct cmp_config *c, const struct run *run, char *why, size_t len)
{
	why[0] = '\0';
	if (run->switches * ROUNDS_PER_SWITCH > c->rounds) {
		snprintf(why, len, "%" PRIu64 " involuntary switches in %u rounds", run->switches,
			 c->rounds);
		return;
	}
	for (unsigned int a = 0; a < CMP_ARMS; a++) {
		double spread = (run->median[a] - run->p10[a]) / run->p10[a];

		if (spread > SPREAD_MAX)
			snprintf(why, len, "median of %s %.0f %% above its p10",
				 a == CMP_STOCK ? "stock" : "mlxpmd", spread * 100);
	}
}

/* ---- addresses of the instructions ---- */

static void
record_write(const struct cmp_config *c, const struct cmp_row *row, const struct cmp_arm *arm,
	     const uintptr_t *where, uint64_t n)
{
	FILE *f = fopen(c->profile, "ae");
	Dl_info info;
	uint64_t i, same;

	if (f == NULL)
		return;
	fprintf(f, "# row %s arm %s units %u\n", row->name, arm->name,
		row->units != 0 ? row->units : c->fill);
	for (i = 0; i < n; i += same) {
		for (same = 1; i + same < n && where[i + same] == where[i];)
			same++;
		if (dladdr((void *)where[i], &info) == 0)
			continue;
		fprintf(f, "%s 0x%zx %" PRIu64 "\n", info.dli_fname,
			(size_t)(where[i] - (uintptr_t)info.dli_fbase), same);
	}
	fclose(f);
}

static void
record_arm(const struct cmp_row *row, struct cmp_arm *arm, const struct cmp_config *c)
{
	uintptr_t *where = calloc(RECORD_MAX, sizeof(*where));
	struct sample s;

	if (where == NULL)
		return;
	perf_step_record(where, RECORD_MAX);
	if (sample_take(row, arm, c, 0, true, &s)) {
		qsort(where, RTE_MIN(s.steps, RECORD_MAX), sizeof(*where), by_value);
		record_write(c, row, arm, where, RTE_MIN(s.steps, RECORD_MAX));
	}
	perf_step_record(NULL, 0);
	free(where);
}

/* Instructions per unit: the mean over enough samples to include refills in proportion. */
static bool
steps_count(const struct cmp_row *row, struct cmp_arm *arm, const struct cmp_config *c,
	    double *instr)
{
	uint32_t units = row->units != 0 ? row->units : c->fill;
	uint32_t limit = c->rounds != 0 ? RTE_MIN(STEP_SAMPLES, c->rounds) : STEP_SAMPLES;
	uint32_t samples = RTE_MIN(limit, (c->rounds != 0 ? STEP_PACKETS : STEP_PACKETS_ONLY) / c->fill);
	uint64_t sum = 0, nothing = steps_of_nothing(row, c);
	struct sample s;

	samples = RTE_MAX(1u, samples);
	for (uint32_t i = 0; i < samples; i++) {
		if (cmp_stop || !sample_take(row, arm, c, i, true, &s))
			return false;
		sum += s.steps - nothing;
	}
	*instr = (double)sum / samples / units;
	if (c->profile != NULL)
		record_arm(row, arm, c);
	return true;
}

/* Samples without a result, until the driver is in a steady state. */
static bool
warm(const struct cmp_row *row, struct cmp_arm *arm, const struct cmp_config *c)
{
	struct sample s;

	for (uint32_t i = 0; i < WARM_SAMPLES; i++) {
		if (cmp_stop || !sample_take(row, arm, c, i, false, &s))
			return false;
		pass_us(WARM_PAUSE_US);
	}
	return true;
}

static bool
steps_add(const struct cmp_row *row, struct cmp_arm arms[CMP_ARMS], const struct cmp_config *c,
	  json_t *out)
{
	struct cmp_config few = *c;
	double instr;

	few.fill = RTE_MIN(c->fill, STEP_FILL);
	for (unsigned int a = 0; a < CMP_ARMS; a++) {
		arms[a].arrive = few.fill;
		if (!warm(row, &arms[a], &few) || !steps_count(row, &arms[a], &few, &instr))
			return false;
		cmp_json_number(json_object_get(out, arms[a].name), "instr", instr);
	}
	return true;
}

static void
run_add(const struct cmp_arm arms[CMP_ARMS], const struct run *run, uint32_t attempts,
	const char *why, json_t *out)
{
	for (unsigned int a = 0; a < CMP_ARMS; a++) {
		json_t *o = json_object_get(out, arms[a].name);

		cmp_json_number(o, "min", run->min[a]);
		cmp_json_number(o, "p10", run->p10[a]);
		cmp_json_number(o, "median", run->median[a]);
		cmp_json_number(o, "p90", run->p90[a]);
	}
	cmp_json_number(out, "ratio", run->median[CMP_STOCK] / run->median[CMP_MLXPMD]);
	cmp_json_number(out, "ratio_low", run->ratio_low);
	cmp_json_number(out, "ratio_high", run->ratio_high);
	cmp_json_number(out, "switches", (double)run->switches);
	cmp_json_number(out, "attempts", attempts);
	cmp_json_bool(out, "kept", why[0] == '\0');
	cmp_json_string(out, "why", why);
}

static bool
attempts_do(const struct cmp_row *row, struct cmp_arm arms[CMP_ARMS], const struct cmp_config *c,
	    struct run *run, json_t *out)
{
	struct cmp_config warm = *c;
	char why[128];

	warm.rounds = RTE_MIN(c->rounds, 16u);
	for (uint32_t attempt = 1;; attempt++) {
		if (!rounds_do(row, arms, &warm, run) || !rounds_do(row, arms, c, run))
			return false;
		run->nothing = ticks_of_nothing(row, c);
		run_sum_up(row, c, run);
		run_check(c, run, why, sizeof(why));
		if (why[0] == '\0' || attempt >= c->attempts) {
			run_add(arms, run, attempt, why, out);
			return true;
		}
		CMP_LOG("row %s: repeated: %s", row->name, why);
	}
}

bool
cmp_measure(const struct cmp_row *row, struct cmp_arm arms[CMP_ARMS], const struct cmp_config *c,
	    json_t *out)
{
	struct run run = { 0 };
	bool good = true;

	for (unsigned int a = 0; a < CMP_ARMS; a++) {
		(void)cmp_json_child(out, arms[a].name);
		arms[a].arrive = c->fill;
		run.ticks[a] = calloc(2 * (size_t)c->rounds + 1, sizeof(uint64_t));
		good = good && run.ticks[a] != NULL;
	}
	if (c->rounds != 0)
		good = good && attempts_do(row, arms, c, &run, out);
	good = good && steps_add(row, arms, c, out);
	free(run.ticks[0]);
	free(run.ticks[1]);
	return good;
}

/* ---- counters of the device ---- */

/* A sample is one burst, because a stopped device sees only the last of several doorbells. */
static bool
count_arm(const struct cmp_row *row, struct cmp_arm *arm, const struct cmp_config *c, json_t *out)
{
	double units = COUNT_SAMPLES * (row->units != 0 ? row->units : (double)c->fill);
	json_t *before, *after, *item, *diff = cmp_json_child(out, arm->name);
	const char *key;
	struct sample s;
	bool good;

	arm->arrive = c->fill;
	good = warm(row, arm, c);
	before = cmp_device_counters(arm);
	for (uint32_t i = 0; good && i < COUNT_SAMPLES; i++)
		good = before != NULL && sample_take(row, arm, c, i, false, &s);
	after = good ? cmp_device_counters(arm) : NULL;
	json_object_foreach(after, key, item) {
		double more = json_number_value(item) -
			      json_number_value(json_object_get(before, key));

		if (more != 0)
			cmp_json_number(diff, key, more / units);
	}
	good = good && after != NULL;
	json_decref(before);
	json_decref(after);
	return good;
}

bool
cmp_count(const struct cmp_row *row, struct cmp_arm arms[CMP_ARMS], const struct cmp_config *c,
	  json_t *out)
{
	json_t *counts = cmp_json_child(out, "device");
	struct cmp_config burst = *c;

	burst.fill = RTE_MIN(c->fill, c->burst);
	for (unsigned int a = 0; a < CMP_ARMS; a++)
		if (!count_arm(row, &arms[a], &burst, counts))
			return false;
	return true;
}
