/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * The device's counters. Two groups: imissed, and vport and physical counters.
 *
 * Each group has a task that queries it. How often depends on three things: whether the group was read in the last
 * ten seconds, whether the port runs, and for imissed whether the application sleeps on all receive queues. The first
 * frame wakes it, so no frame is missed while it sleeps. See query_period_ns().
 *
 * imissed is queried without waiting, by the control thread. Vport and physical counters, and imissed where there is no
 * asynchronous query, are queried by the port's worker.
 */

#include <rte_malloc.h>

#include <mdv_async.h>

#include "mlxpmd_ctrl.h"

/* A group that was not read for so long counts as unread. */
#define READ_NS (10000 * MLXPMD_NS_PER_MS)
/* The expensive group may be so many times older while it is unread. */
#define UNREAD_AGES 10
/* A query without a reply for so long is issued again, and a reader logs it. */
#define LATE_NS (1000 * MLXPMD_NS_PER_MS)
/* Limit of asynchronous queries without a reply. */
#define OUTSTANDING_MAX 16
/* The device's count of 32 bits must not wrap twice between two replies: enough for 800 million frames a second. */
#define WRAP_NS (5000 * MLXPMD_NS_PER_MS)
/* Late replies are logged once in such a time. */
#define QUIET_NS (10000 * MLXPMD_NS_PER_MS)

/* struct mlxpmd_counts is copied by words. */
#define WORDS (sizeof(struct mlxpmd_counts) / sizeof(uint64_t))
static_assert(sizeof(struct mlxpmd_counts) % sizeof(uint64_t) == 0, "rows of words");

/* One group. */
struct group {
	uint64_t read_ns;	/* When it was last read, 0: unread. Atomic. */
	uint64_t read_since_ns;	/* The first reading after it was unread. Atomic. */
	uint64_t queried_ns;	/* When a query was last issued. Atomic. */
	uint64_t late_ns, late_queried_ns; /* When values were last found late, and of which query. Atomic. */
	bool failing;		/* The last query failed, which was logged. Atomic. */
	pthread_mutex_t query_lock; /* Of a caller that waits for the device. Taken before the cache's. */
	bool waiting;		/* Such a caller waits. Under the cache's lock. */
};

struct mlxpmd_counts_cache {
	struct mlxpmd_task missed_task;	/* Control thread: queries imissed, takes replies. */
	struct mlxpmd_task missed_wait_task; /* Worker: queries imissed and waits. */
	struct mlxpmd_task counters_task; /* Worker: queries vport and physical counters. */
	struct mdv_async *async; /* NULL: there are no asynchronous queries. */
	bool ended;		/* The channel is closed. Control thread only, as the next three. */
	bool full;		/* OUTSTANDING_MAX was reached, which was logged. */
	uint64_t replied_ns;	/* The youngest query with a reply. */
	uint64_t age_ns;	/* stats_age_ms; 0: no cache. */
	uint64_t waiting_ns;	/* The youngest query, while it has no reply; 0: none. Atomic. */
	bool asleep;		/* The application sleeps on all receive queues. Atomic. */
	struct group group[MLXPMD_NB_COUNTS];
	/* The latest values are slot[generation & 1]; readers copy them without a lock. */
	uint32_t generation;
	struct mlxpmd_counts slot[2];
	pthread_mutex_t lock;	/* Of the writers, and of all that follows. */
	struct mlxpmd_counts last;
	uint32_t missed_raw;	/* The device's 32 bits. */
	uint64_t missed_known_ns; /* When they arrived: a query that was issued later is younger. */
	struct mlxpmd_counts_info info;
	uint64_t reply[MDV_Q_COUNTER_REPLY_BYTES / sizeof(uint64_t)];
};

/* ------------------------------------------------------------------ one writer at a time, many readers */

static void
publish(struct mlxpmd_counts_cache *c)
{
	const uint64_t *from = (const uint64_t *)&c->last;
	uint32_t generation = c->generation + 1;
	uint64_t *to = (uint64_t *)&c->slot[generation & 1];

	/* Release: a reader that gets a word of this generation also sees that the previous one is overwritten. */
	for (unsigned int i = 0; i < WORDS; i++)
		__atomic_store_n(&to[i], from[i], __ATOMIC_RELEASE);
	/* Release: all words are visible before the generation that names them. */
	__atomic_store_n(&c->generation, generation, __ATOMIC_RELEASE);
}

