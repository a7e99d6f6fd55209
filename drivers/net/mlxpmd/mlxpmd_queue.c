/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Queues as state machines: which transitions there are, which are refused and why, and what each
 * one does to the device.
 *
 * A queue that ran and was stopped keeps its RQ, for the RQT still names it, but is started again
 * with a fresh CQ and RQ: the device goes on counting completions where it stopped, our consumer
 * starts at 0.
 */

#include <rte_cycles.h>
#include <rte_malloc.h>

#include "mlxpmd_ctrl.h"

/*
 * A stopped send queue waits this long for what it has already handed to the device, which may share
 * processors with us: a few milliseconds would be too short.
 */
#define TXQ_DRAIN_US 200000
#define TXQ_DRAIN_POLL_US 50

enum queue_state { QUEUE_SETUP, QUEUE_RESET, QUEUE_READY, QUEUE_ERROR, NB_QUEUE_STATES };
enum queue_event { EVENT_CREATE, EVENT_START, EVENT_STOP, EVENT_DESTROY, NB_QUEUE_EVENTS };

/**
 * SETUP: memory of the queue only. RESET: CQ and RQ/SQ exist, the device does not touch them, no
 * mbuf is held. READY: the device works. ERROR: the device stopped at an error completion; it
 * touches nothing until it is reset.
 *
 * why != NULL: prohibited.
 */
static const struct queue_move {
	uint8_t to;
	const char *why;
} queue_moves[NB_QUEUE_STATES][NB_QUEUE_EVENTS] = {
	[QUEUE_SETUP] = {
		[EVENT_CREATE] = { QUEUE_RESET, NULL },
		[EVENT_START] = { QUEUE_SETUP, "the port is not started: there is no queue to arm" },
		[EVENT_STOP] = { QUEUE_SETUP, "the port is not started" },
		[EVENT_DESTROY] = { QUEUE_SETUP, NULL },
	},
	[QUEUE_RESET] = {
		[EVENT_CREATE] = { QUEUE_RESET, "its objects exist: they would be lost" },
		[EVENT_START] = { QUEUE_READY, NULL },
		[EVENT_STOP] = { QUEUE_RESET, NULL },
		[EVENT_DESTROY] = { QUEUE_SETUP, NULL },
	},
	[QUEUE_READY] = {
		[EVENT_CREATE] = { QUEUE_READY, "it is running" },
		[EVENT_START] = { QUEUE_READY, "it is running: its ring would be filled twice" },
		[EVENT_STOP] = { QUEUE_RESET, NULL },
		[EVENT_DESTROY] = { QUEUE_READY, "it is running: the device would write to freed memory" },
	},
	[QUEUE_ERROR] = {
		[EVENT_CREATE] = { QUEUE_ERROR, "its objects exist: they would be lost" },
		[EVENT_START] = { QUEUE_ERROR, "it is in error: the device leaves that state by reset only" },
		[EVENT_STOP] = { QUEUE_RESET, NULL },
		[EVENT_DESTROY] = { QUEUE_ERROR, "it is in error: stop it first, it holds mbufs" },
	},
};
static const char *const queue_state_names[] = { "setup", "reset", "ready", "error" };
static const char *const queue_event_names[] = { "create", "start", "stop", "destroy" };

static int
queue_may(const char *kind, uint16_t port_id, uint16_t queue_id, enum queue_state from,
	  enum queue_event event)
{
	const struct queue_move *move = &queue_moves[from][event];

	if (move->why == NULL)
		return 0;
	MLXPMD_LOG(ERR, "port %u %s queue %u: cannot %s in state %s: %s", port_id, kind, queue_id,
		   queue_event_names[event], queue_state_names[from], move->why);
	return -EINVAL;
}

static enum queue_state
queue_state_of(const struct mdv_obj *obj, uint8_t state)
{
	if (obj == NULL)
		return QUEUE_SETUP;
	switch (state) {
	case MDV_QS_RDY:
		return QUEUE_READY;
	case MDV_QS_ERR:
		return QUEUE_ERROR;
	default:
		return QUEUE_RESET;
	}
}

static enum queue_state
rxq_state(const struct mlxpmd_rxq *rxq)
{
	return queue_state_of(rxq->rq.obj, rxq->state);
}

static enum queue_state
txq_state(const struct mlxpmd_txq *txq)
{
	return queue_state_of(txq->sq.obj, txq->state);
}

const char *
mlxpmd_rxq_state_name(const struct mlxpmd_rxq *rxq)
{
	return queue_state_names[rxq_state(rxq)];
}

const char *
mlxpmd_txq_state_name(const struct mlxpmd_txq *txq)
{
	return queue_state_names[txq_state(txq)];
}

