/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Watches queues, takes those that failed, and brings them back; buries those that fail too often.
 *
 * The control thread watches, which reads a few words of each queue's memory; the port's worker repairs, by
 * firmware commands. Both hold the port's lock.
 */

#include <rte_cycles.h>

#include "mlxpmd_burst_cqe.h"
#include "mlxpmd_ctrl.h"

#define MS_NS UINT64_C(1000000)
/* A completion that stays away while the next one is there does not come any more. */
#define LOST_NS (100 * MS_NS)
/* Nothing completes: told after the first, reset after the second. Pause frames may last. */
#define STALL_TOLD_NS (1000 * MS_NS)
#define STALL_RESET_NS (5000 * MS_NS)

/* What the two kinds of queues have in common here. */
struct patient {
	const char *kind;
	void *queue;
	uint16_t port_id, queue_id;
	uint8_t *state, *cause;
	const uint8_t *syndrome, *vendor_syndrome;
	uint64_t *resets, *cqe_bad;
	uint64_t *stalls;	/* Of send queues only. */
	struct mlxpmd_repair *repair;
	const struct mlx5_cqe64 *cqes;
	uint32_t cq_ci;
	uint8_t log_cqes;
	bool waits; /* The device owes a completion. */
	struct mlxpmd_rxq *sleeper; /* Of receive queues: whose application may sleep. */
};

static struct patient
rxq_patient(struct mlxpmd_rxq *rxq)
{
	return (struct patient) {
		.kind = "Rx", .queue = rxq, .port_id = rxq->port_id, .queue_id = rxq->queue_id,
		.state = &rxq->state, .cause = &rxq->cause, .syndrome = &rxq->syndrome,
		.vendor_syndrome = &rxq->vendor_syndrome, .resets = &rxq->stats.resets,
		.cqe_bad = &rxq->stats.cqe_bad, .repair = &rxq->repair, .cqes = rxq->cqes,
		.cq_ci = __atomic_load_n(&rxq->cq_ci, __ATOMIC_RELAXED), .log_cqes = rxq->log_cqes,
		.sleeper = rxq,
	};
}

/* Is the device to wait at this moment for a packet's time? */
static bool
txq_until(const struct mlxpmd_txq *txq)
{
	uint64_t until_tsc = __atomic_load_n(&txq->time_until_tsc, __ATOMIC_RELAXED);

	return until_tsc != 0 && (int64_t)(until_tsc - rte_rdtsc()) > 0;
}

static struct patient
txq_patient(struct mlxpmd_txq *txq)
{
	uint16_t comp = __atomic_load_n(&txq->wqebb_comp, __ATOMIC_RELAXED);
	uint16_t ci = __atomic_load_n(&txq->ci, __ATOMIC_RELAXED);

	return (struct patient) {
		.kind = "Tx", .queue = txq, .port_id = txq->port_id, .queue_id = txq->queue_id,
		.state = &txq->state, .cause = &txq->cause, .syndrome = &txq->syndrome,
		.vendor_syndrome = &txq->vendor_syndrome, .resets = &txq->stats.resets,
		.stalls = &txq->stats.stalls, .cqe_bad = &txq->stats.cqe_bad,
		.repair = &txq->repair, .cqes = txq->cqes,
		.cq_ci = __atomic_load_n(&txq->cq_ci, __ATOMIC_RELAXED), .log_cqes = txq->log_cqes,
		/* Looked at while the burst works: a torn pair is put right at the next look. */
		.waits = (uint16_t)(comp - ci) != 0 && (uint16_t)(comp - ci) <= txq->wqe_mask + 1u &&
			 !txq_until(txq),
	};
}

/* ------------------------------------------------------------------ queues that run */

static bool
absent(const struct patient *p, uint32_t ci)
{
	const struct mlx5_cqe64 *cqe = &p->cqes[ci & ((1u << p->log_cqes) - 1)];

	return mlxpmd_cqe_absent(mlxpmd_cqe_tail(cqe), ci >> p->log_cqes & 1);
}

