/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * Prints what the recorder has as a summary and a story.
 */

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "recorder.h"

#define SECOND_NS UINT64_C(1000000000)
#define LINE_BYTES 512
/* Successful commands are printed on one line, except in so many records before the cause, and after it. */
#define DETAILED 8
/* A line of several commands names the longest one if it took so long. */
#define LONG_NS 10000000

static const char *const reasons[MDV_RECORDER_REASONS] = {
	[MDV_RECORDER_REQUEST] = "on request", [MDV_RECORDER_DEVICE] = "because the device failed",
	[MDV_RECORDER_QUEUE] = "because a queue was given up", [MDV_RECORDER_PROBE] = "because the probe failed",
};

uint64_t
recorder_since_1970_ns(const struct recorder *r, uint64_t time_ns)
{
	return r->head.written_ns - (r->head.written_monotonic_ns - time_ns);
}

/* "2026-11-28 12:04:26.123456"; format without date: the time alone. */
static const char *
time_text(uint64_t ns, const char *format, char *text, size_t bytes)
{
	time_t s = (time_t)(ns / SECOND_NS);
	char whole[32] = "?";
	struct tm tm;

	if (gmtime_r(&s, &tm) != NULL)
		strftime(whole, sizeof(whole), format, &tm);
	snprintf(text, bytes, "%s.%06u", whole, (unsigned int)(ns % SECOND_NS / 1000));
	return text;
}

/* Seconds from one time to another, signed. */
static double
seconds(uint64_t from_ns, uint64_t to_ns)
{
	return (double)(int64_t)(to_ns - from_ns) / 1e9;
}

double
recorder_relative_s(const struct recorder *r, const struct recorder_cause *cause, uint64_t time_ns)
{
	return seconds(cause->at != NULL ? cause->at->time_ns : r->head.written_monotonic_ns, time_ns);
}

/* ------------------------------------------------------------------ runs of records that are one line */

/*
 * Is it the first command of a repair: a query of a queue that failed, and is neither repaired nor stopped yet?
 */
static bool
begins_repair(const struct recorder *r, const struct mdv_record *rec)
{
	const char *name = mdv_command_name(rec->op);
	const bool tx = strcmp(name, "QUERY_SQ") == 0;
	bool failed = false;

	if (!tx && strcmp(name, "QUERY_RQ") != 0)
		return false;
	for (const struct mdv_record *q = r->records; q < rec; q++) {
		if (q->object != rec->object || ((q->flags & MDV_RECORD_TX) != 0) != tx)
			continue;
		if (q->kind == MDV_RECORD_QUEUE_ERROR)
			failed = true;
		else if (q->kind == MDV_RECORD_QUEUE || (q->kind == MDV_RECORD_REPAIR && q->op == MDV_REPAIR_DONE))
			failed = false;
	}
	return failed;
}

static bool
alike(const struct recorder *r, const struct mdv_record *a, const struct mdv_record *b)
{
	if (recorder_is_query(a) && recorder_is_query(b))
		return !begins_repair(r, a) && !begins_repair(r, b);
	return a->kind == b->kind && a->op == b->op && a->status == b->status && a->flags == b->flags &&
	       (a->kind == MDV_RECORD_COMMAND || a->kind == MDV_RECORD_DROPS || a->kind == MDV_RECORD_REPAIR ||
		a->arg == b->arg) && (a->value == b->value || a->kind == MDV_RECORD_DROPS) &&
	       a->object == b->object;
}

/* Is record i a successful command more than DETAILED records before the cause? */
static bool
is_earlier_command(const struct recorder *r, const struct recorder_cause *cause, unsigned int i)
{
	const struct mdv_record *rec = &r->records[i];
	unsigned int at = cause->at != NULL ? (unsigned int)(cause->at - r->records) : r->n;

	return i + DETAILED < at && rec->kind == MDV_RECORD_COMMAND && rec->status == 0 && !begins_repair(r, rec);
}

/* Number of records from index i on that are one line; the cause always has its own. */
static unsigned int
run_length(const struct recorder *r, const struct recorder_cause *cause, unsigned int i)
{
	unsigned int n = 1;

	while (is_earlier_command(r, cause, i) && is_earlier_command(r, cause, i + n))
		n++;
	if (n > 1)
		return n;
	while (&r->records[i] != cause->at && i + n < r->n && &r->records[i + n] != cause->at &&
	       alike(r, &r->records[i], &r->records[i + n]))
		n++;
	return n;
}

/* A run of n records in words. */
static void
run_describe(const struct recorder *r, const struct recorder_cause *cause, unsigned int i, unsigned int n, char *text,
	     size_t bytes)
{
	const struct mdv_record *first = &r->records[i], *last = &r->records[i + n - 1];
	bool commands = n > 1 && recorder_describe_commands(first, n, text, bytes);
	uint32_t longest_ns = 0;
	uint64_t sum = 0;
	size_t used;

	if (!commands)
		recorder_describe(r, first, first != cause->at, text, bytes);
	if (n == 1)
		return;
	used = strlen(text);
	for (unsigned int k = 0; k < n; k++) {
		sum += first[k].value;
		longest_ns = RTE_MAX(longest_ns, first[k].duration_ns);
	}
	if (first->kind == MDV_RECORD_DROPS)
		snprintf(text + used, bytes - used, "; with the following ones %" PRIu64, sum);
	else if (!commands)
		snprintf(text + used, bytes - used, "; %u times", n);
	used = strlen(text);
	snprintf(text + used, bytes - used, ", the last %.6f s later", seconds(first->time_ns, last->time_ns));
	used = strlen(text);
	if (longest_ns >= LONG_NS)
		snprintf(text + used, bytes - used, ", the longest took %.1f ms", longest_ns / 1e6);
}

