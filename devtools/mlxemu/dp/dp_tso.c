/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Large send offload: splits a TCP message into frames with adapted headers. */
#include "dp_csum.h"
#include "dp_int.h"

#define TCP_FIN 0x01u
#define TCP_PSH 0x08u
#define TCP_CWR 0x80u

/** Properties common to all segments of a message. */
struct tso {
	struct dp_wqe *w;
	uint8_t *header; /**< At the start of the frame buffer. */
	uint32_t header_bytes;
	struct dp_pkt pkt; /**< Parse of the header alone. */
	const struct dp_layers *tcp; /**< Where the TCP header is: outer or inner. */
	uint32_t seq;
	uint16_t outer_id, inner_id;
	uint8_t flags;
};

static void
set_ip_len(uint8_t *frame, const struct dp_layers *l, uint32_t len, uint16_t id)
{
	if (l->l3 == DP_L3_NONE)
		return;
	dp_ip_set_len(frame, l, len);
	if (l->l3 == DP_L3_IPV4)
		dp_wr16(frame + l->l3_off + 4, id);
}

static uint16_t
ip_id(const uint8_t *frame, const struct dp_layers *l)
{
	return l->l3 == DP_L3_IPV4 ? dp_rd16(frame + l->l3_off + 4) : 0;
}

/* The header of segment n, which carries bytes of payload from offset on. */
static void
renew_header(struct tso *t, unsigned n, uint32_t offset, uint32_t len, bool last)
{
	uint8_t *tcp = t->header + t->tcp->l4_off;
	uint8_t flags = t->flags;

	set_ip_len(t->header, &t->pkt.outer, len, (uint16_t)(t->outer_id + n));
	if (t->pkt.tunneled) {
		if (t->pkt.outer.l4 == DP_L4_UDP)
			dp_wr16(t->header + t->pkt.outer.l4_off + 4, (uint16_t)(len - t->pkt.outer.l4_off));
		set_ip_len(t->header, &t->pkt.inner, len, (uint16_t)(t->inner_id + n));
	}
	dp_wr32(tcp + 4, t->seq + offset);
	if (n != 0)
		flags &= (uint8_t)~TCP_CWR;
	if (!last)
		flags &= (uint8_t)~(TCP_FIN | TCP_PSH);
	tcp[13] = flags;
}

/*
 * The headers have the length of the whole message, or none. Set the length of the headers alone, so that
 * the parser reaches TCP.
 */
static enum dp_exec
parse_header(struct tso *t)
{
	const uint8_t *h = t->header;

	dp_tx_parse(t->w, &t->pkt, h, t->header_bytes);
	for (unsigned pass = 0; pass < 2; pass++) {
		if (t->pkt.outer.l3 == DP_L3_NONE)
			break;
		set_ip_len(t->header, &t->pkt.outer, t->header_bytes, ip_id(h, &t->pkt.outer));
		if (t->pkt.tunneled && t->pkt.inner.l3 != DP_L3_NONE)
			set_ip_len(t->header, &t->pkt.inner, t->header_bytes,
				   ip_id(h, &t->pkt.inner));
		dp_tx_parse(t->w, &t->pkt, h, t->header_bytes);
	}
	t->tcp = t->pkt.tunneled ? &t->pkt.inner : &t->pkt.outer;
	if (t->tcp->l4 != DP_L4_TCP ||
	    t->tcp->l4_off + (h[t->tcp->l4_off + 12] >> 4) * 4u != t->header_bytes)
		return dp_wqe_refuse(t->w, PRM_CQE_SYNDROME_LOCAL_QP_OP_ERR,
				     "inline header is not exactly Ethernet, IP and TCP");
	t->seq = dp_rd32(h + t->tcp->l4_off + 4);
	t->flags = h[t->tcp->l4_off + 13];
	t->outer_id = ip_id(h, &t->pkt.outer);
	t->inner_id = t->pkt.tunneled ? ip_id(h, &t->pkt.inner) : 0;
	return DP_DONE;
}

static enum dp_exec
send_segments(struct tso *t, const uint8_t *message, uint32_t bytes)
{
	enum dp_exec done = DP_DONE;
	struct dp_pkt pkt;
	uint32_t offset = 0;

	for (unsigned n = 0; done == DP_DONE && (offset < bytes || n == 0); n++) {
		uint32_t part = bytes - offset < t->w->mss ? bytes - offset : t->w->mss;
		uint32_t len = t->header_bytes + part;

		renew_header(t, n, offset, len, offset + part == bytes);
		memcpy(t->header + t->header_bytes, message + offset, part);
		dp_tx_parse(t->w, &pkt, t->header, len);
		dp_tx_checksums(t->header, &pkt, t->w->cs_flags);
		done = dp_tx_frame(t->w, t->header, len);
		offset += part;
	}
	return done;
}

enum dp_exec
dp_tso_execute(struct dp_wqe *w, const struct dp_pieces *header)
{
	struct dp_shared *shared = w->port->shared;
	struct tso t = {.w = w, .header = shared->frame, .header_bytes = header->bytes};
	struct dp_pieces payload;
	enum dp_exec done;

	dp_pieces_init(&payload);
	if (w->mss == 0)
		return dp_wqe_refuse(w, PRM_CQE_SYNDROME_LOCAL_QP_OP_ERR, "LSO with mss 0");
	if (w->vlan_insert)
		return dp_wqe_refuse(w, PRM_CQE_SYNDROME_LOCAL_QP_OP_ERR,
				     "LSO needs its header inline, VLAN insertion takes its place");
	if (header->bytes + w->mss > DP_MAX_FRAME)
		return dp_wqe_refuse(w, PRM_CQE_SYNDROME_LOCAL_LENGTH_ERR, "mss too large");
	while (w->pos != w->end) {
		done = dp_wqe_data(w, &payload, DP_MAX_MESSAGE);
		if (done != DP_DONE)
			return done;
	}
	if (payload.bytes > DP_MAX_MESSAGE)
		return dp_wqe_refuse(w, PRM_CQE_SYNDROME_LOCAL_LENGTH_ERR, "message too long");
	dp_pieces_copy(t.header, header);
	dp_pieces_copy(shared->message, &payload);
	done = parse_header(&t);
	return done == DP_DONE ? send_segments(&t, shared->message, payload.bytes) : done;
}
