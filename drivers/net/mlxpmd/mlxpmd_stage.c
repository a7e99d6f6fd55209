/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Runs tables of set-up stages forwards and unwinds them backwards. */

#include "mlxpmd_ctrl.h"

int
mlxpmd_stages_up(struct mlxpmd_port *port, const struct mlxpmd_stage *stages, unsigned int n)
{
	unsigned int i;
	int rc;

	for (i = 0; i < n; i++) {
		rc = stages[i].up(port);
		if (rc != 0) {
			MLXPMD_LOG(DEBUG, "port %u: stage %s failed: %s", port->port_id,
				   stages[i].name, rte_strerror(-rc));
			mlxpmd_stages_down(port, stages, i);
			return rc;
		}
	}
	return 0;
}

void
mlxpmd_stages_down(struct mlxpmd_port *port, const struct mlxpmd_stage *stages, unsigned int n)
{
	while (n-- > 0)
		if (stages[n].down != NULL)
			stages[n].down(port);
}
