/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Client of the emulator's control socket: one JSON object per line, one reply per request. */

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "emu_ctl.h"

static char reply[65536];

static int
socket_get(void)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	const char *path = getenv("MLXEMU_CTL");
	static int fd = -1;

	if (fd >= 0)
		return fd;
	if (path == NULL || strlen(path) >= sizeof(to.sun_path)) {
		printf("FAILED MLXEMU_CTL is not set: the program does not run on the emulator\n");
		return -1;
	}
	strcpy(to.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)) != 0) {
		perror(path);
		close(fd);
		fd = -1;
	}
	return fd;
}

static int
exchange(const char *request)
{
	size_t at = 0;
	ssize_t n;
	int fd = socket_get();

	if (fd < 0 || send(fd, request, strlen(request), MSG_NOSIGNAL) != (ssize_t)strlen(request))
		return -1;
	do {
		n = recv(fd, reply + at, sizeof(reply) - 1 - at, 0);
		if (n <= 0)
			return -1;
		at += n;
		reply[at] = '\0';
	} while (strchr(reply, '\n') == NULL && at < sizeof(reply) - 1);
	return 0;
}

int
emu_ctl(const char *request, ...)
{
	char line[1024];
	va_list ap;

	va_start(ap, request);
	vsnprintf(line, sizeof(line) - 1, request, ap);
	va_end(ap);
	strcat(line, "\n");
	if (exchange(line) == 0 && (strstr(reply, "\"ok\":true") || strstr(reply, "\"ok\": true")))
		return 0;
	printf("FAILED request %sreply %s\n", line, reply);
	return -1;
}

int
emu_fault(const char *rule, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, rule);
	vsnprintf(text, sizeof(text), rule, ap);
	va_end(ap);
	emu_fault_clear();
	return emu_ctl("{\"cmd\":\"fault.add\",\"rule\":\"%s\"}", text);
}

void
emu_fault_clear(void)
{
	(void)emu_ctl("{\"cmd\":\"fault.clear\"}");
}

uint64_t
emu_fault_hits(void)
{
	const char *at;

	if (emu_ctl("{\"cmd\":\"fault.list\"}") != 0)
		return 0;
	at = strstr(reply, "\"hits\":");
	return at != NULL ? strtoull(at + strlen("\"hits\":"), NULL, 10) : 0;
}

uint64_t
emu_counter(unsigned int port, const char *name)
{
	char key[80], *at = reply;

	if (emu_ctl("{\"cmd\":\"counters\"}") != 0)
		return UINT64_MAX;
	snprintf(key, sizeof(key), "\"%s\":", name);
	for (unsigned int i = 0; at != NULL && i <= port; i++)
		at = strstr(at + 1, key);
	return at != NULL ? strtoull(at + strlen(key), NULL, 10) : UINT64_MAX;
}

uint64_t
emu_drops(unsigned int port, const char *direction, const char *place)
{
	char key[80], *at = reply;

	if (emu_ctl("{\"cmd\":\"drops\"}") != 0)
		return UINT64_MAX;
	snprintf(key, sizeof(key), "\"%s\":", direction);
	for (unsigned int i = 0; at != NULL && i <= port; i++)
		at = strstr(at + 1, key);
	snprintf(key, sizeof(key), "\"%s\":", place);
	at = at != NULL ? strstr(at, key) : NULL;
	return at != NULL ? strtoull(at + strlen(key), NULL, 10) : UINT64_MAX;
}

uint64_t
now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000u + (uint64_t)ts.tv_nsec / 1000;
}
