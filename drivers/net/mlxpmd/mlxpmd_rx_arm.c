/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Prepares a receive queue for the bursts, and frees what it contains. */

#include <string.h>

#include <rte_errno.h>
#include <rte_flow.h>
#include <rte_malloc.h>
#include <rte_mbuf_dyn.h>

#include "mlxpmd.h"
#include "mlxpmd_clock.h"
#include "mlxpmd_rx_comp.h"

#define FREE_THRESH_DEFAULT 64

/* rte_ethdev.h, struct rte_eth_rxseg_split. */
bool
mlxpmd_rxq_seg(const struct mlxpmd_rxq *rxq, unsigned int index, struct mlxpmd_rx_seg *seg)
{
	const unsigned int described = rxq->conf.rx_nseg;
	struct rte_eth_rxseg_split split = { .mp = rxq->mp };
	uint32_t room, data_off, bytes;

	if (index < described)
		split = rxq->conf.rx_seg[index].split;
	else if (described != 0)
		split.mp = rxq->conf.rx_seg[described - 1].split.mp;
	room = rte_pktmbuf_data_room_size(split.mp);
	data_off = split.offset + (index == 0 ? RTE_PKTMBUF_HEADROOM : 0);
	bytes = split.length != 0 ? split.length : room - RTE_MIN(room, data_off);
	*seg = (struct mlxpmd_rx_seg){ .mp = split.mp, .bytes = bytes,
					.data_off = RTE_MIN(data_off, (uint32_t)UINT16_MAX) };
	return bytes != 0 && data_off + bytes <= room;
}

static int
segs_set(struct mlxpmd_rxq *rxq)
{
	unsigned int i;

	rxq->segs_per_wqe = 1u << rxq->log_segs;
	rxq->len_max = 0;
	for (i = 0; i < rxq->segs_per_wqe; i++) {
		if (!mlxpmd_rxq_seg(rxq, i, &rxq->segs[i]))
			return mlxpmd_queue_arm_fail(&rxq->q, EINVAL, "a segment does not fit its mempool's data room");
		rxq->len_max += rxq->segs[i].bytes;
	}
	rxq->seg_first_bytes = rxq->segs[0].bytes;
	rxq->headroom = rxq->segs[0].data_off;
	return 0;
}

static int
sizes_set(struct mlxpmd_rxq *rxq)
{
	uint32_t wqes = 1u << rxq->q.hw.rq.wq.log_wq_sz;
	uint16_t thresh = rxq->conf.rx_free_thresh;

	if (rxq->q.hw.cq.log_cqes < rxq->q.hw.rq.wq.log_wq_sz || rxq->q.hw.cq.log_cqes > 15)
		return mlxpmd_queue_arm_fail(&rxq->q, EINVAL, "the CQ does not fit the RQ");
	if (rxq->q.hw.rq.wq.log_wq_stride != rxq->log_segs + 4)
		return mlxpmd_queue_arm_fail(&rxq->q, EINVAL, "the RQ's stride does not fit the segments");
	rxq->tail_check = rxq->q.validity | MLXPMD_TAIL_FORMAT | MLXPMD_TAIL_OPCODE |
			  (uint32_t)rxq->q.wqe_mask << MLXPMD_TAIL_COUNTER_SHIFT;
	/* Default: at most an eighth of the ring, so that most of it is posted. Configured: at most half of it. */
	if (thresh == 0)
		rxq->free_thresh = RTE_MAX(1u, RTE_MIN((uint32_t)FREE_THRESH_DEFAULT, wqes / 8));
	else
		rxq->free_thresh = RTE_MAX(1u, RTE_MIN((uint32_t)thresh >> rxq->log_segs, wqes / 2));
	return segs_set(rxq);
}

static uint32_t
flag_mask(uint64_t offloads)
{
	/* Stripping can be changed at run time; the device reports per packet whether it stripped a tag. */
	uint32_t mask = RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED;

	if (offloads & RTE_ETH_RX_OFFLOAD_IPV4_CKSUM)
		mask |= RTE_MBUF_F_RX_IP_CKSUM_MASK;
	if (offloads & (RTE_ETH_RX_OFFLOAD_TCP_CKSUM | RTE_ETH_RX_OFFLOAD_UDP_CKSUM))
		mask |= RTE_MBUF_F_RX_L4_CKSUM_MASK;
	return mask;
}

