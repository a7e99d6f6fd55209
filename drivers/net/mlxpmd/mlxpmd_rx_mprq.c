/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Receive bursts of striding queues. */

#include <string.h>

#include "mlxpmd_mprq.h"
#include "mlxpmd_rx_frame.h"

/* Packets of a run: as many mbufs as a request to the mempool returns from its cache. */
#define RUN_MAX 64
/* mbufs of a packet beyond the first. */
#define SEGS_MAX 32
/* Prefetched ahead, in strides: packets that need only one are the ones that are waited for. */
#define STRIDES_AHEAD 4

static __rte_always_inline uint16_t
run_max(const struct mlxpmd_rxq *rxq, uint16_t n)
{
	const uint32_t to_cq_end = rxq->q.cqe_mask + 1 - (rxq->q.cq_ci & rxq->q.cqe_mask);

	return RTE_MIN(RTE_MIN(to_cq_end, (uint32_t)n), (uint32_t)RUN_MAX);
}

/* Number of adjacent CQEs that are there and may be packets. */
static __rte_always_inline uint16_t
completed(const struct mlxpmd_rxq *rxq, const struct mlx5_cqe64 *cqe, uint16_t n)
{
	const uint32_t check = MLXPMD_TAIL_OWNER | MLXPMD_TAIL_FORMAT | MLXPMD_TAIL_OPCODE;
	const uint32_t want = mlxpmd_rx_tail_expected(rxq);
	uint16_t i;

	for (i = 0; i < n && (((uint32_t)mlxpmd_cqe_tail(cqe + i) ^ want) & check) == 0; i++)
		;
	/* Order the owner bits before the rest of the CQEs, and before the packets; load-load order is enough. */
	rte_io_rmb();
	return i;
}

/* Packets for which there is no mbuf stay in their strides until a later burst. */
static __rte_noinline uint16_t
mbufs_some(struct mlxpmd_rxq *rxq, struct rte_mbuf **pkts, uint16_t n)
{
	const uint16_t got = mlxpmd_rx_mbufs_some(rxq, pkts, n / 2);
	const uint32_t lack = n - got;

	if (lack > rxq->q.starved)
		MLXPMD_SHARED_ADD(rxq->q.stats.nombuf, lack - rxq->q.starved);
	rxq->q.starved = lack;
	rxq->striding.stop = MLXPMD_STRIDING_STARVED;
	return got;
}

static __rte_always_inline uint16_t
mbufs_take(struct mlxpmd_rxq *rxq, struct rte_mbuf **pkts, uint16_t n)
{
	if (unlikely(n == 0))
		return 0;
	if (unlikely(rte_mempool_get_bulk(rxq->mp, (void **)pkts, n) != 0))
		return mbufs_some(rxq, pkts, n);
	rxq->q.starved = 0;
	return n;
}

/*
 * Copies whole cache lines. A packet begins at a line, because strides do, and ends at the latest with its last
 * stride; lines_max is at most what an mbuf holds.
 */
static __rte_always_inline void
copy_lines(struct rte_mbuf *m, const uint8_t *from, uint32_t len)
{
	uint8_t *to = rte_pktmbuf_mtod(m, uint8_t *);
	uint32_t at = 0;

	do {
		memcpy(to + at, from + at, MLXPMD_MPRQ_LINE);
		at += MLXPMD_MPRQ_LINE;
	} while (at < len);
	m->data_len = len;
}

/* Copies exactly, to a chain if necessary. false: nothing was copied, and m is as it was. */
static __rte_noinline bool
copy_exact(struct mlxpmd_rxq *rxq, struct rte_mbuf *m, const uint8_t *from, uint32_t len)
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

/*
 * The end of a packet's strides is the headroom of the next packet, so that a packet that reaches into it is copied.
 * The mbuf's fields are those of the headroom's begin; ol_flags have their final value already, but for the kind.
 */
