/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Pause frames (IEEE 802.3, annex 31B): a port that obeys them stops sending for the time that they state. */
#include <endian.h>
#include <string.h>

#include "dp_int.h"

#define TYPE_MAC_CONTROL 0x8808u
#define OPCODE_PAUSE 0x0001u
/* Ethernet header, opcode and time. */
#define PAUSE_BYTES 18u
/* A quantum of the time. */
#define QUANTUM_BITS 512u

static uint16_t
be16_at(const uint8_t *frame, unsigned offset)
{
	return (uint16_t)(frame[offset] << 8 | frame[offset + 1]);
}

bool
dp_pause_begin(struct dp_port *port, const uint8_t *frame, uint32_t len)
{
	static const uint8_t group[6] = {0x01, 0x80, 0xc2, 0x00, 0x00, 0x01};
	uint64_t quanta;

	if (len < PAUSE_BYTES || memcmp(frame, group, sizeof(group)) != 0 ||
	    be16_at(frame, 12) != TYPE_MAC_CONTROL || be16_at(frame, 14) != OPCODE_PAUSE)
		return false;
	quanta = be16_at(frame, 16);
	port->pause_ns = quanta == 0 ? 0
				     : emu_mono_ns() + quanta * QUANTUM_BITS * 1000 / port->dev->profile->speed_mbps;
	return true;
}

bool
dp_pause_goes_on(struct dp_port *port)
{
	struct dp_shared *shared = port->shared;

	dp_batch_begin(shared);
	if (shared->mono_ns >= port->pause_ns) {
		port->pause_ns = 0;
		return false;
	}
	if (port->pause_ns < shared->due_ns)
		shared->due_ns = port->pause_ns;
	return true;
}