/* ------------------------------------------------------------------ receive */

/* One completion per WQE, so the CQ holds as many as the RQ: it cannot overrun. */
static int
rxq_create(struct mlxpmd_rxq *rxq)
{
	struct mdv_dev *mdv = rxq->port->mdv;
	uint8_t log_wqes = rte_log2_u32(rxq->nb_desc) - rxq->log_segs;
	struct mdv_cq_attr cq_attr = { .log_cqes = log_wqes, .socket_id = rxq->socket_id };
	struct mdv_rq_attr rq_attr = {
		.log_wqes = log_wqes,
		.log_stride_bytes = 4 + rxq->log_segs,
		.socket_id = rxq->socket_id,
		.counter_set_id = rxq->port->q_counter != NULL ? rxq->port->q_counter->id : 0,
		.vlan_strip = (rxq->offloads & RTE_ETH_RX_OFFLOAD_VLAN_STRIP) != 0,
		.scatter_fcs = (rxq->offloads & RTE_ETH_RX_OFFLOAD_KEEP_CRC) != 0,
	};
	int rc;

	rc = queue_may("Rx", rxq->port_id, rxq->queue_id, rxq_state(rxq), EVENT_CREATE);
	if (rc == 0)
		rc = mdv_cq_create(mdv, &cq_attr, &rxq->cq);
	if (rc != 0)
		return rc;
	rq_attr.cqn = rxq->cq.cqn;
	rc = mdv_rq_create(mdv, &rq_attr, &rxq->rq);
	if (rc != 0) {
		mdv_cq_destroy(&rxq->cq);
		memset(&rxq->rq, 0, sizeof(rxq->rq));
	}
	rxq->state = MDV_QS_RST;
	return rc;
}

static int
rxq_start(struct mlxpmd_rxq *rxq)
{
	int rc;

	rc = queue_may("Rx", rxq->port_id, rxq->queue_id, rxq_state(rxq), EVENT_START);
	if (rc == 0)
		rc = mlxpmd_rxq_arm(rxq);
	if (rc != 0)
		return rc;
	rc = mdv_rq_modify(&rxq->rq, MDV_QS_RDY);
	if (rc != 0) {
		mlxpmd_rxq_disarm(rxq);
		return rc;
	}
	mlxpmd_rxq_post(rxq);
	rxq->state = MDV_QS_RDY;
	return 0;
}

/* A device that refuses the reset goes on: the queue stays as it is, with its mbufs. */
static int
rxq_stop(struct mlxpmd_rxq *rxq)
{
	enum queue_state from = rxq_state(rxq);
	int rc;

	rc = queue_may("Rx", rxq->port_id, rxq->queue_id, from, EVENT_STOP);
	if (rc != 0 || from == QUEUE_RESET)
		return rc;
	rc = mdv_rq_modify(&rxq->rq, MDV_QS_RST);
	if (rc != 0)
		return rc;
	rxq->state = MDV_QS_RST;
	mlxpmd_rxq_disarm(rxq);
	return 0;
}

static void
rxq_destroy(struct mlxpmd_rxq *rxq)
{
	if (queue_may("Rx", rxq->port_id, rxq->queue_id, rxq_state(rxq), EVENT_DESTROY) != 0)
		return;
	mdv_rq_destroy(&rxq->rq);
	mdv_cq_destroy(&rxq->cq);
	mlxpmd_rxq_disarm(rxq);
	memset(&rxq->rq, 0, sizeof(rxq->rq));
	memset(&rxq->cq, 0, sizeof(rxq->cq));
	rxq->state = MDV_QS_RST;
}

/* New objects in place of those that have run; the RQT is told before the old ones go. */
static int
rxq_renew(struct mlxpmd_rxq *rxq)
{
	struct mdv_cq old_cq = rxq->cq;
	struct mdv_rq old_rq = rxq->rq;
	int rc;

	memset(&rxq->cq, 0, sizeof(rxq->cq));
	memset(&rxq->rq, 0, sizeof(rxq->rq));
	rc = rxq_create(rxq);
	if (rc == 0)
		rc = mlxpmd_steer_reta(rxq->port);
	if (rc != 0) {
		rxq_destroy(rxq);
		rxq->cq = old_cq;
		rxq->rq = old_rq;
		return rc;
	}
	mdv_rq_destroy(&old_rq);
	mdv_cq_destroy(&old_cq);
	return 0;
}

