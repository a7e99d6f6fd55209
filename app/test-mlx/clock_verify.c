/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * The error of received packets' timestamps, compared with a capture of the true times.
 */

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "tm_clock.h"

/* Another process may still be writing the capture: read it again for this time. */
#define TRUTH_TRIES 20
#define TRUTH_WAIT_NS (100 * UINT64_C(1000000))

static int
by_key(const void *a, const void *b)
{
	const struct tm_stamp *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->n < y->n ? -1 : x->n > y->n;
}

static int
by_order(const void *a, const void *b)
{
	const struct tm_pair *x = a, *y = b;

	return x->n < y->n ? -1 : x->n > y->n;
}

static int
by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

static struct tm_stamp *
sorted(const struct tm_stamp_list *l)
{
	struct tm_stamp *copy = malloc(RTE_MAX(l->n, 1u) * sizeof(*copy));

	if (copy != NULL) {
		for (size_t i = 0; i < l->n; i++)
			copy[i] = l->items[i];
		qsort(copy, l->n, sizeof(*copy), by_key);
	}
	return copy;
}

/* Both lists are sorted by key, then by order: equal packets are matched in the order of reception. */
static void
merge(const struct tm_stamp *s, size_t ns, const struct tm_stamp *t, size_t nt,
      struct tm_pair *pairs, struct tm_errors *e)
{
	size_t j = 0;

	for (size_t i = 0; i < ns; i++) {
		while (j < nt && t[j].key < s[i].key)
			j++;
		if (j == nt || t[j].key != s[i].key) {
			e->unknown++;
			continue;
		}
		if (s[i].present)
			pairs[e->compared++] = (struct tm_pair) {
				.truth_ns = t[j].ns, .stamp_ns = s[i].ns, .n = s[i].n,
			};
		else
			e->absent++;
		j++;
	}
}

int
tm_pairs_join(const struct tm_stamp_list *stamps, const struct tm_stamp_list *truth,
	      struct tm_pair **pairs, struct tm_errors *e)
{
	struct tm_stamp *s = sorted(stamps), *t = sorted(truth);
	int ret = -ENOMEM;

	*e = (struct tm_errors) { .packets = stamps->n };
	*pairs = malloc(RTE_MAX(stamps->n, 1u) * sizeof(**pairs));
	if (s != NULL && t != NULL && *pairs != NULL) {
		merge(s, stamps->n, t, truth->n, *pairs, e);
		qsort(*pairs, e->compared, sizeof(**pairs), by_order);
		ret = 0;
	}
	free(s);
	free(t);
	return ret;
}

static void
moments(const int64_t *d, struct tm_errors *e)
{
	double sum = 0, squares = 0;

	for (size_t i = 0; i < e->compared; i++)
		sum += (double)(d[i] - e->median);
	sum /= (double)e->compared;
	for (size_t i = 0; i < e->compared; i++)
		squares += ((double)(d[i] - e->median) - sum) * ((double)(d[i] - e->median) - sum);
	e->mean = (double)e->median + sum;
	e->rms = sqrt(squares / (double)e->compared);
}

int
tm_errors_of(const struct tm_pair *pairs, struct tm_errors *e)
{
	int64_t *d;

	if (e->compared == 0)
		return 0;
	d = malloc(e->compared * sizeof(*d));
	if (d == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < e->compared; i++)
		d[i] = (int64_t)(pairs[i].stamp_ns - pairs[i].truth_ns);
	qsort(d, e->compared, sizeof(*d), by_value);
	e->min = d[0];
	e->max = d[e->compared - 1];
	e->median = d[e->compared / 2];
	moments(d, e);
	for (size_t i = 0; i < e->compared; i++)
		d[i] = llabs(d[i] - e->median);
	qsort(d, e->compared, sizeof(*d), by_value);
	e->p99 = d[(e->compared - 1) * 99 / 100];
	e->worst = d[e->compared - 1];
	free(d);
	return 0;
}

static void
errors_print(uint16_t port_id, const char *against, const struct tm_errors *e)
{
	printf("port %u against %s: %zu packets, %zu compared, %zu without a timestamp, %zu lost or not in the capture\n",
	       port_id, against, e->packets, e->compared, e->absent, e->unknown);
	if (e->compared == 0)
		return;
	printf("  error: min %+" PRId64 " ns, median %+" PRId64 " ns, mean %+.1f ns, max %+" PRId64 " ns\n",
	       e->min, e->median, e->mean, e->max);
	printf("  about the median: RMS %.1f ns, 99 %% within %" PRIu64 " ns, worst %" PRIu64 " ns\n",
	       e->rms, e->p99, e->worst);
}

int
tm_errors_report(uint16_t port_id, const char *against, const struct tm_pair *pairs,
		struct tm_errors *e, const char *out)
{
	int ret = tm_errors_of(pairs, e);

	if (ret != 0) {
		tm_error("clock verify: no memory for %zu packets", e->compared);
		return ret;
	}
	errors_print(port_id, against, e);
	if (e->compared > 0)
		return tm_clock_plot(out, against, pairs, e->compared, e->median);
	tm_error("clock verify: no packet of port %u has both a timestamp and a true time", port_id);
	return -EIO;
}

/* Read the capture again until it has all packets. */
static int
truth_join(struct tm_app *app, const struct tm_stamp_list *stamps, const char *path,
	   struct tm_pair **pairs, struct tm_errors *e)
{
	int ret = 0;

	for (unsigned int i = 0; i < TRUTH_TRIES && ret == 0; i++) {
		struct tm_stamp_list truth = { .n = 0 };

		if (i > 0)
			tm_run_idle(app, TRUTH_WAIT_NS);
		free(*pairs);
		*pairs = NULL;
		ret = tm_stamps_load(&truth, path);
		if (ret == 0)
			ret = tm_pairs_join(stamps, &truth, pairs, e);
		free(truth.items);
		if (ret == 0 && e->unknown == 0)
			break;
	}
	return ret;
}

int
tm_clock_verify(struct tm_app *app, uint16_t port_id, const char *truth, const char *out)
{
	const struct tm_port *p = &app->ports[port_id];
	struct tm_pair *pairs = NULL;
	struct tm_errors e;
	int ret;

	if (p->recorded == NULL || p->recorded->n == 0) {
		tm_error("clock verify: port %u has no recorded packets (clock record %u, then start)",
			 port_id, port_id);
		return -EINVAL;
	}
	if (p->clock.unit != TM_CLOCK_NS) {
		tm_error("clock verify: port %u's timestamps are not nanoseconds (%s)", port_id,
			 tm_clock_unit_str(&p->clock));
		return -EINVAL;
	}
	ret = truth_join(app, p->recorded, truth, &pairs, &e);
	if (ret == 0)
		ret = tm_errors_report(port_id, truth, pairs, &e, out);
	free(pairs);
	return ret;
}
