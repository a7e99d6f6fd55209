/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Transmit WQEs of any shape: several segments, inline header, VLAN tag; and memory keys of their buffers. */

#include <string.h>

#include <ethdev_driver.h>
#include <rte_ether.h>
#include <rte_mbuf_dyn.h>

#include "mlxpmd_tx.h"

static const struct mdv_mr_range *
range_in_set(const struct mdv_mr_set *set, uintptr_t addr)
{
	unsigned int i;

	for (i = 0; i < set->n; i++)
		if (addr >= set->range[i].start && addr < set->range[i].end)
			return &set->range[i];
	return NULL;
}

bool
mlxpmd_tx_mr_lookup(struct mlxpmd_txq *txq, const struct rte_mbuf *m, uintptr_t addr)
{
	const struct mdv_mr_range *range;
	const struct mdv_mr_set *set;
	struct mdv_mr_range shared;

	/* A secondary process registers a mempool when it creates it: a burst waits for no other process. */
	if (rte_eal_process_type() != RTE_PROC_PRIMARY) {
		if (!mdv_mr_find_shared(txq->mdv, addr, &shared))
			return false;
		txq->mr_last = shared;
		return true;
	}
	range = mdv_mr_find(txq->mdv, addr);
	/* An attached external buffer belongs to no mempool: its owner registers it (rte_dev_dma_map()). */
	if (range == NULL && (!RTE_MBUF_HAS_EXTBUF(m) || RTE_MBUF_HAS_PINNED_EXTBUF(m))) {
		if (RTE_MBUF_CLONED(m))
			m = rte_mbuf_from_indirect((struct rte_mbuf *)(uintptr_t)m);
		set = mdv_mr_mempool(txq->mdv, m->pool);
		range = set != NULL ? range_in_set(set, addr) : NULL;
	}
	if (range == NULL)
		return false;
	txq->mr_last = *range;
	return true;
}

/* A position in a packet. */
struct cursor {
	const struct rte_mbuf *seg;
	uint32_t offset;
};

/* Copies n bytes; the packet has at least that many left. */
static void
cursor_copy(struct cursor *c, uint8_t *to, uint32_t n)
{
	while (n != 0) {
		uint32_t part = RTE_MIN(n, c->seg->data_len - c->offset);

		memcpy(to, rte_pktmbuf_mtod_offset(c->seg, const uint8_t *, c->offset), part);
		to += part;
		n -= part;
		c->offset += part;
		if (c->offset == c->seg->data_len) {
			c->seg = c->seg->next;
			c->offset = 0;
		}
	}
}

/* What WQEs of packets differ by. */
struct shape {
	uint32_t header;	/* Bytes that the WQE carries inline, if the packet has them; without a tag. */
	uint32_t cs_flags;
	uint32_t swp_offsets;	/* First dword of the Ethernet segment. */
	uint16_t mss;
	uint8_t swp_flags;
	uint8_t opcode;
	bool copied;		/* The header is the packet, which is freed. */
};

/* Begin and end of the ring. */
static __rte_always_inline uint8_t *
ring_begin(const struct mlxpmd_txq *txq)
{
	return txq->q.wqes;
}

static __rte_always_inline uint8_t *
ring_end(const struct mlxpmd_txq *txq)
{
	return ring_begin(txq) + ((size_t)txq->q.wqe_mask + 1) * MLX5_SEND_WQE_BB;
}

/* An address in the ring, or beyond its end by less than its size. */
static __rte_always_inline void *
ring_wrap(const struct mlxpmd_txq *txq, uint8_t *at)
{
	return likely(at < ring_end(txq)) ? at : at - (ring_end(txq) - ring_begin(txq));
}

void
mlxpmd_tx_wqe_copy(const struct mlxpmd_txq *txq, const void *wqe, uint32_t ds)
{
	uint8_t *to = mlxpmd_tx_wqebb(txq, txq->q.pi);
	size_t bytes = ds * MLXPMD_DS_BYTES, part = RTE_MIN(bytes, (size_t)(ring_end(txq) - to));

	memcpy(to, wqe, part);
	memcpy(ring_begin(txq), RTE_PTR_ADD(wqe, part), bytes - part);
}

