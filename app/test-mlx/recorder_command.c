/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * The `mlxemu run` line whose fault rule comes nearest to what a file has recorded (doc/guide/mlxemu-faults.md).
 */

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include <mdv_inspect.h>

#include "recorder.h"

/* Bits of the last byte of a completion, its opcode: no opcode of a completion results. */
#define OPCODE_OFFSET 63
#define OPCODE_XOR 0x70

/** A rule under construction. */
struct rule {
	const struct recorder *r;
	bool lasts;	  /**< It went on until the queue was given up. */
	char text[200];
	const char *none; /**< Why there is none. */
};

#define RULE(rule, ...) snprintf((rule)->text, sizeof((rule)->text), __VA_ARGS__)

/* Records of the same command or call with the same result, from rec on. */
static unsigned int
same_count(const struct recorder *r, const struct mdv_record *rec)
{
	unsigned int n = 0;

	for (const struct mdv_record *q = rec; q < r->records + r->n; q++)
		n += q->kind == rec->kind && q->op == rec->op && q->status == rec->status && q->value == rec->value &&
		     q->flags == rec->flags;
	return n;
}

/* " after N" for the commands of this opcode that succeeded before; empty if their number is not known. */
static const char *
after(const struct rule *rule, const struct mdv_record *rec, char *text, size_t bytes)
{
	unsigned int n = 0;

	text[0] = '\0';
	if (mdv_command_reads(rec->op, rec->arg) || rule->r->head.noted[MDV_LANE_COMMANDS] > MDV_RECORDS_MAX / 4)
		return text;
	for (const struct mdv_record *q = rule->r->records; q < rec; q++)
		n += q->kind == MDV_RECORD_COMMAND && q->op == rec->op && q->status == 0;
	if (n != 0)
		snprintf(text, bytes, "after %u ", n);
	return text;
}

static const char *
errno_text(uint32_t err, char *number, size_t bytes)
{
	const char *name = strerrorname_np((int)err);

	snprintf(number, bytes, "%" PRIu32, err);
	return name != NULL && name[0] == 'E' ? name : number;
}

static void
command(struct rule *rule, const struct mdv_record *rec)
{
	const char *name = mdv_command_name(rec->op);
	const unsigned int port = rule->r->head.port_id;
	char skip[32], number[16];
	struct mdv_explanation e;

	if (rec->kind == MDV_RECORD_COMMAND_ERRNO) {
		RULE(rule, "on ioctl match port=%u method=%s count %u do fail errno=%s", port,
		     strncmp(name, "CREATE_", 7) == 0 || strncmp(name, "ALLOC_", 6) == 0 ? "DEVX_OBJ_CREATE" :
		     strncmp(name, "DESTROY_", 8) == 0 || strncmp(name, "DEALLOC_", 8) == 0 ? "DEVX_OBJ_DESTROY" :
		     strncmp(name, "MODIFY_", 7) == 0 ? "DEVX_OBJ_MODIFY" : "DEVX_OBJ_QUERY",
		     same_count(rule->r, rec), errno_text(rec->value, number, sizeof(number)));
	} else if (rec->status == 0) {
		RULE(rule, "on cmd.entry match port=%u op=%s count 1 do delay us=%u", port, name,
		     rec->duration_ns / 1000);
	} else {
		mdv_explain(rec->status, rec->value, &e);
		snprintf(number, sizeof(number), "0x%02x", rec->status);
		RULE(rule, "on cmd.entry match port=%u op=%s %scount %u do fail status=%s syndrome=0x%" PRIx32, port,
		     name, after(rule, rec, skip, sizeof(skip)), same_count(rule->r, rec),
		     strcmp(e.name, "UNKNOWN") == 0 ? number : e.name, rec->value);
	}
	if (strcmp(name, "UNKNOWN") == 0) {
		rule->text[0] = '\0';
		rule->none = "the emulator does not know the command";
	}
}

