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
 * A Toeplitz key opened up: the contribution of each value of each input nibble, so that a hash
 * is one lookup per nibble.
 */
struct dp_toeplitz {
	uint8_t key[DP_RSS_KEY_BYTES]; /**< Key the table was made from. */
	bool valid;
	uint32_t nibble[DP_RSS_INPUT_BYTES * 2][16];
};
void dp_toeplitz_init(struct dp_toeplitz *t, const uint8_t key[DP_RSS_KEY_BYTES]);

/**
 * Hash of a packet under the TIR's field selection, and the CQE's rx_hash_type. Both are 0 when
 * the packet lacks the layer 3 that the TIR selects; ports count only when the layer 4 is there.
 * @param t the TIR's opened key, or NULL for hash functions other than Toeplitz.
 */
uint32_t dp_rss_hash(const struct emu_tir *tir, const struct dp_toeplitz *t,
		     const struct dp_pkt *pkt, uint8_t *hash_type);

#endif /* EMU_DP_RSS_H */
