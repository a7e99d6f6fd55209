/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Table of ethdev operations, stages of probe, close. */

#include <net/if.h>

#include <rte_malloc.h>

#include "mlxpmd_ctrl.h"
#include "mlxpmd_recorder.h"
#include "mlxpmd_secondary.h"
#include "mlxpmd_variant.h"

static int mlxpmd_dev_close(struct rte_eth_dev *eth_dev);
static int mlxpmd_dev_reset(struct rte_eth_dev *eth_dev);

/* ethdev calls this after another call failed. @return 1 if the device was removed. */
static int
mlxpmd_is_removed(struct rte_eth_dev *eth_dev)
{
	return mdv_removed(MLXPMD_PORT(eth_dev)->mdv);
}

MDV_STATS_GET_OP(stats_get_op, mlxpmd_stats_get)
MDV_PTYPES_GET_OP(ptypes_get_op, mlxpmd_ptypes_get)

static const struct eth_dev_ops mlxpmd_ops = {
	.dev_configure = mlxpmd_dev_configure,
	.dev_start = mlxpmd_dev_start,
	.dev_stop = mlxpmd_dev_stop,
	.dev_set_link_up = mlxpmd_link_up,
	.dev_set_link_down = mlxpmd_link_down,
	.dev_close = mlxpmd_dev_close,
	.dev_reset = mlxpmd_dev_reset,
	.is_removed = mlxpmd_is_removed,
	.link_update = mlxpmd_link_update,
	.promiscuous_enable = mlxpmd_promiscuous_enable,
	.promiscuous_disable = mlxpmd_promiscuous_disable,
	.allmulticast_enable = mlxpmd_allmulticast_enable,
	.allmulticast_disable = mlxpmd_allmulticast_disable,
	.mac_addr_remove = mlxpmd_mac_addr_remove,
	.mac_addr_add = mlxpmd_mac_addr_add,
	.mac_addr_set = mlxpmd_mac_addr_set,
	.set_mc_addr_list = mlxpmd_set_mc_addr_list,
	.mtu_set = mlxpmd_mtu_set,
	.flow_ctrl_get = mlxpmd_flow_ctrl_get,
	.flow_ctrl_set = mlxpmd_flow_ctrl_set,
	.fec_get_capability = mlxpmd_fec_get_capability,
	.fec_get = mlxpmd_fec_get,
	.fec_set = mlxpmd_fec_set,
	.priority_flow_ctrl_set = mlxpmd_priority_flow_ctrl_set,
	.get_module_info = mlxpmd_module_info,
	.get_module_eeprom = mlxpmd_module_eeprom,
	.udp_tunnel_port_add = mlxpmd_udp_tunnel_port_add,
	.stats_get = stats_get_op,
	.stats_reset = mlxpmd_stats_reset,
	.xstats_get = mlxpmd_xstats_get,
	.xstats_reset = mlxpmd_xstats_reset,
	.xstats_get_names = mlxpmd_xstats_get_names,
	.dev_infos_get = mlxpmd_dev_infos_get,
	.rxq_info_get = mlxpmd_rxq_info_get,
	.txq_info_get = mlxpmd_txq_info_get,
	.rx_burst_mode_get = mlxpmd_rx_burst_mode_get,
	.tx_burst_mode_get = mlxpmd_tx_burst_mode_get,
	.fw_version_get = mlxpmd_fw_version_get,
	.get_reg = mlxpmd_get_reg,
	.eth_dev_priv_dump = mlxpmd_priv_dump,
	.dev_supported_ptypes_get = ptypes_get_op,
	.vlan_filter_set = mlxpmd_vlan_filter_set,
	.vlan_strip_queue_set = mlxpmd_vlan_strip_queue_set,
	.vlan_offload_set = mlxpmd_vlan_offload_set,
	.rx_queue_start = mlxpmd_rx_queue_start,
	.rx_queue_stop = mlxpmd_rx_queue_stop,
	.tx_queue_start = mlxpmd_tx_queue_start,
	.tx_queue_stop = mlxpmd_tx_queue_stop,
	.rx_queue_setup = mlxpmd_rx_queue_setup,
	.rx_queue_release = mlxpmd_rx_queue_release,
	.rx_queue_intr_enable = mlxpmd_rx_intr_enable,
	.rx_queue_intr_disable = mlxpmd_rx_intr_disable,
	.tx_queue_setup = mlxpmd_tx_queue_setup,
	.tx_queue_release = mlxpmd_tx_queue_release,
	.tx_done_cleanup = mlxpmd_tx_done_cleanup,
	.set_queue_rate_limit = mlxpmd_queue_rate_set,
	MDV_GET_QUEUE_RATE_LIMIT(mlxpmd_queue_rate_get)
	.rss_hash_update = mlxpmd_rss_hash_update,
	.rss_hash_conf_get = mlxpmd_rss_hash_conf_get,
	.reta_update = mlxpmd_reta_update,
	.reta_query = mlxpmd_reta_query,
	.get_monitor_addr = mlxpmd_rx_monitor_addr,
	.flow_ops_get = mlxpmd_flow_ops_get,
	.rx_metadata_negotiate = mlxpmd_rx_metadata_negotiate,
	.read_clock = mlxpmd_read_clock,
	.timesync_enable = mlxpmd_timesync_enable,
	.timesync_disable = mlxpmd_timesync_disable,
	.timesync_read_rx_timestamp = mlxpmd_timesync_read_rx,
	.timesync_read_tx_timestamp = mlxpmd_timesync_read_tx,
	.timesync_adjust_time = mlxpmd_timesync_adjust,
	.timesync_read_time = mlxpmd_timesync_read_time,
	.timesync_write_time = mlxpmd_timesync_write_time,
};

