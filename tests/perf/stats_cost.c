/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Cost of reading statistics: a worker lcore forwards while statistics are read 10,000 times per second by no thread,
 * by another thread, or by the worker itself. The three kinds of rounds alternate, so that other load of the machine
 * affects all alike. Bursts and readings with an involuntary context switch measure that load and are omitted; those
 * with a voluntary wait are kept.
 *
 * Usage: stats_cost EAL-ARGUMENTS -- [SECONDS-OF-A-ROUND [ROUNDS]]; needs two connected ports and two lcores
 */

#include <sys/resource.h>

#include <rte_cycles.h>
#include <rte_launch.h>
#include <rte_lcore.h>

#include "pmd_test.h"

#define BURST 32
#define IN_FLIGHT 128
#define SAMPLES_MAX (4u << 20)
#define ROUNDS_MAX 64u
#define READS_PER_S 10000

enum reader { NO_THREAD, THREAD, WORKER, NB_READERS };
static const char *const reader_names[NB_READERS] = { "no thread", "another thread", "the worker itself" };

/* Durations in TSC ticks. */
struct samples {
	uint32_t *at;
	size_t n;
};

struct round {
	double burst_p50, burst_p99, burst_p999, read_p50, read_p99, read_max, reads, mpps, omitted;
};

static struct samples bursts, reads;
static struct round rounds[NB_READERS][ROUNDS_MAX];
static size_t nb_bursts[NB_READERS]; /* Of all rounds; on a busy machine a round may have none. */
static volatile bool quit;
static uint64_t forwarded, omitted; /* Packets and bursts of the worker. */
static double ns_per_tick;

static void
sample(struct samples *s, uint64_t ticks)
{
	if (s->n < SAMPLES_MAX)
		s->at[s->n++] = RTE_MIN(ticks, UINT32_MAX);
}

/* Whether there was an involuntary context switch since the last call (getrusage(2)). */
static bool
preempted(void)
{
	static __thread long last;
	struct rusage ru = { 0 };
	long before = last;

	(void)getrusage(RUSAGE_THREAD, &ru);
	last = ru.ru_nivcsw;
	return last != before;
}

static int
compare(const void *a, const void *b)
{
	return *(const uint32_t *)a < *(const uint32_t *)b ? -1 : *(const uint32_t *)a > *(const uint32_t *)b;
}

/* In nanoseconds; the samples are sorted. */
static double
quantile(const struct samples *s, double q)
{
	return s->n == 0 ? 0 : s->at[(size_t)(q * (double)(s->n - 1))] * ns_per_tick;
}

/* ------------------------------------------------------------------ forwarding and reading */

static void
read_once(unsigned int i)
{
	static struct rte_eth_xstat xstats[1024];
	struct rte_eth_stats s;
	uint64_t begin = rte_rdtsc(), ticks;

	(void)rte_eth_stats_get(i & 1, &s);
	if (i % 10 == 0)
		(void)rte_eth_xstats_get(i / 10 & 1, xstats, RTE_DIM(xstats));
	ticks = rte_rdtsc() - begin;
	if (!preempted())
		sample(&reads, ticks);
}

/* Receives one burst on a port and sends it on the same port. */
static void
bounce(uint16_t port)
{
	struct rte_mbuf *pkts[BURST];
	uint64_t begin = rte_rdtsc(), ticks;
	uint16_t n = rte_eth_rx_burst(port, 0, pkts, BURST), sent;

	if (n == 0)
		return;
	sent = rte_eth_tx_burst(port, 0, pkts, n);
	ticks = rte_rdtsc() - begin;
	if (preempted())
		omitted++;
	else
		sample(&bursts, ticks);
	forwarded += sent;
	rte_pktmbuf_free_bulk(pkts + sent, n - sent);
}

static int
forward(void *arg)
{
	const bool reads_too = arg != NULL;
	const uint64_t every = rte_get_tsc_hz() / READS_PER_S;
	uint64_t next = rte_rdtsc();
	unsigned int i = 0;

	(void)preempted();
	while (!quit) {
		bounce(PORT_A);
		bounce(PORT_B);
		if (reads_too && rte_rdtsc() >= next) {
			read_once(i++);
			next += every;
		}
	}
	return 0;
}

static void
refill(void)
{
	struct pmd_frame f = pmd_frame_udp(PORT_B, PORT_A, 1);

	/* Empty the cable: receive until no packet comes for 50 ms. */
	pmd_drain(PORT_A, 100000, 50, NULL);
	pmd_drain(PORT_B, 100000, 50, NULL);
	for (unsigned int i = 0; i < IN_FLIGHT; i++)
		(void)pmd_send(PORT_B, 0, &f);
}

