/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * Receive with AVX-512: eight packets at a time, two mbufs per register. Built twice: for CPUs with IFMA the
 * conversion of timestamps differs.
 */
#ifndef MLXPMD_RX_512_H
#define MLXPMD_RX_512_H

#include <immintrin.h>

#include "mlxpmd_clock_avx512.h"
#include "mlxpmd_rx_comp.h"
#include "mlxpmd_rx_mprq_vec.h"
#include "mlxpmd_rx_vec.h"

#define GROUP 8
/** Not a template feature: convert timestamps by IFMA. */
#define F_IFMA 0x100u

static __rte_always_inline __m512i
load128x4(const uint8_t *at)
{
	const size_t step = 2 * sizeof(struct mlx5_cqe64);
	__m512i v = _mm512_castsi128_si512(_mm_load_si128((const __m128i *)at));

	v = _mm512_inserti32x4(v, _mm_load_si128((const __m128i *)(at + step)), 1);
	v = _mm512_inserti32x4(v, _mm_load_si128((const __m128i *)(at + 2 * step)), 2);
	return _mm512_inserti32x4(v, _mm_load_si128((const __m128i *)(at + 3 * step)), 3);
}

/* Loads timestamps and tails of eight CQEs, in memory order. */
static __rte_always_inline void
load_ends(const struct mlx5_cqe64 *cqe, __m512i *even, __m512i *odd)
{
	*even = load128x4((const uint8_t *)&cqe[0].timestamp);
	*odd = load128x4((const uint8_t *)&cqe[1].timestamp);
}

static __rte_always_inline __m512i
swap64(__m512i v)
{
	const __m512i order = _mm512_broadcast_i32x4(
		_mm_set_epi8(8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7));

	return _mm512_shuffle_epi8(v, order);
}

/*
 * Order of words and bytes for the mbuf fields of two CQEs. Words from offsets 00 1c 08 10 | 00 2c 1c 0c of each CQE;
 * bytes: upper half pkt_len, data_len, vlan_tci, hash; lower half (later rearm_data and ol_flags) wqe_id, and the
 * header bytes in the order of the class table's index.
 */
struct order {
	__m512i words, bytes;
};

static __rte_always_inline struct order
image_order(const unsigned int f)
{
	const char hash = (f & MLXPMD_RX_F_HASH) ? 12 : -1;

	return (struct order){
		.words = _mm512_set_epi32(19, 23, 27, 16, 20, 18, 23, 16, 3, 7, 11, 0, 4, 2, 7, 0),
		.bytes = _mm512_broadcast_i64x4(
			_mm256_set_epi8(12, 13, 14, 15, 10, 11, 6, 7, 4, 5, 6, 7, -1, -1, -1, -1,
					-1, -1, -1, -1, -1, -1, -1, -1, hash, 0, 5, 4, -1, -1, 2, 3)),
	};
}

static __rte_always_inline __m512i
images(const struct order *order, const struct mlx5_cqe64 *cqe)
{
	__m512i v = _mm512_permutex2var_epi32(_mm512_load_si512(cqe), order->words, _mm512_load_si512(cqe + 1));

	return _mm512_shuffle_epi8(v, order->bytes);
}

/* Computes offsets into the class table: packets 0 2 4 6 in the first quarter, 1 3 5 7 in the third. */
static __rte_always_inline __m512i
class_offsets(__m512i v)
{
	v = _mm512_and_si512(v, _mm512_set1_epi32(MLXPMD_CLASS_MASK));
	v = _mm512_min_epu8(v, _mm512_set1_epi32(MLXPMD_CLASS_MAX));
	v = _mm512_maddubs_epi16(v, _mm512_set1_epi32(MLXPMD_CLASS_MUL_BYTES));
	return _mm512_madd_epi16(v, _mm512_set1_epi32(MLXPMD_CLASS_MUL_WORDS));
}

/* Common to the packets of a queue, for two packets. */
struct image {
	__m512i keep;	/* Bits of the class, and all of the rest. */
	__m512i set;	/* rearm_data, and the timestamp's flag. */
};

