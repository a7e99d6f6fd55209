/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * What tests of recovery share: traffic from PORT_B to PORT_A on many queues, faults, counters.
 */
#ifndef RECOVER_H
#define RECOVER_H

#include "emu_ctl.h"
#include "pmd_test.h"

#define QUEUES 16
/* The last: rules count queues by those that are not in reset, so it hits no other while it is. */
#define STORMY 15
/* Promised for a machine of one's own; of a shared one half of them at least, and none is late. */
#define SOON_US 10000
#define LATE_US 500000

struct recover_case {
	const char *name;
	void (*run)(const struct pmd_conf *conf);
	bool alone; /**< Only by its name. */
};
/** After pmd_init(): counts events, learns the table's size. */
void recover_init(void);
/** Runs all cases, or the one that PMD_TEST_ONLY names; what main() returns. */
int recover_main(int argc, char **argv, const struct recover_case *cases, unsigned int n);

/** Of RTE_ETH_EVENT_QUEUE_STATE, from both ports. */
extern volatile unsigned int queue_events;
/** PORT_A's table: entry i leads to one queue, or by turns to two. */
void steer_to(uint16_t queue);
void steer_both(uint16_t even, uint16_t odd);
/** Receives and frees n frames on PORT_A; how many came. */
unsigned int drain_a(unsigned int n, unsigned int ms);
struct rte_eth_stats stats(uint16_t port);
/** Bursts of 4 on one queue of PORT_B; what it takes. */
unsigned int send_bursts(uint16_t queue, unsigned int bursts);
/** Polls a queue until an xstat moves beyond what it was. Microseconds, UINT64_MAX: it did not. */
uint64_t wait_xstat(uint16_t port, uint16_t poll_port, uint16_t queue, const char *name, uint64_t before);
/** The same until it is as high as wanted. */
uint64_t wait_count(uint16_t port, uint16_t poll_port, uint16_t queue, const char *name, uint64_t want);
/** A fault rule besides those that stand. */
void fault_add(const char *rule);

#endif /* RECOVER_H */
