/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Register pages of a device in the program's memory.
 *
 * The page of the counter is not readable: each load faults, and is executed with the present value (x86_load.c,
 * arm64_access.c). A readable page that the engine updates would be late by a pass of the engine, and by up
 * to 100 ms while it sleeps: it is what remains if an instruction is not supported.
 * Doorbell pages of a verbs context are memory that the engine polls. While the engine sleeps they
 * are not writable: the first store faults, is emulated or restarted, and wakes the engine. Stores
 * to BAR 0 (VFIO) always fault: vfio_trap.c.
 */
#undef _FILE_OFFSET_BITS
#undef _FORTIFY_SOURCE

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "trap_pages.h"
#include "abi/vfio/vfio.h"
#include "core/emu_fault.h"
#include "dp/emu_dp.h"

#define MAPS 1024u
/* Another thread writes the registers; this takes long only if it is preempted. */
#define TRIES 100u

/** A mapping; empty when len is 0. Written under the machine's lock, read in faults. */
static struct page_map {
	_Atomic uint64_t addr, len;
	struct emu_dev *dev;
	uint8_t *mem;	    /* mapping of the model */
	bool counter;	    /* else doorbells */
	bool wc;	    /* doorbells: write-combining */
	struct abi_load_area *area; /* of a counter; kept for the next one */
	int prot;	    /* as requested by the program */
	_Atomic bool shut;
} maps[MAPS];
static _Atomic unsigned maps_end; /* entries ever used */
static _Atomic bool maps_lost;	  /* doorbells that did not fit: the engine may not sleep */

static bool
protect(struct page_map *map, bool shut)
{
	int prot = !shut ? map->prot : map->counter ? PROT_NONE : map->prot & ~PROT_WRITE;

	/* Readable too: doorbell pages are often mapped with PROT_WRITE only. */
	if (shut && !map->counter)
		prot |= PROT_READ;
	if (mprotect((void *)(uintptr_t)atomic_load(&map->addr), atomic_load(&map->len), prot) != 0)
		return false;
	atomic_store(&map->shut, shut);
	return true;
}

static struct page_map *
map_at(uint64_t addr)
{
	for (unsigned i = 0; i < atomic_load_explicit(&maps_end, memory_order_acquire); i++)
		if (addr - atomic_load(&maps[i].addr) < atomic_load(&maps[i].len))
			return &maps[i];
	return NULL;
}

static bool
overlaps(struct page_map *map, uint64_t addr, uint64_t len)
{
	uint64_t at = atomic_load(&map->addr), n = atomic_load(&map->len);

	return n != 0 && addr < at + n && at < addr + len;
}

/* Stop trapping: make the page plain memory. */
static void
map_drop(struct page_map *map)
{
	(void)protect(map, false);
	if (map->counter)
		(void)abi_load_area_set(&map->area, NULL);
	atomic_store(&map->len, 0);
}

static struct page_map *
map_new(struct emu_dev *dev, uint64_t addr, uint64_t len, int prot, uint8_t *mem, bool counter, bool wc)
{
	for (unsigned i = 0; i < MAPS; i++) {
		struct page_map *map = &maps[i];

		if (atomic_load(&map->len) != 0)
			continue;
		map->dev = dev;
		map->mem = mem;
		map->counter = counter;
		map->wc = wc;
		map->prot = prot;
		atomic_store(&map->shut, false);
		atomic_store(&map->addr, addr);
		atomic_store(&map->len, len);
		if (i >= atomic_load(&maps_end))
			atomic_store_explicit(&maps_end, i + 1, memory_order_release);
		return map;
	}
	return NULL;
}

/* Readable without traps; the engine updates it in each pass. */
static void
counter_by_engine(struct emu_dev *dev, const char *why)
{
	struct emu_machine *m = emu_machine_of(dev);

	if (m->counters_live)
		emu_trace_note(dev, "the counter moves by the engine's turns only: %s", why);
	m->counters_live = false;
}

void
abi_pages_counter(struct emu_dev *dev, uint64_t addr, int prot, uint8_t *mem)
{
	struct page_map *map = map_new(dev, addr, EMU_PAGE_BYTES, prot, mem, true, false);

	if (map == NULL || !abi_load_area_set(&map->area, mem) || !protect(map, true))
		counter_by_engine(dev, "too many mappings");
}

void
abi_pages_doorbells(struct emu_dev *dev, uint64_t addr, uint64_t len, int prot, uint8_t *mem, bool wc)
{
	if ((prot & PROT_WRITE) != 0 && map_new(dev, addr, len, prot, mem, false, wc) == NULL)
		atomic_store(&maps_lost, true);
}

void
abi_pages_unmapped(uint64_t addr, uint64_t len)
{
	unsigned n = atomic_load(&maps_end), i = 0;

	while (i < n && !overlaps(&maps[i], addr, len))
		i++;
	/* Lock held: otherwise the engine could change the rights of a new mapping at this address. */
	if (i == n || abi_inside != 0 || abi_enter() == NULL)
		return;
	for (; i < n; i++)
		if (overlaps(&maps[i], addr, len))
			map_drop(&maps[i]);
	abi_leave();
}

