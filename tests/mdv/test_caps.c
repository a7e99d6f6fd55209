/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Capabilities: what each value that a device may report becomes. The program's own mlx5dv_devx_general_cmd()
 * replaces that of libmlx5 and answers each query with zeros, but for the fields of a list.
 */

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "mdv_test.h"

struct setting {
	const char *field; /**< Of the reply that has a field of this name; others do not have it. */
	uint64_t value;
};

static struct {
	struct setting setting[2]; /**< In addition to usual[], and instead of them. */
	uint16_t refused;	   /**< The command that is refused; 0: none. */
	unsigned int commands;
} device;

/** Of a device that is good for everything. */
static const struct setting usual[] = {
	{ "port_type", PRM_PORT_TYPE_ETHERNET }, { "eth_net_offloads", 1 }, { "log_max_cq_sz", 22 },
	{ "log_max_wq_sz", 15 }, { "log_max_rqt_size", 11 }, { "max_wqe_sz_sq", 1024 }, { "num_ports", 1 },
	{ "device_frequency_khz", 156250 }, { "access_register_user", 1 }, { "max_mtu", 10000 },
	{ "wqe_inline_mode", PRM_WQE_INLINE_MODE_CAP_NOT_REQUIRED },
};

static void
setting_apply(const struct setting *s, const void *in, size_t in_bytes, void *out, size_t out_bytes)
{
	struct prm_place p;

	if (s->field == NULL || !prm_locate_out(in, in_bytes, out, out_bytes, s->field, &p))
		return;
	CHECK(s->value >> (p.hi - p.lo) < 2, "%s: %#" PRIx64 " does not fit", s->field, s->value);
	prm_set32(p.at, p.hi, p.lo, (uint32_t)s->value);
}

int
mlx5dv_devx_general_cmd(struct ibv_context *ctx, const void *in, size_t in_bytes, void *out, size_t out_bytes)
{
	const uint8_t *bytes = in;

	RTE_SET_USED(ctx);
	device.commands++;
	memset(out, 0, out_bytes);
	if (device.refused == (bytes[0] << 8 | bytes[1])) {
		((uint8_t *)out)[0] = PRM_STATUS_BAD_PARAM;
		return EREMOTEIO;
	}
	for (size_t i = 0; i < RTE_DIM(usual); i++)
		setting_apply(&usual[i], in, in_bytes, out, out_bytes);
	for (size_t i = 0; i < RTE_DIM(device.setting); i++)
		setting_apply(&device.setting[i], in, in_bytes, out, out_bytes);
	return 0;
}

static int identify_ret;

static int
identify(struct mdv_dev *dev)
{
	RTE_SET_USED(dev);
	return identify_ret;
}

static const struct mdv_backend users = { .register_opcode = PRM_CMD_OP_ACCESS_REGISTER_USER, .identify = identify };

static int
health_ok(struct mdv_dev *dev)
{
	RTE_SET_USED(dev);
	return 0;
}

/** Of a process that owns the function. */
static const struct mdv_backend owners = {
	.register_opcode = PRM_CMD_OP_ACCESS_REGISTER, .identify = identify, .exclusive = true,
	.health_check = health_ok,
};

/** Reads the capabilities of the device as it is set; text receives the log. */
static int
caps_read(struct mdv_dev *dev, const struct mdv_backend *backend, const char **text)
{
	int ret;

	memset(dev, 0, sizeof(*dev));
	strcpy(dev->name, "0000:c1:00.0");
	dev->backend = backend;
	device.commands = 0;
	log_begin();
	ret = mdv_caps_read(dev);
	*text = log_end();
	return ret;
}

static uint32_t
cap_at(const struct mdv_dev *dev, size_t offset, size_t bytes)
{
	uint32_t value = 0;

	memcpy(&value, RTE_PTR_ADD(&dev->caps, offset), bytes);
	return value;
}

#define CAP(field) offsetof(struct mdv_caps, field), sizeof(((struct mdv_caps *)0)->field)
#define ONE(name, value) { { name, value } }
#define TWO(name, value, name2, value2) { { name, value }, { name2, value2 } }

