/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Reads a mailbox field by field, with names, for traces and reports. */

#ifndef PRM_DECODE_H
#define PRM_DECODE_H

#include "prm_base.h"

/**
 * Called for each field.
 *
 * @param arg        caller's
 * @param path       such as "cq_context.log_cq_size" or "pas[2]"; valid during the call
 * @param value      the field's bits
 * @param enum_name  name of the value when its enumeration has one, else NULL
 */
typedef void (*prm_decode_cb)(void *arg, const char *path, uint64_t value, const char *enum_name);

/**
 * Decodes @p len bytes at @p p (4-byte aligned) by a layout. Fields beyond the length are left
 * out; byte blobs come as dwords. A union is read by the member that a field beside it selects,
 * else by its default member, else as dwords.
 *
 * @param nonzero_only  leave out fields of value 0
 */
void prm_decode(const struct prm_layout *l, const void *p, size_t len, bool nonzero_only,
		prm_decode_cb cb, void *arg);

/**
 * Decodes a command inbox by its opcode: unions and access registers by what the command asks for.
 * An opcode that the table has not yields the header only.
 */
void prm_decode_in(const void *in, size_t len, bool nonzero_only, prm_decode_cb cb, void *arg);

/** Decodes the outbox that answers @p in, likewise. */
void prm_decode_out(const void *in, size_t in_len, const void *out, size_t out_len,
		bool nonzero_only, prm_decode_cb cb, void *arg);

/** Where a field stands: bits hi to lo of the dword at, or of the two that begin there. */
struct prm_place {
	uint32_t *at;
	unsigned int hi, lo;
};

/**
 * Finds a field of the outbox that answers @p in by the path that prm_decode_out() gives it, or by
 * the end of that path from some name on ("log_max_cq"); of several the first.
 *
 * @return false when the outbox has no such field
 */
bool prm_locate_out(const void *in, size_t in_len, void *out, size_t out_len, const char *path,
		struct prm_place *place);

static inline uint64_t
prm_place_get(const struct prm_place *p)
{
	return p->hi > 31 ? prm_get64(p->at, p->hi, p->lo) : prm_get32(p->at, p->hi, p->lo);
}

/** Sets the field to the low bits of @p v that it has room for. */
static inline void
prm_place_set(const struct prm_place *p, uint64_t v)
{
	unsigned int bits = p->hi - p->lo + 1;

	if (bits < 64)
		v &= (1ull << bits) - 1;
	if (p->hi > 31)
		prm_set64(p->at, p->hi, p->lo, v);
	else
		prm_set32(p->at, p->hi, p->lo, (uint32_t)v);
}

/** Name of a value of an enumeration; NULL when it has none. */
const char *prm_enum_find(const struct prm_enum *e, uint64_t value);

#endif /* PRM_DECODE_H */
