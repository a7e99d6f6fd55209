/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Send queues. */
#include "fw.h"

static const struct fw_wq_limits sq_limits = {
	.log_stride_min = 6, .log_stride_max = 6, .needs_uar = true,
};

/* NULL: without limit. */
static void
sq_pace(struct fw_sq *fw, struct emu_pp *pp)
{
	if (fw->pp != NULL)
		fw->pp->sqs--;
	if (pp != NULL)
		pp->sqs++;
	fw->pp = pp;
	fw->sq.pp = pp;
	prm_sqc_set_packet_pacing_rate_limit_index(&fw->sqc, pp != NULL ? (uint32_t)(pp - fw->sq.obj.dev->pp) : 0);
	emu_dp_sq_paced(&fw->sq);
}

static void
sq_release(struct emu_obj *obj)
{
	struct fw_sq *sq = (struct fw_sq *)obj;

	sq_pace(sq, NULL);
	emu_dp_forget(obj);
	sq->sq.uar->sqs--;
	fw_holds_drop(&sq->holds);
}

/*
 * Linux, mlx5e_create_sq(): the mode is written for VPORT_CONTEXT only.
 * assumed: CREATE_SQ with the mode otherwise, or with multi-packet WQEs without either capability, is refused. Other
 * reading: both are ignored. Test: fw/test_caps.c.
 */
static int
sq_caps_check(struct fw_cmd *c, const struct prm_sqc *sqc)
{
	const struct emu_profile *p = c->dev->profile;

	if (prm_sqc_get_min_wqe_inline_mode(sqc) &&
	    p->wqe_inline_mode != PRM_WQE_INLINE_MODE_CAP_VPORT_CONTEXT)
		return fw_refuse(c, FW_SQ_INLINE_MODE, "mode %u, wqe_inline_mode %s",
				 prm_sqc_get_min_wqe_inline_mode(sqc),
				 prm_wqe_inline_mode_cap_name(p->wqe_inline_mode));
	if (prm_sqc_get_allow_multi_pkt_send_wqe(sqc) && !p->multi_pkt_send_wqe &&
	    !p->enhanced_multi_pkt_send_wqe)
		return fw_refuse(c, FW_SQ_MULTI_PACKET, "%s", "allow_multi_pkt_send_wqe");
	return fw_ts_format_check(c, prm_sqc_get_ts_format(sqc));
}

/* Headers that SEND WQEs must carry inline: no SQ can have less than the card and its vport need. */
static uint8_t
sq_inline_mode(const struct emu_profile *p, const struct prm_sqc *sqc)
{
	unsigned mode = prm_sqc_get_min_wqe_inline_mode(sqc);

	if (p->wqe_inline_mode == PRM_WQE_INLINE_MODE_CAP_NOT_REQUIRED)
		return PRM_MIN_INLINE_MODE_NONE;
	if (p->wqe_inline_mode == PRM_WQE_INLINE_MODE_CAP_L2)
		return PRM_MIN_INLINE_MODE_L2;
	return (uint8_t)(mode > p->min_wqe_inline_mode ? mode : p->min_wqe_inline_mode);
}

static int
sq_features_check(struct fw_cmd *c, const struct prm_sqc *sqc)
{
	if (prm_sqc_get_state(sqc) != PRM_SQC_STATE_RST)
		return fw_refuse(c, FW_STATE_NOT_RST, "%s",
				 prm_sqc_state_name(prm_sqc_get_state(sqc)));
	if (prm_sqc_get_rlky(sqc) || prm_sqc_get_cd_master(sqc) || prm_sqc_get_reg_umr(sqc) ||
	    (prm_sqc_get_allow_swp(sqc) && !c->dev->profile->swp) || prm_sqc_get_hairpin(sqc) ||
	    prm_sqc_get_non_wire(sqc) || prm_sqc_get_static_sq_wq(sqc) ||
	    prm_sqc_get_hairpin_wq_buffer_type(sqc) || prm_sqc_get_hairpin_peer_rq(sqc) ||
	    prm_sqc_get_ts_cqe_to_dest_cqn(sqc) || prm_sqc_get_qos_queue_group_id(sqc))
		return fw_refuse(c, FW_SQ_FEATURE, "%s",
				 "rlky, cd_master, reg_umr, swp, hairpin, non_wire, static, "
				 "ts_cqe or QoS group");
	if (prm_sqc_get_tis_lst_sz(sqc) > 1)
		return fw_refuse(c, FW_SQ_TIS_COUNT, "%u", prm_sqc_get_tis_lst_sz(sqc));
	return sq_caps_check(c, sqc);
}

