/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * `clock watch`: the driver's clock data, a line per port every second.
 */

#include <errno.h>
#include <string.h>

#include "tm_clock.h"

/** Columns: keys of the reply to /mlxpmd/clock. */
static const struct column {
	const char *key, *head;
	int width;
} columns[] = {
	{ "quality", "quality", 9 },
	{ "source", "source", 9 },
	{ "offset_ns", "offset/ns", 14 },
	{ "drift_ppm", "drift/ppm", 10 },
	{ "uncertainty_ns", "+-/ns", 8 },
	{ "age_ns", "age/ns", 11 },
	{ "generation", "generation", 11 },
	{ "steps", "steps", 6 },
	{ "busy", "busy", 6 },
	{ "expired", "expired", 8 },
};

static void
head_print(void)
{
	printf("%8s %4s", "seconds", "port");
	for (unsigned int i = 0; i < RTE_DIM(columns); i++)
		printf(" %*s", columns[i].width, columns[i].head);
	putchar('\n');
}

static bool
line_print(uint16_t port_id, uint64_t since_ns)
{
	json_t *clock = tm_clock_driver_read(port_id);
	char buf[32];

	if (clock == NULL)
		return false;
	printf("%8.1f %4u", (double)(tm_now_ns() - since_ns) / 1e9, port_id);
	for (unsigned int i = 0; i < RTE_DIM(columns); i++)
		printf(" %*s", columns[i].width,
		       tm_clock_value_str(json_object_get(clock, columns[i].key), buf, sizeof(buf)));
	putchar('\n');
	json_decref(clock);
	return true;
}

int
tm_clock_watch(struct tm_app *app, uint64_t ns)
{
	const uint64_t start = tm_now_ns();
	uint64_t passed = 0;
	bool any = true;

	head_print();
	while (!app->quit && app->signal == 0 && any) {
		any = false;
		for (uint16_t i = 0; i < app->nb_ports; i++)
			any |= line_print(app->port_ids[i], start);
		fflush(stdout);
		if (passed >= ns)
			break;
		tm_run_idle(app, RTE_MIN(ns - passed, TM_NS_PER_S));
		passed = tm_now_ns() - start;
	}
	if (!any) {
		tm_error("clock watch: no driver here has telemetry command /mlxpmd/clock, or telemetry is off");
		return -ENOTSUP;
	}
	return 0;
}