/* The 8 bytes (rearm_data) that each burst writes to a new mbuf. */
static uint64_t
mbuf_init(const struct mlxpmd_rxq *rxq)
{
	struct rte_mbuf m = {
		.data_off = rxq->headroom,
		.nb_segs = 1,
		.port = rxq->q.port_id,
	};
	uint64_t init;

	rte_mbuf_refcnt_set(&m, 1);
	memcpy(&init, &m.rearm_data, sizeof(init));
	return init;
}

/* Never unsets the field: a burst that writes timestamps may be selected already. */
static int
timestamps_set(struct mlxpmd_rxq *rxq)
{
	rxq->clock = rxq->q.port->clock;
	memset(&rxq->snap, 0, sizeof(rxq->snap));
	if (!(rxq->q.offloads & RTE_ETH_RX_OFFLOAD_TIMESTAMP) && !rxq->q.port->timesync.on)
		return 0;
	if (rxq->clock == NULL)
		return mlxpmd_queue_arm_fail(&rxq->q, ENOTSUP, "no clock for timestamps");
	if (rte_mbuf_dyn_rx_timestamp_register(&rxq->ts_offset, &rxq->ts_flag) != 0)
		return mlxpmd_queue_arm_fail(&rxq->q, rte_errno, "no room for timestamps in the mbuf");
	return 0;
}

int
mlxpmd_rxq_metadata_set(struct mlxpmd_rxq *rxq)
{
	rxq->flag_mask = flag_mask(rxq->q.offloads);
	rxq->mbuf_init = mbuf_init(rxq);
	rxq->meta_flag = rte_flow_dynf_metadata_avail() ? RTE_MBUF_DYNFLAG_RX_METADATA : 0;
	rxq->meta_offset = rte_flow_dynf_metadata_offs;
	return timestamps_set(rxq);
}

static bool
pinned(struct rte_mempool *mp)
{
	return (rte_pktmbuf_priv_flags(mp) & RTE_PKTMBUF_POOL_F_PINNED_EXT_BUF) != 0;
}

static int
memory_set(struct mlxpmd_rxq *rxq)
{
	size_t elts = ((size_t)rxq->q.wqe_mask + 1 + MLXPMD_RX_ELTS_AHEAD) << rxq->log_segs;
	struct mlxpmd_rx_seg *seg;

	for (seg = rxq->segs; seg < &rxq->segs[rxq->segs_per_wqe]; seg++) {
		seg->mr = mdv_mr_mempool(rxq->q.port->mdv, seg->mp);
		if (seg->mr == NULL)
			return -rte_errno; /* Logged there. */
		if (seg->mr->n == 0)
			return mlxpmd_queue_arm_fail(&rxq->q, EINVAL, "the mempool has no memory");
		seg->lkey_be = seg->mr->range[0].lkey_be;
		/* Pinned external buffers do not follow their mbufs. */
		seg->buf_offset = pinned(seg->mp) ? 0 : sizeof(struct rte_mbuf) + rte_pktmbuf_priv_size(seg->mp);
	}
	rxq->mr = rxq->segs[0].mr;
	rxq->lkey_be = rxq->segs[0].lkey_be;
	rxq->buf_offset = rxq->segs[0].buf_offset;
	rxq->ol_init = (pinned(rxq->mp) ? RTE_MBUF_F_EXTERNAL : 0) | mlxpmd_rx_ol_features(rxq);
	rxq->q.elts = rte_zmalloc_socket("mlxpmd_rxq_elts", elts * sizeof(rxq->q.elts[0]),
				       RTE_CACHE_LINE_SIZE, rxq->q.socket_id);
	return rxq->q.elts != NULL ? 0 : mlxpmd_queue_arm_fail(&rxq->q, ENOMEM, "no memory for the mbuf ring");
}

/* Initializes the rings for index 0. */
static void
rings_set(struct mlxpmd_rxq *rxq)
{
	uint32_t i, segs = ((uint32_t)rxq->q.wqe_mask + 1) << rxq->log_segs;

	mlxpmd_queue_rings_set(&rxq->q);
	mlxpmd_rx_comp_reset(rxq);
	for (i = 0; i < segs; i++) {
		struct mlx5_wqe_data_seg *dseg = mlxpmd_rx_dseg(rxq, i);
		const struct mlxpmd_rx_seg *seg = &rxq->segs[i & (rxq->segs_per_wqe - 1u)];

		dseg->byte_count = rte_cpu_to_be_32(seg->bytes);
		dseg->lkey = seg->lkey_be;
		dseg->addr = 0;
	}
}

