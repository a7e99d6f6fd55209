/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* The calibration against the host's clock, compared with true time in virtual time. */

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"

#define STAMPS_PER_REFRESH 20

/** Statistics of the errors of converted timestamps. */
struct errors {
	uint64_t timestamps, absent, uncovered;
	double squares, worst, unsure;
};

static void
count(struct errors *e, double error, uint64_t uncertainty_ns)
{
	e->timestamps++;
	e->squares += error * error;
	e->worst = fmax(e->worst, fabs(error));
	e->unsure += (double)uncertainty_ns;
	e->uncovered += fabs(error) > (double)uncertainty_ns;
}

static double
rms(const struct errors *e)
{
	return e->timestamps == 0 ? INFINITY : sqrt(e->squares / e->timestamps);
}

/** Compares the converted timestamp of a packet that arrives now with true time. */
static void
timestamp(struct sim *s, const struct mdv_clock_state *state, struct errors *e)
{
	uint64_t whole, value, ticks = sim_read(s, &s->counter, s->now_ps);
	double part = sim_fraction(s, &s->wall, s->now_ps, &whole);

	if ((int64_t)(state->valid_tsc - sim_read(s, &s->tsc, s->now_ps)) <= 0 ||
	    state->quality == MDV_CLOCK_BROKEN ||
	    !mdv_clock_line_convert(&state->line, ticks, &value))
		e->absent++;
	else
		count(e, (double)(int64_t)(value - whole) - part, state->uncertainty_ns);
}

/** Refreshes when due, with some delay, for a time; timestamps are taken in between. */
static void
run(struct sim *s, struct mdv_clock *clock, struct mdv_clock_state *state, double seconds,
    struct errors *e)
{
	int64_t end = s->now_ps + (int64_t)(seconds * 1e12);

	while (s->now_ps < end) {
		double gap = state->next_us * 1000.0 * (1 + 0.05 * sim_uniform(s));

		for (int i = 0; i < STAMPS_PER_REFRESH; i++) {
			sim_pass_ns(s, gap / STAMPS_PER_REFRESH);
			if (e != NULL)
				timestamp(s, state, e);
		}
		mdv_clock_refresh(clock, state);
	}
}

static struct mdv_clock *
open_host(struct sim *s, uint64_t hz, struct mdv_clock_state *state)
{
	const struct mdv_clock_facts facts = { .tsc_hz = SIM_TSC_HZ, .free_running = true,
					       .frequency_khz = (uint32_t)(hz / 1000) };
	struct mdv_clock *clock;
	char why[200];

	if (mdv_clock_open_ops(&sim_ops, s, &facts, MDV_CLOCK_HOST, &clock, why,
			       sizeof(why)) != 0) {
		fprintf(stderr, "%s\n", why);
		return NULL;
	}
	mdv_clock_refresh(clock, state);
	return clock;
}

/** A change of the clocks during a run. */
typedef void (*event)(struct sim *s, uint64_t hz, double ppm);

static void
counter_faster(struct sim *s, uint64_t hz, double ppm)
{
	sim_set_rate(s, &s->counter, hz * (1 + (ppm + 1) * 1e-6));
}

static void
host_faster(struct sim *s, uint64_t hz, double ppm)
{
	(void)hz;
	(void)ppm;
	sim_set_rate(s, &s->wall, MDV_NS_PER_S * (1 + 1e-6));
}

static void
nothing(struct sim *s, uint64_t hz, double ppm)
{
	(void)s;
	(void)hz;
	(void)ppm;
}

static const struct model {
	const char *name;
	enum sim_jitter jitter;
	bool bias; /**< No estimator can detect it: only the uncertainty must cover it. */
} models[] = {
	{ "exact", SIM_EXACT, false },	  { "hidden", SIM_HIDDEN, false },
	{ "normal", SIM_NORMAL, false },  { "tail", SIM_TAIL, false },
	{ "outliers", SIM_OUTLIERS, false }, { "one-sided", SIM_ONE_SIDED, true },
};
static const uint64_t frequencies[] = { 78125000, 156250000, 312500000, 1000000000 };
#define N_FREQUENCIES (sizeof(frequencies) / sizeof(frequencies[0]))
static const double drifts[] = { -100, -50, 0, 50, 100 };

struct scene {
	const char *name;
	event happens;
	double rms_limit, worst_limit;
};
static const struct scene scenes[] = {
	{ "2 s after start", nothing, 20, 100 },
	{ "counter +1 ppm", counter_faster, 1000, 1000 },
	{ "host +1 ppm", host_faster, 1000, 1000 },
};

/** 2 s to settle, half a minute unchanged, half a minute after the change. */
static void
play(const struct scene *scene, const struct model *m, uint64_t hz, double ppm, uint64_t seed,
     struct errors *e)
{
	struct mdv_clock_state state;
	struct mdv_clock *clock;
	struct sim s;

	sim_init(&s, hz, ppm, (5ull << 41) + hz * seed, seed);
	s.jitter = m->jitter;
	clock = open_host(&s, hz, &state);
	CHECK(clock != NULL);
	if (clock == NULL)
		return;
	run(&s, clock, &state, 2, NULL);
	if (scene->happens == nothing) {
		run(&s, clock, &state, 30, e);
	} else {
		run(&s, clock, &state, 10 + sim_uniform(&s), NULL);
		scene->happens(&s, hz, ppm);
		run(&s, clock, &state, 30, e);
	}
	CHECK(fabs(state.drift_ppm - ppm) < 2.5);
	mdv_clock_close(clock);
}

static void
table_row(const struct scene *scene, const struct model *m, uint64_t hz)
{
	struct errors e = { 0 };
	double covered;

	for (unsigned int d = 0; d < sizeof(drifts) / sizeof(drifts[0]); d++)
		for (uint64_t seed = 1; seed <= 2; seed++)
			play(scene, m, hz, drifts[d], seed * 7 + d, &e);
	covered = 100.0 * (e.timestamps - e.uncovered) / e.timestamps;
	printf("%-16s %-10s %10.3f %9.1f %9.1f %11.0f %10.3f %8llu\n", scene->name, m->name,
	       hz / 1e6, rms(&e), e.worst, e.unsure / e.timestamps, covered,
	       (unsigned long long)e.absent);
	CHECK(covered >= 99.9);
	if (!m->bias) {
		CHECK(rms(&e) <= scene->rms_limit);
		CHECK(e.worst <= scene->worst_limit);
	}
}

void
test_host(void)
{
	printf("%-16s %-10s %10s %9s %9s %11s %10s %8s\n", "scene", "readings", "MHz", "rms ns",
	       "worst ns", "published", "covered %", "absent");
	for (unsigned int c = 0; c < sizeof(scenes) / sizeof(scenes[0]); c++)
		for (unsigned int m = 0; m < sizeof(models) / sizeof(models[0]); m++)
			for (unsigned int f = 0; f < N_FREQUENCIES; f++)
				table_row(&scenes[c], &models[m], frequencies[f]);
}