/* Copies the next n bytes of the packet into the ring. */
static __rte_always_inline void
ring_copy(const struct mlxpmd_txq *txq, uint8_t *to, struct cursor *c, uint32_t n)
{
	uint32_t part = RTE_MIN(n, (size_t)(ring_end(txq) - to));

	cursor_copy(c, to, part);
	cursor_copy(c, ring_begin(txq), n - part);
}

/* What the Ethernet segment has of the first WQEBB: addresses and tag do not wrap. */
static_assert(MLXPMD_DS_BYTES + offsetof(struct mlx5_wqe_eth_seg, inline_hdr_start) + 2 * RTE_ETHER_ADDR_LEN +
	      sizeof(uint32_t) <= MLX5_SEND_WQE_BB, "WQE layout");

/*
 * Writes the header that the WQE carries inline, with a VLAN tag inserted if the packet requests one. Returns the next
 * 16-byte unit, 0 if the packet is too short for a tag.
 */
static uint32_t
put_header(const struct mlxpmd_txq *txq, const struct rte_mbuf *m, struct cursor *c, uint32_t header, mlxpmd_u64 *wqe)
{
	struct mlx5_wqe_eth_seg *eth = (struct mlx5_wqe_eth_seg *)((uint8_t *)wqe + MLXPMD_DS_BYTES);
	const uint32_t first = sizeof(eth->inline_hdr_start), macs = 2 * RTE_ETHER_ADDR_LEN;
	uint32_t n = RTE_MIN(header, m->pkt_len), tag;
	uint8_t *to = eth->inline_hdr_start;

	if (m->ol_flags & RTE_MBUF_F_TX_VLAN) {
		if (n < macs)
			return 0;
		tag = rte_cpu_to_be_32((uint32_t)RTE_ETHER_TYPE_VLAN << 16 | m->vlan_tci);
		cursor_copy(c, to, macs);
		memcpy(to + macs, &tag, sizeof(tag));
		ring_copy(txq, to + macs + sizeof(tag), c, n - macs);
		n += sizeof(tag);
	} else {
		ring_copy(txq, to, c, n);
	}
	eth->inline_hdr_sz = rte_cpu_to_be_16(n);
	return MLXPMD_TITLE_DS + (RTE_MAX(n, first) - first + MLXPMD_DS_BYTES - 1) / MLXPMD_DS_BYTES;
}

/*
 * Writes data segments for the rest of the packet, from unit ds on. Returns the next unit, 0 if it cannot be sent:
 * nb_segs and pkt_len must match the chain.
 */
static __rte_always_inline uint32_t
put_segments(struct mlxpmd_txq *txq, const struct rte_mbuf *m, const struct cursor *from, mlxpmd_u64 *wqe, uint32_t ds)
{
	uint32_t offset = from->offset, left = m->pkt_len, segs = m->nb_segs, len;
	const bool checked = from->seg != m || offset != 0;
	mlxpmd_u64 *dseg = wqe + ds * (MLXPMD_DS_BYTES / sizeof(*wqe));
	const struct rte_mbuf *seg;
	uintptr_t addr;

	for (seg = from->seg; seg != NULL && segs != 0; seg = seg->next, segs--, offset = 0) {
		len = seg->data_len - offset;
		left -= len;
		if (len == 0)
			continue; /* A byte_count of 0 means 2 GiB. */
		if (ds++ >= txq->max_ds)
			return 0;
		addr = rte_pktmbuf_mtod_offset(seg, uintptr_t, offset);
		if (!mlxpmd_tx_mr_hit(txq, addr) && !mlxpmd_tx_mr_lookup(txq, seg, addr))
			return 0;
		dseg = ring_wrap(txq, (uint8_t *)dseg);
		dseg[0] = mlxpmd_be32_pair(rte_cpu_to_be_32(len), txq->mr_last.lkey_be);
		dseg[1] = rte_cpu_to_be_64(addr);
		dseg += MLXPMD_DS_BYTES / sizeof(*dseg);
	}
	return checked || (seg == NULL && segs == 0 && left == 0 && ds != MLXPMD_TITLE_DS) ? ds : 0;
}

