/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Classes of frames: what makes one, and what is kept of it. */
#include "dp_class.h"

#include <stdlib.h>

#define IPV4_PLAIN 0x45 /* version and header length */

/* Offsets: Ethernet 0, IPv4 14 (identification 18, checksum 24), TCP or UDP 34. */
const uint8_t dp_class_mask[2][DP_CLASS_BYTES] = {
	/* UDP: neither length nor checksum, no payload. */
	{[0 ... 17] = 0xff, [20 ... 23] = 0xff, [26 ... 37] = 0xff},
	/* TCP: neither sequence nor acknowledgement, but header length and flags. */
	{[0 ... 17] = 0xff, [20 ... 23] = 0xff, [26 ... 37] = 0xff, [46 ... 47] = 0xff},
};

void
dp_class_init(struct dp_port *port)
{
	const size_t bytes = (sizeof(*port->classes) + 63) & ~(size_t)63;

	port->classes = aligned_alloc(64, bytes);
	if (port->classes != NULL)
		memset(port->classes, 0, bytes);
}

void
dp_class_fini(struct dp_port *port)
{
	free(port->classes);
	port->classes = NULL;
}

static bool
has_class(const struct dp_port *port, const struct emu_rq *rq, const struct dp_rx *rx)
{
	const struct dp_pkt *pkt = rx->pkt;
	const struct dp_layers *l = &pkt->outer;

	return port->classes != NULL && pkt->len >= DP_CLASS_BYTES && l->l3 == DP_L3_IPV4 &&
	       l->tags == 0 && pkt->data[DP_ETH_BYTES] == IPV4_PLAIN && l->l4 != DP_L4_NONE &&
	       !pkt->tunneled && !rx->tunneled && !rq->striding && !rq->scatter_fcs &&
	       !dp_steer_by_checksum(port->dev);
}

void
dp_class_learn(struct dp_port *port, const struct dp_verdict *v, const struct emu_rq *rq,
	       const struct dp_rx *rx)
{
	const uint8_t *frame = rx->pkt->data, *mask;
	struct dp_class *c;

	/* Counters of several tables are the long way's. */
	if (v->counters > 1 || !has_class(port, rq, rx))
		return;
	c = dp_class_slot(port->classes, frame);
	mask = dp_class_mask[rx->pkt->outer.l4 == DP_L4_TCP];
	for (unsigned i = 0; i < DP_CLASS_BYTES; i++)
		c->key[i] = frame[i] & mask[i];
	c->len = rx->pkt->len;
	c->age = port->classes->age;
	c->rq = (struct emu_rq *)rq;
	c->counter = v->counters != 0 ? v->counter[0] : NULL;
	c->layers = rx->pkt->outer;
	dp_csum_plain_init(&c->csum, frame, &c->layers);
	dp_rq_describe_class(&c->cqe, rq, rx);
}
