/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Telemetry: /mlxpmd/list, /mlxpmd/info,PORT and /mlxpmd/queues,PORT; which ports there are for the others.
 *
 * Runs in telemetry's own threads, so it looks only at ports on the list, under its lock, and only
 * at what stands from probe to close, and at queues under the port's lock; the device is not asked
 * anything.
 */

#include <ctype.h>
#include <pthread.h>

#include <rte_telemetry.h>

#include "mlxpmd_clock.h"
#include "mlxpmd_ctrl.h"

static TAILQ_HEAD(, mlxpmd_port) telemetry_ports = TAILQ_HEAD_INITIALIZER(telemetry_ports);
static pthread_mutex_t telemetry_lock = PTHREAD_MUTEX_INITIALIZER;

static struct mlxpmd_port *
port_find(uint16_t port_id)
{
	struct mlxpmd_port *port;

	TAILQ_FOREACH(port, &telemetry_ports, next)
		if (port->port_id == port_id)
			return port;
	return NULL;
}

int
mlxpmd_telemetry_up(struct mlxpmd_port *port)
{
	pthread_mutex_lock(&telemetry_lock);
	TAILQ_INSERT_TAIL(&telemetry_ports, port, next);
	pthread_mutex_unlock(&telemetry_lock);
	return 0;
}

void
mlxpmd_telemetry_down(struct mlxpmd_port *port)
{
	pthread_mutex_lock(&telemetry_lock);
	if (port_find(port->port_id) == port)
		TAILQ_REMOVE(&telemetry_ports, port, next);
	pthread_mutex_unlock(&telemetry_lock);
}

/* Digits only, nothing before or behind them. */
static int
param_port(const char *params, uint16_t *port_id)
{
	unsigned long value = 0;
	const char *p;

	if (params == NULL || params[0] == '\0')
		return -EINVAL;
	for (p = params; *p != '\0'; p++) {
		if (!isdigit((unsigned char)*p))
			return -EINVAL;
		value = value * 10 + (*p - '0');
		if (value >= RTE_MAX_ETHPORTS)
			return -EINVAL;
	}
	*port_id = value;
	return 0;
}

static int
telemetry_list(const char *cmd, const char *params, struct rte_tel_data *d)
{
	struct mlxpmd_port *port;

	RTE_SET_USED(cmd);
	if (params != NULL && params[0] != '\0')
		return -EINVAL;
	rte_tel_data_start_array(d, RTE_TEL_INT_VAL);
	pthread_mutex_lock(&telemetry_lock);
	TAILQ_FOREACH(port, &telemetry_ports, next)
		rte_tel_data_add_array_int(d, port->port_id);
	pthread_mutex_unlock(&telemetry_lock);
	return 0;
}

/* A container is d's once it is added, ours to free until then. */
static int
add_container(struct rte_tel_data *d, const char *name, struct rte_tel_data *child)
{
	int rc = rte_tel_data_add_dict_container(d, name, child, 0);

	if (rc != 0)
		rte_tel_data_free(child);
	return rc;
}

static int
add_capabilities(struct rte_tel_data *d, const struct mdv_caps *caps)
{
	struct rte_tel_data *c = rte_tel_data_alloc();

	if (c == NULL)
		return -ENOMEM;
	rte_tel_data_start_dict(c);
	rte_tel_data_add_dict_int(c, "pci_device_id", caps->pci_device_id);
	rte_tel_data_add_dict_int(c, "vport", caps->vport_num);
	rte_tel_data_add_dict_int(c, "log_max_cq_sz", caps->log_max_cq_sz);
	rte_tel_data_add_dict_int(c, "log_max_wq_sz", caps->log_max_wq_sz);
	rte_tel_data_add_dict_int(c, "log_max_rqt_size", caps->log_max_rqt_size);
	rte_tel_data_add_dict_int(c, "max_sq_desc_bytes", 16 * caps->max_sq_desc_ds);
	rte_tel_data_add_dict_int(c, "min_inline_mode", caps->min_inline_mode);
	rte_tel_data_add_dict_int(c, "max_mtu", caps->max_mtu);
	rte_tel_data_add_dict_u64(c, "device_frequency_khz", caps->device_frequency_khz);
	rte_tel_data_add_dict_int(c, "checksum", caps->csum);
	rte_tel_data_add_dict_int(c, "vlan_insert", caps->vlan_insert);
	rte_tel_data_add_dict_int(c, "vlan_strip", caps->vlan_strip);
	rte_tel_data_add_dict_int(c, "scatter_fcs", caps->scatter_fcs);
	rte_tel_data_add_dict_int(c, "rss", caps->rss_ipv4_ipv6);
	rte_tel_data_add_dict_int(c, "rx_hash_fields", caps->rx_hash_fields);
	rte_tel_data_add_dict_int(c, "multi_packet_wqe", caps->mpw);
	rte_tel_data_add_dict_int(c, "timestamp_free_running", caps->ts_free_running);
	rte_tel_data_add_dict_int(c, "timestamp_real_time", caps->ts_realtime);
	rte_tel_data_add_dict_int(c, "queue_counters", caps->q_counters);
	rte_tel_data_add_dict_int(c, "vport_counters", caps->vport_counters);
	return add_container(d, "capabilities", c);
}

