/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Join timestamps with true times, and compute the figures of their differences. */

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "tm_clock.h"

#include "../check.h"

/* Stubs of the functions that clock_verify.c calls. */
void
tm_error(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
}

void
tm_run_idle(struct tm_app *app __rte_unused, uint64_t ns __rte_unused)
{
}

const char *
tm_clock_unit_str(const struct tm_clock *c __rte_unused)
{
	return "ns";
}

struct pcap *
tm_pcap_open(const char *path __rte_unused)
{
	return NULL;
}

int
tm_clock_plot(const char *out __rte_unused, const char *title __rte_unused,
	      const struct tm_pair *pairs __rte_unused, size_t n __rte_unused,
	      int64_t median __rte_unused)
{
	return 0;
}

static struct tm_pair *pairs;
static struct tm_errors errors;

static void
join(const struct tm_stamp_list *stamps, const struct tm_stamp_list *truth)
{
	free(pairs);
	CHECK(tm_pairs_join(stamps, truth, &pairs, &errors) == 0);
	CHECK(tm_errors_of(pairs, &errors) == 0);
}

/* Packets in any order, equal ones in the order of reception, some without a timestamp, some unknown. */
static void
joined_by_key(void)
{
	struct tm_stamp_list stamps = { .n = 0 }, truth = { .n = 0 };

	for (uint64_t i = 0; i < 10000; i++)
		CHECK(tm_stamps_add(&truth, i % 5000, 1000 * i, true) == 0);
	for (uint64_t i = 10000; i-- > 0;) /* in reverse order; only equal packets keep their order */
		CHECK(tm_stamps_add(&stamps, i % 5000, 1000 * ((i + 5000) % 10000) + 7, i % 10 != 0) == 0);
	CHECK(tm_stamps_add(&stamps, 77777, 5, true) == 0);
	join(&stamps, &truth);
	CHECK(errors.packets == 10001 && errors.absent == 1000 && errors.unknown == 1);
	CHECK(errors.compared == 9000);
	CHECK(errors.min == 7 && errors.max == 7 && errors.median == 7 && errors.worst == 0);
	for (size_t i = 1; i < errors.compared; i++)
		CHECK(pairs[i - 1].n < pairs[i].n);
	free(stamps.items);
	free(truth.items);
}

static void
figures(void)
{
	struct tm_stamp_list stamps = { .n = 0 }, truth = { .n = 0 };

	/* errors 0, 1, ... 100 in addition to an offset of more than 32 bits */
	for (uint64_t i = 0; i <= 100; i++) {
		CHECK(tm_stamps_add(&truth, i, UINT64_C(1) << 62, true) == 0);
		CHECK(tm_stamps_add(&stamps, i, (UINT64_C(1) << 62) - 5000000000 + i, true) == 0);
	}
	join(&stamps, &truth);
	CHECK(errors.compared == 101 && errors.unknown == 0);
	CHECK(errors.min == -5000000000 && errors.max == -4999999900);
	CHECK(errors.median == -4999999950 && fabs(errors.mean + 4999999950.0) < 1e-3);
	CHECK(fabs(errors.rms - sqrt(850)) < 1e-6);
	CHECK(errors.worst == 50 && errors.p99 == 50);
	free(stamps.items);
	free(truth.items);
}

static void
nothing_to_compare(void)
{
	struct tm_stamp_list none = { .n = 0 }, one = { .n = 0 };

	join(&none, &none);
	CHECK(errors.compared == 0 && errors.packets == 0);
	CHECK(tm_stamps_add(&one, 1, 1, true) == 0);
	join(&one, &none);
	CHECK(errors.compared == 0 && errors.unknown == 1);
	CHECK(tm_errors_report(0, "nothing", pairs, &errors, NULL) == -EIO);
	free(one.items);
}

static void
keys_differ(void)
{
	uint8_t a[64] = { 0 }, b[64] = { 0 };

	b[63] = 1;
	CHECK(tm_stamp_key(a, 64) == tm_stamp_key(a, 64));
	CHECK(tm_stamp_key(a, 64) != tm_stamp_key(b, 64));
	CHECK(tm_stamp_key(a, 63) != tm_stamp_key(a, 64));
}

int
main(void)
{
	joined_by_key();
	figures();
	nothing_to_compare();
	keys_differ();
	free(pairs);
	return check_exit("clock_errors");
}
