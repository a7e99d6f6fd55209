/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * What receive and send queues have in common: the head of struct mlxpmd_rxq and struct mlxpmd_txq, on which state
 * machine, start and stop, repair, statistics, telemetry and interrupts operate.
 *
 * Layout: fields that bursts write and fields that they only read are on different cache lines, and no line is
 * shared between queues. The first line is read by bursts, the second is the only one that every burst writes.
 */
#ifndef MLXPMD_QUEUE_H
#define MLXPMD_QUEUE_H

#include <assert.h>
#include <stddef.h>
#include <sys/queue.h>

#include <rte_mbuf.h>

#include <mdv.h>

#include "mlxpmd_burst_cqe.h"
#include "mlxpmd_qstate.h"

struct mlxpmd_port;
struct mlxpmd_queue;
TAILQ_HEAD(mlxpmd_queue_list, mlxpmd_queue);

/**
 * Counters of a queue. The owner of the queue by its state writes them, that is a burst in READY; only stalls
 * belongs to the control thread in all states. Counters of the other direction stay 0.
 */
struct mlxpmd_queue_stats {
	uint64_t packets, bytes;
	uint64_t completions, doorbells; /**< Tx. */
	uint64_t nombuf;	/**< Rx: mbufs that the mempool did not have when the ring was refilled. */
	uint64_t dropped;	/**< Tx: packets that cannot be sent (no lkey, too many segments, empty). */
	/* Second cache line of what bursts write: not touched by a burst without errors. */
	uint64_t errors;	/**< Rx: error completions. Tx: packets lost to them, not in packets and bytes. */
	uint64_t cqe_bad;	/**< Invalid completions: refused. */
	uint64_t resets;	/**< Repairs of the queue. */
	uint64_t stalls;	/**< Tx: periods of a second and more without an expected completion. */
	uint64_t ts_absent;	/**< Rx: packets without timestamp because the clock could not convert it. */
	uint64_t l3_csum_bad, l4_csum_bad; /**< Rx. */
	uint64_t time_past, time_future, time_order; /**< Tx: send times in the past, too far, before the previous. */
	uint64_t time_unknown;	/**< Tx: send times that no usable clock could convert. */
	uint64_t syndromes[MLXPMD_NB_SYN]; /**< Error completions by class. */
	/** Tx: packets that bursts did not accept, which the application keeps. Written by bursts in all states. */
	uint64_t refused;
	uint64_t merged;	/**< Rx: segments that are part of a packet before (LRO). */
	uint64_t unplaced;	/**< Rx: packets dropped because mbufs for them were missing (striding queues). */
	uint64_t discarded;	/**< Rx: packets that no burst took before the queue was stopped or repaired. */
	uint64_t lost[MLXPMD_NB_SYN + 1]; /**< Tx: errors as frames, by class; the last one: without a completion. */
};

enum mlxpmd_queue_kind { MLXPMD_RX, MLXPMD_TX, MLXPMD_NB_KINDS };

