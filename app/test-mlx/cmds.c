/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * Commands: the table, and reading them from a file or a terminal.
 */

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmdline.h>
#include <cmdline_socket.h>

#include "cmds.h"

#define PROMPT "test-mlx> "

static cmdline_parse_ctx_t commands[] = {
	&tm_cmd_start, &tm_cmd_stop, &tm_cmd_check, &tm_cmd_wait, &tm_cmd_wait_for, &tm_cmd_sleep,
	&tm_cmd_port, &tm_cmd_show_port, &tm_cmd_show, &tm_cmd_show_clock, &tm_cmd_drops_watch,
	&tm_cmd_clock_watch, &tm_cmd_clock_record, &tm_cmd_clock_verify, &tm_cmd_clock_peer,
	&tm_cmd_set, &tm_cmd_set_mode, &tm_cmd_set_mtu, &tm_cmd_set_mac,
	&tm_cmd_file, &tm_cmd_file_off, &tm_cmd_clear_port, &tm_cmd_clear_fwd,
	&tm_cmd_devx, &tm_cmd_devx_short, &tm_cmd_devx_usage, &tm_cmd_flow,
	&tm_cmd_help, &tm_cmd_quit, NULL,
};

static int
help_run(struct tm_app *app __rte_unused, struct tm_words *words __rte_unused)
{
	for (unsigned int i = 0; commands[i] != NULL; i++) {
		const cmdline_parse_inst_t *c = commands[i];

		printf("  %s\n", c->help_str);
	}
	return 0;
}

TM_WORD(help_word, 0, "help");
TM_CMD(tm_cmd_help, help_run, "help: print this list", TM_TOKEN(help_word));

static const char *
parse_reason(int ret)
{
	switch (ret) {
	case CMDLINE_PARSE_AMBIGUOUS:
		return "ambiguous command";
	case CMDLINE_PARSE_BAD_ARGS:
		return "wrong arguments, see help";
	default:
		return "unknown command, see help";
	}
}

/* Run one line of a script; 0, or negative after tm_fail(). */
static int
line_run(struct tm_app *app, struct cmdline *cl, const char *path, unsigned int number,
	 const char *text)
{
	char *line = NULL;
	int ret, status;

	if (asprintf(&line, "%s\n", text) < 0)
		return -ENOMEM;
	tm_note(app, PROMPT "%s", text);
	tm_cmd_begin(app);
	ret = cmdline_parse(cl, line);
	free(line);
	status = tm_cmd_result();
	if (ret < 0)
		tm_fail(app, "%s:%u: '%s': %s", path, number, text, parse_reason(ret));
	else if (status != 0)
		tm_fail(app, "%s:%u: '%s': failed", path, number, text);
	return ret < 0 ? ret : status;
}

static char *
trim(char *line)
{
	char *end;

	line += strspn(line, " \t");
	end = line + strlen(line);
	while (end > line && strchr(" \t\r\n", end[-1]) != NULL)
		*--end = '\0';
	return line;
}

int
tm_cmds_script(struct tm_app *app, const char *path)
{
	FILE *f = fopen(path, "r");
	struct cmdline *cl;
	unsigned int number = 0;
	char *line = NULL, *text;
	size_t room = 0;
	int ret = 0;

	if (f == NULL) {
		tm_fail(app, "cannot read '%s': %s", path, strerror(errno));
		return -errno;
	}
	tm_cmd_begin(app);
	cl = cmdline_new(commands, "", -1, -1);
	if (cl == NULL)
		tm_fail(app, "no memory for commands");
	while (cl != NULL && !app->quit && getline(&line, &room, f) >= 0) {
		number++;
		text = trim(line);
		if (text[0] != '\0' && text[0] != '#' &&
		    line_run(app, cl, path, number, text) != 0)
			ret = -EIO;
	}
	free(line);
	cmdline_free(cl);
	fclose(f);
	return ret;
}

int
tm_cmds_interactive(struct tm_app *app)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	struct cmdline *cl;
	char c;

	tm_cmd_begin(app);
	cl = cmdline_stdin_new(commands, PROMPT);
	if (cl == NULL) {
		tm_fail(app, "no memory for commands");
		return -ENOMEM;
	}
	while (!app->quit) {
		if (poll(&input, 1, app->running && app->nb_workers == 0 ? 0 : 10) > 0) {
			/* No more input, or end of text (ctrl-d). */
			if (read(STDIN_FILENO, &c, 1) <= 0 || cmdline_in(cl, &c, 1) < 0)
				break;
			continue;
		}
		tm_run_idle(app, app->nb_workers == 0 && app->running ? 1000000 : 0);
	}
	cmdline_stdin_exit(cl);
	putchar('\n');
	return 0;
}
