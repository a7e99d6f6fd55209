/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Device counters (imissed, vport and physical counters) are read by the control thread and the port's worker:
 * statistics calls wait for no firmware command and report the age of the values, and commands that are slow, refused
 * or lost do not make the counters wrong.
 */

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_launch.h>
#include <rte_lcore.h>

#include "emu_ctl.h"
#include "pmd_test.h"

#define QUERIES "on cmd.entry match op=QUERY_Q_COUNTER port=0 "
#define VPORT_QUERIES "on cmd.entry match op=QUERY_VPORT_COUNTER port=0 "
/* Default of stats_age_ms, and the age of vport and physical counters while the application does not read them. */
#define AGE_US 100000
#define UNREAD_AGE_US (10 * AGE_US)
/* Delay of a slow command. The driver logs a reply as late after 1 s, so two of these are late. */
#define SLOW_US 700000
/* Readings of each thread: they take longer than a round of slow commands. */
#define READINGS 700

static const struct pmd_conf conf = { .nb_rxq = 1, .nb_txq = 1, .nb_desc = 512, .nb_rx_desc = 64 };

static bool
short_form(void)
{
	return getenv("MLXPMD_SHORT") != NULL;
}

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

/* Waits for a condition that may take long on a busy machine. */
#define WAIT_FOR(cond) CHECK(AWAIT(cond, 20000), "not within 20 s")

/* Sends n frames to a ring of 64 that is not polled: n - 64 are missed. Then receives the 64, to empty the ring. */
static void
miss(unsigned int n)
{
	struct pmd_frame f = pmd_frame_udp(PORT_B, PORT_A, 1);
	uint64_t arrived;
	unsigned int sent;

	arrived = pmd_xstat(PORT_A, "rx_unicast_packets");
	for (sent = 0; sent < n; sent++)
		CHECK(pmd_send(PORT_B, 0, &f) == 1, "frame %u", sent);
	/* The vport counter includes frames for which the queue has no buffer. */
	WAIT_FOR(pmd_xstat(PORT_A, "rx_unicast_packets") >= arrived + n);
	WAIT_FOR(rte_eth_rx_queue_count(PORT_A, 0) == 64);
	CHECK(pmd_drain(PORT_A, 64, 5000, NULL) == 64, "not all received");
}

/* Counts query commands for us microseconds; the fault rule only counts. */
static uint64_t
queries(const char *rule, unsigned int us, uint64_t *passed_us)
{
	uint64_t begin_us = now_us(), hits;

	CHECK_OK(emu_fault("%sdo delay us=1", rule));
	pass_us(us); /* The period in which queries are counted. */
	hits = emu_fault_hits();
	*passed_us = now_us() - begin_us;
	emu_fault_clear();
	return hits;
}

/* Checks that there are queries, and at most one per period_us. */
static void
check_rate(const char *rule, unsigned int us, uint64_t period_us)
{
	uint64_t passed_us, hits = queries(rule, us, &passed_us);

	CHECK(hits > 0 && hits <= passed_us / period_us + 3, "%" PRIu64 " times in %" PRIu64 " us: %s",
	      hits, passed_us, rule);
}

/*
 * Rate of the queries of a running port: imissed is queried whether the application reads it or not; vport and
 * physical counters are queried rarely until it reads them.
 */
static void
query_rates(void)
{
	check_rate(QUERIES, 500000, AGE_US / 4 * 3);
	(void)missed_get();
	check_rate(QUERIES, 500000, AGE_US / 2);
	check_rate(VPORT_QUERIES, UNREAD_AGE_US / 2 * 3, UNREAD_AGE_US / 4 * 3);
	(void)pmd_xstat(PORT_A, "device_counters_age_us");
	check_rate(VPORT_QUERIES, 500000, AGE_US / 2);
}

static int
ages_read(void *arg)
{
	uint64_t *age_us = arg;

	age_us[0] = pmd_xstat(PORT_A, "rx_missed_age_us");
	age_us[1] = pmd_xstat(PORT_A, "device_counters_age_us");
	return 0;
}

