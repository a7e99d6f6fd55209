/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * Receive with 128-bit registers: four packets at a time, two registers per mbuf. Built for NEON and for SSE4.2.
 */
#ifndef MLXPMD_RX_128_H
#define MLXPMD_RX_128_H

#include "mlxpmd_clock_128.h"
#include "mlxpmd_rx_comp.h"
#include "mlxpmd_rx_mprq_vec.h"
#include "mlxpmd_rx_vec.h"

#define GROUP 4

static __rte_always_inline vec64
load64(const void *at)
{
	return *(const vec64 *)at;
}

/* The same 64-bit member of two adjacent CQEs. */
static __rte_always_inline vec64
load_two(const void *member)
{
	const mlxpmd_u64 *at = member;

	return (vec64){ at[0], at[sizeof(struct mlx5_cqe64) / sizeof(*at)] };
}

/*
 * The CQE's members for an mbuf, from packet_type on. In place of packet_type, the bytes of the class table's index:
 * hds_ip_ext, l4_hdr_type_etc, byte 0 of the CQE, rx_hash_type. Then pkt_len, data_len, vlan_tci, hash.
 */
#ifdef RTE_ARCH_ARM64
static __rte_always_inline vec8
fields_order(const unsigned int f)
{
	return (vec8){ 0x1c, 0x1d, 0, (f & MLXPMD_RX_F_HASH) ? 0x10 : 0xff, 0x2f, 0x2e, 0x2d, 0x2c,
		       0x2f, 0x2e, 0x1f, 0x1e, 0x0f, 0x0e, 0x0d, 0x0c };
}

static __rte_always_inline vec32
fields(const struct mlx5_cqe64 *cqe, vec8 order)
{
	return (vec32)vqtbl3q_u8(vld1q_u8_x3((const uint8_t *)cqe), (uint8x16_t)order);
}
#else
static __rte_always_inline vec8
fields_order(const unsigned int f)
{
	return (vec8){ 12, 13, 1, (f & MLXPMD_RX_F_HASH) ? 0 : 0xff, 7, 6, 5, 4, 7, 6, 15, 14, 11, 10, 9, 8 };
}

static __rte_always_inline vec32
fields(const struct mlx5_cqe64 *cqe, vec8 order)
{
	const uint8_t *at = (const uint8_t *)cqe;
	__m128i v = _mm_load_si128((const __m128i *)(at + 0x10));

	v = _mm_insert_epi32(v, *(const unaligned_uint32_t *)(at + 0x2c), 1);
	v = _mm_insert_epi32(v, *(const unaligned_uint32_t *)(at + 0x0c), 2);
	return (vec32)bytes((vec8)_mm_insert_epi8(v, at[0], 1), order);
}
#endif

/* Computes offsets into the class table from the index bytes of four CQEs. */
static __rte_always_inline vec32
class_offsets(vec32 v)
{
	v = (vec32)min8((vec8)(v & MLXPMD_CLASS_MASK), (vec8)all32(MLXPMD_CLASS_MAX));
	/* Bits 1..2, 8..17 and 24 to the places that MLXPMD_CLASS_MUL_* give them. */
	return (v & 0x6) << 4 | (v >> 1 & 0x1ff80) | (v >> 7 & 0x20000);
}

/* rearm_data and ol_flags: common to the packets of a queue. */
struct image {
	vec64 keep;	/* Bits of the class. */
	vec64 set;	/* rearm_data, and the timestamp's flag. */
};

static __rte_always_inline struct image
image_of(const struct mlxpmd_rxq *rxq, const unsigned int f)
{
	const uint64_t flags = rxq->flag_mask | ((f & MLXPMD_RX_F_HASH) ? RTE_MBUF_F_RX_RSS_HASH : 0);

	return (struct image){
		.keep = { 0, flags },
		.set = { rxq->mbuf_init, (f & MLXPMD_RX_F_STAMP) ? rxq->ts_flag : 0 },
	};
}

static __rte_always_inline vec64 *
image_at(struct rte_mbuf *m)
{
	return (vec64 *)((uint8_t *)m + offsetof(struct rte_mbuf, rearm_data));
}

/* Writes the mbuf fields. @return rearm_data and ol_flags. */
static __rte_always_inline vec64
image_store(const struct image *image, struct rte_mbuf *m, vec32 v, uint32_t class_offset, const unsigned int f)
{
	const uint8_t *class = (const uint8_t *)mlxpmd_class_table + class_offset;
	const vec64 flags = (load64(class) & image->keep) | image->set;

	if (f & MLXPMD_RX_F_STRIDING)
		v &= (vec32){ 0, MLXPMD_MPRQ_LEN_MASK, UINT32_MAX, UINT32_MAX };
	v[0] = ((const struct mlxpmd_class *)class)->packet_type;
	image_at(m)[0] = flags;
	image_at(m)[1] = (vec64)v;
	return flags;
}

