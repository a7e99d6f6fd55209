/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Contexts of CQ, SQ, RQ, RQT, TIR, TIS: each refusal by one change to a lawful command. */
#include "fw_fixture.h"

static struct fix f;
static uint32_t cqn, tisn, rqn;
static struct emu_umem *readonly;

#define REFUSE_CQ(change, why) \
	do { \
		struct prm_create_cq_in in; \
		struct prm_cqc *cqc = prm_create_cq_in_cq_context(&in); \
		(void)cqc; \
		fix_cq_in(&f, &in); \
		change; \
		CHECK_EQ(fix_exec(&f, &in, sizeof(in)), fix_code(why)); \
		CHECK_EQ(*(uint8_t *)f.out, fw_syndrome_info(why)->status); \
	} while (0)

static void
test_cq(void)
{
	REFUSE_CQ(prm_cqc_set_c_eqn(cqc, 0xff), FW_NO_EQ);
	REFUSE_CQ(prm_cqc_set_c_eqn_or_apu_element(cqc, 0x100), FW_CQ_EQ_ELEMENT);
	REFUSE_CQ(prm_cqc_set_uar_page(cqc, 0xfffff), FW_NO_UAR);
	REFUSE_CQ(prm_create_cq_in_set_cq_umem_id(&in, 0), FW_NO_UMEM);
	REFUSE_CQ(prm_cqc_set_dbr_umem_id(cqc, 0), FW_NO_DBR_UMEM);
	REFUSE_CQ(prm_create_cq_in_set_cq_umem_offset(&in, FIX_MEM_BYTES - 15 * 64), FW_CQ_RANGE);
	REFUSE_CQ(prm_create_cq_in_set_cq_umem_offset(&in, UINT64_MAX - 63), FW_CQ_RANGE);
	REFUSE_CQ(prm_create_cq_in_set_cq_umem_offset(&in, FIX_CQ_OFFSET + 8), FW_CQ_ALIGN);
	REFUSE_CQ(prm_create_cq_in_set_cq_umem_id(&in, readonly->obj.id), FW_CQ_READ_ONLY);
	REFUSE_CQ(prm_cqc_set_dbr_addr(cqc, 4), FW_DBR_ALIGN);
	REFUSE_CQ(prm_cqc_set_dbr_addr(cqc, FIX_MEM_BYTES), FW_DBR_RANGE);
	REFUSE_CQ(prm_cqc_set_dbr_addr(cqc, UINT64_MAX - 7), FW_DBR_RANGE);
	REFUSE_CQ(prm_cqc_set_cqe_sz(cqc, 3), FW_CQ_CQE_SIZE);
	REFUSE_CQ(prm_cqc_set_page_offset(cqc, 1), FW_CQ_PAGE_OFFSET);
	REFUSE_CQ(prm_cqc_set_status(cqc, PRM_CQC_STATUS_OVERFLOW), FW_CQ_INITIAL);
	REFUSE_CQ(prm_cqc_set_producer_counter(cqc, 1), FW_CQ_INITIAL);
	/* A layout without compression. What needs a capability is in test_caps.c. */
	REFUSE_CQ(prm_cqc_set_cqe_compression_layout(cqc, 1), FW_CQ_COMPRESSION);
	REFUSE_CQ(prm_cqc_set_cqe_comp_en(cqc, 1); prm_cqc_set_mini_cqe_res_format_ext(cqc, 2),
		  FW_CQ_COMPRESSION);
	REFUSE_CQ(prm_cqc_set_cqe_comp_en(cqc, 1); prm_cqc_set_cqe_sz(cqc, PRM_CQC_CQE_SZ_128B),
		  FW_CQ_COMPRESSION);
	REFUSE_CQ(prm_cqc_set_cq_period_mode(cqc, 1), FW_CQ_MODERATION);
	REFUSE_CQ(prm_cqc_set_cq_timestamp_format(cqc, PRM_TS_FORMAT_REAL_TIME), FW_TS_FORMAT);
	/* The last place that fits. */
	REFUSE_CQ(prm_create_cq_in_set_cq_umem_offset(&in, FIX_MEM_BYTES - 16 * 64), FW_OK);
	REFUSE_CQ(prm_cqc_set_dbr_addr(cqc, FIX_MEM_BYTES - 8), FW_OK);
	REFUSE_CQ(prm_cqc_set_cqe_sz(cqc, PRM_CQC_CQE_SZ_128B), FW_OK);
	REFUSE_CQ(prm_cqc_set_cqe_sz(cqc, PRM_CQC_CQE_SZ_128B_PAD), FW_OK);
	REFUSE_CQ(prm_cqc_set_cq_max_count(cqc, 8), FW_OK);
}

