/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Device capabilities. A capability is reported if and only if it is modelled, so these functions are
 * also the list of what the device supports.
 */
#include <string.h>

#include "../dp/emu_dp_fields.h"
#include "emu_fw.h"
#include "fw.h"

_Static_assert((int)EMU_CLOCK_FREE == (int)PRM_TS_FORMAT_CAP_FREE_RUNNING &&
		       (int)EMU_CLOCK_REALTIME == (int)PRM_TS_FORMAT_CAP_REAL_TIME &&
		       (int)EMU_CLOCK_BOTH == (int)PRM_TS_FORMAT_CAP_BOTH,
	       "clock formats are the capability's values");

#define PORTS 1u
/* Bits of roce_cap.l3_type and of atomic_caps (Linux, device.h). */
#define ROCE_L3_IPV6 2u
#define ATOMIC_HOST_ENDIANNESS 1u
#define ATOMIC_CMP_SWAP 1u
#define ATOMIC_FETCH_ADD 2u
#define LOG_BAR_MIB 5u /* EMU_PCI_BAR_BYTES */
#define EVENT_WORDS 4u /* 64-bit words in the page of event capabilities */

/* Limits of objects, from the profile. */
static void
general_limits(const struct emu_profile *p, struct prm_cmd_hca_cap *cap)
{
	prm_cmd_hca_cap_set_log_max_cq(cap, p->log_max_cq);
	prm_cmd_hca_cap_set_log_max_cq_sz(cap, p->log_max_cq_sz);
	prm_cmd_hca_cap_set_log_max_eq(cap, 7);
	prm_cmd_hca_cap_set_log_max_eq_sz(cap, FW_LOG_MAX_EQ_SIZE);
	prm_cmd_hca_cap_set_max_num_eqs(cap, EMU_MAX_EQS);
	prm_cmd_hca_cap_set_log_max_mkey(cap, p->log_max_mkey);
	prm_cmd_hca_cap_set_log_max_mrw_sz(cap, 64);
	prm_cmd_hca_cap_set_log_max_pd(cap, p->log_max_pd);
	prm_cmd_hca_cap_set_log_max_transport_domain(cap, p->log_max_transport_domain);
	prm_cmd_hca_cap_set_log_max_rq(cap, p->log_max_rq);
	prm_cmd_hca_cap_set_log_max_sq(cap, p->log_max_sq);
	prm_cmd_hca_cap_set_log_max_tir(cap, p->log_max_tir);
	prm_cmd_hca_cap_set_log_max_tis(cap, p->log_max_tis);
	prm_cmd_hca_cap_set_log_max_tis_per_sq(cap, 0);
	prm_cmd_hca_cap_set_log_max_rqt(cap, p->log_max_rqt);
	prm_cmd_hca_cap_set_log_max_rqt_size(cap, p->log_max_rqt_size);
	prm_cmd_hca_cap_set_log_max_wq_sz(cap, p->log_max_wq_sz);
	/* Largest WQE: 16 WQEBBs of an SQ, 32 data segments of an RQ. */
	prm_cmd_hca_cap_set_max_wqe_sz_sq(cap, 1024);
	prm_cmd_hca_cap_set_max_wqe_sz_rq(cap, 512);
	prm_cmd_hca_cap_set_log_max_stride_sz_rq(cap, 9);
	prm_cmd_hca_cap_set_log_min_stride_sz_rq(cap, 4);
	prm_cmd_hca_cap_set_log_max_stride_sz_sq(cap, 6);
	prm_cmd_hca_cap_set_log_min_stride_sz_sq(cap, 6);
	prm_cmd_hca_cap_set_log_max_umem(cap, 20);
	prm_cmd_hca_cap_set_umem_uid_0(cap, 1);
	prm_cmd_hca_cap_set_log_max_uctx(cap, p->log_max_uctx);
	prm_cmd_hca_cap_set_max_flow_counter_15_0(cap, 0xffff);
	prm_cmd_hca_cap_set_flow_counter_bulk_alloc(cap, p->flow_counter_bulk_alloc);
	prm_cmd_hca_cap_set_log_max_flow_counter_bulk(cap, p->log_max_flow_counter_bulk);
}

