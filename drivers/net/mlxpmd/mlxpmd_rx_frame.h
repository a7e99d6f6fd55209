/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * Body of every receive burst. Instruction sets differ in two functions, which are inlined: processing a run of
 * packets, and refill. Striding queues have all of their own (mlxpmd_rx_mprq.h).
 */
#ifndef MLXPMD_RX_FRAME_H
#define MLXPMD_RX_FRAME_H

#include "mlxpmd_rx_scalar.h"

/** Functions of an instruction set. */
struct mlxpmd_rx_isa {
	/** As mlxpmd_rx_run_scalar(). */
	uint16_t (*run)(struct mlxpmd_rxq *rxq, struct rte_mbuf **pkts, uint16_t n, bool ts_usable,
			const unsigned int f);
	/** As mlxpmd_rx_refill(). */
	void (*refill)(struct mlxpmd_rxq *rxq);
	/** As mlxpmd_rx_run_max(). */
	uint16_t (*run_max)(const struct mlxpmd_rxq *rxq, uint16_t n);
	/** As mlxpmd_rx_exception(). */
	bool (*exception)(struct mlxpmd_rxq *rxq);
	/** Receives packets of a compressed session at the consumer index: none if there is none, or to expand it. */
	uint16_t (*minis)(struct mlxpmd_rxq *rxq, struct rte_mbuf **pkts, uint16_t n, const unsigned int f);
};

/* Number of CQEs that can be processed before a ring wraps or the posted WQEs end. */
static __rte_always_inline uint16_t
mlxpmd_rx_run_max(const struct mlxpmd_rxq *rxq, uint16_t n)
{
	uint32_t to_cq_end = rxq->q.cqe_mask + 1 - (rxq->q.cq_ci & rxq->q.cqe_mask);
	uint32_t to_rq_end = rxq->q.wqe_mask + 1 - (rxq->q.ci & rxq->q.wqe_mask);
	uint32_t posted = (uint16_t)(rxq->q.pi - rxq->q.ci);
	uint32_t to_end = RTE_MIN(to_cq_end, to_rq_end);
	uint32_t wanted = RTE_MIN(posted, (uint32_t)n);

	return RTE_MIN(to_end, wanted);
}

static __rte_always_inline void
mlxpmd_rx_refill_if_due(struct mlxpmd_rxq *rxq, const struct mlxpmd_rx_isa isa)
{
	if (unlikely(mlxpmd_rx_holes(rxq) >= rxq->free_thresh))
		isa.refill(rxq);
}

/* Also for kinds without a line: a clock may become unusable at any time. */
static __rte_always_inline bool
mlxpmd_rx_clock_usable(struct mlxpmd_rxq *rxq, const unsigned int f)
{
	if (!(f & MLXPMD_RX_F_STAMP))
		return false;
	mlxpmd_clock_follow(rxq->clock, &rxq->snap);
	return mlxpmd_clock_usable(&rxq->snap, rte_rdtsc());
}

/* The burst if there is a completion. */
static __rte_always_inline uint16_t
mlxpmd_rx_some(struct mlxpmd_rxq *rxq, struct rte_mbuf **pkts, uint16_t n, const struct mlxpmd_rx_isa isa,
	       const unsigned int f)
{
	const bool ts_usable = mlxpmd_rx_clock_usable(rxq, f);
	const uint32_t cq_ci = rxq->q.cq_ci;
	uint16_t done = 0, run, got;
	uint32_t before;

	while (done < n) {
		run = isa.run_max(rxq, n - done);
		got = (f & MLXPMD_RX_F_COMP) ? isa.minis(rxq, pkts + done, run, f) : 0;
		if (!(f & MLXPMD_RX_F_COMP) || got == 0)
			got = isa.run(rxq, pkts + done, run, ts_usable, f);
		done += got;
		if (likely(got == run && run != 0))
			continue;
		if (likely(mlxpmd_queue_cqe_absent(&rxq->q, rxq->q.cq_ci)))
			break;
		/* A session that ended, or packets before one: both are usual here. */
		if ((f & MLXPMD_RX_F_COMP) && got != 0)
			continue;
		before = rxq->q.cq_ci;
		if (!isa.exception(rxq))
			break;
		/* Count dropped packets too: a call processes at most n completions. */
		n -= rxq->q.cq_ci - before;
	}
	if (likely(rxq->q.cq_ci != cq_ci)) {
		MLXPMD_SHARED_ADD(rxq->q.stats.packets, done);
		mlxpmd_dbrec_write(rxq->q.cq_dbrec, rxq->q.cq_ci);
	}
	/* After the consumer index: new WQEs must not complete into CQEs that are not read yet. */
	if (likely(MLXPMD_SHARED_GET(rxq->q.state) == MLXPMD_QS_READY))
		mlxpmd_rx_refill_if_due(rxq, isa);
	else
		(void)mlxpmd_rx_not_ready(rxq);
	return done;
}

static __rte_always_inline uint16_t
mlxpmd_rx_burst(struct mlxpmd_rxq *rxq, struct rte_mbuf **pkts, uint16_t n, const struct mlxpmd_rx_isa isa,
		const unsigned int f)
{
	if (unlikely(mlxpmd_qstate_load(&rxq->q.state) != MLXPMD_QS_READY))
		return mlxpmd_rx_not_ready(rxq);
	if (mlxpmd_queue_cqe_absent(&rxq->q, rxq->q.cq_ci)) {
		/* Refill may have failed before; the mempool may have mbufs now. */
		mlxpmd_rx_refill_if_due(rxq, isa);
		return 0;
	}
	return mlxpmd_rx_some(rxq, pkts, n, isa, f);
}

/**
 * Sets of features, without scatter: x(name, arg, features, suffix of the burst mode) for each, with x one of the two
 * macros below.
 */
#define MLXPMD_RX_SETS(x, arg) \
	x(plain, arg, 0, "") \
	x(ts, arg, MLXPMD_RX_F_TS, " Timestamp") \
	x(hash, arg, MLXPMD_RX_F_HASH, " Hash") \
	x(ts_hash, arg, MLXPMD_RX_F_TS | MLXPMD_RX_F_HASH, " Timestamp Hash") \
	x(ticks, arg, MLXPMD_RX_F_TICKS, " Ticks") \
	x(ticks_hash, arg, MLXPMD_RX_F_TICKS | MLXPMD_RX_F_HASH, " Ticks Hash") \
	x(packed, arg, MLXPMD_RX_F_PACKED, " Realtime") \
	x(packed_hash, arg, MLXPMD_RX_F_PACKED | MLXPMD_RX_F_HASH, " Realtime Hash")
/** The same for ports whose completions are compressed. */
#define MLXPMD_RX_COMP_SETS(x, arg) \
	x(comp, arg, MLXPMD_RX_F_COMP, " Compressed") \
	x(comp_hash, arg, MLXPMD_RX_F_COMP | MLXPMD_RX_F_HASH, " Hash Compressed")
/** Defines a burst function for an instruction set and a set of features. */
#define MLXPMD_RX_BURST(name, isa, features, text) \
	static uint16_t \
	rx_burst_##name(void *rxq, struct rte_mbuf **pkts, uint16_t n) \
	{ \
		return mlxpmd_rx_burst(rxq, pkts, n, isa, features); \
	}
/** Its row in the table of templates. */
#define MLXPMD_RX_ROW(name, isa_name, features, text) [features] = { rx_burst_##name, isa_name text },

#endif /* MLXPMD_RX_FRAME_H */
