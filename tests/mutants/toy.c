/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * For test_score.py: the places of faults in each function are known, and each fault changes what the program prints.
 */
#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define LIMIT 3
#define MDV_LOG(level, ...) ((void)(level), (void)(__VA_ARGS__))
#define unlikely(x) __builtin_expect(!!(x), 0)

static int locks, freed;

static void
toy_lock(void)
{
	locks++;
}

static void
toy_unlock(void)
{
	locks--;
}

static void
toy_free(void)
{
	freed++;
}

static int
compares(int a)
{
	return unlikely(a < LIMIT) && a != 1;
}

static uint32_t
masks(uint32_t a)
{
	static const uint32_t table[3] = { 1, 2, 5 };

	return htobe32((a & 0xff) | ~a << table[1]);
}

static int
refuses(bool bad)
{
	if (bad) {
		toy_free();
		MDV_LOG(1 + 2, "a log's arguments are left alone %d", 1 < 2);
		return -EINVAL;
	}
	return 0;
}

static int
locks_it(int a)
{
	toy_lock();
	if (a)
		a += 2;
	else
		a = -4;
	toy_unlock();
	return a;
}

int
main(void)
{
	for (int a = 0; a < 6; a++)
		printf("%d %u %d %d %d ", compares(a), masks(a), refuses(a == 2), locks_it(a), locks);
	printf("%d\n", freed);
	return 0;
}
