/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* CR space, read through the vendor specific capability: registers of each card, initial values. */
#include "emu_pci.h"

#include <errno.h>
#include <string.h>

#include "emu_audit.h"

/** Consecutive registers of 4 bytes. */
struct cr_range {
	uint32_t first, count;
};

#define CR_RANGES 12u

/*
 * Addresses are scattered as on real cards: long blocks, short ones, single registers. The first
 * ranges of a row differ by card, the common ones follow.
 */
#define COMMON_RANGES \
	{0xf0000, 16}, {0xf0040, 1}, {0x100000, 256}, {0x108000, 3}, {0x1f0200, 16}, \
	{0x3e0004, 1}, {0x3fff00, 32}

static const struct cr_map {
	uint16_t pci_device_id;
	uint16_t hw_id; /* mstflint's name for the chip, in EMU_CR_HW_ID */
	struct cr_range range[CR_RANGES];
} maps[] = {
	{0x1015, 0x20b, {{0x0, 512}, {0x2000, 128}, COMMON_RANGES}},
	{0x1017, 0x20d, {{0x0, 768}, {0x2000, 256}, {0x40010, 5}, COMMON_RANGES}},
	{0x101d, 0x212, {{0x0, 1024}, {0x2000, 640}, {0x40010, 5}, {0x80000, 128}, COMMON_RANGES}},
	{0x1021, 0x218, {{0x0, 1024}, {0x2000, 1024}, {0x40010, 9}, {0x80000, 512},
			 {0xa0ffc, 1}, COMMON_RANGES}},
};

static const struct cr_map *
map_of(const struct emu_dev *dev)
{
	unsigned i = 0;

	while (i + 1 < sizeof(maps) / sizeof(maps[0]) &&
	       maps[i].pci_device_id != dev->profile->pci_device_id)
		i++;
	return &maps[i];
}

uint32_t
emu_cr_count(const struct emu_dev *dev)
{
	const struct cr_map *map = map_of(dev);
	uint32_t n = 0;

	for (unsigned r = 0; r < CR_RANGES; r++)
		n += map->range[r].count;
	return n;
}

uint32_t
emu_cr_address(const struct emu_dev *dev, uint32_t i)
{
	const struct cr_range *range = map_of(dev)->range;

	while (i >= range->count)
		i -= range++->count;
	return range->first + 4 * i;
}

uint32_t
emu_cr_end(const struct emu_dev *dev)
{
	return emu_cr_address(dev, emu_cr_count(dev) - 1) + 4;
}

uint32_t
emu_cr_find(const struct emu_dev *dev, uint32_t addr)
{
	const struct cr_map *map = map_of(dev);
	uint32_t before = 0;

	for (unsigned r = 0; r < CR_RANGES; r++) {
		const struct cr_range *range = &map->range[r];

		if (addr <= range->first && range->count != 0)
			return before;
		if (addr <= range->first + 4 * (range->count - 1) && range->count != 0)
			return before + (addr - range->first + 3) / 4;
		before += range->count;
	}
	return before;
}

/* A value that differs between registers, ports and cards. */
static uint32_t
cr_mix(uint64_t z)
{
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return (uint32_t)(z ^ z >> 31);
}

uint32_t
emu_cr_initial(const struct emu_dev *dev, uint32_t i)
{
	const struct emu_profile *p = dev->profile;
	uint32_t addr = emu_cr_address(dev, i);

	switch (addr) {
	case EMU_CR_HW_ID:
		return map_of(dev)->hw_id;
	case EMU_CR_FW_VERSION:
		return (uint32_t)p->fw_major << 16 | p->fw_minor;
	case EMU_CR_FW_SUBMINOR:
		return p->fw_subminor;
	case EMU_CR_HEALTH_SYNDROME:
		return 0;
	default:
		return cr_mix((uint64_t)p->pci_device_id << 40 | (uint64_t)dev->index << 32 | addr);
	}
}
