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
	uint16_t (*run)(struct mlxpmd_rxq *rxq, struct rte_mbuf **pkts, uint16_t n, bool ts_usable, bool *absent,
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
	const uint32_t to_cq_end = (~rxq->q.cq_ci & rxq->q.cqe_mask) + 1;
	const uint32_t to_rq_end = (~(uint32_t)rxq->q.ci & rxq->q.wqe_mask) + 1;
	const uint32_t posted = (uint16_t)(rxq->q.pi - rxq->q.ci);
	const uint32_t to_end = RTE_MIN(to_cq_end, to_rq_end);
	const uint32_t wanted = RTE_MIN(posted, (uint32_t)n);

	return RTE_MIN(to_end, wanted);
}

/*
 * Writes both doorbell records if enough WQEs are free: first that of the CQ. It has an entry for each posted WQE, so
 * that the device needs to know the consumer index only before it gets new WQEs, which must not complete into CQEs that
 * are not read yet.
 */
static __rte_always_inline void
mlxpmd_rx_refill_if_due(struct mlxpmd_rxq *rxq, const struct mlxpmd_rx_isa isa, const unsigned int f)
{
	if (likely(mlxpmd_rx_holes(rxq) < rxq->free_thresh))
		return;
	mlxpmd_rx_comp_keep(rxq, f);
	mlxpmd_dbrec_write(rxq->q.cq_dbrec, rxq->q.cq_ci);
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

/*
 * Receives packets until n completions are processed, or the next one is absent. done: packets received already.
 * Returns the number of packets with these.
 */
static __rte_always_inline uint16_t
mlxpmd_rx_loop(struct mlxpmd_rxq *rxq, struct rte_mbuf **pkts, uint16_t n, uint16_t done, bool ts_usable,
	       const struct mlxpmd_rx_isa isa, const unsigned int f)
{
	bool absent = false;
	uint16_t run, got;
	uint32_t before;

	while (done < n) {
		run = isa.run_max(rxq, n - done);
		got = (f & MLXPMD_RX_F_COMP) ? isa.minis(rxq, pkts + done, run, f) : 0;
		if (!(f & MLXPMD_RX_F_COMP) || got == 0)
			got = isa.run(rxq, pkts + done, run, ts_usable, &absent, f);
		done += got;
		if (likely(got == run && run != 0))
			continue;
		if (likely(absent || mlxpmd_rx_absent(rxq, rxq->q.cq_ci, f)))
			break;
		/* Packets before one that is not ordinary, or for the scalar run. */
		if (got != 0)
			continue;
		before = rxq->q.cq_ci;
		if (!isa.exception(rxq))
			break;
		/* Count dropped packets too: a call processes at most n completions. */
		n -= rxq->q.cq_ci - before;
	}
	return done;
}

/* As mlxpmd_rx_loop(), not inlined. */
typedef uint16_t mlxpmd_rx_more_t(struct mlxpmd_rxq *rxq, struct rte_mbuf **pkts, uint16_t n, uint16_t done,
				  bool ts_usable);

/* The end of a burst that received something. */
static __rte_always_inline uint16_t
mlxpmd_rx_end(struct mlxpmd_rxq *rxq, uint16_t done, const struct mlxpmd_rx_isa isa, const unsigned int f)
{
	MLXPMD_SHARED_ADD(rxq->q.stats.packets, done);
	if (likely(MLXPMD_SHARED_GET(rxq->q.state) == MLXPMD_QS_READY))
		mlxpmd_rx_refill_if_due(rxq, isa, f);
	else
		(void)mlxpmd_rx_not_ready(rxq);
	return done;
}

/*
 * The burst if there is a completion. One run is mostly all, but for the end of the ring: the loop is left to another
 * function, so that the registers that it sets up cost nothing if there are few packets.
 */
static __rte_always_inline uint16_t
mlxpmd_rx_some(struct mlxpmd_rxq *rxq, struct rte_mbuf **pkts, uint16_t n, const struct mlxpmd_rx_isa isa,
	       mlxpmd_rx_more_t *more, const unsigned int f)
{
	const bool ts_usable = mlxpmd_rx_clock_usable(rxq, f);
	uint16_t done;
	bool absent;

	if (f & MLXPMD_RX_F_COMP) {
		done = mlxpmd_rx_loop(rxq, pkts, n, 0, ts_usable, isa, f);
	} else {
		done = isa.run(rxq, pkts, isa.run_max(rxq, n), ts_usable, &absent, f);
		if (unlikely(done != n && !absent && !mlxpmd_rx_absent(rxq, rxq->q.cq_ci, f)))
			done = more(rxq, pkts, n, done, ts_usable);
	}
	return mlxpmd_rx_end(rxq, done, isa, f);
}

/* Functions of a burst that are not inlined into it. */
typedef uint16_t mlxpmd_rx_some_t(struct mlxpmd_rxq *rxq, struct rte_mbuf **pkts, uint16_t n);
typedef uint16_t mlxpmd_rx_one_t(struct mlxpmd_rxq *rxq, struct rte_mbuf **pkts, uint16_t n,
				 const struct mlx5_cqe64 *cqe, uint32_t tail);

/* The burst if there is one completion, which is usual under low load: no loop, no set-up. */
static __rte_always_inline uint16_t
mlxpmd_rx_one(struct mlxpmd_rxq *rxq, struct rte_mbuf **pkts, uint16_t n, const struct mlx5_cqe64 *cqe, uint32_t tail,
	      const struct mlxpmd_rx_isa isa, mlxpmd_rx_some_t *some, const unsigned int f)
{
	const uint16_t ci = rxq->q.ci;
	const uint32_t want = mlxpmd_rx_tail_expected(rxq, ci, f);
	struct mlxpmd_rx_rare rare = { 0, 0 };
	struct rte_mbuf **elt;
	uint32_t len;

	/* Order the owner bit before the rest of the CQE; load-load order is enough. */
	rte_io_rmb();
	len = rte_be_to_cpu_32(cqe->byte_cnt);
	if (unlikely(((tail ^ want) & rxq->tail_check) || len - 1 >= rxq->len_max || ci == rxq->q.pi))
		return some(rxq, pkts, n);
	elt = mlxpmd_rx_elt(rxq, ci, f);
	pkts[0] = *elt;
	mlxpmd_rx_packet(rxq, elt, (const struct prm_cqe64 *)cqe, len, &rare, mlxpmd_rx_clock_usable(rxq, f), f);
	mlxpmd_rx_account(rxq, pkts, 1, len, &rare, cqe);
	return mlxpmd_rx_end(rxq, 1, isa, f);
}

/* Decides what follows, and is the empty poll, in a function that needs no stack. */
static __rte_always_inline uint16_t
mlxpmd_rx_burst(struct mlxpmd_rxq *rxq, struct rte_mbuf **pkts, uint16_t n, const struct mlxpmd_rx_isa isa,
		mlxpmd_rx_some_t *some, mlxpmd_rx_one_t *one, const unsigned int f)
{
	const uint32_t cq_ci = rxq->q.cq_ci;
	const struct mlx5_cqe64 *cqe;
	uint32_t tail;

	/* In other states there may be no ring. */
	if (unlikely(mlxpmd_qstate_load(&rxq->q.state) != MLXPMD_QS_READY))
		return mlxpmd_rx_not_ready(rxq);
	cqe = &rxq->q.cqes[cq_ci & rxq->q.cqe_mask];
	tail = mlxpmd_cqe_tail(cqe);
	if (likely(mlxpmd_cqe_absent(tail, cq_ci >> rxq->q.log_cqes, mlxpmd_rx_validity(rxq, f)))) {
		/* Refill may have failed before; the mempool may have mbufs now. */
		mlxpmd_rx_refill_if_due(rxq, isa, f);
		return 0;
	}
	/* One packet: the next CQE is absent. It has the pass of this one, unless this is the last of the ring. */
	if (!(f & MLXPMD_RX_F_STRIDING) && !((f & MLXPMD_RX_F_COMP) && (tail & MLXPMD_TAIL_FORMAT)) &&
	    (~cq_ci & rxq->q.cqe_mask) != 0 &&
	    mlxpmd_cqe_unlike(mlxpmd_cqe_tail(cqe + 1), tail, mlxpmd_rx_validity(rxq, f)) && likely(n != 0))
		return one(rxq, pkts, n, cqe, tail);
	return some(rxq, pkts, n);
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
	static __rte_noinline uint16_t \
	rx_more_##name(struct mlxpmd_rxq *rxq, struct rte_mbuf **pkts, uint16_t n, uint16_t done, bool ts_usable) \
	{ \
		return mlxpmd_rx_loop(rxq, pkts, n, done, ts_usable, isa, features); \
	} \
	static __rte_noinline uint16_t \
	rx_some_##name(struct mlxpmd_rxq *rxq, struct rte_mbuf **pkts, uint16_t n) \
	{ \
		return mlxpmd_rx_some(rxq, pkts, n, isa, rx_more_##name, features); \
	} \
	static __rte_noinline uint16_t \
	rx_one_##name(struct mlxpmd_rxq *rxq, struct rte_mbuf **pkts, uint16_t n, const struct mlx5_cqe64 *cqe, \
		      uint32_t tail) \
	{ \
		return mlxpmd_rx_one(rxq, pkts, n, cqe, tail, isa, rx_some_##name, features); \
	} \
	static uint16_t \
	rx_burst_##name(void *rxq, struct rte_mbuf **pkts, uint16_t n) \
	{ \
		return mlxpmd_rx_burst(rxq, pkts, n, isa, rx_some_##name, rx_one_##name, features); \
	}
/** Its row in the table of templates. */
#define MLXPMD_RX_ROW(name, isa_name, features, text) [features] = { rx_burst_##name, isa_name text },

#endif /* MLXPMD_RX_FRAME_H */
