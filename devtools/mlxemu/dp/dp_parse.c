/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* The packet parser: bounded by the frame's length at every step. */
#include "dp_parse.h"

#define IPV4_MIN_BYTES 20u
#define IPV6_BYTES 40u
#define TCP_MIN_BYTES 20u
#define UDP_BYTES 8u
#define VXLAN_BYTES 8u
#define GENEVE_BYTES 8u /* Without options. */
#define GRE_BYTES 4u	/* Without optional fields. */
#define ETHERTYPE_TEB 0x6558u /* An Ethernet frame. */
#define IPV6_EXT_MAX 8u /* a longer chain is left unread: no l4 */

/* swp_flags (Linux, include/linux/mlx5/qp.h, MLX5_ETH_WQE_SWP_*). */
enum { SWP_INNER_L3_IPV6 = 0x1, SWP_INNER_L4_UDP = 0x2, SWP_OUTER_L3_IPV6 = 0x10, SWP_OUTER_L4_UDP = 0x20 };

/* IPv6 next-header values that are extension headers (RFC 8200, RFC 4302). */
enum { EXT_HOPOPT = 0, EXT_ROUTING = 43, EXT_FRAGMENT = 44, EXT_AH = 51, EXT_DSTOPT = 60 };

static inline void
parse_l4(struct dp_layers *l, const uint8_t *d)
{
	uint32_t left = l->l3_end - l->l4_off;
	const uint8_t *h = d + l->l4_off;

	if (l->frag)
		return;
	if (l->ip_proto == DP_PROTO_UDP && left >= UDP_BYTES) {
		l->l4 = DP_L4_UDP;
	} else if (l->ip_proto == DP_PROTO_TCP && left >= TCP_MIN_BYTES) {
		uint32_t header = (h[12] >> 4) * 4u;

		if (header >= TCP_MIN_BYTES && header <= left)
			l->l4 = DP_L4_TCP;
	}
}

static inline void
parse_ipv4(struct dp_layers *l, const uint8_t *d, uint32_t len)
{
	const uint8_t *h = d + l->l3_off;
	uint32_t left = len - l->l3_off, ihl, total;

	if (left < IPV4_MIN_BYTES || h[0] >> 4 != 4)
		return;
	ihl = (h[0] & 0xf) * 4u;
	if (ihl < IPV4_MIN_BYTES || ihl > left)
		return;
	total = dp_rd16(h + 2);
	l->l3 = DP_L3_IPV4;
	l->l4_off = (uint16_t)(l->l3_off + ihl);
	l->ip_proto = h[9];
	l->ip_ext = ihl > IPV4_MIN_BYTES;
	l->frag = (dp_rd16(h + 6) & 0x3fff) != 0;
	l->l3_len_ok = total >= ihl && total <= left;
	l->l3_end = l->l3_len_ok ? l->l3_off + total : len;
	parse_l4(l, d);
}

/* Length of an extension header at h with at least 8 bytes readable. */
static uint32_t
ext_bytes(uint8_t type, const uint8_t *h)
{
	if (type == EXT_FRAGMENT)
		return 8;
	return type == EXT_AH ? (h[1] + 2u) * 4u : (h[1] + 1u) * 8u;
}

static bool
is_ext(uint8_t type)
{
	return type == EXT_HOPOPT || type == EXT_ROUTING || type == EXT_FRAGMENT ||
	       type == EXT_AH || type == EXT_DSTOPT;
}

static __attribute__((noinline)) void
parse_ipv6(struct dp_layers *l, const uint8_t *d, uint32_t len)
{
	const uint8_t *h = d + l->l3_off;
	uint32_t left = len - l->l3_off, off, payload;
	uint8_t next;

	if (left < IPV6_BYTES || h[0] >> 4 != 6)
		return;
	payload = dp_rd16(h + 4);
	next = h[6];
	l->l3 = DP_L3_IPV6;
	l->l3_len_ok = payload <= left - IPV6_BYTES;
	l->l3_end = l->l3_len_ok ? l->l3_off + IPV6_BYTES + payload : len;
	off = l->l3_off + IPV6_BYTES;
	for (unsigned i = 0; is_ext(next); i++) {
		uint32_t bytes;

		l->ip_ext = true;
		if (i == IPV6_EXT_MAX || l->l3_end - off < 8)
			break;
		bytes = ext_bytes(next, d + off);
		if (bytes > l->l3_end - off)
			break;
		/* Offset or more-fragments; an atomic fragment is a whole packet (RFC 6946). */
		if (next == EXT_FRAGMENT && (dp_rd16(d + off + 2) & 0xfff9) != 0)
			l->frag = true;
		next = d[off];
		off += bytes;
	}
	l->l4_off = (uint16_t)off;
	l->ip_proto = next;
	parse_l4(l, d);
}

