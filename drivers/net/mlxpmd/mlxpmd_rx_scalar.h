/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * Receives packets one at a time: for scalar bursts, and for the rest that does not fill a group of a vector burst.
 */
#ifndef MLXPMD_RX_SCALAR_H
#define MLXPMD_RX_SCALAR_H

#include <string.h>

#include <rte_branch_prediction.h>
#include <rte_common.h>
#include <rte_prefetch.h>

#include "mlxpmd.h"
#include "mlxpmd_clock.h"
#include "mlxpmd_ptype.h"
#include "mlxpmd_rx.h"

/* hdr_type_etc in the upper half, vlan_info in the lower half: swapping 32 bits at once needs no certain register. */
static __rte_always_inline uint32_t
mlxpmd_cqe_types_vlan(const struct prm_cqe64 *cqe)
{
	uint32_t be;

	static_assert(offsetof(struct prm_cqe64, vlan_info) == offsetof(struct prm_cqe64, hdr_type_etc) + 2, "adjacent");
	memcpy(&be, &cqe->hds_ip_ext, sizeof(be));
	return rte_be_to_cpu_32(be);
}

/* Packet type, checksum and VLAN flags of a CQE by one table look-up. */
static __rte_always_inline uint64_t
mlxpmd_cqe_classify(const struct prm_cqe64 *cqe)
{
	return mlxpmd_ptype_table[mlxpmd_ptype_index(cqe->tls_outer_l3_tunneled, mlxpmd_cqe_types_vlan(cqe) >> 16)];
}

/** Converts a device timestamp; false if it has no value. The kind is a compile-time constant. */
static __rte_always_inline bool
mlxpmd_rx_stamp(const struct mlxpmd_clock_snap *snap, uint64_t ts, uint64_t *value, const unsigned int f)
{
	switch (f & MLXPMD_RX_F_STAMP) {
	case MLXPMD_RX_F_TICKS:
		*value = ts;
		return true;
	case MLXPMD_RX_F_PACKED:
		return mlxpmd_clock_unpack(ts, value);
	default:
		return mlxpmd_clock_convert(snap, ts, value);
	}
}

/* Fills the first mbuf, except data_len and nb_segs. */
static __rte_always_inline void
mlxpmd_rx_fill_head(struct mlxpmd_rxq *rxq, struct rte_mbuf *m, const struct prm_cqe64 *cqe, uint32_t len,
		    struct mlxpmd_rx_rare *rare, bool ts_usable, const unsigned int f)
{
	const uint64_t class = mlxpmd_cqe_classify(cqe);
	uint64_t ol_flags = (class >> 32) & rxq->flag_mask, value;

	rare->flags |= ol_flags;
	rare->tags_be |= cqe->sop_drop_qpn;
	m->packet_type = (uint32_t)class;
	m->pkt_len = len;
	m->vlan_tci = (uint16_t)mlxpmd_cqe_types_vlan(cqe);
	if (f & MLXPMD_RX_F_HASH) {
		m->hash.rss = rte_be_to_cpu_32(cqe->rx_hash_result);
		/* A hash may be 0: rx_hash_type is 0 if there is none. */
		ol_flags |= (uint32_t)(cqe->rx_hash_type != 0) * RTE_MBUF_F_RX_RSS_HASH;
	}
	if (f & MLXPMD_RX_F_STAMP) {
		uint64_t ts = rte_be_to_cpu_64(cqe->timestamp);

		if (likely(ts_usable && mlxpmd_rx_stamp(&rxq->snap, ts, &value, f))) {
			*RTE_MBUF_DYNFIELD(m, rxq->ts_offset, uint64_t *) = value;
			ol_flags |= rxq->ts_flag;
		} else {
			MLXPMD_SHARED_ADD(rxq->q.stats.ts_absent, 1);
		}
	}
	m->ol_flags = ol_flags;
}

/*
 * Chains the segments that a packet fills. Clears their elts entries: refill replaces these and keeps the
 * unused segments.
 */
