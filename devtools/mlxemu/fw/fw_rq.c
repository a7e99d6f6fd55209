/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Receive queues. */
#include <endian.h>

#include "fw.h"

/* From one data segment up to max_wqe_sz_rq (512 bytes). */
static const struct fw_wq_limits rq_limits = {
	.log_stride_min = 4, .log_stride_max = 9, .needs_uar = false, .may_stride = true,
};

static void
rq_release(struct emu_obj *obj)
{
	emu_dp_forget(obj);
	fw_holds_drop(&((struct fw_rq *)obj)->holds);
}

static int
rq_features_check(struct fw_cmd *c, const struct prm_rqc *rqc)
{
	if (prm_rqc_get_state(rqc) != PRM_RQC_STATE_RST)
		return fw_refuse(c, FW_STATE_NOT_RST, "%s",
				 prm_rqc_state_name(prm_rqc_get_state(rqc)));
	if (prm_rqc_get_mem_rq_type(rqc) != PRM_RQC_MEM_RQ_TYPE_INLINE)
		return fw_refuse(c, FW_RQ_MEM_TYPE, "%u", prm_rqc_get_mem_rq_type(rqc));
	if (prm_rqc_get_rlky(rqc) || prm_rqc_get_delay_drop_en(rqc) ||
	    prm_rqc_get_hairpin(rqc) || prm_rqc_get_hairpin_data_buffer_type(rqc) ||
	    prm_rqc_get_hairpin_peer_sq(rqc) || prm_rqc_get_rmpn(rqc) ||
	    prm_rqc_get_reservation_timeout(rqc))
		return fw_refuse(c, FW_RQ_FEATURE, "%s",
				 "rlky, delay drop, hairpin, RMP or SHAMPO");
	if (prm_rqc_get_scatter_fcs(rqc) && !c->dev->profile->scatter_fcs)
		return fw_refuse(c, FW_RQ_FEATURE, "%s", "scatter_fcs");
	return fw_ts_format_check(c, prm_rqc_get_ts_format(rqc));
}

/* Counter set 0: none. */
static int
rq_counter(struct fw_cmd *c, const struct prm_rqc *rqc, struct emu_q_counter **counter)
{
	uint32_t id = prm_rqc_get_counter_set_id(rqc);

	*counter = NULL;
	return id == 0 ? 0 : fw_need(c, EMU_OBJ_Q_COUNTER, id, FW_NO_Q_COUNTER, counter);
}

static void
rq_fill(struct fw_rq *fw, const struct prm_rqc *rqc, const struct fw_wq *wq)
{
	struct emu_rq *rq = &fw->rq;

	fw->rqc = *rqc;
	rq->state = EMU_QS_RST;
	rq->umem = wq->umem;
	rq->dbr_umem = wq->dbr_umem;
	rq->ring = wq->ring;
	rq->dbrec = wq->dbrec;
	rq->pd = wq->pd;
	rq->log_wqes = wq->log_size;
	rq->log_stride_bytes = wq->log_stride;
	rq->striding = wq->striding;
	rq->two_byte_shift = wq->two_byte_shift;
	rq->log_strides = wq->log_strides;
	rq->log_stride_size = wq->log_stride_size;
	rq->user_index = prm_rqc_get_user_index(rqc);
	rq->real_time = fw_ts_real(rq->obj.dev, prm_rqc_get_ts_format(rqc));
	rq->vsd = prm_rqc_get_vsd(rqc);
	rq->scatter_fcs = prm_rqc_get_scatter_fcs(rqc);
	rq->flush_in_error = prm_rqc_get_flush_in_error_en(rqc);
	rq->end_padding = wq->end_padding;
}

int
fw_create_rq(struct fw_cmd *c)
{
	struct prm_rqc *rqc = prm_create_rq_in_ctx(c->in);
	struct fw_wq wq = {0};
	struct emu_q_counter *counter;
	struct emu_cq *cq;
	struct fw_rq *rq;
	int ret = rq_features_check(c, rqc);

	if (ret == 0)
		ret = fw_need(c, EMU_OBJ_CQ, prm_rqc_get_cqn(rqc), FW_NO_CQ, &cq);
	if (ret == 0)
		ret = rq_counter(c, rqc, &counter);
	if (ret == 0)
		ret = fw_wq_check(c, prm_rqc_wq(rqc), &rq_limits, &wq);
	if (ret == 0)
		ret = fw_create(c, EMU_OBJ_RQ, sizeof(*rq), rq_release, &rq);
	if (ret != 0)
		return ret;
	fw_hold(&rq->holds, &cq->obj);
	fw_hold(&rq->holds, &wq.umem->obj);
	fw_hold(&rq->holds, &wq.dbr_umem->obj);
	fw_hold(&rq->holds, wq.pd_obj);
	fw_hold(&rq->holds, counter != NULL ? &counter->obj : NULL);
	rq_fill(rq, rqc, &wq);
	rq->rq.cq = cq;
	rq->rq.q_counter = counter;
	emu_dp_rq_changed(&rq->rq);
	return 0;
}

