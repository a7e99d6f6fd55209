/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * A cable to another process: a UNIX stream socket with the name PATH. The first process listens,
 * the second one connects; when one ends, the other waits for a new peer.
 *
 * Both ends send a hello line first. The port has carrier from the peer's hello to the end of the
 * connection, or always with `up`. Frames follow, each preceded by its length (4 bytes,
 * little-endian).
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "core/emu_audit.h"
#include "core/emu_cpu.h"
#include "wire_int.h"

#define HELLO "mlxemu wire 1\n"
#define HELLO_BYTES (sizeof(HELLO) - 1)
#define LENGTH_BYTES 4u
/* Some batches of small frames; frames that do not fit wait in the send queue of the device. */
#define BUFFER_BYTES (256u << 10)
/* Interval of connection attempts without a peer. */
#define RETRY_NS 10000000ull
/* How long a port waits for the lock when a device is opened. */
#define LOCK_NS 1000000000ull
/* Minimum interval of reads after an empty one: a system call costs as much as ten frames. */
#define EMPTY_PAUSE_TICKS 8000u

struct sock_buffer {
	uint32_t from, to; /**< Range of the valid bytes. */
	uint8_t data[BUFFER_BYTES];
};

struct sock {
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
	char lock[sizeof(((struct sockaddr_un *)0)->sun_path) + 8];
	int listener, fd;   /**< -1: none. */
	bool hello_received; /**< The peer is an emulator. */
	bool up;	    /**< Carrier without a peer too. */
	uint64_t tried_ns;  /**< Last connection attempt. */
	uint64_t empty_at;  /**< TSC of the last empty read; 0: the last read returned data. */
	struct wire_hold full; /**< For sent frames; the one of the port is for received frames. */
	struct sock_buffer in, out;
};

static int
stream_socket(void)
{
	return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

static void
close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void
connected(struct sock *s, int fd)
{
	s->fd = fd;
	s->hello_received = false;
	s->in.from = s->in.to = 0;
	s->out.from = 0;
	s->out.to = HELLO_BYTES;
	memcpy(s->out.data, HELLO, HELLO_BYTES);
	s->empty_at = 0;
	s->full.since_ns = 0;
}

/* With the lock of the name held: no other process creates or removes the socket meanwhile. */
static int
connect_or_listen(struct sock *s)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	int fd = stream_socket(), ret;

	if (fd < 0)
		return -errno;
	memcpy(name.sun_path, s->path, sizeof(name.sun_path));
	if (connect(fd, (struct sockaddr *)&name, sizeof(name)) == 0) {
		connected(s, fd);
		return 0;
	}
	/* EAGAIN: the backlog of the listener is full. */
	ret = errno == EAGAIN ? -EAGAIN : 0;
	if (ret == 0 && (errno == ECONNREFUSED || errno == ENOENT)) {
		unlink(s->path); /* left behind by a killed process */
		if (bind(fd, (struct sockaddr *)&name, sizeof(name)) == 0 && listen(fd, 1) == 0) {
			s->listener = fd;
			return 0;
		}
	}
	ret = ret != 0 ? ret : -errno;
	close(fd);
	return ret;
}

/*
 * Takes the lock file, which must be a file of this name: in a shared folder another user may have put a link there,
 * or hold the lock. A descriptor; -EBUSY: try again later.
 */
static int
lock_take(const char *lock)
{
	int fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666), ret = 0;
	struct stat opened, named;

	if (fd < 0)
		return -errno;
	if (flock(fd, LOCK_EX | LOCK_NB) != 0)
		ret = errno == EWOULDBLOCK ? -EBUSY : -errno;
	else if (fstat(fd, &opened) != 0 || lstat(lock, &named) != 0 || opened.st_ino != named.st_ino ||
		 opened.st_dev != named.st_dev)
		ret = -EBUSY; /* its last owner has removed the file */
	if (ret == 0)
		return fd;
	close(fd);
	return ret;
}

static int
look_for_peer(struct sock *s)
{
	int fd = lock_take(s->lock), ret;

	if (fd < 0)
		return fd;
	ret = connect_or_listen(s);
	/* While it is locked. In a folder like /tmp only the owner of a file can remove it. */
	unlink(s->lock);
	close(fd);
	return ret;
}

/* The lock is held for a few calls only. */
static int
look_for_peer_soon(struct sock *s)
{
	const struct timespec pause = {.tv_nsec = RETRY_NS / 10};
	uint64_t end = wire_mono_ns() + LOCK_NS;
	int ret;

	while ((ret = look_for_peer(s)) == -EBUSY && wire_mono_ns() < end)
		nanosleep(&pause, NULL);
	return ret;
}

