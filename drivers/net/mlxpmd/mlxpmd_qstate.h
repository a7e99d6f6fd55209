/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * State machine of a queue, receive or send.
 *
 *     SETUP
 *       | create
 *     RESET
 *       | start
 *     READY ---------------------------+
 *       | the burst finds an error     | the control plane requests the queue
 *     ERROR                        QUIESCING
 *       | end of the burst             | next call of the burst
 *       +------------+-----------------+
 *                    |
 *                QUIESCED
 *                    | repair
 *                 REPAIR
 *                    | success
 *                  READY
 *
 * | state     | owner         | the device                         | other ways out                |
 * |-----------|---------------|------------------------------------|-------------------------------|
 * | SETUP     | control plane | has no object                      |                               |
 * | RESET     | control plane | RQ or SQ and CQ in reset; no mbufs | destroy: SETUP                |
 * | READY     | burst         | works                              | stop: RESET                   |
 * | ERROR     | burst         | stopped, or cannot be trusted      |                               |
 * | QUIESCING | burst         | works                              | stop: RESET; error: ERROR     |
 * | QUIESCED  | control plane | as before                          | stop: RESET; fail: FAILED     |
 * | REPAIR    | control plane | goes through reset to ready        | retry: QUIESCED; fail: FAILED |
 * | FAILED    | control plane | failed too often                   | stop: RESET                   |
 *
 * The owner alone uses rings, mbufs and counters. A burst reads the state at its beginning; if it is not READY the
 * burst calls mlxpmd_qstate_quiesce(). It stores QUIESCED by a store-release; the control plane returns the queue by a
 * store-release of READY, which pairs with the burst's load-acquire. QUIESCING is set by compare-and-swap from READY:
 * it cannot overwrite the ERROR of a burst that fails at the same moment.
 *
 * The steps of the control plane are looked up in a table (mlxpmd_qstate_may()) and taken under the port's lock. Those
 * of bursts and the request need no lock: they are the functions at the end of this file.
 */
#ifndef MLXPMD_QSTATE_H
#define MLXPMD_QSTATE_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_branch_prediction.h>
#include <rte_common.h>

enum mlxpmd_qstate {
	MLXPMD_QS_RESET = 0,
	MLXPMD_QS_READY,
	MLXPMD_QS_QUIESCING,
	MLXPMD_QS_ERROR,
	MLXPMD_QS_QUIESCED,
	MLXPMD_QS_REPAIR,
	MLXPMD_QS_FAILED,
	MLXPMD_QS_SETUP, /**< RESET of a queue without objects: never stored, see mlxpmd_queue_state(). */
	MLXPMD_NB_QS
};

/** Steps of the control plane that are looked up before they are taken. */
enum mlxpmd_qstep {
	MLXPMD_STEP_CREATE, MLXPMD_STEP_START, MLXPMD_STEP_STOP, MLXPMD_STEP_DESTROY,
	MLXPMD_STEP_REPAIR,	/**< Begins a repair. */
	MLXPMD_STEP_RETRY,	/**< The repair did not succeed: later again. */
	MLXPMD_STEP_FAIL,	/**< No more repairs. */
	MLXPMD_NB_STEPS
};

/** Cell of the table; why != NULL: the step is forbidden, for this reason. */
struct mlxpmd_qmove {
	uint8_t to;
	const char *why;
};
extern const struct mlxpmd_qmove mlxpmd_qmoves[MLXPMD_NB_QS][MLXPMD_NB_STEPS];

const char *mlxpmd_qstate_name(enum mlxpmd_qstate state);

/** 0; or -EINVAL and one message with the reason. kind: "Rx" or "Tx". */
int mlxpmd_qstate_may(const char *kind, uint16_t port_id, uint16_t queue_id,
		      enum mlxpmd_qstate from, enum mlxpmd_qstep step);

/** Why a queue is repaired; the repair depends on it. */
enum mlxpmd_qcause {
	MLXPMD_CAUSE_NONE,
	MLXPMD_CAUSE_ERROR,	/**< An error completion: the device stopped the queue. */
	MLXPMD_CAUSE_BAD,	/**< An invalid completion: the CQ cannot be trusted. */
	MLXPMD_CAUSE_LOST,	/**< A completion is missing before one that came. */
	MLXPMD_CAUSE_STALL,	/**< Requested completions do not come. */
	MLXPMD_CAUSE_FORMAT,	/**< No failure: the CQ is to be replaced by one without compressed completions. */
};
const char *mlxpmd_qcause_name(enum mlxpmd_qcause cause);

