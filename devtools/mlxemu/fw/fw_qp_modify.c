/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * The state machine of queue pairs: one command per transition. Each has parameters that it always
 * takes and optional ones, taken if their bit is set in opt_param_mask (PRM, QP modify).
 */
#include <endian.h>
#include <string.h>

#include "fw.h"

#define PORTS 1u

#define TAKE(field) prm_qpc_set_##field(to, prm_qpc_get_##field(from))

static void
take_access(struct prm_qpc *to, const struct prm_qpc *from, uint32_t opt)
{
	if (opt & PRM_QP_OPTPAR_RRE)
		TAKE(rre);
	if (opt & PRM_QP_OPTPAR_RWE)
		TAKE(rwe);
	if (opt & PRM_QP_OPTPAR_RAE) {
		TAKE(rae);
		TAKE(atomic_mode);
	}
}

/* Port and key index: the part of the path that RST2INIT sets. */
static void
take_port(struct prm_qpc *to, const struct prm_qpc *from, uint32_t opt)
{
	struct prm_ads *t = prm_qpc_primary_address_path(to);
	const struct prm_ads *f = prm_qpc_primary_address_path_c(from);

	if (opt & PRM_QP_OPTPAR_PRI_PORT)
		prm_ads_set_vhca_port_num(t, prm_ads_get_vhca_port_num(f));
	if (opt & PRM_QP_OPTPAR_PKEY_INDEX)
		prm_ads_set_pkey_index(t, prm_ads_get_pkey_index(f));
	if (opt & PRM_QP_OPTPAR_Q_KEY)
		TAKE(q_key);
}

static void
take_path(struct prm_qpc *to, const struct prm_qpc *from)
{
	struct prm_ads *t = prm_qpc_primary_address_path(to);
	unsigned pkey = prm_ads_get_pkey_index(t), port = prm_ads_get_vhca_port_num(t);

	*t = *prm_qpc_primary_address_path_c(from);
	prm_ads_set_pkey_index(t, pkey);
	prm_ads_set_vhca_port_num(t, port);
}

static void
take_timers(struct prm_qpc *to, const struct prm_qpc *from, uint32_t opt)
{
	if (opt & PRM_QP_OPTPAR_RNR_TIMEOUT)
		TAKE(min_rnr_nak);
	if (opt & PRM_QP_OPTPAR_RETRY_COUNT)
		TAKE(retry_count);
	if (opt & PRM_QP_OPTPAR_RNR_RETRY)
		TAKE(rnr_retry);
	if (opt & PRM_QP_OPTPAR_ACK_TIMEOUT)
		prm_ads_set_ack_timeout(prm_qpc_primary_address_path(to),
			prm_ads_get_ack_timeout(prm_qpc_primary_address_path_c(from)));
	if (opt & PRM_QP_OPTPAR_SRA_MAX)
		TAKE(log_sra_max);
	if (opt & PRM_QP_OPTPAR_RRA_MAX)
		TAKE(log_rra_max);
}

static void
take_init(struct prm_qpc *to, const struct prm_qpc *from)
{
	take_access(to, from, PRM_QP_OPTPAR_RRE | PRM_QP_OPTPAR_RWE | PRM_QP_OPTPAR_RAE);
	take_port(to, from, PRM_QP_OPTPAR_PRI_PORT | PRM_QP_OPTPAR_PKEY_INDEX | PRM_QP_OPTPAR_Q_KEY);
}

static void
take_rtr(struct prm_qpc *to, const struct prm_qpc *from)
{
	take_path(to, from);
	TAKE(mtu);
	TAKE(log_msg_max);
	TAKE(remote_qpn);
	TAKE(next_rcv_psn);
	TAKE(log_rra_max);
	TAKE(min_rnr_nak);
}

static void
take_rts(struct prm_qpc *to, const struct prm_qpc *from)
{
	TAKE(next_send_psn);
	take_timers(to, from,
		    PRM_QP_OPTPAR_RETRY_COUNT | PRM_QP_OPTPAR_RNR_RETRY |
			    PRM_QP_OPTPAR_ACK_TIMEOUT | PRM_QP_OPTPAR_SRA_MAX);
}

