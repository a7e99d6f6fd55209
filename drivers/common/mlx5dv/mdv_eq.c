/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* MSI-X vectors and event queues of a VFIO context. */

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_byteorder.h>
#include <rte_io.h>

#include "mdv_barrier.h"
#include "mdv_vfio.h"

#define MDV_LOG_EQES_MIN 7
#define MDV_LOG_EQES_MAX 22
/* Owner bit of an entry that the device has not written yet. */
#define MDV_EQE_OWNER_INIT 1

_Static_assert((1u << MDV_LOG_EQES_MIN) >= MDV_EQ_SPARE, "smallest EQ");

/* ------------------------------------------------------------------ vectors */

RTE_EXPORT_INTERNAL_SYMBOL(mdv_msi_alloc)
int
mdv_msi_alloc(struct mdv_dev *dev, struct mdv_msi **out)
{
	struct mdv_msi *msi = mdv_zalloc(dev->name, sizeof(*msi), "an interrupt vector");

	*out = NULL;
	if (msi == NULL)
		return -ENOMEM;
	msi->dev = dev;
	msi->devx = MDV_RETRY_PTR(dev, mlx5dv_devx_alloc_msi_vector(dev->ibv));
	if (msi->devx == NULL) {
		(void)MDV_FAIL_DEV(dev, errno, "no interrupt vector: cannot allocate one of MSI-X: %s%s",
				   mdv_errno_name(errno),
				   errno == ENOSPC ? " (all vectors of the function are in use)" : "");
		free(msi);
		return -rte_errno;
	}
	msi->vector = msi->devx->vector;
	msi->fd = msi->devx->fd;
	*out = msi;
	return 0;
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_msi_free)
int
mdv_msi_free(struct mdv_msi *msi)
{
	int err;

	if (msi == NULL)
		return 0;
	err = mdv_positive_errno(mlx5dv_devx_free_msi_vector(msi->devx));
	if (err != 0)
		return MDV_FAIL_DEV(msi->dev, err, "MSI-X vector %d stays behind -> %s", msi->vector,
				    mdv_errno_name(err));
	free(msi);
	return 0;
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_msi_drain)
void
mdv_msi_drain(const struct mdv_msi *msi)
{
	uint64_t events;
	ssize_t n = read(msi->fd, &events, sizeof(events));

	RTE_SET_USED(n);
}

/* ------------------------------------------------------------------ queues */

static volatile struct prm_eqe *
eqe_at(const struct mdv_eq *eq, uint32_t index)
{
	uint32_t slot = index & ((1u << eq->log_eqes) - 1);

	return (volatile struct prm_eqe *)eq->devx->vaddr + slot;
}

/* The status in the outbox takes precedence over errno, see mdv_cmd_result(). */
static struct mlx5dv_devx_eq *
run_create(struct mdv_dev *dev, const struct prm_create_eq_in *in, struct prm_create_eq_out *out)
{
	const uint64_t begin_ns = mdv_now_ns();
	struct mlx5dv_devx_eq *devx;

	memset(out, 0, sizeof(*out));
	devx = MDV_RUN_PTR(dev, mlx5dv_devx_create_eq(dev->ibv, in, sizeof(*in), out, sizeof(*out)));
	if (mdv_cmd_result(dev, in, sizeof(*in), out, devx != NULL ? 0 : errno, false, begin_ns) == 0)
		return devx;
	if (devx != NULL)
		MDV_UNDO(MDV_RUN(dev, mlx5dv_devx_destroy_eq(devx)));
	return NULL;
}

static void
fill_create(const struct mdv_dev *dev, const struct mdv_msi *msi, uint8_t log_eqes, uint64_t events,
	    struct prm_create_eq_in *in)
{
	struct prm_eqc *eqc = prm_create_eq_in_eq_context_entry(in);

	memset(in, 0, sizeof(*in));
	prm_create_eq_in_set_opcode(in, PRM_CMD_OP_CREATE_EQ);
	prm_create_eq_in_set_event_bitmask(in, 0, events);
	prm_eqc_set_log_eq_size(eqc, log_eqes);
	prm_eqc_set_uar_page(eqc, dev->uar->page_id);
	prm_eqc_set_intr(eqc, msi->vector);
}

/*
 * mlx5dv_devx_create_eq() returns the address of the entries after the EQ exists, so the owner bits are
 * initialised while the device may already write events. Skip these events: an entry that was
 * overwritten would never become valid and would block all later ones.
 */
static int
skip_early(struct mdv_eq *eq)
{
	struct prm_query_eq_out out;
	struct prm_query_eq_in in = { 0 };

	prm_query_eq_in_set_opcode(&in, PRM_CMD_OP_QUERY_EQ);
	prm_query_eq_in_set_eq_number(&in, eq->eqn);
	if (mdv_cmd(eq->dev, &in, sizeof(in), &out, sizeof(out)) != 0)
		return -rte_errno;
	eq->index = prm_eqc_get_producer_counter(prm_query_eq_out_eq_context_entry_c(&out));
	return 0;
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_eq_create)
int
mdv_eq_create(struct mdv_dev *dev, const struct mdv_msi *msi, uint8_t log_eqes, uint64_t events,
	      struct mdv_eq **out)
{
	struct prm_create_eq_out reply;
	struct prm_create_eq_in in;
	struct mdv_eq *eq;

