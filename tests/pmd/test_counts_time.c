/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * The cache of the device's counters in simulated time: when the device is queried, which reply is used, and what is
 * logged, to the nanosecond.
 */

#include "counts_sim.h"

/* Each step of the set-up fails in turn: its error is returned, and nothing is left. */
static void
failed_up(void)
{
	CHECK_OK(up(100));
	down();
	no_memory = true;
	port.q_counter = NULL;
	CHECK_EQ(mlxpmd_counts_up(&port), -ENOMEM);
	CHECK_EQ(rte_errno, ENOMEM);
	CHECK_EQ(errors, 1);
	no_memory = false;
	for (unsigned int n = 0; n < MAX_TASKS; n++) {
		CHECK_OK(up(100));
		down();
		adds_left = n;
		port.q_counter = (struct mdv_obj *)&opened;
		CHECK_EQ(mlxpmd_counts_up(&port), -EAGAIN);
		CHECK(port.counts == NULL && nb_tasks == 0 && opened == 0 && allocated == 0 && locks == 0);
	}
	CHECK_OK(up(100));
	down();
	open_rc = -EMFILE;
	CHECK_EQ(mlxpmd_counts_up(&port), -EMFILE);
	CHECK(port.counts == NULL && allocated == 0 && locks == 0);
}

/* stats_age_ms=0: no tasks; each reading queries the device. */
static void
uncached(void)
{
	struct mlxpmd_counts counts;

	CHECK_OK(up(0));
	CHECK_EQ(nb_tasks, 0);
	CHECK_EQ(queries[SYNC_COUNTERS].n, 0);
	dev_raw = 5;
	CHECK_EQ(missed(), 5);
	dev_raw = 7;
	CHECK_EQ(missed(), 7);
	CHECK_EQ(queries[SYNC_MISSED].n, 2);
	CHECK(!queries[SYNC_MISSED].quiet[1]);
	mlxpmd_counts_get(&port, MLXPMD_COUNTERS, &counts);
	CHECK_EQ(queries[SYNC_COUNTERS].n, 1);
	CHECK_EQ(counts.counters[11], 1011);
	mlxpmd_counts_settle(&port);
	CHECK_EQ(queries[SYNC_MISSED].n, 2);
	CHECK_EQ(info().readings[MLXPMD_MISSED], 2);
	CHECK_EQ(info().readings[MLXPMD_COUNTERS], 1);
	down();
	/* A counter that was just created is 0, which is a reading. */
	CHECK_OK(up(0));
	now_ns += MS;
	dev_rc = -EIO;
	CHECK_EQ(age_us(MLXPMD_MISSED), 1000);
	down();
}

/* How often a running port's groups are queried: unread, read, asleep. */
static void
periods(void)
{
	CHECK_OK(up(100));
	CHECK_EQ(queries[SYNC_COUNTERS].n, 1);
	CHECK(info().async);
	EVERY(ASYNC_MISSED, 0);
	EVERY(SYNC_COUNTERS, 0);
	start();
	EVERY(ASYNC_MISSED, 75 * MS);
	EVERY(SYNC_COUNTERS, 750 * MS);
	(void)missed();
	EVERY(ASYNC_MISSED, 50 * MS);
	EVERY(SYNC_COUNTERS, 750 * MS);
	(void)age_us(MLXPMD_COUNTERS);
	EVERY(SYNC_COUNTERS, 50 * MS);
	run_for(11 * S);
	mlxpmd_counts_asleep(&port, true);
	CHECK(!requested("imissed"));
	EVERY(ASYNC_MISSED, 750 * MS);
	mlxpmd_counts_asleep(&port, true);
	CHECK(!requested("imissed"));
	mlxpmd_counts_asleep(&port, false);
	CHECK(requested("imissed"));
	EVERY(ASYNC_MISSED, 75 * MS);
	mlxpmd_counts_asleep(&port, false);
	CHECK(!requested("imissed"));
	/* A start ends the sleep. */
	mlxpmd_counts_asleep(&port, true);
	start();
	EVERY(ASYNC_MISSED, 75 * MS);
	/* Read while asleep: as if awake. */
	mlxpmd_counts_asleep(&port, true);
	(void)missed();
	EVERY(ASYNC_MISSED, 50 * MS);
	/* A settle forgets the reading. */
	mlxpmd_counts_settle(&port);
	EVERY(ASYNC_MISSED, 75 * MS);
	/* Stopped: queried only while it is read. */
	port.running = false;
	run_for(S);
	EVERY(ASYNC_MISSED, 0);
	(void)missed();
	(void)age_us(MLXPMD_COUNTERS);
	EVERY(ASYNC_MISSED, 50 * MS);
	EVERY(SYNC_COUNTERS, 50 * MS);
	down();
	/* The count of 32 bits must not wrap twice. */
	CHECK_OK(up(60000));
	start();
	EVERY(ASYNC_MISSED, 5 * S);
	EVERY(SYNC_COUNTERS, 450 * S);
	down();
}

