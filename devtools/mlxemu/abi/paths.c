/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Translation of paths in /sys and /dev to paths in the run directory. */
#undef _FILE_OFFSET_BITS
#undef _FORTIFY_SOURCE

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "abi.h"

/*
 * "always": the emulator's folder replaces the kernel's, which hides RDMA devices of the host. Other
 * paths are translated only if the emulator's tree has this entry; a folder with entries of both
 * remains the kernel's.
 */
enum abi_path_how { ABI_PATH_ALWAYS, ABI_PATH_ENTRIES, ABI_PATH_EXISTING };
static const struct abi_path_rule {
	const char *prefix;
	enum abi_path_how how;
} abi_path_rules[] = {
	{"/sys/class/infiniband_verbs", ABI_PATH_ALWAYS},
	{"/sys/class/infiniband", ABI_PATH_ALWAYS},
	{"/dev/infiniband", ABI_PATH_ALWAYS},
	{"/sys/bus/pci/devices", ABI_PATH_ALWAYS},
	{"/sys/bus/auxiliary", ABI_PATH_EXISTING},
	{"/sys/bus/pci/drivers/mlx5_core", ABI_PATH_ALWAYS},
	{"/sys/bus/pci/drivers/mlx4_core", ABI_PATH_ALWAYS},
	{"/sys/bus/pci/drivers/vfio-pci", ABI_PATH_EXISTING},
	{"/sys/devices/mlxemu", ABI_PATH_ALWAYS},
	{"/sys/class/net", ABI_PATH_ENTRIES},
	{"/sys/kernel/iommu_groups", ABI_PATH_ENTRIES},
	{"/dev/vfio", ABI_PATH_EXISTING},
};

const char *
abi_run_dir(void)
{
	static const char *_Atomic dir;
	const char *d = atomic_load_explicit(&dir, memory_order_relaxed);

	if (d == NULL) {
		d = getenv("MLXEMU_DIR");
		/* Keep a copy: the program may clear its environment. */
		d = d != NULL ? strdup(d) : NULL;
		if (d == NULL)
			d = "";
		atomic_store_explicit(&dir, d, memory_order_relaxed);
	}
	return d[0] != '\0' ? d : NULL;
}

/* Copy path without repeated slashes and "/." parts; false if it does not fit. */
static bool
abi_path_fold(const char *path, char *out, size_t size)
{
	size_t n = 0;

	while (*path != '\0') {
		if (path[0] == '/' && path[1] == '/') {
			path++;
			continue;
		}
		if (path[0] == '/' && path[1] == '.' && (path[2] == '/' || path[2] == '\0')) {
			path += 2;
			continue;
		}
		if (n + 1 >= size)
			return false;
		out[n++] = *path++;
	}
	out[n] = '\0';
	return true;
}

static const struct abi_path_rule *
abi_path_rule_find(const char *path)
{
	unsigned i;

	for (i = 0; i < sizeof(abi_path_rules) / sizeof(abi_path_rules[0]); i++) {
		size_t n = strlen(abi_path_rules[i].prefix);

		if (strncmp(path, abi_path_rules[i].prefix, n) == 0 &&
		    (path[n] == '/' || path[n] == '\0'))
			return &abi_path_rules[i];
	}
	return NULL;
}

const char *
abi_path(const char *path, char *buf)
{
	const struct abi_path_rule *rule;
	char folded[2048];
	const char *dir;
	struct stat st;

	if (path == NULL || path[0] != '/' || abi_inside != 0)
		return path;
	if (strncmp(path + strspn(path, "/"), "sys/", 4) != 0 &&
	    strncmp(path + strspn(path, "/"), "dev/", 4) != 0)
		return path;
	dir = abi_run_dir();
	if (dir == NULL || !abi_path_fold(path, folded, sizeof(folded)))
		return path;
	rule = abi_path_rule_find(folded);
	if (rule == NULL)
		return path;
	if (snprintf(buf, ABI_PATH_MAX, "%s/root%s", dir, folded) >= ABI_PATH_MAX)
		return path;
	if (rule->how == ABI_PATH_ENTRIES && strlen(folded) <= strlen(rule->prefix) + 1)
		return path;
	if (rule->how != ABI_PATH_ALWAYS && abi_real_lstat(buf, &st) != 0)
		return path;
	return buf;
}

void
abi_path_unmap(char *path)
{
	const char *dir = abi_run_dir();
	size_t n = dir != NULL ? strlen(dir) : 0;

	if (n == 0 || strncmp(path, dir, n) != 0 || strncmp(path + n, "/root/", 6) != 0)
		return;
	memmove(path, path + n + 5, strlen(path + n + 5) + 1);
}

/* The number after a prefix of a name in /dev, below max; -1: no such name. */
static long
abi_path_number(const char *tail, const char *prefix, unsigned long max)
{
	size_t n = strlen(prefix);
	char *end;
	unsigned long v;

	if (strncmp(tail, prefix, n) != 0 || tail[n] < '0' || tail[n] > '9')
		return -1;
	v = strtoul(tail + n, &end, 10);
	return *end == '\0' && v < max ? (long)v : -1;
}

int
abi_path_node(const char *real_path)
{
	static const char dev[] = "/root/dev/";
	const char *dir = abi_run_dir(), *tail;
	size_t n = dir != NULL ? strlen(dir) : 0;
	long v;

	if (n == 0 || strncmp(real_path, dir, n) != 0 ||
	    strncmp(real_path + n, dev, sizeof(dev) - 1) != 0)
		return ABI_NODE_NONE;
	tail = real_path + n + sizeof(dev) - 1;
	if (strcmp(tail, "vfio/vfio") == 0)
		return ABI_NODE_VFIO;
	v = abi_path_number(tail, "vfio/", 0x10000);
	if (v >= 0)
		return ABI_NODE_GROUP + (int)v;
	return (int)abi_path_number(tail, "infiniband/uverbs", EMU_MAX_PORTS);
}

/* Linux: major 231 for uverbs, 10:196 for the VFIO container; groups have a dynamic major. */
dev_t
abi_node_rdev(int node)
{
	if (node >= ABI_NODE_GROUP)
		return makedev(ABI_VFIO_MAJOR, node - ABI_NODE_GROUP);
	if (node == ABI_NODE_VFIO)
		return makedev(10, 196);
	return makedev(ABI_UVERBS_MAJOR, ABI_UVERBS_MINOR + node);
}

void
abi_stat_node(struct stat *st, int node)
{
	st->st_mode = S_IFCHR | 0666;
	st->st_rdev = abi_node_rdev(node);
	st->st_size = 0;
	st->st_blocks = 0;
}