static int
add_burst(struct rte_tel_data *d, const char *direction, const char *name, const char *why)
{
	struct rte_tel_data *c = rte_tel_data_alloc();

	if (c == NULL)
		return -ENOMEM;
	rte_tel_data_start_dict(c);
	rte_tel_data_add_dict_string(c, "name", name != NULL ? name : "none");
	rte_tel_data_add_dict_string(c, "why", why != NULL ? why : "the port was not started yet");
	return add_container(d, direction, c);
}

static int
add_devargs(struct rte_tel_data *d, const struct mlxpmd_devargs *args)
{
	struct rte_tel_data *c = rte_tel_data_alloc();

	if (c == NULL)
		return -ENOMEM;
	rte_tel_data_start_dict(c);
	rte_tel_data_add_dict_string(c, "rx_burst",
				     args->rx_burst == MLXPMD_BURST_SCALAR ? "scalar" : "auto");
	rte_tel_data_add_dict_string(c, "tx_burst",
				     args->tx_burst == MLXPMD_BURST_SCALAR ? "scalar" : "auto");
	rte_tel_data_add_dict_string(c, "clock", mdv_clock_source_name(args->clock));
	rte_tel_data_add_dict_int(c, "stats_age_ms", args->stats_age_ms);
	rte_tel_data_add_dict_string(c, "open", args->open == MDV_OPEN_VFIO ? "vfio" : "verbs");
	return add_container(d, "devargs", c);
}

static void
add_device(struct rte_tel_data *d, const struct mlxpmd_port *port)
{
	const struct mdv_dev *mdv = port->mdv;
	char mac[RTE_ETHER_ADDR_FMT_SIZE];

	rte_ether_format_addr(mac, sizeof(mac), &port->mac);
	rte_tel_data_add_dict_int(d, "port", port->port_id);
	rte_tel_data_add_dict_string(d, "pci", port->eth_dev->device->name);
	rte_tel_data_add_dict_string(d, "device", mdv->ibdev_name);
	rte_tel_data_add_dict_string(d, "interface", mdv->netdev_name);
	rte_tel_data_add_dict_string(d, "firmware", mdv->fw_version);
	rte_tel_data_add_dict_string(d, "mac", mac);
	rte_tel_data_add_dict_int(d, "started", port->eth_dev->data->dev_started);
	rte_tel_data_add_dict_int(d, "gone", mdv_removed(mdv));
	rte_tel_data_add_dict_u64(d, "commands_refused", mdv->refused);
	rte_tel_data_add_dict_string(d, "timestamp_unit", port->clock == NULL ? "none" :
				     port->clock->kind == MDV_CLOCK_TICKS ? "ticks" : "ns");
}

int
mlxpmd_telemetry_ask(const char *params, struct rte_tel_data *d,
		     int (*fill)(struct rte_tel_data *d, struct mlxpmd_port *port, void *arg),
		     void *arg)
{
	struct mlxpmd_port *port;
	uint16_t port_id;
	int rc = param_port(params, &port_id);

	if (rc != 0)
		return rc;
	pthread_mutex_lock(&telemetry_lock);
	port = port_find(port_id);
	if (port != NULL) {
		rte_tel_data_start_dict(d);
		rc = fill(d, port, arg);
	}
	pthread_mutex_unlock(&telemetry_lock);
	return port != NULL ? rc : -ENODEV;
}

