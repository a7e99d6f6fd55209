/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Fills the tables from CQE header bits to packet type and checksum flags when the driver is loaded. */

#include <rte_mbuf.h>
#include <rte_mbuf_ptype.h>

#include <prm_base.h>
#include <prm_enums.h>
#include <prm_wqe.h>

#include "mlxpmd.h"
#include "mlxpmd_ptype.h"

/* Byte 0 of the CQE: the header types are those of the inner headers; the outer header is IPv6. */
#define TUNNELED PRM_CQE64_TLS_OUTER_L3_TUNNELED_TUNNELED_MASK
#define OUTER_IPV6 PRM_CQE64_TLS_OUTER_L3_TUNNELED_OUTER_L3_MASK
/* l4_hdr_type_etc: the packet is an IP fragment; a C-VLAN tag was stripped. */
#define IP_FRAG PRM_CQE64_L4_HDR_TYPE_ETC_IP_FRAG_MASK
#define STRIPPED PRM_CQE64_L4_HDR_TYPE_ETC_CV_MASK

uint64_t mlxpmd_ptype_table[MLXPMD_PTYPE_ENTRIES] __rte_cache_aligned;

/* Packet types of a header stack: the outermost one, and the one inside a tunnel. */
struct stack {
	uint32_t ipv4, ipv6, frag, tcp, udp, nonfrag;
};
static const struct stack outermost = {
	RTE_PTYPE_L3_IPV4_EXT_UNKNOWN, RTE_PTYPE_L3_IPV6_EXT_UNKNOWN, RTE_PTYPE_L4_FRAG,
	RTE_PTYPE_L4_TCP, RTE_PTYPE_L4_UDP, RTE_PTYPE_L4_NONFRAG,
};
static const struct stack inner = {
	RTE_PTYPE_INNER_L3_IPV4_EXT_UNKNOWN, RTE_PTYPE_INNER_L3_IPV6_EXT_UNKNOWN,
	RTE_PTYPE_INNER_L4_FRAG, RTE_PTYPE_INNER_L4_TCP, RTE_PTYPE_INNER_L4_UDP,
	RTE_PTYPE_INNER_L4_NONFRAG,
};

static uint32_t
l4_ptype(const struct stack *s, uint8_t l4, bool frag)
{
	if (frag)
		return s->frag;
	switch (l4) {
	case PRM_CQE_L4_HDR_TYPE_TCP:
	case PRM_CQE_L4_HDR_TYPE_TCP_EMPTY_ACK:
	case PRM_CQE_L4_HDR_TYPE_TCP_ACK:
		return s->tcp;
	case PRM_CQE_L4_HDR_TYPE_UDP:
		return s->udp;
	case PRM_CQE_L4_HDR_TYPE_NONE:
		return s->nonfrag;
	default:
		return 0; /* Reserved. */
	}
}

static uint32_t
ptype(uint8_t etc, uint8_t tunnel)
{
	const struct stack *s = (tunnel & TUNNELED) ? &inner : &outermost;
	uint8_t l3 = PRM_BITS(etc, CQE64_L4_HDR_TYPE_ETC_L3_HDR_TYPE);
	uint8_t l4 = PRM_BITS(etc, CQE64_L4_HDR_TYPE_ETC_L4_HDR_TYPE);
	uint32_t type = RTE_PTYPE_L2_ETHER;

	if (tunnel & TUNNELED)
		type |= (tunnel & OUTER_IPV6) ? outermost.ipv6 : outermost.ipv4;
	if (l3 == MLX5_CQE_L3_HDR_TYPE_IPV4)
		type |= s->ipv4;
	else if (l3 == MLX5_CQE_L3_HDR_TYPE_IPV6)
		type |= s->ipv6;
	else
		return type; /* The device parses no L4 header without IP. */
	return type | l4_ptype(s, l4, etc & IP_FRAG);
}

