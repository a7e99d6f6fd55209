/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * rte_flow actions that add to sent packets: VLAN tags, and headers of tunnels. The device sets the lengths in new IP
 * and UDP headers and the checksum of IP.
 */

#include <rte_flow.h>

#include "mlxpmd_flow_modify.h"

#define L2_BYTES RTE_ETHER_HDR_LEN
#define L2_TAGGED_BYTES (RTE_ETHER_HDR_LEN + RTE_VLAN_HLEN)
#define ENCAP_BYTES_MIN (L2_BYTES + sizeof(struct rte_ipv4_hdr))

/* ------------------------------------------------------------------ tags */

/**
 * A new tag is as the outermost one (OpenFlow, OFPAT_PUSH_VLAN), as far as the pattern has that or the list has set it
 * before.
 */
static uint32_t
outermost_tci(const struct mlxpmd_mod_list *c)
{
	const struct prm_fte_match_set_lyr_2_4 *mask = prm_fte_match_param_outer_headers_c(&c->pattern->match.mask);
	const struct prm_fte_match_set_lyr_2_4 *value = prm_fte_match_param_outer_headers_c(&c->pattern->match.value);
	uint32_t tci = 0, at, bits;

	if (prm_fte_match_set_lyr_2_4_get_first_vid(mask) == 0xfff)
		tci |= prm_fte_match_set_lyr_2_4_get_first_vid(value);
	if (prm_fte_match_set_lyr_2_4_get_first_prio(mask) == 7)
		tci |= prm_fte_match_set_lyr_2_4_get_first_prio(value) << 13;
	for (unsigned int i = 0; i < c->out->nb_modify; i++) {
		const struct prm_set_add_copy_action_in_auto *a = &c->out->modify[i];
		const struct prm_set_action_in *set = prm_set_add_copy_action_in_auto_set_action_in_c(a);

		if (prm_set_action_in_get_action_type(set) != PRM_ACTION_TYPE_SET ||
		    prm_set_action_in_get_field(set) != PRM_ACTION_IN_FIELD_OUT_FIRST_VID)
			continue;
		at = prm_set_action_in_get_offset(set);
		bits = (RTE_BIT32(prm_set_action_in_get_length(set)) - 1) << at;
		tci = (tci & ~bits) | (prm_set_action_in_get_data(set) << at & bits);
	}
	return tci;
}

int
mlxpmd_mod_push_vlan(struct mlxpmd_mod_list *c, const struct rte_flow_action *action)
{
	const struct rte_flow_action_of_push_vlan *conf = action->conf;
	const uint32_t tpid = rte_be_to_cpu_16(conf->ethertype);

	if (tpid != RTE_ETHER_TYPE_VLAN && tpid != RTE_ETHER_TYPE_QINQ)
		return REFUSE_CHANGE(c, ENOTSUP, action, "ethertype 0x%x: tags have 0x8100 or 0x88a8", tpid);
	c->out->push_vlan = tpid << 16 | outermost_tci(c);
	return mlxpmd_mod_stage_enter(c, action, MLXPMD_STAGE_PUSH);
}

int
mlxpmd_mod_push_pcp(struct mlxpmd_mod_list *c, const struct rte_flow_action *action)
{
	const struct rte_flow_action_of_set_vlan_pcp *conf = action->conf;

	if (c->stage != MLXPMD_STAGE_PUSH)
		return REFUSE_CHANGE(c, ENOTSUP, action, "the device sets it in a tag that of_push_vlan adds, behind that");
	if (conf->vlan_pcp > 7)
		return REFUSE_CHANGE(c, EINVAL, action, "priority %u: it is 0 to 7", conf->vlan_pcp);
	c->out->push_vlan = (c->out->push_vlan & ~0xe000u) | (uint32_t)conf->vlan_pcp << 13;
	return 0;
}

/* ------------------------------------------------------------------ headers from items */

enum { L_ETH = 1 << 0, L_VLAN = 1 << 1, L_IP = 1 << 2, L_UDP = 1 << 3, L_TUNNEL = 1 << 4 };

