/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * Receive from striding queues: where the packets of a run are, their delivery, and the scalar run.
 */
#ifndef MLXPMD_RX_MPRQ_H
#define MLXPMD_RX_MPRQ_H

#include <string.h>

#include "mlxpmd_mprq.h"
#include "mlxpmd_rx_frame.h"

/* Packets of a run: as many mbufs as a request to the mempool returns from its cache. */
#define MLXPMD_MPRQ_RUN_MAX 64
/* Prefetched ahead, in strides: packets that need only one are the ones that are waited for. */
#define MLXPMD_MPRQ_AHEAD 8

/** The buffer of the WQE at ci, and what is needed to deliver its packets. Constant while there is no other WQE. */
struct mlxpmd_mprq_from {
	struct mlxpmd_mprq_buf *buf;
	uint8_t *strides;
	uint32_t lines_max;
	uint8_t log_stride_size;
};

static __rte_always_inline struct mlxpmd_mprq_from
mlxpmd_mprq_from(const struct mlxpmd_rxq *rxq)
{
	struct mlxpmd_mprq_buf *buf = mlxpmd_mprq_bufs(rxq)[rxq->q.ci & rxq->q.wqe_mask];

	return (struct mlxpmd_mprq_from){
		.buf = buf,
		.strides = (uint8_t *)buf + rxq->striding.data_offset,
		.lines_max = rxq->striding.lines_max,
		.log_stride_size = rxq->striding.log_stride_size,
	};
}

/** As mlxpmd_rx_run_max(); a run does not continue in another WQE, unless a packet before takes several strides. */
static __rte_always_inline uint16_t
mlxpmd_mprq_run_max(const struct mlxpmd_rxq *rxq, uint16_t n)
{
	const uint32_t to_cq_end = rxq->q.cqe_mask + 1 - (rxq->q.cq_ci & rxq->q.cqe_mask);
	const uint32_t to_wqe_end = rxq->striding.strides - rxq->striding.used;
	const uint32_t most = RTE_MIN((uint32_t)n, (uint32_t)MLXPMD_MPRQ_RUN_MAX);
	const uint32_t to_end = RTE_MIN(to_cq_end, to_wqe_end);

	return RTE_MIN(to_end, most);
}

/**
 * Copies whole cache lines. A packet begins at a line, because strides do, and ends at the latest with its last stride;
 * lines_max is at most what an mbuf holds.
 */
static __rte_always_inline void
mlxpmd_mprq_copy_lines(uint8_t *to, const uint8_t *from, uint32_t len)
{
	uint32_t at = 0;

	do {
		memcpy(to + at, from + at, MLXPMD_MPRQ_LINE);
		at += MLXPMD_MPRQ_LINE;
	} while (at < len);
}

/** From an address in a buffer to its IOVA. */
static __rte_always_inline rte_iova_t
mlxpmd_mprq_iova_offset(const struct mlxpmd_mprq_buf *buf)
{
	return buf->iova - (uintptr_t)buf;
}

/**
 * Attaches the packet at `data` to an mbuf, whose rearm_data, data_len and ol_flags are set. The end of a packet's
 * strides is the headroom of the next packet, so that a packet that reaches into it is not attached. room: bytes of its
 * strides. info: of its first stride.
 */
static __rte_always_inline void
mlxpmd_mprq_attach(struct rte_mbuf *m, struct rte_mbuf_ext_shared_info *info, uint8_t *data, rte_iova_t iova_offset,
		   uint16_t room)
{
	uint8_t *at = data - RTE_PKTMBUF_HEADROOM;

	rte_mbuf_ext_refcnt_set(info, 1);
	m->buf_addr = at;
	rte_mbuf_iova_set(m, (uintptr_t)at + iova_offset);
	m->buf_len = room;
	m->shinfo = info;
	m->ol_flags |= RTE_MBUF_F_EXTERNAL;
}

/** Copies exactly, to a chain if necessary. false: nothing was copied, and m is as it was. */
bool mlxpmd_mprq_copy_exact(struct mlxpmd_rxq *rxq, struct rte_mbuf *m, const uint8_t *from, uint32_t len);

static __rte_always_inline bool
mlxpmd_mprq_deliver(struct mlxpmd_rxq *rxq, struct rte_mbuf *m, uint32_t used, uint32_t strides, uint32_t len)
{
	const struct mlxpmd_striding *s = &rxq->striding;
	struct mlxpmd_mprq_buf *buf = mlxpmd_mprq_bufs(rxq)[rxq->q.ci & rxq->q.wqe_mask];
	const uint32_t room = strides << s->log_stride_size, at = s->data_offset + (used << s->log_stride_size);
	uint8_t *data = (uint8_t *)buf + at;

	rte_prefetch0(data + ((size_t)MLXPMD_MPRQ_AHEAD << s->log_stride_size));
	m->data_len = len;
	if (len <= s->lines_max) {
		mlxpmd_mprq_copy_lines(rte_pktmbuf_mtod(m, uint8_t *), data, len);
	} else if (likely(len > s->copy_max && s->spare != NULL && len + RTE_PKTMBUF_HEADROOM <= room)) {
		mlxpmd_mprq_attach(m, &buf->info[used], data, mlxpmd_mprq_iova_offset(buf),
				   RTE_MIN(room, (uint32_t)UINT16_MAX));
		rxq->striding.given++;
	} else {
		return mlxpmd_mprq_copy_exact(rxq, m, data, len);
	}
	return true;
}

