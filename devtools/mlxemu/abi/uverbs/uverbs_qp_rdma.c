/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* QPs of the RDMA transports (RC, UC, UD): firmware QPs and the commands of their states. */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "uverbs_qp.h"

#define LOG_MSG_MAX 30u
#define ROCE_V1_GID_INDEX 0u

static unsigned
service_type(unsigned type)
{
	return type == IB_UVERBS_QPT_RC ? PRM_QPC_ST_RC
	       : type == IB_UVERBS_QPT_UC ? PRM_QPC_ST_UC
					  : PRM_QPC_ST_UD;
}

/* Both rings in one buffer, the receive ring first. */
static int
rdma_rings(struct abi_call *call, struct abi_handle *h, const struct abi_qp_req *req,
	   struct prm_create_qp_in *in)
{
	struct prm_qpc *qpc = prm_create_qp_in_qpc(in);
	uint64_t rq = (uint64_t)req->uhw.rq_wqe_count << req->uhw.rq_wqe_shift;
	uint64_t sq = (uint64_t)req->uhw.sq_wqe_count << 6;
	uint32_t umem;
	int ret = 0;

	if (req->srq != NULL) {
		rq = 0;
		prm_qpc_set_rq_type(qpc, PRM_QPC_RQ_TYPE_SRQ_RMP_XRQ);
		prm_qpc_set_srqn_rmpn_xrqn(qpc, req->srq->obj->id);
	} else if (rq == 0) {
		prm_qpc_set_rq_type(qpc, PRM_QPC_RQ_TYPE_ZERO_SIZE_RQ);
	} else {
		prm_qpc_set_log_rq_size(qpc, abi_log2(req->uhw.rq_wqe_count));
		prm_qpc_set_log_rq_stride(qpc, req->uhw.rq_wqe_shift - 4);
	}
	if (sq == 0)
		prm_qpc_set_no_sq(qpc, 1);
	else
		prm_qpc_set_log_sq_size(qpc, abi_log2(req->uhw.sq_wqe_count));
	if (rq + sq != 0) {
		ret = abi_verbs_pin(call, h, req->uhw.buf_addr, rq + sq, &umem);
		prm_create_qp_in_set_wq_umem_id(in, ret == 0 ? umem : 0);
		prm_create_qp_in_set_wq_umem_valid(in, 1);
	}
	return ret;
}

/* One timestamp format for both CQs; an error if they require different ones. */
static int
qp_ts_format(struct abi_call *call, const struct abi_qp_req *req)
{
	int usual = abi_cq_ts_format(call, NULL);
	int send = abi_cq_ts_format(call, req->send_cq);
	int recv = abi_cq_ts_format(call, req->recv_cq);

	if (send < 0 || recv < 0)
		return -EOPNOTSUPP;
	if (send != recv && send != PRM_TS_FORMAT_DEFAULT && recv != PRM_TS_FORMAT_DEFAULT)
		return abi_refuse(call, -EOPNOTSUPP, "two formats of time stamps in one QP");
	return send == usual ? recv : send;
}

int
abi_qp_transport_make(struct abi_call *call, struct abi_handle *h, const struct abi_qp_req *req)
{
	struct prm_create_qp_in in = {0};
	struct prm_qpc *qpc = prm_create_qp_in_qpc(&in);
	struct abi_qp *qp = &h->verbs->qp;
	uint64_t db_offset;
	uint32_t dbrec;
	int format = qp_ts_format(call, req);
	int ret = format < 0 ? format
			     : abi_verbs_pin_dbrec(call, h, req->uhw.db_addr, &dbrec, &db_offset);

	qp->kind = ABI_QP_TRANSPORT;
	if (ret == 0)
		ret = rdma_rings(call, h, req, &in);
	if (ret != 0)
		return ret;
	prm_create_qp_in_set_opcode(&in, PRM_CMD_OP_CREATE_QP);
	prm_qpc_set_ts_format(qpc, (uint32_t)format);
	prm_qpc_set_st(qpc, service_type(req->type));
	prm_qpc_set_pm_state(qpc, PRM_QPC_PM_STATE_MIGRATED);
	prm_qpc_set_pd(qpc, req->pd->obj->id);
	prm_qpc_set_uar_page(qpc, req->uhw.bfreg_index);
	prm_qpc_set_user_index(qpc, req->uhw.uidx);
	prm_qpc_set_cqn_snd(qpc, req->send_cq->obj->id);
	prm_qpc_set_cqn_rcv(qpc, req->recv_cq->obj->id);
	prm_qpc_set_dbr_umem_id(qpc, dbrec);
	prm_qpc_set_dbr_umem_valid(qpc, 1);
	prm_qpc_set_dbr_addr(qpc, db_offset);
	ret = abi_verbs_create(call, h, &in, sizeof(in), &qp->qp);
	if (ret == 0)
		qp->qpn = qp->qp->id;
	return ret;
}

