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

int
abi_real_open(const char *path, int flags, unsigned mode)
{
	return ABI_REAL(open)(path, flags, mode);
}

int
abi_real_close(int fd)
{
	return ABI_REAL(close)(fd);
}

int
abi_real_fstat(int fd, struct stat *st)
{
	return ABI_REAL(fstat)(fd, st);
}

int
abi_real_lstat(const char *path, struct stat *st)
{
	return ABI_REAL(lstat)(path, st);
}

int
abi_real_ioctl(int fd, unsigned long request, void *arg)
{
	return ABI_REAL(ioctl)(fd, request, arg);
}

long
abi_real_write(int fd, const void *buf, size_t len)
{
	return ABI_REAL(write)(fd, buf, len);
}
