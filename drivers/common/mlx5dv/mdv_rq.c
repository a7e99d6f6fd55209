/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Receive queues: WQEs of data segments in ring memory, state changes, VLAN stripping. */

#include <string.h>

#include "mdv_private.h"

static int
check_attr(struct mdv_dev *dev, const struct mdv_rq_attr *attr)
{
	if (attr->log_wqes > dev->caps.log_max_wq_sz) {
		MDV_LOG(ERR, &dev->pci, "an RQ of 2^%u WQEs is too large, the device has 2^%u",
			attr->log_wqes, dev->caps.log_max_wq_sz);
		return mdv_fail(EINVAL);
	}
	if (attr->log_stride_bytes < MDV_LOG_RQ_STRIDE_MIN ||
	    attr->log_stride_bytes > MDV_LOG_RQ_STRIDE_MAX) {
		MDV_LOG(ERR, &dev->pci, "an RQ's WQE of 2^%u bytes is not within 2^%u..2^%u",
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
	    size_t dbrec_offset, struct prm_create_rq_in *in)
{
	const struct mdv_wq_place place = {
		.ring = &rq->ring,
		.dbrec_offset = dbrec_offset,
		.log_stride_bytes = attr->log_stride_bytes,
		.log_entries = attr->log_wqes,
	};
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
	mdv_wq_fill(dev, prm_rqc_wq(rqc), &place);
}

int
mdv_rq_create(struct mdv_dev *dev, const struct mdv_rq_attr *attr, struct mdv_rq *rq)
{
	struct prm_create_rq_in in;
	size_t wqe_bytes, dbrec_offset;
	int err;

	memset(rq, 0, sizeof(*rq));
	if (check_attr(dev, attr) != 0)
		return -rte_errno;
	wqe_bytes = (size_t)1 << (attr->log_stride_bytes + attr->log_wqes);
	dbrec_offset = RTE_ALIGN_CEIL(wqe_bytes, (size_t)MDV_DBREC_BYTES);
	if (mdv_ring_alloc(dev, "mdv_rq", dbrec_offset + MDV_DBREC_BYTES, attr->socket_id,
			   &rq->ring) != 0)
		return -rte_errno;
	rq->wqes = rq->ring.addr;
	rq->dbrec = RTE_PTR_ADD(rq->ring.addr, dbrec_offset);
	rq->log_wqes = attr->log_wqes;
	rq->log_stride_bytes = attr->log_stride_bytes;
	rq->vlan_strip = attr->vlan_strip;
	fill_create(dev, attr, rq, dbrec_offset, &in);
	rq->obj = mdv_obj_create(dev, &in, sizeof(in));
	if (rq->obj != NULL) {
		rq->rqn = rq->obj->id;
		rq->state = MDV_QS_RST;
		return 0;
	}
	err = rte_errno;
	mdv_ring_free(dev, &rq->ring);
	memset(rq, 0, sizeof(*rq));
	return mdv_fail(err);
}

/** The head of MODIFY_RQ: which queue, and the state the caller believes it in. */
static void
fill_modify(const struct mdv_rq *rq, enum mdv_queue_state to, struct prm_modify_rq_in *in)
{
	memset(in, 0, sizeof(*in));
	prm_modify_rq_in_set_opcode(in, PRM_CMD_OP_MODIFY_RQ);
	prm_modify_rq_in_set_rqn(in, rq->rqn);
	prm_modify_rq_in_set_rq_state(in, rq->state);
	prm_rqc_set_state(prm_modify_rq_in_ctx(in), to);
}

int
mdv_rq_modify(struct mdv_rq *rq, enum mdv_queue_state to)
{
	struct prm_modify_rq_in in;

	if (mdv_queue_transition(rq->obj->dev, "RQ", rq->rqn, rq->state, to) != 0)
		return -rte_errno;
	fill_modify(rq, to, &in);
	if (mdv_obj_modify(rq->obj, &in, sizeof(in)) != 0)
		return -rte_errno;
	rq->state = to;
	return 0;
}

int
mdv_rq_state_read(struct mdv_rq *rq)
{
	struct prm_query_rq_in in;
	struct prm_query_rq_out out;

	memset(&in, 0, sizeof(in));
	prm_query_rq_in_set_opcode(&in, PRM_CMD_OP_QUERY_RQ);
	prm_query_rq_in_set_rqn(&in, rq->rqn);
	if (mdv_obj_query(rq->obj, &in, sizeof(in), &out, sizeof(out)) != 0)
		return -rte_errno;
	return mdv_queue_state_take(rq->obj->dev, "RQ", rq->rqn,
				    prm_rqc_get_state(prm_query_rq_out_rq_context_c(&out)),
				    &rq->state);
}

int
mdv_rq_set_vlan_strip(struct mdv_rq *rq, bool on)
{
	struct mdv_dev *dev = rq->obj->dev;
	struct prm_modify_rq_in in;

	if (on && !dev->caps.vlan_strip) {
		MDV_LOG(ERR, &dev->pci, "the device cannot strip VLAN tags on RQ 0x%x", rq->rqn);
		return mdv_fail(ENOTSUP);
	}
	/* In other states no known driver changes an RQ but for the state itself. */
	if (rq->state != MDV_QS_RDY) {
		MDV_LOG(ERR, &dev->pci, "VLAN stripping changes on ready queues only, RQ 0x%x is not",
			rq->rqn);
		return mdv_fail(EINVAL);
	}
	fill_modify(rq, rq->state, &in);
	prm_modify_rq_in_set_modify_bitmask(&in, PRM_MODIFY_RQ_BITMASK_VSD);
	prm_rqc_set_vsd(prm_modify_rq_in_ctx(&in), !on);
	if (mdv_obj_modify(rq->obj, &in, sizeof(in)) != 0)
		return -rte_errno;
	rq->vlan_strip = on;
	return 0;
}

int
mdv_rq_destroy(struct mdv_rq *rq)
{
	int rc;

	if (rq->obj == NULL)
		return 0;
	rc = mdv_ring_release(rq->obj, &rq->ring);
	memset(rq, 0, sizeof(*rq));
	return rc;
}
