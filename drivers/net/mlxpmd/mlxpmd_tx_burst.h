/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * Transmit bursts: one inline body, made into one function per instruction set and set of features.
 */
#ifndef MLXPMD_TX_BURST_H
#define MLXPMD_TX_BURST_H

#include <rte_common.h>

#include "mlxpmd.h"
#include "mlxpmd_tx.h"
#include "mlxpmd_tx_copy.h"

/* The last used memory region, in registers. */
struct mr_local {
	uintptr_t start, size;
	uint64_t lkey; /* In the position of the second dword of a data segment. */
};

static __rte_always_inline struct mr_local
mr_local(const struct mlxpmd_txq *txq)
{
	return (struct mr_local) {
		.start = txq->mr_last.start,
		.size = txq->mr_last.end - txq->mr_last.start,
		.lkey = mlxpmd_be32_pair(0, txq->mr_last.lkey_be),
	};
}

/* Sets mr to the memory region of addr. Returns false if there is none. */
static __rte_always_inline bool
mr_follow(struct mlxpmd_txq *txq, const struct rte_mbuf *m, uintptr_t addr, struct mr_local *mr)
{
	if (likely(addr - mr->start < mr->size))
		return true;
	if (!mlxpmd_tx_mr_lookup(txq, m, addr))
		return false;
	*mr = mr_local(txq);
	return true;
}

/* Most packets of a multi-packet WQE here: it must not wrap in either ring. */
static __rte_always_inline uint32_t
mpw_max(const struct mlxpmd_txq *txq, uint32_t n)
{
	uint32_t to_end = txq->q.wqe_mask + 1 - (txq->q.pi & txq->q.wqe_mask);
	uint32_t wqebbs = RTE_MIN(to_end, (uint32_t)mlxpmd_tx_free_wqebbs(txq));
	uint32_t ds = RTE_MIN(wqebbs * MLXPMD_WQEBB_DS, (uint32_t)txq->max_ds);
	uint32_t elts = txq->elts_mask + 1 - (txq->elts_pi & txq->elts_mask);
	uint32_t most = RTE_MIN(ds - MLXPMD_TITLE_DS, elts);

	return RTE_MIN(most, n);
}

/* ol_flags of packets that mlxpmd_tx_send_timed() sends. */
static __rte_always_inline uint64_t
timed_flags(const struct mlxpmd_txq *txq, const unsigned int f)
{
	return (f & MLXPMD_TX_F_TIMED) ? RTE_MBUF_F_TX_IEEE1588_TMST | txq->time_flag : 0;
}

static __rte_always_inline uint64_t
meta_flags(const struct mlxpmd_txq *txq, const unsigned int f)
{
	return (f & MLXPMD_TX_F_META) ? txq->meta_flag : 0;
}

/* ol_flags of packets that send_put() does not send. */
static __rte_always_inline uint64_t
special_flags(const struct mlxpmd_txq *txq, const unsigned int f)
{
	return timed_flags(txq, f) | ((f & MLXPMD_TX_F_TSO) ? RTE_MBUF_F_TX_TCP_SEG | MLXPMD_TX_TUNNEL_FLAGS : 0);
}

/* ol_flags that packets of one multi-packet WQE have in common. */
static __rte_always_inline uint64_t
alike_flags(const struct mlxpmd_txq *txq, const unsigned int f)
{
	return MLXPMD_TX_TITLE_FLAGS | special_flags(txq, f) | meta_flags(txq, f);
}

/* WQEs of single-segment packets while they are written. */
struct tx_run {
	/* First data segment of a multi-packet WQE, which is in the middle of a cache line; or first SEND WQE. */
	mlxpmd_u64 *at;
	struct rte_mbuf **elt;
	struct mr_local mr;
	uint64_t alike, title;	/* Multi-packet WQE: (ol_flags & alike) == title for all packets. */
	uint64_t bytes;
	/* First two dwords of the next SEND WQE with one data segment. The index may have a carry. */
	uint32_t index_opcode, qpn_ds;
};

/*
 * Writes packets from the first on, as many as are whole groups of which all packets can be in w->mr. Returns their
 * number. As data segments of a multi-packet WQE, as mpw_put() does; or as SEND WQEs, as send_put() does.
 */
