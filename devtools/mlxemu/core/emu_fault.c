/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Faults by rule: parses the rules and decides which command they hit. */
#include "emu_fault.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <prm.h>

/* Told apart from the firmware's own syndromes, which are small numbers. */
#define EMU_FAULT_SYNDROME 0xfa0000u

struct emu_fault {
	struct emu_fault *next;
	int op; /* -1: any */
	uint64_t after, every, count;
	uint64_t seen, hits;
	uint8_t status;
	uint32_t syndrome;
	char *text;
	const char *last;
};

static struct emu_fault *emu_faults;
static struct emu_fault **emu_faults_tail = &emu_faults;
static uint64_t emu_fault_seen, emu_fault_hit;

static bool
fault_op(const char *name, int *op)
{
	for (unsigned i = 0; i < prm_command_count(); i++) {
		const struct prm_command *cmd = prm_command_at(i);

		if (strcasecmp(cmd->name, name) == 0) {
			*op = cmd->opcode;
			return true;
		}
	}
	return false;
}

static bool
fault_status(const char *name, uint8_t *status)
{
	for (unsigned i = 1; i < 256; i++) {
		if (strcasecmp(prm_status_name(i), name) == 0) {
			*status = i;
			return true;
		}
	}
	return false;
}

static bool
fault_number(const char *text, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 0);
	return errno == 0 && end != text && *end == '\0' && text[0] != '-';
}

/* One `word value` or `key=value` of the rule; *save is strtok_r's. */
static bool
fault_word(struct emu_fault *rule, const char *word, char **save)
{
	uint64_t value;
	const char *arg;

	if (strncmp(word, "op=", 3) == 0)
		return fault_op(word + 3, &rule->op);
	if (strncmp(word, "status=", 7) == 0)
		return fault_status(word + 7, &rule->status);
	if (strncmp(word, "syndrome=", 9) == 0) {
		if (!fault_number(word + 9, &value) || value > UINT32_MAX)
			return false;
		rule->syndrome = value;
		return true;
	}
	if (strcmp(word, "match") == 0 || strcmp(word, "do") == 0 || strcmp(word, "fail") == 0)
		return true;
	arg = strtok_r(NULL, " \t", save);
	if (arg == NULL || !fault_number(arg, &value))
		return false;
	if (strcmp(word, "after") == 0)
		rule->after = value;
	else if (strcmp(word, "every") == 0 && value > 0)
		rule->every = value;
	else if (strcmp(word, "count") == 0)
		rule->count = value;
	else
		return false;
	return true;
}

static int
fault_parse(char *text, struct emu_fault *rule, char *err, size_t err_len)
{
	char *save, *word = strtok_r(text, " \t", &save);

	if (word == NULL || strcmp(word, "on") != 0 ||
	    (word = strtok_r(NULL, " \t", &save)) == NULL || strcmp(word, "cmd.entry") != 0) {
		snprintf(err, err_len, "fault rule begins with 'on cmd.entry'");
		return -EINVAL;
	}
	while ((word = strtok_r(NULL, " \t", &save)) != NULL) {
		if (!fault_word(rule, word, &save)) {
			snprintf(err, err_len, "fault rule: '%s' is unknown or its value is bad; "
				 "form: on cmd.entry [match op=NAME] [after N] [every K] "
				 "[count C] do fail status=NAME [syndrome=N]", word);
			return -EINVAL;
		}
	}
	if (rule->status == 0) {
		snprintf(err, err_len, "fault rule: no 'do fail status=NAME'");
		return -EINVAL;
	}
	return 0;
}

int
emu_fault_add(const char *text, char *err, size_t err_len)
{
	struct emu_fault *rule = calloc(1, sizeof(*rule));
	char *copy = strdup(text);
	int ret = -ENOMEM;

	if (rule != NULL && copy != NULL) {
		*rule = (struct emu_fault){
			.op = -1, .every = 1, .count = UINT64_MAX, .syndrome = EMU_FAULT_SYNDROME,
		};
		ret = fault_parse(copy, rule, err, err_len);
	} else {
		snprintf(err, err_len, "fault rule: out of memory");
	}
	free(copy);
	if (ret == 0 && (rule->text = strdup(text)) == NULL)
		ret = -ENOMEM;
	if (ret != 0) {
		free(rule);
		return ret;
	}
	*emu_faults_tail = rule;
	emu_faults_tail = &rule->next;
	return 0;
}

void
emu_fault_clear(void)
{
	while (emu_faults != NULL) {
		struct emu_fault *rule = emu_faults;

		emu_faults = rule->next;
		free(rule->text);
		free(rule);
	}
	emu_faults_tail = &emu_faults;
	emu_fault_seen = emu_fault_hit = 0;
}

bool
emu_fault_command(uint16_t opcode, uint8_t *status, uint32_t *syndrome)
{
	emu_fault_seen++;
	for (struct emu_fault *rule = emu_faults; rule != NULL; rule = rule->next) {
		if (rule->op >= 0 && rule->op != opcode)
			continue;
		rule->seen++;
		if (rule->seen <= rule->after || rule->hits >= rule->count ||
		    (rule->seen - rule->after - 1) % rule->every != 0)
			continue;
		rule->hits++;
		emu_fault_hit++;
		rule->last = prm_command_name(opcode);
		*status = rule->status;
		*syndrome = rule->syndrome;
		return true;
	}
	return false;
}

uint64_t
emu_fault_commands(void)
{
	return emu_fault_seen;
}

uint64_t
emu_fault_hits(void)
{
	return emu_fault_hit;
}

bool
emu_fault_info(unsigned i, struct emu_fault_info *info)
{
	const struct emu_fault *rule = emu_faults;

	while (rule != NULL && i-- != 0)
		rule = rule->next;
	if (rule == NULL)
		return false;
	*info = (struct emu_fault_info){rule->text, rule->seen, rule->hits,
					rule->last != NULL ? rule->last : ""};
	return true;
}
