/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Transmit, off the fast path: WQEs of any shape, memory keys, error completions, ring status. */

#include <string.h>

#include <ethdev_driver.h>
#include <rte_ether.h>

#include "mlxpmd_tx.h"

static const struct mdv_mr_range *
range_in_set(const struct mdv_mr_set *set, uintptr_t addr)
{
	unsigned int i;

	for (i = 0; i < set->n; i++)
		if (addr >= set->range[i].start && addr < set->range[i].end)
			return &set->range[i];
	return NULL;
}

bool
mlxpmd_tx_mr_lookup(struct mlxpmd_txq *txq, const struct rte_mbuf *m, uintptr_t addr)
{
	const struct mdv_mr_range *range = mdv_mr_find(txq->mdv, addr);
	const struct mdv_mr_set *set;

	/* A buffer attached from outside belongs to no mempool: whoever owns it maps it. */
	if (range == NULL && (!RTE_MBUF_HAS_EXTBUF(m) || RTE_MBUF_HAS_PINNED_EXTBUF(m))) {
		if (RTE_MBUF_CLONED(m))
			m = rte_mbuf_from_indirect((struct rte_mbuf *)(uintptr_t)m);
		set = mdv_mr_mempool(txq->mdv, m->pool);
		range = set != NULL ? range_in_set(set, addr) : NULL;
	}
	if (range == NULL)
		return false;
	txq->mr_last = *range;
	return true;
}

/* The i-th 16-byte unit of the WQE at pi, past the ring's end if need be. */
static void *
wqe_ds(const struct mlxpmd_txq *txq, uint32_t i)
{
	size_t ring_bytes = ((size_t)txq->wqe_mask + 1) * MLX5_SEND_WQE_BB;
	size_t at = (size_t)txq->pi * MLX5_SEND_WQE_BB + (size_t)i * MLXPMD_DS_BYTES;

	return txq->wqes + (at & (ring_bytes - 1));
}

/* A walk over a packet's bytes. */
struct cursor {
	const struct rte_mbuf *seg;
	uint32_t offset;
};

/* Copies n bytes, which the packet has. */
static void
cursor_copy(struct cursor *c, uint8_t *to, uint32_t n)
{
	while (n != 0) {
		uint32_t part = RTE_MIN(n, c->seg->data_len - c->offset);

		memcpy(to, rte_pktmbuf_mtod_offset(c->seg, const uint8_t *, c->offset), part);
		to += part;
		n -= part;
		c->offset += part;
		if (c->offset == c->seg->data_len) {
			c->seg = c->seg->next;
			c->offset = 0;
		}
	}
}

/*
 * The header that the WQE carries, with a tag put in where one is asked for.
 * Returns its length, 0 when the packet is too short for a tag.
 */
static uint32_t
inline_header(const struct mlxpmd_txq *txq, const struct rte_mbuf *m, struct cursor *c, uint8_t *hdr)
{
	uint32_t n = RTE_MIN((uint32_t)txq->inline_bytes, m->pkt_len);
	const uint32_t macs = 2 * RTE_ETHER_ADDR_LEN;
	uint32_t tag;

	if (!(m->ol_flags & RTE_MBUF_F_TX_VLAN)) {
		cursor_copy(c, hdr, n);
		return n;
	}
	if (n < macs)
		return 0;
	tag = rte_cpu_to_be_32((uint32_t)RTE_ETHER_TYPE_VLAN << 16 | m->vlan_tci);
	cursor_copy(c, hdr, macs);
	memcpy(hdr + macs, &tag, sizeof(tag));
	cursor_copy(c, hdr + macs + sizeof(tag), n - macs);
	return n + sizeof(tag);
}

/* Ethernet segment with an inline header of n bytes; returns the 16-byte units that it took. */
static uint32_t
put_eth_inline(const struct mlxpmd_txq *txq, const uint8_t *hdr, uint32_t n)
{
	struct mlx5_wqe_eth_seg *eth = wqe_ds(txq, 1);
	uint32_t at = RTE_MIN(n, (uint32_t)sizeof(eth->inline_hdr_start)), ds = 2, part;

	eth->inline_hdr_sz = rte_cpu_to_be_16(n);
	memcpy(eth->inline_hdr_start, hdr, at);
	for (; at < n; at += part, ds++) {
		part = RTE_MIN(n - at, (uint32_t)MLXPMD_DS_BYTES);
		memcpy(wqe_ds(txq, ds), hdr + at, part);
	}
	return ds - 1;
}