/* The first reading after a while requests a query; the group counts as read for ten seconds. */
static void
read_state(void)
{
	struct mlxpmd_counts counts;
	uint64_t read_ns;

	CHECK_OK(up(100));
	CHECK_EQ(age_us(MLXPMD_MISSED), 0);
	port.running = true;
	run_for(50 * MS - 1);
	CHECK_EQ(queries[ASYNC_MISSED].n, 0);
	CHECK_EQ(age_us(MLXPMD_MISSED), 49999);
	run_for(1);
	CHECK_EQ(queries[ASYNC_MISSED].n, 1);
	down();
	CHECK_OK(up(100));
	start();
	/* The fields of the other group are not set. */
	memset(&counts, 0x5a, sizeof(counts));
	mlxpmd_counts_get(&port, MLXPMD_MISSED, &counts);
	CHECK_EQ(counts.counters[0], 0x5a5a5a5a5a5a5a5a);
	down();
	CHECK_OK(up(100));
	start();
	CHECK(!requested("imissed") && !requested("counters"));
	run_for(30 * MS);
	(void)missed();
	read_ns = now_ns;
	CHECK(requested("imissed") && !requested("counters"));
	queries_clear();
	run_for(100 * MS);
	CHECK_EQ(queries[ASYNC_MISSED].at_ns[0], read_ns + 20 * MS);
	CHECK_EQ(queries[ASYNC_MISSED].at_ns[1], read_ns + 70 * MS);
	(void)age_us(MLXPMD_COUNTERS);
	CHECK(!requested("imissed") && requested("counters"));
	run_for(0);
	(void)age_us(MLXPMD_COUNTERS);
	CHECK(!requested("counters"));
	/* The last query of the shorter period. */
	run_until(read_ns + 30 * MS - 10 * MS);
	(void)missed();
	read_ns = now_ns;
	queries_clear();
	run_for(11 * S);
	for (unsigned int i = 0; i < queries[ASYNC_MISSED].n - 1; i++)
		if (queries[ASYNC_MISSED].at_ns[i] > read_ns + 10 * S)
			CHECK_EQ(queries[ASYNC_MISSED].at_ns[i + 1] - queries[ASYNC_MISSED].at_ns[i], 75 * MS);
	down();
	/* A reading exactly at the end of the ten seconds continues the first; a nanosecond later it is a first one. */
	CHECK_OK(up(100));
	port.running = true;
	(void)missed();
	run_for(10 * S);
	(void)missed();
	CHECK(!requested("imissed"));
	run_for(10 * S + 1);
	(void)missed();
	CHECK(requested("imissed"));
	down();
}

/* A query that is due but was not issued is requested by a reader. */
static void
overdue(void)
{
	struct mlxpmd_counts counts;

	CHECK_OK(up(100));
	start();
	(void)missed();
	run_for(60 * MS);
	mlxpmd_counts_get(&port, MLXPMD_MISSED, &counts);
	/* The control thread does not run. */
	now_ns = counts.queried_ns[MLXPMD_MISSED] + 100 * MS - 1;
	(void)missed();
	CHECK(!requested("imissed"));
	now_ns++;
	(void)missed();
	CHECK(requested("imissed"));
	down();
}

static void
reply_mid(void)
{
	/* The control thread takes the reply to an older query while a caller waits. */
	now_ns += 2 * MS;
	during_sync = NULL;
	task_run(0);
}

