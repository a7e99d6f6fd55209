/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Large receive offload: consecutive TCP segments of a flow become one packet. An RQ has one session at a time,
 * which ends at its limits of size and time, or with a frame for the RQ that does not continue it (Dekel Peled's
 * RFC of LRO in DPDK's mlx5 PMD, mail-archive.com/dev@dpdk.org/msg132033.html). The packet has the headers of its
 * first segment; the driver updates them from the CQE (DPDK mlx5_rx.c, mlx5_lro_update_hdr()).
 */
#include <stdlib.h>

#include "dp_csum.h"
#include "dp_time.h"

#define SEGS_MAX UINT8_MAX /* lro_num_seg */
#define TCP_MIN_BYTES 20u
#define TCP_TIMESTAMP_BYTES 12u
#define TCP_TIMESTAMP 0x0101080au /* NOP, NOP, kind, length */
enum { TCP_PSH = 0x08, TCP_ACK = 0x10 };

/*
 * assumed: a segment has good checksums, no IPv4 options, no IPv6 extension headers, no flags but ACK and PSH, at
 * least lro_min_mss_size bytes of payload, and the TOS or traffic class and flow label of the session;
 * acknowledgement numbers do not decrease. Other reading: other fields may or must be equal, and the size is that
 * of the TCP segment with its header. Test: dp/test_lro.c.
 */
/*
 * assumed: with lro_time_stamp segments may have the timestamp option behind two NOPs, of equal values. Other
 * reading: values may increase, and the CQE has the last ones in place of its timestamp, marked by bit 7 of
 * lro_tcppsh_abort_dupack (FreeBSD en_rx.c, mlx5e_lro_update_hdr()). Test: dp/test_lro.c.
 */
/*
 * assumed: the packet is written when the session ends, and takes the strides that its length needs. Other
 * reading: each segment is written when it arrives, so that a driver sees more filler CQEs. Test: dp/test_lro.c.
 */
/*
 * assumed: a session does not outgrow the WQE that is next. Other reading: it ends with an error completion. Test:
 * dp/test_lro.c.
 */
struct dp_lro {
	struct emu_rq *rq;
	uint32_t segs;	/**< 0: no session. */
	uint32_t limit; /**< Bytes of the packet at most. */
	uint32_t seq, ack; /**< Expected next, and last seen. */
	uint16_t window;
	uint8_t ttl; /**< The least. */
	bool psh;
	uint64_t end_ns;
	struct dp_instant arrived; /**< The last segment. */
	struct dp_rx rx;
	struct dp_pkt pkt;
	TAILQ_ENTRY(dp_lro) next;
	uint8_t frame[DP_MAX_MERGED];
};

static const uint8_t *
tcp_of(const struct dp_pkt *pkt)
{
	return pkt->data + pkt->outer.l4_off;
}

static uint32_t
tcp_bytes(const struct dp_pkt *pkt)
{
	return (tcp_of(pkt)[12] >> 4) * 4u;
}

static uint32_t
headers(const struct dp_pkt *pkt)
{
	return pkt->outer.l4_off + tcp_bytes(pkt);
}

static bool
options_fit(const struct emu_profile *p, const struct dp_pkt *pkt)
{
	uint32_t bytes = tcp_bytes(pkt) - TCP_MIN_BYTES;

	return bytes == 0 || (bytes == TCP_TIMESTAMP_BYTES && p->lro_time_stamp &&
			      dp_rd32(tcp_of(pkt) + TCP_MIN_BYTES) == TCP_TIMESTAMP);
}

static bool
checksums_right(const struct dp_pkt *pkt)
{
	struct dp_csum_result v;

	dp_csum_verify(pkt->data, &pkt->outer, &v);
	return v.l3_ok && v.l4_ok;
}

/* Whether the frame can be merged. */
static bool
suits(const struct emu_rq *rq, const struct emu_tir *tir, const struct dp_pkt *pkt)
{
	const struct emu_profile *p = rq->obj.dev->profile;
	const struct dp_layers *l = &pkt->outer;
	unsigned family = l->l3 == DP_L3_IPV4 ? PRM_TIRC_PACKET_MERGE_IPV4_LRO : PRM_TIRC_PACKET_MERGE_IPV6_LRO;

	if (l->l4 != DP_L4_TCP || (tir->lro_mask & family) == 0 || l->ip_ext || l->l3_end != pkt->len ||
	    !l->l3_len_ok || rq->scatter_fcs)
		return false;
	if ((tcp_of(pkt)[12] & 0xf) != 0 ||
	    (tcp_of(pkt)[13] & ~(p->lro_psh_flag ? TCP_PSH : 0)) != TCP_ACK || !options_fit(p, pkt))
		return false;
	return pkt->len > headers(pkt) && pkt->len - headers(pkt) >= p->lro_min_mss_size && checksums_right(pkt);
}

static bool
ip_equal(const uint8_t *a, const uint8_t *b, enum dp_l3 l3)
{
	if (l3 == DP_L3_IPV4)
		return memcmp(a, b, 2) == 0 && memcmp(a + 12, b + 12, 8) == 0;
	return memcmp(a, b, 4) == 0 && memcmp(a + 8, b + 8, 32) == 0;
}

/* Whether a segment that can be merged is the next one of the session. */
static bool
continues(const struct dp_lro *s, const struct dp_rx *rx)
{
	const struct dp_layers *mine = &s->pkt.outer, *l = &rx->pkt->outer;
	const uint8_t *tcp = tcp_of(rx->pkt), *first = tcp_of(&s->pkt);
	uint32_t bytes = tcp_bytes(rx->pkt), payload = rx->pkt->len - headers(rx->pkt);

	if (l->l3 != mine->l3 || l->l3_off != mine->l3_off || l->l4_off != mine->l4_off ||
	    bytes != tcp_bytes(&s->pkt) || rx->flow_tag != s->rx.flow_tag)
		return false;
	if (memcmp(rx->pkt->data, s->frame, l->l3_off) != 0 || memcmp(tcp, first, 4) != 0 ||
	    memcmp(tcp + TCP_MIN_BYTES, first + TCP_MIN_BYTES, bytes - TCP_MIN_BYTES) != 0 ||
	    !ip_equal(rx->pkt->data + l->l3_off, s->frame + l->l3_off, l->l3))
		return false;
	return dp_rd32(tcp + 4) == s->seq && (int32_t)(dp_rd32(tcp + 8) - s->ack) >= 0 &&
	       payload <= s->limit - s->pkt.len;
}

static struct dp_lro *
lro_get(struct emu_rq *rq)
{
	struct dp_rq *q = rq->obj.dp;

	if (q != NULL && q->lro == NULL) {
		q->lro = calloc(1, sizeof(*q->lro));
		if (q->lro != NULL)
			q->lro->rq = rq;
	}
	return q == NULL ? NULL : q->lro;
}

static void
forget(struct dp_lro *s)
{
	if (s->segs == 0)
		return;
	TAILQ_REMOVE(&dp_port_of(s->rq->obj.dev)->shared->merging, s, next);
	s->segs = 0;
	s->rq->merging = false;
}

void
dp_lro_drop(struct dp_rq *q)
{
	if (q->lro != NULL)
		forget(q->lro);
}

void
dp_lro_free(struct dp_rq *q)
{
	dp_lro_drop(q);
	free(q->lro);
	q->lro = NULL;
}

void
dp_lro_end(struct emu_rq *rq)
{
	struct dp_lro *s = ((struct dp_rq *)rq->obj.dp)->lro;
	struct emu_port_stats *stats = &rq->obj.dev->stats;
	uint32_t segs = s->segs;

	forget(s);
	if (rq->state != EMU_QS_RDY)
		return;
	/* There was a WQE when the session began; but the program can change the producer index. */
	if (DP_UNLIKELY(!dp_rq_has_room(rq, &s->pkt))) {
		dp_rx_out_of_buffer(rq->obj.dev, rq);
		return;
	}
	if (segs > 1) {
		stats->rx_lro_packets++;
		stats->rx_lro_segments += segs;
	}
	s->rx.lro_segs = (uint8_t)segs;
	dp_rq_deliver(rq, &s->rx);
}

bool
dp_lro_wants(struct emu_rq *rq, const struct emu_tir *tir, const struct dp_rx *rx)
{
	uint32_t from = rq->obj.dev->profile->lro_max_msg_sz_mode == 0 ? rx->pkt->outer.l4_off : 0;
	uint64_t now = dp_port_of(rq->obj.dev)->shared->mono_ns;
	bool suited = suits(rq, tir, rx->pkt);
	struct dp_lro *s;
	uint32_t limit;

	if (rq->merging) {
		s = ((struct dp_rq *)rq->obj.dp)->lro;
		if (suited && now < s->end_ns && continues(s, rx))
			return true;
		dp_lro_end(rq);
	}
	if (!suited || (tcp_of(rx->pkt)[13] & TCP_PSH) != 0 || rq->state != EMU_QS_RDY)
		return false;
	s = lro_get(rq);
	if (s == NULL)
		return false;
	limit = dp_rq_largest(rq, DP_MAX_MERGED);
	s->limit = from + tir->lro_bytes < limit ? from + tir->lro_bytes : limit;
	return rx->pkt->len <= s->limit;
}

static void
begin(struct dp_lro *s, const struct emu_tir *tir, const struct dp_rx *rx)
{
	struct dp_shared *shared = dp_port_of(s->rq->obj.dev)->shared;

	s->rx = *rx;
	s->rx.lro = s;
	s->pkt = *rx->pkt;
	s->rx.pkt = &s->pkt;
	s->pkt.data = s->frame;
	s->pkt.len = headers(rx->pkt);
	memcpy(s->frame, rx->pkt->data, s->pkt.len);
	s->ttl = UINT8_MAX;
	s->psh = false;
	s->end_ns = shared->mono_ns + tir->lro_timeout_us * 1000ull;
	s->rq->merging = true;
	TAILQ_INSERT_TAIL(&shared->merging, s, next);
}

void
dp_lro_add(struct emu_rq *rq, const struct emu_tir *tir, const struct dp_rx *rx)
{
	struct dp_lro *s = ((struct dp_rq *)rq->obj.dp)->lro;
	const struct dp_layers *l = &rx->pkt->outer;
	const uint8_t *tcp = tcp_of(rx->pkt);
	uint32_t from = headers(rx->pkt), payload = rx->pkt->len - from;
	uint8_t ttl = rx->pkt->data[l->l3_off + (l->l3 == DP_L3_IPV4 ? 8u : 7u)];

	if (s->segs++ == 0)
		begin(s, tir, rx);
	memcpy(s->frame + s->pkt.len, rx->pkt->data + from, payload);
	s->pkt.len += payload;
	s->pkt.outer.l3_end = s->pkt.len;
	s->seq = dp_rd32(tcp + 4) + payload;
	s->ack = dp_rd32(tcp + 8);
	s->window = dp_rd16(tcp + 14);
	s->ttl = ttl < s->ttl ? ttl : s->ttl;
	s->psh = (tcp[13] & TCP_PSH) != 0;
	s->arrived = dp_port_of(rq->obj.dev)->rx;
	if (s->psh || s->segs == SEGS_MAX)
		dp_lro_end(rq);
}

/*
 * assumed: the timestamp is that of the last segment. Other reading: of the first one. Test: dp/test_lro.c.
 */
void
dp_lro_describe(struct prm_cqe64 *cqe, const struct emu_rq *rq, const struct dp_rx *rx)
{
	const struct dp_lro *s = rx->lro;
	uint32_t from = headers(&s->pkt);
	uint16_t sum;

	cqe->timestamp = htobe64(dp_time_stamp(dp_port_of(rq->obj.dev), &s->arrived, rq->real_time));
	if (rx->lro_segs == 1)
		return;
	/* The sum of the payload (DPDK mlx5_rx.c, mlx5_lro_update_tcp_hdr()), in memory order. */
	sum = dp_csum(s->frame + from, s->pkt.len - from);
	memcpy(&cqe->checksum, &sum, sizeof(sum));
	cqe->hds_ip_ext = 1 | 1 << 1 | 1 << 2;
	cqe->lro_tcppsh_abort_dupack = (uint8_t)(s->psh << PRM_CQE64_LRO_TCPPSH_ABORT_DUPACK_TCPPSH_SHIFT);
	cqe->lro_min_ttl = s->ttl;
	cqe->lro_tcp_win = htobe16(s->window);
	cqe->lro_ack_seq_num = htobe32(s->ack);
	cqe->srqn_uidx = htobe32((uint32_t)rx->lro_segs << 24 | (rq->user_index & 0xffffff));
}

/* Virtual time does not pass while there is no work: a session ends then. */
void
dp_lro_tick(struct dp_shared *shared, bool idle)
{
	bool now = idle && emu_time_is_virtual();
	struct dp_lro *s, *next;

	for (s = TAILQ_FIRST(&shared->merging); s != NULL; s = next) {
		next = TAILQ_NEXT(s, next);
		if (now || shared->mono_ns >= s->end_ns || DP_UNLIKELY(s->rq->obj.dev->removed))
			dp_lro_end(s->rq);
		else if (s->end_ns < shared->due_ns)
			shared->due_ns = s->end_ns;
	}
}
