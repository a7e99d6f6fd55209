/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * AVX512-IFMA on machines that have AVX-512 without it.
 */
#ifndef BURST_RIG_IFMA_H
#define BURST_RIG_IFMA_H

#include "rig.h"

/** Installs the handler. false: the CPU has no AVX-512. */
bool rig_ifma_emulate(void);
/** Number of emulated instructions: 0 if the CPU has IFMA. */
extern unsigned long rig_ifma_done;

#endif /* BURST_RIG_IFMA_H */
