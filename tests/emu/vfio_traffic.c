/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Queues of a program that has the device through VFIO: made by DEVX over umems, frames steered by
 * flow tables, completions reported by an event queue that wakes a sleeper through its MSI vector.
 */
#include <linux/vfio.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "vfio.h"

#define RX_CQ (CLIENT_CQ + 0x4000u)
#define RX_CQ_DBREC (CLIENT_DBREC + 192u)
#define SQ_DBREC (CLIENT_DBREC + 64u)
#define RQ_DBREC (CLIENT_DBREC + 128u)
#define ENTRIES 64u /* of every queue */
#define BUF_BYTES 2048u
#define TX_DATA (CLIENT_DATA + ENTRIES * BUF_BYTES)
#define FRAME_BYTES 128u
#define LOG_EQ 6u
#define WAKE_MS 20000 /* a machine may be slow; a lost wake-up never comes */
#define EQ_ARM 0x40u
#define CQ_ARM 0x20u

struct bench {
	struct client c;
	struct ibv_mr *mr;
	pthread_t pump;
	atomic_bool stop;
	struct mlx5dv_devx_msi_vector *msi;
	struct mlx5dv_devx_eq *eq;
	uint32_t eqn, eq_ci;
	struct client_obj td, tis, tx_cq, rx_cq, sq, rq, tir, table, group, entry;
	uint16_t sq_pi, rq_pi;
	uint32_t tx_ci, rx_ci, arm_sn;
};

/* As the library requires: process events when its descriptor is readable. */
static void *
pump(void *arg)
{
	struct bench *b = arg;
	struct pollfd p = {.fd = mlx5dv_vfio_get_events_fd(b->c.ctx), .events = POLLIN};

	while (!atomic_load(&b->stop))
		if (poll(&p, 1, 20) > 0)
			CHECK_EQ(mlx5dv_vfio_process_events(b->c.ctx), 0);
	return NULL;
}

static bool
open_context(struct bench *b, unsigned port)
{
	struct mlx5dv_pd dv_pd = {0};
	struct mlx5dv_obj obj = {0};
	struct client *c = &b->c;

	memset(b, 0, sizeof(*b));
	c->ctx = vfio_open(port);
	c->mem = aligned_alloc(CLIENT_MEM_BYTES, CLIENT_MEM_BYTES);
	CHECK(c->ctx != NULL && c->mem != NULL);
	if (c->ctx == NULL || c->mem == NULL)
		return false;
	memset(c->mem, 0, CLIENT_MEM_BYTES);
	c->pd = ibv_alloc_pd(c->ctx);
	obj.pd.in = c->pd;
	obj.pd.out = &dv_pd;
	CHECK_EQ(mlx5dv_init_obj(&obj, MLX5DV_OBJ_PD), 0);
	c->pdn = dv_pd.pdn;
	c->umem = mlx5dv_devx_umem_reg(c->ctx, c->mem, CLIENT_MEM_BYTES, IBV_ACCESS_LOCAL_WRITE);
	c->uar = mlx5dv_devx_alloc_uar(c->ctx, MLX5DV_UAR_ALLOC_TYPE_NC);
	b->mr = ibv_reg_mr(c->pd, c->mem, CLIENT_MEM_BYTES, IBV_ACCESS_LOCAL_WRITE);
	CHECK_EQ(mlx5dv_devx_query_eqn(c->ctx, 0, &c->eqn), 0);
	CHECK(c->umem != NULL && c->uar != NULL && b->mr != NULL);
	CHECK_EQ(pthread_create(&b->pump, NULL, pump, b), 0);
	return c->umem != NULL && c->uar != NULL && b->mr != NULL;
}

static void
close_context(struct bench *b)
{
	CHECK_EQ(ibv_dereg_mr(b->mr), 0);
	CHECK_EQ(mlx5dv_devx_umem_dereg(b->c.umem), 0);
	mlx5dv_devx_free_uar(b->c.uar);
	CHECK_EQ(ibv_dealloc_pd(b->c.pd), 0);
	atomic_store(&b->stop, true);
	pthread_join(b->pump, NULL);
	CHECK_EQ(ibv_close_device(b->c.ctx), 0);
	free(b->c.mem);
}

static void
store32(const struct bench *b, unsigned offset, uint32_t value)
{
	atomic_thread_fence(memory_order_seq_cst);
	*(volatile uint32_t *)((uint8_t *)b->c.uar->base_addr + offset) = htobe32(value);
}

static void
store64(const struct bench *b, unsigned offset, uint64_t value)
{
	atomic_thread_fence(memory_order_seq_cst);
	*(volatile uint64_t *)((uint8_t *)b->c.uar->base_addr + offset) = htobe64(value);
}

