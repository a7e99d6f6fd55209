/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * The port's clock: a task of the control thread refreshes the source and publishes the line that bursts use.
 *
 * A refresh cannot block: sources read the kernel's clock page, which is memory (mlx5dv_get_clock_info(3)), and the
 * device's timer in its mapped registers (ibv_query_rt_values_ex(3)), a PCIe read that the host completes with ones
 * when the device was removed. There is no system call and no firmware command in it.
 */

#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_malloc.h>

#include "mlxpmd.h"
#include "mlxpmd_clock_refresh.h"
#include "mlxpmd_recorder.h"

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
	*s = (struct mlxpmd_clock_snap) {
		.mult = line->mult, .shift = line->shift, .base = line->base, .mask = line->mask,
		.span = line->span, .start = line->start, .frac = line->frac,
	};
}

void
mlxpmd_clock_snap_raw(struct mlxpmd_clock_snap *s)
{
	*s = (struct mlxpmd_clock_snap) {
		.mult = 1, .mask = UINT64_MAX, .span = UINT64_MAX, .expires_tsc = rte_rdtsc() + INT64_MAX,
	};
}

/* ------------------------------------------------------------------ publication; the lock is held */

static void
words_store(mlxpmd_clock_word *to, const struct mlxpmd_clock_snap *s, uint32_t generation)
{
	struct mlxpmd_clock_snap copy = { .generation = 0 };
	const mlxpmd_clock_word *from = (const mlxpmd_clock_word *)&copy;
	unsigned int i;

	if (s != NULL)
		copy = *s;
	copy.generation = generation;
	/*
	 * Release: orders the last store of the generation before the word. A reader that still copies the generation
	 * that was in this slot, and gets such a word, then sees that the generation has changed.
	 */
	for (i = 0; i < MLXPMD_CLOCK_SNAP_WORDS; i++)
		__atomic_store_n(&to[i], from[i], __ATOMIC_RELEASE);
}

void
mlxpmd_clock_publish(struct mlxpmd_clock *clock, const struct mlxpmd_clock_snap *dev,
		     const struct mlxpmd_clock_snap *host)
{
	uint32_t generation = clock->board.generation + 1;
	struct mlxpmd_clock_lines *slot;

	if (generation == 0)
		generation = 2; /* 0 means none; 2 keeps the slots alternating. */
	slot = &clock->board.slot[generation & 1];
	words_store((mlxpmd_clock_word *)&slot->dev, dev, generation);
	words_store((mlxpmd_clock_word *)&slot->host, host, generation);
	/* Release: all words are visible before the generation that names them. */
	__atomic_store_n(&clock->board.generation, generation, __ATOMIC_RELEASE);
}

/* What is published has expired, or will have at now. */
static bool
has_expired(const struct mlxpmd_clock_refresher *r, uint64_t now)
{
	return r->info.expires_tsc != 0 && (int64_t)(r->info.expires_tsc - now) <= 0;
}

/* Counts and logs once that stamps became absent. */
static void
absent_note(struct mlxpmd_clock_refresher *r, int rc, const char *why)
{
	if (r->absent)
		return;
	MDV_RECORD(r->dev, .kind = MDV_RECORD_CLOCK, .value = -rc);
	r->absent = true;
	r->info.expired++;
	MLXPMD_LOG(WARNING, "port %u: timestamps are absent: %s", r->port_id, why);
}

/* How far the value of the same stamp moved from the old line to the new one; 0 if either has none. */
static int64_t
step_ns(const struct mlxpmd_clock_snap *old, const struct mlxpmd_clock_snap *new)
{
	uint64_t at = new->base + new->span / 4, was, is;

	if (old->mult == 0 || !mlxpmd_clock_convert(old, at, &was) ||
	    !mlxpmd_clock_convert(new, at, &is))
		return 0;
	return (int64_t)(is - was);
}

