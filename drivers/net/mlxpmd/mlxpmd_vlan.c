/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* VLAN filter (steering rules) and VLAN stripping (a property of each RQ). */

#include "mlxpmd_ctrl.h"

int
mlxpmd_vlan_filter_set(struct rte_eth_dev *eth_dev, uint16_t vlan_id, int on)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	struct mlxpmd_filter want = port->filter;
	uint64_t bit = RTE_BIT64(vlan_id % 64);

	if (vlan_id > RTE_ETHER_MAX_VLAN_ID)
		return MLXPMD_FAIL(EINVAL, "port %u: VLAN id %u: allowed are 0..%d", port->port_id, vlan_id,
				   RTE_ETHER_MAX_VLAN_ID);
	if (on)
		want.vlan_ids[vlan_id / 64] |= bit;
	else
		want.vlan_ids[vlan_id / 64] &= ~bit;
	return mlxpmd_filter_set(port, &want);
}

/*
 * A queue that is not ready has the request in its offloads: a start creates the RQ by them, and a repair writes them
 * to the device at its end.
 */
static int
strip_set(struct mlxpmd_rxq *rxq, bool on)
{
	enum mlxpmd_qstate state;
	int rc = 0;

	pthread_mutex_lock(&rxq->q.port->lock);
	state = mlxpmd_queue_state(&rxq->q);
	if (state == MLXPMD_QS_READY || state == MLXPMD_QS_QUIESCING) {
		/* The device may have stopped the RQ, which the burst has not found yet. */
		rc = mdv_wq_state_read(&rxq->q.hw.rq.wq);
		if (rc == 0 && rxq->q.hw.rq.wq.state == MDV_QS_RDY)
			rc = mdv_rq_set_vlan_strip(&rxq->q.hw.rq, on);
	}
	if (rc == 0 && on)
		rxq->q.offloads |= RTE_ETH_RX_OFFLOAD_VLAN_STRIP;
	else if (rc == 0)
		rxq->q.offloads &= ~RTE_ETH_RX_OFFLOAD_VLAN_STRIP;
	pthread_mutex_unlock(&rxq->q.port->lock);
	return rc;
}

void
mlxpmd_vlan_strip_queue_set(struct rte_eth_dev *eth_dev, uint16_t queue_id, int on)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	struct mlxpmd_rxq *rxq = eth_dev->data->rx_queues[queue_id];

	if (rxq == NULL)
		return;
	if (on && !port->mdv->caps.vlan_strip) {
		MLXPMD_LOG(ERR, "port %u: the device cannot strip VLAN tags", port->port_id);
		return;
	}
	(void)strip_set(rxq, on != 0);
}

static int
strip_set_all(struct rte_eth_dev *eth_dev, bool on)
{
	struct mlxpmd_rxq *rxq;
	uint16_t i, k;
	int rc;

	for (i = 0; i < eth_dev->data->nb_rx_queues; i++) {
		rxq = eth_dev->data->rx_queues[i];
		rc = rxq != NULL ? strip_set(rxq, on) : 0;
		if (rc == 0)
			continue;
		for (k = 0; k < i; k++)
			if (eth_dev->data->rx_queues[k] != NULL)
				(void)strip_set(eth_dev->data->rx_queues[k], !on);
		return rc;
	}
	return 0;
}

int
mlxpmd_vlan_offload_set(struct rte_eth_dev *eth_dev, int mask)
{
	uint64_t offloads = eth_dev->data->dev_conf.rxmode.offloads;
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	struct mlxpmd_filter want = port->filter;
	int rc = 0;

	if (mask & RTE_ETH_VLAN_STRIP_MASK)
		rc = strip_set_all(eth_dev, (offloads & RTE_ETH_RX_OFFLOAD_VLAN_STRIP) != 0);
	if (rc == 0 && (mask & RTE_ETH_VLAN_FILTER_MASK)) {
		want.vlan_on = (offloads & RTE_ETH_RX_OFFLOAD_VLAN_FILTER) != 0;
		rc = mlxpmd_filter_set(port, &want);
	}
	return rc;
}
