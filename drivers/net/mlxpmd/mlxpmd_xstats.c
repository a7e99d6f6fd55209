/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Extended statistics: the device's vport and physical counters as they were read last (mlxpmd_counts.c) and how
 * old they are, what befell the port's clock, then the kinds of
 * queue events summed over the port, then those kinds queue by queue. ethdev itself adds the basic ones.
 */

#include "mlxpmd_clock_refresh.h"
#include "mlxpmd_ctrl.h"

struct xstat_kind {
	const char *name;
	size_t offset;		/**< Of a counter in mlxpmd_rxq_stats or mlxpmd_txq_stats. */
};

#define SYN(queue, class) \
	offsetof(struct mlxpmd_##queue##_stats, syndromes) + MLXPMD_SYN_##class * sizeof(uint64_t)

static const struct xstat_kind rx_kinds[] = {
	{ "mbuf_missing", offsetof(struct mlxpmd_rxq_stats, nombuf) },
	{ "completion_errors", offsetof(struct mlxpmd_rxq_stats, errors) },
	{ "completions_refused", offsetof(struct mlxpmd_rxq_stats, cqe_bad) },
	{ "timestamps_absent", offsetof(struct mlxpmd_rxq_stats, ts_absent) },
	{ "l3_csum_bad", offsetof(struct mlxpmd_rxq_stats, l3_csum_bad) },
	{ "l4_csum_bad", offsetof(struct mlxpmd_rxq_stats, l4_csum_bad) },
	{ "resets", offsetof(struct mlxpmd_rxq_stats, resets) },
	{ "errors_length", SYN(rxq, LENGTH) },
	{ "errors_operation", SYN(rxq, OPERATION) },
	{ "errors_protection", SYN(rxq, PROTECTION) },
	{ "errors_flush", SYN(rxq, FLUSH) },
	{ "errors_remote", SYN(rxq, REMOTE) },
	{ "errors_retry", SYN(rxq, RETRY) },
	{ "errors_unknown", SYN(rxq, UNKNOWN) },
};
static const struct xstat_kind tx_kinds[] = {
	{ "completion_errors", offsetof(struct mlxpmd_txq_stats, errors) },
	{ "dropped", offsetof(struct mlxpmd_txq_stats, dropped) },
	{ "completions", offsetof(struct mlxpmd_txq_stats, completions) },
	{ "doorbells", offsetof(struct mlxpmd_txq_stats, doorbells) },
	{ "completions_refused", offsetof(struct mlxpmd_txq_stats, cqe_bad) },
	{ "resets", offsetof(struct mlxpmd_txq_stats, resets) },
	{ "stalls", offsetof(struct mlxpmd_txq_stats, stalls) },
	{ "timestamp_past_errors", offsetof(struct mlxpmd_txq_stats, time_past) },
	{ "timestamp_future_errors", offsetof(struct mlxpmd_txq_stats, time_future) },
	{ "timestamp_order_errors", offsetof(struct mlxpmd_txq_stats, time_order) },
	{ "timestamp_clock_errors", offsetof(struct mlxpmd_txq_stats, time_unknown) },
	{ "errors_length", SYN(txq, LENGTH) },
	{ "errors_operation", SYN(txq, OPERATION) },
	{ "errors_protection", SYN(txq, PROTECTION) },
	{ "errors_flush", SYN(txq, FLUSH) },
	{ "errors_remote", SYN(txq, REMOTE) },
	{ "errors_retry", SYN(txq, RETRY) },
	{ "errors_unknown", SYN(txq, UNKNOWN) },
};

static const struct xstat_kind clock_kinds[MLXPMD_CLOCK_COUNTERS] = {
	{ "clock_expired", offsetof(struct mlxpmd_clock_info, expired) },
	{ "clock_steps", offsetof(struct mlxpmd_clock_info, state.steps) },
	{ "clock_busy", offsetof(struct mlxpmd_clock_info, state.busy) },
};

/* How old the device's counts are: of imissed, and of those of vport and wire. */
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
names_put(struct rte_eth_xstat_name *names, const struct xstat_kind *kinds, unsigned int n,
	  const char *direction, int queue)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		if (queue < 0)
			snprintf(names[i].name, sizeof(names[i].name), "%s_%s", direction,
				 kinds[i].name);
		else
			snprintf(names[i].name, sizeof(names[i].name), "%s_q%d_%s", direction, queue,
				 kinds[i].name);
	}
	return n;
}

