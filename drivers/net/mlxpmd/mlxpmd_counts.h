/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * The device's counters: tasks query them, readers get the last reply and never wait for a firmware command.
 */
#ifndef MLXPMD_COUNTS_H
#define MLXPMD_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include <mdv.h>

struct mlxpmd_port;

/** Groups of counters: one query for the first, up to three for the second. */
enum mlxpmd_counts_of { MLXPMD_MISSED, MLXPMD_COUNTERS, MLXPMD_NB_COUNTS };

/** Values, and when their query was issued: mlxpmd_now_ns(). */
struct mlxpmd_counts {
	uint64_t queried_ns[MLXPMD_NB_COUNTS];
	uint64_t missed;	/**< Frames for the port's RQs that found no WQE posted (out_of_buffer). */
	uint64_t counters[MDV_COUNTERS_MAX]; /**< Vport and physical counters, in the order of mdv_counters_read(). */
};

/** State of the cache: plain data. */
struct mlxpmd_counts_info {
	uint64_t readings[MLXPMD_NB_COUNTS], failures[MLXPMD_NB_COUNTS]; /**< Since the probe. */
	unsigned int outstanding; /**< Asynchronous queries without a reply. */
	bool async;		/**< The last query was asynchronous; else the port's worker waited for it. */
};

/** Of the probe's stage "statistics". */
int mlxpmd_counts_up(struct mlxpmd_port *port);
void mlxpmd_counts_down(struct mlxpmd_port *port);
/**
 * The last values of one group; the other group's fields are not set. Any thread; never waits and takes no lock.
 * With stats_age_ms=0 only, the caller queries the device.
 */
void mlxpmd_counts_get(struct mlxpmd_port *port, enum mlxpmd_counts_of which,
		       struct mlxpmd_counts *counts);
/** As mlxpmd_counts_get(), but the caller queries the device: for a reset. */
void mlxpmd_counts_read(struct mlxpmd_port *port, enum mlxpmd_counts_of which,
			struct mlxpmd_counts *counts);
/**
 * For start and stop of a port: queries both groups and waits. Both count as unread from then on.
 * No operation with stats_age_ms=0 or after the removal of the device.
 */
void mlxpmd_counts_settle(struct mlxpmd_port *port);
/** For the queue watch: whether the application sleeps on all receive queues. */
void mlxpmd_counts_asleep(struct mlxpmd_port *port, bool asleep);
/** Microseconds since the query of these values was issued. */
uint64_t mlxpmd_counts_age_us(const struct mlxpmd_counts *counts, enum mlxpmd_counts_of which);
void mlxpmd_counts_info_get(struct mlxpmd_port *port, struct mlxpmd_counts_info *info);

#endif /* MLXPMD_COUNTS_H */
