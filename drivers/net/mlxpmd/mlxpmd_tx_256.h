/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * Multi-packet WQEs with AVX2: four packets at a time, two data segments per register.
 */
#ifndef MLXPMD_TX_256_H
#define MLXPMD_TX_256_H

#include <immintrin.h>

#include "mlxpmd_tx_burst.h"

#define GROUP 4

static_assert(offsetof(struct rte_mbuf, buf_addr) == 0 && offsetof(struct rte_mbuf, data_off) == 16 &&
	      offsetof(struct rte_mbuf, nb_segs) == 20 && offsetof(struct rte_mbuf, ol_flags) == 24 &&
	      offsetof(struct rte_mbuf, data_len) == 40, "what load_two() loads");

static __rte_always_inline __m256i
pairs(uint64_t low, uint64_t high)
{
	return _mm256_set_epi64x(high, low, high, low);
}

/* Of two packets, one per half. */
struct two {
	__m256i rearm;	/* data_off, nb_segs and more; ol_flags. */
	__m256i place;	/* Address; length. */
};

#ifdef __AVX512VL__

static __rte_always_inline __m256i
data_off_and_len(__m256i a, __m256i b)
{
	return _mm256_permutex2var_epi32(a, _mm256_set_epi32(14, 14, 8, 8, 6, 6, 0, 0), b);
}

static __rte_always_inline __m256i
buf_addrs(struct rte_mbuf **pkts)
{
	__m256i first = _mm256_maskz_set1_epi64(1, (uintptr_t)pkts[0]->buf_addr);

	return _mm256_mask_set1_epi64(first, 4, (uintptr_t)pkts[1]->buf_addr);
}

#else

/* The first 32 bytes of rearm_data and what follows of two packets: dwords 0 and 6 of both. */
static __rte_always_inline __m256i
data_off_and_len(__m256i a, __m256i b)
{
	return _mm256_blend_epi32(_mm256_permute2x128_si256(a, b, 0x20), _mm256_permute2x128_si256(a, b, 0x31), 0xcc);
}

static __rte_always_inline __m256i
buf_addrs(struct rte_mbuf **pkts)
{
	const __m128i first = _mm_loadl_epi64((const void *)&pkts[0]->buf_addr);
	const __m128i second = _mm_loadl_epi64((const void *)&pkts[1]->buf_addr);

	return _mm256_inserti128_si256(_mm256_castsi128_si256(first), second, 1);
}

#endif

static __rte_always_inline struct two
load_two(struct rte_mbuf **pkts)
{
	const __m256i a = _mm256_loadu_si256((const void *)&pkts[0]->rearm_data);
	const __m256i b = _mm256_loadu_si256((const void *)&pkts[1]->rearm_data);
	const __m256i low16 = _mm256_and_si256(data_off_and_len(a, b), _mm256_set1_epi64x(0xffff));

	return (struct two) {
		.rearm = _mm256_permute2x128_si256(a, b, 0x20),
		.place = _mm256_add_epi64(low16, buf_addrs(pkts)),
	};
}

/* What all packets of a group have to fulfil. */
struct rule {
	/* Least place, and largest distance from it. The sign is inverted, so that signed comparison compares them. */
	__m256i first, last;
	__m256i want, care;	/* rearm has to be as in `want` where `care` has a bit. */
};

/* In the memory region, and not empty: a byte_count of 0 means 2 GiB. */
static __rte_always_inline struct rule
rule(const struct tx_run *w, uint64_t want_flags, uint64_t care_flags, const unsigned int f)
{
	const uint64_t sign = 1ull << 63;

	return (struct rule) {
		.first = pairs(w->mr.start + sign, 1 + sign),
		.last = pairs((w->mr.size - 1) ^ sign, (UINT16_MAX - 1) ^ sign),
		.want = pairs(1ull << 32, want_flags),
		.care = pairs((f & MLXPMD_TX_F_MULTI) ? 0xffffull << 32 : 0,
			      (f & MLXPMD_TX_F_OFFLOAD) ? care_flags : 0),
	};
}

static __rte_always_inline bool
is_kept(const struct rule *r, const struct two *a, const struct two *b, const unsigned int f)
{
	__m256i v = _mm256_or_si256(_mm256_cmpgt_epi64(_mm256_sub_epi64(a->place, r->first), r->last),
				    _mm256_cmpgt_epi64(_mm256_sub_epi64(b->place, r->first), r->last));

	if (f & (MLXPMD_TX_F_MULTI | MLXPMD_TX_F_OFFLOAD)) {
		__m256i differs = _mm256_or_si256(_mm256_xor_si256(a->rearm, r->want),
						  _mm256_xor_si256(b->rearm, r->want));

		v = _mm256_or_si256(v, _mm256_and_si256(differs, r->care));
	}
	return _mm256_testz_si256(v, v);
}

/* Data segments. lkey: in the position of the dword. */
static __rte_always_inline __m256i
segments(const struct two *t, __m256i lkey)
{
	const __m256i order = _mm256_broadcastsi128_si256(
		_mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, -1, -1, -1, -1, 8, 9, -1, -1));

	return _mm256_or_si256(_mm256_shuffle_epi8(t->place, order), lkey);
}

