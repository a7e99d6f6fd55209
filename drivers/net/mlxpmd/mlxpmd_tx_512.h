/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * Multi-packet WQEs with AVX-512: eight packets at a time, four data segments per register.
 */
#ifndef MLXPMD_TX_512_H
#define MLXPMD_TX_512_H

#include <immintrin.h>

#include "mlxpmd_tx_burst.h"

#define GROUP 8

static_assert(offsetof(struct rte_mbuf, buf_addr) == 0 && offsetof(struct rte_mbuf, data_off) == 16 &&
	      offsetof(struct rte_mbuf, nb_segs) == 20 && offsetof(struct rte_mbuf, ol_flags) == 24 &&
	      offsetof(struct rte_mbuf, data_len) == 40, "the dwords that four_mbufs() selects");

/* Four dwords of each of four mbufs, by their place in the first cache line. */
static __rte_always_inline __m512i
four_mbufs(struct rte_mbuf **pkts, __m512i dwords)
{
	__m512i v = _mm512_maskz_permutexvar_epi32(0x000f, dwords, _mm512_load_si512(pkts[0]));

	v = _mm512_mask_permutexvar_epi32(v, 0x00f0, dwords, _mm512_load_si512(pkts[1]));
	v = _mm512_mask_permutexvar_epi32(v, 0x0f00, dwords, _mm512_load_si512(pkts[2]));
	return _mm512_mask_permutexvar_epi32(v, 0xf000, dwords, _mm512_load_si512(pkts[3]));
}

/* In each quarter: data_len and more; data_off and more; buf_addr. Then address in the upper half. */
static __rte_always_inline __m512i
lens_and_addrs(struct rte_mbuf **pkts)
{
	const __m512i dwords = _mm512_broadcast_i32x4(_mm_set_epi32(1, 0, 4, 10));
	const __m512i data_off = _mm512_broadcast_i32x4(
		_mm_set_epi8(-1, -1, -1, -1, -1, -1, 5, 4, -1, -1, -1, -1, -1, -1, -1, -1));
	__m512i v = four_mbufs(pkts, dwords);

	return _mm512_add_epi64(v, _mm512_shuffle_epi8(v, data_off));
}

/* Data segments: byte_count, lkey, address, in big endian. lkey has the keys and zeroes. */
static __rte_always_inline __m512i
segments(__m512i lens_and_addrs, __m512i lkey)
{
	const __m512i order = _mm512_broadcast_i32x4(
		_mm_set_epi8(8, 9, 10, 11, 12, 13, 14, 15, -1, -1, -1, -1, 0, 1, -1, -1));

	return _mm512_or_si512(_mm512_shuffle_epi8(lens_and_addrs, order), lkey);
}

/* In each quarter: nb_segs and more, twice; ol_flags. */
static __rte_always_inline __m512i
segs_and_flags(struct rte_mbuf **pkts)
{
	return four_mbufs(pkts, _mm512_broadcast_i32x4(_mm_set_epi32(7, 6, 5, 5)));
}

/* (v ^ want) & care */
static __rte_always_inline __m512i
differences(__m512i v, __m512i want, __m512i care)
{
	return _mm512_ternarylogic_epi64(v, want, care, 0x28);
}

static __rte_always_inline __m512i
pairs(uint64_t low, uint64_t high)
{
	return _mm512_set_epi64(high, low, high, low, high, low, high, low);
}

static __rte_always_inline uint32_t
mpw_groups(struct tx_run *w, struct rte_mbuf **pkts, uint32_t max, const unsigned int f)
{
	const __m512i start = _mm512_set1_epi64(w->mr.start), size = _mm512_set1_epi64(w->mr.size);
	const __m512i lkey = pairs(w->mr.lkey, 0), low16 = pairs(0xffff, 0);
	const __m512i want = pairs(1, w->title);
	const __m512i care = pairs((f & MLXPMD_TX_F_MULTI) ? 0xffff : 0, (f & MLXPMD_TX_F_OFFLOAD) ? w->alike : 0);
	__m512i bytes = _mm512_setzero_si512(), last = bytes, a, b, sa, sb;
	__mmask16 filled;
	__mmask8 inside;
	uint32_t i;

	for (i = 0; i + GROUP <= max; i += GROUP) {
		a = lens_and_addrs(pkts + i);
		b = lens_and_addrs(pkts + i + 4);
		inside = _mm512_mask_cmplt_epu64_mask(_mm512_cmplt_epu64_mask(_mm512_sub_epi64(a, start), size),
						      _mm512_sub_epi64(b, start), size);
		filled = _mm512_mask_test_epi32_mask(_mm512_test_epi32_mask(a, low16), b, low16);
		if (unlikely((inside & 0xaa) != 0xaa || filled != 0x1111))
			break;
		if ((f & (MLXPMD_TX_F_MULTI | MLXPMD_TX_F_OFFLOAD)) &&
		    _mm512_test_epi64_mask(_mm512_or_si512(differences(segs_and_flags(pkts + i), want, care),
							   differences(segs_and_flags(pkts + i + 4), want, care)),
					   _mm512_set1_epi64(-1)) != 0)
			break;
		sa = segments(a, lkey);
		sb = segments(b, lkey);
		/* Whole cache lines: the end of the last line's segments, and the begin of these. */
		_mm512_store_si512(w->at + 2 * i - 4, _mm512_shuffle_i64x2(last, sa, 0x4e));
		_mm512_store_si512(w->at + 2 * i + 4, _mm512_shuffle_i64x2(sa, sb, 0x4e));
		last = sb;
		_mm512_storeu_si512(w->elt + i, _mm512_loadu_si512(pkts + i));
		bytes = _mm512_add_epi64(bytes, _mm512_add_epi64(_mm512_and_si512(a, low16),
								 _mm512_and_si512(b, low16)));
	}
	if (i != 0) {
		_mm256_store_si256((void *)(w->at + 2 * i - 4), _mm512_extracti64x4_epi64(last, 1));
		w->bytes = _mm512_reduce_add_epi64(bytes);
	}
	return i;
}