typedef uint32_t (*tx_groups_t)(struct tx_run *w, struct rte_mbuf **pkts, uint32_t max, const unsigned int f);
/* What an instruction set does by groups. */
struct tx_isa {
	tx_groups_t mpw, sends;
};

static __rte_always_inline struct tx_run
tx_run(const struct mlxpmd_txq *txq, struct rte_mbuf **pkts, const unsigned int f)
{
	const uint64_t alike = alike_flags(txq, f);

	return (struct tx_run) {
		.at = mlxpmd_tx_wqebb(txq, txq->q.pi),
		.elt = &txq->q.elts[txq->elts_pi & txq->elts_mask],
		.mr = mr_local(txq),
		.alike = alike,
		.title = pkts[0]->ol_flags & alike,
		.index_opcode = (uint32_t)txq->q.pi << PRM_WQE_CTRL_SEG_OPMOD_IDX_OPCODE_WQE_INDEX_SHIFT |
				MLX5_OPCODE_SEND,
		.qpn_ds = txq->sqn << PRM_WQE_CTRL_SEG_QPN_DS_QPN_SHIFT | (MLXPMD_TITLE_DS + 1),
	};
}

/* Of a group of four, do the second and the third packet have other offloads than the one before? */
static __rte_always_inline bool
tx_alternates(const struct tx_run *w, struct rte_mbuf **pkts)
{
	return ((pkts[0]->ol_flags ^ pkts[1]->ol_flags) & w->alike) != 0 &&
	       ((pkts[1]->ol_flags ^ pkts[2]->ol_flags) & w->alike) != 0;
}

/* Writes the data segment of the i-th packet. Returns false if it has several segments, or cannot be sent. */
static __rte_always_inline bool
seg_put(struct mlxpmd_txq *txq, struct tx_run *w, mlxpmd_u64 *dseg, uint32_t i, struct rte_mbuf *m,
	const unsigned int f)
{
	const uintptr_t addr = (uintptr_t)m->buf_addr + m->data_off;
	const uint32_t len = m->data_len;

	if ((f & MLXPMD_TX_F_MULTI) && unlikely(m->nb_segs != 1))
		return false;
	if (!mr_follow(txq, m, addr, &w->mr))
		return false;
	/* A byte_count of 0 means 2 GiB. */
	if (unlikely(len == 0))
		return false;
	dseg[0] = w->mr.lkey | mlxpmd_be32_pair(rte_cpu_to_be_32(len), 0);
	dseg[1] = rte_cpu_to_be_64(addr);
	w->elt[i] = m;
	w->bytes += len;
	return true;
}

/* Data segment in a multi-packet WQE. Returns false if the packet cannot be in the WQE. */
static __rte_always_inline bool
mpw_put(struct mlxpmd_txq *txq, struct tx_run *w, uint32_t i, struct rte_mbuf *m, const unsigned int f)
{
	if ((f & MLXPMD_TX_F_OFFLOAD) && (m->ol_flags & w->alike) != w->title)
		return false;
	return seg_put(txq, w, w->at + 2 * i, i, m, f);
}

/* Writes the title of the multi-packet WQE at pi, of ds 16-byte units. */
static __rte_always_inline void
mpw_title(const struct mlxpmd_txq *txq, const struct tx_run *w, mlxpmd_u64 *wqe, uint16_t pi, uint32_t ds,
	  const unsigned int f)
{
	wqe[0] = mlxpmd_tx_ctrl(txq, pi, PRM_WQE_OPCODE_ENHANCED_MPSW, ds);
	wqe[1] = 0;
	if (f & MLXPMD_TX_F_TSO)
		wqe[2] = mlxpmd_tx_eth_first(mlxpmd_tx_cs_flags_tso(w->title));
	else
		wqe[2] = (f & MLXPMD_TX_F_OFFLOAD) ? mlxpmd_tx_eth_first(mlxpmd_tx_cs_flags(w->title)) : 0;
	wqe[3] = 0;
}

