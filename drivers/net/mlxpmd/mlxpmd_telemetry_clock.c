/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Telemetry: /mlxpmd/clock,PORT. Shows what the last refresh found; reads neither device nor clock page. */

#include <rte_telemetry.h>

#include "mlxpmd_clock_refresh.h"
#include "mlxpmd_ctrl.h"

/* DPDK 22.11 has no signed numbers of 64 bits and no fractions. */
static void
add_signed(struct rte_tel_data *d, const char *name, int64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%+" PRId64, value);
	rte_tel_data_add_dict_string(d, name, text);
}

static void
add_fraction(struct rte_tel_data *d, const char *name, double value)
{
	char text[32];

	snprintf(text, sizeof(text), "%+.4f", value);
	rte_tel_data_add_dict_string(d, name, text);
}

static void
add_quality(struct rte_tel_data *d, const struct mlxpmd_clock_info *info)
{
	const struct mdv_clock_state *state = &info->state;

	rte_tel_data_add_dict_string(d, "quality", mdv_clock_quality_name(info->quality));
	rte_tel_data_add_dict_string(d, "source", mdv_clock_source_name(state->source));
	rte_tel_data_add_dict_string(d, "unit", state->unit);
	rte_tel_data_add_dict_string(d, "epoch", state->epoch);
	rte_tel_data_add_dict_u64(d, "frequency_hz", state->frequency_hz);
	add_signed(d, "offset_ns", state->offset_ns);
	add_fraction(d, "drift_ppm", state->drift_ppm);
	rte_tel_data_add_dict_u64(d, "uncertainty_ns", state->uncertainty_ns);
	rte_tel_data_add_dict_u64(d, "age_ns", info->age_ns);
}

static void
add_history(struct rte_tel_data *d, const struct mlxpmd_clock_info *info)
{
	const struct mdv_clock_state *state = &info->state;

	rte_tel_data_add_dict_u64(d, "generation", info->generation);
	rte_tel_data_add_dict_u64(d, "steps", state->steps);
	rte_tel_data_add_dict_u64(d, "slews", state->slews);
	rte_tel_data_add_dict_u64(d, "busy", state->busy);
	rte_tel_data_add_dict_u64(d, "expired", info->expired);
	rte_tel_data_add_dict_u64(d, "failed", state->failed);
	rte_tel_data_add_dict_u64(d, "rejected", state->rejected);
	rte_tel_data_add_dict_u64(d, "refreshes", state->refreshes);
	rte_tel_data_add_dict_u64(d, "refresh_us", state->next_us);
	rte_tel_data_add_dict_u64(d, "attempts", info->attempts);
}

static int
add_clock(struct rte_tel_data *d, struct mlxpmd_port *port)
{
	struct mlxpmd_clock_info info;

	rte_tel_data_add_dict_int(d, "port", port->port_id);
	if (port->clock == NULL) {
		rte_tel_data_add_dict_string(d, "source", "none");
		return 0;
	}
	mlxpmd_clock_info_get(port->clock, &info);
	add_quality(d, &info);
	add_history(d, &info);
	return 0;
}

static int
telemetry_clock(const char *cmd, const char *params, struct rte_tel_data *d)
{
	RTE_SET_USED(cmd);
	return mlxpmd_telemetry_port(params, d, add_clock);
}

RTE_INIT(mlxpmd_telemetry_clock_init)
{
	rte_telemetry_register_cmd("/mlxpmd/clock", telemetry_clock,
				   "Source of timestamps, its quality and history. Parameters: port id");
}
