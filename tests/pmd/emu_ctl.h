/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * Client of the emulator's control socket, for tests that inject faults and change the device at run time.
 */
#ifndef EMU_CTL_H
#define EMU_CTL_H

#include <stdint.h>

/** Sends one request, a JSON object on one line, and waits for the reply. 0, or -1 after printing the failure. */
int emu_ctl(const char *request, ...) __attribute__((format(printf, 1, 2)));
/** Replaces all fault rules by this one. Returns as emu_ctl(). */
int emu_fault(const char *rule, ...) __attribute__((format(printf, 1, 2)));
/** Removes all fault rules. */
void emu_fault_clear(void);
/** Number of hits of the first fault rule. */
uint64_t emu_fault_hits(void);

/** A counter of a port, by its name in the report; UINT64_MAX if there is none. */
uint64_t emu_counter(unsigned int port, const char *name);

/** A place of `mlxemu ctl drops`, of "received" or "sent" frames; UINT64_MAX if there is none. */
uint64_t emu_drops(unsigned int port, const char *direction, const char *place);

/** CLOCK_MONOTONIC in microseconds. */
uint64_t now_us(void);

#endif /* EMU_CTL_H */