/* Doorbell pages: 4 KiB each, one UAR a page, two BlueFlame halves of 256 bytes. */
static void
general_uar(struct prm_cmd_hca_cap *cap)
{
	prm_cmd_hca_cap_set_uar_4k(cap, 1);
	prm_cmd_hca_cap_set_uar_sz(cap, LOG_BAR_MIB);
	prm_cmd_hca_cap_set_log_uar_page_sz(cap, 8);
	prm_cmd_hca_cap_set_num_of_uars_per_page(cap, 1);
	prm_cmd_hca_cap_set_log_pg_sz(cap, 12);
	prm_cmd_hca_cap_set_bf(cap, 1);
	prm_cmd_hca_cap_set_log_bf_reg_size(cap, 9);
}

/* Port, vport, lists of addresses. */
static void
general_port(const struct emu_dev *dev, struct prm_cmd_hca_cap *cap)
{
	prm_cmd_hca_cap_set_vhca_id(cap, dev->index + 1);
	prm_cmd_hca_cap_set_port_type(cap, PRM_PORT_TYPE_ETHERNET);
	prm_cmd_hca_cap_set_num_ports(cap, PORTS);
	prm_cmd_hca_cap_set_num_vhca_ports(cap, PORTS);
	prm_cmd_hca_cap_set_native_port_num(cap, PORTS);
	/* The first port of a card with two ports, which QUERY_LAG reports as not bonded. */
	prm_cmd_hca_cap_set_lag_master(cap, dev->profile->lag_master);
	prm_cmd_hca_cap_set_num_lag_ports(cap, dev->profile->lag_master ? 2 : 0);
	prm_cmd_hca_cap_set_vport_counters(cap, 1);
	/*
	 * assumed: in legacy mode the function shows no eswitch. Other reading: each PF is the manager of one. Test:
	 * fw/test_caps.c.
	 */
	prm_cmd_hca_cap_set_vport_group_manager(cap, dev->eswitch.on);
	prm_cmd_hca_cap_set_eth_virt(cap, 0);
	/* The manager of the MPFS maintains its table. */
	prm_cmd_hca_cap_set_eswitch_manager(cap, dev->l2.on || dev->eswitch.on);
	prm_cmd_hca_cap_set_log_max_l2_table(cap, dev->l2.on ? EMU_LOG_L2_TABLE : 0);
	prm_cmd_hca_cap_set_log_max_current_uc_list(cap, 7);
	prm_cmd_hca_cap_set_log_max_current_mc_list(cap, 7);
	prm_cmd_hca_cap_set_max_tc(cap, 8);
	prm_cmd_hca_cap_set_disable_link_up(cap, 1);
	prm_cmd_hca_cap_set_nic_receive_steering_discard(cap, 1);
	prm_cmd_hca_cap_set_eq_overrun_count(cap, 1);
	prm_cmd_hca_cap_set_receive_discard_vport_down(cap, 1);
	prm_cmd_hca_cap_set_transmit_discard_vport_down(cap, 1);
}

