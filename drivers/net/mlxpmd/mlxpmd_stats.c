/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Basic statistics: what the queues counted since the last reset, and the device's count of frames
 * that found no buffer, as it was read last (mlxpmd_counts.c).
 *
 * Only a queue's lcore writes its counters, so a reset remembers where they stood.
 */

#include <stdlib.h>

#include "mlxpmd_ctrl.h"

/* Both structures are rows of 64-bit counters; they are summed and subtracted as such. */
static_assert(sizeof(struct mlxpmd_rxq_stats) % sizeof(uint64_t) == 0, "rows of counters");
static_assert(sizeof(struct mlxpmd_txq_stats) % sizeof(uint64_t) == 0, "rows of counters");
#define RX_ROWS (sizeof(struct mlxpmd_rxq_stats) / sizeof(uint64_t))
#define TX_ROWS (sizeof(struct mlxpmd_txq_stats) / sizeof(uint64_t))

static void
rows_diff(void *out, const void *now, const void *base, unsigned int n)
{
	const volatile uint64_t *a = now;
	const uint64_t *b = base;
	uint64_t *o = out;
	unsigned int i;

	for (i = 0; i < n; i++)
		o[i] = a[i] - b[i];
}

static void
rows_add(void *out, const void *add, unsigned int n)
{
	const uint64_t *a = add;
	uint64_t *o = out;
	unsigned int i;

	for (i = 0; i < n; i++)
		o[i] += a[i];
}

void
mlxpmd_rxq_stats_get(const struct mlxpmd_rxq *rxq, struct mlxpmd_rxq_stats *out)
{
	rows_diff(out, &rxq->stats, &rxq->stats_base, RX_ROWS);
}

void
mlxpmd_txq_stats_get(const struct mlxpmd_txq *txq, struct mlxpmd_txq_stats *out)
{
	rows_diff(out, &txq->stats, &txq->stats_base, TX_ROWS);
}

void
mlxpmd_rxq_stats_retire(struct mlxpmd_rxq *rxq)
{
	struct mlxpmd_rxq_stats now;

	mlxpmd_rxq_stats_get(rxq, &now);
	rows_add(&rxq->port->stats_base->rx_gone, &now, RX_ROWS);
}

void
mlxpmd_txq_stats_retire(struct mlxpmd_txq *txq)
{
	struct mlxpmd_txq_stats now;

	mlxpmd_txq_stats_get(txq, &now);
	rows_add(&txq->port->stats_base->tx_gone, &now, TX_ROWS);
}

void
mlxpmd_stats_sum(struct mlxpmd_port *port, struct mlxpmd_rxq_stats *rx,
		 struct mlxpmd_txq_stats *tx)
{
	const struct rte_eth_dev_data *data = port->eth_dev->data;
	struct mlxpmd_rxq_stats one_rx;
	struct mlxpmd_txq_stats one_tx;
	uint16_t i;

	*rx = port->stats_base->rx_gone;
	*tx = port->stats_base->tx_gone;
	for (i = 0; i < data->nb_rx_queues; i++) {
		if (data->rx_queues[i] == NULL)
			continue;
		mlxpmd_rxq_stats_get(data->rx_queues[i], &one_rx);
		rows_add(rx, &one_rx, RX_ROWS);
	}
	for (i = 0; i < data->nb_tx_queues; i++) {
		if (data->tx_queues[i] == NULL)
			continue;
		mlxpmd_txq_stats_get(data->tx_queues[i], &one_tx);
		rows_add(tx, &one_tx, TX_ROWS);
	}
}

static uint64_t
stats_missed(struct mlxpmd_port *port)
{
	const uint64_t base = __atomic_load_n(&port->stats_base->missed, __ATOMIC_RELAXED);
	struct mlxpmd_counts counts;

	mlxpmd_counts_get(port, MLXPMD_MISSED, &counts);
	/* Who resets in another thread may know more than what was found here. */
	return counts.missed > base ? counts.missed - base : 0;
}

static void
stats_queues(const struct rte_eth_dev_data *data, struct rte_eth_stats *stats)
{
	struct mlxpmd_rxq_stats rx;
	struct mlxpmd_txq_stats tx;
	uint16_t i;

	for (i = 0; i < RTE_MIN(data->nb_rx_queues, RTE_ETHDEV_QUEUE_STAT_CNTRS); i++) {
		if (data->rx_queues[i] == NULL)
			continue;
		mlxpmd_rxq_stats_get(data->rx_queues[i], &rx);
		stats->q_ipackets[i] = rx.packets;
		stats->q_ibytes[i] = rx.bytes;
		stats->q_errors[i] = rx.errors + rx.cqe_bad;
	}
	for (i = 0; i < RTE_MIN(data->nb_tx_queues, RTE_ETHDEV_QUEUE_STAT_CNTRS); i++) {
		if (data->tx_queues[i] == NULL)
			continue;
		mlxpmd_txq_stats_get(data->tx_queues[i], &tx);
		stats->q_opackets[i] = tx.packets;
		stats->q_obytes[i] = tx.bytes;
	}
}

int
mlxpmd_stats_get(struct rte_eth_dev *eth_dev, struct rte_eth_stats *stats)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	struct mlxpmd_rxq_stats rx;
	struct mlxpmd_txq_stats tx;

	mlxpmd_stats_sum(port, &rx, &tx);
	stats->ipackets = rx.packets;
	stats->ibytes = rx.bytes;
	stats->ierrors = rx.errors + rx.cqe_bad;
	stats->rx_nombuf = rx.nombuf;
	stats->imissed = stats_missed(port);
	stats->opackets = tx.packets;
	stats->obytes = tx.bytes;
	stats->oerrors = tx.errors + tx.dropped;
	stats_queues(eth_dev->data, stats);
	return 0;
}

int
mlxpmd_stats_reset(struct rte_eth_dev *eth_dev)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	struct rte_eth_dev_data *data = eth_dev->data;
	struct mlxpmd_counts counts;
	struct mlxpmd_rxq *rxq;
	struct mlxpmd_txq *txq;
	uint16_t i;

	for (i = 0; i < data->nb_rx_queues; i++) {
		rxq = data->rx_queues[i];
		if (rxq != NULL)
			rxq->stats_base = rxq->stats;
	}
	for (i = 0; i < data->nb_tx_queues; i++) {
		txq = data->tx_queues[i];
		if (txq != NULL)
			txq->stats_base = txq->stats;
	}
	memset(&port->stats_base->rx_gone, 0, sizeof(port->stats_base->rx_gone));
	memset(&port->stats_base->tx_gone, 0, sizeof(port->stats_base->tx_gone));
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

/* A fresh queue counter starts at 0; vport and physical counters run since the device came up. */
int
mlxpmd_stats_up(struct mlxpmd_port *port)
{
	int rc;

	port->stats_base = calloc(1, sizeof(*port->stats_base));
	if (port->stats_base == NULL) {
		MLXPMD_LOG(ERR, "port %u: no memory for statistics", port->port_id);
		return -ENOMEM;
	}
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
