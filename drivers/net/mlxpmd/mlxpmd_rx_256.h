/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * Receive with 256-bit registers: four packets at a time, one mbuf per register. Built twice, for AVX2 and for
 * AVX512-VL, whose permutations and ternary logic save some instructions.
 */
#ifndef MLXPMD_RX_256_H
#define MLXPMD_RX_256_H

#include <immintrin.h>

#include "mlxpmd_clock_avx2.h"
#include "mlxpmd_rx_comp.h"
#include "mlxpmd_rx_mprq_vec.h"
#include "mlxpmd_rx_vec.h"

#define GROUP 4

static __rte_always_inline __m256i
load256(const void *at)
{
	return _mm256_loadu_si256(at);
}

static __rte_always_inline __m256i
load128x2(const void *low, const void *high)
{
	__m128i first = _mm_load_si128(low);

	return _mm256_inserti128_si256(_mm256_castsi128_si256(first), _mm_load_si128(high), 1);
}

/* Loads timestamps and tails of four CQEs, in memory order. */
static __rte_always_inline void
load_ends(const struct mlx5_cqe64 *cqe, __m256i *even, __m256i *odd)
{
	*even = load128x2(&cqe[0].timestamp, &cqe[2].timestamp);
	*odd = load128x2(&cqe[1].timestamp, &cqe[3].timestamp);
}

static __rte_always_inline __m256i
swap64(__m256i v)
{
	const __m256i order = _mm256_broadcastsi128_si256(
		_mm_set_epi8(8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7));

	return _mm256_shuffle_epi8(v, order);
}

/* The words of a CQE that the mbuf needs, from offsets 00 1c 08 10 | 00 2c 1c 0c. */
static __rte_always_inline __m256i
cqe_words(const struct mlx5_cqe64 *at)
{
	const uint8_t *cqe = (const uint8_t *)at;
#ifdef __AVX512VL__
	const __m256i words = _mm256_set_epi32(3, 7, 11, 0, 4, 2, 7, 0);

	return _mm256_permutex2var_epi32(load256(cqe), words, load256(cqe + 0x20));
#else
	__m256i v = _mm256_broadcastsi128_si256(_mm_load_si128((const __m128i *)cqe));

	/* Each load puts one or two words into position, and does not read beyond the CQE. */
	v = _mm256_blend_epi32(v, load256(cqe + 0x04), 0x48);
	return _mm256_blend_epi32(v, load256(cqe + 0x18), 0x22);
#endif
}

/*
 * Byte order for the mbuf fields: upper half pkt_len, data_len, vlan_tci, hash; lower half (later rearm_data and
 * ol_flags) wqe_id, and the header bytes in the order of the class table's index.
 */
static __rte_always_inline __m256i
image_order(const unsigned int f)
{
	const char hash = (f & MLXPMD_RX_F_HASH) ? 12 : -1;

	return _mm256_set_epi8(12, 13, 14, 15, 10, 11, 6, 7, 4, 5, 6, 7, -1, -1, -1, -1,
			       -1, -1, -1, -1, -1, -1, -1, -1, hash, 0, 5, 4, -1, -1, 2, 3);
}

/* Computes offsets into the class table, in the lower half. */
static __rte_always_inline __m128i
class_offsets(__m256i headers)
{
	__m128i v = _mm256_castsi256_si128(headers);

	v = _mm_and_si128(v, _mm_set1_epi32(MLXPMD_CLASS_MASK));
	v = _mm_min_epu8(v, _mm_set1_epi32(MLXPMD_CLASS_MAX));
	v = _mm_maddubs_epi16(v, _mm_set1_epi32(MLXPMD_CLASS_MUL_BYTES));
	return _mm_madd_epi16(v, _mm_set1_epi32(MLXPMD_CLASS_MUL_WORDS));
}

/* Common to the packets of a queue. */
struct image {
	__m256i keep;	/* Bits of the class, and all of the rest. */
	__m256i set;	/* rearm_data, and the timestamp's flag. */
};

static __rte_always_inline struct image
image_of(const struct mlxpmd_rxq *rxq, const unsigned int f)
{
	const uint64_t flags = rxq->flag_mask | ((f & MLXPMD_RX_F_HASH) ? RTE_MBUF_F_RX_RSS_HASH : 0);
	const uint64_t ts_flag = (f & MLXPMD_RX_F_STAMP) ? rxq->ts_flag : 0;

	return (struct image){
		.keep = _mm256_set_epi64x(-1, mlxpmd_rx_length_mask(f), flags, 0),
		.set = _mm256_set_epi64x(0, 0, ts_flag, rxq->mbuf_init),
	};
}

