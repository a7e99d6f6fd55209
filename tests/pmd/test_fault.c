/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Any one firmware command after probe is refused: the operation fails, a second try works, and the
 * port then passes traffic. Run once for each command by fault.py; without a fault it counts them.
 */

#include <rte_cycles.h>
#include <rte_errno.h>

#include "pmd_test.h"

#define QUEUES 2

static unsigned int refused;

/* At most one refusal in the whole run, and what failed works when it is tried a second later. */
#define TWICE(call) \
	do { \
		int rc_ = (call); \
		if (rc_ < 0) { \
			printf("%s: %d\n", #call, rc_); \
			refused++; \
			rte_delay_us_sleep(1100000); \
			rc_ = (call); \
		} \
		CHECK(rc_ >= 0, "%s failed twice: %d", #call, rc_); \
	} while (0)

static void
traffic(const char *when)
{
	struct pmd_frame f;
	unsigned int i, got;

	for (i = 0; i < 20; i++) {
		f = pmd_frame_udp(PORT_B, PORT_A, i);
		CHECK(pmd_send(PORT_B, 0, &f) == 1, "%s: frame %u", when, i);
	}
	got = pmd_drain(PORT_A, 20, 2000, NULL);
	CHECK(got == 20, "%s: %u of 20 frames", when, got);
}

static void
operations(void)
{
	struct rte_eth_rss_conf rss = { .rss_hf = RTE_ETH_RSS_IP };
	struct rte_eth_rss_reta_entry64 reta[8];
	struct rte_eth_dev_info info;
	struct rte_eth_stats stats;
	struct rte_eth_xstat xstats[512];
	unsigned int i;

	memset(reta, 0, sizeof(reta));
	for (i = 0; i < RTE_DIM(reta); i++)
		reta[i].mask = UINT64_MAX;
	CHECK_OK(rte_eth_dev_info_get(PORT_A, &info));
	TWICE(rte_eth_dev_rss_hash_update(PORT_A, &rss));
	traffic("after a new hash");
	TWICE(rte_eth_dev_rss_reta_update(PORT_A, reta, info.reta_size));
	traffic("after a new table");
	TWICE(rte_eth_promiscuous_enable(PORT_A));
	TWICE(rte_eth_promiscuous_disable(PORT_A));
	TWICE(rte_eth_dev_rx_queue_stop(PORT_A, 1));
	TWICE(rte_eth_dev_rx_queue_start(PORT_A, 1));
	TWICE(rte_eth_dev_tx_queue_stop(PORT_B, 0));
	TWICE(rte_eth_dev_tx_queue_start(PORT_B, 0));
	TWICE(rte_eth_stats_get(PORT_A, &stats)); /* A count that cannot be read stays as it was. */
	TWICE(rte_eth_xstats_get(PORT_A, xstats, RTE_DIM(xstats)));
	TWICE(rte_eth_xstats_reset(PORT_A));
	traffic("in the end");
}

int
main(int argc, char **argv)
{
	struct pmd_conf conf = { .nb_rxq = QUEUES, .nb_txq = 1, .rss_hf = RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP };
	struct rte_eth_link link;

	pmd_init(argc, argv);
	TWICE(pmd_port_up(PORT_A, &conf));
	TWICE(pmd_port_up(PORT_B, &conf));
	CHECK_OK(rte_eth_link_get(PORT_A, &link));
	operations();
	pmd_ports_down();
	CHECK(refused <= 1, "%u operations failed", refused);
	printf("operations failed: %u\n", refused);
	return pmd_fini();
}
