/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* `mlxemu ctl`: sends one request to a running process with emulated devices. */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/emu_number.h"
#include "mlxemu.h"

void
mlxemu_ctl_usage(void)
{
	printf("usage: mlxemu ctl [--pid N] [--json] COMMAND [KEY=VALUE ...]\n"
	       "\n"
	       "Sends a control command to a process with emulated devices and prints the reply.\n"
	       "\n"
	       "  --pid N          process to control (default: the one of MLXEMU_CTL, else the only one)\n"
	       "  --json           print the reply as JSON\n"
	       "  help             list the control commands\n"
	       "\n"
	       "A VALUE is a number, decimal or 0x..., true, false, a JSON text, or a string. Each KEY\n"
	       "is allowed once; `ctl help` lists the keys of a command. Short forms: `fault add RULE`,\n"
	       "`fault list`, `fault clear`, `clock step NS`, `clock slew PPB`, `clock drift PPM`,\n"
	       "`why PORT FRAME`, a frame in hexadecimal digits or the N-th of a capture, FILE[:N].\n"
	       "\n"
	       "The exit status is 0, 1 if the command failed or the process cannot be reached, 2 for an\n"
	       "invalid command line.\n"
	       "\n"
	       "examples:\n"
	       "  mlxemu ctl ledger\n"
	       "  mlxemu ctl --pid 4711 link port=1 state=down ms=500\n"
	       "  mlxemu ctl fault add 'on cmd.entry match op=CREATE_SQ count 1 do fail \\\n"
	       "                        status=NO_RESOURCES'\n"
	       "  mlxemu ctl why 0 frames.pcap:3\n"
	       "  mlxemu ctl inject port=0 frames=1000 len=64 'ptypes=[\"ipv4-udp\",\"ipv6-tcp\"]'\n");
}

/* Every user can make a folder of this name in /tmp. */
static bool
ctl_own_folder(const char *path)
{
	char dir[PATH_MAX];
	struct stat st;

	snprintf(dir, sizeof(dir), "%.*s", (int)(strrchr(path, '/') - path), path);
	return lstat(dir, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid();
}

/* Remove sockets of other users, and of processes that do not exist any more; false if none is left. */
static bool
ctl_living(glob_t *found)
{
	char proc[64];
	size_t n = 0;

	for (size_t i = 0; i < found->gl_pathc; i++) {
		snprintf(proc, sizeof(proc), "/proc/%.32s", strrchr(found->gl_pathv[i], '.') + 1);
		if (ctl_own_folder(found->gl_pathv[i]) && access(proc, F_OK) == 0) {
			char *keep = found->gl_pathv[i];

			found->gl_pathv[i] = found->gl_pathv[n];
			found->gl_pathv[n++] = keep;
		}
	}
	if (n == 0)
		globfree(found);
	else
		found->gl_pathc = n;
	return n != 0;
}

/* The sockets of all runs of this user. */
int
mlxemu_ctl_find(const char *pid, char *path, size_t len)
{
	const char *tmp = getenv("TMPDIR");
	char pattern[PATH_MAX];
	glob_t found;
	int n;

	snprintf(pattern, sizeof(pattern), "%s/mlxemu.*/ctl.%s",
		 tmp != NULL && tmp[0] != '\0' ? tmp : "/tmp", pid != NULL ? pid : "[0-9]*");
	if (glob(pattern, 0, NULL, &found) != 0 || !ctl_living(&found))
		return mlxemu_fail(MLXEMU_FAILED, pid != NULL ? "no process %s with emulated devices"
							      : "no process with emulated devices%s",
				   pid != NULL ? pid : "");
	n = found.gl_pathc == 1 ? snprintf(path, len, "%s", found.gl_pathv[0]) : 0;
	if (found.gl_pathc != 1) {
		fprintf(stderr, "mlxemu: which one? --pid");
		for (size_t i = 0; i < found.gl_pathc; i++)
			fprintf(stderr, "%s %s", i != 0 ? "," : "",
				strrchr(found.gl_pathv[i], '.') + 1);
		fprintf(stderr, "\n");
	}
	globfree(&found);
	return n > 0 && (size_t)n < len ? MLXEMU_OK : MLXEMU_USAGE;
}

/* 0, or -EPERM after a message: another user listens. The folder may be one that others can write to. */
static int
ctl_check_peer(int fd, const char *path)
{
	struct ucred peer = {0};
	socklen_t len = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) != 0)
		peer.uid = (uid_t)-1;
	if (peer.uid == geteuid())
		return 0;
	mlxemu_fail(MLXEMU_FAILED, "%s: the process that listens belongs to user %u, not to %u", path, peer.uid,
		    geteuid());
	return -EPERM;
}

