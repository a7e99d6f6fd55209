/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Toeplitz and XOR8 hashes over the fields that rx_hash_field_select names. */
#include <prm.h>

#include "dp_rss.h"

/* rx_hash_field_select: l3 type, l4 type, selected fields (PRM, TIR context). */
#define SEL_L3_IPV6(s) ((s) >> 31 & 1)
#define SEL_L4_UDP(s) ((s) >> 30 & 1)
#define SEL_SRC_IP PRM_RX_HASH_FIELDS_SRC_IP
#define SEL_DST_IP PRM_RX_HASH_FIELDS_DST_IP
#define SEL_SPORT PRM_RX_HASH_FIELDS_L4_SPORT
#define SEL_DPORT PRM_RX_HASH_FIELDS_L4_DPORT

void
dp_toeplitz_init(struct dp_toeplitz *t, const uint8_t key[DP_RSS_KEY_BYTES])
{
	for (unsigned n = 0; n < DP_RSS_INPUT_BYTES * 2; n++) {
		uint32_t window[4];

		/* The 32 key bits that stand over each bit of this nibble. */
		for (unsigned b = 0; b < 4; b++) {
			unsigned bit = n * 4 + b, byte = bit / 8, shift = bit % 8;
			uint64_t w = (uint64_t)dp_rd32(key + byte) << 8 | key[byte + 4];

			window[b] = (uint32_t)(w >> (8 - shift));
		}
		for (unsigned v = 0; v < 16; v++)
			t->nibble[n][v] = (v & 8 ? window[0] : 0) ^ (v & 4 ? window[1] : 0) ^
					  (v & 2 ? window[2] : 0) ^ (v & 1 ? window[3] : 0);
	}
	memcpy(t->key, key, sizeof(t->key));
	t->valid = true;
}

/* len: at most DP_RSS_INPUT_BYTES. */
static uint32_t
toeplitz_hash(const struct dp_toeplitz *t, const uint8_t *input, uint32_t len)
{
	uint32_t hash = 0;

	for (uint32_t i = 0; i < len; i++)
		hash ^= t->nibble[2 * i][input[i] >> 4] ^ t->nibble[2 * i + 1][input[i] & 0xf];
	return hash;
}

/*
 * assumed: the inverted XOR8 hash is the complement of the XOR of the fields' bytes. Other reading: its bits are in
 * reverse order (Linux, mlx5e_bits_invert(), orders RQTs so). Test: dp/test_steer.c.
 */
static uint32_t
xor8_hash(const uint8_t *input, uint32_t len)
{
	uint8_t x = 0;

	for (uint32_t i = 0; i < len; i++)
		x ^= input[i];
	return (uint8_t)~x;
}

/*
 * Appends a pair of fields. The symmetric form hashes (a | b, a ^ b), which is the same for both
 * directions of a flow; it needs both fields.
 */
static uint32_t
put_pair(uint8_t *in, uint32_t n, const uint8_t *a, const uint8_t *b, uint32_t size, unsigned sel,
	 bool symmetric)
{
	if (symmetric && sel == 3) {
		for (uint32_t i = 0; i < size; i++) {
			in[n + i] = a[i] | b[i];
			in[n + size + i] = a[i] ^ b[i];
		}
		return n + 2 * size;
	}
	if (sel & 1) {
		memcpy(in + n, a, size);
		n += size;
	}
	if (sel & 2) {
		memcpy(in + n, b, size);
		n += size;
	}
	return n;
}

static bool
l4_selected(const struct dp_layers *l, uint32_t select)
{
	if ((select & (SEL_SPORT | SEL_DPORT)) == 0)
		return false;
	return l->l4 == (SEL_L4_UDP(select) ? DP_L4_UDP : DP_L4_TCP);
}

/* CQE rx_hash_type: 2 bits each for IP source, IP destination, L4 source, L4 destination. */
static uint8_t
type_of(const struct dp_layers *l, uint32_t select, bool ports)
{
	unsigned ip = l->l3 == DP_L3_IPV4 ? 1 : 2, l4 = l->l4 == DP_L4_TCP ? 1 : 2, type = 0;

	type |= select & SEL_SRC_IP ? ip : 0;
	type |= select & SEL_DST_IP ? ip << 2 : 0;
	type |= ports && (select & SEL_SPORT) ? l4 << 4 : 0;
	type |= ports && (select & SEL_DPORT) ? l4 << 6 : 0;
	return (uint8_t)type;
}

/*
 * assumed: without tunneled_offload_en a TIR hashes no inner headers. Other reading: the firmware refuses such a TIR
 * (mlx5_ib refuses inner fields without tunnel offloads, qp.c, create_rss_raw_qp_tir()). Test: dp/test_steer.c.
 */
uint32_t
dp_rss_hash(const struct emu_tir *tir, const struct dp_toeplitz *t, const struct dp_pkt *pkt,
	    uint8_t *hash_type)
{
	bool inner = pkt->tunneled && tir->tunneled_offload && (tir->inner_select & DP_RSS_FIELDS) != 0;
	const struct dp_layers *l = inner ? &pkt->inner : &pkt->outer;
	uint32_t select = inner ? tir->inner_select : tir->outer_select, n;
	const uint8_t *ip = pkt->data + l->l3_off, *l4 = pkt->data + l->l4_off;
	uint8_t in[DP_RSS_INPUT_BYTES];
	bool ports;

	*hash_type = 0;
	if (l->l3 != (SEL_L3_IPV6(select) ? DP_L3_IPV6 : DP_L3_IPV4) || (select & DP_RSS_FIELDS) == 0)
		return 0;
	if (l->l3 == DP_L3_IPV4)
		n = put_pair(in, 0, ip + 12, ip + 16, 4, select & 3, tir->symmetric);
	else
		n = put_pair(in, 0, ip + 8, ip + 24, 16, select & 3, tir->symmetric);
	ports = l4_selected(l, select);
	if (ports)
		n = put_pair(in, n, l4, l4 + 2, 2, select >> 2 & 3, tir->symmetric);
	*hash_type = type_of(l, select, ports);
	if (tir->hash_fn == PRM_RX_HASH_FN_TOEPLITZ && t != NULL)
		return toeplitz_hash(t, in, n);
	return tir->hash_fn == PRM_RX_HASH_FN_INVERTED_XOR8 ? xor8_hash(in, n) : 0;
}
