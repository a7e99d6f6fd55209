/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Capabilities of a port, configure, start and stop. */

#include "mlxpmd_ctrl.h"
#include "mlxpmd_recorder.h"

#define DEV_BURST_DEFAULT 32

/* ------------------------------------------------------------------ capabilities */

static void
infos_limits(const struct mdv_caps *caps, struct rte_eth_dev_info *info)
{
	uint32_t log_max = RTE_MIN(caps->log_max_wq_sz, 15);
	uint16_t desc_max = RTE_MIN(RTE_BIT32(log_max), (uint32_t)MLXPMD_DESC_MAX);
	uint16_t segs_max = mlxpmd_tx_segs_max(caps);

	/* The RSS table has an entry for each queue at least. */
	info->max_rx_queues = RTE_MIN(RTE_MIN(caps->max_rqs, MLXPMD_MAX_QUEUES), RTE_BIT32(caps->log_max_rqt_size));
	info->max_tx_queues = RTE_MIN(caps->max_sqs, MLXPMD_MAX_QUEUES);
	info->max_mac_addrs = MLXPMD_MAX_MAC_ADDRS;
	info->min_mtu = MLXPMD_MIN_MTU;
	info->max_mtu = caps->max_mtu;
	info->max_rx_pktlen = caps->max_mtu + MLXPMD_FRAME_OVERHEAD;
	info->min_rx_bufsize = 32;
	info->rx_desc_lim = (struct rte_eth_desc_lim){
		.nb_max = desc_max, .nb_min = MLXPMD_DESC_MIN, .nb_align = 1,
		.nb_seg_max = MLXPMD_RX_MAX_SEGS, .nb_mtu_seg_max = MLXPMD_RX_MAX_SEGS,
	};
	info->tx_desc_lim = (struct rte_eth_desc_lim){
		.nb_max = desc_max, .nb_min = MLXPMD_DESC_MIN, .nb_align = 1,
		.nb_seg_max = segs_max, .nb_mtu_seg_max = segs_max,
	};
}

static void
infos_offloads(const struct mlxpmd_port *port, struct rte_eth_dev_info *info)
{
	const struct mdv_caps *caps = &port->mdv->caps;

	info->rx_queue_offload_capa = mlxpmd_rx_offloads(caps);
	/* The device has stamps, but no clock source can be used. */
	if (port->clock == NULL)
		info->rx_queue_offload_capa &= ~RTE_ETH_RX_OFFLOAD_TIMESTAMP;
	/* WQEs of striding queues have no segments. */
	if (!port->args.mprq_en) {
		info->rx_queue_offload_capa |= RTE_ETH_RX_OFFLOAD_BUFFER_SPLIT;
		info->rx_seg_capa = (struct rte_eth_rxseg_capa){
			.multi_pools = 1, .offset_allowed = 1, .max_nseg = MLXPMD_RX_MAX_SEGS,
		};
	}
	info->rx_offload_capa = info->rx_queue_offload_capa | RTE_ETH_RX_OFFLOAD_VLAN_FILTER;
	if (port->args.mprq_en && caps->lro_us[0] != 0) {
		info->rx_offload_capa |= RTE_ETH_RX_OFFLOAD_TCP_LRO;
		info->max_lro_pkt_size = MLXPMD_LRO_MAX;
	}
	info->tx_queue_offload_capa = mlxpmd_tx_offloads(caps);
	if (mlxpmd_tx_times(port))
		info->tx_queue_offload_capa |= RTE_ETH_TX_OFFLOAD_SEND_ON_TIMESTAMP;
	/* Received packets may be external buffers, which the application may send. */
	if (port->args.mprq_en)
		info->tx_queue_offload_capa &= ~RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE;
	info->tx_offload_capa = info->tx_queue_offload_capa;
	info->flow_type_rss_offloads = mlxpmd_rss_supported(caps);
	info->reta_size = port->reta_size;
	info->hash_key_size = MLXPMD_RSS_KEY_BYTES;
}

