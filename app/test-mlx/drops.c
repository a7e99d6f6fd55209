/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * `show port drops`, `drops watch` and `dpdk-test-mlx drops`: the driver's account of packets, /mlxpmd/drops.
 */

#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "drops.h"
#include "telemetry.h"
#include "tm_clock.h"

#define TIMEOUT_MS 2000
#define STEP_NS 100000000

static const char *const directions[][2] = { { "rx", "received" }, { "tx", "sent" } };

static uint64_t
packets_of(const json_t *account, const char *direction, const char *place)
{
	return json_integer_value(json_object_get(json_object_get(json_object_get(account, direction), place), "packets"));
}

/* How a place changes the sum. */
static char
sign_of(const char *is)
{
	if (is == NULL || strcmp(is, "begin") == 0 || strcmp(is, "end") == 0)
		return ' ';
	return strcmp(is, "passed") == 0 ? '=' : '-';
}

static void
direction_print(json_t *account, const char *direction, const char *title, FILE *out)
{
	const char *name, *is;
	uint64_t packets;
	json_t *place;

	fprintf(out, "  %s\n", title);
	json_object_foreach(json_object_get(account, direction), name, place) {
		is = json_string_value(json_object_get(place, "is"));
		packets = json_integer_value(json_object_get(place, "packets"));
		/* What was not lost needs no advice. */
		fprintf(out, "    %c %-20s %14" PRIu64 "%s%s\n", sign_of(is), name, packets,
			packets != 0 || sign_of(is) != '-' ? "  " : "",
			packets != 0 || sign_of(is) != '-' ? json_string_value(json_object_get(place, "means")) : "");
	}
}

static void
others_print(const json_t *account, const char *key, const char *title, FILE *out)
{
	json_t *of = json_object_get(account, key), *value;
	const char *name;

	json_object_foreach(of, name, value) {
		if (json_is_string(value))
			fprintf(out, "  %s %s: %s\n", title, name, json_string_value(value));
		else if (json_integer_value(value) != 0)
			fprintf(out, "  %s %s: %" PRIu64 "\n", title, name, (uint64_t)json_integer_value(value));
	}
}

static void
account_print(json_t *account, FILE *out)
{
	const char *failed = json_string_value(json_object_get(account, "errno"));

	fprintf(out, "port %" JSON_INTEGER_FORMAT ": packets since the probe, reading %" JSON_INTEGER_FORMAT " of %"
		JSON_INTEGER_FORMAT " us, %" JSON_INTEGER_FORMAT " packets moved meanwhile\n",
		json_integer_value(json_object_get(account, "port")), json_integer_value(json_object_get(account, "epoch")),
		json_integer_value(json_object_get(account, "reading_us")),
		json_integer_value(json_object_get(account, "moved")));
	if (failed != NULL)
		fprintf(out, "  the device's counters could not be read (%s): they are old\n", failed);
	for (unsigned int d = 0; d < RTE_DIM(directions); d++)
		direction_print(account, directions[d][0], directions[d][1], out);
	others_print(account, "causes", "also", out);
	others_print(account, "absent", "absent", out);
}

/* One line of a watch: what changed. */
static void
changes_print(json_t *now, const json_t *before, double seconds)
{
	const char *name;
	uint64_t more, was;
	json_t *place;

	printf("%8.1f %4" JSON_INTEGER_FORMAT, seconds, json_integer_value(json_object_get(now, "port")));
	for (unsigned int d = 0; d < RTE_DIM(directions); d++) {
		printf("%s %s", d == 0 ? "" : " |", directions[d][0]);
		json_object_foreach(json_object_get(now, directions[d][0]), name, place) {
			was = packets_of(before, directions[d][0], name);
			more = json_integer_value(json_object_get(place, "packets"));
			/* What waits in queues, and what is unexplained of it, can become less. */
			if (more > was)
				printf(" %s +%" PRIu64, name, more - was);
		}
	}
	putchar('\n');
}

/** Where accounts come from: another program, or this one. */
struct source {
	struct tm_telemetry *other;	/* NULL: this one */
	unsigned int ports[RTE_MAX_ETHPORTS], nb_ports;
};

