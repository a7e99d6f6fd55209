/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * Looking at a port's firmware: capabilities, objects, commands that only ask. The driver answers by
 * telemetry; what a refusal means the program tells itself.
 */

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmds.h"
#include "explain.h"
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
question_make(const struct tm_app *app, const char *what, const char *rest, char *command, size_t size)
{
	size_t len = strcspn(rest, " \t");
	size_t n = snprintf(command, size, "/mlxpmd/%s", what);
	const char *word = rest;

	/* A PCI address names a device that is no port of this driver's. */
	if (!word_is_port(rest, len) && memchr(rest, ':', len) == NULL)
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

/* What can be asked, and how many words each takes behind the port. */
static const struct question {
	const char *what, *takes, *example;
	unsigned int min, max;
} questions[] = {
	{ "caps", "[PORT] [PAGE], or the PCI address of an mlx4 device", "devx caps 1 ethernet_offloads", 0, 1 },
	{ "objects", "[PORT]", "devx objects 1", 0, 0 },
	{ "cmd", "[PORT] OPCODE [HEX]", "devx cmd QUERY_SQ 00000000000010a7", 1, 2 },
	{ "explain", "STATUS [SYNDROME], or cqe SYNDROME", "devx explain 9 0x2a3d5c", 0, 0 },
};

static int
question_usage(const struct question *q)
{
	tm_error("devx %s takes: %s (%s)", q->what, q->takes, q->example);
	return -EINVAL;
}

/* Right number of words? The first may be a port; a PCI address stands alone. */
static int
question_check(const struct question *q, const char *rest)
{
	size_t len = strcspn(rest, " \t");
	unsigned int n = 0;

	for (const char *word = rest; *word != '\0'; n++) {
		word += strcspn(word, " \t");
		word += strspn(word, " \t");
	}
	if (memchr(rest, ':', len) != NULL)
		return n == 1 ? 0 : question_usage(q);
	n -= word_is_port(rest, len);
	return n >= q->min && n <= q->max ? 0 : question_usage(q);
}

static int
devx_ask(struct tm_app *app, const struct question *q, const char *rest)
{
	const char *verdict, *what = q->what;
	char command[1024];
	json_t *answer;
	int ret;

	if (strcmp(what, "explain") == 0)
		return tm_explain_line(rest);
	if (port_check(what, rest) != 0)
		return -ENODEV;
	if (question_check(q, rest) != 0)
		return -EINVAL;
	if (question_make(app, what, rest, command, sizeof(command)) != 0) {
		tm_error("devx %s: too long: a question has room for %zu characters", what, sizeof(command) - 1);
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

static const struct question *
question_find(const char *what)
{
	const struct question *q = questions;

	while (strcmp(q->what, what) != 0)
		q++;
	return q;
}

static int
devx_run(struct tm_app *app, struct tm_words *words)
{
	return devx_ask(app, question_find(words->w[1]), words->rest);
}

/* The library leaves what a shorter command does not have. */
static int
devx_short_run(struct tm_app *app, struct tm_words *words)
{
	const struct question *q = question_find(words->w[1]);

	return q->min == 0 ? devx_ask(app, q, "") : question_usage(q);
}

static int
devx_usage_run(struct tm_app *app __rte_unused, struct tm_words *words __rte_unused)
{
	for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++)
		(void)question_usage(&questions[i]);
	return -EINVAL;
}

TM_WORD(devx_word, 0, "devx");
TM_WORD(devx_what, 1, "caps#objects#cmd#explain");
TM_REST(devx_rest);
TM_CMD(tm_cmd_devx, devx_run,
       "devx caps [P|PCI] [PAGE] | objects [P] | cmd [P] OPCODE [HEX] | explain STATUS|cqe [SYNDROME]: the firmware",
       TM_TOKEN(devx_word), TM_TOKEN(devx_what), TM_TOKEN(devx_rest));

TM_CMD(tm_cmd_devx_short, devx_short_run, "devx caps|objects: of the first port",
       TM_TOKEN(devx_word), TM_TOKEN(devx_what));

TM_CMD(tm_cmd_devx_usage, devx_usage_run, "devx: what it takes, with examples", TM_TOKEN(devx_word));
