/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Traffic that shows a wrong order between driver and device: rings are small and always short of descriptors, so that
 * the device uses each descriptor and each completion at once, and every byte is compared.
 *
 * Usage: test_order_traffic EAL-ARGUMENTS -- CASE...
 */

#include <sched.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <rte_interrupts.h>
#include <rte_mbuf_dyn.h>

#include "../pmd/emu_ctl.h"
#include "../pmd/pmd_test.h"

#define NB_DESC 64
#define BURST 32
#define PACKETS 10000
#define SINGLES 30
#define STAMPS 20
#define SLEEPS 40
#define ERRORS 5
/* What has not come by then is lost, even on a busy machine. */
#define LOST_MS 5000
/* For an interrupt that is lost the driver wakes the application itself, after 100 ms. */
#define LATE_NS 90000000
/* The two clocks differ by less soon after the start; an older time stamp differs by more. */
#define STAMP_NS 100000
/* A new line of the clock may differ by its uncertainty, about 10 us soon after the start (doc/guide/timestamps.md). */
#define STEP_NS 50000

static int stamp_offset = -1;

/* Lengths in no simple order, so that that of another packet is wrong. */
static uint32_t
length_of(uint32_t seq)
{
	return 60 + seq * 2654435761u % 900;
}

static void
fill(uint8_t *data, uint32_t seq, uint32_t len)
{
	uint32_t i;

	memset(data, 0xff, RTE_ETHER_ADDR_LEN);
	memset(data + RTE_ETHER_ADDR_LEN, 2, RTE_ETHER_ADDR_LEN);
	data[12] = 0x88;
	data[13] = 0xb5;
	for (i = RTE_ETHER_HDR_LEN; i < len; i++)
		data[i] = (uint8_t)(seq >> 8 * (i % 4)) + i / 4;
}

static struct rte_mbuf *
packet(uint32_t seq)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pmd_pool);

	if (m == NULL)
		return NULL;
	m->pkt_len = m->data_len = length_of(seq);
	fill(rte_pktmbuf_mtod(m, uint8_t *), seq, m->data_len);
	return m;
}

static void
check_packet(const struct rte_mbuf *m, uint32_t seq)
{
	static uint8_t want[2048];
	uint32_t len = length_of(seq);

	CHECK(m->pkt_len == len && m->data_len == len && m->nb_segs == 1, "packet %u: %u bytes in %u segments, not %u", seq,
	      m->pkt_len, m->nb_segs, len);
	fill(want, seq, len);
	CHECK(m->pkt_len != len || memcmp(rte_pktmbuf_mtod(m, uint8_t *), want, len) == 0, "packet %u: other data", seq);
}

/* Time stamps of one receiver rise; that of an old completion is a whole ring of packets back, over 100 us here. */
static void
check_stamp(const struct rte_mbuf *m, uint64_t *last)
{
	uint64_t now;

	if (stamp_offset < 0)
		return;
	now = *RTE_MBUF_DYNFIELD(m, stamp_offset, const rte_mbuf_timestamp_t *);
	CHECK(now + STEP_NS >= *last && (*last == 0 || (int64_t)(now - *last) < INT64_C(60000000000)),
	      "%" PRIu64 " after %" PRIu64, now, *last);
	*last = now;
}

static uint32_t
receive(uint32_t seq, uint64_t *last)
{
	struct rte_mbuf *pkts[BURST];
	uint16_t n = rte_eth_rx_burst(PORT_B, 0, pkts, BURST), i;

	for (i = 0; i < n; i++) {
		check_packet(pkts[i], seq + i);
		check_stamp(pkts[i], last);
	}
	rte_pktmbuf_free_bulk(pkts, n);
	return n;
}

/* Packets follow each other without a gap; the receiver never has enough descriptors. */
static void
stream(void)
{
	struct rte_mbuf *pkts[BURST];
	uint64_t begin = await_now_ns(), last = 0, progress = begin;
	uint32_t made = 0, got = 0, n = 0, now;
	uint16_t sent;

	while (got < PACKETS) {
		while (n < BURST && made < PACKETS && (pkts[n] = packet(made)) != NULL) {
			n++;
			made++;
		}
		sent = rte_eth_tx_burst(PORT_A, 0, pkts, n);
		n -= sent;
		memmove(pkts, pkts + sent, n * sizeof(pkts[0]));
		now = receive(got, &last);
		got += now;
		if (now != 0)
			progress = await_now_ns();
		else
			sched_yield();
		if (await_now_ns() - progress > LOST_MS * UINT64_C(1000000))
			break;
	}
	CHECK(got == PACKETS, "%u of %u packets arrived", got, PACKETS);
	rte_pktmbuf_free_bulk(pkts, n);
	printf("stream: %u packets, %" PRIu64 " ms\n", got, (await_now_ns() - begin) / 1000000);
}

