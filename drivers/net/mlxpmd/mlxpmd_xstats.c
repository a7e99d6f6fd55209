/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Extended statistics, in this order: the device's vport and physical counters as they were read last
 * (mlxpmd_counts.c) and their age, counters of the port's clock, counters of queues as sums over the port, then the
 * same for each queue. ethdev adds the basic statistics.
 */

#include <stdarg.h>

#include "mlxpmd_clock_refresh.h"
#include "mlxpmd_ctrl.h"

/* Ages of imissed, and of the vport and physical counters. */
#define NB_AGES 2

struct xstat_kind {
	const char *name;
	size_t offset;		/**< Of a counter in struct mlxpmd_queue_stats or mlxpmd_clock_info. */
};

#define COUNTER(field) offsetof(struct mlxpmd_queue_stats, field)
#define SYNDROMES \
	{ "errors_length", COUNTER(syndromes[MLXPMD_SYN_LENGTH]) }, \
	{ "errors_operation", COUNTER(syndromes[MLXPMD_SYN_OPERATION]) }, \
	{ "errors_protection", COUNTER(syndromes[MLXPMD_SYN_PROTECTION]) }, \
	{ "errors_flush", COUNTER(syndromes[MLXPMD_SYN_FLUSH]) }, \
	{ "errors_remote", COUNTER(syndromes[MLXPMD_SYN_REMOTE]) }, \
	{ "errors_retry", COUNTER(syndromes[MLXPMD_SYN_RETRY]) }, \
	{ "errors_unknown", COUNTER(syndromes[MLXPMD_SYN_UNKNOWN]) }

static const struct xstat_kind rx_kinds[] = {
	{ "mbuf_missing", COUNTER(nombuf) },
	{ "completion_errors", COUNTER(errors) },
	{ "completions_refused", COUNTER(cqe_bad) },
	{ "timestamps_absent", COUNTER(ts_absent) },
	{ "l3_csum_bad", COUNTER(l3_csum_bad) },
	{ "l4_csum_bad", COUNTER(l4_csum_bad) },
	{ "resets", COUNTER(resets) },
	SYNDROMES,
};
static const struct xstat_kind tx_kinds[] = {
	{ "completion_errors", COUNTER(errors) },
	{ "dropped", COUNTER(dropped) },
	{ "completions", COUNTER(completions) },
	{ "doorbells", COUNTER(doorbells) },
	{ "completions_refused", COUNTER(cqe_bad) },
	{ "resets", COUNTER(resets) },
	{ "stalls", COUNTER(stalls) },
	{ "timestamp_past_errors", COUNTER(time_past) },
	{ "timestamp_future_errors", COUNTER(time_future) },
	{ "timestamp_order_errors", COUNTER(time_order) },
	{ "timestamp_clock_errors", COUNTER(time_unknown) },
	SYNDROMES,
};
/** By enum mlxpmd_queue_kind. */
static const struct {
	const char *direction;
	const struct xstat_kind *kinds;
	unsigned int n;
} queue_kinds[MLXPMD_NB_KINDS] = {
	{ "rx", rx_kinds, RTE_DIM(rx_kinds) },
	{ "tx", tx_kinds, RTE_DIM(tx_kinds) },
};

static const struct xstat_kind clock_kinds[MLXPMD_CLOCK_COUNTERS] = {
	{ "clock_expired", offsetof(struct mlxpmd_clock_info, expired) },
	{ "clock_steps", offsetof(struct mlxpmd_clock_info, state.steps) },
	{ "clock_busy", offsetof(struct mlxpmd_clock_info, state.busy) },
};

static unsigned int
xstats_count(const struct rte_eth_dev *eth_dev)
{
	return mdv_counters_count(MLXPMD_PORT(eth_dev)->mdv) + NB_AGES +
	       RTE_DIM(clock_kinds) + RTE_DIM(rx_kinds) * (1 + eth_dev->data->nb_rx_queues) +
	       RTE_DIM(tx_kinds) * (1 + eth_dev->data->nb_tx_queues);
}

/* Destination of a walk over all statistics: names or values. */
struct walk {
	struct rte_eth_xstat_name *names;
	struct rte_eth_xstat *xstats;
	unsigned int n;
};

static void __rte_format_printf(3, 4)
put(struct walk *w, uint64_t value, const char *format, ...)
{
	va_list args;

	if (w->names != NULL) {
		va_start(args, format);
		vsnprintf(w->names[w->n].name, sizeof(w->names[w->n].name), format, args);
		va_end(args);
	} else {
		w->xstats[w->n] = (struct rte_eth_xstat){ .id = w->n, .value = value };
	}
	w->n++;
}