static __rte_always_inline void
mlxpmd_rx_chain(struct mlxpmd_rxq *rxq, struct rte_mbuf **elt, uint32_t len)
{
	struct rte_mbuf *head = elt[0], *seg = head;
	uint32_t seg_bytes = rxq->seg_first_bytes;
	uint16_t n = 1;

	elt[0] = NULL;
	while (unlikely(len > seg_bytes)) {
		seg->data_len = seg_bytes;
		len -= seg_bytes;
		seg->next = elt[n];
		seg = elt[n];
		seg->data_off = rxq->segs[n].data_off;
		seg_bytes = rxq->segs[n].bytes;
		elt[n++] = NULL;
	}
	seg->data_len = len;
	head->nb_segs = n;
}

/* Writes data_off, refcnt, nb_segs and port with one store. */
static __rte_always_inline void
mlxpmd_rx_rearm(struct rte_mbuf *m, uint64_t init)
{
	*(mlxpmd_u64 *)((uint8_t *)m + offsetof(struct rte_mbuf, rearm_data)) = init;
}

/* The mbufs of the WQE at ci. */
static __rte_always_inline struct rte_mbuf **
mlxpmd_rx_elt(const struct mlxpmd_rxq *rxq, uint16_t ci, const unsigned int f)
{
	return &rxq->q.elts[(ci & rxq->q.wqe_mask) << ((f & MLXPMD_RX_F_SCATTER) ? rxq->log_segs : 0)];
}

/* Fills the mbufs of a packet. */
static __rte_always_inline void
mlxpmd_rx_packet(struct mlxpmd_rxq *rxq, struct rte_mbuf **elt, const struct prm_cqe64 *cqe, uint32_t len,
		 struct mlxpmd_rx_rare *rare, bool ts_usable, const unsigned int f)
{
	struct rte_mbuf *m = elt[0];

	rte_prefetch0(elt[MLXPMD_RX_ELTS_AHEAD << ((f & MLXPMD_RX_F_SCATTER) ? rxq->log_segs : 0)]);
	mlxpmd_rx_rearm(m, rxq->mbuf_init);
	mlxpmd_rx_fill_head(rxq, m, cqe, len, rare, ts_usable, f);
	if (f & MLXPMD_RX_F_SCATTER)
		mlxpmd_rx_chain(rxq, elt, len);
	else
		m->data_len = len;
}

/**
 * Receives packets from adjacent CQEs; stops at the first that is absent or not an ordinary packet. absent: is the next
 * CQE known to be absent?
 */
static __rte_always_inline uint16_t
mlxpmd_rx_run_scalar(struct mlxpmd_rxq *rxq, struct rte_mbuf **pkts, uint16_t n, bool ts_usable, bool *absent,
		     const unsigned int f)
{
	const struct mlx5_cqe64 *first = &rxq->q.cqes[rxq->q.cq_ci & rxq->q.cqe_mask], *cqe = first;
	const size_t step = (size_t)1 << ((f & MLXPMD_RX_F_SCATTER) ? rxq->log_segs : 0);
	struct rte_mbuf **elt = mlxpmd_rx_elt(rxq, rxq->q.ci, f);
	uint32_t want = mlxpmd_rx_tail_expected(rxq, rxq->q.ci, f);
	struct rte_mbuf **pkt = pkts, **const end = pkts + n;
	struct mlxpmd_rx_rare rare = { 0, 0 };
	uint32_t bytes = 0; /* A run is at most 2^15 packets, the largest ring. */

	*absent = false;
	for (; pkt != end; pkt++) {
		const uint64_t tail = mlxpmd_cqe_tail(cqe);
		uint32_t len;

		if (((uint32_t)tail ^ want) & rxq->tail_check) {
			*absent = mlxpmd_cqe_absent(tail, rxq->q.cq_ci >> rxq->q.log_cqes, mlxpmd_rx_validity(rxq, f));
			break;
		}
		/*
		 * Order the load of the owner bit before the loads of the other members. Load-load order is enough:
		 * the CQE is not written.
		 */
		rte_io_rmb();
		len = rte_be_to_cpu_32(cqe->byte_cnt);
		if (unlikely(len - 1 >= rxq->len_max))
			break;
		*pkt = *elt;
		mlxpmd_rx_packet(rxq, elt, (const struct prm_cqe64 *)cqe, len, &rare, ts_usable, f);
		bytes += len;
		cqe++;
		elt += step;
		want += 1u << MLXPMD_TAIL_COUNTER_SHIFT;
	}
	mlxpmd_rx_account(rxq, pkts, pkt - pkts, bytes, &rare, first);
	return pkt - pkts;
}

#endif /* MLXPMD_RX_SCALAR_H */
