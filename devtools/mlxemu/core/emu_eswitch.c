/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Vports of a PF in switchdev mode. */
#include <errno.h>

#include "emu_dev.h"

char
emu_eswitch_mode(bool metadata, unsigned vfs)
{
	return (char)((metadata ? 'A' : 'a') + vfs);
}

void
emu_eswitch_set(struct emu_dev *dev, char mode)
{
	dev->eswitch.on = mode != '0';
	dev->eswitch.no_metadata = mode >= 'a';
	dev->eswitch.vfs = (uint8_t)(mode == '0' ? 0 : mode >= 'a' ? mode - 'a' : mode - 'A');
}

unsigned
emu_ib_ports(const struct emu_dev *dev)
{
	return dev->eswitch.on ? dev->eswitch.vfs + 2u : 1u;
}

unsigned
emu_ib_port(const struct emu_dev *dev)
{
	return emu_ib_ports(dev);
}

int
emu_ib_port_vport(const struct emu_dev *dev, uint64_t port, uint16_t *vport)
{
	unsigned ports = emu_ib_ports(dev);

	if (port == 0 || port > ports)
		return -EINVAL;
	*vport = (uint16_t)(port == ports ? EMU_VPORT_UPLINK : port - 1);
	return dev->eswitch.on && *vport != 0 ? 0 : -EOPNOTSUPP;
}

/*
 * Linux, eswitch_offloads.c, mlx5_esw_match_metadata_alloc(): four bits of the PF, then a number above that of
 * MLX5_ESW_METADATA_RSVD_UPLINK.
 * assumed: numbers are given in the order of the vports. Other reading: vports are enabled in another order; only the
 * value that MLX5_IB_METHOD_QUERY_PORT reports is certain. Test:
 * emu/test_switchdev.py.
 */
uint32_t
emu_eswitch_metadata(const struct emu_dev *dev, unsigned port)
{
	if (!dev->eswitch.on || dev->eswitch.no_metadata)
		return 0;
	return (uint32_t)((dev->index & 1) << 12 | (port + 1)) << 16;
}