int
wire_sock_check(const struct emu_wire_plan *plan, char *err, size_t err_len)
{
	char dir[sizeof(plan->in)], *slash;
	struct stat st;

	memcpy(dir, plan->in, sizeof(dir));
	slash = strrchr(dir, '/');
	if (slash == NULL)
		memcpy(dir, ".", 2);
	else
		slash[slash == dir] = '\0';
	if (access(dir, W_OK | X_OK) != 0) {
		snprintf(err, err_len, "sock:%s: %s: %s", plan->in, dir, strerror(errno));
		return -errno;
	}
	if (lstat(plan->in, &st) == 0 && !S_ISSOCK(st.st_mode)) {
		snprintf(err, err_len, "sock:%s: the file exists and is no socket", plan->in);
		return -EEXIST;
	}
	return 0;
}

static int
sock_attach(struct emu_wire_port *w, const struct emu_wire_plan *plan, char *err, size_t err_len)
{
	int ret = wire_sock_check(plan, err, err_len);
	struct sock *s;

	if (ret != 0)
		return ret;
	s = strlen(plan->in) < sizeof(s->path) ? calloc(1, sizeof(*s)) : NULL;
	if (s == NULL) {
		snprintf(err, err_len, "sock:%s: no memory", plan->in);
		return -ENOMEM;
	}
	memcpy(s->path, plan->in, strlen(plan->in));
	s->listener = s->fd = -1;
	s->up = plan->up;
	snprintf(s->lock, sizeof(s->lock), "%s.lock", s->path);
	ret = look_for_peer_soon(s);
	if (ret != 0 && ret != -EAGAIN) {
		if (ret == -EBUSY || ret == -ELOOP)
			snprintf(err, err_len, "sock:%s: the file %s %s", plan->in, s->lock,
				 ret == -EBUSY ? "is locked by another process" : "is a symbolic link");
		else
			snprintf(err, err_len, "sock:%s: %s", plan->in, strerror(-ret));
		free(s);
		return ret;
	}
	w->priv = s;
	w->has_queue = true;
	if (s->up)
		emu_port_set_carrier(w->dev, true);
	return 0;
}

/* Close the connection; a new peer connects to the listener, or becomes the listener. */
static void
hang_up(struct emu_wire_port *w)
{
	struct sock *s = w->priv;

	if (s->hello_received && s->out.from != s->out.to)
		w->stats.cut++;
	close_fd(&s->fd);
	s->hello_received = false;
	s->tried_ns = 0;
	if (w->dev->carrier && !s->up)
		emu_port_set_carrier(w->dev, false);
}

/* Send as much as the socket accepts; false if the connection has ended. */
static bool
flush(struct emu_wire_port *w)
{
	struct sock *s = w->priv;
	struct sock_buffer *b = &s->out;

	while (b->from != b->to) {
		ssize_t n = send(s->fd, b->data + b->from, b->to - b->from,
				 MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n > 0) {
			b->from += (uint32_t)n;
			continue;
		}
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return true;
		hang_up(w);
		return false;
	}
	b->from = b->to = 0;
	return true;
}

static void
sock_detach(struct emu_wire_port *w)
{
	struct sock *s = w->priv;

	if (s->fd >= 0)
		flush(w);
	close_fd(&s->fd);
	/* The listener removes the name. */
	if (s->listener >= 0)
		unlink(s->path);
	close_fd(&s->listener);
	free(s);
}

static enum emu_wire_result
sock_tx(struct emu_wire_port *w, const uint8_t *frame, uint32_t len)
{
	struct sock *s = w->priv;
	struct sock_buffer *b = &s->out;
	uint32_t length = htole32(len);

	if (!s->hello_received)
		return s->up && w->lossless && !wire_hold_expired(w, &s->full) ?
			       EMU_WIRE_HOLD : EMU_WIRE_LOST;
	if (BUFFER_BYTES - b->to < LENGTH_BYTES + len) {
		if (!flush(w))
			return EMU_WIRE_LOST;
		memmove(b->data, b->data + b->from, b->to - b->from);
		b->to -= b->from;
		b->from = 0;
	}
	if (BUFFER_BYTES - b->to < LENGTH_BYTES + len) {
		if (!wire_hold_expired(w, &s->full))
			return EMU_WIRE_HOLD;
		w->stats.would_block++;
		return EMU_WIRE_LOST;
	}
	s->full.since_ns = 0;
	memcpy(b->data + b->to, &length, LENGTH_BYTES);
	memcpy(b->data + b->to + LENGTH_BYTES, frame, len);
	b->to += LENGTH_BYTES + len;
	return EMU_WIRE_SENT;
}

