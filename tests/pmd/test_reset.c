/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* rte_eth_dev_reset(): the port returns to its state after the probe, keeps its id, and works again. */

#include <rte_flow.h>
#include <rte_log.h>

#include "emu_ctl.h"
#include "pmd_test.h"

#define FRAMES 32

static const struct pmd_conf conf = { .nb_rxq = 2, .nb_txq = 2, .nb_desc = 128, .rss_hf = RTE_ETH_RSS_IP };

static void
traffic(void)
{
	for (unsigned int i = 0; i < FRAMES; i++) {
		struct pmd_frame there = pmd_frame_udp(PORT_A, PORT_B, i), back = pmd_frame_udp(PORT_B, PORT_A, i);

		CHECK(pmd_send(PORT_A, i % 2, &there) == 1 && pmd_send(PORT_B, 0, &back) == 1, "frame %u", i);
	}
	CHECK(pmd_drain(PORT_B, FRAMES, 5000, NULL) == FRAMES, "frames of the port");
	CHECK(pmd_drain(PORT_A, FRAMES, 5000, NULL) == FRAMES, "frames to the port");
}

static struct rte_flow *
flow_create(void)
{
	const struct rte_flow_attr attr = { .ingress = 1 };
	const struct rte_flow_item pattern[] = {
		{ .type = RTE_FLOW_ITEM_TYPE_ETH }, { .type = RTE_FLOW_ITEM_TYPE_END },
	};
	const struct rte_flow_action_queue queue = { .index = 1 };
	const struct rte_flow_action actions[] = {
		{ .type = RTE_FLOW_ACTION_TYPE_QUEUE, .conf = &queue }, { .type = RTE_FLOW_ACTION_TYPE_END },
	};
	struct rte_flow_error error;

	return rte_flow_create(PORT_A, &attr, pattern, actions, &error);
}

/* Queues, flows, addresses and counters are those of a port that was probed and not configured. */
static void
is_initial(const struct rte_ether_addr *first)
{
	struct rte_ether_addr mac;
	struct rte_eth_stats stats;

	CHECK(rte_eth_dev_start(PORT_A) < 0, "started without configuration");
	/* Those of the other port: its receive rings, and what it has sent and not freed. */
	CHECK(pmd_rx_held() <= 2u * conf.nb_desc + FRAMES, "%u mbufs in use", pmd_rx_held());
	CHECK_OK(rte_eth_macaddr_get(PORT_A, &mac));
	CHECK(rte_is_same_ether_addr(&mac, first), "address " RTE_ETHER_ADDR_PRT_FMT, RTE_ETHER_ADDR_BYTES(&mac));
	CHECK_OK(rte_eth_stats_get(PORT_A, &stats));
	CHECK(stats.ipackets == 0 && stats.opackets == 0, "%" PRIu64 " and %" PRIu64 " packets", stats.ipackets,
	      stats.opackets);
}

/* Of a started port with traffic, a flow and another address; then of one that is not configured. */
static void
reset(void)
{
	struct rte_ether_addr first, other = { { 0x02, 0, 0, 0, 0, 0x42 } };

	CHECK_OK(rte_eth_macaddr_get(PORT_A, &first));
	CHECK_OK(rte_eth_dev_default_mac_addr_set(PORT_A, &other));
	traffic();
	CHECK(flow_create() != NULL, "no flow");
	CHECK_OK(rte_eth_dev_reset(PORT_A));
	is_initial(&first);
	CHECK_OK(rte_eth_dev_reset(PORT_A));
	is_initial(&first);
	CHECK_OK(pmd_port_up(PORT_A, &conf));
	traffic();
}

/* One line, of what failed, besides ethdev's and the recorder's. */
static void
reset_fails(const char *op)
{
	char text[4096] = "";
	FILE *log = fmemopen(text, sizeof(text) - 1, "w");
	unsigned int lines = 0;

	CHECK(log != NULL && rte_openlog_stream(log) == 0, "no log");
	CHECK(rte_eth_dev_reset(PORT_A) < 0, "reset although %s is refused", op);
	(void)rte_openlog_stream(NULL);
	fclose(log);
	for (char *rest = text, *line; (line = strtok_r(rest, "\n", &rest)) != NULL;)
		lines += strncmp(line, "mlx", 3) == 0 && strstr(line, "are recorded") == NULL;
	CHECK(lines == 1, "%u lines of %s", lines, op);
}

/* The card refuses to be opened again: the port cannot be used, and the next reset brings it back. */
static void
refused(const char *op)
{
	struct rte_ether_addr first, mac;
	struct rte_eth_dev_info info;

	CHECK_OK(rte_eth_macaddr_get(PORT_A, &first));
	CHECK(emu_fault("on cmd.entry match op=%s port=0 do fail status=NO_RESOURCES", op) == 0, "no fault rule");
	reset_fails(op);
	CHECK(emu_fault_hits() > 0, "%s was not sent", op);
	CHECK(rte_eth_dev_start(PORT_A) < 0 && rte_eth_dev_info_get(PORT_A, &info) < 0, "usable");
	CHECK_OK(rte_eth_macaddr_get(PORT_A, &mac));
	CHECK(rte_is_same_ether_addr(&first, &mac), "another address");
	reset_fails(op);
	emu_fault_clear();
	CHECK_OK(rte_eth_dev_reset(PORT_A));
	CHECK_OK(pmd_port_up(PORT_A, &conf));
	traffic();
}

/* Closed by the end of the test, as any other port. */
static void
closed(void)
{
	CHECK(emu_fault("on cmd.entry match op=CREATE_TIS port=0 do fail status=NO_RESOURCES") == 0, "no fault rule");
	reset_fails("CREATE_TIS");
	emu_fault_clear();
}

int
main(int argc, char **argv)
{
	pmd_init(argc, argv);
	pmd_ports_up(&conf);
	reset();
	refused("QUERY_HCA_CAP");
	refused("CREATE_TIS");
	closed();
	pmd_port_down(PORT_B);
	return pmd_fini();
}
