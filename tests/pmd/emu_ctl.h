/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * The emulator's control socket, for tests that upset the device while they run.
 */
#ifndef EMU_CTL_H
#define EMU_CTL_H

#include <stdint.h>

/** Sends one request, a JSON object in one line, and waits for the reply. 0, or what failed is printed. */
int emu_ctl(const char *request, ...) __attribute__((format(printf, 1, 2)));
/** Adds a fault rule; one at a time: those before are forgotten. 0 or as emu_ctl(). */
int emu_fault(const char *rule, ...) __attribute__((format(printf, 1, 2)));
void emu_fault_clear(void);
/** Hits of the first rule that stands, as the device counts them. */
uint64_t emu_fault_hits(void);

/** Monotonic time. */
uint64_t now_us(void);

#endif /* EMU_CTL_H */
