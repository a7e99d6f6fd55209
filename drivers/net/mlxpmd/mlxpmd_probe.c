/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Probe and remove of a device, on any bus. */

#include <ethdev_driver.h>
#include <rte_malloc.h>

#include "mlxpmd_ctrl.h"
#include "mlxpmd_probe.h"
#include "mlxpmd_secondary.h"

/* On the socket of the device, else on any. */
static void *
private_alloc(const struct rte_device *device)
{
	void *p = rte_zmalloc_socket(device->name, sizeof(struct mlxpmd_port), RTE_CACHE_LINE_SIZE, device->numa_node);

	return p != NULL ? p : rte_zmalloc(device->name, sizeof(struct mlxpmd_port), RTE_CACHE_LINE_SIZE);
}

int
mlxpmd_probe(struct rte_device *device, struct rte_intr_handle *intr_handle)
{
	struct rte_eth_dev *eth_dev;
	int rc = -ENOMEM;

	if (rte_eal_process_type() != RTE_PROC_PRIMARY)
		return mlxpmd_secondary_probe(device, intr_handle);
	/* A bus probes again, at rte_dev_probe(), to get back a port that was closed and not removed. */
	if (rte_eth_dev_allocated(device->name) != NULL)
		return -EEXIST;
	eth_dev = rte_eth_dev_allocate(device->name);
	if (eth_dev == NULL)
		return -ENOMEM;
	eth_dev->device = device;
	eth_dev->intr_handle = intr_handle;
	eth_dev->data->dev_flags = RTE_ETH_DEV_INTR_LSC | RTE_ETH_DEV_INTR_RMV;
	eth_dev->data->numa_node = device->numa_node;
	eth_dev->data->dev_private = private_alloc(device);
	if (eth_dev->data->dev_private != NULL)
		rc = mlxpmd_dev_init(eth_dev);
	if (rc == 0)
		rte_eth_dev_probing_finish(eth_dev);
	else
		rte_eth_dev_release_port(eth_dev);
	return rc;
}

int
mlxpmd_remove(struct rte_device *device)
{
	struct rte_eth_dev *eth_dev;
	int rc;

	if (rte_eal_process_type() != RTE_PROC_PRIMARY)
		return mlxpmd_secondary_remove(device);
	eth_dev = rte_eth_dev_allocated(device->name);
	if (eth_dev == NULL)
		return 0;
	rc = mlxpmd_dev_uninit(eth_dev);
	return rc != 0 ? rc : rte_eth_dev_release_port(eth_dev);
}

static struct mdv_dev *
mdv_of(const struct rte_device *device)
{
	const struct rte_eth_dev *eth_dev = rte_eth_dev_allocated(device->name);

	/* A secondary process cannot register memory that only it has mapped. */
	if (rte_eal_process_type() != RTE_PROC_PRIMARY)
		return NULL;
	return eth_dev != NULL ? MLXPMD_PORT(eth_dev)->mdv : NULL;
}

int
mlxpmd_dma_map(const struct rte_device *device, void *addr, size_t len)
{
	struct mdv_dev *mdv = mdv_of(device);

	return mdv != NULL ? mdv_mr_map_external(mdv, addr, len) : -ENODEV;
}

int
mlxpmd_dma_unmap(const struct rte_device *device, void *addr, size_t len)
{
	struct mdv_dev *mdv = mdv_of(device);

	return mdv != NULL ? mdv_mr_unmap_external(mdv, addr, len) : -ENODEV;
}
