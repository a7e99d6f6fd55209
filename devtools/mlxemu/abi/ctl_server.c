/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * The control socket: a thread receives requests, one per line, and replies in order. It runs in the
 * process of the program; therefore it blocks all signals and uses high descriptor numbers.
 */
#undef _FILE_OFFSET_BITS
#undef _FORTIFY_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "abi.h"
#include "ctl/emu_ctl.h"

#define CONNECTIONS 16
#define READ_BYTES 4096u
/* A client that does not read its replies blocks the others for at most this time. */
#define SEND_TIMEOUT_S 2
#define JOIN_TIMEOUT_S 5

struct connection {
	int fd; /* -1: free */
	char *text;
	size_t len, room;
};

static struct {
	struct emu_machine *m;
	pthread_t thread;
	bool running;
	int listener, wake;
	char path[4200];
	struct connection conn[CONNECTIONS];
} ctl = {.listener = -1, .wake = -1};

static void
ctl_close(struct connection *c)
{
	abi_fd_unhide_close(c->fd);
	free(c->text);
	memset(c, 0, sizeof(*c));
	c->fd = -1;
}

static bool
ctl_send(const struct connection *c, const char *text, size_t len)
{
	while (len != 0) {
		ssize_t n = send(c->fd, text, len, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		text += n;
		len -= (size_t)n;
	}
	return true;
}

/* Send reply and newline in one write, so that the client can read it with one call. */
static bool
ctl_answer(const struct connection *c, const char *request, size_t len)
{
	char *text = NULL, *line;
	size_t n;
	bool sent;

	if (abi_json_loaded())
		text = emu_ctl_execute(ctl.m, request, len);
	else
		text = strdup("{\"error\":\"libjansson.so.4 cannot be loaded\",\"ok\":false}");
	n = text != NULL ? strlen(text) : 0;
	line = text != NULL ? realloc(text, n + 1) : NULL;
	if (line == NULL) {
		free(text);
		return false;
	}
	line[n] = '\n';
	sent = ctl_send(c, line, n + 1);
	free(line);
	return sent;
}

/* Reply to every complete line; false if the connection must be closed. */
static bool
ctl_lines(struct connection *c)
{
	char *begin = c->text, *nl;
	size_t left = c->len;

	while ((nl = memchr(begin, '\n', left)) != NULL) {
		if (nl != begin && !ctl_answer(c, begin, (size_t)(nl - begin)))
			return false;
		left -= (size_t)(nl + 1 - begin);
		begin = nl + 1;
	}
	memmove(c->text, begin, left);
	c->len = left;
	if (left < EMU_CTL_REQUEST_BYTES)
		return true;
	return ctl_send(c, "{\"error\":\"request too long\",\"ok\":false}\n", 41) && false;
}

static bool
ctl_read(struct connection *c)
{
	ssize_t n;

	if (c->room - c->len < READ_BYTES) {
		char *p = realloc(c->text, c->room + 4 * READ_BYTES);

		if (p == NULL)
			return false;
		c->text = p;
		c->room += 4 * READ_BYTES;
	}
	n = recv(c->fd, c->text + c->len, c->room - c->len, MSG_DONTWAIT);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	c->len += (size_t)n;
	return n != 0 && ctl_lines(c);
}

static void
ctl_accept(void)
{
	struct timeval timeout = {.tv_sec = SEND_TIMEOUT_S};
	int fd = accept4(ctl.listener, NULL, NULL, SOCK_CLOEXEC);
	unsigned i;

	if (fd < 0)
		return;
	for (i = 0; i < CONNECTIONS && ctl.conn[i].fd >= 0; i++)
		;
	if (i == CONNECTIONS) {
		abi_real_close(fd);
		return;
	}
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
	ctl.conn[i].fd = abi_fd_hide(fd);
	/* Releasing the lock wakes the engine: a process that joins the run only connects (joined.c). */
	emu_lock(ctl.m);
	emu_unlock(ctl.m);
}

static void
ctl_serve(struct pollfd *fds, const unsigned *index, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		struct connection *c = &ctl.conn[index[i]];

		if (fds[i].revents != 0 && !ctl_read(c))
			ctl_close(c);
	}
}

