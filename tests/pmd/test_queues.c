/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Single queues: deferred start, stop and start during traffic, timestamps of one queue, prohibited transitions. */

#include <rte_mbuf_dyn.h>

#include "pmd_test.h"

#define QUEUES 4

static struct rte_eth_rss_reta_entry64 reta[RTE_ETH_RSS_RETA_SIZE_512 / 64];
static uint16_t reta_size;

/* Steers all traffic to one queue of PORT_A. */
static void
steer_to(uint16_t queue)
{
	unsigned int i;

	for (i = 0; i < reta_size; i++) {
		reta[i / 64].mask = UINT64_MAX;
		reta[i / 64].reta[i % 64] = queue;
	}
	CHECK_OK(rte_eth_dev_rss_reta_update(PORT_A, reta, reta_size));
}

/* Sends n frames to one receive queue and returns how many it received; the first may take first_ms. */
static unsigned int
through_within(uint16_t txq, uint16_t rxq, unsigned int n, unsigned int first_ms)
{
	unsigned int i, sent = 0, got = 0;
	struct rte_mbuf *m;

	steer_to(rxq);
	for (i = 0; i < n; i++) {
		struct pmd_frame f = pmd_frame_udp(PORT_B, PORT_A, i);

		sent += pmd_send(PORT_B, txq, &f);
	}
	while (got < sent && pmd_recv(PORT_A, rxq, &m, 1, got == 0 ? first_ms : 5000) == 1) {
		rte_pktmbuf_free(m);
		got++;
	}
	return got;
}

static unsigned int
through(uint16_t txq, uint16_t rxq, unsigned int n)
{
	return through_within(txq, rxq, n, 5000);
}

static void
rx_stop_start(void)
{
	uint64_t missed;
	uint16_t round;

	for (round = 0; round < 20 && check_failures == 0; round++) {
		CHECK(through(0, 1, 300) == 300, "queue 1, round %u", round);
		CHECK_OK(rte_eth_dev_rx_queue_stop(PORT_A, 1));
		CHECK(through_within(0, 1, 3, 50) == 0, "stopped queue received");
		CHECK(through(0, 2, 100) == 100, "queue 2 while 1 is stopped");
		missed = pmd_xstat(PORT_A, "rx_missed_errors");
		CHECK(missed != UINT64_MAX, "no rx_missed_errors");
		CHECK_OK(rte_eth_dev_rx_queue_start(PORT_A, 1));
	}
	CHECK(through(0, 1, 300) == 300, "queue 1 after the last start");
}

static void
tx_stop_start(void)
{
	struct pmd_frame f = pmd_frame_udp(PORT_B, PORT_A, 1);
	struct rte_mbuf *m;
	uint16_t round;

	for (round = 0; round < 20 && check_failures == 0; round++) {
		CHECK(through(1, 0, 300) == 300, "send queue 1, round %u", round);
		CHECK_OK(rte_eth_dev_tx_queue_stop(PORT_B, 1));
		m = pmd_frame_make(&f, 0);
		CHECK(m != NULL && rte_eth_tx_burst(PORT_B, 1, &m, 1) == 0, "stopped queue accepted a frame");
		rte_pktmbuf_free(m);
		CHECK(through(0, 0, 100) == 100, "send queue 0 while 1 is stopped");
		CHECK_OK(rte_eth_dev_tx_queue_start(PORT_B, 1));
	}
	CHECK(through(1, 0, 300) == 300, "send queue 1 after the last start");
}

static void
deferred(struct pmd_conf *conf)
{
	struct rte_eth_rxq_info rx;
	struct rte_eth_txq_info tx;

	conf->deferred_rxq = 1 << 3;
	conf->deferred_txq = 1 << 1;
	pmd_ports_up(conf);
	CHECK_OK(rte_eth_rx_queue_info_get(PORT_A, 3, &rx));
	CHECK(rx.conf.rx_deferred_start == 1 && rx.queue_state == RTE_ETH_QUEUE_STATE_STOPPED,
	      "deferred %u, state %u", rx.conf.rx_deferred_start, rx.queue_state);
	CHECK_OK(rte_eth_tx_queue_info_get(PORT_B, 1, &tx));
	CHECK(tx.conf.tx_deferred_start == 1 && tx.queue_state == RTE_ETH_QUEUE_STATE_STOPPED,
	      "deferred %u, state %u", tx.conf.tx_deferred_start, tx.queue_state);
	CHECK(through_within(0, 3, 3, 50) == 0, "deferred queue received");
	CHECK_OK(rte_eth_dev_rx_queue_start(PORT_A, 3));
	CHECK_OK(rte_eth_dev_tx_queue_start(PORT_B, 1));
	CHECK(through(1, 3, 200) == 200, "deferred queues, started");
	pmd_ports_down();
	conf->deferred_rxq = 0;
	conf->deferred_txq = 0;
}

