/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * `top`: the lines of the view, for the terminal and for --batch. The most important columns come first, because a
 * narrow terminal shows the left ones only.
 */

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "tm.h"
#include "top.h"

#define NUMBER_BYTES 24
/* What counts packets that were lost, of a queue and of the device's counters. */
static const char *const queue_errors[] = {
	"mbuf_missing", "completion_errors", "completions_refused", "packets_lost",
};
static const char *const counter_errors[] = {
	"error", "discard", "drop", "oversize", "symbol_err", "out_of_range", "crc",
};

const char *const top_sort_names[TOP_SORTS] = { "queue", "pps", "packets", "errors" };

/* ------------------------------------------------------------------ lines */

static void __rte_format_printf(3, 4)
line_add(struct top_view *v, enum top_look look, const char *fmt, ...)
{
	struct top_line *lines;
	char *text = NULL;
	size_t room, n;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	if (v->n == v->room && text != NULL) {
		room = v->room > 0 ? 2 * v->room : 64;
		lines = realloc(v->lines, room * sizeof(*lines));
		if (lines != NULL) {
			v->lines = lines;
			v->room = room;
		}
	}
	if (text == NULL || v->n == v->room) {
		free(text);
		return;
	}
	n = strlen(text);
	while (n > 0 && text[n - 1] == ' ')
		text[--n] = '\0';
	v->lines[v->n++] = (struct top_line) { .text = text, .look = look };
}

void
top_view_free(struct top_view *v)
{
	for (size_t i = 0; i < v->n; i++)
		free(v->lines[i].text);
	free(v->lines);
	*v = (struct top_view) { .n = 0 };
}

/* ------------------------------------------------------------------ values */

