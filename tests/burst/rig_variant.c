/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* The instruction sets whose bursts are tested. */

#include "rig_ifma.h"

static const struct mlxpmd_variant scalar_variant = {
	"scalar", MLXPMD_BURST_SCALAR, 0, mlxpmd_rx_templates, mlxpmd_tx_templates, NULL
};
const struct mlxpmd_variant *rig_variant = &scalar_variant;

static bool
variant_from(const struct mlxpmd_variant *v)
{
	bool emulated;

	for (; v->name != NULL; v++) {
		emulated = !v->cpu_has() && strcmp(v->name, "ifma") == 0 && rig_ifma_emulate();
		if (v->cpu_has() || emulated) {
			printf("variant %s%s\n", v->name, emulated ? " (instructions emulated)" : "");
			rig_variant = v;
			return true;
		}
		printf("variant %s: not on this machine\n", v->name);
	}
	rig_variant = &scalar_variant;
	return false;
}

bool
rig_variant_first(void)
{
	return variant_from(mlxpmd_variants);
}

bool
rig_variant_next(void)
{
	return variant_from(rig_variant + 1);
}

eth_rx_burst_t
rig_function(bool tx, unsigned int f)
{
	const struct mlxpmd_template *t = mlxpmd_variant_template(rig_variant, tx, f);

	return (t != NULL ? t : mlxpmd_variant_template(&scalar_variant, tx, f))->burst;
}