/* RoCE v2: UDP source port from the flow label (rdma_flow_label_to_udp_sport()). */
static uint16_t
udp_sport(uint32_t label, uint32_t local, uint32_t remote)
{
	uint64_t v = (uint64_t)local * remote;

	if (label == 0) {
		v ^= v >> 20;
		v ^= v >> 40;
		label = (uint32_t)(v & 0xfffff);
	}
	return (uint16_t)(((label & 0x3fff) ^ (label & 0xfc000) >> 14) | 0xc000);
}

static int
set_path(struct abi_call *call, const struct abi_qp *qp, const struct ib_uverbs_modify_qp *a,
	 struct prm_ads *path)
{
	const struct ib_uverbs_qp_dest *d = &a->dest;
	uint8_t mac[6], hops = d->hop_limit;
	int ret = abi_resolve_dmac(call, d->dgid, mac, &hops);

	if (ret != 0)
		return ret;
	prm_ads_set_rmac_47_32(path, (uint32_t)mac[0] << 8 | mac[1]);
	prm_ads_set_rmac_31_0(path, (uint32_t)mac[2] << 24 | (uint32_t)mac[3] << 16 |
					    (uint32_t)mac[4] << 8 | mac[5]);
	memcpy(prm_ads_rgid_rip(path), d->dgid, sizeof(d->dgid));
	prm_ads_set_src_addr_index(path, d->sgid_index);
	prm_ads_set_hop_limit(path, hops);
	prm_ads_set_tclass(path, d->traffic_class);
	prm_ads_set_flow_label(path, d->flow_label & 0xfffff);
	prm_ads_set_eth_prio(path, d->sl & 7);
	prm_ads_set_grh(path, 1);
	if (d->sgid_index != ROCE_V1_GID_INDEX) {
		prm_ads_set_udp_sport(path, udp_sport(d->flow_label, qp->qpn, a->dest_qp_num));
		prm_ads_set_dscp(path, d->traffic_class >> 2);
	}
	return 0;
}

static unsigned
log2_ceil(unsigned v)
{
	unsigned log = 0;

	while (1u << log < v)
		log++;
	return log;
}

static void
set_access(struct prm_qpc *qpc, uint32_t access)
{
	bool atomic = (access & IB_UVERBS_ACCESS_REMOTE_ATOMIC) != 0;

	prm_qpc_set_rre(qpc, (access & IB_UVERBS_ACCESS_REMOTE_READ) != 0);
	prm_qpc_set_rwe(qpc, (access & IB_UVERBS_ACCESS_REMOTE_WRITE) != 0);
	prm_qpc_set_rae(qpc, atomic);
	prm_qpc_set_atomic_mode(qpc, atomic ? 1 : 0);
}

/* The complete context; the device uses the fields of the transition and of the mask. */
static int
set_context(struct abi_call *call, const struct abi_qp *qp, const struct ib_uverbs_modify_qp *a,
	    struct prm_qpc *qpc)
{
	struct prm_ads *path = prm_qpc_primary_address_path(qpc);
	bool ud = qp->type == IB_UVERBS_QPT_UD;
	int ret = 0;

