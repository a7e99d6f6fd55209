/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* What the tests of the common layer share: capture of the log, and tests that run in several programs. */
#ifndef MDV_TEST_H
#define MDV_TEST_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <mdv_private.h>

#include "../await.h"
#include "../check.h"

/** Captures log lines in a buffer from now on. */
void log_begin(void);
/** Returns the lines since log_begin(), '\0'-terminated, valid until the next log_begin(). */
const char *log_end(void);
/** Counts the lines of a text that contain a string. */
unsigned int lines_with(const char *text, const char *what);
unsigned int lines_of(const char *text);

/** Finds the address of the i-th mlx5 device of this machine. 0; -ENODEV. */
int test_device(unsigned int i, struct rte_pci_addr *pci);
/** Opens the device at an address, as text; NULL on failure. */
struct mdv_dev *test_open_by(const char *address, enum mdv_open_mode mode);
/** Speed of the port in the emulator's profile of that card. */
uint32_t test_speed_mbps(const struct mdv_dev *dev);

/** Capabilities, from replies that the test makes. */
void test_caps(void);

/* Tests on an emulated device; dev is open. */
void test_queues(struct mdv_dev *dev);
void test_rss(struct mdv_dev *dev);
void test_rules(struct mdv_dev *dev);
void test_changes(struct mdv_dev *dev);
/** An action that sets a field, in device format. */
struct prm_set_add_copy_action_in_auto test_change_action(unsigned int field, unsigned int bits, uint32_t data);
/** Match parameters of rules, without a device. */
void test_match(void);
void test_recorder(void);
void test_memory(struct mdv_dev *dev);
void test_external_memory(struct mdv_dev *dev);
void test_hotplug(struct mdv_dev *dev);
void test_eq(struct mdv_dev *dev);
void test_eq_refused(struct mdv_dev *dev);
void test_port(struct mdv_dev *dev);
/** Reads, changes and restores the MAC address. */
void test_port_mac(struct mdv_dev *dev);
void test_counters(struct mdv_dev *dev);
void test_clock(struct mdv_dev *dev);
void test_vector(struct mdv_dev *dev);
void test_devx(struct mdv_dev *dev);
void test_devx_refused(struct mdv_dev *dev);
/** Creates what a queue needs, and destroys it. 0; -errno, with nothing left. */
int test_queues_make(struct mdv_dev *dev);
/** Each call to the host fails once in operations on an open device, and in the opening of another one. */
void test_host(struct mdv_dev *dev, const struct rte_pci_addr *other);
/** The function is not bound to vfio-pci: opening it with each combination of driver and IOMMU group. */
void test_vfio_links(const char *address);
/** Each call that takes a descriptor or a thread fails in turn while the device is opened, and closed. */
void test_vfio_host(const char *address);
/** Each kind of object is refused to be destroyed, up to three times. */
void test_objects_lost(const struct rte_pci_addr *pci);
/** Removes the device while threads run commands, by a shell command or, if NULL, a fault rule; closes it. */
void test_wait_removed(struct mdv_dev *dev, const char *command);
/** Closes the device; a fault rule removes it meanwhile. */
void test_close_removed(struct mdv_dev *dev);

/** Starts EAL with little memory and no devices, for a test that needs no more: an opened device is in its memory. */
bool test_eal(void);

#endif /* MDV_TEST_H */