/** Headers of a definition, which begin their items; what is 0 in them gets a value. Positions 0: there is none. */
static const struct header {
	enum rte_flow_item_type type;
	uint8_t layer, bytes;
	uint16_t ethertype;	/**< In the header before. */
	uint8_t protocol;
	uint8_t type_at, protocol_at; /**< Where these are in this one. */
	struct {
		uint8_t at, bytes;
		uint16_t value;
	} fill[2];
} headers[] = {
	{ RTE_FLOW_ITEM_TYPE_ETH, L_ETH, sizeof(struct rte_ether_hdr), .type_at = 12 },
	{ RTE_FLOW_ITEM_TYPE_VLAN, L_VLAN, sizeof(struct rte_vlan_hdr), RTE_ETHER_TYPE_VLAN, .type_at = 2 },
	{ RTE_FLOW_ITEM_TYPE_IPV4, L_IP, sizeof(struct rte_ipv4_hdr), RTE_ETHER_TYPE_IPV4, .protocol_at = 9,
	  .fill = { { 0, 1, 0x45 }, { 8, 1, 64 } } },
	{ RTE_FLOW_ITEM_TYPE_IPV6, L_IP, sizeof(struct rte_ipv6_hdr), RTE_ETHER_TYPE_IPV6, .protocol_at = 6,
	  .fill = { { 7, 1, 255 } } },
	{ RTE_FLOW_ITEM_TYPE_UDP, L_UDP, sizeof(struct rte_udp_hdr), .protocol = IPPROTO_UDP,
	  .fill = { { 2, 2, RTE_VXLAN_DEFAULT_PORT } } },
	{ RTE_FLOW_ITEM_TYPE_VXLAN, L_TUNNEL, sizeof(struct rte_vxlan_hdr), .fill = { { 0, 1, 0x08 } } },
	{ RTE_FLOW_ITEM_TYPE_NVGRE, L_TUNNEL, sizeof(struct rte_flow_item_nvgre), .protocol = IPPROTO_GRE,
	  .fill = { { 0, 2, 0x2000 }, { 2, 2, RTE_ETHER_TYPE_TEB } } },
};

/** Writes a value to the bytes of a field that is 0. */
static void
field_fill(uint8_t *field, unsigned int bytes, uint16_t value)
{
	if (field[0] != 0 || field[bytes - 1] != 0)
		return;
	field[bytes - 1] = (uint8_t)value;
	if (bytes == 2)
		field[0] = (uint8_t)(value >> 8);
}

static const struct header *
header_find(enum rte_flow_item_type type)
{
	for (unsigned int i = 0; i < RTE_DIM(headers); i++)
		if (headers[i].type == type)
			return &headers[i];
	return NULL;
}

/** Appends a header; before: the one before, or NULL. */
static void
header_add(struct mlxpmd_flow_change *out, const struct rte_flow_item *item, const struct header *h,
	   const struct header *before)
{
	uint8_t *to = out->header + out->header_bytes, *prev = before != NULL ? to - before->bytes : NULL;

	if (item->spec != NULL)
		memcpy(to, item->spec, h->bytes);
	else
		memset(to, 0, h->bytes);
	out->header_bytes += h->bytes;
	if (h->ethertype != 0 && before != NULL && before->type_at != 0)
		field_fill(prev + before->type_at, 2, h->ethertype);
	if (h->protocol != 0 && before != NULL && before->protocol_at != 0)
		field_fill(prev + before->protocol_at, 1, h->protocol);
	for (unsigned int i = 0; i < RTE_DIM(h->fill) && h->fill[i].bytes != 0; i++)
		field_fill(to + h->fill[i].at, h->fill[i].bytes, h->fill[i].value);
	if (h->type == RTE_FLOW_ITEM_TYPE_IPV6 && to[0] >> 4 == 0)
		to[0] |= 0x60;
}

