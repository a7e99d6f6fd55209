/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Watches the queues of a port, repairs those that failed, and gives up those that fail too often.
 *
 * The control thread watches: it reads a few words of each queue's memory and issues no command. The port's worker
 * repairs, by firmware commands. Both hold the port's lock.
 */

#include "mlxpmd_ctrl.h"
#include "mlxpmd_recorder.h"

#define MS_NS UINT64_C(1000000)
/* A missing completion before one that is there is lost after this time. */
#define LOST_NS (100 * MS_NS)
/* Without an expected completion: logged after the first, reset after the second. Pause frames may take long. */
#define STALL_LOG_NS (1000 * MS_NS)
#define STALL_RESET_NS (5000 * MS_NS)
/* Taken as the longest session of compressed completions. */
#define SESSION_ENTRIES 64

/* ------------------------------------------------------------------ queues that run */

/*
 * Entries that are looked at behind an absent one: the next, or those of a session of compressed completions, most of
 * which the device does not write (mlxpmd_rx_comp.h).
 */
static uint32_t
entries_ahead(struct mlxpmd_queue *q)
{
	const bool compressed = q->kind == MLXPMD_RX && mlxpmd_rxq_of(q)->mini_cqe != MDV_MINI_CQE_NONE;

	return compressed ? RTE_MIN((uint32_t)SESSION_ENTRIES, (uint32_t)q->cqe_mask) : 1;
}

/* Is there a completion after a missing one? */
static bool
later_completed(struct mlxpmd_queue *q, uint32_t ci)
{
	const uint32_t n = entries_ahead(q);
	uint32_t i;

	for (i = 1; i <= n; i++)
		if (!mlxpmd_queue_cqe_absent(q, ci + i))
			return true;
	return false;
}

/* Why a READY queue may be stuck. It counts if it lasts. */
static enum mlxpmd_qcause
symptom(struct mlxpmd_queue *q, uint32_t ci)
{
	/* A completion that is there waits for the application, not for the device. */
	if (!mlxpmd_queue_cqe_absent(q, ci))
		return MLXPMD_CAUSE_NONE;
	if (later_completed(q, ci))
		return MLXPMD_CAUSE_LOST;
	return q->ops->waits != NULL && q->ops->waits(q) ? MLXPMD_CAUSE_STALL : MLXPMD_CAUSE_NONE;
}

/* true: report to the application. */
static bool
stall_log(struct mlxpmd_queue *q, uint64_t lasts_ns)
{
	if (q->repair.stall_logged || lasts_ns < STALL_LOG_NS)
		return false;
	q->repair.stall_logged = true;
	MLXPMD_SHARED_ADD(q->stats.stalls, 1);
	MLXPMD_LOG(WARNING, "port %u %s queue %u: stall: nothing completed for %u ms", q->port_id,
		   q->ops->name, q->queue_id, (unsigned int)(lasts_ns / MS_NS));
	return true;
}

static bool
watch(struct mlxpmd_queue *q, uint64_t now_ns)
{
	const uint32_t ci = __atomic_load_n(&q->cq_ci, __ATOMIC_RELAXED);
	const enum mlxpmd_qcause cause = symptom(q, ci);
	struct mlxpmd_repair *r = &q->repair;
	bool report = false;
	uint64_t lasts_ns;

	if (q->ops->watch != NULL)
		q->ops->watch(q, !mlxpmd_queue_cqe_absent(q, ci), ci, now_ns);
	if (cause == MLXPMD_CAUSE_NONE || cause != r->watch_cause || ci != r->watch_ci) {
		r->watch_cause = cause;
		r->watch_ci = ci;
		r->watch_ns = now_ns;
		r->stall_logged = false;
		return false;
	}
	lasts_ns = now_ns - r->watch_ns;
	if (cause == MLXPMD_CAUSE_STALL) {
		if (q->ops->slow_ns != NULL)
			lasts_ns -= RTE_MIN(lasts_ns, q->ops->slow_ns(q));
		report = stall_log(q, lasts_ns);
	}
	if (lasts_ns < (cause == MLXPMD_CAUSE_STALL ? STALL_RESET_NS : LOST_NS))
		return report;
	r->watch_ns = now_ns;
	mlxpmd_queue_request(q, cause);
	return report;
}

