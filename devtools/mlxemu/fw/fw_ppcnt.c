/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Counter groups of the port counters register, filled from the port's own sums. */
#include <endian.h>
#include <stddef.h>
#include <string.h>

#include "fw.h"

/* On the wire a frame has 4 bytes of FCS that memory does not see; port counters see the wire. */
#define FCS_BYTES 4u

/** What the groups are made of: sums as the wire sees them. */
struct wire_sums {
	uint64_t tx, rx, tx_octets, rx_octets;
	uint64_t tx_uc, tx_mc, tx_bc, rx_uc, rx_mc, rx_bc;
	uint64_t rx_too_long, tx_discards, rx_discards;
};

static void
sums_make(const struct emu_port_stats *s, struct wire_sums *w)
{
	w->tx = s->tx_frames;
	w->rx = s->rx_frames;
	w->tx_octets = s->tx_bytes + FCS_BYTES * s->tx_frames;
	w->rx_octets = s->rx_bytes + FCS_BYTES * s->rx_frames;
	w->tx_mc = s->tx_mcast_frames;
	w->tx_bc = s->tx_bcast_frames;
	w->tx_uc = s->tx_frames - s->tx_mcast_frames - s->tx_bcast_frames;
	w->rx_mc = s->rx_mcast_frames;
	w->rx_bc = s->rx_bcast_frames;
	w->rx_uc = s->rx_frames - s->rx_mcast_frames - s->rx_bcast_frames;
	w->rx_too_long = s->rx_oversize;
	w->tx_discards = s->tx_discards;
	w->rx_discards = s->rx_link_down;
}

/** One 64-bit counter of a group: dword of its high half, member of wire_sums. */
struct group_row {
	uint8_t dword;
	uint8_t offset;
};
#define ROW(dword_, member_) {dword_, offsetof(struct wire_sums, member_)}

/* Dwords as the layouts of the groups give them; *_low follows *_high. */
static const struct group_row ieee_802_3[] = {
	ROW(0, tx), ROW(2, rx), ROW(8, tx_octets), ROW(10, rx_octets), ROW(12, tx_mc),
	ROW(14, tx_bc), ROW(16, rx_mc), ROW(18, rx_bc), ROW(24, rx_too_long),
};
static const struct group_row rfc_2863[] = {
	ROW(0, rx_octets), ROW(2, rx_uc), ROW(4, rx_discards), ROW(10, tx_octets),
	ROW(12, tx_uc), ROW(14, tx_discards), ROW(18, rx_mc), ROW(20, rx_bc), ROW(22, tx_mc),
	ROW(24, tx_bc),
};
static const struct group_row rfc_2819[] = {
	ROW(2, rx_octets), ROW(4, rx), ROW(6, rx_bc), ROW(8, rx_mc), ROW(14, rx_too_long),
};
static const struct group_row rfc_3635[] = {
	ROW(20, rx_too_long),
};
static const struct group_row per_priority[] = {
	ROW(0, rx_octets), ROW(8, rx), ROW(10, tx_octets), ROW(18, tx),
};

_Static_assert(sizeof(struct wire_sums) < 256, "offsets fit a byte");

static const struct {
	uint8_t grp;
	uint8_t count;
	const struct group_row *rows;
} groups[] = {
#define GROUP(grp_, rows_) {grp_, sizeof(rows_) / sizeof(rows_[0]), rows_}
	GROUP(PRM_PPCNT_GRP_IEEE_802_3, ieee_802_3),
	GROUP(PRM_PPCNT_GRP_RFC_2863, rfc_2863),
	GROUP(PRM_PPCNT_GRP_RFC_2819, rfc_2819),
	GROUP(PRM_PPCNT_GRP_RFC_3635, rfc_3635),
	GROUP(PRM_PPCNT_GRP_PER_PRIORITY, per_priority),
	/* Perfect cables: no symbol errors, no corrected blocks, nothing congested. */
	{PRM_PPCNT_GRP_ETHERNET_EXTENDED, 0, NULL},
	{PRM_PPCNT_GRP_PHYSICAL_LAYER, 0, NULL},
	{PRM_PPCNT_GRP_PHYSICAL_LAYER_STATISTICAL, 0, NULL},
	{PRM_PPCNT_GRP_PER_TRAFFIC_CLASS, 0, NULL},
	{PRM_PPCNT_GRP_PER_TRAFFIC_CLASS_CONGESTION, 0, NULL},
};

int
fw_ppcnt(struct fw_cmd *c, struct prm_ppcnt_reg *reg)
{
	unsigned grp = prm_ppcnt_reg_get_grp(reg), prio = prm_ppcnt_reg_get_prio_tc(reg);
	uint32_t *set = &reg->dw[2];
	struct wire_sums sums;
	unsigned g;

	for (g = 0; g < sizeof(groups) / sizeof(groups[0]) && groups[g].grp != grp; g++)
		;
	if (g == sizeof(groups) / sizeof(groups[0]))
		return fw_refuse(c, FW_REG_GROUP, "0x%x", grp);
	if (prm_ppcnt_reg_get_clr(reg) || prio > 7)
		return fw_refuse(c, FW_REG_VALUE, "clr %u prio_tc %u", prm_ppcnt_reg_get_clr(reg),
				 prio);
	memset(set, 0, sizeof(reg->dw) - 8);
	/* All traffic has priority 0. */
	if (grp == PRM_PPCNT_GRP_PER_PRIORITY && prio != 0)
		return 0;
	sums_make(&c->dev->stats, &sums);
	for (unsigned i = 0; i < groups[g].count; i++) {
		uint64_t v;

		memcpy(&v, (const uint8_t *)&sums + groups[g].rows[i].offset, sizeof(v));
		set[groups[g].rows[i].dword] = htobe32((uint32_t)(v >> 32));
		set[groups[g].rows[i].dword + 1] = htobe32((uint32_t)v);
	}
	return 0;
}