static void
general_features(const struct emu_dev *dev, struct prm_cmd_hca_cap *cap)
{
	const struct emu_profile *p = dev->profile;
	unsigned mhz = (unsigned)(dev->clock.hz / 1000000);

	prm_cmd_hca_cap_set_hca_cap_2(cap, 1);
	prm_cmd_hca_cap_set_eth_net_offloads(cap, 1);
	prm_cmd_hca_cap_set_nic_flow_table(cap, 1);
	prm_cmd_hca_cap_set_pcam_reg(cap, 1);
	prm_cmd_hca_cap_set_qos(cap, p->packet_pacing);
	prm_cmd_hca_cap_set_access_register_user(cap, p->access_register_user);
	prm_cmd_hca_cap_set_relaxed_ordering_write(cap, p->relaxed_ordering_write);
	prm_cmd_hca_cap_set_relaxed_ordering_read(cap, p->relaxed_ordering_read);
	prm_cmd_hca_cap_set_max_qp_cnt(cap, 0xf0);
	prm_cmd_hca_cap_set_modify_rq_counter_set_id(cap, 1);
	prm_cmd_hca_cap_set_modify_tis(cap, 1);
	prm_cmd_hca_cap_set_basic_cyclic_rcv_wqe(cap, 1);
	prm_cmd_hca_cap_set_compact_address_vector(cap, 1);
	prm_cmd_hca_cap_set_cqe_version(cap, 1);
	prm_cmd_hca_cap_set_cq_oi(cap, 1);
	prm_cmd_hca_cap_set_cq_resize(cap, 1);
	prm_cmd_hca_cap_set_cq_moderation(cap, 1);
	prm_cmd_hca_cap_set_cqe_128_always(cap, p->cqe_128_always);
	prm_cmd_hca_cap_set_cq_eq_remap(cap, 1);
	prm_cmd_hca_cap_set_event_cap(cap, 1);
	prm_cmd_hca_cap_set_wait_on_time(cap, p->wait_on_time);
	prm_cmd_hca_cap_set_sq_ts_format(cap, dev->clock.format);
	prm_cmd_hca_cap_set_rq_ts_format(cap, dev->clock.format);
	prm_cmd_hca_cap_set_device_frequency_khz(cap, (uint32_t)(dev->clock.hz / 1000));
	prm_cmd_hca_cap_set_device_frequency_mhz(cap, p->device_frequency_mhz != 0 ? p->device_frequency_mhz : mhz);
	prm_cmd_hca_cap_set_steering_format_version(cap, p->steering_format_version);
	prm_cmd_hca_cap_set_flex_parser_protocols(cap, p->flex_parser_protocols & DP_FLEX_ALL);
}

/* CQE compression in the basic layout, striding RQ. */
static void
general_receive(const struct emu_profile *p, struct prm_cmd_hca_cap *cap)
{
	prm_cmd_hca_cap_set_cqe_compression(cap, 1);
	prm_cmd_hca_cap_set_cqe_compression_max_num(cap, p->cqe_compression_max_num);
	prm_cmd_hca_cap_set_enhanced_cqe_compression(cap, p->enhanced_cqe_compression);
	prm_cmd_hca_cap_set_mini_cqe_resp_stride_index(cap, p->mini_cqe_resp_stride_index);
	prm_cmd_hca_cap_set_mini_cqe_resp_flow_tag(cap, p->mini_cqe_resp_flow_tag);
	prm_cmd_hca_cap_set_mini_cqe_resp_l3_l4_tag(cap, p->mini_cqe_resp_l3_l4_tag);
	prm_cmd_hca_cap_set_striding_rq(cap, 1);
	prm_cmd_hca_cap_set_ext_stride_num_range(cap, p->ext_stride_num_range);
}

/* Queue pairs: created by fw_qp.c, connected by loopback in the engine. */
static void
general_rdma(const struct emu_profile *p, struct prm_cmd_hca_cap *cap)
{
	prm_cmd_hca_cap_set_rc(cap, 1);
	prm_cmd_hca_cap_set_uc(cap, 1);
	prm_cmd_hca_cap_set_ud(cap, 1);
	prm_cmd_hca_cap_set_roce(cap, 1);
	prm_cmd_hca_cap_set_atomic(cap, 1);
	prm_cmd_hca_cap_set_log_max_qp(cap, p->log_max_qp);
	prm_cmd_hca_cap_set_log_max_qp_sz(cap, p->log_max_wq_sz);
	prm_cmd_hca_cap_set_log_max_rmp(cap, FW_LOG_MAX_RMP);
	prm_cmd_hca_cap_set_log_max_srq(cap, FW_LOG_MAX_RMP);
	prm_cmd_hca_cap_set_log_max_srq_sz(cap, p->log_max_wq_sz);
	prm_cmd_hca_cap_set_log_max_msg(cap, FW_LOG_MAX_MSG);
	prm_cmd_hca_cap_set_log_max_ra_req_qp(cap, FW_LOG_MAX_RDMA);
	prm_cmd_hca_cap_set_log_max_ra_res_qp(cap, FW_LOG_MAX_RDMA);
	prm_cmd_hca_cap_set_log_max_atomic_size_qp(cap, 3);
	prm_cmd_hca_cap_set_local_ca_ack_delay(cap, 16);
}

