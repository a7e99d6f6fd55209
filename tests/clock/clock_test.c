/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Runs one of the clock tests, selected by name. */

#include <stdlib.h>
#include <string.h>

#include "sim.h"

static const struct {
	const char *name;
	void (*run)(void);
} tests[] = {
	{ "accuracy", test_accuracy },
	{ "page", test_page },
	{ "faults", test_faults },
	{ "host", test_host },
	{ "sources", test_sources },
	{ "state", test_state },
	{ "track", test_track },
	{ "verbs", test_verbs },
};

int
main(int argc, char **argv)
{
	bool found = false;

	for (unsigned int i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		if (argc != 2 || strcmp(argv[1], tests[i].name) != 0)
			continue;
		tests[i].run();
		found = true;
	}
	if (!found)
		fprintf(stderr, "no such test\n");
	return check_exit("clock");
}
