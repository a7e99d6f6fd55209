/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Random errors while one thread starts and stops queues and ports, reads counters and changes settings, and another
 * one polls: no deadlock, no lost mbuf, and at the end all queues work.
 *
 * PMD_TEST_ROUNDS: number of actions (default 400); PMD_TEST_SEED: seed of their choice.
 */

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_spinlock.h>

#include "recover.h"

#define POLLED 4
/* An action that takes longer is a deadlock, even on a slow machine. */
#define ACTION_S 30

/* ethdev requires that the application does not poll a queue while it stops the queue. */
static rte_spinlock_t rx_lock[POLLED], tx_lock[POLLED];
static bool polling = true;
static uint64_t seed = 1, received, accepted;

static uint32_t
below(uint32_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % n;
}

static void *
poller(void *arg)
{
	struct pmd_frame f = pmd_frame_udp(PORT_B, PORT_A, 1);
	struct rte_mbuf *pkts[8];
	unsigned int q = 0, i, n;

	while (__atomic_load_n(&polling, __ATOMIC_RELAXED)) {
		q = (q + 1) % POLLED;
		rte_spinlock_lock(&tx_lock[q]);
		for (n = 0; n < 4 && (pkts[n] = pmd_frame_make(&f, 0)) != NULL; n++)
			;
		i = rte_eth_tx_burst(PORT_B, q, pkts, n);
		rte_spinlock_unlock(&tx_lock[q]);
		accepted += i;
		rte_pktmbuf_free_bulk(pkts + i, n - i);
		rte_spinlock_lock(&rx_lock[q]);
		n = rte_eth_rx_burst(PORT_A, q, pkts, 8);
		rte_spinlock_unlock(&rx_lock[q]);
		received += n;
		rte_pktmbuf_free_bulk(pkts, n);
		pass_us(50); /* Let the other threads run. */
	}
	return arg;
}

static void
all_locks(bool take)
{
	unsigned int q;

	for (q = 0; q < POLLED; q++) {
		if (take) {
			rte_spinlock_lock(&rx_lock[q]);
			rte_spinlock_lock(&tx_lock[q]);
		} else {
			rte_spinlock_unlock(&tx_lock[q]);
			rte_spinlock_unlock(&rx_lock[q]);
		}
	}
}

static void
action_rx_queue(void)
{
	uint16_t q = below(POLLED);

	rte_spinlock_lock(&rx_lock[q]);
	CHECK_OK(rte_eth_dev_rx_queue_stop(PORT_A, q));
	CHECK_OK(rte_eth_dev_rx_queue_start(PORT_A, q));
	rte_spinlock_unlock(&rx_lock[q]);
}

static void
action_tx_queue(void)
{
	uint16_t q = below(POLLED);

	rte_spinlock_lock(&tx_lock[q]);
	CHECK_OK(rte_eth_dev_tx_queue_stop(PORT_B, q));
	CHECK_OK(rte_eth_dev_tx_queue_start(PORT_B, q));
	rte_spinlock_unlock(&tx_lock[q]);
}

static void
action_port(void)
{
	const uint16_t port = below(2);

	all_locks(true);
	CHECK_OK(rte_eth_dev_stop(port));
	CHECK_OK(rte_eth_dev_start(port));
	all_locks(false);
}

static void
action_stats(void)
{
	struct rte_eth_xstat xstats[1024];
	struct rte_eth_stats s;

	CHECK_OK(rte_eth_stats_get(below(2), &s));
	CHECK(rte_eth_xstats_get(below(2), xstats, RTE_DIM(xstats)) > 0, "no xstats");
	if (below(8) == 0)
		CHECK_OK(rte_eth_xstats_reset(below(2)));
}

static void
action_settings(void)
{
	struct rte_eth_link link;

	CHECK_OK(rte_eth_dev_set_vlan_offload(PORT_A, below(2) ? RTE_ETH_VLAN_STRIP_OFFLOAD : 0));
	CHECK_OK(below(2) ? rte_eth_promiscuous_enable(PORT_A) : rte_eth_promiscuous_disable(PORT_A));
	CHECK_OK(rte_eth_link_get_nowait(PORT_B, &link));
	steer_to(below(POLLED));
}

static void
action_error(void)
{
	static const uint8_t syndromes[] = { 0x01, 0x02, 0x04, 0x05, 0x22 };

	if (below(2) == 0)
		CHECK_OK(emu_fault("on cqe.write match port=0 q=rx%u count 1 do error syndrome=0x%x", below(POLLED),
				   syndromes[below(RTE_DIM(syndromes))]));
	else
		CHECK_OK(emu_fault("on wqe.fetch match port=1 q=tx%u count 1 do error syndrome=0x%x", below(POLLED),
				   syndromes[below(RTE_DIM(syndromes))]));
}

static void
action_damage(void)
{
	CHECK_OK(emu_fault("on cqe.write match port=%u q=%cx%u count 1 do corrupt off=0x%x xor=0x%x", below(2),
			   below(2) ? 'r' : 't', below(POLLED), 0x3c + below(4), 1 + below(255)));
}

static void (*const actions[])(void) = {
	action_rx_queue, action_tx_queue, action_port, action_stats, action_stats, action_settings,
	action_error, action_error, action_error, action_damage,
};

int
main(int argc, char **argv)
{
	const struct pmd_conf conf = { .nb_rxq = POLLED, .nb_txq = POLLED, .nb_desc = 128,
				       .rss_hf = RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP };
	const char *rounds = getenv("PMD_TEST_ROUNDS"), *want_seed = getenv("PMD_TEST_SEED");
	unsigned int n = rounds != NULL ? strtoul(rounds, NULL, 0) : 400, i;
	uint64_t begin, longest_us = 0;
	pthread_t thread;
	uint16_t q;

	if (want_seed != NULL)
		seed = strtoull(want_seed, NULL, 0);
	pmd_init(argc, argv);
	recover_init();
	pmd_ports_up(&conf);
	CHECK_OK(pthread_create(&thread, NULL, poller, NULL));
	for (i = 0; i < n; i++) {
		alarm(ACTION_S);
		begin = now_us();
		actions[below(RTE_DIM(actions))]();
		longest_us = RTE_MAX(longest_us, now_us() - begin);
		pass_us(below(3000)); /* A random phase. */
	}
	alarm(60);
	__atomic_store_n(&polling, false, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	emu_fault_clear();
	pmd_ports_down();
	CHECK(rte_mempool_in_use_count(pmd_pool) == 0, "%u mbufs held", rte_mempool_in_use_count(pmd_pool));
	/* A start makes failed queues READY. */
	pmd_ports_up(&conf);
	for (q = 0; q < POLLED; q++) {
		steer_to(q);
		CHECK(send_bursts(q, 8) == 32 && drain_a(32, 1000) == 32, "queue %u does not work", q);
	}
	pmd_ports_down();
	CHECK(received > 0 && accepted >= received, "%" PRIu64 " accepted, %" PRIu64 " received", accepted, received);
	printf("%u actions, the longest took %" PRIu64 " us; %" PRIu64 " packets accepted, %" PRIu64 " received\n", n,
	       longest_us, accepted, received);
	return pmd_fini();
}
