/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * Receive and send queues: what the bursts need beyond the common head (mlxpmd_queue.h), and the functions that
 * the control plane calls on their rings.
 *
 * Layout: as in the common head, fields that bursts write and fields that they only read are on different cache
 * lines. Per burst a receive queue reads two lines (three with timestamps) and writes one, beside the snapshot;
 * a send queue reads two and writes two.
 */
#ifndef MLXPMD_RXTX_H
#define MLXPMD_RXTX_H

#include <rte_mbuf.h>
#include <rte_mempool.h>
#include <rte_power_intrinsics.h>
#include <rte_spinlock.h>

#include <mdv.h>
#include <mdv_compat.h>

#include "mlxpmd_queue.h"

struct mlxpmd_clock;

/**
 * Snapshot of the clock's line: for a device timestamp ts with off = (ts - base) & mask <= span,
 * value = start + ((off * mult + frac) >> shift) exactly, the product in 128 bits. clock=raw is the
 * identity: mult 1, shift 0. One cache line, and copied as such.
 */
struct mlxpmd_clock_snap {
	uint32_t generation;	/**< Of the clock when it was copied; 0: not copied yet. */
	uint32_t mult;
	uint32_t shift;
	uint32_t steps;		/**< Steps of the source so far. */
	uint64_t base, mask, span;
	uint64_t start, frac;
	uint64_t expires_tsc;	/**< From then on the line is too old: do not convert with it. */
} __rte_cache_aligned;

struct mlxpmd_mprq_buf;
struct mlxpmd_mprq_pool;

/** Copied at once by a striding queue; a power of two that divides all strides. */
#define MLXPMD_MPRQ_LINE 64u

/** Why a run of a striding queue ended before a packet. */
enum mlxpmd_striding_stop {
	MLXPMD_STRIDING_NONE,
	MLXPMD_STRIDING_STARVED, /**< The mempool is empty: the packet waits. */
	MLXPMD_STRIDING_DROP,	/**< It can neither be attached, nor copied. */
};

/** What a striding queue (mlxpmd_mprq.h) has beyond an ordinary one. */
struct mlxpmd_striding {
	/* Read-only while running. */
	struct mlxpmd_mprq_pool *pool; /**< NULL before the first start. */
	uint32_t data_offset;	/**< From a buffer to its first stride. */
	/** Bytes of the longest packet that is always copied; the largest number while a secondary process polls. */
	uint32_t copy_max;
	uint32_t lines_max;	/**< The same, as far as whole lines fit into an mbuf. */
	uint32_t strides;	/**< Of a WQE. */
	uint8_t log_strides;	/**< 0: the queue is an ordinary one. */
	uint8_t log_stride_size;
	bool scatter;		/**< RTE_ETH_RX_OFFLOAD_SCATTER. */
	/* Written by the burst. */
	struct mlxpmd_mprq_buf *spare __rte_cache_aligned; /**< Replaces a buffer; NULL: packets are copied. */
	uint32_t used;		/**< Strides of the WQE at ci that are consumed. */
	uint32_t given;		/**< Packets that are attached to its buffer. */
	uint64_t attached;	/**< Packets attached to the buffers before. */
	uint64_t lro_packets, lro_segments; /**< Packets of several TCP segments, and these. */
	enum mlxpmd_striding_stop stop;
} __rte_cache_aligned;

/** Most data segments of a receive WQE. */
#define MLXPMD_RX_MAX_SEGS 32

/** What the data segments at one place of each WQE have in common. */
struct mlxpmd_rx_seg {
	struct rte_mempool *mp;
	const struct mdv_mr_set *mr;
	uint32_t lkey_be;	/**< Used when mr->n == 1. */
	uint32_t buf_offset;	/**< From an mbuf to its buffer; 0: differs, read buf_addr. */
	uint16_t bytes;		/**< Posted. */
	uint16_t data_off;	/**< Of the mbuf. */
};

/**
 * Receive queue.
 *
 * Set before arming: q (its read-only part but for rings and masks), mp, conf, log_segs (a WQE has
 * 16 << log_segs bytes); conf.rx_free_thresh may be 0 for the default. With buffer split conf.rx_seg describes the
 * segments, and mp is the mempool of the first; else conf.rx_nseg is 0. mlxpmd_rxq_arm() derives the rest. The CQ is
 * new at each arming: the consumer index starts at 0. cq.log_cqes >= wq.log_wq_sz.
 *
 * Ordinary queues: mp, mr, lkey_be, buf_offset, seg_first_bytes and headroom are those of segs[0], for bursts whose
 * WQEs have one segment.
 */
