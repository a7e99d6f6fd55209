/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Capabilities: read once at open and limited to plausible ranges. Queries of the vport. */

#include <stdlib.h>
#include <string.h>

#include "mdv_private.h"

/** op_mod of QUERY_HCA_CAP: capability page in bits 1 and up, current values in bit 0. */
#define MDV_CAP_OP_MOD(type) ((type) << 1 | PRM_HCA_CAP_MODE_CUR)
/** The DS count of a control segment has six bits. */
#define MDV_MAX_WQE_DS 63
#define MDV_DS_BYTES 16
/** Largest MTU of mlx5 interfaces (maxmtu of ip -d link), if PMTU cannot be read. */
#define MDV_DEFAULT_MAX_MTU 9978
/** Plausible frequencies: ConnectX counters run at 156.25 MHz to 1 GHz; a wide margin (assumed). */
#define MDV_MAX_FREQUENCY_KHZ 4000000u
#define MDV_MIN_FREQUENCY_KHZ 1000u

int
mdv_vport_query(struct mdv_dev *dev, struct prm_query_nic_vport_context_out *out)
{
	struct prm_query_nic_vport_context_in in = { 0 };

	prm_query_nic_vport_context_in_set_opcode(&in, PRM_CMD_OP_QUERY_NIC_VPORT_CONTEXT);
	return mdv_cmd(dev, &in, sizeof(in), out, sizeof(*out));
}

int
mdv_vport_mac(struct mdv_dev *dev, uint8_t mac[6])
{
	struct prm_query_nic_vport_context_out out;
	const struct prm_mac_address_layout *addr;
	uint32_t high, low;

	if (mdv_vport_query(dev, &out) != 0)
		return -rte_errno;
	addr = prm_nic_vport_context_permanent_address_c(
		prm_query_nic_vport_context_out_nic_vport_context_c(&out));
	high = prm_mac_address_layout_get_mac_addr_47_32(addr);
	low = prm_mac_address_layout_get_mac_addr_31_0(addr);
	mac[0] = high >> 8;
	mac[1] = high;
	for (int i = 0; i < 4; i++)
		mac[2 + i] = low >> (24 - 8 * i);
	return 0;
}

void
mdv_mac_fill(struct prm_mac_address_layout *addr, const uint8_t mac[6])
{
	prm_mac_address_layout_set_mac_addr_47_32(addr, (uint32_t)mac[0] << 8 | mac[1]);
	prm_mac_address_layout_set_mac_addr_31_0(addr, (uint32_t)mac[2] << 24 | mac[3] << 16 |
						       mac[4] << 8 | mac[5]);
}

int
mdv_cap_check(const char *name, const struct mdv_cap_limit *limit, uint32_t *value)
{
	if (*value < limit->min)
		return MDV_FAIL(name, ENOTSUP, "capability %s is %u, at least %u is required", limit->name,
				*value, limit->min);
	if (*value > limit->max) {
		MDV_LOG(WARNING, name, "capability %s is %u, more than possible: using %u",
			limit->name, *value, limit->max);
		*value = limit->max;
	}
	return 0;
}

int
mdv_caps_page(struct mdv_dev *dev, uint16_t type, struct prm_query_hca_cap_out *out)
{
	struct prm_query_hca_cap_in in = { 0 };

	prm_query_hca_cap_in_set_opcode(&in, PRM_CMD_OP_QUERY_HCA_CAP);
	prm_query_hca_cap_in_set_op_mod(&in, MDV_CAP_OP_MOD(type));
	return mdv_cmd(dev, &in, sizeof(in), out, sizeof(*out));
}

