/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Work queues: what receive and send queues have in common. The differences are in mdv_rq.c and mdv_sq.c. */

#include <string.h>

#include "mdv_private.h"

int
mdv_wq_ring_alloc(struct mdv_dev *dev, const struct mdv_wq_ops *ops, const struct mdv_wq_attr *attr,
		  struct mdv_wq *wq)
{
	size_t wqe_bytes = (size_t)1 << (attr->log_wq_stride + attr->log_wq_sz);

	if (attr->log_wq_sz > dev->caps.log_max_wq_sz) {
		MDV_LOG(ERR, &dev->pci, "%s of 2^%u entries is too large: the limit of the device is 2^%u",
			ops->name, attr->log_wq_sz, dev->caps.log_max_wq_sz);
		return mdv_fail(EINVAL);
	}
	wqe_bytes = RTE_ALIGN_CEIL(wqe_bytes, (size_t)MDV_DBREC_BYTES);
	if (mdv_ring_alloc(dev, ops->name, wqe_bytes + MDV_DBREC_BYTES, attr->socket_id, &wq->ring) != 0)
		return -rte_errno;
	wq->ops = ops;
	wq->wqes = wq->ring.addr;
	wq->dbrec = (volatile uint32_t *)RTE_PTR_ADD(wq->ring.addr, wqe_bytes) + ops->dbrec_word;
	wq->log_wq_sz = attr->log_wq_sz;
	wq->log_wq_stride = attr->log_wq_stride;
	return 0;
}

/*
 * Addresses in the context are offsets into the umem. For a DEVX context mlx5_ib sets both umem_valid bits itself
 * (drivers/infiniband/hw/mlx5/devx.c, devx_set_umem_valid()); with VFIO there is no kernel driver to set them.
 * log_wq_pg_sz stays 0: 4 KiB, the unit of all offsets.
 */
void
mdv_wq_fill(const struct mdv_wq *wq, const struct mdv_dev *dev, struct prm_wq *out)
{
	uintptr_t dbrec = (uintptr_t)(wq->dbrec - wq->ops->dbrec_word);

	prm_wq_set_wq_type(out, PRM_WQ_TYPE_CYCLIC);
	prm_wq_set_pd(out, dev->pdn);
	prm_wq_set_log_wq_stride(out, wq->log_wq_stride);
	prm_wq_set_log_wq_sz(out, wq->log_wq_sz);
	prm_wq_set_wq_umem_valid(out, 1);
	prm_wq_set_dbr_umem_valid(out, 1);
	prm_wq_set_wq_umem_id(out, wq->ring.umem->umem_id);
	prm_wq_set_wq_umem_offset(out, 0);
	prm_wq_set_dbr_umem_id(out, wq->ring.umem->umem_id);
	prm_wq_set_dbr_addr(out, dbrec - (uintptr_t)wq->ring.addr);
}

int
mdv_wq_create(struct mdv_wq *wq, struct mdv_dev *dev, const void *in, size_t in_bytes)
{
	int err;

	wq->obj = mdv_obj_create(dev, in, in_bytes);
	if (wq->obj != NULL) {
		wq->number = wq->obj->id;
		wq->state = MDV_QS_RST;
		return 0;
	}
	err = rte_errno;
	mdv_ring_free(dev, &wq->ring);
	return mdv_fail(err);
}

/*
 * Permitted: reset to ready, ready to reset, ready to error, error to reset. Prohibited: error to ready, because
 * the device would continue with the indices at which it stopped; reset to error, because there is nothing to
 * flush; and the state that the queue has already.
 */
int
mdv_wq_transition(const struct mdv_dev *dev, const char *name, uint32_t number, enum mdv_queue_state from,
		  enum mdv_queue_state to)
{
	bool permitted = (from == MDV_QS_RST && to == MDV_QS_RDY) ||
			 (from == MDV_QS_RDY && to == MDV_QS_RST) ||
			 (from == MDV_QS_RDY && to == MDV_QS_ERR) ||
			 (from == MDV_QS_ERR && to == MDV_QS_RST);

	if (permitted)
		return 0;
	MDV_LOG(ERR, &dev->pci, "%s 0x%x cannot go from state %s to %s", name, number,
		prm_sqc_state_name(from), prm_sqc_state_name(to));
	return mdv_fail(EINVAL);
}

int
mdv_wq_modify(struct mdv_wq *wq, enum mdv_queue_state to)
{
	if (mdv_wq_transition(wq->obj->dev, wq->ops->name, wq->number, wq->state, to) != 0 ||
	    wq->ops->modify(wq, to) != 0)
		return -rte_errno;
	wq->state = to;
	return 0;
}

int
mdv_wq_state_read(struct mdv_wq *wq)
{
	struct mdv_dev *dev = wq->obj->dev;
	uint32_t state;

	if (wq->ops->query_state(wq, &state) != 0)
		return -rte_errno;
	if (state != MDV_QS_RST && state != MDV_QS_RDY && state != MDV_QS_ERR) {
		MDV_LOG(ERR, &dev->pci, "%s 0x%x: the device reports the undefined state %u", wq->ops->name,
			wq->number, state);
		return mdv_fail(EPROTO);
	}
	wq->state = (enum mdv_queue_state)state;
	return 0;
}

int
mdv_wq_destroy(struct mdv_wq *wq)
{
	int rc;

	if (wq->obj == NULL)
		return 0;
	rc = mdv_ring_release(wq->obj, &wq->ring);
	if (wq->ops->release != NULL)
		wq->ops->release(wq);
	memset(wq, 0, wq->ops->bytes);
	return rc;
}
