/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * The doctor: what stands between this machine and a running port, a line for each thing.
 */

#ifndef TM_DOCTOR_H
#define TM_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>

/** What a line says: all is well; something to know; this has to be mended. */
enum dr_state { DR_GOOD, DR_NOTE, DR_BAD };

struct doctor {
	unsigned int good, notes, bad;
	unsigned int devices;	/**< on PCI, of the vendor, that mlxpmd drives */
	unsigned int others;	/**< on PCI, of the vendor, that it does not */
	unsigned int verbs;	/**< of them with a verbs device */
	unsigned int vfio;	/**< of them on vfio-pci */
	unsigned int grouped;	/**< of those with an IOMMU group */
	unsigned int openable;	/**< of those with nodes that this user may open */
};

/**
 * One line: "good  NAME: TEXT", and below it what to do where that is not NULL.
 * @param advice NULL, or one sentence.
 */
void dr_say(struct doctor *d, enum dr_state state, const char *name, const char *advice,
	    const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/** First line of a file without the newline; false when it cannot be read. */
bool dr_read(const char *path, char *line, size_t size);
/** As dr_read(), of a path made by printf. */
bool dr_readf(char *line, size_t size, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/** Last component of what a symbolic link points to; false when there is none. */
bool dr_link(const char *path, char *name, size_t size);

#define DR_IOMMU_GROUPS "/sys/kernel/iommu_groups"
/** The group of this number was made up by VFIO's no-IOMMU mode. */
bool dr_noiommu(const char *group);

/* doctor_dev.c: devices, kernel modules, device nodes, interfaces, firmware, clocks */
void dr_devices(struct doctor *d);
void dr_modules(struct doctor *d);
/* doctor_host.c: memory, namespaces, IOMMU, lockdown, host clock, versions */
void dr_memlock(struct doctor *d);
void dr_hugepages(struct doctor *d);
void dr_netns(struct doctor *d);
void dr_iommu(struct doctor *d);
void dr_lockdown(struct doctor *d);
void dr_host_clock(struct doctor *d);
void dr_versions(struct doctor *d);

/** All of it. @return 0 when nothing is bad, else 1. */
int tm_doctor(void);

#endif
