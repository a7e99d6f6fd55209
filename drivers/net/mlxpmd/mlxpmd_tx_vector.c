/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Vector transmit bursts. Compiled once per row of vector_variants in meson.build, which sets the flags of the
 * instruction set, MLXPMD_VARIANT, and MLXPMD_BITS; the name of the variant is that in mlxpmd_variant.c.
 */

#if MLXPMD_BITS == 512
#include "mlxpmd_tx_512.h"
#elif MLXPMD_BITS == 128
#include "mlxpmd_tx_128.h"
#else
#include "mlxpmd_tx_256.h"
#endif

#define TEMPLATES_OF(variant) mlxpmd_tx_##variant##_templates
#define TEMPLATES(variant) TEMPLATES_OF(variant)

#define VECTOR ((struct tx_isa){ mpw_groups, send_groups })

MPW_SETS(TX_BURST, VECTOR)

const struct mlxpmd_template TEMPLATES(MLXPMD_VARIANT)[MLXPMD_TX_TEMPLATES] = {
	MPW_SETS(TX_ROW, MLXPMD_NAME)
};
