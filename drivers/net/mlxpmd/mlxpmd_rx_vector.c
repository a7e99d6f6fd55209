/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Vector receive bursts. Compiled once per row of rx_variants in meson.build, which sets the flags of the instruction
 * set and MLXPMD_RX_VARIANT; the name of the variant is that in mlxpmd_rx_variant.c.
 */

#if MLXPMD_RX_BITS == 512
#include "mlxpmd_rx_512.h"
#else
#include "mlxpmd_rx_256.h"
#endif

#define TEMPLATES_OF(variant) mlxpmd_rx_##variant##_templates
#define TEMPLATES(variant) TEMPLATES_OF(variant)

#ifdef __AVX512IFMA__
/* IFMA differs from AVX-512 only in the conversion of timestamps by a line. */
MLXPMD_RX_BURST(ts, VECTOR, MLXPMD_RX_F_TS)
MLXPMD_RX_BURST(ts_hash, VECTOR, MLXPMD_RX_F_TS | MLXPMD_RX_F_HASH)

const struct mlxpmd_rx_template TEMPLATES(MLXPMD_RX_VARIANT)[MLXPMD_RX_TEMPLATES] = {
	[MLXPMD_RX_F_TS] = { rx_burst_ts, MLXPMD_RX_NAME " Timestamp" },
	[MLXPMD_RX_F_TS | MLXPMD_RX_F_HASH] = { rx_burst_ts_hash, MLXPMD_RX_NAME " Timestamp Hash" },
};
#else
MLXPMD_RX_VECTOR_BURSTS(VECTOR)

const struct mlxpmd_rx_template TEMPLATES(MLXPMD_RX_VARIANT)[MLXPMD_RX_TEMPLATES] =
	MLXPMD_RX_VECTOR_TEMPLATES(MLXPMD_RX_NAME);
#endif
