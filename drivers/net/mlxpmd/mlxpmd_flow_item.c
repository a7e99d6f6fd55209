/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * rte_flow patterns: items become match parameters (PRM, fte_match_param).
 *
 * An item begins with the header as it is on the wire, and most fields of match parameters are a part of a header, in
 * the same byte order: they are copied by a table. Positions are bytes from the begin of a set of headers.
 */

#include <stdlib.h>

#include "mlxpmd_flow_item.h"
#include "mlxpmd_flow_modify.h"

/** What kind of header an item is. L_REGISTER: none, and anywhere. */
enum layer { L_NONE, L_ETH, L_VLAN, L_IP, L_L4, L_TUNNEL, L_TUNNEL_KEY, L_MPLS, L_REGISTER };

/** A part of a header that is matched. */
struct part {
	uint8_t from, bytes;	/**< In the item. */
	uint8_t set;		/**< SET_OUTER: of the outer or the inner headers, as the item is. */
	uint8_t to;		/**< In the set. */
	uint8_t inner_to;	/**< The same inside a tunnel, if the set is not SET_OUTER. */
	uint8_t bits;		/**< Of each byte that are matched; 0: all. */
};

/** Value of a byte that the presence of an item demands. */
struct implied {
	uint8_t set, at, mask, value;
};

struct item {
	enum rte_flow_item_type type;
	enum layer layer;
	uint8_t bytes;		/**< Of the item, without bit fields behind the header. */
	uint16_t flex;		/**< enum mdv_flex_parser: needed to match its fields; 0: none. */
	const void *mask;	/**< If the application gives none. */
	struct implied implied[3];
	struct part parts[9];
	/**
	 * For what is no copy; handled[] has the bits of the mask that it deals with, as part does. NULL: nothing. Of a
	 * register inner is: of sent packets.
	 */
	int (*extra)(struct rte_flow_error *error, const struct rte_flow_item *item, const uint8_t *spec,
		     const uint8_t *mask, uint8_t *handled, struct mdv_match *m, bool inner);
	uint8_t extra_bytes;	/**< Of the item, with what is behind the header. */
};

/** Not matched inside a tunnel. */
#define OUTER_ONLY UINT8_MAX
#define HDR(from_, bytes_, to_) { .from = (from_), .bytes = (bytes_), .set = SET_OUTER, .to = (to_) }
#define IN_SET(from_, bytes_, set_, to_) { .from = (from_), .bytes = (bytes_), .set = (set_), .to = (to_), \
					   .inner_to = OUTER_ONLY }
#define IN_SETS(from_, bytes_, set_, to_, inner_) \
	{ .from = (from_), .bytes = (bytes_), .set = (set_), .to = (to_), .inner_to = (inner_) }

/* ------------------------------------------------------------------ writing match parameters */

static void
byte_match(struct mdv_match *m, unsigned int set, unsigned int at, uint8_t mask, uint8_t value)
{
	uint8_t *to = (uint8_t *)&m->mask + set * SET_BYTES + at;

	*to |= mask;
	to = (uint8_t *)&m->value + set * SET_BYTES + at;
	*to = (uint8_t)((*to & ~mask) | (value & mask));
}

static uint8_t
byte_mask(const struct mdv_match *m, unsigned int set, unsigned int at)
{
	return ((const uint8_t *)&m->mask)[set * SET_BYTES + at];
}

static uint8_t
byte_value(const struct mdv_match *m, unsigned int set, unsigned int at)
{
	return ((const uint8_t *)&m->value)[set * SET_BYTES + at];
}

static unsigned int
set_of(const struct part *p, bool inner)
{
	return p->set == SET_OUTER && inner ? SET_INNER : p->set;
}

/** What a pattern demands of a byte replaces what items before have of it. */
static void
copies_drop(struct mlxpmd_flow_copies *copies, unsigned int set, unsigned int at, uint8_t mask)
{
	for (unsigned int c = 0; copies != NULL && c < copies->n; c++)
		if (copies->copy[c].to == set * SET_BYTES + at)
			copies->copy[c].mask &= (uint8_t)~mask;
}

static void
implied_match(struct mdv_match *m, const struct implied *i, bool inner, struct mlxpmd_flow_copies *copies)
{
	unsigned int set = i->set == SET_OUTER && inner ? SET_INNER : i->set;

	if (i->mask == 0 || (byte_mask(m, set, i->at) & i->mask) == i->mask)
		return;
	byte_match(m, set, i->at, i->mask, i->value);
	copies_drop(copies, set, i->at, i->mask);
}

/** Copies what the mask of the item has of a part, and marks it as handled. */
static void
part_match(struct mdv_match *m, const struct part *p, const uint8_t *spec, const uint8_t *mask, uint8_t *handled,
	   bool inner)
{
	const unsigned int set = set_of(p, inner);
	const uint8_t bits = p->bits != 0 ? p->bits : UINT8_MAX;
	const unsigned int to = p->set != SET_OUTER && inner ? p->inner_to : p->to;

	if (to == OUTER_ONLY)
		return;
	for (unsigned int i = 0; i < p->bytes; i++) {
		handled[p->from + i] |= bits;
		if (mask[p->from + i] & bits)
			byte_match(m, set, to + i, mask[p->from + i] & bits, spec[p->from + i]);
	}
}