static uint64_t
value(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

static const char *
string(const json_t *object, const char *key)
{
	const char *s = json_string_value(json_object_get(object, key));

	return s != NULL ? s : "-";
}

/* A number or a string, "-" for none. */
static const char *
any(const json_t *object, const char *key, char buf[NUMBER_BYTES])
{
	const json_t *v = json_object_get(object, key);

	if (!json_is_integer(v))
		return string(object, key);
	snprintf(buf, NUMBER_BYTES, "%" JSON_INTEGER_FORMAT, json_integer_value(v));
	return buf;
}

/* The growth of a counter per second; negative: unknown, because there is no earlier reading or it was reset. */
static double
rate_of(const struct top *t, uint64_t before, uint64_t now)
{
	if (t->state != TOP_RUNS || t->before.at_ns == 0 || t->now.at_ns <= t->before.at_ns || now < before)
		return -1;
	return (double)(now - before) * 1e9 / (double)(t->now.at_ns - t->before.at_ns);
}

static double
rate(const struct top *t, const json_t *before, const json_t *now, const char *key)
{
	return rate_of(t, value(before, key), value(now, key));
}

static double
sum(double a, double b)
{
	return a < 0 || b < 0 ? -1 : a + b;
}

/* A rate: exact for programs, else with four digits. */
static const char *
rate_text(const struct top *t, double r, char buf[NUMBER_BYTES])
{
	static const char units[] = " kMGT";
	unsigned int unit = 0;

	if (r < 0)
		return "-";
	if (t->batch || r < 1000) {
		snprintf(buf, NUMBER_BYTES, "%.0f", r);
		return buf;
	}
	while (r >= 999.5 && unit < sizeof(units) - 2) {
		r /= 1000;
		unit++;
	}
	snprintf(buf, NUMBER_BYTES, "%.*f%c", r < 9.9995 ? 3 : r < 99.995 ? 2 : 1, r, units[unit]);
	return buf;
}

static const struct top_port *
earlier(const struct top *t, const struct top_port *p)
{
	static const struct top_port none;

	for (unsigned int i = 0; i < t->before.nb_ports; i++)
		if (t->before.ports[i].id == p->id)
			return &t->before.ports[i];
	return &none;
}

static bool
matches(const char *name, const char *const *words, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		if (strstr(name, words[i]) != NULL)
			return true;
	return false;
}

/* ------------------------------------------------------------------ drops */

/* A counter of packets that were lost, or of errors. */
struct loss {
	char where[12], what[48];
	uint64_t total;
	double rate;
	bool kept;		/* packets that wait, or that the application has */
};

typedef void (*loss_visit_t)(void *arg, const struct loss *l);

static void
loss_visit(const struct top *t, const json_t *before, const json_t *now, const char *where, const char *key,
	   loss_visit_t visit, void *arg)
{
	struct loss l = { .total = value(now, key), .rate = rate(t, before, now, key) };

	snprintf(l.where, sizeof(l.where), "%s", where);
	snprintf(l.what, sizeof(l.what), "%s", key);
	visit(arg, &l);
}

/* A direction of the driver's account of packets: the places between its begin and its end. */
static void
account_visit(const struct top *t, const struct top_port *p, const char *direction, loss_visit_t visit, void *arg)
{
	const json_t *before = json_object_get(earlier(t, p)->account, direction);
	json_t *places = json_object_get(p->account, direction), *place;
	struct loss l;
	const char *name;

	json_object_foreach(places, name, place) {
		const char *is = string(place, "is");

		if (strcmp(is, "lost") != 0 && strcmp(is, "kept") != 0)
			continue;
		l = (struct loss) {
			.total = value(place, "packets"), .rate = rate(t, json_object_get(before, name), place, "packets"),
			/* The rest of the sum is not 0 while packets move, and can become less. */
			.kept = strcmp(is, "kept") == 0 || strcmp(name, "unexplained") == 0,
		};
		snprintf(l.where, sizeof(l.where), "%s", direction);
		snprintf(l.what, sizeof(l.what), "%s", name);
		visit(arg, &l);
	}
}

/* All of a port, those that are 0 included. */
static void
losses(const struct top *t, const struct top_port *p, loss_visit_t visit, void *arg)
{
	const struct top_port *b = earlier(t, p);
	const char *name;
	json_t *item;

	if (p->account != NULL) {
		account_visit(t, p, "rx", visit, arg);
		account_visit(t, p, "tx", visit, arg);
		return;
	}
	loss_visit(t, b->stats, p->stats, "device", "missed", visit, arg);
	json_object_foreach(json_object_get(p->stats, "counters"), name, item)
		if (matches(name, counter_errors, RTE_DIM(counter_errors)))
			loss_visit(t, json_object_get(b->stats, "counters"), json_object_get(p->stats, "counters"),
				   "device", name, visit, arg);
	json_object_foreach(p->queues, name, item)
		for (unsigned int i = 0; i < RTE_DIM(queue_errors); i++)
			if (json_object_get(item, queue_errors[i]) != NULL)
				loss_visit(t, json_object_get(b->queues, name), item, name, queue_errors[i], visit,
					   arg);
}

struct drops_lines {
	const struct top *t;
	struct top_view *v;
	unsigned int port, shown;
};

static void
drop_line(void *arg, const struct loss *l)
{
	struct drops_lines *d = arg;
	char r[NUMBER_BYTES];

	if (l->total == 0)
		return;
	line_add(d->v, l->rate > 0 && !l->kept ? TOP_ALERT : TOP_PLAIN, "%4u %-8s %-32s %9s %16" PRIu64, d->port, l->where,
		 l->what, rate_text(d->t, l->rate, r), l->total);
	d->shown++;
}

static void
loss_add(void *arg, const struct loss *l)
{
	double *total = arg;

	if (!l->kept)
		*total = sum(*total, l->rate);
}

/* ------------------------------------------------------------------ parts */

#define EACH_PORT(t, p) \
	for (const struct top_port *p = (t)->now.ports; p < (t)->now.ports + (t)->now.nb_ports; p++) \
		if ((t)->port < 0 || (unsigned int)(t)->port == p->id)

/* Sums of a direction of a port. */
struct way {
	double pps, bps;
	uint64_t packets;
};

static struct way
way_sum(const struct top *t, const struct top_port *p, const char *direction)
{
	const struct top_port *b = earlier(t, p);
	struct way w = { .pps = 0 };
	const char *name;
	json_t *q;

	json_object_foreach(p->queues, name, q) {
		if (strncmp(name, direction, 2) != 0)
			continue;
		w.packets += value(q, "packets");
		w.pps = sum(w.pps, rate(t, json_object_get(b->queues, name), q, "packets"));
		w.bps = sum(w.bps, rate(t, json_object_get(b->queues, name), q, "bytes"));
	}
	w.bps = w.bps < 0 ? -1 : 8 * w.bps;
	return w;
}

static const char *
link_text(const struct top_port *p, char buf[NUMBER_BYTES])
{
	if (value(p->info, "removed") != 0)
		return "removed";
	if (value(p->info, "started") == 0)
		return "stopped";
	if (strcmp(string(p->link, "status"), "UP") != 0)
		return "down";
	snprintf(buf, NUMBER_BYTES, "%gG", (double)value(p->link, "speed") / 1000);
	return buf;
}

static void
ports_view(const struct top *t, struct top_view *v)
{
	char n[6][NUMBER_BYTES];

	line_add(v, TOP_HEAD, "PORT LINK      RX-PPS  RX-BIT/S    TX-PPS  TX-BIT/S   LOSS/S       RX-PACKETS"
		 "       TX-PACKETS INTERFACE        DEVICE");
	EACH_PORT(t, p) {
		struct way rx = way_sum(t, p, "rx"), tx = way_sum(t, p, "tx");
		double lost = 0;

		losses(t, p, loss_add, &lost);
		line_add(v, lost > 0 ? TOP_ALERT : TOP_PLAIN,
			 "%4u %-7s %8s %9s %9s %9s %8s %16" PRIu64 " %16" PRIu64 " %-16s %s", p->id,
			 link_text(p, n[0]), rate_text(t, rx.pps, n[1]), rate_text(t, rx.bps, n[2]),
			 rate_text(t, tx.pps, n[3]), rate_text(t, tx.bps, n[4]), rate_text(t, lost, n[5]), rx.packets,
			 tx.packets, string(p->info, "interface"), string(p->info, "pci"));
	}
}

struct queue_row {
	unsigned int port, number;
	bool send;
	const char *name;
	const json_t *q;
	double pps, bps, bytes_per_packet;
	uint64_t errors;
};

static int
queue_compare(const void *a, const void *b, void *arg)
{
	const struct queue_row *x = a, *y = b;
	double by = 0;

	switch (*(const enum top_sort *)arg) {
	case TOP_SORT_PPS:
		by = y->pps - x->pps;
		break;
	case TOP_SORT_PACKETS:
		by = (double)value(y->q, "packets") - (double)value(x->q, "packets");
		break;
	case TOP_SORT_ERRORS:
		by = (double)y->errors - (double)x->errors;
		break;
	default:
		break;
	}
	if (by != 0)
		return by < 0 ? -1 : 1;
	if (x->port != y->port)
		return x->port < y->port ? -1 : 1;
	if (x->send != y->send)
		return x->send ? 1 : -1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static void
queue_row_set(const struct top *t, const struct top_port *p, const char *name, const json_t *q, struct queue_row *r)
{
	const json_t *before = json_object_get(earlier(t, p)->queues, name);

	*r = (struct queue_row) {
		.port = p->id, .name = name, .q = q, .send = name[0] == 't', .number = strtoul(name + 2, NULL, 10),
		.pps = rate(t, before, q, "packets"), .bps = rate(t, before, q, "bytes"),
	};
	r->bytes_per_packet = r->pps > 0 && r->bps >= 0 ? r->bps / r->pps : -1;
	r->bps = r->bps < 0 ? -1 : 8 * r->bps;
	for (unsigned int i = 0; i < RTE_DIM(queue_errors); i++)
		r->errors += value(q, queue_errors[i]);
}

static void
queues_view(const struct top *t, struct top_view *v)
{
	char n[3][NUMBER_BYTES];
	struct queue_row *rows;
	size_t count = 0, room = 0;
	const char *name;
	json_t *q;

	EACH_PORT(t, p)
		room += json_object_size(p->queues);
	rows = calloc(room + 1, sizeof(*rows));
	if (rows == NULL)
		return;
	EACH_PORT(t, p)
		json_object_foreach(p->queues, name, q)
			queue_row_set(t, p, name, q, &rows[count++]);
	qsort_r(rows, count, sizeof(*rows), queue_compare, (void *)(uintptr_t)&t->sort);
	line_add(v, TOP_HEAD, "PORT QUEUE  STATE           PPS     BIT/S B/PKT          PACKETS              BYTES"
		 "   ERRORS RESETS");
	for (size_t i = 0; i < count; i++) {
		const struct queue_row *r = &rows[i];

		line_add(v, strcmp(string(r->q, "state"), "ready") == 0 ? TOP_PLAIN : TOP_ALERT,
			 "%4u %-6s %-10s %8s %9s %5s %16" PRIu64 " %18" PRIu64 " %8" PRIu64 " %6" PRIu64, r->port, r->name,
			 string(r->q, "state"), rate_text(t, r->pps, n[0]), rate_text(t, r->bps, n[1]),
			 rate_text(t, r->bytes_per_packet, n[2]), value(r->q, "packets"), value(r->q, "bytes"), r->errors,
			 value(r->q, "resets"));
	}
	free(rows);
}

static void
drops_view(const struct top *t, struct top_view *v)
{
	struct drops_lines d = { .t = t, .v = v };

	line_add(v, TOP_HEAD, "PORT WHERE    DROPS AND ERRORS                     PER-S            TOTAL");
	EACH_PORT(t, p) {
		d.port = p->id;
		losses(t, p, drop_line, &d);
	}
	if (d.shown == 0)
		line_add(v, TOP_PLAIN, "     none");
}

static void
clock_view(const struct top *t, struct top_view *v)
{
	char n[4][NUMBER_BYTES];

	line_add(v, TOP_HEAD, "PORT CLOCK     SOURCE     OFFSET-NS  DRIFT-PPM UNCERTAINTY-NS   AGE-MS STEPS SLEWS EXPIRED REJECTED");
	EACH_PORT(t, p) {
		const json_t *c = p->clock;
		const char *quality = string(c, "quality");

		line_add(v, strcmp(quality, "broken") == 0 ? TOP_ALERT : TOP_PLAIN,
			 "%4u %-9s %-8s %11s %10s %14s %8" PRIu64 " %5" PRIu64 " %5" PRIu64 " %7" PRIu64 " %8" PRIu64, p->id,
			 quality, string(c, "source"), any(c, "offset_ns", n[0]), any(c, "drift_ppm", n[1]),
			 any(c, "uncertainty_ns", n[2]), value(c, "age_ns") / 1000000, value(c, "steps"),
			 value(c, "slews"), value(c, "expired"), value(c, "rejected"));
	}
}

static void
tasks_view(const struct top *t, const struct top_port *p, struct top_view *v)
{
	const json_t *before = earlier(t, p)->tasks;
	char n[NUMBER_BYTES];
	const char *name;
	json_t *task;

	json_object_foreach(p->tasks, name, task)
		if (value(task, "runs") != 0)
			line_add(v, TOP_PLAIN, "%4u %-14s %-12s %8s %16" PRIu64 " %9.1f %9.1f %10" PRIu64, p->id, name,
				 string(task, "thread"),
				 rate_text(t, rate(t, json_object_get(before, name), task, "runs"), n),
				 value(task, "runs"), (double)value(task, "mean_ns") / 1e3,
				 (double)value(task, "max_ns") / 1e3, value(task, "late_max_us"));
}

static void
interrupts_view(const struct top *t, struct top_view *v)
{
	char n[NUMBER_BYTES], what[32];

	line_add(v, TOP_HEAD, "PORT INTERRUPTS     THREAD          PER-S            TOTAL   MEAN-US    MAX-US    LATE-US");
	EACH_PORT(t, p) {
		snprintf(what, sizeof(what), "%" PRIu64 " vectors", p->vectors);
		if (p->vectors > 0)
			line_add(v, TOP_PLAIN, "%4u %-14s %-12s %8s %16" PRIu64, p->id, what, "",
				 rate_text(t, rate_of(t, earlier(t, p)->interrupts, p->interrupts), n), p->interrupts);
		tasks_view(t, p, v);
	}
}

/* ------------------------------------------------------------------ the view */

static void
head_view(const struct top *t, struct top_view *v)
{
	char now[16], port[16] = "all ports";

	if (t->port >= 0)
		snprintf(port, sizeof(port), "port %d", t->port);
	line_add(v, TOP_BOLD, "%s: %s, process %d, %s; %s, queues by %s, every %g s; %s%s", t->program.name, t->comm,
		 t->telemetry.pid, t->telemetry.version, port, top_sort_names[t->sort], t->interval_s, top_time(now),
		 t->paused ? "; PAUSED" : "");
	if (t->state != TOP_RUNS)
		line_add(v, TOP_ALERT, "%s: %s; the last values:", t->changed_at, t->changed);
	else if (t->changed[0] != '\0')
		line_add(v, TOP_BOLD, "%s: %s", t->changed_at, t->changed);
}

void
top_view_make(const struct top *t, struct top_view *v)
{
	static void (*const parts[TOP_PARTS])(const struct top *t, struct top_view *v) = {
		[TOP_PORTS] = ports_view, [TOP_QUEUES] = queues_view, [TOP_DROPS] = drops_view,
		[TOP_CLOCK] = clock_view, [TOP_INTERRUPTS] = interrupts_view,
	};
	unsigned int found = 0;

	head_view(t, v);
	EACH_PORT(t, p)
		found++;
	if (found == 0 && t->port >= 0 && t->now.at_ns != 0)
		line_add(v, TOP_ALERT, "the program has no port %d of mlxpmd", t->port);
	for (unsigned int i = 0; i < TOP_PARTS; i++) {
		if (!t->shown[i])
			continue;
		line_add(v, TOP_PLAIN, "%s", "");
		parts[i](t, v);
	}
}
