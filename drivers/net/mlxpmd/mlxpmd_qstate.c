/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* The table of a queue's permitted and prohibited steps, their names, and how often a queue may fail. */

#include <errno.h>

#include <infiniband/mlx5dv.h>

#include "mlxpmd.h"
#include "mlxpmd_qstate.h"

#define NO(reason) { 0, reason }
#define TO(state) { MLXPMD_QS_##state, NULL }

#define ITS_OBJECTS "its objects exist: they would be lost"
#define NOT_POLLED "no burst works on it"
#define IN_BURST "a burst is still inside: it ends its call first"
#define NOT_TAKEN "nobody repairs it"
#define HOLDS_MBUFS "stop it first, it holds mbufs"

const struct mlxpmd_qmove mlxpmd_qmoves[MLXPMD_NB_QS][MLXPMD_NB_STEPS] = {
	[MLXPMD_QS_SETUP] = {
		[MLXPMD_STEP_CREATE] = TO(RESET),
		[MLXPMD_STEP_START] = NO("the port is not started: there is no queue to arm"),
		[MLXPMD_STEP_STOP] = NO("the port is not started"),
		[MLXPMD_STEP_DESTROY] = TO(SETUP),
		[MLXPMD_STEP_FAIL] = NO(NOT_POLLED),
		[MLXPMD_STEP_LET_GO] = NO(NOT_POLLED),
		[MLXPMD_STEP_ASK] = NO(NOT_POLLED),
		[MLXPMD_STEP_TAKE] = NO("there is nothing to repair"),
		[MLXPMD_STEP_RETURN] = NO(NOT_TAKEN),
		[MLXPMD_STEP_RETRY] = NO(NOT_TAKEN),
		[MLXPMD_STEP_BURY] = NO("it never lived"),
	},
	[MLXPMD_QS_RESET] = {
		[MLXPMD_STEP_CREATE] = NO(ITS_OBJECTS),
		[MLXPMD_STEP_START] = TO(READY),
		[MLXPMD_STEP_STOP] = TO(RESET),
		[MLXPMD_STEP_DESTROY] = TO(SETUP),
		[MLXPMD_STEP_FAIL] = NO(NOT_POLLED),
		[MLXPMD_STEP_LET_GO] = NO(NOT_POLLED),
		[MLXPMD_STEP_ASK] = NO(NOT_POLLED),
		[MLXPMD_STEP_TAKE] = NO("the application stopped it"),
		[MLXPMD_STEP_RETURN] = NO(NOT_TAKEN),
		[MLXPMD_STEP_RETRY] = NO(NOT_TAKEN),
		[MLXPMD_STEP_BURY] = NO("the application stopped it"),
	},
	[MLXPMD_QS_READY] = {
		[MLXPMD_STEP_CREATE] = NO("it is running"),
		[MLXPMD_STEP_START] = NO("it is running: its ring would be filled twice"),
		[MLXPMD_STEP_STOP] = TO(RESET),
		[MLXPMD_STEP_DESTROY] = NO("it is running: the device would write to freed memory"),
		[MLXPMD_STEP_FAIL] = TO(ERROR),
		[MLXPMD_STEP_LET_GO] = NO("nobody asked for it"),
		[MLXPMD_STEP_ASK] = TO(ASKED),
		[MLXPMD_STEP_TAKE] = NO("it is the burst's: two would work on one ring"),
		[MLXPMD_STEP_RETURN] = NO("it is the burst's already"),
		[MLXPMD_STEP_RETRY] = NO(NOT_TAKEN),
		[MLXPMD_STEP_BURY] = NO("it is running: ask for it first"),
	},
	[MLXPMD_QS_ASKED] = {
		[MLXPMD_STEP_CREATE] = NO("it is running"),
		[MLXPMD_STEP_START] = NO("it is running: its ring would be filled twice"),
		[MLXPMD_STEP_STOP] = TO(RESET), /* The application that stops does not poll. */
		[MLXPMD_STEP_DESTROY] = NO("it is running: the device would write to freed memory"),
		[MLXPMD_STEP_FAIL] = TO(ERROR),
		[MLXPMD_STEP_LET_GO] = TO(GIVEN),
		[MLXPMD_STEP_ASK] = NO("it was asked for"),
		[MLXPMD_STEP_TAKE] = NO("the burst has not let go: two would work on one ring"),
		[MLXPMD_STEP_RETURN] = NO("it is the burst's still"),
		[MLXPMD_STEP_RETRY] = NO(NOT_TAKEN),
		[MLXPMD_STEP_BURY] = NO("the burst has not let go"),
	},
	[MLXPMD_QS_ERROR] = {
		[MLXPMD_STEP_CREATE] = NO(ITS_OBJECTS),
		[MLXPMD_STEP_START] = NO("it is in error: the device leaves that state by reset only"),
		[MLXPMD_STEP_STOP] = NO(IN_BURST),
		[MLXPMD_STEP_DESTROY] = NO(IN_BURST),
		[MLXPMD_STEP_FAIL] = NO("it failed already"),
		[MLXPMD_STEP_LET_GO] = TO(GIVEN),
		[MLXPMD_STEP_ASK] = NO("it comes by itself"),
		[MLXPMD_STEP_TAKE] = NO(IN_BURST),
		[MLXPMD_STEP_RETURN] = NO(IN_BURST),
		[MLXPMD_STEP_RETRY] = NO(NOT_TAKEN),
		[MLXPMD_STEP_BURY] = NO(IN_BURST),
	},
	[MLXPMD_QS_GIVEN] = {
		[MLXPMD_STEP_CREATE] = NO(ITS_OBJECTS),
		[MLXPMD_STEP_START] = NO("it is in error: the device leaves that state by reset only"),
		[MLXPMD_STEP_STOP] = TO(RESET),
		[MLXPMD_STEP_DESTROY] = NO(HOLDS_MBUFS),
		[MLXPMD_STEP_FAIL] = NO(NOT_POLLED),
		[MLXPMD_STEP_LET_GO] = NO("it is let go"),
		[MLXPMD_STEP_ASK] = NO("it is here"),
		[MLXPMD_STEP_TAKE] = TO(REPAIR),
		[MLXPMD_STEP_RETURN] = NO("it is not repaired: its indices and the device's differ"),
		[MLXPMD_STEP_RETRY] = NO(NOT_TAKEN),
		[MLXPMD_STEP_BURY] = TO(DEAD),
	},
	[MLXPMD_QS_REPAIR] = {
		[MLXPMD_STEP_CREATE] = NO(ITS_OBJECTS),
		[MLXPMD_STEP_START] = NO("it is under repair"),
		[MLXPMD_STEP_STOP] = NO("it is under repair: the port's lock keeps them apart"),
		[MLXPMD_STEP_DESTROY] = NO(HOLDS_MBUFS),
		[MLXPMD_STEP_FAIL] = NO(NOT_POLLED),
		[MLXPMD_STEP_LET_GO] = NO(NOT_POLLED),
		[MLXPMD_STEP_ASK] = NO("it is here"),
		[MLXPMD_STEP_TAKE] = NO("it is taken"),
		[MLXPMD_STEP_RETURN] = TO(READY),
		[MLXPMD_STEP_RETRY] = TO(GIVEN),
		[MLXPMD_STEP_BURY] = TO(DEAD),
	},
	[MLXPMD_QS_DEAD] = {
		[MLXPMD_STEP_CREATE] = NO(ITS_OBJECTS),
		[MLXPMD_STEP_START] = NO("it is dead: stop it first, it holds mbufs"),
		[MLXPMD_STEP_STOP] = TO(RESET),
		[MLXPMD_STEP_DESTROY] = NO(HOLDS_MBUFS),
		[MLXPMD_STEP_FAIL] = NO(NOT_POLLED),
		[MLXPMD_STEP_LET_GO] = NO(NOT_POLLED),
		[MLXPMD_STEP_ASK] = NO(NOT_POLLED),
		[MLXPMD_STEP_TAKE] = NO("it failed too often: only a start by the application revives it"),
		[MLXPMD_STEP_RETURN] = NO("it failed too often"),
		[MLXPMD_STEP_RETRY] = NO(NOT_TAKEN),
		[MLXPMD_STEP_BURY] = NO("it is dead"),
	},
};

