/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Receive and send queues alike: what each step of the state machine (mlxpmd_qstate.h) does to the device, whose
 * callers hold the port's lock, then set-up and release. The differences are in the queues' operations (mlxpmd_rxq.c,
 * mlxpmd_txq.c).
 *
 * A queue that ran and was stopped keeps its objects, because the RQT still refers to the RQ, but starts again
 * with new ones: the device would count completions on from where it stopped, and the consumer starts at 0.
 */

#include <rte_errno.h>
#include <rte_malloc.h>

#include "mlxpmd_ctrl.h"
#include "mlxpmd_recorder.h"

static int
queue_may(const struct mlxpmd_queue *q, enum mlxpmd_qstep step)
{
	return mlxpmd_qstate_may(q->ops->name, q->port_id, q->queue_id, mlxpmd_queue_state(q), step);
}

static int
objects_destroy(struct mlxpmd_queue *q)
{
	int rc = mdv_wq_destroy(&q->hw.wq);

	mdv_cq_destroy(&q->hw.cq);
	return rc;
}

/* The queue may have a new doorbell page: secondary processes map it. */
static int
objects_create(struct mlxpmd_queue *q)
{
	int rc = q->ops->create(q);

	if (rc == 0)
		__atomic_fetch_add(&q->port->epoch, 1, __ATOMIC_RELEASE);
	return rc;
}

/* Packets that no burst will take. The work queue is reset: nothing arrives any more. */
static uint32_t
unread(const struct mlxpmd_queue *q)
{
	return q->ops->unread != NULL ? q->ops->unread(q) : 0;
}

static int
queue_create(struct mlxpmd_queue *q)
{
	int rc = queue_may(q, MLXPMD_STEP_CREATE);

	if (rc == 0)
		rc = objects_create(q);
	mlxpmd_qstate_store(&q->state, MLXPMD_QS_RESET);
	return rc;
}

/* Records a step of a queue. Returns rc. */
static int
recorded(const struct mlxpmd_queue *q, enum mdv_record_queue op, int rc)
{
	MDV_RECORD(q->port->mdv, .kind = MDV_RECORD_QUEUE, .op = op, .value = -rc, MLXPMD_RECORD_QUEUE(q),
		   MLXPMD_RECORD_COMPLETIONS(q));
	return rc;
}

static int
queue_start(struct mlxpmd_queue *q)
{
	int rc;

	rc = queue_may(q, MLXPMD_STEP_START);
	if (rc == 0)
		rc = q->ops->arm(q);
	if (rc != 0)
		return recorded(q, MDV_QUEUE_START, rc);
	rc = mdv_wq_modify(&q->hw.wq, MDV_QS_RDY);
	if (rc != 0) {
		q->ops->disarm(q);
		return recorded(q, MDV_QUEUE_START, rc);
	}
	q->ready_ci = q->cq_ci;
	mlxpmd_queue_ready(q);
	return recorded(q, MDV_QUEUE_START, 0);
}

/* A ready work queue goes to ERR by itself, possibly between the last query of its state and this command. */
static int
wq_move(struct mdv_wq *wq, enum mdv_queue_state to)
{
	const bool was_ready = wq->state == MDV_QS_RDY;
	int rc = mdv_wq_modify(wq, to);

	if (rc == 0 || !was_ready || mdv_wq_state_read(wq) != 0 || wq->state != MDV_QS_ERR)
		return rc;
	return to == MDV_QS_ERR ? 0 : mdv_wq_modify(wq, to);
}

/*
 * To RST from the state that the device reports. A queue that is not polled may have failed unnoticed. If it is not
 * known to have failed, a failing query does not matter: try the reset from the state that is known.
 */
static int
wq_reset(struct mdv_wq *wq, bool failed)
{
	int rc = mdv_wq_state_read(wq);

	if (!failed)
		rc = 0;
	/* By way of ERR, as the device itself does it: what is posted is flushed. */
	if (rc == 0 && failed && wq->state == MDV_QS_RDY)
		rc = wq_move(wq, MDV_QS_ERR);
	if (rc == 0 && wq->state != MDV_QS_RST)
		rc = wq_move(wq, MDV_QS_RST);
	return rc;
}

