/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Compressed receive completions: expands sessions, and counts their completions. */

#include <errno.h>
#include <string.h>

#include <ethdev_driver.h>
#include <rte_malloc.h>

#include "mlxpmd_mprq.h"
#include "mlxpmd_ptype.h"
#include "mlxpmd_rx_comp.h"

/*
 * As mlxpmd_mini_apply() for striding queues: writes first stride and number of strides. `at`: the next stride that is
 * not consumed. Returns the one after the packet. No device is known to continue a session in another WQE (Linux,
 * mlx5e_handle_rx_cqe_mpwrq() takes the title's wqe_id), but what it would mean is clear.
 */
static __rte_always_inline uint32_t
mini_strides(const struct mlxpmd_rxq *rxq, struct prm_cqe64 *cqe, const struct prm_mini_cqe8 *mini, uint32_t at)
{
	const struct mlxpmd_striding *s = &rxq->striding;
	const uint32_t bytes = rte_be_to_cpu_32(cqe->byte_cnt), len = bytes & MLXPMD_MPRQ_LEN_MASK;
	uint32_t strides = bytes >> MLXPMD_MPRQ_STRIDES_SHIFT;

	if (rxq->mini_cqe == MDV_MINI_CQE_FLOW_TAG) {
		/*
		 * The tag has taken bits of the number of strides (DPDK, mlx5_rx_burst_mprq()), and the one of a
		 * filler, which has no length and ends the WQE (DPDK, rxq_copy_mprq_mbuf_v()).
		 */
		strides = (len + (1u << s->log_stride_size) - 1) >> s->log_stride_size;
		if (len == 0)
			strides = MLXPMD_MPRQ_FILLER | (s->strides - at);
		cqe->byte_cnt = rte_cpu_to_be_32(strides << MLXPMD_MPRQ_STRIDES_SHIFT | len);
	}
	if (rxq->mini_cqe == MDV_MINI_CQE_HASH || rxq->mini_cqe == MDV_MINI_CQE_CSUM)
		cqe->wqe_counter = rte_cpu_to_be_16(at);
	else
		cqe->wqe_counter = mini->stride_index;
	return at + (strides & ~MLXPMD_MPRQ_FILLER);
}

/* Writes what differs by packet: flow tag, or packet type and flags. */
static void
minis_apply(struct mlxpmd_rxq *rxq, const struct prm_cqe64 *title, const struct prm_mini_cqe8 *mini,
	    struct rte_mbuf *const *elt, unsigned int n)
{
	const uint16_t hds = title->hds_ip_ext << 8;
	uint64_t class;
	unsigned int i;

	if (rxq->mini_cqe == MDV_MINI_CQE_FLOW_TAG) {
		for (i = 0; i < n; i++)
			mlxpmd_rx_mark(elt[i], mlxpmd_mini_tag(&mini[i]));
		return;
	}
	for (i = 0; i < n; i++) {
		/* As mlxpmd_mini_apply(). */
		class = mlxpmd_ptype_table[mlxpmd_ptype_index(title->tls_outer_l3_tunneled,
							      hds | *(const uint8_t *)&mini[i])];
		elt[i]->packet_type = (uint32_t)class;
		elt[i]->ol_flags = (class >> 32) & rxq->flag_mask;
		if (unlikely(elt[i]->ol_flags & MLXPMD_BAD_CSUM))
			mlxpmd_rx_count_csum(rxq, elt[i]);
	}
}

/* The array in an entry; of the format flow tag a copy, whose byte counts have only the length. */
static const struct prm_mini_cqe8 *
mini_array(const struct mlxpmd_rxq *rxq, const struct mlx5_cqe64 *entry, struct prm_mini_cqe8 *copy)
{
	const struct prm_mini_cqe8 *array = (const struct prm_mini_cqe8 *)entry;
	unsigned int i;

	if (likely(rxq->mini_cqe != MDV_MINI_CQE_FLOW_TAG))
		return array;
	for (i = 0; i < MLXPMD_MINI_CQES; i++) {
		copy[i] = array[i];
		copy[i].byte_cnt &= RTE_BE32(MLXPMD_MINI_LENGTH_MASK);
	}
	return copy;
}

