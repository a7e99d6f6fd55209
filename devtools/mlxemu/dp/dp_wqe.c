/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Send WQEs: reads the segments, finds the data, executes each opcode. */
#include "dp_fault.h"

#define ETH_INLINE_OFF 14u /* offset of the inline header in the Ethernet segment */
#define INLINE_SIZE_MASK 0x3ffu
#define WQE_PREFETCH_BYTES (4 * DP_WQEBB_BYTES)
/* Legacy multi-packet WQE: TSO with this opc_mod; its most frames (DPDK, mlx5_prm.h, MLX5_MPW_MAX_PACKETS). */
#define MPW_OPC_MOD 1u
#define MPW_FRAMES 6u
#define VLAN_TYPE_SVLAN 1u /* with PRM_WQE_VLAN_INSERT: 802.1ad tag */

enum dp_exec
dp_wqe_refuse(struct dp_wqe *w, uint8_t syndrome, const char *why)
{
	emu_audit(w->sq->obj.dev, EMU_AUDIT_BAD_WQE, "SQ 0x%x WQE 0x%x opcode 0x%x: %s -> %s",
		  w->sq->obj.id, w->index, w->opcode, why, prm_cqe_syndrome_name(syndrome));
	w->syndrome = syndrome;
	return DP_ERROR;
}

static inline const uint8_t *
at(const struct dp_wqe *w, uint32_t pos)
{
	uint32_t mask = (DP_WQEBB_BYTES << w->sq->log_wqebbs) - 1;

	return w->sq->ring + (pos & mask);
}

/* Bytes from pos to where the ring wraps. */
static inline uint32_t
to_ring_end(const struct dp_wqe *w, uint32_t pos)
{
	uint32_t bytes = DP_WQEBB_BYTES << w->sq->log_wqebbs;

	return bytes - (pos & (bytes - 1));
}

static inline void
add_piece(struct dp_pieces *p, const uint8_t *data, uint32_t len)
{
	p->piece[p->n].data = data;
	p->piece[p->n].len = len;
	p->n++;
	p->bytes += len;
}

/* Inline data is in the ring and wraps at its end. */
static void
add_inline(struct dp_wqe *w, struct dp_pieces *p, uint32_t pos, uint32_t len)
{
	uint32_t first = to_ring_end(w, pos);

	if (first > len)
		first = len;
	if (first != 0)
		add_piece(p, at(w, pos), first);
	if (len != first)
		add_piece(p, at(w, pos + first), len - first);
}

bool
dp_wqe_segment(struct dp_wqe *w, void *to, uint32_t bytes)
{
	if (w->end - w->pos < bytes)
		return false;
	/* Segments of 16 bytes do not wrap; longer ones may. */
	for (uint32_t i = 0; i < bytes; i += DP_SEG_BYTES)
		memcpy((uint8_t *)to + i, at(w, w->pos + i), DP_SEG_BYTES);
	w->pos += bytes;
	return true;
}

static uint32_t
seg_round(uint32_t bytes)
{
	return (bytes + DP_SEG_BYTES - 1) & ~(DP_SEG_BYTES - 1);
}

static enum dp_exec
data_inline(struct dp_wqe *w, struct dp_pieces *p, uint32_t len)
{
	/* Check the length, which the program has written, first. */
	if (len > w->end - w->pos || seg_round(4 + len) > w->end - w->pos)
		return dp_wqe_refuse(w, PRM_CQE_SYNDROME_LOCAL_LENGTH_ERR,
				     "inline data beyond the end of the WQE");
	add_inline(w, p, w->pos + 4, len);
	w->pos += seg_round(4 + len);
	return DP_DONE;
}

/*
 * Prefetches the data of a later segment: four segments ahead in a multi-packet WQE, or that of the next
 * WQE. Assumes the same key; a wrong guess has no effect. Always inline: as in dp_rq.c.
 */
