/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Basic statistics: the counters of the queues since the last reset, and the device's count of frames
 * that found no buffer, as it was read last (mlxpmd_counts.c).
 *
 * Only a queue's lcore writes its counters, so a reset saves their values as the new base.
 */

#include <stdlib.h>

#include "mlxpmd_ctrl.h"

/* The structure is an array of 64-bit counters; it is added and subtracted as such. */
static_assert(sizeof(struct mlxpmd_queue_stats) % sizeof(uint64_t) == 0, "array of counters");
#define COUNTERS (sizeof(struct mlxpmd_queue_stats) / sizeof(uint64_t))

static void
stats_add(struct mlxpmd_queue_stats *out, const struct mlxpmd_queue_stats *add)
{
	const uint64_t *a = (const uint64_t *)add;
	uint64_t *o = (uint64_t *)out;
	unsigned int i;

	for (i = 0; i < COUNTERS; i++)
		o[i] += a[i];
}

void
mlxpmd_queue_stats_get(const struct mlxpmd_queue *q, struct mlxpmd_queue_stats *out)
{
	const volatile uint64_t *now = (const volatile uint64_t *)&q->stats;
	const uint64_t *base = (const uint64_t *)&q->stats_base;
	uint64_t *o = (uint64_t *)out;
	unsigned int i;

	for (i = 0; i < COUNTERS; i++)
		o[i] = now[i] - base[i];
}

struct mlxpmd_queue_stats
mlxpmd_queue_stats_at(const struct rte_eth_dev_data *data, enum mlxpmd_queue_kind kind, uint16_t i)
{
	struct mlxpmd_queue_stats stats = { 0 };

	if (mlxpmd_queue_at(data, kind, i) != NULL)
		mlxpmd_queue_stats_get(mlxpmd_queue_at(data, kind, i), &stats);
	return stats;
}

void
mlxpmd_queue_stats_retire(struct mlxpmd_queue *q)
{
	struct mlxpmd_queue_stats now;

	mlxpmd_queue_stats_get(q, &now);
	stats_add(&q->port->stats_base->released[q->kind], &now);
}

void
mlxpmd_stats_sum(struct mlxpmd_port *port, enum mlxpmd_queue_kind kind, struct mlxpmd_queue_stats *sum)
{
	const struct rte_eth_dev_data *data = port->eth_dev->data;
	struct mlxpmd_queue_stats one;
	uint16_t i;

	*sum = port->stats_base->released[kind];
	for (i = 0; i < mlxpmd_queues_count(data, kind); i++) {
		one = mlxpmd_queue_stats_at(data, kind, i);
		stats_add(sum, &one);
	}
}

static uint64_t
stats_missed(struct mlxpmd_port *port)
{
	const uint64_t base = __atomic_load_n(&port->stats_base->missed, __ATOMIC_RELAXED);
	struct mlxpmd_counts counts;

	mlxpmd_counts_get(port, MLXPMD_MISSED, &counts);
	/* A reset in another thread may have read a later count than this one. */
	return counts.missed > base ? counts.missed - base : 0;
}

static void
stats_queues(const struct rte_eth_dev_data *data, struct eth_queue_stats *queues)
{
	struct mlxpmd_queue_stats one;
	uint16_t i;

	for (i = 0; i < RTE_MIN(data->nb_rx_queues, RTE_ETHDEV_QUEUE_STAT_CNTRS); i++) {
		one = mlxpmd_queue_stats_at(data, MLXPMD_RX, i);
		queues->q_ipackets[i] = one.packets;
		queues->q_ibytes[i] = one.bytes;
		queues->q_errors[i] = one.errors + one.cqe_bad;
	}
	for (i = 0; i < RTE_MIN(data->nb_tx_queues, RTE_ETHDEV_QUEUE_STAT_CNTRS); i++) {
		one = mlxpmd_queue_stats_at(data, MLXPMD_TX, i);
		queues->q_opackets[i] = one.packets;
		queues->q_obytes[i] = one.bytes;
	}
}

int
mlxpmd_stats_get(struct rte_eth_dev *eth_dev, struct rte_eth_stats *stats, struct eth_queue_stats *queues)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	struct mlxpmd_queue_stats rx, tx;

	mlxpmd_stats_sum(port, MLXPMD_RX, &rx);
	mlxpmd_stats_sum(port, MLXPMD_TX, &tx);
	stats->ipackets = rx.packets;
	stats->ibytes = rx.bytes;
	stats->ierrors = rx.errors + rx.cqe_bad;
	stats->rx_nombuf = rx.nombuf;
	stats->imissed = stats_missed(port);
	stats->opackets = tx.packets;
	stats->obytes = tx.bytes;
	stats->oerrors = tx.errors + tx.dropped;
	if (queues != NULL)
		stats_queues(eth_dev->data, queues);
	return 0;
}

int
mlxpmd_stats_reset(struct rte_eth_dev *eth_dev)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	struct rte_eth_dev_data *data = eth_dev->data;
	struct mlxpmd_counts counts;
	struct mlxpmd_queue *q;
	unsigned int kind, i;

	for (kind = 0; kind < MLXPMD_NB_KINDS; kind++) {
		for (i = 0; i < mlxpmd_queues_count(data, kind); i++) {
			q = mlxpmd_queue_at(data, kind, i);
			if (q != NULL)
				q->stats_base = q->stats;
		}
	}
	memset(port->stats_base->released, 0, sizeof(port->stats_base->released));
	data->rx_mbuf_alloc_failed = 0;
	mlxpmd_counts_read(port, MLXPMD_MISSED, &counts);
	__atomic_store_n(&port->stats_base->missed, counts.missed, __ATOMIC_RELAXED);
	return 0;
}

static int
q_counter_up(struct mlxpmd_port *port)
{
	if (!port->mdv->caps.q_counters) {
		MLXPMD_LOG(NOTICE, "port %u: the device has no queue counters: imissed stays 0",
			   port->port_id);
		return 0;
	}
	port->q_counter = mdv_q_counter_create(port->mdv);
	return port->q_counter != NULL ? 0 : -rte_errno;
}

/* A new queue counter starts at 0; vport and physical counters count since the device was initialized. */
int
mlxpmd_stats_up(struct mlxpmd_port *port)
{
	int rc;

	port->stats_base = calloc(1, sizeof(*port->stats_base));
	if (port->stats_base == NULL)
		return MLXPMD_FAIL(ENOMEM, "port %u: no memory for statistics", port->port_id);
	rc = q_counter_up(port);
	if (rc == 0)
		rc = mlxpmd_counts_up(port);
	if (rc != 0)
		mlxpmd_stats_down(port);
	return rc;
}

void
mlxpmd_stats_down(struct mlxpmd_port *port)
{
	mlxpmd_counts_down(port);
	(void)mdv_obj_destroy(port->q_counter);
	port->q_counter = NULL;
	free(port->stats_base);
	port->stats_base = NULL;
}
