/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Checksums (RFC 1071) of parsed packets. */
#include <endian.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

#include "dp_csum.h"

#define IPV4_MIN_BYTES 20u
#define DP_CSUM_LIKELY(x) __builtin_expect(!!(x), 1)
#define DP_CSUM_UNLIKELY(x) __builtin_expect(!!(x), 0)

static inline uint64_t
rd64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline uint32_t
rd32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/*
 * Sums 32-bit words in 64 bits, which cannot overflow for a frame, so that no carry is added. The folded
 * result equals the one's complement sum of 16-bit words.
 */
static inline uint64_t
halves(uint64_t v)
{
	return (v & UINT32_MAX) + (v >> 32);
}

/* One's complement sum. */
static inline uint64_t
add_carry(uint64_t a, uint64_t b)
{
	a += b;
	return a + (a < b);
}

/* The last bytes, fewer than 8. */
static inline uint64_t
sum_tail(const uint8_t *p, uint32_t len)
{
	uint64_t sum = 0;

	if (len & 4) {
		sum += rd32(p);
		p += 4;
	}
	if (len & 2) {
		uint16_t v;

		memcpy(&v, p, sizeof(v));
		sum += v;
		p += 2;
	}
	return len & 1 ? sum + *p : sum;
}

#ifdef __x86_64__
#define LONG_BYTES 128u

/*
 * Sum of len bytes, an even number: an odd one would swap the bytes of the 16-bit words. The last load
 * ends at the last byte, so up to 16 bytes before p must be readable; they are masked out.
 */
static inline uint64_t
sum_behind(const uint8_t *p, uint32_t len)
{
	static const uint8_t keep[32] = {[16 ... 31] = 0xff};
	const __m128i low = _mm_set1_epi64x(UINT32_MAX);
	const uint8_t *end = p + len;
	__m128i v, a = _mm_setzero_si128(), b = a;

	for (; end - p >= 16; p += 16) {
		v = _mm_loadu_si128((const __m128i *)p);
		a = _mm_add_epi64(a, _mm_and_si128(v, low));
		b = _mm_add_epi64(b, _mm_srli_epi64(v, 32));
	}
	v = _mm_and_si128(_mm_loadu_si128((const __m128i *)(end - 16)),
			  _mm_loadu_si128((const __m128i *)(keep + (end - p))));
	a = _mm_add_epi64(a, _mm_and_si128(v, low));
	b = _mm_add_epi64(b, _mm_srli_epi64(v, 32));
	a = _mm_add_epi64(a, b);
	return (uint64_t)_mm_cvtsi128_si64(a) + (uint64_t)_mm_cvtsi128_si64(_mm_srli_si128(a, 8));
}

/* len is a multiple of 32. */
__attribute__((target("avx2"))) static uint64_t
sum_long(const uint8_t *p, uint32_t len)
{
	const __m256i low = _mm256_set1_epi64x(0xffffffff);
	__m256i a = _mm256_setzero_si256(), b = a;
	uint64_t out[4];

	for (; len != 0; len -= 32, p += 32) {
		__m256i v = _mm256_loadu_si256((const __m256i *)p);

		a = _mm256_add_epi64(a, _mm256_and_si256(v, low));
		b = _mm256_add_epi64(b, _mm256_srli_epi64(v, 32));
	}
	_mm256_storeu_si256((__m256i *)out, _mm256_add_epi64(a, b));
	return out[0] + out[1] + out[2] + out[3];
}

static bool
has_long(void)
{
	return __builtin_cpu_supports("avx2");
}
#else
#define LONG_BYTES UINT32_MAX
static inline uint64_t
sum_behind(const uint8_t *p, uint32_t len)
{
	uint64_t sum = 0;

	for (; len >= 2; len -= 2, p += 2) {
		uint16_t v;

		memcpy(&v, p, sizeof(v));
		sum += v;
	}
	return sum;
}

static uint64_t
sum_long(const uint8_t *p, uint32_t len)
{
	(void)p;
	(void)len;
	return 0;
}

static bool
has_long(void)
{
	return false;
}
#endif

static inline uint64_t
sum_bytes(const uint8_t *p, uint32_t len)
{
	uint64_t sum = 0;

	if (len >= LONG_BYTES && has_long()) {
		uint32_t whole = len & ~31u;

		sum = sum_long(p, whole);
		p += whole;
		len -= whole;
	}
	for (; len >= 8; len -= 8, p += 8)
		sum += halves(rd64(p));
	return len != 0 ? sum + sum_tail(p, len) : sum;
}

uint16_t
dp_csum(const void *data, uint32_t len)
{
	return dp_csum_fold(sum_bytes(data, len));
}

/* Whether sum_behind() is for what follows an IP header, which is longer than 16 bytes. */
static inline bool
is_short(uint32_t len)
{
	return len < LONG_BYTES && len % 2 == 0;
}

/* From the layer 4 header to the end of the IP packet. */
static inline uint64_t
sum_l4(const uint8_t *data, const struct dp_layers *l)
{
	const uint32_t len = l->l3_end - l->l4_off;

	if (DP_CSUM_LIKELY(is_short(len)))
		return sum_behind(data + l->l4_off, len);
	return sum_bytes(data + l->l4_off, len);
}

