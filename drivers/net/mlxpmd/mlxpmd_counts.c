/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * What the device counts: asked by the port's control thread, so that who reads statistics never waits
 * for a firmware command. Queue counters are asked without waiting, vport and wire by that thread.
 *
 * A running port's are asked for before they have the age that is allowed, whether somebody reads or not: so
 * the first reading finds them young as well. Vport and wire, which cost this thread and the kernel much more,
 * may be UNREAD_AGES as old while nobody reads them, and so may imissed while the application sleeps on all receive
 * queues: none of them misses anything before it is woken. For who reads more than once every LEASE_NS there is more
 * time for an answer. A stopped port's were asked for when it stopped; after that only for who reads, and his
 * first reading finds what there is.
 */

#include <stdlib.h>

#include <mdv_async.h>

#include "mlxpmd_ctrl.h"

#define NS_PER_MS UINT64_C(1000000)
#define LEASE_NS (10000 * NS_PER_MS)
#define UNREAD_AGES 10
/* An answer that has not come by then is not waited for before asking again. */
#define LATE_NS (1000 * NS_PER_MS)
/* But not more often than this. */
#define OUTSTANDING_MAX 16
/* The device's count of 32 bits must not wrap twice between two answers: enough for 800 million a second. */
#define WATCH_NS (5000 * NS_PER_MS)
/* A device that is late at times is told of once in such a time. */
#define QUIET_NS (10000 * NS_PER_MS)

/* Rows of 64-bit words: they are copied as such. */
#define WORDS (sizeof(struct mlxpmd_counts) / sizeof(uint64_t))
static_assert(sizeof(struct mlxpmd_counts) % sizeof(uint64_t) == 0, "rows of words");

/* When a kind of counts is due. */
struct turn {
	uint64_t read_ns;	/* When it was last read by anybody, 0: never. Atomic. */
	uint64_t since_ns;	/* Of those readings the first one after a pause. Atomic. */
	uint64_t tried_ns;	/* When the device was last asked. Atomic. */
	bool wanted;		/* By who found it old: atomic. */
	uint64_t late_ns, late_asked_ns; /* When it was found late last, and as of when. Atomic. */
	bool failing;		/* The last answer; and that was logged. Atomic. */
	pthread_mutex_t asking;	/* Of who waits for the device: one after the other. Taken before the cache's. */
};

struct mlxpmd_counts_cache {
	struct mdv_async *async; /* NULL: the control thread waits for the device. */
	bool ended;		/* No answers come any more. Control thread only, as the next three. */
	bool full;		/* So many answers are missing that the control thread waits. */
	uint64_t youngest_ns;	/* Query whose answer is waited for, by when it was made; 0: none. */
	uint64_t answered_ns;	/* The youngest that was answered. */
	uint64_t age_ns;	/* 0: no cache. */
	bool asleep;		/* The application sleeps on all receive queues. Atomic. */
	struct turn turn[MLXPMD_NB_COUNTS];
	/* The one that was written last is read by all, without a lock: slot[generation & 1]. */
	uint32_t generation;
	struct mlxpmd_counts slot[2];
	pthread_mutex_t lock;	/* Of who has new counts; of what stands below. Readers have no need of it. */
	struct mlxpmd_counts last;
	uint32_t missed_raw;	/* As the device tells it: 32 bits. */
	uint64_t missed_known_ns; /* When that was here: what was asked since then is younger. */
	bool missed_asking;	/* Somebody waits for the device's answer. */
	struct mlxpmd_counts_info info;
	uint64_t answer[MDV_Q_COUNTER_REPLY_BYTES / sizeof(uint64_t)];
};

/* ------------------------------------------------------------------ one writer at a time, many readers */

static void
publish(struct mlxpmd_counts_cache *c)
{
	const uint64_t *from = (const uint64_t *)&c->last;
	uint32_t generation = c->generation + 1;
	uint64_t *to = (uint64_t *)&c->slot[generation & 1];

	/* Each release orders the number's last store before the word: who gets such a word sees it moved. */
	for (unsigned int i = 0; i < WORDS; i++)
		__atomic_store_n(&to[i], from[i], __ATOMIC_RELEASE);
	/* All words are seen before the number that names them. */
	__atomic_store_n(&c->generation, generation, __ATOMIC_RELEASE);
}

