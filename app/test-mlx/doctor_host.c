/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * `--doctor`: memory, namespaces, IOMMU, lockdown, host clock, versions.
 */

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
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
#define CAP_NET_RAW_BIT 13
#define CAP_IPC_LOCK_BIT 14
#define HUGEPAGES "/sys/kernel/mm/hugepages"

/* Root in a container may not have a capability. */
static bool
has_cap(unsigned int bit)
{
	unsigned long long caps = 0;
	char line[256];
	FILE *f = fopen("/proc/self/status", "r");

	while (f != NULL && fgets(line, sizeof(line), f) != NULL)
		if (sscanf(line, "CapEff: %llx", &caps) == 1)
			break;
	if (f != NULL)
		fclose(f);
	return caps >> bit & 1;
}

/* mlx5_ib refuses rules and raw packet QPs without it (hw/mlx5/fs.c, CREATE_FLOW). */
void
dr_net_raw(struct doctor *d)
{
	if (has_cap(CAP_NET_RAW_BIT))
		dr_print(d, DR_GOOD, "privileges", NULL, "CAP_NET_RAW: steering rules are allowed");
	else
		dr_print(d, DR_NOTE, "privileges", "run as root, or setcap cap_net_raw+ep PROGRAM",
			 "CAP_NET_RAW is missing: ports of the kernel's driver do not start");
}

void
dr_memlock(struct doctor *d)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0)
		return;
	if (has_cap(CAP_IPC_LOCK_BIT))
		dr_print(d, DR_GOOD, "memlock", NULL, "CAP_IPC_LOCK: no limit on pinned memory");
	else if (limit.rlim_cur == RLIM_INFINITY)
		dr_print(d, DR_GOOD, "memlock", NULL, "unlimited");
	else if (limit.rlim_cur >= MEMLOCK_WANTED)
		dr_print(d, DR_NOTE, "memlock", "ulimit -l unlimited, if mempools are larger",
		       "%llu MiB of memory may be pinned", (unsigned long long)limit.rlim_cur / MIB);
	else
		dr_print(d, DR_BAD, "memlock", "ulimit -l unlimited (limits.conf, systemd LimitMEMLOCK=infinity, "
		       "docker --ulimit memlock=-1)", "only %llu KiB of memory may be pinned",
		       (unsigned long long)limit.rlim_cur / 1024);
}

/* The folder in which EAL creates its files. */
static bool
huge_mounted(char *mount, size_t size)
{
	char line[512], where[256], type[32];
	FILE *f = fopen("/proc/mounts", "r");
	bool found = false;

	while (f != NULL && !found && fgets(line, sizeof(line), f) != NULL)
		found = sscanf(line, "%*s %255s %31s", where, type) == 2 && strcmp(type, "hugetlbfs") == 0;
	if (f != NULL)
		fclose(f);
	if (found)
		snprintf(mount, size, "%s", where);
	return found;
}

void
dr_hugepages(struct doctor *d)
{
	unsigned long long free_bytes = 0, total_bytes = 0;
	char text[32], mount[256];
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
	if (free_bytes > 0 && !huge_mounted(mount, sizeof(mount)))
		dr_print(d, DR_NOTE, "hugepages", "mkdir -p /dev/hugepages && mount -t hugetlbfs nodev /dev/hugepages, "
		       "or give EAL --in-memory", "%llu of %llu MiB are free, but no hugetlbfs is mounted",
		       free_bytes / MIB, total_bytes / MIB);
	else if (free_bytes > 0 && access(mount, W_OK | X_OK) != 0)
		dr_print(d, DR_NOTE, "hugepages", "run as root, give this user the folder (chown), or give EAL "
		       "--in-memory", "%llu of %llu MiB are free, but %s cannot be written: %s",
		       free_bytes / MIB, total_bytes / MIB, mount, strerror(errno));
	else if (free_bytes > 0)
		dr_print(d, DR_GOOD, "hugepages", NULL, "%llu of %llu MiB are free", free_bytes / MIB,
		       total_bytes / MIB);
	else
		dr_print(d, DR_NOTE, "hugepages", "dpdk-hugepages.py --setup 1G, or give EAL --no-huge (slower)",
		       total_bytes > 0 ? "all %llu MiB are in use" : "none reserved", total_bytes / MIB);
}

/* Number of network interfaces in this namespace, except loopback. */
static unsigned int
interfaces(void)
{
	char line[512], name[64];
	FILE *f = fopen("/proc/self/net/dev", "r");
	unsigned int n = 0;

	while (f != NULL && fgets(line, sizeof(line), f) != NULL)
		n += sscanf(line, " %63[^: \t|]:", name) == 1 && strchr(line, ':') != NULL &&
		     strcmp(name, "lo") != 0;
	if (f != NULL)
		fclose(f);
	return n;
}

