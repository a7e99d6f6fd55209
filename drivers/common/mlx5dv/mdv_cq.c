/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Completion queues: 64-byte CQEs in ring memory, not armed for interrupts (mdv_vector.c). */

#include <string.h>

#include "mdv_private.h"
#include "mdv_vector.h"

/*
 * Opcode INVALID (0xf) marks a CQE that the device has not written. The owner bit is that of the pass
 * before the first, so that a check of the owner bit alone does not accept the CQE either.
 */
#define MDV_CQE_INIT_OP_OWN ((MLX5_CQE_INVALID << 4) | MLX5_CQE_OWNER_MASK)

static int
check_attr(struct mdv_dev *dev, const struct mdv_cq_attr *attr)
{
	if (attr->log_cqes <= dev->caps.log_max_cq_sz)
		return 0;
	return MDV_FAIL(&dev->pci, EINVAL, "a CQ of 2^%u entries is too large, the device has 2^%u",
			attr->log_cqes, dev->caps.log_max_cq_sz);
}

static void
fill_create(const struct mdv_dev *dev, const struct mdv_cq_attr *attr, const struct mdv_cq *cq,
	    struct prm_create_cq_in *in)
{
	struct prm_cqc *cqc = prm_create_cq_in_cq_context(in);
	uint32_t umem_id = cq->ring.umem->umem_id;

	memset(in, 0, sizeof(*in));
	prm_create_cq_in_set_opcode(in, PRM_CMD_OP_CREATE_CQ);
	prm_create_cq_in_set_cq_umem_valid(in, 1);
	prm_create_cq_in_set_cq_umem_id(in, umem_id);
	prm_create_cq_in_set_cq_umem_offset(in, 0);
	prm_cqc_set_cqe_sz(cqc, PRM_CQC_CQE_SZ_64B);
	prm_cqc_set_oi(cqc, attr->overrun_ignore);
	prm_cqc_set_log_cq_size(cqc, attr->log_cqes);
	prm_cqc_set_uar_page(cqc, dev->uar->page_id);
	prm_cqc_set_c_eqn(cqc, attr->vector != NULL ? attr->vector->eqn : dev->eqn);
	/* log_page_size 0: pages of 4 KiB. */
	prm_cqc_set_dbr_umem_valid(cqc, 1);
	prm_cqc_set_dbr_umem_id(cqc, umem_id);
	prm_cqc_set_dbr_addr(cqc, (uintptr_t)cq->dbrec - (uintptr_t)cq->ring.addr);
}

int
mdv_cq_create(struct mdv_dev *dev, const struct mdv_cq_attr *attr, struct mdv_cq *cq)
{
	struct prm_create_cq_in in;
	size_t cqe_bytes = (size_t)MDV_CQE_BYTES << attr->log_cqes;

	memset(cq, 0, sizeof(*cq));
	if (check_attr(dev, attr) != 0 ||
	    mdv_ring_alloc(dev, "mdv_cq", cqe_bytes + MDV_DBREC_BYTES, attr->socket_id,
			   &cq->ring) != 0)
		return -rte_errno;
	cq->cqes = cq->ring.addr;
	cq->dbrec = RTE_PTR_ADD(cq->ring.addr, cqe_bytes);
	cq->log_cqes = attr->log_cqes;
	for (size_t i = 0; i < (size_t)1 << cq->log_cqes; i++)
		cq->cqes[i].op_own = MDV_CQE_INIT_OP_OWN;
	fill_create(dev, attr, cq, &in);
	cq->obj = mdv_obj_create(dev, &in, sizeof(in));
	if (cq->obj != NULL) {
		cq->cqn = cq->obj->id;
		return 0;
	}
	MDV_UNDO(mdv_ring_free(dev, &cq->ring));
	memset(cq, 0, sizeof(*cq));
	return -rte_errno;
}

void
mdv_cq_destroy(struct mdv_cq *cq)
{
	if (cq->obj == NULL)
		return;
	(void)mdv_ring_release(cq->obj, &cq->ring);
	memset(cq, 0, sizeof(*cq));
}
