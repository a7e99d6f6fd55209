/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Threads that wait in the library for a device that went, and closing what does not answer.
 *
 * The library waits for a command's end without a limit, on two descriptors: one of its own, and the
 * one that it gives its user to poll (mlx5dv_vfio_get_events_fd(3)). It gives a command up when that
 * one cannot be read. So the user's is replaced in place by one that always has something to be read,
 * and never can: a folder. Whoever waits is woken by the old one, fails, and lets the next one in,
 * who fails at once. The number stays the library's, to be closed by it.
 */

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <rte_lcore.h>

#include "mdv_vfio.h"

/* As long as the kernel's own driver waits for a command. */
#define MDV_ANSWER_MS 60000
/* Of the time between two looks, however long the thread did not run, so much counts. */
#define MDV_STEP_MS 1000
/* A close of a device that is well takes tens of milliseconds, three seconds at the most. */
#define MDV_CLOSE_MS 4000

/* ------------------------------------------------------------------ an end to waiting */

int
mdv_vfio_waits_up(struct mdv_dev *dev)
{
	struct mdv_vfio *v = dev->vfio;
	int err = 0;

	/* Now: on the day there may be no descriptors left. */
	v->bell_fd = fcntl(mlx5dv_vfio_get_events_fd(dev->ibv), F_DUPFD_CLOEXEC, 0);
	if (v->bell_fd < 0)
		err = errno;
	v->end_fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (err == 0 && v->end_fd < 0)
		err = errno;
	if (err == 0)
		return 0;
	MDV_LOG(ERR, &dev->pci, "no descriptors to end a wait by: %s", mdv_errno_name(err));
	mdv_vfio_waits_down(dev);
	return mdv_fail(err);
}

void
mdv_vfio_waits_end(struct mdv_dev *dev)
{
	const uint64_t one = 1;

	if (dup3(dev->vfio->end_fd, mlx5dv_vfio_get_events_fd(dev->ibv), O_CLOEXEC) < 0)
		MDV_LOG(ERR, &dev->pci, "threads that wait for it cannot be woken: %s",
			mdv_errno_name(errno));
	/* After that: who is woken finds the new one. */
	(void)!write(dev->vfio->bell_fd, &one, sizeof(one));
}

void
mdv_vfio_waits_down(struct mdv_dev *dev)
{
	struct mdv_vfio *v = dev->vfio;

	if (v->bell_fd >= 0)
		close(v->bell_fd);
	if (v->end_fd >= 0)
		close(v->end_fd);
	v->bell_fd = v->end_fd = -1;
}

bool
mdv_vfio_waits_long(struct mdv_dev *dev)
{
	struct mdv_vfio *v = dev->vfio;
	uint64_t now = rte_rdtsc(), step = rte_get_tsc_hz() / 1000 * MDV_STEP_MS;
	uint32_t ended = __atomic_load_n(&dev->calls_ended, __ATOMIC_ACQUIRE);
	uint32_t begun = __atomic_load_n(&dev->calls_begun, __ATOMIC_ACQUIRE);

	if (begun == ended || ended != v->ended)
		v->waited_tsc = 0;
	else
		v->waited_tsc += RTE_MIN(now - v->waited_look_tsc, step);
	v->ended = ended;
	v->waited_look_tsc = now;
	return v->waited_tsc >= rte_get_tsc_hz() / 1000 * MDV_ANSWER_MS;
}

/* ------------------------------------------------------------------ closing */

/** Of who closes and who waits for it: the last one frees it. */
struct closing {
	struct ibv_context *ibv;
	int done_fd;
	uint32_t users;
};

static void
closing_free(struct closing *c)
{
	if (__atomic_sub_fetch(&c->users, 1, __ATOMIC_ACQ_REL) != 0)
		return;
	close(c->done_fd);
	free(c);
}

static void *
closer(void *arg)
{
	struct closing *c = arg;
	const uint64_t one = 1;

	(void)ibv_close_device(c->ibv);
	(void)!write(c->done_fd, &one, sizeof(one));
	closing_free(c);
	return NULL;
}

static struct closing *
closing_start(struct mdv_dev *dev, pthread_t *thread)
{
	struct closing *c = calloc(1, sizeof(*c));
	sigset_t was;
	int ret;

	if (c == NULL)
		return NULL;
	c->ibv = dev->ibv;
	c->users = 2;
	c->done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (c->done_fd >= 0) {
		mdv_signals_block(dev, &was);
		ret = rte_ctrl_thread_create(thread, "mdv-close", NULL, closer, c);
		mdv_signals_restore(dev, &was);
		if (ret == 0)
			return c;
		close(c->done_fd);
	}
	free(c);
	return NULL;
}

/** Has it come to its end by then? */
static bool
closing_wait(const struct closing *c, int ms)
{
	uint64_t hz = rte_get_tsc_hz(), until = rte_rdtsc() + hz / 1000 * ms;
	struct pollfd fd = { .fd = c->done_fd, .events = POLLIN };
	uint64_t now;

	do {
		now = rte_rdtsc();
		if (poll(&fd, 1, now < until ? (until - now) * 1000 / hz + 1 : 0) > 0)
			return true;
	} while (now < until);
	return false;
}

/*
 * Closing runs four commands, and here the library looks for the end of each by itself, in a loop, for
 * a minute. Until it is through the kernel waits for the function, and a successor for its place: so it
 * is done for a device that does not answer too, by a thread that gets only what time is left over.
 */
void
mdv_vfio_close_context(struct mdv_dev *dev)
{
	const struct sched_param none = { 0 };
	bool deaf = mdv_unresponsive(dev);
	struct closing *c;
	pthread_t thread;

	/* A thread that is still in there has what would be freed. */
	if (__atomic_load_n(&dev->calls_ended, __ATOMIC_ACQUIRE) !=
	    __atomic_load_n(&dev->calls_begun, __ATOMIC_ACQUIRE)) {
		MDV_LOG(ERR, &dev->pci, "a command still runs: the context stays open until the "
			"process ends");
		return;
	}
	c = closing_start(dev, &thread);
	if (c == NULL) {
		MDV_LOG(WARNING, &dev->pci, "no thread to close the context%s",
			deaf ? ": it stays open until the process ends" : "");
		if (!deaf)
			(void)MDV_RUN(dev, ibv_close_device(dev->ibv));
		return;
	}
	if (!deaf && closing_wait(c, MDV_CLOSE_MS)) {
		pthread_join(thread, NULL);
	} else {
		MDV_LOG(NOTICE, &dev->pci, "the device does not answer: its context is closed in "
			"the background, which takes up to four minutes");
		(void)pthread_setschedparam(thread, SCHED_IDLE, &none);
		pthread_detach(thread);
	}
	closing_free(c);
}
