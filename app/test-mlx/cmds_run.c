/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * Commands start, stop, check, wait, sleep, start|stop port, clear, quit.
 */

#include <errno.h>
#include <string.h>

#include "cmds.h"

static int
start_run(struct tm_app *app, struct tm_words *words __rte_unused)
{
	return tm_run_start(app);
}

TM_WORD(start_word, 0, "start");
TM_CMD(tm_cmd_start, start_run, "start: begin to forward or generate", TM_TOKEN(start_word));

static int
stop_run(struct tm_app *app, struct tm_words *words __rte_unused)
{
	if (!app->running) {
		tm_error("forwarding is not running");
		return -EALREADY;
	}
	/* A failed check is recorded for the exit code; the command has succeeded. */
	tm_run_stop(app);
	tm_report_forward(app, stdout);
	return 0;
}

TM_WORD(stop_word, 0, "stop");
TM_CMD(tm_cmd_stop, stop_run, "stop: receive packets in flight, stop, check the result",
       TM_TOKEN(stop_word));

static int
check_run(struct tm_app *app, struct tm_words *words __rte_unused)
{
	if (app->running)
		tm_run_stop(app);
	if (!app->result_known) {
		tm_error("no run to check: start first");
		return -ENODATA;
	}
	printf("check: %s\n", app->result_ok ? "OK" : "FAILED");
	return app->result_ok ? 0 : -EIO;
}

TM_WORD(check_word, 0, "check");
TM_CMD(tm_cmd_check, check_run, "check: stop if running, fail if the last run failed",
       TM_TOKEN(check_word));

static int
wait_run(struct tm_app *app, struct tm_words *words __rte_unused)
{
	if (!app->running || !tm_run_finite(app)) {
		tm_error("wait: %s", app->running ? "there is neither a count nor a capture: the run never ends" :
			 "forwarding is not running");
		return -EINVAL;
	}
	tm_run_wait(app, UINT64_MAX);
	return 0;
}

TM_WORD(wait_word, 0, "wait");
TM_CMD(tm_cmd_wait, wait_run, "wait: wait until --count is reached and captures are sent",
       TM_TOKEN(wait_word));

static int
wait_for_run(struct tm_app *app, struct tm_words *words)
{
	uint64_t ns;

	if (tm_cmd_seconds(words->w[1], &ns) != 0)
		return -EINVAL;
	tm_run_wait(app, ns);
	if (app->running && !tm_run_done(app) && !app->quit) {
		tm_error("not finished after %s s", words->w[1]);
		return -ETIMEDOUT;
	}
	return 0;
}

TM_WORD(wait_for_word, 0, "wait");
TM_WORD(wait_for_seconds, 1, NULL);
TM_CMD(tm_cmd_wait_for, wait_for_run, "wait SECONDS: the same, fail if it takes longer",
       TM_TOKEN(wait_for_word), TM_TOKEN(wait_for_seconds));

static int
sleep_run(struct tm_app *app, struct tm_words *words)
{
	uint64_t ns;

	if (tm_cmd_seconds(words->w[1], &ns) != 0)
		return -EINVAL;
	tm_run_idle(app, ns);
	return 0;
}

TM_WORD(sleep_word, 0, "sleep");
TM_WORD(sleep_seconds, 1, NULL);
TM_CMD(tm_cmd_sleep, sleep_run, "sleep SECONDS: wait, forwarding continues",
       TM_TOKEN(sleep_word), TM_TOKEN(sleep_seconds));

static int
quit_run(struct tm_app *app, struct tm_words *words __rte_unused)
{
	app->quit = true;
	return 0;
}

TM_WORD(quit_word, 0, "quit");
TM_CMD(tm_cmd_quit, quit_run, "quit: stop, print the report, exit", TM_TOKEN(quit_word));

static int
port_one(struct tm_app *app, uint16_t port_id, const void *arg)
{
	return strcmp(arg, "start") == 0 ? tm_port_start(app, port_id) : tm_port_stop(app, port_id);
}

static int
port_run(struct tm_app *app, struct tm_words *words)
{
	int ret = tm_cmd_idle(app, "port");

	return ret != 0 ? ret : tm_cmd_ports(app, words->w[2], port_one, words->w[0]);
}

TM_WORD(port_verb, 0, "start#stop");
TM_WORD(port_word, 1, "port");
TM_WORD(port_which, 2, NULL);
TM_CMD(tm_cmd_port, port_run, "start|stop port P|all", TM_TOKEN(port_verb), TM_TOKEN(port_word),
       TM_TOKEN(port_which));

static int
clear_one(struct tm_app *app __rte_unused, uint16_t port_id, const void *arg)
{
	int ret = strcmp(arg, "stats") == 0 ? rte_eth_stats_reset(port_id) :
		rte_eth_xstats_reset(port_id);

	if (ret != 0)
		tm_error("port %u: %s cannot be cleared: %s", port_id, (const char *)arg,
			 rte_strerror(-ret));
	return ret;
}

static int
clear_port_run(struct tm_app *app, struct tm_words *words)
{
	return tm_cmd_ports(app, words->w[2], clear_one, words->w[1]);
}

TM_WORD(clear_word, 0, "clear");
TM_WORD(clear_what, 1, "stats#xstats");
TM_WORD(clear_which, 2, NULL);
TM_CMD(tm_cmd_clear_port, clear_port_run, "clear stats|xstats P|all", TM_TOKEN(clear_word),
       TM_TOKEN(clear_what), TM_TOKEN(clear_which));

static int
clear_fwd_run(struct tm_app *app, struct tm_words *words __rte_unused)
{
	int ret = tm_cmd_idle(app, "clear fwd");

	if (ret == 0)
		tm_stats_clear(app);
	return ret;
}

TM_WORD(clear_fwd_word, 0, "clear");
TM_WORD(clear_fwd_what, 1, "fwd");
TM_CMD(tm_cmd_clear_fwd, clear_fwd_run, "clear fwd: clear forward statistics and timestamps",
       TM_TOKEN(clear_fwd_word), TM_TOKEN(clear_fwd_what));
