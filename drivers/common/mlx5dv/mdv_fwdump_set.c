/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Register dumps: the growing set of registers of a dump that is being taken. */

#include <stdlib.h>

#include "mdv_fwdump_int.h"

int
mdv_fwdump_add(struct mdv_fwdump_set *set, uint32_t addr, uint32_t val)
{
	if (set->count == set->size) {
		size_t size = set->size != 0 ? 2 * set->size : 1024;
		void *more;

		if (set->size >= MDV_FWDUMP_MAX)
			return -EOVERFLOW;
		more = realloc(set->regs, size * sizeof(*set->regs));
		if (more == NULL)
			return -ENOMEM;
		set->regs = more;
		set->size = size;
	}
	set->regs[set->count++] = (struct mdv_fwdump_reg){ addr, val };
	return 0;
}
