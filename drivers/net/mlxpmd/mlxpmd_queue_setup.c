/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Set-up and release of queues: what an application may ask for, checked; no device objects yet. */

#include <rte_errno.h>
#include <rte_malloc.h>
#include <rte_mbuf_dyn.h>

#include "mlxpmd_ctrl.h"

/* Rings are powers of two, since the device masks its counters: sizes between are rounded up. */
static int
desc_round(const char *kind, uint16_t port_id, uint16_t queue_id, uint16_t nb_desc, uint16_t *out)
{
	uint32_t rounded = rte_align32pow2(nb_desc);

	if (nb_desc < MLXPMD_DESC_MIN || rounded > MLXPMD_DESC_MAX) {
		MLXPMD_LOG(ERR, "port %u %s queue %u: %u descriptors: allowed are %d..%d", port_id, kind,
			   queue_id, nb_desc, MLXPMD_DESC_MIN, MLXPMD_DESC_MAX);
		return -EINVAL;
	}
	if (rounded != nb_desc)
		MLXPMD_LOG(NOTICE, "port %u %s queue %u: %u descriptors rounded up to %u", port_id,
			   kind, queue_id, nb_desc, rounded);
	*out = rounded;
	return 0;
}

static int
thresh_check(const char *kind, uint16_t port_id, uint16_t queue_id, const char *name,
	     uint16_t value, uint16_t max)
{
	if (value <= max)
		return 0;
	MLXPMD_LOG(ERR, "port %u %s queue %u: %s %u: allowed are 0 (default) .. %u", port_id, kind,
		   queue_id, name, value, max);
	return -EINVAL;
}

/* ------------------------------------------------------------------ receive */

int
mlxpmd_rxq_log_segs(const struct mlxpmd_rxq *rxq, uint16_t mtu)
{
	uint32_t room = rte_pktmbuf_data_room_size(rxq->mp);
	uint32_t frame = mtu + MLXPMD_FRAME_OVERHEAD, first, segs;
	int log_segs;

	if (!(rxq->offloads & RTE_ETH_RX_OFFLOAD_KEEP_CRC))
		frame -= RTE_ETHER_CRC_LEN;
	if (room <= RTE_PKTMBUF_HEADROOM) {
		MLXPMD_LOG(ERR, "port %u Rx queue %u: mbufs of %u bytes: allowed are above the headroom of %d",
			   rxq->port_id, rxq->queue_id, room, RTE_PKTMBUF_HEADROOM);
		return -EINVAL;
	}
	first = room - RTE_PKTMBUF_HEADROOM;
	if (frame <= first)
		return 0;
	if (!(rxq->offloads & RTE_ETH_RX_OFFLOAD_SCATTER)) {
		MLXPMD_LOG(ERR, "port %u Rx queue %u: frames of up to %u bytes (MTU %u) do not fit into %u: allowed with Rx offload scatter or larger mbufs",
			   rxq->port_id, rxq->queue_id, frame, mtu, first);
		return -EINVAL;
	}
	segs = 1 + (frame - first + room - 1) / room;
	log_segs = rte_log2_u32(rte_align32pow2(segs));
	if ((1u << log_segs) > MLXPMD_RX_MAX_SEGS || rxq->nb_desc >> log_segs < 2) {
		MLXPMD_LOG(ERR, "port %u Rx queue %u: frames of up to %u bytes need %u mbufs each: allowed are %d, and half of the %u descriptors",
			   rxq->port_id, rxq->queue_id, frame, segs, MLXPMD_RX_MAX_SEGS,
			   rxq->nb_desc);
		return -EINVAL;
	}
	return log_segs;
}

