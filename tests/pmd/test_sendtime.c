/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * RTE_ETH_TX_OFFLOAD_SEND_ON_TIMESTAMP: packets leave at their send time. Each packet contains its send time, so the
 * error can also be computed from a capture of the wire; sendtime.py does that.
 *
 * Usage: test_pmd_sendtime EAL-ARGUMENTS -- can|cannot; cannot: the device does not support the offload.
 */

#include <rte_mbuf_dyn.h>
#include <rte_time.h>

#include "pmd_test.h"

#define MS UINT64_C(1000000)
#define SECOND (1000 * MS)
#define TIME_AT 16		/* Offset of the send time in the frame: eight bytes, big-endian. */
#define NB_BATCHES 10
#define NB_BATCH 100
#define LEAD_NS (200 * MS)
#define SPACING_NS 50000
/* The driver reduces send times that are further in the future to this; see doc/guide/ptp.md. */
#define MAX_AHEAD_NS (2 * SECOND)
/*
 * Serialization of a short frame at 100 Gb/s, 5 ns of cable, one tick of the wait and one of the Rx timestamp. The
 * clock page converts both times and may change in between, by a few ns in either direction.
 */
#define ERROR_MAX_NS 40
#define ERROR_MIN_NS (-10)

static int tx_offset, rx_offset;
static uint64_t tx_flag, rx_flag;

static uint64_t
now(void)
{
	uint64_t ns = 0;

	CHECK_OK(rte_eth_read_clock(PORT_A, &ns));
	return ns;
}

/* Sends a packet with a send time; 0: without. */
static void
send_at(uint64_t time)
{
	struct pmd_frame f = pmd_frame_udp(PORT_A, PORT_B, 0);
	rte_be64_t be = rte_cpu_to_be_64(time);
	struct rte_mbuf *m;

	f.ether_type = 0x88b5;
	f.bytes = 60;
	m = pmd_frame_make(&f, 0);
	memcpy(rte_pktmbuf_mtod_offset(m, void *, TIME_AT), &be, sizeof(be));
	if (time != 0) {
		m->ol_flags |= tx_flag;
		*RTE_MBUF_DYNFIELD(m, tx_offset, uint64_t *) = time;
	}
	if (AWAIT(rte_eth_tx_burst(PORT_A, 0, &m, 1) == 1, 10000))
		return;
	CHECK(false, "not sent");
	rte_pktmbuf_free(m);
}

/* Receives the next packet; how many ns after its send time it arrived. INT64_MIN if none came. */
static int64_t
arrived(unsigned int ms)
{
	struct rte_mbuf *m;
	rte_be64_t be;
	int64_t late;

	if (pmd_recv(PORT_B, 0, &m, 1, ms) != 1) {
		CHECK(false, "nothing received");
		return INT64_MIN;
	}
	CHECK(m->ol_flags & rx_flag, "no Rx timestamp");
	memcpy(&be, rte_pktmbuf_mtod_offset(m, void *, TIME_AT), sizeof(be));
	late = *RTE_MBUF_DYNFIELD(m, rx_offset, uint64_t *) - rte_be_to_cpu_64(be);
	rte_pktmbuf_free(m);
	return late;
}

static void
errors_are(uint64_t past, uint64_t future, uint64_t order)
{
	CHECK(pmd_xstat(PORT_A, "tx_pp_timestamp_past_errors") == past, "past %" PRIu64,
	      pmd_xstat(PORT_A, "tx_pp_timestamp_past_errors"));
	CHECK(pmd_xstat(PORT_A, "tx_pp_timestamp_future_errors") == future, "future %" PRIu64,
	      pmd_xstat(PORT_A, "tx_pp_timestamp_future_errors"));
	CHECK(pmd_xstat(PORT_A, "tx_pp_timestamp_order_errors") == order, "order %" PRIu64,
	      pmd_xstat(PORT_A, "tx_pp_timestamp_order_errors"));
	CHECK(pmd_xstat(PORT_A, "tx_pp_timestamp_clock_errors") == 0, "clock");
	CHECK(pmd_xstat(PORT_A, "tx_stalls") == 0 && pmd_xstat(PORT_A, "tx_resets") == 0, "the wait was counted as a stall");
}

/*
 * Sends NB_BATCH packets well before their send times and updates the range of the errors. False if a busy machine was
 * too slow for that: then the batch is not evaluated.
 */
static bool
batch(int64_t *least, int64_t *most)
{
	const uint64_t begin = now() + LEAD_NS;
	int64_t late[NB_BATCH];
	unsigned int i;

	for (i = 0; i < NB_BATCH; i++)
		send_at(begin + i * SPACING_NS);
	if (now() >= begin) {
		CHECK(pmd_drain(PORT_B, NB_BATCH, 5000, NULL) == NB_BATCH, "packets lost");
		return false;
	}
	printf("batch %" PRIu64 " .. %" PRIu64 "\n", begin, begin + NB_BATCH * SPACING_NS);
	for (i = 0; i < NB_BATCH; i++) {
		late[i] = arrived(5000);
		*least = RTE_MIN(*least, late[i]);
		*most = RTE_MAX(*most, late[i]);
	}
	return true;
}

