/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * PFs of one card under an active LAG of the hardware: the first one has the RDMA device of all, mlx5_bond_0, the
 * others have none (Linux, mlx5/core/lag/lag.c, mlx5_activate_lag() and mlx5_lag_add_devices(); infiniband/hw/mlx5/
 * main.c, mlx5_ib_stage_ib_reg_init()). Queues and frames stay with their ports.
 */
#ifndef EMU_BOND_H
#define EMU_BOND_H

#include "emu_dev.h"

enum emu_bond { EMU_BOND_NONE, EMU_BOND_MASTER, EMU_BOND_MEMBER };
#define EMU_BOND_NETDEV "mlxemubond0"

/** Bonds the ports of a mask, of the process's machine; the first one keeps the RDMA device. */
void emu_bond_set(struct emu_machine *m, unsigned ports);
enum emu_bond emu_bond(const struct emu_dev *dev);

#endif /* EMU_BOND_H */
