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
	int32_t request; /* value of the inbox's request field; -1 = unknown */
	const char *find; /* path to find; NULL = decode */
	struct prm_place *found;
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

/* Appends ".name" or "name[i]" and returns the new length; truncates a path that is too long. */
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

/* Does `find` equal the path or its last names? */
static bool
path_is(const char *path, const char *wanted)
{
	size_t n = strlen(path), m = strlen(wanted);

	return m <= n && strcmp(path + n - m, wanted) == 0 && (m == n || path[n - m - 1] == '.');
}

/* Reads a field at a dword; 64 bits if hi is above 31. */
struct bits {
	const uint32_t *at;
	unsigned int hi, lo;
};

static void
emit(struct walk *w, size_t path_len, const char *name, long index, struct bits b,
		const struct prm_enum *e)
{
	uint64_t value = b.hi > 31 ? prm_get64(b.at, b.hi, b.lo) : prm_get32(b.at, b.hi, b.lo);

	if (value == 0 && w->nonzero_only)
		return;
	path_push(w, path_len, name, index);
	if (w->find == NULL)
		w->cb(w->arg, w->path, value, e != NULL ? prm_enum_find(e, value) : NULL);
	else if (w->found->at == NULL && path_is(w->path, w->find))
		*w->found = (struct prm_place){(uint32_t *)(uintptr_t)b.at, b.hi, b.lo};
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
				(struct bits){p + at, f->hi, f->lo}, f->enumeration);
	}
}

/* The value that selects the member of a union; -1 if there is none. */
static int32_t
selected(const struct walk *w, const struct prm_layout *l, const struct prm_field *f,
		const uint32_t *p)
{
	const struct prm_field *by;

	if (f->select == PRM_SELECT_REQUEST)
		return w->request;
	if (f->select < 0)
		return -1;
	/* The generator takes only a field before the union, of one dword. */
	by = &l->fields[f->select];
	return (int32_t)prm_get32(p + by->dword, by->hi, by->lo);
}

static void
decode_union(struct walk *w, const struct prm_layout *l, int32_t when, const uint32_t *p,
		size_t dwords, size_t path_len)
{
	for (unsigned int i = 0; i < l->field_count; i++) {
		const struct prm_field *f = &l->fields[i];

		if (when >= 0 ? f->when == when :
		    l->union_default != NULL && strcmp(f->name, l->union_default) == 0) {
			size_t room = f->nested->dwords;

			decode_layout(w, f->nested, p, dwords < room ? dwords : room,
					path_push(w, path_len, f->name, -1));
			return;
		}
	}
	for (size_t i = 0; i < dwords && i < l->dwords; i++)
		emit(w, path_len, "dword", (long)i, (struct bits){p + i, 31, 0}, NULL);
}

static void
decode_nested(struct walk *w, const struct prm_layout *l, const struct prm_field *f,
		const uint32_t *p, size_t dwords, size_t path_len)
{
	const struct prm_layout *n = f->nested;
	size_t at = f->dword;

	for (unsigned int i = 0; f->count == 0 || i < f->count; i++, at += n->dwords) {
		size_t room = dwords > at ? dwords - at : 0;
		size_t len;

		if (room == 0 || (f->array && room < n->dwords))
			return;
		len = path_push(w, path_len, f->name, f->array ? (long)i : -1);
		/* A nested layout at the end of its parent includes the trailing array. */
		if (!(!f->array && n->variable && at + n->dwords == l->dwords) && room > n->dwords)
			room = n->dwords;
		if (n->is_union)
			decode_union(w, n, selected(w, l, f, p), p + at, room, len);
		else
			decode_layout(w, n, p + at, room, len);
	}
}

