/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * Commands about clocks and timestamps.
 */

#include <errno.h>
#include <string.h>

#include "cmds.h"
#include "tm_clock.h"

#define PEER_PACKETS_MAX 1000000

static int
watch_run(struct tm_app *app, struct tm_words *words)
{
	uint64_t ns;

	return tm_cmd_seconds(words->w[2], &ns) != 0 ? -EINVAL : tm_clock_watch(app, ns);
}

TM_WORD(watch_clock, 0, "clock");
TM_WORD(watch_word, 1, "watch");
TM_WORD(watch_seconds, 2, NULL);
TM_CMD(tm_cmd_clock_watch, watch_run, "clock watch SECONDS: print the driver's clock data every second",
       TM_TOKEN(watch_clock), TM_TOKEN(watch_word), TM_TOKEN(watch_seconds));

static int
record_one(struct tm_app *app, uint16_t port_id, const void *arg)
{
	app->ports[port_id].record = strcmp(arg, "on") == 0;
	return 0;
}

static int
record_run(struct tm_app *app, struct tm_words *words)
{
	int ret = tm_cmd_idle(app, "clock record");

	return ret != 0 ? ret : tm_cmd_ports(app, words->w[2], record_one, words->w[3]);
}

TM_WORD(record_clock, 0, "clock");
TM_WORD(record_word, 1, "record");
TM_WORD(record_which, 2, NULL);
TM_WORD(record_on, 3, "on#off");
TM_CMD(tm_cmd_clock_record, record_run, "clock record P|all on|off: record the timestamps of the next runs",
       TM_TOKEN(record_clock), TM_TOKEN(record_word), TM_TOKEN(record_which), TM_TOKEN(record_on));

/* The argument OUT: NULL for "-". */
static const char *
out_name(const char *word)
{
	return strcmp(word, "-") == 0 ? NULL : word;
}

struct verify_files {
	const char *truth, *out;
};

static int
verify_one(struct tm_app *app, uint16_t port_id, const void *arg)
{
	const struct verify_files *f = arg;

	return tm_clock_verify(app, port_id, f->truth, f->out);
}

static int
verify_run(struct tm_app *app, struct tm_words *words)
{
	const struct verify_files f = { words->w[4], out_name(words->w[5]) };
	int ret = tm_cmd_idle(app, "clock verify");

	if (ret == 0 && strcmp(words->w[2], "all") == 0) {
		tm_error("clock verify: give one port, not all");
		return -EINVAL;
	}
	return ret != 0 ? ret : tm_cmd_ports(app, words->w[2], verify_one, &f);
}

TM_WORD(verify_clock, 0, "clock");
TM_WORD(verify_word, 1, "verify");
TM_WORD(verify_which, 2, NULL);
TM_WORD(verify_truth, 3, "truth");
TM_WORD(verify_file, 4, NULL);
TM_WORD(verify_out, 5, NULL);
TM_CMD(tm_cmd_clock_verify, verify_run,
       "clock verify P truth CAPTURE OUT: compare recorded timestamps with true times; "
       "writes OUT.csv, OUT.svg (-: none)",
       TM_TOKEN(verify_clock), TM_TOKEN(verify_word), TM_TOKEN(verify_which),
       TM_TOKEN(verify_truth), TM_TOKEN(verify_file), TM_TOKEN(verify_out));

struct peer_words {
	uint16_t port;
	uint64_t count;
	const char *out;
};

static int
peer_one(struct tm_app *app, uint16_t port_id, const void *arg)
{
	const struct peer_words *w = arg;

	return tm_clock_verify_peer(app, port_id, w->port, w->count, w->out);
}

static int
peer_run(struct tm_app *app, struct tm_words *words)
{
	struct peer_words w = { .out = out_name(words->w[6]) };
	uint64_t port;
	int ret = tm_cmd_idle(app, "clock verify");

	if (ret != 0)
		return ret;
	if (strcmp(words->w[2], "all") == 0 ||
	    tm_parse_u64(words->w[4], 0, RTE_MAX_ETHPORTS - 1, &port) != 0 ||
	    !tm_port_used(app, port)) {
		tm_error("clock verify: no port '%s'", words->w[4]);
		return -ENODEV;
	}
	if (tm_parse_u64(words->w[5], 1, PEER_PACKETS_MAX, &w.count) != 0) {
		tm_error("clock verify: '%s' is not a number of packets (1-%u)", words->w[5],
			 PEER_PACKETS_MAX);
		return -EINVAL;
	}
	w.port = port;
	return tm_cmd_ports(app, words->w[2], peer_one, &w);
}

TM_WORD(peer_clock, 0, "clock");
TM_WORD(peer_word, 1, "verify");
TM_WORD(peer_which, 2, NULL);
TM_WORD(peer_from, 3, "from");
TM_WORD(peer_port, 4, NULL);
TM_WORD(peer_count, 5, NULL);
TM_WORD(peer_out, 6, NULL);
TM_CMD(tm_cmd_clock_peer, peer_run,
       "clock verify P from Q COUNT OUT: compare Rx timestamps of P with Tx timestamps of Q; files as above",
       TM_TOKEN(peer_clock), TM_TOKEN(peer_word), TM_TOKEN(peer_which), TM_TOKEN(peer_from),
       TM_TOKEN(peer_port), TM_TOKEN(peer_count), TM_TOKEN(peer_out));