int
mlxpmd_rx_comp_arm(struct mlxpmd_rxq *rxq)
{
	/* Loads of 64 bits begin with any byte. */
	const size_t bytes = (rxq->q.cqe_mask + 1u) / 8 + sizeof(uint64_t);

	rxq->owned = rte_zmalloc_socket("mlxpmd_rxq_owned", bytes, RTE_CACHE_LINE_SIZE, rxq->q.socket_id);
	return rxq->owned != NULL ? 0 : mlxpmd_queue_arm_fail(&rxq->q, ENOMEM, "no memory for bits of the CQ's entries");
}

void
mlxpmd_rx_comp_disarm(struct mlxpmd_rxq *rxq)
{
	rte_free(rxq->owned);
	rxq->owned = NULL;
}

void
mlxpmd_mini_owned(struct mlxpmd_rxq *rxq, uint32_t n)
{
	const uint32_t ci = rxq->q.cq_ci, mask = rxq->q.cqe_mask;
	uint32_t at, left, some, i;

	for (left = RTE_MIN(ci - rxq->owned_ci, mask + 1); left != 0; left -= some) {
		at = (ci - left) & mask;
		some = at % 8 == 0 && left >= 8 ? 8 : 1;
		rxq->owned[at / 8] |= some == 8 ? UINT8_MAX : 1u << at % 8;
	}
	for (i = 0; i < n; i++) {
		at = (ci + i) & mask;
		if (rxq->owned[at / 8] & 1u << at % 8)
			mlxpmd_mini_invalidate(&rxq->q.cqes[at]);
		rxq->owned[at / 8] &= ~(1u << at % 8);
	}
}

uint16_t
mlxpmd_rx_minis_each(struct mlxpmd_rxq *rxq, struct rte_mbuf **pkts, uint32_t some, uint32_t total,
		     const struct mlxpmd_mini_base *base)
{
	struct mlx5_cqe64 *cqe = &rxq->q.cqes[rxq->q.cq_ci & rxq->q.cqe_mask], *entry;
	struct rte_mbuf **elt = &rxq->q.elts[rxq->q.ci & rxq->q.wqe_mask];
	const struct mlxpmd_rx_rare none = { 0, 0 };
	struct prm_mini_cqe8 copy[MLXPMD_MINI_CQES];
	const struct prm_mini_cqe8 *array;
	uint32_t done, n, bytes = 0, more;

	for (done = 0; done < some; done += n) {
		n = RTE_MIN(some - done, (uint32_t)MLXPMD_MINI_CQES);
		entry = cqe + (done == 0 ? 1 : done);
		array = mini_array(rxq, entry, copy);
		more = mlxpmd_mini_check(array, n, rxq->len_max, 0);
		if (unlikely(more == 0))
			break;
		bytes += more;
		mlxpmd_mini_some(base, array, elt + done, pkts + done, n, 0);
		minis_apply(rxq, (const struct prm_cqe64 *)cqe, (const struct prm_mini_cqe8 *)entry, elt + done, n);
		mlxpmd_mini_invalidate(cqe + done);
	}
	mlxpmd_mini_used(rxq, done);
	if (done != 0 && done != total)
		mlxpmd_mini_rest(rxq, done, total);
	mlxpmd_rx_account(rxq, pkts, done, bytes, &none, NULL);
	return done;
}

/* Stores a CQE, its tail at once: other threads read it. */
static __rte_always_inline void
cqe_store(struct mlx5_cqe64 *to, const struct prm_cqe64 *from)
{
	uint64_t tail;

	memcpy(to, from, MLXPMD_CQE_TAIL);
	memcpy(&tail, (const uint8_t *)from + MLXPMD_CQE_TAIL, sizeof(tail));
	__atomic_store_n((mlxpmd_u64 *)((uint8_t *)to + MLXPMD_CQE_TAIL), tail, __ATOMIC_RELAXED);
}