static void
cap_general(const struct emu_dev *dev, void *page)
{
	general_rdma(dev->profile, page);
	general_receive(dev->profile, page);
	general_limits(dev->profile, page);
	general_uar(page);
	general_port(dev, page);
	general_features(dev, page);
}

static void
cap_general_2(const struct emu_dev *dev, void *page)
{
	struct prm_cmd_hca_cap_2 *cap = page;

	(void)dev;
	prm_cmd_hca_cap_2_set_max_num_eqs_24b(cap, EMU_MAX_EQS);
	prm_cmd_hca_cap_2_set_log_min_stride_wqe_sz(cap, EMU_DP_LOG_STRIDE_WQE_MIN);
}

/* mlx5ctl (core/emu_profile.c). In ascending order (Linux, en/params.c, mlx5e_choose_lro_timeout()). */
const uint16_t fw_lro_periods_us[FW_LRO_PERIODS] = {8, 16, 32, 1024};

static void
ethernet_lro(const struct emu_profile *p, struct prm_per_protocol_networking_offload_caps *cap)
{
	prm_per_protocol_networking_offload_caps_set_lro_cap(cap, p->lro_cap);
	prm_per_protocol_networking_offload_caps_set_lro_psh_flag(cap, p->lro_psh_flag);
	prm_per_protocol_networking_offload_caps_set_lro_time_stamp(cap, p->lro_time_stamp);
	prm_per_protocol_networking_offload_caps_set_lro_max_msg_sz_mode(cap, p->lro_max_msg_sz_mode);
	prm_per_protocol_networking_offload_caps_set_lro_min_mss_size(cap, p->lro_min_mss_size);
	for (unsigned i = 0; i < FW_LRO_PERIODS && p->lro_cap != 0; i++)
		prm_per_protocol_networking_offload_caps_set_lro_timer_supported_periods(cap, i,
											 fw_lro_periods_us[i]);
}

static void
cap_ethernet(const struct emu_dev *dev, void *page)
{
	struct prm_per_protocol_networking_offload_caps *cap = page;
	const struct emu_profile *p = dev->profile;

	prm_per_protocol_networking_offload_caps_set_csum_cap(cap, 1);
	prm_per_protocol_networking_offload_caps_set_vlan_cap(cap, 1);
	prm_per_protocol_networking_offload_caps_set_wqe_vlan_insert(cap, p->wqe_vlan_insert);
	prm_per_protocol_networking_offload_caps_set_wqe_inline_mode(cap, p->wqe_inline_mode);
	prm_per_protocol_networking_offload_caps_set_rss_ind_tbl_cap(cap, 1);
	prm_per_protocol_networking_offload_caps_set_multi_pkt_send_wqe(cap, p->multi_pkt_send_wqe);
	prm_per_protocol_networking_offload_caps_set_enhanced_multi_pkt_send_wqe(
		cap, p->enhanced_multi_pkt_send_wqe);
	prm_per_protocol_networking_offload_caps_set_max_lso_cap(cap, EMU_DP_LOG_MAX_LSO);
	prm_per_protocol_networking_offload_caps_set_scatter_fcs(cap, p->scatter_fcs);
	prm_per_protocol_networking_offload_caps_set_tunnel_stateless_vxlan(cap, 1);
	prm_per_protocol_networking_offload_caps_set_tunnel_stateless_gre(cap, p->tunnel_stateless_gre);
	prm_per_protocol_networking_offload_caps_set_tunnel_stateless_geneve_rx(cap, p->tunnel_stateless_geneve_rx);
	prm_per_protocol_networking_offload_caps_set_tunnel_stateless_geneve_tx(cap, p->tunnel_stateless_geneve_tx);
	prm_per_protocol_networking_offload_caps_set_tunnel_stateless_ip_over_ip_rx(
		cap, p->tunnel_stateless_ip_over_ip_rx);
	prm_per_protocol_networking_offload_caps_set_tunnel_stateless_ip_over_ip_tx(
		cap, p->tunnel_stateless_ip_over_ip_tx);
	prm_per_protocol_networking_offload_caps_set_swp(cap, p->swp);
	prm_per_protocol_networking_offload_caps_set_swp_csum(cap, p->swp_csum);
	prm_per_protocol_networking_offload_caps_set_swp_lso(cap, p->swp_lso);
	prm_per_protocol_networking_offload_caps_set_max_vxlan_udp_ports(cap, 1);
	prm_per_protocol_networking_offload_caps_set_cqe_checksum_full(cap, p->cqe_checksum_full);
	ethernet_lro(p, cap);
}

