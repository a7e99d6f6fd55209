/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * The key of a packet beyond its outer headers: inner headers, tunnels, second tags, registers.
 *
 * assumed: a field of a header that a packet does not have is 0, so a rule for 0 matches. Other reading: only rules
 * match that also match the header before it. Test: dp/test_match.c.
 */
#include "dp_key.h"

#include "dp_csum.h"

#define SET(key) (1u << (key) / DP_SET_DWORDS)

uint32_t
dp_key_ok_bits(const uint8_t *d, const struct dp_layers *l)
{
	struct dp_csum_result v;

	dp_csum_verify(d, l, &v);
	return (uint32_t)((l->l3 != DP_L3_NONE && l->l3_len_ok) << 11 | (l->l4 != DP_L4_NONE) << 10 |
			  (l->l3 == DP_L3_IPV4 && v.l3_ok) << 9 | v.l4_ok << 8);
}

/* The header behind IP, of a protocol that the parser does not read further; NULL: absent or cut off. */
static const uint8_t *
behind_ip(const uint8_t *d, const struct dp_layers *l, unsigned proto, uint32_t bytes)
{
	if (l->l3 == DP_L3_NONE || l->frag || l->ip_proto != proto || l->l3_end - l->l4_off < bytes)
		return NULL;
	return d + l->l4_off;
}

/*
 * assumed: in a tunnel without an Ethernet header, addresses and ethertype are 0. Other reading: ethertype is the
 * tunnel's protocol. Test: dp/test_match.c.
 */
static void
key_inner(uint32_t k[DP_SET_DWORDS], const struct dp_pkt *pkt, const struct dp_table *t)
{
	const struct dp_layers *l = &pkt->inner;
	const uint8_t *d = pkt->data + l->l2_off;

	memset(k, 0, DP_SET_DWORDS * sizeof(k[0]));
	if (!pkt->tunneled)
		return;
	if (l->l2_off != l->l3_off) {
		k[0] = dp_rd32(d + 6);
		k[1] = (uint32_t)dp_rd16(d + 10) << 16 | l->ethertype;
		k[2] = dp_rd32(d);
		k[3] = (uint32_t)dp_rd16(d + 4) << 16 | l->tci;
	}
	dp_key_beyond_l2(k, pkt->data, l, (t->mask[DP_KEY_INNER + 6] & DP_KEY6_OK_BITS) != 0);
}

/* The second VLAN tag: TCI in 16 bits, and which kind it is. */
static uint32_t
second_tci(const uint8_t *d, const struct dp_layers *l)
{
	return l->tags == 2 ? dp_rd16(d + l->l2_off + DP_ETH_BYTES + DP_VLAN_BYTES) : 0;
}

/* Bits of outer_second_cvlan_tag and outer_second_svlan_tag; those of inner headers are one lower. */
static uint32_t
second_kind(const uint8_t *d, const struct dp_layers *l)
{
	if (l->tags != 2)
		return 0;
	return 1u << (dp_rd16(d + l->l2_off + DP_ETH_BYTES + DP_VLAN_BYTES - 2) == DP_ETHERTYPE_CVLAN ? 31 : 29);
}

/* At least 4 bytes. RFC 2784, RFC 2890. What the parser does not take for GRE has no fields: versions, routing. */
static void
key_gre(uint32_t k[DP_SET_DWORDS], const uint8_t *h, uint32_t left)
{
	uint32_t key_at = 4 + (h[0] & 0x80 ? 4 : 0);

	if (dp_gre_bytes(h, left) == 0)
		return;
	k[0] |= (uint32_t)(h[0] & 0x80) << 24 | (uint32_t)(h[0] & 0x30) << 24;
	k[3] |= dp_rd16(h + 2);
	if ((h[0] & 0x20) != 0 && left >= key_at + 4)
		k[4] = dp_rd32(h + key_at);
}