/* An IP header at off <= len. */
static inline __attribute__((always_inline)) void
parse_l3(struct dp_layers *l, const uint8_t *d, uint32_t len, uint32_t off, uint16_t ethertype)
{
	l->l3_off = (uint16_t)off;
	l->ethertype = ethertype;
	if (ethertype == DP_ETHERTYPE_IPV4)
		parse_ipv4(l, d, len);
	else if (ethertype == DP_ETHERTYPE_IPV6)
		parse_ipv6(l, d, len);
}

static void
layers_begin(struct dp_layers *l, uint32_t len, uint32_t off)
{
	memset(l, 0, sizeof(*l));
	l->l2_off = (uint16_t)off;
	l->l3_end = len;
}

static inline __attribute__((always_inline)) void
parse_layers(struct dp_layers *l, const uint8_t *d, uint32_t len, uint32_t l2_off)
{
	uint32_t off = l2_off + DP_ETH_BYTES;
	uint16_t type;

	layers_begin(l, len, l2_off);
	if (len < off)
		return;
	type = dp_rd16(d + off - 2);
	while ((type == DP_ETHERTYPE_CVLAN || type == DP_ETHERTYPE_SVLAN) && l->tags < 2 &&
	       len - off >= DP_VLAN_BYTES) {
		if (l->tags++ == 0) {
			l->tpid = type;
			l->tci = dp_rd16(d + off);
		}
		type = dp_rd16(d + off + 2);
		off += DP_VLAN_BYTES;
	}
	parse_l3(l, d, len, off, type);
}

/* What a tunnel carries, and where. bytes 0: there is no tunnel. */
struct inside {
	uint32_t bytes; /* Of the tunnel's header. */
	uint16_t type;
};

uint32_t
dp_gre_bytes(const uint8_t *h, uint32_t left)
{
	/* No version but 0; no routing (RFC 1701). */
	if (left < GRE_BYTES || (h[0] & 0x40) != 0 || (h[1] & 7) != 0)
		return 0;
	return GRE_BYTES + (h[0] & 0x80 ? 4u : 0) + (h[0] & 0x20 ? 4u : 0) + (h[0] & 0x10 ? 4u : 0);
}

static struct inside
inside_gre(const uint8_t *h, uint32_t left)
{
	uint32_t bytes = dp_gre_bytes(h, left);

	return bytes != 0 ? (struct inside){bytes, dp_rd16(h + 2)} : (struct inside){0};
}

/* Behind UDP: the I flag of VXLAN must be set (RFC 7348); GENEVE has version 0 and options (RFC 8926). */
static struct inside
inside_udp(const uint8_t *udp, uint32_t left, unsigned tunnels)
{
	const uint8_t *h = udp + UDP_BYTES;
	uint16_t port = dp_rd16(udp + 2);

	if (left < UDP_BYTES + VXLAN_BYTES)
		return (struct inside){0};
	if (port == DP_VXLAN_PORT && (tunnels & DP_TUNNEL_VXLAN) && (h[0] & 0x08) != 0)
		return (struct inside){UDP_BYTES + VXLAN_BYTES, ETHERTYPE_TEB};
	if (port == DP_GENEVE_PORT && (tunnels & DP_TUNNEL_GENEVE) && h[0] >> 6 == 0)
		return (struct inside){UDP_BYTES + GENEVE_BYTES + (h[0] & 0x3f) * 4u, dp_rd16(h + 2)};
	return (struct inside){0};
}

/*
 * assumed: the parsers of all cards go over GRE's optional fields and all of GENEVE's options. Other reading: older ones
 * do not, and treat such packets as plain IP. Test: dp/test_parse.c.
 */
