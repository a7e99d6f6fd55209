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

/*
 * Packets of a burst that were copied, to be freed with few requests: those in m, and as many as run from first on, in
 * the application's array.
 */
struct tx_copied {
	struct rte_mbuf **first;
	uint32_t run, n;
	bool plain;	/* All are as tx_is_plain(). */
	const struct rte_mempool *pool; /* Of the burst's first packet. */
	struct rte_mbuf *m[128];
};

/* tx_is_plain() compares the reference count and the number of segments at once. */
static_assert(offsetof(struct rte_mbuf, nb_segs) == offsetof(struct rte_mbuf, refcnt) + sizeof(uint16_t), "mbuf");
#define TX_PLAIN_COUNTS (1 | 1u << 16)

/*
 * Can the mbuf go back to mempool mp as it is: one segment, one reference, its own buffer? Are its ol_flags as in
 * title, where alike has a bit?
 */
static __rte_always_inline bool
tx_is_plain(const struct rte_mbuf *m, const struct rte_mempool *mp, uint64_t alike, uint64_t title)
{
	const uint64_t shared = RTE_MBUF_F_INDIRECT | RTE_MBUF_F_EXTERNAL;
	uint32_t counts;

	memcpy(&counts, &m->refcnt, sizeof(counts));
	return counts == TX_PLAIN_COUNTS && (m->ol_flags & (alike | shared)) == title && m->pool == mp;
}

static __rte_noinline void
tx_copied_gather(struct tx_copied *c, bool fast)
{
	struct rte_mbuf **end = c->first + c->run;

	for (; c->first != end; c->first++) {
		if (c->n == RTE_DIM(c->m)) {
			mlxpmd_tx_free_copied(c->m, c->n, fast);
			c->n = 0;
		}
		c->m[c->n++] = *c->first;
	}
}

/* Adds the packets from `from` to before `end`. */
static __rte_always_inline void
tx_copied_add(struct tx_copied *c, struct rte_mbuf **from, struct rte_mbuf **end, bool fast)
{
	if (unlikely(from != c->first + c->run)) {
		if (from == end)
			return;
		if (c->run != 0)
			tx_copied_gather(c, fast);
		c->first = from;
	}
	c->run = end - c->first;
}

static __rte_always_inline void
tx_copied_free(struct tx_copied *c, bool fast)
{
	if (likely(c->n == 0)) {
		if (c->run != 0)
			mlxpmd_tx_free_copied(c->first, c->run, fast || c->plain);
		return;
	}
	tx_copied_gather(c, fast);
	mlxpmd_tx_free_copied(c->m, c->n, fast || c->plain);
}

/*
 * The copies prefetch lines of the ring this far ahead, as many as they write: loads run ahead by themselves, stores
 * wait for their lines. Behind the ring's end it does no harm.
 */
#define TX_COPY_AHEAD (4 * MLX5_SEND_WQE_BB)

/* By 32 bytes, because with rte_mov64() all AVX-512 bursts would have 512-bit registers. */
static __rte_always_inline void
tx_copy_line(uint8_t *to, const uint8_t *from)
{
	rte_mov32(to, from);
	rte_mov32(to + 32, from + 32);
}

/* Copies len >= 32 bytes by blocks, of which the last overlaps the one before. */
static __rte_always_inline void
tx_copy_blocks(uint8_t *to, const uint8_t *from, uint32_t len)
{
	uint32_t i;

	if (len < 64) {
		rte_mov32(to, from);
		rte_mov32(to + len - 32, from + len - 32);
		return;
	}
	for (i = 0; i < len - 64; i += 64) {
		rte_prefetch0(to + TX_COPY_AHEAD + 64 + i);
		tx_copy_line(to + i, from + i);
	}
	tx_copy_line(to + len - 64, from + len - 64);
}

/* Writes byte_count of an inline data segment of a packet of less than 256 bytes. */
static __rte_always_inline void
tx_copy_count_byte(uint8_t *seg, uint32_t len)
{
	const uint32_t byte_count = rte_cpu_to_be_32(PRM_WQE_INLINE_SEG);

	memcpy(seg, &byte_count, sizeof(byte_count));
	seg[3] = len;
}

/* As tx_copy(). 32 <= len <= 64. */
static __rte_always_inline void
tx_copy_short(uint8_t *seg, const uint8_t *packet, uint32_t len)
{
	uint8_t *to = seg + sizeof(uint32_t);

	tx_copy_count_byte(seg, len);
	rte_mov32(to, packet);
	rte_mov32(to + len - 32, packet + len - 32);
}

/* As tx_copy(). 64 <= len <= 128. */
static __rte_always_inline void
tx_copy_long(uint8_t *seg, const uint8_t *packet, uint32_t len)
{
	uint8_t *to = seg + sizeof(uint32_t);

	tx_copy_count_byte(seg, len);
	rte_prefetch0(seg + TX_COPY_AHEAD + 64);
	rte_prefetch0(seg + TX_COPY_AHEAD + 128);
	tx_copy_line(to, packet);
	tx_copy_line(to + len - 64, packet + len - 64);
}

/*
 * Writes the inline data segment of a packet: nothing outside of the packet is read, and nothing outside of the segment
 * is written. len > 0.
 */
static __rte_always_inline void
tx_copy(uint8_t *seg, const uint8_t *packet, uint32_t len)
{
	const uint32_t byte_count = rte_cpu_to_be_32(len | PRM_WQE_INLINE_SEG);
	uint8_t *to = seg + sizeof(byte_count);

	memcpy(seg, &byte_count, sizeof(byte_count));
	if (likely(len >= 32))
		tx_copy_blocks(to, packet, len);
	else
		memcpy(to, packet, len);
}

#endif /* MLXPMD_TX_COPY_H */
