/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Buffers of striding receive queues: mempool, references, WQEs; and what a burst cannot go on with. */

#include <inttypes.h>

#include <rte_branch_prediction.h>
#include <rte_errno.h>
#include <rte_malloc.h>

#include "mlxpmd.h"
#include "mlxpmd_mprq.h"
#include "mlxpmd_rx_comp.h"

/* Buffers for packets that the application keeps: as many times those that are posted, and some more. */
#define KEPT_TIMES 3
#define KEPT_MIN 32

/* A WQE (PRM; DPDK mlx5_rx.h, struct mlx5_wqe_mprq). */
struct striding_wqe {
	uint8_t next_seg[16];
	struct mlx5_wqe_data_seg dseg;
};
static_assert(sizeof(struct striding_wqe) == 1u << MDV_LOG_STRIDING_WQE_BYTES, "size of a WQE");

/* ------------------------------------------------------------------ references */

static void
pool_unref(struct mlxpmd_mprq_pool *pool)
{
	if (__atomic_sub_fetch(&pool->refs, 1, __ATOMIC_ACQ_REL) != 0)
		return;
	rte_mempool_free(pool->mp);
	rte_free(pool);
}

static void
buf_unref(struct mlxpmd_mprq_buf *buf, uint32_t n)
{
	struct mlxpmd_mprq_pool *pool = buf->pool;

	if (__atomic_sub_fetch(&buf->refs, n, __ATOMIC_ACQ_REL) != 0)
		return;
	rte_mempool_put(pool->mp, buf);
	pool_unref(pool);
}

/* The application, or a send queue, frees an attached packet: in any thread. */
static void
buf_free_cb(void *addr __rte_unused, void *buf)
{
	buf_unref(buf, 1);
}

static uint32_t
refs_posted(const struct mlxpmd_mprq_pool *pool)
{
	return (1u << pool->log_strides) + 1;
}

/* A buffer to be posted; NULL: the application has all. */
static struct mlxpmd_mprq_buf *
buf_get(struct mlxpmd_mprq_pool *pool)
{
	void *buf;

	if (rte_mempool_get(pool->mp, &buf) != 0)
		return NULL;
	__atomic_fetch_add(&pool->refs, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&((struct mlxpmd_mprq_buf *)buf)->refs, refs_posted(pool), __ATOMIC_RELAXED);
	return buf;
}

/* ------------------------------------------------------------------ mempool */

static void
buf_init(struct rte_mempool *mp __rte_unused, void *arg, void *obj, unsigned int i __rte_unused)
{
	struct mlxpmd_mprq_buf *buf = obj;
	unsigned int k;

	buf->pool = arg;
	buf->iova = rte_mempool_virt2iova(obj);
	for (k = 0; k < 1u << buf->pool->log_strides; k++) {
		buf->info[k].free_cb = buf_free_cb;
		buf->info[k].fcb_opaque = buf;
		rte_mbuf_ext_refcnt_set(&buf->info[k], 1);
	}
}

static struct mlxpmd_mprq_pool *
pool_create(const struct mlxpmd_queue *q, unsigned int wqes, uint8_t log_strides, uint8_t log_stride_size)
{
	struct mlxpmd_mprq_pool *pool = rte_zmalloc_socket("mlxpmd_mprq_pool", sizeof(*pool), 0, q->socket_id);
	static uint32_t number; /* A pool may outlive its queue. */
	char name[RTE_MEMPOOL_NAMESIZE];

	if (pool == NULL)
		return NULL;
	pool->refs = 1;
	pool->log_strides = log_strides;
	pool->log_stride_size = log_stride_size;
	pool->data_offset = RTE_ALIGN_CEIL(offsetof(struct mlxpmd_mprq_buf, info[1u << log_strides]) +
					   RTE_PKTMBUF_HEADROOM, MLXPMD_MPRQ_LINE);
	snprintf(name, sizeof(name), "mlxpmd_mprq_%" PRIu32, __atomic_fetch_add(&number, 1, __ATOMIC_RELAXED));
	/* No cache: a buffer is taken and returned once per many packets, and a cache would keep it from others. */
	pool->mp = rte_mempool_create(name, (1 + KEPT_TIMES) * wqes + KEPT_MIN,
				      pool->data_offset + (1u << (log_strides + log_stride_size)), 0, 0, NULL, NULL,
				      buf_init, pool, q->socket_id, RTE_MEMPOOL_F_NO_SPREAD);
	if (pool->mp != NULL)
		return pool;
	rte_free(pool);
	return NULL;
}

