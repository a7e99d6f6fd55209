/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Raw packet QPs (SQ with TIS, RQ with TIR) and RSS QPs (TIR only). */
#include <errno.h>
#include <string.h>

#include "uverbs_qp.h"

static int
raw_tis(struct abi_call *call, struct abi_handle *h)
{
	struct prm_create_tis_in in = {0};
	uint32_t tdn;
	int ret = abi_verbs_td(call, h, &tdn);

	if (ret != 0)
		return ret;
	prm_create_tis_in_set_opcode(&in, PRM_CMD_OP_CREATE_TIS);
	prm_tisc_set_transport_domain(prm_create_tis_in_ctx(&in), tdn);
	return abi_verbs_create(call, h, &in, sizeof(in), &h->verbs->qp.tis);
}

static int
raw_sq(struct abi_call *call, struct abi_handle *h, const struct abi_qp_req *req, uint32_t dbrec,
       uint64_t db_offset)
{
	struct prm_create_sq_in in = {0};
	struct prm_sqc *sqc = prm_create_sq_in_ctx(&in);
	struct prm_wq *wq = prm_sqc_wq(sqc);
	uint32_t ring;
	int format = abi_cq_ts_format(call, req->send_cq);
	int ret = format < 0 ? format
			     : abi_verbs_pin(call, h, req->uhw.sq_buf_addr,
					     (uint64_t)req->uhw.sq_wqe_count << 6, &ring);

	if (ret == 0)
		ret = raw_tis(call, h);
	if (ret != 0)
		return ret;
	prm_sqc_set_ts_format(sqc, (uint32_t)format);
	prm_create_sq_in_set_opcode(&in, PRM_CMD_OP_CREATE_SQ);
	prm_sqc_set_flush_in_error_en(sqc, 1);
	/* Linux, create_raw_packet_qp_sq(). */
	prm_sqc_set_allow_multi_pkt_send_wqe(sqc, call->dev->profile->multi_pkt_send_wqe);
	prm_sqc_set_allow_swp(sqc, call->dev->profile->swp);
	prm_sqc_set_user_index(sqc, req->uhw.uidx);
	prm_sqc_set_cqn(sqc, req->send_cq->obj->id);
	prm_sqc_set_tis_lst_sz(sqc, 1);
	prm_sqc_set_tis_num_0(sqc, h->verbs->qp.tis->id);
	prm_wq_set_wq_type(wq, PRM_WQ_TYPE_CYCLIC);
	prm_wq_set_pd(wq, req->pd->obj->id);
	prm_wq_set_uar_page(wq, req->uhw.bfreg_index);
	prm_wq_set_log_wq_stride(wq, 6);
	prm_wq_set_log_wq_sz(wq, abi_log2(req->uhw.sq_wqe_count));
	prm_wq_set_wq_umem_id(wq, ring);
	prm_wq_set_dbr_umem_id(wq, dbrec);
	prm_wq_set_dbr_addr(wq, db_offset);
	return abi_verbs_create(call, h, &in, sizeof(in), &h->verbs->qp.sq);
}

static int
raw_tir(struct abi_call *call, struct abi_handle *h, const struct abi_qp_req *req)
{
	struct prm_create_tir_in in = {0};
	struct prm_tirc *tirc = prm_create_tir_in_ctx(&in);
	uint32_t tdn;
	int ret = abi_verbs_td(call, h, &tdn);

	if (ret != 0)
		return ret;
	prm_create_tir_in_set_opcode(&in, PRM_CMD_OP_CREATE_TIR);
	prm_tirc_set_disp_type(tirc, PRM_TIRC_DISP_TYPE_DIRECT);
	prm_tirc_set_inline_rqn(tirc, h->verbs->qp.rq->id);
	prm_tirc_set_transport_domain(tirc, tdn);
	prm_tirc_set_tunneled_offload_en(
		tirc, (req->uhw.flags & MLX5_QP_FLAG_TUNNEL_OFFLOADS) != 0);
	return abi_verbs_create(call, h, &in, sizeof(in), &h->verbs->qp.tir);
}

