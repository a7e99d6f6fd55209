/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Forward error correction as Linux gives it to programs: mlx5/core/en_ethtool.c and en/port.c. */
#include <errno.h>
#include <linux/ethtool.h>

#include <prm.h>

#include "abi/abi.h"

/* In the order in which Linux searches them (pplm_fec_2_ethtool). */
static const struct {
	uint16_t mode, bit; /* PRM_PPLM_FEC_*; of the link mode mask */
	uint32_t ethtool;
} modes[] = {
	{PRM_PPLM_FEC_NOFEC, ETHTOOL_LINK_MODE_FEC_NONE_BIT, ETHTOOL_FEC_OFF},
	{PRM_PPLM_FEC_FIRECODE, ETHTOOL_LINK_MODE_FEC_BASER_BIT, ETHTOOL_FEC_BASER},
	{PRM_PPLM_FEC_RS_528_514, ETHTOOL_LINK_MODE_FEC_RS_BIT, ETHTOOL_FEC_RS},
	{PRM_PPLM_FEC_RS_544_514, ETHTOOL_LINK_MODE_FEC_RS_BIT, ETHTOOL_FEC_RS},
};
#define MODES (sizeof(modes) / sizeof(modes[0]))

static uint32_t
to_ethtool(uint16_t mode)
{
	for (unsigned i = 0; i < MODES; i++)
		if ((modes[i].mode & mode) != 0)
			return modes[i].ethtool;
	return ETHTOOL_FEC_AUTO;
}

void
abi_ethtool_fec_supported(const struct emu_dev *dev, uint32_t *mask)
{
	/* The register of a virtual function cannot be read: get_fec_supported_advertised() adds nothing. */
	for (unsigned link = 0; dev->vf == 0 && link < EMU_FEC_LINKS; link++)
		for (unsigned i = 0; i < MODES; i++)
			if ((emu_fec_caps(dev->profile, link) & modes[i].mode) != 0)
				mask[modes[i].bit / 32] |= 1u << modes[i].bit % 32;
}

/* Of a virtual function the firmware refuses the register with BAD_PARAM; mlx4_en does not have these functions. */
static int
access(const struct emu_dev *dev)
{
	return dev->profile->mlx4 ? -EOPNOTSUPP : dev->vf != 0 ? -EINVAL : 0;
}

int
abi_ethtool_fec(const struct emu_dev *dev, void *arg)
{
	struct ethtool_fecparam *p = arg;
	int ret = access(dev);
	uint16_t set = 0;

	if (ret != 0)
		return ret;
	/* mlx5e_get_fec_mode(): of the first link mode for which one is set. */
	for (unsigned link = 0; link < EMU_FEC_LINKS && set == 0; link++)
		set = dev->fec_admin[link];
	p->active_fec = to_ethtool(emu_fec_active(dev));
	p->fec = to_ethtool(set);
	return 0;
}

/* mlx5e_set_fecparam(): link modes that do not have it select by themselves, and the port is set down and up. */
int
abi_ethtool_set_fec(struct emu_dev *dev, const void *arg)
{
	const struct ethtool_fecparam *p = arg;
	int ret = access(dev);
	bool up = dev->admin_up;

	if (p->fec == 0 || (p->fec & ETHTOOL_FEC_NONE) != 0) /* net/ethtool/ioctl.c, ethtool_set_fecparam() */
		return -EINVAL;
	if (ret != 0 || __builtin_popcount(p->fec) > 1)
		return ret != 0 ? ret : -EOPNOTSUPP;
	/* mlx5e_set_fec_mode(): without lanes of 50 Gb/s there is no LLRS, and this model has none with them. */
	if (p->fec == ETHTOOL_FEC_LLRS && !emu_fec_lanes_50g(dev->profile))
		return -EOPNOTSUPP;
	for (unsigned link = 0; link < EMU_FEC_LINKS; link++) {
		dev->fec_admin[link] = 0;
		for (unsigned i = 0; i < MODES; i++)
			if (modes[i].ethtool == p->fec)
				dev->fec_admin[link] |= modes[i].mode & emu_fec_caps(dev->profile, link);
	}
	emu_port_set_admin(dev, false);
	emu_port_set_admin(dev, up);
	emu_trace_note(dev, "%s: forward error correction 0x%x", dev->netdev_name, p->fec);
	return 0;
}
