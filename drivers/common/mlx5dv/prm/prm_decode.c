/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Decodes mailboxes by the generated layouts. */

#include <stdio.h>
#include <string.h>

#include "prm.h"

#define PATH_BYTES 256

/* State of one decoding; `path` holds the names down to the current field. */
struct walk {
	prm_decode_cb cb;
	void *arg;
	bool nonzero_only;
	char path[PATH_BYTES];
};

static void decode_layout(struct walk *w, const struct prm_layout *l, const uint32_t *p,
		size_t dwords, size_t path_len);

const char *
prm_enum_find(const struct prm_enum *e, uint64_t value)
{
	for (unsigned int i = 0; i < e->count; i++)
		if (e->values[i].value == value)
			return e->values[i].name;
	return NULL;
}

/* Appends ".name" or "name[i]", returns the new length; a path too long is cut, never overrun. */
static size_t
path_push(struct walk *w, size_t len, const char *name, long index)
{
	size_t room = PATH_BYTES - len;
	const char *dot = len > 0 ? "." : "";
	int n;

	if (index < 0)
		n = snprintf(w->path + len, room, "%s%s", dot, name);
	else
		n = snprintf(w->path + len, room, "%s%s[%ld]", dot, name, index);
	if (n < 0)
		return len;
	return (size_t)n < room ? len + (size_t)n : PATH_BYTES - 1;
}

static void
emit(struct walk *w, size_t path_len, const char *name, long index, uint64_t value,
		const struct prm_enum *e)
{
	if (value == 0 && w->nonzero_only)
		return;
	path_push(w, path_len, name, index);
	w->cb(w->arg, w->path, value, e != NULL ? prm_enum_find(e, value) : NULL);
}

static void
decode_scalar(struct walk *w, const struct prm_field *f, const uint32_t *p, size_t dwords,
		size_t path_len)
{
	size_t step = f->hi > 31 ? 2 : 1, at = f->dword;

	for (unsigned int i = 0; f->count == 0 || i < f->count; i++, at += step) {
		if (at + step > dwords)
			return;
		emit(w, path_len, f->name, f->array ? (long)i : -1,
				step == 2 ? prm_get64(p + at, f->hi, f->lo) :
				prm_get32(p + at, f->hi, f->lo), f->enumeration);
	}
}

static void
decode_nested(struct walk *w, const struct prm_layout *l, const struct prm_field *f,
		const uint32_t *p, size_t dwords, size_t path_len)
{
	const struct prm_layout *n = f->nested;
	size_t at = f->dword;

	for (unsigned int i = 0; f->count == 0 || i < f->count; i++, at += n->dwords) {
		size_t room = dwords > at ? dwords - at : 0;
		/* The layout that ends its parent owns the trailing array too. */
		bool last = !f->array && n->variable && at + n->dwords == l->dwords;

		if (room == 0 || (f->array && room < n->dwords))
			return;
		decode_layout(w, n, p + at, last || room < n->dwords ? room : n->dwords,
				path_push(w, path_len, f->name, f->array ? (long)i : -1));
	}
}

/* Bytes come as the dwords that hold them; a blob that starts inside a dword by its bytes. */
static void
decode_blob(struct walk *w, const struct prm_field *f, const uint32_t *p, size_t dwords,
		size_t path_len)
{
	const uint8_t *bytes = (const uint8_t *)p;
	size_t start = 4u * f->dword + f->byte;
	size_t end = f->count == 0 ? 4 * dwords : start + f->count;
	bool whole = start % 4 == 0 && end % 4 == 0;

	if (end > 4 * dwords)
		end = 4 * dwords;
	for (size_t at = start, i = 0; at < end; at += whole ? 4 : 1, i++)
		emit(w, path_len, f->name, (long)i,
				whole ? PRM_BE32(p[at / 4]) : bytes[at], NULL);
}

static void
decode_union(struct walk *w, const struct prm_layout *l, const uint32_t *p, size_t dwords,
		size_t path_len)
{
	for (unsigned int i = 0; i < l->field_count && l->union_default != NULL; i++) {
		if (strcmp(l->fields[i].name, l->union_default) == 0) {
			decode_layout(w, l->fields[i].nested, p, dwords, path_len);
			return;
		}
	}
	for (size_t i = 0; i < dwords; i++)
		emit(w, path_len, "dword", (long)i, PRM_BE32(p[i]), NULL);
}

static void
decode_layout(struct walk *w, const struct prm_layout *l, const uint32_t *p, size_t dwords,
		size_t path_len)
{
	if (l->is_union) {
		decode_union(w, l, p, dwords < l->dwords ? dwords : l->dwords, path_len);
		return;
	}
	for (unsigned int i = 0; i < l->field_count; i++) {
		const struct prm_field *f = &l->fields[i];

		if (f->overlay)
			continue;
		if (f->kind == PRM_FIELD_SCALAR)
			decode_scalar(w, f, p, dwords, path_len);
		else if (f->kind == PRM_FIELD_NESTED)
			decode_nested(w, l, f, p, dwords, path_len);
		else
			decode_blob(w, f, p, dwords, path_len);
	}
}

void
prm_decode(const struct prm_layout *l, const void *p, size_t len, bool nonzero_only,
		prm_decode_cb cb, void *arg)
{
	struct walk w = { .cb = cb, .arg = arg, .nonzero_only = nonzero_only };

	decode_layout(&w, l, p, len / 4, 0);
}
