/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * A run: start the lcores, wait, stop sending, receive packets in flight, check the result.
 */

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_launch.h>
#include <rte_lcore.h>

#include "gen.h"

#define IDLE_PASSES 256			/* passes without a packet before the lcore yields or sleeps */
#define STEP_NS (10 * 1000000ULL)
#define GRACE_NS (20 * 1000000ULL)	/* time to receive a duplicate of the last packet */
#define STUCK_NS (10 * TM_NS_PER_S)	/* stop a run whose senders make no progress for this time */
#define DRAIN_POLLS 16
#define DRAIN_LIMIT 10			/* limit of the drain, in multiples of --drain */

static uint32_t
lcore_pass(struct tm_app *app, unsigned int lcore)
{
	uint32_t handled = 0;

	for (uint16_t i = 0; i < app->nb_streams; i++) {
		struct tm_stream *s = &app->streams[i];

		if (s->lcore != lcore)
			continue;
		handled += app->cfg.engine->poll(app, s);
		if (s->replay != NULL)
			handled += tm_replay_poll(app, s);
	}
	return handled;
}

/* After IDLE_PASSES without a packet: sleep with --rx-intr, else yield. */
static void
lcore_idle(struct tm_app *app, unsigned int lcore, unsigned int idle)
{
	if (idle < IDLE_PASSES)
		return;
	if (app->cfg.rx_intr)
		tm_intr_sleep(app, lcore);
	else
		sched_yield();
}

static int
lcore_main(void *arg)
{
	unsigned int lcore = rte_lcore_id(), idle = 0;
	struct tm_app *app = arg;

	while (__atomic_load_n(&app->phase, __ATOMIC_ACQUIRE) != TM_PHASE_STOPPED) {
		idle = lcore_pass(app, lcore) > 0 ? 0 : idle + 1;
		lcore_idle(app, lcore, idle);
	}
	return 0;
}

static int
run_open(struct tm_app *app)
{
	int ret;

	for (uint16_t i = 0; i < app->nb_ports; i++) {
		if (!app->ports[app->port_ids[i]].started) {
			tm_error("port %u is stopped", app->port_ids[i]);
			return -EBUSY;
		}
	}
	ret = tm_intr_open(app);
	if (ret == 0)
		ret = tm_replays_open(app);
	if (ret == 0)
		ret = tm_sinks_open(app);
	if (ret == 0 && app->cfg.engine->generates)
		ret = tm_gen_create(app);
	else
		tm_gen_free(app);
	if (ret != 0) {
		tm_intr_close(app);
		tm_sinks_close(app);
		tm_replays_close(app);
	}
	return ret;
}

static bool
lcore_used(const struct tm_app *app, unsigned int lcore)
{
	for (uint16_t i = 0; i < app->nb_streams; i++)
		if (app->streams[i].lcore == lcore)
			return true;
	return false;
}

int
tm_run_start(struct tm_app *app)
{
	unsigned int id;
	int ret;

	if (app->running) {
		tm_error("forwarding is already running");
		return -EALREADY;
	}
	app->run_no++;
	tm_stats_clear(app);
	ret = run_open(app);
	if (ret != 0)
		return ret;
	app->running = true;
	app->result_known = false;
	app->start_ns = tm_now_ns();
	app->next_stats_ns = app->start_ns + (uint64_t)(app->cfg.stats_period_s * 1e9);
	__atomic_store_n(&app->phase, TM_PHASE_RUN, __ATOMIC_RELEASE);
	RTE_LCORE_FOREACH_WORKER(id)
		if (lcore_used(app, id))
			rte_eal_remote_launch(lcore_main, app, id);
	tm_note(app, "forwarding started: %s, %u ports, %u streams, %u lcores",
		app->cfg.engine->name, app->nb_ports, app->nb_streams,
		RTE_MAX(app->nb_workers, 1u));
	return 0;
}

static void
period_print(struct tm_app *app)
{
	uint64_t now = tm_now_ns();

	if (app->cfg.stats_period_s <= 0 || !app->running || now < app->next_stats_ns)
		return;
	app->next_stats_ns = now + (uint64_t)(app->cfg.stats_period_s * 1e9);
	tm_report_period(app, stdout);
}

