/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Removal of a VFIO device while threads are in the middle of a command, and while it is closed. */

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include <rte_cycles.h>

#include "mdv_test.h"

#define THREADS 6
/* A thread that has not returned within this time hangs; the library itself waits a minute. */
#define END_S 30

struct runner {
	struct mdv_dev *dev;
	pthread_t thread;
	unsigned int kind;
	uint64_t runs;
	int err;
	bool ended;
};

/** Seconds since a TSC value. */
static double
seconds(uint64_t since)
{
	return (double)(rte_get_tsc_cycles() - since) / rte_get_tsc_hz();
}

/* Each function of the library that runs a command. */
static int
run_one(struct mdv_dev *dev, unsigned int kind)
{
	const struct mdv_cq_attr attr = { .log_cqes = 6, .socket_id = SOCKET_ID_ANY };
	struct mdv_cq cq;
	uint16_t mtu;
	bool up;

	switch (kind % 3) {
	case 0:
		return dev->port->mtu_get(dev, &mtu);
	case 1:
		return dev->port->running(dev, &up);
	default:
		if (mdv_cq_create(dev, &attr, &cq) != 0)
			return -rte_errno;
		mdv_cq_destroy(&cq);
		return 0;
	}
}

static void *
runner_main(void *arg)
{
	struct runner *r = arg;

	while (r->err == 0) {
		r->err = run_one(r->dev, r->kind);
		__atomic_add_fetch(&r->runs, 1, __ATOMIC_RELAXED);
	}
	__atomic_store_n(&r->ended, true, __ATOMIC_RELEASE);
	return NULL;
}

static bool
ended(const struct runner *r, uint64_t since)
{
	return AWAIT(__atomic_load_n(&r->ended, __ATOMIC_ACQUIRE) || seconds(since) >= END_S, END_S * 1000) && r->ended;
}

static bool
all_run(const struct runner *r)
{
	for (unsigned int i = 0; i < THREADS; i++)
		if (__atomic_load_n(&r[i].runs, __ATOMIC_RELAXED) == 0)
			return false;
	return true;
}

static void
runners_start(struct runner *r, struct mdv_dev *dev)
{
	for (unsigned int i = 0; i < THREADS; i++) {
		r[i] = (struct runner){ .dev = dev, .kind = i };
		REQUIRE(pthread_create(&r[i].thread, NULL, runner_main, &r[i]) == 0);
	}
}

/* One thread has a command under way that never completes, the others wait behind it. */
void
test_wait_removed(struct mdv_dev *dev, const char *command)
{
	struct pollfd event = { .fd = mdv_event_fd(dev), .events = POLLIN };
	static struct runner r[THREADS];
	uint64_t begin;

	runners_start(r, dev);
	if (command != NULL) {
		/* Each thread has called the library. */
		(void)AWAIT(all_run(r), END_S * 1000);
		CHECK(system(command) == 0);
	}
	begin = rte_get_tsc_cycles();
	for (unsigned int i = 0; i < THREADS; i++) {
		if (!ended(&r[i], begin)) {
			fprintf(stderr, "thread %u hangs\n", i);
			exit(1);
		}
		pthread_join(r[i].thread, NULL);
		CHECK_EQ(r[i].err, -ENODEV);
	}
	printf("%d threads out after %.3f s\n", THREADS, seconds(begin));
	CHECK(poll(&event, 1, END_S * 1000) == 1);
	CHECK((mdv_events_take(dev) & MDV_EVENT_REMOVED) != 0);
	CHECK_EQ(dev->calls_begun, dev->calls_ended);
	begin = rte_get_tsc_cycles();
	mdv_close(dev);
	CHECK(seconds(begin) < 5);
	printf("closed after %.3f s\n", seconds(begin));
}

/* The device is removed in the middle of its close, when its event thread has ended. */
void
test_close_removed(struct mdv_dev *dev)
{
	uint64_t begin = rte_get_tsc_cycles();

	log_begin();
	mdv_close(dev);
	CHECK_EQ(lines_with(log_end(), "closed in the background"), 1);
	CHECK(seconds(begin) < END_S);
	printf("closed after %.3f s\n", seconds(begin));
}
