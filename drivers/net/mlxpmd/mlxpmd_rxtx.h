/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * Queues as the bursts see them. The control plane creates and destroys; the burst owns between.
 *
 * Layout: what a burst writes and what it only reads stand on different cache lines, and no line is
 * shared between queues.
 */
#ifndef MLXPMD_RXTX_H
#define MLXPMD_RXTX_H

#include <rte_mbuf.h>
#include <rte_mempool.h>
#include <rte_spinlock.h>

#include <mdv.h>

#include "mlxpmd_qstate.h"

struct mlxpmd_port;
struct mlxpmd_clock;

/**
 * Counters a queue keeps. Its owner by state writes them, a burst while it is READY; stalls alone is
 * the service's at any time.
 */
struct mlxpmd_rxq_stats {
	uint64_t packets, bytes;
	uint64_t nombuf;   /**< Buffers that the mempool could not give when a refill wanted them. */
	uint64_t errors;   /**< Error completions. */
	uint64_t cqe_bad;  /**< Completions refused because they made no sense. */
	uint64_t ts_absent; /**< Packets whose timestamp could not be given. */
	uint64_t l3_csum_bad, l4_csum_bad;
	uint64_t resets;   /**< Times that the queue was reset after a failure. */
	uint64_t syndromes[MLXPMD_NB_SYN]; /**< Error completions by class. */
};
struct mlxpmd_txq_stats {
	uint64_t packets, bytes;
	uint64_t errors;   /**< Packets lost to error completions (taken out of packets and bytes). */
	uint64_t dropped;  /**< Packets the queue could not send (no lkey, too many segments, empty). */
	uint64_t cqe_bad;  /**< Completions refused because they made no sense. */
	uint64_t completions, doorbells;
	uint64_t resets;   /**< Times that the queue was reset after a failure. */
	uint64_t stalls;   /**< Times that nothing completed for a second though it should have. */
	uint64_t time_past, time_future, time_order; /**< Send times that were past, too far, before the last. */
	uint64_t time_unknown; /**< Send times that no usable clock could tell the device's time for. */
	uint64_t syndromes[MLXPMD_NB_SYN]; /**< Error completions by class. */
};

/**
 * One linear piece of the clock: for a device timestamp ts with off = (ts - base) & mask <= span,
 * value = start + ((off * mult + frac) >> shift) exactly, the product in 128 bits. clock=raw is the
 * identity: mult 1, shift 0, everything else neutral. One cache line, and copied as such.
 */
struct mlxpmd_clock_snap {
	uint32_t generation;	/**< Of the clock it was copied from; 0: never. */
	uint32_t mult;
	uint32_t shift;
	uint32_t steps;		/**< How often the source has stepped until then. */
	uint64_t base, mask, span;
	uint64_t start, frac;
	uint64_t expires_tsc;	/**< Nobody has looked at the source for long: use no more. */
} __rte_cache_aligned;

/**
 * Receive queue.
 *
 * The control plane sets before arming: port, cq, rq, socket_id, conf, nb_desc, mp, offloads,
 * port_id, queue_id, log_segs (rq's stride is 16 << log_segs bytes); conf.rx_free_thresh may be 0 for
 * the default. mlxpmd_rxq_arm() derives the rest. A CQ has to be new at each arm: the consumer starts
 * at 0. cq.log_cqes >= rq.wq.log_wq_sz.
 */
