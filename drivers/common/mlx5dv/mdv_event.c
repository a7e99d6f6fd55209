/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* What the kernel tells without being asked: link changes, and that the device is gone. */

#include <fcntl.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "mdv_private.h"

/** Taken at once; more than a device has to say between two looks. */
#define MDV_EVENTS_MAX 256

/** The device's folder in sysfs: 0 when it cannot be told, or there is none (any more). */
static uint64_t
folder_inode(const struct mdv_dev *dev, int *err)
{
	struct stat st;

	*err = stat(dev->ibv->device->ibdev_path, &st) == 0 ? 0 : errno;
	return *err == 0 ? st.st_ino : 0;
}

int
mdv_events_open(struct mdv_dev *dev)
{
	int fd = dev->ibv->async_fd, flags = fcntl(fd, F_GETFL), err;

	dev->ibdev_inode = folder_inode(dev, &err);
	if (flags >= 0 && fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0)
		return 0;
	err = errno;
	MDV_LOG(ERR, &dev->pci, "the event descriptor cannot be made non-blocking: %s",
		mdv_errno_name(err));
	return mdv_fail(err);
}

int
mdv_event_fd(const struct mdv_dev *dev)
{
	return dev->ibv->async_fd;
}

bool
mdv_gone(const struct mdv_dev *dev)
{
	return __atomic_load_n(&dev->gone, __ATOMIC_RELAXED);
}

void
mdv_gone_set(struct mdv_dev *dev)
{
	__atomic_store_n(&dev->gone, true, __ATOMIC_RELAXED);
}

bool
mdv_at_rest(const struct mdv_dev *dev)
{
	return __atomic_load_n(&dev->at_rest, __ATOMIC_RELAXED);
}

static void
at_rest_set(struct mdv_dev *dev)
{
	__atomic_store_n(&dev->at_rest, true, __ATOMIC_RELAXED);
}

/*
 * A removed device's context stays open and answers everything by EIO (the kernel calls it
 * disassociated) or ENODEV. One such answer may have other reasons, two in a row are taken for it.
 */
bool
mdv_alive(struct mdv_dev *dev)
{
	struct ibv_port_attr attr;
	int err = 0;

	for (int i = 0; i < 2 && !mdv_gone(dev); i++) {
		err = ibv_query_port(dev->ibv, MDV_IB_PORT, &attr);
		if (err != EIO && err != ENODEV)
			break;
	}
	if (err == EIO || err == ENODEV)
		mdv_gone_set(dev);
	__atomic_store_n(&dev->suspect, false, __ATOMIC_RELAXED);
	return !mdv_gone(dev);
}

bool
mdv_suspect(const struct mdv_dev *dev)
{
	return __atomic_load_n(&dev->suspect, __ATOMIC_RELAXED);
}

void
mdv_suspect_if(struct mdv_dev *dev, int err)
{
	if (err == EIO || err == ENODEV)
		__atomic_store_n(&dev->suspect, true, __ATOMIC_RELAXED);
}

static uint32_t
event_bit(const struct ibv_async_event *event)
{
	switch (event->event_type) {
	case IBV_EVENT_PORT_ACTIVE:
	case IBV_EVENT_PORT_ERR:
		return event->element.port_num == MDV_IB_PORT ? MDV_EVENT_LINK : 0;
	case IBV_EVENT_DEVICE_FATAL:
		return MDV_EVENT_GONE;
	default:
		return 0;
	}
}

uint32_t
mdv_events_take(struct mdv_dev *dev)
{
	struct ibv_async_event event;
	uint32_t events = 0;

	for (int i = 0; i < MDV_EVENTS_MAX; i++) {
		errno = 0;
		if (ibv_get_async_event(dev->ibv, &event) != 0) {
			/* Nothing left; or the descriptor is dead, as it is of a device that went. */
			if (errno != EAGAIN && errno != EINTR && !mdv_alive(dev))
				events |= MDV_EVENT_GONE;
			break;
		}
		events |= event_bit(&event);
		ibv_ack_async_event(&event);
	}
	if (events & MDV_EVENT_GONE) {
		/* Of all that a program has, the kernel takes the event descriptor down last. */
		mdv_gone_set(dev);
		at_rest_set(dev);
	}
	return events;
}

/* The folder outlives all that programs have, and a successor's is another one. */
static bool
folder_went(const struct mdv_dev *dev)
{
	int err;

	return dev->ibdev_inode != 0 && folder_inode(dev, &err) != dev->ibdev_inode &&
	       (err == 0 || err == ENOENT);
}

bool
mdv_rest_wait(struct mdv_dev *dev)
{
	uint64_t hz = rte_get_tsc_hz(), none = 0, until = rte_rdtsc() + hz / 1000 * MDV_REST_MS;

	if (mdv_suspect(dev) && !mdv_gone(dev))
		(void)mdv_alive(dev);
	if (!mdv_gone(dev))
		return false;
	/* Once for all that wait, whenever they come. */
	if (!__atomic_compare_exchange_n(&dev->rest_until_tsc, &none, until, false, __ATOMIC_RELAXED,
					 __ATOMIC_RELAXED))
		until = none;
	for (;;) {
		if (!mdv_at_rest(dev))
			(void)mdv_events_take(dev);
		if (!mdv_at_rest(dev) && folder_went(dev))
			at_rest_set(dev);
		if (mdv_at_rest(dev) || rte_rdtsc() >= until)
			return mdv_at_rest(dev);
		rte_delay_us_sleep(1000);
	}
}

int
mdv_port_glance(struct mdv_dev *dev, bool *running)
{
	struct ifreq ifr = { 0 };
	int err = mdv_netdev_ioctl(dev, SIOCGIFFLAGS, &ifr);

	if (err == 0)
		*running = (ifr.ifr_flags & IFF_RUNNING) != 0;
	return -err;
}

const char *
mdv_syndrome_name(uint8_t syndrome)
{
	return prm_cqe_syndrome_name(syndrome);
}
