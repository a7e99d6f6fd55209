/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * Inline data segments: byte_count with PRM_WQE_INLINE_SEG, then the packet, padded to 16 bytes (PRM, WQE data
 * segments; rdma-core, providers/mlx5/qp.c, set_data_inl_seg()). In an enhanced multi-packet WQE they may be next to
 * segments with an address (DPDK, mlx5_tx_burst_empw_inline()).
 */
#ifndef MLXPMD_TX_COPY_H
#define MLXPMD_TX_COPY_H

#include <string.h>

#include <rte_memcpy.h>

#include "mlxpmd_tx.h"

/* WQEBBs of a multi-packet WQE with one packet of len bytes. */
static __rte_always_inline uint32_t
tx_copy_wqebbs(uint32_t len)
{
	uint32_t bytes = MLXPMD_TITLE_DS * MLXPMD_DS_BYTES + mlxpmd_tx_copy_bytes(len);

	return (bytes + MLX5_SEND_WQE_BB - 1) / MLX5_SEND_WQE_BB;
}

/* Packets of a burst that were copied, to be freed with few requests. A multi-packet WQE has at most 61. */
struct tx_copied {
	uint32_t n;
	struct rte_mbuf *m[128];
};

static __rte_always_inline void
tx_copied_free(struct tx_copied *c, bool fast)
{
	if (likely(c->n != 0))
		mlxpmd_tx_free_copied(c->m, c->n, fast);
	c->n = 0;
}

/* Makes space for the packets of one WQE and returns it. */
static __rte_always_inline struct rte_mbuf **
tx_copied_reserve(struct tx_copied *c, bool fast)
{
	if (unlikely(c->n > RTE_DIM(c->m) - PRM_WQE_CTRL_SEG_QPN_DS_DS_MASK))
		tx_copied_free(c, fast);
	return c->m + c->n;
}

/*
 * Writes the inline data segment of a packet by blocks of 32 bytes, of which the last overlaps the one before: nothing
 * outside of the packet is read, and nothing outside of the segment is written. len > 0.
 */
static __rte_always_inline void
tx_copy(uint8_t *seg, const uint8_t *packet, uint32_t len)
{
	const uint32_t byte_count = rte_cpu_to_be_32(len | PRM_WQE_INLINE_SEG);
	uint8_t *to = seg + sizeof(byte_count);
	uint32_t i;

	memcpy(seg, &byte_count, sizeof(byte_count));
	if (likely(len - 32 <= 32)) {
		rte_mov32(to, packet);
	} else if (unlikely(len < 32)) {
		memcpy(to, packet, len);
		return;
	} else {
		for (i = 0; i < len - 32; i += 32)
			rte_mov32(to + i, packet + i);
	}
	rte_mov32(to + len - 32, packet + len - 32);
}

#endif /* MLXPMD_TX_COPY_H */