/* Whether a READY queue may be stuck, and by what; to last for a while before it counts. */
static enum mlxpmd_qcause
symptom(const struct patient *p)
{
	/* What is there waits for the application, not for the device. */
	if (!absent(p, p->cq_ci))
		return MLXPMD_CAUSE_NONE;
	if (!absent(p, p->cq_ci + 1))
		return MLXPMD_CAUSE_LOST;
	return p->waits ? MLXPMD_CAUSE_STALL : MLXPMD_CAUSE_NONE;
}

/* The queue's state is another: who sleeps on it is to poll. */
static void
rouse(const struct patient *p)
{
	if (p->sleeper != NULL)
		mlxpmd_rxq_intr_wake(p->sleeper);
}

static bool
stall_tell(const struct patient *p, uint64_t lasts_ns)
{
	struct mlxpmd_repair *r = p->repair;

	if (r->stalled || lasts_ns < STALL_TOLD_NS)
		return false;
	r->stalled = true;
	(*p->stalls)++;
	MLXPMD_LOG(WARNING, "port %u %s queue %u: stall: nothing completed for %u ms", p->port_id,
		   p->kind, p->queue_id, (unsigned int)(lasts_ns / MS_NS));
	return true;
}

static bool
watch(const struct patient *p, uint64_t now_ns)
{
	struct mlxpmd_repair *r = p->repair;
	enum mlxpmd_qcause what = symptom(p);
	bool tell = false;
	uint64_t lasts_ns;

	if (p->sleeper != NULL)
		mlxpmd_rxq_intr_watch(p->sleeper, !absent(p, p->cq_ci), p->cq_ci, now_ns);
	if (what == MLXPMD_CAUSE_NONE || what != r->watch_what || p->cq_ci != r->watch_ci) {
		r->watch_what = what;
		r->watch_ci = p->cq_ci;
		r->watch_ns = now_ns;
		r->stalled = false;
		return false;
	}
	lasts_ns = now_ns - r->watch_ns;
	if (what == MLXPMD_CAUSE_STALL)
		tell = stall_tell(p, lasts_ns);
	if (lasts_ns < (what == MLXPMD_CAUSE_STALL ? STALL_RESET_NS : LOST_NS))
		return tell;
	r->want = what;
	r->watch_ns = now_ns;
	if (mlxpmd_qstate_ask(p->state))
		rouse(p);
	return tell;
}

/* ------------------------------------------------------------------ queues that were given up */

/* "error completion LOCAL_PROT_ERR (0x04), vendor 0x57", or the cause alone. */
static const char *
diagnosis(const struct patient *p, char *text, size_t size)
{
	if (*p->cause == MLXPMD_CAUSE_ERROR)
		snprintf(text, size, "error completion %s (0x%02x), vendor 0x%02x",
			 mdv_syndrome_name(*p->syndrome), *p->syndrome, *p->vendor_syndrome);
	else
		snprintf(text, size, "%s", mlxpmd_qcause_name(*p->cause));
	return text;
}

static void
admit(const struct patient *p, uint64_t now_ns)
{
	struct mlxpmd_repair *r = p->repair;

	if (*p->cause == MLXPMD_CAUSE_NONE)
		*p->cause = r->want;
	if (*p->cause == MLXPMD_CAUSE_LOST)
		(*p->cqe_bad)++; /* What stands in its place is not what the device wrote. */
	mlxpmd_repair_failed(r, now_ns);
}

/* A step that the table permits; the others are mistakes of this file, and change nothing. */
static int
move(const struct patient *p, enum mlxpmd_qstep step)
{
	enum mlxpmd_qstate from = mlxpmd_qstate_load(p->state);
	int rc = mlxpmd_qstate_may(p->kind, p->port_id, p->queue_id, from, step);

	if (rc == 0)
		mlxpmd_qstate_store(p->state, mlxpmd_qmoves[from][step].to);
	return rc;
}

static void
bury(const struct patient *p)
{
	char text[96];

	(void)move(p, MLXPMD_STEP_BURY);
	rouse(p);
	MLXPMD_LOG(ERR, "port %u %s queue %u: dead after %d failures in 10 s, the last: %s; stop and start it",
		   p->port_id, p->kind, p->queue_id, MLXPMD_REPAIR_FAILURES,
		   diagnosis(p, text, sizeof(text)));
}

