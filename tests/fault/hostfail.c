/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* The host's functions, failing on demand, in the import tables of chosen libraries. */

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <linux/sockios.h>

#include <rte_alarm.h>
#include <rte_common.h>
#include <rte_errno.h>
#include <rte_interrupts.h>
#include <rte_kvargs.h>
#include <rte_lcore.h>
#include <rte_malloc.h>
#include <rte_mbuf_dyn.h>
#include <rte_memory.h>
#include <rte_memzone.h>
#include <rte_mempool.h>
#include <rte_thread.h>

#include "abi/preload/imports.h"
#include "hostfail.h"

static __thread bool armed;
static unsigned int left;
static int ioctl_err;
static struct hostfail_hit hit;

/* Whether this call is the one; errno and rte_errno are then as the function itself leaves them. */
static bool
fails(const char *name, int err, const void *from)
{
	Dl_info info;

	if (!armed || hit.name != NULL || left-- != 0)
		return false;
	hit.name = name;
	hit.err = err;
	if (dladdr(from, &info) != 0)
		snprintf(hit.caller, sizeof(hit.caller), "%s", basename(info.dli_fname));
	errno = err;
	rte_errno = err;
	return true;
}

void
hostfail_arm(unsigned int k, int err)
{
	memset(&hit, 0, sizeof(hit));
	left = k;
	ioctl_err = err;
	armed = true;
}

void
hostfail_disarm(struct hostfail_hit *out)
{
	armed = false;
	*out = hit;
}

/* ------------------------------------------------------------------ the functions */