struct mlxpmd_rxq {
	struct mlxpmd_queue q;
	/* Read-only while running. */
	struct rte_mempool *mp;
	const struct mdv_mr_set *mr;
	uint64_t mbuf_init;	/**< rearm_data of a fresh mbuf of this queue. */
	/**
	 * ol_flags that every mbuf of the pool keeps; RTE_MBUF_F_RX_LRO, meta_flag, MLXPMD_RX_OL_FCS: the queue has
	 * LRO, metadata, KEEP_CRC.
	 */
	uint64_t ol_init;
	uint32_t lkey_be;	/**< Used when mr->n == 1. */
	uint32_t len_max;	/**< Bytes posted by one WQE. */
	uint32_t tail_check;	/**< Bits of a CQE's last word that the burst compares. */
	uint32_t flag_mask;	/**< Low ol_flags that the application requested. */
	uint16_t seg_first_bytes; /**< Posted by the first segment. */
	uint16_t seg_bytes;	/**< Striding queues: in each further mbuf of a packet. */
	uint16_t free_thresh, headroom;
	uint32_t buf_offset;	/**< From an mbuf to its buffer; 0: differs, read buf_addr. */
	uint16_t segs_per_wqe;
	uint8_t log_segs;
	uint8_t mini_cqe;	/**< enum mdv_mini_cqe: how CQEs are compressed. */
	/* Another line, read for timestamps only. */
	int ts_offset;		/**< Dynamic field, -1 when timestamps are off. */
	uint64_t ts_flag;
	struct mlxpmd_clock *clock;
	uint64_t meta_flag;	/**< Of metadata of flows, 0: not delivered; */
	int meta_offset;	/**< its dynamic field. */
	struct mlxpmd_rx_seg segs[MLXPMD_RX_MAX_SEGS] __rte_cache_aligned; /**< As many as a WQE has. */
	/* Written by the burst. */
	struct mlxpmd_clock_snap snap;
	struct mlxpmd_striding striding;
	uint32_t title_ci;	/**< Consumer index of the mini CQEs whose title is `title`: mlxpmd_rx_title_keep(). */
	struct mlx5_cqe64 title;
	uint8_t *owned;		/**< Basic layout: bits of entries with an owner bit. Others have opcode INVALID. */
	uint32_t owned_ci;	/**< The bits are right for CQEs before this consumer index: mlxpmd_mini_used(). */
	/* Control plane only. */
	struct rte_eth_rxconf conf __rte_cache_aligned;
	union rte_eth_rxseg split[MLXPMD_RX_MAX_SEGS]; /**< Behind conf.rx_seg. */
	struct mdv_vector *vector; /**< NULL: no interrupts. */
	rte_spinlock_t intr_lock; /**< mlxpmd_rx_intr.c. */
	bool intr_on;		/**< The application waits for the vector. Under intr_lock, as the next. */
	bool intr_late_logged;
	uint32_t intr_late_ci;	/**< Index of a completion that no interrupt came for, */
	uint64_t intr_late_ns;	/**< and when it was first seen; 0: none. */
} __rte_cache_aligned;

/** What the burst remembers of a WQE, at the index of its first WQEBB. */
struct mlxpmd_txq_wqe {
	uint16_t wqebb_end;	/**< pi after it, if it requests a completion; */
	uint16_t elts_end;	/**< elts_pi after it, likewise. */
	uint32_t copied;	/**< Length of a packet that is its inline header, and not in elts; or 0. */
};

/** What packets to be segmented have in common while their headers have the same lengths. */
struct mlxpmd_tso_form {
	uint64_t lens;		/**< tx_offload of the mbuf: lengths of headers and segment. */
	uint64_t flags;		/**< Those of ol_flags that the other members depend on; 0: no packet yet. */
	uint64_t eth[2];	/**< Ethernet segment: cs_flags and mss; length of the inline header. */
	/**
	 * ceil(2^32 / tso_segsz). x * per_segsz >> 32 is x / tso_segsz for x < 2^18: per_segsz * tso_segsz is less than
	 * 2^32 + 2^14, because tso_segsz has 14 bits, and x times the excess over 2^32 is less than 2^32.
	 */
	uint64_t per_segsz;
	uint32_t header;	/**< Bytes that the WQE carries inline. */
	uint32_t ds;		/**< 16-byte units before the first data segment. */
	uint32_t wqebbs;	/**< WQEBBs of a WQE with one data segment. */
};

/**
 * Send queue.
 *
 * Set before arming: q (as for mlxpmd_rxq), mdv, conf, inline_mpw, inline_send; conf.tx_free_thresh and tx_rs_thresh
 * may be 0 for defaults. mlxpmd_txq_arm() derives the rest. The CQ is new at each arming.
 */