static int
rxconf_check(const struct mlxpmd_port *port, uint16_t queue_id, uint16_t nb_desc,
	     const struct rte_eth_rxconf *conf)
{
	if (conf->rx_nseg != 0 || conf->share_group != 0) {
		MLXPMD_LOG(ERR, "port %u Rx queue %u: buffer split and shared queues are not supported",
			   port->port_id, queue_id);
		return -ENOTSUP;
	}
	if (conf->rx_drop_en == 0)
		MLXPMD_LOG(DEBUG, "port %u Rx queue %u: rx_drop_en=0 is ignored: a full queue drops",
			   port->port_id, queue_id);
	return thresh_check("Rx", port->port_id, queue_id, "rx_free_thresh", conf->rx_free_thresh,
			    nb_desc / 2);
}

/* The choice of bursts at start looks at every queue, also at one that is armed later. */
static int
rxq_timestamp_register(struct mlxpmd_rxq *rxq)
{
	if (!(rxq->offloads & RTE_ETH_RX_OFFLOAD_TIMESTAMP))
		return 0;
	if (rte_mbuf_dyn_rx_timestamp_register(&rxq->ts_offset, &rxq->ts_flag) == 0)
		return 0;
	MLXPMD_LOG(ERR, "port %u Rx queue %u: no room in the mbuf for timestamps: %s",
		   rxq->port_id, rxq->queue_id, rte_strerror(rte_errno));
	return -rte_errno;
}

int
mlxpmd_rx_queue_setup(struct rte_eth_dev *eth_dev, uint16_t queue_id, uint16_t nb_desc,
		      unsigned int socket_id, const struct rte_eth_rxconf *conf,
		      struct rte_mempool *mp)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	struct mlxpmd_rxq *rxq;
	int rc;

	if (mp == NULL) {
		MLXPMD_LOG(ERR, "port %u Rx queue %u: no mempool", port->port_id, queue_id);
		return -EINVAL;
	}
	rc = desc_round("Rx", port->port_id, queue_id, nb_desc, &nb_desc);
	if (rc == 0)
		rc = rxconf_check(port, queue_id, nb_desc, conf);
	if (rc != 0)
		return rc;
	rxq = rte_zmalloc_socket("mlxpmd_rxq", sizeof(*rxq), RTE_CACHE_LINE_SIZE, socket_id);
	if (rxq == NULL) {
		MLXPMD_LOG(ERR, "port %u Rx queue %u: no memory on socket %d", port->port_id, queue_id,
			   (int)socket_id);
		return -ENOMEM;
	}
	rxq->port = port;
	rxq->port_id = port->port_id;
	rxq->queue_id = queue_id;
	rxq->socket_id = socket_id;
	rxq->nb_desc = nb_desc;
	rxq->conf = *conf;
	rxq->offloads = conf->offloads | eth_dev->data->dev_conf.rxmode.offloads;
	rxq->conf.offloads = rxq->offloads;
	rxq->mp = mp;
	rxq->ts_offset = -1;
	rxq->state = MLXPMD_QS_RESET;
	rte_spinlock_init(&rxq->intr_lock);
	rc = rxq_timestamp_register(rxq);
	if (rc != 0) {
		rte_free(rxq);
		return rc;
	}
	pthread_mutex_lock(&port->lock);
	eth_dev->data->rx_queues[queue_id] = rxq;
	port->rxqs[queue_id] = rxq;
	pthread_mutex_unlock(&port->lock);
	return 0;
}

void
mlxpmd_rx_queue_release(struct rte_eth_dev *eth_dev, uint16_t queue_id)
{
	struct mlxpmd_rxq *rxq = eth_dev->data->rx_queues[queue_id];

	if (rxq == NULL)
		return;
	if (rxq->rq.wq.obj != NULL) {
		MLXPMD_LOG(ERR, "port %u Rx queue %u: cannot be released while the port is started",
			   rxq->port_id, queue_id);
		return;
	}
	mlxpmd_rxq_stats_retire(rxq);
	/* Before anything of it goes: the control thread looks for it there. */
	pthread_mutex_lock(&rxq->port->lock);
	rxq->port->rxqs[queue_id] = NULL;
	pthread_mutex_unlock(&rxq->port->lock);
	mlxpmd_rxq_intr_release(rxq);
	eth_dev->data->rx_queues[queue_id] = NULL;
	rte_free(rxq);
}

