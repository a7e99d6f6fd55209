/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Queries of the vport, and the stages that set up and release the port. */

#include <string.h>

#include "mdv_private.h"

int
mdv_port_open(struct mdv_dev *dev)
{
	return dev->backend->port_up(dev);
}

void
mdv_port_close(struct mdv_dev *dev)
{
	dev->backend->port_down(dev);
}

int
mdv_vport_query(struct mdv_dev *dev, struct prm_query_nic_vport_context_out *out)
{
	struct prm_query_nic_vport_context_in in = { 0 };

	prm_query_nic_vport_context_in_set_opcode(&in, PRM_CMD_OP_QUERY_NIC_VPORT_CONTEXT);
	return mdv_cmd(dev, &in, sizeof(in), out, sizeof(*out));
}

int
mdv_vport_mac(struct mdv_dev *dev, uint8_t mac[6])
{
	struct prm_query_nic_vport_context_out out;
	const struct prm_mac_address_layout *addr;
	uint32_t high, low;

	if (mdv_vport_query(dev, &out) != 0)
		return -rte_errno;
	addr = prm_nic_vport_context_permanent_address_c(
		prm_query_nic_vport_context_out_nic_vport_context_c(&out));
	high = prm_mac_address_layout_get_mac_addr_47_32(addr);
	low = prm_mac_address_layout_get_mac_addr_31_0(addr);
	mac[0] = high >> 8;
	mac[1] = high;
	for (int i = 0; i < 4; i++)
		mac[2 + i] = low >> (24 - 8 * i);
	return 0;
}

void
mdv_mac_fill(struct prm_mac_address_layout *addr, const uint8_t mac[6])
{
	prm_mac_address_layout_set_mac_addr_47_32(addr, (uint32_t)mac[0] << 8 | mac[1]);
	prm_mac_address_layout_set_mac_addr_31_0(addr, (uint32_t)mac[2] << 24 | mac[3] << 16 |
						       mac[4] << 8 | mac[5]);
}

bool
mdv_port_owned(const struct mdv_dev *dev)
{
	return dev->backend->exclusive || dev->netdev_name[0] != '\0';
}