int
mlxpmd_dev_infos_get(struct rte_eth_dev *eth_dev, struct rte_eth_dev_info *info)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);

	infos_limits(&port->mdv->caps, info);
	infos_offloads(port, info);
	info->speed_capa = mlxpmd_link_speed_capa(eth_dev);
	info->if_index = port->netdev_index;
	info->default_rxportconf = (struct rte_eth_dev_portconf){
		.burst_size = DEV_BURST_DEFAULT, .ring_size = MLXPMD_DESC_DEFAULT, .nb_queues = 1,
	};
	info->default_txportconf = info->default_rxportconf;
	info->dev_capa = RTE_ETH_DEV_CAPA_FLOW_RULE_KEEP | RTE_ETH_DEV_CAPA_FLOW_SHARED_OBJECT_KEEP;
	info->default_rxconf.rx_drop_en = 1; /* A full queue drops; it never stops the wire. */
	return 0;
}

int
mlxpmd_fw_version_get(struct rte_eth_dev *eth_dev, char *version, size_t size)
{
	const char *have = MLXPMD_PORT(eth_dev)->mdv->fw_version;
	int need = snprintf(version, size, "%s", have);

	return need >= 0 && (size_t)need >= size ? need + 1 : 0;
}

/* ------------------------------------------------------------------ configure */

static int
configure_check(const struct mlxpmd_port *port, const struct rte_eth_conf *conf)
{
	const bool looped = port->mdv->port->loopback_set != NULL && !port->mdv->caps.vf;
	const struct {
		const char *what;
		uint32_t value, refused;	/* All bits, and those that are not supported. */
		const char *allowed;
	} rows[] = {
		{ "Rx multi-queue mode", conf->rxmode.mq_mode, conf->rxmode.mq_mode & ~RTE_ETH_MQ_RX_RSS_FLAG,
		  "none or RSS" },
		{ "Tx multi-queue mode", conf->txmode.mq_mode, conf->txmode.mq_mode, "none" },
		{ "loopback mode", conf->lpbk_mode, looped ? conf->lpbk_mode & ~1u : conf->lpbk_mode,
		  looped ? "0 or 1" : "0; 1 on a physical function with open=vfio" },
		{ "fixed link speed", conf->link_speeds, conf->link_speeds & RTE_ETH_LINK_SPEED_FIXED,
		  port->mdv->mode == MDV_OPEN_VFIO ? "autonegotiation" : "autonegotiation: the kernel owns the link" },
		{ "DCB", conf->dcb_capability_en, conf->dcb_capability_en, "0" },
	};

	for (unsigned int i = 0; i < RTE_DIM(rows); i++) {
		if (rows[i].refused == 0)
			continue;
		return MLXPMD_FAIL(ENOTSUP, "port %u: %s %#x: allowed is %s", port->port_id, rows[i].what,
				   rows[i].value, rows[i].allowed);
	}
	return 0;
}

static int
configure(struct mlxpmd_port *port, struct rte_eth_conf *conf)
{
	int rc;

	rc = configure_check(port, conf);
	if (rc == 0)
		rc = mlxpmd_rss_configure(port);
	if (rc != 0)
		return rc;
	/* Most applications that use RSS read the hash, which costs nothing. */
	if (port->rss_hf != 0)
		conf->rxmode.offloads |= RTE_ETH_RX_OFFLOAD_RSS_HASH &
					 mlxpmd_rx_offloads(&port->mdv->caps);
	port->filter.vlan_on = (conf->rxmode.offloads & RTE_ETH_RX_OFFLOAD_VLAN_FILTER) != 0;
	return 0;
}

