/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Sub-functions: devices on the auxiliary bus, whose parent is the PCI function of another port. */
#include <stdio.h>
#include <string.h>

#include "emu_dev.h"
#include "emu_number.h"

/* Example of the kernel's documentation (networking/device_drivers/ethernet/mellanox/mlx5/switchdev.rst). */
#define SFNUM_DEFAULT 88

/* One NAME=NUMBER of a description; the character behind it, NULL: not understood. */
static const char *
sf_setting(const char *text, struct emu_sf *sf)
{
	uint64_t v;
	const char *end;

	if (strncmp(text, "pf=", 3) == 0) {
		end = emu_number_scan(text + 3, &v);
		if (end == NULL || v >= EMU_MAX_PORTS)
			return NULL;
		sf->pf = (unsigned)v;
		return end;
	}
	if (strncmp(text, "sfnum=", 6) != 0)
		return NULL;
	end = emu_number_scan(text + 6, &v);
	if (end == NULL || v > UINT32_MAX)
		return NULL;
	sf->sfnum = (uint32_t)v;
	return end;
}

bool
emu_sf_parse(const char *text, struct emu_sf *sf)
{
	uint64_t port;

	*sf = (struct emu_sf){.sfnum = SFNUM_DEFAULT};
	text = emu_number_scan(text, &port);
	if (text == NULL || port >= EMU_MAX_PORTS)
		return false;
	sf->port = (unsigned)port;
	while (text != NULL && *text == ',')
		text = sf_setting(text + 1, sf);
	return text != NULL && *text == '\0' && sf->pf != sf->port;
}

void
emu_sf_make(struct emu_machine *m, const struct emu_sf *sf)
{
	struct emu_dev *dev = &m->dev[sf->port], *parent = &m->dev[sf->pf];
	char name[sizeof(dev->name)];
	char *end;

	dev->vf = EMU_VF | EMU_SF;
	dev->sfnum = sf->sfnum;
	dev->parent = parent;
	snprintf(name, sizeof(name), "mlx5_core.sf.%u", sf->port);
	memcpy(dev->pci_addr, parent->pci_addr, sizeof(dev->pci_addr));
	memcpy(dev->name, name, sizeof(name));
	end = stpcpy(dev->folder, parent->folder);
	snprintf(end, sizeof(dev->folder) - (size_t)(end - dev->folder), "/%s", name);
}
