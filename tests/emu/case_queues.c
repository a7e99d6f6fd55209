/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Receive queues that the kernel refuses: RSS without a way to spread, strides out of range. */
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/mlx5-abi.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <sys/ioctl.h>

#include "client.h"

#define KEY_BYTES 40

struct bench {
	struct client c;
	struct ibv_cq *cq;
	struct ibv_wq *wq[2];
	struct ibv_rwq_ind_table *table[2]; /**< Of one queue, of two. */
};

static void
bench_open(struct bench *b, unsigned port)
{
	client_open(&b->c, port);
	b->cq = ibv_create_cq(b->c.ctx, 16, NULL, NULL, 0);
	CHECK(b->cq != NULL);
	for (unsigned i = 0; i < 2; i++) {
		struct ibv_wq_init_attr attr = {
			.wq_type = IBV_WQT_RQ, .max_wr = 4, .max_sge = 1, .pd = b->c.pd, .cq = b->cq};

		b->wq[i] = ibv_create_wq(b->c.ctx, &attr);
		CHECK(b->wq[i] != NULL);
	}
	for (unsigned i = 0; i < 2; i++) {
		struct ibv_rwq_ind_table_init_attr attr = {
			.log_ind_tbl_size = i, .ind_tbl = b->wq};

		b->table[i] = ibv_create_rwq_ind_table(b->c.ctx, &attr);
		CHECK(b->table[i] != NULL);
	}
}

static void
bench_close(struct bench *b)
{
	for (unsigned i = 0; i < 2; i++)
		CHECK_EQ(ibv_destroy_rwq_ind_table(b->table[i]), 0);
	for (unsigned i = 0; i < 2; i++)
		CHECK_EQ(ibv_destroy_wq(b->wq[i]), 0);
	CHECK_EQ(ibv_destroy_cq(b->cq), 0);
	client_close(&b->c);
}

static const struct rss {
	uint8_t function, key_bytes, log_queues;
	uint64_t fields;
	int error; /**< 0: it is made. */
} rss[] = {
	{IBV_RX_HASH_FUNC_TOEPLITZ, KEY_BYTES, 1, IBV_RX_HASH_SRC_IPV4, 0},
	{IBV_RX_HASH_FUNC_TOEPLITZ, KEY_BYTES, 0, 0, 0}, /* to one queue: nothing to hash */
	{IBV_RX_HASH_FUNC_TOEPLITZ, KEY_BYTES, 1, 0, EINVAL},
	{IBV_RX_HASH_FUNC_TOEPLITZ, KEY_BYTES - 1, 1, IBV_RX_HASH_SRC_IPV4, EINVAL},
	{IBV_RX_HASH_FUNC_TOEPLITZ, KEY_BYTES, 1, IBV_RX_HASH_SRC_IPV4 | IBV_RX_HASH_SRC_IPV6,
	 EINVAL},
	{IBV_RX_HASH_FUNC_TOEPLITZ, KEY_BYTES, 1, IBV_RX_HASH_SRC_IPV4 | IBV_RX_HASH_INNER,
	 EOPNOTSUPP},
	{0, KEY_BYTES, 1, IBV_RX_HASH_SRC_IPV4, EOPNOTSUPP},
	{2, KEY_BYTES, 1, IBV_RX_HASH_SRC_IPV4, EOPNOTSUPP},
};

static void
check_rss(struct bench *b, const struct rss *r)
{
	static uint8_t key[KEY_BYTES];
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_RAW_PACKET,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_RX_HASH |
			     IBV_QP_INIT_ATTR_IND_TABLE,
		.pd = b->c.pd,
		.rwq_ind_tbl = b->table[r->log_queues],
		.rx_hash_conf = {r->function, r->key_bytes, key, r->fields},
	};
	struct ibv_qp *qp = ibv_create_qp_ex(b->c.ctx, &attr);

	if (r->error == 0) {
		CHECK(qp != NULL);
	} else {
		CHECK(qp == NULL);
		CHECK_EQ(errno, r->error);
	}
	if (qp != NULL)
		CHECK_EQ(ibv_destroy_qp(qp), 0);
}

/** The kernel's call for a work queue; libmlx5 would not let a wrong one through. */
struct wq_call {
	uint64_t bytes[32]; /**< Header and up to 12 attributes. */
	struct mlx5_ib_create_wq uhw;
	struct mlx5_ib_create_wq_resp resp;
	uint64_t user_handle;
	uint32_t wr, sge;
};

static struct ib_uverbs_attr *
call_add(struct wq_call *w, uint16_t id, uint64_t data, uint16_t len)
{
	struct ib_uverbs_ioctl_hdr *hdr = (void *)w->bytes;
	struct ib_uverbs_attr *a = &hdr->attrs[hdr->num_attrs++];

	*a = (struct ib_uverbs_attr){
		.attr_id = id, .len = len, .flags = UVERBS_ATTR_F_MANDATORY, .data = data};
	return a;
}

