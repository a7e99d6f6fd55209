/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * `top`: options, the choice of the program, and --batch.
 */

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tm.h"
#include "top.h"

volatile int top_signal;

static void
on_signal(int number)
{
	top_signal = number;
}

const char *
top_time(char buf[16])
{
	time_t now = time(NULL);
	struct tm local;

	if (localtime_r(&now, &local) == NULL || strftime(buf, 16, "%H:%M:%S", &local) == 0)
		buf[0] = '\0';
	return buf;
}

void
tm_top_help(FILE *out)
{
	fputs("       dpdk-test-mlx top [--help | OPTIONS]                    ports, queues and clock of a running program\n",
	      out);
}

static const char usage[] =
"Usage: dpdk-test-mlx top [OPTIONS]\n"
"\n"
"Shows ports, queues, drops, clocks and interrupts of a running DPDK program whose ports mlxpmd drives, by its\n"
"telemetry socket. The program need not be started in a special way, and its lcores do nothing for it. Key h lists\n"
"the keys.\n"
"\n"
"  --file-prefix PREFIX   the program that was started with this --file-prefix (default: the only one that runs)\n"
"  --list                 list the programs that run\n"
"  --delay SECONDS        interval of the readings, 0.1 to 60 (1)\n"
"  --port PORT            only this port (all)\n"
"  --sort COLUMN          order of the queues: queue pps packets errors (queue)\n"
"  --drops                drops by the driver's account of packets, /mlxpmd/drops, which waits for the device\n"
"  --batch                print each reading as text; ends with status 1 when the program ends\n"
"  -n, --count N          with --batch: end after N readings (no limit)\n"
"  --runtime-dir DIR      folder of EAL's run-time folders (/var/run/dpdk; $XDG_RUNTIME_DIR/dpdk of a user)\n"
"\n"
"Examples:\n"
"  dpdk-test-mlx top\n"
"  dpdk-test-mlx top --file-prefix fw --port 0 --sort errors\n"
"  dpdk-test-mlx top --batch -n 1 | grep rx0\n";

static int
batch(struct top *t)
{
	struct timespec wait;
	struct top_view v;

	/* Rates need two readings. */
	top_read(t);
	for (uint64_t n = 0; (t->count == 0 || n < t->count) && top_signal == 0; n++) {
		wait = (struct timespec) {
			.tv_sec = (time_t)t->interval_s,
			.tv_nsec = (long)((t->interval_s - (double)(time_t)t->interval_s) * 1e9),
		};
		if (nanosleep(&wait, NULL) != 0)
			break;
		top_read(t);
		v = (struct top_view) { .n = 0 };
		top_view_make(t, &v);
		for (size_t i = 0; i < v.n; i++)
			puts(v.lines[i].text);
		puts("");
		top_view_free(&v);
		if (fflush(stdout) != 0)
			return TM_EXIT_FAILED;
		if (t->state == TOP_ENDED) {
			tm_error("top: the program has ended");
			return TM_EXIT_FAILED;
		}
	}
	return TM_EXIT_OK;
}

static int
sort_parse(const char *text, enum top_sort *sort)
{
	for (unsigned int i = 0; i < TOP_SORTS; i++) {
		if (strcmp(text, top_sort_names[i]) == 0) {
			*sort = (enum top_sort)i;
			return 0;
		}
	}
	tm_error("top: --sort: bad value '%s', allowed: queue pps packets errors", text);
	return -EINVAL;
}

/* Options that choose what is done. */
struct choice {
	const char *folder, *prefix;
	bool help, list;
};

static int
option_take(struct top *t, struct choice *c, int option)
{
	uint64_t value = 0;
	int ret = 0;

	switch (option) {
	case 'f':
		c->prefix = optarg;
		break;
	case 'r':
		c->folder = optarg;
		break;
	case 'l':
		c->list = true;
		break;
	case 'h':
		c->help = true;
		break;
	case 'b':
		t->batch = true;
		break;
	case 'a':
		t->account = true;
		break;
	case 'n':
		return tm_parse_number("top: --count", optarg, 0, UINT32_MAX, &t->count);
	case 'p':
		ret = tm_parse_number("top: --port", optarg, 0, RTE_MAX_ETHPORTS - 1, &value);
		t->port = value;
		return ret;
	case 's':
		return sort_parse(optarg, &t->sort);
	case 'd':
		if (tm_parse_seconds(optarg, &t->interval_s) == 0 && t->interval_s >= 0.1 && t->interval_s <= 60)
			return 0;
		tm_error("top: --delay: bad value '%s', allowed: 0.1 to 60 seconds", optarg);
		return -EINVAL;
	default:
		return -EINVAL;
	}
	return 0;
}

static const struct option options[] = {
	{ "file-prefix", required_argument, NULL, 'f' }, { "list", no_argument, NULL, 'l' },
	{ "delay", required_argument, NULL, 'd' }, { "port", required_argument, NULL, 'p' },
	{ "sort", required_argument, NULL, 's' }, { "batch", no_argument, NULL, 'b' },
	{ "drops", no_argument, NULL, 'a' }, { "count", required_argument, NULL, 'n' }, { "runtime-dir", required_argument, NULL, 'r' },
	{ "help", no_argument, NULL, 'h' }, { NULL, 0, NULL, 0 },
};

static int
args_parse(struct top *t, struct choice *c, int argc, char **argv)
{
	int option;

	while ((option = getopt_long(argc, argv, "bd:hln:", options, NULL)) != -1)
		if (option_take(t, c, option) != 0)
			return -EINVAL;
	if (optind < argc) {
		tm_error("top: unknown argument '%s', see --help", argv[optind]);
		return -EINVAL;
	}
	if (t->count != 0 && !t->batch) {
		tm_error("top: --count needs --batch");
		return -EINVAL;
	}
	return 0;
}

int
tm_top(int argc, char **argv)
{
	struct top t = { .interval_s = 1, .port = -1, .telemetry.fd = -1 };
	struct sigaction act = { .sa_handler = on_signal };
	char folder[108];
	struct choice c = { .folder = tm_telemetry_folder(folder, sizeof(folder)) };
	int status;

	memset(t.shown, true, sizeof(t.shown));
	if (args_parse(&t, &c, argc, argv) != 0)
		return TM_EXIT_SETUP;
	if (c.help) {
		fputs(usage, stdout);
		return TM_EXIT_OK;
	}
	if (c.list) {
		tm_programs_list(c.folder, stdout);
		return TM_EXIT_OK;
	}
	if (tm_program_choose("top", c.folder, c.prefix, &t.program) != 0)
		return TM_EXIT_SETUP;
	/* Without SA_RESTART: a signal ends a wait for a key, the interval or a reply. */
	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	sigaction(SIGHUP, &act, NULL);
	sigaction(SIGQUIT, &act, NULL);
	signal(SIGPIPE, SIG_IGN);
	status = t.batch ? batch(&t) : top_screen(&t);
	top_free(&t);
	return status;
}