static __rte_always_inline struct image
image_of(const struct mlxpmd_rxq *rxq, const unsigned int f)
{
	const uint64_t flags = rxq->flag_mask | ((f & MLXPMD_RX_F_HASH) ? RTE_MBUF_F_RX_RSS_HASH : 0);
	const uint64_t ts_flag = (f & MLXPMD_RX_F_STAMP) ? rxq->ts_flag : 0;

	return (struct image){
		.keep = _mm512_broadcast_i64x4(_mm256_set_epi64x(-1, mlxpmd_rx_length_mask(f), flags, 0)),
		.set = _mm512_broadcast_i64x4(_mm256_set_epi64x(0, 0, ts_flag, rxq->mbuf_init)),
	};
}

static __rte_always_inline __m256i
class_load(uint32_t offset)
{
	return _mm256_load_si256((const __m256i *)((const uint8_t *)mlxpmd_class_table + offset));
}

/* Writes the fields of two mbufs. @return The fields. */
static __rte_always_inline __m512i
images_store(const struct image *image, struct rte_mbuf *const *m, __m512i v, uint32_t class_first,
	     uint32_t class_second)
{
	v = _mm512_mask_broadcast_i32x8(v, 0x001f, class_load(class_first));
	v = _mm512_mask_broadcast_i32x8(v, 0x1f00, class_load(class_second));
	v = _mm512_ternarylogic_epi64(v, image->keep, image->set, 0xea); /* v & keep | set */
	_mm256_storeu_si256((__m256i *)&m[0]->rearm_data, _mm512_castsi512_si256(v));
	_mm256_storeu_si256((__m256i *)&m[1]->rearm_data, _mm512_extracti64x4_epi64(v, 1));
	return v;
}

/* A line of the clock as this run needs it. */
struct clock {
	struct mlxpmd_clock_avx512 line;
#ifdef __AVX512IFMA__
	struct mlxpmd_clock_ifma ifma;
#endif
};

static __rte_always_inline struct clock
clock_of(const struct mlxpmd_rxq *rxq, const unsigned int f)
{
	struct clock clock = { 0 };

#ifdef __AVX512IFMA__
	if (f & F_IFMA) {
		clock.ifma = mlxpmd_clock_ifma(&rxq->snap);
		return clock;
	}
#endif
	if ((f & MLXPMD_RX_F_STAMP) == MLXPMD_RX_F_TS)
		clock.line = mlxpmd_clock_avx512(&rxq->snap);
	return clock;
}

/* @return false if a timestamp has no value: the scalar loop then handles the group. */
static __rte_always_inline bool
stamps(const struct clock *clock, const struct mlx5_cqe64 *cqe, __m512i *value, const unsigned int f)
{
	__m512i even, odd, ts;

	/* Load again: the first load was not ordered after the check of the owner bits. */
	load_ends(cqe, &even, &odd);
	ts = swap64(_mm512_unpacklo_epi64(even, odd));
	if ((f & MLXPMD_RX_F_STAMP) == MLXPMD_RX_F_TICKS) {
		*value = ts;
		return true;
	}
	if ((f & MLXPMD_RX_F_STAMP) == MLXPMD_RX_F_PACKED)
		return mlxpmd_clock_avx512_unpack(ts, value) == 0;
#ifdef __AVX512IFMA__
	if (f & F_IFMA)
		return mlxpmd_clock_ifma_convert(&clock->ifma, ts, value) == 0;
#endif
	return mlxpmd_clock_avx512_convert(&clock->line, ts, value) == 0;
}

static __rte_always_inline void
stamps_store2(const struct mlxpmd_rxq *rxq, struct rte_mbuf *const *elt, __m128i value)
{
	_mm_storel_epi64((__m128i *)((uint8_t *)elt[0] + rxq->ts_offset), value);
	_mm_storeh_pd((double *)((uint8_t *)elt[1] + rxq->ts_offset), _mm_castsi128_pd(value));
}

static __rte_always_inline void
stamps_store(const struct mlxpmd_rxq *rxq, struct rte_mbuf *const *elt, __m512i value)
{
	stamps_store2(rxq, elt, _mm512_castsi512_si128(value));
	stamps_store2(rxq, elt + 2, _mm512_extracti32x4_epi32(value, 1));
	stamps_store2(rxq, elt + 4, _mm512_extracti32x4_epi32(value, 2));
	stamps_store2(rxq, elt + 6, _mm512_extracti32x4_epi32(value, 3));
}

/* Lengths of a group, behind the headers of the even and of the odd packets. */
#define IS_LENGTH ((__mmask16)0xf0f0)

