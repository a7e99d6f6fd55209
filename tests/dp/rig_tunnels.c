/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Frames with the headers that steering knows. */
#include "rig_tunnels.h"

/* A tunnel: IP, UDP if there is a port, a header, and another frame without its first bytes. */
static void
wrap(struct rig_frame *f, const struct emu_dev *to, unsigned version, unsigned proto, unsigned port,
     const void *header, unsigned bytes, const struct rig_frame *inner, unsigned cut)
{
	unsigned ip = version == 4 ? 34 : 54, at = ip + (port != 0 ? 8 : 0), rest = bytes + inner->len - cut;

	rig_ip_frame(f, to, version, 17, port != 0 ? rest : rest - 8, 0, -1);
	f->data[version == 4 ? 23 : 20] = (uint8_t)proto;
	if (port != 0)
		memcpy(f->data + ip + 2, (uint8_t[]){(uint8_t)(port >> 8), (uint8_t)port}, 2);
	memcpy(f->data + at, header, bytes);
	memcpy(f->data + at + bytes, inner->data + cut, inner->len - cut);
}

/* One more tag before the others. */
static void
tag_push(struct rig_frame *f, unsigned tpid, unsigned tci)
{
	memmove(f->data + 16, f->data + 12, f->len - 12);
	f->len += 4;
	memcpy(f->data + 12, (uint8_t[]){(uint8_t)(tpid >> 8), (uint8_t)tpid, (uint8_t)(tci >> 8), (uint8_t)tci}, 4);
}

/* The frame inside tunnels: two tags, IPv6 with a flow label, TCP. */
static void
inner_frame(struct rig_frame *f, const struct emu_dev *to)
{
	rig_ip_frame(f, to, 6, 6, 30, 0, 0x5234);
	memcpy(f->data, "\x0a\x0b\x0c\x0d\x0e\x0f\x06\x05\x04\x03\x02\x01", 12);
	f->data[18] = 0x6a; /* traffic class 0xa5 */
	f->data[19] = 0x50 | RIG_LABEL >> 16;
	f->data[20] = (uint8_t)(RIG_LABEL >> 8);
	f->data[21] = (uint8_t)RIG_LABEL;
	memcpy(f->data + 18 + 40 + 4, "\x71\x72\x73\x74\x81\x82\x83\x84", 8);
	rig_fix_checksums(f, 18);
	tag_push(f, 0x88a8, 0xb777);
}

static void
icmp_frame(struct rig_frame *f, const struct emu_dev *to, unsigned version)
{
	static const uint8_t header[] = {0x88, 0x03, 0, 0, 0xca, 0xfe, 0x12, 0x34};

	rig_ip_frame(f, to, version, version == 4 ? 1 : 58, 20, 0, -1);
	memcpy(f->data + (version == 4 ? 34 : 54), header, sizeof(header));
}