/* Names of sockets are short: the folder is reached through a descriptor. */
static int
ctl_connect(const char *path)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), dirfd = -1, ret;
	const char *slash = strrchr(path, '/');
	char dir[PATH_MAX];

	snprintf(dir, sizeof(dir), "%.*s", slash != NULL ? (int)(slash - path) : 1,
		 slash != NULL ? path : ".");
	dirfd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	snprintf(addr.sun_path, sizeof(addr.sun_path), "/proc/self/fd/%d/%.64s", dirfd,
		 slash != NULL ? slash + 1 : path);
	ret = fd >= 0 && dirfd >= 0 &&
			      connect(fd, (const struct sockaddr *)&addr, sizeof(addr)) == 0
		      ? fd
		      : -errno;
	if (dirfd >= 0)
		close(dirfd);
	if (ret < 0 && fd >= 0)
		close(fd);
	if (ret < 0) {
		mlxemu_fail(MLXEMU_FAILED, "%s: %s", path, strerror(-ret));
	} else if (ctl_check_peer(ret, path) != 0) {
		close(ret);
		return -EPERM;
	}
	return ret;
}

/* What JSON has no form for: 0x10, and a leading 0. */
static json_t *
ctl_number(const char *text)
{
	bool negative = text[0] == '-';
	uint64_t v;

	if (!emu_number(text + negative, 0, INT64_MAX, &v))
		return NULL;
	return json_integer(negative ? -(json_int_t)v : (json_int_t)v);
}

static json_t *
ctl_value(const char *text)
{
	json_t *value = ctl_number(text);

	if (value == NULL)
		value = json_loads(text, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, NULL);
	return value != NULL ? value : json_string(text);
}

/* A rule, a frame, and a file of whatever name, are text. */
static bool
ctl_is_text(const char *key)
{
	return strcmp(key, "rule") == 0 || strcmp(key, "file") == 0 || strcmp(key, "frame") == 0;
}

/* KEY=VALUE into the request; a reason when it cannot be. */
static const char *
ctl_add(json_t *request, const char *word)
{
	const char *equals = strchr(word, '=');
	char key[64];

	if (equals == NULL || equals == word)
		return "is not KEY=VALUE";
	if (equals - word >= (ptrdiff_t)sizeof(key))
		return "has too long a key";
	snprintf(key, sizeof(key), "%.*s", (int)(equals - word), word);
	if (strcmp(key, "cmd") == 0)
		return "is a second command";
	if (json_object_get(request, key) != NULL)
		return "gives its key a second time";
	if (json_object_set_new(request, key, ctl_is_text(key) ? json_string(equals + 1)
							       : ctl_value(equals + 1)) != 0)
		return "is no text in UTF-8";
	return NULL;
}

/* `fault add`, `clock step`: what the dot joins may be written with a blank. */
static bool
ctl_has_second_word(int argc, char **argv)
{
	return argc >= 2 && (strcmp(argv[0], "fault") == 0 ||
			     (strcmp(argv[0], "clock") == 0 && strchr(argv[1], '=') == NULL));
}

/* The one value that some commands need may come without its name. True when it did. */
static bool
ctl_bare_value(json_t *request, const char *name, const char *word)
{
	static const struct {
		const char *name, *key;
	} rows[] = {{"fault.add", "rule"}, {"clock.step", "ns"}, {"clock.slew", "ppb"},
		    {"clock.drift", "ppm"}};
	const char *key = NULL;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strcmp(rows[i].name, name) == 0)
			key = rows[i].key;
	/* A rule has equals signs of its own. */
	if (key == NULL || word == NULL ||
	    (strcmp(key, "rule") == 0 ? strncmp(word, "rule=", 5) == 0 : strchr(word, '=') != NULL))
		return false;
	json_object_set_new(request, key,
			    strcmp(key, "rule") == 0 ? json_string(word) : ctl_value(word));
	return true;
}

