/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * What the device counts is read by the port's own thread: statistics wait for no command, show how old
 * they are, and what goes wrong with the device's answers does no harm to the count.
 */

#include <rte_cycles.h>
#include <rte_launch.h>
#include <rte_lcore.h>

#include "emu_ctl.h"
#include "pmd_test.h"

#define QUERIES "on cmd.entry match op=QUERY_Q_COUNTER "
/* What stats_age_ms is without a devarg. */
#define AGE_US 100000
#define SLOW_US 1500000

static uint64_t
missed_get(void)
{
	struct rte_eth_stats s = { 0 };

	CHECK_OK(rte_eth_stats_get(PORT_A, &s));
	return s.imissed;
}

static uint64_t
missed_settled(void)
{
	pmd_counts_settle(PORT_A);
	return missed_get();
}

/* What is behind may take long on a busy machine, but not for ever. */
#define WAIT_US UINT64_C(20000000)
#define WAIT_FOR(cond) \
	do { \
		uint64_t until_us_ = now_us() + WAIT_US; \
		while (!(cond) && now_us() < until_us_) \
			rte_delay_us_sleep(5000); \
		CHECK(cond, "not within 20 s"); \
	} while (0)

/* A ring of 64 that nobody empties: all but 64 are missed. Those are received, so that the next find none. */
static void
miss(unsigned int n)
{
	struct pmd_frame f = pmd_frame_udp(PORT_B, PORT_A, 1);
	uint64_t arrived;
	unsigned int sent;

	arrived = pmd_xstat(PORT_A, "rx_vport_unicast_packets");
	for (sent = 0; sent < n; sent++)
		CHECK(pmd_send(PORT_B, 0, &f) == 1, "frame %u", sent);
	/* The device's port counts what its queue has no buffer for as well. */
	WAIT_FOR(pmd_xstat(PORT_A, "rx_vport_unicast_packets") >= arrived + n);
	WAIT_FOR(rte_eth_rx_queue_count(PORT_A, 0) == 64);
	CHECK(pmd_drain(PORT_A, 64, 5000, NULL) == 64, "not all received");
}

/*
 * While nobody reads, nobody asks, but for the watch on a count that wraps, once in five seconds. The rule
 * does nothing but count.
 */
static void
unread(void)
{
	uint64_t begin_us, passed_us, hits;

	CHECK_OK(emu_fault(QUERIES "do delay us=1"));
	rte_delay_us_sleep(500000);
	CHECK(emu_fault_hits() <= 1, "%" PRIu64 " queries that nobody wanted", emu_fault_hits());
	(void)missed_get();
	rte_delay_us_sleep(500000);
	WAIT_FOR(emu_fault_hits() > 2);
	/* Twice as often as the age says, whatever number of readers. */
	CHECK_OK(emu_fault(QUERIES "do delay us=1"));
	begin_us = now_us();
	rte_delay_us_sleep(500000);
	hits = emu_fault_hits();
	passed_us = now_us() - begin_us;
	CHECK(hits <= passed_us / (AGE_US / 2) + 3, "%" PRIu64 " queries in %" PRIu64 " us", hits, passed_us);
	emu_fault_clear();
}

/*
 * From the first reading on counts are as young as promised; a machine that is busy may be late at times,
 * and of the short form's machines nothing is known.
 */
static void
ages(void)
{
	const unsigned int enough = getenv("MLXPMD_SHORT") != NULL ? 5 : 50;
	unsigned int young = 0, i;
	uint64_t age_us;

	pmd_counts_settle(PORT_A);
	for (i = 0; i < 100; i++) {
		age_us = RTE_MAX(pmd_xstat(PORT_A, "rx_missed_age_us"),
				 pmd_xstat(PORT_A, "device_counters_age_us"));
		young += age_us <= AGE_US;
		rte_delay_us_sleep(7000);
	}
	printf("%u of 100 readings at most %u us old\n", young, AGE_US);
	CHECK(young > enough, "%u of 100 readings are as young as stated", young);
}

static uint64_t
longest_us(unsigned int n)
{
	struct rte_eth_stats s;
	uint64_t longest = 0, from;

	for (unsigned int i = 0; i < n; i++) {
		from = now_us();
		CHECK_OK(rte_eth_stats_get(PORT_A, &s));
		longest = RTE_MAX(longest, now_us() - from);
		rte_delay_us_sleep(1000);
	}
	return longest;
}

static int
worker(void *arg)
{
	*(uint64_t *)arg = longest_us(100);
	return 0;
}

/* Each query takes a second and a half: nobody waits for it, and the age says so. */
static void
slow(void)
{
	uint64_t by_main, by_worker = 0, age_us;

	CHECK_OK(emu_fault(QUERIES "do delay us=%u", SLOW_US));
	rte_delay_us_sleep(100000);
	by_main = longest_us(100);
	CHECK_OK(rte_eal_remote_launch(worker, &by_worker, rte_get_next_lcore(-1, 1, 0)));
	rte_eal_mp_wait_lcore();
	printf("longest call: main lcore %" PRIu64 " us, worker %" PRIu64 " us, of queries of %u us\n",
	       by_main, by_worker, SLOW_US);
	CHECK(by_main < SLOW_US / 2 && by_worker < SLOW_US / 2, "%" PRIu64 ", %" PRIu64, by_main, by_worker);
	age_us = pmd_xstat(PORT_A, "rx_missed_age_us");
	CHECK(age_us > AGE_US, "age %" PRIu64, age_us);
	emu_fault_clear();
	pmd_counts_settle(PORT_A);
}