/* Ethernet segments: checksum flags by mlxpmd_tx_cs_flags(). flags: of segs_and_flags(). */
static __rte_always_inline __m512i
eth_segments(__m512i flags)
{
	const __m512i by_request = _mm512_broadcast_i32x4(_mm_set_epi64x(0, mlxpmd_tx_cs_by_request()));
	const __m512i to_cs_flags = _mm512_broadcast_i32x4(
		_mm_set_epi8(-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 8, -1, -1, -1, -1));
	__m512i request = _mm512_and_si512(_mm512_srli_epi64(flags, 52), pairs(0, 7));

	/* All other bytes take the entry of no request, 0. */
	return _mm512_shuffle_epi8(by_request, _mm512_shuffle_epi8(request, to_cs_flags));
}

/* Control segments of four SEND WQEs, from this one on. */
static __rte_always_inline __m512i
ctrl_segments(uint32_t index_opcode, uint32_t qpn_ds)
{
	const __m512i order = _mm512_broadcast_i32x4(
		_mm_set_epi8(-1, -1, -1, -1, -1, -1, -1, -1, 4, 5, 6, 7, 0, 1, 2, -1));
	const unsigned int shift = PRM_WQE_CTRL_SEG_OPMOD_IDX_OPCODE_WQE_INDEX_SHIFT;
	const __m512i number = _mm512_set_epi64(0, 3u << shift, 0, 2u << shift, 0, 1u << shift, 0, 0);
	const __m512i first = _mm512_set1_epi64((uint64_t)qpn_ds << 32 | index_opcode);

	/* The opcode's modifier is 0, not a carry from the index. */
	return _mm512_shuffle_epi8(_mm512_add_epi32(first, number), order);
}

/* Writes the WQE of packet k of four. */
#define PUT_SEND(at, k, ctrl, eth, seg) do { \
	const __m512i two_ = _mm512_set_epi64(0, 0, 0, 0, 2 * (k) + 9, 2 * (k) + 8, 2 * (k) + 1, 2 * (k)); \
	const __m512i third_ = _mm512_set_epi64(0, 0, 2 * (k) + 1, 2 * (k), 0, 0, 0, 0); \
	__m512i wqe_ = _mm512_maskz_permutex2var_epi64(0x0f, ctrl, two_, eth); \
	_mm512_store_si512((at) + (k) * (MLX5_SEND_WQE_BB / sizeof(*(at))), \
			   _mm512_mask_permutexvar_epi64(wqe_, 0x30, third_, seg)); \
} while (0)

/* Of a group of four, at least two packets have other offloads than the one before. */
static __rte_always_inline uint32_t
send_groups(struct tx_run *w, struct rte_mbuf **pkts, uint32_t max, const unsigned int f)
{
	const __m512i start = _mm512_set1_epi64(w->mr.start), size = _mm512_set1_epi64(w->mr.size);
	const __m512i lkey = pairs(w->mr.lkey, 0), low16 = pairs(0xffff, 0);
	const __m512i alone = pairs((f & MLXPMD_TX_F_MULTI) ? 0xffff : 0,
				    RTE_MBUF_F_TX_VLAN | (w->alike & ~MLXPMD_TX_TITLE_FLAGS));
	const __m512i alike = pairs(0, w->alike), one = pairs(1, 0);
	__m512i bytes = _mm512_setzero_si512(), a, flags, next, ctrl, eth, seg;
	mlxpmd_u64 *at = w->at;
	uint32_t i;

	if (!(f & MLXPMD_TX_F_OFFLOAD))
		return 0;
	for (i = 0; i + 4 <= max; i += 4) {
		a = lens_and_addrs(pkts + i);
		flags = segs_and_flags(pkts + i);
		next = _mm512_alignr_epi64(flags, flags, 2);
		if (unlikely((_mm512_cmplt_epu64_mask(_mm512_sub_epi64(a, start), size) & 0xaa) != 0xaa ||
			     _mm512_test_epi32_mask(a, low16) != 0x1111 ||
			     _mm512_test_epi64_mask(differences(flags, one, alone), alone) != 0))
			break;
		if (__builtin_popcount(_mm512_test_epi64_mask(_mm512_xor_si512(flags, next), alike) & 0x2a) < 2)
			break;
		ctrl = ctrl_segments(w->index_opcode, w->qpn_ds);
		w->index_opcode += 4u << PRM_WQE_CTRL_SEG_OPMOD_IDX_OPCODE_WQE_INDEX_SHIFT;
		eth = eth_segments(flags);
		seg = segments(a, lkey);
		PUT_SEND(at, 0, ctrl, eth, seg);
		PUT_SEND(at, 1, ctrl, eth, seg);
		PUT_SEND(at, 2, ctrl, eth, seg);
		PUT_SEND(at, 3, ctrl, eth, seg);
		at += 4 * (MLX5_SEND_WQE_BB / sizeof(*at));
		_mm256_storeu_si256((void *)(w->elt + i), _mm256_loadu_si256((const void *)(pkts + i)));
		bytes = _mm512_add_epi64(bytes, _mm512_and_si512(a, low16));
	}
	w->bytes = _mm512_reduce_add_epi64(bytes);
	return i;
}

#endif /* MLXPMD_TX_512_H */
