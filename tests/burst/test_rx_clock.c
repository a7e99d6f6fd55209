/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * The timestamp conversions of all instruction sets agree bit by bit with each other and with a product of 128 bits:
 * for lines with every shift, and factors and timestamps at and around every boundary and in between.
 */

#include "clock_kernels.h"
#include "rig_ifma.h"

#define BATCH 512
static uint64_t ts[BATCH], value[BATCH], want[BATCH];
static uint8_t bad[BATCH], want_bad[BATCH];
static uint8_t cqes[BATCH * 64] __rte_aligned(64);
static unsigned long nb_checked, nb_unfit;

static uint64_t
random64(void)
{
	return (uint64_t)rig_random() << 32 | rig_random();
}

/* Near powers of two, for carries and truncation, or any value. */
static uint64_t
random_edge(void)
{
	uint64_t v = RTE_BIT64(rig_random() % 64);

	return rig_random() % 2 ? random64() >> rig_random() % 64 : v + rig_random() % 5 - 2;
}

static void
line_random(struct mlxpmd_clock_snap *s, unsigned int shift, unsigned int bits)
{
	memset(s, 0, sizeof(*s));
	s->shift = shift;
	s->mask = RTE_BIT64(bits) - 1;
	s->span = RTE_MIN(random_edge(), s->mask / 2);
	s->base = random_edge() & s->mask;
	s->mult = rig_random() % 4 ? (uint32_t)random_edge() : UINT32_MAX;
	s->frac = random_edge() & (RTE_BIT64(shift) - 1);
	s->start = random_edge();
}

/* Reference implementation, by the definition. */
static void
reference(const struct mlxpmd_clock_snap *s)
{
	unsigned int i;

	for (i = 0; i < BATCH; i++) {
		uint64_t off = (ts[i] - s->base) & s->mask;
		unsigned __int128 sum = (unsigned __int128)off * s->mult + s->frac;

		want[i] = s->start + (uint64_t)(sum >> s->shift);
		want_bad[i] = off > s->span;
	}
}

static void
compare(const struct clock_kernel *k, const struct mlxpmd_clock_snap *s)
{
	unsigned int i, nb_bad = 0;

	for (i = 0; i < BATCH; i++) {
		nb_bad += want_bad[i];
		CHECK(!bad[i] == !want_bad[i], "%s: shift %u: timestamp %#" PRIx64 " outside: %u not %u", k->name, s->shift,
		      ts[i], bad[i], want_bad[i]);
		CHECK(want_bad[i] || value[i] == want[i], "%s: shift %u: %#" PRIx64 " is %#" PRIx64 " not %#" PRIx64,
		      k->name, s->shift, ts[i], value[i], want[i]);
	}
	nb_checked += BATCH - nb_bad;
	CHECK(!k->array(s, ts, value, BATCH) == (nb_bad == 0), "%s: outside", k->name);
	memset(value, 0x55, sizeof(value));
	CHECK(!k->cqes(s, cqes, value, BATCH) == (nb_bad == 0), "%s: from completions: outside", k->name);
	for (i = 0; i < BATCH; i++)
		CHECK(want_bad[i] || value[i] == want[i], "%s: from completions", k->name);
}

/* Timestamps at and around the ends of the line, inside, and anywhere. */
static void
line_check(const struct clock_kernel *k, const struct mlxpmd_clock_snap *s)
{
	unsigned int i;

	for (i = 0; i < BATCH; i++) {
		ts[i] = s->base + (i % 16 == 0 ? s->span + i / 16 % 3 - 1 : i % 4 == 0 ? random_edge() :
				   random64() % RTE_MAX(s->span, 1u));
		*(uint64_t *)(cqes + i * 64 + 0x30) = rte_cpu_to_be_64(ts[i]);
	}
	reference(s);
	k->each(s, ts, value, bad, BATCH);
	compare(k, s);
}

