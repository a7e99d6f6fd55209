/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Parser of the devargs: accepted and refused strings, and the one log line of a refused string. */

#include <stdio.h>
#include <stdlib.h>

#include <rte_devargs.h>
#include <rte_log.h>

#include "mlxpmd.h"

int mlxpmd_logtype;

#define AUTO MLXPMD_BURST_AUTO
#define SCALAR MLXPMD_BURST_SCALAR
#define CLOCK_AUTO MDV_CLOCK_AUTO
#define RAW MDV_CLOCK_RAW
#define RX_BURSTS "allowed are auto|scalar|neon|sse|avx2|avx512vl|avx512|ifma"
#define TX_BURSTS "allowed are auto|scalar|neon|sse|avx2|avx512vl|avx512"
#define CLOCKS "allowed are auto|page|host|realtime|raw"
#define KNOWN "allowed are rx_burst=auto|scalar|neon|sse|avx2|avx512vl|avx512|ifma, tx_burst=auto|scalar|neon|sse|avx2|avx512vl|avx512, clock=auto|page|host|realtime|raw, rxq_cqe_comp_en=0..4|128..132, stats_age_ms=0|10..60000, txq_inline_mpw=0..930, txq_inline_max=0..930, txqs_min_inline=0..1024, open=verbs|vfio, doorbell=auto|nc|wc, mprq_en=0|1, mprq_log_stride_num=0|3..16, mprq_log_stride_size=0|6..13, mprq_max_memcpy_len=0..65535, rxqs_min_mprq=0..65535, lro_timeout_usec=0..65535, recorder=off|on"
#define AGES "allowed are 0|10..60000"

