/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* What differs from card to card and from start to start: addresses, GUIDs, first numbers of objects. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "emu_dev.h"
#include "emu_identity.h"
#include "emu_number.h"
#include "emu_obj.h"

/* Prefixes of the vendor's addresses (IEEE MA-L, "Mellanox Technologies, Inc."). */
static const uint8_t prefixes[][3] = {
	{0x0c, 0x42, 0xa1}, {0x04, 0x3f, 0x72}, {0x08, 0xc0, 0xeb}, {0x10, 0x70, 0xfd}, {0x1c, 0x34, 0xda},
	{0x24, 0x8a, 0x07}, {0x50, 0x6b, 0x4b}, {0x98, 0x03, 0x9b}, {0xb8, 0x59, 0x9f}, {0xb8, 0xce, 0xf6},
	{0xe4, 0x1d, 0x2d}, {0xec, 0x0d, 0x9a},
};
#define PREFIXES (sizeof(prefixes) / sizeof(prefixes[0]))
#define FIXED_CARD 0x4ed000u /* First card of seed 0; the next ones follow at this distance: */
#define FIXED_STEP 0x10u
#define PORTS_PER_CARD 2u
#define FIRST_MASK 0x3fffu

static uint64_t seed; /* 0: fixed values. */
static struct {
	bool given;
	uint8_t mac[6];
} given[EMU_MAX_PORTS];

/* A number made of the seed and of what it is for (SplitMix64's mixing function). */
static uint64_t
mix(uint64_t use)
{
	uint64_t z = seed + (use + 1) * 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

void
emu_identity_seed(uint64_t value)
{
	seed = value;
}

/* Six bytes of two hexadecimal digits each, with colons between them. */
static bool
mac_scan(const char *text, uint8_t mac[6])
{
	return strlen(text) == 17 && strspn(text, "0123456789abcdefABCDEF:") == 17 &&
	       sscanf(text, "%2hhx:%2hhx:%2hhx:%2hhx:%2hhx:%2hhx", &mac[0], &mac[1], &mac[2], &mac[3], &mac[4],
		      &mac[5]) == 6;
}

int
emu_identity_mac(const char *value, char *err, size_t err_len)
{
	static const uint8_t zero[6];
	const char *text = strchr(value, '=');
	uint64_t port = 0;
	uint8_t mac[6];

	if (text != NULL && (emu_number_scan(value, &port) != text || port >= EMU_MAX_PORTS)) {
		snprintf(err, err_len, "'%s': no port before '='", value);
		return -EINVAL;
	}
	if (!mac_scan(text != NULL ? text + 1 : value, mac) || (mac[0] & 1) != 0 || memcmp(mac, zero, 6) == 0) {
		snprintf(err, err_len, "'%s': a unicast address as 0c:42:a1:12:34:56 is needed", value);
		return -EINVAL;
	}
	given[port].given = true;
	memcpy(given[port].mac, mac, sizeof(mac));
	return 0;
}

bool
emu_identity_beyond(unsigned ports)
{
	for (unsigned i = ports; i < EMU_MAX_PORTS; i++)
		if (given[i].given)
			return true;
	return false;
}

/* The ports of a card have consecutive addresses, the first an even one. */
static void
port_mac(unsigned port, uint8_t mac[6])
{
	unsigned card = port / PORTS_PER_CARD;
	uint64_t r = mix(card);
	const uint8_t *prefix = prefixes[seed == 0 ? 0 : (r >> 32) % PREFIXES];
	uint32_t low = seed == 0 ? FIXED_CARD + card * FIXED_STEP : (uint32_t)r & 0xfffffe;

	low += port % PORTS_PER_CARD;
	memcpy(mac, prefix, 3);
	mac[3] = (uint8_t)(low >> 16);
	mac[4] = (uint8_t)(low >> 8);
	mac[5] = (uint8_t)low;
	if (given[port].given)
		memcpy(mac, given[port].mac, 6);
}

/* As on cards: 0300 between the halves of the address (e41d:2d03:00f8:f00c and e4:1d:2d:f8:f0:0c are of one card). */
static uint64_t
guid_of(const uint8_t mac[6])
{
	return (uint64_t)mac[0] << 56 | (uint64_t)mac[1] << 48 | (uint64_t)mac[2] << 40 | 0x0300000000ull |
	       (uint64_t)mac[3] << 16 | (uint64_t)mac[4] << 8 | mac[5];
}

void
emu_identity_set(struct emu_dev *dev)
{
	uint8_t first[6];

	port_mac(dev->index, dev->vport.permanent_mac);
	memcpy(dev->vport.mac, dev->vport.permanent_mac, sizeof(dev->vport.mac));
	dev->node_guid = guid_of(dev->vport.permanent_mac);
	port_mac(dev->index - dev->index % PORTS_PER_CARD, first);
	dev->sys_image_guid = guid_of(first);
}

uint32_t
emu_identity_first(const struct emu_dev *dev, unsigned type)
{
	switch (type) {
	case EMU_OBJ_PD:
	case EMU_OBJ_TD:
	case EMU_OBJ_MKEY:
	case EMU_OBJ_CQ:
	case EMU_OBJ_SQ:
	case EMU_OBJ_RQ:
	case EMU_OBJ_RMP:
	case EMU_OBJ_RQT:
	case EMU_OBJ_TIR:
	case EMU_OBJ_TIS:
	case EMU_OBJ_QP:
	case EMU_OBJ_UMEM:
		return seed == 0 ? 0 : (uint32_t)mix(0x100 + dev->index * EMU_OBJ_TYPES + type) & FIRST_MASK;
	default: /* Numbers of vectors, pages and tables. */
		return 0;
	}
}

void
emu_identity_write(FILE *f, const struct emu_machine *m)
{
	fprintf(f, "identity seed %" PRIu64 "\n", seed);
	for (unsigned i = 0; i < m->ports; i++) {
		const struct emu_dev *dev = &m->dev[i];
		const uint8_t *mac = dev->vport.permanent_mac;

		fprintf(f, "identity port %u mac %02x:%02x:%02x:%02x:%02x:%02x guid %016" PRIx64 "\n", i, mac[0], mac[1],
			mac[2], mac[3], mac[4], mac[5], dev->node_guid);
	}
}
