/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * The life of a queue, receive or send: its states, and which step leads from which to which.
 *
 *            create          start               fail              let go           take
 *   SETUP ----------> RESET ---------> READY -----------> ERROR -----------> GIVEN --------> REPAIR
 *         <----------    ^               |  \                                ^  ^  \             |
 *            destroy     |         ask   |   ASKED --------------------------+  |   \ bury       |
 *                        |               v             let go                   |    v           |
 *                        +------ stop, from any state below that is             +-- retry -- DEAD|
 *                                not inside a burst                 READY <------- return -------+
 *
 * Who owns the rings, the mbufs and the counters is a matter of the state alone:
 *
 * | state  | owner        | the device                                            |
 * |--------|--------------|-------------------------------------------------------|
 * | SETUP  | control      | knows nothing of the queue                            |
 * | RESET  | control      | CQ and RQ/SQ exist, in reset; no mbuf is held          |
 * | READY  | burst        | works                                                 |
 * | ASKED  | burst        | works; the service wants the queue at the next call   |
 * | ERROR  | burst        | stopped, or cannot be believed; the call goes on       |
 * | GIVEN  | service      | as before; no burst touches the queue any more        |
 * | REPAIR | service      | is taken to reset and back                            |
 * | DEAD   | control      | failed too often: waits for stop and start            |
 *
 * The hand-over costs a burst nothing: it looks at the state at its beginning anyway, and only what is
 * not READY goes on to a function of its own. A burst that meets an error counts, sets ERROR, finishes
 * its call and ends it by GIVEN (store-release): that is the safe point. Return is a store-release of
 * READY, which the burst's load-acquire pairs with. ASKED is set by compare-and-swap from READY, so a
 * burst that fails at that moment is not overwritten; the reverse order ends in GIVEN as well.
 *
 * All steps but fail and let go run under the port's lock, so application and service never meet.
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
	MLXPMD_QS_ASKED,
	MLXPMD_QS_ERROR,
	MLXPMD_QS_GIVEN,
	MLXPMD_QS_REPAIR,
	MLXPMD_QS_DEAD,
	MLXPMD_QS_SETUP, /**< RESET of a queue without objects: never stored, see mlxpmd_rxq_state(). */
	MLXPMD_NB_QS
};

enum mlxpmd_qstep {
	MLXPMD_STEP_CREATE, MLXPMD_STEP_START, MLXPMD_STEP_STOP, MLXPMD_STEP_DESTROY,
	/* The burst's. */
	MLXPMD_STEP_FAIL, MLXPMD_STEP_LET_GO,
	/* The service's. */
	MLXPMD_STEP_ASK, MLXPMD_STEP_TAKE, MLXPMD_STEP_RETURN, MLXPMD_STEP_RETRY, MLXPMD_STEP_BURY,
	MLXPMD_NB_STEPS
};

/** One cell of the table; why != NULL: prohibited, and that is the reason. */
struct mlxpmd_qmove {
	uint8_t to;
	const char *why;
};
extern const struct mlxpmd_qmove mlxpmd_qmoves[MLXPMD_NB_QS][MLXPMD_NB_STEPS];

const char *mlxpmd_qstate_name(enum mlxpmd_qstate state);
const char *mlxpmd_qstep_name(enum mlxpmd_qstep step);

/** 0; or -EINVAL and one line that says the reason. kind: "Rx" or "Tx". */
int mlxpmd_qstate_may(const char *kind, uint16_t port_id, uint16_t queue_id,
		      enum mlxpmd_qstate from, enum mlxpmd_qstep step);

/** Why a queue was given up; what the repair does depends on it. */
enum mlxpmd_qcause {
	MLXPMD_CAUSE_NONE,
	MLXPMD_CAUSE_ERROR,	/**< An error completion: the device stopped and says so. */
	MLXPMD_CAUSE_BAD,	/**< A completion that makes no sense: the CQ cannot be trusted. */
	MLXPMD_CAUSE_LOST,	/**< A completion is missing before one that came. */
	MLXPMD_CAUSE_STALL,	/**< Nothing completes though it was asked for. */
};
const char *mlxpmd_qcause_name(enum mlxpmd_qcause cause);

/** Kinds of syndromes that are counted apart (PRM, error completion). */
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
/** Any byte has a class. */
extern const uint8_t mlxpmd_syndrome_class[256];

/**
 * What the service remembers of a queue's failures; under the port's lock, zeroed by a start.
 *
 * Limits: at most MLXPMD_REPAIR_RESETS resets in a second, dead at the MLXPMD_REPAIR_FAILURES-th failure
 * within ten. A failure is an error that takes a reset, or a reset that does not succeed; a reset is
 * tried again after 10, 20, 40, 80 ms.
 */
#define MLXPMD_REPAIR_RESETS 2
#define MLXPMD_REPAIR_FAILURES 5
struct mlxpmd_repair {
	uint64_t failed_ns[MLXPMD_REPAIR_FAILURES], reset_ns[MLXPMD_REPAIR_RESETS];
	uint32_t nb_failed, nb_reset;
	uint64_t since_ns;	/**< When the failure was seen that is not repaired yet; 0: none. */
	uint64_t retry_ns;	/**< Not before. */
	uint16_t tries;		/**< Resets of this failure that did not succeed. */
	uint8_t want;		/**< Cause for which the queue was asked back. */
	/* A READY queue that may be stuck: by what, where, since when. */
	uint8_t watch_what;
	uint32_t watch_ci;
	uint64_t watch_ns;
	bool stalled;		/**< Told already. */
};
enum mlxpmd_verdict { MLXPMD_REPAIR_WAIT, MLXPMD_REPAIR_NOW, MLXPMD_REPAIR_BURY };
void mlxpmd_repair_failed(struct mlxpmd_repair *r, uint64_t now_ns);
/** What to do about a failure that is not repaired yet. */
enum mlxpmd_verdict mlxpmd_repair_verdict(const struct mlxpmd_repair *r, uint64_t now_ns);

static __rte_always_inline uint8_t
mlxpmd_qstate_load(const uint8_t *state)
{
	/* What the service did to the queue is seen by whoever sees READY. */
	return __atomic_load_n(state, __ATOMIC_ACQUIRE);
}

static inline void
mlxpmd_qstate_store(uint8_t *state, enum mlxpmd_qstate to)
{
	/* All that was done to the queue is seen by whoever sees the new state. */
	__atomic_store_n(state, (uint8_t)to, __ATOMIC_RELEASE);
}

/** A burst's last act on a queue that is not READY: from here on it is the service's. */
static inline void
mlxpmd_qstate_let_go(uint8_t *state)
{
	const uint8_t now = __atomic_load_n(state, __ATOMIC_RELAXED);

	if (now == MLXPMD_QS_ERROR || now == MLXPMD_QS_ASKED)
		mlxpmd_qstate_store(state, MLXPMD_QS_GIVEN);
}

/** The service wants a READY queue; false when it is not READY. */
static inline bool
mlxpmd_qstate_ask(uint8_t *state)
{
	uint8_t ready = MLXPMD_QS_READY;

	return __atomic_compare_exchange_n(state, &ready, MLXPMD_QS_ASKED, false, __ATOMIC_ACQ_REL,
					   __ATOMIC_RELAXED);
}

#endif /* MLXPMD_QSTATE_H */
