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

/** Name of a value of an enumeration; NULL when it has none. */
const char *prm_enum_find(const struct prm_enum *e, uint64_t value);

#endif /* PRM_DECODE_H */
