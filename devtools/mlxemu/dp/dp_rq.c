/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Receive queues: scattering a frame into the posted buffers and completing it. */
#include <stdlib.h>

#include "dp_csum.h"
#include "dp_fault.h"
#include "dp_time.h"

#define CACHE_LINE_BYTES 64u
#define PREFETCH_AHEAD 4u
#define PREFETCH_RING_AHEAD 16u /* in WQEs: the program wrote them, so they are in another core's cache */
#define BYTE_COUNT_2GB 0x80000000u
#define MAC_BYTES 12u /* both addresses: a VLAN tag follows them */

static void
source_add(struct dp_source *s, const uint8_t *data, uint32_t len)
{
	s->part[s->n].data = data;
	s->part[s->n].len = len;
	s->n++;
	s->bytes += len;
}

static inline void
source_read(struct dp_source *s, uint8_t *to, uint32_t len)
{
	while (len != 0) {
		struct dp_piece *p = &s->part[s->now];
		uint32_t take = len < p->len ? len : p->len;

		dp_copy(to, p->data, take);
		to += take;
		len -= take;
		p->data += take;
		p->len -= take;
		if (p->len == 0)
			s->now++;
	}
}

static struct dp_rq *
rq_get(struct emu_rq *rq)
{
	if (rq->obj.dp == NULL && dp_port_of(rq->obj.dev) != NULL) {
		struct dp_rq *q = calloc(1, sizeof(*q));

		if (q != NULL) {
			q->rq = rq;
			q->wqes = 1u << rq->log_wqes;
			q->stride = 1u << rq->log_stride_bytes;
		}
		rq->obj.dp = q;
	}
	return rq->obj.dp;
}

static void
set_failed(struct emu_rq *rq, bool failed)
{
	struct dp_port *port = dp_port_of(rq->obj.dev);
	struct dp_rq *q = rq_get(rq);

	if (q == NULL || q->failed == failed)
		return;
	q->failed = failed;
	if (port == NULL)
		return;
	if (failed)
		TAILQ_INSERT_TAIL(&port->failed, q, in_failed);
	else
		TAILQ_REMOVE(&port->failed, q, in_failed);
}

void
emu_dp_rq_changed(struct emu_rq *rq)
{
	if (rq->obj.unmapped) {
		rq->state = EMU_QS_ERR;
		return;
	}
	if (rq_get(rq) == NULL)
		return;
	if (rq->cq != NULL)
		dp_cq_get(rq->cq);
	if (rq->state != EMU_QS_RDY)
		dp_lro_drop(rq->obj.dp);
	if (rq->state == EMU_QS_RST)
		dp_check_forget(rq);
	if (rq->state == EMU_QS_RST && rq->cq != NULL)
		dp_cq_close(rq->cq);
	set_failed(rq, rq->state == EMU_QS_ERR);
	if (rq->state == EMU_QS_ERR)
		dp_rq_flush(rq);
}

void
dp_rq_forget(struct emu_rq *rq)
{
	if (rq->obj.dp == NULL)
		return;
	set_failed(rq, false);
	dp_lro_free(rq->obj.dp);
	dp_check_forget(rq);
	free(rq->obj.dp);
	rq->obj.dp = NULL;
}

/* Consumes the WQE at ci; of a striding WQE all strides, also unused ones. */
static void
consume(struct emu_rq *rq)
{
	rq->ci++;
	rq->strides_used = 0;
}

void
dp_rq_refuse(struct emu_rq *rq, uint8_t syndrome, uint8_t vendor)
{
	dp_cq_write_error(rq->cq, rq->of_qp ? DP_CQE_ERR_QP_RECV : DP_CQE_ERR_RQ, rq->obj.id,
			  rq->user_index, rq->ci, syndrome, vendor);
	consume(rq);
	rq->obj.dev->stats.rx_errors++;
}

void
dp_rq_flush(struct emu_rq *rq)
{
	uint16_t posted = dp_rq_posted(rq);

	if (posted > 1u << rq->log_wqes)
		posted = 0; /* invalid producer index: it is unknown which WQEs are posted */
	while (posted-- != 0) {
		if (!rq->flush_in_error)
			consume(rq);
		else
			dp_rq_refuse(rq, PRM_CQE_SYNDROME_WR_FLUSH_ERR, 0);
	}
}

