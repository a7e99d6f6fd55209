/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * VFIO: end of waits for commands of a removed device, and closing an unresponsive device.
 *
 * libmlx5 waits for the end of a command without limit, with poll() on two descriptors: an internal
 * one and that of mlx5dv_vfio_get_events_fd(3). It fails the command if the latter cannot be read.
 * When the device fails, mdv_vfio_waits_end() replaces that descriptor with dup3() by one of a
 * directory, which is always readable for poll() and whose read() fails with EISDIR. Then it writes
 * to the duplicate of the old one, which wakes the current waiter; that waiter and all later
 * commands fail. libmlx5 closes the descriptor, whose number has not changed.
 */

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <rte_lcore.h>

#include "mdv_vfio.h"

/* Command timeout of Linux (mlx5_core, MLX5_CMD_TIMEOUT_MSEC). */
#define MDV_CMD_TIMEOUT_MS 60000
/* Largest time between two checks that counts as waiting; the thread may not have been scheduled. */
#define MDV_STEP_MAX_MS 1000
/* Closing a working device takes tens of ms, at most 3 s (measured on the emulator under load). */
#define MDV_CLOSE_MS 4000

/* ------------------------------------------------------------------ end of waits */

int
mdv_vfio_waits_up(struct mdv_dev *dev)
{
	struct mdv_vfio *v = dev->vfio;
	int err = 0;

	/* Reserve the descriptors now: none may be left when the device fails. */
	v->library_event_fd = fcntl(mlx5dv_vfio_get_events_fd(dev->ibv), F_DUPFD_CLOEXEC, 0);
	if (v->library_event_fd < 0)
		err = errno;
	v->closed_fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (err == 0 && v->closed_fd < 0)
		err = errno;
	if (err == 0)
		return 0;
	MDV_LOG(ERR, &dev->pci, "no descriptors to end waits for commands: %s",
		mdv_errno_name(err));
	mdv_vfio_waits_down(dev);
	return mdv_fail(err);
}

void
mdv_vfio_waits_end(struct mdv_dev *dev)
{
	if (dup3(dev->vfio->closed_fd, mlx5dv_vfio_get_events_fd(dev->ibv), O_CLOEXEC) < 0)
		MDV_LOG(ERR, &dev->pci, "cannot wake threads that wait for commands: %s",
			mdv_errno_name(errno));
	/* Wake after the replacement, so that the waiter reads from the new descriptor. */
	mdv_eventfd_signal(dev->vfio->library_event_fd);
}

void
mdv_vfio_waits_down(struct mdv_dev *dev)
{
	struct mdv_vfio *v = dev->vfio;

	if (v->library_event_fd >= 0)
		close(v->library_event_fd);
	if (v->closed_fd >= 0)
		close(v->closed_fd);
	v->library_event_fd = v->closed_fd = -1;
}

bool
mdv_vfio_waits_long(struct mdv_dev *dev)
{
	struct mdv_vfio *v = dev->vfio;
	uint64_t now = rte_rdtsc(), step = rte_get_tsc_hz() / 1000 * MDV_STEP_MAX_MS;
	uint32_t ended = __atomic_load_n(&dev->calls_ended, __ATOMIC_ACQUIRE);
	uint32_t begun = __atomic_load_n(&dev->calls_begun, __ATOMIC_ACQUIRE);

	if (begun == ended || ended != v->calls_ended)
		v->calls_stalled_tsc = 0;
	else
		v->calls_stalled_tsc += RTE_MIN(now - v->calls_check_tsc, step);
	v->calls_ended = ended;
	v->calls_check_tsc = now;
	return v->calls_stalled_tsc >= rte_get_tsc_hz() / 1000 * MDV_CMD_TIMEOUT_MS;
}

/* ------------------------------------------------------------------ closing */

/** Shared by the closing thread and its waiter; the last user frees it. */
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

	(void)ibv_close_device(c->ibv);
	mdv_eventfd_signal(c->done_fd);
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

/** Waits up to ms milliseconds. Returns whether the context is closed. */
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
 * Closing runs four commands, for each of which libmlx5 polls up to a minute in a busy loop. The
 * context of an unresponsive device must be closed as well, because until then the kernel does not
 * release the function. A detached thread of scheduling class SCHED_IDLE does that.
 */
void
mdv_vfio_close_context(struct mdv_dev *dev)
{
	const struct sched_param none = { 0 };
	bool unresponsive = mdv_unresponsive(dev);
	struct closing *c;
	pthread_t thread;

	/* A thread that is still inside libmlx5 uses the context. */
	if (__atomic_load_n(&dev->calls_ended, __ATOMIC_ACQUIRE) !=
	    __atomic_load_n(&dev->calls_begun, __ATOMIC_ACQUIRE)) {
		MDV_LOG(ERR, &dev->pci, "a command is still running: the context stays open until "
			"the process ends");
		return;
	}
	c = closing_start(dev, &thread);
	if (c == NULL) {
		MDV_LOG(WARNING, &dev->pci, "no thread to close the context%s",
			unresponsive ? ": it stays open until the process ends" : "");
		if (!unresponsive)
			(void)MDV_RUN(dev, ibv_close_device(dev->ibv));
		return;
	}
	if (!unresponsive && closing_wait(c, MDV_CLOSE_MS)) {
		pthread_join(thread, NULL);
	} else {
		MDV_LOG(NOTICE, &dev->pci, "device unresponsive: its context is closed in the "
			"background, which takes up to four minutes");
		(void)pthread_setschedparam(thread, SCHED_IDLE, &none);
		pthread_detach(thread);
	}
	closing_free(c);
}
