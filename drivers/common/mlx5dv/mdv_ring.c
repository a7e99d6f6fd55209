/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Ring memory shared with the device, and what all queues have in common. */

#include <rte_malloc.h>

#include "mdv_private.h"

int
mdv_ring_alloc(struct mdv_dev *dev, const char *what, size_t bytes, int socket_id,
	       struct mdv_ring *ring)
{
	int err;

	/* Whole pages: what the device may write must not share a page with anything else. */
	bytes = RTE_ALIGN_CEIL(bytes, (size_t)MDV_ADAPTER_PAGE_BYTES);
	ring->addr = rte_zmalloc_socket(what, bytes, MDV_ADAPTER_PAGE_BYTES, socket_id);
	if (ring->addr == NULL) {
		MDV_LOG(ERR, &dev->pci, "no memory for a %s ring of %zu bytes on socket %d", what,
			bytes, socket_id);
		return mdv_fail(ENOMEM);
	}
	ring->bytes = bytes;
	errno = 0;
	if (!mdv_unresponsive(dev))
		ring->umem = MDV_RETRY_PTR(MDV_RUN(dev, mlx5dv_devx_umem_reg(dev->ibv, ring->addr, bytes,
									IBV_ACCESS_LOCAL_WRITE)));
	if (ring->umem != NULL)
		return 0;
	err = errno != 0 ? errno : mdv_unresponsive(dev) ? ENODEV : EIO;
	MDV_LOG_ERR(dev, "mlx5dv_devx_umem_reg of a %s ring of %zu bytes failed: %s%s", what,
		    bytes, mdv_errno_name(err),
		    err == ENOMEM || err == EPERM ? " (locked memory limit?)" : "");
	mdv_ring_free(dev, ring);
	return mdv_fail(err);
}

void
mdv_ring_free(struct mdv_dev *dev, struct mdv_ring *ring)
{
	int err;

	if (ring->umem != NULL) {
		err = MDV_RUN_DESTROY(dev, mlx5dv_devx_umem_dereg(ring->umem));
		/* Of a device at rest nothing writes there any more, whatever is refused. */
		if (err != 0 && !mdv_quiesce_wait(dev)) {
			/* The device may still write there: better lost than handed to others. */
			MDV_LOG(ERR, &dev->pci, "umem of a ring of %zu bytes stays behind -> %s",
				ring->bytes, mdv_errno_name(err));
			ring->addr = NULL;
		}
	}
	rte_free(ring->addr);
	*ring = (struct mdv_ring){ 0 };
}

int
mdv_ring_release(struct mdv_obj *obj, struct mdv_ring *ring)
{
	struct mdv_dev *dev = obj->dev;
	int err = mdv_obj_destroy(obj);

	if (err != 0)
		__atomic_fetch_add(&dev->lost, 1, __ATOMIC_RELAXED);
	if (err != 0 && !mdv_quiesce_wait(dev))
		return err;
	mdv_ring_free(dev, ring);
	return 0;
}

uint32_t
mdv_ts_format(const struct mdv_dev *dev)
{
	return dev->caps.ts_free_running && !dev->clock_real_time ? PRM_TS_FORMAT_FREE_RUNNING :
								   PRM_TS_FORMAT_REAL_TIME;
}

/*
 * Addresses are offsets into the umem. The valid bits of both umem ids a kernel's driver sets by
 * itself; where there is none they are ours to set.
 * log_wq_pg_sz 0 stands for 4 KiB, the page that all offsets count in.
 */
void
mdv_wq_fill(const struct mdv_dev *dev, struct prm_wq *wq, const struct mdv_wq_place *place)
{
	prm_wq_set_wq_type(wq, PRM_WQ_TYPE_CYCLIC);
	prm_wq_set_pd(wq, dev->pdn);
	prm_wq_set_log_wq_stride(wq, place->log_stride_bytes);
	prm_wq_set_log_wq_sz(wq, place->log_entries);
	prm_wq_set_wq_umem_valid(wq, 1);
	prm_wq_set_dbr_umem_valid(wq, 1);
	prm_wq_set_wq_umem_id(wq, place->ring->umem->umem_id);
	prm_wq_set_wq_umem_offset(wq, 0);
	prm_wq_set_dbr_umem_id(wq, place->ring->umem->umem_id);
	prm_wq_set_dbr_addr(wq, place->dbrec_offset);
}

/*
 * Permitted: reset to ready, ready to reset, ready to error, error to reset. Prohibited: error to
 * ready, because the queue's counters would go on where they were; reset to error, because there
 * is nothing to flush; and staying where one is.
 */
int
mdv_queue_transition(const struct mdv_dev *dev, const char *what, uint32_t number,
		     enum mdv_queue_state from, enum mdv_queue_state to)
{
	bool permitted = (from == MDV_QS_RST && to == MDV_QS_RDY) ||
			 (from == MDV_QS_RDY && to == MDV_QS_RST) ||
			 (from == MDV_QS_RDY && to == MDV_QS_ERR) ||
			 (from == MDV_QS_ERR && to == MDV_QS_RST);

	if (permitted)
		return 0;
	MDV_LOG(ERR, &dev->pci, "%s 0x%x cannot go from state %s to %s", what, number,
		prm_sqc_state_name(from), prm_sqc_state_name(to));
	return mdv_fail(EINVAL);
}

int
mdv_queue_state_take(const struct mdv_dev *dev, const char *what, uint32_t number, uint32_t told,
		     enum mdv_queue_state *state)
{
	if (told != MDV_QS_RST && told != MDV_QS_RDY && told != MDV_QS_ERR) {
		MDV_LOG(ERR, &dev->pci, "%s 0x%x is said to be in state %u, which there is not", what,
			number, told);
		return mdv_fail(EPROTO);
	}
	*state = (enum mdv_queue_state)told;
	return 0;
}
