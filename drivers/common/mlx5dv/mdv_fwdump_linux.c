/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Register dumps on Linux: identity of the device and routes to its registers. */

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "mdv_fwdump_int.h"

#define PCI_VENDOR_MELLANOX 0x15b3
/* pci.ids: smaller ids are ConnectX-3 and older, which mlx4 drives. */
#define PCI_DEVICE_MLX5_FIRST 0x1011

static int
id_read(const struct mdv_fwdump *h, const char *what, long *id)
{
	char path[96];

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/" PCI_PRI_FMT "/%s", h->pci.domain,
		 h->pci.bus, h->pci.devid, h->pci.function, what);
	return mdv_sysfs_number(path, id);
}

/*
 * Another device may get the same PCI address later. The file name therefore contains a hash of the
 * inode and, if sysfs has it, the creation time of the device's sysfs directory.
 */
static int
name_make(struct mdv_fwdump *h)
{
	struct statx stx;
	char path[64];
	uint64_t who;

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/" PCI_PRI_FMT "/", h->pci.domain,
		 h->pci.bus, h->pci.devid, h->pci.function);
	if (statx(AT_FDCWD, path, 0, STATX_INO | STATX_BTIME, &stx) != 0)
		return -errno;
	/* The kernel returns 0 for a time that it does not have (statx(2)). */
	who = stx.stx_ino ^ (uint64_t)stx.stx_btime.tv_sec << 30 ^ stx.stx_btime.tv_nsec;
	snprintf(h->name, sizeof(h->name), "fwdump-" PCI_PRI_FMT "-%016" PRIx64, h->pci.domain,
		 h->pci.bus, h->pci.devid, h->pci.function, who);
	return 0;
}

int
mdv_fwdump_sys_open(struct mdv_fwdump *h)
{
	long vendor = 0, device = 0;
	int ret = name_make(h);

	if (ret == 0)
		ret = id_read(h, "vendor", &vendor);
	if (ret == 0)
		ret = id_read(h, "device", &device);
	if (ret != 0)
		return ret;
	return vendor == PCI_VENDOR_MELLANOX && device >= PCI_DEVICE_MLX5_FIRST ? 0 : -EINVAL;
}

void
mdv_fwdump_sys_close(struct mdv_fwdump *h)
{
	(void)h;
}

/* Tries the gateway, then devlink. If both fail, the error of the gateway is the more specific one. */
static int
by_any(const struct mdv_fwdump *h, struct mdv_fwdump_set *set)
{
	char vsc[MDV_FWDUMP_WHY] = "", devlink[MDV_FWDUMP_WHY] = "";
	int ret = mdv_fwdump_by_vsc(h, set, vsc);

	if (ret == 0)
		return 0;
	set->count = 0;
	set->unreadable = 0;
	if (h->stop.stop != NULL) {
		MDV_LOG_PCI(ERR, &h->pci, "no registers by the gateway -> %s: %s; devlink is not waited for",
			rte_strerror(-ret), vsc);
		return ret;
	}
	if (mdv_fwdump_by_devlink(&h->pci, set, devlink) == 0) {
		MDV_LOG_PCI(NOTICE, &h->pci, "registers come from devlink, since %s", vsc);
		return 0;
	}
	MDV_LOG_PCI(ERR, &h->pci, "no way to the registers -> %s: gateway: %s; devlink: %s",
		rte_strerror(-ret), vsc, devlink);
	return ret;
}

int
mdv_fwdump_sys_take(struct mdv_fwdump *h)
{
	struct mdv_fwdump_set set = { 0 };
	struct mdv_fwdump_store store;
	int ret = mdv_fwdump_store_begin(h, &store);

	if (ret != 0)
		return ret;
	ret = by_any(h, &set);
	if (ret == 0)
		ret = mdv_fwdump_store_keep(h, &store, &set);
	mdv_fwdump_store_end(h, &store);
	free(set.regs);
	return ret;
}

int
mdv_fwdump_sys_get(struct mdv_fwdump *h, struct mdv_fwdump_reg *regs, size_t count, size_t *filled)
{
	struct mdv_fwdump_set set = { 0 };
	struct mdv_fwdump_info info;
	int ret = mdv_fwdump_store_read(h, &info, regs, count, filled);

	if (regs != NULL || ret != -ENOENT)
		return ret;
	ret = by_any(h, &set);
	*filled = ret == 0 ? set.count : 0;
	free(set.regs);
	return ret;
}

int
mdv_fwdump_sys_info(struct mdv_fwdump *h, struct mdv_fwdump_info *info)
{
	size_t filled;

	return mdv_fwdump_store_read(h, info, NULL, 0, &filled);
}

int
mdv_fwdump_sys_get_current(struct mdv_fwdump *h, struct mdv_fwdump_reg *regs, size_t count,
			   size_t *filled, struct mdv_fwdump_info *info)
{
	struct mdv_fwdump_set set = { 0 };
	int ret = by_any(h, &set);

	if (ret == 0) {
		*filled = regs != NULL && count < set.count ? count : set.count;
		if (regs != NULL && *filled != 0)
			memcpy(regs, set.regs, *filled * sizeof(*regs));
		info->route = set.route;
		info->count = set.count;
		info->unreadable = set.unreadable;
	}
	free(set.regs);
	return ret;
}
