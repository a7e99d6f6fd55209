/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * Common functions of the tests of queue repair: traffic from PORT_B to PORT_A on many queues, faults, counters.
 */
#ifndef RECOVER_H
#define RECOVER_H

#include "emu_ctl.h"
#include "pmd_test.h"

#define QUEUES 16
/*
 * The queue that fails all the time. Fault rules number the queues that are not in reset, so a rule for the last
 * queue hits no other one while the last queue is in reset.
 */
#define STORM_QUEUE 15
/* A repair takes at most SOON_US on an idle machine. On a busy one half of them must, and all less than LATE_US. */
#define SOON_US 10000
#define LATE_US 500000

struct recover_case {
	const char *name;
	void (*run)(const struct pmd_conf *conf);
	bool alone; /**< Runs only if PMD_TEST_ONLY names it. */
};
/** Call after pmd_init(): reads the size of the RSS table and counts queue events. */
void recover_init(void);
/** Runs all cases, or the one that PMD_TEST_ONLY names. Returns the status for main(). */
int recover_main(int argc, char **argv, const struct recover_case *cases, unsigned int n);

/** Number of RTE_ETH_EVENT_QUEUE_STATE events of both ports. */
extern _Atomic unsigned int queue_events;
/** Points all entries of PORT_A's RSS table to one queue, or even and odd entries to one queue each. */
void steer_to(uint16_t queue);
void steer_both(uint16_t even, uint16_t odd);
/** Receives and frees up to n frames on PORT_A; the number received. */
unsigned int drain_a(unsigned int n, unsigned int ms);
struct rte_eth_stats stats(uint16_t port);
/** Sends bursts of 4 frames on one queue of PORT_B; the number of frames that the queue accepted. */
unsigned int send_bursts(uint16_t queue, unsigned int bursts);
/** Polls a queue until an xstat exceeds `before`. Microseconds; UINT64_MAX after 5 s. */
uint64_t wait_xstat(uint16_t port, uint16_t poll_port, uint16_t queue, const char *name, uint64_t before);
/** Polls a queue until an xstat reaches `value`. Microseconds; UINT64_MAX after 5 s. */
uint64_t wait_count(uint16_t port, uint16_t poll_port, uint16_t queue, const char *name, uint64_t value);
/** Adds a fault rule to the existing ones. */
void fault_add(const char *rule);

#endif /* RECOVER_H */
