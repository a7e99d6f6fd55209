/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* The instruction sets for which bursts are built, and the selection of one. */

/* For rte_vect_get_max_simd_bitwidth(), which all drivers with vector bursts call. */
#ifndef ALLOW_EXPERIMENTAL_API
#define ALLOW_EXPERIMENTAL_API
#endif

#include <rte_cpuflags.h>
#include <rte_vect.h>

#include "mlxpmd.h"
#include "mlxpmd_rx.h"
#include "mlxpmd_tx.h"

/* Of mlxpmd_rx_vector.c and mlxpmd_tx_vector.c, as far as the compiler supports them. */
extern const struct mlxpmd_template mlxpmd_rx_ifma_templates[], mlxpmd_rx_avx512_templates[],
	mlxpmd_rx_avx512vl_templates[], mlxpmd_rx_avx2_templates[];
extern const struct mlxpmd_template mlxpmd_tx_avx512_templates[], mlxpmd_tx_avx512vl_templates[],
	mlxpmd_tx_avx2_templates[];

#ifdef RTE_ARCH_X86_64
static __rte_unused bool
has_avx512(void)
{
	return rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX512F) > 0 &&
	       rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX512BW) > 0 &&
	       rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX512DQ) > 0 &&
	       rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX512VL) > 0;
}

static __rte_unused bool
has_ifma(void)
{
	return has_avx512() && rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX512IFMA) > 0;
}

static __rte_unused bool
has_avx2(void)
{
	return rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX2) > 0;
}
#endif

static bool
has_all(void)
{
	return true;
}

const struct mlxpmd_variant mlxpmd_variants[] = {
#ifdef MLXPMD_IFMA
	{ "ifma", RTE_VECT_SIMD_512, mlxpmd_rx_ifma_templates, NULL, has_ifma },
#endif
#ifdef MLXPMD_AVX512
	{ "avx512", RTE_VECT_SIMD_512, mlxpmd_rx_avx512_templates, mlxpmd_tx_avx512_templates, has_avx512 },
#endif
#ifdef MLXPMD_AVX512VL
	{ "avx512vl", RTE_VECT_SIMD_256, mlxpmd_rx_avx512vl_templates, mlxpmd_tx_avx512vl_templates, has_avx512 },
#endif
#ifdef MLXPMD_AVX2
	{ "avx2", RTE_VECT_SIMD_256, mlxpmd_rx_avx2_templates, mlxpmd_tx_avx2_templates, has_avx2 },
#endif
	{ "scalar", 0, mlxpmd_rx_templates, mlxpmd_tx_templates, has_all },
	{ .name = NULL },
};

/* Are there vector bursts for this feature set? *why: if not. */
static bool
has_vector(bool tx, unsigned int f, const char **why)
{
	if (!tx && (f & MLXPMD_RX_F_SCATTER)) {
		*why = "rx_burst=auto: packets may have several segments";
		return false;
	}
	*why = NULL;
	return !tx || (f & MLXPMD_TX_F_MPW);
}

const struct mlxpmd_template *
mlxpmd_variant_choose(bool tx, unsigned int f, bool scalar, const char **why)
{
	const struct mlxpmd_variant *v;
	bool limited = false;

	for (v = mlxpmd_variants; v->simd_bits != 0; v++) {
		if (scalar || mlxpmd_variant_template(v, tx, f) == NULL || !v->cpu_has())
			continue;
		if (v->simd_bits <= rte_vect_get_max_simd_bitwidth())
			break;
		limited = true;
	}
	if (scalar)
		*why = tx ? "selected by tx_burst=scalar" : "selected by rx_burst=scalar";
	else if (!has_vector(tx, f, why))
		;
	else if (limited)
		*why = tx ? "tx_burst=auto: the CPU has wider ones, beyond EAL's --force-max-simd-bitwidth" :
			    "rx_burst=auto: the CPU has wider ones, beyond EAL's --force-max-simd-bitwidth";
	else if (v->simd_bits == 0)
		*why = tx ? "tx_burst=auto: the CPU has no AVX2, or this build" :
			    "rx_burst=auto: the CPU has no AVX2, or this build";
	return mlxpmd_variant_template(v, tx, f);
}
