/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* The simulated device. Only readings and sleeps let virtual time pass. */

#include <errno.h>
#include <math.h>
#include <string.h>

#include "sim.h"

#define PS_PER_NS 1000
/* A unit of a run in units of its base: ps times uHz. */
#define UNIT ((unsigned __int128)1000000000000000000ull)

uint64_t
sim_random(struct sim *s)
{
	s->seed ^= s->seed << 13;
	s->seed ^= s->seed >> 7;
	s->seed ^= s->seed << 17;
	return s->seed * 0x2545f4914f6cdd1dull;
}

double
sim_uniform(struct sim *s)
{
	return (double)(sim_random(s) >> 11) / 9007199254740992.0;
}

static double
exponential(struct sim *s, double mean)
{
	return -mean * log(1 - sim_uniform(s));
}

static double
normal(struct sim *s)
{
	return sqrt(-2 * log(1 - sim_uniform(s))) * cos(2 * M_PI * sim_uniform(s));
}

void
sim_pass_ns(struct sim *s, double ns)
{
	s->now_ps += (int64_t)(ns * PS_PER_NS);
}

/* ------------------------------------------------------------------ runs */

static unsigned __int128
run_at(const struct sim_run *run, int64_t at_ps)
{
	return run->base + (unsigned __int128)(at_ps - run->since_ps) * run->rate_uhz;
}

uint64_t
sim_read(const struct sim *s, const struct sim_run *run, int64_t at_ps)
{
	uint64_t whole = (uint64_t)(run_at(run, at_ps) / UNIT);

	return run == &s->counter ? whole & s->counter_mask : whole;
}

double
sim_fraction(const struct sim *s, const struct sim_run *run, int64_t at_ps, uint64_t *whole)
{
	*whole = sim_read(s, run, at_ps);
	return (double)(uint64_t)(run_at(run, at_ps) % UNIT) / 1e18;
}

static void
settle(struct sim *s, struct sim_run *run)
{
	run->base = run_at(run, s->now_ps);
	run->since_ps = s->now_ps;
}

void
sim_set_rate(struct sim *s, struct sim_run *run, double hz)
{
	settle(s, run);
	run->rate_uhz = (uint64_t)llround(hz * 1e6);
}

void
sim_step(struct sim *s, struct sim_run *run, int64_t units)
{
	settle(s, run);
	run->base += (__int128)units * (__int128)UNIT;
}

static void
start(struct sim_run *run, uint64_t value, double hz)
{
	run->since_ps = 0;
	run->base = value * UNIT;
	run->rate_uhz = (uint64_t)llround(hz * 1e6);
}

void
sim_init(struct sim *s, uint64_t hz, double ppm, uint64_t first, uint64_t seed)
{
	memset(s, 0, sizeof(*s));
	s->seed = seed * 0x9e3779b97f4a7c15ull + 1;
	s->counter_mask = UINT64_MAX >> 1;
	s->synced = true;
	s->utc_ret = -ENOTSUP;
	s->page_ret = -ENOTSUP;
	start(&s->tsc, 123456789012345, SIM_TSC_HZ * (1 + 13e-6));
	start(&s->counter, first, hz * (1 + ppm * 1e-6));
	start(&s->wall, SIM_EPOCH_NS, MDV_NS_PER_S);
	start(&s->utc, SIM_EPOCH_NS + 77, MDV_NS_PER_S);
}

/* ------------------------------------------------------------------ readings */

static uint64_t
sim_tsc(void *ctx)
{
	struct sim *s = ctx;

	sim_pass_ns(s, 6 + 4 * sim_uniform(s));
	return sim_read(s, &s->tsc, s->now_ps);
}

static int
sim_realtime(void *ctx, uint64_t *ns)
{
	struct sim *s = ctx;

	s->wall_reads++;
	sim_pass_ns(s, 8 + 6 * sim_uniform(s));
	*ns = sim_read(s, &s->wall, s->now_ps);
	sim_pass_ns(s, 8 + 6 * sim_uniform(s));
	return s->wall_ret;
}

