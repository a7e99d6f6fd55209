/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * A client of the emulator's control socket (doc/guide/mlxemu.md), for programs that run on it.
 */
#ifndef CTL_H
#define CTL_H

#include <jansson.h>

/** Connects to the socket that the environment names. 0 or -errno. */
int ctl_open(void);
/**
 * One request, one reply.
 *
 * @param command its name
 * @param key, value one argument of the command, or NULL
 * @return the reply, to be freed by json_decref(); NULL, after one line on stdout, when there is
 *   none, or the reply reports an error
 */
json_t *ctl_request(const char *command, const char *key, const char *value);
/** Adds a fault rule. 0 or -EINVAL. */
int ctl_fault_add(const char *rule);
/** What the rules saw and hit since they were added. */
struct ctl_fault {
	unsigned int seen, hits;
	char last[64]; /**< Name of what was hit last. */
};
void ctl_fault_get(struct ctl_fault *fault);
/** Removes all rules. */
void ctl_fault_clear(void);

#endif /* CTL_H */
