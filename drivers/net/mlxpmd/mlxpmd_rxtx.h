/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Queues as the bursts see them. The control plane creates and destroys; the burst owns between.
 *
 * Layout: what a burst writes and what it only reads stand on different cache lines, and no line is
 * shared between queues.
 */
#ifndef MLXPMD_RXTX_H
#define MLXPMD_RXTX_H

#include <rte_mbuf.h>
#include <rte_mempool.h>

#include <mdv.h>

struct mlxpmd_port;
struct mlxpmd_clock;

/** Counters a queue keeps; only its own lcore writes them. */
struct mlxpmd_rxq_stats {
	uint64_t packets, bytes;
	uint64_t nombuf;   /**< Refills that found the mempool empty, per missing mbuf. */
	uint64_t errors;   /**< Error completions. */
	uint64_t cqe_bad;  /**< Completions refused because they made no sense. */
	uint64_t ts_absent; /**< Packets whose timestamp could not be given. */
	uint64_t l3_csum_bad, l4_csum_bad;
};
struct mlxpmd_txq_stats {
	uint64_t packets, bytes;
	uint64_t errors;   /**< Packets lost to error completions. */
	uint64_t dropped;  /**< Packets the queue could not send (no lkey, too many segments). */
	uint64_t completions, doorbells;
};

struct mlxpmd_rxq {
	/* Read-only while running. */
	struct mlx5_cqe64 *cqes;
	struct mlx5_wqe_data_seg *wqes;
	struct rte_mbuf **elts;	/**< One per data segment. */
	volatile uint32_t *cq_dbrec, *rq_dbrec;
	struct rte_mempool *mp;
	const struct mdv_mr_set *mr;
	struct mlxpmd_clock *clock;
	uint64_t mbuf_init;	/**< rearm_data of a fresh mbuf of this queue. */
	uint32_t lkey_be;	/**< Used when mr->n == 1. */
	uint16_t cqe_mask, wqe_mask, segs_per_wqe, log_segs;
	uint16_t free_thresh, headroom;
	uint16_t port_id, queue_id;
	int ts_offset;		/**< Dynamic field, -1 when timestamps are off. */
	uint64_t ts_flag;
	uint64_t offloads;
	/* Written by the burst. */
	uint32_t cq_ci __rte_cache_aligned;
	uint16_t rq_ci, rq_pi;
	uint8_t state;		/**< MDV_QS_*; ERR: the burst returns 0. */
	struct mlxpmd_rxq_stats stats;
	/* Control plane only. */
	struct mlxpmd_port *port __rte_cache_aligned;
	struct mdv_cq cq;
	struct mdv_rq rq;
	struct mlxpmd_rxq_stats stats_base;
	unsigned socket_id;
	struct rte_eth_rxconf conf;
	uint16_t nb_desc;
} __rte_cache_aligned;

struct mlxpmd_txq {
	/* Read-only while running. */
	uint8_t *wqes;
	struct mlx5_cqe64 *cqes;
	struct rte_mbuf **elts;	/**< By WQEBB index: the mbuf chain segment to free. */
	volatile uint32_t *cq_dbrec, *sq_dbrec;
	volatile uint64_t *db_reg;
	struct mdv_dev *mdv;
	uint32_t sqn;
	uint16_t wqe_mask, cqe_mask, free_thresh, rs_thresh;
	uint16_t port_id, queue_id;
	uint64_t offloads;
	/* Written by the burst. */
	uint16_t pi __rte_cache_aligned; /**< WQEBBs posted. */
	uint16_t ci;		/**< WQEBBs whose completion was seen. */
	uint32_t cq_ci;
	uint16_t unsignaled;	/**< WQEBBs since the last requested completion. */
	uint8_t state;
	struct mdv_mr_range mr_last; /**< Last range used. */
	uint32_t mr_generation;
	struct mlxpmd_txq_stats stats;
	/* Control plane only. */
	struct mlxpmd_port *port __rte_cache_aligned;
	struct mdv_cq cq;
	struct mdv_sq sq;
	struct mlxpmd_txq_stats stats_base;
	unsigned socket_id;
	struct rte_eth_txconf conf;
	uint16_t nb_desc;
} __rte_cache_aligned;

/**
 * Control plane, queue objects exist and are in reset: fills the read-only part, the ring with
 * mbufs and WQEs, the CQ with invalid CQEs. -ENOMEM when the mempool cannot fill the ring.
 */
int mlxpmd_rxq_arm(struct mlxpmd_rxq *rxq);
/** Frees every mbuf the queue holds; the device no longer writes. */
void mlxpmd_rxq_disarm(struct mlxpmd_rxq *rxq);
int mlxpmd_txq_arm(struct mlxpmd_txq *txq);
void mlxpmd_txq_disarm(struct mlxpmd_txq *txq);

/* ethdev fast-path companions */
int mlxpmd_rx_descriptor_status(void *rxq, uint16_t offset);
int mlxpmd_tx_descriptor_status(void *txq, uint16_t offset);
uint32_t mlxpmd_rx_queue_count(void *rxq);
int mlxpmd_tx_done_cleanup(void *txq, uint32_t free_cnt);

/** Offloads the bursts implement; dev_info states exactly these (masked by capabilities). */
uint64_t mlxpmd_rx_offloads(const struct mdv_caps *caps);
uint64_t mlxpmd_tx_offloads(const struct mdv_caps *caps);

#endif /* MLXPMD_RXTX_H */
