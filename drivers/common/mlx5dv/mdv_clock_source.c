/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Table of the sources; sources realtime and raw, which need no line. */

#include <errno.h>
#include <math.h>

#include <rte_bitops.h>
#include <rte_common.h>

#include "mdv_clock_int.h"

/* A device time this near to CLOCK_REALTIME or TAI is synchronised if the host is: assumed. */
#define UTC_IN_STEP_NS 1000000

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
	if (clock->utc.moved && mdv_clock_line_convert(&s->host, t->tsc, &was) &&
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
	if (ret != 0 && ret != -EAGAIN)
		clock->state.host.mult = 0;
	if (ret != 0)
		return 0;
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

const struct mdv_clock_source_ops mdv_clock_sources[] = {
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