/* Pseudo header of RFC 793 / RFC 8200, memory order. */
static inline uint64_t
pseudo_sum(const uint8_t *data, const struct dp_layers *l)
{
	const uint8_t *h = data + l->l3_off;
	/* The length and the protocol number as big-endian words of 32 bits. */
	uint64_t sum = (uint64_t)htobe32(l->l3_end - l->l4_off) + htobe32(l->ip_proto);

	if (l->l3 == DP_L3_IPV4)
		return sum + halves(rd64(h + 12));
	return sum + halves(rd64(h + 8)) + halves(rd64(h + 16)) + halves(rd64(h + 24)) +
	       halves(rd64(h + 32));
}

/* Offset of the checksum in the layer 4 header, bytes. */
static uint32_t
l4_csum_off(const struct dp_layers *l)
{
	return l->l4 == DP_L4_TCP ? 16 : 6;
}

/* The length is that of the IP packet. A UDP length that differs makes the checksum wrong. */
static bool
udp_len_ok(const uint8_t *data, const struct dp_layers *l)
{
	return l->l4 != DP_L4_UDP || dp_rd16(data + l->l4_off + 4) == l->l3_end - l->l4_off;
}

static inline bool
l4_check(const uint8_t *data, const struct dp_layers *l, uint64_t l4_sum)
{
	if (DP_CSUM_UNLIKELY(l->l4 == DP_L4_NONE || !l->l3_len_ok || !udp_len_ok(data, l)))
		return false;
	/*
	 * assumed: l4_ok is clear for a UDP checksum of 0, which means none (RFC 768). Other reading: a card sets it,
	 * and programs see such a packet as verified. Test: e2e/replay.py.
	 */
	if (DP_CSUM_UNLIKELY(l->l4 == DP_L4_UDP && dp_rd16(data + l->l4_off + 6) == 0))
		return false;
	return dp_csum_fold(l4_sum + pseudo_sum(data, l)) == 0xffff;
}

/* The result from the sums of the IP header and of what follows it. */
static inline void
decide(const uint8_t *data, const struct dp_layers *l, uint64_t header, uint64_t rest, struct dp_csum_result *v)
{
	v->raw = dp_csum_fold(header + rest);
	/*
	 * assumed: l3_ok is clear if the IP length goes beyond the frame, as in one that was cut off. Other reading:
	 * only the header's checksum counts, and drivers do not report such a frame as bad. Test: dp/test_receive.c.
	 */
	v->l3_ok = l->l3_len_ok && (l->l3 == DP_L3_IPV6 || dp_csum_fold(header) == 0xffff);
	v->l4_ok = l4_check(data, l, rest);
}

static __attribute__((noinline)) void
verify_any(const uint8_t *data, const struct dp_layers *l, struct dp_csum_result *v)
{
	if (l->l3 == DP_L3_NONE)
		*v = (struct dp_csum_result){0};
	else
		decide(data, l, sum_bytes(data + l->l3_off, l->l4_off - l->l3_off), sum_l4(data, l), v);
}

/* IPv4 without options calls nothing. */
void
dp_csum_verify(const uint8_t *data, const struct dp_layers *l, struct dp_csum_result *v)
{
	const uint8_t *h = data + l->l3_off;
	uint32_t len = l->l3_end - l->l4_off;

	if (DP_CSUM_LIKELY(l->l3 == DP_L3_IPV4 && l->l4_off - l->l3_off == (int)IPV4_MIN_BYTES && is_short(len)))
		decide(data, l, halves(add_carry(rd64(h), rd64(h + 8))) + rd32(h + 16),
		       sum_behind(data + l->l4_off, len), v);
	else
		verify_any(data, l, v);
}

void
dp_csum_insert_l3(uint8_t *data, const struct dp_layers *l)
{
	uint8_t *h = data + l->l3_off;
	uint16_t sum;

	if (l->l3 != DP_L3_IPV4)
		return;
	memset(h + 10, 0, 2);
	sum = (uint16_t)~dp_csum(h, l->l4_off - l->l3_off);
	memcpy(h + 10, &sum, sizeof(sum));
}

void
dp_csum_insert_l4(uint8_t *data, const struct dp_layers *l)
{
	uint8_t *field = data + l->l4_off + l4_csum_off(l);
	uint16_t sum;

	if (l->l4 == DP_L4_NONE || !l->l3_len_ok)
		return;
	memset(field, 0, 2);
	sum = (uint16_t)~dp_csum_fold(sum_l4(data, l) + pseudo_sum(data, l));
	if (sum == 0 && l->l4 == DP_L4_UDP)
		sum = 0xffff; /* 0 means "no checksum" in UDP */
	memcpy(field, &sum, sizeof(sum));
}

uint32_t
dp_fcs(const uint8_t *data, uint32_t len)
{
	/* CRC-32 of IEEE 802.3, reflected, four bits at a time. */
	static const uint32_t table[16] = {
		0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
		0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
		0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
	};
	uint32_t crc = 0xffffffff;

	for (uint32_t i = 0; i < len; i++) {
		crc = (crc >> 4) ^ table[(crc ^ data[i]) & 0xf];
		crc = (crc >> 4) ^ table[(crc ^ (data[i] >> 4)) & 0xf];
	}
	return ~crc;
}
