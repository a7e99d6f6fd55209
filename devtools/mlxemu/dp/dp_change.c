/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Rules that change packets: the packet is copied at the first such rule, and the rules of later tables compare, and
 * the completion describes, what it has become.
 *
 * assumed: flow counters count the bytes of the packet as it arrived, or as its queue sends it. Other reading: as it is
 * at the rule. Test: dp/test_change.c.
 */
#include "dp_change.h"
#include "dp_csum.h"

#define MACS_BYTES 12u /* Both addresses: a VLAN tag follows them. */

static void
changed_begin(struct dp_changed *w, const struct dp_pkt *pkt)
{
	w->data = w->frame + DP_CHANGE_BEFORE;
	memcpy(w->data, pkt->data, pkt->len);
	w->pkt = *pkt;
	w->pkt.data = w->data;
	w->meta = pkt->meta != NULL ? *pkt->meta : (struct dp_meta){0};
	w->pkt.meta = &w->meta;
}

/* Reads the headers again. */
static void
parse_again(struct emu_dev *dev, struct dp_changed *w, uint32_t len)
{
	dp_parse(&w->pkt, w->data, len, dp_port_of(dev)->rx_tunnels);
	w->pkt.meta = &w->meta;
}

/* Removes bytes from the begin of the frame, and reads the headers behind them. */
static void
front_cut(struct emu_dev *dev, struct dp_changed *w, uint32_t bytes)
{
	w->data += bytes;
	parse_again(dev, w, w->pkt.len - bytes);
}

/* Makes room before the frame; false: it is longer than any port's limit already. */
static bool
front_grow(struct dp_changed *w, uint32_t bytes)
{
	uint8_t *to = w->frame + DP_CHANGE_BEFORE + bytes;

	if (w->pkt.len + bytes > DP_MAX_FRAME)
		return false;
	memmove(to, w->data, w->pkt.len);
	w->data = to - bytes;
	return true;
}

/*
 * assumed: a packet that is in no tunnel, or in one that does not fit, passes unchanged. Other reading: it is dropped.
 * assumed: bytes behind the outer IP packet stay behind the inner one. Other reading: they are cut off.
 * Test: dp/test_change.c.
 */
static void
decap_l2(struct emu_dev *dev, struct dp_changed *w)
{
	const struct dp_layers *in = &w->pkt.inner;

	if (w->pkt.tunneled && in->l2_off != in->l3_off)
		front_cut(dev, w, in->l2_off);
}

/* A new Ethernet header before the inner IP header: it fits into what is removed. */
static void
decap_l3(struct emu_dev *dev, struct dp_changed *w, const struct emu_reformat *r)
{
	const struct dp_layers *in = &w->pkt.inner;

	if (!w->pkt.tunneled || in->l3 == DP_L3_NONE || in->l3_off < r->bytes)
		return;
	memcpy(w->data + in->l3_off - r->bytes, r->data, r->bytes);
	front_cut(dev, w, in->l3_off - r->bytes);
}

/* assumed: an untagged packet passes unchanged. Other reading: it is dropped. Test: dp/test_change.c. */
static void
pop_vlan(struct emu_dev *dev, struct dp_changed *w)
{
	if (w->pkt.outer.tags == 0)
		return;
	memmove(w->data + DP_VLAN_BYTES, w->data, MACS_BYTES);
	front_cut(dev, w, DP_VLAN_BYTES);
}

/* assumed: the new tag becomes the outer one of a tagged packet. Other reading: none. Test: dp/test_tx_rules.c. */
static void
push_vlan(struct emu_dev *dev, struct dp_changed *w, uint32_t tag)
{
	if (!front_grow(w, DP_VLAN_BYTES))
		return;
	memmove(w->data, w->data + DP_VLAN_BYTES, MACS_BYTES);
	dp_wr32(w->data + MACS_BYTES, tag);
	parse_again(dev, w, w->pkt.len + DP_VLAN_BYTES);
}

/*
 * New headers before the packet, or in place of its Ethernet header. Lengths of the new IP and UDP headers and the IP
 * checksum are the device's: Linux leaves them 0 (en/tc_tun.c, mlx5e_tc_tun_create_header_ipv4()).
 * assumed: all else is as in the context, also a UDP checksum, and the source port. Other reading: the source port is a
 * hash of the packet (Linux, en/port_tun.c: entropy). Test: dp/test_tx_rules.c.
 */
static void
encap(struct emu_dev *dev, struct dp_changed *w, const struct emu_reformat *r)
{
	uint32_t len;

	if (r->type == PRM_REFORMAT_TYPE_L2_TO_L3_TUNNEL)
		front_cut(dev, w, w->pkt.outer.l3_off);
	len = w->pkt.len + r->bytes;
	if (!front_grow(w, r->bytes))
		return;
	memcpy(w->data, r->data, r->bytes);
	parse_again(dev, w, len);
	if (w->pkt.outer.l3 == DP_L3_NONE)
		return;
	dp_ip_set_len(w->data, &w->pkt.outer, len);
	/* Neither the length of UDP nor the checksum of IP, which follow, is parsed. */
	parse_again(dev, w, len);
	if (w->pkt.outer.l4 == DP_L4_UDP)
		dp_wr16(w->data + w->pkt.outer.l4_off + 4, (uint16_t)(len - w->pkt.outer.l4_off));
	dp_csum_insert_l3(w->data, &w->pkt.outer);
}

/*
 * The order is that of Linux, steering/fs_dr.c, mlx5_cmd_dr_create_fte(): received packets lose tunnel and tag before
 * fields change, sent ones get tag and tunnel after that.
 */
const struct dp_pkt *
dp_change_apply(struct emu_dev *dev, struct dp_changed *w, const struct dp_change *c, const struct dp_pkt *pkt)
{
	const bool l3_decap = c->reformat != NULL && c->reformat->type == PRM_REFORMAT_TYPE_L3_TUNNEL_TO_L2;

	if (pkt != &w->pkt)
		changed_begin(w, pkt);
	if (c->decap)
		decap_l2(dev, w);
	if (l3_decap)
		decap_l3(dev, w, c->reformat);
	if (c->pop_vlan)
		pop_vlan(dev, w);
	if (c->modify != NULL)
		dp_modify_apply(w, c->modify);
	if (c->push_vlan != 0)
		push_vlan(dev, w, c->push_vlan);
	if (c->reformat != NULL && !l3_decap)
		encap(dev, w, c->reformat);
	return &w->pkt;
}
