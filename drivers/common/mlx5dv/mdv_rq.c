/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Receive queues: WQEs of data segments, VLAN stripping, scattering of the FCS. */

#include <string.h>

#include "mdv_private.h"

/** MODIFY_RQ without attributes: the queue, its present and its new state. */
static void
fill_modify(const struct mdv_wq *wq, enum mdv_queue_state to, struct prm_modify_rq_in *in)
{
	memset(in, 0, sizeof(*in));
	prm_modify_rq_in_set_opcode(in, PRM_CMD_OP_MODIFY_RQ);
	prm_modify_rq_in_set_rqn(in, wq->number);
	prm_modify_rq_in_set_rq_state(in, wq->state);
	prm_rqc_set_state(prm_modify_rq_in_ctx(in), to);
}

static int
rq_modify(struct mdv_wq *wq, enum mdv_queue_state to)
{
	struct prm_modify_rq_in in;

	fill_modify(wq, to, &in);
	return mdv_obj_modify(wq->obj, &in, sizeof(in));
}

static int
rq_query_state(struct mdv_wq *wq, uint32_t *state)
{
	struct prm_query_rq_in in = { 0 };
	struct prm_query_rq_out out;
	int rc;

	prm_query_rq_in_set_opcode(&in, PRM_CMD_OP_QUERY_RQ);
	prm_query_rq_in_set_rqn(&in, wq->number);
	rc = mdv_obj_query(wq->obj, &in, sizeof(in), &out, sizeof(out));
	if (rc == 0)
		*state = prm_rqc_get_state(prm_query_rq_out_rq_context_c(&out));
	return rc;
}

static const struct mdv_wq_ops rq_ops = {
	.name = "RQ",
	.bytes = sizeof(struct mdv_rq),
	.dbrec_word = MLX5_RCV_DBR,
	.modify = rq_modify,
	.query_state = rq_query_state,
};

static int
check_attr(struct mdv_dev *dev, const struct mdv_rq_attr *attr)
{
	if (attr->log_stride_bytes < MDV_LOG_RQ_STRIDE_MIN ||
	    attr->log_stride_bytes > MDV_LOG_RQ_STRIDE_MAX) {
		MDV_LOG(ERR, &dev->pci, "RQ with WQEs of 2^%u bytes: allowed are 2^%u..2^%u",
			attr->log_stride_bytes, MDV_LOG_RQ_STRIDE_MIN, MDV_LOG_RQ_STRIDE_MAX);
		return mdv_fail(EINVAL);
	}
	if ((attr->vlan_strip && !dev->caps.vlan_strip) ||
	    (attr->scatter_fcs && !dev->caps.scatter_fcs)) {
		MDV_LOG(ERR, &dev->pci, "the device cannot %s on an RQ",
			attr->vlan_strip && !dev->caps.vlan_strip ? "strip VLAN tags" :
								    "keep the FCS");
		return mdv_fail(ENOTSUP);
	}
	return 0;
}

static void
fill_create(const struct mdv_dev *dev, const struct mdv_rq_attr *attr, const struct mdv_rq *rq,
	    struct prm_create_rq_in *in)
{
	struct prm_rqc *rqc = prm_create_rq_in_ctx(in);

	memset(in, 0, sizeof(*in));
	prm_create_rq_in_set_opcode(in, PRM_CMD_OP_CREATE_RQ);
	prm_rqc_set_state(rqc, PRM_RQC_STATE_RST);
	prm_rqc_set_mem_rq_type(rqc, PRM_RQC_MEM_RQ_TYPE_INLINE);
	prm_rqc_set_flush_in_error_en(rqc, 1);
	/* vsd: VLAN strip disable. */
	prm_rqc_set_vsd(rqc, !attr->vlan_strip);
	prm_rqc_set_scatter_fcs(rqc, attr->scatter_fcs);
	prm_rqc_set_ts_format(rqc, mdv_ts_format(dev));
	prm_rqc_set_cqn(rqc, attr->cqn);
	prm_rqc_set_counter_set_id(rqc, attr->counter_set_id);
	mdv_wq_fill(&rq->wq, dev, prm_rqc_wq(rqc));
}

int
mdv_rq_create(struct mdv_dev *dev, const struct mdv_rq_attr *attr, struct mdv_rq *rq)
{
	const struct mdv_wq_attr wq_attr = {
		.log_wq_sz = attr->log_wqes,
		.log_wq_stride = attr->log_stride_bytes,
		.socket_id = attr->socket_id,
	};
	struct prm_create_rq_in in;

	memset(rq, 0, sizeof(*rq));
	if (check_attr(dev, attr) != 0 || mdv_wq_ring_alloc(dev, &rq_ops, &wq_attr, &rq->wq) != 0)
		return -rte_errno;
	rq->vlan_strip = attr->vlan_strip;
	fill_create(dev, attr, rq, &in);
	if (mdv_wq_create(&rq->wq, dev, &in, sizeof(in)) == 0)
		return 0;
	memset(rq, 0, sizeof(*rq));
	return -rte_errno;
}

int
mdv_rq_set_vlan_strip(struct mdv_rq *rq, bool on)
{
	struct mdv_dev *dev = rq->wq.obj->dev;
	struct prm_modify_rq_in in;

	if (on && !dev->caps.vlan_strip) {
		MDV_LOG(ERR, &dev->pci, "the device cannot strip VLAN tags on RQ 0x%x", rq->wq.number);
		return mdv_fail(ENOTSUP);
	}
	/*
	 * mlx5_core changes vsd of ready RQs only (drivers/net/ethernet/mellanox/mlx5/core/en_main.c,
	 * mlx5e_modify_rq_vsd()), so that is what the firmware is known to accept.
	 */
	if (rq->wq.state != MDV_QS_RDY) {
		MDV_LOG(ERR, &dev->pci, "VLAN stripping changes on ready queues only, RQ 0x%x is not ready",
			rq->wq.number);
		return mdv_fail(EINVAL);
	}
	fill_modify(&rq->wq, rq->wq.state, &in);
	prm_modify_rq_in_set_modify_bitmask(&in, PRM_MODIFY_RQ_BITMASK_VSD);
	prm_rqc_set_vsd(prm_modify_rq_in_ctx(&in), !on);
	if (mdv_obj_modify(rq->wq.obj, &in, sizeof(in)) != 0)
		return -rte_errno;
	rq->vlan_strip = on;
	return 0;
}