static void
eq_arm(const struct bench *b)
{
	store32(b, EQ_ARM, b->eqn << 24 | (b->eq_ci & 0xffffff));
}

static bool
open_eq(struct bench *b)
{
	struct prm_create_eq_out out = {0};
	struct prm_create_eq_in in = {0};
	struct prm_eqc *eqc = prm_create_eq_in_eq_context_entry(&in);
	struct prm_eqe *eqe;

	b->msi = mlx5dv_devx_alloc_msi_vector(b->c.ctx);
	CHECK(b->msi != NULL);
	if (b->msi == NULL)
		return false;
	prm_create_eq_in_set_opcode(&in, PRM_CMD_OP_CREATE_EQ);
	prm_eqc_set_log_eq_size(eqc, LOG_EQ);
	prm_eqc_set_uar_page(eqc, b->c.uar->page_id);
	prm_eqc_set_intr(eqc, (uint32_t)b->msi->vector);
	b->eq = mlx5dv_devx_create_eq(b->c.ctx, &in, sizeof(in), &out, sizeof(out));
	CHECK(b->eq != NULL);
	if (b->eq == NULL)
		return false;
	b->eqn = prm_create_eq_out_get_eq_number(&out);
	eqe = b->eq->vaddr;
	for (unsigned i = 0; i < 1u << LOG_EQ; i++)
		eqe[i].owner = 1;
	eq_arm(b);
	return true;
}

/* The receive CQ is the EQ's; the sender's reports to the library's EQ, which ignores it. */
static void
open_cqs(struct bench *b)
{
	struct prm_create_cq_in in;
	struct prm_cqc *cqc = prm_create_cq_in_cq_context(&in);

	b->tx_cq = client_cq(&b->c);
	for (unsigned i = 0; i < ENTRIES; i++)
		b->c.mem[RX_CQ + 64 * i + 63] = 0xf1;
	client_cq_in(&b->c, &in);
	prm_create_cq_in_set_cq_umem_offset(&in, RX_CQ);
	prm_cqc_set_dbr_addr(cqc, RX_CQ_DBREC);
	prm_cqc_set_c_eqn(cqc, b->eqn);
	b->rx_cq = client_create(&b->c, &in, sizeof(in));
	CHECK(b->rx_cq.obj != NULL);
}

/* A root table whose only group matches on nothing, and an entry for all that arrives. */
static void
open_steering(struct bench *b)
{
	struct prm_create_flow_table_in table = {0};
	struct prm_create_flow_group_in group = {0};
	struct prm_set_flow_table_root_in root = {0};
	struct {
		struct prm_set_fte_in in;
		uint32_t dest[2];
	} e = {0};
	struct prm_flow_context *ctx = prm_set_fte_in_flow_context(&e.in);

	prm_create_flow_table_in_set_opcode(&table, PRM_CMD_OP_CREATE_FLOW_TABLE);
	b->table = client_create(&b->c, &table, sizeof(table));
	CHECK(b->table.obj != NULL);
	prm_create_flow_group_in_set_opcode(&group, PRM_CMD_OP_CREATE_FLOW_GROUP);
	prm_create_flow_group_in_set_table_id(&group, b->table.id);
	b->group = client_create(&b->c, &group, sizeof(group));
	CHECK(b->group.obj != NULL);
	prm_set_fte_in_set_opcode(&e.in, PRM_CMD_OP_SET_FLOW_TABLE_ENTRY);
	prm_set_fte_in_set_table_id(&e.in, b->table.id);
	prm_flow_context_set_group_id(ctx, b->group.id);
	prm_flow_context_set_action(ctx, PRM_FLOW_ACTION_FWD_DEST);
	prm_flow_context_set_destination_list_size(ctx, 1);
	prm_dest_format_struct_set_destination_type((void *)e.dest, PRM_FLOW_DEST_TYPE_TIR);
	prm_dest_format_struct_set_destination_id((void *)e.dest, b->tir.id);
	b->entry = client_create(&b->c, &e, sizeof(e));
	CHECK(b->entry.obj != NULL);
	prm_set_flow_table_root_in_set_opcode(&root, PRM_CMD_OP_SET_FLOW_TABLE_ROOT);
	prm_set_flow_table_root_in_set_table_id(&root, b->table.id);
	CHECK_EQ(mlx5dv_devx_general_cmd(b->c.ctx, &root, sizeof(root), b->c.out, 16), 0);
}

