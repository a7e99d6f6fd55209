/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * A device and a host in virtual time behind the clock's table of readings; and it knows the truth.
 */
#ifndef SIM_H
#define SIM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <mdv_clock_int.h>

#include "../check.h"

/** How long a reading of the counter takes on its way there and back, ns. */
enum sim_jitter {
	SIM_EXACT,	/**< 300 each way. */
	SIM_HIDDEN,	/**< 800 in all, the reading +-200 evenly off the middle, unseen. */
	SIM_NORMAL,	/**< 400, with a normal deviation of 200, each way, at least 100. */
	SIM_TAIL,	/**< 300 and an exponential of mean 200 each way. */
	SIM_OUTLIERS,	/**< As SIM_TAIL; one in 50 is held up by up to 50 us on either way. */
	SIM_ONE_SIDED,	/**< As SIM_TAIL, and the way back takes 400 more. */
};

/** A clock that runs evenly from some moment on, exactly: value = base + (t - since) * rate. */
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
	bool synced;	/**< The host's clock is. */
	int counter_ret, utc_ret, page_ret; /**< What readings give, 0: they work. */
	bool counter_still; /**< The counter's register does not move. */
	int64_t still_until_ps; /**< Nor before this time. */
	uint64_t still;
	uint64_t page_step_ps;	/**< Software writes the counter so often; 0: a register. */
	struct mdv_clock_point point; /**< What the page says. */
	uint64_t point_ticks; /**< The point's counter, unmasked. */
	struct mdv_clock_point kept; /**< What it said before something overwrote it. */
	bool point_garbled; /**< A reading that fails leaves rubbish behind. */
	uint64_t reads;
};

extern const struct mdv_clock_ops sim_ops;

#define SIM_TSC_HZ 2500000000u
#define SIM_EPOCH_NS (1700000000ull * MDV_NS_PER_S)

/** A counter of hz, off by ppm; the host's clock is the truth; the TSC is off by 13 ppm. */
void sim_init(struct sim *s, uint64_t hz, double ppm, uint64_t start, uint64_t seed);
/** From now on the clock runs at this many units per second. */
void sim_set_rate(struct sim *s, struct sim_run *run, double hz);
/** From now on it is ahead by so many units. */
void sim_step(struct sim *s, struct sim_run *run, int64_t units);
uint64_t sim_read(const struct sim *s, const struct sim_run *run, int64_t at_ps);
/** As sim_read(), with the fraction. */
double sim_fraction(const struct sim *s, const struct sim_run *run, int64_t at_ps, uint64_t *whole);
void sim_pass_ns(struct sim *s, double ns);
uint64_t sim_random(struct sim *s);
/** 0 to 1, without 1. */
double sim_uniform(struct sim *s);

/** What the kernel makes of a counter: the point that it publishes at first. */
void sim_page_init(struct sim *s, uint64_t hz, bool old_kernel, uint64_t ns);
/** Moves the point to now, as the kernel does before it changes anything. */
void sim_page_advance(struct sim *s);
/** ns after which the kernel moves its point anyway. */
uint64_t sim_page_period_ns(const struct sim *s);
/** The time of a point so many ticks after it (or before), in 128 bits. */
uint64_t sim_page_time(const struct mdv_clock_point *p, int64_t delta);

void test_page(void);
void test_faults(void);
void test_host(void);
void test_sources(void);

#endif /* SIM_H */
