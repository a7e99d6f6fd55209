/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Runs of packets that the device segments, of the usual shape: headers in the first segment, no tag to insert. */

#include <string.h>

#include <ethdev_driver.h>

#include "mlxpmd_tx_burst.h"

/* 16-byte units, in words of the ring. */
#define UNIT (MLXPMD_DS_BYTES / sizeof(mlxpmd_u64))
/* Where the inline header begins: in the Ethernet segment, which has the first 2 bytes. */
#define INLINE_AT (sizeof(struct prm_wqe_ctrl_seg) + offsetof(struct mlx5_wqe_eth_seg, inline_hdr_start))
/* ol_flags that the form depends on. */
#define FORM_FLAGS (MLXPMD_TX_TITLE_FLAGS | MLXPMD_TX_TUNNEL_FLAGS | RTE_MBUF_F_TX_TCP_SEG)

/*
 * Sets the form to that of the packet. Packets of a connection differ from one another in payload only, so that checks,
 * sums and the division are not repeated. Returns false if a tag is to be inserted, the WQE needs offsets of
 * headers, or the packet is wrong.
 */
static __rte_noinline bool
form_set(struct mlxpmd_txq *txq, const struct rte_mbuf *m)
{
	const uint32_t header = mlxpmd_tso_header(m);
	const uint32_t ds = MLXPMD_TITLE_DS + (header - 2 + MLXPMD_DS_BYTES - 1) / MLXPMD_DS_BYTES;

	if ((m->ol_flags & RTE_MBUF_F_TX_VLAN) || (mlxpmd_tx_tunnel(m->ol_flags) & txq->swp_tunnels) ||
	    mlxpmd_tso_check(txq, m) != 0 || ds >= txq->max_ds)
		return false;
	txq->tso = (struct mlxpmd_tso_form) {
		.lens = m->tx_offload,
		.flags = m->ol_flags & FORM_FLAGS,
		.eth[0] = mlxpmd_tx_eth_first(mlxpmd_tx_cs_flags_tso(m->ol_flags)) |
			  mlxpmd_be32_pair(0, rte_cpu_to_be_32(m->tso_segsz)),
		.eth[1] = mlxpmd_be32_pair(0, rte_cpu_to_be_32(header << 16)),
		.per_segsz = (uint64_t)(UINT32_MAX / m->tso_segsz) + 1,
		.header = header,
		.ds = ds,
		.wqebbs = ds / MLXPMD_WQEBB_DS + 1,
	};
	return true;
}

static __rte_always_inline bool
is_of_form(const struct mlxpmd_tso_form *form, const struct rte_mbuf *m)
{
	return m->tx_offload == form->lens && (m->ol_flags & FORM_FLAGS) == form->flags;
}

/*
 * Writes data segments for what follows the header in a packet of several segments. Returns their number, 0 if they do
 * not fit in the WQE or in room WQEBBs, contradict nb_segs or pkt_len, or have memory that cannot be registered.
 */
static __rte_noinline uint32_t
chain_put(struct mlxpmd_txq *txq, const struct rte_mbuf *m, mlxpmd_u64 *dseg, uint32_t room)
{
	const uint32_t max = RTE_MIN(room * MLXPMD_WQEBB_DS, (uint32_t)txq->max_ds) - txq->tso.ds;
	uint32_t offset = txq->tso.header, left = m->pkt_len - offset, segs = m->nb_segs, n = 0, len;
	struct mr_local mr = mr_local(txq);
	uintptr_t addr;

	if (segs > max || m->data_len < offset)
		return 0;
	for (; m != NULL && segs != 0; m = m->next, segs--, offset = 0) {
		len = m->data_len - offset;
		left -= len;
		if (len == 0)
			continue; /* A byte_count of 0 means 2 GiB. */
		addr = rte_pktmbuf_mtod_offset(m, uintptr_t, offset);
		if (!mr_follow(txq, m, addr, &mr))
			return 0;
		dseg[2 * n] = mr.lkey | mlxpmd_be32_pair(rte_cpu_to_be_32(len), 0);
		dseg[2 * n++ + 1] = rte_cpu_to_be_64(addr);
	}
	return m == NULL && segs == 0 && left == 0 ? n : 0;
}

/* As chain_put(), also for packets of one segment. */
static __rte_always_inline uint32_t
payload_put(struct mlxpmd_txq *txq, const struct rte_mbuf *m, mlxpmd_u64 *dseg, uint32_t room)
{
	const uintptr_t addr = rte_pktmbuf_mtod_offset(m, uintptr_t, txq->tso.header);

	if (unlikely(m->nb_segs != 1 || !mlxpmd_tx_mr_hit(txq, addr)))
		return chain_put(txq, m, dseg, room);
	if (unlikely(m->data_len != m->pkt_len || m->next != NULL))
		return 0;
	dseg[0] = mlxpmd_be32_pair(rte_cpu_to_be_32(m->pkt_len - txq->tso.header), txq->mr_last.lkey_be);
	dseg[1] = rte_cpu_to_be_64(addr);
	return 1;
}

