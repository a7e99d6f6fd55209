/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * Commands that query a port's firmware: capabilities, objects, query commands. They use the driver's
 * telemetry; `devx explain` needs no driver.
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

/* ------------------------------------------------------------------ printing a reply */

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

/* Print numbers and names, as many as fit a line. */
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

/* ------------------------------------------------------------------ queries */

/* A decimal number below RTE_MAX_ETHPORTS is a port; opcodes begin at 0x100. */
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

/* A PCI address, by its colon; not the path of a file. */
static bool
word_is_pci(const char *word, size_t len)
{
	return memchr(word, ':', len) != NULL && word[0] != '/';
}

/* Convert "[PORT] WORD WORD" to the telemetry command "/mlxpmd/WHAT,PORT,WORD,WORD". -E2BIG: too long. */
static int
request_make(const struct tm_app *app, const char *what, const char *rest, char *command, size_t size)
{
	size_t len = strcspn(rest, " \t");
	size_t n = snprintf(command, size, "/mlxpmd/%s", what);
	const char *word = rest;

	/* A PCI address is that of a device that is not a port of mlxpmd. */
	if (!word_is_port(rest, len) && !word_is_pci(rest, len))
		n += snprintf(command + n, size - n, ",%u", app->nb_ports > 0 ? app->port_ids[0] : 0);
	for (word += strspn(word, " \t"); *word != '\0' && n < size; word += strspn(word, " \t")) {
		len = strcspn(word, " \t");
		n += snprintf(command + n, size - n, ",%.*s", (int)len, word);
		word += len;
	}
	return n < size ? 0 : -E2BIG;
}

/* Check the port here: the reply of telemetry would not contain the reason. */
static int
port_check(const char *what, const char *rest)
{
	size_t len = strcspn(rest, " \t");
	bool port = word_is_port(rest, len);
	/* It takes nothing else as the first word. */
	bool takes_port = strcmp(what, "objects") == 0 || (strcmp(what, "recorder") == 0 && rest[0] != '/');

	if (port ? rte_eth_dev_is_valid_port(atoi(rest)) : len == 0 || !takes_port || word_is_pci(rest, len))
		return 0;
	tm_error("no port '%.*s'", (int)len, rest);
	return -ENODEV;
}

/* The commands, and the number of words after the port. */
static const struct query {
	const char *what, *takes, *example;
	unsigned int min, max;
} queries[] = {
	{ "caps", "[PORT] [PAGE], or the PCI address of an mlx4 device", "devx caps 1 ethernet_offloads", 0, 1 },
	{ "objects", "[PORT]", "devx objects 1", 0, 0 },
	{ "cmd", "[PORT] OPCODE [HEX]", "devx cmd QUERY_SQ 00000000000010a7", 1, 2 },
	{ "explain", "STATUS [SYNDROME], cqe SYNDROME, or FILE [--json]", "devx explain 9 0x2a3d5c", 0, 0 },
	{ "recorder", "[PORT] [FILE], an absolute path", "devx recorder 1 /tmp/recorded", 0, 1 },
};

static int
query_usage(const struct query *q)
{
	tm_error("devx %s takes: %s (%s)", q->what, q->takes, q->example);
	return -EINVAL;
}

/* Check the number of words. The first may be a port; nothing may follow a PCI address. */
static int
query_check(const struct query *q, const char *rest)
{
	size_t len = strcspn(rest, " \t");
	unsigned int n = 0;

	for (const char *word = rest; *word != '\0'; n++) {
		word += strcspn(word, " \t");
		word += strspn(word, " \t");
	}
	if (word_is_pci(rest, len))
		return n == 1 ? 0 : query_usage(q);
	n -= word_is_port(rest, len);
	return n >= q->min && n <= q->max ? 0 : query_usage(q);
}

static int
devx_request(struct tm_app *app, const struct query *q, const char *rest)
{
	const char *result, *what = q->what;
	char command[1024];
	json_t *reply;
	int ret;

	if (strcmp(what, "explain") == 0)
		return tm_explain_line(rest);
	if (port_check(what, rest) != 0)
		return -ENODEV;
	if (query_check(q, rest) != 0)
		return -EINVAL;
	if (request_make(app, what, rest, command, sizeof(command)) != 0) {
		tm_error("devx %s: too long: the limit is %zu characters", what, sizeof(command) - 1);
		return -E2BIG;
	}
	reply = tm_telemetry_request(command);
	if (!json_is_object(reply)) {
		tm_error("devx %s %s: no driver here has this telemetry command, or telemetry is off", what, rest);
		json_decref(reply);
		return -ENOTSUP;
	}
	object_print(reply);
	result = json_string_value(json_object_get(reply, "answer"));
	ret = result == NULL || strcmp(result, "done") == 0 ? 0 : -EREMOTEIO;
	if (json_object_get(reply, "errno") != NULL)
		ret = -EIO;
	json_decref(reply);
	return ret;
}

static const struct query *
query_find(const char *what)
{
	const struct query *q = queries;

	while (strcmp(q->what, what) != 0)
		q++;
	return q;
}

static int
devx_run(struct tm_app *app, struct tm_words *words)
{
	return devx_request(app, query_find(words->w[1]), words->rest);
}

/* The cmdline library does not fill words->rest for this shorter command. */
static int
devx_short_run(struct tm_app *app, struct tm_words *words)
{
	const struct query *q = query_find(words->w[1]);

	return q->min == 0 ? devx_request(app, q, "") : query_usage(q);
}

static int
devx_usage_run(struct tm_app *app __rte_unused, struct tm_words *words __rte_unused)
{
	for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++)
		(void)query_usage(&queries[i]);
	return -EINVAL;
}

TM_WORD(devx_word, 0, "devx");
TM_WORD(devx_what, 1, "caps#objects#cmd#explain#recorder");
TM_REST(devx_rest);
TM_CMD(tm_cmd_devx, devx_run,
       "devx caps [P|PCI] [PAGE] | objects [P] | cmd [P] OPCODE [HEX] | explain STATUS|cqe [SYNDROME]: "
       "query the firmware; recorder [P] [FILE]: write the last commands and events, explain FILE: explain them",
       TM_TOKEN(devx_word), TM_TOKEN(devx_what), TM_TOKEN(devx_rest));

TM_CMD(tm_cmd_devx_short, devx_short_run, "devx caps|objects|recorder: the same for the first port",
       TM_TOKEN(devx_word), TM_TOKEN(devx_what));

TM_CMD(tm_cmd_devx_usage, devx_usage_run, "devx: print the arguments, with examples", TM_TOKEN(devx_word));