/*
 * The first reading after a start, by a worker lcore: imissed is at most AGE_US old, vport and physical counters at
 * most UNREAD_AGE_US. They are at most AGE_US old at the second reading.
 */
static void
first_reading(void)
{
	const unsigned int rounds = short_form() ? 5 : 15, enough = short_form() ? 1 : 8;
	unsigned int young = 0, soon = 0, i;
	uint64_t age_us[2], oldest_us = 0;

	for (i = 0; i < rounds; i++) {
		pmd_port_down(PORT_A);
		CHECK_OK(rte_eth_dev_start(PORT_A));
		pass_us(AGE_US + AGE_US / 2 + 20000 * i); /* Each round ends at another phase of the period. */
		CHECK_OK(rte_eal_remote_launch(ages_read, age_us, rte_get_next_lcore(-1, 1, 0)));
		rte_eal_mp_wait_lcore();
		oldest_us = RTE_MAX(oldest_us, age_us[1]);
		young += age_us[0] <= AGE_US && age_us[1] <= UNREAD_AGE_US;
		/* The first reading requested a query of vport and physical counters. */
		pass_us(AGE_US / 2); /* Less than their period. */
		soon += pmd_xstat(PORT_A, "device_counters_age_us") <= AGE_US;
	}
	printf("%u of %u first readings within their limits, vport and physical counters at most %" PRIu64
	       " us old; %u of the second at most %u us\n", young, rounds, oldest_us, soon, AGE_US);
	CHECK(young >= enough && soon >= enough, "%u and %u of %u readings are within their limits", young, soon,
	      rounds);
}

/*
 * From the first reading on all counters are at most AGE_US old. Not every reading must be, because a busy machine may
 * delay the threads; the short form runs on machines of unknown speed.
 */
static void
ages(void)
{
	const unsigned int enough = short_form() ? 5 : 50;
	unsigned int young = 0, i;
	uint64_t age_us;

	pmd_counts_settle(PORT_A);
	for (i = 0; i < 100; i++) {
		age_us = RTE_MAX(pmd_xstat(PORT_A, "rx_missed_age_us"),
				 pmd_xstat(PORT_A, "device_counters_age_us"));
		young += age_us <= AGE_US;
		pass_us(7000); /* 100 readings, spread over several periods. */
	}
	printf("%u of 100 readings at most %u us old\n", young, AGE_US);
	CHECK(young > enough, "%u of 100 readings are young enough", young);
}

/* Readings of one thread. A reading slept if it caused a voluntary context switch. */
struct readings {
	unsigned int slept, long_ones;
	uint64_t longest_us;
};

static long
switches(void)
{
	struct rusage ru = { 0 };

	(void)getrusage(RUSAGE_THREAD, &ru);
	return ru.ru_nvcsw;
}

static int
readings(void *arg)
{
	struct readings *r = arg;
	struct rte_eth_xstat xstats[512];
	struct rte_eth_stats s;
	uint64_t from_us, us;
	long from;

	for (unsigned int i = 0; i < READINGS; i++) {
		from = switches();
		from_us = now_us();
		CHECK_OK(rte_eth_stats_get(PORT_A, &s));
		CHECK(rte_eth_xstats_get(PORT_A, xstats, RTE_DIM(xstats)) <= (int)RTE_DIM(xstats), "too many xstats");
		us = now_us() - from_us;
		r->slept += switches() != from;
		r->long_ones += us > 1000;
		r->longest_us = RTE_MAX(r->longest_us, us);
		pass_us(SLOW_US / 100); /* Spreads the readings over all phases of a slow command. */
	}
	return 0;
}

static void *
readings_thread(void *arg)
{
	(void)readings(arg);
	return NULL;
}

/* The log lines about late replies, for both kinds of counters. */
static const char *const late_lines[] = {
	"not answer in time: imissed", "not answer in time: vport and physical counters",
};
static unsigned int late[RTE_DIM(late_lines)];

