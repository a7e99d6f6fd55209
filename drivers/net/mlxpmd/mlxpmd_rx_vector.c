/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Vector receive bursts. Compiled once per row of vector_variants in meson.build, which sets the flags of the
 * instruction set, MLXPMD_VARIANT, and MLXPMD_BITS; the name of the variant is that in mlxpmd_variant.c.
 */

#if MLXPMD_BITS == 512
#include "mlxpmd_rx_512.h"
#elif MLXPMD_BITS == 128
#include "mlxpmd_rx_128.h"
#else
#include "mlxpmd_rx_256.h"
#endif
#include "mlxpmd_rx_minis.h"
#include "mlxpmd_rx_mprq_minis.h"

#define TEMPLATES_OF(variant) mlxpmd_rx_##variant##_templates
#define TEMPLATES(variant) TEMPLATES_OF(variant)

/* IFMA differs from AVX-512 only in the conversion of timestamps by a line. */
#ifdef __AVX512IFMA__
#define PLAIN_SETS(x, arg) \
	x(ts, arg, MLXPMD_RX_F_TS, " Timestamp") \
	x(ts_hash, arg, MLXPMD_RX_F_TS | MLXPMD_RX_F_HASH, " Timestamp Hash")
#define COMP_SETS(x, arg)
#else
#define PLAIN_SETS(x, arg) MLXPMD_RX_SETS(x, arg)
#define COMP_SETS(x, arg) MLXPMD_RX_COMP_SETS(x, arg)
#endif

static __rte_always_inline uint16_t
run(struct mlxpmd_rxq *rxq, struct rte_mbuf **pkts, uint16_t n, bool ts_usable, bool *absent, const unsigned int f)
{
	uint16_t got = run_groups_if(rxq, pkts, n, ts_usable, f);

	*absent = got != 0 && got != n && mlxpmd_rx_absent(rxq, rxq->q.cq_ci, f);
	if (got == n || *absent)
		return got;
	return got + mlxpmd_rx_run_scalar(rxq, pkts + got, n - got, ts_usable, absent, f);
}

static __rte_noinline void
refill(struct mlxpmd_rxq *rxq)
{
	mlxpmd_rx_refill_vec(rxq, post);
}

#define VECTOR \
	((struct mlxpmd_rx_isa){ run, refill, mlxpmd_rx_run_max, mlxpmd_rx_exception, mlxpmd_rx_minis })

static __rte_always_inline uint16_t
run_striding(struct mlxpmd_rxq *rxq, struct rte_mbuf **pkts, uint16_t n, bool ts_usable, bool *absent,
	     const unsigned int f)
{
	uint16_t got = run_groups_if(rxq, pkts, n, ts_usable, f);

	*absent = false;
	if (got == n)
		return got;
	return got + mlxpmd_mprq_run_scalar(rxq, pkts + got, n - got, ts_usable, absent, f);
}

PLAIN_SETS(MLXPMD_RX_BURST, VECTOR)
COMP_SETS(MLXPMD_RX_BURST, VECTOR)
PLAIN_SETS(MLXPMD_MPRQ_BURST, MLXPMD_MPRQ_ISA(run_striding, NULL))
COMP_SETS(MLXPMD_MPRQ_BURST, MLXPMD_MPRQ_ISA(run_striding, mlxpmd_mprq_minis))

const struct mlxpmd_template TEMPLATES(MLXPMD_VARIANT)[MLXPMD_RX_TEMPLATES] = {
	PLAIN_SETS(MLXPMD_RX_ROW, MLXPMD_NAME)
	COMP_SETS(MLXPMD_RX_ROW, MLXPMD_NAME)
	PLAIN_SETS(MLXPMD_MPRQ_ROW, MLXPMD_NAME " Striding")
	COMP_SETS(MLXPMD_MPRQ_ROW, MLXPMD_NAME " Striding")
};