/** Notes what part_match() copies. */
static int
part_record(struct mlxpmd_flow_copies *copies, uint16_t item, const struct part *p, const uint8_t *mask, bool inner)
{
	const uint8_t bits = p->bits != 0 ? p->bits : UINT8_MAX;
	const unsigned int to = p->set != SET_OUTER && inner ? p->inner_to : p->to;
	struct mlxpmd_flow_copy *grown;

	for (unsigned int i = 0; to != OUTER_ONLY && i < p->bytes; i++) {
		if ((mask[p->from + i] & bits) == 0)
			continue;
		if (copies->n == copies->room) {
			grown = realloc(copies->copy, (copies->room + 64) * sizeof(*grown));
			if (grown == NULL)
				return -ENOMEM;
			copies->copy = grown;
			copies->room += 64;
		}
		copies->copy[copies->n++] = (struct mlxpmd_flow_copy){
			.item = item, .from = p->from + i, .mask = mask[p->from + i] & bits,
			.to = (uint16_t)(set_of(p, inner) * SET_BYTES + to + i),
		};
	}
	return 0;
}

/* ------------------------------------------------------------------ what is no copy */

static uint16_t
be16_at(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

/** The item behind an item. */
static const struct rte_flow_item *
item_next(const struct rte_flow_item *item)
{
	do
		item++;
	while (item->type == RTE_FLOW_ITEM_TYPE_VOID);
	return item;
}

/**
 * The type of an Ethernet header is where the TPID of a tagged packet is, while the device has the type behind the
 * tags: only untagged packets match, unless has_vlan is matched.
 */
static int
untagged_match(struct rte_flow_error *error, const struct rte_flow_item *item, uint16_t type, uint16_t mask,
	       struct mdv_match *m, bool inner)
{
	const unsigned int set = inner ? SET_INNER : SET_OUTER;

	if (mask == 0 || byte_mask(m, set, AT_TAGS_VERSION) & (TAGS_CVLAN | TAGS_SVLAN))
		return 0;
	if (((RTE_ETHER_TYPE_VLAN ^ type) & mask) == 0 || ((RTE_ETHER_TYPE_QINQ ^ type) & mask) == 0)
		return mlxpmd_flow_refuse(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM_MASK, item,
					  "a mask under which types and TPIDs match needs has_vlan");
	byte_match(m, set, AT_TAGS_VERSION, TAGS_CVLAN | TAGS_SVLAN, 0);
	return 0;
}

/** A TPID in place of an EtherType is that of the tag; the EtherType is that behind the tags. */
static int
ethertype_match(struct rte_flow_error *error, const struct rte_flow_item *item, uint16_t type, uint16_t mask,
		struct mdv_match *m, bool inner)
{
	const unsigned int set = inner ? SET_INNER : SET_OUTER;
	bool tagged = type == RTE_ETHER_TYPE_VLAN || type == RTE_ETHER_TYPE_QINQ;

	if (mask == 0)
		return 0;
	if (mask == UINT16_MAX && tagged) {
		byte_match(m, set, AT_TAGS_VERSION, TAGS_CVLAN | TAGS_SVLAN,
			   type == RTE_ETHER_TYPE_VLAN ? TAGS_CVLAN : TAGS_SVLAN);
		return 0;
	}
	if (item_next(item)->type == RTE_FLOW_ITEM_TYPE_VLAN)
		return mlxpmd_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_ITEM_SPEC, item,
					  "the type before a VLAN item is 0x8100 or 0x88a8, or has no mask");
	byte_match(m, set, AT_ETHERTYPE, mask >> 8, type >> 8);
	byte_match(m, set, AT_ETHERTYPE + 1, mask & UINT8_MAX, type & UINT8_MAX);
	return 0;
}

static int
eth_extra(struct rte_flow_error *error, const struct rte_flow_item *item, const uint8_t *spec, const uint8_t *mask,
	  uint8_t *handled, struct mdv_match *m, bool inner)
{
	const struct rte_flow_item_eth *s = (const void *)spec, *k = (const void *)mask;
	const unsigned int at = offsetof(struct rte_ether_hdr, ether_type);
	int rc;

	memset(handled + at, UINT8_MAX, sizeof(rte_be16_t));
	if (k->has_vlan)
		byte_match(m, inner ? SET_INNER : SET_OUTER, AT_TAGS_VERSION, TAGS_CVLAN, s->has_vlan ? TAGS_CVLAN : 0);
	rc = ethertype_match(error, item, be16_at(spec + at), be16_at(mask + at), m, inner);
	return rc != 0 ? rc : untagged_match(error, item, be16_at(spec + at), be16_at(mask + at), m, inner);
}

static int
vlan_extra(struct rte_flow_error *error, const struct rte_flow_item *item, const uint8_t *spec, const uint8_t *mask,
	   uint8_t *handled, struct mdv_match *m, bool inner)
{
	const struct rte_flow_item_vlan *s = (const void *)spec, *k = (const void *)mask;
	const unsigned int at = offsetof(struct rte_vlan_hdr, eth_proto);
	const uint8_t bit = inner ? INNER_SECOND_CVLAN : SECOND_CVLAN;

	memset(handled + at, UINT8_MAX, sizeof(rte_be16_t));
	if (k->has_more_vlan)
		byte_match(m, SET_MISC, AT_SECOND_TAGS, bit, s->has_more_vlan ? bit : 0);
	/* Before another VLAN item the TPID is that of the second tag. */
	if (item_next(item)->type == RTE_FLOW_ITEM_TYPE_VLAN && be16_at(mask + at) != 0) {
		if (be16_at(spec + at) != RTE_ETHER_TYPE_VLAN || be16_at(mask + at) != UINT16_MAX)
			return mlxpmd_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_ITEM_SPEC, item,
						  "the inner type before a VLAN item is 0x8100, or has no mask");
		return 0;
	}
	return ethertype_match(error, item, be16_at(spec + at), be16_at(mask + at), m, inner);
}