static void
test_cq_modify(void)
{
	struct prm_modify_cq_in in = {0};
	struct prm_cqc *cqc = prm_modify_cq_in_cq_context(&in);
	const struct prm_cqc *out = prm_query_cq_out_cq_context((void *)f.out);
	struct emu_cq *cq = emu_obj_find(f.dev, EMU_OBJ_CQ, cqn);

	prm_modify_cq_in_set_opcode(&in, PRM_CMD_OP_MODIFY_CQ);
	prm_modify_cq_in_set_cqn(&in, cqn);
	in.dw[3] = PRM_BE32(PRM_MODIFY_CQ_FIELD_C_EQN | PRM_MODIFY_CQ_FIELD_OI);
	prm_cqc_set_oi(cqc, 1);
	prm_cqc_set_c_eqn(cqc, f.eqn + 3);
	CHECK_EQ(fix_exec(&f, &in, sizeof(in)), 0);
	cq->pi = 0x1000005;
	cq->dbrec[0] = PRM_BE32(0x123);
	CHECK_EQ(fix_simple(&f, PRM_CMD_OP_QUERY_CQ, cqn), 0);
	CHECK_EQ(prm_cqc_get_c_eqn(out), f.eqn + 3);
	CHECK_EQ(prm_cqc_get_producer_counter(out), 5);
	CHECK_EQ(prm_cqc_get_consumer_counter(out), 0x123);
	CHECK(cq->overrun_ignore && cq->eqn == f.eqn + 3);
	prm_cqc_set_c_eqn(cqc, 1);
	CHECK_EQ(fix_exec(&f, &in, sizeof(in)), fix_code(FW_NO_EQ));
	prm_cqc_set_cq_period(cqc, 16);
	prm_cqc_set_cq_max_count(cqc, 8);
	in.dw[3] = PRM_BE32(PRM_MODIFY_CQ_FIELD_PERIOD | PRM_MODIFY_CQ_FIELD_MAX_COUNT);
	CHECK_EQ(fix_exec(&f, &in, sizeof(in)), 0);
	CHECK(cq->period_us == 16 && cq->max_count == 8 && cq->overrun_ignore);
	in.dw[3] = PRM_BE32(PRM_MODIFY_CQ_FIELD_STATUS);
	CHECK_EQ(fix_exec(&f, &in, sizeof(in)), fix_code(FW_CQ_FIELD));
	prm_modify_cq_in_set_op_mod(&in, 2);
	CHECK_EQ(fix_exec(&f, &in, sizeof(in)), fix_code(FW_OP_MOD));
	cq->pi = 0;
	cq->dbrec[0] = 0;
}