int
mlxpmd_mod_encap(struct mlxpmd_mod_list *c, const struct rte_flow_action *action)
{
	const struct rte_flow_action_vxlan_encap *conf = action->conf;
	const bool vxlan = action->type == RTE_FLOW_ACTION_TYPE_VXLAN_ENCAP;
	const enum rte_flow_item_type tunnel = vxlan ? RTE_FLOW_ITEM_TYPE_VXLAN : RTE_FLOW_ITEM_TYPE_NVGRE;
	const unsigned int need = L_ETH | L_IP | L_TUNNEL | (vxlan ? L_UDP : 0);
	const struct rte_flow_item *item = conf->definition;
	const struct header *before = NULL, *h;
	unsigned int seen = 0;

	/* struct rte_flow_action_nvgre_encap is the same. */
	RTE_BUILD_BUG_ON(sizeof(*conf) != sizeof(struct rte_flow_action_nvgre_encap));
	c->out->header_bytes = 0;
	for (; item != NULL && item->type != RTE_FLOW_ITEM_TYPE_END; item++) {
		if (item->type == RTE_FLOW_ITEM_TYPE_VOID)
			continue;
		h = header_find(item->type);
		/* Each layer once, in their order. */
		if (h == NULL || seen >= h->layer || (h->layer == L_TUNNEL && h->type != tunnel))
			return REFUSE_CHANGE(c, EINVAL, action, "item %s of the definition: it is eth, vlan if there is "
					     "a tag, ipv4 or ipv6, %s",
					     mlxpmd_flow_name(RTE_FLOW_CONV_OP_ITEM_NAME_PTR, item->type),
					     vxlan ? "udp, vxlan" : "nvgre");
		header_add(c->out, item, h, before);
		seen |= h->layer;
		before = h;
	}
	if ((seen & ~(unsigned int)L_VLAN) != need)
		return REFUSE_CHANGE(c, EINVAL, action, "a header of the definition is missing: eth, ipv4 or ipv6, %s",
				     vxlan ? "udp, vxlan" : "nvgre");
	c->out->tunnel = MLXPMD_ENCAP_L2;
	return mlxpmd_mod_stage_enter(c, action, MLXPMD_STAGE_ENCAP);
}

/* ------------------------------------------------------------------ headers as bytes */

int
mlxpmd_mod_raw_encap(struct mlxpmd_mod_list *c, const struct rte_flow_action *action)
{
	const struct rte_flow_action_raw_encap *conf = action->conf;
	const bool in_place = c->out->tunnel == MLXPMD_ENCAP_RAW;
	int rc = in_place ? 0 : mlxpmd_mod_stage_enter(c, action, MLXPMD_STAGE_ENCAP);

	if (rc != 0)
		return rc;
	if (conf->data == NULL || conf->size < ENCAP_BYTES_MIN || conf->size > MDV_CHANGE_HEADER_MAX)
		return REFUSE_CHANGE(c, ENOTSUP, action, "%zu bytes: headers from Ethernet to the tunnel have %zu to %u",
				     conf->size, (size_t)ENCAP_BYTES_MIN, MDV_CHANGE_HEADER_MAX);
	memcpy(c->out->header, conf->data, conf->size);
	c->out->header_bytes = (uint8_t)conf->size;
	c->out->tunnel = in_place ? MLXPMD_ENCAP_L3 : MLXPMD_ENCAP_L2;
	return 0;
}

/** Before raw_encap: the new headers take the place of the Ethernet header. */
int
mlxpmd_mod_raw_decap(struct mlxpmd_mod_list *c, const struct rte_flow_action *action)
{
	const struct rte_flow_action_raw_decap *conf = action->conf;
	const struct rte_flow_action *next = action;

	do
		next++;
	while (next->type == RTE_FLOW_ACTION_TYPE_VOID);
	if ((conf->size != L2_BYTES && conf->size != L2_TAGGED_BYTES) || next->type != RTE_FLOW_ACTION_TYPE_RAW_ENCAP)
		return REFUSE_CHANGE(c, ENOTSUP, action, "of sent packets the Ethernet header of %d or %d bytes is removed, "
				     "with raw_encap behind it", (int)L2_BYTES, (int)L2_TAGGED_BYTES);
	c->out->tunnel = MLXPMD_ENCAP_RAW;
	return mlxpmd_mod_stage_enter(c, action, MLXPMD_STAGE_ENCAP);
}