/* The tails of a group: the words with counter and op_own in the order of the host, and all tails ORed to *tags. */
static __rte_always_inline vec32
tails(const struct mlx5_cqe64 *cqe, vec64 *tags)
{
	const vec64 a = load_two((const uint8_t *)cqe + MLXPMD_CQE_TAIL);
	const vec64 b = load_two((const uint8_t *)(cqe + 2) + MLXPMD_CQE_TAIL);

	*tags = a | b;
	return swap32(ODD32(a, b));
}

struct stamps {
	vec64 low, high;
};

static __rte_always_inline vec64
stamps_two(const struct mlxpmd_clock_128 *clock, const struct mlx5_cqe64 *cqe, vec64 *bad, const unsigned int f)
{
	vec64 ts = swap64(load_two(&cqe->timestamp)), value = ts;

	if ((f & MLXPMD_RX_F_STAMP) == MLXPMD_RX_F_PACKED)
		*bad |= mlxpmd_clock_128_unpack(ts, &value);
	else if ((f & MLXPMD_RX_F_STAMP) == MLXPMD_RX_F_TS)
		*bad |= mlxpmd_clock_128_convert(clock, ts, &value);
	return value;
}

/* @return false if a timestamp has no value: the scalar loop then handles the group. */
static __rte_always_inline bool
stamps(const struct mlxpmd_clock_128 *clock, const struct mlx5_cqe64 *cqe, struct stamps *value, const unsigned int f)
{
	vec64 bad = { 0, 0 };

	value->low = stamps_two(clock, cqe, &bad, f);
	value->high = stamps_two(clock, cqe + 2, &bad, f);
	return (f & MLXPMD_RX_F_STAMP) == MLXPMD_RX_F_TICKS || !any((vec32)bad);
}

static __rte_always_inline void
stamps_store(const struct mlxpmd_rxq *rxq, struct rte_mbuf *const *elt, const struct stamps *value)
{
	const size_t at = rxq->ts_offset;

	*(mlxpmd_u64 *)((uint8_t *)elt[0] + at) = value->low[0];
	*(mlxpmd_u64 *)((uint8_t *)elt[1] + at) = value->low[1];
	*(mlxpmd_u64 *)((uint8_t *)elt[2] + at) = value->high[0];
	*(mlxpmd_u64 *)((uint8_t *)elt[3] + at) = value->high[1];
}

static __rte_always_inline void
copy4(struct rte_mbuf **to, struct rte_mbuf *const *from)
{
	const vec64 low = load64(from), high = load64(from + 2);

	*(vec64 *)to = low;
	*(vec64 *)(to + 2) = high;
}

/* Are all lengths in shortest .. shortest + limit - 1? */
static __rte_always_inline bool
lengths_fit(vec32 lengths, uint32_t shortest, uint32_t limit)
{
	return !any((vec32)(lengths - shortest >= limit));
}

static __rte_always_inline enum mlxpmd_mprq_lengths
lengths_of(vec32 lengths, const struct mlxpmd_rx_run *run)
{
	const uint32_t lines_max = run->from.lines_max, shortest = run->len_base + 1;

	if (lengths_fit(lengths, shortest, run->line))
		return MLXPMD_MPRQ_LINES;
	return lengths_fit(lengths, shortest + lines_max, run->len_max - lines_max) ? MLXPMD_MPRQ_LONG :
										      MLXPMD_MPRQ_MIXED;
}

