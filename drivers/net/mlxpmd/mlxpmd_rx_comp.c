/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Compressed receive completions: expands sessions, and counts their completions. */

#include <string.h>

#include <ethdev_driver.h>

#include "mlxpmd_mprq.h"
#include "mlxpmd_rx_comp.h"

#define LENGTH_MASK 0xffffffu /* Of the byte count with a flow tag. */
#define LENGTH_BITS 24

/*
 * Replaces what the mini CQE has in a copy of the title. All formats but that of the hash lose the hash, which the
 * title has of the first packet only.
 */
static __rte_always_inline void
mini_apply(struct prm_cqe64 *cqe, const struct prm_mini_cqe8 *mini, enum mdv_mini_cqe format)
{
	const uint32_t bytes = rte_be_to_cpu_32(mini->byte_cnt);
	uint32_t tag;

	cqe->byte_cnt = mini->byte_cnt;
	switch (format) {
	case MDV_MINI_CQE_HASH:
		cqe->rx_hash_result = mini->rx_hash_result;
		break;
	case MDV_MINI_CQE_FLOW_TAG:
		/* Bits 23:16 of the tag are the upper byte of the byte count (DPDK, rxq_cq_decompress_v()). */
		tag = bytes >> LENGTH_BITS << 16 | rte_be_to_cpu_16(mini->checksum);
		cqe->byte_cnt = rte_cpu_to_be_32(bytes & LENGTH_MASK);
		cqe->sop_drop_qpn = (cqe->sop_drop_qpn & ~RTE_BE32(MLXPMD_TAG_MASK)) | rte_cpu_to_be_32(tag);
		break;
	case MDV_MINI_CQE_L3_L4:
		/* Byte 0x1d of the CQE is the first one of the mini CQE (DPDK, rxq_cq_to_pkt_type()). */
		memcpy(&cqe->l4_hdr_type_etc, mini, sizeof(cqe->l4_hdr_type_etc));
		break;
	case MDV_MINI_CQE_CSUM:
	case MDV_MINI_CQE_CSUM_STRIDE:
	case MDV_MINI_CQE_NONE:
		break;
	}
}

/*
 * The same for striding queues: writes first stride and number of strides. `at`: the next stride that is not consumed.
 * Returns the one after the packet. No device is known to continue a session in another WQE (Linux,
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

/* Stores a CQE, its tail at once: other threads read it. */
static __rte_always_inline void
cqe_store(struct mlx5_cqe64 *to, const struct prm_cqe64 *from)
{
	uint64_t tail;

	memcpy(to, from, MLXPMD_CQE_TAIL);
	memcpy(&tail, (const uint8_t *)from + MLXPMD_CQE_TAIL, sizeof(tail));
	__atomic_store_n((mlxpmd_u64 *)((uint8_t *)to + MLXPMD_CQE_TAIL), tail, __ATOMIC_RELAXED);
}

static __rte_always_inline void
expand(struct mlxpmd_rxq *rxq, uint32_t ci, uint32_t n, enum mdv_mini_cqe format, const bool striding)
{
	struct mlx5_cqe64 *cqes = rxq->q.cqes;
	struct prm_mini_cqe8 minis[MLXPMD_MINI_CQES];
	struct prm_cqe64 cqe;
	uint32_t counter, i;

	memcpy(&cqe, &cqes[ci & rxq->q.cqe_mask], sizeof(cqe));
	counter = rte_be_to_cpu_16(cqe.wqe_counter);
	if (format != MDV_MINI_CQE_HASH)
		cqe.rx_hash_type = 0;
	for (i = 0; i < n; i++) {
		/* The array is in an entry that is overwritten by one of its CQEs: copy it before. */
		if (i % MLXPMD_MINI_CQES == 0)
			memcpy(minis, &cqes[(ci + RTE_MAX(i, 1u)) & rxq->q.cqe_mask], sizeof(minis));
		mini_apply(&cqe, &minis[i % MLXPMD_MINI_CQES], format);
		if (striding)
			counter = mini_strides(rxq, &cqe, &minis[i % MLXPMD_MINI_CQES], counter);
		else
			cqe.wqe_counter = rte_cpu_to_be_16(counter + i);
		cqe.op_own = MLX5_CQE_RESP_SEND << MLXPMD_TAIL_OPCODE_SHIFT | ((ci + i) >> rxq->q.log_cqes & 1);
		cqe_store(&cqes[(ci + i) & rxq->q.cqe_mask], &cqe);
		if (striding && counter == rxq->striding.strides) {
			counter = 0;
			cqe.wqe_id = rte_cpu_to_be_16(rte_be_to_cpu_16(cqe.wqe_id) + 1);
		}
	}
}

/*
 * Are the lengths of a session of an ordinary queue possible? Otherwise its title is not one: the device reports a
 * packet that does not fit its WQE by an error completion, which is not compressed.
 */
static bool
lengths_possible(const struct mlxpmd_rxq *rxq, uint32_t ci, uint32_t n)
{
	const uint32_t mask = rxq->mini_cqe == MDV_MINI_CQE_FLOW_TAG ? LENGTH_MASK : UINT32_MAX;
	const struct prm_mini_cqe8 *mini;
	uint32_t i;

	for (i = 0; i < n; i++) {
		mini = (const struct prm_mini_cqe8 *)
			&rxq->q.cqes[(ci + RTE_MAX(i & -MLXPMD_MINI_CQES, 1u)) & rxq->q.cqe_mask];
		if ((rte_be_to_cpu_32(mini[i % MLXPMD_MINI_CQES].byte_cnt) & mask) - 1 >= rxq->len_max)
			return false;
	}
	return true;
}

uint32_t
mlxpmd_rx_expand(struct mlxpmd_rxq *rxq, uint32_t ci, uint32_t max)
{
	const uint32_t n = rte_be_to_cpu_32(rxq->q.cqes[ci & rxq->q.cqe_mask].byte_cnt);

	/* The array of a session of one would not be in its entries: the device does not compress a single CQE. */
	if (rxq->mini_cqe == MDV_MINI_CQE_NONE || n < 2 || n > max)
		return 0;
	if (rxq->striding.log_strides != 0)
		expand(rxq, ci, n, rxq->mini_cqe, true);
	else if (!lengths_possible(rxq, ci, n))
		return 0;
	else if (rxq->mini_cqe == MDV_MINI_CQE_HASH)
		expand(rxq, ci, n, MDV_MINI_CQE_HASH, false);
	else
		expand(rxq, ci, n, rxq->mini_cqe, false);
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
		if (mlxpmd_cqe_absent(tail, ci >> rxq->q.log_cqes & 1))
			return;
		n = mlxpmd_cqe_is_title(tail) ? mlxpmd_rx_expand(rxq, ci, end - ci) : 1;
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
		if (mlxpmd_cqe_absent(tail, ci >> rxq->q.log_cqes & 1))
			break;
		/* Read the owner bit before the byte count; load-load order is enough. */
		rte_io_rmb();
		/* A burst on another lcore may expand the session meanwhile: the byte count may be any. */
		n += mlxpmd_cqe_is_title(tail) ? RTE_MIN(RTE_MAX(rte_be_to_cpu_32(cqe->byte_cnt), 1u), max) : 1;
	}
	return RTE_MIN(n, max);
}
