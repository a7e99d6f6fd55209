/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Counters of the vport and the physical port, from commands or from the kernel interface. */

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_malloc.h>

#include "mdv_private.h"

/** Where a counter is read from: one query or register per source. */
enum counter_source {
	SOURCE_VPORT,	/**< QUERY_VPORT_COUNTER, own vport. */
	SOURCE_802_3,	/**< PPCNT, IEEE 802.3 group. */
	SOURCE_RFC_2863, /**< PPCNT, RFC 2863 group. */
	SOURCE_INTERFACE, /**< The interface only: 16 groups of PPCNT for 16 counters. */
	SOURCE_PRIORITY, /**< PPCNT, group per priority, of priority 0; those of the others follow. */
	SOURCE_PRIORITY_LAST = SOURCE_PRIORITY + 7,
	/* The sources of further counters. */
	SOURCE_RFC_2819, /**< PPCNT, RFC 2819 group. */
	SOURCE_VNIC_ENV, /**< QUERY_VNIC_ENV, own vport. */
	SOURCE_KERNEL,	/**< The interface only: what the kernel receives and sends itself. */
	SOURCE_COUNT,
};
/** Instead of a dword: the counter is read from the interface (ETHTOOL_GSTATS). */
#define BY_INTERFACE UINT16_MAX

/** Dwords in a traffic_counter (PRM, QUERY_VPORT_COUNTER). */
#define PACKETS 0
#define BYTES 2

/** A 64-bit big-endian counter in the reply of its source, whose layout names the field. */
struct counter {
	const char *name; /**< As net_mlx5 has it in xstats, if it has this counter. */
	const char *interface; /**< As ethtool -S has it; NULL: not taken from there. */
	uint16_t source, dword; /**< Added to the field's own dword. */
	const char *field;
};

