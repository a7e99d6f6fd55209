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
	      offsetof(struct rte_mbuf, data_len) == 40, "what two_mbufs() loads");

/* 16 bytes at an offset of each of two mbufs. */
static __rte_always_inline __m256i
two_mbufs(struct rte_mbuf **pkts, size_t offset)
{
	const uint8_t *first = (const uint8_t *)pkts[0] + offset, *second = (const uint8_t *)pkts[1] + offset;
	__m256i v = _mm256_castsi128_si256(_mm_load_si128((const __m128i *)first));

	return _mm256_inserti128_si256(v, _mm_load_si128((const __m128i *)second), 1);
}

static __rte_always_inline __m256i
pairs(uint64_t low, uint64_t high)
{
	return _mm256_set_epi64x(high, low, high, low);
}

/* What the tests of a group find, combined over its packets. */
struct verdict {
	__m256i outside;	/* Sign of the lower quadwords. */
	__m256i empty;		/* Dwords 2. */
	__m256i differs;
};

/* Writes the data segments of two packets. Returns their lengths, in the upper halves. */
static __rte_always_inline __m256i
put_two(struct mpw_fill *w, uint32_t i, struct rte_mbuf **pkts, __m256i care, struct verdict *v)
{
	const __m256i order = _mm256_broadcastsi128_si256(
		_mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, -1, -1, -1, -1, -1, -1, -1, -1));
	const __m256i len_order = _mm256_broadcastsi128_si256(
		_mm_set_epi8(-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 8, 9, -1, -1));
	const __m256i sign = _mm256_set1_epi64x(INT64_MIN);
	__m256i rearm = two_mbufs(pkts, 16);
	__m256i len = _mm256_and_si256(two_mbufs(pkts, 32), pairs(0, 0xffff));
	__m256i addr = _mm256_add_epi64(two_mbufs(pkts, 0), _mm256_and_si256(rearm, pairs(0xffff, 0)));
	__m256i off = _mm256_xor_si256(_mm256_sub_epi64(addr, _mm256_set1_epi64x(w->mr.start)), sign);
	__m256i last = _mm256_xor_si256(_mm256_set1_epi64x(w->mr.size - 1), sign);

	v->outside = _mm256_or_si256(v->outside, _mm256_cmpgt_epi64(off, last));
	v->empty = _mm256_or_si256(v->empty, _mm256_cmpeq_epi32(len, _mm256_setzero_si256()));
	v->differs = _mm256_or_si256(v->differs,
				     _mm256_and_si256(_mm256_xor_si256(rearm, pairs(1ull << 32, w->title)), care));
	_mm256_store_si256((__m256i *)(w->dseg + 2 * i),
			   _mm256_or_si256(_mm256_or_si256(_mm256_shuffle_epi8(addr, order),
							   _mm256_shuffle_epi8(len, len_order)),
					   pairs(w->mr.lkey, 0)));
	return len;
}

static __rte_always_inline uint32_t
put_groups(struct mpw_fill *w, struct rte_mbuf **pkts, uint32_t max, const unsigned int f)
{
	const __m256i care = pairs((f & MLXPMD_TX_F_MULTI) ? 0xffffull << 32 : 0,
				   (f & MLXPMD_TX_F_OFFLOAD) ? w->alike : 0);
	__m256i bytes = _mm256_setzero_si256(), len;
	uint32_t i;

	if (unlikely(w->mr.size == 0))
		return 0;
	for (i = 0; i + GROUP <= max; i += GROUP) {
		struct verdict v = { 0 };

		len = put_two(w, i, pkts + i, care, &v);
		len = _mm256_add_epi64(len, put_two(w, i + 2, pkts + i + 2, care, &v));
		if (unlikely(!_mm256_testz_si256(v.outside, pairs(-1, 0)) ||
			     !_mm256_testz_si256(v.empty, pairs(0, 0xffff))))
			break;
		if ((f & (MLXPMD_TX_F_MULTI | MLXPMD_TX_F_OFFLOAD)) && !_mm256_testz_si256(v.differs, v.differs))
			break;
		_mm256_storeu_si256((__m256i *)(w->elt + i), _mm256_loadu_si256((const __m256i *)(pkts + i)));
		bytes = _mm256_add_epi64(bytes, len);
	}
	w->bytes = _mm256_extract_epi64(bytes, 1) + _mm256_extract_epi64(bytes, 3);
	return i;
}

#endif /* MLXPMD_TX_256_H */
