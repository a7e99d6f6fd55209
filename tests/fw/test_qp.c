/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Queue pairs and RMPs as objects: each refusal, every transition from every state, the context. */
#include "fw_fixture.h"

static struct fix f;
static uint32_t cqn, rmpn;

static void
qp_in(struct prm_create_qp_in *in)
{
	struct prm_qpc *q = prm_create_qp_in_qpc(in);

	memset(in, 0, sizeof(*in));
	prm_create_qp_in_set_opcode(in, PRM_CMD_OP_CREATE_QP);
	prm_create_qp_in_set_wq_umem_id(in, f.umem->obj.id);
	prm_create_qp_in_set_wq_umem_offset(in, FIX_SQ_OFFSET);
	prm_qpc_set_pm_state(q, PRM_QPC_PM_STATE_MIGRATED);
	prm_qpc_set_pd(q, f.pd);
	prm_qpc_set_log_rq_size(q, 4);
	prm_qpc_set_log_sq_size(q, 5);
	prm_qpc_set_uar_page(q, f.uar->obj.id);
	prm_qpc_set_cqn_snd(q, cqn);
	prm_qpc_set_cqn_rcv(q, cqn);
	prm_qpc_set_dbr_umem_id(q, f.umem->obj.id);
	prm_qpc_set_dbr_addr(q, FIX_DBREC_OFFSET + 128);
	prm_qpc_set_user_index(q, 0x123456);
}

static uint32_t
qp_new(void)
{
	struct prm_create_qp_in in;

	qp_in(&in);
	CHECK_EQ(fix_exec(&f, &in, sizeof(in)), 0);
	return fix_id(&f);
}

#define REFUSE_QP(change, why) \
	do { \
		struct prm_create_qp_in in; \
		struct prm_qpc *q = prm_create_qp_in_qpc(&in); \
		(void)q; \
		qp_in(&in); \
		change; \
		CHECK_EQ(fix_exec(&f, &in, sizeof(in)), fix_code(why)); \
		CHECK_EQ(*(uint8_t *)f.out, fw_syndrome_info(why)->status); \
		if (f.ret == 0) \
			CHECK_EQ(fix_simple(&f, PRM_CMD_OP_DESTROY_QP, fix_id(&f)), 0); \
	} while (0)

/* Behind the command a list of pages could stand: zeros are none. */
static void
test_longer_inbox(void)
{
	struct {
		struct prm_create_qp_in in;
		uint32_t pas[48];
	} m = {0};

	qp_in(&m.in);
	CHECK_EQ(fix_exec(&f, &m, sizeof(m)), 0);
	CHECK_EQ(fix_simple(&f, PRM_CMD_OP_DESTROY_QP, fix_id(&f)), 0);
	m.pas[47] = 1;
	CHECK_EQ(fix_exec(&f, &m, sizeof(m)), fix_code(FW_QP_NO_UMEM));
}

