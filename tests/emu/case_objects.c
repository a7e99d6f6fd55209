/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* The lawful life of objects: create, query, modify, destroy; memory and doorbell pages. */
#include <stdlib.h>
#include <sys/mman.h>

#include "client.h"

static void
check_cq(struct client *c, struct client_obj cq)
{
	struct prm_query_cq_in in = {0};

	prm_query_cq_in_set_opcode(&in, PRM_CMD_OP_QUERY_CQ);
	prm_query_cq_in_set_cqn(&in, cq.id);
	memset(c->out, 0xff, sizeof(c->out));
	CHECK_EQ(mlx5dv_devx_obj_query(cq.obj, &in, sizeof(in), c->out,
				       sizeof(struct prm_query_cq_out)),
		 0);
	CHECK_EQ(client_status(c), 0);
	CHECK_EQ(prm_cqc_get_log_cq_size(
			 prm_query_cq_out_cq_context((struct prm_query_cq_out *)c->out)),
		 6);
	/* Beyond the reply's end nothing was touched. */
	CHECK_EQ(c->out[sizeof(struct prm_query_cq_out)], 0xff);
}

static unsigned
sq_state(struct client *c, struct client_obj sq)
{
	struct prm_query_sq_in in = {0};

	prm_query_sq_in_set_opcode(&in, PRM_CMD_OP_QUERY_SQ);
	prm_query_sq_in_set_sqn(&in, sq.id);
	CHECK_EQ(mlx5dv_devx_obj_query(sq.obj, &in, sizeof(in), c->out,
				       sizeof(struct prm_query_sq_out)),
		 0);
	return prm_sqc_get_state(prm_query_sq_out_sq_context((struct prm_query_sq_out *)c->out));
}

static void
check_general(struct client *c)
{
	struct prm_query_nic_vport_context_in in = {0};
	struct prm_query_nic_vport_context_out *out = (void *)c->out;

	prm_query_nic_vport_context_in_set_opcode(&in, PRM_CMD_OP_QUERY_NIC_VPORT_CONTEXT);
	CHECK_EQ(mlx5dv_devx_general_cmd(c->ctx, &in, sizeof(in), out, sizeof(*out)), 0);
	CHECK_EQ(prm_nic_vport_context_get_mtu(
			 prm_query_nic_vport_context_out_nic_vport_context(out)),
		 1522);
}

void
case_objects(unsigned port)
{
	struct client_obj td, tis, cq, sq, rq, rqt, tir, mkey;
	struct client c;

	client_open(&c, port);
	td = client_td(&c);
	CHECK(td.obj != NULL && td.id != 0);
	tis = client_tis(&c, td.id);
	CHECK(tis.obj != NULL);
	cq = client_cq(&c);
	CHECK(cq.obj != NULL && cq.id != 0);
	check_cq(&c, cq);
	sq = client_sq(&c, cq.id, tis.id);
	CHECK(sq.obj != NULL);
	CHECK_EQ(sq_state(&c, sq), PRM_SQC_STATE_RST);
	CHECK_EQ(client_sq_to(&c, sq, PRM_SQC_STATE_RST, PRM_SQC_STATE_RDY), 0);
	CHECK_EQ(sq_state(&c, sq), PRM_SQC_STATE_RDY);
	rq = client_rq(&c, cq.id);
	CHECK(rq.obj != NULL);
	CHECK_EQ(client_rq_to(&c, rq, PRM_RQC_STATE_RST, PRM_RQC_STATE_RDY), 0);
	rqt = client_rqt(&c, rq.id);
	CHECK(rqt.obj != NULL);
	tir = client_tir(&c, rq.id, td.id);
	CHECK(tir.obj != NULL);
	mkey = client_mkey(&c);
	CHECK(mkey.obj != NULL && mkey.id != 0);
	check_general(&c);

	CHECK_EQ(mlx5dv_devx_obj_destroy(mkey.obj), 0);
	CHECK_EQ(mlx5dv_devx_obj_destroy(tir.obj), 0);
	CHECK_EQ(mlx5dv_devx_obj_destroy(rqt.obj), 0);
	CHECK_EQ(mlx5dv_devx_obj_destroy(rq.obj), 0);
	CHECK_EQ(mlx5dv_devx_obj_destroy(sq.obj), 0);
	CHECK_EQ(mlx5dv_devx_obj_destroy(cq.obj), 0);
	CHECK_EQ(mlx5dv_devx_obj_destroy(tis.obj), 0);
	CHECK_EQ(mlx5dv_devx_obj_destroy(td.obj), 0);
	client_close(&c);
}

static void
check_mr(struct client *c)
{
	struct ibv_mr *mr = ibv_reg_mr(c->pd, c->mem, 8192, IBV_ACCESS_LOCAL_WRITE);

	CHECK(mr != NULL);
	if (mr == NULL)
		return;
	CHECK(mr->lkey != 0);
	CHECK_EQ(ibv_dereg_mr(mr), 0);
}

static void
check_uar(struct client *c)
{
	struct mlx5dv_devx_uar *bf = mlx5dv_devx_alloc_uar(c->ctx, MLX5DV_UAR_ALLOC_TYPE_BF);
	volatile uint64_t *db;

	CHECK(bf != NULL);
	if (bf == NULL)
		return;
	CHECK(bf->page_id != c->uar->page_id);
	CHECK(bf->base_addr != NULL && bf->reg_addr != NULL);
	db = bf->reg_addr;
	*db = 0;
	mlx5dv_devx_free_uar(bf);
}

void
case_memory(unsigned port)
{
	struct mlx5dv_devx_umem_in in = {0};
	struct mlx5dv_devx_umem *ro, *ex;
	struct client c;
	uint8_t *page;

	client_open(&c, port);
	/* Memory that may only be read needs no writable mapping. */
	page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ro = mlx5dv_devx_umem_reg(c.ctx, page, 4096, 0);
	CHECK(ro != NULL);
	if (ro != NULL)
		CHECK_EQ(mlx5dv_devx_umem_dereg(ro), 0);
	munmap(page, 4096);
	in.addr = c.mem;
	in.size = CLIENT_MEM_BYTES;
	in.access = IBV_ACCESS_LOCAL_WRITE;
	in.pgsz_bitmap = UINT64_MAX & ~4095ull;
	ex = mlx5dv_devx_umem_reg_ex(c.ctx, &in);
	CHECK(ex != NULL);
	if (ex != NULL) {
		CHECK(ex->umem_id != c.umem->umem_id);
		CHECK_EQ(mlx5dv_devx_umem_dereg(ex), 0);
	}
	check_mr(&c);
	check_uar(&c);
	client_close(&c);
}
