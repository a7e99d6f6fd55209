/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * CRC-32C (Castagnoli), for any alignment and length, in any number of parts.
 *
 * rte_hash_crc() reads its argument as 64-bit words. Packets are written here as structures; under C's
 * aliasing rules the compiler may move these writes behind such reads.
 */

#include <string.h>

#include "gen.h"

#ifdef __SSE4_2__

uint32_t
tm_crc32c(const void *data, uint32_t n, uint32_t crc)
{
	const uint8_t *p = data;
	uint64_t word, c = crc;

	for (; n >= sizeof(word); n -= sizeof(word), p += sizeof(word)) {
		memcpy(&word, p, sizeof(word));
		c = __builtin_ia32_crc32di(c, word);
	}
	for (; n > 0; n--)
		c = __builtin_ia32_crc32qi((uint32_t)c, *p++);
	return (uint32_t)c;
}

#else

#define POLYNOMIAL 0x82f63b78u	/* 0x1edc6f41, bits reversed */

static uint32_t table[256];

RTE_INIT(crc_table_fill)
{
	for (uint32_t i = 0; i < RTE_DIM(table); i++) {
		table[i] = i;
		for (unsigned int bit = 0; bit < 8; bit++)
			table[i] = table[i] >> 1 ^ (table[i] & 1 ? POLYNOMIAL : 0);
	}
}

uint32_t
tm_crc32c(const void *data, uint32_t n, uint32_t crc)
{
	const uint8_t *p = data;

	for (; n > 0; n--)
		crc = table[(crc ^ *p++) & 0xff] ^ crc >> 8;
	return crc;
}

#endif