void
rig_tunnel_frame(struct rig_frame *f, const struct emu_dev *to, enum rig_tunnel kind)
{
	static const uint8_t vni[] = {8, 0, 0, 0, 0x12, 0x34, 0x56, 0}, esp[] = {0xde, 0xad, 0xbe, 0xef, 0, 0, 0, 1};
	static const uint8_t mpls[] = {0x12, 0x34, 0x5a, 0x3c};
	static const uint8_t geneve[] = {2, 0x80, 0x65, 0x58, 0x65, 0x43, 0x21, 0, 1, 2, 3, 1, 9, 9, 9, 9};
	static const uint8_t gre[] = {0xb0, 0, 0x65, 0x58, 1, 2, 3, 4, 0x11, 0x22, 0x33, 0x44, 0, 0, 0, 7};
	struct rig_frame inner, udp4;

	inner_frame(&inner, to);
	rig_ip_frame(&udp4, to, 4, 17, 20, 0, -1);
	*f = udp4;
	if (kind == RIG_VXLAN) {
		wrap(f, to, 4, 17, 4789, vni, sizeof(vni), &inner, 0);
	} else if (kind == RIG_VXLAN_CC) {
		tag_push(&udp4, 0x8100, 0x0123);
		tag_push(&udp4, 0x8100, 0x0456);
		wrap(f, to, 6, 17, 4789, vni, sizeof(vni), &udp4, 0);
	} else if (kind == RIG_VXLAN_ESP) {
		rig_ip_frame(&udp4, to, 4, 50, 20, 0, -1);
		memcpy(udp4.data + 34, esp, sizeof(esp));
		wrap(f, to, 4, 17, 4789, vni, sizeof(vni), &udp4, 0);
	} else if (kind == RIG_GENEVE) {
		wrap(f, to, 4, 17, 6081, geneve, sizeof(geneve), &inner, 0);
	} else if (kind == RIG_GRE_ALL) {
		wrap(f, to, 4, 47, 0, gre, sizeof(gre), &inner, 0);
	} else if (kind == RIG_GRE_IP) {
		wrap(f, to, 6, 47, 0, "\0\0\x08", 4, &udp4, 14);
	} else if (kind == RIG_NVGRE) {
		wrap(f, to, 4, 47, 0, "\x20\0\x65\x58\xaa\xbb\xcc\xdd", 8, &inner, 0);
	} else if (kind == RIG_IPIP) {
		wrap(f, to, 6, 4, 0, "", 0, &udp4, 14);
	} else if (kind == RIG_IPV6_UDP) {
		rig_ip_frame(f, to, 6, 17, 20, 0, -1);
		f->data[15] = RIG_LABEL >> 16;
		f->data[16] = (uint8_t)(RIG_LABEL >> 8);
		f->data[17] = (uint8_t)RIG_LABEL;
	} else if (kind == RIG_QINQ || kind == RIG_CC) {
		tag_push(f, 0x8100, 0xb345);
		tag_push(f, kind == RIG_QINQ ? 0x88a8 : 0x8100, 0x0678);
	} else if (kind == RIG_ESP || kind == RIG_ESP6) {
		rig_ip_frame(f, to, kind == RIG_ESP ? 4 : 6, 50, 20, 0, -1);
		memcpy(f->data + (kind == RIG_ESP ? 34 : 54), esp, sizeof(esp));
	} else if (kind == RIG_TCP4) {
		rig_ip_frame(f, to, 4, 6, 20, 0, -1);
		memcpy(f->data + 38, "\x51\x52\x53\x54\x61\x62\x63\x64", 8);
	} else if (kind == RIG_ICMP || kind == RIG_ICMP6) {
		icmp_frame(f, to, kind == RIG_ICMP ? 4 : 6);
	} else if (kind == RIG_VXLAN_ICMP) {
		icmp_frame(&udp4, to, 4);
		wrap(f, to, 4, 17, 4789, vni, sizeof(vni), &udp4, 0);
	} else if (kind == RIG_MPLS || kind == RIG_VXLAN_MPLS) {
		memcpy(f->data + 12, kind == RIG_MPLS ? "\x88\x47" : "\x88\x48", 2);
		memcpy(f->data + 14, mpls, sizeof(mpls));
		inner = *f;
		if (kind == RIG_VXLAN_MPLS)
			wrap(f, to, 4, 17, 4789, vni, sizeof(vni), &inner, 0);
	} else if (kind == RIG_GRE_MPLS) {
		wrap(f, to, 4, 47, 0, "\x20\0\x88\x47\0\0\0\1\x12\x34\x5a\x3c", 12, &udp4, 14);
	} else if (kind == RIG_UDP_MPLS) {
		wrap(f, to, 6, 17, 6635, mpls, sizeof(mpls), &udp4, 14);
	} else if (kind == RIG_GPE) {
		wrap(f, to, 4, 17, 4790, "\x0c\0\0\3\x12\x34\x56", 8, &inner, 0);
	} else if (kind == RIG_GTPU) {
		wrap(f, to, 4, 17, 2152, "\x30\xff\0\x30\x89\xab\xcd\xef", 8, &udp4, 14);
	} else if (kind == RIG_UDP_ESP) {
		memcpy(f->data + 36, "\x11\x94", 2); /* port 4500 */
		memcpy(f->data + 42, esp, sizeof(esp));
	}
}
