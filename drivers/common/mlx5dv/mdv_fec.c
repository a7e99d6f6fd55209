/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Forward error correction: by register PPLM (VFIO), and by the kernel's interface (verbs). */

#include <net/if.h>

#include <linux/ethtool.h>
#include <linux/sockios.h>

#include "mdv_vfio.h"

#define RS_ANY (PRM_PPLM_FEC_RS_528_514 | PRM_PPLM_FEC_RS_544_514 | PRM_PPLM_FEC_RS_544_514_QUAD)

/** Modes: as the register, as ethtool, and as the kernel's link modes have them. */
static const struct {
	uint32_t mode, pplm, ethtool, link_mode;
} modes[] = {
	{ MDV_FEC_OFF, PRM_PPLM_FEC_NOFEC, ETHTOOL_FEC_OFF, ETHTOOL_LINK_MODE_FEC_NONE_BIT },
	{ MDV_FEC_BASER, PRM_PPLM_FEC_FIRECODE, ETHTOOL_FEC_BASER, ETHTOOL_LINK_MODE_FEC_BASER_BIT },
	{ MDV_FEC_RS, RS_ANY, ETHTOOL_FEC_RS, ETHTOOL_LINK_MODE_FEC_RS_BIT },
	{ MDV_FEC_LLRS, PRM_PPLM_FEC_LLRS_272_257_1, ETHTOOL_FEC_LLRS, ETHTOOL_LINK_MODE_FEC_LLRS_BIT },
};

/* ------------------------------------------------------------------ VFIO */

