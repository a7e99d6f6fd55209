/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* The port's clock: reads the kernel's clock page on a schedule and publishes what the bursts convert by. */

#include <string.h>

#include <rte_alarm.h>
#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_malloc.h>

#include "mlxpmd.h"
#include "mlxpmd_clock.h"

/* Slower than this and a servo's corrections reach the packets late; faster is work for nothing. */
#define REFRESH_MAX_US 100000u
#define REFRESH_MIN_US 1000u
/* Of the window, so that many refreshes in a row may fail before a stamp is missing. */
#define REFRESH_PER_WINDOW 16
#define OPEN_TRIES 20

/* Nanoseconds that a number of cycles lasts. */
static uint64_t
cycles_to_ns(const struct mlxpmd_clock_snap *s, uint64_t cycles)
{
	return (uint64_t)(((unsigned __int128)cycles * s->mult) >> s->shift);
}

static uint64_t
ns_to_tsc(uint64_t ns)
{
	return (uint64_t)((unsigned __int128)ns * rte_get_tsc_hz() / 1000000000u);
}

void
mlxpmd_clock_snap_from(struct mlxpmd_clock_snap *s, const struct mdv_clock_point *point)
{
	/* A quarter of the counter each way leaves half of it to tell late stamps from early ones. */
	uint64_t window = RTE_MIN(point->window_cycles, point->mask / 4);
	__int128 origin;

	memset(s, 0, sizeof(*s));
	s->mult = point->mult;
	s->shift = point->shift & 63;
	s->mask = point->mask;
	s->base = point->cycles - window;
	s->span = 2 * window;
	/* The line's value at base, in units of 2^-shift ns; it may lie before the clock's zero. */
	origin = ((__int128)point->ns << s->shift) + point->frac - (__int128)window * point->mult;
	s->start = (uint64_t)(int64_t)(origin >> s->shift);
	s->frac = (uint64_t)origin & (RTE_BIT64(s->shift) - 1);
}

void
mlxpmd_clock_snap_raw(struct mlxpmd_clock_snap *s)
{
	memset(s, 0, sizeof(*s));
	s->mult = 1;
	s->mask = UINT64_MAX;
	s->span = UINT64_MAX;
	s->expires_tsc = rte_rdtsc() + INT64_MAX;
}

void
mlxpmd_clock_publish(struct mlxpmd_clock *clock, const struct mlxpmd_clock_snap *s)
{
	__atomic_store_n(&clock->seq, clock->seq + 1, __ATOMIC_RELAXED);
	/* The odd seq is seen before any of the new contents. */
	__atomic_thread_fence(__ATOMIC_RELEASE);
	clock->snap = *s;
	/* The new contents are seen before the even seq. */
	__atomic_store_n(&clock->seq, clock->seq + 1, __ATOMIC_RELEASE);
}

/*
 * A page that the kernel no longer moves goes stale on the host's clock, counted from when this point was
 * first seen: otherwise the counter could come round unnoticed.
 */
static uint64_t
expiry(struct mlxpmd_clock *clock, const struct mdv_clock_point *point,
       const struct mlxpmd_clock_snap *s)
{
	if (clock->first_tsc == 0 || point->cycles != clock->point_cycles) {
		clock->point_cycles = point->cycles;
		clock->first_tsc = rte_rdtsc();
	}
	return clock->first_tsc + ns_to_tsc(cycles_to_ns(s, s->span / 2));
}

int
mlxpmd_clock_refresh(struct mlxpmd_clock *clock)
{
	struct mdv_clock_point point;
	struct mlxpmd_clock_snap s;
	int rc;

	rte_spinlock_lock(&clock->lock);
	rc = mdv_clock_read(clock->mdv, &point);
	if (rc == 0) {
		mlxpmd_clock_snap_from(&s, &point);
		s.expires_tsc = expiry(clock, &point, &s);
		mlxpmd_clock_publish(clock, &s);
		clock->refreshed++;
	} else if (rc == -EAGAIN) {
		clock->busy++;
	} else {
		clock->failed++;
	}
	rte_spinlock_unlock(&clock->lock);
	return rc;
}