struct mlxpmd_rxq {
	/* Read-only while running. */
	struct mlx5_cqe64 *cqes;
	struct mlx5_wqe_data_seg *wqes;
	struct rte_mbuf **elts;	/**< One per data segment, and a few NULLs for the prefetch to run into. */
	volatile uint32_t *cq_dbrec, *rq_dbrec;
	struct rte_mempool *mp;
	const struct mdv_mr_set *mr;
	struct mlxpmd_clock *clock;
	uint64_t mbuf_init;	/**< rearm_data of a fresh mbuf of this queue. */
	uint64_t ol_init;	/**< ol_flags that every mbuf of the pool keeps. */
	uint32_t lkey_be;	/**< Used when mr->n == 1. */
	uint32_t len_max;	/**< Bytes posted by one WQE. */
	uint16_t seg_first_bytes, seg_bytes; /**< Posted by the first and by each further segment. */
	uint32_t tail_check;	/**< Bits of a CQE's last word that the burst compares. */
	uint32_t flag_mask;	/**< Low ol_flags that the application asked for. */
	uint32_t buf_offset;	/**< From an mbuf to its buffer; 0: differs, read buf_addr. */
	uint16_t cqe_mask, wqe_mask, segs_per_wqe, log_segs;
	uint16_t free_thresh, headroom;
	uint16_t port_id, queue_id;
	uint8_t log_cqes;
	int ts_offset;		/**< Dynamic field, -1 when timestamps are off. */
	uint64_t ts_flag;
	uint64_t offloads;
	/* Written by the burst. */
	uint32_t cq_ci __rte_cache_aligned;
	uint16_t rq_ci, rq_pi;	/**< WQEs completed, WQEs posted; the difference holds mbufs. */
	uint8_t state;		/**< enum mlxpmd_qstate; a burst receives in READY only. */
	uint8_t cause;		/**< enum mlxpmd_qcause; NONE while READY. */
	uint8_t syndrome, vendor_syndrome; /**< Of the last error completion. */
	uint32_t starved;	/**< Missing mbufs that nombuf counts already. */
	struct mlxpmd_rxq_stats stats;
	struct mlxpmd_clock_snap snap;
	/* Control plane only. */
	struct mlxpmd_port *port __rte_cache_aligned;
	struct mdv_cq cq;
	struct mdv_rq rq;
	struct mlxpmd_repair repair;
	struct mlxpmd_rxq_stats stats_base;
	struct mdv_vector *vector; /**< NULL: no interrupts. */
	rte_spinlock_t intr_lock; /**< mlxpmd_rx_intr.c. */
	bool intr_on;		/**< The application waits for the vector. Under intr_lock, as the next. */
	bool intr_late_told;
	uint32_t intr_late_ci;	/**< A packet waits there, */
	uint64_t intr_late_ns;	/**< since then; 0: none. */
	unsigned socket_id;
	struct rte_eth_rxconf conf;
	uint16_t nb_desc;
} __rte_cache_aligned;

/** What the burst remembers of a WQE that asked for a completion, at the index of its first WQEBB. */
struct mlxpmd_txq_wqe {
	uint16_t wqebb_end;	/**< pi after it. */
	uint16_t elts_end;	/**< elts_pi after it. */
};

/**
 * Send queue.
 *
 * The control plane sets before arming: port, cq, sq, mdv, socket_id, conf, nb_desc, offloads, port_id,
 * queue_id; conf.tx_free_thresh and tx_rs_thresh may be 0 for defaults. mlxpmd_txq_arm() derives the
 * rest. The CQ has to be new at each arm.
 */
struct mlxpmd_txq {
	/* Read-only while running. */
	uint8_t *wqes;
	struct mlx5_cqe64 *cqes;
	struct rte_mbuf **elts;	/**< Packets in flight, one entry per packet in the order of posting. */
	struct mlxpmd_txq_wqe *wqe_info;
	volatile uint32_t *cq_dbrec, *sq_dbrec;
	volatile uint64_t *db_reg;
	struct mdv_dev *mdv;
	uint64_t offloads;
	uint32_t sqn;
	uint16_t wqe_mask, cqe_mask, elts_mask;
	uint16_t free_thresh, rs_thresh;
	uint16_t port_id, queue_id;
	uint16_t inline_bytes;	/**< Header bytes that every WQE must carry; 0: none. */
	uint8_t max_ds;		/**< Largest WQE in 16-byte units. */
	uint8_t log_cqes;
	bool db_wc;		/**< The doorbell register is write-combining. */
	int time_offset;	/**< Dynamic field of send times. */
	uint64_t time_flag;	/**< Its flag; 0 without RTE_ETH_TX_OFFLOAD_SEND_ON_TIMESTAMP. */
	uint64_t time_mask;	/**< Modulo which the device compares times. */
	/* Written by the burst. */
	uint16_t pi __rte_cache_aligned; /**< WQEBBs posted. */
	uint16_t ci;		/**< WQEBBs whose completion was seen. */
	uint16_t last;		/**< Where the last WQE starts. */
	uint16_t elts_pi, elts_ci; /**< Packets posted; packets freed. */
	uint16_t elts_comp;	/**< elts_pi of the last requested completion. */
	uint16_t wqebb_comp;	/**< pi of the last requested completion. */
	uint32_t cq_ci;
	uint8_t state;		/**< enum mlxpmd_qstate; a burst sends in READY only. */
	uint8_t cause;		/**< enum mlxpmd_qcause; NONE while READY. */
	uint8_t syndrome, vendor_syndrome; /**< Of the last error completion. */
	uint16_t failed_wqe;	/**< Its WQE. */
	uint16_t fulls;		/**< Bursts that found no room at all. */
	uint32_t mr_generation;
	struct mdv_mr_range mr_last; /**< Last range used. */
	uint16_t stamp_wqe;	/**< Last WQE whose packet wants a stamp, */
	bool stamp_due;		/**< while its completion is to come. */
	uint64_t time_last;	/**< Last send time that was asked for. */
	uint64_t time_until_tsc; /**< Until then the device may rightly wait. */
	struct mlxpmd_txq_stats stats;
	/* Control plane only. */
	struct mlxpmd_port *port __rte_cache_aligned;
	struct mdv_cq cq;
	struct mdv_sq sq;
	uint16_t first_lost;	/**< elts index of the first packet that was not sent; when judged. */
	bool judged;
	struct mlxpmd_repair repair;
	struct mlxpmd_txq_stats stats_base;
	unsigned socket_id;
	struct rte_eth_txconf conf;
	uint16_t nb_desc;
} __rte_cache_aligned;