/* If the reset is refused the device may still use the mbufs: the queue stays as it is. */
static int
queue_stop(struct mlxpmd_queue *q)
{
	enum mlxpmd_qstate state = mlxpmd_queue_state(q);
	int rc;

	rc = queue_may(q, MLXPMD_STEP_STOP);
	if (rc != 0 || state == MLXPMD_QS_RESET)
		return rc;
	if (q->ops->drain != NULL) {
		if (state == MLXPMD_QS_QUIESCING)
			mlxpmd_queue_ready(q); /* No burst runs during a stop: the queue may be used here. */
		q->ops->drain(q);
		state = mlxpmd_queue_state(q);
	}
	rc = wq_reset(&q->hw.wq, state != MLXPMD_QS_READY && state != MLXPMD_QS_QUIESCING);
	(void)recorded(q, MDV_QUEUE_STOP, rc);
	if (rc != 0)
		return rc;
	MLXPMD_SHARED_ADD(q->stats.discarded, unread(q));
	mlxpmd_qstate_store(&q->state, MLXPMD_QS_RESET);
	mlxpmd_queue_sync(q, true);
	q->ops->disarm(q);
	return 0;
}

static void
queue_destroy(struct mlxpmd_queue *q)
{
	unsigned int mbufs;
	int rc;

	if (queue_may(q, MLXPMD_STEP_DESTROY) != 0)
		return;
	/* A queue that could not be stopped still holds mbufs. */
	if (q->ops->settle != NULL)
		q->ops->settle(q);
	rc = objects_destroy(q);
	if (rc != 0 && q->elts != NULL) {
		mbufs = q->ops->abandon(q);
		MLXPMD_LOG(ERR, "port %u %s queue %u: up to %u mbufs are leaked, the device may still use them: %s",
			   q->port_id, q->ops->name, q->queue_id, mbufs, rte_strerror(-rc));
	}
	q->ops->disarm(q);
}

/* What refers to the queue may in part have the new objects: they can be destroyed after it has the old ones again. */
static void
queue_renew_undo(struct mlxpmd_queue *q, const struct mlxpmd_queue_hw *old)
{
	const struct mlxpmd_queue_hw fresh = q->hw;

	q->hw = *old;
	(void)q->ops->replaced(q);
	q->hw = fresh;
	(void)objects_destroy(q);
}

/* New objects replace those that have run; references to them are updated before the old ones are destroyed. */
static int
queue_renew(struct mlxpmd_queue *q)
{
	struct mlxpmd_queue_hw old = q->hw;
	int rc;

	rc = objects_create(q);
	if (rc == 0 && q->ops->replaced != NULL) {
		rc = q->ops->replaced(q);
		if (rc != 0)
			queue_renew_undo(q, &old);
	}
	if (rc != 0) {
		q->hw = old;
		return rc;
	}
	(void)mdv_wq_destroy(&old.wq); /* In RST: it holds nothing. */
	mdv_cq_destroy(&old.cq);
	return 0;
}

int
mlxpmd_queue_reset(struct mlxpmd_queue *q, uint32_t *lost)
{
	/* A CQ that cannot be trusted is replaced by a new one. */
	const bool fresh = q->cause != MLXPMD_CAUSE_ERROR || q->repair.cause == MLXPMD_CAUSE_FORMAT;
	uint32_t discarded = 0;
	int rc = wq_reset(&q->hw.wq, true);

	mlxpmd_queue_sync(q, false);
	if (rc == 0)
		*lost = discarded = unread(q);
	if (rc == 0 && fresh)
		rc = queue_renew(q);
	if (rc == 0)
		rc = q->ops->rewind(q, fresh, lost);
	if (rc == 0)
		rc = mdv_wq_modify(&q->hw.wq, MDV_QS_RDY);
	if (rc == 0 && q->ops->configure != NULL)
		rc = q->ops->configure(q);
	/* A repair that does not succeed is tried again, and counts them then. */
	if (rc == 0) {
		MLXPMD_SHARED_ADD(q->stats.discarded, discarded);
		q->ready_ci = q->cq_ci;
		mlxpmd_queue_ready(q);
	}
	return rc;
}

/* ------------------------------------------------------------------ all queues of a port */

static void
queues_down(struct mlxpmd_port *port, enum mlxpmd_queue_kind kind)
{
	struct rte_eth_dev_data *data = port->eth_dev->data;
	struct mlxpmd_queue *q;
	uint16_t i;

	for (i = 0; i < mlxpmd_queues_count(data, kind); i++) {
		q = mlxpmd_queue_at(data, kind, i);
		if (q == NULL || q->hw.wq.obj == NULL)
			continue;
		if (queue_stop(q) != 0) {
			/* It is destroyed in whatever state it is. */
			mlxpmd_qstate_store(&q->state, MLXPMD_QS_RESET);
			mlxpmd_queue_sync(q, true);
		}
		queue_destroy(q);
		mlxpmd_queue_ethdev_state(data, kind)[i] = RTE_ETH_QUEUE_STATE_STOPPED;
	}
}

