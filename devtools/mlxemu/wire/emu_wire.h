/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Wires: what a port's connector is plugged into. */
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

/** What the command line asked for one port. */
struct emu_wire_plan {
	enum emu_wire_kind kind;
	unsigned peer;		  /**< pair */
	bool lossless;		  /**< pair, loop, sock: hold frames while the far RQ is empty (bounded) */
	bool up;		  /**< sock: carrier from the first, as behind a switch */
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
 * Launcher: opens TAPs (in their namespace; the descriptors survive an exec), checks that pcap
 * files can be read and written. 0 or -errno with one line in err, and nothing left open.
 */
int emu_wire_open(struct emu_wire_plan *plan, unsigned ports, char *err, size_t err_len);
/**
 * Model, lock held or no thread yet: plugs the ports in (carrier up). The descriptors become the
 * model's. 0 or -errno + err, and nothing plugged in.
 */
int emu_wire_attach(struct emu_machine *m, const struct emu_wire_plan *plan, char *err,
		    size_t err_len);
/** Pulls all plugs: files flushed and closed. */
void emu_wire_detach(struct emu_machine *m);

/** What the wire made of a frame. */
enum emu_wire_result {
	EMU_WIRE_SENT,
	EMU_WIRE_LOST, /**< The wire could not take it: a discard. */
	EMU_WIRE_HOLD, /**< A lossless far end has no buffer: ask again later. */
};
/** Device to wire, lock held. The frame is not touched after the call. */
enum emu_wire_result emu_wire_tx(struct emu_dev *dev, const uint8_t *frame, uint32_t len);
/** Polls tap, pcap and sock wires; each frame goes to emu_dp_offer(). Returns frames. */
unsigned emu_wire_poll(struct emu_dev *dev, unsigned budget);

/**
 * What an engine with nothing else to do may wait for: *fd is set where a descriptor tells that
 * there is something to be polled, *ns made less where it has to be looked at sooner. Lock held.
 * @return false: the wire wants to be polled.
 */
bool emu_wire_wait(struct emu_dev *dev, int *fd, uint64_t *ns);

/** What a wire saw go wrong, for the curious and for tests; all zero without a wire. */
struct emu_wire_stats {
	uint64_t write_errors;	/**< tap, pcap: the file refused the frame. */
	uint64_t short_writes;	/**< tap: only part of the frame was taken. */
	uint64_t would_block;	/**< tap: the queue of the interface was full. */
	uint64_t holds;		/**< Times a frame had to wait for a receive buffer. */
	uint64_t hold_timeouts; /**< Frames given up after waiting. */
	uint64_t replayed;	/**< pcap: frames read and delivered. */
	uint64_t cut;		/**< sock: connections that ended with frames on their way out. */
};
const struct emu_wire_stats *emu_wire_stats(const struct emu_dev *dev);

#endif /* EMU_WIRE_H */
