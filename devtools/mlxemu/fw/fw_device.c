/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Commands on the device, and commands that are always refused. */
#include <string.h>

#include "core/emu_bond.h"
#include "fw.h"

/* Mellanox' IEEE company id. */
#define IEEE_VENDOR_ID 0x0002c9u

int
fw_query_adapter(struct fw_cmd *c)
{
	struct prm_query_adapter_param_block *p =
		prm_query_adapter_out_query_adapter_struct(c->out);
	const char *psid = c->dev->profile->board_id;
	size_t len = strlen(psid);

	prm_query_adapter_param_block_set_ieee_vendor_id(p, IEEE_VENDOR_ID);
	prm_query_adapter_param_block_set_vsd_vendor_id(p, 0x15b3);
	memcpy(prm_query_adapter_param_block_vsd_contd_psid(p), psid, len < 16 ? len : 16);
	return 0;
}

int
fw_query_special_contexts(struct fw_cmd *c)
{
	/* No capability of a special key is set; the reserved lkey is for the kernel. */
	(void)c;
	return 0;
}

int
fw_query_lag(struct fw_cmd *c)
{
	/*
	 * assumed: QUERY_LAG is refused with BAD_OP without lag_master; the kernel sends it only with it
	 * (mlx5_lag_is_supported()). Other reading: lag_state 0. Test: fw/test_caps.c.
	 */
	if (!c->dev->profile->lag_master)
		return fw_refuse(c, FW_NO_LAG, "%s", "lag_master is 0");
	/*
	 * lag_state 0: not bonded. Only the kernel could create a bond.
	 * assumed: queues of each port send by it (tx_remap_affinity). Other reading: a driver that does not set
	 * tx_affinity has other ports. Test: fw/test_caps.c.
	 */
	if (emu_bond(c->dev) != EMU_BOND_NONE) {
		prm_lagc_set_lag_state(prm_query_lag_out_ctx(c->out), 1);
		prm_lagc_set_tx_remap_affinity_1(prm_query_lag_out_ctx(c->out), 1);
		prm_lagc_set_tx_remap_affinity_2(prm_query_lag_out_ctx(c->out), 2);
	}
	return 0;
}

int
fw_nop(struct fw_cmd *c)
{
	(void)c;
	return 0;
}

int
fw_general_object(struct fw_cmd *c)
{
	unsigned type = prm_general_obj_in_cmd_hdr_get_obj_type(c->in);

	return fw_refuse(c, FW_GENERAL_OBJECT, "%s (0x%x)", prm_obj_type_name(type), type);
}

int
fw_kernel_only(struct fw_cmd *c)
{
	return fw_refuse(c, FW_KERNEL_ONLY, "%s", c->desc->name);
}
