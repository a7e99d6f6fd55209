/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Extended statistics, in this order: the device's vport and physical counters as they were read last
 * (mlxpmd_counts.c) and their age, counters of the port's clock, counters of queues as sums over the port, then the
 * same for each queue. ethdev adds the basic statistics.
 */

#include "mlxpmd_clock_refresh.h"
#include "mlxpmd_ctrl.h"

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

/* Age of imissed, and of the vport and physical counters. */
static const struct {
	const char *name;
	enum mlxpmd_counts_of of;
} age_kinds[] = {
	{ "rx_missed_age_us", MLXPMD_MISSED },
	{ "device_counters_age_us", MLXPMD_COUNTERS },
};

static unsigned int
xstats_count(const struct rte_eth_dev *eth_dev)
{
	return mdv_counters_count(MLXPMD_PORT(eth_dev)->mdv) + RTE_DIM(age_kinds) +
	       RTE_DIM(clock_kinds) + RTE_DIM(rx_kinds) * (1 + eth_dev->data->nb_rx_queues) +
	       RTE_DIM(tx_kinds) * (1 + eth_dev->data->nb_tx_queues);
}

/* queue < 0: the sum over the port. */
static unsigned int
names_put(struct rte_eth_xstat_name *names, enum mlxpmd_queue_kind kind, int queue)
{
	const char *direction = queue_kinds[kind].direction, *name;
	unsigned int i;

	for (i = 0; i < queue_kinds[kind].n; i++) {
		name = queue_kinds[kind].kinds[i].name;
		if (queue < 0)
			snprintf(names[i].name, sizeof(names[i].name), "%s_%s", direction, name);
		else
			snprintf(names[i].name, sizeof(names[i].name), "%s_q%d_%s", direction, queue, name);
	}
	return queue_kinds[kind].n;
}

int
mlxpmd_xstats_get_names(struct rte_eth_dev *eth_dev, struct rte_eth_xstat_name *names,
			unsigned int n)
{
	const struct mdv_dev *mdv = MLXPMD_PORT(eth_dev)->mdv;
	unsigned int count = xstats_count(eth_dev), at, i, kind;

	if (names == NULL || n < count)
		return count;
	for (at = 0; at < mdv_counters_count(mdv); at++)
		strlcpy(names[at].name, mdv_counter_name(mdv, at), sizeof(names[at].name));
	for (i = 0; i < RTE_DIM(age_kinds); i++)
		strlcpy(names[at++].name, age_kinds[i].name, sizeof(names[at].name));
	for (i = 0; i < RTE_DIM(clock_kinds); i++)
		strlcpy(names[at++].name, clock_kinds[i].name, sizeof(names[at].name));
	for (kind = 0; kind < MLXPMD_NB_KINDS; kind++)
		at += names_put(&names[at], kind, -1);
	for (kind = 0; kind < MLXPMD_NB_KINDS; kind++)
		for (i = 0; i < mlxpmd_queues_count(eth_dev->data, kind); i++)
			at += names_put(&names[at], kind, i);
	return at;
}

static unsigned int
values_put(struct rte_eth_xstat *xstats, enum mlxpmd_queue_kind kind, const struct mlxpmd_queue_stats *stats)
{
	unsigned int i;

	for (i = 0; i < queue_kinds[kind].n; i++)
		xstats[i].value = *(const uint64_t *)((const uint8_t *)stats + queue_kinds[kind].kinds[i].offset);
	return queue_kinds[kind].n;
}

/* Since the clock was opened; all 0 without a clock. */
static void
clock_counters(const struct mlxpmd_port *port, uint64_t *counters)
{
	struct mlxpmd_clock_info info = { 0 };
	unsigned int i;

	if (port->clock != NULL)
		mlxpmd_clock_info_get(port->clock, &info);
	for (i = 0; i < RTE_DIM(clock_kinds); i++)
		counters[i] = *(const uint64_t *)((const uint8_t *)&info + clock_kinds[i].offset);
}

static unsigned int
values_clock(struct mlxpmd_port *port, struct rte_eth_xstat *xstats)
{
	uint64_t counters[RTE_DIM(clock_kinds)];
	unsigned int i;

	clock_counters(port, counters);
	for (i = 0; i < RTE_DIM(clock_kinds); i++)
		xstats[i].value = counters[i] - port->stats_base->clock[i];
	return RTE_DIM(clock_kinds);
}

/* The counters, then their ages. ethdev reads imissed, whose age is the first, in the same call. */
static unsigned int
values_device(struct mlxpmd_port *port, struct rte_eth_xstat *xstats)
{
	unsigned int nb_counters = mdv_counters_count(port->mdv), at, i;
	const struct mlxpmd_stats_base *base = port->stats_base;
	struct mlxpmd_counts counts, missed;

	mlxpmd_counts_get(port, MLXPMD_COUNTERS, &counts);
	mlxpmd_counts_get(port, MLXPMD_MISSED, &missed);
	for (at = 0; at < nb_counters; at++)
		xstats[at].value = counts.counters[at] > base->counters[at] ?
			counts.counters[at] - base->counters[at] : 0;
	for (i = 0; i < RTE_DIM(age_kinds); i++)
		xstats[at++].value = mlxpmd_counts_age_us(age_kinds[i].of == MLXPMD_MISSED ? &missed :
							  &counts, age_kinds[i].of);
	return at;
}

static unsigned int
values_queues(const struct rte_eth_dev_data *data, enum mlxpmd_queue_kind kind, struct rte_eth_xstat *xstats)
{
	struct mlxpmd_queue_stats stats;
	unsigned int at = 0, i;

	for (i = 0; i < mlxpmd_queues_count(data, kind); i++) {
		memset(&stats, 0, sizeof(stats));
		if (mlxpmd_queue_at(data, kind, i) != NULL)
			mlxpmd_queue_stats_get(mlxpmd_queue_at(data, kind, i), &stats);
		at += values_put(&xstats[at], kind, &stats);
	}
	return at;
}

int
mlxpmd_xstats_get(struct rte_eth_dev *eth_dev, struct rte_eth_xstat *xstats, unsigned int n)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	unsigned int count = xstats_count(eth_dev), at, i, kind;
	struct mlxpmd_queue_stats sum;

	if (xstats == NULL || n < count)
		return count;
	at = values_device(port, xstats);
	at += values_clock(port, &xstats[at]);
	for (kind = 0; kind < MLXPMD_NB_KINDS; kind++) {
		mlxpmd_stats_sum(port, kind, &sum);
		at += values_put(&xstats[at], kind, &sum);
	}
	for (kind = 0; kind < MLXPMD_NB_KINDS; kind++)
		at += values_queues(eth_dev->data, kind, &xstats[at]);
	for (i = 0; i < at; i++)
		xstats[i].id = i;
	return at;
}

int
mlxpmd_xstats_reset(struct rte_eth_dev *eth_dev)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	struct mlxpmd_counts counts;

	mlxpmd_counts_read(port, MLXPMD_COUNTERS, &counts);
	memcpy(port->stats_base->counters, counts.counters, sizeof(counts.counters));
	clock_counters(port, port->stats_base->clock);
	return mlxpmd_stats_reset(eth_dev);
}