static uint64_t
counter_of(const void *counters, const struct xstat_kind *kind)
{
	return *(const uint64_t *)((const uint8_t *)counters + kind->offset);
}

/* queue < 0: the sum over the port. */
static void
put_queue(struct walk *w, enum mlxpmd_queue_kind kind, int queue, const struct mlxpmd_queue_stats *stats)
{
	const char *direction = queue_kinds[kind].direction;
	const struct xstat_kind *k = queue_kinds[kind].kinds, *end = k + queue_kinds[kind].n;

	for (; k < end; k++) {
		if (queue < 0)
			put(w, counter_of(stats, k), "%s_%s", direction, k->name);
		else
			put(w, counter_of(stats, k), "%s_q%d_%s", direction, queue, k->name);
	}
}

/* The counters, then the ages. ethdev reads imissed, whose age is the first, in the same call. */
static void
put_device(struct walk *w, struct mlxpmd_port *port)
{
	struct mlxpmd_counts counts = { .missed = 0 }, missed = { .missed = 0 };
	const uint64_t *base = port->stats_base->counters, *now = counts.counters;

	if (w->xstats != NULL) {
		mlxpmd_counts_get(port, MLXPMD_COUNTERS, &counts);
		mlxpmd_counts_get(port, MLXPMD_MISSED, &missed);
	}
	for (unsigned int i = 0; i < mdv_counters_count(port->mdv); i++)
		put(w, now[i] > base[i] ? now[i] - base[i] : 0, "%s", mdv_counter_name(port->mdv, i));
	put(w, mlxpmd_counts_age_us(&missed, MLXPMD_MISSED), "rx_missed_age_us");
	put(w, mlxpmd_counts_age_us(&counts, MLXPMD_COUNTERS), "device_counters_age_us");
}

/* Since the clock was opened; all 0 without a clock. */
static void
clock_info(const struct mlxpmd_port *port, struct mlxpmd_clock_info *info)
{
	memset(info, 0, sizeof(*info));
	if (port->clock != NULL)
		mlxpmd_clock_info_get(port->clock, info);
}

static int
walk(struct rte_eth_dev *eth_dev, struct walk *w)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	struct mlxpmd_queue_stats stats;
	struct mlxpmd_clock_info info;
	unsigned int kind, i;

	put_device(w, port);
	clock_info(port, &info);
	for (i = 0; i < RTE_DIM(clock_kinds); i++)
		put(w, counter_of(&info, &clock_kinds[i]) - port->stats_base->clock[i], "%s", clock_kinds[i].name);
	for (kind = 0; kind < MLXPMD_NB_KINDS; kind++) {
		mlxpmd_stats_sum(port, kind, &stats);
		put_queue(w, kind, -1, &stats);
	}
	for (kind = 0; kind < MLXPMD_NB_KINDS; kind++) {
		for (i = 0; i < mlxpmd_queues_count(eth_dev->data, kind); i++) {
			stats = mlxpmd_queue_stats_at(eth_dev->data, kind, i);
			put_queue(w, kind, i, &stats);
		}
	}
	return w->n;
}

int
mlxpmd_xstats_get_names(struct rte_eth_dev *eth_dev, struct rte_eth_xstat_name *names, unsigned int n)
{
	struct walk w = { .names = names };
	unsigned int count = xstats_count(eth_dev);

	return names == NULL || n < count ? (int)count : walk(eth_dev, &w);
}

int
mlxpmd_xstats_get(struct rte_eth_dev *eth_dev, struct rte_eth_xstat *xstats, unsigned int n)
{
	struct walk w = { .xstats = xstats };
	unsigned int count = xstats_count(eth_dev);

	return xstats == NULL || n < count ? (int)count : walk(eth_dev, &w);
}

int
mlxpmd_xstats_reset(struct rte_eth_dev *eth_dev)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	struct mlxpmd_clock_info info;
	struct mlxpmd_counts counts;

	mlxpmd_counts_read(port, MLXPMD_COUNTERS, &counts);
	memcpy(port->stats_base->counters, counts.counters, sizeof(counts.counters));
	clock_info(port, &info);
	for (unsigned int i = 0; i < RTE_DIM(clock_kinds); i++)
		port->stats_base->clock[i] = counter_of(&info, &clock_kinds[i]);
	return mlxpmd_stats_reset(eth_dev);
}
