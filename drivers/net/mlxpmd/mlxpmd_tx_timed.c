/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Packets with a send time (WAIT WQE, RTE_ETH_TX_OFFLOAD_SEND_ON_TIMESTAMP), a timestamp request (timesync), or
 * metadata for flows.
 */

#include <rte_errno.h>
#include <rte_mbuf_dyn.h>
#include <rte_time.h>

#include "mlxpmd.h"
#include "mlxpmd_clock.h"
#include "mlxpmd_timesync.h"
#include "mlxpmd_tx.h"

/* WAIT WQE: control segment and wait segment. */
#define WAIT_DS (1 + sizeof(struct prm_wqe_wait_seg) / MLXPMD_DS_BYTES)
/*
 * The device compares times modulo a power of two of at least WAIT_RANGE_S, and treats a time more than half of it
 * ahead as past. Packets wait at most a quarter: the other quarter allows for a queue that is blocked.
 */
#define WAIT_RANGE_S 8
#define WAIT_MAX_S (WAIT_RANGE_S / 4)

bool
mlxpmd_tx_times(const struct mlxpmd_port *port)
{
	const struct mlxpmd_clock *clock = port->clock;

	/* With raw ticks the driver cannot compare a send time with the present. */
	return port->mdv->caps.wait_on_time && clock != NULL && clock->kind != MDV_CLOCK_TICKS &&
	       (clock->kind == MDV_CLOCK_PACKED || port->mdv->caps.device_frequency_khz != 0);
}

int
mlxpmd_txq_times_set(struct mlxpmd_txq *txq)
{
	const uint64_t hz = (uint64_t)txq->mdv->caps.device_frequency_khz * 1000;

	txq->time_flag = 0;
	if (!(txq->q.offloads & RTE_ETH_TX_OFFLOAD_SEND_ON_TIMESTAMP))
		return 0;
	if (rte_mbuf_dyn_tx_timestamp_register(&txq->time_offset, &txq->time_flag) != 0)
		return MLXPMD_FAIL(rte_errno, "port %u Tx queue %u: no room for send times in the mbuf: %s",
				   txq->q.port_id, txq->q.queue_id, rte_strerror(rte_errno));
	/* Real-time format: seconds in the upper 32 bits. */
	txq->time_mask = txq->q.port->clock->kind == MDV_CLOCK_PACKED ?
			 ((uint64_t)WAIT_RANGE_S << 32) - 1 : rte_align64pow2(WAIT_RANGE_S * hz) - 1;
	return 0;
}

/*
 * Computes the first timestamp whose value is not before `value`. False if it is before the line, or more than one
 * period of the counter ahead. Extrapolates beyond the end of the line; the caller limits how far.
 */
static bool
line_invert(const struct mlxpmd_clock_snap *s, uint64_t value, uint64_t *stamp)
{
	const unsigned __int128 want = (unsigned __int128)(value - s->start) << s->shift;
	unsigned __int128 off = 0;

	if ((int64_t)(value - s->start) < 0)
		return false;
	if (want > s->frac)
		off = (want - s->frac + s->mult - 1) / s->mult;
	*stamp = (s->base + (uint64_t)off) & s->mask;
	return off <= s->mask;
}

bool
mlxpmd_tx_time_stamp(const struct mlxpmd_clock *clock, const struct mlxpmd_clock_snap *s, uint64_t value,
		     uint64_t *stamp)
{
	if (clock->kind == MDV_CLOCK_LINE)
		return line_invert(s, value, stamp);
	*stamp = (value / NSEC_PER_SEC) << 32 | value % NSEC_PER_SEC;
	return clock->kind == MDV_CLOCK_PACKED && value / NSEC_PER_SEC <= UINT32_MAX;
}

/* How to handle a packet's send time; counted when the packet is in the ring. */
struct plan {
	bool wait;
	uint64_t stamp;		/* Device time to wait for. */
	uint64_t until_tsc;
	uint64_t *error;	/* Counter, or NULL. */
};

