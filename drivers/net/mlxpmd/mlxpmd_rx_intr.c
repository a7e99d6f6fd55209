/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Receive interrupts: the application sleeps on a queue's descriptor instead of polling.
 *
 * Bursts know nothing of it. A queue is armed when the application says that it is going to sleep
 * (rx_queue_intr_enable), with the burst's consumer index: what has come since its last poll wakes it at
 * once. Descriptors last from the port's first start until their queue is released, so that a stop,
 * a repair or the removal of the device can wake a sleeper, whose epoll set goes on to be valid.
 *
 * rxq->intr_lock is for what the queue's CQ is just now: who exchanges or destroys it makes the state
 * another than READY first and then goes once through the lock, so that nobody arms it any more.
 */

#ifndef ALLOW_EXPERIMENTAL_API
#define ALLOW_EXPERIMENTAL_API /* rte_intr_type_set() */
#endif

#include <poll.h>

#include <rte_errno.h>
#include <rte_interrupts.h>
#include <rte_spinlock.h>

#include "mlxpmd_burst_cqe.h"
#include "mlxpmd_ctrl.h"

/* An event that has not come by then was lost on its way, by the device or the kernel. */
#define LATE_NS UINT64_C(100000000)

/* Queue q has epoll entry q, and interrupt vector q behind those that EAL has for other purposes. */
static int
handle_fill(struct rte_intr_handle *handle, struct rte_eth_dev_data *data)
{
	int rc = rte_intr_vec_list_alloc(handle, "mlxpmd_intr_vec", MLXPMD_MAX_QUEUES);
	uint16_t i;

	/* Their descriptors are read here: EAL leaves those of this type alone. */
	if (rc == 0)
		rc = rte_intr_type_set(handle, RTE_INTR_HANDLE_EXT);
	for (i = 0; rc == 0 && i < data->nb_rx_queues; i++) {
		const struct mlxpmd_rxq *rxq = data->rx_queues[i];

		rc = rte_intr_vec_list_index_set(handle, i, RTE_INTR_VEC_RXTX_OFFSET + i);
		if (rc == 0)
			rc = rte_intr_efds_index_set(handle, i, rxq->vector->fd);
	}
	if (rc == 0)
		rc = rte_intr_nb_efd_set(handle, data->nb_rx_queues);
	return rc < 0 ? rc : -rc;
}

static void
handle_clear(struct rte_intr_handle *handle)
{
	if (rte_intr_nb_efd_get(handle) <= 0)
		return;
	rte_intr_free_epoll_fd(handle);
	rte_intr_nb_efd_set(handle, 0);
	rte_intr_vec_list_free(handle);
}

int
mlxpmd_rx_intr_up(struct mlxpmd_port *port)
{
	struct rte_eth_dev *eth_dev = port->eth_dev;
	struct rte_eth_dev_data *data = eth_dev->data;
	uint16_t i;
	int rc = 0;

	for (i = 0; rc == 0 && i < data->nb_rx_queues; i++) {
		struct mlxpmd_rxq *rxq = data->rx_queues[i];

		if (!data->dev_conf.intr_conf.rxq) {
			mlxpmd_rxq_intr_release(rxq);
			continue;
		}
		/* A queue that was not set up is refused by the stage of queues. */
		if (rxq == NULL)
			return 0;
		if (rxq->vector == NULL)
			rc = mdv_vector_alloc(port->mdv, &rxq->vector);
	}
	if (rc != 0 || !data->dev_conf.intr_conf.rxq)
		return rc;
	/* As the port was before, so that what is in epoll sets stays there. */
	if (rte_intr_nb_efd_get(eth_dev->intr_handle) == data->nb_rx_queues)
		return 0;
	handle_clear(eth_dev->intr_handle);
	rc = handle_fill(eth_dev->intr_handle, data);
	if (rc != 0)
		MLXPMD_LOG(ERR, "port %u: no Rx interrupts: %s", port->port_id, rte_strerror(-rc));
	return rc;
}

void
mlxpmd_rxq_intr_release(struct mlxpmd_rxq *rxq)
{
	struct mdv_vector *vector;

	if (rxq == NULL || rxq->vector == NULL)
		return;
	/* All of the port: one that keeps its vector is entered again at the next start. */
	handle_clear(rxq->port->eth_dev->intr_handle);
	/* The control thread may be about to wake who sleeps here: the device may go at any time. */
	rte_spinlock_lock(&rxq->intr_lock);
	vector = rxq->vector;
	rxq->vector = NULL;
	__atomic_store_n(&rxq->intr_on, false, __ATOMIC_RELAXED);
	rte_spinlock_unlock(&rxq->intr_lock);
	mdv_vector_free(vector);
}

void
mlxpmd_rxq_intr_sync(struct mlxpmd_rxq *rxq)
{
	rte_spinlock_lock(&rxq->intr_lock);
	rte_spinlock_unlock(&rxq->intr_lock);
}

