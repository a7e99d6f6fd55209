/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Decodes mailboxes into named fields, for traces and reports. */

#ifndef PRM_DECODE_H
#define PRM_DECODE_H

#include "prm_base.h"

/**
 * Called for each field.
 *
 * @param arg        pointer of the caller
 * @param path       such as "cq_context.log_cq_size" or "pas[2]"; valid during the call
 * @param value      the field's bits
 * @param enum_name  name of the value if its enumeration has one, else NULL
 */
typedef void (*prm_decode_cb)(void *arg, const char *path, uint64_t value, const char *enum_name);

/**
 * Decodes @p len bytes at @p p (4-byte aligned) by a layout. Omits fields beyond the length;
 * reports byte blobs as dwords. Decodes a union by the member that another field selects, else by
 * its default member, else as dwords.
 *
 * @param nonzero_only  omit fields with value 0
 */
void prm_decode(const struct prm_layout *l, const void *p, size_t len, bool nonzero_only,
		prm_decode_cb cb, void *arg);

/**
 * Decodes a command inbox by its opcode, including the requested register or union member. Decodes
 * only the header of an opcode that the table does not have.
 */
void prm_decode_in(const void *in, size_t len, bool nonzero_only, prm_decode_cb cb, void *arg);

/** Decodes the outbox that answers @p in, likewise. */
void prm_decode_out(const void *in, size_t in_len, const void *out, size_t out_len,
		bool nonzero_only, prm_decode_cb cb, void *arg);

/** Position of a field: bits hi..lo of the dword `at`, or of the two dwords from `at` on if hi > 31. */
struct prm_place {
	uint32_t *at;
	unsigned int hi, lo;
};

/**
 * Finds a field of the outbox that answers @p in by its path as prm_decode_out() reports it, or by
 * the last names of that path ("log_max_cq"). Finds the first if several match.
 *
 * @return false if the outbox has no such field
 */
bool prm_locate_out(const void *in, size_t in_len, void *out, size_t out_len, const char *path,
		struct prm_place *place);

/** Name of a value of an enumeration; NULL if it has none. */
const char *prm_enum_find(const struct prm_enum *e, uint64_t value);

#endif /* PRM_DECODE_H */