static const struct {
	const char *args;
	int rc;
	struct mlxpmd_devargs want;
	const char *line;	/**< The whole log line without the prefix; NULL: none. */
} cases[] = {
	{ "", 0, { AUTO, AUTO, CLOCK_AUTO }, NULL },
	{ "rx_burst=auto", 0, { AUTO, AUTO, CLOCK_AUTO }, NULL },
	{ "rx_burst=scalar", 0, { SCALAR, AUTO, CLOCK_AUTO }, NULL },
	{ "tx_burst=scalar", 0, { AUTO, SCALAR, CLOCK_AUTO }, NULL },
	{ "tx_burst=neon", 0, { AUTO, MLXPMD_BURST_NEON, CLOCK_AUTO }, NULL },
	{ "tx_burst=avx2", 0, { AUTO, MLXPMD_BURST_AVX2, CLOCK_AUTO }, NULL },
	{ "tx_burst=avx512vl", 0, { AUTO, MLXPMD_BURST_AVX512VL, CLOCK_AUTO }, NULL },
	{ "tx_burst=avx512", 0, { AUTO, MLXPMD_BURST_AVX512, CLOCK_AUTO }, NULL },
	{ "rx_burst=ifma", 0, { MLXPMD_BURST_IFMA, AUTO, CLOCK_AUTO }, NULL },
	{ "tx_burst=ifma", -EINVAL, { 0 }, "devarg tx_burst=ifma: " TX_BURSTS },
	{ "clock=raw", 0, { AUTO, AUTO, RAW }, NULL },
	{ "clock=auto", 0, { AUTO, AUTO, CLOCK_AUTO }, NULL },
	{ "clock=page", 0, { AUTO, AUTO, MDV_CLOCK_PAGE }, NULL },
	{ "clock=host", 0, { AUTO, AUTO, MDV_CLOCK_HOST }, NULL },
	{ "clock=realtime", 0, { AUTO, AUTO, MDV_CLOCK_REALTIME }, NULL },
	{ "clock=raw,tx_burst=scalar,rx_burst=scalar", 0, { SCALAR, SCALAR, RAW }, NULL },
	{ "open=verbs", 0, { AUTO, AUTO, CLOCK_AUTO, MDV_OPEN_VERBS }, NULL },
	{ "open=vfio", 0, { AUTO, AUTO, CLOCK_AUTO, MDV_OPEN_VFIO }, NULL },
	{ "class=eth", 0, { AUTO, AUTO, CLOCK_AUTO }, NULL },
	{ "class=eth,rx_burst=scalar", 0, { SCALAR, AUTO, CLOCK_AUTO }, NULL },
	{ "driver=net_mlxpmd,clock=raw", 0, { AUTO, AUTO, RAW }, NULL },
	/* For another driver: the device is not probed, without an error. */
	{ "class=crypto", 1, { 0 }, "left to another driver: class=crypto is not eth" },
	{ "class=eth:vdpa", 1, { 0 }, "left to another driver: class=eth:vdpa is not eth" },
	{ "driver=net_mlx5", 1, { 0 }, "left to another driver: driver=net_mlx5 is not net_mlxpmd" },
	/* Invalid. */
	{ "rx_burst=fast", -EINVAL, { 0 }, "devarg rx_burst=fast: " RX_BURSTS },
	{ "tx_burst=AUTO", -EINVAL, { 0 }, "devarg tx_burst=AUTO: " TX_BURSTS },
	{ "tx_burst=", -EINVAL, { 0 }, "devarg tx_burst=: " TX_BURSTS },
	{ "tx_burst", -EINVAL, { 0 }, "devarg tx_burst has no value: " TX_BURSTS },
	{ "rx_burst=scalar ", -EINVAL, { 0 }, "devarg rx_burst=scalar : " RX_BURSTS },
	{ "rx_burst=0", -EINVAL, { 0 }, "devarg rx_burst=0: " RX_BURSTS },
	{ "rx_burst=-1", -EINVAL, { 0 }, "devarg rx_burst=-1: " RX_BURSTS },
	{ "rx_burst=18446744073709551616", -EINVAL, { 0 },
	  "devarg rx_burst=18446744073709551616: " RX_BURSTS },
	{ "rx_burst=[auto,scalar]", -EINVAL, { 0 }, "devarg rx_burst=[auto,scalar]: " RX_BURSTS },
	{ "clock=tai", -EINVAL, { 0 }, "devarg clock=tai: " CLOCKS },
	{ "open=uio", -EINVAL, { 0 }, "devarg open=uio: allowed are verbs|vfio" },
	{ "stats_age_ms=9", -EINVAL, { 0 }, "devarg stats_age_ms=9: " AGES },
	{ "stats_age_ms=60001", -EINVAL, { 0 }, "devarg stats_age_ms=60001: " AGES },
	{ "stats_age_ms=18446744073709551626", -EINVAL, { 0 },
	  "devarg stats_age_ms=18446744073709551626: " AGES },
	{ "stats_age_ms=-1", -EINVAL, { 0 }, "devarg stats_age_ms=-1: " AGES },
	{ "stats_age_ms=20ms", -EINVAL, { 0 }, "devarg stats_age_ms=20ms: " AGES },
	{ "stats_age_ms", -EINVAL, { 0 }, "devarg stats_age_ms has no value: " AGES },
	{ "txq_inline_mpw=931", -EINVAL, { 0 }, "devarg txq_inline_mpw=931: allowed are 0..930" },
	{ "txq_inline_max=-1", -EINVAL, { 0 }, "devarg txq_inline_max=-1: allowed are 0..930" },
	{ "txqs_min_inline=2000", -EINVAL, { 0 }, "devarg txqs_min_inline=2000: allowed are 0..1024" },
	{ "rx_bursts=auto", -EINVAL, { 0 }, "unknown devarg rx_bursts: " KNOWN },
	{ "RX_BURST=auto", -EINVAL, { 0 }, "unknown devarg RX_BURST: " KNOWN },
	{ "rx_vec_en=1", -EINVAL, { 0 }, "unknown devarg rx_vec_en: " KNOWN },
	{ "=auto", -EINVAL, { 0 }, "devarg without a name before \"auto\": " KNOWN },
	{ "driver==net_mlx5", -EINVAL, { 0 }, "devarg without a name before \"net_mlx5\": " KNOWN },
	{ "representor=vf0", -ENOTSUP, { 0 }, "devarg representor=vf0: ports of representors are not supported, "
					      "only the uplink of a switchdev PF: leave the devarg out" },
	{ "rx_burst=auto,rx_burst=auto", -EINVAL, { 0 },
	  "devarg rx_burst is given more than once: allowed is once" },
	{ "clock=raw,rx_burst=auto,clock=page", -EINVAL, { 0 },
	  "devarg clock is given more than once: allowed is once" },
	{ "mprq_en=2", -EINVAL, { 0 }, "devarg mprq_en=2: allowed are 0|1" },
	{ "mprq_log_stride_num=2", -EINVAL, { 0 }, "devarg mprq_log_stride_num=2: allowed are 0|3..16" },
	{ "mprq_log_stride_size=14", -EINVAL, { 0 }, "devarg mprq_log_stride_size=14: allowed are 0|6..13" },
	{ "mprq_max_memcpy_len=65536", -EINVAL, { 0 }, "devarg mprq_max_memcpy_len=65536: allowed are 0..65535" },
	{ "rxqs_min_mprq=-1", -EINVAL, { 0 }, "devarg rxqs_min_mprq=-1: allowed are 0..65535" },
	{ "recorder=1", -EINVAL, { 0 }, "devarg recorder=1: allowed are off|on" },
	{ "lro_timeout_usec=65536", -EINVAL, { 0 }, "devarg lro_timeout_usec=65536: allowed are 0..65535" },
	{ "rx_burst=scalar,clock=1", -EINVAL, { 0 }, "devarg clock=1: " CLOCKS },
};

