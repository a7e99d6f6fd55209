/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Common to the kinds of wire: table of operations, limited waiting for receive WQEs. */
#ifndef EMU_WIRE_INT_H
#define EMU_WIRE_INT_H

#include "emu_wire.h"

#define WIRE_FRAME_BYTES 65600u /* more than any TAP hands out */

/** Waiting for receive WQEs; limited, so that a hung receiver does not stop the sender. */
struct wire_hold {
	uint64_t since_ns;	 /**< 0: not waiting. */
	uint64_t lossy_until_ns; /**< After a timeout: frames are not held before this time. */
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
	bool own_carrier; /**< The wire sets carrier itself; else there is carrier from the start. */
};

struct emu_wire_port {
	const struct wire_ops *ops;
	struct emu_dev *dev, *peer;
	bool lossless;
	bool has_queue; /**< Unread frames wait in a queue outside: no sender of this process is blocked. */
	struct wire_hold hold;
	struct emu_wire_stats stats;
	void *priv; /**< State of this kind of wire. */
};

/** The operations of the data path behind the port. */
static inline const struct emu_dp_ops *
wire_dp(struct emu_dev *dev)
{
	return emu_machine_of(dev)->dp_ops;
}

extern const struct wire_ops wire_tap_ops, wire_pcap_ops, wire_sock_ops;

uint64_t wire_mono_ns(void);
/** The frame cannot be delivered now: true if the time to wait is over. */
bool wire_hold_expired(struct emu_wire_port *w, struct wire_hold *h);
/**
 * Delivers a frame to dev, or holds it for a limited time while no receive WQE is posted.
 * A port whose PHY returns what it sends receives nothing from its wire: the frame is lost.
 * @return false: not delivered yet, call again.
 */
bool wire_deliver(struct emu_wire_port *w, struct emu_dev *dev, const uint8_t *frame, uint32_t len);
/** The same for a frame that dev has sent and its PHY returns. */
bool wire_return(struct emu_wire_port *w, struct emu_dev *dev, const uint8_t *frame, uint32_t len);

/* wire_tap.c: opens IFNAME in a network namespace ("" = this one). A descriptor or -errno + err. */
int wire_tap_open(const char *ifname, const char *netns, char *err, size_t err_len);
/* wire_pcap.c: 0 or -errno + err. */
int wire_pcap_check(const struct emu_wire_plan *plan, char *err, size_t err_len);
/* wire_sock.c: checks that the name can be used; 0 or -errno + err. */
int wire_sock_check(const struct emu_wire_plan *plan, char *err, size_t err_len);

#endif /* EMU_WIRE_INT_H */