static int
queue_up(struct mlxpmd_port *port, enum mlxpmd_queue_kind kind, uint16_t queue_id)
{
	struct rte_eth_dev_data *data = port->eth_dev->data;
	struct mlxpmd_queue *q = mlxpmd_queue_at(data, kind, queue_id);
	int rc = 0;

	if (q == NULL)
		return MLXPMD_FAIL(EINVAL, "port %u: %s queue %u of %u was not set up", port->port_id,
				   kind == MLXPMD_RX ? "Rx" : "Tx", queue_id, mlxpmd_queues_count(data, kind));
	if (q->ops->prepare != NULL)
		rc = q->ops->prepare(q);
	if (rc == 0)
		rc = queue_create(q);
	if (rc != 0 || q->deferred_start)
		return rc;
	rc = queue_start(q);
	if (rc == 0)
		mlxpmd_queue_ethdev_state(data, kind)[queue_id] = RTE_ETH_QUEUE_STATE_STARTED;
	return rc;
}

static int
queues_up(struct mlxpmd_port *port, enum mlxpmd_queue_kind kind)
{
	uint16_t i;
	int rc = 0;

	for (i = 0; rc == 0 && i < mlxpmd_queues_count(port->eth_dev->data, kind); i++)
		rc = queue_up(port, kind, i);
	if (rc != 0)
		queues_down(port, kind);
	return rc;
}

/* ------------------------------------------------------------------ one queue of a started port */

static int
ethdev_start(struct rte_eth_dev *eth_dev, enum mlxpmd_queue_kind kind, uint16_t queue_id)
{
	struct mlxpmd_queue *q = mlxpmd_queue_at(eth_dev->data, kind, queue_id);
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	int rc;

	pthread_mutex_lock(&port->lock);
	rc = queue_may(q, MLXPMD_STEP_START);
	if (rc == 0)
		rc = queue_renew(q);
	if (rc == 0)
		rc = queue_start(q);
	if (rc == 0)
		mlxpmd_queue_ethdev_state(eth_dev->data, kind)[queue_id] = RTE_ETH_QUEUE_STATE_STARTED;
	pthread_mutex_unlock(&port->lock);
	return rc;
}

static int
ethdev_stop(struct rte_eth_dev *eth_dev, enum mlxpmd_queue_kind kind, uint16_t queue_id)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	int rc;

	pthread_mutex_lock(&port->lock);
	rc = queue_stop(mlxpmd_queue_at(eth_dev->data, kind, queue_id));
	if (rc == 0)
		mlxpmd_queue_ethdev_state(eth_dev->data, kind)[queue_id] = RTE_ETH_QUEUE_STATE_STOPPED;
	pthread_mutex_unlock(&port->lock);
	return rc;
}

/* ------------------------------------------------------------------ set-up and release: no objects of the device */

/*
 * Rings have powers of two entries, because the device masks its indices: round up. ethdev refuses numbers beyond the
 * limits of rte_eth_dev_info_get(), which are powers of two.
 */
static void
desc_round(struct mlxpmd_queue_attr *attr)
{
	const char *name = attr->ops->name;
	uint16_t port_id = attr->eth_dev->data->port_id;
	uint32_t rounded = rte_align32pow2(attr->nb_desc);

	if (rounded != attr->nb_desc)
		MLXPMD_LOG(NOTICE, "port %u %s queue %u: %u descriptors rounded up to %u", port_id, name,
			   attr->queue_id, attr->nb_desc, rounded);
	attr->nb_desc = rounded;
}

static int
thresh_check(const struct mlxpmd_queue_attr *attr, const struct mlxpmd_queue_thresh *thresh)
{
	uint16_t max = attr->nb_desc / thresh->divisor - (thresh->divisor == 1);

	if (thresh->value <= max)
		return 0;
	return MLXPMD_FAIL(EINVAL, "port %u %s queue %u: %s %u: allowed are 0 (default) .. %u",
			   attr->eth_dev->data->port_id, attr->ops->name, attr->queue_id, thresh->name,
			   thresh->value, max);
}

