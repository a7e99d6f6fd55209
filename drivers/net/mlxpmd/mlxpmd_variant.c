/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* The instruction sets for which bursts are built, and the selection of one. */

/* For rte_vect_get_max_simd_bitwidth(), which all drivers with vector bursts call. */
#ifndef ALLOW_EXPERIMENTAL_API
#define ALLOW_EXPERIMENTAL_API
#endif

#include <rte_cpuflags.h>
#include <rte_vect.h>

#include "mlxpmd_ctrl.h"
#include "mlxpmd_rx.h"
#include "mlxpmd_tx.h"

/* Of mlxpmd_rx_vector.c and mlxpmd_tx_vector.c, as far as the compiler supports them. */
extern const struct mlxpmd_template mlxpmd_rx_ifma_templates[], mlxpmd_rx_avx512_templates[],
	mlxpmd_rx_avx512vl_templates[], mlxpmd_rx_avx2_templates[], mlxpmd_rx_sse_templates[],
	mlxpmd_rx_neon_templates[];
extern const struct mlxpmd_template mlxpmd_tx_avx512_templates[], mlxpmd_tx_avx512vl_templates[],
	mlxpmd_tx_avx2_templates[], mlxpmd_tx_sse_templates[], mlxpmd_tx_neon_templates[];

#ifdef RTE_ARCH_X86_64
/* The compiler uses these in the bursts of AVX2 and wider, too. */
static __rte_unused bool
has_bmi(void)
{
	return rte_cpu_get_flag_enabled(RTE_CPUFLAG_BMI1) > 0 && rte_cpu_get_flag_enabled(RTE_CPUFLAG_BMI2) > 0;
}

static __rte_unused bool
has_avx512(void)
{
	return has_bmi() && rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX512F) > 0 &&
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
	return has_bmi() && rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX2) > 0;
}

static __rte_unused bool
has_sse(void)
{
	return rte_cpu_get_flag_enabled(RTE_CPUFLAG_SSE4_2) > 0;
}
#endif

#ifdef RTE_ARCH_ARM64
static __rte_unused bool
has_neon(void)
{
	return rte_cpu_get_flag_enabled(RTE_CPUFLAG_NEON) > 0;
}
#endif

static bool
has_all(void)
{
	return true;
}

const struct mlxpmd_variant mlxpmd_variants[] = {
#ifdef MLXPMD_IFMA
	{ "ifma", MLXPMD_BURST_IFMA, RTE_VECT_SIMD_512, mlxpmd_rx_ifma_templates, NULL, has_ifma },
#endif
#ifdef MLXPMD_AVX512
	{ "avx512", MLXPMD_BURST_AVX512, RTE_VECT_SIMD_512, mlxpmd_rx_avx512_templates,
	  mlxpmd_tx_avx512_templates, has_avx512 },
#endif
#ifdef MLXPMD_AVX512VL
	{ "avx512vl", MLXPMD_BURST_AVX512VL, RTE_VECT_SIMD_256, mlxpmd_rx_avx512vl_templates,
	  mlxpmd_tx_avx512vl_templates, has_avx512 },
#endif
#ifdef MLXPMD_AVX2
	{ "avx2", MLXPMD_BURST_AVX2, RTE_VECT_SIMD_256, mlxpmd_rx_avx2_templates,
	  mlxpmd_tx_avx2_templates, has_avx2 },
#endif
#ifdef MLXPMD_SSE
	{ "sse", MLXPMD_BURST_SSE, RTE_VECT_SIMD_128, mlxpmd_rx_sse_templates, mlxpmd_tx_sse_templates, has_sse },
#endif
#ifdef MLXPMD_NEON
	{ "neon", MLXPMD_BURST_NEON, RTE_VECT_SIMD_128, mlxpmd_rx_neon_templates, mlxpmd_tx_neon_templates, has_neon },
#endif
	{ "scalar", MLXPMD_BURST_SCALAR, 0, mlxpmd_rx_templates, mlxpmd_tx_templates, has_all },
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

/* Why no vector burst was chosen for a feature set that has one; NULL: the widest was. */
static const char *
auto_reason(bool tx, bool vector, bool limited)
{
	if (limited)
		return tx ? "tx_burst=auto: the CPU has wider ones, beyond EAL's --force-max-simd-bitwidth" :
			    "rx_burst=auto: the CPU has wider ones, beyond EAL's --force-max-simd-bitwidth";
	if (vector)
		return NULL;
	return tx ? "tx_burst=auto: the CPU has no vector instructions for which this build has bursts" :
		    "rx_burst=auto: the CPU has no vector instructions for which this build has bursts";
}

const struct mlxpmd_template *
mlxpmd_variant_choose(bool tx, unsigned int f, enum mlxpmd_burst_mode mode, const char **why)
{
	const struct mlxpmd_variant *v;
	bool limited = false;

	for (v = mlxpmd_variants; v->simd_bits != 0; v++) {
		if (mlxpmd_variant_template(v, tx, f) == NULL || !v->cpu_has() ||
		    (mode != MLXPMD_BURST_AUTO && mode != v->mode))
			continue;
		if (v->simd_bits <= rte_vect_get_max_simd_bitwidth())
			break;
		limited = true;
	}
	if (mode == v->mode)
		*why = tx ? "selected by devarg tx_burst" : "selected by devarg rx_burst";
	else if (has_vector(tx, f, why))
		*why = auto_reason(tx, v->simd_bits != 0, limited);
	return mlxpmd_variant_template(v, tx, f);
}

int
mlxpmd_variant_check(const char *dev, const char *key, enum mlxpmd_burst_mode mode)
{
	const struct mlxpmd_variant *v;

	if (mode == MLXPMD_BURST_AUTO)
		return 0;
	for (v = mlxpmd_variants; v->name != NULL && v->mode != mode; v++)
		;
	if (v->name == NULL)
		return MLXPMD_FAIL(ENOTSUP, "%s: devarg %s: this build has no bursts of that instruction set: use auto",
				   dev, key);
	if (!v->cpu_has())
		return MLXPMD_FAIL(ENOTSUP, "%s: devarg %s=%s: the CPU does not have the instructions: use auto", dev,
				   key, v->name);
	if (v->simd_bits > rte_vect_get_max_simd_bitwidth())
		return MLXPMD_FAIL(ENOTSUP, "%s: devarg %s=%s: EAL allows vectors of %u bits: use auto, or "
				   "--force-max-simd-bitwidth=%u", dev, key, v->name, rte_vect_get_max_simd_bitwidth(),
				   v->simd_bits);
	return 0;
}
