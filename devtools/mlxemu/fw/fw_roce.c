/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * The table of RoCE addresses. The kernel fills it from the IP addresses of the interface, a VFIO owner
 * by command.
 */
#include <string.h>

#include "fw.h"

#define VLAN_VALID 0x1000u

/* Both commands have index and port in the same place. */
static int
entry_check(struct fw_cmd *c, unsigned index, unsigned port)
{
	if (port > 1 || index >= EMU_ROCE_ADDRESSES)
		return fw_refuse(c, FW_ROCE_INDEX, "%u of port %u", index, port);
	return 0;
}

int
fw_query_roce_address(struct fw_cmd *c)
{
	struct prm_roce_addr_layout *to = prm_query_roce_address_out_roce_address(c->out);
	unsigned index = prm_query_roce_address_in_get_roce_address_index(c->in);
	struct emu_roce_address a;
	int ret = entry_check(c, index, prm_query_roce_address_in_get_vhca_port_num(c->in));

	if (ret != 0 || !emu_port_roce(c->dev, index, &a))
		return ret;
	memcpy(prm_roce_addr_layout_source_l3_address(to), a.gid, sizeof(a.gid));
	prm_roce_addr_layout_set_source_mac_47_32(to, (uint32_t)a.mac[0] << 8 | a.mac[1]);
	prm_roce_addr_layout_set_source_mac_31_0(to, (uint32_t)a.mac[2] << 24 |
							     (uint32_t)a.mac[3] << 16 |
							     (uint32_t)a.mac[4] << 8 | a.mac[5]);
	prm_roce_addr_layout_set_roce_version(to, a.version);
	prm_roce_addr_layout_set_roce_l3_type(to, a.l3_type);
	prm_roce_addr_layout_set_vlan_valid(to, (a.vlan & VLAN_VALID) != 0);
	prm_roce_addr_layout_set_vlan_id(to, a.vlan & ~VLAN_VALID);
	return 0;
}

int
fw_set_roce_address(struct fw_cmd *c)
{
	static const uint8_t none[16];
	const struct prm_roce_addr_layout *from = prm_set_roce_address_in_roce_address(c->in);
	unsigned index = prm_set_roce_address_in_get_roce_address_index(c->in);
	struct emu_roce_address a = {
		.written = true,
		.version = (uint8_t)prm_roce_addr_layout_get_roce_version(from),
		.l3_type = (uint8_t)prm_roce_addr_layout_get_roce_l3_type(from),
	};
	uint32_t high = prm_roce_addr_layout_get_source_mac_47_32(from);
	uint32_t low = prm_roce_addr_layout_get_source_mac_31_0(from);
	int ret = entry_check(c, index, prm_set_roce_address_in_get_vhca_port_num(c->in));

	if (ret != 0)
		return ret;
	if (a.version != PRM_ROCE_VERSION_V1 && a.version != PRM_ROCE_VERSION_V2)
		return fw_refuse(c, FW_ROCE_VERSION, "version %u", a.version);
	if (a.l3_type > EMU_ROCE_L3_IPV6)
		return fw_refuse(c, FW_ROCE_VERSION, "l3_type %u", a.l3_type);
	memcpy(a.gid, prm_roce_addr_layout_source_l3_address_c(from), sizeof(a.gid));
	a.mac[0] = (uint8_t)(high >> 8);
	a.mac[1] = (uint8_t)high;
	for (unsigned i = 0; i < 4; i++)
		a.mac[2 + i] = (uint8_t)(low >> (24 - 8 * i));
	/* An entry of zeros removes the address. */
	a.empty = memcmp(a.gid, none, sizeof(none)) == 0;
	if (!a.empty && (a.mac[0] & 1) != 0)
		return fw_refuse(c, FW_VPORT_ADDRESS, "entry %u", index);
	if (prm_roce_addr_layout_get_vlan_valid(from))
		a.vlan = (uint16_t)(prm_roce_addr_layout_get_vlan_id(from) | VLAN_VALID);
	c->dev->vport.roce[index] = a;
	return 0;
}
