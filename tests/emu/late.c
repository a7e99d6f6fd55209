/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* A library that is taken down after the emulator: what a program may still do then. */

#include <stddef.h>

void (*emu_late)(void);

__attribute__((destructor)) static void
late(void)
{
	if (emu_late != NULL)
		emu_late();
}