static __rte_always_inline void
elts_put(struct rte_mbuf **elt, struct rte_mbuf **pkts)
{
	_mm256_storeu_si256((__m256i *)elt, _mm256_loadu_si256((const __m256i *)pkts));
}

/* Sum of the lengths of places that were added. */
static __rte_always_inline uint64_t
lens_sum(__m256i v)
{
	return _mm256_extract_epi64(v, 1) + _mm256_extract_epi64(v, 3);
}

static __rte_always_inline uint32_t
mpw_groups(struct tx_run *w, struct rte_mbuf **pkts, uint32_t max, const unsigned int f)
{
	const struct rule r = rule(w, w->title, w->alike, f);
	const __m256i lkey = pairs(w->mr.lkey, 0);
	struct rte_mbuf **const end = pkts + (max & ~(GROUP - 1)), **p;
	struct rte_mbuf **elt = w->elt;
	mlxpmd_u64 *at = w->at;
	__m256i places = _mm256_setzero_si256();

	if (unlikely(max < GROUP || w->mr.size == 0))
		return 0;
	for (p = pkts; p < end; p += GROUP, elt += GROUP, at += 2 * GROUP) {
		const struct two a = load_two(p), b = load_two(p + 2);

		if (unlikely(!is_kept(&r, &a, &b, f)))
			break;
		_mm256_store_si256((__m256i *)at, segments(&a, lkey));
		_mm256_store_si256((__m256i *)(at + 4), segments(&b, lkey));
		elts_put(elt, p);
		places = _mm256_add_epi64(places, _mm256_add_epi64(a.place, b.place));
	}
	w->bytes = lens_sum(places);
	return p - pkts;
}

/* Ethernet segments: checksum flags by mlxpmd_tx_cs_flags(). */
static __rte_always_inline __m256i
eth_segments(__m256i flags)
{
	const __m256i by_request = _mm256_broadcastsi128_si256(_mm_set_epi64x(0, mlxpmd_tx_cs_by_request()));
	const __m256i to_cs_flags = _mm256_broadcastsi128_si256(
		_mm_set_epi8(-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 8, -1, -1, -1, -1));
	__m256i request = _mm256_and_si256(_mm256_srli_epi64(flags, 52), pairs(0, 7));

	/* All other bytes take the entry of no request, 0. */
	return _mm256_shuffle_epi8(by_request, _mm256_shuffle_epi8(request, to_cs_flags));
}

/* Writes two SEND WQEs. */
static __rte_always_inline void
send_two(struct tx_run *w, uint32_t i, const struct two *t)
{
	const __m256i order = _mm256_broadcastsi128_si256(
		_mm_set_epi8(-1, -1, -1, -1, -1, -1, -1, -1, 4, 5, 6, 7, 0, 1, 2, -1));
	const uint32_t step = 1u << PRM_WQE_CTRL_SEG_OPMOD_IDX_OPCODE_WQE_INDEX_SHIFT;
	const __m256i first = _mm256_set1_epi64x((uint64_t)w->qpn_ds << 32 | w->index_opcode);
	/* The opcode's modifier is 0, not a carry from the index. */
	__m256i ctrl = _mm256_shuffle_epi8(_mm256_add_epi32(first, _mm256_set_epi64x(0, step, 0, 0)), order);
	__m256i eth = eth_segments(t->rearm), seg = segments(t, pairs(w->mr.lkey, 0));
	__m256i *at = (__m256i *)(w->at + i * (MLX5_SEND_WQE_BB / sizeof(*w->at)));

	_mm256_store_si256(at, _mm256_permute2x128_si256(ctrl, eth, 0x20));
	_mm_store_si128((__m128i *)(at + 1), _mm256_castsi256_si128(seg));
	_mm256_store_si256(at + 2, _mm256_permute2x128_si256(ctrl, eth, 0x31));
	_mm_store_si128((__m128i *)(at + 3), _mm256_extracti128_si256(seg, 1));
	w->index_opcode += 2 * step;
}

/* Of a group of four, at least two packets have other offloads than the one before. */
static __rte_always_inline uint32_t
send_groups(struct tx_run *w, struct rte_mbuf **pkts, uint32_t max, const unsigned int f)
{
	const struct rule r = rule(w, 0, RTE_MBUF_F_TX_VLAN | (w->alike & ~MLXPMD_TX_TITLE_FLAGS), f);
	__m256i places = _mm256_setzero_si256();
	uint32_t i;

	if (!(f & MLXPMD_TX_F_OFFLOAD) || unlikely(w->mr.size == 0))
		return 0;
	for (i = 0; i + GROUP <= max; i += GROUP) {
		const struct two a = load_two(pkts + i), b = load_two(pkts + i + 2);

		if (!tx_alternates(w, pkts + i) || !is_kept(&r, &a, &b, f))
			break;
		send_two(w, i, &a);
		send_two(w, i + 2, &b);
		elts_put(w->elt + i, pkts + i);
		places = _mm256_add_epi64(places, _mm256_add_epi64(a.place, b.place));
	}
	w->bytes = lens_sum(places);
	return i;
}

#endif /* MLXPMD_TX_256_H */
