/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Capability pages: present, equal for maximum and current, and kept as promises. */
#include "fw_fixture.h"

static struct fix f;

static void *
page(unsigned type, unsigned cur)
{
	struct prm_query_hca_cap_in in = {0};

	prm_query_hca_cap_in_set_opcode(&in, PRM_CMD_OP_QUERY_HCA_CAP);
	prm_query_hca_cap_in_set_op_mod(&in, type << 1 | cur);
	CHECK_EQ(fix_exec(&f, &in, sizeof(in)), 0);
	return prm_query_hca_cap_out_capability((struct prm_query_hca_cap_out *)f.out);
}

static void
test_pages(void)
{
	static const uint8_t types[] = {
		PRM_HCA_CAP_TYPE_GENERAL, PRM_HCA_CAP_TYPE_GENERAL_2,
		PRM_HCA_CAP_TYPE_ETHERNET_OFFLOADS, PRM_HCA_CAP_TYPE_FLOW_TABLE,
		PRM_HCA_CAP_TYPE_ODP, PRM_HCA_CAP_TYPE_ATOMIC, PRM_HCA_CAP_TYPE_ROCE,
		PRM_HCA_CAP_TYPE_QOS, PRM_HCA_CAP_TYPE_DEV_MEM, PRM_HCA_CAP_TYPE_DEV_EVENT,
	};
	static uint8_t max[4096];

	for (unsigned i = 0; i < sizeof(types); i++) {
		memcpy(max, page(types[i], 0), sizeof(max));
		CHECK(memcmp(max, page(types[i], 1), sizeof(max)) == 0);
	}
	/* Pages of what is not there. */
	CHECK_EQ(emu_audit_total(), 0);
	for (unsigned type = 0; type < 0x40; type++) {
		struct prm_query_hca_cap_in in = {0};
		bool known = false;

		for (unsigned i = 0; i < sizeof(types); i++)
			known |= types[i] == type;
		if (known || type == PRM_HCA_CAP_TYPE_DEBUG)
			continue;
		prm_query_hca_cap_in_set_opcode(&in, PRM_CMD_OP_QUERY_HCA_CAP);
		prm_query_hca_cap_in_set_op_mod(&in, type << 1);
		CHECK_EQ(fix_exec(&f, &in, sizeof(in)), fix_code(FW_CAP_TYPE));
	}
}

static void
test_general(void)
{
	const struct emu_profile *p = f.dev->profile;
	const struct prm_cmd_hca_cap *cap = page(PRM_HCA_CAP_TYPE_GENERAL, 1);

	CHECK_EQ(prm_cmd_hca_cap_get_log_max_cq_sz(cap), p->log_max_cq_sz);
	CHECK_EQ(prm_cmd_hca_cap_get_log_max_wq_sz(cap), p->log_max_wq_sz);
	CHECK_EQ(prm_cmd_hca_cap_get_log_max_rqt_size(cap), p->log_max_rqt_size);
	CHECK_EQ(prm_cmd_hca_cap_get_device_frequency_khz(cap), p->clock_hz / 1000);
	CHECK_EQ(prm_cmd_hca_cap_get_cqe_version(cap), 1);
	CHECK_EQ(prm_cmd_hca_cap_get_port_type(cap), PRM_PORT_TYPE_ETHERNET);
	CHECK_EQ(prm_cmd_hca_cap_get_num_ports(cap), 1);
	CHECK_EQ(prm_cmd_hca_cap_get_lag_master(cap), 1);
	CHECK_EQ(prm_cmd_hca_cap_get_num_lag_ports(cap), 2);
	CHECK_EQ(prm_cmd_hca_cap_get_striding_rq(cap), 1);
	CHECK_EQ(prm_cmd_hca_cap_get_ext_stride_num_range(cap), p->ext_stride_num_range);
	CHECK_EQ(prm_cmd_hca_cap_get_cqe_compression(cap), 1);
	CHECK_EQ(prm_cmd_hca_cap_get_roce(cap), 1);
	CHECK_EQ(prm_cmd_hca_cap_get_log_max_qp(cap), p->log_max_qp);
	CHECK_EQ(prm_cmd_hca_cap_get_enhanced_cqe_compression(cap), p->enhanced_cqe_compression);
	CHECK_EQ(prm_cmd_hca_cap_get_qos(cap), p->packet_pacing);
	/* Not modelled, so not promised. */
	CHECK_EQ(prm_cmd_hca_cap_get_cqe_compression_128(cap), 0);
	CHECK_EQ(prm_cmd_hca_cap_get_hairpin(cap), 0);
	CHECK_EQ(prm_cmd_hca_cap_get_mem_rq_rmp(cap), 0);
	CHECK_EQ(prm_cmd_hca_cap_get_general_obj_types(cap), 0);
	CHECK_EQ(prm_cmd_hca_cap_get_wait_on_time(cap), p->wait_on_time);
	CHECK_EQ(prm_cmd_hca_cap_get_sq_ts_format(cap), PRM_TS_FORMAT_CAP_FREE_RUNNING);
}

