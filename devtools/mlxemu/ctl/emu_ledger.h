/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* The ledger of a whole run: what the program holds when the model starts and when it ends. */
#ifndef EMU_LEDGER_H
#define EMU_LEDGER_H

struct emu_machine;

/** Counts the descriptors of the process before it holds anything of the devices. Lock not needed. */
void emu_ledger_begin(struct emu_machine *m);
/**
 * Adds `ledger end ...` lines to the report: what the program holds at its end, before the kernel
 * would release it. Lock held.
 */
void emu_ledger_end(struct emu_machine *m);

#endif /* EMU_LEDGER_H */
