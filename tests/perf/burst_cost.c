/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Cost of a burst: instructions by single-stepping and TSC ticks by timing, on rings that are filled before. The
 * program fails unless each burst handles all its packets.
 *
 * The instruction count is exact and the same on any machine; ticks depend on the machine and its load.
 *
 * burst_cost [ROUNDS [ROW]]: rounds of timing (default 1500), 0 prints instructions only; of the rows whose name with
 * its instruction set contains ROW.
 */

#include <string.h>

#include <rte_eal.h>

#include "mlxpmd_mprq.h"
#include "../burst/rig.h"
#include "perf_step.h"

#define BURST 32
#define LOG_RING 10
#define RING (1u << LOG_RING)
/* Calls in a round: long enough for all that a burst function does once in several calls. */
#define CALLS 16u
#define CALLS_OF_BURST 8u
#define ROUNDS 1500

static struct rte_mempool *pool;
static struct mlxpmd_clock ts_clock;

/* ---- one measurement ---- */

struct run {
	const char *name;
	unsigned int features, per_burst;
	bool tx, multi;		/* multi: packets of two segments. */
	uint32_t bytes;
	bool alternate;		/* Offloads of each packet differ from those of the one before. */
	uint16_t segsz;		/* 0: the device segments nothing. */
	bool striding;
	uint16_t inline_mpw;
	bool compressed;	/* Sessions for the function of queues without compression. */
	bool enhanced;		/* Compressed CQEs have the enhanced layout. */
	bool whole;		/* Whole CQEs for the function of queues with compression. */
	uint8_t format;		/* enum mdv_mini_cqe; 0: hash. */
};
static const struct run runs[] = {
	{ "rx empty poll", 0, 0, false, false, 0 },
	{ "rx 60 B", 0, 32, false, false, 60 },
	{ "rx 60 B, hash", MLXPMD_RX_F_HASH, 32, false, false, 60 },
	{ "rx 60 B, hash, ns timestamp", MLXPMD_RX_F_HASH | MLXPMD_RX_F_TS, 32, false, false, 60 },
	{ "rx 60 B, scatter template", MLXPMD_RX_F_SCATTER, 32, false, false, 60 },
	{ "rx 60 B, hash, compressed", MLXPMD_RX_F_HASH | MLXPMD_RX_F_COMP, 32, false, false, 60 },
	{ "rx 60 B, compressed, flow tag", MLXPMD_RX_F_COMP, 32, .bytes = 60, .format = MDV_MINI_CQE_FLOW_TAG },
	{ "rx 60 B, compressed, L3/L4 header", MLXPMD_RX_F_COMP, 32, .bytes = 60, .format = MDV_MINI_CQE_L3_L4 },
	{ "rx 60 B, hash, compressed, expanded", MLXPMD_RX_F_HASH, 32, false, false, 60, .compressed = true },
	{ "rx 60 B, hash, compressed, enhanced", MLXPMD_RX_F_HASH | MLXPMD_RX_F_COMP, 32, .bytes = 60,
	  .enhanced = true },
	{ "rx 60 B, hash, compression on, whole CQEs", MLXPMD_RX_F_HASH | MLXPMD_RX_F_COMP, 32, .bytes = 60,
	  .whole = true },
	{ "rx 1 packet per poll, compression on", MLXPMD_RX_F_HASH | MLXPMD_RX_F_COMP, 1, .bytes = 60, .whole = true },
	{ "rx 1 packet per poll", MLXPMD_RX_F_HASH, 1, false, false, 60 },
	{ "rx 4 packets per poll", MLXPMD_RX_F_HASH, 4, false, false, 60 },
	{ "rx 8 packets per poll", MLXPMD_RX_F_HASH, 8, false, false, 60 },
	{ "rx 60 B, hash, striding: copied", MLXPMD_RX_F_HASH | MLXPMD_RX_F_STRIDING, 32, .bytes = 60,
	  .striding = true },
	{ "rx 60 B, hash, striding, compressed", MLXPMD_RX_F_HASH | MLXPMD_RX_F_STRIDING | MLXPMD_RX_F_COMP, 32,
	  .bytes = 60, .striding = true },
	{ "rx 1500 B, hash, striding: attached", MLXPMD_RX_F_HASH | MLXPMD_RX_F_STRIDING, 32, .bytes = 1500,
	  .striding = true },
	{ "tx 60 B, SEND, fast free", MLXPMD_TX_F_FAST_FREE, 32, true, false, 60 },
	{ "tx 60 B, SEND", 0, 32, true, false, 60 },
	{ "tx 60 B, MPW, fast free", MLXPMD_TX_F_MPW | MLXPMD_TX_F_FAST_FREE, 32, true, false, 60 },
	{ "tx 60 B, MPW", MLXPMD_TX_F_MPW, 32, true, false, 60 },
	{ "tx 60 B, MPW, checksum flags, fast free",
	  MLXPMD_TX_F_MPW | MLXPMD_TX_F_OFFLOAD | MLXPMD_TX_F_FAST_FREE, 32, true, false, 60 },
	{ "tx 60 B, MPW, alternating flags, fast free",
	  MLXPMD_TX_F_MPW | MLXPMD_TX_F_OFFLOAD | MLXPMD_TX_F_FAST_FREE, 32, true, false, 60, true },
	{ "tx 60 B, MPW, multi-segment template", MLXPMD_TX_F_MPW | MLXPMD_TX_F_MULTI, 32, true, false, 60 },
	{ "tx 60 B, inline, fast free", MLXPMD_TX_F_MPW | MLXPMD_TX_F_COPY | MLXPMD_TX_F_FAST_FREE, 32, true, false,
	  60, false, 0, false, 128 },
	{ "tx 64 B, inline, fast free", MLXPMD_TX_F_MPW | MLXPMD_TX_F_COPY | MLXPMD_TX_F_FAST_FREE, 32, true, false,
	  64, false, 0, false, 128 },
	{ "tx 64 B, inline, multi-segment template", MLXPMD_TX_F_MPW | MLXPMD_TX_F_COPY, 32, true, false, 64, false, 0,
	  false, 128 },
	{ "tx 128 B, inline, fast free", MLXPMD_TX_F_MPW | MLXPMD_TX_F_COPY | MLXPMD_TX_F_FAST_FREE, 32, true, false,
	  128, false, 0, false, 128 },
	{ "tx 2 segments", MLXPMD_TX_F_MULTI, 32, true, true, 400 },
	{ "tx 60 B, MPW, TSO template", MLXPMD_TX_F_MPW | MLXPMD_TX_F_TSO, 32, true, false, 60 },
	{ "tx 1400 B, TSO, 2 frames", MLXPMD_TX_F_MPW | MLXPMD_TX_F_TSO, 32, true, false, 1400, false, 700 },
	{ "tx 1 packet per burst, MPW, fast free", MLXPMD_TX_F_MPW | MLXPMD_TX_F_FAST_FREE, 1, true, false, 60 },
	{ "tx nothing", MLXPMD_TX_F_MPW | MLXPMD_TX_F_FAST_FREE, 0, true, false, 60 },
};

