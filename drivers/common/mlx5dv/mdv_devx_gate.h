/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Which commands only ask: mdv_devx.c asks no others. */
#ifndef MDV_DEVX_GATE_H
#define MDV_DEVX_GATE_H

#include "mdv_devx.h"

/**
 * Does the command change nothing?
 *
 * @param[out] refused
 *   Where it does, or may: the first field that is to blame; empty: the command or register as such.
 */
bool mdv_devx_read_only(const uint32_t *in, size_t in_bytes, char refused[MDV_REFUSED_BYTES]);
bool mdv_devx_is_register(uint16_t opcode);

#endif /* MDV_DEVX_GATE_H */
