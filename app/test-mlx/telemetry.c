/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * A client of this process's own telemetry socket: drivers offer data there for which ethdev has no
 * function.
 */

#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <rte_eal.h>

#include "tm_clock.h"

#define REPLY_BYTES 65536
#define TIMEOUT_S 2

/* EAL appends ":1", ":2", ... if the socket of another process exists (lib/telemetry/telemetry.c). */
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
	char *text = malloc(REPLY_BYTES);
	json_t *json = NULL;
	ssize_t n;

	if (text == NULL)
		return NULL;
	n = recv(fd, text, REPLY_BYTES, 0);
	if (n > 0)
		json = json_loadb(text, n, 0, NULL);
	free(text);
	return json;
}

/* Connect to socket i; -1 if its first message does not contain the pid of this process. */
static int
socket_open(unsigned int i)
{
	const struct timeval timeout = { .tv_sec = TIMEOUT_S };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	json_t *hello = NULL;

	if (fd < 0)
		return -1;
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
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
tm_telemetry_request(const char *command)
{
	json_t *reply = NULL, *value;
	char name[64];
	int fd = -1;

	for (unsigned int i = 0; i < 4 && fd < 0; i++)
		fd = socket_open(i);
	if (fd < 0)
		return NULL;
	if (send(fd, command, strlen(command), MSG_NOSIGNAL) > 0)
		reply = receive(fd);
	close(fd);
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(command, ","), command);
	value = json_incref(json_object_get(reply, name));
	json_decref(reply);
	if (json_is_null(value)) {
		json_decref(value);
		return NULL;
	}
	return value;
}