static int
raw_rq(struct abi_call *call, struct abi_handle *h, const struct abi_qp_req *req, uint32_t dbrec,
       uint64_t db_offset)
{
	struct prm_create_rq_in in = {0};
	struct prm_rqc *rqc = prm_create_rq_in_ctx(&in);
	struct prm_wq *wq = prm_rqc_wq(rqc);
	uint32_t ring;
	int format = abi_cq_ts_format(call, req->recv_cq);
	int ret = format < 0 ? format
			     : abi_verbs_pin(call, h, req->uhw.buf_addr,
					     (uint64_t)req->uhw.rq_wqe_count
						     << req->uhw.rq_wqe_shift,
					     &ring);

	if (ret != 0)
		return ret;
	prm_rqc_set_ts_format(rqc, (uint32_t)format);
	prm_create_rq_in_set_opcode(&in, PRM_CMD_OP_CREATE_RQ);
	prm_rqc_set_vsd(rqc, (req->flags & IB_UVERBS_QP_CREATE_CVLAN_STRIPPING) == 0);
	prm_rqc_set_scatter_fcs(rqc, (req->flags & IB_UVERBS_QP_CREATE_SCATTER_FCS) != 0);
	prm_rqc_set_flush_in_error_en(rqc, 1);
	prm_rqc_set_user_index(rqc, req->uhw.uidx);
	prm_rqc_set_cqn(rqc, req->recv_cq->obj->id);
	prm_wq_set_wq_type(wq, PRM_WQ_TYPE_CYCLIC);
	prm_wq_set_pd(wq, req->pd->obj->id);
	prm_wq_set_log_wq_stride(wq, req->uhw.rq_wqe_shift);
	prm_wq_set_log_wq_sz(wq, abi_log2(req->uhw.rq_wqe_count));
	prm_wq_set_wq_umem_id(wq, ring);
	prm_wq_set_dbr_umem_id(wq, dbrec);
	prm_wq_set_dbr_addr(wq, db_offset);
	ret = abi_verbs_create(call, h, &in, sizeof(in), &h->verbs->qp.rq);
	return ret != 0 ? ret : raw_tir(call, h, req);
}

int
abi_qp_raw_make(struct abi_call *call, struct abi_handle *h, const struct abi_qp_req *req,
		struct mlx5_ib_create_qp_resp *resp)
{
	struct abi_qp *qp = &h->verbs->qp;
	uint64_t db_offset;
	uint32_t dbrec;
	int ret;

	qp->kind = ABI_QP_RAW;
	if (req->uhw.sq_wqe_count == 0 && req->uhw.rq_wqe_count == 0)
		return abi_refuse(call, -EINVAL, "neither a send nor a receive ring");
	ret = abi_verbs_pin_dbrec(call, h, req->uhw.db_addr, &dbrec, &db_offset);
	if (ret == 0 && req->uhw.sq_wqe_count != 0)
		ret = raw_sq(call, h, req, dbrec, db_offset);
	if (ret == 0 && req->uhw.rq_wqe_count != 0)
		ret = raw_rq(call, h, req, dbrec, db_offset);
	if (ret != 0)
		return ret;
	if (qp->sq != NULL) {
		resp->comp_mask |= MLX5_IB_CREATE_QP_RESP_MASK_TISN |
				   MLX5_IB_CREATE_QP_RESP_MASK_SQN;
		resp->tisn = qp->tis->id;
		resp->sqn = qp->sq->id;
	}
	if (qp->rq != NULL) {
		resp->comp_mask |= MLX5_IB_CREATE_QP_RESP_MASK_TIRN |
				   MLX5_IB_CREATE_QP_RESP_MASK_RQN;
		resp->tirn = qp->tir->id;
		resp->rqn = qp->rq->id;
	}
	qp->qpn = qp->sq != NULL ? qp->sq->id : qp->rq->id;
	return 0;
}