void
mlxpmd_rxq_intr_wake(struct mlxpmd_rxq *rxq)
{
	rte_spinlock_lock(&rxq->intr_lock);
	if (rxq->intr_on)
		mdv_vector_kick(rxq->vector);
	rte_spinlock_unlock(&rxq->intr_lock);
}

bool
mlxpmd_rx_intr_all_on(const struct mlxpmd_port *port)
{
	uint16_t i;

	if (!port->eth_dev->data->dev_conf.intr_conf.rxq)
		return false;
	for (i = 0; i < MLXPMD_MAX_QUEUES; i++)
		if (port->rxqs[i] != NULL &&
		    !__atomic_load_n(&port->rxqs[i]->intr_on, __ATOMIC_RELAXED))
			return false;
	return true;
}

/* The lock is held. */
static void
late_wake(struct mlxpmd_rxq *rxq, uint64_t late_ns)
{
	struct pollfd fd = { .fd = rxq->vector->fd, .events = POLLIN };

	/* Woken already: it is the application that is late. */
	if (poll(&fd, 1, 0) != 0)
		return;
	mdv_vector_kick(rxq->vector);
	if (!rxq->intr_late_told)
		MLXPMD_LOG(WARNING, "port %u Rx queue %u: no interrupt came for a packet that is there since %u ms: woken by the driver, from now on without a word",
			   rxq->port_id, rxq->queue_id, (unsigned int)(late_ns / 1000000u));
	rxq->intr_late_told = true;
}

void
mlxpmd_rxq_intr_watch(struct mlxpmd_rxq *rxq, bool there, uint32_t ci, uint64_t now_ns)
{
	rte_spinlock_lock(&rxq->intr_lock);
	if (!rxq->intr_on || !there) {
		rxq->intr_late_ns = 0;
	} else if (rxq->intr_late_ns == 0 || rxq->intr_late_ci != ci) {
		rxq->intr_late_ns = now_ns;
		rxq->intr_late_ci = ci;
	} else if (now_ns - rxq->intr_late_ns >= LATE_NS) {
		late_wake(rxq, now_ns - rxq->intr_late_ns);
		rxq->intr_late_ns = now_ns;
	}
	rte_spinlock_unlock(&rxq->intr_lock);
}

/* Whoever read the descriptor himself and took no packet has used up the order: the packet is there. */
static void
rxq_order(struct mlxpmd_rxq *rxq)
{
	const uint32_t ci = __atomic_load_n(&rxq->cq_ci, __ATOMIC_RELAXED);
	const struct mlx5_cqe64 *cqe = &rxq->cqes[ci & rxq->cqe_mask];

	if (!mdv_cq_arm(&rxq->cq, ci) &&
	    !mlxpmd_cqe_absent(mlxpmd_cqe_tail(cqe), ci >> rxq->log_cqes & 1))
		mdv_vector_kick(rxq->vector);
}

/* Is there anything to sleep for? The lock is held. */
static int
rxq_intr_enable(struct mlxpmd_rxq *rxq)
{
	const enum mlxpmd_qstate state = mlxpmd_rxq_state(rxq);
	int rc;

	if (state == MLXPMD_QS_SETUP || state == MLXPMD_QS_RESET)
		return -EINVAL;
	rc = mdv_vector_ack(rxq->vector);
	if (rc < 0)
		return rc;
	__atomic_store_n(&rxq->intr_on, true, __ATOMIC_RELAXED);
	if (state == MLXPMD_QS_READY)
		rxq_order(rxq);
	else if (state == MLXPMD_QS_ASKED)
		mdv_vector_kick(rxq->vector); /* To let go, the burst has to be called. */
	/* Of a queue under repair the service wakes whoever waits for it. */
	return 0;
}

int
mlxpmd_rx_intr_enable(struct rte_eth_dev *eth_dev, uint16_t queue_id)
{
	struct mlxpmd_rxq *rxq = eth_dev->data->rx_queues[queue_id];
	int rc;

	if (rxq->vector == NULL) {
		MLXPMD_LOG(ERR, "port %u Rx queue %u: no interrupts: allowed with intr_conf.rxq, once the port was started",
			   rxq->port_id, queue_id);
		return -EINVAL;
	}
	if (mdv_removed(rxq->port->mdv))
		return -ENODEV;
	rte_spinlock_lock(&rxq->intr_lock);
	rc = rxq_intr_enable(rxq);
	rte_spinlock_unlock(&rxq->intr_lock);
	return rc;
}

int
mlxpmd_rx_intr_disable(struct rte_eth_dev *eth_dev, uint16_t queue_id)
{
	struct mlxpmd_rxq *rxq = eth_dev->data->rx_queues[queue_id];
	int rc;

	if (rxq->vector == NULL)
		return -EINVAL;
	rte_spinlock_lock(&rxq->intr_lock);
	__atomic_store_n(&rxq->intr_on, false, __ATOMIC_RELAXED);
	rc = mdv_vector_ack(rxq->vector);
	rte_spinlock_unlock(&rxq->intr_lock);
	return rc < 0 ? rc : 0;
}
