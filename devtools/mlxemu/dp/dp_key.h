/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* The key of a packet: what tables compare, in host order, in the layout of fte_match_param. */
#ifndef EMU_DP_KEY_H
#define EMU_DP_KEY_H

#include "dp_int.h"

/* Bits of dword 6 of headers: l3_ok, l4_ok, ipv4_checksum_ok, l4_checksum_ok. */
#define DP_KEY6_OK_BITS 0x0f00u

static inline void
dp_key_l3(uint32_t k[DP_SET_DWORDS], const uint8_t *d, const struct dp_layers *l)
{
	const uint8_t *h = d + l->l3_off;

	if (l->l3 == DP_L3_IPV4) {
		k[4] |= (uint32_t)l->ip_proto << 24 | (uint32_t)h[1] << 16 | 4u << 9;
		k[6] |= (uint32_t)(h[0] & 0xf) << 12 | h[8];
		k[11] = dp_rd32(h + 12);
		k[15] = dp_rd32(h + 16);
	} else {
		k[4] |= (uint32_t)l->ip_proto << 24 | (dp_rd32(h) >> 20 & 0xff) << 16 | 6u << 9;
		k[6] |= h[7];
		for (unsigned i = 0; i < 4; i++) {
			k[8 + i] = dp_rd32(h + 8 + 4 * i);
			k[12 + i] = dp_rd32(h + 24 + 4 * i);
		}
	}
	k[4] |= (uint32_t)l->frag << 13;
}

static inline void
dp_key_l4(uint32_t k[DP_SET_DWORDS], const uint8_t *d, const struct dp_layers *l)
{
	const uint8_t *h = d + l->l4_off;

	if (l->l4 == DP_L4_TCP) {
		k[4] |= dp_rd16(h + 12) & 0x1ffu;
		k[5] = dp_rd32(h);
	} else if (l->l4 == DP_L4_UDP) {
		k[7] = dp_rd32(h);
	}
}

/** Bits of dword 6 that need verification. */
uint32_t dp_key_ok_bits(const uint8_t *d, const struct dp_layers *l);

/**
 * Dwords 4 to 15 of headers (fte_match_set_lyr_2_4). A field of a header that is not there is 0.
 * @param checksums with the bits that need verification.
 */
static inline void
dp_key_beyond_l2(uint32_t k[DP_SET_DWORDS], const uint8_t *d, const struct dp_layers *l, bool checksums)
{
	for (unsigned i = 4; i < DP_SET_DWORDS; i++)
		k[i] = 0;
	if (l->tags != 0)
		k[4] |= l->tpid == DP_ETHERTYPE_CVLAN ? 1u << 15 : 1u << 14;
	if (l->l3 == DP_L3_NONE)
		return;
	dp_key_l3(k, d, l);
	dp_key_l4(k, d, l);
	if (checksums)
		k[6] |= dp_key_ok_bits(d, l);
}

/** The parts beyond the outer headers that the table uses. */
void dp_key_rest(uint32_t k[DP_KEY_DWORDS], const struct dp_pkt *pkt, const struct dp_table *t);

#endif /* EMU_DP_KEY_H */
