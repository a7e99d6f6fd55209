/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Runs mlxpmd and DPDK's own mlx5 driver in turn, each on its port of one emulated device that fills a ring and then
 * stops, and writes the cost of each: one JSON object per line.
 *
 * The script `compare` in this folder runs the program for a table of settings and prints tables and charts.
 */

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "perf_step.h"

static const char usage[] =
"Usage: mlxemu run --ports 2 -- compare_bench --plugin LIB [options]\n"
"\n"
"  --plugin LIB           librte_net_mlxpmd.so to compare\n"
"  --rows A,B,...         what to measure (default rx): rx rx_queues rx_free rx_ns polls\n"
"                         empty tx forward\n"
"  --stock-devargs S      device arguments of DPDK's mlx5 driver\n"
"  --devargs S            device arguments of mlxpmd\n"
"  --rx-offloads A,B      names of DPDK: CHECKSUM, RSS_HASH, TIMESTAMP ... (default\n"
"                         IPV4_CKSUM,UDP_CKSUM,TCP_CKSUM,RSS_HASH)\n"
"  --tx-offloads A,B      the same for sending (default MBUF_FAST_FREE)\n"
"  --tx-checksums all|every-second   sent packets request IPv4 and UDP checksums\n"
"  --tso N                sent packets are TCP, which the device divides into segments of N bytes\n"
"  --tx-metadata          sent packets have metadata of rte_flow, each another value\n"
"  --traffic uniform|mixed\n"
"  --frame-bytes N        length of uniform and of sent frames, without FCS (default 60)\n"
"  --ring N --fill N --burst N --queues N       (defaults 1024, half the ring, 32, 1)\n"
"  --spread               packets arrive in all queues (default: in the first one)\n"
"  --pool N --cache N     mempool of each driver (defaults 32767, 512)\n"
"  --rounds N             rounds of stock, mlxpmd, mlxpmd, stock (default 4000); 0: no times, only\n"
"                         instructions and the device's counters\n"
"  --attempts N           runs of a row until one is not disturbed by other load (default 3)\n"
"  --regime H|X|E|L       completions are written by the driver's core (H), by another core\n"
"                         (X), or by another core that then evicts them from its private\n"
"                         caches (E) or moves them to the shared one (L: cldemote) (default H)\n"
"  --cpu N --device-cpu N (defaults 1 and 0)\n"
"  --simd-bits 64|128|256|512   widest SIMD registers that EAL allows (default: EAL's)\n"
"  --no-huge              use ordinary pages\n"
"  --gate-only            only check that both drivers do the same work\n"
"  --profile FILE         append the addresses of all instructions executed\n"
"  --out FILE             append the results to FILE (default: standard output)\n"
"\n"
"Exit status: 0 all rows done, 1 something failed, 2 wrong usage, 130 interrupted.\n";