static inline __attribute__((always_inline)) void
prefetch_next(const struct dp_wqe *w, const uint8_t *data, uint64_t addr)
{
	uint32_t ahead = w->opcode == PRM_WQE_OPCODE_ENHANCED_MPSW ? 4 * DP_SEG_BYTES
								   : DP_WQEBB_BYTES;
	const struct prm_wqe_data_seg *next =
		(const struct prm_wqe_data_seg *)at(w, w->pos + ahead);

	__builtin_prefetch((const void *)((uintptr_t)data + (be64toh(next->addr) - addr)));
	/* The ring is in the program's cache as well: prefetch it. */
	__builtin_prefetch(at(w, w->pos + WQE_PREFETCH_BYTES));
}

enum dp_exec
dp_wqe_data(struct dp_wqe *w, struct dp_pieces *p, uint32_t limit)
{
	struct prm_wqe_data_seg seg;
	const uint8_t *data;
	uint32_t len;

	if (w->end - w->pos < DP_SEG_BYTES)
		return dp_wqe_refuse(w, PRM_CQE_SYNDROME_LOCAL_QP_OP_ERR, "data segment missing");
	/* One copy: the program may write the ring meanwhile. */
	memcpy(&seg, at(w, w->pos), sizeof(seg));
	len = be32toh(seg.byte_count);
	if (len & PRM_WQE_INLINE_SEG)
		return data_inline(w, p, len & ~PRM_WQE_INLINE_SEG);
	/* 0 means 2 GB (PRM, data segment), which no frame can have. */
	if (len == 0 || len > limit || p->bytes > limit - len)
		return dp_wqe_refuse(w, PRM_CQE_SYNDROME_LOCAL_LENGTH_ERR,
				     len == 0 ? "data segment of length 0, which means 2 GB"
					      : "message too long");
	data = dp_dma(&w->q->key, w->sq->obj.dev, w->sq->pd, be32toh(seg.lkey), be64toh(seg.addr), len,
		       EMU_DMA_READ);
	if (data == NULL) {
		w->syndrome = PRM_CQE_SYNDROME_LOCAL_PROT_ERR; /* emu_dma() reported the reason */
		return DP_ERROR;
	}
	add_piece(p, data, len);
	prefetch_next(w, data, be64toh(seg.addr));
	w->reads++;
	w->read_bytes += len;
	w->pos += DP_SEG_BYTES;
	return DP_DONE;
}

void
dp_pieces_copy(uint8_t *to, const struct dp_pieces *p)
{
	for (unsigned i = 0; i < p->n; i++) {
		memcpy(to, p->piece[i].data, p->piece[i].len);
		to += p->piece[i].len;
	}
}

/* Of a mode beyond L2 only the first 14 bytes are checked. */
static enum dp_exec
check_inline_mode(struct dp_wqe *w, uint32_t inline_bytes)
{
	uint32_t need = w->sq->min_inline_mode == PRM_MIN_INLINE_MODE_NONE ? 0 : DP_ETH_BYTES;

	if (inline_bytes >= need)
		return DP_DONE;
	return dp_wqe_refuse(w, PRM_CQE_SYNDROME_LOCAL_LENGTH_ERR,
			     "fewer bytes inline than the SQ's min_wqe_inline_mode");
}

/*
 * assumed: an SQ without allow_swp refuses the fields of the software parser, and one that cannot do it for the WQE's
 * opcode too. Other reading: it ignores them. Test: dp/test_offload.c.
 */
static bool
swp_refused(struct dp_wqe *w)
{
	const struct emu_profile *p = w->sq->obj.dev->profile;
	bool capable = w->opcode == PRM_WQE_OPCODE_TSO ? p->swp_lso : p->swp_csum;

	if (w->sq->allow_swp && capable)
		return false;
	dp_wqe_refuse(w, PRM_CQE_SYNDROME_LOCAL_QP_OP_ERR,
		      capable ? "software parsing on an SQ without allow_swp"
			      : "software parsing is not a capability of this device");
	return true;
}

