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

const struct wire_ops wire_none_ops = {.tx = none_tx};

static const struct wire_ops *
ops_of(enum emu_wire_kind kind)
{
	switch (kind) {
	case EMU_WIRE_LOOP:
	case EMU_WIRE_PAIR:
		return &wire_pair_ops;
	case EMU_WIRE_TAP:
		return &wire_tap_ops;
	case EMU_WIRE_PCAP:
		return &wire_pcap_ops;
	case EMU_WIRE_SOCK:
		return &wire_sock_ops;
	default:
		return &wire_none_ops;
	}
}

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
	w->ops = ops_of(plan->kind);
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
		if (plan[i].kind != EMU_WIRE_NONE && !ops_of(plan[i].kind)->own_carrier)
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

	return w != NULL ? w->ops->tx(w, frame, len) : EMU_WIRE_LOST;
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