/* Of a port whose reset failed: it has no device. */
static const struct eth_dev_ops closed_ops = {
	.dev_close = mlxpmd_dev_close,
	.dev_reset = mlxpmd_dev_reset,
};

/* ------------------------------------------------------------------ stages of probe */

static int
device_up(struct mlxpmd_port *port, const struct mdv_recorder_owner *owner)
{
	int rc;

	rc = mdv_open_device(port->eth_dev->device->name, port->args.open, port->args.recorder ? owner : NULL,
			     &port->mdv);
	if (rc != 0)
		return rc;
	if (port->mdv->netdev_name[0] != '\0')
		port->netdev_index = if_nametoindex(port->mdv->netdev_name);
	return 0;
}

static void
device_down(struct mlxpmd_port *port)
{
	mdv_close(port->mdv);
	port->mdv = NULL;
}

static int
tis_up(struct mlxpmd_port *port)
{
	port->tis = mdv_tis_create(port->mdv);
	return port->tis != NULL ? 0 : -rte_errno;
}

static void
tis_down(struct mlxpmd_port *port)
{
	(void)mdv_obj_destroy(port->tis);
	port->tis = NULL;
}

static int
ops_up(struct mlxpmd_port *port)
{
	struct rte_eth_dev *eth_dev = port->eth_dev;

	eth_dev->dev_ops = &mlxpmd_ops;
	eth_dev->rx_pkt_burst = rte_eth_pkt_burst_dummy;
	eth_dev->tx_pkt_burst = rte_eth_pkt_burst_dummy;
	eth_dev->rx_queue_count = mlxpmd_rx_queue_count;
	eth_dev->rx_descriptor_status = mlxpmd_rx_descriptor_status;
	eth_dev->tx_descriptor_status = mlxpmd_tx_descriptor_status;
	eth_dev->data->dev_flags |= RTE_ETH_DEV_AUTOFILL_QUEUE_XSTATS | RTE_ETH_DEV_FLOW_OPS_THREAD_SAFE;
	port->reta_size = mlxpmd_rss_reta_size(&port->mdv->caps, 0);
	return 0;
}

static void
ops_down(struct mlxpmd_port *port)
{
	port->eth_dev->dev_ops = NULL;
	port->eth_dev->rx_pkt_burst = NULL;
	port->eth_dev->tx_pkt_burst = NULL;
}

static const struct mlxpmd_stage probe_stages[] = {
	{ "MAC address", mlxpmd_mac_up, mlxpmd_mac_down },
	{ "MTU", mlxpmd_mtu_remember, mlxpmd_mtu_restore },
	{ "TIS", tis_up, tis_down },
	{ "statistics", mlxpmd_stats_up, mlxpmd_stats_down },
	{ "clock", mlxpmd_clock_open, mlxpmd_clock_close },
	{ "flows", mlxpmd_flows_up, mlxpmd_flows_down },
	{ "operations", ops_up, ops_down },
	{ "telemetry", mlxpmd_telemetry_up, mlxpmd_telemetry_down },
	{ "tasks", mlxpmd_tasks_up, mlxpmd_tasks_down },
	{ "secondary processes", mlxpmd_primary_up, mlxpmd_primary_down },
};

/* ------------------------------------------------------------------ probe and close */

