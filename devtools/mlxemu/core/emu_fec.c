/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Forward error correction of the port, by link mode as register PPLM has them. */
#include <prm.h>

#include "emu_dev.h"

/* From this speed on a port has lanes of 50 Gb/s. */
#define LANES_50G_FROM_MBPS 200000u

/*
 * What IEEE 802.3 defines: clause 74 (FIRECODE) and 108 or 91 (RS_528_514) for lanes of 10 and 25 Gb/s, clause 119
 * (RS_544_514) for those of 50 Gb/s, which cannot do without. `usual` is what automatic selection finds.
 */
static const struct fec_link {
	uint32_t mbps;
	bool lanes_50g;
	uint16_t caps, usual;
} links[EMU_FEC_LINKS] = {
#define CLAUSE_74 (PRM_PPLM_FEC_NOFEC | PRM_PPLM_FEC_FIRECODE)
	[EMU_FEC_10G_40G] = {10000, false, CLAUSE_74, PRM_PPLM_FEC_NOFEC},
	[EMU_FEC_25G] = {25000, false, CLAUSE_74 | PRM_PPLM_FEC_RS_528_514, PRM_PPLM_FEC_RS_528_514},
	[EMU_FEC_50G] = {50000, false, CLAUSE_74 | PRM_PPLM_FEC_RS_528_514, PRM_PPLM_FEC_RS_528_514},
	[EMU_FEC_100G] = {100000, false, PRM_PPLM_FEC_NOFEC | PRM_PPLM_FEC_RS_528_514, PRM_PPLM_FEC_RS_528_514},
	[EMU_FEC_50G_1X] = {50000, true, PRM_PPLM_FEC_RS_544_514, PRM_PPLM_FEC_RS_544_514},
	[EMU_FEC_100G_2X] = {100000, true, PRM_PPLM_FEC_RS_544_514, PRM_PPLM_FEC_RS_544_514},
	[EMU_FEC_200G_4X] = {200000, true, PRM_PPLM_FEC_RS_544_514, PRM_PPLM_FEC_RS_544_514},
	[EMU_FEC_400G_8X] = {400000, true, PRM_PPLM_FEC_RS_544_514, PRM_PPLM_FEC_RS_544_514},
};

bool
emu_fec_lanes_50g(const struct emu_profile *p)
{
	return p->speed_mbps >= LANES_50G_FROM_MBPS;
}

uint16_t
emu_fec_caps(const struct emu_profile *p, unsigned link)
{
	const struct fec_link *l = &links[link];

	return l->mbps != 0 && l->mbps <= p->speed_mbps && (!l->lanes_50g || emu_fec_lanes_50g(p)) ? l->caps : 0;
}

/* The link mode of the port; EMU_FEC_LINKS: none of them has its speed. */
static unsigned
link_of(const struct emu_profile *p)
{
	unsigned link;

	if (p->speed_mbps == 40000)
		return EMU_FEC_10G_40G;
	for (link = 0; link < EMU_FEC_LINKS; link++)
		if (links[link].mbps == p->speed_mbps && links[link].lanes_50g == emu_fec_lanes_50g(p))
			break;
	return link;
}

void
emu_fec_begin(struct emu_dev *dev)
{
	unsigned link = link_of(dev->profile);

	dev->fec_on = link < EMU_FEC_LINKS ? dev->fec_admin[link] : 0;
}

uint16_t
emu_fec_active(const struct emu_dev *dev)
{
	unsigned link = link_of(dev->profile);

	if (!dev->link_up || link == EMU_FEC_LINKS)
		return 0;
	return dev->fec_on != 0 ? dev->fec_on : links[link].usual;
}