/* ------------------------------------------------------------------ queues that failed */

/* "error completion LOCAL_PROT_ERR (0x04), vendor 0x57", or the cause alone. */
static const char *
diagnosis(const struct mlxpmd_queue *q, char *text, size_t size)
{
	if (q->cause == MLXPMD_CAUSE_ERROR)
		snprintf(text, size, "error completion %s (0x%02x), vendor 0x%02x",
			 mdv_syndrome_name(q->syndrome), q->syndrome, q->vendor_syndrome);
	else
		snprintf(text, size, "%s", mlxpmd_qcause_name(q->cause));
	return text;
}

/* The numbers in files of the recorder. */
static_assert((int)MLXPMD_CAUSE_ERROR == MDV_CAUSE_ERROR && (int)MLXPMD_CAUSE_BAD == MDV_CAUSE_BAD &&
	      (int)MLXPMD_CAUSE_LOST == MDV_CAUSE_LOST && (int)MLXPMD_CAUSE_STALL == MDV_CAUSE_STALL &&
	      (int)MLXPMD_CAUSE_FORMAT == MDV_CAUSE_FORMAT, "enum mdv_record_cause");

static void
repair_record(const struct mlxpmd_queue *q, enum mdv_record_repair op, uint32_t value, uint64_t begin_ns)
{
	MDV_RECORD(q->port->mdv, .kind = MDV_RECORD_REPAIR, .op = op, .value = value,
		   .duration_ns = begin_ns != 0 ? mdv_duration_ns(begin_ns) : 0, MLXPMD_RECORD_QUEUE(q));
}

/* First look at a quiesced queue: records the failure. */
static void
failure_begin(struct mlxpmd_queue *q, uint64_t now_ns)
{
	if (q->cause == MLXPMD_CAUSE_NONE)
		q->cause = q->repair.cause;
	if (q->cause == MLXPMD_CAUSE_LOST)
		/* The entry does not have what the device should have written. */
		MLXPMD_SHARED_ADD(q->stats.cqe_bad, 1);
	MDV_RECORD(q->port->mdv, .kind = MDV_RECORD_QUEUE_ERROR, .op = q->cause,
		   .status = q->cause == MLXPMD_CAUSE_ERROR ? q->syndrome : 0,
		   .value = q->cause == MLXPMD_CAUSE_ERROR ? q->vendor_syndrome : 0, MLXPMD_RECORD_QUEUE(q),
		   MLXPMD_RECORD_COMPLETIONS(q));
	mlxpmd_repair_failed(&q->repair, now_ns);
}

/* Takes a step that the table permits. A forbidden one is an error of this file, and changes nothing. */
static int
step_take(struct mlxpmd_queue *q, enum mlxpmd_qstep step)
{
	enum mlxpmd_qstate from = mlxpmd_qstate_load(&q->state);
	int rc = mlxpmd_qstate_may(q->ops->name, q->port_id, q->queue_id, from, step);

	if (rc == 0)
		mlxpmd_qstate_store(&q->state, mlxpmd_qmoves[from][step].to);
	return rc;
}

static void
give_up(struct mlxpmd_queue *q)
{
	char text[96];

	(void)step_take(q, MLXPMD_STEP_FAIL);
	mlxpmd_queue_sync(q, true);
	repair_record(q, MDV_REPAIR_GIVEN_UP, 0, 0);
	q->port->recorder.given_up = true;
	MLXPMD_LOG(ERR, "port %u %s queue %u: given up after %d failures in 10 s, the last: %s; stop and start it",
		   q->port_id, q->ops->name, q->queue_id, MLXPMD_REPAIR_FAILURES,
		   diagnosis(q, text, sizeof(text)));
}