/* Writes the mbuf fields. @return The fields. */
static __rte_always_inline __m256i
image_store(const struct image *image, struct rte_mbuf *m, __m256i v, uint32_t class_offset)
{
	const uint8_t *class = (const uint8_t *)mlxpmd_class_table + class_offset;

#ifdef __AVX512VL__
	v = _mm256_mask_load_epi32(v, 0x1f, class);
	v = _mm256_ternarylogic_epi64(v, image->keep, image->set, 0xea); /* v & keep | set */
#else
	v = _mm256_blend_epi32(v, _mm256_load_si256((const __m256i *)class), 0x1f);
	v = _mm256_or_si256(_mm256_and_si256(v, image->keep), image->set);
#endif
	_mm256_storeu_si256((__m256i *)&m->rearm_data, v);
	return v;
}

/* Do all tails have the expected values? */
static __rte_always_inline bool
tails_fit(__m256i tails, __m256i want, __m256i check)
{
	const __m256i differ = _mm256_xor_si256(swap64(tails), want);

#ifdef __AVX512VL__
	return _mm256_test_epi64_mask(differ, check) == 0;
#else
	return _mm256_testz_si256(differ, check);
#endif
}

/* Are all lengths (upper half) in shortest .. shortest + limit - 1? */
static __rte_always_inline bool
lengths_fit(__m256i headers_and_lengths, uint32_t shortest, __m256i limit)
{
	__m256i v = _mm256_sub_epi32(headers_and_lengths, _mm256_set1_epi32(shortest));

#ifdef __AVX512VL__
	return _mm256_mask_cmpge_epu32_mask(0xf0, v, limit) == 0;
#else
	v = _mm256_cmpeq_epi32(_mm256_max_epu32(v, limit), v);
	return _mm256_testz_si256(v, _mm256_set_epi64x(-1, -1, 0, 0));
#endif
}

static __rte_always_inline __m256i
or3(__m256i a, __m256i b, __m256i c)
{
#ifdef __AVX512VL__
	return _mm256_ternarylogic_epi64(a, b, c, 0xfe);
#else
	return _mm256_or_si256(a, _mm256_or_si256(b, c));
#endif
}

/* @return false if a timestamp has no value: the scalar loop then handles the group. */
static __rte_always_inline bool
stamps(const struct mlxpmd_clock_avx2 *clock, const struct mlx5_cqe64 *cqe, __m256i *value, const unsigned int f)
{
	__m256i even, odd, ts, bad;

	/* Load again: the first load was not ordered after the check of the owner bits. */
	load_ends(cqe, &even, &odd);
	ts = swap64(_mm256_unpacklo_epi64(even, odd));
	if ((f & MLXPMD_RX_F_STAMP) == MLXPMD_RX_F_TICKS) {
		*value = ts;
		return true;
	}
	if ((f & MLXPMD_RX_F_STAMP) == MLXPMD_RX_F_PACKED)
		bad = mlxpmd_clock_avx2_unpack(ts, value);
	else
		bad = mlxpmd_clock_avx2_convert(clock, ts, value);
	return _mm256_testz_si256(bad, bad);
}

static __rte_always_inline void
stamps_store(const struct mlxpmd_rxq *rxq, struct rte_mbuf *const *elt, __m256i value)
{
	const __m128i low = _mm256_castsi256_si128(value), high = _mm256_extracti128_si256(value, 1);
	const size_t at = rxq->ts_offset;

	_mm_storel_epi64((__m128i *)((uint8_t *)elt[0] + at), low);
	_mm_storeh_pd((double *)((uint8_t *)elt[1] + at), _mm_castsi128_pd(low));
	_mm_storel_epi64((__m128i *)((uint8_t *)elt[2] + at), high);
	_mm_storeh_pd((double *)((uint8_t *)elt[3] + at), _mm_castsi128_pd(high));
}

static __rte_always_inline uint32_t
sum32(__m128i v)
{
	v = _mm_add_epi32(v, _mm_unpackhi_epi64(v, v));
	return (uint32_t)_mm_cvtsi128_si32(v) + (uint32_t)_mm_extract_epi32(v, 1);
}

static __rte_always_inline uint64_t
or64(__m256i v)
{
	__m128i w = _mm_or_si128(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));

	return _mm_cvtsi128_si64(_mm_or_si128(w, _mm_unpackhi_epi64(w, w)));
}