static void
lines(const struct clock_kernel *k, unsigned int rounds)
{
	struct mlxpmd_clock_snap s;
	unsigned int shift, r;

	for (r = 0; r < rounds; r++) {
		for (shift = 21; shift <= 32; shift++) {
			line_random(&s, shift, r % 2 ? 41 : 32 + r % 17);
			if (!k->fits(&s)) {
				nb_unfit++;
				continue;
			}
			line_check(k, &s);
		}
	}
}

/* Each kernel takes the lines that it converts exactly, up to the very last one, and no others. */
static void
limits(const struct clock_kernel *k)
{
	static const struct {
		unsigned int shift, bits;
		uint64_t span;
		const char *fits;
	} row[] = {
		{ 32, 41, RTE_BIT64(41) - 1, "neon sse avx2 avx512 ifma" },
		{ 33, 41, RTE_BIT64(41) - 1, "" },
		{ 21, 48, RTE_BIT64(41) - 1, "neon sse avx2 avx512 ifma" },
		{ 20, 41, RTE_BIT64(41) - 1, "neon sse avx2 avx512" },
		{ 32, 42, RTE_BIT64(41), "neon sse avx2 avx512" },
		{ 32, 63, INT64_MAX, "neon sse avx2 avx512" },
		{ 32, 64, INT64_MAX, "neon sse avx512" },
		{ 32, 64, INT64_MAX + UINT64_C(1), "neon sse avx512" },
	};
	struct mlxpmd_clock_snap s;
	unsigned int i;

	for (i = 0; i < RTE_DIM(row); i++) {
		line_random(&s, row[i].shift, 41);
		s.mask = UINT64_MAX >> (64 - row[i].bits);
		s.span = row[i].span;
		CHECK(k->fits(&s) == (strcmp(k->name, "scalar") == 0 || strstr(row[i].fits, k->name) != NULL),
		      "%s: row %u: fits: %d", k->name, i, k->fits(&s));
		/* No clock has a larger shift, for which the scalar conversion is not made either. */
		if (k->fits(&s) && s.shift <= 32)
			line_check(k, &s);
	}
}

static void
packed(const struct clock_kernel *k)
{
	static const uint32_t edges[] = { 0, 1, 999999999, 1000000000, 1000000001, UINT32_MAX };
	unsigned int r, i;

	for (r = 0; r < 200; r++) {
		for (i = 0; i < BATCH; i++)
			ts[i] = random64() >> 32 << 32 | (i % 2 ? edges[i / 2 % RTE_DIM(edges)] : rig_random());
		k->unpack(ts, value, bad, BATCH);
		for (i = 0; i < BATCH; i++) {
			bool none = (uint32_t)ts[i] >= 1000000000;

			CHECK(!bad[i] == !none, "%s: %#" PRIx64, k->name, ts[i]);
			CHECK(none || value[i] == (ts[i] >> 32) * 1000000000 + (uint32_t)ts[i], "%s: %#" PRIx64, k->name,
			      ts[i]);
		}
	}
}

/* start + floor((off * mult + frac) / 2^shift), computed by long division. */
static uint64_t
exact(const struct mdv_clock_line *l, uint64_t off)
{
	unsigned __int128 sum = (unsigned __int128)off * l->mult + l->frac;
	unsigned __int128 unit = (unsigned __int128)1 << l->shift;

	return (uint64_t)((unsigned __int128)l->start + sum / unit);
}

/* Timestamps sometimes have bits above the mask, which conversion must ignore. */
static void
one_compare(const struct mdv_clock_line *l, const struct mlxpmd_clock_snap *s, uint64_t off)
{
	uint64_t ts = (l->base + off) & l->mask, got;
	bool ok = mlxpmd_clock_convert(s, ts | (rig_random() & 1 ? 0 : UINT64_C(1) << 62 & ~l->mask), &got);

	CHECK(ok == (off <= l->span), "off %" PRIu64 " span %" PRIu64, off, l->span);
	CHECK(!ok || got == exact(l, off), "off %" PRIu64 ": %" PRIu64 " not %" PRIu64, off, got, exact(l, off));
}

