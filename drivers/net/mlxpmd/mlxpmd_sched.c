/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Runs tasks when they are due: the control thread of the process and the workers of the ports. */

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <rte_errno.h>

#include <mdv_compat.h>

#include "mlxpmd.h"
#include "mlxpmd_sched.h"

#define CONTROL_NAME "mlxpmd-ctrl"
/* A task that is due so soon runs in the present round: tasks of the same period share their wake-ups. */
#define SLACK_NS (MLXPMD_NS_PER_MS / 4)
/* The wake descriptor, and of each port those of events and of query replies. */
#define FDS_MAX (1 + 2 * RTE_MAX_ETHPORTS)

static struct mlxpmd_sched control = {
	.name = CONTROL_NAME,
	.start_lock = PTHREAD_MUTEX_INITIALIZER,
	.wake_fd = -1,
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.idle = PTHREAD_COND_INITIALIZER,
	.tasks = TAILQ_HEAD_INITIALIZER(control.tasks),
};

static void
wake(const struct mlxpmd_sched *s)
{
	const uint64_t one = 1;

	/* A counter at its limit wakes as well. */
	(void)!write(s->wake_fd, &one, sizeof(one));
}

/* ------------------------------------------------------------------ the loop; the lock is held */

/* The task that has been due for longest, or is due within the slack; NULL: none. */
static struct mlxpmd_task *
task_due(struct mlxpmd_sched *s, uint64_t now_ns)
{
	struct mlxpmd_task *task, *first = NULL;

	TAILQ_FOREACH(task, &s->tasks, next) {
		/* Acquire: the run sees what was written before the request. */
		if (__atomic_exchange_n(&task->requested, false, __ATOMIC_ACQ_REL) || task->revents != 0)
			task->due_ns = RTE_MIN(task->due_ns, now_ns);
		if (first == NULL || task->due_ns < first->due_ns)
			first = task;
	}
	return first != NULL && first->due_ns <= now_ns + SLACK_NS ? first : NULL;
}

static void
task_run(struct mlxpmd_sched *s, struct mlxpmd_task *task)
{
	uint64_t begin_ns = mlxpmd_now_ns(), period_ns, end_ns;

	if (begin_ns > task->due_ns)
		task->late_max_ns = RTE_MAX(task->late_max_ns, begin_ns - task->due_ns);
	s->running = task;
	pthread_mutex_unlock(&s->lock);
	period_ns = task->run(task->arg);
	end_ns = mlxpmd_now_ns();
	pthread_mutex_lock(&s->lock);
	s->running = NULL;
	task->revents = 0;
	task->period_ns = period_ns;
	/* A run that was early by the slack does not shorten the next period. */
	task->due_ns = period_ns == MLXPMD_TASK_IDLE ? MLXPMD_TASK_IDLE : RTE_MAX(end_ns, task->due_ns) + period_ns;
	task->runs++;
	task->last_ns = end_ns - begin_ns;
	task->max_ns = RTE_MAX(task->max_ns, task->last_ns);
	task->total_ns += task->last_ns;
	pthread_cond_broadcast(&s->idle);
}

/* Fills the poll set. @return its size; *due_ns: when the next task is due. */
static unsigned int
poll_set(struct mlxpmd_sched *s, struct pollfd *fds, uint64_t *due_ns)
{
	struct mlxpmd_task *task;
	unsigned int n = 1;

	fds[0] = (struct pollfd){ .fd = s->wake_fd, .events = POLLIN };
	*due_ns = MLXPMD_TASK_IDLE;
	TAILQ_FOREACH(task, &s->tasks, next) {
		*due_ns = RTE_MIN(*due_ns, task->due_ns);
		task->slot = task->fd >= 0 && n < FDS_MAX ? n++ : 0;
		if (task->slot != 0)
			fds[task->slot] = (struct pollfd){ .fd = task->fd, .events = POLLIN };
	}
	return n;
}

static void
sched_sleep(struct mlxpmd_sched *s)
{
	struct pollfd fds[FDS_MAX];
	struct mlxpmd_task *task;
	uint64_t due_ns, left_ns, now_ns, count;
	unsigned int n = poll_set(s, fds, &due_ns);
	struct timespec ts;
	int ready;

	now_ns = mlxpmd_now_ns();
	left_ns = due_ns > now_ns ? due_ns - now_ns : 0;
	ts = (struct timespec){ .tv_sec = left_ns / 1000000000u, .tv_nsec = left_ns % 1000000000u };
	s->sleeping = true;
	pthread_mutex_unlock(&s->lock);
	ready = ppoll(fds, n, due_ns != MLXPMD_TASK_IDLE ? &ts : NULL, NULL);
	if (ready > 0 && fds[0].revents != 0)
		(void)!read(s->wake_fd, &count, sizeof(count));
	pthread_mutex_lock(&s->lock);
	s->sleeping = false;
	s->sleeps++;
	/* Tasks that were added meanwhile have no slot. */
	TAILQ_FOREACH(task, &s->tasks, next)
		if (ready > 0 && task->slot != 0)
			task->revents = fds[task->slot].revents;
	pthread_cond_broadcast(&s->idle);
}

static mdv_thread_ret
sched_main(void *arg)
{
	struct mlxpmd_sched *s = arg;
	struct mlxpmd_task *task;

	pthread_mutex_lock(&s->lock);
	while (!s->quit) {
		task = task_due(s, mlxpmd_now_ns());
		if (task != NULL)
			task_run(s, task);
		else
			sched_sleep(s);
	}
	pthread_mutex_unlock(&s->lock);
	return 0;
}