static __rte_always_inline enum mlxpmd_mprq_lengths
lengths_of(__m256i headers_and_lengths, const struct mlxpmd_rx_run *run)
{
	const uint32_t lines_max = run->from.lines_max, shortest = run->len_base + 1;

	if (lengths_fit(headers_and_lengths, shortest, _mm256_set1_epi32(run->line)))
		return MLXPMD_MPRQ_LINES;
	return lengths_fit(headers_and_lengths, shortest + lines_max, _mm256_set1_epi32(run->len_max - lines_max)) ?
		       MLXPMD_MPRQ_LONG : MLXPMD_MPRQ_MIXED;
}

/* Do all CQEs belong to the WQE at ci? wqe_id in the lower half. */
static __rte_always_inline bool
wqe_ids_fit(const struct mlxpmd_rxq *rxq, __m256i ids)
{
	const __m128i differ = _mm_xor_si128(_mm256_castsi256_si128(ids), _mm_set1_epi32(rxq->q.ci));

	return _mm_testz_si128(differ, _mm_set1_epi32(rxq->q.wqe_mask));
}

/* Receives groups of packets from adjacent CQEs; stops at the first group that is incomplete or not ordinary. */
static __rte_always_inline uint16_t
run_groups(struct mlxpmd_rxq *rxq, struct rte_mbuf **pkts, uint16_t n, const unsigned int f)
{
	const struct mlx5_cqe64 *first = &rxq->q.cqes[rxq->q.cq_ci & rxq->q.cqe_mask], *cqe = first;
	const struct mlxpmd_rx_run run = mlxpmd_rx_run_of(rxq, f);
	struct rte_mbuf *const *elt = run.elt;
	struct rte_mbuf **pkt, **const end = pkts + (n & -GROUP);
	const uint64_t step = 1u << MLXPMD_TAIL_COUNTER_SHIFT;
	const __m256i check = _mm256_set1_epi64x(rxq->tail_check), limit = _mm256_set1_epi32(run.len_max);
	const __m256i order = image_order(f);
	const struct image image = image_of(rxq, f);
	const struct mlxpmd_clock_avx2 clock = (f & MLXPMD_RX_F_STAMP) == MLXPMD_RX_F_TS ?
						       mlxpmd_clock_avx2(&rxq->snap) :
						       (struct mlxpmd_clock_avx2){ 0 };
	__m256i want = _mm256_add_epi64(_mm256_set1_epi64x(mlxpmd_rx_tail_expected(rxq, run.counter, f)),
					_mm256_set_epi64x(3 * step, 2 * step, step, 0));
	__m256i tags = _mm256_setzero_si256(), flags = tags, lengths = tags, value = tags;

	for (pkt = pkts; pkt != end; pkt += GROUP, elt += GROUP, cqe += GROUP) {
		__m256i even, odd, tails, v0, v1, v2, v3, low, high, both;
		__m128i class;

		load_ends(cqe, &even, &odd);
		tails = _mm256_unpackhi_epi64(even, odd);
		if (!tails_fit(tails, want, check))
			break;
		/* Order the owner bits before the rest of the CQEs; load-load order is enough. */
		rte_io_rmb();
		v0 = _mm256_shuffle_epi8(cqe_words(cqe), order);
		v1 = _mm256_shuffle_epi8(cqe_words(cqe + 1), order);
		v2 = _mm256_shuffle_epi8(cqe_words(cqe + 2), order);
		v3 = _mm256_shuffle_epi8(cqe_words(cqe + 3), order);
		/* Headers of all four packets in the lower half, lengths in the upper half. */
		low = _mm256_unpacklo_epi32(v0, v1);
		high = _mm256_unpacklo_epi32(v2, v3);
		both = _mm256_unpackhi_epi64(low, high);
		if (unlikely(!lengths_fit(both, run.len_base + 1, limit)) ||
		    ((f & MLXPMD_RX_F_STRIDING) && unlikely(!wqe_ids_fit(rxq, _mm256_unpacklo_epi64(low, high)))))
			break;
		if ((f & MLXPMD_RX_F_STAMP) && unlikely(!stamps(&clock, cqe, &value, f)))
			break;
		if ((f & MLXPMD_RX_F_STRIDING) &&
		    unlikely((elt = mlxpmd_mprq_group_mbufs(rxq, &run, pkt, GROUP)) == NULL))
			break;
		class = class_offsets(both);
		_mm256_storeu_si256((__m256i *)pkt, load256(elt));
		v0 = image_store(&image, elt[0], v0, _mm_cvtsi128_si32(class));
		v1 = image_store(&image, elt[1], v1, _mm_extract_epi32(class, 1));
		v2 = image_store(&image, elt[2], v2, _mm_extract_epi32(class, 2));
		v3 = image_store(&image, elt[3], v3, _mm_extract_epi32(class, 3));
		if (f & MLXPMD_RX_F_STAMP)
			stamps_store(rxq, elt, value);
		if (f & MLXPMD_RX_F_STRIDING)
			mlxpmd_mprq_group(rxq, &run, elt, run.counter + (pkt - pkts), GROUP,
					  lengths_of(both, &run));
		else
			mlxpmd_rx_prefetch(elt, GROUP, f);
		mlxpmd_rx_prefetch_cqes(cqe, GROUP);
		flags = or3(or3(flags, v0, v1), v2, v3);
		tags = _mm256_or_si256(tags, tails);
		lengths = _mm256_add_epi32(lengths, both);
		want = _mm256_add_epi64(want, _mm256_set1_epi64x(GROUP * step));
	}
	{
		const struct mlxpmd_rx_rare rare = {
			.flags = _mm256_extract_epi32(flags, 2),
			.tags_be = (uint32_t)or64(tags),
		};
		const uint16_t got = pkt - pkts;

		mlxpmd_rx_run_account(rxq, pkts, got, sum32(_mm256_extracti128_si256(lengths, 1)), &rare, first, f);
		return got;
	}
}

