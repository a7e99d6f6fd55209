/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* A client of the emulator's control socket: a line of JSON each way. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "ctl.h"

static FILE *ctl_in, *ctl_out;

int
ctl_open(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const char *path = getenv("MLXEMU_CTL");
	int fd;

	if (path == NULL || strlen(path) >= sizeof(address.sun_path))
		return -ENOENT;
	memcpy(address.sun_path, path, strlen(path));
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0)
		return -errno;
	ctl_in = fdopen(fd, "r");
	ctl_out = fdopen(dup(fd), "w");
	return ctl_in != NULL && ctl_out != NULL ? 0 : -errno;
}

/* The reply's text, up to its newline; NULL when the emulator has hung up. */
static char *
exchange(const json_t *request)
{
	char *text = json_dumps(request, JSON_COMPACT), *reply = NULL;
	size_t room = 0;

	fprintf(ctl_out, "%s\n", text);
	fflush(ctl_out);
	free(text);
	if (getline(&reply, &room, ctl_in) > 0)
		return reply;
	free(reply);
	return NULL;
}

json_t *
ctl_request(const char *command, const char *key, const char *value)
{
	json_t *request = json_object(), *reply;
	char *text;

	json_object_set_new(request, "cmd", json_string(command));
	if (key != NULL)
		json_object_set_new(request, key, json_string(value));
	text = exchange(request);
	json_decref(request);
	reply = text != NULL ? json_loads(text, 0, NULL) : NULL;
	if (!json_is_true(json_object_get(reply, "ok"))) {
		printf("FAILED %s %s: %s\n", command, value != NULL ? value : "",
		       text != NULL ? text : "no reply");
		json_decref(reply);
		reply = NULL;
	}
	free(text);
	return reply;
}

int
ctl_fault_add(const char *rule)
{
	json_t *reply = ctl_request("fault.add", "rule", rule);

	json_decref(reply);
	return reply != NULL ? 0 : -EINVAL;
}

void
ctl_fault_get(struct ctl_fault *fault)
{
	json_t *reply = ctl_request("fault.list", NULL, NULL), *rule;
	const char *name;
	size_t i;

	memset(fault, 0, sizeof(*fault));
	json_array_foreach(json_object_get(reply, "rules"), i, rule) {
		fault->seen += json_integer_value(json_object_get(rule, "seen"));
		fault->hits += json_integer_value(json_object_get(rule, "hits"));
		name = json_string_value(json_object_get(rule, "last"));
		if (name != NULL && name[0] != '\0')
			snprintf(fault->last, sizeof(fault->last), "%s", name);
	}
	json_decref(reply);
}

void
ctl_fault_clear(void)
{
	json_decref(ctl_request("fault.clear", NULL, NULL));
}