static void
test_create(void)
{
	REFUSE_QP((void)0, FW_OK);
	REFUSE_QP(prm_qpc_set_st(q, PRM_QPC_ST_UC), FW_OK);
	REFUSE_QP(prm_qpc_set_st(q, PRM_QPC_ST_UD), FW_OK);
	REFUSE_QP(prm_qpc_set_st(q, PRM_QPC_ST_XRC), FW_QP_SERVICE);
	REFUSE_QP(prm_qpc_set_st(q, PRM_QPC_ST_RAW_DATAGRAM), FW_QP_SERVICE);
	REFUSE_QP(prm_qpc_set_state(q, PRM_QPC_STATE_INIT), FW_STATE_NOT_RST);
	REFUSE_QP(prm_qpc_set_pm_state(q, PRM_QPC_PM_STATE_ARMED), FW_QP_FEATURE);
	REFUSE_QP(prm_qpc_set_wq_signature(q, 1), FW_QP_FEATURE);
	REFUSE_QP(prm_qpc_set_cd_master(q, 1), FW_QP_FEATURE);
	REFUSE_QP(prm_qpc_set_rlky(q, 1), FW_QP_FEATURE);
	REFUSE_QP(prm_qpc_set_cs_res(q, 1), FW_OK);
	REFUSE_QP(prm_qpc_set_cs_res(q, 2), FW_OK);
	REFUSE_QP(prm_qpc_set_cs_res(q, 3), FW_QP_FEATURE);
	REFUSE_QP(prm_qpc_set_cs_req(q, 0x11), FW_OK);
	REFUSE_QP(prm_qpc_set_cs_req(q, 0x22), FW_OK);
	REFUSE_QP(prm_qpc_set_cs_req(q, 0x12), FW_QP_FEATURE);
	REFUSE_QP({
		prm_qpc_set_st(q, PRM_QPC_ST_UD);
		prm_qpc_set_cs_res(q, 1);
	}, FW_QP_FEATURE);
	REFUSE_QP(prm_create_qp_in_set_input_qpn(&in, 5), FW_QP_FEATURE);
	REFUSE_QP(prm_qpc_set_ts_format(q, PRM_TS_FORMAT_REAL_TIME), FW_TS_FORMAT);
	REFUSE_QP(prm_qpc_set_packet_pacing_rate_limit_index(q, 1), FW_SQ_RATE_LIMIT);
	REFUSE_QP(prm_qpc_set_page_offset(q, 1), FW_WQ_PAGE_OFFSET);
	REFUSE_QP(prm_qpc_set_pd(q, 1), FW_NO_PD);
	REFUSE_QP(prm_qpc_set_cqn_snd(q, 1), FW_NO_CQ);
	REFUSE_QP(prm_qpc_set_cqn_rcv(q, 1), FW_NO_CQ);
	REFUSE_QP(prm_qpc_set_uar_page(q, 1), FW_NO_UAR);
	REFUSE_QP(prm_qpc_set_counter_set_id(q, 0xee), FW_NO_Q_COUNTER);
	REFUSE_QP(prm_qpc_set_rq_type(q, 2), FW_QP_RQ_TYPE);
	REFUSE_QP(prm_qpc_set_rq_type(q, PRM_QPC_RQ_TYPE_SRQ_RMP_XRQ), FW_NO_SRQ);
	REFUSE_QP({
		prm_qpc_set_rq_type(q, PRM_QPC_RQ_TYPE_SRQ_RMP_XRQ);
		prm_qpc_set_srqn_rmpn_xrqn(q, rmpn);
	}, FW_OK);
	REFUSE_QP(prm_create_qp_in_set_wq_umem_id(&in, 1), FW_NO_UMEM);
	REFUSE_QP(prm_qpc_set_dbr_umem_id(q, 1), FW_NO_DBR_UMEM);
	REFUSE_QP(prm_qpc_set_dbr_addr(q, 4), FW_DBR_ALIGN);
	REFUSE_QP(prm_qpc_set_log_rq_stride(q, 6), FW_WQ_STRIDE);
	/* A receive ring of 16 bytes would leave the send ring unaligned. */
	REFUSE_QP(prm_qpc_set_log_rq_size(q, 0), FW_WQ_ALIGN);
	REFUSE_QP(prm_create_qp_in_set_wq_umem_offset(&in, FIX_MEM_BYTES - 2048), FW_WQ_RANGE);
	REFUSE_QP(prm_create_qp_in_set_wq_umem_offset(&in, FIX_MEM_BYTES - 2048 - 256), FW_OK);
	/* Without rings no umem is looked at. */
	REFUSE_QP({
		prm_qpc_set_no_sq(q, 1);
		prm_qpc_set_rq_type(q, PRM_QPC_RQ_TYPE_ZERO_SIZE_RQ);
		prm_create_qp_in_set_wq_umem_id(&in, 0);
	}, FW_OK);
}

