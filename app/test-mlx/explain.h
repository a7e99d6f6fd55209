/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * The meaning of a refused firmware command, and of a file of the recorder. Needs neither EAL nor a device.
 */

#ifndef TM_EXPLAIN_H
#define TM_EXPLAIN_H

#include <stdio.h>

/** Print the meaning of STATUS [SYNDROME], of cqe SYNDROME, or of FILE [--json]. 0, or -errno after tm_error(). */
int tm_explain(unsigned int n, const char *const words[]);
/** The same, for words in one line. */
int tm_explain_line(const char *rest);

/** `dpdk-test-mlx [devx] explain ...`; argv begins with that word. @return 0; 2 wrong arguments. */
int tm_explain_main(int argc, char **argv);
/** Print the usage, one line. */
void tm_explain_help(FILE *out);

#endif