static int
ipv4_extra(struct rte_flow_error *error, const struct rte_flow_item *item, const uint8_t *spec, const uint8_t *mask,
	   uint8_t *handled, struct mdv_match *m, bool inner)
{
	const unsigned int set = inner ? SET_INNER : SET_OUTER, at = offsetof(struct rte_ipv4_hdr, fragment_offset);
	const uint16_t frag_bits = RTE_IPV4_HDR_MF_FLAG | RTE_IPV4_HDR_OFFSET_MASK, frag = be16_at(mask + at);
	const uint8_t *last = item->last;

	/* IHL in the lower half of the first byte, in the upper half in match parameters; the version is 4 anyway. */
	handled[0] = UINT8_MAX;
	if ((mask[0] & 0xf0) != 0 && (spec[0] & mask[0] & 0xf0) != (0x40 & mask[0]))
		return mlxpmd_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_ITEM_SPEC, item, "the version is 4");
	if (mask[0] & 0x0f)
		byte_match(m, set, AT_IHL, (uint8_t)(mask[0] << 4), (uint8_t)(spec[0] << 4));
	memset(handled + at, UINT8_MAX, sizeof(rte_be16_t));
	if (frag == 0)
		return 0;
	/* The device knows fragments and whole packets. */
	if ((frag & frag_bits) == frag_bits && be16_at(spec + at) == 0 && last == NULL) {
		byte_match(m, set, AT_TAGS_VERSION, TAGS_FRAG, 0);
		return 0;
	}
	if ((frag & frag_bits) == frag_bits && be16_at(spec + at) == 1 && last != NULL &&
	    (be16_at(last + at) & frag_bits) == frag_bits) {
		byte_match(m, set, AT_TAGS_VERSION, TAGS_FRAG, TAGS_FRAG);
		return 0;
	}
	return mlxpmd_flow_refuse(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM_MASK, item,
				  "fragment_offset: with mask 0x3fff 0 matches whole packets, 1 to 0x3fff fragments");
}

static int
ipv6_extra(struct rte_flow_error *error, const struct rte_flow_item *item, const uint8_t *spec, const uint8_t *mask,
	   uint8_t *handled, struct mdv_match *m, bool inner)
{
	const struct rte_flow_item_ipv6 *s = (const void *)spec, *k = (const void *)mask;
	const unsigned int set = inner ? SET_INNER : SET_OUTER, label = inner ? AT_INNER_FLOW_LABEL : AT_FLOW_LABEL;
	struct rte_flow_item_ipv6 others = *k;

	/* Version, traffic class, flow label: 4, 8 and 20 bits. */
	memset(handled, UINT8_MAX, sizeof(rte_be32_t));
	byte_match(m, set, AT_TOS, (uint8_t)(mask[0] << 4 | mask[1] >> 4), (uint8_t)(spec[0] << 4 | spec[1] >> 4));
	byte_match(m, SET_MISC, label + 1, mask[1] & 0x0f, spec[1]);
	byte_match(m, SET_MISC, label + 2, mask[2], spec[2]);
	byte_match(m, SET_MISC, label + 3, mask[3], spec[3]);
	if (k->has_frag_ext)
		byte_match(m, set, AT_TAGS_VERSION, TAGS_FRAG, s->has_frag_ext ? TAGS_FRAG : 0);
	others.has_frag_ext = 0;
	if (others.has_hop_ext || others.has_route_ext || others.has_auth_ext || others.has_esp_ext ||
	    others.has_dest_ext || others.has_mobil_ext || others.has_hip_ext || others.has_shim6_ext)
		return mlxpmd_flow_refuse(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM_MASK, item,
					  "of extension headers the fragment header is matched: has_frag_ext");
	return 0;
}

/* ------------------------------------------------------------------ the items */

#define IMPLY(at_, mask_, value_) { .set = SET_OUTER, .at = (at_), .mask = (mask_), .value = (value_) }
#define IMPLY_VERSION(version) IMPLY(AT_TAGS_VERSION, TAGS_VERSION, (version) << TAGS_VERSION_SHIFT)
#define IMPLY_PROTOCOL(protocol) IMPLY(AT_IP_PROTOCOL, UINT8_MAX, protocol)
#define UDP_PORT(port) \
	IMPLY_PROTOCOL(IPPROTO_UDP), IMPLY(AT_UDP_DPORT, UINT8_MAX, (port) >> 8), \
	IMPLY(AT_UDP_DPORT + 1, UINT8_MAX, (port) & 0xff)

#define PORT_VXLAN 4789
#define PORT_VXLAN_GPE 4790
#define PORT_GENEVE 6081
#define PORT_GTPU 2152
#define PORT_MPLS 6635
#define ETHERTYPE_MPLS 0x8847
#define PROTOCOL_TEB 0x6558 /* Transparent Ethernet bridging. */

