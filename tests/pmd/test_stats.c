/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Statistics per queue and per port, basic and extended: they match the traffic, and a reset sets them to 0. */

#include <pthread.h>

#include <rte_cycles.h>

#include "pmd_test.h"

#define QUEUES 4
#define FRAMES 1000
#define FRAME_BYTES 200

static struct rte_eth_xstat xstats[1024];
static struct rte_eth_xstat_name names[1024];

static void
traffic(unsigned int *per_queue)
{
	struct pmd_frame f;
	unsigned int i, got = 0;

	for (i = 0; i < FRAMES; i++) {
		f = pmd_frame_udp(PORT_B, PORT_A, i);
		f.bytes = FRAME_BYTES;
		CHECK(pmd_send(PORT_B, i % 2, &f) == 1, "frame %u", i);
		got += pmd_drain(PORT_A, 1, 0, per_queue);
	}
	got += pmd_drain(PORT_A, FRAMES - got, 2000, per_queue);
	CHECK(got == FRAMES, "%u of %u frames", got, FRAMES);
}

/* What stats_get counted for a queue. ethdev shows it among the extended counters; 25.11 has no other place for it. */
static uint64_t
queue_xstat(uint16_t port, const char *direction, unsigned int queue, const char *what)
{
	char name[64];

	snprintf(name, sizeof(name), "%s_q%u_%s", direction, queue, what);
	return pmd_xstat(port, name);
}

static void
basic(const unsigned int *per_queue)
{
	struct rte_eth_stats a, b;
	unsigned int i;
	uint64_t n;

	CHECK_OK(rte_eth_stats_get(PORT_A, &a));
	CHECK_OK(rte_eth_stats_get(PORT_B, &b));
	CHECK(a.ipackets == FRAMES, "%" PRIu64, a.ipackets);
	CHECK(a.ibytes == FRAMES * FRAME_BYTES, "%" PRIu64, a.ibytes);
	CHECK(b.opackets == FRAMES, "%" PRIu64, b.opackets);
	CHECK(b.obytes == FRAMES * FRAME_BYTES, "%" PRIu64, b.obytes);
	CHECK(a.opackets == 0 && b.ipackets == 0, "%" PRIu64 ", %" PRIu64, a.opackets, b.ipackets);
	CHECK(a.imissed + a.ierrors + a.oerrors + a.rx_nombuf == 0, "errors");
	for (i = 0; i < QUEUES; i++) {
		n = queue_xstat(PORT_A, "rx", i, "packets");
		CHECK(n == per_queue[i], "queue %u: %" PRIu64 ", received %u", i, n, per_queue[i]);
		n = queue_xstat(PORT_A, "rx", i, "bytes");
		CHECK(n == (uint64_t)per_queue[i] * FRAME_BYTES, "queue %u: %" PRIu64, i, n);
	}
	for (i = 0; i < 2; i++) {
		n = queue_xstat(PORT_B, "tx", i, "packets");
		CHECK(n == FRAMES / 2, "queue %u: %" PRIu64, i, n);
	}
}