/* Words first .. first + n - 1 of the counts, all of one generation. */
static void
words_get(const struct mlxpmd_counts_cache *c, struct mlxpmd_counts *out, size_t first, size_t n)
{
	uint64_t *to = (uint64_t *)out;
	uint32_t generation;

	do {
		generation = __atomic_load_n(&c->generation, __ATOMIC_ACQUIRE);
		for (size_t i = first; i < first + n; i++)
			to[i] = __atomic_load_n((const uint64_t *)&c->slot[generation & 1] + i,
						__ATOMIC_ACQUIRE);
	} while (__atomic_load_n(&c->generation, __ATOMIC_ACQUIRE) != generation);
}

static void
snapshot(const struct mlxpmd_counts_cache *c, enum mlxpmd_counts_of which, struct mlxpmd_counts *out)
{
	/* The times and missed stand in front of the counters. */
	words_get(c, out, 0, which == MLXPMD_MISSED ?
		  offsetof(struct mlxpmd_counts, counters) / sizeof(uint64_t) : WORDS);
}

/* ------------------------------------------------------------------ what the device said */

static void
answered(struct mlxpmd_counts_cache *c, enum mlxpmd_counts_of which, int rc)
{
	__atomic_store_n(&c->turn[which].failing, rc != 0, __ATOMIC_RELAXED);
	if (rc == 0)
		c->info.readings[which]++;
	else
		c->info.failures[which]++;
}

/*
 * Under the lock. A 0 after another number tells nothing: a count does not go back, and the kernel leaves
 * zeros when it gives a query up.
 */
static void
missed_take(struct mlxpmd_counts_cache *c, uint32_t raw, uint64_t asked_ns)
{
	if (raw == 0 && c->missed_raw != 0)
		return;
	c->last.missed += (uint32_t)(raw - c->missed_raw);
	c->missed_raw = raw;
	c->missed_known_ns = mlxpmd_now_ns();
	c->last.asked_ns[MLXPMD_MISSED] = asked_ns;
	publish(c);
}

/*
 * Under the lock. The device need not execute queries in the order in which they were made: of two that
 * overlapped nobody knows whose count is the younger, and a step back would look like a wrap. The first
 * answer is taken, but for one that somebody waits for: he has asked for what is counted now.
 */
static bool
missed_younger(const struct mlxpmd_counts_cache *c, uint64_t asked_ns)
{
	return !c->missed_asking && asked_ns >= c->missed_known_ns;
}

static bool
failing(const struct mlxpmd_counts_cache *c, enum mlxpmd_counts_of which)
{
	return __atomic_load_n(&c->turn[which].failing, __ATOMIC_RELAXED);
}

static void
missed_read(struct mlxpmd_port *port, bool quiet)
{
	struct mlxpmd_counts_cache *c = port->counts;
	pthread_mutex_t *asking = &c->turn[MLXPMD_MISSED].asking;
	uint64_t asked_ns;
	uint32_t raw;
	int rc;

	if (port->q_counter == NULL)
		return;
	pthread_mutex_lock(asking);
	pthread_mutex_lock(&c->lock);
	c->missed_asking = true;
	pthread_mutex_unlock(&c->lock);
	asked_ns = mlxpmd_now_ns();
	rc = mdv_q_counter_read(port->q_counter, &raw, quiet);
	pthread_mutex_lock(&c->lock);
	c->missed_asking = false;
	answered(c, MLXPMD_MISSED, rc);
	if (rc == 0)
		missed_take(c, raw, asked_ns);
	pthread_mutex_unlock(&c->lock);
	pthread_mutex_unlock(asking);
}

/* Those that are not told keep their last values, with the time of what was told last of all. */
static void
counters_read(struct mlxpmd_port *port)
{
	struct mlxpmd_counts_cache *c = port->counts;
	pthread_mutex_t *asking = &c->turn[MLXPMD_COUNTERS].asking;
	uint64_t asked_ns, values[MDV_COUNTERS_MAX] = { 0 };
	int rc;

	pthread_mutex_lock(asking);
	asked_ns = mlxpmd_now_ns();
	rc = mdv_counters_read(port->mdv, values, mdv_counters_count(port->mdv));
	pthread_mutex_lock(&c->lock);
	answered(c, MLXPMD_COUNTERS, rc);
	memcpy(c->last.counters, values, sizeof(values));
	if (rc == 0)
		c->last.asked_ns[MLXPMD_COUNTERS] = asked_ns;
	publish(c);
	pthread_mutex_unlock(&c->lock);
	pthread_mutex_unlock(asking);
}

