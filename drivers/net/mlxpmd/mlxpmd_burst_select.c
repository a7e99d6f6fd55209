/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Selects the burst functions of a port by its configuration, and reports selection and reason. */

#include <rte_mbuf_dyn.h>
#include <rte_string_fns.h>

#include "mlxpmd.h"
#include "mlxpmd_clock.h"
#include "mlxpmd_mprq.h"
#include "mlxpmd_rx.h"
#include "mlxpmd_tx.h"

/* Offloads of all Rx queues: ethdev has one burst function per port. *scatters: any delivers several segments. */
static uint64_t
rx_offloads(const struct rte_eth_dev *eth_dev, bool *scatters)
{
	uint64_t offloads = eth_dev->data->dev_conf.rxmode.offloads;
	const struct mlxpmd_rxq *rxq;
	uint16_t i;

	*scatters = false;
	for (i = 0; i < eth_dev->data->nb_rx_queues; i++) {
		rxq = eth_dev->data->rx_queues[i];
		if (rxq == NULL)
			continue;
		offloads |= rxq->q.offloads;
		*scatters |= rxq->log_segs != 0 || rxq->striding.scatter;
	}
	return offloads;
}

static uint64_t
tx_offloads(const struct rte_eth_dev *eth_dev, bool *fast_free)
{
	uint64_t offloads = eth_dev->data->dev_conf.txmode.offloads, one;
	const struct mlxpmd_txq *txq;
	uint16_t i;

	*fast_free = true;
	for (i = 0; i < eth_dev->data->nb_tx_queues; i++) {
		txq = eth_dev->data->tx_queues[i];
		if (txq == NULL)
			continue;
		one = txq->q.offloads | eth_dev->data->dev_conf.txmode.offloads;
		offloads |= one;
		/* Only if the application set it for every queue. */
		*fast_free &= (one & RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE) != 0;
	}
	*fast_free &= (offloads & RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE) != 0;
	return offloads;
}

/*
 * Does any Rx queue deliver timestamps? The burst function then writes them for all queues, so each needs the offset
 * of the dynamic field. Registration cannot fail for lack of space: a queue registered the same field already.
 */
static bool
rx_timestamps(const struct rte_eth_dev *eth_dev, uint64_t offloads)
{
	struct mlxpmd_rxq *rxq;
	uint16_t i;

	if (!(offloads & RTE_ETH_RX_OFFLOAD_TIMESTAMP))
		return false;
	for (i = 0; i < eth_dev->data->nb_rx_queues; i++) {
		rxq = eth_dev->data->rx_queues[i];
		if (rxq != NULL && rxq->ts_offset < 0 &&
		    rte_mbuf_dyn_rx_timestamp_register(&rxq->ts_offset, &rxq->ts_flag) != 0)
			return false;
	}
	return true;
}

/* The kind of timestamps that the port's clock yields. */
static unsigned int
rx_stamp_kind(const struct mlxpmd_port *port)
{
	if (port->clock == NULL || port->clock->kind == MDV_CLOCK_LINE)
		return MLXPMD_RX_F_TS;
	return port->clock->kind == MDV_CLOCK_PACKED ? MLXPMD_RX_F_PACKED : MLXPMD_RX_F_TICKS;
}

/* Are the port's receive queues striding ones? All of them are, or none. */
static bool
rx_strides(const struct rte_eth_dev *eth_dev)
{
	const struct mlxpmd_rxq *rxq = eth_dev->data->nb_rx_queues != 0 ? eth_dev->data->rx_queues[0] : NULL;

	return rxq != NULL && rxq->striding.log_strides != 0;
}

/* Not for secondary processes: mailboxes of timesync, which have a lock. */
static uint16_t
shared_set(const struct mlxpmd_port *port, unsigned int f)
{
	return port->timesync.on ? MLXPMD_NO_SET : f;
}

static const struct mlxpmd_template *
rx_template(struct mlxpmd_port *port, unsigned int f)
{
	const struct mlxpmd_template *template;

	if (rx_strides(port->eth_dev))
		f = (f & ~MLXPMD_RX_F_SCATTER) | MLXPMD_RX_F_STRIDING;
	__atomic_store_n(&port->rx_set, shared_set(port, f), __ATOMIC_RELEASE);
	template = mlxpmd_variant_choose(false, f, port->args.rx_burst, &port->rx_burst_why);
	if (port->rx_burst_why == NULL)
		port->rx_burst_why = "rx_burst=auto: widest that the CPU has";
	return template;
}