/* Are all lengths in shortest .. shortest + limit - 1? */
static __rte_always_inline bool
lengths_fit(__m512i headers_and_lengths, uint32_t shortest, __m512i limit)
{
	const __m512i v = _mm512_sub_epi32(headers_and_lengths, _mm512_set1_epi32(shortest));

	return _mm512_mask_cmpge_epu32_mask(IS_LENGTH, v, limit) == 0;
}

static __rte_always_inline enum mlxpmd_mprq_lengths
lengths_of(__m512i headers_and_lengths, const struct mlxpmd_rx_run *run)
{
	const uint32_t lines_max = run->from.lines_max, shortest = run->len_base + 1;

	if (lengths_fit(headers_and_lengths, shortest, _mm512_set1_epi32(run->line)))
		return MLXPMD_MPRQ_LINES;
	return lengths_fit(headers_and_lengths, shortest + lines_max, _mm512_set1_epi32(run->len_max - lines_max)) ?
		       MLXPMD_MPRQ_LONG : MLXPMD_MPRQ_MIXED;
}

/* Do all CQEs belong to the WQE at ci? wqe_id in the even quarters. */
static __rte_always_inline bool
wqe_ids_fit(const struct mlxpmd_rxq *rxq, __m512i ids)
{
	return _mm512_mask_test_epi32_mask(0x0f0f, _mm512_xor_si512(ids, _mm512_set1_epi32(rxq->q.ci)),
					   _mm512_set1_epi32(rxq->q.wqe_mask)) == 0;
}

/* Receives groups of packets from adjacent CQEs; stops at the first group that is incomplete or not ordinary. */
static __rte_always_inline uint16_t
run_groups(struct mlxpmd_rxq *rxq, struct rte_mbuf **pkts, uint16_t n, const unsigned int f)
{
	const struct mlx5_cqe64 *first = &rxq->q.cqes[rxq->q.cq_ci & rxq->q.cqe_mask], *cqe = first;
	const struct mlxpmd_rx_run run = mlxpmd_rx_run_of(rxq, f);
	struct rte_mbuf *const *elt = run.elt;
	struct rte_mbuf **pkt, **const end = pkts + (n & -GROUP);
	const __m512i check = _mm512_set1_epi64(rxq->tail_check), limit = _mm512_set1_epi32(run.len_max);
	const __m512i step = _mm512_set1_epi64(GROUP << MLXPMD_TAIL_COUNTER_SHIFT);
	const struct order order = image_order(f);
	const struct image image = image_of(rxq, f);
	const struct clock clock = clock_of(rxq, f);
	__m512i want = _mm512_add_epi64(_mm512_set1_epi64(mlxpmd_rx_tail_expected(rxq, run.counter, f)),
					_mm512_slli_epi64(_mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0),
							  MLXPMD_TAIL_COUNTER_SHIFT));
	__m512i tags = _mm512_setzero_si512(), flags = tags, lengths = tags, value = tags;
	struct mlxpmd_rx_rare rare;
	uint16_t got;

	for (pkt = pkts; pkt != end; pkt += GROUP, elt += GROUP, cqe += GROUP) {
		__m512i even, odd, tails, v01, v23, v45, v67, first4, last4, both, class;
		__m128i c0, c1;

		load_ends(cqe, &even, &odd);
		tails = _mm512_unpackhi_epi64(even, odd);
		if (_mm512_test_epi64_mask(_mm512_xor_si512(swap64(tails), want), check) != 0)
			break;
		/* Order the owner bits before the rest of the CQEs; load-load order is enough. */
		rte_io_rmb();
		v01 = images(&order, cqe);
		v23 = images(&order, cqe + 2);
		v45 = images(&order, cqe + 4);
		v67 = images(&order, cqe + 6);
		/* Quarters: headers of 0 2 4 6, their lengths, headers of 1 3 5 7, their lengths. */
		first4 = _mm512_unpacklo_epi32(v01, v23);
		last4 = _mm512_unpacklo_epi32(v45, v67);
		both = _mm512_unpackhi_epi64(first4, last4);
		if (unlikely(!lengths_fit(both, run.len_base + 1, limit)) ||
		    ((f & MLXPMD_RX_F_STRIDING) && unlikely(!wqe_ids_fit(rxq, _mm512_unpacklo_epi64(first4, last4)))))
			break;
		if ((f & MLXPMD_RX_F_STAMP) && unlikely(!stamps(&clock, cqe, &value, f)))
			break;
		if ((f & MLXPMD_RX_F_STRIDING) &&
		    unlikely((elt = mlxpmd_mprq_group_mbufs(rxq, &run, pkt, GROUP)) == NULL))
			break;
		class = class_offsets(both);
		c0 = _mm512_castsi512_si128(class);
		c1 = _mm512_extracti32x4_epi32(class, 2);
		_mm512_storeu_si512(pkt, _mm512_loadu_si512(elt));
		v01 = images_store(&image, elt, v01, _mm_cvtsi128_si32(c0), _mm_cvtsi128_si32(c1));
		v23 = images_store(&image, elt + 2, v23, _mm_extract_epi32(c0, 1), _mm_extract_epi32(c1, 1));
		v45 = images_store(&image, elt + 4, v45, _mm_extract_epi32(c0, 2), _mm_extract_epi32(c1, 2));
		v67 = images_store(&image, elt + 6, v67, _mm_extract_epi32(c0, 3), _mm_extract_epi32(c1, 3));
		if (f & MLXPMD_RX_F_STAMP)
			stamps_store(rxq, elt, value);
		if (f & MLXPMD_RX_F_STRIDING)
			mlxpmd_mprq_group(rxq, &run, elt, run.counter + (pkt - pkts), GROUP,
					  lengths_of(both, &run));
		else
			mlxpmd_rx_prefetch(elt, GROUP, f);
		mlxpmd_rx_prefetch_cqes(cqe, GROUP);
		flags = _mm512_ternarylogic_epi64(flags, v01, v23, 0xfe); /* Any of the three. */
		flags = _mm512_ternarylogic_epi64(flags, v45, v67, 0xfe);
		tags = _mm512_or_si512(tags, tails);
		lengths = _mm512_add_epi32(lengths, both);
		want = _mm512_add_epi64(want, step);
	}
	got = pkt - pkts;
	rare.flags = _mm512_mask_reduce_or_epi32(0x0404, flags);
	rare.tags_be = (uint32_t)_mm512_reduce_or_epi64(tags);
	mlxpmd_rx_run_account(rxq, pkts, got, (uint32_t)_mm512_mask_reduce_add_epi32(IS_LENGTH, lengths), &rare,
			      first, f);
	return got;
}

