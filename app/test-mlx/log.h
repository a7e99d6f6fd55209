/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * Messages: errors, failures that decide the exit code, notes.
 */

#ifndef TM_LOG_H
#define TM_LOG_H

#include <rte_common.h>

struct tm_app;

/** Print one line "dpdk-test-mlx: ..." to stderr. */
void tm_error(const char *fmt, ...) __rte_format_printf(1, 2);
/** As tm_error(), and record the text as a reason for exit code 1. */
void tm_fail(struct tm_app *app, const char *fmt, ...) __rte_format_printf(2, 3);
/** Print one line to stdout unless --quiet. */
void tm_note(const struct tm_app *app, const char *fmt, ...) __rte_format_printf(2, 3);

#endif
