/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Conversion of timestamps against exact arithmetic, its limits, and what happens when the page is late. */

#include <rte_cycles.h>

#include "rig.h"

/* ns + floor((delta * mult + frac) / 2^shift), delta signed, computed the long way. */
static uint64_t
exact(const struct mdv_clock_point *p, __int128 delta)
{
	__int128 sum = delta * (__int128)p->mult + (__int128)p->frac, unit = (__int128)1 << p->shift;
	__int128 q = sum / unit;

	if (sum % unit < 0)
		q--;
	return (uint64_t)((__int128)p->ns + q);
}

static void
compare(const struct mdv_clock_point *p, const struct mlxpmd_clock_snap *s, int64_t delta, int64_t window)
{
	uint64_t ts = (p->cycles + (uint64_t)delta) & p->mask, got;
	bool ok = mlxpmd_clock_convert(s, ts | (rig_random() & 1 ? 0 : UINT64_C(1) << 62 & ~p->mask), &got);

	CHECK(ok == (delta >= -window && delta <= window), "delta %" PRId64 " window %" PRId64, delta,
	      window);
	CHECK(!ok || got == exact(p, delta), "delta %" PRId64 ": %" PRIu64 " not %" PRIu64, delta, got,
	      exact(p, delta));
}

static void
conversion(void)
{
	static const struct mdv_clock_point points[] = {
		/* 1 GHz, 156.25 MHz today and before, 78.125 MHz; then one near every edge. */
		{ .ns = 1700000000000000000, .cycles = 123456789, .mult = 0x80000000u, .shift = 31 },
		{ .ns = 1700000000999999999, .cycles = (1ull << 41) - 5, .mult = 3435973836u, .shift = 29 },
		{ .ns = 17, .cycles = 3, .mult = 53687091, .shift = 23 },
		{ .ns = 0, .cycles = 0, .mult = 4294967295u, .shift = 28 },
		{ .ns = 1ull << 62, .cycles = 1ull << 40, .mult = 1, .shift = 0 },
		{ .ns = 5, .cycles = 77, .mult = 4294967295u, .shift = 1 },
	};
	struct mlxpmd_clock_snap s;
	struct mdv_clock_point p;
	unsigned int i, k;
	int64_t window, delta;

	for (i = 0; i < RTE_DIM(points) * 3; i++) {
		p = points[i / 3];
		p.mask = (1ull << 41) - 1;
		p.frac = p.shift ? rig_random() & ((1ull << p.shift) - 1) : 0;
		/* As far as 64 bits go; half the counter; a small one. */
		p.window_cycles = i % 3 == 0 ? UINT64_MAX / p.mult / 2 : i % 3 == 1 ? p.mask / 2 : 1000;
		window = RTE_MIN(p.window_cycles, p.mask / 4);
		mlxpmd_clock_snap_from(&s, &p);
		for (delta = -3; delta <= 3; delta++) {
			compare(&p, &s, delta, window);
			compare(&p, &s, window + delta, window);
			compare(&p, &s, -window + delta, window);
		}
		for (k = 0; k < 200000; k++) {
			delta = ((int64_t)rig_random() << 20 ^ rig_random()) % (window + window / 8 + 1);
			compare(&p, &s, rig_random() & 1 ? delta : -delta, window);
		}
	}
}

/* Stamps in order convert to values in order, over the whole window. */
static void
monotonic(void)
{
	struct mdv_clock_point p = { .ns = 1000, .cycles = 1ull << 39, .mult = 3435973836u, .shift = 29,
				     .mask = (1ull << 41) - 1, .window_cycles = 5000000000 };
	struct mlxpmd_clock_snap s;
	uint64_t last = 0, now = 0, off;

	mlxpmd_clock_snap_from(&s, &p);
	for (off = 0; off <= s.span; off += 1 + rig_random() % 30000) {
		CHECK(mlxpmd_clock_convert(&s, s.base + off, &now), "at %" PRIu64, off);
		CHECK(off == 0 || (int64_t)(now - last) > 0, "%" PRIu64 " after %" PRIu64, now, last);
		last = now;
	}
}

