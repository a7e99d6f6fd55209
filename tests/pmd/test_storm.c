/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * One queue fails all the time: the number of resets and of log lines is bounded, then the queue is FAILED until it is
 * stopped and started. Other queues are not affected.
 */

#include <stdio.h>

#include "recover.h"

/* Frames that are too long for their WQEs, how many of them are in flight, and how long the last may take. */
#define LONG_FRAMES 2000
#define LONG_FLYING 64
#define LONG_LATE_US 200000

/* Every WQE of a send queue fails: at most two resets per second, then the queue is FAILED; a start makes it READY. */
static void
storm(const struct pmd_conf *conf)
{
	uint64_t begin, resets;
	unsigned int events = queue_events, sent, others = 0, lost;

	pmd_ports_up(conf);
	CHECK_OK(emu_fault("on wqe.fetch match port=1 q=tx15 do error syndrome=0x04"));
	begin = now_us();
	lost = stats(PORT_B).oerrors;
	for (sent = 0; queue_events - events < 5 && now_us() - begin < 10000000; ) {
		sent += send_bursts(STORM_QUEUE, 1);
		others += send_bursts(1, 1);
		others -= drain_a(4, 100);
	}
	CHECK(now_us() - begin > 1000000, "failed after %" PRIu64 " us: more than two resets a second", now_us() - begin);
	resets = pmd_xstat(PORT_B, "tx_q15_resets");
	CHECK(resets == 4, "%" PRIu64 " resets of five failures", resets);
	CHECK(others == 0, "%u packets of another queue lost", others);
	CHECK(send_bursts(STORM_QUEUE, 1) == 0, "a failed queue accepts packets");
	CHECK(queue_events - events == 5, "%u events", queue_events - events);
	CHECK(pmd_xstat(PORT_B, "tx_q1_resets") == 0, "another queue was reset");
	emu_fault_clear();
	CHECK_OK(rte_eth_dev_tx_queue_stop(PORT_B, STORM_QUEUE));
	CHECK(stats(PORT_B).oerrors - lost == sent, "%" PRIu64 " lost of %u", stats(PORT_B).oerrors - lost, sent);
	CHECK_OK(rte_eth_dev_tx_queue_start(PORT_B, STORM_QUEUE));
	CHECK(send_bursts(STORM_QUEUE, 8) == 32, "packets not accepted after start");
	CHECK(drain_a(32, 1000) == 32, "packets not sent after start");
	pmd_ports_down();
	printf("storm: %u packets lost, %" PRIu64 " resets\n", sent, resets);
}

/* Receives the driver's log lines between log_begin() and log_end(). */
static FILE *log_file;

static void
log_begin(void)
{
	log_file = tmpfile();
	rte_openlog_stream(log_file);
}

static unsigned int
log_end(const char *what)
{
	unsigned int lines = 0;
	char line[512];

	rte_openlog_stream(NULL);
	rewind(log_file);
	while (fgets(line, sizeof(line), log_file) != NULL)
		lines += strstr(line, what) != NULL;
	fclose(log_file);
	return lines;
}

/* Polls STORM_QUEUE and returns the port's ierrors. */
static uint64_t
errors_polled(void)
{
	struct rte_mbuf *m;

	for (unsigned int i = 0; i < 16; i++)
		if (rte_eth_rx_burst(PORT_A, STORM_QUEUE, &m, 1) == 1)
			rte_pktmbuf_free(m);
	return stats(PORT_A).ierrors;
}

/* Frames that are too long for their WQEs are counted and dropped. */
static void
rx_long(void)
{
	uint64_t begin, errors, counted = 0;
	unsigned int sent;

	steer_to(STORM_QUEUE);
	/* First drain the frames sent so far. */
	(void)drain_a(10000, LONG_LATE_US / 1000);
	errors = stats(PORT_A).ierrors;
	CHECK_OK(emu_fault("on cqe.write match port=0 q=rx15 do error syndrome=0x01"));
	log_begin();
	begin = now_us();
	/* The emulated cable drops frames that wait too long, so on a busy machine some of those sent do not arrive. */
	for (sent = 0; counted < LONG_FRAMES && now_us() - begin < 10000000; counted = errors_polled() - errors)
		if (sent < counted + LONG_FLYING)
			sent += send_bursts(0, 1);
	for (begin = now_us(); counted < sent && now_us() - begin < LONG_LATE_US; )
		counted = errors_polled() - errors;
	CHECK(log_end("port 0 ") == 0, "lines for packets that are too long");
	CHECK(counted >= LONG_FRAMES && counted <= sent, "%" PRIu64 " counted, %u sent", counted, sent);
	emu_fault_clear();
}

/*
 * Every completion of one receive queue is an error: resets and log lines are bounded, other queues continue, and
 * packets that are too long cost nothing else.
 */
static void
rx_storm(const struct pmd_conf *conf)
{
	unsigned int events = queue_events, sent = 0, others = 0, lines;
	uint64_t begin, took_us;

	pmd_ports_up(conf);
	steer_both(1, STORM_QUEUE);
	CHECK_OK(emu_fault("on cqe.write match port=0 q=rx15 do error syndrome=0x04"));
	log_begin();
	for (begin = now_us(); queue_events - events < 5 && now_us() - begin < 10000000; ) {
		struct pmd_frame f = pmd_frame_udp(PORT_B, PORT_A, sent++ % 64);

		CHECK(pmd_send(PORT_B, 0, &f) == 1, "not sent");
		others += drain_a(1, 1);
	}
	took_us = now_us() - begin;
	lines = log_end("port 0 ");
	CHECK(pmd_xstat(PORT_A, "rx_q15_resets") == 4, "%" PRIu64 " resets", pmd_xstat(PORT_A, "rx_q15_resets"));
	CHECK(pmd_xstat(PORT_A, "rx_q1_resets") == 0 && others > sent / 4, "%u of %u on both queues", others, sent);
	CHECK(took_us > 1000000 && lines >= 5 && lines <= 10 * (1 + took_us / 1000000), "%u lines in %" PRIu64 " us", lines,
	      took_us);
	emu_fault_clear();
	CHECK_OK(rte_eth_dev_rx_queue_stop(PORT_A, STORM_QUEUE));
	CHECK_OK(rte_eth_dev_rx_queue_start(PORT_A, STORM_QUEUE));
	printf("rx storm: 4 resets, %u lines in %" PRIu64 " us\n", lines, took_us);
	if (!pmd_devarg(PORT_A, "mprq_en=1")) /* Any error completion of a striding queue resets it. */
		rx_long();
	steer_to(STORM_QUEUE);
	(void)drain_a(10000, LONG_LATE_US / 1000);
	CHECK(send_bursts(0, 8) == 32 && drain_a(32, 1000) == 32, "queue does not receive");
	pmd_ports_down();
	CHECK(rte_mempool_in_use_count(pmd_pool) == 0, "%u mbufs held", rte_mempool_in_use_count(pmd_pool));
}

static const struct recover_case cases[] = {
	{ "tx storm", storm, false },
	{ "rx storm", rx_storm, false },
};

int
main(int argc, char **argv)
{
	return recover_main(argc, argv, cases, RTE_DIM(cases));
}
