/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Table of permitted and forbidden steps of a queue, names, and the limits of repair. */

#include <errno.h>

#include <infiniband/mlx5dv.h>

#include "mlxpmd_log.h"
#include "mlxpmd_qstate.h"

#define NO(reason) { 0, reason }
#define TO(state) { MLXPMD_QS_##state, NULL }

#define LEAKS NO("its objects exist and would leak")
#define BURST NO("a burst is still using it")
#define OWNED NO("the burst owns it: two threads would use one ring")
#define ERROR NO("it is in error: the device leaves that state by reset only")
#define NO_REPAIR NO("it is not under repair")
#define IN_REPAIR NO("it is under repair")
#define MBUFS NO("stop it first, it holds mbufs")
#define RUNS NO("it is running")
#define TWICE NO("it is running: its ring would be filled twice")
#define FREED NO("it is running: the device would write to freed memory")
#define STOPPED NO("the application stopped it")
#define UNSET NO("the port is not started")
#define FAILED NO("it failed too often: stop it first, it holds mbufs")

const struct mlxpmd_qmove mlxpmd_qmoves[MLXPMD_NB_QS][MLXPMD_NB_STEPS] = {
	/*                       create     start      stop       destroy    repair      retry         fail */
	[MLXPMD_QS_SETUP] =     { TO(RESET), UNSET,     UNSET,     TO(SETUP), UNSET,      NO_REPAIR,    UNSET },
	[MLXPMD_QS_RESET] =     { LEAKS,     TO(READY), TO(RESET), TO(SETUP), STOPPED,    NO_REPAIR,    STOPPED },
	[MLXPMD_QS_READY] =     { RUNS,      TWICE,     TO(RESET), FREED,     OWNED,      NO_REPAIR,    OWNED },
	/* An application does not poll a queue that it stops. */
	[MLXPMD_QS_QUIESCING] = { RUNS,      TWICE,     TO(RESET), FREED,     OWNED,      NO_REPAIR,    OWNED },
	[MLXPMD_QS_ERROR] =     { LEAKS,     ERROR,     BURST,     BURST,     BURST,      NO_REPAIR,    BURST },
	[MLXPMD_QS_QUIESCED] =  { LEAKS,     ERROR,     TO(RESET), MBUFS,     TO(REPAIR), NO_REPAIR,    TO(FAILED) },
	[MLXPMD_QS_REPAIR] =    { LEAKS,     IN_REPAIR, IN_REPAIR, MBUFS,     IN_REPAIR,  TO(QUIESCED), TO(FAILED) },
	[MLXPMD_QS_FAILED] =    { LEAKS,     FAILED,    TO(RESET), MBUFS,     FAILED,     NO_REPAIR,    FAILED },
};

static const char *const state_names[MLXPMD_NB_QS] = {
	[MLXPMD_QS_SETUP] = "setup", [MLXPMD_QS_RESET] = "reset", [MLXPMD_QS_READY] = "ready",
	[MLXPMD_QS_QUIESCING] = "quiescing", [MLXPMD_QS_ERROR] = "error",
	[MLXPMD_QS_QUIESCED] = "quiesced", [MLXPMD_QS_REPAIR] = "repair", [MLXPMD_QS_FAILED] = "failed",
};
static const char *const step_names[MLXPMD_NB_STEPS] = {
	[MLXPMD_STEP_CREATE] = "create", [MLXPMD_STEP_START] = "start",
	[MLXPMD_STEP_STOP] = "stop", [MLXPMD_STEP_DESTROY] = "destroy",
	[MLXPMD_STEP_REPAIR] = "repair", [MLXPMD_STEP_RETRY] = "retry", [MLXPMD_STEP_FAIL] = "fail",
};
static const char *const cause_names[] = {
	[MLXPMD_CAUSE_NONE] = "none",
	[MLXPMD_CAUSE_ERROR] = "error completion",
	[MLXPMD_CAUSE_BAD] = "invalid completion",
	[MLXPMD_CAUSE_LOST] = "lost completion",
	[MLXPMD_CAUSE_STALL] = "stall",
	[MLXPMD_CAUSE_FORMAT] = "compressed completions have no timestamps",
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
	return MLXPMD_FAIL(EINVAL, "port %u %s queue %u: cannot %s in state %s: %s", port_id, kind, queue_id,
			   step_names[step], state_names[from], move->why);
}

/* ------------------------------------------------------------------ limits of repair */

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

enum mlxpmd_repair_action
mlxpmd_repair_decide(const struct mlxpmd_repair *r, uint64_t now_ns)
{
	const uint64_t *failed = r->failed_ns, *reset = r->reset_ns;
	uint32_t n = RTE_DIM(r->failed_ns), k = RTE_DIM(r->reset_ns);

	/* The element that is written next is the oldest. */
	if (r->nb_failed >= n && now_ns - failed[r->nb_failed % n] < FAILURES_WINDOW_NS)
		return MLXPMD_REPAIR_FAIL;
	if (now_ns < r->retry_ns)
		return MLXPMD_REPAIR_WAIT;
	if (r->nb_reset >= k && now_ns - reset[r->nb_reset % k] < RESETS_WINDOW_NS)
		return MLXPMD_REPAIR_WAIT;
	return MLXPMD_REPAIR_RESET;
}
