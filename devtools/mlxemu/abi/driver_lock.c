/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * One driver at a time has a device, on the whole machine: the group's node in the run directory
 * carries a lock, which vfio-pci's user holds alone and users of the kernel's driver share.
 */
#undef _FILE_OFFSET_BITS
#undef _FORTIFY_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>

#include "abi.h"

int
abi_door_lock(const struct emu_dev *dev, uint8_t door)
{
	char path[ABI_PATH_MAX];
	int fd, ret;

	if ((dev->doors & EMU_DOOR_VFIO) == 0)
		return ABI_DOOR_UNLOCKED;
	snprintf(path, sizeof(path), "%s/root/dev/vfio/%u", abi_run_dir(),
		 ABI_VFIO_GROUP_BASE + dev->index);
	fd = abi_real_open(path, O_RDWR | O_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (flock(fd, (door == EMU_DOOR_VFIO ? LOCK_EX : LOCK_SH) | LOCK_NB) != 0) {
		ret = errno == EWOULDBLOCK ? -EBUSY : -errno;
		abi_real_close(fd);
		return ret;
	}
	return abi_fd_hide(fd);
}

void
abi_door_unlock(int lock)
{
	if (lock < 0 || lock == ABI_DOOR_UNLOCKED)
		return;
	/* A child of fork() has a copy, which would keep the lock. */
	(void)flock(lock, LOCK_UN);
	abi_fd_unhide_close(lock);
}