/* ------------------------------------------------------------------ the control thread */

/*
 * Whether the control thread has to wait itself. While answers are missing it is asked as often as ever:
 * what is late may come yet, what is lost must not make the counts old for good.
 */
static bool
must_wait(struct mlxpmd_port *port)
{
	struct mlxpmd_counts_cache *c = port->counts;
	bool full;

	if (c->async == NULL || c->ended)
		return true;
	full = mdv_async_outstanding(c->async) >= OUTSTANDING_MAX;
	if (full && !c->full)
		MLXPMD_LOG(WARNING, "port %u: %u queries of the missed count are unanswered: "
			   "the control thread waits for the device", port->port_id, OUTSTANDING_MAX);
	c->full = full;
	return full;
}

static void
missed_ask(struct mlxpmd_port *port, uint64_t now_ns)
{
	struct mlxpmd_counts_cache *c = port->counts;
	bool wait;
	int rc;

	if (port->q_counter == NULL)
		return;
	wait = must_wait(port);
	pthread_mutex_lock(&c->lock);
	c->info.async = !wait;
	pthread_mutex_unlock(&c->lock);
	c->youngest_ns = 0;
	if (wait) {
		missed_read(port, failing(c, MLXPMD_MISSED));
		return;
	}
	mdv_async_quiet(c->async, failing(c, MLXPMD_MISSED));
	rc = mdv_q_counter_read_async(c->async, port->q_counter, now_ns);
	if (rc == 0)
		c->youngest_ns = now_ns;
	pthread_mutex_lock(&c->lock);
	if (rc != 0)
		answered(c, MLXPMD_MISSED, rc);
	c->info.outstanding = mdv_async_outstanding(c->async);
	pthread_mutex_unlock(&c->lock);
}

static void
answers_take(struct mlxpmd_port *port)
{
	struct mlxpmd_counts_cache *c = port->counts;
	struct mdv_async_reply answer;
	uint32_t raw = 0;
	int rc;

	for (;;) {
		mdv_async_quiet(c->async, failing(c, MLXPMD_MISSED));
		rc = mdv_async_take(c->async, c->answer, sizeof(c->answer), &answer);
		if (rc == -EAGAIN)
			return;
		if (rc != 0)
			break;
		if (answer.wr_id == c->youngest_ns)
			c->youngest_ns = 0;
		rc = mdv_q_counter_read_result(&answer, &raw);
		pthread_mutex_lock(&c->lock);
		/* What a slow one says of the device is past. */
		if (answer.wr_id > c->answered_ns)
			answered(c, MLXPMD_MISSED, rc);
		c->answered_ns = RTE_MAX(c->answered_ns, answer.wr_id);
		if (rc == 0 && missed_younger(c, answer.wr_id))
			missed_take(c, raw, answer.wr_id);
		c->info.outstanding = mdv_async_outstanding(c->async);
		pthread_mutex_unlock(&c->lock);
	}
	c->ended = true;
	c->youngest_ns = 0;
	if (!mdv_removed(port->mdv))
		MLXPMD_LOG(WARNING, "port %u: no more answers to queries (%s): "
			   "the control thread waits for the device", port->port_id, rte_strerror(-rc));
}

static bool
running(const struct mlxpmd_port *port)
{
	return __atomic_load_n(&port->running, __ATOMIC_RELAXED);
}

/* A device that has no such counts needs not be asked: what is shown is always true. */
static bool
countless(const struct mlxpmd_port *port, enum mlxpmd_counts_of which)
{
	return which == MLXPMD_MISSED ? port->q_counter == NULL : mdv_counters_count(port->mdv) == 0;
}

/* Whether somebody read it of late. */
static bool
is_leased(const struct turn *t, uint64_t now_ns)
{
	uint64_t read_ns = __atomic_load_n(&t->read_ns, __ATOMIC_ACQUIRE);

	return read_ns != 0 && (now_ns < read_ns || now_ns - read_ns <= LEASE_NS);
}

/* How old these may be while the port runs. */
static uint64_t
allowed_ns(const struct mlxpmd_counts_cache *c, enum mlxpmd_counts_of which, bool leased)
{
	if (leased || (which == MLXPMD_MISSED && !__atomic_load_n(&c->asleep, __ATOMIC_RELAXED)))
		return c->age_ns;
	return UNREAD_AGES * c->age_ns;
}

