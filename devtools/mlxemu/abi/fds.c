/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Table of the program's descriptors of emulated files; descriptors of the model. */
#undef _FILE_OFFSET_BITS
#undef _FORTIFY_SOURCE

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "abi.h"

#define ABI_FDS 65536
/* Lowest descriptor of the model: above those that programs use, below the usual limit. */
#define ABI_HIDDEN_BASE 600

static struct abi_fdobj *_Atomic abi_fds[ABI_FDS];
static pthread_mutex_t abi_fds_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct abi_fdobj abi_fd_model = {.kind = ABI_FD_MODEL, .refs = 1};
static _Atomic unsigned abi_fds_used;

/* Signals are blocked: a handler may need the table too. */
static void
abi_fds_lock(sigset_t *saved)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, saved);
	pthread_mutex_lock(&abi_fds_mutex);
}

static void
abi_fds_unlock(const sigset_t *saved)
{
	pthread_mutex_unlock(&abi_fds_mutex);
	pthread_sigmask(SIG_SETMASK, saved, NULL);
}

static struct abi_fdobj *
abi_fd_peek(int fd)
{
	if (fd < 0 || fd >= ABI_FDS)
		return NULL;
	return atomic_load_explicit(&abi_fds[fd], memory_order_acquire);
}

enum abi_fd_kind
abi_fd_kind(int fd)
{
	const struct abi_fdobj *obj = abi_fd_peek(fd);

	return obj != NULL && !abi_model_foreign() ? obj->kind : ABI_FD_NONE;
}

/* "port:fd,port:fd", read when the library is loaded. */
static int abi_guards[EMU_MAX_PORTS];
static unsigned abi_nguards;

__attribute__((constructor)) static void
abi_guards_init(void)
{
	const char *s = getenv("MLXEMU_WIRE_FDS");

	while (s != NULL && abi_nguards < EMU_MAX_PORTS && (s = strchr(s, ':')) != NULL)
		abi_guards[abi_nguards++] = atoi(++s);
}

bool
abi_fd_guarded(int fd)
{
	unsigned i;

	for (i = 0; i < abi_nguards; i++)
		if (abi_guards[i] == fd)
			return true;
	return false;
}

void
abi_fd_unguard(int fd)
{
	unsigned i;

	for (i = 0; i < abi_nguards; i++)
		if (abi_guards[i] == fd)
			abi_guards[i] = -1;
}

bool
abi_fd_any(void)
{
	return abi_nguards != 0 || abi_fds_used != 0;
}

int
abi_fd_add(int fd, struct abi_fdobj *obj)
{
	struct abi_fdobj *old;
	sigset_t saved;
	struct stat st;

	if (fd < 0 || fd >= ABI_FDS)
		return -EMFILE;
	if (obj->st_ino == 0 && obj != &abi_fd_model && abi_real_fstat(fd, &st) == 0) {
		obj->st_dev = st.st_dev;
		obj->st_ino = st.st_ino;
	}
	abi_fds_lock(&saved);
	old = abi_fd_peek(fd);
	obj->refs++;
	atomic_store_explicit(&abi_fds[fd], obj, memory_order_release);
	if (old == NULL)
		abi_fds_used++;
	abi_fds_unlock(&saved);
	/* The number was closed and reused without a call to this library. */
	if (old != NULL)
		abi_fd_put(old);
	return 0;
}

struct abi_fdobj *
abi_fd_take(int fd)
{
	struct abi_fdobj *obj;
	sigset_t saved;

	if (abi_fd_peek(fd) == NULL)
		return NULL;
	abi_fds_lock(&saved);
	obj = atomic_exchange(&abi_fds[fd], NULL);
	if (obj != NULL)
		abi_fds_used--;
	abi_fds_unlock(&saved);
	return obj;
}

void
abi_fd_ref(struct abi_fdobj *obj)
{
	sigset_t saved;

	abi_fds_lock(&saved);
	obj->refs++;
	abi_fds_unlock(&saved);
}

void
abi_fd_put(struct abi_fdobj *obj)
{
	sigset_t saved;
	unsigned left;

	if (obj == NULL)
		return;
	abi_fds_lock(&saved);
	left = --obj->refs;
	abi_fds_unlock(&saved);
	if (left == 0 && obj->release != NULL)
		obj->release(obj);
}

struct abi_fdobj *
abi_fd_get(int fd, enum abi_fd_kind kind)
{
	struct abi_fdobj *obj = abi_fd_peek(fd);
	sigset_t saved;
	struct stat st;

	if (obj == NULL || abi_model_foreign() || abi_real_fstat(fd, &st) != 0)
		return NULL;
	abi_fds_lock(&saved);
	obj = abi_fd_peek(fd);
	if (obj != NULL && obj->kind == kind && obj->st_ino == st.st_ino &&
	    obj->st_dev == st.st_dev)
		obj->refs++;
	else
		obj = NULL;
	abi_fds_unlock(&saved);
	return obj;
}

void
abi_fd_dup(int from, int to)
{
	struct abi_fdobj *obj = abi_model_foreign() ? NULL : abi_fd_peek(from);

	/* A duplicate of a descriptor of the model belongs to the program. */
	if (obj != NULL && obj->kind != ABI_FD_MODEL)
		(void)abi_fd_add(to, obj);
}

unsigned
abi_fd_program(void)
{
	char buf[4096];
	int dir = abi_real_open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	unsigned count = 0;
	long n, at;

	/* getdents64() instead of opendir(): do not allocate from the program's heap. */
	while (dir >= 0 && (n = syscall(SYS_getdents64, dir, buf, sizeof(buf))) > 0)
		for (at = 0; at < n;) {
			const struct dirent64 *e = (const struct dirent64 *)(buf + at);
			int fd = e->d_name[0] == '.' ? dir : atoi(e->d_name);
			const struct abi_fdobj *obj = abi_fd_peek(fd);

			count += fd != dir && (obj == NULL || obj->kind != ABI_FD_MODEL);
			at += e->d_reclen;
		}
	if (dir >= 0)
		abi_real_close(dir);
	return count;
}

int
abi_fd_hide(int fd)
{
	int hidden = ABI_REAL(fcntl)(fd, F_DUPFD_CLOEXEC, ABI_HIDDEN_BASE);

	if (hidden >= 0)
		abi_real_close(fd);
	else
		hidden = fd;
	(void)abi_fd_add(hidden, &abi_fd_model);
	return hidden;
}

int
abi_eventfd_take(int fd)
{
	/* The name in /proc shows the type. */
	static const char name[] = "anon_inode:[eventfd]";
	char path[32], what[sizeof(name)];
	ssize_t n;
	int copy;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	n = readlink(path, what, sizeof(what));
	if (n < 0)
		return -EBADF;
	if (n != (ssize_t)strlen(name) || memcmp(what, name, (size_t)n) != 0)
		return -EINVAL;
	copy = ABI_REAL(fcntl)(fd, F_DUPFD_CLOEXEC, 0);
	return copy >= 0 ? abi_fd_hide(copy) : -errno;
}

void
abi_fd_unhide_close(int fd)
{
	if (fd < 0)
		return;
	abi_fd_put(abi_fd_take(fd));
	abi_real_close(fd);
}

void
abi_fd_reset(void)
{
	static const pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
	unsigned i;

	memcpy(&abi_fds_mutex, &fresh, sizeof(fresh));
	for (i = 0; i < ABI_FDS; i++)
		if (atomic_load_explicit(&abi_fds[i], memory_order_relaxed) != NULL)
			atomic_store_explicit(&abi_fds[i], NULL, memory_order_relaxed);
	abi_fds_used = 0;
}