static const char *const state_names[MLXPMD_NB_QS] = {
	[MLXPMD_QS_SETUP] = "setup", [MLXPMD_QS_RESET] = "reset", [MLXPMD_QS_READY] = "ready",
	[MLXPMD_QS_ASKED] = "asked", [MLXPMD_QS_ERROR] = "error", [MLXPMD_QS_GIVEN] = "given",
	[MLXPMD_QS_REPAIR] = "repair", [MLXPMD_QS_DEAD] = "dead",
};
static const char *const step_names[MLXPMD_NB_STEPS] = {
	[MLXPMD_STEP_CREATE] = "create", [MLXPMD_STEP_START] = "start",
	[MLXPMD_STEP_STOP] = "stop", [MLXPMD_STEP_DESTROY] = "destroy",
	[MLXPMD_STEP_FAIL] = "fail", [MLXPMD_STEP_LET_GO] = "let go",
	[MLXPMD_STEP_ASK] = "ask", [MLXPMD_STEP_TAKE] = "take", [MLXPMD_STEP_RETURN] = "return",
	[MLXPMD_STEP_RETRY] = "retry", [MLXPMD_STEP_BURY] = "bury",
};
static const char *const cause_names[] = {
	[MLXPMD_CAUSE_NONE] = "none",
	[MLXPMD_CAUSE_ERROR] = "error completion",
	[MLXPMD_CAUSE_BAD] = "completion that makes no sense",
	[MLXPMD_CAUSE_LOST] = "lost completion",
	[MLXPMD_CAUSE_STALL] = "stall",
};

