/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* `mlxemu run --join`: runs a program on the devices of another run. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mlxemu.h"

#define JOIN_PREFIX "MLXEMU_"
/* Variables of all options, with many --cap, --mac and --wire. */
#define JOIN_BYTES (1u << 20)

extern char **environ;

/* What only the program of the run may have: its descriptors, and what its model does and writes. */
static bool
join_private(const char *variable)
{
	static const char *const names[] = {
		"MLXEMU_WIRE_FDS=", "MLXEMU_FAULTS=", "MLXEMU_TRACE=", "MLXEMU_CAPTURE=",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strncmp(variable, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

int
mlxemu_environment_save(const struct mlxemu_run *run)
{
	char path[PATH_MAX + 16];
	bool failed;
	FILE *f;

	snprintf(path, sizeof(path), "%s/environment", run->dir);
	f = fopen(path, "w");
	if (f == NULL)
		return mlxemu_fail(MLXEMU_FAILED, "%s: %s", path, strerror(errno));
	for (char **v = environ; *v != NULL; v++)
		if (strncmp(*v, JOIN_PREFIX, strlen(JOIN_PREFIX)) == 0 && !join_private(*v))
			fwrite(*v, strlen(*v) + 1, 1, f);
	failed = fflush(f) != 0 || ferror(f);
	if (fclose(f) != 0 || failed)
		return mlxemu_fail(MLXEMU_FAILED, "%s: %s", path, strerror(errno));
	return MLXEMU_OK;
}

/* The run directory: of a process with emulated devices, or as given. */
static int
join_find(const char *which, char *dir, size_t len)
{
	struct stat st;
	int status;

	if (strchr(which, '/') == NULL) {
		status = mlxemu_ctl_find(which, dir, len);
		if (status != MLXEMU_OK)
			return status;
		*strrchr(dir, '/') = '\0';
	} else if (realpath(which, dir) == NULL) {
		return mlxemu_fail(MLXEMU_FAILED, "--join '%s': %s", which, strerror(errno));
	}
	/* The variables of another user are not trusted. */
	if (lstat(dir, &st) != 0 || !S_ISDIR(st.st_mode) || st.st_uid != geteuid())
		return mlxemu_fail(MLXEMU_FAILED, "--join '%s': %s is no run directory of this user", which, dir);
	return MLXEMU_OK;
}

static int
join_read(const char *dir, char *text, size_t room, size_t *len)
{
	char path[PATH_MAX + 16];
	FILE *f;

	snprintf(path, sizeof(path), "%s/environment", dir);
	f = fopen(path, "r");
	if (f == NULL)
		return mlxemu_fail(MLXEMU_FAILED, "--join: %s: %s", path, strerror(errno));
	*len = fread(text, 1, room, f);
	fclose(f);
	if (*len == 0 || *len == room || text[*len - 1] != '\0')
		return mlxemu_fail(MLXEMU_FAILED, "--join: %s is not complete", path);
	return MLXEMU_OK;
}

int
mlxemu_join(struct mlxemu_run *run)
{
	static char text[JOIN_BYTES];
	size_t len = 0;
	int status = join_find(run->join, run->dir, sizeof(run->dir));

	if (status == MLXEMU_OK)
		status = join_read(run->dir, text, sizeof(text), &len);
	if (status != MLXEMU_OK)
		return status;
	for (char *v = text; v < text + len; v += strlen(v) + 1) {
		char *equals = strchr(v, '=');

		if (equals == NULL || strncmp(v, JOIN_PREFIX, strlen(JOIN_PREFIX)) != 0)
			return mlxemu_fail(MLXEMU_FAILED, "--join: %s/environment: '%s' is no variable of a run", run->dir, v);
		*equals = '\0';
		setenv(v, equals + 1, 1);
		v = equals + 1;
	}
	setenv("MLXEMU_JOINED", "1", 1);
	mlxemu_environment_preload(run);
	return MLXEMU_OK;
}
