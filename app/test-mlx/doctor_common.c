/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * Common functions of --doctor: printing a result, reading sysfs. Needs neither EAL nor a device.
 */

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "doctor.h"

static const char *const state_str[] = {
	[DR_GOOD] = "good", [DR_NOTE] = "note", [DR_BAD] = "BAD ",
};

void
dr_print(struct doctor *d, enum dr_state state, const char *name, const char *advice, const char *fmt,
       ...)
{
	va_list ap;

	d->good += state == DR_GOOD;
	d->notes += state == DR_NOTE;
	d->bad += state == DR_BAD;
	printf("%s  %-12s ", state_str[state], name);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	if (advice != NULL)
		printf("                   -> %s\n", advice);
}

bool
dr_read(const char *path, char *line, size_t size)
{
	FILE *f = fopen(path, "r");
	bool got = f != NULL && fgets(line, size, f) != NULL;

	if (f != NULL)
		fclose(f);
	if (got)
		line[strcspn(line, "\n")] = '\0';
	return got;
}

bool
dr_readf(char *line, size_t size, const char *fmt, ...)
{
	char path[512];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(path, sizeof(path), fmt, ap);
	va_end(ap);
	return n > 0 && (size_t)n < sizeof(path) && dr_read(path, line, size);
}

bool
dr_link(const char *path, char *name, size_t size)
{
	char target[512];
	ssize_t n = readlink(path, target, sizeof(target) - 1);
	const char *last;

	if (n <= 0)
		return false;
	target[n] = '\0';
	last = strrchr(target, '/');
	snprintf(name, size, "%s", last != NULL ? last + 1 : target);
	return true;
}

bool
dr_noiommu(const char *group)
{
	char name[32];

	return dr_readf(name, sizeof(name), DR_IOMMU_GROUPS "/%s/name", group) &&
	       strcmp(name, "vfio-noiommu") == 0;
}