/* Sends one frame to a queue of PORT_A; whether it has a timestamp. The mbuf's buf_addr must be unchanged. */
static bool
stamped(uint16_t rxq, uint64_t flag)
{
	struct pmd_frame f = pmd_frame_udp(PORT_B, PORT_A, 1);
	struct rte_mbuf *m = NULL;
	bool is;

	steer_to(rxq);
	CHECK(pmd_send(PORT_B, 0, &f) == 1 && pmd_recv(PORT_A, rxq, &m, 1, 1000) == 1, "queue %u", rxq);
	if (m == NULL)
		return false;
	/* An attached packet is in a buffer of the striding queue. */
	CHECK(RTE_MBUF_HAS_EXTBUF(m) != 0 || m->buf_addr == rte_mbuf_buf_addr(m, m->pool), "queue %u: buffer at %p", rxq,
	      m->buf_addr);
	is = (m->ol_flags & flag) != 0;
	rte_pktmbuf_free(m);
	return is;
}

/*
 * Timestamps are configured for one queue only: its frames have them, and the mbufs of the other queues are intact,
 * also after one of these was restarted.
 */
static void
stamps_of_one(const struct rte_eth_dev_info *info)
{
	struct rte_eth_rxconf conf = info->default_rxconf;
	unsigned int i, n = 0;
	uint64_t flag = 0;
	int offset;

	CHECK_OK(rte_mbuf_dyn_rx_timestamp_register(&offset, &flag));
	CHECK_OK(rte_eth_dev_stop(PORT_A));
	conf.offloads = RTE_ETH_RX_OFFLOAD_TIMESTAMP;
	CHECK_OK(rte_eth_rx_queue_setup(PORT_A, 0, 256, SOCKET_ID_ANY, &conf, pmd_pool));
	CHECK_OK(rte_eth_dev_start(PORT_A));
	for (i = 0; i < 100; i++)
		n += stamped(0, flag);
	CHECK(n > 0, "none of 100 frames has a timestamp");
	CHECK_OK(rte_eth_timesync_enable(PORT_A));
	CHECK_OK(rte_eth_timesync_disable(PORT_A));
	CHECK_OK(rte_eth_dev_rx_queue_stop(PORT_A, 1));
	CHECK_OK(rte_eth_dev_rx_queue_start(PORT_A, 1));
	for (i = 0; i < 100; i++)
		(void)stamped(1, flag);
}

static void
prohibited(void)
{
	CHECK_OK(rte_eth_dev_rx_queue_start(PORT_A, 0)); /* Already started: ethdev returns 0. */
	CHECK_OK(rte_eth_dev_rx_queue_stop(PORT_A, 0));
	CHECK_OK(rte_eth_dev_rx_queue_stop(PORT_A, 0));
	CHECK_OK(rte_eth_dev_rx_queue_start(PORT_A, 0));
	CHECK(rte_eth_dev_rx_queue_start(PORT_A, QUEUES) < 0, "queue that does not exist");
	CHECK(rte_eth_dev_tx_queue_stop(PORT_A, QUEUES) < 0, "queue that does not exist");
	CHECK(rte_eth_rx_queue_setup(PORT_A, 0, 128, SOCKET_ID_ANY, NULL, pmd_pool) == -EBUSY,
	      "setup of a started queue");
	CHECK(rte_eth_dev_close(PORT_A) < 0, "close of a started port");
	pmd_ports_down();
	CHECK(rte_eth_dev_rx_queue_start(PORT_A, 0) < 0, "queue of a stopped port");
	CHECK(rte_eth_dev_tx_queue_start(PORT_A, 0) < 0, "queue of a stopped port");
}

int
main(int argc, char **argv)
{
	struct pmd_conf conf = { .nb_rxq = QUEUES, .nb_txq = 2, .nb_desc = 512, .rss_hf = RTE_ETH_RSS_IP |
				 RTE_ETH_RSS_UDP };
	struct rte_eth_dev_info info;

	pmd_init(argc, argv);
	CHECK_OK(rte_eth_dev_info_get(PORT_A, &info));
	reta_size = info.reta_size;
	deferred(&conf);
	pmd_ports_up(&conf);
	rx_stop_start();
	tx_stop_start();
	stamps_of_one(&info);
	prohibited();
	return pmd_fini();
}
