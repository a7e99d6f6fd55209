/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * How commands are declared: words of DPDK's cmdline library and one function each.
 */

#ifndef TM_CMDS_H
#define TM_CMDS_H

#include <cmdline_parse.h>
#include <cmdline_parse_string.h>

#include "tm.h"

/** What the parser read: the words of a command, and the rest of the line where it takes one. */
struct tm_words {
	cmdline_fixed_string_t w[7];
	cmdline_multi_string_t rest;
};

/** 0 or negative errno after one line on stderr. */
struct tm_cmd_op {
	int (*run)(struct tm_app *app, struct tm_words *words);
};

/* cmds_common.c */
/** Before a line is parsed: the program that its command acts on. */
void tm_cmd_begin(struct tm_app *app);
/** What the command of the last line returned. */
int tm_cmd_result(void);
/** The library calls this with a struct tm_cmd_op as data. */
void tm_cmd_call(void *parsed, struct cmdline *cl, void *data);

/* Word number n must be text ("a#b": one of them), or may be anything when text is NULL. */
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

/** Calls f for the port that text names, or for each when it is "all"; the first error. */
int tm_cmd_ports(struct tm_app *app, const char *text,
		 int (*f)(struct tm_app *app, uint16_t port_id, const void *arg), const void *arg);
/** Text as ns; -EINVAL and a line when it is no number of seconds. */
int tm_cmd_seconds(const char *text, uint64_t *ns);
/** -EBUSY and a line when forwarding runs. */
int tm_cmd_idle(const struct tm_app *app, const char *what);

extern cmdline_parse_inst_t tm_cmd_start, tm_cmd_stop, tm_cmd_port, tm_cmd_check, tm_cmd_wait,
	tm_cmd_wait_for, tm_cmd_sleep, tm_cmd_quit, tm_cmd_help, tm_cmd_show, tm_cmd_show_port,
	tm_cmd_show_clock, tm_cmd_clock_watch, tm_cmd_clock_record, tm_cmd_clock_verify,
	tm_cmd_clock_peer, tm_cmd_set, tm_cmd_set_mode, tm_cmd_set_mtu, tm_cmd_set_mac,
	tm_cmd_file, tm_cmd_file_off, tm_cmd_clear_port, tm_cmd_clear_fwd,
	tm_cmd_devx, tm_cmd_devx_short, tm_cmd_devx_usage;

#endif
