/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Ports are configured, started, used, stopped, closed and probed many times; no mbuf is lost.
 *
 * PMD_TEST_ROUNDS: number of rounds (default 100).
 */

#include <rte_bus_pci.h>
#include <rte_dev.h>
#include <rte_devargs.h>

#include "pmd_test.h"

#define ROUNDS 100
#define FRAMES 32

static void
exchange(uint16_t from, uint16_t to)
{
	unsigned int i, got;

	for (i = 0; i < FRAMES; i++) {
		struct pmd_frame f = pmd_frame_udp(from, to, i);

		CHECK(pmd_send(from, 0, &f) == 1, "frame %u of port %u", i, from);
	}
	got = pmd_drain(to, FRAMES, 2000, NULL);
	CHECK(got == FRAMES, "%u of %d frames from port %u to port %u", got, FRAMES, from, to);
}

static void
start_stop(unsigned int rounds)
{
	struct pmd_conf conf = { .nb_rxq = 1, .nb_txq = 1, .nb_desc = 128 };
	unsigned int i;

	for (i = 0; i < rounds && check_failures == 0; i++) {
		conf.nb_rxq = 1 + i % 4;
		conf.nb_txq = 1 + i % 3;
		conf.rss_hf = i % 2 ? RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP : 0;
		pmd_ports_up(&conf);
		exchange(PORT_A, PORT_B);
		exchange(PORT_B, PORT_A);
		pmd_ports_down();
		CHECK(rte_mempool_in_use_count(pmd_pool) == 0, "%u mbufs held after stop, round %u",
		      rte_mempool_in_use_count(pmd_pool), i);
	}
	printf("start and stop: %u rounds\n", i);
}

/* A stop during traffic frees all mbufs of the queues. */
static void
stop_in_flight(unsigned int rounds)
{
	struct pmd_conf conf = { .nb_rxq = 2, .nb_txq = 1, .nb_desc = 128 };
	unsigned int i, k;

	for (i = 0; i < rounds && check_failures == 0; i++) {
		pmd_ports_up(&conf);
		for (k = 0; k < 100; k++) {
			struct pmd_frame f = pmd_frame_udp(PORT_A, PORT_B, k);

			(void)pmd_send(PORT_A, 0, &f);
		}
		pmd_ports_down();
		CHECK(rte_mempool_in_use_count(pmd_pool) == 0, "%u mbufs held after stop, round %u",
		      rte_mempool_in_use_count(pmd_pool), i);
	}
	printf("stop during traffic: %u rounds\n", i);
}

static void
close_probe(unsigned int rounds)
{
	struct pmd_conf conf = { .nb_rxq = 1, .nb_txq = 1 };
	char name[2][RTE_ETH_NAME_MAX_LEN], args[2][256];
	const struct rte_devargs *devargs;
	struct rte_eth_dev_info info;
	unsigned int i, p;
	uint16_t port;

	/* rte_dev_remove() drops the device's devargs: keep them for rte_dev_probe(). */
	for (p = 0; p < 2; p++) {
		CHECK_OK(rte_eth_dev_get_name_by_port(p, name[p]));
		CHECK_OK(rte_eth_dev_info_get(p, &info));
		devargs = rte_dev_devargs(info.device);
		snprintf(args[p], sizeof(args[p]), "%s,%.128s", name[p],
			 devargs != NULL && devargs->args != NULL ? devargs->args : "");
	}
	for (i = 0; i < rounds && check_failures == 0; i++) {
		for (p = 0; p < 2; p++) {
			CHECK_OK(rte_eth_dev_info_get(p, &info));
			if (i % 2) {
				CHECK_OK(rte_eth_dev_close(p));
				CHECK_OK(rte_dev_remove(info.device));
			} else {
				CHECK_OK(rte_dev_remove(info.device)); /* Closes the port. */
			}
		}
		CHECK(rte_eth_dev_count_avail() == 0, "%u ports left", rte_eth_dev_count_avail());
		for (p = 0; p < 2; p++) {
			CHECK_OK(rte_dev_probe(args[p]));
			CHECK_OK(rte_eth_dev_get_port_by_name(name[p], &port));
			CHECK(port == p, "probed as port %u", port);
		}
		if (check_failures != 0)
			return;
		pmd_ports_up(&conf);
		exchange(PORT_A, PORT_B);
		pmd_ports_down();
	}
	printf("close and probe: %u rounds\n", i);
}

int
main(int argc, char **argv)
{
	unsigned int rounds = getenv("PMD_TEST_ROUNDS") != NULL ? atoi(getenv("PMD_TEST_ROUNDS")) : ROUNDS;

	pmd_init(argc, argv);
	start_stop(rounds);
	stop_in_flight(rounds / 4 + 1);
	close_probe(rounds);
	return pmd_fini();
}