void
tm_run_idle(struct tm_app *app, uint64_t ns)
{
	uint64_t end = tm_now_ns() + ns, now;
	unsigned int idle = 0;

	do {
		if (app->nb_workers == 0 && app->running) {
			for (unsigned int i = 0; i < 32; i++)
				idle = lcore_pass(app, rte_lcore_id()) > 0 ? 0 : idle + 1;
			lcore_idle(app, rte_lcore_id(), idle);
		} else {
			now = tm_now_ns();
			usleep(now < end ? RTE_MIN(end - now, STEP_NS) / 1000 : 0);
		}
		period_print(app);
		now = tm_now_ns();
	} while (now < end && app->signal == 0);
}

/* Are all captures sent? Sets *any if there is a capture. */
static bool
replays_done(const struct tm_app *app, bool *any)
{
	bool done = true;

	for (uint16_t i = 0; i < app->nb_ports; i++) {
		const struct tm_replay *r = app->ports[app->port_ids[i]].replay;

		if (r == NULL)
			continue;
		*any = true;
		done &= tm_replay_done(r);
	}
	return done;
}

bool
tm_run_finite(const struct tm_app *app)
{
	bool any = false;

	(void)replays_done(app, &any);
	return app->cfg.count > 0 || (any && !app->cfg.engine->generates);
}

bool
tm_run_done(struct tm_app *app)
{
	bool finite = false;
	struct tm_stats st;

	if (!replays_done(app, &finite))
		return false;
	if (app->cfg.engine->generates)
		return tm_gen_done(app);
	if (app->cfg.count == 0)
		return finite;
	tm_stats_sum(app, -1, -1, &st);
	return st.rx_packets >= app->cfg.count;
}

/* Sending is not finished, and no packet was sent or received for STUCK_NS. */
static bool
run_stuck(struct tm_app *app, uint64_t *moved, uint64_t *since_ns)
{
	uint64_t now = tm_now_ns();
	bool any = false, done;
	struct tm_stats st;

	tm_stats_sum(app, -1, -1, &st);
	done = replays_done(app, &any) &&
		(!app->cfg.engine->generates || app->cfg.count == 0 || tm_gen_done(app));
	if (done || st.rx_packets + st.tx_packets != *moved) {
		*moved = st.rx_packets + st.tx_packets;
		*since_ns = now;
	}
	return now - *since_ns > STUCK_NS;
}

void
tm_run_wait(struct tm_app *app, uint64_t limit_ns)
{
	uint64_t start = tm_now_ns(), since = start, moved = 0, now;

	while (!app->quit && app->running && !tm_run_done(app)) {
		now = tm_now_ns();
		if (now - start >= limit_ns) {
			return;
		}
		if (run_stuck(app, &moved, &since)) {
			tm_fail(app, "no packet was sent for %u s: the port does not accept packets",
				(unsigned int)(STUCK_NS / TM_NS_PER_S));
			return;
		}
		tm_run_idle(app, RTE_MIN(STEP_NS, limit_ns - (now - start)));
	}
}

/* All packets that were sent have come back, if that is known. */
static bool
all_back(const struct tm_app *app)
{
	uint64_t sent, acked;
	bool any = false;

	(void)replays_done(app, &any);
	if (app->gen == NULL || !app->gen->checks)
		return !any;
	tm_gen_progress(app, &sent, &acked);
	return sent == acked && !any;
}

/* Receive until all packets are back, no packet came for --drain seconds, or DRAIN_LIMIT times that have passed. */
static void
run_drain(struct tm_app *app)
{
	uint64_t quiet_ns = (uint64_t)(app->cfg.drain_s * 1e9);
	uint64_t start = tm_now_ns(), last = start, now = start, seen = UINT64_MAX;
	unsigned int polls = 0;
	struct tm_stats st;

	do {
		if (all_back(app)) {
			tm_run_idle(app, GRACE_NS);
			return;
		}
		tm_run_idle(app, 1000000);
		tm_stats_sum(app, -1, -1, &st);
		now = tm_now_ns();
		if (st.rx_packets != seen) {
			/* The duration of the run ends with the last packet, not with the drain. */
			if (seen != UINT64_MAX)
				app->stop_ns = now;
			seen = st.rx_packets;
			last = now;
			polls = 0;
		}
		/* A busy host may not have run the receiving thread in this time: also count the polls. */
	} while ((now - last < quiet_ns || ++polls < DRAIN_POLLS) &&
		 now - start < DRAIN_LIMIT * quiet_ns);
}