/*
 * Fields that steering compares. The recorded ConnectX-4 Lx (see core/emu_profile.c) has 0xeeefffc0, 0xeeeffe00, 0, 0
 * in ft_field_bitmask_support: no IP version, TTL and S-VLAN tag, which its profile has as newer firmware (assumed).
 */
static void
test_match_fields(void)
{
	static const struct {
		const char *profile;
		uint32_t fields[4], fields_2, flex, ignore_level;
	} rows[] = {
		{"cx6dx", {0xfffffffc, 0xfffffe00, 0x0007fbde, 0x000000ff}, 0x00000def, 0x88, 1},
		{"cx5", {0xfffffffc, 0xfffffe00, 0x0007fbde, 0x000000ff}, 0x00000def, 0x88, 1},
		{"cx4lx", {0xffefffc0, 0xffeffe00, 0x000000d4, 0}, 0, 0, 0},
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct prm_flow_table_prop_layout *rx;
		const uint32_t *cap;

		f.dev->profile = emu_profile_find(rows[i].profile);
		CHECK_EQ(prm_cmd_hca_cap_get_flex_parser_protocols(page(PRM_HCA_CAP_TYPE_GENERAL, 1)), rows[i].flex);
		cap = page(PRM_HCA_CAP_TYPE_FLOW_TABLE, 1);
		rx = prm_flow_table_nic_cap_flow_table_properties_nic_receive_c((const void *)cap);
		for (unsigned d = 0; d < 4; d++) {
			CHECK_EQ(PRM_BE32(prm_flow_table_prop_layout_ft_field_support_c(rx)->dw[d]),
				 rows[i].fields[d]);
			CHECK_EQ(PRM_BE32(prm_flow_table_prop_layout_ft_field_bitmask_support_c(rx)->dw[d]),
				 rows[i].fields[d]);
		}
		CHECK_EQ(prm_flow_table_prop_layout_get_ignore_flow_level(rx), rows[i].ignore_level);
		CHECK_EQ(PRM_BE32(cap[160]), rows[i].fields_2);
	}
	f.dev->profile = fix_profile();
}

/* QUERY_LAG reports that there is no bond. */
static void
test_lag(void)
{
	struct prm_query_lag_in in = {0};
	const struct prm_query_lag_out *out = (const struct prm_query_lag_out *)f.out;
	uint64_t violations = emu_audit_total();

	prm_query_lag_in_set_opcode(&in, PRM_CMD_OP_QUERY_LAG);
	CHECK_EQ(fix_exec(&f, &in, sizeof(in)), 0);
	CHECK_EQ(prm_lagc_get_lag_state(prm_query_lag_out_ctx_c(out)), 0);
	CHECK_EQ(emu_audit_total(), violations);
}

/* The limits that the pages state are the limits that the commands have. */
static void
test_limits(void)
{
	uint32_t cqn = fix_cq(&f), tisn = fix_tis(&f), max = 1u << f.dev->profile->log_max_rqt_size;
	struct prm_create_cq_in cq;
	struct prm_create_sq_in sq;
	struct prm_create_rq_in rq;
	uint32_t rqn, buf[PRM_CREATE_RQT_IN_BYTES / 4 + 1];

	fix_cq_in(&f, &cq);
	prm_cqc_set_log_cq_size(prm_create_cq_in_cq_context(&cq),
				f.dev->profile->log_max_cq_sz + 1u);
	CHECK_EQ(fix_exec(&f, &cq, sizeof(cq)), fix_code(FW_CQ_SIZE));
	fix_sq_in(&f, &sq, cqn, tisn);
	prm_wq_set_log_wq_sz(prm_sqc_wq(prm_create_sq_in_ctx(&sq)),
			     f.dev->profile->log_max_wq_sz + 1u);
	CHECK_EQ(fix_exec(&f, &sq, sizeof(sq)), fix_code(FW_WQ_SIZE));
	fix_rq_in(&f, &rq, cqn);
	prm_wq_set_log_wq_sz(prm_rqc_wq(prm_create_rq_in_ctx(&rq)),
			     f.dev->profile->log_max_wq_sz + 1u);
	CHECK_EQ(fix_exec(&f, &rq, sizeof(rq)), fix_code(FW_WQ_SIZE));
	rqn = fix_rq(&f, cqn);
	CHECK_EQ(fix_exec(&f, buf, fix_rqt_in(buf, max * 2, &rqn, 1)),
		 fix_code(FW_RQT_MAX_SIZE));
	CHECK_EQ(fix_exec(&f, buf, fix_rqt_in(buf, max, &rqn, 1)), 0);
}

