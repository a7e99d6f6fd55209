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

/* The end of a time that begins now; 0: none begins. */
static uint64_t
end_ns(const struct dp_port *port, uint64_t now_ns, uint16_t quanta)
{
	return quanta == 0 ? 0 : now_ns + (uint64_t)quanta * QUANTUM_BITS * 1000 / port->dev->profile->speed_mbps;
}

/* A priority's own time (IEEE 802.3, annex 31D). All that the port sends has priority 0. */
static void
priority_stop(struct dp_port *port, unsigned prio, uint64_t now_ns, uint16_t quanta)
{
	struct emu_dev *dev = port->dev;
	const bool stopped = dev->pfc_until_ns[prio] != 0;

	dev->stats.rx_pfc_frames[prio]++;
	dev->stats.rx_pfc_ends[prio] += stopped && quanta == 0;
	if (!stopped)
		dev->pfc_since_ns[prio] = now_ns;
	dev->pfc_until_ns[prio] = end_ns(port, now_ns, quanta);
	if (prio == 0)
		port->pause_ns = dev->pfc_until_ns[prio];
}

bool
dp_pause_begin(struct dp_port *port, const uint8_t *frame, uint32_t len)
{
	static const uint8_t group[6] = {0x01, 0x80, 0xc2, 0x00, 0x00, 0x01};
	struct emu_dev *dev = port->dev;
	uint16_t opcode, named;
	uint64_t now_ns;

	if (len < PAUSE_BYTES || memcmp(frame, group, sizeof(group)) != 0 || be16_at(frame, 12) != TYPE_MAC_CONTROL)
		return false;
	opcode = be16_at(frame, 14);
	if (opcode == OPCODE_PAUSE && dev->pause_rx) {
		port->pause_ns = end_ns(port, emu_mono_ns(), be16_at(frame, 16));
		dev->stats.rx_pause_frames++;
		return true;
	}
	if (opcode != OPCODE_PFC || dev->pfc_rx == 0 || len < PFC_BYTES)
		return false;
	named = be16_at(frame, 16) & dev->pfc_rx;
	now_ns = emu_mono_ns();
	emu_port_pfc_settle(dev, now_ns);
	for (unsigned prio = 0; prio < EMU_PRIORITIES; prio++)
		if (named >> prio & 1)
			priority_stop(port, prio, now_ns, be16_at(frame, 18 + 2 * prio));
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
