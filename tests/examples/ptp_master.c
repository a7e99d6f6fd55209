/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * A PTP master for tests of clients: sends Sync and Follow_Up, and replies to Delay_Req with Delay_Resp.
 *
 * It uses DPDK's public API only. Its clock is --ahead-ns N ahead of the port's. It ends at a signal, or after
 * --rounds N.
 */

#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include "../await.h"

#define PORT 0
#define SYNC 0x00
#define DELAY_REQ 0x01
#define FOLLOW_UP 0x08
#define DELAY_RESP 0x09
/* IEEE 1588-2008, 13.3 and 13.6 to 13.8: header, time, port identity. */
#define HEADER_BYTES 34
#define TIME_AT HEADER_BYTES
#define REQUESTER_AT (TIME_AT + 10)
#define IDENTITY_AT 20
#define IDENTITY_BYTES 10
#define SEQUENCE_AT 30
#define MESSAGE_BYTES 54
#define FRAME_BYTES (RTE_ETHER_HDR_LEN + MESSAGE_BYTES)

static volatile sig_atomic_t stop;
static struct rte_mempool *pool;
static struct rte_ether_addr self;
static unsigned int answered;

static void
on_signal(int sig __rte_unused)
{
	stop = 1;
}

static struct rte_mbuf *
message(uint8_t type, uint16_t sequence, const struct timespec *ts)
{
	static const struct rte_ether_addr group = { { 0x01, 0x1b, 0x19, 0x00, 0x00, 0x00 } };
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
	struct rte_ether_hdr *eth;
	unsigned int i;
	uint8_t *msg;

	if (m == NULL)
		return NULL;
	m->data_len = FRAME_BYTES;
	m->pkt_len = FRAME_BYTES;
	eth = rte_pktmbuf_mtod(m, struct rte_ether_hdr *);
	msg = (uint8_t *)(eth + 1);
	memset(eth, 0, FRAME_BYTES);
	eth->dst_addr = group;
	eth->src_addr = self;
	eth->ether_type = rte_cpu_to_be_16(RTE_ETHER_TYPE_1588);
	msg[0] = type;
	msg[1] = 2;
	msg[3] = MESSAGE_BYTES;
	memcpy(&msg[IDENTITY_AT], self.addr_bytes, sizeof(self));
	msg[SEQUENCE_AT] = sequence >> 8;
	msg[SEQUENCE_AT + 1] = sequence;
	for (i = 0; i < 6 && ts != NULL; i++)
		msg[TIME_AT + i] = (uint64_t)ts->tv_sec >> (40 - 8 * i);
	for (i = 0; i < 4 && ts != NULL; i++)
		msg[TIME_AT + 6 + i] = (uint32_t)ts->tv_nsec >> (24 - 8 * i);
	return m;
}

static void
send_now(struct rte_mbuf *m)
{
	while (m != NULL && rte_eth_tx_burst(PORT, 0, &m, 1) == 0 && !stop)
		;
}

/* Send Sync, and its Tx timestamp in Follow_Up. */
static bool
sync_send(uint16_t sequence)
{
	struct rte_mbuf *m = message(SYNC, sequence, NULL);
	struct timespec ts;

	if (m == NULL)
		return false;
	m->ol_flags |= RTE_MBUF_F_TX_IEEE1588_TMST;
	send_now(m);
	if (!AWAIT(rte_eth_timesync_read_tx_timestamp(PORT, &ts) == 0, 10000))
		return false;
	send_now(message(FOLLOW_UP, sequence, &ts));
	return true;
}

/* Reply to Delay_Req with its Rx timestamp. */
static void
request_answer(const struct rte_mbuf *request)
{
	const uint8_t *msg = rte_pktmbuf_mtod_offset(request, const uint8_t *, RTE_ETHER_HDR_LEN);
	struct timespec ts;
	struct rte_mbuf *m;

	if (!(request->ol_flags & RTE_MBUF_F_RX_IEEE1588_TMST) || (msg[0] & 15) != DELAY_REQ ||
	    rte_eth_timesync_read_rx_timestamp(PORT, &ts, request->timesync) != 0)
		return;
	m = message(DELAY_RESP, msg[SEQUENCE_AT] << 8 | msg[SEQUENCE_AT + 1], &ts);
	if (m == NULL)
		return;
	memcpy(rte_pktmbuf_mtod_offset(m, uint8_t *, RTE_ETHER_HDR_LEN + REQUESTER_AT), &msg[IDENTITY_AT],
	       IDENTITY_BYTES);
	send_now(m);
	answered++;
}

static int
port_up(int64_t ahead_ns)
{
	const struct rte_eth_conf conf = { .rxmode.mq_mode = RTE_ETH_MQ_RX_NONE };
	int rc;

	pool = rte_pktmbuf_pool_create("master", 2047, 32, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	if (pool == NULL)
		return -rte_errno;
	rc = rte_eth_dev_configure(PORT, 1, 1, &conf);
	if (rc == 0)
		rc = rte_eth_rx_queue_setup(PORT, 0, 256, SOCKET_ID_ANY, NULL, pool);
	if (rc == 0)
		rc = rte_eth_tx_queue_setup(PORT, 0, 256, SOCKET_ID_ANY, NULL);
	if (rc == 0)
		rc = rte_eth_dev_start(PORT);
	if (rc == 0)
		rc = rte_eth_promiscuous_enable(PORT);
	if (rc == 0)
		rc = rte_eth_timesync_enable(PORT);
	if (rc == 0)
		rc = rte_eth_timesync_adjust_time(PORT, ahead_ns);
	return rc != 0 ? rc : rte_eth_macaddr_get(PORT, &self);
}

/* Send a Sync, then reply to requests for 100 ms. */
static bool
round_do(uint16_t sequence)
{
	const uint64_t end = rte_get_timer_cycles() + rte_get_timer_hz() / 10;
	struct rte_mbuf *m;

	if (!sync_send(sequence))
		return false;
	while (rte_get_timer_cycles() < end && !stop) {
		if (rte_eth_rx_burst(PORT, 0, &m, 1) == 0)
			continue;
		request_answer(m);
		rte_pktmbuf_free(m);
	}
	return true;
}

int
main(int argc, char **argv)
{
	static const struct option options[] = { { "ahead-ns", 1, NULL, 'a' }, { "rounds", 1, NULL, 'r' },
						 { NULL, 0, NULL, 0 } };
	int64_t ahead_ns = 0;
	unsigned int rounds = 20, i;
	int rc = rte_eal_init(argc, argv), opt;

	if (rc < 0)
		return 1;
	argc -= rc;
	argv += rc;
	while ((opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (opt == 'a')
			ahead_ns = strtoll(optarg, NULL, 0);
		else if (opt == 'r')
			rounds = strtoul(optarg, NULL, 0);
		else
			return 2;
	}
	signal(SIGTERM, on_signal);
	signal(SIGINT, on_signal);
	rc = port_up(ahead_ns);
	for (i = 0; rc == 0 && i < rounds && !stop; i++)
		if (!round_do(i))
			rc = -ETIMEDOUT;
	printf("master: %u rounds, %u requests answered, %s\n", i, answered, rc != 0 ? rte_strerror(-rc) : "good");
	(void)rte_eth_dev_stop(PORT);
	(void)rte_eth_dev_close(PORT);
	rte_eal_cleanup();
	return rc != 0;
}
