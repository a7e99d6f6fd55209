/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Fields of fte_match_param that tables compare: one list for the key of a packet, the capabilities
 * (fw_flow_fields.c) and the check of masks.
 *
 * X(capability, part of fte_match_param, layout of the part, field). IP addresses, which are whole dwords, are in
 * dp_fields(). A field without a capability of its own is reported together with that of its row.
 */
#ifndef EMU_DP_FIELDS_H
#define EMU_DP_FIELDS_H

#include "emu_dp_table.h"

#define DP_FIELDS_HEADERS(X, side) \
	X(side##_dmac, side##_headers, set_lyr_2_4, dmac_47_16) \
	X(side##_dmac, side##_headers, set_lyr_2_4, dmac_15_0) \
	X(side##_smac, side##_headers, set_lyr_2_4, smac_47_16) \
	X(side##_smac, side##_headers, set_lyr_2_4, smac_15_0) \
	X(side##_ether_type, side##_headers, set_lyr_2_4, ethertype) \
	X(side##_ip_version, side##_headers, set_lyr_2_4, ip_version) \
	X(side##_first_prio, side##_headers, set_lyr_2_4, first_prio) \
	X(side##_first_cfi, side##_headers, set_lyr_2_4, first_cfi) \
	X(side##_first_vid, side##_headers, set_lyr_2_4, first_vid) \
	X(side##_first_vid, side##_headers, set_lyr_2_4, cvlan_tag) \
	X(side##_first_svlan, side##_headers, set_lyr_2_4, svlan_tag) \
	X(side##_frag, side##_headers, set_lyr_2_4, frag) \
	X(side##_ip_protocol, side##_headers, set_lyr_2_4, ip_protocol) \
	X(side##_ip_ecn, side##_headers, set_lyr_2_4, ip_ecn) \
	X(side##_ip_dscp, side##_headers, set_lyr_2_4, ip_dscp) \
	X(side##_udp_sport, side##_headers, set_lyr_2_4, udp_sport) \
	X(side##_udp_dport, side##_headers, set_lyr_2_4, udp_dport) \
	X(side##_tcp_sport, side##_headers, set_lyr_2_4, tcp_sport) \
	X(side##_tcp_dport, side##_headers, set_lyr_2_4, tcp_dport) \
	X(side##_tcp_flags, side##_headers, set_lyr_2_4, tcp_flags) \
	/* IPv4 and IPv6 share field and capability. */ \
	X(side##_ipv4_ttl, side##_headers, set_lyr_2_4, ttl_hoplimit) \
	X(side##_ipv6_hop_limit, side##_headers, set_lyr_2_4, ttl_hoplimit)

#define DP_FIELDS_SECOND_TAG(X, side) \
	X(side##_second_prio, misc_parameters, set_misc, side##_second_prio) \
	X(side##_second_cfi, misc_parameters, set_misc, side##_second_cfi) \
	X(side##_second_vid, misc_parameters, set_misc, side##_second_vid) \
	X(side##_second_vid, misc_parameters, set_misc, side##_second_cvlan_tag)

/** Fields of all cards. */
#define DP_FIELDS(X) \
	DP_FIELDS_HEADERS(X, outer) \
	DP_FIELDS_HEADERS(X, inner) \
	DP_FIELDS_SECOND_TAG(X, outer) \
	DP_FIELDS_SECOND_TAG(X, inner) \
	X(outer_gre_protocol, misc_parameters, set_misc, gre_protocol) \
	X(outer_gre_protocol, misc_parameters, set_misc, gre_c_present) \
	X(outer_gre_protocol, misc_parameters, set_misc, gre_s_present) \
	X(outer_gre_key, misc_parameters, set_misc, gre_k_present) \
	X(outer_gre_key, misc_parameters, set_misc, gre_key_h) \
	X(outer_gre_key, misc_parameters, set_misc, gre_key_l) \
	X(outer_vxlan_vni, misc_parameters, set_misc, vxlan_vni)

#define DP_FIELDS_CX5_MISC(X, side) \
	X(side##_ipv6_flow_label, misc_parameters, set_misc, side##_ipv6_flow_label) \
	X(side##_esp_spi, misc_parameters, set_misc, side##_esp_spi) \
	X(side##_second_svlan, misc_parameters, set_misc, side##_second_svlan_tag)

#define DP_FIELDS_CX5_HEADERS(X, side) \
	X(side##_ipv4_ihl, side##_headers, set_lyr_2_4, ipv4_ihl) \
	X(side##_l3_ok, side##_headers, set_lyr_2_4, l3_ok) \
	X(side##_l4_ok, side##_headers, set_lyr_2_4, l4_ok) \
	X(side##_ipv4_checksum_ok, side##_headers, set_lyr_2_4, ipv4_checksum_ok) \
	X(side##_l4_checksum_ok, side##_headers, set_lyr_2_4, l4_checksum_ok)

/**
 * Fields of cards from ConnectX-5 on. The recorded ConnectX-4 Lx has none of them in ft_field_support (source: trace of
 * core/emu_profile.c).
 * assumed: ConnectX-5 and newer have all of them. Other reading: some came later. Test: dp/test_match.c.
 */
#define DP_FIELDS_CX5(X) \
	DP_FIELDS_CX5_MISC(X, outer) \
	DP_FIELDS_CX5_MISC(X, inner) \
	X(metadata_reg_c_0, misc_parameters_2, set_misc2, metadata_reg_c_0) \
	X(metadata_reg_c_1, misc_parameters_2, set_misc2, metadata_reg_c_1) \
	X(metadata_reg_c_2, misc_parameters_2, set_misc2, metadata_reg_c_2) \
	X(metadata_reg_c_3, misc_parameters_2, set_misc2, metadata_reg_c_3) \
	X(metadata_reg_c_4, misc_parameters_2, set_misc2, metadata_reg_c_4) \
	X(metadata_reg_c_5, misc_parameters_2, set_misc2, metadata_reg_c_5) \
	X(metadata_reg_c_6, misc_parameters_2, set_misc2, metadata_reg_c_6) \
	X(metadata_reg_c_7, misc_parameters_2, set_misc2, metadata_reg_c_7)

/** The same; their capabilities are in flow_table_fields_supported_2. */
#define DP_FIELDS_CX5_2(X) \
	DP_FIELDS_CX5_HEADERS(X, outer) \
	DP_FIELDS_CX5_HEADERS(X, inner)

/** The same; there is no capability (rdma-core, dr_matcher.c, requires none). */
#define DP_FIELDS_CX5_SILENT(X) \
	X(none, misc_parameters_3, set_misc3, inner_tcp_seq_num) \
	X(none, misc_parameters_3, set_misc3, outer_tcp_seq_num) \
	X(none, misc_parameters_3, set_misc3, inner_tcp_ack_num) \
	X(none, misc_parameters_3, set_misc3, outer_tcp_ack_num)

/**
 * Fields of tables of sent packets, of these cards: the register that the Ethernet segment of a WQE sets, and the SQ.
 * The recorded ConnectX-4 Lx has neither.
 */
#define DP_FIELDS_TX(X) \
	X(metadata_reg_a, misc_parameters_2, set_misc2, metadata_reg_a) \
	X(source_sqn, misc_parameters, set_misc, source_sqn)

/** MPLS headers, which are dwords of misc_parameters_2. Four bits of capability each: label, EXP, S and TTL. */
#define DP_FIELDS_MPLS(X) \
	X(outer_first_mpls, misc_parameters_2, set_misc2, outer_first_mpls) \
	X(inner_first_mpls, misc_parameters_2, set_misc2, inner_first_mpls)
/** The same; with flex parsers. */
#define DP_FIELDS_MPLS_GRE(X) X(outer_first_mpls_over_gre, misc_parameters_2, set_misc2, outer_first_mpls_over_gre)
#define DP_FIELDS_MPLS_UDP(X) X(outer_first_mpls_over_udp, misc_parameters_2, set_misc2, outer_first_mpls_over_udp)

/** Bits of flex_parser_protocols (Linux, include/linux/mlx5/device.h, enum mlx5_flex_parser_protos). */
enum {
	DP_FLEX_GENEVE = 1 << 3,
	DP_FLEX_MPLS_GRE = 1 << 4,
	DP_FLEX_MPLS_UDP = 1 << 5,
	DP_FLEX_VXLAN_GPE = 1 << 7,
	DP_FLEX_ICMP = 1 << 8,
	DP_FLEX_ICMPV6 = 1 << 9,
	DP_FLEX_GTPU = 1 << 11,
};
/** Those that are modelled. */
#define DP_FLEX_ALL \
	((uint32_t)(DP_FLEX_GENEVE | DP_FLEX_MPLS_GRE | DP_FLEX_MPLS_UDP | DP_FLEX_VXLAN_GPE | DP_FLEX_ICMP | \
		    DP_FLEX_ICMPV6 | DP_FLEX_GTPU))

/** Fields of DP_FLEX_GENEVE. */
#define DP_FIELDS_GENEVE(X) \
	X(outer_geneve_vni, misc_parameters, set_misc, geneve_vni) \
	X(outer_geneve_oam, misc_parameters, set_misc, geneve_oam) \
	X(outer_geneve_opt_len, misc_parameters, set_misc, geneve_opt_len) \
	X(outer_geneve_protocol_type, misc_parameters, set_misc, geneve_protocol_type)

/** Fields of DP_FLEX_ICMP and DP_FLEX_ICMPV6, which are their capabilities. */
#define DP_FIELDS_ICMP(X) \
	X(none, misc_parameters_3, set_misc3, icmp_header_data) \
	X(none, misc_parameters_3, set_misc3, icmp_type) \
	X(none, misc_parameters_3, set_misc3, icmp_code)
#define DP_FIELDS_ICMPV6(X) \
	X(none, misc_parameters_3, set_misc3, icmpv6_header_data) \
	X(none, misc_parameters_3, set_misc3, icmpv6_type) \
	X(none, misc_parameters_3, set_misc3, icmpv6_code)

/** Fields of DP_FLEX_VXLAN_GPE. */
#define DP_FIELDS_VXLAN_GPE(X) \
	X(none, misc_parameters_3, set_misc3, outer_vxlan_gpe_vni) \
	X(none, misc_parameters_3, set_misc3, outer_vxlan_gpe_next_protocol) \
	X(none, misc_parameters_3, set_misc3, outer_vxlan_gpe_flags)

/** Fields of DP_FLEX_GTPU. */
#define DP_FIELDS_GTPU(X) \
	X(none, misc_parameters_3, set_misc3, gtpu_teid) \
	X(none, misc_parameters_3, set_misc3, gtpu_msg_type) \
	X(none, misc_parameters_3, set_misc3, gtpu_msg_flags)

/** Mask of all fields that a card has, in tables of received or sent packets. p NULL: that any card has. */
void dp_fields(const struct emu_profile *p, bool sent, uint32_t key[DP_KEY_DWORDS]);

#endif /* EMU_DP_FIELDS_H */
