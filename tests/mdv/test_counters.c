/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Counters of the vport and the physical port. The program's own mlx5dv_devx_general_cmd() replaces that of libmlx5 and
 * puts into each dword of a reply its number, so that a counter's value is its place.
 */

#include <dlfcn.h>
#include <string.h>

#include <rte_byteorder.h>

#include "mdv_test.h"

/** Before the data of an access to a register: opcode, register and argument; status and syndrome. */
#define REGISTER_HEAD_DW 4
/** Of PPCNT: the group's number, in bits 5..0, is in the first dword, the counters begin after the second. */
#define PPCNT_GRP_MASK 0x3f
#define PPCNT_HEAD_DW 2
/** Added to dwords of the PPCNT groups, to distinguish the sources. */
#define OF_802_3 0x1000
#define OF_RFC_2863 0x2000
/** Of a priority, at this distance. */
#define OF_PRIORITIES 0x3000
#define PRIORITY_DW 0x100
/** The device is opened when these have pause frames, in one direction or in both. */
#define PAUSING_RX 0x24
#define PAUSING_TX 0x84

static bool numbered;

/** The group of PPCNT, and of a priority the priority. */
static uint32_t
base_of(const uint32_t *in)
{
	const struct prm_ppcnt_reg *reg = (const void *)&in[REGISTER_HEAD_DW];

	switch (rte_be_to_cpu_32(in[REGISTER_HEAD_DW]) & PPCNT_GRP_MASK) {
	case 0:
		return OF_802_3;
	case 0x10:
		return OF_PRIORITIES + prm_ppcnt_reg_get_prio_tc(reg) * PRIORITY_DW;
	default:
		return OF_RFC_2863;
	}
}

static void
number(const uint32_t *in, uint32_t *out, size_t out_dwords)
{
	uint32_t opcode = rte_be_to_cpu_32(in[0]) >> 16, register_id = rte_be_to_cpu_32(in[2]) & 0xffff, base = 0;
	size_t head = 4;

	if (opcode == PRM_CMD_OP_ACCESS_REGISTER || opcode == PRM_CMD_OP_ACCESS_REGISTER_USER) {
		if (register_id == PRM_REG_PFCC) {
			prm_pfcc_reg_set_pfcrx((void *)&out[REGISTER_HEAD_DW], PAUSING_RX);
			prm_pfcc_reg_set_pfctx((void *)&out[REGISTER_HEAD_DW], PAUSING_TX);
		}
		if (register_id != PRM_REG_PPCNT)
			return;
		head = REGISTER_HEAD_DW + PPCNT_HEAD_DW;
		base = base_of(in) - head;
	} else if (opcode != PRM_CMD_OP_QUERY_VPORT_COUNTER) {
		return;
	}
	for (size_t i = head; numbered && i < out_dwords; i++)
		out[i] = rte_cpu_to_be_32(base + i);
}

int
mlx5dv_devx_general_cmd(struct ibv_context *ctx, const void *in, size_t in_bytes, void *out, size_t out_bytes)
{
	static int (*next)(struct ibv_context *, const void *, size_t, void *, size_t);
	int rc;

	if (next == NULL)
		*(void **)&next = dlsym(RTLD_NEXT, "mlx5dv_devx_general_cmd");
	rc = next(ctx, in, in_bytes, out, out_bytes);
	if (rc == 0)
		number(in, out, out_bytes / 4);
	return rc;
}

/** Counters of pause frames by priority: found, and from their places, eth_per_prio_grp_data_layout. */
static unsigned int
check_priority(const struct mdv_dev *dev, const char *name, uint64_t value)
{
	static const struct {
		const char *name;
		uint32_t dword;
	} places[] = {
		{ "rx_prio%u_pause", 20 }, { "rx_prio%u_pause_duration", 22 }, { "tx_prio%u_pause", 24 },
		{ "tx_prio%u_pause_duration", 26 }, { "rx_prio%u_pause_transition", 28 },
	};
	uint64_t dword;
	char text[64];

	for (unsigned int i = 0; i < RTE_DIM(places) * 8; i++) {
		snprintf(text, sizeof(text), places[i / 8].name, i % 8);
		if (strcmp(name, text) != 0)
			continue;
		dword = OF_PRIORITIES + i % 8 * PRIORITY_DW + places[i / 8].dword;
		CHECK(dev->caps.access_reg_user && ((PAUSING_RX | PAUSING_TX) >> i % 8 & 1) != 0);
		CHECK_EQ(value, dword << 32 | (dword + 1));
		return 1;
	}
	/* Discards of priorities come from the interface always. */
	return strncmp(name, "rx_prio", 7) == 0 && strstr(name, "_discard_") != NULL;
}

/**
 * Each counter is taken from its place: PRM, QUERY_VPORT_COUNTER and PPCNT; mlx5_ifc.h of Linux has the same order in
 * query_vport_counter_out, eth_802_3_cntrs_grp_data_layout and eth_2863_cntrs_grp_data_layout.
 */
