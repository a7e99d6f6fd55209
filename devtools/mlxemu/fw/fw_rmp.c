/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Receive memory pools, which the kernel creates for shared receive queues. */
#include <endian.h>

#include "fw.h"

static const struct fw_wq_limits rmp_limits = {
	.log_stride_min = 4, .log_stride_max = 9, .needs_uar = false, .may_link = true,
};

static void
rmp_release(struct emu_obj *obj)
{
	emu_dp_forget(obj);
	fw_holds_drop(&((struct fw_rmp *)obj)->holds);
}

static int
rmp_limit_check(struct fw_cmd *c, const struct prm_wq *wq, unsigned log_size)
{
	unsigned lwm = prm_wq_get_lwm(wq);

	if (lwm >= 1u << log_size)
		return fw_refuse(c, FW_RMP_LIMIT, "%u of %u", lwm, 1u << log_size);
	return 0;
}

int
fw_create_rmp(struct fw_cmd *c)
{
	const struct prm_rmpc *rmpc = prm_create_rmp_in_ctx(c->in);
	const struct prm_wq *ctx = prm_rmpc_wq_c(rmpc);
	struct fw_wq wq = {0};
	struct fw_rmp *fw;
	int ret = 0;

	if (prm_rmpc_get_state(rmpc) != PRM_RMPC_STATE_RDY)
		ret = fw_refuse(c, FW_RMP_STATE, "%s",
				prm_rmpc_state_name(prm_rmpc_get_state(rmpc)));
	if (ret == 0)
		ret = fw_wq_check(c, ctx, &rmp_limits, &wq);
	if (ret == 0)
		ret = rmp_limit_check(c, ctx, wq.log_size);
	if (ret == 0)
		ret = fw_create(c, EMU_OBJ_RMP, sizeof(*fw), rmp_release, &fw);
	if (ret != 0)
		return ret;
	fw_hold(&fw->holds, wq.pd_obj);
	fw_hold(&fw->holds, &wq.umem->obj);
	fw_hold(&fw->holds, &wq.dbr_umem->obj);
	fw->rmpc = *rmpc;
	fw->srq.umem = wq.umem;
	fw->srq.dbr_umem = wq.dbr_umem;
	fw->srq.ring = wq.ring;
	fw->srq.dbrec = wq.dbrec;
	fw->srq.pd = wq.pd;
	fw->srq.log_wqes = wq.log_size;
	fw->srq.log_stride_bytes = wq.log_stride;
	fw->srq.linked = prm_wq_get_wq_type(ctx) == PRM_WQ_TYPE_LINKED_LIST;
	fw->srq.limit = (uint16_t)prm_wq_get_lwm(ctx);
	return 0;
}

/* Only the limit can change; this arms its event again. */
int
fw_modify_rmp(struct fw_cmd *c)
{
	struct prm_modify_rmp_in *in = c->in;
	const struct prm_rmpc *rmpc = prm_modify_rmp_in_ctx(in);
	const struct prm_wq *wq = prm_rmpc_wq_c(rmpc);
	struct fw_rmp *fw = (struct fw_rmp *)c->obj;
	int ret;

	if (prm_modify_rmp_in_get_rmp_state(in) != PRM_RMPC_STATE_RDY ||
	    prm_rmpc_get_state(rmpc) != PRM_RMPC_STATE_RDY)
		return fw_refuse(c, FW_RMP_STATE, "%s",
				 prm_rmpc_state_name(prm_rmpc_get_state(rmpc)));
	if (!prm_rmp_bitmask_get_lwm(prm_modify_rmp_in_bitmask_c(in)))
		return 0;
	ret = rmp_limit_check(c, wq, fw->srq.log_wqes);
	if (ret != 0)
		return ret;
	prm_wq_set_lwm(prm_rmpc_wq(&fw->rmpc), prm_wq_get_lwm(wq));
	fw->srq.limit = (uint16_t)prm_wq_get_lwm(wq);
	emu_dp_srq_armed(&fw->srq);
	return 0;
}

int
fw_query_rmp(struct fw_cmd *c)
{
	const struct fw_rmp *fw = (const struct fw_rmp *)c->obj;
	struct prm_rmpc *rmpc = prm_query_rmp_out_rmp_context(c->out);
	struct prm_wq *wq = prm_rmpc_wq(rmpc);

	*rmpc = fw->rmpc;
	if (fw->srq.error)
		prm_rmpc_set_state(rmpc, PRM_RMPC_STATE_ERR);
	prm_wq_set_lwm(wq, fw->srq.limit);
	prm_wq_set_hw_counter(wq, fw->srq.taken);
	prm_wq_set_sw_counter(wq, be32toh(fw->srq.dbrec[0]) & 0xffff);
	return 0;
}