void
mlxpmd_rxqs_down(struct mlxpmd_port *port)
{
	struct rte_eth_dev_data *data = port->eth_dev->data;
	struct mlxpmd_rxq *rxq;
	uint16_t i;

	for (i = 0; i < data->nb_rx_queues; i++) {
		rxq = data->rx_queues[i];
		if (rxq == NULL || rxq->rq.obj == NULL)
			continue;
		if (rxq_stop(rxq) != 0)
			rxq->state = MDV_QS_RST; /* Without its RQ the device writes no more. */
		rxq_destroy(rxq);
		data->rx_queue_state[i] = RTE_ETH_QUEUE_STATE_STOPPED;
	}
}

static int
rxq_up(struct mlxpmd_port *port, uint16_t queue_id)
{
	struct rte_eth_dev_data *data = port->eth_dev->data;
	struct mlxpmd_rxq *rxq = data->rx_queues[queue_id];
	int rc;

	if (rxq == NULL) {
		MLXPMD_LOG(ERR, "port %u: Rx queue %u of %u was not set up", port->port_id, queue_id,
			   data->nb_rx_queues);
		return -EINVAL;
	}
	rc = mlxpmd_rxq_log_segs(rxq, data->mtu);
	if (rc < 0)
		return rc;
	rxq->log_segs = rc;
	rc = rxq_create(rxq);
	if (rc != 0 || rxq->conf.rx_deferred_start)
		return rc;
	rc = rxq_start(rxq);
	if (rc == 0)
		data->rx_queue_state[queue_id] = RTE_ETH_QUEUE_STATE_STARTED;
	return rc;
}

int
mlxpmd_rxqs_up(struct mlxpmd_port *port)
{
	uint16_t i;
	int rc = 0;

	for (i = 0; rc == 0 && i < port->eth_dev->data->nb_rx_queues; i++)
		rc = rxq_up(port, i);
	if (rc != 0)
		mlxpmd_rxqs_down(port);
	return rc;
}

int
mlxpmd_rx_queue_start(struct rte_eth_dev *eth_dev, uint16_t queue_id)
{
	struct mlxpmd_rxq *rxq = eth_dev->data->rx_queues[queue_id];
	int rc;

	rc = queue_may("Rx", rxq->port_id, queue_id, rxq_state(rxq), EVENT_START);
	if (rc == 0)
		rc = rxq_renew(rxq);
	if (rc == 0)
		rc = rxq_start(rxq);
	if (rc == 0)
		eth_dev->data->rx_queue_state[queue_id] = RTE_ETH_QUEUE_STATE_STARTED;
	return rc;
}

int
mlxpmd_rx_queue_stop(struct rte_eth_dev *eth_dev, uint16_t queue_id)
{
	int rc;

	rc = rxq_stop(eth_dev->data->rx_queues[queue_id]);
	if (rc == 0)
		eth_dev->data->rx_queue_state[queue_id] = RTE_ETH_QUEUE_STATE_STOPPED;
	return rc;
}

/* ------------------------------------------------------------------ send */

/* At most one completion per WQEBB, so the CQ cannot overrun. */
static int
txq_create(struct mlxpmd_txq *txq)
{
	struct mdv_dev *mdv = txq->port->mdv;
	uint8_t log_wqebbs = rte_log2_u32(txq->nb_desc);
	struct mdv_cq_attr cq_attr = { .log_cqes = log_wqebbs, .socket_id = txq->socket_id };
	struct mdv_sq_attr sq_attr = {
		.log_wqebbs = log_wqebbs,
		.socket_id = txq->socket_id,
		.tisn = txq->port->tis->id,
	};
	int rc;

	rc = queue_may("Tx", txq->port_id, txq->queue_id, txq_state(txq), EVENT_CREATE);
	if (rc == 0)
		rc = mdv_cq_create(mdv, &cq_attr, &txq->cq);
	if (rc != 0)
		return rc;
	sq_attr.cqn = txq->cq.cqn;
	rc = mdv_sq_create(mdv, &sq_attr, &txq->sq);
	if (rc != 0) {
		mdv_cq_destroy(&txq->cq);
		memset(&txq->sq, 0, sizeof(txq->sq));
	}
	txq->state = MDV_QS_RST;
	return rc;
}

static int
txq_start(struct mlxpmd_txq *txq)
{
	int rc;

	rc = queue_may("Tx", txq->port_id, txq->queue_id, txq_state(txq), EVENT_START);
	if (rc == 0)
		rc = mlxpmd_txq_arm(txq);
	if (rc != 0)
		return rc;
	rc = mdv_sq_modify(&txq->sq, MDV_QS_RDY);
	if (rc != 0) {
		mlxpmd_txq_disarm(txq);
		return rc;
	}
	txq->state = MDV_QS_RDY;
	return 0;
}

