/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Match parameters of rules. */

#include <string.h>

#include <mdv_private.h>
#include <mdv_rule_int.h>

#include "mdv_test.h"

/* Rules of an uplink match its metadata, else its vport; those of other ports match neither. */
static void
test_uplink_match(void)
{
	static const struct {
		bool switchdev;
		uint32_t mask;
		uint8_t criteria;
	} row[] = {
		{ false, 0, 0 }, { false, 0xffff0000, 0 },
		{ true, 0, PRM_MATCH_CRITERIA_ENABLE_MISC }, { true, 0xffff0000, PRM_MATCH_CRITERIA_ENABLE_MISC2 },
	};

	for (size_t i = 0; i < RTE_DIM(row); i++) {
		struct mdv_dev_own own = {
			.switchdev = row[i].switchdev, .source_mask = row[i].mask, .source_value = 0x12340000,
		};
		const bool misc = row[i].criteria == PRM_MATCH_CRITERIA_ENABLE_MISC;
		const bool misc2 = row[i].criteria == PRM_MATCH_CRITERIA_ENABLE_MISC2;
		struct prm_fte_match_param mask, value;

		memset(&mask, 0, sizeof(mask));
		memset(&value, 0, sizeof(value));
		mdv_uplink_match(&own.dev, &mask, &value);
		CHECK_EQ(mdv_match_criteria(&mask), row[i].criteria);
		CHECK_EQ(mdv_match_criteria(&value), row[i].criteria);
		CHECK_EQ(prm_fte_match_set_misc_get_source_port(prm_fte_match_param_misc_parameters(&value)),
			 misc ? 0xffff : 0);
		CHECK_EQ(prm_fte_match_set_misc_get_source_port(prm_fte_match_param_misc_parameters(&mask)),
			 misc ? 0xffff : 0);
		CHECK_EQ(prm_fte_match_set_misc2_get_metadata_reg_c_0(prm_fte_match_param_misc_parameters_2(&mask)),
			 misc2 ? 0xffff0000 : 0);
		CHECK_EQ(prm_fte_match_set_misc2_get_metadata_reg_c_0(prm_fte_match_param_misc_parameters_2(&value)),
			 misc2 ? 0x12340000 : 0);
	}
}

/* Each set of headers has its bit. */
static void
test_match_criteria(void)
{
	struct prm_fte_match_param mask;

	memset(&mask, 0, sizeof(mask));
	CHECK_EQ(mdv_match_criteria(&mask), 0);
	prm_fte_match_set_lyr_2_4_set_udp_dport(prm_fte_match_param_inner_headers(&mask), 1);
	CHECK_EQ(mdv_match_criteria(&mask), PRM_MATCH_CRITERIA_ENABLE_INNER);
	prm_fte_match_set_misc3_set_gtpu_dw_0(prm_fte_match_param_misc_parameters_3(&mask), 1);
	CHECK_EQ(mdv_match_criteria(&mask), PRM_MATCH_CRITERIA_ENABLE_INNER | PRM_MATCH_CRITERIA_ENABLE_MISC3);
	mask.dw[0] = 1;
	mask.dw[16] = 1;
	mask.dw[63] = 1;
	CHECK_EQ(mdv_match_criteria(&mask), 0x1f);
}

void
test_match(void)
{
	test_uplink_match();
	test_match_criteria();
}
