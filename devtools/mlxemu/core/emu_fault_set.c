/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Fault rules with the action set: wrong values in replies, completions, frames, files and counters. */
#include <ctype.h>
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <prm.h>

#include "emu_audit.h"
#include "emu_fault_rule.h"

#define CQE_BYTES 64u
#define CQE_LAST 56u /* offset of the 8 bytes that are stored at once */
/* More than a WQE has segments: the engine may hold pointers to all that one WQE reads. */
#define COPIES 256u

/** Loop over the set rules that hit the event; a: the action. */
#define FOREACH_SET(a, e) \
	for (struct emu_rule *at_ = NULL; ((a) = emu_fault_next_set(e, &at_)) != NULL;)

static uint64_t
wrong_value(const struct emu_fault_action *a, uint64_t right)
{
	return a->has_value ? a->value : right ^ 1;
}

static uint64_t
bits_set(const struct emu_fault_action *a, uint64_t v, unsigned hi, unsigned lo)
{
	uint64_t mask = hi - lo == 63 ? UINT64_MAX : (1ull << (hi - lo + 1)) - 1;

	return (v & ~(mask << lo)) | (wrong_value(a, v >> lo & mask) & mask) << lo;
}

void
emu_fault_set_reply(const struct emu_fault_event *e, const void *in, size_t in_len, void *out,
		    size_t out_len)
{
	const struct emu_fault_action *a;
	struct prm_place place;

	FOREACH_SET(a, e) {
		if (prm_locate_out(in, in_len, out, out_len, a->field, &place))
			emu_place_set(&place, wrong_value(a, emu_place_get(&place)));
		else
			emu_trace_note(e->dev, "the reply has no field %s", a->field);
	}
}

static void
set_member(const struct emu_fault_action *a, uint8_t *structure)
{
	const struct prm_member *m = a->member;
	uint64_t v = 0;

	for (unsigned i = 0; i < m->bytes; i++)
		v = v << 8 | structure[m->offset + i];
	v = bits_set(a, v, m->hi, m->lo);
	for (unsigned i = m->bytes; i-- > 0; v >>= 8)
		structure[m->offset + i] = (uint8_t)v;
}

void
emu_fault_set_cqe(struct emu_fault_event *e, void *cqe, uint64_t *last)
{
	const struct emu_fault_action *a;
	uint8_t copy[CQE_BYTES];
	uint64_t be = htobe64(*last);

	e->opcode = *last >> 4 & 0xf;
	memcpy(copy, cqe, CQE_LAST);
	memcpy(copy + CQE_LAST, &be, sizeof(be));
	FOREACH_SET(a, e)
		set_member(a, copy);
	memcpy(cqe, copy, CQE_LAST);
	memcpy(&be, copy + CQE_LAST, sizeof(be));
	*last = be64toh(be);
}

void
emu_fault_set_eqe(const struct emu_fault_event *e, void *eqe)
{
	const struct emu_fault_action *a;

	FOREACH_SET(a, e)
		set_member(a, eqe);
}

void
emu_fault_set_bytes(const struct emu_fault_event *e, uint8_t *data)
{
	const struct emu_fault_action *a;

	FOREACH_SET(a, e) {
		uint32_t off = a->off == EMU_FAULT_OFF_LAST ? e->len - 1 : a->off;

		if (off < e->len)
			data[off] = (uint8_t)wrong_value(a, data[off]);
	}
}

void *
emu_fault_set_copy(struct emu_fault_event *e, void *data, uint64_t len)
{
	static uint8_t *copies[COPIES];
	static unsigned next;
	uint8_t *copy = len != 0 && len <= UINT32_MAX ? malloc(len) : NULL;

	if (copy == NULL)
		return data;
	memcpy(copy, data, len);
	e->len = (uint32_t)len;
	emu_fault_set_bytes(e, copy);
	free(copies[next]);
	copies[next] = copy;
	next = (next + 1) % COPIES;
	return copy;
}

uint64_t
emu_fault_set_value(const struct emu_fault_event *e, uint64_t value)
{
	const struct emu_fault_action *a;

	FOREACH_SET(a, e)
		value = wrong_value(a, value);
	return value;
}

void
emu_fault_set_out(const struct emu_fault_event *e, void *data, size_t len)
{
	const struct emu_fault_action *a;

	FOREACH_SET(a, e) {
		size_t bytes = a->hi / 8 + 1;
		uint64_t v = 0;

		if (a->off + bytes > len)
			continue;
		memcpy(&v, (uint8_t *)data + a->off, bytes);
		v = htole64(bits_set(a, le64toh(v), a->hi, a->lo));
		memcpy((uint8_t *)data + a->off, &v, bytes);
	}
}

int
emu_fault_set_errno(const struct emu_fault_event *e, int ret)
{
	const struct emu_fault_action *a;

	FOREACH_SET(a, e)
		ret = a->has_value ? -a->err : ret < 0 ? 0 : -EINVAL;
	return ret;
}

/* The last digit of the text becomes another one, also in hexadecimal. */
static void
change_digit(char *text)
{
	for (size_t i = strlen(text); i-- > 0;) {
		if (isdigit((unsigned char)text[i])) {
			text[i] = (char)('0' + ((text[i] - '0') ^ 1) % 10);
			return;
		}
		if (isalpha((unsigned char)text[i])) {
			text[i] = (char)(tolower((unsigned char)text[i]) == 'a' ? 'b' : 'a');
			return;
		}
	}
}

void
emu_fault_set_file(const struct emu_fault_event *e, char *text, size_t len)
{
	const struct emu_fault_action *a;

	FOREACH_SET(a, e) {
		if (a->has_value)
			snprintf(text, len, "%s\n", a->text);
		else
			change_digit(text);
	}
}