void
dp_rq_stop(struct emu_rq *rq)
{
	rq->state = EMU_QS_ERR;
	set_failed(rq, true);
	dp_rq_flush(rq);
}

/* Bytes that the WQE's segments hold; stops counting at `enough`. */
uint64_t
dp_rq_capacity(const struct prm_rq_wqe *seg, unsigned segs, uint32_t enough)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < segs && sum < enough; i++) {
		uint32_t len = be32toh(seg[i].byte_count);

		/* A list shorter than the stride ends with an empty segment of the invalid key. */
		if (len == 0 && be32toh(seg[i].lkey) == PRM_WQE_LKEY_INVALID)
			break;
		sum += len == 0 ? BYTE_COUNT_2GB : len;
	}
	return sum;
}

/* The WQE so many behind the one at ci. */
static inline const struct prm_rq_wqe *
wqe_ahead(const struct emu_rq *rq, uint32_t n)
{
	const struct dp_rq *q = rq->obj.dp;

	return (const struct prm_rq_wqe *)(rq->ring + (size_t)((rq->ci + n) & (q->wqes - 1)) * q->stride);
}

/*
 * Prefetches the next buffer. Its key is not looked up yet: assume the same distance between device
 * address and host address as for this one; a wrong guess has no effect.
 * Always inline: gcc 12 takes a function that only prefetches for one without effect, and removes calls of it.
 */
static inline __attribute__((always_inline)) void
prefetch_next(const struct emu_rq *rq, const uint8_t *to, uint64_t addr)
{
	const struct prm_rq_wqe *next = wqe_ahead(rq, PREFETCH_AHEAD);

	__builtin_prefetch((const void *)((uintptr_t)to + (be64toh(next->addr) - addr)), 1);
	__builtin_prefetch(wqe_ahead(rq, PREFETCH_RING_AHEAD));
}

/*
 * Bytes from the end of a frame to the end of its cache line, as far as the buffer goes.
 * assumed: end_padding_mode ALIGN fills the last cache line of a frame with zeros. Other reading: with other values,
 * which the completion does not count either. Test: dp/test_mprq.c.
 */
static uint32_t
padding(uint64_t end, uint32_t room)
{
	uint32_t bytes = -(uint32_t)end & (CACHE_LINE_BYTES - 1);

	return bytes < room ? bytes : room;
}

bool
dp_rq_scatter(struct emu_rq *rq, const struct prm_rq_wqe *seg, uint32_t skip, struct dp_source *s)
{
	struct emu_port_stats *stats = &rq->obj.dev->stats;
	struct dp_rq *q = rq->obj.dp;
	uint32_t left = s->bytes;

	for (; left != 0; seg++) {
		struct prm_rq_wqe now = *seg;
		uint32_t len = be32toh(now.byte_count), pad = 0;
		uint8_t *to;

		if (DP_UNLIKELY(skip != 0)) {
			uint32_t over = len != 0 && len < skip ? len : skip;

			skip -= over;
			now.addr = htobe64(be64toh(now.addr) + over);
			if (len == over && len != 0)
				continue;
			len = len == 0 ? 0 : len - over;
		}
		if (DP_UNLIKELY(rq->end_padding && len > left))
			pad = padding(be64toh(now.addr) + left, len - left);
		if (len == 0 || len > left)
			len = left;
		to = dp_dma(&q->key, rq->obj.dev, rq->pd, be32toh(now.lkey), be64toh(now.addr),
			    len + pad, EMU_DMA_WRITE);
		if (DP_UNLIKELY(to == NULL))
			return false;
		if (left == s->bytes)
			prefetch_next(rq, to, be64toh(now.addr));
		source_read(s, to, len);
		memset(to + len, 0, pad);
		left -= len;
		stats->dma_writes++;
		stats->dma_write_bytes += len;
	}
	return true;
}

