/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * Records of the recorder in words.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include <mdv_inspect.h>

#include "recorder.h"

/* A repair that began so long after the error had to wait. */
#define WAIT_NS UINT64_C(50000000)
/* Most names in a line of several commands. */
#define NAMES_MAX 12

/** A text under construction; what does not fit is cut off. */
struct text {
	char *at;
	size_t bytes, used;
	bool brief;	/**< Names without their meaning. */
};

static void __rte_format_printf(2, 3)
add(struct text *t, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	t->used += vsnprintf(t->at + t->used, t->bytes - t->used, format, args);
	va_end(args);
	t->used = RTE_MIN(t->used, t->bytes - 1);
}

/* ------------------------------------------------------------------ names */

#define OPS_MAX 6
/* By kind and op. */
static const char *const op_names[MDV_RECORD_KINDS][OPS_MAX] = {
	[MDV_RECORD_QUIESCED] = { "unknown", "quiesced" },
	[MDV_RECORD_LINK] = { "down", "up" },
	[MDV_RECORD_PORT] = { "probe", "configure", "start", "stop", "close" },
	[MDV_RECORD_QUEUE] = { "start", "stop" },
	[MDV_RECORD_QUEUE_ERROR] = { [MDV_CAUSE_ERROR] = "error-completion", [MDV_CAUSE_BAD] = "invalid-completion",
				     [MDV_CAUSE_LOST] = "missing-completion", [MDV_CAUSE_STALL] = "stall",
				     [MDV_CAUSE_FORMAT] = "format" },
	[MDV_RECORD_REPAIR] = { "done", "failed", "given-up" },
	[MDV_RECORD_SECONDARY] = { "left", "attached" },
	[MDV_RECORD_DROPS] = { "imissed", "rx_nombuf", "ierrors", "oerrors" },
	[MDV_RECORD_CLOCK] = { "absent", "back" },
};

static const char *
event_name(const struct recorder *r, const struct mdv_record *rec)
{
	return r->head.mode == MDV_OPEN_VFIO ? mdv_event_name(rec->op) : ibv_event_type_str(rec->op);
}

const char *
recorder_op_name(const struct recorder *r, const struct mdv_record *rec)
{
	switch (rec->kind) {
	case MDV_RECORD_COMMAND:
	case MDV_RECORD_COMMAND_ERRNO:
		return mdv_command_name(rec->op);
	case MDV_RECORD_CALL:
		return mdv_call_name(rec->op);
	case MDV_RECORD_EVENT:
		return event_name(r, rec);
	case MDV_RECORD_FATAL:
		return mdv_fatal_name(rec->op);
	case MDV_RECORD_REMOVED:
		return "removed";
	default:
		return rec->kind < MDV_RECORD_KINDS && rec->op < OPS_MAX && op_names[rec->kind][rec->op] != NULL ?
		       op_names[rec->kind][rec->op] : "unknown";
	}
}

bool
recorder_same_queue(const struct mdv_record *a, const struct mdv_record *b)
{
	return a->arg == b->arg && (a->flags & MDV_RECORD_TX) == (b->flags & MDV_RECORD_TX);
}

/* ------------------------------------------------------------------ parts of texts */

static void
add_errno(struct text *t, uint32_t err)
{
	const char *name = strerrorname_np((int)err);

	if (name != NULL)
		add(t, "%s (%s)", name, strerror((int)err));
	else
		add(t, "errno %" PRIu32, err);
}

static void
add_duration(struct text *t, const struct mdv_record *rec)
{
	if (rec->duration_ns == UINT32_MAX)
		add(t, ", took 4.3 s or more");
	else if (rec->duration_ns >= 1000000)
		add(t, ", took %.1f ms", rec->duration_ns / 1e6);
	else if (rec->duration_ns != 0)
		add(t, ", took %.1f us", rec->duration_ns / 1e3);
}

void
recorder_queue_name(const struct mdv_record *rec, char *text, size_t bytes)
{
	snprintf(text, bytes, "%s queue %u", rec->flags & MDV_RECORD_TX ? "Tx" : "Rx", rec->arg);
}

static bool
ends_with(const char *name, const char *end)
{
	size_t a = strlen(name), b = strlen(end);

	return a >= b && strcmp(name + a - b, end) == 0;
}

/* The object of a command; with the queue that it is, if a record names it. */
static void
add_object(struct text *t, const struct recorder *r, const struct mdv_record *rec)
{
	const char *name = mdv_command_name(rec->op);
	const bool sq = ends_with(name, "_SQ");
	char queue[32];

	if (rec->object == 0)
		return;
	add(t, " 0x%" PRIx32, rec->object);
	for (unsigned int i = 0; (sq || ends_with(name, "_RQ")) && i < r->n; i++) {
		const struct mdv_record *q = &r->records[i];

		if (q->kind != MDV_RECORD_QUEUE || q->object != rec->object || ((q->flags & MDV_RECORD_TX) != 0) != sq)
			continue;
		recorder_queue_name(q, queue, sizeof(queue));
		add(t, " (%s)", queue);
		return;
	}
}