/* The Ethernet segment; its inline header becomes the first piece. */
static enum dp_exec
read_eth(struct dp_wqe *w, struct dp_pieces *p)
{
	struct prm_wqe_eth_seg eth;
	uint32_t inline_bytes = 0, size, offsets;
	uint16_t type;

	/*
	 * assumed: an SQ without TIS sends no packets. Other reading: it sends them with the default properties. Test:
	 * dp/test_errors.c.
	 */
	if (w->sq->tis == NULL && w->sq->qp == NULL)
		return dp_wqe_refuse(w, PRM_CQE_SYNDROME_LOCAL_QP_OP_ERR, "SQ without a TIS");
	if (w->end - w->pos < DP_SEG_BYTES)
		return dp_wqe_refuse(w, PRM_CQE_SYNDROME_LOCAL_QP_OP_ERR,
				     "Ethernet segment missing");
	memcpy(&eth, at(w, w->pos), sizeof(eth));
	w->cs_flags = eth.cs_flags;
	w->metadata = eth.flow_table_metadata;
	w->mss = be16toh(eth.mss) & PRM_WQE_ETH_SEG_MSS_MSS_MASK;
	type = be16toh(eth.inline_hdr_sz);
	w->vlan_insert = (type & PRM_WQE_VLAN_INSERT) != 0;
	/* The segment begins with the four offsets. */
	memcpy(&offsets, &eth, sizeof(offsets));
	w->swp_on = (offsets | eth.swp_flags) != 0;
	if (DP_UNLIKELY(w->swp_on)) {
		w->swp = (struct dp_swp){eth.swp_outer_l4_offset, eth.swp_outer_l3_offset, eth.swp_inner_l4_offset,
					 eth.swp_inner_l3_offset, eth.swp_flags};
		if (swp_refused(w))
			return DP_ERROR;
	}
	if (w->vlan_insert && !w->sq->obj.dev->profile->wqe_vlan_insert)
		return dp_wqe_refuse(w, PRM_CQE_SYNDROME_LOCAL_QP_OP_ERR,
				     "VLAN insertion is not a capability of this device");
	if (w->vlan_insert) {
		w->vlan_tpid = type & VLAN_TYPE_SVLAN ? DP_ETHERTYPE_SVLAN : DP_ETHERTYPE_CVLAN;
		memcpy(&w->vlan_tci, eth.inline_hdr, sizeof(w->vlan_tci));
		w->vlan_tci = be16toh(w->vlan_tci);
	} else {
		inline_bytes = type & INLINE_SIZE_MASK;
	}
	size = inline_bytes <= 2 ? DP_SEG_BYTES : seg_round(ETH_INLINE_OFF + inline_bytes);
	if (size > w->end - w->pos)
		return dp_wqe_refuse(w, PRM_CQE_SYNDROME_LOCAL_QP_OP_ERR,
				     "inline header beyond the end of the WQE");
	if (inline_bytes != 0)
		add_inline(w, p, w->pos + ETH_INLINE_OFF, inline_bytes);
	w->pos += size;
	return DP_DONE;
}

static enum dp_exec
execute_tso(struct dp_wqe *w)
{
	struct dp_pieces header;
	enum dp_exec done;

	dp_pieces_init(&header);
	done = read_eth(w, &header);
	if (done == DP_DONE)
		done = check_inline_mode(w, header.bytes);
	return done == DP_DONE ? dp_tso_execute(w, &header) : done;
}

/*
 * Sends the frame of a single data segment without a copy if it needs no change. False: another kind of
 * segment, or an invalid one.
 */
static inline bool
plain_frame(struct dp_wqe *w, const uint8_t **data, uint32_t *len)
{
	const struct dp_sq *q = w->q;
	struct prm_wqe_data_seg seg;

	if (DP_UNLIKELY(w->end - w->pos < DP_SEG_BYTES || w->cs_flags != 0 || w->vlan_insert))
		return false;
	/* One copy: the program may write the ring meanwhile. */
	memcpy(&seg, at(w, w->pos), sizeof(seg));
	*len = be32toh(seg.byte_count);
	/* The inline bit makes it larger than any frame. */
	if (DP_UNLIKELY(*len < DP_ETH_BYTES || *len > DP_MAX_FRAME))
		return false;
	*data = dp_dma_known(&q->key, w->sq->obj.dev, w->sq->pd, be32toh(seg.lkey),
			     be64toh(seg.addr), *len, EMU_DMA_READ);
	if (DP_UNLIKELY(*data == NULL))
		return false;
	prefetch_next(w, *data, be64toh(seg.addr));
	w->reads++;
	w->read_bytes += *len;
	w->pos += DP_SEG_BYTES;
	return true;
}

