/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* rte_eth_timesync_*: timestamps of PTP messages on a cable of known delay, and a clock that is adjusted with them. */

#include <rte_time.h>

#include "pmd_test.h"

#define PTP_SYNC 0x00
#define PTP_DELAY_REQ 0x01
#define PTP_FOLLOW_UP 0x08
#define SECOND INT64_C(1000000000)
/*
 * Delay of the emulated cable: a frame arrives 5 ns after its last bit was sent. Each port rounds down to a tick of its
 * counter (at most 12.8 ns); clock page and conversion may add 1 ns each.
 */
#define CABLE_NS 5
#define ROUNDING_NS 15

static struct pmd_frame
ptp_frame(uint16_t from, uint16_t to)
{
	struct pmd_frame f = pmd_frame_udp(from, to, 0);

	f.ether_type = RTE_ETHER_TYPE_1588;
	f.bytes = 60;
	return f;
}

/* Sends a PTP message, with or without a request for a Tx timestamp. Number of packets sent: 1 or 0. */
static unsigned int
ptp_send(uint16_t from, uint8_t type, bool timestamp)
{
	struct pmd_frame f = ptp_frame(from, !from);
	struct rte_mbuf *m = pmd_frame_make(&f, 0);
	uint8_t *msg = rte_pktmbuf_mtod_offset(m, uint8_t *, RTE_ETHER_HDR_LEN);

	msg[0] = type;
	msg[1] = 2;
	if (timestamp)
		m->ol_flags |= RTE_MBUF_F_TX_IEEE1588_TMST;
	if (rte_eth_tx_burst(from, 0, &m, 1) == 1)
		return 1;
	rte_pktmbuf_free(m);
	return 0;
}

/* Polls for the Tx timestamp without sending further packets, as PTP clients do. */
static int
tx_stamp(uint16_t port, int64_t *ns)
{
	struct timespec ts;

	if (!AWAIT(rte_eth_timesync_read_tx_timestamp(port, &ts) == 0, 10000))
		return -1;
	*ns = rte_timespec_to_ns(&ts);
	return 0;
}

static int
rx_stamp(uint16_t port, uint32_t flags, int64_t *ns)
{
	struct timespec ts = { 0, 0 };
	int rc = rte_eth_timesync_read_rx_timestamp(port, &ts, flags);

	*ns = rte_timespec_to_ns(&ts);
	return rc;
}

static int64_t
phc(uint16_t port)
{
	struct timespec ts = { 0, 0 };

	CHECK_OK(rte_eth_timesync_read_time(port, &ts));
	return rte_timespec_to_ns(&ts);
}

/* Sends one message to the other port; its Tx timestamp by the sender's clock, its Rx timestamp by the receiver's. */
static bool
exchange(uint16_t from, uint8_t type, int64_t *tx_ns, int64_t *rx_ns)
{
	struct rte_mbuf *m;
	bool good;

	CHECK(ptp_send(from, type, true) == 1, "not sent");
	good = tx_stamp(from, tx_ns) == 0;
	CHECK(good, "port %u: no Tx timestamp", from);
	if (pmd_recv(!from, 0, &m, 1, 2000) != 1) {
		CHECK(false, "port %u: nothing received", !from);
		return false;
	}
	CHECK((m->ol_flags & RTE_MBUF_F_RX_IEEE1588_PTP) && (m->ol_flags & RTE_MBUF_F_RX_IEEE1588_TMST),
	      "flags %#" PRIx64, m->ol_flags);
	good &= rx_stamp(!from, m->timesync, rx_ns) == 0;
	CHECK(good, "port %u: no Rx timestamp", !from);
	CHECK(rx_stamp(!from, m->timesync, &(int64_t){ 0 }) == -EINVAL, "the Rx timestamp can be read twice");
	rte_pktmbuf_free(m);
	return good;
}

/* Timesync disabled: no flags, no timestamps. */
static void
off(void)
{
	struct rte_mbuf *m;
	struct timespec ts;
	uint16_t port;

	CHECK(ptp_send(PORT_A, PTP_SYNC, true) == 1, "not sent");
	CHECK(pmd_recv(PORT_B, 0, &m, 1, 2000) == 1, "nothing received");
	CHECK((m->ol_flags & (RTE_MBUF_F_RX_IEEE1588_PTP | RTE_MBUF_F_RX_IEEE1588_TMST)) == 0, "flags %#" PRIx64,
	      m->ol_flags);
	rte_pktmbuf_free(m);
	for (port = PORT_A; port <= PORT_B; port++) {
		CHECK_EQ(rte_eth_timesync_read_tx_timestamp(port, &ts), -EINVAL);
		CHECK_EQ(rte_eth_timesync_read_rx_timestamp(port, &ts, 0), -EINVAL);
	}
}