static void
call(struct rule *rule, const struct mdv_record *rec)
{
	static const struct {
		const char *call, *method; /* NULL: an event of its own */
		const char *event;
	} rows[] = {
		{ "ibv_reg_mr", NULL, "mr.reg" },
		{ "mlx5dv_devx_umem_reg", NULL, "umem.reg" },
		{ "ibv_alloc_pd", "alloc_pd", "ioctl" },
		{ "ibv_query_port", "query_port", "ioctl" },
		{ "mlx5dv_create_flow", "CREATE_FLOW", "ioctl" },
		{ "mlx5dv_create_flow_matcher", "FLOW_MATCHER_CREATE", "ioctl" },
		{ "mlx5dv_destroy_flow_matcher", "FLOW_MATCHER_DESTROY", "ioctl" },
		{ "ibv_destroy_flow", "FLOW_DESTROY", "ioctl" },
		{ "mlx5dv_devx_alloc_uar", "UAR_ALLOC", "ioctl" },
		{ "mlx5dv_devx_query_eqn", "DEVX_QUERY_EQN", "ioctl" },
		{ "mlx5dv_devx_create_cmd_comp", "DEVX_CMD_FD_ALLOC", "ioctl" },
		{ "mlx5dv_devx_create_event_channel", "DEVX_EVENT_FD_ALLOC", "ioctl" },
		{ "mlx5dv_devx_subscribe_devx_event_fd", "DEVX_SUBSCRIBE_EVENT", "ioctl" },
	};
	char number[16];

	rule->none = "the emulator has no rule for this call alone";
	for (unsigned int i = 0; i < RTE_DIM(rows); i++) {
		if (strcmp(rows[i].call, mdv_call_name(rec->op)) != 0)
			continue;
		RULE(rule, "on %s match port=%u%s%s count %u do fail errno=%s", rows[i].event, rule->r->head.port_id,
		     rows[i].method != NULL ? " method=" : "", rows[i].method != NULL ? rows[i].method : "",
		     same_count(rule->r, rec), errno_text(rec->value, number, sizeof(number)));
	}
}

static void
fatal(struct rule *rule, const struct mdv_record *rec)
{
	const unsigned int port = rule->r->head.port_id;

	if (rec->op == MDV_FATAL_NO_RESPONSE)
		RULE(rule, "on doorbell match port=%u count 1 do remove", port);
	else
		/* The kernel does not report the syndrome to programs. */
		RULE(rule, "on doorbell match port=%u count 1 do fatal syndrome=%" PRIu32, port,
		     rec->value != 0 ? rec->value : 1);
}

static void
removed(struct rule *rule, const struct mdv_record *rec __rte_unused)
{
	RULE(rule, "on doorbell match port=%u count 1 do remove", rule->r->head.port_id);
}

static bool
is_same_error(const struct mdv_record *a, const struct mdv_record *b)
{
	return a->kind == b->kind && a->op == b->op && a->status == b->status && recorder_same_queue(a, b);
}

/* "after N " for the good completions of the queue before its first error of this kind; empty if N is 0 or not known. */
static int
completions_before(const struct rule *rule, const struct mdv_record *rec, char *text, size_t bytes)
{
	uint32_t n = 0;

	if (rule->r->head.noted[MDV_LANE_EVENTS] > MDV_RECORDS_MAX / 2)
		return 0;
	for (const struct mdv_record *q = rule->r->records; q <= rec; q++) {
		if ((q->kind == MDV_RECORD_QUEUE_ERROR || (q->kind == MDV_RECORD_QUEUE && q->op == MDV_QUEUE_STOP)) &&
		    recorder_same_queue(q, rec))
			n += q->completions;
		if (is_same_error(q, rec))
			break;
	}
	return n != 0 ? snprintf(text, bytes, "after %" PRIu32 " ", n) : 0;
}