static void
post_rx(struct bench *b)
{
	struct prm_rq_wqe *wqe = (void *)(b->c.mem + CLIENT_RQ);
	unsigned i = b->rq_pi % ENTRIES;

	wqe[i].byte_count = htobe32(BUF_BYTES);
	wqe[i].lkey = htobe32(b->mr->lkey);
	wqe[i].addr = htobe64((uintptr_t)b->c.mem + CLIENT_DATA + i * BUF_BYTES);
	b->rq_pi++;
	atomic_thread_fence(memory_order_release);
	*(volatile uint32_t *)(b->c.mem + RQ_DBREC) = htobe32(b->rq_pi);
}

static bool
bench_open(struct bench *b, unsigned port)
{
	if (!open_context(b, port) || !open_eq(b))
		return false;
	b->td = client_td(&b->c);
	b->tis = client_tis(&b->c, b->td.id);
	open_cqs(b);
	b->sq = client_sq(&b->c, b->tx_cq.id, b->tis.id);
	b->rq = client_rq(&b->c, b->rx_cq.id);
	b->tir = client_tir(&b->c, b->rq.id, b->td.id);
	CHECK_EQ(client_sq_to(&b->c, b->sq, PRM_SQC_STATE_RST, PRM_SQC_STATE_RDY), 0);
	CHECK_EQ(client_rq_to(&b->c, b->rq, PRM_RQC_STATE_RST, PRM_RQC_STATE_RDY), 0);
	open_steering(b);
	for (unsigned i = 0; i < ENTRIES; i++)
		post_rx(b);
	return check_failures == 0;
}

static void
bench_close(struct bench *b)
{
	struct client_obj *made[] = {&b->entry, &b->group, &b->table, &b->tir, &b->rq, &b->sq,
				     &b->rx_cq, &b->tx_cq, &b->tis, &b->td};
	struct prm_set_flow_table_root_in root = {0};

	/* No table is the root any more. */
	prm_set_flow_table_root_in_set_opcode(&root, PRM_CMD_OP_SET_FLOW_TABLE_ROOT);
	prm_set_flow_table_root_in_set_op_mod(&root, 1);
	prm_set_flow_table_root_in_set_table_id(&root, b->table.id);
	CHECK_EQ(mlx5dv_devx_general_cmd(b->c.ctx, &root, sizeof(root), b->c.out, 16), 0);
	for (unsigned i = 0; i < sizeof(made) / sizeof(made[0]); i++)
		CHECK_EQ(mlx5dv_devx_obj_destroy(made[i]->obj), 0);
	CHECK_EQ(mlx5dv_devx_destroy_eq(b->eq), 0);
	CHECK_EQ(mlx5dv_devx_free_msi_vector(b->msi), 0);
	close_context(b);
}

/* An Ethernet frame to the port itself, numbered; by one pointer, completion wanted. */
static void
send_frame(struct bench *b, uint32_t number, uint64_t addr, uint32_t lkey)
{
	uint8_t *wqe = b->c.mem + CLIENT_SQ + b->sq_pi % ENTRIES * 64;
	uint8_t *frame = b->c.mem + TX_DATA;
	uint32_t words[12] = {
		htobe32((uint32_t)b->sq_pi << 8 | PRM_WQE_OPCODE_SEND),
		htobe32(b->sq.id << 8 | 3), htobe32(8), 0, 0, 0, 0, 0,
		htobe32(FRAME_BYTES), htobe32(lkey),
		htobe32((uint32_t)(addr >> 32)), htobe32((uint32_t)addr)};

	memset(frame, 0xff, 6);
	frame[12] = 0x88;
	frame[13] = 0xb5;
	memcpy(frame + 16, &number, sizeof(number));
	memcpy(wqe, words, sizeof(words));
	b->sq_pi++;
	atomic_thread_fence(memory_order_release);
	*(volatile uint32_t *)(b->c.mem + SQ_DBREC + 4) = htobe32(b->sq_pi);
	store64(b, 0x800, (uint64_t)be32toh(words[0]) << 32 | be32toh(words[1]));
}

/* The next completion of a CQ of 64 entries, consumed; NULL: none yet. */
static const struct prm_cqe64 *
cqe_next(const struct bench *b, unsigned ring, unsigned dbrec, uint32_t *ci)
{
	const struct prm_cqe64 *cqe = (const void *)(b->c.mem + ring + *ci % ENTRIES * 64);
	uint8_t own = atomic_load_explicit((_Atomic uint8_t *)(uintptr_t)&cqe->op_own,
					   memory_order_acquire);

	if (own >> 4 == PRM_CQE_OPCODE_INVALID || (own & 1) != (*ci / ENTRIES & 1))
		return NULL;
	++*ci;
	*(volatile uint32_t *)(b->c.mem + dbrec) = htobe32(*ci & 0xffffff);
	return cqe;
}