/** Gets n mbufs, or fewer if the mempool is empty: packets that lack one stay in their strides until a later burst. */
uint16_t mlxpmd_mprq_mbufs_some(struct mlxpmd_rxq *rxq, struct rte_mbuf **pkts, uint16_t n);

/** Gets n mbufs or none. */
bool mlxpmd_mprq_mbufs_all(struct mlxpmd_rxq *rxq, struct rte_mbuf **pkts, uint16_t n);

static __rte_always_inline uint16_t
mlxpmd_mprq_mbufs(struct mlxpmd_rxq *rxq, struct rte_mbuf **pkts, uint16_t n)
{
	if (unlikely(n == 0))
		return 0;
	if (unlikely(rte_mempool_get_bulk(rxq->mp, (void **)pkts, n) != 0))
		return mlxpmd_mprq_mbufs_some(rxq, pkts, n);
	rxq->q.starved = 0;
	return n;
}

/** Number of adjacent CQEs that are there and may be packets. */
static __rte_always_inline uint16_t
mlxpmd_mprq_completed(const struct mlxpmd_rxq *rxq, const struct mlx5_cqe64 *cqe, uint16_t n, const unsigned int f)
{
	const uint32_t check = mlxpmd_rx_validity(rxq, f) | MLXPMD_TAIL_FORMAT | MLXPMD_TAIL_OPCODE;
	const uint32_t want = mlxpmd_rx_tail_expected(rxq, 0, f);
	uint16_t i;

	for (i = 0; i < n && (((uint32_t)mlxpmd_cqe_tail(cqe + i) ^ want) & check) == 0; i++)
		;
	/* Order the owner bits before the rest of the CQEs, and before the packets; load-load order is enough. */
	rte_io_rmb();
	return i;
}

/** Receives packets from adjacent CQEs; stops at the first that is absent or not an ordinary packet. */
static __rte_always_inline uint16_t
mlxpmd_mprq_run_scalar(struct mlxpmd_rxq *rxq, struct rte_mbuf **pkts, uint16_t n, bool ts_usable, bool *absent,
		       const unsigned int f)
{
	const struct mlx5_cqe64 *first = &rxq->q.cqes[rxq->q.cq_ci & rxq->q.cqe_mask], *cqe = first;
	struct rte_mbuf **pkt = pkts;
	struct rte_mbuf **const end = pkts + mlxpmd_mprq_mbufs(rxq, pkts, mlxpmd_mprq_completed(rxq, cqe, n, f));
	struct mlxpmd_rx_rare rare = { 0, 0 };
	uint32_t used = rxq->striding.used, bytes = 0;

	*absent = false;
	for (; pkt != end; pkt++, cqe++) {
		const uint32_t byte_cnt = rte_be_to_cpu_32(cqe->byte_cnt);
		const uint32_t len = byte_cnt & MLXPMD_MPRQ_LEN_MASK, strides = byte_cnt >> MLXPMD_MPRQ_STRIDES_SHIFT;

		if (unlikely(!mlxpmd_mprq_in_step(rxq, cqe, used) ||
			     !mlxpmd_mprq_fits(&rxq->striding, len, strides, used)))
			break;
		mlxpmd_rx_rearm(*pkt, rxq->mbuf_init);
		mlxpmd_rx_fill_head(rxq, *pkt, (const struct prm_cqe64 *)cqe, len, &rare, ts_usable, f);
		if (unlikely(!mlxpmd_mprq_deliver(rxq, *pkt, used, strides, len))) {
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

/** All WQEs are posted at any time: only the device's index is behind. */
static __rte_always_inline void
mlxpmd_mprq_refill(struct mlxpmd_rxq *rxq)
{
	rxq->q.pi = rxq->q.ci + rxq->q.wqe_mask + 1;
	mlxpmd_dbrec_write(rxq->q.wq_dbrec, rxq->q.pi);
}

/** With the run of an instruction set, and what receives compressed packets. */
#define MLXPMD_MPRQ_ISA(run, minis) \
	((struct mlxpmd_rx_isa){ run, mlxpmd_mprq_refill, mlxpmd_mprq_run_max, mlxpmd_mprq_exception, minis })
#define MLXPMD_MPRQ_BURST(name, isa, f, text) MLXPMD_RX_BURST(striding_##name, isa, (f) | MLXPMD_RX_F_STRIDING, text)
#define MLXPMD_MPRQ_ROW(name, isa, f, text) MLXPMD_RX_ROW(striding_##name, isa, (f) | MLXPMD_RX_F_STRIDING, text)

#endif /* MLXPMD_RX_MPRQ_H */
