/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Receive interrupts: the application sleeps on a queue's file descriptor instead of polling.
 *
 * Bursts are not involved. rx_queue_intr_enable() arms the CQ with the burst's consumer index, so that a packet which
 * came after the last poll raises the event at once. File descriptors exist from the first start of the port until
 * the release of their queue: stop, repair and removal of the device can wake a sleeping application, and its epoll
 * set stays valid.
 *
 * rxq->intr_lock protects the CQ against being armed while it is replaced or destroyed: before that the state becomes
 * another than READY, and then the lock is taken and released once (mlxpmd_rxq_intr_sync()).
 */

#ifndef ALLOW_EXPERIMENTAL_API
#define ALLOW_EXPERIMENTAL_API /* rte_intr_type_set() */
#endif

#include <poll.h>

#include <rte_errno.h>
#include <rte_interrupts.h>
#include <rte_spinlock.h>

#include "mlxpmd_ctrl.h"

/* An event that is this late was lost, by the device or the kernel. */
#define LATE_NS UINT64_C(100000000)

/* Queue q has epoll entry q, and interrupt vector q after those that EAL reserves. */
static int
handle_fill(struct rte_intr_handle *handle, struct rte_eth_dev_data *data)
{
	int rc = rte_intr_vec_list_alloc(handle, "mlxpmd_intr_vec", data->nb_rx_queues);
	uint16_t i;

	/*
	 * EAL reads as many bytes as the driver states: none, since mdv_vector_ack() reads. Of the types that it does
	 * not read this is the one with a vector for each queue (rte_intr_cap_multiple()), as event adapters need.
	 */
	if (rc == 0)
		rc = rte_intr_type_set(handle, RTE_INTR_HANDLE_VDEV);
	if (rc == 0)
		rc = rte_intr_efd_counter_size_set(handle, 0);
	for (i = 0; rc == 0 && i < data->nb_rx_queues; i++) {
		const struct mlxpmd_rxq *rxq = data->rx_queues[i];

		rc = rte_intr_vec_list_index_set(handle, i, RTE_INTR_VEC_RXTX_OFFSET + i);
		if (rc == 0)
			rc = rte_intr_efds_index_set(handle, i, rxq->vector->fd);
	}
	if (rc == 0)
		rc = rte_intr_nb_efd_set(handle, data->nb_rx_queues);
	if (rc != 0)
		rte_intr_vec_list_free(handle); /* Of this number of queues: the next start may have more. */
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

	if (data->dev_conf.intr_conf.rxq && data->nb_rx_queues > RTE_MAX_RXTX_INTR_VEC_ID)
		return MLXPMD_FAIL(EINVAL, "port %u: Rx interrupts of %u queues: EAL has vectors for %d", port->port_id,
				   data->nb_rx_queues, RTE_MAX_RXTX_INTR_VEC_ID);
	for (i = 0; rc == 0 && i < data->nb_rx_queues; i++) {
		struct mlxpmd_rxq *rxq = data->rx_queues[i];

		if (!data->dev_conf.intr_conf.rxq) {
			if (rxq != NULL)
				mlxpmd_rxq_intr_release(&rxq->q);
			continue;
		}
		/* The stage that starts the queues reports a queue that was not set up. */
		if (rxq == NULL)
			return 0;
		if (rxq->vector == NULL)
			rc = mdv_vector_alloc(port->mdv, &rxq->vector);
	}
	if (rc != 0 || !data->dev_conf.intr_conf.rxq)
		return rc;
	/* Unchanged since the last start: the application's epoll sets stay valid. */
	if (rte_intr_nb_efd_get(eth_dev->intr_handle) == data->nb_rx_queues)
		return 0;
	handle_clear(eth_dev->intr_handle);
	rc = handle_fill(eth_dev->intr_handle, data);
	if (rc != 0)
		MLXPMD_LOG(ERR, "port %u: no Rx interrupts: %s", port->port_id, rte_strerror(-rc));
	return rc;
}

void
mlxpmd_rxq_intr_release(struct mlxpmd_queue *q)
{
	struct mlxpmd_rxq *rxq = mlxpmd_rxq_of(q);
	struct mdv_vector *vector;

	if (rxq->vector == NULL)
		return;
	/* Clear the entries of all queues: the next start adds those that still have a vector. */
	handle_clear(rxq->q.port->eth_dev->intr_handle);
	/* The control thread may wake the application at any time, for example at a removal. */
	rte_spinlock_lock(&rxq->intr_lock);
	vector = rxq->vector;
	rxq->vector = NULL;
	__atomic_store_n(&rxq->intr_on, false, __ATOMIC_RELAXED);
	rte_spinlock_unlock(&rxq->intr_lock);
	mdv_vector_free(vector);
}

