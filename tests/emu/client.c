/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Opens a device and builds lawful commands. */
#include <arpa/inet.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "client.h"

struct ibv_device *
client_device(struct ibv_device **list, unsigned port)
{
	char name[16];

	snprintf(name, sizeof(name), "mlx5_%u", port);
	while (list != NULL && *list != NULL && strcmp(ibv_get_device_name(*list), name) != 0)
		list++;
	return list != NULL ? *list : NULL;
}

struct ibv_context *
client_open_bare(unsigned port, uint32_t flags)
{
	struct mlx5dv_context_attr attr = {.flags = flags};
	struct ibv_device **list = ibv_get_device_list(NULL), *device = client_device(list, port);
	struct ibv_context *ctx = device != NULL ? mlx5dv_open_device(device, &attr) : NULL;

	if (list != NULL)
		ibv_free_device_list(list);
	return ctx;
}

static void
need(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "client: %s failed: %s\n", what, strerror(errno));
	exit(1);
}

void
client_open(struct client *c, unsigned port)
{
	struct mlx5dv_pd dv = {0};
	struct mlx5dv_obj obj = {.pd = {.out = &dv}};

	memset(c, 0, sizeof(*c));
	c->ctx = client_open_bare(port, MLX5DV_CONTEXT_FLAGS_DEVX);
	need(c->ctx != NULL, "mlx5dv_open_device");
	c->pd = ibv_alloc_pd(c->ctx);
	need(c->pd != NULL, "ibv_alloc_pd");
	obj.pd.in = c->pd;
	need(mlx5dv_init_obj(&obj, MLX5DV_OBJ_PD) == 0, "mlx5dv_init_obj");
	c->pdn = dv.pdn;
	need(mlx5dv_devx_query_eqn(c->ctx, 0, &c->eqn) == 0, "mlx5dv_devx_query_eqn");
	c->mem = mmap(NULL, CLIENT_MEM_BYTES, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	need(c->mem != MAP_FAILED, "mmap");
	c->umem = mlx5dv_devx_umem_reg(c->ctx, c->mem, CLIENT_MEM_BYTES, IBV_ACCESS_LOCAL_WRITE);
	need(c->umem != NULL, "mlx5dv_devx_umem_reg");
	c->uar = mlx5dv_devx_alloc_uar(c->ctx, MLX5DV_UAR_ALLOC_TYPE_NC);
	need(c->uar != NULL, "mlx5dv_devx_alloc_uar");
}

void
client_close(struct client *c)
{
	mlx5dv_devx_free_uar(c->uar);
	CHECK_EQ(mlx5dv_devx_umem_dereg(c->umem), 0);
	munmap(c->mem, CLIENT_MEM_BYTES);
	CHECK_EQ(ibv_dealloc_pd(c->pd), 0);
	CHECK_EQ(ibv_close_device(c->ctx), 0);
}

uint32_t
client_dword(const void *reply, unsigned dword)
{
	uint32_t v;

	memcpy(&v, (const uint8_t *)reply + 4 * dword, sizeof(v));
	return ntohl(v);
}

uint8_t
client_status(const struct client *c)
{
	return c->out[0];
}

uint32_t
client_syndrome(const struct client *c)
{
	return client_dword(c->out, 1);
}

struct client_obj
client_create(struct client *c, const void *in, size_t in_len)
{
	struct client_obj o = {0};

	memset(c->out, 0, sizeof(c->out));
	errno = 0;
	o.obj = mlx5dv_devx_obj_create(c->ctx, in, in_len, c->out, 16);
	o.id = client_dword(c->out, 2) & 0xffffff;
	return o;
}

/* Every later step needs this: exit on failure. */
static struct client_obj
must(struct client_obj o, const char *what)
{
	need(o.obj != NULL, what);
	return o;
}

struct client_obj
client_td(struct client *c)
{
	struct prm_alloc_transport_domain_in in = {0};

	prm_alloc_transport_domain_in_set_opcode(&in, PRM_CMD_OP_ALLOC_TRANSPORT_DOMAIN);
	return must(client_create(c, &in, sizeof(in)), "ALLOC_TRANSPORT_DOMAIN");
}

struct client_obj
client_tis(struct client *c, uint32_t td)
{
	struct prm_create_tis_in in = {0};

	prm_create_tis_in_set_opcode(&in, PRM_CMD_OP_CREATE_TIS);
	prm_tisc_set_transport_domain(prm_create_tis_in_ctx(&in), td);
	return must(client_create(c, &in, sizeof(in)), "CREATE_TIS");
}

/* CQEs in hardware ownership: the owner bit set, opcode invalid. */
static void
cq_memory(const struct client *c)
{
	unsigned i;

	memset(c->mem + CLIENT_CQ, 0, 64 * 64);
	for (i = 0; i < 64; i++)
		c->mem[CLIENT_CQ + 64 * i + 63] = 0xf1;
}

void
client_cq_in(const struct client *c, struct prm_create_cq_in *in)
{
	struct prm_cqc *cqc = prm_create_cq_in_cq_context(in);

	memset(in, 0, sizeof(*in));
	prm_create_cq_in_set_opcode(in, PRM_CMD_OP_CREATE_CQ);
	prm_create_cq_in_set_cq_umem_valid(in, 1);
	prm_cqc_set_dbr_umem_valid(cqc, 1);
	prm_create_cq_in_set_cq_umem_id(in, c->umem->umem_id);
	prm_create_cq_in_set_cq_umem_offset(in, CLIENT_CQ);
	prm_cqc_set_log_cq_size(cqc, 6);
	prm_cqc_set_uar_page(cqc, c->uar->page_id);
	prm_cqc_set_c_eqn(cqc, c->eqn);
	prm_cqc_set_dbr_umem_id(cqc, c->umem->umem_id);
	prm_cqc_set_dbr_addr(cqc, CLIENT_DBREC);
}

struct client_obj
client_cq(struct client *c)
{
	struct prm_create_cq_in in;

	cq_memory(c);
	client_cq_in(c, &in);
	return must(client_create(c, &in, sizeof(in)), "CREATE_CQ");
}

static void
wq_fill(const struct client *c, struct prm_wq *wq, uint32_t offset, uint32_t dbrec,
	unsigned log_stride)
{
	prm_wq_set_wq_type(wq, PRM_WQ_TYPE_CYCLIC);
	prm_wq_set_pd(wq, c->pdn);
	prm_wq_set_log_wq_stride(wq, log_stride);
	prm_wq_set_log_wq_sz(wq, 6);
	prm_wq_set_wq_umem_valid(wq, 1);
	prm_wq_set_dbr_umem_valid(wq, 1);
	prm_wq_set_wq_umem_id(wq, c->umem->umem_id);
	prm_wq_set_wq_umem_offset(wq, offset);
	prm_wq_set_dbr_umem_id(wq, c->umem->umem_id);
	prm_wq_set_dbr_addr(wq, dbrec);
}

void
client_sq_in(const struct client *c, struct prm_create_sq_in *in, uint32_t cqn, uint32_t tisn)
{
	struct prm_sqc *sqc = prm_create_sq_in_ctx(in);

	memset(in, 0, sizeof(*in));
	prm_create_sq_in_set_opcode(in, PRM_CMD_OP_CREATE_SQ);
	prm_sqc_set_flush_in_error_en(sqc, 1);
	prm_sqc_set_cqn(sqc, cqn);
	prm_sqc_set_tis_lst_sz(sqc, 1);
	prm_sqc_set_tis_num_0(sqc, tisn);
	prm_wq_set_uar_page(prm_sqc_wq(sqc), c->uar->page_id);
	wq_fill(c, prm_sqc_wq(sqc), CLIENT_SQ, CLIENT_DBREC + 64, 6);
}

struct client_obj
client_sq(struct client *c, uint32_t cqn, uint32_t tisn)
{
	struct prm_create_sq_in in;

	client_sq_in(c, &in, cqn, tisn);
	return must(client_create(c, &in, sizeof(in)), "CREATE_SQ");
}

struct client_obj
client_rq(struct client *c, uint32_t cqn)
{
	struct prm_create_rq_in in = {0};
	struct prm_rqc *rqc = prm_create_rq_in_ctx(&in);

	prm_create_rq_in_set_opcode(&in, PRM_CMD_OP_CREATE_RQ);
	prm_rqc_set_vsd(rqc, 1);
	prm_rqc_set_flush_in_error_en(rqc, 1);
	prm_rqc_set_cqn(rqc, cqn);
	wq_fill(c, prm_rqc_wq(rqc), CLIENT_RQ, CLIENT_DBREC + 128, 4);
	return must(client_create(c, &in, sizeof(in)), "CREATE_RQ");
}

struct client_obj
client_rqt(struct client *c, uint32_t rqn)
{
	/* One RQ number follows the fixed part. */
	struct {
		struct prm_create_rqt_in in;
		uint32_t rq;
	} cmd = {0};
	struct prm_rqtc *rqtc = prm_create_rqt_in_rqt_context(&cmd.in);

	prm_create_rqt_in_set_opcode(&cmd.in, PRM_CMD_OP_CREATE_RQT);
	prm_rqtc_set_rqt_max_size(rqtc, 1);
	prm_rqtc_set_rqt_actual_size(rqtc, 1);
	cmd.rq = htonl(rqn);
	return must(client_create(c, &cmd, sizeof(cmd)), "CREATE_RQT");
}

struct client_obj
client_tir(struct client *c, uint32_t rqn, uint32_t td)
{
	struct prm_create_tir_in in = {0};
	struct prm_tirc *tirc = prm_create_tir_in_ctx(&in);

	prm_create_tir_in_set_opcode(&in, PRM_CMD_OP_CREATE_TIR);
	prm_tirc_set_disp_type(tirc, PRM_TIRC_DISP_TYPE_DIRECT);
	prm_tirc_set_inline_rqn(tirc, rqn);
	prm_tirc_set_transport_domain(tirc, td);
	return must(client_create(c, &in, sizeof(in)), "CREATE_TIR");
}

struct client_obj
client_mkey(struct client *c)
{
	struct prm_create_mkey_in in = {0};
	struct prm_mkc *mkc = prm_create_mkey_in_memory_key_mkey_entry(&in);

	prm_create_mkey_in_set_opcode(&in, PRM_CMD_OP_CREATE_MKEY);
	prm_create_mkey_in_set_mkey_umem_valid(&in, 1);
	prm_create_mkey_in_set_mkey_umem_id(&in, c->umem->umem_id);
	prm_create_mkey_in_set_translations_octword_actual_size(&in, CLIENT_MEM_BYTES / 4096 / 2);
	prm_mkc_set_access_mode_1_0(mkc, 1); /* MTT */
	prm_mkc_set_lw(mkc, 1);
	prm_mkc_set_lr(mkc, 1);
	prm_mkc_set_qpn(mkc, 0xffffff);
	prm_mkc_set_mkey_7_0(mkc, 0x42);
	prm_mkc_set_pd(mkc, c->pdn);
	prm_mkc_set_start_addr(mkc, (uintptr_t)c->mem);
	prm_mkc_set_len(mkc, CLIENT_MEM_BYTES);
	prm_mkc_set_log_page_size(mkc, 12);
	prm_mkc_set_translations_octword_size(mkc, CLIENT_MEM_BYTES / 4096 / 2);
	return must(client_create(c, &in, sizeof(in)), "CREATE_MKEY");
}

int
client_sq_to(struct client *c, struct client_obj sq, unsigned from, unsigned to)
{
	struct prm_modify_sq_in in = {0};

	prm_modify_sq_in_set_opcode(&in, PRM_CMD_OP_MODIFY_SQ);
	prm_modify_sq_in_set_sqn(&in, sq.id);
	prm_modify_sq_in_set_sq_state(&in, from);
	prm_sqc_set_state(prm_modify_sq_in_ctx(&in), to);
	return mlx5dv_devx_obj_modify(sq.obj, &in, sizeof(in), c->out, 16);
}

int
client_rq_to(struct client *c, struct client_obj rq, unsigned from, unsigned to)
{
	struct prm_modify_rq_in in = {0};

	prm_modify_rq_in_set_opcode(&in, PRM_CMD_OP_MODIFY_RQ);
	prm_modify_rq_in_set_rqn(&in, rq.id);
	prm_modify_rq_in_set_rq_state(&in, from);
	prm_rqc_set_state(prm_modify_rq_in_ctx(&in), to);
	return mlx5dv_devx_obj_modify(rq.obj, &in, sizeof(in), c->out, 16);
}