/* Nothing follows a packet: its doorbell has to leave the processor by itself. */
static void
singles(void)
{
	struct rte_mbuf *m;
	uint64_t last = 0;
	uint32_t i;

	for (i = 0; i < SINGLES; i++) {
		m = packet(i);
		REQUIRE(m != NULL && rte_eth_tx_burst(PORT_A, 0, &m, 1) == 1, "not sent");
		CHECK(AWAIT(receive(i, &last) == 1, LOST_MS), "packet %u is lost", i);
	}
}

/* PTP messages: the time of sending by the burst that frees the packet, or by the call that reads it. */
static void
ptp(bool by_burst)
{
	int64_t tx, rx, last = 0;
	struct rte_mbuf *m;
	struct timespec ts;
	uint8_t *data;
	uint32_t i;

	CHECK_OK(rte_eth_timesync_enable(PORT_A));
	CHECK_OK(rte_eth_timesync_enable(PORT_B));
	for (i = 0; i < STAMPS; i++) {
		m = packet(i);
		REQUIRE(m != NULL, "no mbuf");
		data = rte_pktmbuf_mtod(m, uint8_t *);
		data[12] = 0x88;
		data[13] = 0xf7;
		data[14] = 0; /* Sync */
		data[15] = 2;
		m->ol_flags |= RTE_MBUF_F_TX_IEEE1588_TMST;
		REQUIRE(rte_eth_tx_burst(PORT_A, 0, &m, 1) == 1, "not sent");
		for (uint64_t end = await_now_ns() + 2000000; by_burst && await_now_ns() < end;)
			(void)rte_eth_tx_burst(PORT_A, 0, &m, 0);
		if (by_burst)
			(void)pmd_drain(PORT_B, 1, LOST_MS, NULL);
		REQUIRE(AWAIT(rte_eth_timesync_read_tx_timestamp(PORT_A, &ts) == 0, LOST_MS), "no Tx timestamp");
		tx = (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
		if (!by_burst) {
			REQUIRE(pmd_recv(PORT_B, 0, &m, 1, LOST_MS) == 1, "nothing received");
			CHECK_OK(rte_eth_timesync_read_rx_timestamp(PORT_B, &ts, m->timesync));
			rx = (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
			CHECK(llabs(rx - tx) <= STAMP_NS, "sent at %" PRId64 ", received %" PRId64 " ns later", tx, rx - tx);
			rte_pktmbuf_free(m);
		}
		CHECK(tx > last && (last == 0 || tx - last < INT64_C(60000000000)), "sent at %" PRId64 " after %" PRId64, tx, last);
		last = tx;
	}
	(void)pmd_drain(PORT_B, UINT32_MAX, 20, NULL);
	CHECK_OK(rte_eth_timesync_disable(PORT_A));
	CHECK_OK(rte_eth_timesync_disable(PORT_B));
}

static void
ptp_bursts(void)
{
	ptp(true);
}

static void
ptp_calls(void)
{
	ptp(false);
}

/* The class of an error comes from the CQE that has it; a packet that is too long stops no queue. */
static void
rx_errors(void)
{
	uint64_t then, last = 0;
	struct rte_mbuf *m;
	uint32_t i;

	for (i = 0; i < ERRORS; i++) {
		then = pmd_xstat(PORT_B, "rx_q0_errors_length");
		CHECK_OK(emu_fault("on cqe.write match port=1 q=rx0 count 1 do error syndrome=0x1"));
		m = packet(0);
		REQUIRE(m != NULL && rte_eth_tx_burst(PORT_A, 0, &m, 1) == 1, "not sent");
		CHECK(AWAIT((receive(0, &last), pmd_xstat(PORT_B, "rx_q0_errors_length") == then + 1), 1000),
		      "the error was not counted as one of length");
	}
	emu_fault_clear();
}

static void
tx_errors(void)
{
	uint64_t then, resets, last = 0;
	struct rte_mbuf *m;
	uint32_t i;

	for (i = 0; i < 3; i++) {
		then = pmd_xstat(PORT_A, "tx_q0_errors_protection");
		resets = pmd_xstat(PORT_A, "tx_q0_resets");
		CHECK_OK(emu_fault("on wqe.fetch match port=0 q=tx0 count 1 do error syndrome=0x4"));
		m = packet(0);
		REQUIRE(m != NULL && rte_eth_tx_burst(PORT_A, 0, &m, 1) == 1, "not sent");
		CHECK(AWAIT((rte_eth_tx_burst(PORT_A, 0, &m, 0), pmd_xstat(PORT_A, "tx_q0_errors_protection") == then + 1),
			    LOST_MS), "the error was not counted as one of protection");
		CHECK(AWAIT((rte_eth_tx_burst(PORT_A, 0, &m, 0), pmd_xstat(PORT_A, "tx_q0_resets") == resets + 1), LOST_MS),
		      "the queue was not repaired");
	}
	emu_fault_clear();
	while (receive(0, &last) != 0)
		;
}

/* Each sleep ends by the packet that was sent after the interrupt was enabled. */
static void
sleeps(void)
{
	struct rte_epoll_event event;
	struct rte_mbuf *m;
	uint64_t last = 0, begin;
	uint32_t i, late = 0, early = 0;
	bool woken;

	CHECK_OK(rte_eth_dev_rx_intr_ctl_q(PORT_B, 0, RTE_EPOLL_PER_THREAD, RTE_INTR_EVENT_ADD, NULL));
	for (i = 0; i < SLEEPS; i++) {
		REQUIRE(rte_eth_dev_rx_intr_enable(PORT_B, 0) == 0, "not enabled");
		/* With the index of an earlier arming the device raises an interrupt for what was received. */
		woken = rte_epoll_wait(RTE_EPOLL_PER_THREAD, &event, 1, 2) != 0;
		early += woken;
		m = packet(i);
		REQUIRE(m != NULL && rte_eth_tx_burst(PORT_A, 0, &m, 1) == 1, "not sent");
		begin = await_now_ns();
		CHECK(woken || rte_epoll_wait(RTE_EPOLL_PER_THREAD, &event, 1, LOST_MS) == 1, "interrupt %u is lost", i);
		late += await_now_ns() - begin > LATE_NS;
		CHECK(AWAIT(receive(i, &last) == 1, LOST_MS), "packet %u is lost", i);
		(void)rte_eth_dev_rx_intr_disable(PORT_B, 0);
	}
	CHECK(early == 0, "%u interrupts without a packet", early);
	/* On a busy machine a few are late. */
	CHECK(late < SLEEPS / 2, "%u of %u interrupts came too late", late, SLEEPS);
	CHECK_OK(rte_eth_dev_rx_intr_ctl_q(PORT_B, 0, RTE_EPOLL_PER_THREAD, RTE_INTR_EVENT_DEL, NULL));
}

static const struct {
	const char *name;
	void (*run)(void);
	uint64_t rx_offloads;
} cases[] = {
	{ "stream", stream, 0 },
	{ "stamps", stream, RTE_ETH_RX_OFFLOAD_TIMESTAMP },
	{ "singles", singles, 0 },
	{ "ptp_bursts", ptp_bursts, 0 },
	{ "ptp_calls", ptp_calls, 0 },
	{ "rx_errors", rx_errors, 0 },
	{ "tx_errors", tx_errors, 0 },
	{ "sleeps", sleeps, 0 },
};

static void
run(const char *name)
{
	struct pmd_conf conf = { .nb_rxq = 1, .nb_txq = 1, .nb_desc = NB_DESC, .rxq_intr = true };
	unsigned int i;

	for (i = 0; i < RTE_DIM(cases) && strcmp(cases[i].name, name) != 0; i++)
		;
	REQUIRE(i < RTE_DIM(cases), "no case '%s'", name);
	printf("%s\n", name);
	conf.rx_offloads = cases[i].rx_offloads;
	pmd_ports_up(&conf);
	stamp_offset = conf.rx_offloads != 0 ? rte_mbuf_dynfield_lookup(RTE_MBUF_DYNFIELD_TIMESTAMP_NAME, NULL) : -1;
	cases[i].run();
	pmd_ports_down();
}

int
main(int argc, char **argv)
{
	int i = 1;

	/* EAL replaces the word before the program's own arguments. */
	while (i < argc && strcmp(argv[i], "--") != 0)
		i++;
	pmd_init(argc, argv);
	while (++i < argc)
		run(argv[i]);
	return pmd_fini();
}
