/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Creation and query of RC, UC and UD queue pairs; dp/dp_qp*.c executes their WQEs. */
#include <endian.h>
#include <inttypes.h>

#include "fw.h"

#define LOG_SEG_BYTES 4u
#define LOG_WQEBB_BYTES 6u
#define SQ_ALIGN_BYTES 64u
#define LOG_STRIDE_MAX 5u /* max_wqe_sz_rq: 512 bytes */
/* qpc.cs_res and cs_req (Linux, include/linux/mlx5/qp.h): responder, requester write short data to the CQE. */
#define CS_RES_32 1u
#define CS_RES_64 2u
#define CS_REQ(size) ((size) << 4 | (size))

/* Objects that the QP context refers to. */
struct qp_parts {
	struct emu_obj *pd;
	struct emu_cq *scq, *rcq;
	struct emu_uar *uar;
	struct emu_umem *umem, *dbr_umem;
	volatile uint32_t *dbrec;
	struct emu_srq *srq;
	struct emu_q_counter *counter;
	uint8_t *rq_ring, *sq_ring;
};

static void
qp_release(struct emu_obj *obj)
{
	emu_dp_forget(obj);
	fw_holds_drop(&((struct fw_qp *)obj)->holds);
}

/*
 * mlx5_ib (qp.c) sets them for connected QPs only.
 * assumed: CREATE_QP with cs_req or cs_res otherwise is refused. Other reading: they are ignored. Test: fw/test_qp.c.
 */
static bool
cs_valid(unsigned cs_req, unsigned cs_res, unsigned st)
{
	if (cs_req == 0 && cs_res == 0)
		return true;
	return st != PRM_QPC_ST_UD && cs_res <= CS_RES_64 &&
	       (cs_req == 0 || cs_req == CS_REQ(CS_RES_32) || cs_req == CS_REQ(CS_RES_64));
}

static int
qp_features_check(struct fw_cmd *c, const struct prm_qpc *q)
{
	unsigned st = prm_qpc_get_st(q);

	if (st != PRM_QPC_ST_RC && st != PRM_QPC_ST_UC && st != PRM_QPC_ST_UD)
		return fw_refuse(c, FW_QP_SERVICE, "%s (0x%x)", prm_qpc_st_name(st), st);
	if (prm_qpc_get_state(q) != PRM_QPC_STATE_RST)
		return fw_refuse(c, FW_STATE_NOT_RST, "%s",
				 prm_qpc_state_name(prm_qpc_get_state(q)));
	if (prm_qpc_get_pm_state(q) != PRM_QPC_PM_STATE_MIGRATED)
		return fw_refuse(c, FW_QP_FEATURE, "pm_state %s: no alternate path",
				 prm_qpc_pm_state_name(prm_qpc_get_pm_state(q)));
	if (prm_qpc_get_wq_signature(q) || prm_qpc_get_end_padding_mode(q) ||
	    prm_qpc_get_offload_type(q) || prm_qpc_get_atomic_like_write_en(q) ||
	    prm_qpc_get_dual_write(q) || prm_qpc_get_drain_sigerr(q) ||
	    prm_qpc_get_multi_path(q) || prm_qpc_get_rlky(q) || prm_qpc_get_data_in_order(q) ||
	    prm_qpc_get_ulp_stateless_offload_mode(q) || prm_qpc_get_cd_master(q) ||
	    prm_qpc_get_cd_slave_send(q) || prm_qpc_get_cd_slave_receive(q))
		return fw_refuse(c, FW_QP_FEATURE, "%s",
				 "signature, padding, offload, drain, multi path, rlky, in order, "
				 "stateless offload or cross-channel");
	if (!cs_valid(prm_qpc_get_cs_req(q), prm_qpc_get_cs_res(q), st))
		return fw_refuse(c, FW_QP_FEATURE, "data in CQEs: cs_req 0x%x, cs_res 0x%x",
				 prm_qpc_get_cs_req(q), prm_qpc_get_cs_res(q));
	if (prm_qpc_get_packet_pacing_rate_limit_index(q))
		return fw_refuse(c, FW_SQ_RATE_LIMIT, "index %u",
				 prm_qpc_get_packet_pacing_rate_limit_index(q));
	if (prm_qpc_get_page_offset(q))
		return fw_refuse(c, FW_WQ_PAGE_OFFSET, "%u", prm_qpc_get_page_offset(q));
	return fw_ts_format_check(c, prm_qpc_get_ts_format(q));
}

