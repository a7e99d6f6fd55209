/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* The clock page: slope, refresh and sequence protocol, against arithmetic in 128 bits. */
#include <endian.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

#include "fw_fixture.h"

typedef unsigned __int128 u128;

/** What a program sees; offsets as rdma-core reads them. */
struct page {
	_Atomic uint32_t sign;
	uint32_t reserved;
	volatile uint64_t nsec, cycles, frac;
	volatile uint32_t mult, shift;
	volatile uint64_t mask, overflow_period;
};

static struct page *
page_of(const void *file)
{
	return (struct page *)((uint8_t *)file + EMU_CLOCK_INFO_OFFSET);
}

/* The conversion that programs apply, 64-bit product included. */
static uint64_t
to_ns(const struct page *p, uint64_t cycles)
{
	uint64_t delta = (cycles - p->cycles) & p->mask;

	return p->nsec + ((delta * p->mult + p->frac) >> p->shift);
}

static const struct emu_clock_plan usual;

/* Slope, bounds and period for all frequencies and both generations of kernels. */
static void
test_slope(void)
{
	static const struct {
		uint64_t hz;
		bool old;
		double refresh_s;
		unsigned shift;
	} want[] = {
		{78125000, false, 34.36, 28},  {156250000, false, 17.18, 29},
		{312500000, false, 8.59, 30},  {1000000000, false, 4.29, 31},
		{78125000, true, 1099.51, 23}, {156250000, true, 1099.51, 23},
		{312500000, true, 1099.51, 23}, {1000000000, true, 733.01, 23},
	};

	for (unsigned i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		const struct emu_clock_plan plan = {.hz = want[i].hz, .old_kernel = want[i].old};
		double refresh_s, ns_per_cycle;
		struct emu_clock c;

		emu_clock_init(&c, 156250000, &plan);
		CHECK_EQ(c.shift, want[i].shift);
		refresh_s = (double)c.refresh_cycles / (double)c.hz;
		ns_per_cycle = (double)c.mult / (double)(1ull << c.shift);
		CHECK(refresh_s > want[i].refresh_s - 0.02 && refresh_s < want[i].refresh_s + 0.02);
		/* Half a step of mult: 4 * 10^-8 of the smallest. */
		CHECK(ns_per_cycle * (double)c.hz / 1e9 > 1 - (want[i].old ? 4e-8 : 1e-9) &&
		      ns_per_cycle * (double)c.hz / 1e9 < 1 + (want[i].old ? 4e-8 : 1e-9));
		/* The product holds twice the refresh distance. */
		CHECK(2 * (u128)c.refresh_cycles * c.mult <= UINT64_MAX);
		CHECK(c.refresh_cycles < c.mask / 2);
		CHECK_EQ(c.mask, (1ull << 41) - 1);
		/* In jiffies of 4 ms, as the kernel writes it. */
		CHECK(c.overflow_period == (uint64_t)(refresh_s * 250) ||
		      c.overflow_period == (uint64_t)(refresh_s * 250) - 1);
	}
	{
		struct emu_clock c;

		emu_clock_init(&c, 156250000, &usual);
		CHECK_EQ(c.shift, 29);
		CHECK_EQ(c.overflow_period, 4294);
	}
}

/* Days of refreshes: the published line is the exact line, without drift or step. */
static void
test_line(struct fix *f)
{
	struct emu_clock *c = &f->dev->clock;
	const struct page *p = page_of(f->file);
	uint64_t epoch = c->page_ns, start = c->page_cycles;
	u128 frac = c->page_frac;
	uint64_t far;

	for (unsigned i = 0; i < 3000; i++) {
		u128 exact;

		/* 17 s and a bit pass. */
		c->anchor_cycles += 17 * c->hz + 12345;
		emu_clock_publish(f->dev);
		exact = ((u128)(c->page_cycles - start) * c->mult + frac) >> c->shift;
		CHECK_EQ(p->nsec, epoch + (uint64_t)exact);
		CHECK_EQ(p->cycles, c->page_cycles & c->mask);
		CHECK(p->frac < 1ull << c->shift);
		/* A reader at the far end of the refresh distance is still right. */
		far = c->page_cycles + c->refresh_cycles;
		exact = ((u128)(far - start) * c->mult + frac) >> c->shift;
		CHECK_EQ(to_ns(p, far & c->mask), epoch + (uint64_t)exact);
		CHECK_EQ(to_ns(p, far), epoch + (uint64_t)exact);
		CHECK_EQ(emu_clock_ptp_ns(c, far), epoch + (uint64_t)exact);
		if (check_failures != 0)
			break;
	}
	CHECK_EQ(p->mult, c->mult);
	CHECK_EQ(p->shift, c->shift);
	CHECK_EQ(p->mask, c->mask);
	CHECK_EQ(p->overflow_period, c->overflow_period);
}

/* The tick publishes when the distance is used up, not earlier. */
static void
test_tick(struct fix *f)
{
	struct emu_clock *c = &f->dev->clock;
	struct page *p = page_of(f->file);
	uint32_t sign;

	emu_clock_publish(f->dev);
	sign = p->sign;
	CHECK((sign & 1) == 0);
	emu_clock_tick(f->dev);
	CHECK_EQ(p->sign, sign);
	c->anchor_cycles += c->refresh_cycles / 10 * 9;
	emu_clock_tick(f->dev);
	CHECK_EQ(p->sign, sign);
	c->anchor_cycles += c->refresh_cycles / 10;
	emu_clock_tick(f->dev);
	CHECK_EQ(p->sign, sign + 2);
}

