/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Receive bursts: one inline body, made into one function per set of features. */

#include <rte_branch_prediction.h>
#include <rte_common.h>
#include <rte_prefetch.h>

#include "mlxpmd.h"
#include "mlxpmd_clock.h"
#include "mlxpmd_ptype.h"
#include "mlxpmd_rx.h"

#define BAD_CSUM (RTE_MBUF_F_RX_IP_CKSUM_BAD | RTE_MBUF_F_RX_L4_CKSUM_BAD)

static __rte_always_inline uint32_t
cqe_be32(const uint8_t *cqe, unsigned int offset)
{
	return rte_be_to_cpu_32(*(const unaligned_uint32_t *)(cqe + offset));
}

static __rte_always_inline uint16_t
cqe_be16(const uint8_t *cqe, unsigned int offset)
{
	return rte_be_to_cpu_16(*(const unaligned_uint16_t *)(cqe + offset));
}

/* Header bits to packet type and flags: the whole of ptype, checksums and VLAN in one look-up. */
static __rte_always_inline uint64_t
cqe_classify(const uint8_t *cqe)
{
	return mlxpmd_ptype_table[mlxpmd_ptype_index(cqe[MLXPMD_CQE_PKT_INFO],
						     cqe_be16(cqe, MLXPMD_CQE_HDS_IP_EXT))];
}

/* What a run of packets has in it that is rare: looked for once per run, not per packet. */
struct rare {
	uint32_t flags; /* All ol_flags of the table together. */
	uint32_t tags_be; /* All sop_drop_qpn words together. */
};

/* Everything of the first mbuf but data_len and nb_segs. */
static __rte_always_inline void
fill_head(struct mlxpmd_rxq *rxq, struct rte_mbuf *m, const uint8_t *cqe, uint32_t len,
	  struct rare *rare, bool ts_usable, const unsigned int f)
{
	const uint64_t class = cqe_classify(cqe);
	uint64_t ol_flags = (class >> 32) & rxq->flag_mask, ns;

	rare->flags |= ol_flags;
	rare->tags_be |= *(const unaligned_uint32_t *)(cqe + MLXPMD_CQE_TAIL);
	m->packet_type = (uint32_t)class;
	m->pkt_len = len;
	m->vlan_tci = cqe_be16(cqe, MLXPMD_CQE_VLAN_INFO);
	if (f & MLXPMD_RX_F_HASH) {
		m->hash.rss = cqe_be32(cqe, MLXPMD_CQE_RX_HASH_RES);
		/* The type says whether there is a hash at all; its value may well be 0. */
		ol_flags |= (uint32_t)(cqe[MLXPMD_CQE_RX_HASH_TYPE] != 0) * RTE_MBUF_F_RX_RSS_HASH;
	}
	if (f & MLXPMD_RX_F_TS) {
		uint64_t ts = rte_be_to_cpu_64(
			*(const unaligned_uint64_t *)(cqe + MLXPMD_CQE_TIMESTAMP));

		if (likely(ts_usable && mlxpmd_clock_convert(&rxq->snap, ts, &ns))) {
			*RTE_MBUF_DYNFIELD(m, rxq->ts_offset, uint64_t *) = ns;
			ol_flags |= rxq->ts_flag;
		} else {
			rxq->stats.ts_absent++;
		}
	}
	m->ol_flags = ol_flags;
}

static void
mark(struct rte_mbuf *m, const uint8_t *cqe)
{
	uint32_t tag = cqe_be32(cqe, MLXPMD_CQE_TAIL) & MLXPMD_TAG_MASK;

	if (tag == 0 || tag == MLXPMD_TAG_DEFAULT)
		return;
	m->hash.fdir.hi = tag;
	m->ol_flags |= RTE_MBUF_F_RX_FDIR | RTE_MBUF_F_RX_FDIR_ID;
}

/* A second look at a run in which something rare was seen: bad checksums, flow tags, pinned buffers. */
static __rte_noinline void
second_look(struct mlxpmd_rxq *rxq, struct rte_mbuf **pkts, uint16_t n, const uint8_t *cqe)
{
	uint16_t i;

	for (i = 0; i < n; i++, cqe += sizeof(struct mlx5_cqe64)) {
		struct rte_mbuf *m = pkts[i];

		m->ol_flags |= rxq->ol_init;
		rxq->stats.l3_csum_bad += (m->ol_flags & RTE_MBUF_F_RX_IP_CKSUM_BAD) != 0;
		rxq->stats.l4_csum_bad += (m->ol_flags & RTE_MBUF_F_RX_L4_CKSUM_BAD) != 0;
		mark(m, cqe);
	}
}