/* Upper bound of the 16-byte units of the packet's WQE. Checked against free space before the ring is written. */
static __rte_always_inline uint32_t
ds_bound(const struct shape *s, const struct rte_mbuf *m)
{
	uint32_t hdr = s->header + (s->header != 0 ? sizeof(uint32_t) : 0);

	return MLXPMD_TITLE_DS + (s->copied ? 0 : m->nb_segs) + (hdr + MLXPMD_DS_BYTES - 1) / MLXPMD_DS_BYTES;
}

/* Checks that nb_segs and pkt_len match the chain: the loops over its segments rely on it. */
static bool
chain_sane(const struct rte_mbuf *m)
{
	const struct rte_mbuf *seg;
	uint32_t bytes = 0, n = 0;

	for (seg = m; seg != NULL && n <= m->nb_segs; seg = seg->next, n++)
		bytes += seg->data_len;
	return seg == NULL && n == m->nb_segs && bytes == m->pkt_len && bytes != 0;
}

/*
 * Writes the WQE, for which there is space. metadata: mlxpmd_tx_eth_metadata(), or 0; no field of the shape, since it
 * is a constant for most callers. Returns its 16-byte units, 0 if the packet cannot be sent.
 */
static __rte_always_inline uint32_t
put_wqe(struct mlxpmd_txq *txq, struct rte_mbuf *m, const struct shape *s, uint64_t metadata)
{
	mlxpmd_u64 *wqe = mlxpmd_tx_wqebb(txq, txq->q.pi);
	struct cursor c = { .seg = m };
	uint32_t ds = MLXPMD_TITLE_DS;

	wqe[1] = 0;
	wqe[2] = mlxpmd_tx_eth_first(s->cs_flags) |
		 mlxpmd_be32_pair(rte_cpu_to_be_32(s->swp_offsets),
				  rte_cpu_to_be_32((uint32_t)s->swp_flags << 16 | s->mss));
	wqe[3] = metadata | (s->header == 0 && (m->ol_flags & RTE_MBUF_F_TX_VLAN) ? mlxpmd_tx_eth_vlan(m) : 0);
	if (s->header != 0) {
		if (!chain_sane(m))
			return 0;
		ds = put_header(txq, m, &c, s->header, wqe);
		txq->wqe_info[txq->q.pi & txq->q.wqe_mask].copied = s->copied ? m->pkt_len : 0;
	}
	if (ds != 0)
		ds = put_segments(txq, m, &c, wqe, ds);
	wqe[0] = mlxpmd_tx_ctrl(txq, txq->q.pi, s->opcode, ds);
	return ds;
}

static __rte_always_inline int
send_shape(struct mlxpmd_txq *txq, struct rte_mbuf *m, const struct shape s, uint64_t metadata)
{
	uint32_t bound = ds_bound(&s, m), ds;

	/* Never more than max_ds is written, nor more than the ring has. */
	bound = (RTE_MIN(bound, (uint32_t)txq->max_ds) + MLXPMD_WQEBB_DS - 1) / MLXPMD_WQEBB_DS;
	if (unlikely(bound > mlxpmd_tx_free_wqebbs(txq)))
		return bound > txq->q.wqe_mask + 1u || !chain_sane(m) ? MLXPMD_TX_REFUSED : MLXPMD_TX_RING_FULL;
	ds = put_wqe(txq, m, &s, metadata);
	if (unlikely(ds == 0))
		return MLXPMD_TX_REFUSED;
	MLXPMD_SHARED_ADD(txq->q.stats.bytes, m->pkt_len);
	if (s.copied) {
		mlxpmd_tx_post(txq, ds, 0, true);
		rte_pktmbuf_free(m);
	} else {
		txq->q.elts[txq->elts_pi & txq->elts_mask] = m;
		mlxpmd_tx_post(txq, ds, 1, true);
	}
	return 1;
}

