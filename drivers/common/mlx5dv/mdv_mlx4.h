/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * Devices of the generation before (ConnectX-3): what they are, and what mlx4dv_query_device(3) tells of them.
 * This layer does not drive them. Nothing here logs.
 */
#ifndef MDV_MLX4_H
#define MDV_MLX4_H

#include <stdint.h>

#include <rte_compat.h>
#include <rte_pci.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The driver of DPDK that serves them. */
#define MDV_MLX4_SERVED_BY "net_mlx4"

struct mdv_mlx4 {
	char ibdev_name[64], fw_version[64];
	const char *card;	/**< "ConnectX-3"; a constant. */
	uint16_t pci_device_id;
	uint8_t ports;
	/* As mlx4dv_query_device() tells: */
	uint8_t version;	/**< Of the layouts in mlx4dv.h. */
	uint32_t max_inl_recv_sz; /**< Bytes that a receive WQE can hold instead of segments. */
	/**
	 * In: fields wanted beyond these; out: those of them that were filled in. The library of rdma-core
	 * (to 64 at least) knows none and gives 0.
	 */
	uint64_t comp_mask;
};

/** Name of an mlx4 card by its PCI device id; NULL: it is none. */
__rte_internal
const char *mdv_mlx4_card(uint16_t pci_device_id);

/**
 * Opens the device at a PCI address, asks, and closes it again. That it is an mlx4 device is made sure of
 * before the library is asked, which takes any context for one.
 *
 * @param pci
 *   Address of the PCI function.
 * @param[in,out] out
 *   out->comp_mask as above; the rest is overwritten, on failure cleared.
 * @return
 *   0; -ENODEV no RDMA device at that address; -ENOTSUP it is no mlx4 device; or what opening or asking
 *   answered. No rte_errno.
 */
__rte_internal
int mdv_mlx4_query(const struct rte_pci_addr *pci, struct mdv_mlx4 *out);

#ifdef __cplusplus
}
#endif
#endif /* MDV_MLX4_H */
