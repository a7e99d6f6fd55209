/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Looks up the libc definitions of replaced functions. */
#undef _FILE_OFFSET_BITS
#undef _FORTIFY_SOURCE

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "abi.h"

__thread unsigned abi_inside __attribute__((tls_model("initial-exec")));

void *
abi_real_symbol(const char *name, void *_Atomic *slot)
{
	void *p = atomic_load_explicit(slot, memory_order_relaxed);

	if (p == NULL) {
		p = dlsym(RTLD_NEXT, name);
		atomic_store_explicit(slot, p, memory_order_relaxed);
	}
	return p;
}

#define REAL(type, name, parameters, arguments)                                                    \
	type abi_real_##name parameters                                                            \
	{                                                                                          \
		return ABI_REAL(name) arguments;                                                   \
	}

REAL(int, open, (const char *path, int flags, unsigned mode), (path, flags, mode))
REAL(int, close, (int fd), (fd))
REAL(int, fstat, (int fd, struct stat *st), (fd, st))
REAL(int, lstat, (const char *path, struct stat *st), (path, st))
REAL(int, ioctl, (int fd, unsigned long request, void *arg), (fd, request, arg))
REAL(long, write, (int fd, const void *buf, size_t len), (fd, buf, len))
