/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * What each step of a queue's life (mlxpmd_qstate.h) does to the device. Callers hold the port's lock.
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

static enum mlxpmd_qstate
state_of(const struct mdv_obj *obj, const uint8_t *state)
{
	return obj == NULL ? MLXPMD_QS_SETUP : (enum mlxpmd_qstate)mlxpmd_qstate_load(state);
}

enum mlxpmd_qstate
mlxpmd_rxq_state(const struct mlxpmd_rxq *rxq)
{
	return state_of(rxq->rq.wq.obj, &rxq->state);
}

enum mlxpmd_qstate
mlxpmd_txq_state(const struct mlxpmd_txq *txq)
{
	return state_of(txq->sq.wq.obj, &txq->state);
}

static int
rxq_may(const struct mlxpmd_rxq *rxq, enum mlxpmd_qstep step)
{
	return mlxpmd_qstate_may("Rx", rxq->port_id, rxq->queue_id, mlxpmd_rxq_state(rxq), step);
}

static int
txq_may(const struct mlxpmd_txq *txq, enum mlxpmd_qstep step)
{
	return mlxpmd_qstate_may("Tx", txq->port_id, txq->queue_id, mlxpmd_txq_state(txq), step);
}

/* ------------------------------------------------------------------ receive */

/* One completion per WQE, so the CQ holds as many as the RQ: it cannot overrun. */
static int
rxq_objects_up(struct mlxpmd_rxq *rxq)
{
	struct mdv_dev *mdv = rxq->port->mdv;
	uint8_t log_wqes = rte_log2_u32(rxq->nb_desc) - rxq->log_segs;
	struct mdv_cq_attr cq_attr = {
		.log_cqes = log_wqes, .socket_id = rxq->socket_id, .vector = rxq->vector,
	};
	struct mdv_rq_attr rq_attr = {
		.log_wqes = log_wqes,
		.log_stride_bytes = 4 + rxq->log_segs,
		.socket_id = rxq->socket_id,
		.counter_set_id = rxq->port->q_counter != NULL ? rxq->port->q_counter->id : 0,
		.vlan_strip = (rxq->offloads & RTE_ETH_RX_OFFLOAD_VLAN_STRIP) != 0,
		.scatter_fcs = (rxq->offloads & RTE_ETH_RX_OFFLOAD_KEEP_CRC) != 0,
	};
	int rc;

	rc = mdv_cq_create(mdv, &cq_attr, &rxq->cq);
	if (rc != 0)
		return rc;
	rq_attr.cqn = rxq->cq.cqn;
	if (rxq->vector != NULL)
		rc = mdv_vector_attach(rxq->vector, &rxq->cq);
	if (rc == 0)
		rc = mdv_rq_create(mdv, &rq_attr, &rxq->rq);
	if (rc != 0)
		mdv_cq_destroy(&rxq->cq);
	return rc;
}

static int
rxq_objects_down(struct mlxpmd_rxq *rxq)
{
	int rc = mdv_wq_destroy(&rxq->rq.wq);

	mdv_cq_destroy(&rxq->cq);
	return rc;
}

/* One line for mbufs that the device may still write to, or read from: nobody may have them any more. */
static void
kept(const char *kind, uint16_t port_id, uint16_t queue_id, unsigned int mbufs, int rc)
{
	MLXPMD_LOG(ERR, "port %u %s queue %u: up to %u mbufs are kept for ever, the device may still use them: %s",
		   port_id, kind, queue_id, mbufs, rte_strerror(-rc));
}

static int
rxq_create(struct mlxpmd_rxq *rxq)
{
	int rc = rxq_may(rxq, MLXPMD_STEP_CREATE);

	if (rc == 0)
		rc = rxq_objects_up(rxq);
	mlxpmd_qstate_store(&rxq->state, MLXPMD_QS_RESET);
	return rc;
}

static int
rxq_start(struct mlxpmd_rxq *rxq)
{
	int rc;

	rc = rxq_may(rxq, MLXPMD_STEP_START);
	if (rc == 0)
		rc = mlxpmd_rxq_arm(rxq);
	if (rc != 0)
		return rc;
	rc = mdv_wq_modify(&rxq->rq.wq, MDV_QS_RDY);
	if (rc != 0) {
		mlxpmd_rxq_disarm(rxq);
		return rc;
	}
	mlxpmd_rxq_post(rxq);
	return 0;
}