/* The frame of `why`: hexadecimal digits, or FILE[:N]. The process may be in another folder. */
static void
ctl_frame(json_t *request, const char *word)
{
	const char *colon = strrchr(word, ':');
	char file[PATH_MAX], path[PATH_MAX];
	uint64_t number;

	if (word[strspn(word, "0123456789abcdefABCDEF: ")] == '\0' && access(word, F_OK) != 0) {
		json_object_set_new(request, "frame", json_string(word));
		return;
	}
	snprintf(file, sizeof(file), "%s", word);
	if (colon != NULL && access(word, F_OK) != 0 && emu_number(colon + 1, 1, UINT32_MAX, &number)) {
		snprintf(file, sizeof(file), "%.*s", (int)(colon - word), word);
		json_object_set_new(request, "number", json_integer((json_int_t)number));
	}
	json_object_set_new(request, "file", json_string(realpath(file, path) != NULL ? path : file));
}

/* `why PORT FRAME`. The number of words that were taken. */
static int
ctl_why_words(json_t *request, int argc, char **argv)
{
	if (argc < 2 || strchr(argv[0], '=') != NULL || strchr(argv[1], '=') != NULL)
		return 0;
	json_object_set_new(request, "port", ctl_value(argv[0]));
	ctl_frame(request, argv[1]);
	return 2;
}

/* The words as a request: `link port=1 state=down`, `fault add RULE`. NULL after a message. */
static json_t *
ctl_request(int argc, char **argv)
{
	json_t *request = json_object();
	const char *why = NULL;
	char name[128];
	int at = 1;

	snprintf(name, sizeof(name), "%s", argv[0]);
	if (ctl_has_second_word(argc, argv)) {
		snprintf(name, sizeof(name), "%s.%s", argv[0], argv[1]);
		at = 2;
	}
	if (json_object_set_new(request, "cmd", json_string(name)) != 0)
		why = "is no text in UTF-8";
	at += strcmp(name, "why") == 0 ? ctl_why_words(request, argc - at, argv + at)
				       : ctl_bare_value(request, name, at < argc ? argv[at] : NULL);
	for (; why == NULL && at < argc; at++)
		why = ctl_add(request, argv[at]);
	if (why == NULL)
		return request;
	mlxemu_fail(MLXEMU_USAGE, "ctl %s: '%s' %s", name, argv[at - 1], why);
	json_decref(request);
	return NULL;
}

static char *
ctl_exchange(int fd, const json_t *request)
{
	char *line = json_dumps(request, JSON_COMPACT), *answer = NULL;
	FILE *f = fdopen(fd, "r+");
	size_t room = 0;
	ssize_t n = -1;

	if (line != NULL && f != NULL && fprintf(f, "%s\n", line) > 0 && fflush(f) == 0)
		n = getline(&answer, &room, f);
	free(line);
	if (f != NULL)
		fclose(f);
	else
		close(fd);
	if (n > 0)
		return answer;
	free(answer);
	mlxemu_fail(MLXEMU_FAILED, "ctl: the process gave no answer");
	return NULL;
}

/*
 * The answer comes from the program's process, and goes to a terminal. Control characters (C0, DEL, and C1 in UTF-8)
 * are written as in JSON, which allows these forms in its strings.
 */
static void
ctl_put(const char *text)
{
	const unsigned char *s = (const unsigned char *)text;

	for (; *s != '\0'; s++) {
		if (*s < 0x20 || *s == 0x7f)
			printf("\\u%04x", *s);
		else if (*s == 0xc2 && s[1] >= 0x80 && s[1] <= 0x9f)
			printf("\\u%04x", *++s);
		else
			putchar(*s);
	}
}

/* A name or value, after what leads to it. */
static void
ctl_put_line(const char *path, const char *value)
{
	ctl_put(path);
	if (path[0] != '\0')
		putchar(' ');
	ctl_put(value);
	putchar('\n');
}

/* One line a value, with the names that lead to it in front: `port 0 objects CQ 1`. */
static void
ctl_print(const json_t *v, const char *path)
{
	const char *key, *blank = path[0] != '\0' ? " " : "";
	size_t i, many = strlen(path);
	char next[512], number[32];
	json_t *child;

	switch (json_typeof(v)) {
	case JSON_OBJECT:
		json_object_foreach((json_t *)(uintptr_t)v, key, child) {
			snprintf(next, sizeof(next), "%s%s%s", path, blank, key);
			ctl_print(child, next);
		}
		break;
	case JSON_ARRAY:
		/* "ports" are "port 0", "port 1" ... */
		many -= many != 0 && path[many - 1] == 's';
		json_array_foreach(v, i, child) {
			snprintf(next, sizeof(next), "%.*s%s%zu", (int)many, path, blank, i);
			json_object_del(child, "port");
			ctl_print(child, next);
		}
		break;
	case JSON_STRING:
		ctl_put_line(path, json_string_value(v));
		break;
	case JSON_INTEGER:
		snprintf(number, sizeof(number), "%" JSON_INTEGER_FORMAT, json_integer_value(v));
		ctl_put_line(path, number);
		break;
	default:
		ctl_put_line(path, json_is_true(v) ? "true" : "false");
	}
}

