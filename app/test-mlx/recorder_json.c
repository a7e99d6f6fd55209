/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * Prints what the recorder has as JSON (doc/guide/recorder.md).
 */

#include <errno.h>

#include <jansson.h>

#include "recorder.h"

#define LINE_BYTES 512

/** Names of a kind and of the members that it has; NULL: it has none. */
static const struct {
	const char *kind, *arg, *object, *status, *value, *took;
	bool tried; /**< Has the member of that name. */
} kinds[MDV_RECORD_KINDS] = {
	[MDV_RECORD_COMMAND] = { "command", "op_mod", "object", "status", "syndrome", "duration_ns", true },
	[MDV_RECORD_COMMAND_ERRNO] = { "command-errno", "op_mod", "object", NULL, "errno", "duration_ns", true },
	[MDV_RECORD_CALL] = { "call", NULL, NULL, NULL, "errno", NULL, true },
	[MDV_RECORD_EVENT] = { "event", NULL, "rdma_port", NULL, NULL, NULL, false },
	[MDV_RECORD_FATAL] = { "fatal", NULL, NULL, NULL, "health_syndrome", NULL, false },
	[MDV_RECORD_REMOVED] = { "removed", NULL, NULL, NULL, NULL, NULL, false },
	[MDV_RECORD_QUIESCED] = { "quiesced", NULL, NULL, NULL, NULL, NULL, false },
	[MDV_RECORD_LINK] = { "link", NULL, NULL, NULL, "mbits_per_s", NULL, false },
	[MDV_RECORD_PORT] = { "port", NULL, NULL, NULL, "errno", "duration_ns", false },
	[MDV_RECORD_QUEUE] = { "queue", "queue", "object", NULL, "errno", "completions", false },
	[MDV_RECORD_QUEUE_ERROR] = { "queue-error", "queue", "object", "syndrome", "vendor_syndrome", "completions",
				     false },
	[MDV_RECORD_REPAIR] = { "repair", "queue", "object", NULL, "errno", "duration_ns", false },
	[MDV_RECORD_SECONDARY] = { "secondary", NULL, "pid", NULL, NULL, NULL, false },
	[MDV_RECORD_DROPS] = { "drops", NULL, NULL, NULL, "packets", NULL, false },
	[MDV_RECORD_CLOCK] = { "clock", NULL, NULL, NULL, "errno", NULL, false },
};

static int
add(json_t *o, const char *name, uint32_t value)
{
	return name != NULL ? json_object_set_new(o, name, json_integer(value)) : 0;
}

/* The members that its kind has. */
static int
members_add(json_t *o, const struct mdv_record *rec)
{
	const bool known = rec->kind < MDV_RECORD_KINDS && kinds[rec->kind].kind != NULL;
	const unsigned int kind = known ? rec->kind : 0;
	const bool repaired = rec->kind == MDV_RECORD_REPAIR && rec->op == MDV_REPAIR_DONE;
	const bool is_queue = rec->kind == MDV_RECORD_QUEUE || rec->kind == MDV_RECORD_QUEUE_ERROR ||
			      rec->kind == MDV_RECORD_REPAIR;
	int ret = add(o, kinds[kind].arg, rec->arg);

	ret |= add(o, kinds[kind].object, rec->object);
	ret |= add(o, kinds[kind].status, rec->status);
	ret |= add(o, repaired ? "packets_lost" : kinds[kind].value, rec->value);
	ret |= add(o, kinds[kind].took, rec->duration_ns);
	if (is_queue)
		ret |= json_object_set_new(o, "direction", json_string(rec->flags & MDV_RECORD_TX ? "tx" : "rx"));
	if (kinds[kind].tried)
		ret |= json_object_set_new(o, "tried", json_boolean(rec->flags & MDV_RECORD_QUIET));
	return ret;
}

static json_t *
record_make(const struct recorder *r, const struct mdv_record *rec, const struct recorder_cause *cause)
{
	const char *kind = rec->kind < MDV_RECORD_KINDS ? kinds[rec->kind].kind : NULL;
	char text[LINE_BYTES];
	json_t *o;

	recorder_describe(r, rec, false, text, sizeof(text));
	o = json_pack("{s:I, s:f, s:b, s:b, s:s, s:s, s:s}", "time_ns",
		      (json_int_t)recorder_since_1970_ns(r, rec->time_ns), "relative_s",
		      recorder_relative_s(r, cause, rec->time_ns), "failure", (int)recorder_is_failure(r, rec),
		      "cause", (int)(rec == cause->at), "text", text, "kind", kind != NULL ? kind : "unknown", "op",
		      recorder_op_name(r, rec));
	if (o != NULL && members_add(o, rec) != 0) {
		json_decref(o);
		return NULL;
	}
	return o;
}

static json_t *
summary_make(const struct recorder *r, const struct recorder_cause *cause)
{
	const struct mdv_recorder_head *h = &r->head;

	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:i, s:I, s:s, s:I, s:I, s:s, s:s, s:s, s:s, s:s}",
			 "device", h->device, "rdma_device", h->ibdev, "interface", h->netdev, "firmware", h->firmware,
			 "driver", h->driver, "mode", h->mode == MDV_OPEN_VFIO ? "vfio" : "verbs",
			 "written", recorder_reason(r, cause), "port", (int)h->port_id, "pid", (json_int_t)h->pid,
			 "cause", cause->id, "when_ns",
			 (json_int_t)(cause->at != NULL ? recorder_since_1970_ns(r, cause->at->time_ns) : 0),
			 "written_ns", (json_int_t)h->written_ns, "what", cause->what,
			 "likely", cause->likely, "todo", cause->todo, "reproduce", cause->command,
			 "no_reproduction", cause->no_command != NULL ? cause->no_command : "");
}

int
recorder_print_json(FILE *out, const struct recorder *r)
{
	json_t *root, *list = json_array();
	struct recorder_cause cause;
	int ret = 0;

	recorder_cause_find(r, &cause);
	root = summary_make(r, &cause);
	for (unsigned int i = 0; i < r->n && ret == 0; i++)
		ret = json_array_append_new(list, record_make(r, &r->records[i], &cause)) == 0 ? 0 : -ENOMEM;
	if (ret == 0 && json_object_set(root, "records", list) != 0)
		ret = -ENOMEM;
	if (ret == 0 && (json_dumpf(root, out, JSON_INDENT(1)) != 0 || fputc('\n', out) == EOF))
		ret = -EIO;
	json_decref(list);
	json_decref(root);
	return ret;
}
