/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Parses fault rules. An error message names the wrong word and the words allowed in its place. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu_fault_rule.h"
#include "emu_number.h"

/* Outside of the range of the model's own syndromes (fw_syndrome.h). */
#define FAULT_SYNDROME 0xfa0000u
#define WORD_BLANKS " \t\r"

/** The rule under construction and the buffer of the error message. */
struct parse {
	struct emu_rule *rule;
	char *err;
	size_t err_len;
	char *save; /* strtok_r's */
};

static int __attribute__((format(printf, 2, 3)))
parse_error(struct parse *p, const char *fmt, ...)
{
	int n = snprintf(p->err, p->err_len, "fault rule: ");
	va_list ap;

	va_start(ap, fmt);
	if (n > 0 && (size_t)n < p->err_len)
		vsnprintf(p->err + n, p->err_len - (size_t)n, fmt, ap);
	va_end(ap);
	return -EINVAL;
}

/* "a, b, c" of the names that a test lets through, into text. */
#define LIST(text, n, rows, name_of, allowed) \
	do { \
		size_t list_at = 0; \
		(text)[0] = '\0'; \
		for (unsigned i = 0; i < (n) && list_at < sizeof(text); i++) \
			if (allowed) \
				list_at += (size_t)snprintf((text) + list_at, \
							    sizeof(text) - list_at, "%s%s", \
							    list_at != 0 ? ", " : "", name_of); \
	} while (0)

static int
parse_event(struct parse *p, const char *word)
{
	char list[320];

	for (unsigned i = 0; word != NULL && i < EMU_FAULT_KINDS; i++) {
		if (strcmp(emu_fault_names[i], word) == 0) {
			p->rule->kind = (enum emu_fault_kind)i;
			return 0;
		}
	}
	LIST(list, EMU_FAULT_KINDS, emu_fault_names, emu_fault_names[i], true);
	return parse_error(p, "unknown event '%s'; known are %s", word != NULL ? word : "", list);
}

static int
parse_match(struct parse *p, const char *word, char *value)
{
	uint32_t here = 1u << p->rule->kind;
	char list[128];

	for (unsigned i = 0; i < emu_fault_key_count; i++) {
		if (strcmp(emu_fault_keys[i].name, word) != 0 || (emu_fault_keys[i].kinds & here) == 0)
			continue;
		return emu_fault_keys[i].set(p->rule, value)
			       ? 0
			       : parse_error(p, "%s='%s': invalid value", word, value);
	}
	LIST(list, emu_fault_key_count, emu_fault_keys, emu_fault_keys[i].name,
	     (emu_fault_keys[i].kinds & here) != 0);
	return parse_error(p, "'%s' cannot be matched at %s; %s can", word,
			emu_fault_names[p->rule->kind], list);
}

static int
parse_limit(struct parse *p, const char *word)
{
	const char *text = strtok_r(NULL, WORD_BLANKS, &p->save);
	uint64_t *to = strcmp(word, "after") == 0   ? &p->rule->after
		       : strcmp(word, "every") == 0 ? &p->rule->every
		       : strcmp(word, "count") == 0 ? &p->rule->count
						    : NULL;

	if (to == NULL)
		return parse_error(p, "'%s' where match, after, every, count or do is expected", word);
	if (text == NULL || !emu_number(text, 0, UINT64_MAX, to))
		return parse_error(p, "%s '%s': a number is needed", word, text != NULL ? text : "");
	if (p->rule->every == 0)
		return parse_error(p, "every 0: must be at least 1");
	return 0;
}