static void
add_quiet(struct text *t, const struct mdv_record *rec)
{
	/* The driver cannot do without the device. The value of a command with a status is its syndrome. */
	if ((rec->flags & MDV_RECORD_QUIET) && (rec->kind == MDV_RECORD_COMMAND || rec->value != ENODEV))
		add(t, ": the driver only tried, and does without");
}

static void
command(struct text *t, const struct recorder *r, const struct mdv_record *rec)
{
	struct mdv_explanation e;

	add(t, "%s", mdv_command_name(rec->op));
	if (strcmp(mdv_command_name(rec->op), "UNKNOWN") == 0)
		add(t, " 0x%x", rec->op);
	add_object(t, r, rec);
	if (rec->arg != 0)
		add(t, ", op_mod 0x%x", rec->arg);
	if (rec->kind == MDV_RECORD_COMMAND_ERRNO) {
		add(t, rec->value == ENODEV ? " got no answer: " : " failed without a status of the firmware: ");
		add_errno(t, rec->value);
	} else if (rec->status != 0) {
		mdv_explain(rec->status, rec->value, &e);
		if (t->brief)
			add(t, " refused: %s (0x%02x), syndrome 0x%" PRIx32, e.name, rec->status, rec->value);
		else
			add(t, " refused: %s (0x%02x, %s), syndrome 0x%" PRIx32 " (%s)", e.name, rec->status, e.meaning,
			    rec->value, e.syndrome);
	} else {
		add(t, " ok");
	}
	add_quiet(t, rec);
	add_duration(t, rec);
}

static void
call(struct text *t, const struct recorder *r __rte_unused, const struct mdv_record *rec)
{
	add(t, "%s() failed: ", mdv_call_name(rec->op));
	add_errno(t, rec->value);
	add_quiet(t, rec);
}

static bool
is_fatal_event(const struct recorder *r, const struct mdv_record *rec)
{
	return r->head.mode == MDV_OPEN_VERBS && rec->op == IBV_EVENT_DEVICE_FATAL;
}

static void
event(struct text *t, const struct recorder *r, const struct mdv_record *rec)
{
	add(t, "event of the %s: %s%s", r->head.mode == MDV_OPEN_VFIO ? "device" : "kernel", event_name(r, rec),
	    is_fatal_event(r, rec) ? ", which reports a failure or a removal" : "");
	/* It concerns the device, whatever port the kernel names. */
	if (rec->object != 0 && !is_fatal_event(r, rec))
		add(t, ", port %" PRIu32 " of the RDMA device", rec->object);
	if (rec->value == MDV_EVENT_PORT_UP || rec->value == MDV_EVENT_PORT_DOWN)
		add(t, ": link %s", rec->value == MDV_EVENT_PORT_UP ? "up" : "down");
}

static void
fatal(struct text *t, const struct recorder *r __rte_unused, const struct mdv_record *rec)
{
	add(t, "the device failed: %s", mdv_fatal_name(rec->op));
	if (rec->value != 0)
		add(t, ", health syndrome 0x%" PRIx32 " (%s)", rec->value, mdv_health_name((uint8_t)rec->value));
}

static void
removed(struct text *t, const struct recorder *r, const struct mdv_record *rec __rte_unused)
{
	bool failed = false;

	/* After a failure the driver does the same, and nothing was removed. */
	for (unsigned int i = 0; i < r->n; i++)
		failed |= r->records[i].kind == MDV_RECORD_FATAL;
	add(t, "%s: nothing is sent to it any more", failed ? "the driver stops using the device" : "the device is removed");
}

static void
quiesced(struct text *t, const struct recorder *r __rte_unused, const struct mdv_record *rec)
{
	add(t, "%s", rec->op ? "the device does no DMA any more" :
	    "it is not known that the device does no DMA: memory that it may write to is kept");
}

static void
link(struct text *t, const struct recorder *r, const struct mdv_record *rec)
{
	add(t, "link %s", recorder_op_name(r, rec));
	if (rec->value == UINT32_MAX)
		add(t, ", speed unknown");
	else if (rec->value != 0)
		add(t, ", %" PRIu32 " Mb/s", rec->value);
}

static void
outcome(struct text *t, const struct mdv_record *rec)
{
	if (rec->value != 0) {
		add(t, " failed: ");
		add_errno(t, rec->value);
	}
}

