/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* The packet parser: bounded by the frame's length at every step. */
#include "dp_parse.h"

#define IPV4_MIN_BYTES 20u
#define IPV6_BYTES 40u
#define TCP_MIN_BYTES 20u
#define UDP_BYTES 8u
#define VXLAN_BYTES 8u
#define IPV6_EXT_MAX 8u /* a longer chain is left unread: no l4 */

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

static void
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

static void
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

static void
parse_layers(struct dp_layers *l, const uint8_t *d, uint32_t len, uint32_t l2_off)
{
	uint32_t off = l2_off + DP_ETH_BYTES;

	memset(l, 0, sizeof(*l));
	l->l2_off = (uint16_t)l2_off;
	l->l3_end = len;
	if (len < off)
		return;
	l->ethertype = dp_rd16(d + off - 2);
	while ((l->ethertype == DP_ETHERTYPE_CVLAN || l->ethertype == DP_ETHERTYPE_SVLAN) &&
	       l->tags < 2 && len - off >= DP_VLAN_BYTES) {
		if (l->tags++ == 0) {
			l->tpid = l->ethertype;
			l->tci = dp_rd16(d + off);
		}
		l->ethertype = dp_rd16(d + off + 2);
		off += DP_VLAN_BYTES;
	}
	l->l3_off = (uint16_t)off;
	if (l->ethertype == DP_ETHERTYPE_IPV4)
		parse_ipv4(l, d, len);
	else if (l->ethertype == DP_ETHERTYPE_IPV6)
		parse_ipv6(l, d, len);
}

void
dp_parse(struct dp_pkt *pkt, const uint8_t *data, uint32_t len, bool tunnels)
{
	const struct dp_layers *o = &pkt->outer;
	uint32_t inner_off;

	/* Offsets have 16 bits: headers beyond are not parsed. */
	pkt->data = data;
	pkt->len = len;
	pkt->tunneled = false;
	parse_layers(&pkt->outer, data, len, 0);
	if (!tunnels || o->l4 != DP_L4_UDP || dp_rd16(data + o->l4_off + 2) != DP_VXLAN_PORT)
		return;
	inner_off = o->l4_off + UDP_BYTES + VXLAN_BYTES;
	/* The I flag must be set (RFC 7348) and an Ethernet header must follow. */
	if (inner_off + DP_ETH_BYTES > o->l3_end || (data[o->l4_off + UDP_BYTES] & 0x08) == 0)
		return;
	parse_layers(&pkt->inner, data, o->l3_end, inner_off);
	pkt->tunneled = true;
}