static const struct prm_cqe64 *
tx_done(struct bench *b)
{
	const struct prm_cqe64 *cqe = NULL;

	CHECK(AWAIT((cqe = cqe_next(b, CLIENT_CQ, CLIENT_DBREC, &b->tx_ci)) != NULL, WAKE_MS));
	return cqe;
}

static void
cq_arm(struct bench *b)
{
	uint32_t word = (b->arm_sn++ & 3) << 28 | (b->rx_ci & 0xffffff);

	*(volatile uint32_t *)(b->c.mem + RX_CQ_DBREC + 4) = htobe32(word);
	store64(b, CQ_ARM, (uint64_t)word << 32 | b->rx_cq.id);
}

/* Consumes what the EQ holds and arms it; events of the receive CQ found. */
static unsigned
eq_take(struct bench *b)
{
	const struct prm_eqe *ring = b->eq->vaddr;
	unsigned n = 0;

	for (;;) {
		const struct prm_eqe *eqe = &ring[b->eq_ci % (1u << LOG_EQ)];
		uint8_t owner = atomic_load_explicit((_Atomic uint8_t *)(uintptr_t)&eqe->owner,
						     memory_order_acquire);

		if ((owner & 1) != (b->eq_ci >> LOG_EQ & 1))
			break;
		CHECK_EQ(eqe->type, PRM_EVENT_TYPE_COMP);
		n += be32toh(eqe->comp_cqn) == b->rx_cq.id;
		b->eq_ci++;
	}
	eq_arm(b);
	return n;
}

/* Sleeps until the receive CQ has something. False: it was not woken. */
static bool
sleep_for(struct bench *b)
{
	struct pollfd p = {.fd = b->msi->fd, .events = POLLIN};
	uint64_t count;

	while (poll(&p, 1, WAKE_MS) > 0) {
		CHECK_EQ(read(b->msi->fd, &count, sizeof(count)), sizeof(count));
		if (eq_take(b) != 0)
			return true;
	}
	return false;
}

static void
receive(struct bench *b, unsigned n, uint32_t *expected)
{
	const struct prm_cqe64 *cqe;

	while (n != 0 && check_failures == 0) {
		unsigned got = 0;

		while ((cqe = cqe_next(b, RX_CQ, RX_CQ_DBREC, &b->rx_ci)) != NULL) {
			unsigned i = be16toh(cqe->wqe_counter) % ENTRIES;
			const uint8_t *data = b->c.mem + CLIENT_DATA + i * BUF_BYTES;
			uint32_t number;

			memcpy(&number, data + 16, sizeof(number));
			CHECK_EQ(cqe->op_own >> 4, PRM_CQE_OPCODE_RESP_SEND);
			CHECK_EQ(number, (*expected)++);
			post_rx(b);
			got++;
		}
		n -= got < n ? got : n;
		if (n == 0)
			break;
		cq_arm(b);
		CHECK(sleep_for(b));
	}
}

/*
 * One frame at a time: some arrive before the sleeper has armed, some behind; each wakes. Sent and
 * received, the numbers in order.
 */
void
case_vfio_traffic(unsigned port)
{
	uint32_t expected = 0;
	struct bench b;

	if (!bench_open(&b, port))
		return;
	for (uint32_t i = 0; i < 1000 && check_failures == 0; i++) {
		send_frame(&b, i, (uintptr_t)b.c.mem + TX_DATA, b.mr->lkey);
		/* The frame is changed for the next one only when it has left. */
		CHECK_EQ(tx_done(&b)->op_own >> 4, PRM_CQE_OPCODE_REQ);
		receive(&b, 1, &expected);
	}
	CHECK_EQ(expected, 1000);
	bench_close(&b);
}

/* The container is the library's own: it is found by what it answers. */
static int
container_of(void)
{
	for (int fd = 3; fd < 256; fd++)
		if (ioctl(fd, VFIO_CHECK_EXTENSION, VFIO_TYPE1v2_IOMMU) == 1)
			return fd;
	return -1;
}

#define OWN_IOVA (1ull << 40)