/* ------------------------------------------------------------------ threads */

/* For port_id, which is named in the log. */
static int
sched_start(struct mlxpmd_sched *s, uint16_t port_id)
{
	int rc = 0;

	s->quit = false;
	s->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (s->wake_fd < 0)
		rc = errno;
	if (rc == 0)
		rc = -mdv_thread_create(&s->thread, s->name, sched_main, s);
	if (rc == 0)
		return 0;
	MLXPMD_LOG(ERR, "port %u: thread %s cannot be started: %s", port_id, s->name, rte_strerror(rc));
	if (s->wake_fd >= 0)
		close(s->wake_fd);
	s->wake_fd = -1;
	return -rc;
}

static void
sched_stop(struct mlxpmd_sched *s)
{
	pthread_mutex_lock(&s->lock);
	s->quit = true;
	pthread_mutex_unlock(&s->lock);
	wake(s);
	pthread_join(s->thread, NULL);
	close(s->wake_fd);
	s->wake_fd = -1;
}

void
mlxpmd_worker_init(struct mlxpmd_sched *worker, uint16_t port_id)
{
	memset(worker, 0, sizeof(*worker));
	snprintf(worker->name, sizeof(worker->name), "mlxpmd-%u", port_id);
	pthread_mutex_init(&worker->start_lock, NULL);
	worker->wake_fd = -1;
	pthread_mutex_init(&worker->lock, NULL);
	pthread_cond_init(&worker->idle, NULL);
	TAILQ_INIT(&worker->tasks);
}

/* ------------------------------------------------------------------ tasks */

static void
task_insert(struct mlxpmd_sched *s, struct mlxpmd_task *task, uint64_t delay_ns)
{
	task->due_ns = delay_ns == MLXPMD_TASK_IDLE ? MLXPMD_TASK_IDLE : mlxpmd_now_ns() + delay_ns;
	task->period_ns = delay_ns;
	task->slot = 0;
	task->revents = 0;
	task->requested = false;
	task->runs = task->last_ns = task->max_ns = task->total_ns = task->late_max_ns = 0;
	__atomic_store_n(&task->sched, s, __ATOMIC_RELEASE);
	pthread_mutex_lock(&s->lock);
	TAILQ_INSERT_TAIL(&s->tasks, task, next);
	pthread_mutex_unlock(&s->lock);
	wake(s);
}

int
mlxpmd_task_add(struct mlxpmd_sched *worker, struct mlxpmd_task *task, uint64_t delay_ns)
{
	struct mlxpmd_sched *s = worker != NULL ? worker : &control;
	int rc = 0;

	pthread_mutex_lock(&s->start_lock);
	if (TAILQ_EMPTY(&s->tasks))
		rc = sched_start(s, task->port_id);
	if (rc == 0)
		task_insert(s, task, delay_ns);
	pthread_mutex_unlock(&s->start_lock);
	return rc;
}

static void
task_unlink(struct mlxpmd_sched *s, struct mlxpmd_task *task)
{
	uint64_t sleeps;
	bool polled;

	pthread_mutex_lock(&s->lock);
	TAILQ_REMOVE(&s->tasks, task, next);
	sleeps = s->sleeps;
	polled = s->sleeping && task->slot != 0;
	if (polled)
		wake(s);
	while (s->running == task || (polled && s->sleeps == sleeps))
		pthread_cond_wait(&s->idle, &s->lock);
	pthread_mutex_unlock(&s->lock);
	__atomic_store_n(&task->sched, NULL, __ATOMIC_RELAXED);
}

void
mlxpmd_task_remove(struct mlxpmd_task *task)
{
	struct mlxpmd_sched *s = __atomic_load_n(&task->sched, __ATOMIC_ACQUIRE);

	if (s == NULL)
		return;
	pthread_mutex_lock(&s->start_lock);
	task_unlink(s, task);
	if (TAILQ_EMPTY(&s->tasks))
		sched_stop(s);
	pthread_mutex_unlock(&s->start_lock);
}

void
mlxpmd_task_request(struct mlxpmd_task *task)
{
	const struct mlxpmd_sched *s = __atomic_load_n(&task->sched, __ATOMIC_ACQUIRE);

	/* Release: the run sees what the caller wrote before. One wake-up is enough for many requests. */
	if (s != NULL && !__atomic_exchange_n(&task->requested, true, __ATOMIC_ACQ_REL))
		wake(s);
}

/* ------------------------------------------------------------------ telemetry */

int
mlxpmd_tasks_visit(uint16_t port_id, struct mlxpmd_sched *worker,
		   int (*visit)(void *arg, const char *thread, const struct mlxpmd_task *task), void *arg)
{
	struct mlxpmd_sched *scheds[] = { &control, worker };
	const struct mlxpmd_task *task;
	int rc = 0;

	for (unsigned int i = 0; i < RTE_DIM(scheds); i++) {
		pthread_mutex_lock(&scheds[i]->lock);
		TAILQ_FOREACH(task, &scheds[i]->tasks, next)
			if (rc == 0 && task->port_id == port_id)
				rc = visit(arg, scheds[i]->name, task);
		pthread_mutex_unlock(&scheds[i]->lock);
	}
	return rc;
}