/* Receives groups of packets from adjacent CQEs; stops at the first group that is incomplete or not ordinary. */
static __rte_always_inline uint16_t
run_groups(struct mlxpmd_rxq *rxq, struct rte_mbuf **pkts, uint16_t n, const unsigned int f)
{
	const struct mlx5_cqe64 *first = &rxq->q.cqes[rxq->q.cq_ci & rxq->q.cqe_mask], *cqe = first;
	const struct mlxpmd_rx_run run = mlxpmd_rx_run_of(rxq, f);
	struct rte_mbuf *const *elt = run.elt;
	struct rte_mbuf **pkt, **const end = pkts + (n & -GROUP);
	const uint32_t step = 1u << MLXPMD_TAIL_COUNTER_SHIFT, shortest = run.len_base + 1;
	const vec32 check = all32(rxq->tail_check);
	const vec8 order = fields_order(f);
	const struct image image = image_of(rxq, f);
	const struct mlxpmd_clock_128 clock = (f & MLXPMD_RX_F_STAMP) == MLXPMD_RX_F_TS ?
						      mlxpmd_clock_128(&rxq->snap) :
						      (struct mlxpmd_clock_128){ .shift = 0 };
	vec32 want = all32(mlxpmd_rx_tail_expected(rxq, run.counter, f)) + (vec32){ 0, step, 2 * step, 3 * step };
	vec32 lengths = all32(0);
	vec64 tags = all64(0), flags = tags;
	struct stamps value = { tags, tags };

	for (pkt = pkts; pkt != end; pkt += GROUP, elt += GROUP, cqe += GROUP) {
		vec32 v0, v1, v2, v3, even, odd, length, class;
		vec64 group_tags;

		if (any((tails(cqe, &group_tags) ^ want) & check))
			break;
		/* Order the owner bits before the rest of the CQEs; load-load order is enough. */
		rte_io_rmb();
		v0 = fields(cqe, order);
		v1 = fields(cqe + 1, order);
		v2 = fields(cqe + 2, order);
		v3 = fields(cqe + 3, order);
		even = __builtin_shufflevector(v0, v1, 0, 4, 1, 5);
		odd = __builtin_shufflevector(v2, v3, 0, 4, 1, 5);
		length = (vec32)HIGH64(even, odd);
		if (unlikely(!lengths_fit(length, shortest, run.len_max)))
			break;
		if ((f & MLXPMD_RX_F_STRIDING) && unlikely(!mlxpmd_mprq_wqe_ids_fit(rxq, cqe, GROUP)))
			break;
		if ((f & MLXPMD_RX_F_STAMP) && unlikely(!stamps(&clock, cqe, &value, f)))
			break;
		if (f & MLXPMD_RX_F_STRIDING) {
			elt = mlxpmd_mprq_group_mbufs(rxq, &run, pkt, GROUP);
			if (unlikely(elt == NULL))
				break;
		}
		class = class_offsets((vec32)LOW64(even, odd));
		copy4(pkt, elt);
		flags |= image_store(&image, elt[0], v0, class[0], f);
		flags |= image_store(&image, elt[1], v1, class[1], f);
		flags |= image_store(&image, elt[2], v2, class[2], f);
		flags |= image_store(&image, elt[3], v3, class[3], f);
		if (f & MLXPMD_RX_F_STAMP)
			stamps_store(rxq, elt, &value);
		if (f & MLXPMD_RX_F_STRIDING)
			mlxpmd_mprq_group(rxq, &run, elt, run.counter + (pkt - pkts), GROUP, lengths_of(length, &run));
		else
			mlxpmd_rx_prefetch(elt, GROUP, f);
		mlxpmd_rx_prefetch_cqes(cqe, GROUP);
		tags |= group_tags;
		lengths += length;
		want += GROUP * step;
	}
	{
		const struct mlxpmd_rx_rare rare = { .flags = flags[1], .tags_be = tags[0] | tags[1] };
		const uint16_t got = pkt - pkts;

		mlxpmd_rx_run_account(rxq, pkts, got, sum32(lengths), &rare, first, f);
		return got;
	}
}

/* @return Number of packets; 0 also if the run is not suitable for groups. */
static __rte_always_inline uint16_t
run_groups_if(struct mlxpmd_rxq *rxq, struct rte_mbuf **pkts, uint16_t n, bool ts_usable, const unsigned int f)
{
	if (unlikely((f & MLXPMD_RX_F_STAMP) && !ts_usable))
		return 0;
	if (unlikely((f & MLXPMD_RX_F_STAMP) == MLXPMD_RX_F_TS && !mlxpmd_clock_128_fits(&rxq->snap)))
		return 0;
	return likely(mlxpmd_rx_group_likely(rxq, n, GROUP, f)) ? run_groups(rxq, pkts, n, f) : 0;
}

/* Writes whole WQEs, one per store. */
static __rte_always_inline void
post2(struct rte_mbuf **elt, vec64 *wqe, struct rte_mbuf *const *from, vec64 head, vec64 offset)
{
	const vec64 mbufs = load64(from), addr = swap64(mbufs + offset);

	*(vec64 *)elt = mbufs;
	wqe[0] = LOW64(head, addr);
	wqe[1] = HIGH64(head, addr);
}

static __rte_always_inline void
post(struct mlxpmd_rxq *rxq, uint32_t at, uint16_t k, struct rte_mbuf *const *from)
{
	const vec64 head = all64(mlxpmd_rx_wqe_head(rxq)), offset = all64(mlxpmd_rx_buffer_offset(rxq));
	struct rte_mbuf **elt = &rxq->q.elts[at], **const end = elt + (k & -GROUP);
	vec64 *wqe = (vec64 *)mlxpmd_rx_dseg(rxq, at);

	for (; elt != end; elt += GROUP, from += GROUP, wqe += GROUP) {
		post2(elt, wqe, from, head, offset);
		post2(elt + 2, wqe + 2, from + 2, head, offset);
	}
	mlxpmd_rx_post_scalar(rxq, at + (k & -GROUP), k % GROUP, from);
}