/* Decides how to handle a send time in the clock's domain. */
static __rte_always_inline void
plan_make(struct mlxpmd_txq *txq, uint64_t time, struct plan *p)
{
	struct mlxpmd_clock *clock = txq->q.port->clock;
	struct mlxpmd_clock_lines stack;
	const struct mlxpmd_clock_lines *lines = mlxpmd_clock_lcore(clock, &stack);
	const uint64_t tsc = rte_rdtsc();
	uint64_t now;
	int64_t ahead;

	if (!mlxpmd_clock_usable(&lines->dev, tsc) || lines->host.mult == 0 ||
	    !mlxpmd_clock_convert(&lines->host, tsc, &now)) {
		p->error = &txq->q.stats.time_unknown;
		return;
	}
	ahead = time - now;
	if (ahead <= 0) {
		p->error = &txq->q.stats.time_past;
		return;
	}
	if ((uint64_t)ahead > WAIT_MAX_S * NSEC_PER_SEC) {
		p->error = &txq->q.stats.time_future;
		ahead = WAIT_MAX_S * NSEC_PER_SEC;
	}
	p->wait = mlxpmd_tx_time_stamp(clock, &lines->dev, now + ahead, &p->stamp);
	if (!p->wait)
		p->error = &txq->q.stats.time_unknown;
	p->until_tsc = tsc + ahead * (rte_get_tsc_hz() / 1000) / (NSEC_PER_SEC / 1000);
}

/* Writes a WAIT WQE of one WQEBB, for which there is space. It requests no completion. */
static __rte_always_inline void
wait_put(struct mlxpmd_txq *txq, uint64_t stamp)
{
	const uint32_t mod = PRM_WAIT_OPC_MOD_TIME << PRM_WQE_CTRL_SEG_OPMOD_IDX_OPCODE_OPC_MOD_SHIFT;
	mlxpmd_u64 *wqe = mlxpmd_tx_wqebb(txq, txq->q.pi);
	struct prm_wqe_wait_seg *wait = (struct prm_wqe_wait_seg *)&wqe[2];

	wqe[0] = mlxpmd_tx_ctrl(txq, txq->q.pi, PRM_WQE_OPCODE_WAIT, WAIT_DS) |
		 mlxpmd_be32_pair(rte_cpu_to_be_32(mod), 0);
	wqe[1] = 0;
	/* Wait while the clock is smaller than the value, modulo the mask. */
	wait->operation = rte_cpu_to_be_32(PRM_WAIT_COND_CYCLIC_SMALLER);
	wait->lkey = 0;
	wait->va_high = 0;
	wait->va_low = 0;
	wait->value = rte_cpu_to_be_64(stamp & txq->time_mask);
	wait->mask = rte_cpu_to_be_64(txq->time_mask);
	txq->q.pi++;
}

/* Packets leave in the order of posting: a time before that of the previous packet cannot be met. */
static __rte_always_inline void
plan_done(struct mlxpmd_txq *txq, uint64_t time, const struct plan *p)
{
	if (p->error != NULL)
		(*p->error)++;
	if ((int64_t)(time - txq->time_last) < 0)
		MLXPMD_SHARED_ADD(txq->q.stats.time_order, 1);
	txq->time_last = time;
	/* Keep the later end of waiting of the two. */
	if (p->wait && (txq->time_until_tsc == 0 || (int64_t)(p->until_tsc - txq->time_until_tsc) > 0))
		__atomic_store_n(&txq->time_until_tsc, p->until_tsc, __ATOMIC_RELAXED);
}

static __rte_always_inline int
send_timed(struct mlxpmd_txq *txq, struct rte_mbuf *m, const bool meta)
{
	const bool timed = (m->ol_flags & txq->time_flag) != 0;
	const uint16_t pi = txq->q.pi;
	struct plan plan = { .wait = false };
	uint64_t time = 0;
	int rc;

	if (timed) {
		time = *RTE_MBUF_DYNFIELD(m, txq->time_offset, const uint64_t *);
		plan_make(txq, time, &plan);
	}
	if (plan.wait)
		wait_put(txq, plan.stamp);
	rc = meta ? mlxpmd_tx_send_meta_any(txq, m) : mlxpmd_tx_send_tso_any(txq, m);
	if (rc != 1) {
		/* Remove the WAIT WQE; the doorbell was not rung yet. */
		txq->q.pi = pi;
		return rc;
	}
	if (timed)
		plan_done(txq, time, &plan);
	if (m->ol_flags & RTE_MBUF_F_TX_IEEE1588_TMST) {
		mlxpmd_tx_request_cqe(txq, txq->last);
		txq->stamp_wqe = txq->last;
		txq->stamp_due = true;
		mlxpmd_timesync_tx_sent(txq);
	}
	return 1;
}

int
mlxpmd_tx_send_timed(struct mlxpmd_txq *txq, struct rte_mbuf *m)
{
	return send_timed(txq, m, false);
}

int
mlxpmd_tx_send_meta(struct mlxpmd_txq *txq, struct rte_mbuf *m)
{
	return send_timed(txq, m, true);
}
