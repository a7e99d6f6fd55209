/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Vectors and event queues of a VFIO context: each return value in mlx5dv_devx_alloc_msi_vector(3) and
  * mlx5dv_devx_create_eq(3), from the library and through the common layer.
 */

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include <mdv_eq.h>

#include "mdv_test.h"

#define VECTORS_MAX 256
#define LOG_EQES 7

/* ------------------------------------------------------------------ the library */

/* Vector 0 belongs to the library; the others can be allocated until none is free. */
static void
check_vectors(struct mdv_dev *dev)
{
	struct mlx5dv_devx_msi_vector *v[VECTORS_MAX], *last;
	int n = 0, fd, number;

	while (n < VECTORS_MAX) {
		errno = 0;
		v[n] = mlx5dv_devx_alloc_msi_vector(dev->ibv);
		if (v[n] == NULL)
			break;
		CHECK(v[n]->vector > 0 && v[n]->fd >= 0);
		n++;
	}
	CHECK_EQ(errno, ENOSPC);
	REQUIRE(n > 1 && n < VECTORS_MAX);
	/* Invalid: descriptor of another vector, the library's vector, an unknown vector. Nothing is freed. */
	last = v[n - 1];
	fd = last->fd;
	number = last->vector;
	last->fd = v[0]->fd;
	CHECK_EQ(mlx5dv_devx_free_msi_vector(last), EINVAL);
	last->fd = fd;
	last->vector = 0;
	CHECK_EQ(mlx5dv_devx_free_msi_vector(last), EINVAL);
	last->vector = 10000;
	CHECK_EQ(mlx5dv_devx_free_msi_vector(last), EINVAL);
	last->vector = number;
	/* A freed vector can be allocated again. */
	CHECK_EQ(mlx5dv_devx_free_msi_vector(last), 0);
	v[n - 1] = mlx5dv_devx_alloc_msi_vector(dev->ibv);
	CHECK(v[n - 1] != NULL && v[n - 1]->vector == number);
	for (int i = 0; i < n; i++)
		CHECK_EQ(mlx5dv_devx_free_msi_vector(v[i]), 0);
}

static void
fill(const struct mdv_dev *dev, uint32_t vector, struct prm_create_eq_in *in)
{
	struct prm_eqc *eqc = prm_create_eq_in_eq_context_entry(in);

	memset(in, 0, sizeof(*in));
	prm_create_eq_in_set_opcode(in, PRM_CMD_OP_CREATE_EQ);
	prm_eqc_set_log_eq_size(eqc, LOG_EQES);
	prm_eqc_set_uar_page(eqc, dev->uar->page_id);
	prm_eqc_set_intr(eqc, vector);
}

static void
check_queues(struct mdv_dev *dev)
{
	struct mlx5dv_devx_msi_vector *v = mlx5dv_devx_alloc_msi_vector(dev->ibv);
	struct prm_create_eq_out out;
	struct prm_create_eq_in in;
	struct mlx5dv_devx_eq *eq;

	REQUIRE(v != NULL);
	/* Mailbox too short, another command, the library's vector. */
	fill(dev, v->vector, &in);
	CHECK(mlx5dv_devx_create_eq(dev->ibv, &in, sizeof(in) - 4, &out, sizeof(out)) == NULL);
	CHECK_EQ(errno, EINVAL);
	prm_create_eq_in_set_opcode(&in, PRM_CMD_OP_CREATE_CQ);
	CHECK(mlx5dv_devx_create_eq(dev->ibv, &in, sizeof(in), &out, sizeof(out)) == NULL);
	CHECK_EQ(errno, EINVAL);
	fill(dev, 0, &in);
	CHECK(mlx5dv_devx_create_eq(dev->ibv, &in, sizeof(in), &out, sizeof(out)) == NULL);
	CHECK_EQ(errno, EINVAL);
	fill(dev, v->vector, &in);
	eq = mlx5dv_devx_create_eq(dev->ibv, &in, sizeof(in), &out, sizeof(out));
	CHECK(eq != NULL && eq->vaddr != NULL);
	if (eq != NULL)
		CHECK_EQ(mlx5dv_devx_destroy_eq(eq), 0);
	CHECK_EQ(mlx5dv_devx_free_msi_vector(v), 0);
}