/* Parses one string. Returns the logged text, which the caller frees. */
static char *
run(const char *args, int *rc, struct mlxpmd_devargs *out)
{
	struct rte_devargs devargs = { .name = "0000:01:00.0" };
	char *text = NULL, *copy = strdup(args);
	size_t bytes = 0;
	FILE *stream = open_memstream(&text, &bytes);

	if (stream == NULL || copy == NULL)
		exit(2);
	devargs.args = copy;
	rte_openlog_stream(stream);
	*rc = mlxpmd_devargs_parse(&devargs, out);
	rte_openlog_stream(NULL);
	fclose(stream);
	free(copy);
	return text;
}

static unsigned int
check(const char *args, int want_rc, const struct mlxpmd_devargs *want, const char *line)
{
	struct mlxpmd_devargs got;
	char expect[1024] = "";
	unsigned int failed;
	char *text;
	int rc;

	text = run(args, &rc, &got);
	if (line != NULL)
		snprintf(expect, sizeof(expect), "mlxpmd: 0000:01:00.0: %s\n", line);
	failed = rc != want_rc || strcmp(text, expect) != 0 ||
		 (rc == 0 && (got.rx_burst != want->rx_burst || got.tx_burst != want->tx_burst ||
			      got.clock != want->clock || got.open != want->open));
	if (failed)
		printf("FAILED \"%s\": %d (want %d), {%d,%d,%d}\n  logged: %s  wanted: %s", args, rc,
		       want_rc, got.rx_burst, got.tx_burst, got.clock, text, expect);
	free(text);
	return failed;
}