/* @return Number of packets; 0 also if the run is not suitable for groups. */
static __rte_always_inline uint16_t
run_groups_if(struct mlxpmd_rxq *rxq, struct rte_mbuf **pkts, uint16_t n, bool ts_usable, const unsigned int f)
{
	if (unlikely((f & MLXPMD_RX_F_STAMP) && !ts_usable))
		return 0;
	if (unlikely((f & MLXPMD_RX_F_STAMP) == MLXPMD_RX_F_TS && !mlxpmd_clock_avx2_fits(&rxq->snap)))
		return 0;
	return likely(mlxpmd_rx_group_likely(rxq, n, GROUP, f)) ? run_groups(rxq, pkts, n, f) : 0;
}

/* Writes whole WQEs, two per store. */
static __rte_always_inline void
post4(struct rte_mbuf **elt, __m256i *wqe, struct rte_mbuf *const *from, __m256i head, __m256i offset)
{
	__m256i mbufs = load256(from), addr = swap64(_mm256_add_epi64(mbufs, offset));

	/* Order 0 2 1 3: unpacking then yields 0 1 and 2 3. */
	addr = _mm256_permute4x64_epi64(addr, _MM_SHUFFLE(3, 1, 2, 0));
	_mm256_storeu_si256((__m256i *)elt, mbufs);
	_mm256_storeu_si256(wqe, _mm256_unpacklo_epi64(head, addr));
	_mm256_storeu_si256(wqe + 1, _mm256_unpackhi_epi64(head, addr));
}

static __rte_always_inline void
post(struct mlxpmd_rxq *rxq, uint32_t at, uint16_t k, struct rte_mbuf *const *from)
{
	const __m256i head = _mm256_set1_epi64x(mlxpmd_rx_wqe_head(rxq));
	const __m256i offset = _mm256_set1_epi64x(mlxpmd_rx_buffer_offset(rxq));
	struct rte_mbuf **elt = &rxq->q.elts[at], **const end = elt + (k & -8);
	__m256i *wqe = (__m256i *)mlxpmd_rx_dseg(rxq, at);

	for (; elt != end; elt += 8, from += 8, wqe += 4) {
		post4(elt, wqe, from, head, offset);
		post4(elt + 4, wqe + 2, from + 4, head, offset);
	}
	mlxpmd_rx_post_scalar(rxq, at + (k & -8), k % 8, from);
}

/* ---- compressed completions ---- */

struct mini_image {
	__m256i base, limit;	/* Fields that the mbufs of a session have in common; largest length. */
	__m256i sum;		/* Of the lengths, in odd places. */
	__m256i minis[2];	/* Array that was loaded last, in host order. */
	uint32_t absent;	/* Lengths in the sum that are 1 in place of a mini CQE. */
};

static __rte_always_inline struct mini_image
mini_image_of(const struct mlxpmd_mini_base *base, uint32_t limit)
{
	return (struct mini_image){
		.base = _mm256_set_epi64x(mlxpmd_mini_base_vlan(base), mlxpmd_mini_base_type(base), base->ol_flags,
					  base->rearm_data),
		.limit = _mm256_set1_epi32(limit),
		.sum = _mm256_setzero_si256(),
	};
}

