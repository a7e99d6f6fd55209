/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * WQEs with NEON or SSE4.2: four packets at a time, of which a register has addresses, lengths or flags of two.
 */
#ifndef MLXPMD_TX_128_H
#define MLXPMD_TX_128_H

#include "mlxpmd_tx_burst.h"
#include "mlxpmd_vec_128.h"

#define GROUP 4

typedef int64_t signed64 __attribute__((vector_size(16)));

static_assert(offsetof(struct rte_mbuf, buf_addr) == 0 && offsetof(struct rte_mbuf, data_off) == 16 &&
	      offsetof(struct rte_mbuf, nb_segs) == 20 && offsetof(struct rte_mbuf, ol_flags) == 24 &&
	      offsetof(struct rte_mbuf, data_len) == 40, "what load_two() loads");

/* Of two packets. */
struct two {
	vec64 addr, len;
	vec64 rearm;	/* data_off, nb_segs and more. */
	vec64 flags;
};

/* 64 bits of two mbufs. */
static __rte_always_inline vec64
members(struct rte_mbuf **pkts, size_t offset)
{
	return (vec64){ *(const mlxpmd_u64 *)((const uint8_t *)pkts[0] + offset),
			*(const mlxpmd_u64 *)((const uint8_t *)pkts[1] + offset) };
}

static __rte_always_inline struct two
load_two(struct rte_mbuf **pkts)
{
	const vec64 low16 = all64(0xffff), rearm = members(pkts, offsetof(struct rte_mbuf, data_off));

	return (struct two){
		.addr = members(pkts, offsetof(struct rte_mbuf, buf_addr)) + (rearm & low16),
		.len = members(pkts, offsetof(struct rte_mbuf, data_len)) & low16,
		.rearm = rearm,
		.flags = members(pkts, offsetof(struct rte_mbuf, ol_flags)),
	};
}

/* What all packets of a group have to fulfil. */
struct rule {
	/* Least address, and largest distance from it, both with the sign inverted for signed comparison. */
	vec64 first;
	signed64 last;
	vec64 want, care;	/* flags have to be as in `want` where `care` has a bit. */
};

static __rte_always_inline struct rule
rule(const struct tx_run *w, uint64_t want_flags, uint64_t care_flags)
{
	const uint64_t sign = 1ull << 63;

	return (struct rule){
		.first = all64(w->mr.start + sign),
		.last = (signed64)all64((w->mr.size - 1) ^ sign),
		.want = all64(want_flags),
		.care = all64(care_flags),
	};
}

/* Bits where two packets do not fulfil the rule. A byte_count of 0 means 2 GiB. */
static __rte_always_inline vec64
faults(const struct rule *r, const struct two *t, const unsigned int f)
{
	vec64 v = (vec64)((signed64)(t->addr - r->first) > r->last) | (vec64)(t->len == all64(0));

	if (f & MLXPMD_TX_F_MULTI)
		v |= (t->rearm ^ all64(1ull << 32)) & all64(0xffffull << 32);
	if (f & MLXPMD_TX_F_OFFLOAD)
		v |= (t->flags ^ r->want) & r->care;
	return v;
}

static __rte_always_inline bool
is_kept(const struct rule *r, const struct two *a, const struct two *b, const unsigned int f)
{
	return !any((vec32)(faults(r, a, f) | faults(r, b, f)));
}

/* The data segments of two packets. */
struct segments {
	vec64 first, second;
};

static __rte_always_inline struct segments
segments(const struct two *t, uint64_t lkey)
{
	const vec8 be32 = { 255, 255, 1, 0, 255, 255, 255, 255, 255, 255, 9, 8, 255, 255, 255, 255 };
	const vec64 head = (vec64)bytes((vec8)t->len, be32) | all64(lkey), addr = swap64(t->addr);

	return (struct segments){ LOW64(head, addr), HIGH64(head, addr) };
}

static __rte_always_inline void
elts_put(struct rte_mbuf **elt, struct rte_mbuf **pkts)
{
	const vec64 low = *(const vec64 *)pkts, high = *(const vec64 *)(pkts + 2);

	*(vec64 *)elt = low;
	*(vec64 *)(elt + 2) = high;
}

static __rte_always_inline void
mpw_two(vec64 *at, const struct two *t, uint64_t lkey)
{
	const struct segments s = segments(t, lkey);

	at[0] = s.first;
	at[1] = s.second;
}

static __rte_always_inline uint32_t
mpw_groups(struct tx_run *w, struct rte_mbuf **pkts, uint32_t max, const unsigned int f)
{
	const struct rule r = rule(w, w->title, w->alike);
	struct rte_mbuf **const end = pkts + (max & ~(GROUP - 1)), **p;
	struct rte_mbuf **elt = w->elt;
	vec64 *at = (vec64 *)w->at, lens = all64(0);

	if (unlikely(max < GROUP || w->mr.size == 0))
		return 0;
	for (p = pkts; p < end; p += GROUP, elt += GROUP, at += GROUP) {
		const struct two a = load_two(p), b = load_two(p + 2);

		if (unlikely(!is_kept(&r, &a, &b, f)))
			break;
		mpw_two(at, &a, w->mr.lkey);
		mpw_two(at + 2, &b, w->mr.lkey);
		elts_put(elt, p);
		lens += a.len + b.len;
	}
	w->bytes = lens[0] + lens[1];
	return p - pkts;
}

/* First halves of two Ethernet segments: checksum flags by mlxpmd_tx_cs_flags(). */
static __rte_always_inline vec64
eth_segments(vec64 flags)
{
	const vec64 request = (flags >> 52 & 7) << 32;

	/* All other bytes take none. */
	return (vec64)bytes((vec8)all64(mlxpmd_tx_cs_by_request()), (vec8)(request | all64(~(0xffull << 32))));
}

static __rte_always_inline void
send_one(struct tx_run *w, uint32_t i, uint64_t eth, vec64 segment)
{
	const uint32_t index_opcode = w->index_opcode & ~PRM_WQE_CTRL_SEG_OPMOD_IDX_OPCODE_OPC_MOD_MASK;
	const uint64_t ctrl = mlxpmd_be32_pair(rte_cpu_to_be_32(index_opcode), rte_cpu_to_be_32(w->qpn_ds));
	vec64 *at = (vec64 *)(w->at + i * (MLX5_SEND_WQE_BB / sizeof(*w->at)));

	at[0] = (vec64){ ctrl, 0 };
	at[1] = (vec64){ eth, 0 };
	at[2] = segment;
	w->index_opcode += 1u << PRM_WQE_CTRL_SEG_OPMOD_IDX_OPCODE_WQE_INDEX_SHIFT;
}

static __rte_always_inline void
send_two(struct tx_run *w, uint32_t i, const struct two *t)
{
	const struct segments s = segments(t, w->mr.lkey);
	const vec64 eth = eth_segments(t->flags);

	send_one(w, i, eth[0], s.first);
	send_one(w, i + 1, eth[1], s.second);
}

/* Groups of packets of which at least two have other offloads than the one before. */
static __rte_always_inline uint32_t
send_groups(struct tx_run *w, struct rte_mbuf **pkts, uint32_t max, const unsigned int f)
{
	const struct rule r = rule(w, 0, RTE_MBUF_F_TX_VLAN | (w->alike & ~MLXPMD_TX_TITLE_FLAGS));
	vec64 lens = all64(0);
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
		lens += a.len + b.len;
	}
	w->bytes = lens[0] + lens[1];
	return i;
}

#endif /* MLXPMD_TX_128_H */
