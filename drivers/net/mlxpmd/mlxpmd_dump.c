/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * A port as text for a person: rte_eth_dev_priv_dump(). Telemetry has the same for programs.
 *
 * A secondary process prints what is in shared memory: no lock is taken there, no pointer of one process is followed,
 * and no command issued.
 */

#include <inttypes.h>

#include "mlxpmd_clock_refresh.h"
#include "mlxpmd_flow.h"
#include "mlxpmd_secondary.h"

static void
device_dump(const struct mlxpmd_port *port, const struct rte_eth_dev *eth_dev, FILE *file)
{
	const struct mdv_dev *mdv = port->mdv;
	const struct mdv_caps *caps = &mdv->caps;
	char mac[RTE_ETHER_ADDR_FMT_SIZE];

	rte_ether_format_addr(mac, sizeof(mac), &port->mac);
	fprintf(file, "port %u: %s, %s, interface %s, by %s, %s function\n", port->port_id, mdv->name, mdv->ibdev_name,
		mdv->netdev_name[0] != '\0' ? mdv->netdev_name : "none", mdv->mode == MDV_OPEN_VFIO ? "VFIO" : "verbs",
		caps->vf ? "virtual" : mdv->sf ? "sub-" : "physical");
	fprintf(file, "firmware %s, device id 0x%x, commands refused %" PRIu64 "\n", mdv->fw_version,
		caps->pci_device_id, __atomic_load_n(&mdv->refused, __ATOMIC_RELAXED));
	fprintf(file, "address %s, MTU %u of %u, %s%s%s%s\n", mac, eth_dev->data->mtu, caps->max_mtu,
		eth_dev->data->dev_started ? "started" : "stopped", mdv_removed(mdv) ? ", removed" : "",
		mdv_memory_kept(mdv) ? ", memory kept" : "", port->isolated ? ", isolated" : "");
}

/* The strings are of the primary process. */
static void
bursts_dump(const struct mlxpmd_port *port, FILE *file)
{
	fprintf(file, "receive burst: %s (%s)\nsend burst: %s (%s)\n",
		port->rx_burst_name != NULL ? port->rx_burst_name : "none",
		port->rx_burst_why != NULL ? port->rx_burst_why : "the port was not started yet",
		port->tx_burst_name != NULL ? port->tx_burst_name : "none",
		port->tx_burst_why != NULL ? port->tx_burst_why : "the port was not started yet");
}

/* Counters since the probe; index: what the burst has posted, completed and taken from the CQ. */
static void
queue_dump(const struct mlxpmd_queue *q, FILE *file)
{
	const bool tx = q->kind == MLXPMD_TX;
	struct mlxpmd_queue_stats stats;

	mlxpmd_queue_stats_get(q, &stats);
	fprintf(file, "%s%u: %s, %u descriptors, posted %u, completed %u, CQ %u, packets %" PRIu64 ", bytes %" PRIu64,
		tx ? "tx" : "rx", q->queue_id, mlxpmd_qstate_name(mlxpmd_queue_state(q)), q->nb_desc,
		MLXPMD_SHARED_GET(q->pi), MLXPMD_SHARED_GET(q->ci), MLXPMD_SHARED_GET(q->cq_ci), stats.packets,
		stats.bytes);
	if (tx && stats.refused != 0)
		fprintf(file, ", refused %" PRIu64, stats.refused);
	if (stats.errors != 0 || stats.cqe_bad != 0)
		fprintf(file, ", errors %" PRIu64 ", invalid completions %" PRIu64, stats.errors, stats.cqe_bad);
	if (q->syndrome != 0)
		fprintf(file, ", last syndrome %s (vendor 0x%x)", mdv_syndrome_name(q->syndrome), q->vendor_syndrome);
	if (stats.resets != 0 || stats.stalls != 0)
		fprintf(file, ", resets %" PRIu64 ", stalls %" PRIu64, stats.resets, stats.stalls);
	fprintf(file, "\n");
}

/* A queue that is not set up is NULL. */
static void
queues_dump(const struct rte_eth_dev_data *data, FILE *file)
{
	for (uint16_t i = 0; i < data->nb_rx_queues; i++)
		if (data->rx_queues[i] != NULL)
			queue_dump(data->rx_queues[i], file);
	for (uint16_t i = 0; i < data->nb_tx_queues; i++)
		if (data->tx_queues[i] != NULL)
			queue_dump(data->tx_queues[i], file);
}

static void
clock_dump(const struct mlxpmd_port *port, FILE *file)
{
	struct mlxpmd_clock_info info;

	if (port->clock == NULL) {
		fprintf(file, "clock: none\n");
		return;
	}
	mlxpmd_clock_info_get(port->clock, &info);
	fprintf(file, "clock: %s, %s, unit %s, uncertainty %" PRIu64 " ns, read %" PRIu64 " ns ago\n",
		mdv_clock_source_name(info.state.source), mdv_clock_quality_name(info.quality), info.state.unit,
		info.state.uncertainty_ns, info.age_ns);
}

int
mlxpmd_priv_dump(struct rte_eth_dev *eth_dev, FILE *file)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	int rc = 0;

	if (rte_eal_process_type() != RTE_PROC_PRIMARY) {
		if (mlxpmd_secondary_ended(eth_dev))
			return -EIO;
		device_dump(port, eth_dev, file);
		queues_dump(eth_dev->data, file);
		return 0;
	}
	pthread_mutex_lock(&port->lock);
	device_dump(port, eth_dev, file);
	bursts_dump(port, file);
	queues_dump(eth_dev->data, file);
	clock_dump(port, file);
	if (!mdv_removed(port->mdv))
		rc = mlxpmd_drops_print(port, file);
	fprintf(file, "flows: %u\n", port->flows->n);
	pthread_mutex_unlock(&port->lock);
	return rc != 0 ? rc : mlxpmd_flow_dump(eth_dev, NULL, file, NULL);
}