static void
delays(struct sim *s, double *request, double *reply)
{
	*request = 300;
	*reply = 300;
	switch (s->jitter) {
	case SIM_EXACT:
		break;
	case SIM_HIDDEN:
		*request = 200 + 400 * sim_uniform(s);
		*reply = 800 - *request;
		break;
	case SIM_NORMAL:
		*request = fmax(100, 400 + 200 * normal(s));
		*reply = fmax(100, 400 + 200 * normal(s));
		break;
	case SIM_OUTLIERS:
		if (sim_random(s) % 50 == 0)
			*(sim_random(s) % 2 ? request : reply) += 50000 * sim_uniform(s);
		/* fall through */
	case SIM_TAIL:
	case SIM_ONE_SIDED:
		*request += exponential(s, 200);
		*reply += exponential(s, 200) + (s->jitter == SIM_ONE_SIDED ? 400 : 0);
		break;
	}
	*reply += s->reply_ns;
}

static int
sim_counter(void *ctx, uint64_t *cycles)
{
	struct sim *s = ctx;
	double request, reply;
	int64_t at;

	s->reads++;
	delays(s, &request, &reply);
	sim_pass_ns(s, request);
	at = s->page_step_ps == 0 ? s->now_ps : s->now_ps - s->now_ps % (int64_t)s->page_step_ps;
	*cycles = s->counter_still || s->now_ps < s->still_until_ps ? s->still : sim_read(s, &s->counter, at);
	sim_pass_ns(s, reply);
	return s->reads == s->counter_fails_at ? -EIO : s->counter_ret;
}

static int
sim_utc(void *ctx, uint64_t *ns)
{
	struct sim *s = ctx;
	double request, reply;

	delays(s, &request, &reply);
	sim_pass_ns(s, request);
	*ns = sim_read(s, &s->utc, s->now_ps);
	sim_pass_ns(s, reply);
	return s->utc_ret;
}

static int
sim_page(void *ctx, struct mdv_clock_point *point)
{
	struct sim *s = ctx;

	sim_pass_ns(s, 100);
	*point = s->point;
	if (s->page_ret != 0 && s->point_garbled)
		for (size_t i = 0; i < sizeof(*point); i++)
			((uint8_t *)point)[i] = (uint8_t)sim_random(s);
	return s->now_ps < s->page_busy_until_ps ? -EAGAIN : s->page_ret;
}

static int
sim_tai_offset_s(void *ctx)
{
	return ((struct sim *)ctx)->tai_s;
}

static bool
sim_host_synced(void *ctx)
{
	return ((struct sim *)ctx)->synced;
}

static void
sim_sleep_us(void *ctx, unsigned int us)
{
	struct sim *s = ctx;

	sim_pass_ns(s, us * 1000.0 + 60000 * sim_uniform(s));
}

const struct mdv_clock_ops sim_ops = {
	.page = sim_page,
	.counter = sim_counter,
	.utc = sim_utc,
	.realtime = sim_realtime,
	.tsc = sim_tsc,
	.tai_offset_s = sim_tai_offset_s,
	.host_synced = sim_host_synced,
	.sleep_us = sim_sleep_us,
};

/* ------------------------------------------------------------------ clock page of the kernel */

/*
 * Kernels up to 6.6 use a shift of 23; later ones the largest that leaves a margin for corrections
 * (mlx5_ptp_shift_constant()). The guide has figures for both.
 */
void
sim_page_init(struct sim *s, uint64_t hz, bool old_kernel, uint64_t ns)
{
	uint64_t khz = hz / 1000, bound = UINT32_MAX / 1000000u * khz;
	uint32_t fine = 63 - (uint32_t)__builtin_clzll(khz) + 16;
	uint32_t most = 63 - (uint32_t)__builtin_clzll(bound);
	struct mdv_clock_point *p = &s->point;

	p->mask = (1ull << MDV_CLOCK_BITS) - 1;
	p->shift = old_kernel ? 23 : fine < most ? fine : most;
	p->mult = (uint32_t)(((1000000ull << p->shift) + khz / 2) / khz);
	p->ns = ns;
	p->frac = 0;
	s->point_ticks = sim_read(s, &s->counter, s->now_ps);
	p->cycles = s->point_ticks & p->mask;
	s->page_ret = 0;
}