/** Of GTP the device parses GTP-U only: without a type it is that one, as for net_mlx5. */
#define ITEM_GTPU(type_) \
	{ .type = (type_), .layer = L_TUNNEL, .flex = MDV_FLEX_GTPU, .bytes = sizeof(struct rte_flow_item_gtp), \
	  .mask = &rte_flow_item_gtp_mask, .implied = { UDP_PORT(PORT_GTPU) }, \
	  .parts = { IN_SET(4, 4, SET_MISC3, AT_GTPU_TEID), IN_SET(1, 1, SET_MISC3, AT_GTPU_MSG_TYPE), \
		     { .from = 0, .bytes = 1, .set = SET_MISC3, .to = AT_GTPU_FLAGS, .bits = 0x07 } } }

static const uint8_t no_mask[64];

static const struct item items_known[] = {
	{ .type = RTE_FLOW_ITEM_TYPE_ETH, .layer = L_ETH, .bytes = sizeof(struct rte_ether_hdr),
	  .mask = &rte_flow_item_eth_mask, .parts = { HDR(0, 6, AT_DMAC), HDR(6, 6, AT_SMAC) },
	  .extra = eth_extra, .extra_bytes = sizeof(struct rte_flow_item_eth) },
	{ .type = RTE_FLOW_ITEM_TYPE_VLAN, .layer = L_VLAN, .bytes = sizeof(struct rte_vlan_hdr),
	  .mask = &rte_flow_item_vlan_mask, .parts = { HDR(0, 2, AT_VLAN) },
	  .extra = vlan_extra, .extra_bytes = sizeof(struct rte_flow_item_vlan) },
	{ .type = RTE_FLOW_ITEM_TYPE_IPV4, .layer = L_IP, .bytes = sizeof(struct rte_ipv4_hdr),
	  .mask = &rte_flow_item_ipv4_mask, .implied = { IMPLY_VERSION(4) },
	  .parts = { HDR(1, 1, AT_TOS), HDR(8, 1, AT_TTL), HDR(9, 1, AT_IP_PROTOCOL), HDR(12, 4, AT_SRC_IPV4),
		     HDR(16, 4, AT_DST_IPV4) },
	  .extra = ipv4_extra,
	  .extra_bytes = sizeof(struct rte_flow_item_ipv4) },
	{ .type = RTE_FLOW_ITEM_TYPE_IPV6, .layer = L_IP, .bytes = sizeof(struct rte_ipv6_hdr),
	  .mask = &rte_flow_item_ipv6_mask, .implied = { IMPLY_VERSION(6) },
	  .parts = { HDR(6, 1, AT_IP_PROTOCOL), HDR(7, 1, AT_TTL), HDR(8, 16, AT_SRC_IPV6),
		     HDR(24, 16, AT_DST_IPV6) },
	  .extra = ipv6_extra, .extra_bytes = sizeof(struct rte_flow_item_ipv6) },
	{ .type = RTE_FLOW_ITEM_TYPE_IPV6_FRAG_EXT, .layer = L_IP, .bytes = sizeof(struct rte_ipv6_fragment_ext),
	  .mask = no_mask, .implied = { IMPLY(AT_TAGS_VERSION, TAGS_FRAG, TAGS_FRAG) },
	  .parts = { HDR(0, 1, AT_IP_PROTOCOL) } },
	{ .type = RTE_FLOW_ITEM_TYPE_UDP, .layer = L_L4, .bytes = sizeof(struct rte_udp_hdr),
	  .mask = &rte_flow_item_udp_mask, .implied = { IMPLY_PROTOCOL(IPPROTO_UDP) },
	  .parts = { HDR(0, 2, AT_UDP_SPORT), HDR(2, 2, AT_UDP_DPORT) } },
	{ .type = RTE_FLOW_ITEM_TYPE_TCP, .layer = L_L4, .bytes = sizeof(struct rte_tcp_hdr),
	  .mask = &rte_flow_item_tcp_mask, .implied = { IMPLY_PROTOCOL(IPPROTO_TCP) },
	  .parts = { HDR(0, 2, AT_TCP_SPORT), HDR(2, 2, AT_TCP_DPORT), HDR(13, 1, AT_TCP_FLAGS),
		     IN_SETS(4, 4, SET_MISC3, AT_TCP_SEQ, AT_INNER_TCP_SEQ),
		     IN_SETS(8, 4, SET_MISC3, AT_TCP_ACK, AT_INNER_TCP_ACK) } },
	{ .type = RTE_FLOW_ITEM_TYPE_SCTP, .layer = L_L4, .bytes = sizeof(struct rte_sctp_hdr),
	  .mask = no_mask, .implied = { IMPLY_PROTOCOL(IPPROTO_SCTP) } },
	{ .type = RTE_FLOW_ITEM_TYPE_ICMP, .layer = L_L4, .flex = MDV_FLEX_ICMP,
	  .bytes = sizeof(struct rte_icmp_hdr),
	  .mask = &rte_flow_item_icmp_mask, .implied = { IMPLY_PROTOCOL(IPPROTO_ICMP) },
	  .parts = { IN_SET(0, 2, SET_MISC3, AT_ICMP_TYPE), IN_SET(4, 4, SET_MISC3, AT_ICMP_DATA) } },
	{ .type = RTE_FLOW_ITEM_TYPE_ICMP6, .layer = L_L4, .flex = MDV_FLEX_ICMP6,
	  .bytes = sizeof(struct rte_flow_item_icmp6),
	  .mask = &rte_flow_item_icmp6_mask, .implied = { IMPLY_PROTOCOL(IPPROTO_ICMPV6) },
	  .parts = { IN_SET(0, 2, SET_MISC3, AT_ICMP6_TYPE) } },
	{ .type = RTE_FLOW_ITEM_TYPE_ESP, .layer = L_L4, .bytes = sizeof(struct rte_esp_hdr),
	  .mask = &rte_flow_item_esp_mask, .implied = { IMPLY_PROTOCOL(IPPROTO_ESP) },
	  .parts = { IN_SETS(0, 4, SET_MISC, AT_ESP_SPI, AT_INNER_ESP_SPI) } },
	{ .type = RTE_FLOW_ITEM_TYPE_AH, .layer = L_L4, .bytes = 12, /* RFC 4302, without the check value. */
	  .mask = no_mask, .implied = { IMPLY_PROTOCOL(IPPROTO_AH) } },
	{ .type = RTE_FLOW_ITEM_TYPE_GRE, .layer = L_TUNNEL, .bytes = sizeof(struct rte_flow_item_gre),
	  .mask = &rte_flow_item_gre_mask, .implied = { IMPLY_PROTOCOL(IPPROTO_GRE) },
	  .parts = { { .from = 0, .bytes = 1, .set = SET_MISC, .to = AT_GRE_PRESENT, .bits = 0xb0 },
		     IN_SET(2, 2, SET_MISC, AT_GRE_PROTOCOL) } },
	{ .type = RTE_FLOW_ITEM_TYPE_GRE_KEY, .layer = L_TUNNEL_KEY, .bytes = sizeof(rte_be32_t),
	  .mask = (const uint8_t[]){ 0xff, 0xff, 0xff, 0xff },
	  .implied = { { SET_MISC, AT_GRE_PRESENT, GRE_KEY_PRESENT, GRE_KEY_PRESENT } },
	  .parts = { { .from = 0, .bytes = 4, .set = SET_MISC, .to = AT_GRE_KEY, .inner_to = AT_GRE_KEY } } },
	{ .type = RTE_FLOW_ITEM_TYPE_NVGRE, .layer = L_TUNNEL, .bytes = sizeof(struct rte_flow_item_nvgre),
	  .mask = &rte_flow_item_nvgre_mask,
	  .implied = { IMPLY_PROTOCOL(IPPROTO_GRE), { SET_MISC, AT_GRE_PRESENT, 0xb0, GRE_KEY_PRESENT } },
	  .parts = { { .from = 0, .bytes = 1, .set = SET_MISC, .to = AT_GRE_PRESENT, .bits = 0xb0 },
		     IN_SET(2, 2, SET_MISC, AT_GRE_PROTOCOL), IN_SET(4, 4, SET_MISC, AT_GRE_KEY) } },
	{ .type = RTE_FLOW_ITEM_TYPE_VXLAN, .layer = L_TUNNEL, .bytes = sizeof(struct rte_flow_item_vxlan),
	  .mask = &rte_flow_item_vxlan_mask, .implied = { UDP_PORT(PORT_VXLAN) },
	  .parts = { IN_SET(4, 3, SET_MISC, AT_VXLAN_VNI) } },
	{ .type = RTE_FLOW_ITEM_TYPE_VXLAN_GPE, .layer = L_TUNNEL, .flex = MDV_FLEX_VXLAN_GPE,
	  .bytes = sizeof(struct rte_flow_item_vxlan_gpe),
	  .mask = &rte_flow_item_vxlan_gpe_mask, .implied = { UDP_PORT(PORT_VXLAN_GPE) },
	  .parts = { IN_SET(4, 3, SET_MISC3, AT_VXLAN_GPE_VNI), IN_SET(3, 1, SET_MISC3, AT_VXLAN_GPE_PROTOCOL),
		     IN_SET(0, 1, SET_MISC3, AT_VXLAN_GPE_FLAGS) } },
	{ .type = RTE_FLOW_ITEM_TYPE_GENEVE, .layer = L_TUNNEL, .flex = MDV_FLEX_GENEVE,
	  .bytes = sizeof(struct rte_flow_item_geneve),
	  .mask = &rte_flow_item_geneve_mask, .implied = { UDP_PORT(PORT_GENEVE) },
	  .parts = { { .from = 0, .bytes = 1, .set = SET_MISC, .to = AT_GENEVE_OPT_LEN, .bits = 0x3f },
		     IN_SET(2, 2, SET_MISC, AT_GENEVE_PROTOCOL), IN_SET(4, 3, SET_MISC, AT_GENEVE_VNI) } },
	ITEM_GTPU(RTE_FLOW_ITEM_TYPE_GTP),
	ITEM_GTPU(RTE_FLOW_ITEM_TYPE_GTPU),
	{ .type = RTE_FLOW_ITEM_TYPE_MARK, .layer = L_REGISTER, .bytes = sizeof(struct rte_flow_item_mark),
	  .mask = &rte_flow_item_mark_mask,
	  .implied = { { SET_MISC2, AT_REG_C_0, MLXPMD_MARKED >> 24, MLXPMD_MARKED >> 24 } },
	  .extra_bytes = sizeof(struct rte_flow_item_mark), .extra = mlxpmd_mod_mark },
	{ .type = RTE_FLOW_ITEM_TYPE_META, .layer = L_REGISTER, .bytes = sizeof(struct rte_flow_item_meta),
	  .mask = &rte_flow_item_meta_mask, .extra_bytes = sizeof(uint32_t), .extra = mlxpmd_mod_meta },
	{ .type = RTE_FLOW_ITEM_TYPE_TAG, .layer = L_REGISTER, .bytes = sizeof(struct rte_flow_item_tag),
	  .mask = &rte_flow_item_tag_mask, .extra_bytes = sizeof(struct rte_flow_item_tag), .extra = mlxpmd_mod_tag },
	{ .type = RTE_FLOW_ITEM_TYPE_MPLS, .layer = L_MPLS, .bytes = sizeof(struct rte_flow_item_mpls),
	  .mask = &rte_flow_item_mpls_mask },
};

