/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Used by the generated PRM accessors: bit fields in big-endian dwords, and their description. */

#ifndef PRM_BASE_H
#define PRM_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef PRM_DEBUG
#include <assert.h>
#define PRM_ASSERT(x) assert(x)
#else
#define PRM_ASSERT(x) ((void)(x))
#endif

/* Converts host order to big-endian and back: both are the same swap. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define PRM_BE16(x) __builtin_bswap16(x)
#define PRM_BE32(x) __builtin_bswap32(x)
#define PRM_BE64(x) __builtin_bswap64(x)
#else
#define PRM_BE16(x) (x)
#define PRM_BE32(x) (x)
#define PRM_BE64(x) (x)
#endif

/* All ones in the low `width` bits, width 1..64. */
#define PRM_ONES64(width) (UINT64_MAX >> (64 - (width)))
#define PRM_ONES32(width) (UINT32_MAX >> (32 - (width)))

/* Bits of a member of a WQE, CQE or EQE, in host order: PRM_BITS(etc, CQE64_L4_HDR_TYPE_ETC_L4_HDR_TYPE). */
#define PRM_BITS(value, bits) (((value) & PRM_##bits##_MASK) >> PRM_##bits##_SHIFT)

/* What a row of a layout is. */
enum prm_field_kind {
	PRM_FIELD_SCALAR, /* bits hi..lo; hi > 31 spans dword and dword + 1 */
	PRM_FIELD_NESTED, /* another layout */
	PRM_FIELD_BLOB, /* bytes */
};

struct prm_enum_value {
	const char *name;
	uint32_t value;
};

/* A named set of values. */
struct prm_enum {
	const char *name;
	const struct prm_enum_value *values;
	uint16_t count;
	bool strict; /* any other value is out of range */
	bool flags; /* values are bits of a mask */
};

struct prm_layout;

/* One row of a layout. */
struct prm_field {
	const char *name;
	const struct prm_layout *nested;
	const struct prm_enum *enumeration;
	uint16_t dword;
	uint16_t count; /* elements, bytes of a blob; 0 = trailing, up to the end of the mailbox */
	uint8_t kind; /* enum prm_field_kind */
	uint8_t hi, lo;
	uint8_t byte; /* first byte of a blob in its dword */
	bool array;
	bool overlay; /* alternative meaning of bits that an earlier row names */
	int16_t select; /* of a union: index of the row whose value selects the member */
	int32_t when; /* of a member of a union: value that selects it; -1 = none */
};

#define PRM_SELECT_NONE (-1)
#define PRM_SELECT_REQUEST (-2) /* selected by the request field of the inbox */

/* A layout: its rows, and the bits of each dword (host order) that are not reserved. */
struct prm_layout {
	const char *name;
	const struct prm_field *fields;
	const uint32_t *valid; /* NULL for a union */
	const char *union_default; /* member by which to decode a union; NULL = none */
	uint16_t dwords;
	uint16_t field_count;
	bool is_union;
	bool variable; /* a trailing array follows the fixed dwords */
};

/** Dword @p i of a mailbox; may be beyond the layout, in a trailing array. */
static inline uint32_t *
prm_dw(void *p, size_t i)
{
	return (uint32_t *)p + i;
}

static inline const uint32_t *
prm_dw_c(const void *p, size_t i)
{
	return (const uint32_t *)p + i;
}

/** Bits @p hi..@p lo (both 0..31) of a big-endian dword. */
static inline uint32_t
prm_get32(const uint32_t *dw, unsigned int hi, unsigned int lo)
{
	return (PRM_BE32(*dw) >> lo) & PRM_ONES32(hi - lo + 1);
}

/** Sets bits @p hi..@p lo of a big-endian dword; bits of @p v above the field are dropped. */
static inline void
prm_set32(uint32_t *dw, unsigned int hi, unsigned int lo, uint32_t v)
{
	uint32_t mask = PRM_ONES32(hi - lo + 1);

	PRM_ASSERT((v & ~mask) == 0);
	*dw = (*dw & ~PRM_BE32(mask << lo)) | PRM_BE32((v & mask) << lo);
}

/** Bits @p hi (32..63) .. @p lo of the 64 bits that two big-endian dwords make. */
static inline uint64_t
prm_get64(const uint32_t *dw, unsigned int hi, unsigned int lo)
{
	uint64_t v = (uint64_t)PRM_BE32(dw[0]) << 32 | PRM_BE32(dw[1]);

	return (v >> lo) & PRM_ONES64(hi - lo + 1);
}

/** Sets bits @p hi (32..63) .. @p lo of two big-endian dwords. */
static inline void
prm_set64(uint32_t *dw, unsigned int hi, unsigned int lo, uint64_t v)
{
	uint64_t mask = PRM_ONES64(hi - lo + 1);

	PRM_ASSERT((v & ~mask) == 0);
	v = (v & mask) << lo;
	mask <<= lo;
	dw[0] = (dw[0] & ~PRM_BE32((uint32_t)(mask >> 32))) | PRM_BE32((uint32_t)(v >> 32));
	dw[1] = (dw[1] & ~PRM_BE32((uint32_t)mask)) | PRM_BE32((uint32_t)v);
}

#endif /* PRM_BASE_H */
