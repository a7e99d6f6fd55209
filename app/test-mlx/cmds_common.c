/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * Common functions of commands: the callback of the cmdline library, ports, arguments.
 */

#include <errno.h>
#include <string.h>

#include "cmds.h"

/* The cmdline library passes only the command's own data to its callback. */
static struct tm_app *cmds_app;
static int cmds_status;

void
tm_cmd_begin(struct tm_app *app)
{
	cmds_app = app;
	cmds_status = 0;
}

int
tm_cmd_result(void)
{
	return cmds_status;
}

void
tm_cmd_call(void *parsed, struct cmdline *cl __rte_unused, void *data)
{
	const struct tm_cmd_op *op = data;
	struct tm_words *words = parsed;
	size_t n = strnlen(words->rest, sizeof(words->rest));

	while (n > 0 && strchr(" \t\r\n", words->rest[n - 1]) != NULL)
		words->rest[--n] = '\0';
	cmds_status = op->run(cmds_app, words);
	fflush(stdout);
}

int
tm_cmd_ports(struct tm_app *app, const char *text,
	     int (*f)(struct tm_app *app, uint16_t port_id, const void *arg), const void *arg)
{
	uint64_t id;
	int ret = 0, r;

	if (strcmp(text, "all") != 0) {
		if (tm_parse_u64(text, 0, RTE_MAX_ETHPORTS - 1, &id) == 0 && tm_port_used(app, id))
			return f(app, id, arg);
		tm_error("no port '%s'", text);
		return -ENODEV;
	}
	for (uint16_t i = 0; i < app->nb_ports; i++) {
		r = f(app, app->port_ids[i], arg);
		if (ret == 0)
			ret = r;
	}
	return ret;
}

int
tm_cmd_idle(const struct tm_app *app, const char *what)
{
	if (!app->running)
		return 0;
	tm_error("%s: stop forwarding first", what);
	return -EBUSY;
}

int
tm_cmd_seconds(const char *text, uint64_t *ns)
{
	double s;

	if (tm_parse_seconds(text, &s) != 0) {
		tm_error("'%s' is not a number of seconds", text);
		return -EINVAL;
	}
	*ns = (uint64_t)(s * 1e9);
	return 0;
}
