/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* A parsed fault rule, and the tables of the words in it: shared by parser, engine and list. */
#ifndef EMU_FAULT_RULE_H
#define EMU_FAULT_RULE_H

#include <prm_decode.h>

#include "emu_fault.h"

/** What an event must have; a negative number, NULL or false does not restrict. */
struct emu_fault_match {
	int64_t port, op, opcode, sqn, rqn, cqn, type, len, attr;
	int64_t q; /**< K of rxK or txK. */
	bool q_is_rx;
	char *name;    /**< method=, page=, reg=, name=; the end of the path for file=. */
	double chance; /**< 1: always. */
};

struct emu_rule {
	struct emu_rule *next;
	enum emu_fault_kind kind;
	struct emu_fault_match match;
	uint64_t after, every, count;
	struct emu_fault_action action;
	char *text;
	/* Run time: */
	uint64_t seen, hits, random;
	char last[40];
};

/** Parses one rule; the caller frees it with emu_rule_free(). Returns as emu_fault_add(). */
int emu_rule_parse(const char *text, struct emu_rule **out, char *err, size_t err_len);
void emu_rule_free(struct emu_rule *rule);

/**
 * The next set rule after *at that hits the event, in *at and as return value; NULL: no more. *at is
 * NULL at first.
 */
const struct emu_fault_action *emu_fault_next_set(const struct emu_fault_event *e,
						  struct emu_rule **at);

/* emu_fault_words.c */

/** UVERBS_ATTR_UHW_OUT of rdma/ib_user_ioctl_cmds.h: the driver's part of a reply. */
#define EMU_FAULT_ATTR_UHW 0x1001u

extern const char *const emu_fault_names[EMU_FAULT_KINDS];

/** A key after `match`, and the kinds of event that have it. */
struct emu_fault_key {
	const char *name;
	uint32_t kinds;
	bool (*set)(struct emu_rule *rule, const char *text);
};
extern const struct emu_fault_key emu_fault_keys[];
extern const unsigned emu_fault_key_count;

/** An argument of an action. */
struct emu_fault_arg {
	const char *name;
	bool (*set)(struct emu_fault_action *action, const char *text);
};
extern const struct emu_fault_arg emu_fault_args[];
extern const unsigned emu_fault_arg_count;

/** An action at some kinds of event; needs, takes: one bit per row of emu_fault_args. */
struct emu_fault_row {
	const char *name;
	enum emu_fault_act act;
	uint32_t kinds;
	uint64_t needs, takes;
};
extern const struct emu_fault_row emu_fault_rows[];
extern const unsigned emu_fault_row_count;

/** Before a field's name: that of error CQEs, where the same name is another place. */
#define EMU_FAULT_OF_ERRORS "error."
bool emu_fault_is_error_member(const struct prm_member *m);
/** Whether the field belongs to the element that the event writes: CQE or EQE. */
bool emu_fault_member_at(const struct prm_member *m, enum emu_fault_kind kind);
/** The i-th name of clock.value; NULL after the last. */
const char *emu_fault_clock_name(unsigned i);

/** Value of a field of a reply. */
static inline uint64_t
emu_place_get(const struct prm_place *p)
{
	return p->hi > 31 ? prm_get64(p->at, p->hi, p->lo) : prm_get32(p->at, p->hi, p->lo);
}

/** Sets the field; bits of @p v beyond its width are dropped. */
static inline void
emu_place_set(const struct prm_place *p, uint64_t v)
{
	unsigned int bits = p->hi - p->lo + 1;

	if (bits < 64)
		v &= (1ull << bits) - 1;
	if (p->hi > 31)
		prm_set64(p->at, p->hi, p->lo, v);
	else
		prm_set32(p->at, p->hi, p->lo, (uint32_t)v);
}

#endif /* EMU_FAULT_RULE_H */
