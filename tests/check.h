/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * Checks of the C tests: each one is counted, a failed one is printed with its place, expression and values, and the
 * program continues. main() ends with check_exit().
 *
 * All sources of a program share the counters (weak symbols). The macros may be used in any thread.
 * With CHECK_STOP set in the environment the program exits with status 1 at the first failure.
 */
#ifndef CHECK_H
#define CHECK_H

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern unsigned int check_count, check_failures;
/** Prints and counts one failure; *times counts the failures of one place, of which only the first few are printed. */
void check_failed(unsigned int *times, const char *file, int line, const char *func, const char *expr,
		  const char *fmt, ...) __attribute__((cold, format(printf, 6, 7)));
/** Prints the summary and returns the status of the program; a program without any check has failed. */
int check_exit(const char *name);

/** The condition holds. An optional format string and its values are printed when it does not. */
#define CHECK(cond, ...) \
	do { \
		check_counted(); \
		if (!(cond)) \
			CHECK_FAILED(#cond, " " __VA_ARGS__); \
	} while (0)
/** As CHECK(), and the function returns when the condition does not hold. */
#define REQUIRE(cond, ...) \
	do { \
		check_counted(); \
		if (!(cond)) { \
			CHECK_FAILED(#cond, " " __VA_ARGS__); \
			return; \
		} \
	} while (0)
/** Two integers of any type are equal. */
#define CHECK_EQ(got, want) \
	do { \
		long long got_ = (long long)(got), want_ = (long long)(want); \
		check_counted(); \
		if (got_ != want_) \
			CHECK_FAILED(#got " == " #want, " %lld (%#llx), not %lld (%#llx)", \
				     got_, (unsigned long long)got_, want_, (unsigned long long)want_); \
	} while (0)
/** A call returns 0. */
#define CHECK_OK(call) CHECK_EQ(call, 0)
/** Two strings are equal; NULL equals nothing. */
#define CHECK_STR(got, want) \
	do { \
		const char *got_ = (got), *want_ = (want); \
		check_counted(); \
		if (got_ == NULL || want_ == NULL || strcmp(got_, want_) != 0) \
			CHECK_FAILED(#got " == " #want, " \"%s\", not \"%s\"", got_ == NULL ? "NULL" : got_, \
				     want_ == NULL ? "NULL" : want_); \
	} while (0)

#define CHECK_FAILED(expr, ...) \
	do { \
		static unsigned int times_; \
		check_failed(&times_, __FILE__, __LINE__, __func__, expr, __VA_ARGS__); \
	} while (0)

/* Not a locked instruction: some tests make 10^8 checks. Threads may lose a count, not a failure. */
static inline void
check_counted(void)
{
	__atomic_store_n(&check_count, __atomic_load_n(&check_count, __ATOMIC_RELAXED) + 1, __ATOMIC_RELAXED);
}

__attribute__((weak)) unsigned int check_count;
__attribute__((weak)) unsigned int check_failures;

__attribute__((weak)) void
check_failed(unsigned int *times, const char *file, int line, const char *func, const char *expr,
	     const char *fmt, ...)
{
	const unsigned int most = 5;
	unsigned int n = __atomic_add_fetch(times, 1, __ATOMIC_RELAXED);
	int err = errno;
	char text[512];
	va_list ap;

	__atomic_add_fetch(&check_failures, 1, __ATOMIC_RELAXED);
	if (n <= most) {
		va_start(ap, fmt);
		vsnprintf(text, sizeof(text), fmt, ap);
		va_end(ap);
		fflush(stdout);
		fprintf(stderr, "%s:%d: %s: FAILED: %s:%s (errno %d)%s\n", file, line, func, expr, text, err,
			n == most ? ", more failures of this line are not printed" : "");
	}
	if (getenv("CHECK_STOP") != NULL)
		_exit(EXIT_FAILURE);
	errno = err;
}

__attribute__((weak)) int
check_exit(const char *name)
{
	unsigned int count = __atomic_load_n(&check_count, __ATOMIC_RELAXED);
	unsigned int failures = __atomic_load_n(&check_failures, __ATOMIC_RELAXED);

	printf("%s: %u checks, %u failed\n", name, count, failures);
	fflush(stdout);
	return count == 0 || failures != 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif /* CHECK_H */