/* ---- compressed completions ---- */

struct mini_image {
	vec64 base[2];		/* Fields that the mbufs of a session have in common. */
	vec32 limit, sum;	/* Largest length; sum of the lengths. */
	vec8 minis[4];		/* Array that was loaded last, */
	vec32 lengths[2];	/* and its lengths. */
	uint32_t absent;	/* Lengths in the sum that are 1 in place of a mini CQE. */
};

static __rte_always_inline struct mini_image
mini_image_of(const struct mlxpmd_mini_base *base, uint32_t limit)
{
	return (struct mini_image){
		.base = { { base->rearm_data, base->ol_flags },
			  { mlxpmd_mini_base_type(base), mlxpmd_mini_base_vlan(base) } },
		.limit = all32(limit),
		.sum = all32(0),
	};
}

/* Two mini CQEs to the fields of two mbufs. */
static __rte_always_inline void
mini_store2(const struct mini_image *image, vec8 v, struct rte_mbuf *const *elt, const unsigned int f)
{
	const uint8_t none = 0xff, h = (f & MLXPMD_RX_F_HASH) ? 0 : none, s = (f & MLXPMD_RX_F_STRIDING) ? none : 0;
	const vec8 first = { none, none, none, none, 7, 6, 5 | s, 4 | s, 7, 6, none, none, 3 | h, 2 | h, 1 | h, 0 | h };
	const vec8 second = { none, none, none, none, 15, 14, 13 | s, 12 | s, 15, 14, none, none,
			      11 | h, 10 | h, 9 | h, 8 | h };

	image_at(elt[0])[0] = image->base[0];
	image_at(elt[0])[1] = (vec64)bytes(v, first) | image->base[1];
	image_at(elt[1])[0] = image->base[0];
	image_at(elt[1])[1] = (vec64)bytes(v, second) | image->base[1];
}

/* Is a length of the array not in least .. least + limit - 1? */
static __rte_always_inline bool
mini_beyond(const struct mini_image *image, uint32_t least, vec32 limit)
{
	return any((vec32)(image->lengths[0] - least >= limit) | (vec32)(image->lengths[1] - least >= limit));
}

/* Loads the first n of an array of mini CQEs, others with length 1; false if a length is impossible. */
static __rte_always_inline bool
mini_load(struct mini_image *image, const void *array, uint32_t n, const unsigned int f)
{
	const uint8_t *present = mlxpmd_mini_present + (MLXPMD_MINI_CQES - n) * sizeof(struct prm_mini_cqe8);
	const vec32 one = { 0, RTE_BE32(1), 0, RTE_BE32(1) };
	const uint32_t strides = (f & MLXPMD_RX_F_STRIDING) ? MLXPMD_MPRQ_ONE_STRIDE : 0;
	const vec8 *v = array;
	unsigned int i;

	for (i = 0; i < 4; i++) {
		image->minis[i] = v[i];
		if (n != MLXPMD_MINI_CQES) {
			const vec8 keep = (vec8)load64(present + i * sizeof(vec8));

			image->minis[i] = (image->minis[i] & keep) | ((vec8)one & ~keep);
		}
	}
	image->lengths[0] = swap32(ODD32(image->minis[0], image->minis[1])) - strides;
	image->lengths[1] = swap32(ODD32(image->minis[2], image->minis[3])) - strides;
	return likely(!mini_beyond(image, 1, image->limit));
}

/* Writes the fields of eight mbufs, n of them of packets. */
static __rte_always_inline void
mini_store(struct mini_image *image, struct rte_mbuf *const *elt, uint32_t n, const unsigned int f)
{
	image->absent += MLXPMD_MINI_CQES - n;
	image->sum += image->lengths[0] + image->lengths[1];
	mini_store2(image, image->minis[0], elt, f);
	mini_store2(image, image->minis[1], elt + 2, f);
	mini_store2(image, image->minis[2], elt + 4, f);
	mini_store2(image, image->minis[3], elt + 6, f);
}

/* Of the array that was loaded last. */
static __rte_always_inline enum mlxpmd_mprq_lengths
mini_lengths(const struct mini_image *image, const struct mlxpmd_rx_run *run)
{
	const uint32_t lines_max = run->from.lines_max;

	if (!mini_beyond(image, 1, all32(run->line)))
		return MLXPMD_MPRQ_LINES;
	return mini_beyond(image, lines_max + 1, all32(run->len_max - lines_max)) ? MLXPMD_MPRQ_MIXED :
										    MLXPMD_MPRQ_LONG;
}

static __rte_always_inline uint32_t
mini_bytes(const struct mini_image *image)
{
	return sum32(image->sum) - image->absent;
}

#endif /* MLXPMD_RX_128_H */
