/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* A TAP interface: the peer is the network stack of the host. */
#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "core/emu_cpu.h"
#include "wire_int.h"

#define TUN_DEVICE "/dev/net/tun"
/* Minimum interval of reads after an empty one: a system call costs as much as ten frames. */
#define EMPTY_PAUSE_TICKS 8000u

struct tap {
	int fd;
	uint64_t empty_at; /**< TSC of the last empty read; 0: the last read returned a frame. */
	uint32_t held;	   /**< Bytes of the frame that waits for a receive WQE; 0: none. */
	uint8_t frame[WIRE_FRAME_BYTES];
};

/** Request and result of the thread that enters the namespace. */
struct tap_request {
	const char *ifname, *netns;
	int fd, error;
	const char *step;
};

static int
fail(struct tap_request *r, const char *step)
{
	r->error = errno;
	r->step = step;
	return -1;
}

static int
enter_netns(struct tap_request *r)
{
	char path[96];
	int fd, ret;

	snprintf(path, sizeof(path), "/run/netns/%s", r->netns);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return fail(r, "no such network namespace");
	ret = setns(fd, CLONE_NEWNET);
	if (ret != 0)
		fail(r, "cannot enter the network namespace");
	close(fd);
	return ret;
}

static int
open_here(struct tap_request *r)
{
	struct ifreq ifr = {.ifr_flags = IFF_TAP | IFF_NO_PI};
	int fd = open(TUN_DEVICE, O_RDWR | O_NONBLOCK);

	if (fd < 0)
		return fail(r, "cannot open " TUN_DEVICE);
	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", r->ifname);
	if (ioctl(fd, TUNSETIFF, &ifr) != 0)
		fail(r, "cannot create or attach to the interface");
	/* No offloads: every frame carries its checksum and fits the MTU. */
	else if (ioctl(fd, TUNSETOFFLOAD, 0) != 0)
		fail(r, "cannot turn offloads off");
	if (r->error != 0) {
		close(fd);
		return -1;
	}
	r->fd = fd;
	return 0;
}

static void *
open_in_netns(void *arg)
{
	struct tap_request *r = arg;

	if (enter_netns(r) == 0)
		open_here(r);
	return NULL;
}

int
wire_tap_open(const char *ifname, const char *netns, char *err, size_t err_len)
{
	struct tap_request r = {.ifname = ifname, .netns = netns, .fd = -1};
	pthread_t thread;

	if (netns[0] == '\0') {
		open_here(&r);
	} else {
		/* A namespace is a property of the thread: use a temporary one. */
		int ret = pthread_create(&thread, NULL, open_in_netns, &r);

		if (ret != 0) {
			r.error = ret;
			r.step = "no thread to enter the namespace with";
		} else {
			pthread_join(thread, NULL);
		}
	}
	if (r.fd >= 0)
		return r.fd;
	snprintf(err, err_len, "tap:%s%s%s: %s: %s", ifname, netns[0] != '\0' ? "@" : "", netns,
		 r.step, strerror(r.error));
	return -r.error;
}

static int
tap_attach(struct emu_wire_port *w, const struct emu_wire_plan *plan, char *err, size_t err_len)
{
	struct tap *t;

	if (plan->fd < 0 || fcntl(plan->fd, F_GETFL) < 0) {
		snprintf(err, err_len, "tap:%s: no open descriptor", plan->ifname);
		return -EBADF;
	}
	t = calloc(1, sizeof(*t));
	if (t == NULL) {
		snprintf(err, err_len, "tap:%s: no memory", plan->ifname);
		return -ENOMEM;
	}
	t->fd = plan->fd;
	/* From now on programs that this one starts do not inherit it. */
	fcntl(t->fd, F_SETFD, FD_CLOEXEC);
	fcntl(t->fd, F_SETFL, fcntl(t->fd, F_GETFL) | O_NONBLOCK);
	w->priv = t;
	w->has_queue = true;
	return 0;
}

static void
tap_detach(struct emu_wire_port *w)
{
	struct tap *t = w->priv;

	close(t->fd);
	free(t);
}

/* The interface was deleted: no carrier any more. */
static void
unplugged(struct emu_wire_port *w)
{
	if (w->dev->carrier)
		emu_port_set_carrier(w->dev, false);
}

static enum emu_wire_result
tap_tx(struct emu_wire_port *w, const uint8_t *frame, uint32_t len)
{
	struct tap *t = w->priv;
	ssize_t n = write(t->fd, frame, len);

	if (n == (ssize_t)len)
		return EMU_WIRE_SENT;
	if (n >= 0)
		w->stats.short_writes++;
	else if (errno == EAGAIN)
		w->stats.would_block++;
	else
		w->stats.write_errors++; /* EIO: the interface is down */
	if (n < 0 && errno == EBADFD)
		unplugged(w);
	return EMU_WIRE_LOST;
}

/* Read one frame into the buffer; false if there is none. */
static bool
tap_read(struct emu_wire_port *w)
{
	struct tap *t = w->priv;
	ssize_t n = read(t->fd, t->frame, sizeof(t->frame));

	if (n > 0) {
		t->held = (uint32_t)n;
		return true;
	}
	if (n < 0 && errno == EBADFD)
		unplugged(w);
	t->empty_at = emu_cpu_ticks();
	return false;
}

static unsigned
tap_poll(struct emu_wire_port *w, unsigned budget)
{
	struct tap *t = w->priv;
	unsigned n = 0;

	if (t->held == 0 && t->empty_at != 0) {
		if (emu_cpu_ticks() - t->empty_at < EMPTY_PAUSE_TICKS)
			return 0;
		t->empty_at = 0;
	}
	for (; n < budget; n++) {
		if (t->held == 0 && !tap_read(w))
			break;
		/* Further frames wait in the queue of the interface. */
		if (!wire_deliver(w, w->dev, t->frame, t->held))
			break;
		t->held = 0;
	}
	return n;
}

static bool
tap_wait(struct emu_wire_port *w, int *fd, uint64_t *ns)
{
	struct tap *t = w->priv;

	(void)ns;
	*fd = t->fd;
	return t->held == 0;
}

const struct wire_ops wire_tap_ops = {
	.attach = tap_attach,
	.detach = tap_detach,
	.tx = tap_tx,
	.poll = tap_poll,
	.wait = tap_wait,
};