/*
 * Writes a multi-packet WQE for packets with the same offloads. There is space for at least one packet.
 * Returns the number of packets, MLXPMD_TX_REFUSED if the first cannot be sent.
 */
static __rte_always_inline int
send_mpw(struct mlxpmd_txq *txq, struct rte_mbuf **pkts, uint16_t n, tx_groups_t groups, const unsigned int f)
{
	const uint32_t max = mpw_max(txq, n);
	struct tx_run w = tx_run(txq, pkts, f);
	mlxpmd_u64 *wqe = w.at;
	uint32_t i;

	w.at += MLXPMD_TITLE_DS * MLXPMD_DS_BYTES / sizeof(*wqe);
	i = groups(&w, pkts, max, f);
	while (i < max && mpw_put(txq, &w, i, pkts[i], f))
		i++;
	if (unlikely(i == 0))
		return MLXPMD_TX_REFUSED;
	mpw_title(txq, &w, wqe, txq->q.pi, MLXPMD_TITLE_DS + i, f);
	MLXPMD_SHARED_ADD(txq->q.stats.bytes, w.bytes);
	mlxpmd_tx_post(txq, MLXPMD_TITLE_DS + i, i, (f & MLXPMD_TX_F_TIMED) != 0);
	return i;
}

/* Can the packet be in one multi-packet WQE with the first? */
static __rte_always_inline bool
is_alike(const struct tx_run *w, const struct rte_mbuf *m, const unsigned int f)
{
	return !((f & MLXPMD_TX_F_OFFLOAD) && (m->ol_flags & w->alike) != w->title) &&
	       !((f & MLXPMD_TX_F_MULTI) && m->nb_segs != 1);
}

/* Packets of multi-packet WQEs that contain short ones, while they are written. */
struct copy_run {
	uint8_t *at, *end;	/* Next data segment; end of the WQE. */
	uint32_t longest;	/* Most bytes of a packet that is copied. */
	uint64_t shorts, longs;	/* Number of lengths from 32 on, and from 65 on, that are copied at once. */
	uint32_t in_elts, elts;	/* Packets sent from their buffers, and most of them. */
	struct rte_mbuf **from;	/* First of the last packets that were copied. */
	const struct rte_mempool *pool;
	bool plain;		/* All copied packets are as tx_is_plain(). */
};

static __rte_always_inline struct copy_run
copy_run(const struct mlxpmd_txq *txq, const struct tx_copied *c, struct rte_mbuf **pkts)
{
	const uint32_t longest = txq->inline_mpw;

	return (struct copy_run) {
		.longest = longest,
		.shorts = longest < 32 ? 0 : RTE_MIN(longest, 64u) - 31,
		.longs = longest < 65 ? 0 : RTE_MIN(longest, 128u) - 64,
		.elts = txq->elts_mask + 1 - (txq->elts_pi & txq->elts_mask),
		.from = pkts,
		.pool = c->pool,
		.plain = c->plain,
	};
}

/* Copies packets from the first on, as long as they are short enough, alike, and fit. Returns the first that is not. */
static __rte_always_inline struct rte_mbuf **
copies_put(struct copy_run *c, struct tx_run *w, struct rte_mbuf **pkts, struct rte_mbuf **end, const unsigned int f)
{
	const uint8_t *last_short = c->end - mlxpmd_tx_copy_bytes(64);
	uint8_t *at = c->at;
	uint64_t bytes = 0, len;
	struct rte_mbuf *m;
	bool plain;

	for (; pkts != end; pkts++, bytes += len, at += mlxpmd_tx_copy_bytes(len)) {
		m = *pkts;
		len = m->data_len;
		rte_prefetch0(at + TX_COPY_AHEAD);
		plain = (f & MLXPMD_TX_F_FAST_FREE) ? is_alike(w, m, f) : tx_is_plain(m, c->pool, w->alike, w->title);
		if (likely(plain && len - 32 < c->shorts && at <= last_short)) {
			tx_copy_short(at, rte_pktmbuf_mtod(m, const uint8_t *), len);
		} else if (likely(plain && len - 65 < c->longs && at + 64 <= last_short)) {
			tx_copy_long(at, rte_pktmbuf_mtod(m, const uint8_t *), len);
		} else if (is_alike(w, m, f) && len - 1 < c->longest && at + mlxpmd_tx_copy_bytes(len) <= c->end) {
			tx_copy(at, rte_pktmbuf_mtod(m, const uint8_t *), len);
			c->plain &= plain;
		} else {
			break;
		}
	}
	c->at = at;
	w->bytes += bytes;
	return pkts;
}

