/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * The flight recorder of a port (mdv_recorder.h).
 */
#ifndef MLXPMD_RECORDER_H
#define MLXPMD_RECORDER_H

#include <mdv_recorder.h>

#include "mlxpmd.h"

/** Records a call of the application that began at begin_ns (mlxpmd_now_ns()); rc: 0 or a negative errno. */
static inline void
mlxpmd_record_port(const struct mlxpmd_port *port, enum mdv_record_port op, int rc, uint64_t begin_ns)
{
	MDV_RECORD(port->mdv, .kind = MDV_RECORD_PORT, .op = op, .value = -rc,
		   .duration_ns = mdv_duration_ns(begin_ns));
}

/** The fields of a record that name a queue. */
#define MLXPMD_RECORD_QUEUE(q) \
	.arg = (q)->queue_id, .object = (q)->hw.wq.number, .flags = (q)->kind == MLXPMD_TX ? MDV_RECORD_TX : 0

/** The field of a record with the good completions since the queue's start or last repair. An error is not consumed. */
#define MLXPMD_RECORD_COMPLETIONS(q) \
	.completions = __atomic_load_n(&(q)->cq_ci, __ATOMIC_RELAXED) - (q)->ready_ci

/** For the header of a file. */
struct mdv_recorder_owner mlxpmd_recorder_owner(const struct mlxpmd_port *port);
/** Records what packets were lost, at most once a second. The port's lock is held. */
void mlxpmd_recorder_watch(struct mlxpmd_port *port, uint64_t now_ns);
/** After a failure: writes the recorder to a file, unless devarg recorder is off. Without the port's lock. */
void mlxpmd_recorder_failed(struct mlxpmd_port *port, enum mdv_recorder_reason reason);
/** The same if a queue was given up since the last call. Worker. */
void mlxpmd_recorder_given_up(struct mlxpmd_port *port);

#endif /* MLXPMD_RECORDER_H */