struct bench {
	struct rig_rx *rx;
	struct rig_striding striding;
	struct rig_tx *tx;
	uint32_t tx_segs;
};

static void
rx_fill(struct rig_rx *r, unsigned int n)
{
	static const struct rig_rx_cqe c = { .hds = 7, .etc = 1 << 4 | 2 << 2, .hash = 0x1234567,
					     .hash_type = 0x44, .ts = 1000000 };

	struct rig_rx_session s;

	rig_rx_session_begin(r, r->rxq.mini_cqe, &s);
	while (n-- != 0)
		if (!(r->rxq.mini_cqe != MDV_MINI_CQE_NONE ? rig_rx_session_packet(r, &s, n, 60, &c) :
							     rig_rx_packet(r, n, 60, &c)))
			abort();
	if (!r->rxq.q.hw.cq.enhanced || r->cqe_count == RING + s.n) {
		rig_rx_session_end(r, &s);
		return;
	}
	/* Blocks as long as possible, whose title is the first packet of all. */
	r->cqe_count -= s.n;
	for (n = 0; n < s.n; n += 7)
		rig_rx_block(r, s.minis + (size_t)n * 8, RTE_MIN(7u, s.n - n));
}

static void
nothing(void *arg __rte_unused, const struct rig_tx_packet *p __rte_unused)
{
}

static void
striding_fill(struct rig_striding *c, const struct run *r)
{
	unsigned int k;

	if (r->features & MLXPMD_RX_F_COMP)
		rig_striding_session_begin(c, c->r->rxq.mini_cqe);
	for (k = 0; k < r->per_burst; k++)
		if (!rig_striding_packet(c, k, r->bytes))
			abort();
	rig_striding_session_end(c);
}

