/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Registers the driver's log type. */

#include "mlxpmd_log.h"

RTE_LOG_REGISTER_DEFAULT(mlxpmd_logtype, NOTICE);
