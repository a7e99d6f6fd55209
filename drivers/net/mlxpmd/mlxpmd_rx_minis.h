/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * Processes sessions of compressed completions (mlxpmd_rx_comp.h) without expanding them: eight mini CQEs at a time
 * become the fields of eight mbufs. What all packets of a session have in common is computed once, from the title.
 * Who includes this file defines struct mini_image, mini_image_of(), mini_load(), mini_store(), mini_bytes(), and
 * mini_lengths() for striding queues (mlxpmd_rx_mprq_minis.h), for its instruction set.
 *
 * The claim of mlxpmd_rx_comp.h holds: each entry that the consumer index passes is INVALID, or made so after the
 * array in it was read. If a burst ends in a session, after a multiple of eight packets, the rest becomes a session of
 * its own.
 *
 * Expansion remains for sessions with one flow tag for all packets or bad checksums, which need a second pass; for
 * impossible lengths; and for fewer than eight packets at the end of a burst that ends in a session.
 */
#ifndef MLXPMD_RX_MINIS_H
#define MLXPMD_RX_MINIS_H

#include <string.h>

#include "mlxpmd_rx_comp.h"
#include "mlxpmd_rx_vec.h"

/** @return false if the packets need a second pass. */
static __rte_always_inline bool
mlxpmd_mini_base(const struct mlxpmd_rxq *rxq, const struct mlx5_cqe64 *title, struct mlxpmd_mini_base *base,
		 const unsigned int f)
{
	const struct prm_cqe64 *cqe = (const struct prm_cqe64 *)title;
	const uint64_t class = mlxpmd_cqe_classify(cqe);
	const bool hashed = (f & MLXPMD_RX_F_HASH) && rxq->mini_cqe == MDV_MINI_CQE_HASH && cqe->rx_hash_type != 0;
	const uint32_t flags = (class >> 32) & rxq->flag_mask;

	*base = (struct mlxpmd_mini_base){
		.rearm_data = rxq->mbuf_init,
		.ol_flags = flags | (hashed ? RTE_MBUF_F_RX_RSS_HASH : 0),
		.packet_type = (uint32_t)class,
		.vlan_tci = rte_be_to_cpu_16(cqe->vlan_info),
	};
	return !(flags & MLXPMD_BAD_CSUM) && (rxq->ol_init & ~MLXPMD_RX_OL_FCS) == 0 &&
	       (rxq->mini_cqe == MDV_MINI_CQE_FLOW_TAG || !(cqe->sop_drop_qpn & RTE_BE32(MLXPMD_TAG_MASK)));
}

/**
 * Receives packets of the blocks that begin at the consumer index, in the formats hash and checksum; none if there is
 * none, or if it is to be expanded. n: as for mlxpmd_rx_run_scalar(). The vectors of a block write to the mbuf after
 * its own, too, which is posted but has no packet yet.
 */
static __rte_always_inline uint16_t
mlxpmd_rx_blocks(struct mlxpmd_rxq *rxq, struct rte_mbuf **pkts, uint16_t n, const unsigned int f)
{
	struct mlx5_cqe64 *cqe = &rxq->q.cqes[rxq->q.cq_ci & rxq->q.cqe_mask];
	const uint32_t pass = rxq->q.cq_ci >> rxq->q.log_cqes, check = MLXPMD_TAIL_PASS | MLXPMD_TAIL_FORMAT;
	const uint32_t want = mlxpmd_cqe_pass(pass, MLXPMD_TAIL_PASS) | MLXPMD_TAIL_COMPRESSED;
	const uint32_t posted = (uint16_t)(rxq->q.pi - rxq->q.ci);
	struct rte_mbuf **elt = &rxq->q.elts[rxq->q.ci & rxq->q.wqe_mask];
	const struct mlxpmd_rx_rare none = { 0, 0 };
	const struct mlx5_cqe64 *title;
	struct mlxpmd_mini_base base;
	struct mini_image image;
	uint32_t total, some, done, bytes = 0, more;
	uint64_t tail = mlxpmd_cqe_tail(cqe);

	if (((uint32_t)tail ^ want) & check)
		return 0;
	title = mlxpmd_rx_title_keep(rxq);
	if (unlikely((rxq->mini_cqe != MDV_MINI_CQE_HASH && rxq->mini_cqe != MDV_MINI_CQE_CSUM) ||
		     !mlxpmd_block_title_valid(title) || !mlxpmd_mini_base(rxq, title, &base, f)))
		return 0;
	image = mini_image_of(&base, rxq->len_max);
	for (done = 0; done < n; done += some, cqe += some) {
		tail = mlxpmd_cqe_tail(cqe);
		total = mlxpmd_block_completions(tail);
		if ((((uint32_t)tail ^ want) & check) || total > MLXPMD_BLOCK_MINI_CQES || total > posted - done)
			break;
		/* Order the number of the pass before the mini CQEs; load-load order is enough. */
		rte_io_rmb();
		some = RTE_MIN(total, n - done);
		if (likely(done + MLXPMD_MINI_CQES <= n)) {
			if (unlikely(!mini_load(&image, cqe, some, f)))
				break;
			mini_store(&image, elt + done, some, f);
			memcpy(pkts + done, elt + done, MLXPMD_MINI_CQES * sizeof(pkts[0]));
			mlxpmd_rx_prefetch(elt + done, MLXPMD_BLOCK_MINI_CQES, f);
		} else {
			more = mlxpmd_mini_check((const struct prm_mini_cqe8 *)cqe, some, rxq->len_max, f);
			if (unlikely(more == 0))
				break;
			bytes += more;
			mlxpmd_mini_some(&base, (const struct prm_mini_cqe8 *)cqe, elt + done, pkts + done, some, f);
		}
		if (unlikely(some != total))
			mlxpmd_block_rest(rxq, rxq->q.cq_ci + done, some, total);
		if (unlikely(pass % MLXPMD_BLOCK_MARK_PASSES == 0))
			mlxpmd_block_mark(cqe, some, pass);
	}
	mlxpmd_rx_account(rxq, pkts, done, bytes + mini_bytes(&image), &none, NULL);
	rxq->title_ci = rxq->q.cq_ci;
	return done;
}

