/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Connects and disconnects ports; calls of the data path. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "wire_int.h"

static enum emu_wire_result
none_tx(struct emu_wire_port *w, const uint8_t *frame, uint32_t len)
{
	(void)w;
	(void)frame;
	(void)len;
	return EMU_WIRE_LOST;
}

/* A cable between two ports of the machine, or from a port to itself. */
static enum emu_wire_result
pair_tx(struct emu_wire_port *w, const uint8_t *frame, uint32_t len)
{
	if (__builtin_expect(!w->lossless, 1)) {
		if (__builtin_expect(!w->peer->loop_on, 1))
			wire_dp(w->peer)->ingress(w->peer, frame, len);
		return EMU_WIRE_SENT;
	}
	return wire_deliver(w, w->peer, frame, len) ? EMU_WIRE_SENT : EMU_WIRE_HOLD;
}

/* The PHY returns the frame, whatever the port is connected to. */
static __attribute__((noinline)) enum emu_wire_result
phy_tx(struct emu_dev *dev, const uint8_t *frame, uint32_t len)
{
	struct emu_wire_port *w = dev->wire;

	if (w != NULL && w->lossless)
		return wire_return(w, dev, frame, len) ? EMU_WIRE_SENT : EMU_WIRE_HOLD;
	wire_dp(dev)->ingress(dev, frame, len);
	return EMU_WIRE_SENT;
}

static const struct wire_ops none_ops = {.tx = none_tx}, pair_ops = {.tx = pair_tx};

static const struct wire_ops *const kinds[] = {
	[EMU_WIRE_NONE] = &none_ops,	  [EMU_WIRE_PAIR] = &pair_ops,
	[EMU_WIRE_LOOP] = &pair_ops,	  [EMU_WIRE_TAP] = &wire_tap_ops,
	[EMU_WIRE_PCAP] = &wire_pcap_ops, [EMU_WIRE_SOCK] = &wire_sock_ops,
};

static int
attach_one(struct emu_machine *m, unsigned port, const struct emu_wire_plan *plan, char *err,
	   size_t err_len)
{
	struct emu_wire_port *w = calloc(1, sizeof(*w));
	int ret = 0;

	if (w == NULL) {
		snprintf(err, err_len, "port %u: no memory for its wire", port);
		return -ENOMEM;
	}
	w->ops = kinds[plan->kind];
	w->dev = &m->dev[port];
	w->peer = plan->kind == EMU_WIRE_LOOP ? w->dev : &m->dev[plan->peer];
	w->lossless = plan->lossless;
	if (w->ops->attach != NULL)
		ret = w->ops->attach(w, plan, err, err_len);
	if (ret != 0) {
		free(w);
		return ret;
	}
	w->dev->wire = w;
	return 0;
}

int
emu_wire_attach(struct emu_machine *m, const struct emu_wire_plan *plan, char *err, size_t err_len)
{
	for (unsigned i = 0; i < m->ports; i++) {
		int ret = attach_one(m, i, &plan[i], err, err_len);

		if (ret != 0) {
			emu_wire_detach(m);
			return ret;
		}
	}
	for (unsigned i = 0; i < m->ports; i++)
		if (plan[i].kind != EMU_WIRE_NONE && !kinds[plan[i].kind]->own_carrier)
			emu_port_set_carrier(&m->dev[i], true);
	return 0;
}

void
emu_wire_detach(struct emu_machine *m)
{
	for (unsigned i = 0; i < m->ports; i++) {
		struct emu_wire_port *w = m->dev[i].wire;

		if (w == NULL)
			continue;
		if (m->dev[i].carrier)
			emu_port_set_carrier(&m->dev[i], false);
		m->dev[i].wire = NULL;
		if (w->ops->detach != NULL)
			w->ops->detach(w);
		free(w);
	}
}

enum emu_wire_result
emu_wire_tx(struct emu_dev *dev, const uint8_t *frame, uint32_t len)
{
	struct emu_wire_port *w = dev->wire;

	if (__builtin_expect(dev->loop_on, 0))
		return phy_tx(dev, frame, len);
	if (w == NULL)
		return EMU_WIRE_LOST;
	/* The usual cable: without an indirect call. */
	return w->ops == &pair_ops ? pair_tx(w, frame, len) : w->ops->tx(w, frame, len);
}

unsigned
emu_wire_poll(struct emu_dev *dev, unsigned budget)
{
	struct emu_wire_port *w = dev->wire;

	return w != NULL && w->ops->poll != NULL ? w->ops->poll(w, budget) : 0;
}

bool
emu_wire_wait(struct emu_dev *dev, int *fd, uint64_t *ns)
{
	struct emu_wire_port *w = dev->wire;

	return w == NULL || w->ops->wait == NULL || w->ops->wait(w, fd, ns);
}

const struct emu_wire_stats *
emu_wire_stats(const struct emu_dev *dev)
{
	static const struct emu_wire_stats none;

	return dev->wire != NULL ? &dev->wire->stats : &none;
}