/* The modify commands share one layout but for the short ones. */
static uint32_t
go(uint32_t qpn, uint16_t opcode, uint32_t opt, const struct prm_qpc *q)
{
	struct prm_rst2init_qp_in in = {0};

	if (opcode == PRM_CMD_OP_2ERR_QP || opcode == PRM_CMD_OP_2RST_QP)
		return fix_simple(&f, opcode, qpn);
	prm_rst2init_qp_in_set_opcode(&in, opcode);
	prm_rst2init_qp_in_set_qpn(&in, qpn);
	prm_rst2init_qp_in_set_opt_param_mask(&in, opt);
	*prm_rst2init_qp_in_qpc(&in) = *q;
	return fix_exec(&f, &in, sizeof(in));
}

static struct prm_qpc
lawful(void)
{
	struct prm_qpc q = {0};
	struct prm_ads *path = prm_qpc_primary_address_path(&q);

	prm_ads_set_vhca_port_num(path, 1);
	prm_ads_set_src_addr_index(path, 1);
	prm_ads_set_hop_limit(path, 64);
	prm_ads_set_udp_sport(path, 0xc001);
	prm_ads_set_ack_timeout(path, 14);
	(void)emu_port_gid(f.dev, 1, prm_ads_rgid_rip(path));
	prm_ads_set_rmac_47_32(path, 0x0102);
	prm_ads_set_rmac_31_0(path, 0x03040506);
	prm_qpc_set_mtu(&q, PRM_QPC_MTU_1K_BYTES);
	prm_qpc_set_log_msg_max(&q, 30);
	prm_qpc_set_remote_qpn(&q, 0xabcdef);
	prm_qpc_set_next_rcv_psn(&q, 0x111111);
	prm_qpc_set_next_send_psn(&q, 0x222222);
	prm_qpc_set_log_rra_max(&q, 4);
	prm_qpc_set_log_sra_max(&q, 3);
	prm_qpc_set_min_rnr_nak(&q, 12);
	prm_qpc_set_retry_count(&q, 7);
	prm_qpc_set_rnr_retry(&q, 6);
	prm_qpc_set_rre(&q, 1);
	prm_qpc_set_q_key(&q, 0x11223344);
	return q;
}

static unsigned
state_of(uint32_t qpn)
{
	CHECK_EQ(fix_simple(&f, PRM_CMD_OP_QUERY_QP, qpn), 0);
	return prm_qpc_get_state(prm_query_qp_out_qpc((void *)f.out));
}

enum { RST = 0, INIT = 1, RTR = 2, RTS = 3, SQER = 4, ERR = 6 };

/* By lawful steps; a send queue in error is what the engine makes of it. */
static void
bring(uint32_t qpn, unsigned to)
{
	struct prm_qpc q = lawful();

	CHECK_EQ(go(qpn, PRM_CMD_OP_2RST_QP, 0, &q), 0);
	if (to == ERR)
		CHECK_EQ(go(qpn, PRM_CMD_OP_2ERR_QP, 0, &q), 0);
	if (to >= INIT && to <= SQER)
		CHECK_EQ(go(qpn, PRM_CMD_OP_RST2INIT_QP, 0, &q), 0);
	if (to >= RTR && to <= SQER)
		CHECK_EQ(go(qpn, PRM_CMD_OP_INIT2RTR_QP, 0, &q), 0);
	if (to >= RTS && to <= SQER)
		CHECK_EQ(go(qpn, PRM_CMD_OP_RTR2RTS_QP, 0, &q), 0);
	if (to == SQER)
		((struct emu_qp *)emu_obj_find(f.dev, EMU_OBJ_QP, qpn))->state = SQER;
	CHECK_EQ(state_of(qpn), to);
}

