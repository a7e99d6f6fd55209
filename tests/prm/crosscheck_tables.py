# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""What pairs the PRM description with its peers: other names, and known differences."""

DPDK_UNREADABLE = {"set_regexp_params_in"}

# Peer's layout name -> ours.
DPDK_LAYOUTS = {
    "register_mtutc": "mtutc_reg",
    "register_qshr": "qshr_reg",
    "roce_caps": "roce_cap",
    "flow_table_esw_cap": "flow_table_eswitch_cap",
    "ft_fields_support": "flow_table_fields_supported",
    "ft_fields_support_2": "flow_table_fields_supported_2",
    "2rst_qp_in": "qp_2rst_in",
    "2rst_qp_out": "qp_2rst_out",
    "sqd2rts_qp_in": "sqd_rts_qp_in",
    "sqd2rts_qp_out": "sqd_rts_qp_out",
    "lag_context": "lagc",
}
PYVERBS_LAYOUTS = {
    "pas": "cmd_pas",
    "query_cmd_hca_cap_out": "query_hca_cap_out",
    "flow_table_entry_match_set_misc": "fte_match_set_misc",
    "flow_table_entry_match_set_misc_2": "fte_match_set_misc2",
    "flow_table_entry_match_set_misc_3": "fte_match_set_misc3",
    "flow_table_entry_match_set_misc_4": "fte_match_set_misc4",
    "flow_table_entry_match_set_misc_5": "fte_match_set_misc5",
    "flow_table_entry_match_set_lyr_24": "fte_match_set_lyr_2_4",
    "flow_table_entry_match_param": "fte_match_param",
    "cmd_input_field_select_resize_cq": "resize_field_select",
    "cmd_input_field_select_modify_cq_fields": "modify_field_select",
    "access_paos_register_in": "access_register_in",
    "access_paos_register_out": "access_register_out",
    "modify_qp_in": "rst2init_qp_in",
    "modify_qp_out": "rst2init_qp_out",
}

