/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * Conversion of device timestamps to nanoseconds: one publisher per port, private copies for all readers.
 *
 * A copy belongs to one thread: each receive queue has its own (one lcore polls it at a time), all other code on an
 * lcore shares that lcore's copy, and other threads copy to their stack. A reader compares one generation number and
 * copies when it changed. It makes one attempt and never waits.
 */
#ifndef MLXPMD_CLOCK_H
#define MLXPMD_CLOCK_H

#include <errno.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_lcore.h>

#include "mlxpmd_rxtx.h"

/** Published together. Both lines have the same generation and expiry. */
struct mlxpmd_clock_lines {
	struct mlxpmd_clock_snap dev;	/**< Device timestamp to value; TICKS and PACKED use no line. */
	struct mlxpmd_clock_snap host;	/**< TSC to value; mult 0: not known. */
};

/**
 * The published lines, and the lcores' copies. Generation g is in slot[g & 1]: it can be read while the next one is
 * written to the other slot.
 */
struct mlxpmd_clock_board {
	uint32_t generation __rte_cache_aligned; /**< 0: nothing yet. */
	struct mlxpmd_clock_lines slot[2] __rte_cache_aligned;
	struct mlxpmd_clock_lines lcore[RTE_MAX_LCORE];
};

struct mlxpmd_clock {
	struct mlxpmd_clock_board board;
	enum mdv_clock_kind kind __rte_cache_aligned; /**< Fixed from probe to close. */
	struct mlxpmd_clock_refresher *refresher; /**< mlxpmd_clock_refresh.h */
};

/* Snapshots are copied by atomic words: a copy that races with the publisher is defined, and then discarded. */
typedef uint64_t mlxpmd_clock_word __attribute__((__may_alias__));
#define MLXPMD_CLOCK_SNAP_WORDS (sizeof(struct mlxpmd_clock_snap) / sizeof(mlxpmd_clock_word))

/**
 * Converts; false when the stamp is outside the line. Exact, no overflow anywhere: as shift is 32 at most, the upper
 * half of off gives whole units alone, and the lower half's product and frac fit 64 bits.
 */
static __rte_always_inline bool
mlxpmd_clock_convert(const struct mlxpmd_clock_snap *s, uint64_t ts, uint64_t *out)
{
	uint64_t off = (ts - s->base) & s->mask;
	uint64_t upper = (off >> 32) * s->mult, lower = (uint64_t)(uint32_t)off * s->mult + s->frac;

	*out = s->start + (upper << ((32 - s->shift) & 63)) + (lower >> (s->shift & 63));
	return off <= s->span;
}

/** A stamp of the real-time format in ns; false when it is none. */
static __rte_always_inline bool
mlxpmd_clock_unpack(uint64_t ts, uint64_t *out)
{
	*out = (ts >> 32) * 1000000000u + (uint32_t)ts;
	return (uint32_t)ts < 1000000000u;
}

/**
 * Copies n snapshots of generation `generation`. The loads acquire: a reader that gets a word of a later generation
 * also sees the later number. On x86 they are plain loads.
 * @return false if the publisher has reused the slot meanwhile: mine is unchanged.
 */
static __rte_always_inline bool
mlxpmd_clock_take(const struct mlxpmd_clock_board *board, uint32_t generation,
		  mlxpmd_clock_word *mine, const unsigned int n)
{
	const mlxpmd_clock_word *from = (const mlxpmd_clock_word *)&board->slot[generation & 1];
	mlxpmd_clock_word copy[2 * MLXPMD_CLOCK_SNAP_WORDS];
	unsigned int i;

	for (i = 0; i < n * MLXPMD_CLOCK_SNAP_WORDS; i++)
		copy[i] = __atomic_load_n(&from[i], __ATOMIC_ACQUIRE);
	if (__atomic_load_n(&board->generation, __ATOMIC_RELAXED) != generation)
		return false;
	for (i = 0; i < n * MLXPMD_CLOCK_SNAP_WORDS; i++)
		mine[i] = copy[i];
	return true;
}

