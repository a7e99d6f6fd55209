/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * From device timestamps to nanoseconds: one publisher per port, one private copy per queue.
 */
#ifndef MLXPMD_CLOCK_H
#define MLXPMD_CLOCK_H

#include <rte_cycles.h>
#include <rte_pause.h>
#include <rte_spinlock.h>

#include "mlxpmd_rxtx.h"

struct mlxpmd_clock {
	/** Published piece. seq is odd while it is being written; seq / 2 is its generation. */
	uint32_t seq __rte_cache_aligned;
	struct mlxpmd_clock_snap snap;
	/* The publisher's own. */
	struct mdv_dev *mdv __rte_cache_aligned;
	rte_spinlock_t lock;	/**< Among publishers and slow readers; bursts never take it. */
	uint16_t port_id;
	bool raw;
	uint64_t refresh_us;
	uint64_t point_cycles, first_tsc; /**< The page's point, and when it was first seen. */
	uint64_t refreshed, busy, failed; /**< Refreshes by outcome. */
	bool failing;		/**< The last refresh failed: said once. */
};

/** Converts; false when the stamp is outside the piece. Exact, no overflow anywhere. */
static __rte_always_inline bool
mlxpmd_clock_convert(const struct mlxpmd_clock_snap *s, uint64_t ts, uint64_t *out)
{
	uint64_t off = (ts - s->base) & s->mask;
	unsigned __int128 product = (unsigned __int128)off * s->mult + s->frac;

	*out = s->start + (uint64_t)(product >> (s->shift & 63));
	return off <= s->span;
}

/** Copies the published piece if it moved. One try: a queue that meets a writer keeps what it has. */
static __rte_always_inline void
mlxpmd_clock_follow(const struct mlxpmd_clock *clock, struct mlxpmd_clock_snap *mine)
{
	uint32_t seq = __atomic_load_n(&clock->seq, __ATOMIC_ACQUIRE);
	struct mlxpmd_clock_snap copy;

	if (likely(seq / 2 == mine->generation) || (seq & 1))
		return;
	copy = clock->snap;
	/* The copy's loads are done before seq is looked at again. */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (__atomic_load_n(&clock->seq, __ATOMIC_RELAXED) != seq)
		return;
	*mine = copy;
	mine->generation = seq / 2;
}

/** May the piece be used now? tsc from rte_rdtsc(). */
static __rte_always_inline bool
mlxpmd_clock_usable(const struct mlxpmd_clock_snap *s, uint64_t tsc)
{
	return s->generation != 0 && (int64_t)(s->expires_tsc - tsc) > 0;
}

/** The piece that a reading of the clock page gives; expires_tsc and generation are left to the caller. */
void mlxpmd_clock_snap_from(struct mlxpmd_clock_snap *s, const struct mdv_clock_point *point);
/** The identity. */
void mlxpmd_clock_snap_raw(struct mlxpmd_clock_snap *s);
/** Makes a piece the published one. */
void mlxpmd_clock_publish(struct mlxpmd_clock *clock, const struct mlxpmd_clock_snap *s);
/** Reads the page once and publishes. 0, -EAGAIN busy, or why not. */
int mlxpmd_clock_refresh(struct mlxpmd_clock *clock);

#endif /* MLXPMD_CLOCK_H */