/** What differs between receive and send queues, for the control plane. Bursts make no indirect calls. */
struct mlxpmd_queue_ops {
	const char *name;	/**< "Rx" or "Tx", for messages. */
	/** At the start of the port: derives what depends on its configuration. NULL: nothing does. 0 or -errno. */
	int (*prepare)(struct mlxpmd_queue *q);
	/** Creates CQ and RQ or SQ, in reset, into q->hw. 0; or -errno, with nothing held. */
	int (*create)(struct mlxpmd_queue *q);
	/** New objects are in q->hw: updates what refers to the old ones. NULL: nothing does. 0 or -errno. */
	int (*replaced)(struct mlxpmd_queue *q);
	int (*arm)(struct mlxpmd_queue *q);	/**< mlxpmd_rxq_arm(), mlxpmd_txq_arm(). */
	void (*disarm)(struct mlxpmd_queue *q);	/**< mlxpmd_rxq_disarm(), mlxpmd_txq_disarm(). */
	int (*rewind)(struct mlxpmd_queue *q, bool fresh, uint32_t *lost); /**< mlxpmd_rxq_rewind(), ... */
	/** The work queue is RDY again: writes settings that changed meanwhile. NULL: none can. 0 or -errno. */
	int (*configure)(struct mlxpmd_queue *q);
	/** After the reset of the work queue: packets received that no burst took. NULL: there are none. */
	uint32_t (*unread)(const struct mlxpmd_queue *q);
	/** Before a READY queue is stopped: completes what is posted. NULL: nothing to do. */
	void (*drain)(struct mlxpmd_queue *q);
	/** Before the rings are destroyed: reads from them what disarming needs. NULL: nothing to do. */
	void (*settle)(struct mlxpmd_queue *q);
	/** Forgets the mbufs, which the device may still access. Returns how many at most. */
	unsigned int (*abandon)(struct mlxpmd_queue *q);
	/** After a change of state: returns when no thread acts on the old one. NULL: no thread can. */
	void (*sync)(struct mlxpmd_queue *q, bool wake);
	/** Of a READY queue: watches interrupts (Rx), sets wqebb_thresh (Tx). completed: there is a CQE at cq_ci. */
	void (*watch)(struct mlxpmd_queue *q, bool completed, uint32_t cq_ci, uint64_t now_ns);
	/** Does the device owe a completion? NULL: it never does. */
	bool (*waits)(struct mlxpmd_queue *q);
	/** How long a limit of the queue's rate may delay the completion that the device owes. NULL: there is none. */
	uint64_t (*slow_ns)(struct mlxpmd_queue *q);
	/** Before the queue is freed. NULL: nothing to do. */
	void (*release)(struct mlxpmd_queue *q);
};
extern const struct mlxpmd_queue_ops mlxpmd_rxq_ops, mlxpmd_txq_ops;

/** Objects of the device. */
struct mlxpmd_queue_hw {
	struct mdv_cq cq;
	union {
		struct mdv_wq wq;	/**< Base of the other two. */
		struct mdv_rq rq;
		struct mdv_sq sq;
	};
};

#ifdef __has_feature
#define MLXPMD_TSAN __has_feature(thread_sanitizer)
#elif defined(__SANITIZE_THREAD__)
#define MLXPMD_TSAN 1
#else
#define MLXPMD_TSAN 0
#endif
/**
 * Sets, adds to, or gets a counter, index or state that one thread writes and others read at any time. In C11 the
 * access has to be atomic. Relaxed, it is the access that compilers generate anyway, but they combine it with nothing:
 * an instruction more. Therefore it is atomic only for ThreadSanitizer, which is to find other races than these.
 */
#if MLXPMD_TSAN
#define MLXPMD_SHARED_SET(word, value) __atomic_store_n(&(word), value, __ATOMIC_RELAXED)
#define MLXPMD_SHARED_GET(word) __atomic_load_n(&(word), __ATOMIC_RELAXED)
#else
#define MLXPMD_SHARED_SET(word, value) ((word) = (value))
#define MLXPMD_SHARED_GET(word) (word)
#endif
#define MLXPMD_SHARED_ADD(word, n) MLXPMD_SHARED_SET(word, (word) + (n))