# (our layout, peer's field) -> our field, or the fields of ours that stand side by side there.
DPDK_FIELDS = {
    ("fte_match_set_misc", "source_vhci_port"): "source_vhca_port",
    ("fte_match_set_lyr_2_4", "ip_ttl_hoplimit"): "ttl_hoplimit",
    ("cmd_hca_cap", "flex_parser_id_geneve_opt_0"): "flex_parser_id_geneve_tlv_option_0",
    ("cmd_hca_cap", "relaxed_ordering_read"): "relaxed_ordering_read_pci_enabled",
    ("flow_table_prop_layout", "identified_miss_table"): "identified_miss_table_mode",
    ("flow_table_nic_cap", "ft_header_modify_nic_receive"): "header_modify_nic_receive",
    ("flow_table_nic_cap", "ft_header_modify_nic_transmit"): "header_modify_nic_transmit",
    ("flow_table_eswitch_cap", "ft_header_modify_esw_fdb"): "header_modify_esw_fdb",
    ("flow_table_fields_supported", "metadata_reg_c_x"): tuple(
        f"metadata_reg_c_{i}" for i in range(7, -1, -1)),
    ("hca_cap_union", "flow_table_esw_cap"): "flow_table_eswitch_cap",
    ("hca_cap_union", "roce_caps"): "roce_cap",
    ("hca_cap_union", "vdpa_caps"): "virtio_emulation_cap",
    ("query_lag_out", "context"): "ctx",
    ("wq", "single_wqe_log_num_of_strides"): "log_wqe_num_of_strides",
    ("wq", "single_stride_log_num_of_bytes"): "log_wqe_stride_size",
    ("tirc", "lro_enable_mask"): "packet_merge_mask",
    ("tirc", "lro_max_msg_sz"): "lro_max_ip_payload_size",
    ("modify_tir_in", "modify_bitmask"): "bitmask",
    ("modify_rqt_in", "modify_bitmask"): "bitmask",
    ("modify_rqt_in", "rqt_context"): "ctx",
    ("cqc", "cqe_comp_layout"): "cqe_compression_layout",
    ("general_obj_in_cmd_hdr", "log_obj_range"): "create.log_obj_range",
    ("general_obj_in_cmd_hdr", "obj_offset"): ("query.alias_object", "query.obj_offset"),
    ("create_qp_in", "qpc_pas_list"): "pas",
    ("dest_format_flow_counter_list_auto", "dest_format"): "dest_format_struct",
}
PYVERBS_FIELDS = {
    ("access_register_in", "data"): "register_data",
    ("access_register_out", "data"): "register_data",
    ("ads", "dei_cfi_reserved_from_prm_041"): "dei_cfi",
    ("ads", "rmac"): ("rmac_47_32", "rmac_31_0"),
    ("cmd_hca_cap", "compress"): "compress_mmo_sq",
    ("cmd_hca_cap", "cqe_compression_128b"): "cqe_compression_128",
    ("cmd_hca_cap", "dc_req_sctr_data_cqe"): "dc_req_scat_data_cqe",
    ("cmd_hca_cap", "decompress"): "decompress_mmo_sq",
    ("cmd_hca_cap", "depracated_do_not_use"): "must_not_use",
    ("cmd_hca_cap", "disable_link_up_by_init_hca"): "disable_link_up",
    ("cmd_hca_cap", "dma_mmo"): "dma_mmo_sq",
    ("cmd_hca_cap", "ece"): "ece_support",
    ("cmd_hca_cap", "enhanced_retransmission_q_counters"): "enhanced_error_q_counters",
    ("cmd_hca_cap", "eth_striding_wq"): "striding_rq",
    ("cmd_hca_cap", "hairpin_eth_raw"): "hairpin",
    ("cmd_hca_cap", "log_compress_max_size"): "log_compress_mmo_size",
    ("cmd_hca_cap", "log_decompress_max_size"): "log_decompress_mmo_size",
    ("cmd_hca_cap", "log_dma_mmo_max_size"): "log_dma_mmo_size",
    ("cmd_hca_cap", "log_max_srqs"): "log_max_srq",
    ("cmd_hca_cap", "mini_cqe_resp_l3l4header"): "mini_cqe_resp_l3_l4_tag",
    ("cmd_hca_cap", "modify_rq_counters_set_id"): "modify_rq_counter_set_id",
    ("cmd_hca_cap", "port_checks"): "ports_check",
    ("cmd_hca_cap", "qp_context_extension"): "qpc_extension",
    ("cmd_hca_cap", "relaxed_ordering_read"): "relaxed_ordering_read_pci_enabled",
    ("cmd_hca_cap", "uctx_permission"): "uctx_cap",
    ("cmd_hca_cap", "umr_ptr_rlkey"): "umr_ptr_rlky",
    ("cmd_hca_cap", "virtio_blk_device_emulation_manager"): "virtio_blk_device_emualtion_manager",
    ("cmd_hca_cap", "virtio_net_device_emulation_manager"): "virtio_net_device_emualtion_manager",
    ("cmd_hca_cap", "vnic_env_eth_wqe_too_small"): "eth_wqe_too_small",
    ("cmd_hca_cap", "wqe_based_flow_table_update"): "wqe_based_flow_table_update_cap",
    ("comp_event", "cqn"): "cq_number",
    ("cqc", "cqe_compression_en"): "cqe_comp_en",
    ("create_cq_in", "e_mtt_pointer_or_cq_umem_offset"): "cq_umem_offset",
    ("create_cq_in", "sw_cqc"): "cq_context",
    ("create_eq_in", "sw_eqc"): "eq_context_entry",
    ("create_eq_in", "event_bitmask_63_0"): "event_bitmask[0]",
    ("create_eq_in", "event_bitmask_127_640"): "event_bitmask[1]",
    ("create_eq_in", "event_bitmask_191_128"): "event_bitmask[2]",
    ("create_eq_in", "event_bitmask_255_192"): "event_bitmask[3]",
    ("create_eq_out", "eqn"): "eq_number",
    ("create_mkey_in", "sw_mkc"): "memory_key_mkey_entry",
    ("create_qp_in", "e_mtt_pointer_or_wq_umem_offset"): "wq_umem_offset",
    ("create_qp_in", "sw_qpc"): "qpc",
    ("create_tir_in", "tir_context"): "ctx",
    ("fte_match_set_lyr_2_4", "dmac"): ("dmac_47_16", "dmac_15_0"),
    ("fte_match_set_lyr_2_4", "dst_ip_mask"): "dst_ipv4_dst_ipv6",
    ("fte_match_set_lyr_2_4", "ip_ttl_hoplimit"): "ttl_hoplimit",
    ("fte_match_set_lyr_2_4", "smac"): ("smac_47_16", "smac_15_0"),
    ("fte_match_set_lyr_2_4", "src_ip_mask"): "src_ipv4_src_ipv6",
    ("fte_match_set_misc", "src_esw_owner_vhca_id"): "source_eswitch_owner_vhca_id",
    ("mad_ifc_out", "mad"): "response_mad_packet",
    ("mkc", "log_entity_size"): "log_page_size",
    ("qpc", "rlkey"): "rlky",
    ("query_hca_vport_gid_out", "gid0"): "gid",
    ("query_qp_out", "sw_qpc"): "qpc",
    ("rst2init_qp_in", "sw_qpc"): "qpc",
    ("tirc", "lro_enable_mask"): "packet_merge_mask",
    ("tirc", "lro_max_msg_sz"): "lro_max_ip_payload_size",
    ("tirc", "self_lb_en"): "self_lb_block",
}
for _ours, _theirs in (("outer_first_mpls", "outer_first_mpls"),
                       ("inner_first_mpls", "inner_first_mpls"),
                       ("outer_first_mpls_over_gre", "outer_last_mpls_over_gre"),
                       ("outer_first_mpls_over_udp", "outer_last_mpls_over_udp")):
    for _part in ("label", "exp", "s_bos", "ttl"):
        PYVERBS_FIELDS["fte_match_set_misc2", f"{_theirs}_{_part}"] = f"{_ours}.mpls_{_part}"