/* Append available bytes to the unread ones; false if the connection has ended. */
static bool
fill(struct emu_wire_port *w)
{
	struct sock *s = w->priv;
	struct sock_buffer *b = &s->in;
	ssize_t n;

	if (s->empty_at != 0 && emu_cpu_ticks() - s->empty_at < EMPTY_PAUSE_TICKS)
		return true;
	s->empty_at = 0;
	memmove(b->data, b->data + b->from, b->to - b->from);
	b->to -= b->from;
	b->from = 0;
	n = recv(s->fd, b->data + b->to, BUFFER_BYTES - b->to, MSG_DONTWAIT);
	if (n > 0) {
		b->to += (uint32_t)n;
		return true;
	}
	if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
		s->empty_at = emu_cpu_ticks();
		return true;
	}
	hang_up(w);
	return false;
}

static void
hello_receive(struct emu_wire_port *w)
{
	struct sock *s = w->priv;

	if (s->in.to - s->in.from < HELLO_BYTES)
		return;
	if (memcmp(s->in.data + s->in.from, HELLO, HELLO_BYTES) != 0) {
		emu_trace_note(w->dev, "sock:%s: the peer is no wire", s->path);
		w->stats.write_errors++;
		hang_up(w);
		return;
	}
	s->in.from += HELLO_BYTES;
	s->hello_received = true;
	if (!w->dev->carrier)
		emu_port_set_carrier(w->dev, true);
}

/* Length of the next complete frame; 0: not complete yet; UINT32_MAX: invalid length. */
static uint32_t
next_frame(const struct sock_buffer *b)
{
	uint32_t len;

	if (b->to - b->from < LENGTH_BYTES)
		return 0;
	memcpy(&len, b->data + b->from, LENGTH_BYTES);
	len = le32toh(len);
	if (len == 0 || len > WIRE_FRAME_BYTES)
		return UINT32_MAX;
	return b->to - b->from - LENGTH_BYTES < len ? 0 : len;
}

static bool
take(struct emu_wire_port *w, const uint8_t *frame, uint32_t len)
{
	if (w->lossless)
		return wire_deliver(w, w->dev, frame, len);
	if (!w->dev->loop_on)
		wire_dp(w->dev)->ingress(w->dev, frame, len);
	return true;
}

static unsigned
take_frames(struct emu_wire_port *w, unsigned budget)
{
	struct sock *s = w->priv;
	unsigned n = 0;
	uint32_t len;

	for (; n < budget && (len = next_frame(&s->in)) != 0; n++) {
		if (len == UINT32_MAX) {
			emu_trace_note(w->dev, "sock:%s: invalid frame length", s->path);
			w->stats.write_errors++;
			hang_up(w);
			break;
		}
		if (!take(w, s->in.data + s->in.from + LENGTH_BYTES, len))
			break;
		s->in.from += LENGTH_BYTES + len;
	}
	return n;
}

/* Not connected: accept a peer, or try to connect at intervals. */
static void
wait_for_peer(struct sock *s)
{
	uint64_t now = wire_mono_ns();
	int fd;

	if (now - s->tried_ns < RETRY_NS)
		return;
	s->tried_ns = now;
	if (s->listener < 0) {
		look_for_peer(s);
		return;
	}
	fd = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd >= 0)
		connected(s, fd);
}

static unsigned
sock_poll(struct emu_wire_port *w, unsigned budget)
{
	struct sock *s = w->priv;

	if (s->fd < 0)
		wait_for_peer(s);
	if (s->fd < 0 || !flush(w))
		return 0;
	if ((!s->hello_received || next_frame(&s->in) == 0) && !fill(w))
		return 0;
	if (!s->hello_received)
		hello_receive(w);
	return s->hello_received ? take_frames(w, budget) : 0;
}

static bool
sock_wait(struct emu_wire_port *w, int *fd, uint64_t *ns)
{
	struct sock *s = w->priv;

	*fd = s->fd;
	if (s->fd < 0 && *ns > RETRY_NS)
		*ns = RETRY_NS;
	return s->fd < 0 || (s->out.from == s->out.to && next_frame(&s->in) == 0);
}

const struct wire_ops wire_sock_ops = {
	.attach = sock_attach,
	.detach = sock_detach,
	.tx = sock_tx,
	.poll = sock_poll,
	.wait = sock_wait,
	.own_carrier = true,
};