/*
 * Fills one WQE with packets, those longer than r->longest from their buffers. Returns the first packet that is not in
 * the WQE.
 */
static __rte_always_inline struct rte_mbuf **
mpw_copy_fill(struct mlxpmd_txq *txq, struct copy_run *r, struct tx_run *w, struct rte_mbuf **pkt,
	      struct rte_mbuf **end, struct tx_copied *c, const unsigned int f)
{
	for (;; pkt++, r->in_elts++, r->at += MLXPMD_DS_BYTES) {
		pkt = copies_put(r, w, pkt, end, f);
		if (likely(pkt == end) || (uint32_t)pkt[0]->data_len - 1 < r->longest || r->at == r->end ||
		    r->in_elts == r->elts || !is_alike(w, pkt[0], f) ||
		    !seg_put(txq, w, (mlxpmd_u64 *)r->at, r->in_elts, pkt[0], f))
			return pkt;
		tx_copied_add(c, r->from, pkt, (f & MLXPMD_TX_F_FAST_FREE) != 0);
		r->from = pkt + 1;
	}
}

/*
 * Writes multi-packet WQEs that contain packets of up to inline_mpw bytes; longer ones are sent from their buffers.
 * Only the last one needs a test of the thresholds. Near the ring's end one WQE is written into a buffer and copied
 * from there: it may wrap. Adds the packets that are copied to c. Returns as send_mpw(), or MLXPMD_TX_RING_FULL.
 */
static __rte_always_inline int
send_mpw_copy(struct mlxpmd_txq *txq, struct rte_mbuf **pkts, uint16_t n, struct tx_copied *c, const unsigned int f)
{
	const uint32_t most = txq->max_ds * (uint32_t)MLXPMD_DS_BYTES;
	const uint32_t full = (txq->max_ds + MLXPMD_WQEBB_DS - 1u) / MLXPMD_WQEBB_DS;
	uint32_t to_end = txq->q.wqe_mask + 1 - (txq->q.pi & txq->q.wqe_mask);
	uint32_t room = mlxpmd_tx_free_wqebbs(txq), ds = 0, least, wqebbs = 0;
	const bool wraps = to_end < RTE_MIN(room, full);
	mlxpmd_u64 buf[MLXPMD_TX_DS_MAX * MLXPMD_DS_BYTES / sizeof(mlxpmd_u64)];
	struct rte_mbuf **pkt = pkts, **end = pkts + n, **first;
	struct copy_run r = copy_run(txq, c, pkts);
	uint16_t pi = txq->q.pi;
	struct tx_run w;
	mlxpmd_u64 *wqe;

	if (unlikely(room < tx_copy_wqebbs(txq->inline_mpw)))
		return MLXPMD_TX_RING_FULL;
	room = RTE_MIN(room, unlikely(wraps) ? full : to_end);
	w = tx_run(txq, pkts, f);
	wqe = unlikely(wraps) ? buf : w.at;
	least = RTE_MAX(full, room - RTE_MIN(room, (uint32_t)txq->q.wqe_mask / 4));
	do {
		r.at = (uint8_t *)wqe + MLXPMD_TITLE_DS * MLXPMD_DS_BYTES;
		r.end = (uint8_t *)wqe + RTE_MIN(room * MLX5_SEND_WQE_BB, most);
		first = pkt;
		pkt = mpw_copy_fill(txq, &r, &w, pkt, end, c, f);
		if (unlikely(pkt == first))
			break;
		pi += wqebbs;
		ds = (r.at - (uint8_t *)wqe) / MLXPMD_DS_BYTES;
		mpw_title(txq, &w, wqe, pi, ds, f);
		wqebbs = (ds + MLXPMD_WQEBB_DS - 1) / MLXPMD_WQEBB_DS;
		room -= wqebbs;
		wqe += wqebbs * (MLX5_SEND_WQE_BB / sizeof(*wqe));
		/* Was the WQE too short for the next packet? */
	} while (pkt != end && room >= least && (uint32_t)pkt[0]->data_len - 1 < r.longest && is_alike(&w, pkt[0], f));
	if (unlikely(pkt == pkts))
		return MLXPMD_TX_REFUSED;
	tx_copied_add(c, r.from, pkt, (f & MLXPMD_TX_F_FAST_FREE) != 0);
	c->plain = r.plain;
	if (unlikely(wraps))
		mlxpmd_tx_wqe_copy(txq, buf, ds);
	MLXPMD_SHARED_ADD(txq->q.stats.bytes, w.bytes);
	txq->q.pi = pi;
	mlxpmd_tx_post(txq, ds, r.in_elts, true);
	return pkt - pkts;
}