int
mlxpmd_dev_configure(struct rte_eth_dev *eth_dev)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	const uint64_t begin_ns = mlxpmd_now_ns();
	int rc = configure(port, &eth_dev->data->dev_conf);

	mlxpmd_record_port(port, MDV_PORT_CONFIGURE, rc, begin_ns);
	return rc;
}

/* ------------------------------------------------------------------ start and stop */

/*
 * No barriers: rte_ethdev.h excludes start and stop while another thread polls the port, and ethdev copies the
 * functions to rte_eth_fp_ops after the start and resets them before the stop.
 */

static int
bursts_up(struct mlxpmd_port *port)
{
	mlxpmd_burst_select(port->eth_dev);
	return 0;
}

static void
bursts_down(struct mlxpmd_port *port)
{
	__atomic_store_n(&port->rx_set, MLXPMD_NO_SET, __ATOMIC_RELEASE);
	__atomic_store_n(&port->tx_set, MLXPMD_NO_SET, __ATOMIC_RELEASE);
	port->eth_dev->rx_pkt_burst = rte_eth_pkt_burst_dummy;
	port->eth_dev->tx_pkt_burst = rte_eth_pkt_burst_dummy;
}

/* A device that was removed takes no command. */
static void
loopback_down(struct mlxpmd_port *port)
{
	if (port->looped && !mdv_removed(port->mdv))
		(void)port->mdv->port->loopback_set(port->mdv, false);
	port->looped = false;
}

static int
loopback_up(struct mlxpmd_port *port)
{
	int rc;

	if (port->eth_dev->data->dev_conf.lpbk_mode == 0)
		return 0;
	rc = port->mdv->port->loopback_set(port->mdv, true);
	port->looped = rc == 0;
	return rc;
}

/* Steering rules are created after all that receives, and destroyed first. */
static const struct mlxpmd_stage start_stages[] = {
	{ "MTU", mlxpmd_mtu_apply, NULL },
	{ "send queues", mlxpmd_txqs_up, mlxpmd_txqs_down },
	{ "interrupts", mlxpmd_rx_intr_up, NULL },
	{ "compression", mlxpmd_mini_cqe_select, NULL },
	{ "receive queues", mlxpmd_rxqs_up, mlxpmd_rxqs_down },
	{ "bursts", bursts_up, bursts_down },
	{ "interface", mlxpmd_netdev_up, mlxpmd_netdev_down },
	{ "loopback", loopback_up, loopback_down },
	/* Before the port's own rules: where only the order of creation counts, flows come first. */
	{ "flows", mlxpmd_flows_apply, mlxpmd_flows_withdraw },
	{ "steering", mlxpmd_steer_up, mlxpmd_steer_down },
	{ "tasks", mlxpmd_tasks_start, mlxpmd_tasks_stop },
};

int
mlxpmd_dev_start(struct rte_eth_dev *eth_dev)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	const uint64_t begin_ns = mlxpmd_now_ns();
	int rc;

	if (mdv_removed(port->mdv))
		return MLXPMD_FAIL(ENODEV, "port %u: cannot start: %s was removed", port->port_id,
				   eth_dev->device->name);
	pthread_mutex_lock(&port->lock);
	rc = mlxpmd_stages_up(port, start_stages, RTE_DIM(start_stages));
	if (rc == 0)
		mlxpmd_counts_settle(port);
	pthread_mutex_unlock(&port->lock);
	mlxpmd_record_port(port, MDV_PORT_START, rc, begin_ns);
	return rc;
}

int
mlxpmd_dev_stop(struct rte_eth_dev *eth_dev)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	const uint64_t begin_ns = mlxpmd_now_ns();

	pthread_mutex_lock(&port->lock);
	mlxpmd_stages_down(port, start_stages, RTE_DIM(start_stages));
	/* No frame is missed any more: read the final count. */
	mlxpmd_counts_settle(port);
	pthread_mutex_unlock(&port->lock);
	mlxpmd_record_port(port, MDV_PORT_STOP, 0, begin_ns);
	return 0;
}
