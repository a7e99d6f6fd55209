/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Address handles, and the MAC addresses of GIDs. */
#include <errno.h>
#include <string.h>

#include "uverbs_obj.h"

#define DEFAULT_TTL 64u

static bool
gid_is_link_local(const uint8_t gid[16])
{
	static const uint8_t prefix[8] = {0xfe, 0x80};

	return memcmp(gid, prefix, sizeof(prefix)) == 0;
}

/* An interface identifier of the modified EUI-64 kind holds the MAC address. */
static void
mac_of_eui64(const uint8_t gid[16], uint8_t mac[6])
{
	memcpy(mac, gid + 8, 3);
	memcpy(mac + 3, gid + 13, 3);
	mac[0] ^= 2;
}

static bool
port_has_gid(const struct emu_dev *dev, const uint8_t dgid[16])
{
	uint8_t gid[16];
	unsigned i;

	for (i = 0; i < EMU_PORT_GIDS; i++)
		if (emu_port_gid(dev, i, gid) && memcmp(gid, dgid, sizeof(gid)) == 0)
			return true;
	return false;
}

int
abi_resolve_dmac(struct abi_call *call, const uint8_t dgid[16], uint8_t mac[6], uint8_t *hop_limit)
{
	const struct emu_machine *m = emu_machine_of(call->dev);
	unsigned i;

	if (dgid[0] == 0xff) {
		mac[0] = mac[1] = 0x33;
		memcpy(mac + 2, dgid + 12, 4);
		return 0;
	}
	if (gid_is_link_local(dgid)) {
		mac_of_eui64(dgid, mac);
		return 0;
	}
	for (i = 0; i < m->ports; i++) {
		if (!port_has_gid(&m->dev[i], dgid))
			continue;
		memcpy(mac, m->dev[i].vport.mac, 6);
		*hop_limit = DEFAULT_TTL;
		return 0;
	}
	return abi_refuse(call, -EHOSTUNREACH, "no port has this GID");
}

int
abi_create_ah(struct abi_call *call)
{
	struct mlx5_ib_create_ah_resp uhw = {.response_length = sizeof(uhw)};
	struct ib_uverbs_create_ah in;
	struct abi_handle *pd, *h;
	uint8_t gid[16], hops = 0;
	int ret = abi_in(call, UVERBS_ATTR_CORE_IN, &in, sizeof(in));

	if (ret != 0)
		return ret;
	pd = abi_handle_of(call, in.pd_handle, UVERBS_OBJECT_PD);
	if (pd == NULL)
		return -EINVAL;
	/* RoCE has no LIDs: a GID is required. */
	if (in.attr.port_num != 1 || !in.attr.is_global ||
	    !emu_port_gid(call->dev, in.attr.grh.sgid_index, gid))
		return abi_refuse(call, -EINVAL, "address from GID %u of port %u%s",
				  in.attr.grh.sgid_index, in.attr.port_num,
				  in.attr.is_global ? "" : " without a global header");
	ret = abi_resolve_dmac(call, in.attr.grh.dgid, uhw.dmac, &hops);
	if (ret != 0)
		return ret;
	h = abi_verbs_new(call, UVERBS_OBJECT_AH, in.user_handle);
	if (h == NULL)
		return -ENOMEM;
	abi_verbs_use(h, pd);
	ret = abi_out_u32(call, UVERBS_ATTR_CORE_OUT, h->id);
	if (ret == 0)
		ret = abi_out(call, UVERBS_ATTR_UHW_OUT, &uhw, sizeof(uhw));
	return ret != 0 ? abi_verbs_undo(call, h, ret) : 0;
}