	prm_qpc_set_st(qpc, service_type(qp->type));
	prm_qpc_set_pm_state(qpc, PRM_QPC_PM_STATE_MIGRATED);
	prm_qpc_set_mtu(qpc, ud ? PRM_QPC_MTU_4K_BYTES : a->path_mtu);
	prm_qpc_set_log_msg_max(qpc, ud ? 12 : LOG_MSG_MAX);
	if ((a->attr_mask & ABI_QP_ATTR_AV) != 0)
		ret = set_path(call, qp, a, path);
	if ((a->attr_mask & ABI_QP_ATTR_PORT) != 0)
		prm_ads_set_vhca_port_num(path, a->port_num);
	prm_ads_set_pkey_index(path, a->pkey_index);
	prm_ads_set_ack_timeout(path, a->timeout);
	prm_qpc_set_remote_qpn(qpc, a->dest_qp_num);
	prm_qpc_set_log_ack_req_freq(qpc, 8);
	prm_qpc_set_rnr_retry(qpc, a->rnr_retry & 7);
	prm_qpc_set_retry_count(qpc, a->retry_cnt & 7);
	prm_qpc_set_log_sra_max(qpc, log2_ceil(a->max_rd_atomic));
	prm_qpc_set_log_rra_max(qpc, log2_ceil(a->max_dest_rd_atomic));
	prm_qpc_set_next_send_psn(qpc, a->sq_psn & 0xffffff);
	prm_qpc_set_next_rcv_psn(qpc, a->rq_psn & 0xffffff);
	prm_qpc_set_min_rnr_nak(qpc, a->min_rnr_timer);
	prm_qpc_set_q_key(qpc, a->qkey);
	set_access(qpc, a->qp_access_flags);
	return ret;
}

/* mlx5_ib: the command of a transition, and its optional parameters by service type. */
static const struct {
	uint8_t from, to;
	uint16_t opcode;
	uint32_t rc, uc, ud;
} transitions[] = {
#define OPT(o) PRM_QP_OPTPAR_##o
#define OPT_RC (OPT(RRE) | OPT(RAE) | OPT(RWE))
	{ABI_QPS_RESET, ABI_QPS_INIT, PRM_CMD_OP_RST2INIT_QP, 0, 0, 0},
	{ABI_QPS_INIT, ABI_QPS_INIT, PRM_CMD_OP_INIT2INIT_QP, OPT_RC | OPT(PKEY_INDEX) | OPT(PRI_PORT),
	 OPT(RWE) | OPT(PKEY_INDEX) | OPT(PRI_PORT), OPT(PKEY_INDEX) | OPT(Q_KEY) | OPT(PRI_PORT)},
	{ABI_QPS_INIT, ABI_QPS_RTR, PRM_CMD_OP_INIT2RTR_QP, OPT_RC | OPT(PKEY_INDEX),
	 OPT(RWE) | OPT(PKEY_INDEX), OPT(PKEY_INDEX) | OPT(Q_KEY)},
	{ABI_QPS_RTR, ABI_QPS_RTS, PRM_CMD_OP_RTR2RTS_QP, OPT_RC | OPT(RNR_TIMEOUT), OPT(RWE),
	 OPT(Q_KEY)},
	{ABI_QPS_RTS, ABI_QPS_RTS, PRM_CMD_OP_RTS2RTS_QP, OPT_RC | OPT(RNR_TIMEOUT), OPT(RWE),
	 OPT(Q_KEY)},
	{ABI_QPS_SQE, ABI_QPS_RTS, PRM_CMD_OP_SQERR2RTS_QP, OPT_RC | OPT(RNR_TIMEOUT), OPT(RWE),
	 OPT(Q_KEY)},
};

/* Optional parameters of the attributes of a request. */
static uint32_t
optional_of(uint32_t mask)
{
	uint32_t opt = 0;

	if (mask & ABI_QP_ATTR_ACCESS)
		opt |= OPT(RRE) | OPT(RWE) | OPT(RAE);
	if (mask & ABI_QP_ATTR_PKEY)
		opt |= OPT(PKEY_INDEX);
	if (mask & ABI_QP_ATTR_PORT)
		opt |= OPT(PRI_PORT);
	if (mask & ABI_QP_ATTR_QKEY)
		opt |= OPT(Q_KEY);
	if (mask & ABI_QP_ATTR_MIN_RNR)
		opt |= OPT(RNR_TIMEOUT);
	return opt;
}

static int
leave(struct abi_call *call, const struct abi_qp *qp, uint16_t opcode)
{
	struct prm_qp_2rst_in in = {0};
	struct prm_qp_2rst_out out = {0};

	prm_qp_2rst_in_set_opcode(&in, opcode);
	prm_qp_2rst_in_set_qpn(&in, qp->qp->id);
	return abi_kernel_cmd(call, &in, sizeof(in), &out, sizeof(out), NULL);
}

