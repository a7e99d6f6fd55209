/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * A client of the telemetry sockets of DPDK programs. Drivers offer data there for which ethdev has no function.
 */

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "telemetry.h"

#define SOCKET_NAME "dpdk_telemetry.v2"
/* The first message has the maximum of later ones; releases differ. */
#define HELLO_BYTES 1024
#define REPLY_BYTES_MAX (16 << 20)

static json_t *
receive(int fd, size_t max_bytes)
{
	char *text = malloc(max_bytes);
	json_t *json = NULL;
	ssize_t n;

	if (text == NULL)
		return NULL;
	n = recv(fd, text, max_bytes, 0);
	if (n > 0)
		json = json_loadb(text, n, 0, NULL);
	free(text);
	return json;
}

/* Read the first message: {"version": "DPDK 22.11.11", "pid": 1234, "max_output_len": 16384}. */
static int
hello_read(struct tm_telemetry *t)
{
	json_t *hello = receive(t->fd, HELLO_BYTES);
	json_int_t max = json_integer_value(json_object_get(hello, "max_output_len"));
	const char *version = json_string_value(json_object_get(hello, "version"));
	int ret = hello == NULL ? -ETIMEDOUT : 0;

	if (ret == 0 && (max < HELLO_BYTES || max > REPLY_BYTES_MAX))
		ret = -EPROTO;
	if (ret == 0) {
		t->pid = json_integer_value(json_object_get(hello, "pid"));
		t->max_bytes = max;
		snprintf(t->version, sizeof(t->version), "%s", version != NULL ? version : "");
	}
	json_decref(hello);
	return ret;
}

int
tm_telemetry_open(struct tm_telemetry *t, const char *path, unsigned int timeout_ms)
{
	const struct timeval timeout = { .tv_sec = timeout_ms / 1000, .tv_usec = timeout_ms % 1000 * 1000 };
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int ret = 0;

	if (strlen(path) >= sizeof(addr.sun_path))
		return -ENAMETOOLONG;
	memcpy(addr.sun_path, path, strlen(path));
	t->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (t->fd < 0)
		return -errno;
	(void)setsockopt(t->fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
	(void)setsockopt(t->fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
	if (connect(t->fd, (struct sockaddr *)&addr, sizeof(addr)) != 0)
		/* A program that does not accept connections any more. */
		ret = errno == EAGAIN ? -ETIMEDOUT : -errno;
	else
		ret = hello_read(t);
	if (ret != 0)
		tm_telemetry_close(t);
	return ret;
}

void
tm_telemetry_close(struct tm_telemetry *t)
{
	if (t->fd >= 0)
		close(t->fd);
	t->fd = -1;
}

json_t *
tm_telemetry_query(struct tm_telemetry *t, const char *command)
{
	json_t *reply = NULL, *value;
	char name[64];

	if (t->fd < 0)
		return NULL;
	if (send(t->fd, command, strlen(command), MSG_NOSIGNAL) > 0)
		reply = receive(t->fd, t->max_bytes);
	if (reply == NULL)
		tm_telemetry_close(t);
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(command, ","), command);
	value = json_incref(json_object_get(reply, name));
	json_decref(reply);
	if (json_is_null(value)) {
		json_decref(value);
		return NULL;
	}
	return value;
}

const char *
tm_telemetry_folder(char *buf, size_t size)
{
	const char *base = getenv("RUNTIME_DIRECTORY");

	if (base == NULL)
		base = getuid() == 0 ? "/var/run" : getenv("XDG_RUNTIME_DIR");
	snprintf(buf, size, "%s/dpdk", base != NULL ? base : "/tmp");
	return buf;
}

/* FOLDER/PREFIX/dpdk_telemetry.v2[:NUMBER] */
static int
program_name(struct tm_program *p, const char *path)
{
	const char *file = strrchr(path, '/'), *prefix = file - 1, *number = strchr(file, ':');
	int n;

	while (prefix[-1] != '/')
		prefix--;
	n = snprintf(p->name, sizeof(p->name), "%.*s%s", (int)(file - prefix), prefix, number != NULL ? number : "");
	if ((size_t)n >= sizeof(p->name) || strlen(path) >= sizeof(p->path))
		return -ENAMETOOLONG;
	strcpy(p->path, path);
	return 0;
}

size_t
tm_telemetry_find(const char *folder, struct tm_program *programs, size_t max)
{
	char pattern[256];
	size_t n = 0;
	glob_t g;

	snprintf(pattern, sizeof(pattern), "%s/*/" SOCKET_NAME "*", folder);
	if (glob(pattern, 0, NULL, &g) != 0)
		return 0;
	for (size_t i = 0; i < g.gl_pathc && n < max; i++)
		n += program_name(&programs[n], g.gl_pathv[i]) == 0;
	globfree(&g);
	return n;
}