/** What is reported, and what the capability is then; lines: warnings. */
static const struct {
	struct setting setting[2];
	size_t offset, bytes;
	uint32_t want;
	unsigned int lines;
} values[] = {
	{ ONE("log_max_cq_sz", 6), CAP(log_max_cq_sz), 6, 0 },
	{ ONE("log_max_cq_sz", 22), CAP(log_max_cq_sz), 22, 0 },
	{ ONE("log_max_cq_sz", 23), CAP(log_max_cq_sz), 22, 1 },
	{ ONE("log_max_wq_sz", 6), CAP(log_max_wq_sz), 6, 0 },
	{ ONE("log_max_wq_sz", 15), CAP(log_max_wq_sz), 15, 0 },
	{ ONE("log_max_wq_sz", 16), CAP(log_max_wq_sz), 15, 1 },
	{ ONE("max_flow_counter_15_0", 0x8000), CAP(max_flow_counters), 0x8000, 0 },
	{ TWO("max_flow_counter_31_16", 3, "max_flow_counter_15_0", 4), CAP(max_flow_counters), 0x30004, 0 },
	{ TWO("flow_counter_bulk_alloc", 0xff, "log_max_flow_counter_bulk", 9), CAP(flow_counter_bulks), 7, 0 },
	{ TWO("flow_counter_bulk_alloc", 0xf5, "log_max_flow_counter_bulk", 31), CAP(flow_counter_bulks), 0xf5, 0 },
	{ TWO("flow_counter_bulk_alloc", 0xff, "log_max_flow_counter_bulk", 6), CAP(flow_counter_bulks), 0, 0 },
	{ ONE("log_max_rqt_size", 1), CAP(log_max_rqt_size), 1, 0 },
	{ ONE("log_max_rqt_size", 15), CAP(log_max_rqt_size), 15, 0 },
	{ ONE("log_max_rqt_size", 16), CAP(log_max_rqt_size), 15, 1 },
	/* A WQE of 64 units of 16 bytes: the field for their number in the control segment holds 63. */
	{ ONE("max_wqe_sz_sq", 64), CAP(max_sq_desc_ds), 4, 0 },
	{ ONE("max_wqe_sz_sq", 1007), CAP(max_sq_desc_ds), 62, 0 },
	{ ONE("max_wqe_sz_sq", 1008), CAP(max_sq_desc_ds), 63, 0 },
	{ ONE("max_wqe_sz_sq", 1024), CAP(max_sq_desc_ds), 63, 0 },
	{ ONE("max_wqe_sz_sq", 1025), CAP(max_sq_desc_ds), 63, 1 },
	{ ONE("num_ports", 2), CAP(num_ports), 2, 0 },
	{ TWO("eswitch_manager", 1, "log_max_l2_table", 7), CAP(log_max_l2_table), 7, 0 },
	{ TWO("eswitch_manager", 0, "log_max_l2_table", 7), CAP(log_max_l2_table), 0, 0 },
	{ TWO("lag_master", 1, "num_lag_ports", 2), CAP(num_lag_ports), 2, 0 },
	{ TWO("lag_master", 0, "num_lag_ports", 2), CAP(num_lag_ports), 0, 0 },
	/* Formats of timestamps: 0 free-running, 1 real time, 2 both. */
	{ TWO("rq_ts_format", 0, "sq_ts_format", 0), CAP(ts_free_running), 1, 0 },
	{ TWO("rq_ts_format", 0, "sq_ts_format", 1), CAP(ts_free_running), 0, 0 },
	{ TWO("rq_ts_format", 1, "sq_ts_format", 0), CAP(ts_free_running), 0, 0 },
	{ TWO("rq_ts_format", 2, "sq_ts_format", 0), CAP(ts_free_running), 1, 0 },
	{ TWO("rq_ts_format", 1, "sq_ts_format", 1), CAP(ts_realtime), 1, 0 },
	{ TWO("rq_ts_format", 0, "sq_ts_format", 1), CAP(ts_realtime), 0, 0 },
	{ TWO("rq_ts_format", 1, "sq_ts_format", 0), CAP(ts_realtime), 0, 0 },
	{ TWO("rq_ts_format", 1, "sq_ts_format", 2), CAP(ts_realtime), 1, 0 },
	{ ONE("device_frequency_khz", 999), CAP(device_frequency_khz), 0, 1 },
	{ ONE("device_frequency_khz", 1000), CAP(device_frequency_khz), 1000, 0 },
	{ ONE("device_frequency_khz", 4000000), CAP(device_frequency_khz), 4000000, 0 },
	{ ONE("device_frequency_khz", 4000001), CAP(device_frequency_khz), 0, 1 },
	{ ONE("wait_on_time", 0), CAP(wait_on_time), 0, 0 },
	{ ONE("wait_on_time", 1), CAP(wait_on_time), 1, 0 },
	{ ONE("max_qp_cnt", 0), CAP(q_counters), 0, 0 },
	{ ONE("max_qp_cnt", 1), CAP(q_counters), 1, 0 },
	{ ONE("vport_counters", 0), CAP(vport_counters), 0, 0 },
	{ ONE("vport_counters", 1), CAP(vport_counters), 1, 0 },
	{ ONE("csum_cap", 0), CAP(csum), 0, 0 },
	{ ONE("csum_cap", 1), CAP(csum), 1, 0 },
	{ ONE("vlan_cap", 1), CAP(vlan_strip), 1, 0 },
	{ ONE("wqe_vlan_insert", 1), CAP(vlan_insert), 1, 0 },
	{ ONE("scatter_fcs", 1), CAP(scatter_fcs), 1, 0 },
	{ ONE("enhanced_multi_pkt_send_wqe", 1), CAP(mpw), 1, 0 },
	{ ONE("enhanced_cqe_compression", 0), CAP(mini_cqes_enhanced), 0, 0 },
	{ ONE("enhanced_cqe_compression", 1), CAP(mini_cqes_enhanced), 1, 0 },
	{ ONE("tunnel_stateless_vxlan", 1), CAP(tunnel_vxlan), 1, 0 },
	{ ONE("tunnel_stateless_gre", 1), CAP(tunnel_vxlan), 0, 0 },
	{ ONE("csum_cap", 1), CAP(tunnel_vxlan), 0, 0 },
	{ ONE("tunnel_stateless_gre", 1), CAP(tunnel_gre), 1, 0 },
	{ ONE("tunnel_stateless_geneve_rx", 1), CAP(tunnel_geneve), 0, 0 },
	{ ONE("tunnel_stateless_geneve_tx", 1), CAP(tunnel_geneve), 1, 0 },
	{ ONE("tunnel_stateless_ip_over_ip_rx", 1), CAP(tunnel_ipip), 0, 0 },
	{ ONE("tunnel_stateless_ip_over_ip_tx", 1), CAP(tunnel_ipip), 1, 0 },
	/* The parts of the software parser are none without it, nor is TSO without checksums. */
	{ ONE("swp", 1), CAP(swp_csum), 0, 0 },
	{ ONE("swp_csum", 1), CAP(swp_csum), 0, 0 },
	{ TWO("swp", 1, "swp_csum", 1), CAP(swp_csum), 1, 0 },
	{ TWO("swp", 1, "swp_csum", 1), CAP(swp_lso), 0, 0 },
	{ TWO("swp", 1, "swp_lso", 1), CAP(swp_lso), 0, 0 },
	{ ONE("rss_ind_tbl_cap", 0), CAP(rss_ipv4_ipv6), 0, 0 },
	{ ONE("rss_ind_tbl_cap", 0), CAP(rx_hash_fields), 0, 0 },
	{ ONE("rss_ind_tbl_cap", 1), CAP(rss_ipv4_ipv6), 1, 0 },
	{ ONE("rss_ind_tbl_cap", 1), CAP(rx_hash_fields), 0xf, 0 },
	{ ONE("max_lso_cap", 0), CAP(max_lso_bytes), 0, 0 },
	{ ONE("max_lso_cap", 1), CAP(max_lso_bytes), 2, 0 },
	{ ONE("max_lso_cap", 18), CAP(max_lso_bytes), 262144, 0 },
	{ ONE("max_lso_cap", 19), CAP(max_lso_bytes), 262144, 1 },
	{ ONE("lro_cap", 0), CAP(lro_us[0]), 0, 0 },
	{ TWO("lro_cap", 0, "lro_timer_supported_periods[3]", 1024), CAP(lro_us[3]), 0, 0 },
	{ TWO("lro_cap", 1, "lro_timer_supported_periods[3]", 1024), CAP(lro_us[3]), 1024, 0 },
	{ ONE("lro_max_msg_sz_mode", 0), CAP(lro_size_l2), 0, 0 },
	{ ONE("lro_max_msg_sz_mode", 1), CAP(lro_size_l2), 1, 0 },
	/* Headers inline: L2, as in the vport's context, none. Modes from 5 on are of tunnels. */
	{ ONE("wqe_inline_mode", 0), CAP(min_inline_mode), 1, 0 },
	{ ONE("wqe_inline_mode", 0), CAP(sq_inline_mode), 0, 0 },
	{ TWO("wqe_inline_mode", 2, "min_wqe_inline_mode", 2), CAP(min_inline_mode), 0, 0 },
	{ TWO("wqe_inline_mode", 1, "min_wqe_inline_mode", 0), CAP(min_inline_mode), 0, 0 },
	{ TWO("wqe_inline_mode", 1, "min_wqe_inline_mode", 2), CAP(min_inline_mode), 2, 0 },
	{ TWO("wqe_inline_mode", 1, "min_wqe_inline_mode", 2), CAP(sq_inline_mode), 2, 0 },
	{ TWO("wqe_inline_mode", 1, "min_wqe_inline_mode", 3), CAP(min_inline_mode), 3, 0 },
	{ TWO("wqe_inline_mode", 1, "min_wqe_inline_mode", 5), CAP(min_inline_mode), 3, 1 },
	/* Frames, of which 22 bytes are Ethernet header, VLAN tag and FCS. */
	{ ONE("max_mtu", 1522), CAP(max_mtu), 9978, 0 },
	{ ONE("max_mtu", 1523), CAP(max_mtu), 1501, 0 },
	{ ONE("max_mtu", 65535), CAP(max_mtu), 65513, 0 },
	{ ONE("access_register_user", 1), CAP(access_reg_user), 1, 0 },
	{ ONE("access_register_user", 0), CAP(access_reg_user), 0, 0 },
	{ ONE("access_register_user", 0), CAP(max_mtu), 9978, 0 },
	{ TWO("relaxed_ordering_write", 1, "relaxed_ordering_read", 0), CAP(umr_relaxed_ordering), 1, 0 },
	{ TWO("relaxed_ordering_write", 0, "relaxed_ordering_read", 1), CAP(umr_relaxed_ordering), 0, 0 },
};

