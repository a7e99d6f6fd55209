/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Prepares a send queue for the bursts, and frees what it contains. */

#include <string.h>

#include <rte_malloc.h>

#include "mlxpmd.h"
#include "mlxpmd_tx.h"

/* By default. A burst frees as many packets at once, into the mempool's cache. */
#define RS_THRESH_MIN 32u
#define RS_THRESH_MAX 64u
/* A queue is busy for so long after its last completion. */
#define BUSY_NS UINT64_C(100000000)
/* Outstanding completions in addition to one per rs_thresh: a long WQE may request its own. */
#define CQE_SLACK 8

/* Header bytes to inline for the inline mode of the vport (PRM, nic_vport_context.min_wqe_inline_mode). */
static int
inline_bytes(uint8_t mode)
{
	static const uint8_t by_mode[] = {
		[PRM_MIN_INLINE_MODE_NONE] = 0,
		[PRM_MIN_INLINE_MODE_L2] = 18,
		[PRM_MIN_INLINE_MODE_IP] = 18 + 40,
		[PRM_MIN_INLINE_MODE_TCP_UDP] = MLXPMD_INLINE_MAX,
	};

	return mode < RTE_DIM(by_mode) ? by_mode[mode] : -EINVAL;
}

/* At most a quarter of either ring has no completion requested; each requested completion has a CQE. */
static int
thresholds_set(struct mlxpmd_txq *txq, uint32_t elts)
{
	uint32_t wqebbs = 1u << txq->q.hw.sq.wq.log_wq_sz, cqes = 1u << txq->q.hw.cq.log_cqes;
	uint32_t most = RTE_MIN(elts, wqebbs) / 4;
	uint32_t rs = txq->conf.tx_rs_thresh;

	if (rs == 0)
		rs = RTE_MIN(RTE_MAX(elts / 16, RS_THRESH_MIN), RS_THRESH_MAX);
	rs = RTE_MAX(1u, RTE_MIN(rs, most));
	while (elts / rs + CQE_SLACK > cqes && rs < most)
		rs = RTE_MIN(rs * 2, most);
	if (elts / rs + CQE_SLACK > cqes)
		return mlxpmd_queue_arm_fail(&txq->q, EINVAL, "the CQ does not fit the SQ");
	txq->rs_thresh = rs;
	txq->wqebb_busy = (wqebbs - 1) / 4;
	txq->wqebb_idle = txq->wqebb_busy;
	/* Copied packets do not count for rs_thresh. */
	if (txq->inline_mpw != 0 || txq->inline_send != 0)
		txq->wqebb_idle = RTE_MIN(txq->wqebb_busy, txq->rs_thresh);
	return 0;
}

/*
 * Copied packets hold no mbufs: completions give back space in the ring, and show that the device works. While they
 * come a quarter of the ring is soon enough. Otherwise more are requested, because the device owes no others.
 */
void
mlxpmd_txq_watch(struct mlxpmd_queue *q, bool completed, uint32_t cq_ci, uint64_t now_ns)
{
	struct mlxpmd_txq *txq = mlxpmd_txq_of(q);
	uint16_t ci = __atomic_load_n(&q->ci, __ATOMIC_RELAXED), thresh = txq->wqebb_thresh;

	RTE_SET_USED(completed);
	RTE_SET_USED(cq_ci);
	if (ci != txq->watch_ci) {
		txq->watch_ci = ci;
		txq->watch_ns = now_ns;
		thresh = txq->wqebb_busy;
	} else if (now_ns - txq->watch_ns >= BUSY_NS) {
		thresh = txq->wqebb_idle;
	}
	/* Bursts read this line: it is written for a change only. */
	if (thresh != txq->wqebb_thresh)
		__atomic_store_n(&txq->wqebb_thresh, thresh, __ATOMIC_RELAXED);
}

static int
sizes_set(struct mlxpmd_txq *txq)
{
	uint32_t elts = rte_align32pow2(RTE_MAX(txq->q.nb_desc, 8u));
	const struct mdv_caps *caps = &txq->mdv->caps;
	int hdr = inline_bytes(caps->min_inline_mode);

	if (txq->q.hw.sq.wq.log_wq_sz > 15 || txq->q.hw.cq.log_cqes > 15 || elts > 32768)
		return mlxpmd_queue_arm_fail(&txq->q, EINVAL, "the rings are too large");
	if (hdr < 0)
		return mlxpmd_queue_arm_fail(&txq->q, EINVAL, "the device's inline mode is unknown");
	txq->inline_bytes = hdr;
	txq->max_ds = RTE_MIN((uint32_t)caps->max_sq_desc_ds, MLXPMD_TX_DS_MAX);
	if (txq->max_ds < MLXPMD_TITLE_DS + 1 + (hdr + sizeof(uint32_t)) / MLXPMD_DS_BYTES + 1)
		return mlxpmd_queue_arm_fail(&txq->q, EINVAL, "the device's largest WQE is too small");
	txq->max_lso = (txq->q.offloads & MLXPMD_TX_TSO_OFFLOADS) ? caps->max_lso_bytes : 0;
	txq->swp_tunnels = mlxpmd_tx_tunnels_swp(caps);
	txq->elts_mask = elts - 1;
	return thresholds_set(txq, elts);
}

