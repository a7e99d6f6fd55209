/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* PFs under an active LAG. */
#include <stdio.h>

#include "emu_bond.h"

static unsigned bonded;

void
emu_bond_set(struct emu_machine *m, unsigned ports)
{
	bonded = ports;
	for (unsigned i = 0; i < m->ports; i++)
		if (emu_bond(&m->dev[i]) == EMU_BOND_MASTER)
			snprintf(m->dev[i].ibdev_name, sizeof(m->dev[i].ibdev_name), "mlx5_bond_0");
}

enum emu_bond
emu_bond(const struct emu_dev *dev)
{
	if ((bonded >> dev->index & 1) == 0)
		return EMU_BOND_NONE;
	return (bonded & ((1u << dev->index) - 1)) == 0 ? EMU_BOND_MASTER : EMU_BOND_MEMBER;
}