/* Byte 0x1d of the completion: header types as the drivers' tables index them (PRM, CQE). */
static uint8_t
header_types(const uint8_t *d, const struct dp_layers *l, bool stripped)
{
	unsigned l4 = PRM_CQE_L4_HDR_TYPE_NONE;

	if (l->l4 == DP_L4_UDP) {
		l4 = PRM_CQE_L4_HDR_TYPE_UDP;
	} else if (l->l4 == DP_L4_TCP) {
		const uint8_t *tcp = d + l->l4_off;
		bool ack = (tcp[13] & 0x10) != 0;
		bool empty = l->l4_off + (tcp[12] >> 4) * 4u >= l->l3_end;

		l4 = !ack   ? PRM_CQE_L4_HDR_TYPE_TCP
		     : empty ? PRM_CQE_L4_HDR_TYPE_TCP_EMPTY_ACK
			     : PRM_CQE_L4_HDR_TYPE_TCP_ACK;
	}
	return (uint8_t)(l->frag << PRM_CQE64_L4_HDR_TYPE_ETC_IP_FRAG_SHIFT |
			 l4 << PRM_CQE64_L4_HDR_TYPE_ETC_L4_HDR_TYPE_SHIFT |
			 l->l3 << PRM_CQE64_L4_HDR_TYPE_ETC_L3_HDR_TYPE_SHIFT |
			 l->ip_ext << PRM_CQE64_L4_HDR_TYPE_ETC_IP_EXT_OPTS_SHIFT | stripped);
}

static inline void
describe_headers(struct prm_cqe64 *cqe, const struct dp_rx *rx, bool stripped)
{
	const struct dp_pkt *pkt = rx->pkt;
	const struct dp_layers *l = rx->tunneled ? &pkt->inner : &pkt->outer;
	struct dp_csum_result outer, *v = &outer;
	struct dp_csum_result inner;

	dp_csum_verify(pkt->data, &pkt->outer, &outer);
	if (rx->tunneled) {
		/* bit 0: tunnelled; bit 1: the outer IP is version 6 */
		cqe->tls_outer_l3_tunneled =
			(uint8_t)(1 | (pkt->outer.l3 == DP_L3_IPV6 ? 2 : 0));
		dp_csum_verify(pkt->data, &pkt->inner, &inner);
		inner.l3_ok &= outer.l3_ok;
		v = &inner;
	}
	cqe->checksum = outer.raw; /* in memory order already */
	cqe->hds_ip_ext = (uint8_t)(1 | v->l3_ok << 1 | v->l4_ok << 2);
	cqe->l4_hdr_type_etc = header_types(pkt->data, l, stripped);
}

static uint64_t
dp_rq_stamp(const struct emu_rq *rq)
{
	struct dp_port *port = dp_port_of(rq->obj.dev);

	return dp_time_stamp(port, &port->rx, rq->real_time);
}

static void
describe_queue(struct prm_cqe64 *cqe, const struct emu_rq *rq, const struct dp_rx *rx)
{
	cqe->rx_hash_result = htobe32(rx->hash);
	cqe->rx_hash_type = rx->hash_type;
	/* One segment: nothing was coalesced. */
	cqe->srqn_uidx = htobe32(1u << 24 | (rq->user_index & 0xffffff));
	cqe->flow_table_metadata = DP_UNLIKELY(rx->pkt->meta != NULL) ? htobe32(rx->pkt->meta->reg_b) : 0;
}

/* The CQE fields that receive queues of all kinds have in common. */
static inline __attribute__((always_inline)) void
describe(struct prm_cqe64 *cqe, const struct emu_rq *rq, const struct dp_rx *rx,
	 const struct dp_done *d)
{
	describe_headers(cqe, rx, d->stripped);
	if (d->stripped)
		cqe->vlan_info = htobe16(rx->pkt->outer.tci);
	describe_queue(cqe, rq, rx);
	cqe->wqe_id = htobe16(d->wqe_id);
	cqe->byte_cnt = htobe32(d->byte_cnt);
	cqe->timestamp = htobe64(dp_rq_stamp(rq));
	if (DP_UNLIKELY(rx->lro != NULL))
		dp_lro_describe(cqe, rq, rx);
}

/* Completes to a CQ that compresses its CQEs. */
static __attribute__((noinline)) bool
complete_comp(struct emu_rq *rq, const struct dp_rx *rx, const struct dp_done *d)
{
	struct dp_cq *c = rq->cq->obj.dp;
	struct prm_cqe64 cqe;

	memset(&cqe, 0, sizeof(cqe));
	describe(&cqe, rq, rx, d);
	cqe.sop_drop_qpn = htobe32(rx->flow_tag & 0xffffff);
	cqe.wqe_counter = htobe16(d->counter);
	cqe.op_own = PRM_CQE_OPCODE_RESP_SEND << 4;
	return dp_comp_add(c->comp, rq->obj.id, &cqe, d);
}