/* mlx5_ib: fields of IPv4 or IPv6, of TCP or UDP, not of both. */
static int
rss_fields(struct abi_call *call, uint64_t mask, struct prm_rx_hash_field_select *select)
{
	const uint64_t v4 = MLX5_RX_HASH_SRC_IPV4 | MLX5_RX_HASH_DST_IPV4;
	const uint64_t v6 = MLX5_RX_HASH_SRC_IPV6 | MLX5_RX_HASH_DST_IPV6;
	const uint64_t tcp = MLX5_RX_HASH_SRC_PORT_TCP | MLX5_RX_HASH_DST_PORT_TCP;
	const uint64_t udp = MLX5_RX_HASH_SRC_PORT_UDP | MLX5_RX_HASH_DST_PORT_UDP;
	uint32_t fields = 0;

	if ((mask & v4) != 0 && (mask & v6) != 0)
		return abi_refuse(call, -EINVAL, "hash of IPv4 and IPv6 fields");
	if ((mask & tcp) != 0 && (mask & udp) != 0)
		return abi_refuse(call, -EINVAL, "hash of TCP and UDP fields");
	if ((mask & (MLX5_RX_HASH_SRC_IPV4 | MLX5_RX_HASH_SRC_IPV6)) != 0)
		fields |= PRM_RX_HASH_FIELDS_SRC_IP;
	if ((mask & (MLX5_RX_HASH_DST_IPV4 | MLX5_RX_HASH_DST_IPV6)) != 0)
		fields |= PRM_RX_HASH_FIELDS_DST_IP;
	if ((mask & (MLX5_RX_HASH_SRC_PORT_TCP | MLX5_RX_HASH_SRC_PORT_UDP)) != 0)
		fields |= PRM_RX_HASH_FIELDS_L4_SPORT;
	if ((mask & (MLX5_RX_HASH_DST_PORT_TCP | MLX5_RX_HASH_DST_PORT_UDP)) != 0)
		fields |= PRM_RX_HASH_FIELDS_L4_DPORT;
	prm_rx_hash_field_select_set_l3_prot_type(
		select, (mask & v6) != 0 ? PRM_RX_HASH_L3_TYPE_IPV6 : PRM_RX_HASH_L3_TYPE_IPV4);
	prm_rx_hash_field_select_set_l4_prot_type(
		select, (mask & udp) != 0 ? PRM_RX_HASH_L4_TYPE_UDP : PRM_RX_HASH_L4_TYPE_TCP);
	prm_rx_hash_field_select_set_selected_fields(select, fields);
	return 0;
}

static int
rss_read(struct abi_call *call, uint32_t entries, struct mlx5_ib_create_qp_rss *rss)
{
	const uint32_t flags = MLX5_QP_FLAG_TUNNEL_OFFLOADS | MLX5_QP_FLAG_TIR_ALLOW_SELF_LB_UC |
			       MLX5_QP_FLAG_TIR_ALLOW_SELF_LB_MC;
	int ret = abi_in(call, UVERBS_ATTR_UHW_IN, rss, sizeof(*rss));

	if (ret != 0)
		return ret;
	if (rss->comp_mask != 0 || (rss->flags & ~flags) != 0)
		return abi_refuse(call, -EOPNOTSUPP, "driver flags 0x%x", rss->flags);
	if ((rss->rx_hash_fields_mask & MLX5_RX_HASH_INNER) != 0 &&
	    (rss->flags & MLX5_QP_FLAG_TUNNEL_OFFLOADS) == 0)
		return abi_refuse(call, -EOPNOTSUPP, "inner fields without tunnel offloads");
	if (rss->rx_hash_function != MLX5_RX_HASH_FUNC_TOEPLITZ)
		return abi_refuse(call, -EOPNOTSUPP, "hash function 0x%x", rss->rx_hash_function);
	if (rss->rx_key_len != 40)
		return abi_refuse(call, -EINVAL, "key of %u bytes", rss->rx_key_len);
	/* A table of one entry needs no hash. */
	if (rss->rx_hash_fields_mask == 0 && entries > 1)
		return abi_refuse(call, -EINVAL, "no hash fields for %u queues", entries);
	if ((rss->rx_hash_fields_mask & MLX5_RX_HASH_IPSEC_SPI) != 0)
		return abi_refuse(call, -EOPNOTSUPP, "hash of IPsec fields");
	return 0;
}

