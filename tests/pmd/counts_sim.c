/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* See counts_sim.h. */

#include <poll.h>
#include <time.h>

#include "counts_sim.h"

/* Descriptor of the channel for replies. */
#define ASYNC_FD 77
#define FIRST_NS (100 * S)

int mlxpmd_logtype;

/* ------------------------------------------------------------------ locks, log */

int locks;
static int locks_held;
char last_line[256];
unsigned int warnings, errors;

int __real_pthread_mutex_init(pthread_mutex_t *lock, const pthread_mutexattr_t *attr);
int __wrap_pthread_mutex_init(pthread_mutex_t *lock, const pthread_mutexattr_t *attr);
int
__wrap_pthread_mutex_init(pthread_mutex_t *lock, const pthread_mutexattr_t *attr)
{
	pthread_mutexattr_t checked;

	CHECK(attr == NULL);
	locks++;
	pthread_mutexattr_init(&checked);
	pthread_mutexattr_settype(&checked, PTHREAD_MUTEX_ERRORCHECK);
	return __real_pthread_mutex_init(lock, &checked);
}

int __real_pthread_mutex_destroy(pthread_mutex_t *lock);
int __wrap_pthread_mutex_destroy(pthread_mutex_t *lock);
int
__wrap_pthread_mutex_destroy(pthread_mutex_t *lock)
{
	locks--;
	return __real_pthread_mutex_destroy(lock);
}

/* All use is in one thread: a lock that is taken twice, or released without being held, is an error. */
int __real_pthread_mutex_lock(pthread_mutex_t *lock);
int __wrap_pthread_mutex_lock(pthread_mutex_t *lock);
int
__wrap_pthread_mutex_lock(pthread_mutex_t *lock)
{
	locks_held++;
	CHECK_OK(__real_pthread_mutex_lock(lock));
	return 0;
}

int __real_pthread_mutex_unlock(pthread_mutex_t *lock);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *lock);
int
__wrap_pthread_mutex_unlock(pthread_mutex_t *lock)
{
	locks_held--;
	CHECK_OK(__real_pthread_mutex_unlock(lock));
	return 0;
}

int __wrap_rte_log(uint32_t level, uint32_t type, const char *format, ...) __rte_format_printf(3, 4);
int
__wrap_rte_log(uint32_t level, uint32_t type, const char *format, ...)
{
	va_list ap;

	CHECK_EQ(type, mlxpmd_logtype);
	warnings += level == RTE_LOG_WARNING;
	errors += level == RTE_LOG_ERR;
	va_start(ap, format);
	vsnprintf(last_line, sizeof(last_line), format, ap);
	va_end(ap);
	return 0;
}

/* ------------------------------------------------------------------ scheduler */

static struct mlxpmd_sched control; /* NULL for the driver: the process's control thread. */
struct mlxpmd_port port;
static struct mlxpmd_task *tasks[MAX_TASKS];
static uint64_t due_ns[MAX_TASKS];
unsigned int nb_tasks, adds_left;

static int
task_index(const struct mlxpmd_task *task)
{
	for (unsigned int i = 0; i < nb_tasks; i++)
		if (tasks[i] == task)
			return i;
	return -1;
}

int
mlxpmd_task_add(struct mlxpmd_sched *worker, struct mlxpmd_task *task, uint64_t delay_ns)
{
	if (adds_left-- == 0)
		return -EAGAIN;
	CHECK(nb_tasks < MAX_TASKS && task->run != NULL && task->arg == &port && task->port_id == 3);
	CHECK_EQ(delay_ns, MLXPMD_TASK_IDLE);
	CHECK(worker == (strcmp(task->name, "imissed") == 0 ? NULL : &port.worker), "%s", task->name);
	CHECK_EQ(task->fd, strcmp(task->name, "imissed") == 0 && port.q_counter != NULL &&
		 port.args.open != MDV_OPEN_VFIO ? ASYNC_FD : -1);
	task->sched = worker != NULL ? worker : &control;
	due_ns[nb_tasks] = NEVER;
	tasks[nb_tasks++] = task;
	return 0;
}

void
mlxpmd_task_remove(struct mlxpmd_task *task)
{
	int i = task_index(task);

	if (i < 0)
		return;
	nb_tasks--;
	tasks[i] = tasks[nb_tasks];
	due_ns[i] = due_ns[nb_tasks];
	task->sched = NULL;
}

void
mlxpmd_task_request(struct mlxpmd_task *task)
{
	task->requested = task_index(task) >= 0;
}

