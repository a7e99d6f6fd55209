/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * Where packets are lost: the driver's account of them.
 */

#ifndef TM_DROPS_H
#define TM_DROPS_H

#include "tm.h"

/** Print the account of a port of this program; 0, or -ENOTSUP after tm_error(). */
int tm_drops_show(uint16_t port_id, FILE *out);
/** Print each second what changed, on all ports of this program, for ns; a key or a signal ends it. As above. */
int tm_drops_watch(struct tm_app *app, uint64_t ns);
/** `dpdk-test-mlx drops`: of a running program. @return The exit status. */
int tm_drops(int argc, char **argv);
/** Its line of --help. */
void tm_drops_help(FILE *out);

#endif
