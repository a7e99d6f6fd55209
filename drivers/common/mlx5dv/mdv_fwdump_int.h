/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Internal declarations of register dumps. */
#ifndef MDV_FWDUMP_INT_H
#define MDV_FWDUMP_INT_H

#include "mdv_fwdump.h"
#include "mdv_private.h"

/** Cancellation, see mdv_fwdump_stop_by(). stop NULL: never. */
struct mdv_fwdump_stop {
	bool (*stop)(const void *arg);
	const void *arg;
};

static inline bool
mdv_fwdump_stopped(const struct mdv_fwdump_stop *stop)
{
	return stop->stop != NULL && stop->stop(stop->arg);
}

struct mdv_fwdump {
	struct rte_pci_addr pci;
	unsigned int access;
	char name[96];	/**< Name of the file with the dump (Linux). */
	int ctl;	/**< Descriptor of /dev/mlx5ctl (FreeBSD). */
	struct mdv_fwdump_stop stop;
};

/** A dump under construction. The owner frees regs. */
struct mdv_fwdump_set {
	struct mdv_fwdump_reg *regs;
	size_t count, size;
	uint32_t unreadable;
	enum mdv_fwdump_route route;
};
/** Adds a register. 0; -ENOMEM; -EOVERFLOW more than MDV_FWDUMP_MAX. */
int mdv_fwdump_add(struct mdv_fwdump_set *set, uint32_t addr, uint32_t val);

/** Most registers of a dump, to bound the walk: real cards have some 100,000. */
#define MDV_FWDUMP_MAX (1u << 22)

/* ---- mdv_fwdump_linux.c or mdv_fwdump_freebsd.c; as the public functions ---- */

int mdv_fwdump_sys_open(struct mdv_fwdump *h);
void mdv_fwdump_sys_close(struct mdv_fwdump *h);
int mdv_fwdump_sys_take(struct mdv_fwdump *h);
int mdv_fwdump_sys_get(struct mdv_fwdump *h, struct mdv_fwdump_reg *regs, size_t count,
		       size_t *filled);
/** On Linux in mdv_fwdump_store.c. */
int mdv_fwdump_sys_reset(struct mdv_fwdump *h);
int mdv_fwdump_sys_info(struct mdv_fwdump *h, struct mdv_fwdump_info *info);
int mdv_fwdump_sys_get_current(struct mdv_fwdump *h, struct mdv_fwdump_reg *regs, size_t count,
			size_t *filled, struct mdv_fwdump_info *info);

/* ---- routes to the registers (Linux); on failure why receives one clause ---- */

#define MDV_FWDUMP_WHY 160
/** Through configuration space. 0 or -errno as mdv_fwdump_take(). */
int mdv_fwdump_by_vsc(const struct mdv_fwdump *h, struct mdv_fwdump_set *set, char why[MDV_FWDUMP_WHY]);
/** State of the parser of devlink's replies. */
struct mdv_fwdump_devlink {
	struct mdv_fwdump_set *set;
	uint32_t addr;	/**< Address of the next word. */
	bool inside;	/**< The following values are registers. */
};
/** Adds the registers in attributes to the set; the dump may continue in the next message. 0 or -errno. */
int mdv_fwdump_devlink_parse(struct mdv_fwdump_devlink *p, const void *attrs, size_t len);
/** From the health reporter of the kernel, which takes a dump if it has none. 0 or -errno. */
int mdv_fwdump_by_devlink(const struct rte_pci_addr *pci, struct mdv_fwdump_set *set,
			  char why[MDV_FWDUMP_WHY]);

/* ---- keeping a dump in a file (mdv_fwdump_store.c) ---- */

/** Exclusive access while a dump is taken. */
struct mdv_fwdump_store {
	int dir, busy;	/**< Directory; new file, locked until closed. */
};
/** Waits for other processes. 0; -EEXIST a dump is kept (not logged); -ECANCELED; other -errno. */
int mdv_fwdump_store_begin(const struct mdv_fwdump *h, struct mdv_fwdump_store *store);
/** Keeps the dump. 0 or -errno, logged. */
int mdv_fwdump_store_keep(const struct mdv_fwdump *h, struct mdv_fwdump_store *store,
			  const struct mdv_fwdump_set *set);
/** Ends the access, whether the dump was kept or not. */
void mdv_fwdump_store_end(const struct mdv_fwdump *h, struct mdv_fwdump_store *store);
/** Reads info and up to count registers of the dump that is kept; regs NULL: only their number. 0; -ENOENT; -EIO. */
int mdv_fwdump_store_read(const struct mdv_fwdump *h, struct mdv_fwdump_info *info,
			  struct mdv_fwdump_reg *regs, size_t count, size_t *filled);

/**
 * Opens the folder of dumps, and creates it with make. path receives its name.
 *
 * @return
 *   Descriptor; -ENOENT it does not exist, logged only with make; other -errno, logged.
 */
int mdv_fwdump_folder(const struct rte_pci_addr *pci, bool make, char *path, size_t bytes);
/** Writes all bytes to a file. 0; -ENOSPC; -errno. */
int mdv_write_all(int fd, const void *from, size_t bytes);

/* ---- the register gateway (mdv_vsc.c) ---- */

/** Spaces; numbers as in FreeBSD (device.h), Linux (lib/pci_vsc.h) and mstflint. */
#define MDV_VSC_SPACE_SCAN 7u		/**< Registers; a read returns the address of the next one, too. */
#define MDV_VSC_SPACE_SEMAPHORES 10u
#define MDV_VSC_SW_RESET 0x20u		/**< In the space of semaphores: dumps and firmware resets. */

/** Attempts at the semaphore and polls of the flag: VSC_MAX_RETRIES of Linux. */
#define MDV_VSC_TRIES 2048u

/** The gateway of one device, opened. */
struct mdv_vsc {
	struct rte_pci_addr pci;
	int fd;			/**< The config file. */
	uint32_t cap;		/**< Offset of the capability. */
	uint32_t ticket;	/**< Own ticket while the lock is held, else 0. */
	bool sw_reset;		/**< MDV_VSC_SW_RESET is held. */
	bool force;		/**< Clear locks whose holder does nothing. */
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
 * is stale: with force it is cleared with a warning, and the lock taken.
 *
 * @return
 *   0; -EBUSY the holder is active, or the ticket cannot be cleared; -ESTALE it is stale; -ECANCELED; -errno of
 *   configuration space (-EPERM). After a failure close the gateway: other processes of this driver wait until then.
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
 *   was removed; -errno.
 */
int mdv_vsc_read(struct mdv_vsc *vsc, uint32_t addr, uint32_t *val, uint32_t *next);

#endif /* MDV_FWDUMP_INT_H */
