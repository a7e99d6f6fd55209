/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* The kernel's answer as it is taken apart; the test of that needs no kernel. */
#ifndef MDV_FWDUMP_DEVLINK_H
#define MDV_FWDUMP_DEVLINK_H

#include "mdv_fwdump_int.h"

/** What was read so far. */
struct mdv_fwdump_devlink {
	struct mdv_fwdump_set *set;
	uint32_t addr;	/**< Of the next word. */
	bool inside;	/**< The values that come are registers. */
};
/** Takes the registers out of attributes; a message may end in the middle. 0 or -errno. */
int mdv_fwdump_devlink_parse(struct mdv_fwdump_devlink *p, const void *attrs, size_t len);

#endif /* MDV_FWDUMP_DEVLINK_H */