static void
take_nothing(struct prm_qpc *to, const struct prm_qpc *from)
{
	(void)to;
	(void)from;
}

static int
check_port(struct fw_cmd *c, const struct prm_qpc *q)
{
	const struct prm_ads *path = prm_qpc_primary_address_path_c(q);

	if (prm_ads_get_vhca_port_num(path) != PORTS)
		return fw_refuse(c, FW_QP_PATH, "vhca_port_num %u",
				 prm_ads_get_vhca_port_num(path));
	if (prm_ads_get_pkey_index(path) != 0)
		return fw_refuse(c, FW_QP_PATH, "pkey_index %u", prm_ads_get_pkey_index(path));
	return 0;
}

/* Checks the path: the source GID exists, and the fields match its RoCE version. */
static int
check_path(struct fw_cmd *c, const struct prm_qpc *q)
{
	const struct prm_ads *path = prm_qpc_primary_address_path_c(q);
	unsigned index = prm_ads_get_src_addr_index(path);
	struct emu_roce_address own;

	if (prm_qpc_get_st(q) == PRM_QPC_ST_UD || prm_ads_get_fl(path))
		return 0;
	if (!emu_port_roce(c->dev, index, &own))
		return fw_refuse(c, FW_QP_PATH, "src_addr_index %u is empty", index);
	if (own.version == PRM_ROCE_VERSION_V1 && prm_ads_get_udp_sport(path) != 0)
		return fw_refuse(c, FW_QP_PATH, "%s", "udp_sport on RoCE v1");
	/* rdma-core leaves hop_limit at 0 (providers/mlx5/dr_devx.c, dr_devx_modify_qp_init2rtr()). */
	return 0;
}

static int
check_rtr(struct fw_cmd *c, const struct prm_qpc *q)
{
	unsigned mtu = prm_qpc_get_mtu(q);

	if (mtu < PRM_QPC_MTU_256_BYTES || mtu > PRM_QPC_MTU_4K_BYTES)
		return fw_refuse(c, FW_QP_MTU, "%u", mtu);
	if (prm_qpc_get_log_msg_max(q) > FW_LOG_MAX_MSG)
		return fw_refuse(c, FW_QP_MSG, "2^%u, at most 2^%u", prm_qpc_get_log_msg_max(q),
				 FW_LOG_MAX_MSG);
	if (prm_qpc_get_log_rra_max(q) > FW_LOG_MAX_RDMA)
		return fw_refuse(c, FW_QP_DEPTH, "log_rra_max %u", prm_qpc_get_log_rra_max(q));
	return check_path(c, q);
}

static int
check_rts(struct fw_cmd *c, const struct prm_qpc *q)
{
	if (prm_qpc_get_log_sra_max(q) > FW_LOG_MAX_RDMA)
		return fw_refuse(c, FW_QP_DEPTH, "log_sra_max %u", prm_qpc_get_log_sra_max(q));
	return 0;
}

static int
check_nothing(struct fw_cmd *c, const struct prm_qpc *q)
{
	(void)c;
	(void)q;
	return 0;
}

#define STATE(s) (1u << PRM_QPC_STATE_##s)
#define ANY_STATE \
	(STATE(RST) | STATE(INIT) | STATE(RTR) | STATE(RTS) | STATE(SQER) | STATE(ERR))
#define OPT(o) PRM_QP_OPTPAR_##o
#define OPT_ACCESS (OPT(RRE) | OPT(RWE) | OPT(RAE))

