/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Many queues on both ports: RSS reaches each of them, each can send, counters of queues and ports agree; one queue is
 * stopped and started, and the table is changed while they run; the largest numbers that are offered.
 *
 * With PMD_TEST_LONG set: ten million packets over 64 queues of both ports, and what a packet costs beside one queue.
 */

#include <inttypes.h>

#include <rte_cycles.h>

#include "pmd_test.h"

#define QUEUES 64
#define MOST 256
#define BURST 32
#define ENTRIES 2048
/* ethdev has xstats of that many queues at least. */
#define XSTAT_QUEUES 16

static unsigned int received[MOST];
static struct rte_mempool *pool; /* Of the receive queues. */

/* Sends n frames of as many flows on the queues in turn; counts at which queue each arrives. */
static uint64_t
exchange(uint16_t from, uint16_t to, uint16_t nb_queues, uint64_t n)
{
	struct pmd_frame f = pmd_frame_udp(from, to, 0);
	struct rte_mbuf *pkts[BURST];
	uint64_t sent = 0, got = 0, idle = 0;
	uint16_t k, m;

	memset(received, 0, sizeof(received));
	while (got < n && idle < 2000000) {
		for (k = 0; k < BURST && sent - got < 8 * BURST && sent + k < n; k++) {
			f.src_ip = RTE_IPV4(10, 1, 0, 0) + (sent + k) % 65521;
			f.src_port = 1000 + (sent + k) % 1009;
			pkts[k] = pmd_frame_make(&f, 0);
			if (pkts[k] == NULL)
				break;
		}
		m = k != 0 ? rte_eth_tx_burst(from, sent / BURST % nb_queues, pkts, k) : 0;
		rte_pktmbuf_free_bulk(pkts + m, k - m);
		sent += m;
		idle++;
		for (uint16_t q = 0; q < nb_queues; q++) {
			k = rte_eth_rx_burst(to, q, pkts, BURST);
			rte_pktmbuf_free_bulk(pkts, k);
			received[q] += k;
			got += k;
			if (k != 0)
				idle = 0;
		}
	}
	return got;
}

static void
ports_up(uint16_t nb_queues)
{
	const struct pmd_conf conf = { .nb_rxq = nb_queues, .nb_txq = nb_queues, .nb_desc = 64,
				       .nb_rx_desc = nb_queues > 64 ? 64 : 128,
				       .rss_hf = RTE_ETH_RSS_NONFRAG_IPV4_UDP, .pool = pool };

	pmd_ports_up(&conf);
}

/* Every queue of both ports receives and sends, and the counters of queues, ports and this program agree. */
static void
all_queues(uint16_t nb_queues, uint64_t n)
{
	struct rte_eth_stats stats[2];
	uint64_t queues = 0;
	char name[32];

	for (uint16_t to = 0; to < 2; to++) {
		CHECK_OK(rte_eth_stats_reset(0));
		CHECK_OK(rte_eth_stats_reset(1));
		CHECK_EQ(exchange(1 - to, to, nb_queues, n), n);
		for (uint16_t q = 0; q < nb_queues; q++)
			CHECK(received[q] != 0, "port %u queue %u", to, q);
		CHECK_OK(rte_eth_stats_get(0, &stats[0]));
		CHECK_OK(rte_eth_stats_get(1, &stats[1]));
		CHECK_EQ(stats[to].ipackets, n);
		CHECK_EQ(stats[1 - to].opackets, n);
		CHECK_EQ(stats[to].imissed + stats[to].ierrors + stats[to].rx_nombuf, 0);
		for (uint16_t q = 0; q < RTE_MIN(nb_queues, XSTAT_QUEUES); q++) {
			snprintf(name, sizeof(name), "rx_q%u_packets", q);
			CHECK_EQ(pmd_xstat(to, name), received[q]);
			queues += received[q];
		}
		CHECK(queues != 0);
	}
}