/* Changes of received packets. */
static void
changes_rx(const struct emu_profile *p, struct prm_flow_table_nic_cap *cap)
{
	struct prm_flow_table_prop_layout *rx = prm_flow_table_nic_cap_flow_table_properties_nic_receive(cap);

	prm_flow_table_prop_layout_set_decap(rx, p->decap);
	prm_flow_table_prop_layout_set_pop_vlan(rx, p->pop_vlan);
	prm_flow_table_prop_layout_set_reformat_l3_tunnel_to_l2(rx, p->reformat_l3_tunnel_to_l2);
	prm_flow_table_prop_layout_set_reformat_and_fwd_to_table(rx, p->reformat_and_fwd_to_table);
	prm_flow_table_prop_layout_set_reformat_and_vlan_action(rx, p->reformat_and_vlan_action);
	prm_flow_table_prop_layout_set_max_modify_header_actions(rx, p->max_modify_header_actions);
	if (p->reformat_l3_tunnel_to_l2 || p->tx_reformat) {
		prm_flow_table_nic_cap_set_log_max_packet_reformat_context(cap, EMU_LOG_REFORMATS);
		prm_flow_table_nic_cap_set_max_encap_header_size(cap, EMU_REFORMAT_BYTES);
	}
	if (p->max_modify_header_actions == 0)
		return;
	prm_flow_table_prop_layout_set_log_max_modify_header_context(rx, EMU_LOG_MODIFY_HEADERS);
	prm_flow_table_prop_layout_set_modify_and_vlan_action(rx, p->pop_vlan);
	prm_flow_table_prop_layout_set_reformat_and_modify_action(rx, p->reformat_l3_tunnel_to_l2);
	fw_modify_fields_cap(false, prm_flow_table_nic_cap_header_modify_nic_receive(cap));
}

/* Changes of sent packets. */
static void
changes_tx(const struct emu_profile *p, struct prm_flow_table_nic_cap *cap)
{
	struct prm_flow_table_prop_layout *tx = prm_flow_table_nic_cap_flow_table_properties_nic_transmit(cap);

	prm_flow_table_prop_layout_set_max_modify_header_actions(tx, p->tx_max_modify_header_actions);
	prm_flow_table_prop_layout_set_push_vlan(tx, p->tx_push_vlan);
	prm_flow_table_prop_layout_set_reformat(tx, p->tx_reformat);
	prm_flow_table_prop_layout_set_reformat_l2_to_l3_tunnel(tx, p->tx_reformat_l2_to_l3_tunnel);
	prm_flow_table_prop_layout_set_reformat_and_fwd_to_table(tx, p->reformat_and_fwd_to_table);
	prm_flow_table_prop_layout_set_reformat_and_vlan_action(tx, p->reformat_and_vlan_action);
	prm_flow_table_nic_cap_set_encap_general_header(cap, p->tx_reformat);
	if (p->tx_max_modify_header_actions == 0)
		return;
	prm_flow_table_prop_layout_set_log_max_modify_header_context(tx, EMU_LOG_MODIFY_HEADERS);
	prm_flow_table_prop_layout_set_modify_and_vlan_action(tx, p->tx_push_vlan);
	prm_flow_table_prop_layout_set_reformat_and_modify_action(tx, p->tx_reformat);
	fw_modify_fields_cap(true, prm_flow_table_nic_cap_header_modify_nic_transmit(cap));
}

