/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* What the firmware refuses (EREMOTEIO, status, syndrome) and what the kernel refuses before it. */
#include <stdlib.h>
#include <sys/mman.h>

#include "client.h"

/* Opcode 0x805, ACCESS_REG: the kernel keeps it to itself. */
#define OP_ACCESS_REG 0x805

/* The last create was refused by the firmware with this status. */
static void
check_refused(struct client *c, struct client_obj o, unsigned status)
{
	CHECK(o.obj == NULL);
	CHECK_EQ(errno, EREMOTEIO);
	CHECK_EQ(client_status(c), status);
	CHECK(client_syndrome(c) != 0);
}

static void
refused_queries(struct client *c, struct client_obj cq)
{
	struct prm_modify_sq_in in = {0};

	/* A general command unknown to the firmware: passes the kernel, not the firmware. */
	prm_modify_sq_in_set_opcode(&in, 0xbff);
	memset(c->out, 0, sizeof(c->out));
	CHECK_EQ(mlx5dv_devx_general_cmd(c->ctx, &in, 16, c->out, 16), EREMOTEIO);
	CHECK_EQ(client_status(c), PRM_STATUS_BAD_OP);
	(void)cq;
}

void
case_refusals(unsigned port)
{
	struct client_obj td, tis, cq, sq, none;
	struct prm_create_cq_in cq_in;
	struct prm_create_sq_in sq_in;
	struct client c;

	client_open(&c, port);
	td = client_td(&c);
	tis = client_tis(&c, td.id);
	cq = client_cq(&c);
	CHECK(td.obj != NULL && tis.obj != NULL && cq.obj != NULL);

	/* A CQ number that does not exist. */
	client_sq_in(&c, &sq_in, 0xabcde, tis.id);
	none = client_create(&c, &sq_in, sizeof(sq_in));
	check_refused(&c, none, PRM_STATUS_BAD_RES);
	/* A umem that does not exist, an event queue that does not exist. */
	client_cq_in(&c, &cq_in);
	prm_create_cq_in_set_cq_umem_id(&cq_in, 0xfff1);
	none = client_create(&c, &cq_in, sizeof(cq_in));
	check_refused(&c, none, PRM_STATUS_BAD_RES);
	client_cq_in(&c, &cq_in);
	prm_cqc_set_c_eqn(prm_create_cq_in_cq_context(&cq_in), 0xee);
	none = client_create(&c, &cq_in, sizeof(cq_in));
	check_refused(&c, none, PRM_STATUS_BAD_RES);
	/* A mailbox without its context. */
	client_cq_in(&c, &cq_in);
	none = client_create(&c, &cq_in, 16);
	CHECK(none.obj == NULL);
	CHECK_EQ(errno, EREMOTEIO);
	CHECK_EQ(client_status(&c), PRM_STATUS_BAD_INPUT_LEN);
	/* A state that cannot follow. */
	sq = client_sq(&c, cq.id, tis.id);
	CHECK(sq.obj != NULL);
	CHECK_EQ(client_sq_to(&c, sq, PRM_SQC_STATE_RDY, PRM_SQC_STATE_RST), EREMOTEIO);
	CHECK(client_status(&c) != 0);
	refused_queries(&c, cq);
	/* In use: the kernel's own translation of BAD_RES_STATE, there is no reply to copy. */
	CHECK_EQ(mlx5dv_devx_obj_destroy(cq.obj), EINVAL);
	CHECK_EQ(mlx5dv_devx_umem_dereg(c.umem), EINVAL);

	CHECK_EQ(mlx5dv_devx_obj_destroy(sq.obj), 0);
	CHECK_EQ(mlx5dv_devx_obj_destroy(cq.obj), 0);
	CHECK_EQ(mlx5dv_devx_obj_destroy(tis.obj), 0);
	CHECK_EQ(mlx5dv_devx_obj_destroy(td.obj), 0);
	client_close(&c);
}

