/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Scalar transmit bursts, one function per set of features. */

#include "mlxpmd_tx_burst.h"

static __rte_always_inline uint32_t
no_groups(struct tx_run *w __rte_unused, struct rte_mbuf **pkts __rte_unused, uint32_t max __rte_unused,
	  const unsigned int f __rte_unused)
{
	return 0;
}

#define SCALAR ((struct tx_isa){ no_groups, no_groups })

MPW_SETS(TX_BURST, SCALAR)
SEND_SETS(TX_BURST, SCALAR)

/* With several segments fast free is not possible, even if the application enables it. */
const struct mlxpmd_template mlxpmd_tx_templates[MLXPMD_TX_TEMPLATES] = {
	MPW_SETS(TX_ROW, "Scalar")
	SEND_SETS(TX_ROW, "Scalar")
};