/*
 * Chains the segments that a packet fills; their places in elts are cleared, so that refill replaces
 * these and leaves the untouched ones where they are.
 */
static __rte_always_inline void
chain(struct mlxpmd_rxq *rxq, struct rte_mbuf **elt, uint32_t len)
{
	struct rte_mbuf *head = elt[0], *seg = head;
	uint32_t room = rxq->seg_first_bytes;
	uint16_t n = 1;

	elt[0] = NULL;
	while (unlikely(len > room)) {
		seg->data_len = room;
		len -= room;
		room = rxq->seg_bytes;
		seg->next = elt[n];
		seg = elt[n];
		elt[n++] = NULL;
		seg->data_off = 0;
	}
	seg->data_len = len;
	head->nb_segs = n;
}

/* data_off, refcnt, nb_segs and port by one store. */
static __rte_always_inline void
rearm(struct rte_mbuf *m, uint64_t init)
{
	*(mlxpmd_u64 *)((uint8_t *)m + offsetof(struct rte_mbuf, rearm_data)) = init;
}

/* Packets from CQEs that follow each other in memory; stops at the first that needs another look. */
static __rte_always_inline uint16_t
rx_run(struct mlxpmd_rxq *rxq, struct rte_mbuf **pkts, uint16_t n, bool ts_usable, const unsigned int f)
{
	const uint8_t *first = (const uint8_t *)&rxq->cqes[rxq->cq_ci & rxq->cqe_mask], *cqe = first;
	const uint16_t log_segs = (f & MLXPMD_RX_F_SCATTER) ? rxq->log_segs : 0;
	struct rte_mbuf **elt = &rxq->elts[(rxq->rq_ci & rxq->wqe_mask) << log_segs];
	const uint64_t mbuf_init = rxq->mbuf_init;
	/* What the tail has to be: this lap's owner, a plain responder CQE, the WQE that is next. */
	uint32_t want = (uint32_t)rxq->rq_ci << MLXPMD_TAIL_COUNTER_SHIFT |
			(uint32_t)MLX5_CQE_RESP_SEND << 4 | ((rxq->cq_ci >> rxq->log_cqes) & 1);
	struct rte_mbuf **pkt = pkts, **const end = pkts + n;
	struct rare rare = { 0, 0 };
	uint64_t bytes = 0;
	uint16_t got;

	for (; pkt != end; pkt++) {
		struct rte_mbuf *m;
		uint32_t len;

		if (((uint32_t)mlxpmd_cqe_tail(cqe) ^ want) & rxq->tail_check)
			break;
		/* Ownership before contents. */
		rte_io_rmb();
		len = cqe_be32(cqe, MLXPMD_CQE_BYTE_CNT);
		if (unlikely(len - 1 >= rxq->len_max))
			break;
		m = *elt;
		rte_prefetch0(elt[MLXPMD_RX_ELTS_AHEAD << log_segs]);
		rearm(m, mbuf_init);
		fill_head(rxq, m, cqe, len, &rare, ts_usable, f);
		if (f & MLXPMD_RX_F_SCATTER)
			chain(rxq, elt, len);
		else
			m->data_len = len;
		bytes += len;
		*pkt = m;
		cqe += sizeof(struct mlx5_cqe64);
		elt += (size_t)1 << log_segs;
		want += 1u << MLXPMD_TAIL_COUNTER_SHIFT;
	}
	got = pkt - pkts;
	rxq->stats.bytes += bytes;
	rxq->cq_ci += got;
	rxq->rq_ci += got;
	if (unlikely((rare.flags & BAD_CSUM) || rxq->ol_init != 0 ||
		     (rare.tags_be & RTE_BE32(MLXPMD_TAG_MASK))))
		second_look(rxq, pkts, got, first);
	return got;
}

/* How many CQEs may be taken before a ring wraps or the posted WQEs end. */
static __rte_always_inline uint16_t
rx_run_max(const struct mlxpmd_rxq *rxq, uint16_t n)
{
	uint32_t to_cq_end = rxq->cqe_mask + 1 - (rxq->cq_ci & rxq->cqe_mask);
	uint32_t to_rq_end = rxq->wqe_mask + 1 - (rxq->rq_ci & rxq->wqe_mask);
	uint32_t posted = (uint16_t)(rxq->rq_pi - rxq->rq_ci);

	return RTE_MIN(RTE_MIN(to_cq_end, to_rq_end), RTE_MIN(posted, (uint32_t)n));
}