bool
requested(const char *name)
{
	for (unsigned int i = 0; i < nb_tasks; i++)
		if (strcmp(tasks[i]->name, name) == 0)
			return tasks[i]->requested;
	CHECK(false, "no task %s", name);
	return false;
}

/* ------------------------------------------------------------------ device */

struct queries queries[NB_QUERIES];
struct reply pending[MAX_PENDING];
unsigned int nb_pending, nb_counters, opened;
uint32_t dev_raw;
uint64_t dev_value, sync_ns, async_ns;
int dev_rc, open_rc, start_rc, take_end;
bool removed;
static bool async_quiet, failed; /* failed: the last query of imissed. */
void (*during_sync)(void);

static void
query_note(enum query q, bool quiet)
{
	REQUIRE(queries[q].n < MAX_QUERIES, "too many queries");
	queries[q].quiet[queries[q].n] = quiet;
	queries[q].at_ns[queries[q].n++] = now_ns;
}

bool
mdv_removed(const struct mdv_dev *dev)
{
	(void)dev;
	return removed;
}

int
mdv_q_counter_read(struct mdv_obj *counter, uint32_t *raw, bool quiet)
{
	CHECK(counter != NULL && counter == port.q_counter && locks_held == 1);
	query_note(SYNC_MISSED, quiet);
	now_ns += sync_ns;
	if (during_sync != NULL)
		during_sync();
	if (dev_rc == 0)
		*raw = dev_raw;
	failed = dev_rc != 0;
	return dev_rc;
}

unsigned int
mdv_counters_count(const struct mdv_dev *dev)
{
	(void)dev;
	return nb_counters;
}

int
mdv_counters_read(struct mdv_dev *dev, uint64_t *values, unsigned int n)
{
	(void)dev;
	CHECK(n == nb_counters && locks_held == 1);
	query_note(SYNC_COUNTERS, false);
	now_ns += sync_ns;
	for (unsigned int i = 0; i < n; i++)
		values[i] = dev_value + i;
	return dev_rc;
}

int
mdv_async_open(struct mdv_dev *dev, struct mdv_async **out)
{
	(void)dev;
	*out = open_rc == 0 ? (struct mdv_async *)&opened : NULL;
	opened += open_rc == 0;
	return open_rc;
}

void
mdv_async_close(struct mdv_async *async)
{
	opened -= async != NULL;
	nb_pending = 0;
}

int
mdv_async_fd(const struct mdv_async *async)
{
	CHECK(async != NULL);
	return ASYNC_FD;
}

unsigned int
mdv_async_outstanding(const struct mdv_async *async)
{
	CHECK(async != NULL);
	return nb_pending;
}

void
mdv_async_quiet(struct mdv_async *async, bool quiet)
{
	CHECK(async != NULL);
	async_quiet = quiet;
}

int
mdv_q_counter_read_async(struct mdv_async *async, struct mdv_obj *counter, uint64_t wr_id)
{
	CHECK(async != NULL && counter == port.q_counter && nb_pending < MAX_PENDING);
	CHECK_EQ(wr_id, now_ns);
	CHECK_EQ(async_quiet, failed);
	failed = failed || start_rc != 0;
	query_note(ASYNC_MISSED, async_quiet);
	if (start_rc == 0)
		pending[nb_pending++] = (struct reply){ async_ns == NEVER ? NEVER : now_ns + async_ns, wr_id, dev_raw,
							dev_rc };
	return start_rc;
}

static int
reply_ready(void)
{
	int first = -1;

	for (unsigned int i = 0; i < nb_pending; i++)
		if (pending[i].due_ns <= now_ns && (first < 0 || pending[i].due_ns < pending[first].due_ns))
			first = i;
	return first;
}

int
mdv_async_take(struct mdv_async *async, void *buf, size_t bytes, struct mdv_async_reply *reply)
{
	static struct reply taken;
	int i = reply_ready();

	CHECK(async != NULL && buf != NULL && bytes == MDV_Q_COUNTER_REPLY_BYTES);
	CHECK_EQ(async_quiet, failed);
	if (take_end != 0)
		return take_end;
	if (i < 0)
		return -EAGAIN;
	taken = pending[i];
	pending[i] = pending[--nb_pending];
	*reply = (struct mdv_async_reply){ .wr_id = taken.wr_id, .rc = taken.rc, .out = &taken.raw };
	return 0;
}

int
mdv_q_counter_read_result(const struct mdv_async_reply *reply, uint32_t *raw)
{
	if (reply->rc == 0)
		*raw = *(const uint32_t *)reply->out;
	failed = reply->rc != 0;
	return reply->rc;
}

