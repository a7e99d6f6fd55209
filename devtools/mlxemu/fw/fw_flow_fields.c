/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Capabilities of the fields that steering compares: dp/emu_dp_fields.h has the list. */
#include "../dp/emu_dp_fields.h"
#include "../dp/emu_dp_modify.h"
#include "fw.h"

void
fw_flow_fields_cap(const struct emu_profile *p, bool sent, struct prm_flow_table_fields_supported *f)
{
#define CAP(cap, part, layout, field) prm_flow_table_fields_supported_set_##cap(f, 1);
#define CAP_MPLS(cap, part, layout, header) prm_flow_table_fields_supported_set_##cap(f, 0xf);
	DP_FIELDS(CAP)
	if (!p->first_match_fields) {
		DP_FIELDS_CX5(CAP)
		DP_FIELDS_MPLS(CAP_MPLS)
		if (sent) {
			DP_FIELDS_TX(CAP)
		}
	}
	if ((p->flex_parser_protocols & DP_FLEX_GENEVE) != 0) {
		DP_FIELDS_GENEVE(CAP)
	}
	if ((p->flex_parser_protocols & DP_FLEX_MPLS_GRE) != 0) {
		DP_FIELDS_MPLS_GRE(CAP_MPLS)
	}
	if ((p->flex_parser_protocols & DP_FLEX_MPLS_UDP) != 0) {
		DP_FIELDS_MPLS_UDP(CAP_MPLS)
	}
#undef CAP_MPLS
#undef CAP
	prm_flow_table_fields_supported_set_outer_sip(f, 1);
	prm_flow_table_fields_supported_set_outer_dip(f, 1);
	prm_flow_table_fields_supported_set_inner_sip(f, 1);
	prm_flow_table_fields_supported_set_inner_dip(f, 1);
}

void
fw_flow_fields_2_cap(const struct emu_profile *p, struct prm_flow_table_fields_supported_2 *f)
{
	if (p->first_match_fields)
		return;
#define CAP(cap, part, layout, field) prm_flow_table_fields_supported_2_set_##cap(f, 1);
	DP_FIELDS_CX5_2(CAP)
#undef CAP
}

/*
 * assumed: what can be set can be added to and copied. Other reading: some fields cannot. Test:
 * fw/test_modify_header.c.
 */
void
fw_modify_fields_cap(bool sent, struct prm_header_modify_cap_properties *m)
{
	struct prm_flow_table_fields_supported *all[] = {
		prm_header_modify_cap_properties_set_action_field_support(m),
		prm_header_modify_cap_properties_add_action_field_support(m),
		prm_header_modify_cap_properties_copy_action_field_support(m),
	};

	for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
#define CAP(name, cap, header, at, bytes, shift, bits) prm_flow_table_fields_supported_set_##cap(all[i], 1);
		DP_MODIFY_FIELDS(CAP)
		if (sent) {
			DP_MODIFY_TX(CAP)
		} else {
			DP_MODIFY_RX(CAP)
		}
#undef CAP
	}
}
