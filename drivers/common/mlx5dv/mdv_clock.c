/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Clock of a device: choice of the source, refresh, quality; the sources realtime and raw. */

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mdv_clock_int.h"
#include "mdv_private.h"

/* Refresh period while a clock is unsettled: ten times as fast. */
#define FAST_US (MDV_CLOCK_REFRESH_US / 10)
/* Fast refreshes take at most 1/500 of a processor's time. */
#define COST_LIMIT 500
/* The cost is the minimum of recent refreshes; it grows by 2 % per refresh. */
#define COST_GROWTH 1.02
/* Period of retries while the kernel writes the clock page. */
#define BUSY_US 1000u
/* Attempts at opening source host if there is no other: assumed. */
#define HOST_ONLY_TRIES 4
/* A device time this near to CLOCK_REALTIME or TAI is synchronised if the host is: assumed. */
#define UTC_IN_STEP_NS 1000000

/* ------------------------------------------------------------------ sources realtime and raw */

/* The device stamps in seconds and nanoseconds. Follow its clock for drift, offset and quality. */
static int
realtime_refresh(struct mdv_clock *clock)
{
	struct mdv_clock_state *s = &clock->state;
	const struct mdv_clock_track *t = &clock->utc.track;
	uint64_t now = clock->ops->tsc(clock->ctx), value, was;
	int wall = mdv_clock_follow_wall(clock), ret;
	double part;

	s->valid_tsc = now + INT64_MAX / 2;
	s->uncertainty_ns = 1;
	mdv_clock_follow_counter(clock);
	ret = mdv_clock_follow_utc(clock);
	if (ret != 0) {
		if (ret != -EAGAIN)
			s->host.mult = 0;
		/* The stamps are valid even if the clock cannot be read. */
		return 0;
	}
	value = mdv_clock_track_at(t, t->tsc, &part);
	if (mdv_clock_line_convert(&s->host, t->tsc, &was) &&
	    mdv_clock_distance(was, value) > clock->line_unsure_ns)
		s->steps++;
	clock->line_unsure_ns = mdv_clock_followed_ns(&clock->utc);
	mdv_clock_report_time(clock, t->tsc, value, part, t->rate);
	if (wall == 0) {
		mdv_clock_report_offset(clock, t->tsc, value);
		mdv_clock_report_rates(clock, mdv_clock_hz(clock, t->rate), MDV_NS_PER_S);
	}
	return 0;
}

static bool
realtime_in_step(struct mdv_clock *clock)
{
	int64_t off = clock->state.offset_ns;

	return clock->state.host.mult != 0 && clock->ops->host_synced(clock->ctx) &&
	       (mdv_clock_is_near(off, 0, UTC_IN_STEP_NS) ||
		mdv_clock_is_near(off, mdv_clock_tai_ns(clock), UTC_IN_STEP_NS));
}

/* ------------------------------------------------------------------ raw */

static int
raw_refresh(struct mdv_clock *clock)
{
	const struct mdv_clock_track *t = &clock->counter.track;
	uint64_t value;
	double part;
	int ret;

	clock->state.valid_tsc = clock->ops->tsc(clock->ctx) + INT64_MAX / 2;
	mdv_clock_follow_wall(clock);
	ret = mdv_clock_follow_counter(clock);
	if (ret != 0) {
		if (ret != -EAGAIN)
			clock->state.host.mult = 0;
		return 0;
	}
	value = mdv_clock_track_at(t, t->tsc, &part);
	mdv_clock_report_time(clock, t->tsc, value, part, t->rate);
	mdv_clock_report_rates(clock, mdv_clock_hz(clock, t->rate), clock->facts.frequency_khz * 1e3);
	return 0;
}

static bool
never_in_step(struct mdv_clock *clock __rte_unused)
{
	return false;
}

/** By enum mdv_clock_source; MDV_CLOCK_AUTO has only a name. */
static const struct mdv_clock_source_ops sources[] = {
	[MDV_CLOCK_AUTO] = { .name = "auto" },
	[MDV_CLOCK_PAGE] = { "page", "ns", "ptp", mdv_clock_page_open, mdv_clock_page_refresh,
			     mdv_clock_page_in_step },
	[MDV_CLOCK_HOST] = { "host", "ns", "host realtime", mdv_clock_host_open,
			     mdv_clock_host_refresh, mdv_clock_host_in_step },
	[MDV_CLOCK_REALTIME] = { "realtime", "ns", "utc", realtime_refresh, realtime_refresh,
				 realtime_in_step },
	[MDV_CLOCK_RAW] = { "raw", "ticks", "device reset", raw_refresh, raw_refresh,
			    never_in_step },
};