/* ------------------------------------------------------------------ simulation */

/* Time of the next run of a task: a request, a readable descriptor or its due time. */
static uint64_t
next_ns(unsigned int i)
{
	uint64_t at_ns = tasks[i]->requested ? now_ns : due_ns[i];

	if (tasks[i]->fd != ASYNC_FD) {
		CHECK_EQ(tasks[i]->fd, -1);
		return at_ns;
	}
	if (take_end != 0)
		return now_ns;
	for (unsigned int k = 0; k < nb_pending; k++)
		at_ns = RTE_MIN(at_ns, RTE_MAX(pending[k].due_ns, now_ns));
	return at_ns;
}

void
task_run(unsigned int i)
{
	uint64_t in_ns;

	tasks[i]->requested = false;
	tasks[i]->revents = tasks[i]->fd == ASYNC_FD && (take_end != 0 || reply_ready() >= 0) ? POLLIN : 0;
	in_ns = tasks[i]->run(tasks[i]->arg);
	due_ns[i] = in_ns == MLXPMD_TASK_IDLE ? NEVER : now_ns + in_ns;
}

void
run_until(uint64_t until_ns)
{
	unsigned int runs = 0, next;

	for (;;) {
		next = 0;
		for (unsigned int i = 1; i < nb_tasks; i++)
			if (next_ns(i) < next_ns(next))
				next = i;
		if (nb_tasks == 0 || next_ns(next) > until_ns)
			break;
		now_ns = RTE_MAX(now_ns, next_ns(next));
		task_run(next);
		CHECK_EQ(locks_held, 0);
		if (++runs == 100000) {
			CHECK(false, "a task runs without end");
			exit(EXIT_FAILURE);
		}
	}
	now_ns = RTE_MAX(now_ns, until_ns);
}

void
run_for(uint64_t ns)
{
	run_until(now_ns + ns);
}

void
queries_clear(void)
{
	memset(queries, 0, sizeof(queries));
	warnings = errors = 0;
	last_line[0] = '\0';
}

void
every(enum query q, uint64_t period_ns, int line)
{
	unsigned int i, n;

	queries_clear();
	run_for(period_ns != 0 ? 6 * period_ns - 1 : 20 * S);
	n = queries[q].n;
	CHECK(period_ns == 0 ? n == 0 : n == 5 || n == 6, "line %d: %u queries", line, n);
	for (i = 1; i < n; i++)
		CHECK(queries[q].at_ns[i] - queries[q].at_ns[i - 1] == period_ns, "line %d: after %" PRIu64 " ns", line,
		      queries[q].at_ns[i] - queries[q].at_ns[i - 1]);
}

uint64_t
missed(void)
{
	struct mlxpmd_counts counts;

	mlxpmd_counts_get(&port, MLXPMD_MISSED, &counts);
	CHECK_EQ(locks_held, 0);
	return counts.missed;
}

uint64_t
age_us(enum mlxpmd_counts_of which)
{
	struct mlxpmd_counts counts;

	mlxpmd_counts_get(&port, which, &counts);
	return mlxpmd_counts_age_us(&counts, which);
}

struct mlxpmd_counts_info
info(void)
{
	struct mlxpmd_counts_info out;

	mlxpmd_counts_info_get(&port, &out);
	CHECK_EQ(locks_held, 0);
	return out;
}

int
up(unsigned int age_ms)
{
	static int counter;

	now_ns = FIRST_NS;
	port = (struct mlxpmd_port){ .port_id = 3, .q_counter = (struct mdv_obj *)&counter,
				     .args = { .stats_age_ms = age_ms, .open = MDV_OPEN_VERBS } };
	adds_left = MAX_TASKS;
	nb_counters = 12;
	dev_raw = 0;
	dev_value = 1000;
	sync_ns = 0;
	async_ns = MS;
	dev_rc = open_rc = start_rc = take_end = 0;
	removed = async_quiet = failed = no_memory = false;
	during_sync = NULL;
	queries_clear();
	return mlxpmd_counts_up(&port);
}

void
start(void)
{
	port.running = true;
	mlxpmd_counts_settle(&port);
	run_for(0);
}

void
down(void)
{
	mlxpmd_counts_down(&port);
	CHECK(port.counts == NULL);
	CHECK_EQ(nb_tasks, 0);
	CHECK_EQ(opened, 0);
	CHECK_EQ(allocated, 0);
	CHECK_EQ(locks, 0);
	CHECK_EQ(locks_held, 0);
	mlxpmd_counts_down(&port); /* Of a port that has none. */
}
