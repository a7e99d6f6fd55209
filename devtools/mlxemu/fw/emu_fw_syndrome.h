/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Every reason for which a command is refused: syndrome, status, one line of explanation. Syndromes of
 * cards are not published: these are the emulator's own, and constant, so that old logs can be explained.
 * 0xe5, then subject, then case, one byte each.
 */
#ifndef EMU_FW_SYNDROME_H
#define EMU_FW_SYNDROME_H

#include <stdbool.h>
#include <stdint.h>

/* X(name, syndrome, status, cause) */
#define FW_SYNDROMES(X) \
	/* any command */ \
	X(UNKNOWN_OP, 0xe50001, BAD_OP, "opcode is not in the command table") \
	X(NOT_MODELLED, 0xe50002, BAD_OP, "command is known but not modelled") \
	X(IN_SHORT, 0xe50003, BAD_INPUT_LEN, "inbox is shorter than the command") \
	X(IN_LONG, 0xe50004, BAD_INPUT_LEN, "inbox is longer than the command, and not with zeros") \
	X(OUT_SHORT, 0xe50005, BAD_OUTPUT_LEN, "outbox is shorter than the answer") \
	X(RESERVED, 0xe50006, BAD_PARAM, "reserved bits or an undefined value in the inbox") \
	X(KERNEL_ONLY, 0xe50007, BAD_OP, "command is for the kernel's own use") \
	X(NO_RESOURCES, 0xe50008, NO_RESOURCES, "out of object ids or memory") \
	X(OP_MOD, 0xe50009, BAD_PARAM, "op_mod is not defined for the command") \
	X(OTHER_FUNCTION, 0xe5000a, BAD_PARAM, "other functions and vports are not accessible") \
	X(GENERAL_OBJECT, 0xe5000b, BAD_PARAM, "general object type is not supported") \
	X(CAP_TYPE, 0xe5000c, BAD_PARAM, "capability page is not supported") \
	X(NO_LAG, 0xe5000d, BAD_OP, "function has no capability of bonds") \
	/* objects and references */ \
	X(NO_OBJECT, 0xe50101, BAD_RES, "object does not exist") \
	X(FOREIGN_OBJECT, 0xe50102, BAD_RES, "object belongs to another user") \
	X(BUSY, 0xe50103, BAD_RES_STATE, "object is still in use by others") \
	X(NO_PD, 0xe50104, BAD_RES, "PD does not exist") \
	X(NO_TD, 0xe50105, BAD_RES, "transport domain does not exist") \
	X(NO_UMEM, 0xe50106, BAD_RES, "umem does not exist") \
	X(NO_DBR_UMEM, 0xe50107, BAD_RES, "umem of the doorbell record does not exist") \
	X(NO_UAR, 0xe50108, BAD_RES, "UAR does not exist") \
	X(NO_EQ, 0xe50109, BAD_RES, "event queue does not exist") \
	X(NO_CQ, 0xe5010a, BAD_RES, "CQ does not exist") \
	X(NO_RQ, 0xe5010b, BAD_RES, "RQ does not exist") \
	X(NO_RQT, 0xe5010c, BAD_RES, "RQT does not exist") \
	X(NO_TIS, 0xe5010d, BAD_RES, "TIS does not exist") \
	X(NO_Q_COUNTER, 0xe5010e, BAD_RES, "queue counter does not exist") \
	X(NO_SRQ, 0xe5010f, BAD_RES, "RMP (SRQ) does not exist") \
	/* mkey */ \
	X(MKEY_ACCESS_MODE, 0xe50201, BAD_PARAM, "only MTT over a umem is supported") \
	X(MKEY_FEATURE, 0xe50202, BAD_PARAM, "mkey feature without capability") \
	X(MKEY_LENGTH, 0xe50203, BAD_PARAM, "length is 0, wraps around, or length64 is set") \
	X(MKEY_PAGE_SIZE, 0xe50204, BAD_PARAM, "log_page_size out of range") \
	X(MKEY_RANGE, 0xe50205, BAD_PARAM, "range is outside the umem") \
	X(MKEY_TRANSLATIONS, 0xe50206, BAD_PARAM, "translations_octword_size too small for the range") \
	X(MKEY_ALIGN, 0xe50207, BAD_PARAM, "start_addr and memory differ in their offset in the page") \
	X(MKEY_UMR, 0xe5020b, BAD_PARAM, "mkey is free or for UMR") \
	X(MKEY_RELAXED, 0xe5020a, BAD_PARAM, "relaxed ordering without capability") \
	/* Observed on cards, unlike the others. */ \
	X(MKEY_UMEM_PAGE, 0x317175, BAD_PARAM, "log_page_size is not the umem's page size") \
	X(MKEY_TABLE, 0xe50209, BAD_INPUT_LEN, "fewer translation entries than pages") \
	X(MKEY_WRITE, 0xe50208, BAD_PARAM, "local write over a read-only umem") \
	/* CQ */ \
	X(CQ_SIZE, 0xe50301, EXCEED_LIM, "log_cq_size above log_max_cq_sz") \
	X(CQ_CQE_SIZE, 0xe50302, BAD_PARAM, "cqe_sz is not 64 or 128 bytes, or another than before") \
	X(CQ_RANGE, 0xe50303, BAD_PARAM, "ring is outside its umem") \
	X(CQ_READ_ONLY, 0xe50304, BAD_PARAM, "ring is in a read-only umem") \
	X(CQ_ALIGN, 0xe50305, BAD_PARAM, "ring offset is not aligned to its CQEs") \
	X(CQ_COMPRESSION, 0xe50306, BAD_PARAM, "CQE compression without capability") \
	X(CQ_NO_UMEM, 0xe50307, BAD_PARAM, "ring given as page list: user CQs live in a umem") \
	X(CQ_PAGE_OFFSET, 0xe50308, BAD_PARAM, "page_offset must be 0 over a umem") \
	X(CQ_INITIAL, 0xe50309, BAD_PARAM, "status, st and counters must be 0 at creation") \
	X(CQ_RESIZE, 0xe5030a, BAD_PARAM, "resize_field_select must name size and umem, nothing else") \
	X(CQ_FIELD, 0xe5030b, BAD_PARAM, "modify_field_select names a field that cannot change") \
	X(CQ_EQ_ELEMENT, 0xe5030c, BAD_INDEX, "event queue number has more than 8 bits") \
	X(CQ_MODERATION, 0xe5030d, BAD_PARAM, "moderation from the CQE without capability") \
	X(CQ_OUTSTANDING, 0xe5030e, BAD_SIZE_OUTS_CQES, "more completions outstanding than fit") \
	/* work queues */ \
	X(WQ_TYPE, 0xe50401, BAD_PARAM, "wq_type is not cyclic") \
	X(WQ_FEATURE, 0xe50402, BAD_PARAM, "WQ feature without capability") \
	X(WQ_STRIDE, 0xe50403, BAD_PARAM, "log_wq_stride out of range") \
	X(WQ_SIZE, 0xe50404, EXCEED_LIM, "log_wq_sz above log_max_wq_sz") \
	X(WQ_RANGE, 0xe50405, BAD_PARAM, "ring is outside its umem") \
	X(WQ_ALIGN, 0xe50406, BAD_PARAM, "ring offset is not aligned to 64 bytes") \
	X(WQ_PAGE_OFFSET, 0xe50407, BAD_PARAM, "page_offset must be 0 over a umem") \
	X(WQ_COUNTERS, 0xe50408, BAD_PARAM, "hw_counter and sw_counter must be 0 at creation") \
	X(DBR_ALIGN, 0xe50409, BAD_PARAM, "doorbell record is not aligned to 8 bytes") \
	X(DBR_RANGE, 0xe5040a, BAD_PARAM, "doorbell record is outside its umem") \
	X(TS_FORMAT, 0xe5040b, BAD_PARAM, "time stamp format without capability") \
	X(WQ_STRIDES, 0xe5040c, BAD_PARAM, "number or size of strides out of range") \
	X(WQ_LINKED, 0xe5040d, BAD_PARAM, "RQ is a linked list") \
	/* queue states */ \
	X(STATE_NOT_RST, 0xe50501, BAD_RES_STATE, "a queue is created in state RST") \
	X(STATE_CLAIM, 0xe50502, BAD_RES_STATE, "queue is not in the state that the command names") \
	X(STATE_FORBIDDEN, 0xe50503, BAD_RES_STATE, "transition is not permitted") \
	X(QUEUE_FIELD, 0xe50504, BAD_PARAM, "modify_bitmask names a field that cannot change") \
	/* SQ */ \
	X(SQ_FEATURE, 0xe50601, BAD_PARAM, "SQ feature without capability") \
	X(SQ_TIS_COUNT, 0xe50602, BAD_PARAM, "tis_lst_sz must be 0 or 1") \
	X(SQ_INLINE_MODE, 0xe50604, BAD_PARAM, "min_wqe_inline_mode, but wqe_inline_mode is not VPORT_CONTEXT") \
	X(SQ_MULTI_PACKET, 0xe50605, BAD_PARAM, "multi-packet send WQEs without capability") \
	X(SQ_RATE_LIMIT, 0xe50603, BAD_INDEX, "packet pacing without capability") \
	X(SQ_RATE_ENTRY, 0xe50606, BAD_INDEX, "entry of the table of rates is free or another user's") \
	X(NO_PACING, 0xe50607, BAD_OP, "function has no packet pacing") \
	X(PP_INDEX, 0xe50608, BAD_INDEX, "rate_limit_index is outside the table of rates") \
	X(PP_RATE, 0xe50609, BAD_PARAM, "rate_limit is outside the range of the card") \
	X(PP_FEATURE, 0xe5060a, BAD_PARAM, "packet pacing feature without capability") \
	X(PP_BUSY, 0xe5060b, BAD_RES_STATE, "entry of the table of rates is in use") \
	/* RQ */ \
	X(RQ_FEATURE, 0xe50701, BAD_PARAM, "RQ feature without capability") \
	X(RQ_MEM_TYPE, 0xe50702, BAD_PARAM, "memory type without capability") \
	/* RQT */ \
	X(RQT_SIZE, 0xe50801, BAD_PARAM, "rqt_actual_size is 0, above rqt_max_size or no power of two") \
	X(RQT_MAX_SIZE, 0xe50802, EXCEED_LIM, "rqt_max_size above log_max_rqt_size") \
	X(RQT_LIST, 0xe50803, BAD_INPUT_LEN, "inbox length does not fit the list of RQs") \
	X(RQT_TYPE, 0xe50804, BAD_PARAM, "list_q_type or format without capability") \
	/* TIR */ \
	X(TIR_HASH, 0xe50901, BAD_PARAM, "rx_hash_fn does not fit the dispatch type") \
	X(TIR_FEATURE, 0xe50902, BAD_PARAM, "TIR feature without capability") \
	X(TIR_FIELD, 0xe50903, BAD_PARAM, "bitmask names a field that cannot change") \
	X(TIR_LRO, 0xe50904, BAD_PARAM, "LRO without size, with a time that is not supported, or over an RQ that scatters the FCS") \
	/* TIS */ \
	X(TIS_FEATURE, 0xe50a01, BAD_PARAM, "TIS feature without capability") \
	/* counters */ \
	X(COUNTER_BULK, 0xe50b01, BAD_PARAM, "bulk counters without capability, or not aligned") \
	X(COUNTER_DUMP, 0xe50b02, BAD_PARAM, "dump to memory without capability") \
	X(COUNTER_SCOPE, 0xe50b03, BAD_PARAM, "counters of others and aggregates without capability") \
	/* vport */ \
	X(VPORT_ADDRESS, 0xe50c01, BAD_PARAM, "address is not a station's or not a group's") \
	X(VPORT_LIST_SIZE, 0xe50c02, EXCEED_LIM, "address list is longer than the device's") \
	X(VPORT_LIST_LEN, 0xe50c03, BAD_INPUT_LEN, "inbox is shorter than the address list") \
	X(VPORT_LIST_TYPE, 0xe50c04, BAD_PARAM, "list type without capability") \
	X(VPORT_FIELD, 0xe50c05, BAD_PARAM, "field cannot be changed") \
	X(VPORT_MTU, 0xe50c06, BAD_PARAM, "MTU out of range") \
	X(ROCE_INDEX, 0xe50c07, BAD_INDEX, "RoCE address table has no such entry") \
	X(ROCE_VERSION, 0xe50c08, BAD_PARAM, "RoCE version or type of address without capability") \
	X(L2_NONE, 0xe50c10, BAD_OP, "function has no table of addresses to keep") \
	X(L2_INDEX, 0xe50c11, BAD_INDEX, "table_index is beyond log_max_l2_table") \
	X(L2_ADDRESS, 0xe50c12, BAD_PARAM, "address is a group's") \
	X(L2_FEATURE, 0xe50c13, BAD_PARAM, "entry with a feature without capability") \
	X(L2_EMPTY, 0xe50c14, BAD_RES, "entry is not in use") \
	/* registers */ \
	X(REG_UNKNOWN, 0xe50d01, BAD_PARAM, "register is not modelled") \
	X(REG_READ_ONLY, 0xe50d02, BAD_PARAM, "register cannot be written") \
	X(REG_USER, 0xe50d03, BAD_PARAM, "register cannot be written by a user") \
	X(REG_PORT, 0xe50d04, BAD_PARAM, "local_port does not exist") \
	X(REG_LEN, 0xe50d05, BAD_INPUT_LEN, "register data shorter than the register") \
	X(REG_GROUP, 0xe50d06, BAD_PARAM, "counter group is not modelled") \
	X(REG_NO_USER, 0xe50d09, BAD_OP, "user access to registers without capability") \
	X(REG_VALUE, 0xe50d07, BAD_PARAM, "value cannot be set") \
	X(REG_SETTING, 0xe50d0a, BAD_PARAM, "setting is not modelled") \
	X(REG_MODULE, 0xe50d08, BAD_INDEX, "module does not exist") \
	/* QP */ \
	X(QP_SERVICE, 0xe50e01, BAD_PARAM, "service type is not RC, UC or UD") \
	X(QP_FEATURE, 0xe50e02, BAD_PARAM, "QP feature without capability") \
	X(QP_NO_UMEM, 0xe50e03, BAD_PARAM, "rings given as page list: user QPs live in a umem") \
	X(QP_RQ_TYPE, 0xe50e04, BAD_PARAM, "rq_type is not regular, shared or of size zero") \
	X(QP_STATE, 0xe50e05, BAD_QP_STATE, "transition does not begin in the QP's state") \
	X(QP_OPTIONAL, 0xe50e06, BAD_PARAM, "opt_param_mask names what the transition cannot take") \
	X(QP_PATH, 0xe50e07, BAD_PARAM, "address path: port, P_Key or GID") \
	X(QP_MTU, 0xe50e08, BAD_PARAM, "MTU is not 256 to 4096 bytes") \
	X(QP_MSG, 0xe50e09, BAD_PARAM, "log_msg_max above the device's") \
	X(QP_DEPTH, 0xe50e0a, BAD_PARAM, "more outstanding reads than the device has") \
	/* RMP */ \
	X(RMP_STATE, 0xe50f01, BAD_RES_STATE, "an RMP is created in state RDY and stays there") \
	X(RMP_LIMIT, 0xe50f02, BAD_PARAM, "limit exceeds the number of WQEs") \
	/* the function: commands of its owner */ \
	X(HCA_STATE, 0xe51001, BAD_SYS_STATE, "function is not in the state that the command needs") \
	X(ISSI, 0xe51002, BAD_PARAM, "version of the command interface is not supported") \
	X(CAP_VALUE, 0xe51003, BAD_PARAM, "capability cannot be set so") \
	X(TEARDOWN, 0xe51004, BAD_PARAM, "teardown profile without capability") \
	X(UID, 0xe51005, BAD_RES, "user does not exist") \
	X(PAGE_LIST, 0xe51006, BAD_PARAM, "ring or record given as page list: they live in umems") \
	X(NO_PAGES, 0xe51007, NO_RESOURCES, "device waits for pages that it requested") \
	X(PAGE, 0xe51008, BAD_PARAM, "page cannot be the device's") \
	X(PAGE_COUNT, 0xe51009, BAD_INPUT_LEN, "mailbox is shorter than the list of pages") \
	/* EQ */ \
	X(EQ_INITIAL, 0xe51101, BAD_PARAM, "status, state and counters must be 0 at creation") \
	X(EQ_PAGE_OFFSET, 0xe51102, BAD_PARAM, "page_offset must be 0") \
	X(EQ_SIZE, 0xe51103, EXCEED_LIM, "log_eq_size above log_max_eq_sz") \
	X(EQ_VECTOR, 0xe51104, BAD_INDEX, "interrupt vector does not exist") \
	X(EQ_EVENT, 0xe51105, BAD_RES_STATE, "event is mapped to another EQ, twice is not modelled") \
	X(EQ_PAGES, 0xe51106, BAD_INPUT_LEN, "fewer pages than the ring has") \
	X(EQ_MEMORY, 0xe51107, BAD_PARAM, "ring is not mapped for the device to write") \
	X(EQ_COUNT, 0xe51108, EXCEED_LIM, "more event queues than max_num_eqs") \
	/* umem */ \
	X(UMEM_ATS, 0xe51201, BAD_PARAM, "ATS without capability") \
	X(UMEM_PAGE_SIZE, 0xe51202, BAD_PARAM, "log_page_size out of range") \
	X(UMEM_PAGES, 0xe51203, BAD_PARAM, "list of pages is empty, cut off or without read access") \
	X(UMEM_OFFSET, 0xe51204, BAD_PARAM, "page_offset is outside the page") \
	/* flow tables, groups, entries */ \
	X(NO_FLOW_TABLE, 0xe52001, BAD_RES, "flow table does not exist") \
	X(NO_FLOW_GROUP, 0xe52002, BAD_RES, "flow group does not exist in the table") \
	X(NO_FTE, 0xe52003, BAD_RES, "flow table entry does not exist") \
	X(NO_TIR, 0xe52004, BAD_RES, "TIR does not exist") \
	X(NO_FLOW_COUNTER, 0xe52005, BAD_RES, "flow counter does not exist") \
	X(FT_TYPE, 0xe52006, BAD_PARAM, "table type without capability, or another than the table's") \
	X(FT_LEVEL, 0xe52007, BAD_PARAM, "level out of range, or not above the table that leads there") \
	X(FT_SIZE, 0xe52008, EXCEED_LIM, "log_size above log_max_ft_size") \
	X(FT_FEATURE, 0xe52009, BAD_PARAM, "flow table feature without capability") \
	X(FT_MISS, 0xe5200a, BAD_PARAM, "table_miss_id does not go with table_miss_action") \
	X(FT_FIELD, 0xe5200b, BAD_PARAM, "modify_field_select names a field that cannot change") \
	X(FG_FEATURE, 0xe5200c, BAD_PARAM, "flow group feature without capability") \
	X(FG_RANGE, 0xe5200d, BAD_INDEX, "group ends before it starts or beyond its table") \
	X(FG_OVERLAP, 0xe5200e, BAD_RES_STATE, "another group has some of these entries") \
	X(FG_CRITERIA, 0xe5200f, BAD_PARAM, "criteria not enabled, or fields without capability") \
	X(FTE_INDEX, 0xe52010, BAD_INDEX, "flow_index is outside its group") \
	X(FTE_EXISTS, 0xe52011, BAD_RES_STATE, "entry is in use already") \
	X(FTE_VALUE, 0xe52012, BAD_PARAM, "match value goes beyond the group's criteria") \
	X(FTE_ACTION, 0xe52013, BAD_PARAM, "action is not drop or forward, or without capability") \
	X(FTE_LISTS, 0xe52014, BAD_PARAM, "lists of destinations and counters do not fit the action") \
	X(FTE_LIST_LEN, 0xe52015, BAD_INPUT_LEN, "inbox length does not fit the lists") \
	X(FTE_DEST, 0xe52016, BAD_PARAM, "destination without capability") \
	X(FTE_FEATURE, 0xe52017, BAD_PARAM, "flow table entry feature without capability") \
	X(FTE_FIELD, 0xe52018, BAD_PARAM, "modify_enable_mask names nothing, or what cannot change") \
	X(NO_MODIFY_HEADER, 0xe52019, BAD_RES, "modify header context does not exist") \
	X(NO_REFORMAT, 0xe5201a, BAD_RES, "packet reformat context does not exist") \
	X(FTE_CHANGE, 0xe5201b, BAD_PARAM, "change of packets that does not fit the action, the table or another change") \
	X(MODIFY_COUNT, 0xe5201c, BAD_PARAM, "number of actions is 0 or above max_modify_header_actions") \
	X(MODIFY_LEN, 0xe5201d, BAD_INPUT_LEN, "inbox length does not fit the actions") \
	X(MODIFY_ACTION, 0xe5201e, BAD_PARAM, "action is not set, add or copy, or has reserved bits") \
	X(MODIFY_FIELD, 0xe5201f, BAD_PARAM, "field without capability") \
	X(MODIFY_PART, 0xe52020, BAD_PARAM, "bits beyond the field, or data beyond the bits") \
	X(REFORMAT_TYPE, 0xe52021, BAD_PARAM, "reformat type without capability") \
	X(REFORMAT_DATA, 0xe52022, BAD_PARAM, "data does not fit the reformat type") \
	X(REFORMAT_LEN, 0xe52023, BAD_INPUT_LEN, "inbox length does not fit the data")

