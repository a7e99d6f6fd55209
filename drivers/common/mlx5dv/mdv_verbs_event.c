/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Verbs: asynchronous events, removal and health check. */

#include <sys/stat.h>

#include "mdv_private.h"

/** Events taken per call; more than are expected between two calls (assumed). */
#define MDV_EVENTS_MAX 256

/** Inode of the device's sysfs directory; 0 and *err if it does not exist or cannot be read. */
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
	int err;

	dev->event_fd = dev->ibv->async_fd;
	dev->ibdev_inode = folder_inode(dev, &err);
	return mdv_fd_nonblock(dev, dev->event_fd, "event");
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
			/* After a removal reading the descriptor fails with EIO. */
			if (errno != EAGAIN && errno != EINTR && !mdv_alive(dev))
				events |= MDV_EVENT_REMOVED;
			break;
		}
		events |= event_bit(&event);
		ibv_ack_async_event(&event);
	}
	if (events & MDV_EVENT_REMOVED) {
		/* The kernel reports the removal after it destroyed all objects: mdv_quiesced(). */
		mdv_removed_set(dev);
		mdv_quiesced_set(dev);
	}
	return events;
}

/* The sysfs directory is deleted after all objects; another device gets another inode. */
bool
mdv_verbs_quiesced(const struct mdv_dev *dev)
{
	int err;

	return dev->ibdev_inode != 0 && folder_inode(dev, &err) != dev->ibdev_inode &&
	       (err == 0 || err == ENOENT);
}
