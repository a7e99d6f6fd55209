/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Descriptor status, number of used receive descriptors, and where a processor waits for the next one, for ethdev. */

#include <ethdev_driver.h>

#include "mlxpmd_rx_comp.h"
#include "mlxpmd_tx.h"

/* Completions that the posted WQEs may have yet, at most. */
static uint32_t
rx_posted(const struct mlxpmd_rxq *rxq)
{
	return (uint32_t)(uint16_t)(rxq->q.pi - rxq->q.ci) << rxq->striding.log_strides;
}

int
mlxpmd_rx_descriptor_status(void *queue, uint16_t offset)
{
	const struct mlxpmd_rxq *rxq = queue;
	bool absent;

	if (offset >> rxq->striding.log_strides > rxq->q.wqe_mask)
		return -EINVAL;
	if (mlxpmd_qstate_load(&rxq->q.state) != MLXPMD_QS_READY ||
	    offset >= rx_posted(rxq))
		return RTE_ETH_RX_DESC_UNAVAIL;
	if (rxq->mini_cqe != MDV_MINI_CQE_NONE)
		absent = mlxpmd_rx_completions(rxq, offset + 1u) <= offset;
	else
		absent = mlxpmd_queue_cqe_absent(&rxq->q, rxq->q.cq_ci + offset);
	return absent ? RTE_ETH_RX_DESC_AVAIL : RTE_ETH_RX_DESC_DONE;
}

mdv_rx_queue_count
mlxpmd_rx_queue_count(void *queue)
{
	const struct mlxpmd_rxq *rxq = queue;
	uint32_t low = 0, high, mid;

	if (mlxpmd_qstate_load(&rxq->q.state) != MLXPMD_QS_READY)
		return 0;
	high = rx_posted(rxq);
	/* Most entries of a compressed session are not written. */
	if (rxq->mini_cqe != MDV_MINI_CQE_NONE)
		return mlxpmd_rx_completions(rxq, high);
	/* CQEs are written in order: binary search for the first that is not. */
	while (low < high) {
		mid = (low + high) / 2;
		if (mlxpmd_queue_cqe_absent(&rxq->q, rxq->q.cq_ci + mid))
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

/* For rte_power_monitor(): -1 if the CQE whose tail is this, as in memory, is there: the processor must not sleep. */
static int
monitor_check(const uint64_t tail_be, const uint64_t opaque[RTE_POWER_MONITOR_OPAQUE_SZ])
{
	return mlxpmd_cqe_absent(rte_be_to_cpu_64(tail_be), opaque[0], opaque[1]) ? 0 : -1;
}

int
mlxpmd_rx_monitor_addr(void *queue, struct rte_power_monitor_cond *cond)
{
	const struct mlxpmd_rxq *rxq = queue;
	const uint32_t ci = rxq->q.cq_ci;

	if (mlxpmd_qstate_load(&rxq->q.state) != MLXPMD_QS_READY) {
		rte_errno = EAGAIN;
		return -EAGAIN;
	}
	*cond = (struct rte_power_monitor_cond){
		.addr = (uint8_t *)&rxq->q.cqes[ci & rxq->q.cqe_mask] + MLXPMD_CQE_TAIL,
		.size = sizeof(uint64_t),
		.fn = monitor_check,
		.opaque = { ci >> rxq->q.log_cqes, rxq->q.validity },
	};
	return 0;
}

int
mlxpmd_tx_descriptor_status(void *queue, uint16_t offset)
{
	struct mlxpmd_txq *txq = queue;
	uint16_t in_flight;

	if (offset > txq->elts_mask)
		return -EINVAL;
	if (mlxpmd_qstate_load(&txq->q.state) == MLXPMD_QS_READY)
		mlxpmd_tx_reap(txq, MLXPMD_TX_REAP_MAX, false, true);
	if (mlxpmd_qstate_load(&txq->q.state) != MLXPMD_QS_READY) {
		(void)mlxpmd_tx_not_ready(txq);
		return RTE_ETH_TX_DESC_UNAVAIL;
	}
	in_flight = txq->elts_pi - txq->elts_ci;
	/* Copied packets have no entry. The ring is larger for them: count its WQEBBs in proportion. */
	if (txq->inline_mpw != 0 || txq->inline_send != 0)
		in_flight = RTE_MAX(in_flight, (uint16_t)((uint16_t)(txq->q.pi - txq->q.ci) *
							  (txq->elts_mask + 1u) / (txq->q.wqe_mask + 1u)));
	/* Offset 0 is the next free entry; the packets in flight follow the free ones. */
	return offset < txq->elts_mask + 1 - in_flight ? RTE_ETH_TX_DESC_DONE : RTE_ETH_TX_DESC_FULL;
}
