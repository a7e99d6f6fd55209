/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* What the kinds of wire share: one table of operations each, one bound on waiting. */
#ifndef EMU_WIRE_INT_H
#define EMU_WIRE_INT_H

#include "emu_wire.h"

#define WIRE_FRAME_BYTES 65600u /* more than any TAP hands out */

/** Waiting for receive buffers, bounded so that a dead receiver does not stop the sender. */
struct wire_hold {
	uint64_t since_ns;	 /**< 0: not waiting. */
	uint64_t lossy_until_ns; /**< After giving up: frames are not held before this. */
};

struct emu_wire_port;
struct wire_ops {
	/** 0 or -errno with one line in err. */
	int (*attach)(struct emu_wire_port *w, const struct emu_wire_plan *plan, char *err,
		      size_t err_len);
	void (*detach)(struct emu_wire_port *w);
	enum emu_wire_result (*tx)(struct emu_wire_port *w, const uint8_t *frame, uint32_t len);
	unsigned (*poll)(struct emu_wire_port *w, unsigned budget); /**< NULL: nothing to poll. */
	/** As emu_wire_wait(); NULL: there is nothing to wait for. */
	bool (*wait)(struct emu_wire_port *w, int *fd, uint64_t *ns);
	bool own_carrier; /**< Comes and goes with something; else there from the first. */
};

struct emu_wire_port {
	const struct wire_ops *ops;
	struct emu_dev *dev, *peer;
	bool lossless;
	bool has_queue; /**< What is not read yet waits outside: no sender is held up. */
	struct wire_hold hold;
	struct emu_wire_stats stats;
	void *priv; /**< The kind's own. */
};

/** The operations of the data path behind the port. */
static inline const struct emu_dp_ops *
wire_dp(struct emu_dev *dev)
{
	return emu_machine_of(dev)->dp_ops;
}

extern const struct wire_ops wire_none_ops, wire_pair_ops, wire_tap_ops, wire_pcap_ops,
	wire_sock_ops;

uint64_t wire_mono_ns(void);
/** Nothing can be handed over now: true when the time to wait is over. */
bool wire_hold_expired(struct emu_wire_port *w, struct wire_hold *h);
/**
 * Gives a frame to dev, waiting for a receive buffer within bounds.
 * @return false: not yet, offer it again.
 */
bool wire_deliver(struct emu_wire_port *w, struct emu_dev *dev, const uint8_t *frame, uint32_t len);

/* wire_tap.c: opens IFNAME in a network namespace ("" = this one). A descriptor or -errno + err. */
int wire_tap_open(const char *ifname, const char *netns, char *err, size_t err_len);
/* wire_pcap.c: 0 or -errno + err. */
int wire_pcap_check(const struct emu_wire_plan *plan, char *err, size_t err_len);
/* wire_sock.c: the name can be had; 0 or -errno + err. */
int wire_sock_check(const struct emu_wire_plan *plan, char *err, size_t err_len);

#endif /* EMU_WIRE_INT_H */
