/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * What a CQE says of a received packet's headers, as packet type and checksum flags, by one look-up.
 */
#ifndef MLXPMD_PTYPE_H
#define MLXPMD_PTYPE_H

#include <stdint.h>

#include <rte_common.h>

/*
 * Bits of the CQE (PRM, Completion Queue Entry; the constants that mlx5dv.h has are used by name):
 * byte 0x00 pkt_info, byte 0x1c hds_ip_ext, byte 0x1d l4_hdr_type_etc.
 */
#define MLXPMD_CQE_TUNNELED 0x01	/**< pkt_info: l3/l4 types are those of the inner headers. */
#define MLXPMD_CQE_OUTER_IPV6 0x02	/**< pkt_info: with TUNNELED, the outer header. */
#define MLXPMD_CQE_CV 0x01		/**< l4_hdr_type_etc: a C-VLAN tag was stripped. */
#define MLXPMD_CQE_L3_SHIFT 2		/**< l4_hdr_type_etc: two bits, MLX5_CQE_L3_HDR_TYPE_*. */
#define MLXPMD_CQE_L4_SHIFT 4		/**< l4_hdr_type_etc: three bits, enum mlxpmd_cqe_l4. */
#define MLXPMD_CQE_IP_FRAG 0x80		/**< l4_hdr_type_etc: the packet is an IP fragment. */

enum mlxpmd_cqe_l4 {
	MLXPMD_CQE_L4_NONE = 0,
	MLXPMD_CQE_L4_TCP = 1,
	MLXPMD_CQE_L4_UDP = 2,
	MLXPMD_CQE_L4_TCP_EMPTY_ACK = 3,
	MLXPMD_CQE_L4_TCP_ACK = 4,
};

/** All ol_flags that the table can give fit the low half: ptype in bits 0..31, ol_flags in 32..63. */
#define MLXPMD_PTYPE_ENTRIES 8192
extern uint64_t mlxpmd_ptype_table[MLXPMD_PTYPE_ENTRIES] __rte_cache_aligned;

/**
 * Index of the table: l4_hdr_type_etc in bits 0..7; L2_OK, L3_OK and L4_OK in 8..10; tunnel bits in 11..12.
 * The first two bytes of it are the CQE's bytes 0x1c and 0x1d as a big-endian word. Any value is in range.
 */
static inline uint32_t
mlxpmd_ptype_index(uint8_t pkt_info, uint16_t hds_etc)
{
	return (hds_etc & 0x7ffu) | (pkt_info & 3u) << 11;
}

#ifdef RTE_ARCH_X86
/**
 * The same for vector bursts, as it lies in an mbuf from rearm_data on, so that one load brings it in place; and
 * the flag of the hash with it.
 */
struct mlxpmd_class {
	uint32_t rearm_data[2];	/**< Zero. */
	uint32_t ol_flags, ol_flags_high;
	uint32_t packet_type;
	uint32_t after[3];	/**< Zero. */
};
/**
 * Index: L3_OK and L4_OK in bits 0..1, l4_hdr_type_etc in 2..9, tunnel bits in 10..11, and in 12 whether there is
 * a hash. The bytes hds_ip_ext, l4_hdr_type_etc, pkt_info and rx_hash_type, masked and limited, multiplied by pairs
 * and added, and the same again with the words that this gives, are the index in bytes.
 */
#define MLXPMD_CLASSES 8192
#define MLXPMD_CLASS_MASK 0xff03ff06u
#define MLXPMD_CLASS_MAX 0x01ffffffu
#define MLXPMD_CLASS_MUL_BYTES 0x40100801u /**< By 1, 8, 16, 64. */
#define MLXPMD_CLASS_MUL_WORDS 0x08000010u /**< By 16, 2048. */
extern struct mlxpmd_class mlxpmd_class_table[MLXPMD_CLASSES] __rte_cache_aligned;
#endif

#endif /* MLXPMD_PTYPE_H */
