/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * Striding receive queues (multi-packet RQ). A WQE is one large buffer of strides, and a packet takes consecutive
 * ones. Short packets are copied to mbufs of the application's mempool; long ones are attached to such an mbuf as
 * external buffers, without a copy.
 *
 * Buffers belong to a mempool of the queue. One that the application still refers to when its strides are used up is
 * replaced by the queue's spare buffer, else it is posted again. Without a spare all packets are copied, so all WQEs
 * are always posted again: packets that the application keeps cannot stop the queue. The mempool is freed with the
 * last reference to one of its buffers, which may be after the port was closed.
 */
#ifndef MLXPMD_MPRQ_H
#define MLXPMD_MPRQ_H

#include "mlxpmd.h"
#include "mlxpmd_rx.h"

/** The queue's mempool. */
struct mlxpmd_mprq_pool {
	struct rte_mempool *mp;
	uint32_t refs;		/**< Atomic: one of the queue, and one per buffer that is not in mp. */
	uint32_t data_offset;	/**< From a buffer to its first stride, which follows a headroom. */
	uint8_t log_strides, log_stride_size;
};

/** A buffer: this structure, a headroom, the strides. */
struct mlxpmd_mprq_buf {
	struct mlxpmd_mprq_pool *pool;
	rte_iova_t iova;	/**< Of the structure. */
	/**
	 * Atomic. While the buffer is posted: one of the queue, and one per stride, so that attaching a packet needs no
	 * atomic operation. When the strides are used up: those of strides without an attached packet are dropped.
	 */
	uint32_t refs;
	struct rte_mbuf_ext_shared_info info[]; /**< By the first stride of a packet. */
};

/** Longest packet of byte_cnt, in a CQE of a striding RQ (DPDK mlx5_prm.h, MLX5_MPRQ_LEN_MASK). */
#define MLXPMD_MPRQ_LEN_MASK 0xffffu
#define MLXPMD_MPRQ_STRIDES_SHIFT 16
#define MLXPMD_MPRQ_ONE_STRIDE (1u << MLXPMD_MPRQ_STRIDES_SHIFT)
/** Of byte_cnt >> MLXPMD_MPRQ_STRIDES_SHIFT: no packet, the strides are skipped. More than a WQE's strides. */
#define MLXPMD_MPRQ_FILLER 0x8000u

/** Buffers by WQE. */
static __rte_always_inline struct mlxpmd_mprq_buf **
mlxpmd_mprq_bufs(const struct mlxpmd_rxq *rxq)
{
	return (struct mlxpmd_mprq_buf **)(void *)rxq->q.elts;
}

/** Does the CQE belong to stride `used` of the WQE at ci? Compares wqe_counter and wqe_id. */
static __rte_always_inline bool
mlxpmd_mprq_in_step(const struct mlxpmd_rxq *rxq, const struct mlx5_cqe64 *cqe, uint32_t used)
{
	const uint16_t wqe_id = rte_be_to_cpu_16(((const struct prm_cqe64 *)cqe)->wqe_id);

	return ((rte_be_to_cpu_16(cqe->wqe_counter) ^ used) | ((wqe_id ^ rxq->q.ci) & rxq->q.wqe_mask)) == 0;
}

/** Is the packet within its strides, and are these in the rest of the WQE? False for a filler and length 0. */
static __rte_always_inline bool
mlxpmd_mprq_fits(const struct mlxpmd_striding *s, uint32_t len, uint32_t strides, uint32_t used)
{
	return strides - 1 < s->strides - used && (len - 1) >> s->log_stride_size < strides;
}

/** The strides of the WQE at ci are used up: posts its buffer again, or the spare one. Advances ci. */
void mlxpmd_mprq_wqe_done(struct mlxpmd_rxq *rxq);

/** Consumes strides. Returns the number used of the WQE at ci. */
static __rte_always_inline uint32_t
mlxpmd_mprq_advance(struct mlxpmd_rxq *rxq, uint32_t used, uint32_t strides)
{
	used += strides;
	if (likely(used != rxq->striding.strides))
		return used;
	mlxpmd_mprq_wqe_done(rxq);
	return 0;
}

/** As mlxpmd_rx_exception(). */
bool mlxpmd_mprq_exception(struct mlxpmd_rxq *rxq);

/**
 * Creates the queue's mempool, unless it has one of these sizes with enough buffers.
 * @return 0; -ENOMEM.
 */
int mlxpmd_mprq_pool_set(struct mlxpmd_rxq *rxq, uint8_t log_strides, uint8_t log_stride_size);
/** The queue is released. Buffers that the application still refers to live on. */
void mlxpmd_mprq_pool_release(struct mlxpmd_rxq *rxq);
/** For telemetry: buffers that are neither posted nor free. */
unsigned int mlxpmd_mprq_held(const struct mlxpmd_rxq *rxq);

/** As mlxpmd_rxq_arm(), mlxpmd_rxq_rewind() and mlxpmd_rxq_disarm(). The sizes and the mempool are set. */
int mlxpmd_mprq_arm(struct mlxpmd_queue *q);
int mlxpmd_mprq_rewind(struct mlxpmd_rxq *rxq, bool fresh);
void mlxpmd_mprq_disarm(struct mlxpmd_queue *q);

#endif /* MLXPMD_MPRQ_H */