/* ------------------------------------------------------------------ names and reasons */

static int __rte_format_printf(4, 5)
set_reason(char *why, size_t bytes, int ret, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(why, bytes, fmt, args);
	va_end(args);
	return ret;
}

static bool
is_source(enum mdv_clock_source source)
{
	return (unsigned int)source < RTE_DIM(sources);
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_clock_source_name)
const char *
mdv_clock_source_name(enum mdv_clock_source source)
{
	return is_source(source) ? sources[source].name : NULL;
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_clock_quality_name)
const char *
mdv_clock_quality_name(enum mdv_clock_quality quality)
{
	static const char *const names[] = { "good", "holdover", "unsynced", "broken" };

	return (unsigned int)quality < RTE_DIM(names) ? names[quality] : NULL;
}

/* ------------------------------------------------------------------ refresh */

static bool
passed(const struct mdv_clock *clock, uint64_t tsc)
{
	return (int64_t)(clock->ops->tsc(clock->ctx) - tsc) >= 0;
}

/* A clock without any reading is not used by this source. */
static bool
unsettled(const struct mdv_clock *clock, const struct mdv_clock_followed *f)
{
	return f->track.set && mdv_clock_unsettled(clock, f);
}

/* Use the minimum: longer refreshes were preempted and did not use the processor. */
static void
cost_learn(struct mdv_clock *clock, uint64_t ticks)
{
	double us = (double)ticks * 1e6 / clock->facts.tsc_hz;

	clock->cost_us = clock->cost_us == 0 ? us : RTE_MIN(clock->cost_us * COST_GROWTH, us);
}

static uint64_t
next_us(const struct mdv_clock *clock, int ret)
{
	bool fast = unsettled(clock, &clock->counter) || unsettled(clock, &clock->wall) ||
		    unsettled(clock, &clock->utc);

	if (ret == -EAGAIN && clock->state.source == MDV_CLOCK_PAGE)
		return BUSY_US;
	if (!fast && ret == 0)
		return MDV_CLOCK_REFRESH_US;
	return RTE_MIN(RTE_MAX(FAST_US, (uint64_t)(clock->cost_us * COST_LIMIT)),
		       MDV_CLOCK_REFRESH_US);
}

static enum mdv_clock_quality
quality_of(struct mdv_clock *clock, int ret)
{
	if (passed(clock, clock->state.valid_tsc))
		return MDV_CLOCK_BROKEN;
	if (ret != 0)
		return MDV_CLOCK_HOLDOVER;
	return sources[clock->state.source].in_step(clock) ? MDV_CLOCK_GOOD :
								       MDV_CLOCK_UNSYNCED;
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_clock_refresh)
int
mdv_clock_refresh(struct mdv_clock *clock, struct mdv_clock_state *state)
{
	struct mdv_clock_state *s = &clock->state;
	uint64_t began = clock->ops->tsc(clock->ctx);
	int ret = sources[s->source].refresh(clock);

	if (ret == 0) {
		s->refreshes++;
		clock->line_tsc = began;
	} else if (ret == -EAGAIN) {
		s->busy++;
	} else {
		s->failed++;
	}
	if (s->source != MDV_CLOCK_PAGE)
		s->age_ns = mdv_clock_ns(clock->ops->tsc(clock->ctx) - clock->line_tsc,
					 clock->facts.tsc_hz);
	cost_learn(clock, clock->ops->tsc(clock->ctx) - began);
	s->next_us = next_us(clock, ret);
	s->quality = quality_of(clock, ret);
	*state = *s;
	return ret;
}

/* ------------------------------------------------------------------ open */

static void
begin(struct mdv_clock *clock, enum mdv_clock_source source)
{
	memset(&clock->state, 0, sizeof(clock->state));
	clock->state.source = source;
	clock->state.unit = sources[source].unit;
	clock->state.epoch = sources[source].epoch;
	clock->state.frequency_hz = (uint64_t)clock->facts.frequency_khz * 1000;
	mdv_clock_source_init(clock);
}

static int
open_source(struct mdv_clock *clock, enum mdv_clock_source source)
{
	bool offered = source == MDV_CLOCK_REALTIME ? clock->facts.realtime :
						      clock->facts.free_running;

	if (!offered)
		return -ENOTSUP;
	begin(clock, source);
	clock->line_tsc = clock->ops->tsc(clock->ctx);
	return sources[source].open(clock);
}