static enum dp_exec
execute_send(struct dp_wqe *w)
{
	const uint8_t *data;
	struct dp_pieces p;
	enum dp_exec done;
	uint32_t len;

	dp_pieces_init(&p);
	done = read_eth(w, &p);
	if (done == DP_DONE)
		done = check_inline_mode(w, p.bytes);
	if (DP_LIKELY(done == DP_DONE && p.n == 0 && w->end - w->pos == DP_SEG_BYTES && plain_frame(w, &data, &len)))
		return dp_tx_frame(w, data, len);
	while (done == DP_DONE && w->pos != w->end)
		done = dp_wqe_data(w, &p, DP_MAX_FRAME);
	if (done != DP_DONE)
		return done;
	if (p.bytes < DP_ETH_BYTES)
		return dp_wqe_refuse(w, PRM_CQE_SYNDROME_LOCAL_LENGTH_ERR,
				     "frame shorter than an Ethernet header");
	return dp_tx_pieces(w, &p);
}

/*
 * What both forms of multi-packet sends need.
 * assumed: cards that want an inline header in SEND WQEs take multi-packet WQEs without one (DPDK's mlx5 driver sends
 * them with txq_mpw_en=1). Other reading: LOCAL_LENGTH_ERR as for SEND. Test: dp/test_send.c.
 */
static enum dp_exec
mpw_begin(struct dp_wqe *w, bool capable)
{
	struct dp_pieces p;
	enum dp_exec done;

	if (!capable || !w->sq->allow_mpw)
		return dp_wqe_refuse(w, PRM_CQE_SYNDROME_LOCAL_QP_OP_ERR,
				     capable ? "SQ without allow_multi_pkt_send_wqe"
					     : "this multi-packet WQE is not a capability of this device");
	dp_pieces_init(&p);
	done = read_eth(w, &p);
	if (done == DP_DONE && p.n != 0)
		return dp_wqe_refuse(w, PRM_CQE_SYNDROME_LOCAL_QP_OP_ERR,
				     "inline header in a multi-packet WQE");
	return done;
}

/*
 * Legacy multi-packet send: each data segment is a frame of the length that mss states (dpdk, mlx5_tx_burst_mpw()).
 * assumed: a segment of another length, or inline data, in a legacy multi-packet WQE is an error. Other reading: a card
 * sends what fits. Test: dp/test_send.c.
 */
static enum dp_exec
execute_legacy_mpsw(struct dp_wqe *w)
{
	enum dp_exec done = mpw_begin(w, w->sq->obj.dev->profile->multi_pkt_send_wqe);
	unsigned frames = 0;
	struct dp_pieces p;

	while (done == DP_DONE && w->pos != w->end) {
		dp_pieces_init(&p);
		done = dp_wqe_data(w, &p, DP_MAX_FRAME);
		if (done != DP_DONE)
			break;
		if (++frames > MPW_FRAMES || p.bytes != w->mss || p.bytes < DP_ETH_BYTES)
			return dp_wqe_refuse(w, PRM_CQE_SYNDROME_LOCAL_LENGTH_ERR,
					     "legacy multi-packet WQE: too many frames, or their length is not mss");
		done = dp_tx_pieces(w, &p);
	}
	return done;
}

