/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * The free-running counter, and the two pages through which programs read it: the kernel's
 * clock page (a point, a slope, a sequence number) and the device's own counter registers.
 */
#include <endian.h>
#include <stdlib.h>
#include <time.h>

#include "emu_fault.h"
#include "emu_lie.h"

#define NS_PER_S 1000000000ull
#define CLOCK_FAULT_HZ 1000u
#define CLOCK_FLIPS 2000u
/* The counter had run for some hours when the kernel's driver was loaded: more than its mask. */
#define CLOCK_START_CYCLES (5ull << 41)

/** Layout of the kernel's clock page: mlx5-abi.h, struct mlx5_ib_clock_info. */
struct clock_page {
	_Atomic uint32_t sign;
	uint32_t reserved;
	uint64_t nsec, cycles, frac;
	uint32_t mult, shift;
	uint64_t mask, overflow_period;
};
_Static_assert(sizeof(struct clock_page) == 56, "clock page");

static uint64_t
host_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

/* Virtual time: where it stands; it begins at a second. */
#define VIRTUAL_START_NS NS_PER_S
#define VIRTUAL_EPOCH_NS (1700000000ull * NS_PER_S)
static bool time_is_virtual;
static _Atomic uint64_t virtual_ns = VIRTUAL_START_NS;

void
emu_time_virtual(void)
{
	time_is_virtual = true;
}

bool
emu_time_is_virtual(void)
{
	return time_is_virtual;
}

void
emu_time_pass(uint64_t ns)
{
	if (time_is_virtual)
		atomic_fetch_add_explicit(&virtual_ns, ns, memory_order_relaxed);
}

uint64_t
emu_mono_ns(void)
{
	if (__builtin_expect(time_is_virtual, 0))
		return atomic_load_explicit(&virtual_ns, memory_order_relaxed);
	return host_ns(CLOCK_MONOTONIC);
}

static unsigned
log2_floor(uint64_t v)
{
	return 63u - (unsigned)__builtin_clzll(v);
}

/*
 * Shift and multiplier as kernels since 6.7 (and those with the change backported) choose them:
 * the finest shift that still allows corrections of 1 scaled ppm, bounded so that the product
 * with one second's worth of cycles stays inside 64 bits.
 */
static void
clock_slope(struct emu_clock *c)
{
	uint64_t khz = c->hz / 1000;
	unsigned fine = log2_floor(khz) + 16;
	unsigned bound = log2_floor((UINT32_MAX / 1000000u) * khz);

	c->shift = fine < bound ? fine : bound;
	c->mult = (uint32_t)(((1000000ull << c->shift) + khz / 2) / khz);
}

/* Half of what 64 bits allow, and no more than a third of the mask. */
static void
clock_overflow(struct emu_clock *c)
{
	uint64_t cycles = (UINT64_MAX >> 1) / c->mult;
	uint64_t ns;

	if (cycles > c->mask / 3)
		cycles = c->mask / 3;
	ns = (uint64_t)(((unsigned __int128)cycles * c->mult) >> c->shift);
	c->refresh_cycles = cycles;
	c->overflow_period = ns / (NS_PER_S / EMU_KERNEL_HZ);
}

void
emu_clock_init(struct emu_clock *c, uint64_t hz)
{
	c->hz = hz;
	c->mask = (1ull << 41) - 1;
	c->start_cycles = CLOCK_START_CYCLES + hz / 3;
	c->start_host_ns = emu_mono_ns();
	c->epoch_ns = time_is_virtual ? VIRTUAL_EPOCH_NS : host_ns(CLOCK_REALTIME);
	clock_slope(c);
	clock_overflow(c);
	c->page_cycles = c->start_cycles;
	c->page_ns = c->epoch_ns;
	c->page_frac = 0;
}

uint64_t
emu_clock_cycles_at(const struct emu_clock *c, uint64_t mono_ns)
{
	unsigned __int128 run = (unsigned __int128)(mono_ns - c->start_host_ns) * c->hz;

	if (mono_ns < c->start_host_ns)
		return c->start_cycles;
	return (c->start_cycles + (uint64_t)(run / NS_PER_S)) & (UINT64_MAX >> 1);
}

uint64_t
emu_clock_cycles(const struct emu_clock *c)
{
	return emu_clock_cycles_at(c, emu_mono_ns());
}

