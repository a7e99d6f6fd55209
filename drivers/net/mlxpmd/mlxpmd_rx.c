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

static __rte_always_inline uint32_t
cqe_be32(const uint8_t *cqe, unsigned int offset)
{
	return rte_be_to_cpu_32(*(const unaligned_uint32_t *)(cqe + offset));
}

/* Header bits to packet type and flags: the whole of ptype, checksums and VLAN in one look-up. */
static __rte_always_inline uint64_t
cqe_classify(const uint8_t *cqe)
{
	return mlxpmd_ptype_table[mlxpmd_ptype_index(cqe[MLXPMD_CQE_PKT_INFO],
						     cqe[MLXPMD_CQE_HDS_IP_EXT],
						     cqe[MLXPMD_CQE_L4_HDR_TYPE_ETC])];
}

static __rte_noinline void
count_bad_csum(struct mlxpmd_rxq *rxq, uint32_t flags)
{
	rxq->stats.l3_csum_bad += (flags & RTE_MBUF_F_RX_IP_CKSUM_BAD) != 0;
	rxq->stats.l4_csum_bad += (flags & RTE_MBUF_F_RX_L4_CKSUM_BAD) != 0;
}

/* Everything of the first mbuf but data_len and nb_segs. */
static __rte_always_inline void
fill_head(struct mlxpmd_rxq *rxq, struct rte_mbuf *m, const uint8_t *cqe, uint64_t tail, uint32_t len,
	  bool ts_usable, const unsigned int f)
{
	const uint64_t class = cqe_classify(cqe);
	uint32_t flags = class >> 32;
	uint64_t ol_flags, ns;

	if (unlikely(flags & (RTE_MBUF_F_RX_IP_CKSUM_BAD | RTE_MBUF_F_RX_L4_CKSUM_BAD)))
		count_bad_csum(rxq, flags);
	ol_flags = (flags & rxq->flag_mask) | rxq->ol_init;
	m->packet_type = (uint32_t)class;
	m->pkt_len = len;
	m->vlan_tci = rte_be_to_cpu_16(*(const unaligned_uint16_t *)(cqe + MLXPMD_CQE_VLAN_INFO));
	if (f & MLXPMD_RX_F_HASH) {
		m->hash.rss = cqe_be32(cqe, MLXPMD_CQE_RX_HASH_RES);
		/* The type says whether there is a hash at all; its value may well be 0. */
		ol_flags |= cqe[MLXPMD_CQE_RX_HASH_TYPE] != 0 ? RTE_MBUF_F_RX_RSS_HASH : 0;
	}
	if (unlikely(tail & MLXPMD_TAIL_TAG_MASK)) {
		uint32_t tag = (tail & MLXPMD_TAIL_TAG_MASK) >> 32;

		if (tag != MLXPMD_TAG_DEFAULT) {
			m->hash.fdir.hi = tag;
			ol_flags |= RTE_MBUF_F_RX_FDIR | RTE_MBUF_F_RX_FDIR_ID;
		}
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

/* Packets from CQEs that follow each other in memory; stops at the first that needs a second look. */
static __rte_always_inline uint16_t
rx_run(struct mlxpmd_rxq *rxq, struct rte_mbuf **pkts, uint16_t n, bool ts_usable, const unsigned int f)
{
	const uint8_t *cqe = (const uint8_t *)&rxq->cqes[rxq->cq_ci & rxq->cqe_mask];
	const uint16_t log_segs = (f & MLXPMD_RX_F_SCATTER) ? rxq->log_segs : 0;
	struct rte_mbuf **elt = &rxq->elts[(rxq->rq_ci & rxq->wqe_mask) << log_segs];
	const uint64_t mbuf_init = rxq->mbuf_init;
	const uint32_t len_max = rxq->len_max;
	/* What the tail has to be: this lap's owner, a plain responder CQE, the WQE that is next. */
	const uint32_t check = MLXPMD_TAIL_OWNER | MLXPMD_TAIL_FORMAT | MLXPMD_TAIL_OPCODE |
			       (uint32_t)rxq->wqe_mask << MLXPMD_TAIL_COUNTER_SHIFT;
	uint32_t want = (uint32_t)rxq->rq_ci << MLXPMD_TAIL_COUNTER_SHIFT |
			(uint32_t)MLX5_CQE_RESP_SEND << 4 | ((rxq->cq_ci >> rxq->log_cqes) & 1);
	uint64_t bytes = 0;
	uint16_t i;

	for (i = 0; i < n; i++) {
		const uint64_t tail = mlxpmd_cqe_tail(cqe);
		struct rte_mbuf *m;
		uint32_t len;

		if (((uint32_t)tail ^ want) & check)
			break;
		/* Ownership before contents. */
		rte_io_rmb();
		len = cqe_be32(cqe, MLXPMD_CQE_BYTE_CNT);
		if (unlikely(len - 1 >= len_max))
			break;
		m = *elt;
		rte_prefetch0(elt[MLXPMD_RX_ELTS_AHEAD << log_segs]);
		rearm(m, mbuf_init);
		fill_head(rxq, m, cqe, tail, len, ts_usable, f);
		if (f & MLXPMD_RX_F_SCATTER)
			chain(rxq, elt, len);
		else
			m->data_len = len;
		bytes += len;
		pkts[i] = m;
		cqe += sizeof(struct mlx5_cqe64);
		elt += (size_t)1 << log_segs;
		want += 1u << MLXPMD_TAIL_COUNTER_SHIFT;
	}
	rxq->stats.bytes += bytes;
	rxq->cq_ci += i;
	rxq->rq_ci += i;
	return i;
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

static __rte_always_inline uint16_t
rx_burst(struct mlxpmd_rxq *rxq, struct rte_mbuf **pkts, uint16_t n, const unsigned int f)
{
	const uint32_t cq_ci = rxq->cq_ci;
	bool ts_usable = false;
	uint16_t done = 0, run, got;

	if (unlikely(rxq->state != MDV_QS_RDY))
		return 0;
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
	if (mlxpmd_rx_holes(rxq) >= rxq->free_thresh && likely(rxq->state == MDV_QS_RDY))
		mlxpmd_rx_refill(rxq);
	return done;
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