/* From ready a queue goes to error by itself, also between our question and our command. */
static int
rq_move(struct mdv_rq *rq, enum mdv_queue_state to)
{
	const bool was_ready = rq->wq.state == MDV_QS_RDY;
	int rc = mdv_wq_modify(&rq->wq, to);

	if (rc == 0 || !was_ready || mdv_wq_state_read(&rq->wq) != 0 || rq->wq.state != MDV_QS_ERR)
		return rc;
	return to == MDV_QS_ERR ? 0 : mdv_wq_modify(&rq->wq, to);
}

/*
 * To reset from whatever state the device is in. A queue that nobody polls may have failed unseen; where
 * it is not known to have failed, a device that does not tell the state is asked for the reset all the same.
 */
static int
rq_reset(struct mlxpmd_rxq *rxq, bool failed)
{
	struct mdv_rq *rq = &rxq->rq;
	int rc = mdv_wq_state_read(&rq->wq);

	if (!failed)
		rc = 0;
	/* By way of error, as the device goes itself: what is posted is flushed. */
	if (rc == 0 && failed && rq->wq.state == MDV_QS_RDY)
		rc = rq_move(rq, MDV_QS_ERR);
	if (rc == 0 && rq->wq.state != MDV_QS_RST)
		rc = rq_move(rq, MDV_QS_RST);
	return rc;
}

/* A device that refuses the reset goes on: the queue stays as it is, with its mbufs. */
static int
rxq_stop(struct mlxpmd_rxq *rxq)
{
	enum mlxpmd_qstate from = mlxpmd_rxq_state(rxq);
	int rc;

	rc = rxq_may(rxq, MLXPMD_STEP_STOP);
	if (rc != 0 || from == MLXPMD_QS_RESET)
		return rc;
	rc = rq_reset(rxq, from != MLXPMD_QS_READY && from != MLXPMD_QS_ASKED);
	if (rc != 0)
		return rc;
	mlxpmd_qstate_store(&rxq->state, MLXPMD_QS_RESET);
	mlxpmd_rxq_intr_wake(rxq);
	mlxpmd_rxq_disarm(rxq);
	return 0;
}

static void
rxq_destroy(struct mlxpmd_rxq *rxq)
{
	int rc;

	if (rxq_may(rxq, MLXPMD_STEP_DESTROY) != 0)
		return;
	rc = rxq_objects_down(rxq);
	if (rc != 0 && rxq->elts != NULL) {
		kept("Rx", rxq->port_id, rxq->queue_id, (uint16_t)(rxq->rq_pi - rxq->rq_ci) << rxq->log_segs, rc);
		rte_free(rxq->elts);
		rxq->elts = NULL;
	}
	mlxpmd_rxq_disarm(rxq);
}

/* New objects in place of those that have run; the RQT is told before the old ones go. */
static int
rxq_renew(struct mlxpmd_rxq *rxq)
{
	struct mdv_cq old_cq = rxq->cq;
	struct mdv_rq old_rq = rxq->rq;
	int rc;

	rc = rxq_objects_up(rxq);
	if (rc == 0) {
		rc = mlxpmd_steer_reta(rxq->port);
		if (rc != 0)
			(void)rxq_objects_down(rxq);
	}
	if (rc != 0) {
		rxq->cq = old_cq;
		rxq->rq = old_rq;
		return rc;
	}
	(void)mdv_wq_destroy(&old_rq.wq); /* In reset: it holds nothing. */
	mdv_cq_destroy(&old_cq);
	return 0;
}

int
mlxpmd_rxq_reset(struct mlxpmd_rxq *rxq)
{
	/* Where completions cannot be told apart any more, a CQ that has seen none takes over. */
	const bool fresh = rxq->cause != MLXPMD_CAUSE_ERROR;
	const bool strip = (rxq->offloads & RTE_ETH_RX_OFFLOAD_VLAN_STRIP) != 0;
	int rc = rq_reset(rxq, true);

	mlxpmd_rxq_intr_sync(rxq);
	if (rc == 0 && fresh)
		rc = rxq_renew(rxq);
	if (rc == 0)
		rc = mlxpmd_rxq_rewind(rxq, fresh);
	if (rc == 0)
		rc = mdv_wq_modify(&rxq->rq.wq, MDV_QS_RDY);
	/* What was wished for while it was away. */
	if (rc == 0 && rxq->rq.vlan_strip != strip)
		rc = mdv_rq_set_vlan_strip(&rxq->rq, strip);
	if (rc == 0)
		mlxpmd_rxq_post(rxq);
	return rc;
}

