/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * `--doctor`: check this machine for what a port needs, and print one line per check.
 */

#ifndef TM_DOCTOR_H
#define TM_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>

/** Result of a check: good; a note; an error that prevents a port from running. */
enum dr_state { DR_GOOD, DR_NOTE, DR_BAD };

struct doctor {
	unsigned int good, notes, bad;	/**< numbers of lines */
	unsigned int devices;	/**< PCI devices of the vendor that mlxpmd supports */
	unsigned int others;	/**< PCI devices of the vendor that it does not support */
	unsigned int verbs;	/**< devices with a verbs device */
	unsigned int vfio;	/**< devices bound to vfio-pci */
	unsigned int grouped;	/**< vfio devices with an IOMMU group */
	unsigned int openable;	/**< vfio devices whose nodes this user may open */
};

/**
 * Print "good  NAME  TEXT", and below it the advice.
 * @param advice What to do, or NULL.
 */
void dr_print(struct doctor *d, enum dr_state state, const char *name, const char *advice,
	    const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/** Read the first line of a file, without the newline; false if it cannot be read. */
bool dr_read(const char *path, char *line, size_t size);
/** As dr_read(), with a printf-like path. */
bool dr_readf(char *line, size_t size, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/** Read the last component of a symbolic link's target; false if there is no link. */
bool dr_link(const char *path, char *name, size_t size);

#define DR_IOMMU_GROUPS "/sys/kernel/iommu_groups"
/** Is this IOMMU group one of VFIO's no-IOMMU mode (drivers/vfio/group.c, vfio_noiommu_group_alloc())? */
bool dr_noiommu(const char *group);

/* doctor_dev.c: devices, kernel modules, device nodes, interfaces, firmware, clocks */
void dr_devices(struct doctor *d);
void dr_modules(struct doctor *d);
/* doctor_host.c: memory, namespaces, IOMMU, lockdown, host clock, versions */
void dr_net_raw(struct doctor *d);
void dr_memlock(struct doctor *d);
void dr_hugepages(struct doctor *d);
void dr_netns(struct doctor *d);
void dr_iommu(struct doctor *d);
void dr_lockdown(struct doctor *d);
void dr_host_clock(struct doctor *d);
void dr_versions(struct doctor *d);

/** Run all checks. @return 0 if no result is bad, else 1. */
int tm_doctor(void);

#endif
