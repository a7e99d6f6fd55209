/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * The gateway to a card's registers: the vendor-specific capability in PCI configuration space.
 *
 * The lock is a semaphore in the card that takes tickets; it knows nothing of processes, so one that
 * dies leaves it taken. Among processes of ours the config file is locked besides (flock), which the
 * kernel undoes whenever one ends.
 */
#ifndef MDV_VSC_H
#define MDV_VSC_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_pci.h>

/** Spaces, as FreeBSD's and Linux's mlx5 and mstflint number them. */
#define MDV_VSC_SPACE_PROTECTED 6u	/**< Registers, for reading. */
#define MDV_VSC_SPACE_SCAN 7u		/**< The same; a read tells where the next one is. */

/** Tries for the semaphore and for the flag, as the kernels have it. */
#define MDV_VSC_TRIES 2048u

struct mdv_fwdump_stop;

/** The gateway of one device, opened. */
struct mdv_vsc {
	struct rte_pci_addr pci;
	int fd;			/**< The config file. */
	uint32_t cap;		/**< Offset of the capability. */
	uint32_t ticket;	/**< Ours while the lock is held, else 0. */
	const struct mdv_fwdump_stop *stop; /**< Ends waits and reads with -ECANCELED; NULL: nothing does. */
};

/**
 * Opens configuration space and finds the gateway. 0; -ENOENT no such function, or it has no gateway
 * (a virtual function has none): has_config tells which; -ENODEV it does not answer; other -errno.
 */
int mdv_vsc_open(const struct rte_pci_addr *pci, struct mdv_vsc *vsc, bool *has_config);
/** Gives the lock back if it is held. */
void mdv_vsc_close(struct mdv_vsc *vsc);
/**
 * Takes the lock. A ticket that stands there over all tries while its holder does nothing else either is
 * a dead one's: it is cleared, with a warning, and the lock taken.
 * @return
 *   0; -EBUSY others are at work, or nothing clears it; -ECANCELED; -errno of configuration space (-EPERM).
 */
int mdv_vsc_lock(struct mdv_vsc *vsc);
void mdv_vsc_unlock(struct mdv_vsc *vsc);
/** Chooses a space; *size is where it ends, 0 when the card does not tell. -ENOTSUP: there is none. */
int mdv_vsc_space(struct mdv_vsc *vsc, uint32_t space, uint32_t *size);
/**
 * Reads a register of the chosen space.
 * @param[out] next
 *   What the address register holds then: in the scan space the next address. NULL is allowed.
 * @return
 *   0; -EFAULT the card says that there is none; -ETIMEDOUT the flag does not change; -ENODEV the card
 *   is not there any more; -ECANCELED; -errno.
 */
int mdv_vsc_read(struct mdv_vsc *vsc, uint32_t addr, uint32_t *val, uint32_t *next);

#endif /* MDV_VSC_H */