int
mlxpmd_mprq_pool_set(struct mlxpmd_rxq *rxq, uint8_t log_strides, uint8_t log_stride_size)
{
	const unsigned int wqes = rxq->q.nb_desc >> log_strides;
	struct mlxpmd_striding *s = &rxq->striding;

	/* Not one whose buffers are with the application: the spare one is needed too. */
	if (s->pool != NULL && s->pool->log_strides == log_strides && s->pool->log_stride_size == log_stride_size &&
	    rte_mempool_avail_count(s->pool->mp) > wqes)
		return 0;
	mlxpmd_mprq_pool_release(rxq);
	s->pool = pool_create(&rxq->q, wqes, log_strides, log_stride_size);
	if (s->pool == NULL)
		return MLXPMD_FAIL(ENOMEM, "port %u Rx queue %u: no memory for buffers of 2^%u strides of 2^%u bytes: %s",
				   rxq->q.port_id, rxq->q.queue_id, log_strides, log_stride_size,
				   rte_strerror(rte_errno));
	s->log_strides = log_strides;
	s->log_stride_size = log_stride_size;
	return 0;
}

void
mlxpmd_mprq_pool_release(struct mlxpmd_rxq *rxq)
{
	struct mlxpmd_mprq_pool *pool = rxq->striding.pool;
	unsigned int used;

	if (pool == NULL)
		return;
	used = rte_mempool_in_use_count(pool->mp);
	if (used != 0)
		MLXPMD_LOG(NOTICE, "port %u Rx queue %u: %u buffers with received packets are in use: freed with the last packet",
			   rxq->q.port_id, rxq->q.queue_id, used);
	rxq->striding.pool = NULL;
	pool_unref(pool);
}

unsigned int
mlxpmd_mprq_held(const struct mlxpmd_rxq *rxq)
{
	const struct mlxpmd_mprq_pool *pool = rxq->striding.pool;
	unsigned int used, mine;

	if (pool == NULL)
		return 0;
	used = rte_mempool_in_use_count(pool->mp);
	mine = rxq->q.elts == NULL ? 0 : rxq->q.wqe_mask + 1 + (rxq->striding.spare != NULL);
	return used - RTE_MIN(used, mine);
}

/* ------------------------------------------------------------------ WQEs */

/* Writes the WQE of a buffer. false: the buffer is not registered. */
static bool
wqe_post(struct mlxpmd_rxq *rxq, uint16_t wqe)
{
	const uintptr_t addr = (uintptr_t)mlxpmd_mprq_bufs(rxq)[wqe] + rxq->striding.data_offset;
	struct mlx5_wqe_data_seg *dseg = &((struct striding_wqe *)rxq->q.wqes)[wqe].dseg;

	dseg->lkey = rxq->lkey_be;
	dseg->addr = rte_cpu_to_be_64(addr);
	return rxq->mr->n == 1 || mlxpmd_mr_lkey(rxq->mr, addr, &dseg->lkey);
}

__rte_noinline void
mlxpmd_mprq_wqe_done(struct mlxpmd_rxq *rxq)
{
	const uint16_t wqe = rxq->q.ci & rxq->q.wqe_mask;
	struct mlxpmd_mprq_buf **at = &mlxpmd_mprq_bufs(rxq)[wqe], *buf = *at;
	struct mlxpmd_striding *s = &rxq->striding;

	if (s->given != 0) {
		MLXPMD_SHARED_ADD(s->attached, s->given);
		/* Acquire: the application's loads from the buffer are before the device's stores to it. */
		if (__atomic_sub_fetch(&buf->refs, s->strides - s->given, __ATOMIC_ACQ_REL) == 1) {
			__atomic_store_n(&buf->refs, s->strides + 1u, __ATOMIC_RELAXED);
		} else {
			*at = s->spare; /* There is one: else no packet was attached. */
			s->spare = NULL;
			(void)wqe_post(rxq, wqe);
			buf_unref(buf, 1);
		}
	}
	if (s->spare == NULL)
		s->spare = buf_get(s->pool);
	s->given = 0;
	rxq->q.ci++;
}