/* @return Number of packets; 0 also if the run is not suitable for groups. */
static __rte_always_inline uint16_t
run_groups_if(struct mlxpmd_rxq *rxq, struct rte_mbuf **pkts, uint16_t n, bool ts_usable, const unsigned int f)
{
	if (unlikely((f & MLXPMD_RX_F_STAMP) && !ts_usable))
		return 0;
	if (unlikely(!mlxpmd_rx_group_likely(rxq, n, GROUP, f)))
		return 0;
	if ((f & MLXPMD_RX_F_STAMP) != MLXPMD_RX_F_TS)
		return run_groups(rxq, pkts, n, f);
#ifdef __AVX512IFMA__
	if (likely(mlxpmd_clock_ifma_fits(&rxq->snap)))
		return run_groups(rxq, pkts, n, f | F_IFMA);
#endif
	return likely(mlxpmd_clock_avx512_fits(&rxq->snap)) ? run_groups(rxq, pkts, n, f) : 0;
}

/* Writes whole WQEs, four per store. */
static __rte_always_inline void
post(struct mlxpmd_rxq *rxq, uint32_t at, uint16_t k, struct rte_mbuf *const *from)
{
	const __m512i head = _mm512_set1_epi64(mlxpmd_rx_wqe_head(rxq));
	const __m512i offset = _mm512_set1_epi64(mlxpmd_rx_buffer_offset(rxq));
	const __m512i first = _mm512_set_epi64(11, 0, 10, 0, 9, 0, 8, 0);
	const __m512i second = _mm512_set_epi64(15, 0, 14, 0, 13, 0, 12, 0);
	struct rte_mbuf **elt = &rxq->q.elts[at], **const end = elt + (k & -GROUP);
	uint8_t *wqe = (uint8_t *)mlxpmd_rx_dseg(rxq, at);

	for (; elt != end; elt += GROUP, from += GROUP, wqe += 128) {
		__m512i mbufs = _mm512_loadu_si512(from), addr = swap64(_mm512_add_epi64(mbufs, offset));

		_mm512_storeu_si512(elt, mbufs);
		_mm512_storeu_si512(wqe, _mm512_permutex2var_epi64(head, first, addr));
		_mm512_storeu_si512(wqe + 64, _mm512_permutex2var_epi64(head, second, addr));
	}
	mlxpmd_rx_post_scalar(rxq, at + (k & -GROUP), k % GROUP, from);
}

