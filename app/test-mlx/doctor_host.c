/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * The doctor on the machine around the devices.
 */

#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rte_version.h>

#include "doctor.h"

#define MIB (1024ull * 1024)
#define MEMLOCK_WANTED (512 * MIB)
#define CAP_IPC_LOCK_BIT 14
#define HUGEPAGES "/sys/kernel/mm/hugepages"

/* Root in a container may lack the very capability. */
static bool
may_lock(void)
{
	unsigned long long caps = 0;
	char line[256];
	FILE *f = fopen("/proc/self/status", "r");

	while (f != NULL && fgets(line, sizeof(line), f) != NULL)
		if (sscanf(line, "CapEff: %llx", &caps) == 1)
			break;
	if (f != NULL)
		fclose(f);
	return caps >> CAP_IPC_LOCK_BIT & 1;
}

void
dr_memlock(struct doctor *d)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0)
		return;
	if (may_lock())
		dr_say(d, DR_GOOD, "memlock", NULL, "CAP_IPC_LOCK: no limit on pinned memory");
	else if (limit.rlim_cur == RLIM_INFINITY)
		dr_say(d, DR_GOOD, "memlock", NULL, "unlimited");
	else if (limit.rlim_cur >= MEMLOCK_WANTED)
		dr_say(d, DR_NOTE, "memlock", "ulimit -l unlimited lets every mempool be registered",
		       "%llu MiB of memory may be pinned", (unsigned long long)limit.rlim_cur / MIB);
	else
		dr_say(d, DR_BAD, "memlock", "ulimit -l unlimited (limits.conf, systemd LimitMEMLOCK=infinity, "
		       "docker --ulimit memlock=-1)", "only %llu KiB of memory may be pinned",
		       (unsigned long long)limit.rlim_cur / 1024);
}

void
dr_hugepages(struct doctor *d)
{
	unsigned long long free_bytes = 0, total_bytes = 0;
	char text[32];
	struct dirent *e;
	DIR *dir = opendir(HUGEPAGES);

	while (dir != NULL && (e = readdir(dir)) != NULL) {
		unsigned long long kib;

		if (sscanf(e->d_name, "hugepages-%llukB", &kib) != 1)
			continue;
		if (dr_readf(text, sizeof(text), HUGEPAGES "/%s/free_hugepages", e->d_name))
			free_bytes += strtoull(text, NULL, 10) * kib * 1024;
		if (dr_readf(text, sizeof(text), HUGEPAGES "/%s/nr_hugepages", e->d_name))
			total_bytes += strtoull(text, NULL, 10) * kib * 1024;
	}
	if (dir != NULL)
		closedir(dir);
	if (free_bytes > 0)
		dr_say(d, DR_GOOD, "hugepages", NULL, "%llu of %llu MiB are free", free_bytes / MIB,
		       total_bytes / MIB);
	else
		dr_say(d, DR_NOTE, "hugepages", "dpdk-hugepages.py --setup 1G, or EAL's --no-huge (slower)",
		       total_bytes > 0 ? "all %llu MiB are in use" : "none set up", total_bytes / MIB);
}

void
dr_netns(struct doctor *d)
{
	struct stat mine, first;

	if (stat("/proc/self/ns/net", &mine) != 0)
		return;
	if (stat("/proc/1/ns/net", &first) != 0 ||
	    (mine.st_ino == first.st_ino && mine.st_dev == first.st_dev))
		dr_say(d, DR_GOOD, "netns", NULL, "the first process's network namespace");
	else
		dr_say(d, DR_NOTE, "netns", NULL, "a network namespace of its own: devices show only "
		       "the interfaces that were moved here");
}

void
dr_iommu(struct doctor *d)
{
	unsigned int groups = 0;
	struct dirent *e;
	DIR *dir = opendir("/sys/kernel/iommu_groups");

	while (dir != NULL && (e = readdir(dir)) != NULL)
		groups += e->d_name[0] != '.';
	if (dir != NULL)
		closedir(dir);
	if (groups > 0)
		dr_say(d, DR_GOOD, "IOMMU", NULL, "%u groups", groups);
	else if (d->grouped > 0)
		dr_say(d, DR_GOOD, "IOMMU", NULL, "groups of the devices above");
	else
		dr_say(d, DR_NOTE, "IOMMU", NULL, "none: VFIO is not possible; beside mlx5_core it is not needed");
}

void
dr_lockdown(struct doctor *d)
{
	char line[64];

	if (!dr_read("/sys/kernel/security/lockdown", line, sizeof(line)))
		return;
	if (strstr(line, "[none]") != NULL)
		dr_say(d, DR_GOOD, "lockdown", NULL, "none");
	else
		dr_say(d, DR_NOTE, "lockdown", NULL, "%s: PCI config space and registers cannot be "
		       "read from programs; forwarding is not touched by that", line);
}

void
dr_host_clock(struct doctor *d)
{
	char name[32];

	if (!dr_read("/sys/devices/system/clocksource/clocksource0/current_clocksource", name,
		     sizeof(name)))
		return;
	/* Emulated counters of hypervisors are read by a call or a trap: fine for a clock, not for the TSC. */
	if (strcmp(name, "tsc") == 0 || strcmp(name, "kvm-clock") == 0 || strcmp(name, "arch_sys_counter") == 0)
		dr_say(d, DR_GOOD, "host clock", NULL, "%s", name);
	else
		dr_say(d, DR_NOTE, "host clock", "see why the kernel does not trust the TSC (dmesg | grep -i tsc)",
		       "%s: slow to read, timestamps against it are less certain", name);
}

/* libmlx5.so.1.24.44.0 is of rdma-core 44.0: the release follows the two numbers of the interface. */
static bool
library_release(const char *soname, const char *symbol, char *release, size_t size)
{
	void *lib = dlopen(soname, RTLD_NOW | RTLD_LOCAL);
	void *address = lib != NULL ? dlsym(lib, symbol) : NULL;
	char *path = NULL, *p = NULL;
	Dl_info info;

	if (address != NULL && dladdr(address, &info) != 0)
		path = realpath(info.dli_fname, NULL);
	if (path != NULL)
		p = strstr(path, ".so.");
	for (int i = 0; p != NULL && i < 2; i++)
		p = strchr(i == 0 ? p + 4 : p + 1, '.');
	snprintf(release, size, "%s", p != NULL ? p + 1 : "of unknown release");
	free(path);
	return lib != NULL;
}

void
dr_versions(struct doctor *d)
{
	char verbs[64], mlx5[64];

	dr_say(d, DR_GOOD, "DPDK", NULL, "%s", rte_version());
	if (!library_release("libibverbs.so.1", "ibv_get_device_list", verbs, sizeof(verbs)) ||
	    !library_release("libmlx5.so.1", "mlx5dv_init_obj", mlx5, sizeof(mlx5)))
		dr_say(d, DR_BAD, "rdma-core", "install packages libibverbs1 and ibverbs-providers",
		       "libibverbs.so.1 or libmlx5.so.1 is missing: %s", dlerror());
	else if (strcmp(verbs, mlx5) != 0)
		dr_say(d, DR_BAD, "rdma-core", "install both from one source",
		       "libibverbs is %s, libmlx5 %s", verbs, mlx5);
	else
		dr_say(d, DR_GOOD, "rdma-core", NULL, "%s", mlx5);
}