static int
check_sizes(struct mdv_dev *dev, const struct prm_cmd_hca_cap *cap)
{
	/* Widths: 24-bit consumer index, 16-bit WQE counters less one bit, 16-bit table size. */
	static const struct mdv_cap_limit limits[] = {
		{ "log_max_cq_sz", 6, 22 },
		{ "log_max_wq_sz", 6, 15 },
		{ "log_max_rqt_size", 1, 15 },
		{ "max_wqe_sz_sq", 64, MDV_MAX_WQE_DS * MDV_DS_BYTES + MDV_DS_BYTES },
	};
	uint32_t value[RTE_DIM(limits)] = {
		prm_cmd_hca_cap_get_log_max_cq_sz(cap),
		prm_cmd_hca_cap_get_log_max_wq_sz(cap),
		prm_cmd_hca_cap_get_log_max_rqt_size(cap),
		prm_cmd_hca_cap_get_max_wqe_sz_sq(cap),
	};

	for (size_t i = 0; i < RTE_DIM(limits); i++)
		if (mdv_cap_check(dev->name, &limits[i], &value[i]) != 0)
			return -rte_errno;
	dev->caps.log_max_cq_sz = value[0];
	dev->caps.log_max_wq_sz = value[1];
	dev->caps.log_max_rqt_size = value[2];
	dev->caps.max_sq_desc_ds = RTE_MIN(value[3] / MDV_DS_BYTES, (uint32_t)MDV_MAX_WQE_DS);
	return 0;
}

static void
read_clock_caps(struct mdv_dev *dev, const struct prm_cmd_hca_cap *cap)
{
	struct mdv_caps *caps = &dev->caps;
	uint32_t rq = prm_cmd_hca_cap_get_rq_ts_format(cap);
	uint32_t sq = prm_cmd_hca_cap_get_sq_ts_format(cap);
	uint32_t khz = prm_cmd_hca_cap_get_device_frequency_khz(cap);

	/* A format is usable if both RQs and SQs support it. */
	caps->ts_free_running = rq != PRM_TS_FORMAT_CAP_REAL_TIME &&
				sq != PRM_TS_FORMAT_CAP_REAL_TIME;
	caps->ts_realtime = rq != PRM_TS_FORMAT_CAP_FREE_RUNNING &&
			    sq != PRM_TS_FORMAT_CAP_FREE_RUNNING;
	if (khz < MDV_MIN_FREQUENCY_KHZ || khz > MDV_MAX_FREQUENCY_KHZ) {
		MDV_LOG(WARNING, dev->name,
			"capability device_frequency_khz is %u, not plausible", khz);
		khz = 0;
	}
	caps->device_frequency_khz = khz;
	caps->wait_on_time = prm_cmd_hca_cap_get_wait_on_time(cap);
}

/* Formats of compressed CQEs. Checksums need no capability of their own (Linux, mlx5e_build_rx_cq_param()). */
static uint8_t
mini_cqes(const struct prm_cmd_hca_cap *cap)
{
	uint8_t formats = 1u << MDV_MINI_CQE_HASH | 1u << MDV_MINI_CQE_CSUM;

	if (!prm_cmd_hca_cap_get_cqe_compression(cap))
		return 0;
	if (prm_cmd_hca_cap_get_mini_cqe_resp_flow_tag(cap))
		formats |= 1u << MDV_MINI_CQE_FLOW_TAG;
	if (prm_cmd_hca_cap_get_mini_cqe_resp_l3_l4_tag(cap))
		formats |= 1u << MDV_MINI_CQE_L3_L4;
	if (prm_cmd_hca_cap_get_mini_cqe_resp_stride_index(cap))
		formats |= 1u << MDV_MINI_CQE_CSUM_STRIDE;
	return formats;
}

/* Bulks of rules' counters, as far as a query reads them as a whole (Linux, fs_counters.c). */
static uint8_t
flow_counter_bulks(const struct prm_cmd_hca_cap *cap)
{
	unsigned int log_query = prm_cmd_hca_cap_get_log_max_flow_counter_bulk(cap);

	if (log_query < MDV_LOG_FLOW_BULK)
		return 0;
	return prm_cmd_hca_cap_get_flow_counter_bulk_alloc(cap) &
	       (uint8_t)(RTE_BIT32(RTE_MIN(log_query - MDV_LOG_FLOW_BULK + 1, 8u)) - 1);
}