/* A queue follows what is published, never half of it, and keeps what it has while a writer is at work. */
static void
following(void)
{
	static struct mlxpmd_clock clock;
	struct mlxpmd_clock_snap mine, s;

	memset(&mine, 0, sizeof(mine));
	mlxpmd_clock_follow(&clock, &mine);
	CHECK(!mlxpmd_clock_usable(&mine, rte_rdtsc()), "nothing was published");
	mlxpmd_clock_snap_raw(&s);
	mlxpmd_clock_publish(&clock, &s);
	mlxpmd_clock_follow(&clock, &mine);
	CHECK(mine.generation == 1 && mine.mult == 1, "generation %u", mine.generation);
	CHECK(mlxpmd_clock_usable(&mine, rte_rdtsc()), "not usable");
	s.mult = 7;
	mlxpmd_clock_publish(&clock, &s);
	clock.seq |= 1;
	mlxpmd_clock_follow(&clock, &mine);
	CHECK(mine.generation == 1 && mine.mult == 1, "followed a writer at work");
	clock.seq++;
	mlxpmd_clock_follow(&clock, &mine);
	CHECK(mine.mult == 7, "did not follow");
}

static struct mlxpmd_port port;

static uint64_t
now_ns(int *rc)
{
	struct rte_eth_dev_data data = { .dev_private = &port };
	struct rte_eth_dev eth_dev = { .data = &data };
	uint64_t ns = 0;

	*rc = mlxpmd_read_clock(&eth_dev, &ns);
	return ns;
}

/* The service end to end: opens, refreshes by itself, survives a busy page, expires when the page is dead. */
static void
service(void)
{
	struct mlxpmd_clock_snap mine;
	uint64_t refreshed;
	unsigned int i;
	int rc;

	rig_mdv.caps.ts_free_running = true;
	port.mdv = &rig_mdv;
	rig_point = (struct mdv_clock_point) { .ns = 1000000000, .cycles = 1000, .mult = 1u << 31,
		.shift = 31, .mask = (1ull << 41) - 1, .window_cycles = 200000000 };
	rig_cycles = 1500;
	CHECK(mlxpmd_clock_open(&port) == 0 && port.clock != NULL, "not opened");
	CHECK(port.clock->refresh_us == 12500, "refreshes every %" PRIu64 " us", port.clock->refresh_us);
	CHECK(now_ns(&rc) == 1000000500 && rc == 0, "read_clock: %d", rc);
	refreshed = port.clock->refreshed;
	for (i = 0; i < 100 && port.clock->refreshed < refreshed + 3; i++)
		rte_delay_us_sleep(10000);
	CHECK(port.clock->refreshed >= refreshed + 3, "no refresh by itself");
	rig_clock_rc = -EAGAIN;
	rte_delay_us_sleep(60000);
	CHECK(port.clock->busy != 0, "busy not counted");
	rig_clock_rc = 0;
	rig_point.cycles = 5000; /* The kernel moved its point, ns stayed: a step. */
	rte_delay_us_sleep(60000);
	memset(&mine, 0, sizeof(mine));
	mlxpmd_clock_follow(port.clock, &mine);
	CHECK(mlxpmd_clock_usable(&mine, rte_rdtsc()), "not usable after a step");
	CHECK(now_ns(&rc) == 1000000000 - 3500 && rc == 0, "read_clock after the step: %d", rc);
	/* The page stands still for longer than its window. */
	rte_delay_us_sleep(300000);
	mlxpmd_clock_follow(port.clock, &mine);
	CHECK(!mlxpmd_clock_usable(&mine, rte_rdtsc()), "a dead page is still believed");
	(void)now_ns(&rc);
	CHECK(rc == -EAGAIN, "read_clock of a dead page: %d", rc);
	mlxpmd_clock_close(&port);
	CHECK(port.clock == NULL, "not closed");
	mlxpmd_clock_close(&port);
}

static void
unavailable(void)
{
	int rc;

	rig_clock_rc = -ENOTSUP;
	CHECK(mlxpmd_clock_open(&port) == 0 && port.clock == NULL, "a clock from nowhere");
	(void)now_ns(&rc);
	CHECK(rc == -ENOTSUP, "read_clock without a clock: %d", rc);
	port.args.clock = MLXPMD_CLOCK_RAW;
	rig_cycles = 0x123456789abcdef;
	CHECK(mlxpmd_clock_open(&port) == 0 && port.clock != NULL, "raw needs no page");
	CHECK(now_ns(&rc) == rig_cycles && rc == 0, "raw read_clock");
	mlxpmd_clock_close(&port);
	rig_mdv.caps.ts_free_running = false;
	CHECK(mlxpmd_clock_open(&port) == 0 && port.clock == NULL, "no free running stamps");
}

int
main(void)
{
	rig_init();
	conversion();
	monotonic();
	following();
	service();
	unavailable();
	return rig_end("clock");
}