/* Optional parameters (Linux, mlx5/qp.h, enum mlx5_qp_optpar). */
static const struct qp_transition {
	uint16_t opcode;
	uint16_t from; /* bit mask of states */
	uint8_t to;
	uint32_t optional;
	void (*take)(struct prm_qpc *to, const struct prm_qpc *from);
	int (*check)(struct fw_cmd *c, const struct prm_qpc *q);
} transitions[] = {
	{PRM_CMD_OP_RST2INIT_QP, STATE(RST), PRM_QPC_STATE_INIT,
	 OPT_ACCESS | OPT(PKEY_INDEX) | OPT(Q_KEY) | OPT(PRI_PORT) | OPT(COUNTER_SET_ID), take_init,
	 check_port},
	{PRM_CMD_OP_INIT2INIT_QP, STATE(INIT), PRM_QPC_STATE_INIT,
	 OPT_ACCESS | OPT(PKEY_INDEX) | OPT(Q_KEY) | OPT(PRI_PORT) | OPT(COUNTER_SET_ID),
	 take_nothing, check_port},
	{PRM_CMD_OP_INIT2RTR_QP, STATE(INIT), PRM_QPC_STATE_RTR,
	 OPT_ACCESS | OPT(PKEY_INDEX) | OPT(Q_KEY) | OPT(PRI_PORT) | OPT(RRA_MAX) |
		 OPT(RNR_TIMEOUT) | OPT(PRIMARY_ADDR_PATH) | OPT(COUNTER_SET_ID),
	 take_rtr, check_rtr},
	{PRM_CMD_OP_RTR2RTS_QP, STATE(RTR), PRM_QPC_STATE_RTS,
	 OPT_ACCESS | OPT(RNR_TIMEOUT) | OPT(Q_KEY) | OPT(PM_STATE) | OPT(SRA_MAX) |
		 OPT(RETRY_COUNT) | OPT(RNR_RETRY) | OPT(ACK_TIMEOUT) | OPT(COUNTER_SET_ID),
	 take_rts, check_rts},
	{PRM_CMD_OP_RTS2RTS_QP, STATE(RTS), PRM_QPC_STATE_RTS,
	 OPT_ACCESS | OPT(RNR_TIMEOUT) | OPT(Q_KEY) | OPT(PM_STATE) | OPT(SRA_MAX) |
		 OPT(RRA_MAX) | OPT(COUNTER_SET_ID),
	 take_nothing, check_rts},
	{PRM_CMD_OP_SQERR2RTS_QP, STATE(SQER), PRM_QPC_STATE_RTS,
	 OPT_ACCESS | OPT(RNR_TIMEOUT) | OPT(Q_KEY) | OPT(COUNTER_SET_ID), take_nothing,
	 check_nothing},
	{PRM_CMD_OP_2ERR_QP, ANY_STATE, PRM_QPC_STATE_ERR, 0, NULL, check_nothing},
	{PRM_CMD_OP_2RST_QP, ANY_STATE, PRM_QPC_STATE_RST, 0, NULL, check_nothing},
};

static const struct qp_transition *
transition_find(uint16_t opcode)
{
	for (unsigned i = 0; i < sizeof(transitions) / sizeof(transitions[0]); i++)
		if (transitions[i].opcode == opcode)
			return &transitions[i];
	return NULL;
}

/* Copies the fields that the engine uses from the context. */
static void
qp_apply(struct emu_qp *qp, const struct prm_qpc *q)
{
	const struct prm_ads *path = prm_qpc_primary_address_path_c(q);
	uint16_t mac_high = htobe16((uint16_t)prm_ads_get_rmac_47_32(path));
	uint32_t mac_low = htobe32(prm_ads_get_rmac_31_0(path));

	memcpy(qp->path.rgid, prm_ads_rgid_rip_c(path), sizeof(qp->path.rgid));
	memcpy(qp->path.rmac, &mac_high, 2);
	memcpy(qp->path.rmac + 2, &mac_low, 4);
	qp->path.src_gid_index = (uint8_t)prm_ads_get_src_addr_index(path);
	qp->path.sl = (uint8_t)prm_ads_get_sl(path);
	qp->path.tclass = (uint8_t)prm_ads_get_tclass(path);
	qp->path.hop_limit = (uint8_t)prm_ads_get_hop_limit(path);
	qp->path.force_loopback = prm_ads_get_fl(path);
	qp->ack_timeout = (uint8_t)prm_ads_get_ack_timeout(path);
	qp->remote_qpn = prm_qpc_get_remote_qpn(q);
	qp->q_key = prm_qpc_get_q_key(q);
	qp->mtu = (uint8_t)prm_qpc_get_mtu(q);
	qp->log_msg_max = (uint8_t)prm_qpc_get_log_msg_max(q);
	qp->retry_count = (uint8_t)prm_qpc_get_retry_count(q);
	qp->rnr_retry = (uint8_t)prm_qpc_get_rnr_retry(q);
	qp->min_rnr_nak = (uint8_t)prm_qpc_get_min_rnr_nak(q);
	qp->log_sra_max = (uint8_t)prm_qpc_get_log_sra_max(q);
	qp->log_rra_max = (uint8_t)prm_qpc_get_log_rra_max(q);
	qp->rre = prm_qpc_get_rre(q);
	qp->rwe = prm_qpc_get_rwe(q);
	qp->rae = prm_qpc_get_rae(q);
}