/* Most SEND WQEs of one WQEBB before a ring wraps. */
static __rte_always_inline uint32_t
send_max(const struct mlxpmd_txq *txq, uint32_t n)
{
	uint32_t to_end = txq->q.wqe_mask + 1 - (txq->q.pi & txq->q.wqe_mask);
	uint32_t wqebbs = RTE_MIN(to_end, (uint32_t)mlxpmd_tx_free_wqebbs(txq));
	uint32_t elts = txq->elts_mask + 1 - (txq->elts_pi & txq->elts_mask);
	uint32_t most = RTE_MIN(elts, n);

	return RTE_MIN(wqebbs, most);
}

/*
 * Is a SEND WQE of its own as short as a multi-packet WQE that ends after the first packet, or necessary? VLAN tags and
 * metadata are in SEND WQEs only.
 */
static __rte_always_inline bool
is_lone(const struct mlxpmd_txq *txq, struct rte_mbuf **pkts, uint32_t n, const unsigned int f)
{
	const uint64_t alike = alike_flags(txq, f);

	return (f & MLXPMD_TX_F_OFFLOAD) &&
	       ((pkts[0]->ol_flags & (RTE_MBUF_F_TX_VLAN | meta_flags(txq, f))) || n == 1 ||
		((pkts[0]->ol_flags ^ pkts[1]->ol_flags) & alike) != 0);
}

/* Is the packet to be segmented, or in a tunnel and not for a multi-packet WQE? */
static __rte_always_inline bool
wants_tso(const struct mlxpmd_txq *txq, struct rte_mbuf **pkts, uint32_t n, const unsigned int f)
{
	const struct rte_mbuf *m = pkts[0];

	if (likely(!(m->ol_flags & (RTE_MBUF_F_TX_TCP_SEG | MLXPMD_TX_TUNNEL_FLAGS))))
		return false;
	return (m->ol_flags & RTE_MBUF_F_TX_TCP_SEG) || m->nb_segs != 1 || !(f & MLXPMD_TX_F_MPW) ||
	       (mlxpmd_tx_tunnel(m->ol_flags) & txq->swp_tunnels) || is_lone(txq, pkts, n, f);
}

/* SEND WQE of one WQEBB. Returns false if the packet needs another kind of WQE, or cannot be sent. */
static __rte_always_inline bool
send_put(struct mlxpmd_txq *txq, struct tx_run *w, uint32_t i, struct rte_mbuf *m, const unsigned int f)
{
	const uint32_t index_opcode = w->index_opcode & ~PRM_WQE_CTRL_SEG_OPMOD_IDX_OPCODE_OPC_MOD_MASK;
	mlxpmd_u64 *wqe = w->at + i * (MLX5_SEND_WQE_BB / sizeof(*wqe));
	uint64_t last = 0;

	if ((f & (MLXPMD_TX_F_TIMED | MLXPMD_TX_F_TSO)) && unlikely(m->ol_flags & special_flags(txq, f)))
		return false;
	if (!seg_put(txq, w, wqe + 4, i, m, f))
		return false;
	if ((f & MLXPMD_TX_F_OFFLOAD) && (m->ol_flags & RTE_MBUF_F_TX_VLAN))
		last = mlxpmd_tx_eth_vlan(m);
	if (f & MLXPMD_TX_F_META)
		last |= mlxpmd_tx_eth_metadata(txq, m);
	wqe[0] = mlxpmd_be32_pair(rte_cpu_to_be_32(index_opcode), rte_cpu_to_be_32(w->qpn_ds));
	wqe[1] = 0;
	wqe[2] = (f & MLXPMD_TX_F_OFFLOAD) ? mlxpmd_tx_eth_first(mlxpmd_tx_cs_flags(m->ol_flags)) : 0;
	wqe[3] = last;
	w->index_opcode += 1u << PRM_WQE_CTRL_SEG_OPMOD_IDX_OPCODE_WQE_INDEX_SHIFT;
	return true;
}

