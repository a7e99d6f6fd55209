/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Replaced libc functions that take a descriptor. Sockets: preload_socket.c. */
#undef _FILE_OFFSET_BITS
#undef _FORTIFY_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <net/if.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "preload.h"

ABI_EXPORT int
close(int fd)
{
	enum abi_fd_kind kind = abi_fd_kind(fd);
	struct abi_fdobj *obj;
	int ret;

	if (abi_inside != 0)
		return ABI_REAL(close)(fd);
	/* Keep descriptors of the model open: programs may close all that they did not open. */
	if (kind == ABI_FD_MODEL || abi_fd_guarded(fd)) {
		errno = EBADF;
		return -1;
	}
	if (kind == ABI_FD_NONE)
		return ABI_REAL(close)(fd);
	obj = abi_fd_take(fd);
	ret = ABI_REAL(close)(fd);
	abi_fd_put(obj);
	return ret;
}

static unsigned
abi_fd_limit(void)
{
	struct rlimit lim;

	if (getrlimit(RLIMIT_NOFILE, &lim) != 0 || lim.rlim_cur > 65536)
		return 65536;
	return lim.rlim_cur;
}

/* Close first to last (inclusive) one by one, except those of the model. */
static void
abi_close_each(unsigned first, unsigned last)
{
	unsigned max = abi_fd_limit();
	unsigned fd;

	for (fd = first; fd <= last && fd < max; fd++)
		(void)close((int)fd);
	/* No descriptor of the model is that high. */
	if (fd <= last)
		(void)ABI_REAL(close_range)(fd, last, 0);
}

ABI_EXPORT int
close_range(unsigned first, unsigned last, int flags)
{
	if (!abi_fd_any() || first > last || (flags & CLOSE_RANGE_CLOEXEC) != 0)
		return ABI_REAL(close_range)(first, last, flags);
	abi_close_each(first, last);
	return 0;
}

ABI_EXPORT void
closefrom(int first)
{
	if (!abi_fd_any())
		ABI_REAL(closefrom)(first);
	else
		abi_close_each(first < 0 ? 0 : first, UINT_MAX);
}

ABI_EXPORT int
dup(int fd)
{
	int ret = ABI_REAL(dup)(fd);

	if (ret >= 0)
		abi_fd_dup(fd, ret);
	return ret;
}

/* dup2() and dup3() close to. */
static int
abi_dup_to(int from, int to, int flags, bool three)
{
	struct abi_fdobj *old = NULL;
	int ret;

	if ((abi_fd_kind(to) == ABI_FD_MODEL || abi_fd_guarded(to)) && abi_inside == 0) {
		errno = EBUSY;
		return -1;
	}
	if (from != to && abi_fd_kind(to) != ABI_FD_NONE)
		old = abi_fd_take(to);
	ret = three ? ABI_REAL(dup3)(from, to, flags) : ABI_REAL(dup2)(from, to);
	if (ret >= 0 && from != to)
		abi_fd_dup(from, to);
	else if (ret < 0 && old != NULL)
		(void)abi_fd_add(to, old);
	abi_fd_put(old);
	return ret;
}

ABI_EXPORT int
dup2(int from, int to)
{
	return abi_dup_to(from, to, 0, false);
}

ABI_EXPORT int
dup3(int from, int to, int flags)
{
	return abi_dup_to(from, to, flags, true);
}

static int
abi_fcntl_done(int fd, int cmd, int ret)
{
	if (ret >= 0 && (cmd == F_DUPFD || cmd == F_DUPFD_CLOEXEC))
		abi_fd_dup(fd, ret);
	return ret;
}

#define ABI_FCNTL(name)                                                                            \
	ABI_EXPORT int name(int fd, int cmd, ...)                                                  \
	{                                                                                          \
		va_list ap;                                                                        \
		void *arg;                                                                         \
                                                                                                   \
		va_start(ap, cmd);                                                                 \
		arg = va_arg(ap, void *);                                                          \
		va_end(ap);                                                                        \
		return abi_fcntl_done(fd, cmd, ABI_REAL(name)(fd, cmd, arg));                      \
	}

