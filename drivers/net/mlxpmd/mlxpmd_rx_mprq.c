/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* What the bursts of striding queues rarely need: the last mbufs of a mempool, and copies that are not whole lines. */

#include "mlxpmd_rx_mprq.h"

/* mbufs of a packet beyond the first. */
#define SEGS_MAX 32

__rte_noinline uint16_t
mlxpmd_mprq_mbufs_some(struct mlxpmd_rxq *rxq, struct rte_mbuf **pkts, uint16_t n)
{
	const uint16_t got = mlxpmd_rx_mbufs_some(rxq, pkts, n / 2);
	const uint32_t lack = n - got;

	if (lack > rxq->q.starved)
		MLXPMD_SHARED_ADD(rxq->q.stats.nombuf, lack - rxq->q.starved);
	rxq->q.starved = lack;
	rxq->striding.stop = MLXPMD_STRIDING_STARVED;
	return got;
}

__rte_noinline bool
mlxpmd_mprq_mbufs_all(struct mlxpmd_rxq *rxq, struct rte_mbuf **pkts, uint16_t n)
{
	return rte_mempool_get_bulk(rxq->mp, (void **)pkts, n) == 0;
}

__rte_noinline bool
mlxpmd_mprq_copy_exact(struct mlxpmd_rxq *rxq, struct rte_mbuf *m, const uint8_t *from, uint32_t len)
{
	struct rte_mbuf *seg[SEGS_MAX], *last = m;
	uint32_t part = RTE_MIN(len, (uint32_t)rxq->seg_first_bytes), done, n, i;

	n = (len - part + rxq->seg_bytes - 1) / rxq->seg_bytes;
	if (n != 0 && (!rxq->striding.scatter || n > RTE_DIM(seg) ||
		       rte_mempool_get_bulk(rxq->mp, (void **)seg, n) != 0))
		return false;
	memcpy(rte_pktmbuf_mtod(m, void *), from, part);
	m->data_len = part;
	m->nb_segs = n + 1;
	for (i = 0, done = part; i < n; i++, done += part) {
		part = RTE_MIN(len - done, (uint32_t)rxq->seg_bytes);
		mlxpmd_rx_rearm(seg[i], rxq->mbuf_init);
		seg[i]->data_off = 0;
		seg[i]->data_len = part;
		memcpy(seg[i]->buf_addr, from + done, part);
		last->next = seg[i];
		last = seg[i];
	}
	return true;
}