/* Takes the queue and, if that succeeds, returns it. */
static int
reset(const struct patient *p, uint32_t *lost)
{
	int rc = move(p, MLXPMD_STEP_TAKE);

	if (rc != 0)
		return rc;
	if (p->stalls != NULL)
		return mlxpmd_txq_reset(p->queue, lost);
	return mlxpmd_rxq_reset(p->queue);
}

static bool
repair(const struct patient *p, uint64_t now_ns)
{
	struct mlxpmd_repair *r = p->repair;
	uint32_t lost = 0;
	char text[96];
	int rc;

	diagnosis(p, text, sizeof(text)); /* Afterwards it is gone. */
	r->reset_ns[r->nb_reset++ % RTE_DIM(r->reset_ns)] = now_ns;
	rc = reset(p, &lost);
	(*p->resets)++; /* Who sees it count sees the queue at work. */
	if (rc != 0) {
		(void)move(p, MLXPMD_STEP_RETRY);
		mlxpmd_repair_failed(r, now_ns);
		MLXPMD_LOG(NOTICE, "port %u %s queue %u: reset failed: %s, tried again in %u ms",
			   p->port_id, p->kind, p->queue_id, rte_strerror(-rc),
			   (unsigned int)((r->retry_ns - now_ns) / MS_NS));
		return false;
	}
	rouse(p);
	MLXPMD_LOG(WARNING, "port %u %s queue %u: %s: reset, %u packets lost", p->port_id, p->kind,
		   p->queue_id, text, lost);
	r->since_ns = 0;
	r->want = MLXPMD_CAUSE_NONE;
	r->watch_what = MLXPMD_CAUSE_NONE;
	return true;
}

static bool
treat(const struct patient *p, uint64_t now_ns)
{
	if (p->repair->since_ns == 0)
		admit(p, now_ns);
	switch (mlxpmd_repair_verdict(p->repair, now_ns)) {
	case MLXPMD_REPAIR_NOW:
		return repair(p, now_ns);
	case MLXPMD_REPAIR_BURY:
		bury(p);
		return true;
	default:
		return false;
	}
}

/* failed NULL: repairs; else watches, and reports a queue that is to be repaired. */
static bool
look(const struct patient *p, uint64_t now_ns, bool *failed)
{
	switch (mlxpmd_qstate_load(p->state)) {
	case MLXPMD_QS_READY:
		return failed != NULL && watch(p, now_ns);
	case MLXPMD_QS_GIVEN:
		if (failed == NULL)
			return treat(p, now_ns);
		*failed = true;
		return false;
	default:
		return false;
	}
}

/* ------------------------------------------------------------------ doors */

static bool
look_all(struct mlxpmd_port *port, uint64_t now_ns, bool *failed)
{
	struct patient p;
	bool tell = false;
	uint16_t i;

	for (i = 0; i < MLXPMD_MAX_QUEUES && !mdv_removed(port->mdv); i++) {
		if (port->rxqs[i] != NULL && mlxpmd_rxq_state(port->rxqs[i]) != MLXPMD_QS_SETUP) {
			p = rxq_patient(port->rxqs[i]);
			tell |= look(&p, now_ns, failed);
		}
		if (port->txqs[i] != NULL && mlxpmd_txq_state(port->txqs[i]) != MLXPMD_QS_SETUP) {
			p = txq_patient(port->txqs[i]);
			tell |= look(&p, now_ns, failed);
		}
	}
	return tell;
}

bool
mlxpmd_repair_watch(struct mlxpmd_port *port, uint64_t now_ns, bool *failed)
{
	return look_all(port, now_ns, failed);
}

bool
mlxpmd_repair_tick(struct mlxpmd_port *port, uint64_t now_ns)
{
	return look_all(port, now_ns, NULL);
}

void
mlxpmd_repair_ask_all(struct mlxpmd_port *port)
{
	uint16_t i;

	for (i = 0; i < MLXPMD_MAX_QUEUES; i++) {
		if (port->rxqs[i] != NULL) {
			(void)mlxpmd_qstate_ask(&port->rxqs[i]->state);
			mlxpmd_rxq_intr_wake(port->rxqs[i]);
		}
		if (port->txqs[i] != NULL)
			(void)mlxpmd_qstate_ask(&port->txqs[i]->state);
	}
}
