/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Register dumps on FreeBSD: the ioctls of mlx5io(4); the kernel takes, keeps and gives the dump. */

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

/* The states that the page names are answers; the rest is told. */
static int
verdict(const struct mdv_fwdump *h, const char *what, int ret)
{
	int err = ret == 0 ? 0 : errno;

	if (err != 0 && err != EEXIST && err != ENOENT && err != EBADF)
		FWDUMP_LOG(ERR, &h->pci, "%s: %s", what, rte_strerror(err));
	return -err;
}

static int
ask(const struct mdv_fwdump *h, struct mdv_fwdump_reg *regs, size_t count, size_t *filled)
{
	struct mlx5_fwdump_get get = {
		.devaddr = address_of(h),
		/* One layout: two words. */
		.buf = (struct mlx5_fwdump_reg *)regs,
		.reg_cnt = count,
	};
	int ret = verdict(h, "MLX5_FWDUMP_GET", ioctl(h->ctl, MLX5_FWDUMP_GET, &get));

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

	_Static_assert(sizeof(struct mlx5_fwdump_reg) == sizeof(struct mdv_fwdump_reg), "one layout");
	h->ctl = open(MLX5_DEV_PATH, flags[h->access] | O_CLOEXEC);
	if (h->ctl < 0)
		return verdict(h, "cannot open " MLX5_DEV_PATH, -1);
	/* Is it a device of that driver? Only who may read can ask without changing anything. */
	ret = (h->access & MDV_FWDUMP_READ) != 0 ? ask(h, NULL, 0, &count) : 0;
	if (ret != -ENOENT && ret != -EINVAL)
		return 0;
	mdv_fwdump_sys_close(h);
	return ret;
}

void
mdv_fwdump_sys_close(struct mdv_fwdump *h)
{
	if (h->ctl >= 0)
		close(h->ctl);
	h->ctl = -1;
}

int
mdv_fwdump_sys_take(struct mdv_fwdump *h)
{
	struct mlx5_tool_addr addr = address_of(h);

	return verdict(h, "MLX5_FWDUMP_FORCE", ioctl(h->ctl, MLX5_FWDUMP_FORCE, &addr));
}

int
mdv_fwdump_sys_get(struct mdv_fwdump *h, struct mdv_fwdump_reg *regs, size_t count, size_t *filled)
{
	return ask(h, regs, count, filled);
}

int
mdv_fwdump_sys_reset(struct mdv_fwdump *h)
{
	struct mlx5_tool_addr addr = address_of(h);

	return verdict(h, "MLX5_FWDUMP_RESET", ioctl(h->ctl, MLX5_FWDUMP_RESET, &addr));
}

/* The kernel tells neither when it was taken nor by whom; that there is one shows in its first register. */
int
mdv_fwdump_sys_info(struct mdv_fwdump *h, struct mdv_fwdump_info *info)
{
	struct mdv_fwdump_reg first;
	size_t count;
	int ret = ask(h, &first, 1, &count);

	if (ret == 0)
		ret = ask(h, NULL, 0, &count);
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
