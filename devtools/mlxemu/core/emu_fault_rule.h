/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* A rule, parsed: shared by the parser and the engine. */
#ifndef EMU_FAULT_RULE_H
#define EMU_FAULT_RULE_H

#include "emu_fault.h"

/** What an event has to be; a value below 0 or a false flag asks for nothing. */
struct emu_fault_match {
	int64_t port, op, opcode, sqn, rqn, cqn, type, len;
	int64_t q;    /**< K of rxK or txK. */
	bool q_is_rx;
	char *method;
	double chance; /**< 1: always. */
};

struct emu_rule {
	struct emu_rule *next;
	enum emu_place place;
	struct emu_fault_match match;
	uint64_t after, every, count;
	struct emu_fault_action action;
	char *text;
	/* Run time: */
	uint64_t seen, hits, random;
	char last[40];
};

/** Parses one rule; the caller frees with emu_rule_free(). As emu_fault_add(). */
int emu_rule_parse(const char *text, struct emu_rule **out, char *err, size_t err_len);
void emu_rule_free(struct emu_rule *rule);
const char *emu_place_name(enum emu_place place);

#endif /* EMU_FAULT_RULE_H */
