/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Common functions of the tests of queue repair. */

#include "recover.h"

static struct rte_eth_rss_reta_entry64 reta[RTE_ETH_RSS_RETA_SIZE_512 / 64];
static uint16_t reta_size;
_Atomic unsigned int queue_events;

static int
on_queue_event(uint16_t port, enum rte_eth_event_type type, void *arg, void *ret)
{
	RTE_SET_USED(port);
	RTE_SET_USED(type);
	RTE_SET_USED(arg);
	RTE_SET_USED(ret);
	queue_events++;
	return 0;
}

void
steer_both(uint16_t even, uint16_t odd)
{
	unsigned int i;

	for (i = 0; i < reta_size; i++) {
		reta[i / 64].mask = UINT64_MAX;
		reta[i / 64].reta[i % 64] = i % 2 == 0 ? even : odd;
	}
	CHECK_OK(rte_eth_dev_rss_reta_update(PORT_A, reta, reta_size));
}

void
steer_to(uint16_t queue)
{
	steer_both(queue, queue);
}

unsigned int
drain_a(unsigned int n, unsigned int ms)
{
	return pmd_drain(PORT_A, n, ms, NULL);
}

struct rte_eth_stats
stats(uint16_t port)
{
	struct rte_eth_stats s = { 0 };

	CHECK_OK(rte_eth_stats_get(port, &s));
	return s;
}

unsigned int
send_bursts(uint16_t queue, unsigned int bursts)
{
	struct pmd_frame f = pmd_frame_udp(PORT_B, PORT_A, 1);
	struct rte_mbuf *pkts[4];
	unsigned int b, i, took, sent = 0;

	for (b = 0; b < bursts; b++) {
		for (i = 0; i < 4; i++)
			pkts[i] = pmd_frame_make(&f, 0);
		took = rte_eth_tx_burst(PORT_B, queue, pkts, 4);
		rte_pktmbuf_free_bulk(pkts + took, 4 - took);
		sent += took;
	}
	return sent;
}

uint64_t
wait_xstat(uint16_t port, uint16_t poll_port, uint16_t queue, const char *name, uint64_t before)
{
	return wait_count(port, poll_port, queue, name, before + 1);
}

uint64_t
wait_count(uint16_t port, uint16_t poll_port, uint16_t queue, const char *name, uint64_t value)
{
	uint64_t begin = now_us();
	struct rte_mbuf *m;

	while (pmd_xstat(port, name) < value) {
		if (now_us() - begin > 5000000)
			return UINT64_MAX;
		if (poll_port == PORT_B)
			(void)rte_eth_tx_burst(PORT_B, queue, NULL, 0);
		else if (rte_eth_rx_burst(PORT_A, queue, &m, 1) == 1)
			rte_pktmbuf_free(m);
	}
	return now_us() - begin;
}

void
fault_add(const char *rule)
{
	CHECK_OK(emu_ctl("{\"cmd\":\"fault.add\",\"rule\":\"%s\"}", rule));
}

void
recover_init(void)
{
	struct rte_eth_dev_info info;
	uint16_t port;

	CHECK_OK(rte_eth_dev_info_get(PORT_A, &info));
	reta_size = info.reta_size;
	RTE_ETH_FOREACH_DEV(port)
		CHECK_OK(rte_eth_dev_callback_register(port, RTE_ETH_EVENT_QUEUE_STATE, on_queue_event, NULL));
}

int
recover_main(int argc, char **argv, const struct recover_case *cases, unsigned int n)
{
	const char *only = getenv("PMD_TEST_ONLY");
	struct pmd_conf conf = { .nb_rxq = QUEUES, .nb_txq = QUEUES, .nb_desc = 256,
				 .rss_hf = RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP };
	unsigned int i;

	pmd_init(argc, argv);
	recover_init();
	for (i = 0; i < n; i++) {
		if (only != NULL ? strcmp(only, cases[i].name) != 0 : cases[i].alone)
			continue;
		cases[i].run(&conf);
		printf("%s: %u checks so far, %u failed\n", cases[i].name, check_count, check_failures);
	}
	return pmd_fini();
}
