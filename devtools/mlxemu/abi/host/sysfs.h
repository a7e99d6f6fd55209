/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Emulated entries of /sys and /dev, as files in the run directory. */
#ifndef ABI_SYSFS_H
#define ABI_SYSFS_H

#include <stddef.h>

#include "core/emu_dev.h"

/**
 * Creates <dir>/root/{sys,dev} for all ports of the machine. 0 or -errno; on failure path is the name
 * that could not be created.
 */
int emu_sysfs_build(const struct emu_machine *m, const char *dir, char *path, size_t path_len);
/** Rewrites the files that follow the state of the port's interface (MTU, address, link). */
void emu_sysfs_refresh(const struct emu_dev *dev, const char *dir);

/** Removes the entries of a device: PCI function, RDMA device, node, interface. */
void emu_sysfs_remove(const struct emu_dev *dev, const char *dir);

/** Whether the RDMA device exists: another process of the run may have removed it. */
bool emu_sysfs_has(const struct emu_dev *dev, const char *dir);
/** Number at the beginning of ports/<port>/<name> ("4: ACTIVE"); 0: no such file. */
unsigned emu_sysfs_port(const struct emu_dev *dev, const char *dir, unsigned port, const char *name);

#endif /* ABI_SYSFS_H */
