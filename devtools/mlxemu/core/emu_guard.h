/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Memory that the program unmaps, or makes inaccessible, while the device has it registered.
 *
 * A kernel pins such pages: the device goes on with them, and nobody else sees what it does. Here
 * device and program share one address space, so the model's access faults. The guard takes the
 * fault of a thread that works in the model, gives the device a page of its own in the place, and
 * notes the registration as unlawful use. Every other fault is the program's, with the action
 * that the program has set for the signal.
 */
#ifndef EMU_GUARD_H
#define EMU_GUARD_H

#include <signal.h>

#include "emu_dev.h"

/** Takes SIGSEGV and SIGBUS, for one machine of the process. 0 or -errno. */
int emu_guard_start(struct emu_machine *m);
/**
 * Asked first, about each fault of the program's own code: true when it was something that the
 * front end has done for the program (a store into a device), which goes on then.
 */
extern bool (*emu_guard_hook)(uint64_t addr, void *context);
/** Gives them back to the program. */
void emu_guard_stop(void);
/** True when the guard stands between the program and this signal. */
bool emu_guard_has(int sig);
/**
 * sigaction() of the program for a signal that the guard has: act is kept and done where a fault
 * is not the model's.
 * @param act,old may be NULL.
 */
int emu_guard_sigaction(int sig, const struct sigaction *act, struct sigaction *old);
/** Removes the guarded signals from a set of signals to be blocked. */
void emu_guard_unblock(sigset_t *set);

#endif /* EMU_GUARD_H */