/* Carries the point along the line to now; the remainder keeps the line free of steps. */
static void
clock_advance(struct emu_clock *c, uint64_t now)
{
	unsigned __int128 scaled = (unsigned __int128)(now - c->page_cycles) * c->mult;

	scaled += c->page_frac;
	c->page_ns += (uint64_t)(scaled >> c->shift);
	c->page_frac = (uint64_t)scaled & ((1ull << c->shift) - 1);
	c->page_cycles = now;
}

static uint64_t
told(const char *name, uint64_t value)
{
	return emu_lie_about(EMU_LIE_CLOCK) ? emu_lie_clock(name, value) : value;
}

static void
page_write(const struct emu_clock *c, struct clock_page *page, bool torn)
{
	uint32_t sign = atomic_load_explicit(&page->sign, memory_order_relaxed);

	atomic_store_explicit(&page->sign, sign | 1, memory_order_relaxed);
	/* Readers that see a new field below must also see the odd sign: a full barrier. */
	atomic_thread_fence(memory_order_seq_cst);
	page->nsec = told("nsec", c->page_ns);
	page->cycles = told("cycles", c->page_cycles & c->mask);
	page->frac = told("frac", c->page_frac);
	page->mult = (uint32_t)told("mult", c->mult);
	page->shift = (uint32_t)told("shift", c->shift);
	page->mask = told("mask", c->mask);
	page->overflow_period = told("overflow_period", c->overflow_period);
	/* All fields are visible before the sign turns even again. */
	if (!torn)
		atomic_store_explicit(&page->sign, (sign & ~1u) + 2, memory_order_release);
}

static struct clock_page *
page_of(const struct emu_ctx *ctx)
{
	return (struct clock_page *)((uint8_t *)ctx->file + EMU_CLOCK_INFO_OFFSET);
}

static void
publish(struct emu_dev *dev, bool torn)
{
	struct emu_clock *c = &dev->clock;
	struct emu_ctx *ctx;

	clock_advance(c, emu_clock_cycles(c));
	TAILQ_FOREACH(ctx, &dev->contexts, next)
		page_write(c, page_of(ctx), torn);
}

void
emu_clock_publish(struct emu_dev *dev)
{
	publish(dev, false);
}

/* The sign changes for about as long as a reader looks, again and again. */
static void
flip(struct emu_dev *dev)
{
	struct emu_ctx *ctx;

	for (unsigned i = 0; i < CLOCK_FLIPS; i++) {
		TAILQ_FOREACH(ctx, &dev->contexts, next)
			atomic_fetch_add_explicit(&page_of(ctx)->sign, 2, memory_order_relaxed);
		__builtin_ia32_pause();
	}
}

/*
 * While rules are about the page it is refreshed each millisecond, and each refresh is an event
 * that they may hit.
 */
static void
clock_fault(struct emu_dev *dev, uint64_t now)
{
	const struct emu_fault_query q = {.place = EMU_AT_CLOCK_PAGE, .dev = dev};
	const struct emu_fault_action *a;

	if (now - dev->clock.page_cycles < dev->clock.hz / CLOCK_FAULT_HZ)
		return;
	a = emu_fault_ask(&q);
	switch (a != NULL ? a->act : EMU_ACT_NONE) {
	case EMU_ACT_TEAR:
		publish(dev, true);
		break;
	case EMU_ACT_FLIP:
		clock_advance(&dev->clock, now);
		flip(dev);
		break;
	case EMU_ACT_FREEZE:
		clock_advance(&dev->clock, now);
		break;
	case EMU_ACT_JUMP:
		dev->clock.page_ns += (uint64_t)a->ns;
		publish(dev, false);
		break;
	default:
		publish(dev, false);
		break;
	}
}

void
emu_clock_tick(struct emu_dev *dev)
{
	struct emu_clock *c = &dev->clock;
	struct emu_ctx *ctx;
	uint64_t now;

	if (__builtin_expect(dev->replug_ns != 0, 0))
		emu_port_tick(dev, emu_mono_ns());
	if (TAILQ_EMPTY(&dev->contexts))
		return;
	now = emu_clock_cycles(c);
	/* Registers hi and lo side by side, big-endian: one store keeps the pair consistent. */
	TAILQ_FOREACH(ctx, &dev->contexts, next)
		atomic_store_explicit(
			(_Atomic uint64_t *)((uint8_t *)ctx->file + EMU_CORE_CLOCK_OFFSET),
			htobe64(told("core", now)), memory_order_relaxed);
	if (emu_fault_at(EMU_AT_CLOCK_PAGE)) {
		clock_fault(dev, now);
		return;
	}
	if (now - c->page_cycles >= c->refresh_cycles)
		emu_clock_publish(dev);
}