enum option_id {
	O_PLUGIN = 256, O_ROWS, O_STOCK_DEVARGS, O_DEVARGS, O_RX, O_TX, O_TX_CSUM, O_TRAFFIC, O_BYTES,
	O_RING, O_FILL, O_BURST, O_QUEUES, O_POOL, O_CACHE, O_ROUNDS, O_ATTEMPTS, O_REGIME, O_CPU,
	O_DEVICE_CPU, O_SIMD, O_NO_HUGE, O_SPREAD, O_TSO, O_TX_META, O_GATE, O_PROFILE, O_OUT, O_HELP,
};
static const struct option options[] = {
	{ "plugin", 1, NULL, O_PLUGIN },
	{ "rows", 1, NULL, O_ROWS },
	{ "stock-devargs", 1, NULL, O_STOCK_DEVARGS },
	{ "devargs", 1, NULL, O_DEVARGS },
	{ "rx-offloads", 1, NULL, O_RX },
	{ "tx-offloads", 1, NULL, O_TX },
	{ "tx-checksums", 1, NULL, O_TX_CSUM },
	{ "traffic", 1, NULL, O_TRAFFIC },
	{ "frame-bytes", 1, NULL, O_BYTES },
	{ "ring", 1, NULL, O_RING },
	{ "fill", 1, NULL, O_FILL },
	{ "burst", 1, NULL, O_BURST },
	{ "queues", 1, NULL, O_QUEUES },
	{ "pool", 1, NULL, O_POOL },
	{ "cache", 1, NULL, O_CACHE },
	{ "rounds", 1, NULL, O_ROUNDS },
	{ "attempts", 1, NULL, O_ATTEMPTS },
	{ "regime", 1, NULL, O_REGIME },
	{ "cpu", 1, NULL, O_CPU },
	{ "device-cpu", 1, NULL, O_DEVICE_CPU },
	{ "simd-bits", 1, NULL, O_SIMD },
	{ "no-huge", 0, NULL, O_NO_HUGE },
	{ "tso", 1, NULL, O_TSO },
	{ "tx-metadata", 0, NULL, O_TX_META },
	{ "spread", 0, NULL, O_SPREAD },
	{ "gate-only", 0, NULL, O_GATE },
	{ "profile", 1, NULL, O_PROFILE },
	{ "out", 1, NULL, O_OUT },
	{ "help", 0, NULL, O_HELP },
	{ NULL, 0, NULL, 0 },
};

static bool
wrong(int id, const char *value)
{
	for (const struct option *o = options; o->name != NULL; o++)
		if (o->val == id)
			CMP_LOG("--%s %s: not allowed; see --help", o->name, value);
	return false;
}

/* Parses a list of DPDK's names of offloads. */
static bool
parse_offloads(const char *list, const char *(*name_of)(uint64_t), uint64_t *out)
{
	char copy[256], *word, *save = NULL;
	unsigned int bit;

	*out = 0;
	if (strlen(list) >= sizeof(copy))
		return false;
	strcpy(copy, list);
	for (word = strtok_r(copy, ",", &save); word != NULL; word = strtok_r(NULL, ",", &save)) {
		for (bit = 0; bit < 64; bit++)
			if (strcmp(name_of(RTE_BIT64(bit)), word) == 0)
				break;
		if (bit == 64)
			return false;
		*out |= RTE_BIT64(bit);
	}
	return true;
}

static bool
parse_number(const char *text, uint32_t min, uint32_t max, uint32_t *out)
{
	char *end;
	unsigned long v = strtoul(text, &end, 10);

	if (text[0] < '0' || text[0] > '9' || *end != '\0' || v < min || v > max)
		return false;
	*out = v;
	return true;
}

static bool
parse_regime(const char *text, enum cmp_regime *out)
{
	static const char names[] = { [CMP_H] = 'H', [CMP_X] = 'X', [CMP_E] = 'E', [CMP_L] = 'L' };

	for (unsigned int i = 0; i < RTE_DIM(names); i++) {
		if (text[0] != names[i] || text[1] != '\0')
			continue;
		*out = i;
		return true;
	}
	return false;
}

static bool
parse_checksums(const char *text, struct cmp_config *c)
{
	c->tx_flags = RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IP_CKSUM | RTE_MBUF_F_TX_UDP_CKSUM;
	c->tx_alternate = strcmp(text, "every-second") == 0;
	return c->tx_alternate || strcmp(text, "all") == 0;
}

static bool
set_text(struct cmp_config *c, int id, const char *v)
{
	switch (id) {
	case O_PLUGIN: c->plugin = v; return true;
	case O_ROWS: c->rows = v; return true;
	case O_STOCK_DEVARGS: c->devargs[CMP_STOCK] = v; return true;
	case O_DEVARGS: c->devargs[CMP_MLXPMD] = v; return true;
	case O_RX: return parse_offloads(v, rte_eth_dev_rx_offload_name, &c->rx_offloads);
	case O_TX: return parse_offloads(v, rte_eth_dev_tx_offload_name, &c->tx_offloads);
	case O_TX_CSUM: return parse_checksums(v, c);
	case O_TRAFFIC:
		c->traffic = v;
		return strcmp(v, "uniform") == 0 || strcmp(v, "mixed") == 0;
	case O_REGIME: return parse_regime(v, &c->regime);
	case O_NO_HUGE: c->hugepages = false; return true;
	case O_SPREAD: c->spread = true; return true;
	case O_TX_META: c->tx_metadata = true; return true;
	case O_GATE: c->gate_only = true; return true;
	case O_PROFILE: c->profile = v; return true;
	case O_OUT: c->out = v; return true;
	default: return false;
	}
}