int
mlxpmd_tx_send_any(struct mlxpmd_txq *txq, struct rte_mbuf *m)
{
	return send_shape(txq, m, (struct shape) {
		.header = txq->inline_bytes,
		.cs_flags = mlxpmd_tx_cs_flags(m->ol_flags),
		.opcode = MLX5_OPCODE_SEND,
	}, 0);
}

/* Returns false if the packet cannot be sent. */
static __rte_noinline bool
swp_set(const struct rte_mbuf *m, struct shape *s)
{
	s->swp_offsets = mlxpmd_tx_swp(m, &s->swp_flags);
	/*
	 * Whether offsets count a tag that the device inserts, drivers do not agree (Linux, en_accel.h,
	 * mlx5e_tx_tunnel_accel(): no; DPDK, txq_mbuf_to_swp(): yes). Of an inline tag there is no doubt.
	 */
	if (m->ol_flags & RTE_MBUF_F_TX_VLAN)
		s->header = RTE_MAX(s->header, (uint32_t)RTE_ETHER_HDR_LEN);
	return s->swp_offsets != 0;
}

static __rte_always_inline int
send_tso_any(struct mlxpmd_txq *txq, struct rte_mbuf *m, uint64_t metadata)
{
	struct shape s = {
		.header = txq->inline_bytes,
		.cs_flags = mlxpmd_tx_cs_flags_tso(m->ol_flags),
		.opcode = MLX5_OPCODE_SEND,
	};
	uint64_t headers;
	uint32_t more;
	int rc;

	if ((m->ol_flags & RTE_MBUF_F_TX_TCP_SEG) && mlxpmd_tso_check(txq, m) != 0)
		return MLXPMD_TX_REFUSED;
	if (s.cs_flags != 0 && (mlxpmd_tx_tunnel(m->ol_flags) & txq->swp_tunnels) && !swp_set(m, &s))
		return MLXPMD_TX_REFUSED;
	if (mlxpmd_tso_wanted(m)) {
		s.opcode = MLX5_OPCODE_TSO;
		s.mss = m->tso_segsz;
		/* The device repeats the inline header, and no other, in each frame. */
		s.header = mlxpmd_tso_header(m);
	}
	rc = send_shape(txq, m, s, metadata);
	if (rc == 1) {
		more = mlxpmd_tso_more(txq, m, &headers);
		MLXPMD_SHARED_ADD(txq->q.stats.packets, more);
		MLXPMD_SHARED_ADD(txq->q.stats.bytes, headers);
	}
	return rc;
}

int
mlxpmd_tx_send_tso_any(struct mlxpmd_txq *txq, struct rte_mbuf *m)
{
	return send_tso_any(txq, m, 0);
}

int
mlxpmd_tx_send_meta_any(struct mlxpmd_txq *txq, struct rte_mbuf *m)
{
	return send_tso_any(txq, m, mlxpmd_tx_eth_metadata(txq, m));
}

int
mlxpmd_tx_send_copy(struct mlxpmd_txq *txq, struct rte_mbuf *m)
{
	return send_shape(txq, m, (struct shape) {
		.header = m->pkt_len,
		.cs_flags = mlxpmd_tx_cs_flags(m->ol_flags),
		.opcode = MLX5_OPCODE_SEND,
		.copied = true,
	}, 0);
}

void
mlxpmd_tx_drop(struct mlxpmd_txq *txq, struct rte_mbuf *m)
{
	rte_pktmbuf_free(m);
	MLXPMD_SHARED_ADD(txq->q.stats.dropped, 1);
}