static void
test_cq_resize(void)
{
	struct prm_modify_cq_in in = {0};
	struct prm_cqc *cqc = prm_modify_cq_in_cq_context(&in);
	struct emu_cq *cq = emu_obj_find(f.dev, EMU_OBJ_CQ, cqn);
	uint8_t *ring = cq->ring;
	uint32_t refs = readonly->obj.refs;

	prm_modify_cq_in_set_opcode(&in, PRM_CMD_OP_MODIFY_CQ);
	prm_modify_cq_in_set_op_mod(&in, 1);
	prm_modify_cq_in_set_cqn(&in, cqn);
	prm_modify_cq_in_set_cq_umem_id(&in, f.umem->obj.id);
	prm_modify_cq_in_set_cq_umem_offset(&in, FIX_DATA_OFFSET);
	prm_cqc_set_log_cq_size(cqc, 6);
	in.dw[3] = PRM_BE32(PRM_RESIZE_CQ_FIELD_LOG_CQ_SIZE);
	CHECK_EQ(fix_exec(&f, &in, sizeof(in)), fix_code(FW_CQ_RESIZE));
	in.dw[3] = PRM_BE32(PRM_RESIZE_CQ_FIELD_LOG_CQ_SIZE | PRM_RESIZE_CQ_FIELD_UMEM | 0x100);
	CHECK_EQ(fix_exec(&f, &in, sizeof(in)), fix_code(FW_CQ_RESIZE));
	in.dw[3] = PRM_BE32(PRM_RESIZE_CQ_FIELD_LOG_CQ_SIZE | PRM_RESIZE_CQ_FIELD_UMEM);
	prm_cqc_set_cqe_sz(cqc, PRM_CQC_CQE_SZ_128B);
	CHECK_EQ(fix_exec(&f, &in, sizeof(in)), fix_code(FW_CQ_CQE_SIZE));
	prm_cqc_set_cqe_sz(cqc, PRM_CQC_CQE_SZ_64B);
	prm_modify_cq_in_set_cq_umem_id(&in, readonly->obj.id);
	CHECK_EQ(fix_exec(&f, &in, sizeof(in)), fix_code(FW_CQ_READ_ONLY));
	prm_modify_cq_in_set_cq_umem_id(&in, f.umem->obj.id);
	prm_modify_cq_in_set_cq_umem_offset(&in, FIX_MEM_BYTES - 64);
	CHECK_EQ(fix_exec(&f, &in, sizeof(in)), fix_code(FW_CQ_RANGE));
	CHECK(cq->ring == ring && readonly->obj.refs == refs);
	CHECK_EQ(fix_simple(&f, PRM_CMD_OP_QUERY_CQ, cqn), 0);
}

#define REFUSE_SQ(change, why) \
	do { \
		struct prm_create_sq_in in; \
		struct prm_sqc *sqc = prm_create_sq_in_ctx(&in); \
		struct prm_wq *wq = prm_sqc_wq(sqc); \
		(void)wq; \
		fix_sq_in(&f, &in, cqn, tisn); \
		change; \
		CHECK_EQ(fix_exec(&f, &in, sizeof(in)), fix_code(why)); \
	} while (0)

