/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * A secondary process with mempools of its own, for secondary.py: the primary process registers them, and the packets
 * are sent.
 */
#include <string.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include "../await.h"
#include "../check.h"

#define PORT 0
#define QUEUE 1
#define PACKETS 256u
#define LENGTH 100
#define ROUNDS 3

/* Sends packets of a new mempool, which is not freed: the last ones may wait for a completion. */
static void
round_run(unsigned int n)
{
	struct rte_mempool *mp;
	struct rte_mbuf *m[32];
	unsigned int sent = 0;
	char name[16];

	snprintf(name, sizeof(name), "round%u", n);
	mp = rte_pktmbuf_pool_create(name, 1023, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	REQUIRE(mp != NULL, "%s", rte_strerror(rte_errno));
	while (sent < PACKETS) {
		uint16_t k = 0;

		REQUIRE(rte_pktmbuf_alloc_bulk(mp, m, RTE_DIM(m)) == 0);
		for (unsigned int i = 0; i < RTE_DIM(m); i++)
			memset(rte_pktmbuf_append(m[i], LENGTH), 0xff, LENGTH);
		CHECK(AWAIT((k += rte_eth_tx_burst(PORT, QUEUE, m + k, RTE_DIM(m) - k)) == RTE_DIM(m), 10000));
		sent += k;
	}
	/* A completion is requested at intervals: those of the next packets complete these. */
	CHECK(AWAIT(rte_eth_tx_burst(PORT, QUEUE, NULL, 0) == 0 &&
		    rte_mempool_avail_count(mp) + 64 >= mp->populated_size, 10000), "%u", rte_mempool_avail_count(mp));
}

int
main(int argc, char **argv)
{
	struct rte_eth_stats stats = { .opackets = 0 };

	if (rte_eal_init(argc, argv) < 0 || rte_eal_process_type() != RTE_PROC_SECONDARY)
		return 2;
	CHECK_EQ(rte_eth_dev_count_avail(), 2);
	for (unsigned int n = 0; n < ROUNDS; n++)
		round_run(n);
	CHECK_OK(rte_eth_stats_get(PORT, &stats));
	CHECK(stats.opackets >= ROUNDS * PACKETS && stats.oerrors == 0);
	/* The primary process configures the port. */
	CHECK_EQ(rte_eth_dev_stop(PORT), -ENOTSUP);
	CHECK_EQ(rte_eth_dev_set_mtu(PORT, 1400), -ENOTSUP);
	CHECK_EQ(rte_eth_promiscuous_disable(PORT), -ENOTSUP);
	return check_exit("secondary");
}
