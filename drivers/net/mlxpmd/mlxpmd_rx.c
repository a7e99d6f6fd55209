/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Scalar receive bursts, one function per set of features, and the second pass for rare properties. */

#include "mlxpmd_rx_comp.h"
#include "mlxpmd_rx_mprq_vec.h"

/* ---- compressed completions: as the vector functions, one packet at a time ---- */

struct mini_image {
	const struct mlxpmd_mini_base *base;
	const struct prm_mini_cqe8 *minis;
	uint32_t limit, loaded, bytes; /* Largest length; bytes of the array that was loaded last, and of all before. */
};

static __rte_always_inline struct mini_image
mini_image_of(const struct mlxpmd_mini_base *base, uint32_t limit)
{
	return (struct mini_image){ .base = base, .limit = limit };
}

static __rte_always_inline bool
mini_load(struct mini_image *image, const void *array, uint32_t n, const unsigned int f)
{
	image->minis = array;
	image->loaded = mlxpmd_mini_check(array, n, image->limit, f);
	return image->loaded != 0;
}

static __rte_always_inline void
mini_store(struct mini_image *image, struct rte_mbuf *const *elt, uint32_t n, const unsigned int f)
{
	image->bytes += image->loaded;
	mlxpmd_mini_some(image->base, image->minis, elt, NULL, n, f);
}

static __rte_always_inline enum mlxpmd_mprq_lengths
mini_lengths(const struct mini_image *image __rte_unused, const struct mlxpmd_rx_run *run __rte_unused)
{
	return MLXPMD_MPRQ_MIXED;
}

static __rte_always_inline uint32_t
mini_bytes(const struct mini_image *image)
{
	return image->bytes;
}

#include "mlxpmd_rx_minis.h"
#include "mlxpmd_rx_mprq_minis.h"

/** Delivers what flows have set, 0 being nothing. */
static void
meta_deliver(const struct mlxpmd_rxq *rxq, struct rte_mbuf *m, const struct prm_cqe64 *cqe)
{
	if (cqe->flow_table_metadata == 0)
		return;
	*RTE_MBUF_DYNFIELD(m, rxq->meta_offset, uint32_t *) = rte_be_to_cpu_32(cqe->flow_table_metadata);
	m->ol_flags |= rxq->meta_flag;
}

/* Ends the chain with the data, pkt_len bytes. Segments that have only a part of the FCS are freed. */
static void
fcs_cut_chain(struct rte_mbuf *head)
{
	struct rte_mbuf *seg = head, *rest;
	uint32_t left = head->pkt_len;
	uint16_t n = 1;

	for (; seg->data_len < left; seg = seg->next, n++)
		left -= seg->data_len;
	seg->data_len = left;
	head->nb_segs = n;
	for (rest = seg->next, seg->next = NULL; rest != NULL; rest = seg) {
		seg = rest->next;
		rte_pktmbuf_free_seg(rest);
	}
}

/* By ethdev's convention the FCS is behind the data: no length includes it, so that a forwarded frame has none. */
static void
fcs_cut(struct mlxpmd_rxq *rxq, struct rte_mbuf **pkts, uint16_t n)
{
	struct rte_mbuf *m;
	uint64_t bytes = 0;
	uint32_t fcs;
	uint16_t i;

	for (i = 0; i < n; i++) {
		m = pkts[i];
		fcs = RTE_MIN(m->pkt_len, (uint32_t)RTE_ETHER_CRC_LEN);
		m->pkt_len -= fcs;
		bytes += fcs;
		if (likely(m->nb_segs == 1))
			m->data_len -= fcs;
		else
			fcs_cut_chain(m);
	}
	MLXPMD_SHARED_ADD(rxq->q.stats.bytes, -bytes);
}

__rte_noinline void
mlxpmd_rx_rare_handle(struct mlxpmd_rxq *rxq, struct rte_mbuf **pkts, uint16_t n, const struct mlx5_cqe64 *cqe,
		      bool marked)
{
	uint16_t i;

	if (rxq->ol_init & MLXPMD_RX_OL_FCS)
		fcs_cut(rxq, pkts, n);
	if (cqe == NULL || (!marked && (rxq->ol_init & ~MLXPMD_RX_OL_FCS) == 0))
		return;
	for (i = 0; i < n; i++, cqe++) {
		struct rte_mbuf *m = pkts[i];

		if (rxq->ol_init & RTE_MBUF_F_RX_LRO)
			mlxpmd_rx_lro(rxq, m, cqe);
		else
			m->ol_flags |= rxq->ol_init & ~(rxq->meta_flag | MLXPMD_RX_OL_FCS);
		if (rxq->meta_flag != 0)
			meta_deliver(rxq, m, (const struct prm_cqe64 *)cqe);
		mlxpmd_rx_count_csum(rxq, m);
		mlxpmd_rx_mark(m, rte_be_to_cpu_32(cqe->sop_drop_qpn) & MLXPMD_TAG_MASK);
	}
}

#define SCALAR \
	((struct mlxpmd_rx_isa){ mlxpmd_rx_run_scalar, mlxpmd_rx_refill, mlxpmd_rx_run_max, mlxpmd_rx_exception, \
				 mlxpmd_rx_minis })
#define SCATTER_BURST(name, isa, f, text) MLXPMD_RX_BURST(scatter_##name, isa, (f) | MLXPMD_RX_F_SCATTER, text)
#define SCATTER_ROW(name, isa, f, text) MLXPMD_RX_ROW(scatter_##name, isa, (f) | MLXPMD_RX_F_SCATTER, text)

MLXPMD_RX_SETS(MLXPMD_RX_BURST, SCALAR)
MLXPMD_RX_COMP_SETS(MLXPMD_RX_BURST, SCALAR)
MLXPMD_RX_SETS(SCATTER_BURST, SCALAR)
MLXPMD_RX_SETS(MLXPMD_MPRQ_BURST, MLXPMD_MPRQ_ISA(mlxpmd_mprq_run_scalar, NULL))
MLXPMD_RX_COMP_SETS(MLXPMD_MPRQ_BURST, MLXPMD_MPRQ_ISA(mlxpmd_mprq_run_scalar, mlxpmd_mprq_minis))

const struct mlxpmd_template mlxpmd_rx_templates[MLXPMD_RX_TEMPLATES] = {
	MLXPMD_RX_SETS(MLXPMD_RX_ROW, "Scalar")
	MLXPMD_RX_SETS(SCATTER_ROW, "Scalar Scatter")
	MLXPMD_RX_COMP_SETS(MLXPMD_RX_ROW, "Scalar")
	MLXPMD_RX_SETS(MLXPMD_MPRQ_ROW, "Scalar Striding")
	MLXPMD_RX_COMP_SETS(MLXPMD_MPRQ_ROW, "Scalar Striding")
	/* They expand sessions. */
	[MLXPMD_RX_F_COMP | MLXPMD_RX_F_SCATTER] = { rx_burst_scatter_plain, "Scalar Scatter Compressed" },
	[MLXPMD_RX_F_COMP | MLXPMD_RX_F_SCATTER | MLXPMD_RX_F_HASH] =
		{ rx_burst_scatter_hash, "Scalar Scatter Hash Compressed" },
};