static void
check_offsets(struct mdv_dev *dev)
{
	static const struct {
		const char *name;
		uint32_t dword;
	} places[] = {
		{ "rx_vport_error_packets", 4 }, { "tx_vport_error_packets", 8 },
		{ "rx_broadcast_packets", 28 }, { "rx_broadcast_bytes", 30 },
		{ "tx_broadcast_packets", 32 }, { "tx_broadcast_bytes", 34 },
		{ "rx_unicast_packets", 36 }, { "rx_unicast_bytes", 38 },
		{ "tx_unicast_packets", 40 }, { "tx_unicast_bytes", 42 },
		{ "rx_multicast_packets", 44 }, { "rx_multicast_bytes", 46 },
		{ "tx_multicast_packets", 48 }, { "tx_multicast_bytes", 50 },
		{ "tx_phy_packets", OF_802_3 }, { "rx_phy_packets", OF_802_3 + 2 },
		{ "rx_phy_crc_errors", OF_802_3 + 4 }, { "tx_phy_bytes", OF_802_3 + 8 },
		{ "rx_phy_bytes", OF_802_3 + 10 }, { "tx_phy_multicast_packets", OF_802_3 + 12 },
		{ "tx_phy_broadcast_packets", OF_802_3 + 14 }, { "rx_phy_multicast_packets", OF_802_3 + 16 },
		{ "rx_phy_broadcast_packets", OF_802_3 + 18 }, { "rx_phy_in_range_len_errors", OF_802_3 + 20 },
		{ "rx_phy_out_of_range_len_errors", OF_802_3 + 22 }, { "rx_phy_oversize_packets", OF_802_3 + 24 },
		{ "rx_phy_symbol_errors", OF_802_3 + 26 }, { "rx_phy_pause_packets", OF_802_3 + 34 },
		{ "tx_phy_pause_packets", OF_802_3 + 36 }, { "rx_phy_discard_packets", OF_RFC_2863 + 4 },
		{ "tx_phy_discard_packets", OF_RFC_2863 + 14 }, { "tx_phy_errors", OF_RFC_2863 + 16 },
	};
	unsigned int n = mdv_counters_count(dev), found = 0, pauses = 0;
	uint64_t values[MDV_COUNTERS_MAX] = { 0 };

	numbered = true;
	CHECK_EQ(mdv_counters_read(dev, values, n), 0);
	numbered = false;
	for (unsigned int i = 0; i < n; i++) {
		found += check_priority(dev, mdv_counter_name(dev, i), values[i]);
		pauses += strstr(mdv_counter_name(dev, i), "_prio") != NULL && strstr(mdv_counter_name(dev, i), "_pause") != NULL;
		for (unsigned int j = 0; j < RTE_DIM(places); j++) {
			if (strcmp(mdv_counter_name(dev, i), places[j].name) != 0)
				continue;
			found++;
			/* A card that has no registers for users: its physical counters come from the interface. */
			if (!dev->caps.access_reg_user && places[j].dword >= OF_802_3)
				continue;
			CHECK_EQ(values[i], (uint64_t)places[j].dword << 32 | (places[j].dword + 1));
		}
	}
	CHECK_EQ(found, n);
	CHECK_EQ(pauses, dev->caps.access_reg_user ? 3 * 5 : 0);
}

/** Further counters are behind the others, are read with them only by mdv_counters_read_all(), and do not go back. */
static void
check_further(struct mdv_dev *dev)
{
	static const char *const names[] = { "rx_phy_undersize_packets", "rx_steer_missed_packets", "rx_vport_down_packets",
					     "tx_vport_down_packets", "rx_kernel_packets", "tx_kernel_packets" };
	uint64_t values[MDV_COUNTERS_MAX], some[MDV_COUNTERS_MAX];
	const int n = mdv_counters_count(dev);
	int found = 0, at;

	CHECK_EQ(mdv_counters_read_all(dev, values), 0);
	CHECK_EQ(mdv_counters_read(dev, some, n), 0);
	for (unsigned int i = 0; i < RTE_DIM(names); i++) {
		at = mdv_counters_find(dev, names[i]);
		CHECK(at == -ENOENT || at >= n);
		found += at >= n;
		CHECK(at < 0 || values[at] >= mdv_counters_opened(dev)[at]);
	}
	/* Of the interface there are two, if there is one. */
	CHECK(found == RTE_DIM(names) || found == RTE_DIM(names) - 2);
	for (int i = 0; i < n; i++) {
		CHECK_EQ(mdv_counters_find(dev, mdv_counter_name(dev, i)), i);
		CHECK(some[i] >= values[i]);
	}
	CHECK_EQ(mdv_counters_find(dev, "none"), -ENOENT);
}

void
test_counters(struct mdv_dev *dev)
{
	unsigned int n = mdv_counters_count(dev);
	uint64_t values[MDV_COUNTERS_MAX + 1];

	CHECK(n >= 14 && n <= MDV_COUNTERS_MAX);
	for (unsigned int i = 0; i < n; i++) {
		REQUIRE(mdv_counter_name(dev, i) != NULL);
		for (unsigned int j = 0; j < i; j++)
			CHECK(strcmp(mdv_counter_name(dev, i), mdv_counter_name(dev, j)) != 0);
	}
	CHECK(mdv_counter_name(dev, n) == NULL);
	memset(values, 0xa5, sizeof(values));
	CHECK_EQ(mdv_counters_read(dev, values, n), 0);
	for (unsigned int i = 0; i < n; i++)
		CHECK(values[i] < 1ull << 40);
	/* With a larger buffer than needed only the existing counters are written. */
	CHECK_EQ(mdv_counters_read(dev, values, n + 1), 0);
	CHECK_EQ(values[n], 0xa5a5a5a5a5a5a5a5);
	values[1] = 0xa5;
	CHECK_EQ(mdv_counters_read(dev, values, 1), 0);
	CHECK_EQ(values[1], 0xa5);
	check_further(dev);
	check_offsets(dev);
}