static void
test_sq(void)
{
	REFUSE_SQ(prm_sqc_set_cqn(sqc, 1), FW_NO_CQ);
	REFUSE_SQ(prm_sqc_set_tis_num_0(sqc, 1), FW_NO_TIS);
	/* Linux, create_aso_sq(); DPDK, mlx5_aso_sq_create(). */
	REFUSE_SQ((prm_sqc_set_tis_lst_sz(sqc, 0), prm_sqc_set_tis_num_0(sqc, 0)), FW_OK);
	REFUSE_SQ(prm_sqc_set_tis_lst_sz(sqc, 2), FW_SQ_TIS_COUNT);
	REFUSE_SQ(prm_sqc_set_hairpin(sqc, 1), FW_SQ_FEATURE);
	REFUSE_SQ(prm_sqc_set_allow_swp(sqc, 1), f.dev->profile->swp ? FW_OK : FW_SQ_FEATURE);
	REFUSE_SQ(prm_sqc_set_cd_master(sqc, 1), FW_SQ_FEATURE);
	REFUSE_SQ(prm_sqc_set_ts_format(sqc, PRM_TS_FORMAT_REAL_TIME), FW_TS_FORMAT);
	REFUSE_SQ(prm_wq_set_wq_type(wq, PRM_WQ_TYPE_LINKED_LIST), FW_WQ_TYPE);
	REFUSE_SQ(prm_wq_set_wq_signature(wq, 1), FW_WQ_FEATURE);
	REFUSE_SQ(prm_wq_set_end_padding_mode(wq, PRM_WQ_END_PADDING_ALIGN), FW_WQ_FEATURE);
	REFUSE_SQ(prm_wq_set_cd_slave(wq, 1), FW_WQ_FEATURE);
	REFUSE_SQ(prm_wq_set_log_wq_stride(wq, 5), FW_WQ_STRIDE);
	REFUSE_SQ(prm_wq_set_log_wq_stride(wq, 7), FW_WQ_STRIDE);
	REFUSE_SQ(prm_wq_set_hw_counter(wq, 1), FW_WQ_COUNTERS);
	REFUSE_SQ(prm_wq_set_page_offset(wq, 1), FW_WQ_PAGE_OFFSET);
	REFUSE_SQ(prm_wq_set_pd(wq, 1), FW_NO_PD);
	REFUSE_SQ(prm_wq_set_uar_page(wq, 1), FW_NO_UAR);
	REFUSE_SQ(prm_wq_set_wq_umem_id(wq, 1), FW_NO_UMEM);
	REFUSE_SQ(prm_wq_set_dbr_umem_id(wq, 1), FW_NO_DBR_UMEM);
	REFUSE_SQ(prm_wq_set_wq_umem_offset(wq, 32), FW_WQ_ALIGN);
	REFUSE_SQ(prm_wq_set_wq_umem_offset(wq, FIX_MEM_BYTES - 31 * 64), FW_WQ_RANGE);
	REFUSE_SQ(prm_wq_set_log_wq_sz(wq, 15), FW_WQ_RANGE);
	REFUSE_SQ(prm_wq_set_dbr_addr(wq, 12), FW_DBR_ALIGN);
	REFUSE_SQ(prm_wq_set_dbr_addr(wq, FIX_MEM_BYTES - 4), FW_DBR_ALIGN);
	REFUSE_SQ(prm_wq_set_dbr_addr(wq, FIX_MEM_BYTES), FW_DBR_RANGE);
	REFUSE_SQ(prm_wq_set_wq_umem_offset(wq, FIX_MEM_BYTES - 32 * 64), FW_OK);
}

#define REFUSE_RQ(change, why) \
	do { \
		struct prm_create_rq_in in; \
		struct prm_rqc *rqc = prm_create_rq_in_ctx(&in); \
		struct prm_wq *wq = prm_rqc_wq(rqc); \
		(void)wq; \
		fix_rq_in(&f, &in, cqn); \
		change; \
		CHECK_EQ(fix_exec(&f, &in, sizeof(in)), fix_code(why)); \
	} while (0)