static json_t *
account_read(const struct source *s, unsigned int port)
{
	char command[32];

	snprintf(command, sizeof(command), "/mlxpmd/drops,%u", port);
	return s->other != NULL ? tm_telemetry_query(s->other, command) : tm_telemetry_request(command);
}

static int
account_missing(unsigned int port)
{
	tm_error("drops: port %u: its driver has no telemetry command /mlxpmd/drops, or telemetry is off", port);
	return -ENOTSUP;
}

static int
show(const struct source *s, FILE *out)
{
	json_t *account;

	for (unsigned int i = 0; i < s->nb_ports; i++) {
		account = account_read(s, s->ports[i]);
		if (account == NULL)
			return account_missing(s->ports[i]);
		account_print(account, out);
		json_decref(account);
	}
	return 0;
}

static int
changes_read(const struct source *s, json_t **before, double seconds)
{
	json_t *account;

	for (unsigned int i = 0; i < s->nb_ports; i++) {
		account = account_read(s, s->ports[i]);
		if (account == NULL)
			return account_missing(s->ports[i]);
		if (before[i] != NULL)
			changes_print(account, before[i], seconds);
		json_decref(before[i]);
		before[i] = account;
	}
	return fflush(stdout) == 0 ? 0 : -EIO;
}

/* A key that the terminal has for us ends the watch. */
static bool
key_pressed(void)
{
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };

	return isatty(STDIN_FILENO) && poll(&in, 1, 0) > 0;
}

/* Each second until `ns` have passed or ended() is true; wait(ns) waits. */
static int
watch(const struct source *s, uint64_t ns, void (*wait)(uint64_t ns), bool (*ended)(void))
{
	json_t *before[RTE_MAX_ETHPORTS] = { NULL };
	const uint64_t start = tm_now_ns();
	uint64_t next = start;
	int ret = 0;

	printf("%8s %4s more packets in\n", "seconds", "port");
	while (ret == 0 && !ended() && !key_pressed()) {
		if (tm_now_ns() >= next) {
			ret = changes_read(s, before, (double)(tm_now_ns() - start) / 1e9);
			if (next - start >= ns)
				break;
			next += TM_NS_PER_S;
		}
		wait(STEP_NS);
	}
	for (unsigned int i = 0; i < s->nb_ports; i++)
		json_decref(before[i]);
	return ret;
}

/* ------------------------------------------------------------------ of this program's ports */

static struct tm_app *own;

static void
own_wait(uint64_t ns)
{
	tm_run_idle(own, ns);
}

static bool
own_ended(void)
{
	return own->quit || own->signal != 0;
}

int
tm_drops_show(uint16_t port_id, FILE *out)
{
	const struct source s = { .ports = { port_id }, .nb_ports = 1 };

	return show(&s, out);
}

int
tm_drops_watch(struct tm_app *app, uint64_t ns)
{
	struct source s = { .nb_ports = app->nb_ports };

	own = app;
	for (unsigned int i = 0; i < app->nb_ports; i++)
		s.ports[i] = app->port_ids[i];
	return watch(&s, ns, own_wait, own_ended);
}

/* ------------------------------------------------------------------ of another program's */

static volatile sig_atomic_t signalled;

static void
on_signal(int number)
{
	signalled = number;
}

static void
other_wait(uint64_t ns)
{
	const struct timespec ts = { .tv_nsec = ns };

	(void)nanosleep(&ts, NULL);
}

static bool
other_ended(void)
{
	return signalled != 0;
}

static const char usage[] =
"Usage: dpdk-test-mlx drops [OPTIONS]\n"
"\n"
"Where packets were lost between the wire and a running DPDK program whose ports mlxpmd drives, by its telemetry socket.\n"
"\n"
"  --file-prefix PREFIX   the program that was started with this --file-prefix (default: the only one with ports)\n"
"  --port PORT            only this port (all)\n"
"  --watch                print each second what changed, until a key or a signal\n"
"  --runtime-dir DIR      folder of EAL's run-time folders (/var/run/dpdk; $XDG_RUNTIME_DIR/dpdk of a user)\n"
"\n"
"Examples:\n"
"  dpdk-test-mlx drops\n"
"  dpdk-test-mlx drops --file-prefix fw --port 0 --watch\n";

