/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* The whole PRM description: enumerations, layouts, commands, checks, names, WQE structures. */

#ifndef PRM_H
#define PRM_H

#include "prm_base.h"
#include "prm_commands.h"
#include "prm_decode.h"
#include "prm_enums.h"
#include "prm_layouts.h"
#include "prm_wqe.h"

#endif /* PRM_H */