# Other names of commands.
OPCODE_ALIASES = {"ACCESS_REG": "ACCESS_REGISTER"}

# (pair, layout, field) -> why the two differ. Every entry must be a real difference.
EXCEPTIONS = {
    ("prm-dpdk", "hca_cap_union", "qos_cap"): "DPDK's layout ends 24 bits short",
    ("prm-dpdk", "hca_cap_union", "virtio_emulation_cap"): "DPDK's layout ends a dword short",
    ("prm-dpdk", "initial_seg", "nic_interface_supported"):
        "DPDK counts reserved bits before the 3-bit field into it",
    ("prm-dpdk", "mkc", "log_page_size"): "the field has grown by one bit to the left",
    ("prm-pyverbs", "mkc", "log_page_size"): "the field has grown by one bit to the left",
    ("prm-dpdk", "mtutc_reg", "utc_nsec"): "below 2^30 always; DPDK includes two reserved bits",
    ("prm-pyverbs", "cmd_hca_cap", "enhanced_cqe_compression"): "pyverbs has 0x5bb, as DPDK before 23.11; Linux 0x5b0",
    ("prm-pyverbs", "cmd_hca_cap", "regexp_params"): "a bit of another meaning under that name",
    ("dpdk-pyverbs", "cmd_hca_cap", "regexp_params"): "a bit of another meaning under that name",
    ("prm-pyverbs", "query_hca_cap_out", "capability"): "pyverbs knows the general page only",
    ("dpdk-pyverbs", "query_hca_cap_out", "capability"): "pyverbs knows the general page only",
}

# The same for differences that only some releases of a peer have: (peer, first release, last release) -> ...
LAST = "99"
EXCEPTIONS_OF = {
    ("dpdk", "22.11", "23.07"): {
        ("prm-dpdk", "cqc", "cqe_compression_layout"): "DPDK counts the reserved bits before the 2-bit field into it",
        ("prm-dpdk", "hca_cap_union", "wqe_based_flow_table_cap"): "DPDK's layout is older and shorter",
        ("prm-dpdk", "cmd_hca_cap", "enhanced_cqe_compression"): "Linux and later releases have it at 0x5b0",
        ("prm-dpdk", "set_fte_in", "flow_context"):
            "DPDK counts the first destination of the trailing array into the context",
    },
    ("dpdk", "23.11", LAST): {
        ("dpdk-pyverbs", "cmd_hca_cap", "enhanced_cqe_compression"): "as in prm-pyverbs",
        ("prm-dpdk", "cmd_hca_cap_2", "allowed_object_for_other_vhca_access"): "DPDK has the high dword apart",
        ("prm-dpdk", "packet_reformat_context_in", "reformat_data"): "DPDK counts six bytes into it, Linux two",
        ("prm-dpdk", "packet_reformat_context_in", "more_reformat_data"): "as above",
    },
    ("pyverbs", "56", LAST): {
        ("prm-pyverbs", "cmd_hca_cap_2", "log_min_mkey_entity_size"): "pyverbs has one bit less than Linux",
        ("prm-pyverbs", "cmd_hca_cap_2", "log_min_stride_wqe_sz"): "pyverbs has one bit less than DPDK",
        ("dpdk-pyverbs", "cmd_hca_cap_2", "log_min_stride_wqe_sz"): "as above",
        ("dpdk-pyverbs", "cmd_hca_cap_2", "allowed_object_for_other_vhca_access"): "DPDK has the high dword apart",
    },
    ("pyverbs", "65", LAST): {
        ("prm-pyverbs", "flow_context", "encrypt_decrypt_obj_id"): "pyverbs leaves modify_header_id out",
        ("prm-pyverbs", "flow_context", "match_value"): "as above",
        ("prm-pyverbs", "flow_context", "execute_aso"): "as above",
        ("dpdk-pyverbs", "flow_context", "encrypt_decrypt_obj_id"): "as above",
        ("prm-pyverbs", "execute_aso", "exe_aso_ctrl"): "pyverbs has return_reg_id and aso_type before it, Linux in it",
        ("prm-pyverbs", "exe_aso_ctrl_flow_meter", "action"): "as above",
        ("prm-pyverbs", "exe_aso_ctrl_flow_meter", "init_color"): "as above",
        ("prm-pyverbs", "exe_aso_ctrl_flow_meter", "meter_id"): "as above",
    },
}


def release_key(release):
    """Order of releases: 22.11.11 is between 22.11 and 23.07."""
    return [int(number) for number in release.split(".")]


def exceptions(releases):
    """({key: why} that may be used, {key} that must be used) for {peer: its release, None if unknown}."""
    allowed, required = dict(EXCEPTIONS), set(EXCEPTIONS)
    for (peer, first, last), some in EXCEPTIONS_OF.items():
        release = releases.get(peer)
        if release is None:
            allowed.update(some)
        elif release_key(first) <= release_key(release) < release_key(last):
            allowed.update(some)
            required.update(some)
    return allowed, required
