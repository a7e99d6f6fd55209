/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* The oscillator of a device, its free-running counter, and its clock in real-time mode. */
#include "emu_clock.h"

#include "emu_dev.h"

typedef unsigned __int128 u128;
typedef __int128 i128;

#define CLOCK_MASK ((1ull << 41) - 1)
/* Counter when the kernel's driver loads: some hours, which is more than its 41-bit mask. */
#define START_CYCLES (5ull << 41)
#define WRAP_AHEAD_S 2u
/* Frequency of cards whose firmware is in real-time mode. */
#define REALTIME_HZ 1000000000ull
#define PPB 1000000000ll
/* Parts of a cycle in anchor_frac: ns times parts per billion times Hz. */
#define FRAC 1000000000000000000ull
#define COUNTER_MASK (UINT64_MAX >> 1)

/*
 * Integral of the wander since its start, in ns times parts per billion. The wander is a triangle
 * wave between +wander and -wander; its average is 0.
 */
static i128
wander_sum(const struct emu_clock *c, uint64_t mono_ns)
{
	uint64_t period = c->wander_period_ns, x;
	i128 peak, y;

	if (c->wander_ppb == 0)
		return 0;
	x = (mono_ns - c->born_ns) % period;
	peak = (i128)c->wander_ppb * period / 4;
	/* The wave rises from 0, falls through 0 at half the period, and rises to 0 at the end. */
	if (x < period / 4)
		return 2 * (i128)c->wander_ppb * x * x / period;
	if (x >= period - period / 4) {
		x = period - x;
		return 2 * (i128)c->wander_ppb * x * x / period;
	}
	y = (i128)x - (i128)(period / 2);
	return peak - 2 * (i128)c->wander_ppb * y * y / period;
}

/* Present frequency error due to wander, in parts per billion. */
static int64_t
wander_now(const struct emu_clock *c, uint64_t mono_ns)
{
	i128 period = c->wander_period_ns, x;

	if (c->wander_ppb == 0)
		return 0;
	x = (mono_ns - c->born_ns) % c->wander_period_ns;
	if (x >= period * 3 / 4)
		x -= period;
	else if (x >= period / 4)
		x = period / 2 - x;
	return (int64_t)(4 * x * (i128)c->wander_ppb / period);
}

/* Cycles since the anchor, in 10^-18 of one. */
static u128
run_since(const struct emu_clock *c, uint64_t mono_ns)
{
	i128 sum;

	if (mono_ns <= c->anchor_ns)
		return c->anchor_frac;
	sum = (i128)(mono_ns - c->anchor_ns) * (PPB + c->drift_ppb);
	sum += wander_sum(c, mono_ns) - wander_sum(c, c->anchor_ns);
	/* The sum is positive: drift and wander are limited to EMU_CLOCK_MAX_PPB each. */
	return (u128)sum * c->hz + c->anchor_frac;
}

uint64_t
emu_clock_cycles_at(const struct emu_clock *c, uint64_t mono_ns)
{
	return (c->anchor_cycles + (uint64_t)(run_since(c, mono_ns) / FRAC)) & COUNTER_MASK;
}

uint64_t
emu_clock_cycles(const struct emu_clock *c)
{
	return emu_clock_cycles_at(c, emu_mono_ns());
}

int64_t
emu_clock_error_ppb(const struct emu_clock *c, uint64_t mono_ns)
{
	return c->drift_ppb + wander_now(c, mono_ns);
}

void
emu_clock_point(const struct emu_clock *c, uint64_t mono_ns, struct emu_clock_point *p)
{
	u128 run = run_since(c, mono_ns);
	uint64_t cycles = (uint64_t)(run / FRAC), frac = (uint64_t)(run - (u128)cycles * FRAC);
	u128 rate = (u128)c->hz * (uint64_t)(PPB + emu_clock_error_ppb(c, mono_ns));

	p->mono_ns = mono_ns;
	p->cycles = (c->anchor_cycles + cycles) & COUNTER_MASK;
	p->frac_q32 = (uint32_t)(((u128)frac << 32) / FRAC);
	p->rate_q40 = (uint64_t)((rate << 40) / FRAC);
}

void
emu_clock_drift(struct emu_clock *c, int64_t ppb)
{
	uint64_t now = emu_mono_ns();
	u128 run = run_since(c, now);

	c->anchor_cycles = (c->anchor_cycles + (uint64_t)(run / FRAC)) & COUNTER_MASK;
	c->anchor_frac = (uint64_t)(run % FRAC);
	c->anchor_ns = now;
	c->drift_ppb = ppb;
}

uint64_t
emu_clock_real_ns(const struct emu_clock *c, uint64_t cycles)
{
	/* cycles may be a little before the last adjustment. */
	i128 run = (i128)(int64_t)(cycles - c->real_cycles) * (PPB + c->real_ppb) + c->real_frac;
	i128 back = run < 0 ? (-run + c->hz - 1) / c->hz : 0;

	return run < 0 ? c->real_ns - (uint64_t)back : c->real_ns + (uint64_t)((u128)run / c->hz);
}

void
emu_clock_real_adjust(struct emu_clock *c, uint64_t cycles, int64_t step_ns, int64_t ppb)
{
	u128 run = (u128)(cycles - c->real_cycles) * (uint64_t)(PPB + c->real_ppb) + c->real_frac;

	c->real_ns += (uint64_t)(run / c->hz) + (uint64_t)step_ns;
	c->real_frac = (uint64_t)(run % c->hz);
	c->real_cycles = cycles;
	c->real_ppb = ppb;
}

static uint64_t
start_of(const struct emu_clock_plan *plan, uint64_t hz)
{
	switch (plan->start) {
	case EMU_CLOCK_START_WRAP:
		return START_CYCLES - WRAP_AHEAD_S * hz;
	case EMU_CLOCK_START_AT:
		return plan->start_cycles & COUNTER_MASK;
	default:
		return START_CYCLES + hz / 3;
	}
}

void
emu_clock_init(struct emu_clock *c, uint64_t profile_hz, const struct emu_clock_plan *plan)
{
	uint64_t hz = plan->hz;

	if (hz == 0)
		hz = plan->format != EMU_CLOCK_FREE ? REALTIME_HZ : profile_hz;
	*c = (struct emu_clock){
		.hz = hz,
		.format = plan->format,
		.drift_ppb = plan->drift_ppb,
		.wander_ppb = plan->wander_period_ns != 0 ? plan->wander_ppb : 0,
		.wander_period_ns = plan->wander_period_ns,
		.mask = CLOCK_MASK,
		.old_kernel = plan->old_kernel,
	};
	c->born_ns = c->anchor_ns = emu_mono_ns();
	c->anchor_cycles = start_of(plan, hz);
	/* The kernel sets both clocks to its real time when the driver loads (lib/clock.c). */
	c->real_cycles = c->anchor_cycles;
	c->real_ns = emu_time_utc(c->anchor_ns);
	emu_clock_ptp_init(c, c->real_ns);
}
