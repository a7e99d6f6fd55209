/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* What the files of register dumps share: the handle, what a system does, the ways to the registers. */
#ifndef MDV_FWDUMP_INT_H
#define MDV_FWDUMP_INT_H

#include <errno.h>
#include <stdbool.h>

#include <rte_errno.h>
#include <rte_log.h>

#include "mdv_fwdump.h"

extern int mdv_logtype;

/** One line, beginning with the device's PCI address. */
#define FWDUMP_LOG(level, pci, fmt, ...) \
	rte_log(RTE_LOG_##level, mdv_logtype, "mlx5dv: " PCI_PRI_FMT ": " fmt "\n", \
		(pci)->domain, (pci)->bus, (pci)->devid, (pci)->function, ##__VA_ARGS__)

/** Who says that nobody waits any longer; says NULL: all waits are waited out. */
struct mdv_fwdump_stop {
	bool (*says)(const void *arg);
	const void *arg;
};

static inline bool
mdv_fwdump_stopped(const struct mdv_fwdump_stop *stop)
{
	return stop->says != NULL && stop->says(stop->arg);
}

struct mdv_fwdump {
	struct rte_pci_addr pci;
	unsigned int access;
	char name[96];	/**< Of the file in which a dump is kept (Linux). */
	int ctl;	/**< /dev/mlx5ctl (FreeBSD). */
	struct mdv_fwdump_stop stop;
};

/** A dump under construction. Whoever has it frees regs. */
struct mdv_fwdump_set {
	struct mdv_fwdump_reg *regs;
	size_t count, room;
	uint32_t unreadable;
	enum mdv_fwdump_route route;
};
/** Adds a register; -ENOMEM, -EOVERFLOW beyond what any card has. */
int mdv_fwdump_add(struct mdv_fwdump_set *set, uint32_t addr, uint32_t val);

/** Most registers that are believed: the gateway's address has 30 bits, real cards have some 100,000. */
#define MDV_FWDUMP_MAX (1u << 22)

/* ---- the system's part: mdv_fwdump_linux.c or mdv_fwdump_freebsd.c; as the public functions ---- */

int mdv_fwdump_sys_open(struct mdv_fwdump *h);
void mdv_fwdump_sys_close(struct mdv_fwdump *h);
int mdv_fwdump_sys_take(struct mdv_fwdump *h);
int mdv_fwdump_sys_get(struct mdv_fwdump *h, struct mdv_fwdump_reg *regs, size_t count,
		       size_t *filled);
int mdv_fwdump_sys_reset(struct mdv_fwdump *h);
int mdv_fwdump_sys_info(struct mdv_fwdump *h, struct mdv_fwdump_info *info);
int mdv_fwdump_sys_get_current(struct mdv_fwdump *h, struct mdv_fwdump_reg *regs, size_t count,
			size_t *filled, struct mdv_fwdump_info *info);

/* ---- ways to the registers (Linux); why gets one clause when it is no way ---- */

#define MDV_FWDUMP_WHY 160
/** Through configuration space; values_too: else addresses only. 0, -errno as mdv_fwdump_take(). */
int mdv_fwdump_by_vsc(const struct mdv_fwdump *h, bool values_too, struct mdv_fwdump_set *set,
		      char why[MDV_FWDUMP_WHY]);
/** What the kernel's health reporter has, or takes when it is asked. */
int mdv_fwdump_by_devlink(const struct rte_pci_addr *pci, struct mdv_fwdump_set *set,
			  char why[MDV_FWDUMP_WHY]);

/* ---- keeping a dump in a file (mdv_fwdump_store.c) ---- */

/** The right to make the dump, held; the kernel takes it back when the process ends. */
struct mdv_fwdump_store {
	int dir, busy;	/**< Folder; the file that is being made, locked. */
};
/** Waits for others who make one. 0; -EEXIST a dump is kept; -ECANCELED; -errno; logged but for -EEXIST. */
int mdv_fwdump_store_begin(const struct mdv_fwdump *h, struct mdv_fwdump_store *store);
/** Keeps the dump. 0 or -errno, logged. */
int mdv_fwdump_store_keep(const struct mdv_fwdump *h, struct mdv_fwdump_store *store,
			  const struct mdv_fwdump_set *set);
/** Ends what begin began, whether it was kept or not. */
void mdv_fwdump_store_end(const struct mdv_fwdump *h, struct mdv_fwdump_store *store);
/** Reads what is kept: info, up to count registers. 0, -ENOENT, -EIO. */
int mdv_fwdump_store_read(const struct mdv_fwdump *h, struct mdv_fwdump_info *info,
			  struct mdv_fwdump_reg *regs, size_t count, size_t *filled);
int mdv_fwdump_store_drop(const struct mdv_fwdump *h);

#endif /* MDV_FWDUMP_INT_H */