/** Copies the published line if it changed. One attempt: a reader that the publisher overtakes keeps its copy. */
static __rte_always_inline void
mlxpmd_clock_follow(const struct mlxpmd_clock *clock, struct mlxpmd_clock_snap *mine)
{
	uint32_t generation = __atomic_load_n(&clock->board.generation, __ATOMIC_ACQUIRE);

	if (unlikely(generation != mine->generation))
		(void)mlxpmd_clock_take(&clock->board, generation, (mlxpmd_clock_word *)mine, 1);
}

/** Whether the line is valid now. tsc from rte_rdtsc(). */
static __rte_always_inline bool
mlxpmd_clock_usable(const struct mlxpmd_clock_snap *s, uint64_t tsc)
{
	return s->generation != 0 && (int64_t)(s->expires_tsc - tsc) > 0;
}

/**
 * The calling lcore's copy of the lines, brought up to date; in a thread without an lcore id, *stack.
 * Valid until the same lcore calls again. The caller checks mlxpmd_clock_usable().
 */
static inline const struct mlxpmd_clock_lines *
mlxpmd_clock_lcore(struct mlxpmd_clock *clock, struct mlxpmd_clock_lines *stack)
{
	uint32_t generation = __atomic_load_n(&clock->board.generation, __ATOMIC_ACQUIRE);
	unsigned int lcore = rte_lcore_id();
	struct mlxpmd_clock_lines *mine = stack;

	if (likely(lcore < RTE_MAX_LCORE))
		mine = &clock->board.lcore[lcore];
	else
		mine->dev.generation = 0;
	if (generation != mine->dev.generation)
		(void)mlxpmd_clock_take(&clock->board, generation, (mlxpmd_clock_word *)mine, 2);
	return mine;
}

/** Converts a stamp by the clock's kind; false: absent. For paths that are not compiled for one kind. */
static inline bool
mlxpmd_clock_value(const struct mlxpmd_clock *clock, const struct mlxpmd_clock_snap *s, uint64_t ts,
		   uint64_t *out)
{
	if (clock->kind == MDV_CLOCK_LINE)
		return mlxpmd_clock_convert(s, ts, out);
	if (clock->kind == MDV_CLOCK_PACKED)
		return mlxpmd_clock_unpack(ts, out);
	*out = ts;
	return true;
}

/** Publishes lines as the next generation. One publisher at a time; does not wait for readers. host NULL: not known. */
void mlxpmd_clock_publish(struct mlxpmd_clock *clock, const struct mlxpmd_clock_snap *dev,
			  const struct mlxpmd_clock_snap *host);

/**
 * The present time in the clock's domain, by the host's TSC. Reads no device and never waits.
 * @return 0; -EAGAIN timestamps are absent at present; -ENOTSUP the TSC is not known in that domain.
 */
static inline int
mlxpmd_clock_now(struct mlxpmd_clock *clock, uint64_t *value)
{
	struct mlxpmd_clock_lines stack;
	const struct mlxpmd_clock_lines *lines = mlxpmd_clock_lcore(clock, &stack);
	uint64_t tsc = rte_rdtsc();

	/* Generation 0: the copy of a thread without an lcore id failed. */
	if (lines->dev.generation == 0 || !mlxpmd_clock_usable(&lines->host, tsc))
		return -EAGAIN;
	if (lines->host.mult == 0)
		return -ENOTSUP;
	return mlxpmd_clock_convert(&lines->host, tsc, value) ? 0 : -EAGAIN;
}

/** A line as a snapshot; the caller sets expires_tsc, generation and steps. */
void mlxpmd_clock_snap_from(struct mlxpmd_clock_snap *s, const struct mdv_clock_line *line);
/** The identity. */
void mlxpmd_clock_snap_raw(struct mlxpmd_clock_snap *s);

#endif /* MLXPMD_CLOCK_H */
