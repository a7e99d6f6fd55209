/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Receive-side scaling: the hash that a TIR computes over a packet's headers. */
#ifndef EMU_DP_RSS_H
#define EMU_DP_RSS_H

#include "../core/emu_obj.h"
#include "dp_parse.h"

#define DP_RSS_KEY_BYTES 40u
#define DP_RSS_INPUT_BYTES 36u /* two IPv6 addresses, two ports */

/**
 * Tables of a Toeplitz key: the contribution to the hash of each value of each input nibble. A hash takes one
 * lookup per nibble.
 */
struct dp_toeplitz {
	uint8_t key[DP_RSS_KEY_BYTES]; /**< Key the table was made from. */
	bool valid;
	uint32_t nibble[DP_RSS_INPUT_BYTES * 2][16];
};
void dp_toeplitz_init(struct dp_toeplitz *t, const uint8_t key[DP_RSS_KEY_BYTES]);

/** rx_hash_field_select without the types of layers 3 and 4. */
#define DP_RSS_FIELDS 0x3fffffffu
/** Whether the TIR selects any fields; else dp_rss_hash() is 0, as rx_hash_type. */
static inline bool
dp_rss_hashes(const struct emu_tir *tir)
{
	return ((tir->outer_select | tir->inner_select) & DP_RSS_FIELDS) != 0;
}
/**
 * Hash of the packet fields that the TIR selects, and the CQE's rx_hash_type. Both are 0 if the packet does not
 * have the layer 3 protocol that the TIR selects; ports are included only if it has the layer 4 protocol.
 * @param t the tables of the TIR's key, or NULL for hash functions other than Toeplitz.
 */
uint32_t dp_rss_hash(const struct emu_tir *tir, const struct dp_toeplitz *t,
		     const struct dp_pkt *pkt, uint8_t *hash_type);

#endif /* EMU_DP_RSS_H */
