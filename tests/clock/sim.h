/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* A simulated device and host in virtual time, behind the clock's table of readings. The true time is known. */
#ifndef SIM_H
#define SIM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <mdv_clock_int.h>

#include "../check.h"

/** Delay of a reading of the counter, request and reply, ns. */
enum sim_jitter {
	SIM_EXACT,	/**< 300 each. */
	SIM_HIDDEN,	/**< 800 in total; reading uniformly up to 200 off the middle, undetectable. */
	SIM_NORMAL,	/**< Normal, mean 400, standard deviation 200, each; at least 100. */
	SIM_TAIL,	/**< 300 plus an exponential of mean 200, each. */
	SIM_OUTLIERS,	/**< As SIM_TAIL; one in 50 is delayed by up to 50 us in either direction. */
	SIM_ONE_SIDED,	/**< As SIM_TAIL, and the reply takes 400 more. */
};

/** A clock with a constant rate since some time: value = base + (t - since) * rate, exactly. */
struct sim_run {
	int64_t since_ps;
	unsigned __int128 base; /**< Units times 10^18. */
	uint64_t rate_uhz;	/**< Units per 10^6 s. */
};

struct sim {
	uint64_t seed;
	int64_t now_ps;
	struct sim_run tsc, counter, wall, utc;
	enum sim_jitter jitter;
	uint64_t counter_mask;
	bool synced;	/**< The host's clock is synchronised. */
	int counter_ret, utc_ret, page_ret, wall_ret; /**< Results of the readings, 0: they succeed. */
	unsigned int counter_fails_at; /**< This reading of the counter fails, 1: the first one; 0: none. */
	int tai_s;	/**< TAI - UTC in the kernel; 0: not set. */
	bool counter_still; /**< The counter's register does not change. */
	int64_t still_until_ps; /**< It does not change before this time. */
	uint64_t still;
	uint64_t page_step_ps;	/**< Interval at which software updates the counter; 0: it is a register. */
	struct mdv_clock_point point; /**< Content of the page. */
	uint64_t point_ticks; /**< Counter of the point, unmasked. */
	struct mdv_clock_point kept; /**< Previous content, while a test has overwritten it. */
	int64_t page_busy_until_ps; /**< The kernel writes the page until this time. */
	bool point_garbled; /**< A reading that fails leaves garbage in the result. */
	double reply_ns; /**< Each reply of the device takes so much longer. */
	uint64_t reads, wall_reads;
};

extern const struct mdv_clock_ops sim_ops;

#define SIM_TSC_HZ 2500000000u
#define SIM_EPOCH_NS (1700000000ull * MDV_NS_PER_S)

/** A counter of hz with an error of ppm. The host's clock is true time; the TSC has an error of 13 ppm. */
void sim_init(struct sim *s, uint64_t hz, double ppm, uint64_t start, uint64_t seed);
/** Sets the rate of a clock in units per second, from now on. */
void sim_set_rate(struct sim *s, struct sim_run *run, double hz);
/** Advances a clock by a number of units. */
void sim_step(struct sim *s, struct sim_run *run, int64_t units);
uint64_t sim_read(const struct sim *s, const struct sim_run *run, int64_t at_ps);
/** As sim_read(), with the fraction. */
double sim_fraction(const struct sim *s, const struct sim_run *run, int64_t at_ps, uint64_t *whole);
void sim_pass_ns(struct sim *s, double ns);
uint64_t sim_random(struct sim *s);
/** Uniform in [0, 1). */
double sim_uniform(struct sim *s);

/** The first point that a kernel publishes for a counter of hz. */
void sim_page_init(struct sim *s, uint64_t hz, bool old_kernel, uint64_t ns);
/** Moves the point to now, as the kernel does before each change. */
void sim_page_advance(struct sim *s);
/** Time in ns after which the kernel moves its point by itself. */
uint64_t sim_page_period_ns(const struct sim *s);
/** Time that many ticks after a point, or before it; in 128 bits. */
uint64_t sim_page_time(const struct mdv_clock_point *p, int64_t delta);

/* ------------------------------------------------------------------ a clock on it */

#define RIG_HZ 156250000u
#define RIG_START (5ull << 41)

/** A simulated device, 20 ppm too fast, and a clock. */
struct rig {
	struct sim s;
	struct mdv_clock *clock;
	struct mdv_clock_state state;
	int64_t spent_ps; /**< Time spent in refreshes by rig_run(). */
	char why[200];
};

void rig_init(struct rig *r, uint64_t seed);
/** Opens the clock, without a refresh. */
int rig_begin(struct rig *r, enum mdv_clock_source requested, bool free_running, bool realtime, uint32_t khz);
/** The same, and the first refresh. */
int rig_open(struct rig *r, enum mdv_clock_source requested, bool free_running, bool realtime, uint32_t khz);
/** Refreshes when due for a time. Returns the number of refreshes that yielded a line. */
unsigned int rig_run(struct rig *r, double seconds);
bool rig_usable(const struct rig *r);
/** Error of the timestamp of a packet that arrives now, ns; NAN if it is absent. */
double rig_stamp_error(const struct rig *r);
/** The same for the line from the TSC, against the given truth, in units of the value. */
double rig_tsc_error(const struct rig *r, uint64_t truth, double part);

void test_accuracy(void);
void test_page(void);
void test_faults(void);
void test_host(void);
void test_sources(void);
void test_state(void);
void test_track(void);
void test_verbs(void);

#endif /* SIM_H */
