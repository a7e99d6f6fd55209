/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * Files of the driver's flight recorder: reading, and explaining them. Needs neither EAL nor a device.
 */

#ifndef TM_RECORDER_H
#define TM_RECORDER_H

#include <stdio.h>

#include <mdv_recorder.h>

/** A file that was read and checked. */
struct recorder {
	struct mdv_recorder_head head;	/**< Its texts are printable. */
	struct mdv_record *records;	/**< By time. */
	unsigned int n;
};

/** What happened. */
struct recorder_cause {
	const char *id;			/**< "firmware", "queue" ..., for programs. */
	const struct mdv_record *at;	/**< The record of the cause; NULL: nothing failed. */
	char what[480];
	const char *likely, *todo;
	char command[320];		/**< The `mlxemu run` line that comes nearest; empty: there is none, */
	const char *no_command;		/**< for this reason. */
};

/**
 * Checks the contents of a file, which are not trusted.
 *
 * @param[out] why
 *   One line, if the file cannot be used.
 * @return
 *   0, to be released with recorder_free(); -EINVAL; -ENOMEM.
 */
int recorder_parse(const void *data, size_t bytes, struct recorder *r, char *why, size_t why_bytes);
/** As recorder_parse(), for a file; other -errno if it cannot be read. */
int recorder_read(const char *path, struct recorder *r, char *why, size_t why_bytes);
void recorder_free(struct recorder *r);

/** A record in words, without its time. brief: statuses and syndromes by name only, without their meaning. */
void recorder_describe(const struct recorder *r, const struct mdv_record *rec, bool brief, char *text, size_t bytes);
/** "5 commands ok (2 queries, CREATE_CQ, CREATE_SQ 2 times)"; false if they are no such commands, or all alike. */
bool recorder_describe_commands(const struct mdv_record *first, unsigned int n, char *text, size_t bytes);
/** One word for what the record's op is; "unknown". */
const char *recorder_op_name(const struct recorder *r, const struct mdv_record *rec);
/** Is it the record of a failure? */
bool recorder_is_failure(const struct recorder *r, const struct mdv_record *rec);
/** Is it a command that only reads, and succeeded? */
bool recorder_is_query(const struct mdv_record *rec);
/** Do two records concern the same queue? Both are of kinds that name one. */
bool recorder_same_queue(const struct mdv_record *a, const struct mdv_record *b);
/** "Rx queue 3" */
void recorder_queue_name(const struct mdv_record *rec, char *text, size_t bytes);

void recorder_cause_find(const struct recorder *r, struct recorder_cause *cause);
/** Fills in command and no_command of a cause that was found. */
void recorder_command_find(const struct recorder *r, struct recorder_cause *cause);

/** Nanoseconds since 1970 of a time of CLOCK_MONOTONIC. */
uint64_t recorder_since_1970_ns(const struct recorder *r, uint64_t time_ns);
/** Seconds from the cause, else from the writing of the file, signed. */
double recorder_relative_s(const struct recorder *r, const struct recorder_cause *cause, uint64_t time_ns);
/** Why the file was written. */
const char *recorder_reason(const struct recorder *r, const struct recorder_cause *cause);

/** Prints summary and story. */
void recorder_print(FILE *out, const struct recorder *r);
/** Prints them as a JSON object. 0; -ENOMEM; -EIO. */
int recorder_print_json(FILE *out, const struct recorder *r);

#endif