/* Prepares the bursts of a round and calls `timed` for each; the mean of the results. */
static uint64_t
round_of(struct bench *b, const struct run *r, uint64_t (*timed)(struct bench *, const struct run *,
								   struct rte_mbuf **))
{
	unsigned int calls = r->per_burst < BURST ? CALLS : CALLS_OF_BURST, i, k;
	struct rte_mbuf *pkts[BURST];
	uint64_t sum = 0;

	for (i = 0; i < calls; i++) {
		if (!r->tx) {
			if (r->striding)
				striding_fill(&b->striding, r);
			else
				rx_fill(b->rx, r->per_burst);
			sum += timed(b, r, pkts);
			rte_pktmbuf_free_bulk(pkts, r->per_burst);
			continue;
		}
		for (k = 0; k < r->per_burst; k++) {
			pkts[k] = rig_tx_mbuf(pool, k, r->bytes, r->multi ? 2 : 1);
			pkts[k]->ol_flags = RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IP_CKSUM |
					    (r->alternate && k % 2 ? RTE_MBUF_F_TX_UDP_CKSUM : RTE_MBUF_F_TX_TCP_CKSUM);
			if (r->segsz != 0)
				pkts[k]->ol_flags |= RTE_MBUF_F_TX_TCP_SEG;
			pkts[k]->l2_len = 14;
			pkts[k]->l3_len = 20;
			pkts[k]->l4_len = 20;
			pkts[k]->tso_segsz = r->segsz;
		}
		sum += timed(b, r, pkts);
		(void)rig_tx_run(b->tx, true, nothing, NULL);
	}
	return sum / calls;
}

static uint16_t
call(struct bench *b, const struct run *r, struct rte_mbuf **pkts)
{
	return r->tx ? rig_function(true, r->features)(&b->tx->txq, pkts, r->per_burst) :
		       rig_function(false, r->features)(&b->rx->rxq, pkts, BURST);
}

static uint16_t
call_striding(struct bench *b, const struct run *r, struct rte_mbuf **pkts)
{
	return rig_function(false, r->features)(&b->striding.r->rxq, pkts, BURST);
}

/* Two functions, one for each kind of call, which is inlined: the counts include it. */
#define COUNT(name, call) \
	static uint64_t \
	count##name##_steps(struct bench *b, const struct run *r, struct rte_mbuf **pkts) \
	{ \
		uint16_t n; \
		perf_step_reset(); \
		perf_step_on(); \
		n = call(b, r, pkts); \
		perf_step_off(); \
		if (n != r->per_burst) \
			abort(); \
		return perf_steps; \
	} \
	static uint64_t \
	count##name##_tsc(struct bench *b, const struct run *r, struct rte_mbuf **pkts) \
	{ \
		uint64_t from = rte_rdtsc_precise(), to; \
		uint16_t n = call(b, r, pkts); \
		to = rte_rdtsc_precise(); \
		if (n != r->per_burst) \
			abort(); \
		return to - from; \
	}
COUNT(, call)
COUNT(_striding, call_striding)

static uint64_t
count_empty_steps(struct bench *b __rte_unused, const struct run *r __rte_unused,
		  struct rte_mbuf **pkts __rte_unused)
{
	perf_step_reset();
	perf_step_on();
	perf_step_off();
	return perf_steps;
}

static uint64_t
count_empty_tsc(struct bench *b __rte_unused, const struct run *r __rte_unused,
		struct rte_mbuf **pkts __rte_unused)
{
	uint64_t from = rte_rdtsc_precise();

	return rte_rdtsc_precise() - from;
}

static int
compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void
bench_open(struct bench *b, const struct run *r)
{
	rig_enhanced = r->enhanced;
	b->rx = rig_rx_new(LOG_RING, 0, LOG_RING, pool, RTE_ETH_RX_OFFLOAD_CHECKSUM |
			   (r->features & MLXPMD_RX_F_TS && !r->tx ? RTE_ETH_RX_OFFLOAD_TIMESTAMP : 0),
			   &ts_clock);
	if (b->rx != NULL && !r->tx && !r->whole && (r->compressed || (r->features & MLXPMD_RX_F_COMP)))
		b->rx->rxq.mini_cqe = r->format != MDV_MINI_CQE_NONE ? r->format : MDV_MINI_CQE_HASH;
	b->tx = rig_tx_new(LOG_RING, RING, LOG_RING, 63, 0);
	if (b->rx == NULL || b->tx == NULL)
		abort();
	/* In the first of 128 passes of the ring entries of blocks are marked. */
	b->rx->rxq.q.cq_ci = r->enhanced ? RING : 0;
	b->rx->cqe_count = b->rx->rxq.q.cq_ci;
	b->rx->dbrec[0] = rte_cpu_to_be_32(b->rx->cqe_count);
	b->tx->txq.inline_mpw = r->inline_mpw;
	/* 16 WQEs of 64 strides; as by default. */
	if (r->striding) {
		b->striding = rig_striding_new(pool, 4, 6, 11, 128, RTE_ETH_RX_OFFLOAD_CHECKSUM, NULL);
		b->striding.r->rxq.mini_cqe = r->features & MLXPMD_RX_F_COMP ? MDV_MINI_CQE_HASH : MDV_MINI_CQE_NONE;
	}
}