static void
test_profiles(void)
{
	for (unsigned i = 0; emu_profiles[i] != NULL; i++) {
		const struct emu_profile *p = emu_profiles[i];

		CHECK(emu_profile_find(p->name) == p);
		CHECK(p->clock_hz >= 78125000 && p->speed_mbps >= (p->mlx4 ? 10000 : 25000) &&
		      p->max_mtu == 9978);
		CHECK((p->pci_device_id & 0xff00) == 0x1000);
	}
	CHECK(emu_profile_find("cx99") == NULL);
}

/* The device has one capability less, or another value of it. */
static void
change(const char *cap)
{
	char err[128] = "";

	f.dev->profile = emu_profile_change(fix_profile(), cap, err, sizeof(err));
	CHECK(f.dev->profile != NULL);
}

/* CREATE_CQ with compression: the layout and a format, on a card of that capability. */
static int
compressed_cq(const char *cap, unsigned layout, unsigned format)
{
	struct prm_create_cq_in in;
	struct prm_cqc *cqc = prm_create_cq_in_cq_context(&in);

	change(cap);
	fix_cq_in(&f, &in);
	prm_cqc_set_cqe_comp_en(cqc, 1);
	prm_cqc_set_cqe_compression_layout(cqc, layout);
	prm_cqc_set_mini_cqe_res_format(cqc, format & 3);
	prm_cqc_set_mini_cqe_res_format_ext(cqc, format >> 2);
	return fix_exec(&f, &in, sizeof(in));
}

static void
test_compression(void)
{
	const int refused = fix_code(FW_CQ_COMPRESSION);
	static const struct {
		const char *without, *with;
		unsigned format;
	} formats[] = {
		{"mini_cqe_resp_flow_tag=0", "mini_cqe_resp_flow_tag=1", PRM_CQC_MINI_CQE_FORMAT_FTAG_STRIDX},
		{"mini_cqe_resp_stride_index=0", "mini_cqe_resp_stride_index=1", PRM_CQC_MINI_CQE_FORMAT_CSUM_STRIDX},
		{"mini_cqe_resp_l3_l4_tag=0", "mini_cqe_resp_l3_l4_tag=1", 4},
	};

	CHECK_EQ(compressed_cq("enhanced_cqe_compression=0", 1, 0), refused);
	CHECK_EQ(compressed_cq("enhanced_cqe_compression=0", 0, 0), 0);
	for (unsigned layout = 0; layout < 4; layout++)
		CHECK_EQ(compressed_cq("enhanced_cqe_compression=1", layout, 0), layout < 2 ? 0 : refused);
	for (unsigned i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		CHECK_EQ(compressed_cq(formats[i].without, 0, formats[i].format), refused);
		CHECK_EQ(compressed_cq(formats[i].with, 0, formats[i].format), 0);
	}
	/* Which cards have the layout. */
	CHECK_EQ(emu_profile_find("cx7")->enhanced_cqe_compression, 1);
	CHECK_EQ(emu_profile_find("cx6dx")->enhanced_cqe_compression, 0);
	CHECK_EQ(emu_profile_find("cx5")->enhanced_cqe_compression, 0);
	CHECK_EQ(emu_profile_find("cx4lx")->enhanced_cqe_compression, 0);
	f.dev->profile = fix_profile();
}