/* In all cases: by fault rules, and to CQs that are not plain or look full. */
static __attribute__((noinline)) bool
complete_any(struct emu_rq *rq, const struct dp_rx *rx, const struct dp_done *d)
{
	struct dp_cq *c = rq->cq->obj.dp;
	struct prm_cqe64 *cqe;

	if (emu_fault_at(EMU_ON_CQE_WRITE)) {
		enum dp_fault_rx fault = dp_fault_rq_cqe(rq, d);

		if (fault != DP_FAULT_RX_NONE)
			return fault == DP_FAULT_RX_DONE;
	}
	if (c != NULL && c->comp != NULL && !dp_fault_cqe())
		return complete_comp(rq, rx, d);
	cqe = dp_cq_begin(rq->cq);
	if (DP_UNLIKELY(cqe == NULL))
		return false;
	describe(cqe, rq, rx, d);
	dp_cq_end(rq->cq, cqe, rx->flow_tag & 0xffffff, d->counter, PRM_CQE_OPCODE_RESP_SEND,
		  false);
	return true;
}

static __attribute__((noinline)) bool
complete_plain(struct emu_rq *rq, const struct dp_rx *rx, const struct dp_done *d)
{
	struct prm_cqe64 *cqe = dp_cq_begin_plain(rq->cq);

	if (DP_UNLIKELY(cqe == NULL))
		return complete_any(rq, rx, d);
	describe(cqe, rq, rx, d);
	dp_cq_end_plain(rq->cq, cqe, rx->flow_tag & 0xffffff, d->counter, PRM_CQE_OPCODE_RESP_SEND);
	return true;
}

bool
dp_rq_complete(struct emu_rq *rq, const struct dp_rx *rx, const struct dp_done *d)
{
	const struct dp_cq *c = rq->cq->obj.dp;

	if (emu_fault_at(EMU_ON_CQE_WRITE) || dp_fault_cqe() || DP_UNLIKELY(c == NULL))
		return complete_any(rq, rx, d);
	return c->comp != NULL ? complete_comp(rq, rx, d) : complete_plain(rq, rx, d);
}

void
dp_rq_count(struct emu_rq *rq, uint32_t bytes)
{
	struct emu_port_stats *stats = &rq->obj.dev->stats;

	rq->frames++;
	rq->bytes += bytes;
	stats->rx_delivered_frames++;
	stats->rx_delivered_bytes += bytes;
	if (rq->q_counter != NULL)
		rq->q_counter->rx_write_requests++;
}

bool
dp_rq_source(struct dp_source *s, const struct emu_rq *rq, const struct dp_pkt *pkt)
{
	const struct dp_layers *l = &pkt->outer;
	bool strip = !rq->vsd && l->tags != 0 && l->tpid == DP_ETHERTYPE_CVLAN;

	s->n = s->now = 0;
	s->bytes = 0;
	if (strip) {
		source_add(s, pkt->data, MAC_BYTES);
		source_add(s, pkt->data + MAC_BYTES + DP_VLAN_BYTES,
			   pkt->len - MAC_BYTES - DP_VLAN_BYTES);
	} else {
		source_add(s, pkt->data, pkt->len);
	}
	if (rq->scatter_fcs) {
		uint32_t crc = htole32(dp_fcs(pkt->data, pkt->len));

		memcpy(s->fcs, &crc, sizeof(s->fcs));
		source_add(s, s->fcs, sizeof(s->fcs));
	}
	return strip;
}

/* Invalid producer index: it is unknown which WQEs are posted. */
static void
refuse_producer(struct emu_rq *rq)
{
	uint16_t pi = (uint16_t)be32toh(rq->dbrec[0]);

	emu_audit(rq->obj.dev, EMU_AUDIT_BAD_DOORBELL,
		  "RQ 0x%x: producer index 0x%x is %u WQEs ahead of 0x%x, the ring has %u",
		  rq->obj.id, pi, (uint16_t)(pi - rq->ci), rq->ci, 1u << rq->log_wqes);
	rq->obj.dev->stats.rx_error_frames++;
	dp_rq_refuse(rq, PRM_CQE_SYNDROME_LOCAL_QP_OP_ERR, 0);
	rq->ci = pi;
	dp_rq_stop(rq);
}

/*
 * The common case: copies an unchanged frame to the first segment of a WQE, which has the key that the queue
 * used last. False: not the common case, and nothing was written; call write_frame().
 */
