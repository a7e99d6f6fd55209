/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Link state and MTU of the kernel interface. */

#include <rte_cycles.h>

#include "mlxpmd_ctrl.h"
#include "mlxpmd_recorder.h"

/* How long a caller of rte_eth_link_get() waits for the link, and how often it is read. */
#define LINK_WAIT_MS 1000
#define LINK_POLL_MS 20

static int
link_read(struct mlxpmd_port *port, struct rte_eth_link *link)
{
	struct mdv_link state;
	int rc;

	*link = (struct rte_eth_link){
		.link_speed = RTE_ETH_SPEED_NUM_NONE,
		.link_duplex = RTE_ETH_LINK_FULL_DUPLEX,
		.link_autoneg = RTE_ETH_LINK_AUTONEG,
		.link_status = RTE_ETH_LINK_DOWN,
	};
	rc = port->mdv->port->link(port->mdv, &state);
	if (rc != 0)
		return mdv_removed(port->mdv) ? 0 : rc; /* Of a removed device the link is down. */
	if (state.up) {
		link->link_status = RTE_ETH_LINK_UP;
		link->link_speed = state.speed_mbps != 0 ? state.speed_mbps :
							   (uint32_t)RTE_ETH_SPEED_NUM_UNKNOWN;
	}
	return 0;
}

static void
link_record(struct mlxpmd_port *port, const struct rte_eth_link *link)
{
	const uint8_t is = link->link_status == RTE_ETH_LINK_UP ? MLXPMD_RECORDED_UP : MLXPMD_RECORDED_DOWN;

	if (__atomic_exchange_n(&port->recorder.link, is, __ATOMIC_RELAXED) != is)
		MDV_RECORD(port->mdv, .kind = MDV_RECORD_LINK, .op = link->link_status,
			   .value = link->link_status == RTE_ETH_LINK_UP ? link->link_speed : 0);
}

/* Stores the link in ethdev. 0: its state changed, else -1. */
static int
link_set(struct mlxpmd_port *port, const struct rte_eth_link *link)
{
	link_record(port, link);
	return rte_eth_linkstatus_set(port->eth_dev, link);
}

void
mlxpmd_link_record(struct mlxpmd_port *port)
{
	struct rte_eth_link link;

	if (link_read(port, &link) == 0)
		link_record(port, &link);
}

int
mlxpmd_link_update(struct rte_eth_dev *eth_dev, int wait_to_complete)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	unsigned int waited_ms = 0;
	struct rte_eth_link link;
	int rc;

	for (;;) {
		rc = link_read(port, &link);
		if (rc != 0 || link.link_status == RTE_ETH_LINK_UP || !wait_to_complete ||
		    waited_ms >= LINK_WAIT_MS)
			break;
		rte_delay_us_sleep(LINK_POLL_MS * 1000);
		waited_ms += LINK_POLL_MS;
	}
	if (rc != 0)
		return rc;
	return link_set(port, &link);
}

bool
mlxpmd_link_notified(const struct mlxpmd_port *port)
{
	return __atomic_load_n(&port->link_notified, __ATOMIC_RELAXED);
}

bool
mlxpmd_link_refresh(struct mlxpmd_port *port)
{
	struct rte_eth_link link;

	if (link_read(port, &link) != 0)
		return false;
	(void)link_set(port, &link);
	return (link.link_status == RTE_ETH_LINK_UP) != mlxpmd_link_notified(port);
}

bool
mlxpmd_link_set_notified(struct mlxpmd_port *port)
{
	struct rte_eth_link link;
	bool up;

	(void)rte_eth_linkstatus_get(port->eth_dev, &link);
	up = link.link_status == RTE_ETH_LINK_UP;
	return __atomic_exchange_n(&port->link_notified, up, __ATOMIC_RELAXED) != up;
}

int
mlxpmd_link_up(struct rte_eth_dev *eth_dev)
{
	struct mdv_dev *mdv = MLXPMD_PORT(eth_dev)->mdv;

	return mdv->port->up_set(mdv, true);
}

int
mlxpmd_link_down(struct rte_eth_dev *eth_dev)
{
	struct mdv_dev *mdv = MLXPMD_PORT(eth_dev)->mdv;

	return mdv->port->up_set(mdv, false);
}

uint32_t
mlxpmd_link_speed_capa(struct rte_eth_dev *eth_dev)
{
	struct rte_eth_link link;

	/* A link that is down, or cannot be read, has no speed. */
	if (rte_eal_process_type() == RTE_PROC_PRIMARY)
		(void)link_read(MLXPMD_PORT(eth_dev), &link);
	else
		(void)rte_eth_linkstatus_get(eth_dev, &link);
	return rte_eth_speed_bitflag(link.link_speed, RTE_ETH_LINK_FULL_DUPLEX);
}

static int
mtu_write(struct mlxpmd_port *port, uint16_t mtu)
{
	int rc;

	if (port->netdev.mtu_known && port->netdev.mtu == mtu)
		return 0;
	rc = port->mdv->port->mtu_set(port->mdv, mtu);
	if (rc != 0)
		return rc;
	port->netdev.mtu = mtu;
	return 0;
}

int
mlxpmd_mtu_apply(struct mlxpmd_port *port)
{
	/* Without an interface in this network namespace the port keeps what its owner gave it. */
	if (!port->netdev.mtu_known) {
		MLXPMD_LOG(INFO, "port %u: no kernel interface here: MTU %u is not enforced by the device",
			   port->port_id, port->eth_dev->data->mtu);
		return 0;
	}
	return mtu_write(port, port->eth_dev->data->mtu);
}

int
mlxpmd_mtu_set(struct rte_eth_dev *eth_dev, uint16_t mtu)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	const struct mlxpmd_rxq *rxq;
	uint16_t i;
	bool striding;
	int need;

	for (i = 0; eth_dev->data->dev_started && i < eth_dev->data->nb_rx_queues; i++) {
		rxq = eth_dev->data->rx_queues[i];
		striding = rxq->striding.log_strides != 0;
		need = striding ? mlxpmd_rxq_log_stride_size(rxq, mtu) : mlxpmd_rxq_log_segs(rxq, mtu);
		if (need < 0)
			return need;
		if (need > (striding ? rxq->striding.log_stride_size : rxq->log_segs))
			return MLXPMD_FAIL(EBUSY,
					   "port %u: MTU %u needs %s than Rx queue %u has: stop the port first",
					   port->port_id, mtu, striding ? "larger strides" : "more buffers per frame",
					   i);
	}
	if (!eth_dev->data->dev_started)
		return 0; /* dev_start sets it. */
	if (!port->netdev.mtu_known)
		return MLXPMD_FAIL(ENOTSUP,
				   "port %u: MTU cannot be set: no kernel interface in this network namespace",
				   port->port_id);
	return mtu_write(port, mtu);
}

int
mlxpmd_mtu_remember(struct mlxpmd_port *port)
{
	uint16_t mtu;
	int rc;

	if (!mdv_port_owned(port->mdv))
		return 0;
	rc = port->mdv->port->mtu_get(port->mdv, &mtu);
	if (rc != 0)
		return rc;
	port->netdev.mtu_known = true;
	port->netdev.mtu = mtu;
	port->netdev.mtu_found = mtu;
	port->eth_dev->data->mtu = mtu;
	return 0;
}

void
mlxpmd_mtu_restore(struct mlxpmd_port *port)
{
	if (port->netdev.mtu_known)
		(void)mtu_write(port, port->netdev.mtu_found);
}