/* ------------------------------------------------------------------ the common layer */

static void
check_msi(struct mdv_dev *dev)
{
	struct mdv_msi *msi[VECTORS_MAX], *one;
	int n = 0, ret = 0, number;

	log_begin();
	while (n < VECTORS_MAX && (ret = mdv_msi_alloc(dev, &msi[n])) == 0)
		n++;
	CHECK_EQ(ret, -ENOSPC);
	CHECK(msi[n] == NULL);
	CHECK_EQ(lines_with(log_end(), "ENOSPC (all vectors of the function are in use)"), 1);
	REQUIRE(n > 1);
	one = msi[--n];
	number = one->devx->vector;
	one->devx->vector = 0;
	log_begin();
	CHECK_EQ(mdv_msi_free(one), -EINVAL);
	CHECK_EQ(lines_with(log_end(), "stays behind -> EINVAL"), 1);
	one->devx->vector = number;
	CHECK_EQ(mdv_msi_free(one), 0);
	while (n > 0)
		CHECK_EQ(mdv_msi_free(msi[--n]), 0);
	CHECK_EQ(mdv_msi_free(NULL), 0);
}

static void
check_eq(struct mdv_dev *dev)
{
	struct mdv_msi *msi;
	struct prm_eqe eqe;
	struct mdv_eq *eq;
	struct pollfd p;

	REQUIRE(mdv_msi_alloc(dev, &msi) == 0);
	log_begin();
	CHECK_EQ(mdv_eq_create(dev, msi, LOG_EQES - 1, 0, &eq), -EINVAL);
	CHECK(eq == NULL);
	CHECK_EQ(mdv_eq_create(dev, msi, 23, 0, &eq), -EINVAL);
	CHECK_EQ(lines_of(log_end()), 2);
	for (int i = 0; i < 3; i++) {
		REQUIRE(mdv_eq_create(dev, msi, LOG_EQES + i, 0, &eq) == 0);
		CHECK(!mdv_eq_take(eq, &eqe));
		mdv_eq_arm(eq);
		p = (struct pollfd){ .fd = msi->fd, .events = POLLIN };
		CHECK_EQ(poll(&p, 1, 0), 0);
		CHECK_EQ(mdv_eq_destroy(eq), 0);
	}
	CHECK_EQ(mdv_eq_destroy(NULL), 0);
	CHECK_EQ(mdv_msi_free(msi), 0);
}

/* Refusals by the device: the outbox is returned, and an object that was not destroyed stays valid. */
void
test_eq_refused(struct mdv_dev *dev)
{
	struct mlx5dv_devx_msi_vector *v = mlx5dv_devx_alloc_msi_vector(dev->ibv);
	struct prm_create_eq_out out;
	struct prm_create_eq_in in;
	struct mlx5dv_devx_eq *eq;

	REQUIRE(v != NULL);
	fill(dev, v->vector, &in);
	memset(&out, 0, sizeof(out));
	CHECK(mlx5dv_devx_create_eq(dev->ibv, &in, sizeof(in), &out, sizeof(out)) == NULL);
	CHECK_EQ(errno, EREMOTEIO);
	CHECK_EQ(prm_create_eq_out_get_status(&out), PRM_STATUS_NO_RESOURCES);
	CHECK_EQ(prm_create_eq_out_get_syndrome(&out), 0x2a3d5c);
	eq = mlx5dv_devx_create_eq(dev->ibv, &in, sizeof(in), &out, sizeof(out));
	REQUIRE(eq != NULL);
	CHECK_EQ(mlx5dv_devx_destroy_eq(eq), EINVAL);
	CHECK_EQ(mlx5dv_devx_destroy_eq(eq), 0);
	CHECK_EQ(mlx5dv_devx_free_msi_vector(v), 0);
}

void
test_eq(struct mdv_dev *dev)
{
	check_vectors(dev);
	check_queues(dev);
	check_msi(dev);
	check_eq(dev);
}
