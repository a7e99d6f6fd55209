/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Striding receive queues (multi-packet RQ): a WQE is a buffer of strides, and a frame uses consecutive
 * strides. If the rest of a WQE is too short for the next frame, a filler completion returns it.
 */
#include "dp_int.h"

/* byte_cnt of a completion: filler, strides consumed, length (DPDK mlx5_prm.h, MLX5_MPRQ_*). */
#define BYTE_CNT_FILLER 0x80000000u
#define BYTE_CNT_STRIDES_SHIFT 16
/* The WQE begins with a next segment, as that of a linked list, though the ring is cyclic. */
#define NEXT_SEG_BYTES DP_SEG_BYTES
#define TWO_BYTES 2u

static uint32_t
strides_for(const struct emu_rq *rq, uint32_t bytes)
{
	uint32_t shifted = bytes + (rq->two_byte_shift ? TWO_BYTES : 0);

	return (shifted + (1u << rq->log_stride_size) - 1) >> rq->log_stride_size;
}

static uint32_t
strides_left(const struct emu_rq *rq)
{
	return (1u << rq->log_strides) - rq->strides_used;
}

uint32_t
dp_mprq_largest(const struct emu_rq *rq)
{
	uint32_t strides = dp_rq_posted(rq) > 1 ? 1u << rq->log_strides : strides_left(rq);

	return (strides << rq->log_stride_size) - (rq->two_byte_shift ? TWO_BYTES : 0);
}

bool
dp_mprq_has_room(const struct emu_rq *rq, const struct dp_pkt *pkt)
{
	struct dp_source s;
	uint32_t need;

	/* Common case: enough strides even if the FCS is added. */
	if (DP_LIKELY(strides_left(rq) >= strides_for(rq, pkt->len + sizeof(s.fcs))))
		return true;
	dp_rq_source(&s, rq, pkt);
	need = strides_for(rq, s.bytes);
	/* A frame that is longer than any WQE causes an error completion, not an out-of-buffer drop. */
	return strides_left(rq) >= need || need > 1u << rq->log_strides || dp_rq_posted(rq) > 1;
}

static void
use(struct emu_rq *rq, uint32_t strides)
{
	rq->strides_used += strides;
	if (strides_left(rq) != 0)
		return;
	rq->strides_used = 0;
	rq->ci++;
}

static bool
fill_up(struct emu_rq *rq, const struct dp_rx *rx)
{
	struct dp_done done = {
		.byte_cnt = BYTE_CNT_FILLER | strides_left(rq) << BYTE_CNT_STRIDES_SHIFT,
		.wqe_id = rq->ci,
		.counter = (uint16_t)rq->strides_used,
		/*
		 * assumed: a filler is not compressed. Other reading: it can be in a session, and a driver that checks
		 * the filler bit of whole CQEs only takes it for a packet. Test: dp/test_mprq.c.
		 */
		.alone = true,
	};

	use(rq, strides_left(rq));
	return dp_rq_complete(rq, rx, &done);
}

static void
place(struct emu_rq *rq, const struct dp_rx *rx, struct dp_source *s, bool stripped)
{
	uint32_t mask = (1u << rq->log_wqes) - 1, strides = strides_for(rq, s->bytes);
	uint32_t skip = (rq->strides_used << rq->log_stride_size) +
			(rq->two_byte_shift ? TWO_BYTES : 0);
	const struct prm_rq_wqe *seg = (const struct prm_rq_wqe *)(
		rq->ring + ((size_t)(rq->ci & mask) << rq->log_stride_bytes) + NEXT_SEG_BYTES);
	unsigned segs = ((1u << rq->log_stride_bytes) - NEXT_SEG_BYTES) / DP_SEG_BYTES;
	struct emu_port_stats *stats = &rq->obj.dev->stats;
	struct dp_done done = {
		.byte_cnt = strides << BYTE_CNT_STRIDES_SHIFT | s->bytes,
		.wqe_id = rq->ci,
		.counter = (uint16_t)rq->strides_used,
		.stripped = stripped,
		.alone = rx->lro_segs > 1, /* mini CQEs do not have the fields */
	};

	if (rq->strides_used == 0)
		stats->wqe_fetch_bytes += 1u << rq->log_stride_bytes;
	if (DP_UNLIKELY(dp_rq_capacity(seg, segs, skip + s->bytes) < skip + s->bytes)) {
		stats->rx_error_frames++;
		dp_rq_refuse(rq, PRM_CQE_SYNDROME_LOCAL_LENGTH_ERR, 0);
		return;
	}
	if (DP_UNLIKELY(!dp_rq_scatter(rq, seg, skip, s))) {
		stats->rx_error_frames++;
		dp_rq_refuse(rq, PRM_CQE_SYNDROME_LOCAL_PROT_ERR, 0);
		dp_rq_stop(rq);
		return;
	}
	dp_rq_count(rq, s->bytes);
	use(rq, strides);
	if (DP_UNLIKELY(!dp_rq_complete(rq, rx, &done)))
		dp_rq_stop(rq);
}

void
dp_mprq_deliver(struct emu_rq *rq, const struct dp_rx *rx)
{
	struct dp_source s;
	bool stripped = dp_rq_source(&s, rq, rx->pkt);
	uint32_t need = strides_for(rq, s.bytes);

	if (DP_UNLIKELY(need > 1u << rq->log_strides)) {
		rq->obj.dev->stats.rx_error_frames++;
		dp_rq_refuse(rq, PRM_CQE_SYNDROME_LOCAL_LENGTH_ERR, 0);
		return;
	}
	if (need > strides_left(rq) && DP_UNLIKELY(!fill_up(rq, rx))) {
		dp_rq_stop(rq);
		return;
	}
	place(rq, rx, &s, stripped);
}