/* Which replies are used, and how the 32 bits are continued. */
static void
replies(void)
{
	uint64_t before;

	CHECK_OK(up(100));
	dev_raw = 10;
	start();
	CHECK_EQ(missed(), 10);
	dev_raw = 14;
	run_for(210 * MS);
	CHECK_EQ(missed(), 14);
	CHECK_EQ(nb_pending, 0);
	CHECK_EQ(age_us(MLXPMD_MISSED),
		 (now_ns - queries[ASYNC_MISSED].at_ns[queries[ASYNC_MISSED].n - 1]) / 1000);
	/* 0 after another value is no count. */
	dev_raw = 0;
	run_for(200 * MS);
	CHECK_EQ(missed(), 14);
	/* A wrap. */
	dev_raw = 0xfffffff0;
	run_for(200 * MS);
	CHECK_EQ(missed(), 0xfffffff0);
	dev_raw = 6;
	run_for(200 * MS);
	CHECK_EQ(missed(), UINT64_C(0x100000006));
	/* Refused: the value stays, and further refusals are quiet. */
	dev_rc = -EIO;
	dev_raw = 9;
	run_for(500 * MS);
	CHECK_EQ(missed(), UINT64_C(0x100000006));
	CHECK(queries[ASYNC_MISSED].quiet[queries[ASYNC_MISSED].n - 1]);
	CHECK(info().failures[MLXPMD_MISSED] >= 9, "%" PRIu64 " failures", info().failures[MLXPMD_MISSED]);
	dev_rc = 0;
	run_for(200 * MS);
	CHECK_EQ(missed(), UINT64_C(0x100000009));
	CHECK(!queries[ASYNC_MISSED].quiet[queries[ASYNC_MISSED].n - 1]);
	/* The query cannot be started. */
	start_rc = -ENOMEM;
	run_for(50 * MS);
	queries_clear();
	before = info().failures[MLXPMD_MISSED];
	EVERY(ASYNC_MISSED, 50 * MS);
	CHECK_EQ(info().failures[MLXPMD_MISSED], before + queries[ASYNC_MISSED].n);
	down();
}

/* Replies in another order than their queries, and during a call that waits. */
static void
overtaken(void)
{
	uint64_t before;

	CHECK_OK(up(100));
	dev_raw = 9;
	start();
	(void)missed();
	run_for(200 * MS);
	/* The reply to a query that a younger one overtook is not used. */
	async_ns = 300 * MS;
	dev_raw = 20;
	run_for(50 * MS);
	CHECK_EQ(nb_pending, 1);
	CHECK_EQ(pending[0].wr_id, now_ns); /* At the very time of the younger one. */
	CHECK_EQ(info().outstanding, 1);
	dev_raw = 30;
	mlxpmd_counts_settle(&port);
	CHECK_EQ(missed(), 30);
	async_ns = MS;
	before = info().readings[MLXPMD_MISSED];
	run_for(S + 410 * MS);
	CHECK_EQ(missed(), 30);
	CHECK_EQ(info().outstanding, 0);
	CHECK(info().readings[MLXPMD_MISSED] > before);
	/* Nor one that comes while a caller waits, which must not get an older value. */
	run_for(2 * S);
	queries_clear();
	while (queries[ASYNC_MISSED].n == 0)
		run_for(MS / 2);
	CHECK_EQ(nb_pending, 1);
	pending[0].raw = 35;
	dev_raw = 34;
	during_sync = reply_mid;
	mlxpmd_counts_settle(&port);
	CHECK_EQ(nb_pending, 0);
	CHECK_EQ(missed(), 34);
	down();
}

/* A lost reply: the query is issued again after a second. Sixteen lost: the worker waits for the device. */
static void
lost(void)
{
	CHECK_OK(up(100));
	start();
	(void)missed();
	run_for(500 * MS);
	async_ns = NEVER;
	run_for(100 * MS);
	queries_clear();
	run_for(15 * S);
	for (unsigned int i = 1; i < queries[ASYNC_MISSED].n; i++)
		CHECK_EQ(queries[ASYNC_MISSED].at_ns[i] - queries[ASYNC_MISSED].at_ns[i - 1], S);
	CHECK_EQ(nb_pending, 16);
	CHECK_EQ(info().outstanding, 16);
	CHECK(info().async);
	CHECK_EQ(queries[SYNC_MISSED].n, 0);
	warnings = 0;
	dev_raw = 3;
	(void)missed();
	warnings = 0;
	run_for(2 * S);
	CHECK(!info().async);
	CHECK_EQ(nb_pending, 16);
	CHECK_EQ(warnings, 1);
	CHECK(strstr(last_line, "16 queries of the missed count have no reply") != NULL, "%s", last_line);
	CHECK_EQ(missed(), 3);
	(void)missed();
	EVERY(SYNC_MISSED, 50 * MS);
	CHECK_EQ(warnings, 0);
	/* Replies come again. */
	async_ns = MS;
	for (unsigned int i = 0; i < nb_pending; i++)
		pending[i].due_ns = now_ns;
	run_for(S);
	CHECK(info().async);
	CHECK_EQ(info().outstanding, 0);
	EVERY(ASYNC_MISSED, 50 * MS);
	CHECK_EQ(queries[SYNC_MISSED].n, 0);
	/* No more replies: once in the log, and the worker waits from then on. */
	run_for(100 * MS);
	async_ns = NEVER;
	while (nb_pending == 0)
		run_for(MS);
	queries_clear();
	take_end = -EPROTO;
	run_for(S);
	CHECK_EQ(warnings, 1);
	CHECK(queries[SYNC_MISSED].n >= 19, "%u queries", queries[SYNC_MISSED].n);
	CHECK(strstr(last_line, "no more replies") != NULL, "%s", last_line);
	take_end = 0;
	EVERY(SYNC_MISSED, 50 * MS);
	CHECK_EQ(queries[ASYNC_MISSED].n, 0);
	CHECK(!info().async);
	down();
	/* Of a removed device the end is not logged. */
	CHECK_OK(up(100));
	start();
	queries_clear();
	removed = true;
	take_end = -EIO;
	run_for(S);
	CHECK_EQ(warnings + errors, 0);
	EVERY(ASYNC_MISSED, 0);
	(void)missed();
	CHECK(!requested("imissed"));
	EVERY(SYNC_MISSED, 0);
	mlxpmd_counts_settle(&port);
	CHECK_EQ(queries[SYNC_MISSED].n, 0);
	down();
}