static int
memory_set(struct mlxpmd_txq *txq)
{
	txq->q.elts = rte_zmalloc_socket("mlxpmd_txq_elts",
				       (txq->elts_mask + 1u) * sizeof(txq->q.elts[0]),
				       RTE_CACHE_LINE_SIZE, txq->q.socket_id);
	txq->wqe_info = rte_zmalloc_socket("mlxpmd_txq_info",
					   (txq->q.wqe_mask + 1u) * sizeof(txq->wqe_info[0]),
					   RTE_CACHE_LINE_SIZE, txq->q.socket_id);
	if (txq->q.elts != NULL && txq->wqe_info != NULL)
		return 0;
	mlxpmd_txq_disarm(&txq->q);
	return mlxpmd_queue_arm_fail(&txq->q, ENOMEM, "no memory for the mbuf ring");
}

/* Initializes the rings for index 0. */
static void
rings_set(struct mlxpmd_txq *txq)
{
	mlxpmd_queue_rings_set(&txq->q);
	txq->db_reg = txq->q.hw.sq.db_reg;
	txq->db_wc = txq->q.hw.sq.db_wc;
	txq->sqn = txq->q.hw.sq.wq.number;
	memset(txq->q.wqes, 0, (txq->q.wqe_mask + 1u) * (size_t)MLX5_SEND_WQE_BB);
}

static void
indices_reset(struct mlxpmd_txq *txq)
{
	txq->q.pi = 0;
	txq->q.ci = 0;
	txq->elts_pi = 0;
	txq->elts_ci = 0;
	txq->elts_comp = 0;
	txq->wqebb_comp = 0;
	txq->wqebb_thresh = txq->wqebb_idle;
	txq->watch_ci = 0;
	txq->mr_generation = mdv_mr_generation(txq->mdv);
	txq->mr_last = (struct mdv_mr_range) { 0 };
	txq->time_until_tsc = 0;
	txq->tso = (struct mlxpmd_tso_form) { 0 };
}

int
mlxpmd_txq_arm(struct mlxpmd_queue *q)
{
	struct mlxpmd_txq *txq = mlxpmd_txq_of(q);
	int rc;

	mlxpmd_queue_arm(q);
	rc = sizes_set(txq);
	if (rc == 0)
		rc = memory_set(txq);
	if (rc != 0)
		return rc;
	rings_set(txq);
	indices_reset(txq);
	return 0;
}

uint32_t
mlxpmd_txq_rewind(struct mlxpmd_txq *txq, bool fresh)
{
	uint32_t lost = mlxpmd_tx_settle(txq);

	/* Remove the entries of the previous pass. */
	memset(txq->wqe_info, 0, (txq->q.wqe_mask + 1u) * sizeof(txq->wqe_info[0]));
	indices_reset(txq);
	if (fresh)
		rings_set(txq);
	else
		mlxpmd_queue_cq_resume(&txq->q);
	return lost;
}

void
mlxpmd_txq_disarm(struct mlxpmd_queue *q)
{
	struct mlxpmd_txq *txq = mlxpmd_txq_of(q);

	txq->q.state = MLXPMD_QS_RESET;
	if (txq->q.elts != NULL)
		(void)mlxpmd_tx_settle(txq);
	rte_free(txq->q.elts);
	rte_free(txq->wqe_info);
	txq->q.elts = NULL;
	txq->wqe_info = NULL;
}

uint16_t
mlxpmd_tx_segs_max(const struct mdv_caps *caps)
{
	/* The longest inline header: of a packet to be segmented, or that with a tag, which devices require. */
	uint32_t header = caps->max_lso_bytes != 0 ? MLXPMD_TSO_HEADER_DS : 2;

	return RTE_MIN((uint32_t)caps->max_sq_desc_ds, MLXPMD_TX_DS_MAX) - MLXPMD_TITLE_DS - header;
}

uint64_t
mlxpmd_tx_offloads(const struct mdv_caps *caps)
{
	uint64_t offloads = RTE_ETH_TX_OFFLOAD_MULTI_SEGS | RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE;

	if (caps->csum)
		offloads |= RTE_ETH_TX_OFFLOAD_IPV4_CKSUM | RTE_ETH_TX_OFFLOAD_UDP_CKSUM |
			    RTE_ETH_TX_OFFLOAD_TCP_CKSUM;
	if (caps->csum && (mlxpmd_tx_tunnels_found(caps) | mlxpmd_tx_tunnels_swp(caps)) != 0)
		offloads |= RTE_ETH_TX_OFFLOAD_OUTER_IPV4_CKSUM;
	if (caps->csum && caps->max_lso_bytes != 0)
		offloads |= RTE_ETH_TX_OFFLOAD_TCP_TSO |
			    (caps->tunnel_vxlan ? RTE_ETH_TX_OFFLOAD_VXLAN_TNL_TSO : 0) |
			    (caps->tunnel_gre ? RTE_ETH_TX_OFFLOAD_GRE_TNL_TSO : 0) |
			    (caps->tunnel_geneve || caps->swp_lso ? RTE_ETH_TX_OFFLOAD_GENEVE_TNL_TSO : 0) |
			    (caps->tunnel_ipip || caps->swp_lso ? RTE_ETH_TX_OFFLOAD_IPIP_TNL_TSO : 0) |
			    (caps->swp_lso ? RTE_ETH_TX_OFFLOAD_IP_TNL_TSO | RTE_ETH_TX_OFFLOAD_UDP_TNL_TSO : 0);
	/* With inline headers the burst inserts the tag. */
	if (caps->vlan_insert || caps->min_inline_mode != 0)
		offloads |= RTE_ETH_TX_OFFLOAD_VLAN_INSERT;
	return offloads;
}
