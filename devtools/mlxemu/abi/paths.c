/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Which paths belong to the emulated devices, and where they really are. */
#undef _FILE_OFFSET_BITS
#undef _FORTIFY_SOURCE

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "abi.h"

/*
 * "always": the emulator's version replaces the kernel's, so that a host's own RDMA devices stay
 * out of sight. The others are rewritten only where the fake tree has such an entry.
 */
static const struct abi_path_rule {
	const char *prefix;
	bool always;
} abi_path_rules[] = {
	{"/sys/class/infiniband_verbs", true},
	{"/sys/class/infiniband", true},
	{"/dev/infiniband", true},
	{"/sys/bus/pci/devices", true},
	{"/sys/bus/pci/drivers/mlx5_core", true},
	{"/sys/devices/mlxemu", true},
	{"/sys/class/net", false},
};

const char *
abi_run_dir(void)
{
	static const char *_Atomic dir;
	const char *d = atomic_load_explicit(&dir, memory_order_relaxed);

	if (d == NULL) {
		d = getenv("MLXEMU_DIR");
		/* A program that empties its environment later still has its devices. */
		d = d != NULL ? strdup(d) : NULL;
		if (d == NULL)
			d = "";
		atomic_store_explicit(&dir, d, memory_order_relaxed);
	}
	return d[0] != '\0' ? d : NULL;
}

/* Copies path with runs of slashes and "/." parts folded; false when it does not fit. */
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
	if (!rule->always) {
		/* The directory itself stays the kernel's; only known entries are ours. */
		if (strlen(folded) <= strlen(rule->prefix) + 1 || abi_real_lstat(buf, &st) != 0)
			return path;
	}
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

int
abi_path_uverbs(const char *real_path)
{
	static const char tail[] = "/root/dev/infiniband/uverbs";
	const char *dir = abi_run_dir();
	size_t n = dir != NULL ? strlen(dir) : 0;
	char *end;
	unsigned long v;

	if (n == 0 || strncmp(real_path, dir, n) != 0 ||
	    strncmp(real_path + n, tail, sizeof(tail) - 1) != 0)
		return -1;
	real_path += n + sizeof(tail) - 1;
	if (*real_path < '0' || *real_path > '9')
		return -1;
	v = strtoul(real_path, &end, 10);
	return *end == '\0' && v < EMU_MAX_PORTS ? (int)v : -1;
}

void
abi_stat_uverbs(struct stat *st, unsigned n)
{
	st->st_mode = S_IFCHR | 0666;
	st->st_rdev = makedev(ABI_UVERBS_MAJOR, ABI_UVERBS_MINOR + n);
	st->st_size = 0;
	st->st_blocks = 0;
}
