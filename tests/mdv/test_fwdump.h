/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* What the tests of register dumps share. */
#ifndef TEST_FWDUMP_H
#define TEST_FWDUMP_H

#include <sys/types.h>

#include <core/emu_pci.h>

#include <mdv_fwdump_devlink.h>

#include "mdv_test.h"

#define ROOM 4096
#define BOTH (MDV_FWDUMP_READ | MDV_FWDUMP_WRITE)
#define VSC(reg) (EMU_PCI_CAP_VSC + EMU_VSC_##reg)

/** Port 0, with a gateway. */
extern const struct rte_pci_addr pf;
extern struct mdv_fwdump_reg regs[ROOM], other[ROOM];
/** Where dumps are kept. */
extern char folder[64];

struct mdv_fwdump *opened(const struct rte_pci_addr *pci, unsigned int access);
/** A dword of port 0's configuration space, past the code under test. */
uint32_t config_get(uint32_t off);
void config_set(uint32_t off, uint32_t v);
int config_open(void);
uint64_t ms_now(void);
/** fork(), without what is in buffers; waits for the end, and gives its status. */
pid_t child_begin(void);
int child_end(pid_t pid);

/* test_fwdump_kept.c */
void test_crowd(void);
void test_store(void);
void test_given_up(void);
void test_devlink(void);

/* test_fwdump_devlink.c */
void test_devlink_asked(void);

/* test_fwdump_rules.c: cases of a card that fails by rule */
void rule_lockdown(void);
void rule_stuck(void);
void rule_flag(void);
void rule_nothing(void);

#endif