static ssize_t
log_line(void *cookie, const char *text, size_t bytes)
{
	RTE_SET_USED(cookie);
	for (unsigned int i = 0; i < RTE_DIM(late_lines); i++)
		late[i] += memmem(text, bytes, late_lines[i], strlen(late_lines[i])) != NULL;
	(void)!write(STDERR_FILENO, text, bytes);
	return (ssize_t)bytes;
}

static void
log_watch(void)
{
	FILE *log = fopencookie(NULL, "w", (cookie_io_functions_t){ .write = log_line });

	CHECK(log != NULL && setvbuf(log, NULL, _IOLBF, 1024) == 0 && rte_openlog_stream(log) == 0, "no log");
}

/*
 * Each command takes SLOW_US. No reader waits for one, neither the main lcore nor a worker lcore nor a thread that is
 * not an lcore (as telemetry's); the age grows, and one line is logged for each kind of counters. A few readings may
 * sleep or take long, because of the scheduler and of the clock's lock.
 */
static void
slow(void)
{
	static const char *const readers[] = { "main lcore", "worker", "thread" };
	struct readings r[RTE_DIM(readers)] = { 0 };
	unsigned int before[RTE_DIM(late)];
	uint64_t age_us, begin_us = now_us();
	unsigned int most;
	pthread_t thread;

	memcpy(before, late, sizeof(before));
	CHECK_OK(emu_fault("on cmd.entry do delay us=%u", SLOW_US));
	WAIT_FOR(emu_fault_hits() > 0);
	CHECK_OK(rte_eal_remote_launch(readings, &r[1], rte_get_next_lcore(-1, 1, 0)));
	CHECK_OK(pthread_create(&thread, NULL, readings_thread, &r[2]));
	(void)readings(&r[0]);
	pthread_join(thread, NULL);
	rte_eal_mp_wait_lcore();
	age_us = pmd_xstat(PORT_A, "device_counters_age_us");
	emu_fault_clear();
	for (unsigned int i = 0; i < RTE_DIM(readers); i++) {
		printf("%s: %u readings, %u slept, %u took over 1 ms, the longest %" PRIu64 " us, of commands of %u us\n",
		       readers[i], READINGS, r[i].slept, r[i].long_ones, r[i].longest_us, SLOW_US);
		CHECK(r[i].slept <= READINGS / 20, "%s: %u readings waited", readers[i], r[i].slept);
		CHECK(short_form() || r[i].long_ones <= READINGS / 20, "%s: %u readings took long", readers[i],
		      r[i].long_ones);
	}
	CHECK(age_us > AGE_US, "age %" PRIu64, age_us);
	/* At most one line per kind in ten seconds. */
	most = 1 + (now_us() - begin_us) / 10000000;
	for (unsigned int i = 0; i < RTE_DIM(late); i++)
		CHECK(late[i] > 0 && late[i] <= before[i] + most, "%u lines, %u before: %s", late[i], before[i],
		      late_lines[i]);
	pmd_counts_settle(PORT_A);
}

/*
 * The reply to an older query arrives after that to a newer one. If it were used the counter would go back, which looks
 * like a wrap of its 32 bits: imissed would grow by 2^32.
 */
static void
overtaken(void)
{
	uint64_t until_us, missed, most = 0;

	CHECK_OK(rte_eth_stats_reset(PORT_A));
	/* A query of the control thread, whose reply is delayed. */
	CHECK_OK(emu_fault(QUERIES "count 1 do delay us=%u", 2 * SLOW_US));
	WAIT_FOR(emu_fault_hits() == 1);
	miss(200);
	CHECK_OK(rte_eth_stats_reset(PORT_A));
	until_us = now_us() + 3 * SLOW_US;
	do {
		missed = missed_get();
		most = RTE_MAX(most, missed);
		pass_us(5000); /* imissed must stay 0 for the whole period. */
	} while (now_us() < until_us);
	CHECK(most == 0, "%" PRIu64 " missed after a reset", most);
	emu_fault_clear();
	CHECK(missed_settled() == 0, "%" PRIu64 " missed after a reset", missed_get());
}

