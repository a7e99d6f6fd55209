/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* rte_eth_timesync_enable() and _disable(): exchanges the bursts of a port, which may be polled at that moment. */

#include <rte_errno.h>
#include <rte_mbuf_dyn.h>

#include "mlxpmd_clock.h"
#include "mlxpmd_ctrl.h"

/* Selects bursts again. What the new ones need of the queues must be in place before. */
static void
bursts_change(struct mlxpmd_port *port)
{
	struct rte_eth_fp_ops *fp = &rte_eth_fp_ops[port->port_id];

	if (!port->running)
		return;
	mlxpmd_burst_select(port->eth_dev);
	rte_smp_wmb();
	fp->rx_pkt_burst = port->eth_dev->rx_pkt_burst;
	fp->tx_pkt_burst = port->eth_dev->tx_pkt_burst;
}

/* Queues that were set up without the offload get the mbuf field of stamps, and keep it. */
static int
rx_field_set(struct mlxpmd_port *port)
{
	uint64_t flag;
	unsigned int i;
	int offset;

	if (rte_mbuf_dyn_rx_timestamp_register(&offset, &flag) != 0) {
		MLXPMD_LOG(ERR, "port %u: timesync: no free field in the mbuf for timestamps: %s", port->port_id,
			   rte_strerror(rte_errno));
		return -rte_errno;
	}
	for (i = 0; i < MLXPMD_MAX_QUEUES; i++) {
		struct mlxpmd_queue *q = port->queues[MLXPMD_RX][i];

		if (q == NULL)
			continue;
		mlxpmd_rxq_of(q)->ts_flag = flag;
		mlxpmd_rxq_of(q)->ts_offset = offset;
	}
	return 0;
}

int
mlxpmd_timesync_enable(struct rte_eth_dev *eth_dev)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	int rc;

	if (port->clock == NULL || port->clock->kind == MDV_CLOCK_TICKS) {
		MLXPMD_LOG(ERR, "port %u: timesync: %s", port->port_id,
			   port->clock == NULL ? "the port has no clock" :
			   "clock=raw counts ticks: allowed are the other sources");
		return -ENOTSUP;
	}
	pthread_mutex_lock(&port->lock);
	rc = rx_field_set(port);
	if (rc == 0 && !port->timesync.on) {
		mlxpmd_timesync_clear(&port->timesync);
		port->timesync.on = true;
		bursts_change(port);
	}
	pthread_mutex_unlock(&port->lock);
	return rc;
}

int
mlxpmd_timesync_disable(struct rte_eth_dev *eth_dev)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);

	pthread_mutex_lock(&port->lock);
	if (port->timesync.on) {
		port->timesync.on = false;
		bursts_change(port);
		mlxpmd_timesync_clear(&port->timesync);
	}
	pthread_mutex_unlock(&port->lock);
	return 0;
}
