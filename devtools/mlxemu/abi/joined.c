/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Processes that use a device which another process has open, by a descriptor that they received (SCM_RIGHTS), as
 * secondary processes of DPDK do. The descriptor is a file of shared memory, so that mmap() returns the pages that the
 * model polls; but a store by another process does not fault here, and cannot wake the engine. Such a process holds a
 * shared lock on a file of the run directory from its first mapping to its end. Meanwhile the engine does not sleep.
 */
#undef _FILE_OFFSET_BITS
#undef _FORTIFY_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "abi.h"
#include "core/emu_dev.h"

/* How long the result of one look at the lock is used: the engine sleeps only after longer idle times. */
#define LOOK_NS 1000000u

static int
joined_open(int flags)
{
	char path[ABI_PATH_MAX];

	snprintf(path, sizeof(path), "%s/joined", abi_run_dir());
	return abi_real_open(path, O_RDWR | O_CLOEXEC | flags, 0600);
}

/* Lock held, as by all that the engine calls. */
bool
abi_joined(void)
{
	static int fd = -1;
	static uint64_t looked_ns;
	static bool joined;
	uint64_t now = emu_mono_ns();

	if (looked_ns != 0 && now - looked_ns < LOOK_NS)
		return joined;
	looked_ns = now;
	if (fd < 0) {
		fd = joined_open(0);
		fd = fd >= 0 ? abi_fd_hide(fd) : -1;
	}
	/* No file: no process has joined. */
	joined = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0;
	if (fd >= 0 && !joined)
		(void)flock(fd, LOCK_UN);
	return joined;
}

/* The device of a received file, which the model names so (uverbs.c, vfio_device.c). NULL: another file. */
static const struct emu_dev *
device_of(int fd, bool *vfio)
{
	char link[64], path[128];
	struct emu_machine *m;
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (n <= 0)
		return NULL;
	path[n] = '\0';
	m = strncmp(path, "/memfd:", 7) == 0 ? abi_machine() : NULL;
	path[strcspn(path, " ")] = '\0';
	for (unsigned i = 0; m != NULL && i < m->ports; i++) {
		*vfio = strcmp(path + 7, m->dev[i].pci_addr) == 0;
		if (*vfio || strcmp(path + 7, m->dev[i].uverbs_name) == 0)
			return &m->dev[i];
	}
	return NULL;
}

int
abi_joined_may_map(int fd, size_t len, int prot, int flags, off64_t offset)
{
	const struct emu_dev *dev;
	bool vfio;

	if (abi_run_dir() == NULL || abi_fd_kind(fd) != ABI_FD_NONE)
		return 0;
	dev = device_of(fd, &vfio);
	if (dev == NULL)
		return 0;
	return vfio ? abi_vfio_may_map(len, flags, offset) : abi_uverbs_may_map(dev, fd, len, prot, flags, offset);
}

/* The process that accepts the connection wakes its engine. */
static void
engine_wake(void)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int dirfd = abi_real_open(abi_run_dir(), O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
	int fd = ABI_REAL(socket)(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	/* sun_path is short: use a path through a descriptor of the directory. */
	snprintf(addr.sun_path, sizeof(addr.sun_path), "/proc/self/fd/%d/ctl", dirfd);
	if (fd >= 0 && dirfd >= 0)
		(void)!connect(fd, (const struct sockaddr *)&addr, sizeof(addr));
	if (fd >= 0)
		abi_real_close(fd);
	if (dirfd >= 0)
		abi_real_close(dirfd);
}

void
abi_joined_mapped(int fd)
{
	static _Atomic int lock = -1;
	int free = -1, mine;
	bool vfio;

	if (atomic_load(&lock) >= 0 || abi_run_dir() == NULL || abi_fd_kind(fd) != ABI_FD_NONE ||
	    device_of(fd, &vfio) == NULL)
		return;
	mine = joined_open(O_CREAT);
	if (mine < 0)
		return;
	mine = abi_fd_hide(mine);
	/* The engine holds the lock for as long as it takes to look at it. */
	while (flock(mine, LOCK_SH) != 0 && errno == EINTR)
		;
	if (!atomic_compare_exchange_strong(&lock, &free, mine))
		abi_fd_unhide_close(mine);
	engine_wake();
}

bool
abi_joined_run(void)
{
	return getenv("MLXEMU_JOINED") != NULL;
}
