/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * Messages: errors, failures that decide the exit code, notes.
 */

#include <stdarg.h>
#include <stdlib.h>

#include "tm.h"

void
tm_error(const char *fmt, ...)
{
	va_list ap;

	fflush(stdout);
	fprintf(stderr, TM_NAME ": ");
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

void
tm_note(const struct tm_app *app, const char *fmt, ...)
{
	va_list ap;

	if (app->cfg.quiet)
		return;
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	fflush(stdout);
}

void
tm_fail(struct tm_app *app, const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	tm_error("%s", text != NULL ? text : "out of memory");
	if (app->failures < TM_MAX_REASONS)
		app->reasons[app->failures] = text;
	else
		free(text);
	app->failures++;
}