#define PRIORITY(n) \
	{ "rx_prio" #n "_buf_discard_packets", "rx_prio" #n "_buf_discard", SOURCE_INTERFACE, 0, NULL }, \
	{ "rx_prio" #n "_cong_discard_packets", "rx_prio" #n "_cong_discard", SOURCE_INTERFACE, 0, NULL }

#define PAUSE(n, name) { name, name, SOURCE_PRIORITY + (n), 0
#define PAUSES(n) \
	PAUSE(n, "rx_prio" #n "_pause"), "rx_pause_high" }, \
	PAUSE(n, "rx_prio" #n "_pause_duration"), "rx_pause_duration_high" }, \
	PAUSE(n, "rx_prio" #n "_pause_transition"), "rx_pause_transition_high" }, \
	PAUSE(n, "tx_prio" #n "_pause"), "tx_pause_high" }, \
	PAUSE(n, "tx_prio" #n "_pause_duration"), "tx_pause_duration_high" }

static const struct counter counters[] = {
	{ "rx_unicast_packets", NULL, SOURCE_VPORT, PACKETS, "received_eth_unicast" },
	{ "rx_unicast_bytes", NULL, SOURCE_VPORT, BYTES, "received_eth_unicast" },
	{ "tx_unicast_packets", NULL, SOURCE_VPORT, PACKETS, "transmitted_eth_unicast" },
	{ "tx_unicast_bytes", NULL, SOURCE_VPORT, BYTES, "transmitted_eth_unicast" },
	{ "rx_multicast_packets", NULL, SOURCE_VPORT, PACKETS, "received_eth_multicast" },
	{ "rx_multicast_bytes", NULL, SOURCE_VPORT, BYTES, "received_eth_multicast" },
	{ "tx_multicast_packets", NULL, SOURCE_VPORT, PACKETS, "transmitted_eth_multicast" },
	{ "tx_multicast_bytes", NULL, SOURCE_VPORT, BYTES, "transmitted_eth_multicast" },
	{ "rx_broadcast_packets", NULL, SOURCE_VPORT, PACKETS, "received_eth_broadcast" },
	{ "rx_broadcast_bytes", NULL, SOURCE_VPORT, BYTES, "received_eth_broadcast" },
	{ "tx_broadcast_packets", NULL, SOURCE_VPORT, PACKETS, "transmitted_eth_broadcast" },
	{ "tx_broadcast_bytes", NULL, SOURCE_VPORT, BYTES, "transmitted_eth_broadcast" },
	{ "rx_vport_error_packets", NULL, SOURCE_VPORT, PACKETS, "received_errors" },
	{ "tx_vport_error_packets", NULL, SOURCE_VPORT, PACKETS, "transmit_errors" },
	{ "tx_phy_packets", "tx_packets_phy", SOURCE_802_3, 0, "a_frames_transmitted_ok_high" },
	{ "rx_phy_packets", "rx_packets_phy", SOURCE_802_3, 0, "a_frames_received_ok_high" },
	{ "rx_phy_crc_errors", "rx_crc_errors_phy", SOURCE_802_3, 0, "a_frame_check_sequence_errors_high" },
	{ "tx_phy_bytes", "tx_bytes_phy", SOURCE_802_3, 0, "a_octets_transmitted_ok_high" },
	{ "rx_phy_bytes", "rx_bytes_phy", SOURCE_802_3, 0, "a_octets_received_ok_high" },
	{ "tx_phy_multicast_packets", "tx_multicast_phy", SOURCE_802_3, 0, "a_multicast_frames_xmitted_ok_high" },
	{ "tx_phy_broadcast_packets", "tx_broadcast_phy", SOURCE_802_3, 0, "a_broadcast_frames_xmitted_ok_high" },
	{ "rx_phy_multicast_packets", "rx_multicast_phy", SOURCE_802_3, 0, "a_multicast_frames_received_ok_high" },
	{ "rx_phy_broadcast_packets", "rx_broadcast_phy", SOURCE_802_3, 0, "a_broadcast_frames_received_ok_high" },
	{ "rx_phy_in_range_len_errors", "rx_in_range_len_errors_phy", SOURCE_802_3, 0, "a_in_range_length_errors_high" },
	{ "rx_phy_out_of_range_len_errors", "rx_out_of_range_len_phy", SOURCE_802_3, 0,
	  "a_out_of_range_length_field_high" },
	{ "rx_phy_oversize_packets", "rx_oversize_pkts_phy", SOURCE_802_3, 0, "a_frame_too_long_errors_high" },
	{ "rx_phy_symbol_errors", "rx_symbol_err_phy", SOURCE_802_3, 0, "a_symbol_error_during_carrier_high" },
	{ "rx_phy_pause_packets", "rx_pause_ctrl_phy", SOURCE_802_3, 0, "a_pause_mac_ctrl_frames_received_high" },
	{ "tx_phy_pause_packets", "tx_pause_ctrl_phy", SOURCE_802_3, 0, "a_pause_mac_ctrl_frames_transmitted_high" },
	{ "rx_phy_discard_packets", "rx_discards_phy", SOURCE_RFC_2863, 0, "if_in_discards_high" },
	{ "tx_phy_discard_packets", "tx_discards_phy", SOURCE_RFC_2863, 0, "if_out_discards_high" },
	{ "tx_phy_errors", "tx_errors_phy", SOURCE_RFC_2863, 0, "if_out_errors_high" },
	PRIORITY(0), PRIORITY(1), PRIORITY(2), PRIORITY(3), PRIORITY(4), PRIORITY(5), PRIORITY(6), PRIORITY(7),
	PAUSES(0), PAUSES(1), PAUSES(2), PAUSES(3), PAUSES(4), PAUSES(5), PAUSES(6), PAUSES(7),
	{ "rx_phy_undersize_packets", "rx_undersize_pkts_phy", SOURCE_RFC_2819, 0, "ether_stats_undersize_pkts_high" },
	{ "rx_steer_missed_packets", NULL, SOURCE_VNIC_ENV, 0, "nic_receive_steering_discard" },
	{ "rx_vport_down_packets", NULL, SOURCE_VNIC_ENV, 0, "receive_discard_vport_down" },
	{ "tx_vport_down_packets", NULL, SOURCE_VNIC_ENV, 0, "transmit_discard_vport_down" },
	{ "rx_kernel_packets", "rx_packets", SOURCE_KERNEL, 0, NULL },
	{ "tx_kernel_packets", "tx_packets", SOURCE_KERNEL, 0, NULL },
};
_Static_assert(RTE_DIM(counters) <= MDV_COUNTERS_MAX, "MDV_COUNTERS_MAX");

struct mdv_counter_set {
	bool works[SOURCE_COUNT]; /**< The device supports this source. */
	unsigned int n;		/**< Entries that mdv_counters_read() reads, the first ones. */
	unsigned int all;	/**< And further ones. */
	bool by_interface;	/**< One of the first is of the interface. */
	uint32_t ethtool_count; /**< Number of statistics of the interface; 0: not used. */
	int ethtool_index[MDV_COUNTERS_MAX]; /**< By entry; -1: from a command, or missing. */
	pthread_mutex_t lock; /**< Protects all fields that a reading changes. */
	uint64_t last[MDV_COUNTERS_MAX]; /**< By entry: the last successful reading. */
	uint64_t opened[MDV_COUNTERS_MAX]; /**< By entry: when the device was opened. */
	bool failing; /**< The last reading failed, which was logged. */
	struct {
		uint16_t counter; /**< Index in counters[]: a pointer would be of one process only. */
		uint16_t dword; /**< From the start of the reply: outbox, or counter group. */
	} entry[MDV_COUNTERS_MAX];
};

/** Dword of a counter in the reply of its source, which is a command; -1 if the layout has no such field. */
static int
dword_of(const struct counter *c)
{
	static const struct prm_layout *const layouts[SOURCE_COUNT] = {
		[SOURCE_VPORT] = &prm_layout_query_vport_counter_out,
		[SOURCE_802_3] = &prm_layout_eth_802_3_cntrs_grp_data_layout,
		[SOURCE_RFC_2863] = &prm_layout_eth_2863_cntrs_grp_data_layout,
		[SOURCE_RFC_2819] = &prm_layout_eth_2819_cntrs_grp_data_layout,
		[SOURCE_PRIORITY ... SOURCE_PRIORITY_LAST] = &prm_layout_eth_per_prio_grp_data_layout,
		[SOURCE_VNIC_ENV] = &prm_layout_vnic_diagnostic_statistics,
	};
	const struct prm_layout *l = layouts[c->source];

	for (unsigned int i = 0; i < l->field_count; i++)
		if (strcmp(l->fields[i].name, c->field) == 0)
			return l->fields[i].dword + c->dword;
	return -1;
}

unsigned int
mdv_counters_unknown(void)
{
	unsigned int unknown = 0;

	for (size_t i = 0; i < RTE_DIM(counters); i++)
		unknown += counters[i].field != NULL && dword_of(&counters[i]) < 0;
	return unknown;
}

/** Largest reply of any source. */
union reply {
	struct prm_query_vport_counter_out vport;
	struct prm_query_vnic_env_out env;
	struct prm_ppcnt_reg ppcnt;
	uint32_t dw[PRM_QUERY_VPORT_COUNTER_OUT_BYTES / 4];
};

static int
read_vport(struct mdv_dev *dev, union reply *reply, bool quiet)
{
	struct prm_query_vport_counter_in in = { 0 };

	prm_query_vport_counter_in_set_opcode(&in, PRM_CMD_OP_QUERY_VPORT_COUNTER);
	return (quiet ? mdv_cmd_try : mdv_cmd)(dev, &in, sizeof(in), &reply->vport, sizeof(reply->vport));
}

static int
read_vnic_env(struct mdv_dev *dev, union reply *reply, bool quiet)
{
	struct prm_query_vnic_env_in in = { 0 };
	int rc;

	prm_query_vnic_env_in_set_opcode(&in, PRM_CMD_OP_QUERY_VNIC_ENV);
	rc = (quiet ? mdv_cmd_try : mdv_cmd)(dev, &in, sizeof(in), &reply->env, sizeof(reply->env));
	memmove(reply->dw, prm_query_vnic_env_out_vport_env(&reply->env),
		sizeof(struct prm_vnic_diagnostic_statistics));
	return rc;
}

static int
read_ppcnt(struct mdv_dev *dev, uint32_t group, uint32_t priority, union reply *reply, bool quiet)
{
	struct prm_ppcnt_reg reg = { 0 };

	prm_ppcnt_reg_set_local_port(&reg, 1);
	prm_ppcnt_reg_set_grp(&reg, group);
	prm_ppcnt_reg_set_prio_tc(&reg, priority);
	if (mdv_register_access(dev, PRM_REG_PPCNT, PRM_ACCESS_REG_OP_READ, &reg, sizeof(reg), quiet) != 0)
		return -rte_errno;
	memset(reply, 0, sizeof(*reply));
	memcpy(reply->dw, prm_ppcnt_reg_counter_set(&reg),
	       sizeof(reg) - offsetof(struct prm_ppcnt_reg, dw[2]));
	return 0;
}

static bool
is_priority(unsigned int source)
{
	return source >= SOURCE_PRIORITY && source <= SOURCE_PRIORITY_LAST;
}

/** Bits of the priorities that have pause frames in a direction. 0 also if the device does not report it. */
static uint32_t
read_pausing(struct mdv_dev *dev)
{
	struct prm_pfcc_reg reg = { 0 };

	prm_pfcc_reg_set_local_port(&reg, 1);
	if (mdv_register_access(dev, PRM_REG_PFCC, PRM_ACCESS_REG_OP_READ, &reg, sizeof(reg), true) != 0)
		return 0;
	return prm_pfcc_reg_get_pfcrx(&reg) | prm_pfcc_reg_get_pfctx(&reg);
}

/** Reads a source into reply->dw, at the offsets of its layout. 0 or -errno. */
static int
read_source(struct mdv_dev *dev, enum counter_source source, union reply *reply, bool quiet)
{
	static const uint8_t groups[SOURCE_COUNT] = {
		[SOURCE_802_3] = PRM_PPCNT_GRP_IEEE_802_3,
		[SOURCE_RFC_2863] = PRM_PPCNT_GRP_RFC_2863,
		[SOURCE_RFC_2819] = PRM_PPCNT_GRP_RFC_2819,
	};

	if (source == SOURCE_VPORT)
		return read_vport(dev, reply, quiet);
	if (source == SOURCE_VNIC_ENV)
		return read_vnic_env(dev, reply, quiet);
	if (is_priority(source))
		return read_ppcnt(dev, PRM_PPCNT_GRP_PER_PRIORITY, source - SOURCE_PRIORITY, reply, quiet);
	return read_ppcnt(dev, groups[source], 0, reply, quiet);
}

static bool
is_further(const struct counter *c)
{
	return c->source >= SOURCE_RFC_2819;
}

/** Adds counters, or further ones, of commands or of the interface: index has their places in its statistics, or -1. */
static void
entries_add(struct mdv_counter_set *set, const int *index, bool further, bool interface)
{
	int dword;

	for (size_t i = 0; i < RTE_DIM(counters); i++) {
		dword = set->works[counters[i].source] ? dword_of(&counters[i]) : -1;
		if (is_further(&counters[i]) != further || (interface ? index[i] : dword) < 0)
			continue;
		set->entry[set->all].counter = i;
		set->entry[set->all].dword = interface ? BY_INTERFACE : dword;
		set->ethtool_index[set->all++] = interface ? index[i] : -1;
	}
}

/**
 * The port counters of the kernel interface are those that no command reads: all if the device refuses PPCNT, as most
 * firmware does for ACCESS_REGISTER_USER. The kernel reads the same registers.
 */
static void
entries_find(struct mdv_dev *dev, struct mdv_counter_set *set)
{
	const char *names[RTE_DIM(counters)];
	int index[RTE_DIM(counters)];

	for (size_t i = 0; i < RTE_DIM(counters); i++)
		names[i] = set->works[counters[i].source] ? NULL : counters[i].interface;
	set->ethtool_count = mdv_ethtool_find(dev, names, RTE_DIM(counters), index);
	for (int further = 0; further <= 1; further++) {
		entries_add(set, index, further, false);
		entries_add(set, index, further, true);
		if (!further)
			set->n = set->all;
	}
	for (unsigned int i = 0; i < set->n; i++)
		set->by_interface |= set->entry[i].dword == BY_INTERFACE;
}

/** Whether commands read a source: the device answers them. pausing: bits of priorities. */
static bool
source_works(struct mdv_dev *dev, enum counter_source source, uint32_t pausing)
{
	union reply reply;

	if (source == SOURCE_INTERFACE || (is_priority(source) && (pausing >> (source - SOURCE_PRIORITY) & 1) == 0))
		return false;
	if (source == SOURCE_VPORT || source == SOURCE_VNIC_ENV)
		return dev->caps.vport_counters && read_source(dev, source, &reply, true) == 0;
	return dev->caps.access_reg_user && read_source(dev, source, &reply, true) == 0;
}

int
mdv_counters_open(struct mdv_dev *dev)
{
	struct mdv_counter_set *set = mdv_zalloc_shared(dev->name, sizeof(*set), "counters");
	uint32_t pausing;

	if (set == NULL)
		return -ENOMEM;
	/* Each is a command at each reading, so as in Linux, mlx5e_query_pfc_combined(), those without are absent. */
	pausing = dev->caps.access_reg_user ? read_pausing(dev) : 0;
	for (enum counter_source source = 0; source < SOURCE_KERNEL; source++)
		set->works[source] = source_works(dev, source, pausing);
	entries_find(dev, set);
	pthread_mutex_init(&set->lock, NULL);
	dev->counters = set;
	(void)mdv_counters_read_all(dev, set->opened);
	return 0;
}

void
mdv_counters_close(struct mdv_dev *dev)
{
	pthread_mutex_destroy(&dev->counters->lock);
	rte_free(dev->counters);
	dev->counters = NULL;
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_counters_count)
unsigned int
mdv_counters_count(const struct mdv_dev *dev)
{
	return dev->counters->n;
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_counter_name)
const char *
mdv_counter_name(const struct mdv_dev *dev, unsigned int i)
{
	return i < dev->counters->n ? counters[dev->counters->entry[i].counter].name : NULL;
}

/** Looks up the names again: the set of statistics changes with the use of the interface. */
static int
interface_find(struct mdv_dev *dev, struct mdv_counter_set *set)
{
	const char *names[MDV_COUNTERS_MAX];
	int index[MDV_COUNTERS_MAX];
	uint32_t count;

	for (unsigned int i = 0; i < set->all; i++)
		names[i] = set->entry[i].dword == BY_INTERFACE ? counters[set->entry[i].counter].interface : NULL;
	count = mdv_ethtool_find(dev, names, set->all, index);
	if (count == 0)
		return -ENODATA;
	set->ethtool_count = count;
	for (unsigned int i = 0; i < set->all; i++)
		set->ethtool_index[i] = index[i];
	return 0;
}

static int
take_interface(struct mdv_dev *dev, struct mdv_counter_set *set)
{
	uint64_t fresh[MDV_COUNTERS_MAX];
	int rc = mdv_ethtool_read(dev, set->ethtool_count, set->ethtool_index, set->all, fresh);

	if (rc == -ESTALE) {
		rc = interface_find(dev, set);
		if (rc == 0)
			rc = mdv_ethtool_read(dev, set->ethtool_count, set->ethtool_index, set->all, fresh);
	}
	for (unsigned int i = 0; rc == 0 && i < set->all; i++)
		if (set->ethtool_index[i] >= 0)
			set->last[i] = fresh[i];
	return rc;
}

static int
take_source(struct mdv_dev *dev, struct mdv_counter_set *set, enum counter_source source)
{
	union reply reply;

	/* Log the first failure only. */
	if (read_source(dev, source, &reply, set->failing) != 0)
		return -rte_errno;
	for (unsigned int i = 0; i < set->all; i++) {
		unsigned int dword = set->entry[i].dword;

		if (counters[set->entry[i].counter].source == source && dword != BY_INTERFACE)
			set->last[i] = (uint64_t)rte_be_to_cpu_32(reply.dw[dword]) << 32 |
				       rte_be_to_cpu_32(reply.dw[dword + 1]);
	}
	return 0;
}

/** further: reads the sources of further counters, too. */
static int
read_entries(struct mdv_dev *dev, uint64_t *values, unsigned int n, bool further)
{
	struct mdv_counter_set *set = dev->counters;
	const bool removed = mdv_removed(dev);
	int rc = 0, err;

	pthread_mutex_lock(&set->lock);
	if (!removed && set->ethtool_count != 0 && (set->by_interface || further))
		rc = take_interface(dev, set);
	if (rc != 0 && !set->failing)
		MDV_LOG_ERR(dev, "%s the statistics of interface %s: %s: keeping the last values",
			    rc == -ENOMEM ? "no memory for" : "cannot read", dev->netdev_name, mdv_errno_name(-rc));
	for (int source = 0; !removed && source < (further ? SOURCE_COUNT : SOURCE_RFC_2819); source++) {
		err = set->works[source] ? take_source(dev, set, source) : 0;
		rc = rc == 0 ? err : rc;
	}
	set->failing = rc != 0;
	rc = removed ? -ENODEV : rc;
	memcpy(values, set->last, n * sizeof(values[0]));
	pthread_mutex_unlock(&set->lock);
	return rc == 0 ? 0 : mdv_fail(-rc);
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_counters_read)
int
mdv_counters_read(struct mdv_dev *dev, uint64_t *values, unsigned int n)
{
	return read_entries(dev, values, RTE_MIN(n, dev->counters->n), false);
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_counters_read_all)
int
mdv_counters_read_all(struct mdv_dev *dev, uint64_t *values)
{
	return read_entries(dev, values, dev->counters->all, true);
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_counters_opened)
const uint64_t *
mdv_counters_opened(const struct mdv_dev *dev)
{
	return dev->counters->opened;
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_counters_find)
int
mdv_counters_find(const struct mdv_dev *dev, const char *name)
{
	const struct mdv_counter_set *set = dev->counters;

	for (unsigned int i = 0; i < set->all; i++)
		if (strcmp(counters[set->entry[i].counter].name, name) == 0)
			return i;
	return -ENOENT;
}