static __rte_always_inline void
attach(struct mlxpmd_rxq *rxq, struct rte_mbuf *m, struct mlxpmd_mprq_buf *buf, uint32_t used, uint32_t at,
       uint32_t room, uint32_t len)
{
	struct rte_mbuf_ext_shared_info *info = &buf->info[used];

	at -= RTE_PKTMBUF_HEADROOM;
	rte_mbuf_ext_refcnt_set(info, 1);
	rte_pktmbuf_attach_extbuf(m, (uint8_t *)buf + at, buf->iova + at, RTE_MIN(room, (uint32_t)UINT16_MAX), info);
	m->data_off = RTE_PKTMBUF_HEADROOM;
	m->data_len = len;
	rxq->striding.given++;
}

static __rte_always_inline bool
deliver(struct mlxpmd_rxq *rxq, struct rte_mbuf *m, uint32_t used, uint32_t strides, uint32_t len)
{
	const struct mlxpmd_striding *s = &rxq->striding;
	const uint32_t room = strides << s->log_stride_size, at = s->data_offset + (used << s->log_stride_size);
	struct mlxpmd_mprq_buf *buf = mlxpmd_mprq_bufs(rxq)[rxq->q.ci & rxq->q.wqe_mask];
	const uint8_t *from = (const uint8_t *)buf + at;

	rte_prefetch0(from + ((size_t)STRIDES_AHEAD << s->log_stride_size));
	if (len <= s->lines_max)
		copy_lines(m, from, len);
	else if (likely(len > s->copy_max && s->spare != NULL && len + RTE_PKTMBUF_HEADROOM <= room))
		attach(rxq, m, buf, used, at, room, len);
	else
		return copy_exact(rxq, m, from, len);
	return true;
}

/* Receives packets from adjacent CQEs; stops at the first that is absent or not an ordinary packet. */
static __rte_always_inline uint16_t
run(struct mlxpmd_rxq *rxq, struct rte_mbuf **pkts, uint16_t n, bool ts_usable, const unsigned int f)
{
	const struct mlx5_cqe64 *first = &rxq->q.cqes[rxq->q.cq_ci & rxq->q.cqe_mask], *cqe = first;
	struct rte_mbuf **pkt = pkts, **const end = pkts + mbufs_take(rxq, pkts, completed(rxq, cqe, n));
	struct mlxpmd_rx_rare rare = { 0, 0 };
	uint32_t used = rxq->striding.used, bytes = 0;

	for (; pkt != end; pkt++, cqe++) {
		const uint32_t byte_cnt = rte_be_to_cpu_32(cqe->byte_cnt);
		const uint32_t len = byte_cnt & MLXPMD_MPRQ_LEN_MASK, strides = byte_cnt >> MLXPMD_MPRQ_STRIDES_SHIFT;

		if (unlikely(!mlxpmd_mprq_in_step(rxq, cqe, used) ||
			     !mlxpmd_mprq_fits(&rxq->striding, len, strides, used)))
			break;
		mlxpmd_rx_rearm(*pkt, rxq->mbuf_init);
		mlxpmd_rx_fill_head(rxq, *pkt, (const struct prm_cqe64 *)cqe, len, &rare, ts_usable, f);
		if (unlikely(!deliver(rxq, *pkt, used, strides, len))) {
			rxq->striding.stop = MLXPMD_STRIDING_DROP;
			break;
		}
		used = mlxpmd_mprq_advance(rxq, used, strides);
		bytes += len;
	}
	rxq->striding.used = used;
	if (unlikely(pkt != end))
		rte_mempool_put_bulk(rxq->mp, (void **)pkt, end - pkt);
	mlxpmd_rx_account_cqes(rxq, pkts, pkt - pkts, bytes, &rare, first);
	return pkt - pkts;
}

/* All WQEs are posted at any time: only the device's index is behind. */
static __rte_always_inline void
refill(struct mlxpmd_rxq *rxq)
{
	rxq->q.pi = rxq->q.ci + rxq->q.wqe_mask + 1;
	mlxpmd_dbrec_write(rxq->q.wq_dbrec, rxq->q.pi);
}

#define STRIDING ((struct mlxpmd_rx_isa){ run, refill, run_max, mlxpmd_mprq_exception })

MLXPMD_RX_SETS(MLXPMD_RX_BURST, STRIDING)

const struct mlxpmd_template mlxpmd_mprq_templates[MLXPMD_RX_TEMPLATES] = {
	MLXPMD_RX_SETS(MLXPMD_RX_ROW, "Scalar Striding")
};
