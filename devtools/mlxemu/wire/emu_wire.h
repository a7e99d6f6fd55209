/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Wires: what a port is connected to. */
#ifndef EMU_WIRE_H
#define EMU_WIRE_H

#include "core/emu_dev.h"

enum emu_wire_kind {
	EMU_WIRE_NONE,
	EMU_WIRE_LOOP,
	EMU_WIRE_PAIR,
	EMU_WIRE_TAP,
	EMU_WIRE_PCAP,
	EMU_WIRE_SOCK,
};

/** Options --wire of one port. */
struct emu_wire_plan {
	enum emu_wire_kind kind;
	unsigned peer;		  /**< pair */
	bool lossless;		  /**< pair, loop, sock: hold frames while the far RQ is empty (bounded) */
	bool up;		  /**< sock: carrier without a peer too, as with a switch */
	char ifname[16];	  /**< tap */
	char netns[64];		  /**< tap: named network namespace, or empty */
	int fd;			  /**< tap: open descriptor, -1 before emu_wire_open */
	char in[4096], out[4096]; /**< pcap: files, either may be empty; sock: in is its name */
};

/**
 * Parses the --wire options. SPEC is `pair[:lossless]`, `loop[:lossless]`, `none`,
 * `A=pair:B[:lossless]`, `PORT=loop[:lossless]`, `PORT=tap:IFNAME[@NETNS]`,
 * `PORT=pcap:IN[,OUT]` (IN may be empty), `PORT=sock:PATH[:up][:lossless]`, `PORT=none`. Without a port: all ports
 * not yet named.
 * Ports left over are paired two by two (0-1, 2-3), a single one looped.
 * @param plan ports entries, written.
 * @return 0 or -EINVAL with one line in err that names the option and what is allowed.
 */
int emu_wire_parse(const char *const *specs, unsigned n, unsigned ports,
		   struct emu_wire_plan *plan, char *err, size_t err_len);
/**
 * Launcher: opens TAPs (in their namespace; the descriptors survive exec) and checks that pcap files
 * can be read and written. 0, or -errno with one line in err and nothing left open.
 */
int emu_wire_open(struct emu_wire_plan *plan, unsigned ports, char *err, size_t err_len);
/**
 * Model: connects the ports (carrier up) and takes over the descriptors. Lock held, or no thread
 * started yet. 0, or -errno with one line in err and no port connected.
 */
int emu_wire_attach(struct emu_machine *m, const struct emu_wire_plan *plan, char *err,
		    size_t err_len);
/** Disconnects all ports; flushes and closes their files. */
void emu_wire_detach(struct emu_machine *m);

/** Result of sending a frame. */
enum emu_wire_result {
	EMU_WIRE_SENT,
	EMU_WIRE_LOST, /**< Not sent: counted as a discard. */
	EMU_WIRE_HOLD, /**< The lossless peer has no receive WQE: send it again later. */
};
/** Sends a frame, lock held. The frame is not accessed after the call. */
enum emu_wire_result emu_wire_tx(struct emu_dev *dev, const uint8_t *frame, uint32_t len);
/** Receives up to budget frames of tap, pcap and sock wires. Returns the number of frames. */
unsigned emu_wire_poll(struct emu_dev *dev, unsigned budget);

/**
 * How long an idle engine may sleep: sets *fd if a descriptor becomes readable when there is work,
 * and reduces *ns if the wire must be polled earlier. Lock held.
 * @return false: the wire must be polled without a pause.
 */
bool emu_wire_wait(struct emu_dev *dev, int *fd, uint64_t *ns);

/** Errors of a wire, for tests; all zero without a wire. */
struct emu_wire_stats {
	uint64_t write_errors;	/**< tap, pcap: write failed. */
	uint64_t short_writes;	/**< tap: only part of the frame was written. */
	uint64_t would_block;	/**< tap: the queue of the interface was full. */
	uint64_t holds;		/**< Frames that waited for a receive WQE. */
	uint64_t hold_timeouts; /**< Frames dropped after waiting. */
	uint64_t replayed;	/**< pcap: frames read and delivered. */
	uint64_t cut;		/**< sock: connections that ended with unsent frames. */
};
const struct emu_wire_stats *emu_wire_stats(const struct emu_dev *dev);

#endif /* EMU_WIRE_H */