static void
rx_select(struct rte_eth_dev *eth_dev)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	const struct mlxpmd_template *template;
	bool scatters;
	uint64_t offloads = rx_offloads(eth_dev, &scatters);
	unsigned int f = scatters ? MLXPMD_RX_F_SCATTER : 0;

	if (rx_timestamps(eth_dev, offloads) || port->timesync.on)
		f |= rx_stamp_kind(port);
	if (offloads & RTE_ETH_RX_OFFLOAD_RSS_HASH)
		f |= MLXPMD_RX_F_HASH;
	if (port->mini_cqe != MDV_MINI_CQE_NONE && !(f & MLXPMD_RX_F_STAMP))
		f |= MLXPMD_RX_F_COMP;
	template = rx_template(port, f);
	eth_dev->rx_pkt_burst = mlxpmd_timesync_rx_wrap(port, template->burst);
	port->rx_burst_name = template->name;
}

/* Does any Tx queue copy packets? */
static bool
tx_copies(const struct rte_eth_dev *eth_dev)
{
	const struct mlxpmd_txq *txq;
	uint16_t i;

	for (i = 0; i < eth_dev->data->nb_tx_queues; i++) {
		txq = eth_dev->data->tx_queues[i];
		if (txq != NULL && (txq->inline_mpw != 0 || txq->inline_send != 0))
			return true;
	}
	return false;
}

static const char *
mini_cqe_obstacle(const struct mlxpmd_port *port)
{
	const enum mdv_mini_cqe format = port->args.rxq_cqe_comp_en & ~MLXPMD_COMP_ENHANCED;
	bool scatters;
	const uint64_t offloads = rx_offloads(port->eth_dev, &scatters);

	if (!(port->mdv->caps.mini_cqes >> format & 1))
		return port->mdv->caps.mini_cqes == 0 ? "the device does not compress completions" :
							"the device does not have this format";
	if (port->timesync.on)
		return "timesync is on, and compressed completions have no timestamps";
	if (offloads & RTE_ETH_RX_OFFLOAD_TIMESTAMP)
		return "Rx offload TIMESTAMP, and compressed completions have no timestamps";
	/* As net_mlx5 (mlx5_rxq_create_devx_cq_resources()). */
	if (offloads & RTE_ETH_RX_OFFLOAD_TCP_LRO)
		return "Rx offload TCP_LRO, and compressed completions have no number of segments";
	return NULL;
}

int
mlxpmd_mini_cqe_select(struct mlxpmd_port *port)
{
	const bool wanted = (port->args.rxq_cqe_comp_en & MLXPMD_COMP_ENHANCED) != 0;

	port->mini_cqe = port->args.rxq_cqe_comp_en & ~MLXPMD_COMP_ENHANCED;
	port->mini_cqe_enhanced = false;
	port->mini_cqe_why = "rxq_cqe_comp_en=0";
	if (port->mini_cqe == MDV_MINI_CQE_NONE)
		return 0;
	port->mini_cqe_why = mini_cqe_obstacle(port);
	if (port->mini_cqe_why == NULL) {
		/* As net_mlx5, which ignores the bit where the device lacks the layout. */
		port->mini_cqe_enhanced = wanted && port->mdv->caps.mini_cqes_enhanced;
		port->mini_cqe_why = wanted && !port->mini_cqe_enhanced ?
					     "format of rxq_cqe_comp_en: the device has the basic layout only" :
					     "format of rxq_cqe_comp_en: nothing needs whole completions";
		return 0;
	}
	MLXPMD_LOG(NOTICE, "port %u: rxq_cqe_comp_en=%u: completions are not compressed: %s", port->port_id,
		   port->args.rxq_cqe_comp_en, port->mini_cqe_why);
	port->mini_cqe = MDV_MINI_CQE_NONE;
	return 0;
}

/* May packets have metadata for flows? All queues that have been set up say the same. */
static bool
tx_meta(const struct rte_eth_dev *eth_dev)
{
	const struct mlxpmd_txq *txq = eth_dev->data->nb_tx_queues != 0 ? eth_dev->data->tx_queues[0] : NULL;

	return txq != NULL && txq->meta_flag != 0;
}

