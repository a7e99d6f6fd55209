/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Register pages of a device in the program's memory: traps of loads and stores. */
#ifndef ABI_PAGES_H
#define ABI_PAGES_H

#include "abi.h"

/**
 * To be called when the program maps the counter page of dev at addr; mem is the mapping of the
 * model. Loads return the present value from now on. Lock held, here and below unless noted.
 */
void abi_pages_counter(struct emu_dev *dev, uint64_t addr, int prot, uint8_t *mem);
/** The same for doorbell pages of a verbs context; wc: write-combining. */
void abi_pages_doorbells(struct emu_dev *dev, uint64_t addr, uint64_t len, int prot,
			 uint8_t *mem, bool wc);
/** To be called before the program unmaps a range, or maps something else over it; lock not held. */
void abi_pages_unmapped(uint64_t addr, uint64_t len);
/** Number of mappings that copies of loads have of counter pages in mem. */
unsigned abi_pages_copies(const void *mem, uint64_t len);
/** To be called before the model unmaps mem: the counter pages become plain memory. */
void abi_pages_forget(const void *mem, uint64_t len);
/** Restores the rights requested by the program on doorbell pages of a device, or (NULL) on all pages. */
void abi_pages_open(const struct emu_dev *dev);
/** Implements emu_front_ops.doorbells_watch. */
bool abi_pages_watch(struct emu_machine *m);
/** For the guard: true if the fault at addr was such a load or store, which has been emulated; lock not held. */
bool abi_pages_trap(uint64_t addr, void *context);

/* ---- write-combining buffers, of --order relaxed: write_combining.c ---- */

/** A store of 8 bytes to a write-combining page at `at`. False: write it now. */
bool abi_wc_store(struct emu_dev *dev, uint8_t *at, uint64_t value, void *context);
/** Writes out the buffers of this thread. */
void abi_wc_drain(void);
/** A thread executed one instruction. False: not for this. */
bool abi_wc_step(void *context);
/** Writes out buffers whose time has come, and counts them as late; lock held. */
void abi_wc_evict(void);
/** Forgets stores into mem, which goes away. */
void abi_wc_forget(const void *mem, uint64_t len);

/* ---- the processor's part: x86_load.c and x86_store.c, or arm64_access.c ---- */

/** Program counter of a signal context. */
uint64_t abi_pc(const void *context);
/** Whether the fault was a store's. */
bool abi_fault_is_write(const void *context);

/** Lets the thread of context execute one instruction at a time, with a SIGTRAP after each. False: not supported. */
bool abi_step_begin(void *context);
void abi_step_end(void *context);
/** Whether the next instruction of context drains write-combining buffers. */
bool abi_drains(const void *context);

#ifdef __x86_64__
/* Prefix bits, and indices of general registers in gregs by their number in an instruction. */
#define ABI_REX_W 8u
#define ABI_REX_R 4u
extern const uint8_t abi_greg_of[16];
/** Bytes of ModRM, SIB and displacement at p; 0: the operand is a register. */
unsigned abi_operand_len(const uint8_t *p);
#endif

/** The page that faulting loads are executed on; x86: and copies of their instructions. */
struct abi_load_area;
/**
 * Lets the loads load from mem, a page of shared memory, or (NULL) from a page of zeros. Allocates *area if it is
 * NULL; areas are never freed, because a thread may be executing a load. False: no memory, or (x86) none that is
 * executable.
 */
bool abi_load_area_set(struct abi_load_area **area, uint8_t *mem);
/**
 * Executes the load of context at offset off of the page: context continues behind the instruction, or (x86) at a
 * copy of it. Async-signal-safe. False: not supported.
 */
bool abi_load_move(struct abi_load_area *area, unsigned off, void *context);

#endif /* ABI_PAGES_H */
