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
		MLXPMD_SHARED_ADD(rxq->q.stats.l3_csum_bad, (m->ol_flags & RTE_MBUF_F_RX_IP_CKSUM_BAD) != 0);
		MLXPMD_SHARED_ADD(rxq->q.stats.l4_csum_bad, (m->ol_flags & RTE_MBUF_F_RX_L4_CKSUM_BAD) != 0);
		mark(m, cqe);
	}
}

#define SCALAR \
	((struct mlxpmd_rx_isa){ mlxpmd_rx_run_scalar, mlxpmd_rx_refill, mlxpmd_rx_run_max, mlxpmd_rx_exception, \
				 NULL })
#define SCATTER_BURST(name, isa, f, text) MLXPMD_RX_BURST(scatter_##name, isa, (f) | MLXPMD_RX_F_SCATTER, text)
#define SCATTER_ROW(name, isa, f, text) MLXPMD_RX_ROW(scatter_##name, isa, (f) | MLXPMD_RX_F_SCATTER, text)

MLXPMD_RX_SETS(MLXPMD_RX_BURST, SCALAR)
MLXPMD_RX_SETS(SCATTER_BURST, SCALAR)

const struct mlxpmd_template mlxpmd_rx_templates[MLXPMD_RX_TEMPLATES] = {
	MLXPMD_RX_SETS(MLXPMD_RX_ROW, "Scalar")
	MLXPMD_RX_SETS(SCATTER_ROW, "Scalar Scatter")
	/* They expand sessions. */
	[MLXPMD_RX_F_COMP] = { rx_burst_plain, "Scalar Compressed" },
	[MLXPMD_RX_F_COMP | MLXPMD_RX_F_HASH] = { rx_burst_hash, "Scalar Hash Compressed" },
	[MLXPMD_RX_F_COMP | MLXPMD_RX_F_SCATTER] = { rx_burst_scatter_plain, "Scalar Scatter Compressed" },
	[MLXPMD_RX_F_COMP | MLXPMD_RX_F_SCATTER | MLXPMD_RX_F_HASH] =
		{ rx_burst_scatter_hash, "Scalar Scatter Hash Compressed" },
};