static void
extended(const unsigned int *per_queue)
{
	int n = rte_eth_xstats_get(PORT_A, NULL, 0), i, k;
	char name[64];

	CHECK(n > 0 && n < 1024, "%d xstats", n);
	CHECK(rte_eth_xstats_get_names(PORT_A, names, 1024) == n, "numbers of names and values differ");
	CHECK(rte_eth_xstats_get(PORT_A, xstats, 1024) == n, "number changed");
	CHECK(rte_eth_xstats_get(PORT_A, xstats, n - 1) == n, "short array");
	for (i = 0; i < n; i++) {
		CHECK(xstats[i].id == (uint64_t)i, "id %" PRIu64 " at %d", xstats[i].id, i);
		CHECK(names[i].name[0] != '\0', "no name at %d", i);
		for (k = 0; k < i; k++)
			CHECK(strcmp(names[i].name, names[k].name) != 0, "%s twice", names[i].name);
	}
	CHECK(pmd_xstat(PORT_A, "rx_good_packets") == FRAMES, "rx_good_packets");
	for (i = 0; i < QUEUES; i++) {
		snprintf(name, sizeof(name), "rx_q%d_packets", i);
		CHECK(pmd_xstat(PORT_A, name) == per_queue[i], "%s %" PRIu64, name,
		      pmd_xstat(PORT_A, name));
		snprintf(name, sizeof(name), "rx_q%d_completions_refused", i);
		CHECK(pmd_xstat(PORT_A, name) == 0, "%s", name);
	}
	CHECK(pmd_xstat(PORT_B, "tx_doorbells") > 0 &&
	      pmd_xstat(PORT_B, "tx_doorbells") != UINT64_MAX, "tx_doorbells");
	CHECK(pmd_xstat(PORT_A, "rx_unicast_packets") == FRAMES, "rx_unicast_packets %" PRIu64,
	      pmd_xstat(PORT_A, "rx_unicast_packets"));
	CHECK(pmd_xstat(PORT_B, "tx_unicast_packets") == FRAMES, "tx_unicast_packets %" PRIu64,
	      pmd_xstat(PORT_B, "tx_unicast_packets"));
	/* From the device's registers, or from the kernel interface if the firmware refuses them. */
	CHECK(pmd_xstat(PORT_A, "rx_phy_packets") == FRAMES, "rx_phy_packets %" PRIu64,
	      pmd_xstat(PORT_A, "rx_phy_packets"));
	CHECK(pmd_xstat(PORT_B, "tx_phy_packets") == FRAMES, "tx_phy_packets %" PRIu64,
	      pmd_xstat(PORT_B, "tx_phy_packets"));
}

/* In one reading: a direction's packets or bytes are those of its queues and of released ones. */
static unsigned int
agree(uint16_t port)
{
	static const char *const sums[] = { "rx_good_packets", "rx_good_bytes", "tx_good_packets", "tx_good_bytes" };
	int n = rte_eth_xstats_get(port, xstats, RTE_DIM(xstats)), q, end;
	uint64_t total, parts;
	unsigned int wrong = 0;

	for (unsigned int s = 0; s < RTE_DIM(sums); s++) {
		const char *what = sums[s] + strlen("rx_good");

		total = parts = 0;
		for (int i = 0; i < n; i++) {
			const char *name = names[i].name;

			end = 0;
			if (strcmp(name, sums[s]) == 0)
				total = xstats[i].value;
			else if (strncmp(name, sums[s], 3) == 0 && strncmp(name + 3, "released", 8) == 0 &&
				 strcmp(name + 11, what) == 0)
				parts += xstats[i].value;
			else if (strncmp(name, sums[s], 3) == 0 && sscanf(name + 3, "q%d%n", &q, &end) == 1 &&
				 strcmp(name + 3 + end, what) == 0)
				parts += xstats[i].value;
		}
		wrong += total != parts || total > UINT32_MAX;
	}
	return wrong;
}

static void
names_get(uint16_t port)
{
	int n = rte_eth_xstats_get(port, NULL, 0);

	CHECK(rte_eth_xstats_get_names(port, names, RTE_DIM(names)) == n, "names");
}

static bool over;
static unsigned int readings, wrong_readings;