static void
refresh_alarm(void *arg)
{
	struct mlxpmd_clock *clock = arg;
	uint64_t delay_us = clock->refresh_us;
	int rc = mlxpmd_clock_refresh(clock);

	if (rc == -EAGAIN)
		delay_us = REFRESH_MIN_US; /* The kernel is writing: soon again. */
	else if (rc != 0 && !clock->failing)
		MLXPMD_LOG(ERR, "port %u: clock page cannot be read any more: %s; timestamps will be absent",
			   clock->port_id, rte_strerror(-rc));
	clock->failing = rc != 0 && rc != -EAGAIN;
	rc = rte_eal_alarm_set(delay_us, refresh_alarm, clock);
	if (rc != 0)
		MLXPMD_LOG(ERR, "port %u: no alarm for the clock: %s; timestamps will be absent",
			   clock->port_id, rte_strerror(-rc));
}

/* First reading; the kernel may be writing, which is over at once. */
static int
page_open(struct mlxpmd_clock *clock)
{
	uint64_t window_us;
	unsigned int i;
	int rc = -EAGAIN;

	for (i = 0; i < OPEN_TRIES && rc == -EAGAIN; i++) {
		if (i != 0)
			rte_delay_us_sleep(REFRESH_MIN_US);
		rc = mlxpmd_clock_refresh(clock);
	}
	if (rc != 0)
		return rc;
	window_us = cycles_to_ns(&clock->snap, clock->snap.span / 2) / 1000;
	clock->refresh_us = RTE_MAX(REFRESH_MIN_US, RTE_MIN(window_us / REFRESH_PER_WINDOW,
							    (uint64_t)REFRESH_MAX_US));
	return 0;
}

/* A page without anybody to read it again would go stale. */
static int
refresh_start(struct mlxpmd_clock *clock)
{
	int rc = rte_eal_alarm_set(clock->refresh_us, refresh_alarm, clock);

	if (rc != 0)
		MLXPMD_LOG(ERR, "port %u: no alarm for the clock: %s", clock->port_id,
			   rte_strerror(-rc));
	return rc;
}

static int
raw_open(struct mlxpmd_clock *clock)
{
	struct mlxpmd_clock_snap s;

	mlxpmd_clock_snap_raw(&s);
	mlxpmd_clock_publish(clock, &s);
	return 0;
}

int
mlxpmd_clock_open(struct mlxpmd_port *port)
{
	struct mlxpmd_clock *clock;
	int rc;

	port->clock = NULL;
	if (!port->mdv->caps.ts_free_running) {
		MLXPMD_LOG(INFO, "port %u: no free running timestamps: none are offered", port->port_id);
		return 0;
	}
	clock = rte_zmalloc("mlxpmd_clock", sizeof(*clock), RTE_CACHE_LINE_SIZE);
	if (clock == NULL) {
		MLXPMD_LOG(ERR, "port %u: no memory for the clock", port->port_id);
		rte_errno = ENOMEM;
		return -rte_errno;
	}
	clock->mdv = port->mdv;
	clock->port_id = port->port_id;
	clock->raw = port->args.clock == MLXPMD_CLOCK_RAW;
	rte_spinlock_init(&clock->lock);
	rc = clock->raw ? raw_open(clock) : page_open(clock);
	if (rc != 0) {
		MLXPMD_LOG(INFO, "port %u: no clock page (%s): timestamps are offered with clock=raw only",
			   port->port_id, rte_strerror(-rc));
		rte_free(clock);
		return 0;
	}
	rc = clock->raw ? 0 : refresh_start(clock);
	if (rc != 0)
		rte_free(clock);
	else
		port->clock = clock;
	return rc;
}

void
mlxpmd_clock_close(struct mlxpmd_port *port)
{
	struct mlxpmd_clock *clock = port->clock;

	if (clock == NULL)
		return;
	/* Also waits for a callback that is running, and takes back what it set. */
	rte_eal_alarm_cancel(refresh_alarm, clock);
	rte_free(clock);
	port->clock = NULL;
}

int
mlxpmd_read_clock(struct rte_eth_dev *eth_dev, uint64_t *value)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	struct mlxpmd_clock *clock = port->clock;
	struct mlxpmd_clock_snap s;
	uint64_t cycles;
	int rc;

	if (clock == NULL)
		return -ENOTSUP;
	rc = mdv_clock_raw(port->mdv, &cycles);
	if (rc != 0)
		return rc;
	rte_spinlock_lock(&clock->lock);
	s = clock->snap;
	rte_spinlock_unlock(&clock->lock);
	if (!clock->raw && (int64_t)(s.expires_tsc - rte_rdtsc()) <= 0)
		return -EAGAIN;
	return mlxpmd_clock_convert(&s, cycles, value) ? 0 : -EAGAIN;
}
