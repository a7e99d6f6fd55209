/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* The port's clock: what a refresh of its source means for those who read timestamps by it. */

#include <string.h>

#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_malloc.h>

#include "mlxpmd.h"
#include "mlxpmd_clock_keeper.h"

/* Of a source that steps all the time, one line is logged in so many seconds. */
#define STEP_LOG_SECONDS 10
#define WHY_BYTES 256

static uint64_t
tsc_to_ns(uint64_t tsc)
{
	return (uint64_t)((unsigned __int128)tsc * 1000000000u / rte_get_tsc_hz());
}

void
mlxpmd_clock_snap_from(struct mlxpmd_clock_snap *s, const struct mdv_clock_line *line)
{
	memset(s, 0, sizeof(*s));
	s->mult = line->mult;
	s->shift = line->shift;
	s->base = line->base;
	s->mask = line->mask;
	s->span = line->span;
	s->start = line->start;
	s->frac = line->frac;
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

/* ------------------------------------------------------------------ what a refresh means */

/* Stamps have become absent, or will have at now. */
static bool
ran_out(const struct mlxpmd_clock_keeper *k, uint64_t now)
{
	return k->info.expires_tsc != 0 && (int64_t)(k->info.expires_tsc - now) <= 0;
}

/* Counted once each time, whoever notices. */
static void
out_note(struct mlxpmd_clock_keeper *k, const char *why)
{
	if (k->out)
		return;
	k->out = true;
	k->info.expired++;
	MLXPMD_LOG(WARNING, "port %u: timestamps are absent: %s", k->port_id, why);
}

/* How far the value of one and the same stamp moved from the old line to the new one. */
static int64_t
step_ns(const struct mlxpmd_clock_snap *old, const struct mlxpmd_clock_snap *new)
{
	uint64_t at = new->base + new->span / 4, was, is;

	if (old->mult == 0 || new->mult == 0 || !mlxpmd_clock_convert(old, at, &was) ||
	    !mlxpmd_clock_convert(new, at, &is))
		return 0;
	return (int64_t)(is - was);
}

/* Never silent: the counters move with each step, the log says it, though not more often than one can read. */
static void
step_note(struct mlxpmd_clock_keeper *k, const struct mdv_clock_state *state,
	  const struct mlxpmd_clock_snap *dev, uint64_t now)
{
	uint64_t unsaid = state->steps - k->steps_said;

	if (unsaid == 0 ||
	    (k->step_said_tsc != 0 && now - k->step_said_tsc < STEP_LOG_SECONDS * rte_get_tsc_hz()))
		return;
	MLXPMD_LOG(WARNING, "port %u: the clock stepped, the last time by %+" PRId64 " ns; %" PRIu64 " steps since this was last said, %" PRIu64 " in all",
		   k->port_id, step_ns(&k->last, dev), unsaid, state->steps);
	k->steps_said = state->steps;
	k->step_said_tsc = now;
}

/* The line's own limit, or the lease, whichever ends first. */
static uint64_t
expiry(const struct mdv_clock_state *state, uint64_t now)
{
	uint64_t lease = MLXPMD_CLOCK_LEASE_MS * rte_get_tsc_hz() / 1000;

	if (state->valid_tsc < now)
		return now;
	return now + RTE_MIN(lease, state->valid_tsc - now);
}

static void
lines_publish(struct mlxpmd_clock *clock, const struct mdv_clock_state *state, uint64_t now)
{
	struct mlxpmd_clock_keeper *k = clock->keeper;
	struct mlxpmd_clock_snap dev, host;

	if (clock->kind == MDV_CLOCK_TICKS)
		mlxpmd_clock_snap_raw(&dev);
	else
		mlxpmd_clock_snap_from(&dev, &state->line);
	mlxpmd_clock_snap_from(&host, &state->host);
	host.expires_tsc = expiry(state, now);
	if (clock->kind != MDV_CLOCK_TICKS)
		dev.expires_tsc = host.expires_tsc;
	dev.steps = state->steps;
	host.steps = state->steps;
	step_note(k, state, &dev, now);
	mlxpmd_clock_publish(clock, &dev, &host);
	k->last = dev;
	k->info.expires_tsc = dev.expires_tsc;
	k->info.generation = clock->board.generation;
	if (k->out && !ran_out(k, now)) {
		k->out = false;
		MLXPMD_LOG(NOTICE, "port %u: timestamps are back", k->port_id);
	}
}

/* A source that is not to be believed any more: what is published must not be used from here on. */
static void
lines_withdraw(struct mlxpmd_clock *clock, uint64_t now)
{
	struct mlxpmd_clock_keeper *k = clock->keeper;

	if (k->info.expires_tsc == 0 || ran_out(k, now))
		return;
	k->last.expires_tsc = now;
	mlxpmd_clock_publish(clock, &k->last, NULL);
	k->info.expires_tsc = now;
	k->info.generation = clock->board.generation;
}

/* Ticks are right whatever the time is. */
static bool
is_broken(const struct mlxpmd_clock *clock, const struct mdv_clock_state *state, int rc)
{
	if (clock->kind == MDV_CLOCK_TICKS)
		return false;
	return state->quality == MDV_CLOCK_BROKEN || (rc != 0 && rc != -EAGAIN);
}

uint64_t
mlxpmd_clock_keep(struct mlxpmd_clock *clock, bool by_service)
{
	struct mlxpmd_clock_keeper *k = clock->keeper;
	struct mdv_clock_state state;
	uint64_t now;
	int rc;

	rc = mdv_clock_refresh(k->mdv, &state);
	/* Not every source reads the device each time. */
	if (mdv_removed(k->dev))
		rc = -ENODEV;
	now = rte_rdtsc();
	pthread_mutex_lock(&k->lock);
	if (ran_out(k, now))
		out_note(k, rc == 0 ? "nobody refreshed the clock in time" :
				      "nothing that the source told could be believed for long");
	if (is_broken(clock, &state, rc)) {
		lines_withdraw(clock, now);
		out_note(k, rc != 0 ? rte_strerror(-rc) : "the source cannot be trusted");
	} else if (rc == 0 || k->info.generation != 0) {
		/* Of a busy source the last line again, for as long as it holds by itself. */
		lines_publish(clock, &state, now);
	}
	k->info.kept_tsc = now;
	k->info.state = state;
	if (by_service)
		k->info.by_service++;
	else
		k->info.by_control++;
	pthread_mutex_unlock(&k->lock);
	return RTE_MAX(MLXPMD_CLOCK_REFRESH_MIN_US,
		       RTE_MIN(state.next_us, (uint64_t)MLXPMD_CLOCK_REFRESH_MAX_US));
}

void
mlxpmd_clock_info_get(const struct mlxpmd_clock *clock, struct mlxpmd_clock_info *info)
{
	struct mlxpmd_clock_keeper *k = clock->keeper;
	uint64_t now;
	bool out;

	pthread_mutex_lock(&k->lock);
	now = rte_rdtsc();
	*info = k->info;
	out = ran_out(k, now);
	if (out && !k->out)
		info->expired++; /* Not noticed yet by who refreshes: nobody does. */
	pthread_mutex_unlock(&k->lock);
	info->age_ns = info->state.age_ns;
	if (now > info->kept_tsc)
		info->age_ns += tsc_to_ns(now - info->kept_tsc);
	info->quality = out || info->expires_tsc == 0 ? MDV_CLOCK_BROKEN : info->state.quality;
}

/* ------------------------------------------------------------------ coming and going */

static void
clock_free(struct mlxpmd_clock *clock)
{
	mdv_clock_close(clock->keeper->mdv);
	rte_free(clock->keeper);
	rte_free(clock);
}

static struct mlxpmd_clock *
clock_alloc(uint16_t port_id)
{
	struct mlxpmd_clock *clock = rte_zmalloc("mlxpmd_clock", sizeof(*clock), RTE_CACHE_LINE_SIZE);

	if (clock == NULL)
		return NULL;
	clock->keeper = rte_zmalloc("mlxpmd_clock_keeper", sizeof(*clock->keeper), RTE_CACHE_LINE_SIZE);
	if (clock->keeper == NULL) {
		rte_free(clock);
		return NULL;
	}
	clock->keeper->port_id = port_id;
	pthread_mutex_init(&clock->keeper->lock, NULL);
	return clock;
}

/*
 * Nobody asked for a source that is not there: that is how the device is. Else it is worth a line, and so
 * is one that is there and could not be believed now.
 */
static void
none_say(const struct mlxpmd_port *port, int rc, const char *why)
{
	if (port->args.clock == MDV_CLOCK_AUTO && (rc == -ERANGE || rc == -ENODATA))
		MLXPMD_LOG(NOTICE, "port %u: no timestamps are offered: %s", port->port_id, why);
	else if (port->args.clock == MDV_CLOCK_AUTO)
		MLXPMD_LOG(INFO, "port %u: no timestamps are offered: %s", port->port_id, why);
	else
		MLXPMD_LOG(WARNING, "port %u: clock=%s: no timestamps are offered: %s", port->port_id,
			   mdv_clock_source_name(port->args.clock), why);
}

int
mlxpmd_clock_open(struct mlxpmd_port *port)
{
	struct mlxpmd_clock *clock = clock_alloc(port->port_id);
	struct mlxpmd_clock_keeper *k;
	char why[WHY_BYTES] = "";
	uint64_t next_us;
	int rc;

	port->clock = NULL;
	if (clock == NULL) {
		MLXPMD_LOG(ERR, "port %u: no memory for the clock", port->port_id);
		rte_errno = ENOMEM;
		return -rte_errno;
	}
	k = clock->keeper;
	k->dev = port->mdv;
	rc = mdv_clock_open(port->mdv, port->args.clock, &k->mdv, why, sizeof(why));
	if (rc != 0) {
		none_say(port, rc, why);
		clock_free(clock);
		return 0;
	}
	/* The source is known only now, and everything that is published depends on it. */
	(void)mdv_clock_refresh(k->mdv, &k->info.state);
	clock->kind = mdv_clock_kind_of(k->info.state.source);
	next_us = mlxpmd_clock_keep(clock, false);
	MLXPMD_LOG(NOTICE, "port %u: %s", port->port_id, why);
	rc = mlxpmd_clock_serve(clock, next_us);
	if (rc != 0)
		clock_free(clock);
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
	mlxpmd_clock_unserve(clock);
	port->clock = NULL;
	clock_free(clock);
}

/* ------------------------------------------------------------------ rte_eth_read_clock */

int
mlxpmd_read_clock(struct rte_eth_dev *eth_dev, uint64_t *value)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	int rc;

	if (port->clock == NULL)
		return -ENOTSUP;
	rc = mlxpmd_clock_now(port->clock, value);
	if (rc == 0 || port->clock->kind != MDV_CLOCK_TICKS)
		return rc;
	/* Ticks that the host is not measured against: the device alone can tell, and only while it is there. */
	return mdv_removed(port->mdv) ? -ENODEV : mdv_clock_raw(port->mdv, value);
}