/* Copies the counts of one generation. */
static void
snapshot(const struct mlxpmd_counts_cache *c, enum mlxpmd_counts_of which, struct mlxpmd_counts *out)
{
	/* Times and imissed precede the other counters. */
	const size_t n = which == MLXPMD_MISSED ? offsetof(struct mlxpmd_counts, counters) / sizeof(uint64_t) : WORDS;
	uint64_t *to = (uint64_t *)out;
	uint32_t generation;

	do {
		generation = __atomic_load_n(&c->generation, __ATOMIC_ACQUIRE);
		for (size_t i = 0; i < n; i++)
			to[i] = __atomic_load_n((const uint64_t *)&c->slot[generation & 1] + i,
						__ATOMIC_ACQUIRE);
	} while (__atomic_load_n(&c->generation, __ATOMIC_ACQUIRE) != generation);
}

/* ------------------------------------------------------------------ replies */

static void
replied(struct mlxpmd_counts_cache *c, enum mlxpmd_counts_of which, int rc)
{
	__atomic_store_n(&c->group[which].failing, rc != 0, __ATOMIC_RELAXED);
	if (rc == 0)
		c->info.readings[which]++;
	else
		c->info.failures[which]++;
}

/*
 * The lock is held. A 0 after another value is no count: a counter does not go back, and the kernel leaves an outbox
 * of zeros when it gives a command up.
 */
static void
missed_store(struct mlxpmd_counts_cache *c, uint32_t raw, uint64_t queried_ns)
{
	if (raw == 0 && c->missed_raw != 0)
		return;
	c->last.missed += (uint32_t)(raw - c->missed_raw);
	c->missed_raw = raw;
	c->missed_known_ns = mlxpmd_now_ns();
	c->last.queried_ns[MLXPMD_MISSED] = queried_ns;
	publish(c);
}

/* The lock is held. */
static void
counters_store(struct mlxpmd_counts_cache *c, const uint64_t *values, uint64_t queried_ns)
{
	memcpy(c->last.counters, values, sizeof(c->last.counters));
	c->last.queried_ns[MLXPMD_COUNTERS] = queried_ns;
	publish(c);
}

static bool
failing(const struct mlxpmd_counts_cache *c, enum mlxpmd_counts_of which)
{
	return __atomic_load_n(&c->group[which].failing, __ATOMIC_RELAXED);
}

/*
 * Queries a group and waits for the device. Counters without a reply keep their values; the time is that of the last
 * complete reply. quiet: a refused query of imissed is not logged.
 */
static void
group_read(struct mlxpmd_port *port, enum mlxpmd_counts_of which, bool quiet)
{
	struct mlxpmd_counts_cache *c = port->counts;
	struct group *g = &c->group[which];
	uint64_t queried_ns, values[MDV_COUNTERS_MAX] = { 0 };
	uint32_t raw = 0;
	int rc;

	if (which == MLXPMD_MISSED && port->q_counter == NULL)
		return;
	pthread_mutex_lock(&g->query_lock);
	pthread_mutex_lock(&c->lock);
	g->waiting = true;
	pthread_mutex_unlock(&c->lock);
	queried_ns = mlxpmd_now_ns();
	rc = which == MLXPMD_MISSED ? mdv_q_counter_read(port->q_counter, &raw, quiet) :
	     mdv_counters_read(port->mdv, values, mdv_counters_count(port->mdv));
	pthread_mutex_lock(&c->lock);
	g->waiting = false;
	replied(c, which, rc);
	if (which == MLXPMD_COUNTERS)
		counters_store(c, values, rc == 0 ? queried_ns : c->last.queried_ns[which]);
	else if (rc == 0)
		missed_store(c, raw, queried_ns);
	pthread_mutex_unlock(&c->lock);
	pthread_mutex_unlock(&g->query_lock);
}