void
mlxpmd_block_rest(struct mlxpmd_rxq *rxq, uint32_t ci, uint32_t n, uint32_t total)
{
	const struct prm_mini_cqe8 *minis = (const struct prm_mini_cqe8 *)&rxq->q.cqes[ci & rxq->q.cqe_mask];
	struct prm_cqe64 block = {
		.signature = (ci + n) >> rxq->q.log_cqes,
		.op_own = (total - n - 1) << MLXPMD_TAIL_OPCODE_SHIFT | MLXPMD_TAIL_COMPRESSED,
	};

	memcpy(&block, minis + n, (total - n) * sizeof(*minis));
	cqe_store(&rxq->q.cqes[(ci + n) & rxq->q.cqe_mask], &block);
}

/* The first entry with mini CQEs of a session or block. */
static __rte_always_inline uint32_t
minis_at(const struct mlxpmd_rxq *rxq)
{
	return mlxpmd_rx_enhanced(rxq) ? 0 : 1;
}

/* Number of completions of a session or block. */
static __rte_always_inline uint32_t
completions(const struct mlxpmd_rxq *rxq, const struct mlx5_cqe64 *cqe, uint64_t tail)
{
	return mlxpmd_rx_enhanced(rxq) ? mlxpmd_block_completions(tail) : rte_be_to_cpu_32(cqe->byte_cnt);
}

/* WQEs or strides that a packet took. */
static uint32_t
strides_of(const struct mlxpmd_rxq *rxq, const struct mlx5_cqe64 *cqe)
{
	if (rxq->striding.log_strides == 0)
		return 1;
	return rte_be_to_cpu_32(cqe->byte_cnt) >> MLXPMD_MPRQ_STRIDES_SHIFT & ~MLXPMD_MPRQ_FILLER;
}

/* Copies the title of a session or block, with the counter of its first packet. false: there is none. */
static bool
title_copy(struct mlxpmd_rxq *rxq, uint32_t ci, struct prm_cqe64 *title)
{
	const bool striding = rxq->striding.log_strides != 0;
	const struct mlx5_cqe64 *from = &rxq->q.cqes[ci & rxq->q.cqe_mask];
	uint16_t counter = rte_be_to_cpu_16(from->wqe_counter), wqe_id = rte_be_to_cpu_16(from->wqe_id);

	if (mlxpmd_rx_enhanced(rxq) && ci == rxq->q.cq_ci) {
		from = mlxpmd_rx_title_keep(rxq);
		counter = striding ? rxq->striding.used : rxq->q.ci;
		wqe_id = rxq->q.ci;
	} else if (mlxpmd_rx_enhanced(rxq)) {
		/* In mlxpmd_rx_expand_all(): what was before it is expanded. */
		from = &rxq->q.cqes[(ci - 1) & rxq->q.cqe_mask];
		counter = rte_be_to_cpu_16(from->wqe_counter) + strides_of(rxq, from);
		wqe_id = rte_be_to_cpu_16(from->wqe_id);
		if (striding && counter == rxq->striding.strides) {
			counter = 0;
			wqe_id++;
		}
	}
	memcpy(title, from, sizeof(*title));
	title->wqe_counter = rte_cpu_to_be_16(counter);
	title->wqe_id = rte_cpu_to_be_16(wqe_id);
	return !mlxpmd_rx_enhanced(rxq) || mlxpmd_block_title_valid(from);
}

