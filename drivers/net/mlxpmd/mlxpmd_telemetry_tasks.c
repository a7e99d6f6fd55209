/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Telemetry: /mlxpmd/tasks,PORT: what the driver does for a port later or periodically, and what that costs. */

#include <rte_telemetry.h>

#include "mlxpmd_ctrl.h"

/* More than a port has. */
#define TASKS_MAX 32

static uint64_t
to_us(uint64_t ns)
{
	return ns == MLXPMD_TASK_IDLE ? 0 : ns / MLXPMD_NS_PER_US;
}

static int
add_task(struct rte_tel_data *d, const struct mlxpmd_task_info *info)
{
	struct rte_tel_data *t = rte_tel_data_alloc();
	int rc;

	if (t == NULL)
		return -ENOMEM;
	rte_tel_data_start_dict(t);
	rte_tel_data_add_dict_string(t, "thread", info->thread);
	/* 0: runs on request only. */
	rte_tel_data_add_dict_u64(t, "period_us", to_us(info->period_ns));
	if (info->due_in_ns == MLXPMD_TASK_IDLE)
		rte_tel_data_add_dict_string(t, "due_in_us", "never");
	else
		rte_tel_data_add_dict_u64(t, "due_in_us", to_us(info->due_in_ns));
	rte_tel_data_add_dict_u64(t, "runs", info->runs);
	rte_tel_data_add_dict_u64(t, "last_ns", info->last_ns);
	rte_tel_data_add_dict_u64(t, "mean_ns", info->mean_ns);
	rte_tel_data_add_dict_u64(t, "max_ns", info->max_ns);
	rte_tel_data_add_dict_u64(t, "late_max_us", to_us(info->late_max_ns));
	rc = rte_tel_data_add_dict_container(d, info->name, t, 0);
	if (rc != 0)
		rte_tel_data_free(t);
	return rc;
}

static int
add_tasks(struct rte_tel_data *d, struct mlxpmd_port *port)
{
	struct mlxpmd_task_info infos[TASKS_MAX];
	unsigned int n = mlxpmd_tasks_get(port->port_id, port->worker, infos, RTE_DIM(infos)), i;
	int rc = 0;

	for (i = 0; rc == 0 && i < n; i++)
		rc = add_task(d, &infos[i]);
	return rc;
}

static int
telemetry_tasks(const char *cmd, const char *params, struct rte_tel_data *d)
{
	RTE_SET_USED(cmd);
	return mlxpmd_telemetry_port(params, d, add_tasks);
}

RTE_INIT(mlxpmd_telemetry_tasks_init)
{
	rte_telemetry_register_cmd("/mlxpmd/tasks", telemetry_tasks,
				   "Scheduled tasks, their threads, due times and measured cost. Parameters: port id");
}
