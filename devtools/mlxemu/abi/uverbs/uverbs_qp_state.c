/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* States of verbs queue pairs: permitted transitions and attributes; query. */
#include <errno.h>
#include <string.h>

#include "uverbs_qp.h"

/* enum ib_qp_attr_mask */
#define A_STATE (1u << 0)
#define A_CUR_STATE (1u << 1)
#define A_EN_SQD (1u << 2)
#define A_ACCESS (1u << 3)
#define A_PKEY (1u << 4)
#define A_PORT (1u << 5)
#define A_QKEY (1u << 6)
#define A_AV (1u << 7)
#define A_MTU (1u << 8)
#define A_TIMEOUT (1u << 9)
#define A_RETRY (1u << 10)
#define A_RNR_RETRY (1u << 11)
#define A_RQ_PSN (1u << 12)
#define A_RD_ATOMIC (1u << 13)
#define A_ALT_PATH (1u << 14)
#define A_MIN_RNR (1u << 15)
#define A_SQ_PSN (1u << 16)
#define A_DEST_RD_ATOMIC (1u << 17)
#define A_MIG_STATE (1u << 18)
#define A_CAP (1u << 19)
#define A_DEST_QPN (1u << 20)
#define A_RATE_LIMIT (1u << 25)
#define A_LEGACY ((1u << 21) - 1)

#define RC (1u << IB_UVERBS_QPT_RC)
#define UC (1u << IB_UVERBS_QPT_UC)
#define UD (1u << IB_UVERBS_QPT_UD)
#define RAW (1u << IB_UVERBS_QPT_RAW_PACKET)
#define ALL (RC | UC | UD | RAW)
#define CONNECTED (RC | UC)

/* InfiniBand specification, modify QP: required and optional attributes (kernel: core/verbs.c, qp_state_table). */
static const struct qp_row {
	uint8_t from, to;
	uint16_t types;
	uint32_t needs, takes;
} qp_rows[] = {
	{ABI_QPS_RESET, ABI_QPS_RESET, ALL, 0, 0},
	{ABI_QPS_RESET, ABI_QPS_INIT, CONNECTED, A_PKEY | A_PORT | A_ACCESS, 0},
	{ABI_QPS_RESET, ABI_QPS_INIT, UD, A_PKEY | A_PORT | A_QKEY, 0},
	{ABI_QPS_RESET, ABI_QPS_INIT, RAW, A_PORT, 0},
	{ABI_QPS_INIT, ABI_QPS_INIT, CONNECTED, 0, A_PKEY | A_PORT | A_ACCESS},
	{ABI_QPS_INIT, ABI_QPS_INIT, UD, 0, A_PKEY | A_PORT | A_QKEY},
	{ABI_QPS_INIT, ABI_QPS_INIT, RAW, 0, A_PORT},
	{ABI_QPS_INIT, ABI_QPS_RTR, RC,
	 A_AV | A_MTU | A_DEST_QPN | A_RQ_PSN | A_DEST_RD_ATOMIC | A_MIN_RNR, A_ACCESS | A_PKEY},
	{ABI_QPS_INIT, ABI_QPS_RTR, UC, A_AV | A_MTU | A_DEST_QPN | A_RQ_PSN, A_ACCESS | A_PKEY},
	{ABI_QPS_INIT, ABI_QPS_RTR, UD, 0, A_PKEY | A_QKEY},
	{ABI_QPS_INIT, ABI_QPS_RTR, RAW, 0, 0},
	{ABI_QPS_RTR, ABI_QPS_RTS, RC,
	 A_TIMEOUT | A_RETRY | A_RNR_RETRY | A_SQ_PSN | A_RD_ATOMIC,
	 A_CUR_STATE | A_ACCESS | A_MIN_RNR | A_MIG_STATE},
	{ABI_QPS_RTR, ABI_QPS_RTS, UC, A_SQ_PSN, A_CUR_STATE | A_ACCESS | A_MIG_STATE},
	{ABI_QPS_RTR, ABI_QPS_RTS, UD, A_SQ_PSN, A_CUR_STATE | A_QKEY},
	{ABI_QPS_RTR, ABI_QPS_RTS, RAW, 0, A_RATE_LIMIT},
	{ABI_QPS_RTS, ABI_QPS_RTS, RC, 0, A_CUR_STATE | A_ACCESS | A_MIN_RNR | A_MIG_STATE},
	{ABI_QPS_RTS, ABI_QPS_RTS, UC, 0, A_CUR_STATE | A_ACCESS | A_MIG_STATE},
	{ABI_QPS_RTS, ABI_QPS_RTS, UD, 0, A_CUR_STATE | A_QKEY},
	{ABI_QPS_RTS, ABI_QPS_RTS, RAW, 0, A_RATE_LIMIT},
	{ABI_QPS_SQE, ABI_QPS_RTS, UC, 0, A_CUR_STATE | A_ACCESS},
	{ABI_QPS_SQE, ABI_QPS_RTS, UD, 0, A_CUR_STATE | A_QKEY},
};