/* What tables of received and of sent packets have. */
static void
flow_tables(const struct emu_profile *p, bool sent, struct prm_flow_table_prop_layout *t)
{
	prm_flow_table_prop_layout_set_ft_support(t, 1);
	prm_flow_table_prop_layout_set_flow_counter(t, 1);
	prm_flow_table_prop_layout_set_flow_modify_en(t, 1);
	prm_flow_table_prop_layout_set_flow_table_modify(t, 1);
	prm_flow_table_prop_layout_set_identified_miss_table_mode(t, 1);
	prm_flow_table_prop_layout_set_modify_root(t, 1);
	prm_flow_table_prop_layout_set_reset_root_to_default(t, 1);
	prm_flow_table_prop_layout_set_ignore_flow_level(t, p->ignore_flow_level);
	prm_flow_table_prop_layout_set_max_ft_level(t, EMU_DP_FT_LEVELS);
	prm_flow_table_prop_layout_set_log_max_ft_size(t, EMU_DP_LOG_FT_ENTRIES);
	prm_flow_table_prop_layout_set_log_max_ft_num(t, EMU_DP_LOG_FT_TABLES);
	prm_flow_table_prop_layout_set_log_max_flow_counter(t, 0);
	prm_flow_table_prop_layout_set_log_max_destination(t, 0);
	prm_flow_table_prop_layout_set_log_max_flow(t, EMU_DP_LOG_FT_FLOWS);
	fw_flow_fields_cap(p, sent, prm_flow_table_prop_layout_ft_field_support(t));
	fw_flow_fields_cap(p, sent, prm_flow_table_prop_layout_ft_field_bitmask_support(t));
}

/*
 * The kernel's root tables, which have the rules of verbs users, and tables that programs create by command. No tables
 * owned by software, one destination per entry. The recorded ConnectX-4 Lx has send tables, too (source: trace of
 * core/emu_profile.c).
 */
static void
cap_flow_table(const struct emu_dev *dev, void *page)
{
	struct prm_flow_table_nic_cap *cap = page;
	const struct emu_profile *p = dev->profile;
	struct prm_flow_table_prop_layout *rx = prm_flow_table_nic_cap_flow_table_properties_nic_receive(cap);

	flow_tables(p, false, rx);
	prm_flow_table_prop_layout_set_flow_tag(rx, 1);
	fw_flow_fields_2_cap(p, prm_flow_table_nic_cap_ft_field_support_2_nic_receive(cap));
	changes_rx(p, cap);
	flow_tables(p, true, prm_flow_table_nic_cap_flow_table_properties_nic_transmit(cap));
	changes_tx(p, cap);
}

static void
cap_roce(const struct emu_dev *dev, void *page)
{
	struct prm_roce_cap *cap = page;

	prm_roce_cap_set_fl_rc_qp_when_roce_enabled(cap, 1);
	prm_roce_cap_set_qp_ts_format(cap, dev->clock.format);
	prm_roce_cap_set_l3_type(cap, ROCE_L3_IPV6);
	prm_roce_cap_set_roce_version(cap, 1u << PRM_ROCE_VERSION_V1 | 1u << PRM_ROCE_VERSION_V2);
	prm_roce_cap_set_r_roce_dest_udp_port(cap, 4791);
	prm_roce_cap_set_r_roce_min_src_udp_port(cap, 0xc000);
	prm_roce_cap_set_r_roce_max_src_udp_port(cap, 0xffff);
	prm_roce_cap_set_roce_address_table_size(cap, EMU_ROCE_ADDRESSES);
}

