/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * A client of this process's own telemetry socket: drivers answer questions there that ethdev has
 * no function for.
 */

#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <rte_eal.h>

#include "tm_clock.h"

#define ANSWER_BYTES 65536
#define PATIENCE_S 2

/* Of several processes in one run folder the second has ":1" behind the name, and so on. */
static int
socket_connect(int fd, unsigned int i)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	char suffix[16] = "";

	if (i > 0)
		snprintf(suffix, sizeof(suffix), ":%u", i);
	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/dpdk_telemetry.v2%s",
		 rte_eal_get_runtime_dir(), suffix);
	return connect(fd, (struct sockaddr *)&addr, sizeof(addr));
}

static json_t *
receive(int fd)
{
	char *text = malloc(ANSWER_BYTES);
	json_t *json = NULL;
	ssize_t n;

	if (text == NULL)
		return NULL;
	n = recv(fd, text, ANSWER_BYTES, 0);
	if (n > 0)
		json = json_loadb(text, n, 0, NULL);
	free(text);
	return json;
}

/* A connection that greeted us as this process; -1: not that socket. */
static int
socket_open(unsigned int i)
{
	const struct timeval patience = { .tv_sec = PATIENCE_S };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	json_t *hello = NULL;

	if (fd < 0)
		return -1;
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	if (socket_connect(fd, i) == 0)
		hello = receive(fd);
	if (json_integer_value(json_object_get(hello, "pid")) != getpid()) {
		close(fd);
		fd = -1;
	}
	json_decref(hello);
	return fd;
}

json_t *
tm_telemetry_ask(const char *command)
{
	json_t *answer = NULL, *value;
	char name[64];
	int fd = -1;

	for (unsigned int i = 0; i < 4 && fd < 0; i++)
		fd = socket_open(i);
	if (fd < 0)
		return NULL;
	if (send(fd, command, strlen(command), MSG_NOSIGNAL) > 0)
		answer = receive(fd);
	close(fd);
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(command, ","), command);
	value = json_incref(json_object_get(answer, name));
	json_decref(answer);
	if (json_is_null(value)) {
		json_decref(value);
		return NULL;
	}
	return value;
}
