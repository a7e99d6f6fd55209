/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Replaced libc functions that open things by path. */
#undef _FILE_OFFSET_BITS
#undef _FORTIFY_SOURCE

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdarg.h>
#include <stdio.h>

#include "preload.h"

/* Only O_CREAT and O_TMPFILE have a mode. */
#define ABI_MODE_ARG(flags, mode)                                                                  \
	do {                                                                                       \
		if (((flags)&O_CREAT) != 0 || ((flags)&O_TMPFILE) == O_TMPFILE) {                  \
			va_list ap;                                                                \
			va_start(ap, flags);                                                       \
			mode = va_arg(ap, unsigned);                                               \
			va_end(ap);                                                                \
		}                                                                                  \
	} while (0)

/* Open a device node: 1 and the descriptor in *fd; 0: path is none. */
static int
abi_open_node(const char *real_path, int flags, int *fd)
{
	int node = abi_path_node(real_path);
	int ret;

	if (node < 0 || (flags & (O_DIRECTORY | O_PATH)) != 0)
		return 0;
	ret = node >= ABI_NODE_VFIO ? abi_vfio_open(node, flags)
				    : abi_uverbs_open((unsigned)node, flags);
	if (ret < 0) {
		errno = -ret;
		ret = -1;
	}
	*fd = ret;
	return 1;
}

/* The body of an open function: real is the call of libc's function with the path p. */
#define ABI_OPEN_BODY(real)                                                                        \
	{                                                                                          \
		char buf[ABI_PATH_MAX];                                                            \
		const char *p = abi_path(path, buf);                                               \
		unsigned mode = 0;                                                                 \
		int fd;                                                                            \
                                                                                                   \
		ABI_MODE_ARG(flags, mode);                                                         \
		if (p == buf && abi_open_node(p, flags, &fd))                                      \
			return fd;                                                                 \
		fd = real;                                                                         \
		return p == buf ? abi_pciconf_opened(fd, p) : fd;                                  \
	}

#define ABI_OPEN(name)                                                                             \
	ABI_EXPORT int name(const char *path, int flags, ...)                                      \
		ABI_OPEN_BODY(ABI_REAL(name)(p, flags, mode))

#define ABI_OPENAT(name)                                                                           \
	ABI_EXPORT int name(int dirfd, const char *path, int flags, ...)                           \
		ABI_OPEN_BODY(ABI_REAL(name)(dirfd, p, flags, mode))

ABI_OPEN(open)
ABI_OPEN(open64)
ABI_OPENAT(openat)
ABI_OPENAT(openat64)

/* Variants without mode, used by _FORTIFY_SOURCE. */
#define ABI_OPEN_2(name, real)                                                                     \
	ABI_EXPORT int name(const char *path, int flags)                                           \
	{                                                                                          \
		return real(path, flags);                                                          \
	}

#define ABI_OPENAT_2(name, real)                                                                   \
	ABI_EXPORT int name(int dirfd, const char *path, int flags)                                \
	{                                                                                          \
		return real(dirfd, path, flags);                                                   \
	}

ABI_OPEN_2(__open_2, open)
ABI_OPEN_2(__open64_2, open64)
ABI_OPENAT_2(__openat_2, openat)
ABI_OPENAT_2(__openat64_2, openat64)

ABI_PATH_FUNCTION(FILE *, fopen, (const char *path, const char *mode), (abi_path(path, buf), mode))
ABI_PATH_FUNCTION(FILE *, fopen64, (const char *path, const char *mode), (abi_path(path, buf), mode))
ABI_PATH_FUNCTION(DIR *, opendir, (const char *path), (abi_path(path, buf)))
ABI_PATH_FUNCTION(int, scandir,
		  (const char *path, struct dirent ***list, int (*filter)(const struct dirent *),
		   int (*compare)(const struct dirent **, const struct dirent **)),
		  (abi_path(path, buf), list, filter, compare))
ABI_PATH_FUNCTION(int, scandir64,
		  (const char *path, struct dirent64 ***list, int (*filter)(const struct dirent64 *),
		   int (*compare)(const struct dirent64 **, const struct dirent64 **)),
		  (abi_path(path, buf), list, filter, compare))

static void *
abi_glob_opendir(const char *path)
{
	return opendir(path);
}

static struct dirent *
abi_glob_readdir(void *dir)
{
	return readdir(dir);
}

static void
abi_glob_closedir(void *dir)
{
	(void)closedir(dir);
}

/* glob() calls functions inside libc: pass it the replaced ones. The results keep their names. */
static void
abi_glob_hooks(glob_t *g, int *flags)
{
	if ((*flags & GLOB_ALTDIRFUNC) != 0)
		return;
	g->gl_opendir = abi_glob_opendir;
	g->gl_readdir = abi_glob_readdir;
	g->gl_closedir = abi_glob_closedir;
	g->gl_stat = stat;
	g->gl_lstat = lstat;
	*flags |= GLOB_ALTDIRFUNC;
}

ABI_EXPORT int
glob(const char *pattern, int flags, int (*errfunc)(const char *, int), glob_t *g)
{
	char buf[ABI_PATH_MAX];

	if (pattern != NULL && (flags & GLOB_ALTDIRFUNC) == 0 && abi_path(pattern, buf) == buf)
		abi_glob_hooks(g, &flags);
	return ABI_REAL(glob)(pattern, flags, errfunc, g);
}

ABI_EXPORT int
glob64(const char *pattern, int flags, int (*errfunc)(const char *, int), glob64_t *g)
{
	/* glob_t and glob64_t have the same layout on x86-64. */
	return glob(pattern, flags, errfunc, (glob_t *)g);
}