static int
parse_args(struct parse *p, const struct emu_fault_row *row)
{
	uint64_t given = 0;
	char *word, *value, list[128];

	while ((word = strtok_r(NULL, WORD_BLANKS, &p->save)) != NULL) {
		unsigned i;

		value = strchr(word, '=');
		if (value != NULL)
			*value++ = '\0';
		for (i = 0; i < emu_fault_arg_count; i++)
			if (((row->needs | row->takes) >> i & 1) != 0 &&
			    strcmp(emu_fault_args[i].name, word) == 0)
				break;
		if (i == emu_fault_arg_count) {
			LIST(list, emu_fault_arg_count, emu_fault_args, emu_fault_args[i].name,
			     ((row->needs | row->takes) >> i & 1) != 0);
			return parse_error(p, "'%s' is no argument of %s; it takes: %s", word,
					row->name, list[0] != '\0' ? list : "none");
		}
		if (value == NULL || !emu_fault_args[i].set(&p->rule->action, value))
			return parse_error(p, "%s='%s': invalid value", word,
					value != NULL ? value : "");
		given |= 1ull << i;
	}
	for (unsigned i = 0; i < emu_fault_arg_count; i++)
		if (((row->needs & ~given) >> i & 1) != 0)
			return parse_error(p, "%s needs %s=", row->name, emu_fault_args[i].name);
	return 0;
}

static int
parse_action(struct parse *p)
{
	const char *word = strtok_r(NULL, WORD_BLANKS, &p->save);
	uint32_t here = 1u << p->rule->kind;
	char list[128];

	for (unsigned i = 0; word != NULL && i < emu_fault_row_count; i++) {
		if (strcmp(emu_fault_rows[i].name, word) != 0 || (emu_fault_rows[i].kinds & here) == 0)
			continue;
		p->rule->action.act = emu_fault_rows[i].act;
		return parse_args(p, &emu_fault_rows[i]);
	}
	LIST(list, emu_fault_row_count, emu_fault_rows, emu_fault_rows[i].name,
	     (emu_fault_rows[i].kinds & here) != 0);
	return parse_error(p, "'%s' cannot be done at %s; %s can", word != NULL ? word : "",
			emu_fault_names[p->rule->kind], list);
}

static int
parse_words(struct parse *p, char *text)
{
	char *word = strtok_r(text, WORD_BLANKS, &p->save), *value;
	bool matching = false;
	int ret = 0;

	if (word == NULL || strcmp(word, "on") != 0)
		return parse_error(p, "it must begin with 'on EVENT', not with '%s'",
				word != NULL ? word : "");
	ret = parse_event(p, strtok_r(NULL, WORD_BLANKS, &p->save));
	while (ret == 0 && (word = strtok_r(NULL, WORD_BLANKS, &p->save)) != NULL) {
		if (strcmp(word, "do") == 0)
			return parse_action(p);
		value = strchr(word, '=');
		if (value != NULL && matching) {
			*value++ = '\0';
			ret = parse_match(p, word, value);
			continue;
		}
		matching = strcmp(word, "match") == 0;
		if (!matching)
			ret = parse_limit(p, word);
	}
	return ret != 0 ? ret : parse_error(p, "'do ACTION' is missing");
}

void
emu_rule_free(struct emu_rule *rule)
{
	if (rule == NULL)
		return;
	free(rule->match.name);
	free(rule->action.text);
	free(rule->action.field);
	free(rule->action.bytes);
	free(rule->text);
	free(rule);
}

int
emu_rule_parse(const char *text, struct emu_rule **out, char *err, size_t err_len)
{
	struct parse p = {.rule = calloc(1, sizeof(*p.rule)), .err = err, .err_len = err_len};
	char *copy = strdup(text);
	int ret = -ENOMEM;

	if (p.rule != NULL && copy != NULL && (p.rule->text = strdup(text)) != NULL) {
		struct emu_fault_match *m = &p.rule->match;

		m->port = m->op = m->opcode = m->sqn = m->rqn = m->cqn = m->type = m->len = -1;
		m->q = m->attr = -1;
		m->chance = 1;
		p.rule->every = 1;
		p.rule->count = UINT64_MAX;
		p.rule->action.port = -1;
		p.rule->action.hi = 7; /* a byte */
		p.rule->action.syndrome = FAULT_SYNDROME;
		ret = parse_words(&p, copy);
	} else {
		snprintf(err, err_len, "fault rule: out of memory");
	}
	free(copy);
	if (ret == 0)
		*out = p.rule;
	else
		emu_rule_free(p.rule);
	return ret;
}
