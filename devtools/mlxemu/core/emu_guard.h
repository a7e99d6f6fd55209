/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Memory that the program unmaps, or makes inaccessible, while the device has it registered.
 *
 * A kernel pins such pages, so the device keeps accessing them. Here device and program share one
 * address space, and the access of the model faults. The guard handles the fault of a thread that
 * runs model code: it maps a page for the device at this address and reports a violation. Every
 * other fault belongs to the program and gets the action that the program has set for the signal.
 */
#ifndef EMU_GUARD_H
#define EMU_GUARD_H

#include <signal.h>

#include "emu_dev.h"

/** Installs the handlers of SIGSEGV and SIGBUS, for one machine per process. 0 or -errno. */
int emu_guard_start(struct emu_machine *m);
/**
 * Called first for each fault of the program's code. True: the front end emulated the access (a load
 * or store to a device), and the program continues.
 */
/** Before emu_guard_start(): handle SIGTRAP after each instruction of a thread that is stepped; false: not for hook. */
void emu_guard_steps(bool (*hook)(void *context));
extern bool (*emu_guard_hook)(uint64_t addr, void *context);
/** Restores the program's actions. */
void emu_guard_stop(void);
/** True if the guard handles this signal. */
bool emu_guard_has(int sig);
/**
 * sigaction() of the program for a signal of the guard: act is stored, and used for faults that do
 * not belong to the model.
 * @param act,old may be NULL.
 */
int emu_guard_sigaction(int sig, const struct sigaction *act, struct sigaction *old);
/** Removes the guarded signals from a set of signals to be blocked. */
void emu_guard_unblock(sigset_t *set);

#endif /* EMU_GUARD_H */
