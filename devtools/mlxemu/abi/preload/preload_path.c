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
/* As in the kernel (vfio_device_open_file()): programs look for descriptors of devices. False: another link. */
static bool
abi_link_device(const char *path, char *out, size_t size, ssize_t *len)
{
	static const char folder[] = "/proc/self/fd/", device[] = "anon_inode:[vfio-device]";
	size_t n = sizeof(device) - 1;

	if (path == NULL || strncmp(path, folder, sizeof(folder) - 1) != 0 || abi_inside != 0 ||
	    abi_fd_kind(atoi(path + sizeof(folder) - 1)) != ABI_FD_VFIO_DEVICE)
		return false;
	n = n < size ? n : size;
	memcpy(out, device, n);
	*len = (ssize_t)n;
	return true;
}

ABI_EXPORT ssize_t
readlink(const char *path, char *out, size_t size)
{
	char buf[ABI_PATH_MAX];
	ssize_t len;

	return abi_link_device(path, out, size, &len) ? len : ABI_REAL(readlink)(abi_path(path, buf), out, size);
}

ABI_EXPORT ssize_t
__readlink_chk(const char *path, char *out, size_t len, size_t size)
{
	char buf[ABI_PATH_MAX];
	ssize_t n;

	if (len <= size && abi_link_device(path, out, len, &n))
		return n;
	return ABI_REAL(__readlink_chk)(abi_path(path, buf), out, len, size);
}

ABI_PATH_FUNCTION(ssize_t, readlinkat, (int dirfd, const char *path, char *out, size_t size),
		  (dirfd, abi_path(path, buf), out, size))
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
