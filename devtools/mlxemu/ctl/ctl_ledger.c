/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * The ledger: resources that programs hold. Equal states give equal text, so that two replies can be
 * compared as text.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/emu_audit.h"
#include "core/emu_obj.h"
#include "emu_ctl.h"
#include "emu_ledger.h"

/** Resources held by programs, of one port. */
struct ledger {
	uint64_t count[EMU_OBJ_TYPES];
	uint64_t objects, lost, umem_bytes, mkey_bytes;
	uint64_t rates; /* entries of the table of rates in use */
	struct emu_front_ledger front;
};

static void
held_cb(struct emu_obj *obj, void *arg)
{
	struct ledger *l = arg;

	/* Objects of the kernel (event queues) belong to no program. */
	if (obj->ctx == NULL)
		return;
	if (obj->lost) {
		l->lost++;
		return;
	}
	l->count[obj->type]++;
	l->objects++;
	if (obj->type == EMU_OBJ_UMEM)
		l->umem_bytes += ((struct emu_umem *)obj)->len;
	else if (obj->type == EMU_OBJ_MKEY)
		l->mkey_bytes += ((struct emu_mkey *)obj)->len;
}

static void
ledger_take(struct emu_dev *dev, struct ledger *l)
{
	const struct emu_front_ops *front = emu_machine_of(dev)->front;

	memset(l, 0, sizeof(*l));
	/* The kernel has destroyed all objects at removal. */
	for (unsigned t = EMU_OBJ_NONE + 1; t < EMU_OBJ_TYPES && !dev->removed; t++)
		emu_obj_foreach(dev, t, held_cb, l);
	for (unsigned i = 0; i < EMU_PP_ENTRIES && !dev->removed; i++)
		l->rates += dev->pp[i].rate_kbps != 0;
	if (front != NULL && front->ledger != NULL)
		front->ledger(dev, &l->front);
}

static unsigned
program_fds(const struct emu_machine *m)
{
	return m->front != NULL && m->front->program_fds != NULL ? m->front->program_fds() : 0;
}

static json_t *
ledger_json(struct emu_dev *dev, const struct ledger *l)
{
	json_t *port = json_object(), *objects = json_object();

	for (unsigned t = EMU_OBJ_NONE + 1; t < EMU_OBJ_TYPES; t++)
		if (l->count[t] != 0)
			emu_ctl_set(objects, emu_obj_type_name(t), l->count[t]);
	emu_ctl_set(port, "port", dev->index);
	json_object_set_new(port, "objects", objects);
	emu_ctl_set(port, "umem_bytes", l->umem_bytes);
	emu_ctl_set(port, "mkey_bytes", l->mkey_bytes);
	if (l->rates != 0)
		emu_ctl_set(port, "rates", l->rates);
	/* Created, but a fault rule reported a failure to the program. */
	if (l->lost != 0)
		emu_ctl_set(port, "lost_to_faults", l->lost);
	emu_ctl_set(port, "open_devices", l->front.files);
	emu_ctl_set(port, "mappings", l->front.mappings);
	emu_ctl_set(port, "event_channels", l->front.channels);
	emu_ctl_set(port, "subscriptions", l->front.subscriptions);
	return port;
}

int
emu_ctl_ledger(struct emu_ctl *c)
{
	json_t *ports = json_array();
	uint64_t total = 0;
	struct ledger l;

	for (unsigned i = 0; i < c->m->ports; i++) {
		ledger_take(&c->m->dev[i], &l);
		total += l.objects;
		json_array_append_new(ports, ledger_json(&c->m->dev[i], &l));
	}
	json_object_set_new(c->out, "ports", ports);
	emu_ctl_set(c->out, "objects", total);
	if (c->m->front != NULL && c->m->front->program_fds != NULL)
		emu_ctl_set(c->out, "fds", program_fds(c->m));
	return 0;
}

static void
line(FILE *f, unsigned port, const char *what, uint64_t count)
{
	if (count != 0)
		fprintf(f, "ledger end port %u %s %" PRIu64 "\n", port, what, count);
}

/* Descriptors of the program when the model started. */
static unsigned fds_begin;

void
emu_ledger_begin(struct emu_machine *m)
{
	fds_begin = program_fds(m);
}

static void
ledger_print(struct emu_machine *m, FILE *f)
{
	struct ledger l;

	for (unsigned i = 0; i < m->ports; i++) {
		ledger_take(&m->dev[i], &l);
		for (unsigned t = EMU_OBJ_NONE + 1; t < EMU_OBJ_TYPES; t++)
			line(f, i, emu_obj_type_name(t), l.count[t]);
		line(f, i, "umem_bytes", l.umem_bytes);
		line(f, i, "mkey_bytes", l.mkey_bytes);
		line(f, i, "rates", l.rates);
		line(f, i, "lost_to_faults", l.lost);
		line(f, i, "open_devices", l.front.files);
		line(f, i, "mappings", l.front.mappings);
		line(f, i, "event_channels", l.front.channels);
	}
	if (m->front != NULL && m->front->program_fds != NULL)
		fprintf(f, "ledger begin fds %u\nledger end fds %u\n", fds_begin,
			program_fds(m));
}

void
emu_ledger_end(struct emu_machine *m)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (f == NULL)
		return;
	ledger_print(m, f);
	if (fclose(f) != 0) {
		free(text);
		text = NULL;
	}
	emu_audit_set_ledger(text);
}

int
emu_ctl_audit(struct emu_ctl *c)
{
	json_t *kinds = json_object(), *texts = json_array();

	for (unsigned k = 0; k < EMU_AUDIT_KINDS; k++) {
		const char *text;

		if (emu_audit_count(k) != 0)
			emu_ctl_set(kinds, emu_audit_kind_name(k), emu_audit_count(k));
		for (unsigned i = 0; (text = emu_audit_text(k, i)) != NULL; i++) {
			char line[256];

			snprintf(line, sizeof(line), "%s: %s", emu_audit_kind_name(k), text);
			json_array_append_new(texts, json_string(line));
		}
	}
	emu_ctl_set(c->out, "left", emu_audit_left_total());
	emu_ctl_set(c->out, "violations", emu_audit_total());
	json_object_set_new(c->out, "kinds", kinds);
	json_object_set_new(c->out, "texts", texts);
	return 0;
}

int
emu_ctl_counters(struct emu_ctl *c)
{
	json_t *ports = json_array();

	for (unsigned i = 0; i < c->m->ports; i++) {
		json_t *port = json_object();
		const char *name;
		uint64_t value;

		emu_ctl_set(port, "port", i);
		for (unsigned s = 0; emu_audit_stat(&c->m->dev[i], s, &name, &value); s++)
			emu_ctl_set(port, name, value);
		json_array_append_new(ports, port);
	}
	json_object_set_new(c->out, "ports", ports);
	return 0;
}
