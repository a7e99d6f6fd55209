/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Stores to and loads from BAR 0, by processor: vfio_store_x86.c, vfio_store_arm64.c. */
#ifndef VFIO_STORE_H
#define VFIO_STORE_H

#include "vfio.h"

#define CMDQ_HI 4u /* dword */
#define TIMER_HI 0x400u /* dword */

extern volatile uint32_t *vfio_store_bar;
/** What the register holds, in the program's order. */
uint32_t vfio_store_held(void);
/** Each way to store one register. */
void vfio_store_words(uint32_t v);
/** Two registers at once: the lower half keeps its own fixed bits. */
void vfio_store_wide(uint32_t v);
/** Each way to load. */
void vfio_store_loads(void);

#endif /* VFIO_STORE_H */