/* The table sends all to the last queue, and back. */
static void
table(uint16_t nb_queues, uint16_t entries)
{
	struct rte_eth_rss_reta_entry64 reta[ENTRIES / RTE_ETH_RETA_GROUP_SIZE];
	struct rte_eth_dev_info info;

	CHECK_OK(rte_eth_dev_info_get(PORT_A, &info));
	CHECK_EQ(info.reta_size, entries);
	for (unsigned int i = 0; i < RTE_DIM(reta); i++) {
		reta[i].mask = UINT64_MAX;
		for (unsigned int j = 0; j < RTE_ETH_RETA_GROUP_SIZE; j++)
			reta[i].reta[j] = nb_queues - 1;
	}
	CHECK_OK(rte_eth_dev_rss_reta_update(PORT_A, reta, entries));
	CHECK_EQ(exchange(PORT_B, PORT_A, nb_queues, 60), 60);
	CHECK_EQ(received[nb_queues - 1], 60);
	for (unsigned int i = 0; i < entries; i++)
		reta[i / RTE_ETH_RETA_GROUP_SIZE].reta[i % RTE_ETH_RETA_GROUP_SIZE] = i % nb_queues;
	CHECK_OK(rte_eth_dev_rss_reta_update(PORT_A, reta, entries));
}

/* A queue that is stopped receives nothing; started again it does. */
static void
stop_one(uint16_t nb_queues)
{
	const uint16_t q = nb_queues - 3;

	CHECK_OK(rte_eth_dev_rx_queue_stop(PORT_A, q));
	CHECK_OK(rte_eth_dev_tx_queue_stop(PORT_A, q));
	(void)exchange(PORT_B, PORT_A, nb_queues, 0);
	CHECK_EQ(received[q], 0);
	CHECK_OK(rte_eth_dev_rx_queue_start(PORT_A, q));
	CHECK_OK(rte_eth_dev_tx_queue_start(PORT_A, q));
	CHECK_EQ(exchange(PORT_B, PORT_A, nb_queues, 4000), 4000);
	CHECK(received[q] != 0);
}

/* More queues than are offered are refused; a card whose tables have 512 entries offers no more receive queues. */
static void
limits(uint16_t nb_rxq)
{
	struct rte_eth_conf conf = { 0 };
	struct rte_eth_dev_info info;

	CHECK_OK(rte_eth_dev_info_get(PORT_A, &info));
	CHECK_EQ(info.max_rx_queues, nb_rxq);
	CHECK_EQ(info.max_tx_queues, 1024);
	CHECK(rte_eth_dev_configure(PORT_A, info.max_rx_queues + 1, 1, &conf) < 0);
	CHECK(rte_eth_dev_configure(PORT_A, 1, info.max_tx_queues + 1, &conf) < 0);
	/* The table has two entries for each queue if the card has so many. */
	conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
	CHECK_OK(rte_eth_dev_configure(PORT_A, nb_rxq, 1024, &conf));
	CHECK_OK(rte_eth_dev_info_get(PORT_A, &info));
	CHECK_EQ(info.reta_size, nb_rxq == 1024 ? 2048 : 512);
	CHECK_OK(rte_eth_dev_configure(PORT_A, 300, 1, &conf));
	CHECK_OK(rte_eth_dev_info_get(PORT_A, &info));
	CHECK_EQ(info.reta_size, nb_rxq == 1024 ? 1024 : 512);
}

static double
ticks_per_packet(uint16_t nb_queues, uint64_t n)
{
	uint64_t begin;
	double ticks;

	ports_up(nb_queues);
	begin = rte_rdtsc();
	CHECK_EQ(exchange(PORT_B, PORT_A, nb_queues, n), n);
	ticks = (double)(rte_rdtsc() - begin) / n;
	pmd_ports_down();
	return ticks;
}

int
main(int argc, char **argv)
{
	double one, many;

	pmd_init(argc, argv);
	pool = rte_pktmbuf_pool_create("many", 2 * MOST * 64 + 8191, 256, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	if (pool == NULL)
		return 2;
	if (strcmp(argv[argc - 1], "limits") == 0) {
		limits(512);
		ports_up(8);
		all_queues(8, 500);
		pmd_ports_down();
		return pmd_fini();
	}
	limits(1024);
	ports_up(QUEUES);
	all_queues(QUEUES, 20000);
	table(QUEUES, 512);
	stop_one(QUEUES);
	all_queues(QUEUES, 5000);
	pmd_ports_down();
	ports_up(MOST);
	table(MOST, 512);
	all_queues(MOST, 8000); /* As many mbufs as send queues can hold. */
	pmd_ports_down();
	if (getenv("PMD_TEST_LONG") != NULL) {
		many = ticks_per_packet(QUEUES, 10000000);
		one = ticks_per_packet(1, 1000000);
		printf("per packet, with the emulator: %.0f ticks with %d queues, %.0f with one\n", many, QUEUES, one);
	}
	return pmd_fini();
}
