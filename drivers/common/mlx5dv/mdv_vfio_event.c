/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* The thread that serves the device's requests, its health, and the port's events. */

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <rte_byteorder.h>
#include <rte_lcore.h>

#include "mdv_vfio.h"

/** PRM, event types. */
#define MDV_EVENT_TYPE_PORT_CHANGE 0x09
/** As many as may come while the machine does not get round to it. */
#define MDV_EVENT_LOG_EQES 8
/*
 * The library looks at the device's health in the same call by which it serves requests, and ends
 * the process when it does not like what it sees: all ones, an error of the firmware, or a health
 * counter that stood still over three of its looks, which are a second apart. Looked at first, and
 * sooner, the port goes like any that was pulled out, and the library is not asked any more.
 */
#define MDV_LOOK_MS 100
/** Looks at which the library is called, if the device has asked for nothing; serving costs a doorbell. */
#define MDV_LOOKS_TO_SERVE 10
/*
 * It ends the process at the third of its looks, a second or more apart, that finds the counter as it
 * was; 0 at the first of all looks is as it was. Sooner is two seconds and a half, and of the time
 * between two looks here, however long the thread did not run, a second counts.
 */
#define MDV_STOOD_MS 2500
#define MDV_STOOD_STEP_MS 1000
/* PRM, initialization segment: nic_interface, as Linux reads it, with three bits. */
#define MDV_NIC_SHIFT 8
#define MDV_NIC_MASK 7
#define MDV_NIC_DISABLED 1
#define MDV_NIC_RESET 7
/* PRM, health buffer: synd, as Linux names it. */
#define MDV_SYND_ASYNC_EQ_OVERRUN 0x0c

/* ------------------------------------------------------------------ health */

static const char *
sick_registers(const struct prm_initial_seg *seg)
{
	const struct prm_health_buffer *health = prm_initial_seg_health_buffer_c(seg);
	uint32_t nic;

	/* All reads of a device that is not there come back as ones. */
	if (seg->dw[0] == UINT32_MAX && seg->dw[1] == UINT32_MAX)
		return "it does not answer on the bus";
	if (prm_health_buffer_get_fw_version(health) == UINT32_MAX)
		return "its health buffer does not answer";
	if (prm_health_buffer_get_rfr(health) != 0 && prm_health_buffer_get_synd(health) != 0)
		return prm_health_buffer_get_synd(health) == MDV_SYND_ASYNC_EQ_OVERRUN ?
			"its firmware reports a fatal error: an event queue ran over" :
			"its firmware reports a fatal error";
	nic = rte_be_to_cpu_32(seg->dw[PRM_INITIAL_SEG_NIC_INTERFACE_DW]) >> MDV_NIC_SHIFT &
	      MDV_NIC_MASK;
	if (nic == MDV_NIC_DISABLED || nic == MDV_NIC_RESET)
		return "its firmware took the interface down";
	return NULL;
}

static const struct prm_initial_seg *
segment(const struct mdv_dev *dev)
{
	return dev->vfio != NULL ? __atomic_load_n(&dev->vfio->seg, __ATOMIC_ACQUIRE) : NULL;
}

const char *
mdv_vfio_fatal_reason(struct mdv_dev *dev)
{
	/* Not before there is a UAR, by which it is found. */
	const struct prm_initial_seg *seg = segment(dev);

	if (seg == NULL)
		return NULL;
	/* As the device has them now. */
	rte_compiler_barrier();
	return sick_registers(seg);
}

/** Has the counter stood for as long as the library will soon not put up with? The pump's only. */
static bool
stands_still(struct mdv_dev *dev)
{
	struct mdv_vfio *v = dev->vfio;
	uint64_t now = rte_rdtsc(), step = rte_get_tsc_hz() / 1000 * MDV_STOOD_STEP_MS;
	const struct prm_initial_seg *seg = segment(dev);
	uint32_t counter;

	if (seg == NULL)
		return false;
	counter = prm_initial_seg_get_health_counter(seg);
	v->stood_tsc += v->look_tsc != 0 ? RTE_MIN(now - v->look_tsc, step) : step;
	if (counter != v->counter)
		v->stood_tsc = 0;
	v->counter = counter;
	v->look_tsc = now;
	return v->stood_tsc >= rte_get_tsc_hz() / 1000 * MDV_STOOD_MS;
}

static void
wake(int fd)
{
	const uint64_t one = 1;

	/* A counter at its limit is readable as well. */
	(void)!write(fd, &one, sizeof(one));
}

static void
give_up(struct mdv_dev *dev, const char *why)
{
	/* The pump sees it, and whoever asks: one of them says so. */
	pthread_mutex_lock(&dev->vfio->eq_lock);
	if (!mdv_removed(dev)) {
		MDV_LOG(ERR, &dev->pci, "the device is past help: %s", why);
		mdv_removed_set(dev);
		mdv_vfio_waits_end(dev);
		if (dev->vfio->event_fd >= 0)
			wake(dev->vfio->event_fd);
	}
	pthread_mutex_unlock(&dev->vfio->eq_lock);
}

/* ------------------------------------------------------------------ the pump */