/* Reads statistics READS_PER_S times per second, or as often as the machine permits. */
static void
read_for(uint64_t ticks)
{
	const uint64_t every = rte_get_tsc_hz() / READS_PER_S, begin = rte_rdtsc();
	uint64_t next = begin, now;

	for (unsigned int i = 0; (now = rte_rdtsc()) - begin < ticks; i++) {
		read_once(i);
		next += every;
		now = rte_rdtsc();
		if (now < next)
			pass_us((next - now) * 1000000 / rte_get_tsc_hz()); /* The rate of readings. */
	}
}

static void
round_run(enum reader reader, double seconds, struct round *r)
{
	struct samples *const all[] = { &bursts, &reads };
	unsigned int i;

	refill();
	bursts.n = reads.n = 0;
	forwarded = omitted = 0;
	quit = false;
	CHECK_OK(rte_eal_remote_launch(forward, reader == WORKER ? &bursts : NULL, rte_get_next_lcore(-1, 1, 0)));
	if (reader == THREAD)
		read_for((uint64_t)(seconds * (double)rte_get_tsc_hz()));
	else
		pass_us((uint64_t)(seconds * 1e6)); /* The measured period. */
	quit = true;
	rte_eal_mp_wait_lcore();
	for (i = 0; i < RTE_DIM(all); i++)
		qsort(all[i]->at, all[i]->n, sizeof(all[i]->at[0]), compare);
	*r = (struct round) {
		quantile(&bursts, 0.5), quantile(&bursts, 0.99), quantile(&bursts, 0.999),
		quantile(&reads, 0.5), quantile(&reads, 0.99), quantile(&reads, 1),
		(double)reads.n / seconds, (double)forwarded / seconds / 1e6,
		100.0 * (double)omitted / (double)(omitted + bursts.n + 1),
	};
	nb_bursts[reader] += bursts.n;
}

/* ------------------------------------------------------------------ report */

static int
compare_double(const void *a, const void *b)
{
	return *(const double *)a < *(const double *)b ? -1 : *(const double *)a > *(const double *)b;
}

static double
median(const struct round *r, unsigned int n, size_t offset)
{
	double v[ROUNDS_MAX];

	for (unsigned int i = 0; i < n; i++)
		v[i] = *(const double *)((const uint8_t *)&r[i] + offset);
	qsort(v, n, sizeof(v[0]), compare_double);
	return v[n / 2];
}

static void
table(unsigned int n)
{
	printf("Medians of %u rounds. ns: a burst (receive and send of 1 to %d), a reading.\n\n", n, BURST);
	printf("%-18s %9s %9s %11s %8s %8s %9s %9s %7s %8s\n", "statistics read by", "burst p50", "burst p99",
	       "burst p99.9", "reads/s", "read p50", "read p99", "read max", "Mpps", "aside, %");
	for (int w = 0; w < NB_READERS; w++) {
		const struct round *r = rounds[w];

#define M(field) median(r, n, offsetof(struct round, field))
		printf("%-18s %9.0f %9.0f %11.0f %8.0f %8.0f %9.0f %9.0f %7.3f %8.1f\n", reader_names[w],
		       M(burst_p50), M(burst_p99), M(burst_p999), M(reads), M(read_p50), M(read_p99),
		       M(read_max), M(mpps), M(omitted));
#undef M
	}
}

int
main(int argc, char **argv)
{
	struct pmd_conf conf = { .nb_rxq = 1, .nb_txq = 1, .nb_desc = 512 };
	struct samples *const all[] = { &bursts, &reads };
	unsigned int n = 9, i;
	double seconds = 1;

	for (i = 1; i < (unsigned int)argc && strcmp(argv[i], "--") != 0; i++)
		;
	if (i + 1 < (unsigned int)argc)
		seconds = atof(argv[i + 1]);
	if (i + 2 < (unsigned int)argc)
		n = RTE_MIN(ROUNDS_MAX, (unsigned int)atoi(argv[i + 2]));
	pmd_init(argc, argv);
	ns_per_tick = 1e9 / (double)rte_get_tsc_hz();
	for (i = 0; i < RTE_DIM(all); i++)
		all[i]->at = calloc(SAMPLES_MAX, sizeof(all[i]->at[0]));
	if (bursts.at == NULL || reads.at == NULL || n == 0 || seconds <= 0)
		return EXIT_FAILURE;
	pmd_ports_up(&conf);
	CHECK_OK(rte_eth_promiscuous_enable(PORT_A));
	CHECK_OK(rte_eth_promiscuous_enable(PORT_B));
	for (i = 0; i < n; i++)
		for (int w = 0; w < NB_READERS; w++)
			round_run((enum reader)w, seconds, &rounds[w][i]);
	for (int w = 0; w < NB_READERS; w++)
		CHECK(nb_bursts[w] != 0, "nothing was forwarded while %s read", reader_names[w]);
	table(n);
	pmd_ports_down();
	return pmd_fini();
}
