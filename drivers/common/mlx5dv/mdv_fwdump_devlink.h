/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Parser of the kernel's reply; separate, so that it can be tested without kernel. */
#ifndef MDV_FWDUMP_DEVLINK_H
#define MDV_FWDUMP_DEVLINK_H

#include "mdv_fwdump_int.h"

/** State of the parser. */
struct mdv_fwdump_devlink {
	struct mdv_fwdump_set *set;
	uint32_t addr;	/**< Address of the next word. */
	bool inside;	/**< The following values are registers. */
};
/** Adds the registers in attributes to the set; the dump may continue in the next message. 0 or -errno. */
int mdv_fwdump_devlink_parse(struct mdv_fwdump_devlink *p, const void *attrs, size_t len);

#endif /* MDV_FWDUMP_DEVLINK_H */