static struct inside
inside_ip(const struct dp_layers *o, const uint8_t *d, unsigned tunnels)
{
	const uint8_t *h = d + o->l4_off;
	uint32_t left = o->l3_end - o->l4_off;

	if (o->l4 == DP_L4_UDP)
		return inside_udp(h, left, tunnels);
	if (o->l4 == DP_L4_TCP || o->l3 == DP_L3_NONE || o->frag)
		return (struct inside){0};
	if (o->ip_proto == DP_PROTO_GRE && (tunnels & DP_TUNNEL_GRE))
		return inside_gre(h, left);
	return (struct inside){0};
}

/* Whether a tunnel is possible: few packets need parse_inner(). */
static inline bool
may_carry(const struct dp_layers *o, const uint8_t *d)
{
	uint16_t port;

	if (o->l4 != DP_L4_UDP)
		return o->l4 == DP_L4_NONE && o->l3 != DP_L3_NONE && !o->frag;
	port = dp_rd16(d + o->l4_off + 2);
	return port == DP_VXLAN_PORT || port == DP_GENEVE_PORT;
}

static __attribute__((noinline)) bool
parse_inner(struct dp_pkt *pkt, unsigned tunnels)
{
	const struct dp_layers *o = &pkt->outer;
	struct inside in = inside_ip(o, pkt->data, tunnels);
	uint32_t off = o->l4_off + in.bytes;
	bool ipip = (tunnels & DP_TUNNEL_IPIP) && o->l3 != DP_L3_NONE && !o->frag &&
		    (o->ip_proto == DP_PROTO_IPIP || o->ip_proto == DP_PROTO_IPV6);

	if (ipip)
		in.type = o->ip_proto == DP_PROTO_IPIP ? DP_ETHERTYPE_IPV4 : DP_ETHERTYPE_IPV6;
	else if (in.bytes == 0)
		return false;
	if (in.type == ETHERTYPE_TEB) {
		if (off + DP_ETH_BYTES > o->l3_end)
			return false;
		parse_layers(&pkt->inner, pkt->data, o->l3_end, off);
		return true;
	}
	if (off > o->l3_end)
		return false;
	layers_begin(&pkt->inner, o->l3_end, off);
	parse_l3(&pkt->inner, pkt->data, o->l3_end, off, in.type);
	return pkt->inner.l3 != DP_L3_NONE;
}

void
dp_parse(struct dp_pkt *pkt, const uint8_t *data, uint32_t len, unsigned tunnels)
{
	/* Offsets have 16 bits: headers beyond are not parsed. */
	pkt->data = data;
	pkt->len = len;
	pkt->meta = NULL;
	parse_layers(&pkt->outer, data, len, 0);
	pkt->tunneled = tunnels != 0 && may_carry(&pkt->outer, data) && parse_inner(pkt, tunnels);
}

static void
layers_swp(struct dp_layers *l, const uint8_t *d, uint32_t len, uint32_t l3, uint32_t l4, bool ipv6, bool udp)
{
	layers_begin(l, len, 0);
	if (l3 == 0 || l3 * 2 > len)
		return;
	parse_l3(l, d, len, l3 * 2, ipv6 ? DP_ETHERTYPE_IPV6 : DP_ETHERTYPE_IPV4);
	l->l4 = DP_L4_NONE;
	/* A layer 4 header begins behind an IP header, and its checksum is inside the IP packet. */
	if (l->l3 == DP_L3_NONE || l4 == 0 || l4 * 2 < l->l3_off + IPV4_MIN_BYTES ||
	    l4 * 2 + (udp ? UDP_BYTES : TCP_MIN_BYTES) > l->l3_end)
		return;
	l->l4_off = (uint16_t)(l4 * 2);
	l->ip_proto = udp ? DP_PROTO_UDP : DP_PROTO_TCP;
	l->l4 = udp ? DP_L4_UDP : DP_L4_TCP;
}

void
dp_parse_swp(struct dp_pkt *pkt, const uint8_t *data, uint32_t len, const struct dp_swp *swp)
{
	pkt->data = data;
	pkt->len = len;
	pkt->meta = NULL;
	layers_swp(&pkt->outer, data, len, swp->outer_l3, swp->outer_l4,
		   (swp->flags & SWP_OUTER_L3_IPV6) != 0,
		   (swp->flags & SWP_OUTER_L4_UDP) != 0);
	layers_swp(&pkt->inner, data, len, swp->inner_l3, swp->inner_l4,
		   (swp->flags & SWP_INNER_L3_IPV6) != 0,
		   (swp->flags & SWP_INNER_L4_UDP) != 0);
	pkt->tunneled = swp->inner_l3 != 0;
}
