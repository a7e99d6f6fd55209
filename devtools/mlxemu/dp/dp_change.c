/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Rules that change packets: the packet is copied at the first such rule, and the rules of later tables compare, and
 * the completion describes, what it has become.
 *
 * assumed: flow counters count the bytes of the packet as it arrived. Other reading: as it is at the rule. Test:
 * dp/test_change.c.
 */
#include "dp_change.h"

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

/* Removes bytes from the begin of the frame, and reads the headers behind them. */
static void
front_cut(struct emu_dev *dev, struct dp_changed *w, uint32_t bytes)
{
	w->data += bytes;
	dp_parse(&w->pkt, w->data, w->pkt.len - bytes, dp_port_of(dev)->rx_tunnels);
	w->pkt.meta = &w->meta;
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

/*
 * assumed: the order is that of DPDK's guide of mlx5, which has it for hardware steering. Other reading: fields first.
 * Test: dp/test_change.c.
 */
const struct dp_pkt *
dp_change_apply(struct emu_dev *dev, struct dp_changed *w, const struct dp_change *c, const struct dp_pkt *pkt)
{
	if (pkt != &w->pkt)
		changed_begin(w, pkt);
	if (c->decap)
		decap_l2(dev, w);
	if (c->reformat != NULL)
		decap_l3(dev, w, c->reformat);
	if (c->pop_vlan)
		pop_vlan(dev, w);
	if (c->modify != NULL)
		dp_modify_apply(w, c->modify);
	return &w->pkt;
}
