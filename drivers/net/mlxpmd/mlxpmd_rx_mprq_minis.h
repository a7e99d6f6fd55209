/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * Processes sessions of compressed completions of striding queues without expanding them, as mlxpmd_rx_minis.h does
 * for ordinary ones: in the formats hash and checksum, if each packet takes one stride of the same WQE and is copied by
 * whole lines or attached. Other sessions are expanded.
 */
#ifndef MLXPMD_RX_MPRQ_MINIS_H
#define MLXPMD_RX_MPRQ_MINIS_H

#include "mlxpmd_rx_minis.h"
#include "mlxpmd_rx_mprq_vec.h"

/* Has the queue a format whose sessions are not expanded? */
static __rte_always_inline bool
mini_strides_known(const struct mlxpmd_rxq *rxq)
{
	return rxq->mini_cqe == MDV_MINI_CQE_HASH || rxq->mini_cqe == MDV_MINI_CQE_CSUM ||
	       rxq->mini_cqe == MDV_MINI_CQE_CSUM_STRIDE;
}

/* Are the packets of n mini CQEs in the strides from `used` on? One of the formats has their indices. */
static __rte_always_inline bool
mini_strides_fit(const struct mlxpmd_rxq *rxq, const struct prm_mini_cqe8 *mini, uint32_t used, unsigned int n)
{
	uint16_t differ = 0;
	unsigned int i;

	if (rxq->mini_cqe != MDV_MINI_CQE_CSUM_STRIDE)
		return true;
	for (i = 0; i < n; i++)
		differ |= mini[i].stride_index ^ rte_cpu_to_be_16(used + i);
	return differ == 0;
}

/* The packets of an incomplete array. Returns their bytes; 0: none was received. */
static __rte_always_inline uint32_t
mini_strides_some(struct mlxpmd_rxq *rxq, const struct mlxpmd_rx_run *run, const struct mlxpmd_mini_base *base,
		  const struct prm_mini_cqe8 *mini, struct rte_mbuf **pkts, uint32_t used, unsigned int n,
		  const unsigned int f)
{
	const uint32_t bytes = mlxpmd_mini_check(mini, n, run->len_max, f);

	if (unlikely(bytes == 0 || !mini_strides_fit(rxq, mini, used, n) || !mlxpmd_mprq_mbufs_all(rxq, pkts, n)))
		return 0;
	mlxpmd_mini_some(base, mini, pkts, NULL, n, f);
	mlxpmd_mprq_group(rxq, run, pkts, used, n, MLXPMD_MPRQ_MIXED);
	return bytes;
}

/** As mlxpmd_rx_minis(), for striding queues; n: as for mlxpmd_mprq_run_scalar(). */
static __rte_always_inline uint16_t
mlxpmd_mprq_minis(struct mlxpmd_rxq *rxq, struct rte_mbuf **pkts, uint16_t n, const unsigned int f)
{
	struct mlx5_cqe64 *cqe = &rxq->q.cqes[rxq->q.cq_ci & rxq->q.cqe_mask];
	const uint32_t used = rxq->striding.used, want = mlxpmd_rx_tail_expected(rxq, used, f) | MLXPMD_TAIL_COMPRESSED;
	const struct mlxpmd_rx_rare none = { 0, 0 };
	struct rte_mbuf *const *elt;
	struct mlxpmd_mini_base base;
	struct mlxpmd_rx_run run;
	struct mini_image image;
	const void *array;
	uint32_t total, some, done, bytes, more;

	/* Blocks are expanded. */
	if (mlxpmd_rx_enhanced(rxq))
		return 0;
	some = mlxpmd_mini_session(rxq, cqe, want, n, &total);
	if (unlikely(some == 0 || total > rxq->striding.strides - used || !mlxpmd_mprq_wqe_ids_fit(rxq, cqe, 1) ||
		     !mini_strides_known(rxq) || !mlxpmd_mini_base(rxq, cqe, &base, f)))
		return 0;
	run = mlxpmd_rx_run_of(rxq, f);
	image = mini_image_of(&base, run.len_max);
	for (done = 0; done + MLXPMD_MINI_CQES <= some; done += MLXPMD_MINI_CQES) {
		array = cqe + (done == 0 ? 1 : done);
		if (unlikely(!mini_load(&image, array, MLXPMD_MINI_CQES, f) ||
			     !mini_strides_fit(rxq, array, used + done, MLXPMD_MINI_CQES)))
			break;
		elt = mlxpmd_mprq_group_mbufs(rxq, &run, pkts + done, MLXPMD_MINI_CQES);
		if (unlikely(elt == NULL))
			break;
		mini_store(&image, elt, MLXPMD_MINI_CQES, f);
		mlxpmd_mprq_group(rxq, &run, elt, used + done, MLXPMD_MINI_CQES, mini_lengths(&image, &run));
		memmove(pkts + done, elt, MLXPMD_MINI_CQES * sizeof(pkts[0]));
		mlxpmd_mini_invalidate(cqe + done);
		mlxpmd_mini_prefetch(cqe + total, done);
	}
	bytes = mini_bytes(&image);
	/* An incomplete array; or what a complete one lacks is lacking here, too. */
	if (done < some) {
		array = cqe + (done == 0 ? 1 : done);
		more = mini_strides_some(rxq, &run, &base, array, pkts + done, used + done, some - done, f);
		bytes += more;
		if (likely(more != 0)) {
			mlxpmd_mini_invalidate(cqe + done);
			done = some;
		}
	}
	if (unlikely(done == 0))
		return 0;
	mlxpmd_mini_used(rxq, done);
	if (done != total)
		mlxpmd_mini_rest(rxq, done, total);
	rxq->q.starved = 0;
	rxq->striding.used = mlxpmd_mprq_advance(rxq, used, done);
	mlxpmd_rx_account_cqes(rxq, pkts, done, bytes, &none, NULL);
	return done;
}

#endif /* MLXPMD_RX_MPRQ_MINIS_H */
