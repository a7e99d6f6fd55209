/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Cards of the generation before have the vendor's id and other everything: one line says who serves them. A
 * driver entry of its own, so that they do not stand among the devices that this plugin claims to support.
 */

#include <bus_pci_driver.h>

#include <mdv_mlx4.h>

#include "mlxpmd_ctrl.h"

/* Positive: the bus asks the next driver. */
static int
mlx4_probe(struct rte_pci_driver *driver, struct rte_pci_device *pci)
{
	RTE_SET_USED(driver);
	MLXPMD_LOG(NOTICE, "%s: %s (%04x:%04x) is an mlx4 device: " MDV_MLX4_SERVED_BY
		   " serves it (-d librte_net_mlx4.so), mlxpmd does not", pci->name,
		   mdv_mlx4_card(pci->id.device_id), pci->id.vendor_id, pci->id.device_id);
	return 1;
}

/* Those that net_mlx4 takes. */
static const struct rte_pci_id mlx4_ids[] = {
	{ RTE_PCI_DEVICE(0x15b3, 0x1003) },
	{ RTE_PCI_DEVICE(0x15b3, 0x1004) },
	{ RTE_PCI_DEVICE(0x15b3, 0x1007) },
	{ .vendor_id = 0 },
};

static struct rte_pci_driver mlx4_driver = {
	.driver = { .name = "net_mlxpmd_mlx4" },
	.id_table = mlx4_ids,
	.probe = mlx4_probe,
};

RTE_INIT(mlxpmd_mlx4_register)
{
	rte_pci_register(&mlx4_driver);
}
