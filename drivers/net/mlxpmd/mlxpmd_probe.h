/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* What the drivers of all buses do with a device. */
#ifndef MLXPMD_PROBE_H
#define MLXPMD_PROBE_H

#include <stddef.h>

struct rte_device;
struct rte_intr_handle;

/** 0; a negative errno: the device is ours and failed; a positive number: it is left to the next driver. */
int mlxpmd_probe(struct rte_device *device, struct rte_intr_handle *intr_handle);
int mlxpmd_remove(struct rte_device *device);
/** Memory is registered by virtual address, so that no IOVA is needed. 0 or a negative errno. */
int mlxpmd_dma_map(const struct rte_device *device, void *addr, size_t len);
int mlxpmd_dma_unmap(const struct rte_device *device, void *addr, size_t len);

#endif /* MLXPMD_PROBE_H */
