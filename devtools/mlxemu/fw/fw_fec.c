/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Register PPLM: forward error correction by link mode. */
#include <string.h>

#include "fw.h"

static const struct {
	void (*cap_set)(struct prm_pplm_reg *reg, uint32_t modes);
	void (*admin_set)(struct prm_pplm_reg *reg, uint32_t value);
	uint32_t (*admin_get)(const struct prm_pplm_reg *reg);
} fields[EMU_FEC_LINKS] = {
#define FIELDS(link_, name_) \
	[EMU_FEC_##link_] = {prm_pplm_reg_set_fec_override_cap_##name_, prm_pplm_reg_set_fec_override_admin_##name_, \
			     prm_pplm_reg_get_fec_override_admin_##name_}
	FIELDS(10G_40G, 10g_40g), FIELDS(25G, 25g), FIELDS(50G, 50g), FIELDS(56G, 56g), FIELDS(100G, 100g),
	FIELDS(50G_1X, 50g_1x), FIELDS(100G_2X, 100g_2x), FIELDS(200G_4X, 200g_4x), FIELDS(400G_8X, 400g_8x),
};

/* Linux, mlx5/core/en/port.c, mlx5e_fec_admin_field(): with lanes of 50 Gb/s and more the number of a bit, 0 none. */
static uint32_t
admin_value(unsigned link, uint16_t mode)
{
	return link < EMU_FEC_50G_1X || mode == 0 ? mode : (uint32_t)__builtin_ctz(mode);
}

static uint32_t
admin_mode(unsigned link, uint32_t value)
{
	return link < EMU_FEC_50G_1X || value == 0 ? value : value < 16 ? 1u << value : UINT32_MAX;
}

void
fw_pplm_read(const struct emu_dev *dev, struct prm_pplm_reg *reg)
{
	unsigned local_port = prm_pplm_reg_get_local_port(reg);

	memset(reg, 0, sizeof(*reg));
	prm_pplm_reg_set_local_port(reg, local_port);
	prm_pplm_reg_set_fec_mode_active(reg, emu_fec_active(dev));
	for (unsigned link = 0; link < EMU_FEC_LINKS; link++) {
		fields[link].cap_set(reg, emu_fec_caps(dev->profile, link));
		fields[link].admin_set(reg, admin_value(link, dev->fec_admin[link]));
	}
}

/*
 * assumed: a mode that the link mode does not have is refused, and more than one. Other reading: the firmware selects
 * by itself. Linux gives only modes that the register offers (mlx5e_set_fec_mode()). Test: fw/test_registers.c.
 */
int
fw_pplm_write(struct fw_cmd *c, const struct prm_pplm_reg *reg)
{
	uint16_t modes[EMU_FEC_LINKS];

	if (prm_pplm_reg_get_rs_fec_correction_bypass_admin(reg) != 0)
		return fw_refuse(c, FW_REG_SETTING, "%s", "rs_fec_correction_bypass_admin");
	for (unsigned link = 0; link < EMU_FEC_LINKS; link++) {
		uint32_t mode = admin_mode(link, fields[link].admin_get(reg));

		if ((mode & ~emu_fec_caps(c->dev->profile, link)) != 0 || (mode & (mode - 1)) != 0)
			return fw_refuse(c, FW_REG_VALUE, "forward error correction 0x%x of link mode %u",
					 fields[link].admin_get(reg), link);
		modes[link] = (uint16_t)mode;
	}
	memcpy(c->dev->fec_admin, modes, sizeof(modes));
	return 0;
}
