/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* PCI drivers: ids and registration. */

#include <bus_pci_driver.h>

#include <mdv_compat.h>
#include <mdv_mlx4.h>

#include "mlxpmd_ctrl.h"
#include "mlxpmd_probe.h"

static int
mlxpmd_pci_probe(struct rte_pci_driver *driver, struct rte_pci_device *pci)
{
	RTE_SET_USED(driver);
	return mlxpmd_probe(&pci->device, pci->intr_handle);
}

static int
mlxpmd_pci_remove(struct rte_pci_device *pci)
{
	return mlxpmd_remove(&pci->device);
}

static int
mlxpmd_pci_dma_map(struct rte_pci_device *pci, void *addr, uint64_t iova, size_t len)
{
	RTE_SET_USED(iova);
	return mlxpmd_dma_map(&pci->device, addr, len);
}

static int
mlxpmd_pci_dma_unmap(struct rte_pci_device *pci, void *addr, uint64_t iova, size_t len)
{
	RTE_SET_USED(iova);
	return mlxpmd_dma_unmap(&pci->device, addr, len);
}

/* PCI ids: pci.ids, vendor 15b3 (Mellanox Technologies). */
#define MLXPMD_VENDOR 0x15b3
static const struct rte_pci_id mlxpmd_pci_ids[] = {
	{ RTE_PCI_DEVICE(MLXPMD_VENDOR, 0x1013) }, /* ConnectX-4 */
	{ RTE_PCI_DEVICE(MLXPMD_VENDOR, 0x1014) }, /* ConnectX-4 VF */
	{ RTE_PCI_DEVICE(MLXPMD_VENDOR, 0x1015) }, /* ConnectX-4 Lx */
	{ RTE_PCI_DEVICE(MLXPMD_VENDOR, 0x1016) }, /* ConnectX-4 Lx VF */
	{ RTE_PCI_DEVICE(MLXPMD_VENDOR, 0x1017) }, /* ConnectX-5 */
	{ RTE_PCI_DEVICE(MLXPMD_VENDOR, 0x1018) }, /* ConnectX-5 VF */
	{ RTE_PCI_DEVICE(MLXPMD_VENDOR, 0x1019) }, /* ConnectX-5 Ex */
	{ RTE_PCI_DEVICE(MLXPMD_VENDOR, 0x101a) }, /* ConnectX-5 Ex VF */
	{ RTE_PCI_DEVICE(MLXPMD_VENDOR, 0x101b) }, /* ConnectX-6 */
	{ RTE_PCI_DEVICE(MLXPMD_VENDOR, 0x101c) }, /* ConnectX-6 VF */
	{ RTE_PCI_DEVICE(MLXPMD_VENDOR, 0x101d) }, /* ConnectX-6 Dx */
	{ RTE_PCI_DEVICE(MLXPMD_VENDOR, 0x101e) }, /* VF of ConnectX-6 Dx and later */
	{ RTE_PCI_DEVICE(MLXPMD_VENDOR, 0x101f) }, /* ConnectX-6 Lx */
	{ RTE_PCI_DEVICE(MLXPMD_VENDOR, 0x1021) }, /* ConnectX-7 */
	{ RTE_PCI_DEVICE(MLXPMD_VENDOR, 0x1023) }, /* ConnectX-8 */
	{ RTE_PCI_DEVICE(MLXPMD_VENDOR, 0x1025) }, /* ConnectX-9 */
	{ RTE_PCI_DEVICE(MLXPMD_VENDOR, 0x1027) }, /* ConnectX-10 */
	{ RTE_PCI_DEVICE(MLXPMD_VENDOR, 0xa2d2) }, /* BlueField, integrated ConnectX-5 */
	{ RTE_PCI_DEVICE(MLXPMD_VENDOR, 0xa2d3) }, /* BlueField, integrated ConnectX-5 VF */
	{ RTE_PCI_DEVICE(MLXPMD_VENDOR, 0xa2d6) }, /* BlueField-2, integrated ConnectX-6 Dx */
	{ RTE_PCI_DEVICE(MLXPMD_VENDOR, 0xa2dc) }, /* BlueField-3, integrated ConnectX-7 */
	{ RTE_PCI_DEVICE(MLXPMD_VENDOR, 0xa2df) }, /* BlueField-4, integrated ConnectX-8 */
	{ .vendor_id = 0 },
};

