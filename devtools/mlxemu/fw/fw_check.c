/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Checks mailboxes against the generated layouts. */

#include <errno.h>

#include <prm.h>

#include "fw_check.h"

/* State of a check; `base` is the start of the inbox, from which violations count dwords. */
struct walk {
	const uint32_t *base;
	struct fw_violation *v;
};

static int check_dwords(const struct walk *w, const struct prm_layout *l, const uint32_t *p,
		size_t dwords);

static int
violation(const struct walk *w, const struct prm_layout *l, const char *field, const uint32_t *at,
		uint64_t value, const char *why)
{
	if (w->v != NULL)
		*w->v = (struct fw_violation){
			.layout = l->name,
			.field = field,
			.dword = (uint32_t)(at - w->base),
			.value = value,
			.why = why,
		};
	return -EINVAL;
}

static int
check_reserved(const struct walk *w, const struct prm_layout *l, const uint32_t *p, size_t dwords)
{
	for (size_t i = 0; i < dwords && i < l->dwords; i++) {
		uint32_t bad = PRM_BE32(p[i]) & ~l->valid[i];

		if (bad != 0)
			return violation(w, l, "reserved", p + i, bad, "reserved bits set");
	}
	return 0;
}

static bool
enum_has(const struct prm_enum *e, uint64_t value)
{
	for (unsigned int i = 0; i < e->count; i++)
		if (e->values[i].value == value)
			return true;
	return false;
}

static int
check_scalar(const struct walk *w, const struct prm_layout *l, const struct prm_field *f,
		const uint32_t *p, size_t dwords)
{
	uint64_t value;

	if (f->enumeration == NULL || !f->enumeration->strict || f->array || f->hi > 31 ||
	    f->dword >= dwords)
		return 0;
	value = prm_get32(p + f->dword, f->hi, f->lo);
	if (enum_has(f->enumeration, value))
		return 0;
	return violation(w, l, f->name, p + f->dword, value, "out of range");
}

/* Two nested layouts at the same dword: the check does not know which of them applies. */
static bool
is_ambiguous(const struct prm_layout *l, const struct prm_field *f)
{
	for (unsigned int i = 0; i < l->field_count; i++) {
		const struct prm_field *o = &l->fields[i];

		if (o != f && o->kind == PRM_FIELD_NESTED && o->dword == f->dword)
			return true;
	}
	return false;
}

static int
check_nested(const struct walk *w, const struct prm_layout *l, const struct prm_field *f,
		const uint32_t *p, size_t dwords)
{
	const struct prm_layout *n = f->nested;
	size_t at = f->dword;
	int ret = 0;

	if (n->is_union || f->overlay || is_ambiguous(l, f) || at > dwords)
		return 0;
	/* A nested layout at the end of its parent includes the trailing array. */
	if (!f->array)
		return check_dwords(w, n, p + at, n->variable && at + n->dwords == l->dwords ?
				dwords - at :
				(dwords - at < n->dwords ? dwords - at : n->dwords));
	for (unsigned int i = 0; (f->count == 0 || i < f->count) && ret == 0; i++) {
		if (at + n->dwords > dwords)
			break;
		ret = check_dwords(w, n, p + at, n->dwords);
		at += n->dwords;
	}
	return ret;
}

static int
check_dwords(const struct walk *w, const struct prm_layout *l, const uint32_t *p, size_t dwords)
{
	int ret;

	if (l->is_union)
		return 0;
	ret = check_reserved(w, l, p, dwords);
	for (unsigned int i = 0; i < l->field_count && ret == 0; i++) {
		const struct prm_field *f = &l->fields[i];

		if (f->kind == PRM_FIELD_SCALAR)
			ret = check_scalar(w, l, f, p, dwords);
		else if (f->kind == PRM_FIELD_NESTED)
			ret = check_nested(w, l, f, p, dwords);
	}
	return ret;
}

int
fw_check_layout(const struct prm_layout *l, const void *p, size_t len, struct fw_violation *v)
{
	struct walk w = { .base = p, .v = v };

	if (len < 4u * l->dwords)
		return violation(&w, l, "length", p, len, "too short");
	return check_dwords(&w, l, p, len / 4);
}

int
fw_check_in(const void *in, size_t len, struct fw_violation *v)
{
	struct walk w = { .base = in, .v = v };
	const struct prm_command *cmd;
	uint16_t opcode;

	if (len < PRM_CMD_IN_BYTES)
		return violation(&w, &prm_layout_cmd_in, "length", in, len, "too short");
	opcode = (uint16_t)prm_cmd_in_get_opcode(in);
	cmd = prm_command_find(opcode);
	if (cmd == NULL)
		return violation(&w, &prm_layout_cmd_in, "opcode", in, opcode, "unknown opcode");
	if (len < cmd->in_bytes_min)
		return violation(&w, cmd->in, "length", in, len, "too short");
	return check_dwords(&w, cmd->in, in, len / 4);
}