static void
queue_error(struct rule *rule, const struct mdv_record *rec)
{
	const char *way = rec->flags & MDV_RECORD_TX ? "tx" : "rx";
	const unsigned int port = rule->r->head.port_id;
	unsigned int n = 0;
	char count[48] = "", *at = count;

	for (const struct mdv_record *q = rule->r->records; q < rule->r->records + rule->r->n; q++)
		n += is_same_error(q, rec);
	at += completions_before(rule, rec, count, sizeof(count));
	if (!rule->lasts)
		snprintf(at, sizeof(count) - (at - count), "count %u ", n);
	switch (rec->op) {
	case MDV_CAUSE_ERROR:
		RULE(rule, "on cqe.write match port=%u q=%s%u %sdo error syndrome=%s vendor=0x%02x", port, way,
		     rec->arg, count, mdv_syndrome_name(rec->status), rec->value & UINT8_MAX);
		break;
	case MDV_CAUSE_BAD:
		RULE(rule, "on cqe.write match port=%u q=%s%u %sdo corrupt off=%u xor=0x%x", port, way, rec->arg, count,
		     OPCODE_OFFSET, OPCODE_XOR);
		break;
	case MDV_CAUSE_LOST:
		RULE(rule, "on cqe.write match port=%u q=%s%u %sdo drop", port, way, rec->arg, count);
		break;
	case MDV_CAUSE_STALL:
		RULE(rule, "on doorbell match port=%u q=%s%u do drop", port, way, rec->arg);
		break;
	default:
		rule->none = "it is not a failure of the device";
	}
}

static bool
is_link_up(const struct mdv_record *rec)
{
	return rec->kind == MDV_RECORD_LINK ? rec->op != 0 :
	       rec->kind == MDV_RECORD_EVENT && rec->value == MDV_EVENT_PORT_UP;
}

static void
link_down(struct rule *rule, const struct mdv_record *rec)
{
	const unsigned int port = rule->r->head.port_id;
	const struct mdv_record *up = rec, *end = rule->r->records + rule->r->n;

	while (up < end && !is_link_up(up))
		up++;
	if (up < end)
		RULE(rule, "on doorbell match port=%u count 1 do link state=down ms=%" PRIu64, port,
		     RTE_MAX((up->time_ns - rec->time_ns) / 1000000, UINT64_C(1)));
	else
		RULE(rule, "on doorbell match port=%u count 1 do link state=down", port);
}

static void
clock_lost(struct rule *rule, const struct mdv_record *rec __rte_unused)
{
	/* So many milliseconds after the start: the page is updated once in each. */
	RULE(rule, "on clock.page match port=%u after 4000 do freeze", rule->r->head.port_id);
}

void
recorder_command_find(const struct recorder *r, struct recorder_cause *cause)
{
	static void (*const rows[MDV_RECORD_KINDS])(struct rule *, const struct mdv_record *) = {
		[MDV_RECORD_COMMAND] = command, [MDV_RECORD_COMMAND_ERRNO] = command, [MDV_RECORD_CALL] = call,
		[MDV_RECORD_FATAL] = fatal, [MDV_RECORD_REMOVED] = removed, [MDV_RECORD_QUEUE_ERROR] = queue_error,
		[MDV_RECORD_EVENT] = link_down, [MDV_RECORD_LINK] = link_down, [MDV_RECORD_CLOCK] = clock_lost,
	};
	struct rule rule = {
		.r = r, .lasts = strcmp(cause->id, "queue-given-up") == 0, .none = "no fault of the device explains it",
	};

	if (cause->at != NULL && cause->at->kind < RTE_DIM(rows) && rows[cause->at->kind] != NULL)
		rows[cause->at->kind](&rule, cause->at);
	if (rule.text[0] != '\0')
		snprintf(cause->command, sizeof(cause->command), "mlxemu run %s--fault '%s' -- PROGRAM",
			 r->head.mode == MDV_OPEN_VFIO ? "--open vfio " : "", rule.text);
	else
		cause->no_command = rule.none;
}