/* As DPDK's mlx5_devx_cmd_create_qp() has them: no RQ, no SQ, neither. What an existing queue needs stays needed. */
static void
test_absent_queues(void)
{
	uint32_t qpn;

	REFUSE_QP({
		prm_qpc_set_rq_type(q, PRM_QPC_RQ_TYPE_ZERO_SIZE_RQ);
		prm_qpc_set_cqn_rcv(q, 0);
	}, FW_OK);
	REFUSE_QP({
		prm_qpc_set_no_sq(q, 1);
		prm_qpc_set_cqn_snd(q, 0);
	}, FW_OK);
	REFUSE_QP(prm_qpc_set_cqn_snd(q, 0), FW_NO_CQ);
	REFUSE_QP(prm_qpc_set_cqn_rcv(q, 0), FW_NO_CQ);
	REFUSE_QP({
		prm_qpc_set_no_sq(q, 1);
		prm_qpc_set_uar_page(q, 0);
	}, FW_NO_UAR);
	REFUSE_QP({
		prm_qpc_set_no_sq(q, 1);
		prm_qpc_set_dbr_umem_id(q, 0);
	}, FW_NO_DBR_UMEM);
	/* Given all the same, they must exist. */
	REFUSE_QP({
		prm_qpc_set_no_sq(q, 1);
		prm_qpc_set_cqn_snd(q, 1);
	}, FW_NO_CQ);
	for (int again = 0; again < 2; again++) {
		struct prm_create_qp_in in = {0};
		struct prm_qpc *q = prm_create_qp_in_qpc(&in), set = lawful();

		prm_create_qp_in_set_opcode(&in, PRM_CMD_OP_CREATE_QP);
		prm_qpc_set_pm_state(q, PRM_QPC_PM_STATE_MIGRATED);
		prm_qpc_set_pd(q, f.pd);
		prm_qpc_set_no_sq(q, 1);
		prm_qpc_set_rq_type(q, PRM_QPC_RQ_TYPE_ZERO_SIZE_RQ);
		CHECK_EQ(fix_exec(&f, &in, sizeof(in)), 0);
		qpn = fix_id(&f);
		CHECK_EQ(go(qpn, PRM_CMD_OP_RST2INIT_QP, 0, &set), 0);
		CHECK_EQ(go(qpn, PRM_CMD_OP_INIT2RTR_QP, 0, &set), 0);
		CHECK_EQ(go(qpn, PRM_CMD_OP_RTR2RTS_QP, 0, &set), 0);
		CHECK_EQ(state_of(qpn), RTS);
		CHECK_EQ(fix_simple(&f, PRM_CMD_OP_2ERR_QP, qpn), 0);
		CHECK_EQ(fix_simple(&f, PRM_CMD_OP_DESTROY_QP, qpn), 0);
	}
}