/* Values older than promised are logged once in ten seconds, to the nanosecond, and not if queries fail. */
static void
late(void)
{
	struct mlxpmd_counts counts;
	uint64_t queried_ns;

	CHECK_OK(up(100));
	start();
	(void)missed();
	run_for(510 * MS);
	CHECK_EQ(nb_pending, 0);
	async_ns = NEVER;
	mlxpmd_counts_get(&port, MLXPMD_MISSED, &counts);
	queried_ns = counts.queried_ns[MLXPMD_MISSED];
	queries_clear();
	run_until(queried_ns + 100 * MS + S);
	(void)missed();
	CHECK_EQ(warnings, 0);
	now_ns++;
	(void)missed();
	CHECK_EQ(warnings, 1);
	CHECK(strstr(last_line, "port 3: the device does not answer in time: imissed is of 1100 ms ago") != NULL, "%s",
	      last_line);
	(void)missed();
	run_for(10 * S + 500 * MS);
	(void)missed();
	CHECK_EQ(warnings, 1);
}

/* After late(): late for another query, a stopped port, refused queries. */
static void
late_again(void)
{
	/* Ten seconds after values were last found late, and not before. */
	for (int later = 0; later < 2; later++) {
		uint64_t found_ns = now_ns;

		nb_pending = 0;
		mlxpmd_counts_settle(&port);
		run_for(8 * S);
		warnings = 0;
		now_ns = found_ns + 10 * S - 1 + later;
		(void)missed();
		CHECK_EQ(warnings, later);
	}
	/* A refusal was logged where it happened; a stopped port promises nothing. */
	mlxpmd_counts_settle(&port);
	now_ns += 30 * S;
	warnings = 0;
	port.running = false;
	(void)missed();
	CHECK_EQ(warnings, 0);
	port.running = true;
	dev_rc = -EIO;
	mlxpmd_counts_settle(&port);
	now_ns += 30 * S;
	(void)missed();
	CHECK_EQ(warnings, 0);
	down();
	/* Counters that were not read may be ten times as old; then from the first reading on. */
	CHECK_OK(up(100));
	start();
	queries_clear();
	now_ns += 2 * S;
	(void)age_us(MLXPMD_COUNTERS);
	CHECK_EQ(warnings, 0);
	now_ns += S;
	(void)age_us(MLXPMD_COUNTERS);
	CHECK_EQ(warnings, 0);
	now_ns++;
	(void)age_us(MLXPMD_COUNTERS);
	CHECK_EQ(warnings, 1);
	CHECK(strstr(last_line, "vport and physical counters are of 3000 ms ago") != NULL, "%s", last_line);
	mlxpmd_counts_settle(&port);
	now_ns += 20 * S;
	(void)age_us(MLXPMD_COUNTERS);
	CHECK_EQ(warnings, 2);
	down();
}

