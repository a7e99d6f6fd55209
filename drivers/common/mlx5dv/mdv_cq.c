/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Completion queues: 64-byte CQEs in ring memory. Completion interrupts: vectors, and arming of CQs. */

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_byteorder.h>
#include <rte_io.h>

#include "mdv_barrier.h"
#include "mdv_private.h"
#include "mdv_vector.h"

/*
 * Opcode INVALID (0xf) marks a CQE that the device has not written. The owner bit is that of the pass
 * before the first, so that a check of the owner bit alone does not accept the CQE either.
 */
#define MDV_CQE_INIT_SIGNATURE 0xff /* Enhanced layout of compressed CQEs: of no pass before the 256th. */
#define MDV_CQE_INIT_OP_OWN ((MLX5_CQE_INVALID << 4) | MLX5_CQE_OWNER_MASK)

static int
check_attr(struct mdv_dev *dev, const struct mdv_cq_attr *attr)
{
	if (attr->log_cqes <= dev->caps.log_max_cq_sz)
		return 0;
	return MDV_FAIL(dev->name, EINVAL, "a CQ of 2^%u entries is too large, the device has 2^%u",
			attr->log_cqes, dev->caps.log_max_cq_sz);
}

static void
fill_compression(enum mdv_mini_cqe format, bool enhanced, struct prm_cqc *cqc)
{
	static const uint8_t codes[] = {
		[MDV_MINI_CQE_HASH] = PRM_CQC_MINI_CQE_FORMAT_HASH,
		[MDV_MINI_CQE_FLOW_TAG] = PRM_CQC_MINI_CQE_FORMAT_FTAG_STRIDX,
		[MDV_MINI_CQE_CSUM] = PRM_CQC_MINI_CQE_FORMAT_CSUM,
		[MDV_MINI_CQE_L3_L4] = 0,
		[MDV_MINI_CQE_CSUM_STRIDE] = PRM_CQC_MINI_CQE_FORMAT_CSUM_STRIDX,
	};

	prm_cqc_set_cqe_comp_en(cqc, format != MDV_MINI_CQE_NONE);
	prm_cqc_set_cqe_compression_layout(cqc, enhanced ? PRM_CQE_COMP_LAYOUT_ENHANCED : PRM_CQE_COMP_LAYOUT_BASIC);
	prm_cqc_set_mini_cqe_res_format(cqc, codes[format]);
	prm_cqc_set_mini_cqe_res_format_ext(cqc, format == MDV_MINI_CQE_L3_L4);
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
	fill_compression(attr->mini_cqe, attr->enhanced, cqc);
	prm_cqc_set_log_cq_size(cqc, attr->log_cqes);
	prm_cqc_set_uar_page(cqc, dev->uar->page_id);
	prm_cqc_set_c_eqn(cqc, attr->vector != NULL ? attr->vector->eqn : dev->eqn);
	/* log_page_size 0: pages of 4 KiB. */
	prm_cqc_set_dbr_umem_valid(cqc, 1);
	prm_cqc_set_dbr_umem_id(cqc, umem_id);
	prm_cqc_set_dbr_addr(cqc, (uintptr_t)cq->dbrec - (uintptr_t)cq->ring.addr);
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_cq_create)
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
	cq->enhanced = attr->enhanced;
	for (size_t i = 0; i < (size_t)1 << cq->log_cqes; i++) {
		cq->cqes[i].op_own = MDV_CQE_INIT_OP_OWN;
		cq->cqes[i].signature = MDV_CQE_INIT_SIGNATURE;
	}
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

RTE_EXPORT_INTERNAL_SYMBOL(mdv_cq_destroy)
void
mdv_cq_destroy(struct mdv_cq *cq)
{
	if (cq->obj == NULL)
		return;
	(void)mdv_ring_release(cq->obj, &cq->ring);
	memset(cq, 0, sizeof(*cq));
}

/* ------------------------------------------------------------------ interrupts */

static bool
vector_drain(struct mdv_vector *v)
{
	const struct mdv_backend *backend = v->dev->backend;

	return backend->vector_drain != NULL && backend->vector_drain(v);
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_vector_alloc)
int
mdv_vector_alloc(struct mdv_dev *dev, struct mdv_vector **out)
{
	struct mdv_vector *v = mdv_zalloc(dev->name, sizeof(*v), "an interrupt vector");
	int ret;

	*out = NULL;
	if (v == NULL)
		return -ENOMEM;
	v->dev = dev;
	v->fd = -1;
	ret = dev->backend->vector_up(v);
	if (ret == 0)
		*out = v;
	else
		free(v);
	return ret;
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_vector_free)
void
mdv_vector_free(struct mdv_vector *vector)
{
	if (vector == NULL)
		return;
	vector->dev->backend->vector_down(vector);
	free(vector);
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_vector_attach)
int
mdv_vector_attach(struct mdv_vector *vector, struct mdv_cq *cq)
{
	const struct mdv_backend *backend = vector->dev->backend;
	int ret = backend->vector_attach != NULL ? backend->vector_attach(vector, cq) : 0;

	if (ret != 0)
		return ret;
	vector->cq = cq;
	cq->vector = vector;
	return 0;
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_vector_ack)
int
mdv_vector_ack(struct mdv_vector *vector)
{
	uint64_t events;
	/* The eventfd counts; the device raises at most one event per arming. */
	bool none = read(vector->fd, &events, sizeof(events)) < 0;

	if (none && errno != EAGAIN)
		return mdv_fail(errno);
	/* The application may have read the descriptor. */
	if (!vector_drain(vector) && none)
		return 0;
	if (vector->cq != NULL)
		vector->cq->arm_event = true;
	return 1;
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_vector_kick)
void
mdv_vector_kick(const struct mdv_vector *vector)
{
	mdv_eventfd_signal(vector->fd);
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_cq_arm)
bool
mdv_cq_arm(struct mdv_cq *cq, uint32_t consumer_index)
{
	const struct mlx5dv_devx_uar *uar = cq->obj->dev->uar;
	volatile uint64_t *reg = RTE_PTR_ADD(uar->base_addr, offsetof(struct prm_uar_page, cq_arm));
	uint32_t word;
	bool fresh;

	/* An application may poll the descriptor and never call mdv_vector_ack(). */
	if (cq->vector != NULL)
		(void)vector_drain(cq->vector);
	consumer_index &= PRM_CQ_DBREC_ARM_CI_MASK;
	/* Increment sn only if the event of the last arming was delivered, see mdv_cq_arm(). */
	fresh = cq->arm_event || consumer_index != cq->arm_ci;
	if (fresh)
		cq->arm_sn++;
	cq->arm_event = false;
	cq->arm_ci = consumer_index;
	word = (cq->arm_sn << PRM_CQ_DBREC_ARM_SN_SHIFT & PRM_CQ_DBREC_ARM_SN_MASK) | consumer_index;
	cq->dbrec[1] = rte_cpu_to_be_32(word);
	/* Write the doorbell record before the doorbell: the device then reads it. */
	rte_io_wmb();
	/* One 64-bit store: threads that arm other CQs use the same register. */
	*reg = rte_cpu_to_be_64((uint64_t)word << 32 | cq->cqn);
	/* The page may be write-combining. */
	mdv_wc_flush();
	return fresh;
}