/* ---- compressed completions ---- */

struct mini_image {
	__m512i base, limit;	/* Fields that two mbufs of a session have in common; largest length. */
	__m512i sum;		/* Of the lengths, in odd places. */
	__m512i minis;		/* Array that was loaded last, in host order. */
};

#define MINI_LENGTHS ((__mmask16)0xaaaa)

static __rte_always_inline struct mini_image
mini_image_of(const struct mlxpmd_mini_base *base, uint32_t limit)
{
	const __m256i fields = _mm256_set_epi64x(mlxpmd_mini_base_vlan(base), mlxpmd_mini_base_type(base),
						 base->ol_flags, base->rearm_data);

	return (struct mini_image){
		.base = _mm512_broadcast_i64x4(fields),
		.limit = _mm512_set1_epi32(limit),
		.sum = _mm512_setzero_si512(),
	};
}

/* Loads the first n of an array of mini CQEs, others as 0; false if a length is impossible. */
static __rte_always_inline bool
mini_load(struct mini_image *image, const void *array, uint32_t n, const unsigned int f)
{
	const __mmask16 present = (__mmask16)(0xffffu >> (2 * (MLXPMD_MINI_CQES - n)));
	const __m512i bytes = _mm512_broadcast_i32x4(
		_mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3));
	__m512i v = _mm512_shuffle_epi8(_mm512_maskz_loadu_epi32(present, array), bytes);

	if (f & MLXPMD_RX_F_STRIDING)
		v = _mm512_sub_epi32(v, _mm512_set1_epi64((int64_t)MLXPMD_MPRQ_ONE_STRIDE << 32));
	if (unlikely(_mm512_mask_cmpge_epu32_mask(MINI_LENGTHS & present, _mm512_sub_epi32(v, _mm512_set1_epi32(1)),
						  image->limit) != 0))
		return false;
	image->minis = v;
	return true;
}

/* Writes the fields of eight mbufs, n of them of packets. */
static __rte_always_inline void
mini_store(struct mini_image *image, struct rte_mbuf *const *elt, uint32_t n __rte_unused, const unsigned int f)
{
	/* Of two packets: pkt_len, data_len, hash in words 5 to 7. */
	const __mmask16 fields = (f & MLXPMD_RX_F_HASH) ? 0xe0e0 : 0x6060;
	__m512i words = _mm512_set_epi32(2, 3, 3, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0), w;
	unsigned int i;

	image->sum = _mm512_add_epi32(image->sum, image->minis);
	for (i = 0; i < MLXPMD_MINI_CQES; i += 2) {
		w = _mm512_or_si512(_mm512_maskz_permutexvar_epi32(fields, words, image->minis), image->base);
		_mm256_storeu_si256((__m256i *)&elt[i]->rearm_data, _mm512_castsi512_si256(w));
		_mm256_storeu_si256((__m256i *)&elt[i + 1]->rearm_data, _mm512_extracti64x4_epi64(w, 1));
		words = _mm512_add_epi32(words, _mm512_set1_epi32(4));
	}
}

/* Of the array that was loaded last. */
static __rte_always_inline enum mlxpmd_mprq_lengths
mini_lengths(const struct mini_image *image, const struct mlxpmd_rx_run *run)
{
	if (_mm512_mask_cmpgt_epu32_mask(MINI_LENGTHS, image->minis, _mm512_set1_epi32(run->line)) == 0)
		return MLXPMD_MPRQ_LINES;
	return _mm512_mask_cmple_epu32_mask(MINI_LENGTHS, image->minis, _mm512_set1_epi32(run->from.lines_max)) == 0 ?
		       MLXPMD_MPRQ_LONG : MLXPMD_MPRQ_MIXED;
}

static __rte_always_inline uint32_t
mini_bytes(const struct mini_image *image)
{
	return (uint32_t)_mm512_mask_reduce_add_epi32(MINI_LENGTHS, image->sum);
}

#endif /* MLXPMD_RX_512_H */
