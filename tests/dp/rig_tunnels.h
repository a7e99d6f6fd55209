/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Frames with the headers that steering knows: tunnels, tags, ESP, ICMP, MPLS. */
#ifndef DP_RIG_TUNNELS_H
#define DP_RIG_TUNNELS_H

#include "rig.h"

#define RIG_LABEL 0xabcdeu /* IPv6 flow label */

/** What is special in a frame; the first one is UDP over IPv4. CC: two C-VLAN tags. */
enum rig_tunnel {
	RIG_PLAIN, RIG_VXLAN, RIG_GENEVE, RIG_GRE_ALL, RIG_GRE_IP, RIG_NVGRE, RIG_IPIP, RIG_IPV6_UDP,
	RIG_QINQ, RIG_CC, RIG_ESP, RIG_ESP6, RIG_VXLAN_ESP, RIG_VXLAN_CC, RIG_UDP_ESP, RIG_TCP4, RIG_ICMP,
	RIG_ICMP6, RIG_VXLAN_ICMP, RIG_MPLS, RIG_VXLAN_MPLS, RIG_GRE_MPLS, RIG_UDP_MPLS, RIG_GPE,
	RIG_GTPU, RIG_KINDS
};

void rig_tunnel_frame(struct rig_frame *f, const struct emu_dev *to, enum rig_tunnel kind);

#endif /* DP_RIG_TUNNELS_H */