int
mlxpmd_dev_init(struct rte_eth_dev *eth_dev)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	const uint64_t begin_ns = mlxpmd_now_ns();
	struct mdv_recorder_owner owner;
	int rc;

	port->eth_dev = eth_dev;
	port->port_id = eth_dev->data->port_id;
	port->rx_set = port->tx_set = MLXPMD_NO_SET;
	pthread_mutex_init(&port->lock, NULL);
	for (unsigned int kind = 0; kind < MLXPMD_NB_KINDS; kind++)
		TAILQ_INIT(&port->queues[kind]);
	mlxpmd_worker_init(&port->worker, port->port_id);
	rc = mlxpmd_devargs_parse(eth_dev->device->devargs, &port->args);
	if (rc == 0)
		rc = mlxpmd_variant_check(eth_dev->device->name, "rx_burst", port->args.rx_burst);
	if (rc == 0)
		rc = mlxpmd_variant_check(eth_dev->device->name, "tx_burst", port->args.tx_burst);
	if (rc != 0)
		return rc;
	owner = mlxpmd_recorder_owner(port);
	rc = device_up(port, &owner);
	if (rc != 0)
		return rc;
	rc = mlxpmd_stages_up(port, probe_stages, RTE_DIM(probe_stages));
	if (rc != 0) {
		if (port->args.recorder)
			mdv_recorder_probe_failed(port->mdv, &owner, rc);
		device_down(port);
		return rc;
	}
	mlxpmd_record_port(port, MDV_PORT_PROBE, 0, begin_ns);
	MLXPMD_LOG(INFO, "port %u: %s is %s%s%s, firmware %s, " RTE_ETHER_ADDR_PRT_FMT,
		   port->port_id, eth_dev->device->name, port->mdv->ibdev_name,
		   port->mdv->netdev_name[0] != '\0' ? ", interface " : "", port->mdv->netdev_name,
		   port->mdv->fw_version, RTE_ETHER_ADDR_BYTES(&port->mac));
	return 0;
}

static int
mlxpmd_dev_close(struct rte_eth_dev *eth_dev)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	unsigned int kind, i;

	if (eth_dev->dev_ops == &closed_ops)
		return 0;
	mlxpmd_record_port(port, MDV_PORT_CLOSE, 0, mlxpmd_now_ns());
	mlxpmd_telemetry_down(port); /* Telemetry reads the queues no more, */
	mlxpmd_primary_down(port); /* nor do secondary processes. */
	for (kind = 0; kind < MLXPMD_NB_KINDS; kind++)
		for (i = 0; i < mlxpmd_queues_count(eth_dev->data, kind); i++)
			mlxpmd_queue_release(eth_dev, kind, i);
	mlxpmd_stages_down(port, probe_stages, RTE_DIM(probe_stages));
	device_down(port);
	pthread_mutex_destroy(&port->lock);
	return 0;
}

/*
 * Closes the device and opens it again. ethdev has stopped the port; the application configures it again, with new
 * queues. If that fails, the application can close the port, or try again.
 */
static int
mlxpmd_dev_reset(struct rte_eth_dev *eth_dev)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	struct rte_eth_dev_data *data = eth_dev->data;
	struct rte_ether_addr *macs = data->mac_addrs;
	int rc;

	if (port->mdv != NULL && mdv_removed(port->mdv))
		return MLXPMD_FAIL(ENODEV, "port %u: cannot be reset: %s was removed", port->port_id,
				   eth_dev->device->name);
	data->mac_addrs = NULL;
	(void)mlxpmd_dev_close(eth_dev);
	for (unsigned int i = 0; i < data->nb_rx_queues; i++)
		data->rx_queues[i] = NULL;
	for (unsigned int i = 0; i < data->nb_tx_queues; i++)
		data->tx_queues[i] = NULL;
	data->dev_configured = 0;
	memset(port, 0, sizeof(*port));
	rc = mlxpmd_dev_init(eth_dev);
	if (rc == 0) {
		rte_free(macs);
		return 0;
	}
	/* ethdev reads addresses without the driver, and frees them with the port. */
	data->mac_addrs = macs;
	eth_dev->dev_ops = &closed_ops;
	return rc;
}

int
mlxpmd_dev_uninit(struct rte_eth_dev *eth_dev)
{
	if (eth_dev->data->dev_started) {
		(void)mlxpmd_dev_stop(eth_dev);
		eth_dev->data->dev_started = 0;
	}
	return mlxpmd_dev_close(eth_dev);
}