static __rte_always_inline bool
rx_absent(const struct mlxpmd_rxq *rxq)
{
	const struct mlx5_cqe64 *cqe = &rxq->cqes[rxq->cq_ci & rxq->cqe_mask];

	return mlxpmd_cqe_absent(mlxpmd_cqe_tail(cqe), (rxq->cq_ci >> rxq->log_cqes) & 1);
}

static __rte_always_inline void
rx_refill_if_due(struct mlxpmd_rxq *rxq)
{
	if (unlikely(mlxpmd_rx_holes(rxq) >= rxq->free_thresh))
		mlxpmd_rx_refill(rxq);
}

/* There is a completion. */
static __rte_always_inline uint16_t
rx_some(struct mlxpmd_rxq *rxq, struct rte_mbuf **pkts, uint16_t n, const unsigned int f)
{
	const uint32_t cq_ci = rxq->cq_ci;
	bool ts_usable = false;
	uint16_t done = 0, run, got;

	if (f & MLXPMD_RX_F_TS) {
		mlxpmd_clock_follow(rxq->clock, &rxq->snap);
		ts_usable = mlxpmd_clock_usable(&rxq->snap, rte_rdtsc());
	}
	while (done < n) {
		run = rx_run_max(rxq, n - done);
		got = rx_run(rxq, pkts + done, run, ts_usable, f);
		done += got;
		if (likely(got == run && run != 0))
			continue;
		if (likely(rx_absent(rxq)) || !mlxpmd_rx_exception(rxq))
			break;
	}
	if (likely(rxq->cq_ci != cq_ci)) {
		rxq->stats.packets += done;
		mlxpmd_dbrec_write(rxq->cq_dbrec, rxq->cq_ci);
	}
	/* After the CQ's index: the device must not complete into entries still unread. */
	if (likely(rxq->state == MLXPMD_QS_READY))
		rx_refill_if_due(rxq);
	else
		(void)mlxpmd_rx_not_ready(rxq);
	return done;
}

static __rte_always_inline uint16_t
rx_burst(struct mlxpmd_rxq *rxq, struct rte_mbuf **pkts, uint16_t n, const unsigned int f)
{
	if (unlikely(mlxpmd_qstate_load(&rxq->state) != MLXPMD_QS_READY))
		return mlxpmd_rx_not_ready(rxq);
	if (rx_absent(rxq)) {
		/* The mempool may have mbufs again. */
		rx_refill_if_due(rxq);
		return 0;
	}
	return rx_some(rxq, pkts, n, f);
}

#define RX_BURST(name, features) \
	static uint16_t \
	rx_burst_##name(void *rxq, struct rte_mbuf **pkts, uint16_t n) \
	{ \
		return rx_burst(rxq, pkts, n, features); \
	}

RX_BURST(plain, 0)
RX_BURST(scatter, MLXPMD_RX_F_SCATTER)
RX_BURST(ts, MLXPMD_RX_F_TS)
RX_BURST(scatter_ts, MLXPMD_RX_F_SCATTER | MLXPMD_RX_F_TS)
RX_BURST(hash, MLXPMD_RX_F_HASH)
RX_BURST(scatter_hash, MLXPMD_RX_F_SCATTER | MLXPMD_RX_F_HASH)
RX_BURST(ts_hash, MLXPMD_RX_F_TS | MLXPMD_RX_F_HASH)
RX_BURST(scatter_ts_hash, MLXPMD_RX_F_SCATTER | MLXPMD_RX_F_TS | MLXPMD_RX_F_HASH)

const struct mlxpmd_rx_template mlxpmd_rx_templates[MLXPMD_RX_TEMPLATES] = {
	{ rx_burst_plain, "Scalar" },
	{ rx_burst_scatter, "Scalar Scatter" },
	{ rx_burst_ts, "Scalar Timestamp" },
	{ rx_burst_scatter_ts, "Scalar Scatter Timestamp" },
	{ rx_burst_hash, "Scalar Hash" },
	{ rx_burst_scatter_hash, "Scalar Scatter Hash" },
	{ rx_burst_ts_hash, "Scalar Timestamp Hash" },
	{ rx_burst_scatter_ts_hash, "Scalar Scatter Timestamp Hash" },
};

uint16_t
mlxpmd_rx_burst_none(void *rxq __rte_unused, struct rte_mbuf **pkts __rte_unused,
		     uint16_t n __rte_unused)
{
	return 0;
}
