/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Replaced stat functions of libc: device nodes look like character devices. */
#undef _FILE_OFFSET_BITS
#undef _FORTIFY_SOURCE

#include <fcntl.h>
#include <sys/sysmacros.h>

#include "preload.h"

const char *
abi_stat_path(const char *path, char *buf, int *node)
{
	const char *p = abi_path(path, buf);

	*node = p == buf ? abi_path_node(p) : ABI_NODE_NONE;
	return p;
}

/* After a successful stat of something: st is a struct stat (one layout on x86-64). */
static int
abi_stat_done(int ret, void *st, int node)
{
	if (ret == 0 && node >= 0)
		abi_stat_node(st, node);
	return ret;
}

/* Device node of a descriptor; -1: none. */
static int
abi_stat_fd(int fd)
{
	struct abi_fdobj *obj;
	int n;

	if (abi_fd_kind(fd) != ABI_FD_UVERBS)
		return -1;
	obj = abi_fd_get(fd, ABI_FD_UVERBS);
	if (obj == NULL)
		return -1;
	n = abi_uverbs_index(obj);
	abi_fd_put(obj);
	return n;
}

/* AT_EMPTY_PATH: the descriptor itself. (Declared nonnull, but programs pass NULL.) */
static bool
abi_stat_itself(const char *path, int flags)
{
	return (flags & AT_EMPTY_PATH) != 0 && (path == NULL || path[0] == '\0');
}

#define ABI_STAT(name, type)                                                                       \
	ABI_EXPORT int name(const char *path, type *st)                                            \
	{                                                                                          \
		char buf[ABI_PATH_MAX];                                                            \
		int n;                                                                             \
		const char *p = abi_stat_path(path, buf, &n);                                      \
                                                                                                   \
		return abi_stat_done(ABI_REAL(name)(p, st), st, n);                                \
	}

#define ABI_FSTAT(name, type)                                                                      \
	ABI_EXPORT int name(int fd, type *st)                                                      \
	{                                                                                          \
		return abi_stat_done(ABI_REAL(name)(fd, st), st, abi_stat_fd(fd));                 \
	}

#define ABI_FSTATAT(name, type)                                                                    \
	ABI_EXPORT int name(int dirfd, const char *path, type *st, int flags)                      \
	{                                                                                          \
		char buf[ABI_PATH_MAX];                                                            \
		int n;                                                                             \
		const char *p = abi_stat_path(path, buf, &n);                                      \
                                                                                                   \
		if (abi_stat_itself(path, flags))                                                  \
			n = abi_stat_fd(dirfd);                                                    \
		return abi_stat_done(ABI_REAL(name)(dirfd, p, st, flags), st, n);                  \
	}

ABI_STAT(stat, struct stat)
ABI_STAT(stat64, struct stat64)
ABI_STAT(lstat, struct stat)
ABI_STAT(lstat64, struct stat64)
ABI_FSTAT(fstat, struct stat)
ABI_FSTAT(fstat64, struct stat64)
ABI_FSTATAT(fstatat, struct stat)
ABI_FSTATAT(fstatat64, struct stat64)

/* Entry points of programs linked against glibc before 2.33. */
#define ABI_XSTAT(name, type)                                                                      \
	ABI_EXPORT int name(int ver, const char *path, type *st)                                   \
	{                                                                                          \
		char buf[ABI_PATH_MAX];                                                            \
		int n;                                                                             \
		const char *p = abi_stat_path(path, buf, &n);                                      \
                                                                                                   \
		return abi_stat_done(ABI_REAL(name)(ver, p, st), st, n);                           \
	}

#define ABI_FXSTAT(name, type)                                                                     \
	ABI_EXPORT int name(int ver, int fd, type *st)                                             \
	{                                                                                          \
		return abi_stat_done(ABI_REAL(name)(ver, fd, st), st, abi_stat_fd(fd));            \
	}

#define ABI_FXSTATAT(name, type)                                                                   \
	ABI_EXPORT int name(int ver, int dirfd, const char *path, type *st, int flags)             \
	{                                                                                          \
		char buf[ABI_PATH_MAX];                                                            \
		int n;                                                                             \
		const char *p = abi_stat_path(path, buf, &n);                                      \
                                                                                                   \
		return abi_stat_done(ABI_REAL(name)(ver, dirfd, p, st, flags), st, n);             \
	}

ABI_XSTAT(__xstat, struct stat)
ABI_XSTAT(__xstat64, struct stat64)
ABI_XSTAT(__lxstat, struct stat)
ABI_XSTAT(__lxstat64, struct stat64)
ABI_FXSTAT(__fxstat, struct stat)
ABI_FXSTAT(__fxstat64, struct stat64)
ABI_FXSTATAT(__fxstatat, struct stat)
ABI_FXSTATAT(__fxstatat64, struct stat64)

ABI_EXPORT int
statx(int dirfd, const char *path, int flags, unsigned mask, struct statx *stx)
{
	char buf[ABI_PATH_MAX];
	int n;
	const char *p = abi_stat_path(path, buf, &n);
	int ret;

	if (abi_stat_itself(path, flags))
		n = abi_stat_fd(dirfd);
	ret = ABI_REAL(statx)(dirfd, p, flags, mask, stx);
	if (ret == 0 && n >= 0) {
		stx->stx_mode = S_IFCHR | 0666;
		stx->stx_rdev_major = major(abi_node_rdev(n));
		stx->stx_rdev_minor = minor(abi_node_rdev(n));
		stx->stx_size = 0;
	}
	return ret;
}