static bool
set_number(struct cmp_config *c, int id, const char *v, bool *known)
{
	uint32_t n = 0;
	bool good = true;

	*known = true;
	switch (id) {
	case O_BYTES: good = parse_number(v, 60, 1514, &c->frame_bytes); break;
	case O_RING: good = parse_number(v, 128, 2 * CMP_MAX_FILL, &n); c->ring = n; break;
	case O_FILL: good = parse_number(v, 4, CMP_MAX_FILL, &n); c->fill = n; break;
	case O_BURST: good = parse_number(v, 1, CMP_MAX_BURST, &n); c->burst = n; break;
	case O_QUEUES: good = parse_number(v, 1, CMP_MAX_QUEUES, &n); c->queues = n; break;
	case O_POOL: good = parse_number(v, 1024, 1u << 20, &c->pool_size); break;
	case O_CACHE: good = parse_number(v, 0, 512, &c->pool_cache); break;
	case O_ROUNDS: good = parse_number(v, 0, 1000000, &c->rounds); break;
	case O_ATTEMPTS: good = parse_number(v, 1, 100, &c->attempts); break;
	case O_CPU: good = parse_number(v, 0, 1023, &n); c->cpu = n; break;
	case O_DEVICE_CPU: good = parse_number(v, 0, 1023, &n); c->device_cpu = n; break;
	case O_TSO: good = parse_number(v, 64, 1400, &n); c->tso_segsz = n; break;
	case O_SIMD: good = parse_number(v, 64, 512, &c->simd_bits); break;
	default: *known = false;
	}
	return good;
}

static bool
row_list_ok(const char *list)
{
	char copy[256], *word, *save = NULL;

	if (strlen(list) >= sizeof(copy))
		return false;
	strcpy(copy, list);
	for (word = strtok_r(copy, ",", &save); word != NULL; word = strtok_r(NULL, ",", &save))
		if (cmp_row_find(word) == NULL)
			return false;
	return true;
}

