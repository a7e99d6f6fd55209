/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Stores of the program to BAR 0. Registers there are shared: one doorbell arms all event queues,
 * another one is for all commands. Polling would lose one of two consecutive stores. Therefore the
 * program's mappings are read-only: each store faults and is emulated in order, and the program
 * continues after it.
 */
#undef _FILE_OFFSET_BITS
#undef _FORTIFY_SOURCE

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "abi/trap_pages.h"
#include "vfio.h"

#define MAPS 64u

/** A mapping of BAR 0; empty when len is 0. Written under the machine's lock, read in faults. */
static struct trap_map {
	_Atomic uint64_t addr, len;
	uint64_t off;
	struct emu_dev *dev;
	bool dead; /* the device was closed */
} maps[MAPS];
static _Atomic unsigned maps_used; /* number of mappings: 0 lets munmap() skip the search */

void
abi_vfio_mapped(struct abi_vfio_device *d, uint64_t addr, uint64_t len, uint64_t off)
{
	for (unsigned i = 0; i < MAPS; i++) {
		if (atomic_load(&maps[i].len) != 0)
			continue;
		maps[i].off = off;
		maps[i].dev = d->dev;
		maps[i].dead = false;
		atomic_store(&maps[i].addr, addr);
		atomic_store(&maps[i].len, len);
		atomic_fetch_add(&maps_used, 1);
		return;
	}
	emu_trace_note(d->dev, "more than %u mappings of BAR 0: stores into one are lost", MAPS);
}

void
abi_vfio_unmapped(uint64_t addr, uint64_t len)
{
	if (atomic_load_explicit(&maps_used, memory_order_relaxed) == 0)
		return;
	for (unsigned i = 0; i < MAPS; i++) {
		uint64_t at = atomic_load(&maps[i].addr), n = atomic_load(&maps[i].len);

		/* A partial munmap() drops the whole mapping. */
		if (n == 0 || addr >= at + n || addr + len <= at)
			continue;
		atomic_store(&maps[i].len, 0);
		atomic_fetch_sub(&maps_used, 1);
	}
}

static struct trap_map *
map_at(uint64_t addr)
{
	for (unsigned i = 0; i < MAPS; i++)
		if (addr - atomic_load(&maps[i].addr) < atomic_load(&maps[i].len))
			return &maps[i];
	return NULL;
}

unsigned
abi_vfio_mappings(const struct emu_dev *dev)
{
	unsigned n = 0;

	for (unsigned i = 0; i < MAPS; i++)
		n += atomic_load(&maps[i].len) != 0 && maps[i].dev == dev && !maps[i].dead;
	return n;
}

void
abi_vfio_trap_forget(const struct emu_dev *dev)
{
	for (unsigned i = 0; i < MAPS; i++)
		if (atomic_load(&maps[i].len) != 0 && maps[i].dev == dev)
			maps[i].dead = true;
}

void
abi_vfio_trap_end(void)
{
	for (unsigned i = 0; i < MAPS; i++)
		if (atomic_load(&maps[i].len) != 0)
			(void)mprotect((void *)(uintptr_t)atomic_load(&maps[i].addr),
				       atomic_load(&maps[i].len), PROT_READ | PROT_WRITE);
}

/* An instruction that cannot be decoded ends the program: print the reason. */
static void
complain(const uint8_t *code)
{
	char line[160];
	int n = snprintf(line, sizeof(line),
			 "mlxemu: a store into BAR 0 by an instruction that is not known here:");

	for (unsigned i = 0; i < 15 && n < (int)sizeof(line) - 4; i++)
		n += snprintf(line + n, sizeof(line) - (size_t)n, " %02x", code[i]);
	line[n++] = '\n';
	if (abi_real_write(STDERR_FILENO, line, (size_t)n) < 0)
		return;
}

/* Returns what the registers had before; without an effect xchg loads nothing. */
static uint64_t
apply(struct trap_map *map, uint64_t addr, struct abi_store *s)
{
	struct abi_vfio_device *d;
	uint64_t before = 0;

	/* After the end of the model stores have no effect. */
	if (abi_enter() == NULL) {
		s->swap = -1;
		return before;
	}
	d = map->dead ? NULL : abi_vfio_of(map->dev);
	if (d != NULL) {
		uint64_t off = map->off + (addr - atomic_load(&map->addr));

		if (s->swap >= 0 && s->bytes <= sizeof(before))
			memcpy(&before, d->bar + off, s->bytes);
		abi_vfio_bar_store(d, off, s->data, s->bytes);
	} else {
		s->swap = -1;
	}
	abi_leave();
	return before;
}

bool
abi_vfio_trap(uint64_t addr, void *context)
{
	struct trap_map *map;
	struct abi_store s;

	if (atomic_load_explicit(&maps_used, memory_order_relaxed) == 0 || abi_inside != 0)
		return false;
	map = map_at(addr);
	if (map == NULL)
		return false;
	if (!abi_store_decode(context, &s)) {
		complain((const uint8_t *)(uintptr_t)abi_pc(context));
		return false;
	}
	abi_store_end(context, &s, apply(map, addr, &s));
	return true;
}
