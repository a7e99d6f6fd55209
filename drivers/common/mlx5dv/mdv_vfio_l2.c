/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * VFIO: the L2 table (MPFS), which assigns unicast addresses to the physical functions of a card that
 * several functions share. In verbs mode the kernel writes it; here the port writes its own entry.
 * As in Linux (mlx5_core, lib/mpfs.c), only the manager of the eswitch may write the table.
 */

#include <string.h>

#include "mdv_vfio.h"

static void
entry_delete(struct mdv_dev *dev, int index)
{
	struct prm_delete_l2_table_entry_in in = { 0 };
	struct prm_delete_l2_table_entry_out out;

	prm_delete_l2_table_entry_in_set_opcode(&in, PRM_CMD_OP_DELETE_L2_TABLE_ENTRY);
	prm_delete_l2_table_entry_in_set_table_index(&in, index);
	(void)mdv_cmd(dev, &in, sizeof(in), &out, sizeof(out));
}

/** A refusal is only logged: the port works, in promiscuous mode also for unicast. */
static int
entry_set(struct mdv_dev *dev, int index, const uint8_t mac[6])
{
	struct prm_set_l2_table_entry_in in = { 0 };
	struct prm_set_l2_table_entry_out out;
	int ret;

	prm_set_l2_table_entry_in_set_opcode(&in, PRM_CMD_OP_SET_L2_TABLE_ENTRY);
	prm_set_l2_table_entry_in_set_table_index(&in, index);
	mdv_mac_fill(prm_set_l2_table_entry_in_mac_address(&in), mac);
	ret = mdv_cmd_try(dev, &in, sizeof(in), &out, sizeof(out));
	if (ret != 0)
		MDV_LOG(WARNING, &dev->pci, "SET_L2_TABLE_ENTRY refused (status 0x%02x, syndrome "
			"0x%x): the card may keep unicast frames from the port unless it is "
			"promiscuous", prm_set_l2_table_entry_out_get_status(&out),
			prm_set_l2_table_entry_out_get_syndrome(&out));
	return ret;
}

void
mdv_vfio_l2_move(struct mdv_dev *dev, const uint8_t mac[6])
{
	int old = dev->vfio->l2_index, index = old == 0 ? 1 : 0;

	/* As Linux: log_max_l2_table 0 means that there is no table (lib/mpfs.c, mlx5_mpfs_init). */
	if (dev->caps.log_max_l2_table == 0 || dev->vfio->l2_refused)
		return;
	if (entry_set(dev, index, mac) != 0) {
		dev->vfio->l2_refused = true;
		return;
	}
	dev->vfio->l2_index = index;
	if (old != MDV_L2_NONE)
		entry_delete(dev, old);
}

int
mdv_vfio_port_up(struct mdv_dev *dev)
{
	uint8_t mac[6];

	if (dev->caps.log_max_l2_table == 0)
		return 0;
	if (mdv_vport_mac(dev, mac) != 0)
		return -rte_errno;
	mdv_vfio_l2_move(dev, mac);
	return 0;
}

void
mdv_vfio_port_down(struct mdv_dev *dev)
{
	if (dev->vfio->l2_index != MDV_L2_NONE && !mdv_removed(dev))
		entry_delete(dev, dev->vfio->l2_index);
	dev->vfio->l2_index = MDV_L2_NONE;
}