static void
mode_is(uint16_t port, const char *word, bool there)
{
	struct rte_eth_burst_mode mode = { 0 };

	CHECK_OK(rte_eth_tx_burst_mode_get(port, 0, &mode));
	CHECK((strstr(mode.info, word) != NULL) == there, "%s", mode.info);
}

/* Both clocks have the same UTC, so Rx minus Tx timestamp is the cable's delay; a general message has no timestamp. */
static void
delays(void)
{
	int64_t tx_ns, rx_ns, least = INT64_MAX, most = INT64_MIN;
	struct rte_mbuf *m = NULL;
	unsigned int i;

	for (i = 0; i < 200; i++) {
		if (!exchange(i & 1, i & 2 ? PTP_SYNC : PTP_DELAY_REQ, &tx_ns, &rx_ns))
			return;
		least = RTE_MIN(least, rx_ns - tx_ns);
		most = RTE_MAX(most, rx_ns - tx_ns);
	}
	printf("one-way delay %" PRId64 " .. %" PRId64 " ns\n", least, most);
	CHECK(least >= CABLE_NS - ROUNDING_NS && most <= CABLE_NS + ROUNDING_NS, "%" PRId64 " .. %" PRId64, least,
	      most);
	CHECK(llabs(phc(PORT_A) - rx_ns) < 10 * SECOND, "the PHC differs from the timestamps");
	CHECK(ptp_send(PORT_A, PTP_FOLLOW_UP, false) == 1 && pmd_recv(PORT_B, 0, &m, 1, 2000) == 1, "nothing received");
	if (m == NULL)
		return;
	CHECK((m->ol_flags & RTE_MBUF_F_RX_IEEE1588_PTP) && !(m->ol_flags & RTE_MBUF_F_RX_IEEE1588_TMST), "follow-up");
	CHECK(rx_stamp(PORT_B, 0, &rx_ns) == -EINVAL, "a general message has a timestamp");
	rte_pktmbuf_free(m);
}

/* Offset and delay as a PTP client computes them from one Sync and one Delay_Req. */
static bool
offset_measure(int64_t *offset, int64_t *delay)
{
	int64_t t1, t2, t3, t4;

	if (!exchange(PORT_A, PTP_SYNC, &t1, &t2) || !exchange(PORT_B, PTP_DELAY_REQ, &t3, &t4))
		return false;
	*offset = ((t2 - t1) - (t4 - t3)) / 2;
	*delay = ((t2 - t1) + (t4 - t3)) / 2;
	return true;
}

/* The clock of PORT_B is wrong by large and small offsets: it is right after each adjustment. */
static void
servo(void)
{
	const int64_t wrong[] = { 1234567890123, -86400 * SECOND, 1000, -7, 0 };
	struct timespec ts;
	int64_t offset, delay, was;
	unsigned int i;

	ts = rte_ns_to_timespec(phc(PORT_A) + 77 * SECOND);
	CHECK_OK(rte_eth_timesync_write_time(PORT_B, &ts));
	for (i = 0; i < RTE_DIM(wrong); i++) {
		CHECK_OK(rte_eth_timesync_adjust_time(PORT_B, wrong[i]));
		if (!offset_measure(&was, &delay))
			return;
		CHECK_OK(rte_eth_timesync_adjust_time(PORT_B, -was));
		if (!offset_measure(&offset, &delay))
			return;
		printf("offset %" PRId64 " ns, after the adjustment %" PRId64 " ns, delay %" PRId64 " ns\n", was,
		       offset, delay);
		CHECK(llabs(offset) <= 2 * ROUNDING_NS, "%" PRId64 " ns off", offset);
		CHECK(llabs(delay - CABLE_NS) <= ROUNDING_NS, "delay %" PRId64, delay);
	}
	CHECK(llabs(phc(PORT_A) - phc(PORT_B)) < SECOND, "the clocks disagree");
}

