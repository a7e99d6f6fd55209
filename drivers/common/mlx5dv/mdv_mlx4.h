/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * Identification of ConnectX-3 devices and their attributes from mlx4dv_query_device(3). This layer does
 * not drive them. Nothing here logs.
 */
#ifndef MDV_MLX4_H
#define MDV_MLX4_H

#include <stdint.h>

#include <rte_compat.h>
#include <rte_pci.h>

/** The DPDK driver of these devices. */
#define MDV_MLX4_SERVED_BY "net_mlx4"

struct mdv_mlx4 {
	char ibdev_name[64], fw_version[64];
	const char *card;	/**< "ConnectX-3"; a constant. */
	uint16_t pci_device_id;
	uint8_t ports;
	/* From mlx4dv_query_device(3): */
	uint8_t version;	/**< Version of the layouts in mlx4dv.h. */
	uint32_t max_inl_recv_sz; /**< Largest inline receive, bytes. */
	/**
	 * In: optional fields requested; out: those that were returned. rdma-core defines none up to
	 * version 64 at least and returns 0.
	 */
	uint64_t comp_mask;
};

/** Name of an mlx4 card by its PCI device id; NULL: not an mlx4 card. */
__rte_internal
const char *mdv_mlx4_card(uint16_t pci_device_id);

/**
 * Opens the device at a PCI address, reads its attributes and closes it.
 *
 * @param pci
 *   Address of the PCI function.
 * @param[in,out] out
 *   out->comp_mask as above; the rest is overwritten, on failure cleared.
 * @return
 *   0; -ENODEV no RDMA device at that address; -ENOTSUP not an mlx4 device; or the error of opening or
 *   querying it. Does not set rte_errno.
 */
__rte_internal
int mdv_mlx4_query(const struct rte_pci_addr *pci, struct mdv_mlx4 *out);

#endif /* MDV_MLX4_H */