/** Common head of struct mlxpmd_rxq and struct mlxpmd_txq. */
struct mlxpmd_queue {
	/* Read-only while running. */
	struct mlx5_cqe64 *cqes;
	void *wqes;		/**< Rx: data segments. Tx: WQEBBs. */
	struct rte_mbuf **elts;	/**< Rx: one per data segment, then a few NULLs to prefetch. Tx: packets in flight. */
	volatile uint32_t *cq_dbrec, *wq_dbrec;
	uint64_t offloads;
	uint16_t cqe_mask, wqe_mask;
	uint16_t port_id, queue_id;
	uint16_t nb_desc;
	uint8_t log_cqes;
	uint8_t kind;		/**< enum mlxpmd_queue_kind. */
	uint32_t validity;	/**< Bits of a CQE's tail that have its pass of the ring: mlxpmd_cqe_pass(). */
	/* Written by the burst. */
	uint32_t cq_ci __rte_cache_aligned; /**< CQEs consumed. */
	uint16_t pi, ci;	/**< WQEs (Rx) or WQEBBs (Tx) posted and completed. */
	uint8_t state;		/**< enum mlxpmd_qstate; a burst works in READY only. */
	uint8_t cause;		/**< enum mlxpmd_qcause; NONE while READY. */
	uint8_t syndrome, vendor_syndrome; /**< Of the last error completion. */
	uint32_t starved;	/**< Rx: missing mbufs that nombuf includes already. */
	struct mlxpmd_queue_stats stats;
	/* Control plane only. */
	const struct mlxpmd_queue_ops *ops __rte_cache_aligned;
	TAILQ_ENTRY(mlxpmd_queue) next; /**< In mlxpmd_port.queues. */
	struct mlxpmd_port *port;
	struct mlxpmd_queue_hw hw;
	struct mlxpmd_repair repair;
	struct mlxpmd_queue_stats stats_base; /**< stats at the last reset of the statistics. */
	uint32_t socket_id;
	uint32_t ready_ci;	/**< cq_ci at the start or last repair. */
	bool deferred_start;
} __rte_cache_aligned;

/* Lines have 64 bytes on x86-64, 128 in DPDK's generic build for arm64. */
static_assert(offsetof(struct mlxpmd_queue, cq_ci) == RTE_CACHE_LINE_SIZE, "what bursts read: one line");
static_assert(offsetof(struct mlxpmd_queue, stats.errors) == RTE_CACHE_LINE_SIZE + RTE_CACHE_LINE_MIN_SIZE,
	      "what every burst writes: one line");

/** First step of arming: sizes as those of the objects, nothing posted, no failure known. */
void mlxpmd_queue_arm(struct mlxpmd_queue *q);
/** Logs why the queue cannot be armed. Sets rte_errno and returns -err. */
int mlxpmd_queue_arm_fail(const struct mlxpmd_queue *q, int err, const char *why);
/** Arming and rewinding: new rings, consumer at 0, all CQEs invalid, both doorbell records 0. */
void mlxpmd_queue_rings_set(struct mlxpmd_queue *q);
/** Rewinding with the old CQ: skips the CQEs there are; doorbell record of the work queue 0. */
void mlxpmd_queue_cq_resume(struct mlxpmd_queue *q);
/** The armed or rewound work queue is RDY: passes the posted WQEs to the device and the queue to the burst. */
void mlxpmd_queue_ready(struct mlxpmd_queue *q);

/** Has the device not written the CQE of consumer index ci yet? */
static __rte_always_inline bool
mlxpmd_queue_cqe_absent(const struct mlxpmd_queue *q, uint32_t ci)
{
	return mlxpmd_cqe_absent(mlxpmd_cqe_tail(&q->cqes[ci & q->cqe_mask]), ci >> q->log_cqes, q->validity);
}

/** Calls mlxpmd_queue_ops.sync, if there is one. */
static inline void
mlxpmd_queue_sync(struct mlxpmd_queue *q, bool wake)
{
	if (q->ops->sync != NULL)
		q->ops->sync(q, wake);
}

/** Requests a READY queue from its burst, to repair it. Under the port's lock. */
static inline void
mlxpmd_queue_request(struct mlxpmd_queue *q, enum mlxpmd_qcause cause)
{
	q->repair.cause = cause;
	if (mlxpmd_qstate_request(&q->state))
		mlxpmd_queue_sync(q, true);
}

/** State of the queue; SETUP without objects, which is never stored. */
static inline enum mlxpmd_qstate
mlxpmd_queue_state(const struct mlxpmd_queue *q)
{
	return q->hw.wq.obj == NULL ? MLXPMD_QS_SETUP : (enum mlxpmd_qstate)mlxpmd_qstate_load(&q->state);
}

#endif /* MLXPMD_QUEUE_H */