static __rte_always_inline void
expand(struct mlxpmd_rxq *rxq, uint32_t ci, uint32_t n, struct prm_cqe64 *cqe, enum mdv_mini_cqe format,
       const bool striding)
{
	const uint32_t first = minis_at(rxq);
	struct mlx5_cqe64 *cqes = rxq->q.cqes;
	struct prm_mini_cqe8 minis[MLXPMD_MINI_CQES];
	uint32_t counter = rte_be_to_cpu_16(cqe->wqe_counter), pass, i;

	if (format != MDV_MINI_CQE_HASH)
		cqe->rx_hash_type = 0;
	for (i = 0; i < n; i++) {
		/* The array is in an entry that is overwritten by one of its CQEs: copy it before. */
		if (i % MLXPMD_MINI_CQES == 0)
			memcpy(minis, &cqes[(ci + RTE_MAX(i, first)) & rxq->q.cqe_mask], sizeof(minis));
		mlxpmd_mini_apply(cqe, &minis[i % MLXPMD_MINI_CQES], format);
		if (striding)
			counter = mini_strides(rxq, cqe, &minis[i % MLXPMD_MINI_CQES], counter);
		else
			cqe->wqe_counter = rte_cpu_to_be_16(counter + i);
		pass = (ci + i) >> rxq->q.log_cqes;
		cqe->signature = (uint8_t)pass;
		cqe->op_own = MLX5_CQE_RESP_SEND << MLXPMD_TAIL_OPCODE_SHIFT | (pass & MLXPMD_TAIL_OWNER);
		cqe_store(&cqes[(ci + i) & rxq->q.cqe_mask], cqe);
		if (striding && counter == rxq->striding.strides) {
			counter = 0;
			cqe->wqe_id = rte_cpu_to_be_16(rte_be_to_cpu_16(cqe->wqe_id) + 1);
		}
	}
}

/*
 * Are the lengths of a session or block of an ordinary queue possible? Otherwise it is none: the device reports a
 * packet that does not fit its WQE by an error completion, which is not compressed.
 */
static bool
lengths_possible(const struct mlxpmd_rxq *rxq, uint32_t ci, uint32_t n)
{
	const uint32_t first = minis_at(rxq);
	struct prm_mini_cqe8 copy[MLXPMD_MINI_CQES];
	const struct prm_mini_cqe8 *array;
	uint32_t i;

	for (i = 0; i < n; i += MLXPMD_MINI_CQES) {
		array = mini_array(rxq, &rxq->q.cqes[(ci + RTE_MAX(i, first)) & rxq->q.cqe_mask], copy);
		if (mlxpmd_mini_check(array, RTE_MIN(n - i, (uint32_t)MLXPMD_MINI_CQES), rxq->len_max, 0) == 0)
			return false;
	}
	return true;
}

uint32_t
mlxpmd_rx_expand(struct mlxpmd_rxq *rxq, uint32_t ci, uint32_t max)
{
	const struct mlx5_cqe64 *cqe = &rxq->q.cqes[ci & rxq->q.cqe_mask];
	const uint32_t n = completions(rxq, cqe, mlxpmd_cqe_tail(cqe));
	const bool enhanced = mlxpmd_rx_enhanced(rxq);
	struct prm_cqe64 title;

	/* As mlxpmd_mini_session(). */
	if (rxq->mini_cqe == MDV_MINI_CQE_NONE || n > max || (enhanced ? n > MLXPMD_BLOCK_MINI_CQES : n < 2) ||
	    !title_copy(rxq, ci, &title))
		return 0;
	if (rxq->striding.log_strides != 0)
		expand(rxq, ci, n, &title, rxq->mini_cqe, true);
	else if (!lengths_possible(rxq, ci, n))
		return 0;
	else if (rxq->mini_cqe == MDV_MINI_CQE_HASH)
		expand(rxq, ci, n, &title, MDV_MINI_CQE_HASH, false);
	else
		expand(rxq, ci, n, &title, rxq->mini_cqe, false);
	return n;
}

