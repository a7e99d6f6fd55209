/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Error messages of the launcher. */
#include <stdarg.h>
#include <stdio.h>

#include "mlxemu.h"

int
mlxemu_fail(int status, const char *fmt, ...)
{
	char line[2 * PATH_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	fprintf(stderr, "mlxemu: %s\n", line);
	return status;
}
