/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* The few words the C tests of the PRM description share. */

#ifndef PRM_TEST_H
#define PRM_TEST_H

#include <stdio.h>
#include <string.h>

static int test_failures;

/* Counts and prints a condition that does not hold; the test goes on. */
#define CHECK(cond) do { \
	if (!(cond)) { \
		fprintf(stderr, "%s:%d: %s: not so: %s\n", __FILE__, __LINE__, __func__, #cond); \
		test_failures++; \
	} \
} while (0)

#define CHECK_STR(got, want) do { \
	const char *got_ = (got); \
	if (strcmp(got_, (want)) != 0) { \
		fprintf(stderr, "%s:%d: %s: \"%s\", not \"%s\"\n", __FILE__, __LINE__, __func__, \
				got_, (want)); \
		test_failures++; \
	} \
} while (0)

#endif /* PRM_TEST_H */
