/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Ring memory shared with the device, and the timestamp format of all queues. */

#include <rte_malloc.h>

#include "mdv_private.h"

int
mdv_ring_alloc(struct mdv_dev *dev, const char *what, size_t bytes, int socket_id,
	       struct mdv_ring *ring)
{
	/* Whole pages: what the device may write must not share a page with anything else. */
	bytes = RTE_ALIGN_CEIL(bytes, (size_t)MDV_ADAPTER_PAGE_BYTES);
	ring->addr = rte_zmalloc_socket(what, bytes, MDV_ADAPTER_PAGE_BYTES, socket_id);
	if (ring->addr == NULL)
		return MDV_FAIL(dev->name, ENOMEM, "no memory for a %s ring of %zu bytes on socket %d", what,
				bytes, socket_id);
	ring->bytes = bytes;
	ring->umem = MDV_RUN_PTR(dev, mlx5dv_devx_umem_reg(dev->ibv, ring->addr, bytes, IBV_ACCESS_LOCAL_WRITE));
	if (ring->umem != NULL)
		return 0;
	(void)MDV_FAIL_DEV(dev, errno, "mlx5dv_devx_umem_reg of a %s ring of %zu bytes failed: %s%s", what, bytes,
			   mdv_errno_name(errno),
			   errno == ENOMEM || errno == EPERM ? " (locked memory limit?)" : "");
	MDV_UNDO(mdv_ring_free(dev, ring));
	return -rte_errno;
}

void
mdv_ring_free(struct mdv_dev *dev, struct mdv_ring *ring)
{
	int err;

	if (ring->umem != NULL) {
		err = MDV_RUN_DESTROY(dev, mlx5dv_devx_umem_dereg, ring->umem);
		/* A removed and quiesced device does no DMA, even if the kernel refuses to release the umem. */
		if (err != 0 && !mdv_quiesce_wait(dev)) {
			/* The device may still write there: leak the memory rather than reuse it. */
			MDV_LOG(ERR, dev->name, "umem of a ring of %zu bytes cannot be released: its memory is leaked -> %s",
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
	if (!mdv_may_release(dev, err)) {
		/* The umem is not deregistered either: the kernel would release its pages. */
		MDV_LEFT(ring->umem);
		*ring = (struct mdv_ring){ 0 };
		return err != 0 ? err : mdv_fail(EIO);
	}
	mdv_ring_free(dev, ring);
	return 0;
}

uint32_t
mdv_ts_format(const struct mdv_dev *dev)
{
	return dev->caps.ts_free_running && !dev->clock_real_time ? PRM_TS_FORMAT_FREE_RUNNING :
								   PRM_TS_FORMAT_REAL_TIME;
}
