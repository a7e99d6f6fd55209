/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * The scheduler: everything that the driver does later or periodically is a task.
 *
 * A scheduler is one thread with a list of tasks. It runs each task when it is due, one after the other, and sleeps
 * until the next due time, until a task's descriptor is ready, or until a task is requested.
 *
 * There are two kinds of schedulers, with the same code:
 * - the process's control thread runs the tasks of all ports that issue no firmware command and never block;
 * - each port's worker runs its tasks that issue firmware commands or take long. It delays no other port, and no task
 *   of the control thread.
 */
#ifndef MLXPMD_SCHED_H
#define MLXPMD_SCHED_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <time.h>

#define MLXPMD_NS_PER_US UINT64_C(1000)
#define MLXPMD_NS_PER_MS UINT64_C(1000000)

/** Returned by a task's function: not due before it is requested or its descriptor is ready. */
#define MLXPMD_TASK_IDLE UINT64_MAX

/** Time of the control plane in ns: CLOCK_MONOTONIC. */
static inline uint64_t
mlxpmd_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/** One task. The owner sets the first part before mlxpmd_task_add(); the rest belongs to the scheduler. */
struct mlxpmd_task {
	const char *name;
	uint16_t port_id;
	/** @return ns from now to the next run, or MLXPMD_TASK_IDLE. May change fd. */
	uint64_t (*run)(void *arg);
	void *arg;
	int fd;			/**< Run when it is readable or in error; -1: none. */

	short revents;		/**< During a run: poll(2) events of fd that caused it. */
	bool requested;		/**< Atomic. */
	unsigned int slot;	/**< Of fd in the present poll set, 0: none. */
	struct mlxpmd_sched *sched; /**< NULL: not added. Atomic. */
	uint64_t due_ns, period_ns;
	uint64_t runs, last_ns, max_ns, total_ns; /**< Measured cost: elapsed time of the runs. */
	uint64_t late_max_ns;	/**< Largest delay of a run after its due time. */
	TAILQ_ENTRY(mlxpmd_task) next;
};

/** A scheduler. Its thread runs while it has tasks. */
struct mlxpmd_sched {
	char name[16];
	pthread_mutex_t start_lock; /**< Start and stop of the thread; held while tasks are added and removed. */
	pthread_t thread;
	int wake_fd;
	pthread_mutex_t lock;	/**< Of all that follows; not held while a task runs or the thread sleeps. */
	pthread_cond_t idle;	/**< A run or a sleep has ended. */
	bool quit;
	bool sleeping;		/**< In poll(2), with the descriptors of all tasks that have a slot. */
	uint64_t sleeps;	/**< That have ended. */
	const struct mlxpmd_task *running;
	TAILQ_HEAD(, mlxpmd_task) tasks;
};

/** Initializes the worker of a port, whose thread is named mlxpmd-N. */
void mlxpmd_worker_init(struct mlxpmd_sched *worker, uint16_t port_id);

/**
 * Adds a task that is due in delay_ns: to a worker, or with NULL to the control thread. Starts the thread for the first
 * task; removing the last one stops it.
 * @return 0; negative errno: the thread cannot be started; logged.
 */
int mlxpmd_task_add(struct mlxpmd_sched *worker, struct mlxpmd_task *task, uint64_t delay_ns);
/**
 * Removes a task; waits for a run in progress. Not for the task's own thread. A task that was not added is allowed.
 * Afterwards the scheduler uses neither the task nor its descriptor.
 */
void mlxpmd_task_remove(struct mlxpmd_task *task);
/**
 * Makes a task due now; any thread, also a burst's: takes no lock. If the task is running it runs once more.
 * Nothing happens if it was not added. The caller makes sure that it is neither freed nor removed meanwhile.
 */
void mlxpmd_task_request(struct mlxpmd_task *task);

/**
 * Calls visit() for a port's tasks: those of the control thread, then those of its worker. Holds the
 * scheduler's lock: visit() must not call the scheduler.
 * @return The first result of visit() that is not 0, else 0.
 */
int mlxpmd_tasks_visit(uint16_t port_id, struct mlxpmd_sched *worker,
		       int (*visit)(void *arg, const char *thread, const struct mlxpmd_task *task), void *arg);

#endif /* MLXPMD_SCHED_H */
