/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * `top`: readings of a program. Of ethdev's commands only /ethdev/link_status is used: in DPDK 22.11 /ethdev/xstats can
 * end a program that starts or closes the port meanwhile, and the driver's commands have the same counters.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tm.h"
#include "top.h"

/* Of a reply, and of one of a program that did not answer the last time. */
#define TIMEOUT_MS 2000
#define TIMEOUT_AGAIN_MS 200

static void
port_free(struct top_port *p)
{
	json_t *const replies[] = { p->info, p->link, p->queues, p->stats, p->clock, p->tasks, p->account };

	for (unsigned int i = 0; i < RTE_DIM(replies); i++)
		json_decref(replies[i]);
}

static void
reading_free(struct top_reading *r)
{
	for (unsigned int i = 0; i < r->nb_ports; i++)
		port_free(&r->ports[i]);
	*r = (struct top_reading) { .at_ns = 0 };
}

void
top_free(struct top *t)
{
	tm_telemetry_close(&t->telemetry);
	reading_free(&t->now);
	reading_free(&t->before);
}

static json_t *
query(struct top *t, const char *command, unsigned int port, int first)
{
	char text[64];

	if (first < 0)
		snprintf(text, sizeof(text), "%s,%u", command, port);
	else
		snprintf(text, sizeof(text), "%s,%u,%d", command, port, first);
	return tm_telemetry_query(&t->telemetry, text);
}

/* A reply has 16 queues, and the number of the next one. */
static json_t *
queues_read(struct top *t, unsigned int port)
{
	json_t *all = json_object(), *part, *next;
	json_int_t first = 0, last = -1;

	while (first > last) {
		part = query(t, "/mlxpmd/queues", port, first);
		last = first;
		next = json_object_get(part, "next");
		if (next != NULL)
			first = json_integer_value(next);
		json_object_del(part, "next");
		json_object_update(all, part);
		json_decref(part);
	}
	return all;
}

static void
port_read(struct top *t, struct top_port *p)
{
	FILE *in = fopen("/proc/interrupts", "re");
	const char *pci;

	p->info = query(t, "/mlxpmd/info", p->id, -1);
	p->link = query(t, "/ethdev/link_status", p->id, -1);
	p->queues = queues_read(t, p->id);
	p->stats = query(t, "/mlxpmd/stats", p->id, -1);
	p->clock = query(t, "/mlxpmd/clock", p->id, -1);
	p->tasks = query(t, "/mlxpmd/tasks", p->id, -1);
	if (t->account)
		p->account = query(t, "/mlxpmd/drops", p->id, -1);
	pci = json_string_value(json_object_get(p->info, "pci"));
	if (in == NULL)
		return;
	top_interrupts_count(in, pci != NULL ? pci : "", &p->vectors, &p->interrupts);
	fclose(in);
}

/* Record a change of state. */
static void
changed(struct top *t, enum top_state state, const char *text)
{
	if (t->state == state && t->now.at_ns != 0)
		return;
	t->state = state;
	snprintf(t->changed, sizeof(t->changed), "%s", text);
	top_time(t->changed_at);
}

static int
program_connect(struct top *t)
{
	pid_t before = t->telemetry.pid;
	char path[64], text[96];
	FILE *in;
	int ret;

	if (t->telemetry.fd >= 0)
		return 0;
	ret = tm_telemetry_open(&t->telemetry, t->program.path,
				t->state == TOP_HANGS ? TIMEOUT_AGAIN_MS : TIMEOUT_MS);
	if (ret != 0)
		return ret;
	snprintf(path, sizeof(path), "/proc/%d/comm", t->telemetry.pid);
	in = fopen(path, "re");
	if (in == NULL || fgets(t->comm, sizeof(t->comm), in) == NULL)
		snprintf(t->comm, sizeof(t->comm), "a program");
	if (in != NULL)
		fclose(in);
	t->comm[strcspn(t->comm, "\n")] = '\0';
	if (before != 0 && before != t->telemetry.pid) {
		/* Its counters begin again. */
		reading_free(&t->now);
		snprintf(text, sizeof(text), "the program has returned, as process %d", t->telemetry.pid);
		changed(t, TOP_RUNS, text);
	} else if (before != 0) {
		changed(t, TOP_RUNS, "the program answers again");
	}
	return 0;
}

static void
reading_take(struct top *t, struct top_reading *r)
{
	json_t *list = tm_telemetry_query(&t->telemetry, "/mlxpmd/list");

	for (size_t i = 0; i < json_array_size(list) && r->nb_ports < RTE_DIM(r->ports); i++) {
		struct top_port *p = &r->ports[r->nb_ports];

		*p = (struct top_port) { .id = json_integer_value(json_array_get(list, i)) };
		port_read(t, p);
		/* A port that was closed meanwhile has no information. */
		if (p->info != NULL)
			r->nb_ports++;
		else
			port_free(p);
	}
	json_decref(list);
	r->at_ns = tm_now_ns();
}

static void
reading_use(struct top *t, struct top_reading *r)
{
	if (r->nb_ports == 0 && t->now.nb_ports > 0) {
		changed(t, TOP_CLOSED, "the program has closed its ports");
		return;
	}
	if (t->state == TOP_CLOSED)
		changed(t, TOP_RUNS, "the program has ports again");
	reading_free(&t->before);
	t->before = t->now;
	t->now = *r;
	t->state = TOP_RUNS;
}

void
top_read(struct top *t)
{
	struct top_reading r = { .at_ns = 0 };
	int ret = program_connect(t);

	if (ret == 0) {
		reading_take(t, &r);
		if (t->telemetry.fd >= 0) {
			reading_use(t, &r);
			return;
		}
		reading_free(&r);
		/* It has ended, or does not answer: a new connection shows which. */
		ret = program_connect(t);
	}
	if (ret == -ECONNREFUSED || ret == -ENOENT)
		changed(t, TOP_ENDED, "the program has ended");
	else if (ret != 0)
		changed(t, TOP_HANGS, ret == -ETIMEDOUT ? "the program does not answer" : strerror(-ret));
}