struct mlxpmd_txq {
	struct mlxpmd_queue q;
	/* Read-only while running. */
	struct mlxpmd_txq_wqe *wqe_info;
	volatile uint64_t *db_reg;
	struct mdv_dev *mdv;
	uint32_t sqn;
	uint16_t elts_mask;
	uint16_t rs_thresh;
	uint16_t inline_bytes;	/**< Header bytes that every WQE must carry; 0: none. */
	uint8_t max_ds;		/**< Largest WQE in 16-byte units. */
	bool db_wc;		/**< The doorbell register is write-combining. */
	uint32_t max_lso;	/**< Most payload bytes of a packet to be segmented; 0: not an offload of it. */
	/** Packets of up to this number of bytes are copied into multi-packet WQEs, and into SEND WQEs. 0: none. */
	uint16_t inline_mpw, inline_send;
	/** With long WQEs, WQEBBs without a requested completion: wqebb_idle or wqebb_busy, which the watch sets. */
	uint16_t wqebb_thresh;
	uint16_t swp_tunnels;	/**< mlxpmd_tx_tunnel() bits of the kinds whose WQEs have the offsets of headers. */
	int time_offset;	/**< Dynamic field of send times. */
	uint64_t time_flag;	/**< Its flag; 0 without RTE_ETH_TX_OFFLOAD_SEND_ON_TIMESTAMP. */
	uint64_t time_mask;	/**< Modulo which the device compares times. */
	int meta_offset;	/**< Dynamic field of metadata. */
	uint64_t meta_flag;	/**< Its flag; 0: flows do not match metadata of sent packets. */
	/* Written by the burst. */
	uint16_t last __rte_cache_aligned; /**< WQEBB index of the last WQE. */
	uint16_t elts_pi, elts_ci; /**< Packets posted; packets freed. */
	uint16_t elts_comp;	/**< elts_pi of the last requested completion. */
	uint16_t wqebb_comp;	/**< pi of the last requested completion. */
	uint16_t failed_wqe;	/**< WQE of the last error completion. */
	uint16_t fulls;		/**< Bursts that found the ring full. */
	uint16_t stamp_wqe;	/**< Last WQE whose packet needs a timestamp, */
	bool stamp_due;		/**< while its completion is outstanding. */
	uint32_t mr_generation;
	struct mdv_mr_range mr_last; /**< Last range used. */
	uint64_t time_last;	/**< Last send time requested. */
	uint64_t time_until_tsc; /**< Until then the device may be waiting for a send time. */
	struct mlxpmd_tso_form tso; /**< Of the last packet segmented. */
	/* Control plane only. */
	struct rte_eth_txconf conf __rte_cache_aligned;
	uint16_t wqebb_idle, wqebb_busy; /**< wqebb_thresh without and with completions of late. */
	uint16_t watch_ci;	/**< ci when the watch last saw it advance, */
	uint64_t watch_ns;	/**< and when that was. */
	struct mdv_rate rate;	/**< Its limit in the device. */
	uint32_t rate_mbps;	/**< The same as requested; 0: none. */
	const char *inline_why;	/**< Reason for the values of inline_mpw and inline_send. */
	uint32_t lost_copied;	/**< Packets in WQEs that were not sent, if known, */
	uint64_t lost_copied_bytes; /**< and their length. */
	uint16_t first_lost;	/**< elts index of the first packet that was not sent, if known. */
	bool lost_known;
} __rte_cache_aligned;

static_assert(offsetof(struct mlxpmd_rxq, ts_offset) == sizeof(struct mlxpmd_queue) + RTE_CACHE_LINE_MIN_SIZE,
	      "what a burst without timestamps reads: the head's line and one more");

static inline struct mlxpmd_rxq *
mlxpmd_rxq_of(struct mlxpmd_queue *q)
{
	return container_of(q, struct mlxpmd_rxq, q);
}

static inline struct mlxpmd_txq *
mlxpmd_txq_of(struct mlxpmd_queue *q)
{
	return container_of(q, struct mlxpmd_txq, q);
}

/**
 * With objects in reset: sets the read-only part, fills the ring with mbufs and WQEs, marks all CQEs invalid, and
 * zeroes the RQ's doorbell record, which must be 0 while the RQ goes from RST to RDY. Then comes mlxpmd_queue_ready().
 * Counters are kept.
 * @return 0; -ENOMEM: the mempool cannot fill the ring, or no memory; -EINVAL: mbufs are too small for the headroom,
 *   or sizes do not match; or why the mempool cannot be registered. Nothing is held on failure.
 */
int mlxpmd_rxq_arm(struct mlxpmd_queue *q);
/**
 * Sets mempool, bytes and data_off of a WQE's segment: as conf.rx_seg describes it; what it does not describe has whole
 * buffers of the last mempool.
 * @return false: it is empty, or its end is beyond the mempool's data room.
 */