void
mlxpmd_rx_expand_all(struct mlxpmd_rxq *rxq)
{
	const uint32_t end = rxq->q.cq_ci + rxq->q.cqe_mask + 1;
	uint32_t ci = rxq->q.cq_ci, n;
	uint64_t tail;

	while (ci != end) {
		tail = mlxpmd_cqe_tail(&rxq->q.cqes[ci & rxq->q.cqe_mask]);
		if (mlxpmd_cqe_absent(tail, ci >> rxq->q.log_cqes, rxq->q.validity))
			return;
		n = mlxpmd_cqe_is_compressed(rxq, tail) ? mlxpmd_rx_expand(rxq, ci, end - ci) : 1;
		ci += RTE_MAX(n, 1u);
	}
}

uint32_t
mlxpmd_rx_completions(const struct mlxpmd_rxq *rxq, uint32_t max)
{
	const struct mlx5_cqe64 *cqe;
	uint32_t n = 0, ci;
	uint64_t tail;

	while (n < max) {
		ci = rxq->q.cq_ci + n;
		cqe = &rxq->q.cqes[ci & rxq->q.cqe_mask];
		tail = mlxpmd_cqe_tail(cqe);
		if (mlxpmd_cqe_absent(tail, ci >> rxq->q.log_cqes, rxq->q.validity))
			break;
		/* Read the owner bit before the byte count; load-load order is enough. */
		rte_io_rmb();
		/* A burst on another lcore may expand the session meanwhile: the byte count may be any. */
		n += mlxpmd_cqe_is_compressed(rxq, tail) ?
			     RTE_MIN(RTE_MAX(completions(rxq, cqe, tail), 1u), max) : 1;
	}
	return RTE_MIN(n, max);
}

/* A whole CQE: an error completion is no packet, nor is the rest of a striding WQE that no packet fits in. */
static bool
is_packet(const struct mlxpmd_rxq *rxq, const struct mlx5_cqe64 *cqe, uint64_t tail)
{
	return mlxpmd_cqe_opcode(tail) == MLX5_CQE_RESP_SEND &&
	       (rxq->striding.log_strides == 0 ||
		!(rte_be_to_cpu_32(cqe->byte_cnt) >> MLXPMD_MPRQ_STRIDES_SHIFT & MLXPMD_MPRQ_FILLER));
}

/* The completion that made the queue fail was counted, unless it came in the place of one that is missing. */
static bool
first_counted(const struct mlxpmd_rxq *rxq)
{
	const struct mlx5_cqe64 *cqe = &rxq->q.cqes[rxq->q.cq_ci & rxq->q.cqe_mask];
	const uint16_t counter = rte_be_to_cpu_16(cqe->wqe_counter);

	if (rxq->q.cause != MLXPMD_CAUSE_ERROR && rxq->q.cause != MLXPMD_CAUSE_BAD)
		return false;
	return rxq->striding.log_strides != 0 ? mlxpmd_mprq_in_step(rxq, cqe, rxq->striding.used) :
						((counter ^ rxq->q.ci) & rxq->q.wqe_mask) == 0;
}

uint32_t
mlxpmd_rxq_unread(const struct mlxpmd_queue *q)
{
	const struct mlxpmd_rxq *rxq = container_of(q, const struct mlxpmd_rxq, q);
	const uint32_t posted = (uint32_t)(uint16_t)(q->pi - q->ci) << rxq->striding.log_strides;
	uint32_t packets = 0, i, step;

	for (i = first_counted(rxq); i < posted; i += step) {
		const uint32_t ci = q->cq_ci + i;
		const struct mlx5_cqe64 *cqe = &q->cqes[ci & q->cqe_mask];
		const uint64_t tail = mlxpmd_cqe_tail(cqe);

		step = 1;
		/* There may be completions behind one that is missing, but not behind the last session. */
		if (mlxpmd_cqe_absent(tail, ci >> q->log_cqes, q->validity))
			continue;
		if (mlxpmd_cqe_is_compressed(rxq, tail)) {
			step = RTE_MIN(RTE_MAX(completions(rxq, cqe, tail), 1u), posted - i);
			packets += step;
		} else {
			packets += is_packet(rxq, cqe, tail);
		}
	}
	return packets;
}
