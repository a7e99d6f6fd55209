/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * PCI config space of a port, and the CR space read through its vendor specific capability (VSC).
 *
 * Both belong to the card and not to a process: with emu_pci_attach() all processes of a run share
 * semaphore and registers, and a killed process leaves them as they are. The functions are safe for
 * threads and processes without the machine's lock unless noted otherwise.
 *
 * Registers of the VSC (kernel: drivers/net/ethernet/mellanox/mlx5/core/lib/pci_vsc.c): control +4,
 * ticket counter +8, semaphore +0xc, address +0x10, data +0x14. Each read of the counter returns
 * another ticket. The semaphore accepts a ticket only while it is 0, and accepts 0 at any time.
 */
#ifndef EMU_PCI_H
#define EMU_PCI_H

#include "emu_dev.h"

#define EMU_PCI_CONFIG_BYTES 4096u
/* Offsets of the capabilities, as on real cards. */
#define EMU_PCI_CAP_PM 0x40u
#define EMU_PCI_CAP_EXPRESS 0x60u
#define EMU_PCI_CAP_MSIX 0x9cu
#define EMU_PCI_CAP_VSC 0xc0u
/** Interrupt vectors of the MSI-X capability; table and pending bits are in BAR 0. */
#define EMU_PCI_MSIX_VECTORS 32u
#define EMU_PCI_MSIX_TABLE_OFFSET 0x2000u
#define EMU_PCI_MSIX_PBA_OFFSET 0x3000u
/** BAR 0 of port i, 32 MiB per function. */
#define EMU_PCI_BAR_BYTES 0x2000000u
#define EMU_PCI_BAR_BASE 0xe0000000u

/** Registers of the VSC, by offset in the capability. */
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
/* Supported spaces. */
#define EMU_VSC_SPACE_CR 2u
#define EMU_VSC_SPACE_PROTECTED 6u
#define EMU_VSC_SPACE_SCAN 7u
#define EMU_VSC_SPACE_SEMAPHORES 10u
/** The register of the semaphore space: held by who dumps the card or resets its firmware. */
#define EMU_VSC_SW_RESET 0x20u
/** Value of reads where no register is. */
#define EMU_CR_NOTHING 0xbadacce5u

/** Registers with a meaning; the others have values that differ by profile and port. */
#define EMU_CR_HW_ID 0xf0014u		 /**< Chip id as used by mstflint. */
#define EMU_CR_FW_VERSION 0xf0020u	 /**< major << 16 | minor */
#define EMU_CR_FW_SUBMINOR 0xf0024u
#define EMU_CR_HEALTH_SYNDROME 0x1f0200u /**< Health syndrome of the firmware; 0: healthy. */

/** Creates the file of a port in the run directory, for emu_pci_attach(). 0 or -errno. */
int emu_pci_create(struct emu_dev *dev, const char *dir);
/** Uses the file of the launcher; without it the space is private to the process. 0 or -errno. */
int emu_pci_attach(struct emu_dev *dev, const char *dir);
void emu_pci_detach(struct emu_dev *dev);
/** Initial content of a port's config space. */
void emu_pci_image(const struct emu_dev *dev, uint8_t config[EMU_PCI_CONFIG_BYTES]);
/** Its PCI device id: the profile's, or that of the card's virtual functions. */
uint16_t emu_pci_device_id(const struct emu_dev *dev);

/**
 * Reads or writes configuration space as the kernel does for a program: in dwords, words and
 * bytes by alignment. A removed device reads as ones. Fault rules of pci.read and pci.write apply if
 * the machine's lock is held.
 *
 * @return 0; -EINVAL beyond the space; -errno of a rule.
 */
int emu_pci_read(struct emu_dev *dev, uint32_t off, void *buf, uint32_t len);
int emu_pci_write(struct emu_dev *dev, uint32_t off, const void *buf, uint32_t len);

/* ---- CR space (emu_cr.c) ---- */

/** Number of registers of a port. */
uint32_t emu_cr_count(const struct emu_dev *dev);
/** Address of the i-th register, in ascending order; i is below emu_cr_count(). */
uint32_t emu_cr_address(const struct emu_dev *dev, uint32_t i);
/** First address after the last register. */
uint32_t emu_cr_end(const struct emu_dev *dev);
/** Number of the first register at or after addr; emu_cr_count() if there is none. */
uint32_t emu_cr_find(const struct emu_dev *dev, uint32_t addr);
/** Initial value of the i-th register. */
uint32_t emu_cr_initial(const struct emu_dev *dev, uint32_t i);
/** False: there is no such register. */
bool emu_cr_read(struct emu_dev *dev, uint32_t addr, uint32_t *value);
bool emu_cr_write(struct emu_dev *dev, uint32_t addr, uint32_t value);
/**
 * Sets the health syndrome in the CR space. Unless it is 0 the firmware has failed, in the phases of
 * mlx5_core (core/health.c, mlx5_fw_fatal_reporter_err_work()): internal error at once, programs get the
 * fatal event of the port; after ms the driver has reset the device and is unbound as at removal, but the
 * PCI function stays and can be read. An owner through VFIO has to end the DMA itself
 * (emu_pci_mastering()). Lock held.
 */
void emu_dev_health(struct emu_dev *dev, uint32_t syndrome, uint64_t ms);
/**
 * The bus master bit of the command register was written. A function without it does no DMA (PCI Express
 * Base Specification, command register). Lock held.
 */
void emu_pci_mastering(struct emu_dev *dev, bool on);

#endif /* EMU_PCI_H */