int
abi_qp_rss_make(struct abi_call *call, struct abi_handle *h, const struct abi_qp_req *req,
		struct mlx5_ib_create_qp_resp *resp)
{
	struct mlx5_ib_create_qp_rss rss;
	struct prm_create_tir_in in = {0};
	struct prm_tirc *tirc = prm_create_tir_in_ctx(&in);
	struct prm_rx_hash_field_select *select;
	uint32_t tdn;
	int ret = rss_read(call, ((struct emu_rqt *)req->ind_tbl->obj)->size, &rss);

	h->verbs->qp.kind = ABI_QP_RSS;
	if (ret == 0)
		ret = abi_verbs_td(call, h, &tdn);
	if (ret != 0)
		return ret;
	prm_create_tir_in_set_opcode(&in, PRM_CMD_OP_CREATE_TIR);
	prm_tirc_set_disp_type(tirc, PRM_TIRC_DISP_TYPE_INDIRECT);
	prm_tirc_set_indirect_table(tirc, req->ind_tbl->obj->id);
	prm_tirc_set_transport_domain(tirc, tdn);
	prm_tirc_set_tunneled_offload_en(tirc, (rss.flags & MLX5_QP_FLAG_TUNNEL_OFFLOADS) != 0);
	/* Inner headers of tunnelled packets if requested. */
	select = (rss.rx_hash_fields_mask & MLX5_RX_HASH_INNER) != 0
			 ? prm_tirc_rx_hash_field_selector_inner(tirc)
			 : prm_tirc_rx_hash_field_selector_outer(tirc);
	ret = rss_fields(call, rss.rx_hash_fields_mask, select);
	if (ret != 0)
		return ret;
	prm_tirc_set_rx_hash_fn(tirc, PRM_RX_HASH_FN_TOEPLITZ);
	prm_tirc_set_rx_hash_symmetric(tirc, 1);
	memcpy(prm_tirc_rx_hash_toeplitz_key(tirc), rss.rx_hash_key, 40);
	ret = abi_verbs_create(call, h, &in, sizeof(in), &h->verbs->qp.tir);
	if (ret != 0)
		return ret;
	resp->comp_mask = MLX5_IB_CREATE_QP_RESP_MASK_TIRN;
	resp->tirn = h->verbs->qp.tir->id;
	return 0;
}

int
abi_rq_set_state(struct abi_call *call, struct emu_obj *rq, unsigned to)
{
	const unsigned from = ((struct emu_rq *)rq)->state;
	struct prm_modify_rq_in in = {0};
	struct prm_modify_rq_out out = {0};

	prm_modify_rq_in_set_opcode(&in, PRM_CMD_OP_MODIFY_RQ);
	prm_modify_rq_in_set_rqn(&in, rq->id);
	prm_modify_rq_in_set_rq_state(&in, from);
	prm_rqc_set_state(prm_modify_rq_in_ctx(&in), to);
	return abi_kernel_cmd(call, &in, sizeof(in), &out, sizeof(out), NULL);
}

/* index below 0: the entry of the table of rates is not written. */
static int
sq_set_state(struct abi_call *call, struct emu_obj *sq, unsigned to, int index)
{
	const unsigned from = ((struct emu_sq *)sq)->state;
	struct prm_modify_sq_in in = {0};
	struct prm_modify_sq_out out = {0};

	prm_modify_sq_in_set_opcode(&in, PRM_CMD_OP_MODIFY_SQ);
	prm_modify_sq_in_set_sqn(&in, sq->id);
	prm_modify_sq_in_set_sq_state(&in, from);
	prm_sqc_set_state(prm_modify_sq_in_ctx(&in), to);
	if (index >= 0) {
		prm_modify_sq_in_set_modify_bitmask(&in, PRM_MODIFY_SQ_BITMASK_RATE_LIMIT);
		prm_sqc_set_packet_pacing_rate_limit_index(prm_modify_sq_in_ctx(&in), (uint32_t)index);
	}
	return abi_kernel_cmd(call, &in, sizeof(in), &out, sizeof(out), NULL);
}

/*
 * Linux, qp.c, modify_raw_packet_qp_sq(): the entry of the new rate is taken before and that of the old one given back
 * after the command; only a ready SQ has a rate.
 */
