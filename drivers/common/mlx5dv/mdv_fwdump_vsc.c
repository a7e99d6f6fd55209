/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Register dump through the gateway: addresses from the scan space, values from the protected space. */

#include <stdio.h>
#include <stdlib.h>

#include "mdv_fwdump_int.h"
#include "mdv_vsc.h"

/*
 * The walk begins at address 0. Its end is not documented: FreeBSD stops if the next address is 0 or the
 * same, Linux at the size of the space. Stop at either, and at any address that does not increase.
 */
static int
walk(struct mdv_vsc *vsc, struct mdv_fwdump_set *set)
{
	uint32_t addr = 0, next = 0, size, val;
	int ret = mdv_vsc_space(vsc, MDV_VSC_SPACE_SCAN, &size);

	while (ret == 0) {
		ret = mdv_vsc_read(vsc, addr, &val, &next);
		if (ret == -EFAULT) {
			val = MDV_FWDUMP_UNREADABLE;
			ret = 0;
		}
		if (ret == 0)
			ret = mdv_fwdump_add(set, addr, val);
		if (next <= addr || (size != 0 && next >= size))
			break;
		addr = next;
	}
	return ret;
}

static int
fill(struct mdv_vsc *vsc, struct mdv_fwdump_set *set)
{
	uint32_t size;
	int ret = mdv_vsc_space(vsc, MDV_VSC_SPACE_PROTECTED, &size);

	/* Without protected space keep the values of the walk. */
	if (ret == -ENOTSUP)
		return 0;
	for (size_t i = 0; ret == 0 && i < set->count; i++) {
		struct mdv_fwdump_reg *reg = &set->regs[i];

		ret = mdv_vsc_read(vsc, reg->addr, &reg->val, NULL);
		if (ret == -EFAULT) {
			reg->val = MDV_FWDUMP_UNREADABLE;
			set->unreadable++;
			ret = 0;
		}
	}
	return ret == 0 && set->unreadable == set->count ? -ENODATA : ret;
}

/* Describes an error and maps it to the errno of mdv_fwdump_take(). */
static int
explain(int ret, bool has_config, char *why)
{
	static const struct {
		int err, taken; /* errno of the gateway; of mdv_fwdump_take() */
		const char *what;
	} rows[] = {
		{ ENOENT, EIO, "the function has no register gateway (a virtual function?)" },
		{ EPERM, EIO, "writing to configuration space is not permitted (kernel lockdown?)" },
		{ EROFS, EIO, "configuration space cannot be opened for writing (read-only /sys, as in containers?)" },
		{ EMFILE, EIO, "the process has no file descriptor left (EMFILE)" },
		{ ENFILE, EIO, "the system has no file descriptor left (ENFILE)" },
		{ EACCES, EIO, "configuration space needs root" },
		{ ENOTSUP, EIO, "the gateway has no scan space" },
		{ ENODATA, EIO, "the gateway shows none of the registers" },
		{ ENODEV, EIO, "the device does not answer" },
		{ EBUSY, EBUSY, "the gateway's lock is held by another process" },
		{ ECANCELED, ECANCELED, "the wait was canceled" },
		{ ETIMEDOUT, ETIMEDOUT, "the gateway does not answer: its flag never changes" },
	};
	const char *what = rte_strerror(-ret);
	int err = -ret;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].err == -ret) {
			what = rows[i].what;
			err = rows[i].taken;
		}
	}
	if (ret == -ENOENT && !has_config)
		what = "no configuration space";
	snprintf(why, MDV_FWDUMP_WHY, "%s", what);
	return -err;
}

int
mdv_fwdump_by_vsc(const struct mdv_fwdump *h, bool values_too, struct mdv_fwdump_set *set,
		  char why[MDV_FWDUMP_WHY])
{
	struct mdv_vsc vsc;
	bool has_config;
	int ret = mdv_vsc_open(&h->pci, &vsc, &has_config);

	if (ret != 0)
		return explain(ret, has_config, why);
	vsc.stop = &h->stop;
	ret = mdv_vsc_lock(&vsc);
	if (ret == 0)
		ret = walk(&vsc, set);
	if (ret == 0 && values_too)
		ret = fill(&vsc, set);
	mdv_vsc_close(&vsc);
	set->route = MDV_FWDUMP_VSC;
	return ret == 0 ? 0 : explain(ret, true, why);
}
