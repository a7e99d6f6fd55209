/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * Dumps of the registers of a card, with the semantics of FreeBSD's mlx5io(4): one dump per device is
 * taken and kept until it is reset. It consists of pairs of address and value.
 *
 * Requires neither an open device nor EAL. On Linux the dump is kept in a file, which all processes of
 * the user can read; on FreeBSD the kernel keeps it. A handle may be used by several threads at
 * once. If several processes take a dump of the same device, one takes it and the others wait.
 *
 * Functions return 0 or a negative errno and set rte_errno. Errors other than the documented states
 * (-EEXIST, -ENOENT, -EBADF) are logged once, with every route that was tried.
 */
#ifndef MDV_FWDUMP_H
#define MDV_FWDUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_compat.h>
#include <rte_pci.h>

/** Route to the registers. */
enum mdv_fwdump_route {
	MDV_FWDUMP_NONE,
	MDV_FWDUMP_VSC,		/**< Vendor-specific capability in PCI configuration space. */
	MDV_FWDUMP_DEVLINK,	/**< The kernel's health reporter fw_fatal. */
	MDV_FWDUMP_MLX5CTL,	/**< FreeBSD's /dev/mlx5ctl. */
	MDV_FWDUMP_ROUTES,
};

/** Access of a handle: as O_RDONLY, O_WRONLY and O_RDWR of open(2). */
#define MDV_FWDUMP_READ 1u
#define MDV_FWDUMP_WRITE 2u
/** With MDV_FWDUMP_WRITE: clear a lock of the gateway whose holder does nothing. No effect on FreeBSD. */
#define MDV_FWDUMP_FORCE 4u

/** A register, in host order. */
struct mdv_fwdump_reg {
	uint32_t addr, val;
};

/** Value in a dump of a register that the card refused to read. */
#define MDV_FWDUMP_UNREADABLE 0xbadacce5u

struct mdv_fwdump_info {
	enum mdv_fwdump_route route;
	uint32_t count;		/**< Registers. */
	uint32_t unreadable;	/**< Registers that the card refused to read. */
	uint32_t pid;		/**< Process that took the dump. */
	uint64_t taken_s;	/**< Time of the dump, seconds since 1970 UTC. */
};

struct mdv_fwdump;

/**
 * Opens dumps of the device at a PCI address.
 *
 * @param access
 *   MDV_FWDUMP_READ for get, MDV_FWDUMP_WRITE for take and reset, or both; MDV_FWDUMP_FORCE.
 * @param[out] out
 *   The handle; release it with mdv_fwdump_close(). NULL on failure.
 * @return
 *   0; -ENOENT no such PCI device; -EINVAL not an mlx5 device, or invalid access; -ENOMEM.
 */
__rte_internal
int mdv_fwdump_open(const struct rte_pci_addr *pci, unsigned int access, struct mdv_fwdump **out);

/**
 * Makes the operations of a handle cancelable: they end with -ECANCELED soon after stop(arg) returns
 * true. devlink is not used any more, because it cannot be canceled. Call it before other threads
 * use the handle.
 *
 * @param stop
 *   Called often by the waiting thread. Has no effect on FreeBSD, where the kernel takes the dump.
 */
__rte_internal
void mdv_fwdump_stop_by(struct mdv_fwdump *h, bool (*stop)(const void *arg), const void *arg);

/** Closes the handle; a dump stays kept. NULL is allowed. */
__rte_internal
void mdv_fwdump_close(struct mdv_fwdump *h);

/**
 * Takes a dump and keeps it (MLX5_FWDUMP_FORCE). May take seconds while others hold the card's lock.
 *
 * @return
 *   0; -EEXIST one is kept already; -EBADF the handle is not for writing; -EIO no route to the
 *   registers (no gateway, not permitted, no devlink); -EBUSY another process holds the card's lock;
 *   -ETIMEDOUT the gateway does not respond; -ECANCELED see mdv_fwdump_stop_by(); other errno of
 *   keeping the dump (-ENOSPC, -EACCES, -ENOTDIR).
 */
__rte_internal
int mdv_fwdump_take(struct mdv_fwdump *h);

/**
 * Reads the dump that is kept (MLX5_FWDUMP_GET).
 *
 * @param[out] regs
 *   Array of count registers. NULL: return only their number, read from the card if no dump is kept.
 * @param[out] filled
 *   Number of registers written; with regs NULL the number of all registers.
 * @return
 *   0, also if there are more than count; -ENOENT none is kept; -EBADF the handle is not for reading;
 *   -EINVAL filled is NULL; -EIO the dump cannot be read; with regs NULL also as mdv_fwdump_take().
 */
__rte_internal
int mdv_fwdump_get(struct mdv_fwdump *h, struct mdv_fwdump_reg *regs, size_t count, size_t *filled);

/** Deletes the dump (MLX5_FWDUMP_RESET). 0; -ENOENT none is kept; -EBADF not for writing. */
__rte_internal
int mdv_fwdump_reset(struct mdv_fwdump *h);

/** Describes the dump that is kept. 0; -ENOENT none is kept; -EIO it cannot be read. */
__rte_internal
int mdv_fwdump_info(struct mdv_fwdump *h, struct mdv_fwdump_info *info);

/**
 * Reads the current registers without keeping them; a dump that is kept is not changed. As
 * mdv_fwdump_get(), but the handle must be for reading and writing.
 *
 * @param[out] info
 *   Route and number of registers. NULL is allowed.
 * @return
 *   As mdv_fwdump_take() without -EEXIST; -ENOTSUP on FreeBSD.
 */
__rte_internal
int mdv_fwdump_get_current(struct mdv_fwdump *h, struct mdv_fwdump_reg *regs, size_t count, size_t *filled,
		    struct mdv_fwdump_info *info);

/** "vsc", "devlink", "mlx5ctl"; "none". */
__rte_internal
const char *mdv_fwdump_route_name(enum mdv_fwdump_route route);

#endif /* MDV_FWDUMP_H */
