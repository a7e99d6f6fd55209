/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* What the cases of emu_vfio share: a device opened by libmlx5 through VFIO. */
#ifndef EMU_TEST_VFIO_H
#define EMU_TEST_VFIO_H

#include "client.h"

/** PCI address of a port, as ports are numbered by the emulator. */
const char *vfio_address(unsigned port);
/** NULL and errno when it is refused. */
struct ibv_context *vfio_open(unsigned port);
/** enum mlx5dv_vfio_context_attr_flags */
struct ibv_context *vfio_open_flags(unsigned port, uint32_t flags);
/** QUERY_HCA_CAP of the general capabilities. What mlx5dv_devx_general_cmd() returned. */
int vfio_query_caps(struct ibv_context *ctx);
/** Runs a case in another process, and checks that it passes. */
void vfio_elsewhere(const char *name);

/** Called when the process and the emulator have nearly ended (late.c). */
extern void (*emu_late)(void);

/* The cases; port is that of the machine to use. */
void case_vfio_open(unsigned port);
void case_vfio_traffic(unsigned port);
void case_vfio_unmapped(unsigned port);
void case_vfio_pages(unsigned port);
void case_vfio_tables(unsigned port);
void case_vfio_raw(unsigned port);
void case_vfio_busy(unsigned port);
void case_vfio_request(unsigned port);
void case_vfio_lost(unsigned port);
void case_vfio_stores(unsigned port);
void case_vfio_faults(unsigned port);
void case_vfio_threads(unsigned port);
void case_vfio_fatal(unsigned port);
void case_vfio_remove(unsigned port);
void case_vfio_leave(unsigned port);
void case_vfio_late(unsigned port);
void case_vfio_both(unsigned port);
void case_vfio_shut(unsigned port);

#endif /* EMU_TEST_VFIO_H */