/* ------------------------------------------------------------------ when to query */

/* The device has no such counters: the values are always current. */
static bool
is_empty(const struct mlxpmd_port *port, enum mlxpmd_counts_of which)
{
	return which == MLXPMD_MISSED ? port->q_counter == NULL : mdv_counters_count(port->mdv) == 0;
}

static bool
was_read(const struct group *g, uint64_t now_ns)
{
	uint64_t read_ns = __atomic_load_n(&g->read_ns, __ATOMIC_ACQUIRE);

	/* Signed: another thread may have read it after now_ns. 0 is long ago but for a host that just booted. */
	return (int64_t)(now_ns - read_ns) <= (int64_t)READ_NS;
}

/* The age that the values of a running port may have. */
static uint64_t
allowed_ns(const struct mlxpmd_counts_cache *c, enum mlxpmd_counts_of which, bool read)
{
	if (read || (which == MLXPMD_MISSED && !__atomic_load_n(&c->asleep, __ATOMIC_RELAXED)))
		return c->age_ns;
	return UNREAD_AGES * c->age_ns;
}

/*
 * Time from one query to the next: half of the allowed age while the group is read, which leaves time for the reply,
 * else three quarters. A stopped port's counters are queried only while they are read.
 */
static uint64_t
query_period_ns(const struct mlxpmd_port *port, enum mlxpmd_counts_of which, uint64_t now_ns)
{
	const struct mlxpmd_counts_cache *c = port->counts;
	bool read = was_read(&c->group[which], now_ns);
	uint64_t period_ns = read ? c->age_ns / 2 : allowed_ns(c, which, false) / 4 * 3;

	if (is_empty(port, which) || mdv_removed(port->mdv) || (!read && !mlxpmd_running(port)))
		return MLXPMD_TASK_IDLE;
	if (which == MLXPMD_COUNTERS)
		return period_ns;
	period_ns = RTE_MIN(period_ns, WRAP_NS);
	return __atomic_load_n(&c->waiting_ns, __ATOMIC_RELAXED) != 0 ? RTE_MAX(period_ns, LATE_NS) : period_ns;
}

/* Time until the next query, 0: now. */
static uint64_t
query_in_ns(const struct mlxpmd_port *port, enum mlxpmd_counts_of which, uint64_t now_ns)
{
	uint64_t due_ns = query_period_ns(port, which, now_ns);

	if (due_ns == MLXPMD_TASK_IDLE)
		return MLXPMD_TASK_IDLE;
	due_ns += __atomic_load_n(&port->counts->group[which].queried_ns, __ATOMIC_RELAXED);
	return due_ns > now_ns ? due_ns - now_ns : 0;
}

static void
queried(struct mlxpmd_counts_cache *c, enum mlxpmd_counts_of which, uint64_t now_ns)
{
	__atomic_store_n(&c->group[which].queried_ns, now_ns, __ATOMIC_RELAXED);
}

/* ------------------------------------------------------------------ tasks */

/* Whether the worker has to wait for the reply instead. */
static bool
must_wait(struct mlxpmd_port *port)
{
	struct mlxpmd_counts_cache *c = port->counts;
	bool full;

	if (c->async == NULL || c->ended)
		return true;
	full = mdv_async_outstanding(c->async) >= OUTSTANDING_MAX;
	if (full && !c->full)
		MLXPMD_LOG(WARNING, "port %u: %u queries of the missed count have no reply: "
			   "the worker waits for the device", port->port_id, OUTSTANDING_MAX);
	c->full = full;
	return full;
}

static void
missed_query(struct mlxpmd_port *port, uint64_t now_ns)
{
	struct mlxpmd_counts_cache *c = port->counts;
	bool wait = must_wait(port);
	int rc = 0;

	if (!wait) {
		mdv_async_quiet(c->async, failing(c, MLXPMD_MISSED));
		rc = mdv_q_counter_read_async(c->async, port->q_counter, now_ns);
	}
	__atomic_store_n(&c->waiting_ns, !wait && rc == 0 ? now_ns : 0, __ATOMIC_RELAXED);
	pthread_mutex_lock(&c->lock);
	c->info.async = !wait;
	if (rc != 0)
		replied(c, MLXPMD_MISSED, rc);
	if (c->async != NULL)
		c->info.outstanding = mdv_async_outstanding(c->async);
	pthread_mutex_unlock(&c->lock);
	if (wait)
		mlxpmd_task_request(&c->missed_wait_task);
}

