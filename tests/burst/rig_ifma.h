/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * AVX512-IFMA on machines that have AVX-512 without it.
 */
#ifndef BURST_RIG_IFMA_H
#define BURST_RIG_IFMA_H

#include "rig.h"

/** From now on the two instructions work in this process. false: not even AVX-512 is there. */
bool rig_ifma_emulate(void);
/** How many were emulated: 0 on a machine that has them. */
extern unsigned long rig_ifma_done;

#endif /* BURST_RIG_IFMA_H */
