/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Receive bursts with AVX-512 instructions on 256 bits, which is what EAL allows by default. */

#include "mlxpmd_rx_256.h"

MLXPMD_RX_VECTOR_BURSTS(ISA256)

const struct mlxpmd_rx_template mlxpmd_rx_avx512vl_templates[MLXPMD_RX_TEMPLATES] =
	MLXPMD_RX_VECTOR_TEMPLATES("Vector AVX512VL");
