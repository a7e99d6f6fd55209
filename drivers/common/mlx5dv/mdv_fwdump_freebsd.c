/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Register dumps on FreeBSD: the ioctls of mlx5io(4). The kernel takes, keeps and returns the dump
 * (sys/dev/mlx5/mlx5_core/mlx5_fwdump.c).
 */

#include <fcntl.h>
#include <paths.h>
#include <string.h>
#include <sys/types.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <dev/mlx5/mlx5io.h>

#include "mdv_fwdump_int.h"

static struct mlx5_tool_addr
address_of(const struct mdv_fwdump *h)
{
	return (struct mlx5_tool_addr){
		.domain = h->pci.domain, .bus = h->pci.bus, .slot = h->pci.devid,
		.func = h->pci.function,
	};
}

/* EEXIST, ENOENT and EBADF are documented states and not logged. */
static int
ioctl_result(const struct mdv_fwdump *h, const char *what, int ret)
{
	int err = ret == 0 ? 0 : errno;

	if (err != 0 && err != EEXIST && err != ENOENT && err != EBADF)
		MDV_LOG_PCI(ERR, &h->pci, "%s: %s", what, rte_strerror(err));
	return -err;
}

static int
dump_get(const struct mdv_fwdump *h, struct mdv_fwdump_reg *regs, size_t count, size_t *filled)
{
	struct mlx5_fwdump_get get = {
		.devaddr = address_of(h),
		/* Both structures are two 32-bit words. */
		.buf = (struct mlx5_fwdump_reg *)regs,
		.reg_cnt = count,
	};
	int ret = ioctl_result(h, "MLX5_FWDUMP_GET", ioctl(h->ctl, MLX5_FWDUMP_GET, &get));

	*filled = ret == 0 ? get.reg_filled : 0;
	return ret;
}

int
mdv_fwdump_sys_open(struct mdv_fwdump *h)
{
	static const int flags[] = { [MDV_FWDUMP_READ] = O_RDONLY, [MDV_FWDUMP_WRITE] = O_WRONLY,
				     [MDV_FWDUMP_READ | MDV_FWDUMP_WRITE] = O_RDWR };
	size_t count;
	int ret;

	_Static_assert(sizeof(struct mlx5_fwdump_reg) == sizeof(struct mdv_fwdump_reg), "same layout");
	h->ctl = open(MLX5_DEV_PATH, flags[h->access & ~MDV_FWDUMP_FORCE] | O_CLOEXEC);
	if (h->ctl < 0)
		return ioctl_result(h, "cannot open " MLX5_DEV_PATH, -1);
	/* Check that the device belongs to mlx5; without read access no ioctl is free of side effects. */
	ret = (h->access & MDV_FWDUMP_READ) != 0 ? dump_get(h, NULL, 0, &count) : 0;
	if (ret != -ENOENT && ret != -EINVAL)
		return 0;
	mdv_fwdump_sys_close(h);
	return ret;
}

void
mdv_fwdump_sys_close(struct mdv_fwdump *h)
{
	close(h->ctl);
}

int
mdv_fwdump_sys_take(struct mdv_fwdump *h)
{
	struct mlx5_tool_addr addr = address_of(h);

	return ioctl_result(h, "MLX5_FWDUMP_FORCE", ioctl(h->ctl, MLX5_FWDUMP_FORCE, &addr));
}

int
mdv_fwdump_sys_get(struct mdv_fwdump *h, struct mdv_fwdump_reg *regs, size_t count, size_t *filled)
{
	return dump_get(h, regs, count, filled);
}

int
mdv_fwdump_sys_reset(struct mdv_fwdump *h)
{
	struct mlx5_tool_addr addr = address_of(h);

	return ioctl_result(h, "MLX5_FWDUMP_RESET", ioctl(h->ctl, MLX5_FWDUMP_RESET, &addr));
}

/* The kernel reports neither time nor process. Reading one register fails if no dump is kept. */
int
mdv_fwdump_sys_info(struct mdv_fwdump *h, struct mdv_fwdump_info *info)
{
	struct mdv_fwdump_reg first;
	size_t count;
	int ret = dump_get(h, &first, 1, &count);

	if (ret == 0)
		ret = dump_get(h, NULL, 0, &count);
	if (ret != 0)
		return ret;
	info->route = MDV_FWDUMP_MLX5CTL;
	info->count = count;
	return 0;
}

int
mdv_fwdump_sys_get_current(struct mdv_fwdump *h, struct mdv_fwdump_reg *regs, size_t count, size_t *filled,
		    struct mdv_fwdump_info *info)
{
	(void)h;
	(void)regs;
	(void)count;
	(void)filled;
	(void)info;
	return -ENOTSUP;
}