/* Reports the dwords of a blob; the bytes if it does not begin at a dword. */
static void
decode_blob(struct walk *w, const struct prm_field *f, const uint32_t *p, size_t dwords,
		size_t path_len)
{
	size_t start = 4u * f->dword + f->byte;
	size_t end = f->count == 0 ? 4 * dwords : start + f->count;
	bool whole = start % 4 == 0 && end % 4 == 0;

	if (end > 4 * dwords)
		end = 4 * dwords;
	for (size_t at = start, i = 0; at < end; at += whole ? 4 : 1, i++) {
		unsigned int lo = whole ? 0 : 24 - 8 * (at % 4);

		emit(w, path_len, f->name, (long)i,
				(struct bits){p + at / 4, whole ? 31 : lo + 7, lo}, NULL);
	}
}

static void
decode_layout(struct walk *w, const struct prm_layout *l, const uint32_t *p, size_t dwords,
		size_t path_len)
{
	if (l->is_union) {
		decode_union(w, l, w->request, p, dwords, path_len);
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
	struct walk w = { .cb = cb, .arg = arg, .nonzero_only = nonzero_only, .request = -1 };

	decode_layout(&w, l, p, len / 4, 0);
}

/* Layout of the register in an ACCESS_REGISTER command; NULL for another command or an unknown register. */
static const struct prm_layout *
carried_register(const struct prm_command *cmd, const void *in)
{
	if (cmd->in != &prm_layout_access_register_in)
		return NULL;
	return prm_register_layout((uint16_t)prm_access_register_in_get_register_id(in));
}

/* Decodes the fixed part by the layout of the command, the register data by that of the register. */
static void
decode_mailbox(struct walk *w, const struct prm_layout *l, const struct prm_layout *reg,
		const uint32_t *p, size_t dwords)
{
	size_t fixed = reg != NULL && dwords > l->dwords ? l->dwords : dwords;

	decode_layout(w, l, p, fixed, 0);
	if (dwords > fixed)
		decode_layout(w, reg, p + fixed, dwords - fixed,
				path_push(w, 0, reg->name, -1));
}

void
prm_decode_in(const void *in, size_t len, bool nonzero_only, prm_decode_cb cb, void *arg)
{
	struct walk w = { .cb = cb, .arg = arg, .nonzero_only = nonzero_only, .request = -1 };
	const struct prm_command *cmd;

	if (len < PRM_CMD_IN_BYTES)
		return;
	cmd = prm_command_find((uint16_t)prm_cmd_in_get_opcode(in));
	if (cmd == NULL) {
		decode_layout(&w, &prm_layout_cmd_in, in, PRM_CMD_IN_DWORDS, 0);
		return;
	}
	if (cmd->request.hi >= cmd->request.lo)
		w.request = (int32_t)(prm_field_ref_get(in, cmd->request) >> cmd->request_shift);
	decode_mailbox(&w, cmd->in, len < cmd->in_bytes_min ? NULL : carried_register(cmd, in), in,
			len / 4);
}

static void
walk_out(struct walk *w, const void *in, size_t in_len, const void *out, size_t out_len)
{
	const struct prm_command *cmd = NULL;

	if (in_len >= PRM_CMD_IN_BYTES)
		cmd = prm_command_find((uint16_t)prm_cmd_in_get_opcode(in));
	if (cmd == NULL || in_len < cmd->in_bytes_min) {
		decode_layout(w, &prm_layout_cmd_out, out, out_len / 4, 0);
		return;
	}
	if (cmd->request.hi >= cmd->request.lo)
		w->request = (int32_t)(prm_field_ref_get(in, cmd->request) >> cmd->request_shift);
	decode_mailbox(w, cmd->out, carried_register(cmd, in), out, out_len / 4);
}

void
prm_decode_out(const void *in, size_t in_len, const void *out, size_t out_len, bool nonzero_only,
		prm_decode_cb cb, void *arg)
{
	struct walk w = { .cb = cb, .arg = arg, .nonzero_only = nonzero_only, .request = -1 };

	walk_out(&w, in, in_len, out, out_len);
}

bool
prm_locate_out(const void *in, size_t in_len, void *out, size_t out_len, const char *path,
		struct prm_place *place)
{
	struct walk w = { .find = path, .found = place, .request = -1 };

	place->at = NULL;
	walk_out(&w, in, in_len, out, out_len);
	return place->at != NULL;
}