/* What was handed over is sent before the reset; a device that does not answer is left. */
static void
txq_drain(struct mlxpmd_txq *txq)
{
	unsigned int waited_us;

	for (waited_us = 0; waited_us < TXQ_DRAIN_US; waited_us += TXQ_DRAIN_POLL_US) {
		(void)mlxpmd_tx_done_cleanup(txq, 0);
		/* Again in each round: in a full ring there is room only after the first completion. */
		mlxpmd_txq_flush(txq);
		if (txq->state != MDV_QS_RDY || txq->ci == txq->pi)
			return;
		rte_delay_us_sleep(TXQ_DRAIN_POLL_US);
	}
}

static int
txq_stop(struct mlxpmd_txq *txq)
{
	enum queue_state from = txq_state(txq);
	int rc;

	rc = queue_may("Tx", txq->port_id, txq->queue_id, from, EVENT_STOP);
	if (rc != 0 || from == QUEUE_RESET)
		return rc;
	txq_drain(txq);
	rc = mdv_sq_modify(&txq->sq, MDV_QS_RST);
	if (rc != 0)
		return rc;
	txq->state = MDV_QS_RST;
	mlxpmd_txq_disarm(txq);
	return 0;
}

static void
txq_destroy(struct mlxpmd_txq *txq)
{
	if (queue_may("Tx", txq->port_id, txq->queue_id, txq_state(txq), EVENT_DESTROY) != 0)
		return;
	mdv_sq_destroy(&txq->sq);
	mdv_cq_destroy(&txq->cq);
	mlxpmd_txq_disarm(txq);
	memset(&txq->sq, 0, sizeof(txq->sq));
	memset(&txq->cq, 0, sizeof(txq->cq));
	txq->state = MDV_QS_RST;
}

void
mlxpmd_txqs_down(struct mlxpmd_port *port)
{
	struct rte_eth_dev_data *data = port->eth_dev->data;
	struct mlxpmd_txq *txq;
	uint16_t i;

	for (i = 0; i < data->nb_tx_queues; i++) {
		txq = data->tx_queues[i];
		if (txq == NULL || txq->sq.obj == NULL)
			continue;
		if (txq_stop(txq) != 0)
			txq->state = MDV_QS_RST; /* Without its SQ the device reads no more. */
		txq_destroy(txq);
		data->tx_queue_state[i] = RTE_ETH_QUEUE_STATE_STOPPED;
	}
}

static int
txq_up(struct mlxpmd_port *port, uint16_t queue_id)
{
	struct rte_eth_dev_data *data = port->eth_dev->data;
	struct mlxpmd_txq *txq = data->tx_queues[queue_id];
	int rc;

	if (txq == NULL) {
		MLXPMD_LOG(ERR, "port %u: Tx queue %u of %u was not set up", port->port_id, queue_id,
			   data->nb_tx_queues);
		return -EINVAL;
	}
	rc = txq_create(txq);
	if (rc != 0 || txq->conf.tx_deferred_start)
		return rc;
	rc = txq_start(txq);
	if (rc == 0)
		data->tx_queue_state[queue_id] = RTE_ETH_QUEUE_STATE_STARTED;
	return rc;
}

int
mlxpmd_txqs_up(struct mlxpmd_port *port)
{
	uint16_t i;
	int rc = 0;

	for (i = 0; rc == 0 && i < port->eth_dev->data->nb_tx_queues; i++)
		rc = txq_up(port, i);
	if (rc != 0)
		mlxpmd_txqs_down(port);
	return rc;
}

/* Nothing but us names an SQ, so a fresh one simply takes the place of one that has run. */
int
mlxpmd_tx_queue_start(struct rte_eth_dev *eth_dev, uint16_t queue_id)
{
	struct mlxpmd_txq *txq = eth_dev->data->tx_queues[queue_id];
	int rc = 0;

	if (txq->sq.obj != NULL) /* None: an earlier start failed half-way. */
		rc = queue_may("Tx", txq->port_id, queue_id, txq_state(txq), EVENT_START);
	if (rc != 0)
		return rc;
	txq_destroy(txq);
	rc = txq_create(txq);
	if (rc == 0)
		rc = txq_start(txq);
	if (rc == 0)
		eth_dev->data->tx_queue_state[queue_id] = RTE_ETH_QUEUE_STATE_STARTED;
	return rc;
}

int
mlxpmd_tx_queue_stop(struct rte_eth_dev *eth_dev, uint16_t queue_id)
{
	int rc;

	rc = txq_stop(eth_dev->data->tx_queues[queue_id]);
	if (rc == 0)
		eth_dev->data->tx_queue_state[queue_id] = RTE_ETH_QUEUE_STATE_STOPPED;
	return rc;
}