static void
conversion(void)
{
	static const struct mdv_clock_line lines[] = {
		/* 1 GHz; 156.25 MHz with two shifts; then extreme multipliers and shifts. */
		{ .start = 1700000000000000000, .base = 123456789, .mult = 0x80000000u, .shift = 31 },
		{ .start = 1700000000999999999, .base = (1ull << 41) - 5, .mult = 3435973836u, .shift = 29 },
		{ .start = 17, .base = 3, .mult = 53687091, .shift = 23 },
		{ .start = 0, .base = 0, .mult = 4294967295u, .shift = 28 },
		{ .start = 1ull << 62, .base = 1ull << 40, .mult = 1, .shift = 21 },
		{ .start = 5, .base = 77, .mult = 4294967295u, .shift = 32 },
	};
	struct mlxpmd_clock_snap s;
	struct mdv_clock_line l;
	unsigned int i, k;
	uint64_t off;

	for (i = 0; i < RTE_DIM(lines) * 3; i++) {
		l = lines[i / 3];
		l.mask = (1ull << (i % 3 == 1 ? 48 : 41)) - 1;
		l.frac = rig_random() & ((1ull << l.shift) - 1);
		l.span = i % 3 == 2 ? 1000 : l.mask / 2;
		mlxpmd_clock_snap_from(&s, &l);
		for (off = 0; off <= 3; off++) {
			one_compare(&l, &s, off);
			one_compare(&l, &s, l.span - off);
			one_compare(&l, &s, l.span + off);
			one_compare(&l, &s, l.mask - off);
		}
		for (k = 0; k < 200000; k++)
			one_compare(&l, &s, ((uint64_t)rig_random() << 20 ^ rig_random()) % (l.span + l.span / 8 + 1));
	}
}

/* Increasing timestamps convert to increasing values, over the whole window. */
static void
monotonic(void)
{
	struct mdv_clock_line l = { .start = 1000, .base = 1ull << 39, .mult = 3435973836u, .shift = 29,
				    .mask = (1ull << 41) - 1, .span = 5000000000 };
	struct mlxpmd_clock_snap s;
	uint64_t last = 0, now = 0, off;

	mlxpmd_clock_snap_from(&s, &l);
	for (off = 0; off <= s.span; off += 1 + rig_random() % 30000) {
		CHECK(mlxpmd_clock_convert(&s, s.base + off, &now), "at %" PRIu64, off);
		CHECK(off == 0 || (int64_t)(now - last) > 0, "%" PRIu64 " after %" PRIu64, now, last);
		last = now;
	}
}

static void
all(const struct clock_kernel *k, bool there, unsigned int rounds)
{
	if (!there) {
		printf("kernel %s: not on this machine\n", k->name);
		return;
	}
	nb_checked = nb_unfit = 0;
	lines(k, rounds);
	limits(k);
	packed(k);
	printf("kernel %s: %lu timestamps the same, %lu lines left to others%s\n", k->name, nb_checked, nb_unfit,
	       rig_ifma_done != 0 ? " (instructions emulated)" : "");
	CHECK(nb_checked > rounds * 1000ul, "%s: %lu timestamps", k->name, nb_checked);
}

int
main(int argc, char **argv)
{
	unsigned int rounds = argc > 1 ? strtoul(argv[1], NULL, 0) : 400;

	rig_init();
	conversion();
	monotonic();
	all(&clock_kernel_scalar, true, rounds);
#ifdef MLXPMD_NEON
	all(&clock_kernel_neon, true, rounds);
#endif
#ifdef MLXPMD_SSE
	all(&clock_kernel_sse, __builtin_cpu_supports("sse4.2"), rounds);
#endif
#ifdef MLXPMD_AVX2
	all(&clock_kernel_avx2, __builtin_cpu_supports("avx2"), rounds);
#endif
#ifdef MLXPMD_AVX512
	all(&clock_kernel_avx512, __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"), rounds);
#endif
#ifdef MLXPMD_IFMA
	all(&clock_kernel_ifma, __builtin_cpu_supports("avx512ifma") || rig_ifma_emulate(), rounds);
#endif
	return rig_end("rx_clock");
}
