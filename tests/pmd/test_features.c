/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * The list of features for DPDK's guide, which is made from doc/guide/mlxpmd.md, has what a port offers and nothing
 * else. DPDK's doc/guides/nics/features.rst defines what makes a feature: operations, offloads, flags.
 */

#include <ethdev_driver.h>
#include <rte_flow_driver.h>

#include "pmd_test.h"

#define OP(name) (ops->name != NULL)
#define MAX_LINES 128

struct feature {
	const char *name;
	unsigned int has, of;	/* Number of its parts that the port offers, and of all. */
};

static struct rte_eth_dev_info info;
static char listed[MAX_LINES][2][32];
static unsigned int lines;

/* Rows of the list; what has no value does not count. */
static void
list_read(const char *path)
{
	FILE *f = fopen(path, "r");
	bool section = false;
	char line[128];

	CHECK(f != NULL, "%s", path);
	while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
		char *value = strchr(line, '=');
		size_t n = value == NULL ? 0 : strcspn(line, "=");

		if (line[0] == '[')
			section = strncmp(line, "[Features]", strlen("[Features]")) == 0;
		if (!section || line[0] == ';' || value == NULL || lines == MAX_LINES || n >= sizeof(listed[0][0]))
			continue;
		while (n != 0 && line[n - 1] == ' ')
			n--;
		memcpy(listed[lines][0], line, n);
		sscanf(value + 1, " %31s", listed[lines][1]);
		lines++;
	}
	if (f != NULL)
		fclose(f);
	CHECK(lines > 10, "%u rows", lines);
}

static unsigned int
rx(uint64_t offloads)
{
	return (info.rx_offload_capa & offloads) == offloads;
}

static unsigned int
tx(uint64_t offloads)
{
	return (info.tx_offload_capa & offloads) == offloads;
}

/* Y: all parts of the feature, P: some, empty: none. */
static void
feature_check(const struct feature *f)
{
	const char *offered = f->has == f->of ? "Y" : f->has != 0 ? "P" : "";
	const char *value = "";
	unsigned int i;

	for (i = 0; i < lines; i++)
		if (strcmp(listed[i][0], f->name) == 0) {
			value = listed[i][1];
			listed[i][0][0] = '\0';
		}
	CHECK(strcmp(offered, value) == 0, "%s: the list has \"%s\", the port offers \"%s\"", f->name, value, offered);
}

