/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* A packet that rules change (dp_change.c, dp_modify.c). */
#ifndef EMU_DP_CHANGE_H
#define EMU_DP_CHANGE_H

#include "dp_int.h"

/** Bytes before a frame that the checksum functions may read. */
#define DP_CHANGE_BEFORE 32u

/** The packet as the rules so far have left it. */
struct dp_changed {
	struct dp_pkt pkt; /**< data points into frame. */
	struct dp_meta meta;
	uint8_t *data;	   /**< pkt.data, to be written. */
	uint8_t frame[DP_CHANGE_BEFORE + DP_MAX_FRAME];
};

/**
 * Applies what a rule changes of a packet, in this order: decapsulation, tag removed, fields, tag inserted,
 * encapsulation.
 * @param pkt the packet as it arrived or is to be sent, or that of w.
 * @return the packet of w.
 */
const struct dp_pkt *dp_change_apply(struct emu_dev *dev, struct dp_changed *w, const struct dp_change *c,
				     const struct dp_pkt *pkt);

/** dp_modify.c: changes fields of headers and registers, and the checksums over them. */
void dp_modify_apply(struct dp_changed *w, const struct emu_modify_header *m);

#endif /* EMU_DP_CHANGE_H */