/** MPLS by the header that it follows: what demands it there, where its label is, and the parser that finds it. */
static const struct mpls {
	uint16_t after, flex;	/**< Bits: 1 << enum layer, enum mdv_flex_parser. */
	struct implied implied[3];
	struct part part;
} mpls_known[] = {
	{ .after = 1 << L_ETH | 1 << L_VLAN,
	  .implied = { IMPLY(AT_ETHERTYPE, UINT8_MAX, ETHERTYPE_MPLS >> 8),
		       IMPLY(AT_ETHERTYPE + 1, UINT8_MAX, ETHERTYPE_MPLS & 0xff) },
	  .part = IN_SETS(0, 4, SET_MISC2, AT_MPLS, AT_INNER_MPLS) },
	{ .after = 1 << L_L4, .flex = MDV_FLEX_MPLS_UDP, .implied = { UDP_PORT(PORT_MPLS) },
	  .part = IN_SET(0, 4, SET_MISC2, AT_MPLS_IN_UDP) },
	{ .after = 1 << L_TUNNEL | 1 << L_TUNNEL_KEY, .flex = MDV_FLEX_MPLS_GRE,
	  .implied = { IMPLY_PROTOCOL(IPPROTO_GRE), { SET_MISC, AT_GRE_PROTOCOL, UINT8_MAX, ETHERTYPE_MPLS >> 8 },
		       { SET_MISC, AT_GRE_PROTOCOL + 1, UINT8_MAX, ETHERTYPE_MPLS & 0xff } },
	  .part = IN_SET(0, 4, SET_MISC2, AT_MPLS_IN_GRE) },
};