int
abi_qp_transport_modify(struct abi_call *call, struct abi_qp *qp, unsigned to,
			const struct ib_uverbs_modify_qp *a)
{
	struct prm_rst2init_qp_in in = {0};
	struct prm_rst2init_qp_out out = {0};
	uint32_t allowed;
	unsigned i;
	int ret;

	if (to == ABI_QPS_RESET || to == ABI_QPS_ERR)
		return leave(call, qp,
			     to == ABI_QPS_ERR ? PRM_CMD_OP_2ERR_QP : PRM_CMD_OP_2RST_QP);
	for (i = 0; i < sizeof(transitions) / sizeof(transitions[0]); i++)
		if (transitions[i].from == qp->state && transitions[i].to == to)
			break;
	if (i == sizeof(transitions) / sizeof(transitions[0]))
		return abi_refuse(call, -EINVAL, "the QP is in state %u, not to go to %u",
				  qp->state, to);
	allowed = qp->type == IB_UVERBS_QPT_RC ? transitions[i].rc
		  : qp->type == IB_UVERBS_QPT_UC ? transitions[i].uc
						 : transitions[i].ud;
	/* All of these commands have one layout. */
	prm_rst2init_qp_in_set_opcode(&in, transitions[i].opcode);
	prm_rst2init_qp_in_set_qpn(&in, qp->qp->id);
	prm_rst2init_qp_in_set_opt_param_mask(&in, optional_of(a->attr_mask) & allowed);
	ret = set_context(call, qp, a, prm_rst2init_qp_in_qpc(&in));
	return ret != 0 ? ret : abi_kernel_cmd(call, &in, sizeof(in), &out, sizeof(out), NULL);
}

/* enum ib_qp_state of a context's state. */
static int
verbs_state(unsigned state)
{
	switch (state) {
	case PRM_QPC_STATE_RST: return ABI_QPS_RESET;
	case PRM_QPC_STATE_INIT: return ABI_QPS_INIT;
	case PRM_QPC_STATE_RTR: return ABI_QPS_RTR;
	case PRM_QPC_STATE_RTS: return ABI_QPS_RTS;
	case PRM_QPC_STATE_SQER: return ABI_QPS_SQE;
	case PRM_QPC_STATE_SQD: return ABI_QPS_SQD;
	default: return ABI_QPS_ERR;
	}
}

int
abi_qp_transport_query(struct abi_call *call, const struct abi_qp *qp,
		       struct ib_uverbs_query_qp_resp *r)
{
	struct prm_query_qp_in in = {0};
	struct prm_query_qp_out out = {0};
	const struct prm_qpc *q = prm_query_qp_out_qpc(&out);
	const struct prm_ads *path = prm_qpc_primary_address_path_c(q);
	int ret;

	prm_query_qp_in_set_opcode(&in, PRM_CMD_OP_QUERY_QP);
	prm_query_qp_in_set_qpn(&in, qp->qp->id);
	ret = abi_kernel_cmd(call, &in, sizeof(in), &out, sizeof(out), NULL);
	if (ret != 0)
		return ret;
	r->path_mtu = (uint8_t)prm_qpc_get_mtu(q);
	r->qkey = prm_qpc_get_q_key(q);
	r->rq_psn = prm_qpc_get_next_rcv_psn(q);
	r->sq_psn = prm_qpc_get_next_send_psn(q);
	r->dest_qp_num = prm_qpc_get_remote_qpn(q);
	r->qp_access_flags = (prm_qpc_get_rre(q) ? IB_UVERBS_ACCESS_REMOTE_READ : 0) |
			     (prm_qpc_get_rwe(q) ? IB_UVERBS_ACCESS_REMOTE_WRITE : 0) |
			     (prm_qpc_get_rae(q) ? IB_UVERBS_ACCESS_REMOTE_ATOMIC : 0);
	r->pkey_index = (uint16_t)prm_ads_get_pkey_index(path);
	r->port_num = (uint8_t)prm_ads_get_vhca_port_num(path);
	r->timeout = (uint8_t)prm_ads_get_ack_timeout(path);
	r->max_rd_atomic = (uint8_t)(1u << prm_qpc_get_log_sra_max(q));
	r->max_dest_rd_atomic = (uint8_t)(1u << prm_qpc_get_log_rra_max(q));
	r->min_rnr_timer = (uint8_t)prm_qpc_get_min_rnr_nak(q);
	r->retry_cnt = (uint8_t)prm_qpc_get_retry_count(q);
	r->rnr_retry = (uint8_t)prm_qpc_get_rnr_retry(q);
	if (qp->type != IB_UVERBS_QPT_UD)
		r->dest = qp->attr.dest;
	return verbs_state(prm_qpc_get_state(q));
}
