/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Statistics of the kernel's interface by ETHTOOL_GSTRINGS and ETHTOOL_GSTATS. */
#include <errno.h>
#include <linux/ethtool.h>
#include <stdio.h>
#include <string.h>

#include "abi/abi.h"

/* Counters of the physical port ("phy") include the FCS, those of the vport do not. */
#define FCS_BYTES 4u

/* A value is the sum of two members minus others, plus the FCS bytes of `frames`. */
struct ethtool_stat {
	const char *name;
	uint16_t plus[2], minus[3], frames;
};

#define NONE UINT16_MAX
#define AT(member_) ((uint16_t)offsetof(struct emu_port_stats, member_))
#define SUM(name_, member_) {name_, {AT(member_), NONE}, {NONE, NONE, NONE}, NONE}
#define BOTH(name_, member_, other_) {name_, {AT(member_), AT(other_)}, {NONE, NONE, NONE}, NONE}
#define WIRE(name_, bytes_, frames_) {name_, {AT(bytes_), NONE}, {NONE, NONE, NONE}, AT(frames_)}
#define UNICAST(name_, all_, mcast_, bcast_) {name_, {AT(all_), NONE}, {AT(mcast_), AT(bcast_), NONE}, NONE}
#define ARRIVED(name_, all_, mcast_, bcast_, away_) \
	{name_, {AT(all_), NONE}, {AT(mcast_), AT(bcast_), AT(away_)}, NONE}
#define GROUP(name_, all_, away_) {name_, {AT(all_), NONE}, {AT(away_), NONE, NONE}, NONE}
#define ZERO(name_) {name_, {NONE, NONE}, {NONE, NONE, NONE}, NONE}
/* PPCNT, groups "per traffic class" and "per traffic class congestion" (mlx5e, en_stats.c). */
#define PRIORITY(n_) ZERO("rx_prio" #n_ "_buf_discard"), ZERO("rx_prio" #n_ "_cong_discard")

/* Names as the kernel's documentation lists them (networking/device_drivers/.../mlx5/counters). */
static const struct ethtool_stat stats_table[] = {
	ARRIVED("rx_vport_unicast_packets", rx_frames, rx_mcast_frames, rx_bcast_frames,
		rx_away_ucast_frames),
	ARRIVED("rx_vport_unicast_bytes", rx_bytes, rx_mcast_bytes, rx_bcast_bytes,
		rx_away_ucast_bytes),
	UNICAST("tx_vport_unicast_packets", tx_frames, tx_mcast_frames, tx_bcast_frames),
	UNICAST("tx_vport_unicast_bytes", tx_bytes, tx_mcast_bytes, tx_bcast_bytes),
	GROUP("rx_vport_multicast_packets", rx_mcast_frames, rx_away_mcast_frames),
	GROUP("rx_vport_multicast_bytes", rx_mcast_bytes, rx_away_mcast_bytes),
	SUM("tx_vport_multicast_packets", tx_mcast_frames),
	SUM("tx_vport_multicast_bytes", tx_mcast_bytes),
	GROUP("rx_vport_broadcast_packets", rx_bcast_frames, rx_away_bcast_frames),
	GROUP("rx_vport_broadcast_bytes", rx_bcast_bytes, rx_away_bcast_bytes),
	SUM("tx_vport_broadcast_packets", tx_bcast_frames),
	SUM("tx_vport_broadcast_bytes", tx_bcast_bytes),
	SUM("tx_packets_phy", tx_frames),
	SUM("rx_packets_phy", rx_frames),
	WIRE("tx_bytes_phy", tx_bytes, tx_frames),
	WIRE("rx_bytes_phy", rx_bytes, rx_frames),
	SUM("tx_multicast_phy", tx_mcast_frames),
	SUM("tx_broadcast_phy", tx_bcast_frames),
	SUM("rx_multicast_phy", rx_mcast_frames),
	SUM("rx_broadcast_phy", rx_bcast_frames),
	SUM("rx_oversize_pkts_phy", rx_oversize),
	{"tx_discards_phy", {AT(tx_discards), NONE}, {AT(tx_vport_down), NONE, NONE}, NONE},
	SUM("rx_discards_phy", rx_port_discards),
	SUM("rx_pause_ctrl_phy", rx_pause_frames),
	SUM("rx_crc_errors_phy", rx_fcs_errors),
	SUM("rx_undersize_pkts_phy", rx_undersize),
	BOTH("rx_steer_missed_packets", rx_filtered, rx_missed),
	/* What the interface received; it sends nothing. */
	SUM("rx_packets", rx_kernel),
	ZERO("tx_packets"),
	/* No other errors of the physical layer are modelled. */
	ZERO("rx_in_range_len_errors_phy"),
	ZERO("rx_symbol_err_phy"),
	ZERO("tx_errors_phy"),
	/* The port's buffers never fill: it sends no pause frames. */
	ZERO("tx_pause_ctrl_phy"),
	/* No receive buffers of priorities that could overflow are modelled. */
	PRIORITY(0), PRIORITY(1), PRIORITY(2), PRIORITY(3), PRIORITY(4), PRIORITY(5), PRIORITY(6), PRIORITY(7),
	/* Counters of the kernel's queues, which do not exist here. */
	ZERO("rx_wqe_err"),
};

