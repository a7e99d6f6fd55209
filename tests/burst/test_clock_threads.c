/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * 48 threads convert timestamps with the clocks of 8 devices while the control thread refreshes them. The clocks step,
 * change their rate, are busy and break. No snapshot is torn, each step is reported, no reader waits. Built with the
 * thread sanitizer.
 */

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_errno.h>

#include "mlxpmd.h"
#include "mlxpmd_clock_refresh.h"

#include "../await.h"
#include "../check.h"

#define NB_DEVICES 8
#define NB_READERS 48
/* This many readers register with EAL; the others have no lcore id. */
#define NB_LCORES 40
/* Rounds of every reader and publications of every clock before the test ends, unless it times out. */
#define ROUNDS 200
#define GENERATIONS 100
#define SECONDS 30
#define SHIFT 30
#define MASK (RTE_BIT64(41) - 1)
#define SPAN RTE_BIT64(40)
/* Largest deviation of the rate from nominal, of each line. */
#define SLEW_PPM 50

int mlxpmd_logtype;

/* A device whose counter is the TSC of this host; its line changes with each read. */
struct mdv_clock {
	struct mdv_dev dev; /* Without a recorder. First: a device is its own clock. */
	uint64_t random;
	struct mdv_clock_state state;
	unsigned int reads;
};
static struct mdv_clock devices[NB_DEVICES];
static struct mlxpmd_port ports[NB_DEVICES];
/* A clock whose publisher stopped in the middle of a publication. */
static struct mlxpmd_clock frozen;

struct reader {
	pthread_t thread;
	bool is_lcore;
	struct mlxpmd_clock_snap snap[NB_DEVICES]; /* As a queue has them. */
	uint64_t last[NB_DEVICES];
	uint64_t rounds; /* Atomic. */
	uint64_t values, absent, moves, steps;
};
static struct reader readers[NB_READERS];
static bool done;

/* ------------------------------------------------------------------ devices */

static uint64_t
random_next(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x;
}

/* Checksum of a line, to detect torn copies. It is stored in frac, where it changes values by less than 1 ns. */
static uint64_t
sum_of(uint64_t mult, uint64_t base, uint64_t start, uint64_t steps)
{
	uint64_t x = mult * UINT64_C(0x9e3779b97f4a7c15) ^ base * UINT64_C(0xc2b2ae3d27d4eb4f) ^
		     start * UINT64_C(0x165667b19e3779f9) ^ steps * UINT64_C(0x27d4eb2f165667c5);

	return (x ^ x >> 29) & (RTE_BIT64(SHIFT) - 1);
}

/* New line from now on: begins with the value of the old line plus step, and has rate mult. */
static void
line_bend(struct mdv_clock_line *l, uint64_t now, uint32_t mult, int64_t step, uint64_t steps)
{
	uint64_t value = 1000000000000;

	if (l->mult != 0)
		(void)mdv_clock_line_convert(l, now, &value);
	*l = (struct mdv_clock_line) { .mult = mult, .shift = SHIFT, .base = now & MASK, .mask = MASK,
				       .span = SPAN, .start = value + step };
	l->frac = sum_of(l->mult, l->base, l->start, steps);
}

int
mdv_clock_refresh(struct mdv_clock *d, struct mdv_clock_state *state)
{
	struct mdv_clock_state *s = &d->state;
	uint64_t what = random_next(&d->random) % 64, now = rte_rdtsc();
	uint64_t nominal = (UINT64_C(1000000000) << SHIFT) / rte_get_tsc_hz();
	uint32_t mult = nominal - nominal / 1000000 * SLEW_PPM +
			random_next(&d->random) % (nominal / 1000000 * SLEW_PPM * 2);
	int64_t step = 0;

	d->reads++;
	s->quality = MDV_CLOCK_GOOD;
	if (what < 4 && s->line.mult != 0) {
		s->busy++;
		*state = *s;
		return -EAGAIN;
	}
	if (what == 4)
		s->quality = MDV_CLOCK_BROKEN;
	if (what == 5)
		pass_us(20000); /* A slow device. */
	if (what >= 48 && s->line.mult != 0) {
		step = random_next(&d->random) & 1 ? 2000000000 : -1000000000;
		s->steps++;
	}
	line_bend(&s->line, now, mult, step, s->steps);
	s->host = s->line;
	s->source = MDV_CLOCK_HOST;
	s->unit = "ns";
	s->epoch = "test";
	s->valid_tsc = UINT64_MAX;
	s->next_us = 1000;
	*state = *s;
	return 0;
}

int
mdv_clock_open(struct mdv_dev *dev, enum mdv_clock_source wanted __rte_unused, struct mdv_clock **out,
	       char *why, size_t why_bytes)
{
	*out = (struct mdv_clock *)dev;
	(*out)->random = UINT64_C(0x9e3779b97f4a7c15) * (*out - devices + 1);
	snprintf(why, why_bytes, "a simulated device");
	return 0;
}

