/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * Received sequence numbers of a flow: exact for any reordering, and small if no packet is lost.
 */

#include <stdlib.h>

#include "gen.h"

/* Represents every chunk whose bits are all set. */
static struct tm_gen_chunk full;

static int
chunks_grow(struct tm_gen_flow *f, uint64_t need)
{
	uint64_t n = RTE_MAX(64u, f->nb_chunks);
	struct tm_gen_chunk **c;

	while (n <= need)
		n *= 2;
	c = realloc(f->chunks, n * sizeof(*c));
	if (c == NULL)
		return -1;
	for (uint64_t i = f->nb_chunks; i < n; i++)
		c[i] = NULL;
	f->chunks = c;
	f->nb_chunks = n;
	return 0;
}

enum tm_track
tm_track_mark(struct tm_gen_flow *f, uint64_t seq)
{
	uint64_t i = seq / TM_GEN_CHUNK_BITS, bit = seq % TM_GEN_CHUNK_BITS;
	uint64_t mask = UINT64_C(1) << (bit % 64);
	struct tm_gen_chunk *c;

	if (i >= TM_GEN_MAX_CHUNKS)
		return TM_TRACK_ABSURD;
	if (i >= f->nb_chunks && chunks_grow(f, i) != 0)
		return TM_TRACK_NOMEM;
	c = f->chunks[i];
	if (c == NULL) {
		c = calloc(1, sizeof(*c));
		if (c == NULL)
			return TM_TRACK_NOMEM;
		f->chunks[i] = c;
	}
	if (c == &full || (c->bits[bit / 64] & mask) != 0)
		return TM_TRACK_DUPLICATE;
	c->bits[bit / 64] |= mask;
	if (++c->set == TM_GEN_CHUNK_BITS) {
		free(c);
		f->chunks[i] = &full;
	}
	if (seq < f->next)
		return TM_TRACK_LATE;
	f->next = seq + 1;
	return TM_TRACK_NEW;
}

static bool
chunk_has(const struct tm_gen_chunk *c, uint64_t bit)
{
	return c == &full || (c->bits[bit / 64] >> (bit % 64) & 1) != 0;
}

void
tm_track_count(const struct tm_gen_flow *f, uint64_t limit, uint64_t *below, uint64_t *beyond)
{
	*below = 0;
	*beyond = 0;
	for (uint64_t i = 0; i < f->nb_chunks; i++) {
		uint64_t base = i * TM_GEN_CHUNK_BITS;

		if (f->chunks[i] == NULL)
			continue;
		for (uint64_t bit = 0; bit < TM_GEN_CHUNK_BITS; bit++) {
			if (!chunk_has(f->chunks[i], bit))
				continue;
			if (base + bit < limit)
				(*below)++;
			else
				(*beyond)++;
		}
	}
}

void
tm_track_free(struct tm_gen_flow *f)
{
	for (uint32_t i = 0; i < f->nb_chunks; i++)
		if (f->chunks[i] != &full)
			free(f->chunks[i]);
	free(f->chunks);
	f->chunks = NULL;
	f->nb_chunks = 0;
}