/* Enhanced multi-packet send: one Ethernet segment for all, each data segment is a frame. */
static enum dp_exec
execute_mpsw(struct dp_wqe *w)
{
	struct dp_pieces p;
	enum dp_exec done;

	done = mpw_begin(w, w->sq->obj.dev->profile->enhanced_multi_pkt_send_wqe);
	while (done == DP_DONE && w->pos != w->end) {
		const uint8_t *data;
		uint32_t len;

		if (DP_LIKELY(plain_frame(w, &data, &len))) {
			done = dp_tx_frame(w, data, len);
			continue;
		}
		dp_pieces_init(&p);
		done = dp_wqe_data(w, &p, DP_MAX_FRAME);
		if (done != DP_DONE)
			break;
		if (p.bytes < DP_ETH_BYTES)
			return dp_wqe_refuse(w, PRM_CQE_SYNDROME_LOCAL_LENGTH_ERR,
					     "frame shorter than an Ethernet header");
		done = dp_tx_pieces(w, &p);
	}
	return done;
}

enum dp_exec
dp_wqe_read_ctrl(struct dp_wqe *w)
{
	uint16_t left = (uint16_t)(w->sq->hw_pi - w->index);
	struct prm_wqe_ctrl_seg ctrl;
	uint32_t idx_opcode, qpn_ds;

	w->pos = (uint32_t)w->index * DP_WQEBB_BYTES;
	memcpy(&ctrl, at(w, w->pos), sizeof(ctrl));
	idx_opcode = be32toh(ctrl.opmod_idx_opcode);
	qpn_ds = be32toh(ctrl.qpn_ds);
	w->opcode = idx_opcode & 0xff;
	w->opc_mod = PRM_BITS(idx_opcode, WQE_CTRL_SEG_OPMOD_IDX_OPCODE_OPC_MOD);
	w->ds = qpn_ds & PRM_WQE_CTRL_SEG_QPN_DS_DS_MASK;
	w->ce = ctrl.fm_ce_se >> 2 & 3;
	w->solicited = (ctrl.fm_ce_se >> 1 & 1) != 0;
	w->imm = ctrl.imm;
	w->end = w->pos + w->ds * DP_SEG_BYTES;
	w->pos += DP_SEG_BYTES;
	if (w->ds == 0 || (w->ds + 3u) / 4u > left) {
		w->ds = 0;
		return dp_wqe_refuse(w, PRM_CQE_SYNDROME_LOCAL_QP_OP_ERR,
				     "size is 0 or reaches beyond the producer index");
	}
	if ((idx_opcode >> 8 & 0xffff) != w->index)
		return dp_wqe_refuse(w, PRM_CQE_SYNDROME_LOCAL_QP_OP_ERR,
				     "wqe_index is not the WQE's place");
	if (qpn_ds >> 8 != w->sq->obj.id)
		return dp_wqe_refuse(w, PRM_CQE_SYNDROME_LOCAL_QP_OP_ERR,
				     "qpn is not the SQ's number");
	/* Apply wqe.fetch rules to a WAIT once, not at each check. */
	return emu_fault_at(EMU_ON_WQE_FETCH) && !w->q->waiting ? dp_fault_fetch(w) : DP_DONE;
}

enum dp_exec
dp_wqe_execute(struct dp_wqe *w)
{
	enum dp_exec done = dp_wqe_read_ctrl(w);

	if (done != DP_DONE)
		return done;
	/* Opcode modifiers select other operations. */
	switch ((uint32_t)w->opc_mod << 8 | w->opcode) {
	case PRM_WQE_OPCODE_NOP:
		return DP_DONE;
	case PRM_WQE_OPCODE_SEND:
		return execute_send(w);
	case PRM_WQE_OPCODE_TSO:
		return execute_tso(w);
	case PRM_WQE_OPCODE_ENHANCED_MPSW:
		return execute_mpsw(w);
	case MPW_OPC_MOD << 8 | PRM_WQE_OPCODE_TSO:
		return execute_legacy_mpsw(w);
	case PRM_WAIT_OPC_MOD_TIME << 8 | PRM_WQE_OPCODE_WAIT:
		return dp_wait_time(w);
	default:
		return dp_wqe_refuse(w, PRM_CQE_SYNDROME_LOCAL_QP_OP_ERR, w->opc_mod == 0 ? "opcode not supported"
						     : "opcode with this opc_mod not supported");
	}
}