/* Logs steps at a limited rate; the counter has all of them. */
static void
step_note(struct mlxpmd_clock_refresher *r, const struct mdv_clock_state *state,
	  const struct mlxpmd_clock_snap *dev, uint64_t now)
{
	uint64_t unlogged = state->steps - r->steps_logged;

	/* The TSC counts from the start of the machine: the first step is logged at once. */
	if (unlogged == 0 || now - r->step_logged_tsc < STEP_LOG_SECONDS * rte_get_tsc_hz())
		return;
	MLXPMD_LOG(WARNING, "port %u: the clock stepped, the last time by %+" PRId64 " ns; %" PRIu64 " steps since the last such line, %" PRIu64 " in all",
		   r->port_id, step_ns(&r->last, dev), unlogged, state->steps);
	r->steps_logged = state->steps;
	r->step_logged_tsc = now;
}

/* The end of the line, or of MLXPMD_CLOCK_VALID_MS, whichever is earlier. */
static uint64_t
expiry(const struct mdv_clock_state *state, uint64_t now)
{
	uint64_t valid = MLXPMD_CLOCK_VALID_MS * rte_get_tsc_hz() / 1000;

	if (state->valid_tsc < now)
		return now;
	return now + RTE_MIN(valid, state->valid_tsc - now);
}

static void
lines_publish(struct mlxpmd_clock *clock, const struct mdv_clock_state *state, uint64_t now)
{
	struct mlxpmd_clock_refresher *r = clock->refresher;
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
	step_note(r, state, &dev, now);
	mlxpmd_clock_publish(clock, &dev, &host);
	r->last = dev;
	r->info.expires_tsc = dev.expires_tsc;
	r->info.generation = clock->board.generation;
	if (r->absent && !has_expired(r, now)) {
		r->absent = false;
		MDV_RECORD(r->dev, .kind = MDV_RECORD_CLOCK, .op = 1);
		MLXPMD_LOG(NOTICE, "port %u: timestamps are back", r->port_id);
	}
}

/* The source is not to be trusted any more: what is published expires now. */
static void
lines_withdraw(struct mlxpmd_clock *clock, uint64_t now)
{
	struct mlxpmd_clock_refresher *r = clock->refresher;

	if (r->info.expires_tsc == 0 || has_expired(r, now))
		return;
	r->last.expires_tsc = now;
	mlxpmd_clock_publish(clock, &r->last, NULL);
	r->info.expires_tsc = now;
	r->info.generation = clock->board.generation;
}

/* Ticks are right whatever the time is. */
static bool
is_broken(const struct mlxpmd_clock *clock, const struct mdv_clock_state *state, int rc)
{
	if (clock->kind == MDV_CLOCK_TICKS)
		return false;
	return state->quality == MDV_CLOCK_BROKEN || (rc != 0 && rc != -EAGAIN);
}

/* ------------------------------------------------------------------ refresh */

/* @return ns after which the next refresh is due. */
static uint64_t
clock_refresh(void *arg)
{
	struct mlxpmd_clock *clock = arg;
	struct mlxpmd_clock_refresher *r = clock->refresher;
	struct mdv_clock_state state;
	uint64_t now;
	int rc;

	rc = mdv_clock_refresh(r->mdv, &state);
	/* Not every source reads the device each time. */
	if (mdv_removed(r->dev))
		rc = -ENODEV;
	now = rte_rdtsc();
	pthread_mutex_lock(&r->lock);
	if (has_expired(r, now))
		absent_note(r, rc, rc == 0 ? "the clock was not refreshed in time" :
			       "the source gave no usable reading for too long");
	if (is_broken(clock, &state, rc)) {
		lines_withdraw(clock, now);
		absent_note(r, rc, rc != 0 ? rte_strerror(-rc) : "the source cannot be trusted");
	} else if (rc == 0 || r->info.generation != 0) {
		/* Of a busy source the last line again, for as long as the line itself holds. */
		lines_publish(clock, &state, now);
	}
	r->info.refreshed_tsc = now;
	r->info.state = state;
	r->info.attempts++;
	pthread_mutex_unlock(&r->lock);
	return MLXPMD_NS_PER_US * RTE_MAX(MLXPMD_CLOCK_REFRESH_MIN_US,
					  RTE_MIN(state.next_us, (uint64_t)MLXPMD_CLOCK_REFRESH_MAX_US));
}

