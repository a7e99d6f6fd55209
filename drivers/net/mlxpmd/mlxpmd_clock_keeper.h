/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * Who keeps the clocks: refreshes each in time, and knows how it is with them. Control plane only.
 */
#ifndef MLXPMD_CLOCK_KEEPER_H
#define MLXPMD_CLOCK_KEEPER_H

#include <pthread.h>

#include "mlxpmd_clock.h"

/** Microseconds between refreshes at most: slower, and a servo's corrections reach packets late. */
#define MLXPMD_CLOCK_REFRESH_MAX_US 100000u
/** And at least: faster is work for nothing. */
#define MLXPMD_CLOCK_REFRESH_MIN_US 1000u
/**
 * Milliseconds for which a line may be used after the source was last looked at, whatever longer time the line
 * itself would hold: a step that nobody looks for must not go unseen for long.
 */
#define MLXPMD_CLOCK_LEASE_MS 2000u

/** What is to be known of a clock: plain data. */
struct mlxpmd_clock_info {
	struct mdv_clock_state state;	/**< Of the last refresh. */
	enum mdv_clock_quality quality;	/**< state's, or broken while nothing may be used. */
	uint32_t generation;		/**< Last published. */
	uint64_t kept_tsc;		/**< When that was. */
	uint64_t expires_tsc;		/**< Of what is published; 0: nothing yet. */
	uint64_t expired;		/**< Times that stamps became absent: nobody refreshed, or the source broke. */
	uint64_t age_ns;		/**< Since the reading that the published line stands on. */
	uint64_t by_service, by_control; /**< Refreshes tried by a service core; by the control thread. */
};

/** The part of a clock that readers never touch. */
struct mlxpmd_clock_keeper {
	struct mdv_clock *mdv;		/**< Only the refresher, under its slot's lock. */
	const struct mdv_dev *dev;
	uint16_t port_id;
	bool out;			/**< Nothing published may be used, and that was counted. */
	struct mlxpmd_clock_snap last;	/**< The device's line as published last. */
	uint64_t step_said_tsc;		/**< When a step was last logged, 0: never. */
	uint64_t steps_said;
	pthread_mutex_t lock;		/**< Of info, for as long as it is copied. */
	struct mlxpmd_clock_info info;
};

/**
 * Refreshes a clock and publishes (mlxpmd_clock.c). One caller at a time.
 * @return Microseconds after which it wants to be called again.
 */
uint64_t mlxpmd_clock_keep(struct mlxpmd_clock *clock, bool by_service);
/** How it is with a clock now; any thread, any time: neither device nor refresher is asked. */
void mlxpmd_clock_info_get(const struct mlxpmd_clock *clock, struct mlxpmd_clock_info *info);

/**
 * The process's service `mlxpmd_clock` (mlxpmd_clock_service.c) takes a clock in, and refreshes it after next_us
 * and from then on. On a service core when one is mapped to the service, else in EAL's control thread.
 * @return 0, or why there is nobody to refresh: said.
 */
int mlxpmd_clock_serve(struct mlxpmd_clock *clock, uint64_t next_us);
/** Lets it go: waits for a refresh that is under way. Nothing happens when it was not taken in. */
void mlxpmd_clock_unserve(struct mlxpmd_clock *clock);
/**
 * Brings the control thread back when EAL once had no memory for its alarm. Waits for nobody and is cheap: every
 * port's own thread (mlxpmd_service.c) calls it whenever it wakes, which is once a second at least.
 */
void mlxpmd_clock_watch(void);

#endif /* MLXPMD_CLOCK_KEEPER_H */