/* Changes the counter set of a queue and releases the old one. */
static int
rq_set_counter(struct fw_cmd *c, struct fw_rq *rq, const struct prm_rqc *rqc)
{
	struct emu_q_counter *counter;
	struct fw_holds *h = &rq->holds;
	int ret = rq_counter(c, rqc, &counter);

	if (ret != 0)
		return ret;
	/* The counter is the last reference in holds. */
	if (rq->rq.q_counter != NULL)
		emu_obj_unref(h->held[--h->count]);
	fw_hold(h, counter != NULL ? &counter->obj : NULL);
	rq->rq.q_counter = counter;
	prm_rqc_set_counter_set_id(&rq->rqc, prm_rqc_get_counter_set_id(rqc));
	return 0;
}

int
fw_modify_rq(struct fw_cmd *c)
{
	struct prm_modify_rq_in *in = c->in;
	const struct prm_rqc *rqc = prm_modify_rq_in_ctx(in);
	struct fw_rq *fw = (struct fw_rq *)c->obj;
	enum emu_queue_state to = prm_rqc_get_state(rqc);
	uint64_t fields = prm_modify_rq_in_get_modify_bitmask(in);
	const uint64_t known = PRM_MODIFY_RQ_BITMASK_VSD | PRM_MODIFY_RQ_BITMASK_SCATTER_FCS |
			       PRM_MODIFY_RQ_BITMASK_RQ_COUNTER_SET_ID;
	int ret;

	if ((fields & ~known) != 0)
		return fw_refuse(c, FW_QUEUE_FIELD, "0x%llx",
				 (unsigned long long)(fields & ~known));
	ret = fw_queue_transition(c, fw->rq.state, prm_modify_rq_in_get_rq_state(in), to);
	if (ret == 0 && (fields & PRM_MODIFY_RQ_BITMASK_RQ_COUNTER_SET_ID) != 0)
		ret = rq_set_counter(c, fw, rqc);
	if (ret != 0)
		return ret;
	if ((fields & PRM_MODIFY_RQ_BITMASK_VSD) != 0) {
		fw->rq.vsd = prm_rqc_get_vsd(rqc);
		prm_rqc_set_vsd(&fw->rqc, prm_rqc_get_vsd(rqc));
	}
	if ((fields & PRM_MODIFY_RQ_BITMASK_SCATTER_FCS) != 0) {
		fw->rq.scatter_fcs = prm_rqc_get_scatter_fcs(rqc);
		prm_rqc_set_scatter_fcs(&fw->rqc, prm_rqc_get_scatter_fcs(rqc));
	}
	if (fw->rq.state == to)
		return 0;
	/*
	 * Drivers clear the doorbell record before this transition.
	 * assumed: another value is a violation. Other reading: the card takes the WQEs up to there. Test:
	 * fw/test_fuzz.c.
	 */
	if (fw->rq.state == EMU_QS_RST && to == EMU_QS_RDY && fw->rq.dbrec[0] != 0)
		emu_audit(c->dev, EMU_AUDIT_BAD_DOORBELL,
			  "RQ 0x%x goes to RDY with a doorbell record of %u", c->obj->id,
			  be32toh(fw->rq.dbrec[0]));
	fw->rq.state = to;
	if (to == EMU_QS_RST)
		fw->rq.ci = fw->rq.strides_used = 0;
	emu_dp_rq_changed(&fw->rq);
	return 0;
}

int
fw_query_rq(struct fw_cmd *c)
{
	const struct fw_rq *fw = (const struct fw_rq *)c->obj;
	struct prm_rqc *rqc = prm_query_rq_out_rq_context(c->out);
	struct prm_wq *wq;

	*rqc = fw->rqc;
	prm_rqc_set_state(rqc, fw->rq.state);
	wq = prm_rqc_wq(rqc);
	prm_wq_set_hw_counter(wq, fw->rq.ci);
	prm_wq_set_sw_counter(wq, be32toh(fw->rq.dbrec[0]) & 0xffff);
	return 0;
}