static int
read_general(struct mdv_dev *dev, const struct prm_cmd_hca_cap *cap)
{
	struct mdv_caps *caps = &dev->caps;

	if (prm_cmd_hca_cap_get_port_type(cap) != PRM_PORT_TYPE_ETHERNET ||
	    !prm_cmd_hca_cap_get_eth_net_offloads(cap))
		return MDV_FAIL(dev->name, ENOTSUP, "the port is not Ethernet");
	if (check_sizes(dev, cap) != 0)
		return -rte_errno;
	caps->num_ports = prm_cmd_hca_cap_get_num_ports(cap);
	caps->max_rqs = RTE_BIT32(RTE_MIN(prm_cmd_hca_cap_get_log_max_rq(cap), prm_cmd_hca_cap_get_log_max_cq(cap)));
	caps->max_sqs = RTE_BIT32(RTE_MIN(prm_cmd_hca_cap_get_log_max_sq(cap), prm_cmd_hca_cap_get_log_max_cq(cap)));
	caps->max_flow_counters = prm_cmd_hca_cap_get_max_flow_counter_31_16(cap) << 16 |
				  prm_cmd_hca_cap_get_max_flow_counter_15_0(cap);
	caps->flow_counter_bulks = flow_counter_bulks(cap);
	caps->flex_parsers = prm_cmd_hca_cap_get_flex_parser_protocols(cap);
	if (prm_cmd_hca_cap_get_eswitch_manager(cap))
		caps->log_max_l2_table = prm_cmd_hca_cap_get_log_max_l2_table(cap);
	read_clock_caps(dev, cap);
	if (prm_cmd_hca_cap_get_lag_master(cap))
		caps->num_lag_ports = prm_cmd_hca_cap_get_num_lag_ports(cap);
	/* As mlx5_ib_query_device() reports it (drivers/infiniband/hw/mlx5/main.c). */
	if (prm_cmd_hca_cap_get_striding_rq(cap))
		caps->log_min_strides = prm_cmd_hca_cap_get_ext_stride_num_range(cap) ? 3 : MDV_LOG_STRIDES_BASE;
	caps->mini_cqes = mini_cqes(cap);
	caps->mini_cqes_enhanced = prm_cmd_hca_cap_get_enhanced_cqe_compression(cap);
	caps->q_counters = prm_cmd_hca_cap_get_max_qp_cnt(cap) != 0;
	caps->vport_counters = prm_cmd_hca_cap_get_vport_counters(cap);
	caps->access_reg_user = dev->backend->exclusive || prm_cmd_hca_cap_get_access_register_user(cap);
	/*
	 * mlx5_ib checks the capability of reads by itself; the VFIO code of libmlx5 sets both bits of a key on
	 * request (set_mkc_access_pd_addr_fields()).
	 */
	caps->umr_relaxed_ordering = prm_cmd_hca_cap_get_relaxed_ordering_write(cap) &&
				     (!dev->backend->exclusive || prm_cmd_hca_cap_get_relaxed_ordering_read(cap));
	return 0;
}

static void
read_lro(struct mdv_caps *caps, const struct prm_per_protocol_networking_offload_caps *cap)
{
	unsigned int i;

	/* The periods are in ascending order (Linux, en/params.c, mlx5e_choose_lro_timeout()). */
	for (i = 0; i < MDV_LRO_PERIODS && prm_per_protocol_networking_offload_caps_get_lro_cap(cap); i++)
		caps->lro_us[i] = prm_per_protocol_networking_offload_caps_get_lro_timer_supported_periods(cap, i);
	/* DPDK mlx5_prm.h, MLX5_LRO_MAX_MSG_SIZE_START_FROM_L4. */
	caps->lro_size_l2 = prm_per_protocol_networking_offload_caps_get_lro_max_msg_sz_mode(cap) != 0;
}