static void
test_rq(void)
{
	REFUSE_RQ(prm_rqc_set_cqn(rqc, 1), FW_NO_CQ);
	REFUSE_RQ(prm_rqc_set_counter_set_id(rqc, 0xff), FW_NO_Q_COUNTER);
	REFUSE_RQ(prm_rqc_set_mem_rq_type(rqc, PRM_RQC_MEM_RQ_TYPE_RMP), FW_RQ_MEM_TYPE);
	REFUSE_RQ(prm_rqc_set_hairpin(rqc, 1), FW_RQ_FEATURE);
	REFUSE_RQ(prm_rqc_set_delay_drop_en(rqc, 1), FW_RQ_FEATURE);
	REFUSE_RQ(prm_wq_set_wq_type(wq, PRM_WQ_TYPE_LINKED_LIST_STRIDING), FW_WQ_LINKED);
	REFUSE_RQ(prm_wq_set_log_wqe_stride_size(wq, 1), FW_WQ_FEATURE);
	/* A striding WQE has a next segment beside its data. */
	REFUSE_RQ(prm_wq_set_wq_type(wq, PRM_WQ_TYPE_CYCLIC_STRIDING), FW_WQ_STRIDE);
	REFUSE_RQ(prm_wq_set_wq_type(wq, PRM_WQ_TYPE_CYCLIC_STRIDING);
		  prm_wq_set_log_wqe_num_of_strides(wq, 8), FW_WQ_STRIDES);
	REFUSE_RQ(prm_wq_set_wq_type(wq, PRM_WQ_TYPE_CYCLIC_STRIDING);
		  prm_wq_set_log_wqe_num_of_strides(wq, 10), FW_WQ_STRIDES);
	REFUSE_RQ(prm_wq_set_wq_type(wq, PRM_WQ_TYPE_CYCLIC_STRIDING);
		  prm_wq_set_log_wq_stride(wq, 5), FW_OK);
	REFUSE_RQ(prm_wq_set_log_wq_stride(wq, 3), FW_WQ_STRIDE);
	REFUSE_RQ(prm_wq_set_log_wq_stride(wq, 10), FW_WQ_STRIDE);
	REFUSE_RQ(prm_wq_set_pd(wq, 0), FW_NO_PD);
	REFUSE_RQ(prm_wq_set_log_wq_stride(wq, 9), FW_OK);
	/* Linux, core/en/params.c, rq_end_pad_mode(). */
	REFUSE_RQ(prm_wq_set_end_padding_mode(wq, PRM_WQ_END_PADDING_ALIGN), FW_OK);
	REFUSE_RQ(prm_wq_set_end_padding_mode(wq, 2), FW_WQ_FEATURE);
	REFUSE_RQ(prm_rqc_set_scatter_fcs(rqc, 1), FW_OK);
	CHECK(((struct emu_rq *)f.created)->scatter_fcs);
}

static void
test_rq_modify(void)
{
	struct prm_modify_rq_in in = {0};
	struct prm_rqc *rqc = prm_modify_rq_in_ctx(&in);
	struct emu_rq *rq = emu_obj_find(f.dev, EMU_OBJ_RQ, rqn);
	uint32_t first, second;

	CHECK_EQ(fix_simple(&f, PRM_CMD_OP_ALLOC_Q_COUNTER, 0), 0);
	first = fix_id(&f);
	CHECK_EQ(fix_simple(&f, PRM_CMD_OP_ALLOC_Q_COUNTER, 0), 0);
	second = fix_id(&f);
	prm_modify_rq_in_set_opcode(&in, PRM_CMD_OP_MODIFY_RQ);
	prm_modify_rq_in_set_rqn(&in, rqn);
	prm_modify_rq_in_set_modify_bitmask(&in, PRM_MODIFY_RQ_BITMASK_VSD |
						 PRM_MODIFY_RQ_BITMASK_RQ_COUNTER_SET_ID);
	CHECK(rq->vsd);
	prm_rqc_set_counter_set_id(rqc, first);
	CHECK_EQ(fix_exec(&f, &in, sizeof(in)), 0);
	CHECK(!rq->vsd && rq->q_counter->obj.id == first);
	prm_rqc_set_counter_set_id(rqc, second);
	CHECK_EQ(fix_exec(&f, &in, sizeof(in)), 0);
	CHECK_EQ(fix_simple(&f, PRM_CMD_OP_DEALLOC_Q_COUNTER, first), 0);
	CHECK_EQ(fix_simple(&f, PRM_CMD_OP_DEALLOC_Q_COUNTER, second), fix_code(FW_BUSY));
	prm_rqc_set_counter_set_id(rqc, first);
	CHECK_EQ(fix_exec(&f, &in, sizeof(in)), fix_code(FW_NO_Q_COUNTER));
	prm_rqc_set_counter_set_id(rqc, 0);
	CHECK_EQ(fix_exec(&f, &in, sizeof(in)), 0);
	CHECK(rq->q_counter == NULL);
	CHECK_EQ(fix_simple(&f, PRM_CMD_OP_DEALLOC_Q_COUNTER, second), 0);
	prm_modify_rq_in_set_modify_bitmask(&in, PRM_MODIFY_RQ_BITMASK_LWM);
	CHECK_EQ(fix_exec(&f, &in, sizeof(in)), fix_code(FW_QUEUE_FIELD));
}