int
mlxpmd_xstats_get_names(struct rte_eth_dev *eth_dev, struct rte_eth_xstat_name *names,
			unsigned int n)
{
	const struct mdv_dev *mdv = MLXPMD_PORT(eth_dev)->mdv;
	unsigned int count = xstats_count(eth_dev), at, i;

	if (names == NULL || n < count)
		return count;
	for (at = 0; at < mdv_counters_count(mdv); at++)
		strlcpy(names[at].name, mdv_counter_name(mdv, at), sizeof(names[at].name));
	for (i = 0; i < RTE_DIM(age_kinds); i++)
		strlcpy(names[at++].name, age_kinds[i].name, sizeof(names[at].name));
	for (i = 0; i < RTE_DIM(clock_kinds); i++)
		strlcpy(names[at++].name, clock_kinds[i].name, sizeof(names[at].name));
	at += names_put(&names[at], rx_kinds, RTE_DIM(rx_kinds), "rx", -1);
	at += names_put(&names[at], tx_kinds, RTE_DIM(tx_kinds), "tx", -1);
	for (i = 0; i < eth_dev->data->nb_rx_queues; i++)
		at += names_put(&names[at], rx_kinds, RTE_DIM(rx_kinds), "rx", i);
	for (i = 0; i < eth_dev->data->nb_tx_queues; i++)
		at += names_put(&names[at], tx_kinds, RTE_DIM(tx_kinds), "tx", i);
	return at;
}

static unsigned int
values_put(struct rte_eth_xstat *xstats, const struct xstat_kind *kinds, unsigned int n,
	   const void *stats)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		xstats[i].value = *(const uint64_t *)((const uint8_t *)stats + kinds[i].offset);
	return n;
}

/* Since the clock was opened; all 0 for a port without one. */
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

/* The counters, then the ages of what is shown: that of imissed is read by ethdev in the same call. */
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
values_queues(const struct rte_eth_dev_data *data, struct rte_eth_xstat *xstats)
{
	struct mlxpmd_rxq_stats rx;
	struct mlxpmd_txq_stats tx;
	unsigned int at = 0, i;

	for (i = 0; i < data->nb_rx_queues; i++) {
		memset(&rx, 0, sizeof(rx));
		if (data->rx_queues[i] != NULL)
			mlxpmd_rxq_stats_get(data->rx_queues[i], &rx);
		at += values_put(&xstats[at], rx_kinds, RTE_DIM(rx_kinds), &rx);
	}
	for (i = 0; i < data->nb_tx_queues; i++) {
		memset(&tx, 0, sizeof(tx));
		if (data->tx_queues[i] != NULL)
			mlxpmd_txq_stats_get(data->tx_queues[i], &tx);
		at += values_put(&xstats[at], tx_kinds, RTE_DIM(tx_kinds), &tx);
	}
	return at;
}

int
mlxpmd_xstats_get(struct rte_eth_dev *eth_dev, struct rte_eth_xstat *xstats, unsigned int n)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	unsigned int count = xstats_count(eth_dev), at, i;
	struct mlxpmd_rxq_stats rx;
	struct mlxpmd_txq_stats tx;

	if (xstats == NULL || n < count)
		return count;
	at = values_device(port, xstats);
	at += values_clock(port, &xstats[at]);
	mlxpmd_stats_sum(port, &rx, &tx);
	at += values_put(&xstats[at], rx_kinds, RTE_DIM(rx_kinds), &rx);
	at += values_put(&xstats[at], tx_kinds, RTE_DIM(tx_kinds), &tx);
	at += values_queues(eth_dev->data, &xstats[at]);
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
