/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Scalar receive bursts, one function per set of features, and the second pass for rare properties. */

#include "mlxpmd_rx_frame.h"

static void
mark(struct rte_mbuf *m, const struct mlx5_cqe64 *cqe)
{
	uint32_t tag = rte_be_to_cpu_32(cqe->sop_drop_qpn) & MLXPMD_TAG_MASK;

	if (tag == 0 || tag == MLXPMD_TAG_DEFAULT)
		return;
	m->hash.fdir.hi = tag;
	m->ol_flags |= RTE_MBUF_F_RX_FDIR | RTE_MBUF_F_RX_FDIR_ID;
}

__rte_noinline void
mlxpmd_rx_rare_handle(struct mlxpmd_rxq *rxq, struct rte_mbuf **pkts, uint16_t n,
		      const struct mlx5_cqe64 *cqe)
{
	uint16_t i;

	for (i = 0; i < n; i++, cqe++) {
		struct rte_mbuf *m = pkts[i];

		m->ol_flags |= rxq->ol_init;
		rxq->q.stats.l3_csum_bad += (m->ol_flags & RTE_MBUF_F_RX_IP_CKSUM_BAD) != 0;
		rxq->q.stats.l4_csum_bad += (m->ol_flags & RTE_MBUF_F_RX_L4_CKSUM_BAD) != 0;
		mark(m, cqe);
	}
}

#define SCALAR ((struct mlxpmd_rx_isa){ mlxpmd_rx_run_scalar, mlxpmd_rx_refill })
#define SCATTER MLXPMD_RX_F_SCATTER
#define TS MLXPMD_RX_F_TS
#define HASH MLXPMD_RX_F_HASH
#define TICKS MLXPMD_RX_F_TICKS
#define PACKED MLXPMD_RX_F_PACKED

MLXPMD_RX_BURST(plain, SCALAR, 0)
MLXPMD_RX_BURST(scatter, SCALAR, SCATTER)
MLXPMD_RX_BURST(ts, SCALAR, TS)
MLXPMD_RX_BURST(scatter_ts, SCALAR, SCATTER | TS)
MLXPMD_RX_BURST(hash, SCALAR, HASH)
MLXPMD_RX_BURST(scatter_hash, SCALAR, SCATTER | HASH)
MLXPMD_RX_BURST(ts_hash, SCALAR, TS | HASH)
MLXPMD_RX_BURST(scatter_ts_hash, SCALAR, SCATTER | TS | HASH)
MLXPMD_RX_BURST(ticks, SCALAR, TICKS)
MLXPMD_RX_BURST(scatter_ticks, SCALAR, SCATTER | TICKS)
MLXPMD_RX_BURST(ticks_hash, SCALAR, TICKS | HASH)
MLXPMD_RX_BURST(scatter_ticks_hash, SCALAR, SCATTER | TICKS | HASH)
MLXPMD_RX_BURST(packed, SCALAR, PACKED)
MLXPMD_RX_BURST(scatter_packed, SCALAR, SCATTER | PACKED)
MLXPMD_RX_BURST(packed_hash, SCALAR, PACKED | HASH)
MLXPMD_RX_BURST(scatter_packed_hash, SCALAR, SCATTER | PACKED | HASH)

const struct mlxpmd_rx_template mlxpmd_rx_templates[MLXPMD_RX_TEMPLATES] = {
	[0] = { rx_burst_plain, "Scalar" },
	[SCATTER] = { rx_burst_scatter, "Scalar Scatter" },
	[TS] = { rx_burst_ts, "Scalar Timestamp" },
	[SCATTER | TS] = { rx_burst_scatter_ts, "Scalar Scatter Timestamp" },
	[HASH] = { rx_burst_hash, "Scalar Hash" },
	[SCATTER | HASH] = { rx_burst_scatter_hash, "Scalar Scatter Hash" },
	[TS | HASH] = { rx_burst_ts_hash, "Scalar Timestamp Hash" },
	[SCATTER | TS | HASH] = { rx_burst_scatter_ts_hash, "Scalar Scatter Timestamp Hash" },
	[TICKS] = { rx_burst_ticks, "Scalar Ticks" },
	[SCATTER | TICKS] = { rx_burst_scatter_ticks, "Scalar Scatter Ticks" },
	[TICKS | HASH] = { rx_burst_ticks_hash, "Scalar Ticks Hash" },
	[SCATTER | TICKS | HASH] = { rx_burst_scatter_ticks_hash, "Scalar Scatter Ticks Hash" },
	[PACKED] = { rx_burst_packed, "Scalar Realtime" },
	[SCATTER | PACKED] = { rx_burst_scatter_packed, "Scalar Scatter Realtime" },
	[PACKED | HASH] = { rx_burst_packed_hash, "Scalar Realtime Hash" },
	[SCATTER | PACKED | HASH] = { rx_burst_scatter_packed_hash, "Scalar Scatter Realtime Hash" },
};

uint16_t
mlxpmd_rx_burst_none(void *rxq __rte_unused, struct rte_mbuf **pkts __rte_unused,
		     uint16_t n __rte_unused)
{
	return 0;
}