void
mlxpmd_rxq_info_get(struct rte_eth_dev *eth_dev, uint16_t queue_id, struct rte_eth_rxq_info *info)
{
	const struct mlxpmd_rxq *rxq = eth_dev->data->rx_queues[queue_id];

	if (rxq == NULL)
		return;
	info->mp = rxq->mp;
	info->conf = rxq->conf;
	info->scattered_rx = rxq->log_segs != 0;
	info->nb_desc = rxq->nb_desc;
	info->rx_buf_size = rte_pktmbuf_data_room_size(rxq->mp) - RTE_PKTMBUF_HEADROOM;
}

/* ------------------------------------------------------------------ send */

int
mlxpmd_tx_queue_setup(struct rte_eth_dev *eth_dev, uint16_t queue_id, uint16_t nb_desc,
		      unsigned int socket_id, const struct rte_eth_txconf *conf)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	struct mlxpmd_txq *txq;
	int rc;

	rc = desc_round("Tx", port->port_id, queue_id, nb_desc, &nb_desc);
	if (rc == 0)
		rc = thresh_check("Tx", port->port_id, queue_id, "tx_rs_thresh", conf->tx_rs_thresh,
				  nb_desc / 4);
	if (rc == 0)
		rc = thresh_check("Tx", port->port_id, queue_id, "tx_free_thresh",
				  conf->tx_free_thresh, nb_desc - 1);
	if (rc != 0)
		return rc;
	txq = rte_zmalloc_socket("mlxpmd_txq", sizeof(*txq), RTE_CACHE_LINE_SIZE, socket_id);
	if (txq == NULL) {
		MLXPMD_LOG(ERR, "port %u Tx queue %u: no memory on socket %d", port->port_id, queue_id,
			   (int)socket_id);
		return -ENOMEM;
	}
	txq->port = port;
	txq->mdv = port->mdv;
	txq->port_id = port->port_id;
	txq->queue_id = queue_id;
	txq->socket_id = socket_id;
	txq->nb_desc = nb_desc;
	txq->conf = *conf;
	txq->offloads = conf->offloads | eth_dev->data->dev_conf.txmode.offloads;
	txq->conf.offloads = txq->offloads;
	txq->state = MLXPMD_QS_RESET;
	rc = mlxpmd_txq_times_set(txq);
	if (rc != 0) {
		rte_free(txq);
		return rc;
	}
	pthread_mutex_lock(&port->lock);
	eth_dev->data->tx_queues[queue_id] = txq;
	port->txqs[queue_id] = txq;
	pthread_mutex_unlock(&port->lock);
	return 0;
}

void
mlxpmd_tx_queue_release(struct rte_eth_dev *eth_dev, uint16_t queue_id)
{
	struct mlxpmd_txq *txq = eth_dev->data->tx_queues[queue_id];

	if (txq == NULL)
		return;
	if (txq->sq.wq.obj != NULL) {
		MLXPMD_LOG(ERR, "port %u Tx queue %u: cannot be released while the port is started",
			   txq->port_id, queue_id);
		return;
	}
	mlxpmd_txq_stats_retire(txq);
	pthread_mutex_lock(&txq->port->lock);
	txq->port->txqs[queue_id] = NULL;
	pthread_mutex_unlock(&txq->port->lock);
	eth_dev->data->tx_queues[queue_id] = NULL;
	rte_free(txq);
}

void
mlxpmd_txq_info_get(struct rte_eth_dev *eth_dev, uint16_t queue_id, struct rte_eth_txq_info *info)
{
	const struct mlxpmd_txq *txq = eth_dev->data->tx_queues[queue_id];

	if (txq == NULL)
		return;
	info->conf = txq->conf;
	info->nb_desc = txq->nb_desc;
}
