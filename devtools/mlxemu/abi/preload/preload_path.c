/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Replaced libc functions that take a path and neither open nor stat it. */
#undef _FILE_OFFSET_BITS
#undef _FORTIFY_SOURCE

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "preload.h"

ABI_PATH_FUNCTION(int, access, (const char *path, int mode), (abi_path(path, buf), mode))
ABI_PATH_FUNCTION(int, euidaccess, (const char *path, int mode), (abi_path(path, buf), mode))
ABI_PATH_FUNCTION(int, eaccess, (const char *path, int mode), (abi_path(path, buf), mode))
ABI_PATH_FUNCTION(int, faccessat, (int dirfd, const char *path, int mode, int flags),
		  (dirfd, abi_path(path, buf), mode, flags))
ABI_PATH_FUNCTION(ssize_t, readlink, (const char *path, char *out, size_t size),
		  (abi_path(path, buf), out, size))
ABI_PATH_FUNCTION(ssize_t, readlinkat, (int dirfd, const char *path, char *out, size_t size),
		  (dirfd, abi_path(path, buf), out, size))
ABI_PATH_FUNCTION(ssize_t, __readlink_chk, (const char *path, char *out, size_t len, size_t size),
		  (abi_path(path, buf), out, len, size))
ABI_PATH_FUNCTION(ssize_t, __readlinkat_chk, (int dirfd, const char *path, char *out, size_t len, size_t size),
		  (dirfd, abi_path(path, buf), out, len, size))

ABI_EXPORT char *
realpath(const char *path, char *out)
{
	char buf[ABI_PATH_MAX];
	const char *p = abi_path(path, buf);
	char *ret = ABI_REAL(realpath)(p, out);

	if (ret != NULL && p == buf)
		abi_path_unmap(ret);
	return ret;
}

ABI_EXPORT char *
__realpath_chk(const char *path, char *out, size_t size)
{
	char buf[ABI_PATH_MAX], full[PATH_MAX];
	const char *p = abi_path(path, buf);

	if (p != buf)
		return ABI_REAL(__realpath_chk)(p, out, size);
	if (ABI_REAL(realpath)(p, full) == NULL)
		return NULL;
	abi_path_unmap(full);
	if (strlen(full) >= size) {
		errno = ENAMETOOLONG;
		return NULL;
	}
	return strcpy(out, full);
}

ABI_EXPORT char *
canonicalize_file_name(const char *path)
{
	return realpath(path, NULL);
}

ABI_PATH_FUNCTION(int, chdir, (const char *path), (abi_path(path, buf)))
ABI_PATH_FUNCTION(ssize_t, getxattr, (const char *path, const char *name, void *value, size_t size),
		  (abi_path(path, buf), name, value, size))
ABI_PATH_FUNCTION(ssize_t, lgetxattr, (const char *path, const char *name, void *value, size_t size),
		  (abi_path(path, buf), name, value, size))
