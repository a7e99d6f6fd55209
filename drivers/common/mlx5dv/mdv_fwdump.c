/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Register dumps: the part that is common to all systems. */

#include <stdlib.h>
#include <string.h>

#include "mdv_fwdump_int.h"

#define BOTH (MDV_FWDUMP_READ | MDV_FWDUMP_WRITE)

static int
fail(int ret)
{
	if (ret < 0)
		rte_errno = -ret;
	return ret;
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_fwdump_open)
int
mdv_fwdump_open(const struct rte_pci_addr *pci, unsigned int access, struct mdv_fwdump **out)
{
	struct mdv_fwdump *h;
	int ret;

	*out = NULL;
	if ((access & BOTH) == 0 || (access & ~(BOTH | MDV_FWDUMP_FORCE)) != 0)
		return fail(-EINVAL);
	h = calloc(1, sizeof(*h));
	if (h == NULL)
		return fail(-ENOMEM);
	h->pci = *pci;
	h->access = access;
	ret = mdv_fwdump_sys_open(h);
	if (ret != 0) {
		free(h);
		return fail(ret);
	}
	*out = h;
	return 0;
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_fwdump_stop_by)
void
mdv_fwdump_stop_by(struct mdv_fwdump *h, bool (*stop)(const void *arg), const void *arg)
{
	h->stop = (struct mdv_fwdump_stop){ .stop = stop, .arg = arg };
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_fwdump_close)
void
mdv_fwdump_close(struct mdv_fwdump *h)
{
	if (h == NULL)
		return;
	mdv_fwdump_sys_close(h);
	free(h);
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_fwdump_take)
int
mdv_fwdump_take(struct mdv_fwdump *h)
{
	if ((h->access & MDV_FWDUMP_WRITE) == 0)
		return fail(-EBADF);
	return fail(mdv_fwdump_sys_take(h));
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_fwdump_get)
int
mdv_fwdump_get(struct mdv_fwdump *h, struct mdv_fwdump_reg *regs, size_t count, size_t *filled)
{
	if (filled == NULL)
		return fail(-EINVAL);
	*filled = 0;
	if ((h->access & MDV_FWDUMP_READ) == 0)
		return fail(-EBADF);
	return fail(mdv_fwdump_sys_get(h, regs, count, filled));
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_fwdump_reset)
int
mdv_fwdump_reset(struct mdv_fwdump *h)
{
	if ((h->access & MDV_FWDUMP_WRITE) == 0)
		return fail(-EBADF);
	return fail(mdv_fwdump_sys_reset(h));
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_fwdump_info)
int
mdv_fwdump_info(struct mdv_fwdump *h, struct mdv_fwdump_info *info)
{
	memset(info, 0, sizeof(*info));
	return fail(mdv_fwdump_sys_info(h, info));
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_fwdump_get_current)
int
mdv_fwdump_get_current(struct mdv_fwdump *h, struct mdv_fwdump_reg *regs, size_t count,
		       size_t *filled, struct mdv_fwdump_info *info)
{
	struct mdv_fwdump_info unwanted;

	if (filled == NULL)
		return fail(-EINVAL);
	*filled = 0;
	if (info == NULL)
		info = &unwanted;
	memset(info, 0, sizeof(*info));
	if ((h->access & BOTH) != BOTH)
		return fail(-EBADF);
	return fail(mdv_fwdump_sys_get_current(h, regs, count, filled, info));
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_fwdump_route_name)
const char *
mdv_fwdump_route_name(enum mdv_fwdump_route route)
{
	static const char *const names[MDV_FWDUMP_ROUTES] = {
		[MDV_FWDUMP_NONE] = "none", [MDV_FWDUMP_VSC] = "vsc",
		[MDV_FWDUMP_DEVLINK] = "devlink", [MDV_FWDUMP_MLX5CTL] = "mlx5ctl",
	};

	return route < MDV_FWDUMP_ROUTES ? names[route] : "none";
}