static uint64_t
rq_bytes(const struct prm_qpc *q)
{
	if (prm_qpc_get_rq_type(q) != PRM_QPC_RQ_TYPE_REGULAR)
		return 0;
	return 1ull << (prm_qpc_get_log_rq_size(q) + prm_qpc_get_log_rq_stride(q) + LOG_SEG_BYTES);
}

static uint64_t
sq_bytes(const struct prm_qpc *q)
{
	return prm_qpc_get_no_sq(q) ? 0
				    : 1ull << (prm_qpc_get_log_sq_size(q) + LOG_WQEBB_BYTES);
}

/* The receive ring is at the start of the buffer, the send ring follows. */
static int
qp_rings_check(struct fw_cmd *c, const struct prm_qpc *q, struct qp_parts *p)
{
	uint64_t offset = prm_create_qp_in_get_wq_umem_offset(c->in);
	uint64_t rq = rq_bytes(q), sq = sq_bytes(q);
	uint8_t *ring;
	int ret;

	if (rq + sq == 0)
		return 0;
	ret = fw_need(c, EMU_OBJ_UMEM, prm_create_qp_in_get_wq_umem_id(c->in), FW_NO_UMEM,
		      &p->umem);
	if (ret != 0)
		return ret;
	if (prm_qpc_get_log_rq_stride(q) > LOG_STRIDE_MAX)
		return fw_refuse(c, FW_WQ_STRIDE, "log_rq_stride %u, at most %u",
				 prm_qpc_get_log_rq_stride(q), LOG_STRIDE_MAX);
	if ((p->umem->addr + offset + (sq != 0 ? rq : 0)) % SQ_ALIGN_BYTES != 0)
		return fw_refuse(c, FW_WQ_ALIGN, "umem 0x%x offset 0x%" PRIx64
				 ", send ring behind 0x%" PRIx64 " bytes",
				 p->umem->obj.id, offset, rq);
	ring = emu_umem_window(p->umem, offset, rq + sq);
	if (ring == NULL)
		return fw_refuse(c, FW_WQ_RANGE,
				 "umem 0x%x has 0x%" PRIx64 " bytes, wanted 0x%" PRIx64
				 "+0x%" PRIx64,
				 p->umem->obj.id, p->umem->len, offset, rq + sq);
	p->rq_ring = rq != 0 ? ring : NULL;
	p->sq_ring = sq != 0 ? ring + rq : NULL;
	return 0;
}

static int
qp_receive_check(struct fw_cmd *c, const struct prm_qpc *q, struct qp_parts *p)
{
	unsigned type = prm_qpc_get_rq_type(q);

	if (type == PRM_QPC_RQ_TYPE_SRQ_RMP_XRQ)
		return fw_need(c, EMU_OBJ_RMP, prm_qpc_get_srqn_rmpn_xrqn(q), FW_NO_SRQ, &p->srq);
	if (type != PRM_QPC_RQ_TYPE_REGULAR && type != PRM_QPC_RQ_TYPE_ZERO_SIZE_RQ)
		return fw_refuse(c, FW_QP_RQ_TYPE, "%u", type);
	return 0;
}

/* Counter set 0: none. */
static int
qp_counter(struct fw_cmd *c, uint32_t id, struct emu_q_counter **counter)
{
	return id == 0 ? 0 : fw_need(c, EMU_OBJ_Q_COUNTER, id, FW_NO_Q_COUNTER, counter);
}

/* A part that an absent queue would need may be left out, with number 0. */
static int
qp_part(struct fw_cmd *c, bool needed, enum emu_obj_type type, uint32_t id, enum fw_syndrome syndrome, void *out)
{
	return needed || id != 0 ? fw_need(c, type, id, syndrome, out) : 0;
}