/* Most WQEBBs of a run: it does not wrap, and only its last WQE needs a test of the threshold. */
static uint32_t
run_room(const struct mlxpmd_txq *txq)
{
	uint32_t to_end = txq->q.wqe_mask + 1 - (txq->q.pi & txq->q.wqe_mask);
	uint32_t room = RTE_MIN(to_end, (uint32_t)mlxpmd_tx_free_wqebbs(txq));

	return RTE_MIN(room, (uint32_t)MLXPMD_SHARED_GET(txq->wqebb_thresh));
}

/* Most packets of a run, likewise. */
static uint32_t
run_packets(const struct mlxpmd_txq *txq, uint32_t n)
{
	uint32_t to_end = txq->elts_mask + 1 - (txq->elts_pi & txq->elts_mask);

	n = RTE_MIN(n, to_end);
	return RTE_MIN(n, (uint32_t)txq->rs_thresh);
}

/* Writes the rest of the WQE, of ds 16-byte units. */
static __rte_always_inline void
title_put(const struct mlxpmd_txq *txq, const struct rte_mbuf *m, mlxpmd_u64 *wqe, uint16_t pi, uint32_t ds)
{
	const struct mlxpmd_tso_form *form = &txq->tso;

	wqe[0] = mlxpmd_tx_ctrl(txq, pi, MLX5_OPCODE_TSO, ds);
	wqe[1] = 0;
	memcpy(wqe + 2, form->eth, sizeof(form->eth));
	tx_copy_blocks((uint8_t *)wqe + INLINE_AT, rte_pktmbuf_mtod(m, const uint8_t *), form->header);
}

/* Writes WQEs of packets of the form, the first is known to be one. Returns their number. */
static __rte_always_inline uint32_t
run_put(struct mlxpmd_txq *txq, struct rte_mbuf **pkts, uint16_t n)
{
	const struct mlxpmd_tso_form *form = &txq->tso;
	mlxpmd_u64 *wqe = mlxpmd_tx_wqebb(txq, txq->q.pi);
	struct rte_mbuf **elt = &txq->q.elts[txq->elts_pi & txq->elts_mask];
	uint32_t room = run_room(txq), max = run_packets(txq, n), i, ds = 0, segs, payload;
	uint64_t packets = 0, bytes = 0;
	struct rte_mbuf *m;
	uint16_t pi = txq->q.pi;

	for (i = 0; i < max && is_of_form(form, pkts[i]); i++) {
		m = pkts[i];
		payload = m->pkt_len - form->header;
		/* Also of a packet without payload, and of one that is shorter than its headers. */
		if (unlikely(payload - 1 >= txq->max_lso || room < form->wqebbs))
			break;
		segs = payload_put(txq, m, wqe + form->ds * UNIT, room);
		if (unlikely(segs == 0))
			break;
		ds = form->ds + segs;
		title_put(txq, m, wqe, pi, ds);
		elt[i] = m;
		packets += (payload - 1) * form->per_segsz >> 32;
		bytes += payload;
		segs = (ds + MLXPMD_WQEBB_DS - 1) / MLXPMD_WQEBB_DS;
		room -= segs;
		pi += segs;
		wqe += segs * (MLX5_SEND_WQE_BB / sizeof(*wqe));
	}
	if (unlikely(i == 0))
		return 0;
	MLXPMD_SHARED_ADD(txq->q.stats.packets, packets);
	MLXPMD_SHARED_ADD(txq->q.stats.bytes, bytes + (packets + i) * form->header);
	txq->q.pi = pi - (ds + MLXPMD_WQEBB_DS - 1) / MLXPMD_WQEBB_DS;
	txq->elts_pi += i - 1;
	mlxpmd_tx_post(txq, ds, 1, true);
	return i;
}

int
mlxpmd_tx_send_tso(struct mlxpmd_txq *txq, struct rte_mbuf **pkts, uint16_t n)
{
	const struct rte_mbuf *m = pkts[0];
	uint32_t sent = 0;

	if (likely(is_of_form(&txq->tso, m)) || ((m->ol_flags & RTE_MBUF_F_TX_TCP_SEG) && form_set(txq, m)))
		sent = run_put(txq, pkts, n);
	return likely(sent != 0) ? (int)sent : mlxpmd_tx_send_tso_any(txq, pkts[0]);
}
