/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * The ledger: what programs hold at the moment. The same state gives the same text, so two
 * answers can be compared as they are.
 */
#include <stdio.h>
#include <string.h>

#include "emu_audit.h"
#include "emu_ctl.h"
#include "emu_obj.h"

/** Sums over the objects of one type. */
struct held {
	uint64_t count, bytes, lost;
};

static void
held_cb(struct emu_obj *obj, void *arg)
{
	struct held *h = arg;

	/* The kernel's own (event queues) are nobody's leftovers. */
	if (obj->ctx == NULL)
		return;
	if (obj->lost) {
		h->lost++;
		return;
	}
	h->count++;
	if (obj->type == EMU_OBJ_UMEM)
		h->bytes += ((struct emu_umem *)obj)->len;
	else if (obj->type == EMU_OBJ_MKEY)
		h->bytes += ((struct emu_mkey *)obj)->len;
}

static uint64_t
ledger_objects(struct emu_dev *dev, json_t *port)
{
	json_t *objects = json_object();
	uint64_t total = 0, umem = 0, mkey = 0, lost = 0;

	/* The kernel took everything back when the device went. */
	for (unsigned t = EMU_OBJ_NONE + 1; t < EMU_OBJ_TYPES && !dev->removed; t++) {
		struct held h = {0};

		emu_obj_foreach(dev, t, held_cb, &h);
		if (h.count != 0)
			emu_ctl_set(objects, emu_obj_type_name(t), h.count);
		total += h.count;
		lost += h.lost;
		umem += t == EMU_OBJ_UMEM ? h.bytes : 0;
		mkey += t == EMU_OBJ_MKEY ? h.bytes : 0;
	}
	json_object_set_new(port, "objects", objects);
	emu_ctl_set(port, "umem_bytes", umem);
	emu_ctl_set(port, "mkey_bytes", mkey);
	/* Made, but a fault behind the command hid it from the program. */
	if (lost != 0)
		emu_ctl_set(port, "lost_to_faults", lost);
	return total;
}

int
emu_ctl_ledger(struct emu_ctl *c)
{
	json_t *ports = json_array();
	uint64_t total = 0;

	for (unsigned i = 0; i < c->m->ports; i++) {
		struct emu_dev *dev = &c->m->dev[i];
		struct emu_front_ledger front = {0};
		json_t *port = json_object();

		emu_ctl_set(port, "port", i);
		total += ledger_objects(dev, port);
		if (c->m->front != NULL && c->m->front->ledger != NULL)
			c->m->front->ledger(dev, &front);
		emu_ctl_set(port, "open_devices", front.files);
		emu_ctl_set(port, "mappings", front.mappings);
		emu_ctl_set(port, "event_channels", front.channels);
		emu_ctl_set(port, "subscriptions", front.subscriptions);
		json_array_append_new(ports, port);
	}
	json_object_set_new(c->out, "ports", ports);
	emu_ctl_set(c->out, "objects", total);
	if (c->m->front != NULL && c->m->front->program_fds != NULL)
		emu_ctl_set(c->out, "fds", c->m->front->program_fds());
	return 0;
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
	emu_ctl_set(c->out, "unlawful", emu_audit_total());
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