/* Is a length (odd places) of the array not in least .. least + limit - 1? */
static __rte_always_inline bool
mini_beyond(const struct mini_image *image, uint32_t least, __m256i limit)
{
	const __m256i a = _mm256_sub_epi32(image->minis[0], _mm256_set1_epi32(least));
	const __m256i b = _mm256_sub_epi32(image->minis[1], _mm256_set1_epi32(least));
	const __m256i bad = _mm256_or_si256(_mm256_cmpeq_epi32(_mm256_max_epu32(a, limit), a),
					    _mm256_cmpeq_epi32(_mm256_max_epu32(b, limit), b));

	return !_mm256_testz_si256(bad, _mm256_set1_epi64x((int64_t)0xffffffff00000000));
}

static __rte_always_inline void
mini_store4(const struct mini_image *image, __m256i v, struct rte_mbuf *const *elt, const unsigned int f)
{
	__m256i words = _mm256_set_epi32(0, 1, 1, 0, 0, 0, 0, 0), w;
	unsigned int i;

	for (i = 0; i < 4; i++) {
		w = _mm256_permutevar8x32_epi32(v, words);
		/* pkt_len, data_len, hash in words 5 to 7. */
		w = _mm256_and_si256(w, _mm256_set_epi32((f & MLXPMD_RX_F_HASH) ? -1 : 0, -1, -1, 0, 0, 0, 0, 0));
		_mm256_storeu_si256((__m256i *)&elt[i]->rearm_data, _mm256_or_si256(w, image->base));
		words = _mm256_add_epi32(words, _mm256_set1_epi32(2));
	}
}

/* Loads the first n of an array of mini CQEs, others with length 1; false if a length is impossible. */
static __rte_always_inline bool
mini_load(struct mini_image *image, const void *array, uint32_t n, const unsigned int f)
{
	const uint8_t *present = mlxpmd_mini_present + (MLXPMD_MINI_CQES - n) * sizeof(struct prm_mini_cqe8);
	const __m256i bytes = _mm256_broadcastsi128_si256(
		_mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3));
	__m256i a = _mm256_shuffle_epi8(load256(array), bytes);
	__m256i b = _mm256_shuffle_epi8(load256((const uint8_t *)array + 32), bytes);

	if (f & MLXPMD_RX_F_STRIDING) {
		a = _mm256_sub_epi32(a, _mm256_set1_epi64x((int64_t)MLXPMD_MPRQ_ONE_STRIDE << 32));
		b = _mm256_sub_epi32(b, _mm256_set1_epi64x((int64_t)MLXPMD_MPRQ_ONE_STRIDE << 32));
	}
	if (n != MLXPMD_MINI_CQES) {
		a = _mm256_blendv_epi8(_mm256_set1_epi64x(INT64_C(1) << 32), a, load256(present));
		b = _mm256_blendv_epi8(_mm256_set1_epi64x(INT64_C(1) << 32), b, load256(present + 32));
	}
	image->minis[0] = a;
	image->minis[1] = b;
	return likely(!mini_beyond(image, 1, image->limit));
}

/* Writes the fields of eight mbufs, n of them of packets. */
static __rte_always_inline void
mini_store(struct mini_image *image, struct rte_mbuf *const *elt, uint32_t n, const unsigned int f)
{
	image->absent += MLXPMD_MINI_CQES - n;
	image->sum = _mm256_add_epi32(image->sum, _mm256_add_epi32(image->minis[0], image->minis[1]));
	mini_store4(image, image->minis[0], elt, f);
	mini_store4(image, image->minis[1], elt + 4, f);
}

/* Of the array that was loaded last. */
static __rte_always_inline enum mlxpmd_mprq_lengths
mini_lengths(const struct mini_image *image, const struct mlxpmd_rx_run *run)
{
	const uint32_t lines_max = run->from.lines_max;

	if (!mini_beyond(image, 1, _mm256_set1_epi32(run->line)))
		return MLXPMD_MPRQ_LINES;
	return mini_beyond(image, lines_max + 1, _mm256_set1_epi32(run->len_max - lines_max)) ? MLXPMD_MPRQ_MIXED :
												 MLXPMD_MPRQ_LONG;
}

static __rte_always_inline uint32_t
mini_bytes(const struct mini_image *image)
{
	const __m256i lengths = _mm256_srli_epi64(image->sum, 32);

	return sum32(_mm_add_epi32(_mm256_castsi256_si128(lengths), _mm256_extracti128_si256(lengths, 1))) -
	       image->absent;
}

#endif /* MLXPMD_RX_256_H */