static void
reply_store(struct mlxpmd_counts_cache *c, const struct mdv_async_reply *reply)
{
	uint64_t queried_ns = reply->wr_id;
	uint32_t raw = 0;
	int rc = mdv_q_counter_read_result(reply, &raw);

	if (queried_ns == __atomic_load_n(&c->waiting_ns, __ATOMIC_RELAXED))
		__atomic_store_n(&c->waiting_ns, 0, __ATOMIC_RELAXED);
	pthread_mutex_lock(&c->lock);
	/* A reply that was overtaken does not change whether the device fails. */
	if (queried_ns > c->replied_ns)
		replied(c, MLXPMD_MISSED, rc);
	c->replied_ns = RTE_MAX(c->replied_ns, queried_ns);
	/*
	 * The device may execute queries in any order: of two that overlap it is unknown which count is younger, and a
	 * step back would look like a wrap. The first reply is used, unless a caller waits for its own, which must not
	 * be older than the call. A query issued at the very time of that reply may have been executed before it.
	 */
	if (rc == 0 && !c->group[MLXPMD_MISSED].waiting && queried_ns > c->missed_known_ns)
		missed_store(c, raw, queried_ns);
	c->info.outstanding = mdv_async_outstanding(c->async);
	pthread_mutex_unlock(&c->lock);
}

static void
replies_take(struct mlxpmd_port *port)
{
	struct mlxpmd_counts_cache *c = port->counts;
	struct mdv_async_reply reply;
	int rc;

	for (;;) {
		mdv_async_quiet(c->async, failing(c, MLXPMD_MISSED));
		rc = mdv_async_take(c->async, c->reply, sizeof(c->reply), &reply);
		if (rc == -EAGAIN)
			return;
		if (rc != 0)
			break;
		reply_store(c, &reply);
	}
	c->ended = true;
	c->missed_task.fd = -1; /* It stays readable. */
	__atomic_store_n(&c->waiting_ns, 0, __ATOMIC_RELAXED);
	if (!mdv_removed(port->mdv))
		MLXPMD_LOG(WARNING, "port %u: no more replies to queries (%s): "
			   "the worker waits for the device", port->port_id, rte_strerror(-rc));
}

static uint64_t
missed_run(void *arg)
{
	struct mlxpmd_port *port = arg;
	struct mlxpmd_counts_cache *c = port->counts;
	uint64_t now_ns;

	if (c->missed_task.revents != 0)
		replies_take(port);
	now_ns = mlxpmd_now_ns(); /* After the replies: a query must not seem older than they are. */
	if (query_in_ns(port, MLXPMD_MISSED, now_ns) == 0) {
		queried(c, MLXPMD_MISSED, now_ns);
		missed_query(port, now_ns);
	}
	return query_in_ns(port, MLXPMD_MISSED, now_ns);
}

static uint64_t
missed_wait_run(void *arg)
{
	struct mlxpmd_port *port = arg;

	group_read(port, MLXPMD_MISSED, failing(port->counts, MLXPMD_MISSED));
	return MLXPMD_TASK_IDLE;
}

static uint64_t
counters_run(void *arg)
{
	struct mlxpmd_port *port = arg;
	uint64_t now_ns = mlxpmd_now_ns();

	if (query_in_ns(port, MLXPMD_COUNTERS, now_ns) == 0) {
		queried(port->counts, MLXPMD_COUNTERS, now_ns);
		group_read(port, MLXPMD_COUNTERS, false);
	}
	return query_in_ns(port, MLXPMD_COUNTERS, mlxpmd_now_ns());
}

static void
task_request(struct mlxpmd_counts_cache *c, enum mlxpmd_counts_of which)
{
	mlxpmd_task_request(which == MLXPMD_MISSED ? &c->missed_task : &c->counters_task);
}