/* real_NAME is the function itself, fake_NAME replaces it. */
#define FAKE(type, name, failure, err, params, args) \
	static type (*real_##name) params; \
	static type \
	fake_##name params \
	{ \
		if (ioctl_err == 0 && fails(#name, err, __builtin_return_address(0))) \
			return failure; \
		return real_##name args; \
	}

static int (*real_ioctl)(int fd, unsigned long request, void *arg);

static int
fake_ioctl(int fd, unsigned long request, void *arg)
{
	const char *name = request == SIOCETHTOOL    ? "SIOCETHTOOL"
			   : request == SIOCGIFINDEX ? "SIOCGIFINDEX"
						     : "ioctl";

	if (ioctl_err != 0 && fails(name, ioctl_err, __builtin_return_address(0)))
		return -1;
	return real_ioctl(fd, request, arg);
}

FAKE(void *, malloc, NULL, ENOMEM, (size_t n), (n))
FAKE(void *, calloc, NULL, ENOMEM, (size_t n, size_t size), (n, size))
FAKE(void *, realloc, NULL, ENOMEM, (void *p, size_t n), (p, n))
FAKE(char *, strdup, NULL, ENOMEM, (const char *s), (s))
FAKE(int, posix_memalign, ENOMEM, ENOMEM, (void **p, size_t align, size_t n), (p, align, n))
FAKE(void *, mmap, MAP_FAILED, ENOMEM,
     (void *addr, size_t n, int prot, int flags, int fd, off_t offset),
     (addr, n, prot, flags, fd, offset))
FAKE(void *, mmap64, MAP_FAILED, ENOMEM,
     (void *addr, size_t n, int prot, int flags, int fd, off64_t offset),
     (addr, n, prot, flags, fd, offset))
FAKE(int, open, -1, EMFILE, (const char *path, int flags, mode_t mode), (path, flags, mode))
FAKE(int, open64, -1, EMFILE, (const char *path, int flags, mode_t mode), (path, flags, mode))
FAKE(int, openat, -1, EMFILE, (int dir, const char *path, int flags, mode_t mode),
     (dir, path, flags, mode))
FAKE(int, openat64, -1, EMFILE, (int dir, const char *path, int flags, mode_t mode),
     (dir, path, flags, mode))
FAKE(FILE *, fopen, NULL, EMFILE, (const char *path, const char *mode), (path, mode))
FAKE(FILE *, fopen64, NULL, EMFILE, (const char *path, const char *mode), (path, mode))
FAKE(DIR *, opendir, NULL, EMFILE, (const char *path), (path))
FAKE(int, socket, -1, EMFILE, (int domain, int type, int protocol), (domain, type, protocol))
FAKE(int, eventfd, -1, EMFILE, (unsigned int value, int flags), (value, flags))
FAKE(int, timerfd_create, -1, EMFILE, (int clock, int flags), (clock, flags))
FAKE(int, epoll_create, -1, EMFILE, (int size), (size))
FAKE(int, epoll_create1, -1, EMFILE, (int flags), (flags))
FAKE(int, epoll_ctl, -1, ENOMEM, (int fd, int op, int what, struct epoll_event *ev),
     (fd, op, what, ev))
FAKE(int, pipe, -1, EMFILE, (int fd[2]), (fd))
FAKE(int, pipe2, -1, EMFILE, (int fd[2], int flags), (fd, flags))
FAKE(int, pthread_create, EAGAIN, EAGAIN,
     (pthread_t *t, const pthread_attr_t *attr, void *(*run)(void *), void *arg),
     (t, attr, run, arg))
FAKE(void *, rte_malloc, NULL, ENOMEM, (const char *type, size_t n, unsigned int align),
     (type, n, align))
FAKE(void *, rte_zmalloc, NULL, ENOMEM, (const char *type, size_t n, unsigned int align),
     (type, n, align))
FAKE(void *, rte_calloc, NULL, ENOMEM, (const char *type, size_t k, size_t n, unsigned int align),
     (type, k, n, align))
FAKE(void *, rte_malloc_socket, NULL, ENOMEM,
     (const char *type, size_t n, unsigned int align, int socket), (type, n, align, socket))
FAKE(void *, rte_zmalloc_socket, NULL, ENOMEM,
     (const char *type, size_t n, unsigned int align, int socket), (type, n, align, socket))
FAKE(void *, rte_calloc_socket, NULL, ENOMEM,
     (const char *type, size_t k, size_t n, unsigned int align, int socket),
     (type, k, n, align, socket))
FAKE(const struct rte_memzone *, rte_memzone_reserve, NULL, ENOMEM,
     (const char *name, size_t n, int socket, unsigned int flags), (name, n, socket, flags))
FAKE(const struct rte_memzone *, rte_memzone_reserve_aligned, NULL, ENOMEM,
     (const char *name, size_t n, int socket, unsigned int flags, unsigned int align),
     (name, n, socket, flags, align))
FAKE(int, rte_eal_alarm_set, -ENOMEM, ENOMEM, (uint64_t us, rte_eal_alarm_callback fn, void *arg),
     (us, fn, arg))
FAKE(int, rte_mem_event_callback_register, -1, ENOMEM,
     (const char *name, rte_mem_event_callback_t fn, void *arg), (name, fn, arg))
FAKE(int, rte_mempool_event_callback_register, -ENOMEM, ENOMEM, (void *fn, void *arg), (fn, arg))
FAKE(int, rte_mbuf_dyn_rx_timestamp_register, -1, ENOMEM, (int *offset, uint64_t *flag),
     (offset, flag))
/* No errno is known: unreadable text, or no memory. */
FAKE(struct rte_kvargs *, rte_kvargs_parse, NULL, EINVAL,
     (const char *args, const char *const keys[]), (args, keys))
FAKE(int, rte_ctrl_thread_create, -EAGAIN, EAGAIN,
     (pthread_t *t, const char *name, const pthread_attr_t *attr, void *(*run)(void *), void *arg),
     (t, name, attr, run, arg))
/* It replaces rte_ctrl_thread_create() from DPDK 23.11 on. */
FAKE(int, rte_thread_create_internal_control, -EAGAIN, EAGAIN,
     (rte_thread_t *t, const char *name, rte_thread_func run, void *arg), (t, name, run, arg))
FAKE(struct rte_intr_handle *, rte_intr_instance_alloc, NULL, ENOMEM, (uint32_t flags), (flags))
FAKE(int, rte_intr_callback_register, -ENOMEM, ENOMEM,
     (const struct rte_intr_handle *handle, rte_intr_callback_fn fn, void *arg),
     (handle, fn, arg))

#define ROW(name) { #name, (void **)&real_##name, (void *)fake_##name }
static const struct abi_import functions[] = {
	ROW(malloc), ROW(calloc), ROW(realloc), ROW(strdup), ROW(posix_memalign),
	ROW(mmap), ROW(mmap64), ROW(open), ROW(open64), ROW(openat), ROW(openat64),
	ROW(fopen), ROW(fopen64), ROW(opendir), ROW(socket), ROW(eventfd), ROW(timerfd_create),
	ROW(epoll_create), ROW(epoll_create1), ROW(epoll_ctl), ROW(pipe), ROW(pipe2),
	ROW(pthread_create),
	ROW(rte_malloc), ROW(rte_zmalloc), ROW(rte_calloc), ROW(rte_malloc_socket),
	ROW(rte_zmalloc_socket), ROW(rte_calloc_socket),
	ROW(rte_memzone_reserve), ROW(rte_memzone_reserve_aligned),
	ROW(rte_eal_alarm_set), ROW(rte_mem_event_callback_register),
	ROW(rte_mempool_event_callback_register), ROW(rte_mbuf_dyn_rx_timestamp_register),
	ROW(rte_kvargs_parse), ROW(rte_ctrl_thread_create), ROW(rte_thread_create_internal_control),
	ROW(rte_intr_instance_alloc), ROW(rte_intr_callback_register),
	ROW(ioctl), /* The last one: not for each library. */
};

static bool
is_library(const char *object, const void *library)
{
	return strncmp(object, library, strlen(library)) == 0;
}

int
hostfail_attach(const char *library, bool with_ioctl)
{
	return abi_imports_replace(is_library, library, functions, RTE_DIM(functions) - !with_ioctl);
}