const uint8_t mlxpmd_syndrome_class[256] = {
	[MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR] = MLXPMD_SYN_LENGTH,
	[MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR] = MLXPMD_SYN_OPERATION,
	[MLX5_CQE_SYNDROME_LOCAL_PROT_ERR] = MLXPMD_SYN_PROTECTION,
	[MLX5_CQE_SYNDROME_WR_FLUSH_ERR] = MLXPMD_SYN_FLUSH,
	[MLX5_CQE_SYNDROME_MW_BIND_ERR] = MLXPMD_SYN_OPERATION,
	[MLX5_CQE_SYNDROME_BAD_RESP_ERR] = MLXPMD_SYN_REMOTE,
	[MLX5_CQE_SYNDROME_LOCAL_ACCESS_ERR] = MLXPMD_SYN_PROTECTION,
	[MLX5_CQE_SYNDROME_REMOTE_INVAL_REQ_ERR] = MLXPMD_SYN_REMOTE,
	[MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR] = MLXPMD_SYN_REMOTE,
	[MLX5_CQE_SYNDROME_REMOTE_OP_ERR] = MLXPMD_SYN_REMOTE,
	[MLX5_CQE_SYNDROME_TRANSPORT_RETRY_EXC_ERR] = MLXPMD_SYN_RETRY,
	[MLX5_CQE_SYNDROME_RNR_RETRY_EXC_ERR] = MLXPMD_SYN_RETRY,
	[MLX5_CQE_SYNDROME_REMOTE_ABORTED_ERR] = MLXPMD_SYN_REMOTE,
};

const char *
mlxpmd_qstate_name(enum mlxpmd_qstate state)
{
	return state < MLXPMD_NB_QS ? state_names[state] : "unknown";
}

const char *
mlxpmd_qstep_name(enum mlxpmd_qstep step)
{
	return step < MLXPMD_NB_STEPS ? step_names[step] : "unknown";
}

const char *
mlxpmd_qcause_name(enum mlxpmd_qcause cause)
{
	return cause < RTE_DIM(cause_names) ? cause_names[cause] : "unknown";
}

int
mlxpmd_qstate_may(const char *kind, uint16_t port_id, uint16_t queue_id, enum mlxpmd_qstate from,
		  enum mlxpmd_qstep step)
{
	const struct mlxpmd_qmove *move = &mlxpmd_qmoves[from][step];

	if (move->why == NULL)
		return 0;
	MLXPMD_LOG(ERR, "port %u %s queue %u: cannot %s in state %s: %s", port_id, kind, queue_id,
		   step_names[step], state_names[from], move->why);
	return -EINVAL;
}

/* ------------------------------------------------------------------ how often it may fail */

#define SECOND_NS UINT64_C(1000000000)
#define FAILURES_WINDOW_NS (10 * SECOND_NS)
#define RESETS_WINDOW_NS SECOND_NS
#define RETRY_FIRST_NS (SECOND_NS / 100)

void
mlxpmd_repair_failed(struct mlxpmd_repair *r, uint64_t now_ns)
{
	r->failed_ns[r->nb_failed++ % RTE_DIM(r->failed_ns)] = now_ns;
	if (r->since_ns == 0) {
		r->since_ns = now_ns;
		r->tries = 0;
		r->retry_ns = now_ns;
	} else {
		r->retry_ns = now_ns + (RETRY_FIRST_NS << RTE_MIN(r->tries, 10));
		r->tries++;
	}
}

enum mlxpmd_verdict
mlxpmd_repair_verdict(const struct mlxpmd_repair *r, uint64_t now_ns)
{
	const uint64_t *failed = r->failed_ns, *reset = r->reset_ns;
	uint32_t n = RTE_DIM(r->failed_ns), k = RTE_DIM(r->reset_ns);

	/* The place that is written next holds the oldest. */
	if (r->nb_failed >= n && now_ns - failed[r->nb_failed % n] < FAILURES_WINDOW_NS)
		return MLXPMD_REPAIR_BURY;
	if (now_ns < r->retry_ns)
		return MLXPMD_REPAIR_WAIT;
	if (r->nb_reset >= k && now_ns - reset[r->nb_reset % k] < RESETS_WINDOW_NS)
		return MLXPMD_REPAIR_WAIT;
	return MLXPMD_REPAIR_NOW;
}
