/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Receive bursts with AVX-512 and IFMA: only those that convert timestamps by a line. */

#include "mlxpmd_rx_avx512.h"

MLXPMD_RX_BURST(ts, AVX512, MLXPMD_RX_F_TS)
MLXPMD_RX_BURST(ts_hash, AVX512, MLXPMD_RX_F_TS | MLXPMD_RX_F_HASH)

const struct mlxpmd_rx_template mlxpmd_rx_ifma_templates[MLXPMD_RX_TEMPLATES] = {
	[MLXPMD_RX_F_TS] = { rx_burst_ts, "Vector AVX512-IFMA Timestamp" },
	[MLXPMD_RX_F_TS | MLXPMD_RX_F_HASH] = { rx_burst_ts_hash, "Vector AVX512-IFMA Timestamp Hash" },
};
