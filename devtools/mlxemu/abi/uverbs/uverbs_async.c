/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Replies of asynchronous queries, kept in a command channel until the program reads them.
 *
 * As in the kernel the replies are in a list, oldest first, and their bytes are counted from the
 * submission to the read. The socket of the channel contains one byte while the list is not empty,
 * for poll() and epoll. A program that uses other functions than read() gets that byte.
 */
#undef _FILE_OFFSET_BITS
#undef _FORTIFY_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "core/emu_fault.h"
#include "uverbs.h"

/* MAX_ASYNC_BYTES_IN_USE of hw/mlx5/devx.c: limit of the unread outboxes of a channel. */
#define ABI_ASYNC_BYTES_MAX (1u << 20)

struct abi_reply {
	TAILQ_ENTRY(abi_reply) next;
	struct abi_channel *channel;
	uint64_t due_ns; /* Delayed reply: CLOCK_MONOTONIC. */
	size_t out_len;
	/* What is read: struct mlx5_ib_uapi_devx_async_cmd_hdr. */
	uint64_t wr_id;
	uint8_t out[];
};
TAILQ_HEAD(abi_replies, abi_reply);

struct abi_async {
	struct abi_replies ready;
	size_t bytes_in_use;
};

/* Replies of slow commands, by due time. Protected by the machine's lock. */
static struct abi_replies abi_delayed = TAILQ_HEAD_INITIALIZER(abi_delayed);
/* The thread that delivers them: runs from the first one to the end of the model. */
static struct {
	pthread_t thread;
	pthread_mutex_t mutex;
	pthread_cond_t cond;
	bool runs, quit, moved; /* Under the mutex. */
} abi_reply_thread = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static uint64_t
abi_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

int
abi_async_open(struct abi_channel *ch)
{
	ch->async = calloc(1, sizeof(*ch->async));
	if (ch->async == NULL)
		return -ENOMEM;
	TAILQ_INIT(&ch->async->ready);
	return 0;
}

void
abi_async_close(struct abi_channel *ch)
{
	struct abi_reply *r, *next;

	if (ch->async == NULL)
		return;
	while ((r = TAILQ_FIRST(&ch->async->ready)) != NULL) {
		TAILQ_REMOVE(&ch->async->ready, r, next);
		free(r);
	}
	for (r = TAILQ_FIRST(&abi_delayed); r != NULL; r = next) {
		next = TAILQ_NEXT(r, next);
		if (r->channel != ch)
			continue;
		TAILQ_REMOVE(&abi_delayed, r, next);
		free(r);
	}
	free(ch->async);
	ch->async = NULL;
}

