/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * Register dumps by PCI address, and dumps as text files. Needs no EAL.
 */

#ifndef TM_FWDUMP_H
#define TM_FWDUMP_H

#include <stdio.h>

#include <mdv_fwdump.h>

/** A dump that was read from a file. */
struct fwdump_text {
	struct mdv_fwdump_reg *regs;	/**< sorted by address */
	size_t count;
};

/** Write a line per register, address TAB value, as FreeBSD's mlx5tool(8) does. 0 or -errno. */
int fwdump_text_write(FILE *out, const struct mdv_fwdump_reg *regs, size_t count);
/**
 * Read such lines; empty lines and text after '#' are ignored.
 * @return 0; -EINVAL with the number of the wrong line in *line; -errno. Call fwdump_text_free() in any case.
 */
int fwdump_text_read(const char *path, struct fwdump_text *text, unsigned int *line);
void fwdump_text_free(struct fwdump_text *text);
/**
 * Print each register that differs: address, value before, value after; "-" for a register that is in one file only.
 * @return Their number.
 */
size_t fwdump_text_diff(FILE *out, const struct fwdump_text *before, const struct fwdump_text *after);

/**
 * `dpdk-test-mlx fwdump take|get|reset|diff ...`; argv begins after the word fwdump.
 * @return 0; 1 it failed, or the files differ; 2 wrong arguments.
 */
int tm_fwdump(int argc, char **argv);
/** Print the usage, one line per verb. */
void tm_fwdump_help(FILE *out);

#endif