static void
test_rqt(void)
{
	uint32_t list[8], buf[PRM_CREATE_RQT_IN_BYTES / 4 + 8];
	struct prm_rqtc *rqtc = prm_create_rqt_in_rqt_context((void *)buf);
	size_t len;

	for (unsigned i = 0; i < 8; i++)
		list[i] = rqn;
	CHECK_EQ(fix_exec(&f, buf, fix_rqt_in(buf, 8, list, 0)), fix_code(FW_RQT_SIZE));
	CHECK_EQ(fix_exec(&f, buf, fix_rqt_in(buf, 8, list, 3)), fix_code(FW_RQT_SIZE));
	CHECK_EQ(fix_exec(&f, buf, fix_rqt_in(buf, 4, list, 8)), fix_code(FW_RQT_SIZE));
	len = fix_rqt_in(buf, 8, list, 8);
	CHECK_EQ(fix_exec(&f, buf, len - 4), fix_code(FW_RQT_LIST));
	prm_rqtc_set_list_q_type(rqtc, PRM_RQTC_LIST_Q_TYPE_VIRTIO_NET_Q);
	CHECK_EQ(fix_exec(&f, buf, len), fix_code(FW_RQT_TYPE));
	list[7] = 1;
	CHECK_EQ(fix_exec(&f, buf, fix_rqt_in(buf, 8, list, 8)), fix_code(FW_NO_RQ));
	CHECK_EQ(emu_obj_count(f.dev, EMU_OBJ_RQT), 0);
	list[7] = rqn;
	CHECK_EQ(fix_exec(&f, buf, fix_rqt_in(buf, 8, list, 8)), 0);
	CHECK_EQ(((struct emu_obj *)emu_obj_find(f.dev, EMU_OBJ_RQ, rqn))->refs, 8);
	{
		uint32_t in[4] = {PRM_BE32((uint32_t)PRM_CMD_OP_QUERY_RQT << 16), 0,
				  PRM_BE32(f.created->id), 0};
		const struct prm_rqtc *out = prm_query_rqt_out_rqt_context((void *)f.out);
		uint32_t rqtn = f.created->id;

		CHECK_EQ(fix_exec_as(&f, f.ctx, in, sizeof(in), PRM_QUERY_RQT_OUT_BYTES + 32), 0);
		CHECK_EQ(prm_rqtc_get_rqt_actual_size(out), 8);
		CHECK_EQ(prm_rq_num_get_rq_num(prm_rqtc_rq_num_c(out, 7)), rqn);
		CHECK_EQ(fix_simple(&f, PRM_CMD_OP_DESTROY_RQT, rqtn), 0);
	}
	CHECK_EQ(((struct emu_obj *)emu_obj_find(f.dev, EMU_OBJ_RQ, rqn))->refs, 0);
}

#define REFUSE_TIR(change, why) \
	do { \
		struct prm_create_tir_in in; \
		struct prm_tirc *tirc = prm_create_tir_in_ctx(&in); \
		fix_tir_in(&f, &in, rqn); \
		change; \
		CHECK_EQ(fix_exec(&f, &in, sizeof(in)), fix_code(why)); \
	} while (0)