/*
 * GOOD if the device reports that it verified the checksum. BAD only if a clear bit has no other possible reason: an
 * IPv4 header outside a tunnel; an unfragmented TCP packet with a valid IP header. UDP may have no checksum (RFC 768,
 * RFC 6936), which in the CQE looks like a wrong one.
 */
static uint32_t
csum_flags(uint8_t etc, bool l3_ok, bool l4_ok, uint8_t tunnel)
{
	uint8_t l3 = PRM_BITS(etc, CQE64_L4_HDR_TYPE_ETC_L3_HDR_TYPE);
	uint8_t l4 = PRM_BITS(etc, CQE64_L4_HDR_TYPE_ETC_L4_HDR_TYPE);
	bool plain = !(tunnel & TUNNELED);
	uint32_t flags = 0;

	if (l3_ok)
		flags |= RTE_MBUF_F_RX_IP_CKSUM_GOOD;
	else if (plain && l3 == MLX5_CQE_L3_HDR_TYPE_IPV4)
		flags |= RTE_MBUF_F_RX_IP_CKSUM_BAD;
	if (l4_ok)
		flags |= RTE_MBUF_F_RX_L4_CKSUM_GOOD;
	else if (plain && l3_ok && !(etc & IP_FRAG) && l4_ptype(&outermost, l4, false) == RTE_PTYPE_L4_TCP)
		flags |= RTE_MBUF_F_RX_L4_CKSUM_BAD;
	return flags;
}

struct mlxpmd_class mlxpmd_class_table[MLXPMD_CLASSES] __rte_cache_aligned;

static void
classes_fill(void)
{
	uint64_t class;
	uint32_t i;

	for (i = 0; i < MLXPMD_CLASSES; i++) {
		/* The index takes no more bits of either than it has. */
		uint16_t hds_etc = i << 9 | (i >> 2 & 0xff);

		class = mlxpmd_ptype_table[mlxpmd_ptype_index(i >> 10, hds_etc)];
		mlxpmd_class_table[i].packet_type = (uint32_t)class;
		mlxpmd_class_table[i].ol_flags = class >> 32;
		if (i >> 12)
			mlxpmd_class_table[i].ol_flags |= RTE_MBUF_F_RX_RSS_HASH;
	}
}

RTE_INIT(mlxpmd_ptype_init)
{
	uint32_t flags, i;
	uint8_t etc, tunnel;

	for (i = 0; i < MLXPMD_PTYPE_ENTRIES; i++) {
		etc = i & 0xff;
		tunnel = i >> 11;
		flags = csum_flags(etc, i & MLX5_CQE_L3_OK << 8, i & MLX5_CQE_L4_OK << 8, tunnel);
		if (etc & STRIPPED)
			flags |= RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED;
		mlxpmd_ptype_table[i] = (uint64_t)flags << 32 | ptype(etc, tunnel);
	}
	classes_fill();
}

const uint32_t *
mlxpmd_ptypes_get(struct rte_eth_dev *eth_dev __rte_unused, size_t *count)
{
	static const uint32_t ptypes[] = {
		RTE_PTYPE_L2_ETHER,
		RTE_PTYPE_L3_IPV4_EXT_UNKNOWN,
		RTE_PTYPE_L3_IPV6_EXT_UNKNOWN,
		RTE_PTYPE_L4_NONFRAG,
		RTE_PTYPE_L4_FRAG,
		RTE_PTYPE_L4_TCP,
		RTE_PTYPE_L4_UDP,
		RTE_PTYPE_INNER_L3_IPV4_EXT_UNKNOWN,
		RTE_PTYPE_INNER_L3_IPV6_EXT_UNKNOWN,
		RTE_PTYPE_INNER_L4_NONFRAG,
		RTE_PTYPE_INNER_L4_FRAG,
		RTE_PTYPE_INNER_L4_TCP,
		RTE_PTYPE_INNER_L4_UDP,
		RTE_PTYPE_UNKNOWN
	};

	/* Before 24.03 the last entry ends the list. */
	*count = RTE_DIM(ptypes) - 1;
	return ptypes;
}