/*
 * Writes SEND WQEs of one WQEBB each for single-segment packets. There is space for at least one. Returns the number
 * of packets, MLXPMD_TX_REFUSED if the first cannot be sent.
 */
static __rte_always_inline int
send_run(struct mlxpmd_txq *txq, struct rte_mbuf **pkts, uint16_t n, tx_groups_t groups, const unsigned int f)
{
	const uint32_t max = send_max(txq, RTE_MIN(n, txq->rs_thresh));
	struct tx_run w = tx_run(txq, pkts, f);
	uint32_t i = groups(&w, pkts, max, f);

	/* Next to multi-packet WQEs, only packets are sent here that gain nothing by one. */
	while (i < max && (!(f & MLXPMD_TX_F_MPW) || is_lone(txq, pkts + i, n - i, f)) &&
	       send_put(txq, &w, i, pkts[i], f))
		i++;
	if (unlikely(i == 0))
		return MLXPMD_TX_REFUSED;
	MLXPMD_SHARED_ADD(txq->q.stats.bytes, w.bytes);
	/* A run is not longer than the thresholds: test them for the last WQE only. */
	txq->q.pi += i - 1;
	txq->elts_pi += i - 1;
	mlxpmd_tx_post(txq, MLXPMD_TITLE_DS + 1, 1, (f & MLXPMD_TX_F_MULTI) != 0);
	return i;
}

/* Has a packet metadata, and nothing that a SEND WQE of one WQEBB is too little for? */
static __rte_always_inline bool
is_meta_only(const struct mlxpmd_txq *txq, const struct rte_mbuf *m, const unsigned int f)
{
	return !(f & (MLXPMD_TX_F_COPY | MLXPMD_TX_F_INLINE)) && m->nb_segs == 1 &&
	       (m->ol_flags & special_flags(txq, f)) == 0;
}

/* Writes the next WQE, of the kind that the next packet needs. There is space for one WQEBB and one packet. */
static __rte_always_inline int
send_next(struct mlxpmd_txq *txq, struct rte_mbuf **pkts, uint16_t n, struct tx_isa isa, struct tx_copied *c,
	  const unsigned int f)
{
	struct rte_mbuf *m = pkts[0];

	if ((f & MLXPMD_TX_F_META) && (m->ol_flags & txq->meta_flag))
		return is_meta_only(txq, m, f) ? send_run(txq, pkts, n, isa.sends, f) : mlxpmd_tx_send_meta(txq, m);
	if ((f & MLXPMD_TX_F_TIMED) && unlikely(m->ol_flags & timed_flags(txq, f)))
		return mlxpmd_tx_send_timed(txq, m);
	if ((f & MLXPMD_TX_F_TSO) && wants_tso(txq, pkts, n, f))
		return mlxpmd_tx_send_tso(txq, pkts, (f & MLXPMD_TX_F_TIMED) ? 1 : n);
	if (f & MLXPMD_TX_F_COPY) {
		if ((f & MLXPMD_TX_F_MPW) && !((f & MLXPMD_TX_F_MULTI) && m->nb_segs != 1) &&
		    !((f & MLXPMD_TX_F_OFFLOAD) && (m->ol_flags & RTE_MBUF_F_TX_VLAN)))
			return send_mpw_copy(txq, pkts, n, c, f);
		n = 1;
	}
	if ((f & (MLXPMD_TX_F_COPY | MLXPMD_TX_F_INLINE)) && m->pkt_len - 1 < txq->inline_send)
		return mlxpmd_tx_send_copy(txq, m);
	if ((f & MLXPMD_TX_F_INLINE) || ((f & MLXPMD_TX_F_MULTI) && m->nb_segs != 1))
		return mlxpmd_tx_send_any(txq, m);
	if ((f & MLXPMD_TX_F_MPW) && !is_lone(txq, pkts, n, f))
		return send_mpw(txq, pkts, n, isa.mpw, f);
	return send_run(txq, pkts, n, isa.sends, f);
}