/* 0; otherwise the program ends: -1 after --help, else the exit status. */
static int
parse(int argc, char **argv, struct cmp_config *c)
{
	bool known, good;
	int id;

	while ((id = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (id == '?')
			return 2;
		if (id == O_HELP) {
			fputs(usage, stdout);
			return -1;
		}
		good = set_number(c, id, optarg, &known);
		if (!(known ? good : set_text(c, id, optarg))) {
			wrong(id, optarg);
			return 2;
		}
	}
	if (c->fill == 0)
		c->fill = RTE_MIN(c->ring / 2, CMP_MAX_FILL);
	if (optind != argc || c->plugin == NULL || c->fill > c->ring || !row_list_ok(c->rows)) {
		CMP_LOG("--plugin, existing rows and a fill of at most the ring are required; see --help");
		return 2;
	}
	return 0;
}

static void
on_stop(int sig)
{
	RTE_SET_USED(sig);
	cmp_stop = true;
}

static bool
line_write(const struct cmp_config *c, json_t *o)
{
	FILE *f = c->out != NULL ? fopen(c->out, "ae") : stdout;
	char *text = json_dumps(o, JSON_COMPACT | JSON_REAL_PRECISION(9));
	bool good = f != NULL && text != NULL && fprintf(f, "%s\n", text) > 0 && fflush(f) == 0;

	if (!good)
		CMP_LOG("%s: %s", c->out != NULL ? c->out : "standard output", strerror(errno));
	if (f != NULL && f != stdout)
		fclose(f);
	free(text);
	json_decref(o);
	return good;
}

/* Also measures a load of a cache line in each regime, which shows what the regimes mean on this machine. */
static bool
settings_write(const struct cmp_config *c, const struct cmp_arm arms[CMP_ARMS])
{
	static const char *const names[] = { [CMP_H] = "H", [CMP_X] = "X", [CMP_E] = "E",
					     [CMP_L] = "L", [CMP_D] = "D" };
	json_t *o = json_object(), *s = cmp_settings(c, arms), *lines;

	json_object_set_new(o, "settings", s);
	cmp_json_string(s, "regime", names[c->regime]);
	if (!c->gate_only && c->rounds != 0) {
		cmp_json_number(s, "core_cycles_per_tick", cmp_core_per_tsc());
		lines = cmp_json_child(s, "line_ticks");
		for (unsigned int r = 0; r < RTE_DIM(names); r++)
			if (r == CMP_H || r == CMP_D ||
			    (c->cpu != c->device_cpu && (r != CMP_L || cmp_device_demotes())))
				cmp_json_number(lines, names[r], cmp_device_line_ticks(c, r));
	}
	return line_write(c, o);
}

static bool
row_do(const struct cmp_row *row, const struct cmp_config *c, struct cmp_arm arms[CMP_ARMS])
{
	json_t *o = json_object();
	bool good;

	cmp_json_string(o, "row", row->name);
	cmp_json_string(o, "what", row->what);
	cmp_json_string(o, "unit", row->unit);
	cmp_json_number(o, "rounds", c->rounds);
	good = cmp_gate(row, arms, c, o);
	if (good && !c->gate_only)
		good = cmp_measure(row, arms, c, o) && cmp_count(row, arms, c, o);
	return line_write(c, o) && good;
}

static bool
rows_do(const struct cmp_config *c, struct cmp_arm arms[CMP_ARMS])
{
	char copy[256], *word, *save = NULL;
	bool good = true;

	strcpy(copy, c->rows);
	for (word = strtok_r(copy, ",", &save); word != NULL && !cmp_stop;
	     word = strtok_r(NULL, ",", &save))
		good &= row_do(cmp_row_find(word), c, arms);
	return good;
}

static bool
work(const struct cmp_config *c, struct cmp_arm arms[CMP_ARMS])
{
	bool good = cmp_traffic_make(c, arms) == 0 && cmp_device_open(c) == 0 &&
		    cmp_clock_open(c) == 0 && cmp_device_run(false) == 0;

	if (!good)
		return false;
	good = settings_write(c, arms) && cmp_device_regime(c, c->regime) == 0 && rows_do(c, arms);
	/* The drivers issue commands when their ports are closed. */
	return cmp_device_run(true) == 0 && good;
}

int
main(int argc, char **argv)
{
	static struct cmp_arm arms[CMP_ARMS];
	struct cmp_config c = {
		.pci = { "0000:c1:00.0", "0000:c1:00.1" }, .rows = "rx", .traffic = "uniform",
		.frame_bytes = 60, .ring = 1024, .burst = 32, .queues = 1, .pool_size = 32767,
		.pool_cache = 512, .rounds = 4000, .attempts = 3, .hugepages = true, .cpu = 1,
		.device_cpu = 0,
		.rx_offloads = RTE_ETH_RX_OFFLOAD_CHECKSUM | RTE_ETH_RX_OFFLOAD_RSS_HASH,
		.tx_offloads = RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE,
	};
	struct sigaction sa = { .sa_handler = on_stop };
	int status = parse(argc, argv, &c);
	bool good = false;

	if (status != 0)
		return status < 0 ? 0 : status;
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	if (perf_step_init() != 0)
		return 1;
	if (cmp_ports_open(&c, arms) == 0) {
		c.fill = cmp_fill_limit(&arms[CMP_STOCK], &c);
		good = work(&c, arms);
	}
	cmp_traffic_remove();
	cmp_clock_close();
	cmp_device_close();
	cmp_ports_close(arms);
	if (cmp_stop)
		return 130;
	return good ? 0 : 1;
}
