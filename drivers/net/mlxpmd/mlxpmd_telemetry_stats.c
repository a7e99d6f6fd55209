/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Telemetry: /mlxpmd/stats,PORT: what the device counts, how old that is, and how it came. The device is
 * asked by the port's control thread (mlxpmd_counts.c), if it is due.
 */

#include <rte_telemetry.h>

#include "mlxpmd_ctrl.h"

static int
add_counters(struct rte_tel_data *d, const struct mlxpmd_port *port,
	     const struct mlxpmd_counts *counts)
{
	struct rte_tel_data *c = rte_tel_data_alloc();
	int rc;

	if (c == NULL)
		return -ENOMEM;
	rte_tel_data_start_dict(c);
	for (unsigned int i = 0; i < mdv_counters_count(port->mdv); i++)
		rte_tel_data_add_dict_u64(c, mdv_counter_name(port->mdv, i), counts->counters[i]);
	rc = rte_tel_data_add_dict_container(d, "counters", c, 0);
	if (rc != 0)
		rte_tel_data_free(c);
	return rc;
}

/* Raw: since the device came up (missed: since the probe), whatever was reset. */
static int
add_stats(struct rte_tel_data *d, struct mlxpmd_port *port)
{
	struct mlxpmd_counts missed, counters;
	struct mlxpmd_counts_info info;

	mlxpmd_counts_get(port, MLXPMD_MISSED, &missed);
	mlxpmd_counts_get(port, MLXPMD_COUNTERS, &counters);
	mlxpmd_counts_info_get(port, &info);
	rte_tel_data_add_dict_int(d, "stats_age_ms", port->args.stats_age_ms);
	rte_tel_data_add_dict_string(d, "missed_by", port->args.stats_age_ms == 0 ? "reader" :
				     info.async ? "asynchronous query" : "control thread");
	rte_tel_data_add_dict_u64(d, "missed", missed.missed);
	rte_tel_data_add_dict_u64(d, "missed_age_us", mlxpmd_counts_age_us(&missed, MLXPMD_MISSED));
	rte_tel_data_add_dict_u64(d, "missed_readings", info.readings[MLXPMD_MISSED]);
	rte_tel_data_add_dict_u64(d, "missed_failures", info.failures[MLXPMD_MISSED]);
	rte_tel_data_add_dict_int(d, "unanswered", info.outstanding);
	rte_tel_data_add_dict_u64(d, "counters_age_us",
				  mlxpmd_counts_age_us(&counters, MLXPMD_COUNTERS));
	rte_tel_data_add_dict_u64(d, "counters_readings", info.readings[MLXPMD_COUNTERS]);
	rte_tel_data_add_dict_u64(d, "counters_failures", info.failures[MLXPMD_COUNTERS]);
	return add_counters(d, port, &counters);
}

static int
telemetry_stats(const char *cmd, const char *params, struct rte_tel_data *d)
{
	RTE_SET_USED(cmd);
	return mlxpmd_telemetry_port(params, d, add_stats);
}

RTE_INIT(mlxpmd_telemetry_stats_init)
{
	rte_telemetry_register_cmd("/mlxpmd/stats", telemetry_stats,
				   "What the device counts, how old that is, and how it came. Parameters: port id");
}