/* What operations and flags show. */
static void
features_of_ops(const struct rte_eth_dev *dev, const struct eth_dev_ops *ops)
{
	const uint32_t flags = *info.dev_flags;
	const struct feature features[] = {
		{ "Speed capabilities", info.speed_capa != 0, 1 },
		{ "Link status", OP(link_update), 1 },
		{ "Link status event", (flags & RTE_ETH_DEV_INTR_LSC) != 0, 1 },
		{ "Removal event", (flags & RTE_ETH_DEV_INTR_RMV) != 0, 1 },
		{ "Rx interrupt", OP(rx_queue_intr_enable) + OP(rx_queue_intr_disable), 2 },
		{ "Free Tx mbuf on demand", OP(tx_done_cleanup), 1 },
		{ "Queue start/stop", OP(rx_queue_start) + OP(rx_queue_stop) + OP(tx_queue_start) + OP(tx_queue_stop), 4 },
		{ "Runtime Rx queue setup", (info.dev_capa & RTE_ETH_DEV_CAPA_RUNTIME_RX_QUEUE_SETUP) != 0, 1 },
		{ "Runtime Tx queue setup", (info.dev_capa & RTE_ETH_DEV_CAPA_RUNTIME_TX_QUEUE_SETUP) != 0, 1 },
		{ "Shared Rx queue", (info.dev_capa & RTE_ETH_DEV_CAPA_RXQ_SHARE) != 0, 1 },
		{ "Burst mode info", OP(rx_burst_mode_get) + OP(tx_burst_mode_get), 2 },
		{ "Power mgmt address monitor", OP(get_monitor_addr), 1 },
		{ "MTU update", OP(mtu_set), 1 },
		{ "Promiscuous mode", OP(promiscuous_enable) + OP(promiscuous_disable), 2 },
		{ "Allmulticast mode", OP(allmulticast_enable) + OP(allmulticast_disable), 2 },
		{ "Unicast MAC filter", OP(mac_addr_set) + OP(mac_addr_add) + OP(mac_addr_remove), 3 },
		{ "Multicast MAC filter", OP(set_mc_addr_list), 1 },
		{ "RSS key update", OP(rss_hash_update) + OP(rss_hash_conf_get), 2 },
		{ "RSS reta update", OP(reta_update) + OP(reta_query), 2 },
		{ "VLAN filter", OP(vlan_filter_set) + rx(RTE_ETH_RX_OFFLOAD_VLAN_FILTER), 2 },
		{ "Flow control", OP(flow_ctrl_get) + OP(flow_ctrl_set), 2 },
		{ "Rate limitation", OP(set_queue_rate_limit), 1 },
		{ "Congestion management", OP(cman_info_get), 1 },
		{ "Traffic manager", OP(tm_ops_get), 1 },
		{ "VLAN offload", OP(vlan_offload_set) + rx(RTE_ETH_RX_OFFLOAD_VLAN_STRIP) +
		  tx(RTE_ETH_TX_OFFLOAD_VLAN_INSERT), 3 },
		{ "FEC", OP(fec_get) + OP(fec_set), 2 },
		{ "IP reassembly", OP(ip_reassembly_capability_get), 1 },
		{ "Packet type parsing", OP(dev_supported_ptypes_get), 1 },
		{ "Timesync", OP(timesync_enable) + OP(timesync_disable) + OP(timesync_read_rx_timestamp) +
		  OP(timesync_read_tx_timestamp) + OP(timesync_adjust_time) + OP(timesync_read_time) +
		  OP(timesync_write_time), 7 },
		{ "Rx descriptor status", dev->rx_descriptor_status != NULL, 1 },
		{ "Tx descriptor status", dev->tx_descriptor_status != NULL, 1 },
		{ "Basic stats", OP(stats_get) + OP(stats_reset), 2 },
		{ "Extended stats", OP(xstats_get) + OP(xstats_reset) + OP(xstats_get_names), 3 },
		{ "Stats per queue", OP(stats_get) + ((flags & RTE_ETH_DEV_AUTOFILL_QUEUE_XSTATS) != 0 ||
						       pmd_xstat(PORT_A, "rx_q0_packets") != UINT64_MAX), 2 },
		{ "FW version", OP(fw_version_get), 1 },
		{ "EEPROM dump", OP(get_eeprom), 1 },
		{ "Module EEPROM dump", OP(get_module_info) + OP(get_module_eeprom), 2 },
		{ "Registers dump", OP(get_reg), 1 },
		{ "LED", OP(dev_led_on) + OP(dev_led_off), 2 },
	};
	unsigned int i;

	for (i = 0; i < RTE_DIM(features); i++)
		feature_check(&features[i]);
}

