/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* What the tests of register dumps share. */
#ifndef TEST_FWDUMP_H
#define TEST_FWDUMP_H

#include <sys/types.h>

#include <core/emu_pci.h>

#include <mdv_fwdump_int.h>

#include "mdv_test.h"

#define MAX_REGS 4096
#define BOTH (MDV_FWDUMP_READ | MDV_FWDUMP_WRITE)
#define VSC(reg) (EMU_PCI_CAP_VSC + EMU_VSC_##reg)

/** Port 0, which has a gateway. */
extern const struct rte_pci_addr pf;
extern struct mdv_fwdump_reg regs[MAX_REGS], other[MAX_REGS];
/** The folder for dumps. */
extern char folder[64];

/** Accesses to configuration space of this process and its children, and what is wrong with them. */
struct accesses {
	long count, fail_at;
	long removed_at; /**< From this access on the card is removed: reads return all ones, writes have no effect. */
	bool swallow; /**< Writes of the address are ignored, so its flag does not change. */
	const uint8_t *config; /**< If not NULL, what is read. */
	size_t bytes; /**< If not 0, where configuration space ends. */
	/** Reads of off return a value: the first ones, all from the first on, or none if left is 0. */
	struct {
		uint32_t off, value;
		unsigned int after, left;
	} read_as;
	unsigned int released; /**< How often the lock was released. */
	unsigned int semaphore, address; /**< Reads of these registers. */
	unsigned int data, data_max; /**< Reads of the data since the lock was taken, and the most of them. */
};
extern struct accesses accesses;

/** Other calls of this process, and what is wrong with them. */
struct host {
	int open_err; /**< If not 0, the errno with which opening configuration space fails. */
	int flock_err[3]; /**< errno of the first calls of flock(2); 0: they succeed. */
	void (*flock_begun)(void); /**< Called before the next flock(2). */
	bool parts; /**< Dumps are read and written in parts of 100 bytes, and each second call is interrupted. */
	int write_err; /**< If not 0, errno of writing a dump; -1: no byte is written. */
	bool no_sleep; /**< Sleeps return at once, and are counted. */
	unsigned int sleeps;
	long slept_us, sleep_min_ns, sleep_max_ns;
};
extern struct host host;

struct mdv_fwdump *opened(const struct rte_pci_addr *pci, unsigned int access);
/** Reads a dword of port 0's configuration space without the code under test. */
uint32_t config_get(uint32_t off);
void config_set(uint32_t off, uint32_t v);
int config_open(void);
uint64_t ms_now(void);
/** fork() with flushed buffers; waits for the end of the child, and returns its status. */
pid_t child_begin(void);
int child_end(pid_t pid);

/* test_fwdump_kept.c */
void test_concurrent(void);
void test_store(void);
void test_store_damaged(void);
void test_store_folder(void);
void test_store_host(void);
void test_cancelled(void);
void test_devlink(void);

/* test_fwdump_gateway.c */
void test_capabilities(void);
void test_gateway(void);
void test_gateway_waits(void);
void test_gateway_lost(void);

/* test_fwdump_devlink.c */
void test_devlink_exchange(void);

/* test_fwdump_rules.c: a card that fails by a fault rule */
void rule_lockdown(void);
void rule_stuck(void);
void rule_flag(void);
void rule_nothing(void);

#endif