#define STATS (sizeof(stats_table) / sizeof(stats_table[0]))

/* PPCNT, group "per priority". The port sends no pause frames. */
#define PAUSES 5
#define PAUSE(n_) \
	{SUM("rx_prio" #n_ "_pause", rx_pfc_frames[n_]), SUM("rx_prio" #n_ "_pause_duration", rx_pfc_us[n_]), \
	 ZERO("tx_prio" #n_ "_pause"), ZERO("tx_prio" #n_ "_pause_duration"), \
	 SUM("rx_prio" #n_ "_pause_transition", rx_pfc_ends[n_])}

static const struct ethtool_stat pause_table[EMU_PRIORITIES][PAUSES] = {
	PAUSE(0), PAUSE(1), PAUSE(2), PAUSE(3), PAUSE(4), PAUSE(5), PAUSE(6), PAUSE(7),
};

/* NULL after the last. Linux lists the pause frames of priorities that have some: mlx5e_query_pfc_combined(). */
static const struct ethtool_stat *
row_at(const struct emu_dev *dev, unsigned i)
{
	if (i < STATS)
		return &stats_table[i];
	i -= STATS;
	for (unsigned prio = 0; prio < EMU_PRIORITIES; prio++) {
		if (((dev->pfc_rx | dev->pfc_tx) >> prio & 1) == 0)
			continue;
		if (i < PAUSES)
			return &pause_table[prio][i];
		i -= PAUSES;
	}
	return NULL;
}

static uint64_t
stat_part(const struct emu_port_stats *s, uint16_t at)
{
	uint64_t value = 0;

	if (at != NONE)
		memcpy(&value, (const uint8_t *)s + at, sizeof(value));
	return value;
}

static uint64_t
stat_value(const struct emu_port_stats *s, const struct ethtool_stat *row)
{
	return stat_part(s, row->plus[0]) + stat_part(s, row->plus[1]) - stat_part(s, row->minus[0]) -
	       stat_part(s, row->minus[1]) - stat_part(s, row->minus[2]) +
	       FCS_BYTES * stat_part(s, row->frames);
}

uint32_t
abi_ethtool_stats_count(const struct emu_dev *dev)
{
	return STATS + PAUSES * (uint32_t)__builtin_popcount(dev->pfc_rx | dev->pfc_tx);
}

int
abi_ethtool_sset_info(const struct emu_dev *dev, void *arg)
{
	struct ethtool_sset_info *info = arg;
	const uint64_t known = info->sset_mask & (1ull << ETH_SS_STATS);

	info->sset_mask = known;
	if (known != 0)
		info->data[0] = abi_ethtool_stats_count(dev);
	return 0;
}

int
abi_ethtool_strings(const struct emu_dev *dev, void *arg)
{
	struct ethtool_gstrings *strings = arg;
	const struct ethtool_stat *row;

	if (strings->string_set != ETH_SS_STATS)
		return -EOPNOTSUPP;
	strings->len = abi_ethtool_stats_count(dev);
	for (unsigned i = 0; (row = row_at(dev, i)) != NULL; i++) {
		char *to = (char *)&strings->data[i * ETH_GSTRING_LEN];

		memset(to, 0, ETH_GSTRING_LEN);
		snprintf(to, ETH_GSTRING_LEN, "%s", row->name);
	}
	return 0;
}

int
abi_ethtool_stats(struct emu_dev *dev, void *arg)
{
	struct ethtool_stats *stats = arg;
	const struct ethtool_stat *row;

	emu_port_pfc_settle(dev, emu_mono_ns());
	stats->n_stats = abi_ethtool_stats_count(dev);
	for (unsigned i = 0; (row = row_at(dev, i)) != NULL; i++) {
		uint64_t value = stat_value(&dev->stats, row);

		memcpy(&stats->data[i], &value, sizeof(value));
	}
	return 0;
}