static struct rte_pci_driver mlxpmd_pci_driver = {
	.id_table = mlxpmd_pci_ids,
	.drv_flags = RTE_PCI_DRV_PROBE_AGAIN,
	.probe = mlxpmd_pci_probe,
	.remove = mlxpmd_pci_remove,
	.dma_map = mlxpmd_pci_dma_map,
	.dma_unmap = mlxpmd_pci_dma_unmap,
};

/* Whether two drivers' tables name a device in common. */
static bool
ids_overlap(const struct rte_pci_id *a, const struct rte_pci_id *b)
{
	const struct rte_pci_id *k;

	for (; a != NULL && a->vendor_id != 0; a++)
		for (k = b; k != NULL && k->vendor_id != 0; k++)
			if (a->vendor_id == k->vendor_id && a->device_id == k->device_id)
				return true;
	return false;
}

/*
 * The bus probes drivers in the order of their registration. A program that is linked with a driver for the same
 * devices (as dpdk-testpmd with net_mlx5) has registered it before EAL loads plugins (-d). Register such drivers
 * again, behind this one.
 */
static void
register_first(struct rte_pci_driver *driver)
{
	struct rte_pci_driver *other, *before;

	rte_pci_register(driver);
	/* A second copy of this plugin, from the folder of installed ones, does not move the first. */
	for (other = MDV_DRIVER_PREV(rte_pci_driver, driver); other != NULL;
	     other = MDV_DRIVER_PREV(rte_pci_driver, other))
		if (strcmp(other->driver.name, driver->driver.name) == 0)
			return;
	for (other = MDV_DRIVER_PREV(rte_pci_driver, driver); other != NULL; other = before) {
		before = MDV_DRIVER_PREV(rte_pci_driver, other);
		if (!ids_overlap(other->id_table, driver->id_table))
			continue;
		rte_pci_unregister(other);
		rte_pci_register(other);
	}
}

/*
 * Cards of the generation before (mlx4) have the same vendor id and another interface: a driver of its own, which
 * logs what serves them, keeps them out of the table of devices that this plugin claims to support. It returns a
 * positive number, so the bus probes the next driver.
 */
static int
mlx4_probe(struct rte_pci_driver *driver, struct rte_pci_device *pci)
{
	RTE_SET_USED(driver);
	MLXPMD_LOG(NOTICE, "%s: %s (%04x:%04x) is an mlx4 device: " MDV_MLX4_SERVED_BY
		   " serves it (-d librte_net_mlx4.so), mlxpmd does not", pci->name,
		   mdv_mlx4_card(pci->id.device_id), pci->id.vendor_id, pci->id.device_id);
	return 1;
}

/* The ids of net_mlx4. */
static const struct rte_pci_id mlx4_ids[] = {
	{ RTE_PCI_DEVICE(MLXPMD_VENDOR, 0x1003) },
	{ RTE_PCI_DEVICE(MLXPMD_VENDOR, 0x1004) },
	{ RTE_PCI_DEVICE(MLXPMD_VENDOR, 0x1007) },
	{ .vendor_id = 0 },
};

static struct rte_pci_driver mlx4_driver = {
	.driver = { .name = "net_mlxpmd_mlx4" },
	.id_table = mlx4_ids,
	.probe = mlx4_probe,
};

RTE_INIT(mlxpmd_pci_register)
{
	mlxpmd_pci_driver.driver.name = MLXPMD_DRIVER_NAME;
	register_first(&mlxpmd_pci_driver);
	rte_pci_register(&mlx4_driver);
}

MDV_PMD_EXPORT_NAME(net_mlxpmd);
RTE_PMD_REGISTER_PCI_TABLE(net_mlxpmd, mlxpmd_pci_ids);
RTE_PMD_REGISTER_KMOD_DEP(net_mlxpmd, "* ib_uverbs & mlx5_core & mlx5_ib");
#define PARAM(key, allowed) #key "=" allowed " "
RTE_PMD_REGISTER_PARAM_STRING(net_mlxpmd, MLXPMD_DEVARGS(PARAM));
