/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * Running programs of DPDK: a list, and the choice of one.
 */

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "log.h"
#include "telemetry.h"

#define PROGRAMS_MAX 64
/* A program that hangs delays the list of all. */
#define TIMEOUT_MS 500

/* Connect to a program, and count its ports; negative errno. */
static int
program_ports(const struct tm_program *p, pid_t *pid)
{
	struct tm_telemetry t = { .fd = -1 };
	int ret = tm_telemetry_open(&t, p->path, TIMEOUT_MS);
	json_t *list;

	if (ret != 0)
		return ret;
	*pid = t.pid;
	list = tm_telemetry_query(&t, "/mlxpmd/list");
	ret = json_array_size(list);
	json_decref(list);
	tm_telemetry_close(&t);
	return ret;
}

/* Programs of the folder that run: the sockets of those that were killed stay. */
struct found {
	struct tm_program programs[PROGRAMS_MAX];
	int ports[PROGRAMS_MAX];	/* negative errno: of the connection */
	pid_t pids[PROGRAMS_MAX];
	size_t n, with_ports;
};

static void
programs_find(const char *folder, struct found *f)
{
	size_t n = tm_telemetry_find(folder, f->programs, PROGRAMS_MAX);

	for (size_t i = 0; i < n; i++) {
		int ports = program_ports(&f->programs[i], &f->pids[f->n]);

		if (ports == -ECONNREFUSED || ports == -ENOENT)
			continue;
		f->programs[f->n] = f->programs[i];
		f->ports[f->n++] = ports;
		f->with_ports += ports > 0;
	}
}

static const char *
reason(int ret)
{
	return ret == -ETIMEDOUT ? "does not answer" : strerror(-ret);
}

static void
found_list(const struct found *f, FILE *out)
{
	fprintf(out, "%-24s %10s %s\n", "PREFIX", "PROCESS", "PORTS");
	for (size_t i = 0; i < f->n; i++) {
		if (f->ports[i] < 0)
			fprintf(out, "%-24s %10s %s\n", f->programs[i].name, "-", reason(f->ports[i]));
		else
			fprintf(out, "%-24s %10d %d\n", f->programs[i].name, f->pids[i], f->ports[i]);
	}
}

void
tm_programs_list(const char *folder, FILE *out)
{
	struct found f = { .n = 0 };

	programs_find(folder, &f);
	found_list(&f, out);
}

int
tm_program_choose(const char *what, const char *folder, const char *name, struct tm_program *chosen)
{
	struct found f = { .n = 0 };

	programs_find(folder, &f);
	for (size_t i = 0; i < f.n; i++) {
		if (name != NULL ? strcmp(f.programs[i].name, name) != 0 : f.with_ports != 1 || f.ports[i] <= 0)
			continue;
		*chosen = f.programs[i];
		/* One that does not answer may do so later. */
		if (f.ports[i] > 0 || f.ports[i] == -ETIMEDOUT)
			return 0;
		tm_error("%s: program '%s' %s", what, name, f.ports[i] == 0 ? "has no port of mlxpmd" :
			 reason(f.ports[i]));
		return -ENOENT;
	}
	if (access(folder, R_OK | X_OK) != 0 && errno != ENOENT)
		tm_error("%s: %s: %s: run as the user of the program", what, folder, strerror(errno));
	else if (name != NULL)
		tm_error("%s: no program with --file-prefix %s runs, or it has no telemetry (%s)", what, name, folder);
	else if (f.n == 0)
		tm_error("%s: no DPDK program with telemetry runs (%s)", what, folder);
	else
		tm_error("%s: %s: give --file-prefix", what, f.with_ports > 1 ? "several programs run" :
			 "no program has ports of mlxpmd");
	if (f.n > 0)
		found_list(&f, stderr);
	return -ENOENT;
}