/* Query of one CQ through the handle of another, a modify command by the query method. */
static void
wrong_object(struct client *c, struct client_obj cq, struct client_obj td)
{
	struct prm_query_cq_in in = {0};

	prm_query_cq_in_set_opcode(&in, PRM_CMD_OP_QUERY_CQ);
	prm_query_cq_in_set_cqn(&in, cq.id + 1);
	CHECK_EQ(mlx5dv_devx_obj_query(cq.obj, &in, sizeof(in), c->out, 512), EINVAL);
	prm_query_cq_in_set_cqn(&in, cq.id);
	CHECK_EQ(mlx5dv_devx_obj_query(td.obj, &in, sizeof(in), c->out, 512), EINVAL);
	CHECK_EQ(mlx5dv_devx_obj_modify(cq.obj, &in, sizeof(in), c->out, 512), EINVAL);
	/* Mailboxes shorter than a header. */
	CHECK_EQ(mlx5dv_devx_obj_query(cq.obj, &in, 8, c->out, 512), EINVAL);
	CHECK_EQ(mlx5dv_devx_obj_query(cq.obj, &in, sizeof(in), c->out, 8), EINVAL);
	/* Addresses that are not mapped. */
	CHECK_EQ(mlx5dv_devx_obj_query(cq.obj, (void *)64, 16, c->out, 512), EFAULT);
	CHECK_EQ(mlx5dv_devx_obj_query(cq.obj, &in, sizeof(in), (void *)64,
				       sizeof(struct prm_query_cq_out)),
		 EFAULT);
}

static void
wrong_memory(struct client *c)
{
	struct mlx5dv_devx_umem_in in = {.addr = c->mem, .size = 8192};
	uint8_t *ro = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(mlx5dv_devx_umem_reg(c->ctx, (void *)4096, 4096, 0) == NULL);
	CHECK_EQ(errno, EFAULT);
	CHECK(mlx5dv_devx_umem_reg(c->ctx, ro, 4096, IBV_ACCESS_LOCAL_WRITE) == NULL);
	CHECK_EQ(errno, EFAULT);
	CHECK(mlx5dv_devx_umem_reg(c->ctx, c->mem, 0, 0) == NULL);
	CHECK_EQ(errno, EINVAL);
	CHECK(mlx5dv_devx_umem_reg(c->ctx, c->mem, 4096, IBV_ACCESS_REMOTE_WRITE) == NULL);
	CHECK_EQ(errno, EINVAL);
	CHECK(mlx5dv_devx_umem_reg(c->ctx, c->mem, 4096, IBV_ACCESS_MW_BIND) == NULL);
	CHECK_EQ(errno, EINVAL);
	/* Page sizes above what the memory has. */
	in.pgsz_bitmap = 1ull << 30;
	CHECK(mlx5dv_devx_umem_reg_ex(c->ctx, &in) == NULL);
	CHECK_EQ(errno, EINVAL);
	munmap(ro, 4096);
}

void
case_kernel_refusals(unsigned port)
{
	struct client_obj td, cq, none;
	struct prm_query_cq_in in = {0};
	struct client c;
	uint32_t eqn;

	client_open(&c, port);
	td = client_td(&c);
	cq = client_cq(&c);
	CHECK(td.obj != NULL && cq.obj != NULL);
	/* Not a general command; the user's form of it (0xb0c) is. */
	prm_query_cq_in_set_opcode(&in, OP_ACCESS_REG);
	CHECK_EQ(mlx5dv_devx_general_cmd(c.ctx, &in, sizeof(in), c.out, 16), EINVAL);
	prm_query_cq_in_set_opcode(&in, 0xb0c);
	CHECK_EQ(mlx5dv_devx_general_cmd(c.ctx, &in, sizeof(in), c.out, 16), EREMOTEIO);
	/* Neither a create command by the general method nor the reverse. */
	prm_query_cq_in_set_opcode(&in, PRM_CMD_OP_ALLOC_PD);
	CHECK_EQ(mlx5dv_devx_general_cmd(c.ctx, &in, sizeof(in), c.out, 16), EINVAL);
	prm_query_cq_in_set_opcode(&in, PRM_CMD_OP_QUERY_HCA_CAP);
	none = client_create(&c, &in, sizeof(in));
	CHECK(none.obj == NULL);
	CHECK_EQ(errno, EINVAL);
	CHECK_EQ(mlx5dv_devx_query_eqn(c.ctx, 1000, &eqn), ENOENT);
	wrong_object(&c, cq, td);
	wrong_memory(&c);
	CHECK_EQ(mlx5dv_devx_obj_destroy(cq.obj), 0);
	CHECK_EQ(mlx5dv_devx_obj_destroy(td.obj), 0);
	client_close(&c);
}

/* libmlx5 requests DEVX in any case; a kernel without it, or without permission, refuses. */
void
case_no_devx(unsigned port)
{
	struct ibv_context *ctx = client_open_bare(port, 0);

	CHECK(ctx != NULL);
	if (ctx != NULL)
		CHECK_EQ(ibv_close_device(ctx), 0);
}