/*
 * A stop reads the counters: imissed is exact then, also after the next start. While the port is stopped the device is
 * queried only if the application reads the statistics.
 */
static void
stopped(void)
{
	uint64_t passed_us, hits, vport = pmd_xstat(PORT_A, "rx_unicast_packets");

	CHECK_OK(rte_eth_stats_reset(PORT_A));
	miss(300);
	pmd_port_down(PORT_A);
	CHECK(missed_get() == 300 - 64, "%" PRIu64 " missed", missed_get());
	CHECK(pmd_xstat(PORT_A, "rx_unicast_packets") == vport + 300, "not %" PRIu64, vport + 300);
	CHECK_OK(rte_eth_dev_start(PORT_A));
	CHECK(missed_get() == 300 - 64, "%" PRIu64 " missed", missed_get());
	pmd_port_down(PORT_A);
	hits = queries(QUERIES, 500000, &passed_us);
	CHECK(hits == 0, "%" PRIu64 " queries of a stopped port", hits);
	(void)missed_get();
	hits = queries(QUERIES, 500000, &passed_us);
	CHECK(hits > 0, "no queries after a reading");
	CHECK_OK(rte_eth_dev_start(PORT_A));
}

/* Refused queries leave imissed unchanged; it is right again after the next query that succeeds. */
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

/* Three replies are lost: the driver repeats the query. */
static void
lost(uint64_t before)
{
	CHECK_OK(emu_fault("on event.fd count 3 do drop"));
	pmd_counts_settle(PORT_A);
	CHECK(emu_fault_hits() == 3, "%" PRIu64 " replies lost", emu_fault_hits());
	emu_fault_clear();
	CHECK(missed_settled() == before, "%" PRIu64 " missed, not %" PRIu64, missed_get(), before);
}

/* All replies are lost: after sixteen of them the worker issues synchronous commands, and the ages are small again. */
static void
full(uint64_t before)
{
	uint64_t until_us = now_us() + 30 * 1000000, age_us;
	unsigned int young = 0;

	CHECK_OK(emu_fault("on event.fd do drop"));
	do {
		age_us = pmd_xstat(PORT_A, "rx_missed_age_us");
		young = age_us <= AGE_US ? young + 1 : 0;
		pass_us(50000); /* 20 readings in a row, half a period apart. */
	} while (young < 20 && now_us() < until_us);
	CHECK(young == 20, "age stays %" PRIu64 " us", age_us);
	printf("%" PRIu64 " replies lost\n", emu_fault_hits());
	emu_fault_clear();
	CHECK(missed_settled() == before, "%" PRIu64 " missed, not %" PRIu64, missed_get(), before);
}

/* The device's counter has 32 bits and wraps. A reply of 0 is not a value: a command that the kernel gave up has 0. */
static void
wrap(uint64_t before)
{
	uint64_t end = (before & ~UINT64_C(0xffffffff)) + 0xfffffff0;

	CHECK_OK(emu_fault("on cmd.exit match op=QUERY_Q_COUNTER port=0 do set field=out_of_buffer value=0xfffffff0"));
	CHECK(missed_settled() == end, "%" PRIu64 " missed, not %" PRIu64, missed_get(), end);
	CHECK_OK(emu_fault("on cmd.exit match op=QUERY_Q_COUNTER port=0 do set field=out_of_buffer value=0"));
	pass_us(2 * AGE_US); /* The 0 must not become visible. */
	CHECK(missed_get() == end, "%" PRIu64 " missed, not %" PRIu64, missed_get(), end);
	emu_fault_clear();
	end += (uint32_t)before + 16;
	CHECK(missed_settled() == end, "%" PRIu64 " missed, not %" PRIu64, missed_get(), end);
	CHECK_OK(rte_eth_stats_reset(PORT_A));
	CHECK(missed_get() == 0, "%" PRIu64 " after a reset", missed_get());
	miss(100);
	CHECK(missed_settled() == 100 - 64, "%" PRIu64 " missed after a reset", missed_get());
}