/* ------------------------------------------------------------------ compiling */

/** Where the compiler is in a pattern. */
struct place {
	struct mlxpmd_port *port;
	enum layer layer;	/**< Of the item before. */
	bool egress, inner, inner_eth;
	enum rte_flow_item_type tunnel;
	uint8_t vlans;
	uint8_t depth;
	bool relaxed;		/**< Items without a mask match nothing. */
	uint16_t item;		/**< Its position. */
	struct mlxpmd_flow_copies *copies; /**< NULL, or: there are no values yet. */
};

static const char *
item_name(const struct rte_flow_item *item)
{
	return mlxpmd_flow_name(RTE_FLOW_CONV_OP_ITEM_NAME_PTR, item->type);
}

static const struct item *
item_find(const struct rte_flow_item *item)
{
	for (unsigned int i = 0; i < RTE_DIM(items_known); i++)
		if (items_known[i].type == item->type)
			return &items_known[i];
	return NULL;
}

/** Checks that an item can follow the one before, and enters a tunnel. */
static int
place_enter(struct place *p, const struct item *known, const struct rte_flow_item *item, struct mdv_match *m,
	    struct rte_flow_error *error)
{
	/** Items that can follow an item, by layer. */
	static const uint8_t follows[] = {
		[L_NONE] = 1 << L_ETH | 1 << L_VLAN | 1 << L_IP | 1 << L_L4 | 1 << L_TUNNEL,
		[L_ETH] = 1 << L_VLAN | 1 << L_IP | 1 << L_MPLS,
		[L_VLAN] = 1 << L_VLAN | 1 << L_IP | 1 << L_MPLS,
		[L_IP] = 1 << L_IP | 1 << L_L4 | 1 << L_TUNNEL,
		[L_L4] = 1 << L_TUNNEL | 1 << L_MPLS,
		[L_TUNNEL] = 1 << L_TUNNEL_KEY | 1 << L_ETH | 1 << L_IP | 1 << L_MPLS,
		[L_TUNNEL_KEY] = 1 << L_ETH | 1 << L_IP | 1 << L_MPLS,
		[L_MPLS] = 0,
	};
	bool ip_in_ip = p->layer == L_IP && known->layer == L_IP && known->type != RTE_FLOW_ITEM_TYPE_IPV6_FRAG_EXT;