void
mlxpmd_rxqs_down(struct mlxpmd_port *port)
{
	struct rte_eth_dev_data *data = port->eth_dev->data;
	struct mlxpmd_rxq *rxq;
	uint16_t i;

	for (i = 0; i < data->nb_rx_queues; i++) {
		rxq = data->rx_queues[i];
		if (rxq == NULL || rxq->rq.wq.obj == NULL)
			continue;
		if (rxq_stop(rxq) != 0) {
			/* It goes in whatever state it is. */
			mlxpmd_qstate_store(&rxq->state, MLXPMD_QS_RESET);
			mlxpmd_rxq_intr_wake(rxq);
		}
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
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	int rc;

	pthread_mutex_lock(&port->lock);
	rc = rxq_may(rxq, MLXPMD_STEP_START);
	if (rc == 0)
		rc = rxq_renew(rxq);
	if (rc == 0)
		rc = rxq_start(rxq);
	if (rc == 0)
		eth_dev->data->rx_queue_state[queue_id] = RTE_ETH_QUEUE_STATE_STARTED;
	pthread_mutex_unlock(&port->lock);
	return rc;
}

int
mlxpmd_rx_queue_stop(struct rte_eth_dev *eth_dev, uint16_t queue_id)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	int rc;

	pthread_mutex_lock(&port->lock);
	rc = rxq_stop(eth_dev->data->rx_queues[queue_id]);
	if (rc == 0)
		eth_dev->data->rx_queue_state[queue_id] = RTE_ETH_QUEUE_STATE_STOPPED;
	pthread_mutex_unlock(&port->lock);
	return rc;
}

/* ------------------------------------------------------------------ send */

/* At most one completion per WQEBB, so the CQ cannot overrun. */
static int
txq_objects_up(struct mlxpmd_txq *txq)
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

	rc = mdv_cq_create(mdv, &cq_attr, &txq->cq);
	if (rc != 0)
		return rc;
	sq_attr.cqn = txq->cq.cqn;
	rc = mdv_sq_create(mdv, &sq_attr, &txq->sq);
	if (rc != 0)
		mdv_cq_destroy(&txq->cq);
	return rc;
}

static int
txq_create(struct mlxpmd_txq *txq)
{
	int rc = txq_may(txq, MLXPMD_STEP_CREATE);

	if (rc == 0)
		rc = txq_objects_up(txq);
	mlxpmd_qstate_store(&txq->state, MLXPMD_QS_RESET);
	return rc;
}

static int
txq_start(struct mlxpmd_txq *txq)
{
	int rc;

	rc = txq_may(txq, MLXPMD_STEP_START);
	if (rc == 0)
		rc = mlxpmd_txq_arm(txq);
	if (rc != 0)
		return rc;
	rc = mdv_wq_modify(&txq->sq.wq, MDV_QS_RDY);
	if (rc != 0) {
		mlxpmd_txq_disarm(txq);
		return rc;
	}
	mlxpmd_txq_open(txq);
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
		if (txq->state != MLXPMD_QS_READY || txq->ci == txq->pi || mdv_removed(txq->mdv))
			return;
		rte_delay_us_sleep(TXQ_DRAIN_POLL_US);
	}
}

/* As rq_move(). */
static int
sq_move(struct mdv_sq *sq, enum mdv_queue_state to)
{
	const bool was_ready = sq->wq.state == MDV_QS_RDY;
	int rc = mdv_wq_modify(&sq->wq, to);

	if (rc == 0 || !was_ready || mdv_wq_state_read(&sq->wq) != 0 || sq->wq.state != MDV_QS_ERR)
		return rc;
	return to == MDV_QS_ERR ? 0 : mdv_wq_modify(&sq->wq, to);
}

/* As rq_reset(). */
static int
sq_reset(struct mlxpmd_txq *txq, bool failed)
{
	struct mdv_sq *sq = &txq->sq;
	int rc = mdv_wq_state_read(&sq->wq);

	if (!failed)
		rc = 0;
	if (rc == 0 && failed && sq->wq.state == MDV_QS_RDY)
		rc = sq_move(sq, MDV_QS_ERR);
	if (rc == 0 && sq->wq.state != MDV_QS_RST)
		rc = sq_move(sq, MDV_QS_RST);
	return rc;
}

