/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Why a frame ends where it does: decided by the code that decides on frames, without delivering it. */
#ifndef EMU_DP_WHY_H
#define EMU_DP_WHY_H

#include "emu_dp_table.h"

/** TIRs of a rule of the kernel's tables (dp_autogroup.h) at most. */
#define EMU_WHY_RECEIVERS 17u

/** What becomes of a frame, and the text of it. */
#define EMU_WHY_ENDS(X) \
	X(LINK, "dropped: the link is down") \
	X(SHORT, "dropped: shorter than an Ethernet header") \
	X(LONG, "dropped: longer than the MTU allows") \
	X(ELSEWHERE, "not for this function: the card's switch sends its address elsewhere") \
	X(RULE, "dropped by a rule") \
	X(MISS, "dropped: no rule of the last table matches") \
	X(CIRCLE, "dropped: rules lead in a circle") \
	X(TAKEN, "to receive queues") \
	X(KERNEL, "to the kernel's interface") \
	X(FILTERED, "left to the kernel's interface, which does not have its address") \
	X(SPOOFED, "dropped: not the source address of this virtual function") \
	X(UNSWITCHED, "dropped: the eswitch sends it to no port") \
	X(WIRE, "sent to the wire")
enum emu_why_end {
#define EMU_WHY_END(name, text) EMU_WHY_##name,
	EMU_WHY_ENDS(EMU_WHY_END)
#undef EMU_WHY_END
};
const char *emu_why_end_text(enum emu_why_end end);

/** A TIR that gets the frame. */
struct emu_why_receiver {
	const struct emu_tir *tir;
	const struct emu_rq *rq; /**< NULL: the entry of the RQT has none. */
	uint32_t hash;
	uint32_t entry;	   /**< Of the RQT, if the TIR has one. */
	uint32_t posted;   /**< WQEs. */
	const char *lost;  /**< Why the RQ does not take it; NULL: it does. */
};

struct emu_why {
	enum emu_why_end end;
	char outer[256], inner[256]; /**< Headers that the parser finds; empty: none. */
	char changed[256];	     /**< The outer ones after changes by rules; empty: there was none. */
	struct dp_walk walk;
	uint32_t tag;
	unsigned receivers;
	struct emu_why_receiver receiver[EMU_WHY_RECEIVERS];
};

/**
 * What would become of a frame that arrived at the port, or that the SQ sent, now. Fault rules are not applied, and
 * no counter changes. Lock held; why: zeroed.
 */
void emu_dp_why_received(struct emu_dev *dev, const uint8_t *frame, uint32_t len, struct emu_why *why);
void emu_dp_why_sent(struct emu_sq *sq, const uint8_t *frame, uint32_t len, struct emu_why *why);

/**
 * A frame of a capture; number: from 1. frame is valid until the next call that reads a capture. Lock held. 0 or -errno
 * with one line in err.
 */
int emu_dp_file_frame(const char *path, uint64_t number, const uint8_t **frame, uint32_t *len, char *err,
		      size_t err_len);

#endif /* EMU_DP_WHY_H */