static const char *
reason(int ret)
{
	switch (ret) {
	case -ENOTSUP:
		return "not supported";
	case -ERANGE:
		return "the counter does not run at the reported frequency";
	case -ENODATA:
		return "the counter does not run";
	case -EAGAIN:
		return "the page stays busy";
	default:
		return mdv_errno_name(-ret);
	}
}

static int
open_wanted(struct mdv_clock *clock, enum mdv_clock_source source, char *why, size_t bytes)
{
	const char *name = sources[source].name;
	int ret = open_source(clock, source);

	if (ret != 0)
		return set_reason(why, bytes, ret, "no clock %s: %s", name, reason(ret));
	return set_reason(why, bytes, 0, "clock %s, as requested", name);
}

/*
 * A PTP program disciplines the clock of the device: use it. The page is open, and stays so if the device
 * does not stamp in real time.
 */
static int
open_disciplined(struct mdv_clock *clock, char *why, size_t bytes)
{
	if (open_source(clock, MDV_CLOCK_REALTIME) == 0)
		return set_reason(why, bytes, 0, "clock realtime: a servo disciplines the device's clock, "
			    "and the device stamps in real time");
	return set_reason(why, bytes, 0, "clock page: a servo disciplines the device's clock");
}

static int
host_chosen(const struct mdv_clock *clock, const char *seen, char *why, size_t bytes)
{
	return set_reason(why, bytes, 0, "clock host: %s; counter at %" PRIu64 " Hz, within %" PRIu64 " ns", seen,
		    clock->state.frequency_hz, clock->state.uncertainty_ns);
}

/** No servo disciplines the clock of the device: prefer source host. */
static int
open_without_servo(struct mdv_clock *clock, bool page, char *why, size_t bytes)
{
	const char *seen = page ? "no servo disciplines the device's clock" :
				  "there is no clock page";
	int ret = open_source(clock, MDV_CLOCK_HOST);

	if (ret == 0)
		return host_chosen(clock, seen, why, bytes);
	if (open_source(clock, MDV_CLOCK_REALTIME) == 0)
		return set_reason(why, bytes, 0, "clock realtime: %s, and source host failed: %s",
			    seen, reason(ret));
	if (page && open_source(clock, MDV_CLOCK_PAGE) == 0)
		return set_reason(why, bytes, 0, "clock page: %s, but source host failed: %s",
			    seen, reason(ret));
	/* Calibration fails on a busy machine; without a clock the port has no timestamps. */
	for (int i = 1; (ret == -ERANGE || ret == -ENODATA) && i < HOST_ONLY_TRIES; i++)
		ret = open_source(clock, MDV_CLOCK_HOST);
	if (ret == 0)
		return host_chosen(clock, seen, why, bytes);
	return set_reason(why, bytes, ret, "no clock: %s, and source host failed: %s", seen,
		    reason(ret));
}

static int
open_auto(struct mdv_clock *clock, char *why, size_t bytes)
{
	bool page = open_source(clock, MDV_CLOCK_PAGE) == 0;

	if (!clock->facts.free_running && !clock->facts.realtime)
		return set_reason(why, bytes, -ENOTSUP, "no clock: the device has no timestamp format");
	if (!clock->facts.free_running)
		return set_reason(why, bytes, open_source(clock, MDV_CLOCK_REALTIME),
			    "clock realtime: the only timestamp format of the device");
	if (page && mdv_clock_servo_seen(clock))
		return open_disciplined(clock, why, bytes);
	return open_without_servo(clock, page, why, bytes);
}

int
mdv_clock_open_ops(const struct mdv_clock_ops *ops, void *ctx,
		   const struct mdv_clock_facts *facts, enum mdv_clock_source wanted,
		   struct mdv_clock **out, char *why, size_t why_bytes)
{
	struct mdv_clock *clock;
	int ret;

	*out = NULL;
	if (!is_source(wanted))
		return set_reason(why, why_bytes, mdv_fail(EINVAL), "no clock: no such source");
	clock = calloc(1, sizeof(*clock));
	if (clock == NULL)
		return set_reason(why, why_bytes, mdv_fail(ENOMEM), "no clock: no memory");
	clock->ops = ops;
	clock->ctx = ctx;
	clock->facts = *facts;
	ret = wanted == MDV_CLOCK_AUTO ? open_auto(clock, why, why_bytes) :
					 open_wanted(clock, wanted, why, why_bytes);
	if (ret != 0) {
		free(clock);
		return mdv_fail(-ret);
	}
	*out = clock;
	return 0;
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_clock_close)
void
mdv_clock_close(struct mdv_clock *clock)
{
	free(clock);
}
