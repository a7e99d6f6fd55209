/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * Commands show ...
 */

#include <string.h>

#include "cmds.h"
#include "drops.h"

static int
show_run(struct tm_app *app, struct tm_words *words)
{
	if (strcmp(words->w[1], "config") == 0)
		tm_report_config(app, stdout);
	else
		tm_report_forward(app, stdout);
	return 0;
}

TM_WORD(show_word, 0, "show");
TM_WORD(show_what, 1, "config#fwd");
TM_CMD(tm_cmd_show, show_run, "show config|fwd", TM_TOKEN(show_word), TM_TOKEN(show_what));

static int
show_one(struct tm_app *app, uint16_t port_id, const void *arg)
{
	const char *what = arg;

	if (strcmp(what, "drops") == 0)
		return tm_drops_show(port_id, stdout);
	if (strcmp(what, "stats") == 0)
		tm_report_port_stats(app, port_id, stdout);
	else if (strcmp(what, "xstats") == 0)
		tm_report_port_xstats(port_id, true, stdout);
	else if (strcmp(what, "clock") == 0)
		tm_report_clock(app, port_id, stdout);
	else
		tm_report_port_info(app, port_id, stdout);
	return 0;
}

static int
show_port_run(struct tm_app *app, struct tm_words *words)
{
	return tm_cmd_ports(app, words->w[3], show_one, words->w[2]);
}

TM_WORD(show_port_word, 0, "show");
TM_WORD(show_port_port, 1, "port");
TM_WORD(show_port_what, 2, "stats#xstats#info#clock#drops");
TM_WORD(show_port_which, 3, NULL);
TM_CMD(tm_cmd_show_port, show_port_run, "show port stats|xstats|info|clock|drops P|all",
       TM_TOKEN(show_port_word), TM_TOKEN(show_port_port), TM_TOKEN(show_port_what),
       TM_TOKEN(show_port_which));

static int
show_clock_run(struct tm_app *app, struct tm_words *words)
{
	return tm_cmd_ports(app, "all", show_one, words->w[1]);
}

TM_WORD(show_clock_word, 0, "show");
TM_WORD(show_clock_what, 1, "clock");
TM_CMD(tm_cmd_show_clock, show_clock_run, "show clock: first and last Rx timestamp of all ports",
       TM_TOKEN(show_clock_word), TM_TOKEN(show_clock_what));

static int
watch_run(struct tm_app *app, struct tm_words *words)
{
	uint64_t ns;

	return tm_cmd_seconds(words->w[2], &ns) != 0 ? -EINVAL : tm_drops_watch(app, ns);
}

TM_WORD(watch_drops, 0, "drops");
TM_WORD(watch_word, 1, "watch");
TM_WORD(watch_seconds, 2, NULL);
TM_CMD(tm_cmd_drops_watch, watch_run, "drops watch SECONDS: print each second where packets were lost; a key ends it",
       TM_TOKEN(watch_drops), TM_TOKEN(watch_word), TM_TOKEN(watch_seconds));
