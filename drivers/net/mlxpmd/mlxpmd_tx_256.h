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

/* Two packets: data_off, nb_segs and more, ol_flags; data_len in the upper half; address in the lower half. */
struct two {
	__m256i rearm, len, addr;
};

/* Differences that the checks of a group found, combined over its packets. */
struct checks {
	__m256i outside;	/* Sign of the lower quadwords. */
	__m256i empty;		/* Dwords 2. */
	__m256i differs;
};

/* care: bits of rearm that have to be as in want. */
static __rte_always_inline struct two
load_two(const struct tx_run *w, struct rte_mbuf **pkts, __m256i want, __m256i care, struct checks *v)
{
	const __m256i sign = _mm256_set1_epi64x(INT64_MIN);
	const __m256i last = _mm256_xor_si256(_mm256_set1_epi64x(w->mr.size - 1), sign);
	struct two t = { .rearm = two_mbufs(pkts, 16) };
	__m256i off;

	t.len = _mm256_and_si256(two_mbufs(pkts, 32), pairs(0, 0xffff));
	t.addr = _mm256_add_epi64(two_mbufs(pkts, 0), _mm256_and_si256(t.rearm, pairs(0xffff, 0)));
	off = _mm256_xor_si256(_mm256_sub_epi64(t.addr, _mm256_set1_epi64x(w->mr.start)), sign);
	v->outside = _mm256_or_si256(v->outside, _mm256_cmpgt_epi64(off, last));
	v->empty = _mm256_or_si256(v->empty, _mm256_cmpeq_epi32(t.len, _mm256_setzero_si256()));
	v->differs = _mm256_or_si256(v->differs, _mm256_and_si256(_mm256_xor_si256(t.rearm, want), care));
	return t;
}

/* Can all packets that were loaded be sent? differs counts for some features only. */
static __rte_always_inline bool
fits(const struct checks *v, const unsigned int f)
{
	if (unlikely(!_mm256_testz_si256(v->outside, pairs(-1, 0)) || !_mm256_testz_si256(v->empty, pairs(0, 0xffff))))
		return false;
	return !(f & (MLXPMD_TX_F_MULTI | MLXPMD_TX_F_OFFLOAD)) || _mm256_testz_si256(v->differs, v->differs);
}

/* Data segments. */
static __rte_always_inline __m256i
segments(const struct tx_run *w, const struct two *t)
{
	const __m256i order = _mm256_broadcastsi128_si256(
		_mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, -1, -1, -1, -1, -1, -1, -1, -1));
	const __m256i len_order = _mm256_broadcastsi128_si256(
		_mm_set_epi8(-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 8, 9, -1, -1));

	return _mm256_or_si256(_mm256_or_si256(_mm256_shuffle_epi8(t->addr, order),
					       _mm256_shuffle_epi8(t->len, len_order)),
			       pairs(w->mr.lkey, 0));
}

static __rte_always_inline void
elts_put(struct rte_mbuf **elt, struct rte_mbuf **pkts)
{
	_mm256_storeu_si256((__m256i *)elt, _mm256_loadu_si256((const __m256i *)pkts));
}

static __rte_always_inline uint64_t
lens_sum(__m256i v)
{
	return _mm256_extract_epi64(v, 1) + _mm256_extract_epi64(v, 3);
}

static __rte_always_inline uint32_t
mpw_groups(struct tx_run *w, struct rte_mbuf **pkts, uint32_t max, const unsigned int f)
{
	const __m256i care = pairs((f & MLXPMD_TX_F_MULTI) ? 0xffffull << 32 : 0,
				   (f & MLXPMD_TX_F_OFFLOAD) ? w->alike : 0);
	const __m256i want = pairs(1ull << 32, w->title);
	__m256i bytes = _mm256_setzero_si256();
	uint32_t i;

	if (unlikely(w->mr.size == 0))
		return 0;
	for (i = 0; i + GROUP <= max; i += GROUP) {
		struct checks v = { 0 };
		const struct two a = load_two(w, pkts + i, want, care, &v);
		const struct two b = load_two(w, pkts + i + 2, want, care, &v);

		if (!fits(&v, f))
			break;
		_mm256_store_si256((__m256i *)(w->at + 2 * i), segments(w, &a));
		_mm256_store_si256((__m256i *)(w->at + 2 * i + 4), segments(w, &b));
		elts_put(w->elt + i, pkts + i);
		bytes = _mm256_add_epi64(bytes, _mm256_add_epi64(a.len, b.len));
	}
	w->bytes = lens_sum(bytes);
	return i;
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
	__m256i eth = eth_segments(t->rearm), seg = segments(w, t);
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
	const __m256i alone = pairs((f & MLXPMD_TX_F_MULTI) ? 0xffffull << 32 : 0,
				    RTE_MBUF_F_TX_VLAN | (w->alike & ~MLXPMD_TX_TITLE_FLAGS));
	const __m256i want = pairs(1ull << 32, 0);
	__m256i bytes = _mm256_setzero_si256();
	uint32_t i;

	if (!(f & MLXPMD_TX_F_OFFLOAD) || unlikely(w->mr.size == 0))
		return 0;
	for (i = 0; i + GROUP <= max; i += GROUP) {
		const bool changes = ((pkts[i]->ol_flags ^ pkts[i + 1]->ol_flags) & w->alike) != 0 &&
				     ((pkts[i + 1]->ol_flags ^ pkts[i + 2]->ol_flags) & w->alike) != 0;
		struct checks v = { 0 };
		const struct two a = load_two(w, pkts + i, want, alone, &v);
		const struct two b = load_two(w, pkts + i + 2, want, alone, &v);

		if (!changes || !fits(&v, f))
			break;
		send_two(w, i, &a);
		send_two(w, i + 2, &b);
		elts_put(w->elt + i, pkts + i);
		bytes = _mm256_add_epi64(bytes, _mm256_add_epi64(a.len, b.len));
	}
	w->bytes = lens_sum(bytes);
	return i;
}

#endif /* MLXPMD_TX_256_H */