static void
test_tir(void)
{
	static const uint16_t other_us[] = {1, 7, 9, 31, 33, 1023, 1025, UINT16_MAX};
	uint32_t a = fix_rqt(&f, &rqn, 1), b = fix_rqt(&f, &rqn, 1), tirn;
	struct prm_modify_tir_in in = {0};
	struct prm_tirc *tirc = prm_modify_tir_in_ctx(&in);
	struct emu_tir *tir;

	REFUSE_TIR(prm_tirc_set_inline_rqn(tirc, 1), FW_NO_RQ);
	REFUSE_TIR(prm_tirc_set_transport_domain(tirc, 1), FW_NO_TD);
	REFUSE_TIR(prm_tirc_set_packet_merge_mask(tirc, PRM_TIRC_PACKET_MERGE_SHAMPO), FW_TIR_FEATURE);
	REFUSE_TIR((prm_tirc_set_packet_merge_mask(tirc, PRM_TIRC_PACKET_MERGE_IPV4_LRO),
		    prm_tirc_set_lro_max_ip_payload_size(tirc, 1)), FW_TIR_LRO);
	REFUSE_TIR((prm_tirc_set_packet_merge_mask(tirc, PRM_TIRC_PACKET_MERGE_IPV6_LRO),
		    prm_tirc_set_lro_timeout_period_usecs(tirc, 32)), FW_TIR_LRO);
	((struct emu_rq *)emu_obj_find(f.dev, EMU_OBJ_RQ, rqn))->scatter_fcs = true;
	REFUSE_TIR((prm_tirc_set_packet_merge_mask(tirc, PRM_TIRC_PACKET_MERGE_IPV4_LRO),
		    prm_tirc_set_lro_max_ip_payload_size(tirc, 1),
		    prm_tirc_set_lro_timeout_period_usecs(tirc, 32)), FW_TIR_LRO);
	((struct emu_rq *)emu_obj_find(f.dev, EMU_OBJ_RQ, rqn))->scatter_fcs = false;
	REFUSE_TIR((prm_tirc_set_packet_merge_mask(tirc, PRM_TIRC_PACKET_MERGE_IPV4_LRO),
		    prm_tirc_set_lro_max_ip_payload_size(tirc, 1),
		    prm_tirc_set_lro_timeout_period_usecs(tirc, 32)), FW_OK);
	CHECK_EQ(((struct emu_tir *)f.created)->lro_bytes, 256);
	CHECK_EQ(((struct emu_tir *)f.created)->lro_timeout_us, 32);
	for (size_t i = 0; i < sizeof(other_us) / sizeof(other_us[0]); i++)
		REFUSE_TIR((prm_tirc_set_packet_merge_mask(tirc, PRM_TIRC_PACKET_MERGE_IPV4_LRO),
			    prm_tirc_set_lro_max_ip_payload_size(tirc, 1),
			    prm_tirc_set_lro_timeout_period_usecs(tirc, other_us[i])), FW_TIR_LRO);
	REFUSE_TIR(prm_tirc_set_tls_en(tirc, 1), FW_TIR_FEATURE);
	REFUSE_TIR(prm_tirc_set_rx_hash_fn(tirc, PRM_RX_HASH_FN_INVERTED_XOR8), FW_OK);
	REFUSE_TIR(prm_tirc_set_disp_type(tirc, PRM_TIRC_DISP_TYPE_INDIRECT), FW_TIR_HASH);
	REFUSE_TIR((prm_tirc_set_disp_type(tirc, PRM_TIRC_DISP_TYPE_INDIRECT),
		    prm_tirc_set_rx_hash_fn(tirc, PRM_RX_HASH_FN_TOEPLITZ)), FW_NO_RQT);
	REFUSE_TIR((prm_tirc_set_disp_type(tirc, PRM_TIRC_DISP_TYPE_INDIRECT),
		    prm_tirc_set_rx_hash_fn(tirc, PRM_RX_HASH_FN_TOEPLITZ),
		    prm_tirc_set_indirect_table(tirc, a)), FW_OK);
	tir = (struct emu_tir *)f.created;
	tirn = tir->obj.id;

	prm_modify_tir_in_set_opcode(&in, PRM_CMD_OP_MODIFY_TIR);
	prm_modify_tir_in_set_tirn(&in, tirn);
	in.dw[5] = PRM_BE32(PRM_MODIFY_TIR_BITMASK_INDIRECT_TABLE | PRM_MODIFY_TIR_BITMASK_HASH);
	prm_tirc_set_indirect_table(tirc, b);
	prm_tirc_set_rx_hash_fn(tirc, PRM_RX_HASH_FN_TOEPLITZ);
	prm_tirc_set_rx_hash_symmetric(tirc, 1);
	memset(prm_tirc_rx_hash_toeplitz_key(tirc), 0x6d, 40);
	prm_rx_hash_field_select_set_selected_fields(
		prm_tirc_rx_hash_field_selector_outer(tirc), 0xf);
	CHECK_EQ(fix_exec(&f, &in, sizeof(in)), 0);
	CHECK(tir->rqt->obj.id == b && tir->symmetric && tir->key[39] == 0x6d);
	CHECK_EQ(tir->outer_select, 0xf);
	CHECK_EQ(fix_simple(&f, PRM_CMD_OP_DESTROY_RQT, a), 0);
	CHECK_EQ(fix_simple(&f, PRM_CMD_OP_DESTROY_RQT, b), fix_code(FW_BUSY));
	/* Refused as a whole: the hash stays what it was. */
	prm_tirc_set_indirect_table(tirc, a);
	memset(prm_tirc_rx_hash_toeplitz_key(tirc), 0x11, 40);
	CHECK_EQ(fix_exec(&f, &in, sizeof(in)), fix_code(FW_NO_RQT));
	CHECK(tir->key[0] == 0x6d);
	in.dw[5] = PRM_BE32(PRM_MODIFY_TIR_BITMASK_PACKET_MERGE);
	CHECK_EQ(fix_exec(&f, &in, sizeof(in)), fix_code(FW_TIR_FIELD));
	CHECK_EQ(fix_simple(&f, PRM_CMD_OP_QUERY_TIR, tirn), 0);
	CHECK_EQ(prm_tirc_get_indirect_table(prm_query_tir_out_tir_context((void *)f.out)), b);
}