static __rte_always_inline uint16_t
tx_burst(struct mlxpmd_txq *txq, struct rte_mbuf **pkts, uint16_t n, struct tx_isa isa, const unsigned int f)
{
	const bool fast = (f & MLXPMD_TX_F_FAST_FREE) != 0;
	const uint32_t generation = mdv_mr_generation(txq->mdv);
	uint16_t elts_pi, done = 0, dropped = 0, sent;
	struct tx_copied copied;
	int rc;

	if (likely(mlxpmd_qstate_load(&txq->q.state) == MLXPMD_QS_READY))
		mlxpmd_tx_reap(txq, MLXPMD_TX_REAP_MAX, fast, (f & MLXPMD_TX_F_TIMED) != 0);
	if (unlikely(mlxpmd_qstate_load(&txq->q.state) != MLXPMD_QS_READY))
		return mlxpmd_tx_refuse(txq, n);
	if (unlikely(generation != txq->mr_generation)) {
		txq->mr_generation = generation;
		txq->mr_last = (struct mdv_mr_range) { 0 };
	}
	elts_pi = txq->elts_pi;
	copied.first = NULL;
	copied.run = 0;
	copied.n = 0;
	copied.plain = true;
	copied.pool = (f & MLXPMD_TX_F_COPY) && n != 0 ? pkts[0]->pool : NULL;
	while (done < n) {
		uint16_t elts = txq->elts_mask + 1 - (uint16_t)(txq->elts_pi - txq->elts_ci);

		if (unlikely(elts == 0 || mlxpmd_tx_free_wqebbs(txq) == 0)) {
			MLXPMD_SHARED_ADD(txq->q.stats.refused, n - done);
			break;
		}
		rc = send_next(txq, pkts + done, RTE_MIN(elts, (uint16_t)(n - done)), isa, &copied, f);
		if (likely(rc > 0)) {
			done += rc;
			continue;
		}
		if (rc == MLXPMD_TX_RING_FULL) {
			MLXPMD_SHARED_ADD(txq->q.stats.refused, n - done);
			break;
		}
		mlxpmd_tx_drop(txq, pkts[done++]);
		dropped++;
	}
	sent = (f & (MLXPMD_TX_F_COPY | MLXPMD_TX_F_INLINE)) ? done - dropped : txq->elts_pi - elts_pi;
	if (likely(sent != 0)) {
		MLXPMD_SHARED_ADD(txq->q.stats.packets, sent);
		mlxpmd_tx_doorbell(txq);
		if (f & MLXPMD_TX_F_COPY)
			tx_copied_free(&copied, fast);
	} else if (unlikely(done != n)) {
		mlxpmd_tx_full(txq);
	}
	return done;
}

#define MPW MLXPMD_TX_F_MPW
#define OFFLOAD MLXPMD_TX_F_OFFLOAD
#define MULTI MLXPMD_TX_F_MULTI
#define FAST MLXPMD_TX_F_FAST_FREE
#define INLINE MLXPMD_TX_F_INLINE
#define TIMED MLXPMD_TX_F_TIMED
#define TSO MLXPMD_TX_F_TSO
#define COPY MLXPMD_TX_F_COPY
#define META MLXPMD_TX_F_META
/*
 * Sets of features: name of the function, index in the table, features that the set implies, and name of the burst
 * mode. arg is passed on to x.
 */
