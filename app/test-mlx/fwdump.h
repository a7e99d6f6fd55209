/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * Register dumps: taken, read and dropped by PCI address, written and compared as text. No EAL.
 */

#ifndef TM_FWDUMP_H
#define TM_FWDUMP_H

#include <stdio.h>

#include <mdv_fwdump.h>

/** A dump, as it stands in a file. */
struct fwdump_text {
	struct mdv_fwdump_reg *regs;	/**< In rising order of addresses. */
	size_t count;
};

/** One line per register, address TAB value: what FreeBSD's mlx5tool writes. 0 or -errno. */
int fwdump_text_write(FILE *out, const struct mdv_fwdump_reg *regs, size_t count);
/**
 * Reads such lines; empty ones are skipped, and what is behind a '#'.
 * @return 0, -EINVAL and the line's number in *line, -errno. fwdump_text_free() in any case.
 */
int fwdump_text_read(const char *path, struct fwdump_text *text, unsigned int *line);
void fwdump_text_free(struct fwdump_text *text);
/**
 * Prints each register that is not the same in both: address, value before, value after; a dash where there is
 * none. @return how many.
 */
size_t fwdump_text_diff(FILE *out, const struct fwdump_text *before, const struct fwdump_text *after);

/**
 * `fwdump take|get|reset|diff ...`: argv is what follows the word.
 * @return 0; 1 it failed, or what is compared differs; 2 wrong arguments.
 */
int tm_fwdump(int argc, char **argv);
/** What it takes, one line each. */
void tm_fwdump_help(FILE *out);

#endif