static void
in_time(void)
{
	int64_t least = INT64_MAX, most = INT64_MIN;
	unsigned int tries, good = 0;

	for (tries = 0; tries < 10 * NB_BATCHES && good < NB_BATCHES; tries++)
		good += batch(&least, &most);
	CHECK(good == NB_BATCHES, "%u of %u batches in time", good, tries);
	printf("%u packets, %" PRId64 " .. %" PRId64 " ns after their send times\n", good * NB_BATCH, least, most);
	CHECK(least >= ERROR_MIN_NS && most <= ERROR_MAX_NS, "%" PRId64 " .. %" PRId64, least, most);
	CHECK(good != tries || pmd_xstat(PORT_A, "tx_pp_timestamp_past_errors") == 0, "past");
	CHECK_OK(rte_eth_xstats_reset(PORT_A));
	errors_are(0, 0, 0);
}

/*
 * Invalid send times are counted. A time in the past: the packet leaves at once. A time before that of the previous
 * packet: it leaves right after that one. A time too far in the future: it leaves after MAX_AHEAD_NS.
 */
static void
bad_times(void)
{
	uint64_t begin = now(), ahead;
	int64_t late;

	send_at(begin - SECOND);
	late = arrived(1000);
	CHECK(late >= (int64_t)SECOND && late < (int64_t)(2 * SECOND), "%" PRId64 " ns after a time in the past", late);
	errors_are(1, 0, 1);
	begin = now();
	send_at(begin + 900 * MS);
	send_at(begin + 800 * MS);
	late = arrived(2000);
	CHECK(late >= ERROR_MIN_NS && late <= ERROR_MAX_NS, "%" PRId64, late);
	late = arrived(2000);
	CHECK(late >= (int64_t)(100 * MS) && late < (int64_t)(100 * MS) + 1000, "%" PRId64, late);
	errors_are(1, 0, 2);
	begin = now();
	send_at(begin + 3600 * SECOND);
	send_at(0);
	late = arrived(5000);
	ahead = 3600 * SECOND + late;
	CHECK(ahead >= MAX_AHEAD_NS && ahead < MAX_AHEAD_NS + SECOND, "sent %" PRIu64 " ns ahead", ahead);
	(void)arrived(1000); /* The packet without a send time follows. */
	errors_are(1, 1, 2);
}

/* No WQE completes for almost two seconds because of a send time: the stall detection must not reset the queue. */
static void
long_wait(void)
{
	int64_t late;

	/* Counted as out of order: the send time of the last packet was an hour ahead. */
	send_at(now() + 1900 * MS);
	late = arrived(5000);
	CHECK(late >= ERROR_MIN_NS && late <= ERROR_MAX_NS, "%" PRId64, late);
	errors_are(1, 1, 3);
}

/* A packet with a send time and a request for a PTP Tx timestamp: the timestamp is the send time. */
static void
stamped(void)
{
	struct pmd_frame f = pmd_frame_udp(PORT_A, PORT_B, 0);
	struct rte_mbuf *m = pmd_frame_make(&f, 0);
	const uint64_t time = now() + 500 * MS;
	struct timespec ts = { 0, 0 };
	int64_t late;

	CHECK_OK(rte_eth_timesync_enable(PORT_A));
	m->ol_flags |= tx_flag | RTE_MBUF_F_TX_IEEE1588_TMST;
	*RTE_MBUF_DYNFIELD(m, tx_offset, uint64_t *) = time;
	CHECK(rte_eth_tx_burst(PORT_A, 0, &m, 1) == 1, "not sent");
	CHECK(rte_eth_timesync_read_tx_timestamp(PORT_A, &ts) == -EINVAL, "a Tx timestamp before the send time");
	(void)AWAIT(rte_eth_timesync_read_tx_timestamp(PORT_A, &ts) == 0, 3000);
	late = rte_timespec_to_ns(&ts) - time;
	printf("Tx timestamp %" PRId64 " ns after the send time\n", late);
	CHECK(late >= ERROR_MIN_NS && late <= ERROR_MAX_NS, "%" PRId64, late);
	CHECK(pmd_drain(PORT_B, 1, 1000, NULL) == 1, "nothing received");
}

int
main(int argc, char **argv)
{
	const bool can = argc > 1 && strcmp(argv[argc - 1], "can") == 0;
	const struct pmd_conf conf = {
		.nb_rxq = 1, .nb_txq = 1, .nb_desc = 1024, .rx_offloads = RTE_ETH_RX_OFFLOAD_TIMESTAMP,
		.tx_offloads = can ? RTE_ETH_TX_OFFLOAD_SEND_ON_TIMESTAMP : 0,
	};
	struct rte_eth_dev_info info;

	pmd_init(argc, argv);
	CHECK_OK(rte_eth_dev_info_get(PORT_A, &info));
	CHECK(((info.tx_offload_capa & RTE_ETH_TX_OFFLOAD_SEND_ON_TIMESTAMP) != 0) == can, "offered %#" PRIx64,
	      info.tx_offload_capa);
	pmd_ports_up(&conf);
	CHECK_OK(rte_mbuf_dyn_rx_timestamp_register(&rx_offset, &rx_flag));
	CHECK_OK(rte_mbuf_dyn_tx_timestamp_register(&tx_offset, &tx_flag));
	if (can) {
		in_time();
		bad_times();
		long_wait();
		stamped();
	} else {
		send_at(now() + 1000 * SECOND); /* Ignored, because the offload is not configured. */
		CHECK(arrived(1000) < 0, "late");
		errors_are(0, 0, 0);
	}
	pmd_ports_down();
	return pmd_fini();
}