static void
sq_fill(struct fw_sq *fw, const struct prm_sqc *sqc, const struct fw_wq *wq)
{
	struct emu_sq *sq = &fw->sq;

	fw->sqc = *sqc;
	sq->state = EMU_QS_RST;
	sq->umem = wq->umem;
	sq->dbr_umem = wq->dbr_umem;
	sq->uar = wq->uar;
	sq->ring = wq->ring;
	sq->dbrec = wq->dbrec;
	sq->pd = wq->pd;
	sq->log_wqebbs = wq->log_size;
	sq->user_index = prm_sqc_get_user_index(sqc);
	sq->min_inline_mode = sq_inline_mode(sq->obj.dev->profile, sqc);
	sq->real_time = fw_ts_real(sq->obj.dev, prm_sqc_get_ts_format(sqc));
	sq->flush_in_error = prm_sqc_get_flush_in_error_en(sqc);
	sq->allow_swp = prm_sqc_get_allow_swp(sqc);
	sq->allow_mpw = prm_sqc_get_allow_multi_pkt_send_wqe(sqc);
}

int
fw_create_sq(struct fw_cmd *c)
{
	struct prm_sqc *sqc = prm_create_sq_in_ctx(c->in);
	struct fw_wq wq = {0};
	struct emu_cq *cq;
	struct emu_tis *tis = NULL;
	struct emu_pp *pp = NULL;
	struct fw_sq *sq;
	int ret = sq_features_check(c, sqc);

	if (ret == 0)
		ret = fw_pp_find(c, prm_sqc_get_packet_pacing_rate_limit_index(sqc), &pp);
	if (ret == 0)
		ret = fw_need(c, EMU_OBJ_CQ, prm_sqc_get_cqn(sqc), FW_NO_CQ, &cq);
	/* SQs that send no packets have none (Linux, lib/aso.c, create_aso_sq(); DPDK, mlx5_aso_sq_create()). */
	if (ret == 0 && prm_sqc_get_tis_lst_sz(sqc) != 0)
		ret = fw_need(c, EMU_OBJ_TIS, prm_sqc_get_tis_num_0(sqc), FW_NO_TIS, &tis);
	if (ret == 0)
		ret = fw_wq_check(c, prm_sqc_wq(sqc), &sq_limits, &wq);
	if (ret == 0)
		ret = fw_create(c, EMU_OBJ_SQ, sizeof(*sq), sq_release, &sq);
	if (ret != 0)
		return ret;
	fw_hold(&sq->holds, &cq->obj);
	fw_hold(&sq->holds, tis != NULL ? &tis->obj : NULL);
	fw_hold(&sq->holds, &wq.umem->obj);
	fw_hold(&sq->holds, &wq.dbr_umem->obj);
	fw_hold(&sq->holds, &wq.uar->obj);
	fw_hold(&sq->holds, wq.pd_obj);
	sq_fill(sq, sqc, &wq);
	sq->sq.cq = cq;
	sq->sq.tis = tis;
	wq.uar->sqs++;
	sq_pace(sq, pp);
	emu_dp_sq_changed(&sq->sq);
	return 0;
}

/*
 * MODIFY_SQ changes the entry "at any stage" (NVIDIA 5T Technology User Manual, Packet Pacing).
 * assumed: a reset takes the entry from the queue. Other reading: it stays. (Linux, modify_raw_packet_qp_sq(), writes
 * it again with the change to RDY.) Test: fw/test_pacing.c.
 */
int
fw_modify_sq(struct fw_cmd *c)
{
	struct prm_modify_sq_in *in = c->in;
	const struct prm_sqc *sqc = prm_modify_sq_in_ctx(in);
	struct fw_sq *fw = (struct fw_sq *)c->obj;
	enum emu_queue_state to = prm_sqc_get_state(sqc);
	uint64_t fields = prm_modify_sq_in_get_modify_bitmask(in);
	struct emu_pp *pp = to == EMU_QS_RST ? NULL : fw->pp;
	int ret;

	if ((fields & ~(uint64_t)PRM_MODIFY_SQ_BITMASK_RATE_LIMIT) != 0)
		return fw_refuse(c, FW_QUEUE_FIELD, "0x%llx", (unsigned long long)fields);
	ret = fw_queue_transition(c, fw->sq.state, prm_modify_sq_in_get_sq_state(in), to);
	if (ret == 0 && fields == PRM_MODIFY_SQ_BITMASK_RATE_LIMIT)
		ret = fw_pp_find(c, prm_sqc_get_packet_pacing_rate_limit_index(sqc), &pp);
	if (ret != 0)
		return ret;
	if (pp != fw->pp)
		sq_pace(fw, pp);
	if (fw->sq.state == to)
		return 0;
	fw->sq.state = to;
	if (to == EMU_QS_RST) {
		fw->sq.ci = 0;
		fw->sq.hw_pi = 0;
	}
	emu_dp_sq_changed(&fw->sq);
	return 0;
}

int
fw_query_sq(struct fw_cmd *c)
{
	const struct fw_sq *fw = (const struct fw_sq *)c->obj;
	struct prm_sqc *sqc = prm_query_sq_out_sq_context(c->out);
	struct prm_wq *wq;

	*sqc = fw->sqc;
	prm_sqc_set_state(sqc, fw->sq.state);
	wq = prm_sqc_wq(sqc);
	prm_wq_set_hw_counter(wq, fw->sq.ci);
	prm_wq_set_sw_counter(wq, fw->sq.hw_pi);
	return 0;
}