/* When the device is to be asked; UINT64_MAX: not while the port is stopped and nobody reads. */
static uint64_t
due_ns(const struct mlxpmd_port *port, enum mlxpmd_counts_of which, uint64_t now_ns)
{
	const struct mlxpmd_counts_cache *c = port->counts;
	const struct turn *t = &c->turn[which];
	bool leased = is_leased(t, now_ns);
	uint64_t pause_ns = leased ? c->age_ns / 2 : allowed_ns(c, which, false) / 4 * 3;

	if (countless(port, which) || (!leased && !running(port)))
		return UINT64_MAX;
	if (which == MLXPMD_MISSED) {
		pause_ns = RTE_MIN(pause_ns, WATCH_NS);
		if (c->youngest_ns != 0)
			pause_ns = RTE_MAX(pause_ns, LATE_NS);
	}
	return t->tried_ns + pause_ns;
}

void
mlxpmd_counts_serve(struct mlxpmd_port *port, bool readable)
{
	struct mlxpmd_counts_cache *c = port->counts;
	uint64_t now_ns, due;

	if (readable)
		answers_take(port);
	now_ns = mlxpmd_now_ns(); /* Not before: what was asked then would pass for older than the answers. */
	if (c->age_ns == 0 || mdv_removed(port->mdv))
		return;
	for (int which = 0; which < MLXPMD_NB_COUNTS; which++) {
		due = due_ns(port, which, now_ns);
		/* Who wanted it was forgotten meanwhile: the next one is to wake this thread again. */
		if (due <= now_ns || due == UINT64_MAX)
			__atomic_store_n(&c->turn[which].wanted, false, __ATOMIC_RELEASE);
		if (now_ns < due)
			continue;
		c->turn[which].tried_ns = now_ns;
		if (which == MLXPMD_MISSED)
			missed_ask(port, now_ns);
		else
			counters_read(port);
	}
}

int
mlxpmd_counts_timeout_ms(const struct mlxpmd_port *port)
{
	const struct mlxpmd_counts_cache *c = port->counts;
	uint64_t now_ns = mlxpmd_now_ns(), due = UINT64_MAX;

	if (c->age_ns == 0 || mdv_removed(port->mdv))
		return -1;
	for (int which = 0; which < MLXPMD_NB_COUNTS; which++)
		due = RTE_MIN(due, due_ns(port, which, now_ns));
	if (due == UINT64_MAX)
		return -1;
	return due <= now_ns ? 0 : (due - now_ns) / NS_PER_MS + 1;
}

int
mlxpmd_counts_fd(const struct mlxpmd_port *port)
{
	const struct mlxpmd_counts_cache *c = port->counts;

	/* Of a removed device it would be readable for ever. */
	return c->async != NULL && !c->ended ? mdv_async_fd(c->async) : -1;
}

/* ------------------------------------------------------------------ readers */

/* What is shown is older than was promised: one line, however many readers see it, and how often. */
static void
late_tell(struct mlxpmd_port *port, enum mlxpmd_counts_of which, uint64_t asked_ns, uint64_t now_ns)
{
	static const char *const names[] = { "imissed", "counts of vport and wire" };
	struct turn *t = &port->counts->turn[which];
	uint64_t late_ns = __atomic_exchange_n(&t->late_ns, now_ns, __ATOMIC_RELAXED);

	if (__atomic_exchange_n(&t->late_asked_ns, asked_ns, __ATOMIC_RELAXED) == asked_ns ||
	    (late_ns != 0 && now_ns < late_ns + QUIET_NS))
		return;
	MLXPMD_LOG(WARNING, "port %u: the device does not answer in time: %s stay as they were %" PRIu64 " ms ago",
		   port->port_id, names[which], (now_ns - asked_ns) / NS_PER_MS);
}

void
mlxpmd_counts_read(struct mlxpmd_port *port, enum mlxpmd_counts_of which,
		   struct mlxpmd_counts *counts)
{
	if (which == MLXPMD_MISSED)
		missed_read(port, false);
	else
		counters_read(port);
	snapshot(port->counts, which, counts);
}

void
mlxpmd_counts_get(struct mlxpmd_port *port, enum mlxpmd_counts_of which,
		  struct mlxpmd_counts *counts)
{
	struct mlxpmd_counts_cache *c = port->counts;
	uint64_t now_ns = mlxpmd_now_ns(), late_ns;
	struct turn *t = &c->turn[which];
	bool leased;