static int
txq_stop(struct mlxpmd_txq *txq)
{
	enum mlxpmd_qstate from = mlxpmd_txq_state(txq);
	int rc;

	rc = txq_may(txq, MLXPMD_STEP_STOP);
	if (rc != 0 || from == MLXPMD_QS_RESET)
		return rc;
	if (from == MLXPMD_QS_ASKED)
		mlxpmd_txq_open(txq); /* Who stops it does not poll it: what is under way may go out. */
	txq_drain(txq);
	rc = sq_reset(txq, mlxpmd_txq_state(txq) != MLXPMD_QS_READY);
	if (rc != 0)
		return rc;
	mlxpmd_qstate_store(&txq->state, MLXPMD_QS_RESET);
	mlxpmd_txq_disarm(txq);
	return 0;
}

static void
txq_destroy(struct mlxpmd_txq *txq)
{
	int rc;

	if (txq_may(txq, MLXPMD_STEP_DESTROY) != 0)
		return;
	/* A queue that could not be stopped still holds packets, and its ring goes now. */
	mlxpmd_txq_judge(txq);
	rc = mdv_wq_destroy(&txq->sq.wq);
	mdv_cq_destroy(&txq->cq);
	if (rc != 0 && txq->elts != NULL) {
		kept("Tx", txq->port_id, txq->queue_id, (uint16_t)(txq->elts_pi - txq->elts_ci), rc);
		mlxpmd_txq_abandon(txq);
	}
	mlxpmd_txq_disarm(txq);
}

/* Nothing but us names an SQ, so a fresh one simply takes the place of one that has run. */
static int
txq_renew(struct mlxpmd_txq *txq)
{
	struct mdv_cq old_cq = txq->cq;
	struct mdv_sq old_sq = txq->sq;
	int rc;

	rc = txq_objects_up(txq);
	if (rc != 0) {
		txq->cq = old_cq;
		txq->sq = old_sq;
		return rc;
	}
	(void)mdv_wq_destroy(&old_sq.wq);
	mdv_cq_destroy(&old_cq);
	return 0;
}

int
mlxpmd_txq_reset(struct mlxpmd_txq *txq, uint32_t *lost)
{
	const bool fresh = txq->cause != MLXPMD_CAUSE_ERROR;
	int rc = sq_reset(txq, true);

	if (rc == 0 && fresh)
		rc = txq_renew(txq);
	if (rc != 0)
		return rc;
	*lost += mlxpmd_txq_rewind(txq, fresh);
	rc = mdv_wq_modify(&txq->sq.wq, MDV_QS_RDY);
	if (rc == 0)
		mlxpmd_txq_open(txq);
	return rc;
}

void
mlxpmd_txqs_down(struct mlxpmd_port *port)
{
	struct rte_eth_dev_data *data = port->eth_dev->data;
	struct mlxpmd_txq *txq;
	uint16_t i;

	for (i = 0; i < data->nb_tx_queues; i++) {
		txq = data->tx_queues[i];
		if (txq == NULL || txq->sq.wq.obj == NULL)
			continue;
		if (txq_stop(txq) != 0)
			/* It goes in whatever state it is. */
			mlxpmd_qstate_store(&txq->state, MLXPMD_QS_RESET);
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

int
mlxpmd_tx_queue_start(struct rte_eth_dev *eth_dev, uint16_t queue_id)
{
	struct mlxpmd_txq *txq = eth_dev->data->tx_queues[queue_id];
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	int rc;

	pthread_mutex_lock(&port->lock);
	rc = txq_may(txq, MLXPMD_STEP_START);
	if (rc == 0)
		rc = txq_renew(txq);
	if (rc == 0)
		rc = txq_start(txq);
	if (rc == 0)
		eth_dev->data->tx_queue_state[queue_id] = RTE_ETH_QUEUE_STATE_STARTED;
	pthread_mutex_unlock(&port->lock);
	return rc;
}

int
mlxpmd_tx_queue_stop(struct rte_eth_dev *eth_dev, uint16_t queue_id)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	int rc;

	pthread_mutex_lock(&port->lock);
	rc = txq_stop(eth_dev->data->tx_queues[queue_id]);
	if (rc == 0)
		eth_dev->data->tx_queue_state[queue_id] = RTE_ETH_QUEUE_STATE_STOPPED;
	pthread_mutex_unlock(&port->lock);
	return rc;
}
