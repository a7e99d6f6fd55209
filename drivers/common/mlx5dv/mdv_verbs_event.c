/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* What the kernel tells without being asked: link changes, and that the device is gone. */

#include <fcntl.h>
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
mdv_verbs_events_up(struct mdv_dev *dev)
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

void
mdv_verbs_events_down(struct mdv_dev *dev __rte_unused)
{
}

int
mdv_verbs_event_fd(const struct mdv_dev *dev)
{
	return dev->ibv->async_fd;
}

int
mdv_verbs_health_check(struct mdv_dev *dev)
{
	struct ibv_port_attr attr;

	return ibv_query_port(dev->ibv, MDV_IB_PORT, &attr);
}

static uint32_t
event_bit(const struct ibv_async_event *event)
{
	switch (event->event_type) {
	case IBV_EVENT_PORT_ACTIVE:
	case IBV_EVENT_PORT_ERR:
		return event->element.port_num == MDV_IB_PORT ? MDV_EVENT_LINK : 0;
	case IBV_EVENT_DEVICE_FATAL:
		return MDV_EVENT_REMOVED;
	default:
		return 0;
	}
}

uint32_t
mdv_verbs_events_take(struct mdv_dev *dev)
{
	struct ibv_async_event event;
	uint32_t events = 0;

	for (int i = 0; i < MDV_EVENTS_MAX; i++) {
		errno = 0;
		if (ibv_get_async_event(dev->ibv, &event) != 0) {
			/* Nothing left; or the descriptor is dead, as it is of a device that went. */
			if (errno != EAGAIN && errno != EINTR && !mdv_alive(dev))
				events |= MDV_EVENT_REMOVED;
			break;
		}
		events |= event_bit(&event);
		ibv_ack_async_event(&event);
	}
	if (events & MDV_EVENT_REMOVED) {
		/* Of all that a program has, the kernel takes the event descriptor down last. */
		mdv_removed_set(dev);
		mdv_quiesced_set(dev);
	}
	return events;
}

/* The folder outlives all that programs have, and a successor's is another one. */
bool
mdv_verbs_quiesced(const struct mdv_dev *dev)
{
	int err;

	return dev->ibdev_inode != 0 && folder_inode(dev, &err) != dev->ibdev_inode &&
	       (err == 0 || err == ENOENT);
}
