/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * The register gateway of a card: the vendor-specific capability in PCI configuration space.
 *
 * Its lock is a semaphore in the card with tickets. The card does not know processes, so a process that
 * is killed leaves it taken. Processes of this driver also lock the config file (flock(2)), which
 * the kernel releases when a process ends.
 */
#ifndef MDV_VSC_H
#define MDV_VSC_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_pci.h>

/** Spaces; numbers as in FreeBSD, Linux (lib/pci_vsc.h) and mstflint. */
#define MDV_VSC_SPACE_PROTECTED 6u	/**< Registers, for reading. */
#define MDV_VSC_SPACE_SCAN 7u		/**< The same; a read returns the address of the next one. */

/** Attempts at the semaphore and polls of the flag: VSC_MAX_RETRIES of Linux. */
#define MDV_VSC_TRIES 2048u

struct mdv_fwdump_stop;

/** The gateway of one device, opened. */
struct mdv_vsc {
	struct rte_pci_addr pci;
	int fd;			/**< The config file. */
	uint32_t cap;		/**< Offset of the capability. */
	uint32_t ticket;	/**< Own ticket while the lock is held, else 0. */
	const struct mdv_fwdump_stop *stop; /**< Ends waits and reads with -ECANCELED; may be NULL. */
};

/**
 * Opens configuration space and finds the gateway. 0; -ENOENT no such function, or it has no gateway
 * (virtual functions have none), by has_config; -ENODEV it does not respond; other -errno.
 */
int mdv_vsc_open(const struct rte_pci_addr *pci, struct mdv_vsc *vsc, bool *has_config);
/** Releases the lock if it is held, and closes configuration space. */
void mdv_vsc_close(struct mdv_vsc *vsc);
/**
 * Takes the lock. If the same ticket is seen in all attempts and its holder made no access, the ticket
 * is stale: it is cleared with a warning, and the lock taken.
 *
 * @return
 *   0; -EBUSY the holder is active, or the ticket cannot be cleared; -ECANCELED; -errno of configuration
 *   space (-EPERM).
 */
int mdv_vsc_lock(struct mdv_vsc *vsc);
void mdv_vsc_unlock(struct mdv_vsc *vsc);
/** Selects a space; *size is its end, 0 if the card does not report it. -ENOTSUP: no such space. */
int mdv_vsc_space(struct mdv_vsc *vsc, uint32_t space, uint32_t *size);
/**
 * Reads a register of the selected space.
 *
 * @param[out] next
 *   Address register after the read: in the scan space the next address. NULL is allowed.
 * @return
 *   0; -EFAULT no such register (syndrome bit); -ETIMEDOUT the flag does not change; -ENODEV the card
 *   was removed; -ECANCELED; -errno.
 */
int mdv_vsc_read(struct mdv_vsc *vsc, uint32_t addr, uint32_t *val, uint32_t *next);

#endif /* MDV_VSC_H */