/* Messages of the emulator are plain text; another character is not worth an escape. */
static void
ctl_error(const char *text)
{
	char line[1024];
	size_t n = 0;

	for (; *text != '\0' && n < sizeof(line) - 1; text++)
		line[n++] = (unsigned char)*text < 0x20 || (unsigned char)*text > 0x7e ? '?' : *text;
	line[n] = '\0';
	mlxemu_fail(MLXEMU_FAILED, "ctl: %s", line);
}

static int
ctl_show(char *answer, bool as_json)
{
	json_t *v = json_loads(answer, 0, NULL);
	const char *error = json_string_value(json_object_get(v, "error"));
	bool ok = json_is_true(json_object_get(v, "ok"));

	if (v == NULL) {
		mlxemu_fail(MLXEMU_FAILED, "ctl: the answer is not JSON");
	} else if (as_json) {
		answer[strcspn(answer, "\n")] = '\0';
		ctl_put(answer);
		putchar('\n');
	} else if (ok) {
		json_object_del(v, "ok");
		ctl_print(v, "");
	} else {
		ctl_error(error != NULL ? error : "the command failed");
	}
	json_decref(v);
	return ok ? MLXEMU_OK : MLXEMU_FAILED;
}

static int
ctl_command_run(const char *path, const json_t *request, bool as_json)
{
	int fd = ctl_connect(path), status;
	char *answer;

	if (fd < 0)
		return MLXEMU_FAILED;
	answer = ctl_exchange(fd, request);
	if (answer == NULL)
		return MLXEMU_FAILED;
	status = ctl_show(answer, as_json);
	free(answer);
	return status;
}

struct ctl_options {
	char pid[24]; /* decimal, as in names of sockets; or empty */
	bool as_json, help;
};

static int
ctl_pid(struct ctl_options *o, const char *text)
{
	uint64_t pid;

	if (text == NULL)
		return mlxemu_fail(MLXEMU_USAGE, "ctl: --pid needs a value");
	if (!emu_number(text, 1, INT32_MAX, &pid))
		return mlxemu_fail(MLXEMU_USAGE, "ctl: --pid '%s': a process number is needed", text);
	snprintf(o->pid, sizeof(o->pid), "%" PRIu64, pid);
	return MLXEMU_OK;
}

/* *used becomes the words that the options took. A status. */
static int
ctl_options(struct ctl_options *o, int argc, char **argv, int *used)
{
	int i, status = MLXEMU_OK;

	for (i = 0; i < argc && argv[i][0] == '-' && status == MLXEMU_OK; i++) {
		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
			o->help = true;
		else if (strcmp(argv[i], "--json") == 0)
			o->as_json = true;
		else if (strncmp(argv[i], "--pid=", 6) == 0)
			status = ctl_pid(o, argv[i] + 6);
		else if (strcmp(argv[i], "--pid") == 0)
			status = ctl_pid(o, i + 1 < argc ? argv[++i] : NULL);
		else
			status = mlxemu_fail(MLXEMU_USAGE, "ctl: unknown option '%s' (--pid, --json, "
					     "--help)", argv[i]);
	}
	*used = i;
	return status;
}

int
mlxemu_ctl(int argc, char **argv)
{
	const char *env = getenv("MLXEMU_CTL");
	struct ctl_options o = {.pid = ""};
	char path[PATH_MAX + 64];
	json_t *request;
	int i, status = ctl_options(&o, argc, argv, &i);

	if (status != MLXEMU_OK)
		return status;
	if (o.help) {
		mlxemu_ctl_usage();
		return MLXEMU_OK;
	}
	if (i == argc)
		return mlxemu_fail(MLXEMU_USAGE, "ctl: no command given (`ctl help` lists them)");
	request = ctl_request(argc - i, argv + i);
	if (request == NULL)
		return MLXEMU_USAGE;
	if (o.pid[0] == '\0' && env != NULL)
		snprintf(path, sizeof(path), "%s", env);
	else
		status = mlxemu_ctl_find(o.pid[0] != '\0' ? o.pid : NULL, path, sizeof(path));
	if (status == MLXEMU_OK)
		status = ctl_command_run(path, request, o.as_json);
	json_decref(request);
	return status;
}
