/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * Positions in match parameters (PRM, fte_match_param): bytes from the begin of a set of headers.
 */
#ifndef MLXPMD_FLOW_ITEM_H
#define MLXPMD_FLOW_ITEM_H

#include <prm.h>

/** Bytes of a set of headers, and where the sets are in the match parameters. */
#define SET_BYTES PRM_FTE_MATCH_SET_LYR_2_4_BYTES
enum { SET_OUTER, SET_MISC, SET_INNER, SET_MISC2, SET_MISC3 };

/* Bytes of the sets, by the names of PRM fields. */
enum {
	AT_SMAC = 0, AT_ETHERTYPE = 6, AT_DMAC = 8, AT_VLAN = 14, AT_IP_PROTOCOL = 16, AT_TOS = 17,
	AT_TAGS_VERSION = 18, AT_TCP_FLAGS = 19, AT_TCP_SPORT = 20, AT_TCP_DPORT = 22, AT_IHL = 26, AT_TTL = 27,
	AT_UDP_SPORT = 28, AT_UDP_DPORT = 30, AT_SRC_IPV6 = 32, AT_SRC_IPV4 = 44, AT_DST_IPV6 = 48, AT_DST_IPV4 = 60,
	/* Misc. */
	AT_GRE_PRESENT = 0, AT_SECOND_VLAN = 8, AT_INNER_SECOND_VLAN = 10, AT_SECOND_TAGS = 12, AT_GRE_PROTOCOL = 14,
	AT_GRE_KEY = 16, AT_VXLAN_VNI = 20, AT_GENEVE_VNI = 24, AT_FLOW_LABEL = 28, AT_INNER_FLOW_LABEL = 32,
	AT_GENEVE_OPT_LEN = 37, AT_GENEVE_PROTOCOL = 38, AT_INNER_ESP_SPI = 44, AT_ESP_SPI = 48,
	/* Misc 2. */
	AT_MPLS = 0, AT_INNER_MPLS = 4, AT_MPLS_IN_GRE = 8, AT_MPLS_IN_UDP = 12, AT_REG_C_0 = 44,
	/* Misc 3. */
	AT_INNER_TCP_SEQ = 0, AT_TCP_SEQ = 4, AT_INNER_TCP_ACK = 8, AT_TCP_ACK = 12, AT_VXLAN_GPE_VNI = 17,
	AT_VXLAN_GPE_PROTOCOL = 20, AT_VXLAN_GPE_FLAGS = 21, AT_ICMP_DATA = 24, AT_ICMP6_DATA = 28, AT_ICMP_TYPE = 32,
	AT_ICMP_CODE = 33, AT_ICMP6_TYPE = 34, AT_ICMP6_CODE = 35, AT_GTPU_TEID = 40, AT_GTPU_MSG_TYPE = 44,
	AT_GTPU_FLAGS = 45,
};
/* Bits of bytes at AT_TAGS_VERSION, AT_SECOND_TAGS and AT_GRE_PRESENT. */
#define TAGS_CVLAN 0x80u
#define TAGS_SVLAN 0x40u
#define TAGS_FRAG 0x20u
#define TAGS_VERSION 0x1eu
#define TAGS_VERSION_SHIFT 1
#define SECOND_CVLAN 0x80u
#define INNER_SECOND_CVLAN 0x40u
#define GRE_KEY_PRESENT 0x20u

#endif /* MLXPMD_FLOW_ITEM_H */
