/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Set-up and release of queues, as far as it is the same for receiving and sending: no device objects yet. */

#include <rte_errno.h>
#include <rte_malloc.h>

#include "mlxpmd_ctrl.h"

/* Rings have powers of two entries, because the device masks its indices: round up. */
static int
desc_round(struct mlxpmd_queue_attr *attr)
{
	const char *name = attr->ops->name;
	uint16_t port_id = attr->eth_dev->data->port_id;
	uint32_t rounded = rte_align32pow2(attr->nb_desc);

	if (attr->nb_desc < MLXPMD_DESC_MIN || rounded > MLXPMD_DESC_MAX)
		return MLXPMD_FAIL(EINVAL, "port %u %s queue %u: %u descriptors: allowed are %d..%d", port_id,
				   name, attr->queue_id, attr->nb_desc, MLXPMD_DESC_MIN, MLXPMD_DESC_MAX);
	if (rounded != attr->nb_desc)
		MLXPMD_LOG(NOTICE, "port %u %s queue %u: %u descriptors rounded up to %u", port_id, name,
			   attr->queue_id, attr->nb_desc, rounded);
	attr->nb_desc = rounded;
	return 0;
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
	int rc = desc_round(attr);

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
	q->state = MLXPMD_QS_RESET;
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

	if (rc != 0) {
		rte_free(q);
		return rc;
	}
	pthread_mutex_lock(&port->lock);
	ethdev_queues(port->eth_dev->data, q->kind)[q->queue_id] = q;
	port->queues[q->kind][q->queue_id] = q;
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
	mlxpmd_queue_stats_retire(q);
	/* First of all: the control thread finds the queue there. */
	pthread_mutex_lock(&q->port->lock);
	q->port->queues[kind][queue_id] = NULL;
	pthread_mutex_unlock(&q->port->lock);
	if (q->ops->release != NULL)
		q->ops->release(q);
	ethdev_queues(eth_dev->data, kind)[queue_id] = NULL;
	rte_free(q);
}

