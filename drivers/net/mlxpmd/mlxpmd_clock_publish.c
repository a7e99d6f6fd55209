/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Publication of a clock's lines: the writer's side of mlxpmd_clock_take(). */

#include "mlxpmd_clock.h"

static void
words_store(mlxpmd_clock_word *to, const struct mlxpmd_clock_snap *s, uint32_t generation)
{
	struct mlxpmd_clock_snap copy = { .generation = 0 };
	const mlxpmd_clock_word *from = (const mlxpmd_clock_word *)&copy;
	unsigned int i;

	if (s != NULL)
		copy = *s;
	copy.generation = generation;
	/*
	 * Release: orders the previous store of the board's generation before the word. A reader of the generation that
	 * this slot held before, if it gets such a word, also finds that the board's generation has changed.
	 */
	for (i = 0; i < MLXPMD_CLOCK_SNAP_WORDS; i++)
		__atomic_store_n(&to[i], from[i], __ATOMIC_RELEASE);
}

void
mlxpmd_clock_publish(struct mlxpmd_clock *clock, const struct mlxpmd_clock_snap *dev,
		     const struct mlxpmd_clock_snap *host)
{
	uint32_t generation = clock->board.generation + 1;
	struct mlxpmd_clock_lines *slot;

	if (generation == 0)
		generation = 2; /* 0 means never published; slots keep alternating. */
	slot = &clock->board.slot[generation & 1];
	words_store((mlxpmd_clock_word *)&slot->dev, dev, generation);
	words_store((mlxpmd_clock_word *)&slot->host, host, generation);
	/* Release: all words are visible before the generation that names them. */
	__atomic_store_n(&clock->board.generation, generation, __ATOMIC_RELEASE);
}
