/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Profiles: data of the card models. Each value has its source beside it:
 * - trace: mlx5_core's commands on a ConnectX-4 Lx, firmware 14.12.1220 of 2016, QUERY_HCA_CAP
 *   (src/apps/mellanox/trace-mlx5_core.txt.gz of Snabb, github.com/snabbco/snabb);
 * - ucx#N, ompi#N: `ibv_devinfo -v` of that card in an issue or pull request of github.com/openucx/ucx or
 *   github.com/open-mpi/ompi;
 * - mlx5ctl: ETHERNET_OFFLOADS of a ConnectX-6 Dx in README.md of github.com/saeedtx/mlx5ctl;
 * - 5T: NVIDIA 5T Technology User Manual, Packet Pacing;
 * - guide: DPDK, doc/guides/nics/mlx5.rst; dpdk, kernel: the named function;
 * - assumed: no public source was found.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu_dev.h"
#include "emu_number.h"

/*
 * Limits of the model. Cards allow as much or more: trace has log_max_cq 24, log_max_sq 23, log_max_rq 23,
 * log_max_rqt 16, log_max_tir 23, log_max_tis 23, log_max_transport_domain 16, log_max_pd 24, log_max_mkey 24.
 */
#define COMMON_LIMITS \
	.log_max_cq = 20, .log_max_sq = 20, .log_max_rq = 20, .log_max_rqt = 16, .log_max_tir = 18, \
	.log_max_tis = 16, .log_max_transport_domain = 12, .log_max_pd = 18, .log_max_mkey = 22, \
	.log_max_cq_sz = 22, /* trace; ucx#10420: max_cqe 4194303 */ \
	.log_max_wq_sz = 15, /* trace; ucx#9724, ucx#10420: max_qp_wr 32768 */ \
	.max_mtu = 9978	     /* kernel, mlx5e_set_netdev_mtu_boundaries(): max_mtu 10000 (assumed) less 22 */

/* Packet pacing, with the rate of the port as the highest. */
#define COMMON_PACING \
	.packet_pacing = 1,		   /* 5T: ConnectX-4 Lx and later */ \
	.packet_pacing_burst_bound = 1,	   /* 5T: maximum burst size */ \
	.packet_pacing_typical_size = 1,   /* assumed */ \
	.packet_pacing_uid = 1,		   /* assumed: DPDK allocates entries by mlx5dv_pp_alloc() */ \
	.packet_pacing_min_rate = 1,	   /* published ibv_devinfo -v: qp_rate_limit_min 1kbps */ \
	.packet_pacing_rate_table_size = 128 /* published logs of mlx5_core: 127 rates are supported */