	if (!(follows[p->layer] >> known->layer & 1))
		return mlxpmd_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_ITEM, item,
					  "item %s cannot be here: items have the order of headers", item_name(item));
	if (p->inner && (known->layer == L_TUNNEL || ip_in_ip))
		return mlxpmd_flow_refuse(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM, item,
					  "item %s: one tunnel is matched, not a tunnel in a tunnel", item_name(item));
	if (known->layer == L_VLAN && ++p->vlans > 2)
		return mlxpmd_flow_refuse(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM, item,
					  "two VLAN items are matched, not more");
	if (ip_in_ip) {
		byte_match(m, SET_OUTER, AT_IP_PROTOCOL, UINT8_MAX,
			   known->type == RTE_FLOW_ITEM_TYPE_IPV4 ? IPPROTO_IPIP : IPPROTO_IPV6);
		copies_drop(p->copies, SET_OUTER, AT_IP_PROTOCOL, UINT8_MAX);
	}
	if (ip_in_ip || known->layer == L_TUNNEL)
		p->tunnel = known->type;
	if (ip_in_ip || ((p->layer == L_TUNNEL || p->layer == L_TUNNEL_KEY) && known->layer != L_TUNNEL_KEY &&
			 known->layer != L_MPLS)) {
		p->inner = true;
		p->vlans = 0;
	}
	/* These always have one. */
	p->inner_eth |= (p->inner && known->layer == L_ETH) || known->type == RTE_FLOW_ITEM_TYPE_VXLAN ||
			known->type == RTE_FLOW_ITEM_TYPE_NVGRE;
	p->layer = known->layer;
	if (known->layer >= L_L4 && p->layer != L_MPLS)
		p->depth = 0;
	else if (known->layer == L_IP)
		p->depth = RTE_MIN(p->depth, 1);
	return 0;
}

/** The tags that VLAN items demand, unless the type before has selected them. */
static int
vlan_tags(struct mdv_match *m, const struct place *p, const struct rte_flow_item *item, struct rte_flow_error *error)
{
	const unsigned int set = p->inner ? SET_INNER : SET_OUTER;
	const uint8_t tags = TAGS_CVLAN | TAGS_SVLAN;

	if (p->vlans == 2)
		byte_match(m, SET_MISC, AT_SECOND_TAGS, p->inner ? INNER_SECOND_CVLAN : SECOND_CVLAN, UINT8_MAX);
	else if (!(byte_mask(m, set, AT_TAGS_VERSION) & tags))
		byte_match(m, set, AT_TAGS_VERSION, TAGS_CVLAN, TAGS_CVLAN);
	else if (!(byte_value(m, set, AT_TAGS_VERSION) & tags))
		return mlxpmd_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_ITEM, item,
					  "a VLAN item behind has_vlan 0 matches no packet");
	return 0;
}

static int
range_check(const struct item *known, const struct rte_flow_item *item, const uint8_t *mask,
	    struct rte_flow_error *error)
{
	const uint8_t *spec = item->spec, *last = item->last;

	if (last != NULL && spec == NULL)
		return mlxpmd_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_ITEM_LAST, item,
					  "item %s has a range without a first value", item_name(item));
	for (unsigned int i = 0; last != NULL && i < known->bytes; i++) {
		if (((spec[i] ^ last[i]) & mask[i]) == 0)
			continue;
		/* ipv4_extra() knows the one range that the device has. */
		if (known->type == RTE_FLOW_ITEM_TYPE_IPV4 &&
		    i / 2 == offsetof(struct rte_ipv4_hdr, fragment_offset) / 2)
			continue;
		return mlxpmd_flow_refuse(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM_LAST, item,
					  "item %s: ranges are not matched, only values under masks", item_name(item));
	}
	return 0;
}

/** Whether the mask has bits that are no copies, in the header or behind it. */
static bool
extra_matches(const struct item *known, const uint8_t *mask, const uint8_t *handled)
{
	for (unsigned int i = 0; i < known->extra_bytes; i++)
		if (mask[i] & ~handled[i])
			return true;
	return false;
}

/** Matches a part of an item. */
static int
field_match(const struct part *part, const struct rte_flow_item *item, const uint8_t *mask, uint8_t *handled,
	    const struct place *p, struct mdv_match *m, struct rte_flow_error *error)
{
	part_match(m, part, item->spec, mask, handled, p->inner);
	if (p->copies == NULL || part_record(p->copies, p->item, part, mask, p->inner) == 0)
		return 0;
	(void)MLXPMD_FAIL(ENOMEM, "port %u: no memory for a template of flows", p->port->port_id);
	return mlxpmd_flow_refuse(error, ENOMEM, RTE_FLOW_ERROR_TYPE_ITEM, item, "no memory for a template");
}

/** Matches the fields of an item. */
static int
fields_match(const struct item *known, const struct rte_flow_item *item, const struct place *p, struct mdv_match *m,
	     struct rte_flow_error *error)
{
	const uint8_t *spec = item->spec, *mask = item->mask != NULL ? item->mask : known->mask;
	uint8_t handled[64] = { 0 };
	int rc = range_check(known, item, mask, error);