static const struct qp_row *
qp_row_find(const struct abi_qp *qp, unsigned from, unsigned to)
{
	static const struct qp_row always = {0, 0, ALL, 0, 0};
	unsigned i;

	if (to == ABI_QPS_RESET || to == ABI_QPS_ERR)
		return &always;
	for (i = 0; i < sizeof(qp_rows) / sizeof(qp_rows[0]); i++)
		if (qp_rows[i].from == from && qp_rows[i].to == to &&
		    (qp_rows[i].types & 1u << qp->type) != 0)
			return &qp_rows[i];
	return NULL;
}

/* The sizes of the tables that attributes index. */
static int
check_values(struct abi_call *call, const struct ib_uverbs_modify_qp *a)
{
	uint8_t gid[16];
	uint16_t vport;
	int ret = 0;

	/* Without a representor: hw/mlx5/ib_rep.c, create_flow_rule_vport_sq(). */
	if ((a->attr_mask & A_PORT) != 0)
		ret = emu_ib_port_vport(call->dev, a->port_num, &vport);
	if (ret == -EINVAL || (ret != 0 && call->dev->eswitch.on))
		return abi_refuse(call, -EINVAL, "port %u", a->port_num);
	if ((a->attr_mask & A_PKEY) != 0 && a->pkey_index != 0)
		return abi_refuse(call, -EINVAL, "key index %u", a->pkey_index);
	if ((a->attr_mask & A_AV) != 0 &&
	    (!a->dest.is_global || a->dest.port_num != 1 ||
	     !emu_port_gid(call->dev, a->dest.sgid_index, gid)))
		return abi_refuse(call, -EINVAL, "path from GID %u of port %u%s",
				  a->dest.sgid_index, a->dest.port_num,
				  a->dest.is_global ? "" : " without a global header");
	/* 2^4 outstanding in each direction: log_max_ra_req_qp, log_max_ra_res_qp. */
	if (((a->attr_mask & A_RD_ATOMIC) != 0 && a->max_rd_atomic > 16) ||
	    ((a->attr_mask & A_DEST_RD_ATOMIC) != 0 && a->max_dest_rd_atomic > 16))
		return abi_refuse(call, -EINVAL, "more than 16 reads or atomics outstanding");
	return 0;
}

/* Store the attributes of the mask for later queries. */
static void
remember(struct abi_qp *qp, const struct ib_uverbs_modify_qp *a)
{
	struct ib_uverbs_modify_qp *to = &qp->attr;

	if (a->attr_mask & A_ACCESS)
		to->qp_access_flags = a->qp_access_flags;
	if (a->attr_mask & A_AV)
		to->dest = a->dest;
	if (a->attr_mask & A_PORT)
		qp->port_num = a->port_num;
	/* The kernel's rule that sends the frames of the QP to the vport of its port. */
	if ((a->attr_mask & A_PORT) != 0 && qp->kind == ABI_QP_RAW && qp->sq != NULL)
		((struct emu_sq *)qp->sq)->uplink = a->port_num == emu_ib_port(qp->sq->dev);
}

static int
qp_go(struct abi_call *call, struct abi_handle *h, const struct ib_uverbs_modify_qp *a,
      const struct prm_set_pp_rate_limit_context *rate)
{
	struct abi_qp *qp = &h->verbs->qp;
	unsigned from = (a->attr_mask & A_CUR_STATE) != 0 ? a->cur_qp_state : qp->state;
	unsigned to = (a->attr_mask & A_STATE) != 0 ? a->qp_state : from;
	const struct qp_row *row;
	uint32_t mask = a->attr_mask & ~A_STATE;
	int ret;

	if (from >= ABI_QPS_COUNT || to >= ABI_QPS_COUNT)
		return abi_refuse(call, -EINVAL, "from state %u to %u", from, to);
	row = qp_row_find(qp, from, to);
	if (row == NULL || (row->needs & ~mask) != 0 ||
	    (row->needs != 0 || row->takes != 0 || to == ABI_QPS_INIT || to == ABI_QPS_RTR
		     ? (mask & ~(row->needs | row->takes)) != 0
		     : false))
		return abi_refuse(call, -EINVAL, "from state %u to %u with attributes 0x%x", from,
				  to, a->attr_mask);
	ret = check_values(call, a);
	if (ret == 0)
		ret = qp->kind == ABI_QP_RAW ? abi_qp_raw_modify(call, h, to, rate)
					     : abi_qp_transport_modify(call, qp, to, a);
	if (ret != 0)
		return ret;
	remember(qp, a);
	qp->state = (uint8_t)to;
	return 0;
}

