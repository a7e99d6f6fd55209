/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Wires: what a port's connector is plugged into. */
#ifndef EMU_WIRE_H
#define EMU_WIRE_H

#include "../core/emu_dev.h"

enum emu_wire_kind { EMU_WIRE_NONE, EMU_WIRE_LOOP, EMU_WIRE_PAIR, EMU_WIRE_TAP, EMU_WIRE_PCAP };

/** What the command line asked for one port. */
struct emu_wire_plan {
	enum emu_wire_kind kind;
	unsigned peer;		  /**< pair */
	bool lossless;		  /**< pair, loop: hold frames while the far RQ is empty (bounded) */
	char ifname[16];	  /**< tap */
	char netns[64];		  /**< tap: named network namespace, or empty */
	int fd;			  /**< tap: open descriptor, -1 before emu_wire_open */
	char in[4096], out[4096]; /**< pcap: files, either may be empty */
};

/**
 * Parses the --wire options. SPEC is `pair[:lossless]`, `loop`, `A=pair:B[:lossless]`, `PORT=loop`, `PORT=tap:IFNAME[@NETNS]`,
 * `PORT=pcap:IN[,OUT]`, `PORT=none`. Without a port: all ports not yet named. Ports left over are
 * paired two by two (0-1, 2-3), a single one looped.
 * @return 0 or -EINVAL with one line in err that names the option and what is allowed.
 */
int emu_wire_parse(const char *const *specs, unsigned n, unsigned ports,
		   struct emu_wire_plan *plan, char *err, size_t err_len);
/** Launcher: opens TAPs (in their namespace), checks that pcap files can be read and written. One line in err. */
int emu_wire_open(struct emu_wire_plan *plan, unsigned ports, char *err, size_t err_len);
/** Model: plugs the ports in (carrier up). The descriptors become the model's. 0 or -errno + err. */
int emu_wire_attach(struct emu_machine *m, const struct emu_wire_plan *plan, char *err, size_t err_len);
void emu_wire_detach(struct emu_machine *m);

/** Device to wire, lock held. false: the wire could not take it (counted as discard). */
bool emu_wire_tx(struct emu_dev *dev, const uint8_t *frame, uint32_t len);
/** True while a lossless far end wants the port to hold its next frame (SQ waits). */
bool emu_wire_hold(struct emu_dev *dev);
/** Polls tap and pcap wires; each frame goes to emu_dp_ingress(). Returns frames. */
unsigned emu_wire_poll(struct emu_dev *dev, unsigned budget);

#endif /* EMU_WIRE_H */