bool mlxpmd_rxq_seg(const struct mlxpmd_rxq *rxq, unsigned int index, struct mlxpmd_rx_seg *seg);
/** Part of arming: timestamps, flags and first words of mbufs, after headroom. 0; -ENOTSUP, or no dynamic field. */
int mlxpmd_rxq_metadata_set(struct mlxpmd_rxq *rxq);
/** Frees all mbufs of the queue; the device must not write any more. Idempotent on a zeroed structure. */
void mlxpmd_rxq_disarm(struct mlxpmd_queue *q);
/**
 * Packets that the device delivered to a queue which is not polled any more, error completions and the completion that
 * made the queue fail aside.
 */
uint32_t mlxpmd_rxq_unread(const struct mlxpmd_queue *q);
/** As mlxpmd_rxq_arm() for sending: -ENOMEM, -EINVAL. */
int mlxpmd_txq_arm(struct mlxpmd_queue *q);
/** mlxpmd_queue_ops.watch: sets wqebb_thresh. */
void mlxpmd_txq_watch(struct mlxpmd_queue *q, bool completed, uint32_t cq_ci, uint64_t now_ns);
/**
 * Finds the first packet that was not sent after an error completion, for mlxpmd_txq_disarm() to count. Reads the
 * ring: call it before the SQ is destroyed, when no burst uses the queue.
 */
void mlxpmd_txq_lost_find(struct mlxpmd_queue *q);
/** Counts lost packets as mlxpmd_txq_disarm() does, but leaks the mbufs: the device may still read them. */
void mlxpmd_txq_abandon(struct mlxpmd_txq *txq);
/**
 * Frees all mbufs of the queue; the device must not read any more. Packets that are not known to be sent are
 * counted as errors. Idempotent on a zeroed structure.
 */
void mlxpmd_txq_disarm(struct mlxpmd_queue *q);

/**
 * Restarts a queue whose RQ is in RST at index 0 with the mbufs that it holds; none is allocated, so an empty
 * mempool does not matter. Pending completions are skipped. fresh: CQ and RQ are new ones of the same sizes; else
 * the CQ continues at the device's index. mlxpmd_queue_ready() follows. May be repeated.
 * @return 0; -EFAULT: an mbuf is in memory that is not registered any more; nothing is posted.
 */
int mlxpmd_rxq_rewind(struct mlxpmd_rxq *rxq, bool fresh);
/**
 * As mlxpmd_rxq_rewind(), and accounts for lost packets: those before the failed WQE were sent; it and all after it
 * are moved from packets and bytes to errors. Without an error completion all that are not known to be sent are lost.
 * Frees all mbufs, in the calling thread.
 * @return Packets lost.
 */
uint32_t mlxpmd_txq_rewind(struct mlxpmd_txq *txq, bool fresh);

/**
 * Before the SQ is reset: posts a NOP that requests a completion for WQEs without one. All is sent when ci == pi;
 * mlxpmd_tx_done_cleanup() advances ci. Does nothing if a completion is outstanding for all WQEs, the ring is full,
 * or the queue is not READY.
 */
void mlxpmd_txq_flush(struct mlxpmd_txq *txq);

/* ethdev fast-path companions */
int mlxpmd_rx_descriptor_status(void *rxq, uint16_t offset);
int mlxpmd_tx_descriptor_status(void *txq, uint16_t offset);
mdv_rx_queue_count mlxpmd_rx_queue_count(void *rxq);
/**
 * For rte_eth_get_monitor_addr(): the tail of the next CQE, with its owner bit and opcode, or with the pass of the ring
 * where compressed CQEs have the enhanced layout. 0; -EAGAIN: the queue is not READY.
 */
int mlxpmd_rx_monitor_addr(void *rxq, struct rte_power_monitor_cond *cond);
int mlxpmd_tx_done_cleanup(void *txq, uint32_t free_cnt);
/**
 * rte_eth_tx_prepare() of a port with TSO. rte_errno: EINVAL: flags or lengths are wrong; ENOTSUP: the queue has no
 * such offload, or the packet exceeds the device's limits.
 */
uint16_t mlxpmd_tx_prepare(void *txq, struct rte_mbuf **pkts, uint16_t n);

/** Offloads that the bursts implement with these capabilities: what dev_info reports. */
uint64_t mlxpmd_rx_offloads(const struct mdv_caps *caps);
uint64_t mlxpmd_tx_offloads(const struct mdv_caps *caps);
/** Most segments of a packet to be sent, whatever its headers. */
uint16_t mlxpmd_tx_segs_max(const struct mdv_caps *caps);
/** Can the port send at a time (RTE_ETH_TX_OFFLOAD_SEND_ON_TIMESTAMP)? Capability and a clock in ns. */
bool mlxpmd_tx_times(const struct mlxpmd_port *port);
/** For a queue with that offload: registers the mbuf field and flag. 0 or -errno. */
int mlxpmd_txq_times_set(struct mlxpmd_txq *txq);

#endif /* MLXPMD_RXTX_H */