/* ------------------------------------------------------------------ text */

const char *
recorder_reason(const struct recorder *r, const struct recorder_cause *cause)
{
	return r->head.reason == MDV_RECORDER_DEVICE && strcmp(cause->id, "removed") == 0 ? "because the device was removed" :
											     reasons[r->head.reason];
}

/* The last successful start of the port before a time; NULL: none is in the file. */
static const struct mdv_record *
port_start(const struct recorder *r, uint64_t time_ns)
{
	const struct mdv_record *found = NULL, *end = r->records + r->n;

	for (const struct mdv_record *rec = r->records; rec < end && rec->time_ns <= time_ns; rec++)
		if (rec->kind == MDV_RECORD_PORT && rec->op == MDV_PORT_START && !recorder_is_failure(r, rec))
			found = rec;
	return found;
}

static void
when_print(FILE *out, const struct recorder *r, const struct mdv_record *at)
{
	const struct mdv_record *start = port_start(r, at->time_ns);
	char text[48];

	fprintf(out, "when:           %s UTC", time_text(recorder_since_1970_ns(r, at->time_ns), "%Y-%m-%d %H:%M:%S", text, sizeof(text)));
	if (start != NULL)
		fprintf(out, ", %.3f s after the port was started", seconds(start->time_ns, at->time_ns));
	fprintf(out, ", %.3f s before the file was written\n", seconds(at->time_ns, r->head.written_monotonic_ns));
}

static void
reproduce_print(FILE *out, const struct recorder_cause *cause)
{
	if (cause->command[0] == '\0') {
		fprintf(out, "to reproduce:   no rule of mlxemu: %s\n", cause->no_command);
		return;
	}
	fprintf(out, "to reproduce:   %s\n", cause->command);
	/* Programs do not get the health syndrome from the kernel. */
	fprintf(out, "                (the nearest rule: `after N` delays it, `count N` limits it%s)\n",
		strstr(cause->command, "do fatal syndrome=1") != NULL ? "; syndrome=1 replaces the one that dmesg has" : "");
}

static void
summary_print(FILE *out, const struct recorder *r, const struct recorder_cause *cause)
{
	const struct mdv_recorder_head *h = &r->head;
	char at[48];

	fprintf(out, "port %u, %s (%s%s%s), firmware %s, %s, by %s\n", h->port_id, h->device, h->ibdev,
		h->netdev[0] != '\0' ? ", " : "", h->netdev, h->firmware, h->driver,
		h->mode == MDV_OPEN_VFIO ? "VFIO" : "verbs");
	fprintf(out, "written by process %" PRIu32 " %s at %s UTC, %u records\n\n", h->pid, recorder_reason(r, cause),
		time_text(h->written_ns, "%Y-%m-%d %H:%M:%S", at, sizeof(at)), r->n);
	fprintf(out, "what happened:  %s\n", cause->what);
	if (cause->at != NULL)
		when_print(out, r, cause->at);
	fprintf(out, "likely cause:   %s\n", cause->likely);
	fprintf(out, "what to do:     %s\n", cause->todo);
	reproduce_print(out, cause);
}

static void
overwritten_print(FILE *out, const struct recorder *r)
{
	static const uint8_t log_lane[] = MDV_LOG_LANE;
	static const char *const lanes[] = { "queries", "other commands that succeeded", "events and failures" };

	for (unsigned int i = 0; i < MDV_NB_LANES; i++)
		if (r->head.noted[i] > 1u << log_lane[i])
			fprintf(out, "(%" PRIu32 " earlier %s are overwritten)\n", r->head.noted[i] - (1u << log_lane[i]),
				lanes[i]);
}

void
recorder_print(FILE *out, const struct recorder *r)
{
	struct recorder_cause cause;
	char text[LINE_BYTES], at[48], relative[16];
	unsigned int n;

	recorder_cause_find(r, &cause);
	summary_print(out, r, &cause);
	fprintf(out, "\n%-15s  %13s   (seconds from %s; ! failed; what took time has the time of its end)\n", "time, UTC", "relative",
		cause.at != NULL ? "the cause, marked >" : "the writing of the file");
	overwritten_print(out, r);
	for (unsigned int i = 0; i < r->n; i += n) {
		const struct mdv_record *rec = &r->records[i];

		n = run_length(r, &cause, i);
		run_describe(r, &cause, i, n, text, sizeof(text));
		snprintf(relative, sizeof(relative), "%+13.6f", recorder_relative_s(r, &cause, rec->time_ns));
		/* Rounded to 0. */
		if (strcmp(relative, "    -0.000000") == 0)
			strcpy(relative, "    +0.000000");
		fprintf(out, "%s  %s %c %s\n",
			time_text(recorder_since_1970_ns(r, rec->time_ns), "%H:%M:%S", at, sizeof(at)), relative,
			rec == cause.at ? '>' : recorder_is_failure(r, rec) ? '!' : ' ', text);
	}
}