static void *
reader(void *arg)
{
	while (!__atomic_load_n(&over, __ATOMIC_RELAXED)) {
		wrong_readings += agree(*(const uint16_t *)arg) != 0;
		__atomic_store_n(&readings, readings + 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

/* Another thread reads while bursts count and statistics are reset. */
static void
epoch(void)
{
	uint16_t port = PORT_A;
	pthread_t thread;

	names_get(PORT_A);
	/* ethdev reads its own statistics first, and a reset between them and ours would show as released queues. */
	CHECK_OK(rte_eth_stats_reset(PORT_A));
	CHECK_OK(pthread_create(&thread, NULL, reader, &port));
	for (unsigned int i = 0; i < 4000 || (i < 1000000 && __atomic_load_n(&readings, __ATOMIC_RELAXED) < 100); i++) {
		struct pmd_frame f = pmd_frame_udp(PORT_B, PORT_A, i);

		CHECK(pmd_send(PORT_B, i % 2, &f) == 1, "frame %u", i);
		(void)pmd_drain(PORT_A, 1, 0, NULL);
		if (i % 64 == 0)
			CHECK_OK(rte_eth_stats_reset(PORT_A));
	}
	__atomic_store_n(&over, true, __ATOMIC_RELAXED);
	CHECK_OK(pthread_join(thread, NULL));
	printf("%u readings\n", readings);
	CHECK(wrong_readings == 0, "in %u of %u readings queues and sums differ", wrong_readings, readings);
	(void)pmd_drain(PORT_A, FRAMES, 200, NULL);
}

/* A ring that is not polled: each frame is received later or counted in imissed. */
static void
missed(void)
{
	struct rte_eth_stats a;
	struct pmd_frame f;
	unsigned int i, got;

	CHECK_OK(rte_eth_stats_reset(PORT_A));
	for (i = 0; i < 2000; i++) {
		f = pmd_frame_udp(PORT_B, PORT_A, 1); /* One flow: one queue of 256 descriptors. */
		CHECK(pmd_send(PORT_B, 0, &f) == 1, "not sent");
	}
	(void)AWAIT(pmd_xstat(PORT_A, "rx_unicast_packets") >= 2000, 5000);
	got = pmd_drain(PORT_A, 2000, 300, NULL);
	pmd_counts_settle(PORT_A);
	CHECK_OK(rte_eth_stats_get(PORT_A, &a));
	CHECK(a.imissed > 0, "nothing missed");
	CHECK(a.ipackets == got && got + a.imissed == 2000, "%u received, %" PRIu64 " missed", got, a.imissed);
	printf("%u received and %" PRIu64 " missed of 2000\n", got, a.imissed);
}

static void
resets(void)
{
	struct rte_eth_stats a;
	int i, n;

	CHECK_OK(rte_eth_stats_reset(PORT_A));
	CHECK_OK(rte_eth_stats_get(PORT_A, &a));
	CHECK(a.ipackets + a.ibytes + a.imissed == 0, "not zero");
	CHECK(queue_xstat(PORT_A, "rx", 0, "packets") == 0 && queue_xstat(PORT_A, "rx", 1, "packets") == 0, "not zero");
	CHECK_OK(rte_eth_xstats_reset(PORT_A));
	n = rte_eth_xstats_get(PORT_A, xstats, 1024);
	for (i = 0; i < n; i++)
		CHECK(xstats[i].value == 0 || strstr(names[i].name, "_age_us") != NULL, "%s is %" PRIu64 " after a reset", names[i].name,
		      xstats[i].value);
}

int
main(int argc, char **argv)
{
	struct pmd_conf conf = { .nb_rxq = QUEUES, .nb_txq = 2, .nb_desc = 256, .rss_hf = RTE_ETH_RSS_IP |
				 RTE_ETH_RSS_UDP };
	unsigned int per_queue[QUEUES] = { 0 };
	struct rte_eth_stats stats;

	pmd_init(argc, argv);
	pmd_ports_up(&conf);
	CHECK_OK(rte_eth_xstats_reset(PORT_A)); /* Vport counters count from the start of the device. */
	CHECK_OK(rte_eth_xstats_reset(PORT_B));
	traffic(per_queue);
	basic(per_queue);
	pmd_counts_settle(PORT_A);
	pmd_counts_settle(PORT_B);
	extended(per_queue);
	/* Totals are kept across a stop and a reconfiguration. */
	pmd_ports_down();
	conf.nb_rxq = 1;
	CHECK_OK(pmd_port_configure(PORT_A, &conf));
	CHECK_OK(rte_eth_stats_get(PORT_A, &stats));
	CHECK(stats.ipackets == FRAMES, "%" PRIu64 " after reconfiguring", stats.ipackets);
	names_get(PORT_A);
	CHECK(agree(PORT_A) == 0 && pmd_xstat(PORT_A, "rx_released_packets") == FRAMES, "%" PRIu64 " of released queues",
	      pmd_xstat(PORT_A, "rx_released_packets"));
	conf.nb_rxq = QUEUES;
	pmd_ports_up(&conf);
	epoch();
	missed();
	resets();
	pmd_ports_down();
	return pmd_fini();
}