static void
count_check(struct tm_app *app)
{
	uint64_t sent = 0, wanted = 0;
	struct tm_stats st;

	if (app->cfg.count == 0 || app->signal != 0)
		return;
	tm_stats_sum(app, -1, -1, &st);
	if (!app->cfg.engine->generates) {
		if (st.rx_packets < app->cfg.count)
			tm_fail(app, "received %" PRIu64 " packets of %" PRIu64 " expected",
				st.rx_packets, app->cfg.count);
		return;
	}
	for (uint16_t i = 0; i < app->nb_streams; i++) {
		sent += app->streams[i].gen_sent;
		wanted += app->streams[i].gen_quota;
	}
	if (sent < wanted)
		tm_fail(app, "sent %" PRIu64 " packets of %" PRIu64 " requested", sent, wanted);
}

static void
strict_check(struct tm_app *app, const struct tm_port *p)
{
	const struct rte_eth_stats *e = &p->final_stats;
	struct tm_stats st;

	tm_stats_sum(app, -1, p->port_id, &st);
	const struct { uint64_t n; const char *what; } t[] = {
		{ e->imissed, "packets missed" }, { e->ierrors, "Rx errors" },
		{ e->oerrors, "Tx errors" }, { e->rx_nombuf, "Rx buffer failures" },
		{ st.tx_dropped, "packets dropped before Tx" },
	};

	for (unsigned int i = 0; i < RTE_DIM(t); i++)
		if (t[i].n > 0)
			tm_fail(app, "port %u: %" PRIu64 " %s", p->port_id, t[i].n, t[i].what);
}

static int
run_check(struct tm_app *app)
{
	unsigned int before = app->failures;

	if (app->gen != NULL && app->gen->checks)
		tm_check_report(app, app->cfg.cmds_path != NULL || app->cfg.interactive ?
				stdout : NULL, true);
	count_check(app);
	for (uint16_t i = 0; i < app->nb_ports; i++) {
		struct tm_port *p = &app->ports[app->port_ids[i]];

		tm_replay_check(app, p);
		if (app->cfg.strict)
			strict_check(app, p);
	}
	app->result_known = true;
	app->result_ok = app->failures == before;
	return app->result_ok ? 0 : -EIO;
}

/*
 * mlxpmd returns counters of the device that it has read earlier, and their age. Wait until they have been read
 * after the last packet, at most SETTLE_NS: a device that answers commands needs much less.
 */
#define SETTLE_NS (TM_NS_PER_S / 2)

static void
stats_settle(uint16_t port_id)
{
	static const char *const ages[] = { "rx_missed_age_us", "device_counters_age_us" };
	uint64_t id, age_us, begin_ns = tm_now_ns(), passed_ns = 0;

	for (unsigned int i = 0; i < RTE_DIM(ages); i++) {
		if (rte_eth_xstats_get_id_by_name(port_id, ages[i], &id) != 0)
			continue;
		do {
			if (rte_eth_xstats_get_by_id(port_id, &id, &age_us, 1) != 1)
				break;
			passed_ns = tm_now_ns() - begin_ns;
			if (1000 * age_us < passed_ns)
				break;
			rte_delay_us_sleep(2000);
		} while (passed_ns < SETTLE_NS);
	}
}

int
tm_run_stop(struct tm_app *app)
{
	int ret;

	if (!app->running)
		return -EALREADY;
	app->stop_ns = tm_now_ns();
	__atomic_store_n(&app->phase, TM_PHASE_DRAIN, __ATOMIC_RELEASE);
	run_drain(app);
	__atomic_store_n(&app->phase, TM_PHASE_STOPPED, __ATOMIC_RELEASE);
	rte_eal_mp_wait_lcore();
	app->running = false;
	tm_intr_close(app);
	if (app->gen != NULL)
		tm_gen_settle(app);
	for (uint16_t i = 0; i < app->nb_ports; i++) {
		struct tm_port *p = &app->ports[app->port_ids[i]];

		tm_clock_refresh(p);
		stats_settle(p->port_id);
		ret = rte_eth_stats_get(p->port_id, &p->final_stats);
		if (ret != 0)
			tm_fail(app, "port %u: statistics cannot be read: %s", p->port_id,
				rte_strerror(-ret));
	}
	tm_sinks_close(app);
	ret = run_check(app);
	tm_replays_close(app);
	tm_note(app, "forwarding stopped: %s, %.3f s", app->cfg.engine->name,
		(double)(app->stop_ns - app->start_ns) / 1e9);
	return ret;
}