/*
 * DPDK creates QPs without an RQ and its CQ (crypto, regex, compress), and one without any queue, UAR and doorbell
 * record (vdpa): common/mlx5/mlx5_devx_cmds.c, mlx5_devx_cmd_create_qp().
 */
static int
qp_parts_find(struct fw_cmd *c, const struct prm_qpc *q, struct qp_parts *p)
{
	bool sends = !prm_qpc_get_no_sq(q), receives = prm_qpc_get_rq_type(q) != PRM_QPC_RQ_TYPE_ZERO_SIZE_RQ;
	int ret = fw_need(c, EMU_OBJ_PD, prm_qpc_get_pd(q), FW_NO_PD, &p->pd);

	if (ret == 0)
		ret = qp_part(c, sends, EMU_OBJ_CQ, prm_qpc_get_cqn_snd(q), FW_NO_CQ, &p->scq);
	if (ret == 0)
		ret = qp_part(c, receives, EMU_OBJ_CQ, prm_qpc_get_cqn_rcv(q), FW_NO_CQ, &p->rcq);
	if (ret == 0)
		ret = qp_part(c, sends || receives, EMU_OBJ_UAR, prm_qpc_get_uar_page(q), FW_NO_UAR, &p->uar);
	if (ret == 0)
		ret = qp_receive_check(c, q, p);
	if (ret == 0)
		ret = qp_counter(c, prm_qpc_get_counter_set_id(q), &p->counter);
	if (ret == 0)
		ret = qp_rings_check(c, q, p);
	if (ret == 0 && (sends || receives || prm_qpc_get_dbr_umem_id(q) != 0))
		ret = fw_dbrec_check(c, prm_qpc_get_dbr_umem_id(q), prm_qpc_get_dbr_addr(q),
				     &p->dbr_umem, &p->dbrec);
	return ret;
}

/* SQ and RQ of a QP are not in the object tables; id, device and owner are those of the QP. */
static void
half_init(struct emu_obj *half, const struct emu_obj *qp, enum emu_obj_type type)
{
	half->type = type;
	half->id = qp->id;
	half->dev = qp->dev;
	half->ctx = qp->ctx;
}

static void
qp_fill_sq(struct emu_qp *qp, const struct prm_qpc *q, const struct qp_parts *p)
{
	struct emu_sq *sq = &qp->sq;

	half_init(&sq->obj, &qp->obj, EMU_OBJ_SQ);
	sq->qp = qp;
	sq->umem = p->umem;
	sq->dbr_umem = p->dbr_umem;
	sq->uar = p->uar;
	sq->cq = p->scq;
	sq->ring = p->sq_ring;
	sq->dbrec = p->dbrec;
	sq->pd = p->pd->id;
	sq->user_index = prm_qpc_get_user_index(q);
	sq->log_wqebbs = (uint8_t)prm_qpc_get_log_sq_size(q);
	sq->real_time = fw_ts_real(qp->obj.dev, prm_qpc_get_ts_format(q));
	sq->flush_in_error = true;
}

static void
qp_fill_rq(struct emu_qp *qp, const struct prm_qpc *q, const struct qp_parts *p)
{
	struct emu_rq *rq = &qp->rq;

	half_init(&rq->obj, &qp->obj, EMU_OBJ_RQ);
	rq->of_qp = true;
	rq->umem = p->umem;
	rq->dbr_umem = p->dbr_umem;
	rq->cq = p->rcq;
	rq->ring = p->rq_ring;
	rq->dbrec = p->dbrec;
	rq->pd = p->pd->id;
	rq->user_index = prm_qpc_get_user_index(q);
	rq->log_wqes = (uint8_t)prm_qpc_get_log_rq_size(q);
	rq->log_stride_bytes = (uint8_t)(prm_qpc_get_log_rq_stride(q) + LOG_SEG_BYTES);
	rq->real_time = fw_ts_real(qp->obj.dev, prm_qpc_get_ts_format(q));
	rq->flush_in_error = true;
	rq->q_counter = p->counter;
	qp->srq = p->srq;
}

