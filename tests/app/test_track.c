/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * Compare the sequence tracker with an array of flags, and CRC-32C with its check value.
 */

#include <stdlib.h>
#include <string.h>

#include "gen.h"

#include "../check.h"

#define NUMBERS (10 * TM_GEN_CHUNK_BITS)

/* In any order, with repetitions, the tracker must return what the array contains. */
static void
test_against_array(unsigned int seed, unsigned int spread)
{
	struct tm_gen_flow f = { .next = 0 };
	static uint8_t seen[NUMBERS];
	uint64_t below, beyond, want_below = 0, want_beyond = 0, next = 0;

	memset(seen, 0, sizeof(seen));
	srandom(seed);
	for (uint32_t i = 0; i < NUMBERS; i++) {
		uint64_t at = i + random() % spread, seq = at < NUMBERS ? at : i;
		enum tm_track want = seen[seq] ? TM_TRACK_DUPLICATE :
			seq < next ? TM_TRACK_LATE : TM_TRACK_NEW;

		CHECK(tm_track_mark(&f, seq) == want);
		seen[seq] = 1;
		next = RTE_MAX(next, seq + 1);
	}
	for (uint32_t i = 0; i < NUMBERS; i++)
		*(i < NUMBERS / 3 ? &want_below : &want_beyond) += seen[i];
	tm_track_count(&f, NUMBERS / 3, &below, &beyond);
	CHECK(below == want_below);
	CHECK(beyond == want_beyond);
	tm_track_free(&f);
}

static void
test_full_chunks_are_freed(void)
{
	struct tm_gen_flow f = { .next = 0 };
	uint64_t below, beyond;

	for (uint64_t i = 0; i < NUMBERS; i++)
		CHECK(tm_track_mark(&f, i) == TM_TRACK_NEW);
	for (uint32_t i = 1; i < NUMBERS / TM_GEN_CHUNK_BITS; i++)
		CHECK(f.chunks[i] == f.chunks[0]);
	CHECK(tm_track_mark(&f, 5) == TM_TRACK_DUPLICATE);
	tm_track_count(&f, NUMBERS, &below, &beyond);
	CHECK(below == NUMBERS && beyond == 0);
	tm_track_free(&f);
}

static void
test_absurd_number(void)
{
	struct tm_gen_flow f = { .next = 0 };
	uint64_t limit = (uint64_t)TM_GEN_MAX_CHUNKS * TM_GEN_CHUNK_BITS;

	CHECK(tm_track_mark(&f, limit) == TM_TRACK_ABSURD);
	CHECK(tm_track_mark(&f, (UINT64_C(1) << 48) - 1) == TM_TRACK_ABSURD);
	CHECK(f.nb_chunks == 0);
	tm_track_free(&f);
}

/* The check value is the CRC of "123456789" with initial value and final inversion ~0. */
static void
test_crc(void)
{
	static const char digits[] = "x123456789123456789123456789";
	uint32_t whole = ~tm_crc32c(digits + 1, 27, ~0u), pieces;

	CHECK(~tm_crc32c(digits + 1, 9, ~0u) == 0xe3069283);
	for (uint32_t cut = 0; cut <= 27; cut++) {
		pieces = tm_crc32c(digits + 1, cut, ~0u);
		pieces = ~tm_crc32c(digits + 1 + cut, 27 - cut, pieces);
		CHECK(pieces == whole);
	}
}

int
main(void)
{
	for (unsigned int seed = 1; seed <= 8; seed++)
		test_against_array(seed, seed * seed * seed * 20);
	test_full_chunks_are_freed();
	test_absurd_number();
	test_crc();
	return check_exit("track");
}
