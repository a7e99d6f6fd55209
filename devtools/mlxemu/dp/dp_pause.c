/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Pause frames (IEEE 802.3, annex 31B and 31D): a port that obeys them stops sending for the time that they state. */
#include <endian.h>
#include <string.h>

#include "dp_int.h"

#define TYPE_MAC_CONTROL 0x8808u
#define OPCODE_PAUSE 0x0001u
#define OPCODE_PFC 0x0101u
/* Ethernet header, opcode and time. */
#define PAUSE_BYTES 18u
/* Ethernet header, opcode, priorities, and a time for each of the eight. */
#define PFC_BYTES 34u
/* A quantum of the time. */
#define QUANTUM_BITS 512u

static uint16_t
be16_at(const uint8_t *frame, unsigned offset)
{
	return (uint16_t)(frame[offset] << 8 | frame[offset + 1]);
}

static void
stop_for(struct dp_port *port, uint16_t quanta)
{
	port->pause_ns = quanta == 0 ? 0 : emu_mono_ns() + (uint64_t)quanta * QUANTUM_BITS * 1000 /
							   port->dev->profile->speed_mbps;
}

bool
dp_pause_begin(struct dp_port *port, const uint8_t *frame, uint32_t len)
{
	static const uint8_t group[6] = {0x01, 0x80, 0xc2, 0x00, 0x00, 0x01};
	struct emu_dev *dev = port->dev;
	uint16_t opcode, named;

	if (len < PAUSE_BYTES || memcmp(frame, group, sizeof(group)) != 0 || be16_at(frame, 12) != TYPE_MAC_CONTROL)
		return false;
	opcode = be16_at(frame, 14);
	if (opcode == OPCODE_PAUSE && dev->pause_rx) {
		stop_for(port, be16_at(frame, 16));
		dev->stats.rx_pause_frames++;
		return true;
	}
	if (opcode != OPCODE_PFC || dev->pfc_rx == 0 || len < PFC_BYTES)
		return false;
	/* The priorities that the frame names have a time each. All that the port sends has priority 0. */
	named = be16_at(frame, 16) & dev->pfc_rx;
	for (unsigned prio = 0; prio < 8; prio++)
		dev->stats.rx_pfc_frames[prio] += named >> prio & 1;
	if (named & 1)
		stop_for(port, be16_at(frame, 18));
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