static int
sq_go(struct abi_call *call, struct abi_handle *h, unsigned to, const struct prm_set_pp_rate_limit_context *rate)
{
	static const struct prm_set_pp_rate_limit_context none;
	struct abi_qp *qp = &h->verbs->qp;
	struct emu_obj *pp = NULL;
	uint16_t index = 0;
	int ret = 0;

	if (to != EMU_QS_RDY)
		rate = &none;
	else if (rate == NULL)
		rate = &qp->rate;
	if (memcmp(rate, &qp->rate, sizeof(*rate)) == 0)
		return ((struct emu_sq *)qp->sq)->state == to ? 0 : sq_set_state(call, qp->sq, to, -1);
	if (prm_set_pp_rate_limit_context_get_rate_limit(rate) != 0)
		ret = abi_pp_new(call, rate, call->dev->profile->packet_pacing_uid ? EMU_UID_SHARED : 0, false, &pp,
				 &index);
	if (ret == 0)
		ret = sq_set_state(call, qp->sq, to, to == EMU_QS_RDY ? index : -1);
	if (ret != 0) {
		if (pp != NULL)
			(void)emu_obj_destroy(pp);
		return ret;
	}
	/* The entry of an SQ in error is freed nevertheless, after which the SQ cannot send. */
	abi_verbs_part_last(h, pp, qp->pp);
	qp->pp = pp;
	qp->rate = *rate;
	return 0;
}

/* mlx5_ib: the RQ is ready from INIT on, the SQ from RTS on. */
int
abi_qp_raw_modify(struct abi_call *call, struct abi_handle *h, unsigned to,
		  const struct prm_set_pp_rate_limit_context *rate)
{
	static const struct {
		uint8_t rq, sq;
	} rows[ABI_QPS_COUNT] = {
		[ABI_QPS_RESET] = {EMU_QS_RST, EMU_QS_RST},
		[ABI_QPS_INIT] = {EMU_QS_RDY, EMU_QS_RST},
		[ABI_QPS_RTR] = {EMU_QS_RDY, EMU_QS_RST},
		[ABI_QPS_RTS] = {EMU_QS_RDY, EMU_QS_RDY},
		[ABI_QPS_ERR] = {EMU_QS_ERR, EMU_QS_ERR},
	};
	struct abi_qp *qp = &h->verbs->qp;
	int ret = 0;

	if (to == ABI_QPS_SQD || to == ABI_QPS_SQE)
		return abi_refuse(call, -EINVAL, "state %u of a raw packet QP", to);
	if (qp->rq != NULL && ((struct emu_rq *)qp->rq)->state != rows[to].rq)
		ret = abi_rq_set_state(call, qp->rq, rows[to].rq);
	return ret == 0 && qp->sq != NULL ? sq_go(call, h, rows[to].sq, rate) : ret;
}

/* An error of SQ or RQ is one of the QP: query both from the device, as mlx5_ib does. */
int
abi_qp_raw_state(struct abi_call *call, const struct abi_qp *qp)
{
	struct prm_query_sq_in sq_in = {0};
	struct prm_query_sq_out sq_out = {0};
	struct prm_query_rq_in rq_in = {0};
	struct prm_query_rq_out rq_out = {0};
	bool err = false;
	int ret = 0;

	if (qp->sq != NULL) {
		prm_query_sq_in_set_opcode(&sq_in, PRM_CMD_OP_QUERY_SQ);
		prm_query_sq_in_set_sqn(&sq_in, qp->sq->id);
		ret = abi_kernel_cmd(call, &sq_in, sizeof(sq_in), &sq_out, sizeof(sq_out), NULL);
		err |= prm_sqc_get_state(prm_query_sq_out_sq_context(&sq_out)) == EMU_QS_ERR;
	}
	if (ret == 0 && qp->rq != NULL) {
		prm_query_rq_in_set_opcode(&rq_in, PRM_CMD_OP_QUERY_RQ);
		prm_query_rq_in_set_rqn(&rq_in, qp->rq->id);
		ret = abi_kernel_cmd(call, &rq_in, sizeof(rq_in), &rq_out, sizeof(rq_out), NULL);
		err |= prm_rqc_get_state(prm_query_rq_out_rq_context(&rq_out)) == EMU_QS_ERR;
	}
	if (ret != 0)
		return ret;
	return err ? ABI_QPS_ERR : qp->state;
}
