/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * What a refusal of the firmware means. No EAL, no device.
 */

#ifndef TM_EXPLAIN_H
#define TM_EXPLAIN_H

#include <stdio.h>

/** STATUS [SYNDROME], or cqe SYNDROME: prints what it means. 0, or -EINVAL and a line on stderr. */
int tm_explain(unsigned int n, const char *const words[]);
/** The same of words in a line. */
int tm_explain_line(const char *rest);

/** `devx ...` instead of EAL's options: argv is what follows the word. @return 0; 2 wrong arguments. */
int tm_explain_main(int argc, char **argv);
/** What it takes, a line. */
void tm_explain_help(FILE *out);

#endif