	*out = NULL;
	if (log_eqes < MDV_LOG_EQES_MIN || log_eqes > MDV_LOG_EQES_MAX)
		return MDV_FAIL(dev->name, EINVAL, "EQ of 2^%u entries is out of range: 2^%d to 2^%d", log_eqes,
				MDV_LOG_EQES_MIN, MDV_LOG_EQES_MAX);
	eq = mdv_zalloc(dev->name, sizeof(*eq), "an EQ");
	if (eq == NULL)
		return -ENOMEM;
	fill_create(dev, msi, log_eqes, events, &in);
	eq->devx = run_create(dev, &in, &reply);
	if (eq->devx == NULL) {
		free(eq);
		return -rte_errno;
	}
	eq->dev = dev;
	eq->eqn = prm_create_eq_out_get_eq_number(&reply);
	eq->log_eqes = log_eqes;
	for (uint32_t i = 0; i < 1u << log_eqes; i++)
		eqe_at(eq, i)->owner = MDV_EQE_OWNER_INIT;
	rte_io_wmb();
	if (skip_early(eq) != 0) {
		MDV_UNDO(mdv_eq_destroy(eq));
		return -rte_errno;
	}
	mdv_eq_arm(eq);
	*out = eq;
	return 0;
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_eq_destroy)
int
mdv_eq_destroy(struct mdv_eq *eq)
{
	int err;

	if (eq == NULL)
		return 0;
	/* rdma-core never frees it (providers/mlx5/mlx5_vfio.c, vfio_devx_destroy_eq(), up to release 64). */
	MDV_LEFT(eq->devx->vaddr);
	err = MDV_RUN_DESTROY(eq->dev, mlx5dv_devx_destroy_eq, eq->devx);
	if (err != 0) {
		__atomic_fetch_add(&eq->dev->lost, 1, __ATOMIC_RELAXED);
		MDV_LOG_ERR(eq->dev, "EQ 0x%x stays behind -> %s", eq->eqn, mdv_errno_name(err));
	}
	free(eq);
	return err != 0 ? mdv_fail(err) : 0;
}

/* ------------------------------------------------------------------ events */

static void
write_index(struct mdv_eq *eq, unsigned int offset)
{
	volatile uint32_t *reg = RTE_PTR_ADD(eq->dev->uar->base_addr, offset);

	eq->written = eq->index;
	/* Complete the reads of the entries before the device may overwrite them. */
	rte_io_mb();
	*reg = rte_cpu_to_be_32(eq->eqn << PRM_UAR_PAGE_EQ_ARM_EQN_SHIFT |
				(eq->index & PRM_UAR_PAGE_EQ_ARM_CI_MASK));
	/* No flush: EQs exist behind VFIO only, where rdma-core allocates no write-combining page. */
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_eq_take)
bool
mdv_eq_take(struct mdv_eq *eq, struct prm_eqe *eqe)
{
	volatile struct prm_eqe *from = eqe_at(eq, eq->index);

	if ((from->owner & 1) != (eq->index >> eq->log_eqes & 1))
		return false;
	/* Read the owner bit before the rest of the entry. */
	rte_io_rmb();
	memcpy(eqe, (const void *)(uintptr_t)from, sizeof(*eqe));
	eq->index++;
	if (eq->index - eq->written >= MDV_EQ_SPARE / 2)
		write_index(eq, offsetof(struct prm_uar_page, eq_index));
	return true;
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_eq_arm)
void
mdv_eq_arm(struct mdv_eq *eq)
{
	write_index(eq, offsetof(struct prm_uar_page, eq_arm));
}

/* ------------------------------------------------------------------ a vector for a CQ */

int
mdv_vfio_vector_up(struct mdv_vector *v)
{
	if (mdv_msi_alloc(v->dev, &v->msi) != 0)
		return -rte_errno;
	if (mdv_eq_create(v->dev, v->msi, MDV_LOG_EQES_MIN, 0, &v->eq) != 0) {
		MDV_UNDO(mdv_msi_free(v->msi));
		return -rte_errno;
	}
	v->fd = v->msi->fd;
	v->eqn = v->eq->eqn;
	return 0;
}

void
mdv_vfio_vector_down(struct mdv_vector *v)
{
	(void)mdv_eq_destroy(v->eq);
	(void)mdv_msi_free(v->msi);
}

/* Without new events the EQ is still armed: save the doorbell. */
bool
mdv_vfio_vector_drain(struct mdv_vector *v)
{
	bool any = false;
	struct prm_eqe eqe;

	while (mdv_eq_take(v->eq, &eqe))
		any = true;
	if (any)
		mdv_eq_arm(v->eq);
	return any;
}
