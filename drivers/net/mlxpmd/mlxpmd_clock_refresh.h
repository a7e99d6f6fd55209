/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * State of a clock that the control plane alone uses: its refresh task, and what telemetry shows.
 */
#ifndef MLXPMD_CLOCK_REFRESH_H
#define MLXPMD_CLOCK_REFRESH_H

#include <pthread.h>

#include "mlxpmd_clock.h"
#include "mlxpmd_sched.h"

/** Longest time between refreshes in microseconds: a servo's corrections reach packets within it. */
#define MLXPMD_CLOCK_REFRESH_MAX_US 100000u
/** Shortest time. */
#define MLXPMD_CLOCK_REFRESH_MIN_US 1000u
/**
 * Milliseconds for which a line may be used after a refresh, even if the line itself holds for longer: a step of the
 * source is found by a refresh only.
 */
#define MLXPMD_CLOCK_VALID_MS 2000u

/** State of a clock: plain data. */
struct mlxpmd_clock_info {
	struct mdv_clock_state state;	/**< Of the last refresh. */
	enum mdv_clock_quality quality;	/**< state's, or broken while no line may be used. */
	uint32_t generation;		/**< Last published. */
	uint64_t refreshed_tsc;		/**< When that was. */
	uint64_t expires_tsc;		/**< Of what is published; 0: nothing yet. */
	uint64_t expired;		/**< Times that stamps became absent. */
	uint64_t age_ns;		/**< Since the reading that the published line is based on. */
	uint64_t attempts;		/**< Refreshes, also those that gave no line. */
};

/** The part of a clock that readers of timestamps never use. */
struct mlxpmd_clock_refresher {
	struct mlxpmd_task task;	/**< Of the control thread. */
	struct mdv_clock *mdv;		/**< Used by the task alone. */
	const struct mdv_dev *dev;
	uint16_t port_id;
	bool absent;			/**< Stamps are absent, and that was counted. */
	struct mlxpmd_clock_snap last;	/**< The device's line as published last. */
	uint64_t step_logged_tsc;	/**< When a step was last logged, 0: never. */
	uint64_t steps_logged;
	pthread_mutex_t lock;		/**< Of info, held while it is copied. */
	struct mlxpmd_clock_info info;
};

/** Copies the state of a clock; any thread. Reads neither the device nor its clock page. */
void mlxpmd_clock_info_get(const struct mlxpmd_clock *clock, struct mlxpmd_clock_info *info);

#endif /* MLXPMD_CLOCK_REFRESH_H */