void
mdv_clock_close(struct mdv_clock *clock __rte_unused)
{
}

const char *
mdv_clock_source_name(enum mdv_clock_source source __rte_unused)
{
	return "host";
}

int
mdv_clock_raw(struct mdv_dev *dev __rte_unused, uint64_t *cycles __rte_unused)
{
	CHECK(false, "a device read");
	return -ENOTSUP;
}

bool
mdv_removed(const struct mdv_dev *dev __rte_unused)
{
	return false;
}

/* ------------------------------------------------------------------ readers */

static void
whole(const struct mlxpmd_clock_snap *s)
{
	CHECK(s->mult == 0 || s->frac == sum_of(s->mult, s->base, s->start, s->steps),
	      "generation %u is torn", s->generation);
}

/* Converts a timestamp by the previous and the present line: the values are close, or a step is reported. */
static void
moved(struct reader *r, const struct mlxpmd_clock_snap *old, const struct mlxpmd_clock_snap *new)
{
	uint64_t at = new->base, was, is, slack;

	r->moves++;
	r->steps += new->steps - old->steps;
	CHECK((int32_t)(new->generation - old->generation) > 0, "back from %u to %u", old->generation,
	      new->generation);
	if (new->steps != old->steps || !mlxpmd_clock_convert(old, at, &was) ||
	    !mlxpmd_clock_convert(new, at, &is))
		return;
	slack = 2000 + (is - old->start) / 1000000 * SLEW_PPM * 3;
	CHECK(is - was + slack <= 2 * slack, "generation %u to %u: %" PRId64 " ns without a step",
	      old->generation, new->generation, (int64_t)(is - was));
}

/* Converts as a receive burst does: with a snapshot of its own. */
static void
read_queue(struct reader *r, unsigned int i)
{
	struct mlxpmd_clock_snap *mine = &r->snap[i], old = *mine;
	uint64_t tsc, value;

	mlxpmd_clock_follow(ports[i].clock, mine);
	tsc = rte_rdtsc();
	whole(mine);
	if (mine->generation != old.generation) {
		if (old.generation != 0)
			moved(r, &old, mine);
		r->last[i] = 0;
	}
	if (!mlxpmd_clock_usable(mine, tsc) || !mlxpmd_clock_value(ports[i].clock, mine, tsc, &value)) {
		r->absent++;
		return;
	}
	CHECK(value >= r->last[i], "generation %u goes back by %" PRIu64 " ns", mine->generation,
	      r->last[i] - value);
	r->last[i] = value;
	r->values++;
}

/* Reads the lines of its lcore, as all functions but the bursts do. */
static void
read_lcore(struct reader *r, unsigned int i)
{
	struct mlxpmd_clock_lines stack;
	const struct mlxpmd_clock_lines *lines = mlxpmd_clock_lcore(ports[i].clock, &stack);
	uint64_t value;

	CHECK((lines == &stack) == !r->is_lcore, "the lines of another thread");
	if (lines->dev.generation != 0) {
		whole(&lines->dev);
		whole(&lines->host);
		CHECK(lines->dev.generation == lines->host.generation, "lines of %u and %u",
		      lines->dev.generation, lines->host.generation);
	}
	(void)mlxpmd_clock_now(ports[i].clock, &value);
}

static void *
reader_main(void *arg)
{
	struct reader *r = arg;
	struct mlxpmd_clock_snap mine;
	unsigned int i;

	if (r->is_lcore)
		CHECK(rte_thread_register() == 0, "no lcore: %s", rte_strerror(rte_errno));
	while (!__atomic_load_n(&done, __ATOMIC_RELAXED)) {
		for (i = 0; i < NB_DEVICES; i++) {
			read_queue(r, i);
			read_lcore(r, i);
		}
		mine.generation = 0;
		mlxpmd_clock_follow(&frozen, &mine);
		CHECK(mine.generation == 1 && mine.start == 4711, "blocked by a publisher that stopped");
		__atomic_fetch_add(&r->rounds, 1, __ATOMIC_RELAXED);
		sched_yield(); /* There are far more threads than cores. */
	}
	if (r->is_lcore)
		rte_thread_unregister();
	return NULL;
}

/* ------------------------------------------------------------------ the state of clocks */

/* Reads the state of the clocks, as telemetry and statistics do. */
static void *
asker_main(void *arg)
{
	struct mlxpmd_clock_info info;
	unsigned int i;

	RTE_SET_USED(arg);
	while (!__atomic_load_n(&done, __ATOMIC_RELAXED)) {
		for (i = 0; i < NB_DEVICES; i++) {
			mlxpmd_clock_info_get(ports[i].clock, &info);
			CHECK(info.state.line.frac == sum_of(info.state.line.mult, info.state.line.base,
							     info.state.line.start, info.state.steps),
			      "a torn state");
		}
		pass_us(1000); /* Read 1000 times per second. */
	}
	return NULL;
}

