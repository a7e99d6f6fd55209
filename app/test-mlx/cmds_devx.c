/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * Looking at a port's firmware: capabilities, objects, commands that only ask, refusals explained.
 * The driver answers by telemetry; the program itself knows nothing of it.
 */

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmds.h"
#include "tm_clock.h"

#define NAME_WIDTH 32
#define LINE_COLUMNS 100

/* ------------------------------------------------------------------ printing an answer */

static void
scalar_print(const json_t *v)
{
	if (json_is_string(v))
		printf("%s", json_string_value(v));
	else if (json_is_integer(v) && json_integer_value(v) > 9)
		printf("%" JSON_INTEGER_FORMAT " (0x%" PRIx64 ")", json_integer_value(v),
		       (uint64_t)json_integer_value(v));
	else if (json_is_integer(v))
		printf("%" JSON_INTEGER_FORMAT, json_integer_value(v));
	else
		printf("-");
}

/* Numbers and names side by side, as many as a line takes. */
static void
array_print(const json_t *array)
{
	const json_t *v;
	char text[160];
	size_t i;
	int column = NAME_WIDTH + 3, n;

	json_array_foreach(array, i, v) {
		if (json_is_string(v))
			n = snprintf(text, sizeof(text), "%s", json_string_value(v));
		else
			n = snprintf(text, sizeof(text), "0x%" PRIx64, (uint64_t)json_integer_value(v));
		if (column + n + 1 > LINE_COLUMNS && i > 0)
			column = printf("\n%*s", NAME_WIDTH + 3, "") - 1;
		column += printf("%s%s", i > 0 ? " " : "", text);
	}
}

static void
object_print(const json_t *object)
{
	const char *key;
	json_t *v;

	json_object_foreach((json_t *)(uintptr_t)object, key, v) {
		if (json_is_object(v)) {
			object_print(v);
			continue;
		}
		printf("  %-*s ", NAME_WIDTH, key);
		if (json_is_array(v))
			array_print(v);
		else
			scalar_print(v);
		putchar('\n');
	}
}

/* ------------------------------------------------------------------ questions */

/* A word of digits alone below the number of ports is a port; opcodes begin above. */
static bool
word_is_port(const char *word, size_t len)
{
	char text[8];
	uint64_t port;

	if (len == 0 || len >= sizeof(text))
		return false;
	for (size_t i = 0; i < len; i++)
		if (!isdigit((unsigned char)word[i]))
			return false;
	memcpy(text, word, len);
	text[len] = '\0';
	return tm_parse_u64(text, 0, RTE_MAX_ETHPORTS - 1, &port) == 0;
}

/* "/mlxpmd/WHAT,PORT,WORD,WORD" of "[PORT] WORD WORD": telemetry's command. -E2BIG too long. */
static int
question_make(const struct tm_app *app, const char *what, const char *rest, bool of_port,
	      char *command, size_t size)
{
	size_t len = strcspn(rest, " \t");
	size_t n = snprintf(command, size, "/mlxpmd/%s", what);
	const char *word = rest;

	/* A PCI address names a device that is no port of this driver's. */
	if (of_port && !word_is_port(rest, len) && memchr(rest, ':', len) == NULL)
		n += snprintf(command + n, size - n, ",%u", app->nb_ports > 0 ? app->port_ids[0] : 0);
	for (word += strspn(word, " \t"); *word != '\0' && n < size; word += strspn(word, " \t")) {
		len = strcspn(word, " \t");
		n += snprintf(command + n, size - n, ",%.*s", (int)len, word);
		word += len;
	}
	return n < size ? 0 : -E2BIG;
}

/* A port that is not there is told by the program: telemetry's answer would not say why. */
static int
port_check(const char *what, const char *rest)
{
	size_t len = strcspn(rest, " \t");
	bool port = word_is_port(rest, len);

	if (port ? rte_eth_dev_is_valid_port(atoi(rest)) :
	    len == 0 || strcmp(what, "objects") != 0 || memchr(rest, ':', len) != NULL)
		return 0;
	tm_error("no port '%.*s'", (int)len, rest);
	return -ENODEV;
}

static int
devx_ask(struct tm_app *app, const char *what, const char *rest)
{
	const bool of_port = strcmp(what, "explain") != 0;
	char command[1024];
	const char *verdict;
	json_t *answer;
	int ret;

	if (of_port && port_check(what, rest) != 0)
		return -ENODEV;
	if (question_make(app, what, rest, of_port, command, sizeof(command)) != 0) {
		tm_error("devx %s: too many words", what);
		return -E2BIG;
	}
	answer = tm_telemetry_ask(command);
	if (!json_is_object(answer)) {
		tm_error("devx %s %s: no driver here answers that, or telemetry is off", what, rest);
		json_decref(answer);
		return -ENOTSUP;
	}
	object_print(answer);
	verdict = json_string_value(json_object_get(answer, "answer"));
	ret = verdict == NULL || strcmp(verdict, "done") == 0 ? 0 : -EREMOTEIO;
	json_decref(answer);
	return ret;
}

static int
devx_run(struct tm_app *app, struct tm_words *words)
{
	return devx_ask(app, words->w[1], words->rest);
}

/* The library leaves what a shorter command does not have. */
static int
devx_short_run(struct tm_app *app, struct tm_words *words)
{
	return devx_ask(app, words->w[1], "");
}

TM_WORD(devx_word, 0, "devx");
TM_WORD(devx_what, 1, "caps#objects#cmd#explain");
TM_REST(devx_rest);
TM_CMD(tm_cmd_devx, devx_run,
       "devx caps [P|PCI] [PAGE] | objects [P] | cmd [P] OPCODE [HEX] | explain STATUS|cqe [SYNDROME]: the firmware",
       TM_TOKEN(devx_word), TM_TOKEN(devx_what), TM_TOKEN(devx_rest));

TM_WORD(devx_short_what, 1, "caps#objects");
TM_CMD(tm_cmd_devx_short, devx_short_run, "devx caps|objects: of the first port",
       TM_TOKEN(devx_word), TM_TOKEN(devx_short_what));