static unsigned int
check_numbers(void)
{
	static const struct {
		const char *args;
		size_t offset; /* of the field that is compared */
		unsigned int want;
	} numbers[] = {
#define AGE offsetof(struct mlxpmd_devargs, stats_age_ms)
		{ "", AGE, 100 }, { "stats_age_ms=0", AGE, 0 }, { "stats_age_ms=10", AGE, 10 },
		{ "clock=raw,stats_age_ms=60000", AGE, 60000 }, { "stats_age_ms=0100", AGE, 100 },
#undef AGE
#define NUMBER(key, given, value) { given, offsetof(struct mlxpmd_devargs, key), value }
		NUMBER(rxq_cqe_comp_en, "", 1), NUMBER(rxq_cqe_comp_en, "mprq_en=1", 1),
		NUMBER(rxq_cqe_comp_en, "rxq_cqe_comp_en=0x81", 0x81), NUMBER(rxq_cqe_comp_en, "rxq_cqe_comp_en=132", 132),
		NUMBER(rxq_cqe_comp_en, "rxq_cqe_comp_en=0,mprq_en=1", 0), NUMBER(rxq_cqe_comp_en, "mprq_en=0", 1),
		NUMBER(mprq_en, "", 0), NUMBER(mprq_en, "mprq_en=1", 1), NUMBER(mprq_en, "mprq_en=0", 0),
		NUMBER(mprq_log_stride_num, "", 0), NUMBER(mprq_log_stride_num, "mprq_log_stride_num=0", 0),
		NUMBER(mprq_log_stride_num, "mprq_log_stride_num=3", 3),
		NUMBER(mprq_log_stride_size, "", 0), NUMBER(mprq_log_stride_size, "mprq_log_stride_size=13", 13),
		NUMBER(mprq_max_memcpy_len, "", 128), NUMBER(mprq_max_memcpy_len, "mprq_max_memcpy_len=0", 0),
		NUMBER(rxqs_min_mprq, "", 12), NUMBER(rxqs_min_mprq, "rxqs_min_mprq=0", 0),
		NUMBER(lro_timeout_usec, "", 0), NUMBER(lro_timeout_usec, "lro_timeout_usec=32", 32),
		NUMBER(recorder, "", 1), NUMBER(recorder, "recorder=off", 0), NUMBER(recorder, "recorder=on", 1),
#undef NUMBER
	};
	unsigned int i, value, failed = 0;
	struct mlxpmd_devargs got;
	int rc;

	for (i = 0; i < RTE_DIM(numbers); i++) {
		free(run(numbers[i].args, &rc, &got));
		value = *(const unsigned int *)((const uint8_t *)&got + numbers[i].offset);
		if (rc != 0 || value != numbers[i].want) {
			printf("FAILED \"%s\": %d, %u\n", numbers[i].args, rc, value);
			failed++;
		}
	}
	return failed;
}

/* Random strings: an accepted one logs nothing, every other one logs exactly one line. */
static unsigned int
check_random(unsigned int rounds)
{
	static const char *const pieces[] = { "rx_burst", "tx_burst", "clock", "class", "=", ",", "auto",
					      "scalar", "page", "raw", "host", "realtime", "stats_age_ms", "10", "[", "]", "eth", "x", "%s",
					      "\n", "\xff", "driver", "recorder", "off" };
	unsigned int i, k, lines, failed = 0;
	struct mlxpmd_devargs got;
	char args[256], *text, *p;
	int rc;

	srand(1);
	for (i = 0; i < rounds; i++) {
		args[0] = '\0';
		for (k = rand() % 12; k > 0; k--)
			strcat(args, pieces[rand() % RTE_DIM(pieces)]);
		text = run(args, &rc, &got);
		for (lines = 0, p = text; (p = strstr(p, "mlxpmd: ")) != NULL; p++)
			lines++;
		if (lines != (rc != 0) || (rc != 0 && rc != 1 && rc != -EINVAL)) {
			printf("FAILED \"%s\": %d with %u lines\n", args, rc, lines);
			failed++;
		}
		free(text);
	}
	return failed;
}

static unsigned int
check_long(void)
{
	struct mlxpmd_devargs got;
	unsigned int failed;
	char *args, *text;
	int rc;

	args = malloc(65537);
	if (args == NULL)
		exit(2);
	memset(args, 'a', 65536);
	args[65536] = '\0';
	memcpy(args, "clock=", 6);
	text = run(args, &rc, &got);
	failed = rc != -EINVAL || strlen(text) > 200;
	if (failed)
		printf("FAILED 64 KiB value: %d, %zu bytes logged\n", rc, strlen(text));
	free(text);
	free(args);
	return failed;
}

int
main(void)
{
	struct mlxpmd_devargs got;
	unsigned int i, failed = 0;

	mlxpmd_logtype = rte_log_register("test");
	rte_log_set_level(mlxpmd_logtype, RTE_LOG_DEBUG);
	rte_log_set_global_level(RTE_LOG_DEBUG);
	for (i = 0; i < RTE_DIM(cases); i++)
		failed += check(cases[i].args, cases[i].rc, &cases[i].want, cases[i].line);
	failed += check_numbers();
	failed += check_random(20000);
	failed += check_long();
	if (mlxpmd_devargs_parse(NULL, &got) != 0) {
		printf("FAILED no devargs at all\n");
		failed++;
	}
	printf("%zu strings, 20000 random ones: %u failed\n", RTE_DIM(cases), failed);
	return failed != 0;
}
