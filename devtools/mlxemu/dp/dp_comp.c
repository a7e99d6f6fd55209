/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * CQE compression. Basic layout: a session of n completions that differ in little takes n places:
 * the first holds the title, a full CQE whose byte count is n; the second an array of eight mini
 * CQEs, for the title's frame and the seven after it; every eighth place from the first on holds
 * the next array. The places between keep what was in them: the program skips them, and turns
 * them invalid before the ring comes round (readers: DPDK's net/mlx5 mlx5_rx.c and
 * mlx5_rxtx_vec_sse.h, the kernel's en_rx.c).
 *
 * Enhanced layout: a CQE that is written whole is the title of blocks of up to seven mini CQEs, each
 * of which takes the place of its first completion, with their number less one where a CQE has the
 * opcode. The places of the others keep what was in them. In place of the signature each CQE, also a
 * whole one, has the number of its pass of the ring, modulo 256, by which the program finds new ones
 * (readers: the kernel's mlx5e_decompress_enhanced_cqe() and mlx5e_read_enhanced_title_slot();
 * DPDK's check_cqe_iteration() and mlx5_rx_poll_len()).
 * A title holds for many blocks. The WQE counter of a block is that of its first packet (mlx5_rx_poll_len(),
 * zip->wqe_idx); mlx5e counts from the title (mlx5e_decompress_cqe()), with the same result, because no other queue
 * takes WQEs of the RQ. These readers do not write to the ring: 256 passes later they would take an old number for
 * that of the pass.
 * assumed: the place after the last one written never has the number of the pass; the card writes that of the pass
 * before, if necessary. Other reading: an old number stays, and a program must overwrite it, which neither reader
 * does. Test: dp/test_comp.c.
 * assumed: the first CQE of a pass is whole, because net_mlx5's vector functions (rxq_burst_v()) do not keep a title
 * that is the last CQE of the ring. Other reading: blocks follow a title of the pass before, and these functions give
 * their packets the fields of an older title. Test: dp/test_comp.c.
 * assumed: a title also ends with the RQ's reset and with a CQE that is not a packet's; a packet alone is a block of
 * one; no block goes beyond the end of the ring; the owner bit is as in the basic layout. Other reading: a new title
 * at times of the card's choice, which these readers accept, too. Test: dp/test_comp.c.
 */
#include <stdlib.h>

#include "dp_int.h"

#define MINIS_PER_CQE 8u
#define MINIS_PER_BLOCK 7u
#define CQE_FORMAT_COMPRESSED (PRM_CQE_FORMAT_COMPRESSED << PRM_CQE64_OP_OWN_CQE_FORMAT_SHIFT)

/* mini_cqe_res_format; EXT: with mini_cqe_res_format_ext. */
enum mini_format {
	MINI_HASH = PRM_CQC_MINI_CQE_FORMAT_HASH,
	MINI_CSUM = PRM_CQC_MINI_CQE_FORMAT_CSUM,
	MINI_FTAG_STRIDX = PRM_CQC_MINI_CQE_FORMAT_FTAG_STRIDX,
	MINI_CSUM_STRIDX = PRM_CQC_MINI_CQE_FORMAT_CSUM_STRIDX,
	MINI_L34_STRIDX = 4,
};

struct dp_comp {
	struct emu_cq *cq;
	struct dp_shared *shared;
	uint32_t n;   /**< Completions in the session; 0: no session is open. */
	uint32_t rqn; /**< RQ of the session, which CQEs do not contain. */
	bool titled;  /**< Enhanced layout: the last CQE was the title, or a block of it. */
	uint16_t counter; /**< Enhanced layout: WQE counter or stride index of the first packet in the block. */
	struct prm_cqe64 title;
	/* Of fields that some formats have in the mini CQE: the bits that are taken from the title. */
	uint32_t tag_mask;
	uint8_t types_mask, hash_type_mask;
	struct prm_mini_cqe8 mini[EMU_DP_COMP_MAX];
	TAILQ_ENTRY(dp_comp) next;
};

static void
masks_init(struct dp_comp *s)
{
	uint8_t format = s->cq->mini_format;

	s->types_mask = format == MINI_L34_STRIDX ? 0 : 0xff;
	s->tag_mask = format == MINI_FTAG_STRIDX ? 0 : UINT32_MAX;
	s->hash_type_mask = format == MINI_HASH ? 0xff : 0;
}

struct dp_comp *
dp_comp_new(struct emu_cq *cq)
{
	struct dp_comp *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return NULL;
	s->cq = cq;
	s->shared = dp_port_of(cq->obj.dev)->shared;
	masks_init(s);
	return s;
}

/* Release: the last 8 bytes, with the owner bit, become visible after the rest. */
static void
hand_over(const struct emu_cq *cq, struct prm_cqe64 *to, const struct prm_cqe64 *from)
{
	struct prm_cqe64 whole = *from;
	uint64_t last;

	if (DP_UNLIKELY(dp_relaxed)) {
		whole.signature = (uint8_t)(dp_cq_pass(cq) >> 8);
		whole.op_own |= (uint8_t)dp_cq_pass(cq);
		dp_order_cqe(cq, to, &whole);
		return;
	}
	memcpy(to, from, offsetof(struct prm_cqe64, sop_drop_qpn));
	memcpy(&last, &from->sop_drop_qpn, sizeof(last));
	/* op_own is the last byte in memory, the owner its lowest bit. */
	last |= htobe64(dp_cq_pass(cq));
	atomic_store_explicit((_Atomic uint64_t *)(void *)&to->sop_drop_qpn, last,
			      memory_order_release);
}

static void
write_minis(struct dp_comp *s)
{
	/* What an array has behind the last one is 0. */
	memset(&s->mini[s->n], 0, (-s->n % MINIS_PER_CQE) * sizeof(s->mini[0]));
	for (uint32_t i = 0; i < s->n; i += MINIS_PER_CQE)
		memcpy(dp_cq_place(s->cq, i == 0 ? 1 : i), &s->mini[i], MINIS_PER_CQE * sizeof(s->mini[0]));
}

static void
write_session(struct dp_comp *s)
{
	if (s->n > 1) {
		write_minis(s);
		s->title.byte_cnt = htobe32(s->n);
		s->title.op_own |= CQE_FORMAT_COMPRESSED;
		s->cq->obj.dev->stats.cqes += (s->n + MINIS_PER_CQE - 1) / MINIS_PER_CQE;
	}
	hand_over(s->cq, dp_cq_place(s->cq, 0), &s->title);
}

static void
write_block(const struct dp_comp *s)
{
	struct prm_cqe64 block = {
		.wqe_counter = htobe16(s->counter),
		.op_own = (uint8_t)((s->n - 1) << 4 | CQE_FORMAT_COMPRESSED),
	};

	memcpy(&block, s->mini, s->n * sizeof(s->mini[0]));
	dp_cq_invalidate(s->cq, s->n);
	hand_over(s->cq, dp_cq_place(s->cq, 0), &block);
}

/* A session must not wrap: DPDK's vector reader does not check for the end of the ring. */
static bool
at_ring_end(const struct dp_comp *s)
{
	return ((s->cq->pi + s->n) & ((1u << s->cq->log_size) - 1)) == 0;
}

static __attribute__((noinline)) void
flush(struct dp_comp *s)
{
	uint32_t n = s->n;

	if (n == 0)
		return;
	TAILQ_REMOVE(&s->shared->compressing, s, next);
	if (s->cq->enhanced)
		write_block(s);
	else
		write_session(s);
	s->cq->obj.dev->stats.cqes++;
	s->n = 0;
	dp_cq_written(s->cq, n, false);
	s->titled = s->titled && !at_ring_end(s);
}

void
dp_comp_close(struct dp_comp *s)
{
	flush(s);
	s->titled = false;
}

void
dp_comp_flush_all(struct dp_shared *shared)
{
	while (!TAILQ_EMPTY(&shared->compressing))
		flush(TAILQ_FIRST(&shared->compressing));
}

void
dp_comp_free(struct dp_comp *s)
{
	if (s == NULL)
		return;
	if (s->n != 0)
		TAILQ_REMOVE(&s->shared->compressing, s, next);
	free(s);
}

/*
 * Title and frame must be equal in what a reader takes from the title. Fields that the mini CQE format does not have
 * (hash or checksum, time stamp) are lost and may differ. Field by field: wider loads would wait for the stores into c.
 */
static inline bool
joins(const struct dp_comp *s, const struct prm_cqe64 *c)
{
	const struct prm_cqe64 *t = &s->title;
	uint32_t differs = (t->srqn_uidx ^ c->srqn_uidx) | (t->flags_rqpn ^ c->flags_rqpn) |
			   (t->flow_table_metadata ^ c->flow_table_metadata);

	differs |= (t->sop_drop_qpn ^ c->sop_drop_qpn) & s->tag_mask;
	differs |= (t->wqe_id ^ c->wqe_id) | (t->vlan_info ^ c->vlan_info);
	differs |= (t->tls_outer_l3_tunneled ^ c->tls_outer_l3_tunneled) | (t->hds_ip_ext ^ c->hds_ip_ext);
	differs |= (t->l4_hdr_type_etc ^ c->l4_hdr_type_etc) & s->types_mask;
	differs |= (t->rx_hash_type ^ c->rx_hash_type) & s->hash_type_mask;
	return differs == 0;
}

static inline void
fill_mini(struct prm_mini_cqe8 *m, uint8_t format, const struct prm_cqe64 *cqe)
{
	uint32_t tag = be32toh(cqe->sop_drop_qpn) & 0xffffff;

	m->byte_cnt = cqe->byte_cnt;
	switch (format) {
	case MINI_HASH:
		m->rx_hash_result = cqe->rx_hash_result;
		return;
	case MINI_FTAG_STRIDX:
		/*
		 * The upper byte of the 24-bit tag replaces the upper byte of the byte count.
		 * assumed: bits 23:16 of the byte count, which on a striding RQ belong to the number of strides, keep
		 * their value. Other reading: they are 0 or belong to the tag, and a driver has to compute the number
		 * of strides from the length. Test: none.
		 */
		m->checksum = htobe16((uint16_t)tag);
		m->byte_cnt = htobe32((tag >> 16) << 24 | (be32toh(cqe->byte_cnt) & 0xffffff));
		break;
	case MINI_L34_STRIDX:
		/*
		 * Byte 0x1d of the CQE is byte 0 of the mini CQE, byte 1 is reserved (DPDK 5654f38eba; its
		 * releases before that read byte 1 in the scalar receive function).
		 */
		m->checksum = htobe16((uint16_t)(cqe->l4_hdr_type_etc << 8));
		break;
	default:
		m->checksum = cqe->checksum;
		break;
	}
	m->stride_index = format == MINI_CSUM ? 0 : cqe->wqe_counter;
}

/* Adds a mini CQE to the session, which ends if it is complete. */
static inline void
add_mini(struct dp_comp *s, const struct prm_cqe64 *cqe, uint32_t max)
{
	if (s->n == 0)
		TAILQ_INSERT_TAIL(&s->shared->compressing, s, next);
	fill_mini(&s->mini[s->n++], s->cq->mini_format, cqe);
	if (s->n == max || at_ring_end(s))
		flush(s);
}

/* Enhanced layout: what does not join is written whole, and is the title of what follows unless it is alone. */
static void
add_enhanced(struct dp_comp *s, uint32_t rqn, const struct prm_cqe64 *cqe, const struct dp_done *d)
{
	if (s->titled && !d->alone && rqn == s->rqn && joins(s, cqe)) {
		if (s->n == 0)
			s->counter = d->counter;
		add_mini(s, cqe, MINIS_PER_BLOCK);
		return;
	}
	flush(s);
	s->title = *cqe;
	s->rqn = rqn;
	dp_cq_invalidate(s->cq, 1);
	hand_over(s->cq, dp_cq_place(s->cq, 0), cqe);
	s->cq->obj.dev->stats.cqes++;
	dp_cq_written(s->cq, 1, false);
	s->titled = !d->alone && !at_ring_end(s);
}

static void
add_basic(struct dp_comp *s, uint32_t rqn, const struct prm_cqe64 *cqe, bool alone)
{
	if (s->n != 0 && (alone || rqn != s->rqn || !joins(s, cqe)))
		flush(s);
	if (s->n == 0) {
		s->title = *cqe;
		s->rqn = rqn;
	}
	add_mini(s, cqe, alone ? 1 : s->cq->obj.dev->profile->cqe_compression_max_num);
}

bool
dp_comp_add(struct dp_comp *s, uint32_t rqn, const struct prm_cqe64 *cqe, const struct dp_done *d)
{
	if (DP_UNLIKELY(s->cq->err))
		return false;
	if (DP_UNLIKELY(!dp_cq_has_room(s->cq, s->n))) {
		flush(s);
		dp_cq_overrun(s->cq);
		return false;
	}
	if (s->cq->enhanced)
		add_enhanced(s, rqn, cqe, d);
	else
		add_basic(s, rqn, cqe, d->alone);
	return true;
}
