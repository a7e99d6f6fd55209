/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * Dumps of a card's registers, with the contract of FreeBSD's mlx5io(4): one dump is taken and kept
 * per device until it is reset; it is read as pairs of address and value.
 *
 * Needs neither an open device nor EAL: a device is named by its PCI address. On Linux the dump is
 * kept in a file, so it outlives who took it, and any process of the user finds it; on FreeBSD the
 * kernel keeps it. A handle may be used by several threads at once, and several handles and processes
 * may be at the same device: one takes the dump, the others wait and find it.
 *
 * Functions give 0 or a negative errno and set rte_errno. What fails beyond the documented states
 * (a dump is there, there is none, wrong mode) is logged once, with every way that was tried.
 */
#ifndef MDV_FWDUMP_H
#define MDV_FWDUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_compat.h>
#include <rte_pci.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Which way a dump came. */
enum mdv_fwdump_route {
	MDV_FWDUMP_NONE,
	MDV_FWDUMP_VSC,		/**< Vendor-specific capability in PCI configuration space. */
	MDV_FWDUMP_DEVLINK,	/**< The kernel's health reporter fw_fatal. */
	MDV_FWDUMP_MLX5CTL,	/**< FreeBSD's /dev/mlx5ctl. */
	MDV_FWDUMP_ROUTES,
};

/** What a handle may do: as O_RDONLY, O_WRONLY and both of open(2). */
#define MDV_FWDUMP_READ 1u
#define MDV_FWDUMP_WRITE 2u

/** A register, in host order. */
struct mdv_fwdump_reg {
	uint32_t addr, val;
};

/** What a register holds in a dump that the card would not show. */
#define MDV_FWDUMP_UNREADABLE 0xbadacce5u

struct mdv_fwdump_info {
	enum mdv_fwdump_route route;
	uint32_t count;		/**< Registers. */
	uint32_t unreadable;	/**< Of them those that the card would not show. */
	uint32_t pid;		/**< Of who took it. */
	uint64_t taken_s;	/**< When: seconds since 1970, UTC. */
};

struct mdv_fwdump;

/**
 * Opens dumps of the device at a PCI address.
 *
 * @param access
 *   MDV_FWDUMP_READ, MDV_FWDUMP_WRITE or both; get wants the first, take and reset the second.
 * @param[out] out
 *   The handle, for mdv_fwdump_close(); NULL on failure.
 * @return
 *   0; -ENOENT no PCI device there; -EINVAL it is not one of mlx5, or no access is asked for; -ENOMEM.
 */
__rte_internal
int mdv_fwdump_open(const struct rte_pci_addr *pci, unsigned int access, struct mdv_fwdump **out);

/**
 * Lets what is done with a handle be given up: where stop(arg) says so it ends soon, with -ECANCELED. Only
 * ways that can be given up are used from then on, so not devlink. To be called before others use it.
 *
 * @param stop
 *   Called often, from the thread that waits. Of no effect where the kernel makes the dump (FreeBSD).
 */
__rte_internal
void mdv_fwdump_stop_by(struct mdv_fwdump *h, bool (*stop)(const void *arg), const void *arg);

/** NULL is allowed. A dump that is kept stays. */
__rte_internal
void mdv_fwdump_close(struct mdv_fwdump *h);

/**
 * Takes a dump and keeps it (FWDUMP_FORCE). May last seconds while others hold the card's lock.
 *
 * @return
 *   0; -EEXIST one is kept already; -EBADF the handle is not for writing; -EIO there is no way to the
 *   registers (no gateway, not permitted, and nothing to fall back on); -EBUSY somebody else holds the
 *   lock and is alive, or nothing can free it; -ETIMEDOUT the gateway does not answer; -ECANCELED
 *   mdv_fwdump_stop_by(); other errno of keeping the dump (-ENOSPC, -EACCES, -ENOTDIR).
 */
__rte_internal
int mdv_fwdump_take(struct mdv_fwdump *h);

/**
 * Reads the dump that is kept (FWDUMP_GET).
 *
 * @param[out] regs
 *   Room for count registers; NULL: only how many there are is wanted, which needs no dump: without
 *   one the card is asked.
 * @param[out] filled
 *   Registers written; with regs NULL those that there are.
 * @return
 *   0, also when there are more than count; -ENOENT none is kept; -EBADF the handle is not for reading;
 *   -EINVAL filled is NULL; -EIO what is kept cannot be read, or with NULL as mdv_fwdump_take().
 */
__rte_internal
int mdv_fwdump_get(struct mdv_fwdump *h, struct mdv_fwdump_reg *regs, size_t count, size_t *filled);

/** Drops the dump that is kept (FWDUMP_RESET). 0; -ENOENT none is kept; -EBADF not for writing. */
__rte_internal
int mdv_fwdump_reset(struct mdv_fwdump *h);

/** How the dump that is kept came to be. 0; -ENOENT none is kept; -EIO it cannot be read. */
__rte_internal
int mdv_fwdump_info(struct mdv_fwdump *h, struct mdv_fwdump_info *info);

/**
 * The registers as they are now; nothing is kept, and what is kept stays. As mdv_fwdump_get(), but the
 * handle must be for both, and errors are those of mdv_fwdump_take() without -EEXIST.
 *
 * @param[out] info
 *   Which way it came; NULL is allowed.
 * @return -ENOTSUP where the kernel keeps the dumps (FreeBSD).
 */
__rte_internal
int mdv_fwdump_get_current(struct mdv_fwdump *h, struct mdv_fwdump_reg *regs, size_t count, size_t *filled,
		    struct mdv_fwdump_info *info);

/** "vsc", "devlink", "mlx5ctl"; "none". */
__rte_internal
const char *mdv_fwdump_route_name(enum mdv_fwdump_route route);

#ifdef __cplusplus
}
#endif

#endif /* MDV_FWDUMP_H */
