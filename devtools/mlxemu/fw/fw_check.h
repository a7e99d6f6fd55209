/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Validation of command inboxes before they are executed. */

#ifndef FW_CHECK_H
#define FW_CHECK_H

#include <prm.h>

/** Violation found in an inbox. */
struct fw_violation {
	const char *layout, *field; /* field is "reserved" if no row names the bits */
	uint32_t dword; /* counted from the start of the inbox */
	uint64_t value; /* offending bits or value; the length for "too short" */
	const char *why; /* "reserved bits set", "out of range", "too short", "unknown opcode" */
};

/**
 * Checks a command inbox: opcode known, fixed part complete, reserved bits zero, values within
 * strict enumerations; includes nested layouts and trailing arrays. Does not check unions, whose
 * meaning depends on other fields.
 *
 * @param in   inbox, 4-byte aligned
 * @param len  its length in bytes
 * @param v    filled if the check fails; may be NULL
 * @return 0, or -EINVAL
 */
int fw_check_in(const void *in, size_t len, struct fw_violation *v);

/** As fw_check_in() for one layout, such as a register or the parameters of an object. */
int fw_check_layout(const struct prm_layout *l, const void *p, size_t len,
		struct fw_violation *v);

#endif /* FW_CHECK_H */