/* Data segments for the rest of the packet, from unit ds on. Returns the unit after them, 0 when refused. */
static uint32_t
put_segments(struct mlxpmd_txq *txq, const struct cursor *from, uint32_t ds)
{
	const struct rte_mbuf *seg;
	uint32_t offset = from->offset, len;
	uintptr_t addr;
	mlxpmd_u64 *dseg;

	for (seg = from->seg; seg != NULL; seg = seg->next, offset = 0) {
		len = seg->data_len - offset;
		if (len == 0)
			continue; /* In the device's language 0 is 2 GiB. */
		if (ds >= txq->max_ds)
			return 0;
		addr = rte_pktmbuf_mtod_offset(seg, uintptr_t, offset);
		if (!mlxpmd_tx_mr_hit(txq, addr) && !mlxpmd_tx_mr_lookup(txq, seg, addr))
			return 0;
		dseg = wqe_ds(txq, ds++);
		dseg[0] = mlxpmd_be32_pair(rte_cpu_to_be_32(len), txq->mr_last.lkey_be);
		dseg[1] = rte_cpu_to_be_64(addr);
	}
	return ds;
}

/* 16-byte units that the packet may need at most: so much room is wanted before the ring is touched. */
static uint32_t
ds_bound(const struct mlxpmd_txq *txq, const struct rte_mbuf *m)
{
	uint32_t hdr = txq->inline_bytes + (txq->inline_bytes != 0 ? sizeof(uint32_t) : 0);

	return MLXPMD_TITLE_DS + m->nb_segs + (hdr + MLXPMD_DS_BYTES - 1) / MLXPMD_DS_BYTES;
}

static uint32_t
put_title(struct mlxpmd_txq *txq, const struct rte_mbuf *m, struct cursor *c)
{
	uint8_t hdr[MLXPMD_INLINE_MAX + sizeof(uint32_t)];
	mlxpmd_u64 *title = wqe_ds(txq, 0);
	uint32_t n;

	title[1] = 0;
	title[2] = mlxpmd_tx_eth_first(mlxpmd_tx_cs_flags(m->ol_flags));
	title[3] = 0;
	if (txq->inline_bytes == 0) {
		if (m->ol_flags & RTE_MBUF_F_TX_VLAN)
			title[3] = mlxpmd_tx_eth_vlan(m);
		return MLXPMD_TITLE_DS;
	}
	n = inline_header(txq, m, c, hdr);
	return n != 0 ? 1 + put_eth_inline(txq, hdr, n) : 0;
}

/* Does the chain hold what the head says? The walks below rely on it. */
static bool
chain_sane(const struct rte_mbuf *m)
{
	const struct rte_mbuf *seg;
	uint32_t bytes = 0, n = 0;

	for (seg = m; seg != NULL && n <= m->nb_segs; seg = seg->next, n++)
		bytes += seg->data_len;
	return seg == NULL && n == m->nb_segs && bytes == m->pkt_len && bytes != 0;
}

int
mlxpmd_tx_send_any(struct mlxpmd_txq *txq, struct rte_mbuf *m)
{
	struct cursor c = { .seg = m };
	uint32_t bound = ds_bound(txq, m), ds;

	if (!chain_sane(m))
		return MLXPMD_TX_REFUSED;
	/* Never more than max_ds is written, nor more than the ring has. */
	bound = (RTE_MIN(bound, (uint32_t)txq->max_ds) + MLXPMD_WQEBB_DS - 1) / MLXPMD_WQEBB_DS;
	if (bound > mlxpmd_tx_room(txq))
		return bound > txq->wqe_mask + 1u ? MLXPMD_TX_REFUSED : MLXPMD_TX_NO_ROOM;
	ds = put_title(txq, m, &c);
	if (ds != 0)
		ds = put_segments(txq, &c, ds);
	if (ds == 0)
		return MLXPMD_TX_REFUSED;
	*(mlxpmd_u64 *)wqe_ds(txq, 0) = mlxpmd_tx_ctrl(txq, txq->pi, MLX5_OPCODE_SEND, ds);
	txq->elts[txq->elts_pi & txq->elts_mask] = m;
	txq->stats.bytes += m->pkt_len;
	mlxpmd_tx_post(txq, ds, 1, true);
	return 1;
}

void
mlxpmd_tx_drop(struct mlxpmd_txq *txq, struct rte_mbuf *m)
{
	rte_pktmbuf_free(m);
	txq->stats.dropped++;
}