int
mlxpmd_rxq_arm(struct mlxpmd_queue *q)
{
	struct mlxpmd_rxq *rxq = mlxpmd_rxq_of(q);
	uint64_t nombuf = rxq->q.stats.nombuf;
	int rc;

	mlxpmd_queue_arm(q);
	rc = sizes_set(rxq);
	if (rc == 0)
		rc = mlxpmd_rxq_metadata_set(rxq);
	if (rc == 0)
		rc = mlxpmd_rx_comp_arm(rxq);
	if (rc == 0)
		rc = memory_set(rxq);
	if (rc != 0) {
		mlxpmd_rxq_disarm(q);
		return rc;
	}
	rings_set(rxq);
	mlxpmd_rx_refill(rxq);
	if (mlxpmd_rx_holes(rxq) != 0) {
		rxq->q.stats.nombuf = nombuf; /* The error reports it. */
		mlxpmd_rxq_disarm(q);
		return mlxpmd_queue_arm_fail(&rxq->q, ENOMEM, "the mempool cannot fill the ring");
	}
	/* Refill wrote the index for a queue in RDY; the doorbell record must be 0 when the RQ goes to RDY. */
	mlxpmd_dbrec_write(rxq->q.wq_dbrec, 0);
	return 0;
}

static void
reverse(struct rte_mbuf **elts, uint32_t from, uint32_t to)
{
	while (from + 1 < to) {
		struct rte_mbuf *m = elts[from];

		elts[from++] = elts[--to];
		elts[to] = m;
	}
}

/* Rotates elts so that the mbufs of the WQE at rq_ci are first. */
static void
rotate(struct mlxpmd_rxq *rxq)
{
	uint32_t by = (uint32_t)(rxq->q.ci & rxq->q.wqe_mask) << rxq->log_segs;
	uint32_t n = ((uint32_t)rxq->q.wqe_mask + 1) << rxq->log_segs;

	reverse(rxq->q.elts, 0, by);
	reverse(rxq->q.elts, by, n);
	reverse(rxq->q.elts, 0, n);
}

int
mlxpmd_rxq_rewind(struct mlxpmd_rxq *rxq, bool fresh)
{
	if (!fresh)
		mlxpmd_rx_expand_all(rxq);
	rotate(rxq);
	rxq->q.pi -= rxq->q.ci;
	rxq->q.ci = 0;
	if (fresh)
		rings_set(rxq);
	else
		mlxpmd_queue_cq_resume(&rxq->q);
	return mlxpmd_rx_repost(rxq) ? 0 : -EFAULT;
}

void
mlxpmd_rxq_disarm(struct mlxpmd_queue *q)
{
	struct mlxpmd_rxq *rxq = mlxpmd_rxq_of(q);
	uint32_t i, elts;

	mlxpmd_qstate_store(&q->state, MLXPMD_QS_RESET);
	mlxpmd_rx_comp_disarm(rxq);
	if (q->elts == NULL)
		return;
	/* With scatter, unposted WQEs have mbufs too; without, their entries are stale pointers. */
	elts = ((uint32_t)q->wqe_mask + 1) << rxq->log_segs;
	for (i = 0; i < elts; i++) {
		uint16_t wqe = i >> rxq->log_segs;
		bool posted = ((wqe - q->ci) & q->wqe_mask) < (uint16_t)(q->pi - q->ci);

		if (q->elts[i] != NULL && (posted || rxq->log_segs != 0))
			rte_mbuf_raw_free(q->elts[i]);
	}
	q->ci = q->pi;
	rte_free(q->elts);
	q->elts = NULL;
}

uint64_t
mlxpmd_rx_offloads(const struct mdv_caps *caps)
{
	uint64_t offloads = RTE_ETH_RX_OFFLOAD_SCATTER | RTE_ETH_RX_OFFLOAD_RSS_HASH;

	if (caps->csum)
		offloads |= RTE_ETH_RX_OFFLOAD_IPV4_CKSUM | RTE_ETH_RX_OFFLOAD_UDP_CKSUM |
			    RTE_ETH_RX_OFFLOAD_TCP_CKSUM;
	if (caps->vlan_strip)
		offloads |= RTE_ETH_RX_OFFLOAD_VLAN_STRIP;
	if (caps->scatter_fcs)
		offloads |= RTE_ETH_RX_OFFLOAD_KEEP_CRC;
	if (caps->ts_free_running || caps->ts_realtime)
		offloads |= RTE_ETH_RX_OFFLOAD_TIMESTAMP;
	return offloads;
}
