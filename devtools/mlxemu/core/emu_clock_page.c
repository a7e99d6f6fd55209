/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * The kernel's PTP clock, derived from the counter, and the clock page in which programs read it
 * (point, slope, sequence number).
 */
#include <stdatomic.h>

#include "emu_cpu.h"
#include "emu_fault.h"

typedef unsigned __int128 u128;

#define CLOCK_FAULT_HZ 1000u
#define CLOCK_FLIPS 2000u
/* Shift of kernels before 6.7. */
#define OLD_SHIFT 23u
/* Scaled ppm, the unit of PTP frequency corrections: 2^-16 ppm. */
#define SCALED_PPM_ONE (1u << 16)

/** Layout of the kernel's clock page: mlx5-abi.h, struct mlx5_ib_clock_info. */
struct clock_page {
	_Atomic uint32_t sign;
	uint32_t reserved;
	uint64_t nsec, cycles, frac;
	uint32_t mult, shift;
	uint64_t mask, overflow_period;
};
_Static_assert(sizeof(struct clock_page) == 56, "clock page");

static unsigned
log2_floor(uint64_t v)
{
	return 63u - (unsigned)__builtin_clzll(v);
}

/*
 * Shift and multiplier. Kernels since 6.7 (and those with the change backported) choose the largest
 * shift with which one second of cycles times the multiplier still fits in 64 bits and a correction
 * of 1 scaled ppm is possible; older kernels use a constant shift.
 */
static void
ptp_slope(struct emu_clock *c)
{
	uint64_t khz = c->hz / 1000;
	unsigned fine = log2_floor(khz) + 16;
	unsigned bound = log2_floor((UINT32_MAX / 1000000u) * khz);

	c->shift = fine < bound ? fine : bound;
	if (c->old_kernel)
		c->shift = OLD_SHIFT;
	c->nominal_mult = (uint32_t)(((1000000ull << c->shift) + khz / 2) / khz);
	c->mult = c->nominal_mult;
}

/* Half of the time until 64 bits overflow, and at most a third of the counter's mask. */
static void
ptp_overflow(struct emu_clock *c)
{
	uint64_t cycles = (UINT64_MAX >> 1) / c->mult;
	uint64_t ns;

	if (cycles > c->mask / 3)
		cycles = c->mask / 3;
	ns = (uint64_t)(((u128)cycles * c->mult) >> c->shift);
	c->refresh_cycles = cycles;
	c->overflow_period = ns / (EMU_NS_PER_S / EMU_KERNEL_HZ);
}

void
emu_clock_ptp_init(struct emu_clock *c, uint64_t ns)
{
	ptp_slope(c);
	ptp_overflow(c);
	c->page_cycles = c->anchor_cycles;
	c->page_ns = ns;
	c->page_frac = 0;
}

uint64_t
emu_clock_ptp_ns(const struct emu_clock *c, uint64_t cycles)
{
	u128 back = c->page_cycles - cycles;

	if ((int64_t)(cycles - c->page_cycles) >= 0)
		return c->page_ns +
		       (uint64_t)(((u128)(cycles - c->page_cycles) * c->mult + c->page_frac) >>
				  c->shift);
	back = back * c->mult;
	if (back <= c->page_frac)
		return c->page_ns;
	/* Round down, as in the forward direction. */
	return c->page_ns -
	       (uint64_t)((back - c->page_frac + ((u128)1 << c->shift) - 1) >> c->shift);
}

/* Move the point along the line to the present; keep the remainder so that the line has no steps. */
static void
ptp_advance(struct emu_clock *c, uint64_t now)
{
	u128 scaled = (u128)(now - c->page_cycles) * c->mult;

	scaled += c->page_frac;
	c->page_ns += (uint64_t)(scaled >> c->shift);
	c->page_frac = (uint64_t)scaled & ((1ull << c->shift) - 1);
	c->page_cycles = now;
}

/* The value as it is published: fault rules can change it. */
static uint64_t
published(struct emu_dev *dev, const char *name, uint64_t value)
{
	const struct emu_fault_event e = {.kind = EMU_ON_CLOCK_VALUE, .dev = dev, .name = name};

	return emu_fault_set_at(EMU_ON_CLOCK_VALUE) ? emu_fault_set_value(&e, value) : value;
}

static void
page_write(struct emu_dev *dev, struct clock_page *page, bool torn)
{
	const struct emu_clock *c = &dev->clock;
	uint32_t sign = atomic_load_explicit(&page->sign, memory_order_relaxed);

	atomic_store_explicit(&page->sign, sign | 1, memory_order_relaxed);
	/* Full barrier: a reader that sees a new field below must also see the odd sequence number. */
	atomic_thread_fence(memory_order_seq_cst);
	page->nsec = published(dev, "nsec", c->page_ns);
	page->cycles = published(dev, "cycles", c->page_cycles & c->mask);
	page->frac = published(dev, "frac", c->page_frac);
	page->mult = (uint32_t)published(dev, "mult", c->mult);
	page->shift = (uint32_t)published(dev, "shift", c->shift);
	page->mask = published(dev, "mask", c->mask);
	page->overflow_period = published(dev, "overflow_period", c->overflow_period);
	/* Release: all fields are visible before the sequence number becomes even. */
	if (!torn)
		atomic_store_explicit(&page->sign, (sign & ~1u) + 2, memory_order_release);
}

