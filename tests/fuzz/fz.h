/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * What the fuzz targets share: reading an input piece by piece, and giving up with a reason.
 *
 * An input is a list of records, each begun by a byte with its type; numbers are little
 * endian; an input that ends early reads as zeros. So every byte string is some program.
 */
#ifndef FZ_H
#define FZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Called by the fuzzer for each input; always returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct fz_in {
	const uint8_t *data;
	size_t left;
};

static inline size_t
fz_bytes(struct fz_in *in, void *to, size_t len)
{
	size_t n = len < in->left ? len : in->left;

	memset(to, 0, len);
	if (n != 0)
		memcpy(to, in->data, n);
	in->data += n;
	in->left -= n;
	return n;
}

static inline uint8_t
fz_u8(struct fz_in *in)
{
	uint8_t v;

	fz_bytes(in, &v, sizeof(v));
	return v;
}

static inline uint16_t
fz_u16(struct fz_in *in)
{
	uint8_t b[2];

	fz_bytes(in, b, sizeof(b));
	return (uint16_t)(b[0] | b[1] << 8);
}

static inline uint32_t
fz_u32(struct fz_in *in)
{
	return fz_u16(in) | (uint32_t)fz_u16(in) << 16;
}

/** A finding: what must hold whatever the input is did not. */
#define FZ_MUST(cond) \
	do { \
		if (!(cond)) { \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #cond); \
			abort(); \
		} \
	} while (0)

#endif /* FZ_H */