/* One line of log and the count stays; it moves again when the device answers again. */
static void
refused(uint64_t before)
{
	CHECK_OK(emu_fault(QUERIES "do fail status=NO_RESOURCES"));
	miss(200);
	CHECK(missed_get() == before, "%" PRIu64 " missed, not %" PRIu64, missed_get(), before);
	WAIT_FOR(emu_fault_hits() >= 2);
	CHECK(missed_get() == before, "%" PRIu64 " missed, not %" PRIu64, missed_get(), before);
	emu_fault_clear();
	CHECK(missed_settled() == before + 200 - 64, "%" PRIu64 " missed after %" PRIu64, missed_get(), before);
}

/* Answers that never come: the device is asked again, without an end to it. */
static void
lost(uint64_t before)
{
	CHECK_OK(emu_fault("on event.fd count 3 do drop"));
	pmd_counts_settle(PORT_A);
	CHECK(emu_fault_hits() == 3, "%" PRIu64 " answers lost", emu_fault_hits());
	emu_fault_clear();
	CHECK(missed_settled() == before, "%" PRIu64 " missed, not %" PRIu64, missed_get(), before);
}

/* No answer ever comes: after sixteen of them the control thread waits itself, and counts are young again. */
static void
full(uint64_t before)
{
	uint64_t until_us = now_us() + 30 * 1000000, age_us;
	unsigned int young = 0;

	CHECK_OK(emu_fault("on event.fd do drop"));
	do {
		age_us = pmd_xstat(PORT_A, "rx_missed_age_us");
		young = age_us <= AGE_US ? young + 1 : 0;
		rte_delay_us_sleep(50000);
	} while (young < 20 && now_us() < until_us);
	CHECK(young == 20, "age stays %" PRIu64 " us", age_us);
	printf("%" PRIu64 " answers lost\n", emu_fault_hits());
	emu_fault_clear();
	CHECK(missed_settled() == before, "%" PRIu64 " missed, not %" PRIu64, missed_get(), before);
}

/* The device's count has 32 bits and wraps; what the kernel gave up reads as 0, which is no count. */
static void
wrap(uint64_t before)
{
	uint64_t end = (before & ~UINT64_C(0xffffffff)) + 0xfffffff0;

	CHECK_OK(emu_fault("on cmd.exit match op=QUERY_Q_COUNTER do set field=out_of_buffer value=0xfffffff0"));
	CHECK(missed_settled() == end, "%" PRIu64 " missed, not %" PRIu64, missed_get(), end);
	CHECK_OK(emu_fault("on cmd.exit match op=QUERY_Q_COUNTER do set field=out_of_buffer value=0"));
	rte_delay_us_sleep(2 * AGE_US);
	CHECK(missed_get() == end, "%" PRIu64 " missed, not %" PRIu64, missed_get(), end);
	emu_fault_clear();
	end += (uint32_t)before + 16;
	CHECK(missed_settled() == end, "%" PRIu64 " missed, not %" PRIu64, missed_get(), end);
	CHECK_OK(rte_eth_stats_reset(PORT_A));
	CHECK(missed_get() == 0, "%" PRIu64 " after a reset", missed_get());
	miss(100);
	CHECK(missed_settled() == 100 - 64, "%" PRIu64 " missed after a reset", missed_get());
}

/* The largest of many readings; none is smaller than the one before. */
static int
reader(void *arg)
{
	uint64_t *most = arg, until_us = now_us() + 1000000, missed;

	while (now_us() < until_us) {
		missed = missed_get();
		CHECK(missed >= *most, "%" PRIu64 " missed after %" PRIu64, missed, *most);
		*most = missed;
	}
	return 0;
}

/*
 * Each reading asks the device, in two threads, while a full ring misses frames: whose query was executed
 * first is not who asked first, and a step back would be taken for a wrap.
 */
static void
readers(void)
{
	struct pmd_frame f = pmd_frame_udp(PORT_B, PORT_A, 1);
	uint64_t by_main = 0, by_worker = 0, until_us = now_us() + 1000000;
	unsigned int sent = 0;

	CHECK_OK(rte_eal_remote_launch(reader, &by_worker, rte_get_next_lcore(-1, 1, 0)));
	while (now_us() < until_us) {
		sent += pmd_send(PORT_B, 0, &f);
		by_main = RTE_MAX(by_main, missed_get());
	}
	rte_eal_mp_wait_lcore();
	printf("missed of %u: %" PRIu64 " read by main lcore, %" PRIu64 " by worker\n", sent, by_main, by_worker);
	CHECK(by_main < sent && by_worker < sent, "more missed than sent");
	pmd_drain(PORT_A, 64, 1000, NULL);
}

int
main(int argc, char **argv)
{
	struct pmd_conf conf = { .nb_rxq = 1, .nb_txq = 1, .nb_desc = 512, .nb_rx_desc = 64 };

	pmd_init(argc, argv);
	pmd_ports_up(&conf);
	if (pmd_devarg(PORT_A, "stats_age_ms=0")) {
		readers();
		pmd_ports_down();
		return pmd_fini();
	}
	unread();
	ages();
	slow();
	miss(300);
	CHECK(missed_settled() == 300 - 64, "%" PRIu64 " missed", missed_get());
	refused(missed_get());
	lost(missed_get());
	if (getenv("PMD_TEST_LONG") != NULL)
		full(missed_get());
	wrap(missed_get());
	pmd_ports_down();
	return pmd_fini();
}