static const char *
tx_features(const struct rte_eth_dev *eth_dev, unsigned int *f)
{
	const struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	bool fast_free, scatters;
	uint64_t offloads = tx_offloads(eth_dev, &fast_free);

	(void)rx_offloads(eth_dev, &scatters);
	*f = 0;
	if (port->timesync.on || (offloads & RTE_ETH_TX_OFFLOAD_SEND_ON_TIMESTAMP))
		*f = MLXPMD_TX_F_TIMED;
	if (tx_meta(eth_dev))
		*f = MLXPMD_TX_F_META;
	if (port->mdv->caps.min_inline_mode != 0) {
		*f |= MLXPMD_TX_F_INLINE;
		if ((offloads & MLXPMD_TX_TUNNEL_OFFLOADS) && !(*f & (MLXPMD_TX_F_TIMED | MLXPMD_TX_F_META)))
			*f |= MLXPMD_TX_F_TSO;
		return "the device requires inline headers";
	}
	if (tx_copies(eth_dev))
		*f |= MLXPMD_TX_F_COPY;
	if (*f & (MLXPMD_TX_F_TIMED | MLXPMD_TX_F_META)) {
		*f |= port->mdv->caps.mpw ? MLXPMD_TX_F_MPW : 0;
		return *f & MLXPMD_TX_F_META ? "packets may have metadata for flows" :
		       port->timesync.on ? "packets may request a timestamp (timesync)" :
		       "packets may have a send time";
	}
	if ((offloads & MLXPMD_TX_TUNNEL_OFFLOADS) && !(*f & MLXPMD_TX_F_COPY)) {
		*f |= MLXPMD_TX_F_TSO | (port->mdv->caps.mpw ? MLXPMD_TX_F_MPW : 0);
		return "packets may have to be segmented (TSO), or be in tunnels";
	}
	if (offloads & (RTE_ETH_TX_OFFLOAD_IPV4_CKSUM | RTE_ETH_TX_OFFLOAD_TCP_CKSUM |
			RTE_ETH_TX_OFFLOAD_UDP_CKSUM | RTE_ETH_TX_OFFLOAD_VLAN_INSERT))
		*f |= MLXPMD_TX_F_OFFLOAD;
	if (port->mdv->caps.mpw)
		*f |= MLXPMD_TX_F_MPW;
	/* The application may forward received packets of several segments. */
	fast_free &= !(offloads & RTE_ETH_TX_OFFLOAD_MULTI_SEGS) && !scatters;
	if (*f & MLXPMD_TX_F_COPY) {
		/* Few sets: without fast free, or without multi-packet WQEs, they have all offloads. */
		if (fast_free && port->mdv->caps.mpw && !(offloads & MLXPMD_TX_TUNNEL_OFFLOADS))
			*f |= MLXPMD_TX_F_FAST_FREE;
		else
			*f &= ~MLXPMD_TX_F_OFFLOAD;
		return "short packets are copied into the WQE (txq_inline_mpw, txq_inline_max)";
	}
	if ((offloads & RTE_ETH_TX_OFFLOAD_MULTI_SEGS) || scatters) {
		*f |= MLXPMD_TX_F_MULTI;
		return port->mdv->caps.mpw ? "packets may have several segments" :
		       "packets may have several segments; the device has no multi-packet WQE";
	}
	if (fast_free)
		*f |= MLXPMD_TX_F_FAST_FREE;
	return port->mdv->caps.mpw ? "smallest that serves the queues' offloads" :
	       "the device has no multi-packet WQE";
}

static void
tx_select(struct rte_eth_dev *eth_dev)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	const struct mlxpmd_template *template;
	const char *features_why;
	unsigned int f;
	bool fast_free;

	features_why = tx_features(eth_dev, &f);
	template = mlxpmd_variant_choose(true, f, port->args.tx_burst, &port->tx_burst_why);
	if (port->tx_burst_why == NULL)
		port->tx_burst_why = features_why;
	port->tx_burst_name = template->name;
	eth_dev->tx_pkt_burst = template->burst;
	/* Else ethdev's default, which accepts all: nothing has to be prepared, and only TSO has limits. */
	port->tx_prepares = (tx_offloads(eth_dev, &fast_free) & MLXPMD_TX_TUNNEL_OFFLOADS) != 0;
	if (port->tx_prepares)
		eth_dev->tx_pkt_prepare = mlxpmd_tx_prepare;
	__atomic_store_n(&port->tx_set, shared_set(port, f), __ATOMIC_RELEASE);
}

void
mlxpmd_burst_select(struct rte_eth_dev *eth_dev)
{
	rx_select(eth_dev);
	tx_select(eth_dev);
	eth_dev->rx_queue_count = mlxpmd_rx_queue_count;
	eth_dev->rx_descriptor_status = mlxpmd_rx_descriptor_status;
	eth_dev->tx_descriptor_status = mlxpmd_tx_descriptor_status;
}

static int
mode_get(const char *name, struct rte_eth_burst_mode *mode)
{
	if (name == NULL)
		return -EINVAL; /* Not started yet. */
	mode->flags = 0;
	strlcpy(mode->info, name, sizeof(mode->info));
	return 0;
}

int
mlxpmd_rx_burst_mode_get(struct rte_eth_dev *eth_dev, uint16_t queue_id __rte_unused,
			 struct rte_eth_burst_mode *mode)
{
	return mode_get(MLXPMD_PORT(eth_dev)->rx_burst_name, mode);
}

int
mlxpmd_tx_burst_mode_get(struct rte_eth_dev *eth_dev, uint16_t queue_id __rte_unused,
			 struct rte_eth_burst_mode *mode)
{
	return mode_get(MLXPMD_PORT(eth_dev)->tx_burst_name, mode);
}
