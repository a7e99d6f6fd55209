/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * On a host one driver at a time is bound to a device. The lock is on the IOMMU group's node in the
 * run directory: exclusive for a user of vfio-pci, shared between users of mlx5_core.
 */
#undef _FILE_OFFSET_BITS
#undef _FORTIFY_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>

#include "abi.h"

int
abi_driver_lock(const struct emu_dev *dev, uint8_t front)
{
	char path[ABI_PATH_MAX];
	int fd, ret;

	if ((dev->fronts & EMU_FRONT_VFIO) == 0)
		return ABI_DRIVER_UNLOCKED;
	snprintf(path, sizeof(path), "%s/root/dev/vfio/%u", abi_run_dir(),
		 ABI_VFIO_GROUP_BASE + dev->index);
	fd = abi_real_open(path, O_RDWR | O_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (flock(fd, (front == EMU_FRONT_VFIO ? LOCK_EX : LOCK_SH) | LOCK_NB) != 0) {
		ret = errno == EWOULDBLOCK ? -EBUSY : -errno;
		abi_real_close(fd);
		return ret;
	}
	return abi_fd_hide(fd);
}

void
abi_driver_unlock(int lock)
{
	if (lock < 0 || lock == ABI_DRIVER_UNLOCKED)
		return;
	/* A child of fork() shares the open file, which would keep the lock. */
	(void)flock(lock, LOCK_UN);
	abi_fd_unhide_close(lock);
}