	if (c->age_ns == 0) {
		mlxpmd_counts_read(port, which, counts);
		return;
	}
	leased = is_leased(t, now_ns);
	if (!leased)
		__atomic_store_n(&t->since_ns, now_ns, __ATOMIC_RELAXED);
	__atomic_store_n(&t->read_ns, now_ns, __ATOMIC_RELEASE);
	snapshot(c, which, counts);
	if (countless(port, which))
		counts->asked_ns[which] = now_ns;
	if (countless(port, which) || mdv_removed(port->mdv))
		return;
	/* What was old by right when reading began has from then on to become young. */
	late_ns = counts->asked_ns[which] + allowed_ns(c, which, leased);
	if (leased)
		late_ns = RTE_MAX(late_ns, __atomic_load_n(&t->since_ns, __ATOMIC_RELAXED));
	/* A refusal has its line already. */
	if (running(port) && now_ns > late_ns + LATE_NS && !failing(c, which))
		late_tell(port, which, counts->asked_ns[which], now_ns);
	/* With the first reading the control thread's pause is over. */
	if (now_ns < counts->asked_ns[which] + c->age_ns &&
	    (leased || allowed_ns(c, which, false) == c->age_ns))
		return;
	if (!__atomic_exchange_n(&t->wanted, true, __ATOMIC_ACQ_REL))
		mlxpmd_service_wake(port);
}

void
mlxpmd_counts_asleep(struct mlxpmd_port *port, bool asleep)
{
	__atomic_store_n(&port->counts->asleep, asleep, __ATOMIC_RELAXED);
}

void
mlxpmd_counts_settle(struct mlxpmd_port *port)
{
	struct mlxpmd_counts_cache *c = port->counts;

	if (c->age_ns == 0 || mdv_removed(port->mdv))
		return;
	mlxpmd_counts_asleep(port, false);
	missed_read(port, failing(c, MLXPMD_MISSED));
	counters_read(port);
	for (int which = 0; which < MLXPMD_NB_COUNTS; which++) {
		__atomic_store_n(&c->turn[which].read_ns, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&c->turn[which].wanted, false, __ATOMIC_RELEASE);
	}
}

uint64_t
mlxpmd_counts_age_us(const struct mlxpmd_counts *counts, enum mlxpmd_counts_of which)
{
	uint64_t now_ns = mlxpmd_now_ns();

	return now_ns > counts->asked_ns[which] ? (now_ns - counts->asked_ns[which]) / 1000 : 0;
}

void
mlxpmd_counts_info_get(struct mlxpmd_port *port, struct mlxpmd_counts_info *info)
{
	pthread_mutex_lock(&port->counts->lock);
	*info = port->counts->info;
	pthread_mutex_unlock(&port->counts->lock);
}

/* ------------------------------------------------------------------ stage of probe */

/* A queue counter that was just made is 0, which is a reading. */
int
mlxpmd_counts_up(struct mlxpmd_port *port)
{
	struct mlxpmd_counts_cache *c = calloc(1, sizeof(*c));
	int rc;

	if (c == NULL) {
		MLXPMD_LOG(ERR, "port %u: no memory for the device's counters", port->port_id);
		return -ENOMEM;
	}
	c->age_ns = port->args.stats_age_ms * NS_PER_MS;
	rc = port->q_counter != NULL ? mdv_async_open(port->mdv, &c->async) : 0;
	if (rc != 0 && rc != -EOPNOTSUPP) {
		free(c);
		return rc;
	}
	c->info.async = c->async != NULL;
	c->last.asked_ns[MLXPMD_MISSED] = mlxpmd_now_ns();
	c->turn[MLXPMD_MISSED].tried_ns = c->last.asked_ns[MLXPMD_MISSED];
	for (int which = 0; which < MLXPMD_NB_COUNTS; which++)
		pthread_mutex_init(&c->turn[which].asking, NULL);
	pthread_mutex_init(&c->lock, NULL);
	publish(c);
	port->counts = c;
	if (c->age_ns != 0)
		counters_read(port);
	return 0;
}

void
mlxpmd_counts_down(struct mlxpmd_port *port)
{
	struct mlxpmd_counts_cache *c = port->counts;

	if (c == NULL)
		return;
	port->counts = NULL;
	mdv_async_close(c->async);
	pthread_mutex_destroy(&c->lock);
	for (int which = 0; which < MLXPMD_NB_COUNTS; which++)
		pthread_mutex_destroy(&c->turn[which].asking);
	free(c);
}