/* What a card without a capability refuses, one with it takes. */
static void
test_without(void)
{
	uint32_t cqn = fix_cq(&f), tisn = fix_tis(&f);
	struct prm_create_sq_in sq;
	struct prm_create_rq_in rq;
	struct prm_create_mkey_in mkey;
	struct prm_query_lag_in lag = {0};

	/* The mode of an SQ is written only where the vport has it. */
	for (unsigned cap = 0; cap <= PRM_WQE_INLINE_MODE_CAP_NOT_REQUIRED; cap++) {
		char text[32];

		snprintf(text, sizeof(text), "wqe_inline_mode=%u", cap);
		change(text);
		fix_sq_in(&f, &sq, cqn, tisn);
		prm_sqc_set_min_wqe_inline_mode(prm_create_sq_in_ctx(&sq), PRM_MIN_INLINE_MODE_L2);
		CHECK_EQ(fix_exec(&f, &sq, sizeof(sq)),
			 cap == PRM_WQE_INLINE_MODE_CAP_VPORT_CONTEXT ? 0 : fix_code(FW_SQ_INLINE_MODE));
	}
	change("enhanced_multi_pkt_send_wqe=0");
	fix_sq_in(&f, &sq, cqn, tisn);
	prm_sqc_set_allow_multi_pkt_send_wqe(prm_create_sq_in_ctx(&sq), 1);
	CHECK_EQ(fix_exec(&f, &sq, sizeof(sq)), 0); /* for the legacy form */
	((struct emu_profile *)(uintptr_t)f.dev->profile)->multi_pkt_send_wqe = 0;
	CHECK_EQ(fix_exec(&f, &sq, sizeof(sq)), fix_code(FW_SQ_MULTI_PACKET));
	change("swp=0");
	fix_sq_in(&f, &sq, cqn, tisn);
	prm_sqc_set_allow_swp(prm_create_sq_in_ctx(&sq), 1);
	CHECK_EQ(fix_exec(&f, &sq, sizeof(sq)), fix_code(FW_SQ_FEATURE));
	change("scatter_fcs=0");
	fix_rq_in(&f, &rq, cqn);
	prm_rqc_set_scatter_fcs(prm_create_rq_in_ctx(&rq), 1);
	CHECK_EQ(fix_exec(&f, &rq, sizeof(rq)), fix_code(FW_RQ_FEATURE));
	fix_mkey_in(&f, &mkey);
	prm_mkc_set_relaxed_ordering_read(prm_create_mkey_in_memory_key_mkey_entry(&mkey), 1);
	change("relaxed_ordering_read=0");
	CHECK_EQ(fix_exec(&f, &mkey, sizeof(mkey)), fix_code(FW_MKEY_RELAXED));
	change("relaxed_ordering_write=0");
	CHECK_EQ(fix_exec(&f, &mkey, sizeof(mkey)), 0);
	prm_mkc_set_relaxed_ordering_write(prm_create_mkey_in_memory_key_mkey_entry(&mkey), 1);
	CHECK_EQ(fix_exec(&f, &mkey, sizeof(mkey)), fix_code(FW_MKEY_RELAXED));
	change("lag_master=0");
	prm_query_lag_in_set_opcode(&lag, PRM_CMD_OP_QUERY_LAG);
	CHECK_EQ(fix_exec(&f, &lag, sizeof(lag)), fix_code(FW_NO_LAG));
	CHECK_EQ(prm_cmd_hca_cap_get_num_lag_ports(page(PRM_HCA_CAP_TYPE_GENERAL, 1)), 0);
	f.dev->profile = fix_profile();
}

static void
test_change(void)
{
	const struct emu_profile *p = emu_profile_find("cx4lx"), *q;
	char err[128] = "";
	unsigned value = 99;

	q = emu_profile_change(p, "log_max_uctx=0", err, sizeof(err));
	CHECK(q != NULL && q != p && q->log_max_uctx == 0 && p->log_max_uctx == 15);
	q = emu_profile_change(q, "wqe_inline_mode=2", err, sizeof(err));
	CHECK(q != NULL && q->log_max_uctx == 0 && q->wqe_inline_mode == 2 && q->log_max_qp == 17);
	CHECK(emu_profile_change(p, "wqe_inline_mode=3", err, sizeof(err)) == NULL);
	CHECK(strstr(err, "0 to 2") != NULL);
	CHECK(emu_profile_change(p, "wqe_inline=1", err, sizeof(err)) == NULL);
	CHECK(emu_profile_change(p, "log_max_uctx", err, sizeof(err)) == NULL);
	CHECK(strcmp(emu_profile_cap(p, 0, &value), "access_register_user") == 0 && value == 0);
	CHECK(emu_profile_cap(p, 1000, &value) == NULL);
}

int
main(void)
{
	fix_open(&f);
	test_profiles();
	test_pages();
	test_general();
	test_match_fields();
	test_lag();
	test_limits();
	test_compression();
	test_without();
	test_change();
	fix_close(&f);
	return fix_result("caps");
}
