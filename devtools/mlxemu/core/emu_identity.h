/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Identity of the ports of a run. The settings are per process; to be made before emu_machine_init(). */
#ifndef EMU_IDENTITY_H
#define EMU_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct emu_dev;
struct emu_machine;

/** Chooses addresses and first object numbers of all ports; 0, the default: fixed ones. */
void emu_identity_seed(uint64_t seed);
/** --mac [PORT=]ADDRESS. 0, or -EINVAL with one line in err. */
int emu_identity_mac(const char *value, char *err, size_t err_len);
/** Whether an address was given for a port beyond the first ports. */
bool emu_identity_beyond(unsigned ports);
/** Sets addresses and GUIDs of a port. */
void emu_identity_set(struct emu_dev *dev);
/** What is added to the first number of a type of objects (enum emu_obj_type). */
uint32_t emu_identity_first(const struct emu_dev *dev, unsigned type);
/** Writes seed, addresses and GUIDs: the first lines of the report. */
void emu_identity_write(FILE *f, const struct emu_machine *m);

#endif /* EMU_IDENTITY_H */