/* Make the reply readable. */
static void
abi_reply_ready(struct abi_reply *r)
{
	struct abi_channel *ch = r->channel;
	bool first = TAILQ_EMPTY(&ch->async->ready);
	char byte;

	if (abi_event_lost(ch->file->dev)) {
		/* The event is lost, and the program never reads the reply: its bytes stay reserved. */
		free(r);
		return;
	}
	TAILQ_INSERT_TAIL(&ch->async->ready, r, next);
	/* Renew the mark byte for each reply: an edge-triggered epoll must wake up too. */
	(void)send(ch->model_fd, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (!first)
		(void)recv(ch->peer_fd, &byte, 1, MSG_DONTWAIT);
}

/* Deliver the replies that are due; returns when the next one is due, 0: none. */
static uint64_t
abi_reply_serve(void)
{
	uint64_t next_ns = 0;
	struct abi_reply *r;

	if (abi_enter() == NULL)
		return 0;
	while ((r = TAILQ_FIRST(&abi_delayed)) != NULL) {
		if (r->due_ns > abi_now_ns()) {
			next_ns = r->due_ns;
			break;
		}
		TAILQ_REMOVE(&abi_delayed, r, next);
		abi_reply_ready(r);
	}
	abi_leave();
	return next_ns;
}

static void *
abi_reply_main(void *arg)
{
	struct timespec until;
	uint64_t next_ns;

	(void)arg;
	pthread_mutex_lock(&abi_reply_thread.mutex);
	while (!abi_reply_thread.quit) {
		abi_reply_thread.moved = false;
		pthread_mutex_unlock(&abi_reply_thread.mutex);
		next_ns = abi_reply_serve();
		pthread_mutex_lock(&abi_reply_thread.mutex);
		until = (struct timespec){.tv_sec = (time_t)(next_ns / 1000000000u),
					  .tv_nsec = (long)(next_ns % 1000000000u)};
		while (!abi_reply_thread.quit && !abi_reply_thread.moved)
			if (next_ns == 0)
				pthread_cond_wait(&abi_reply_thread.cond, &abi_reply_thread.mutex);
			else if (pthread_cond_clockwait(&abi_reply_thread.cond, &abi_reply_thread.mutex,
							CLOCK_MONOTONIC, &until) == ETIMEDOUT)
				break;
	}
	pthread_mutex_unlock(&abi_reply_thread.mutex);
	return NULL;
}

/* The list has changed: wake the thread. */
static int
abi_reply_wake(void)
{
	int ret = 0;

	pthread_mutex_lock(&abi_reply_thread.mutex);
	if (!abi_reply_thread.runs && !abi_reply_thread.quit) {
		pthread_cond_init(&abi_reply_thread.cond, NULL);
		ret = emu_thread_start(&abi_reply_thread.thread, "mlxemu-async", abi_reply_main, NULL);
		abi_reply_thread.runs = ret == 0;
	}
	abi_reply_thread.moved = true;
	if (abi_reply_thread.runs)
		pthread_cond_signal(&abi_reply_thread.cond);
	pthread_mutex_unlock(&abi_reply_thread.mutex);
	return ret;
}

void
abi_async_stop(void)
{
	bool runs;

	pthread_mutex_lock(&abi_reply_thread.mutex);
	abi_reply_thread.quit = true;
	runs = abi_reply_thread.runs;
	if (runs)
		pthread_cond_signal(&abi_reply_thread.cond);
	pthread_mutex_unlock(&abi_reply_thread.mutex);
	if (runs)
		pthread_join(abi_reply_thread.thread, NULL);
}

/* Insert after all replies that are due at the same time or earlier. */
static int
abi_reply_late(struct abi_reply *r, uint64_t delay_us)
{
	struct abi_reply *before;

	r->due_ns = abi_now_ns() + 1000 * delay_us;
	before = TAILQ_LAST(&abi_delayed, abi_replies);
	while (before != NULL && before->due_ns > r->due_ns)
		before = TAILQ_PREV(before, abi_replies, next);
	if (before != NULL) {
		/* Not the first one: no need to wake the thread. */
		TAILQ_INSERT_AFTER(&abi_delayed, before, r, next);
		return 0;
	}
	TAILQ_INSERT_HEAD(&abi_delayed, r, next);
	return abi_reply_wake();
}

int
abi_async_take(struct abi_channel *ch, size_t out_len)
{
	if (ch->async->bytes_in_use + out_len > ABI_ASYNC_BYTES_MAX)
		return -EAGAIN;
	ch->async->bytes_in_use += out_len;
	return 0;
}

void
abi_async_give(struct abi_channel *ch, size_t out_len)
{
	ch->async->bytes_in_use -= out_len;
}

int
abi_async_reply(struct abi_channel *ch, uint64_t wr_id, const void *out, size_t out_len,
		uint64_t delay_us)
{
	struct abi_reply *r = malloc(sizeof(*r) + out_len);

	if (r == NULL)
		return -ENOMEM;
	r->channel = ch;
	r->out_len = out_len;
	r->wr_id = wr_id;
	memcpy(r->out, out, out_len);
	if (delay_us == 0 || abi_reply_late(r, delay_us) != 0)
		abi_reply_ready(r);
	return 0;
}

/* Read the oldest reply. Number of bytes, or the kernel's -errno; -EAGAIN: none. */
static long
abi_async_pop(struct abi_channel *ch, void *buf, size_t len)
{
	const size_t head = sizeof(struct mlx5_ib_uapi_devx_async_cmd_hdr);
	struct abi_reply *r = TAILQ_FIRST(&ch->async->ready);
	size_t bytes;
	char byte;
	long ret;

	if (r == NULL)
		return -EAGAIN;
	bytes = head + r->out_len;
	if (bytes > len)
		return -ENOSPC;
	TAILQ_REMOVE(&ch->async->ready, r, next);
	if (TAILQ_EMPTY(&ch->async->ready))
		(void)recv(ch->peer_fd, &byte, 1, MSG_DONTWAIT);
	/* With an invalid address the reply is lost, as in the kernel. */
	ret = abi_copy_to((uintptr_t)buf, &r->wr_id, bytes);
	abi_async_give(ch, r->out_len);
	free(r);
	return ret == 0 ? (long)bytes : ret;
}

/* With O_NONBLOCK the result is EAGAIN for a removed device too; poll() reports the removal. */
static long
abi_async_read(struct abi_channel *ch, int fd, void *buf, size_t len)
{
	bool wait = (ABI_REAL(fcntl)(fd, F_GETFL) & O_NONBLOCK) == 0;
	struct pollfd p = {.fd = fd, .events = POLLIN};
	long ret;

	for (;;) {
		if (abi_enter() == NULL)
			return -EIO;
		if (ch->async != NULL)
			ret = abi_async_pop(ch, buf, len);
		else
			ret = wait ? -EIO : -EAGAIN;
		abi_leave();
		if (ret != -EAGAIN || !wait)
			return ret;
		if (poll(&p, 1, -1) < 0)
			return -errno;
	}
}

/*
 * Read a record of an event channel from the socket. All records of a channel have the same length;
 * with a buffer that is too small the record stays in the socket.
 */
static long
abi_event_read(int fd, void *buf, size_t len)
{
	const bool wait = (ABI_REAL(fcntl)(fd, F_GETFL) & O_NONBLOCK) == 0;
	char byte;
	ssize_t bytes = recv(fd, &byte, sizeof(byte), MSG_PEEK | MSG_TRUNC);

	if (bytes < 0)
		return -errno;
	if (bytes == 0)
		return wait ? -EIO : -EAGAIN;
	if ((size_t)bytes > len)
		return -EINVAL;
	bytes = ABI_REAL(read)(fd, buf, len);
	return bytes < 0 ? -errno : bytes;
}

bool
abi_channel_read(int fd, void *buf, size_t len, long *ret)
{
	struct abi_fdobj *fo = abi_fd_get(fd, ABI_FD_CHANNEL);
	struct abi_channel *ch = (struct abi_channel *)fo;
	bool async = fo != NULL && ch->object == MLX5_IB_OBJECT_DEVX_ASYNC_CMD_FD;
	bool event = fo != NULL && ch->object == MLX5_IB_OBJECT_DEVX_ASYNC_EVENT_FD;

	if (async)
		*ret = abi_async_read(ch, fd, buf, len);
	abi_fd_put(fo);
	if (event)
		*ret = abi_event_read(fd, buf, len);
	return async || event;
}
