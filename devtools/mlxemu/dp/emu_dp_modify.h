/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Fields that modify header contexts change: one list for the check of contexts (fw_modify_header.c), the capabilities
 * (fw_flow_fields.c) and the change of a packet (dp_modify.c).
 */
#ifndef EMU_DP_MODIFY_H
#define EMU_DP_MODIFY_H

#include "emu_dp_table.h"

/** Where a field is. DP_AT_IP: at another place in IPv4 than in IPv6; DP_AT_REG: a metadata register. */
enum dp_at { DP_AT_ETH, DP_AT_VLAN, DP_AT_IP, DP_AT_IPV4, DP_AT_IPV6, DP_AT_TCP, DP_AT_UDP, DP_AT_REG };

/**
 * X(name in action_in_field, capability, header, first byte of the big-endian word with the field, bytes of the word,
 * shift of the field in it, bits). S: OUT or IN, s: outer or inner.
 */
#define DP_MODIFY_HEADERS(X, S, s) \
	X(S##_SMAC_47_16, s##_smac, ETH, 6, 4, 0, 32) \
	X(S##_SMAC_15_0, s##_smac, ETH, 10, 2, 0, 16) \
	X(S##_DMAC_47_16, s##_dmac, ETH, 0, 4, 0, 32) \
	X(S##_DMAC_15_0, s##_dmac, ETH, 4, 2, 0, 16) \
	X(S##_IP_DSCP, s##_ip_dscp, IP, 0, 2, 0, 6) \
	X(S##_TCP_FLAGS, s##_tcp_flags, TCP, 12, 2, 0, 9) \
	X(S##_TCP_SPORT, s##_tcp_sport, TCP, 0, 2, 0, 16) \
	X(S##_TCP_DPORT, s##_tcp_dport, TCP, 2, 2, 0, 16) \
	X(S##_IPV4_TTL, s##_ipv4_ttl, IPV4, 8, 1, 0, 8) \
	X(S##_UDP_SPORT, s##_udp_sport, UDP, 0, 2, 0, 16) \
	X(S##_UDP_DPORT, s##_udp_dport, UDP, 2, 2, 0, 16) \
	X(S##_SIPV6_127_96, s##_sip, IPV6, 8, 4, 0, 32) \
	X(S##_SIPV6_95_64, s##_sip, IPV6, 12, 4, 0, 32) \
	X(S##_SIPV6_63_32, s##_sip, IPV6, 16, 4, 0, 32) \
	X(S##_SIPV6_31_0, s##_sip, IPV6, 20, 4, 0, 32) \
	X(S##_DIPV6_127_96, s##_dip, IPV6, 24, 4, 0, 32) \
	X(S##_DIPV6_95_64, s##_dip, IPV6, 28, 4, 0, 32) \
	X(S##_DIPV6_63_32, s##_dip, IPV6, 32, 4, 0, 32) \
	X(S##_DIPV6_31_0, s##_dip, IPV6, 36, 4, 0, 32) \
	X(S##_SIPV4, s##_sip, IPV4, 12, 4, 0, 32) \
	X(S##_DIPV4, s##_dip, IPV4, 16, 4, 0, 32) \
	X(S##_IPV6_HOPLIMIT, s##_ipv6_hop_limit, IPV6, 7, 1, 0, 8)

/** The same; there is no capability. */
#define DP_MODIFY_SILENT(X) \
	X(OUT_TCP_SEQ_NUM, none, TCP, 4, 4, 0, 32) \
	X(OUT_TCP_ACK_NUM, none, TCP, 8, 4, 0, 32) \
	X(IN_TCP_SEQ_NUM, none, TCP, 4, 4, 0, 32) \
	X(IN_TCP_ACK_NUM, none, TCP, 8, 4, 0, 32)

/** Registers have their number in place of a position. */
#define DP_MODIFY_REGS(X) \
	X(METADATA_REG_C_0, metadata_reg_c_0, REG, 0, 4, 0, 32) \
	X(METADATA_REG_C_1, metadata_reg_c_1, REG, 1, 4, 0, 32) \
	X(METADATA_REG_C_2, metadata_reg_c_2, REG, 2, 4, 0, 32) \
	X(METADATA_REG_C_3, metadata_reg_c_3, REG, 3, 4, 0, 32) \
	X(METADATA_REG_C_4, metadata_reg_c_4, REG, 4, 4, 0, 32) \
	X(METADATA_REG_C_5, metadata_reg_c_5, REG, 5, 4, 0, 32) \
	X(METADATA_REG_C_6, metadata_reg_c_6, REG, 6, 4, 0, 32) \
	X(METADATA_REG_C_7, metadata_reg_c_7, REG, 7, 4, 0, 32)

/** All that have a capability. */
#define DP_MODIFY_FIELDS(X) \
	DP_MODIFY_HEADERS(X, OUT, outer) \
	DP_MODIFY_HEADERS(X, IN, inner) \
	X(OUT_FIRST_VID, outer_first_vid, VLAN, 14, 2, 0, 12) \
	DP_MODIFY_REGS(X)

/** Of sent packets only, and of received ones. */
#define DP_MODIFY_TX(X) X(METADATA_REG_A, metadata_reg_a, REG, DP_MODIFY_REG_A, 4, 0, 32)
#define DP_MODIFY_RX(X) X(METADATA_REG_B, metadata_reg_b, REG, DP_MODIFY_REG_B, 4, 0, 32)
#define DP_MODIFY_REG_A 8u
#define DP_MODIFY_REG_B 9u

/** Bits of a field (PRM_ACTION_IN_FIELD_*) of received or sent packets; 0: it is not modelled. */
unsigned dp_modify_bits(unsigned field, bool sent);

#endif /* EMU_DP_MODIFY_H */