uint64_t
sim_page_period_ns(const struct sim *s)
{
	uint64_t cycles = (UINT64_MAX >> 1) / s->point.mult;

	if (cycles > s->point.mask / 3)
		cycles = s->point.mask / 3;
	return (uint64_t)(((unsigned __int128)cycles * s->point.mult) >> s->point.shift);
}

void
sim_page_advance(struct sim *s)
{
	struct mdv_clock_point *p = &s->point;
	uint64_t now = sim_read(s, &s->counter, s->now_ps);
	unsigned __int128 scaled = (unsigned __int128)(now - s->point_ticks) * p->mult + p->frac;

	p->ns += (uint64_t)(scaled >> p->shift);
	p->frac = (uint64_t)scaled & ((1ull << p->shift) - 1);
	p->cycles = now & p->mask;
	s->point_ticks = now;
}

uint64_t
sim_page_time(const struct mdv_clock_point *p, int64_t delta)
{
	__int128 value = ((__int128)p->ns << p->shift) + p->frac + (__int128)delta * p->mult;

	return (uint64_t)(int64_t)(value >> p->shift);
}

/* ------------------------------------------------------------------ a clock on it */

void
rig_init(struct rig *r, uint64_t seed)
{
	memset(r, 0, sizeof(*r));
	sim_init(&r->s, RIG_HZ, 20, RIG_START + seed, seed);
	r->s.jitter = SIM_TAIL;
}

int
rig_begin(struct rig *r, enum mdv_clock_source requested, bool free_running, bool realtime, uint32_t khz)
{
	const struct mdv_clock_facts facts = { .tsc_hz = SIM_TSC_HZ, .frequency_khz = khz,
					       .free_running = free_running,
					       .realtime = realtime };
	int ret;

	r->clock = (struct mdv_clock *)r; /* A failure sets it to NULL. */
	ret = mdv_clock_open_ops(&sim_ops, &r->s, &facts, requested, &r->clock, r->why, sizeof(r->why));
	CHECK(ret <= 0 && (ret == 0) == (r->clock != NULL) && strlen(r->why) > 8);
	CHECK(strchr(r->why, '\n') == NULL);
	return ret;
}

int
rig_open(struct rig *r, enum mdv_clock_source requested, bool free_running, bool realtime, uint32_t khz)
{
	int ret = rig_begin(r, requested, free_running, realtime, khz);

	if (ret == 0)
		mdv_clock_refresh(r->clock, &r->state);
	return ret;
}

unsigned int
rig_run(struct rig *r, double seconds)
{
	int64_t end = r->s.now_ps + (int64_t)(seconds * 1e12);
	unsigned int good = 0;

	while (r->s.now_ps < end) {
		sim_pass_ns(&r->s, r->state.next_us * 1000.0);
		r->spent_ps -= r->s.now_ps;
		good += mdv_clock_refresh(r->clock, &r->state) == 0;
		CHECK(r->state.next_us >= 1000 && r->state.next_us <= MDV_CLOCK_REFRESH_US);
		r->spent_ps += r->s.now_ps;
	}
	return good;
}

bool
rig_usable(const struct rig *r)
{
	return r->state.quality != MDV_CLOCK_BROKEN &&
	       (int64_t)(r->state.valid_tsc - sim_read(&r->s, &r->s.tsc, r->s.now_ps)) > 0;
}

double
rig_stamp_error(const struct rig *r)
{
	uint64_t value, whole;
	uint64_t ticks = sim_read(&r->s, &r->s.counter, r->s.now_ps);
	double part = sim_fraction(&r->s, &r->s.wall, r->s.now_ps, &whole);

	if (!rig_usable(r) || !mdv_clock_line_convert(&r->state.line, ticks, &value))
		return NAN;
	return (double)(int64_t)(value - whole) - part;
}

double
rig_tsc_error(const struct rig *r, uint64_t truth, double part)
{
	uint64_t value;

	if (!rig_usable(r) || !mdv_clock_line_convert(&r->state.host,
						      sim_read(&r->s, &r->s.tsc, r->s.now_ps), &value))
		return NAN;
	return (double)(int64_t)(value - truth) - part;
}