#define MPW_SETS(x, arg) \
	x(mpw, arg, MPW, 0, " MPW") \
	x(mpw_offload, arg, MPW | OFFLOAD, 0, " MPW Offload") \
	x(mpw_multi, arg, MPW | MULTI, 0, " MPW Multi-segment") \
	x(mpw_multi_offload, arg, MPW | MULTI | OFFLOAD, 0, " MPW Multi-segment Offload") \
	x(mpw_fast, arg, MPW | FAST, 0, " MPW Fast-free") \
	x(mpw_offload_fast, arg, MPW | OFFLOAD | FAST, 0, " MPW Offload Fast-free") \
	x(mpw_tso, arg, MPW | TSO, MULTI | OFFLOAD, " MPW TSO Multi-segment Offload") \
	x(mpw_timed, arg, MPW | TIMED, MULTI | OFFLOAD | TSO, " MPW Timed TSO Multi-segment Offload") \
	x(mpw_copy, arg, MPW | COPY, MULTI | OFFLOAD | TSO, " MPW Inline-data TSO Multi-segment Offload") \
	x(mpw_copy_fast, arg, MPW | COPY | FAST, 0, " MPW Inline-data Fast-free") \
	x(mpw_copy_offload_fast, arg, MPW | COPY | OFFLOAD | FAST, 0, " MPW Inline-data Offload Fast-free") \
	x(mpw_copy_timed, arg, MPW | COPY | TIMED, MULTI | OFFLOAD | TSO, " MPW Inline-data Timed TSO Multi-segment Offload") \
	x(mpw_meta, arg, MPW | META, MULTI | OFFLOAD | TSO | TIMED, " MPW Metadata Timed TSO Multi-segment Offload") \
	x(mpw_copy_meta, arg, MPW | COPY | META, MULTI | OFFLOAD | TSO | TIMED, \
	  " MPW Inline-data Metadata Timed TSO Multi-segment Offload")
#define SEND_SETS(x, arg) \
	x(plain, arg, 0, 0, "") \
	x(offload, arg, OFFLOAD, 0, " Offload") \
	x(multi, arg, MULTI, 0, " Multi-segment") \
	x(multi_offload, arg, MULTI | OFFLOAD, 0, " Multi-segment Offload") \
	x(fast, arg, FAST, 0, " Fast-free") \
	x(offload_fast, arg, OFFLOAD | FAST, 0, " Offload Fast-free") \
	x(inline, arg, INLINE, MULTI | OFFLOAD, " Inline Multi-segment Offload") \
	x(tso, arg, TSO, MULTI | OFFLOAD, " TSO Multi-segment Offload") \
	x(inline_tso, arg, INLINE | TSO, MULTI | OFFLOAD, " Inline TSO Multi-segment Offload") \
	x(timed, arg, TIMED, MULTI | OFFLOAD | TSO, " Timed TSO Multi-segment Offload") \
	x(copy, arg, COPY, MULTI | OFFLOAD | TSO, " Inline-data TSO Multi-segment Offload") \
	x(copy_timed, arg, COPY | TIMED, MULTI | OFFLOAD | TSO, " Inline-data Timed TSO Multi-segment Offload") \
	x(inline_timed, arg, INLINE | TIMED, MULTI | OFFLOAD | TSO, " Inline Timed TSO Multi-segment Offload") \
	x(meta, arg, META, MULTI | OFFLOAD | TSO | TIMED, " Metadata Timed TSO Multi-segment Offload") \
	x(copy_meta, arg, COPY | META, MULTI | OFFLOAD | TSO | TIMED, \
	  " Inline-data Metadata Timed TSO Multi-segment Offload") \
	x(inline_meta, arg, INLINE | META, MULTI | OFFLOAD | TSO | TIMED, " Inline Metadata Timed TSO Multi-segment Offload")
#define TX_BURST(name, isa, features, implied, text) \
	static uint16_t \
	tx_burst_##name(void *txq, struct rte_mbuf **pkts, uint16_t n) \
	{ \
		return tx_burst(txq, pkts, n, isa, (features) | (implied)); \
	}
#define TX_ROW(name, isa_name, features, implied, text) [features] = { tx_burst_##name, isa_name text },

#endif /* MLXPMD_TX_BURST_H */