/* 8 bytes, in the host's byte order. */
static void
cap_atomic(const struct emu_dev *dev, void *page)
{
	struct prm_atomic_caps *cap = page;

	(void)dev;
	prm_atomic_caps_set_atomic_req_8B_endianness_mode(cap, ATOMIC_HOST_ENDIANNESS);
	prm_atomic_caps_set_supported_atomic_req_8B_endianness_mode_1(cap, 1);
	prm_atomic_caps_set_atomic_operations(cap, ATOMIC_CMP_SWAP | ATOMIC_FETCH_ADD);
	prm_atomic_caps_set_atomic_size_qp(cap, 1u << 3);
}

/* Device memory for programs, without memory operations. */
static void
cap_memory(const struct emu_dev *dev, void *page)
{
	struct prm_device_mem_cap *cap = page;

	(void)dev;
	prm_device_mem_cap_set_memic(cap, 1);
	prm_device_mem_cap_set_log_min_memic_alloc_size(cap, 12);
	prm_device_mem_cap_set_log_max_memic_addr_alignment(cap, 12);
	prm_device_mem_cap_set_memic_bar_size(cap, 64);
	prm_device_mem_cap_set_max_memic_size(cap, 128u << 10);
}

/* Events that the model raises: affiliated ones in dp/, PORT_CHANGE in emu_port.c. */
static const uint8_t object_events[] = {
	PRM_EVENT_TYPE_COMP, PRM_EVENT_TYPE_COMM_EST, PRM_EVENT_TYPE_CQ_ERROR,
	PRM_EVENT_TYPE_WQ_CATAS_ERROR, PRM_EVENT_TYPE_WQ_INVAL_REQ_ERROR,
	PRM_EVENT_TYPE_WQ_ACCESS_ERROR, PRM_EVENT_TYPE_SRQ_CATAS_ERROR,
	PRM_EVENT_TYPE_SRQ_LAST_WQE, PRM_EVENT_TYPE_SRQ_RQ_LIMIT,
};
static const uint8_t device_events[] = {PRM_EVENT_TYPE_PORT_CHANGE};

bool
emu_fw_event_raised(uint16_t type, bool affiliated)
{
	const uint8_t *list = affiliated ? object_events : device_events;
	size_t n = affiliated ? sizeof(object_events) : sizeof(device_events);

	return type <= UINT8_MAX && memchr(list, type, n) != NULL;
}

static void
cap_events(const struct emu_dev *dev, void *page)
{
	struct prm_device_event_cap *cap = page;

	(void)dev;
	for (unsigned word = 0; word < EVENT_WORDS; word++) {
		uint64_t object = 0, device = 0;

		for (unsigned bit = 0; bit < 64; bit++) {
			uint16_t type = (uint16_t)(word * 64 + bit);

			object |= (uint64_t)emu_fw_event_raised(type, true) << bit;
			device |= (uint64_t)emu_fw_event_raised(type, false) << bit;
		}
		prm_device_event_cap_set_user_affiliated_events(cap, word, object);
		prm_device_event_cap_set_user_unaffiliated_events(cap, word, device);
	}
}

/* The manager is vport 0, a PF of the host; with a BlueField it would be the ECPF. */
static void
cap_eswitch(const struct emu_dev *dev, void *page)
{
	prm_e_switch_cap_set_esw_manager_vport_number_valid(page, dev->eswitch.on);
}

