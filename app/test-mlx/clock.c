/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * Rx timestamps: determine their unit and epoch.
 *
 * ethdev does not define the unit of a timestamp. rte_eth_read_clock() reads the same clock: if it
 * is within a day of CLOCK_REALTIME, timestamps are ns since 1970-01-01 UTC; otherwise its rate,
 * measured with this host's clock, shows whether they are ns.
 */

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include <rte_cycles.h>
#include <rte_mbuf_dyn.h>

#include "tm_clock.h"

#define PROBE_US 20000
#define READS 16			/* the shortest of these is used: a busy host delays some */
#define RATE_TOLERANCE 0.005
#define UTC_TOLERANCE_NS (24 * 3600 * INT64_C(1000000000))

static uint64_t
clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * TM_NS_PER_S + (uint64_t)t.tv_nsec;
}

uint64_t
tm_now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

uint64_t
tm_realtime_ns(void)
{
	return clock_ns(CLOCK_REALTIME);
}

int
tm_clock_read(uint16_t port_id, uint64_t *device, uint64_t *mono, uint64_t *real)
{
	uint64_t best = UINT64_MAX, before, between, after, clock;
	int ret;

	for (unsigned int i = 0; i < READS; i++) {
		before = tm_now_ns();
		ret = rte_eth_read_clock(port_id, &clock);
		between = tm_realtime_ns();
		after = tm_now_ns();
		if (ret != 0)
			return ret;
		if (after - before >= best)
			continue;
		best = after - before;
		*device = clock;
		*mono = before + best / 2;
		*real = between - best / 2;
	}
	return 0;
}

void
tm_clock_refresh(struct tm_port *p)
{
	struct tm_clock *c = &p->clock;
	uint64_t dev, mono, real;

	if (!c->readable || !p->started || tm_clock_read(p->port_id, &dev, &mono, &real) != 0 ||
	    mono == c->base_mono)
		return;
	c->hz = (double)(int64_t)(dev - c->base_dev) * 1e9 / (double)(mono - c->base_mono);
	c->offset_ns = (int64_t)(dev - real);
	/* Whatever the rate: other units do not match the date of today by chance. */
	c->utc = llabs(c->offset_ns) < UTC_TOLERANCE_NS;
	c->unit = c->utc || fabs(c->hz / 1e9 - 1) < RATE_TOLERANCE ? TM_CLOCK_NS : TM_CLOCK_TICKS;
}

void
tm_clock_probe(struct tm_port *p)
{
	struct tm_clock *c = &p->clock;
	uint64_t real;

	*c = (struct tm_clock) { .unit = TM_CLOCK_NONE };
	if (tm_clock_read(p->port_id, &c->base_dev, &c->base_mono, &real) != 0)
		return;
	c->readable = true;
	rte_delay_us_sleep(PROBE_US);
	tm_clock_refresh(p);
}

void
tm_clock_guess(struct tm_port *p, uint64_t stamp)
{
	uint64_t now = tm_realtime_ns();
	struct tm_clock *c = &p->clock;

	if (c->unit != TM_CLOCK_NONE)
		return;
	c->unit = TM_CLOCK_TICKS;
	if (llabs((int64_t)(stamp - now)) < UTC_TOLERANCE_NS)
		c->unit = TM_CLOCK_NS;
	else if (llabs((int64_t)(stamp - now / 1000)) < UTC_TOLERANCE_NS / 1000)
		c->unit = TM_CLOCK_US;
	c->utc = c->unit != TM_CLOCK_TICKS;
}

const char *
tm_clock_unit_str(const struct tm_clock *c)
{
	static const char *const names[] = {
		[TM_CLOCK_NONE] = "unknown", [TM_CLOCK_NS] = "ns", [TM_CLOCK_US] = "us",
		[TM_CLOCK_TICKS] = "raw device ticks",
	};

	return names[c->unit];
}

const char *
tm_clock_epoch_str(const struct tm_clock *c)
{
	if (c->unit == TM_CLOCK_NONE || c->unit == TM_CLOCK_TICKS)
		return "the device's own";
	return c->utc ? "1970-01-01 00:00:00 UTC" : "the device's own";
}

void
tm_stamps_sum(const struct tm_app *app, uint16_t port_id, struct tm_stamps *sum)
{
	*sum = (struct tm_stamps) { .first = UINT64_MAX };
	for (uint16_t i = 0; i < app->nb_streams; i++) {
		const struct tm_stamps *t = &app->streams[i].stamps;

		if (app->streams[i].rx_port != port_id || t->count == 0)
			continue;
		sum->count += t->count;
		sum->backwards += t->backwards;
		sum->first = RTE_MIN(sum->first, t->first);
		sum->last = RTE_MAX(sum->last, t->last);
	}
	if (sum->count == 0)
		sum->first = 0;
}

uint64_t
tm_stamp_ns(const struct tm_app *app, uint16_t port_id, struct rte_mbuf *m, uint64_t host_ns)
{
	const struct tm_clock *c = &app->ports[port_id].clock;
	uint64_t v;

	if (app->ts_flag == 0 || (m->ol_flags & app->ts_flag) == 0)
		return host_ns;
	v = *RTE_MBUF_DYNFIELD(m, app->ts_offset, rte_mbuf_timestamp_t *);
	return c->unit == TM_CLOCK_NS ? v : c->unit == TM_CLOCK_US ? v * 1000 : host_ns;
}
