/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Which bits of a mask a card compares. */
#include "emu_dp_fields.h"

#include <string.h>

#include "dp_int.h"
#include "prm_layouts.h"

#define SRC_IP 8u /* dwords of source and destination address; IPv4 is in the last one of each */

void
dp_fields(const struct emu_profile *p, bool sent, uint32_t key[DP_KEY_DWORDS])
{
	uint32_t flex = p != NULL ? p->flex_parser_protocols : DP_FLEX_ALL;
	struct prm_fte_match_param all, ones;

	memset(&ones, 0xff, sizeof(ones));
	memset(&all, 0, sizeof(all));
	memset(&all.dw[DP_KEY_OUTER + SRC_IP], 0xff, 8 * sizeof(all.dw[0]));
	memset(&all.dw[DP_KEY_INNER + SRC_IP], 0xff, 8 * sizeof(all.dw[0]));
#define FIELD(cap, part, layout, field) \
	prm_fte_match_##layout##_set_##field( \
		prm_fte_match_param_##part(&all), \
		prm_fte_match_##layout##_get_##field(prm_fte_match_param_##part##_c(&ones)));
#define HEADER(cap, part, layout, header) \
	memset(prm_fte_match_##layout##_##header(prm_fte_match_param_##part(&all)), 0xff, PRM_FTE_MATCH_MPLS_BYTES);
	DP_FIELDS(FIELD)
	if (p == NULL || !p->first_match_fields) {
		DP_FIELDS_CX5(FIELD)
		DP_FIELDS_CX5_2(FIELD)
		DP_FIELDS_CX5_SILENT(FIELD)
		DP_FIELDS_MPLS(HEADER)
		if (sent) {
			DP_FIELDS_TX(FIELD)
		}
	}
	if ((flex & DP_FLEX_GENEVE) != 0) {
		DP_FIELDS_GENEVE(FIELD)
	}
	if ((flex & DP_FLEX_ICMP) != 0) {
		DP_FIELDS_ICMP(FIELD)
	}
	if ((flex & DP_FLEX_ICMPV6) != 0) {
		DP_FIELDS_ICMPV6(FIELD)
	}
	if ((flex & DP_FLEX_MPLS_GRE) != 0) {
		DP_FIELDS_MPLS_GRE(HEADER)
	}
	if ((flex & DP_FLEX_MPLS_UDP) != 0) {
		DP_FIELDS_MPLS_UDP(HEADER)
	}
	if ((flex & DP_FLEX_VXLAN_GPE) != 0) {
		DP_FIELDS_VXLAN_GPE(FIELD)
	}
	if ((flex & DP_FLEX_GTPU) != 0) {
		DP_FIELDS_GTPU(FIELD)
	}
#undef HEADER
#undef FIELD
	dp_key_load(key, &all, sizeof(all));
}