static void
check_values(void)
{
	struct mdv_dev dev;
	const char *text;

	for (size_t i = 0; i < RTE_DIM(values); i++) {
		const struct setting *s = values[i].setting;
		uint32_t got;

		memcpy(device.setting, s, sizeof(device.setting));
		CHECK_EQ(caps_read(&dev, &users, &text), 0);
		got = cap_at(&dev, values[i].offset, values[i].bytes);
		CHECK(got == values[i].want, "%s %" PRIu64 ", row %zu: %u, not %u", s->field, s->value, i, got,
		      values[i].want);
		CHECK(lines_of(text) == values[i].lines, "%s %" PRIu64 ": %s", s->field, s->value, text);
		if (values[i].lines != 0)
			CHECK_EQ(lines_with(text, s[s[1].field != NULL].field), 1);
	}
	memset(device.setting, 0, sizeof(device.setting));
}

/** The owner of the function may access registers; both directions of its keys are relaxed, or none. */
static void
check_owner(void)
{
	struct mdv_dev dev;
	const char *text;

	for (unsigned int bits = 0; bits < 4; bits++) {
		device.setting[0] = (struct setting){ "relaxed_ordering_write", bits & 1 };
		device.setting[1] = (struct setting){ "relaxed_ordering_read", bits >> 1 };
		CHECK_EQ(caps_read(&dev, &owners, &text), 0);
		CHECK_EQ(dev.caps.umr_relaxed_ordering, bits == 3);
	}
	device.setting[0] = (struct setting){ "access_register_user", 0 };
	CHECK_EQ(caps_read(&dev, &owners, &text), 0);
	CHECK(dev.caps.access_reg_user);
	CHECK_EQ(dev.caps.max_mtu, 9978);
	memset(device.setting, 0, sizeof(device.setting));
}