static uint64_t tsc[ROUNDS * 8], empty_tsc[ROUNDS * 8];

static void
row_name(const struct run *r, char *name, size_t size)
{
	snprintf(name, size, "%s, %s", r->name, rig_variant->name);
}

/* @return false if a check of the rig failed or mbufs are missing. */
static bool
measure(const struct run *r, unsigned int rounds)
{
	unsigned int per = RTE_MAX(r->per_burst, 1u), k;
	uint64_t instr, timer;
	char name[64];
	struct bench b;

	bench_open(&b, r);
	(void)round_of(&b, r, r->striding ? count_striding_tsc : count_tsc);
	instr = round_of(&b, r, r->striding ? count_striding_steps : count_steps) - count_empty_steps(&b, r, NULL);
	row_name(r, name, sizeof(name));
	printf("%-52s %8.1f", name, (double)instr / per);
	for (k = 0; k < rounds; k++) {
		tsc[k] = round_of(&b, r, r->striding ? count_striding_tsc : count_tsc);
		empty_tsc[k] = count_empty_tsc(&b, r, NULL);
	}
	qsort(tsc, rounds, sizeof(tsc[0]), compare);
	qsort(empty_tsc, rounds, sizeof(tsc[0]), compare);
	timer = empty_tsc[rounds / 2];
	if (rounds != 0)
		printf(" %10.1f %10.1f %10.1f", (double)(tsc[0] - timer) / per,
		       (double)(tsc[rounds / 10] - timer) / per, (double)(tsc[rounds / 2] - timer) / per);
	putchar('\n');
	if (r->striding)
		rig_striding_free(&b.striding);
	rig_rx_free(b.rx);
	rig_tx_free(b.tx);
	return check_failures == 0 && rte_mempool_avail_count(pool) == 8191;
}

/* Each requested row that the instruction set has a burst for. */
static bool
measure_all(unsigned int rounds, const char *row)
{
	char name[64];
	unsigned int i;

	for (i = 0; i < RTE_DIM(runs); i++) {
		row_name(&runs[i], name, sizeof(name));
		if (strstr(name, row) != NULL &&
		    mlxpmd_variant_template(rig_variant, runs[i].tx, runs[i].features) != NULL &&
		    !measure(&runs[i], rounds))
			return false;
	}
	return true;
}

int
main(int argc, char **argv)
{
	char *eal[] = { "burst_cost", "--no-huge", "--no-pci", "--no-shconf", "--no-telemetry", "-m", "512",
			"-l", "0", "--log-level", "error" };
	struct mdv_clock_line line = { .start = 1700000000000000000, .base = 0, .mult = 1u << 31,
				       .shift = 31, .mask = RTE_BIT64(41) - 1, .span = 8000000000 };
	unsigned int rounds = argc > 1 ? strtoul(argv[1], NULL, 0) : ROUNDS;
	struct mlxpmd_clock_snap snap;
	bool good = true;

	if (rounds > RTE_DIM(tsc) || rte_eal_init(RTE_DIM(eal), eal) < 0 ||
	    perf_step_init() != 0)
		return 1;
	rig_mdv.caps.mpw = true;
	pool = rig_pool("cost", 8191, 512, 2048 + RTE_PKTMBUF_HEADROOM);
	mlxpmd_clock_snap_from(&snap, &line);
	snap.expires_tsc = rte_rdtsc() + rte_get_tsc_hz() * 3600;
	mlxpmd_clock_publish(&ts_clock, &snap, NULL);
	printf("%-52s %8s %10s %10s %10s\n", "burst of 32 by default; ring 1024", "instr", "tsc min",
	       "tsc p10", "tsc median");
	RIG_EACH
		good = good && measure_all(rounds, argc > 2 ? argv[2] : "");
	rte_eal_cleanup();
	return !good;
}
