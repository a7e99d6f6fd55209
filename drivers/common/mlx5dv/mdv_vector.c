/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Completion interrupts: vectors and arming of CQs. */

#include <stdlib.h>
#include <unistd.h>

#include <rte_byteorder.h>
#include <rte_io.h>

#include "mdv_private.h"
#include "mdv_vector.h"

static bool
vector_drain(struct mdv_vector *v)
{
	const struct mdv_backend *backend = v->dev->backend;

	return backend->vector_drain != NULL && backend->vector_drain(v);
}

int
mdv_vector_alloc(struct mdv_dev *dev, struct mdv_vector **out)
{
	struct mdv_vector *v = mdv_zalloc(&dev->pci, sizeof(*v), "an interrupt vector");
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

void
mdv_vector_free(struct mdv_vector *vector)
{
	if (vector == NULL)
		return;
	vector->dev->backend->vector_down(vector);
	free(vector);
}

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

int
mdv_vector_ack(struct mdv_vector *vector)
{
	uint64_t events;
	int err = 0;

	/* The eventfd counts; the device raises at most one event per arming. */
	while (read(vector->fd, &events, sizeof(events)) < 0) {
		err = errno;
		if (err != EINTR)
			break;
		err = 0;
	}
	if (err != 0 && err != EAGAIN)
		return mdv_fail(err);
	/* The application may have read the descriptor. */
	if (!vector_drain(vector) && err == EAGAIN)
		return 0;
	if (vector->cq != NULL)
		vector->cq->arm_event = true;
	return 1;
}

void
mdv_vector_kick(const struct mdv_vector *vector)
{
	mdv_eventfd_signal(vector->fd);
}

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
	/* Flush the store if the page is write-combining. */
	rte_wmb();
	return fresh;
}