static void
qp_hold(struct fw_qp *fw, const struct qp_parts *p)
{
	fw_hold(&fw->holds, p->pd);
	fw_hold(&fw->holds, p->scq != NULL ? &p->scq->obj : NULL);
	fw_hold(&fw->holds, p->rcq != NULL ? &p->rcq->obj : NULL);
	fw_hold(&fw->holds, p->uar != NULL ? &p->uar->obj : NULL);
	fw_hold(&fw->holds, p->umem != NULL ? &p->umem->obj : NULL);
	fw_hold(&fw->holds, p->dbr_umem != NULL ? &p->dbr_umem->obj : NULL);
	fw_hold(&fw->holds, p->srq != NULL ? &p->srq->obj : NULL);
	fw_hold(&fw->holds, p->counter != NULL ? &p->counter->obj : NULL);
}

/*
 * 64 bytes fit only the first half of a 128-byte CQE.
 * assumed: in a CQ of 64-byte CQEs cs_res 64 writes no data there. Other reading: up to 32 bytes. Test: dp/test_rc.c.
 */
static uint8_t
data_in_cqe(unsigned size, const struct emu_cq *cq)
{
	if (cq == NULL)
		return 0;
	if (size == CS_RES_64)
		return cq->log_cqe_bytes == 7 ? 64 : 0;
	return size == CS_RES_32 ? 32 : 0;
}

int
fw_create_qp(struct fw_cmd *c)
{
	const struct prm_qpc *q = prm_create_qp_in_qpc(c->in);
	struct qp_parts p = {0};
	struct fw_qp *fw;
	int ret = 0;

	if (!fw_in_ends_at(c, c->desc->in_bytes_min))
		ret = fw_refuse(c, FW_QP_NO_UMEM, "%s", "");
	if (ret == 0 && (prm_create_qp_in_get_input_qpn(c->in) || prm_create_qp_in_get_ece(c->in) ||
			 prm_create_qp_in_get_qpc_ext(c->in) ||
			 prm_create_qp_in_get_cmd_on_behalf(c->in)))
		ret = fw_refuse(c, FW_QP_FEATURE, "%s", "chosen qpn, ECE, extension or on behalf");
	if (ret == 0)
		ret = qp_features_check(c, q);
	if (ret == 0)
		ret = qp_parts_find(c, q, &p);
	if (ret == 0)
		ret = fw_create(c, EMU_OBJ_QP, sizeof(*fw), qp_release, &fw);
	if (ret != 0)
		return ret;
	qp_hold(fw, &p);
	fw->qpc = *q;
	fw->qp.st = (uint8_t)prm_qpc_get_st(q);
	fw->qp.pd = p.pd->id;
	fw->qp.user_index = prm_qpc_get_user_index(q);
	fw->qp.recv_in_cqe = data_in_cqe(prm_qpc_get_cs_res(q), p.rcq);
	fw->qp.answer_in_cqe = data_in_cqe(prm_qpc_get_cs_req(q) & 0xf, p.scq);
	qp_fill_sq(&fw->qp, q, &p);
	qp_fill_rq(&fw->qp, q, &p);
	emu_dp_qp_changed(&fw->qp);
	return 0;
}

int
fw_query_qp(struct fw_cmd *c)
{
	const struct fw_qp *fw = (const struct fw_qp *)c->obj;
	const struct emu_qp *qp = &fw->qp;
	struct prm_qpc *q = prm_query_qp_out_qpc(c->out);

	if (prm_query_qp_in_get_qpc_ext(c->in))
		return fw_refuse(c, FW_QP_FEATURE, "%s", "extended context");
	*q = fw->qpc;
	prm_qpc_set_state(q, qp->state);
	prm_qpc_set_next_send_psn(q, qp->next_send_psn & 0xffffff);
	prm_qpc_set_next_rcv_psn(q, qp->next_rcv_psn & 0xffffff);
	prm_qpc_set_comm_est(q, qp->comm_est);
	prm_qpc_set_hw_sq_wqebb_counter(q, qp->sq.ci);
	prm_qpc_set_sw_sq_wqebb_counter(q, qp->sq.hw_pi);
	prm_qpc_set_hw_rq_counter(q, qp->rq.ci);
	prm_qpc_set_sw_rq_counter(q, qp->rq.dbrec != NULL ? be32toh(qp->rq.dbrec[0]) & 0xffff : 0);
	return 0;
}