/** Link modes of the register, by speed; 10 and 40 Gb/s share theirs. */
static const struct {
	uint32_t mbps, lane_gbps;
	uint32_t (*cap)(const struct prm_pplm_reg *reg), (*admin)(const struct prm_pplm_reg *reg);
	void (*admin_set)(struct prm_pplm_reg *reg, uint32_t value);
} links[] = {
#define LINK(mbps_, lane_, name_) \
	{ mbps_, lane_, prm_pplm_reg_get_fec_override_cap_##name_, prm_pplm_reg_get_fec_override_admin_##name_, \
	  prm_pplm_reg_set_fec_override_admin_##name_ }
	LINK(10000, 25, 10g_40g),
	LINK(25000, 25, 25g),
	LINK(40000, 25, 10g_40g),
	LINK(50000, 25, 50g), LINK(50000, 50, 50g_1x),
	LINK(56000, 25, 56g),
	LINK(100000, 25, 100g), LINK(100000, 50, 100g_2x), LINK(100000, 100, 100g_1x),
	LINK(200000, 50, 200g_4x), LINK(200000, 100, 200g_2x),
	LINK(400000, 50, 400g_8x), LINK(400000, 100, 400g_4x),
	LINK(800000, 100, 800g_8x),
};

static uint32_t
from_pplm(uint32_t pplm)
{
	uint32_t mode = 0;

	for (size_t i = 0; i < RTE_DIM(modes); i++)
		if ((pplm & modes[i].pplm) != 0)
			mode |= modes[i].mode;
	return mode;
}

static int
pplm_access(struct mdv_dev *dev, uint8_t op, struct prm_pplm_reg *pplm, const char *what)
{
	int ret;

	prm_pplm_reg_set_local_port(pplm, 1);
	ret = mdv_register_access(dev, PRM_REG_PPLM, op, pplm, sizeof(*pplm), true);
	return ret == 0 ? 0 : MDV_FAIL_DEV(dev, -ret, "cannot %s forward error correction: %s", what,
					   mdv_errno_name(-ret));
}

/**
 * Reads the register, and up to which speed of a lane it has fields. As Linux, mlx5/core/en/port.c,
 * mlx5e_get_fec_mode(): the register exists if PCAM, which is a capability, has its bit.
 */
static int
pplm_read(struct mdv_dev *dev, struct prm_pplm_reg *pplm, uint32_t *lane_gbps)
{
	const struct prm_pcam_enhanced_features *f;
	struct prm_query_hca_cap_out caps;
	struct prm_pcam_reg pcam = { 0 };
	int ret = mdv_caps_page(dev, PRM_HCA_CAP_TYPE_GENERAL, &caps);

	if (ret == 0 && prm_cmd_hca_cap_get_pcam_reg((const void *)prm_query_hca_cap_out_capability_c(&caps)))
		ret = mdv_register_access(dev, PRM_REG_PCAM, PRM_ACCESS_REG_OP_READ, &pcam, sizeof(pcam), false);
	if (ret != 0)
		return ret;
	if (!prm_pcam_regs_5000_to_507f_get_pplm(prm_pcam_reg_regs_5000_to_507f_c(&pcam)))
		return MDV_FAIL(dev->name, ENOTSUP, "the firmware has no register for forward error correction");
	f = prm_pcam_reg_enhanced_features_c(&pcam);
	*lane_gbps = prm_pcam_enhanced_features_get_fec_100G_per_lane_in_pplm(f) ? 100
		     : prm_pcam_enhanced_features_get_fec_50G_per_lane_in_pplm(f) ? 50 : 25;
	return pplm_access(dev, PRM_ACCESS_REG_OP_READ, pplm, "read");
}

int
mdv_vfio_fec_caps(struct mdv_dev *dev, struct mdv_fec_cap caps[MDV_FEC_SPEEDS])
{
	struct prm_pplm_reg pplm = { 0 };
	uint32_t lane_gbps, have;
	int ret = pplm_read(dev, &pplm, &lane_gbps), n = 0;

	if (ret != 0)
		return ret;
	for (size_t i = 0; i < RTE_DIM(links); i++) {
		have = links[i].lane_gbps <= lane_gbps ? from_pplm(links[i].cap(&pplm)) : 0;
		if (have == 0)
			continue;
		if (n == 0 || caps[n - 1].speed_mbps != links[i].mbps)
			caps[n++] = (struct mdv_fec_cap){ .speed_mbps = links[i].mbps, .modes = MDV_FEC_AUTO };
		caps[n - 1].modes |= have;
	}
	return n != 0 ? n : MDV_FAIL(dev->name, ENOTSUP, "the card has no forward error correction to choose from");
}

/* Of lanes of 50 Gb/s and more the administrative field has the number of a bit (mlx5e_fec_admin_field()). */
int
mdv_vfio_fec_get(struct mdv_dev *dev, uint32_t *mode)
{
	struct prm_pplm_reg pplm = { 0 };
	uint32_t lane_gbps, set;
	int ret = pplm_read(dev, &pplm, &lane_gbps);

	if (ret != 0)
		return ret;
	*mode = from_pplm(prm_pplm_reg_get_fec_mode_active(&pplm));
	for (size_t i = 0; i < RTE_DIM(links) && *mode == 0; i++) {
		set = links[i].lane_gbps <= lane_gbps ? links[i].admin(&pplm) : 0;
		*mode = from_pplm(links[i].lane_gbps > 25 && set != 0 ? RTE_BIT32(set & 31) : set);
	}
	if (*mode == 0)
		*mode = MDV_FEC_AUTO;
	return 0;
}

int
mdv_vfio_fec_set(struct mdv_dev *dev, uint32_t mode)
{
	struct prm_pplm_reg pplm = { 0 };
	uint32_t lane_gbps, want = 0, have;
	bool was_up;
	int ret = pplm_read(dev, &pplm, &lane_gbps), up;

	for (size_t i = 0; i < RTE_DIM(modes); i++)
		if (mode == modes[i].mode)
			want = modes[i].pplm;
	for (size_t i = 0; ret == 0 && i < RTE_DIM(links); i++) {
		if (links[i].lane_gbps > lane_gbps)
			continue;
		/* Of RS a link mode has one; the lowest, as Linux selects. */
		have = links[i].cap(&pplm) & want;
		links[i].admin_set(&pplm, have == 0 ? 0 : links[i].lane_gbps > 25 ? (uint32_t)__builtin_ctz(have)
									 : have & -have);
	}
	if (ret == 0)
		ret = dev->port->up_get(dev, &was_up);
	if (ret == 0)
		ret = pplm_access(dev, PRM_ACCESS_REG_OP_WRITE, &pplm, "set");
	if (ret != 0 || !was_up)
		return ret;
	/* It takes effect with a new link (Linux, mlx5_toggle_port_link()). */
	ret = dev->port->up_set(dev, false);
	up = mdv_vfio_up_again(dev);
	return ret != 0 ? ret : up;
}

/* ------------------------------------------------------------------ verbs */

int
mdv_verbs_fec_caps(struct mdv_dev *dev, struct mdv_fec_cap caps[MDV_FEC_SPEEDS])
{
	uint32_t supported[MDV_LINK_MODE_WORDS];
	int ret = mdv_ethtool_link(dev, &caps[0].speed_mbps, supported);

	if (ret != 0)
		return MDV_FAIL_DEV(dev, -ret, "cannot read the link modes of the interface: %s", mdv_errno_name(-ret));
	caps[0].modes = 0;
	for (size_t i = 0; i < RTE_DIM(modes); i++)
		if ((supported[modes[i].link_mode / 32] & RTE_BIT32(modes[i].link_mode % 32)) != 0)
			caps[0].modes |= modes[i].mode;
	if (caps[0].modes == 0)
		return MDV_FAIL(dev->name, ENOTSUP, "interface %s has no forward error correction to choose from",
				dev->netdev_name);
	caps[0].modes |= MDV_FEC_AUTO;
	return 1;
}

int
mdv_verbs_fec_get(struct mdv_dev *dev, uint32_t *mode)
{
	struct ethtool_fecparam param = { .cmd = ETHTOOL_GFECPARAM };
	struct ifreq ifr = { .ifr_data = (void *)&param };
	uint32_t fec;

	if (mdv_netdev_ioctl(dev, SIOCETHTOOL, "read forward error correction", &ifr) != 0)
		return -rte_errno;
	/* Of a link that is down mlx5e_get_fecparam() gives AUTO. */
	fec = (param.active_fec & ~(ETHTOOL_FEC_NONE | ETHTOOL_FEC_AUTO)) != 0 ? param.active_fec : param.fec;
	*mode = 0;
	for (size_t i = 0; i < RTE_DIM(modes); i++)
		if ((fec & modes[i].ethtool) != 0)
			*mode |= modes[i].mode;
	if (*mode == 0)
		*mode = MDV_FEC_AUTO;
	return 0;
}

int
mdv_verbs_fec_set(struct mdv_dev *dev, uint32_t mode)
{
	struct ethtool_fecparam param = { .cmd = ETHTOOL_SFECPARAM, .fec = ETHTOOL_FEC_AUTO };
	struct ifreq ifr = { .ifr_data = (void *)&param };

	for (size_t i = 0; i < RTE_DIM(modes); i++)
		if (mode == modes[i].mode)
			param.fec = modes[i].ethtool;
	return mdv_netdev_ioctl(dev, SIOCETHTOOL, "set forward error correction", &ifr);
}
