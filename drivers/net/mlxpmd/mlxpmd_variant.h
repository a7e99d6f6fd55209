/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * Burst functions by instruction set and set of features, and the selection of one.
 */
#ifndef MLXPMD_VARIANT_H
#define MLXPMD_VARIANT_H

#include <stdbool.h>
#include <stdint.h>

#include "mlxpmd.h"

/** A burst function. */
struct mlxpmd_template {
	uint16_t (*burst)(void *queue, struct rte_mbuf **pkts, uint16_t n);
	const char *name;	/**< Of the burst mode. */
};

/** The bursts of an instruction set. */
struct mlxpmd_variant {
	const char *name;
	enum mlxpmd_burst_mode mode;
	uint16_t simd_bits;	/**< Width of its registers; 0: scalar. */
	/** By feature set (MLXPMD_RX_F_*, MLXPMD_TX_F_*); NULL, or burst NULL: use the next variant of the list. */
	const struct mlxpmd_template *rx, *tx;
	bool (*cpu_has)(void);
};
/** Widest first, scalar last; ends with name NULL. */
extern const struct mlxpmd_variant mlxpmd_variants[];

/** The variant's burst for a feature set; NULL if it has none. */
static inline const struct mlxpmd_template *
mlxpmd_variant_template(const struct mlxpmd_variant *v, bool tx, unsigned int f)
{
	const struct mlxpmd_template *t = tx ? v->tx : v->rx;

	return t != NULL && t[f].burst != NULL ? &t[f] : NULL;
}

/**
 * Selects the burst of a feature set: the widest that the CPU supports and EAL allows.
 * @param mode That of devarg rx_burst or tx_burst; the scalar burst serves what that instruction set has none for.
 * @param why [out] Reason for the selection, a constant string; NULL: it is the widest that the CPU supports, or the
 *   only one of the feature set.
 */
const struct mlxpmd_template *mlxpmd_variant_choose(bool tx, unsigned int f, enum mlxpmd_burst_mode mode,
						    const char **why);

/**
 * Refuses a mode that this build, this CPU, or EAL's --force-max-simd-bitwidth does not have.
 * @return 0; -ENOTSUP, logged as a mistake in the devarg `key`.
 */
int mlxpmd_variant_check(const char *dev, const char *key, enum mlxpmd_burst_mode mode);

#endif /* MLXPMD_VARIANT_H */