/* Reads imissed for 1 s; no value is smaller than the previous one. Stores the largest in *arg. */
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

static uint64_t
vport_xstat(uint16_t port, const char *direction, const char *kind, const char *unit)
{
	char name[RTE_ETH_XSTATS_NAME_SIZE];

	snprintf(name, sizeof(name), "%s_%s_%s", direction, kind, unit);
	return pmd_xstat(port, name);
}

/* Each of the twelve vport counters has its own number: no field is read from the place of another. */
static void
kinds(void)
{
	static const struct {
		const char *name;
		struct rte_ether_addr dst;
		uint16_t n, bytes;
	} rows[] = {
		{ "unicast", { { 0 } }, 3, 100 },
		{ "multicast", { { 0x01, 0x00, 0x5e, 0x01, 0x02, 0x03 } }, 5, 200 },
		{ "broadcast", { { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff } }, 7, 300 },
	};
	uint64_t before[RTE_DIM(rows)][4];
	struct pmd_frame f = pmd_frame_udp(PORT_B, PORT_A, 1);
	struct rte_ether_addr unicast = f.dst;
	unsigned int i, k, n = 0;

	CHECK_OK(rte_eth_allmulticast_enable(PORT_A));
	pmd_counts_settle(PORT_A);
	pmd_counts_settle(PORT_B);
	for (unsigned int after = 0; after < 2; after++) {
		for (i = 0; i < RTE_DIM(rows); i++) {
			const uint64_t now[4] = {
				vport_xstat(PORT_B, "tx", rows[i].name, "packets"),
				vport_xstat(PORT_B, "tx", rows[i].name, "bytes"),
				vport_xstat(PORT_A, "rx", rows[i].name, "packets"),
				vport_xstat(PORT_A, "rx", rows[i].name, "bytes"),
			};

			for (k = 0; k < 4; k++) {
				unsigned int want = rows[i].n * (k & 1 ? rows[i].bytes : 1);

				if (after)
					CHECK(now[k] - before[i][k] == want, "%s, %u: %" PRIu64 ", not %u",
					      rows[i].name, k, now[k] - before[i][k], want);
				before[i][k] = now[k];
			}
		}
		if (after)
			break;
		for (i = 0; i < RTE_DIM(rows); i++) {
			f.dst = i == 0 ? unicast : rows[i].dst;
			f.bytes = rows[i].bytes;
			for (k = 0; k < rows[i].n; k++)
				n += pmd_send(PORT_B, 0, &f);
		}
		CHECK(n == 15 && pmd_drain(PORT_A, n, 5000, NULL) == n, "%u sent, not all received", n);
		pmd_counts_settle(PORT_A);
		pmd_counts_settle(PORT_B);
	}
	CHECK_OK(rte_eth_allmulticast_disable(PORT_A));
}

/*
 * stats_age_ms=0: each reading queries the device. Two threads read while a full ring misses frames. The device may
 * execute their queries in another order than they were issued, and a step back must not be taken for a wrap.
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
	pmd_init(argc, argv);
	log_watch();
	pmd_ports_up(&conf);
	if (pmd_devarg(PORT_A, "stats_age_ms=0")) {
		readers();
		pmd_ports_down();
		return pmd_fini();
	}
	query_rates();
	first_reading();
	ages();
	kinds();
	slow();
	miss(300);
	CHECK(missed_settled() == 300 - 64, "%" PRIu64 " missed", missed_get());
	refused(missed_get());
	/* Through VFIO all queries are synchronous commands: there is no asynchronous reply to lose. */
	if (!pmd_devarg(PORT_A, "open=vfio")) {
		lost(missed_get());
		if (getenv("PMD_TEST_LONG") != NULL)
			full(missed_get());
	}
	wrap(missed_get());
	if (!pmd_devarg(PORT_A, "open=vfio"))
		overtaken();
	stopped();
	pmd_ports_down();
	return pmd_fini();
}
