/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* The commands that the firmware executes: source of the handlers' prototypes and of the table. */
#ifndef FW_COMMANDS_H
#define FW_COMMANDS_H

/*
 * COMMAND(opcode, type of the object that the command names, handler, flags of struct fw_row)
 * DESTROY(opcode, type, flags): the command destroys the object, without further checks.
 */
#define FW_COMMANDS(COMMAND, DESTROY) \
	COMMAND(QUERY_HCA_CAP, NONE, fw_query_hca_cap, FW_EARLY) \
	COMMAND(QUERY_ADAPTER, NONE, fw_query_adapter, FW_EARLY) \
	COMMAND(INIT_HCA, NONE, fw_init_hca, FW_OWNER | FW_EARLY) \
	COMMAND(TEARDOWN_HCA, NONE, fw_teardown_hca, FW_OWNER) \
	COMMAND(ENABLE_HCA, NONE, fw_enable_hca, FW_OWNER | FW_FIRST) \
	COMMAND(DISABLE_HCA, NONE, fw_disable_hca, FW_OWNER | FW_EARLY) \
	COMMAND(QUERY_PAGES, NONE, fw_query_pages, FW_OWNER | FW_EARLY) \
	COMMAND(MANAGE_PAGES, NONE, fw_manage_pages, FW_OWNER | FW_EARLY) \
	COMMAND(SET_HCA_CAP, NONE, fw_set_hca_cap, FW_OWNER | FW_EARLY) \
	COMMAND(QUERY_ISSI, NONE, fw_query_issi, FW_EARLY) \
	COMMAND(SET_ISSI, NONE, fw_set_issi, FW_OWNER | FW_EARLY) \
	COMMAND(SET_DRIVER_VERSION, NONE, fw_set_driver_version, FW_OWNER) \
	COMMAND(QUERY_SPECIAL_CONTEXTS, NONE, fw_query_special_contexts, 0) \
	COMMAND(QUERY_LAG, NONE, fw_query_lag, 0) \
	COMMAND(NOP, NONE, fw_nop, FW_EARLY) \
	COMMAND(CREATE_MKEY, MKEY, fw_create_mkey, 0) \
	COMMAND(QUERY_MKEY, MKEY, fw_query_mkey, 0) \
	DESTROY(DESTROY_MKEY, MKEY, 0) \
	COMMAND(CREATE_EQ, EQ, fw_create_eq, FW_OWNER) \
	DESTROY(DESTROY_EQ, EQ, FW_OWNER) \
	COMMAND(QUERY_EQ, EQ, fw_query_eq, FW_OWNER) \
	COMMAND(CREATE_CQ, CQ, fw_create_cq, 0) \
	DESTROY(DESTROY_CQ, CQ, 0) \
	COMMAND(QUERY_CQ, CQ, fw_query_cq, 0) \
	COMMAND(MODIFY_CQ, CQ, fw_modify_cq, 0) \
	COMMAND(CREATE_QP, QP, fw_create_qp, 0) \
	DESTROY(DESTROY_QP, QP, 0) \
	COMMAND(RST2INIT_QP, QP, fw_modify_qp, 0) \
	COMMAND(INIT2RTR_QP, QP, fw_modify_qp, 0) \
	COMMAND(RTR2RTS_QP, QP, fw_modify_qp, 0) \
	COMMAND(RTS2RTS_QP, QP, fw_modify_qp, 0) \
	COMMAND(SQERR2RTS_QP, QP, fw_modify_qp, 0) \
	COMMAND(2ERR_QP, QP, fw_modify_qp, 0) \
	COMMAND(2RST_QP, QP, fw_modify_qp, 0) \
	COMMAND(QUERY_QP, QP, fw_query_qp, 0) \
	COMMAND(INIT2INIT_QP, QP, fw_modify_qp, 0) \
	COMMAND(QUERY_VPORT_STATE, NONE, fw_query_vport_state, 0) \
	COMMAND(MODIFY_VPORT_STATE, NONE, fw_modify_vport_state, 0) \
	COMMAND(QUERY_NIC_VPORT_CONTEXT, NONE, fw_query_nic_vport_context, 0) \
	COMMAND(MODIFY_NIC_VPORT_CONTEXT, NONE, fw_modify_nic_vport_context, 0) \
	COMMAND(QUERY_ROCE_ADDRESS, NONE, fw_query_roce_address, 0) \
	COMMAND(SET_ROCE_ADDRESS, NONE, fw_set_roce_address, FW_OWNER) \
	COMMAND(SET_PP_RATE_LIMIT, NONE, fw_set_pp_rate_limit, FW_OWNER) \
	COMMAND(QUERY_VNIC_ENV, NONE, fw_query_vnic_env, 0) \
	COMMAND(SET_L2_TABLE_ENTRY, NONE, fw_set_l2_table_entry, FW_OWNER) \
	COMMAND(QUERY_L2_TABLE_ENTRY, NONE, fw_query_l2_table_entry, FW_OWNER) \
	COMMAND(DELETE_L2_TABLE_ENTRY, NONE, fw_delete_l2_table_entry, FW_OWNER) \
	COMMAND(QUERY_VPORT_COUNTER, NONE, fw_query_vport_counter, 0) \
	COMMAND(ALLOC_Q_COUNTER, Q_COUNTER, fw_alloc_q_counter, 0) \
	DESTROY(DEALLOC_Q_COUNTER, Q_COUNTER, 0) \
	COMMAND(QUERY_Q_COUNTER, Q_COUNTER, fw_query_q_counter, 0) \
	COMMAND(ALLOC_PD, PD, fw_alloc_pd, 0) \
	DESTROY(DEALLOC_PD, PD, 0) \
	COMMAND(ALLOC_UAR, UAR, fw_alloc_uar, FW_OWNER) \
	DESTROY(DEALLOC_UAR, UAR, FW_OWNER) \
	COMMAND(ACCESS_REGISTER, NONE, fw_access_register, FW_EARLY) \
	COMMAND(ALLOC_TRANSPORT_DOMAIN, TD, fw_alloc_td, 0) \
	DESTROY(DEALLOC_TRANSPORT_DOMAIN, TD, 0) \
	COMMAND(CREATE_TIR, TIR, fw_create_tir, 0) \
	COMMAND(MODIFY_TIR, TIR, fw_modify_tir, 0) \
	DESTROY(DESTROY_TIR, TIR, 0) \
	COMMAND(QUERY_TIR, TIR, fw_query_tir, 0) \
	COMMAND(CREATE_SQ, SQ, fw_create_sq, 0) \
	COMMAND(MODIFY_SQ, SQ, fw_modify_sq, 0) \
	DESTROY(DESTROY_SQ, SQ, 0) \
	COMMAND(QUERY_SQ, SQ, fw_query_sq, 0) \
	COMMAND(CREATE_RQ, RQ, fw_create_rq, 0) \
	COMMAND(MODIFY_RQ, RQ, fw_modify_rq, 0) \
	DESTROY(DESTROY_RQ, RQ, 0) \
	COMMAND(QUERY_RQ, RQ, fw_query_rq, 0) \
	COMMAND(CREATE_RMP, RMP, fw_create_rmp, 0) \
	COMMAND(MODIFY_RMP, RMP, fw_modify_rmp, 0) \
	DESTROY(DESTROY_RMP, RMP, 0) \
	COMMAND(QUERY_RMP, RMP, fw_query_rmp, 0) \
	COMMAND(CREATE_TIS, TIS, fw_create_tis, 0) \
	COMMAND(MODIFY_TIS, TIS, fw_modify_tis, 0) \
	DESTROY(DESTROY_TIS, TIS, 0) \
	COMMAND(QUERY_TIS, TIS, fw_query_tis, 0) \
	COMMAND(CREATE_RQT, RQT, fw_create_rqt, 0) \
	COMMAND(MODIFY_RQT, RQT, fw_modify_rqt, 0) \
	DESTROY(DESTROY_RQT, RQT, 0) \
	COMMAND(QUERY_RQT, RQT, fw_query_rqt, 0) \
	COMMAND(SET_FLOW_TABLE_ROOT, NONE, fw_set_flow_table_root, 0) \
	COMMAND(CREATE_FLOW_TABLE, FLOW_TABLE, fw_create_flow_table, 0) \
	COMMAND(MODIFY_FLOW_TABLE, FLOW_TABLE, fw_modify_flow_table, 0) \
	COMMAND(QUERY_FLOW_TABLE, FLOW_TABLE, fw_query_flow_table, 0) \
	COMMAND(DESTROY_FLOW_TABLE, FLOW_TABLE, fw_destroy_flow_table, 0) \
	COMMAND(CREATE_FLOW_GROUP, FLOW_GROUP, fw_create_flow_group, 0) \
	COMMAND(QUERY_FLOW_GROUP, FLOW_GROUP, fw_query_flow_group, 0) \
	COMMAND(DESTROY_FLOW_GROUP, FLOW_GROUP, fw_destroy_flow_group, 0) \
	/* A flow table entry has no id: commands name the table and the index in it. */ \
	COMMAND(SET_FLOW_TABLE_ENTRY, NONE, fw_set_fte, 0) \
	COMMAND(QUERY_FLOW_TABLE_ENTRY, NONE, fw_query_fte, 0) \
	COMMAND(DELETE_FLOW_TABLE_ENTRY, NONE, fw_delete_fte, 0) \
	COMMAND(ALLOC_FLOW_COUNTER, FLOW_COUNTER, fw_alloc_flow_counter, 0) \
	COMMAND(DEALLOC_FLOW_COUNTER, FLOW_COUNTER, fw_dealloc_flow_counter, 0) \
	COMMAND(QUERY_FLOW_COUNTER, FLOW_COUNTER, fw_query_flow_counter, 0) \
	COMMAND(ALLOC_PACKET_REFORMAT_CONTEXT, REFORMAT, fw_alloc_reformat, 0) \
	DESTROY(DEALLOC_PACKET_REFORMAT_CONTEXT, REFORMAT, 0) \
	COMMAND(ALLOC_MODIFY_HEADER_CONTEXT, MODIFY_HEADER, fw_alloc_modify_header, 0) \
	DESTROY(DEALLOC_MODIFY_HEADER_CONTEXT, MODIFY_HEADER, 0) \
	COMMAND(CREATE_GENERAL_OBJECT, NONE, fw_general_object, 0) \
	COMMAND(MODIFY_GENERAL_OBJECT, NONE, fw_general_object, 0) \
	COMMAND(QUERY_GENERAL_OBJECT, NONE, fw_general_object, 0) \
	COMMAND(DESTROY_GENERAL_OBJECT, NONE, fw_general_object, 0) \
	COMMAND(CREATE_UMEM, UMEM, fw_create_umem, FW_OWNER) \
	DESTROY(DESTROY_UMEM, UMEM, FW_OWNER) \
	COMMAND(CREATE_UCTX, NONE, fw_kernel_only, 0) \
	COMMAND(DESTROY_UCTX, NONE, fw_kernel_only, 0) \
	COMMAND(ACCESS_REGISTER_USER, NONE, fw_access_register_user, 0)

#endif /* FW_COMMANDS_H */