void
tm_drops_help(FILE *out)
{
	fputs("       dpdk-test-mlx drops [--help | OPTIONS]                  where a running program's packets were lost\n", out);
}

/* The ports of a program that are to be shown; whether there are any. */
static bool
program_open(struct tm_telemetry *t, const char *path, int port, struct source *s)
{
	json_t *list;

	if (tm_telemetry_open(t, path, TIMEOUT_MS) != 0)
		return false;
	list = tm_telemetry_query(t, "/mlxpmd/list");
	s->nb_ports = 0;
	for (size_t i = 0; i < json_array_size(list) && s->nb_ports < RTE_DIM(s->ports); i++) {
		s->ports[s->nb_ports] = json_integer_value(json_array_get(list, i));
		s->nb_ports += port < 0 || s->ports[s->nb_ports] == (unsigned int)port;
	}
	json_decref(list);
	if (s->nb_ports == 0)
		tm_telemetry_close(t);
	return s->nb_ports != 0;
}

struct choice {
	const char *folder, *prefix;
	int port;			/* -1: all */
	bool watches, helps;
};

/* The program of that name, or the only one with ports. 0, or negative errno after tm_error(). */
static int
program_find(const struct choice *c, struct tm_telemetry *t, struct source *s)
{
	struct tm_program program;
	int ret = tm_program_choose("drops", c->folder, c->prefix, &program);

	if (ret == 0 && !program_open(t, program.path, c->port, s)) {
		tm_error("drops: program '%s' does not answer, or has not this port of mlxpmd", program.name);
		ret = -ENODEV;
	}
	return ret;
}

static int
option_take(struct choice *c, int option)
{
	uint64_t port;

	switch (option) {
	case 'f':
		c->prefix = optarg;
		return 0;
	case 'r':
		c->folder = optarg;
		return 0;
	case 'w':
		c->watches = true;
		return 0;
	case 'h':
		c->helps = true;
		return 0;
	case 'p':
		if (tm_parse_number("drops: --port", optarg, 0, RTE_MAX_ETHPORTS - 1, &port) != 0)
			return -EINVAL;
		c->port = port;
		return 0;
	default:
		return -EINVAL;
	}
}

static int
args_parse(struct choice *c, int argc, char **argv)
{
	static const struct option options[] = {
		{ "file-prefix", required_argument, NULL, 'f' }, { "port", required_argument, NULL, 'p' },
		{ "watch", no_argument, NULL, 'w' }, { "runtime-dir", required_argument, NULL, 'r' },
		{ "help", no_argument, NULL, 'h' }, { NULL, 0, NULL, 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1)
		if (option_take(c, option) != 0)
			return -EINVAL;
	if (optind == argc)
		return 0;
	tm_error("drops: unknown argument '%s', see --help", argv[optind]);
	return -EINVAL;
}

int
tm_drops(int argc, char **argv)
{
	const struct sigaction act = { .sa_handler = on_signal };
	struct tm_telemetry t = { .fd = -1 };
	struct source s = { .other = &t };
	char buf[108];
	struct choice c = { .folder = tm_telemetry_folder(buf, sizeof(buf)), .port = -1 };
	int ret;

	if (args_parse(&c, argc, argv) != 0)
		return TM_EXIT_SETUP;
	if (c.helps) {
		fputs(usage, stdout);
		return TM_EXIT_OK;
	}
	if (program_find(&c, &t, &s) != 0)
		return TM_EXIT_SETUP;
	/* Without SA_RESTART: a signal ends a wait. */
	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	signal(SIGPIPE, SIG_IGN);
	ret = c.watches ? watch(&s, UINT64_MAX, other_wait, other_ended) : show(&s, stdout);
	tm_telemetry_close(&t);
	return ret == 0 ? TM_EXIT_OK : TM_EXIT_FAILED;
}
