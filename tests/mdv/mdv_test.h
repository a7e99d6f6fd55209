/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Checks, and the log as text, for the tests of the common layer. */
#ifndef MDV_TEST_H
#define MDV_TEST_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <mdv_private.h>

#include "../await.h"
#include "../check.h"

/** From here on log lines go into a buffer. */
void log_begin(void);
/** The lines since log_begin(), '\0'-terminated, valid until the next log_begin(). */
const char *log_end(void);
/** How many lines of a text contain a string. */
unsigned int lines_with(const char *text, const char *what);
unsigned int lines_of(const char *text);

/** Address of the i-th mlx5 device of this machine. 0 or -ENODEV. */
int test_device(unsigned int i, struct rte_pci_addr *pci);

/* The tests on an emulated device; dev is open. */
void test_queues(struct mdv_dev *dev);
void test_rss(struct mdv_dev *dev);
void test_rules(struct mdv_dev *dev);
void test_memory(struct mdv_dev *dev);
void test_external_memory(struct mdv_dev *dev);
void test_hotplug(struct mdv_dev *dev);
void test_eq(struct mdv_dev *dev);
void test_eq_refused(struct mdv_dev *dev);
void test_port(struct mdv_dev *dev);
/** The address can be read, changed and put back. */
void test_port_mac(struct mdv_dev *dev);
void test_counters(struct mdv_dev *dev);
void test_clock(struct mdv_dev *dev);
void test_vector(struct mdv_dev *dev);
void test_devx(struct mdv_dev *dev);
void test_devx_refused(struct mdv_dev *dev);
/** The device goes while threads run commands, by a shell command or (NULL) by a rule; closes it. */
void test_wait_gone(struct mdv_dev *dev, const char *command);
/** Closes it, in the course of which it goes. */
void test_close_gone(struct mdv_dev *dev);

#endif /* MDV_TEST_H */