	if (rc != 0 || spec == NULL)
		return rc;
	if ((p->port->mdv->caps.flex_parsers & known->flex) != known->flex)
		return mlxpmd_flow_refuse(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM, item,
					  "item %s: the firmware does not parse this header: mlxconfig set "
					  "FLEX_PARSER_PROFILE_ENABLE", item_name(item));
	if (known->layer == L_VLAN && p->vlans == 2) {
		const struct part second = IN_SETS(0, 2, SET_MISC, AT_SECOND_VLAN, AT_INNER_SECOND_VLAN);

		rc = field_match(&second, item, mask, handled, p, m, error);
	} else {
		for (unsigned int i = 0; rc == 0 && i < RTE_DIM(known->parts) && known->parts[i].bytes != 0; i++)
			rc = field_match(&known->parts[i], item, mask, handled, p, m, error);
	}
	/* What is no copy is decided by values. */
	if (rc == 0 && known->extra != NULL && p->copies != NULL) {
		p->copies->by_value |= extra_matches(known, mask, handled);
		return 0;
	}
	if (rc == 0 && known->extra != NULL)
		rc = known->extra(error, item, spec, mask, handled, m,
				  known->layer == L_REGISTER ? p->egress : p->inner);
	for (unsigned int i = 0; rc == 0 && i < known->bytes; i++)
		if (mask[i] & ~handled[i])
			rc = mlxpmd_flow_refuse(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM_MASK, item,
						"item %s: byte %u of the header is not matched under mask 0x%02x",
						item_name(item), i, mask[i] & ~handled[i]);
	return rc;
}

/** The label of MPLS: its place depends on the header before it. */
static int
mpls_compile(const struct item *known, const struct rte_flow_item *item, enum layer after, const struct place *p,
	     struct mdv_match *m, struct rte_flow_error *error)
{
	const uint8_t *mask = item->mask != NULL ? item->mask : known->mask;
	const struct mpls *mpls = mpls_known;
	uint8_t handled[64] = { 0 };
	int rc;

	while (!(mpls->after >> after & 1))
		mpls++;
	if ((p->port->mdv->caps.flex_parsers & mpls->flex) != mpls->flex)
		return mlxpmd_flow_refuse(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM, item,
					  "item %s: the firmware does not parse this header there: mlxconfig set "
					  "FLEX_PARSER_PROFILE_ENABLE", item_name(item));
	rc = range_check(known, item, mask, error);
	if (rc != 0 || (p->relaxed && item->mask == NULL))
		return rc;
	for (unsigned int i = 0; i < RTE_DIM(mpls->implied); i++)
		implied_match(m, &mpls->implied[i], p->inner, p->copies);
	return item->spec != NULL ? field_match(&mpls->part, item, mask, handled, p, m, error) : 0;
}

static int
item_compile(const struct rte_flow_item *item, struct place *p, struct mdv_match *m, struct rte_flow_error *error)
{
	const struct item *known = item_find(item);
	const enum layer after = p->layer;
	int rc;

	if (item->type == RTE_FLOW_ITEM_TYPE_PORT_REPRESENTOR || item->type == RTE_FLOW_ITEM_TYPE_REPRESENTED_PORT)
		return mlxpmd_flow_refuse(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM, item,
					  "item %s: a flow is of the port that it is created on; the item port_id of this "
					  "port is accepted", item_name(item));
	if (item->type == RTE_FLOW_ITEM_TYPE_MARK && mlxpmd_flow_mark_check(p->port, item, p->egress, error) != 0)
		return -rte_errno;
	if (known == NULL)
		return mlxpmd_flow_refuse(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM, item,
					  "item %s is not matched; eth to tcp, udp, icmp, esp, tunnels, mpls, tag, meta, mark and tx_queue are",
					  item_name(item));
	rc = known->layer != L_REGISTER ? place_enter(p, known, item, m, error) : 0;
	if (rc == 0 && known->layer == L_MPLS)
		return mpls_compile(known, item, after, p, m, error);
	if (rc == 0)
		rc = fields_match(known, item, p, m, error);
	if (rc != 0)
		return rc;
	if (p->relaxed && item->mask == NULL)
		return 0;
	/* After the fields: a field that the application gives takes precedence. */
	for (unsigned int i = 0; i < RTE_DIM(known->implied); i++)
		implied_match(m, &known->implied[i], p->inner && known->layer != L_TUNNEL_KEY, p->copies);
	return known->layer == L_VLAN ? vlan_tags(m, p, item, error) : 0;
}

int
mlxpmd_flow_pattern_compile(struct mlxpmd_port *port, const struct rte_flow_item *items, bool egress,
			    bool relaxed, struct mlxpmd_flow_copies *copies, struct mlxpmd_flow_pattern *pattern,
			    struct rte_flow_error *error)
{
	struct place place = { .port = port, .depth = 2, .egress = egress, .relaxed = relaxed, .copies = copies };
	int rc = 0;

	memset(pattern, 0, sizeof(*pattern));
	pattern->tx_queue = MLXPMD_FLOW_ANY_TXQ;
	for (; rc == 0 && items->type != RTE_FLOW_ITEM_TYPE_END; items++, place.item++) {
		const bool port_id = items->type == RTE_FLOW_ITEM_TYPE_PORT_ID;
		const bool tx_queue = items->type == RTE_FLOW_ITEM_TYPE_TX_QUEUE;

		if (copies != NULL)
			copies->by_value |= port_id || tx_queue;
		if (port_id)
			rc = copies == NULL ? mlxpmd_flow_port_check(port, items, error) : 0;
		else if (tx_queue)
			rc = mlxpmd_flow_tx_queue_match(port, items, egress, &pattern->tx_queue, error);
		else if (items->type != RTE_FLOW_ITEM_TYPE_VOID)
			rc = item_compile(items, &place, &pattern->match, error);
	}
	pattern->depth = place.depth;
	pattern->tunnel = place.tunnel;
	pattern->inner_eth = place.inner_eth;
	return rc;
}
