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
void test_cancelled(void);
void test_devlink(void);

/* test_fwdump_devlink.c */
void test_devlink_exchange(void);

/* test_fwdump_rules.c: a card that fails by a fault rule */
void rule_lockdown(void);
void rule_stuck(void);
void rule_flag(void);
void rule_nothing(void);

#endif