static void *
ctl_thread(void *arg)
{
	struct pollfd fds[2 + CONNECTIONS];
	unsigned index[CONNECTIONS], n;

	(void)arg;
	abi_inside = 1;
	for (;;) {
		fds[0] = (struct pollfd){.fd = ctl.wake, .events = POLLIN};
		fds[1] = (struct pollfd){.fd = ctl.listener, .events = POLLIN};
		n = 0;
		for (unsigned i = 0; i < CONNECTIONS; i++) {
			if (ctl.conn[i].fd < 0)
				continue;
			index[n] = i;
			fds[2 + n++] = (struct pollfd){.fd = ctl.conn[i].fd, .events = POLLIN};
		}
		if (poll(fds, 2 + n, -1) < 0)
			continue;
		if (fds[0].revents != 0)
			return NULL;
		ctl_serve(fds + 2, index, n);
		if (fds[1].revents != 0)
			ctl_accept();
	}
}

/* sun_path is short: use a path through a descriptor of the directory. */
static int
ctl_bind(int fd, const char *dir, const char *name)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int dirfd = abi_real_open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
	int ret;

	if (dirfd < 0)
		return -errno;
	snprintf(addr.sun_path, sizeof(addr.sun_path), "/proc/self/fd/%d/%s", dirfd, name);
	ret = bind(fd, (const struct sockaddr *)&addr, sizeof(addr)) == 0 ? 0 : -errno;
	abi_real_close(dirfd);
	return ret;
}

static int
ctl_listen(const char *dir)
{
	char name[32], fresh[4200], link[4200];
	int fd = ABI_REAL(socket)(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), ret;

	if (fd < 0)
		return -errno;
	snprintf(name, sizeof(name), "ctl.%d", (int)getpid());
	snprintf(ctl.path, sizeof(ctl.path), "%.4096s/%s", dir, name);
	unlink(ctl.path);
	ret = ctl_bind(fd, dir, name);
	if (ret == 0 && listen(fd, CONNECTIONS) != 0)
		ret = -errno;
	if (ret != 0) {
		abi_real_close(fd);
		return ret;
	}
	/* The link "ctl" points to the latest process. */
	snprintf(fresh, sizeof(fresh), "%.4096s/new.%d", dir, (int)getpid());
	snprintf(link, sizeof(link), "%.4096s/ctl", dir);
	if (symlink(name, fresh) == 0 && rename(fresh, link) != 0)
		unlink(fresh);
	ctl.listener = abi_fd_hide(fd);
	return 0;
}

static void
ctl_reset(void)
{
	for (unsigned i = 0; i < CONNECTIONS; i++)
		if (ctl.conn[i].fd >= 0)
			ctl_close(&ctl.conn[i]);
	abi_fd_unhide_close(ctl.listener);
	abi_fd_unhide_close(ctl.wake);
	ctl.listener = ctl.wake = -1;
}

int
abi_ctl_start(struct emu_machine *m, const char *dir)
{
	int ret, fd = eventfd(0, EFD_CLOEXEC);

	if (fd < 0)
		return -errno;
	for (unsigned i = 0; i < CONNECTIONS; i++)
		ctl.conn[i].fd = -1;
	ctl.m = m;
	ctl.wake = abi_fd_hide(fd);
	ret = ctl_listen(dir);
	if (ret == 0)
		ret = emu_thread_start(&ctl.thread, "mlxemu-ctl", ctl_thread, NULL);
	ctl.running = ret == 0;
	if (ret != 0)
		ctl_reset();
	return ret;
}

void
abi_ctl_stop(void)
{
	const uint64_t one = 1;
	struct timespec until;

	if (!ctl.running)
		return;
	ctl.running = false;
	if (abi_real_write(ctl.wake, &one, sizeof(one)) != sizeof(one))
		return;
	/* With a limit: the process may end in the middle of a request. */
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += JOIN_TIMEOUT_S;
	if (pthread_timedjoin_np(ctl.thread, NULL, &until) != 0)
		return;
	unlink(ctl.path);
	ctl_reset();
}