int
mlxpmd_queue_attr_check(struct mlxpmd_queue_attr *attr)
{
	unsigned int i;
	int rc = 0;

	desc_round(attr);
	for (i = 0; rc == 0 && i < RTE_DIM(attr->thresh) && attr->thresh[i].name != NULL; i++)
		rc = thresh_check(attr, &attr->thresh[i]);
	return rc;
}

void *
mlxpmd_queue_alloc(const struct mlxpmd_queue_attr *attr, size_t bytes)
{
	struct mlxpmd_port *port = MLXPMD_PORT(attr->eth_dev);
	struct mlxpmd_queue *q = rte_zmalloc_socket("mlxpmd_queue", bytes, RTE_CACHE_LINE_SIZE, attr->socket_id);

	if (q == NULL) {
		MLXPMD_LOG(ERR, "port %u %s queue %u: no memory on socket %d", port->port_id, attr->ops->name,
			   attr->queue_id, (int)attr->socket_id);
		return NULL;
	}
	q->ops = attr->ops;
	q->kind = attr->kind;
	q->port = port;
	q->port_id = port->port_id;
	q->queue_id = attr->queue_id;
	q->socket_id = attr->socket_id;
	q->nb_desc = attr->nb_desc;
	q->offloads = attr->offloads;
	q->deferred_start = attr->deferred_start;
	mlxpmd_qstate_store(&q->state, MLXPMD_QS_RESET);
	return q;
}

static void **
ethdev_queues(struct rte_eth_dev_data *data, enum mlxpmd_queue_kind kind)
{
	return kind == MLXPMD_RX ? data->rx_queues : data->tx_queues;
}

int
mlxpmd_queue_register(struct mlxpmd_queue *q, int rc)
{
	struct mlxpmd_port *port = q->port;
	struct mlxpmd_queue *before;

	if (rc != 0) {
		rte_free(q);
		return rc;
	}
	pthread_mutex_lock(&port->lock);
	ethdev_queues(port->eth_dev->data, q->kind)[q->queue_id] = q;
	TAILQ_FOREACH_REVERSE(before, &port->queues[q->kind], mlxpmd_queue_list, next)
		if (before->queue_id < q->queue_id)
			break;
	if (before != NULL)
		TAILQ_INSERT_AFTER(&port->queues[q->kind], before, q, next);
	else
		TAILQ_INSERT_HEAD(&port->queues[q->kind], q, next);
	pthread_mutex_unlock(&port->lock);
	return 0;
}

void
mlxpmd_queue_release(struct rte_eth_dev *eth_dev, enum mlxpmd_queue_kind kind, uint16_t queue_id)
{
	struct mlxpmd_queue *q = mlxpmd_queue_at(eth_dev->data, kind, queue_id);

	if (q == NULL)
		return;
	if (q->hw.wq.obj != NULL) {
		MLXPMD_LOG(ERR, "port %u %s queue %u: cannot be released while the port is started", q->port_id,
			   q->ops->name, queue_id);
		return;
	}
	/* First of all: the control thread finds the queue there. */
	pthread_mutex_lock(&q->port->lock);
	mlxpmd_queue_stats_retire(q);
	TAILQ_REMOVE(&q->port->queues[kind], q, next);
	pthread_mutex_unlock(&q->port->lock);
	if (q->ops->release != NULL)
		q->ops->release(q);
	rte_free(q);
}

/* ethdev and the stages of dev_start call different functions for receive and send queues. */
#define ENTRY_POINTS(dir, kind) \
	int mlxpmd_##dir##qs_up(struct mlxpmd_port *port) { return queues_up(port, kind); } \
	void mlxpmd_##dir##qs_down(struct mlxpmd_port *port) { queues_down(port, kind); } \
	int mlxpmd_##dir##_queue_start(struct rte_eth_dev *eth_dev, uint16_t queue_id) \
	{ return ethdev_start(eth_dev, kind, queue_id); } \
	int mlxpmd_##dir##_queue_stop(struct rte_eth_dev *eth_dev, uint16_t queue_id) \
	{ return ethdev_stop(eth_dev, kind, queue_id); } \
	void mlxpmd_##dir##_queue_release(struct rte_eth_dev *eth_dev, uint16_t queue_id) \
	{ mlxpmd_queue_release(eth_dev, kind, queue_id); }
ENTRY_POINTS(rx, MLXPMD_RX)
ENTRY_POINTS(tx, MLXPMD_TX)