static void
port(struct text *t, const struct recorder *r, const struct mdv_record *rec)
{
	add(t, "port %s", recorder_op_name(r, rec));
	outcome(t, rec);
	add_duration(t, rec);
}

static void
add_queue(struct text *t, const struct mdv_record *rec)
{
	char name[32];

	recorder_queue_name(rec, name, sizeof(name));
	add(t, "%s (%s 0x%" PRIx32 "): ", name, rec->flags & MDV_RECORD_TX ? "SQ" : "RQ", rec->object);
}

/* Whether the queue worked, or was idle. */
static void
add_completions(struct text *t, const struct mdv_record *rec)
{
	add(t, " after %" PRIu32 " good completion%s", rec->completions, rec->completions == 1 ? "" : "s");
}

static void
queue(struct text *t, const struct recorder *r, const struct mdv_record *rec)
{
	add_queue(t, rec);
	add(t, "%s", recorder_op_name(r, rec));
	if (rec->op == MDV_QUEUE_STOP)
		add_completions(t, rec);
	outcome(t, rec);
}

static void
queue_error(struct text *t, const struct recorder *r __rte_unused, const struct mdv_record *rec)
{
	static const char *const causes[] = {
		[MDV_CAUSE_BAD] = "invalid completion", [MDV_CAUSE_LOST] = "a completion is missing",
		[MDV_CAUSE_STALL] = "nothing completes any more",
	};

	add_queue(t, rec);
	if (rec->op == MDV_CAUSE_FORMAT) {
		add(t, "its completions are to be whole ones: no failure");
		return;
	}
	if (rec->op != MDV_CAUSE_ERROR)
		add(t, "%s", rec->op < RTE_DIM(causes) && causes[rec->op] != NULL ? causes[rec->op] : "unknown");
	else if (t->brief)
		add(t, "error completion %s (0x%02x), vendor syndrome 0x%02" PRIx32, mdv_syndrome_name(rec->status),
		    rec->status, rec->value);
	else
		add(t, "error completion %s (0x%02x, %s), vendor syndrome 0x%02" PRIx32 " (not published)",
		    mdv_syndrome_name(rec->status), rec->status, mdv_syndrome_meaning(rec->status), rec->value);
	add(t, ",");
	add_completions(t, rec);
	if (!t->brief)
		add(t, " since its start or last repair");
}

/* The driver repairs a queue twice in a second at most: how long this one waited since the error. */
static void
add_wait(struct text *t, const struct recorder *r, const struct mdv_record *rec)
{
	const struct mdv_record *error = NULL;
	uint64_t waited_ns;

	for (const struct mdv_record *q = r->records; q < rec; q++)
		if (q->kind == MDV_RECORD_QUEUE_ERROR && recorder_same_queue(q, rec))
			error = q;
	waited_ns = error != NULL ? rec->time_ns - error->time_ns : 0;
	if (waited_ns > WAIT_NS && waited_ns - WAIT_NS > rec->duration_ns)
		add(t, " %.3f s after the error (at most two repairs of a queue in a second)", waited_ns / 1e9);
}

static void
repair(struct text *t, const struct recorder *r, const struct mdv_record *rec)
{
	char name[32];

	recorder_queue_name(rec, name, sizeof(name));
	add(t, "%s: ", name);
	if (rec->op == MDV_REPAIR_DONE) {
		add(t, "repaired");
		add_wait(t, r, rec);
		add(t, ", %" PRIu32 " packet%s lost", rec->value, rec->value == 1 ? "" : "s");
	} else if (rec->op == MDV_REPAIR_FAILED) {
		add(t, "the repair failed: ");
		add_errno(t, rec->value);
	} else {
		add(t, "given up at the fifth failure in ten seconds since its start");
	}
	add_duration(t, rec);
}

static void
secondary(struct text *t, const struct recorder *r, const struct mdv_record *rec)
{
	add(t, "secondary process %" PRIu32 " %s", rec->object, recorder_op_name(r, rec));
}

static void
drops(struct text *t, const struct recorder *r, const struct mdv_record *rec)
{
	static const char *const kinds[] = {
		[MDV_DROPS_MISSED] = "frames were missed: no buffer was posted",
		[MDV_DROPS_NOMBUF] = "mbufs were missing when rings were refilled",
		[MDV_DROPS_RX_ERRORS] = "error completions of receive queues",
		[MDV_DROPS_TX] = "packets were not sent, those lost in repairs included",
	};

	add(t, "%" PRIu32 " %s (%s)", rec->value, rec->op < RTE_DIM(kinds) ? kinds[rec->op] : "packets",
	    recorder_op_name(r, rec));
}