static bool
within(const struct page_map *map, const void *mem, uint64_t len)
{
	return atomic_load(&map->len) != 0 && (uintptr_t)map->mem - (uintptr_t)mem < len;
}

unsigned
abi_pages_copies(const void *mem, uint64_t len)
{
	unsigned copies = 0;

	for (unsigned i = 0; i < atomic_load(&maps_end); i++)
		copies += within(&maps[i], mem, len) && maps[i].counter && maps[i].area != NULL;
	return copies;
}

void
abi_pages_forget(const void *mem, uint64_t len)
{
	abi_wc_forget(mem, len);
	for (unsigned i = 0; i < atomic_load(&maps_end); i++)
		if (within(&maps[i], mem, len))
			map_drop(&maps[i]);
}

void
abi_pages_open(const struct emu_dev *dev)
{
	for (unsigned i = 0; i < atomic_load(&maps_end); i++) {
		struct page_map *map = &maps[i];

		if (atomic_load(&map->len) != 0 && atomic_load(&map->shut) &&
		    (dev == NULL || (map->dev == dev && !map->counter)))
			(void)protect(map, false);
	}
}

bool
abi_pages_watch(struct emu_machine *m)
{
	(void)m;
	abi_wc_evict();
	if (atomic_load(&maps_lost) || abi_joined())
		return false;
	for (unsigned i = 0; i < atomic_load(&maps_end); i++) {
		struct page_map *map = &maps[i];

		if (atomic_load(&map->len) != 0 && !map->counter && !atomic_load(&map->shut) &&
		    !protect(map, true))
			return false;
	}
	return true;
}

/* Emulate the usual doorbell stores before waking the engine, and continue after the instruction. */
static bool
store_do(const struct page_map *map, uint64_t addr, void *context)
{
	uint8_t *at = map->mem + (addr - atomic_load(&map->addr));
	struct abi_store s;
	uint64_t value;

	if (!abi_store_decode(context, &s) || s.swap >= 0 || s.bytes != sizeof(value) ||
	    addr % sizeof(value) != 0)
		return false;
	memcpy(&value, s.data, sizeof(value));
	abi_store_end(context, &s, 0);
	if (emu_dp_is_relaxed() && map->wc && abi_wc_store(map->dev, at, value, context))
		return true;
	abi_wc_drain();
	atomic_store_explicit((_Atomic uint64_t *)(void *)at, value, memory_order_release);
	return true;
}

/*
 * Releasing the lock wakes the engine, which finds the store. A store that is not emulated is
 * restarted; it may fault again if the engine sleeps before that. Another thread may have unprotected
 * the page already; but if it was unprotected at the last fault too, the program itself has removed
 * the rights.
 */
static bool
rung(struct page_map *map, uint64_t addr, void *context)
{
	static __thread uint64_t open_at __attribute__((tls_model("initial-exec")));
	bool shut;

	/* Nothing polls the page after the end of the model, nor in a child of fork(). */
	if (abi_enter() == NULL)
		return protect(map, false);
	shut = atomic_load(&map->shut);
	if (shut && emu_dp_is_relaxed()) {
		/* The next store is trapped too; after one that is restarted the engine closes the page again. */
		if (!store_do(map, addr, context))
			(void)protect(map, false);
	} else if (shut) {
		(void)protect(map, false);
		(void)store_do(map, addr, context);
	}
	abi_leave();
	if (!shut && open_at == addr)
		return false;
	open_at = shut ? 0 : addr;
	return true;
}

/* Fault rules count events, which needs the machine's lock. */
static void
registers_write(struct emu_dev *dev)
{
	const bool rules = emu_fault_at(EMU_ON_CLOCK_VALUE);

	if (rules && abi_enter() == NULL)
		return;
	for (unsigned i = 0; i < TRIES && !emu_clock_registers(dev); i++)
		sched_yield();
	if (rules)
		abi_leave();
}

static bool
counted(struct page_map *map, uint64_t addr, void *context)
{
	const uint8_t *pc = (const uint8_t *)(uintptr_t)abi_pc(context);
	char why[80];

	if (abi_model_dead() || abi_model_foreign())
		return protect(map, false);
	abi_wc_drain();
	registers_write(map->dev);
	if (abi_load_move(map->area, addr - atomic_load(&map->addr), context))
		return true;
	if (abi_enter() != NULL) {
		snprintf(why, sizeof(why), "no copy of the load %02x %02x %02x %02x %02x %02x at 0x%" PRIx64, pc[0], pc[1],
			 pc[2], pc[3], pc[4], pc[5], (uint64_t)(uintptr_t)pc);
		counter_by_engine(map->dev, why);
		abi_leave();
	}
	return protect(map, false);
}

bool
abi_pages_trap(uint64_t addr, void *context)
{
	struct page_map *map = abi_inside == 0 ? map_at(addr) : NULL;
	bool write;

	if (map == NULL)
		return false;
	write = abi_fault_is_write(context);
	if (!map->counter)
		return write && (map->prot & PROT_WRITE) != 0 &&
		       rung(map, addr, context);
	return !write && (map->prot & PROT_READ) != 0 && counted(map, addr, context);
}