/**
 * Receives packets of the session that begins at the consumer index; none if there is none, or if it is to be expanded.
 * n: as for mlxpmd_rx_run_scalar().
 */
static __rte_always_inline uint16_t
mlxpmd_rx_minis(struct mlxpmd_rxq *rxq, struct rte_mbuf **pkts, uint16_t n, const unsigned int f)
{
	struct mlx5_cqe64 *cqe = &rxq->q.cqes[rxq->q.cq_ci & rxq->q.cqe_mask];
	const uint32_t want = mlxpmd_rx_tail_expected(rxq, rxq->q.ci, f) | MLXPMD_TAIL_COMPRESSED;
	struct rte_mbuf **elt = &rxq->q.elts[rxq->q.ci & rxq->q.wqe_mask];
	const struct mlxpmd_rx_rare none = { 0, 0 };
	const struct prm_mini_cqe8 *array;
	struct mlxpmd_mini_base base;
	struct mini_image image;
	uint32_t total, some, done, bytes, more;

	if (mlxpmd_rx_enhanced(rxq))
		return mlxpmd_rx_blocks(rxq, pkts, n, f);
	some = mlxpmd_mini_session(rxq, cqe, want, n, &total);
	if (unlikely(some == 0 || total > (uint16_t)(rxq->q.pi - rxq->q.ci) || rxq->mini_cqe == MDV_MINI_CQE_NONE ||
		     !mlxpmd_mini_base(rxq, cqe, &base, f)))
		return 0;
	if (unlikely(rxq->mini_cqe == MDV_MINI_CQE_FLOW_TAG || rxq->mini_cqe == MDV_MINI_CQE_L3_L4))
		return mlxpmd_rx_minis_each(rxq, pkts, some, total, &base);
	image = mini_image_of(&base, rxq->len_max);
	for (done = 0; done + MLXPMD_MINI_CQES <= some; done += MLXPMD_MINI_CQES) {
		if (unlikely(!mini_load(&image, cqe + (done == 0 ? 1 : done), MLXPMD_MINI_CQES, f)))
			break;
		mini_store(&image, elt + done, MLXPMD_MINI_CQES, f);
		memcpy(pkts + done, elt + done, MLXPMD_MINI_CQES * sizeof(pkts[0]));
		mlxpmd_mini_invalidate(cqe + done);
		mlxpmd_rx_prefetch(elt + done, MLXPMD_MINI_CQES, f);
		mlxpmd_mini_prefetch(cqe + total, done);
	}
	bytes = mini_bytes(&image);
	/* An incomplete array; or a length is impossible in a complete one. */
	if (done < some) {
		array = (const struct prm_mini_cqe8 *)(cqe + (done == 0 ? 1 : done));
		more = mlxpmd_mini_check(array, some - done, rxq->len_max, f);
		bytes += more;
		if (likely(more != 0)) {
			mlxpmd_mini_some(&base, array, elt + done, pkts + done, some - done, f);
			mlxpmd_mini_invalidate(cqe + done);
			done = some;
		}
	}
	mlxpmd_mini_used(rxq, done);
	if (done != 0 && done != total)
		mlxpmd_mini_rest(rxq, done, total);
	mlxpmd_rx_account(rxq, pkts, done, bytes, &none, NULL);
	return done;
}

#endif /* MLXPMD_RX_MINIS_H */
