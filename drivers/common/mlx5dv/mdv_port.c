/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Settings of the port, dispatched to the backend, and queries of the vport. */

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

int
mdv_port_link(struct mdv_dev *dev, struct mdv_link *link)
{
	return dev->backend->port->link(dev, link);
}

int
mdv_port_running(struct mdv_dev *dev, bool *running)
{
	return dev->backend->port->running(dev, running);
}

int
mdv_port_mac(struct mdv_dev *dev, uint8_t mac[6])
{
	return dev->backend->port->mac_get(dev, mac);
}

int
mdv_port_mac_set(struct mdv_dev *dev, const uint8_t mac[6])
{
	return dev->backend->port->mac_set(dev, mac);
}

int
mdv_port_mtu_get(struct mdv_dev *dev, uint16_t *mtu)
{
	return dev->backend->port->mtu_get(dev, mtu);
}

int
mdv_port_mtu_set(struct mdv_dev *dev, uint16_t mtu)
{
	return dev->backend->port->mtu_set(dev, mtu);
}

int
mdv_port_promisc_set(struct mdv_dev *dev, bool on)
{
	return dev->backend->port->promisc_set(dev, on);
}

int
mdv_port_allmulti_set(struct mdv_dev *dev, bool on)
{
	return dev->backend->port->allmulti_set(dev, on);
}

int
mdv_port_mcast(struct mdv_dev *dev, const uint8_t mac[6], bool add)
{
	return dev->backend->port->mcast(dev, mac, add);
}

int
mdv_port_up_get(struct mdv_dev *dev, bool *up)
{
	return dev->backend->port->up_get(dev, up);
}

int
mdv_port_up_set(struct mdv_dev *dev, bool up)
{
	return dev->backend->port->up_set(dev, up);
}
