/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Receive bursts with AVX-512 (F, BW, DQ, VL), eight packets at a time. */

#include "mlxpmd_rx_avx512.h"

MLXPMD_RX_VECTOR_BURSTS(AVX512)

const struct mlxpmd_rx_template mlxpmd_rx_avx512_templates[MLXPMD_RX_TEMPLATES] =
	MLXPMD_RX_VECTOR_TEMPLATES("Vector AVX512");
