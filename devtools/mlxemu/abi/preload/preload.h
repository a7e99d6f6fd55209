/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* For files that replace libc functions; each function is listed in mlxemu.map. */
#ifndef PRELOAD_H
#define PRELOAD_H

#include "abi/abi.h"

#define ABI_EXPORT __attribute__((visibility("default")))

/* Functions that libc exports without declaration. */
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int dirfd, const char *path, int flags);
int __openat64_2(int dirfd, const char *path, int flags);
int __xstat(int ver, const char *path, struct stat *st);
int __lxstat(int ver, const char *path, struct stat *st);
int __fxstat(int ver, int fd, struct stat *st);
int __fxstatat(int ver, int dirfd, const char *path, struct stat *st, int flags);
int __xstat64(int ver, const char *path, struct stat64 *st);
int __lxstat64(int ver, const char *path, struct stat64 *st);
int __fxstat64(int ver, int fd, struct stat64 *st);
int __fxstatat64(int ver, int dirfd, const char *path, struct stat64 *st, int flags);
ssize_t __read_chk(int fd, void *buf, size_t len, size_t size);
ssize_t __readlink_chk(const char *path, char *out, size_t len, size_t size);
ssize_t __readlinkat_chk(int dirfd, const char *path, char *out, size_t len, size_t size);
char *__realpath_chk(const char *path, char *out, size_t size);
int fcntl64(int fd, int cmd, ...);
ssize_t __pread_chk(int fd, void *buf, size_t len, off_t off, size_t size);
ssize_t __pread64_chk(int fd, void *buf, size_t len, off64_t off, size_t size);

/** Definition of a function that calls libc's function of the same name; a path is abi_path(path, buf). */
#define ABI_PATH_FUNCTION(type, name, parameters, arguments)                                       \
	ABI_EXPORT type name parameters                                                            \
	{                                                                                          \
		char buf[ABI_PATH_MAX];                                                            \
                                                                                                   \
		return ABI_REAL(name) arguments;                                                   \
	}

/**
 * Translated path of a stat-like call; *node is set to the node in /dev, or ABI_NODE_NONE.
 */
const char *abi_stat_path(const char *path, char *buf, int *node);

#endif /* PRELOAD_H */