/* ------------------------------------------------------------------ readers */

/* Logs once that the values are older than promised, however many readers find it. */
static void
late_log(struct mlxpmd_port *port, enum mlxpmd_counts_of which, uint64_t queried_ns, uint64_t now_ns)
{
	static const char *const names[] = { "imissed is", "vport and physical counters are" };
	struct group *g = &port->counts->group[which];
	uint64_t late_ns = __atomic_exchange_n(&g->late_ns, now_ns, __ATOMIC_RELAXED);

	if (__atomic_exchange_n(&g->late_queried_ns, queried_ns, __ATOMIC_RELAXED) == queried_ns ||
	    (late_ns != 0 && now_ns < late_ns + QUIET_NS))
		return;
	MLXPMD_LOG(WARNING, "port %u: the device does not answer in time: %s of %" PRIu64 " ms ago",
		   port->port_id, names[which], (now_ns - queried_ns) / MLXPMD_NS_PER_MS);
}

/* read: the group was read recently, so these values had to become young since. */
static bool
is_late(struct mlxpmd_port *port, enum mlxpmd_counts_of which, uint64_t queried_ns, uint64_t now_ns, bool read)
{
	struct mlxpmd_counts_cache *c = port->counts;
	uint64_t due_ns = queried_ns + allowed_ns(c, which, read);

	if (read)
		due_ns = RTE_MAX(due_ns, __atomic_load_n(&c->group[which].read_since_ns, __ATOMIC_RELAXED));
	/* A refusal was logged where it happened. */
	return mlxpmd_running(port) && now_ns > due_ns + LATE_NS && !failing(c, which);
}

uint64_t
mlxpmd_counts_missed(const struct mlxpmd_port *port)
{
	struct mlxpmd_counts counts;

	snapshot(port->counts, MLXPMD_MISSED, &counts);
	return counts.missed;
}

void
mlxpmd_counts_read(struct mlxpmd_port *port, enum mlxpmd_counts_of which,
		   struct mlxpmd_counts *counts)
{
	group_read(port, which, false);
	snapshot(port->counts, which, counts);
}

void
mlxpmd_counts_get(struct mlxpmd_port *port, enum mlxpmd_counts_of which,
		  struct mlxpmd_counts *counts)
{
	struct mlxpmd_counts_cache *c = port->counts;
	uint64_t now_ns = mlxpmd_now_ns();
	const bool primary = rte_eal_process_type() == RTE_PROC_PRIMARY;
	struct group *g = &c->group[which];
	bool read;

	if (c->age_ns == 0 && primary) {
		mlxpmd_counts_read(port, which, counts);
		return;
	}
	read = was_read(g, now_ns);
	if (!read)
		__atomic_store_n(&g->read_since_ns, now_ns, __ATOMIC_RELAXED);
	__atomic_store_n(&g->read_ns, now_ns, __ATOMIC_RELEASE);
	snapshot(c, which, counts);
	if (is_empty(port, which))
		counts->queried_ns[which] = now_ns;
	/* A secondary process requests nothing: the tasks of the primary one find that the group is read. */
	if (is_empty(port, which) || mdv_removed(port->mdv) || !primary)
		return;
	if (is_late(port, which, counts->queried_ns[which], now_ns, read))
		late_log(port, which, counts->queried_ns[which], now_ns);
	/* The first reading shortens the period; a query that is due but was not issued is requested. */
	if (!read || (now_ns >= counts->queried_ns[which] + c->age_ns && query_in_ns(port, which, now_ns) == 0))
		task_request(c, which);
}

void
mlxpmd_counts_asleep(struct mlxpmd_port *port, bool asleep)
{
	struct mlxpmd_counts_cache *c = port->counts;

	if (__atomic_exchange_n(&c->asleep, asleep, __ATOMIC_RELAXED) != asleep && !asleep)
		task_request(c, MLXPMD_MISSED);
}