/* Capabilities of all cards from ConnectX-5 on. */
#define COMMON_CAPS \
	.boot_pages = 16, .init_pages = 48, /* assumed: cards request more */ \
	.log_max_uctx = 15,		   /* assumed; not 0 where DPDK's mlx5 driver uses DEVX */ \
	.access_register_user = 1,	   /* assumed */ \
	.cqe_128_always = 1,		   /* assumed */ \
	.cqe_compression_max_num = 64,	   /* assumed */ \
	.lag_master = 1,		   /* assumed: first port of a card with two */ \
	.mini_cqe_resp_flow_tag = 1,	   /* assumed */ \
	.mini_cqe_resp_l3_l4_tag = 1,	   /* assumed */ \
	.mini_cqe_resp_stride_index = 1,   /* assumed */ \
	.ext_stride_num_range = 1,	   /* assumed */ \
	.flow_counter_bulk_alloc = 0xff,   /* assumed: all sizes of mlx5_ifc.h, mlx5_fc_bulk_alloc_bitmask */ \
	.log_max_flow_counter_bulk = 11,   /* limit of the model; kernel, fs_counters.c: it queries up to 2^15 */ \
	.ignore_flow_level = 1,		   /* kernel, mlx5e_tc_nic_init() uses it; which cards is assumed */ \
	.flex_parser_protocols = 0x88,	   /* guide, FLEX_PARSER_PROFILE_ENABLE=0, the default: GENEVE, VXLAN-GPE */ \
	.relaxed_ordering_read = 1,	   /* assumed */ \
	.relaxed_ordering_write = 1,	   /* assumed */ \
	.log_max_qp = 18,		   /* ompi#6137 (ConnectX-5), ucx#8229 (ConnectX-6): max_qp 262144 */ \
	.log_max_rqt_size = 11,		   /* ucx#10420: max_rwq_indirection_table_size 2048 */ \
	.wqe_inline_mode = 2,		   /* guide, txq_inline_min: 0 for ConnectX-5 and newer */ \
	.enhanced_multi_pkt_send_wqe = 1,  /* guide, txq_mpw_en: ConnectX-5 and newer */ \
	.multi_pkt_send_wqe = 1,	   /* dpdk, mlx5_os_capabilities_prepare(): read before the former */ \
	.wqe_vlan_insert = 1,		   /* dpdk, mlx5_set_min_inline(): ConnectX-5 reports it */ \
	.scatter_fcs = 1,		   /* ompi#6137: EXP_SCATTER_FCS; ucx#10420: scatter FCS */ \
	.cqe_checksum_full = 1,		   /* assumed */ \
	.lro_cap = 1,			   /* mlx5ctl; guide, LRO: ConnectX-5 and newer */ \
	.lro_min_mss_size = 1348,	   /* mlx5ctl */ \
	.lro_psh_flag = 0,		   /* mlx5ctl */ \
	.lro_time_stamp = 1,		   /* mlx5ctl */ \
	.lro_max_msg_sz_mode = 0,	   /* assumed */ \
	.swp = 1,			   /* dpdk, txq_mbuf_to_swp(): ConnectX-5 and before */ \
	.swp_csum = 1,			   /* mlx5ctl */ \
	.swp_lso = 1,			   /* mlx5ctl */ \
	.tunnel_stateless_gre = 1,	   /* mlx5ctl */ \
	.tunnel_stateless_geneve_rx = 1,   /* mlx5ctl */ \
	.max_modify_header_actions = 16,   /* dpdk, flow_dv_modify_hdr_action_max(): the kernel's tables */ \
	.decap = 1,			   /* dpdk, flow_dv_create_action_l2_decap(): ConnectX-5 and newer */ \
	.reformat_l3_tunnel_to_l2 = 1,	   /* dpdk, flow_dv_create_action_raw_decap(): the same */ \
	.reformat_and_fwd_to_table = 1,	   /* assumed; kernel, validate_goto_chain() reads it */ \
	.reformat_and_vlan_action = 1,	   /* assumed */ \
	.pop_vlan = 1,			   /* assumed; dpdk pops tags by software steering */ \
	.tx_max_modify_header_actions = 16, /* assumed: as of receive tables */ \
	.tx_push_vlan = 1,		   /* assumed; dpdk pushes tags by software steering */ \
	.tx_reformat = 1,		   /* dpdk, flow_dv_create_action_l2_encap(): ConnectX-5 and newer */ \
	.tx_reformat_l2_to_l3_tunnel = 1   /* dpdk, flow_dv_create_action_raw_encap(): the same */

static const struct emu_profile cx4lx = {
	.name = "cx4lx",
	.card = "ConnectX-4 Lx",
	.board_id = "MT_2420110034",			       /* ucx#9724 */
	.pci_device_id = 0x1015,			       /* ucx#9724: 4117 */
	.fw_major = 14, .fw_minor = 32, .fw_subminor = 1010,   /* ucx#9724 */
	.clock_hz = 156250000,				       /* assumed; trace has no device_frequency_khz */
	.speed_mbps = 25000,				       /* product */
	COMMON_LIMITS,
	.boot_pages = 6, .init_pages = 12868,		       /* trace, QUERY_PAGES */
	.device_frequency_mhz = 275,			       /* trace */
	.log_max_qp = 17,				       /* trace (current); ucx#9724: max_qp 131072 */
	.log_max_rqt_size = 9,				       /* trace */
	.log_max_uctx = 15,				       /* assumed: nothing shows whether these cards have it */
	.lag_master = 1,				       /* assumed; 0 in trace */
	.cqe_compression_max_num = 16,			       /* trace */
	.wqe_inline_mode = 1,				       /* trace */
	.min_wqe_inline_mode = 1,			       /* guide, txq_inline_min: 18 bytes, an L2 header */
	.multi_pkt_send_wqe = 1,			       /* trace */
	.lro_cap = 0,					       /* guide, LRO: ConnectX-5 and newer */
	.first_match_fields = true,			       /* trace, ft_field_support */
	.tunnel_stateless_gre = 1,			       /* assumed */
	COMMON_PACING,
	.packet_pacing_max_rate = 25000000,		       /* published ibv_devinfo -v: 25000000kbps */
	/*
	 * 0 in trace: access_register_user, flex_parser_protocols, cqe_128_always, mini_cqe_resp_*,
	 * ext_stride_num_range, scatter_fcs, wqe_vlan_insert, cqe_checksum_full, relaxed_ordering_*,
	 * enhanced_multi_pkt_send_wqe (guide: not supported), steering_format_version, ignore_flow_level,
	 * max_modify_header_actions, decap, reformat_l3_tunnel_to_l2, reformat_and_fwd_to_table,
	 * reformat_and_vlan_action, pop_vlan, flow_counter_bulk_alloc, log_max_flow_counter_bulk,
	 * tx_max_modify_header_actions, tx_push_vlan, tx_reformat, tx_reformat_l2_to_l3_tunnel.
	 * Newer firmware may have some of them (assumed not).
	 */
};