void
mlxpmd_clock_info_get(const struct mlxpmd_clock *clock, struct mlxpmd_clock_info *info)
{
	struct mlxpmd_clock_refresher *r = clock->refresher;
	/* A secondary process takes no lock, with which it could be killed: it may get counters of two refreshes. */
	const bool locks = rte_eal_process_type() == RTE_PROC_PRIMARY;
	uint64_t now;
	bool expired;

	if (locks)
		pthread_mutex_lock(&r->lock);
	now = rte_rdtsc();
	*info = r->info;
	expired = has_expired(r, now);
	if (expired && !r->absent)
		info->expired++; /* The next refresh will count it. */
	if (locks)
		pthread_mutex_unlock(&r->lock);
	info->age_ns = info->state.age_ns;
	if (now > info->refreshed_tsc)
		info->age_ns += tsc_to_ns(now - info->refreshed_tsc);
	info->quality = expired || info->expires_tsc == 0 ? MDV_CLOCK_BROKEN : info->state.quality;
}

/* ------------------------------------------------------------------ open and close */

/* A clock and the part that only the control plane uses. */
struct clock_memory {
	struct mlxpmd_clock clock;
	struct mlxpmd_clock_refresher refresher __rte_cache_aligned;
};

static void
clock_free(struct mlxpmd_clock *clock)
{
	mdv_clock_close(clock->refresher->mdv);
	rte_free(clock);
}

static struct mlxpmd_clock *
clock_alloc(uint16_t port_id)
{
	struct clock_memory *m = rte_zmalloc("mlxpmd_clock", sizeof(*m), RTE_CACHE_LINE_SIZE);

	if (m == NULL)
		return NULL;
	m->clock.refresher = &m->refresher;
	m->refresher.port_id = port_id;
	m->refresher.task = (struct mlxpmd_task){
		.name = "clock", .port_id = port_id, .run = clock_refresh, .arg = &m->clock, .fd = -1,
	};
	pthread_mutex_init(&m->refresher.lock, NULL);
	return &m->clock;
}

/* A clock that was requested and cannot be used is a warning; of clock=auto a note, if there is a source at all. */
static void
none_log(const struct mlxpmd_port *port, int rc, const char *why)
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
	struct mlxpmd_clock_refresher *r;
	char why[WHY_BYTES] = "";
	int rc;

	if (clock == NULL)
		return MLXPMD_FAIL(ENOMEM, "port %u: no memory for the clock", port->port_id);
	r = clock->refresher;
	r->dev = port->mdv;
	rc = mdv_clock_open(port->mdv, port->args.clock, &r->mdv, why, sizeof(why));
	if (rc != 0) {
		none_log(port, rc, why);
		clock_free(clock);
		return 0;
	}
	/* The first refresh finds the source, on which all that is published depends. */
	(void)mdv_clock_refresh(r->mdv, &r->info.state);
	clock->kind = mdv_clock_kind_of(r->info.state.source);
	MLXPMD_LOG(NOTICE, "port %u: %s", port->port_id, why);
	rc = mlxpmd_task_add(NULL, &r->task, clock_refresh(clock));
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
	mlxpmd_task_remove(&clock->refresher->task);
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
	/* No relation of ticks to the TSC is known: read the device, which a secondary process cannot. */
	if (rte_eal_process_type() != RTE_PROC_PRIMARY)
		return -ENOTSUP;
	return mdv_removed(port->mdv) ? -ENODEV : mdv_clock_raw(port->mdv, value);
}
