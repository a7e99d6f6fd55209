/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * Declaration of commands: tokens of DPDK's cmdline library, and one function each.
 */

#ifndef TM_CMDS_H
#define TM_CMDS_H

#include <cmdline_parse.h>
#include <cmdline_parse_string.h>

#include "tm.h"

/** The parsed line: the words of a command, and for some commands the rest of the line. */
struct tm_words {
	cmdline_fixed_string_t w[7];
	cmdline_multi_string_t rest;
};

/** The function of a command: 0 or negative errno after tm_error(). */
struct tm_cmd_op {
	int (*run)(struct tm_app *app, struct tm_words *words);
};

/* cmds_common.c */
/** Call before parsing a line: sets the app that the command acts on, and its result to 0. */
void tm_cmd_begin(struct tm_app *app);
/** The result of the command in the last line. */
int tm_cmd_result(void);
/** Callback of the cmdline library; data is a struct tm_cmd_op. */
void tm_cmd_call(void *parsed, struct cmdline *cl, void *data);

/* Word number n must be text ("a#b": one of these); any word if text is NULL. */
#define TM_WORD(id, n, text)								\
	static cmdline_parse_token_string_t id =					\
		TOKEN_STRING_INITIALIZER(struct tm_words, w[n], text)
#define TM_REST(id)									\
	static cmdline_parse_token_string_t id =					\
		TOKEN_STRING_INITIALIZER(struct tm_words, rest, TOKEN_STRING_MULTI)
#define TM_CMD(id, function, text, ...)							\
	static struct tm_cmd_op id##_op = { function };					\
	cmdline_parse_inst_t id = {							\
		.f = tm_cmd_call, .data = &id##_op, .help_str = text,			\
		.tokens = { __VA_ARGS__, NULL },					\
	}
#define TM_TOKEN(id) ((void *)&(id))

/** Call f for the port number in text, or for all ports if it is "all"; returns the first error. */
int tm_cmd_ports(struct tm_app *app, const char *text,
		 int (*f)(struct tm_app *app, uint16_t port_id, const void *arg), const void *arg);
/** Convert seconds to ns; -EINVAL after tm_error(). */
int tm_cmd_seconds(const char *text, uint64_t *ns);
/** 0, or -EBUSY after tm_error() while forwarding is running. */
int tm_cmd_idle(const struct tm_app *app, const char *what);

extern cmdline_parse_inst_t tm_cmd_start, tm_cmd_stop, tm_cmd_port, tm_cmd_check, tm_cmd_wait,
	tm_cmd_wait_for, tm_cmd_sleep, tm_cmd_quit, tm_cmd_help, tm_cmd_show, tm_cmd_show_port,
	tm_cmd_show_clock, tm_cmd_drops_watch, tm_cmd_clock_watch, tm_cmd_clock_record, tm_cmd_clock_verify,
	tm_cmd_clock_peer, tm_cmd_set, tm_cmd_set_mode, tm_cmd_set_mtu, tm_cmd_set_mac,
	tm_cmd_file, tm_cmd_file_off, tm_cmd_clear_port, tm_cmd_clear_fwd,
	tm_cmd_devx, tm_cmd_devx_short, tm_cmd_devx_usage, tm_cmd_flow;

#endif