/* RESET clears the connection and empties the queues. */
static void
qp_reset(struct emu_qp *qp)
{
	qp->sq.ci = qp->sq.hw_pi = 0;
	qp->rq.ci = 0;
	qp->next_send_psn = qp->next_rcv_psn = 0;
	qp->comm_est = false;
}

static void
qp_go(struct emu_qp *qp, const struct qp_transition *t, const struct prm_qpc *q)
{
	if (t->to == PRM_QPC_STATE_RST)
		qp_reset(qp);
	if (t->opcode == PRM_CMD_OP_INIT2RTR_QP)
		qp->next_rcv_psn = prm_qpc_get_next_rcv_psn(q);
	if (t->opcode == PRM_CMD_OP_RTR2RTS_QP)
		qp->next_send_psn = prm_qpc_get_next_send_psn(q);
	qp_apply(qp, q);
	qp->state = t->to;
	emu_dp_qp_changed(qp);
}

/* Changes the counter set, the last reference in holds. */
static int
qp_set_counter(struct fw_cmd *c, struct fw_qp *fw, const struct prm_qpc *in)
{
	uint32_t id = prm_qpc_get_counter_set_id(in);
	struct emu_q_counter *counter = NULL;
	struct fw_holds *h = &fw->holds;
	int ret = id == 0 ? 0 : fw_need(c, EMU_OBJ_Q_COUNTER, id, FW_NO_Q_COUNTER, &counter);

	if (ret != 0)
		return ret;
	if (fw->qp.rq.q_counter != NULL)
		emu_obj_unref(h->held[--h->count]);
	fw_hold(h, counter != NULL ? &counter->obj : NULL);
	fw->qp.rq.q_counter = counter;
	return 0;
}

/* Builds the new context: required parameters of the transition, and optional ones in the mask. */
static int
qp_next_context(struct fw_cmd *c, const struct qp_transition *t, struct prm_qpc *next)
{
	const struct prm_qpc *in = prm_rst2init_qp_in_qpc_c(c->in);
	uint32_t opt = prm_rst2init_qp_in_get_opt_param_mask(c->in);

	if ((opt & ~t->optional) != 0)
		return fw_refuse(c, FW_QP_OPTIONAL, "0x%x", opt & ~t->optional);
	if ((opt & OPT(PM_STATE)) && prm_qpc_get_pm_state(in) != PRM_QPC_PM_STATE_MIGRATED)
		return fw_refuse(c, FW_QP_FEATURE, "%s", "no alternate path");
	t->take(next, in);
	take_access(next, in, opt);
	take_port(next, in, opt);
	take_timers(next, in, opt);
	if (opt & OPT(COUNTER_SET_ID))
		prm_qpc_set_counter_set_id(next, prm_qpc_get_counter_set_id(in));
	return t->check(c, next);
}

int
fw_modify_qp(struct fw_cmd *c)
{
	const struct qp_transition *t = transition_find(c->desc->opcode);
	struct fw_qp *fw = (struct fw_qp *)c->obj;
	struct prm_qpc next = fw->qpc;
	int ret = 0;

	if ((t->from & 1u << fw->qp.state) == 0)
		return fw_refuse(c, FW_QP_STATE, "QP 0x%x is %s", c->obj->id,
				 prm_qpc_state_name(fw->qp.state));
	/* Transitions without parameters have no context. */
	if (t->take != NULL) {
		ret = qp_next_context(c, t, &next);
		if (ret == 0 && (prm_rst2init_qp_in_get_opt_param_mask(c->in) & OPT(COUNTER_SET_ID)))
			ret = qp_set_counter(c, fw, &next);
	}
	if (ret != 0)
		return ret;
	fw->qpc = next;
	qp_go(&fw->qp, t, &next);
	return 0;
}