ABI_FCNTL(fcntl)
ABI_FCNTL(fcntl64)

/* ioctl() on a uverbs descriptor; 0: not one. */
static int
abi_ioctl_uverbs(int fd, unsigned long request, void *arg, int *ret)
{
	struct abi_fdobj *obj;

	if (abi_fd_kind(fd) != ABI_FD_UVERBS)
		return 0;
	obj = abi_fd_get(fd, ABI_FD_UVERBS);
	if (obj == NULL)
		return 0;
	*ret = request == RDMA_VERBS_IOCTL ? abi_uverbs_ioctl(obj, arg) : -ENOTTY;
	abi_fd_put(obj);
	return 1;
}

/* The same for VFIO. */
static int
abi_ioctl_vfio(int fd, unsigned long request, void *arg, int *ret)
{
	enum abi_fd_kind kind = abi_fd_kind(fd);

	if (!abi_fd_is_vfio(kind))
		return 0;
	*ret = abi_vfio_ioctl(fd, kind, request, arg);
	return 1;
}

ABI_EXPORT int
ioctl(int fd, unsigned long request, ...)
{
	va_list ap;
	void *arg;
	int ret;

	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	if (abi_inside != 0 || (!abi_ioctl_uverbs(fd, request, arg, &ret) &&
				!abi_ioctl_vfio(fd, request, arg, &ret) &&
				!abi_netdev_ioctl(request, arg, &ret)))
		return ABI_REAL(ioctl)(fd, request, arg);
	if (ret < 0) {
		errno = -ret;
		return -1;
	}
	return ret;
}

/* The write() interface of uverbs is not supported; it fails at the first use. */
ABI_EXPORT ssize_t
write(int fd, const void *buf, size_t len)
{
	ssize_t done;

	if (abi_fd_kind(fd) == ABI_FD_UVERBS) {
		errno = EOPNOTSUPP;
		return -1;
	}
	if (abi_pciconf_access(fd, true, (void *)(uintptr_t)buf, len, -1, &done))
		return done;
	return ABI_REAL(write)(fd, buf, len);
}

/* 1 if fd is a channel with records kept by the model, or a config file; *ret as of read(). */
static int
abi_read_channel(int fd, void *buf, size_t len, ssize_t *ret)
{
	long bytes;

	if (abi_pciconf_access(fd, false, buf, len, -1, ret))
		return 1;
	if (abi_inside != 0 || abi_fd_kind(fd) != ABI_FD_CHANNEL ||
	    !abi_channel_read(fd, buf, len, &bytes))
		return 0;
	if (bytes < 0)
		errno = (int)-bytes;
	*ret = bytes < 0 ? -1 : bytes;
	return 1;
}

ABI_EXPORT ssize_t
read(int fd, void *buf, size_t len)
{
	ssize_t ret;

	return abi_read_channel(fd, buf, len, &ret) ? ret : ABI_REAL(read)(fd, buf, len);
}

ABI_EXPORT ssize_t
__read_chk(int fd, void *buf, size_t len, size_t size)
{
	ssize_t ret;

	if (len <= size && abi_read_channel(fd, buf, len, &ret))
		return ret;
	return ABI_REAL(__read_chk)(fd, buf, len, size);
}

ABI_EXPORT unsigned
if_nametoindex(const char *name)
{
	unsigned index = abi_netdev_index(name);

	return index != 0 ? index : ABI_REAL(if_nametoindex)(name);
}

ABI_EXPORT char *
if_indextoname(unsigned index, char name[IF_NAMESIZE])
{
	const char *ours = abi_netdev_name(index);

	return ours != NULL ? strcpy(name, ours) : ABI_REAL(if_indextoname)(index, name);
}