struct fill_port {
	int (*fill)(struct rte_tel_data *d, struct mlxpmd_port *port);
};

static int
fill_port(struct rte_tel_data *d, struct mlxpmd_port *port, void *arg)
{
	return ((const struct fill_port *)arg)->fill(d, port);
}

int
mlxpmd_telemetry_port(const char *params, struct rte_tel_data *d,
		      int (*fill)(struct rte_tel_data *d, struct mlxpmd_port *port))
{
	struct fill_port arg = { fill };

	return mlxpmd_telemetry_ask(params, d, fill_port, &arg);
}

static int
add_info(struct rte_tel_data *d, struct mlxpmd_port *port)
{
	int rc;

	add_device(d, port);
	rc = add_devargs(d, &port->args);
	if (rc == 0)
		rc = add_capabilities(d, &port->mdv->caps);
	if (rc == 0)
		rc = add_burst(d, "rx_burst", port->rx_burst_name, port->rx_burst_why);
	if (rc == 0)
		rc = add_burst(d, "tx_burst", port->tx_burst_name, port->tx_burst_why);
	return rc;
}

static int
telemetry_info(const char *cmd, const char *params, struct rte_tel_data *d)
{
	RTE_SET_USED(cmd);
	return mlxpmd_telemetry_port(params, d, add_info);
}

/* ------------------------------------------------------------------ queues */

static int
add_queue(struct rte_tel_data *d, const struct mlxpmd_queue *q)
{
	const bool tx = q->kind == MLXPMD_TX;
	struct rte_tel_data *c = rte_tel_data_alloc();
	struct mlxpmd_queue_stats stats;
	char name[16];

	if (c == NULL)
		return -ENOMEM;
	mlxpmd_queue_stats_get(q, &stats);
	rte_tel_data_start_dict(c);
	rte_tel_data_add_dict_string(c, "state", mlxpmd_qstate_name(mlxpmd_queue_state(q)));
	rte_tel_data_add_dict_u64(c, tx ? "packets_lost" : "completion_errors", stats.errors);
	rte_tel_data_add_dict_u64(c, "completions_refused", stats.cqe_bad);
	rte_tel_data_add_dict_u64(c, "resets", stats.resets);
	if (tx)
		rte_tel_data_add_dict_u64(c, "stalls", stats.stalls);
	rte_tel_data_add_dict_string(c, "last_syndrome",
				     q->syndrome != 0 ? mdv_syndrome_name(q->syndrome) : "none");
	rte_tel_data_add_dict_int(c, "last_vendor_syndrome", q->vendor_syndrome);
	snprintf(name, sizeof(name), "%s%u", tx ? "tx" : "rx", q->queue_id);
	return add_container(d, name, c);
}

static int
add_queues(struct rte_tel_data *d, const struct mlxpmd_port *port)
{
	unsigned int kind, i;
	int rc = 0;

	for (kind = 0; kind < MLXPMD_NB_KINDS; kind++)
		for (i = 0; rc == 0 && i < MLXPMD_MAX_QUEUES; i++)
			if (port->queues[kind][i] != NULL)
				rc = add_queue(d, port->queues[kind][i]);
	return rc;
}

static int
add_queues_locked(struct rte_tel_data *d, struct mlxpmd_port *port)
{
	int rc;

	pthread_mutex_lock(&port->lock);
	rc = add_queues(d, port);
	pthread_mutex_unlock(&port->lock);
	return rc;
}

static int
telemetry_queues(const char *cmd, const char *params, struct rte_tel_data *d)
{
	RTE_SET_USED(cmd);
	return mlxpmd_telemetry_port(params, d, add_queues_locked);
}

RTE_INIT(mlxpmd_telemetry_init)
{
	rte_telemetry_register_cmd("/mlxpmd/queues", telemetry_queues,
				   "State of each queue, its errors, resets and stalls. Parameters: port id");
	rte_telemetry_register_cmd("/mlxpmd/list", telemetry_list,
				   "Ports that mlxpmd drives. Takes no parameters");
	rte_telemetry_register_cmd("/mlxpmd/info", telemetry_info,
				   "Device, firmware, capabilities used, burst functions and why. Parameters: port id");
}