/* RFC 7348, RFC 8926. */
static void
key_udp_tunnel(uint32_t k[DP_SET_DWORDS], const uint8_t *udp, uint32_t left)
{
	uint16_t port = dp_rd16(udp + 2);
	const uint8_t *h = udp + 8;

	if (left < 16)
		return;
	if (port == DP_VXLAN_PORT && (h[0] & 0x08) != 0) {
		k[5] = dp_rd32(h + 4) & 0xffffff00;
	} else if (port == DP_GENEVE_PORT && h[0] >> 6 == 0) {
		k[6] = (dp_rd32(h + 4) & 0xffffff00) | (uint32_t)(h[1] >> 7);
		k[9] = (uint32_t)(h[0] & 0x3f) << 16 | dp_rd16(h + 2);
	}
}

/* 0: there is no ESP header (RFC 4303). */
static uint32_t
esp_spi(const uint8_t *d, const struct dp_layers *l)
{
	const uint8_t *h = behind_ip(d, l, DP_PROTO_ESP, 8);

	return h != NULL ? dp_rd32(h) : 0;
}

static uint32_t
flow_label(const uint8_t *d, const struct dp_layers *l)
{
	return l->l3 == DP_L3_IPV6 ? dp_rd32(d + l->l3_off) & 0xfffff : 0;
}

/*
 * assumed: SPIs of ESP in UDP (port 4500) are not found. Other reading: newer parsers know them. Test: dp/test_match.c.
 */
static void
key_misc(uint32_t k[DP_SET_DWORDS], const struct dp_pkt *pkt)
{
	const struct dp_layers *o = &pkt->outer, *in = &pkt->inner;
	const uint8_t *d = pkt->data;

	memset(k, 0, DP_SET_DWORDS * sizeof(k[0]));
	if (pkt->meta != NULL) {
		k[0] = pkt->meta->source_sqn;
		k[1] = pkt->meta->source_port;
	}
	k[2] = second_tci(d, o) << 16;
	k[3] = second_kind(d, o);
	k[7] = flow_label(d, o);
	k[12] = esp_spi(d, o);
	if (pkt->tunneled) {
		k[2] |= second_tci(d, in);
		k[3] |= second_kind(d, in) >> 1;
		k[8] = flow_label(d, in);
		k[11] = esp_spi(d, in);
	}
	if (behind_ip(d, o, DP_PROTO_GRE, 4) != NULL)
		key_gre(k, d + o->l4_off, o->l3_end - o->l4_off);
	else if (o->l4 == DP_L4_UDP)
		key_udp_tunnel(k, d + o->l4_off, o->l3_end - o->l4_off);
}

static bool
is_mpls(uint16_t ethertype)
{
	return ethertype == DP_ETHERTYPE_MPLS || ethertype == DP_ETHERTYPE_MPLS_UPSTREAM;
}

/* The first header (RFC 3032) behind Ethernet; 0: none. end: of the packet. */
static uint32_t
mpls_of(const uint8_t *d, const struct dp_layers *l, uint32_t end)
{
	return is_mpls(l->ethertype) && l->l3_off + 4u <= end ? dp_rd32(d + l->l3_off) : 0;
}

/*
 * RFC 4023, RFC 7510.
 * assumed: what is behind MPLS is not parsed. Other reading: parsers find IP behind the last label. Test:
 * dp/test_match.c.
 */
static void
key_mpls(uint32_t k[DP_SET_DWORDS], const struct dp_pkt *pkt)
{
	const struct dp_layers *o = &pkt->outer;
	const uint8_t *h = behind_ip(pkt->data, o, DP_PROTO_GRE, 8);
	uint32_t bytes = h != NULL ? dp_gre_bytes(h, o->l3_end - o->l4_off) : 0;

	k[0] = mpls_of(pkt->data, o, pkt->len);
	if (pkt->tunneled)
		k[1] = mpls_of(pkt->data, &pkt->inner, o->l3_end);
	if (bytes != 0 && is_mpls(dp_rd16(h + 2)) && o->l4_off + bytes + 4 <= o->l3_end)
		k[2] = dp_rd32(h + bytes);
	if (o->l4 == DP_L4_UDP && dp_rd16(pkt->data + o->l4_off + 2) == DP_MPLS_PORT && o->l4_off + 12u <= o->l3_end)
		k[3] = dp_rd32(pkt->data + o->l4_off + 8);
}

