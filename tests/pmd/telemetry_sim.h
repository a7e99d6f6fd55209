/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * Runs the driver's commands of telemetry in this thread, with replies that can be read, and memory and room in replies
 * that can be short.
 */
#ifndef TELEMETRY_SIM_H
#define TELEMETRY_SIM_H

#include "../check.h"
#include "mlxpmd_ctrl.h"

extern struct mlxpmd_port port;
/** What failed, or NULL. */
extern const char *hit;
/** Locks that are held. */
extern int locks;
/** The reply as lines NAME=VALUE, the name with those of the dictionaries and arrays around it. */
extern char text[65536];

/** Runs a command; checks that nothing is left or locked. The callback's result. */
int run(const char *name, const char *params);
/** The k-th call for memory or room fails. */
int run_failing(const char *name, const char *params, unsigned int k);
/** Whether this is a line of the reply. */
bool has(const char *line);
/** Each command has a help. */
void check_help(void);

#endif /* TELEMETRY_SIM_H */