/* Timestamp requests among other packets: all packets are sent in order, and the last request gets its timestamp. */
static void
mixture(void)
{
	struct pmd_frame f = ptp_frame(PORT_A, PORT_B);
	struct rte_mbuf *out[32], *in[64];
	unsigned int round, i, sent, got, k, stamped, bad = 0;
	int64_t ns;

	for (round = 0; round < 100; round++) {
		stamped = 0;
		for (i = 0; i < 32; i++) {
			f.bytes = 60 + i;
			out[i] = pmd_frame_make(&f, i % 5 == 4 ? 30 : 0);
			if ((i * 7 + round) % 11 == 0) {
				out[i]->ol_flags |= RTE_MBUF_F_TX_IEEE1588_TMST;
				stamped++;
			}
		}
		for (sent = 0; sent < 32;)
			sent += rte_eth_tx_burst(PORT_A, 0, out + sent, 32 - sent);
		got = pmd_recv(PORT_B, 0, in, 32, 2000);
		CHECK(got == 32, "%u received", got);
		for (k = 0; k < got; k++)
			bad += in[k]->pkt_len != 60 + k;
		rte_pktmbuf_free_bulk(in, got);
		CHECK(stamped == 0 || tx_stamp(PORT_A, &ns) == 0, "no Tx timestamp in round %u", round);
	}
	CHECK(bad == 0, "%u out of order", bad);
}

/* Timesync stays enabled when queues or the port are stopped and started. */
static void
restart(const struct pmd_conf *conf)
{
	int64_t tx_ns, rx_ns;

	CHECK_OK(rte_eth_dev_rx_queue_stop(PORT_B, 0));
	CHECK_OK(rte_eth_dev_rx_queue_start(PORT_B, 0));
	CHECK_OK(rte_eth_dev_tx_queue_stop(PORT_A, 0));
	CHECK_OK(rte_eth_dev_tx_queue_start(PORT_A, 0));
	(void)exchange(PORT_A, PTP_SYNC, &tx_ns, &rx_ns);
	pmd_port_down(PORT_B);
	CHECK_OK(pmd_port_up(PORT_B, conf));
	pass_us(100000); /* No timestamp from before the stop may appear. */
	(void)exchange(PORT_A, PTP_SYNC, &tx_ns, &rx_ns);
	(void)exchange(PORT_B, PTP_DELAY_REQ, &tx_ns, &rx_ns);
}

/* Enabling timesync that is enabled keeps the stamps that are there; enabling it after it was disabled does not. */
static void
again(void)
{
	struct rte_mbuf *m;
	unsigned int twice;
	int64_t ns;

	for (twice = 0; twice < 2; twice++) {
		CHECK(ptp_send(PORT_A, PTP_SYNC, true) == 1, "not sent");
		if (pmd_recv(PORT_B, 0, &m, 1, 2000) != 1) {
			CHECK(false, "nothing received");
			return;
		}
		if (twice == 1) {
			CHECK_OK(rte_eth_timesync_disable(PORT_A));
			CHECK_OK(rte_eth_timesync_disable(PORT_B));
		}
		CHECK_OK(rte_eth_timesync_enable(PORT_A));
		CHECK_OK(rte_eth_timesync_enable(PORT_B));
		CHECK_EQ(rx_stamp(PORT_B, m->timesync, &ns), twice == 0 ? 0 : -EINVAL);
		if (twice == 0)
			CHECK_OK(tx_stamp(PORT_A, &ns));
		rte_pktmbuf_free(m);
	}
}

/* Sends a message that may be lost. */
static bool
arrives(uint16_t from)
{
	struct rte_mbuf *m;

	CHECK(ptp_send(from, PTP_SYNC, false) == 1, "not sent");
	if (pmd_recv(!from, 0, &m, 1, 20) != 1)
		return false;
	CHECK((m->ol_flags & RTE_MBUF_F_RX_IEEE1588_TMST) != 0, "flags %#" PRIx64, m->ol_flags);
	rte_pktmbuf_free(m);
	return true;
}

/*
 * Enables timesync on running ports. By default their completions are compressed, and have no timestamps: the receive
 * queues get new CQs, and packets are lost until then.
 */
static void
on(void)
{
	CHECK_OK(rte_eth_timesync_enable(PORT_A));
	CHECK_OK(rte_eth_timesync_enable(PORT_B));
	CHECK_OK(rte_eth_timesync_enable(PORT_B));
	CHECK(AWAIT(arrives(PORT_A), 5000), "port %u receives nothing", PORT_B);
	CHECK(AWAIT(arrives(PORT_B), 5000), "port %u receives nothing", PORT_A);
}

int
main(int argc, char **argv)
{
	const struct pmd_conf conf = { .nb_rxq = 1, .nb_txq = 1 };

	pmd_init(argc, argv);
	pmd_ports_up(&conf);
	off();
	mode_is(PORT_A, "Timed", false);
	on();
	mode_is(PORT_A, "Timed", true);
	delays();
	servo();
	mixture();
	restart(&conf);
	again();
	CHECK_OK(rte_eth_timesync_disable(PORT_A));
	CHECK_OK(rte_eth_timesync_disable(PORT_B));
	mode_is(PORT_A, "Timed", false);
	off();
	pmd_ports_down();
	return pmd_fini();
}