/** Looks at the device, and serves what it asked for. False: it is not to be asked any more. */
static bool
pump_once(struct mdv_dev *dev, bool serve)
{
	const char *why = mdv_vfio_fatal_reason(dev);
	int err = 0;

	if (why == NULL && stands_still(dev))
		why = "its health counter stands still";
	if (why == NULL && mdv_vfio_waits_long(dev))
		why = "it does not answer a command";
	if (why == NULL && serve && !mdv_removed(dev)) {
		err = mdv_positive_errno(mlx5dv_vfio_process_events(dev->ibv));
		if (err != 0 && !mdv_removed(dev))
			MDV_LOG(ERR, &dev->pci, "a request of the device was not served: %s%s",
				mdv_errno_name(err), err == ENOMEM ? " (locked memory limit?)" : "");
	}
	if (why != NULL)
		give_up(dev, why);
	return !mdv_removed(dev);
}

static void *
pump(void *arg)
{
	struct mdv_dev *dev = arg;
	struct pollfd fds[] = {
		{ .fd = dev->vfio->stop_fd, .events = POLLIN },
		{ .fd = mlx5dv_vfio_get_events_fd(dev->ibv), .events = POLLIN },
	};

	for (unsigned int n = 0; fds[0].revents == 0; n++) {
		if (!pump_once(dev, fds[1].revents != 0 || n % MDV_LOOKS_TO_SERVE == 0))
			break;
		(void)poll(fds, RTE_DIM(fds), MDV_LOOK_MS);
	}
	return NULL;
}

int
mdv_vfio_pump_start(struct mdv_dev *dev)
{
	struct mdv_vfio *v = dev->vfio;
	sigset_t was;
	int err = 0;

	v->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (v->stop_fd < 0)
		err = errno;
	if (err == 0) {
		/* Born without signals: one would break into a command. */
		mdv_signals_block(dev, &was);
		err = abs(rte_ctrl_thread_create(&v->pump, "mdv-vfio", NULL, pump, dev));
		mdv_signals_restore(dev, &was);
	}
	v->pump_runs = err == 0;
	if (err == 0)
		return 0;
	if (v->stop_fd >= 0)
		close(v->stop_fd);
	v->stop_fd = -1;
	MDV_LOG(ERR, &dev->pci, "no thread to serve the device's requests: %s", mdv_errno_name(err));
	return mdv_fail(err);
}

void
mdv_vfio_pump_stop(struct mdv_dev *dev)
{
	struct mdv_vfio *v = dev->vfio;

	if (!v->pump_runs)
		return;
	wake(v->stop_fd);
	pthread_join(v->pump, NULL);
	close(v->stop_fd);
	v->stop_fd = -1;
	v->pump_runs = false;
}

/* ------------------------------------------------------------------ the port's events */

int
mdv_vfio_events_up(struct mdv_dev *dev)
{
	struct mdv_vfio *v = dev->vfio;
	int err;

	if (mdv_msi_alloc(dev, &v->msi) == 0) {
		pthread_mutex_lock(&v->eq_lock);
		v->event_fd = v->msi->fd;
		pthread_mutex_unlock(&v->eq_lock);
		if (mdv_eq_create(dev, v->msi, MDV_EVENT_LOG_EQES,
				  UINT64_C(1) << MDV_EVENT_TYPE_PORT_CHANGE, &v->eq) == 0)
			return 0;
		err = rte_errno;
		pthread_mutex_lock(&v->eq_lock);
		v->event_fd = -1;
		pthread_mutex_unlock(&v->eq_lock);
		(void)mdv_msi_free(v->msi);
		v->msi = NULL;
	} else {
		err = rte_errno;
	}
	return mdv_fail(err);
}

void
mdv_vfio_events_down(struct mdv_dev *dev)
{
	struct mdv_vfio *v = dev->vfio;

	/* The pump runs on, and wakes who may wait there. */
	pthread_mutex_lock(&v->eq_lock);
	v->event_fd = -1;
	pthread_mutex_unlock(&v->eq_lock);
	(void)mdv_eq_destroy(v->eq);
	v->eq = NULL;
	(void)mdv_msi_free(v->msi);
	v->msi = NULL;
}

int
mdv_vfio_event_fd(const struct mdv_dev *dev)
{
	return dev->vfio->event_fd;
}

uint32_t
mdv_vfio_events_take(struct mdv_dev *dev)
{
	struct mdv_vfio *v = dev->vfio;
	uint32_t events = 0;
	struct prm_eqe eqe;

	pthread_mutex_lock(&v->eq_lock);
	mdv_msi_drain(v->msi);
	while (mdv_eq_take(v->eq, &eqe))
		if (eqe.type == MDV_EVENT_TYPE_PORT_CHANGE)
			events |= MDV_EVENT_LINK;
	mdv_eq_arm(v->eq);
	if (mdv_removed(dev)) {
		events |= MDV_EVENT_REMOVED;
		/* Whoever else looks there finds it as well. */
		wake(v->event_fd);
	}
	pthread_mutex_unlock(&v->eq_lock);
	return events;
}

int
mdv_vfio_health_check(struct mdv_dev *dev)
{
	const char *why = mdv_vfio_fatal_reason(dev);

	if (why != NULL)
		give_up(dev, why);
	return mdv_removed(dev) ? ENODEV : 0;
}

/* A device that is off the bus writes nothing; one whose firmware failed may. */
bool
mdv_vfio_quiesced(const struct mdv_dev *dev)
{
	const struct prm_initial_seg *seg = segment(dev);

	return seg != NULL && seg->dw[0] == UINT32_MAX && seg->dw[1] == UINT32_MAX;
}
