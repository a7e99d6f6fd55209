/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Receive bursts with AVX2, four packets at a time. */

#include "mlxpmd_rx_256.h"

MLXPMD_RX_VECTOR_BURSTS(ISA256)

const struct mlxpmd_rx_template mlxpmd_rx_avx2_templates[MLXPMD_RX_TEMPLATES] =
	MLXPMD_RX_VECTOR_TEMPLATES("Vector AVX2");
