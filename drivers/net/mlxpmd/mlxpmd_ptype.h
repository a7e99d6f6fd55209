/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * Tables from the header bits of a CQE to packet type and checksum flags.
 */
#ifndef MLXPMD_PTYPE_H
#define MLXPMD_PTYPE_H

#include <stdint.h>

#include <rte_common.h>

/** Packet type in bits 0..31, low 32 bits of ol_flags in 32..63. */
#define MLXPMD_PTYPE_ENTRIES 8192
extern uint64_t mlxpmd_ptype_table[MLXPMD_PTYPE_ENTRIES] __rte_cache_aligned;

/**
 * Index of the table: l4_hdr_type_etc in bits 0..7; L2_OK, L3_OK and L4_OK in 8..10; tunnel bits in 11..12.
 * hds_etc is hds_ip_ext << 8 | l4_hdr_type_etc. Any value is in range.
 */
static inline uint32_t
mlxpmd_ptype_index(uint8_t pkt_info, uint16_t hds_etc)
{
	return (hds_etc & 0x7ffu) | (pkt_info & 3u) << 11;
}

/**
 * The same for vector bursts, with the layout of the mbuf from rearm_data on, so that one load is enough. Includes
 * the flag of the RSS hash.
 */
struct mlxpmd_class {
	uint32_t rearm_data[2];	/**< Zero. */
	uint32_t ol_flags, ol_flags_high;
	uint32_t packet_type;
	uint32_t after[3];	/**< Zero. */
};
/**
 * Index: L3_OK and L4_OK in bits 0..1, l4_hdr_type_etc in 2..9, tunnel bits in 10..11, in 12 whether there is a hash.
 * The bytes hds_ip_ext, l4_hdr_type_etc, CQE byte 0 and rx_hash_type, masked and limited, give the byte offset by two
 * multiply-add steps: of pairs of bytes, then of pairs of words.
 */
#define MLXPMD_CLASSES 8192
#define MLXPMD_CLASS_MASK 0xff03ff06u
#define MLXPMD_CLASS_MAX 0x01ffffffu
#define MLXPMD_CLASS_MUL_BYTES 0x40100801u /**< By 1, 8, 16, 64. */
#define MLXPMD_CLASS_MUL_WORDS 0x08000010u /**< By 16, 2048. */
extern struct mlxpmd_class mlxpmd_class_table[MLXPMD_CLASSES] __rte_cache_aligned;

#endif /* MLXPMD_PTYPE_H */
