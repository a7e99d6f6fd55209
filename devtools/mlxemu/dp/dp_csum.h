/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Internet checksums: verification in received frames, insertion into sent ones. */
#ifndef EMU_DP_CSUM_H
#define EMU_DP_CSUM_H

#include "dp_parse.h"

/**
 * One's complement sum of len bytes, folded to 16 bits, in the byte order of memory: store the
 * result with memcpy.
 */
uint16_t dp_csum(const void *data, uint32_t len);

static inline uint16_t
dp_csum_fold(uint64_t sum)
{
	uint32_t half;

	/* Adding the sum with swapped halves leaves the folded sum in the upper half. */
	sum += sum << 32 | sum >> 32;
	half = (uint32_t)(sum >> 32);
	half += half << 16 | half >> 16;
	return (uint16_t)(half >> 16);
}

struct dp_csum_result {
	bool l3_ok, l4_ok;
	uint16_t raw; /**< Sum of the whole IP packet, memory order; 0 for what is not IP. */
};
/** Checks one level of headers. UDP over IPv4 without a checksum counts as right. */
void dp_csum_verify(const uint8_t *data, const struct dp_layers *l, struct dp_csum_result *v);

/** Writes the IPv4 header checksum; nothing to do for IPv6. */
void dp_csum_insert_l3(uint8_t *data, const struct dp_layers *l);
/** Writes the TCP or UDP checksum over the present value; does nothing for other protocols. */
void dp_csum_insert_l4(uint8_t *data, const struct dp_layers *l);

/** Ethernet frame check sequence in wire order (IEEE 802.3: first byte sent first). */
uint32_t dp_fcs(const uint8_t *data, uint32_t len);

#endif /* EMU_DP_CSUM_H */