/* Returns 0 or errno. */
static int
call_do(struct bench *b, struct wq_call *w, uint16_t method)
{
	struct ib_uverbs_ioctl_hdr *hdr = (void *)w->bytes;

	hdr->object_id = UVERBS_OBJECT_WQ;
	hdr->method_id = method;
	hdr->length = (uint16_t)(sizeof(*hdr) + hdr->num_attrs * sizeof(hdr->attrs[0]));
	return ioctl(b->c.ctx->cmd_fd, RDMA_VERBS_IOCTL, hdr) == 0 ? 0 : errno;
}

/* Returns 0 or errno; a queue that was made goes again. */
static int
wq_try(struct bench *b, uint32_t log_bytes, uint32_t log_strides)
{
	struct wq_call w = {
		.uhw = {.buf_addr = (uintptr_t)b->c.mem + CLIENT_RQ,
			.db_addr = (uintptr_t)b->c.mem + CLIENT_DBREC, .rq_wqe_count = 4,
			.rq_wqe_shift = 5, .comp_mask = MLX5_IB_CREATE_WQ_STRIDING_RQ,
			.single_stride_log_num_of_bytes = log_bytes,
			.single_wqe_log_num_of_strides = log_strides},
		.wr = 4, .sge = 1};
	struct ib_uverbs_attr *handle = call_add(&w, UVERBS_ATTR_CREATE_WQ_HANDLE, 0, 0);
	struct wq_call destroy = {0};
	int ret;

	call_add(&w, UVERBS_ATTR_CREATE_WQ_PD_HANDLE, b->c.pd->handle, 0);
	call_add(&w, UVERBS_ATTR_CREATE_WQ_CQ_HANDLE, b->cq->handle, 0);
	call_add(&w, UVERBS_ATTR_CREATE_WQ_USER_HANDLE, 0, sizeof(w.user_handle));
	call_add(&w, UVERBS_ATTR_CREATE_WQ_TYPE, IBV_WQT_RQ, sizeof(uint32_t));
	call_add(&w, UVERBS_ATTR_CREATE_WQ_MAX_WR, w.wr, sizeof(w.wr));
	call_add(&w, UVERBS_ATTR_CREATE_WQ_MAX_SGE, w.sge, sizeof(w.sge));
	call_add(&w, UVERBS_ATTR_CREATE_WQ_RESP_MAX_WR, (uintptr_t)&w.wr, sizeof(w.wr));
	call_add(&w, UVERBS_ATTR_CREATE_WQ_RESP_MAX_SGE, (uintptr_t)&w.sge, sizeof(w.sge));
	call_add(&w, UVERBS_ATTR_UHW_IN, (uintptr_t)&w.uhw, sizeof(w.uhw));
	call_add(&w, UVERBS_ATTR_UHW_OUT, (uintptr_t)&w.resp, sizeof(w.resp));
	ret = call_do(b, &w, UVERBS_METHOD_WQ_CREATE);
	if (ret != 0)
		return ret;
	call_add(&destroy, UVERBS_ATTR_DESTROY_WQ_HANDLE, handle->data, 0);
	call_add(&destroy, UVERBS_ATTR_DESTROY_WQ_RESP, (uintptr_t)&destroy.wr, sizeof(destroy.wr));
	CHECK_EQ(call_do(b, &destroy, UVERBS_METHOD_WQ_DESTROY), 0);
	return 0;
}

static const struct {
	uint32_t log_bytes, log_strides;
	int error;
} strides[] = {
	{11, 3, 0}, {6, 9, 0}, {13, 16, 0}, {13, 3, 0},
	/* In the command's fields these would be 2^6 and 2^9, 2^13 and 2^9 again. */
	{14, 9, EINVAL}, {5, 9, EINVAL}, {11, 25, EINVAL}, {11, 17, EINVAL}, {13, 2, EINVAL},
	{UINT32_MAX, 9, EINVAL}, {11, UINT32_MAX, EINVAL},
};

/* The audit has each refusal with EINVAL as an offence, 10 per port, and nothing else. */
void
case_queue_refusals(unsigned port)
{
	struct bench b;

	bench_open(&b, port);
	for (unsigned i = 0; i < sizeof(rss) / sizeof(rss[0]); i++)
		check_rss(&b, &rss[i]);
	for (unsigned i = 0; i < sizeof(strides) / sizeof(strides[0]); i++)
		CHECK_EQ(wq_try(&b, strides[i].log_bytes, strides[i].log_strides),
			 strides[i].error);
	bench_close(&b);
}