/* What offloads show, and what nothing does. */
static void
features_others(void)
{
	const struct feature features[] = {
		{ "Lock-free Tx queue", tx(RTE_ETH_TX_OFFLOAD_MT_LOCKFREE), 1 },
		{ "Fast mbuf free", tx(RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE), 1 },
		{ "Buffer split on Rx", rx(RTE_ETH_RX_OFFLOAD_BUFFER_SPLIT), 1 },
		{ "Scattered Rx", rx(RTE_ETH_RX_OFFLOAD_SCATTER), 1 },
		{ "TSO", tx(RTE_ETH_TX_OFFLOAD_TCP_TSO), 1 },
		{ "RSS hash", (info.flow_type_rss_offloads != 0) + rx(RTE_ETH_RX_OFFLOAD_RSS_HASH), 2 },
		{ "Inline crypto", rx(RTE_ETH_RX_OFFLOAD_SECURITY) + tx(RTE_ETH_TX_OFFLOAD_SECURITY), 2 },
		{ "CRC offload", rx(RTE_ETH_RX_OFFLOAD_KEEP_CRC), 1 },
		{ "QinQ offload", rx(RTE_ETH_RX_OFFLOAD_QINQ_STRIP) + tx(RTE_ETH_TX_OFFLOAD_QINQ_INSERT), 2 },
		{ "L3 checksum offload", rx(RTE_ETH_RX_OFFLOAD_IPV4_CKSUM) + tx(RTE_ETH_TX_OFFLOAD_IPV4_CKSUM), 2 },
		{ "L4 checksum offload", rx(RTE_ETH_RX_OFFLOAD_TCP_CKSUM | RTE_ETH_RX_OFFLOAD_UDP_CKSUM) +
		  tx(RTE_ETH_TX_OFFLOAD_TCP_CKSUM | RTE_ETH_TX_OFFLOAD_UDP_CKSUM), 2 },
		{ "Timestamp offload", rx(RTE_ETH_RX_OFFLOAD_TIMESTAMP), 1 },
		{ "MACsec offload", rx(RTE_ETH_RX_OFFLOAD_MACSEC_STRIP) + tx(RTE_ETH_TX_OFFLOAD_MACSEC_INSERT), 2 },
		{ "Inner L3 checksum", rx(RTE_ETH_RX_OFFLOAD_OUTER_IPV4_CKSUM) + tx(RTE_ETH_TX_OFFLOAD_OUTER_IPV4_CKSUM), 2 },
		{ "Inner L4 checksum", rx(RTE_ETH_RX_OFFLOAD_OUTER_UDP_CKSUM) + tx(RTE_ETH_TX_OFFLOAD_OUTER_UDP_CKSUM), 2 },
		/* Nothing that this port reports shows these; their tests are in features.yaml. */
		{ "Queue status event", 1, 1 },
		{ "Inner RSS", 1, 1 },
		{ "LRO", 1, 1 }, /* With mprq_en=1. */
		{ "SR-IOV", 1, 1 }, /* Virtual functions, which the kernel creates. */
		{ "Multiprocess aware", 1, 2 }, /* Not all of ethdev. */
		{ "Linux", 1, 1 },
		{ "x86-64", 1, 1 },
		{ "Usage doc", 1, 1 },
		{ "Design doc", 1, 1 },
	};
	unsigned int i;

	for (i = 0; i < RTE_DIM(features); i++)
		feature_check(&features[i]);
}

/* ethdev calls the functions of flow queues without looking whether there are any. Before 24.03 all are flow_ops. */
static void
flow_queue_ops_check(const struct rte_eth_dev *dev)
{
#ifdef TEST_FLOW_FP_OPS
	/* Behind the last function there is padding. */
	void (*ours[sizeof(*dev->flow_fp_ops) / sizeof(void (*)(void))])(void), (*all[RTE_DIM(ours)])(void);
	unsigned int i, n = 0;

	memcpy(ours, dev->flow_fp_ops, sizeof(ours));
	memcpy(all, &rte_flow_fp_default_ops, sizeof(all));
	for (i = 0; i < RTE_DIM(ours); i++) {
		CHECK(ours[i] != NULL || all[i] == NULL, "function %u of rte_flow_fp_ops", i);
		n += all[i] != NULL;
	}
	CHECK(n >= 14, "%u functions", n);
#endif
	CHECK(dev->dev_ops->flow_ops_get != NULL);
}

/* Forward error correction by no mode: not all releases of ethdev refuse it. */
static void
fec_none_check(struct rte_eth_dev *dev)
{
	uint32_t before = 0, after = 1;

	CHECK_OK(rte_eth_fec_get(PORT_A, &before));
	CHECK(dev->dev_ops->fec_set(dev, 0) == -EINVAL && rte_errno == EINVAL, "rte_errno %d", rte_errno);
	CHECK_OK(rte_eth_fec_get(PORT_A, &after));
	CHECK(before == after, "0x%x after 0x%x", after, before);
}

static void
features_check(void)
{
	unsigned int i;

	features_of_ops(&rte_eth_devices[PORT_A], rte_eth_devices[PORT_A].dev_ops);
	features_others();
	flow_queue_ops_check(&rte_eth_devices[PORT_A]);
	fec_none_check(&rte_eth_devices[PORT_A]);
	for (i = 0; i < lines; i++)
		CHECK(listed[i][0][0] == '\0', "%s: this test does not know the feature", listed[i][0]);
}

int
main(int argc, char **argv)
{
	const struct pmd_conf conf = { .nb_rxq = 1, .nb_txq = 1, .nb_desc = 64 };
	struct pmd_frame frame;

	pmd_init(argc, argv);
	list_read(getenv("PMD_TEST_FEATURES"));
	CHECK_OK(rte_eth_dev_info_get(PORT_A, &info));
	pmd_ports_up(&conf);
	features_check();
	frame = pmd_frame_udp(PORT_B, PORT_A, 0);
	CHECK(pmd_arrives(&frame), "no frame arrives");
	pmd_ports_down();
	return pmd_fini();
}
