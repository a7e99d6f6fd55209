/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Reads the headers of a frame once; everything later works with the offsets found here. */
#ifndef EMU_DP_PARSE_H
#define EMU_DP_PARSE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define DP_ETH_BYTES 14u
#define DP_VLAN_BYTES 4u
#define DP_ETHERTYPE_IPV4 0x0800u
#define DP_ETHERTYPE_IPV6 0x86ddu
#define DP_ETHERTYPE_CVLAN 0x8100u
#define DP_ETHERTYPE_SVLAN 0x88a8u
#define DP_ETHERTYPE_MPLS 0x8847u
#define DP_ETHERTYPE_MPLS_UPSTREAM 0x8848u
#define DP_PROTO_ICMP 1u
#define DP_PROTO_TCP 6u
#define DP_PROTO_UDP 17u
#define DP_PROTO_IPIP 4u
#define DP_PROTO_IPV6 41u
#define DP_PROTO_GRE 47u
#define DP_PROTO_ESP 50u
#define DP_PROTO_ICMPV6 58u
#define DP_VXLAN_PORT 4789u /* IANA; a card's default */
#define DP_GENEVE_PORT 6081u
#define DP_VXLAN_GPE_PORT 4790u
#define DP_MPLS_PORT 6635u
#define DP_GTPU_PORT 2152u

/** Tunnels that a parser knows. */
enum { DP_TUNNEL_VXLAN = 1, DP_TUNNEL_GRE = 2, DP_TUNNEL_GENEVE = 4, DP_TUNNEL_IPIP = 8, DP_TUNNELS = 15 };

/* Values are the device's own l3_hdr_type. */
enum dp_l3 { DP_L3_NONE = 0, DP_L3_IPV6 = 1, DP_L3_IPV4 = 2 };
enum dp_l4 { DP_L4_NONE, DP_L4_TCP, DP_L4_UDP };

/**
 * One stack of headers: Ethernet (outer or inside a tunnel) up to layer 4. All offsets count
 * from the frame's first byte, and every header found is completely inside the frame.
 */
struct dp_layers {
	enum dp_l3 l3;
	enum dp_l4 l4;	    /**< NONE for fragments and when the header is cut off. */
	uint16_t l2_off;    /**< Ethernet header; the IP header in a tunnel without one. */
	uint16_t l3_off;
	uint16_t l4_off;    /**< End of the IP header and its options; valid when l3 is. */
	uint16_t ethertype; /**< Behind the tags; host order. */
	uint8_t ip_proto;   /**< Last one read, behind extension headers. */
	uint8_t tags;	    /**< VLAN tags before l3: 0..2. */
	uint16_t tpid, tci; /**< Of the first tag; host order. */
	bool frag;	    /**< A fragment (offset or more-fragments). */
	bool ip_ext;	    /**< IPv4 options or IPv6 extension headers. */
	bool l3_len_ok;	    /**< The IP length fits the frame and covers its own headers. */
	uint32_t l3_end;    /**< End of the IP packet: padding begins; <= frame length. */
};

/** What steering knows of a packet besides its bytes. */
struct dp_meta {
	uint32_t reg_c[8], reg_a, reg_b; /**< Metadata registers; A is that of the WQE, B that of the CQE. */
	uint32_t source_sqn;	  /**< Of a sent packet. */
	uint32_t source_port;	  /**< In switchdev mode. */
};

struct dp_pkt {
	const uint8_t *data;
	uint32_t len;
	bool tunneled; /**< inner is valid. */
	const struct dp_meta *meta; /**< NULL: all 0. */
	struct dp_layers outer, inner;
};

static inline uint16_t
dp_rd16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static inline uint32_t
dp_rd32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return __builtin_bswap32(v);
}

static inline void
dp_wr16(uint8_t *p, uint16_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

static inline void
dp_wr32(uint8_t *p, uint32_t v)
{
	v = __builtin_bswap32(v);
	memcpy(p, &v, sizeof(v));
}

/** Sets the length in an IP header, for a frame that ends with the packet. */
static inline void
dp_ip_set_len(uint8_t *frame, const struct dp_layers *l, uint32_t len)
{
	if (l->l3 == DP_L3_IPV4)
		dp_wr16(frame + l->l3_off + 2, (uint16_t)(len - l->l3_off));
	else
		dp_wr16(frame + l->l3_off + 4, (uint16_t)(len - l->l3_off - 40));
}

/**
 * Parses Ethernet, up to two VLAN tags (0x8100, 0x88a8), IPv4 with options, IPv6 with extension
 * headers, TCP and UDP, and once more inside one tunnel. Never reads beyond len. A header that is cut off ends the
 * parse at the layer below.
 * @param tunnels DP_TUNNEL_*: VXLAN (UDP destination port 4789), GENEVE (6081), GRE, IP in IP.
 */
void dp_parse(struct dp_pkt *pkt, const uint8_t *data, uint32_t len, unsigned tunnels);

/**
 * Bytes of a GRE header, with its optional checksum, key and sequence number (RFC 2784, RFC 2890), which may be more
 * than are left; 0: none that is parsed.
 */
uint32_t dp_gre_bytes(const uint8_t *h, uint32_t left);

/** Offsets of headers that software states (Ethernet segment, swp_*), in units of 2 bytes; 0: no such header. */
struct dp_swp {
	uint8_t outer_l4, outer_l3, inner_l4, inner_l3;
	uint8_t flags; /**< swp_flags. */
};
/** As dp_parse(), but trusts swp. What is not there, or does not fit the frame, is absent. */
void dp_parse_swp(struct dp_pkt *pkt, const uint8_t *data, uint32_t len, const struct dp_swp *swp);

#endif /* EMU_DP_PARSE_H */