void
mlxpmd_counts_settle(struct mlxpmd_port *port)
{
	struct mlxpmd_counts_cache *c = port->counts;

	if (c->age_ns == 0 || mdv_removed(port->mdv))
		return;
	__atomic_store_n(&c->asleep, false, __ATOMIC_RELAXED);
	for (int which = 0; which < MLXPMD_NB_COUNTS; which++) {
		group_read(port, which, failing(c, which));
		__atomic_store_n(&c->group[which].read_ns, 0, __ATOMIC_RELEASE);
		task_request(c, which);
	}
}

uint64_t
mlxpmd_counts_age_us(const struct mlxpmd_counts *counts, enum mlxpmd_counts_of which)
{
	uint64_t now_ns = mlxpmd_now_ns();

	return now_ns > counts->queried_ns[which] ? (now_ns - counts->queried_ns[which]) / MLXPMD_NS_PER_US : 0;
}

void
mlxpmd_counts_info_get(struct mlxpmd_port *port, struct mlxpmd_counts_info *info)
{
	pthread_mutex_lock(&port->counts->lock);
	*info = port->counts->info;
	pthread_mutex_unlock(&port->counts->lock);
}

/* ------------------------------------------------------------------ stage of probe */

static int
task_add(struct mlxpmd_port *port, struct mlxpmd_sched *sched, struct mlxpmd_task *task, const char *name,
	 uint64_t (*run)(void *arg), int fd)
{
	*task = (struct mlxpmd_task){ .name = name, .port_id = port->port_id, .run = run, .arg = port, .fd = fd };
	return mlxpmd_task_add(sched, task, MLXPMD_TASK_IDLE);
}

static int
tasks_add(struct mlxpmd_port *port)
{
	struct mlxpmd_counts_cache *c = port->counts;
	int rc = task_add(port, NULL, &c->missed_task, "imissed", missed_run,
			  c->async != NULL ? mdv_async_fd(c->async) : -1);

	if (rc == 0)
		rc = task_add(port, &port->worker, &c->missed_wait_task, "imissed_wait", missed_wait_run, -1);
	return rc == 0 ? task_add(port, &port->worker, &c->counters_task, "counters", counters_run, -1) : rc;
}

/* A queue counter that was just created is 0, which is a reading. */
int
mlxpmd_counts_up(struct mlxpmd_port *port)
{
	struct mlxpmd_counts_cache *c = rte_zmalloc("mlxpmd_counts", sizeof(*c), 0);
	int rc;

	if (c == NULL)
		return MLXPMD_FAIL(ENOMEM, "port %u: no memory for the device's counters", port->port_id);
	c->age_ns = port->args.stats_age_ms * MLXPMD_NS_PER_MS;
	rc = port->q_counter != NULL ? mdv_async_open(port->mdv, &c->async) : 0;
	if (rc != 0 && rc != -EOPNOTSUPP) {
		rte_free(c);
		return rc;
	}
	c->info.async = c->async != NULL;
	c->last.queried_ns[MLXPMD_MISSED] = mlxpmd_now_ns();
	queried(c, MLXPMD_MISSED, c->last.queried_ns[MLXPMD_MISSED]);
	for (int which = 0; which < MLXPMD_NB_COUNTS; which++)
		pthread_mutex_init(&c->group[which].query_lock, NULL);
	pthread_mutex_init(&c->lock, NULL);
	publish(c);
	port->counts = c;
	if (c->age_ns == 0)
		return 0;
	group_read(port, MLXPMD_COUNTERS, false);
	rc = tasks_add(port);
	if (rc != 0)
		mlxpmd_counts_down(port);
	return rc;
}

void
mlxpmd_counts_down(struct mlxpmd_port *port)
{
	struct mlxpmd_counts_cache *c = port->counts;

	if (c == NULL)
		return;
	/* The control thread's first: it requests one of the worker's. */
	mlxpmd_task_remove(&c->missed_task);
	mlxpmd_task_remove(&c->missed_wait_task);
	mlxpmd_task_remove(&c->counters_task);
	port->counts = NULL;
	mdv_async_close(c->async);
	pthread_mutex_destroy(&c->lock);
	for (int which = 0; which < MLXPMD_NB_COUNTS; which++)
		pthread_mutex_destroy(&c->group[which].query_lock);
	rte_free(c);
}