/* Packets that the WQE at `wqe` carries, and its WQEBBs; 0 WQEBBs when it is none. */
static uint16_t
wqe_packets(const struct mlxpmd_txq *txq, uint16_t wqe, uint16_t *wqebbs)
{
	const struct mlx5_wqe_ctrl_seg *ctrl = mlxpmd_tx_wqebb(txq, wqe);
	uint32_t ds = rte_be_to_cpu_32(ctrl->qpn_ds) & PRM_WQE_CTRL_SEG_QPN_DS_DS_MASK;

	*wqebbs = (ds + MLXPMD_WQEBB_DS - 1) / MLXPMD_WQEBB_DS;
	switch (PRM_BITS(rte_be_to_cpu_32(ctrl->opmod_idx_opcode), WQE_CTRL_SEG_OPMOD_IDX_OPCODE_OPCODE)) {
	case PRM_WQE_OPCODE_ENHANCED_MPSW:
		return ds - MLXPMD_TITLE_DS;
	case MLX5_OPCODE_SEND:
		return 1;
	default:
		return 0;
	}
}

/* elts index of a WQE's first packet, found by walking the ring; of the oldest when no WQE starts there. */
static uint16_t
first_of_wqe(const struct mlxpmd_txq *txq, uint16_t wqe)
{
	uint16_t at = txq->ci, elts = txq->elts_ci, wqebbs, packets;

	while (at != wqe) {
		packets = wqe_packets(txq, at, &wqebbs);
		at += wqebbs;
		elts += packets;
		if (wqebbs == 0 || (uint16_t)(at - txq->ci) >= (uint16_t)(txq->pi - txq->ci))
			return txq->elts_ci;
	}
	return elts;
}

/* Takes the packets from elts index `first` on, none of which was sent, out of what was counted as sent. */
static void
count_lost(struct mlxpmd_txq *txq, uint16_t first)
{
	uint16_t i;

	for (i = first; i != txq->elts_pi; i++)
		txq->stats.bytes -= txq->elts[i & txq->elts_mask]->pkt_len;
	txq->stats.packets -= (uint16_t)(txq->elts_pi - first);
	txq->stats.errors += (uint16_t)(txq->elts_pi - first);
}

void
mlxpmd_txq_judge(struct mlxpmd_txq *txq)
{
	if (txq->elts == NULL || txq->judged)
		return;
	/* Before the WQE that failed all were sent, from it on none is. */
	txq->first_lost = txq->cause == MLXPMD_CAUSE_ERROR ? first_of_wqe(txq, txq->failed_wqe) : txq->elts_ci;
	txq->judged = true;
}

void
mlxpmd_txq_abandon(struct mlxpmd_txq *txq)
{
	mlxpmd_txq_judge(txq);
	txq->judged = false;
	count_lost(txq, txq->first_lost);
	txq->cause = MLXPMD_CAUSE_NONE;
	txq->elts_ci = txq->elts_pi;
	txq->ci = txq->pi;
}

uint32_t
mlxpmd_tx_settle(struct mlxpmd_txq *txq)
{
	uint16_t first, lost;

	mlxpmd_txq_judge(txq);
	txq->judged = false;
	first = txq->first_lost;
	lost = txq->elts_pi - first;
	count_lost(txq, first);
	if (txq->stamp_due)
		mlxpmd_timesync_tx_forget(txq);
	mlxpmd_tx_free_any(txq, txq->elts_pi);
	txq->ci = txq->pi;
	return lost;
}

void
mlxpmd_tx_exception(struct mlxpmd_txq *txq)
{
	const struct mlx5_cqe64 *cqe = &txq->cqes[txq->cq_ci & txq->cqe_mask];
	const struct mlx5_err_cqe *err = (const struct mlx5_err_cqe *)cqe;
	const uint64_t tail = mlxpmd_cqe_tail(cqe);

	/* Ownership, seen by the caller, before contents. */
	rte_io_rmb();
	txq->failed_wqe = (uint32_t)tail >> MLXPMD_TAIL_COUNTER_SHIFT;
	if (mlxpmd_cqe_opcode(tail) == MLX5_CQE_REQ_ERR &&
	    (uint16_t)(txq->failed_wqe - txq->ci) < (uint16_t)(txq->pi - txq->ci)) {
		txq->cause = MLXPMD_CAUSE_ERROR;
		txq->syndrome = err->syndrome;
		txq->vendor_syndrome = err->vendor_err_synd;
		txq->stats.syndromes[mlxpmd_syndrome_class[err->syndrome]]++;
	} else {
		/* What was sent is unknown, and the device may be reading still. */
		txq->cause = MLXPMD_CAUSE_BAD;
		txq->stats.cqe_bad++;
	}
	__atomic_store_n(&txq->state, MLXPMD_QS_ERROR, __ATOMIC_RELAXED);
	(void)mlxpmd_tx_not_ready(txq);
}