/** Classes of syndromes, each with a counter (PRM, error CQE; infiniband/mlx5dv.h). */
enum mlxpmd_syndrome_class {
	MLXPMD_SYN_UNKNOWN,
	MLXPMD_SYN_LENGTH,	/**< LOCAL_LENGTH_ERR */
	MLXPMD_SYN_OPERATION,	/**< LOCAL_QP_OP_ERR, MW_BIND_ERR */
	MLXPMD_SYN_PROTECTION,	/**< LOCAL_PROT_ERR, LOCAL_ACCESS_ERR */
	MLXPMD_SYN_FLUSH,	/**< WR_FLUSH_ERR */
	MLXPMD_SYN_REMOTE,	/**< BAD_RESP_ERR, REMOTE_* */
	MLXPMD_SYN_RETRY,	/**< TRANSPORT_RETRY_EXC_ERR, RNR_RETRY_EXC_ERR */
	MLXPMD_NB_SYN
};
/** By syndrome. */
extern const uint8_t mlxpmd_syndrome_class[256];

/**
 * Failures and repairs of a queue so far. Under the port's lock; zeroed by a start.
 *
 * Limits: at most MLXPMD_REPAIR_RESETS repairs in a second; FAILED at the MLXPMD_REPAIR_FAILURES-th failure within
 * ten seconds. A failure is an error that needs a repair, or a repair that does not succeed, which is retried after
 * 10, 20, 40, 80 ms.
 */
#define MLXPMD_REPAIR_RESETS 2
#define MLXPMD_REPAIR_FAILURES 5
struct mlxpmd_repair {
	uint64_t failed_ns[MLXPMD_REPAIR_FAILURES], reset_ns[MLXPMD_REPAIR_RESETS];
	uint32_t nb_failed, nb_reset;
	uint64_t since_ns;	/**< When the present failure was found; 0: there is none. */
	uint64_t retry_ns;	/**< Do not repair before. */
	uint16_t tries;		/**< Repairs of this failure that did not succeed. */
	uint8_t cause;		/**< Cause for which the queue was requested. */
	/* A READY queue that may be stuck: how, where, since when. */
	uint8_t watch_cause;
	uint32_t watch_ci;
	uint64_t watch_ns;
	bool stall_logged;
};
enum mlxpmd_repair_action { MLXPMD_REPAIR_WAIT, MLXPMD_REPAIR_RESET, MLXPMD_REPAIR_FAIL };
/** Records a failure. */
void mlxpmd_repair_failed(struct mlxpmd_repair *r, uint64_t now_ns);
/** What to do now about the present failure. */
enum mlxpmd_repair_action mlxpmd_repair_decide(const struct mlxpmd_repair *r, uint64_t now_ns);

static __rte_always_inline uint8_t
mlxpmd_qstate_load(const uint8_t *state)
{
	/* Acquire: after READY the burst sees what the control plane did to the queue. */
	return __atomic_load_n(state, __ATOMIC_ACQUIRE);
}

static inline void
mlxpmd_qstate_store(uint8_t *state, enum mlxpmd_qstate to)
{
	/* Release: what was done to the queue before is visible with the new state. */
	__atomic_store_n(state, (uint8_t)to, __ATOMIC_RELEASE);
}

/** Last access of a burst to a queue that is not READY: passes it to the control plane. */
static inline void
mlxpmd_qstate_quiesce(uint8_t *state)
{
	const uint8_t now = __atomic_load_n(state, __ATOMIC_RELAXED);

	if (now == MLXPMD_QS_ERROR || now == MLXPMD_QS_QUIESCING)
		mlxpmd_qstate_store(state, MLXPMD_QS_QUIESCED);
}

/** Requests a READY queue from its burst. false: it is not READY. */
static inline bool
mlxpmd_qstate_request(uint8_t *state)
{
	uint8_t ready = MLXPMD_QS_READY;

	return __atomic_compare_exchange_n(state, &ready, MLXPMD_QS_QUIESCING, false, __ATOMIC_ACQ_REL,
					   __ATOMIC_RELAXED);
}

#endif /* MLXPMD_QSTATE_H */