/* Linux, qp.c, __mlx5_ib_modify_qp(): what the capabilities lack. */
static int
rate_read(struct abi_call *call, uint32_t kbps, struct prm_set_pp_rate_limit_context *rate)
{
	const struct emu_profile *p = call->dev->profile;
	struct mlx5_ib_modify_qp uhw;
	int ret = abi_in(call, UVERBS_ATTR_UHW_IN, &uhw, sizeof(uhw));

	if (ret != 0)
		return ret;
	if (uhw.comp_mask != 0 || uhw.burst_info.reserved != 0)
		return abi_refuse(call, -EOPNOTSUPP, "driver data with reserved fields");
	if ((uhw.burst_info.max_burst_sz != 0 && (kbps == 0 || !p->packet_pacing_burst_bound)) ||
	    (uhw.burst_info.typical_pkt_sz != 0 && (kbps == 0 || !p->packet_pacing_typical_size)))
		return abi_refuse(call, -EINVAL, "burst information for %u Kbit/s", kbps);
	memset(rate, 0, sizeof(*rate));
	prm_set_pp_rate_limit_context_set_rate_limit(rate, kbps);
	prm_set_pp_rate_limit_context_set_burst_upper_bound(rate, uhw.burst_info.max_burst_sz);
	prm_set_pp_rate_limit_context_set_typical_packet_size(rate, uhw.burst_info.typical_pkt_sz);
	return 0;
}

static int
modify(struct abi_call *call, const struct ib_uverbs_modify_qp *a, const struct prm_set_pp_rate_limit_context *rate)
{
	struct abi_handle *h = abi_handle_of(call, a->qp_handle, UVERBS_OBJECT_QP);

	if (h == NULL)
		return -EINVAL;
	if (h->verbs->qp.kind == ABI_QP_RSS)
		return abi_refuse(call, -EOPNOTSUPP, "an RSS QP has no states");
	/* Without an alternate path, without draining. */
	if ((a->attr_mask & (A_ALT_PATH | A_EN_SQD | A_CAP)) != 0)
		return abi_refuse(call, -EOPNOTSUPP, "attributes 0x%x", a->attr_mask);
	return qp_go(call, h, a, rate);
}

int
abi_modify_qp(struct abi_call *call)
{
	struct ib_uverbs_modify_qp in;
	int ret = abi_in(call, UVERBS_ATTR_CORE_IN, &in, sizeof(in));

	if (ret == 0 && (in.attr_mask & ~A_LEGACY) != 0)
		return -EOPNOTSUPP;
	return ret != 0 ? ret : modify(call, &in, NULL);
}

int
abi_modify_qp_ex(struct abi_call *call)
{
	struct ib_uverbs_ex_modify_qp_resp core = {.response_length = sizeof(core)};
	struct mlx5_ib_modify_qp_resp uhw = {.response_length = sizeof(uhw)};
	struct prm_set_pp_rate_limit_context rate;
	struct ib_uverbs_ex_modify_qp in;
	int ret = abi_in(call, UVERBS_ATTR_CORE_IN, &in, sizeof(in));
	bool limit = (in.base.attr_mask & A_RATE_LIMIT) != 0;

	if (ret == 0 && limit)
		ret = rate_read(call, in.rate_limit, &rate);
	if (ret == 0)
		ret = modify(call, &in.base, limit ? &rate : NULL);
	if (ret == 0)
		ret = abi_out(call, UVERBS_ATTR_CORE_OUT, &core, sizeof(core));
	return ret != 0 ? ret : abi_out(call, UVERBS_ATTR_UHW_OUT, &uhw, sizeof(uhw));
}

int
abi_query_qp(struct abi_call *call)
{
	struct ib_uverbs_query_qp_resp r = {0};
	struct ib_uverbs_query_qp in;
	struct abi_handle *h;
	struct abi_qp *qp;
	int ret = abi_in(call, UVERBS_ATTR_CORE_IN, &in, sizeof(in));

	if (ret != 0)
		return ret;
	h = abi_handle_of(call, in.qp_handle, UVERBS_OBJECT_QP);
	if (h == NULL)
		return -EINVAL;
	qp = &h->verbs->qp;
	if (qp->kind == ABI_QP_RSS)
		return -EOPNOTSUPP;
	r.port_num = qp->port_num;
	ret = qp->kind == ABI_QP_RAW ? abi_qp_raw_state(call, qp)
				     : abi_qp_transport_query(call, qp, &r);
	if (ret < 0)
		return ret;
	qp->state = (uint8_t)ret;
	r.qp_state = r.cur_qp_state = qp->state;
	r.max_send_wr = qp->cap.max_send_wr;
	r.max_recv_wr = qp->cap.max_recv_wr;
	r.max_send_sge = qp->cap.max_send_sge;
	r.max_recv_sge = qp->cap.max_recv_sge;
	r.max_inline_data = qp->cap.max_inline_data;
	r.sq_sig_all = qp->sq_sig_all;
	return abi_out(call, UVERBS_ATTR_CORE_OUT, &r, sizeof(r));
}
