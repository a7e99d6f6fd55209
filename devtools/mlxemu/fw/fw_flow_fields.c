/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Fields that flow groups can match: one list for the capabilities and for the check of criteria. */
#include <string.h>

#include "fw.h"

/* X(capability, field). IP addresses, which are whole dwords, are below. */
#define FLOW_FIELDS(X) \
	X(outer_dmac, dmac_47_16) \
	X(outer_dmac, dmac_15_0) \
	X(outer_smac, smac_47_16) \
	X(outer_smac, smac_15_0) \
	X(outer_ether_type, ethertype) \
	X(outer_ip_version, ip_version) \
	X(outer_first_prio, first_prio) \
	X(outer_first_cfi, first_cfi) \
	X(outer_first_vid, first_vid) \
	/* The packet has a C-VLAN tag; reported together with the fields of the tag. */ \
	X(outer_first_vid, cvlan_tag) \
	X(outer_first_svlan, svlan_tag) \
	X(outer_frag, frag) \
	X(outer_ip_protocol, ip_protocol) \
	X(outer_ip_ecn, ip_ecn) \
	X(outer_ip_dscp, ip_dscp) \
	X(outer_udp_sport, udp_sport) \
	X(outer_udp_dport, udp_dport) \
	X(outer_tcp_sport, tcp_sport) \
	X(outer_tcp_dport, tcp_dport) \
	X(outer_tcp_flags, tcp_flags) \
	/* IPv4 and IPv6 share field and capability. */ \
	X(outer_ipv4_ttl, ttl_hoplimit) \
	X(outer_ipv6_hop_limit, ttl_hoplimit)

#define SRC_IP 8u /* dwords of source and destination address; IPv4 is in the last one of each */

void
fw_flow_fields_cap(struct prm_flow_table_fields_supported *f)
{
#define CAP(cap, field) prm_flow_table_fields_supported_set_##cap(f, 1);
	FLOW_FIELDS(CAP)
#undef CAP
	prm_flow_table_fields_supported_set_outer_sip(f, 1);
	prm_flow_table_fields_supported_set_outer_dip(f, 1);
}

void
fw_flow_fields(uint32_t key[DP_KEY_DWORDS])
{
	struct prm_fte_match_set_lyr_2_4 all, ones;

	memset(&ones, 0xff, sizeof(ones));
	memset(&all, 0, sizeof(all));
	memset(&all.dw[SRC_IP], 0xff, 8 * sizeof(all.dw[0]));
#define FIELD(cap, field) \
	prm_fte_match_set_lyr_2_4_set_##field(&all, prm_fte_match_set_lyr_2_4_get_##field(&ones));
	FLOW_FIELDS(FIELD)
#undef FIELD
	dp_key_load(key, &all, sizeof(all));
}