bool
mlxpmd_mprq_exception(struct mlxpmd_rxq *rxq)
{
	const struct mlx5_cqe64 *cqe = &rxq->q.cqes[rxq->q.cq_ci & rxq->q.cqe_mask];
	struct mlxpmd_striding *s = &rxq->striding;
	const uint64_t tail = mlxpmd_cqe_tail(cqe);
	const enum mlxpmd_striding_stop stop = s->stop;
	const uint32_t posted = ((uint32_t)(uint16_t)(rxq->q.pi - rxq->q.ci) << s->log_strides) - s->used;
	uint32_t byte_cnt, strides;
	bool skip, in_step;

	s->stop = MLXPMD_STRIDING_NONE;
	rte_io_rmb(); /* As in mlxpmd_rx_exception(). */
	in_step = rxq->q.ci != rxq->q.pi && mlxpmd_mprq_in_step(rxq, cqe, s->used);
	/* There are at most as many completions as posted strides. */
	if (mlxpmd_rx_expand_next(rxq, tail, in_step, posted))
		return true;
	if (mlxpmd_cqe_opcode(tail) != MLX5_CQE_RESP_SEND || ((uint32_t)tail & MLXPMD_TAIL_FORMAT) != 0 || !in_step) {
		mlxpmd_rx_refused(rxq, cqe);
		/* How many strides an error completion consumes is not known: the queue needs a reset. */
		mlxpmd_rx_fail(rxq, mlxpmd_cqe_opcode(tail) == MLX5_CQE_RESP_ERR ? MLXPMD_CAUSE_ERROR :
										   MLXPMD_CAUSE_BAD);
		return false;
	}
	byte_cnt = rte_be_to_cpu_32(cqe->byte_cnt);
	strides = byte_cnt >> MLXPMD_MPRQ_STRIDES_SHIFT;
	skip = (strides & MLXPMD_MPRQ_FILLER) != 0;
	strides &= ~MLXPMD_MPRQ_FILLER;
	if (!mlxpmd_mprq_fits(s, skip ? 1 : byte_cnt & MLXPMD_MPRQ_LEN_MASK, strides, s->used)) {
		mlxpmd_rx_refused(rxq, cqe);
		mlxpmd_rx_fail(rxq, MLXPMD_CAUSE_BAD);
		return false;
	}
	if (!skip && stop == MLXPMD_STRIDING_DROP) {
		MLXPMD_SHARED_ADD(rxq->q.stats.nombuf, 1);
		MLXPMD_SHARED_ADD(rxq->q.stats.unplaced, 1);
		skip = true;
	}
	if (skip) {
		s->used = mlxpmd_mprq_advance(rxq, s->used, strides);
		MLXPMD_SHARED_ADD(rxq->q.cq_ci, 1);
		return true;
	}
	/* Otherwise an ordinary packet, which the device wrote after the run. */
	return stop != MLXPMD_STRIDING_STARVED;
}

/* ------------------------------------------------------------------ arm, rewind, disarm */

static int
sizes_set(struct mlxpmd_rxq *rxq)
{
	const uint32_t data_room = rte_pktmbuf_data_room_size(rxq->mp);
	struct mlxpmd_striding *s = &rxq->striding;

	if (rxq->q.hw.cq.log_cqes < rxq->q.hw.rq.wq.log_wq_sz + s->log_strides || rxq->q.hw.cq.log_cqes > 15)
		return mlxpmd_queue_arm_fail(&rxq->q, EINVAL, "the CQ does not fit the strides of the RQ");
	if (rxq->q.hw.rq.wq.log_wq_stride != MDV_LOG_STRIDING_WQE_BYTES)
		return mlxpmd_queue_arm_fail(&rxq->q, EINVAL, "the RQ's stride is not that of a striding RQ");
	if (data_room <= RTE_PKTMBUF_HEADROOM)
		return mlxpmd_queue_arm_fail(&rxq->q, EINVAL, "mbufs have no data room beyond the headroom");
	rxq->headroom = RTE_PKTMBUF_HEADROOM;
	rxq->seg_first_bytes = data_room - rxq->headroom;
	rxq->seg_bytes = data_room;
	rxq->free_thresh = 1;
	rxq->tail_check = rxq->q.validity | MLXPMD_TAIL_FORMAT | MLXPMD_TAIL_OPCODE |
			  (uint32_t)UINT16_MAX << MLXPMD_TAIL_COUNTER_SHIFT;
	/* Mempools with pinned external buffers are refused. */
	rxq->buf_offset = sizeof(struct rte_mbuf) + rte_pktmbuf_priv_size(rxq->mp);
	rxq->ol_init = (rxq->q.offloads & RTE_ETH_RX_OFFLOAD_TCP_LRO ? RTE_MBUF_F_RX_LRO : 0) |
		       mlxpmd_rx_ol_features(rxq);
	s->copy_max = rxq->q.port->args.mprq_max_memcpy_len;
	s->data_offset = s->pool->data_offset;
	s->strides = 1u << s->log_strides;
	s->lines_max = RTE_MIN(s->copy_max, RTE_ALIGN_FLOOR((uint32_t)rxq->seg_first_bytes, MLXPMD_MPRQ_LINE));
	s->scatter = (rxq->q.offloads & RTE_ETH_RX_OFFLOAD_SCATTER) != 0;
	return 0;
}