static bool
enough(void)
{
	struct mlxpmd_clock_info info;
	unsigned int i;

	for (i = 0; i < NB_READERS; i++)
		if (__atomic_load_n(&readers[i].rounds, __ATOMIC_RELAXED) < ROUNDS)
			return false;
	for (i = 0; i < NB_DEVICES; i++) {
		mlxpmd_clock_info_get(ports[i].clock, &info);
		if (info.generation < GENERATIONS)
			return false;
	}
	return true;
}

static void
clocks_open(void)
{
	struct mlxpmd_clock_snap s = { .mult = 1, .start = 4711, .expires_tsc = UINT64_MAX };
	unsigned int i;

	for (i = 0; i < NB_DEVICES; i++) {
		ports[i] = (struct mlxpmd_port) { .port_id = i, .mdv = &devices[i].dev };
		CHECK(mlxpmd_clock_open(&ports[i]) == 0 && ports[i].clock != NULL, "no clock");
	}
	s.frac = sum_of(s.mult, s.base, s.start, s.steps);
	mlxpmd_clock_publish(&frozen, &s, NULL);
	for (i = 0; i < MLXPMD_CLOCK_SNAP_WORDS / 2; i++)
		__atomic_store_n((mlxpmd_clock_word *)&frozen.board.slot[0] + i, UINT64_MAX, __ATOMIC_RELEASE);
}

static void
report(void)
{
	uint64_t rounds = UINT64_MAX, values = 0, absent = 0, moves = 0, steps = 0, refreshes = 0;
	struct mlxpmd_clock_info info;
	unsigned int i;

	for (i = 0; i < NB_READERS; i++) {
		rounds = RTE_MIN(rounds, readers[i].rounds);
		values += readers[i].values;
		absent += readers[i].absent;
		moves += readers[i].moves;
		steps += readers[i].steps;
	}
	for (i = 0; i < NB_DEVICES; i++) {
		mlxpmd_clock_info_get(ports[i].clock, &info);
		refreshes += info.attempts;
		CHECK(info.attempts + 1 == devices[i].reads, "device %u was read %u times", i, devices[i].reads);
	}
	printf("%d threads, %d clocks: %" PRIu64 " values, %" PRIu64 " absent; generations taken %" PRIu64
	       ", steps seen %" PRIu64 "; refreshes %" PRIu64
	       "; least rounds %" PRIu64 "\n", NB_READERS, NB_DEVICES, values, absent, moves, steps, refreshes, rounds);
	CHECK(rounds != 0 && values != 0 && absent != 0 && moves != 0 && steps != 0, "something was not tried");
}

static uint64_t
idle_run(void *arg __rte_unused)
{
	return MLXPMD_TASK_IDLE;
}

/* The control thread starts with the first task and stops with the last one, while others add and remove theirs. */
static void *
adder_main(void *arg __rte_unused)
{
	struct mlxpmd_task task = { .name = "idle", .run = idle_run, .fd = -1 };
	unsigned int i;

	for (i = 0; i < 50; i++) {
		CHECK(mlxpmd_task_add(NULL, &task, MLXPMD_TASK_IDLE) == 0, "not added");
		mlxpmd_task_remove(&task);
	}
	return NULL;
}

static void
starts_and_stops(void)
{
	pthread_t adder[4];
	unsigned int i;

	for (i = 0; i < RTE_DIM(adder); i++)
		pthread_create(&adder[i], NULL, adder_main, NULL);
	for (i = 0; i < RTE_DIM(adder); i++)
		pthread_join(adder[i], NULL);
}

int
main(void)
{
	char *argv[] = { "clock_threads", "--no-huge", "--no-pci", "--no-shconf", "--no-telemetry", "-m", "32",
			 "-l", "0", "--log-level", "error" };
	pthread_t asker;
	unsigned int i;

	if (rte_eal_init(RTE_DIM(argv), argv) < 0)
		return 1;
	starts_and_stops();
	clocks_open();
	pthread_create(&asker, NULL, asker_main, NULL);
	for (i = 0; i < NB_READERS; i++) {
		readers[i].is_lcore = i < NB_LCORES;
		pthread_create(&readers[i].thread, NULL, reader_main, &readers[i]);
	}
	(void)AWAIT(enough(), SECONDS * 1000);
	__atomic_store_n(&done, true, __ATOMIC_RELAXED);
	for (i = 0; i < NB_READERS; i++)
		pthread_join(readers[i].thread, NULL);
	pthread_join(asker, NULL);
	for (i = 0; i < NB_DEVICES; i++)
		mlxpmd_task_remove(&ports[i].clock->refresher->task);
	report();
	for (i = 0; i < NB_DEVICES; i++)
		mlxpmd_clock_close(&ports[i]);
	return check_exit("clock_threads");
}
