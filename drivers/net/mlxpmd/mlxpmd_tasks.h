/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * The tasks that each port has: events, link, queues and removal. Clock and counters add tasks of their own.
 */
#ifndef MLXPMD_TASKS_H
#define MLXPMD_TASKS_H

struct mlxpmd_port;

/** Stages of probe: the port's worker thread. */
int mlxpmd_worker_up(struct mlxpmd_port *port);
void mlxpmd_worker_down(struct mlxpmd_port *port);
/** Stages of probe, the last: the tasks. */
int mlxpmd_tasks_up(struct mlxpmd_port *port);
void mlxpmd_tasks_down(struct mlxpmd_port *port);
/** Stages of dev_start, the last: queues are watched and repaired between. */
int mlxpmd_tasks_start(struct mlxpmd_port *port);
void mlxpmd_tasks_stop(struct mlxpmd_port *port);

#endif /* MLXPMD_TASKS_H */