static const struct emu_profile cx5 = {
	.name = "cx5",
	.card = "ConnectX-5",
	.board_id = "MT_0000000008",			       /* ompi#6137 */
	.pci_device_id = 0x1017,			       /* ompi#6137: 4119 */
	.fw_major = 16, .fw_minor = 35, .fw_subminor = 2000,   /* a release for all cards of that time */
	.clock_hz = 78125000,				       /* ompi#6137: hca_core_clock; others have 156250 kHz */
	.speed_mbps = 100000,				       /* product */
	.sf = true,					       /* assumed */
	COMMON_LIMITS,
	COMMON_CAPS,
	COMMON_PACING,
	.packet_pacing_max_rate = 100000000,	       /* published log, firmware 16.35.2000: 97656Mbps */
	.steering_format_version = 0,			       /* kernel, mlx5_ifc.h: MLX5_STEERING_FORMAT_CONNECTX_5 */
};

static const struct emu_profile cx6dx = {
	.name = "cx6dx",
	.card = "ConnectX-6 Dx",
	.board_id = "MT_0000000359",			       /* product */
	.pci_device_id = 0x101d,			       /* kernel, mlx5_core_pci_table */
	.fw_major = 22, .fw_minor = 35, .fw_subminor = 2000,   /* a release for all cards of that time */
	.clock_hz = 156250000,				       /* assumed; ucx#10420 has 1 GHz, as in real-time mode */
	.real_time = true,				       /* guide, tx_pp: REAL_TIME_CLOCK_ENABLE */
	.speed_mbps = 100000,				       /* product */
	.sf = true,					       /* assumed */
	COMMON_LIMITS,
	COMMON_CAPS,
	COMMON_PACING,
	.packet_pacing_max_rate = 100000000,	       /* assumed: the port's rate */
	.steering_format_version = 1, /* kernel, mlx5_ifc.h: MLX5_STEERING_FORMAT_CONNECTX_6DX */
	.tunnel_stateless_geneve_tx = 1,		       /* mlx5ctl */
	.tunnel_stateless_ip_over_ip_rx = 1,		       /* mlx5ctl */
	.tunnel_stateless_ip_over_ip_tx = 1,		       /* mlx5ctl */
};

static const struct emu_profile cx7 = {
	.name = "cx7",
	.card = "ConnectX-7",
	.board_id = "MT_0000000838",			       /* Mellanox/mstflint issue 1717 */
	.pci_device_id = 0x1021,			       /* kernel, mlx5_core_pci_table */
	.fw_major = 28, .fw_minor = 35, .fw_subminor = 2000,   /* a release for all cards of that time */
	.clock_hz = 312500000,				       /* assumed */
	.real_time = true,				       /* guide, tx_pp: REAL_TIME_CLOCK_ENABLE */
	.speed_mbps = 200000,				       /* product */
	.sf = true,					       /* assumed */
	COMMON_LIMITS,
	COMMON_CAPS,
	COMMON_PACING,
	.packet_pacing_max_rate = 200000000,	       /* assumed: the port's rate */
	.steering_format_version = 1,			       /* kernel: 2, whose formats are not modelled */
	.wait_on_time = 1,				       /* guide, tx_pp: from ConnectX-7 on */
	/*
	 * kernel, commit "net/mlx5e: Support enhanced CQE compression": from ConnectX-6 on, measured on a ConnectX-6 Dx,
	 * whose profile keeps the basic layout because it is the default one.
	 */
	.enhanced_cqe_compression = 1,
	.tunnel_stateless_geneve_tx = 1,		       /* mlx5ctl */
	.tunnel_stateless_ip_over_ip_rx = 1,		       /* mlx5ctl */
	.tunnel_stateless_ip_over_ip_tx = 1,		       /* mlx5ctl */
};

