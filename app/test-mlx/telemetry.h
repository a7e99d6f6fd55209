/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * A client of the telemetry sockets of DPDK programs (DPDK's guide, "Telemetry Library"). Needs no EAL.
 */

#ifndef TM_TELEMETRY_H
#define TM_TELEMETRY_H

#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#include <jansson.h>

/** A connection; fd < 0: none, the other fields are those of the last one. */
struct tm_telemetry {
	int fd;
	pid_t pid;
	size_t max_bytes;	/**< of a reply */
	char version[64];	/**< of DPDK, as text */
};

/** A program with a telemetry socket. */
struct tm_program {
	char name[64];		/**< --file-prefix; with --in-memory and not the first of its folder: PREFIX:NUMBER */
	char path[108];		/**< of the socket */
};

/**
 * Connect to a socket.
 * @param timeout_ms For this connection and each reply.
 * @return 0; -ECONNREFUSED no program has it open; -ETIMEDOUT the program does not answer, or has ten connections
 *   already (MAX_CONNECTIONS of lib/telemetry/telemetry.c); other negative errno.
 */
int tm_telemetry_open(struct tm_telemetry *t, const char *path, unsigned int timeout_ms);
void tm_telemetry_close(struct tm_telemetry *t);
/**
 * Send a command.
 * @param command Such as "/mlxpmd/clock,0".
 * @return The value of the reply (json_decref() it); NULL if the program does not have the command or reported an
 *   error, or if the connection failed. That closes it (t->fd < 0): a late reply would be taken for the next one.
 */
json_t *tm_telemetry_query(struct tm_telemetry *t, const char *command);

/** The folder of EAL's folders, as EAL finds it (eal_create_runtime_dir() of lib/eal/unix), in buf. */
const char *tm_telemetry_folder(char *buf, size_t size);
/** Sockets in a folder, sorted by name: the first max of them. @return Their number. */
size_t tm_telemetry_find(const char *folder, struct tm_program *programs, size_t max);

/* program.c */
/** Print the programs of a folder that run. */
void tm_programs_list(const char *folder, FILE *out);
/**
 * Find the program with a name, without one (NULL) the only program with ports of mlxpmd.
 * @param what Begins error messages.
 * @return 0, or -ENOENT after tm_error().
 */
int tm_program_choose(const char *what, const char *folder, const char *name, struct tm_program *chosen);

#endif