static void
read_ethernet(struct mdv_dev *dev, const struct prm_per_protocol_networking_offload_caps *cap)
{
	static const struct mdv_cap_limit lso = { "max_lso_cap", 0, 18 };
	struct mdv_caps *caps = &dev->caps;
	uint32_t log_lso = prm_per_protocol_networking_offload_caps_get_max_lso_cap(cap);

	caps->csum = prm_per_protocol_networking_offload_caps_get_csum_cap(cap);
	caps->vlan_strip = prm_per_protocol_networking_offload_caps_get_vlan_cap(cap);
	caps->vlan_insert = prm_per_protocol_networking_offload_caps_get_wqe_vlan_insert(cap);
	caps->scatter_fcs = prm_per_protocol_networking_offload_caps_get_scatter_fcs(cap);
	caps->mpw = prm_per_protocol_networking_offload_caps_get_enhanced_multi_pkt_send_wqe(cap);
	caps->tunnel_vxlan = prm_per_protocol_networking_offload_caps_get_tunnel_stateless_vxlan(cap);
	caps->tunnel_gre = prm_per_protocol_networking_offload_caps_get_tunnel_stateless_gre(cap);
	caps->tunnel_geneve = prm_per_protocol_networking_offload_caps_get_tunnel_stateless_geneve_tx(cap);
	caps->tunnel_ipip = prm_per_protocol_networking_offload_caps_get_tunnel_stateless_ip_over_ip_tx(cap);
	caps->swp_csum = prm_per_protocol_networking_offload_caps_get_swp(cap) &&
			 prm_per_protocol_networking_offload_caps_get_swp_csum(cap);
	caps->swp_lso = caps->swp_csum && prm_per_protocol_networking_offload_caps_get_swp_lso(cap);
	caps->rss_ipv4_ipv6 =
		prm_per_protocol_networking_offload_caps_get_rss_ind_tbl_cap(cap) != 0;
	if (caps->rss_ipv4_ipv6)
		caps->rx_hash_fields = MDV_HASH_SRC_IP | MDV_HASH_DST_IP | MDV_HASH_SRC_PORT |
				       MDV_HASH_DST_PORT;
	mdv_cap_check(dev->name, &lso, &log_lso);
	caps->max_lso_bytes = log_lso == 0 ? 0 : 1u << log_lso;
	read_lro(caps, cap);
}

/*
 * The table's first entry means no limit (Linux, rl.c, mlx5_init_rl_table()). mlx5_ib has entries for programs only
 * if they can have a user (hw/mlx5/qos.c, pp_is_supported()).
 */
static void
read_rates(struct mdv_dev *dev, const struct prm_qos_cap *cap)
{
	struct mdv_caps *caps = &dev->caps;
	uint32_t entries = prm_qos_cap_get_packet_pacing_rate_table_size(cap);

	if (!prm_qos_cap_get_packet_pacing(cap) || entries < 2 ||
	    (!dev->backend->exclusive && !prm_qos_cap_get_packet_pacing_uid(cap)))
		return;
	caps->num_rates = entries - 1;
	caps->min_rate_kbps = RTE_MAX(prm_qos_cap_get_packet_pacing_min_rate(cap), 1u);
	caps->max_rate_kbps = prm_qos_cap_get_packet_pacing_max_rate(cap);
}

/** Headers that a SEND WQE must carry inline: L2, none, or as in the vport context. */
static int
read_inline_mode(struct mdv_dev *dev, uint32_t cap)
{
	static const struct mdv_cap_limit known = { "min_wqe_inline_mode", 0,
						    PRM_MIN_INLINE_MODE_TCP_UDP };
	struct prm_query_nic_vport_context_out out;
	uint32_t mode = PRM_MIN_INLINE_MODE_NONE;

	if (cap == PRM_WQE_INLINE_MODE_CAP_L2) {
		mode = PRM_MIN_INLINE_MODE_L2;
	} else if (cap == PRM_WQE_INLINE_MODE_CAP_VPORT_CONTEXT) {
		if (mdv_vport_query(dev, &out) != 0)
			return -rte_errno;
		mode = prm_nic_vport_context_get_min_wqe_inline_mode(
			prm_query_nic_vport_context_out_nic_vport_context(&out));
		mdv_cap_check(dev->name, &known, &mode);
	}
	dev->caps.min_inline_mode = mode;
	/* Only where the vport determines it is it a field of the SQ (Linux, mlx5e_create_sq()). */
	dev->caps.sq_inline_mode = cap == PRM_WQE_INLINE_MODE_CAP_VPORT_CONTEXT ? mode : 0;
	return 0;
}

