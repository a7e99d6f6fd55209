/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* The check every command inbox must pass before anything acts on it. */

#ifndef PRM_CHECK_H
#define PRM_CHECK_H

#include "prm_base.h"

/** What is wrong with an inbox, and where. */
struct prm_violation {
	const char *layout, *field; /* field "reserved" when no row names the bits */
	uint32_t dword; /* counted from the start of the inbox */
	uint64_t value; /* offending bits or value; the length for "too short" */
	const char *why; /* "reserved bits set", "out of range", "too short", "unknown opcode" */
};

/**
 * Checks a command inbox: known opcode, length of the fixed part, reserved bits zero, values of
 * complete enumerations known; nested layouts and trailing arrays included. A union whose reading
 * depends on other fields is not looked into.
 *
 * @param in   inbox, 4-byte aligned
 * @param len  its length in bytes
 * @param v    filled when the check fails; may be NULL
 * @return 0, or -EINVAL
 */
int prm_check_in(const void *in, size_t len, struct prm_violation *v);

/** The same over one layout, such as a register or an object's parameters. */
int prm_check_layout(const struct prm_layout *l, const void *p, size_t len,
		struct prm_violation *v);

#endif /* PRM_CHECK_H */
