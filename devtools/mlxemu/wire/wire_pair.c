/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* A cable between two ports of the machine, or from a port to itself. */
#include "wire_int.h"

static enum emu_wire_result
pair_tx(struct emu_wire_port *w, const uint8_t *frame, uint32_t len)
{
	if (!w->lossless) {
		wire_dp(w->peer)->ingress(w->peer, frame, len);
		return EMU_WIRE_SENT;
	}
	return wire_deliver(w, w->peer, frame, len) ? EMU_WIRE_SENT : EMU_WIRE_HOLD;
}

const struct wire_ops wire_pair_ops = {.tx = pair_tx};