/* Another architecture: only the queries of libmlx4 at device open are supported. */
static const struct emu_profile cx3 = {
	.name = "cx3",
	.card = "ConnectX-3",
	.board_id = "MT_1170110023",
	.pci_device_id = 0x1003,
	.fw_major = 2, .fw_minor = 42, .fw_subminor = 5000,
	.clock_hz = 427000000,
	.mlx4 = true,
	.speed_mbps = 10000,
	.log_max_pd = 15,
	.max_mtu = 9978,
};

const struct emu_profile *const emu_profiles[] = {&cx6dx, &cx7, &cx5, &cx4lx, &cx3, NULL};

static const struct cap_row {
	const char *name;
	size_t at; /* offset in struct emu_profile */
	uint64_t max;
} cap_rows[] = {
#define CAP_ROW(field, most) {#field, offsetof(struct emu_profile, field), most},
	EMU_PROFILE_CAPS(CAP_ROW)
#undef CAP_ROW
};
#define CAPS (sizeof(cap_rows) / sizeof(cap_rows[0]))

static struct emu_profile changed;
static char changed_board[32];

const struct emu_profile *
emu_profile_find(const char *name)
{
	for (unsigned i = 0; emu_profiles[i] != NULL; i++)
		if (strcmp(emu_profiles[i]->name, name) == 0)
			return emu_profiles[i];
	return NULL;
}

const struct emu_profile *
emu_profile_default(void)
{
	const char *name = getenv("MLXEMU_DEFAULT_PROFILE");
	const struct emu_profile *p = name != NULL ? emu_profile_find(name) : NULL;

	return p != NULL ? p : &cx6dx;
}

const char *
emu_profile_cap(const struct emu_profile *profile, unsigned i, unsigned *value)
{
	uint32_t v;

	if (i >= CAPS)
		return NULL;
	memcpy(&v, (const uint8_t *)profile + cap_rows[i].at, sizeof(v));
	*value = v;
	return cap_rows[i].name;
}

uint64_t
emu_profile_cap_max(const char *name)
{
	for (unsigned i = 0; i < CAPS; i++)
		if (strcmp(cap_rows[i].name, name) == 0)
			return cap_rows[i].max;
	return 0;
}

/* The text after NAME=, or NULL. */
static const char *
value_of(const char *text, const char *name)
{
	size_t len = strlen(name);

	return strncmp(text, name, len) == 0 && text[len] == '=' ? text + len + 1 : NULL;
}

/* What is no capability, but recorded with them. False: not such a name, or no value for it. */
static bool
describe(struct emu_profile *p, const char *text)
{
	const char *value;
	uint64_t v;
	char end;

	if ((value = value_of(text, "board_id")) != NULL) {
		p->board_id = changed_board;
		return (size_t)snprintf(changed_board, sizeof(changed_board), "%s", value) < sizeof(changed_board);
	}
	if ((value = value_of(text, "firmware")) != NULL)
		return sscanf(value, "%5hu.%5hu.%5hu%c", &p->fw_major, &p->fw_minor, &p->fw_subminor, &end) == 3;
	if ((value = value_of(text, "clock_hz")) != NULL)
		return emu_number(value, 1000000, 4000000000u, &p->clock_hz);
	if ((value = value_of(text, "pci_device_id")) != NULL && emu_number(value, 1, UINT16_MAX, &v))
		p->pci_device_id = (uint16_t)v;
	else if ((value = value_of(text, "speed_mbps")) != NULL && emu_number(value, 1000, 800000, &v))
		p->speed_mbps = (uint32_t)v;
	else
		return false;
	return true;
}

const struct emu_profile *
emu_profile_change(const struct emu_profile *profile, const char *cap, char *err, size_t err_len)
{
	const char *value = strchr(cap, '=');
	struct emu_profile other = *profile;
	uint64_t v;
	uint32_t to;

	if (describe(&other, cap)) {
		changed = other;
		return &changed;
	}
	for (unsigned i = 0; i < CAPS && value != NULL; i++) {
		const struct cap_row *row = &cap_rows[i];

		if (strlen(row->name) != (size_t)(value - cap) ||
		    strncmp(row->name, cap, (size_t)(value - cap)) != 0)
			continue;
		if (!emu_number(value + 1, 0, row->max, &v)) {
			snprintf(err, err_len, "'%s': a number from 0 to %u is needed", cap,
				 (unsigned)row->max);
			return NULL;
		}
		if (profile != &changed)
			changed = *profile;
		to = (uint32_t)v;
		memcpy((uint8_t *)&changed + row->at, &to, sizeof(to));
		return &changed;
	}
	snprintf(err, err_len, "'%s': NAME=VALUE is needed (`mlxemu profiles cx6dx` lists the names)", cap);
	return NULL;
}