static void
test_core_clock(struct fix *f)
{
	const volatile uint32_t *reg =
		(const uint32_t *)((uint8_t *)f->file + EMU_CORE_CLOCK_OFFSET);
	uint64_t before = emu_clock_cycles(&f->dev->clock), shown, after;

	emu_clock_tick(f->dev);
	shown = (uint64_t)be32toh(reg[0]) << 32 | be32toh(reg[1]);
	after = emu_clock_cycles(&f->dev->clock);
	CHECK(before <= shown && shown <= after);
	CHECK(shown > (1ull << 41)); /* the mask matters */
}

static _Atomic bool stop;

static void *
writer(void *arg)
{
	struct fix *f = arg;

	while (!atomic_load(&stop)) {
		emu_lock(&f->m);
		f->dev->clock.anchor_cycles += 156253;
		emu_clock_publish(f->dev);
		emu_unlock(&f->m);
	}
	return NULL;
}

/* Readers never see half a point. */
static void
test_protocol(struct fix *f)
{
	struct page *p = page_of(f->file);
	const struct emu_clock *c = &f->dev->clock;
	uint64_t epoch = c->page_ns, start = c->page_cycles, first_frac = c->page_frac, reads = 0;
	struct timespec t0, t;
	pthread_t w;

	pthread_create(&w, NULL, writer, f);
	clock_gettime(CLOCK_MONOTONIC, &t0);
	do {
		uint32_t sign = atomic_load_explicit(&p->sign, memory_order_acquire);
		uint64_t ns = p->nsec, cycles = p->cycles, exact;

		atomic_thread_fence(memory_order_acquire);
		clock_gettime(CLOCK_MONOTONIC, &t);
		if ((sign & 1) != 0 || atomic_load(&p->sign) != sign)
			continue;
		/* The mask's laps since the start are known: fewer than one was run here. */
		exact = (uint64_t)(((u128)((cycles - start) & c->mask) * c->mult + first_frac) >>
				   c->shift);
		exact += epoch;
		if ((ns - exact) % ((((u128)c->mask + 1) * c->mult) >> c->shift) > 1)
			CHECK_EQ(ns, exact);
		reads++;
	} while (t.tv_sec - t0.tv_sec < 1 && check_failures == 0);
	atomic_store(&stop, true);
	pthread_join(w, NULL);
	CHECK(reads > 1000);
}

static uint64_t
register_of(const void *file, unsigned offset)
{
	const _Atomic uint64_t *reg =
		(const _Atomic uint64_t *)((const uint8_t *)file + EMU_CORE_CLOCK_OFFSET + offset);

	return be64toh(atomic_load_explicit(reg, memory_order_relaxed));
}

/*
 * A front end that sees the loads has the registers written before each, without the model's lock,
 * while PTP and the oscillator change and contexts come and go: they never run back, and have the
 * time of the load.
 */
static void
test_live(void)
{
	const struct emu_clock_plan both = {.format = EMU_CLOCK_BOTH};
	uint64_t last = 0, last_real = 0, end;
	static struct fix f;
	struct emu_ctx *ctx;
	void *file;

	fix_open(&f);
	f.m.counters_live = true;
	emu_clock_init(&f.dev->clock, 156250000, &both);
	file = emu_file_map();
	CHECK_EQ(emu_dp_start(&f.m), 0);
	end = emu_mono_ns() + 300000000;
	for (unsigned i = 0; emu_mono_ns() < end && check_failures == 0; i++) {
		uint64_t before, now, real;

		emu_lock(&f.m);
		emu_clock_hold(f.dev);
		emu_clock_drift(&f.dev->clock, (int)(i % 200) - 100);
		emu_clock_release(f.dev);
		emu_clock_slew(f.dev, (int)(i % 2000) - 1000);
		emu_clock_step(f.dev, 3);
		if (i % 8 == 0 && emu_ctx_open(f.dev, file, true, NULL, &ctx) == 0)
			emu_ctx_close(ctx);
		/* Held or not makes no difference. */
		if (i % 2 == 0)
			emu_unlock(&f.m);
		before = emu_clock_cycles(&f.dev->clock);
		while (!emu_clock_registers(f.dev))
			sched_yield();
		now = register_of(f.file, 0);
		real = register_of(f.file, 0x40);
		CHECK(now >= before && now <= emu_clock_cycles(&f.dev->clock));
		if (i % 2 != 0)
			emu_unlock(&f.m);
		CHECK(now >= last && real >= last_real);
		last = now;
		last_real = real;
	}
	emu_dp_stop(&f.m);
	fix_close(&f);
	emu_file_unmap(file);
}

int
main(void)
{
	static struct fix f;

	fix_open(&f);
	test_slope();
	test_line(&f);
	test_tick(&f);
	test_core_clock(&f);
	fix_close(&f);
	fix_open(&f);
	test_protocol(&f);
	fix_close(&f);
	test_live();
	return fix_result("clock");
}