/* Packet pacing: fw_pp.c. */
static void
cap_qos(const struct emu_dev *dev, void *page)
{
	const struct emu_profile *p = dev->profile;

	if (!p->packet_pacing)
		return;
	prm_qos_cap_set_packet_pacing(page, 1);
	prm_qos_cap_set_packet_pacing_burst_bound(page, p->packet_pacing_burst_bound);
	prm_qos_cap_set_packet_pacing_typical_size(page, p->packet_pacing_typical_size);
	prm_qos_cap_set_packet_pacing_uid(page, p->packet_pacing_uid);
	prm_qos_cap_set_packet_pacing_max_rate(page, p->packet_pacing_max_rate);
	prm_qos_cap_set_packet_pacing_min_rate(page, p->packet_pacing_min_rate);
	prm_qos_cap_set_packet_pacing_rate_table_size(page, p->packet_pacing_rate_table_size);
}

/* Clients read this page although no bit of the general page announces it. */
static void
cap_empty(const struct emu_dev *dev, void *page)
{
	(void)dev;
	(void)page;
}

static const struct {
	uint8_t type;
	void (*fill)(const struct emu_dev *dev, void *page);
} cap_rows[] = {
	{PRM_HCA_CAP_TYPE_GENERAL, cap_general},
	{PRM_HCA_CAP_TYPE_GENERAL_2, cap_general_2},
	{PRM_HCA_CAP_TYPE_ETHERNET_OFFLOADS, cap_ethernet},
	{PRM_HCA_CAP_TYPE_FLOW_TABLE, cap_flow_table},
	{PRM_HCA_CAP_TYPE_ODP, cap_empty},
	{PRM_HCA_CAP_TYPE_ATOMIC, cap_atomic},
	{PRM_HCA_CAP_TYPE_ROCE, cap_roce},
	{PRM_HCA_CAP_TYPE_ESWITCH_FLOW_TABLE, cap_empty},
	{PRM_HCA_CAP_TYPE_ESWITCH, cap_eswitch},
	{PRM_HCA_CAP_TYPE_QOS, cap_qos},
	{PRM_HCA_CAP_TYPE_DEV_MEM, cap_memory},
	{PRM_HCA_CAP_TYPE_DEV_EVENT, cap_events},
	{PRM_HCA_CAP_TYPE_DEBUG, cap_empty},
};

bool
fw_cap_page(const struct emu_dev *dev, unsigned type, void *page)
{
	/* Only for the manager of the MPFS or of an eswitch in switchdev mode. */
	if ((type == PRM_HCA_CAP_TYPE_ESWITCH_FLOW_TABLE || type == PRM_HCA_CAP_TYPE_ESWITCH) &&
	    !dev->l2.on && !dev->eswitch.on)
		return false;
	for (unsigned i = 0; i < sizeof(cap_rows) / sizeof(cap_rows[0]); i++) {
		if (cap_rows[i].type != type)
			continue;
		cap_rows[i].fill(dev, page);
		return true;
	}
	return false;
}

int
fw_query_hca_cap(struct fw_cmd *c)
{
	/* op_mod: page number and, in bit 0, the current values or the maxima. */
	unsigned type = prm_query_hca_cap_in_get_op_mod(c->in) >> 1;
	bool current = (prm_query_hca_cap_in_get_op_mod(c->in) & 1) == PRM_HCA_CAP_MODE_CUR;
	void *page = prm_query_hca_cap_out_capability(c->out);

	if (prm_query_hca_cap_in_get_other_function(c->in) ||
	    prm_query_hca_cap_in_get_function_id(c->in))
		return fw_refuse(c, FW_OTHER_FUNCTION, "function %u",
				 prm_query_hca_cap_in_get_function_id(c->in));
	if (!fw_cap_page(c->dev, type, page))
		return fw_refuse(c, FW_CAP_TYPE, "%s (0x%x)", prm_hca_cap_type_name(type), type);
	/* The kernel sets only capabilities that no user sees, so current values are the maxima. */
	if (current && c->ctx->iommu != NULL)
		fw_hca_cap_current(c->ctx, type, page);
	return 0;
}