void
mlxpmd_rxq_intr_sync(struct mlxpmd_queue *q, bool wake)
{
	struct mlxpmd_rxq *rxq = mlxpmd_rxq_of(q);

	rte_spinlock_lock(&rxq->intr_lock);
	if (wake && rxq->intr_on)
		mdv_vector_kick(rxq->vector);
	rte_spinlock_unlock(&rxq->intr_lock);
}

bool
mlxpmd_rx_intr_all_on(const struct mlxpmd_port *port)
{
	struct mlxpmd_queue *q;

	if (!port->eth_dev->data->dev_conf.intr_conf.rxq)
		return false;
	TAILQ_FOREACH(q, &port->queues[MLXPMD_RX], next) {
		if (!__atomic_load_n(&mlxpmd_rxq_of(q)->intr_on, __ATOMIC_RELAXED))
			return false;
	}
	return true;
}

/* intr_lock is held. */
static void
late_wake(struct mlxpmd_rxq *rxq, uint64_t late_ns)
{
	struct pollfd fd = { .fd = rxq->vector->fd, .events = POLLIN };

	/* The event is there: the application has not handled it yet. */
	if (poll(&fd, 1, 0) != 0)
		return;
	mdv_vector_kick(rxq->vector);
	if (!rxq->intr_late_logged)
		MLXPMD_LOG(WARNING, "port %u Rx queue %u: no interrupt for a packet that arrived %u ms ago: the driver wakes the application, and does not log this again",
			   rxq->q.port_id, rxq->q.queue_id, (unsigned int)(late_ns / 1000000u));
	rxq->intr_late_logged = true;
}

void
mlxpmd_rxq_intr_watch(struct mlxpmd_queue *q, bool completed, uint32_t cq_ci, uint64_t now_ns)
{
	struct mlxpmd_rxq *rxq = mlxpmd_rxq_of(q);

	rte_spinlock_lock(&rxq->intr_lock);
	if (!rxq->intr_on || !completed) {
		rxq->intr_late_ns = 0;
	} else if (rxq->intr_late_ns == 0 || rxq->intr_late_ci != cq_ci) {
		rxq->intr_late_ns = now_ns;
		rxq->intr_late_ci = cq_ci;
	} else if (now_ns - rxq->intr_late_ns >= LATE_NS) {
		late_wake(rxq, now_ns - rxq->intr_late_ns);
		rxq->intr_late_ns = now_ns;
	}
	rte_spinlock_unlock(&rxq->intr_lock);
}

/*
 * Arms the CQ. If it was armed at this index before, an application that read the descriptor itself and took no packet
 * has consumed the event, and the device sends no other for the same packet: raise one.
 */
static void
intr_arm(struct mlxpmd_rxq *rxq)
{
	const uint32_t ci = __atomic_load_n(&rxq->q.cq_ci, __ATOMIC_RELAXED);

	if (!mdv_cq_arm(&rxq->q.hw.cq, ci) && !mlxpmd_queue_cqe_absent(&rxq->q, ci))
		mdv_vector_kick(rxq->vector);
}

/* intr_lock is held. Only the state is read, not q.hw: a repair may be replacing the queue's objects. */
static int
rxq_intr_enable(struct mlxpmd_rxq *rxq)
{
	const enum mlxpmd_qstate state = mlxpmd_qstate_load(&rxq->q.state);
	int rc;

	if (state == MLXPMD_QS_RESET)
		return -EINVAL;
	rc = mdv_vector_ack(rxq->vector);
	if (rc < 0)
		return rc;
	__atomic_store_n(&rxq->intr_on, true, __ATOMIC_RELAXED);
	if (state == MLXPMD_QS_READY)
		intr_arm(rxq);
	else if (state == MLXPMD_QS_QUIESCING)
		mdv_vector_kick(rxq->vector); /* Only a call of the burst can quiesce the queue. */
	/* In all other states the control thread wakes the application at the next change. */
	return 0;
}

int
mlxpmd_rx_intr_enable(struct rte_eth_dev *eth_dev, uint16_t queue_id)
{
	struct mlxpmd_rxq *rxq = eth_dev->data->rx_queues[queue_id];
	int rc;

	if (rxq->vector == NULL)
		return MLXPMD_FAIL(EINVAL,
				   "port %u Rx queue %u: no interrupts: allowed with intr_conf.rxq, once the port was started",
				   rxq->q.port_id, queue_id);
	if (mdv_removed(rxq->q.port->mdv))
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
