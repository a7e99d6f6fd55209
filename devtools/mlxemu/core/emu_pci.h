/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * PCI configuration space of a port, and the register space behind its vendor-specific capability.
 *
 * Both belong to the card and not to a process: with emu_pci_attach() all processes of a run see
 * the same semaphore and the same registers, and a process that is killed leaves them as they are.
 * Everything here takes care of itself among threads and processes; the machine's lock is not
 * needed, but for what is said.
 *
 * The gateway, from the capability's offset: control +4, ticket counter +8, semaphore +0xc,
 * address +0x10, data +0x14. The counter gives each reader another ticket; the semaphore takes a
 * ticket only while it is 0, and 0 from anybody.
 */
#ifndef EMU_PCI_H
#define EMU_PCI_H

#include "emu_dev.h"

#define EMU_PCI_CONFIG_BYTES 4096u
/* Where the capabilities stand, as on real cards. */
#define EMU_PCI_CAP_PM 0x40u
#define EMU_PCI_CAP_EXPRESS 0x60u
#define EMU_PCI_CAP_MSIX 0x9cu
#define EMU_PCI_CAP_VSC 0xc0u
/** Interrupt vectors of the MSI-X capability; table and pending bits stand in BAR 0. */
#define EMU_PCI_MSIX_VECTORS 32u
#define EMU_PCI_MSIX_TABLE_OFFSET 0x2000u
#define EMU_PCI_MSIX_PBA_OFFSET 0x3000u
/** BAR 0 of port i, 32 MiB a function. */
#define EMU_PCI_BAR_BYTES 0x2000000u
#define EMU_PCI_BAR_BASE 0xe0000000u

/** Registers of the gateway, by offset in the capability. */
enum emu_vsc_reg {
	EMU_VSC_CONTROL = 0x04,
	EMU_VSC_COUNTER = 0x08,
	EMU_VSC_SEMAPHORE = 0x0c,
	EMU_VSC_ADDRESS = 0x10,
	EMU_VSC_DATA = 0x14,
};
#define EMU_VSC_BYTES 0x18u
#define EMU_VSC_FLAG 0x80000000u     /**< Of the address: done with a read, begin of a write. */
#define EMU_VSC_SYNDROME 0x40000000u /**< Of the address: there is no such register. */
#define EMU_VSC_SIZE_VALID 0x10000000u
#define EMU_VSC_STATUS_SHIFT 29
/* Spaces that there are. */
#define EMU_VSC_SPACE_CR 2u
#define EMU_VSC_SPACE_PROTECTED 6u
#define EMU_VSC_SPACE_SCAN 7u
/** What is read where there is nothing. */
#define EMU_CR_NOTHING 0xbadacce5u

/** Registers with a meaning; the others hold something that differs by profile and port. */
#define EMU_CR_HW_ID 0xf0014u		 /**< Which chip it is, as vendor's tools know it. */
#define EMU_CR_FW_VERSION 0xf0020u	 /**< major << 16 | minor */
#define EMU_CR_FW_SUBMINOR 0xf0024u
#define EMU_CR_HEALTH_SYNDROME 0x1f0200u /**< What is wrong with the firmware; 0: nothing. */

/** Makes the file of a port in a run's directory, for emu_pci_attach(). 0 or -errno. */
int emu_pci_create(struct emu_dev *dev, const char *dir);
/** Uses the file that the launcher made; without it the space is this process's own. 0 or -errno. */
int emu_pci_attach(struct emu_dev *dev, const char *dir);
void emu_pci_detach(struct emu_dev *dev);
/** What a port's configuration space holds before anybody wrote to it. */
void emu_pci_image(const struct emu_dev *dev, uint8_t config[EMU_PCI_CONFIG_BYTES]);
/** Its PCI device id: the profile's, or that of the card's virtual functions. */
uint16_t emu_pci_device_id(const struct emu_dev *dev);
/** Whether it has the gateway: a virtual function has none. */
bool emu_pci_has_vsc(const struct emu_dev *dev);

/**
 * Reads or writes configuration space as the kernel does for a program: in dwords, words and
 * bytes by alignment. A removed device reads as ones. Fault rules of pci.read and pci.write are
 * asked when the machine's lock is held.
 *
 * @return 0; -EINVAL for what is beyond the space; -errno of a rule.
 */
int emu_pci_read(struct emu_dev *dev, uint32_t off, void *buf, uint32_t len);
int emu_pci_write(struct emu_dev *dev, uint32_t off, const void *buf, uint32_t len);

/* ---- the register space (emu_cr.c) ---- */

/** Registers of a port. */
uint32_t emu_cr_count(const struct emu_dev *dev);
/** Address of the i-th, in rising order; i is below emu_cr_count(). */
uint32_t emu_cr_address(const struct emu_dev *dev, uint32_t i);
/** First address behind the last register. */
uint32_t emu_cr_end(const struct emu_dev *dev);
/** Number of the first register at addr or behind it; emu_cr_count() when there is none. */
uint32_t emu_cr_find(const struct emu_dev *dev, uint32_t addr);
/** What the i-th holds when the card starts. */
uint32_t emu_cr_initial(const struct emu_dev *dev, uint32_t i);
/** False: there is no such register. */
bool emu_cr_read(struct emu_dev *dev, uint32_t addr, uint32_t *value);
bool emu_cr_write(struct emu_dev *dev, uint32_t addr, uint32_t value);
/**
 * The syndrome is in the register space, and unless it is 0 the firmware failed: the kernel gives
 * the device up as if it was removed, but its PCI function stays and can be read. Lock held.
 */
void emu_dev_health(struct emu_dev *dev, uint32_t syndrome);

#endif /* EMU_PCI_H */