/* Vport and physical counters: all values are published, with the time of the last complete reply. */
static void
counters(void)
{
	struct mlxpmd_counts counts;

	CHECK_OK(up(100));
	start();
	sync_ns = 3 * MS;
	run_for(S);
	dev_value = 5000;
	(void)age_us(MLXPMD_COUNTERS);
	run_for(60 * MS);
	mlxpmd_counts_get(&port, MLXPMD_COUNTERS, &counts);
	for (unsigned int i = 0; i < nb_counters; i++)
		CHECK_EQ(counts.counters[i], 5000 + i);
	CHECK_EQ(counts.queried_ns[MLXPMD_COUNTERS], queries[SYNC_COUNTERS].at_ns[queries[SYNC_COUNTERS].n - 1]);
	/* A partial failure: the values that were read, and the time of before. */
	dev_rc = -EIO;
	dev_value = 6000;
	run_for(60 * MS);
	mlxpmd_counts_get(&port, MLXPMD_COUNTERS, &counts);
	CHECK_EQ(counts.counters[3], 6003);
	CHECK(counts.queried_ns[MLXPMD_COUNTERS] < queries[SYNC_COUNTERS].at_ns[queries[SYNC_COUNTERS].n - 1]);
	CHECK_EQ(info().failures[MLXPMD_COUNTERS], queries[SYNC_COUNTERS].n - info().readings[MLXPMD_COUNTERS]);
	CHECK(info().failures[MLXPMD_COUNTERS] > 0);
	dev_rc = 0;
	/* For a reset: the caller queries the device. */
	dev_value = 7000;
	mlxpmd_counts_read(&port, MLXPMD_COUNTERS, &counts);
	CHECK_EQ(counts.counters[0], 7000);
	dev_raw = 17;
	mlxpmd_counts_read(&port, MLXPMD_MISSED, &counts);
	CHECK_EQ(counts.missed, 17);
	/* A query of the future is 0 old. */
	counts.queried_ns[MLXPMD_MISSED] = now_ns + 1;
	CHECK_EQ(mlxpmd_counts_age_us(&counts, MLXPMD_MISSED), 0);
	counts.queried_ns[MLXPMD_MISSED] = now_ns - 5000 * MS;
	CHECK_EQ(mlxpmd_counts_age_us(&counts, MLXPMD_MISSED), 5000000);
	down();
}

/*
 * A device without such counters is not queried, and its values are always current. Without a channel the worker waits.
 */
static void
lacking(void)
{
	CHECK_OK(up(100));
	down();
	port.q_counter = NULL;
	nb_counters = 0;
	adds_left = MAX_TASKS;
	CHECK_OK(mlxpmd_counts_up(&port));
	CHECK_EQ(opened, 0);
	CHECK(!info().async);
	start();
	queries_clear();
	run_for(20 * S);
	CHECK_EQ(missed(), 0);
	CHECK_EQ(age_us(MLXPMD_MISSED), 0);
	CHECK_EQ(age_us(MLXPMD_COUNTERS), 0);
	run_for(20 * S);
	for (int q = 0; q < NB_QUERIES; q++)
		CHECK_EQ(queries[q].n, 0);
	/* One of the two groups alone. */
	nb_counters = 12;
	(void)missed();
	(void)age_us(MLXPMD_COUNTERS);
	EVERY(SYNC_COUNTERS, 50 * MS);
	CHECK_EQ(queries[SYNC_MISSED].n + queries[ASYNC_MISSED].n, 0);
	down();
	CHECK_OK(up(100));
	nb_counters = 0;
	start();
	(void)missed();
	(void)age_us(MLXPMD_COUNTERS);
	EVERY(ASYNC_MISSED, 50 * MS);
	CHECK_EQ(queries[SYNC_COUNTERS].n, 0);
	down();

	CHECK_OK(up(100));
	down();
	port.args.open = MDV_OPEN_VFIO;
	open_rc = -EOPNOTSUPP;
	adds_left = MAX_TASKS;
	CHECK_OK(mlxpmd_counts_up(&port));
	CHECK(!info().async);
	dev_raw = 4;
	start();
	EVERY(SYNC_MISSED, 75 * MS);
	CHECK_EQ(missed(), 4);
	CHECK_EQ(info().failures[MLXPMD_MISSED], 0);
	dev_rc = -EIO;
	run_for(200 * MS);
	CHECK(queries[SYNC_MISSED].quiet[queries[SYNC_MISSED].n - 1]);
	CHECK_EQ(missed(), 4);
	CHECK_EQ(queries[ASYNC_MISSED].n, 0);
	CHECK_EQ(info().outstanding, 0);
	down();
}

int
main(void)
{
	failed_up();
	uncached();
	periods();
	read_state();
	overdue();
	replies();
	overtaken();
	lost();
	late();
	late_again();
	counters();
	lacking();
	return check_exit("counts_time");
}