static struct clock_page *
page_of(const struct emu_ctx *ctx)
{
	return (struct clock_page *)((uint8_t *)ctx->file + EMU_CLOCK_INFO_OFFSET);
}

static void
pages_write(struct emu_dev *dev, bool torn)
{
	struct emu_ctx *ctx;

	/* The clock page belongs to the kernel's driver: VFIO has none. */
	TAILQ_FOREACH(ctx, &dev->contexts, next)
		if (ctx->iommu == NULL)
			page_write(dev, page_of(ctx), torn);
}

void
emu_clock_publish(struct emu_dev *dev)
{
	ptp_advance(&dev->clock, emu_clock_cycles(&dev->clock));
	pages_write(dev, false);
}

/* Keep the sequence number changing for longer than a reader retries. */
static void
flip(struct emu_dev *dev)
{
	struct emu_ctx *ctx;

	for (unsigned i = 0; i < CLOCK_FLIPS; i++) {
		TAILQ_FOREACH(ctx, &dev->contexts, next)
			if (ctx->iommu == NULL)
				atomic_fetch_add_explicit(&page_of(ctx)->sign, 2,
							  memory_order_relaxed);
		emu_cpu_pause();
	}
}

/*
 * Publish a new point or slope, which is an event for fault rules. A rule changes the page only: the
 * kernel's clock has moved in any case.
 */
static void
refresh(struct emu_dev *dev)
{
	const struct emu_fault_event q = {.kind = EMU_ON_CLOCK_PAGE, .dev = dev};
	const struct emu_fault_action *a =
		emu_fault_at(EMU_ON_CLOCK_PAGE) ? emu_fault_hit(&q) : NULL;

	switch (a != NULL ? a->act : EMU_ACT_NONE) {
	case EMU_ACT_TEAR:
		pages_write(dev, true);
		break;
	case EMU_ACT_FLIP:
		flip(dev);
		break;
	case EMU_ACT_FREEZE:
		break;
	case EMU_ACT_JUMP:
		dev->clock.page_ns += (uint64_t)a->ns;
		pages_write(dev, false);
		break;
	default:
		pages_write(dev, false);
		break;
	}
}

/* A step moves the last point; in real-time mode it steps the device's clock too. */
void
emu_clock_step(struct emu_dev *dev, int64_t ns)
{
	struct emu_clock *c = &dev->clock;

	emu_clock_hold(dev);
	c->page_ns += (uint64_t)ns;
	emu_clock_real_adjust(c, emu_clock_cycles(c), ns, c->real_ppb);
	emu_clock_release(dev);
	refresh(dev);
}

/*
 * The correction has a unit of 1 ppb before kernel 6.7 (adjfreq) and of 2^-16 ppm since (adjfine);
 * finer parts are lost.
 */
static uint32_t
slewed_mult(const struct emu_clock *c, int64_t ppb)
{
	uint64_t size = (uint64_t)(ppb < 0 ? -ppb : ppb), diff;

	if (c->old_kernel)
		diff = c->nominal_mult * size / EMU_NS_PER_S;
	else
		diff = (uint64_t)((u128)c->nominal_mult * (size * SCALED_PPM_ONE / 1000) /
				  (1000000ull * SCALED_PPM_ONE));
	return (uint32_t)(ppb < 0 ? c->nominal_mult - diff : c->nominal_mult + diff);
}

void
emu_clock_slew(struct emu_dev *dev, int64_t ppb)
{
	struct emu_clock *c = &dev->clock;
	uint64_t now = emu_clock_cycles(c);

	ptp_advance(c, now);
	c->mult = slewed_mult(c, ppb);
	c->slew_ppb = ppb;
	emu_clock_hold(dev);
	emu_clock_real_adjust(c, now, 0, ppb);
	emu_clock_release(dev);
	refresh(dev);
}

void
emu_clock_tick(struct emu_dev *dev)
{
	struct emu_clock *c = &dev->clock;
	uint64_t now, due = c->refresh_cycles;

	if (__builtin_expect((dev->replug_ns | dev->remove_ns) != 0, 0))
		emu_port_tick(dev, emu_mono_ns());
	if (TAILQ_EMPTY(&dev->contexts))
		return;
	if (!emu_machine_of(dev)->counters_live)
		(void)emu_clock_registers(dev);
	now = emu_clock_cycles(c);
	/* Refresh the page every millisecond while a fault rule applies to it. */
	if (emu_fault_at(EMU_ON_CLOCK_PAGE))
		due = c->hz / CLOCK_FAULT_HZ;
	if (now - c->page_cycles < due)
		return;
	ptp_advance(c, now);
	refresh(dev);
}