static void
key_misc2(uint32_t k[DP_SET_DWORDS], const struct dp_pkt *pkt)
{
	memset(k, 0, DP_SET_DWORDS * sizeof(k[0]));
	key_mpls(k, pkt);
	if (pkt->meta == NULL)
		return;
	for (unsigned i = 0; i < 8; i++)
		k[11 - i] = pkt->meta->reg_c[i];
	k[12] = pkt->meta->reg_a;
}

/*
 * assumed: the ICMP header is that of the outer IP header, and if there is none, that of the inner one. Other reading:
 * only one of them has the parser. Test: dp/test_match.c.
 */
static void
key_icmp(uint32_t k[DP_SET_DWORDS], const struct dp_pkt *pkt)
{
	for (unsigned v6 = 0; v6 < 2; v6++) {
		unsigned proto = v6 ? DP_PROTO_ICMPV6 : DP_PROTO_ICMP;
		const uint8_t *h = behind_ip(pkt->data, &pkt->outer, proto, 8);

		if (h == NULL && pkt->tunneled)
			h = behind_ip(pkt->data, &pkt->inner, proto, 8);
		if (h == NULL)
			continue;
		k[6 + v6] = dp_rd32(h + 4);
		k[8] |= (uint32_t)dp_rd16(h) << (v6 ? 0 : 16);
	}
}

/*
 * draft-ietf-nvo3-vxlan-gpe; GTP-U of version 1, 3GPP TS 29.281.
 * assumed: inner headers in VXLAN-GPE and GTP-U are not found. Other reading: they are, as in VXLAN. Test:
 * dp/test_match.c.
 */
static void
key_udp_flex(uint32_t k[DP_SET_DWORDS], const struct dp_pkt *pkt)
{
	const struct dp_layers *o = &pkt->outer;
	const uint8_t *h = pkt->data + o->l4_off + 8;
	uint16_t port;

	if (o->l4 != DP_L4_UDP || o->l4_off + 16u > o->l3_end)
		return;
	port = dp_rd16(pkt->data + o->l4_off + 2);
	if (port == DP_VXLAN_GPE_PORT) {
		k[4] = dp_rd32(h + 4) >> 8;
		k[5] = (uint32_t)h[3] << 24 | (uint32_t)h[0] << 16;
	} else if (port == DP_GTPU_PORT && h[0] >> 5 == 1) {
		k[10] = dp_rd32(h + 4);
		k[11] = (uint32_t)h[1] << 24 | (uint32_t)h[0] << 16;
	}
}

static void
key_misc3(uint32_t k[DP_SET_DWORDS], const struct dp_pkt *pkt)
{
	const struct dp_layers *o = &pkt->outer, *in = &pkt->inner;
	const uint8_t *d = pkt->data;

	memset(k, 0, DP_SET_DWORDS * sizeof(k[0]));
	if (pkt->tunneled && in->l4 == DP_L4_TCP) {
		k[0] = dp_rd32(d + in->l4_off + 4);
		k[2] = dp_rd32(d + in->l4_off + 8);
	}
	if (o->l4 == DP_L4_TCP) {
		k[1] = dp_rd32(d + o->l4_off + 4);
		k[3] = dp_rd32(d + o->l4_off + 8);
	}
	key_icmp(k, pkt);
	key_udp_flex(k, pkt);
}

void
dp_key_rest(uint32_t k[DP_KEY_DWORDS], const struct dp_pkt *pkt, const struct dp_table *t)
{
	if ((t->sets & SET(DP_KEY_INNER)) != 0)
		key_inner(k + DP_KEY_INNER, pkt, t);
	if ((t->sets & SET(DP_KEY_MISC)) != 0)
		key_misc(k + DP_KEY_MISC, pkt);
	if ((t->sets & SET(DP_KEY_MISC2)) != 0)
		key_misc2(k + DP_KEY_MISC2, pkt);
	if ((t->sets & SET(DP_KEY_MISC3)) != 0)
		key_misc3(k + DP_KEY_MISC3, pkt);
}