/* Sets the constant part of all WQEs, and posts the buffers there are. false: a buffer is not registered. */
static bool
wqes_set(struct mlxpmd_rxq *rxq)
{
	const uint32_t bytes = 1u << (rxq->striding.log_strides + rxq->striding.log_stride_size);
	struct striding_wqe *wqes = rxq->q.wqes;
	uint32_t i;

	for (i = 0; i <= rxq->q.wqe_mask; i++) {
		wqes[i] = (struct striding_wqe){ .dseg.byte_count = rte_cpu_to_be_32(bytes) };
		if (!wqe_post(rxq, i))
			return false;
	}
	return true;
}

static int
buffers_get(struct mlxpmd_rxq *rxq)
{
	struct mlxpmd_mprq_buf **bufs;
	uint32_t i;

	rxq->mr = mdv_mr_mempool(rxq->q.port->mdv, rxq->striding.pool->mp);
	if (rxq->mr == NULL)
		return -rte_errno; /* Logged there. */
	rxq->lkey_be = rxq->mr->range[0].lkey_be;
	rxq->q.elts = rte_zmalloc_socket("mlxpmd_mprq_bufs", (rxq->q.wqe_mask + 1u) * sizeof(*bufs),
					 RTE_CACHE_LINE_SIZE, rxq->q.socket_id);
	if (rxq->q.elts == NULL)
		return mlxpmd_queue_arm_fail(&rxq->q, ENOMEM, "no memory for the ring of buffers");
	bufs = mlxpmd_mprq_bufs(rxq);
	for (i = 0; i <= rxq->q.wqe_mask; i++) {
		bufs[i] = buf_get(rxq->striding.pool);
		if (bufs[i] == NULL)
			return mlxpmd_queue_arm_fail(&rxq->q, ENOMEM, "the application has the queue's buffers");
	}
	rxq->striding.spare = buf_get(rxq->striding.pool);
	return 0;
}

int
mlxpmd_mprq_arm(struct mlxpmd_queue *q)
{
	struct mlxpmd_rxq *rxq = mlxpmd_rxq_of(q);
	int rc;

	mlxpmd_queue_arm(q);
	rxq->striding.used = 0;
	rxq->striding.given = 0;
	rc = sizes_set(rxq);
	if (rc == 0)
		rc = mlxpmd_rxq_metadata_set(rxq);
	if (rc == 0)
		rc = mlxpmd_rx_comp_arm(rxq);
	if (rc == 0)
		rc = buffers_get(rxq);
	if (rc == 0) {
		mlxpmd_queue_rings_set(q);
		mlxpmd_rx_comp_reset(rxq);
		if (!wqes_set(rxq))
			rc = mlxpmd_queue_arm_fail(q, EFAULT, "a buffer is not registered");
	}
	if (rc != 0) {
		mlxpmd_mprq_disarm(q);
		return rc;
	}
	q->pi = q->wqe_mask + 1;
	return 0;
}

int
mlxpmd_mprq_rewind(struct mlxpmd_rxq *rxq, bool fresh)
{
	if (fresh) {
		mlxpmd_queue_rings_set(&rxq->q);
		mlxpmd_rx_comp_reset(rxq);
	} else {
		mlxpmd_rx_expand_all(rxq);
		mlxpmd_queue_cq_resume(&rxq->q);
	}
	/* Packets of the WQE at ci may be with the application. */
	if (rxq->striding.given != 0)
		mlxpmd_mprq_wqe_done(rxq);
	rxq->striding.used = 0;
	rxq->q.ci = 0;
	rxq->q.pi = rxq->q.wqe_mask + 1;
	return wqes_set(rxq) ? 0 : -EFAULT;
}

void
mlxpmd_mprq_disarm(struct mlxpmd_queue *q)
{
	struct mlxpmd_rxq *rxq = mlxpmd_rxq_of(q);
	struct mlxpmd_striding *s = &rxq->striding;
	struct mlxpmd_mprq_buf **bufs = mlxpmd_mprq_bufs(rxq);
	uint32_t i, given;

	mlxpmd_qstate_store(&q->state, MLXPMD_QS_RESET);
	mlxpmd_rx_comp_disarm(rxq);
	if (q->elts == NULL)
		return;
	for (i = 0; i <= q->wqe_mask; i++) {
		given = i == (q->ci & q->wqe_mask) ? s->given : 0;
		if (bufs[i] != NULL)
			buf_unref(bufs[i], refs_posted(s->pool) - given);
	}
	if (s->spare != NULL)
		buf_unref(s->spare, refs_posted(s->pool));
	s->spare = NULL;
	MLXPMD_SHARED_ADD(s->attached, s->given);
	s->given = 0;
	q->ci = q->pi;
	rte_free(q->elts);
	q->elts = NULL;
}
