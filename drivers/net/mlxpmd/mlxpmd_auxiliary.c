/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Sub-functions: the driver of the auxiliary bus. */

#include <stdio.h>

#include <bus_auxiliary_driver.h>

#include <mdv_compat.h>

#include "mlxpmd_ctrl.h"
#include "mlxpmd_probe.h"

/* The PF's other devices on this bus (mlx5_core.eth.N, mlx5_core.rdma.N) are those of kernel drivers. */
static bool
auxiliary_match(const char *name)
{
	return strncmp(name, MDV_SF_PREFIX, strlen(MDV_SF_PREFIX)) == 0;
}

/* That of the PF: devices on the auxiliary bus have none. */
static int
numa_node(const char *name)
{
	char path[128];
	long node;

	snprintf(path, sizeof(path), MDV_SF_FOLDER "/%s/../numa_node", name);
	return mdv_sysfs_number(path, &node) == 0 ? (int)node : SOCKET_ID_ANY;
}

/*
 * The bus probes all devices unless the user names some. Sub-functions often belong to another program or a container:
 * leave the device alone unless it is named.
 */
static int
auxiliary_probe(struct rte_auxiliary_driver *driver, struct rte_auxiliary_device *aux)
{
	RTE_SET_USED(driver);
	if (aux->device.devargs == NULL) {
		MLXPMD_LOG(INFO, "%s: left alone, -a auxiliary:%s takes it", aux->name, aux->name);
		return 1;
	}
	aux->device.numa_node = numa_node(aux->name);
	return mlxpmd_probe(&aux->device, aux->intr_handle);
}

static int
auxiliary_remove(struct rte_auxiliary_device *aux)
{
	return mlxpmd_remove(&aux->device);
}

static int
auxiliary_dma_map(struct rte_auxiliary_device *aux, void *addr, uint64_t iova, size_t len)
{
	RTE_SET_USED(iova);
	return mlxpmd_dma_map(&aux->device, addr, len);
}

static int
auxiliary_dma_unmap(struct rte_auxiliary_device *aux, void *addr, uint64_t iova, size_t len)
{
	RTE_SET_USED(iova);
	return mlxpmd_dma_unmap(&aux->device, addr, len);
}

static struct rte_auxiliary_driver auxiliary_driver = {
	.driver = { .name = MLXPMD_DRIVER_NAME },
	.match = auxiliary_match,
	.probe = auxiliary_probe,
	.remove = auxiliary_remove,
	.dma_map = auxiliary_dma_map,
	.dma_unmap = auxiliary_dma_unmap,
};

/* As on the PCI bus (mlxpmd_pci.c, register_first()): other drivers of sub-functions are probed after this one. */
RTE_INIT(mlxpmd_auxiliary_register)
{
	struct rte_auxiliary_driver *other, *before;

	rte_auxiliary_register(&auxiliary_driver);
	for (other = MDV_DRIVER_PREV(rte_auxiliary_driver, &auxiliary_driver); other != NULL;
	     other = MDV_DRIVER_PREV(rte_auxiliary_driver, other))
		if (strcmp(other->driver.name, auxiliary_driver.driver.name) == 0)
			return;
	for (other = MDV_DRIVER_PREV(rte_auxiliary_driver, &auxiliary_driver); other != NULL; other = before) {
		before = MDV_DRIVER_PREV(rte_auxiliary_driver, other);
		if (!other->match(MDV_SF_PREFIX "0"))
			continue;
		rte_auxiliary_unregister(other);
		rte_auxiliary_register(other);
	}
}
