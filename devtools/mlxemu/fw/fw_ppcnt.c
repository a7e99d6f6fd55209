/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Counter groups of register PPCNT, computed from the port's counters. */
#include <endian.h>
#include <stddef.h>
#include <string.h>

#include "fw.h"

/* Port counters include the FCS, which frames in memory do not have. */
#define FCS_BYTES 4u

/** Sums that the groups are computed from; bytes include the FCS. */
struct wire_sums {
	uint64_t tx, rx, tx_octets, rx_octets;
	uint64_t tx_uc, tx_mc, tx_bc, rx_uc, rx_mc, rx_bc;
	uint64_t rx_too_long, rx_short, rx_fcs, rx_errors, rx_pause, tx_discards, rx_discards;
	uint64_t rx_all, rx_all_octets; /* With damaged frames. */
	uint64_t rx_stopped_us, rx_ends; /* By pause frames of a priority. */
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
	w->rx_pause = s->rx_pause_frames;
	w->tx_discards = s->tx_discards - s->tx_vport_down;
	w->rx_short = s->rx_undersize;
	w->rx_fcs = s->rx_fcs_errors;
	w->rx_errors = w->rx_too_long + w->rx_short + w->rx_fcs;
	w->rx_discards = s->rx_port_discards;
	w->rx_all = w->rx + w->rx_errors;
	w->rx_all_octets = w->rx_octets + s->rx_damaged_bytes + FCS_BYTES * w->rx_errors;
}

/** One 64-bit counter of a group: dword of its high half, member of wire_sums. */
struct group_row {
	uint8_t dword;
	uint8_t offset;
};
#define ROW(dword_, member_) {dword_, offsetof(struct wire_sums, member_)}

/* The high half of each counter; *_low follows *_high. */
#define IEEE_802_3(field_, member_) \
	ROW(PRM_ETH_802_3_CNTRS_GRP_DATA_LAYOUT_##field_##_HIGH_DW, member_)
#define RFC_2863(field_, member_) \
	ROW(PRM_ETH_2863_CNTRS_GRP_DATA_LAYOUT_##field_##_HIGH_DW, member_)
#define RFC_2819(field_, member_) \
	ROW(PRM_ETH_2819_CNTRS_GRP_DATA_LAYOUT_##field_##_HIGH_DW, member_)
#define RFC_3635(field_, member_) \
	ROW(PRM_ETH_3635_CNTRS_GRP_DATA_LAYOUT_##field_##_HIGH_DW, member_)
#define PER_PRIO(field_, member_) \
	ROW(PRM_ETH_PER_PRIO_GRP_DATA_LAYOUT_##field_##_HIGH_DW, member_)

static const struct group_row ieee_802_3[] = {
	IEEE_802_3(A_FRAMES_TRANSMITTED_OK, tx),
	IEEE_802_3(A_FRAMES_RECEIVED_OK, rx),
	IEEE_802_3(A_FRAME_CHECK_SEQUENCE_ERRORS, rx_fcs),
	IEEE_802_3(A_OCTETS_TRANSMITTED_OK, tx_octets),
	IEEE_802_3(A_OCTETS_RECEIVED_OK, rx_octets),
	IEEE_802_3(A_MULTICAST_FRAMES_XMITTED_OK, tx_mc),
	IEEE_802_3(A_BROADCAST_FRAMES_XMITTED_OK, tx_bc),
	IEEE_802_3(A_MULTICAST_FRAMES_RECEIVED_OK, rx_mc),
	IEEE_802_3(A_BROADCAST_FRAMES_RECEIVED_OK, rx_bc),
	IEEE_802_3(A_FRAME_TOO_LONG_ERRORS, rx_too_long),
	IEEE_802_3(A_PAUSE_MAC_CTRL_FRAMES_RECEIVED, rx_pause),
};
static const struct group_row rfc_2863[] = {
	RFC_2863(IF_IN_OCTETS, rx_octets),
	RFC_2863(IF_IN_UCAST_PKTS, rx_uc),
	RFC_2863(IF_IN_DISCARDS, rx_discards),
	RFC_2863(IF_IN_ERRORS, rx_errors),
	RFC_2863(IF_OUT_OCTETS, tx_octets),
	RFC_2863(IF_OUT_UCAST_PKTS, tx_uc),
	RFC_2863(IF_OUT_DISCARDS, tx_discards),
	RFC_2863(IF_IN_MULTICAST_PKTS, rx_mc),
	RFC_2863(IF_IN_BROADCAST_PKTS, rx_bc),
	RFC_2863(IF_OUT_MULTICAST_PKTS, tx_mc),
	RFC_2863(IF_OUT_BROADCAST_PKTS, tx_bc),
};
static const struct group_row rfc_2819[] = {
	RFC_2819(ETHER_STATS_OCTETS, rx_all_octets),
	RFC_2819(ETHER_STATS_PKTS, rx_all),
	RFC_2819(ETHER_STATS_BROADCAST_PKTS, rx_bc),
	RFC_2819(ETHER_STATS_MULTICAST_PKTS, rx_mc),
	RFC_2819(ETHER_STATS_CRC_ALIGN_ERRORS, rx_fcs),
	RFC_2819(ETHER_STATS_UNDERSIZE_PKTS, rx_short),
	RFC_2819(ETHER_STATS_OVERSIZE_PKTS, rx_too_long),
};
static const struct group_row rfc_3635[] = {
	RFC_3635(DOT3STATS_FCS_ERRORS, rx_fcs),
	RFC_3635(DOT3STATS_FRAME_TOO_LONGS, rx_too_long),
};
static const struct group_row per_priority[] = {
	PER_PRIO(RX_OCTETS, rx_octets),
	PER_PRIO(RX_FRAMES, rx),
	PER_PRIO(TX_OCTETS, tx_octets),
	PER_PRIO(TX_FRAMES, tx),
	PER_PRIO(RX_PAUSE, rx_pause),
	PER_PRIO(RX_PAUSE_DURATION, rx_stopped_us),
	PER_PRIO(RX_PAUSE_TRANSITION, rx_ends),
	/* The port's buffers never fill: it sends no pause frames. */
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
	/* The physical layer has only errors of fault rules: no symbol errors, corrected blocks, or congestion. */
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
	const struct emu_port_stats *s = &c->dev->stats;
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
	memset(&sums, 0, sizeof(sums));
	sums_make(s, &sums);
	if (grp == PRM_PPCNT_GRP_PER_PRIORITY) {
		/* All traffic has priority 0. */
		if (prio != 0)
			memset(&sums, 0, sizeof(sums));
		emu_port_pfc_settle(c->dev, emu_mono_ns());
		sums.rx_pause = s->rx_pfc_frames[prio];
		sums.rx_stopped_us = s->rx_pfc_us[prio];
		sums.rx_ends = s->rx_pfc_ends[prio];
	}
	for (unsigned i = 0; i < groups[g].count; i++) {
		uint64_t v;

		memcpy(&v, (const uint8_t *)&sums + groups[g].rows[i].offset, sizeof(v));
		set[groups[g].rows[i].dword] = htobe32((uint32_t)(v >> 32));
		set[groups[g].rows[i].dword + 1] = htobe32((uint32_t)v);
	}
	return 0;
}