void
dr_netns(struct doctor *d)
{
	static const char move[] = "run in the namespace of the card's interface, or move it here (ip link set IF netns)";
	struct stat mine, first;
	unsigned int n = interfaces();
	/* Without the right to trace process 1, its namespace cannot be read (namespaces(7)). */
	bool known = stat("/proc/self/ns/net", &mine) == 0 && stat("/proc/1/ns/net", &first) == 0;

	if (known && (mine.st_ino != first.st_ino || mine.st_dev != first.st_dev))
		dr_print(d, DR_NOTE, "netns", move, "not that of process 1, with %u interfaces: sysfs shows only the "
		       "interfaces in this namespace", n);
	else if (n == 0)
		dr_print(d, DR_NOTE, "netns", move, "only the loopback interface");
	else
		dr_print(d, DR_GOOD, "netns", NULL, "%s%u interfaces", known ?
		       "that of process 1, with " : "", n);
}

/* Number of IOMMU groups, except those of VFIO's no-IOMMU mode. */
static unsigned int
iommu_groups(void)
{
	DIR *dir = opendir(DR_IOMMU_GROUPS);
	unsigned int groups = 0;
	struct dirent *e;

	while (dir != NULL && (e = readdir(dir)) != NULL)
		groups += e->d_name[0] != '.' && !dr_noiommu(e->d_name);
	if (dir != NULL)
		closedir(dir);
	return groups;
}

void
dr_iommu(struct doctor *d)
{
	unsigned int groups = iommu_groups();
	char mode[8] = "";

	if (groups > 0)
		dr_print(d, DR_GOOD, "IOMMU", NULL, "%u groups", groups);
	else if (d->grouped > 0)
		dr_print(d, DR_GOOD, "IOMMU", NULL, "groups of the devices above");
	else if (dr_read("/sys/module/vfio/parameters/enable_unsafe_noiommu_mode", mode, sizeof(mode)) &&
		 mode[0] == 'Y')
		dr_print(d, DR_NOTE, "IOMMU", "enable the IOMMU (BIOS, kernel command line), or use "
		       "mlx5_core", "none, and VFIO is in no-IOMMU mode: libmlx5 requires an IOMMU of type 1");
	else
		dr_print(d, DR_NOTE, "IOMMU", NULL, "none: VFIO is not possible; mlx5_core does not need it");
}

void
dr_lockdown(struct doctor *d)
{
	char line[64];

	if (!dr_read("/sys/kernel/security/lockdown", line, sizeof(line)))
		dr_print(d, DR_GOOD, "lockdown", NULL, "none that the kernel reports (no securityfs)");
	else if (strstr(line, "[none]") != NULL)
		dr_print(d, DR_GOOD, "lockdown", NULL, "none");
	else
		dr_print(d, DR_NOTE, "lockdown", "fwdump uses devlink, if the kernel has it",
		       "%s: programs cannot access PCI config space and registers; forwarding is not affected", line);
}

void
dr_host_clock(struct doctor *d)
{
	char name[32];

	if (!dr_read("/sys/devices/system/clocksource/clocksource0/current_clocksource", name,
		     sizeof(name))) {
		dr_print(d, DR_NOTE, "host clock", NULL, "the clock source is unknown");
		return;
	}
	/* Reading other clock sources (HPET, ACPI PM, Hyper-V, Xen) takes a system call or a trap. */
	if (strcmp(name, "tsc") == 0 || strcmp(name, "kvm-clock") == 0 || strcmp(name, "arch_sys_counter") == 0)
		dr_print(d, DR_GOOD, "host clock", NULL, "%s", name);
	else
		dr_print(d, DR_NOTE, "host clock", "find out why the kernel does not use the TSC (dmesg | grep -i tsc)",
		       "%s: slow to read, which makes calibrated timestamps less accurate", name);
}

/* libmlx5.so.1.24.44.0 belongs to rdma-core 44.0: the release follows the two numbers of the ABI. */
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

	dr_print(d, DR_GOOD, "DPDK", NULL, "%s", rte_version());
	if (!library_release("libibverbs.so.1", "ibv_get_device_list", verbs, sizeof(verbs)) ||
	    !library_release("libmlx5.so.1", "mlx5dv_init_obj", mlx5, sizeof(mlx5)))
		dr_print(d, DR_BAD, "rdma-core", "install packages libibverbs1 and ibverbs-providers",
		       "libibverbs.so.1 or libmlx5.so.1 is missing: %s", dlerror());
	else if (strcmp(verbs, mlx5) != 0)
		dr_print(d, DR_BAD, "rdma-core", "install both from the same release",
		       "libibverbs is %s, libmlx5 %s", verbs, mlx5);
	else
		dr_print(d, DR_GOOD, "rdma-core", NULL, "%s", mlx5);
}
