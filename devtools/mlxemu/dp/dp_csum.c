/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Checksum arithmetic (RFC 1071) on whatever the parser found. */
#include "dp_csum.h"

static inline uint64_t
rd64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* 64-bit addition with the carry brought round. */
static inline uint64_t
add64(uint64_t a, uint64_t b)
{
	uint64_t s;

	return __builtin_add_overflow(a, b, &s) ? s + 1 : s;
}

uint16_t
dp_csum(const void *data, uint32_t len)
{
	const uint8_t *p = data;
	uint64_t a = 0, b = 0, tail = 0;

	for (; len >= 32; len -= 32, p += 32) {
		a = add64(add64(a, rd64(p)), rd64(p + 8));
		b = add64(add64(b, rd64(p + 16)), rd64(p + 24));
	}
	for (; len >= 8; len -= 8, p += 8)
		a = add64(a, rd64(p));
	memcpy(&tail, p, len);
	return dp_csum_fold(add64(add64(a, b), tail));
}

/* Pseudo header of RFC 793 / RFC 8200, memory order. */
static uint16_t
pseudo_sum(const uint8_t *data, const struct dp_layers *l)
{
	uint32_t l4_len = l->l3_end - l->l4_off;
	uint8_t tail[8] = {(uint8_t)(l4_len >> 24), (uint8_t)(l4_len >> 16),
			   (uint8_t)(l4_len >> 8), (uint8_t)l4_len, 0, 0, 0, l->ip_proto};
	const uint8_t *h = data + l->l3_off;
	uint16_t addr = l->l3 == DP_L3_IPV4 ? dp_csum(h + 12, 8) : dp_csum(h + 8, 32);

	return dp_csum_add(addr, dp_csum(tail, sizeof(tail)));
}

/* Where the checksum stands, from the start of the header. */
static uint32_t
l4_csum_off(const struct dp_layers *l)
{
	return l->l4 == DP_L4_TCP ? 16 : 6;
}

/*
 * A UDP datagram may be shorter than the IP packet that carries it; a card's parser takes the
 * length of the IP packet, and a disagreement is not a right checksum.
 */
static bool
udp_len_ok(const uint8_t *data, const struct dp_layers *l)
{
	return l->l4 != DP_L4_UDP || dp_rd16(data + l->l4_off + 4) == l->l3_end - l->l4_off;
}

static bool
l4_verdict(const uint8_t *data, const struct dp_layers *l, uint16_t l4_sum)
{
	if (l->l4 == DP_L4_NONE || !l->l3_len_ok || !udp_len_ok(data, l))
		return false;
	if (l->l4 == DP_L4_UDP && l->l3 == DP_L3_IPV4 && dp_rd16(data + l->l4_off + 6) == 0)
		return true;
	return dp_csum_add(l4_sum, pseudo_sum(data, l)) == 0xffff;
}

void
dp_csum_verify(const uint8_t *data, const struct dp_layers *l, struct dp_csum_verdict *v)
{
	uint16_t header, rest;

	memset(v, 0, sizeof(*v));
	if (l->l3 == DP_L3_NONE)
		return;
	header = dp_csum(data + l->l3_off, l->l4_off - l->l3_off);
	rest = dp_csum(data + l->l4_off, l->l3_end - l->l4_off);
	v->raw = dp_csum_add(header, rest);
	v->l3_ok = l->l3_len_ok && (l->l3 == DP_L3_IPV6 || header == 0xffff);
	v->l4_ok = l4_verdict(data, l, rest);
}

void
dp_csum_insert_l3(uint8_t *data, const struct dp_layers *l)
{
	uint8_t *h = data + l->l3_off;
	uint16_t sum;

	if (l->l3 != DP_L3_IPV4)
		return;
	memset(h + 10, 0, 2);
	sum = (uint16_t)~dp_csum(h, l->l4_off - l->l3_off);
	memcpy(h + 10, &sum, sizeof(sum));
}

void
dp_csum_insert_l4(uint8_t *data, const struct dp_layers *l)
{
	uint8_t *field = data + l->l4_off + l4_csum_off(l);
	uint16_t sum;

	if (l->l4 == DP_L4_NONE || !l->l3_len_ok)
		return;
	memset(field, 0, 2);
	sum = (uint16_t)~dp_csum_add(dp_csum(data + l->l4_off, l->l3_end - l->l4_off),
				     pseudo_sum(data, l));
	if (sum == 0 && l->l4 == DP_L4_UDP)
		sum = 0xffff; /* 0 means "no checksum" in UDP */
	memcpy(field, &sum, sizeof(sum));
}

uint32_t
dp_fcs(const uint8_t *data, uint32_t len)
{
	/* CRC-32 of IEEE 802.3, reflected, four bits at a time. */
	static const uint32_t table[16] = {
		0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
		0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
		0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
	};
	uint32_t crc = 0xffffffff;

	for (uint32_t i = 0; i < len; i++) {
		crc = (crc >> 4) ^ table[(crc ^ data[i]) & 0xf];
		crc = (crc >> 4) ^ table[(crc ^ (data[i] >> 4)) & 0xf];
	}
	return ~crc;
}