/**
 * Queue objects exist and are in reset: fills the read-only part, the ring with mbufs and WQEs, the CQ
 * with invalid CQEs, and zeroes the RQ's doorbell record, as it has to be while the queue goes from
 * reset to RDY. Then mlxpmd_rxq_post() hands the WQEs over. Counters stay.
 * @return 0; -ENOMEM when the mempool cannot fill the ring or memory is short; -EINVAL when mbufs are
 *   too small for the headroom, or sizes do not fit together; or why the mempool cannot be registered.
 *   On failure nothing is held.
 */
int mlxpmd_rxq_arm(struct mlxpmd_rxq *rxq);
/** The armed or rewound queue is RDY: tells the device of the WQEs, and hands the queue to the burst. */
void mlxpmd_rxq_post(struct mlxpmd_rxq *rxq);
/** Frees every mbuf the queue holds; the device no longer writes. Idempotent on a zeroed struct. */
void mlxpmd_rxq_disarm(struct mlxpmd_rxq *rxq);
/** As mlxpmd_rxq_arm() for sending: -ENOMEM, -EINVAL. */
int mlxpmd_txq_arm(struct mlxpmd_txq *txq);
/** The armed or rewound queue is RDY: hands it to the burst. */
void mlxpmd_txq_open(struct mlxpmd_txq *txq);
/**
 * Finds out which packets an error completion cost, for mlxpmd_txq_disarm() to count. Reads the ring, so it
 * comes before the SQ is destroyed; the burst no longer touches the queue.
 */
void mlxpmd_txq_judge(struct mlxpmd_txq *txq);
/** Counts as mlxpmd_txq_disarm() does what was not sent, but forgets the mbufs: the device may still read them. */
void mlxpmd_txq_abandon(struct mlxpmd_txq *txq);
/**
 * Frees every mbuf the queue holds; the device no longer reads. Packets that are not known to be sent are
 * counted as errors. Idempotent on a zeroed struct.
 */
void mlxpmd_txq_disarm(struct mlxpmd_txq *txq);

/**
 * A queue under repair whose RQ is in reset begins again at index 0 with the very mbufs it holds: the
 * mempool is not asked for any, so an empty one does no harm. What the device completed since is stepped
 * over. fresh: CQ and RQ are new ones, of the same sizes; else the CQ goes on where the device is. The
 * doorbell record is 0 afterwards, as at arming; mlxpmd_rxq_post() follows. May be repeated.
 * @return 0; -EFAULT when an mbuf lies in memory that the device does not know any more: nothing posted.
 */
int mlxpmd_rxq_rewind(struct mlxpmd_rxq *rxq, bool fresh);
/**
 * As mlxpmd_rxq_rewind(), and accounts for what was lost: packets before the WQE that failed were sent, all
 * from it on are taken out of packets and bytes and counted as errors; without an error completion, all
 * that are not known to be sent. Every mbuf is freed, by whatever thread calls this.
 * @return Packets lost.
 */
uint32_t mlxpmd_txq_rewind(struct mlxpmd_txq *txq, bool fresh);

/**
 * Before the SQ is reset: makes the device say when it has sent what it was given without a request for a
 * completion. All is sent when ci == pi (mlxpmd_tx_done_cleanup() sees to ci). Does nothing when all is
 * asked for, or there is no room, or the queue is not RDY.
 */
void mlxpmd_txq_flush(struct mlxpmd_txq *txq);

/* ethdev fast-path companions */
int mlxpmd_rx_descriptor_status(void *rxq, uint16_t offset);
int mlxpmd_tx_descriptor_status(void *txq, uint16_t offset);
uint32_t mlxpmd_rx_queue_count(void *rxq);
int mlxpmd_tx_done_cleanup(void *txq, uint32_t free_cnt);

/** Offloads the bursts implement; dev_info states exactly these (masked by capabilities). */
uint64_t mlxpmd_rx_offloads(const struct mdv_caps *caps);
uint64_t mlxpmd_tx_offloads(const struct mdv_caps *caps);
/** Can the port send at a time (RTE_ETH_TX_OFFLOAD_SEND_ON_TIMESTAMP)? Capability and a clock in ns. */
bool mlxpmd_tx_times(const struct mlxpmd_port *port);
/** For a queue with that offload: registers field and flag. 0, or why not. */
int mlxpmd_txq_times_set(struct mlxpmd_txq *txq);

#endif /* MLXPMD_RXTX_H */
