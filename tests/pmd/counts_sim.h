/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * What mlxpmd_counts.c calls, in simulated time: a clock, a scheduler and a device. All in one thread.
 */
#ifndef COUNTS_SIM_H
#define COUNTS_SIM_H

#include "../check.h"
#include "host_sim.h"
#include "mlxpmd_ctrl.h"

#include <mdv_async.h>

#define MS UINT64_C(1000000)
#define S (1000 * MS)
#define NEVER UINT64_MAX
#define MAX_TASKS 3
#define MAX_QUERIES 4096
#define MAX_PENDING 64

extern struct mlxpmd_port port;
extern int locks;			/**< Not given back yet. */
extern unsigned int nb_tasks, opened;	/**< Tasks that were added; open channels. */
extern unsigned int warnings, errors;	/**< Lines of the log. */
extern char last_line[256];

/* What the device and the host do. */
extern unsigned int adds_left;		/**< Tasks that can be added. */
extern unsigned int nb_counters;
extern uint32_t dev_raw;		/**< Count of missed frames. */
extern uint64_t dev_value;		/**< Counter i is dev_value + i. */
extern uint64_t sync_ns, async_ns;	/**< How long a query takes; NEVER: the reply is lost. */
extern int dev_rc, open_rc, start_rc, take_end; /**< Errors of queries, of the channel, of its queries, of taking. */
extern bool removed;
extern void (*during_sync)(void);	/**< Called during a query that waits. */

/** Queries that the device got. */
enum query { SYNC_MISSED, SYNC_COUNTERS, ASYNC_MISSED, NB_QUERIES };
extern struct queries {
	uint64_t at_ns[MAX_QUERIES];
	bool quiet[MAX_QUERIES];
	unsigned int n;
} queries[NB_QUERIES];

/** Asynchronous queries without a reply. */
extern struct reply {
	uint64_t due_ns, wr_id;
	uint32_t raw;
	int rc;
} pending[MAX_PENDING];
extern unsigned int nb_pending;

/** A port with a cache of this age; rc of mlxpmd_counts_up(). */
int up(unsigned int age_ms);
/** As a start of the port does. */
void start(void);
/** Nothing is left. */
void down(void);

/** Runs the tasks that are due, or the first task at once. */
void run_until(uint64_t until_ns);
void run_for(uint64_t ns);
void task_run(unsigned int i);
bool requested(const char *name);
/** Forgets queries and lines of the log. */
void queries_clear(void);
/** Runs for some periods: queries of this kind come exactly so often. 0: none comes. */
#define EVERY(q, period_ns) every(q, period_ns, __LINE__)
void every(enum query q, uint64_t period_ns, int line);

/** Reads imissed, the age of a group, the state. */
uint64_t missed(void);
uint64_t age_us(enum mlxpmd_counts_of which);
struct mlxpmd_counts_info info(void);

#endif /* COUNTS_SIM_H */