/* A key over an address of the bus that is ours: start and IOVA are the same. */
static struct client_obj
own_key(struct bench *b, uint64_t bytes)
{
	struct {
		struct prm_create_mkey_in in;
		struct prm_mtt mtt[2];
	} cmd = {0};
	struct prm_mkc *mkc = prm_create_mkey_in_memory_key_mkey_entry(&cmd.in);

	prm_create_mkey_in_set_opcode(&cmd.in, PRM_CMD_OP_CREATE_MKEY);
	prm_create_mkey_in_set_pg_access(&cmd.in, 1);
	prm_create_mkey_in_set_translations_octword_actual_size(&cmd.in, 1);
	prm_mkc_set_access_mode_1_0(mkc, PRM_MKC_ACCESS_MODE_MTT);
	prm_mkc_set_lr(mkc, 1);
	prm_mkc_set_lw(mkc, 1);
	prm_mkc_set_qpn(mkc, 0xffffff);
	prm_mkc_set_mkey_7_0(mkc, 0x42);
	prm_mkc_set_pd(mkc, b->c.pdn);
	prm_mkc_set_start_addr(mkc, OWN_IOVA);
	prm_mkc_set_len(mkc, bytes);
	prm_mkc_set_log_page_size(mkc, 20);
	prm_mkc_set_translations_octword_size(mkc, 1);
	prm_mtt_set_ptag_63_32(&cmd.mtt[0], (uint32_t)(OWN_IOVA >> 32));
	prm_mtt_set_rd_en(&cmd.mtt[0], 1);
	prm_mtt_set_wr_en(&cmd.mtt[0], 1);
	return client_create(&b->c, &cmd, sizeof(cmd));
}

/* Memory that is taken from the device while a queue uses it: an error, an audit line, no crash. */
void
case_vfio_unmapped(unsigned port)
{
	struct vfio_iommu_type1_dma_unmap unmap = {
		.argsz = sizeof(unmap), .iova = OWN_IOVA, .size = 0x100000};
	struct vfio_iommu_type1_dma_map map = {
		.argsz = sizeof(map), .flags = VFIO_DMA_MAP_FLAG_READ | VFIO_DMA_MAP_FLAG_WRITE,
		.iova = OWN_IOVA, .size = 0x100000};
	const struct prm_err_cqe *err;
	struct client_obj key;
	uint32_t expected = 0;
	struct bench b;
	int container;

	if (!bench_open(&b, port))
		return;
	container = container_of();
	map.vaddr = (uintptr_t)b.c.mem;
	CHECK_EQ(ioctl(container, VFIO_IOMMU_MAP_DMA, &map), 0);
	key = own_key(&b, CLIENT_MEM_BYTES);
	CHECK(key.obj != NULL);
	send_frame(&b, 0, OWN_IOVA + TX_DATA, key.id << 8 | 0x42);
	CHECK_EQ(tx_done(&b)->op_own >> 4, PRM_CQE_OPCODE_REQ);
	receive(&b, 1, &expected);
	CHECK_EQ(ioctl(container, VFIO_IOMMU_UNMAP_DMA, &unmap), 0);
	CHECK_EQ(unmap.size, 0x100000);
	send_frame(&b, 1, OWN_IOVA + TX_DATA, key.id << 8 | 0x42);
	err = (const struct prm_err_cqe *)tx_done(&b);
	CHECK_EQ(err->op_own >> 4, PRM_CQE_OPCODE_REQ_ERR);
	CHECK_EQ(err->syndrome, PRM_CQE_SYNDROME_LOCAL_PROT_ERR);
	/* The port goes on, and so does the queue from the beginning. */
	CHECK_EQ(client_sq_to(&b.c, b.sq, PRM_SQC_STATE_ERR, PRM_SQC_STATE_RST), 0);
	b.sq_pi = 0;
	memset(b.c.mem + SQ_DBREC, 0, 8);
	CHECK_EQ(client_sq_to(&b.c, b.sq, PRM_SQC_STATE_RST, PRM_SQC_STATE_RDY), 0);
	send_frame(&b, 1, (uintptr_t)b.c.mem + TX_DATA, b.mr->lkey);
	CHECK_EQ(tx_done(&b)->op_own >> 4, PRM_CQE_OPCODE_REQ);
	receive(&b, 1, &expected);
	CHECK_EQ(mlx5dv_devx_obj_destroy(key.obj), 0);
	bench_close(&b);
}

/* More objects than the pages given at the start are good for: the pump gives more, and gets some back. */
void
case_vfio_pages(unsigned port)
{
	static struct mlx5dv_devx_obj *made[1000];
	unsigned n;
	struct bench b;

	if (!open_context(&b, port))
		return;
	for (n = 0; n < sizeof(made) / sizeof(made[0]); n++) {
		made[n] = client_td(&b.c).obj;
		if (made[n] == NULL)
			break;
	}
	CHECK_EQ(n, sizeof(made) / sizeof(made[0]));
	while (n-- != 0)
		CHECK_EQ(mlx5dv_devx_obj_destroy(made[n]), 0);
	close_context(&b);
}