/** What makes a device unusable: one line, and the error. */
static void
check_unusable(void)
{
	static const struct {
		struct setting setting;
		uint16_t refused;
		int ret;
		unsigned int commands;
		const char *line;
	} row[] = {
		{ { "port_type", PRM_PORT_TYPE_IB }, 0, -ENOTSUP, 1, "the port is not Ethernet" },
		{ { "eth_net_offloads", 0 }, 0, -ENOTSUP, 1, "the port is not Ethernet" },
		{ { "log_max_cq_sz", 5 }, 0, -ENOTSUP, 1, "capability log_max_cq_sz is 5, at least 6 is required" },
		{ { "log_max_wq_sz", 5 }, 0, -ENOTSUP, 1, "capability log_max_wq_sz is 5, at least 6 is required" },
		{ { "log_max_rqt_size", 0 }, 0, -ENOTSUP, 1, "capability log_max_rqt_size is 0, at least 1 is required" },
		{ { "max_wqe_sz_sq", 63 }, 0, -ENOTSUP, 1, "capability max_wqe_sz_sq is 63, at least 64 is required" },
		{ { NULL, 0 }, PRM_CMD_OP_QUERY_HCA_CAP, -EINVAL, 1, "QUERY_HCA_CAP (0x100) refused: BAD_PARAM" },
		{ { "wqe_inline_mode", PRM_WQE_INLINE_MODE_CAP_VPORT_CONTEXT }, PRM_CMD_OP_QUERY_NIC_VPORT_CONTEXT,
		  -EINVAL, 3, "QUERY_NIC_VPORT_CONTEXT (0x754) refused: BAD_PARAM" },
	};
	struct mdv_dev dev;
	const char *text;

	for (size_t i = 0; i < RTE_DIM(row); i++) {
		device.setting[0] = row[i].setting;
		device.refused = row[i].refused;
		CHECK_EQ(caps_read(&dev, &users, &text), row[i].ret);
		CHECK_EQ(rte_errno, -row[i].ret);
		CHECK_EQ(device.commands, row[i].commands);
		CHECK(lines_of(text) == 1 && lines_with(text, row[i].line) == 1, "%s: %s", row[i].line, text);
	}
	memset(&device, 0, sizeof(device));
	identify_ret = -EIO;
	CHECK_EQ(caps_read(&dev, &users, &text), -EIO);
	identify_ret = 0;
	/* The largest MTU is no condition. */
	device.refused = PRM_CMD_OP_ACCESS_REGISTER_USER;
	CHECK_EQ(caps_read(&dev, &users, &text), 0);
	CHECK_EQ(dev.caps.max_mtu, 9978);
	CHECK_EQ(lines_of(text), 0);
	device.refused = 0;
}

