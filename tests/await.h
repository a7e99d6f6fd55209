/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * Waiting in the C tests, in one place: for a condition with a deadline, or, where the passing of time is what is
 * tested, for a time. No other source of the tests sleeps.
 */
#ifndef AWAIT_H
#define AWAIT_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

static inline uint64_t
await_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/** Lets time pass. The caller states what must, or must not, happen meanwhile; use AWAIT() for anything else. */
static inline void
pass_us(uint64_t us)
{
	struct timespec ts = { .tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000 };

	while (nanosleep(&ts, &ts) != 0)
		;
}

/** A pause between two polls: short at first, 1 ms after 10 ms. */
static inline void
await_pause(uint64_t begin_ns)
{
	pass_us(await_now_ns() - begin_ns < 10000000 ? 20 : 1000);
}

/** Evaluates cond until it is true or `ms` have passed; whether it became true. It is evaluated at least once. */
#define AWAIT(cond, ms) \
	({ \
		uint64_t await_begin_ = await_now_ns(); \
		uint64_t await_ns_ = (uint64_t)(ms) * 1000000; \
		bool await_late_ = false, await_met_; \
		while (!(await_met_ = (cond)) && !await_late_) { \
			await_pause(await_begin_); \
			await_late_ = await_now_ns() - await_begin_ >= await_ns_; \
		} \
		await_met_; \
	})
/** As AWAIT(), for what is certain to come, within the time that the test runner gives the program. */
#define AWAIT_CERTAIN(cond) ((void)AWAIT(cond, UINT32_MAX))

#endif /* AWAIT_H */