static void
test_transitions(void)
{
	static const uint8_t states[] = {RST, INIT, RTR, RTS, SQER, ERR};
	/* As the PRM's table of transitions has them; not the emulator's own. */
	static const struct {
		uint16_t opcode;
		int from; /* -1: any */
		uint8_t to;
	} t[] = {
		{PRM_CMD_OP_RST2INIT_QP, RST, INIT},  {PRM_CMD_OP_INIT2INIT_QP, INIT, INIT},
		{PRM_CMD_OP_INIT2RTR_QP, INIT, RTR},  {PRM_CMD_OP_RTR2RTS_QP, RTR, RTS},
		{PRM_CMD_OP_RTS2RTS_QP, RTS, RTS},    {PRM_CMD_OP_SQERR2RTS_QP, SQER, RTS},
		{PRM_CMD_OP_2ERR_QP, -1, ERR},	      {PRM_CMD_OP_2RST_QP, -1, RST},
	};
	uint32_t qpn = qp_new();
	struct prm_qpc q = lawful();

	for (unsigned i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		for (unsigned s = 0; s < sizeof(states); s++) {
			bool may = t[i].from < 0 || t[i].from == states[s];

			bring(qpn, states[s]);
			CHECK_EQ(go(qpn, t[i].opcode, 0, &q), may ? 0 : fix_code(FW_QP_STATE));
			CHECK_EQ(state_of(qpn), may ? t[i].to : states[s]);
		}
	CHECK_EQ(fix_simple(&f, PRM_CMD_OP_DESTROY_QP, qpn), 0);
	CHECK_EQ(fix_simple(&f, PRM_CMD_OP_2RST_QP, qpn), fix_code(FW_NO_OBJECT));
}

#define REFUSE_RTR(change, why) \
	do { \
		struct prm_qpc q = lawful(); \
		struct prm_ads *path = prm_qpc_primary_address_path(&q); \
		uint32_t opt = 0; \
		(void)path; \
		(void)opt; \
		change; \
		bring(qpn, INIT); \
		CHECK_EQ(go(qpn, PRM_CMD_OP_INIT2RTR_QP, opt, &q), fix_code(why)); \
		CHECK_EQ(state_of(qpn), (why) == FW_OK ? RTR : INIT); \
	} while (0)

static void
test_parameters(void)
{
	uint32_t qpn = qp_new();
	struct prm_qpc q = lawful();

	REFUSE_RTR(prm_qpc_set_mtu(&q, 0), FW_QP_MTU);
	REFUSE_RTR(prm_qpc_set_mtu(&q, 6), FW_QP_MTU);
	REFUSE_RTR(prm_qpc_set_log_msg_max(&q, 31), FW_QP_MSG);
	REFUSE_RTR(prm_qpc_set_log_rra_max(&q, 5), FW_QP_DEPTH);
	REFUSE_RTR(prm_ads_set_src_addr_index(path, 2), FW_QP_PATH);
	REFUSE_RTR(prm_ads_set_src_addr_index(path, 0), FW_QP_PATH); /* RoCE v1 with a UDP port */
	REFUSE_RTR(prm_ads_set_hop_limit(path, 0), FW_OK); /* rdma-core, dr_devx_modify_qp_init2rtr() */
	REFUSE_RTR(opt = PRM_QP_OPTPAR_ALT_ADDR_PATH, FW_QP_OPTIONAL);
	REFUSE_RTR(opt = 0x80000000u, FW_QP_OPTIONAL);
	REFUSE_RTR(opt = PRM_QP_OPTPAR_RWE, FW_OK);
	/* A forced loopback needs no addresses. */
	REFUSE_RTR({
		memset(path, 0, sizeof(*path));
		prm_ads_set_fl(path, 1);
	}, FW_OK);
	bring(qpn, RST);
	prm_ads_set_vhca_port_num(prm_qpc_primary_address_path(&q), 2);
	CHECK_EQ(go(qpn, PRM_CMD_OP_RST2INIT_QP, 0, &q), fix_code(FW_QP_PATH));
	prm_ads_set_vhca_port_num(prm_qpc_primary_address_path(&q), 1);
	prm_ads_set_pkey_index(prm_qpc_primary_address_path(&q), 1);
	CHECK_EQ(go(qpn, PRM_CMD_OP_RST2INIT_QP, 0, &q), fix_code(FW_QP_PATH));
	bring(qpn, RTR);
	prm_qpc_set_log_sra_max(&q, 5);
	CHECK_EQ(go(qpn, PRM_CMD_OP_RTR2RTS_QP, 0, &q), fix_code(FW_QP_DEPTH));
	CHECK_EQ(fix_simple(&f, PRM_CMD_OP_DESTROY_QP, qpn), 0);
}

/* The query returns the values that were set; other fields have not changed. */
static void
test_context(void)
{
	uint32_t qpn = qp_new();
	struct emu_qp *qp = emu_obj_find(f.dev, EMU_OBJ_QP, qpn);
	const struct prm_qpc *out = prm_query_qp_out_qpc((void *)f.out);
	struct prm_qpc q = lawful();

	bring(qpn, RTS);
	CHECK_EQ(prm_qpc_get_remote_qpn(out), 0xabcdef);
	CHECK_EQ(prm_qpc_get_next_rcv_psn(out), 0x111111);
	CHECK_EQ(prm_qpc_get_next_send_psn(out), 0x222222);
	CHECK_EQ(prm_qpc_get_user_index(out), 0x123456);
	CHECK_EQ(prm_qpc_get_rnr_retry(out), 6);
	CHECK_EQ(prm_qpc_get_q_key(out), 0x11223344);
	CHECK(prm_qpc_get_rre(out) && !prm_qpc_get_rwe(out));
	CHECK(qp->rre && !qp->rwe && qp->retry_count == 7 && qp->rnr_retry == 6);
	CHECK(qp->ack_timeout == 14 && qp->min_rnr_nak == 12 && qp->log_msg_max == 30);
	CHECK(memcmp(qp->path.rmac, "\1\2\3\4\5\6", 6) == 0 && qp->path.src_gid_index == 1);
	prm_qpc_set_rre(&q, 0);
	prm_qpc_set_rwe(&q, 1);
	prm_qpc_set_min_rnr_nak(&q, 3);
	prm_qpc_set_remote_qpn(&q, 7);
	CHECK_EQ(go(qpn, PRM_CMD_OP_RTS2RTS_QP, PRM_QP_OPTPAR_RWE, &q), 0);
	CHECK(qp->rre && qp->rwe && qp->min_rnr_nak == 12 && qp->remote_qpn == 0xabcdef);
	prm_qpc_set_rwe(&q, 0);
	CHECK_EQ(go(qpn, PRM_CMD_OP_RTS2RTS_QP, PRM_QP_OPTPAR_RRE | PRM_QP_OPTPAR_RNR_TIMEOUT, &q),
		 0);
	CHECK(!qp->rre && qp->rwe && qp->min_rnr_nak == 3);
	CHECK_EQ(go(qpn, PRM_CMD_OP_2RST_QP, 0, &q), 0);
	CHECK(qp->next_send_psn == 0 && qp->sq.ci == 0 && qp->rq.ci == 0);
	CHECK_EQ(fix_simple(&f, PRM_CMD_OP_DESTROY_QP, qpn), 0);
}

/* Objects that a QP uses exist until it is destroyed; another user cannot access it. */
static void
test_references(void)
{
	uint32_t qpn = qp_new();
	struct emu_ctx *other;
	struct prm_qp_2err_in in = {0};
	void *file;

	CHECK_EQ(fix_simple(&f, PRM_CMD_OP_DESTROY_CQ, cqn), fix_code(FW_BUSY));
	CHECK_EQ(fix_simple(&f, PRM_CMD_OP_DEALLOC_PD, f.pd), fix_code(FW_BUSY));
	other = fix_other_user(&f, &file);
	prm_qp_2err_in_set_opcode(&in, PRM_CMD_OP_2ERR_QP);
	prm_qp_2err_in_set_qpn(&in, qpn);
	CHECK_EQ(fix_exec_as(&f, other, &in, sizeof(in), 16), fix_code(FW_FOREIGN_OBJECT));
	emu_ctx_close(other);
	emu_file_unmap(file);
	CHECK_EQ(fix_simple(&f, PRM_CMD_OP_DESTROY_QP, qpn), 0);
}

static void
rmp_in(struct prm_create_rmp_in *in)
{
	struct prm_rmpc *rmpc = prm_create_rmp_in_ctx(in);
	struct prm_wq *wq = prm_rmpc_wq(rmpc);

	memset(in, 0, sizeof(*in));
	prm_create_rmp_in_set_opcode(in, PRM_CMD_OP_CREATE_RMP);
	prm_rmpc_set_state(rmpc, PRM_RMPC_STATE_RDY);
	prm_wq_set_pd(wq, f.pd);
	prm_wq_set_log_wq_stride(wq, 5);
	prm_wq_set_log_wq_sz(wq, 4);
	prm_wq_set_wq_umem_id(wq, f.umem->obj.id);
	prm_wq_set_wq_umem_offset(wq, FIX_RQ_OFFSET);
	prm_wq_set_dbr_umem_id(wq, f.umem->obj.id);
	prm_wq_set_dbr_addr(wq, FIX_DBREC_OFFSET + 192);
}

#define REFUSE_RMP(change, why) \
	do { \
		struct prm_create_rmp_in in; \
		struct prm_rmpc *rmpc = prm_create_rmp_in_ctx(&in); \
		struct prm_wq *wq = prm_rmpc_wq(rmpc); \
		(void)wq; \
		rmp_in(&in); \
		change; \
		CHECK_EQ(fix_exec(&f, &in, sizeof(in)), fix_code(why)); \
	} while (0)

static void
test_rmp(void)
{
	struct prm_modify_rmp_in mod = {0};
	struct prm_rmpc *rmpc = prm_modify_rmp_in_ctx(&mod);
	struct emu_srq *srq;

	REFUSE_RMP(prm_rmpc_set_state(rmpc, 0), FW_RMP_STATE);
	REFUSE_RMP(prm_wq_set_wq_type(wq, PRM_WQ_TYPE_CYCLIC_STRIDING), FW_WQ_TYPE);
	REFUSE_RMP(prm_wq_set_lwm(wq, 16), FW_RMP_LIMIT);
	REFUSE_RMP(prm_wq_set_pd(wq, 1), FW_NO_PD);
	REFUSE_RMP(prm_wq_set_wq_umem_id(wq, 1), FW_NO_UMEM);
	REFUSE_RMP(prm_wq_set_wq_umem_offset(wq, FIX_MEM_BYTES - 64), FW_WQ_RANGE);
	REFUSE_RMP((void)0, FW_OK);
	rmpn = fix_id(&f);
	srq = emu_obj_find(f.dev, EMU_OBJ_RMP, rmpn);
	CHECK(srq->linked && srq->log_wqes == 4 && srq->log_stride_bytes == 5 && srq->limit == 0);
	prm_modify_rmp_in_set_opcode(&mod, PRM_CMD_OP_MODIFY_RMP);
	prm_modify_rmp_in_set_rmpn(&mod, rmpn);
	prm_modify_rmp_in_set_rmp_state(&mod, PRM_RMPC_STATE_RDY);
	prm_rmpc_set_state(rmpc, PRM_RMPC_STATE_RDY);
	prm_rmp_bitmask_set_lwm(prm_modify_rmp_in_bitmask(&mod), 1);
	prm_wq_set_lwm(prm_rmpc_wq(rmpc), 16);
	CHECK_EQ(fix_exec(&f, &mod, sizeof(mod)), fix_code(FW_RMP_LIMIT));
	/* Nothing is posted: the limit is passed at once, and disarms itself. */
	prm_wq_set_lwm(prm_rmpc_wq(rmpc), 3);
	CHECK_EQ(fix_exec(&f, &mod, sizeof(mod)), 0);
	CHECK_EQ(srq->limit, 0);
	srq->dbrec[0] = PRM_BE32(5);
	CHECK_EQ(fix_exec(&f, &mod, sizeof(mod)), 0);
	CHECK_EQ(fix_simple(&f, PRM_CMD_OP_QUERY_RMP, rmpn), 0);
	CHECK_EQ(prm_wq_get_lwm(prm_rmpc_wq(prm_query_rmp_out_rmp_context((void *)f.out))), 3);
	prm_rmpc_set_state(rmpc, PRM_RMPC_STATE_ERR);
	CHECK_EQ(fix_exec(&f, &mod, sizeof(mod)), fix_code(FW_RMP_STATE));
	srq->dbrec[0] = 0;
}

int
main(void)
{
	fix_open(&f);
	cqn = fix_cq(&f);
	test_rmp();
	test_longer_inbox();
	test_create();
	test_absent_queues();
	test_transitions();
	test_parameters();
	test_context();
	test_references();
	fix_close(&f);
	return fix_result("qp");
}