static inline bool
write_whole(struct emu_rq *rq, const struct prm_rq_wqe *seg, const struct dp_pkt *pkt)
{
	struct emu_port_stats *stats = &rq->obj.dev->stats;
	struct dp_rq *q = rq->obj.dp;
	struct prm_rq_wqe now = *seg;
	uint64_t addr = be64toh(now.addr);
	uint8_t *to;

	if (DP_UNLIKELY(rq->scatter_fcs || rq->end_padding || (pkt->outer.tags != 0 && !rq->vsd) ||
			be32toh(now.byte_count) < pkt->len))
		return false;
	to = dp_dma_known(&q->key, rq->obj.dev, rq->pd, be32toh(now.lkey), addr, pkt->len,
			  EMU_DMA_WRITE);
	if (DP_UNLIKELY(to == NULL))
		return false;
	prefetch_next(rq, to, addr);
	dp_copy(to, pkt->data, pkt->len);
	stats->dma_writes++;
	stats->dma_write_bytes += pkt->len;
	return true;
}

uint32_t
dp_rq_largest(const struct emu_rq *rq, uint32_t enough)
{
	uint64_t bytes;

	if (dp_rq_posted(rq) == 0 || dp_rq_posted(rq) > 1u << rq->log_wqes)
		return 0;
	bytes = rq->striding ? dp_mprq_largest(rq)
			     : dp_rq_capacity(wqe_ahead(rq, 0), (1u << rq->log_stride_bytes) / DP_SEG_BYTES, enough);
	return bytes < enough ? (uint32_t)bytes : enough;
}

/* Writes the frame to the WQE's segments; false: they are too small or not accessible, error CQE written. */
static bool
write_frame(struct emu_rq *rq, const struct prm_rq_wqe *seg, const struct dp_rx *rx,
	    struct dp_done *done)
{
	unsigned segs = (1u << rq->log_stride_bytes) / DP_SEG_BYTES;
	struct dp_source s;

	done->stripped = dp_rq_source(&s, rq, rx->pkt);
	done->byte_cnt = s.bytes;
	if (DP_UNLIKELY(dp_rq_capacity(seg, segs, s.bytes) < s.bytes)) {
		/* The frame is lost and the WQE consumed; the queue stays ready. */
		rq->obj.dev->stats.rx_error_frames++;
		dp_rq_refuse(rq, PRM_CQE_SYNDROME_LOCAL_LENGTH_ERR, 0);
		return false;
	}
	if (DP_UNLIKELY(!dp_rq_scatter(rq, seg, 0, &s))) {
		rq->obj.dev->stats.rx_error_frames++;
		dp_rq_refuse(rq, PRM_CQE_SYNDROME_LOCAL_PROT_ERR, 0);
		dp_rq_stop(rq);
		return false;
	}
	return true;
}

static inline void
deliver(struct emu_rq *rq, const struct dp_rx *rx)
{
	const struct dp_rq *q = rq->obj.dp;
	const struct prm_rq_wqe *seg = wqe_ahead(rq, 0);
	struct dp_done done = {.counter = rq->ci, .byte_cnt = rx->pkt->len, .alone = rx->lro_segs > 1};

	rq->obj.dev->stats.wqe_fetch_bytes += q->stride;
	if (!DP_LIKELY(write_whole(rq, seg, rx->pkt)) && !write_frame(rq, seg, rx, &done))
		return;
	dp_rq_count(rq, done.byte_cnt);
	rq->ci++;
	if (DP_UNLIKELY(!dp_rq_complete(rq, rx, &done)))
		dp_rq_stop(rq);
}

static inline void
to_queue(struct emu_rq *rq, const struct dp_rx *rx)
{
	const struct dp_rq *q = rq->obj.dp;

	if (DP_UNLIKELY(dp_rq_posted(rq) > q->wqes))
		refuse_producer(rq);
	else if (rq->striding)
		dp_mprq_deliver(rq, rx);
	else
		deliver(rq, rx);
}

void
dp_rq_deliver(struct emu_rq *rq, const struct dp_rx *rx)
{
	if (DP_UNLIKELY(dp_check_on))
		dp_check_arrival(rq);
	if (emu_fault_at(EMU_ON_WQE_FETCH) && dp_fault_rq_fetch(rq))
		return;
	if (emu_fault_set_at(EMU_ON_RX_DELIVER))
		dp_fault_deliver(rq, rx, to_queue);
	else
		to_queue(rq, rx);
}