static void
test_tis(void)
{
	struct prm_create_tis_in in;
	struct prm_modify_tis_in mod = {0};

	fix_tis_in(&f, &in);
	prm_tisc_set_lag_tx_port_affinity(prm_create_tis_in_ctx(&in), 1);
	CHECK_EQ(fix_exec(&f, &in, sizeof(in)), fix_code(FW_TIS_FEATURE));
	fix_tis_in(&f, &in);
	prm_tisc_set_transport_domain(prm_create_tis_in_ctx(&in), 0);
	CHECK_EQ(fix_exec(&f, &in, sizeof(in)), fix_code(FW_NO_TD));
	fix_tis_in(&f, &in);
	prm_tisc_set_pd(prm_create_tis_in_ctx(&in), 1);
	CHECK_EQ(fix_exec(&f, &in, sizeof(in)), fix_code(FW_NO_PD));
	prm_modify_tis_in_set_opcode(&mod, PRM_CMD_OP_MODIFY_TIS);
	prm_modify_tis_in_set_tisn(&mod, tisn);
	prm_modify_tis_bitmask_set_prio(prm_modify_tis_in_bitmask(&mod), 1);
	prm_tisc_set_prio(prm_modify_tis_in_ctx(&mod), 6);
	CHECK_EQ(fix_exec(&f, &mod, sizeof(mod)), 0);
	CHECK_EQ(fix_simple(&f, PRM_CMD_OP_QUERY_TIS, tisn), 0);
	CHECK_EQ(prm_tisc_get_prio(prm_query_tis_out_tis_context((void *)f.out)), 6);
}

int
main(void)
{
	fix_open(&f);
	CHECK(emu_umem_create(f.ctx, (uintptr_t)f.mem, FIX_MEM_BYTES, 0, &readonly) == 0);
	test_cq();
	cqn = fix_cq(&f);
	tisn = fix_tis(&f);
	rqn = fix_rq(&f, cqn);
	test_cq_modify();
	test_cq_resize();
	test_sq();
	test_rq();
	test_rq_modify();
	test_rqt();
	test_tir();
	test_tis();
	fix_close(&f);
	return fix_result("queues");
}