uint16_t
mlxpmd_tx_not_ready(struct mlxpmd_txq *txq)
{
	mlxpmd_qstate_let_go(&txq->state);
	return 0;
}

void
mlxpmd_tx_full(struct mlxpmd_txq *txq)
{
	if (++txq->fulls % MLXPMD_TX_FULLS_PER_DOORBELL == 0 && txq->pi != txq->ci)
		mlxpmd_tx_doorbell(txq);
}

/* mbufs of one mempool on their way home. */
struct homebound {
	struct rte_mempool *mp;
	unsigned int n;
	struct rte_mbuf *m[64];
};

static __rte_always_inline void
homebound_add(struct homebound *h, struct rte_mbuf *m)
{
	if (unlikely(h->n == RTE_DIM(h->m) || (m->pool != h->mp && h->n != 0))) {
		rte_mempool_put_bulk(h->mp, (void **)h->m, h->n);
		h->n = 0;
	}
	h->mp = m->pool;
	h->m[h->n++] = m;
}

void
mlxpmd_tx_free_any(struct mlxpmd_txq *txq, uint16_t elts_end)
{
	struct homebound home = { .n = 0 };
	struct rte_mbuf *m, *next;

	for (; txq->elts_ci != elts_end; txq->elts_ci++) {
		m = txq->elts[txq->elts_ci & txq->elts_mask];
		do {
			next = m->next;
			m = rte_pktmbuf_prefree_seg(m);
			if (likely(m != NULL))
				homebound_add(&home, m);
			m = next;
		} while (unlikely(m != NULL));
	}
	if (home.n != 0)
		rte_mempool_put_bulk(home.mp, (void **)home.m, home.n);
}

void
mlxpmd_tx_free_fast(struct mlxpmd_txq *txq, uint16_t elts_end)
{
	struct rte_mbuf **elt;
	uint16_t n, to_end, at;

	while ((n = elts_end - txq->elts_ci) != 0) {
		at = txq->elts_ci & txq->elts_mask;
		to_end = txq->elts_mask + 1 - at;
		n = RTE_MIN(n, to_end);
		elt = &txq->elts[at];
		rte_mempool_put_bulk(elt[0]->pool, (void **)elt, n);
		txq->elts_ci += n;
	}
}

void
mlxpmd_txq_flush(struct mlxpmd_txq *txq)
{
	mlxpmd_u64 *wqe;

	if (txq->state != MLXPMD_QS_READY || txq->wqebb_comp == txq->pi || mlxpmd_tx_room(txq) == 0)
		return;
	wqe = mlxpmd_tx_wqebb(txq, txq->pi);
	wqe[0] = mlxpmd_tx_ctrl(txq, txq->pi, MLX5_OPCODE_NOP, 1);
	wqe[1] = 0;
	txq->last = txq->pi++;
	mlxpmd_tx_ask(txq, txq->last);
	mlxpmd_tx_doorbell(txq);
}

int
mlxpmd_tx_descriptor_status(void *queue, uint16_t offset)
{
	struct mlxpmd_txq *txq = queue;
	uint16_t in_flight;

	if (offset > txq->elts_mask)
		return -EINVAL;
	if (mlxpmd_qstate_load(&txq->state) == MLXPMD_QS_READY)
		mlxpmd_tx_reap(txq, MLXPMD_TX_REAP_MAX, false, true);
	if (mlxpmd_qstate_load(&txq->state) != MLXPMD_QS_READY) {
		(void)mlxpmd_tx_not_ready(txq);
		return RTE_ETH_TX_DESC_UNAVAIL;
	}
	in_flight = txq->elts_pi - txq->elts_ci;
	/* 0 is where the next packet goes; the oldest in flight comes after all that are free. */
	return offset < txq->elts_mask + 1 - in_flight ? RTE_ETH_TX_DESC_DONE : RTE_ETH_TX_DESC_FULL;
}

int
mlxpmd_tx_done_cleanup(void *queue, uint32_t free_cnt)
{
	struct mlxpmd_txq *txq = queue;
	uint16_t before, freed = 0, one;

	while (mlxpmd_qstate_load(&txq->state) == MLXPMD_QS_READY) {
		before = txq->elts_ci;
		mlxpmd_tx_reap(txq, 1, false, true);
		/* Let go meanwhile: then the index is the service's. */
		if (mlxpmd_qstate_load(&txq->state) != MLXPMD_QS_READY)
			continue;
		one = txq->elts_ci - before;
		freed += one;
		if (one == 0 || (free_cnt != 0 && freed >= free_cnt))
			return freed;
	}
	(void)mlxpmd_tx_not_ready(txq);
	return freed;
}
