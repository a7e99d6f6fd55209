/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Frames for the bench, with checksums by an arithmetic that has nothing of the model's. */
#include "rig.h"

uint16_t
rig_sum16(const uint8_t *p, unsigned len, uint32_t start)
{
	uint32_t sum = start;

	/* Word by word, in network order: nothing in common with the model's way. */
	for (unsigned i = 0; i < len; i++)
		sum += i % 2 == 0 ? (uint32_t)p[i] << 8 : p[i];
	while (sum > 0xffff)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)sum;
}

void
rig_fix_checksums(struct rig_frame *f, unsigned l3_off)
{
	uint8_t *ip = f->data + l3_off, *l4, *field;
	bool v4 = ip[0] >> 4 == 4;
	unsigned proto, l4_len;
	uint32_t pseudo;
	uint16_t sum;

	if (v4) {
		ip[10] = ip[11] = 0;
		sum = (uint16_t)~rig_sum16(ip, (ip[0] & 15) * 4u, 0);
		ip[10] = (uint8_t)(sum >> 8);
		ip[11] = (uint8_t)sum;
		l4 = ip + (ip[0] & 15) * 4;
		proto = ip[9];
		l4_len = (ip[2] << 8 | ip[3]) - (ip[0] & 15) * 4u;
		pseudo = rig_sum16(ip + 12, 8, proto + l4_len);
	} else {
		unsigned off = 40;

		proto = ip[6];
		while (proto == 0 || proto == 60) {
			proto = ip[off];
			off += (ip[off + 1] + 1u) * 8;
		}
		l4 = ip + off;
		l4_len = (ip[4] << 8 | ip[5]) + 40u - off;
		pseudo = rig_sum16(ip + 8, 32, proto + l4_len);
	}
	field = l4 + (proto == 6 ? 16 : 6);
	field[0] = field[1] = 0;
	sum = (uint16_t)~rig_sum16(l4, l4_len, pseudo);
	if (sum == 0 && proto == 17)
		sum = 0xffff;
	field[0] = (uint8_t)(sum >> 8);
	field[1] = (uint8_t)sum;
}

void
rig_ip_frame(struct rig_frame *f, const struct emu_dev *to, unsigned version, unsigned proto,
	     unsigned payload, unsigned options, int vlan)
{
	unsigned l4_header = proto == 6 ? 20 : 8, ip_header = version == 4 ? 20 : 40, l3;
	uint8_t *d = f->data, *ip, *l4;

	memset(f, 0, sizeof(*f));
	memcpy(d, to->vport.mac, 6);
	memcpy(d + 6, "\x02\x00\x00\x00\x00\x77", 6);
	l3 = 14;
	if (vlan >= 0) {
		d[12] = 0x81;
		d[14] = (uint8_t)(vlan >> 8);
		d[15] = (uint8_t)vlan;
		l3 = 18;
	}
	d[l3 - 2] = version == 4 ? 0x08 : 0x86;
	d[l3 - 1] = version == 4 ? 0x00 : 0xdd;
	ip = d + l3;
	l4 = ip + ip_header + options;
	if (version == 4) {
		unsigned total = ip_header + options + l4_header + payload;

		ip[0] = (uint8_t)(0x40 | (ip_header + options) / 4);
		ip[2] = (uint8_t)(total >> 8);
		ip[3] = (uint8_t)total;
		ip[8] = 64;
		ip[9] = (uint8_t)proto;
		memcpy(ip + 12, "\x0a\x01\x02\x03\x0a\x01\x02\x04", 8);
		memset(ip + 20, 1, options);
	} else {
		unsigned plen = options + l4_header + payload;

		ip[0] = 0x60;
		ip[4] = (uint8_t)(plen >> 8);
		ip[5] = (uint8_t)plen;
		ip[6] = (uint8_t)(options != 0 ? 60 : proto);
		ip[7] = 64;
		for (unsigned i = 0; i < 32; i++)
			ip[8 + i] = (uint8_t)(0x20 + i);
		if (options != 0) {
			ip[40] = (uint8_t)proto;
			ip[41] = (uint8_t)(options / 8 - 1);
			ip[42] = 1; /* PadN over the rest */
			ip[43] = (uint8_t)(options - 4);
		}
	}
	memcpy(l4, "\x12\x34\x56\x78", 4);
	if (proto == 6) {
		l4[12] = 5 << 4;
		l4[13] = 0x10;
	} else {
		l4[4] = (uint8_t)((8 + payload) >> 8);
		l4[5] = (uint8_t)(8 + payload);
	}
	for (unsigned i = 0; i < payload; i++)
		l4[l4_header + i] = (uint8_t)(i * 7 + 1);
	f->len = (unsigned)(l4 - d) + l4_header + payload;
	rig_fix_checksums(f, l3);
}