static void
read_max_mtu(struct mdv_dev *dev)
{
	struct prm_pmtu_reg pmtu = { 0 };
	uint32_t bytes;

	dev->caps.max_mtu = MDV_DEFAULT_MAX_MTU;
	if (!dev->caps.access_reg_user)
		return;
	prm_pmtu_reg_set_local_port(&pmtu, 1);
	if (mdv_register_access(dev, PRM_REG_PMTU, PRM_ACCESS_REG_OP_READ, &pmtu, sizeof(pmtu), true) != 0)
		return;
	bytes = prm_pmtu_reg_get_max_mtu(&pmtu);
	if (bytes > 1500 + MDV_L2_OVERHEAD_BYTES)
		dev->caps.max_mtu = bytes - MDV_L2_OVERHEAD_BYTES;
}

static int
read_pages(struct mdv_dev *dev, struct prm_query_hca_cap_out *out)
{
	const struct prm_hca_cap_union *page = prm_query_hca_cap_out_capability_c(out);
	const struct prm_per_protocol_networking_offload_caps *eth;
	bool qos;

	if (mdv_caps_page(dev, PRM_HCA_CAP_TYPE_GENERAL, out) != 0 ||
	    read_general(dev, prm_hca_cap_union_cmd_hca_cap_c(page)) != 0)
		return -rte_errno;
	qos = prm_cmd_hca_cap_get_qos(prm_hca_cap_union_cmd_hca_cap_c(page));
	if (qos && mdv_caps_page(dev, PRM_HCA_CAP_TYPE_QOS, out) != 0)
		return -rte_errno;
	if (qos)
		read_rates(dev, prm_hca_cap_union_qos_cap_c(page));
	if (mdv_caps_page(dev, PRM_HCA_CAP_TYPE_ETHERNET_OFFLOADS, out) != 0)
		return -rte_errno;
	eth = prm_hca_cap_union_per_protocol_networking_offload_caps_c(page);
	read_ethernet(dev, eth);
	return read_inline_mode(dev,
				prm_per_protocol_networking_offload_caps_get_wqe_inline_mode(eth));
}

int
mdv_caps_read(struct mdv_dev *dev)
{
	struct prm_query_hca_cap_out *out = mdv_zalloc(dev->name, sizeof(*out), "capabilities");
	int ret;

	if (out == NULL)
		return -ENOMEM;
	memset(&dev->caps, 0, sizeof(dev->caps));
	ret = read_pages(dev, out);
	free(out);
	if (ret != 0)
		return ret;
	read_max_mtu(dev);
	return dev->backend->identify(dev);
}

int
mdv_lag_reply_check(const char *name, const struct prm_query_lag_out *out)
{
	if (prm_lagc_get_lag_state(prm_query_lag_out_ctx_c(out)) == 0)
		return 0;
	return MDV_FAIL(name, ENOTSUP, "the port is bonded with another of its card, bonded ports are not "
			"supported: take its interface out of the bond (ip link set <interface> nomaster)");
}

int
mdv_lag_check(struct mdv_dev *dev)
{
	struct prm_query_lag_in in = { 0 };
	struct prm_query_lag_out out;

	if (dev->caps.num_lag_ports < 2)
		return 0;
	prm_query_lag_in_set_opcode(&in, PRM_CMD_OP_QUERY_LAG);
	if (mdv_cmd_try(dev, &in, sizeof(in), &out, sizeof(out)) != 0) {
		MDV_LOG(DEBUG, dev->name, "QUERY_LAG refused: assuming no LAG");
		return 0;
	}
	return mdv_lag_reply_check(dev->name, &out);
}