static bool
repair(struct mlxpmd_queue *q, uint64_t now_ns)
{
	struct mlxpmd_repair *r = &q->repair;
	uint32_t lost = 0;
	char text[96];
	int rc;

	diagnosis(q, text, sizeof(text)); /* Before the repair clears the cause. */
	r->reset_ns[r->nb_reset++ % RTE_DIM(r->reset_ns)] = now_ns;
	rc = step_take(q, MLXPMD_STEP_REPAIR);
	if (rc == 0)
		rc = mlxpmd_queue_reset(q, &lost);
	/* After the repair: a reader that sees the counter change finds the queue READY. */
	MLXPMD_SHARED_ADD(q->stats.resets, 1);
	repair_record(q, rc != 0 ? MDV_REPAIR_FAILED : MDV_REPAIR_DONE, rc != 0 ? (uint32_t)-rc : lost, now_ns);
	if (rc != 0) {
		(void)step_take(q, MLXPMD_STEP_RETRY);
		mlxpmd_repair_failed(r, now_ns);
		MLXPMD_LOG(NOTICE, "port %u %s queue %u: reset failed: %s, next try in %u ms",
			   q->port_id, q->ops->name, q->queue_id, rte_strerror(-rc),
			   (unsigned int)((r->retry_ns - now_ns) / MS_NS));
		return false;
	}
	mlxpmd_queue_sync(q, true);
	MLXPMD_LOG(WARNING, "port %u %s queue %u: %s: reset, %u packets lost", q->port_id, q->ops->name,
		   q->queue_id, text, lost);
	r->since_ns = 0;
	r->cause = MLXPMD_CAUSE_NONE;
	r->watch_cause = MLXPMD_CAUSE_NONE;
	return true;
}

static bool
failure_handle(struct mlxpmd_queue *q, uint64_t now_ns)
{
	if (q->repair.since_ns == 0)
		failure_begin(q, now_ns);
	switch (mlxpmd_repair_decide(&q->repair, now_ns)) {
	case MLXPMD_REPAIR_RESET:
		return repair(q, now_ns);
	case MLXPMD_REPAIR_FAIL:
		give_up(q);
		return true;
	default:
		return false;
	}
}

/* failed NULL: repairs; else watches, and sets *failed for a queue that needs a repair. */
static bool
queue_check(struct mlxpmd_queue *q, uint64_t now_ns, bool *failed)
{
	switch (mlxpmd_queue_state(q)) {
	case MLXPMD_QS_READY:
		return failed != NULL && watch(q, now_ns);
	case MLXPMD_QS_QUIESCED:
		if (failed == NULL)
			return failure_handle(q, now_ns);
		*failed = true;
		return false;
	default:
		return false;
	}
}

/* ------------------------------------------------------------------ all queues of a port */

bool
mlxpmd_repair_check(struct mlxpmd_port *port, uint64_t now_ns, bool *failed)
{
	bool report = false;
	struct mlxpmd_queue *q;
	unsigned int kind;

	for (kind = 0; kind < MLXPMD_NB_KINDS; kind++)
		TAILQ_FOREACH(q, &port->queues[kind], next)
			if (!mdv_removed(port->mdv))
				report |= queue_check(q, now_ns, failed);
	return report;
}

void
mlxpmd_repair_quiesce_all(struct mlxpmd_port *port)
{
	struct mlxpmd_queue *q;
	unsigned int kind;

	for (kind = 0; kind < MLXPMD_NB_KINDS; kind++) {
		TAILQ_FOREACH(q, &port->queues[kind], next) {
			(void)mlxpmd_qstate_request(&q->state);
			mlxpmd_queue_sync(q, true);
		}
	}
}