/*
 * What cards accept and the emulator does not model. These refusals are limits of the emulator and no violations; the
 * trace has them. doc/design/refusals.md names the programs that were looked at.
 */
#define FW_LIMITS(X) \
	X(NOT_MODELLED) X(MKEY_ACCESS_MODE) X(MKEY_UMR) X(CQ_NO_UMEM) X(QP_NO_UMEM) X(PAGE_LIST) X(WQ_LINKED) \
	X(VPORT_LIST_TYPE) X(REG_UNKNOWN) X(REG_READ_ONLY) X(REG_GROUP) X(REG_SETTING) X(EQ_EVENT)

enum fw_syndrome {
	FW_OK,
#define FW_SYNDROME_NAME(name, code, status, cause) FW_##name,
	FW_SYNDROMES(FW_SYNDROME_NAME)
#undef FW_SYNDROME_NAME
	FW_SYNDROME_COUNT,
};

/** One reason of refusal. */
struct fw_syndrome_info {
	const char *name;
	uint32_t code;
	uint8_t status;
	const char *cause;
};
/** True: a limit of the emulator, see FW_LIMITS. */
bool fw_syndrome_is_limit(enum fw_syndrome s);
const struct fw_syndrome_info *fw_syndrome_info(enum fw_syndrome s);
/** The reason of a syndrome in an outbox; NULL if it is not one of the emulator. */
const struct fw_syndrome_info *fw_syndrome_explain(uint32_t code);

#endif /* EMU_FW_SYNDROME_H */