/** Queried only on a device that can bond its ports; one that refuses the query has no bond. */
static void
check_lag(void)
{
	static const struct {
		uint8_t ports;
		uint64_t state;
		uint16_t refused;
		unsigned int commands;
		int ret;
	} row[] = {
		{ 0, 1, 0, 0, 0 }, { 1, 1, 0, 0, 0 }, { 2, 0, 0, 1, 0 },
		{ 2, 1, 0, 1, -ENOTSUP }, { 2, 1, PRM_CMD_OP_QUERY_LAG, 1, 0 },
	};

	for (size_t i = 0; i < RTE_DIM(row); i++) {
		struct mdv_dev dev = { .backend = &users, .caps = { .num_lag_ports = row[i].ports } };

		device.setting[0] = (struct setting){ "lag_state", row[i].state };
		device.refused = row[i].refused;
		device.commands = 0;
		log_begin();
		CHECK_EQ(mdv_lag_check(&dev), row[i].ret);
		CHECK_EQ(lines_of(log_end()), row[i].ret != 0);
		CHECK_EQ(device.commands, row[i].commands);
	}
	memset(&device, 0, sizeof(device));
}

static void
check_mac(void)
{
	static const uint8_t want[6] = { 0x02, 0x13, 0xa4, 0xb5, 0xc6, 0xd7 };
	struct mdv_dev dev = { .backend = &users };
	struct prm_mac_address_layout addr = { 0 };
	uint8_t mac[6];

	device.setting[0] = (struct setting){ "permanent_address.mac_addr_47_32", 0x0213 };
	device.setting[1] = (struct setting){ "permanent_address.mac_addr_31_0", 0xa4b5c6d7 };
	CHECK_EQ(mdv_vport_mac(&dev, mac), 0);
	CHECK(memcmp(mac, want, sizeof(mac)) == 0);
	mdv_mac_fill(&addr, want);
	CHECK_EQ(prm_mac_address_layout_get_mac_addr_47_32(&addr), 0x0213);
	CHECK_EQ(prm_mac_address_layout_get_mac_addr_31_0(&addr), 0xa4b5c6d7);
	device.refused = PRM_CMD_OP_QUERY_NIC_VPORT_CONTEXT;
	log_begin();
	CHECK_EQ(mdv_vport_mac(&dev, mac), -EINVAL);
	CHECK_EQ(lines_of(log_end()), 1);
	memset(&device, 0, sizeof(device));
}

void
test_caps(void)
{
	check_values();
	check_owner();
	check_unusable();
	check_lag();
	check_mac();
}
