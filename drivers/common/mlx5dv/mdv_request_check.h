/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Check that a command only reads. */
#ifndef MDV_REQUEST_CHECK_H
#define MDV_REQUEST_CHECK_H

#include "mdv_inspect.h"

/**
 * Checks that a command changes nothing in the device.
 *
 * @param[out] refused
 *   If false is returned: the first field that may change something; empty: the command or register.
 */
bool mdv_request_reads_only(const uint32_t *in, size_t in_bytes, char refused[MDV_REFUSED_BYTES]);
/** ACCESS_REGISTER or ACCESS_REGISTER_USER. */
bool mdv_request_is_register(uint16_t opcode);

#endif /* MDV_REQUEST_CHECK_H */
