/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Pages of a device in the program's memory whose loads or stores the model must see. */
#ifndef ABI_PAGES_H
#define ABI_PAGES_H

#include "abi.h"

/**
 * The program mapped the page of dev's counter at addr; mem is where the model has it. Loads are
 * answered with the present value from now on. Lock held, as in all of these unless told otherwise.
 */
void abi_pages_counter(struct emu_dev *dev, uint64_t addr, int prot, uint8_t *mem);
/** The program mapped doorbells of a verbs context; mem as above. */
void abi_pages_doorbells(struct emu_dev *dev, uint64_t addr, uint64_t len, int prot,
			 uint8_t *mem);
/** The program is about to unmap a range, or to map something else there; lock not held. */
void abi_pages_unmapped(uint64_t addr, uint64_t len);
/** The model is about to unmap its side: the program's counter pages are memory from now on. */
void abi_pages_forget(const void *mem, uint64_t len);
/** Doorbells of a device, or (NULL) all pages, have the rights again that the program has asked for. */
void abi_pages_open(const struct emu_dev *dev);
/** As emu_front_ops.doorbells_watch. */
bool abi_pages_watch(struct emu_machine *m);
/** For the guard: a fault at addr was such a load or store, and the program goes on; lock not held. */
bool abi_pages_trap(uint64_t addr, void *context);

/** A load instruction into a general register (x86_load.c). */
struct abi_load {
	unsigned len;	/**< Of the instruction. */
	unsigned bytes; /**< Loaded: 1, 2, 4 or 8. */
	unsigned to;	/**< Bytes of the register that take it. */
	int reg;	/**< The register, as a gregs index. */
	bool sign, swap;
};
/** Decodes the instruction that context stands at. False: none that is known. */
bool abi_load_decode(const void *context, struct abi_load *out);
/** Does it, and steps behind it. regs are a context's gregs. */
void abi_load_do(const struct abi_load *l, const uint8_t *from, long long *regs);

#endif /* ABI_PAGES_H */