static void
clock_record(struct text *t, const struct recorder *r, const struct mdv_record *rec)
{
	add(t, "timestamps are %s", recorder_op_name(r, rec));
	if (rec->value != 0) {
		add(t, ": ");
		add_errno(t, rec->value);
	}
}

void
recorder_describe(const struct recorder *r, const struct mdv_record *rec, bool brief, char *text, size_t bytes)
{
	static void (*const rows[MDV_RECORD_KINDS])(struct text *t, const struct recorder *r,
						    const struct mdv_record *rec) = {
		[MDV_RECORD_COMMAND] = command, [MDV_RECORD_COMMAND_ERRNO] = command, [MDV_RECORD_CALL] = call,
		[MDV_RECORD_EVENT] = event, [MDV_RECORD_FATAL] = fatal, [MDV_RECORD_REMOVED] = removed,
		[MDV_RECORD_QUIESCED] = quiesced, [MDV_RECORD_LINK] = link, [MDV_RECORD_PORT] = port,
		[MDV_RECORD_QUEUE] = queue, [MDV_RECORD_QUEUE_ERROR] = queue_error, [MDV_RECORD_REPAIR] = repair,
		[MDV_RECORD_SECONDARY] = secondary, [MDV_RECORD_DROPS] = drops, [MDV_RECORD_CLOCK] = clock_record,
	};
	struct text t = { .at = text, .bytes = bytes, .brief = brief };

	if (rec->kind < RTE_DIM(rows) && rows[rec->kind] != NULL)
		rows[rec->kind](&t, r, rec);
	else
		add(&t, "record of kind %u, which this program does not know", rec->kind);
}

bool
recorder_is_failure(const struct recorder *r, const struct mdv_record *rec)
{
	if (rec->flags & MDV_RECORD_QUIET)
		return false;
	switch (rec->kind) {
	case MDV_RECORD_COMMAND:
		return rec->status != 0;
	case MDV_RECORD_COMMAND_ERRNO:
	case MDV_RECORD_CALL:
	case MDV_RECORD_PORT:
	case MDV_RECORD_QUEUE:
		return rec->value != 0;
	case MDV_RECORD_FATAL:
	case MDV_RECORD_REMOVED:
	case MDV_RECORD_QUIESCED:
	case MDV_RECORD_DROPS:
		return true;
	case MDV_RECORD_QUEUE_ERROR:
		return rec->op != MDV_CAUSE_FORMAT;
	case MDV_RECORD_REPAIR:
		return rec->op != MDV_REPAIR_DONE;
	case MDV_RECORD_EVENT:
		return rec->value == MDV_EVENT_PORT_DOWN || is_fatal_event(r, rec);
	case MDV_RECORD_LINK:
	case MDV_RECORD_CLOCK:
		return rec->op == 0;
	default:
		return false;
	}
}

bool
recorder_is_query(const struct mdv_record *rec)
{
	return rec->kind == MDV_RECORD_COMMAND && rec->status == 0 && mdv_command_reads(rec->op, rec->arg);
}

/* Is it the first of its op, from `first` on, that is no query? */
static bool
is_first_of_op(const struct mdv_record *first, const struct mdv_record *rec)
{
	while (first < rec && (first->op != rec->op || recorder_is_query(first)))
		first++;
	return first == rec && !recorder_is_query(rec);
}

bool
recorder_describe_commands(const struct mdv_record *first, unsigned int n, char *text, size_t bytes)
{
	struct text t = { .at = text, .bytes = bytes };
	unsigned int queries = 0, same = 0, names = 0;
	const struct mdv_record *end = first + n;
	const char *before = " (";

	for (const struct mdv_record *rec = first; rec < end; rec++) {
		if (rec->kind != MDV_RECORD_COMMAND || rec->status != 0)
			return false;
		queries += recorder_is_query(rec);
		same += rec->op == first->op && rec->object == first->object;
	}
	if (queries != n && same == n)
		return false;
	add(&t, "%u %s ok", n, queries == n ? "queries" : "commands");
	if (queries == n)
		return true;
	if (queries != 0) {
		add(&t, " (%u %s", queries, queries == 1 ? "query" : "queries");
		before = ", ";
	}
	for (const struct mdv_record *rec = first; rec < end; rec++) {
		if (!is_first_of_op(first, rec))
			continue;
		if (names++ == NAMES_MAX) {
			add(&t, "%sothers", before);
			break;
		}
		same = 0;
		for (const struct mdv_record *other = rec; other < end; other++)
			same += other->op == rec->op && !recorder_is_query(other);
		add(&t, "%s%s", before, mdv_command_name(rec->op));
		if (same != 1)
			add(&t, " %u times", same);
		before = ", ";
	}
	add(&t, ")");
	return true;
}
